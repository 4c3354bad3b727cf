// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mutants that can be planted in the device model, one at a time, and the check that must find each.
#![allow(dead_code, reason = "no test uses all of it")]

/// One thing that is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mutant {
    /// Nothing is.
    #[default]
    None,
    /// The class code is another.
    WrongClass,
    /// PCI Express without function-level reset.
    NoFunctionReset,
    /// The table of MSI-X is said to be elsewhere.
    MovesMsixTable,
    /// Writes of one byte go to the byte beside.
    SwapsByteLanes,
    /// Writes of less than a word set the whole word.
    WidensWrites,
    /// The halves of a 64-bit write are exchanged.
    SwapsHalves,
    /// Registers that software only reads can be written.
    WritesReadOnly,
    /// What does not suit a register is written all the same.
    TakesBadValues,
    /// Offsets without a register read 0.
    ReadsNothingAsZero,
    /// Copies write one byte more.
    OneByteTooMany,
    /// Copies write one byte less.
    OneByteShort,
    /// Copies begin at a multiple of four.
    DropsLowAddressBits,
    /// Copies to the card go astray, and copies back find them there.
    ShiftsCardAddresses,
    /// The completion is there before the data.
    CompletesEarly,
    /// Completions have another identifier.
    WrongIdentifier,
    /// Copies never end.
    NeverCompletes,
    /// Unknown opcodes are taken for copies.
    TakesAnyOpcode,
    /// A copy of no bytes is done.
    TakesNoLength,
    /// Addresses past the card's end begin again at 0.
    WrapsCardAddresses,
    /// What failed is called done.
    CallsFailuresDone,
    /// Failures are not counted.
    ForgetsFailures,
    /// The phase stays the same in each pass.
    PhaseStays,
    /// A full completion ring is overwritten.
    OverrunsRing,
    /// A doorbell is never out of range.
    TakesAnyDoorbell,
    /// Rings may be moved while the queue works.
    MovesRingsAtWork,
    /// Rings that cannot be read do not halt the queue.
    NeverHalts,
    /// Every hundredth interrupt is lost.
    LosesInterrupts,
    /// Every hundredth interrupt comes twice.
    RepeatsInterrupts,
    /// Vectors 1 and 2 are exchanged.
    ExchangesVectors,
    /// Queues raise interrupts though GIE is 0.
    IgnoresGlobalEnable,
    /// Copies that want no interrupt raise one.
    InterruptsUnwanted,
    /// A reset does nothing.
    IgnoresReset,
    /// Work continues over a reset.
    WorksThroughReset,
    /// Copies under way continue over a reset, though nothing is said of them.
    MovesThroughReset,
    /// Interrupts stay counted over a reset.
    CountsThroughReset,
    /// Memory that was taken away is still written.
    WritesAfterUnmap,
    /// Memory that was taken away is still read.
    ReadsAfterUnmap,
    /// AtomicOp Requester Enable is wired to 0, and nobody asks for it.
    WiresAtomicsToZero,
    /// Compare-and-swap does not ask whether AtomicOps may be requested.
    SwapsThoughForbidden,
    /// Waiters are never told that they have the lock.
    ForgetsWaiters,
    /// Positions in a queue are one too small.
    WrongPosition,
    /// Bus errors of the lock unit raise no interrupt.
    HidesBusErrors,
    /// Compare-and-swap is a load and then a store.
    TearsCompareSwap,
    /// Every request for a lock is refused: its bucket is said to be full.
    SaysFull,
    /// Notices look like first responses.
    MissesNotices,
    /// Every grant is said to be one more.
    SaysAgain,
    /// A release by a non-holder is answered as released.
    ReleasesForAll,
    /// Hand-overs are not counted.
    Miscounts,
    /// Slots are not cleared.
    LeavesSlots,
    /// Locks are handed over to the last waiter.
    HandsOverToLast,
    /// Unknown opcodes of jobs are taken.
    TakesAnyJobOpcode,
    /// The last word of a job is 0.
    LosesLastWord,
    /// Whatever stands there is a job's descriptor.
    TakesAnyDescriptor,
    /// The details of jobs are 0.
    LosesDetails,
    /// Jobs that failed are not counted.
    ForgetsFailedJobs,
    /// Jobs that want no interrupt raise one.
    InterruptsAllJobs,
    /// Jobs interrupt on the vector of bus errors.
    JobsInterruptElsewhere,
    /// Some jobs end twice.
    EndsJobsTwice,
    /// A job completes again after a reset.
    JobsThroughReset,
    /// An eviction is done, and the object stays cached.
    EvictsNothing,
    /// Whoever unlocks is taken for owner 1.
    UnlocksForAll,
    /// Settings of the look-up unit are not looked at.
    TakesAnySetting,
    /// Where no table is, its memory reads as 0.
    ReadsUnmappedAsZero,
    /// Look-ups tell no version.
    LosesVersions,
    /// Look-ups interrupt on the vector of bus errors.
    LookUpsInterruptElsewhere,
    /// A second opener gets the same device.
    SharesDevice,
}

use Mutant::*;

/// Each mutant with the check that must find it.
pub const ALL: &[(Mutant, &str)] = &[
    (WrongClass, "identity"),
    (NoFunctionReset, "identity"),
    (MovesMsixTable, "identity"),
    (SwapsByteLanes, "scratch registers"),
    (WidensWrites, "scratch registers"),
    (SwapsHalves, "scratch registers"),
    (WritesReadOnly, "register map"),
    (TakesBadValues, "register map"),
    (ReadsNothingAsZero, "register map"),
    (OneByteTooMany, "copies"),
    (OneByteShort, "copies"),
    (DropsLowAddressBits, "copies"),
    (ShiftsCardAddresses, "copies"),
    (CompletesEarly, "copies"),
    (WrongIdentifier, "copies"),
    (NeverCompletes, "copies"),
    (TakesAnyOpcode, "bad commands"),
    (TakesNoLength, "bad commands"),
    (WrapsCardAddresses, "bad commands"),
    (CallsFailuresDone, "bad commands"),
    (ForgetsFailures, "bad commands"),
    (PhaseStays, "queue laps"),
    (OverrunsRing, "full rings"),
    (TakesAnyDoorbell, "halted queues"),
    (MovesRingsAtWork, "halted queues"),
    (NeverHalts, "halted queues"),
    (LosesInterrupts, "interrupts"),
    (RepeatsInterrupts, "interrupts"),
    (ExchangesVectors, "interrupts"),
    (IgnoresGlobalEnable, "queue interrupts"),
    (InterruptsUnwanted, "queue interrupts"),
    (IgnoresReset, "reset"),
    (WorksThroughReset, "reset"),
    (MovesThroughReset, "reset"),
    (CountsThroughReset, "reset"),
    (WritesAfterUnmap, "unmap"),
    (ReadsAfterUnmap, "unmap"),
    (WiresAtomicsToZero, "atomics"),
    (SwapsThoughForbidden, "atomics"),
    (ForgetsWaiters, "lock requests"),
    (WrongPosition, "lock requests"),
    (MissesNotices, "lock requests"),
    (SaysAgain, "lock requests"),
    (ReleasesForAll, "lock requests"),
    (LeavesSlots, "lock requests"),
    (HandsOverToLast, "lock requests"),
    (HidesBusErrors, "lock requests"),
    (TearsCompareSwap, "lock contention"),
    (SaysFull, "lock contention"),
    (TakesAnyJobOpcode, "jobs"),
    (LosesLastWord, "jobs"),
    (TakesAnyDescriptor, "jobs"),
    (LosesDetails, "jobs"),
    (ForgetsFailedJobs, "jobs"),
    (InterruptsAllJobs, "jobs"),
    (JobsInterruptElsewhere, "jobs"),
    (EndsJobsTwice, "jobs"),
    (JobsThroughReset, "jobs"),
    (EvictsNothing, "look-ups"),
    (UnlocksForAll, "look-ups"),
    (TakesAnySetting, "look-ups"),
    (ReadsUnmappedAsZero, "look-ups"),
    (LosesVersions, "look-ups"),
    (LookUpsInterruptElsewhere, "look-ups"),
    (SharesDevice, "second opener"),
];

/// Mutant of the lock unit, which the random cases of the lock table must find as well.
pub const OF_LOCKS: &[Mutant] = &[
    ForgetsWaiters,
    WrongPosition,
    TearsCompareSwap,
    MissesNotices,
    SaysAgain,
    ReleasesForAll,
    Miscounts,
    LeavesSlots,
    HandsOverToLast,
];
