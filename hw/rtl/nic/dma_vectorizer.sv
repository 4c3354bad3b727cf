// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes few commands to the host link out of many small copies (docs/nic-lookup.md).
//
// Contract: each element that is accepted ends once on `m_axis_done`, with its token. Elements of one
// queue and direction are begun in the order in which they were accepted, and end in any order.
// `m_axi_host` reads for elements that read the host and writes for those that write it,
// `m_axi_nic` the other way round, in bursts of at most five lines with an id each. No element is
// accepted before software has switched the queues on, nor begun before it has set the windows. A reset is also one of both
// buses: no answer to what was asked for before it comes behind it. The outputs at the end say
// what happened a clock ago: for each queue an element that was accepted; for reads and then writes
// of each queue why a vector was sent (0: none, 1: full, 2: flush time, 3: idle time), and an element
// that left its vector.
module dma_vectorizer (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         s_axil_awvalid,
    output logic         s_axil_awready,
    input  logic [11:0]  s_axil_awaddr,
    input  logic [2:0]   s_axil_awprot,
    input  logic         s_axil_wvalid,
    output logic         s_axil_wready,
    input  logic [31:0]  s_axil_wdata,
    input  logic [3:0]   s_axil_wstrb,
    output logic         s_axil_bvalid,
    input  logic         s_axil_bready,
    output logic [1:0]   s_axil_bresp,
    input  logic         s_axil_arvalid,
    output logic         s_axil_arready,
    input  logic [11:0]  s_axil_araddr,
    input  logic [2:0]   s_axil_arprot,
    output logic         s_axil_rvalid,
    input  logic         s_axil_rready,
    output logic [31:0]  s_axil_rdata,
    output logic [1:0]   s_axil_rresp,

    input  logic         s_axis_cmd0_tvalid,
    output logic         s_axis_cmd0_tready,
    input  logic [167:0] s_axis_cmd0_tdata,
    input  logic         s_axis_cmd1_tvalid,
    output logic         s_axis_cmd1_tready,
    input  logic [167:0] s_axis_cmd1_tdata,
    input  logic         s_axis_cmd2_tvalid,
    output logic         s_axis_cmd2_tready,
    input  logic [167:0] s_axis_cmd2_tdata,
    input  logic         s_axis_cmd3_tvalid,
    output logic         s_axis_cmd3_tready,
    input  logic [167:0] s_axis_cmd3_tdata,
    input  logic         s_axis_cmd4_tvalid,
    output logic         s_axis_cmd4_tready,
    input  logic [167:0] s_axis_cmd4_tdata,
    input  logic         s_axis_cmd5_tvalid,
    output logic         s_axis_cmd5_tready,
    input  logic [167:0] s_axis_cmd5_tdata,
    input  logic         s_axis_cmd6_tvalid,
    output logic         s_axis_cmd6_tready,
    input  logic [167:0] s_axis_cmd6_tdata,
    input  logic         s_axis_cmd7_tvalid,
    output logic         s_axis_cmd7_tready,
    input  logic [167:0] s_axis_cmd7_tdata,

    output logic         m_axis_done_tvalid,
    input  logic         m_axis_done_tready,
    output logic [23:0]  m_axis_done_tdata,

    output logic         m_axi_host_awvalid,
    input  logic         m_axi_host_awready,
    output logic [7:0]   m_axi_host_awid,
    output logic [63:0]  m_axi_host_awaddr,
    output logic [7:0]   m_axi_host_awlen,
    output logic [2:0]   m_axi_host_awsize,
    output logic [1:0]   m_axi_host_awburst,
    output logic [3:0]   m_axi_host_awcache,
    output logic [2:0]   m_axi_host_awprot,
    output logic         m_axi_host_wvalid,
    input  logic         m_axi_host_wready,
    output logic [511:0] m_axi_host_wdata,
    output logic [63:0]  m_axi_host_wstrb,
    output logic         m_axi_host_wlast,
    input  logic         m_axi_host_bvalid,
    output logic         m_axi_host_bready,
    input  logic [7:0]   m_axi_host_bid,
    input  logic [1:0]   m_axi_host_bresp,
    output logic         m_axi_host_arvalid,
    input  logic         m_axi_host_arready,
    output logic [7:0]   m_axi_host_arid,
    output logic [63:0]  m_axi_host_araddr,
    output logic [7:0]   m_axi_host_arlen,
    output logic [2:0]   m_axi_host_arsize,
    output logic [1:0]   m_axi_host_arburst,
    output logic [3:0]   m_axi_host_arcache,
    output logic [2:0]   m_axi_host_arprot,
    input  logic         m_axi_host_rvalid,
    output logic         m_axi_host_rready,
    input  logic [7:0]   m_axi_host_rid,
    input  logic [511:0] m_axi_host_rdata,
    input  logic [1:0]   m_axi_host_rresp,
    input  logic         m_axi_host_rlast,

    output logic         m_axi_nic_awvalid,
    input  logic         m_axi_nic_awready,
    output logic [7:0]   m_axi_nic_awid,
    output logic [63:0]  m_axi_nic_awaddr,
    output logic [7:0]   m_axi_nic_awlen,
    output logic [2:0]   m_axi_nic_awsize,
    output logic [1:0]   m_axi_nic_awburst,
    output logic [3:0]   m_axi_nic_awcache,
    output logic [2:0]   m_axi_nic_awprot,
    output logic         m_axi_nic_wvalid,
    input  logic         m_axi_nic_wready,
    output logic [511:0] m_axi_nic_wdata,
    output logic [63:0]  m_axi_nic_wstrb,
    output logic         m_axi_nic_wlast,
    input  logic         m_axi_nic_bvalid,
    output logic         m_axi_nic_bready,
    input  logic [7:0]   m_axi_nic_bid,
    input  logic [1:0]   m_axi_nic_bresp,
    output logic         m_axi_nic_arvalid,
    input  logic         m_axi_nic_arready,
    output logic [7:0]   m_axi_nic_arid,
    output logic [63:0]  m_axi_nic_araddr,
    output logic [7:0]   m_axi_nic_arlen,
    output logic [2:0]   m_axi_nic_arsize,
    output logic [1:0]   m_axi_nic_arburst,
    output logic [3:0]   m_axi_nic_arcache,
    output logic [2:0]   m_axi_nic_arprot,
    input  logic         m_axi_nic_rvalid,
    output logic         m_axi_nic_rready,
    input  logic [7:0]   m_axi_nic_rid,
    input  logic [511:0] m_axi_nic_rdata,
    input  logic [1:0]   m_axi_nic_rresp,
    input  logic         m_axi_nic_rlast,

    output logic [7:0]   accepted_o,
    output logic [31:0]  sent_o,
    output logic [15:0]  begun_o
);

    import vector_pkg::*;

    // ---- Registers.

    logic         access_valid, access_write, access_done, access_error;
    logic [11:0]  access_address;
    logic [31:0]  access_data, read_data;
    logic [3:0]   access_strobe;
    axi_lite_blocks #(
        .Blocks(1)
    ) i_axi_lite (
        .clk_i,
        .rst_ni,
        .s_axil_awvalid,
        .s_axil_awready,
        .s_axil_awaddr  ({4'd0, s_axil_awaddr}),
        .s_axil_wvalid,
        .s_axil_wready,
        .s_axil_wdata,
        .s_axil_wstrb,
        .s_axil_bvalid,
        .s_axil_bready,
        .s_axil_bresp,
        .s_axil_arvalid,
        .s_axil_arready,
        .s_axil_araddr  ({4'd0, s_axil_araddr}),
        .s_axil_rvalid,
        .s_axil_rready,
        .s_axil_rdata,
        .s_axil_rresp,
        .block_valid_o  (access_valid),
        .block_write_o  (access_write),
        .block_address_o(access_address),
        .block_data_o   (access_data),
        .block_strobe_o (access_strobe),
        .block_done_i   (access_done),
        .block_error_i  (access_error),
        .block_data_i   (read_data)
    );

    logic             enable;
    logic [15:0]      idle_time, flush_time;
    logic [63:12]     host_first, host_last, nic_first, nic_last;
    logic [1:0][8:0]  bytes;
    logic [1:0]       refused;
    sent_t [1:0][Queues-1:0] sent;
    done_t            done;
    vectorizer_block i_block (
        .clk_i,
        .rst_ni,
        .valid_i     (access_valid),
        .write_i     (access_write),
        .address_i   (access_address),
        .data_i      (access_data),
        .strobe_i    (access_strobe),
        .done_o      (access_done),
        .error_o     (access_error),
        .data_o      (read_data),
        .enable_o    (enable),
        .idle_time_o (idle_time),
        .flush_time_o(flush_time),
        .host_first_o(host_first),
        .host_last_o (host_last),
        .nic_first_o (nic_first),
        .nic_last_o  (nic_last),
        .accepted_i  (accepted_o),
        .sent_i      (sent),
        .bytes_i     (bytes),
        .refused_i   (refused),
        .ended_i     (m_axis_done_tvalid && m_axis_done_tready),
        .failed_i    (done.response != 0)
    );
    assign sent_o = sent;

    // ---- The engine. Bits 15:0 of a completion are the token, 18:16 the queue, 21:20 the response.

    assign m_axis_done_tdata = {2'd0, done.response, 1'd0, done.from_queue, done.token};

    logic unused;
    assign unused = ^{s_axil_awprot, s_axil_arprot,
                      s_axis_cmd0_tdata[167:161],
                      s_axis_cmd1_tdata[167:161],
                      s_axis_cmd2_tdata[167:161],
                      s_axis_cmd3_tdata[167:161],
                      s_axis_cmd4_tdata[167:161],
                      s_axis_cmd5_tdata[167:161],
                      s_axis_cmd6_tdata[167:161],
                      s_axis_cmd7_tdata[167:161]};

    vector_engine i_engine (
        .clk_i,
        .rst_ni,
        .enable_i          (enable),
        .idle_time_i       (idle_time),
        .flush_time_i      (flush_time),
        .host_first_i      (host_first),
        .host_last_i       (host_last),
        .nic_first_i       (nic_first),
        .nic_last_i        (nic_last),
        .s_axis_cmd_tvalid  ({
            s_axis_cmd7_tvalid,
            s_axis_cmd6_tvalid,
            s_axis_cmd5_tvalid,
            s_axis_cmd4_tvalid,
            s_axis_cmd3_tvalid,
            s_axis_cmd2_tvalid,
            s_axis_cmd1_tvalid,
            s_axis_cmd0_tvalid
        }),
        .s_axis_cmd_tready  ({
            s_axis_cmd7_tready,
            s_axis_cmd6_tready,
            s_axis_cmd5_tready,
            s_axis_cmd4_tready,
            s_axis_cmd3_tready,
            s_axis_cmd2_tready,
            s_axis_cmd1_tready,
            s_axis_cmd0_tready
        }),
        .s_axis_cmd_tdata  ({
            s_axis_cmd7_tdata[160:0],
            s_axis_cmd6_tdata[160:0],
            s_axis_cmd5_tdata[160:0],
            s_axis_cmd4_tdata[160:0],
            s_axis_cmd3_tdata[160:0],
            s_axis_cmd2_tdata[160:0],
            s_axis_cmd1_tdata[160:0],
            s_axis_cmd0_tdata[160:0]
        }),
        .m_axis_done_tvalid,
        .m_axis_done_tready,
        .m_axis_done_tdata (done),
        .m_axi_arvalid     ({m_axi_nic_arvalid, m_axi_host_arvalid}),
        .m_axi_arready     ({m_axi_nic_arready, m_axi_host_arready}),
        .m_axi_arid        ({m_axi_nic_arid, m_axi_host_arid}),
        .m_axi_araddr      ({m_axi_nic_araddr, m_axi_host_araddr}),
        .m_axi_arlen       ({m_axi_nic_arlen, m_axi_host_arlen}),
        .m_axi_rvalid      ({m_axi_nic_rvalid, m_axi_host_rvalid}),
        .m_axi_rid         ({m_axi_nic_rid, m_axi_host_rid}),
        .m_axi_rdata       ({m_axi_nic_rdata, m_axi_host_rdata}),
        .m_axi_rresp       ({m_axi_nic_rresp, m_axi_host_rresp}),
        .m_axi_rlast       ({m_axi_nic_rlast, m_axi_host_rlast}),
        .m_axi_awvalid     ({m_axi_host_awvalid, m_axi_nic_awvalid}),
        .m_axi_awready     ({m_axi_host_awready, m_axi_nic_awready}),
        .m_axi_awid        ({m_axi_host_awid, m_axi_nic_awid}),
        .m_axi_awaddr      ({m_axi_host_awaddr, m_axi_nic_awaddr}),
        .m_axi_awlen       ({m_axi_host_awlen, m_axi_nic_awlen}),
        .m_axi_wvalid      ({m_axi_host_wvalid, m_axi_nic_wvalid}),
        .m_axi_wready      ({m_axi_host_wready, m_axi_nic_wready}),
        .m_axi_wdata       ({m_axi_host_wdata, m_axi_nic_wdata}),
        .m_axi_wstrb       ({m_axi_host_wstrb, m_axi_nic_wstrb}),
        .m_axi_wlast       ({m_axi_host_wlast, m_axi_nic_wlast}),
        .m_axi_bvalid      ({m_axi_host_bvalid, m_axi_nic_bvalid}),
        .m_axi_bready      ({m_axi_host_bready, m_axi_nic_bready}),
        .m_axi_bid         ({m_axi_host_bid, m_axi_nic_bid}),
        .m_axi_bresp       ({m_axi_host_bresp, m_axi_nic_bresp}),
        .accepted_o,
        .sent_o            (sent),
        .begun_o,
        .bytes_o           (bytes),
        .refused_o         (refused)
    );

    // Lines of 64 bytes, one after the other; read data are always taken.
    assign {m_axi_host_awsize, m_axi_host_awburst} = {3'd6, 2'd1};
    assign {m_axi_host_awcache, m_axi_host_awprot} = {4'b0011, 3'd0};
    assign {m_axi_host_arsize, m_axi_host_arburst} = {3'd6, 2'd1};
    assign {m_axi_host_arcache, m_axi_host_arprot} = {4'b0011, 3'd0};
    assign m_axi_host_rready = 1'b1;
    assign {m_axi_nic_awsize, m_axi_nic_awburst} = {3'd6, 2'd1};
    assign {m_axi_nic_awcache, m_axi_nic_awprot} = {4'b0011, 3'd0};
    assign {m_axi_nic_arsize, m_axi_nic_arburst} = {3'd6, 2'd1};
    assign {m_axi_nic_arcache, m_axi_nic_arprot} = {4'b0011, 3'd0};
    assign m_axi_nic_rready = 1'b1;

endmodule
