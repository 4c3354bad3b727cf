// SPDX-License-Identifier: MIT OR Apache-2.0
//! TPC-C on a cluster: all of it ([`Mix::Standard`]), as in section 5.3 of Xenic's paper (SOSP 2021); or its new-orders
//! ([`Mix::NewOrders`]), in the form in which DrTM+H (OSDI 2018) and Xenic (section 5.2) compare systems: no other kind, and
//! stocks all over the cluster.
//!
//! Draws, population and logic are those of [`workloads::database::tpcc`]. A protocol fetches rows by their keys. Where the
//! logic scans, three tables of this workload's own tell the keys ([`NAME`], [`LAST_ORDER`], [`NEXT_DELIVERY`]); a delivery
//! is ten transactions, one for each district.
//!
//! New-orders alone: an order has five to fifteen lines of different items; each is supplied by any warehouse but
//! the order's own, all alike, those of the own node included, as in DrTM+H's public code. No order rolls back by itself.
//!
//! All rows of a warehouse are on one node, that of the warehouse's number modulo the nodes. Transactions use rows of
//! other nodes in the tables [`Tpcc::SHARED`] alone. ITEM never changes, and each node has all of it: it is read without
//! the protocol.
//!
//! A worker enters transactions at the warehouses of its thread, drawn for each: every `threads`-th of its
//! node, or one if there are more threads than warehouses. That is how Silo (SOSP 2013) and DrTM+H
//! spread warehouses over threads.
//!
//! Integers have four bytes, and sums of money eight, so that a customer has 659 bytes and a stock 306.

mod check;
mod conditions;
mod input;
mod keys;
mod wanted;

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use workloads::database::tpcc::{self as orders, DISTRICTS, Input, Output, Payment, Scale};
use workloads::database::{
    Access as _, Column, ColumnKind, Outcome, RowMut as _, TableId, Value, Workload,
};

pub use self::input::{TpccSource, TpccTransaction};
use self::keys::{Columns, GROUPED_AT, LAST_ORDER, NAME, NEXT_DELIVERY, SHIFTS, TABLES, found_at};
use self::wanted::Wanted;
use super::{ChangedRow, Totals};
use crate::engine::{Access, Key, TableNumber};
use crate::placement::Placement;
use crate::transact::database::{Layout, Replay, Stopped};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError};

/// The integers of eight bytes: sums that grow without bounds.
const WIDE: [&str; 4] = ["w_ytd", "d_ytd", "c_balance", "c_ytd_payment"];
/// The tables of the standard.
const OF_STANDARD: usize = 9;

/// The transactions of a TPC-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mix {
    /// The standard's five kinds in its shares.
    Standard,
    /// New-orders with stocks of other warehouses.
    NewOrders,
}

/// The numbers of a cluster that runs TPC-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TpccSettings {
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

impl TpccSettings {
    /// As in Xenic's paper, for so many nodes, threads of each, and workers of each thread.
    pub fn xenic(nodes: u16, threads: u8, workers: u8) -> Self {
        let (warehouses_per_node, items, customers) = (72, 100_000, 3_000);
        Self { nodes, threads, workers, warehouses_per_node, items, customers, seed: 0 }
    }
}

/// Why there is no such TPC-C.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {found}, expected {expected}")]
pub struct TpccError {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub found: u64,
    /// What it has to be.
    pub expected: String,
}

/// TPC-C.
#[derive(Clone, Debug)]
pub struct Tpcc {
    workload: orders::Tpcc,
    mix: Mix,
    settings: TpccSettings,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    layouts: Vec<Layout>,
    tables: Vec<TableShape>,
    columns: Columns,
    /// The customers who are meant by last names, of each district that was asked for. They are a function of the
    /// district, and take a while to find.
    namesakes: Vec<OnceLock<Vec<i64>>>,
}

impl Tpcc {
    /// The tables of which transactions use rows of other nodes: customers, those by their last names, and stocks. Of
    /// these a transaction of [`Tpcc::new_orders`] uses stocks alone.
    pub const SHARED: [TableNumber; 3] =
        [number(orders::CUSTOMER), number(NAME), number(orders::STOCK)];

    /// TPC-C as the standard has it.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn standard(settings: TpccSettings) -> Result<Self, TpccError> {
        Self::of(settings, Mix::Standard)
    }

    /// New-orders alone.
    ///
    /// # Errors
    /// As [`Tpcc::standard`].
    pub fn new_orders(settings: TpccSettings) -> Result<Self, TpccError> {
        Self::of(settings, Mix::NewOrders)
    }

    fn of(settings: TpccSettings, mix: Mix) -> Result<Self, TpccError> {
        let TpccSettings { nodes, warehouses_per_node, items, customers, .. } = settings;
        let check = |field, found: u64, range: RangeInclusive<u64>| {
            if range.contains(&found) {
                return Ok(());
            }
            let expected = format!("{} to {}", range.start(), range.end());
            Err(TpccError { field, found, expected })
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
        let workload = orders::Tpcc::new(scale, settings.seed);
        let shared = Arc::new(Shared::of(scale, mix));
        Ok(Self { workload, mix, settings, shared })
    }

    /// Its settings.
    pub fn settings(&self) -> &TpccSettings {
        &self.settings
    }

    fn layout(&self, table: TableId) -> &Layout {
        &self.shared.layouts[table.0]
    }

    /// The table and the columns of a key, of which the first so many are of its table; `None` for a key
    /// that none can pack to.
    fn columns(&self, key: Key) -> Option<(TableId, [i64; 4], usize)> {
        let table = TableId(key.table.0.into());
        let (layout, parts) = (self.shared.layouts.get(table.0)?, SHIFTS[table.0].len());
        let mut columns = [0; 4];
        for (column, part) in columns.iter_mut().zip(layout.unpack_all(key.row)) {
            *column = part;
        }
        let packed = layout.try_pack(columns[..parts].iter().copied());
        (packed == Some(key.row)).then_some((table, columns, parts))
    }

    /// Appends the initial row of a key; `false` if there is none.
    fn initial_row(&self, table: TableId, key: &[i64], value: &mut Vec<u8>) -> bool {
        let mut write = |row: &[Value<'_>]| self.layout(table).write(row, value);
        if table.0 < OF_STANDARD {
            return self.workload.initial(table, key, write).is_some();
        }
        let Some(found) = self.found_at_start(table, key) else { return false };
        let mut row = [Value::Null; 4];
        let (parts, end) = (key.len(), key.len() + 1);
        row.iter_mut().zip(key).for_each(|(value, part)| *value = (*part).into());
        row[parts] = found.into();
        write(&row[..end]);
        true
    }

    /// What the rows of the workload's own tables tell at the start.
    fn found_at_start(&self, table: TableId, key: &[i64]) -> Option<i64> {
        let scale = self.workload.scale();
        let has_district = |warehouse: i64, district: i64| {
            (1..=scale.warehouses).contains(&warehouse) && (1..=DISTRICTS).contains(&district)
        };
        match (table, key) {
            (NAME, &[warehouse, district, name]) if has_district(warehouse, district) => {
                let place = (warehouse - 1) * DISTRICTS + district - 1;
                let of_district = &self.shared.namesakes[place as usize];
                let find = || self.workload.middle_namesakes([warehouse, district]);
                of_district.get_or_init(find).get(usize::try_from(name).ok()?).copied()
            }
            (LAST_ORDER, &[warehouse, district, customer])
                if has_district(warehouse, district)
                    && (1..=scale.customers).contains(&customer) =>
            {
                Some(self.workload.first_order([warehouse, district, customer]))
            }
            (NEXT_DELIVERY, &[warehouse, district]) if has_district(warehouse, district) => {
                Some(self.workload.first_undelivered())
            }
            _ => None,
        }
    }

    /// The logic, with what it leaves in the workload's own tables.
    fn execute(
        &self,
        input: &TpccTransaction,
        replay: &mut Replay<'_>,
    ) -> Result<Outcome<Output>, Stopped> {
        let whole = match input {
            TpccTransaction::NewOrder(order) => Input::NewOrder(order.clone()),
            TpccTransaction::Payment(payment) => Input::Payment(*payment),
            TpccTransaction::OrderStatus(status) => Input::OrderStatus(*status),
            TpccTransaction::StockLevel(level) => Input::StockLevel(*level),
            TpccTransaction::Delivery { delivery, district } => {
                let delivered = self.workload.deliver(delivery, *district, replay)?;
                if let Some(order) = delivered {
                    let key = [delivery.warehouse, *district];
                    self.tell(NEXT_DELIVERY, &key, order + 1, replay)?;
                }
                let of_district = |number| delivered.filter(|_| number as i64 + 1 == *district);
                let output = Output::Delivery(std::array::from_fn(of_district));
                return Ok(Outcome::Committed(output));
            }
        };
        let outcome = self.workload.run(&whole, replay)?;
        if let (Outcome::Committed(Output::NewOrder { order, .. }), Input::NewOrder(input)) =
            (&outcome, &whole)
            && self.mix == Mix::Standard
        {
            let key = [input.warehouse, input.district, input.customer];
            self.tell(LAST_ORDER, &key, *order, replay)?;
        }
        Ok(outcome)
    }

    fn tell(
        &self,
        table: TableId,
        key: &[i64],
        found: i64,
        replay: &mut Replay<'_>,
    ) -> Result<(), Stopped> {
        replay.update(table, key, |row| row.set_int(found_at(table), found)).map(drop)
    }
}

impl Shared {
    fn of(scale: Scale, mix: Mix) -> Self {
        let (tables, districts) = match mix {
            Mix::Standard => (TABLES.len(), (scale.warehouses * DISTRICTS) as usize),
            Mix::NewOrders => (OF_STANDARD, 0),
        };
        let definitions = &TABLES[..tables];
        let width = |column: &Column| {
            let wide = column.kind == ColumnKind::Int && WIDE.contains(&column.name);
            if wide { 8 } else { 4 }
        };
        let layouts: Vec<_> = (definitions.iter().zip(SHIFTS))
            .map(|(table, shifts)| Layout::with_integers(table, shifts, width).expect("sound"))
            .collect();
        let rows = keys::rows(scale);
        let shape = |table: usize| TableShape {
            placement: match GROUPED_AT[table] {
                Some(shift) => Placement::Grouped { shift },
                None => Placement::Hashed,
            },
            ..TableShape::hashed(definitions[table].name, layouts[table].value_bytes(), rows[table])
        };
        let tables = (0..definitions.len()).map(shape).collect();
        let columns = Columns::of(definitions);
        let namesakes = (0..districts).map(|_| OnceLock::new()).collect();
        Self { layouts, tables, columns, namesakes }
    }
}

/// Of fewer than 256 tables.
const fn number(table: TableId) -> TableNumber {
    TableNumber(table.0 as u8)
}

impl Transactions for Tpcc {
    type Input = TpccTransaction;
    type Source = TpccSource;

    fn tables(&self) -> &[TableShape] {
        &self.shared.tables
    }

    fn kinds(&self) -> &[&'static str] {
        match self.mix {
            Mix::Standard => &["new-order", "payment", "order-status", "delivery", "stock-level"],
            Mix::NewOrders => &["new-order"],
        }
    }

    fn kind(&self, input: &TpccTransaction) -> u8 {
        input.kind()
    }

    fn source(&self, worker: u32) -> TpccSource {
        self.source_of(worker)
    }

    fn draw(&self, source: &mut TpccSource) -> Option<TpccTransaction> {
        Some(self.draw_next(source))
    }

    fn put_input(&self, input: &TpccTransaction, out: &mut Vec<u8>) {
        self.put(input, out);
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<TpccTransaction, WireError> {
        self.take(reader)
    }

    /// A payment of a customer by number is.
    fn is_one_round(&self, input: &TpccTransaction) -> bool {
        let by_number = |payment: &Payment| matches!(payment.customer, orders::Customer::Number(_));
        matches!(input, TpccTransaction::Payment(payment) if by_number(payment))
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        let columns = self.columns(key);
        columns.is_some_and(|(table, key, parts)| self.initial_row(table, &key[..parts], value))
    }

    fn declare(&self, input: &TpccTransaction, rows: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        Wanted::new(self, rows, wanted).declare(input);
    }

    fn run(&self, input: &TpccTransaction, rows: &mut Rows) -> Result<Decision, Missing> {
        // A scan visits what was fetched, and would not notice that something was not.
        if !matches!(input, TpccTransaction::NewOrder(_)) {
            let mut wanted = Vec::new();
            self.declare(input, rows, &mut wanted);
            let missing = wanted.into_iter().find(|(key, intent)| !rows.has(*key, *intent));
            if let Some((key, intent)) = missing {
                return Err(Missing { key, intent });
            }
        }
        let item = |key: &[i64], value: &mut Vec<u8>| self.initial_row(orders::ITEM, key, value);
        let replay = Replay::new(&self.shared.layouts, rows).with_scans(&TABLES);
        replay.with_constant(orders::ITEM, &item).run(|replay| self.execute(input, replay))
    }
}

impl Totals for Tpcc {
    fn total_name(&self) -> &'static str {
        match self.mix {
            Mix::Standard => "the number of orders, order lines, payments and deliveries",
            Mix::NewOrders => "the number of orders, order lines and sales",
        }
    }

    fn count(&self, key: Key, value: Option<&[u8]>) -> i64 {
        self.count_of(key, value)
    }

    fn change(&self, kind: u8, accesses: &[Access]) -> Result<i64, String> {
        self.change_by(kind, accesses)
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        self.check_one(key, value)
    }

    fn check_together(&self, rows: &[ChangedRow<'_>]) -> Result<(), String> {
        conditions::together(self, rows)
    }
}

#[cfg(test)]
mod tests;
