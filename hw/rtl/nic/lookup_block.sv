// SPDX-License-Identifier: MIT OR Apache-2.0
// The registers of the look-ups (docs/registers.md), and their counters.
//
// Contract: settings change only while the block is off and nothing is under way; writes at other
// times are refused. It is not switched on while a setting does not fit. Counters follow the events
// by a clock or two. A read tells what RETURN and they were two clocks before it is done.
module lookup_block
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogSets      = 12,
    parameter int unsigned LogWays      = 2,
    parameter int unsigned SegmentBits  = 24,
    parameter int unsigned Objects      = 2,
    parameter int unsigned MostPins     = 255,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic          clk_i,
    input  logic          rst_ni,

    // A register access: valid and all beside it hold until done.
    input  logic          valid_i,
    input  logic          write_i,
    input  logic [11:0]   address_i,
    input  logic [31:0]   data_i,
    input  logic [3:0]    strobe_i,
    output logic          done_o,
    output logic          error_o,
    output logic [31:0]   data_o,

    output logic          enable_o,
    output logic          flush_o,
    input  logic          flushed_i,
    input  logic          flush_failed_i,
    output settings_t     settings_o,
    input  logic          idle_i,            // nothing is under way
    input  logic [8:0]    under_way_i,       // requests

    input  index_events_t index_events_i,
    input  walk_events_t  walk_events_i,
    input  logic          read_valid_i,      // a read is asked for
    input  logic [6:0]    read_slots_i,
    input  logic [12:0]   read_bytes_i
);

    // An entry of the index: its lines, rounded up to a power of two.
    localparam int unsigned Lines     = (1 + Objects * (2 + ValueWords) + 7) / 8;
    localparam int unsigned LogStride = 6 + $clog2(Lines);

    // ---- Counters. Those of single events are in the order of the registers.

    localparam int unsigned Events = 18;
    logic [Events-1:0] events_q;
    logic              read_q;
    logic [6:0]        slots_q;
    logic [12:0]       bytes_q;
    logic [Events-1:0][63:0] count_q;
    logic [63:0]       trips_q, reads_q, slots_read_q, bytes_read_q;
    logic [1:0]        more_trips_q;
    always_ff @(posedge clk_i) begin
        events_q <= {
            index_events_i.index_error, index_events_i.hint_set, index_events_i.fill_full,
            index_events_i.fill_stale, index_events_i.fill, walk_events_i.disturbed_reading,
            walk_events_i.repeated_reading, 1'b0, walk_events_i.short_hint,
            walk_events_i.not_read, walk_events_i.gave_up, walk_events_i.absent,
            walk_events_i.found_in_bucket, walk_events_i.found, index_events_i.miss,
            index_events_i.hit, index_events_i.look_up, index_events_i.request
        };
        more_trips_q <= 2'(index_events_i.miss) + 2'(walk_events_i.trip);
        read_q       <= read_valid_i;
        slots_q      <= read_valid_i ? read_slots_i : '0;
        bytes_q      <= read_valid_i ? read_bytes_i : '0;
        for (int unsigned n = 0; n < Events; n++) count_q[n] <= count_q[n] + 64'(events_q[n]);
        trips_q      <= trips_q + 64'(more_trips_q);
        reads_q      <= reads_q + 64'(read_q);
        slots_read_q <= slots_read_q + 64'(slots_q);
        bytes_read_q <= bytes_read_q + 64'(bytes_q);
        if (!rst_ni) begin
            events_q     <= '0;
            more_trips_q <= '0;
            read_q       <= 1'b0;
            slots_q      <= '0;
            bytes_q      <= '0;
            count_q      <= '0;
            trips_q      <= '0;
            reads_q      <= '0;
            slots_read_q <= '0;
            bytes_read_q <= '0;
        end
    end

    nic_lookup_registers_pkg::nic_lookup__in_t  to_registers;
    nic_lookup_registers_pkg::nic_lookup__out_t from_registers;

    // ---- Which setting does not fit: the first, by the number of its register. In steps, which end
    // before an access that follows the last setting can be carried out.

    logic [31:0] last_segment_q;
    logic        many_segments_q;
    logic [12:1] wrong_q;
    logic [3:0]  wrong;
    always_ff @(posedge clk_i) begin
        last_segment_q  <= (from_registers.SLOTS.value.value - 32'd1)
            >> from_registers.SEGMENT_SHIFT.value.value[4:0];
        many_segments_q <= 33'(from_registers.SEGMENTS.value.value) > 33'd1 << SegmentBits;
        wrong_q         <= '0;
        wrong_q[1]      <= from_registers.TABLE_BASE.low.value[5:0] != 0;
        wrong_q[2]      <= from_registers.SLOTS.value.value == 0;
        wrong_q[3]      <= from_registers.LIMIT.value.value > 32'd63;
        wrong_q[4]      <= from_registers.MORE.value.value - 32'd1 > 32'd63;
        wrong_q[5]      <= from_registers.SEGMENT_SHIFT.value.value > 32'd31;
        wrong_q[6]      <= from_registers.DIRECTORY_BASE.low.value[5:0] != 0;
        wrong_q[7]      <= from_registers.OVERFLOW_BASE.low.value[5:0] != 0;
        wrong_q[9]      <= from_registers.VALUE_BYTES.value.value > 32'(8 * ValueWords);
        wrong_q[10]     <= from_registers.MOST_READINGS.value.value - 32'd2 > 32'd253;
        wrong_q[11]     <= from_registers.INDEX_BASE.low.value[LogStride-1:0] != 0;
        wrong_q[12]     <= many_segments_q || last_segment_q >= from_registers.SEGMENTS.value.value;
    end
    always_comb begin
        wrong = '0;
        for (int unsigned n = 12; n > 0; n--) if (wrong_q[n]) wrong = 4'(n);
    end

    // ---- Accesses.

    logic        fixed_q, refused, enables;
    logic [3:0]  setting_error_q;
    logic        cpuif_req, cpuif_req_is_wr, cpuif_rd_ack, cpuif_rd_err, cpuif_wr_ack, cpuif_wr_err;
    logic [11:0] cpuif_addr;
    logic [31:0] cpuif_wr_data, cpuif_wr_biten, cpuif_rd_data;
    assign refused = write_i && nic_lookup_map_pkg::write_refused(address_i, data_i, strobe_i, fixed_q);
    assign enables = cpuif_req_is_wr && cpuif_addr == nic_lookup_map_pkg::CONTROL && cpuif_wr_data[0];
    always_ff @(posedge clk_i) begin
        fixed_q <= enable_o || flush_o || !idle_i;
        if (!rst_ni) setting_error_q <= '0;
        else if (cpuif_req && enables) setting_error_q <= wrong;
    end

    register_access i_access (
        .clk_i,
        .rst_ni,
        .valid_i,
        .write_i,
        .address_i,
        .data_i,
        .strobe_i,
        .refused_i        (refused),
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
        to_registers.RETURN.value.next                     = 32'(under_way_i);
        to_registers.CAPABILITIES.slot_bytes.next          = 16'(SlotBytes);
        to_registers.CAPABILITIES.value_words.next         = 4'(ValueWords);
        to_registers.CAPABILITIES.log2_contexts.next       = 4'(LogContexts);
        to_registers.CAPABILITIES.segment_bits.next        = 8'(SegmentBits);
        to_registers.CAPABILITIES_INDEX.log2_sets.next     = 8'(LogSets);
        to_registers.CAPABILITIES_INDEX.log2_ways.next     = 4'(LogWays);
        to_registers.CAPABILITIES_INDEX.objects.next       = 4'(Objects);
        to_registers.CAPABILITIES_INDEX.most_pins.next     = 8'(MostPins);
        to_registers.CAPABILITIES_INDEX.landing_lines.next = 8'(LandingLines);
        to_registers.SETTINGS_ERROR.setting.next           = setting_error_q;
        to_registers.FLUSH.done.next                       = flushed_i;
        to_registers.FLUSH.failed.next                     = flush_failed_i;
        to_registers.REQUESTS.value.next                   = count_q[0];
        to_registers.LOOK_UPS.value.next                   = count_q[1];
        to_registers.HITS.value.next                       = count_q[2];
        to_registers.MISSES.value.next                     = count_q[3];
        to_registers.FOUND.value.next                      = count_q[4];
        to_registers.FOUND_IN_BUCKETS.value.next           = count_q[5];
        to_registers.ABSENT.value.next                     = count_q[6];
        to_registers.GAVE_UP.value.next                    = count_q[7];
        to_registers.NOT_READ.value.next                   = count_q[8];
        to_registers.SHORT_HINTS.value.next                = count_q[9];
        to_registers.TRIPS.value.next                      = trips_q;
        to_registers.READS.value.next                      = reads_q;
        to_registers.SLOTS_READ.value.next                 = slots_read_q;
        to_registers.BYTES_READ.value.next                 = bytes_read_q;
        to_registers.REPEATED_READINGS.value.next          = count_q[11];
        to_registers.DISTURBED_READINGS.value.next         = count_q[12];
        to_registers.FILLS.value.next                      = count_q[13];
        to_registers.FILLS_STALE.value.next                = count_q[14];
        to_registers.FILLS_FULL.value.next                 = count_q[15];
        to_registers.HINTS_SET.value.next                  = count_q[16];
        to_registers.INDEX_ERRORS.value.next               = count_q[17];
    end

    assign flush_o    = from_registers.CONTROL.flush.value;
    assign enable_o   = from_registers.CONTROL.enable.value;
    assign settings_o = '{
        table_base:     {from_registers.TABLE_BASE.high.value, from_registers.TABLE_BASE.low.value},
        slots:          from_registers.SLOTS.value.value,
        limit:          from_registers.LIMIT.value.value[5:0],
        more:           from_registers.MORE.value.value[6:0],
        segment_shift:  from_registers.SEGMENT_SHIFT.value.value[4:0],
        directory_base: {from_registers.DIRECTORY_BASE.high.value,
                         from_registers.DIRECTORY_BASE.low.value},
        overflow_base:  {from_registers.OVERFLOW_BASE.high.value,
                         from_registers.OVERFLOW_BASE.low.value},
        overflow_slots: from_registers.OVERFLOW_SLOTS.value.value,
        value_bytes:    from_registers.VALUE_BYTES.value.value[6:0],
        most_readings:  from_registers.MOST_READINGS.value.value[7:0],
        index_base:     {from_registers.INDEX_BASE.high.value, from_registers.INDEX_BASE.low.value},
        segments:       from_registers.SEGMENTS.value.value,
        idle_time:      from_registers.IDLE_TIME.clocks.value[15:0],
        flush_time:     from_registers.FLUSH_TIME.clocks.value[15:0]
    };

    nic_lookup_registers i_registers (
        .clk                 (clk_i),
        .rst_n               (rst_ni),
        .s_cpuif_req         (cpuif_req),
        .s_cpuif_req_is_wr   (cpuif_req_is_wr),
        .s_cpuif_addr        (cpuif_addr),
        .s_cpuif_wr_data     ({cpuif_wr_data[31:1], cpuif_wr_data[0] && !(enables && wrong != 0)}),
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

`ifndef SYNTHESIS
    settings_hold_while_requests_are_under_way: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && !idle_i) || $stable(settings_o));
    settings_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !enable_o || wrong == 0);
`endif

endmodule
