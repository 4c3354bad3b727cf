// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the vectorizer writes what it has read from the host: slots of rows and buckets, and words of
// the directory.
//
// Contract: an AXI4 subordinate for writes, whose addresses are those of `lookup_reads`. A burst of
// slots writes whole pieces of 16 bytes; one of a word is a single beat, with the word at its begin.
// Bursts are answered in their order, with their ids, when they can be read. `line_o` is the line
// asked for two clocks before. A word is in `word_o` of its context from the clock after its answer
// on, and stays when a later read of it fails.
module landing_memory
    import lookup_pkg::*;
#(
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned LogLines    = $clog2(LandingLines),
    localparam int unsigned AddressBits = 9 + LogLines
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    input  logic                   s_axi_awvalid,
    output logic                   s_axi_awready,
    input  logic [7:0]             s_axi_awid,
    input  logic [63:0]            s_axi_awaddr,
    input  logic                   s_axi_wvalid,
    output logic                   s_axi_wready,
    input  logic [511:0]           s_axi_wdata,
    input  logic [63:0]            s_axi_wstrb,
    input  logic                   s_axi_wlast,
    output logic                   s_axi_bvalid,
    input  logic                   s_axi_bready,
    output logic [7:0]             s_axi_bid,

    input  logic [AddressBits-1:0] line_address_i,
    output logic [511:0]           line_o,
    input  context_t               word_number_i,
    output logic [63:0]            word_o,

    output logic                   landed_o,        // a word, a clock ago
    output context_t               landed_number_o,
    output logic [63:0]            landed_word_o
);

    localparam int unsigned Depth     = (2**LogContexts + 2**LogSoftware) * 2 * 2**LogLines;
    localparam int unsigned PlaceBits = $clog2(Depth);
    localparam int unsigned LogBursts = 4;

    // ---- Bursts that were begun and not yet answered.

    logic [LogBursts:0]     bursts_q;
    logic                   begun, answered, takes, has_burst, is_word;
    logic [7:0]             id;
    logic [AddressBits-1:0] first;
    logic [5:0]             beat_q;
    assign s_axi_awready = !bursts_q[LogBursts];
    assign begun         = s_axi_awvalid && s_axi_awready;
    assign answered      = s_axi_bvalid && s_axi_bready;
    assign s_axi_wready  = has_burst;
    assign takes         = s_axi_wvalid && s_axi_wready;
    lut_fifo #(
        .LogDepth(LogBursts),
        .Width   (9 + AddressBits)
    ) i_bursts (
        .clk_i,
        .rst_ni,
        .push_i (begun),
        .data_i ({s_axi_awid, s_axi_awaddr[40], s_axi_awaddr[6 +: AddressBits]}),
        .pop_i  (takes && s_axi_wlast),
        .valid_o(has_burst),
        .data_o ({id, is_word, first})
    );
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            bursts_q <= '0;
            beat_q   <= '0;
        end else begin
            bursts_q <= bursts_q + (LogBursts + 1)'(begun) - (LogBursts + 1)'(answered);
            if (takes) beat_q <= s_axi_wlast ? '0 : beat_q + 1'b1;
        end
    end

    // ---- Beats, a clock later.

    logic                   write_q, write_word_q, last_q;
    logic [AddressBits-1:0] address_q;
    logic [511:0]           data_q;
    logic [3:0]             pieces_q;
    logic [7:0]             id_q;
    always_ff @(posedge clk_i) begin
        address_q <= first + AddressBits'(beat_q);
        data_q    <= s_axi_wdata;
        pieces_q  <= {s_axi_wstrb[48], s_axi_wstrb[32], s_axi_wstrb[16], s_axi_wstrb[0]};
        id_q      <= id;
        if (!rst_ni) begin
            write_q      <= 1'b0;
            write_word_q <= 1'b0;
            last_q       <= 1'b0;
        end else begin
            write_q      <= takes && !is_word;
            write_word_q <= takes && is_word;
            last_q       <= takes && s_axi_wlast;
        end
    end
    lut_fifo #(
        .LogDepth(LogBursts),
        .Width   (8)
    ) i_answers (
        .clk_i,
        .rst_ni,
        .push_i (last_q),
        .data_i (id_q),
        .pop_i  (answered),
        .valid_o(s_axi_bvalid),
        .data_o (s_axi_bid)
    );

    // ---- A memory for each piece of a line.

    logic [511:0] line;
    for (genvar n = 0; n < 4; n++) begin : g_pieces
        logic [127:0] pieces[Depth];
        always_ff @(posedge clk_i) begin
            if (write_q && pieces_q[n]) pieces[address_q[PlaceBits-1:0]] <= data_q[128*n +: 128];
            line[128*n +: 128] <= pieces[line_address_i[PlaceBits-1:0]];
        end
    end
    always_ff @(posedge clk_i) line_o <= line;

    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (64)
    ) i_words (
        .clk_i,
        .write_enable_i (write_word_q),
        .write_address_i(address_q[7:0]),
        .write_data_i   (data_q[63:0]),
        .read_address_i (word_number_i),
        .read_data_o    (word_o)
    );
    assign landed_o        = write_word_q;
    assign landed_number_o = address_q[7:0];
    assign landed_word_o   = data_q[63:0];

    logic unused;
    assign unused = ^{s_axi_awaddr, s_axi_wstrb, line_address_i};

`ifndef SYNTHESIS
    logic [3:0] begins, ends;
    always_comb begin
        for (int unsigned n = 0; n < 4; n++) begin
            begins[n] = |s_axi_wstrb[16*n +: 16];
            ends[n]   = &s_axi_wstrb[16*n +: 16];
        end
    end
    slots_come_in_whole_pieces: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(takes && !is_word) || begins == ends);
    a_word_is_whole: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(takes && is_word) || s_axi_wlast && s_axi_wstrb == 64'hFF);
    lines_are_in_the_memory: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !write_q || 32'(address_q) < Depth);
    each_burst_is_answered_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !s_axi_bvalid || bursts_q != 0);
`endif

endmodule
