// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathers the elements of one queue and direction into vectors of at most 15.
//
// Contract: `push_i` only while `room_o` is high. The open vector is sent in the clock in which its
// 15th element comes, or its oldest element came `flush_time_i` clocks ago, or `idle_i` is high;
// but not before the last vector has been taken whole: it fills further until then. The time counts
// that was given a clock before. The element that comes in the clock of the sending goes with it.
// `head_o` is the next element of the sent vector while `waits_o` is high; elements leave in the order
// in which they came.
module vector_fill
    import vector_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,

    input  logic [15:0] flush_time_i,   // clocks; 0 is as 1
    input  logic        idle_i,         // never with push_i

    input  logic        push_i,
    input  element_t    element_i,
    output logic        room_o,
    output sent_t       sent_o,         // in this clock

    output logic        waits_o,
    output logic        last_o,         // of its vector
    output element_t    head_o,
    input  logic        pop_i
);

    // Elements of the open vector, and of the sent one that were not taken.
    logic [3:0]  open_q, sent_q, count;
    // Clocks since the oldest of the open ones came, in this clock and the next; and whether they are enough.
    logic [15:0] age_q, age;
    logic        old_q;
    sent_t       why;                   // the open vector is to be sent
    logic        free, send;
    // `push_i` comes later than the sum.
    assign count  = push_i ? open_q + 4'd1 : open_q;
    assign age    = open_q == 0 ? 16'd1 : age_q + 16'(age_q != '1);
    always_comb begin
        why = NotSent;
        if (count == VectorLength) why = Full;
        else if (open_q != 0 && old_q) why = Flushed;
        else if (open_q != 0 && idle_i) why = Idle;
    end
    // `pop_i` comes late in the clock, so little depends on it.
    assign free   = !waits_o || last_o && pop_i;
    assign send   = free && why != NotSent;
    assign sent_o = free ? why : NotSent;

    // Both vectors are parts of one ring.
    logic [4:0] pushed_q, popped_q;
    lut_ram #(
        .AddressWidth(5),
        .DataWidth   ($bits(element_t))
    ) i_ring (
        .clk_i,
        .write_enable_i (push_i),
        .write_address_i(pushed_q),
        .write_data_i   (element_i),
        .read_address_i (popped_q),
        .read_data_o    (head_o)
    );

    always_ff @(posedge clk_i) begin
        age_q <= age;
        old_q <= age >= flush_time_i;
        if (!rst_ni) begin
            open_q   <= '0;
            room_o   <= 1'b1;
            sent_q   <= '0;
            waits_o  <= 1'b0;
            last_o   <= 1'b0;
            pushed_q <= '0;
            popped_q <= '0;
        end else begin
            open_q <= send ? '0 : count;
            room_o <= send || count != VectorLength;
            if (free) begin
                waits_o <= why != NotSent;
                last_o  <= why != NotSent && count == 4'd1;
                sent_q  <= why != NotSent ? count : '0;
            end else begin
                last_o <= sent_q == (pop_i ? 4'd2 : 4'd1);
                sent_q <= sent_q - 4'(pop_i);
            end
            if (push_i) pushed_q <= pushed_q + 1'b1;
            if (pop_i) popped_q <= popped_q + 1'b1;
        end
    end

`ifndef SYNTHESIS
    flags_say_what_the_count_says: assert property (@(posedge clk_i) disable iff (!rst_ni)
        waits_o == (sent_q != 0) && last_o == (sent_q == 4'd1) && room_o == (open_q != VectorLength));
    element_comes_when_there_is_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !push_i || room_o);
    element_is_taken_from_a_sent_vector: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !pop_i || waits_o);
    no_vector_is_sent_empty: assert property (@(posedge clk_i) disable iff (!rst_ni)
        sent_o == NotSent || count != 0);
    vector_is_sent_after_the_last: assert property (@(posedge clk_i) disable iff (!rst_ni)
        sent_o == NotSent || sent_q == 4'(pop_i));
    no_element_is_lost_in_the_ring: assert property (@(posedge clk_i) disable iff (!rst_ni)
        5'(pushed_q - popped_q) == 5'(open_q) + 5'(sent_q));
`endif

endmodule
