// SPDX-License-Identifier: MIT OR Apache-2.0
// shell_block: of any word of the map, what a read gives is what was written last, byte by byte, or the count of its
// interrupts; each interrupt that is raised by hand is raised in one clock.
`include "../rules/rule.svh"
module shell_block_formal
    import shell_map_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        valid_i,
    input logic        write_i,
    input logic [11:0] address_i,
    input logic [31:0] data_i,
    input logic [3:0]  strobe_i,
    input logic [31:0] interrupt_count_i[6]
);
    logic        done_o, error_o;
    logic [31:0] data_o;
    logic [5:0]  force_o;

    power_up i_power_up (.*);
    shell_block i_block (.*);

    // What counts of the outputs.
    logic [39:0] seen;
    assign seen = {done_o, done_o && error_o, done_o && !write_i && !error_o ? data_o : 32'd0, force_o};

    logic [11:0] address;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));

    localparam bit ReadsLate = 0;
    localparam bit HasTheBus = 0, Inside = 0;
    logic        refused;
    logic [31:0] told, given, word;
    assign given   = data_i;
    assign refused = write_refused(address_i, strobe_i);
    always_comb begin
        told = '0;
        for (int unsigned n = 0; n < 6; n++) begin
            if (address == INTERRUPT_COUNT + 12'(4 * n)) told = interrupt_count_i[n];
        end
    end
    // What the registers keep.
    always_comb begin
        case (address)
            SCRATCH_8:          word = 32'(i_block.i_registers.field_storage.SCRATCH_8.value.value);
            SCRATCH_16:         word = 32'(i_block.i_registers.field_storage.SCRATCH_16.value.value);
            SCRATCH_32:         word = i_block.i_registers.field_storage.SCRATCH_32.value.value;
            SCRATCH_64:         word = i_block.i_registers.field_storage.SCRATCH_64.low.value;
            SCRATCH_64 + 12'd4: word = i_block.i_registers.field_storage.SCRATCH_64.high.value;
            default:            word = place_of(address).first;
        endcase
    end
`include "registers.svh"
`include "shell_map.svh"

    `RULE(interrupts_are_raised_once, 1, force_o == $past(rst_ni && carried_q && write_i && !refused_q
        && address_i == INTERRUPT_FORCE ? data_i[5:0] : 6'd0))

    `REACHED(byte_is_written, writes && strobe_i == 4'b0100 && address == SCRATCH_64)
    `REACHED(two_are_raised_at_once, $countones(force_o) == 2)
endmodule
