// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives the ends of elements from several places on one stream, in turns.
//
// Contract: an end that is offered is taken once. What is on the stream holds until it is taken.
module done_merge
    import vector_pkg::*;
#(
    parameter int unsigned Places = 4        // at most 8
) (
    input  logic               clk_i,
    input  logic               rst_ni,

    input  logic  [Places-1:0] valid_i,
    input  done_t [Places-1:0] done_i,
    output logic  [Places-1:0] ready_o,

    output logic               m_axis_tvalid,
    input  logic               m_axis_tready,
    output done_t              m_axis_tdata
);

    // Two ends of each place wait here, so that `ready_o` depends on registers only.
    logic  [Places-1:0] waits, chosen;
    done_t [Places-1:0] waiting;
    logic               free;
    for (genvar n = 0; n < Places; n++) begin : g_places
        logic [1:0] count_q;
        logic       push, pop;
        assign ready_o[n] = !count_q[1];
        assign push       = valid_i[n] && ready_o[n];
        assign pop        = chosen[n] && free;
        lut_fifo #(
            .LogDepth(1),
            .Width   ($bits(done_t))
        ) i_waiting (
            .clk_i,
            .rst_ni,
            .push_i (push),
            .data_i (done_i[n]),
            .pop_i  (pop),
            .valid_o(waits[n]),
            .data_o (waiting[n])
        );
        always_ff @(posedge clk_i) begin
            if (!rst_ni) count_q <= '0;
            else if (push != pop) count_q <= push ? count_q + 1'b1 : count_q - 1'b1;
        end
    end

    done_t                     next;
    logic [$clog2(Places)-1:0] unused;
    assign free = !m_axis_tvalid || m_axis_tready;
    take_turns #(
        .Count(Places)
    ) i_turns (
        .clk_i,
        .rst_ni,
        .asks_i  (waits),
        .taken_i (free && |waits),
        .chosen_o(chosen),
        .number_o(unused)
    );
    always_comb begin
        next = '0;
        for (int unsigned n = 0; n < Places; n++) next |= chosen[n] ? waiting[n] : '0;
    end

    always_ff @(posedge clk_i) begin
        if (free) m_axis_tdata <= next;
        if (!rst_ni) m_axis_tvalid <= 1'b0;
        else if (free) m_axis_tvalid <= |waits;
    end

`ifndef SYNTHESIS
    end_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_tvalid && !m_axis_tready) || m_axis_tvalid && $stable(m_axis_tdata));
`endif

endmodule
