// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and writes whole entries of the index in NIC memory over AXI4.
//
// Contract: each fetch is one burst of `Lines` beats with its number as the id; the entry is in
// `line_o` of its number from the clock after `fetched_o` on. Each write-back is one burst, too, of the
// snapshot that was stored under its number. Responses are always taken. The base is a multiple of
// an entry's stride, so that no burst crosses a boundary of 4,096 bytes.
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

    localparam int unsigned LogStride = 6 + (Lines == 1 ? 0 : $clog2(Lines));
    localparam int unsigned BeatBits  = Lines == 1 ? 1 : $clog2(Lines);
    typedef logic [LogMisses-1:0] miss_t;
    typedef logic [BeatBits-1:0]  beat_t;

    assign m_axi_arlen = 8'(Lines - 1);
    assign m_axi_awlen = 8'(Lines - 1);

    miss_t fetch;
    assign m_axi_arid = 8'(fetch);
    entry_chooser #(
        .SegmentBits(SegmentBits),
        .LogMisses  (LogMisses),
        .LogStride  (LogStride)
    ) i_fetches (
        .clk_i,
        .rst_ni,
        .base_i,
        .wanted_i  (to_fetch_i),
        .segments_i,
        .taken_o   (fetch_taken_o),
        .valid_o   (m_axi_arvalid),
        .ready_i   (m_axi_arready),
        .miss_o    (fetch),
        .address_o (m_axi_araddr)
    );

    // Beats of different fetches may come between each other.
    logic         come_valid_q, come_error_q, come_last_q;
    miss_t        come_q;
    logic [511:0] come_data_q;
    beat_t        beats_q[Misses];
    logic [Misses-1:0] broken_q;
    assign fetched_o     = come_valid_q && come_last_q ? Misses'(1) << come_q : '0;
    assign fetch_error_o = come_error_q || broken_q[come_q];

    for (genvar n = 0; n < Lines; n++) begin : g_beat
        lut_ram #(
            .AddressWidth(LogMisses),
            .DataWidth   (512)
        ) i_fetched (
            .clk_i,
            .write_enable_i (come_valid_q && beats_q[come_q] == beat_t'(n)),
            .write_address_i(come_q),
            .write_data_i   (come_data_q),
            .read_address_i (line_miss_i),
            .read_data_o    (line_o[512*n +: 512])
        );
    end

    always_ff @(posedge clk_i) begin
        come_q       <= m_axi_rid[LogMisses-1:0];
        come_data_q  <= m_axi_rdata;
        come_error_q <= m_axi_rresp[1];
        come_last_q  <= m_axi_rlast;
        for (int unsigned n = 0; n < Misses; n++) begin
            if (come_valid_q && come_q == miss_t'(n)) begin
                beats_q[n]  <= come_last_q ? '0 : beats_q[n] + 1'b1;
                broken_q[n] <= !come_last_q && (come_error_q || broken_q[n]);
            end
            if (!rst_ni) beats_q[n] <= '0;
        end
        come_valid_q <= m_axi_rvalid && rst_ni;
        if (!rst_ni) broken_q <= '0;
    end

    // One write-back after the other.
    miss_t                write;
    logic                 write_valid, begins, loads, ends, busy_q;
    logic [63:0]          write_address;
    beat_t                beat_q, beat;
    logic [512*Lines-1:0] snapshot;
    logic                 ended_q, ended_error_q;
    miss_t                ended_miss_q, write_q;
    assign written_o     = ended_q ? Misses'(1) << ended_miss_q : '0;
    assign write_error_o = ended_error_q;
    entry_chooser #(
        .SegmentBits(SegmentBits),
        .LogMisses  (LogMisses),
        .LogStride  (LogStride)
    ) i_writes (
        .clk_i,
        .rst_ni,
        .base_i,
        .wanted_i  (to_write_i),
        .segments_i(victims_i),
        .taken_o   (write_taken_o),
        .valid_o   (write_valid),
        .ready_i   (begins),
        .miss_o    (write),
        .address_o (write_address)
    );

    lut_ram #(
        .AddressWidth(LogMisses),
        .DataWidth   (512 * Lines)
    ) i_snapshots (
        .clk_i,
        .write_enable_i (snapshot_i),
        .write_address_i(snapshot_miss_i),
        .write_data_i   (snapshot_line_i),
        .read_address_i (begins ? write : write_q),
        .read_data_o    (snapshot)
    );

    // The address goes with the first beat; each stays until it is taken.
    assign begins = write_valid && !busy_q;
    assign loads  = begins || m_axi_wvalid && m_axi_wready && !m_axi_wlast;
    assign ends   = busy_q && (!m_axi_awvalid || m_axi_awready)
        && (!m_axi_wvalid || m_axi_wready && m_axi_wlast);
    assign beat   = begins ? '0 : beat_q;

    always_ff @(posedge clk_i) begin
        if (begins) begin
            write_q      <= write;
            m_axi_awid   <= 8'(write);
            m_axi_awaddr <= write_address;
        end
        if (loads) begin
            m_axi_wdata <= snapshot[512*32'(beat) +: 512];
            m_axi_wlast <= beat == beat_t'(Lines - 1);
            beat_q      <= beat + 1'b1;
        end
        ended_miss_q  <= m_axi_bid[LogMisses-1:0];
        ended_error_q <= m_axi_bresp[1];
        if (!rst_ni) begin
            busy_q        <= 1'b0;
            ended_q       <= 1'b0;
            m_axi_awvalid <= 1'b0;
            m_axi_wvalid  <= 1'b0;
        end else begin
            busy_q        <= begins || busy_q && !ends;
            ended_q       <= m_axi_bvalid;
            m_axi_awvalid <= begins || m_axi_awvalid && !m_axi_awready;
            m_axi_wvalid  <= begins || m_axi_wvalid && !(m_axi_wready && m_axi_wlast);
        end
    end

    assign m_axi_awsize  = 3'd6;
    assign m_axi_awburst = 2'b01;
    assign m_axi_wstrb   = '1;
    assign m_axi_bready  = 1'b1;
    assign m_axi_arsize  = 3'd6;
    assign m_axi_arburst = 2'b01;
    assign m_axi_rready  = 1'b1;

    logic unused;
    assign unused = ^{m_axi_rid, m_axi_bid, m_axi_rresp[0], m_axi_bresp[0]};

`ifndef SYNTHESIS
    fetch_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_arvalid && !m_axi_arready)
            || m_axi_arvalid && $stable({m_axi_arid, m_axi_araddr}));
    write_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_awvalid && !m_axi_awready)
            || m_axi_awvalid && $stable({m_axi_awid, m_axi_awaddr}));
    beat_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_wvalid && !m_axi_wready)
            || m_axi_wvalid && $stable({m_axi_wdata, m_axi_wlast}));
    a_fetch_has_its_beats: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !come_valid_q || come_last_q == (beats_q[come_q] == beat_t'(Lines - 1)));
`endif

endmodule
