// SPDX-License-Identifier: MIT OR Apache-2.0
//! The new-orders of TPC-C, in the form in which DrTM+H (OSDI 2018) and Xenic (SOSP 2021, section 5.2)
//! compare systems: no other kind, and stocks all over the cluster.
//!
//! Draws, population and logic are those of [`workloads::database::tpcc`]. An order has five to fifteen
//! lines of different items; each is supplied by any warehouse but the order's own, all alike, those of
//! the own node included, as in DrTM+H's public code. No order rolls back by itself.
//!
//! All rows of a warehouse are on one node, that of the warehouse's number modulo the nodes. The tables
//! [`TpccNewOrder::SHARED`] are those that DrTM+H keeps in hash tables for all nodes; of these a new-order
//! takes stocks alone from elsewhere. The others are used by their own node alone. ITEM never changes, and
//! each node has all of it: it is read without the protocol.
//!
//! A worker enters orders at the warehouses of its thread, drawn for each order: every `threads`-th of its
//! node, or one if there are more threads than warehouses. That is how Silo (SOSP 2013) and DrTM+H
//! spread warehouses over threads.
//!
//! Integers have four bytes, and sums of money eight, so that a customer has 659 bytes and a stock 306.

mod check;
mod keys;

use std::ops::RangeInclusive;
use std::sync::Arc;

use rand::RngExt;
use workloads::database::tpcc::{self as orders, DISTRICTS, Input, Scale, Tpcc};
use workloads::database::{ColumnKind, TableId, Workload};

use self::keys::{Columns, SHIFTS, WAREHOUSE_AT};
use super::{ChangedRow, Stream, Totals};
use crate::engine::{Access, Key, TableNumber};
use crate::placement::Placement;
use crate::transact::database::{Layout, Replay};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError, Writer};

/// The integers of eight bytes: sums that grow without bounds.
const WIDE: [&str; 4] = ["w_ytd", "d_ytd", "c_balance", "c_ytd_payment"];

/// The numbers of a cluster that enters new-orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TpccNewOrderSettings {
    /// The nodes, which are also the partitions.
    pub nodes: u16,
    /// Threads of each.
    pub threads: u8,
    /// Workers of each thread.
    pub workers: u8,
    /// The warehouses of each node.
    pub warehouses_per_node: u32,
    /// Items, and stocks of each warehouse: the standard has 100,000.
    pub items: u32,
    /// Customers of each district, and its orders at the start: the standard has 3,000.
    pub customers: u32,
    /// The seed of the population and of all draws.
    pub seed: u64,
}

impl TpccNewOrderSettings {
    /// As in Xenic's paper, for so many nodes, threads of each, and workers of each thread.
    pub fn xenic(nodes: u16, threads: u8, workers: u8) -> Self {
        let (warehouses_per_node, items, customers) = (72, 100_000, 3_000);
        Self { nodes, threads, workers, warehouses_per_node, items, customers, seed: 0 }
    }
}

/// Why there is no such TPC-C.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {found}, expected {expected}")]
pub struct TpccNewOrderError {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub found: u64,
    /// What it has to be.
    pub expected: String,
}

/// TPC-C with new-orders alone.
#[derive(Clone, Debug)]
pub struct TpccNewOrder {
    workload: Tpcc,
    settings: TpccNewOrderSettings,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    layouts: Vec<Layout>,
    tables: Vec<TableShape>,
    columns: Columns,
}

impl TpccNewOrder {
    /// The tables that transactions of all nodes use: warehouses, districts and stocks. The others are used
    /// by the node alone that has their primary.
    pub const SHARED: [TableNumber; 3] =
        [number(orders::WAREHOUSE), number(orders::DISTRICT), number(orders::STOCK)];

    /// The new-orders of these settings.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn new(settings: TpccNewOrderSettings) -> Result<Self, TpccNewOrderError> {
        let TpccNewOrderSettings { nodes, warehouses_per_node, items, customers, .. } = settings;
        let check = |field, found: u64, range: RangeInclusive<u64>| {
            if range.contains(&found) {
                return Ok(());
            }
            let expected = format!("{} to {}", range.start(), range.end());
            Err(TpccNewOrderError { field, found, expected })
        };
        check("nodes", nodes.into(), 1..=u64::from(u16::MAX))?;
        check("threads", settings.threads.into(), 1..=u64::from(u8::MAX))?;
        check("workers", settings.workers.into(), 1..=u64::from(u8::MAX))?;
        let most = keys::MOST_WAREHOUSES / u64::from(nodes);
        check("warehouses_per_node", warehouses_per_node.into(), 1..=most)?;
        check("items", items.into(), 15..=keys::MOST_ITEMS)?;
        check("customers", customers.into(), 1..=keys::MOST_CUSTOMERS)?;
        let warehouses = i64::from(nodes) * i64::from(warehouses_per_node);
        let scale = Scale { warehouses, items: items.into(), customers: customers.into() };
        let workload = Tpcc::new(scale, settings.seed);
        let definitions = workload.tables();
        let width = |column: &workloads::database::Column| {
            let wide = column.kind == ColumnKind::Int && WIDE.contains(&column.name);
            if wide { 8 } else { 4 }
        };
        let layouts: Vec<_> = (definitions.iter().zip(SHIFTS))
            .map(|(table, shifts)| Layout::with_integers(table, shifts, width).expect("sound"))
            .collect();
        let rows = keys::rows(scale);
        let shape = |table: usize| TableShape {
            placement: match WAREHOUSE_AT[table] {
                Some(shift) => Placement::Grouped { shift },
                None => Placement::Hashed,
            },
            ..TableShape::hashed(definitions[table].name, layouts[table].value_bytes(), rows[table])
        };
        let tables = (0..definitions.len()).map(shape).collect();
        let columns = Columns::of(definitions);
        Ok(Self { workload, settings, shared: Arc::new(Shared { layouts, tables, columns }) })
    }

    /// Its settings.
    pub fn settings(&self) -> &TpccNewOrderSettings {
        &self.settings
    }

    /// The home warehouse of the next order of a worker.
    fn draw_warehouse(&self, worker: u32, random: &mut impl rand::Rng) -> i64 {
        let TpccNewOrderSettings { nodes, threads, workers, warehouses_per_node, .. } =
            self.settings;
        let (threads, workers) = (u32::from(threads), u32::from(workers));
        let thread = worker / workers % threads;
        let place = match warehouses_per_node.checked_sub(thread) {
            Some(after) if after > 0 => {
                thread + threads * random.random_range(0..after.div_ceil(threads))
            }
            _ => thread % warehouses_per_node,
        };
        keys::warehouse(self.node_of(worker), place, nodes)
    }

    /// The node of a worker of the cluster.
    fn node_of(&self, worker: u32) -> u16 {
        let TpccNewOrderSettings { nodes, threads, workers, .. } = self.settings;
        let of_node = u32::from(threads) * u32::from(workers);
        (worker / of_node % u32::from(nodes)) as u16
    }

    fn layout(&self, table: TableId) -> &Layout {
        &self.shared.layouts[table.0]
    }

    fn key<const N: usize>(&self, table: TableId, key: [i64; N]) -> Key {
        Key { table: number(table), row: self.layout(table).pack(key) }
    }

    /// The table and the columns of a key, of which the first so many are of its table; `None` for a key
    /// that none can pack to.
    fn columns(&self, key: Key) -> Option<(TableId, [i64; 4], usize)> {
        let table = TableId(key.table.0.into());
        let (layout, parts) = (self.shared.layouts.get(table.0)?, SHIFTS[table.0].len());
        let mut columns = [0; 4];
        for (part, column) in columns[..parts].iter_mut().enumerate() {
            *column = layout.unpack(key.row, part);
        }
        let packed = layout.try_pack(columns[..parts].iter().copied());
        (packed == Some(key.row)).then_some((table, columns, parts))
    }

    /// Appends the initial row of a key; `false` if there is none.
    fn initial_row(&self, table: TableId, key: &[i64], value: &mut Vec<u8>) -> bool {
        let write = |row: &[workloads::database::Value<'_>]| self.layout(table).write(row, value);
        self.workload.initial(table, key, write).is_some()
    }
}

/// Of fewer than 256 tables.
const fn number(table: TableId) -> TableNumber {
    TableNumber(table.0 as u8)
}

impl Transactions for TpccNewOrder {
    type Input = Input;
    type Source = Stream;

    fn tables(&self) -> &[TableShape] {
        &self.shared.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &["new-order"]
    }

    fn kind(&self, _: &Input) -> u8 {
        0
    }

    fn source(&self, worker: u32) -> Stream {
        Stream::new(self.settings.seed, worker)
    }

    fn draw(&self, source: &mut Stream) -> Option<Input> {
        source.drawn += 1;
        let warehouse = self.draw_warehouse(source.worker, &mut source.random);
        let date = source.drawn as i64 & i64::from(i32::MAX);
        let order = self.workload.draw_spread_order(warehouse, date, &mut source.random);
        Some(Input::NewOrder(order))
    }

    /// Warehouse, customer and date (4 bytes each), the district and the number of lines (1 each); for each line
    /// item and supplier (4 each), and quantity (1).
    fn put_input(&self, input: &Input, out: &mut Vec<u8>) {
        let Input::NewOrder(order) = input else { return };
        out.put_u32(order.warehouse as u32);
        out.put_u32(order.customer as u32);
        out.put_u32(order.date as u32);
        out.put_u8(order.district as u8);
        out.put_u8(order.lines.len() as u8);
        for line in &order.lines {
            out.put_u32(line.item as u32);
            out.put_u32(line.supply_warehouse as u32);
            out.put_u8(line.quantity as u8);
        }
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<Input, WireError> {
        let TpccNewOrderSettings { nodes, warehouses_per_node, items, customers, .. } =
            self.settings;
        let warehouses = 1..=u32::from(nodes) * warehouses_per_node;
        let warehouse = reader.u32_in(warehouses.clone(), "a warehouse")?;
        let customer = reader.u32_in(1..=customers, "a customer")?;
        let date = reader.u32_in(0..=i32::MAX as u32, "a date")?;
        let district = reader.u8_in(1..=DISTRICTS as u8, "a district")?;
        let count = reader.u8_in(5..=orders::MOST_LINES as u8, "a number of lines (5 to 15)")?;
        let mut line = |_| {
            Ok(orders::Line {
                item: reader.u32_in(1..=items, "an item")?.into(),
                supply_warehouse: reader.u32_in(warehouses.clone(), "a supplier")?.into(),
                quantity: reader.u8_in(1..=10, "a quantity (1 to 10)")?.into(),
            })
        };
        let lines = (0..count).map(&mut line).collect::<Result<_, WireError>>()?;
        Ok(Input::NewOrder(orders::NewOrder {
            warehouse: warehouse.into(),
            district: district.into(),
            customer: customer.into(),
            date: date.into(),
            lines,
        }))
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        let columns = self.columns(key);
        columns.is_some_and(|(table, key, parts)| self.initial_row(table, &key[..parts], value))
    }

    fn declare(&self, input: &Input, rows: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        let Input::NewOrder(order) = input else { return };
        let (warehouse, district) = (order.warehouse, order.district);
        let of_district = self.key(orders::DISTRICT, [warehouse, district]);
        let customer = self.key(orders::CUSTOMER, [warehouse, district, order.customer]);
        wanted.push((self.key(orders::WAREHOUSE, [warehouse]), Intent::Read));
        wanted.push((of_district, Intent::Write));
        wanted.push((customer, Intent::Read));
        let stock = |line: &orders::Line| {
            let key = self.key(orders::STOCK, [line.supply_warehouse, line.item]);
            (key, Intent::Write)
        };
        wanted.extend(order.lines.iter().map(stock));
        // The district numbers the order, whose rows are new.
        let Some(found) = rows.as_fetched(of_district) else { return };
        let number = self.layout(orders::DISTRICT).int(found, self.shared.columns.next_order);
        let mut want = |table: TableId, key: &[i64]| {
            // The logic finds out if it does not fit.
            if let Some(row) = self.layout(table).try_pack(key.iter().copied()) {
                wanted.push((Key { table: TableNumber(table.0 as u8), row }, Intent::Write));
            }
        };
        want(orders::ORDER, &[warehouse, district, number]);
        want(orders::NEW_ORDER, &[warehouse, district, number]);
        for line in 1..=order.lines.len() as i64 {
            want(orders::ORDER_LINE, &[warehouse, district, number, line]);
        }
    }

    fn run(&self, input: &Input, rows: &mut Rows) -> Result<Decision, Missing> {
        let item = |key: &[i64], value: &mut Vec<u8>| self.initial_row(orders::ITEM, key, value);
        let replay = Replay::new(&self.shared.layouts, rows);
        replay.with_constant(orders::ITEM, &item).run(|replay| self.workload.run(input, replay))
    }
}

impl Totals for TpccNewOrder {
    fn total_name(&self) -> &'static str {
        "the number of orders, order lines and sales"
    }

    fn count(&self, key: Key, value: Option<&[u8]>) -> i64 {
        let Some(value) = value else { return 0 };
        let (table, columns) = (TableId(key.table.0.into()), &self.shared.columns);
        match table {
            orders::DISTRICT => self.layout(table).int(value, columns.next_order),
            orders::ORDER_LINE => 1,
            orders::STOCK => self.layout(table).int(value, columns.stock_orders),
            _ => 0,
        }
    }

    fn change(&self, _: u8, accesses: &[Access]) -> Result<i64, String> {
        let writes = |table: TableId| {
            let of = |access: &&Access| access.writes && access.key.table == number(table);
            accesses.iter().filter(of).count() as i64
        };
        let one = [orders::DISTRICT, orders::ORDER, orders::NEW_ORDER].map(writes);
        let (lines, sales) = (writes(orders::ORDER_LINE), writes(orders::STOCK));
        let all = accesses.iter().filter(|access| access.writes).count() as i64;
        if one != [1; 3] || !(5..=orders::MOST_LINES).contains(&lines) || sales != lines {
            return Err(format!("it wrote {one:?} orders, {lines} lines and {sales} stocks"));
        }
        if all != 3 + lines + sales {
            return Err(format!("it wrote {} rows of other tables", all - 3 - lines - sales));
        }
        Ok(1 + lines + sales)
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        self.check_one(key, value)
    }

    fn check_together(&self, rows: &[ChangedRow<'_>]) -> Result<(), String> {
        check::together(self, rows)
    }
}

#[cfg(test)]
mod tests;
