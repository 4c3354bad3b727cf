// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random requests for few keys on both ports, while the host changes its table and memory behaves as it likes.

use nic::index::{DIRECTORY_BITS, Operation};
use nic::lookup::{Counters, Geometry, Settings, Status};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::{Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::BeatOrder;
use suites::values::{anywhere, close_values};
use tables::Values;
use tables::memory::HostMemory;
use tables::robin_hood::Shape;

use crate::bench::{Behaviour, Bench, Surroundings};
use crate::dut::{PORTS, RequestWords, Subject};
use crate::host::Host;
use crate::registers::Configuration;

/// What is wrong in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Right,
    Failing,
    Spoiled,
    Resets,
    Switches,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub statuses: Vec<(usize, Status)>,
    pub counters: Counters,
    pub cycles: u64,
    /// Requests whose answers never came, because of resets.
    pub lost: usize,
}

fn stalls(random: &mut ChaCha8Rng) -> StallPattern {
    match random.random_range(0..4) {
        0 | 1 => StallPattern::None,
        2 => StallPattern::Random { probability: random.random_range(0.0..0.8) },
        _ => StallPattern::Burst { probability: 0.05, longest: random.random_range(1..60) },
    }
}

fn behaviour(random: &mut ChaCha8Rng, fails: bool) -> Behaviour {
    let minimum = [0, 0, 30][random.random_range(0..3)];
    let maximum = minimum + [0, 4, 100][random.random_range(0..3)];
    let orders = [ResponseOrder::AsAnswered, ResponseOrder::Shuffled, ResponseOrder::Interleaved];
    let beats = [BeatOrder::Together, BeatOrder::InOrder, BeatOrder::AnyOrder];
    Behaviour {
        stalls: stalls(random),
        latency: Delay { minimum, maximum },
        order: orders[random.random_range(0..3)],
        beats: beats[random.random_range(0..3)],
        errors: if fails { [0.0, 0.01, 0.05, 0.2][random.random_range(0..4)] } else { 0.0 },
    }
}

fn surroundings(random: &mut ChaCha8Rng, kind: Kind) -> Surroundings {
    let fails = kind == Kind::Failing;
    Surroundings {
        seed: random.random(),
        requests: [stalls(random), stalls(random)],
        answers: [stalls(random), stalls(random)],
        host: behaviour(random, fails),
        nic: behaviour(random, fails),
        stores: [0.0, 0.02, 0.1, 0.5][random.random_range(0..4)],
        // Where few words are spoiled, links to buckets lead there for a while.
        changes: match kind {
            Kind::Spoiled => [0.001, 0.01, 0.1, 1.0][random.random_range(0..4)],
            _ => random.random_range(0.01..1.0),
        },
        spoils: kind == Kind::Spoiled,
    }
}

/// A table with slots of the subject's size. Some values lie out of line, where there is room for their place.
pub fn shape(random: &mut ChaCha8Rng, subject: &Subject) -> Shape {
    let inline_bytes = match subject.slot_bytes {
        16 => 0,
        32 => [8, 16][random.random_range(0..2)],
        _ => [56, 64, 104][random.random_range(0..3)],
    };
    let values = match inline_bytes > 0 && random.random_bool(0.3) {
        true => Values { inline_bytes, longest: 150, heap_lines: 60 },
        false => Values::inline(inline_bytes),
    };
    let slots = random.random_range(1..=24_u32);
    let segment = 1 << random.random_range(0..=slots.next_power_of_two().trailing_zeros().min(3));
    let limit = Some([1, 2, 7, 20, 63][random.random_range(0..5)]);
    Shape { slots, limit, segment, overflow_slots: random.random_range(0..30), values }
}

pub fn configuration(random: &mut ChaCha8Rng, subject: &Subject, host: &Host) -> Configuration {
    let table = host.table.geometry();
    let most = if subject.slot_bytes == 16 { 0 } else { 8 * subject.value_words as u16 };
    // Readings of many trips take long.
    let slots = table.limit().expect("tables have a limit") as usize + 1;
    let trips = slots * subject.slot_bytes / (64 * usize::from(subject.landing_lines));
    let settings = Settings {
        value_bytes: [most.min(8), most.min(8), most, 0][random.random_range(0..4)],
        most_readings: if trips > 8 { 4 } else { [3, 4, 8, 30][random.random_range(0..4)] },
        landing_lines: subject.landing_lines,
    };
    let more = [1, 1, 2, 64][random.random_range(0..4)];
    // One with values of fewer words has the same places.
    let geometry = Geometry::<8>::of_table(table, host.base, more, settings)
        .expect("a table that the model can search");
    let segments = geometry.table().segments();
    Configuration {
        table_base: host.base,
        slots: table.homes(),
        limit: geometry.table().limit(),
        more,
        places: geometry.places(),
        settings,
        index_base: anywhere(random, subject.index_bytes(segments), subject.stride()),
        segments,
        idle_time: random.random_range(0..30),
        flush_time: random.random_range(0..100),
    }
}

/// Draws requests that often fit the state that the entries are in, or were in a moment ago.
struct Traffic {
    random: ChaCha8Rng,
    value_words: usize,
    limit: u8,
    keys: u64,
    owners: Vec<u64>,
    token: [u16; PORTS],
    /// Share of requests that only look up.
    looks: f64,
}

impl Traffic {
    fn new(random: &mut ChaCha8Rng, subject: &Subject, host: &Host) -> Self {
        let keys = random.random_range(1..=host.keys);
        let owners = random.random_range(1..4);
        let token = [random.random(), random.random()];
        let looks = [0.3, 0.6, 0.95][random.random_range(0..3)];
        let random = ChaCha8Rng::seed_from_u64(random.random());
        Traffic {
            value_words: subject.value_words,
            limit: host.table.geometry().limit().expect("tables have a limit") as u8,
            keys,
            // Of a copy, so that the requests stay those that find something in the bucket of each shape.
            owners: close_values(&mut random.clone(), owners, 16),
            token,
            looks,
            random,
        }
    }

    fn operation(&mut self) -> u64 {
        use Operation::{Evict, Fill, LockAndRead, SetHint, Unlock, Unpin, UpdateAndPin, Validate};
        const OTHERS: [Operation; 16] = [
            LockAndRead,
            LockAndRead,
            LockAndRead,
            LockAndRead,
            Unlock,
            Unlock,
            Unlock,
            Validate,
            Fill,
            UpdateAndPin,
            UpdateAndPin,
            Unpin,
            Unpin,
            Evict,
            Evict,
            SetHint,
        ];
        if self.random.random_bool(self.looks) {
            // What is cached leaves, so that others have to be read.
            let evicts = self.random.random_bool(0.2);
            return if evicts { Evict as u64 } else { Operation::LookUp as u64 };
        }
        match self.random.random_ratio(1, 100) {
            true => self.random.random_range(9..16),
            false => OTHERS[self.random.random_range(0..OTHERS.len())] as u64,
        }
    }

    /// A word of the directory: as it is, none, or any.
    fn word(&mut self, host: &Host, key: u64) -> u64 {
        let table = host.table.geometry();
        let place = table.directory_word(table.segment(table.home(key)));
        let word = match self.random.random_range(0..6) {
            0..3 => host.table.memory().load(place),
            3 => 0,
            4 => self.random.random_range(1..4) << 32 | self.random.random_range(0..32),
            _ => self.random.random(),
        };
        word & ((1 << DIRECTORY_BITS) - 1)
    }

    fn request(&mut self, port: usize, bench: &Bench) -> RequestWords {
        let key = self.random.random_range(0..self.keys);
        let operation = self.operation();
        let sets_hint = operation == Operation::SetHint as u64;
        let random = &mut self.random;
        let displacement = match random.random_ratio(1, 50) {
            true => random.random_range(0..256_u64),
            false => random.random_range(0..=u64::from(self.limit)),
        };
        let epoch = match random.random_ratio(1, 6) {
            true => random.random_range(0..4),
            false => bench.oracle.epoch(key),
        };
        let owner = self.owners[random.random_range(0..self.owners.len())];
        // Exact or not, with the word or without, and reserved bits.
        let flags = random.random_range(0..16_u64);
        let mut words = RequestWords::default();
        words[0] = key;
        words[1] = u64::from(self.token[port])
            | operation << 16
            | flags << 20
            | displacement << 24
            | owner << 32
            | u64::from(epoch) << 48;
        words[2] = random.random_range(0..3);
        for word in &mut words[3..3 + self.value_words] {
            *word = random.random();
        }
        if sets_hint {
            words[2] = self.word(&bench.table, key);
        }
        words[2] |= self.random.random::<u64>() << DIRECTORY_BITS;
        self.token[port] = self.token[port].wrapping_add(1);
        words
    }
}

/// Software that switches the block off, and on again soon.
struct Switch {
    is_on: bool,
    is_under_way: bool,
    /// Requests that had been taken when it was off.
    taken: Option<u64>,
}

impl Switch {
    /// To be called once a clock.
    fn next(&mut self, random: &mut ChaCha8Rng, bench: &mut Bench) -> Result<(), String> {
        if self.is_under_way {
            self.is_under_way = !bench.has_switched()?;
            return Ok(());
        }
        if !self.is_on && *self.taken.get_or_insert(bench.taken) != bench.taken {
            return Err(format!(
                "cycle {}: a request is taken while the block is off",
                bench.cycle
            ));
        }
        if random.random_ratio(1, if self.is_on { 200 } else { 40 }) {
            self.is_on = !self.is_on;
            (self.is_under_way, self.taken) = (true, None);
            bench.begin_switch(self.is_on);
        }
        Ok(())
    }
}

fn run(subject: Subject, mutant: u8, seed: u64, kind: Kind) -> Result<Outcome, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut shape = shape(&mut random, &subject);
    if kind == Kind::Spoiled && random.random() {
        // Many objects are in buckets from the beginning: their links do not stay for long.
        (shape.limit, shape.overflow_slots) = (Some(1), 30);
    }
    let host = Host::new(shape, &mut random);
    let configuration = configuration(&mut random, &subject, &host);
    let surroundings = surroundings(&mut random, kind);
    let mut traffic = Traffic::new(&mut random, &subject, &host);
    let mut bench = Bench::new(subject, mutant, seed, host, &configuration, &surroundings);
    // Entries that memory has from the beginning.
    for _ in 0..random.random_range(0..100) {
        let request = traffic.request(0, &bench);
        bench.oracle.prepare(&request);
    }
    bench.load();
    bench.configure(&configuration)?;
    let (requests, most_open) = (300, random.random_range(1..100));
    let software = [0.1, 0.5, 1.0][random.random_range(0..3)];
    let (mut statuses, mut pushed, mut lost) = (Vec::new(), 0, 0);
    let mut switch = Switch { is_on: true, is_under_way: false, taken: None };
    while statuses.len() + lost < requests {
        if pushed < requests && bench.open() < most_open {
            let port = usize::from(random.random_bool(software));
            let request = traffic.request(port, &bench);
            bench.push(port, request);
            pushed += 1;
        }
        if kind == Kind::Resets && random.random_ratio(1, 500) {
            lost += bench.reset(&configuration)?;
        }
        if kind == Kind::Switches {
            switch.next(&mut random, &mut bench)?;
        }
        for (port, status) in bench.clock()?.into_iter().enumerate() {
            statuses.extend(status.map(|status| (port, status)));
        }
    }
    while switch.is_under_way {
        bench.clock()?;
        switch.is_under_way = !bench.has_switched()?;
    }
    bench.finish()?;
    Ok(Outcome { statuses, counters: bench.oracle.counters(), cycles: bench.cycle, lost })
}

/// Memories without errors.
pub fn right(subject: Subject, mutant: u8, seed: u64) -> Result<Outcome, String> {
    run(subject, mutant, seed, Kind::Right)
}

/// Memories of which some beats fail.
pub fn failing(subject: Subject, mutant: u8, seed: u64) -> Result<Outcome, String> {
    run(subject, mutant, seed, Kind::Failing)
}

/// A table in which words stand that no writer of tables has written.
pub fn spoiled(subject: Subject, mutant: u8, seed: u64) -> Result<Outcome, String> {
    run(subject, mutant, seed, Kind::Spoiled)
}

/// Resets in the middle of traffic.
pub fn resets(subject: Subject, mutant: u8, seed: u64) -> Result<Outcome, String> {
    run(subject, mutant, seed, Kind::Resets)
}

/// Off and on again in the middle of traffic: what was taken goes on, and nothing else is.
pub fn switches(subject: Subject, mutant: u8, seed: u64) -> Result<Outcome, String> {
    run(subject, mutant, seed, Kind::Switches)
}
