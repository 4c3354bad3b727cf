// SPDX-License-Identifier: MIT OR Apache-2.0
// nic_lookup_registers: each word keeps what was written, or tells what it is given, a clock after it was asked.
`include "../rules/rule.svh"
`include "../../rtl/nic/generated/nic_lookup_map_pkg.sv"
module nic_lookup_registers_formal
    import nic_lookup_map_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        s_cpuif_req,
    input logic        s_cpuif_req_is_wr,
    input logic [11:0] s_cpuif_addr,
    input logic [31:0] s_cpuif_wr_data,
    input logic [31:0] s_cpuif_wr_biten,
    input nic_lookup_registers_pkg::nic_lookup__in_t hwif_in
);
    nic_lookup_registers_pkg::nic_lookup__out_t hwif_out;

    power_up i_power_up (.*);

    localparam bit ReadsLate = 1, Inside = 1;
    logic [11:0] address;
    logic [31:0] told, word, next, settled;
    logic        sets, clears;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));
    // In the order of the map.
    logic [20:0][63:0] counts;
    assign counts = {
        hwif_in.INDEX_ERRORS.value.next, hwif_in.HINTS_SET.value.next, hwif_in.FILLS_FULL.value.next,
        hwif_in.FILLS_STALE.value.next, hwif_in.FILLS.value.next, hwif_in.DISTURBED_READINGS.value.next,
        hwif_in.REPEATED_READINGS.value.next, hwif_in.BYTES_READ.value.next, hwif_in.SLOTS_READ.value.next,
        hwif_in.READS.value.next, hwif_in.TRIPS.value.next, hwif_in.SHORT_HINTS.value.next,
        hwif_in.NOT_READ.value.next, hwif_in.GAVE_UP.value.next, hwif_in.ABSENT.value.next,
        hwif_in.FOUND_IN_BUCKETS.value.next, hwif_in.FOUND.value.next, hwif_in.MISSES.value.next,
        hwif_in.HITS.value.next, hwif_in.LOOK_UPS.value.next, hwif_in.REQUESTS.value.next
    };
    always_comb begin
        case (address)
            RETURN:             told = hwif_in.RETURN.value.next;
            CAPABILITIES:       told = {hwif_in.CAPABILITIES.segment_bits.next, hwif_in.CAPABILITIES.log2_contexts.next,
                hwif_in.CAPABILITIES.value_words.next, hwif_in.CAPABILITIES.slot_bytes.next};
            CAPABILITIES_INDEX: told = {hwif_in.CAPABILITIES_INDEX.landing_lines.next,
                hwif_in.CAPABILITIES_INDEX.most_pins.next, hwif_in.CAPABILITIES_INDEX.objects.next,
                hwif_in.CAPABILITIES_INDEX.log2_ways.next, hwif_in.CAPABILITIES_INDEX.log2_sets.next};
            SETTINGS_ERROR:     told = 32'(hwif_in.SETTINGS_ERROR.setting.next);
            FLUSH:              told = 32'({hwif_in.FLUSH.failed.next, hwif_in.FLUSH.done.next});
            default:            told = counts[address[7:3]][32*address[2] +: 32];
        endcase
    end
    always_comb begin
        case (address)
            CONTROL:                word = 32'({hwif_out.CONTROL.flush.value, hwif_out.CONTROL.enable.value});
            TABLE_BASE:             word = hwif_out.TABLE_BASE.low.value;
            TABLE_BASE + 12'd4:     word = hwif_out.TABLE_BASE.high.value;
            DIRECTORY_BASE:         word = hwif_out.DIRECTORY_BASE.low.value;
            DIRECTORY_BASE + 12'd4: word = hwif_out.DIRECTORY_BASE.high.value;
            OVERFLOW_BASE:          word = hwif_out.OVERFLOW_BASE.low.value;
            OVERFLOW_BASE + 12'd4:  word = hwif_out.OVERFLOW_BASE.high.value;
            INDEX_BASE:             word = hwif_out.INDEX_BASE.low.value;
            INDEX_BASE + 12'd4:     word = hwif_out.INDEX_BASE.high.value;
            SLOTS:                  word = hwif_out.SLOTS.value.value;
            LIMIT:                  word = hwif_out.LIMIT.value.value;
            MORE:                   word = hwif_out.MORE.value.value;
            SEGMENT_SHIFT:          word = hwif_out.SEGMENT_SHIFT.value.value;
            OVERFLOW_SLOTS:         word = hwif_out.OVERFLOW_SLOTS.value.value;
            VALUE_BYTES:            word = hwif_out.VALUE_BYTES.value.value;
            MOST_READINGS:          word = hwif_out.MOST_READINGS.value.value;
            SEGMENTS:               word = hwif_out.SEGMENTS.value.value;
            IDLE_TIME:              word = 32'(hwif_out.IDLE_TIME.clocks.value);
            FLUSH_TIME:             word = 32'(hwif_out.FLUSH_TIME.clocks.value);
            default:                word = place_of(address).first;
        endcase
    end
    assign sets    = 1'b0;
    assign clears  = 1'b0;
    assign settled = next;
`include "places.svh"
`include "nic_lookup_map.svh"
`include "cpuif.svh"

    nic_lookup_registers i_block (.clk(clk_i), .rst_n(rst_ni), .*);

    // What counts of the outputs.
    logic [585:0] seen;
    assign seen = {
        s_cpuif_req_stall_wr, s_cpuif_req_stall_rd, s_cpuif_rd_ack, s_cpuif_rd_ack && s_cpuif_rd_err, s_cpuif_rd_ack
        && !s_cpuif_rd_err ? s_cpuif_rd_data : 32'd0, s_cpuif_wr_ack, s_cpuif_wr_ack && s_cpuif_wr_err,
        hwif_out.CONTROL.enable.value, hwif_out.CONTROL.flush.value, hwif_out.TABLE_BASE.low.value,
        hwif_out.TABLE_BASE.high.value, hwif_out.SLOTS.value.value, hwif_out.LIMIT.value.value,
        hwif_out.MORE.value.value, hwif_out.SEGMENT_SHIFT.value.value, hwif_out.DIRECTORY_BASE.low.value,
        hwif_out.DIRECTORY_BASE.high.value, hwif_out.OVERFLOW_BASE.low.value, hwif_out.OVERFLOW_BASE.high.value,
        hwif_out.OVERFLOW_SLOTS.value.value, hwif_out.VALUE_BYTES.value.value, hwif_out.MOST_READINGS.value.value,
        hwif_out.INDEX_BASE.low.value, hwif_out.INDEX_BASE.high.value, hwif_out.SEGMENTS.value.value,
        hwif_out.IDLE_TIME.clocks.value, hwif_out.FLUSH_TIME.clocks.value
    };
    `REACHED(write_waits_for_a_read, s_cpuif_req && s_cpuif_req_is_wr && s_cpuif_req_stall_wr)
endmodule
