// SPDX-License-Identifier: MIT OR Apache-2.0
// delta_page_table: a search, any, among entries that stay as they are until its result comes. What it finds is an entry that
// is valid and has the page that was looked for, with its image; and an entry, any, that has this page is found, where those
// before it have lower pages and those behind it higher ones.
`include "../rules/rule.svh"
module delta_page_table_formal #(
    parameter int unsigned LogEntries = 3,
    localparam int unsigned Entries = 2**LogEntries
) (
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic                  write_i,
    input logic [LogEntries-1:0] write_position_i,
    input logic [63:0]           write_page_i,
    input logic [31:0]           write_image_i,
    input logic [LogEntries:0]   count_i,
    input logic [55:0]           page_i
);
    typedef logic [LogEntries-1:0] position_t;

    logic        found_o;
    position_t   position_o;
    logic [31:0] image_o;

    power_up i_power_up (.*);
    delta_page_table #(.LogEntries(LogEntries)) i_block (.*);

    // The entries that were written, and whether these and their count are as they were a clock ago.
    logic [63:0]         keys_q[Entries];
    logic [31:0]         images_q[Entries];
    logic [Entries-1:0]  written_q;
    logic [LogEntries:0] count_q;
    logic                wrote_q, stays;
    assign stays = !wrote_q && count_i == count_q;
    always_ff @(posedge clk_i) begin
        wrote_q <= write_i;
        count_q <= count_i;
        if (write_i) begin
            keys_q[write_position_i]    <= write_page_i;
            images_q[write_position_i]  <= write_image_i;
            written_q[write_position_i] <= 1'b1;
        end
        if (!rst_ni) written_q <= '0;
    end

    // An entry with its page, which are any, and whether all that count are there, and in their order beside it. How each stands
    // to that page is looked at when it is written.
    position_t          entry;
    logic [63:0]        key;
    logic [Entries-1:0] is_there, is_in_order, fits_q;
    logic               are_there, are_in_order;
    arbitrary #(.Width(LogEntries)) i_entry (.clk_i, .value_o(entry));
    arbitrary #(.Width(64)) i_key (.clk_i, .value_o(key));
    for (genvar p = 0; p < Entries; p++) begin : g_positions
        always_ff @(posedge clk_i) if (write_i && 32'(write_position_i) == p) begin
            fits_q[p] <= p < 32'(entry) ? write_page_i < key : p > 32'(entry) ? write_page_i > key : write_page_i == key;
        end
        assign is_there[p]    = p >= 32'(count_i) || written_q[p];
        assign is_in_order[p] = p >= 32'(count_i) || fits_q[p];
        `RULE(order_is_known, 1, !written_q[p] || fits_q[p] == (p < 32'(entry) ? keys_q[p] < key
            : p > 32'(entry) ? keys_q[p] > key : keys_q[p] == key))
    end
    assign are_there    = is_there == '1 && 32'(count_i) <= Entries;
    assign are_in_order = is_in_order == '1;

    // Searches: of that in stage n, the page, and whether the entries have stayed since it began.
    logic [LogEntries+1:0] live, live_q, has_entry, has_entry_q;   // and whether it is the entry's
    logic [55:0]           pages[LogEntries+2], pages_q[LogEntries+2];
    for (genvar n = 0; n <= LogEntries + 1; n++) begin : g_searches
        if (n == 0) begin : g_begins
            assign live[0]      = are_there;
            assign has_entry[0] = are_there && are_in_order && 32'(entry) < 32'(count_i) && key == {8'd0, page_i};
            assign pages[0]     = page_i;
        end else begin : g_goes_on
            assign live[n]      = live_q[n] && stays;
            assign has_entry[n] = has_entry_q[n] && stays;
            assign pages[n]     = pages_q[n];
            always_ff @(posedge clk_i) begin
                live_q[n]      <= rst_ni && live[n-1];
                has_entry_q[n] <= rst_ni && has_entry[n-1];
                pages_q[n]     <= pages[n-1];
            end
        end
    end
    // The result comes a clock behind the image's look-up, in which nothing is looked up any more.
    localparam int unsigned Last = LogEntries + 1;
    logic [LogEntries:0] result_count_q;
    logic                result_live_q, result_has_entry_q;
    logic [63:0]         result_key_q;
    logic [31:0]         result_image_q;
    position_t           looked_up;
    assign looked_up = i_block.positions[LogEntries];
    always_ff @(posedge clk_i) begin
        result_live_q      <= rst_ni && live[LogEntries];
        result_has_entry_q <= rst_ni && has_entry[LogEntries];
        result_count_q     <= count_i;
        result_key_q       <= keys_q[looked_up];
        result_image_q     <= images_q[looked_up];
    end
    `RULE(entry_is_found, 1, !result_has_entry_q || found_o && position_o == entry)
    `RULE(what_is_found_is_the_page, 1, !(result_live_q && found_o)
        || 32'(position_o) < 32'(result_count_q) && result_key_q == {8'd0, pages_q[Last]})
    `RULE(image_is_of_its_entry, 1, !(result_live_q && found_o) || image_o == result_image_q)
    `RULE(result_is_of_that_position, 1, !result_live_q || position_o == $past(looked_up))

    // What counts of the outputs.
    logic [LogEntries+32:0] seen;
    assign seen = {found_o, found_o ? {position_o, image_o} : '0};

    // ---- What induction needs: memory has what was written, and each step halves the places where the entry may be.
    `RULE(first_entry_is_there, 1, !written_q[0] || i_block.first_page_q == keys_q[0])
    for (genvar n = 0; n < LogEntries; n++) begin : g_memory
        for (genvar w = 0; w < 2**n; w++) begin : g_word
            localparam int unsigned Place = (2 * w + 1) << (LogEntries - 1 - n);
            `RULE(key_is_there, 1, !written_q[Place] || i_block.g_steps[n].i_keys.words[w] == keys_q[Place])
        end
    end
    for (genvar p = 0; p < Entries; p++) begin : g_images
        `RULE(image_is_there, 1, !written_q[p] || i_block.i_images.words[p] == images_q[p])
    end
    for (genvar n = 0; n <= LogEntries; n++) begin : g_steps
        position_t position;
        assign position = i_block.positions[n];
        if (n < LogEntries) begin : g_page
            `RULE(page_goes_with_its_search, 1, !live[n] || i_block.pages[n] == pages[n])
            `RULE(step_goes_to_the_side_of_the_entry, 1, !has_entry[n]
                || i_block.g_steps[n].beyond == (i_block.g_steps[n].probe > entry))
            `RULE(step_begins_at_its_places, 1, !live[n] || position[LogEntries-1-n:0] == '0)
        end
        `RULE(entries_stay, 1, (!live[n] || are_there) && (!has_entry[n] || live[n] && are_in_order
            && 32'(entry) < 32'(count_i) && key == {8'd0, pages[n]}))
        `RULE(position_is_of_an_entry, 1, !live[n] || position == '0 || 32'(position) < 32'(count_i))
        `RULE(match_is_known, 1, !live[n]
            || i_block.equals[n] == (count_i != 0 && keys_q[position] == {8'd0, pages[n]}))
        `RULE(entry_is_among_those_that_are_left, 1, !has_entry[n]
            || position <= entry && 32'(entry) < 32'(position) + 2**(LogEntries - n))
    end

    `REACHED(last_entry_is_found, result_has_entry_q && entry == '1)
    `REACHED(first_entry_is_found, result_has_entry_q && entry == '0 && result_count_q == (LogEntries+1)'(Entries))
    `REACHED(page_is_not_found, result_live_q && !found_o && result_count_q == (LogEntries+1)'(Entries))
    `REACHED(nothing_is_found_in_an_empty_table, result_live_q && !found_o && result_count_q == 0)
    `REACHED(two_searches_follow_each_other, result_has_entry_q && $past(result_live_q && found_o)
        && position_o != $past(position_o))
endmodule
