// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether answers are right while the host changes the table.
//!
//! Times are clocks of the card. A key has a content (a value, or none) from the first store that brings it. A
//! value ends when the eviction that follows its deletion is answered, as the index may have it until then; an
//! absence ends with the last store of the insertion. An answer is right if its content was the key's at some
//! clock from the acceptance of its request on.

use std::collections::HashMap;

/// A change of one key that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: u64,
    /// Its value from now on; none after a deletion.
    pub content: Option<u64>,
    /// The clock before the first store.
    pub begun: u64,
    /// The clock after the last store.
    pub stored: u64,
    /// The clock in which the eviction was answered.
    pub evicted: u64,
}

/// An answer, by what it says of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The key.
    pub key: u64,
    /// The clock in which the request was accepted.
    pub asked: u64,
    /// The clock in which the answer was there.
    pub answered: u64,
    /// The value, or that the key is absent.
    pub content: Option<u64>,
}

/// An answer that no instant of its look-up makes right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "key {} was looked up from clock {} to {} and answered {}: expected {expected}",
    answer.key, answer.asked, answer.answered, content_text(answer.content)
)]
pub struct WrongAnswer {
    /// The answer.
    pub answer: Answered,
    /// What the key had.
    pub expected: String,
}

fn content_text(content: Option<u64>) -> String {
    content.map_or("absent".into(), |value| format!("value 0x{value:X}"))
}

#[derive(Clone, Copy, Debug)]
struct Span {
    content: Option<u64>,
    from: u64,
    until: u64,
}

/// What the keys of a run have had when.
#[derive(Debug, Default)]
pub struct Judge {
    /// Keys that are never changed.
    still: HashMap<u64, u64>,
    changed: HashMap<u64, Vec<Span>>,
}

impl Judge {
    /// Of a table with these objects, and these changes, those of a key in their order.
    pub fn new(objects: &[(u64, u64)], changes: &[Change]) -> Self {
        let still: HashMap<u64, u64> = objects.iter().copied().collect();
        let mut judge = Judge { still, changed: HashMap::new() };
        for change in changes {
            judge.add(change);
        }
        judge
    }

    fn add(&mut self, change: &Change) {
        let first =
            Span { content: self.still.get(&change.key).copied(), from: 0, until: u64::MAX };
        let spans = self.changed.entry(change.key).or_insert_with(|| vec![first]);
        let before = spans.last_mut().expect("there is a first one");
        before.until = match before.content {
            Some(_) => change.evicted,
            None => change.stored,
        };
        spans.push(Span { content: change.content, from: change.begun, until: u64::MAX });
    }

    /// Judges an answer.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check(&self, answer: &Answered) -> Result<(), WrongAnswer> {
        let is_right = |span: &Span| {
            span.content == answer.content
                && span.from <= answer.answered
                && answer.asked <= span.until
        };
        let expected = match self.changed.get(&answer.key) {
            Some(spans) if spans.iter().any(is_right) => return Ok(()),
            Some(spans) => {
                let near =
                    |span: &&Span| span.from <= answer.answered && answer.asked <= span.until;
                let text = |span: &Span| content_text(span.content);
                spans.iter().filter(near).map(text).collect::<Vec<_>>().join(" or ")
            }
            None => {
                let content = self.still.get(&answer.key).copied();
                if content == answer.content {
                    return Ok(());
                }
                content_text(content)
            }
        };
        Err(WrongAnswer { answer: *answer, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELETED: Change = Change { key: 7, content: None, begun: 100, stored: 110, evicted: 130 };
    const INSERTED: Change =
        Change { key: 7, content: Some(71), begun: 200, stored: 220, evicted: 240 };

    fn is_right(content: Option<u64>, asked: u64, answered: u64) -> bool {
        let judge = Judge::new(&[(7, 70), (8, 80)], &[DELETED, INSERTED]);
        judge.check(&Answered { key: 7, asked, answered, content }).is_ok()
    }

    #[test]
    fn a_deleted_value_is_right_until_it_is_evicted() {
        assert!(is_right(Some(70), 0, 50));
        assert!(is_right(Some(70), 130, 400));
        assert!(!is_right(Some(70), 131, 400));
        assert!(!is_right(None, 0, 99));
        assert!(is_right(None, 0, 100));
    }

    #[test]
    fn an_absence_is_right_until_the_insertion_is_stored() {
        assert!(is_right(None, 220, 300));
        assert!(!is_right(None, 221, 300));
        assert!(!is_right(Some(71), 131, 199));
        assert!(is_right(Some(71), 131, 200));
        assert!(is_right(Some(71), 1000, 1001));
    }

    #[test]
    fn other_keys_stay_as_they_are() {
        let judge = Judge::new(&[(7, 70), (8, 80)], &[DELETED]);
        let answer = |key, content| Answered { key, asked: 5, answered: 6, content };
        assert!(judge.check(&answer(8, Some(80))).is_ok());
        assert!(judge.check(&answer(9, None)).is_ok());
        let error = judge.check(&answer(8, None)).expect_err("it is there").to_string();
        assert_eq!(
            error,
            "key 8 was looked up from clock 5 to 6 and answered absent: expected value 0x50"
        );
        assert!(judge.check(&answer(9, Some(1))).is_err());
    }
}
