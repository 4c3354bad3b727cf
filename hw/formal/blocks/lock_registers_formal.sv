// SPDX-License-Identifier: MIT OR Apache-2.0
// tuple_lock_unit: its registers. Accesses go through queues of two words, in order and as they came; each is served once, and does to the
// settings, or answers, what the map says. Events are counted, each by itself, and requests from their beat to their end. Nothing is
// assumed of what is around the unit.
`include "../rules/rule.svh"

// A queue of two words: what goes in comes out, in order.
`define LOCK_QUEUE(queue, bits, comes, word, goes) \
    logic [1:0] queue``_inside; \
    logic [1:0][bits-1:0] queue``_words; \
    assign queue``_words = {i_block.unit_registers_``queue``_tail, i_block.unit_registers_``queue``_head}; \
    ordered_words #(.Width(bits), .Most(2)) i_``queue (.clk_i, .rst_ni, .push_i(comes), .pushed_i(word), \
        .pop_i(goes), .popped_i(queue``_words[0]), .inside_o(queue``_inside)); \
    `RULE(queue``_is_counted, 1, queue``_inside == 2'(i_block.unit_registers_``queue``_headFull) \
        + 2'(i_block.unit_registers_``queue``_tailFull) && i_block.unit_registers_``queue``_headFull == (queue``_inside != 0)) \
    `RULE(queue``_has_its_word, 1, !i_``queue.followed_q || queue``_words[i_``queue.ahead_q[0]] == i_``queue.word_q)

module lock_registers_formal (
`include "lock_ports.svh"

    power_up i_power_up (.*);
    tuple_lock_unit i_block (.*);

    logic        reads, writes, whole;
    logic [11:0] read_word, write_word;
    logic [31:0] write_data;
    assign reads      = i_block.unit_registers_readAddresses_headFull && !i_block.unit_registers_readAnswers_tailFull;
    assign writes     = i_block.unit_registers_writeAddresses_headFull && i_block.unit_registers_writeDatas_headFull
        && !i_block.unit_registers_writeAnswers_tailFull;
    assign read_word  = {i_block.unit_registers_readAddresses_head[11:2], 2'd0};
    assign write_word = {i_block.unit_registers_writeAddresses_head[11:2], 2'd0};
    assign write_data = i_block.unit_registers_writeDatas_head[35:4];
    assign whole      = i_block.unit_registers_writeDatas_head[3:0] == '1;

    // The settings, and what happened. An error in the clock of its clearing stays.
    localparam logic [11:0] LockControl = 12'h000, LockGie = 12'h004, LockIer = 12'h008, LockIsr = 12'h00C, LockReturn = 12'h010,
        LockBaseLow = 12'h020, LockBaseHigh = 12'h024, LockLog2 = 12'h030, LockIdentity = 12'h100, LockVersion = 12'h104,
        LockCapabilities = 12'h108;
    logic        accept_q, gie_q, ier_q, isr_q, fits_map;
    logic [57:0] base_q;
    logic [5:0]  log2_q;
    logic [15:0] happened;
    assign happened = i_block.unit_registers_happened_wget;
    always_comb begin
        case (write_word)
            LockControl, LockGie, LockIer, LockIsr, LockBaseHigh: fits_map = whole;
            LockBaseLow: fits_map = whole && write_data[5:0] == 0;
            LockLog2:    fits_map = whole && write_data <= 32'd32;
            default:     fits_map = 1'b0;
        endcase
    end
    always_ff @(posedge clk_i) begin
        if (writes && fits_map) begin
            case (write_word)
                LockControl:  accept_q      <= write_data[0];
                LockGie:      gie_q         <= write_data[0];
                LockIer:      ier_q         <= write_data[0];
                LockBaseLow:  base_q[25:0]  <= write_data[31:6];
                LockBaseHigh: base_q[57:26] <= write_data;
                LockLog2:     log2_q        <= write_data[5:0];
                default: ;
            endcase
        end
        isr_q <= happened[9] || isr_q && !(writes && fits_map && write_word == LockIsr && write_data[0]);
        if (!rst_ni) {accept_q, gie_q, ier_q, isr_q, base_q, log2_q} <= '0;
    end
    `RULE(settings_are_what_was_written, 1, {accept_q, gie_q, ier_q, isr_q, base_q, log2_q} == {
        i_block.unit_registers_accept, i_block.unit_registers_globalInterrupt, i_block.unit_registers_interruptOnError,
        i_block.unit_registers_errorHappened, i_block.unit_registers_base, i_block.unit_registers_log2
    })
    `RULE(requests_are_taken_while_it_is_on, 1, !s_axis_req_tready || accept_q)
    // As many as have come and not ended. One that needs no access ends at once, and a cancel ends two.
    logic [7:0] open_q;
    always_ff @(posedge clk_i) open_q <= !rst_ni ? '0 : open_q + 8'(s_axis_req_tvalid && s_axis_req_tready)
        - 8'(i_block.unit_admitResponse_whas) - 8'(i_block.unit_ends_whas) - 8'(i_block.unit_endsTarget_whas);
    `RULE(open_requests_are_counted, 1, i_block.unit_openRequests == open_q)
    `RULE(interrupt_follows_the_registers, 1, intr_o == (gie_q && ier_q && isr_q))

    // Counters, and what a read answers.
    logic [15:0][63:0] counters;
    assign counters = {
        i_block.unit_registers_counters_15, i_block.unit_registers_counters_14, i_block.unit_registers_counters_13,
        i_block.unit_registers_counters_12, i_block.unit_registers_counters_11, i_block.unit_registers_counters_10,
        i_block.unit_registers_counters_9, i_block.unit_registers_counters_8, i_block.unit_registers_counters_7,
        i_block.unit_registers_counters_6, i_block.unit_registers_counters_5, i_block.unit_registers_counters_4,
        i_block.unit_registers_counters_3, i_block.unit_registers_counters_2, i_block.unit_registers_counters_1,
        i_block.unit_registers_counters_0
    };
    for (genvar n = 0; n < 16; n++) begin : g_counters
        `RULE(each_event_is_counted, 1, counters[n] == $past(rst_ni ? counters[n] + 64'(happened[n]) : 64'd0))
    end
    logic [31:0] told;
    logic [1:0]  told_response;
    always_comb begin
        told_response = 2'b00;
        case (read_word)
            LockControl:      told = 32'(accept_q);
            LockGie:          told = 32'(gie_q);
            LockIer:          told = 32'(ier_q);
            LockIsr:          told = 32'(isr_q);
            LockReturn:       told = 32'(open_q);
            LockBaseLow:      told = {base_q[25:0], 6'd0};
            LockBaseHigh:     told = base_q[57:26];
            LockLog2:         told = 32'(log2_q);
            LockIdentity:     told = 32'h4C53_4C55;
            LockVersion:      told = 32'h0001_0000;
            LockCapabilities: told = 32'h0000_0807;
            default: begin
                told          = read_word[11:7] == 5'h04 ? counters[read_word[6:3]][32*read_word[2]+:32] : '0;
                told_response = read_word[11:7] == 5'h04 ? 2'b00 : 2'b11;
            end
        endcase
    end
    `LOCK_QUEUE(readAddresses, 12, s_axil_arvalid && s_axil_arready, s_axil_araddr, reads)
    `LOCK_QUEUE(readAnswers, 34, reads, {told, told_response}, s_axil_rvalid && s_axil_rready)
    `LOCK_QUEUE(writeAddresses, 12, s_axil_awvalid && s_axil_awready, s_axil_awaddr, writes)
    `LOCK_QUEUE(writeDatas, 36, s_axil_wvalid && s_axil_wready, {s_axil_wdata, s_axil_wstrb}, writes)
    `LOCK_QUEUE(writeAnswers, 2, writes, fits_map ? 2'b00 : 2'b10, s_axil_bvalid && s_axil_bready)
    `RULE(answer_is_that_in_front, 1, (!s_axil_rvalid || {s_axil_rdata, s_axil_rresp} == readAnswers_words[0])
        && (!s_axil_bvalid || s_axil_bresp == writeAnswers_words[0]))
    `REACHED(counter_is_read, reads && read_word[11:7] == 5'h04 && told != 0)
endmodule
