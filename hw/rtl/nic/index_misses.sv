// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps the fetches that are under way, and the requests that wait for them, each fetch in order.
//
// Contract: the tags start fetches and park requests only while `may_offer_o` was high when the
// requests were offered. A fetch whose entry has come and whose place is free has its requests
// offered again, in their order, by `replay_o`, the first with the entry; or, when an access to
// memory failed, each to be answered with an error. A claim is offered for a fetch that found no
// place. While a place was changed again after its write-back, no new request may come, so that
// every fetch ends.
module index_misses #(
    parameter int unsigned LogWays     = 2,
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned LogMisses   = 3,
    parameter int unsigned LogParked   = 4,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,

    // From the tags.
    input  logic                               park_i,
    input  logic                               start_i,
    input  logic                               claimed_i,
    input  logic                               dirty_i,
    input  logic                               unclaimed_i,
    input  logic                               issued_i,
    input  logic                               again_i,
    input  logic                               changed_i,  // of a flush: written as decided_miss_i
    input  logic [LogMisses-1:0]               decided_miss_i,
    input  logic [LogMisses-1:0]               replayed_miss_i,
    input  logic [LogWays-1:0]                 way_i,
    input  logic [SegmentBits-1:0]             victim_i,
    input  logic [1:0]                         undecided_i,
    input  index_pkg::request_t                parked_request_i,
    input  logic [64*ValueWords-1:0]           parked_value_i,

    output logic [Misses-1:0]                  active_o,
    output logic [Misses-1:0][SegmentBits-1:0] segments_o,
    output logic [LogMisses-1:0]               free_o,
    output logic                               last_o,
    output logic                               may_offer_o,
    output logic                               idle_o,

    // To the tags.
    input  logic                               may_replay_i,
    output logic                               replay_o,
    output logic                               claim_o,
    output logic                               offers_o,   // a replay or a claim, in this clock
    output logic                               first_o,
    output logic                               bus_error_o,
    output logic                               write_error_o,
    output logic                               has_place_o,
    output logic [LogMisses-1:0]               miss_o,
    output logic [LogWays-1:0]                 way_o,
    output logic [SegmentBits-1:0]             segment_o,
    output index_pkg::request_t                request_o,
    output logic [64*ValueWords-1:0]           value_o,

    // Memory.
    output logic [Misses-1:0]                  to_fetch_o,
    output logic [Misses-1:0]                  to_write_o,
    output logic [Misses-1:0][SegmentBits-1:0] victims_o,
    input  logic [Misses-1:0]                  fetch_taken_i,
    input  logic [Misses-1:0]                  write_taken_i,
    input  logic [Misses-1:0]                  fetched_i,
    input  logic [Misses-1:0]                  written_i,
    input  logic                               fetch_error_i,
    input  logic                               write_error_i,
    input  logic                               snapshot_i,
    input  logic [LogMisses-1:0]               snapshot_miss_i
);
    import index_pkg::*;

    localparam int unsigned Parked = 2**LogParked;
    typedef logic [LogMisses-1:0] miss_t;
    typedef logic [LogParked-1:0] index_t;

    logic [Misses-1:0]                  active_q, has_place_q, claiming_q, to_fetch_q, fetched_q;
    logic [Misses-1:0]                  to_write_q, unwritten_q, fetch_error_q, write_error_q, again_q;
    logic [Misses-1:0][SegmentBits-1:0] segments_q, victims_q;
    logic [Misses-1:0][LogWays-1:0]     ways_q;
    // Requests of each that wait, and the place of the next to park.
    logic [Misses-1:0][LogParked:0]     counts_q;
    index_t                             tails_q[Misses];
    logic [Misses-1:0]                  lasts_q, nearly_full;  // one waits; almost as many as may

    // A fetch is served when nothing of it is under way.
    logic [Misses-1:0] ready_q, to_claim, ready;
    assign ready    = active_q & fetched_q & ~unwritten_q & ~claiming_q
        & (has_place_q | fetch_error_q);
    assign to_claim = active_q & ~has_place_q & ~claiming_q & ~(fetched_q & fetch_error_q);

    // Room: as many fetches as requests that may still start one, and in each queue a place for the
    // four that may be on their way when it is counted. LogParked is at least 3.
    logic [LogMisses:0] free_count_q;
    logic               may_offer_q;
    miss_t              other_free, free_q;  // one that is not active, if any is; and another
    assign free_o = free_q;
    always_comb begin
        other_free = '0;
        for (int unsigned n = 0; n < Misses; n++) begin
            if (!active_q[n] && free_q != miss_t'(n)) other_free = miss_t'(n);
            nearly_full[n] = counts_q[n] > (LogParked + 1)'(Parked - 5);
        end
    end
    assign last_o      = lasts_q[replayed_miss_i];
    assign may_offer_o = free_count_q > (LogMisses + 1)'(undecided_i[0]) + (LogMisses + 1)'(undecided_i[1])
        && may_offer_q;
    assign idle_o      = active_q == '0;

    // One fetch at a time is served: its requests are offered from the first on. What is known of it
    // is a clock old, which does no harm: nothing of it changes, but that more requests are parked.
    // The next is chosen meanwhile.
    typedef enum logic [1:0] {Idle, First, Await, Stream} state_t;
    state_t                 state_q;
    miss_t                  serving_q, chosen, next_q;
    logic                   next_valid_q, next_is_error, begins;
    logic [Misses-1:0]      turn;
    index_t                 head_q, tail_q;
    logic                   is_error_q, write_error_of_q, has_place_of_q;
    logic [LogWays-1:0]     way_q;
    logic [SegmentBits-1:0] segment_q;
    logic                   replays, ends;
    assign replays       = state_q == First || state_q == Stream && head_q != tail_q;
    assign replay_o      = replays && may_replay_i;
    assign first_o       = state_q == First;
    assign bus_error_o   = is_error_q;
    assign write_error_o = write_error_of_q;
    assign has_place_o   = has_place_of_q;
    assign way_o         = way_q;
    assign ends          = issued_i && last_o;
    assign begins        = next_valid_q && (state_q == Idle || ends || again_i);
    assign next_is_error = fetch_error_q[next_q] || write_error_q[next_q];
    take_turns #(
        .Count(2**LogMisses)
    ) i_turns (
        .clk_i,
        .rst_ni,
        .asks_i  (ready_q),
        .taken_i (|ready_q && !next_valid_q),
        .chosen_o(turn),
        .number_o(chosen)
    );

    // Claims go one by one. When there was no place, the next goes later.
    logic                   claims_q;
    logic [3:0]             pause_q;
    miss_t                  claimant, claimant_q;
    logic                   begins_claim;
    assign begins_claim = |to_claim && pause_q == 0 && !claims_q && claiming_q == '0;
    assign claim_o      = claims_q && !replays;
    assign offers_o     = replays || claims_q;
    assign miss_o       = replays ? serving_q : claimant_q;
    assign segment_o    = replays ? segment_q : segments_q[claimant_q];
    always_comb begin
        claimant = '0;
        for (int unsigned n = 0; n < Misses; n++) if (to_claim[n]) claimant = miss_t'(n);
    end

    lut_ram #(
        .AddressWidth(LogMisses + LogParked),
        .DataWidth   ($bits(request_t) + 64 * ValueWords)
    ) i_parked (
        .clk_i,
        .write_enable_i (park_i),
        .write_address_i({decided_miss_i, start_i ? index_t'(0) : tails_q[decided_miss_i]}),
        .write_data_i   ({parked_value_i, parked_request_i}),
        .read_address_i ({serving_q, head_q}),
        .read_data_o    ({value_o, request_o})
    );

    always_ff @(posedge clk_i) begin
        unique case (state_q)
            First: if (replay_o) state_q <= Await;
            Await: if (issued_i) state_q <= Stream;
            default: ;
        endcase
        if (ends || again_i) state_q <= Idle;
        if (replay_o) head_q <= head_q + 1'b1;
        tail_q <= tails_q[serving_q];
        if (begins) begin
            serving_q        <= next_q;
            is_error_q       <= next_is_error;
            write_error_of_q <= write_error_q[next_q];
            has_place_of_q   <= has_place_q[next_q];
            way_q            <= ways_q[next_q];
            segment_q        <= segments_q[next_q];
            head_q           <= '0;
            tail_q           <= '0;
            state_q          <= next_is_error ? Stream : First;
        end
        if (!next_valid_q) next_q <= chosen;
        next_valid_q <= next_valid_q ? !begins : |ready_q;
        for (int unsigned n = 0; n < Misses; n++) begin
            ready_q[n] <= ready[n] && !(state_q != Idle && serving_q == miss_t'(n))
                && !(next_valid_q && next_q == miss_t'(n));
        end
        if (!rst_ni) begin
            state_q      <= Idle;
            ready_q      <= '0;
            next_valid_q <= 1'b0;
        end
    end

    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < Misses; n++) begin
            if (park_i && decided_miss_i == miss_t'(n)) begin
                tails_q[n]  <= start_i ? index_t'(1) : tails_q[n] + 1'b1;
                counts_q[n] <= start_i ? (LogParked + 1)'(1) : counts_q[n] + 1'b1;
                lasts_q[n]  <= start_i || counts_q[n] == 0;
            end
            if (issued_i && replayed_miss_i == miss_t'(n)) begin
                counts_q[n] <= counts_q[n] - 1'b1;
                lasts_q[n]  <= counts_q[n] == 2;
            end
            if (start_i && decided_miss_i == miss_t'(n)) begin
                segments_q[n]    <= parked_request_i.segment[SegmentBits-1:0];
                has_place_q[n]   <= 1'b0;
                fetched_q[n]     <= 1'b0;
                fetch_error_q[n] <= 1'b0;
                write_error_q[n] <= 1'b0;
                unwritten_q[n]   <= 1'b0;
                again_q[n]       <= 1'b0;
            end
            if (claimed_i && decided_miss_i == miss_t'(n)) begin
                has_place_q[n] <= 1'b1;
                ways_q[n]      <= way_i;
            end
            if ((claimed_i && dirty_i || again_i || changed_i) && decided_miss_i == miss_t'(n)) begin
                victims_q[n]   <= victim_i;
                unwritten_q[n] <= 1'b1;
            end
            if (again_i && replayed_miss_i == miss_t'(n)) again_q[n] <= 1'b1;
            if (fetched_i[n]) begin
                fetched_q[n]     <= 1'b1;
                fetch_error_q[n] <= fetch_error_i;
            end
            if (written_i[n]) begin
                unwritten_q[n]   <= 1'b0;
                write_error_q[n] <= write_error_i;
            end
        end
        if (!rst_ni) begin
            counts_q <= '0;
            lasts_q  <= '0;
        end
    end

    always_ff @(posedge clk_i) begin
        if (start_i || active_q[free_q]) free_q <= other_free;
        may_offer_q <= nearly_full == '0 && (active_q & again_q) == '0;
        if (begins_claim) claimant_q <= claimant;
        pause_q     <= unclaimed_i ? '1 : pause_q == 0 ? '0 : pause_q - 1'b1;
        for (int unsigned n = 0; n < Misses; n++) begin
            if (start_i && decided_miss_i == miss_t'(n)) begin
                active_q[n]   <= 1'b1;
                to_fetch_q[n] <= 1'b1;
            end
            if (ends && replayed_miss_i == miss_t'(n)) active_q[n] <= 1'b0;
            if (fetch_taken_i[n]) to_fetch_q[n] <= 1'b0;
            if (snapshot_i && snapshot_miss_i == miss_t'(n)) to_write_q[n] <= 1'b1;
            else if (write_taken_i[n]) to_write_q[n] <= 1'b0;
            if (begins_claim && claimant == miss_t'(n)) claiming_q[n] <= 1'b1;
            if ((claimed_i || unclaimed_i) && decided_miss_i == miss_t'(n)) claiming_q[n] <= 1'b0;
        end
        if (start_i != ends) free_count_q <= start_i ? free_count_q - 1'b1 : free_count_q + 1'b1;
        if (!rst_ni) begin
            active_q     <= '0;
            to_fetch_q   <= '0;
            to_write_q   <= '0;
            claiming_q   <= '0;
            pause_q      <= '0;
            claims_q     <= 1'b0;
            may_offer_q  <= 1'b0;
            free_count_q <= (LogMisses + 1)'(Misses);
            free_q       <= '0;
        end else begin
            claims_q <= begins_claim || claims_q && !claim_o;
        end
    end

    assign active_o   = active_q;
    assign segments_o = segments_q;
    assign to_fetch_o = to_fetch_q;
    assign to_write_o = to_write_q;
    assign victims_o  = victims_q;

    logic unused;
    assign unused = ^turn;  // its number says the same

`ifndef SYNTHESIS
    for (genvar n = 0; n < Misses; n++) begin : g_lasts
        flags_say_what_the_counts_say: assert property (@(posedge clk_i) disable iff (!rst_ni)
            lasts_q[n] == (counts_q[n] == 1));
    end
    parked_requests_have_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(park_i && !start_i) || counts_q[decided_miss_i] < (LogParked + 1)'(Parked));
    only_active_fetches_have_requests: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(park_i && !start_i) || active_q[decided_miss_i]);
    a_replay_was_parked: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !issued_i || active_q[replayed_miss_i] && counts_q[replayed_miss_i] != 0);
    one_entry_is_fetched_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        fetched_i == '0 || (fetched_i & active_q & ~fetched_q) == fetched_i);
    a_written_entry_was_to_be_written: assert property (@(posedge clk_i) disable iff (!rst_ni)
        written_i == '0 || (written_i & unwritten_q) == written_i);
    free_fetches_are_counted: assert property (@(posedge clk_i) disable iff (!rst_ni)
        free_count_q == (LogMisses + 1)'($countones(~active_q)));
`endif

endmodule
