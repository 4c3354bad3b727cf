// SPDX-License-Identifier: MIT OR Apache-2.0
//! New-orders against the reference store of the workloads, where their rows are, and what the check of
//! the end notices.

mod standard;

use std::ops::ControlFlow;

use workloads::database::{
    Body, Mode, Order, Outcome, Reference, Row as _, Session, Value, check, execute, total,
};

use super::*;
use crate::placement::Partitioning;
use crate::transact::{Change, digest};
use crate::workload::testing::{SerialStore, check_inputs, draw};
use crate::workload::{TotalError, check_totals};

fn small(seed: u64) -> TpccSettings {
    let (warehouses_per_node, items, customers) = (3, 40, 10);
    let settings = TpccSettings::xenic(4, 2, 3);
    TpccSettings { warehouses_per_node, items, customers, seed, ..settings }
}

fn orders_of(settings: TpccSettings) -> Tpcc {
    Tpcc::new_orders(settings).expect("sound settings")
}

fn whole_of(settings: TpccSettings) -> Tpcc {
    Tpcc::standard(settings).expect("sound settings")
}

fn order(input: &TpccTransaction) -> &orders::NewOrder {
    match input {
        TpccTransaction::NewOrder(order) => order,
        other => panic!("{other:?}"),
    }
}

#[test]
fn orders_are_those_of_the_paper() {
    let orders = orders_of(TpccSettings::xenic(6, 32, 2));
    let (mut lengths, mut homes) = ([0_usize; 16], [0_usize; 73 * 6]);
    let (mut suppliers, mut lines) = ([0_usize; 6], 0);
    for worker in (0..6 * 64).step_by(5) {
        for input in draw(&orders, worker, 60) {
            let order = order(&input);
            lengths[order.lines.len()] += 1;
            homes[order.warehouse as usize] += 1;
            assert_eq!(order.warehouse % 6, i64::from(worker / 64), "on the worker's own node");
            // Three or two warehouses of each thread.
            let place = (order.warehouse - 1) / 6;
            assert_eq!(place as u32 % 32, worker / 2 % 32, "worker {worker}");
            for (number, line) in order.lines.iter().enumerate() {
                assert!(line.supply_warehouse != order.warehouse);
                let twice = order.lines[..number].iter().any(|other| other.item == line.item);
                assert!(!twice && (1..=100_000).contains(&line.item));
                let away = (line.supply_warehouse - order.warehouse).rem_euclid(6);
                suppliers[away as usize] += 1;
                lines += 1;
            }
        }
    }
    assert!(lengths[..5].iter().all(|seen| *seen == 0), "{lengths:?}");
    assert!(lengths[5..].iter().all(|seen| (300..=550).contains(seen)), "{lengths:?}");
    // 71 of 431 suppliers are on the own node, and 72 on each other one.
    assert!(suppliers.iter().all(|seen| (seen * 6).abs_diff(lines) * 20 < lines), "{suppliers:?}");
    assert!(homes.iter().filter(|seen| **seen > 0).count() > 150, "{homes:?}");
}

#[test]
fn more_threads_than_warehouses_share_them() {
    let orders = orders_of(TpccSettings { warehouses_per_node: 3, ..small(0) });
    let crowded = orders_of(TpccSettings { threads: 7, ..*orders.settings() });
    let mut homes = std::collections::BTreeSet::new();
    for worker in 0..4 * 7 * 3 {
        for input in draw(&crowded, worker, 5) {
            homes.insert(order(&input).warehouse);
        }
    }
    assert_eq!(homes, (1..=12).collect());
}

#[test]
fn rows_have_the_sizes_of_the_standard_and_are_with_their_warehouse() {
    let orders = orders_of(TpccSettings::xenic(6, 4, 5));
    let shapes: Vec<_> =
        (orders.tables().iter()).map(|table| (table.name, table.value_bytes, table.rows)).collect();
    let expected = [
        ("warehouse", 93, 432),
        ("district", 97, 4_320),
        ("customer", 659, 12_960_000),
        ("history", 52, 12_960_000),
        ("new_order", 0, 3_888_000),
        ("orders", 20, 12_960_000),
        ("order_line", 44, 129_600_000),
        ("item", 82, 100_000),
        ("stock", 306, 43_200_000),
    ];
    assert_eq!(shapes, expected);
    let layout = Partitioning::new(6, 2, orders.tables()).expect("sound");
    for worker in 0..6 * 20 {
        for input in draw(&orders, worker, 3) {
            let mut wanted = Vec::new();
            let mut rows = Rows::new();
            for _ in 0..2 {
                wanted.clear();
                orders.declare(&input, &rows, &mut wanted);
                for (key, intent) in &wanted {
                    let mut value = Vec::new();
                    let is_there = orders.initial(*key, &mut value);
                    rows.fetched(*key, *intent, 0, is_there.then_some(&value));
                }
            }
            assert_eq!(wanted.len(), 5 + 2 * order(&input).lines.len());
            for (key, _) in wanted {
                let is_own = u32::from(layout.partition_of(key).0) == worker / 20;
                assert!(is_own || Tpcc::SHARED.contains(&key.table), "{key:?}");
            }
        }
    }
}

/// All rows of a reference, as they are stored here.
struct All<'o>(&'o Tpcc, Vec<(Key, Vec<u8>)>);

impl Body for All<'_> {
    type Output = ();

    fn mode(&self) -> Mode {
        Mode::ReadOnly
    }

    fn run<A: workloads::database::Access>(
        &mut self,
        access: &mut A,
    ) -> Result<Outcome<()>, A::Error> {
        let Self(orders, found) = self;
        for (place, table) in orders.workload.tables().iter().enumerate() {
            let layout = &orders.shared.layouts[place];
            access.scan(TableId(place), &[], &[], Order::Ascending, |row| {
                let columns = table.columns.iter().enumerate();
                let values: Vec<Value<'_>> =
                    columns.map(|(number, column)| row.value(number, column.kind)).collect();
                let parts = (0..table.key_columns).map(|column| row.int(column));
                let mut bytes = Vec::new();
                layout.write(&values, &mut bytes);
                found.push((Key { table: number(TableId(place)), row: layout.pack(parts) }, bytes));
                ControlFlow::Continue(())
            })?;
        }
        Ok(Outcome::Committed(()))
    }
}

#[test]
fn it_goes_as_on_the_reference() {
    seeds::each!(3, |seed| {
        let orders = orders_of(small(seed));
        let mut reference = Reference::default();
        orders.workload.populate(&mut reference).expect("a sound population");
        let mut before = All(&orders, Vec::new());
        reference.transact(&mut before).expect("a scan");
        let mut value = Vec::new();
        for (key, bytes) in &before.1 {
            value.clear();
            assert!(orders.initial(*key, &mut value) && value == *bytes, "{key:?}");
        }
        let at_start = total(&mut reference, &orders.workload).expect("a total");
        let mut serial = SerialStore::new(&orders);
        let (mut orders_made, mut lines) = (0, 0);
        for worker in 0..6 {
            for input in draw(&orders, worker, 20) {
                let taken = serial.execute(&input);
                let outcome = execute(
                    &mut reference,
                    &orders.workload,
                    &Input::NewOrder(order(&input).clone()),
                )
                .expect("no error");
                assert!(taken.decision == Decision::Commit && outcome.is_committed());
                let number = order(&input).lines.len();
                assert_eq!((taken.rounds, taken.keys), (2, 5 + 2 * number));
                assert_eq!(taken.to_write, 3 + 2 * number);
                orders_made += 1;
                lines += number as i64;
            }
        }
        assert_eq!(serial.check_totals(), Ok(orders_made + 2 * lines));
        check(&mut reference, &orders.workload, at_start + orders_made).expect("sound");
        let mut after = All(&orders, Vec::new());
        reference.transact(&mut after).expect("a scan");
        for (key, bytes) in &after.1 {
            assert_eq!(serial.value(*key).as_ref(), Some(bytes), "{key:?}");
        }
        assert_eq!(after.1.len() - before.1.len(), (2 * orders_made + lines) as usize);
    });
}

/// The changed rows after some transactions, and what these have done.
struct Run {
    of: Tpcc,
    rows: Vec<(Key, Option<Vec<u8>>)>,
    committed: Vec<(u8, Vec<Access>)>,
}

impl Run {
    fn new(of: Tpcc, workers: u32, each: usize) -> Self {
        let mut serial = SerialStore::new(&of);
        for worker in 0..workers {
            for input in draw(&of, worker, each) {
                serial.execute(&input);
            }
        }
        let rows = serial.changed();
        let rows = rows.map(|row| (row.key, row.now.map(<[u8]>::to_vec))).collect();
        let committed = std::mem::take(&mut serial.committed);
        Self { of, rows, committed }
    }

    fn of_new_orders() -> Self {
        Self::new(orders_of(small(7)), 1, 30)
    }

    fn check(&self) -> Result<i64, TotalError> {
        let rows = self.rows.iter();
        let rows = rows.map(|(key, now)| ChangedRow { key: *key, now: now.as_deref() });
        let committed = self.committed.iter();
        let committed = committed.map(|(kind, accesses)| (*kind, accesses.iter().copied()));
        check_totals(&self.of, rows, committed)
    }

    /// The place of the last row of a table.
    fn last_of(&self, table: TableId) -> usize {
        let mut rows = self.rows.iter();
        rows.rposition(|(key, _)| key.table == number(table)).expect("a changed row")
    }

    /// What is said when the row is as `damage` makes it; it is put right again.
    fn with(&mut self, at: usize, damage: impl FnOnce(&mut Option<Vec<u8>>)) -> String {
        let sound = self.rows[at].clone();
        damage(&mut self.rows[at].1);
        let error = self.check().expect_err("it is damaged").to_string();
        self.rows[at] = sound;
        error
    }
}

#[test]
fn a_lost_or_repeated_order_is_noticed() {
    let mut run = Run::of_new_orders();
    run.check().expect("sound");
    let lost = run.committed.pop().expect("an order");
    let error = run.check().expect_err("an order is lost");
    assert!(matches!(error, TotalError::Total { .. }), "{error}");
    run.committed.extend([lost.clone(), lost.clone()]);
    let error = run.check().expect_err("an order is there twice");
    assert!(matches!(error, TotalError::Total { .. }), "{error}");
    // One that changed a stock too few, and one that changed a customer.
    let mut odd = lost;
    let stock = odd.1.iter().rposition(|access| access.key.table == number(orders::STOCK));
    let stock = odd.1.remove(stock.expect("a stock"));
    *run.committed.last_mut().expect("an order") = odd.clone();
    let error = run.check().expect_err("a stock too few").to_string();
    assert!(error.contains("of kind `new-order`: it wrote"), "{error}");
    let customer = Access { key: Key { table: number(orders::CUSTOMER), row: 1 }, ..stock };
    odd.1.extend([stock, customer]);
    *run.committed.last_mut().expect("an order") = odd;
    let error = run.check().expect_err("a customer").to_string();
    assert!(error.contains("it wrote 1 rows of other tables"), "{error}");
}

#[test]
fn rows_that_do_not_fit_each_other_are_noticed() {
    let mut run = Run::of_new_orders();
    for (table, expected) in [
        (orders::DISTRICT, "condition 2"),
        (orders::ORDER, "condition 2"),
        (orders::NEW_ORDER, "condition 2"),
        (orders::ORDER_LINE, "condition 4"),
        (orders::STOCK, "its order lines Sales"),
    ] {
        let at = run.last_of(table);
        let error = run.with(at, |now| *now = None);
        // One that is new is then as if it had not been made.
        let is_new = !matches!(table, orders::DISTRICT | orders::STOCK);
        let deleted = if is_new { expected } else { "is deleted" };
        assert!(error.contains(deleted), "{error}");
        let lost = run.rows.remove(at);
        let error = run.check().expect_err("a change is lost").to_string();
        assert!(error.contains(expected), "{error}");
        run.rows.insert(at, lost);
    }
    let (layouts, columns) = (run.of.shared.layouts.clone(), &run.of.shared.columns);
    let [price, sold] = [columns.line_amount, columns.stock_sold];
    let add = |table: TableId, column: usize, change: i64| {
        let layout = layouts[table.0].clone();
        move |now: &mut Option<Vec<u8>>| {
            let row = now.as_mut().expect("a row");
            let new = layout.int(row, column) + change;
            assert!(layout.put_int(row, column, new));
        }
    };
    let [supplier, orders_of, lines] =
        [columns.line_supplier, columns.stock_orders, columns.order_lines];
    for (table, column, change, expected) in [
        (orders::ORDER_LINE, price, 1, "each makes"),
        (orders::ORDER_LINE, supplier, 1, "has not the information of its stock"),
        (orders::ORDER_LINE, supplier, 12, "is of item"),
        (orders::STOCK, sold, 1, "sold, not"),
        (orders::STOCK, sold, 91, "its order lines"),
        (orders::STOCK, orders_of, 1, "its order lines"),
        (orders::ORDER, lines, -1, "condition 4"),
    ] {
        let at = run.last_of(table);
        let error = run.with(at, add(table, column, change));
        assert!(error.contains(expected), "{error}");
    }
    // D_YTD is as at the start, and so is each byte that no new-order changes.
    let at = run.last_of(orders::DISTRICT);
    let error = run.with(at, |now| now.as_mut().expect("a row")[90] ^= 1);
    assert!(error.contains("no transaction changes it so"), "{error}");
    let error = run.with(at, |now| now.as_mut().expect("a row").truncate(96));
    assert!(error.contains("96 bytes instead of 97"), "{error}");
    run.check().expect("all was put right");
}

#[test]
fn contradictory_rows_roll_back_and_bytes_of_no_order_do_no_harm() {
    let orders = orders_of(small(2));
    let input = draw(&orders, 0, 1).remove(0);
    for fill in [0x00, 0x7f, 0x80, 0xff] {
        let mut rows = Rows::new();
        let mut wanted = Vec::new();
        for _ in 0..2 {
            wanted.clear();
            orders.declare(&input, &rows, &mut wanted);
            wanted.retain(|(key, intent)| !rows.has(*key, *intent));
            for (key, intent) in &wanted {
                let bytes = orders.tables()[usize::from(key.table.0)].value_bytes;
                let value = vec![fill; bytes.into()];
                rows.fetched(*key, *intent, 0, Some(&value));
            }
        }
        // The order is there already, or its number is none.
        assert_eq!(orders.run(&input, &mut rows), Ok(Decision::RollBack), "{fill:#x}");
        assert!(rows.changes().all(|(_, change)| change != Change::Delete));
    }
    assert_ne!(digest(Some(&[])), digest(None), "a new-order row has no bytes, and is there");
}

#[test]
fn settings_out_of_range_are_named() {
    let refused = |settings| Tpcc::new_orders(settings).expect_err("out of range").to_string();
    assert_eq!(refused(TpccSettings { nodes: 0, ..small(0) }), "nodes is 0, expected 1 to 65535");
    assert_eq!(
        refused(TpccSettings { warehouses_per_node: 0, ..small(0) }),
        "warehouses_per_node is 0, expected 1 to 4194303"
    );
    assert_eq!(
        refused(TpccSettings { items: 14, ..small(0) }),
        "items is 14, expected 15 to 16777215"
    );
    assert_eq!(
        refused(TpccSettings { customers: 4_096, ..small(0) }),
        "customers is 4096, expected 1 to 4095"
    );
}

#[test]
fn inputs_come_back_from_their_bytes() {
    let orders = orders_of(small(5));
    check_inputs(&orders, 2, 20);
    let refused =
        orders.take_input(&mut Reader::new(&[13, 0, 0, 0])).expect_err("there are twelve");
    assert_eq!(refused.to_string(), "byte 0: a warehouse expected, found 13");
}
