// SPDX-License-Identifier: MIT OR Apache-2.0
// What a request does next: docs/lock-protocol.md, "Steps of each request", as a
// pure function from (request, progress, answer) to a step. No registers, no time.
// `locks::machine` is the same in software; both must take the same step.
import Vector :: *;
import LockTypes :: *;
import LockBucket :: *;
import Faults :: *;

Bit#(8) mostRounds = 255;

// The access of an acquire or release that needs no look at the line before.
function Write firstWrite(Op op, Timestamp transaction) = op == Release
   ? Write { phase: Free, slot: 0, compares: True, compare: mark(transaction), swap: 0 }
   : Write { phase: Take, slot: 0, compares: True, compare: 0, swap: mark(transaction) };

function Step nextStep(Fault fault, Request request, Progress progress, Answer answer);
   let x = request.transaction;
   let own = request.op == Acquire; // else a cancel or a poll, about another's place
   let slot = own ? progress.slot : request.slot;
   let shared = own ? progress.shared : request.shared;
   Word old = answer.line[answer.phase == Place ? slot : 0];
   Head head = unpack(old);
   let holds = head.holder == x;
   let reenters = holds && fault != ReentryMissed;
   let lastRound = progress.rounds == mostRounds;
   let counted = progress;
   counted.rounds = progress.rounds + 1;

   function Step read(Progress then, Phase phase) =
      Step { deed: tagged IssueRead phase, progress: then };

   function Step erase(Progress then, Phase phase) = Step {
      deed: tagged IssueWrite Write {
         phase: phase, slot: slot, compares: False, compare: 0, swap: 0 },
      progress: then };

   function Step compareSwap(Progress then, Phase phase, Slot where, Word compare, Word swap) =
      Step {
         deed: tagged IssueWrite Write {
            phase: phase, slot: where, compares: True, compare: compare, swap: swap },
         progress: then };

   function Step swapHead(Progress then, Phase phase, Head from, Head to);
      then.head = from;
      return compareSwap(then, phase, 0, pack(from), pack(to));
   endfunction

   function Step finishWith(Ending ending) =
      Step { deed: tagged Finish ending, progress: progress };

   function Step finish(Code code) = finishWith(
      Ending { code: code, again: False, position: 0, timestamp: x });

   function Step grantAgain() = finishWith(
      Ending { code: Granted, again: True, position: 0, timestamp: x });

   function Step handedTo(Timestamp heir) = finishWith(
      Ending { code: Released, again: False, position: 0, timestamp: heir });

   function Step notHeld() =
      fault == NotHeldReleased ? handedTo(0) : finish(NotHeld);

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

   function Step handOverTo(Timestamp heir);
      let then = progress;
      then.heir = heir;
      return swapHead(then, HandOver, head, handOver(fault, head, heir));
   endfunction

   function Step afterLook();
      let then = counted;
      if (reenters)
         return grantAgain;
      else if (old == 0)
         return lastRound
            ? finish(RefusedContended)
            : compareSwap(counted, Take, 0, 0, mark(x));
      else if (findWaiter(answer.line, x) matches tagged Valid .registered
            &&& fault != WaitMissed) begin
         then = progress;
         then.slot = registered;
         then.shared = True;
         return Step { deed: tagged Enter head, progress: then };
      end
      else if (request.waitRule == NoWait)
         return finish(RefusedBusy);
      else if (request.waitRule == WaitDie && !isOldest(fault, answer.line, x))
         return finish(RefusedDie);
      else if (chooseSlot(fault, answer.line) matches tagged Valid .empty) begin
         then.slot = empty;
         then.shared = False;
         then.head = head;
         return lastRound
            ? finish(RefusedContended)
            : compareSwap(then, Place, empty, 0, mark(x));
      end
      else
         return finish(RefusedFull);
   endfunction

   // The slot joins the queue of the head that was just read.
   function Step registerIn(Progress then) =
      swapHead(then, Register, head, register(head, slot));

   function Step afterRegister();
      let then = progress;
      then.head = register(progress.head, slot);
      if (head == progress.head)
         return Step { deed: tagged Enter then.head, progress: then };
      else if (lastRound)
         return withdraw(progress, tagged Valid RefusedContended);
      else if (!mayEnter(head, x, slot))
         return withdraw(counted, tagged Invalid);
      else
         return fault == ReviewSkipped ? registerIn(counted) : read(counted, Review);
   endfunction

   // The head has changed since the slot was chosen: another request of the transaction
   // may have registered meanwhile, and somebody older.
   function Step afterReview();
      let waits = isValid(findWaiter(answer.line, x)) && fault != WaitMissed;
      let dies = request.waitRule == WaitDie && !isOldest(fault, answer.line, x);
      return mayEnter(head, x, slot) && !waits && !dies
         ? registerIn(progress)
         : withdraw(progress, tagged Invalid);
   endfunction

   // A cancel, or a waiter that was woken. When the transaction holds the lock by another
   // request, granted first, the slot may wait still: it must not wait for itself.
   function Step afterInspect();
      if (holds && !(fault == CancelAfterGrant && request.op == Cancel))
         return isRegistered(head, slot) && !shared
            ? swapHead(progress, Leave, head, leave(fault, head, slot))
            : clear(Granted);
      else if (!isRegistered(head, slot))
         return clear(Cancelled);
      else if (own)
         return Step { deed: tagged Stay head, progress: progress };
      else if (shared && fault != SharedClears)
         return finish(Cancelled); // the owner of the slot goes on waiting
      else
         return swapHead(progress, Leave, head, leave(fault, head, slot));
   endfunction

   // A poll changes nothing: its target clears the slot itself.
   function Step afterPoll() = finishWith(pollEnding(fault, head, x, slot));

   function Step afterSuccess();
      case (answer.phase)
         Take: return old == 0 ? finish(Granted) : reenters ? grantAgain : read(progress, Look);
         Look: return afterLook;
         Place: return old == 0
            ? swapHead(progress, Register, progress.head, register(progress.head, slot))
            : read(progress, Look);
         Register: return afterRegister;
         Review: return afterReview;
         Withdraw: return isValid(progress.ending)
            ? finish(validValue(progress.ending))
            : read(progress, Look);
         Free: return old == mark(x) ? handedTo(0)
            : !holds ? notHeld
            : head.waiting == 0 ? handOverTo(0)
            : read(progress, Survey);
         Survey: return !holds ? notHeld
            : handOverTo(head.waiting == 0 ? 0 : heirOf(fault, answer.line));
         HandOver: return head == progress.head
            ? handedTo(progress.heir)
            : read(progress, Survey);
         Leave: return head == progress.head
            ? clear(holds ? Granted : Cancelled)
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
function Ending pollEnding(Fault fault, Head head, Timestamp transaction, Slot slot);
   let holds = head.holder == transaction;
   let waits = isRegistered(head, slot);
   return Ending {
      code: holds ? Granted : waits ? Queued : Cancelled,
      again: False,
      position: waits && !holds ? positionOf(fault, head, slot) : 0,
      timestamp: transaction };
endfunction
