// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's own use of a Robin Hood table of 8 M keys, beside `hashbrown`'s map with the same hash function:
//! look-ups of present keys, building, memory. One JSON object a line, as `lockstep bench --json` prints.
//!
//! `cargo bench -p lockstep-tables --bench local [-- KEYS ROUNDS]`

use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::memory::AtomicMemory;
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::{RemoteTable, Table, Values, Walk, hash};

/// The tables' hash of 32 bits, twice, since `hashbrown` looks at both ends.
#[derive(Default)]
struct SameHash(u64);

impl Hasher for SameHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = hash::hash(key) as u64 * 0x1_0000_0001;
    }
}

type Value = [u8; 8];
type Map = hashbrown::HashMap<u64, Value, BuildHasherDefault<SameHash>>;
type Robin = RobinHoodTable<AtomicMemory>;

/// Look-ups of a round.
const LOOK_UPS: usize = 1 << 18;
const OCCUPANCY: f64 = 0.9;
/// How many keys ahead their lines are asked for while the table is filled.
const AHEAD: usize = 6;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let keys = numbers.next().unwrap_or(8_000_000);
    let rounds = numbers.next().unwrap_or(40);
    let keys = distinct_keys(keys);
    let (map, robin) = build(&keys);
    memory(&robin);
    look_ups(&keys, &map, &robin, rounds);
}

/// Random keys, all different.
fn distinct_keys(count: usize) -> Vec<u64> {
    (0..count as u64).map(|index| tables::experiments::key(0, index)).collect()
}

fn build(keys: &[u64]) -> (Map, Robin) {
    let start = Instant::now();
    let mut map = Map::with_capacity_and_hasher(keys.len(), BuildHasherDefault::default());
    for &key in keys {
        map.insert(key, key.to_le_bytes());
    }
    let floor = start.elapsed().as_secs_f64();
    let slots = (keys.len() as f64 / OCCUPANCY).ceil() as u32;
    let geometry = RobinHood::new(Shape {
        slots,
        limit: Some(32),
        segment: 16,
        overflow_slots: slots / 40,
        values: Values::inline(8),
    })
    .expect("the shape is right");
    // Other work on the machine only makes it longer, so the best of three counts.
    let mut tables: Vec<_> = (0..3).map(|_| build_robin_hood(geometry, keys)).collect();
    tables.sort_by(|one, other| f64::total_cmp(&one.0, &other.0));
    println!("# built in {:.2}, {:.2} and {:.2} s", tables[0].0, tables[1].0, tables[2].0);
    println!("# all of it took {:.2} s of processor time", processor_seconds());
    let (value, robin) = tables.swap_remove(0);
    print("Robin Hood, built", "s", value, Some(floor), 4.0, value <= 4.0);
    (map, robin)
}

/// What this thread has had of a processor since it began, in seconds; 0 where the system does not tell.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    first.unwrap_or(0.0) / 1e9
}

/// Memory and all insertions; the seconds.
fn build_robin_hood(geometry: RobinHood, keys: &[u64]) -> (f64, Robin) {
    let start = Instant::now();
    let memory = AtomicMemory::mapped(geometry.ground().words()).expect("there is enough memory");
    let robin = Table::new(geometry, memory).expect("the memory is large enough");
    for (index, &key) in keys.iter().enumerate() {
        keys.get(index + AHEAD).into_iter().for_each(|&key| robin.prefetch(key));
        robin.insert(key, &key.to_le_bytes()).expect("there is room");
    }
    (start.elapsed().as_secs_f64(), robin)
}

/// All that the table takes, its locks too, by slots times slot size.
fn memory(robin: &Robin) {
    let statistics = robin.statistics();
    let value = (statistics.memory_bytes + statistics.lock_bytes) as f64;
    let floor = statistics.slots as f64 * statistics.slot_bytes as f64;
    print("Robin Hood, memory", "B", value, Some(floor), 1.05, value / floor <= 1.05);
    println!(
        "# {} of {} objects overflowed, {} overflow slots taken",
        statistics.overflowed, statistics.objects, statistics.overflow_taken
    );
}

/// Independent and dependent look-ups, in turns; the best round counts, and the median is told.
fn look_ups(keys: &[u64], map: &Map, robin: &Robin, rounds: usize) {
    for dependent in [false, true] {
        let kind = if dependent { "dependent" } else { "overlapping" };
        let mut figures = [Vec::new(), Vec::new()];
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..rounds {
            let asked: Vec<u64> =
                (0..LOOK_UPS).map(|_| keys[random.random_range(0..keys.len())]).collect();
            let mut value = Vec::new();
            let ours = |key| {
                robin.get(key, &mut value).expect("present");
                u64::from_le_bytes(value[..].try_into().expect("8 bytes"))
            };
            figures[0].push(rate(&asked, keys, dependent, ours));
            let theirs = |key| u64::from_le_bytes(*map.get(&key).expect("present"));
            figures[1].push(rate(&asked, keys, dependent, theirs));
        }
        figures.iter_mut().for_each(|rates| rates.sort_by(f64::total_cmp));
        let [ours, theirs] = figures.each_ref().map(|rates| rates[rates.len() - 1]);
        let name = format!("Robin Hood, look-ups of present keys, {kind}");
        print(&name, "look-ups/s", ours, Some(theirs), 0.8, ours / theirs >= 0.8);
        let [ours, theirs] = figures.each_ref().map(|rates| rates[rates.len() / 2]);
        println!("# {kind}: median {ours:.0} over {theirs:.0}: {:.2}", ours / theirs);
    }
}

/// Look-ups a second. Each dependent one begins with the value of the one before.
fn rate(asked: &[u64], keys: &[u64], dependent: bool, mut look_up: impl FnMut(u64) -> u64) -> f64 {
    let start = Instant::now();
    let mut last = 0;
    for &key in asked {
        // A value is its key, so that this adds 0, which the compiler does not know.
        let key = if dependent { key.wrapping_add(last) } else { key };
        last = look_up(black_box(key)).wrapping_sub(key);
    }
    black_box((last, keys));
    asked.len() as f64 / start.elapsed().as_secs_f64()
}

fn print(bench: &str, unit: &str, value: f64, floor: Option<f64>, goal: f64, met: bool) {
    let or_null = |number: Option<f64>| number.map_or("null".into(), |number| number.to_string());
    println!(
        r#"{{"bench":"{bench}","unit":"{unit}","value":{value},"floor":{},"ratio":{},"goal":{goal},"met":{met}}}"#,
        or_null(floor),
        or_null(floor.map(|floor| value / floor)),
    );
}
