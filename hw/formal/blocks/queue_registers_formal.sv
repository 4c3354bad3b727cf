// SPDX-License-Identifier: MIT OR Apache-2.0
// queue_registers: each word keeps what was written, or tells what it is given; the engine takes back the enable, clears
// doorbells and sets events, of which one that comes with its clearing stays.
`include "../rules/rule.svh"
`include "../../rtl/queue/generated/queue_map_pkg.sv"
module queue_registers_formal
    import queue_map_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        s_cpuif_req,
    input logic        s_cpuif_req_is_wr,
    input logic [11:0] s_cpuif_addr,
    input logic [31:0] s_cpuif_wr_data,
    input logic [31:0] s_cpuif_wr_biten,
    input queue_registers_pkg::queue__in_t hwif_in
);
    queue_registers_pkg::queue__out_t hwif_out;

    power_up i_power_up (.*);

    localparam bit ReadsLate = 0, Inside = 1;
    logic [11:0] address;
    logic [31:0] told, word, next, settled;
    logic        sets, clears;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));
    // In the order of the map.
    logic [4:0][63:0] counts;
    assign counts = {
        hwif_in.FAILURES.value.next, hwif_in.BYTES_MOVED.value.next, hwif_in.INTERRUPTS.value.next,
        hwif_in.COMPLETIONS.value.next, hwif_in.SUBMISSIONS.value.next
    };
    always_comb begin
        case (address)
            RETURN:               told = hwif_in.RETURN.value.next;
            SUBMISSION_HEAD:      told = 32'(hwif_in.SUBMISSION_HEAD.count.next);
            COMPLETION_TAIL:      told = 32'(hwif_in.COMPLETION_TAIL.count.next);
            queue_map_pkg::ERROR: told = 32'(hwif_in.ERROR.cause.next);
            CAPABILITIES:         told = {16'd0, 8'd12, hwif_in.CAPABILITIES.kind.next};
            default:              told = counts[address[5:3]][32*address[2] +: 32];
        endcase
    end
    always_comb begin
        case (address)
            CONTROL:                 word = 32'(hwif_out.CONTROL.enable.value);
            GIE:                     word = 32'(hwif_out.GIE.enable.value);
            IER:                     word = 32'({hwif_out.IER.error.value, hwif_out.IER.completion.value});
            ISR:                     word = 32'({hwif_out.ISR.error.value, hwif_out.ISR.completion.value});
            SUBMISSION_BASE:         word = {hwif_out.SUBMISSION_BASE.low.value, 6'd0};
            SUBMISSION_BASE + 12'd4: word = hwif_out.SUBMISSION_BASE.high.value;
            COMPLETION_BASE:         word = {hwif_out.COMPLETION_BASE.low.value, 6'd0};
            COMPLETION_BASE + 12'd4: word = hwif_out.COMPLETION_BASE.high.value;
            LOG2_ENTRIES:            word = 32'(hwif_out.LOG2_ENTRIES.value.value);
            SUBMISSION_TAIL:         word = 32'(hwif_out.SUBMISSION_TAIL.count.value);
            COMPLETION_HEAD:         word = 32'(hwif_out.COMPLETION_HEAD.count.value);
            default:                 word = place_of(address).first;
        endcase
    end
    assign sets    = 1'b0;
    assign clears  = address == ISR;
`include "places.svh"
`include "queue_map.svh"
`include "cpuif.svh"
    always_comb begin
        case (address)
            CONTROL:         settled = hwif_in.CONTROL.enable.hwclr ? 32'd0 : next;
            ISR:             settled = next | 32'({hwif_in.ISR.error.hwset, hwif_in.ISR.completion.hwset});
            SUBMISSION_TAIL: settled = hwif_in.SUBMISSION_TAIL.count.hwclr && !ours ? 32'd0 : next;
            COMPLETION_HEAD: settled = hwif_in.COMPLETION_HEAD.count.hwclr && !ours ? 32'd0 : next;
            default:         settled = next;
        endcase
    end
    queue_registers i_block (.clk(clk_i), .rst_n(rst_ni), .*);

    // What counts of the outputs.
    logic [195:0] seen;
    assign seen = {
        s_cpuif_req_stall_wr, s_cpuif_req_stall_rd, s_cpuif_rd_ack, s_cpuif_rd_ack && s_cpuif_rd_err, s_cpuif_rd_ack
        && !s_cpuif_rd_err ? s_cpuif_rd_data : 32'd0, s_cpuif_wr_ack, s_cpuif_wr_ack && s_cpuif_wr_err,
        hwif_out.CONTROL.enable.value, hwif_out.GIE.enable.value, hwif_out.IER.completion.value,
        hwif_out.IER.error.value, hwif_out.ISR.completion.value, hwif_out.ISR.error.value,
        hwif_out.SUBMISSION_BASE.low.value, hwif_out.SUBMISSION_BASE.high.value, hwif_out.COMPLETION_BASE.low.value,
        hwif_out.COMPLETION_BASE.high.value, hwif_out.LOG2_ENTRIES.value.value,
        hwif_out.SUBMISSION_TAIL.count.value, hwif_out.COMPLETION_HEAD.count.value
    };
    `REACHED(event_comes_with_its_clearing, ours && address == ISR && hwif_in.ISR.error.hwset && word[1] && ones[1])
    `REACHED(doorbell_is_written_as_it_is_cleared, ours && address == SUBMISSION_TAIL
        && hwif_in.SUBMISSION_TAIL.count.hwclr && settled != 0)
endmodule
