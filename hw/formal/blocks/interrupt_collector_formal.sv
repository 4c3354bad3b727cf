// SPDX-License-Identifier: MIT OR Apache-2.0
// interrupt_collector: for one vector, which is any, each interrupt that is raised is handed over once and counted,
// and none waits while others have two turns.
`include "../rules/rule.svh"
module interrupt_collector_formal #(
    parameter int unsigned Vectors = 3
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic [1:0] raised_i[Vectors],
    input logic       m_axis_irq_tready
);
    logic [31:0] count_o[Vectors];
    logic        m_axis_irq_tvalid;
    logic [7:0]  m_axis_irq_tdata;

    power_up i_power_up (.*);
    interrupt_collector #(.Vectors(Vectors)) i_block (.*);
    axi4_stream_rules #(.Width(8)) i_out (
        .clk_i, .rst_ni, .tvalid(m_axis_irq_tvalid), .tready(m_axis_irq_tready), .payload(m_axis_irq_tdata));

    // What counts of the outputs.
    logic [104:0] seen;
    assign seen = {count_o[0], count_o[1], count_o[2], m_axis_irq_tvalid, m_axis_irq_tvalid ? m_axis_irq_tdata : 8'd0};

    logic [7:0] vector;
    arbitrary #(.Width(8)) i_vector (.clk_i, .value_o(vector));

    logic [1:0]  raised;
    logic [31:0] count, raised_before, offered_before;
    always_comb begin
        raised         = '0;
        count          = '0;
        raised_before  = '0;
        offered_before = '0;
        for (int unsigned n = 0; n < Vectors; n++) begin
            if (vector == 8'(n)) begin
                raised         = raised_i[n];
                count          = count_o[n];
                raised_before  = i_block.raised_q[n];
                offered_before = i_block.offered_q[n];
            end
        end
    end

    logic        handed, offered;
    logic [31:0] raised_q, handed_q;
    assign offered = m_axis_irq_tvalid && m_axis_irq_tdata == vector;
    assign handed  = offered && m_axis_irq_tready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            raised_q <= '0;
            handed_q <= '0;
        end else if (32'(vector) < Vectors) begin
            raised_q <= raised_q + 32'(raised);
            handed_q <= handed_q + 32'(handed);
        end
    end

    `RULE(what_is_raised_is_kept, 1, raised_before == raised_q)
    `RULE(what_is_handed_over_is_counted, 1, count == handed_q)
    `RULE(what_is_offered_is_handed_over_once, 1, 32'(vector) >= Vectors || offered_before == handed_q + 32'(offered))
    `RULE(only_what_was_raised_is_offered, 1, !$past(rst_ni && (!m_axis_irq_tvalid || m_axis_irq_tready)) || !offered
        || $past(raised_q != handed_q + 32'(offered)))
    `RULE(number_is_that_of_a_vector, 1, !m_axis_irq_tvalid || 32'(m_axis_irq_tdata) < Vectors)

    `RULE(vector_that_waits_goes_to_a_free_stream, 1, !$past(rst_ni && raised_before != offered_before
        && (!m_axis_irq_tvalid || m_axis_irq_tready)) || m_axis_irq_tvalid)

    // Vectors take turns.
    logic               waits, chosen;
    logic [Vectors-1:0] its, taken;
    assign its    = Vectors'(256'd1 << vector);
    assign waits  = raised_before != offered_before;
    assign taken  = i_block.free ? i_block.chosen : '0;
    assign chosen = (taken & its) != 0;
    fair_turns #(.Count(Vectors)) i_turns (
        .clk_i, .rst_ni, .asks_i(i_block.waits), .taken_i(taken), .behind_i(i_block.i_turns.behind_q));
    `RULE(last_number_is_that_of_a_vector, 1, 32'(m_axis_irq_tdata) < Vectors)

    `REACHED(two_are_raised_and_handed_over, raised_q == 32'd2 && handed_q == 32'd2)
    `REACHED(vector_waits_for_all_others, 32'($countones(i_turns.went_q)) == Vectors - 1)
endmodule
