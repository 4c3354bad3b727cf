// SPDX-License-Identifier: MIT OR Apache-2.0
// AXI4-Lite subordinate that spreads accesses over register blocks of 4 KiB.
//
// Contract: one access at a time goes to the block that bits 15:12 of its address name. An address
// between words is of the word that it lies in: the block sees that word's.
// `block_valid_o[n]` and the other outputs of the access are stable until
// `block_done_i[n]`, in whose cycle the block also gives its error and its data; a block
// may be done in the first cycle. Data and strobe of a read mean nothing, and may change. A read that fails, or that has no block, answers DECERR,
// and such a write SLVERR. Reads and writes take turns when both wait. A write takes
// effect no later than its B.
//
// The response is on its channel in the cycle in which the block is done. So a read whose block is
// done at once has rvalid in the cycle after arvalid.
module axi_lite_blocks #(
    parameter int unsigned Blocks = 4
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,

    input  logic                    s_axil_awvalid,
    output logic                    s_axil_awready,
    input  logic [15:0]             s_axil_awaddr,
    input  logic                    s_axil_wvalid,
    output logic                    s_axil_wready,
    input  logic [31:0]             s_axil_wdata,
    input  logic [3:0]              s_axil_wstrb,
    output logic                    s_axil_bvalid,
    input  logic                    s_axil_bready,
    output logic [1:0]              s_axil_bresp,
    input  logic                    s_axil_arvalid,
    output logic                    s_axil_arready,
    input  logic [15:0]             s_axil_araddr,
    output logic                    s_axil_rvalid,
    input  logic                    s_axil_rready,
    output logic [31:0]             s_axil_rdata,
    output logic [1:0]              s_axil_rresp,

    output logic [Blocks-1:0]       block_valid_o,    // at most one is high
    output logic                    block_write_o,
    output logic [11:0]             block_address_o,
    output logic [31:0]             block_data_o,
    output logic [3:0]              block_strobe_o,
    input  logic [Blocks-1:0]       block_done_i,
    input  logic [Blocks-1:0]       block_error_i,    // with done
    input  logic [Blocks-1:0][31:0] block_data_i      // with done, of a read
);

    localparam logic [1:0] Okay   = 2'b00;
    localparam logic [1:0] SlvErr = 2'b10;
    localparam logic [1:0] DecErr = 2'b11;

    // What was taken from the channels and not yet served.
    logic        read_held_q, address_held_q, data_held_q;
    logic [15:2] read_address_q, write_address_q;
    logic [31:0] data_q;
    logic [3:0]  strobe_q;

    assign s_axil_arready = !read_held_q;
    assign s_axil_awready = !address_held_q;
    assign s_axil_wready  = !data_held_q;

    // Responses that were not taken in their first cycle.
    logic        read_kept_q, write_kept_q;
    logic [31:0] kept_data_q;
    logic [1:0]  kept_rresp_q, kept_bresp_q;

    // Who is served. An access under way is not broken off by another one that comes.
    logic reading_q, writing_q, write_next_q;
    logic read_waits, write_waits, serve_read, serve_write;
    assign read_waits  = read_held_q && !read_kept_q;
    assign write_waits = address_held_q && data_held_q && !write_kept_q;
    assign serve_write = write_waits && !reading_q
        && (writing_q || write_next_q || !read_waits);
    assign serve_read  = read_waits && !serve_write;

    logic [15:2] address;
    logic        known, done, error;
    assign address         = serve_write ? write_address_q : read_address_q;
    assign known           = 32'(address[15:12]) < Blocks;
    assign block_write_o   = serve_write;
    assign block_address_o = {address[11:2], 2'b00};
    assign block_data_o    = data_q;
    assign block_strobe_o  = strobe_q;

    logic [31:0] data;
    always_comb begin
        block_valid_o = '0;
        done          = serve_read || serve_write;
        error         = !known;
        data          = '0;
        for (int unsigned n = 0; n < Blocks; n++) begin
            if (32'(address[15:12]) == n) begin
                block_valid_o[n] = serve_read || serve_write;
                done             = (serve_read || serve_write) && block_done_i[n];
                error            = block_error_i[n];
                data             = block_data_i[n];
            end
        end
    end

    assign s_axil_rvalid = read_kept_q || serve_read && done;
    assign s_axil_bvalid = write_kept_q || serve_write && done;
    always_comb begin
        s_axil_rdata = error ? '0 : data;
        s_axil_rresp = error ? DecErr : Okay;
        s_axil_bresp = error ? SlvErr : Okay;
        if (read_kept_q) begin
            s_axil_rdata = kept_data_q;
            s_axil_rresp = kept_rresp_q;
        end
        if (write_kept_q) s_axil_bresp = kept_bresp_q;
    end

    logic unused;
    assign unused = ^{s_axil_awaddr[1:0], s_axil_araddr[1:0]};

    always_ff @(posedge clk_i) begin
        if (s_axil_arvalid && s_axil_arready) read_address_q  <= s_axil_araddr[15:2];
        if (s_axil_awvalid && s_axil_awready) write_address_q <= s_axil_awaddr[15:2];
        if (s_axil_wvalid && s_axil_wready) begin
            data_q   <= s_axil_wdata;
            strobe_q <= s_axil_wstrb;
        end
        if (s_axil_rvalid) begin
            kept_data_q  <= s_axil_rdata;
            kept_rresp_q <= s_axil_rresp;
        end
        if (s_axil_bvalid) kept_bresp_q <= s_axil_bresp;
        if (!rst_ni) begin
            read_held_q    <= 1'b0;
            address_held_q <= 1'b0;
            data_held_q    <= 1'b0;
            read_kept_q    <= 1'b0;
            write_kept_q   <= 1'b0;
            reading_q      <= 1'b0;
            writing_q      <= 1'b0;
            write_next_q   <= 1'b0;
        end else begin
            read_held_q    <= (read_held_q || s_axil_arvalid) && !(serve_read && done);
            address_held_q <= (address_held_q || s_axil_awvalid) && !(serve_write && done);
            data_held_q    <= (data_held_q || s_axil_wvalid) && !(serve_write && done);
            read_kept_q    <= s_axil_rvalid && !s_axil_rready;
            write_kept_q   <= s_axil_bvalid && !s_axil_bready;
            reading_q      <= serve_read && !done;
            writing_q      <= serve_write && !done;
            if (done) write_next_q <= serve_read;
        end
    end

`ifndef SYNTHESIS
    one_block_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni)
        $onehot0(block_valid_o));
    access_holds_until_done: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && |block_valid_o && !done)
            || $stable({block_valid_o, block_write_o, block_address_o}));
    read_data_hold_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && s_axil_rvalid && !s_axil_rready)
            || s_axil_rvalid && $stable({s_axil_rdata, s_axil_rresp}));
    write_response_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && s_axil_bvalid && !s_axil_bready) || s_axil_bvalid && $stable(s_axil_bresp));
`endif

endmodule
