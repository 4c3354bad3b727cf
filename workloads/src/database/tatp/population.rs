// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP's initial population.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::{
    ACCESS_INFO, CALL_FORWARDING, SECONDARY_SUBSCRIBER, SPECIAL_FACILITY, SUBSCRIBER, TABLES, Tatp,
    attribute, draw_location, facility, subscriber_number, subscriber_of,
};
use crate::database::{Load, TableId, Value};
use crate::random::RowStream;

/// The types of access rights and facilities.
const TYPES: [i64; 4] = [1, 2, 3, 4];
/// The times at which forwardings begin.
const START_TIMES: [i64; 3] = [0, 8, 16];

/// Every row that [`initial`] has.
pub(super) fn populate<L: Load>(tatp: &Tatp, load: &mut L) -> Result<(), L::Error> {
    load.create(TABLES)?;
    for subscriber in 0..tatp.subscribers as i64 {
        let mut row = |table, key: &[i64]| {
            initial(tatp, table, key, |row| load.row(table, row)).unwrap_or(Ok(()))
        };
        row(SUBSCRIBER, &[subscriber])?;
        row(SECONDARY_SUBSCRIBER, &[subscriber_number(subscriber)])?;
        for a_type in TYPES {
            row(ACCESS_INFO, &[subscriber, a_type])?;
            row(SPECIAL_FACILITY, &[subscriber, a_type])?;
            for start_time in START_TIMES {
                row(CALL_FORWARDING, &[subscriber, a_type, start_time])?;
            }
        }
    }
    load.finish()
}

/// Subscribers; one to four access rights and facilities each, of different types; 85 % of the
/// facilities active; zero to three forwardings each, of different start times. What a row is depends on
/// its key alone.
pub(super) fn initial<T>(
    tatp: &Tatp,
    table: TableId,
    key: &[i64],
    give: impl FnOnce(&[Value<'_>]) -> T,
) -> Option<T> {
    let subscriber = match table {
        SECONDARY_SUBSCRIBER => subscriber_of(*key.first()?)?,
        _ => *key.first()?,
    };
    if !(0..tatp.subscribers as i64).contains(&subscriber) {
        return None;
    }
    let stream = |part, key: &[i64]| RowStream::new(tatp.seed, part, key);
    let mut contents = stream(table.0 as u64, key);
    // Which types and times there are is drawn once for all of them.
    let choice = |table: TableId, key: &[i64]| stream((TABLES.len() + table.0) as u64, key);
    let has_type = |table, a_type| is_some_of(a_type, TYPES, 1, choice(table, &[subscriber]));
    let id = subscriber.into();
    Some(match (table, key) {
        (SUBSCRIBER, [_]) => {
            let attributes = attributes(&mut contents);
            let location = draw_location(&mut contents).into();
            give(&[id, subscriber_number(subscriber).into(), location, (&attributes).into()])
        }
        (SECONDARY_SUBSCRIBER, [number]) => give(&[(*number).into(), id]),
        (ACCESS_INFO, [_, ai_type]) if has_type(ACCESS_INFO, *ai_type) => {
            give(&[id, (*ai_type).into(), (&rights(&mut contents)).into()])
        }
        (SPECIAL_FACILITY, [_, sf_type]) if has_type(SPECIAL_FACILITY, *sf_type) => {
            give(&[id, (*sf_type).into(), (&special_facility(&mut contents)).into()])
        }
        (CALL_FORWARDING, [_, sf_type, start_time])
            if has_type(SPECIAL_FACILITY, *sf_type)
                && is_some_of(*start_time, START_TIMES, 0, choice(CALL_FORWARDING, &key[..2])) =>
        {
            let end_time = *start_time as u8 + contents.random_range(1..=8);
            let data = forwarding(end_time, &mut contents);
            give(&[id, (*sf_type).into(), (*start_time).into(), (&data).into()])
        }
        _ => return None,
    })
}

/// Whether `value` is one of the values that are drawn: `least` to all of them, every number and every
/// choice alike.
fn is_some_of<const N: usize>(
    value: i64,
    mut values: [i64; N],
    least: usize,
    mut random: RowStream,
) -> bool {
    let count = random.random_range(least..=N);
    values.shuffle(&mut random);
    values[..count].contains(&value)
}

fn attributes(random: &mut impl Rng) -> [u8; attribute::BYTES] {
    let mut bytes = [0; attribute::BYTES];
    let bits = random.random::<u16>() & 0x3ff;
    bytes[attribute::BITS..][..2].copy_from_slice(&bits.to_le_bytes());
    random.fill_bytes(&mut bytes[attribute::HEX..attribute::BYTE2]);
    random.fill_bytes(&mut bytes[attribute::BYTE2..attribute::MSC_LOCATION]);
    random.fill_bytes(&mut bytes[attribute::MSC_LOCATION..][..4]);
    bytes
}

/// data1 and data2 of a byte each, data3 of three and data4 of five letters; the rest is 0.
fn rights(random: &mut impl Rng) -> [u8; 16] {
    let mut bytes = [0; 16];
    random.fill_bytes(&mut bytes[..2]);
    fill_letters(&mut bytes[2..10], random);
    bytes
}

fn special_facility(random: &mut impl Rng) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[facility::IS_ACTIVE] = u8::from(random.random_range(0..100) < 85);
    bytes[facility::ERROR_CONTROL] = random.random();
    bytes[facility::DATA_A] = random.random();
    fill_letters(&mut bytes[facility::DATA_A + 1..], random);
    bytes
}

/// End time, then the 15 digits of numberx.
pub(super) fn forwarding(end_time: u8, random: &mut impl Rng) -> [u8; 16] {
    let mut bytes = [end_time; 16];
    bytes[1..].fill_with(|| random.random_range(b'0'..=b'9'));
    bytes
}

fn fill_letters(bytes: &mut [u8], random: &mut impl Rng) {
    bytes.fill_with(|| random.random_range(b'A'..=b'Z'));
}
