// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps the lines of pieces until all lines of a piece are there.
//
// Contract: each id has a place of five lines. Beats are always taken; those of one id come in
// their order, those of different ids may interleave. A piece that is complete is offered once,
// with the worst response of its beats. `line_o` is the line asked for a clock before. In the
// clocks of `clear_i`, which go through all ids once after a reset, no beat comes.
module piece_landing (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         clear_i,
    input  logic [7:0]   clear_id_i,

    input  logic         m_axi_rvalid,
    input  logic [7:0]   m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [1:0]   m_axi_rresp,
    input  logic         m_axi_rlast,

    output logic         landed_valid_o,
    output logic [7:0]   landed_id_o,
    output logic [1:0]   landed_response_o,
    input  logic         landed_ready_i,

    input  logic [7:0]   read_id_i,
    input  logic [2:0]   read_line_i,
    output logic [511:0] line_o
);

    import vector_pkg::*;

    logic         beat_valid_q, beat_last_q;
    logic [7:0]   beat_id_q;
    logic [511:0] beat_q;
    logic [1:0]   beat_response_q;
    always_ff @(posedge clk_i) begin
        beat_valid_q <= rst_ni && m_axi_rvalid;
        if (m_axi_rvalid) begin
            beat_id_q       <= m_axi_rid;
            beat_q          <= m_axi_rdata;
            beat_response_q <= m_axi_rresp;
            beat_last_q     <= m_axi_rlast;
        end
    end

    // How far each piece is: lines that came, and their worst response. Zero between pieces.
    logic [2:0] line, line_next;
    logic [1:0] response, response_so_far, response_next;
    assign response      = worse({beat_response_q[1], &beat_response_q}, response_so_far);
    assign line_next     = beat_last_q || clear_i ? '0 : line + 1'b1;
    assign response_next = beat_last_q || clear_i ? '0 : response;
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (5)
    ) i_progress (
        .clk_i,
        .write_enable_i (beat_valid_q || clear_i),
        .write_address_i(clear_i ? clear_id_i : beat_id_q),
        .write_data_i   ({line_next, response_next}),
        .read_address_i (beat_id_q),
        .read_data_o    ({line, response_so_far})
    );

    // Four lines of each piece in one memory, the fifth in another.
    logic         read_fifth_q;
    logic [511:0] line_of_four, fifth_line;
    block_ram #(
        .AddressWidth(10),
        .DataWidth   (512)
    ) i_lines (
        .clk_i,
        .write_enable_i (beat_valid_q && !line[2]),
        .write_address_i({beat_id_q, line[1:0]}),
        .write_data_i   (beat_q),
        .read_address_i ({read_id_i, read_line_i[1:0]}),
        .read_data_o    (line_of_four)
    );
    block_ram #(
        .AddressWidth(8),
        .DataWidth   (512)
    ) i_fifth_lines (
        .clk_i,
        .write_enable_i (beat_valid_q && line[2]),
        .write_address_i(beat_id_q),
        .write_data_i   (beat_q),
        .read_address_i (read_id_i),
        .read_data_o    (fifth_line)
    );
    assign line_o = read_fifth_q ? fifth_line : line_of_four;
    always_ff @(posedge clk_i) read_fifth_q <= read_line_i[2];

    lut_fifo #(
        .LogDepth(8),
        .Width   (10)
    ) i_landed (
        .clk_i,
        .rst_ni,
        .push_i (beat_valid_q && beat_last_q),
        .data_i ({beat_id_q, response}),
        .pop_i  (landed_valid_o && landed_ready_i),
        .valid_o(landed_valid_o),
        .data_o ({landed_id_o, landed_response_o})
    );

`ifndef SYNTHESIS
    piece_has_at_most_five_lines: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !beat_valid_q || line <= 3'd4);
    no_beat_comes_while_clearing: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !clear_i || !beat_valid_q);
`endif

endmodule
