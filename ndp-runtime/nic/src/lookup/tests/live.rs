// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several look-ups at once, step by step, while the host changes its table store by store. What the host has
//! changed it evicts afterwards, so an answer from the index is at most as old as that.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tables::memory::{HostMemory, LoggedMemory};

use super::history::{Change, Past};
use super::*;

const STEPS: u32 = 3000;

struct Under {
    run: Run<WORDS>,
    key: u64,
    /// Stores that were shown when what the index knew was right, at the latest, as the look-up began.
    from: usize,
}

struct World {
    past: Past,
    engine: Engine<2, WORDS>,
    under: Vec<Under>,
    /// The key that was changed, and the stores before that, until it is evicted.
    changed: Option<(u64, usize)>,
    words: usize,
}

impl World {
    fn new(random: &mut ChaCha8Rng) -> (Self, u64, usize) {
        let slots = random.random_range(2..20);
        let limit = Some(random.random_range(1..6));
        let segment = [1, 2][random.random_range(0..2)];
        let values = [Values::inline(8), Values::inline(60)][random.random_range(0..2)];
        let shape = Shape { slots, limit, segment, overflow_slots: 8, values };
        let table = table(shape, LoggedMemory::new);
        let landing_lines = random_landing(random, table.geometry());
        let settings = Settings { landing_lines, most_readings: 20, ..SETTINGS };
        let engine = Engine::new(geometry(table.geometry(), settings), 255);
        let words = table.memory().words();
        let (past, under) = (Past::new(table), Vec::new());
        let world = World { past, engine, under, changed: None, words };
        (world, u64::from(slots) + 4, values.longest)
    }

    fn begin(&mut self, key: u64) {
        let run = self.engine.begin(Request::new(Operation::LookUp, key, 0));
        let from = self.changed.map_or(self.past.shown, |changed| changed.1);
        self.under.push(Under { run, key, from });
    }

    /// A line of host memory for one of the look-ups, or a request of it to the index.
    fn step(&mut self, number: usize) -> Result<(), String> {
        let memory = At::new(BASE, self.words, self.past.table.memory());
        let under = &mut self.under[number];
        let answer = self.engine.step(&mut under.run, &memory);
        if let Some(answer) = answer {
            self.past.allows(under.key, &answer, under.from, self.past.shown)?;
        }
        if under.run.is_over() {
            self.under.swap_remove(number);
        }
        Ok(())
    }

    /// The next store of the host; if there is none, the eviction of what it has changed, and another operation.
    fn host(&mut self, change: Change) {
        if self.past.show().is_some() {
            return;
        }
        if let Some((key, _)) = self.changed.take() {
            let memory = At::new(BASE, self.words, self.past.table.memory());
            let answer = self.engine.run(&memory, Request::new(Operation::Evict, key, 0));
            let expected = [index::Status::Done, index::Status::Unknown].map(Status::Index);
            assert!(expected.contains(&answer.status), "{answer:?}");
        }
        self.changed = Some((change.key(), self.past.shown));
        self.past.change(change);
    }
}

fn one(seed: u64) -> Result<Counters, String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let (mut world, keys, longest) = World::new(random);
    let writes = random.random_range(1..40);
    for _ in 0..STEPS {
        match random.random_range(0..100_u32) {
            choice if choice < writes => {
                let inserts = random.random_range(2..8);
                // Other lengths than that of cached values, now and then.
                let longest = if random.random_bool(0.2) { longest } else { 8 };
                world.host(match Change::random(random, keys, longest, inserts) {
                    Change::Insert(key, _) if longest == 8 => Change::Insert(key, 8),
                    change => change,
                });
            }
            choice if choice < writes + 10 && world.under.len() < 6 => {
                world.begin(random.random_range(0..keys));
            }
            _ if !world.under.is_empty() => {
                world.step(random.random_range(0..world.under.len()))?
            }
            _ => {}
        }
    }
    while !world.under.is_empty() {
        world.step(0)?;
    }
    Ok(*world.engine.counters())
}

#[test]
fn answers_are_right_while_the_table_changes() {
    let (seeds, mut sums) = (seeds::of!(30), [0; COUNTERS]);
    seeds.each(|seed| {
        let counters = one(seed)?.by_name();
        sums.iter_mut().zip(counters).for_each(|(sum, (_, count))| *sum += count);
        Ok::<_, String>(())
    });
    for ((name, _), sum) in Counters::default().by_name().into_iter().zip(sums) {
        let never = ["NOT_READ", "FILLS_FULL", "INDEX_ERRORS"].contains(&name);
        assert!(never || !seeds.is_whole() || sum > 0, "{name} was never met");
    }
}
