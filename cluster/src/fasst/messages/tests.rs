// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is encoded comes back, has the stated length, and no bytes make a decoder panic.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::engine::TableNumber;
use crate::transact::Change;

const TABLES: [TableShape; 3] = [
    TableShape::hashed("small", 8, 10),
    TableShape::hashed("empty", 0, 10),
    TableShape::hashed("large", 300, 10),
];

fn item<'a>(random: &mut ChaCha8Rng, value: &'a [u8; 300]) -> Item<'a> {
    let table = random.random_range(0..TABLES.len());
    let change = [Change::Update, Change::Insert, Change::Delete][random.random_range(0..3)];
    let length = match change {
        Change::Delete => 0,
        _ => usize::from(TABLES[table].value_bytes),
    };
    let fetched = random.random::<u64>() >> 1;
    Item { key: any_key(random, table), change, fetched, value: &value[..length] }
}

fn any_key(random: &mut ChaCha8Rng, table: usize) -> Key {
    Key { table: TableNumber(table as u8), row: random.random() }
}

#[test]
fn requests_come_back_and_have_their_length() {
    seeds::each!(300, |seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut value = [0; 300];
        random.fill_bytes(&mut value);
        let mut items = Vec::new();
        for _ in 0..random.random_range(0..5) {
            let item = item(&mut random, &value);
            item.encode(usize::from(TABLES[usize::from(item.key.table.0)].value_bytes), &mut items);
        }
        let table = random.random_range(0..TABLES.len());
        let key = any_key(&mut random, table);
        let item = item(&mut random, &value);
        let requests = [
            Request::Execute { key, intent: Intent::Read },
            Request::Execute { key, intent: Intent::Write },
            Request::Unlock { key },
            Request::Validate { key },
            Request::Log { items: Items::new(&items, &TABLES) },
            Request::Backup { item },
            Request::Primary { item, last: false },
            Request::Primary { item, last: true },
            Request::Truncate { attempt: random.random() },
        ];
        let mut bytes = Vec::new();
        for request in &requests {
            let start = bytes.len();
            request.encode(&TABLES, &mut bytes);
            assert_eq!(bytes.len() - start, request.encoded_len(&TABLES), "{request:?}");
        }
        let mut reader = Reader::new(&bytes);
        for request in &requests {
            assert_eq!(Request::decode(&mut reader, &TABLES).as_ref(), Ok(request));
        }
        assert!(reader.is_at_end());
    });
}

#[test]
fn headers_and_answers_come_back() {
    for (kind, length) in [(Kind::Requests, REQUEST_HEADER), (Kind::Responses, RESPONSE_HEADER)] {
        let attempt = if kind == Kind::Requests { 9 } else { 0 };
        let header = Header { epoch: 7, kind, worker: 3, count: 2, sequence: 1 << 30, attempt };
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        assert_eq!((bytes.len(), Kind::of(&bytes)), (length, Some(kind)));
        assert_eq!(Header::decode(&mut Reader::new(&bytes)), Ok(header));
        for end in 0..length {
            Header::decode(&mut Reader::new(&bytes[..end])).unwrap_err();
        }
    }
    let value = [1, 2, 3, 4, 5, 6, 7, 8];
    let found = |value| Executed::Found { version: 5, value };
    let answers = [
        (Executed::Locked, 1),
        (Executed::Refused, 1),
        (found(None), 9),
        (found(Some(&value[..])), 17),
    ];
    for (answer, length) in answers {
        let mut bytes = Vec::new();
        answer.encode(8, &mut bytes);
        assert_eq!(bytes.len(), length);
        assert_eq!(Executed::decode(&mut Reader::new(&bytes), 8), Ok(answer));
    }
    let mut bytes = Vec::new();
    Executed::Found { version: 0, value: None }.encode(0, &mut bytes);
    bytes.extend_from_slice(&value);
    Executed::set_found(&mut bytes, 0, 5, true);
    assert_eq!(Executed::decode(&mut Reader::new(&bytes), 8), Ok(found(Some(&value))));
}

#[test]
fn no_bytes_make_a_decoder_panic() {
    seeds::each!(1_000, |seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bytes = vec![0; random.random_range(0..700)];
        random.fill_bytes(&mut bytes);
        // Types, changes and tables are small numbers: more of them than chance would give.
        for byte in &mut bytes {
            *byte &= if random.random_bool(0.5) { 0x07 } else { 0xff };
        }
        let mut reader = Reader::new(&bytes);
        let _ = Kind::of(&bytes);
        let _ = Header::decode(&mut reader);
        while !reader.is_at_end() {
            let Ok(request) = Request::decode(&mut reader, &TABLES) else { break };
            let mut again = Vec::new();
            request.encode(&TABLES, &mut again);
            assert_eq!(again.len(), request.encoded_len(&TABLES));
        }
        let _ = Executed::decode(&mut Reader::new(&bytes), 8);
        let _ = Done::decode(&mut Reader::new(&bytes));
    });
}

#[test]
fn a_record_of_one_item_leaves_4060_bytes_for_the_value() {
    assert_eq!(4096 - RECORD_OVERHEAD, 4060);
    let error = Request::decode(&mut Reader::new(&[0, 9]), &TABLES).unwrap_err();
    let expected = "byte 1: a table of the workload expected, found 9";
    assert_eq!(error.to_string(), expected);
}
