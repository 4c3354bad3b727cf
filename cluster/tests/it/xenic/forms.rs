// SPDX-License-Identifier: MIT OR Apache-2.0
//! The forms of transactions: messages and bytes as by hand (`docs/xenic.md`). Values have 40 bytes; the coordinator is
//! on node 0, node n has backups on n + 1 and n + 2.

use std::collections::BTreeMap;

use cluster::engine::{Ending, Key};
use cluster::placement::partition_of;
use cluster::transact::Intent::{self, Read, Write};
use cluster::transact::Transactions;
use cluster::workload::{ObjectStore, ObjectStoreSettings, ObjectTransaction, Scripted};
use cluster::xenic::Settings;
use cluster::xenic::displacements::Displacements;

use super::driver::{Cluster, Network};

const NODES: u16 = 6;
const VALUE: usize = 40;
const EXECUTE: u8 = 0;
const LOCK: u8 = 1;
const VALIDATE: u8 = 2;
const LOG: u8 = 3;
const COMMIT: u8 = 4;
const COMMIT_KEPT: u8 = 5;
const RELEASE: u8 = 6;
const SHIP: u8 = 7;
const END: u8 = 8;

fn objects() -> ObjectStore {
    let settings = ObjectStoreSettings {
        objects: 600,
        value_bytes: VALUE as u16,
        ..ObjectStoreSettings::o(4, 2, NODES, 1)
    };
    ObjectStore::new(settings).expect("sound settings")
}

/// Object number `number` of those with their primary on `node`.
fn object(node: u16, number: usize) -> u64 {
    let mut all = (0..600).filter(|row| partition_of(*row, NODES).0 == node);
    all.nth(number).expect("there are so many")
}

fn settings() -> Settings {
    Settings { nodes: NODES, threads: 1, workers: 1, cores: 1, slots: 2, ..Settings::default() }
}

/// On the host, the rows with numbers on nodes.
fn hosted() -> Settings {
    Settings { ships: false, multi_hop: false, ..settings() }
}

fn transaction(rows: &[(u16, usize, Intent)]) -> ObjectTransaction {
    let rows: Vec<_> =
        rows.iter().map(|(node, number, intent)| (object(*node, *number), *intent)).collect();
    ObjectTransaction::new(1, &rows)
}

fn input_bytes(rows: &[(u16, usize, Intent)]) -> usize {
    let mut bytes = Vec::new();
    objects().put_input(&transaction(rows), &mut bytes);
    bytes.len()
}

/// One worker of node 0 runs one transaction.
fn one(settings: Settings, rows: &[(u16, usize, Intent)]) -> Cluster<Scripted<ObjectStore>> {
    let workload = Scripted::new(objects(), [vec![transaction(rows)]]);
    let mut cluster = Cluster::new(settings, workload, Network::default(), 0);
    cluster.begin_all();
    cluster.run().unwrap();
    cluster.check().unwrap();
    assert_eq!(cluster.ended(Ending::Committed), 1);
    cluster
}

/// Compares messages and bytes: requests of a kind, how many with how many bytes in all, and the bytes of answers.
fn assert_sent(cluster: &Cluster<Scripted<ObjectStore>>, expected: &[(u8, usize, usize, usize)]) {
    let of = |kind: &(u8, usize, usize, usize)| {
        [(kind.0, (kind.1, kind.2)), (kind.0 | 0x80, (kind.1, kind.3))]
    };
    let expected: BTreeMap<_, _> = expected.iter().flat_map(of).collect();
    assert_eq!(cluster.sent, expected);
}

/// The bytes of a record of one or two shards with so many changes, with its header.
fn record(shards: usize, changes: usize) -> usize {
    let list = if shards > 1 { 2 * shards } else { 0 };
    10 + 8 + 1 + list + 1 + changes * (14 + VALUE)
}

const READ_ANSWER: usize = 10 + 1 + 4 + VALUE;

#[test]
fn a_read_on_another_node_is_one_request() {
    let o10 = one(settings(), &[(3, 0, Read)]);
    assert_sent(&o10, &[(EXECUTE, 1, 21, READ_ANSWER)]);
    assert_eq!((o10.reads.0, o10.writes.0), (1, 0));
    // Two rows of one node, too.
    let two = one(settings(), &[(3, 0, Read), (3, 1, Read)]);
    assert_sent(&two, &[(EXECUTE, 1, 30, READ_ANSWER + 44)]);
    // Begin and outcome alone cross the slot.
    let begin = 6 + 1 + input_bytes(&[(3, 0, Read)]) + 2 + 9;
    assert_eq!(o10.crossed, [(1, begin), (1, 6)]);
}

#[test]
fn requests_and_answers_where_many_nodes_have_rows() {
    let rows = [(1, 0, Write), (3, 0, Write), (4, 0, Read), (5, 0, Read)];
    let o42 = one(settings(), &rows);
    // Node 3 is a backup of node 1, so it has the record when it commits. Nodes 2, 4 and 5 are told by END that it
    // has committed.
    assert_sent(
        &o42,
        &[
            (EXECUTE, 4, 4 * 21, 4 * READ_ANSWER),
            (VALIDATE, 2, 2 * 24, 2 * 11),
            (LOG, 4, 3 * record(2, 1) + record(2, 2), 4 * 10),
            (COMMIT, 1, record(2, 1), 10),
            (COMMIT_KEPT, 1, 10, 10),
            (END, 5, 5 * 10, 5 * 10),
        ],
    );
    // Four LOG records, a COMMIT record, one of the commit alone, and three marks.
    assert_eq!((o42.reads.0, o42.writes.0), (4, 9));
}

#[test]
fn a_transaction_of_the_own_node_and_another_is_shipped() {
    let rows = [(0, 0, Write), (3, 0, Write)];
    let shipped = one(settings(), &rows);
    let ship = 10 + 8 + 1 + input_bytes(&rows) + 2 + 9 + 1 + 13 + VALUE;
    let answer = 10 + 1 + 1 + (1 + 4) + 1 + 14 + VALUE;
    assert_sent(
        &shipped,
        &[
            (SHIP, 1, ship, answer),
            (LOG, 4, 4 * record(2, 1), 4 * 10),
            (COMMIT_KEPT, 1, 10, 10),
            (END, 5, 5 * 10, 5 * 10),
        ],
    );
    let begin = 6 + 1 + input_bytes(&rows) + 2 + 18;
    assert_eq!(shipped.crossed, [(1, begin), (1, 6)]);
    // The same with requests and answers: one message to each node more, and the slot of the EXECUTE.
    let asked = one(Settings { multi_hop: false, ..settings() }, &rows);
    assert_sent(
        &asked,
        &[
            (EXECUTE, 1, 21, READ_ANSWER),
            (LOG, 4, 4 * record(2, 1), 4 * 10),
            (COMMIT, 1, record(2, 1), 10),
            (END, 5, 5 * 10, 5 * 10),
        ],
    );
}

#[test]
fn a_transaction_of_one_other_node_is_shipped() {
    let rows = [(3, 0, Write), (3, 1, Read)];
    let shipped = one(settings(), &rows);
    let ship = 10 + 8 + 1 + input_bytes(&rows) + 2 + 18 + 1;
    // The coordinator replicates nothing of it.
    assert_sent(
        &shipped,
        &[
            (SHIP, 1, ship, 10 + 1 + 1 + 1 + 1),
            (LOG, 2, 2 * record(1, 1), 2 * 10),
            (COMMIT_KEPT, 1, 10, 10),
            (END, 3, 3 * 10, 3 * 10),
        ],
    );
    // Where the coordinator is a backup, the primary holds the record in its place, and the coordinator has its own:
    // of node 4, whose backups are nodes 5 and 0.
    let rows = [(4, 0, Write), (4, 1, Write)];
    let shipped = one(settings(), &rows);
    let ship = 10 + 8 + 1 + input_bytes(&rows) + 2 + 18 + 1;
    let answer = 10 + 1 + 1 + 1 + 1 + 2 * (14 + VALUE);
    let requests: Vec<_> = shipped.sent.iter().map(|(kind, sent)| (*kind, *sent)).collect();
    assert_eq!(
        requests,
        [
            (LOG, (1, record(1, 2))),
            (COMMIT_KEPT, (1, 10)),
            (SHIP, (1, ship)),
            (END, (2, 20)),
            // Node 4 answers for its own record, too.
            (LOG | 0x80, (2, 20)),
            (COMMIT_KEPT | 0x80, (1, 10)),
            (SHIP | 0x80, (1, answer)),
            (END | 0x80, (2, 20)),
        ]
    );
    // Records at nodes 4, 5 and 0, and the commit at node 4.
    assert_eq!(shipped.writes.0, 4);
}

#[test]
fn own_rows_need_no_message_before_the_log() {
    let own = one(settings(), &[(0, 0, Write), (0, 1, Read)]);
    assert_sent(&own, &[(LOG, 2, 2 * record(1, 1), 2 * 10), (END, 2, 20, 20)]);
    assert_eq!(one(settings(), &[(0, 0, Read), (0, 1, Read)]).sent, BTreeMap::new());
}

#[test]
fn logic_on_the_host_crosses_the_slot_twice() {
    let rows = [(1, 0, Write), (3, 0, Read)];
    let hosted = one(hosted(), &rows);
    assert_sent(
        &hosted,
        &[
            (EXECUTE, 2, 2 * 21, 2 * READ_ANSWER),
            (VALIDATE, 1, 24, 11),
            (LOG, 2, 2 * record(1, 1), 2 * 10),
            (COMMIT, 1, record(1, 1), 10),
            (END, 3, 30, 30),
        ],
    );
    let to_nic = (2, 6 + 2 + 18 + 6 + 1 + 10 + VALUE);
    let to_host = (2, 6 + 2 * (4 + VALUE) + 6);
    assert_eq!(hosted.crossed, [to_nic, to_host]);
    // The annotation of its kind does the same.
    let annotated = one(Settings { on_host: 0b10, ..settings() }, &rows);
    assert_eq!((annotated.sent, annotated.crossed), (hosted.sent, hosted.crossed));
}

#[test]
fn a_host_runs_what_is_on_its_own_tables() {
    let reads = one(hosted(), &[(0, 0, Read), (0, 1, Read)]);
    assert_eq!(reads.sent, BTreeMap::new());
    assert_eq!(reads.crossed, [(1, 6 + 2 + 2 * 13), (1, 6)]);
    assert_eq!(reads.reads.0, 0);
    let writes = one(hosted(), &[(0, 0, Write), (0, 1, Read)]);
    assert_sent(&writes, &[(LOG, 2, 2 * record(1, 1), 2 * 10), (END, 2, 20, 20)]);
    assert_eq!(writes.crossed, [(1, 6 + 2 + 2 * 13 + 1 + 10 + VALUE), (1, 6)]);
}

#[test]
fn without_combined_requests_each_key_has_its_own() {
    let settings = Settings { combined: false, ..hosted() };
    let rows = [(1, 0, Write), (1, 1, Read), (3, 0, Read)];
    let alone = one(settings, &rows);
    assert_sent(
        &alone,
        &[
            (EXECUTE, 3, 3 * 21, 3 * READ_ANSWER),
            (LOCK, 1, 10 + 1 + 9, 10 + 1 + 4),
            // What was locked is validated, too.
            (VALIDATE, 3, 3 * 24, 3 * 11),
            (LOG, 2, 2 * record(1, 1), 2 * 10),
            (COMMIT, 1, record(1, 1), 10),
            (END, 3, 30, 30),
        ],
    );
}

#[test]
fn locks_of_what_is_not_changed_are_given_back() {
    // Two workers of node 0 want the same row; the slower one finds it locked, and has to give back another.
    let rows = |first| [(first, 0, Write), (1, 0, Write), (5, 1, Write)];
    let inputs = [vec![transaction(&rows(2))], vec![transaction(&rows(3))]];
    let settings = Settings { workers: 2, slots: 4, multi_hop: false, ..settings() };
    let workload = Scripted::new(objects(), inputs);
    let mut cluster = Cluster::new(settings, workload, Network::default(), 0);
    cluster.begin_all();
    cluster.run().unwrap();
    cluster.check().unwrap();
    assert_eq!(cluster.ended(Ending::Committed), 2);
    assert!(cluster.ended(Ending::AbortedByLock) > 0);
    let (number, bytes) = cluster.sent[&RELEASE];
    assert!(number > 0 && bytes == 10 * number);
}

/// Rows on node 3 that share an entry of its index.
fn of_one_entry(store: &ObjectStore, number: usize) -> Vec<u64> {
    let Settings { displacement, occupancy, .. } = settings();
    let displacements = Displacements::new(displacement, occupancy).expect("a table");
    let place = displacements.place(&store.tables()[0], NODES, 0).expect("a place");
    let segment = |row: u64| place.home(Key { row, ..Key::default() }).segment;
    let mut found = BTreeMap::<u32, Vec<u64>>::new();
    for row in (0..).filter(|row| partition_of(*row, NODES).0 == 3) {
        let rows = found.entry(segment(row)).or_default();
        rows.push(row);
        if rows.len() == number {
            return rows.clone();
        }
    }
    unreachable!("there are enough rows")
}

/// An entry has room for eight objects: nine that are locked at once never fit, and end the transaction for good. Nine
/// that are read do, though they push each other out.
#[test]
fn more_rows_of_one_entry_than_it_has_room_for_are_rolled_back() {
    let large = ObjectStoreSettings { objects: 200_000, ..ObjectStoreSettings::o(4, 2, NODES, 1) };
    let store = ObjectStore::new(large).expect("sound settings");
    let rows = of_one_entry(&store, 9);
    let late = Settings { combined: false, ..hosted() };
    for settings in [settings(), Settings { multi_hop: false, ..settings() }, hosted(), late] {
        for (number, intent) in [(8, Write), (9, Write), (9, Read)] {
            let rows: Vec<_> = rows[..number].iter().map(|row| (*row, intent)).collect();
            let transaction = ObjectTransaction::new(1, &rows);
            let workload = Scripted::new(store.clone(), [vec![transaction]]);
            let mut cluster = Cluster::new(settings.clone(), workload, Network::default(), 0);
            cluster.begin_all();
            cluster.run().unwrap_or_else(|error| panic!("{number} rows, {intent:?}: {error}"));
            cluster.check().unwrap();
            let is_too_large = number > 8 && intent == Write;
            let ending = if is_too_large { Ending::RolledBack } else { Ending::Committed };
            assert_eq!(cluster.ended(ending), 1, "{number} rows, {intent:?}, {settings:?}");
        }
    }
}
