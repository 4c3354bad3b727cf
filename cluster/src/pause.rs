// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a worker waits before it repeats an attempt that was aborted.

use crate::engine::{Ending, Span, TransactionId};
use crate::mix::{mix, scale};

/// Pauses grow up to the unit times two to this.
const MOST_UNITS: u8 = 6;

/// Or, if that is more, up to the length of the last attempt times two to this.
const MOST_ATTEMPTS: u8 = 4;

/// An attempt that was aborted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aborted {
    /// Its name.
    pub attempt: TransactionId,
    /// How it ended.
    pub ending: Ending,
    /// How long it lasted.
    pub length: Span,
    /// How often in a row its transaction was aborted, with it.
    pub failures: u8,
}

/// The pause before the next attempt: none for the first `patience`, and later so long that two coordinators that
/// abort each other do not go on so for ever. Pauses are counted in `unit`s.
pub(crate) fn pause(aborted: &Aborted, patience: u8, unit: Span) -> Span {
    let Some(times) = aborted.failures.checked_sub(patience.saturating_add(1)) else {
        return Span::default();
    };
    // An attempt that a change of views ended says nothing about how long others hold their locks.
    let length = match aborted.ending {
        Ending::AbortedByMembership => Span::default(),
        _ => aborted.length,
    };
    drawn(aborted.attempt, longest(times, unit, length))
}

/// The longest pause after so many others, of which each may be twice as long as the one before. It has
/// to become longer than attempts last: of two that begin closer to each other than that, each finds
/// the lock of the other one.
fn longest(times: u8, unit: Span, attempt: Span) -> Span {
    let grown = |span: Span, most: u8| span.as_ps().saturating_mul(1 << times.min(most));
    Span::from_ps(grown(unit, MOST_UNITS).max(grown(attempt, MOST_ATTEMPTS)))
}

/// A pause below `longest`, any as likely as another. All bits of the attempt's name are mixed. A product
/// with a constant would not do: it grows by the same step with each attempt, for all workers, so that
/// two workers that abort each other once would draw pauses with the same difference for ever.
fn drawn(attempt: TransactionId, longest: Span) -> Span {
    Span::from_ps(scale(mix(attempt.0), longest.as_ps()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::NodeId;

    #[test]
    fn pauses_grow_beyond_attempts() {
        let (unit, short, long) = (Span::from_us(1), Span::from_ns(100), Span::from_us(300));
        let grown = |attempt| [0, 1, 6, 255].map(|times| longest(times, unit, attempt).as_ps());
        assert_eq!(grown(short), [1, 2, 64, 64].map(|us| us * 1_000_000));
        assert_eq!(grown(long), [300, 600, 4_800, 4_800].map(|us| us * 1_000_000));
    }

    /// Two workers that have failed in step, one of them some attempts ahead of the other, draw pauses
    /// that are far enough apart soon, whatever the distance of their attempts.
    #[test]
    fn two_workers_do_not_stay_in_step() {
        let longest = Span::from_us(64);
        let pause =
            |node, attempt| drawn(TransactionId::new(NodeId(node), 0, 1, attempt), longest).as_ps();
        for distance in 0..2_000 {
            let apart = (0..16).filter(|attempt| {
                let (one, other) = (pause(0, attempt + distance), pause(1, *attempt));
                one.abs_diff(other) > longest.as_ps() / 8
            });
            assert!(apart.count() >= 5, "{distance} attempts apart");
        }
    }
}
