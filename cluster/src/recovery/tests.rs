// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages of recovery that are damaged: they change nothing.

mod partial;

use super::*;
use crate::engine::{Key, TableNumber};
use crate::fasst::{self, Fasst, Shared};
use crate::store::Item;
use crate::transact::Change;
use crate::wire::Writer;
use crate::workload::{ObjectStore, ObjectStoreSettings};

const NODES: u16 = 4;
const EPOCH: u32 = 2;
const FROM: NodeId = NodeId(2);
const VALUE: usize = 16;

/// Node 1, which has been told of a view without node 3.
fn stopped() -> Shared<ObjectStore> {
    let store = ObjectStoreSettings {
        objects: 64,
        value_bytes: VALUE as u16,
        ..ObjectStoreSettings::o(2, 1, NODES, 1)
    };
    let settings = fasst::Settings {
        nodes: NODES,
        backups: 1,
        membership: Some(membership::Settings::default()),
        ..fasst::Settings::default()
    };
    let cluster = Fasst::new(settings, ObjectStore::new(store).unwrap()).unwrap();
    let mut shared = cluster.shared(NodeId(1));
    let alive = [0, 1, 2].map(|node| (NodeId(node), 0));
    let next = View::initial(cluster.layout()).next(EPOCH, &alive, &[], 1);
    prepare(&mut shared, next, Instant::default(), &mut Effects::new());
    assert!(shared.recovery.member.proposes(EPOCH));
    shared
}

/// The items of a record that writes rows and deletes one.
fn items() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (row, change) in [(1, Change::Update), (2, Change::Delete), (3, Change::Insert)] {
        let key = Key { table: TableNumber(0), row };
        let item = Item { key, change, fetched: 7 + row, value: &[9; VALUE] };
        item.encode(VALUE, &mut bytes);
    }
    bytes
}

fn name(node: u16, count: u32) -> TransactionId {
    TransactionId::new(NodeId(node), 0, 0, count)
}

/// A message of this number, with these records.
fn numbered(part: u16, records: &[(TransactionId, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    messages::begin_part(EPOCH, messages::RECORDS, part, &mut bytes);
    for (transaction, items) in records {
        messages::put_record(*transaction, items, &mut bytes);
    }
    bytes
}

/// The last message of this number.
fn last(part: u16, records: &[(TransactionId, &[u8])]) -> Vec<u8> {
    let mut bytes = numbered(part, records);
    messages::set_last(&mut bytes);
    bytes
}

/// The only message of records, with these.
fn message(records: &[(TransactionId, &[u8])]) -> Vec<u8> {
    last(0, records)
}

/// Whether a message was taken. One that was not has changed nothing but a count, and has no answer.
fn takes(before: &Shared<ObjectStore>, from: NodeId, bytes: &[u8]) -> bool {
    let (mut shared, mut out) = (before.clone(), Effects::new());
    receive(&mut shared, Instant::default(), from, bytes, &mut out);
    if !out.sends().is_empty() {
        return true;
    }
    let counts = *shared.recovery.counts();
    let refused = counts.malformed + counts.other_view;
    assert_eq!(refused, 1, "{bytes:?} is neither taken nor refused");
    shared.recovery.counts = Counts::default();
    assert!(shared == *before, "{bytes:?} is refused, and has changed something");
    false
}

#[test]
fn records_are_taken_as_wholes() {
    let (before, items) = (stopped(), items());
    let whole = message(&[(name(3, 5), &items), (name(0, 9), &items)]);
    assert!(takes(&before, FROM, &whole));
    let mut after = before.clone();
    receive(&mut after, Instant::default(), FROM, &whole, &mut Effects::new());
    assert_eq!(after.log.records(), [(name(0, 9), &items[..]), (name(3, 5), &items)]);
    // Each part of it is no message, but the one that ends between the two records, or before the first.
    let first = messages::RECORDS_HEADER + messages::RECORD_HEADER + items.len();
    for end in 0..whole.len() {
        let is_whole = [messages::RECORDS_HEADER, first].contains(&end);
        assert_eq!(takes(&before, FROM, &whole[..end]), is_whole, "{end} bytes");
    }
}

#[test]
fn records_with_a_spoilt_item_are_refused() {
    let (before, items) = (stopped(), items());
    let sound = (name(3, 5), &items[..]);
    let spoilt = |at: usize, byte: u8| {
        let mut items = items.clone();
        items[at] = byte;
        items
    };
    let second = 18 + VALUE;
    let third = second + 18;
    let bad = [
        Vec::new(),
        items[..items.len() - 1].to_vec(),
        [&items[..], &[0]].concat(),
        // No such change, no such table, a version of 64 bits; a deletion that should have a value, and
        // an update that should have none.
        spoilt(0, 3),
        spoilt(third, 255),
        spoilt(1, 1),
        spoilt(third + 1, 1),
        spoilt(17, 0x80),
        spoilt(third + 17, 0xff),
        spoilt(second, 0),
        spoilt(third, 2),
    ];
    for items in &bad {
        // Whether a sound one stands before it, after it, or there is none.
        let spoilt = (name(0, 9), &items[..]);
        for records in [&[spoilt][..], &[sound, spoilt], &[spoilt, sound]] {
            assert!(!takes(&before, FROM, &message(records)), "{items:?}");
        }
    }
    // A coordinator that is no node of the cluster.
    for node in [NODES, NodeId::MANAGER.0] {
        assert!(!takes(&before, FROM, &message(&[sound, (name(node, 1), &items)])));
    }
    // Who is no member of the next view, or no node at all, has no say.
    for from in [NodeId(3), NodeId(NODES), NodeId(77)] {
        assert!(!takes(&before, from, &message(&[sound])));
    }
    assert!(takes(&before, FROM, &message(&[sound])));
}

#[test]
fn no_records_come_after_the_last() {
    let (before, items) = (stopped(), items());
    let record = (name(3, 5), &items[..]);
    let after = |messages: &[Vec<u8>]| {
        let mut shared = before.clone();
        for message in messages {
            receive(&mut shared, Instant::default(), FROM, message, &mut Effects::new());
        }
        shared.recovery.counts = Counts::default();
        shared
    };
    // Message 1 is the last, and came first.
    let has_last = after(&[last(1, &[])]);
    assert!(takes(&has_last, FROM, &numbered(0, &[record])));
    assert!(takes(&has_last, FROM, &last(1, &[])), "it may come again");
    for late in [numbered(2, &[record]), numbered(1, &[record]), last(0, &[]), last(2, &[record])] {
        assert!(!takes(&has_last, FROM, &late), "{late:?}");
    }
    // Message 1 has come, so the last is none before it, and not itself.
    let has_more = after(&[numbered(1, &[])]);
    assert!(!takes(&has_more, FROM, &last(0, &[record])));
    assert!(!takes(&has_more, FROM, &last(1, &[record])));
    assert!(takes(&has_more, FROM, &last(2, &[record])));
    // Another member has numbers of its own.
    assert!(takes(&has_last, NodeId(0), &numbered(5, &[record])));
}

#[test]
fn any_byte_of_records_may_be_wrong() {
    let (before, items) = (stopped(), items());
    let whole = message(&[(name(3, 5), &items), (name(0, 9), &items)]);
    // But for the kind, with which it would be another message.
    for at in (0..whole.len()).filter(|at| *at != 4) {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            // It may be another message that is sound. If it is none, nothing has changed.
            takes(&before, FROM, &damaged);
        }
    }
}

#[test]
fn a_copy_with_a_row_of_another_partition_is_refused() {
    let mut before = stopped();
    // In the new view, node 1 is made a backup of a partition that had one at node 3.
    let view = Arc::clone(before.recovery.member.proposed().unwrap());
    let is_new =
        |(_, replicas): &(_, &membership::Replicas)| replicas.filling().contains(&NodeId(1));
    let (partition, replicas) = view.partitions().find(is_new).expect("a new backup");
    let primary = replicas.nodes()[0];
    assert!(before.recovery.member.install());
    before.recovery.exchange = None;
    before.recovery.filling.push(Filling::new(partition));
    let layout = Arc::clone(before.store.layout());
    let copy = |rows: &[u64]| {
        let mut bytes = Vec::new();
        messages::begin_copy(EPOCH, partition, 0, &mut bytes);
        for row in rows {
            bytes.put_u8(0);
            bytes.put_u64(*row);
            bytes.put_u64(3);
            bytes.put_u64(3 | 1 << 63);
            bytes.put_field(&[7], VALUE);
        }
        bytes
    };
    let key = |row| Key { table: TableNumber(0), row };
    let row_of = |is_of: bool| {
        (0..64).find(|row| (layout.partition_of(key(*row)) == partition) == is_of).unwrap()
    };
    let (own, other) = (row_of(true), row_of(false));
    assert!(takes(&before, primary, &copy(&[own])));
    for rows in [&[other][..], &[own, other], &[other, own]] {
        assert!(!takes(&before, primary, &copy(rows)));
    }
}
