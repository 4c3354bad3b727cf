// SPDX-License-Identifier: MIT OR Apache-2.0
// The mutants of tuple_lock_unit_sabotaged, one at a time, so that a test bench can
// show that it would notice. docs/lock-unit.md says what each one breaks.
// In tuple_lock_unit the fault is the constant NoFault and leaves no gate behind.

typedef enum {
   NoFault = 0,
   HashShifted = 1,
   MaskShort = 2,
   AddressShifted = 3,
   BeatIgnored = 4,
   BeatInFlightLost = 5,
   WriteErrorDropped = 6,
   ReadErrorDropped = 7,
   PositionOffByOne = 8,
   SlotInGap = 9,
   SlotTooFar = 10,
   FirstStuck = 11,
   CancelNotCounted = 12,
   CancelsKept = 13,
   ReentryMissed = 14,
   NotHeldReleased = 15,
   SlotNotCleared = 16,
   WithdrawSkipped = 17,
   FullMissed = 18,
   WaitDieInverted = 19,
   PollStale = 20,
   HalvesSwapped = 21,
   TagBusyMissed = 22,
   WrongHeir = 23,
   SharedClears = 24,
   CancelAfterGrant = 25,
   WaitMissed = 26,
   TargetKeptBusy = 27,
   LeaverStaysFirst = 28,
   ReviewSkipped = 29,
   ErrorKeepsSlot = 30,
   WrapMissing = 31
} Fault deriving (Bits, Eq);
