// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes a row, executes the program for it, and offers the resulting packet.
//
// Contract: a row begins in a cycle with `free_o` and is taken a beat in each cycle with
// `row_valid_i`. It leaves as a packet of header, values and payload, or not at all when it does
// not qualify; without a program every row qualifies. A row with a code is its header alone, and
// leaves as one with its code, and without bytes, values and nulls. The beats of a packet are
// offered without a pause. The program and its properties are stable while a row is in the lane.
module program_lane (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         has_program_i,
    input  logic [3:0]   outputs_i,          // values in a packet
    input  logic         wants_payloads_i,
    input  logic         code_write_i,
    input  logic         constant_write_i,
    input  logic [5:0]   store_address_i,
    input  logic [63:0]  store_data_i,

    output logic         free_o,
    input  logic         row_valid_i,
    input  logic [511:0] row_data_i,
    input  logic         row_last_i,

    output logic         packet_valid_o,
    output logic [511:0] packet_data_o,
    output logic         packet_first_o,
    output logic         packet_last_o,
    input  logic         packet_taken_i
);

    import program_pkg::*;

    typedef enum logic [2:0] {
        Free,
        Receive,
        Run,
        Header,
        Values,
        Payload
    } state_t;

    state_t  state_q;
    header_t header_q, row_header;
    logic    receives_header, receives_payload;
    assign row_header       = row_data_i;
    assign free_o           = state_q == Free;
    assign receives_header  = free_o && row_valid_i;
    assign receives_payload = state_q == Receive && row_valid_i;

    // The program, fetched a clock before it is executed.
    instruction_t fetched;
    logic         executing_q, advance, complete, reads_on, ends;
    logic [6:0]   program_counter_q;
    logic [5:0]   constant_address;
    logic [63:0]  constant;

    lut_ram #(
        .AddressWidth(LogWords),
        .DataWidth   (64)
    ) i_code (
        .clk_i,
        .write_enable_i (code_write_i),
        .write_address_i(store_address_i),
        .write_data_i   (store_data_i),
        .read_address_i (program_counter_q[5:0]),
        .read_data_o    (fetched)
    );

    lut_ram #(
        .AddressWidth(LogWords),
        .DataWidth   (64)
    ) i_constants (
        .clk_i,
        .write_enable_i (constant_write_i),
        .write_address_i(store_address_i),
        .write_data_i   (store_data_i),
        .read_address_i (constant_address),
        .read_data_o    (constant)
    );

    assign advance = !executing_q || complete;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || state_q != Run || ends) begin
            executing_q       <= 1'b0;
            program_counter_q <= '0;
        end else if (advance) begin
            executing_q       <= 1'b1;
            program_counter_q <= program_counter_q + 1'b1;
        end
    end

    // The payload, and the bitmap of its nulls: at most 1,024 columns have theirs in the first
    // two beats.
    logic [6:0]   beat_q, read_beat, left_q;
    logic         last_beat_q;
    logic [9:0]   place_q, next_place;  // of a word
    logic [511:0] read_data;
    logic [63:0]  row_word;
    logic [63:0]  bitmap_q[16];

    block_ram #(
        .AddressWidth(7),
        .DataWidth   (512)
    ) i_row (
        .clk_i,
        .write_enable_i (receives_payload),
        .write_address_i(beat_q),
        .write_data_i   (row_data_i),
        .read_address_i (read_beat),
        .read_data_o    (read_data)
    );

    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < 8; n++) begin
            if (receives_payload && beat_q == 0) bitmap_q[n] <= row_data_i[64*n+:64];
            if (receives_payload && beat_q == 1) bitmap_q[8+n] <= row_data_i[64*n+:64];
        end
    end

    // What is read for the next clock: the place of the next instruction, or the next word of
    // a comparison. Of the payload to send, the next beat.
    assign next_place = place_q + 1'b1;
    always_comb begin
        case (state_q)
            Run:     read_beat = reads_on ? next_place[9:3] : fetched.x[12:6];
            Payload: read_beat = packet_taken_i ? beat_q + 1'b1 : beat_q;
            default: read_beat = '0;
        endcase
    end

    always_ff @(posedge clk_i) place_q <= reads_on ? next_place : fetched.x[12:3];
    assign row_word = read_data[64*place_q[2:0]+:64];

    logic        passes, fails, faulty;
    logic [7:0]  fault, nulls;
    logic [63:0] values[8];

    lane_execute i_execute (
        .clk_i,
        .rst_ni,
        .valid_i           (executing_q),
        .instruction_i     (fetched),
        .complete_o        (complete),
        .reads_on_o        (reads_on),
        .passes_o          (passes),
        .fails_o           (fails),
        .faulty_o          (faulty),
        .fault_o           (fault),
        .bytes_i           (header_q.bytes),
        .row_word_i        (row_word),
        .bitmap_i          (bitmap_q),
        .constant_address_o(constant_address),
        .constant_i        (constant),
        .values_o          (values),
        .nulls_o           (nulls)
    );

    // A program without an end, which no validator admits, ends behind its last place.
    logic past_end, fails_to_end;
    assign past_end     = program_counter_q[6] && !passes;
    assign fails_to_end = complete && (faulty || past_end);
    assign ends         = fails_to_end || complete && (passes || fails);

    // Packets.
    header_t header;
    logic    is_row_q, has_bytes_q, has_values_q, sends_payload, sends_values;
    assign sends_values  = is_row_q && has_values_q;
    assign sends_payload = is_row_q && wants_payloads_i && has_bytes_q;
    always_comb begin
        header       = header_q;
        header.bytes = sends_payload ? header_q.bytes : '0;
        if (sends_values) begin
            header.values = 8'(outputs_i);
            header.nulls  = nulls & ~(8'hff << outputs_i);
        end
    end

    assign packet_valid_o = state_q inside {Header, Values, Payload};
    assign packet_first_o = state_q == Header;
    always_comb begin
        packet_data_o = read_data;
        packet_last_o = last_beat_q;
        if (state_q == Header) begin
            packet_data_o = header;
            packet_last_o = !sends_values && !sends_payload;
        end else if (state_q == Values) begin
            for (int unsigned n = 0; n < 8; n++) begin
                packet_data_o[64*n+:64] = n < 32'(outputs_i) ? values[n] : '0;
            end
            packet_last_o = !sends_payload;
        end
    end

    // What follows a row that has come whole.
    state_t when_whole;
    always_comb begin
        when_whole = has_program_i ? Run : Header;
        if (receives_header && row_header.code != 0) when_whole = Header;
    end

    // Beats of the payload behind the one that is offered next.
    logic [6:0] beats_behind;
    assign beats_behind = 7'((header_q.bytes - 1'b1) >> 6);
    always_ff @(posedge clk_i) begin
        has_values_q <= has_program_i && outputs_i != 0;
        if (state_q != Payload) begin
            left_q      <= beats_behind;
            last_beat_q <= beats_behind == 0;
        end else if (packet_taken_i) begin
            left_q      <= left_q - 1'b1;
            last_beat_q <= left_q == 7'd1;
        end
    end

    always_ff @(posedge clk_i) begin
        if (receives_header) begin
            header_q        <= row_header;
            header_q.zero   <= '0;
            header_q.values <= '0;
            header_q.nulls  <= '0;
            is_row_q        <= row_header.code == 0;
            has_bytes_q     <= row_header.bytes != 0;
        end
        if (fails_to_end) begin
            header_q.code <= faulty ? fault : BadInstruction;
            is_row_q      <= 1'b0;
        end
        if (receives_payload || state_q == Payload && packet_taken_i) beat_q <= beat_q + 1'b1;
        if (state_q inside {Free, Run, Header, Values}) beat_q <= '0;
        if (!rst_ni) begin
            state_q <= Free;
        end else begin
            case (state_q)
                Free:    if (row_valid_i) state_q <= row_last_i ? when_whole : Receive;
                Receive: if (row_valid_i && row_last_i) state_q <= when_whole;
                Run:     if (ends) state_q <= fails && !past_end ? Free : Header;
                Header: if (packet_taken_i) begin
                    state_q <= sends_values ? Values : sends_payload ? Payload : Free;
                end
                Values:  if (packet_taken_i) state_q <= sends_payload ? Payload : Free;
                Payload: if (packet_taken_i && packet_last_o) state_q <= Free;
                default: state_q <= Free;
            endcase
        end
    end

`ifndef SYNTHESIS
    packet_is_taken_only_when_offered: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !packet_taken_i || packet_valid_o);
    packet_has_no_pause: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && packet_taken_i && !packet_last_o) || packet_valid_o);
    row_comes_only_when_expected: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !row_valid_i || state_q inside {Free, Receive});
`endif

endmodule
