// SPDX-License-Identifier: MIT OR Apache-2.0
// The shell's registers (docs/registers.md), and the interrupts that it raises by hand.
module shell_block #(
    parameter int unsigned CardLog2Bytes = 26
) (
    input  logic        clk_i,
    input  logic        rst_ni,

    // An access, done in the cycle in which it comes.
    input  logic        valid_i,
    input  logic        write_i,
    input  logic [11:0] address_i,
    input  logic [31:0] data_i,
    input  logic [3:0]  strobe_i,
    output logic        error_o,
    output logic [31:0] data_o,

    input  logic [31:0] interrupt_count_i[6],
    output logic [5:0]  force_o   // raise the vector once
);

    shell_registers_pkg::shell__in_t  to_registers;
    shell_registers_pkg::shell__out_t from_registers;

    logic [31:0] data_bits;
    assign data_bits = {
        {8{strobe_i[3]}}, {8{strobe_i[2]}}, {8{strobe_i[1]}}, {8{strobe_i[0]}}
    };

    logic refused, read_error, write_error;
    assign refused = write_i && shell_map_pkg::write_refused(address_i, strobe_i);
    assign error_o = refused || (write_i ? write_error : read_error);

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
        .s_cpuif_req         (valid_i && !refused),
        .s_cpuif_req_is_wr   (write_i),
        .s_cpuif_addr        (address_i),
        .s_cpuif_wr_data     (data_i),
        .s_cpuif_wr_biten    (data_bits),
        .s_cpuif_req_stall_wr(),
        .s_cpuif_req_stall_rd(),
        .s_cpuif_rd_ack      (),
        .s_cpuif_rd_err      (read_error),
        .s_cpuif_rd_data     (data_o),
        .s_cpuif_wr_ack      (),
        .s_cpuif_wr_err      (write_error),
        .hwif_in             (to_registers),
        .hwif_out            (from_registers)
    );

endmodule
