// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small tables with a few operations, in all interleavings of the host's single stores with the reads of single
//! lines, in every order, of a look-up of each key.
//!
//! The host does not see the reader, so its stores are the same in every interleaving. A state is how many of
//! them are done, the look-up, and which of the lines that it asked for have been read, in which version.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tables::memory::LoggedMemory;

use super::history::{Change, History};
use super::*;

/// Two readings to confirm an absence, and one that was disturbed.
const READINGS: u8 = 3;

/// How many look-ups ended in which way, and the number of states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explored {
    states: usize,
    found: usize,
    absent: usize,
    gave_up: usize,
    /// Look-ups with more states than were allowed, which were not explored to the end.
    cut: usize,
}

impl Explored {
    fn add(&mut self, other: Explored) {
        self.states += other.states;
        self.found += other.found;
        self.absent += other.absent;
        self.gave_up += other.gave_up;
        self.cut += other.cut;
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reader {
    /// Stores that are done, and that were done when the look-up began.
    time: usize,
    begin: usize,
    look_up: LookUp<WORDS>,
    reads: Vec<Read>,
    /// Of each read, the lines and the versions in which they were read.
    lines: Vec<(usize, Option<u16>)>,
}

impl History {
    /// Looks a key up in all interleavings, as long as there are at most so many states; what went wrong, if
    /// anything.
    fn explore(
        &self,
        geometry: &Geometry<WORDS>,
        key: u64,
        hint: index::Hint,
        states: usize,
    ) -> Result<Explored, String> {
        let (mut explored, mut seen) = (Explored::default(), HashSet::new());
        let last = self.versions.len() - 1;
        let mut open = Vec::new();
        for time in 0..=last {
            // What was over before the look-up began makes no difference to it.
            open.extend(self.begin(geometry, key, hint, time, &mut explored)?);
        }
        while let Some(reader) = open.pop() {
            let mut hasher = DefaultHasher::new();
            reader.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            explored.states += 1;
            if explored.states > states {
                explored.cut = 1;
                break;
            }
            for index in 0..reader.lines.len() {
                let (line, None) = reader.lines[index] else { continue };
                let mut next = reader.clone();
                next.lines[index].1 = Some(self.versions[reader.time][line]);
                if next.lines.iter().all(|line| line.1.is_some()) {
                    open.extend(self.go_on(next, &mut explored)?);
                } else {
                    open.push(next);
                }
            }
            if reader.time < last {
                open.push(Reader { time: reader.time + 1, ..reader });
            }
        }
        Ok(explored)
    }

    fn begin(
        &self,
        geometry: &Geometry<WORDS>,
        key: u64,
        hint: index::Hint,
        time: usize,
        explored: &mut Explored,
    ) -> Result<Option<Reader>, String> {
        let (mut look_up, _) = LookUp::new(*geometry, Request::new(Operation::LookUp, key, 0));
        let directory = hint.directory.unwrap_or_default() & ((1 << index::DIRECTORY_BITS) - 1);
        let place = geometry.table().place(geometry.home(key), hint.displacement, directory);
        let miss = index::Answer { place, ..index::Answer::refused(index::Status::Miss) };
        let actions = look_up.take(Event::Index(miss), &mut Counters::default());
        let begin = self.past.ended(self.start + time);
        let (reads, lines) = (Vec::new(), Vec::new());
        self.act(Reader { time, begin, look_up, reads, lines }, actions, explored)
    }

    /// All lines have come.
    fn go_on(&self, mut reader: Reader, explored: &mut Explored) -> Result<Option<Reader>, String> {
        let mut lines = reader.lines.iter();
        let mut actions = Vec::new();
        for read in std::mem::take(&mut reader.reads) {
            let mut scan = engine::Reader::new(&self.geometry_of(&reader), read);
            let event = loop {
                let &(line, version) = lines.next().expect("each read has its lines");
                let version = version.expect("all lines have come");
                if let Some(event) = scan.take(Ok(self.lines[line][usize::from(version)])) {
                    break event;
                }
            };
            actions = reader.look_up.take(event, &mut Counters::default());
        }
        self.act(reader, actions, explored)
    }

    fn geometry_of(&self, reader: &Reader) -> Geometry<WORDS> {
        *reader.look_up.geometry()
    }

    fn act(
        &self,
        mut reader: Reader,
        actions: Vec<Action<WORDS>>,
        explored: &mut Explored,
    ) -> Result<Option<Reader>, String> {
        for action in actions {
            match action {
                Action::Trip(reads) => {
                    let lines = reads.iter().flat_map(Read::lines);
                    reader.lines = lines.map(|line| ((line - BASE) as usize / 64, None)).collect();
                    reader.reads = reads;
                    return Ok(Some(reader));
                }
                Action::Answer(answer) => {
                    self.check(&reader, &answer)?;
                    match answer.status {
                        Status::Absent => explored.absent += 1,
                        Status::GaveUp => explored.gave_up += 1,
                        _ => explored.found += 1,
                    }
                }
                Action::Index(_) => {}
            }
        }
        Ok(None)
    }

    fn check(&self, reader: &Reader, answer: &Answer<WORDS>) -> Result<(), String> {
        let from = match reader.begin {
            0 => 0,
            ended => self.past.spans[ended - 1].1,
        };
        self.past.allows(reader.look_up.request().key, answer, from, self.start + reader.time)
    }
}

/// The most states of one look-up. `LOCKSTEP_FULL=1` explores all, which takes hours.
fn most_states() -> usize {
    let full = std::env::var_os("LOCKSTEP_FULL").is_some_and(|value| value == "1");
    if full { usize::MAX } else { 10_000 }
}

/// Random operations on a table, of which the last few are explored.
fn one(seed: u64) -> Result<Explored, String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let slots: u32 = random.random_range(1..5);
    let limit = Some([1, 2][random.random_range(0..2)]);
    let segment = [1, slots.next_power_of_two()][random.random_range(0..2)];
    let values = match random.random_range(0..8) {
        0..3 => Values::inline(0),
        3..6 => Values::inline(8),
        6 => Values::inline(50),
        _ => Values { inline_bytes: 1, longest: 60, heap_lines: 4 },
    };
    let table =
        table(Shape { slots, limit, segment, overflow_slots: 3, values }, LoggedMemory::new);
    let robin_hood = *table.geometry();
    let landing_lines = random_landing(random, &robin_hood);
    let settings = Settings { landing_lines, most_readings: READINGS, ..SETTINGS };
    let geometry = geometry(&robin_hood, settings);
    let keys = u64::from(slots) + 3;
    let mut draw = |count, inserts| -> Vec<Change> {
        (0..count).map(|_| Change::random(random, keys, values.longest, inserts)).collect()
    };
    let before = draw(2 * keys as usize, 8);
    let script = draw(if values.longest > 8 { 1 } else { 2 }, 4);
    let history = History::new(table, &before, &script);
    let mut explored = Explored::default();
    for key in 0..keys {
        let word = robin_hood.directory_word(robin_hood.segment(robin_hood.home(key)));
        let word = history.lines[word / 8][0][word % 8];
        let hint = random_hint(random, geometry.table().limit(), word);
        let result = history.explore(&geometry, key, hint, most_states());
        explored.add(result.map_err(|error| format!("{before:?}, then {script:?}: {error}"))?);
    }
    Ok(explored)
}

/// What went wrong with one of the seeds.
pub fn any(mut seeds: std::ops::Range<u64>) -> Result<(), String> {
    seeds.try_for_each(|seed| one(seed).map(drop).map_err(|error| format!("seed {seed}: {error}")))
}

/// Operations on a table, with a look-up of each key.
fn directed(shape: Shape, before: &[Change], script: &[Change]) -> Result<Explored, String> {
    let table = table(shape, LoggedMemory::new);
    let settings = Settings { most_readings: READINGS, ..SETTINGS };
    let geometry = geometry(table.geometry(), settings);
    let history = History::new(table, before, script);
    let mut keys: Vec<u64> = before.iter().chain(script).map(|change| change.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().try_fold(Explored::default(), |mut sum, key| {
        sum.add(history.explore(&geometry, key, index::Hint::default(), usize::MAX)?);
        Ok(sum)
    })
}

const ONE_HOME: Shape =
    Shape { slots: 1, limit: Some(1), segment: 1, overflow_slots: 3, values: Values::inline(8) };

/// An overflow bucket goes, and another comes in its place, while an object leaves it for a slot.
pub fn bucket_comes_back() -> Result<Explored, String> {
    let before = [0, 1, 2].map(|key| Change::Insert(key, 8));
    let [w, v] = [3, 4];
    let script = [Change::Insert(w, 8), Change::Delete(0), Change::Delete(w), Change::Insert(v, 8)];
    directed(ONE_HOME, &before, &script)
}

/// An object moves to the slot behind it and back, across two lines, while both readings look elsewhere.
fn there_and_back() -> Result<Explored, String> {
    let shape = Shape { slots: 2, limit: Some(2), segment: 2, ..ONE_HOME };
    let geometry = RobinHood::new(shape).unwrap();
    let at_home = |home| (0..).filter(move |&key| geometry.home(key) == home);
    let (mut first, mut second) = (at_home(0), at_home(1));
    let [a, b] = [(); 2].map(|()| first.next().unwrap());
    let moved = second.next().unwrap();
    let script = [Change::Insert(b, 8), Change::Delete(b)];
    directed(shape, &[Change::Insert(a, 8), Change::Insert(moved, 8)], &script)
}

#[test]
fn rare_histories_are_right_in_all_interleavings() {
    for history in [there_and_back, bucket_comes_back] {
        let explored = history().unwrap();
        println!("{explored:?}");
        assert!(explored.found > 0 && explored.cut == 0);
    }
}

#[test]
fn random_histories_are_right_in_all_interleavings() {
    let (seeds, mut explored) = (seeds::of!(40), Explored::default());
    seeds.each(|seed| one(seed).map(|these| explored.add(these)));
    println!("{explored:?}");
    let Explored { found, absent, gave_up, .. } = explored;
    assert!(!seeds.is_whole() || [found, absent, gave_up].iter().all(|&count| count > 100));
}
