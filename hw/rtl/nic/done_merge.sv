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

    // The first that waits, counted from the one after the last.
    logic [Places-1:0] after_q, after_that, candidates, chosen;
    logic              free;
    done_t             next;
    assign free       = !m_axis_tvalid || m_axis_tready;
    assign after_that = valid_i & after_q;
    assign candidates = after_that != 0 ? after_that : valid_i;
    assign chosen     = Places'(first_of(Queues'(candidates)));
    assign ready_o    = free ? chosen : '0;
    always_comb begin
        next = '0;
        for (int unsigned n = 0; n < Places; n++) next |= chosen[n] ? done_i[n] : '0;
    end

    always_ff @(posedge clk_i) begin
        if (free) m_axis_tdata <= next;
        if (!rst_ni) begin
            m_axis_tvalid <= 1'b0;
            after_q       <= '0;
        end else if (free) begin
            m_axis_tvalid <= |valid_i;
            if (valid_i != 0) after_q <= Places'(behind(Queues'(candidates)));
        end
    end

`ifndef SYNTHESIS
    end_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        m_axis_tvalid && !m_axis_tready |=> m_axis_tvalid && $stable(m_axis_tdata));
`endif

endmodule
