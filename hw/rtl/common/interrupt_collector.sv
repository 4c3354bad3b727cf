// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects interrupts and hands them over one by one, so that none is lost.
//
// Contract: `raised_i[n]` interrupts of vector n are raised in a clock. Each becomes one beat
// on the stream, however long that takes, and counts in `count_o[n]` when it is handed over.
// Vectors take turns.
module interrupt_collector #(
    parameter int unsigned Vectors = 4  // at least 2
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [1:0]  raised_i[Vectors],
    output logic [31:0] count_o[Vectors],    // wraps

    output logic        m_axis_irq_tvalid,
    input  logic        m_axis_irq_tready,
    output logic [7:0]  m_axis_irq_tdata
);

    // Raised, and on the stream or past it. Both wrap, their difference is what waits.
    logic [31:0]        raised_q[Vectors];
    logic [31:0]        offered_q[Vectors];
    logic [Vectors-1:0] waits, chosen;
    logic               free;
    assign free = !m_axis_irq_tvalid || m_axis_irq_tready;
    always_comb begin
        for (int unsigned n = 0; n < Vectors; n++) waits[n] = raised_q[n] != offered_q[n];
    end

    logic [$clog2(Vectors)-1:0] next;
    take_turns #(
        .Count(Vectors)
    ) i_turns (
        .clk_i,
        .rst_ni,
        .asks_i  (waits),
        .taken_i (free && |waits),
        .chosen_o(chosen),
        .number_o(next)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            for (int unsigned n = 0; n < Vectors; n++) begin
                raised_q[n]  <= '0;
                offered_q[n] <= '0;
                count_o[n]   <= '0;
            end
            m_axis_irq_tvalid <= 1'b0;
            m_axis_irq_tdata  <= '0;
        end else begin
            for (int unsigned n = 0; n < Vectors; n++) begin
                if (raised_i[n] != 0) raised_q[n] <= raised_q[n] + 32'(raised_i[n]);
                if (free && chosen[n]) offered_q[n] <= offered_q[n] + 1'b1;
                if (m_axis_irq_tvalid && m_axis_irq_tready && m_axis_irq_tdata == 8'(n)) begin
                    count_o[n] <= count_o[n] + 1'b1;
                end
            end
            if (free) begin
                m_axis_irq_tvalid <= |waits;
                m_axis_irq_tdata  <= 8'(next);
            end
        end
    end

`ifndef SYNTHESIS
    vector_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_irq_tvalid && !m_axis_irq_tready)
            || m_axis_irq_tvalid && $stable(m_axis_irq_tdata));
`endif

endmodule
