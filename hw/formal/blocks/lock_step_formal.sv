// SPDX-License-Identifier: MIT OR Apache-2.0
// lock_step: what the lock unit does next about a request, against one bucket in memory and any other agents.
//
// One transaction, which is any, makes one request after the other: acquire, release, and cancel or poll of an acquire
// that waits. Its accesses are those that lock_step asks for. Each is executed at any later time, at once, and answered
// at any time after that, or fails and changes nothing. In each other clock another transaction may change a word in
// any way that docs/lock-protocol.md allows it. Proven is that this transaction keeps to the same rules (the properties
// of `writes`), so that what is assumed of the others is what is proven of any; and that who was told `granted` is
// the holder, the only one, until its own release.
//
// Not in it: two requests of one transaction at a time, and agents that die. After a bus error that leaves
// its word in a slot the transaction makes no more requests, but the others go on.
`include "../rules/rule.svh"
`include "lock_types.svh"
// A property of one part of the proof. Each part proves its own properties of a clock from all of them in the clock before;
// so together they hold in every clock. All in one would be too much for the solver. Parts 11 to 17 are of a slot
// each, and need none of the others.
`define PART(NUMBER, NAME, HOLDS) \
    if (Part == 0 || Part == NUMBER) begin : g_``NAME \
        NAME: assert property (@(posedge clk_i) disable iff (!rst_ni) HOLDS); \
    end else if (Part <= 10) begin : g_``NAME \
        NAME: assume property (@(posedge clk_i) disable iff (!rst_ni) !was_q || $past(HOLDS)); \
    end
module lock_step_formal #(
    parameter int unsigned Part  = 0,    // 1 to 3, 11 to 17, or 0 for all
    parameter int unsigned Played = 0,   // 1 to 4: what happens is a play that reaches some covers
    parameter bit [4:0]    Fault = 0     // one of hw/bsv/Faults.bsv, to see the proof fail
) (
    input logic clk_i,
    input logic rst_ni
);
    import lock_line::*;
    import lock_types::*;
    typedef struct packed {
        logic [3:0] phase;
        slot_t      slot;
        logic       compares;
        word_t      compare, swap;
    } write_t;
    typedef struct packed {
        logic       writes, reads, finishes, enters, stays;
        write_t     write;
        logic [3:0] read, code;
        logic       again;
        logic [2:0] position;
        progress_t  progress;
    } outcome_t;

    power_up i_power_up (.*);
    logic was_q = 1'b0;    // the clock before was not one in reset
    always_ff @(posedge clk_i) was_q <= rst_ni;

    // ------------------------------------------------------------------ what the prover chooses
    timestamp_t x, y;
    slot_t      at;
    logic [2:0] event_of, move;
    logic [1:0] op, rule;
    logic       fails;
    line_t      noise;    // of lanes that no answer defines
    arbitrary #(.Width(48)) i_x (.clk_i, .value_o(x));
    anything #(.Width(48)) i_y (.clk_i, .value_o(y));
    anything #(.Width(14)) i_choice (.clk_i, .value_o({event_of, move, at, op, rule, fails}));
    anything #(.Width(512)) i_noise (.clk_i, .value_o(noise));
    `RULE(transaction_has_a_timestamp, 0, x != 0)

    // ------------------------------------------------------------------ the transaction
    typedef enum logic [1:0] {Idle, Access, Answered, Waits} state_t;
    state_t     state_q;
    logic       lost_q;       // it makes no more requests
    logic       holds_q;      // it was told that it holds the lock, and was not told since that it does not
    logic [1:0] op_q, rule_q;
    progress_t  progress_q, waiter_q;  // of its request, and of the acquire that waits while another is under way
    logic [3:0] phase_q;
    line_t      line_q, answer_q;
    logic       failed_q, error_q;     // this access; one of this request

    // Where the transaction is, or will be, in the ring; and whether its word is there, in the queue; and its last answer.
    slot_t place;
    logic  has_slot, registered, answered;

    logic begins, executes, steps_on, others;
    assign begins   = event_of == 0 && !lost_q && (state_q == Idle && (op == Acquire || op == Release)
        || state_q == Waits && op != Release);
    assign executes = event_of == 1 && state_q == Access;
    assign steps_on = event_of == 2 && state_q == Answered;
    assign others   = event_of == 3;

    outcome_t outcome;
    write_t   first;
    request_t request;
    assign request = '{op: op_q, rule: rule_q, transaction: x, line: '0, slot: op_q[1] ? waiter_q.slot : '0,
        shared: op_q[1] && waiter_q.shared, target: '0};
    lock_step i_block (
        .fault_i(Fault), .op_i(op), .transaction_i(x), .first_o(first),
        .request_i(request), .progress_i(progress_q), .answer_i({phase_q, failed_q}), .line_i(answer_q),
        .outcome_o(outcome));

    head_t head, next, found, expected;    // next: a clock later
    assign head     = line_q[0];
    assign found    = answer_q[0];
    assign expected = progress_q.head;

    // The access of a phase by the protocol. lock_step's are proven to be these when they are issued, so that
    // these can be executed.
    function automatic write_t access_of(logic [3:0] phase, slot_t slot, head_t from, timestamp_t heir);
        access_of = '{phase: phase, slot: '0, compares: 1'b1, compare: from, swap: '0};
        case (phase)
            Take:     begin access_of.compare = '0; access_of.swap = mark(x); end
            Place:    begin access_of.compare = '0; access_of.swap = mark(x); access_of.slot = slot; end
            Register: access_of.swap = joined(from, slot);
            Leave:    access_of.swap = left(from, slot);
            Free:     access_of.compare = mark(x);
            HandOver: access_of.swap = from.waiting == 0 ? '0 : passed(from, heir);
            default:  begin access_of.compare = '0; access_of.slot = slot; access_of.compares = 1'b0; end
        endcase
    endfunction

    // An access, executed.
    logic   reads, stores, took, took_q;
    write_t write;
    line_t  seen;
    logic [7:1] empty, its_q, found_its_q, its;
    assign reads  = is_read(phase_q);
    assign stores = is_store(phase_q);
    assign write  = access_of(phase_q, place, expected, progress_q.heir);
    assign took   = phase_q == Place ? empty[place] : line_q[0] == write.compare;
    always_comb begin
        seen = noise;
        if (!fails && reads) seen = line_q;
        else if (!fails && phase_q == Place) begin
            for (int p = 1; p <= 7; p++) if (place == slot_t'(p)) seen[p] = line_q[p];
        end else if (!fails && !stores) begin
            seen[0] = line_q[0];
        end
        for (int p = 1; p <= 7; p++) empty[p] = line_q[p] == '0;
    end

    // To whom it passed the lock.
    timestamp_t heir_q;
    always_ff @(posedge clk_i) if (executes && (phase_q == Free || phase_q == HandOver)) heir_q <= next.holder;

    // The line after this clock: what an access changes, or what another transaction may change (docs/lock-protocol.md,
    // both tables). Others may have several requests at a time.
    line_t line;
    always_comb begin
        line = line_q;
        if (executes && !fails && !reads && !stores && phase_q != Place && took) line[0] = write.swap;
        else if (others) begin
            case (move)
                0: if (head == '0 && y != 0 && y != x) line[0] = mark(y);
                2: if (at != 0 && !empty[at] && !its_q[at] && !head.waiting[at] && may_join(head, at))
                    line[0] = joined(head, at);
                3: if (at != 0 && !its_q[at] && head.waiting[at]) line[0] = left(head, at);
                4: if (head.holder != x && head.waiting != 0) line[0] = passed(head, line_q[head.first][63:16]);
                5: if (head.holder != x && head.waiting == 0) line[0] = '0;
                default: ;
            endcase
        end
        for (int p = 1; p <= 7; p++) begin
            if (executes && !fails && place == slot_t'(p) && (phase_q == Place && took || stores))
                line[p] = stores ? '0 : mark(x);
            else if (others && at == slot_t'(p) && move == 1 && empty[p] && y != 0 && y != x)
                line[p] = mark(y);
            else if (others && at == slot_t'(p) && move == 6 && !its_q[p] && !head.waiting[p])
                line[p] = '0;
        end
    end
    assign next = line[0];

    // Slots with its word in them, now and in the line that was read. Invariants say that these are they; induction
    // finds its way through single bits rather than through words.
    always_comb begin
        its = its_q;
        if (executes && !fails && (phase_q == Place && took || stores)) its[place] = phase_q == Place;
    end
    // What the head was at the last access, and the word in slot `first`; and whether the head has changed since.
    logic  moved_q, releases;
    head_t base_q;
    word_t first_q;

    // The head of the last line that it read to find a place.
    head_t place_head_q;
    always_ff @(posedge clk_i) if (executes && (phase_q == Look || phase_q == Review)) place_head_q <= head;

    // Who was registered before it, and is still; and its position when it registered.
    logic [7:1] ahead_q;
    logic [2:0] rank_q;
    logic       registers;
    assign registers = executes && !fails && phase_q == Register && took;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
            lost_q  <= 1'b0;
            holds_q <= 1'b0;
            line_q  <= '0;
            op_q    <= Acquire;
            ahead_q <= '0;
            its_q   <= '0;
        end else begin
            its_q   <= its;
            moved_q <= !executes && (moved_q || next != head);
            if (executes) base_q <= head;
            if (executes) first_q <= line_q[head.first];
            if (executes) found_its_q <= its_q;
            line_q  <= line;
            ahead_q <= (registers ? head.waiting : ahead_q) & next.waiting;
            if (registers) rank_q <= 3'd1 + count(head.waiting);
            if (begins) begin
                error_q    <= 1'b0;
                op_q       <= op;
                waiter_q   <= progress_q;
                state_q    <= Access;
                phase_q    <= first.phase;
                if (state_q == Idle) begin
                    rule_q     <= rule == 2'd3 ? 2'd0 : rule;
                    progress_q <= '0;
                end else if (op == Acquire) begin
                    phase_q <= Watch; // its line is read again
                end else begin
                    phase_q    <= Inspect;
                    progress_q <= '0;
                end
            end else if (executes) begin
                state_q  <= Answered;
                answer_q <= seen;
                failed_q <= fails;
                error_q  <= error_q || fails;
                took_q   <= took;
            end else if (steps_on) begin
                progress_q <= outcome.progress;
                if (outcome.writes) begin
                    state_q <= Access;
                    phase_q <= outcome.write.phase;
                end else if (outcome.reads) begin
                    state_q <= Access;
                    phase_q <= outcome.read;
                end else if (outcome.finishes) begin
                    state_q <= Idle;
                    if (outcome.code == Granted && op_q != Poll) holds_q <= 1'b1;
                    if (outcome.code == Released) holds_q <= 1'b0;
                    if (outcome.code == BusError && op_q == Acquire) lost_q <= has_slot;
                    // The acquire goes on waiting.
                    if (op_q == Poll || op_q == Cancel && outcome.code == BusError) begin
                        state_q    <= Waits;
                        op_q       <= Acquire;
                        progress_q <= waiter_q;
                    end
                end else begin
                    state_q <= Waits;
                end
            end
        end
    end

    // ------------------------------------------------------------------ what is told
    // With $past they are judged a clock later, so that induction meets the step, and what an access changes, only once.
    logic tells, oldest, full;
    assign tells = steps_on && outcome.finishes;
    `PART(3, who_was_told_granted_is_the_holder, lost_q || state_q != Idle || holds_q == (head.holder == x))
    `PART(1, granted_is_told_to_the_holder, !was_q || $past(!tells || outcome.code != Granted || head.holder == x))
    `PART(1, granted_again_is_told_to_who_held, !was_q || $past(!tells || op_q != Acquire || outcome.code != Granted
        || outcome.again == holds_q))
    `PART(1, no_grant_is_lost, !was_q || $past(!tells || op_q == Poll || holds_q || head.holder != x
        || outcome.code == Granted || outcome.code == BusError))
    `PART(1, released_is_told_to_who_held, !was_q || $past(!tells || outcome.code != Released
        || op_q == Release && holds_q && head.holder != x))
    `PART(1, not_held_is_told_to_who_does_not_hold, !was_q || $past(!tells || outcome.code != NotHeld || op_q == Release && !holds_q))
    `PART(1, cancelled_is_told_to_who_waits_no_more, !was_q || $past(!tells || outcome.code != Cancelled
        || head.holder != x && (op_q == Poll || !has_slot)))
    `PART(1, refusal_leaves_nothing_behind, !was_q || $past(!tells || op_q != Acquire || outcome.code == BusError || !has_slot))
    `PART(1, codes_are_those_of_the_request, !was_q || $past(!tells || outcome.code == BusError || (
        op_q == Release ? outcome.code == Released || outcome.code == NotHeld
        : op_q == Poll ? outcome.code == Granted || outcome.code == Queued || outcome.code == Cancelled
        : op_q == Cancel ? outcome.code == Granted || outcome.code == Cancelled
        : outcome.code == Granted || outcome.code == Cancelled && phase_q == Clear
            || outcome.code >= RefusedFull && outcome.code <= RefusedContended)))
    `PART(1, queued_is_told_with_its_position, !was_q || $past(!(steps_on && outcome.enters)
        || op_q == Acquire && phase_q == Register && outcome.position == rank_q))
    `PART(1, poll_tells_the_position_that_was_read, !was_q || $past(!(tells && outcome.code == Queued) || op_q == Poll
        && outcome.position == 3'd1 + count(between(found.waiting, found.first, waiter_q.slot))))
    `PART(1, busy_is_told_if_somebody_holds, !was_q || $past(!tells || outcome.code != RefusedBusy || rule_q == NoWait && found.holder != 0))
    `PART(1, who_may_not_wait_dies, !was_q || $past(!tells || outcome.code != RefusedDie || rule_q == WaitDie && !oldest))
    `PART(1, who_may_not_wait_takes_no_place, !was_q || $past(!(steps_on && outcome.writes && outcome.write.phase == Place)
        || rule_q != NoWait && (rule_q != WaitDie || oldest)))
    `PART(1, who_looks_again_registers_by_its_rule, !was_q || $past(!(steps_on && phase_q == Review && outcome.writes
        && outcome.write.phase == Register) || rule_q != NoWait && (rule_q != WaitDie || oldest)))
    `PART(1, slot_is_withdrawn_after_an_error, !was_q || $past(!(steps_on && failed_q && (phase_q == Register || phase_q == Review))
        || outcome.writes && outcome.write.phase == Withdraw))
    `PART(1, full_is_told_if_no_slot_is_left, !was_q || $past(!tells || outcome.code != RefusedFull || full))
    `PART(1, contended_is_told_in_the_last_round, !was_q || $past(!tells || outcome.code != RefusedContended
        || progress_q.rounds == 8'd255))
    `PART(1, bus_error_is_told_after_one, !was_q || $past(!tells || outcome.code != BusError || error_q))
    `PART(1, who_stays_waits_still, !was_q || $past(!(steps_on && outcome.stays)
        || answered && phase_q == Watch && found.waiting[place] && found.holder != x))
    `PART(1, poll_tells_what_was_read, !was_q || $past(!tells || op_q != Poll || outcome.code == BusError
        || (outcome.code == Granted) == (found.holder == x)
            && (outcome.code == Queued) == (found.waiting[place] && found.holder != x)))
    // Else a store would be taken for a read below.
    `PART(1, kind_of_access_is_that_of_its_phase, !was_q || $past(!steps_on
        || !(outcome.writes && is_read(outcome.write.phase)) && !(outcome.reads && !is_read(outcome.read))))
    `PART(1, one_of_five_is_done, !was_q || $past(state_q != Answered
        || $onehot({outcome.writes, outcome.reads, outcome.finishes, outcome.enters, outcome.stays})))

    // What the line that was read says about waiting.
    always_comb begin
        oldest = x < found.holder;
        full   = 1'b1;
        for (int p = 1; p <= 7; p++) begin
            if (found.waiting[p] && answer_q[p][63:16] <= x) oldest = 1'b0;
            if (answer_q[p] == '0 && may_join(found, slot_t'(p))) full = 1'b0;
        end
    end

    // ------------------------------------------------------------------ order of grants
    logic passes;    // from one transaction to another
    assign passes = head.holder != 0 && next.holder != 0 && (executes ? phase_q == HandOver && next != head
        : others && move == 4 && next != head);
    `PART(1, grant_goes_to_the_first, !was_q || $past(!passes || head.waiting[head.first] && mark(next.holder) == line_q[head.first]))
    `PART(1, grants_keep_the_order_of_registration, !was_q || $past(!passes || !registered
        || (ahead_q == 0 ? head.first == place && next.holder == x : ahead_q[head.first] && next.holder != x)))
    `PART(1, lock_is_free_only_when_nobody_waits, !was_q || $past(head.holder == 0 || next.holder != 0 || head.waiting == 0))

    // ------------------------------------------------------------------ writes, against the two tables of the protocol
    `PART(1, access_is_that_of_its_phase, !was_q || $past(!(steps_on && outcome.writes) || outcome.write
        == access_of(outcome.write.phase, op_q[1] ? place : outcome.progress.slot, outcome.progress.head,
            outcome.progress.heir)))
    `PART(3, first_access_is_that_of_its_phase, op[1] || first.phase == (op == Acquire ? Take : Free)
        && first == access_of(first.phase, '0, '0, '0))
    logic changes_head, changes_slot;
    assign changes_head = executes && next != head;
    assign changes_slot = executes && !fails && (phase_q == Place && took || stores);
    `PART(1, head_changes_by_a_transition, !was_q || $past(!changes_head
        || phase_q == Take && head == '0 && next == mark(x)
        || phase_q == Register && line_q[place] == mark(x) && place != 0 && !head.waiting[place] && head.holder != x
            && may_join(head, place) && next == joined(head, place)
        || phase_q == Leave && line_q[place] == mark(x) && head.waiting[place] && next == left(head, place)
        || phase_q == HandOver && head.holder == x && head.waiting != 0
            && next == passed(head, line_q[head.first][63:16])
        || (phase_q == Free || phase_q == HandOver) && head.holder == x && head.waiting == 0 && next == '0))
    `PART(1, slot_is_taken_empty, !was_q || $past(!changes_slot || stores || line_q[place] == '0 && line[place] == mark(x)))
    `PART(1, only_its_own_slot_is_cleared, !was_q || $past(!changes_slot || !stores || line_q[place] == mark(x)
        && !head.waiting[place] && line[place] == '0))
    `PART(1, heir_is_named_to_who_releases, !was_q || $past(!tells || outcome.code != Released || heir_q == progress_q.heir))

    // ------------------------------------------------------------------ invariants
    assign place      = op_q[1] ? waiter_q.slot : progress_q.slot;
    assign answered   = state_q == Answered && !failed_q;
    assign registered = has_slot && head.waiting[place];
    always_comb begin
        has_slot = 1'b0;
        if (state_q == Waits) has_slot = 1'b1;
        else if (state_q != Idle && op_q != Release) begin
            case (phase_q)
                Place:                   has_slot = answered && took_q;
                Withdraw, Clear:         has_slot = !answered;
                Take, Look:              has_slot = 1'b0;
                default:                 has_slot = 1'b1;
            endcase
        end
    end

    logic       slots_are_words, answer_is_a_line;
    logic [7:1] expected_its;
    always_comb begin
        slots_are_words  = 1'b1;
        answer_is_a_line = 1'b1;
        for (int p = 1; p <= 7; p++) begin
            if (line_q[p][15:0] != 0 || head.waiting[p] && line_q[p] == '0) slots_are_words = 1'b0;
            if (answer_q[p][15:0] != 0 || found.waiting[p] && answer_q[p] == '0) answer_is_a_line = 1'b0;
            expected_its[p] = has_slot && place == slot_t'(p);
        end
    end
    for (genvar p = 1; p <= 7; p++) begin : g_slot
        `PART(10 + p, slot_is_known, its_q[p] == (line_q[p] == mark(x))
            && (!answered || !reads || found_its_q[p] == (answer_q[p] == mark(x))))
    end
    `PART(2, head_is_well_formed, well_formed(head))
    `PART(2, slots_hold_words, slots_are_words)
    `PART(3, its_word_is_where_it_is_known_to_be, lost_q || its_q == expected_its)
    `PART(3, place_is_a_slot, !has_slot && phase_q != Place || lost_q || state_q == Idle || place != 0)
    `PART(3, nothing_is_shared, state_q == Idle || !progress_q.shared && (!op_q[1] || !waiter_q.shared))
    `PART(3, phases_are_those_of_the_request, state_q == Idle || state_q == Waits ? state_q == Idle || op_q == Acquire
        : op_q == Release ? phase_q >= Free && phase_q <= HandOver
        : op_q == Cancel ? phase_q >= Inspect && phase_q <= Clear
        : op_q == Poll ? phase_q == Inspect
        : phase_q <= Withdraw || phase_q == Clear || phase_q == Watch || phase_q == Review)
    `PART(3, lost_is_idle, !lost_q || state_q == Idle)
    `PART(3, rule_is_known, state_q == Idle || op_q == Release || rule_q != 2'd3)

    `PART(2, expected_head_is_well_formed, state_q != Access && state_q != Answered
        || phase_q != Place && phase_q != Register && phase_q != Leave && phase_q != HandOver || well_formed(expected))
    `PART(3, who_never_waits_has_no_place, state_q != Access && state_q != Answered
        || phase_q != Place && phase_q != Register && phase_q != Review || rule_q != NoWait)
    // It registers in the head by which it has chosen its place.
    `PART(3, found_head_is_that_of_the_line, !answered || phase_q != Look && phase_q != Review || found == place_head_q)
    `PART(3, expected_head_is_that_of_a_line, state_q != Access && state_q != Answered
        || phase_q != Place && phase_q != Register || expected == place_head_q)
    `PART(2, expected_head_lets_it_join, state_q != Access && state_q != Answered
        || phase_q != Place && phase_q != Register
        || may_join(expected, place) && !expected.waiting[place] && expected.holder != x)
    `PART(2, expected_head_lets_it_leave, state_q != Access && state_q != Answered || phase_q != Leave
        || expected.waiting[place] && expected.holder != x)
    `PART(2, expected_head_is_its_own, state_q != Access && state_q != Answered || phase_q != HandOver
        || expected.holder == x)

    // Answers: what they say of the line at their time, and what holds of it since.
    logic said_head, said_line, joins, leaves, gives;
    assign said_head = answered && phase_q != Place && !stores;
    assign said_line = answered && reads;
    `PART(2, found_head_is_well_formed, !said_head || well_formed(found))
    `PART(2, found_line_is_one, !said_line || answer_is_a_line)
    `PART(3, found_line_has_it_only_in_its_place, !answered || phase_q != Look && phase_q != Review
        || (found.waiting & found_its_q) == 0)
    `PART(3, found_line_is_not_its_own, !answered || phase_q != Look && phase_q != Review || found.holder != x)
    `PART(3, found_head_has_it_once, !said_head || !has_slot || !found.waiting[place] || found.holder != x)
    `PART(2, answer_tells_whether_it_took, !answered || reads || stores || took_q == (phase_q == Place
        ? answer_q[place] == '0 : found == write.compare))
    // A change that this transaction has seen is final: only it can undo it.
    `PART(2, end_of_waiting_is_final, !said_head || !has_slot || phase_q == Register || phase_q == Leave && leaves
        || found.waiting[place] || !head.waiting[place] && (head.holder == x) == (found.holder == x))
    assign joins  = answered && phase_q == Register && took_q;
    assign leaves = answered && phase_q == Leave && took_q;
    assign releases = (state_q == Access && phase_q != Free && phase_q != Survey || answered) && op_q == Release
        && holds_q && !gives;
    assign gives  = answered && (phase_q == Free || phase_q == HandOver) && took_q;
    `PART(2, slot_waits_only_while_it_is_registered, lost_q || !has_slot || !head.waiting[place] || head.holder != x
        && !(phase_q == Place && state_q != Waits) && (state_q == Waits || !(phase_q == Review || phase_q == Withdraw
            || phase_q == Clear || phase_q == Register && !joins || phase_q == Leave && leaves)))
    `PART(2, who_joined_waits_or_holds, !joins || head.waiting[place] != (head.holder == x))
    `PART(2, who_left_does_not_hold, !leaves || head.holder != x)
    `PART(2, who_clears_has_its_end, state_q != Access && state_q != Answered || phase_q != Clear
        || progress_q.ends && (progress_q.ending == Granted || progress_q.ending == Cancelled)
            && (progress_q.ending == Granted) == (head.holder == x))
    `PART(3, who_withdraws_has_its_end, state_q != Access && state_q != Answered || phase_q != Withdraw
        || !progress_q.ends || progress_q.ending == RefusedContended || progress_q.ending == BusError)
    `PART(3, end_was_decided_for_a_reason, state_q != Access && state_q != Answered || phase_q != Withdraw || !progress_q.ends
        || (progress_q.ending == RefusedContended ? progress_q.rounds == 8'd255 : error_q))
    `PART(3, failed_access_is_an_error, state_q != Answered || !failed_q || error_q)
    `PART(2, who_acquires_does_not_hold, state_q == Idle || op_q == Release || !holds_q
        || state_q != Waits && phase_q == Take)
    `PART(2, who_takes_holds_if_it_took, state_q != Access && state_q != Answered || phase_q != Take
        || (head.holder == x) == (holds_q || answered && took_q))
    `PART(2, found_holder_of_take_is_known, !answered || phase_q != Take && phase_q != Free
        || (found.holder == x) == holds_q)
    `PART(2, who_has_no_place_does_not_hold, state_q != Access && state_q != Answered
        || !(phase_q == Look || phase_q == Place || phase_q == Withdraw || phase_q == Review
            || phase_q == Register && !joins) || head.holder != x)
    `PART(2, who_releases_holds_until_it_gives, state_q == Idle || state_q == Waits || op_q != Release
        || (head.holder == x) == (holds_q && !gives))
    `PART(2, survey_is_of_the_holder, state_q == Idle || state_q == Waits || op_q != Release || phase_q == Free
        || holds_q && (phase_q != Survey || !answered || found.holder == x))
    `PART(2, head_is_the_last_one_or_later, !releases || (moved_q ? is_later(head, base_q)
        : head == base_q && (head.waiting == 0 || line_q[head.first] == first_q)))
    `PART(3, found_head_is_the_last_one, !releases || !answered || found == base_q
        && (phase_q != Survey || found.waiting == 0 || answer_q[found.first] == first_q))
    `PART(3, heir_is_the_first_of_the_last_one, !releases || state_q != Access || phase_q != HandOver
        || expected == base_q && (expected.waiting == 0 || mark(progress_q.heir) == first_q))
    `PART(3, nobody_inherits_where_nobody_waits, state_q != Access && state_q != Answered || phase_q != HandOver
        || expected.waiting != 0 || progress_q.heir == 0)
    `PART(3, heir_got_the_lock, !gives || heir_q == progress_q.heir)
    `PART(3, nobody_inherits_at_once, state_q == Idle || op_q != Release || phase_q != Free || progress_q.heir == 0)
    `PART(3, rank_is_that_in_the_expected_head, !joins || rank_q == 3'd1 + count(expected.waiting))
    `PART(3, those_ahead_registered_before, lost_q || !registered
        || ahead_q == between(head.waiting, head.first, place))

    // ------------------------------------------------------------------ what happens
    if (Played != 0) begin : g_covers
        // A letter for each clock: b begins an acquire, n one that may not wait, d one by wait-die, B a release, c a cancel,
        // p a poll, w reads the line again; x executes, F with an error, s steps on; a digit is a move of another
        // transaction; | is a reset, and a full stop nothing. Nothing is left to the prover.
        localparam int unsigned Letters = 58;
        localparam logic [Letters*8-1:0] Plays =
            Played == 1 ? {
                "|0bxsxsxsxspxswxs4wxsxs",    // waits, is polled, stays, and is granted
                "|0bxsxsxsxscxsxsxs.",        // cancels
                {16{"."}}}
            : Played == 2 ? {
                "|0bxsxsxsxsc4xsxs",          // cancels too late
                "|01212bxsxsxsxs.",           // is the third that waits
                {25{"."}}}
            : Played == 3 ? {
                "|0bxsxsxs12xsxs",            // is overtaken while it registers
                "|0bxsxsxs5xsxs",             // finds the lock free when it registers
                "|0nxsxs|0dxsxs",             // may not wait
                "|0bxsxsxsxswFs."}            // waits, and is lost
            : {
                "|bxs12Bxsxs12xsxsxs",        // passes the lock on, while others come
                "|BxsbxsbxsBxs.",             // does not hold, takes, takes again, and releases
                {25{"."}}};
        logic [7:0] clock_q = 8'd0, now;
        slot_t      first_empty, first_to_register;
        always_ff @(posedge clk_i) clock_q <= clock_q + 8'(clock_q != Letters - 1);
        always_comb begin
            now               = Plays[8*(Letters-1-32'(clock_q))+:8];
            first_empty       = 0;
            first_to_register = 0;
            for (int p = 7; p >= 1; p--) begin
                if (empty[p]) first_empty = slot_t'(p);
                else if (!its_q[p] && !head.waiting[p]) first_to_register = slot_t'(p);
            end
        end
        `RULE(plays_begin_in_reset, 0, rst_ni == (now != "|"))
        `RULE(words_are_known, 0, x == 4 && noise == '0 && y == (now == "0" ? 48'd1 : 48'd5 + 48'(at))
            && at == (move == 1 ? first_empty : first_to_register))
        `RULE(it_is_played, 0, event_of == (now == "x" || now == "F" ? 3'd1 : now == "s" ? 3'd2
            : now == "|" || now == "." ? 3'd7 : now >= "0" && now <= "9" ? 3'd3 : 3'd0)
            && fails == (now == "F") && move == (event_of == 3 ? now[2:0] : 3'd0)
            && rule == (now == "n" ? NoWait : now == "d" ? WaitDie : 2'd0)
            && op == (now == "B" ? Release : now == "c" ? Cancel : now == "p" ? Poll : Acquire))
        if (Played == 1) begin : g_play_1
            `REACHED(granted_after_waiting, tells && outcome.code == Granted && op_q == Acquire && phase_q == Clear)
            `REACHED(waiter_stays, steps_on && outcome.stays)
            `REACHED(polled, tells && outcome.code == Queued)
            `REACHED(cancelled, tells && outcome.code == Cancelled && op_q == Cancel)
        end else if (Played == 2) begin : g_play_2
            `REACHED(cancel_comes_after_the_grant, tells && outcome.code == Granted && op_q == Cancel)
            `REACHED(queued_behind_two, steps_on && outcome.enters && outcome.position == 3)
        end else if (Played == 3) begin : g_play_3
            `REACHED(reviewed, steps_on && phase_q == Review && outcome.writes && outcome.write.phase == Register)
            `REACHED(withdrawn, steps_on && phase_q == Withdraw && outcome.reads)
            `REACHED(busy, tells && outcome.code == RefusedBusy)
            `REACHED(dies, tells && outcome.code == RefusedDie)
            `REACHED(lost, lost_q)
        end else begin : g_play_4
            `REACHED(granted_at_once, tells && outcome.code == Granted && phase_q == Take && !outcome.again)
            `REACHED(granted_again, tells && outcome.code == Granted && outcome.again)
            `REACHED(released_to_nobody, tells && outcome.code == Released && progress_q.heir == 0 && phase_q == Free)
            `REACHED(released_to_another, tells && outcome.code == Released && progress_q.heir != 0)
            `REACHED(hand_over_comes_too_late, steps_on && phase_q == HandOver && outcome.reads)
            `REACHED(not_held, tells && outcome.code == NotHeld)
        end
    end
endmodule
