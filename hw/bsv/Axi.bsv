// SPDX-License-Identifier: MIT OR Apache-2.0
// The ports of the unit, flat and named as AMBA names them, and what ties them to
// queues. Every output is a function of registers alone: no path leads through the
// unit from an input port to an output port within a cycle. So valid never waits
// for ready, a payload stays until it is taken, and a simulator needs to evaluate
// the unit once a clock.
import LockTypes :: *;
import Memories :: *;

(* always_ready, always_enabled *)
interface StreamSink#(numeric type width);
   (* prefix="" *)
   method Action put((* port="tvalid" *) Bool valid, (* port="tdata" *) Bit#(width) data);
   (* result="tready" *)
   method Bool ready;
endinterface

(* always_ready, always_enabled *)
interface StreamSource#(numeric type width);
   (* result="tvalid" *)
   method Bool valid;
   (* result="tdata" *)
   method Bit#(width) data;
   (* prefix="" *)
   method Action take((* port="tready" *) Bool ready);
endinterface

// AXI4 with the atomics of AXI5; data 512, address 64, id 11.
(* always_ready, always_enabled *)
interface MemoryPort;
   (* result="awid" *) method Bit#(11) awid;
   (* result="awaddr" *) method Bit#(64) awaddr;
   (* result="awlen" *) method Bit#(8) awlen;
   (* result="awsize" *) method Bit#(3) awsize;
   (* result="awburst" *) method Bit#(2) awburst;
   (* result="awlock" *) method Bit#(1) awlock;
   (* result="awcache" *) method Bit#(4) awcache;
   (* result="awprot" *) method Bit#(3) awprot;
   (* result="awqos" *) method Bit#(4) awqos;
   (* result="awatop" *) method Bit#(6) awatop;
   (* result="awvalid" *) method Bool awvalid;
   (* prefix="" *) method Action takeAddress((* port="awready" *) Bool ready);

   (* result="wdata" *) method Bit#(512) wdata;
   (* result="wstrb" *) method Bit#(64) wstrb;
   (* result="wlast" *) method Bool wlast;
   (* result="wvalid" *) method Bool wvalid;
   (* prefix="" *) method Action takeData((* port="wready" *) Bool ready);

   (* prefix="" *)
   method Action putWritten(
      (* port="bvalid" *) Bool valid,
      (* port="bid" *) Bit#(11) id,
      (* port="bresp" *) Bit#(2) resp);
   (* result="bready" *) method Bool bready;

   (* result="arid" *) method Bit#(11) arid;
   (* result="araddr" *) method Bit#(64) araddr;
   (* result="arlen" *) method Bit#(8) arlen;
   (* result="arsize" *) method Bit#(3) arsize;
   (* result="arburst" *) method Bit#(2) arburst;
   (* result="arlock" *) method Bit#(1) arlock;
   (* result="arcache" *) method Bit#(4) arcache;
   (* result="arprot" *) method Bit#(3) arprot;
   (* result="arqos" *) method Bit#(4) arqos;
   (* result="arvalid" *) method Bool arvalid;
   (* prefix="" *) method Action takeRead((* port="arready" *) Bool ready);

   (* prefix="" *)
   method Action putRead(
      (* port="rvalid" *) Bool valid,
      (* port="rid" *) Bit#(11) id,
      (* port="rdata" *) Bit#(512) data,
      (* port="rresp" *) Bit#(2) resp,
      (* port="rlast" *) Bool last);
   (* result="rready" *) method Bool rready;
endinterface

// AXI4-Lite; data 32, address 12.
(* always_ready, always_enabled *)
interface RegisterPort;
   (* prefix="" *)
   method Action putWriteAddress(
      (* port="awvalid" *) Bool valid,
      (* port="awaddr" *) Bit#(12) address,
      (* port="awprot" *) Bit#(3) protection);
   (* result="awready" *) method Bool awready;
   (* prefix="" *)
   method Action putWriteData(
      (* port="wvalid" *) Bool valid,
      (* port="wdata" *) Bit#(32) data,
      (* port="wstrb" *) Bit#(4) strobe);
   (* result="wready" *) method Bool wready;
   (* result="bvalid" *) method Bool bvalid;
   (* result="bresp" *) method Bit#(2) bresp;
   (* prefix="" *) method Action takeWritten((* port="bready" *) Bool ready);
   (* prefix="" *)
   method Action putReadAddress(
      (* port="arvalid" *) Bool valid,
      (* port="araddr" *) Bit#(12) address,
      (* port="arprot" *) Bit#(3) protection);
   (* result="arready" *) method Bool arready;
   (* result="rvalid" *) method Bool rvalid;
   (* result="rdata" *) method Bit#(32) rdata;
   (* result="rresp" *) method Bit#(2) rresp;
   (* prefix="" *) method Action takeReadData((* port="rready" *) Bool ready);
endinterface

// An item arrives: into the queue if the queue was ready for it.
function Action arrive(Queue#(item) queue, Bool valid, item what) = action
   if (valid && queue.notFull) queue.enq(what);
endaction;

// The other side is ready: the item that was on offer is gone.
function Action depart(Queue#(item) queue, Bool ready) = action
   if (ready && queue.notEmpty) queue.deq;
endaction;

function StreamSource#(width) streamSource(Queue#(item) queue)
   provisos (Bits#(item, width)) =
   (interface StreamSource
      method valid = queue.notEmpty;
      method data = pack(queue.first);
      method Action take(Bool ready) = depart(queue, ready);
   endinterface);

function Bool isError(Bit#(2) resp) = resp[1] == 1; // SLVERR or DECERR
