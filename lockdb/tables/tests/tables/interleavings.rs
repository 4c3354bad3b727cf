// SPDX-License-Identifier: MIT OR Apache-2.0
//! All interleavings of a remote reader's line reads, in every order, with the single stores of a host.
//!
//! The host does not see the reader, so its stores are the same in every interleaving: they are taken down
//! once, from the table's own code. A state is how many of them are done, the plan, and which of the lines that
//! it asked for have been read, in which of their versions.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use tables::memory::{HostMemory, LoggedMemory, RemoteMemory};
use tables::{Hint, Link, Plan, Range, RemoteTable, Search, Step, Table, Walk};

use crate::shapes::value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Insert(u64, usize),
    Update(u64, usize),
    Delete(u64),
}

/// The most states of one look-up, but with `LOCKSTEP_FULL=1`. Nearly all histories have far fewer; one in a hundred of
/// Robin Hood's has more than could be explored in minutes.
fn most_states() -> usize {
    let full = std::env::var_os("LOCKSTEP_FULL").is_some_and(|value| value == "1");
    if full { usize::MAX } else { 1_000_000 }
}

/// How many ended in which way, and the number of states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explored {
    pub states: usize,
    pub found: usize,
    pub absent: usize,
    pub gave_up: usize,
    /// Look-ups with more states than were allowed, which were not explored to the end.
    pub cut: usize,
}

impl Explored {
    pub fn add(&mut self, other: Explored) {
        self.states += other.states;
        self.found += other.found;
        self.absent += other.absent;
        self.gave_up += other.gave_up;
        self.cut += other.cut;
    }
}

/// What the host does while readers read: all versions of each line, and what each key is.
pub struct History<W> {
    walk: W,
    /// Versions of each line.
    lines: Vec<Vec<[u64; 8]>>,
    /// Which version each line has after so many stores.
    versions: Vec<Vec<u16>>,
    /// After how many stores each operation begins and ends.
    spans: Vec<(usize, usize)>,
    /// What is known before the first operation, and after each.
    contents: Vec<Vec<(u64, u64, Vec<u8>)>>,
}

/// Runs the operations of `before`, then takes down those of `script`. Refused ones do nothing.
pub fn history<W: Walk>(
    table: &Table<W, LoggedMemory>,
    before: &[Operation],
    script: &[Operation],
) -> History<W>
where
    Table<W, LoggedMemory>: RemoteTable<Plan = Search<W>>,
{
    let mut number = 0;
    let mut run = |operation: &Operation| {
        number += 1;
        let _ = match *operation {
            Operation::Insert(key, length) => table.insert(key, &value(number, length)),
            Operation::Update(key, length) => table.update(key, &value(number, length)).map(drop),
            Operation::Delete(key) => table.delete(key),
        };
    };
    let mut keys: Vec<u64> = before.iter().chain(script).map(|operation| operation.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    before.iter().for_each(&mut run);
    let memory = table.memory();
    while memory.let_through().is_some() {}
    let contents = || {
        let mut bytes = Vec::new();
        let get = |&key: &u64| {
            let version = table.get(key, &mut bytes)?;
            Some((key, version, bytes.clone()))
        };
        keys.iter().filter_map(get).collect::<Vec<_>>()
    };
    let count = memory.words() / 8;
    let mut history = History {
        walk: table.geometry().clone(),
        lines: (0..count).map(|line| vec![memory.read_line(line)]).collect(),
        versions: vec![vec![0; count]],
        spans: Vec::new(),
        contents: vec![contents()],
    };
    let start = memory.stores();
    for operation in script {
        let from = memory.stores() - start;
        run(operation);
        history.spans.push((from, memory.stores() - start));
        history.contents.push(contents());
    }
    while let Some(store) = memory.let_through() {
        let line = store.word / 8;
        let mut versions = history.versions.last().unwrap().clone();
        versions[line] += 1;
        history.versions.push(versions);
        history.lines[line].push(memory.read_line(line));
    }
    history
}

impl Operation {
    pub fn key(self) -> u64 {
        let (Operation::Insert(key, _) | Operation::Update(key, _) | Operation::Delete(key)) = self;
        key
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reader<W> {
    /// Stores that are done.
    time: usize,
    /// Operations that had ended when the reader began.
    epoch: usize,
    plan: Search<W>,
    ranges: Vec<Range>,
    /// The lines asked for, and the version read.
    lines: Vec<(usize, Option<u16>)>,
}

impl<W: Walk> History<W> {
    /// The link word of the first row of a key before the operations.
    pub fn link(&self, key: u64) -> Option<Link> {
        let node = self.walk.first(key);
        let word = node.link.filter(|_| node.lead == 0)?;
        Some(Link(self.lines[word / 8][0][word % 8]))
    }

    /// Looks a key up in all interleavings, with at most so many readings; what went wrong, if anything.
    pub fn explore(&self, key: u64, hint: Hint, readings: u32) -> Result<Explored, String> {
        let mut explored = Explored::default();
        let mut seen = HashSet::new();
        let (most, last) = (most_states(), self.versions.len() - 1);
        let mut open = Vec::new();
        for time in 0..=last {
            let epoch = self.spans.iter().filter(|span| span.1 <= time).count();
            let plan = Search::new(self.walk.clone(), key, hint, readings);
            let (ranges, lines) = (Vec::new(), Vec::new());
            let reader = Reader { time, epoch, plan, ranges, lines };
            open.extend(self.go_on(reader, &mut explored)?);
        }
        while let Some(reader) = open.pop() {
            let mut hasher = DefaultHasher::new();
            reader.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            explored.states += 1;
            if explored.states > most {
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

    /// All lines have come.
    fn go_on(
        &self,
        mut reader: Reader<W>,
        explored: &mut Explored,
    ) -> Result<Option<Reader<W>>, String> {
        let mut words = Vec::new();
        for range in &reader.ranges {
            for word in range.first..range.first + range.words {
                let line = reader.lines.iter().find(|line| line.0 == word / 8).unwrap();
                words.push(self.lines[line.0][line.1.unwrap() as usize][word % 8]);
            }
        }
        let key = reader.plan.key();
        match reader.plan.next(&words) {
            Step::Read(ranges) => {
                let mut lines: Vec<usize> = ranges.iter().flat_map(Range::lines).collect();
                lines.sort_unstable();
                lines.dedup();
                reader.lines = lines.into_iter().map(|line| (line, None)).collect();
                reader.ranges = ranges;
                return Ok(Some(reader));
            }
            Step::Found(found) => {
                explored.found += 1;
                let answer = Some((found.version, found.value));
                // The transaction's lock makes versions of no use until it is gone.
                if !found.locked && !self.was(key, &answer, &reader) {
                    return Err(format!("{answer:?} of key {key} was never so since {reader:?}"));
                }
            }
            Step::Absent => {
                explored.absent += 1;
                if !self.was(key, &None, &reader) {
                    return Err(format!("key {key} was there all the time since {reader:?}"));
                }
            }
            Step::GaveUp { .. } => {
                explored.gave_up += 1;
                if self.spans.iter().all(|span| span.1 == span.0) {
                    return Err(format!("gave up on key {key} with no writer"));
                }
            }
        }
        Ok(None)
    }

    /// Whether the key was so at an instant between beginning and end of the reader. While an operation runs,
    /// both what was before and what is after will do.
    fn was(&self, key: u64, answer: &Option<(u64, Vec<u8>)>, reader: &Reader<W>) -> bool {
        let begun = self.spans.iter().take_while(|span| span.0 < reader.time).count();
        (reader.epoch..=begun.max(reader.epoch)).any(|epoch| {
            let content = self.contents[epoch].iter().find(|content| content.0 == key);
            content.map(|(_, version, bytes)| (*version, bytes.clone())) == *answer
        })
    }
}
