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
   function Bit#(7) turned(Integer from) = truncate(twice >> mod(from + 7, 8));
   Vector#(8, Bit#(7)) rings = genWith(turned);
   return rings[start];
endfunction

// A function of two slots or steps as a table: each bit is a gate of six inputs, where sums and
// comparisons would take chains of carries, one behind the other.
function Bit#(3) tabulate(function Integer f(Integer a, Integer b), Bit#(3) a, Bit#(3) b);
   function Bit#(3) entry(Integer at) = fromInteger(mod(f(div(at, 8), mod(at, 8)), 8));
   Vector#(64, Bit#(3)) entries = genWith(entry);
   return entries[{a, b}];
endfunction

// Steps from `start` to `slot` round the ring, 0 to 6.
function Bit#(3) distance(Slot slot, Slot start);
   function Integer steps(Integer to, Integer from) = to >= from ? to - from : to - from + 7;
   return tabulate(steps, slot, start);
endfunction

// The slot that lies `steps` after `start`.
function Slot ringSlot(Slot start, Bit#(3) steps);
   function Integer slot(Integer from, Integer far) =
      from + far > 7 ? from + far - 7 : from + far;
   return tabulate(slot, start, steps);
endfunction

// The number of the lowest set bit, where bit 0 has the number `first`. A sum behind the choice
// would take a chain of carries.
function Maybe#(Bit#(3)) lowestFrom(Integer first, Bit#(7) bits);
   Maybe#(Bit#(3)) found = tagged Invalid;
   for (Integer i = 6; i >= 0; i = i - 1)
      if (bits[i] == 1) found = tagged Valid fromInteger(first + i);
   return found;
endfunction

// Of a set in the order of the ring the steps to its first.
function Maybe#(Bit#(3)) lowest(Bit#(7) slots) = lowestFrom(0, slots);

// The slot of the lowest set bit.
function Maybe#(Slot) lowestSlot(Bit#(7) slots) = lowestFrom(1, slots);

// The places behind all registered waiters.
function Bit#(7) behind(Bit#(7) queued);
   Bit#(7) places = 0;
   for (Integer i = 0; i < 7; i = i + 1)
      places[i] = pack((queued >> i) == 0);
   return places;
endfunction

// How many bits are set, counted by three at a time: a sum of all would take chains of carries.
function Bit#(3) ones(Bit#(7) bits);
   function Bit#(1) parity(Bit#(1) a, Bit#(1) b, Bit#(1) c) = a ^ b ^ c;
   function Bit#(1) two(Bit#(1) a, Bit#(1) b, Bit#(1) c) = a & b | c & (a | b);
   let low = parity(bits[0], bits[1], bits[2]);
   let high = parity(bits[3], bits[4], bits[5]);
   let lows = two(bits[0], bits[1], bits[2]);
   let highs = two(bits[3], bits[4], bits[5]);
   let both = two(low, high, bits[6]);
   return {two(lows, highs, both), parity(lows, highs, both), parity(low, high, bits[6])};
endfunction

// The places up to that many steps from the start of the ring.
function Bit#(7) upTo(Bit#(3) steps) = ~(7'h7e << steps);

function Bit#(7) slotBit(Slot slot);
   Bit#(8) word = 1 << slot;
   return truncateLSB(word);
endfunction

function Bool isRegistered(Head head, Slot slot) = (head.waiting & slotBit(slot)) != 0;

// What a line says when its words are looked at one by one. Bit p-1 is slot p, but of
// `queued` and `room`, where bit 0 is where the ring starts.
typedef struct {
   Head head;
   Slot start; // of the ring
   Timestamp heir; // who is granted next; 0 if nobody waits
   Bit#(7) queued; // registered slots
   Bit#(7) room; // empty slots
   Bit#(7) empty;
   Bit#(7) own; // with the transaction in them
   Bit#(7) younger; // of younger transactions than this one
   Bool precedesHolder;
   Bool unheld; // word 0 is 0
   Bool holds;
   Bool holdsAlone; // word 0 has nothing but the transaction
   Bool expected; // word 0 is the one that was expected
} Words deriving (Bits);

function Words compareWords(Fault fault, Line line, Timestamp transaction, Head expected);
   Head head = unpack(line[0]);
   function Bool precedes(Timestamp other) =
      fault == WaitDieInverted ? transaction > other : transaction < other;
   Bit#(7) empty = 0;
   Bit#(7) own = 0;
   Bit#(7) younger = 0;
   for (Integer p = 1; p <= 7; p = p + 1) begin
      empty[p - 1] = pack(line[p] == 0);
      own[p - 1] = pack(line[p] == mark(transaction));
      younger[p - 1] = pack(precedes(truncateLSB(line[p])));
   end
   Slot next = fault == WrongHeir ? ringSlot(head.first, 1) : head.first;
   let start = ringStart(head);
   return Words {
      head: head,
      start: start,
      heir: head.waiting == 0 ? 0 : truncateLSB(line[next]),
      queued: fromStart(head.waiting, start),
      room: fromStart(empty, start),
      empty: empty,
      own: own,
      younger: younger,
      precedesHolder: precedes(head.holder),
      unheld: line[0] == 0,
      holds: head.holder == transaction,
      holdsAlone: line[0] == mark(transaction),
      expected: head == expected };
endfunction

Bit#(8) mostRounds = 255;

// What follows from the words for a transaction that is placed, or waits, in a slot.
typedef struct {
   Head head;
   Timestamp heir;
   Maybe#(Slot) waits; // a registered slot has the transaction in it
   Bit#(3) waitsAt; // the position of that
   Maybe#(Slot) open; // the first empty slot behind every registered waiter
   Bool dies; // by its rule: it is not older than the holder and all who wait
   Bool placeEmpty; // its slot has nobody in it
   Bool enters; // it may register there
   Bool joins; // and still should
   Bool lastRound;
   Bool registered;
   Bit#(3) position; // of its slot
   Head joined; // the expected head, with its slot in the queue
   Bit#(3) joinsAt; // the position then; a slot that joins is behind all others
   Head changed; // the head without it: passed on by the holder, or left by the slot
   Bool unheld;
   Bool holds;
   Bool holdsAlone;
   Bool expected;
} Findings deriving (Bits);

function Findings findIn(
      Fault fault, Words words, Bool passesOn, Rule waitRule, Slot slot, Progress progress);
   let head = words.head;
   let steps = distance(slot, words.start);
   let joined = register(progress.head, slot);
   let oldest = words.precedesHolder && (head.waiting & ~words.younger) == 0;
   let dies = waitRule == WaitDie && !oldest;
   let enters = head.holder != 0 && !words.holds && head.cancels != 63
      && (words.queued & (7'h7f << steps)) == 0;
   // Of several, the one with the lowest number: docs/lock-protocol.md has the exception.
   let its = lowestSlot(head.waiting & words.own);
   let next = nextFirst(words);
   return Findings {
      head: head,
      heir: words.heir,
      waits: its,
      waitsAt: positionIn(
         fault, words.queued, upTo(distance(validValue(its), words.start))),
      open: chooseSlot(fault, words),
      dies: dies,
      placeEmpty: (words.empty & slotBit(slot)) != 0,
      enters: enters,
      joins: enters && !dies && (!isValid(its) || fault == WaitMissed),
      lastRound: progress.rounds == mostRounds,
      registered: isRegistered(head, slot),
      position: positionIn(fault, words.queued, upTo(steps)),
      joined: joined,
      joinsAt: positionIn(fault, joined.waiting, '1),
      changed: passesOn ? handOver(fault, head, words.heir, next) : leave(fault, head, slot, next),
      unheld: words.unheld,
      holds: words.holds,
      holdsAlone: words.holdsAlone,
      expected: words.expected };
endfunction

// The first empty slot behind every registered waiter. Which one does not wait for whether
// it may be taken.
function Maybe#(Slot) chooseSlot(Fault fault, Words words);
   let places = behind(words.queued);
   if (fault == SlotInGap) places = '1;
   if (fault == SlotTooFar) places = places << 1;
   let empty = lowest(words.room & places);
   let full = words.head.cancels == 63 || !isValid(empty);
   if (full && fault != FullMissed)
      return tagged Invalid;
   else
      return tagged Valid ringSlot(words.start, full ? 6 : validValue(empty));
endfunction

// Of the last of these places; 1 is next to be granted.
function Bit#(3) positionIn(Fault fault, Bit#(7) queued, Bit#(7) places);
   let position = ones(queued & places);
   return fault == PositionOffByOne ? position - 1 : position;
endfunction

function Head register(Head head, Slot slot) = Head {
   holder: head.holder,
   waiting: head.waiting | slotBit(slot),
   first: head.waiting == 0 ? slot : head.first,
   cancels: head.cancels };

// The registered slot after the first one; 0 if there is none.
function Slot nextFirst(Words words) =
   case (lowest(words.queued & 7'h7e)) matches
      tagged Valid .steps: ringSlot(words.start, steps);
      tagged Invalid: 0;
   endcase;

function Head leave(Fault fault, Head head, Slot slot, Slot next);
   let moves = head.first == slot && fault != LeaverStaysFirst;
   let counts = head.cancels != 63 && fault != CancelNotCounted;
   return Head {
      holder: head.holder,
      waiting: head.waiting & ~slotBit(slot),
      first: moves ? next : head.first,
      cancels: counts ? head.cancels + 1 : head.cancels };
endfunction

// The holder's last word: to the heir when somebody waits, else free.
function Head handOver(Fault fault, Head head, Timestamp heir, Slot next);
   return head.waiting == 0 ? unpack(0) : Head {
      holder: heir,
      waiting: head.waiting & ~slotBit(head.first),
      first: fault == FirstStuck ? head.first : next,
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
   Bit#(32) mask = ~('1 << log2Buckets);
   if (fault == MaskShort) mask = mask >> 1;
   Bit#(32) bucket = truncate(mix(fault, vid, version)) & mask;
   LineNumber offset = extend(bucket);
   return base + (fault == AddressShifted ? offset << 1 : offset);
endfunction
