// SPDX-License-Identifier: MIT OR Apache-2.0
//! The converter on a real dump: PostgreSQL 15, sessions that roll back, wait for each other,
//! lock without updating, use savepoints and a prepared transaction, and reuse a line pointer.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use lockstep_workloads::trace::{TraceOp, TraceReader, TraceTransaction, read_transactions};
use lockstep_workloads::waldump::{Options, Report, convert};
use lockstep_workloads::{Result, TupleKey};

const DUMP: &str = include_str!("postgresql-15.waldump.txt");

fn converted(dump: &str, agents: Option<u32>) -> Result<(Report, String)> {
    let options = Options { file: "dump".into(), agents: agents.and_then(NonZeroU32::new) };
    let mut trace = Vec::new();
    let report = convert(dump.as_bytes(), &options, &mut trace)?;
    Ok((report, String::from_utf8(trace).expect("a trace is text")))
}

/// The transactions of the dump, by number.
fn transactions() -> BTreeMap<u64, TraceTransaction> {
    let (_, trace) = converted(DUMP, None).expect("the dump is whole");
    let agents = read_transactions(TraceReader::new("trace", trace.as_bytes()));
    let agents = agents.expect("a converted trace keeps the rules");
    agents.into_values().flatten().map(|transaction| (transaction.txn, transaction)).collect()
}

fn locks(transaction: &TraceTransaction) -> Vec<TupleKey> {
    let locks = transaction.steps.iter().filter_map(|step| match step.op {
        TraceOp::Lock(key) => Some(key),
        _ => None,
    });
    locks.collect()
}

fn end(transaction: &TraceTransaction) -> TraceOp {
    transaction.steps.last().expect("a transaction has steps").op
}

#[test]
fn every_transaction_with_locks_is_there() {
    let (report, _) = converted(DUMP, None).expect("the dump is whole");
    let expected = Report {
        lines: 67,
        skipped: 10,
        skipped_shared: 4,
        committed: 21,
        aborted: 2,
        unended: 1,
        rows: 15,
        locks: 28,
        locks_after_wait: 1,
        agents: 3,
        duration_ns: 1_391_756_000,
    };
    assert_eq!(report, expected);
}

#[test]
fn a_row_keeps_its_vid_and_counts_its_committed_updates() {
    let all = transactions();
    // Row 1 of the table: committed by 725, rolled back by 726, updated by 736, 737, 742.
    let row = locks(&all[&725])[0].vid;
    let version = |txn: u64| -> Vec<u32> {
        let keys = locks(&all[&txn]);
        keys.iter().filter(|key| key.vid == row).map(|key| key.version).collect()
    };
    assert_eq!(version(725), [0]);
    assert_eq!(version(726), [1]);
    assert_eq!(version(736), [1]);
    assert_eq!(version(742), [3]);
    // Row 3 was updated twice by 727; its lock before that is not asked for again.
    assert_eq!(locks(&all[&727]).len(), 1);
    assert_eq!(locks(&all[&741]), [TupleKey { version: 2, ..locks(&all[&727])[0] }]);
}

#[test]
fn a_wait_is_dated_back_and_followed_by_the_newer_version() {
    let all = transactions();
    // 737 updates row 12, then waits for 736 to commit row 1.
    let [own, asked, newer, commit] = all[&737].steps[..] else {
        panic!("{:?}", all[&737]);
    };
    let (TraceOp::Lock(old_key), TraceOp::Lock(new_key)) = (asked.op, newer.op) else {
        panic!("{:?}", all[&737]);
    };
    assert_eq!(old_key.vid, locks(&all[&725])[0].vid);
    assert_eq!((old_key.version, new_key.version), (1, 2));
    let holder_end = all[&736].steps.last().expect("steps").time_ns;
    assert_eq!(asked.time_ns, own.time_ns);
    assert!(asked.time_ns < holder_end && holder_end <= newer.time_ns);
    assert_eq!(commit.op, TraceOp::Commit);
}

#[test]
fn ends_are_those_of_the_log() {
    let all = transactions();
    let aborted: Vec<u64> =
        all.values().filter(|txn| end(txn) == TraceOp::Abort).map(|txn| txn.txn).collect();
    // A roll-back, a savepoint rolled back to, and one that was open at the end of the dump.
    assert_eq!(aborted, [726, 732, 749]);
    // Subtransactions that end with their parent, and a prepared transaction.
    for txn in [733, 734, 735] {
        assert_eq!(end(&all[&txn]), TraceOp::Commit, "{txn}");
    }
}

#[test]
fn a_line_pointer_used_again_is_another_row() {
    let all = transactions();
    // 730 deletes the row at offset 5; after a vacuum 738 inserts one there, 739 updates it.
    assert_ne!(locks(&all[&730])[0].vid, locks(&all[&739])[0].vid);
    assert_eq!(locks(&all[&739])[0].version, 0);
}

#[test]
fn an_address_left_by_an_abort_is_another_row() {
    // Transaction 1 puts a version of a row at offset 2 and aborts; whatever 2 updates there
    // was inserted later.
    let line = |txn: u32, lsn: u32, manager: &str, text: &str| {
        format!(
            "rmgr: {manager} len (rec/tot): 1/ 1, tx: {txn}, lsn: 0/{lsn:X}, prev 0/0, \
             desc: {text}\n"
        )
    };
    let update = |from: u32, to: u32| {
        format!(
            "HOT_UPDATE off {from} xmax 1 flags 0x00 ; new off {to} xmax 0, \
             blkref #0: rel 1/2/3 blk 0"
        )
    };
    let dump = [
        line(1, 1, "Heap", &update(1, 2)),
        line(1, 2, "Transaction", "ABORT 2026-01-31 12:00:00.000000 UTC"),
        line(2, 3, "Heap", &update(2, 3)),
        line(2, 4, "Transaction", "COMMIT 2026-01-31 12:00:00.000001 UTC"),
    ];
    let (_, trace) = converted(&dump.concat(), None).expect("a sound dump");
    let expected = "time_ns,agent,txn,vid,version,op\n0,0,1,1,0,lock\n0,0,1,,,abort\n\
                    500,0,2,2,0,lock\n1000,0,2,,,commit\n";
    assert_eq!(trace, expected);
}

#[test]
fn the_same_dump_gives_the_same_bytes() {
    let (_, once) = converted(DUMP, None).expect("the dump is whole");
    let (_, twice) = converted(DUMP, None).expect("the dump is whole");
    assert_eq!(once, twice);
}

#[test]
fn bad_dumps_name_line_field_and_value() {
    let lines: Vec<&str> = DUMP.lines().collect();
    let cut = format!("{}\n{}", lines[0], &lines[1][..60]);
    let backwards = format!("{}\n{}", lines[1], lines[0]);
    let broken = format!("{}\n{}", lines[0], lines[1].replace("COMMIT 2026", "COMMIT MMXXVI"));
    for (dump, agents, start) in [
        (cut.as_str(), None, "dump:2: `rmgr: Transaction"),
        (backwards.as_str(), None, "dump:2: field `lsn` = 0/0152AA48: expected a position not"),
        (broken.as_str(), None, "dump:2: field `desc` = MMXXVI-"),
        (DUMP, Some(2), "dump:22: field `tx` = 734: expected at most 2 transactions open at once"),
        ("pg_waldump: error: x", None, "dump:1: `pg_waldump: error: x`: expected a line of"),
    ] {
        let error = converted(dump, agents).expect_err(start).to_string();
        assert!(error.starts_with(start), "{error}");
    }
}
