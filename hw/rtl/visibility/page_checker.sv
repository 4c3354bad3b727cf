// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads whole pages, and checks that each is the page that it should be.
//
// Contract: a check is started in a slot that is not running; `checked_valid_o` is high for one
// clock when it has ended. Even lines are read by port 0, odd ones by port 1, each with the slot's
// id, so that the lines of a slot come in order on each port. The checksum is computed for even and
// odd lines separately, as if the others were zero, and combined at the end: no line waits for
// another.
module page_checker #(
    parameter int unsigned LogSlots = 3,
    parameter logic [7:0]  FirstId  = 8'h88      // the slot is in the low bits
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic [63:0]         store_i,
    input  logic [63:0]         epoch_i,

    input  logic                start_i,
    input  logic [LogSlots-1:0] start_slot_i,
    input  walk_pkg::check_t    check_i,
    output logic                checked_valid_o,
    output logic [LogSlots-1:0] checked_slot_o,
    output walk_pkg::facts_t    checked_o,
    output logic                quiet_o,

    output logic [1:0]          read_valid_o,
    output logic [1:0][63:6]    read_address_o,
    output logic [1:0][7:0]     read_id_o,
    input  logic [1:0]          read_ready_i,
    input  logic [1:0]          line_valid_i,
    input  logic [1:0][7:0]     line_id_i,
    input  logic [1:0]          line_error_i,
    input  logic [1:0][511:0]   line_i
);
    import walk_pkg::*;

    localparam int unsigned Slots = 2**LogSlots;
    localparam logic [31:0] Magic = 32'h4750_4B4C;   // "LKPG"
    localparam logic [31:0] DataKind = 32'd1;
    localparam logic [31:0] VidMapKind = 32'd2;

    typedef logic [LogSlots-1:0] slot_t;

    logic [Slots-1:0] running_q;
    check_t           checks_q[Slots];
    assign quiet_o = running_q == 0;

    // Of the first line, which comes on port 0.
    logic [Slots-1:0] no_page_q, stranger_q;
    logic [31:0]      expected_q[Slots];
    logic [31:0]      tables_q[Slots];
    logic [15:0]      lines_q[Slots];

    // Of each port.
    logic [1:0][Slots-1:0] complete_q, broken_q;
    logic [31:0]           remainders_q[2][Slots];

    // A check that has ended.
    logic  ended;
    slot_t ended_slot;
    always_comb begin
        ended      = 1'b0;
        ended_slot = '0;
        for (int unsigned n = 0; n < Slots; n++) begin
            if (running_q[n] && complete_q[0][n] && complete_q[1][n]) begin
                ended      = 1'b1;
                ended_slot = slot_t'(n);
            end
        end
    end
    logic [31:0] remainder;
    assign remainder       = ~(remainders_q[0][ended_slot] ^ remainders_q[1][ended_slot]);
    assign checked_valid_o = ended;
    assign checked_slot_o  = ended_slot;
    always_comb begin
        checked_o = '{
            code: Found, table_number: tables_q[ended_slot], lines: lines_q[ended_slot]
        };
        if (broken_q[0][ended_slot] || broken_q[1][ended_slot]) checked_o.code = Bus;
        else if (no_page_q[ended_slot] || remainder != expected_q[ended_slot]) begin
            checked_o.code = Checksum;
        end else if (stranger_q[ended_slot]) checked_o.code = Stranger;
    end

    for (genvar port = 0; port < 2; port++) begin : g_ports
        // Lines asked for and lines come, of 64.
        logic [6:0]   asked_q[Slots];
        logic [6:0]   come_q[Slots];
        slot_t        asking, comer;
        logic         ask, come, first;
        logic [511:0] line;
        always_comb begin
            read_valid_o[port] = 1'b0;
            asking             = '0;
            for (int unsigned n = 0; n < Slots; n++) begin
                if (running_q[n] && !asked_q[n][6]) begin
                    read_valid_o[port] = 1'b1;
                    asking             = slot_t'(n);
                end
            end
        end
        assign read_id_o[port]      = FirstId | 8'(asking);
        assign read_address_o[port] = checks_q[asking].address
            + 58'({asked_q[asking][5:0], 1'(port)});
        assign ask   = read_valid_o[port] && read_ready_i[port];
        assign come  = line_valid_i[port] && line_id_i[port][7:LogSlots] == FirstId[7:LogSlots];
        assign comer = line_id_i[port][LogSlots-1:0];
        assign first = come_q[comer] == 0;

        // The checksum is of bytes 8 and on; its initial state of ones is put into the first bits.
        always_comb begin
            line = line_i[port];
            if (port == 0 && first) begin
                line[63:0]  = '0;
                line[95:64] = ~line[95:64];
            end
        end

        logic        remainder_valid_q, remainder_first_q, remainder_last_q;
        slot_t       remainder_slot_q;
        logic [31:0] remainder_q, state, next_state;
        assign state     = remainder_first_q ? '0 : remainders_q[port][remainder_slot_q];
        assign next_state = crc32c_pkg::after_two_zero_lines(state)
            ^ (port == 0 ? crc32c_pkg::after_zero_line(remainder_q) : remainder_q);

        always_ff @(posedge clk_i) begin
            if (come) begin
                remainder_q       <= crc32c_pkg::of_line(line);
                remainder_slot_q  <= comer;
                remainder_first_q <= first;
                remainder_last_q  <= come_q[comer] == 7'd63;
                come_q[comer]     <= come_q[comer] + 1'b1;
            end
            if (remainder_valid_q) remainders_q[port][remainder_slot_q] <= next_state;
            if (ask) asked_q[asking] <= asked_q[asking] + 1'b1;
            if (start_i) begin
                asked_q[start_slot_i] <= '0;
                come_q[start_slot_i]  <= '0;
            end
            if (!rst_ni) begin
                remainder_valid_q <= 1'b0;
                complete_q[port]  <= '0;
                broken_q[port]    <= '0;
            end else begin
                remainder_valid_q <= come;
                if (remainder_valid_q && remainder_last_q) complete_q[port][remainder_slot_q] <= 1'b1;
                if (come && line_error_i[port]) broken_q[port][comer] <= 1'b1;
                if (ended) complete_q[port][ended_slot] <= 1'b0;
                if (start_i) broken_q[port][start_slot_i] <= 1'b0;
            end
        end

        if (port == 0) begin : g_header
            check_t check;
            logic   placed_right;
            assign check = checks_q[comer];
            logic   unused;
            assign unused = ^check.address;
            assign placed_right = check.is_image || line_i[0][511:448] == store_i
                && line_i[0][319:256] <= epoch_i && line_i[0][278:256] == check.epoch;
            always_ff @(posedge clk_i) begin
                if (come && first) begin
                    no_page_q[comer]  <= line_i[0][31:0] != Magic;
                    expected_q[comer] <= line_i[0][63:32];
                    tables_q[comer]   <= line_i[0][159:128];
                    lines_q[comer]    <= line_i[0][175:160];
                    stranger_q[comer] <= line_i[0][127:64] != check.page || !placed_right
                        || line_i[0][351:320] != (check.is_map ? VidMapKind : DataKind);
                end
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (start_i) checks_q[start_slot_i] <= check_i;
        if (!rst_ni) begin
            running_q <= '0;
        end else begin
            if (ended) running_q[ended_slot] <= 1'b0;
            if (start_i) running_q[start_slot_i] <= 1'b1;
        end
    end

`ifndef SYNTHESIS
    check_starts_in_a_free_slot: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !start_i || !running_q[start_slot_i]);
`endif

endmodule
