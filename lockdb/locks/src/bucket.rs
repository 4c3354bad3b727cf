// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of the table, and the machine's accesses made on it with real atomics.

use crate::Head;
use crate::machine::{Access, Answer, Machine, Outcome, Phase, Repair, RepairStep};
use crate::primitive::{AtomicU64, Ordering};

/// Eight words in one cache line: the head and seven slots.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Bucket {
    words: [AtomicU64; 8],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Bucket>() == 64 && align_of::<Bucket>() == 64);

impl Default for Bucket {
    fn default() -> Self {
        Self { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl Bucket {
    /// The head as it stands.
    #[inline]
    pub fn head(&self) -> Head {
        Head::from_word(self.words[0].load(Ordering::Acquire))
    }

    /// The eight words, word 0 first. No snapshot: each word is read by itself.
    pub fn line(&self) -> [u64; 8] {
        std::array::from_fn(|word| self.words[word].load(Ordering::Acquire))
    }

    /// Makes one access of a machine.
    ///
    /// Acquire and release suffice: a slot's word is written before the head names the slot, and
    /// a reader of the slot has read that head; the writes of a holder are published by the
    /// compare-and-swap that passes the lock on.
    #[inline(always)]
    pub fn perform(&self, access: Access) -> Answer {
        match access {
            Access::LoadHead => Answer::Word(self.head().word()),
            Access::ReadLine => Answer::Line(self.line()),
            Access::CompareSwap { word, expected, new } => {
                let word = &self.words[word as usize];
                let swapped =
                    word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
                Answer::Word(swapped.unwrap_or_else(|old| old))
            }
            Access::Clear(slot) => {
                self.words[slot.index()].store(0, Ordering::Release);
                Answer::Cleared
            }
        }
    }

    /// Runs a request to its end.
    #[inline(always)]
    pub fn run(&self, machine: Machine) -> Outcome {
        // The first phase of a new machine is a constant, so this folds to a single atomic. A
        // release looks first: it has the line already, and a swap that must fail because
        // there are waiters would only take the line from the waiter.
        let head = (machine.phase() == Phase::Free).then(|| self.head().word());
        let answer = match head {
            Some(head) if head != machine.transaction().word() => Answer::Word(head),
            _ => self.perform(machine.access()),
        };
        match machine.ends_at_once(answer) {
            Some(outcome) => outcome,
            None => self.run_on(machine, answer),
        }
    }

    #[cold]
    #[inline(never)]
    fn run_on(&self, mut machine: Machine, mut answer: Answer) -> Outcome {
        loop {
            if let Some(outcome) = machine.resume(answer) {
                return outcome;
            }
            answer = self.perform(machine.access());
        }
    }

    /// Runs a repair to its end.
    pub fn repair(&self, mut repair: Repair) -> RepairStep {
        loop {
            match repair.resume(self.perform(repair.access())) {
                RepairStep::Continue => {}
                end => return end,
            }
        }
    }
}
