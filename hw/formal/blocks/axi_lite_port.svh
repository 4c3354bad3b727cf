// SPDX-License-Identifier: MIT OR Apache-2.0
// An AXI4-Lite port of a top, behind which axi_lite_blocks is: what comes at the port reaches the blocks of registers as it came,
// and what they answer is answered there. The wrapper has declared `BUS`, that instance, `Blocks`, how many there are, and the
// rules of the port as `i_registers`.

    logic [15:0] read_at_q, write_at_q, accessed;
    logic [31:0] data_taken_q, answer;
    logic [3:0]  strobe_taken_q;
    logic        answers, fails;
    always_ff @(posedge clk_i) begin
        if (s_axil_arvalid && s_axil_arready) read_at_q <= 16'(s_axil_araddr);
        if (s_axil_awvalid && s_axil_awready) write_at_q <= 16'(s_axil_awaddr);
        if (s_axil_wvalid && s_axil_wready) {data_taken_q, strobe_taken_q} <= {s_axil_wdata, s_axil_wstrb};
    end
    always_comb begin
        answers  = 1'b0;
        fails    = 1'b0;
        answer   = '0;
        for (int unsigned n = 0; n < Blocks; n++) begin
            if (`BUS.block_valid_o[n] && `BUS.block_done_i[n]) begin
                answers = 1'b1;
                fails   = `BUS.block_error_i[n];
                answer  = `BUS.block_data_i[n];
            end
        end
    end
    assign accessed = `BUS.block_write_o ? write_at_q : read_at_q;
    `RULE(bits_15_to_12_name_the_block, 1, `BUS.block_valid_o == 0
        || `BUS.block_valid_o == Blocks'(16'd1 << accessed[15:12]) && `BUS.block_address_o == {accessed[11:2], 2'b00})
    `RULE(data_are_those_of_the_port, 1, `BUS.block_valid_o == 0 || !`BUS.block_write_o
        || {`BUS.block_data_o, `BUS.block_strobe_o} == {data_taken_q, strobe_taken_q})
    `RULE(answer_of_a_read_goes_out, 1, !answers || `BUS.block_write_o
        || s_axil_rvalid && {s_axil_rresp, s_axil_rdata} == (fails ? {2'b11, 32'd0} : {2'b00, answer}))
    `RULE(answer_of_a_write_goes_out, 1, !answers || !`BUS.block_write_o
        || s_axil_bvalid && s_axil_bresp == (fails ? 2'b10 : 2'b00))

    // What is known inside.
    `RULE(addresses_are_known, 1, (!`BUS.read_held_q || `BUS.read_address_q == read_at_q[15:2])
        && (!`BUS.address_held_q || `BUS.write_address_q == write_at_q[15:2]))
    `RULE(data_are_known, 1, !`BUS.data_held_q || {`BUS.data_q, `BUS.strobe_q} == {data_taken_q, strobe_taken_q})
    `RULE(accesses_are_held_or_their_answers_kept, 1, i_registers.reads_q == 2'(`BUS.read_held_q) + 2'(`BUS.read_kept_q)
        && i_registers.addresses_q == 2'(`BUS.address_held_q) + 2'(`BUS.write_kept_q)
        && i_registers.data_q == 2'(`BUS.data_held_q) + 2'(`BUS.write_kept_q))
