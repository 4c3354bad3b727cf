// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every order of inputs, to their ends.

use std::collections::HashSet;

use super::*;

const RECORD: RecordId = RecordId::new(7, 3);
const OTHER: RecordId = RecordId::new(8, 0);

/// All that can come of an action, and what can come from outside while it is under way.
fn inputs(action: Action) -> Vec<Input> {
    let mut inputs = match action {
        Action::AcquireLock => {
            vec![Input::Granted, Input::Queued, Input::Refused, Input::Failed]
        }
        Action::AwaitLock => vec![Input::Granted, Input::Lost, Input::Failed, Input::TimedOut],
        Action::AskLater => vec![Input::Again, Input::TimedOut],
        Action::CancelLock => vec![Input::Granted, Input::Lost, Input::Failed],
        Action::LoadHead => vec![
            Input::Head(RECORD),
            Input::Head(OTHER),
            Input::Head(RecordId::NONE),
            Input::Failed,
        ],
        Action::Write => vec![Input::Written],
        Action::None => vec![],
    };
    inputs.extend([Input::Cancel, Input::TimedOut]);
    inputs
}

/// What an observer beside the machine knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Observer {
    locked: bool,
    unchanged: bool,
    changed: bool,
    cancelled: bool,
    timed_out: bool,
    failed: bool,
}

impl Observer {
    fn sees(&mut self, action: Action, input: Input) {
        match input {
            Input::Granted => self.locked = true,
            Input::Head(head) => {
                (self.unchanged, self.changed) = (head == RECORD, head != RECORD);
            }
            Input::Cancel => self.cancelled = true,
            Input::TimedOut => {
                self.timed_out |= matches!(action, Action::AwaitLock | Action::AskLater);
            }
            Input::Failed => self.failed = true,
            _ => {}
        }
    }
}

/// The invariants of all reachable states.
fn check(row: &RowUpdate, seen: Observer, isolation: Isolation) {
    let told = || format!("{row:?} {seen:?}");
    if row.action() == Action::Write {
        assert!(seen.locked && seen.unchanged && !seen.cancelled, "{}", told());
    }
    if row.action() == Action::LoadHead {
        assert!(seen.locked && !seen.cancelled, "{}", told());
    }
    assert_eq!(row.end().is_some(), row.action() == Action::None, "{}", told());
    let Some(end) = row.end() else { return };
    assert_eq!(end.is_locked(), seen.locked, "{}", told());
    let read_committed = isolation == Isolation::ReadCommitted;
    let holds = match end {
        RowEnd::Written => seen.locked && seen.unchanged && !seen.cancelled,
        RowEnd::Left => seen.locked && seen.changed && read_committed,
        RowEnd::Conflict => seen.locked && seen.changed && !read_committed,
        RowEnd::TimedOut => seen.timed_out && !seen.locked,
        RowEnd::Cancelled { .. } => seen.cancelled,
        RowEnd::Failed { .. } => seen.failed,
    };
    assert!(holds, "{}", told());
}

/// All states that can be come to from the start, with what an observer knows; how many ends there
/// are.
fn explore(isolation: Isolation) -> HashSet<RowEnd> {
    let (mut seen, mut ends) = (HashSet::new(), HashSet::new());
    let mut open = vec![(RowUpdate::new(RECORD, isolation), Observer::default())];
    while let Some((row, observer)) = open.pop() {
        if !seen.insert((row, observer)) {
            continue;
        }
        check(&row, observer, isolation);
        ends.extend(row.end());
        for input in inputs(row.action()) {
            let (mut next, mut knows) = (row, observer);
            next.resume(input);
            match row.end() {
                Some(end) => assert_eq!(next.end(), Some(end), "an end is an end"),
                None => knows.sees(row.action(), input),
            }
            open.push((next, knows));
        }
    }
    assert!(seen.len() > 20, "{} states", seen.len());
    ends
}

#[test]
fn every_order_of_inputs_comes_to_one_end_and_writes_under_lock_and_look_alone() {
    let common = [
        RowEnd::Written,
        RowEnd::TimedOut,
        RowEnd::Cancelled { locked: false },
        RowEnd::Cancelled { locked: true },
        RowEnd::Failed { locked: false },
        RowEnd::Failed { locked: true },
    ];
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable] {
        let mut expected = HashSet::from(common);
        expected.insert(match isolation {
            Isolation::ReadCommitted => RowEnd::Left,
            _ => RowEnd::Conflict,
        });
        assert_eq!(explore(isolation), expected, "{isolation:?}");
    }
}

/// From every state a cancel and the answers of the lock unit to what is open lead to an end.
#[test]
fn a_cancelled_row_ends_with_the_next_answer_but_one() {
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot] {
        let mut open = vec![RowUpdate::new(RECORD, isolation)];
        let mut seen = HashSet::new();
        while let Some(row) = open.pop() {
            if !seen.insert(row) {
                continue;
            }
            for input in inputs(row.action()) {
                let mut next = row;
                next.resume(input);
                open.push(next);
            }
            let mut cancelled = row;
            cancelled.resume(Input::Cancel);
            for first in inputs(cancelled.action()) {
                let mut next = cancelled;
                next.resume(first);
                for second in inputs(next.action()) {
                    let mut last = next;
                    last.resume(second);
                    let outside = [Input::Cancel, Input::TimedOut];
                    if !outside.contains(&first) && !outside.contains(&second) {
                        assert!(last.end().is_some(), "{row:?} {first:?} {second:?}: {last:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn without_its_lock_or_its_look_a_row_is_written_that_must_not_be() {
    let skipped = Skipped { lock: true, check: false };
    let row = RowUpdate::skipping(RECORD, Isolation::Snapshot, skipped);
    assert_eq!(row.action(), Action::LoadHead);
    let skipped = Skipped { lock: false, check: true };
    let mut row = RowUpdate::skipping(RECORD, Isolation::Snapshot, skipped);
    row.resume(Input::Granted);
    assert_eq!(row.action(), Action::Write);
}
