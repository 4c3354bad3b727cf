// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP's initial population.

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

/// One to four of the types, every number and every choice of so many alike: as sets of bits, of which
/// one is drawn. There are 12 for each number, 3, 2, 3 and 12 for each choice.
const CHOICES_OF_TYPES: [u8; 48] = choices(4, 1, 12);
/// None to three of the start times in the same way: 3 for each number, 3, 1, 1 and 3 for each choice.
const CHOICES_OF_TIMES: [u8; 12] = choices(3, 0, 3);

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
    let has_type =
        |table, a_type| is_drawn(a_type, &TYPES, &CHOICES_OF_TYPES, choice(table, &[subscriber]));
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
                && is_drawn(
                    *start_time,
                    &START_TIMES,
                    &CHOICES_OF_TIMES,
                    choice(CALL_FORWARDING, &key[..2]),
                ) =>
        {
            let end_time = *start_time as u8 + contents.random_range(1..=8);
            let data = forwarding(end_time, &mut contents);
            give(&[id, (*sf_type).into(), (*start_time).into(), (&data).into()])
        }
        _ => return None,
    })
}

/// The sets of `least` to all of `values` bits: `of_each` for each number of bits, all sets of one number
/// as often.
const fn choices<const N: usize>(values: u32, least: u32, of_each: usize) -> [u8; N] {
    let mut choices = [0; N];
    let mut filled = 0;
    let mut bits = least;
    while bits <= values {
        let start = filled;
        while filled < start + of_each {
            let mut set = 0;
            while set < 1 << values {
                if (set as u8).count_ones() == bits {
                    choices[filled] = set as u8;
                    filled += 1;
                }
                set += 1;
            }
        }
        bits += 1;
    }
    assert!(filled == N);
    choices
}

/// Whether `value` is one of those of `values` that are drawn.
fn is_drawn(value: i64, values: &[i64], choices: &[u8], mut random: RowStream) -> bool {
    let place = values.iter().position(|other| *other == value);
    let choice = choices[random.random_range(0..choices.len())];
    place.is_some_and(|place| choice >> place & 1 == 1)
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
    fill_digits(&mut bytes[1..], b'0', 10, random);
    bytes
}

fn fill_letters(bytes: &mut [u8], random: &mut impl Rng) {
    fill_digits(bytes, b'A', 26, random);
}

/// Fills with characters from `first` on, each of `base` alike: of one number as many as it has digits.
fn fill_digits(bytes: &mut [u8], first: u8, base: u64, random: &mut impl Rng) {
    let mut number = random.random_range(0..base.pow(bytes.len() as u32));
    for byte in bytes {
        *byte = first + (number % base) as u8;
        number /= base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_types_and_every_choice_is_alike() {
        fn counts(choices: &[u8]) -> Vec<(u32, usize)> {
            let sets = (0..16).map(|set: u8| {
                (set.count_ones(), choices.iter().filter(|choice| **choice == set).count())
            });
            let mut counts: Vec<_> = sets.filter(|(_, count)| *count > 0).collect();
            counts.sort_unstable();
            counts
        }
        let types = [[(1, 3); 4].as_slice(), &[(2, 2); 6], &[(3, 3); 4], &[(4, 12)]].concat();
        assert_eq!(counts(&CHOICES_OF_TYPES), types);
        let times = [[(0, 3)].as_slice(), &[(1, 1); 3], &[(2, 1); 3], &[(3, 3)]].concat();
        assert_eq!(counts(&CHOICES_OF_TIMES), times);
    }

    #[test]
    fn characters_are_alike_at_every_place() {
        let mut random = RowStream::new(1, 0, &[]);
        let mut seen = [[0_u32; 26]; 8];
        for _ in 0..26_000 {
            let mut bytes = [0; 8];
            fill_letters(&mut bytes, &mut random);
            for (place, byte) in bytes.into_iter().enumerate() {
                seen[place][usize::from(byte - b'A')] += 1;
            }
        }
        assert!(seen.iter().flatten().all(|count| (800..1_200).contains(count)), "{seen:?}");
    }
}
