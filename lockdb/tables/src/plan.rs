// SPDX-License-Identifier: MIT OR Apache-2.0
//! A look-up by a remote reader: what to read, step by step.

use crate::memory::RemoteMemory;
use crate::slot::LINE_WORDS;
use std::fmt::Debug;
use std::hash::Hash;

/// Words in a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The first word.
    pub first: usize,
    /// How many.
    pub words: usize,
    /// How many slots are among them.
    pub objects: usize,
}

impl Range {
    /// The numbers of the lines that the words lie in.
    pub fn lines(&self) -> std::ops::Range<usize> {
        self.first / LINE_WORDS..(self.first + self.words).div_ceil(LINE_WORDS)
    }
}

/// What a plan comes to next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Read these ranges, in any order: one round trip.
    Read(Vec<Range>),
    /// The object.
    Found(Found),
    /// The key was not in the table at some instant since the plan began.
    Absent,
    /// Each of so many readings of all places of the key met with a write.
    GaveUp {
        /// Number of readings.
        readings: u32,
    },
}

/// An object that a look-up has found.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Found {
    /// The object's version, or its bucket's.
    pub version: u64,
    /// Whether a transaction holds the lock of the object's bucket. (Other tables have no such lock.)
    pub locked: bool,
    /// The value.
    pub value: Vec<u8>,
    /// The first word of the slot.
    pub place: usize,
    /// Index of the row of slots: 0 for the first, more for overflow buckets.
    pub node: usize,
    /// Index of the slot in its row; in the first row of a Robin Hood table, the displacement.
    pub slot: usize,
}

/// A look-up without memory: it says what to read and goes on from what came.
pub trait Plan: Clone + Eq + Hash + Debug {
    /// Goes on from the words of the ranges that the last step asked for, one behind the other. The first call
    /// takes none.
    ///
    /// # Panics
    /// When the number of words is another one; when the plan has ended.
    fn next(&mut self, words: &[u64]) -> Step;
}

/// What a look-up has cost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cost {
    /// Steps that read.
    pub round_trips: usize,
    /// Slots read.
    pub objects: usize,
    /// Words asked for.
    pub words: usize,
    /// Lines that they lie in.
    pub lines: usize,
}

impl Cost {
    /// Adds a step.
    pub fn add(&mut self, ranges: &[Range]) {
        self.round_trips += 1;
        for range in ranges {
            self.objects += range.objects;
            self.words += range.words;
            self.lines += range.lines().len();
        }
    }
}

/// Carries a plan out, and says how it ended and what it cost. The step is never [`Step::Read`].
pub fn look_up(memory: &impl RemoteMemory, mut plan: impl Plan) -> (Step, Cost) {
    let (mut words, mut cost) = (Vec::new(), Cost::default());
    loop {
        match plan.next(&words) {
            Step::Read(ranges) => {
                cost.add(&ranges);
                words.clear();
                for range in &ranges {
                    read_range(memory, range, &mut words);
                }
            }
            end => return (end, cost),
        }
    }
}

/// Reads the lines of a range, in order, and appends its words.
pub fn read_range(memory: &impl RemoteMemory, range: &Range, words: &mut Vec<u64>) {
    let end = range.first + range.words;
    for number in range.lines() {
        let line = memory.read_line(number);
        let start = number * LINE_WORDS;
        words.extend_from_slice(
            &line[range.first.max(start) - start..end.min(start + LINE_WORDS) - start],
        );
    }
}
