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
    assign quiet_o = running_q == 0 && !checked_valid_o;

    // Of the first line, which comes on port 0.
    logic [Slots-1:0] no_page_q, other_page_q, misplaced_q, other_kind_q;
    logic [31:0]      expected_q[Slots];
    logic [31:0]      tables_q[Slots];
    logic [15:0]      lines_q[Slots];

    // Of each port.
    logic [1:0][Slots-1:0] complete_q, broken_q;
    logic [31:0]           remainders_q[2][Slots];

    // A check that has ended: its slot is chosen, what was found is taken out of it, and then looked at.
    logic  ended, ended_q;
    slot_t ended_slot, ended_slot_q;
    always_comb begin
        ended      = 1'b0;
        ended_slot = '0;
        for (int unsigned n = 0; n < Slots; n++) begin
            if (running_q[n] && complete_q[0][n] && complete_q[1][n] && !ended_q) begin
                ended      = 1'b1;
                ended_slot = slot_t'(n);
            end
        end
    end

    logic        found_broken_q, found_no_page_q, found_stranger_q;
    logic [31:0] found_remainder_q, found_expected_q, found_table_q;
    logic [15:0] found_lines_q;
    always_ff @(posedge clk_i) begin
        ended_slot_q      <= ended_slot;
        checked_slot_o    <= ended_slot_q;
        found_broken_q    <= broken_q[0][ended_slot_q] || broken_q[1][ended_slot_q];
        found_no_page_q   <= no_page_q[ended_slot_q];
        found_stranger_q  <= other_page_q[ended_slot_q] || misplaced_q[ended_slot_q]
            || other_kind_q[ended_slot_q];
        found_remainder_q <= ~(remainders_q[0][ended_slot_q] ^ remainders_q[1][ended_slot_q]);
        found_expected_q  <= expected_q[ended_slot_q];
        found_table_q     <= tables_q[ended_slot_q];
        found_lines_q     <= lines_q[ended_slot_q];
        if (!rst_ni) begin
            ended_q         <= 1'b0;
            checked_valid_o <= 1'b0;
        end else begin
            ended_q         <= ended;
            checked_valid_o <= ended_q;
        end
    end
    always_comb begin
        checked_o = '{code: Found, table_number: found_table_q, lines: found_lines_q};
        if (found_broken_q) checked_o.code = Bus;
        else if (found_no_page_q || found_remainder_q != found_expected_q) checked_o.code = Checksum;
        else if (found_stranger_q) checked_o.code = Stranger;
    end

    for (genvar port = 0; port < 2; port++) begin : g_ports
        // Pages are asked for one after the other, from registers, since others wait for what is asked for here.
        logic [Slots-1:0] waiting_q;               // nothing of them is asked for
        logic             asking_q, ask, last, begins;
        slot_t            asker_q, next, comer;
        logic [63:6]      address_q;
        logic [5:0]       asked_q;                 // lines of 64
        always_comb begin
            next = '0;
            for (int unsigned n = 0; n < Slots; n++) if (waiting_q[n]) next = slot_t'(n);
        end
        assign read_valid_o[port]   = asking_q;
        assign read_id_o[port]      = FirstId | 8'(asker_q);
        assign read_address_o[port] = address_q;
        assign ask    = asking_q && read_ready_i[port];
        assign last   = ask && asked_q == 6'd63;
        assign begins = (!asking_q || last) && waiting_q != '0;
        always_ff @(posedge clk_i) begin
            if (begins) begin
                asker_q   <= next;
                address_q <= checks_q[next].address + 58'(port);
                asked_q   <= '0;
            end else if (ask) begin
                address_q <= address_q + 58'd2;
                asked_q   <= asked_q + 1'b1;
            end
            if (!rst_ni) begin
                asking_q  <= 1'b0;
                waiting_q <= '0;
            end else begin
                asking_q <= begins || asking_q && !last;
                if (begins) waiting_q[next] <= 1'b0;
                if (start_i) waiting_q[start_slot_i] <= 1'b1;
            end
        end

        logic [6:0]   come_q[Slots];               // lines of 64
        logic         come, first;
        assign come  = line_valid_i[port] && line_id_i[port][7:LogSlots] == FirstId[7:LogSlots];
        assign comer = line_id_i[port][LogSlots-1:0];
        assign first = come_q[comer] == 0;

        // A line that has come, and the state of its slot before it. The checksum is of bytes 8 and on, and
        // its initial state of ones is put into the first bits: of the first line, 8 bytes are taken out of
        // the remainder again.
        logic             remainder_valid_q, remainder_last_q;
        slot_t            remainder_slot_q;
        logic [3:0][31:0] parts_q;                 // of its remainder, one of each quarter
        logic [31:0]      taken_out_q, remainder, state_q, next_state;
        assign remainder  = parts_q[0] ^ parts_q[1] ^ parts_q[2] ^ parts_q[3] ^ taken_out_q;
        assign next_state = crc32c_pkg::after_two_zero_lines(state_q)
            ^ (port == 0 ? crc32c_pkg::after_zero_line(remainder) : remainder);

        always_ff @(posedge clk_i) begin
            if (come) begin
                for (int unsigned part = 0; part < 4; part++) begin
                    parts_q[part] <= crc32c_pkg::of_line(line_i[port] & 512'({128{1'b1}}) << 128 * part);
                end
                taken_out_q      <= '0;
                if (port == 0 && first) begin
                    taken_out_q <= crc32c_pkg::of_line({416'd0, 32'hFFFF_FFFF, line_i[port][63:0]});
                end
                remainder_slot_q <= comer;
                remainder_last_q <= come_q[comer] == 7'd63;
                come_q[comer]    <= come_q[comer] + 1'b1;
                if (first) state_q <= '0;
                else if (remainder_valid_q && remainder_slot_q == comer) state_q <= next_state;
                else state_q <= remainders_q[port][comer];
            end
            if (remainder_valid_q) remainders_q[port][remainder_slot_q] <= next_state;
            if (start_i) come_q[start_slot_i] <= '0;
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
                    no_page_q[comer]    <= line_i[0][31:0] != Magic;
                    expected_q[comer]   <= line_i[0][63:32];
                    tables_q[comer]     <= line_i[0][159:128];
                    lines_q[comer]      <= line_i[0][175:160];
                    other_page_q[comer] <= line_i[0][127:64] != check.page;
                    misplaced_q[comer]  <= !placed_right;
                    other_kind_q[comer] <= line_i[0][351:320] != (check.is_map ? VidMapKind : DataKind);
                end
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (start_i) checks_q[start_slot_i] <= check_i;
        if (!rst_ni) begin
            running_q <= '0;
        end else begin
            if (ended_q) running_q[ended_slot_q] <= 1'b0;
            if (start_i) running_q[start_slot_i] <= 1'b1;
        end
    end

`ifndef SYNTHESIS
    only_a_check_that_runs_ends: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !ended_q || running_q[ended_slot_q] && !ended);
    check_starts_in_a_free_slot: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !start_i || !running_q[start_slot_i]);
`endif

endmodule
