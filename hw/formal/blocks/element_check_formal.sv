// SPDX-License-Identifier: MIT OR Apache-2.0
// element_check: each element leaves once, by the one output and with the response that its length and the windows say, in
// order and as it came. One bit of it, which is any, stands for all.
`include "../rules/rule.svh"
module element_check_formal
    import vector_pkg::*;
#(
    parameter bit Writes = 0
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic [63:12] host_first_i,
    input logic [63:12] host_last_i,
    input logic [63:12] nic_first_i,
    input logic [63:12] nic_last_i,
    input logic         take_i,
    input logic         valid_i,
    input logic [2:0]   queue_i,
    input element_t     element_i,
    input logic         copy_ready_i,
    input logic         refused_ready_i
);
    localparam logic [4:0] Most = 5'd16;     // elements, from `take_i` on

    logic  ready_o, copy_valid_o, refused_valid_o;
    copy_t copy_o;
    done_t refused_o;

    power_up i_power_up (.*);
    element_check #(.Writes(Writes)) i_block (.*);
    axi4_stream_rules #(.Width($bits(copy_t))) i_copies (
        .clk_i, .rst_ni, .tvalid(copy_valid_o), .tready(copy_ready_i), .payload(copy_o));
    axi4_stream_rules #(.Width($bits(done_t))) i_ends (
        .clk_i, .rst_ni, .tvalid(refused_valid_o), .tready(refused_ready_i), .payload(refused_o));
    // The block asserts the rest of what is asked of the user.
    `RULE(element_comes_only_when_it_was_taken, 0, !valid_i || $past(rst_ni && take_i))

    // What counts of the outputs.
    logic [$bits(copy_t)+$bits(done_t)+2:0] seen;
    assign seen = {ready_o, copy_valid_o, copy_valid_o ? copy_o : '0, refused_valid_o, refused_valid_o ? refused_o : '0};

    // ---- What is to become of the element that comes. Addresses and pages have a bit more than in the block, so that
    // nothing wraps: no window has a byte behind the last address.
    function automatic logic has(input logic [63:12] first, input logic [63:12] last, input logic [64:0] address);
        has = address[64:12] >= {1'b0, first} && address[64:12] <= {1'b0, last};
    endfunction
    function automatic logic is_in_both(input logic [15:0] number);    // the byte of the element with that number
        is_in_both = has(host_first_i, host_last_i, {1'b0, element_i.host_address} + 65'(number))
            && has(nic_first_i, nic_last_i, {1'b0, element_i.nic_address} + 65'(number));
    endfunction
    logic  has_length, refuse;
    copy_t copy;
    done_t refusal;
    assign has_length = element_i.bytes >= 16'd1 && element_i.bytes <= 16'd4096;
    assign refuse     = !(has_length && is_in_both(16'd0) && is_in_both(element_i.bytes - 16'd1));
    assign copy       = {Writes ? {element_i.host_address, element_i.nic_address}
        : {element_i.nic_address, element_i.host_address}, element_i.bytes[12:0], queue_i, element_i.token};
    assign refusal    = {has_length ? 2'd3 : 2'd2, queue_i, element_i.token};
    // A window without a gap has all bytes if it has the first and the last.
    logic [15:0] number;
    arbitrary #(.Width(16)) i_number (.clk_i, .value_o(number));
    // So `refuse` above means what the contract says; it reads nothing of the block.
    `RULE(each_byte_of_a_copy_is_in_its_window, 1, !(valid_i && !refuse && number < element_i.bytes) || is_in_both(number))

    // ---- The words of both outputs, of which one bit is followed.
    logic [7:0] place;
    logic [4:0] refusal_place;
    arbitrary #(.Width(8)) i_place (.clk_i, .value_o(place));
    place_is_in_a_word: assume property (@(posedge clk_i) 32'(place) < $bits(copy_t));
    assign refusal_place = 32'(place[4:0]) < $bits(done_t) ? place[4:0] : '0;
    logic [1:0]      comes, leaves, bit_comes, bit_leaves;    // 1: of those refused
    logic [1:0][4:0] held;
    assign comes      = {valid_i && refuse, valid_i && !refuse};
    assign leaves     = {refused_valid_o && refused_ready_i, copy_valid_o && copy_ready_i};
    assign bit_comes  = {refusal[refusal_place], copy[place]};
    assign bit_leaves = {refused_o[refusal_place], copy_o[place]};

    // What came a clock ago is judged, and visible in the next.
    logic [1:0] came_q, bit_q;
    always_ff @(posedge clk_i) begin
        came_q <= rst_ni ? comes : '0;
        bit_q  <= bit_comes;
    end
    logic [4:0] taken_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) taken_q <= '0;
        else taken_q <= taken_q + 5'(take_i) - 5'(leaves[0]) - 5'(leaves[1]);
    end
    `RULE(an_element_is_taken_where_a_place_is_left, 1, ready_o == (taken_q < Most))
    `RULE(elements_are_counted, 1, 7'(taken_q) == 7'(valid_i) + 7'(held[0]) + 7'(held[1]) && taken_q <= Most
        && i_block.places_q == taken_q)
    `RULE(element_is_judged_in_the_clock_after, 1, i_block.i_copies.push_i == came_q[0]
        && i_block.i_refused.push_i == came_q[1]
        && (!came_q[0] || i_block.copy[place] == bit_q[0])
        && (!came_q[1] || i_block.end_of_it[refusal_place] == bit_q[1]))
    `RULE(copy_waits_for_those_before_it_alone, 1, copy_valid_o == (held[0] != 5'(came_q[0])))
    `RULE(refusal_waits_for_those_before_it_alone, 1, refused_valid_o == (held[1] != 5'(came_q[1])))

    // ---- Where they are. The queues keep the word that is followed here, and the upper bit of each.
    logic [1:0]      marked, followed, kept;
    logic [1:0][4:0] count, at;
    assign marked   = {i_block.i_refused.mark, i_block.i_copies.mark};
    assign followed = {i_block.i_refused.followed_q, i_block.i_copies.followed_q};
    assign count    = {i_block.i_refused.count, i_block.i_copies.count};
    assign at       = {i_block.i_refused.at_q - i_block.i_refused.popped_q, i_block.i_copies.at_q - i_block.i_copies.popped_q};
    assign kept     = {
        refusal_place == 5'd20 ? i_block.i_refused.lasts_q[at[1][3:0]] : i_block.i_refused.word_q[refusal_place],
        place == 8'd159 ? i_block.i_copies.lasts_q[at[0][3:0]] : i_block.i_copies.word_q[place]};
    for (genvar n = 0; n < 2; n++) begin : g_ways
        ordered_words #(.Width(1), .Most(16)) i_words (
            .clk_i, .rst_ni, .push_i(comes[n]), .pushed_i(bit_comes[n]), .pop_i(leaves[n]), .popped_i(bit_leaves[n]),
            .inside_o(held[n]));
        logic begun_q;      // the element that came a clock ago is followed
        always_ff @(posedge clk_i) begun_q <= rst_ni && i_words.begins;
        `RULE(queue_follows_the_same_element, 0, marked[n] == begun_q)
        `RULE(words_are_in_their_queue, 1, held[n] == count[n] + 5'(came_q[n]) && count[n] <= Most)
        `RULE(followed_word_is_in_one_place, 1, i_words.followed_q == (begun_q || followed[n]) && !(begun_q && followed[n]))
        `RULE(followed_word_is_judged, 1, !begun_q || came_q[n] && i_words.ahead_q == count[n] && bit_q[n] == i_words.word_q)
        `RULE(followed_word_is_in_its_place, 1, !followed[n]
            || i_words.ahead_q == at[n] && at[n] < count[n] && kept[n] == i_words.word_q)
    end
    // The block asserts it of the copies that leave.
    `RULE(copy_that_is_judged_has_a_length, 1, !came_q[0] || i_block.copy.bytes >= 13'd1 && i_block.copy.bytes <= 13'd4096)

    // ---- What happens in some run.
    logic first_out, last_out, is_of_nic;
    assign is_of_nic = has(nic_first_i, nic_last_i, {1'b0, element_i.nic_address})
        && has(nic_first_i, nic_last_i, {1'b0, element_i.nic_address} + 65'(element_i.bytes) - 65'd1);
    assign first_out = !has(host_first_i, host_last_i, {1'b0, element_i.host_address});
    assign last_out  = !has(host_first_i, host_last_i, {1'b0, element_i.host_address} + 65'(element_i.bytes) - 65'd1);
    `REACHED(longest_copy_leaves, leaves[0] && copy_o.bytes == 13'd4096 && copy_o.source[11:0] == 12'd1)
    `REACHED(copy_of_the_last_byte_of_all, comes[0] && element_i.host_address == '1 && element_i.nic_address == '1)
    `REACHED(element_without_bytes_leaves, leaves[1] && refused_o.response == 2'd2)
    `REACHED(element_begins_before_the_window, comes[1] && has_length && is_of_nic && first_out && !last_out)
    `REACHED(element_ends_behind_the_window, comes[1] && has_length && is_of_nic && !first_out && last_out)
    `REACHED(element_wraps_in_a_window_of_all, comes[1] && has_length && is_of_nic && host_first_i == 0 && host_last_i == '1)
    `REACHED(window_is_empty, comes[1] && has_length && is_of_nic && host_first_i == host_last_i + 52'd1)
    `REACHED(both_leave_at_once, leaves == '1)
    `REACHED(copy_waits_while_a_later_end_leaves, leaves[1] && $past(rst_ni && comes[1], 2) && $past(held[0], 2) == 5'd1
        && held[0] == 5'd1 && !$past(leaves[0], 2) && !$past(leaves[0]))
endmodule
