// SPDX-License-Identifier: MIT OR Apache-2.0
// Storage that is written as one block: a small memory, and three kinds of queue.
// Everything here but a stage is conflict-free: all methods see the state at the start of
// the cycle, so that any rules may use both ends of a queue in one cycle. The price is
// that enq needs notFull and deq needs notEmpty; the caller checks, nothing guards.

// hw/rtl/common/lut_ram.sv. A read in the cycle of a write returns the old word.
interface LutRam#(type address, type word);
   method word read(address where);
   method Action write(address where, word what);
endinterface

import "BVI" lut_ram =
module mkLutRam(LutRam#(address, word))
   provisos (Bits#(address, addressWidth), Bits#(word, wordWidth));
   parameter AddressWidth = valueOf(addressWidth);
   parameter DataWidth = valueOf(wordWidth);
   default_clock clock (clk_i, (* unused *) gate);
   no_reset;
   method read_data_o read(read_address_i);
   method write(write_address_i, write_data_i) enable (write_enable_i);
   // Conflict-free although the order shows: whoever reads a word in the cycle of
   // its writing must be content with the old one.
   schedule read CF (read, write);
   schedule write C write;
endmodule

interface Queue#(type item);
   method Bool notEmpty;
   method Bool notFull;
   method item first;
   method Action enq(item what);
   method Action deq;
endinterface

// Two places, enough for one item a clock although notFull is a register.
module mkQueue(Queue#(item)) provisos (Bits#(item, itemWidth));
   Reg#(Bool) headFull <- mkReg(False);
   Reg#(Bool) tailFull <- mkReg(False);
   Reg#(item) head <- mkRegU;
   Reg#(item) tail <- mkRegU;
   RWire#(item) coming <- mkRWire;
   PulseWire going <- mkPulseWire;

   // After enq and deq, which only set the wires.
   (* fire_when_enabled, no_implicit_conditions *)
   rule update;
      let arrives = isValid(coming.wget);
      let what = fromMaybe(?, coming.wget);
      let stays = headFull && !going;
      headFull <= (stays || tailFull) || arrives;
      tailFull <= stays && (tailFull || arrives);
      if (!stays) head <= tailFull ? tail : what;
      if (arrives) tail <= what;
   endrule

   method notEmpty = headFull;
   method notFull = !tailFull;
   method first = head;
   method Action enq(item what) = coming.wset(what);
   method deq = going.send;
endmodule

// One place, that can be filled in the cycle in which it is emptied: notFull sees deq.
// For stages in a row, which so move together and need no second place.
module mkStage(Queue#(item)) provisos (Bits#(item, itemWidth));
   Reg#(Bool) full <- mkReg(False);
   Reg#(item) held <- mkRegU;
   RWire#(item) coming <- mkRWire;
   PulseWire going <- mkPulseWire;

   (* fire_when_enabled, no_implicit_conditions *)
   rule update;
      full <= isValid(coming.wget) || full && !going;
      if (coming.wget matches tagged Valid .what) held <= what;
   endrule

   method notEmpty = full;
   method notFull = !full || going;
   method first = held;
   method Action enq(item what) = coming.wset(what);
   method deq = going.send;
endmodule

// 128 places in a memory. For queues that hold every context at most once: such a
// queue is never full, and notFull says so.
module mkContextQueue(Queue#(item)) provisos (Bits#(item, itemWidth));
   LutRam#(Bit#(7), item) items <- mkLutRam;
   Reg#(Bit#(8)) written <- mkReg(0);
   Reg#(Bit#(8)) taken <- mkReg(0);

   method notEmpty = written != taken;
   method notFull = True;
   method first = items.read(truncate(taken));
   method Action enq(item what);
      items.write(truncate(written), what);
      written <= written + 1;
   endmethod
   method Action deq;
      taken <= taken + 1;
   endmethod
endmodule
