// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standard's mix against the reference store, and each consistency condition against a planted fault.

use std::collections::BTreeMap;

use workloads::database::tpcc::Delivery;

use super::*;

#[test]
fn transactions_are_those_of_the_standard() {
    let tpcc = whole_of(TpccSettings::xenic(6, 16, 4));
    let (mut kinds, mut lines, mut remote_lines) = ([0_u32; 5], 0, 0);
    let (mut unused, mut remote_payments, mut by_name) = (0, 0, 0);
    let mut sources = BTreeMap::new();
    for worker in (0..6 * 64).step_by(3) {
        let node = i64::from(worker / 64);
        let mut district_of_delivery = 0;
        for input in draw(&tpcc, worker, 300) {
            kinds[usize::from(input.kind())] += 1;
            match &input {
                TpccTransaction::NewOrder(order) => {
                    assert_eq!(order.warehouse % 6, node, "on the worker's own node");
                    lines += order.lines.len();
                    let is_remote = |line: &&orders::Line| line.supply_warehouse != order.warehouse;
                    remote_lines += order.lines.iter().filter(is_remote).count();
                    unused += order.lines.iter().filter(|line| line.item == 100_001).count();
                }
                TpccTransaction::Payment(payment) => {
                    assert_eq!((payment.warehouse % 6, payment.source % 6), (node, node));
                    assert!(payment.source != 0, "it is the population's");
                    remote_payments += u32::from(payment.customer_warehouse != payment.warehouse);
                    by_name += u32::from(matches!(payment.customer, orders::Customer::LastName(_)));
                    let other = sources.insert((payment.source, payment.date), worker);
                    assert_eq!(other, None, "each payment has a key of its own");
                }
                TpccTransaction::Delivery { district, .. } => {
                    assert_eq!(*district, district_of_delivery + 1);
                    district_of_delivery = district % 10;
                    continue;
                }
                TpccTransaction::OrderStatus(_) | TpccTransaction::StockLevel(_) => {}
            }
            // The last one may be in the middle of a delivery.
            assert_eq!(district_of_delivery, 0);
        }
    }
    let all = f64::from(kinds.iter().sum::<u32>() - kinds[3]) + f64::from(kinds[3]) / 10.0;
    let share = |part: f64, of: f64, expected: f64| (part / of - expected).abs() < expected * 0.15;
    for (kind, expected) in [(0, 0.45), (1, 0.43), (2, 0.04), (4, 0.04)] {
        assert!(share(kinds[kind].into(), all, expected), "{kinds:?}");
    }
    assert!(share(kinds[3].into(), all, 0.4), "{kinds:?}");
    let [orders, payments] = [kinds[0], kinds[1]].map(f64::from);
    assert!(share(f64::from(remote_lines as u32), f64::from(lines as u32), 0.01));
    assert!((0.004..0.02).contains(&(f64::from(unused as u32) / orders)), "{unused} of {orders}");
    assert!(share(remote_payments.into(), payments, 0.15), "{remote_payments} of {payments}");
    assert!(share(by_name.into(), payments, 0.6), "{by_name} of {payments}");
}

#[test]
fn its_own_tables_are_beside_those_of_the_standard() {
    let tpcc = whole_of(TpccSettings::xenic(6, 4, 5));
    let own = &tpcc.tables()[OF_STANDARD..];
    let own: Vec<_> = own.iter().map(|it| (it.name, it.value_bytes, it.rows)).collect();
    let expected = [
        ("customer_name", 4, 4_320_000),
        ("last_order", 4, 12_960_000),
        ("next_delivery", 4, 4_320),
    ];
    assert_eq!(own, expected);
    assert_eq!(&tpcc.tables()[..OF_STANDARD], orders_of(*tpcc.settings()).tables());
}

/// One district of a delivery, on the reference.
struct OfDistrict<'t>(&'t Tpcc, Delivery, i64);

impl Body for OfDistrict<'_> {
    type Output = Output;

    fn mode(&self) -> Mode {
        Mode::ReadWrite
    }

    fn run<A: workloads::database::Access>(
        &mut self,
        access: &mut A,
    ) -> Result<Outcome<Output>, A::Error> {
        let Self(tpcc, delivery, district) = self;
        let delivered = tpcc.workload.deliver(delivery, *district, access)?;
        let mut all = [None; DISTRICTS as usize];
        all[*district as usize - 1] = delivered;
        Ok(Outcome::Committed(Output::Delivery(all)))
    }
}

fn on_reference(
    tpcc: &Tpcc,
    input: &TpccTransaction,
    reference: &mut Reference,
) -> Outcome<Output> {
    let input = match input.clone() {
        TpccTransaction::NewOrder(order) => Input::NewOrder(order),
        TpccTransaction::Payment(payment) => Input::Payment(payment),
        TpccTransaction::OrderStatus(status) => Input::OrderStatus(status),
        TpccTransaction::StockLevel(level) => Input::StockLevel(level),
        TpccTransaction::Delivery { delivery, district } => {
            let mut body = OfDistrict(tpcc, delivery, district);
            return reference.transact(&mut body).expect("no error");
        }
    };
    execute(reference, &tpcc.workload, &input).expect("no error")
}

#[test]
fn all_kinds_go_as_on_the_reference() {
    seeds::each!(2, |seed| {
        let tpcc = whole_of(TpccSettings { customers: 12, ..small(seed) });
        let mut reference = Reference::default();
        tpcc.workload.populate(&mut reference).expect("a sound population");
        let mut serial = SerialStore::new(&tpcc);
        let mut found: [Vec<(usize, usize)>; 5] = Default::default();
        let (mut rolled_back, mut skipped) = (0, 0);
        for worker in 0..24 {
            for input in draw(&tpcc, worker, 100) {
                let taken = serial.execute(&input);
                let expected = on_reference(&tpcc, &input, &mut reference);
                let mut output = None;
                let mut replay =
                    Replay::new(&tpcc.shared.layouts, &mut serial.rows).with_scans(&TABLES);
                let item =
                    |key: &[i64], value: &mut Vec<u8>| tpcc.initial_row(orders::ITEM, key, value);
                replay = replay.with_constant(orders::ITEM, &item);
                let decision = replay.run(|replay| {
                    output = Some(tpcc.execute(&input, replay)?);
                    Ok(output.clone().expect("an output"))
                });
                assert_eq!((decision, output.as_ref()), (Ok(taken.decision), Some(&expected)));
                rolled_back += usize::from(taken.decision == Decision::RollBack);
                let none = Output::Delivery([None; 10]);
                skipped += usize::from(*expected.value() == none);
                found[usize::from(input.kind())].push((taken.rounds, taken.keys));
            }
        }
        serial.check_totals().expect("sound");
        assert!(rolled_back > 0 && skipped > 0, "{rolled_back} rolled back, {skipped} skipped");
        let rounds = |kind: usize| {
            let all = found[kind].iter().map(|(rounds, _)| *rounds);
            (all.clone().min(), all.max())
        };
        assert_eq!(rounds(0), (Some(2), Some(2)));
        assert_eq!(rounds(1), (Some(1), Some(2)));
        assert_eq!(rounds(2), (Some(3), Some(4)));
        assert_eq!(rounds(3), (Some(2), Some(4)));
        assert_eq!(rounds(4), (Some(4), Some(4)));
        assert!(found[1].iter().all(|(_, keys)| (4..=5).contains(keys)));
        // Far more than an answer of one NIC to another has room for.
        assert!(found[4].iter().any(|(_, keys)| *keys > 255), "{:?}", found[4]);
        let mut after = All(&tpcc, Vec::new());
        reference.transact(&mut after).expect("a scan");
        let rows: BTreeMap<_, _> = after.1.into_iter().collect();
        for (key, bytes) in &rows {
            assert_eq!(serial.value(*key).as_ref(), Some(bytes), "{key:?}");
        }
        for row in serial.changed().filter(|row| usize::from(row.key.table.0) < OF_STANDARD) {
            assert_eq!(rows.get(&row.key).map(Vec::as_slice), row.now, "{:?}", row.key);
        }
    });
}

/// Rows of a run, changed as no transaction changes them.
struct Plant<'r> {
    run: &'r Run,
    rows: BTreeMap<Key, Option<Vec<u8>>>,
}

impl<'r> Plant<'r> {
    fn new(run: &'r Run) -> Self {
        Self { run, rows: run.rows.iter().cloned().collect() }
    }

    fn key<const N: usize>(&self, table: TableId, key: [i64; N]) -> Key {
        Key { table: number(table), row: self.run.of.layout(table).pack(key) }
    }

    /// Adds to an integer.
    fn add<const N: usize>(
        mut self,
        table: TableId,
        key: [i64; N],
        column: usize,
        more: i64,
    ) -> Self {
        let layout = self.run.of.layout(table).clone();
        self.change(table, key, |row| {
            let new = layout.int(row, column) + more;
            assert!(layout.put_int(row, column, new));
        });
        self
    }

    fn change<const N: usize>(
        &mut self,
        table: TableId,
        key: [i64; N],
        change: impl FnOnce(&mut Vec<u8>),
    ) {
        let key = self.key(table, key);
        let now = self.rows.entry(key).or_insert_with(|| {
            let mut value = Vec::new();
            self.run.of.initial(key, &mut value).then_some(value)
        });
        change(now.as_mut().expect("a row"));
    }

    fn remove<const N: usize>(mut self, table: TableId, key: [i64; N]) -> Self {
        let key = self.key(table, key);
        self.rows.insert(key, None);
        self
    }

    /// What the check says.
    fn found(self) -> String {
        let rows = self.rows.iter();
        let rows = rows.map(|(key, now)| ChangedRow { key: *key, now: now.as_deref() });
        let committed = self.run.committed.iter();
        let committed = committed.map(|(kind, accesses)| (*kind, accesses.iter().copied()));
        check_totals(&self.run.of, rows, committed).expect_err("a fault is planted").to_string()
    }
}

/// The key of an order, how many lines it has, and whether it was delivered.
type Order = ([i64; 3], i64, bool);

/// The keys of two new orders of one district, the first delivered and the last not; of so many lines each.
fn orders_of_a_district(run: &Run) -> [([i64; 3], i64); 2] {
    let mut districts: BTreeMap<[i64; 2], Vec<Order>> = BTreeMap::new();
    let (layout, of) = (run.of.layout(orders::ORDER), &run.of.shared.columns);
    for (key, now) in &run.rows {
        let (Some((orders::ORDER, [warehouse, district, order, _], _)), Some(row)) =
            (run.of.columns(*key), now)
        else {
            continue;
        };
        if order > i64::from(run.of.settings.customers) {
            let lines = layout.int(row, of.order_lines);
            let is_delivered = !layout.is_null(row, of.carrier);
            let list = districts.entry([warehouse, district]).or_default();
            list.push(([warehouse, district, order], lines, is_delivered));
        }
    }
    let sound = |list: &&Vec<Order>| {
        list.len() > 3 && list[0].2 && list[list.len() - 3..].iter().all(|order| !order.2)
    };
    let list = districts.values().find(sound).expect("a district with orders of both kinds");
    let last = list[list.len() - 1];
    [(list[0].0, list[0].1), (last.0, last.1)]
}

#[test]
fn each_condition_finds_its_fault() {
    let few = TpccSettings { nodes: 2, threads: 1, workers: 2, warehouses_per_node: 1, ..small(3) };
    let run = Run::new(whole_of(few), 4, 200);
    run.check().expect("sound");
    let of = &run.of.shared.columns;
    let [(delivered, _), (last, lines)] = orders_of_a_district(&run);
    let [warehouse, district, number] = last;
    let other_district = district % DISTRICTS + 1;
    let place = [warehouse, district];
    let layout = run.of.layout(orders::ORDER_LINE).clone();
    let plant = || Plant::new(&run);
    // A line of the last order goes to the one before, whose number of lines stays.
    let mut moved = plant();
    let from = moved.key(orders::ORDER_LINE, [warehouse, district, number, lines]);
    let line = moved.rows.insert(from, None).flatten().expect("a line");
    let before = (1..=15).find(|line| {
        let key = moved.key(orders::ORDER_LINE, [warehouse, district, number - 1, *line]);
        !moved.rows.contains_key(&key)
    });
    let to = moved.key(
        orders::ORDER_LINE,
        [warehouse, district, number - 1, before.expect("fewer than 15 lines")],
    );
    moved.rows.remove(&from);
    moved.rows.insert(to, Some(line));
    let mut with_date = plant();
    with_date.change(orders::ORDER_LINE, [warehouse, district, number, 1], |row| {
        assert!(layout.put_int(row, of.line_delivery, 1));
    });
    let mut with_carrier = plant();
    with_carrier.change(orders::ORDER, last, |row| {
        assert!(run.of.layout(orders::ORDER).put_int(row, of.carrier, 1));
    });
    let mut without_line = plant();
    let line = without_line.key(orders::ORDER_LINE, [warehouse, district, number, lines]);
    without_line.rows.remove(&line);
    let customer = {
        let head = run.rows.iter().find(|(key, _)| *key == plant().key(orders::ORDER, delivered));
        let head = head.and_then(|(_, now)| now.as_ref()).expect("an order");
        run.of.layout(orders::ORDER).int(head, of.order_customer)
    };
    let customer = [warehouse, district, customer];
    let (districts, customers) = (orders::DISTRICT, orders::CUSTOMER);
    let other = [warehouse, other_district];
    let faults = [
        ("condition 1", plant().add(districts, place, of.district_paid, 1)),
        ("condition 1", plant().add(orders::WAREHOUSE, [warehouse], of.warehouse_paid, -1)),
        ("condition 2", plant().add(districts, place, of.next_order, 1)),
        ("condition 2", plant().remove(orders::NEW_ORDER, last)),
        ("condition 3", plant().remove(orders::NEW_ORDER, [warehouse, district, number - 1])),
        ("condition 4", plant().add(orders::ORDER, last, of.order_lines, 1)),
        ("condition 4", without_line),
        ("condition 5", with_carrier),
        ("condition 6", moved),
        ("condition 7", with_date),
        (
            "condition 8",
            plant().add(orders::WAREHOUSE, [warehouse], of.warehouse_paid, 5).add(
                districts,
                place,
                of.district_paid,
                5,
            ),
        ),
        (
            "condition 9",
            plant().add(districts, place, of.district_paid, 5).add(
                districts,
                other,
                of.district_paid,
                -5,
            ),
        ),
        ("condition 10", plant().add(customers, customer, of.balance, 1)),
        ("condition 11", plant().add(customers, customer, of.deliveries, 1)),
        ("condition 12", plant().add(customers, customer, of.paid, 1)),
        ("stock", plant().add(orders::STOCK, [warehouse, 1], of.stock_orders, 1)),
        ("the next delivery", plant().add(NEXT_DELIVERY, place, found_at(NEXT_DELIVERY), 1)),
        ("the last order", plant().add(LAST_ORDER, customer, found_at(LAST_ORDER), 1)),
        ("more payments", plant().add(customers, customer, of.payments, 1)),
        ("no transaction changes it so", plant().add(NAME, [warehouse, district, 0], 3, 1)),
        ("is deleted", plant().remove(orders::STOCK, [warehouse, 1])),
    ];
    for (expected, fault) in faults {
        let found = fault.found();
        assert!(found.contains(expected), "{expected} expected: {found}");
    }
}

#[test]
fn transactions_that_write_otherwise_are_noticed() {
    let run = Run::new(whole_of(small(5)), 12, 60);
    run.check().expect("sound");
    let access = |table: TableId| {
        let key = Key { table: number(table), row: 1 };
        Access { key, version: 1, digest: 1, writes: true }
    };
    for kind in 0..5_u8 {
        let writes = |(of, accesses): &&(u8, Vec<Access>)| {
            *of == kind && (accesses.iter().any(|access| access.writes) || kind % 2 == 0)
        };
        let (_, sound) = run.committed.iter().find(writes).expect("each kind");
        let with = [&sound[..], &[access(orders::ITEM)]].concat();
        let error = run.of.change(kind, &with).expect_err("a write too many");
        assert!(error.contains("other tables"), "{error}");
        if let Some(write) = sound.iter().position(|access| access.writes) {
            let mut without = sound.clone();
            without.remove(write);
            let error = run.of.change(kind, &without).expect_err("a write too few");
            assert!(error.contains("instead of"), "{error}");
        }
    }
    let refused = run.of.change(0, &[access(TableId(12))]).expect_err("no such table");
    assert_eq!(refused, "there is no table 12");
}

#[test]
fn inputs_of_all_kinds_come_back_from_their_bytes() {
    let tpcc = whole_of(small(5));
    check_inputs(&tpcc, 2, 60);
    let refused = tpcc.take_input(&mut Reader::new(&[5])).expect_err("there are five");
    assert_eq!(refused.to_string(), "byte 0: a kind of transaction (0 to 4) expected, found 5");
}

#[test]
fn contradictory_rows_of_any_kind_roll_back_or_change_nothing() {
    let tpcc = whole_of(small(2));
    for input in draw(&tpcc, 0, 60) {
        for fill in [0x00, 0x7f, 0x80, 0xff] {
            let mut rows = Rows::new();
            let mut wanted = Vec::new();
            let decision = loop {
                wanted.clear();
                tpcc.declare(&input, &rows, &mut wanted);
                wanted.retain(|(key, intent)| !rows.has(*key, *intent));
                if wanted.is_empty() {
                    break tpcc.run(&input, &mut rows);
                }
                assert!(rows.all().len() < 2_000, "{input:?} wants ever more");
                for (key, intent) in &wanted {
                    let bytes = tpcc.tables()[usize::from(key.table.0)].value_bytes;
                    rows.fetched(*key, *intent, 0, Some(&vec![fill; bytes.into()]));
                }
            };
            // A missing row would be asked for for ever, and is taken for a roll-back.
            if let Err(missing) = decision {
                panic!("{input:?} of {fill:#x} misses {missing:?}");
            }
        }
    }
}
