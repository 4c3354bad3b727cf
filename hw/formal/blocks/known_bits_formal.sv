// SPDX-License-Identifier: MIT OR Apache-2.0
// known_bits: an entry, which is any, is known if it was learned and not forgotten since.
`include "../rules/rule.svh"
module known_bits_formal #(
    parameter int unsigned Entries = 66560,
    localparam int unsigned LogEntries = $clog2(Entries)
) (
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic                  forget_i,
    input logic [LogEntries-7:0] forget_from_i,
    input logic [LogEntries-1:0] look_i,
    input logic                  learn_i,
    input logic [LogEntries-1:0] learned_i
);
    logic busy_o, known_o;

    power_up i_power_up (.*);
    known_bits #(.Entries(Entries)) i_block (.*);

    // What counts of the outputs.
    logic       looks_q;
    logic [1:0] seen;
    always_ff @(posedge clk_i) looks_q <= rst_ni && !(i_block.busy_q && look_i[LogEntries-1:6] >= i_block.sweep_q);
    assign seen = {busy_o, looks_q && known_o};

    localparam int unsigned LastWord = Entries / 64 - 1;
    `RULE(entries_exist, 0, learned_i < Entries && look_i < Entries && forget_from_i <= LastWord)

    logic [LogEntries-1:0] entry;
    logic [LogEntries-7:0] of;
    arbitrary #(.Width(LogEntries)) i_entry (.clk_i, .value_o(entry));
    assign of = entry[LogEntries-1:6];
    `RULE(entry_exists, 0, entry < Entries)

    // Whether it is in the set, and whether it is one of those that are being forgotten.
    logic inside_q, fading;
    assign fading = i_block.busy_q && of >= i_block.sweep_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || forget_i && of >= forget_from_i) inside_q <= 1'b0;
        else if (learn_i && learned_i == entry) inside_q <= 1'b1;
    end
    `RULE(known_is_what_was_learned, 1,
        !$past(rst_ni && look_i == entry && !fading) || known_o == $past(inside_q))
    `RULE(forgetting_is_told, 1, !$past(rst_ni && forget_i) || busy_o)

    // Invariants: what the memories have of the entry, and what is on its way to them.
    logic coming, looked, learned;
    assign coming  = i_block.learned_q && i_block.entry_q == entry;
    assign looked  = i_block.to_look_q[of][entry[5:0]];
    assign learned = i_block.to_learn_q[of][entry[5:0]];
    `RULE(both_memories_agree, 1, fading || looked == learned)
    `RULE(memory_has_what_was_learned, 1, fading || inside_q == (learned || coming))
    `RULE(last_word_was_written, 1, !i_block.written_q || i_block.last_word_q != of
        || i_block.last_q[entry[5:0]] == learned)
    `RULE(old_word_is_in_memory, 1, !i_block.learned_q || i_block.entry_q[LogEntries-1:6] != of
        || i_block.written_q && i_block.last_word_q == of || i_block.old_q[entry[5:0]] == learned)
    `RULE(nothing_comes_late, 1, !i_block.learned_q || !$past(i_block.busy_q) || !$past(rst_ni))
    `RULE(what_fades_is_not_inside, 1, !fading || !inside_q)
    `RULE(sweep_is_in_the_memory, 1, !i_block.busy_q || i_block.sweep_q <= LastWord)

    // A word a clock is forgotten, and what is on its way then takes one more.
    logic [LogEntries-6:0] busy_for_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || forget_i || !busy_o) busy_for_q <= '0;
        else busy_for_q <= busy_for_q + 1'b1;
    end
    `RULE(forgetting_ends, 1, !busy_o || 32'(busy_for_q) <= LastWord + 1)
    `RULE(forgetting_goes_on, 1, !busy_o || 32'(i_block.sweep_q) + 32'd1 >= 32'(busy_for_q))
    `REACHED(entry_is_known, known_o && $past(look_i == entry && inside_q && rst_ni))
    `REACHED(neighbour_is_learned_after_it, coming && i_block.written_q
        && i_block.last_word_q == of && inside_q)
endmodule
