// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads host memory into the landing memory: the vectorizer's reads, and the memory behind them.
//
// Contract: each read that is accepted ends once at `done_*`, which is always taken; by then its bytes
// are in the memory, unless its response is an error. Lines and words are those of `landing_memory`.
// Any page of the host may be read: the settings say where the table is, and who follows a word that
// was read checks it before. Read data are always taken.
module landing_reader
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned AddressBits = 9 + $clog2(LandingLines)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic [15:0]            idle_time_i,
    input  logic [15:0]            flush_time_i,

    input  logic [Queues-1:0]      cmd_valid_i,
    output logic [Queues-1:0]      cmd_ready_o,
    input  element_t               cmd_i,           // of each queue
    output logic                   done_valid_o,
    output done_t                  done_o,

    input  logic [AddressBits-1:0] line_address_i,
    output logic [511:0]           line_o,
    input  context_t               word_number_i,
    output logic [63:0]            word_o,
    output logic                   landed_o,
    output context_t               landed_number_o,
    output logic [63:0]            landed_word_o,

    output sent_t [Queues-1:0]     sent_o,          // why a vector was sent a clock ago

    output logic                   m_axi_arvalid,
    input  logic                   m_axi_arready,
    output logic [7:0]             m_axi_arid,
    output logic [63:0]            m_axi_araddr,
    output logic [7:0]             m_axi_arlen,
    input  logic                   m_axi_rvalid,
    input  logic [7:0]             m_axi_rid,
    input  logic [511:0]           m_axi_rdata,
    input  logic [1:0]             m_axi_rresp,
    input  logic                   m_axi_rlast
);

    logic         awvalid, awready, wvalid, wready, wlast, bvalid, bready, refused;
    logic [7:0]   awid, awlen, bid;
    logic [63:0]  awaddr, wstrb;
    logic [511:0] wdata;

    // Nobody asks for writes to the host.
    logic [Queues-1:0] accepted, begun;
    logic [8:0]        bytes;
    vector_engine #(
        .Ways(1)
    ) i_engine (
        .clk_i,
        .rst_ni,
        .enable_i          (1'b1),
        .idle_time_i,
        .flush_time_i,
        .host_first_i      ('0),
        .host_last_i       ('1),
        .nic_first_i       ('0),
        .nic_last_i        ('1),
        .s_axis_cmd_tvalid (cmd_valid_i),
        .s_axis_cmd_tready (cmd_ready_o),
        .s_axis_cmd_tdata  ({Queues{1'b0, cmd_i}}),
        .m_axis_done_tvalid(done_valid_o),
        .m_axis_done_tready(1'b1),
        .m_axis_done_tdata (done_o),
        .m_axi_arvalid,
        .m_axi_arready,
        .m_axi_arid,
        .m_axi_araddr,
        .m_axi_arlen,
        .m_axi_rvalid,
        .m_axi_rid,
        .m_axi_rdata,
        .m_axi_rresp,
        .m_axi_rlast,
        .m_axi_awvalid     (awvalid),
        .m_axi_awready     (awready),
        .m_axi_awid        (awid),
        .m_axi_awaddr      (awaddr),
        .m_axi_awlen       (awlen),
        .m_axi_wvalid      (wvalid),
        .m_axi_wready      (wready),
        .m_axi_wdata       (wdata),
        .m_axi_wstrb       (wstrb),
        .m_axi_wlast       (wlast),
        .m_axi_bvalid      (bvalid),
        .m_axi_bready      (bready),
        .m_axi_bid         (bid),
        .m_axi_bresp       ('0),
        .accepted_o        (accepted),
        .sent_o,
        .begun_o           (begun),
        .bytes_o           (bytes),
        .refused_o         (refused)
    );

    landing_memory #(
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_memory (
        .clk_i,
        .rst_ni,
        .s_axi_awvalid(awvalid),
        .s_axi_awready(awready),
        .s_axi_awid   (awid),
        .s_axi_awaddr (awaddr),
        .s_axi_wvalid (wvalid),
        .s_axi_wready (wready),
        .s_axi_wdata  (wdata),
        .s_axi_wstrb  (wstrb),
        .s_axi_wlast  (wlast),
        .s_axi_bvalid (bvalid),
        .s_axi_bready (bready),
        .s_axi_bid    (bid),
        .line_address_i,
        .line_o,
        .word_number_i,
        .word_o,
        .landed_o,
        .landed_number_o,
        .landed_word_o
    );

    logic unused;
    assign unused = ^{awlen, accepted, begun, bytes, refused};

endmodule
