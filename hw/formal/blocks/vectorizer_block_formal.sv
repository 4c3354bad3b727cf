// SPDX-License-Identifier: MIT OR Apache-2.0
// vectorizer_block: of any word of the map, what a read gives is what was written last, or what was counted; settings come out
// as they were written, and stay while elements are under way.
`include "../rules/rule.svh"
module vectorizer_block_formal
    import vector_pkg::*;
    import dma_vectorizer_map_pkg::*;
(
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    valid_i,
    input logic                    write_i,
    input logic  [11:0]            address_i,
    input logic  [31:0]            data_i,
    input logic  [3:0]             strobe_i,
    input logic  [Queues-1:0]      accepted_i,
    input sent_t [1:0][Queues-1:0] sent_i,
    input logic  [1:0][8:0]        bytes_i,
    input logic  [1:0]             refused_i,
    input logic                    ended_i,
    input logic                    failed_i
);
    logic         done_o, error_o, enable_o;
    logic [31:0]  data_o;
    logic [15:0]  idle_time_o, flush_time_o;
    logic [63:12] host_first_o, host_last_o, nic_first_o, nic_last_o;

    power_up i_power_up (.*);
    vectorizer_block i_block (.*);

    // What counts of the outputs.
    logic [274:0] seen;
    assign seen = {
        done_o, done_o && error_o, done_o && !write_i && !error_o ? data_o : 32'd0, enable_o, idle_time_o,
        flush_time_o, host_first_o, host_last_o, nic_first_o, nic_last_o
    };

    // Elements are accepted while the queues were on a clock ago, as their signal is a register's.
    `RULE(elements_are_accepted_while_the_queues_are_on, 0, accepted_i == 0 || $past(rst_ni && enable_o))

    // ---- What is counted.

    logic [11:0] address;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));

    function automatic logic [4:0] count_of(input sent_t [1:0][Queues-1:0] sent, input sent_t why);
        count_of = '0;
        // In the order of the block, since solvers find it hard to compare sums in another.
        for (int unsigned n = 0; n < Queues; n++) begin
            for (int unsigned way = 0; way < 2; way++) count_of += 5'(sent[way][n] == why);
        end
    endfunction

    // Of each counter, in the order of the map, what it is and how many come, some a clock after they happened.
    localparam int unsigned Counters = 8;
    logic [31:0]               under_way;
    logic [Counters-1:0][63:0] counts;
    logic [Counters-1:0][8:0]  come, happen, happened_q;
    assign under_way = i_block.under_way_q;
    assign counts    = {
        i_block.refused_q, i_block.errors_q, i_block.bytes_q[1], i_block.bytes_q[0], i_block.vectors_q[2],
        i_block.vectors_q[1], i_block.vectors_q[0], i_block.elements_q
    };
    assign come      = {
        9'(refused_i[0]) + 9'(refused_i[1]), 9'(i_block.failed_q), bytes_i[1], bytes_i[0], 9'(i_block.sent_q[2]),
        9'(i_block.sent_q[1]), 9'(i_block.sent_q[0]), 9'(i_block.accepted_q)
    };
    assign happen    = {
        9'd0, 9'(ended_i && failed_i), 9'd0, 9'd0, 9'(count_of(sent_i, Idle)),
        9'(count_of(sent_i, Flushed)), 9'(count_of(sent_i, Full)), 9'($countones(accepted_i))
    };
    always_ff @(posedge clk_i) happened_q <= rst_ni ? happen : '0;
    for (genvar n = 0; n < Counters; n++) begin : g_counters
        `RULE(all_that_come_are_counted, 1, counts[n] == $past(rst_ni ? counts[n] + 64'(come[n]) : 64'd0))
        if (n != 4 && n != 5 && n != 7) begin : g_later
            `RULE(what_happened_comes, 1, come[n] == happened_q[n])
        end
    end
    `RULE(elements_under_way_are_counted, 1, under_way == $past(
        rst_ni ? under_way + 32'($countones(accepted_i)) - 32'(ended_i) : 32'd0))

    // ---- The map.

    localparam bit ReadsLate = 0;
    localparam bit HasTheBus = 0, Inside = 0;
    logic        fixed_q, refused;
    logic [31:0] told, given, word;
    always_ff @(posedge clk_i) fixed_q <= enable_o || under_way != 0 || accepted_i != 0;
    assign given   = data_i;
    assign refused = write_refused(address_i, data_i, strobe_i, fixed_q);
    assign told    = address == RETURN ? under_way : counts[address[5:3]][32*address[2] +: 32];
    // Settings, as they come out.
    always_comb begin
        case (address)
            CONTROL:            word = 32'(enable_o);
            HOST_FIRST:         word = {host_first_o[31:12], 12'd0};
            HOST_FIRST + 12'd4: word = host_first_o[63:32];
            HOST_LAST:          word = {host_last_o[31:12], 12'd0};
            HOST_LAST + 12'd4:  word = host_last_o[63:32];
            NIC_FIRST:          word = {nic_first_o[31:12], 12'd0};
            NIC_FIRST + 12'd4:  word = nic_first_o[63:32];
            NIC_LAST:           word = {nic_last_o[31:12], 12'd0};
            NIC_LAST + 12'd4:   word = nic_last_o[63:32];
            IDLE_TIME:          word = 32'(idle_time_o);
            FLUSH_TIME:         word = 32'(flush_time_o);
            default:            word = place_of(address).first;
        endcase
    end
`include "registers.svh"
`include "dma_vectorizer_map.svh"

    // ---- Settings stay.

    `RULE(settings_stay_while_the_queues_are_on, 1, !$past(rst_ni && enable_o)
        || $stable({idle_time_o, flush_time_o, host_first_o, host_last_o, nic_first_o, nic_last_o}))
    `RULE(settings_stay_while_elements_are_under_way, 1, !$past(rst_ni && (enable_o || under_way != 0 || accepted_i != 0))
        || $stable({idle_time_o, flush_time_o, host_first_o, host_last_o, nic_first_o, nic_last_o}))
    `RULE(times_have_16_bits, 1, !i_block.from_registers.IDLE_TIME.clocks.value[16]
        && !i_block.from_registers.FLUSH_TIME.clocks.value[16])
    `RULE(settings_are_fixed, 1, !$past(rst_ni) || i_block.fixed_q == fixed_q)

    // What is not on when an access is judged is not on until it has been carried out.
    logic on;
    assign on = enable_o || under_way != 0 || accepted_i != 0;
    `RULE(nothing_begins_when_a_write_is_judged, 1, !comes || fixed_q || !on)
    `RULE(nothing_begins_before_a_setting_is_written, 1, !carried_q || !write_i || refused_q
        || !place_of(address_i).writes || address_i == CONTROL || !on)

    `REACHED(write_is_refused_while_the_last_element_is_under_way, ends_q && refused_q && !enable_o && under_way == 1)
    `REACHED(setting_is_changed_after_the_last_element, writes && address == IDLE_TIME && i_block.elements_q != 0)
    `REACHED(elements_and_errors_are_counted, counts[0] == 5 && counts[6] == 3 && under_way == 2)
endmodule
