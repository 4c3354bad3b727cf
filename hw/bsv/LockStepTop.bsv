// SPDX-License-Identifier: MIT OR Apache-2.0
// The step of a request as a module of its own, without the stages of the unit between its
// parts, for hw/formal/blocks/lock_step_formal.sv. No other block uses it. What it is made
// of are the functions that the unit's stages compute.
import LockTypes :: *;
import LockBucket :: *;
import LockStep :: *;
import Faults :: *;

// A step with its parts side by side; of the first five exactly one is set.
typedef struct {
   Bool writes;
   Bool reads;
   Bool finishes;
   Bool enters;
   Bool stays;
   Write write;
   Phase read;
   Ending ending; // when it finishes or enters
   Progress progress;
} Outcome deriving (Bits);

interface LockStepTop;
   (* result="first_o", prefix="" *)
   method Write first((* port="op_i" *) Op op, (* port="transaction_i" *) Timestamp transaction);
   (* result="outcome_o", prefix="" *)
   method Outcome next(
      (* port="request_i" *) Request request,
      (* port="progress_i" *) Progress progress,
      (* port="answer_i" *) Answer answer,
      (* port="line_i" *) Bit#(512) line);
endinterface

(* synthesize, no_default_clock, no_default_reset, always_ready *)
module lock_step((* port="fault_i" *) Fault fault, LockStepTop ifc);
   method first = firstWrite;
   method Outcome next(Request request, Progress progress, Answer answer, Bit#(512) line);
      let words = compareWords(fault, unpack(line), request.transaction, progress.head);
      let findings = findIn(
         fault, words, passesOn(answer.phase), request.waitRule, placeOf(request, progress),
         progress);
      let step = nextStep(fault, request, progress, answer, findings);
      let outcome = Outcome {
         writes: False, reads: False, finishes: False, enters: False, stays: False,
         write: unpack(0),
         read: unpack(0),
         ending: unpack(0),
         progress: step.progress };
      case (step.deed) matches
         tagged IssueWrite .write: begin
            outcome.writes = True;
            outcome.write = writeOf(write, request, step.progress, findings.changed);
         end
         tagged IssueRead .phase: begin
            outcome.reads = True;
            outcome.read = phase;
         end
         tagged Finish .ending: begin
            outcome.finishes = True;
            outcome.ending = ending;
         end
         tagged Enter .position: begin
            outcome.enters = True;
            outcome.ending = Ending { code: Queued, again: False, position: position };
         end
         tagged Stay: outcome.stays = True;
      endcase
      return outcome;
   endmethod
endmodule
