// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of vector_engine, whose job proves it: elements are accepted while it is enabled, as many end as were accepted, and
// its ports keep the rules of AXI4. All else is anything. What its contract asks of the settings is proven here.
`include "../rules/rule.svh"
module vector_engine
    import vector_pkg::*;
(
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       enable_i,
    input  logic [15:0]                idle_time_i,
    input  logic [15:0]                flush_time_i,
    input  logic [63:12]               host_first_i,
    input  logic [63:12]               host_last_i,
    input  logic [63:12]               nic_first_i,
    input  logic [63:12]               nic_last_i,
    input  logic  [Queues-1:0]         s_axis_cmd_tvalid,
    output logic  [Queues-1:0]         s_axis_cmd_tready,
    input  logic  [Queues-1:0][160:0]  s_axis_cmd_tdata,
    output logic                       m_axis_done_tvalid,
    input  logic                       m_axis_done_tready,
    output done_t                      m_axis_done_tdata,
    output logic  [1:0]                m_axi_arvalid,
    input  logic  [1:0]                m_axi_arready,
    output logic  [1:0][7:0]           m_axi_arid,
    output logic  [1:0][63:0]          m_axi_araddr,
    output logic  [1:0][7:0]           m_axi_arlen,
    input  logic  [1:0]                m_axi_rvalid,
    input  logic  [1:0][7:0]           m_axi_rid,
    input  logic  [1:0][511:0]         m_axi_rdata,
    input  logic  [1:0][1:0]           m_axi_rresp,
    input  logic  [1:0]                m_axi_rlast,
    output logic  [1:0]                m_axi_awvalid,
    input  logic  [1:0]                m_axi_awready,
    output logic  [1:0][7:0]           m_axi_awid,
    output logic  [1:0][63:0]          m_axi_awaddr,
    output logic  [1:0][7:0]           m_axi_awlen,
    output logic  [1:0]                m_axi_wvalid,
    input  logic  [1:0]                m_axi_wready,
    output logic  [1:0][511:0]         m_axi_wdata,
    output logic  [1:0][63:0]          m_axi_wstrb,
    output logic  [1:0]                m_axi_wlast,
    input  logic  [1:0]                m_axi_bvalid,
    output logic  [1:0]                m_axi_bready,
    input  logic  [1:0][7:0]           m_axi_bid,
    input  logic  [1:0][1:0]           m_axi_bresp,
    output logic  [Queues-1:0]         accepted_o,
    output sent_t [1:0][Queues-1:0]    sent_o,
    output logic  [1:0][Queues-1:0]    begun_o,
    output logic  [1:0][8:0]           bytes_o,
    output logic  [1:0]                refused_o
);
    // Elements that were accepted and have not ended. One ends no sooner than it is told that it was accepted.
    logic [11:0]       count_q;
    logic [Queues-1:0] takes, accepted;
    logic              ends, leaves;
    done_t             done;
    anything #(.Width(Queues + $bits(done_t) + 1)) i_any (.clk_i, .value_o({takes, ends, done}));
    anything #(.Width(68)) i_told (.clk_i, .value_o({sent_o, begun_o, bytes_o, refused_o}));
    assign s_axis_cmd_tready = enable_i && count_q < 12'd4088 ? takes : '0;
    assign accepted          = s_axis_cmd_tvalid & s_axis_cmd_tready;
    assign leaves            = m_axis_done_tvalid && m_axis_done_tready;
    always_ff @(posedge clk_i) begin
        count_q    <= rst_ni ? count_q + 12'($countones(accepted)) - 12'(leaves) : '0;
        accepted_o <= rst_ni ? accepted : '0;
        if (!m_axis_done_tvalid || m_axis_done_tready) begin
            m_axis_done_tvalid <= rst_ni && ends && count_q != 12'(leaves);
            m_axis_done_tdata  <= done;
        end
        if (!rst_ni) m_axis_done_tvalid <= 1'b0;
    end
    `RULE(end_is_of_an_element, 1, !m_axis_done_tvalid || count_q > 12'($countones(accepted_o)))
    `RULE(settings_stay_while_elements_are_under_way, 1, !$past(rst_ni && (count_q != 0 || accepted != 0))
        || $stable({idle_time_i, flush_time_i, host_first_i, host_last_i, nic_first_i, nic_last_i}))
    for (genvar n = 0; n < Queues; n++) begin : g_queues
        axi4_stream_rules #(.Width(161), .Proven(1), .Waits(0), .Dense(0)) i_cmd (
            .clk_i, .rst_ni, .tvalid(s_axis_cmd_tvalid[n]), .tready(s_axis_cmd_tready[n]), .payload(s_axis_cmd_tdata[n]));
    end

    // ---- The ports: the rules of their user are assumed of what they give, those of memory proven of what comes. Reads of one
    // way and writes of the other go to one port of the top; no rule is about both.
    anything #(.Width(164)) i_reads (.clk_i, .value_o({m_axi_arvalid, m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_bready}));
    anything #(.Width(162)) i_writes (.clk_i, .value_o({m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_awlen}));
    anything #(.Width(1156)) i_data (.clk_i, .value_o({m_axi_wvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast}));
    for (genvar way = 0; way < 2; way++) begin : g_ports
        axi4_rules #(.Manager(0), .Most(256)) i_rules (
            .clk_i, .rst_ni,
            .awvalid(m_axi_awvalid[1-way]), .awready(m_axi_awready[1-way]), .awid(m_axi_awid[1-way]),
            .awaddr(m_axi_awaddr[1-way]), .awlen(m_axi_awlen[1-way]), .awsize(3'd6), .awburst(2'b01), .awlock('0), .awatop('0),
            .wvalid(m_axi_wvalid[1-way]), .wready(m_axi_wready[1-way]), .wdata(m_axi_wdata[1-way]),
            .wstrb(m_axi_wstrb[1-way]), .wlast(m_axi_wlast[1-way]), .bvalid(m_axi_bvalid[1-way]),
            .bready(m_axi_bready[1-way]), .bid(m_axi_bid[1-way]), .bresp(m_axi_bresp[1-way]),
            .arvalid(m_axi_arvalid[way]), .arready(m_axi_arready[way]), .arid(m_axi_arid[way]), .araddr(m_axi_araddr[way]),
            .arlen(m_axi_arlen[way]), .arsize(3'd6), .arburst(2'b01), .arlock('0), .rvalid(m_axi_rvalid[way]),
            .rready(1'b1), .rid(m_axi_rid[way]), .rdata(m_axi_rdata[way]), .rresp(m_axi_rresp[way]), .rlast(m_axi_rlast[way]));
        // Bursts have five lines at most.
        logic [2:0] lines_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) lines_q <= '0;
            else if (m_axi_wvalid[1-way] && m_axi_wready[1-way]) lines_q <= m_axi_wlast[1-way] ? '0 : lines_q + 1'b1;
        end
        `RULE(bursts_have_five_lines_at_most, 0, (!m_axi_arvalid[way] || m_axi_arlen[way] < 8'd5)
            && (!m_axi_awvalid[1-way] || m_axi_awlen[1-way] < 8'd5)
            && (!m_axi_wvalid[1-way] || lines_q < 3'd4 || m_axi_wlast[1-way]))
        `RULE(lines_are_counted, 1, lines_q < 3'd5 && (lines_q != 0) == i_rules.g_followed.i_write.partial_q
            && (!i_rules.g_followed.i_write.follows_q || i_rules.g_followed.i_write.ended_q
                || i_rules.g_followed.i_write.bursts_q != 0 || i_rules.g_followed.i_write.beats_q == 9'(lines_q)))
    end
endmodule
