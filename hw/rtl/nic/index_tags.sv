// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides what becomes of each request: it meets its entry in the cache, waits for an entry that is
// being fetched, or starts a fetch and takes a place for it.
//
// Contract: takes a request, a waiting request that is issued again, a claim of a place, or, when
// nothing of these is under way, a step of a flush, each clock, and decides on it two clocks later.
// Whoever offers requests has made sure that there is room for what waits and for a fetch. `clearing_o` is high after a reset until all places are
// empty; nothing may be offered meanwhile.
//
// A place is *reserved* from the claim until the last request that waited for its fetch has been
// issued. A changed entry that stands there stays valid until it has been written back, and can be
// changed further; then it is written back once more.
module index_tags #(
    parameter int unsigned LogSets     = 12,
    parameter int unsigned LogWays     = 2,
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned LogMisses   = 3,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    output logic                         clearing_o,

    input  logic [31:0]                  segments_i,
    input  logic [31:0]                  slots_i,
    input  logic [5:0]                   limit_i,

    // What is offered; at most one of new, replay, claim, walk and clean.
    input  logic                         new_i,
    input  logic                         replay_i,
    input  logic                         claim_i,
    input  logic                         walk_i,           // the entry is to be written back, if changed
    input  logic                         clean_i,          // that was done
    input  logic                         first_i,          // of a replay: brings the entry,
    input  logic                         bus_error_i,      // or there is none
    input  logic                         write_error_i,    // the entry that stands there was not written back
    input  logic                         has_place_i,
    input  logic [LogMisses-1:0]         miss_i,           // of any but a new one
    input  logic [LogWays-1:0]           way_i,            // the place of this miss or step
    input  logic [SegmentBits-1:0]       segment_i,        // of any of them
    input  index_pkg::request_t          request_i,
    input  logic [64*ValueWords-1:0]     value_i,

    // The fetches.
    input  logic [Misses-1:0]                  active_i,
    input  logic [Misses-1:0][SegmentBits-1:0] segments_of_i,
    input  logic [LogMisses-1:0]               free_i,     // one that is not active
    input  logic                               last_i,     // one request waits for replayed_miss_o
    output logic [LogMisses-1:0]               replayed_miss_o,
    output logic [1:0]                         undecided_o, // new requests, one in each of the clocks
    output logic [LogMisses-1:0]               decided_miss_o,
    output logic                               park_o,     // the request waits for decided_miss_o
    output logic                               start_o,    // which is to be fetched
    output logic                               claimed_o,  // has a place now,
    output logic                               dirty_o,    // whose entry has to be written back
    output logic                               unclaimed_o,
    output logic                               issued_o,   // a waiting request went on
    output logic                               again_o,    // it cannot yet: written back once more
    output logic                               walked_o,   // a flush was here, and met an entry that
    output logic                               changed_o,  // is written back under decided_miss_o
    output logic [LogWays-1:0]                 way_o,
    output logic [SegmentBits-1:0]             victim_o,
    output index_pkg::request_t                parked_request_o,
    output logic [64*ValueWords-1:0]           parked_value_o,

    // To the entries.
    output logic                         step_valid_o,
    output index_pkg::step_t             step_o,
    output logic [LogSets+LogWays-1:0]   place_o,
    output logic [LogMisses-1:0]         step_miss_o,
    output index_pkg::request_t          step_request_o,
    output logic [64*ValueWords-1:0]     step_value_o
);
    import index_pkg::*;

    localparam int unsigned Ways    = 2**LogWays;
    localparam int unsigned TagBits = SegmentBits - LogSets;
    localparam int unsigned Groups  = (Misses + 3) / 4;
    typedef logic [TagBits-1:0] tag_t;
    typedef struct packed {
        logic [Ways-1:0]              valid;
        logic [Ways-1:0]              dirty;
        logic [Ways-1:0]              reserved;
        logic [Ways-1:0][TagBits-1:0] tags;
    } record_t;

    // Of the two clocks: in the first the record of the set comes from memory.
    logic                     read_new_q, read_replay_q, read_claim_q, read_walk_q, read_clean_q;
    logic                     read_first_q, read_bus_error_q, read_write_error_q, read_has_place_q;
    logic [LogMisses-1:0]     read_miss_q;
    logic [LogWays-1:0]       read_way_q;
    logic [SegmentBits-1:0]   read_segment_q;
    request_t                 read_request_q;
    logic [64*ValueWords-1:0] read_value_q;
    logic                     read_after_q;      // the set of the decision before

    logic                     new_q, replay_q, claim_q, walk_q, clean_q;
    logic                     first_q, bus_error_q, write_error_q;
    logic                     has_place_q, out_of_range_q;
    logic [LogMisses-1:0]     miss_q;
    logic [LogWays-1:0]       miss_way_q;
    logic [SegmentBits-1:0]   segment_q;
    request_t                 request_q;
    logic [64*ValueWords-1:0] value_q;
    record_t                  record_q;
    // Compared in the clock before, so that the decision is short.
    logic [Ways-1:0]          hits_q, miss_ways_q;
    logic [Misses-1:0]        waits_for_q;
    logic [Groups-1:0]        is_waiting_q;    // for any of every four

    logic                     clearing_q;
    logic [LogSets-1:0]       clear_set_q;
    logic [LogSets-1:0]       set, read_set;
    record_t                  stored, decided, decided_q;
    logic                     decides;
    assign set        = segment_q[LogSets-1:0];
    assign read_set   = read_segment_q[LogSets-1:0];
    assign decides    = new_q && !out_of_range_q || replay_q || claim_q || clean_q;
    assign clearing_o = clearing_q;

    block_ram #(
        .AddressWidth(LogSets),
        .DataWidth   ($bits(record_t))
    ) i_tags (
        .clk_i,
        .write_enable_i (clearing_q || decides),
        .write_address_i(clearing_q ? clear_set_q : set),
        .write_data_i   (clearing_q ? '0 : decided),
        .read_address_i (segment_i[LogSets-1:0]),
        .read_data_o    (stored)
    );

    // The fetches that a new request has to wait for: not one that ends in this clock, but one that
    // starts.
    logic              start, ends, out_of_range, has_displacement, same_segment;
    logic [Misses-1:0] waits_for;
    assign same_segment = segment_q == read_segment_q;
    always_comb begin
        for (int unsigned n = 0; n < Misses; n++) begin
            waits_for[n] = active_i[n] && segments_of_i[n] == read_segment_q
                && !(ends && miss_q == LogMisses'(n));
            if (start && free_i == LogMisses'(n)) waits_for[n] = same_segment;
        end
    end
    assign has_displacement = read_request_q.operation == Fill || read_request_q.operation == SetHint;
    assign out_of_range     = read_request_q.operation > SetHint
        || read_request_q.segment >= segments_i || read_request_q.home >= slots_i
        || has_displacement && read_request_q.displacement > {2'b0, limit_i};

    // Where it hits: in what the memory or the decisions before this one left, or in what it leaves.
    record_t         base;
    logic            same_set;
    logic [Ways-1:0] base_hits, kept_hits, installed, hits;
    assign base     = read_after_q ? decided_q : stored;
    assign same_set = decides && read_set == set;
    always_comb begin
        for (int unsigned n = 0; n < Ways; n++) begin
            base_hits[n] = base.valid[n] && base.tags[n] == read_segment_q[SegmentBits-1:LogSets];
            kept_hits[n] = record_q.tags[n] == read_segment_q[SegmentBits-1:LogSets];
            hits[n]      = decided.valid[n] && (installed[n] ? same_segment : kept_hits[n]);
        end
    end

    // A place that nothing stands in; else one after the other, but none that is reserved.
    logic [Ways-1:0]    victims, empty;
    logic [LogWays-1:0] hand_q;
    assign empty = ~record_q.valid & ~record_q.reserved;
    always_comb begin
        victims = '0;
        for (int n = int'(Ways) - 1; n >= 0; n--) begin
            if (!record_q.reserved[LogWays'(n) + hand_q]) begin
                victims                         = '0;
                victims[LogWays'(n) + hand_q] = 1'b1;
            end
        end
        for (int n = int'(Ways) - 1; n >= 0; n--) begin
            if (empty[n]) begin
                victims    = '0;
                victims[n] = 1'b1;
            end
        end
    end

    // The decision. A waiting request brings its entry, unless the one that stands there was changed
    // again.
    logic            has_victim, victim_dirty, takes_victim, dirties, changed_again, goes_on;
    logic            is_waiting, is_changed;
    logic [Ways-1:0] taken, touched, cleaned, released;
    assign has_victim    = !(&record_q.reserved);
    assign victim_dirty  = |(victims & record_q.valid & record_q.dirty);
    assign dirties       = request_q.operation != LookUp && request_q.operation != Validate;
    assign is_waiting    = |is_waiting_q;
    assign start         = new_q && !out_of_range_q && !is_waiting && hits_q == '0;
    assign takes_victim  = (start || claim_q) && has_victim;
    assign is_changed    = |(miss_ways_q & record_q.valid & record_q.dirty);
    assign changed_again = replay_q && first_q && is_changed;
    assign goes_on       = new_q && !is_waiting && hits_q != '0
        || replay_q && !bus_error_q && !changed_again;
    assign ends          = replay_q && !changed_again && last_i;

    assign taken     = start || claim_q ? victims : '0;
    assign installed = replay_q && first_q ? miss_ways_q & ~(record_q.valid & record_q.dirty) : '0;
    assign touched   = !dirties ? '0 : (new_q && !is_waiting ? hits_q : '0)
        | (replay_q && !first_q && !bus_error_q ? miss_ways_q : '0);
    assign cleaned   = taken | (replay_q && first_q || clean_q ? miss_ways_q : '0);
    assign released  = ends && has_place_q ? miss_ways_q : '0;
    always_comb begin
        decided          = record_q;
        decided.valid    = installed | record_q.valid & (~taken | record_q.dirty);
        decided.reserved = taken | record_q.reserved & ~released;
        decided.dirty    = touched | record_q.dirty & ~cleaned | (dirties ? installed : '0);
        if (replay_q && bus_error_q && has_place_q && write_error_q) begin
            decided.dirty |= miss_ways_q;
        end
        for (int unsigned n = 0; n < Ways; n++) begin
            if (installed[n]) decided.tags[n] = segment_q[SegmentBits-1:LogSets];
        end
    end

    // Ways and fetches by number.
    logic [LogWays-1:0]   hit_way, victim_way, way;
    logic [LogMisses-1:0] waiting_miss;
    always_comb begin
        hit_way      = '0;
        victim_way   = '0;
        waiting_miss = '0;
        for (int unsigned n = 0; n < Ways; n++) begin
            if (hits_q[n]) hit_way |= LogWays'(n);
            if (victims[n]) victim_way |= LogWays'(n);
        end
        for (int unsigned n = 0; n < Misses; n++) begin
            if (waits_for_q[n]) waiting_miss |= LogMisses'(n);
        end
    end
    assign way = replay_q || walk_q ? miss_way_q : new_q && hits_q != '0 ? hit_way : victim_way;

    assign undecided_o      = {new_q, read_new_q};
    assign replayed_miss_o  = miss_q;
    assign decided_miss_o   = start ? free_i : new_q ? waiting_miss : miss_q;
    assign park_o           = new_q && !out_of_range_q && (is_waiting || hits_q == '0);
    assign start_o          = start;
    assign claimed_o        = takes_victim;
    assign dirty_o          = victim_dirty;
    assign unclaimed_o      = claim_q && !has_victim;
    assign issued_o         = replay_q && !changed_again;
    assign again_o          = changed_again;
    assign walked_o         = walk_q;
    assign changed_o        = walk_q && is_changed;
    assign way_o            = victim_way;
    assign victim_o         = {record_q.tags[way], set};
    assign parked_request_o = request_q;
    assign parked_value_o   = value_q;

    always_ff @(posedge clk_i) begin
        read_first_q       <= first_i;
        read_bus_error_q   <= bus_error_i;
        read_write_error_q <= write_error_i;
        read_has_place_q   <= has_place_i;
        read_miss_q        <= miss_i;
        read_way_q         <= way_i;
        read_segment_q     <= segment_i;
        read_request_q     <= request_i;
        read_value_q       <= value_i;
        read_after_q       <= decides && segment_i[LogSets-1:0] == set;
        decided_q          <= decided;
        first_q            <= read_first_q;
        bus_error_q        <= read_bus_error_q;
        write_error_q      <= read_write_error_q;
        has_place_q        <= read_has_place_q;
        out_of_range_q     <= out_of_range && read_new_q;
        miss_q             <= read_miss_q;
        miss_way_q         <= read_way_q;
        miss_ways_q        <= Ways'(1) << read_way_q;
        segment_q          <= read_segment_q;
        request_q          <= read_request_q;
        value_q            <= read_value_q;
        waits_for_q        <= waits_for;
        is_waiting_q       <= '0;
        for (int unsigned n = 0; n < Misses; n++) if (waits_for[n]) is_waiting_q[n/4] <= 1'b1;
        hits_q             <= same_set ? hits : base_hits;
        record_q           <= same_set ? decided : base;
        if (takes_victim) hand_q <= victim_way + 1'b1;
        if (clearing_q) begin
            clear_set_q <= clear_set_q + 1'b1;
            clearing_q  <= !(&clear_set_q);
        end
        if (!rst_ni) begin
            read_new_q    <= 1'b0;
            read_replay_q <= 1'b0;
            read_claim_q  <= 1'b0;
            read_walk_q   <= 1'b0;
            read_clean_q  <= 1'b0;
            new_q         <= 1'b0;
            replay_q      <= 1'b0;
            claim_q       <= 1'b0;
            walk_q        <= 1'b0;
            clean_q       <= 1'b0;
            hand_q        <= '0;
            clearing_q    <= 1'b1;
            clear_set_q   <= '0;
        end else begin
            read_new_q    <= new_i;
            read_replay_q <= replay_i;
            read_claim_q  <= claim_i;
            read_walk_q   <= walk_i;
            read_clean_q  <= clean_i;
            new_q         <= read_new_q;
            replay_q      <= read_replay_q;
            claim_q       <= read_claim_q;
            walk_q        <= read_walk_q;
            clean_q       <= read_clean_q;
        end
    end

    always_comb begin
        step_o              = '0;
        step_o.is_snapshot  = takes_victim && victim_dirty || changed_again || changed_o;
        step_o.is_answered  = goes_on || new_q && out_of_range_q || replay_q && bus_error_q;
        step_o.is_install   = installed != '0;
        step_o.out_of_range = new_q && out_of_range_q;
        step_o.bus_error    = replay_q && bus_error_q;
    end
    assign step_valid_o   = step_o.is_snapshot || step_o.is_answered;
    assign place_o        = {set, way};
    assign step_miss_o    = decided_miss_o;
    assign step_request_o = request_q;
    assign step_value_o   = value_q;

`ifndef SYNTHESIS
    one_kind_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni)
        $onehot0({new_i, replay_i, claim_i, walk_i, clean_i}));
    an_entry_is_cached_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !decides || $onehot0(hits_q));
    waiting_for_one_fetch: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !new_q || $onehot0(waits_for_q) && (waits_for_q & ~active_i) == '0);
    a_replay_is_not_cached_before: assert property (@(posedge clk_i) disable iff (!rst_ni)
        installed == '0 || hits_q == '0);
    a_replay_meets_its_entry: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(replay_q && !first_q && !bus_error_q) || hits_q == miss_ways_q);
    a_fetch_starts_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !start || !active_i[free_i]);
    reserved_places_are_not_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !takes_victim || $onehot(victims) && (victims & record_q.reserved) == '0);
    nothing_is_offered_while_clearing: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !clearing_q || !new_i && !replay_i && !claim_i && !walk_i && !clean_i);
    a_flush_meets_no_reserved_place: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(walk_q || clean_q) || record_q.reserved == '0);
    what_was_written_is_changed: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !clean_q || is_changed);
`endif

endmodule
