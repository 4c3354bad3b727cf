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

    if (LogLines < 6) begin : g_lines
        $error("LogLines is %0d, expected 6 or more", LogLines);
    end

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

    // Counts of rows taken, begun to be asked for, asked for, whole, and given out.
    count_t   taken_q, begun_q, asked_q, whole_q, given_q;
    logic     take, begin_row, row_asked, whole, give;
    waiting_t taken, giving;
    logic [7:0]  row_lines, missing;          // that the payload touches; those that have not come
    logic        row_has_line;
    logic [63:6] first_address;
    assign quiet_o     = taken_q == given_q && !m_axis_row_tvalid;
    assign row_ready_o = taken_q - given_q != count_t'(Rows);
    assign take        = row_valid_i && row_ready_o;
    assign taken       = '{
        row:      row_i,
        word:     row_word_i,
        lines:    row_i.bytes == 0 ? '0 : 8'((row_i.bytes + {8'd0, row_word_i, 3'd0} + 14'd63) >> 6),
        has_line: row_has_line_i,
        odd:      row_address_i[6]
    };

    lut_ram #(.AddressWidth(LogRows), .DataWidth(67)) i_asking (
        .clk_i,
        .write_enable_i(take), .write_address_i(taken_q[LogRows-1:0]),
        .write_data_i({row_has_line_i, taken.lines, row_address_i}),
        .read_address_i(begun_q[LogRows-1:0]), .read_data_o({row_has_line, row_lines, first_address})
    );
    assign missing = row_lines - 8'(row_has_line && row_lines != 0);
    logic [511:0] carried;
    lut_ram #(.AddressWidth(LogRows), .DataWidth($bits(waiting_t) + 512)) i_giving (
        .clk_i,
        .write_enable_i(take), .write_address_i(taken_q[LogRows-1:0]),
        .write_data_i({taken, row_line_i}),
        .read_address_i(given_q[LogRows-1:0]), .read_data_o({giving, carried})
    );

    // ---- Asking for lines, one a clock. What is asked for comes from registers, since other readers wait for it.

    logic        asking_q, any_left_q;    // of this row
    logic [7:0]  left_q;                  // lines to be asked for
    logic [63:6] address_q;
    logic        ask;
    lines_t      held_q[2];               // lines asked for that are not given out
    assign row_asked = asking_q && (!any_left_q || ask && left_q == 8'd1);
    assign begin_row = (!asking_q || row_asked) && begun_q != taken_q;
    always_comb begin
        for (int unsigned port = 0; port < 2; port++) begin
            // A buffer is full when this bit is set.
            read_valid_o[port]   = any_left_q && address_q[6] == 1'(port) && !held_q[port][LogLines];
            read_address_o[port] = address_q;
            read_id_o[port]      = Id;
        end
    end
    assign ask = |(read_valid_o & read_ready_i);

    always_ff @(posedge clk_i) begin
        if (begin_row) begin
            left_q    <= missing;
            address_q <= first_address;
        end else if (ask) begin
            left_q    <= left_q - 1'b1;
            address_q <= address_q + 1'b1;
        end
        if (!rst_ni) begin
            asking_q   <= 1'b0;
            any_left_q <= 1'b0;
        end else begin
            asking_q <= begin_row || asking_q && !row_asked;
            if (begin_row) any_left_q <= missing != 0;
            else if (ask) any_left_q <= left_q != 8'd1;
        end
    end

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
        .read_address_i(whole_q[LogRows-1:0]), .read_data_o(row_ends)
    );

    // The lines of a row have come before those of the next, so rows are whole in their order.
    // Counts wrap; no two are further apart than the buffers are deep.
    lines_t [1:0] ahead;
    assign ahead = {come_q[1] - row_ends[1], come_q[0] - row_ends[0]};
    assign whole = asked_q != whole_q && !ahead[0][LogLines+1] && !ahead[1][LogLines+1];

    // ---- Giving out: one beat a clock.

    logic       ready, broken, payload_q, current_held, next_needed, last_beat, give_header, free;
    logic [7:0] beats, behind_q;            // of the payload; those behind the one that is given
    logic       first_q, odd_q;             // it begins in the first line, in an odd one
    logic       line_behind_q;              // there is a last line that no beat begins in
    assign ready  = whole_q != given_q;
    assign broken = broken_q[given_q[LogRows-1:0]];
    assign free   = !m_axis_row_tvalid || m_axis_row_tready;
    assign beats  = 8'((giving.row.bytes + 14'd63) >> 6);

    // The line in which a beat begins, and the one behind it.
    logic [511:0]  current, next;
    logic [1023:0] both;
    assign current_held = giving.has_line && first_q;
    assign current      = current_held ? carried : line[odd_q];
    assign next         = line[!odd_q];
    assign both         = {next, current} >> {giving.word, 6'd0};
    assign last_beat    = behind_q == 0;
    assign next_needed  = last_beat && line_behind_q;
    assign give_header  = ready && free && !payload_q;
    // A row without a payload has no lines.
    assign give         = free && (payload_q ? last_beat : ready && giving.lines == 0);
    assign visible_o    = give_header && giving.row.code == Found && !broken;
    assign fault_o      = give_header && !visible_o;
    always_comb begin
        pop = '0;
        if (payload_q && free) begin
            if (!current_held) pop[odd_q] = 1'b1;
            if (next_needed) pop[!odd_q] = 1'b1;
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
            m_axis_row_tlast <= payload_q ? last_beat : broken || giving.lines == 0;
        end
        if (give_header) begin
            behind_q      <= beats - 1'b1;
            first_q       <= 1'b1;
            odd_q         <= giving.odd ^ giving.has_line;
            line_behind_q <= giving.lines != beats;
        end else if (free) begin
            behind_q <= behind_q - 1'b1;
            first_q  <= 1'b0;
            odd_q    <= !odd_q;
        end
        if (!rst_ni) begin
            m_axis_row_tvalid <= 1'b0;
            taken_q           <= '0;
            begun_q           <= '0;
            asked_q           <= '0;
            whole_q           <= '0;
            given_q           <= '0;
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
            if (begin_row) begun_q <= begun_q + 1'b1;
            if (row_asked) asked_q <= asked_q + 1'b1;
            if (whole) whole_q <= whole_q + 1'b1;
            if (give) given_q <= given_q + 1'b1;
            if (free) payload_q <= !give && (payload_q || give_header);
        end
    end

`ifndef SYNTHESIS
    counts_are_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
        taken_q - given_q <= count_t'(Rows) && begun_q - given_q <= taken_q - given_q
            && asked_q - given_q <= begun_q - given_q && whole_q - given_q <= asked_q - given_q
            && begun_q - asked_q == count_t'(asking_q));
    what_is_left_is_told: assert property (@(posedge clk_i) disable iff (!rst_ni)
        any_left_q == (asking_q && left_q != 0));
    no_more_is_held_than_fits: assert property (@(posedge clk_i) disable iff (!rst_ni)
        held_q[0] <= lines_t'(BufferLines) && held_q[1] <= lines_t'(BufferLines));
    beats_hold_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_row_tvalid && !m_axis_row_tready)
            || m_axis_row_tvalid && $stable({m_axis_row_tdata, m_axis_row_tlast}));
`endif

endmodule
