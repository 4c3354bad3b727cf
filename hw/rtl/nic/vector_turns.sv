// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes the sent vectors of eight queues in turns, one element a clock.
//
// Contract: a vector is taken whole before the next one is begun, and queues that wait follow each
// other in circles. An element is given in the clock after it is taken; `ready_i` says, a clock
// before, that there is a place for it.
module vector_turns
    import vector_pkg::*;
(
    input  logic                  clk_i,
    input  logic                  rst_ni,

    input  logic     [Queues-1:0] waits_i,
    input  logic     [Queues-1:0] last_i,
    input  element_t [Queues-1:0] head_i,
    output logic     [Queues-1:0] pop_o,

    input  logic                  ready_i,
    output logic                  take_o,       // an element, in this clock
    output logic                  valid_o,
    output logic     [2:0]        queue_o,
    output element_t              element_o
);

    // The queue that had the last turn, and whether its vector goes on.
    logic [Queues-1:0] turn_q, next, from_one, chosen;
    logic              inside_q;
    logic [2:0]        unused;
    take_turns #(
        .Count(Queues)
    ) i_turns (
        .clk_i,
        .rst_ni,
        // The circle begins with queue 1, as after a turn of queue 0.
        .asks_i  ({waits_i[0], waits_i[Queues-1:1]}),
        .taken_i (take_o && !inside_q),
        .chosen_o(from_one),
        .number_o(unused)
    );
    assign next   = {from_one[Queues-2:0], from_one[Queues-1]};
    assign chosen = inside_q ? turn_q : next;
    assign take_o = ready_i && |waits_i;
    assign pop_o  = ready_i ? chosen : '0;

    logic     goes_on;
    element_t head;
    assign goes_on = (chosen & last_i) == 0;
    always_comb begin
        head = '0;
        for (int unsigned n = 0; n < Queues; n++) head |= chosen[n] ? head_i[n] : '0;
    end

    always_ff @(posedge clk_i) begin
        element_o <= head;
        if (!rst_ni) begin
            inside_q <= 1'b0;
            turn_q   <= Queues'(1);
            valid_o  <= 1'b0;
        end else begin
            valid_o <= take_o;
            if (take_o) begin
                inside_q <= goes_on;
                turn_q   <= chosen;
            end
        end
    end

    always_comb begin
        queue_o = '0;
        for (int unsigned n = 0; n < Queues; n++) if (turn_q[n]) queue_o |= 3'(n);
    end

`ifndef SYNTHESIS
    vector_under_way_waits_for_its_next: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !inside_q || (waits_i & turn_q) != 0);
    element_is_taken_where_one_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (pop_o & ~waits_i) == 0 && $onehot0(pop_o) && take_o == |pop_o);
`endif

endmodule
