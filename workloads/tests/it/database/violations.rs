// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each check finds its violations: a violation is planted, and the check must name it.

use lockstep_workloads::database::ycsb::{self, Mix};
use lockstep_workloads::database::{
    Access, Body, Mode, Outcome, ReferenceError, RowMut, Session, TableId, Value, Workload, check,
    smallbank, tatp as telecom, total, tpcc as tpc,
};
use lockstep_workloads::scenario::SmallBankAccess;

use super::{bank, populated, read_all, tatp, tpcc, ycsb};

/// A change that no transaction of a workload makes.
#[derive(Clone, Copy, Debug)]
enum Plant<'p> {
    Add { table: TableId, key: &'p [i64], column: usize, change: i64 },
    Insert { table: TableId, row: &'p [Value<'p>] },
    Delete { table: TableId, key: &'p [i64] },
}

impl Body for Plant<'_> {
    type Output = bool;

    fn mode(&self) -> Mode {
        Mode::ReadWrite
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<bool>, A::Error> {
        let done = match *self {
            Self::Add { table, key, column, change } => {
                access.update(table, key, |row| row.add(column, change))?.is_some()
            }
            Self::Insert { table, row } => access.insert(table, row)?,
            Self::Delete { table, key } => access.delete(table, key)?,
        };
        Ok(Outcome::Committed(done))
    }
}

fn finds<W: Workload>(workload: &W, plants: &[Plant<'_>], expected: &str) {
    let mut store = populated(workload);
    let sum = total(&mut store, workload).expect("the reference takes any scan");
    check(&mut store, workload, sum).expect("a population is sound");
    for plant in plants {
        let mut plant = *plant;
        let outcome = store.transact(&mut plant).expect("the plant fits its table");
        assert!(outcome.value(), "{plant:?} found nothing to change");
    }
    let error = check(&mut store, workload, sum).expect_err(expected).to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn smallbank_misses_money_and_rows() {
    use smallbank::{BALANCE, CHECKING, SAVINGS};
    let bank = bank(SmallBankAccess::Hot90, 1);
    let cent = Plant::Add { table: CHECKING, key: &[7], column: BALANCE, change: 1 };
    finds(&bank, &[cent], "the total is what the transactions made it: 2000000001 instead of");
    for table in [SAVINGS, CHECKING] {
        let rows = "each account has both rows";
        finds(&bank, &[Plant::Delete { table, key: &[0] }], rows);
        finds(&bank, &[Plant::Delete { table, key: &[999] }], rows);
        finds(&bank, &[Plant::Insert { table, row: &[1_005.into(), 0.into()] }], rows);
        finds(&bank, &[Plant::Insert { table, row: &[1_000.into(), 0.into()] }], rows);
    }
}

#[test]
fn ycsb_misses_counts_rows_and_halves_of_rows() {
    let workload = ycsb(Mix::F, 1);
    let add = |column| Plant::Add { table: ycsb::USERTABLE, key: &[3], column, change: 1 };
    finds(&workload, &[add(ycsb::COUNTER)], "the total is what the transactions made it");
    finds(&workload, &[add(ycsb::STAMP)], "the payload of a row follows from its key and stamp");
    let delete = |key| Plant::Delete { table: ycsb::USERTABLE, key };
    finds(&workload, &[delete(&[3])], "each key has its row: 4 instead of 3");
    finds(&workload, &[delete(&[499])], "each key has its row: 499 rows instead of 500");
}

#[test]
fn tatp_misses_numbers_types_and_facilities() {
    use telecom::{ACCESS_INFO, CALL_FORWARDING, SECONDARY_SUBSCRIBER, SUBSCRIBER};
    use telecom::{SPECIAL_FACILITY, subscriber_number};
    let workload = tatp(1);
    let numbers = "each subscriber has its row, and its number leads to it";
    let number = [subscriber_number(42)];
    let delete = |table, key| Plant::Delete { table, key };
    let add = |table, key, column| Plant::Add { table, key, column, change: 1 };
    finds(&workload, &[delete(SUBSCRIBER, &[42])], numbers);
    finds(&workload, &[delete(SECONDARY_SUBSCRIBER, &number)], numbers);
    finds(&workload, &[add(SECONDARY_SUBSCRIBER, &number, 1)], numbers);
    finds(&workload, &[add(SUBSCRIBER, &[42], 1)], numbers);

    let types = "each subscriber has one to four rows of types 1 to 4";
    for (table, bytes) in [(ACCESS_INFO, &[0; 16][..]), (SPECIAL_FACILITY, &[0; 8][..])] {
        for key in [[42, 0], [42, 5], [300, 1]] {
            let row = [key[0].into(), key[1].into(), Value::Fixed(bytes)];
            finds(&workload, &[Plant::Insert { table, row: &row }], types);
        }
    }
    let forwarding = "each call forwarding has a special facility and times of the day";
    // Subscriber 300 does not exist; 7 o'clock is no start time; nor is 25 o'clock an end time.
    for (subscriber, start, end) in [(300, 0, 12), (42, 7, 12), (42, 24, 12)] {
        let data = [end; 16];
        let row = [subscriber.into(), 1.into(), Value::Int(start), (&data).into()];
        finds(&workload, &[Plant::Insert { table: CALL_FORWARDING, row: &row }], forwarding);
    }
}

/// A facility or a forwarding that goes away by itself.
#[test]
fn tatp_misses_forwardings_and_what_they_hang_on() {
    let workload = tatp(1);
    let mut store = populated(&workload);
    let keys = read_all(&mut store, telecom::CALL_FORWARDING, |row| [0, 1, 2].map(|n| row.int(n)));
    // A subscriber with other facilities left, so that only the forwarding misses this one.
    let types = read_all(&mut store, telecom::SPECIAL_FACILITY, |row| row.int(0));
    let several = |id: i64| types.iter().filter(|&&of| of == id).count() > 1;
    let forwarding = keys.into_iter().find(|key| several(key[0])).expect("three of four have");
    let lost = Plant::Delete { table: telecom::CALL_FORWARDING, key: &forwarding };
    finds(&workload, &[lost], "the total is what the transactions made it");
    let facility = Plant::Delete { table: telecom::SPECIAL_FACILITY, key: &forwarding[..2] };
    finds(&workload, &[facility], "each call forwarding has a special facility");
}

#[test]
fn tpcc_misses_each_condition() {
    use tpc::{DISTRICT, NEW_ORDER, ORDER, ORDER_LINE, WAREHOUSE};
    let workload = tpcc(1);
    let add = |table, key, column| Plant::Add { table, key, column, change: 1 };
    let delete = |table, key| Plant::Delete { table, key };
    finds(&workload, &[add(WAREHOUSE, &[2], 8)], "condition 1");
    finds(&workload, &[add(DISTRICT, &[2, 10], 9)], "condition 1");
    // The 30 orders of a district are 21 delivered and 9 undelivered ones.
    finds(&workload, &[add(DISTRICT, &[2, 10], 10)], "condition 2");
    finds(&workload, &[delete(ORDER, &[2, 10, 30])], "condition 2");
    finds(&workload, &[delete(NEW_ORDER, &[2, 10, 30])], "condition 2");
    finds(&workload, &[delete(NEW_ORDER, &[2, 10, 25])], "condition 3");
    finds(&workload, &[add(ORDER, &[2, 10, 5], 6)], "condition 4");
    finds(&workload, &[delete(ORDER_LINE, &[2, 10, 30, 1])], "condition 4");
    let line = [2, 10, 5, 16, 1, 2].map(Value::Int);
    let info = [b'x'; 24];
    let rest = [Value::Null, 5.into(), 0.into(), (&info).into()];
    let line = [&line[..], &rest[..]].concat();
    finds(&workload, &[Plant::Insert { table: ORDER_LINE, row: &line }], "condition 4");
    // An order that is there in all tables, but that no transaction has entered.
    let order = [2, 10, 31, 1, 0].map(Value::Int);
    let order = [&order[..], &[Value::Null, 0.into(), 1.into()]].concat();
    let forged = [
        Plant::Insert { table: ORDER, row: &order },
        Plant::Insert { table: NEW_ORDER, row: &order[..3] },
        add(DISTRICT, &[2, 10], 10),
    ];
    finds(&workload, &forged, "the total is what the transactions made it: 601 instead of 600");
    finds(&workload, &[delete(WAREHOUSE, &[2])], "a row stays until its workload deletes it");
}

/// The reference takes nothing that a stricter store would not.
#[test]
fn the_reference_is_strict() {
    struct Reading<'p>(Plant<'p>);
    impl Body for Reading<'_> {
        type Output = bool;

        fn mode(&self) -> Mode {
            Mode::ReadOnly
        }

        fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<bool>, A::Error> {
            self.0.run(access)
        }
    }
    let mut store = populated(&bank(SmallBankAccess::Hot90, 1));
    let table = smallbank::SAVINGS;
    let delete = Plant::Delete { table, key: &[1] };
    let error = store.transact(&mut Reading(delete)).expect_err("a write");
    assert_eq!(error, ReferenceError::ReadOnly { table: "savings" });
    for (row, column) in [
        (&[1.into(), Value::Null][..], 1),
        (&["one".into(), 1.into()][..], 0),
        (&[1.into()][..], 2),
    ] {
        let error = store.transact(&mut Plant::Insert { table, row }).expect_err("no such row");
        let ReferenceError::Row { table: "savings", column: found, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(found, column);
    }
    let moved = Plant::Add { table, key: &[1], column: 0, change: 5_000 };
    let error = store.transact(&mut { moved }).expect_err("a changed key").to_string();
    let expected =
        "table `savings`: column 0 of the row: expected the key that it was found by, [1]";
    assert_eq!(error, expected);
    assert_eq!(store.rows(table), 1_000);
}
