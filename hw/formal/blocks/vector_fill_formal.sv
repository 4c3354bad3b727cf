// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_fill: a vector is sent when it is full, or its oldest element has waited for the flush time, or its queue was idle,
// with all that is open, and not before the last is taken; elements leave in order and whole.
`include "../rules/rule.svh"
module vector_fill_formal
    import vector_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic [15:0] flush_time_i,
    input logic        idle_i,
    input logic        push_i,
    input element_t    element_i,
    input logic        pop_i
);
    logic     room_o, waits_o, last_o;
    sent_t    sent_o;
    element_t head_o;

    power_up i_power_up (.*);
    vector_fill i_block (.*);
    // The block asserts the rest of what is asked of the user.
    `RULE(queue_is_not_idle_while_one_comes, 0, !(push_i && idle_i))

    // What counts of the outputs.
    logic [164:0] seen;
    assign seen = {room_o, sent_o, waits_o, waits_o && last_o, waits_o ? head_o : '0};

    // Elements of the open vector; of the sent one those that were not taken; clocks since the oldest of the open ones
    // came; the time as it was a clock ago.
    logic [3:0]  open_q, sent_q, count;
    logic [15:0] age_q, flush_time_q;
    logic        free;
    sent_t       why;
    assign count = open_q + 4'(push_i);
    assign free  = sent_q == 0 || sent_q == 4'd1 && pop_i;
    always_comb begin
        why = NotSent;
        if (free && count != 0) begin
            if (open_q != 0 && idle_i) why = Idle;
            if (open_q != 0 && age_q >= flush_time_q) why = Flushed;
            if (count == VectorLength) why = Full;
        end
    end
    always_ff @(posedge clk_i) begin
        flush_time_q <= flush_time_i;
        if (!rst_ni) begin
            open_q <= '0;
            sent_q <= '0;
            age_q  <= '0;
        end else begin
            open_q <= why != NotSent ? '0 : count;
            sent_q <= why != NotSent ? count : sent_q - 4'(pop_i);
            if (open_q == 0) age_q <= 16'd1;
            else if (age_q != '1) age_q <= age_q + 1'b1;
        end
    end
    `RULE(vector_is_sent_when_it_should, 1, sent_o == why)
    `RULE(there_is_room_until_the_vector_is_full, 1, room_o == (open_q < VectorLength))
    `RULE(sent_elements_wait, 1, waits_o == (sent_q != 0) && (!waits_o || last_o == (sent_q == 4'd1)))

    // Elements in their order, in 32 places one after the other. One place, which is any, holds for all, and so does a bit.
    logic [4:0] came_q, taken_q, slot, ahead, held;
    logic       bit_q, in_front;
    logic [7:0] place;
    arbitrary #(.Width(8)) i_place (.clk_i, .value_o(place));
    place_is_a_bit: assume property (@(posedge clk_i) 32'(place) < $bits(element_t));
    assign slot     = i_block.i_ring.address;
    assign ahead    = slot - taken_q;
    assign held     = 5'(open_q) + 5'(sent_q);
    assign in_front = waits_o && taken_q == slot;
    always_ff @(posedge clk_i) begin
        if (push_i && came_q == slot) bit_q <= element_i[place];
        if (!rst_ni) begin
            came_q  <= '0;
            taken_q <= '0;
        end else begin
            came_q  <= came_q + 5'(push_i);
            taken_q <= taken_q + 5'(pop_i);
        end
    end
    `RULE(element_leaves_as_it_came, 1, !in_front || head_o[place] == bit_q)

    // What is inside, which induction needs to be told.
    `RULE(elements_are_in_their_vectors, 1, open_q == i_block.open_q && sent_q == i_block.sent_q)
    `RULE(vectors_have_at_most_15, 1, sent_q <= VectorLength && open_q <= VectorLength)
    `RULE(age_is_that_of_the_oldest, 1, open_q == 0
        || age_q == i_block.age_q && i_block.old_q == (age_q >= flush_time_q))
    `RULE(element_is_in_its_place, 1, came_q == i_block.pushed_q && taken_q == i_block.popped_q
        && (ahead >= held || i_block.i_ring.word_q[place] == bit_q))

    `REACHED(full_vector_is_sent, sent_o == Full)
    `REACHED(full_vector_waits_for_the_last, !room_o && sent_o == NotSent)
    `REACHED(vector_is_flushed_with_the_one_that_comes, sent_o == Flushed && push_i && flush_time_q == 16'd4 && age_q == 16'd4)
    `REACHED(vector_is_flushed_as_the_last_is_taken, sent_o == Flushed && pop_i)
    `REACHED(idle_queue_sends, sent_o == Idle && open_q == 4'd2)
    `REACHED(time_of_0_flushes_at_once, sent_o == Flushed && flush_time_q == 0 && open_q == 4'd1 && age_q == 16'd1)
    `REACHED(second_element_leaves, in_front && pop_i && $past(rst_ni && pop_i))
endmodule
