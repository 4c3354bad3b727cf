// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of TPC-C on a cluster: their keys, how many rows they have, and the numbers of some columns.

use std::sync::LazyLock;

use workloads::database::tpcc::{self as orders, Scale};
use workloads::database::{Column, TableDefinition, TableId};

/// The customers who are meant by a last name, by warehouse, district and the name's number: the index of CUSTOMER,
/// whose middle entry is all that a transaction asks for.
pub const NAME: TableId = TableId(9);
/// The last order of each customer, by warehouse, district and customer: the index of ORDER.
pub const LAST_ORDER: TableId = TableId(10);
/// The order of each district that is to be delivered next, by warehouse and district: the first row of NEW-ORDER.
pub const NEXT_DELIVERY: TableId = TableId(11);

/// The one column beside the key of the three tables above.
pub(super) const fn found_at(table: TableId) -> usize {
    if table.0 == NEXT_DELIVERY.0 { 2 } else { 3 }
}

/// The standard's tables, and those above, which stand for what a store with ordered trees finds by their order.
pub(super) static TABLES: LazyLock<Vec<TableDefinition>> =
    LazyLock::new(|| orders::TABLES.iter().copied().chain(OWN_TABLES).collect());

const OWN_TABLES: [TableDefinition; 3] = [
    TableDefinition {
        name: "customer_name",
        columns: &[
            Column::int("cn_w_id"),
            Column::int("cn_d_id"),
            Column::int("cn_name"),
            Column::int("cn_c_id"),
        ],
        key_columns: 3,
        indexes: &[],
    },
    TableDefinition {
        name: "last_order",
        columns: &[
            Column::int("lo_w_id"),
            Column::int("lo_d_id"),
            Column::int("lo_c_id"),
            Column::int("lo_o_id"),
        ],
        key_columns: 3,
        indexes: &[],
    },
    TableDefinition {
        name: "next_delivery",
        columns: &[Column::int("nd_w_id"), Column::int("nd_d_id"), Column::int("nd_o_id")],
        key_columns: 2,
        indexes: &[],
    },
];

/// The bits at which the columns of the keys stand, by table: 24 of the warehouse, 4 of the district, 32
/// of the order, 4 of the line; 12 of the customer and of the name, and 24 of the item.
pub(super) const SHIFTS: [&[u32]; 12] = [
    &[0],
    &[4, 0],
    &[16, 12, 0],
    &[40, 0],
    &[36, 32, 0],
    &[36, 32, 0],
    &[40, 36, 4, 0],
    &[0],
    &[24, 0],
    &[16, 12, 0],
    &[16, 12, 0],
    &[4, 0],
];

/// Where what groups the rows stands in the key, by table: the warehouse, and of payments who has entered them
/// ([`source`]). Items have nothing, as each node has all of them.
pub(super) const GROUPED_AT: [Option<u8>; 12] = [
    Some(0),
    Some(4),
    Some(16),
    Some(40),
    Some(36),
    Some(36),
    Some(40),
    None,
    Some(24),
    Some(16),
    Some(16),
    Some(4),
];

/// So many have room in keys.
pub(super) const MOST_WAREHOUSES: u64 = (1 << 24) - 1;
pub(super) const MOST_ITEMS: u64 = (1 << 24) - 1;
pub(super) const MOST_CUSTOMERS: u64 = (1 << 12) - 1;
/// The most sources of payments.
pub(super) const MOST_SOURCES: u32 = (1 << 24) - 1;

/// Warehouse number `place`, from 0, of those of a node. Their numbers count from 1, and the node of a
/// warehouse is its number modulo the nodes ([`Placement::Grouped`](crate::placement::Placement)).
pub(super) fn warehouse(node: u16, place: u32, nodes: u16) -> i64 {
    let first = if node == 0 { nodes } else { node };
    i64::from(first) + i64::from(place) * i64::from(nodes)
}

/// The source of the payments of worker number `place` of a node. It is not 0, which the population has; its node is
/// its number modulo the nodes, so that a payment is where its worker is.
pub(super) fn source(node: u16, place: u32, nodes: u16) -> i64 {
    i64::from(node) + (i64::from(place) + 1) * i64::from(nodes)
}

/// About how many rows the tables have at the start.
pub(super) fn rows(scale: Scale) -> [u64; 12] {
    let names = scale.names() as u64;
    let [warehouses, items, customers] =
        [scale.warehouses, scale.items, scale.customers].map(|of| of as u64);
    let districts = warehouses * orders::DISTRICTS as u64;
    let (customers, names) = (districts * customers, districts * names);
    // Three of ten orders are not delivered, and an order has ten lines on average.
    let (undelivered, lines) = (customers * 3 / 10, customers * 10);
    let stocks = warehouses * items;
    [
        warehouses,
        districts,
        customers,
        customers,
        undelivered,
        customers,
        lines,
        items,
        stocks,
        names,
        customers,
        districts,
    ]
}

/// The numbers of the columns that keys, totals and checks need.
#[derive(Debug)]
pub(super) struct Columns {
    pub warehouse_paid: usize,
    pub district_paid: usize,
    pub next_order: usize,
    pub balance: usize,
    pub paid: usize,
    pub payments: usize,
    pub deliveries: usize,
    pub customer_data: usize,
    /// Customer, district and warehouse of a customer who has paid, then district and warehouse of the payment.
    pub payment_of: usize,
    pub payment_amount: usize,
    pub order_customer: usize,
    pub carrier: usize,
    pub order_lines: usize,
    pub line_item: usize,
    pub line_supplier: usize,
    pub line_delivery: usize,
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
            warehouse_paid: number(orders::WAREHOUSE, "w_ytd"),
            district_paid: number(orders::DISTRICT, "d_ytd"),
            next_order: number(orders::DISTRICT, "d_next_o_id"),
            balance: number(orders::CUSTOMER, "c_balance"),
            paid: number(orders::CUSTOMER, "c_ytd_payment"),
            payments: number(orders::CUSTOMER, "c_payment_cnt"),
            deliveries: number(orders::CUSTOMER, "c_delivery_cnt"),
            customer_data: number(orders::CUSTOMER, "c_data"),
            payment_of: number(orders::HISTORY, "h_c_id"),
            payment_amount: number(orders::HISTORY, "h_amount"),
            order_customer: number(orders::ORDER, "o_c_id"),
            carrier: number(orders::ORDER, "o_carrier_id"),
            order_lines: number(orders::ORDER, "o_ol_cnt"),
            line_item: number(orders::ORDER_LINE, "ol_i_id"),
            line_supplier: number(orders::ORDER_LINE, "ol_supply_w_id"),
            line_delivery: number(orders::ORDER_LINE, "ol_delivery_d"),
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
