// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of copy_path: each copy ends once, after any time and in any order, and both ports keep the rules of AXI4, with
// anything that these allow. One copy, which is any, is followed. What is asked of its user is proven here.
`include "../rules/rule.svh"
module copy_path
    import vector_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         copy_valid_i,
    input  copy_t        copy_i,
    output logic         copy_ready_o,
    output logic         done_valid_o,
    output done_t        done_o,
    input  logic         done_ready_i,
    output logic [8:0]   bytes_o,
    output logic         m_axi_arvalid,
    input  logic         m_axi_arready,
    output logic [7:0]   m_axi_arid,
    output logic [63:0]  m_axi_araddr,
    output logic [7:0]   m_axi_arlen,
    input  logic         m_axi_rvalid,
    input  logic [7:0]   m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [1:0]   m_axi_rresp,
    input  logic         m_axi_rlast,
    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [7:0]   m_axi_awid,
    output logic [63:0]  m_axi_awaddr,
    output logic [7:0]   m_axi_awlen,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [63:0]  m_axi_wstrb,
    output logic         m_axi_wlast,
    input  logic         m_axi_bvalid,
    output logic         m_axi_bready,
    input  logic [7:0]   m_axi_bid,
    input  logic [1:0]   m_axi_bresp
);
    // At most 256 copies are under way, and a few before and behind.
    localparam logic [8:0] Most = 9'd300;
    logic       takes, ends, is_its, mark, begins, copy_comes, followed_q, offered_q, leaves;
    logic [2:0] queue_q;
    logic [15:0] token_q;
    logic [8:0] count_q;         // all that have not ended
    done_t      other;
    logic [1:0] response;
    anything #(.Width($bits(done_t) + 15)) i_any (
        .clk_i, .value_o({takes, ends, is_its, mark, response, bytes_o, other}));
    assign copy_ready_o = takes && count_q < Most;
    assign copy_comes   = copy_valid_i && copy_ready_o;
    assign begins       = copy_comes && mark && !followed_q;
    assign leaves       = done_valid_o && done_ready_i;
    // Whose end is offered: offered_q, that of the followed one. Others end while there are some.
    logic       free, its_end, other_end;
    logic [8:0] others;
    assign free      = !done_valid_o || done_ready_i;
    assign others    = count_q - 9'(followed_q) - 9'(done_valid_o && !offered_q);
    assign its_end   = free && ends && is_its && followed_q && !offered_q;
    assign other_end = free && ends && !its_end && others != 0;
    always_ff @(posedge clk_i) begin
        count_q <= count_q + 9'(copy_comes) - 9'(leaves);
        if (its_end) done_o <= {response == 2'd1 ? 2'd0 : response, queue_q, token_q};
        else if (other_end) done_o <= other;
        if (begins) {queue_q, token_q} <= {copy_i.from_queue, copy_i.token};
        followed_q   <= begins || followed_q && !(leaves && offered_q);
        if (free) offered_q <= its_end;
        if (free) done_valid_o <= its_end || other_end;
        if (!rst_ni) begin
            count_q      <= '0;
            followed_q   <= 1'b0;
            offered_q    <= 1'b0;
            done_valid_o <= 1'b0;
        end
    end
    `RULE(copy_has_a_length, 1, !copy_valid_i || copy_i.bytes >= 13'd1 && copy_i.bytes <= 13'd4096)
    `RULE(ends_are_of_copies, 1, count_q <= Most && count_q >= 9'(followed_q) + 9'(done_valid_o && !offered_q)
        && (!offered_q || followed_q && done_valid_o && done_o[18:0] == {queue_q, token_q}))
    axi4_stream_rules #(.Width($bits(copy_t)), .Proven(1), .Waits(0), .Dense(0)) i_copies (
        .clk_i, .rst_ni, .tvalid(copy_valid_i), .tready(copy_ready_o), .payload(copy_i));

    // ---- The ports. The rules of their user are assumed of what they give, those of memory proven of what comes.
    anything #(.Width(82)) i_reads (.clk_i, .value_o({m_axi_arvalid, m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_bready}));
    anything #(.Width(81)) i_writes (.clk_i, .value_o({m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_awlen}));
    anything #(.Width(578)) i_data (.clk_i, .value_o({m_axi_wvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast}));
    axi4_rules #(.Manager(0), .Most(256)) i_rules (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(3'd6), .awburst(2'b01), .awlock('0), .awatop('0),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(3'd6), .arburst(2'b01), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(1'b1), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));
    // Bursts have five lines at most.
    logic [2:0] lines_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) lines_q <= '0;
        else if (m_axi_wvalid && m_axi_wready) lines_q <= m_axi_wlast ? '0 : lines_q + 1'b1;
    end
    `RULE(bursts_have_five_lines_at_most, 0, (!m_axi_arvalid || m_axi_arlen < 8'd5) && (!m_axi_awvalid || m_axi_awlen < 8'd5)
        && (!m_axi_wvalid || lines_q < 3'd4 || m_axi_wlast))
    `RULE(lines_are_counted, 1, lines_q < 3'd5 && (lines_q != 0) == i_rules.g_followed.i_write.partial_q
        && (!i_rules.g_followed.i_write.follows_q || i_rules.g_followed.i_write.ended_q
            || i_rules.g_followed.i_write.bursts_q != 0 || i_rules.g_followed.i_write.beats_q == 9'(lines_q)))
endmodule
