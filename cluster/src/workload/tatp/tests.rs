// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP against the reference store of the workloads.

use std::collections::BTreeMap;

use workloads::database::{
    Load, Reference, ReferenceError, TableDefinition, Value, execute, total,
};

use super::*;
use crate::workload::testing::{SerialStore, check_inputs, draw};

fn tatp(subscribers: u64, seed: u64) -> Tatp {
    Tatp::new(TatpSettings { subscribers, seed }).expect("sound settings")
}

/// A population as packed rows.
struct Packed<'a> {
    tatp: &'a Tatp,
    rows: BTreeMap<Key, Vec<u8>>,
}

impl Load for Packed<'_> {
    type Error = ReferenceError;

    fn create(&mut self, _: &'static [TableDefinition]) -> Result<(), ReferenceError> {
        Ok(())
    }

    fn row(&mut self, table: TableId, row: &[Value<'_>]) -> Result<(), ReferenceError> {
        let layout = &self.tatp.shape.layouts[table.0];
        let ints = row.iter().map_while(|value| match value {
            Value::Int(value) => Some(*value),
            _ => None,
        });
        let key = layout.pack(ints.take(SHIFTS[table.0].len()));
        let mut value = Vec::new();
        layout.write(row, &mut value);
        let key = Key { table: TableNumber(table.0 as u8), row: key };
        assert_eq!(self.rows.insert(key, value), None, "{key:?} twice");
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ReferenceError> {
        Ok(())
    }
}

fn population(tatp: &Tatp) -> BTreeMap<Key, Vec<u8>> {
    let mut packed = Packed { tatp, rows: BTreeMap::new() };
    tatp.workload.populate(&mut packed).expect("all rows are taken");
    packed.rows
}

#[test]
fn initial_rows_are_those_of_the_population() {
    let tatp = tatp(200, 4);
    let population = population(&tatp);
    let mut value = Vec::new();
    // All keys of the subscribers, and some beside them.
    let composite = (0..202_u64 << 8).map(|row| (2..5, row)).collect::<Vec<_>>();
    let subscribers = (0..300).map(|row| (0..1, row));
    let numbers = (0..0x300).map(|row| (1..2, row));
    let mut there = 0;
    for (tables, row) in composite.into_iter().chain(subscribers).chain(numbers) {
        for table in tables {
            let key = Key { table: TableNumber(table), row };
            value.clear();
            let found = tatp.initial(key, &mut value).then_some(&value);
            assert_eq!(found, population.get(&key), "{key:?}");
            there += usize::from(found.is_some());
        }
    }
    assert_eq!(there, population.len());
    for row in [u64::MAX, 1 << 63, 1 << 58] {
        for table in 0..6 {
            assert!(!tatp.initial(Key { table: TableNumber(table), row }, &mut value));
        }
    }
}

#[test]
fn tables_have_the_sizes_of_the_paper_and_about_so_many_rows() {
    let tatp = tatp(4_000, 1);
    let sizes: Vec<_> = tatp.tables().iter().map(|table| table.value_bytes).collect();
    assert_eq!(sizes, [40, 8, 16, 8, 16]);
    let population = population(&tatp);
    for (number, table) in tatp.tables().iter().enumerate() {
        let rows =
            population.keys().filter(|key| usize::from(key.table.0) == number).count() as u64;
        assert!(rows.abs_diff(table.rows) * 25 <= table.rows, "{rows} rows of {table:?}");
    }
    assert_eq!(TatpSettings::fasst(50).subscribers, 50_000_000);
    let error =
        Tatp::new(TatpSettings { subscribers: 0, seed: 0 }).expect_err("nobody").to_string();
    assert_eq!(error, "subscribers is 0, expected 1 to 1000000000000000");
}

#[test]
fn it_goes_as_on_the_reference() {
    seeds::each!(6, |seed| {
        let tatp = tatp(30, seed);
        let expected: Vec<_> = tatp.workload.inputs(2).take(400).collect();
        assert_eq!(draw(&tatp, 2, 400), expected);
        let mut reference = Reference::default();
        tatp.workload.populate(&mut reference).expect("a sound population");
        let before = total(&mut reference, &tatp.workload).expect("a total");
        let mut serial = SerialStore::new(&tatp);
        for input in expected {
            let taken = serial.execute(&input);
            let outcome = execute(&mut reference, &tatp.workload, &input).expect("no error");
            assert_eq!(taken.decision == Decision::Commit, outcome.is_committed(), "{input:?}");
            let facility = |subscriber, sf_type| {
                let mut value = Vec::new();
                let key = tatp.key(telecom::SPECIAL_FACILITY, [subscriber, sf_type]);
                tatp.initial(key, &mut value).then(|| value[telecom::facility::IS_ACTIVE] == 1)
            };
            let (rounds, keys, to_write) = match input {
                Input::GetNewDestination { subscriber, sf_type, start_time, .. } => {
                    match facility(subscriber, sf_type) {
                        Some(true) => (2, 2 + start_time / 8, 0),
                        _ => (1, 1, 0),
                    }
                }
                Input::UpdateSubscriberData { .. } => (1, 2, 2),
                Input::UpdateLocation { .. } | Input::DeleteCallForwarding { .. } => (2, 2, 1),
                Input::InsertCallForwarding { number, sf_type, .. } => {
                    let subscriber = (0..30).find(|s| telecom::subscriber_number(*s) == number);
                    match facility(subscriber.expect("a number of a subscriber"), sf_type) {
                        Some(_) => (3, 3, 1),
                        None => (2, 2, 0),
                    }
                }
                _ => (1, 1, 0),
            };
            let found = (taken.rounds, taken.keys as i64, taken.to_write);
            assert_eq!(found, (rounds, keys, to_write), "{input:?}");
        }
        let change = serial.check_totals().expect("no forwarding is lost");
        assert_eq!(change, total(&mut reference, &tatp.workload).expect("a total") - before);
    });
}

#[test]
fn a_forwarding_without_a_facility_is_noticed() {
    let tatp = tatp(40, 2);
    let population = population(&tatp);
    let facilities: Vec<_> =
        (1..=4).map(|sf_type| tatp.key(telecom::SPECIAL_FACILITY, [7, sf_type])).collect();
    let mut data = [b'0'; 16];
    data[0] = 24;
    for (sf_type, facility) in (1..=4).zip(facilities) {
        let forwarding = tatp.key(telecom::CALL_FORWARDING, [7, sf_type, 8]);
        let sound = tatp.check_row(forwarding, &data).is_ok();
        assert_eq!(sound, population.contains_key(&facility));
        let odd_time = tatp.key(telecom::CALL_FORWARDING, [7, sf_type, 9]);
        assert!(tatp.check_row(odd_time, &data).is_err());
        assert!(tatp.check_row(forwarding, &data[..15]).is_err());
        assert!(tatp.check_row(forwarding, &[25; 16]).is_err());
    }
    let nobody = tatp.key(telecom::SUBSCRIBER, [40]);
    assert!(tatp.check_row(nobody, &[0; 40]).is_err());
}

#[test]
fn inputs_come_back_from_their_bytes() {
    let tatp = tatp(30, 3);
    check_inputs(&tatp, 2, 100);
    let refused = |bytes: &[u8]| {
        let taken = tatp.take_input(&mut Reader::new(bytes));
        taken.expect_err("damaged").to_string()
    };
    assert_eq!(refused(&[7]), "byte 0: a kind of transaction (0 to 6) expected, found 7");
    let subscriber = [29, 0, 0, 0, 0, 0, 0, 0];
    let of = |kind: u8, rest: &[u8]| [&[kind][..], &subscriber, rest].concat();
    assert!(tatp.take_input(&mut Reader::new(&of(2, &[4, 16, 24]))).is_ok());
    assert_eq!(refused(&of(2, &[5, 16, 24])), "byte 9: a type (1 to 4) expected, found 5");
    assert_eq!(
        refused(&of(2, &[4, 9, 24])),
        "byte 10: a start time (0, 8 or 16) expected, found 9"
    );
    assert_eq!(refused(&of(2, &[4, 8, 25])), "byte 11: an end time (1 to 24) expected, found 25");
    assert_eq!(refused(&of(3, &[4, 2, 0])), "byte 10: a bit expected, found 2");
}
