// SPDX-License-Identifier: MIT OR Apache-2.0
// The registers of docs/lock-unit.md, "Registers", behind AXI4-Lite.
// One read and one write a clock; a write that is refused changes nothing.
import Vector :: *;
import LockRegisterMap :: *;
import LockTypes :: *;
import Memories :: *;
import Axi :: *;

// What happened in one cycle, each at most once. The last field is counter 0.
typedef struct {
   Bool copiesVoided; // 15
   Bool pollRead;
   Bool pollFromCopy;
   Bool lineRead; // 12
   Bool stored;
   Bool compareSwapped;
   Bool busError;
   Bool requesterError; // 8
   Bool cancelled;
   Bool handedOver;
   Bool released;
   Bool refused; // 4
   Bool queued;
   Bool grantedAgain;
   Bool granted;
   Bool request; // 0
} Events deriving (Bits);

interface LockRegisters;
   (* prefix="" *)
   interface RegisterPort port;
   method Bool accepting;
   method LineNumber tableBase;
   method Bit#(6) log2Buckets;
   method Bool interrupt;
   method Action count(Events events);
endinterface

typedef struct {
   Bit#(32) data;
   Bit#(4) strobe;
} RegisterWrite deriving (Bits);

typedef struct {
   Bit#(32) data;
   Bit#(2) resp;
} RegisterRead deriving (Bits);

Bit#(2) okay = 2'b00;
Bit#(2) slverr = 2'b10;
Bit#(2) decerr = 2'b11;

// `open`: requests open now.
// An address between words is of the word that it lies in.
function Bit#(12) wordOf(Bit#(12) address) = {address[11:2], 2'b0};

module mkLockRegisters#(Bit#(8) open)(LockRegisters);
   Queue#(Bit#(12)) writeAddresses <- mkQueue;
   Queue#(RegisterWrite) writeDatas <- mkQueue;
   Queue#(Bit#(2)) writeAnswers <- mkQueue;
   Queue#(Bit#(12)) readAddresses <- mkQueue;
   Queue#(RegisterRead) readAnswers <- mkQueue;

   Reg#(Bool) accept <- mkReg(False);
   Reg#(Bool) globalInterrupt <- mkReg(False);
   Reg#(Bool) interruptOnError <- mkReg(False);
   Reg#(Bool) errorHappened <- mkReg(False);
   Reg#(Bit#(58)) base <- mkReg(0);
   Reg#(Bit#(6)) log2 <- mkReg(0);
   Vector#(CounterCount, Reg#(Bit#(64))) counters <- replicateM(mkReg(0));

   Wire#(Events) happened <- mkDWire(unpack(0));
   PulseWire clearsError <- mkPulseWire;

   (* fire_when_enabled *)
   rule serveWrite (writeAddresses.notEmpty && writeDatas.notEmpty && writeAnswers.notFull);
      let data = writeDatas.first.data;
      Bit#(2) resp = okay;
      if (writeDatas.first.strobe != '1) resp = slverr;
      else case (wordOf(writeAddresses.first))
         controlOffset: accept <= data[0] == 1;
         gieOffset: globalInterrupt <= data[0] == 1;
         ierOffset: interruptOnError <= data[0] == 1;
         isrOffset: if (data[0] == 1) clearsError.send;
         tableBaseLowOffset: if (data[5:0] == 0) base <= {base[57:26], data[31:6]}; else resp = slverr;
         tableBaseHighOffset: base <= {data, base[25:0]};
         tableLog2BucketsOffset: if (data <= largestTableLog2Buckets) log2 <= truncate(data); else resp = slverr;
         default: resp = slverr;
      endcase
      writeAddresses.deq;
      writeDatas.deq;
      writeAnswers.enq(resp);
   endrule

   (* fire_when_enabled *)
   rule serveRead (readAddresses.notEmpty && readAnswers.notFull);
      let address = wordOf(readAddresses.first);
      let isCounter = address[11:7] == countersOffset[11:7];
      Bit#(64) counter = readVReg(counters)[address[6:3]];
      let answer = RegisterRead { data: 0, resp: okay };
      if (isCounter) answer.data = address[2] == 0 ? truncate(counter) : truncateLSB(counter);
      else case (address)
         controlOffset: answer.data = extend(pack(accept));
         gieOffset: answer.data = extend(pack(globalInterrupt));
         ierOffset: answer.data = extend(pack(interruptOnError));
         isrOffset: answer.data = extend(pack(errorHappened));
         returnOffset: answer.data = extend(open);
         tableBaseLowOffset: answer.data = {base[25:0], 6'b0};
         tableBaseHighOffset: answer.data = base[57:26];
         tableLog2BucketsOffset: answer.data = extend(log2);
         identityOffset: answer.data = identity;
         versionOffset: answer.data = version;
         capabilitiesOffset: answer.data = capabilities;
         default: answer.resp = decerr;
      endcase
      readAddresses.deq;
      readAnswers.enq(answer);
   endrule

   // After `serveWrite`: an error in the cycle of its clearing stays visible.
   (* fire_when_enabled, no_implicit_conditions *)
   rule record;
      errorHappened <= happened.busError || errorHappened && !clearsError;
      for (Integer n = 0; n < valueOf(CounterCount); n = n + 1)
         if (pack(happened)[n] == 1) counters[n] <= counters[n] + 1;
   endrule

   interface RegisterPort port;
      method Action putWriteAddress(Bool valid, Bit#(12) address, Bit#(3) protection) =
         arrive(writeAddresses, valid, address);
      method awready = writeAddresses.notFull;
      method Action putWriteData(Bool valid, Bit#(32) data, Bit#(4) strobe) =
         arrive(writeDatas, valid, RegisterWrite { data: data, strobe: strobe });
      method wready = writeDatas.notFull;
      method bvalid = writeAnswers.notEmpty;
      method bresp = writeAnswers.first;
      method Action takeWritten(Bool ready) = depart(writeAnswers, ready);
      method Action putReadAddress(Bool valid, Bit#(12) address, Bit#(3) protection) =
         arrive(readAddresses, valid, address);
      method arready = readAddresses.notFull;
      method rvalid = readAnswers.notEmpty;
      method rdata = readAnswers.first.data;
      method rresp = readAnswers.first.resp;
      method Action takeReadData(Bool ready) = depart(readAnswers, ready);
   endinterface

   method accepting = accept;
   method tableBase = base;
   method log2Buckets = log2;
   method interrupt = globalInterrupt && interruptOnError && errorHappened;
   method count = happened._write;
endmodule
