// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the missing parts of the payloads, and outputs the rows: a header beat, then the payload in
// aligned beats.
//
// Contract: rows leave in the order in which they were taken. Lines are requested with one id, even
// ones on port 0, odd ones on port 1, so that they come on each port in the order in which they are
// needed. A row begins when it is complete; if one of its lines could not be read, it becomes a
// fault. The lines of the longest row fit into the buffers.
module row_output #(
    parameter int unsigned LogRows  = 5,
    parameter int unsigned LogLines = 7,      // of each port; at least 6
    parameter logic [7:0]  Id       = 8'h80
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    output logic               quiet_o,

    input  logic               row_valid_i,
    output logic               row_ready_o,
    input  walk_pkg::row_t     row_i,
    input  logic [2:0]         row_word_i,    // where in its first line the payload begins
    input  logic [63:6]        row_address_i, // the first line that has not come
    input  logic               row_has_line_i,
    input  logic [511:0]       row_line_i,

    output logic [1:0]         read_valid_o,
    output logic [1:0][63:6]   read_address_o,
    output logic [1:0][7:0]    read_id_o,
    input  logic [1:0]         read_ready_i,
    input  logic [1:0]         line_valid_i,
    input  logic [1:0][7:0]    line_id_i,
    input  logic [1:0]         line_error_i,
    input  logic [1:0][511:0]  line_i,

    output logic               m_axis_row_tvalid,
    input  logic               m_axis_row_tready,
    output logic [511:0]       m_axis_row_tdata,
    output logic               m_axis_row_tlast,
    output logic               visible_o,     // in the clock of a header beat
    output logic               fault_o
);
    import walk_pkg::*;

    localparam int unsigned Rows = 2**LogRows;
    localparam int unsigned BufferLines = 2**LogLines;
    typedef logic [LogRows-1:0]  slot_t;
    typedef logic [LogRows:0]    count_t;
    typedef logic [LogLines+1:0] lines_t;

    // A row that waits. Of its payload's lines, one may have come already.
    typedef struct packed {
        row_t        row;
        logic [2:0]  word;
        logic [7:0]  lines;       // that the payload touches
        logic        has_line;
        logic        odd;         // the first line that has not come
    } waiting_t;

    // Counts of rows taken, asked for, and given out.
    count_t   taken_q, asked_q, given_q;
    logic     take, row_asked, give;
    waiting_t taken, giving;
    logic [7:0]  taken_missing, missing;      // lines that have not come
    logic [63:6] asking_address;
    assign quiet_o     = taken_q == given_q && !m_axis_row_tvalid;
    assign row_ready_o = taken_q - given_q != count_t'(Rows);
    assign take        = row_valid_i && row_ready_o;
    assign taken_missing = taken.lines - 8'(row_has_line_i && taken.lines != 0);
    assign taken       = '{
        row:      row_i,
        word:     row_word_i,
        lines:    row_i.bytes == 0 ? '0 : 8'((row_i.bytes + {8'd0, row_word_i, 3'd0} + 14'd63) >> 6),
        has_line: row_has_line_i,
        odd:      row_address_i[6]
    };

    lut_ram #(.AddressWidth(LogRows), .DataWidth(66)) i_asking (
        .clk_i,
        .write_enable_i(take), .write_address_i(taken_q[LogRows-1:0]),
        .write_data_i({taken_missing, row_address_i}),
        .read_address_i(asked_q[LogRows-1:0]), .read_data_o({missing, asking_address})
    );
    logic [511:0] carried;
    lut_ram #(.AddressWidth(LogRows), .DataWidth($bits(waiting_t) + 512)) i_giving (
        .clk_i,
        .write_enable_i(take), .write_address_i(taken_q[LogRows-1:0]),
        .write_data_i({taken, row_line_i}),
        .read_address_i(given_q[LogRows-1:0]), .read_data_o({giving, carried})
    );

    // ---- Asking for lines, one a clock.

    logic [7:0]  asked_lines_q;
    logic [63:6] address;
    logic        ask;
    lines_t      held_q[2];               // lines asked for that are not given out
    assign address   = asking_address + 58'(asked_lines_q);
    assign row_asked = asked_q != taken_q && (missing == asked_lines_q
        || ask && missing == asked_lines_q + 8'd1);
    always_comb begin
        for (int unsigned port = 0; port < 2; port++) begin
            read_valid_o[port]   = asked_q != taken_q && missing != asked_lines_q
                && address[6] == 1'(port) && held_q[port] != lines_t'(BufferLines);
            read_address_o[port] = address;
            read_id_o[port]      = Id;
        end
    end
    assign ask = |(read_valid_o & read_ready_i);

    // ---- What comes, and for which row.

    logic [Rows-1:0]   broken_q;
    logic [1:0]        come, pop;
    slot_t             comer[2];
    logic [1:0][511:0] line;
    // Lines that have come since the beginning, and how many had been asked for when each row's
    // last one was.
    lines_t            come_q[2], asks_q[2];
    lines_t [1:0]      ends, row_ends;
    for (genvar port = 0; port < 2; port++) begin : g_ports
        logic row_there, line_there;
        assign come[port] = line_valid_i[port] && line_id_i[port] == Id;
        lut_fifo #(.LogDepth(LogLines), .Width(LogRows)) i_rows (
            .clk_i, .rst_ni,
            .push_i (read_valid_o[port] && read_ready_i[port]),
            .data_i (asked_q[LogRows-1:0]),
            .pop_i  (come[port]),
            .valid_o(row_there),
            .data_o (comer[port])
        );
        lut_fifo #(.LogDepth(LogLines), .Width(512)) i_lines (
            .clk_i, .rst_ni,
            .push_i (come[port]),
            .data_i (line_i[port]),
            .pop_i  (pop[port]),
            .valid_o(line_there),
            .data_o (line[port])
        );
        assign ends[port] = asks_q[port] + lines_t'(read_valid_o[port] && read_ready_i[port]);
        logic unused;
        assign unused = ^{line_there, row_there};
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                held_q[port] <= '0;
                come_q[port] <= '0;
                asks_q[port] <= '0;
            end else begin
                asks_q[port] <= ends[port];
                come_q[port] <= come_q[port] + lines_t'(come[port]);
                held_q[port] <= held_q[port] + lines_t'(read_valid_o[port] && read_ready_i[port])
                    - lines_t'(pop[port]);
            end
        end
    end
    lut_ram #(.AddressWidth(LogRows), .DataWidth(2 * (LogLines + 2))) i_ends (
        .clk_i,
        .write_enable_i(row_asked), .write_address_i(asked_q[LogRows-1:0]), .write_data_i(ends),
        .read_address_i(given_q[LogRows-1:0]), .read_data_o(row_ends)
    );

    // Counts wrap; no two are further apart than the buffers are deep.
    lines_t [1:0] ahead;
    assign ahead = {come_q[1] - row_ends[1], come_q[0] - row_ends[0]};

    // ---- Giving out: one beat a clock.

    logic       ready, broken, payload_q, current_held, next_needed, last_beat, give_header;
    logic [7:0] line_q, beats;              // of the payload
    logic       free, odd;
    assign ready  = asked_q != given_q && !ahead[0][LogLines+1] && !ahead[1][LogLines+1];
    assign broken = broken_q[given_q[LogRows-1:0]];
    assign free   = !m_axis_row_tvalid || m_axis_row_tready;
    assign beats  = 8'((giving.row.bytes + 14'd63) >> 6);

    // The line in which a beat begins, and the one behind it.
    logic [511:0]  current, next;
    logic [1023:0] both;
    assign current_held = giving.has_line && line_q == 0;
    assign odd          = giving.odd ^ line_q[0] ^ giving.has_line;
    assign current      = current_held ? carried : line[odd];
    assign next         = line[!odd];
    assign both         = {next, current} >> {giving.word, 6'd0};
    assign last_beat    = line_q + 8'd1 == beats;
    // A last line that no beat begins in.
    assign next_needed  = last_beat && giving.lines != beats;
    assign give_header  = ready && free && !payload_q;
    assign give         = free && (payload_q ? last_beat : ready && beats == 0);
    assign visible_o    = give_header && giving.row.code == Found && !broken;
    assign fault_o      = give_header && !visible_o;
    always_comb begin
        pop = '0;
        if (payload_q && free) begin
            if (!current_held) pop[odd] = 1'b1;
            if (next_needed) pop[!odd] = 1'b1;
        end
    end

    logic unused;
    assign unused = ^both[1023:512];

    always_ff @(posedge clk_i) begin
        if (free) begin
            m_axis_row_tdata <= payload_q ? both[511:0] : {
                296'd0,
                8'(broken ? Bus : giving.row.code),
                2'd0, broken ? 14'd0 : giving.row.bytes,
                giving.row.created, giving.row.record, giving.row.number, giving.row.vid
            };
            m_axis_row_tlast <= payload_q ? last_beat : broken || beats == 0;
        end
        if (!rst_ni) begin
            m_axis_row_tvalid <= 1'b0;
            taken_q           <= '0;
            asked_q           <= '0;
            given_q           <= '0;
            asked_lines_q     <= '0;
            line_q            <= '0;
            payload_q         <= 1'b0;
            broken_q          <= '0;
        end else begin
            // The payload of a broken row is dropped.
            if (free) m_axis_row_tvalid <= give_header || payload_q && !broken;
            if (take) begin
                taken_q                          <= taken_q + 1'b1;
                broken_q[taken_q[LogRows-1:0]] <= 1'b0;
            end
            for (int unsigned port = 0; port < 2; port++) begin
                if (come[port] && line_error_i[port]) broken_q[comer[port]] <= 1'b1;
            end
            if (row_asked) begin
                asked_q       <= asked_q + 1'b1;
                asked_lines_q <= '0;
            end else if (ask) begin
                asked_lines_q <= asked_lines_q + 1'b1;
            end
            if (give) begin
                given_q   <= given_q + 1'b1;
                payload_q <= 1'b0;
                line_q    <= '0;
            end else if (give_header) begin
                payload_q <= 1'b1;
            end else if (payload_q && free) begin
                line_q <= line_q + 1'b1;
            end
        end
    end

`ifndef SYNTHESIS
    beats_hold_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_row_tvalid && !m_axis_row_tready)
            || m_axis_row_tvalid && $stable({m_axis_row_tdata, m_axis_row_tlast}));
`endif

endmodule
