// SPDX-License-Identifier: MIT OR Apache-2.0
// index_flush: a flush offers each place, of which any is followed, once; it counts as unchanged after its entry was
// written, and only then; and the flush ends when all of that has ended.
`include "../rules/rule.svh"
module index_flush_formal #(
    parameter int unsigned LogSets   = 1,
    parameter int unsigned LogWays   = 1,
    parameter int unsigned LogMisses = 2,
    localparam int unsigned Misses   = 2**LogMisses
) (
    input logic                 clk_i,
    input logic                 rst_ni,
    input logic                 flush_i,
    input logic                 idle_i,
    input logic                 walked_i,
    input logic                 changed_i,
    input logic [LogMisses-1:0] walked_miss_i,
    input logic [Misses-1:0]    written_i,
    input logic                 write_error_i
);
    logic                 stops_o, busy_o, flushed_o, failed_o, walk_o, clean_o;
    logic [LogMisses-1:0] miss_o;
    logic [LogSets-1:0]   set_o;
    logic [LogWays-1:0]   way_o;

    power_up i_power_up (.*);
    index_flush #(.LogSets(LogSets), .LogWays(LogWays), .LogMisses(LogMisses)) i_block (.*);

    // What counts of the outputs.
    logic [LogMisses+LogSets+LogWays+5:0] seen;
    assign seen = {stops_o, busy_o, flushed_o, failed_o, walk_o, clean_o,
        walk_o || clean_o ? {miss_o, way_o, set_o} : '0};

    // What the tags and the memory keep to: a place that was offered is told of once, one that is changed is written
    // once. Without a flush other entries are written, which are none of its.
    logic [Misses-1:0] offered_q, changed_q, writes;
    assign writes = busy_o ? written_i : '0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            offered_q <= '0;
            changed_q <= '0;
        end else begin
            offered_q <= offered_q & ~(Misses'(walked_i) << walked_miss_i) | Misses'(walk_o) << miss_o;
            changed_q <= changed_q & ~writes | Misses'(walked_i && changed_i) << walked_miss_i;
        end
    end
    `RULE(what_was_offered_is_told_of_once, 0, !walked_i || offered_q[walked_miss_i])
    `RULE(what_is_changed_is_written_once, 0, (writes & ~changed_q) == 0 && $onehot0(written_i))

    `RULE(stops_from_the_clock_after, 1, !$past(rst_ni && flush_i) || stops_o)
    `RULE(offers_one_at_a_time, 1, !(walk_o && clean_o))
    `RULE(offers_only_while_it_stops, 1, !(walk_o || clean_o) || stops_o && busy_o)
    `RULE(no_place_is_offered_when_called_off, 1, !$past(rst_ni && !flush_i) || !walk_o)
    `RULE(is_busy_until_all_has_ended, 1, busy_o || offered_q == 0 && changed_q == 0)
    `RULE(flushed_until_called_off, 1, !$past(rst_ni && flushed_o) || flushed_o == $past(flush_i))

    // A place, by the number under which it was offered.
    logic [LogWays+LogSets-1:0] place;
    arbitrary #(.Width(LogWays + LogSets)) i_place (.clk_i, .value_o(place));
    typedef enum logic [2:0] {Before, Offered, Changed, Written, Over, Failed} state_t;
    state_t               state_q;
    logic [LogMisses-1:0] miss_q;
    logic                 its, failed_q;
    assign its = {way_o, set_o} == place;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !busy_o && !flushed_o) begin
            state_q  <= Before;
            failed_q <= 1'b0;
        end else begin
            if (writes != 0 && write_error_i) failed_q <= 1'b1;
            if (walk_o && its) begin
                state_q <= Offered;
                miss_q  <= miss_o;
            end
            if (state_q == Offered && walked_i && walked_miss_i == miss_q) state_q <= changed_i ? Changed : Over;
            if (state_q == Changed && writes[miss_q]) state_q <= write_error_i ? Failed : Written;
            if (clean_o && its) state_q <= Over;
        end
    end
    `RULE(place_is_offered_once, 1, !(walk_o && its) || state_q == Before)
    `RULE(place_is_cleaned_after_its_write, 1, !(clean_o && its) || state_q == Written && miss_o == miss_q)
    `RULE(all_of_it_has_ended, 1, !flushed_o || state_q == Over || state_q == Failed)
    `RULE(failure_is_told, 1, failed_o == (flushed_o && failed_q))
    // Nothing waits without a reason. Places that were offered since it is busy, numbers that are in use, and of these
    // the ones whose entries were written.
    localparam int unsigned Places = 2**(LogWays + LogSets);
    logic [LogWays+LogSets:0] offers_q;
    logic [Misses-1:0]        open_q, written_q;
    logic                     off_q;    // called off
    logic [1:0]               idle_q;   // clocks in which a flush could have begun
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !busy_o) begin
            offers_q  <= '0;
            open_q    <= '0;
            written_q <= '0;
            off_q     <= 1'b0;
        end else begin
            offers_q  <= offers_q + (LogWays+LogSets+1)'(walk_o);
            open_q    <= (open_q | Misses'(walk_o) << miss_o) & ~(Misses'(walked_i && !changed_i) << walked_miss_i)
                & ~(write_error_i ? written_i : '0) & ~(Misses'(clean_o) << miss_o);
            written_q <= (written_q | (write_error_i ? '0 : written_i)) & ~(Misses'(clean_o) << miss_o);
            off_q     <= off_q || !flush_i;
        end
        if (!rst_ni || busy_o || flushed_o || !flush_i || !idle_i) idle_q <= '0;
        else if (!idle_q[1]) idle_q <= idle_q + 1'b1;
    end
    `RULE(place_is_offered_where_its_number_is_free, 1, walk_o == (busy_o && !off_q && 32'(offers_q) < Places
        && !clean_o && !open_q[offers_q[LogMisses-1:0]]))
    `RULE(places_and_numbers_go_round, 1, !walk_o || {way_o, set_o} == offers_q[LogWays+LogSets-1:0]
        && miss_o == offers_q[LogMisses-1:0])
    `RULE(written_place_is_cleaned_next, 1, clean_o == $past(rst_ni && written_q != 0 && !clean_o))
    `RULE(flush_ends_with_the_last, 1, !$past(rst_ni && busy_o && flush_i && !off_q && 32'(offers_q) == Places
        && open_q == 0) || flushed_o && !busy_o)
    `RULE(flush_that_is_called_off_ends, 1, !$past(rst_ni && busy_o && off_q && open_q == 0) || !busy_o)
    `RULE(flush_begins_when_nothing_is_under_way, 1, !idle_q[1] || busy_o)
    `RULE(requests_are_let_in_again, 1, !$past(rst_ni && !flush_i && !busy_o && !flushed_o) || !stops_o)
    `REACHED(flush_ends, flushed_o && !failed_o && $past(flush_i))
    `REACHED(place_is_cleaned, clean_o && its)
    `REACHED(flush_fails, failed_o)
    `REACHED(flush_begins_after_another_write, $past(rst_ni && !busy_o && written_i != 0) && busy_o)
endmodule
