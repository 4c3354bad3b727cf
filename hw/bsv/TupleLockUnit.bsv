// SPDX-License-Identifier: MIT OR Apache-2.0
// The tuple-locking unit of docs/lock-unit.md.
//
//   requests -> decode -> admit -+----------------> write, read -> memory
//                  |             |   copy, errors        ^           |
//                  |             +----------> responses  |           | answers
//                  |                              ^      |           v
//                  +- contexts, progress -------> advance <------- fetch
//                                                                      beats -> Waiters
//
// A request occupies the context with the number of its tag from admission to its
// last response. The phase of its outstanding access rides in the AXI id; what else
// it must remember is in `requests` (written at admission) and `progresses` (written
// when it advances). A context is in one place at a time: it has an access
// outstanding, or it is between fetch and advance, or it waits, so nobody reads an
// entry in the cycle of its writing.
//
// Order of the rules in a cycle: advance, watch, admit, issue. The first three only
// claim ports, the earlier before the later; issue does what was claimed.
import LockTypes :: *;
import LockBucket :: *;
import LockStep :: *;
import LockRegisters :: *;
import Memories :: *;
import MemoryMaster :: *;
import Waiters :: *;
import Axi :: *;
import Faults :: *;

interface TupleLockUnit;
   (* prefix="s_axis_req" *)
   interface StreamSink#(192) requestPort;
   (* prefix="m_axis_rsp" *)
   interface StreamSource#(64) responsePort;
   (* prefix="s_axis_inv" *)
   interface StreamSink#(64) beatPort;
   (* prefix="m_axi" *)
   interface MemoryPort memoryPort;
   (* prefix="s_axil" *)
   interface RegisterPort registerPort;
   (* result="intr_o", always_ready *)
   method Bool interrupt;
endinterface

// One beat of the request stream, as packed.
typedef struct {
   Bit#(25) reserved3;
   Tag target;
   Bit#(32) version;
   Bit#(64) vid;
   Timestamp transaction;
   Bit#(2) reserved2;
   Bit#(2) waitRule;
   Bit#(4) op;
   Bit#(1) reserved1;
   Tag tag;
} RequestBeat deriving (Bits);

typedef struct {
   Tag tag;
   Bool good; // known op and rule, and a timestamp
   Request request;
} Decoded deriving (Bits);

// A context with all that its next step depends on, but for the line.
typedef struct {
   Tag tag;
   Request request;
   Progress progress;
   Phase phase; // that was answered
   Bool failed;
} Fetched deriving (Bits);

function Response respond(Tag tag, Bool notice, Ending ending) = Response {
   timestamp: ending.timestamp,
   notice: notice,
   position: ending.position,
   code: ending.code,
   again: ending.again,
   tag: tag };

function Decoded decodeBeat(Fault fault, LineNumber base, Bit#(6) log2, RequestBeat beat);
   Op op = unpack(truncate(beat.op));
   Rule waitRule = unpack(beat.waitRule);
   let known = beat.op <= 3 && !(op == Acquire && beat.waitRule > 2);
   return Decoded {
      tag: beat.tag,
      good: known && beat.transaction != 0,
      request: Request {
         op: op,
         waitRule: waitRule,
         transaction: beat.transaction,
         line: lineOf(fault, base, log2, beat.vid, beat.version),
         slot: 0,
         shared: False,
         target: beat.target } };
endfunction

module mkTupleLockUnit#(Fault fault)(TupleLockUnit);
   Reg#(Bit#(8)) openRequests <- mkReg(0); // from the port to the last response
   LockRegisters registers <- mkLockRegisters(openRequests);
   MemoryMaster memory <- mkMemoryMaster(fault);
   Waiters waiters <- mkWaiters(fault);

   Queue#(Bit#(192)) beats <- mkQueue;
   Queue#(Decoded) decoded <- mkQueue;
   Queue#(Fetched) fetched <- mkQueue;
   Queue#(Line) fetchedLines <- mkQueue; // goes with `fetched`
   Queue#(Response) responses <- mkQueue;

   // One memory for each rule that reads, written together at admission: by fetch, by
   // admit for the target of a cancel or poll, by watch ...
   LutRam#(Tag, Request) requestsToFetch <- mkLutRam;
   LutRam#(Tag, Request) requestsToAim <- mkLutRam;
   LutRam#(Tag, LineNumber) linesToWatch <- mkLutRam;
   // ... and written together when a context advances.
   LutRam#(Tag, Progress) progressesToFetch <- mkLutRam;
   LutRam#(Tag, Tuple2#(Slot, Bool)) placesToAim <- mkLutRam;

   Reg#(TagSet) busy <- mkReg(0); // open requests
   Reg#(TagSet) begun <- mkReg(0); // those that have a progress

   RWire#(WriteAccess) stepWrite <- mkRWire;
   RWire#(WriteAccess) admitWrite <- mkRWire;
   RWire#(ReadAccess) stepRead <- mkRWire;
   RWire#(ReadAccess) watchRead <- mkRWire;
   RWire#(ReadAccess) admitRead <- mkRWire;
   RWire#(Response) stepResponse <- mkRWire;
   RWire#(Response) admitResponse <- mkRWire;
   RWire#(Tag) opens <- mkRWire;
   RWire#(Tag) advances <- mkRWire;
   RWire#(Tag) ends <- mkRWire;
   RWire#(Tag) endsTarget <- mkRWire;
   PulseWire arrives <- mkPulseWire;
   PulseWire handled <- mkPulseWire;
   PulseWire answeredAtOnce <- mkPulseWire;
   PulseWire pollFromCopy <- mkPulseWire;
   PulseWire pollRead <- mkPulseWire;
   PulseWire answersPoll <- mkPulseWireOR; // sent by advance or by admit

   (* fire_when_enabled *)
   rule decode (beats.notEmpty && decoded.notFull);
      beats.deq;
      decoded.enq(decodeBeat(
         fault, registers.tableBase, registers.log2Buckets, unpack(beats.first)));
   endrule

   (* fire_when_enabled *)
   rule fetch (memory.completed && fetched.notFull);
      let done = memory.completion;
      let tag = done.id.tag;
      memory.next;
      fetched.enq(Fetched {
         tag: tag,
         request: requestsToFetch.read(tag),
         progress: has(begun, tag) ? progressesToFetch.read(tag) : noProgress,
         phase: done.id.phase,
         failed: done.failed });
      fetchedLines.enq(done.line);
   endrule

   // ------------------------------------------------------------------ advance

   let now = fetched.first;
   let step = nextStep(fault, now.request, now.progress, Answer {
      phase: now.phase, line: fetchedLines.first, failed: now.failed });
   let hasRoom = case (step.deed) matches
      tagged IssueWrite .*: memory.writeReady;
      tagged IssueRead .*: memory.readReady;
      tagged Stay .*: True;
      default: responses.notFull;
   endcase;

   // Before `watch` and `admit`, which take what it leaves of the ports: a context
   // that has begun is finished first, so that the number of open ones stays bounded.
   (* fire_when_enabled *)
   rule advance (fetched.notEmpty && hasRoom);
      let request = now.request;
      fetched.deq;
      fetchedLines.deq;
      progressesToFetch.write(now.tag, step.progress);
      placesToAim.write(now.tag, tuple2(step.progress.slot, step.progress.shared));
      advances.wset(now.tag);
      let woken = now.phase == Watch;
      let stays = False;
      let enters = tagged Invalid;
      case (step.deed) matches
         tagged IssueWrite .write: stepWrite.wset(
            WriteAccess { tag: now.tag, line: request.line, write: write });
         tagged IssueRead .next: stepRead.wset(ReadAccess {
            id: AccessId { phase: next, tag: now.tag }, line: request.line, keeps: False });
         tagged Stay .head: begin
            stays = True;
            waiters.keep(now.tag, head);
            // It had begun to leave: it waits again.
            if (!woken) enters = tagged Valid now.tag;
         end
         tagged Enter .head: begin
            enters = tagged Valid now.tag;
            waiters.keep(now.tag, head);
            stepResponse.wset(respond(now.tag, False, Ending {
               code: Queued,
               again: False,
               position: positionOf(fault, head, step.progress.slot),
               timestamp: request.transaction }));
         end
         tagged Finish .ending: begin
            let notice = request.op == Acquire
               && (woken || now.phase == Clear || now.phase == Leave);
            stepResponse.wset(respond(now.tag, notice, ending));
            ends.wset(now.tag);
            if (request.op == Poll) answersPoll.send;
            if (request.op == Cancel) begin
               // Its target ends with it; but after a bus error it is left to find
               // out by itself what became of it.
               if (ending.code == BusError) enters = tagged Valid request.target;
               else if (fault != TargetKeptBusy) endsTarget.wset(request.target);
            end
         end
      endcase
      if (enters matches tagged Valid .tag) waiters.enter(tag);
      if (woken && stays) waiters.stay(now.tag);
      if (woken && !stays) waiters.depart(now.tag);
   endrule

   // -------------------------------------------------------------------- watch

   let asked = decoded.first;
   let aim = asked.request.target;
   let cancels = decoded.notEmpty && asked.good && asked.request.op == Cancel;

   // Not for the target of a cancel that stands before admission: the cancel would
   // have to wait for the read, again and again if beats keep coming.
   (* fire_when_enabled *)
   rule watch (waiters.reader matches tagged Valid .tag
         &&& memory.readReady && !isValid(stepRead.wget) && !(cancels && aim == tag));
      let line = linesToWatch.read(tag);
      watchRead.wset(ReadAccess {
         id: AccessId { phase: Watch, tag: tag }, line: line, keeps: True });
      waiters.reread(tag, line);
   endrule

   // -------------------------------------------------------------------- admit

   let open = has(busy, asked.tag) && fault != TagBusyMissed;
   let aimed = requestsToAim.read(aim);
   match {.aimedSlot, .aimedShared} = placesToAim.read(aim);
   let aims = asked.request.op == Cancel || asked.request.op == Poll;
   let waits = waiters.waits(aim) && aimed.transaction == asked.request.transaction;
   let fromCopy = asked.request.op == Poll && waiters.copied(aim);
   let toWrite = !aims;
   let accepted = !open && asked.good && (!aims || waits);
   let mayAdmit =
      !accepted || aims && fromCopy ? !isValid(stepResponse.wget) && responses.notFull
      : toWrite ? !isValid(stepWrite.wget) && memory.writeReady
      : !isValid(stepRead.wget) && !isValid(watchRead.wget) && memory.readReady
         // The target's tag is free as soon as the cancel has ended: no read of it
         // may be on its way.
         && !(asked.request.op == Cancel && waiters.reading(aim));

   (* fire_when_enabled *)
   rule admit (decoded.notEmpty && mayAdmit);
      let request = asked.request;
      if (aims) begin
         request.line = aimed.line;
         request.slot = aimedSlot;
         request.shared = aimedShared;
      end
      decoded.deq;
      handled.send;
      if (!accepted) begin
         answeredAtOnce.send;
         admitResponse.wset(respond(asked.tag, False, Ending {
            code: open ? TagBusy : !asked.good ? BadRequest : NotWaiting,
            again: False,
            position: 0,
            timestamp: request.transaction }));
      end
      else if (aims && fromCopy) begin
         pollFromCopy.send;
         answeredAtOnce.send;
         answersPoll.send;
         admitResponse.wset(respond(asked.tag, False, pollEnding(
            fault, waiters.copy(aim), request.transaction, request.slot)));
      end
      else begin
         opens.wset(asked.tag);
         requestsToFetch.write(asked.tag, request);
         requestsToAim.write(asked.tag, request);
         linesToWatch.write(asked.tag, request.line);
         if (toWrite)
            admitWrite.wset(WriteAccess {
               tag: asked.tag,
               line: request.line,
               write: firstWrite(request.op, request.transaction) });
         else
            admitRead.wset(ReadAccess {
               id: AccessId { phase: Inspect, tag: asked.tag },
               line: request.line, keeps: False });
         if (request.op == Cancel) waiters.take(aim);
         if (request.op == Poll) pollRead.send;
      end
   endrule

   // -------------------------------------------------------------------- issue

   let writes = isValid(stepWrite.wget) ? stepWrite.wget : admitWrite.wget;
   let reads = isValid(stepRead.wget) ? stepRead.wget
      : isValid(watchRead.wget) ? watchRead.wget : admitRead.wget;
   let answers = isValid(stepResponse.wget) ? stepResponse.wget : admitResponse.wget;

   // After `advance`, `watch` and `admit`: of each kind at most one is there.
   (* fire_when_enabled, no_implicit_conditions *)
   rule issue;
      if (writes matches tagged Valid .write) memory.write(write);
      if (reads matches tagged Valid .read) memory.read(read);
      if (answers matches tagged Valid .response) responses.enq(response);

      let opened = only(opens.wget);
      let ended = only(ends.wget) | only(endsTarget.wget);
      busy <= (busy | opened) & ~ended;
      begun <= (begun | only(advances.wget)) & ~ended;
      function Bit#(8) one(Bool happens) = happens ? 1 : 0;
      openRequests <= openRequests + one(arrives) - one(answeredAtOnce)
         - one(isValid(ends.wget)) - one(isValid(endsTarget.wget));
   endrule

   (* fire_when_enabled, no_implicit_conditions *)
   rule countEvents;
      let response = fromMaybe(unpack(0), answers);
      let code = response.code;
      let answered = isValid(answers);
      let told = answered && !answersPoll;
      let wrote = isValid(writes);
      let compares = fromMaybe(unpack(0), writes).write.compares;
      registers.count(Events {
         copiesVoided: waiters.voids,
         pollRead: pollRead,
         pollFromCopy: pollFromCopy,
         lineRead: isValid(reads),
         stored: wrote && !compares,
         compareSwapped: wrote && compares,
         busError: answered && code == BusError,
         requesterError: answered
            && (code == NotHeld || code == TagBusy || code == NotWaiting || code == BadRequest),
         cancelled: told && code == Cancelled,
         handedOver: told && code == Released && response.timestamp != 0,
         released: told && code == Released,
         refused: told && (code == RefusedFull || code == RefusedBusy
            || code == RefusedDie || code == RefusedContended),
         queued: told && code == Queued,
         grantedAgain: told && code == Granted && response.again,
         granted: told && code == Granted,
         request: handled });
   endrule

   interface StreamSink requestPort;
      method Action put(Bool valid, Bit#(192) data);
         if (valid && registers.accepting && beats.notFull) begin
            beats.enq(data);
            arrives.send;
         end
      endmethod
      method ready = registers.accepting && beats.notFull;
   endinterface
   interface responsePort = streamSource(responses);
   interface StreamSink beatPort;
      method Action put(Bool valid, Bit#(64) data);
         if (valid) waiters.beat(truncateLSB(data));
      endmethod
      method ready = True;
   endinterface
   interface memoryPort = memory.port;
   interface registerPort = registers.port;
   method interrupt = registers.interrupt;
endmodule

(* synthesize, default_clock_osc="clk_i", default_reset="rst_ni" *)
module tuple_lock_unit(TupleLockUnit);
   let unit <- mkTupleLockUnit(NoFault);
   return unit;
endmodule

// The same with one of the mutants chosen, constant during a run.
(* synthesize, default_clock_osc="clk_i", default_reset="rst_ni" *)
module tuple_lock_unit_sabotaged((* port="fault_i" *) Bit#(5) number, TupleLockUnit ifc);
   let unit <- mkTupleLockUnit(unpack(number));
   return unit;
endmodule
