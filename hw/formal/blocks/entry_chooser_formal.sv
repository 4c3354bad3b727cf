// SPDX-License-Identifier: MIT OR Apache-2.0
// entry_chooser: each entry that is wanted is offered once, in order, with the address of its segment.
`include "../rules/rule.svh"
module entry_chooser_formal #(
    parameter int unsigned SegmentBits = 28,
    parameter int unsigned LogMisses   = 2,
    parameter int unsigned LogStride   = 6,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input logic                               clk_i,
    input logic                               rst_ni,
    input logic [63:0]                        base_i,
    input logic [Misses-1:0]                  wanted_i,
    input logic [Misses-1:0][SegmentBits-1:0] segments_i,
    input logic                               ready_i
);
    logic [Misses-1:0]    taken_o;
    logic                 valid_o;
    logic [LogMisses-1:0] miss_o;
    logic [63:0]          address_o;

    power_up i_power_up (.*);
    entry_chooser #(.SegmentBits(SegmentBits), .LogMisses(LogMisses), .LogStride(LogStride)) i_block (.*);
    axi4_stream_rules #(.Width(LogMisses + 64)) i_out (
        .clk_i, .rst_ni, .tvalid(valid_o), .tready(ready_i), .payload({miss_o, address_o}));

    // What counts of the outputs.
    logic [Misses+LogMisses+64:0] seen;
    assign seen = {taken_o, valid_o, valid_o ? {miss_o, address_o} : '0};

    // A number is wanted once at a time, and its segment stays while it is wanted or on the way; so does the base while any is.
    logic [Misses-1:0] asked_q, inside_q;
    always_ff @(posedge clk_i) begin
        asked_q  <= rst_ni ? wanted_i : '0;
        inside_q <= rst_ni ? inside_q & ~(valid_o && ready_i ? Misses'(1) << miss_o : Misses'(0)) | taken_o : '0;
    end
    `RULE(number_is_wanted_once, 0, (wanted_i & inside_q) == 0)
    `RULE(base_stays, 0, asked_q == 0 && inside_q == 0 || $stable(base_i))
    for (genvar n = 0; n < Misses; n++) begin : g_segments
        `RULE(segment_stays, 0, !asked_q[n] && !inside_q[n] || $stable(segments_i[n]))
        `RULE(number_is_in_one_register, 1, 2'(inside_q[n]) == 2'(i_block.chosen_valid_q && i_block.chosen_q == LogMisses'(n))
            + 2'(i_block.added_valid_q && i_block.added_q == LogMisses'(n)) + 2'(valid_o && miss_o == LogMisses'(n)))
    end

    logic [LogMisses-1:0] taken;
    always_comb begin
        taken = '0;
        for (int unsigned n = 0; n < Misses; n++) if (taken_o[n]) taken = LogMisses'(n);
    end
    logic [1:0] held;
    ordered_words #(.Width(LogMisses), .Most(3)) i_words (
        .clk_i, .rst_ni,
        .push_i(taken_o != 0), .pushed_i(taken),
        .pop_i(valid_o && ready_i), .popped_i(miss_o),
        .inside_o(held));

    `RULE(only_what_is_wanted_is_taken, 1, (taken_o & ~wanted_i) == 0 && $onehot0(taken_o))
    `RULE(address_is_that_of_the_segment, 1,
        !valid_o || address_o == base_i + (64'(segments_i[miss_o]) << LogStride))
    logic [63:0] offset;
    assign offset = 64'(segments_i[i_block.added_q]) << LogStride;
    // Half of the address is made a clock before the other.
    `RULE(low_half_is_that_of_the_segment, 1, !i_block.added_valid_q
        || i_block.low_q == {1'b0, base_i[31:0]} + {1'b0, offset[31:0]} && i_block.high_q == offset[63:32])

    // The words of the three registers, from the one that leaves first.
    logic [2:0][LogMisses-1:0] waiting;
    logic [1:0]                count;
    always_comb begin
        waiting = '0;
        count   = '0;
        if (valid_o) begin
            waiting[count] = miss_o;
            count          = count + 1'b1;
        end
        if (i_block.added_valid_q) begin
            waiting[count] = i_block.added_q;
            count          = count + 1'b1;
        end
        if (i_block.chosen_valid_q) begin
            waiting[count] = i_block.chosen_q;
            count          = count + 1'b1;
        end
    end
    `RULE(registers_hold_what_is_inside, 1, count == held)
    `RULE(followed_word_is_in_its_register, 1,
        !i_words.followed_q || waiting[i_words.ahead_q] == i_words.word_q)
    `RULE(one_is_taken_where_there_is_room, 1, wanted_i == 0 || (taken_o != 0) == (held != 2'd3 || ready_i))
    fair_turns #(.Count(Misses)) i_turns (
        .clk_i, .rst_ni, .asks_i(wanted_i), .taken_i(taken_o), .behind_i(i_block.i_turns.behind_q));

    // Clocks in which something is inside, and nothing is offered.
    logic [1:0] hidden_q;
    always_ff @(posedge clk_i) hidden_q <= rst_ni && held != 0 && !valid_o ? hidden_q + 1'b1 : '0;
    `RULE(entry_is_offered_in_the_third_clock, 1, held == 0 || valid_o || hidden_q < 2'd2)
    `RULE(hidden_entry_goes_on, 1, held == 0 || valid_o || hidden_q == 0 || i_block.added_valid_q)
    `REACHED(a_second_is_taken_behind_the_first, held == 2'd3 && taken_o != 0)
endmodule
