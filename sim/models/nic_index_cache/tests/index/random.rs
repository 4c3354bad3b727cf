// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random requests on few segments, under a memory that behaves as it likes.

use nic::index::{Operation, Table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::{Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::BeatOrder;
use suites::values::close_values;

use crate::bench::{Answered, Bench, SEGMENTS, Surroundings};
use crate::dut::{RequestWords, Subject};

fn stalls(random: &mut ChaCha8Rng) -> StallPattern {
    match random.random_range(0..4) {
        0 | 1 => StallPattern::None,
        2 => StallPattern::Random { probability: random.random_range(0.0..0.8) },
        _ => StallPattern::Burst { probability: 0.05, longest: random.random_range(1..60) },
    }
}

/// Of bursts, the same share fails, whatever their length.
fn surroundings(random: &mut ChaCha8Rng, subject: &Subject, fails: bool) -> Surroundings {
    let minimum = [0, 0, 30][random.random_range(0..3)];
    let maximum = minimum + [0, 4, 100][random.random_range(0..3)];
    let orders = [ResponseOrder::AsAnswered, ResponseOrder::Shuffled, ResponseOrder::Interleaved];
    let beats = [BeatOrder::Together, BeatOrder::InOrder, BeatOrder::AnyOrder];
    Surroundings {
        seed: random.random(),
        base: index_base(random, subject),
        memory: stalls(random),
        requests: stalls(random),
        answers: stalls(random),
        latency: Delay { minimum, maximum },
        order: orders[random.random_range(0..3)],
        beats: beats[random.random_range(0..3)],
        errors: if fails {
            [0.02, 0.1, 0.4][random.random_range(0..3)] / subject.lines() as f64
        } else {
            0.0
        },
    }
}

/// A multiple of the stride, with room for the index before the last address.
fn index_base(random: &mut ChaCha8Rng, subject: &Subject) -> u64 {
    let bytes = u64::from(subject.segment(SEGMENTS)) * subject.stride();
    let shift = random.random_range(0..40);
    random.random_range(0..=(u64::MAX - bytes) >> shift) & !(subject.stride() - 1)
}

fn table(random: &mut ChaCha8Rng, subject: &Subject) -> Table {
    let bytes = [16, 32, 64, 128, 192, 256, 320][random.random_range(0..7)];
    let limit = random.random_range(0..64);
    let more = [1, 1, 2, 64][random.random_range(0..4)];
    let segments = subject.segment(SEGMENTS);
    // The index asks nothing else of homes, and they have up to 32 bits.
    let slots = if random.random() { 2 * segments } else { any_size(random).max(1) };
    let last_base = u64::MAX - (u64::from(slots) + u64::from(limit)) * u64::from(bytes);
    let shift = random.random_range(0..40);
    let base = random.random_range(0..=last_base >> shift) & !15;
    Table::new(base, slots, bytes, limit, more, segments).expect("a table as it can be")
}

/// Numbers of as many bits are as likely as those of fewer.
fn any_size(random: &mut ChaCha8Rng) -> u32 {
    random.random::<u32>() >> random.random_range(0..32)
}

/// A number of at least that much: near it, of any size, or with few bits.
fn beyond(random: &mut ChaCha8Rng, least: u32) -> u32 {
    let number = match random.random_range(0..3) {
        0 => least.saturating_add(random.random_range(0..3)),
        1 => any_size(random),
        _ => 1 << random.random_range(0..32) | random.random_range(0..64),
    };
    number.max(least)
}

/// From one to that many.
fn some_values(random: &mut ChaCha8Rng, most: usize, bits: u32) -> Vec<u64> {
    let count = random.random_range(1..=most);
    close_values(random, count, bits)
}

/// Draws requests that often fit the state that the entries are in, or were in a moment ago.
struct Traffic {
    random: ChaCha8Rng,
    subject: Subject,
    segments: u32,
    all_segments: u32,
    slots: u32,
    /// Some of those that are not by their segment.
    homes: Vec<u32>,
    /// The lower halves of keys.
    keys: Vec<u64>,
    owners: Vec<u64>,
    versions: Vec<u64>,
    limit: u8,
    token: u16,
    /// A run of requests to one segment.
    run: u32,
    segment: u32,
}

impl Traffic {
    fn new(random: &mut ChaCha8Rng, subject: &Subject, table: &Table) -> Self {
        let places = 2 * subject.ways;
        Traffic {
            subject: *subject,
            segments: random.random_range(1..=(2 * places + 2).min(SEGMENTS / 2)),
            all_segments: table.segments(),
            slots: table.slots(),
            homes: (0..4).map(|_| random.random_range(0..table.slots())).collect(),
            keys: some_values(random, subject.objects + 2, 32),
            owners: some_values(random, 3, 16),
            versions: some_values(random, 3, 32),
            limit: table.limit(),
            token: random.random(),
            run: 0,
            segment: 0,
            random: ChaCha8Rng::seed_from_u64(random.random()),
        }
    }

    fn operation(&mut self) -> u64 {
        use Operation::*;
        const OFTEN: [Operation; 20] = [
            LookUp,
            LookUp,
            LookUp,
            LockAndRead,
            LockAndRead,
            LockAndRead,
            Validate,
            Validate,
            Fill,
            Fill,
            Fill,
            Fill,
            UpdateAndPin,
            UpdateAndPin,
            Unpin,
            Unpin,
            Unlock,
            Unlock,
            Evict,
            SetHint,
        ];
        match self.random.random_ratio(1, 100) {
            true => self.random.random_range(9..16),
            false => OFTEN[self.random.random_range(0..OFTEN.len())] as u64,
        }
    }

    fn request(&mut self, bench: &Bench) -> RequestWords {
        if self.run == 0 {
            self.run = [1, 1, 2, 8][self.random.random_range(0..4)];
            self.segment = self.subject.segment(self.random.random_range(0..self.segments));
        }
        self.run -= 1;
        let random = &mut self.random;
        let outside = random.random_ratio(1, 100);
        let segment = self.segment;
        // Keys of different segments differ, in any of their bits.
        let of_segment = u64::from(segment.wrapping_mul(0x9E37_79B1));
        let key = of_segment << 32 | self.keys[random.random_range(0..self.keys.len())];
        let near = segment * 2 + random.random_range(0..2);
        let home = match near < self.slots && random.random() {
            true => near,
            false => self.homes[random.random_range(0..self.homes.len())],
        };
        let (segment, home) = match outside {
            true if random.random() => (beyond(random, self.all_segments), home),
            true => (segment, beyond(random, self.slots)),
            false => (segment, home),
        };
        let (version, ignored) =
            (self.versions[random.random_range(0..self.versions.len())], random.random::<u32>());
        let owner = self.owners[random.random_range(0..self.owners.len())];
        let current = bench.oracle.epoch(segment);
        let epoch = u64::from(match random.random_range(0..12) {
            0 => current.wrapping_sub(random.random_range(1..4)),
            1 => current ^ 1 << random.random_range(0..16),
            _ => current,
        });
        let displacement = match random.random_ratio(1, 100) {
            true => random.random_range(0..256_u64),
            false => random.random_range(0..=u64::from(self.limit)),
        };
        let flags = random.random_range(0..4_u64);
        let operation = self.operation();
        let mut words = RequestWords::default();
        words[0] = key;
        words[1] = u64::from(home) << 32 | u64::from(segment);
        words[2] = match operation == Operation::SetHint as u64 {
            true => self.random.random(),
            false => version << 32 | u64::from(ignored),
        };
        words[3] = owner << 48
            | epoch << 32
            | u64::from(self.token) << 16
            | displacement << 8
            | flags << 4
            | operation;
        for word in &mut words[4..4 + self.subject.value_words] {
            *word = self.random.random();
        }
        self.token = self.token.wrapping_add(1);
        words
    }
}

/// Has the block flush now and then, and sometimes loses patience.
struct Flushes {
    random: ChaCha8Rng,
    /// How often, in each clock.
    rate: f64,
    is_patient: bool,
}

impl Flushes {
    fn new(random: &mut ChaCha8Rng, subject: &Subject) -> Self {
        // A flush goes over all places.
        let most = if subject.sets > 2 { 0.0001 } else { 0.02 };
        let rate = [0.0, most / 10.0, most][random.random_range(0..3)];
        Flushes { rate, is_patient: true, random: ChaCha8Rng::seed_from_u64(random.random()) }
    }

    fn clock(&mut self, bench: &mut Bench) {
        let changes = match (bench.wants_flush, bench.flushed()) {
            (false, _) => self.rate,
            (true, Some(_)) => 0.1,
            (true, None) if self.is_patient => 0.0,
            (true, None) => 0.05,
        };
        if self.random.random_bool(changes) {
            bench.wants_flush ^= true;
            self.is_patient = self.random.random_ratio(3, 4);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Right,
    Failing,
    Resets,
}

/// An entry that has counted for any time, often up to where a carry goes far.
fn with_any_epoch(random: &mut ChaCha8Rng, entry: &[u64]) -> Vec<u64> {
    let epoch: u16 = random.random::<u16>() | (0xFFFF_u32 >> random.random_range(0..=16)) as u16;
    let epoch = epoch.wrapping_sub(random.random_range(0..4));
    let mut words = entry.to_vec();
    words[0] = words[0] & !(0xFFFF << 10) | u64::from(epoch) << 10;
    words
}

fn run(subject: Subject, mutant: u8, seed: u64, kind: Kind) -> Result<Vec<Answered>, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let table = table(&mut random, &subject);
    let mut surroundings = surroundings(&mut random, &subject, kind == Kind::Failing);
    if kind == Kind::Resets {
        // An entry of several lines can be half written else.
        surroundings.beats = BeatOrder::Together;
    }
    let mut bench = Bench::new(subject, mutant, seed, table, &surroundings);
    let mut traffic = Traffic::new(&mut random, &subject, &table);
    let mut flushes = Flushes::new(&mut random, &subject);
    // Entries that memory has from the beginning.
    for _ in 0..random.random_range(0..200) {
        let request = traffic.request(&bench);
        bench.oracle.apply(&request);
    }
    for n in 0..SEGMENTS {
        let segment = subject.segment(n);
        bench.oracle.restore(segment, &with_any_epoch(&mut random, &bench.oracle.entry(segment)));
        bench.load(segment);
    }
    traffic.token = 0;
    let (requests, most_open) = (600, random.random_range(1..100));
    let (mut answers, mut pushed, mut lost) = (Vec::new(), 0, 0);
    if kind == Kind::Resets {
        bench.keep_states();
    }
    while answers.len() + lost < requests {
        if pushed < requests && bench.open() < most_open {
            let request = traffic.request(&bench);
            bench.push(request);
            pushed += 1;
        }
        if kind == Kind::Resets && random.random_ratio(1, 300) {
            lost += bench.reset()?;
        }
        flushes.clock(&mut bench);
        answers.extend(bench.clock()?);
    }
    bench.wants_flush = false;
    bench.finish()?;
    if random.random() {
        bench.flush()?;
        let writes = bench.watch.writes();
        bench.flush()?;
        if bench.watch.writes() != writes {
            return Err("a flush wrote what was not changed".into());
        }
    } else {
        bench.displace(&mut traffic.token)?;
    }
    for _ in 0..20 {
        bench.clock()?;
    }
    bench.watch.check_events()?;
    Ok(answers)
}

/// Memory without errors.
pub fn right(subject: Subject, mutant: u8, seed: u64) -> Result<Vec<Answered>, String> {
    run(subject, mutant, seed, Kind::Right)
}

/// Memory of which some beats fail.
pub fn failing(subject: Subject, mutant: u8, seed: u64) -> Result<Vec<Answered>, String> {
    run(subject, mutant, seed, Kind::Failing)
}

/// Resets in the middle of traffic.
pub fn resets(subject: Subject, mutant: u8, seed: u64) -> Result<Vec<Answered>, String> {
    run(subject, mutant, seed, Kind::Resets)
}
