// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP's initial population.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::{
    ACCESS_INFO, CALL_FORWARDING, SECONDARY_SUBSCRIBER, SPECIAL_FACILITY, SUBSCRIBER, TABLES, Tatp,
    attribute, draw_location, facility, subscriber_number,
};
use crate::database::Load;
use crate::random::common_stream;

/// Subscribers; one to four access rights and facilities each, of different types; 85 % of the
/// facilities active; zero to three forwardings each, of different start times.
pub(super) fn populate<L: Load>(tatp: &Tatp, load: &mut L) -> Result<(), L::Error> {
    load.create(TABLES)?;
    let mut random = common_stream(tatp.seed, 0);
    for subscriber in 0..tatp.subscribers as i64 {
        let (id, number) = (subscriber.into(), subscriber_number(subscriber).into());
        let attributes = attributes(&mut random);
        let location = draw_location(&mut random).into();
        load.row(SUBSCRIBER, &[id, number, location, (&attributes).into()])?;
        load.row(SECONDARY_SUBSCRIBER, &[number, id])?;
        for ai_type in some_of([1, 2, 3, 4], 1, &mut random) {
            let data: [u8; 16] = rights(&mut random);
            load.row(ACCESS_INFO, &[id, ai_type.into(), (&data).into()])?;
        }
        for sf_type in some_of([1, 2, 3, 4], 1, &mut random) {
            let data = special_facility(&mut random);
            load.row(SPECIAL_FACILITY, &[id, sf_type.into(), (&data).into()])?;
            for start_time in some_of([0, 8, 16], 0, &mut random) {
                let end_time = start_time as u8 + random.random_range(1..=8);
                let data = forwarding(end_time, &mut random);
                let row = [id, sf_type.into(), start_time.into(), (&data).into()];
                load.row(CALL_FORWARDING, &row)?;
            }
        }
    }
    load.finish()
}

/// `least` to all of the values, every number and every choice alike.
fn some_of<const N: usize, R: Rng>(
    mut values: [i64; N],
    least: usize,
    random: &mut R,
) -> impl Iterator<Item = i64> + use<N, R> {
    let count = random.random_range(least..=N);
    values.shuffle(random);
    values.into_iter().take(count)
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
