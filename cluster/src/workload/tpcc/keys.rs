// SPDX-License-Identifier: MIT OR Apache-2.0
//! The keys of TPC-C's tables, how many rows these have, and the numbers of some columns.

use workloads::database::tpcc::{self as orders, Scale};
use workloads::database::{TableDefinition, TableId};

/// The bits at which the columns of the keys stand, by table: 24 of the warehouse, 4 of the district, 32
/// of the order, 4 of the line; 12 of the customer, and 24 of the item.
pub(super) const SHIFTS: [&[u32]; 9] = [
    &[0],
    &[4, 0],
    &[16, 12, 0],
    &[40, 0],
    &[36, 32, 0],
    &[36, 32, 0],
    &[40, 36, 4, 0],
    &[0],
    &[24, 0],
];

/// Where the warehouse stands in the key, by table. Payments and items have none.
pub(super) const WAREHOUSE_AT: [Option<u8>; 9] =
    [Some(0), Some(4), Some(16), None, Some(36), Some(36), Some(40), None, Some(24)];

/// So many have room in keys.
pub(super) const MOST_WAREHOUSES: u64 = (1 << 24) - 1;
pub(super) const MOST_ITEMS: u64 = (1 << 24) - 1;
pub(super) const MOST_CUSTOMERS: u64 = (1 << 12) - 1;

/// Warehouse number `place`, from 0, of those of a node. Their numbers count from 1, and the node of a
/// warehouse is its number modulo the nodes ([`Placement::Grouped`](crate::placement::Placement)).
pub(super) fn warehouse(node: u16, place: u32, nodes: u16) -> i64 {
    let first = if node == 0 { nodes } else { node };
    i64::from(first) + i64::from(place) * i64::from(nodes)
}

/// About how many rows the tables have at the start.
pub(super) fn rows(scale: Scale) -> [u64; 9] {
    let [warehouses, items, customers] =
        [scale.warehouses, scale.items, scale.customers].map(|of| of as u64);
    let districts = warehouses * orders::DISTRICTS as u64;
    let customers = districts * customers;
    // Three of ten orders are not delivered, and an order has ten lines on average.
    let (undelivered, lines) = (customers * 3 / 10, customers * 10);
    let stocks = warehouses * items;
    [warehouses, districts, customers, customers, undelivered, customers, lines, items, stocks]
}

/// The numbers of the columns that keys, totals and checks need.
#[derive(Debug)]
pub(super) struct Columns {
    pub next_order: usize,
    pub order_lines: usize,
    pub line_item: usize,
    pub line_supplier: usize,
    pub line_quantity: usize,
    pub line_amount: usize,
    pub line_information: usize,
    pub price: usize,
    pub stock_quantity: usize,
    /// The information for district 1; the others follow.
    pub stock_information: usize,
    pub stock_sold: usize,
    pub stock_orders: usize,
    pub stock_remote: usize,
}

impl Columns {
    /// # Panics
    /// When a table has no column of the name.
    pub(super) fn of(tables: &[TableDefinition]) -> Self {
        let number = |table: TableId, name: &str| {
            let mut columns = tables[table.0].columns.iter();
            columns.position(|column| column.name == name).expect("a column of the standard")
        };
        Self {
            next_order: number(orders::DISTRICT, "d_next_o_id"),
            order_lines: number(orders::ORDER, "o_ol_cnt"),
            line_item: number(orders::ORDER_LINE, "ol_i_id"),
            line_supplier: number(orders::ORDER_LINE, "ol_supply_w_id"),
            line_quantity: number(orders::ORDER_LINE, "ol_quantity"),
            line_amount: number(orders::ORDER_LINE, "ol_amount"),
            line_information: number(orders::ORDER_LINE, "ol_dist_info"),
            price: number(orders::ITEM, "i_price"),
            stock_quantity: number(orders::STOCK, "s_quantity"),
            stock_information: number(orders::STOCK, "s_dist_01"),
            stock_sold: number(orders::STOCK, "s_ytd"),
            stock_orders: number(orders::STOCK, "s_order_cnt"),
            stock_remote: number(orders::STOCK, "s_remote_cnt"),
        }
    }
}
