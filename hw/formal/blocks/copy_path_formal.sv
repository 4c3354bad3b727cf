// SPDX-License-Identifier: MIT OR Apache-2.0
// copy_path, its reads: the rules of AXI4 as a manager that only reads; a piece, which is any, is asked for once, as it was
// cut, and told in the clock in which it is. What it is made of is any, but for what its own jobs prove of piece_splitter.
`include "../rules/rule.svh"
module copy_path_formal
    import vector_pkg::*;
#(
    parameter bit Cleared = 1'b0     // runs begin when all ids are free, for the covers of reads
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         copy_valid_i,
    input copy_t        copy_i,
    input logic         done_ready_i,
    input logic         m_axi_arready,
    input logic         m_axi_rvalid,
    input logic [7:0]   m_axi_rid,
    input logic [511:0] m_axi_rdata,
    input logic [1:0]   m_axi_rresp,
    input logic         m_axi_rlast,
    input logic         m_axi_awready,
    input logic         m_axi_wready,
    input logic         m_axi_bvalid,
    input logic [7:0]   m_axi_bid,
    input logic [1:0]   m_axi_bresp
);
    logic         copy_ready_o, done_valid_o, m_axi_arvalid, m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready;
    done_t        done_o;
    logic [8:0]   bytes_o;
    logic [7:0]   m_axi_arid, m_axi_arlen, m_axi_awid, m_axi_awlen;
    logic [63:0]  m_axi_araddr, m_axi_awaddr, m_axi_wstrb;
    logic [511:0] m_axi_wdata;

    if (!Cleared) begin : g_reset
        power_up i_power_up (.*);
    end
    copy_path i_block (.*);
    // There are 256 ids.
    axi4_rules #(.Most(256), .Writes(0)) i_rules (
        .clk_i, .rst_ni,
        .awvalid('0), .awready('0), .awid('0), .awaddr('0), .awlen('0), .awsize('0), .awburst('0), .awlock('0),
        .awatop('0), .wvalid('0), .wready('0), .wdata('0), .wstrb('0), .wlast('0),
        .bvalid('0), .bready('0), .bid('0), .bresp('0),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(3'd6), .arburst(2'b01), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(1'b1), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));

    // After a reset nothing is asked for until all ids have become free.
    logic [8:0] clocks_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) clocks_q <= '0;
        else if (!clocks_q[8]) clocks_q <= clocks_q + 1'b1;
    end

    // The last piece that was asked for, and the end of its last byte.
    logic        asks, waits_q;
    logic [63:0] source_q, end_q;
    logic [7:0]  id_q;
    assign asks = i_block.piece_valid && i_block.piece_ready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= asks || waits_q && !m_axi_arready;
        if (asks) begin
            source_q <= i_block.source;
            end_q    <= i_block.source + 64'(i_block.bytes) - 64'd1;
            id_q     <= i_block.id;
        end
    end
    `RULE(read_is_of_a_piece, 1, m_axi_arvalid == waits_q)
    `RULE(read_begins_with_the_line_of_the_piece, 1, !waits_q || m_axi_araddr == {source_q[63:6], 6'd0})
    `RULE(read_ends_with_the_line_of_the_piece, 1, !waits_q
        || m_axi_araddr[63:6] + 58'(m_axi_arlen) == end_q[63:6])
    `RULE(read_has_a_free_id, 1, !waits_q || m_axi_arid == id_q)
    `RULE(id_is_free, 1, !asks || i_block.id_valid && (!i_block.piece_first || i_block.element_valid))
    `RULE(piece_waits_for_ids_and_the_channel_alone, 1, i_block.piece_ready == (!i_block.clear_q && i_block.id_valid
        && (!i_block.piece_first || i_block.element_valid) && (!m_axi_arvalid || m_axi_arready)))
    `RULE(bytes_are_told, 1, bytes_o == (asks ? i_block.bytes : 9'd0))
    `RULE(nothing_is_asked_for_at_first, 1, clocks_q[8] || !asks)
    `RULE(ids_become_free_one_by_one, 1, i_block.clear_q == !clocks_q[8]
        && (clocks_q[8] || i_block.clear_id_q == clocks_q[7:0]))
    // The block as it is 257 clocks after a reset in which nothing came: reads come later than a solver goes.
    logic started_q = 1'b0;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    if (Cleared) begin : g_cleared
        begins_when_cleared: assume property (@(posedge clk_i) started_q || rst_ni && clocks_q == 9'd256 && !i_block.clear_q
            && !waits_q && !m_axi_arvalid && {i_rules.reads_q, i_rules.writes_q, i_rules.atomics_q, i_rules.i_read.followed_q} == 0);
        stays_cleared: assume property (@(posedge clk_i) rst_ni);
    end

    `REACHED(the_longest_piece_waits, i_block.piece_valid && i_block.bytes == PieceBytes && m_axi_rvalid == 0)
    `REACHED(an_end_waits, $past(rst_ni && done_valid_o && !done_ready_i) && done_valid_o && done_ready_i)
endmodule
