// SPDX-License-Identifier: MIT OR Apache-2.0
// page_checker: a slot, which is any. Of its page each port asks for each of its lines once, in order; when all have come, and not
// before, the check ends, once, with what its lines said. The checksum is another one (any_crc32c_pkg.sv).
`include "../rules/rule.svh"
module page_checker_formal
    import walk_pkg::*;
#(
    parameter int unsigned LogSlots = 1,
    parameter logic [7:0]  FirstId  = 8'h88,
    parameter bit          Played   = 1'b0,      // one page is read whole, to reach covers
    localparam int unsigned Slots = 2**LogSlots
) (
    input logic                clk_i,
    input logic                rst_ni,
    input logic [63:0]         store_i,
    input logic [63:0]         epoch_i,
    input logic                start_i,
    input logic [LogSlots-1:0] start_slot_i,
    input check_t              check_i,
    input logic [1:0]          read_ready_i,
    input logic [1:0]          line_valid_i,
    input logic [1:0][7:0]     line_id_i,
    input logic [1:0]          line_error_i,
    input logic [1:0][511:0]   line_i
);
    typedef logic [LogSlots-1:0] slot_t;

    logic             checked_valid_o, quiet_o;
    slot_t            checked_slot_o;
    facts_t           checked_o;
    logic [1:0]       read_valid_o;
    logic [1:0][63:6] read_address_o;
    logic [1:0][7:0]  read_id_o;

    power_up i_power_up (.*);
    page_checker #(.LogSlots(LogSlots), .FirstId(FirstId)) i_block (.*);

    // Which checks run. One starts in a slot that is not running.
    logic [Slots-1:0] runs_q, runs, checked_now;
    assign checked_now = Slots'(checked_valid_o) << checked_slot_o;
    assign runs        = runs_q & ~checked_now;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) runs_q <= '0;
        else runs_q <= runs | Slots'(start_i) << start_slot_i;
    end
    `RULE(settings_stay, 0, !$past(rst_ni && runs_q != 0) || $stable({store_i, epoch_i}))
    `RULE(check_starts_in_a_free_slot, 0, !start_i || !runs[start_slot_i])
    `RULE(only_a_check_that_runs_has_ended, 1, (checked_now & ~runs_q) == '0)
    `RULE(quiet_when_no_check_runs, 1, quiet_o == (runs_q == '0))

    // The slot that is followed, and its page.
    slot_t  slot;
    check_t check_q;
    logic   starts, started_q, running, ends;
    arbitrary #(.Width(LogSlots)) i_slot (.clk_i, .value_o(slot));
    assign starts  = start_i && start_slot_i == slot;
    assign running = runs_q[slot];
    assign ends    = checked_valid_o && checked_slot_o == slot;
    always_ff @(posedge clk_i) begin
        started_q <= starts;
        if (starts) check_q <= check_i;
    end

    // Of each port: how many of its lines were asked for and have come, and their checksum.
    logic [6:0]  asked_q[2], come_q[2];
    logic [31:0] remainders_q[2];
    logic [1:0]  broken_q, comes, is_first;
    for (genvar port = 0; port < 2; port++) begin : g_ports
        logic         asks;
        logic [31:0]  sum, so_far;
        logic [511:0] line;
        assign asks           = read_valid_o[port] && read_ready_i[port] && read_id_o[port] == (FirstId | 8'(slot));
        assign comes[port]    = line_valid_i[port] && line_id_i[port] == (FirstId | 8'(slot));
        assign is_first[port] = comes[port] && come_q[port] == 0;
        // Bytes 8 and on are checked, with ones as the initial state.
        assign line   = line_i[port] ^ (port == 0 && is_first[0] ? {416'd0, 32'hFFFF_FFFF, line_i[0][63:0]} : '0);
        assign sum    = crc32c_pkg::of_line(line);
        assign so_far = come_q[port] == 0 ? '0 : crc32c_pkg::after_two_zero_lines(remainders_q[port]);
        always_ff @(posedge clk_i) begin
            if (starts) begin
                asked_q[port]  <= '0;
                come_q[port]   <= '0;
                broken_q[port] <= 1'b0;
            end else begin
                if (asks) asked_q[port] <= asked_q[port] + 1'b1;
                if (comes[port]) begin
                    come_q[port]       <= come_q[port] + 1'b1;
                    remainders_q[port] <= so_far ^ (port == 0 ? crc32c_pkg::after_zero_line(sum) : sum);
                    if (line_error_i[port]) broken_q[port] <= 1'b1;
                end
            end
        end
        axi4_stream_rules #(.Width(66)) i_reads (
            .clk_i, .rst_ni, .tvalid(read_valid_o[port]), .tready(read_ready_i[port]),
            .payload({read_id_o[port], read_address_o[port]}));
        `RULE(line_was_asked_for, 0, !comes[port] || running && come_q[port] < asked_q[port])
        `RULE(next_line_is_asked_for, 1, !asks || running && asked_q[port] < 7'd64
            && read_address_o[port] == check_q.address + (58'(asked_q[port]) << 1) + 58'(port))
        `RULE(some_line_is_asked_for, 1, !running || asked_q[port] == 7'd64 || started_q || read_valid_o[port])
        `RULE(read_is_of_a_slot, 1, !read_valid_o[port] || read_id_o[port][7:LogSlots] == FirstId[7:LogSlots])
        `RULE(all_lines_have_come_at_the_end, 1, !ends || come_q[port] == 7'd64 && asked_q[port] == 7'd64)
    end

    // What the first line says.
    logic        no_page_q, stranger_q;
    logic [31:0] expected_q, table_q;
    logic [15:0] lines_q;
    logic        placed_right;
    assign placed_right = check_q.is_image || line_i[0][511:448] == store_i && line_i[0][319:256] <= epoch_i
        && line_i[0][278:256] == check_q.epoch;
    always_ff @(posedge clk_i) begin
        if (is_first[0]) begin
            no_page_q  <= line_i[0][31:0] != 32'h4750_4B4C;
            expected_q <= line_i[0][63:32];
            table_q    <= line_i[0][159:128];
            lines_q    <= line_i[0][175:160];
            stranger_q <= line_i[0][127:64] != check_q.page || !placed_right
                || line_i[0][351:320] != (check_q.is_map ? 32'd2 : 32'd1);
        end
    end
    code_t code;
    always_comb begin
        code = Found;
        if (broken_q != 0) code = Bus;
        else if (no_page_q || ~(remainders_q[0] ^ remainders_q[1]) != expected_q) code = Checksum;
        else if (stranger_q) code = Stranger;
    end
    `RULE(page_is_judged_by_its_lines, 1, !ends || checked_o.code == code)
    `RULE(header_is_told, 1, !ends || checked_o.table_number == table_q && checked_o.lines == lines_q)

    // While a check waits whose lines have all come, one ends in every second clock.
    logic       waits;
    logic [2:0] waited_q;
    assign waits = runs[slot] && come_q[0] == 7'd64 && come_q[1] == 7'd64;
    always_ff @(posedge clk_i) waited_q <= !rst_ni || !waits ? '0 : waited_q + 3'(waited_q != '1);
    `RULE(one_ends_while_another_waits, 1, !waits || waited_q < 3'd3 || checked_valid_o || $past(checked_valid_o))

    // What counts of the outputs.
    logic [LogSlots+187:0] seen;
    assign seen = {quiet_o, checked_valid_o, checked_valid_o ? {checked_slot_o, checked_o} : '0, read_valid_o,
        read_valid_o[0] ? {read_id_o[0], read_address_o[0]} : '0, read_valid_o[1] ? {read_id_o[1], read_address_o[1]} : '0};

    // ---- What induction needs.
    for (genvar n = 0; n < Slots; n++) begin : g_slots
        `RULE(running_is_known, 1, i_block.running_q[n] == runs[n])
    end
    `RULE(check_is_kept, 1, !running || i_block.checks_q[slot] == check_q)
    for (genvar port = 0; port < 2; port++) begin : g_of
        logic pending, asking, waiting, all_come;
        assign pending  = i_block.g_ports[port].remainder_valid_q && i_block.g_ports[port].remainder_slot_q == slot;
        assign asking   = i_block.g_ports[port].asking_q && i_block.g_ports[port].asker_q == slot;
        assign waiting  = i_block.g_ports[port].waiting_q[slot];
        assign all_come = come_q[port] == 7'd64;
        `RULE(counts_are_bounded, 1, !running || come_q[port] <= asked_q[port] && asked_q[port] <= 7'd64)
        `RULE(lines_are_counted, 1, !running || i_block.g_ports[port].come_q[slot] == come_q[port])
        `RULE(asking_is_known, 1, running ? !(asking && waiting) && (waiting ? asked_q[port] == 0
            : asking ? asked_q[port] == 7'(i_block.g_ports[port].asked_q) : asked_q[port] == 7'd64) : !asking && !waiting)
        `RULE(address_is_next, 1, !(running && asking)
            || i_block.g_ports[port].address_q == check_q.address + (58'(asked_q[port]) << 1) + 58'(port))
        `RULE(pending_is_of_a_line, 1, !pending || runs[slot] && come_q[port] != 0
            && i_block.g_ports[port].remainder_last_q == all_come)
        `RULE(remainder_is_kept, 1, !(running && come_q[port] != 0) || (pending ? i_block.g_ports[port].next_state
            : i_block.remainders_q[port][slot]) == remainders_q[port])
        `RULE(completion_is_known, 1, (i_block.complete_q[port][slot] || i_block.ended_q && i_block.ended_slot_q == slot)
            == (runs[slot] && all_come && !pending))
        `RULE(error_is_kept, 1, !running || i_block.broken_q[port][slot] == broken_q[port])
    end
    `RULE(check_ends_once, 1, !(i_block.ended_q && i_block.ended_slot_q == slot)
        || !i_block.complete_q[0][slot] && !i_block.complete_q[1][slot])
    `RULE(nothing_is_pending_of_what_waits, 1, !waits || waited_q == 0
        || !g_of[0].pending && !g_of[1].pending)
    `RULE(one_has_ended, 1, !waits || waited_q < 3'd2 || i_block.ended_q || checked_valid_o)
    `RULE(header_is_kept, 1, !(running && come_q[0] != 0) || i_block.no_page_q[slot] == no_page_q
        && i_block.expected_q[slot] == expected_q && i_block.tables_q[slot] == table_q && i_block.lines_q[slot] == lines_q
        && (i_block.other_page_q[slot] || i_block.misplaced_q[slot] || i_block.other_kind_q[slot]) == stranger_q)
    `RULE(what_was_found_is_of_the_slot, 1, !ends || i_block.found_broken_q == (broken_q != 0)
        && i_block.found_no_page_q == no_page_q && i_block.found_stranger_q == stranger_q
        && i_block.found_remainder_q == ~(remainders_q[0] ^ remainders_q[1]) && i_block.found_expected_q == expected_q
        && i_block.found_table_q == table_q && i_block.found_lines_q == lines_q
        && come_q[0] == 7'd64 && come_q[1] == 7'd64)

    if (!Played) begin : g_covers
        `REACHED(lines_of_two_slots_come, runs == '1 && come_q[0] == 7'd2 && come_q[1] == 7'd1
            && i_block.g_ports[0].come_q[~slot] != 0)
        `REACHED(line_is_broken, broken_q[1] && running)
        `REACHED(page_is_no_page, running && come_q[0] == 7'd1 && no_page_q)
        `REACHED(all_slots_run, runs == '1)
    end else begin : g_play
        // A whole page takes more clocks than a solver goes. So what happens when is given: one check starts, whose lines are taken and
        // come in each clock. What is in them is open.
        logic [6:0] clock_q = 7'd0;
        always_ff @(posedge clk_i) clock_q <= clock_q + 7'(clock_q != '1);
        no_reset_comes: assume property (@(posedge clk_i) rst_ni == (clock_q != 0));
        `RULE(one_check_starts, 0, start_i == (clock_q == 7'd1) && start_slot_i == '0 && slot == '0)
        `RULE(lines_come_in_each_clock, 0, read_ready_i == '1 && line_id_i == {2{FirstId}}
            && line_valid_i == {2{clock_q >= 7'd4 && clock_q < 7'd68}})
        `REACHED(page_is_found, ends && checked_o.code == Found)
        `REACHED(page_is_a_stranger, ends && checked_o.code == Stranger)
        `REACHED(page_is_no_page, ends && checked_o.code == Checksum && no_page_q)
        `REACHED(checksum_is_wrong, ends && checked_o.code == Checksum && !no_page_q)
        `REACHED(page_has_a_broken_line, ends && checked_o.code == Bus)
    end
endmodule
