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

    logic        cpuif_req, cpuif_req_is_wr, cpuif_rd_ack, cpuif_rd_err, cpuif_wr_ack, cpuif_wr_err;
    logic [11:0] cpuif_addr;
    logic [31:0] cpuif_wr_data, cpuif_wr_biten, cpuif_rd_data;
    register_access i_access (
        .clk_i,
        .rst_ni,
        .valid_i,
        .write_i,
        .address_i,
        .data_i,
        .strobe_i,
        .refused_i        (write_i && shell_map_pkg::write_refused(address_i, strobe_i)),
        .done_o,
        .error_o,
        .data_o,
        .m_cpuif_req      (cpuif_req),
        .m_cpuif_req_is_wr(cpuif_req_is_wr),
        .m_cpuif_addr     (cpuif_addr),
        .m_cpuif_wr_data  (cpuif_wr_data),
        .m_cpuif_wr_biten (cpuif_wr_biten),
        .m_cpuif_rd_ack   (cpuif_rd_ack),
        .m_cpuif_rd_err   (cpuif_rd_err),
        .m_cpuif_rd_data  (cpuif_rd_data),
        .m_cpuif_wr_ack   (cpuif_wr_ack),
        .m_cpuif_wr_err   (cpuif_wr_err)
    );

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
        .s_cpuif_req         (cpuif_req),
        .s_cpuif_req_is_wr   (cpuif_req_is_wr),
        .s_cpuif_addr        (cpuif_addr),
        .s_cpuif_wr_data     (cpuif_wr_data),
        .s_cpuif_wr_biten    (cpuif_wr_biten),
        .s_cpuif_req_stall_wr(),
        .s_cpuif_req_stall_rd(),
        .s_cpuif_rd_ack      (cpuif_rd_ack),
        .s_cpuif_rd_err      (cpuif_rd_err),
        .s_cpuif_rd_data     (cpuif_rd_data),
        .s_cpuif_wr_ack      (cpuif_wr_ack),
        .s_cpuif_wr_err      (cpuif_wr_err),
        .hwif_in             (to_registers),
        .hwif_out            (from_registers)
    );

endmodule
