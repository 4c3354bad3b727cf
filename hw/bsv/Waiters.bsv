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
import Vector :: *;
import LockTypes :: *;
import Memories :: *;
import Faults :: *;

typedef Bit#(128) TagSet;

function TagSet only(Maybe#(Tag) tag) = isValid(tag) ? 1 << validValue(tag) : 0;

function Bool has(TagSet set, Tag tag) = set[tag] == 1;

// The number of the lowest set bit of at most 128; 0 if there is none.
function Tag lowestBit(Bit#(n) bits);
   Tag found = 0;
   for (Integer i = valueOf(n) - 1; i >= 0; i = i - 1)
      if (bits[i] == 1) found = fromInteger(i);
   return found;
endfunction

// Of each eight tags of a set whether there are some, and the lowest.
typedef struct {
   Bit#(16) some;
   Vector#(16, Bit#(3)) lowest;
} Eights deriving (Bits);

function Eights eightsOf(TagSet set);
   Vector#(16, Bit#(8)) eights = unpack(set);
   Eights found = unpack(0);
   for (Integer i = 0; i < 16; i = i + 1) begin
      found.some[i] = pack(eights[i] != 0);
      found.lowest[i] = truncate(lowestBit(eights[i]));
   end
   return found;
endfunction

// The lowest tag of them all, if there is one.
function Maybe#(Tag) lowestOf(Eights eights);
   Bit#(4) first = truncate(lowestBit(eights.some));
   return eights.some == 0
      ? tagged Invalid : tagged Valid ({first, eights.lowest[first]});
endfunction

typedef Bit#(6) WatchIndex;

interface Waiters;
   method Bool waits(Tag tag);
   method Bool reading(Tag tag); // its line is being read
   method Bool copied(Tag tag); // its copy is what memory holds
   method Head copy(Tag tag); // only when copied
   method Maybe#(Tuple2#(Tag, LineNumber)) reader; // who should read its line next

   method Bool mayRead(Tag tag); // it may be `reader` in the next cycle
   method Bool begins(Tag tag); // its line is read from this cycle on

   method Action standAt(Tag tag, LineNumber line); // where it will wait, if it will
   method Action enter(Tag tag); // waits from now on, or again
   method Action depart(Tag tag); // its line was read, and it waits no more
   method Action stay(Tag tag); // its line was read, and it waits still
   method Action keep(Tag tag, Head head); // the copy that goes with enter or stay
   method Action take(Tag tag); // a cancel goes on in its name
   method Action reread; // the read that `reader` asked for
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

   // Round robin: the reader before this one, those that ask and of these the ones behind
   // it, the lowest, and the one on offer. Each is found from the one before it a cycle later.
   Reg#(Tag) lastReader <- mkReg(0);
   Reg#(Eights) asking <- mkReg(unpack(0));
   Reg#(Eights) later <- mkReg(unpack(0));
   Reg#(Maybe#(Tag)) lowestLater <- mkReg(tagged Invalid);
   Reg#(Maybe#(Tag)) lowestAsking <- mkReg(tagged Invalid);
   Reg#(Maybe#(Tuple2#(Tag, LineNumber))) offer <- mkReg(tagged Invalid);
   LutRam#(Tag, LineNumber) lines <- mkLutRam;
   Wire#(Bool) offerStays <- mkDWire(False);
   Wire#(Maybe#(Tag)) offerComes <- mkDWire(tagged Invalid);

   RWire#(Tag) entering <- mkRWire;
   RWire#(Tag) departing <- mkRWire;
   RWire#(Tag) staying <- mkRWire;
   RWire#(Tag) taking <- mkRWire;
   PulseWire rereads <- mkPulseWire;
   RWire#(LineNumber) beats <- mkRWire;
   Reg#(Maybe#(LineNumber)) beaten <- mkReg(tagged Invalid); // a cycle later
   PulseWire voiding <- mkPulseWire;

   (* fire_when_enabled, no_implicit_conditions *)
   rule invalidate;
      if (beaten matches tagged Valid .line) begin
         WatchIndex index = truncate(line);
         if (watched[index] == 1 && (watchedByBeat.read(index) & valid) != 0) voiding.send;
      end
   endrule

   // What is found is some cycles old: the waiter may have been taken, or offered.
   (* fire_when_enabled, no_implicit_conditions *)
   rule choose;
      let offered = tpl_1(validValue(offer));
      let candidate = isValid(lowestLater) ? lowestLater : lowestAsking;
      let first = validValue(candidate);
      let asks = isValid(candidate) && has(waiting & ~valid & ~rereading, first)
         && !(isValid(offer) && first == offered) && taking.wget != candidate;
      offerStays <= isValid(offer) && !rereads && taking.wget != tagged Valid offered;
      offerComes <= asks ? candidate : tagged Invalid;
   endrule

   // After all methods that change something or ask for what was, and after `invalidate`
   // and `choose`: they set wires.
   (* fire_when_enabled, no_implicit_conditions *)
   rule settle;
      TagSet voided = 0;
      Bit#(64) remembered = watched;
      if (beaten matches tagged Valid .line) begin
         WatchIndex index = truncate(line);
         if (watched[index] == 1) voided = watchedByBeat.read(index);
         remembered = remembered & ~(1 << index);
      end
      if (fault == BeatIgnored) voided = 0;
      if (fault == BeatInFlightLost) voided = voided & ~rereading;

      // A read that starts in the cycle of a beat is later than the beat.
      match {.offered, .line} = validValue(offer);
      let offering = only(isValid(offer) ? tagged Valid offered : tagged Invalid);
      WatchIndex at = truncate(line);
      TagSet others = remembered[at] == 1 ? watchedByReader.read(at) : 0;
      TagSet starting = 0;
      if (rereads) begin
         starting = offering;
         watchedByBeat.write(at, others | offering);
         watchedByReader.write(at, others | offering);
         remembered = remembered | (1 << at);
         lastReader <= offered;
      end

      if (!offerStays)
         offer <= case (offerComes) matches
            tagged Valid .tag: tagged Valid tuple2(tag, lines.read(tag));
            tagged Invalid: tagged Invalid;
         endcase;
      lowestLater <= lowestOf(later);
      lowestAsking <= lowestOf(asking);
      TagSet ask = waiting & ~valid & ~rereading & ~offering;
      asking <= eightsOf(ask);
      later <= eightsOf(ask & ((~0 << 1) << lastReader));
      watched <= remembered;
      beaten <= beats.wget;

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
   method reader = offer;
   method mayRead(tag) = isValid(offer) && tpl_1(validValue(offer)) == tag
      || lowestLater == tagged Valid tag || lowestAsking == tagged Valid tag;
   method begins(tag) = rereads && tpl_1(validValue(offer)) == tag;

   method standAt = lines.write;
   method enter = entering.wset;
   method depart = departing.wset;
   method stay = staying.wset;
   method keep = copies.write;
   method take = taking.wset;
   method reread = rereads.send;
   method beat = beats.wset;
   method voids = voiding;
endmodule
