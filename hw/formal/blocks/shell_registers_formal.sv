// SPDX-License-Identifier: MIT OR Apache-2.0
// shell_registers: each word keeps what was written, byte by byte, or tells what it is given; a forced interrupt is one pulse.
`include "../rules/rule.svh"
`include "../../rtl/shell/generated/shell_map_pkg.sv"
module shell_registers_formal
    import shell_map_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        s_cpuif_req,
    input logic        s_cpuif_req_is_wr,
    input logic [11:0] s_cpuif_addr,
    input logic [31:0] s_cpuif_wr_data,
    input logic [31:0] s_cpuif_wr_biten,
    input shell_registers_pkg::shell__in_t hwif_in
);
    shell_registers_pkg::shell__out_t hwif_out;

    power_up i_power_up (.*);

    localparam bit ReadsLate = 0, Inside = 1;
    logic [11:0] address;
    logic [31:0] told, word, next, settled;
    logic        sets, clears;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));
    always_comb begin
        told = address == CAPABILITIES ? {8'd0, hwif_in.CAPABILITIES.card_log2_bytes.next, 8'd6, 8'd4} : '0;
        for (int unsigned n = 0; n < 6; n++) begin
            if (address == INTERRUPT_COUNT + 12'(4 * n)) told = hwif_in.INTERRUPT_COUNT[n].value.next;
        end
    end
    always_comb begin
        case (address)
            SCRATCH_8:          word = 32'(i_block.field_storage.SCRATCH_8.value.value);
            SCRATCH_16:         word = 32'(i_block.field_storage.SCRATCH_16.value.value);
            SCRATCH_32:         word = i_block.field_storage.SCRATCH_32.value.value;
            SCRATCH_64:         word = i_block.field_storage.SCRATCH_64.low.value;
            SCRATCH_64 + 12'd4: word = i_block.field_storage.SCRATCH_64.high.value;
            default:            word = place_of(address).first;
        endcase
    end
    assign sets    = 1'b0;
    assign clears  = 1'b0;
    assign settled = next;
`include "places.svh"
`include "shell_map.svh"
`include "cpuif.svh"

    shell_registers i_block (.clk(clk_i), .rst_n(rst_ni), .*);

    logic [5:0] forced;
    assign forced = {
        hwif_out.INTERRUPT_FORCE.vector_5.value, hwif_out.INTERRUPT_FORCE.vector_4.value,
        hwif_out.INTERRUPT_FORCE.vector_3.value, hwif_out.INTERRUPT_FORCE.vector_2.value,
        hwif_out.INTERRUPT_FORCE.vector_1.value, hwif_out.INTERRUPT_FORCE.vector_0.value
    };
    // What counts of the outputs.
    logic [43:0] seen;
    assign seen = {
        s_cpuif_req_stall_wr, s_cpuif_req_stall_rd, s_cpuif_rd_ack, s_cpuif_rd_ack && s_cpuif_rd_err, s_cpuif_rd_ack
        && !s_cpuif_rd_err ? s_cpuif_rd_data : 32'd0, s_cpuif_wr_ack, s_cpuif_wr_ack && s_cpuif_wr_err,
        hwif_out.INTERRUPT_FORCE.vector_0.value, hwif_out.INTERRUPT_FORCE.vector_1.value,
        hwif_out.INTERRUPT_FORCE.vector_2.value, hwif_out.INTERRUPT_FORCE.vector_3.value,
        hwif_out.INTERRUPT_FORCE.vector_4.value, hwif_out.INTERRUPT_FORCE.vector_5.value
    };
    // A bit that a write leaves out stays, if it comes in the clock of the pulse; shell_block refuses such writes.
    `RULE(interrupts_are_forced_for_a_clock, 1,
        forced == $past(rst_ni && writes && s_cpuif_addr == INTERRUPT_FORCE ? forced & ~s_cpuif_wr_biten[5:0] | ones[5:0] : 6'd0))
    `REACHED(two_are_forced_at_once, $countones(forced) == 2)
endmodule
