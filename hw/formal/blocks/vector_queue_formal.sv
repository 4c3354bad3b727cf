// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_queue: elements go to the vector of their direction and leave it in order and whole; a vector is sent when it
// is full, or its oldest element has waited for the flush time, or its queue was idle, and not before the last is taken.
`include "../rules/rule.svh"
module vector_queue_formal
    import vector_pkg::*;
#(
    parameter int unsigned Ways = 2
) (
    input logic            clk_i,
    input logic            rst_ni,
    input logic            enable_i,
    input logic [15:0]     idle_time_i,
    input logic [15:0]     flush_time_i,
    input logic            s_axis_tvalid,
    input logic [160:0]    s_axis_tdata,
    input logic [Ways-1:0] pop_i
);
    logic                s_axis_tready, accepted_o;
    sent_t    [Ways-1:0] sent_o;
    logic     [Ways-1:0] waits_o, last_o;
    element_t [Ways-1:0] head_o;

    power_up i_power_up (.*);
    vector_queue #(.Ways(Ways)) i_block (.*);
    axi4_stream_rules #(.Width(161), .Proven(0)) i_in (
        .clk_i, .rst_ni, .tvalid(s_axis_tvalid), .tready(s_axis_tready), .payload(s_axis_tdata));
    `RULE(elements_are_popped_where_some_wait, 0, (pop_i & ~waits_o) == 0)
    `RULE(reads_alone_come_where_no_writes_can, 0, !s_axis_tvalid || 32'(s_axis_tdata[160]) < Ways)

    // What counts of the outputs.
    element_t [Ways-1:0]                      while_it_waits;
    logic [2 + Ways*(4+$bits(element_t))-1:0] seen;
    always_comb for (int unsigned way = 0; way < Ways; way++) while_it_waits[way] = {$bits(element_t){waits_o[way]}};
    assign seen = {s_axis_tready, accepted_o, sent_o, waits_o, last_o & waits_o, head_o & while_it_waits};

    `RULE(accepted_is_told, 1, accepted_o == (s_axis_tvalid && s_axis_tready))
    `RULE(nothing_is_taken_while_disabled, 1, enable_i || !s_axis_tready)
    logic [Ways-1:0] has_room;
    `RULE(element_is_taken_where_none_is_full, 1, s_axis_tready == (enable_i && &has_room))

    // Clocks since the last element came, and both times as they were a clock ago.
    logic [15:0] quiet_q, idle_time_q, flush_time_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || accepted_o) quiet_q <= 16'd1;
        else if (quiet_q != '1) quiet_q <= quiet_q + 1'b1;
        idle_time_q  <= idle_time_i;
        flush_time_q <= flush_time_i;
    end
    logic idle;
    assign idle = quiet_q >= idle_time_q && !accepted_o;
    // A bit of an element stands for all, of which any is followed.
    logic [7:0] place;
    arbitrary #(.Width(8)) i_place (.clk_i, .value_o(place));
    place_is_a_bit: assume property (@(posedge clk_i) 32'(place) < $bits(element_t));
    for (genvar way = 0; way < Ways; way++) begin : g_ways
        // Elements since the last vector was sent, of the sent one those that were not taken, and clocks since the
        // oldest of the open ones came.
        logic        push, free;
        logic [3:0]  open_q, sent_q, count;
        logic [15:0] age_q;
        sent_t       why;
        assign has_room[way] = open_q != VectorLength;
        assign push  = accepted_o && s_axis_tdata[160] == 1'(way);
        assign count = open_q + 4'(push);
        assign free  = sent_q == 0 || sent_q == 4'd1 && pop_i[way];
        always_comb begin
            why = NotSent;
            if (free && count != 0) begin
                if (open_q != 0 && idle) why = Idle;
                if (open_q != 0 && age_q >= flush_time_q) why = Flushed;
                if (count == VectorLength) why = Full;
            end
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                open_q <= '0;
                sent_q <= '0;
                age_q  <= '0;
            end else begin
                open_q <= why != NotSent ? '0 : count;
                sent_q <= why != NotSent ? count : sent_q - 4'(pop_i[way]);
                if (open_q == 0) age_q <= 16'd1;
                else if (age_q != '1) age_q <= age_q + 1'b1;
            end
        end
        `RULE(vector_is_sent_when_it_should, 1, sent_o[way] == why)
        `RULE(sent_elements_wait, 1, waits_o[way] == (sent_q != 0) && (!waits_o[way] || last_o[way] == (sent_q == 4'd1)))

        // An element that the prover marks when it comes, and how many are ahead of it.
        logic       mark, followed_q, bit_q;
        logic [4:0] ahead_q, ahead;
        anything i_mark (.clk_i, .value_o(mark));
        assign ahead = followed_q ? ahead_q : 5'(open_q) + 5'(sent_q);
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                followed_q <= 1'b0;
                ahead_q    <= '0;
            end else begin
                followed_q <= followed_q ? !(pop_i[way] && ahead_q == 0) : push && mark;
                ahead_q    <= ahead - 5'(pop_i[way]);
            end
            if (!followed_q) bit_q <= s_axis_tdata[place];
        end
        `RULE(element_leaves_as_it_came, 1, !(followed_q && waits_o[way] && ahead_q == 0) || head_o[way][place] == bit_q)
        // What vector_fill asks of its queue.
        `RULE(queue_is_not_idle_while_one_comes, 1,
            !(i_block.g_ways[way].i_fill.push_i && i_block.g_ways[way].i_fill.idle_i))
        `RULE(element_comes_to_a_vector_with_room, 1, !i_block.g_ways[way].i_fill.push_i || i_block.g_ways[way].i_fill.room_o)
        // What is in the block's registers.
        `RULE(elements_are_in_their_vectors, 1, open_q == i_block.g_ways[way].i_fill.open_q && sent_q == i_block.g_ways[way].i_fill.sent_q)
        `RULE(age_is_that_of_the_oldest, 1, open_q == 0 || age_q == i_block.g_ways[way].i_fill.age_q
            && i_block.g_ways[way].i_fill.old_q == (age_q >= flush_time_q))
        `RULE(vectors_have_at_most_15, 1, sent_q <= VectorLength && open_q <= VectorLength)
        logic [31:0] kept;
        logic [4:0]  its_place;
        always_comb for (int unsigned n = 0; n < 32; n++) kept[n] = i_block.g_ways[way].i_fill.i_ring.words[n][place];
        assign its_place = i_block.g_ways[way].i_fill.popped_q + ahead_q;
        `RULE(followed_element_is_in_its_place, 1, !followed_q
            || kept[its_place] == bit_q && ahead_q < 5'(open_q) + 5'(sent_q))
    end
    `RULE(quiet_clocks_are_counted, 1, quiet_q == i_block.quiet_q && i_block.long_q == (quiet_q >= idle_time_q))
    `REACHED(second_element_leaves, g_ways[0].followed_q && pop_i[0] && g_ways[0].ahead_q == 0 && $past(pop_i[0]))
    if (Ways > 1) begin : g_both
        `REACHED(both_send, sent_o[0] != NotSent && sent_o[1] != NotSent)
    end
endmodule
