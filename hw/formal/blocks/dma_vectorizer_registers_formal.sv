// SPDX-License-Identifier: MIT OR Apache-2.0
// dma_vectorizer_registers: each word keeps what was written, or tells what it is given.
`include "../rules/rule.svh"
`include "../../rtl/nic/generated/dma_vectorizer_map_pkg.sv"
module dma_vectorizer_registers_formal
    import dma_vectorizer_map_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        s_cpuif_req,
    input logic        s_cpuif_req_is_wr,
    input logic [11:0] s_cpuif_addr,
    input logic [31:0] s_cpuif_wr_data,
    input logic [31:0] s_cpuif_wr_biten,
    input dma_vectorizer_registers_pkg::dma_vectorizer__in_t hwif_in
);
    dma_vectorizer_registers_pkg::dma_vectorizer__out_t hwif_out;

    power_up i_power_up (.*);

    localparam bit ReadsLate = 0, Inside = 1;
    logic [11:0] address;
    logic [31:0] told, word, next, settled;
    logic        sets, clears;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));
    // In the order of the map.
    logic [7:0][63:0] counts;
    assign counts = {
        hwif_in.REFUSED.value.next, hwif_in.ERRORS.value.next, hwif_in.BYTES_WRITTEN.value.next,
        hwif_in.BYTES_READ.value.next, hwif_in.VECTORS_IDLE.value.next, hwif_in.VECTORS_FLUSHED.value.next,
        hwif_in.VECTORS_FULL.value.next, hwif_in.ELEMENTS.value.next
    };
    assign told = address == RETURN ? hwif_in.RETURN.value.next : counts[address[5:3]][32*address[2] +: 32];
    always_comb begin
        case (address)
            CONTROL:            word = 32'(hwif_out.CONTROL.enable.value);
            HOST_FIRST:         word = {hwif_out.HOST_FIRST.low.value, 12'd0};
            HOST_FIRST + 12'd4: word = hwif_out.HOST_FIRST.high.value;
            HOST_LAST:          word = {hwif_out.HOST_LAST.low.value, 12'd0};
            HOST_LAST + 12'd4:  word = hwif_out.HOST_LAST.high.value;
            NIC_FIRST:          word = {hwif_out.NIC_FIRST.low.value, 12'd0};
            NIC_FIRST + 12'd4:  word = hwif_out.NIC_FIRST.high.value;
            NIC_LAST:           word = {hwif_out.NIC_LAST.low.value, 12'd0};
            NIC_LAST + 12'd4:   word = hwif_out.NIC_LAST.high.value;
            IDLE_TIME:          word = 32'(hwif_out.IDLE_TIME.clocks.value);
            FLUSH_TIME:         word = 32'(hwif_out.FLUSH_TIME.clocks.value);
            default:            word = place_of(address).first;
        endcase
    end
    assign sets    = 1'b0;
    assign clears  = 1'b0;
    assign settled = next;
`include "places.svh"
`include "dma_vectorizer_map.svh"
`include "cpuif.svh"

    dma_vectorizer_registers i_block (.clk(clk_i), .rst_n(rst_ni), .*);

    // What counts of the outputs.
    logic [280:0] seen;
    assign seen = {
        s_cpuif_req_stall_wr, s_cpuif_req_stall_rd, s_cpuif_rd_ack, s_cpuif_rd_ack && s_cpuif_rd_err, s_cpuif_rd_ack
        && !s_cpuif_rd_err ? s_cpuif_rd_data : 32'd0, s_cpuif_wr_ack, s_cpuif_wr_ack && s_cpuif_wr_err,
        hwif_out.CONTROL.enable.value, hwif_out.HOST_FIRST.low.value, hwif_out.HOST_FIRST.high.value,
        hwif_out.HOST_LAST.low.value, hwif_out.HOST_LAST.high.value, hwif_out.NIC_FIRST.low.value,
        hwif_out.NIC_FIRST.high.value, hwif_out.NIC_LAST.low.value, hwif_out.NIC_LAST.high.value,
        hwif_out.IDLE_TIME.clocks.value, hwif_out.FLUSH_TIME.clocks.value
    };
endmodule
