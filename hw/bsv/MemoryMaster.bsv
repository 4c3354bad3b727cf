// SPDX-License-Identifier: MIT OR Apache-2.0
// The AXI master as a producer of writes and reads and a consumer of answers:
// docs/lock-unit.md, "Memory". Turns a compare-and-swap or store of one word into
// address, data and strobes, and pairs the two answers of an atomic.
//
// At most one access is outstanding per tag. So every queue of completed accesses
// holds a tag at most once, R and B are taken in every cycle, and nothing that the
// unit waits for can stop them.
import Vector :: *;
import LockTypes :: *;
import Memories :: *;
import Axi :: *;
import Faults :: *;

typedef struct {
   Tag tag;
   LineNumber line;
   Write write;
} WriteAccess deriving (Bits);

typedef struct {
   AccessId id;
   LineNumber line;
   Bool keeps; // the unit keeps a copy, and is told when it changes
} ReadAccess deriving (Bits);

// An access whose answers have all come.
typedef struct {
   AccessId id;
   Line line; // of a store: undefined
   Bool failed;
} Completion deriving (Bits);

interface MemoryMaster;
   (* prefix="" *)
   interface MemoryPort port;
   method Bool writeReady;
   method Action write(WriteAccess access); // only when writeReady
   method Bool readReady;
   method Action read(ReadAccess access); // only when readReady
   method Bool completed;
   method Completion completion; // only when completed
   method Action next; // drops the completion; only when completed
endinterface

typedef struct {
   AccessId id;
   LineNumber line;
   Slot slot;
   Bool compares;
} Address deriving (Bits);

typedef struct {
   Slot slot;
   Bool compares;
   Word low; // lane of an even word
   Word high; // lane of the odd word above it
} Data deriving (Bits);

Bit#(3) unprivilegedData = 3'b010;
Bit#(4) cacheAndTell = 4'b1111;
Bit#(4) noCopy = 4'b0011;
Bit#(2) incr = 2'b01;
Bit#(2) wrap = 2'b10;
Bit#(6) atomicCompare = 6'b110001;

function Bool isAtomic(Phase phase) = case (phase)
   Take, Place, Register, Free, HandOver, Leave: True;
   default: False;
endcase;

module mkMemoryMaster#(Fault fault)(MemoryMaster);
   Queue#(Address) addresses <- mkQueue;
   Queue#(Data) datas <- mkQueue;
   Queue#(ReadAccess) reads <- mkQueue;

   // Of each tag the last R beat, whether it failed, and whether the last B did.
   LutRam#(Tag, Line) lines <- mkLutRam;
   LutRam#(Tag, Bool) readErrors <- mkLutRam;
   LutRam#(Tag, Bool) writeErrors <- mkLutRam;
   // Atomics of which one of the two answers has come.
   Reg#(Bit#(128)) halfDone <- mkReg(0);
   // Completed by their R, completed by their B; served in turn.
   Queue#(AccessId) doneByRead <- mkContextQueue;
   Queue#(AccessId) doneByWrite <- mkContextQueue;
   Reg#(Bool) writesTurn <- mkReg(False);
   Queue#(AccessId) done <- mkStage; // of both

   RWire#(Tuple2#(AccessId, Bool)) readBeat <- mkRWire;
   Wire#(Line) readLine <- mkDWire(?); // goes with it; wide words are moved unpacked
   RWire#(Tuple2#(AccessId, Bool)) writeBeat <- mkRWire;

   // After the port methods, which only set the wires.
   (* fire_when_enabled, no_implicit_conditions *)
   rule collect;
      Bit#(128) readBit = 0;
      if (readBeat.wget matches tagged Valid {.id, .failed}) begin
         lines.write(id.tag, readLine);
         readErrors.write(id.tag, failed);
         let atomic = isAtomic(id.phase);
         readBit = atomic ? 1 << id.tag : 0;
         if (!atomic || halfDone[id.tag] == 1) doneByRead.enq(id);
      end
      Bit#(128) writeBit = 0;
      if (writeBeat.wget matches tagged Valid {.id, .failed}) begin
         writeErrors.write(id.tag, failed);
         let atomic = isAtomic(id.phase);
         writeBit = atomic ? 1 << id.tag : 0;
         // Both may come at once; then the read is the first.
         let together = case (readBeat.wget) matches
            tagged Valid {.other, .*}: isAtomic(other.phase) && other.tag == id.tag;
            default: False;
         endcase;
         if (!atomic || (halfDone[id.tag] == 1) != together) doneByWrite.enq(id);
      end
      halfDone <= halfDone ^ readBit ^ writeBit;
   endrule

   (* fire_when_enabled *)
   rule serve ((doneByRead.notEmpty || doneByWrite.notEmpty) && done.notFull);
      let takesWrite = doneByWrite.notEmpty && (writesTurn || !doneByRead.notEmpty);
      done.enq(takesWrite ? doneByWrite.first : doneByRead.first);
      if (takesWrite) doneByWrite.deq; else doneByRead.deq;
      writesTurn <= !takesWrite;
   endrule

   interface MemoryPort port;
      method awid = pack(addresses.first.id);
      method awaddr = {addresses.first.line, addresses.first.slot, 3'b0};
      method awlen = 0;
      method awsize = addresses.first.compares ? 4 : 3;
      method awburst =
         addresses.first.compares && addresses.first.slot[0] == 1 && fault != WrapMissing
         ? wrap : incr;
      method awlock = 0;
      method awcache = noCopy;
      method awprot = unprivilegedData;
      method awqos = 0;
      method awatop = addresses.first.compares ? atomicCompare : 0;
      method awvalid = addresses.notEmpty;
      method Action takeAddress(Bool ready) = depart(addresses, ready);

      method wdata;
         Vector#(4, Bit#(128)) lanes = replicate({datas.first.high, datas.first.low});
         return pack(lanes);
      endmethod
      method wstrb;
         Vector#(8, Bit#(8)) strobes = replicate(0);
         for (Integer lane = 0; lane < 8; lane = lane + 1) begin
            Slot word = fromInteger(lane);
            let touched = datas.first.slot == word
               || datas.first.compares && datas.first.slot == (word ^ 1);
            strobes[lane] = touched ? 8'hff : 0;
         end
         return pack(strobes);
      endmethod
      method wlast = True;
      method wvalid = datas.notEmpty;
      method Action takeData(Bool ready) = depart(datas, ready);

      method Action putWritten(Bool valid, Bit#(11) id, Bit#(2) resp);
         if (valid)
            writeBeat.wset(tuple2(unpack(id), isError(resp) && fault != WriteErrorDropped));
      endmethod
      method bready = True;

      method arid = pack(reads.first.id);
      method araddr = {reads.first.line, 6'b0};
      method arlen = 0;
      method arsize = 6;
      method arburst = incr;
      method arlock = 0;
      method arcache = reads.first.keeps ? cacheAndTell : noCopy;
      method arprot = unprivilegedData;
      method arqos = 0;
      method arvalid = reads.notEmpty;
      method Action takeRead(Bool ready) = depart(reads, ready);

      method Action putRead(
            Bool valid, Bit#(11) id, Bit#(512) data, Bit#(2) resp, Bool last);
         readLine <= unpack(data);
         if (valid)
            readBeat.wset(tuple2(unpack(id), isError(resp) && fault != ReadErrorDropped));
      endmethod
      method rready = True;
   endinterface

   method writeReady = addresses.notFull && datas.notFull;
   method Action write(WriteAccess access);
      let w = access.write;
      let odd = w.slot[0] == 1;
      if (fault == HalvesSwapped) odd = False;
      addresses.enq(Address {
         id: AccessId { phase: w.phase, tag: access.tag },
         line: access.line, slot: w.slot, compares: w.compares });
      datas.enq(Data {
         slot: w.slot, compares: w.compares,
         low: odd ? w.swap : w.compare,
         high: odd ? w.compare : w.swap });
   endmethod

   method readReady = reads.notFull;
   method Action read(ReadAccess access) = reads.enq(access);

   method completed = done.notEmpty;
   method completion;
      let served = done.first;
      let phase = served.phase;
      let writes = isAtomic(phase) || phase == Withdraw || phase == Clear;
      let reads = phase != Withdraw && phase != Clear;
      return Completion {
         id: served,
         line: lines.read(served.tag),
         failed: reads && readErrors.read(served.tag)
            || writes && writeErrors.read(served.tag) };
   endmethod
   method next = done.deq;
endmodule
