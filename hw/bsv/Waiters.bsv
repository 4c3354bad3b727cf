// SPDX-License-Identifier: MIT OR Apache-2.0
// The acquires that wait in a queue of the table, and their copies of word 0:
// docs/lock-unit.md, "Copies".
//
// Each waiter is in one of these states; `void` waiters are offered one after the
// other by `reader`, whose caller reads their line under their own tag.
//
//           enter            reread            stay, copy not voided
//     none ------> void ----------> reading -----------------------> copied
//                    ^                 | stay, voided                   |
//                    +-----------------+<---------- beat ---------------+
//
// A waiter ends by `depart` out of `reading` (it saw its end) or by `take` out of
// `void` and `copied` (a cancel goes on in its name).
//
// Which waiters a beat concerns is told by a table over the low bits of the line's
// number. Two lines may share an entry; then a beat for one voids the other's copies
// too, which costs a read and nothing else. An entry is forgotten by its beat and
// made again by the next reads, so nothing is left behind by waiters that end.
import LockTypes :: *;
import Memories :: *;
import Faults :: *;

typedef Bit#(128) TagSet;

function TagSet only(Maybe#(Tag) tag) = isValid(tag) ? 1 << validValue(tag) : 0;

function Bool has(TagSet set, Tag tag) = set[tag] == 1;

// The lowest tag of a set, if there is one: isolate the lowest bit, then read the
// number off it. Shorter than a chain of priorities, in gates and in simulation.
function Maybe#(Tag) lowestOf(TagSet set);
   TagSet one = set & (~set + 1);
   Tag number = 0;
   for (Integer i = 0; i < 7; i = i + 1) begin
      TagSet withBit = 0;
      for (Integer tag = 0; tag < 128; tag = tag + 1)
         withBit[tag] = fromInteger(mod(div(tag, 2 ** i), 2));
      number[i] = pack((one & withBit) != 0);
   end
   return set == 0 ? tagged Invalid : tagged Valid number;
endfunction

typedef Bit#(6) WatchIndex;

interface Waiters;
   method Bool waits(Tag tag);
   method Bool reading(Tag tag); // its line is being read
   method Bool copied(Tag tag); // its copy is what memory holds
   method Head copy(Tag tag); // only when copied
   method Maybe#(Tag) reader; // who should read its line next

   method Action enter(Tag tag); // waits from now on, or again
   method Action depart(Tag tag); // its line was read, and it waits no more
   method Action stay(Tag tag); // its line was read, and it waits still
   method Action keep(Tag tag, Head head); // the copy that goes with enter or stay
   method Action take(Tag tag); // a cancel goes on in its name
   method Action reread(Tag tag, LineNumber line); // the read that `reader` asked for
   method Action beat(LineNumber line); // copies of this line are void
   method Bool voids; // the beat of this cycle voids a copy
endinterface

module mkWaiters#(Fault fault)(Waiters);
   Reg#(TagSet) waiting <- mkReg(0);
   Reg#(TagSet) valid <- mkReg(0); // copies not voided; also of reads on their way
   Reg#(TagSet) rereading <- mkReg(0);
   LutRam#(Tag, Head) copies <- mkLutRam;

   LutRam#(WatchIndex, TagSet) watchedByBeat <- mkLutRam; // written together
   LutRam#(WatchIndex, TagSet) watchedByReader <- mkLutRam;
   Reg#(Bit#(64)) watched <- mkReg(0); // entries that are not forgotten

   // Round robin: the reader before this one, and the one on offer.
   Reg#(Tag) lastReader <- mkReg(0);
   Reg#(Maybe#(Tag)) nextReader <- mkReg(tagged Invalid);

   RWire#(Tag) entering <- mkRWire;
   RWire#(Tag) departing <- mkRWire;
   RWire#(Tag) staying <- mkRWire;
   RWire#(Tag) taking <- mkRWire;
   RWire#(Tuple2#(Tag, LineNumber)) rereads <- mkRWire;
   RWire#(LineNumber) beats <- mkRWire;
   PulseWire voiding <- mkPulseWire;

   (* fire_when_enabled, no_implicit_conditions *)
   rule invalidate;
      if (beats.wget matches tagged Valid .line) begin
         WatchIndex index = truncate(line);
         if (watched[index] == 1 && (watchedByBeat.read(index) & valid) != 0) voiding.send;
      end
   endrule

   // After all methods that change something, and after `invalidate`: they set wires.
   (* fire_when_enabled, no_implicit_conditions *)
   rule settle;
      TagSet voided = 0;
      Bit#(64) remembered = watched;
      if (beats.wget matches tagged Valid .line) begin
         WatchIndex index = truncate(line);
         if (watched[index] == 1) voided = watchedByBeat.read(index);
         remembered = remembered & ~(1 << index);
      end
      if (fault == BeatIgnored) voided = 0;
      if (fault == BeatInFlightLost) voided = voided & ~rereading;

      // A read that starts in the cycle of a beat is later than the beat.
      TagSet starting = 0;
      let offer = nextReader;
      if (rereads.wget matches tagged Valid {.tag, .line}) begin
         WatchIndex index = truncate(line);
         starting = only(tagged Valid tag);
         TagSet others = remembered[index] == 1 ? watchedByReader.read(index) : 0;
         watchedByBeat.write(index, others | starting);
         watchedByReader.write(index, others | starting);
         remembered = remembered | (1 << index);
         lastReader <= tag;
         nextReader <= tagged Invalid;
      end
      else begin
         TagSet asking = waiting & ~valid & ~rereading;
         TagSet later = asking & ((~0 << 1) << lastReader);
         nextReader <= lowestOf(later != 0 ? later : asking);
      end
      watched <= remembered;

      let enters = only(entering.wget);
      let departs = only(departing.wget);
      waiting <= (waiting | enters) & ~departs & ~only(taking.wget);
      rereading <= (rereading | starting) & ~departs & ~only(staying.wget);
      valid <= (valid & ~voided & ~enters) | starting;
   endrule

   method waits(tag) = has(waiting, tag);
   method reading(tag) = has(rereading, tag);
   method copied(tag) =
      (has(valid, tag) || fault == PollStale) && !has(rereading, tag);
   method copy = copies.read;
   // The offer is a cycle old; meanwhile the waiter may have been taken.
   method reader = isValid(nextReader) && has(waiting, validValue(nextReader))
      ? nextReader : tagged Invalid;

   method enter = entering.wset;
   method depart = departing.wset;
   method stay = staying.wset;
   method keep = copies.write;
   method take = taking.wset;
   method Action reread(tag, line) = rereads.wset(tuple2(tag, line));
   method beat = beats.wset;
   method voids = voiding;
endmodule
