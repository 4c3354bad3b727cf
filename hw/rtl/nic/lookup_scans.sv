// SPDX-License-Identifier: MIT OR Apache-2.0
// Has the slots of trips scanned that have ended, and says for each trip what its scans have found.
//
// Contract: trips are told of in the order in which they ended. Of a trip the row is scanned before
// the bucket; what could not be read is not scanned. Lines are taken from the landing memory, whose
// `line_i` is that of the address of two clocks before. `slots_*` say, before a trip after the
// first ends, which slots it has read; of the first trip these are the slots that the index named.
module lookup_scans
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned LogLines    = $clog2(LandingLines),
    localparam int unsigned AddressBits = 9 + LogLines
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic [5:0]                 limit_i,          // D_m

    input  logic                       begun_valid_i,
    input  context_t                   begun_i,
    input  logic [63:0]                begun_key_i,
    input  logic                       begins_i,
    input  context_t                   begins_number_i,
    input  logic [6:0]                 begins_slots_i,
    input  logic                       slots_valid_i,
    input  context_t                   slots_number_i,
    input  slots_t                     slots_i,

    input  logic                       ended_valid_i,
    output logic                       ended_ready_o,
    input  ended_t                     ended_i,

    output logic [AddressBits-1:0]     line_address_o,
    input  logic [511:0]               line_i,

    output logic                       seen_valid_o,
    input  logic                       seen_ready_i,
    output seen_t                      seen_o,
    output logic [64*ValueWords-1:0]   seen_value_o,

    output logic                       scanned_o,        // in this clock, for traces
    output logic [1:0]                 scanned_part_o,
    output logic [64*ValueWords+127:0] scanned_data_o
);
    localparam int unsigned LogScans  = 4;
    localparam int unsigned LogPlaces = 4;               // of lines
    typedef logic [64*ValueWords-1:0] value_t;

    // Of a trip, or of one scan of it.
    typedef struct packed {
        context_t number;
        logic     first;
        logic     failed;
        logic     word_failed;
        logic     scans;                                 // else the trip has nothing to scan
        logic     is_bucket;
        logic     last;                                  // of the trip
    } scan_info_t;

    // ---- The trip that is scanned, and where its slots are.

    logic        trip_q, next_trip;
    ended_t      trip;
    logic [1:0]  came;                                   // row, bucket
    logic [63:0] key, key_q;
    logic [6:0]  first_slots;
    slots_t      slots, slots_q;
    logic [1:0]  todo_q;                                 // row, bucket
    scan_info_t  info_q;
    assign trip          = ended_i;
    assign came          = trip.parts[1:0] & ~trip.failed[1:0];
    assign ended_ready_o = !trip_q || next_trip;

    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (64)
    ) i_keys (
        .clk_i,
        .write_enable_i (begun_valid_i),
        .write_address_i(begun_i),
        .write_data_i   (begun_key_i),
        .read_address_i (trip.number),
        .read_data_o    (key)
    );
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (7)
    ) i_first_slots (
        .clk_i,
        .write_enable_i (begins_i),
        .write_address_i(begins_number_i),
        .write_data_i   (begins_slots_i),
        .read_address_i (trip.number),
        .read_data_o    (first_slots)
    );
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   ($bits(slots_t))
    ) i_slots (
        .clk_i,
        .write_enable_i (slots_valid_i),
        .write_address_i(slots_number_i),
        .write_data_i   (slots_i),
        .read_address_i (trip.number),
        .read_data_o    (slots)
    );

    // ---- Its scans, line by line. Each scan has a place until it is told of, each line one until
    // the scanner takes it.

    logic               step, ends_scan, has_scan_room, has_line_room, in_bucket, reads_line;
    logic [6:0]         count, row_last_q, bucket_last_q, last_line, line_q;
    logic [LogScans:0]  scans_q;
    logic [LogPlaces:0] lines_q;
    logic               scan_told, line_taken;
    assign has_scan_room = !scans_q[LogScans];
    assign has_line_room = !lines_q[LogPlaces];
    assign in_bucket     = !todo_q[0];
    assign reads_line    = todo_q != 0;
    assign last_line     = in_bucket ? bucket_last_q : row_last_q;
    assign step          = trip_q && (line_q != 0 || has_scan_room) && (!reads_line || has_line_room);
    assign ends_scan     = step && (!reads_line || line_q == last_line);
    assign next_trip     = ends_scan && todo_q != 2'b11;
    assign count         = in_bucket ? slots_q.bucket_slots : slots_q.row_slots;
    assign line_address_o = AddressBits'(region(info_q.number, in_bucket, LogContexts)) << LogLines
        | AddressBits'(line_q);

    // The line of the last byte of so many slots, of which there is at least one.
    function automatic logic [6:0] last_line_of(input logic [6:0] count_of);
        return 7'((14'(count_of) * 14'(SlotBytes) - 14'd1) >> 6);
    endfunction

    always_ff @(posedge clk_i) begin
        if (ended_ready_o) begin
            info_q <= '{
                number:      trip.number,
                first:       trip.first,
                failed:      trip.failed != 0,
                word_failed: trip.failed[Word],
                default:     '0
            };
            key_q         <= key;
            slots_q       <= trip.first ? '{row_slots: first_slots, default: '0} : slots;
            row_last_q    <= last_line_of(trip.first ? first_slots : slots.row_slots);
            bucket_last_q <= last_line_of(slots.bucket_slots);
            todo_q        <= came;
        end else if (ends_scan) begin
            todo_q[0] <= 1'b0;
        end
        if (!rst_ni) begin
            trip_q  <= 1'b0;
            line_q  <= '0;
            scans_q <= '0;
            lines_q <= '0;
        end else begin
            if (ended_ready_o) trip_q <= ended_valid_i;
            if (step) line_q <= ends_scan ? '0 : line_q + 1'b1;
            scans_q <= scans_q + (LogScans + 1)'(step && line_q == 0)
                - (LogScans + 1)'(scan_told);
            lines_q <= lines_q + (LogPlaces + 1)'(step && reads_line)
                - (LogPlaces + 1)'(line_taken);
        end
    end

    // ---- To the scanner.

    scan_info_t            info, told;
    probe_scan_pkg::scan_t scan;
    logic                  told_valid, key_valid, key_ready;
    logic [151:0]          key_data;
    always_comb begin
        info           = info_q;
        info.scans     = reads_line;
        info.is_bucket = in_bucket;
        info.last      = todo_q != 2'b11;
        scan              = '0;
        scan.is_overflow  = in_bucket;
        scan.more_slots   = 6'(count - 7'd1);
        scan.token        = info_q.number;
        scan.limit        = 16'(limit_i);
        scan.displacement = in_bucket ? slots_q.bucket_first : 16'(slots_q.row_first);
        scan.key          = key_q;
    end
    lut_fifo #(
        .LogDepth(LogScans),
        .Width   ($bits(scan_info_t))
    ) i_told (
        .clk_i,
        .rst_ni,
        .push_i (step && line_q == 0),
        .data_i (info),
        .pop_i  (scan_told),
        .valid_o(told_valid),
        .data_o (told)
    );
    lut_fifo #(
        .LogDepth(LogScans),
        .Width   (152)
    ) i_scans (
        .clk_i,
        .rst_ni,
        .push_i (step && reads_line && line_q == 0),
        .data_i (scan),
        .pop_i  (key_valid && key_ready),
        .valid_o(key_valid),
        .data_o (key_data)
    );

    // A line comes two clocks after its address.
    logic [1:0]   coming_q, coming_last_q;
    logic         line_valid, line_ready, line_last;
    logic [511:0] line;
    assign line_taken = line_valid && line_ready;
    always_ff @(posedge clk_i) begin
        coming_last_q <= {coming_last_q[0], ends_scan};
        if (!rst_ni) coming_q <= '0;
        else coming_q <= {coming_q[0], step && reads_line};
    end
    lut_fifo #(
        .LogDepth(LogPlaces),
        .Width   (513)
    ) i_lines (
        .clk_i,
        .rst_ni,
        .push_i (coming_q[1]),
        .data_i ({coming_last_q[1], line_i}),
        .pop_i  (line_taken),
        .valid_o(line_valid),
        .data_o ({line_last, line})
    );

    logic                       hit_valid, hit_ready;
    logic [64*ValueWords+127:0] hit_data;
    probe_scan #(
        .SlotBytes (SlotBytes),
        .ValueWords(ValueWords)
    ) i_scanner (
        .clk_i,
        .rst_ni,
        .s_axis_key_tvalid (key_valid),
        .s_axis_key_tready (key_ready),
        .s_axis_key_tdata  (key_data),
        .s_axis_data_tvalid(line_valid),
        .s_axis_data_tready(line_ready),
        .s_axis_data_tdata (line),
        .s_axis_data_tlast (line_last),
        .s_axis_data_tuser (1'b0),
        .m_axis_hit_tvalid (hit_valid),
        .m_axis_hit_tready (hit_ready),
        .m_axis_hit_tdata  (hit_data)
    );

    // ---- What is seen in a trip: the row waits for the bucket, if both were scanned.

    probe_scan_pkg::answer_t hit;
    value_t                  hit_value, row_value_q;
    seen_t                   now, row_q, both;
    logic                    may_tell, row_waits_q, tells;
    assign {hit_value, hit} = hit_data;
    assign may_tell  = !seen_valid_o || seen_ready_i;
    assign scan_told = told_valid && (!told.scans || hit_valid) && (!told.last || may_tell);
    assign hit_ready = told_valid && told.scans && (!told.last || may_tell);
    assign tells     = scan_told && told.last;
    always_comb begin
        now = '{
            first:        told.first,
            found:        told.scans && hit.status == probe_scan_pkg::Found,
            in_bucket:    told.is_bucket,
            failed:       told.failed || told.scans && hit.status == probe_scan_pkg::Error,
            word_failed:  told.word_failed,
            torn:         told.scans && hit.torn,
            sum:          told.scans ? hit.sum : '0,
            displacement: hit.displacement,
            meta:         hit.meta,
            number:       told.number
        };
        both = now;
        if (row_waits_q) begin
            if (row_q.found) begin
                both.displacement = row_q.displacement;
                both.meta         = row_q.meta;
            end
            both.in_bucket = !row_q.found;
            both.found     = now.found || row_q.found;
            both.failed    = now.failed || row_q.failed;
            both.torn      = now.torn || row_q.torn;
            both.sum       = now.sum + row_q.sum;
        end
    end
    always_ff @(posedge clk_i) begin
        if (scan_told && !told.last) begin
            row_q       <= now;
            row_value_q <= hit_value;
        end
        if (may_tell) begin
            seen_o       <= both;
            seen_value_o <= row_waits_q && row_q.found ? row_value_q : hit_value;
        end
        if (!rst_ni) begin
            row_waits_q  <= 1'b0;
            seen_valid_o <= 1'b0;
        end else begin
            if (scan_told) row_waits_q <= !told.last;
            if (may_tell) seen_valid_o <= tells;
        end
    end

    assign scanned_o      = hit_valid && hit_ready;
    assign scanned_part_o = told.is_bucket ? Bucket : Row;
    assign scanned_data_o = hit_data;

    logic unused;
    assign unused = ^{hit.zero, hit.token, row_q};

`ifndef SYNTHESIS
    hits_are_of_their_scans: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !hit_valid || told_valid && (!told.scans || hit.token == told.number));
    slots_are_at_least_one: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(step && reads_line) || count != 0);
    seen_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && seen_valid_o && !seen_ready_i) || seen_valid_o && $stable({seen_o, seen_value_o}));
`endif

endmodule
