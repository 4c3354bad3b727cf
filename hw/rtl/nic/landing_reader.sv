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

    // Of each pair of channels, number 1 would be of writes to the host, which nobody asks for.
    logic [1:0]        arvalid, awvalid, wvalid, wlast, bready;
    logic [1:0][7:0]   arid, arlen, awid, awlen;
    logic [1:0][63:0]  araddr, awaddr, wstrb;
    logic [1:0][511:0] wdata;
    logic              awready, wready, bvalid;
    logic [7:0]        bid;

    logic [Queues-1:0]       accepted;
    sent_t [1:0][Queues-1:0] sent;
    logic [1:0][Queues-1:0]  begun;
    logic [1:0][8:0]         bytes;
    logic [1:0]              refused;
    vector_engine i_engine (
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
        .m_axi_arvalid     (arvalid),
        .m_axi_arready     ({1'b0, m_axi_arready}),
        .m_axi_arid        (arid),
        .m_axi_araddr      (araddr),
        .m_axi_arlen       (arlen),
        .m_axi_rvalid      ({1'b0, m_axi_rvalid}),
        .m_axi_rid         ({8'd0, m_axi_rid}),
        .m_axi_rdata       ({512'd0, m_axi_rdata}),
        .m_axi_rresp       ({2'd0, m_axi_rresp}),
        .m_axi_rlast       ({1'b0, m_axi_rlast}),
        .m_axi_awvalid     (awvalid),
        .m_axi_awready     ({1'b0, awready}),
        .m_axi_awid        (awid),
        .m_axi_awaddr      (awaddr),
        .m_axi_awlen       (awlen),
        .m_axi_wvalid      (wvalid),
        .m_axi_wready      ({1'b0, wready}),
        .m_axi_wdata       (wdata),
        .m_axi_wstrb       (wstrb),
        .m_axi_wlast       (wlast),
        .m_axi_bvalid      ({1'b0, bvalid}),
        .m_axi_bready      (bready),
        .m_axi_bid         ({8'd0, bid}),
        .m_axi_bresp       ('0),
        .accepted_o        (accepted),
        .sent_o            (sent),
        .begun_o           (begun),
        .bytes_o           (bytes),
        .refused_o         (refused)
    );
    assign m_axi_arvalid = arvalid[0];
    assign m_axi_arid    = arid[0];
    assign m_axi_araddr  = araddr[0];
    assign m_axi_arlen   = arlen[0];
    assign sent_o        = sent[0];

    landing_memory #(
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_memory (
        .clk_i,
        .rst_ni,
        .s_axi_awvalid(awvalid[0]),
        .s_axi_awready(awready),
        .s_axi_awid   (awid[0]),
        .s_axi_awaddr (awaddr[0]),
        .s_axi_wvalid (wvalid[0]),
        .s_axi_wready (wready),
        .s_axi_wdata  (wdata[0]),
        .s_axi_wstrb  (wstrb[0]),
        .s_axi_wlast  (wlast[0]),
        .s_axi_bvalid (bvalid),
        .s_axi_bready (bready[0]),
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
    assign unused = ^{arvalid[1], arid[1], araddr[1], arlen[1], awvalid[1], awid[1], awaddr[1], awlen,
        wvalid[1], wdata[1], wstrb[1], wlast[1], bready[1], accepted, sent[1], begun, bytes, refused};

`ifndef SYNTHESIS
    nothing_is_written_to_the_host: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !arvalid[1] && !awvalid[1] && !wvalid[1]);
    no_write_is_refused: assert property (@(posedge clk_i) disable iff (!rst_ni)
        refused[1] == 0);
`endif

endmodule
