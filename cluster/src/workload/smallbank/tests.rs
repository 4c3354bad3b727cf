// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank against the reference store of the workloads.

use workloads::database::{Reference, execute, same_tables, total};

use super::*;
use crate::workload::TotalError;
use crate::workload::testing::{SerialStore, check_inputs, draw};

fn bank(initial_cents: i64, seed: u64) -> SmallBank {
    bank_of(8, initial_cents, seed)
}

fn bank_of(balance_bytes: u16, initial_cents: i64, seed: u64) -> SmallBank {
    let settings = SmallBankSettings {
        accounts: 50,
        hot_accounts: 4,
        initial_cents,
        balance_bytes,
        seed,
        ..SmallBankSettings::fasst(1, 1, SmallBankAccess::Hot90)
    };
    SmallBank::new(settings).expect("sound settings")
}

#[test]
fn draws_are_those_of_the_workload() {
    let bank = bank(1_000, 5);
    for worker in [0, 3] {
        let expected: Vec<_> = bank.workload.inputs(worker).take(200).collect();
        assert_eq!(draw(&bank, worker, 200), expected);
    }
}

#[test]
fn it_goes_as_on_the_reference() {
    seeds::each!(6, |seed| {
        // Little money, so that payments fail and checks cost the penalty.
        let bank = bank_of(if seed % 2 == 0 { 8 } else { 4 }, 600, seed);
        let mut reference = Reference::default();
        bank.workload.populate(&mut reference).expect("a sound population");
        let before = total(&mut reference, &bank.workload).expect("a total");
        let mut serial = SerialStore::new(&bank);
        for input in draw(&bank, 0, 400) {
            let taken = serial.execute(&input);
            let outcome = execute(&mut reference, &bank.workload, &input).expect("no error");
            assert_eq!(taken.decision == Decision::Commit, outcome.is_committed(), "{input:?}");
            let writes = match bank.kinds()[usize::from(bank.kind(&input))] {
                "amalgamate" => (3, 3),
                "balance" => (2, 0),
                "send-payment" => (2, 2),
                "write-check" => (2, 1),
                _ => (1, 1),
            };
            assert_eq!((taken.rounds, (taken.keys, taken.to_write)), (1, writes), "{input:?}");
        }
        let change = serial.check_totals().expect("no money is lost");
        let after = total(&mut reference, &bank.workload).expect("a total");
        assert_eq!(change, after - before);
        // The same rows: what differs from the serial store's would be found by loading its rows.
        let mut same = Reference::default();
        bank.workload.populate(&mut Patched { serial: &serial, inner: &mut same }).expect("sound");
        same_tables(&mut same, &mut reference).expect("the same tables");
    });
}

/// Loads a population with the rows of a serial store in their places.
struct Patched<'a, 't> {
    serial: &'a SerialStore<'t, SmallBank>,
    inner: &'a mut Reference,
}

impl workloads::database::Load for Patched<'_, '_> {
    type Error = <Reference as workloads::database::Load>::Error;

    fn create(
        &mut self,
        tables: &'static [workloads::database::TableDefinition],
    ) -> Result<(), Self::Error> {
        self.inner.create(tables)
    }

    fn row(
        &mut self,
        table: workloads::database::TableId,
        row: &[workloads::database::Value<'_>],
    ) -> Result<(), Self::Error> {
        let workloads::database::Value::Int(account) = row[0] else { panic!("an account") };
        let key = Key { table: TableNumber(table.0 as u8), row: account as u64 };
        let value = self.serial.value(key).and_then(|value| balance(&value)).expect("a balance");
        self.inner.row(table, &[row[0], value.into()])
    }

    fn finish(&mut self) -> Result<(), Self::Error> {
        self.inner.finish()
    }
}

#[test]
fn a_lost_transaction_is_noticed() {
    let bank = bank(1_000_000, 1);
    let mut serial = SerialStore::new(&bank);
    for input in draw(&bank, 0, 60) {
        serial.execute(&input);
    }
    let change = serial.check_totals().expect("no money is lost");
    let writes = |(_, accesses): &(u8, Vec<Access>)| accesses.iter().any(|access| access.writes);
    let changes = |(kind, accesses): &(u8, Vec<Access>)| bank.change(*kind, accesses) != Ok(0);
    for place in 0..serial.committed.len() {
        let lost = serial.committed.remove(place);
        match serial.check_totals() {
            Err(TotalError::Total { found, .. }) => assert_eq!(found, change),
            result => assert!(!changes(&lost), "{lost:?} is lost: {result:?}"),
        }
        serial.committed.insert(place, lost);
        if !writes(&serial.committed[place]) {
            continue;
        }
        let write = serial.committed[place].1.last_mut().expect("a write");
        let digest = std::mem::replace(&mut write.digest, crate::transact::digest(Some(&[9; 8])));
        let error = serial.check_totals().expect_err("no transaction does so");
        assert!(matches!(error, TotalError::Transaction { .. }), "{error}");
        serial.committed[place].1.last_mut().expect("a write").digest = digest;
    }
}

#[test]
fn there_are_as_many_rows_as_accounts() {
    let bank = bank(77, 0);
    let mut value = Vec::new();
    for (table, row, there) in [(0, 0, true), (1, 49, true), (0, 50, false), (2, 0, false)] {
        value.clear();
        assert_eq!(bank.initial(Key { table: TableNumber(table), row }, &mut value), there);
        assert_eq!(value, if there { 77_i64.to_le_bytes().to_vec() } else { Vec::new() });
    }
    let shapes: Vec<_> =
        bank.tables().iter().map(|table| (table.value_bytes, table.rows)).collect();
    assert_eq!(shapes, [(8, 50), (8, 50)]);
    let settings = SmallBankSettings::fasst(50, 14, SmallBankAccess::Hot10);
    assert_eq!((settings.accounts, settings.hot_accounts), (70_000_000, 2_800_000));
    let none = SmallBankSettings { hot_accounts: 1, ..settings };
    let error = SmallBank::new(none).expect_err("one hot account cannot pay another").to_string();
    assert_eq!(error, "hot_accounts is 1, expected 2 to 70000000");
}

#[test]
fn a_balance_of_four_bytes_does_not_overflow() {
    // As little room as one deposit takes.
    let bank = bank_of(4, i64::from(i32::MAX) - bank::DEPOSIT, 3);
    assert_eq!(bank.tables()[0].value_bytes, 4);
    let mut serial = SerialStore::new(&bank);
    let mut takes = |input, decision| {
        assert_eq!(serial.execute(&input).decision, decision, "{input:?}");
        serial.check_totals().expect("no money is lost")
    };
    let deposit = Input::DepositChecking { account: 1 };
    assert_eq!(takes(deposit, Decision::Commit), 130);
    assert_eq!(takes(deposit, Decision::RollBack), 130);
    assert_eq!(takes(Input::TransactSavings { account: 1 }, Decision::RollBack), 130);
    // Neither row of a transfer changes when one of them has no room.
    assert_eq!(takes(Input::Amalgamate { from: 2, to: 1 }, Decision::RollBack), 130);
    assert_eq!(takes(Input::SendPayment { from: 2, to: 1 }, Decision::RollBack), 130);
    assert_eq!(takes(Input::SendPayment { from: 1, to: 2 }, Decision::RollBack), 130);
    assert_eq!(takes(Input::WriteCheck { account: 1 }, Decision::Commit), 130 - 500);
    assert_eq!(takes(deposit, Decision::Commit), 260 - 500);
}

#[test]
fn balances_have_four_bytes_or_eight() {
    let settings = SmallBankSettings::xenic(6, SmallBankAccess::Hot90);
    assert_eq!((settings.accounts, settings.hot_accounts), (14_400_000, 576_000));
    let bank = SmallBank::new(settings).expect("sound settings");
    let mut value = Vec::new();
    assert!(bank.initial(Key { table: SAVINGS, row: 14_399_999 }, &mut value));
    assert_eq!(value, 1_000_000_i32.to_le_bytes());
    assert_eq!(bank.check_row(Key { table: SAVINGS, row: 0 }, &value), Ok(()));
    let error = bank.check_row(Key { table: SAVINGS, row: 0 }, &[0; 8]).expect_err("too long");
    assert_eq!(error, "it has 8 bytes instead of 4");
    let refused = |settings| SmallBank::new(settings).expect_err("out of range").to_string();
    let odd = SmallBankSettings { balance_bytes: 5, ..settings };
    assert_eq!(refused(odd), "balance_bytes is 5, expected 4 or 8");
    let rich = SmallBankSettings { initial_cents: 1 << 31, ..settings };
    assert_eq!(refused(rich), "initial_cents is 2147483648, expected -2147483648 to 2147483647");
}

#[test]
fn inputs_come_back_from_their_bytes() {
    let bank = bank(600, 3);
    check_inputs(&bank, 2, 100);
    let refused = |bytes: &[u8]| {
        let taken = bank.take_input(&mut Reader::new(bytes));
        taken.expect_err("damaged").to_string()
    };
    assert_eq!(refused(&[6]), "byte 0: a kind of transaction (0 to 5) expected, found 6");
    // There are 50.
    let twice = [&[0][..], &[7, 0, 0, 0, 0, 0, 0, 0].repeat(2)].concat();
    assert_eq!(refused(&twice), "byte 9: another account expected, found 7");
    assert_eq!(refused(&[1, 50, 0, 0, 0, 0, 0, 0, 0]), "byte 1: an account expected, found 50");
}
