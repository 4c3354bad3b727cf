// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_block: of any word of the map, what a read gives is what was written last, or what was counted; settings come out
// as they were written, stay while requests are under way, and fit while the block is on.
`include "../rules/rule.svh"
module lookup_block_formal
    import nic_lookup_map_pkg::*;
(
    input logic                      clk_i,
    input logic                      rst_ni,
    input logic                      valid_i,
    input logic                      write_i,
    input logic [11:0]               address_i,
    input logic [31:0]               data_i,
    input logic [3:0]                strobe_i,
    input logic                      flushed_i,
    input logic                      flush_failed_i,
    input logic                      idle_i,
    input logic [8:0]                under_way_i,
    input lookup_pkg::index_events_t index_events_i,
    input lookup_pkg::walk_events_t  walk_events_i,
    input logic                      read_valid_i,
    input logic [6:0]                read_slots_i,
    input logic [12:0]               read_bytes_i
);
    logic                  done_o, error_o, enable_o, flush_o;
    logic [31:0]           data_o;
    lookup_pkg::settings_t settings_o;

    power_up i_power_up (.*);
    lookup_block i_block (.*);

    // What counts of the outputs. In a reset nothing says any more whether it was a read.
    logic [$bits(settings_o)+35:0] seen;
    assign seen = {
        done_o, done_o && error_o, rst_ni && done_o && !write_i && !error_o ? data_o : 32'd0, enable_o, flush_o, settings_o
    };

    // Requests come while the block is on, and a flush begins where it is asked for.
    `RULE(nothing_begins_by_itself, 0, idle_i || !$past(rst_ni && idle_i && !enable_o && !flush_o))

    // ---- What is counted.

    logic [11:0] address;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));

    // Of each counter, in the order of the map, what it is and how many come, a clock after they happened. The block has those
    // of single events in one array, in which those of trips, reads, slots and bytes have one empty place.
    localparam int unsigned Counters = 21;
    logic [Counters-1:0][63:0] counts;
    logic [Counters-1:0][12:0] come, happen, happened_q;
    assign counts = {
        i_block.count_q[17:11], i_block.bytes_read_q, i_block.slots_read_q, i_block.reads_q, i_block.trips_q,
        i_block.count_q[9:0]
    };
    always_comb begin
        for (int unsigned n = 0; n < 10; n++) come[n] = 13'(i_block.events_q[n]);
        for (int unsigned n = 14; n < Counters; n++) come[n] = 13'(i_block.events_q[n-3]);
        come[13:10] = {i_block.bytes_q, 13'(i_block.slots_q), 13'(i_block.read_q), 13'(i_block.more_trips_q)};
    end
    assign happen = {
        13'(index_events_i.index_error), 13'(index_events_i.hint_set), 13'(index_events_i.fill_full),
        13'(index_events_i.fill_stale), 13'(index_events_i.fill), 13'(walk_events_i.disturbed_reading),
        13'(walk_events_i.repeated_reading), read_valid_i ? read_bytes_i : 13'd0,
        read_valid_i ? 13'(read_slots_i) : 13'd0, 13'(read_valid_i),
        13'(index_events_i.miss) + 13'(walk_events_i.trip), 13'(walk_events_i.short_hint),
        13'(walk_events_i.not_read), 13'(walk_events_i.gave_up), 13'(walk_events_i.absent),
        13'(walk_events_i.found_in_bucket), 13'(walk_events_i.found), 13'(index_events_i.miss),
        13'(index_events_i.hit), 13'(index_events_i.look_up), 13'(index_events_i.request)
    };
    always_ff @(posedge clk_i) happened_q <= rst_ni ? happen : '0;
    for (genvar n = 0; n < Counters; n++) begin : g_counters
        `RULE(all_that_come_are_counted, 1, counts[n] == $past(rst_ni ? counts[n] + 64'(come[n]) : 64'd0))
        `RULE(what_happened_comes, 1, come[n] == happened_q[n])
    end

    // ---- The map.

    localparam bit ReadsLate = 1;
    localparam bit HasTheBus = 0, Inside = 0;
    logic        fixed_q, refused;
    logic [31:0] told, given, word;
    logic [3:0]  wrong, error_q;
    always_ff @(posedge clk_i) fixed_q <= enable_o || flush_o || !idle_i;
    assign refused = write_refused(address_i, data_i, strobe_i, fixed_q);
    // Where a setting does not fit, the block stays off.
    assign given   = {data_i[31:1], data_i[0] && !(address_i == CONTROL && wrong != 0)};
    always_comb begin
        case (address)
            RETURN:         told = 32'(under_way_i);
            SETTINGS_ERROR: told = 32'(error_q);
            FLUSH:          told = {30'd0, flush_failed_i, flushed_i};
            default:        told = counts[address[7:3]][32*address[2] +: 32];
        endcase
    end
    // Settings, as they come out. Of some, more is kept than comes out.
    logic [31:0] limit, more, segment_shift, value_bytes, most_readings;
    assign limit         = i_block.from_registers.LIMIT.value.value;
    assign more          = i_block.from_registers.MORE.value.value;
    assign segment_shift = i_block.from_registers.SEGMENT_SHIFT.value.value;
    assign value_bytes   = i_block.from_registers.VALUE_BYTES.value.value;
    assign most_readings = i_block.from_registers.MOST_READINGS.value.value;
    always_comb begin
        case (address)
            CONTROL:                word = {30'd0, flush_o, enable_o};
            TABLE_BASE:             word = settings_o.table_base[31:0];
            TABLE_BASE + 12'd4:     word = settings_o.table_base[63:32];
            SLOTS:                  word = settings_o.slots;
            LIMIT:                  word = limit;
            MORE:                   word = more;
            SEGMENT_SHIFT:          word = segment_shift;
            DIRECTORY_BASE:         word = settings_o.directory_base[31:0];
            DIRECTORY_BASE + 12'd4: word = settings_o.directory_base[63:32];
            OVERFLOW_BASE:          word = settings_o.overflow_base[31:0];
            OVERFLOW_BASE + 12'd4:  word = settings_o.overflow_base[63:32];
            OVERFLOW_SLOTS:         word = settings_o.overflow_slots;
            VALUE_BYTES:            word = value_bytes;
            MOST_READINGS:          word = most_readings;
            INDEX_BASE:             word = settings_o.index_base[31:0];
            INDEX_BASE + 12'd4:     word = settings_o.index_base[63:32];
            SEGMENTS:               word = settings_o.segments;
            IDLE_TIME:              word = 32'(settings_o.idle_time);
            FLUSH_TIME:             word = 32'(settings_o.flush_time);
            default:                word = place_of(address).first;
        endcase
    end
    `RULE(low_bits_come_out, 1, settings_o.limit == limit[5:0] && settings_o.more == more[6:0]
        && settings_o.segment_shift == segment_shift[4:0] && settings_o.value_bytes == value_bytes[6:0]
        && settings_o.most_readings == most_readings[7:0])
    `RULE(times_have_16_bits, 1, !i_block.from_registers.IDLE_TIME.clocks.value[16]
        && !i_block.from_registers.FLUSH_TIME.clocks.value[16])
`include "registers.svh"
`include "nic_lookup_map.svh"

    // ---- The first setting that does not fit.

    always_comb begin
        if (settings_o.table_base[5:0] != 0) wrong = 4'd1;
        else if (settings_o.slots == 0) wrong = 4'd2;
        else if (limit > 32'd63) wrong = 4'd3;
        else if (more == 0 || more > 32'd64) wrong = 4'd4;
        else if (segment_shift > 32'd31) wrong = 4'd5;
        else if (settings_o.directory_base[5:0] != 0) wrong = 4'd6;
        else if (settings_o.overflow_base[5:0] != 0) wrong = 4'd7;
        else if (value_bytes > 32'd8) wrong = 4'd9;
        else if (most_readings < 32'd2 || most_readings > 32'd255) wrong = 4'd10;
        else if (settings_o.index_base[5:0] != 0) wrong = 4'd11;
        else if (settings_o.segments <= (settings_o.slots - 32'd1) >> segment_shift || settings_o.segments > 32'd1 << 24)
            wrong = 4'd12;
        else wrong = '0;
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) error_q <= '0;
        else if (carried_q && write_i && !refused_q && address_i == CONTROL && data_i[0]) error_q <= wrong;
    end
    `RULE(what_does_not_fit_is_told, 1, i_block.setting_error_q == error_q)
    `RULE(settings_fit_while_the_block_is_on, 1, !enable_o || wrong == 0)

    // What is known inside: it has been found by the time that an access is carried out, since settings stay before.
    `RULE(what_does_not_fit_is_known, 1, !carried_q && !enable_o || i_block.wrong == wrong)
    `RULE(settings_are_fixed, 1, !$past(rst_ni) || i_block.fixed_q == fixed_q)
    logic on;
    assign on = enable_o || flush_o || !idle_i;
    `RULE(nothing_begins_when_a_write_is_judged, 1, !comes || fixed_q || !on)
    `RULE(nothing_begins_before_a_setting_is_written, 1, !carried_q || !write_i || refused_q
        || !place_of(address_i).writes || address_i == CONTROL || !on)
    `RULE(settings_stay_while_the_block_is_on, 1, !$past(rst_ni && (enable_o || flush_o)) || $stable(settings_o))

    `REACHED(block_is_on, enable_o && $past(rst_ni && !enable_o))
    `REACHED(last_setting_does_not_fit, error_q == 4'd12)
    `REACHED(write_is_refused_after_the_block_was_on, ends_q && refused_q && !enable_o && !flush_o && strobe_i == '1
        && address_i == SLOTS)
    `REACHED(bytes_are_counted, counts[13] > 64'd8191)
endmodule
