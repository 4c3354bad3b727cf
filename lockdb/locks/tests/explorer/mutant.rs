// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broken variants of the protocol, made by tampering with its accesses.

use locks::Head;
use locks::machine::{Access, Phase};

/// One way to get the protocol wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// A waiter that leaves is not counted: a holder that read the slot before may hand the lock to
    /// the waiter that left.
    UncountedCancel,
    /// The release writes the free head whatever stands there: a waiter that registers meanwhile is
    /// forgotten.
    BlindFree,
    /// The hand-over writes its head whatever stands there.
    BlindHandOver,
    /// Registering writes its head whatever stands there: a grant that came meanwhile is undone.
    BlindRegister,
    /// The head is not told of the slot: the waiter is stranded.
    UntoldHead,
    /// A registration that failed is tried again without a look at the slots, as if the head told
    /// everything: two requests of one transaction both wait.
    UnreviewedRegister,
    /// The slot is taken although another transaction's word is in it.
    BlindPlace,
    /// The slot is not cleared after the grant: the queue fills up with the departed.
    UnclearedSlot,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Mutant; 8] = [
        Mutant::UncountedCancel,
        Mutant::BlindFree,
        Mutant::BlindHandOver,
        Mutant::BlindRegister,
        Mutant::UntoldHead,
        Mutant::UnreviewedRegister,
        Mutant::BlindPlace,
        Mutant::UnclearedSlot,
    ];

    /// The access as the broken variant makes it: the access, and whether it is blind.
    pub fn tamper(self, phase: Phase, access: Access) -> (Access, bool) {
        match (self, phase, access) {
            (Self::UncountedCancel, Phase::Leave, Access::CompareSwap { word, expected, new }) => {
                let count = Head::from_word(expected).cancels() as u64;
                (Access::CompareSwap { word, expected, new: new & !0x3F | count }, false)
            }
            (Self::BlindFree, Phase::Free, _)
            | (Self::BlindHandOver, Phase::HandOver, _)
            | (Self::BlindRegister, Phase::Register, _)
            | (Self::BlindPlace, Phase::Place, _) => (access, true),
            (Self::UntoldHead, Phase::Register, Access::CompareSwap { word, expected, .. }) => {
                (Access::CompareSwap { word, expected, new: expected }, false)
            }
            (Self::UnreviewedRegister, Phase::Review, _)
            | (Self::UnclearedSlot, Phase::Clear, _) => (Access::LoadHead, false),
            _ => (access, false),
        }
    }
}
