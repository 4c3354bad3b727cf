// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages come back as they were written, have the bytes that are declared, and are refused if they are damaged.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::host::{Applied, Head, ToHost, ToNic, WriteSet, put_write};
use super::*;
use crate::engine::Ending;
use crate::transact;

const TABLES: [TableShape; 3] = [
    TableShape::hashed("nothing", 0, 8),
    TableShape::hashed("small", 9, 8),
    TableShape::hashed("large", 300, 8),
];
const PARTITIONS: u16 = 4;

fn random_key(random: &mut ChaCha8Rng) -> Key {
    let row = random.random_range(0..MOST_ROWS) >> random.random_range(0..56);
    Key { table: TableNumber(random.random_range(0..3)), row }
}

fn value(random: &mut ChaCha8Rng, key: Key) -> Vec<u8> {
    (0..value_bytes(&TABLES, key)).map(|_| random.random()).collect()
}

fn version(random: &mut ChaCha8Rng) -> Version {
    let number = random.random_range(0..MOST_VERSIONS);
    Version { number, present: false, to_write: random.random() }
}

fn keys(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    (0..random.random_range(0..5)).for_each(|_| put_key(random_key(random), &mut bytes));
    bytes
}

fn versions(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.random_range(0..5) {
        put_key(random_key(random), &mut bytes);
        version(random).encode(&mut bytes);
    }
    bytes
}

fn a_change(random: &mut ChaCha8Rng) -> transact::Change {
    use transact::Change::{Delete, Insert, Update};
    [Update, Insert, Delete][random.random_range(0..3)]
}

fn changes(random: &mut ChaCha8Rng) -> (u8, Vec<u8>) {
    let (mut bytes, number) = (Vec::new(), random.random_range(0..4));
    for _ in 0..number {
        let (key, change) = (random_key(random), a_change(random));
        let value = match change {
            transact::Change::Delete => Vec::new(),
            _ => value(random, key),
        };
        let fetched = random.random_range(0..MOST_VERSIONS);
        let change = Change { key, change, fetched, value: &value };
        let before = bytes.len();
        change.encode(&mut bytes);
        assert_eq!(bytes.len() - before, change.encoded_len());
    }
    (number, bytes)
}

fn writes(random: &mut ChaCha8Rng) -> (u8, Vec<u8>) {
    let (mut bytes, number) = (Vec::new(), random.random_range(0..4));
    for _ in 0..number {
        let (key, change) = (random_key(random), a_change(random));
        let value = match change {
            transact::Change::Delete => Vec::new(),
            _ => value(random, key),
        };
        put_write(key, change, &value, &mut bytes);
    }
    (number, bytes)
}

/// Tries a damaged message: it is refused, or is another one that is sound. Nothing panics.
fn damage(random: &mut ChaCha8Rng, bytes: &[u8], mut take: impl FnMut(&[u8]) -> bool) {
    for end in 0..bytes.len() {
        take(&bytes[..end]);
    }
    let longer = [bytes, &[0]].concat();
    assert!(!take(&longer), "a byte too much was taken");
    for _ in 0..40 {
        let mut bytes = bytes.to_vec();
        if let Some(at) = (!bytes.is_empty()).then(|| random.random_range(0..bytes.len())) {
            bytes[at] = random.random();
        }
        take(&bytes);
    }
}

#[test]
fn requests_come_back() {
    seeds::each!(200, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let (one, two, three) = (keys(random), keys(random), versions(random));
        let (number, changes) = changes(random);
        let shards = random.random_range(1..4_u8);
        let list: Vec<u8> = (0..shards)
            .flat_map(|_| random.random_range(0..PARTITIONS).to_le_bytes())
            .filter(|_| shards > 1)
            .collect();
        let transaction = TransactionId(random.random());
        let record = Record::new(transaction, shards, &list, Changes { number, bytes: &changes });
        let (mut own, rows) = (Vec::new(), random.random_range(0..4));
        for _ in 0..rows {
            let key = random_key(random);
            let value = value(random, key);
            let version = version(random);
            put_keyed_row(key, version, random.random::<bool>().then_some(&value), &mut own);
        }
        let input: Vec<u8> = (0..random.random_range(0..255)).map(|_| random.random()).collect();
        let (reads, locks) = (Keys::new(&one), Keys::new(&two));
        let requests = [
            (Kind::Execute, Request::Execute { reads, locks }),
            (Kind::Lock, Request::Lock { keys: reads }),
            (Kind::Validate, Request::Validate { keys: Versions::new(&three) }),
            (Kind::Log, Request::Log { record: record_again(&record) }),
            (Kind::Commit, Request::Commit { record }),
            (Kind::CommitKept, Request::CommitKept),
            (Kind::Release, Request::Release),
            (Kind::End, Request::End),
            (
                Kind::Ship,
                Request::Ship {
                    transaction,
                    input: &input,
                    reads,
                    locks,
                    rows,
                    own: KeyedRows::new(&own),
                },
            ),
        ];
        for (kind, request) in requests {
            let mut bytes = Vec::new();
            request.encode(&mut bytes);
            assert_eq!(bytes.len(), request.encoded_len(), "{request:?}");
            let take = |bytes: &[u8]| {
                Request::decode(kind, &mut Reader::new(bytes), &TABLES, PARTITIONS).is_ok()
            };
            let back = Request::decode(kind, &mut Reader::new(&bytes), &TABLES, PARTITIONS);
            assert_eq!(back, Ok(request));
            damage(random, &bytes, take);
        }
    });
}

#[test]
fn headers_come_back() {
    seeds::each!(100, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let header = Header {
            view: random.random(),
            kind: Kind::ALL[random.random_range(0..Kind::ALL.len())],
            is_answer: random.random(),
            step: random.random_range(0..STEPS),
            slot: random.random(),
            count: random.random(),
        };
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        assert_eq!(bytes.len(), HEADER);
        assert_eq!(Header::decode(&mut Reader::new(&bytes)), Ok(header));
    });
    let steps = Header::decode(&mut Reader::new(&[0, 0, 0, 128, 0, 0, 0, 0, 0, 0])).unwrap_err();
    assert_eq!(steps.to_string(), "byte 3: a step below 128 expected, found 128");
}

#[test]
fn messages_over_the_slot_come_back() {
    seeds::each!(200, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let (one, two, three) = (keys(random), keys(random), versions(random));
        let (number, writes) = writes(random);
        let writes = WriteSet { number, bytes: &writes };
        let head = Head { worker: random.random(), attempt: random.random() };
        let (reads, locks, versions) = (Keys::new(&one), Keys::new(&two), Versions::new(&three));
        let applied = Applied {
            view: random.random(),
            is_committed: random.random(),
            owner: random.random(),
            count: random.random(),
        };
        let messages = [
            ToNic::BeginShipped { head, input: &[1, 2, 3], reads, locks },
            ToNic::Begin { head, reads, locks },
            ToNic::More { head, reads, locks },
            ToNic::Writes { head, writes },
            ToNic::RollBack { head },
            ToNic::Local { head, reads: versions, writes },
            ToNic::LocalReads { head, reads: versions },
            ToNic::Applied(applied),
        ];
        for message in messages {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(bytes.len(), message.encoded_len(), "{message:?}");
            assert_eq!(ToNic::decode(&bytes, &TABLES), Ok(message));
            damage(random, &bytes, |bytes| ToNic::decode(bytes, &TABLES).is_ok());
        }
        let ending = Ending::ALL[random.random_range(0..Ending::COUNT)];
        for message in [ToHost::Rows { head, rows: &one }, ToHost::Outcome { head, ending }] {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(bytes.len(), message.encoded_len(), "{message:?}");
            assert_eq!(ToHost::decode(&bytes), Ok(message));
        }
    });
}

/// A record that is taken apart without a check is the same.
fn record_again<'a>(record: &Record<'a>) -> Record<'a> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    assert_eq!(Record::kept(&bytes), Some(*record));
    for length in 0..bytes.len() {
        let _ = Record::kept(&bytes[..length]);
    }
    // It is written in one go, too.
    let shards: Vec<_> = match record.is_of_several() {
        true => record.listed().collect(),
        false => vec![crate::placement::PartitionId(0)],
    };
    let mut put = Vec::new();
    Record::put(record.transaction, &shards, &mut put, |changes| {
        record.changes.iter(&TABLES).for_each(|change| changes.add(&change));
    });
    assert_eq!(put, bytes);
    *record
}
