// SPDX-License-Identifier: MIT OR Apache-2.0
// What a request does next: docs/lock-protocol.md, "Steps of each request", as a
// pure function from (request, progress, answer, findings in the line) to a step. No
// registers, no time.
// `locks::machine` is the same in software; both must take the same step.
import Vector :: *;
import LockTypes :: *;
import LockBucket :: *;
import Faults :: *;

// The access of an acquire or release that needs no look at the line before.
function Write firstWrite(Op op, Timestamp transaction) = op == Release
   ? Write { phase: Free, slot: 0, compares: True, compare: mark(transaction), swap: 0 }
   : Write { phase: Take, slot: 0, compares: True, compare: 0, swap: mark(transaction) };

// Whether an answer in this phase lets the holder pass the lock on, else a waiter leave.
function Bool passesOn(Phase phase) = phase == Free || phase == Survey;

// Of a cancel or a poll, the place is another's.
function Slot placeOf(Request request, Progress progress) =
   request.op == Acquire ? progress.slot : request.slot;

function Step nextStep(
      Fault fault, Request request, Progress progress, Answer answer, Findings line);
   let x = request.transaction;
   let own = request.op == Acquire;
   let slot = placeOf(request, progress);
   let shared = own ? progress.shared : request.shared;
   let head = line.head;
   let reenters = line.holds && fault != ReentryMissed;
   let counted = progress;
   counted.rounds = progress.rounds + 1;

   function Step read(Progress then, Phase phase) =
      Step { deed: tagged IssueRead phase, progress: then };

   function Step write(Progress then, Phase phase, Slot where, Change change) = Step {
      deed: tagged IssueWrite NextWrite { phase: phase, slot: where, change: change },
      progress: then };

   function Step erase(Progress then, Phase phase) = write(then, phase, slot, Nothing);

   function Step swapHead(Progress then, Phase phase, Head from, Change change);
      then.head = from;
      return write(then, phase, 0, change);
   endfunction

   function Step finishWith(Ending ending) =
      Step { deed: tagged Finish ending, progress: progress };

   function Step finish(Code code) = finishWith(
      Ending { code: code, again: False, position: 0 });

   function Step grantAgain() = finishWith(
      Ending { code: Granted, again: True, position: 0 });

   function Step notHeld() = finish(fault == NotHeldReleased ? Released : NotHeld);

   // The slot is given back, and then the end, or another look.
   function Step withdraw(Progress then, Maybe#(Code) ending);
      then.ending = ending;
      if (fault == WithdrawSkipped)
         return isValid(ending) ? finish(validValue(ending)) : read(then, Look);
      else
         return erase(then, Withdraw);
   endfunction

   // The head does not name the slot any more: its owner clears it.
   function Step clear(Code code);
      let then = progress;
      then.ending = tagged Valid code;
      let skips = shared && fault != SharedClears || code == Granted && fault == SlotNotCleared;
      return skips ? finish(code) : erase(then, Clear);
   endfunction

   function Step passOn();
      let then = progress;
      then.heir = line.heir;
      return swapHead(then, HandOver, head, Changed);
   endfunction

   function Step leaveQueue() = swapHead(progress, Leave, head, Changed);

   function Step enterWith(Progress then, Head entered, Bit#(3) position);
      then.head = entered;
      return Step { deed: tagged Enter position, progress: then };
   endfunction

   function Step stay();
      let then = progress;
      then.head = head;
      return Step { deed: Stay, progress: then };
   endfunction

   function Step afterLook();
      let then = counted;
      if (reenters)
         return grantAgain;
      else if (line.unheld)
         return line.lastRound
            ? finish(RefusedContended)
            : write(counted, Take, 0, Mine);
      else if (line.waits matches tagged Valid .registered &&& fault != WaitMissed) begin
         then = progress;
         then.slot = registered;
         then.shared = True;
         return enterWith(then, head, line.waitsAt);
      end
      else if (request.waitRule == NoWait)
         return finish(RefusedBusy);
      else if (line.dies)
         return finish(RefusedDie);
      else if (line.open matches tagged Valid .empty) begin
         then.slot = empty;
         then.shared = False;
         then.head = head;
         return line.lastRound
            ? finish(RefusedContended)
            : write(then, Place, empty, Mine);
      end
      else
         return finish(RefusedFull);
   endfunction

   // The slot joins the queue of the head that was just read.
   function Step registerIn(Progress then) = swapHead(then, Register, head, Joined);

   function Step afterRegister();
      if (line.expected)
         return enterWith(progress, line.joined, line.joinsAt);
      else if (line.lastRound)
         return withdraw(progress, tagged Valid RefusedContended);
      else if (!line.enters)
         return withdraw(counted, tagged Invalid);
      else
         return fault == ReviewSkipped ? registerIn(counted) : read(counted, Review);
   endfunction

   // The head has changed since the slot was chosen: another request of the transaction
   // may have registered meanwhile, and somebody older.
   function Step afterReview() =
      line.joins ? registerIn(progress) : withdraw(progress, tagged Invalid);

   // A cancel, or a waiter that was woken. When the transaction holds the lock by another
   // request, granted first, the slot may wait still: it must not wait for itself.
   function Step afterInspect();
      if (line.holds && !(fault == CancelAfterGrant && request.op == Cancel))
         return line.registered && !shared ? leaveQueue : clear(Granted);
      else if (!line.registered)
         return clear(Cancelled);
      else if (own)
         return stay;
      else if (shared && fault != SharedClears)
         return finish(Cancelled); // the owner of the slot goes on waiting
      else
         return leaveQueue;
   endfunction

   // A poll changes nothing: its target clears the slot itself.
   function Step afterPoll() =
      finishWith(pollEnding(line.holds, line.registered, line.position));

   function Step afterSuccess();
      case (answer.phase)
         Take: return line.unheld ? finish(Granted) : reenters ? grantAgain : read(progress, Look);
         Look: return afterLook;
         Place: return line.placeEmpty
            ? swapHead(progress, Register, progress.head, Joined)
            : read(progress, Look);
         Register: return afterRegister;
         Review: return afterReview;
         Withdraw: return isValid(progress.ending)
            ? finish(validValue(progress.ending))
            : read(progress, Look);
         Free: return line.holdsAlone ? finish(Released)
            : !line.holds ? notHeld
            : head.waiting == 0 ? passOn
            : read(progress, Survey);
         Survey: return line.holds ? passOn : notHeld;
         HandOver: return line.expected ? finish(Released) : read(progress, Survey);
         Leave: return line.expected
            ? clear(line.holds ? Granted : Cancelled)
            : afterInspect;
         Clear: return finish(fromMaybe(Cancelled, progress.ending));
         default: return request.op == Poll ? afterPoll : afterInspect;
      endcase
   endfunction

   // The access changed nothing, so only a slot that was placed has to be given back.
   function Step afterError() =
      (answer.phase == Register || answer.phase == Review) && fault != ErrorKeepsSlot
         ? withdraw(progress, tagged Valid BusError)
         : finish(BusError);

   return answer.failed ? afterError : afterSuccess;
endfunction

// What a poll says about a waiter, from word 0 alone.
function Ending pollEnding(Bool holds, Bool waits, Bit#(3) position) = Ending {
   code: holds ? Granted : waits ? Queued : Cancelled,
   again: False,
   position: waits && !holds ? position : 0 };

// The access of a step, with the progress that the step leaves and the head as it was
// found to be changed.
function Write writeOf(NextWrite next, Request request, Progress progress, Head changed);
   let joined = register(progress.head, progress.slot);
   let swapsHead = next.change == Joined || next.change == Changed;
   return Write {
      phase: next.phase,
      slot: next.slot,
      compares: next.change != Nothing,
      compare: swapsHead ? pack(progress.head) : 0,
      swap: case (next.change)
         Nothing: 0;
         Mine: mark(request.transaction);
         Joined: pack(joined);
         Changed: pack(changed);
      endcase };
endfunction
