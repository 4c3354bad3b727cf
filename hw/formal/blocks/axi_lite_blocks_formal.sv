// SPDX-License-Identifier: MIT OR Apache-2.0
// axi_lite_blocks: the rules of its bus, and that each access reaches its block and its answer comes back.
`include "../rules/rule.svh"
module axi_lite_blocks_formal #(
    parameter int unsigned Blocks = 3
) (
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    s_axil_awvalid,
    input logic [15:0]             s_axil_awaddr,
    input logic                    s_axil_wvalid,
    input logic [31:0]             s_axil_wdata,
    input logic [3:0]              s_axil_wstrb,
    input logic                    s_axil_bready,
    input logic                    s_axil_arvalid,
    input logic [15:0]             s_axil_araddr,
    input logic                    s_axil_rready,
    input logic [Blocks-1:0]       block_done_i,
    input logic [Blocks-1:0]       block_error_i,
    input logic [Blocks-1:0][31:0] block_data_i
);
    logic              s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid;
    logic [1:0]        s_axil_bresp, s_axil_rresp;
    logic [31:0]       s_axil_rdata, block_data_o;
    logic [Blocks-1:0] block_valid_o;
    logic              block_write_o;
    logic [11:0]       block_address_o;
    logic [3:0]        block_strobe_o;

    power_up i_power_up (.*);
    axi_lite_blocks #(.Blocks(Blocks)) i_block (.*);
    axi4_lite_rules i_rules (
        .clk_i, .rst_ni,
        .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr),
        .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb),
        .bvalid(s_axil_bvalid), .bready(s_axil_bready), .bresp(s_axil_bresp),
        .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp)
    );

    // The access that goes to a block, or to none. The block serves one of a kind at a time, so the last
    // that was taken is the one; it does not take another before.
    logic [15:0] read_address_q, write_address_q;
    logic [31:0] data_q;
    logic [3:0]  strobe_q;
    always_ff @(posedge clk_i) begin
        if (s_axil_arvalid && s_axil_arready) read_address_q <= s_axil_araddr;
        if (s_axil_awvalid && s_axil_awready) write_address_q <= s_axil_awaddr;
        if (s_axil_wvalid && s_axil_wready) begin
            data_q   <= s_axil_wdata;
            strobe_q <= s_axil_wstrb;
        end
    end
    logic [15:0] address;
    assign address = block_write_o ? write_address_q : read_address_q;

    logic finished;
    assign finished = (block_valid_o & block_done_i) != 0;

    `RULE(access_goes_where_its_address_says, 1, block_valid_o == 0 || block_valid_o == Blocks'(1) << address[15:12])
    `RULE(address_is_passed_on, 1, block_valid_o == 0 || block_address_o == {address[11:2], 2'b00})
    `RULE(data_are_passed_on, 1, block_valid_o == 0 || !block_write_o
        || block_data_o == data_q && block_strobe_o == strobe_q)

    // What one of the blocks answers in its clock is what the channel offers, and keeps offering.
    logic [3:0]  number;
    logic        error;
    assign number = address[15:12];
    always_comb begin
        error = 1'b0;
        for (int unsigned n = 0; n < Blocks; n++) if (number == 4'(n)) error = block_error_i[n];
    end
    logic [31:0] answer;
    always_comb begin
        answer = '0;
        for (int unsigned n = 0; n < Blocks; n++) if (number == 4'(n)) answer = block_data_i[n];
    end
    `RULE(read_answers_as_its_block, 1, !finished || block_write_o || s_axil_rvalid
        && s_axil_rresp == (error ? 2'b11 : 2'b00) && s_axil_rdata == (error ? '0 : answer))
    `RULE(write_answers_as_its_block, 1, !finished || !block_write_o || s_axil_bvalid
        && s_axil_bresp == (error ? 2'b10 : 2'b00))

    // An access to a block that is not there fails.
    logic read_kept_q, write_kept_q;
    always_ff @(posedge clk_i) begin
        read_kept_q  <= rst_ni && s_axil_rvalid && !s_axil_rready;
        write_kept_q <= rst_ni && s_axil_bvalid && !s_axil_bready;
    end
    `RULE(read_without_a_block_fails, 1, !s_axil_rvalid || read_kept_q || 32'(read_address_q[15:12]) < Blocks
        || s_axil_rresp == 2'b11 && s_axil_rdata == 0)
    `RULE(write_without_a_block_fails, 1, !s_axil_bvalid || write_kept_q || 32'(write_address_q[15:12]) < Blocks
        || s_axil_bresp == 2'b10)
    // A new response comes from a block that is done, or from a number without one.
    `RULE(read_with_a_block_waits_for_it, 1, !s_axil_rvalid || read_kept_q
        || 32'(read_address_q[15:12]) >= Blocks || finished && !block_write_o)
    `RULE(write_with_a_block_waits_for_it, 1, !s_axil_bvalid || write_kept_q
        || 32'(write_address_q[15:12]) >= Blocks || finished && block_write_o)

    // No access waits for ever: while responses are taken and blocks are done at once, it is answered within
    // three clocks.
    logic [1:0] read_waits_q, write_waits_q;
    logic       prompt;
    assign prompt = s_axil_bready && s_axil_rready && &block_done_i;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !prompt || s_axil_rvalid || s_axil_arready) read_waits_q <= '0;
        else if (read_waits_q != '1) read_waits_q <= read_waits_q + 1'b1;
        if (!rst_ni || !prompt || s_axil_bvalid || s_axil_awready || s_axil_wready) write_waits_q <= '0;
        else if (write_waits_q != '1) write_waits_q <= write_waits_q + 1'b1;
    end
    `RULE(read_is_served_in_turn, 1, read_waits_q < 2'd2)
    `RULE(write_is_served_in_turn, 1, write_waits_q < 2'd2)

    // When both wait, the kind that was not served last is.
    logic write_last_q, under_way_q;
    always_ff @(posedge clk_i) begin
        under_way_q <= rst_ni && block_valid_o != 0 && !finished;
        if (!rst_ni) write_last_q <= 1'b1;
        else if (i_block.done) write_last_q <= block_write_o;
    end
    logic both_begin;
    assign both_begin = i_block.read_waits && i_block.write_waits && !under_way_q;
    `RULE(reads_and_writes_take_turns, 1, !both_begin || block_write_o != write_last_q)
    `REACHED(both_wait_after_a_write, both_begin && write_last_q && s_axil_awvalid)
    `REACHED(both_wait_after_a_read, both_begin && !write_last_q)

    `REACHED(block_answers_with_an_error, finished && error)
    `REACHED(read_waits_for_a_write, read_waits_q == 2'd1)
    `REACHED(write_waits_for_a_read, write_waits_q == 2'd1)
    `REACHED(nobody_has_the_address, s_axil_rvalid && 32'(read_address_q[15:12]) >= Blocks)
endmodule
