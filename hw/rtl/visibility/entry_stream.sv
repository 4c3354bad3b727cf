// SPDX-License-Identifier: MIT OR Apache-2.0
// Streams an array of 16-byte entries from memory, ahead of their use.
//
// Contract: after `start_i` the entries at `address_i` come in order. If a line of them could not
// be read, `broken_o` is high and no further entry comes. `stop_i` stops further requests.
module entry_stream #(
    parameter logic [7:0]  Id       = 8'h81,
    parameter int unsigned LogLines = 3      // read ahead
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic         stop_i,
    input  logic [63:4]  address_i,
    input  logic [31:0]  count_i,

    output logic         read_valid_o,
    output logic [63:6]  read_address_o,
    input  logic         read_ready_i,
    input  logic         line_valid_i,
    input  logic [7:0]   line_id_i,
    input  logic         line_error_i,
    input  logic [511:0] line_i,

    output logic         valid_o,
    output logic [127:0] entry_o,
    input  logic         pop_i,
    output logic         ended_o,    // all entries were taken
    output logic         broken_o,
    output logic         quiet_o     // holds no line, and waits for none
);

    // Entries that are left to be asked for and to be given; lines asked for that were not used up.
    logic [63:6]         address_q;
    logic [33:0]         unasked_q;   // counted from the start of their line
    logic [31:0]         left_q;
    logic                any_left_q, any_unasked_q;
    logic [1:0]          place_q;
    logic [LogLines:0]   held_q;
    logic                broken_q;

    logic         ask, come, used_up, have, failed;
    logic [511:0] line;
    logic [3:0][127:0] entries;
    assign read_valid_o   = any_unasked_q && !held_q[LogLines] && !broken_q && !stop_i;
    assign read_address_o = address_q;
    assign ask            = read_valid_o && read_ready_i;
    assign come           = line_valid_i && line_id_i == Id;
    assign entries        = line;
    assign entry_o        = entries[place_q];
    assign valid_o        = have && !failed && any_left_q && !broken_q;
    assign broken_o       = broken_q;
    assign ended_o        = !any_left_q;
    assign quiet_o        = held_q == 0;
    assign used_up        = have && (failed || !any_left_q || pop_i && (place_q == 3 || left_q == 1));

    lut_fifo #(
        .LogDepth(LogLines),
        .Width   (513)
    ) i_lines (
        .clk_i,
        .rst_ni,
        .push_i (come),
        .data_i ({line_error_i, line_i}),
        .pop_i  (used_up),
        .valid_o(have),
        .data_o ({failed, line})
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            unasked_q     <= '0;
            any_unasked_q <= 1'b0;
            left_q        <= '0;
            any_left_q    <= 1'b0;
            held_q        <= '0;
            broken_q      <= 1'b0;
        end else begin
            if (ask != used_up) held_q <= ask ? held_q + 1'b1 : held_q - 1'b1;
            if (start_i) begin
                address_q     <= address_i[63:6];
                unasked_q     <= count_i == 0 ? '0 : 34'(count_i) + 34'(address_i[5:4]);
                any_unasked_q <= count_i != 0;
                left_q        <= count_i;
                any_left_q    <= count_i != 0;
                place_q       <= address_i[5:4];
                broken_q      <= 1'b0;
            end else begin
                if (ask) begin
                    address_q     <= address_q + 1'b1;
                    unasked_q     <= unasked_q > 4 ? unasked_q - 34'd4 : '0;
                    any_unasked_q <= unasked_q > 4;
                end
                if (have && failed && any_left_q) broken_q <= 1'b1;
                if (broken_q || stop_i) begin
                    unasked_q     <= '0;
                    any_unasked_q <= 1'b0;
                    left_q        <= '0;
                    any_left_q    <= 1'b0;
                end else if (pop_i) begin
                    left_q     <= left_q - 1'b1;
                    any_left_q <= left_q != 1;
                    place_q    <= place_q + 1'b1;
                end
            end
        end
    end

`ifndef SYNTHESIS
    what_is_left_is_told: assert property (@(posedge clk_i) disable iff (!rst_ni)
        any_left_q == (left_q != 0) && any_unasked_q == (unasked_q != 0));
    pop_takes_a_valid_entry: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !pop_i || valid_o);
`endif

endmodule
