// SPDX-License-Identifier: MIT OR Apache-2.0
// visibility_pe_registers: each word keeps what was written, or tells what it is given, a clock after it was asked; ones start
// and stop a run, which the element ends, and clear an event, which stays where it comes with its clearing.
`include "../rules/rule.svh"
`include "../../rtl/visibility/generated/visibility_pe_map_pkg.sv"
module visibility_pe_registers_formal
    import visibility_pe_map_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        s_cpuif_req,
    input logic        s_cpuif_req_is_wr,
    input logic [11:0] s_cpuif_addr,
    input logic [31:0] s_cpuif_wr_data,
    input logic [31:0] s_cpuif_wr_biten,
    input visibility_pe_registers_pkg::visibility_pe__in_t hwif_in
);
    visibility_pe_registers_pkg::visibility_pe__out_t hwif_out;

    power_up i_power_up (.*);

    localparam bit ReadsLate = 1, Inside = 1;
    logic [11:0] address;
    logic [31:0] told, word, next, settled;
    logic        sets, clears;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));
    // In the order of the map.
    logic [9:0][63:0] counts;
    assign counts = {
        hwif_in.OUTPUT_STALLS.value.next, hwif_in.PAGE_MAP_MISSES.value.next, hwif_in.PAGE_CHECKS.value.next,
        hwif_in.LINE_READS.value.next, hwif_in.FAULTS.value.next, hwif_in.EMITTED.value.next,
        hwif_in.VISIBLE.value.next, hwif_in.HOPS.value.next, hwif_in.VIDS.value.next, hwif_in.CLOCKS.value.next
    };
    always_comb begin
        case (address)
            RETURN:       told = hwif_in.RETURN.value.next;
            CAPABILITIES: told = {hwif_in.CAPABILITIES.log2_pages.next, hwif_in.CAPABILITIES.ports.next,
                hwif_in.CAPABILITIES.lanes.next, hwif_in.CAPABILITIES.log2_chains.next};
            default:      told = counts[address[6:3]][32*address[2] +: 32];
        endcase
    end
    always_comb begin
        case (address)
            CONTROL:     word = 32'({hwif_out.CONTROL.stop.value, hwif_out.CONTROL.start.value});
            GIE:         word = 32'(hwif_out.GIE.enable.value);
            IER:         word = 32'(hwif_out.IER.done.value);
            ISR:         word = 32'(hwif_out.ISR.done.value);
            JOB:         word = {hwif_out.JOB.low.value, 6'd0};
            JOB + 12'd4: word = hwif_out.JOB.high.value;
            default:     word = place_of(address).first;
        endcase
    end
    assign sets    = address == CONTROL;
    assign clears  = address == ISR;
`include "places.svh"
`include "visibility_pe_map.svh"
`include "cpuif.svh"
    always_comb begin
        case (address)
            CONTROL: settled = next & ~32'({hwif_in.CONTROL.stop.hwclr, hwif_in.CONTROL.start.hwclr});
            ISR:     settled = next | 32'(hwif_in.ISR.done.hwset);
            default: settled = next;
        endcase
    end
    visibility_pe_registers i_block (.clk(clk_i), .rst_n(rst_ni), .*);

    // What counts of the outputs.
    logic [100:0] seen;
    assign seen = {
        s_cpuif_req_stall_wr, s_cpuif_req_stall_rd, s_cpuif_rd_ack, s_cpuif_rd_ack && s_cpuif_rd_err, s_cpuif_rd_ack
        && !s_cpuif_rd_err ? s_cpuif_rd_data : 32'd0, s_cpuif_wr_ack, s_cpuif_wr_ack && s_cpuif_wr_err,
        hwif_out.CONTROL.start.value, hwif_out.CONTROL.stop.value, hwif_out.GIE.enable.value,
        hwif_out.IER.done.value, hwif_out.ISR.done.value, hwif_out.JOB.low.value, hwif_out.JOB.high.value
    };
    `REACHED(write_waits_for_a_read, s_cpuif_req && s_cpuif_req_is_wr && s_cpuif_req_stall_wr)
    `REACHED(event_comes_with_its_clearing, ours && address == ISR && hwif_in.ISR.done.hwset && word[0] && ones[0])
endmodule
