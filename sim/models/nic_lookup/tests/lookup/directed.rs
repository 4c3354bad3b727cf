// SPDX-License-Identifier: MIT OR Apache-2.0
//! What random runs seldom meet: settings that do not fit, tables of all sizes, look-ups that give up late.

use driver::map::nic_lookup;
use nic::index::Operation;
use nic::lookup::Places;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi_lite::{LiteOutcome, LiteRequest};
use sim::bus::axi4::Delay;
use suites::registers::{self, Block};
use tables::Values;
use tables::robin_hood::Shape;

use crate::bench::{Bench, Surroundings};
use crate::dut::{RequestWords, Subject};
use crate::host::Host;
use crate::random;
use crate::registers::{CONTROL, Configuration, ENABLE, SETTINGS_ERROR};

/// A table of nine slots.
fn host(random: &mut ChaCha8Rng, subject: &Subject) -> Host {
    let values = Values::inline(match subject.slot_bytes {
        16 => 0,
        32 => 16,
        _ => 104,
    });
    let shape = Shape { slots: 8, limit: Some(1), segment: 4, overflow_slots: 4, values };
    Host::new(shape, random)
}

fn prepared(subject: Subject, mutant: u8, seed: u64) -> (Bench, Configuration) {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let host = Host::new(random::shape(random, &subject), random);
    let configuration = random::configuration(random, &subject, &host);
    let surroundings = Surroundings::smooth(seed);
    (Bench::new(subject, mutant, seed, host, &configuration, &surroundings), configuration)
}

/// Accesses of software.
fn access(bench: &mut Bench) -> impl FnMut(LiteRequest) -> LiteOutcome {
    |request| bench.access(request).unwrap_or_else(|error| panic!("{error}"))
}

/// The registers are those of the map.
pub fn map(subject: Subject, mutant: u8, seed: u64) -> Result<(), String> {
    let (mut bench, _) = prepared(subject, mutant, seed);
    // It is not switched on as long as its settings do not fit.
    registers::check(&mut Block(&mut access(&mut bench)), &nic_lookup::WORDS, &["CONTROL"]);
    Ok(())
}

/// Each setting that does not fit keeps the block off and is named; none changes while it is on.
pub fn settings(subject: Subject, mutant: u8, seed: u64) -> Result<(), String> {
    let (mut bench, configuration) = prepared(subject, mutant, seed);
    let [most, words] = [configuration.segments, 8 * subject.value_words as u32];
    let few = most - 1;
    for (setting, register, wrong) in [
        (1, 0x020, 0x20),
        (2, 0x030, 0),
        (3, 0x040, 64),
        (4, 0x050, 0),
        (4, 0x050, 65),
        (5, 0x060, 32),
        (6, 0x070, 8),
        (7, 0x080, 32),
        (9, 0x0A0, words + 1),
        (10, 0x0B0, 1),
        (10, 0x0B0, 256),
        (11, 0x0C0, 32),
        (12, 0x0D0, few),
        (12, 0x0D0, u32::MAX),
    ] {
        for (address, value) in configuration.writes() {
            bench.write(address, value)?;
        }
        bench.write(register, wrong)?;
        bench.write(CONTROL, ENABLE)?;
        let state = (bench.read(CONTROL)?, bench.read(SETTINGS_ERROR)?);
        if state != (0, setting) {
            return Err(format!("{wrong} at {register:#x}: control and error are {state:?}"));
        }
    }
    bench.configure(&configuration)?;
    registers::check_holds(&mut Block(&mut access(&mut bench)), &nic_lookup::WORDS);
    bench.finish()
}

/// The home of each key, in tables of all sizes. Nothing is read of host memory.
pub fn homes(subject: Subject, mutant: u8, seed: u64) -> Result<(), String> {
    use Operation::{Evict, Fill, Unlock, Unpin, Validate};
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let (_, configuration) = prepared(subject, mutant, seed);
    let slots: u32 = random.random();
    let slots =
        if seed.is_multiple_of(2) { slots } else { slots >> random.random_range(0..32) }.max(1);
    // 256 entries at most.
    let log2_segment = (33 - slots.leading_zeros()).saturating_sub(random.random_range(1..9));
    let log2_segment = log2_segment.min(31);
    let places = Places { log2_segment, ..configuration.places };
    let segments = slots.div_ceil(1 << log2_segment);
    let configuration = Configuration { slots, places, segments, ..configuration };
    let surroundings = Surroundings::smooth(seed);
    let mut bench =
        Bench::new(subject, mutant, seed, host(random, &subject), &configuration, &surroundings);
    bench.configure(&configuration)?;
    for token in 0..200 {
        let operation = [Validate, Fill, Evict, Unlock, Unpin][random.random_range(0..5)];
        let mut words = RequestWords::default();
        words[0] = random.random::<u64>() >> random.random_range(0..64);
        words[1] = token | (operation as u64) << 16;
        bench.push(usize::from(random.random::<bool>()), words);
    }
    bench.finish()
}

/// Look-ups beside a slot that is written for ever give up after 255 readings, and count no more round trips.
pub fn readings(subject: Subject, mutant: u8, seed: u64) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut host = host(random, &subject);
    let configuration = random::configuration(random, &subject, &host);
    let settings = nic::lookup::Settings { most_readings: 255, ..configuration.settings };
    let configuration = Configuration { settings, ..configuration };
    (0..9).for_each(|slot| host.tear(slot));
    let surroundings = Surroundings::smooth(seed);
    let mut bench = Bench::new(subject, mutant, seed, host, &configuration, &surroundings);
    bench.configure(&configuration)?;
    for key in 0..8 {
        let mut words = RequestWords::default();
        (words[0], words[1]) = (1000 + key, key | (Operation::LookUp as u64) << 16);
        bench.push(0, words);
    }
    bench.finish()?;
    match bench.oracle.counters().gave_up {
        8 => Ok(()),
        _ => Err(format!("{:?}, expected 8 that gave up", bench.oracle.counters())),
    }
}

/// Look-ups in all contexts at once, of objects in buckets, so that the second trip of each has several reads.
pub fn crowds(subject: Subject, mutant: u8, seed: u64) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut shape = random::shape(random, &subject);
    (shape.slots, shape.limit, shape.segment, shape.overflow_slots) = (24, Some(1), 4, 30);
    let host = Host::new(shape, random);
    let keys = host.keys;
    let configuration = random::configuration(random, &subject, &host);
    let mut surroundings = Surroundings::smooth(seed);
    surroundings.host.latency = Delay { minimum: 2000, maximum: 2000 };
    let mut bench = Bench::new(subject, mutant, seed, host, &configuration, &surroundings);
    bench.configure(&configuration)?;
    for token in 0..200 {
        let mut words = RequestWords::default();
        (words[0], words[1]) =
            (random.random_range(0..keys), token | (Operation::LookUp as u64) << 16);
        bench.push(usize::from(random.random::<bool>()), words);
    }
    bench.finish()
}

/// All of these.
pub fn all(subject: Subject, mutant: u8, seed: u64) -> Result<(), String> {
    map(subject, mutant, seed)?;
    settings(subject, mutant, seed)?;
    homes(subject, mutant, seed)?;
    readings(subject, mutant, seed)?;
    crowds(subject, mutant, seed)
}
