// SPDX-License-Identifier: MIT OR Apache-2.0
// Pure functions on the words of one bucket: docs/lock-protocol.md, "Transitions of
// word 0". The slots form a ring 1, 2, .. 7, 1; a place of the ring is counted from
// slot `first`, which has distance 0.
import Vector :: *;
import LockTypes :: *;
import Faults :: *;

// Where the ring begins. When nobody waits `first` is 0, and it begins at slot 1.
function Slot ringStart(Head head) = head.waiting == 0 ? 1 : head.first;

// The set with slot `start` as bit 0 and the others in the order of the ring.
function Bit#(7) fromStart(Bit#(7) slots, Slot start);
   Bit#(14) twice = {slots, slots};
   return truncate(twice >> (start - 1));
endfunction

// Steps from `start` to `slot` round the ring, 0 to 6.
function Bit#(3) distance(Slot slot, Slot start) =
   slot >= start ? slot - start : slot - start + 7;

// The slot that lies `steps` after `start`.
function Slot ringSlot(Slot start, Bit#(3) steps);
   Bit#(4) sum = extend(start) + extend(steps);
   return truncate(sum > 7 ? sum - 7 : sum);
endfunction

// The number of the lowest set bit.
function Maybe#(Bit#(3)) lowest(Bit#(7) slots);
   Maybe#(Bit#(3)) found = tagged Invalid;
   for (Integer i = 6; i >= 0; i = i - 1)
      if (slots[i] == 1) found = tagged Valid fromInteger(i);
   return found;
endfunction

// How much of the ring the registered waiters take, gaps between them included.
function Bit#(3) span(Head head);
   let waiting = fromStart(head.waiting, ringStart(head));
   Bit#(3) taken = 0;
   for (Integer i = 0; i < 7; i = i + 1)
      if (waiting[i] == 1) taken = fromInteger(i + 1);
   return taken;
endfunction

function Bit#(7) slotBit(Slot slot) = 7'b1 << (slot - 1);

function Bool isRegistered(Head head, Slot slot) = (head.waiting & slotBit(slot)) != 0;

// Whether the transaction, placed in the slot, may register in this head.
function Bool mayEnter(Head head, Timestamp transaction, Slot slot) =
   head.holder != 0 && head.holder != transaction && head.cancels != 63
   && distance(slot, ringStart(head)) >= span(head);

// The first empty slot behind every registered waiter.
function Maybe#(Slot) chooseSlot(Fault fault, Line line);
   Head head = unpack(line[0]);
   Bit#(7) empty = 0;
   for (Integer p = 1; p <= 7; p = p + 1) empty[p - 1] = pack(line[p] == 0);
   let start = ringStart(head);
   let skipped = span(head);
   if (fault == SlotInGap) skipped = 0;
   if (fault == SlotTooFar && skipped != 7) skipped = skipped + 1;
   Bit#(7) open = fromStart(empty, start) & (7'h7f << skipped);
   if (head.cancels == 63) open = 0;
   if (fault == FullMissed && open == 0) open = 7'h40;
   return case (lowest(open)) matches
      tagged Valid .steps: tagged Valid ringSlot(start, steps);
      tagged Invalid: tagged Invalid;
   endcase;
endfunction

// The registered slot that holds the transaction, if there is one.
function Maybe#(Slot) findWaiter(Line line, Timestamp transaction);
   Head head = unpack(line[0]);
   Maybe#(Slot) found = tagged Invalid;
   for (Integer p = 7; p >= 1; p = p - 1)
      if (head.waiting[p - 1] == 1 && line[p] == mark(transaction))
         found = tagged Valid fromInteger(p);
   return found;
endfunction

// Wait-die: older (smaller) than the holder and than every registered waiter.
function Bool isOldest(Fault fault, Line line, Timestamp transaction);
   Head head = unpack(line[0]);
   function Bool precedes(Timestamp other) =
      fault == WaitDieInverted ? transaction > other : transaction < other;
   Bool oldest = precedes(head.holder);
   for (Integer p = 1; p <= 7; p = p + 1)
      if (head.waiting[p - 1] == 1 && !precedes(truncateLSB(line[p]))) oldest = False;
   return oldest;
endfunction

// 1 for the next to be granted.
function Bit#(3) positionOf(Fault fault, Head head, Slot slot);
   let start = ringStart(head);
   Bit#(7) ahead = fromStart(head.waiting, start) & ~(7'h7e << distance(slot, start));
   let position = pack(countOnes(ahead));
   return fault == PositionOffByOne ? position - 1 : position;
endfunction

function Head register(Head head, Slot slot) = Head {
   holder: head.holder,
   waiting: head.waiting | slotBit(slot),
   first: head.waiting == 0 ? slot : head.first,
   cancels: head.cancels };

// The first registered slot after `slot`, which is not registered itself any more.
function Slot nextAfter(Bit#(7) waiting, Slot slot) =
   case (lowest(fromStart(waiting, slot))) matches
      tagged Valid .steps: ringSlot(slot, steps);
      tagged Invalid: 0;
   endcase;

function Head leave(Fault fault, Head head, Slot slot);
   let waiting = head.waiting & ~slotBit(slot);
   let moves = head.first == slot && fault != LeaverStaysFirst;
   let counts = head.cancels != 63 && fault != CancelNotCounted;
   return Head {
      holder: head.holder,
      waiting: waiting,
      first: moves ? nextAfter(waiting, slot) : head.first,
      cancels: counts ? head.cancels + 1 : head.cancels };
endfunction

// Who is granted next: the word of slot `first`.
function Timestamp heirOf(Fault fault, Line line);
   Head head = unpack(line[0]);
   Slot slot = fault == WrongHeir ? ringSlot(head.first, 1) : head.first;
   return truncateLSB(line[slot]);
endfunction

// The holder's last word: to the heir when somebody waits, else free.
function Head handOver(Fault fault, Head head, Timestamp heir);
   let waiting = head.waiting & ~slotBit(head.first);
   return head.waiting == 0 ? unpack(0) : Head {
      holder: heir,
      waiting: waiting,
      first: fault == FirstStuck ? head.first : nextAfter(waiting, head.first),
      cancels: fault == CancelsKept ? head.cancels : 0 };
endfunction

// Three exclusive-or gates deep; see "From a tuple to its bucket".
function Bit#(64) mix(Fault fault, Bit#(64) vid, Bit#(32) version);
   Bit#(64) wide = extend(version);
   let near = fault == HashShifted ? wide << 6 : wide << 5;
   return vid ^ (vid >> 17) ^ (vid >> 31) ^ near ^ (wide << 13);
endfunction

// The line of a tuple in a table of 2**log2Buckets lines, log2Buckets at most 32.
function LineNumber lineOf(
      Fault fault, LineNumber base, Bit#(6) log2Buckets, Bit#(64) vid, Bit#(32) version);
   Bit#(33) buckets = 1 << log2Buckets;
   Bit#(32) mask = truncate(buckets - 1);
   if (fault == MaskShort) mask = mask >> 1;
   Bit#(32) bucket = truncate(mix(fault, vid, version)) & mask;
   LineNumber offset = extend(bucket);
   return base + (fault == AddressShifted ? offset << 1 : offset);
endfunction
