// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of probe_scan: each scan takes lines up to a last one and has one answer, which is any, after any time. It holds
// until it is taken.
module probe_scan #(
    parameter int unsigned SlotBytes  = 32,
    parameter int unsigned ValueWords = 2
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       s_axis_key_tvalid,
    output logic                       s_axis_key_tready,
    input  logic [151:0]               s_axis_key_tdata,
    input  logic                       s_axis_data_tvalid,
    output logic                       s_axis_data_tready,
    input  logic [511:0]               s_axis_data_tdata,
    input  logic                       s_axis_data_tlast,
    input  logic                       s_axis_data_tuser,
    output logic                       m_axis_hit_tvalid,
    input  logic                       m_axis_hit_tready,
    output logic [64*ValueWords+127:0] m_axis_hit_tdata
);
    logic                       takes_scan, takes_line, answers, leaves;
    logic [64*ValueWords+127:0] answer;
    logic [4:0]                 scans_q, whole_q;    // not answered yet, and of them those whose lines have all come
    anything #(.Width(64 * ValueWords + 131)) i_any (.clk_i, .value_o({takes_scan, takes_line, answers, answer}));
    assign s_axis_key_tready  = takes_scan;
    assign s_axis_data_tready = takes_line && scans_q != whole_q;
    assign leaves             = m_axis_hit_tvalid && m_axis_hit_tready;
    always_ff @(posedge clk_i) begin
        if (leaves || !m_axis_hit_tvalid) m_axis_hit_tdata <= answer;
        if (!rst_ni) begin
            scans_q           <= '0;
            whole_q           <= '0;
            m_axis_hit_tvalid <= 1'b0;
        end else begin
            scans_q           <= scans_q + 5'(s_axis_key_tvalid && s_axis_key_tready) - 5'(leaves);
            whole_q           <= whole_q - 5'(leaves)
                + 5'(s_axis_data_tvalid && s_axis_data_tready && s_axis_data_tlast);
            m_axis_hit_tvalid <= m_axis_hit_tvalid && !leaves || answers && whole_q != 5'(leaves);
        end
    end
    logic unused;
    assign unused = ^{s_axis_key_tdata, s_axis_data_tdata, s_axis_data_tuser};
endmodule
