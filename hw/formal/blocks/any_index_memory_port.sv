// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of index_memory_port, whose job proves it: what is wanted is taken and ends once each, at any time, with any entry; and
// its port keeps the rules of AXI4, with bursts of whole entries.
`include "../rules/rule.svh"
module index_memory_port #(
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned LogMisses   = 3,
    parameter int unsigned Lines       = 1,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic [63:0]                        base_i,
    input  logic [Misses-1:0]                  to_fetch_i,
    input  logic [Misses-1:0]                  to_write_i,
    input  logic [Misses-1:0][SegmentBits-1:0] segments_i,
    input  logic [Misses-1:0][SegmentBits-1:0] victims_i,
    output logic [Misses-1:0]                  fetch_taken_o,
    output logic [Misses-1:0]                  write_taken_o,
    output logic [Misses-1:0]                  fetched_o,
    output logic [Misses-1:0]                  written_o,
    output logic                               fetch_error_o,
    output logic                               write_error_o,
    input  logic [LogMisses-1:0]               line_miss_i,
    output logic [512*Lines-1:0]               line_o,
    input  logic                               snapshot_i,
    input  logic [LogMisses-1:0]               snapshot_miss_i,
    input  logic [512*Lines-1:0]               snapshot_line_i,
    output logic                               m_axi_awvalid,
    input  logic                               m_axi_awready,
    output logic [7:0]                         m_axi_awid,
    output logic [63:0]                        m_axi_awaddr,
    output logic [7:0]                         m_axi_awlen,
    output logic [2:0]                         m_axi_awsize,
    output logic [1:0]                         m_axi_awburst,
    output logic                               m_axi_wvalid,
    input  logic                               m_axi_wready,
    output logic [511:0]                       m_axi_wdata,
    output logic [63:0]                        m_axi_wstrb,
    output logic                               m_axi_wlast,
    input  logic                               m_axi_bvalid,
    output logic                               m_axi_bready,
    input  logic [7:0]                         m_axi_bid,
    input  logic [1:0]                         m_axi_bresp,
    output logic                               m_axi_arvalid,
    input  logic                               m_axi_arready,
    output logic [7:0]                         m_axi_arid,
    output logic [63:0]                        m_axi_araddr,
    output logic [7:0]                         m_axi_arlen,
    output logic [2:0]                         m_axi_arsize,
    output logic [1:0]                         m_axi_arburst,
    input  logic                               m_axi_rvalid,
    output logic                               m_axi_rready,
    input  logic [7:0]                         m_axi_rid,
    input  logic [511:0]                       m_axi_rdata,
    input  logic [1:0]                         m_axi_rresp,
    input  logic                               m_axi_rlast
);
    logic [Misses-1:0] fetches_q, writes_q;    // on their way
    logic [LogMisses-1:0] fetch, write, fetched, written;
    logic              takes_fetch, takes_write, comes, ends;
    anything #(.Width(4*LogMisses + 6)) i_any (.clk_i, .value_o({
        fetch, write, fetched, written, takes_fetch, takes_write, comes, ends, fetch_error_o, write_error_o}));
    anything #(.Width(512*Lines)) i_line (.clk_i, .value_o(line_o));
    assign fetch_taken_o = to_fetch_i & Misses'(takes_fetch) << fetch;
    assign write_taken_o = to_write_i & Misses'(takes_write) << write;
    assign fetched_o     = fetches_q & Misses'(comes) << fetched;
    assign written_o     = writes_q & Misses'(ends) << written;
    always_ff @(posedge clk_i) begin
        fetches_q <= rst_ni ? (fetches_q | fetch_taken_o) & ~fetched_o : '0;
        writes_q  <= rst_ni ? (writes_q | write_taken_o) & ~written_o : '0;
    end

    // ---- The port: the rules of its user are assumed of what it gives, those of memory proven of what comes.
    assign {m_axi_awlen, m_axi_awsize, m_axi_awburst} = {8'(Lines - 1), 3'd6, 2'b01};
    assign {m_axi_arlen, m_axi_arsize, m_axi_arburst} = {8'(Lines - 1), 3'd6, 2'b01};
    assign {m_axi_bready, m_axi_rready}               = '1;
    anything #(.Width(146)) i_addresses (.clk_i, .value_o({
        m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_arvalid, m_axi_arid, m_axi_araddr}));
    anything #(.Width(578)) i_data (.clk_i, .value_o({m_axi_wvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast}));
    axi4_rules #(.Manager(0), .Most(8)) i_rules (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(m_axi_awsize), .awburst(m_axi_awburst), .awlock('0), .awatop('0),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(m_axi_arsize), .arburst(m_axi_arburst), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));
    // Bursts are of as many lines as an entry.
    logic [7:0] lines_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) lines_q <= '0;
        else if (m_axi_wvalid && m_axi_wready) lines_q <= m_axi_wlast ? '0 : lines_q + 1'b1;
    end
    `RULE(entries_are_whole, 0, !m_axi_wvalid || m_axi_wlast == (lines_q == 8'(Lines - 1)))
    `RULE(lines_are_counted, 1, 32'(lines_q) < Lines && (lines_q != 0) == i_rules.g_followed.i_write.partial_q
        && (!i_rules.g_followed.i_write.follows_q || i_rules.g_followed.i_write.ended_q
            || i_rules.g_followed.i_write.bursts_q != 0 || i_rules.g_followed.i_write.beats_q == 9'(lines_q)))
    // An entry that comes is in its place from the clock after on, until the next one is asked for under its number.
    logic [Misses-1:0] there_q;
    always_ff @(posedge clk_i) there_q <= rst_ni ? (there_q | (fetch_error_o ? '0 : fetched_o)) & ~to_fetch_i : '0;
    `RULE(entry_is_not_there_before_it_comes, 1, (there_q & fetches_q) == 0)
    logic unused;
    assign unused = ^{base_i, segments_i, victims_i, line_miss_i, snapshot_i, snapshot_miss_i, snapshot_line_i};
endmodule
