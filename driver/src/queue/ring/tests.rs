// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ring machine against a naive model: a growing list, of which nothing is ever overwritten.

use super::*;
use proptest::prelude::*;

/// The device's side, by lists that are never cut.
#[derive(Default)]
struct Model {
    submitted: Vec<u32>,
    fetched: usize,
    completed: Vec<u32>,
    consumed: usize,
    told: usize,
}

/// One step of either side.
#[derive(Debug, Clone, Copy)]
enum Step {
    Submit,
    Fetch(u8),
    TellFetched,
    Complete(u8),
    Consume,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Submit),
        2 => (1..9u8).prop_map(Step::Fetch),
        1 => Just(Step::TellFetched),
        2 => (1..9u8).prop_map(Step::Complete),
        4 => Just(Step::Consume),
    ];
    prop::collection::vec(step, 1..400)
}

/// Both rings as memory, and the machine that indexes them.
struct Rings {
    entries: u16,
    submissions: SubmissionRing,
    completions: CompletionRing,
    submission_slots: Vec<u32>,
    completion_slots: Vec<(u32, bool)>,
    model: Model,
}

impl Rings {
    /// Rings whose counts have run to `start` already, a multiple of twice the entries.
    fn new(entries: u16, start: u16) -> Self {
        let size = usize::from(entries);
        let mut submissions = SubmissionRing::new(entries);
        (submissions.tail, submissions.head) = (start, start);
        let mut completions = CompletionRing::new(entries);
        (completions.head, completions.acknowledged) = (start, start);
        Rings {
            entries,
            submissions,
            completions,
            submission_slots: vec![0; size],
            completion_slots: vec![(0, false); size],
            model: Model::default(),
        }
    }

    fn take(&mut self, step: Step, start: u16) -> Result<(), TestCaseError> {
        let size = usize::from(self.entries);
        match step {
            Step::Submit => {
                let value = self.model.submitted.len() as u32;
                let Some(slot) = self.submissions.slot() else {
                    prop_assert!(self.submissions.is_full());
                    return Ok(());
                };
                // The model's rule: a slot whose entry is not fetched is never written.
                prop_assert!(self.model.submitted.len() - self.model.fetched < size);
                self.submission_slots[slot] = value;
                self.model.submitted.push(value);
                let tail = self.submissions.push();
                prop_assert_eq!(tail, start.wrapping_add(self.model.submitted.len() as u16));
            }
            Step::Fetch(count) => {
                for _ in 0..count {
                    let Some(&value) = self.model.submitted.get(self.model.fetched) else { break };
                    prop_assert_eq!(self.submission_slots[self.model.fetched % size], value);
                    self.model.fetched += 1;
                }
            }
            Step::TellFetched => {
                let head = start.wrapping_add(self.model.fetched as u16);
                prop_assert_eq!(self.submissions.fetched(head), Ok(()));
                let open = self.model.submitted.len() - self.model.fetched;
                prop_assert_eq!(usize::from(self.submissions.unfetched()), open);
            }
            Step::Complete(count) => {
                for _ in 0..count {
                    let number = self.model.completed.len();
                    if number == self.model.fetched || number - self.model.told == size {
                        break;
                    }
                    // A device that holds back never overwrites what is not consumed.
                    prop_assert!(number - self.model.consumed < size);
                    let phase = (number / size).is_multiple_of(2);
                    self.completion_slots[number % size] = (number as u32, phase);
                    self.model.completed.push(number as u32);
                }
            }
            Step::Consume => self.consume(start)?,
        }
        Ok(())
    }

    fn consume(&mut self, start: u16) -> Result<(), TestCaseError> {
        let (value, phase) = self.completion_slots[self.completions.slot()];
        let there = phase == self.completions.phase();
        prop_assert_eq!(there, self.model.consumed < self.model.completed.len());
        if !there {
            return Ok(());
        }
        prop_assert_eq!(value, self.model.completed[self.model.consumed]);
        self.model.consumed += 1;
        if let Some(head) = self.completions.pop() {
            self.model.told = self.model.consumed;
            prop_assert_eq!(head, start.wrapping_add(self.model.told as u16));
        }
        Ok(())
    }
}

seeds::proptest! {
    #![cases(256)]

    #[test]
    fn nothing_is_lost_or_seen_twice(
        log2_entries in 1..=5u32,
        passes in 0..=u16::MAX,
        steps in steps(),
    ) {
        let entries = 1u16 << log2_entries;
        // Any even number of passes before, the last ones just before the counts wrap.
        let start = passes & !(2 * entries - 1);
        let mut rings = Rings::new(entries, start);
        for step in steps {
            rings.take(step, start)?;
        }
        // Everything that was submitted comes through in the end.
        for _ in 0..3 * rings.model.submitted.len() + 1 {
            for step in [Step::Fetch(1), Step::TellFetched, Step::Complete(1), Step::Consume] {
                rings.take(step, start)?;
            }
        }
        prop_assert_eq!(rings.model.consumed, rings.model.submitted.len());
    }

    #[test]
    fn an_impossible_count_is_refused(
        tail in 0..=4u16,
        head in prop_oneof![0..8u16, 0xFFF8..=u16::MAX, any::<u16>()],
    ) {
        let mut ring = SubmissionRing::new(4);
        (0..tail).for_each(|_| { ring.push(); });
        let before = ring.unfetched();
        match ring.fetched(head) {
            Ok(()) => prop_assert!(head <= tail && ring.unfetched() == tail - head),
            Err(error) => {
                prop_assert!(head > tail && ring.unfetched() == before);
                prop_assert_eq!((error.found, error.least, error.most), (head, 0, tail));
            }
        }
    }
}

#[test]
fn sizes_are_powers_of_two_up_to_4096() {
    let sizes: Vec<u16> = (0..=u16::MAX).filter(|entries| is_ring_size(*entries)).collect();
    assert_eq!(sizes, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]);
}

#[test]
#[should_panic(expected = "a submission ring of 2 entries is full")]
fn a_full_ring_takes_no_more() {
    let mut ring = SubmissionRing::new(2);
    (0..3).for_each(|_| {
        ring.push();
    });
}

#[test]
#[should_panic(expected = "a ring of 3 entries")]
fn three_entries_are_no_ring() {
    CompletionRing::new(3);
}
