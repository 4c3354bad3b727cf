// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of docs/lock-protocol.md and docs/lock-unit.md as types.
import Vector :: *;

typedef Bit#(7) Tag; // names a request, and its context
typedef Bit#(48) Timestamp; // names a transaction; 0 is nobody
typedef Bit#(3) Slot; // 1 to 7; 0 is none, and the head as a word of the line
typedef Bit#(58) LineNumber; // byte address / 64
typedef Bit#(64) Word;
typedef Vector#(8, Word) Line; // element 0 is the head

// Word 0 of a bucket. Bit p-1 of `waiting` is slot p.
typedef struct {
   Timestamp holder;
   Bit#(7) waiting;
   Slot first;
   Bit#(6) cancels;
} Head deriving (Bits, Eq);

typedef enum { Acquire, Release, Cancel, Poll } Op deriving (Bits, Eq);

typedef enum { QueueUp, NoWait, WaitDie } Rule deriving (Bits, Eq);

// The access that is outstanding; the high bits of its AXI id.
typedef enum {
   Take = 0, Look = 1, Place = 2, Register = 3, Withdraw = 4,
   Free = 5, Survey = 6, HandOver = 7,
   Inspect = 8, Leave = 9, Clear = 10, Watch = 11, Review = 12
} Phase deriving (Bits, Eq);

// How a request, or its first half, ends.
typedef enum {
   Granted = 0, Queued = 1, RefusedFull = 2, RefusedBusy = 3, RefusedDie = 4,
   RefusedContended = 5, Released = 6, Cancelled = 7, NotHeld = 8, BusError = 9,
   TagBusy = 10, NotWaiting = 11, BadRequest = 12
} Code deriving (Bits, Eq);

// What an AXI answer belongs to. An AXI id, as packed.
typedef struct {
   Phase phase;
   Tag tag;
} AccessId deriving (Bits, Eq);

// One beat of the response stream, as packed.
typedef struct {
   Timestamp timestamp;
   Bool notice;
   Bit#(3) position;
   Code code;
   Bool again;
   Tag tag;
} Response deriving (Bits, Eq);

// A request as it was accepted; constant until its last response. For a cancel or
// a poll, `line`, `slot` and `shared` are those of the target.
typedef struct {
   Op op;
   Rule waitRule;
   Timestamp transaction;
   LineNumber line;
   Slot slot;
   Bool shared;
   Tag target;
} Request deriving (Bits, Eq);

// What a request has to remember between its accesses.
typedef struct {
   Slot slot; // placed in, or waiting in
   Bool shared; // the slot belongs to another request of its transaction
   Head head; // expected by the compare-and-swap that is outstanding
   Timestamp heir; // to whom HandOver gives the lock
   Bit#(8) rounds; // Looks and Registers so far
   Maybe#(Code) ending; // decided, to be told after Withdraw or Clear
} Progress deriving (Bits, Eq);

Progress noProgress = Progress {
   slot: 0, shared: False, head: unpack(0), heir: 0, rounds: 0, ending: tagged Invalid };

// What came back from memory. A compare-and-swap returns the old word in its own
// lanes of the line, a store nothing.
typedef struct {
   Phase phase;
   Bool failed; // error on R or B
} Answer deriving (Bits, Eq);

// A compare-and-swap of a word of the request's line, or a store of 0 to it.
typedef struct {
   Phase phase;
   Slot slot;
   Bool compares; // else a store
   Word compare;
   Word swap;
} Write deriving (Bits, Eq);

// What a step writes: Nothing is stored; Mine is the transaction, if nobody is there;
// Joined and Changed are heads, if the expected one is still there, with the slot in the
// queue, or as they were found.
typedef enum { Nothing, Mine, Joined, Changed } Change deriving (Bits, Eq);

typedef struct {
   Phase phase;
   Slot slot;
   Change change;
} NextWrite deriving (Bits, Eq);

typedef struct {
   Code code;
   Bool again;
   Bit#(3) position;
} Ending deriving (Bits, Eq);

// What to do about an answer: exactly one of these.
typedef union tagged {
   NextWrite IssueWrite;
   Phase IssueRead; // of the whole line
   Ending Finish; // the last response
   Bit#(3) Enter; // answer queued in this position, and wait; the head is the expected one
   void Stay; // a waiter found itself still waiting, in the head that is the expected one
} Deed deriving (Eq);

// As bits, each part has a place of its own, since to share them would put all parts in the
// deepest path of the unit. The phase is in one place for both accesses, the position for
// both answers. What a deed does not have is any value.
typedef struct {
   Bit#(3) kind;
   Phase phase;
   Slot slot;
   Change change;
   Code code;
   Bool again;
   Bit#(3) position;
} DeedParts deriving (Bits);

instance Bits#(Deed, 20);
   function Bit#(20) pack(Deed deed);
      DeedParts parts = ?;
      case (deed) matches
         tagged IssueWrite .next: begin
            parts.kind = 0;
            parts.phase = next.phase;
            parts.slot = next.slot;
            parts.change = next.change;
         end
         tagged IssueRead .phase: begin
            parts.kind = 1;
            parts.phase = phase;
         end
         tagged Finish .ending: begin
            parts.kind = 2;
            parts.code = ending.code;
            parts.again = ending.again;
            parts.position = ending.position;
         end
         tagged Enter .position: begin
            parts.kind = 3;
            parts.position = position;
         end
         tagged Stay: parts.kind = 4;
      endcase
      return pack(parts);
   endfunction

   function Deed unpack(Bit#(20) bits);
      DeedParts parts = unpack(bits);
      case (parts.kind)
         0: return tagged IssueWrite NextWrite {
            phase: parts.phase, slot: parts.slot, change: parts.change };
         1: return tagged IssueRead parts.phase;
         2: return tagged Finish Ending {
            code: parts.code, again: parts.again, position: parts.position };
         3: return tagged Enter parts.position;
         default: return Stay;
      endcase
   endfunction
endinstance

typedef struct {
   Deed deed;
   Progress progress;
} Step deriving (Bits, Eq);

// The word in a slot, and in the head when nobody waits, for a transaction.
function Word mark(Timestamp transaction) = {transaction, 16'b0};
