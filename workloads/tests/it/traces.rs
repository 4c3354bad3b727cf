// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lock traces: the round trip, and every rule of the format.

use lockstep_workloads::TupleKey;
use lockstep_workloads::trace::{
    TraceOp, TraceReader, TraceRecord, TraceWriter, keep_first, load_transactions,
    read_transactions,
};
use proptest::prelude::*;

const HEADER: &str = "time_ns,agent,txn,vid,version,op\n";

fn read(lines: &str) -> Result<Vec<TraceRecord>, String> {
    let text = format!("{HEADER}{lines}");
    let records: lockstep_workloads::Result<_> =
        TraceReader::new("t.csv", text.as_bytes()).collect();
    records.map_err(|error| error.to_string())
}

fn write(records: &[TraceRecord]) -> String {
    let mut writer = TraceWriter::new(Vec::new()).expect("a write to memory succeeds");
    records.iter().for_each(|record| writer.write(record).expect("a write to memory succeeds"));
    String::from_utf8(writer.finish().expect("a write to memory succeeds"))
        .expect("a trace is text")
}

#[test]
fn transactions_come_back_by_agent() {
    let lines = "0,0,1,10,0,lock\n5,1,2,10,0,lock\n7,0,1,10,0,unlock\n8,0,1,11,4,lock\n\
                 9,0,1,,,commit\n9,1,2,,,abort\n12,0,3,1,0,lock\n12,0,3,,,commit\n";
    let text = format!("{HEADER}{lines}");
    let agents = read_transactions(TraceReader::new("t.csv", text.as_bytes()));
    let mut agents = agents.expect("a sound trace");
    let numbers = |agent: u32| -> Vec<u64> { agents[&agent].iter().map(|txn| txn.txn).collect() };
    assert_eq!((numbers(0), numbers(1)), (vec![1, 3], vec![2]));
    let steps = &agents[&0][0].steps;
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[1].op, TraceOp::Unlock(TupleKey { vid: 10, version: 0 }));
    assert_eq!((steps[3].time_ns, steps[3].op), (9, TraceOp::Commit));

    keep_first(&mut agents, 3);
    assert_eq!(agents[&0].len(), 2);
    keep_first(&mut agents, 1);
    assert_eq!(agents.values().flatten().map(|txn| txn.txn).collect::<Vec<_>>(), [1]);
}

#[test]
fn comments_and_blanks_around_fields_are_passed_over() {
    let records = read("# made by hand\n 0, 0, 1, 10, 0, lock\n4,0,1,,,commit\n");
    assert_eq!(records.map(|records| records.len()), Ok(2));
}

#[test]
fn every_broken_rule_names_line_field_value_and_expectation() {
    for (lines, expected) in [
        ("0,0,1,,,commit\n", "t.csv:2: field `txn` = 1: expected a transaction that has locked"),
        ("0,0,1,5,0,unlock\n", "t.csv:2: field `txn` = 1: expected a transaction that has locked"),
        ("5,0,1,5,0,lock\n4,0,1,,,commit\n", "t.csv:3: field `time_ns` = 4: expected at least 5"),
        (
            "0,0,1,5,0,lock\n0,0,1,,,commit\n1,0,1,5,0,lock\n",
            "t.csv:4: field `txn` = 1: expected a transaction that has not ended",
        ),
        (
            "0,0,1,5,0,lock\n0,0,2,5,0,lock\n",
            "t.csv:3: field `txn` = 2: expected 1, which agent 0 has not ended",
        ),
        (
            "0,0,1,5,0,lock\n0,1,1,5,0,unlock\n",
            "t.csv:3: field `agent` = 1: expected 0, the agent of transaction 1",
        ),
        (
            "0,0,1,5,0,lock\n0,0,1,5,1,unlock\n",
            "t.csv:3: field `vid` = 5 (version 1): expected a row that transaction 1 has locked",
        ),
        (
            "# one\n\n0,0,1,5,0,lock\n1,1,2,5,0,lock\n2,1,2,,,abort\n",
            "t.csv:4: field `txn` = 1: expected a commit or abort of this transaction before",
        ),
        (
            "0,0,1,5,0,steal\n",
            "t.csv:2: field `op` = steal: expected lock, unlock, commit or abort",
        ),
        ("x,0,1,5,0,lock\n", "t.csv:2: field `time_ns` = x: expected an integer of 0 to 2^64 - 1"),
        ("-1,0,1,5,0,lock\n", "t.csv:2: field `time_ns` = -1: expected an integer"),
        ("+1,0,1,5,0,lock\n", "t.csv:2: field `time_ns` = +1: expected an integer"),
        (
            "0,4294967296,1,5,0,lock\n",
            "t.csv:2: field `agent` = 4294967296: expected an integer of 0 to 2^32 - 1",
        ),
        ("0,0,1,5,,lock\n", "t.csv:2: field `version` = : expected an integer of 0 to 2^32 - 1"),
        (
            "# a comment\n0,0,1,5,0,lock\n\n# two\n0,0,1,5,,commit\n",
            "t.csv:6: field `vid` = 5: expected nothing",
        ),
        ("0,0,1,5,lock\n", "t.csv:2: `0,0,1,5,lock`: expected 6 fields"),
    ] {
        let error = read(lines).expect_err(lines);
        assert!(error.starts_with(expected), "{lines}gave {error}");
    }
}

#[test]
fn a_trace_begins_with_its_header() {
    for text in ["", "time,agent,txn,vid,version,op\n", "0,0,1,5,0,lock\n"] {
        let mut reader = TraceReader::new("t.csv", text.as_bytes());
        let error = reader.next().expect("an error").expect_err(text).to_string();
        assert!(error.ends_with("expected the header time_ns,agent,txn,vid,version,op"), "{error}");
        assert!(reader.next().is_none(), "nothing follows an error");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = load_transactions("no/such.csv").expect_err("there is none").to_string();
    assert!(error.starts_with("no/such.csv: cannot read: "), "{error}");
}

seeds::proptest! {
    #![cases(256)]

    /// Whatever is written comes back. Agent a runs transactions a, a + 8, a + 16 …
    #[test]
    fn what_is_written_is_read(draws in prop::collection::vec(any::<(u8, u8, u64, u32)>(), 0..60)) {
        let mut records = Vec::new();
        let mut open: [Option<u64>; 8] = [None; 8];
        let mut done = [0u64; 8];
        let mut time_ns = 0;
        for (kind, agent, vid, version) in draws {
            let agent = u32::from(agent % 8);
            let place = agent as usize;
            time_ns += u64::from(kind % 16);
            let txn = open[place].unwrap_or(u64::from(agent) + 8 * done[place]);
            let key = TupleKey { vid, version };
            let op = match (kind % 4, open[place]) {
                (0, Some(_)) => TraceOp::Commit,
                (1, Some(_)) => TraceOp::Abort,
                _ => TraceOp::Lock(key),
            };
            let ends = !matches!(op, TraceOp::Lock(_));
            open[place] = if ends { None } else { Some(txn) };
            done[place] += u64::from(ends);
            records.push(TraceRecord { time_ns, agent, txn, op });
        }
        for (agent, txn) in (0..).zip(open) {
            records.extend(txn.map(|txn| TraceRecord { time_ns, agent, txn, op: TraceOp::Commit }));
        }
        let text = write(&records);
        let back: Vec<_> = TraceReader::new("t.csv", text.as_bytes())
            .collect::<lockstep_workloads::Result<_>>()
            .expect("what was written keeps the rules");
        prop_assert_eq!(back, records);
    }
}
