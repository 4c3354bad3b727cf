// SPDX-License-Identifier: MIT OR Apache-2.0
// The tuple-locking unit of docs/lock-unit.md.
//
//   requests -> decode -> stand -> look, admit -+--------> write, read -> memory
//                                        |      |  copy, errors   ^          |
//                                        |      +---> responses   |          | answers
//                                        |                 ^      |          |
//                                        |                 advance           |
//                                        |                    ^              v
//                                        +- contexts -> decide <- examine <- compare <- fetch
//                                                                     beats -> Waiters
//
// A request occupies the context with the number of its tag from admission to its
// last response. The phase of its outstanding access rides in the AXI id; what else
// it must remember is in `requests` (written at admission) and `progresses` (written
// when it advances). A context is in one place at a time: it has an access
// outstanding, or it is between fetch and advance, or it waits, so nobody reads an
// entry in the cycle of its writing.
//
// An answer takes a cycle in each of serve (whose turn it is, in MemoryMaster), fetch
// (which request it is of), compare (the words of the line, one by one), examine (what
// they say together), decide (the step) and advance.
//
// Order of the rules in a cycle: advance, watch, admit, issue. The first three only
// claim ports, the earlier before the later; issue does what was claimed. Decide,
// examine, compare and fetch follow in this order, each into the place that is left.
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

typedef struct {
   Fetched fetched;
   Words words;
} Compared deriving (Bits);

typedef struct {
   Fetched fetched;
   Findings findings;
} Examined deriving (Bits);

typedef struct {
   Tag tag;
   Request request;
   Phase phase; // that was answered
   Step step;
   Head changed;
} Decided deriving (Bits);

// A request before admission.
typedef struct {
   Decoded asked;
   Bool open; // another with its tag is
} Standing deriving (Bits);

// What the target of a cancel or poll was a cycle ago, and whether it goes on to wait.
typedef struct {
   Bool waits; // for the transaction of the cancel or poll
   Bool reading; // its line
   Bool offered; // perhaps, as the next whose line is read
   LineNumber line;
   Slot slot;
   Bool shared;
   Bool copied; // and of the copy:
   Bool holds;
   Bool registered;
   Bit#(7) queued; // from the start of the ring, and how far from it is the slot
   Bit#(3) steps;
} Target deriving (Bits);

// What is counted, in the cycle after.
typedef struct {
   Bool answered;
   Code code;
   Bool again;
   Bool handedOver;
   Bool ofPoll;
   Bool wrote;
   Bool compared;
   Bool lineRead;
   Bool handled;
   Bool pollRead;
   Bool pollFromCopy;
   Bool copiesVoided;
} Happened deriving (Bits);

function Events eventsOf(Happened it);
   let told = it.answered && !it.ofPoll;
   let code = it.code;
   return Events {
      copiesVoided: it.copiesVoided,
      pollRead: it.pollRead,
      pollFromCopy: it.pollFromCopy,
      lineRead: it.lineRead,
      stored: it.wrote && !it.compared,
      compareSwapped: it.wrote && it.compared,
      busError: it.answered && code == BusError,
      requesterError: it.answered
         && (code == NotHeld || code == TagBusy || code == NotWaiting || code == BadRequest),
      cancelled: told && code == Cancelled,
      handedOver: told && code == Released && it.handedOver,
      released: told && code == Released,
      refused: told && (code == RefusedFull || code == RefusedBusy
         || code == RefusedDie || code == RefusedContended),
      queued: told && code == Queued,
      grantedAgain: told && code == Granted && it.again,
      granted: told && code == Granted,
      request: it.handled };
endfunction

function Response respond(Tag tag, Bool notice, Timestamp timestamp, Ending ending) = Response {
   timestamp: timestamp,
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
   Queue#(Standing) standing <- mkStage;
   Queue#(Fetched) fetched <- mkQueue;
   Queue#(Line) fetchedLines <- mkQueue; // goes with `fetched`
   Queue#(Compared) compared <- mkStage;
   Queue#(Examined) examined <- mkStage;
   Queue#(Decided) decided <- mkStage;
   Queue#(Response) responses <- mkQueue;

   // One memory for each rule that reads, written together at admission: by fetch, and by
   // look for the target of a cancel or poll ...
   LutRam#(Tag, Request) requestsToFetch <- mkLutRam;
   LutRam#(Tag, Tuple2#(Timestamp, LineNumber)) requestsToAim <- mkLutRam;
   // ... and written together when a context advances.
   LutRam#(Tag, Progress) progressesToFetch <- mkLutRam;
   LutRam#(Tag, Tuple2#(Slot, Bool)) placesToAim <- mkLutRam;

   Reg#(TagSet) busy <- mkReg(0); // open requests
   Reg#(TagSet) begun <- mkReg(0); // those that have a progress

   // Of the request before admission, if it has been there for a cycle.
   Reg#(Bool) looked <- mkReg(False);
   Reg#(Target) target <- mkRegU;

   Reg#(Happened) happened <- mkReg(unpack(0));

   RWire#(WriteAccess) stepWrite <- mkRWire;
   RWire#(WriteAccess) admitWrite <- mkRWire;
   RWire#(ReadAccess) stepRead <- mkRWire;
   RWire#(ReadAccess) watchRead <- mkRWire;
   RWire#(ReadAccess) admitRead <- mkRWire;
   RWire#(Response) stepResponse <- mkRWire;
   RWire#(Response) admitResponse <- mkRWire;
   RWire#(Tag) opens <- mkRWire;
   RWire#(Tag) advances <- mkRWire;
   RWire#(Tag) departs <- mkRWire;
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

   (* fire_when_enabled *)
   rule compare (fetched.notEmpty && compared.notFull);
      let it = fetched.first;
      fetched.deq;
      fetchedLines.deq;
      compared.enq(Compared {
         fetched: it,
         words: compareWords(
            fault, fetchedLines.first, it.request.transaction, it.progress.head) });
   endrule

   (* fire_when_enabled *)
   rule examine (compared.notEmpty && examined.notFull);
      let it = compared.first.fetched;
      compared.deq;
      examined.enq(Examined {
         fetched: it,
         findings: findIn(
            fault, compared.first.words, passesOn(it.phase), it.request.waitRule,
            placeOf(it.request, it.progress), it.progress) });
   endrule

   (* fire_when_enabled *)
   rule decide (examined.notEmpty && decided.notFull);
      let it = examined.first.fetched;
      examined.deq;
      decided.enq(Decided {
         tag: it.tag,
         request: it.request,
         phase: it.phase,
         step: nextStep(
            fault, it.request, it.progress,
            Answer { phase: it.phase, failed: it.failed },
            examined.first.findings),
         changed: examined.first.findings.changed });
   endrule

   // ------------------------------------------------------------------ advance

   let now = decided.first;
   let step = now.step;
   // What it claims: of each port at most one of advance, watch and admit has it. They are
   // told apart by what they would do, not by whether they can: nobody else can either.
   let stepWrites = decided.notEmpty
      && (case (step.deed) matches tagged IssueWrite .*: True; default: False; endcase);
   let stepReads = decided.notEmpty
      && (case (step.deed) matches tagged IssueRead .*: True; default: False; endcase);
   let stepAnswers = decided.notEmpty
      && (case (step.deed) matches
         tagged Enter .*: True;
         tagged Finish .*: True;
         default: False;
      endcase);
   let hasRoom = !(stepWrites && !memory.writeReady) && !(stepReads && !memory.readReady)
      && !(stepAnswers && !responses.notFull);

   // Before `watch` and `admit`, which take what it leaves of the ports: a context
   // that has begun is finished first, so that the number of open ones stays bounded.
   (* fire_when_enabled *)
   rule advance (decided.notEmpty && hasRoom);
      let request = now.request;
      decided.deq;
      progressesToFetch.write(now.tag, step.progress);
      placesToAim.write(now.tag, tuple2(step.progress.slot, step.progress.shared));
      advances.wset(now.tag);
      let woken = now.phase == Watch;
      let stays = step.deed == Stay;
      let enters = False;
      case (step.deed) matches
         tagged IssueWrite .next: stepWrite.wset(WriteAccess {
            tag: now.tag, line: request.line,
            write: writeOf(next, request, step.progress, now.changed) });
         tagged IssueRead .next: stepRead.wset(ReadAccess {
            id: AccessId { phase: next, tag: now.tag }, line: request.line, keeps: False });
         tagged Stay: enters = !woken; // it had begun to leave, and waits again
         tagged Enter .position: begin
            enters = True;
            stepResponse.wset(respond(now.tag, False, request.transaction, Ending {
               code: Queued, again: False, position: position }));
         end
         tagged Finish .ending: begin
            let notice = request.op == Acquire
               && (woken || now.phase == Clear || now.phase == Leave);
            let about = ending.code == Released ? step.progress.heir : request.transaction;
            stepResponse.wset(respond(now.tag, notice, about, ending));
            ends.wset(now.tag);
            if (request.op == Poll) answersPoll.send;
            // The target of a cancel ends with it; but after a bus error it is left to
            // find out by itself what became of it.
            enters = request.op == Cancel && ending.code == BusError;
            if (request.op == Cancel && ending.code != BusError && fault != TargetKeptBusy)
               endsTarget.wset(request.target);
         end
      endcase
      if (enters) waiters.enter(request.op == Cancel ? request.target : now.tag);
      if (enters || stays) waiters.keep(now.tag, step.progress.head);
      if (woken && stays) waiters.stay(now.tag);
      if (woken && !stays) begin
         waiters.depart(now.tag);
         departs.wset(now.tag);
      end
   endrule

   // -------------------------------------------------------------------- watch

   let asked = standing.first.asked;
   let aim = asked.request.target;
   let cancels = standing.notEmpty && asked.good && asked.request.op == Cancel;

   // Not for the target of a cancel that has looked at it before admission: the cancel
   // would have to wait for the read, again and again if beats keep coming.
   let watchReads = isValid(waiters.reader) && !(cancels && looked && target.offered);

   (* fire_when_enabled *)
   rule watch (watchReads && memory.readReady && !stepReads);
      match {.tag, .line} = validValue(waiters.reader);
      watchRead.wset(ReadAccess {
         id: AccessId { phase: Watch, tag: tag }, line: line, keeps: True });
      waiters.reread;
   endrule

   // -------------------------------------------------------------------- admit

   // A cycle before a cancel or poll is admitted, since to find its target takes one.
   (* fire_when_enabled, no_implicit_conditions *)
   rule look;
      match {.transaction, .line} = requestsToAim.read(aim);
      match {.slot, .shared} = placesToAim.read(aim);
      let copy = waiters.copy(aim);
      let start = ringStart(copy);
      target <= Target {
         waits: waiters.waits(aim) && transaction == asked.request.transaction
            && departs.wget != tagged Valid aim,
         reading: waiters.reading(aim) || waiters.begins(aim),
         offered: waiters.mayRead(aim),
         line: line,
         slot: slot,
         shared: shared,
         copied: waiters.copied(aim),
         holds: copy.holder == asked.request.transaction,
         registered: isRegistered(copy, slot),
         queued: fromStart(copy.waiting, start),
         steps: distance(slot, start) };
   endrule

   let open = standing.first.open;
   let aims = asked.request.op == Cancel || asked.request.op == Poll;
   // Who waits keeps its place, and its line is not read while a cancel stands here.
   let waits = target.waits;
   let fromCopy = asked.request.op == Poll && target.copied;
   let toWrite = !aims;
   let accepted = !open && asked.good && (!aims || waits);
   let readFree = !stepReads && !watchReads && memory.readReady;
   // The target's tag is free as soon as a cancel has ended: no read of it may be on its
   // way. By itself, since the path is long.
   let takes = cancels && looked && !open && waits && readFree && !target.reading;
   (* fire_when_enabled *)
   rule take (takes);
      waiters.take(aim);
   endrule

   let mayAdmit = aims && !looked ? False
      : !accepted || aims && fromCopy ? !stepAnswers && responses.notFull
      : toWrite ? !stepWrites && memory.writeReady
      : readFree && !(asked.request.op == Cancel && target.reading);

   (* fire_when_enabled *)
   rule admit (standing.notEmpty && mayAdmit);
      let request = asked.request;
      if (aims) begin
         request.line = target.line;
         request.slot = target.slot;
         request.shared = target.shared;
      end
      standing.deq;
      handled.send;
      if (!accepted) begin
         answeredAtOnce.send;
         admitResponse.wset(respond(asked.tag, False, request.transaction, Ending {
            code: open ? TagBusy : !asked.good ? BadRequest : NotWaiting,
            again: False,
            position: 0 }));
      end
      else if (aims && fromCopy) begin
         pollFromCopy.send;
         answeredAtOnce.send;
         answersPoll.send;
         admitResponse.wset(respond(asked.tag, False, request.transaction, pollEnding(
            target.holds, target.registered,
            positionIn(fault, target.queued, upTo(target.steps)))));
      end
      else begin
         opens.wset(asked.tag);
         requestsToFetch.write(asked.tag, request);
         requestsToAim.write(asked.tag, tuple2(request.transaction, request.line));
         waiters.standAt(asked.tag, request.line);
         if (toWrite)
            admitWrite.wset(WriteAccess {
               tag: asked.tag,
               line: request.line,
               write: firstWrite(request.op, request.transaction) });
         else
            admitRead.wset(ReadAccess {
               id: AccessId { phase: Inspect, tag: asked.tag },
               line: request.line, keeps: False });
         if (request.op == Poll) pollRead.send;
      end
   endrule

   // After `admit`, into the place that it leaves.
   (* fire_when_enabled *)
   rule stand (decoded.notEmpty && standing.notFull);
      let tag = decoded.first.tag;
      let isOpen = has(busy, tag) || opens.wget == tagged Valid tag;
      decoded.deq;
      standing.enq(Standing {
         asked: decoded.first,
         open: isOpen && fault != TagBusyMissed });
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
      looked <= standing.notEmpty && !handled;
      function Bit#(8) one(Bool happens) = happens ? 1 : 0;
      openRequests <= openRequests + one(arrives) - one(answeredAtOnce)
         - one(isValid(ends.wget)) - one(isValid(endsTarget.wget));
   endrule

   (* fire_when_enabled, no_implicit_conditions *)
   rule countEvents;
      let response = fromMaybe(unpack(0), answers);
      happened <= Happened {
         answered: isValid(answers),
         code: response.code,
         again: response.again,
         handedOver: response.timestamp != 0,
         ofPoll: answersPoll,
         wrote: isValid(writes),
         compared: fromMaybe(unpack(0), writes).write.compares,
         lineRead: isValid(reads),
         handled: handled,
         pollRead: pollRead,
         pollFromCopy: pollFromCopy,
         copiesVoided: waiters.voids };
      registers.count(eventsOf(happened));
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
