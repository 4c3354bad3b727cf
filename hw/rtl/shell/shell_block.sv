// SPDX-License-Identifier: MIT OR Apache-2.0
// The shell's registers (docs/registers.md), and the interrupts that it raises by hand.
module shell_block #(
    parameter int unsigned CardLog2Bytes = 26
) (
    input  logic        clk_i,
    input  logic        rst_ni,

    // A register access: valid and all beside it hold until done.
    input  logic        valid_i,
    input  logic        write_i,
    input  logic [11:0] address_i,
    input  logic [31:0] data_i,
    input  logic [3:0]  strobe_i,
    output logic        done_o,
    output logic        error_o,
    output logic [31:0] data_o,

    input  logic [31:0] interrupt_count_i[6],
    output logic [5:0]  force_o   // raise the vector once
);

    shell_registers_pkg::shell__in_t  to_registers;
    shell_registers_pkg::shell__out_t from_registers;

    // In steps, so that nothing else is on the paths of the registers: the access comes, it is carried
    // out, and its end is given.
    logic        access_q, write_q, refused_q, read_error, write_error;
    logic [11:0] address_q;
    logic [31:0] data_q, read_data;
    logic [3:0]  strobe_q;
    always_ff @(posedge clk_i) begin
        access_q  <= rst_ni && valid_i && !access_q && !done_o;
        done_o    <= rst_ni && access_q;
        error_o   <= refused_q || (write_q ? write_error : read_error);
        data_o    <= read_data;
        write_q   <= write_i;
        refused_q <= write_i && shell_map_pkg::write_refused(address_i, strobe_i);
        address_q <= address_i;
        data_q    <= data_i;
        strobe_q  <= strobe_i;
    end

    logic [31:0] data_bits;
    assign data_bits = {
        {8{strobe_q[3]}}, {8{strobe_q[2]}}, {8{strobe_q[1]}}, {8{strobe_q[0]}}
    };

    always_comb begin
        to_registers.CAPABILITIES.card_log2_bytes.next = 8'(CardLog2Bytes);
        for (int unsigned n = 0; n < 6; n++) begin
            to_registers.INTERRUPT_COUNT[n].value.next = interrupt_count_i[n];
        end
    end

    assign force_o = {
        from_registers.INTERRUPT_FORCE.vector_5.value,
        from_registers.INTERRUPT_FORCE.vector_4.value,
        from_registers.INTERRUPT_FORCE.vector_3.value,
        from_registers.INTERRUPT_FORCE.vector_2.value,
        from_registers.INTERRUPT_FORCE.vector_1.value,
        from_registers.INTERRUPT_FORCE.vector_0.value
    };

    shell_registers i_registers (
        .clk                 (clk_i),
        .rst_n               (rst_ni),
        .s_cpuif_req         (access_q && !refused_q),
        .s_cpuif_req_is_wr   (write_q),
        .s_cpuif_addr        (address_q),
        .s_cpuif_wr_data     (data_q),
        .s_cpuif_wr_biten    (data_bits),
        .s_cpuif_req_stall_wr(),
        .s_cpuif_req_stall_rd(),
        .s_cpuif_rd_ack      (),
        .s_cpuif_rd_err      (read_error),
        .s_cpuif_rd_data     (read_data),
        .s_cpuif_wr_ack      (),
        .s_cpuif_wr_err      (write_error),
        .hwif_in             (to_registers),
        .hwif_out            (from_registers)
    );

endmodule
