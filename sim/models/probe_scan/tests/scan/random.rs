// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random scans of slots with colliding keys, and the pure machine's answers to them.

use nic::scan::{Answer, Line, MOST_SLOTS, ProbeScan, Scan, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::stall::StallPattern;
use tables::slot::{LINE_WORDS, Meta};

use crate::bench::{Bench, Stalls, Taken, Work};
use crate::dut::{Beat, Subject, Words};

fn stalls(random: &mut ChaCha8Rng) -> StallPattern {
    match random.random_range(0..5_u8) {
        0 | 1 => StallPattern::None,
        2 => StallPattern::Random { probability: 0.5 },
        3 => StallPattern::Random { probability: random.random_range(0.0..0.9) },
        _ => StallPattern::Burst { probability: 0.1, longest: random.random_range(1..60) },
    }
}

/// How often something is so, in 64 cases.
type Often = u8;

fn now_and_then(random: &mut ChaCha8Rng) -> Often {
    [0, 0, 1, 16][random.random_range(0..4)]
}

/// How the slots of a scan are.
struct Slots {
    key: u64,
    /// Slots with the key, or one near it.
    near: Often,
    being_written: Often,
    empty: Often,
    /// Parts of another version.
    foreign: Often,
}

impl Slots {
    fn drawn(random: &mut ChaCha8Rng) -> Self {
        let key = random.random();
        let near = [0, 2, 16, 48][random.random_range(0..4)];
        let mut drawn = || now_and_then(random);
        Self { key, near, being_written: drawn(), empty: drawn(), foreign: drawn() }
    }

    /// One slot.
    fn draw(&self, random: &mut ChaCha8Rng, words: usize) -> Vec<u64> {
        let mut slot: Vec<u64> = (0..words).map(|_| random.random()).collect();
        let happens = |random: &mut ChaCha8Rng, often| random.random_range(0..64) < often;
        let meta = match happens(random, self.empty) {
            true => Meta(random.random::<u64>() & !Meta::object(0, 0, false).0),
            false => Meta::object(random.random(), random.random_range(0..=256), random.random()),
        };
        let odd = u32::from(happens(random, self.being_written));
        let meta = meta.with_stamp(random.random::<u32>() & !1 | odd);
        slot.iter_mut().step_by(LINE_WORDS).for_each(|word| *word = meta.0);
        if happens(random, self.near) {
            let other = u64::from(random.random::<bool>());
            slot[1] = self.key ^ other << random.random_range(0..64_u32);
        }
        if words > LINE_WORDS && happens(random, self.foreign) {
            let part = random.random_range(0..words / LINE_WORDS);
            slot[part * LINE_WORDS] ^= 1 << random.random_range(0..64_u32);
        }
        slot
    }
}

/// A scan with its lines, of which an error has been made with a few.
fn scan(random: &mut ChaCha8Rng, shape: Shape, token: u8) -> (Scan, Vec<Line>) {
    let slots = Slots::drawn(random);
    let most = [1, 2, 6, MOST_SLOTS][random.random_range(0..4)];
    let words = shape.slot().words();
    let first_word = random.random_range(0..LINE_WORDS);
    let is_aligned = random.random_ratio(31, 32);
    // Seldom so high that the displacement behind the last slot has 17 bits.
    let displacement = match random.random_range(0..16) {
        0 => random.random(),
        1 => u16::MAX - random.random_range(0..3),
        _ => 3,
    };
    let scan = Scan {
        token,
        key: slots.key,
        first_word: if is_aligned { first_word / words * words } else { first_word } as u8,
        slots: random.random_range(1..=most),
        displacement,
        limit: 0,
        is_overflow: random.random_ratio(1, 4),
        sum: random.random(),
        torn: random.random_ratio(1, 4),
    };
    // Near the last slot's displacement, mostly.
    let near = (scan.end() as u16).wrapping_add(random.random_range(0..5)).wrapping_sub(3);
    let scan =
        Scan { limit: if random.random_ratio(1, 8) { random.random() } else { near }, ..scan };

    let mut array: Vec<u64> = (0..usize::from(scan.first_word) / words)
        .chain(0..usize::from(scan.slots))
        .chain(0..LINE_WORDS)
        .flat_map(|_| slots.draw(random, words))
        .collect();
    let right = shape.lines(scan.first_word.into(), scan.slots.into());
    let count = match random.random_range(0..48_u8) {
        0 => right.saturating_sub(random.random_range(1..4)).max(1),
        1 => right + random.random_range(1..9),
        // So many that a counter of seven bits comes back to where it should have ended.
        2 if random.random_ratio(1, 4) => right + 128 * shape.slot().parts(),
        _ => right,
    };
    array.resize(array.len().max(count * LINE_WORDS), 0);
    let mut lines: Vec<Line> = array
        .chunks_exact(LINE_WORDS)
        .take(count)
        .map(|words| Line { words: words.try_into().expect("a line"), ..Line::default() })
        .collect();
    lines[count - 1].is_last = true;
    if random.random_ratio(1, 32) {
        lines[random.random_range(0..count)].has_error = true;
    }
    (scan, lines)
}

/// So many scans with tokens from 0 on, and what the pure machine says to them.
pub fn work(random: &mut ChaCha8Rng, shape: Shape, scans: u8) -> (Work, Vec<Answer>) {
    let (mut work, mut answers) = (Work::default(), Vec::new());
    for token in 0..scans {
        let (scan, lines) = scan(random, shape, token);
        let mut machine = ProbeScan::new(shape, scan).expect("a scan that can be");
        let (last, others) = lines.split_last().expect("a line");
        assert!(others.iter().all(|line| machine.take(line).is_none()), "an answer too early");
        answers.push(machine.take(last).expect("an answer with the last line"));
        work.scans.push(scan);
        work.lines.extend(lines.into_iter().map(Beat));
    }
    (work, answers)
}

/// Names the first answer that differs. Each token is there once, so this also says that each comes back
/// once, in order.
pub fn compare(found: &[Taken], expected: &[Answer], work: &Work) -> Result<(), String> {
    for (n, answer) in expected.iter().enumerate() {
        let words: Words = answer.to_words();
        match found.get(n) {
            None => return Err(format!("{} answers, expected {}", found.len(), expected.len())),
            Some(&(_, found)) if found == words => {}
            Some(&(clock, found)) => {
                let found = Answer::from_words(&found);
                let scan = work.scans[n];
                return Err(format!(
                    "clock {clock}: {found:x?}, expected {answer:x?} of {scan:x?}"
                ));
            }
        }
    }
    match found.len() - expected.len() {
        0 => Ok(()),
        more => Err(format!("{more} answers more than scans")),
    }
}

/// Scans under stalls of all streams. Gives all that came out.
pub fn run(subject: Subject, seed: u64, mutant: u8) -> Result<Vec<Taken>, String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    scans(random, subject, &mut Bench::new(subject, seed, mutant))
}

/// The same after resets in the middle of other scans, of which nothing may be left.
pub fn after_resets(subject: Subject, seed: u64, mutant: u8) -> Result<Vec<Taken>, String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(subject, seed, mutant);
    for _ in 0..random.random_range(1..20) {
        let (work, _) = work(random, subject.shape(), 10);
        let clocks = random.random_range(1..60);
        bench.run(&work, Stalls([stalls(random), stalls(random), stalls(random)]), Some(clocks))?;
        bench.reset(random.random_range(1..4));
    }
    scans(random, subject, &mut bench)
}

fn scans(
    random: &mut ChaCha8Rng,
    subject: Subject,
    bench: &mut Bench,
) -> Result<Vec<Taken>, String> {
    let mut all = Vec::new();
    for _ in 0..2 {
        let (work, expected) = work(random, subject.shape(), 60);
        let stalls = Stalls([stalls(random), stalls(random), stalls(random)]);
        let run = bench.run(&work, stalls, None)?;
        compare(&run.answers, &expected, &work)?;
        all.extend(run.answers);
    }
    Ok(all)
}
