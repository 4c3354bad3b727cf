// SPDX-License-Identifier: MIT OR Apache-2.0
// landing_memory: the rules of AXI4 as a subordinate for writes; each burst is answered once, in order, with its id; a line
// and a word, which are any, are read as they were written last.
`include "../rules/rule.svh"
module landing_memory_formal
    import lookup_pkg::*;
#(
    parameter int unsigned LogContexts  = 1,
    parameter int unsigned LandingLines = 1,
    localparam int unsigned AddressBits = 9 + $clog2(LandingLines)
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   s_axi_awvalid,
    input logic [7:0]             s_axi_awid,
    input logic [63:0]            s_axi_awaddr,
    input logic [7:0]             awlen,            // which the block does not need
    input logic                   s_axi_wvalid,
    input logic [511:0]           s_axi_wdata,
    input logic [63:0]            s_axi_wstrb,
    input logic                   s_axi_wlast,
    input logic                   s_axi_bready,
    input logic [AddressBits-1:0] line_address_i,
    input context_t               word_number_i
);
    localparam int unsigned Most = 16;              // bursts under way

    logic         s_axi_awready, s_axi_wready, s_axi_bvalid, landed_o;
    logic [7:0]   s_axi_bid;
    logic [511:0] line_o;
    logic [63:0]  word_o, landed_word_o;
    context_t     landed_number_o;

    power_up i_power_up (.*);
    landing_memory #(.LogContexts(LogContexts), .LandingLines(LandingLines)) i_block (.*);

    // What counts of the outputs.
    logic [659:0] seen;
    assign seen = {s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_bvalid ? s_axi_bid : '0, line_o, word_o,
        landed_o, landed_o ? {landed_number_o, landed_word_o} : '0};

    // ------------------------------------------------------------------ the rules of AXI4, without those of reads
    logic takes_aw, takes_w, takes_b;
    assign takes_aw = s_axi_awvalid && s_axi_awready;
    assign takes_w  = s_axi_wvalid && s_axi_wready;
    assign takes_b  = s_axi_bvalid && s_axi_bready;
    `RULE(awvalid_is_low_after_reset, 0, $past(rst_ni) || !s_axi_awvalid)
    `RULE(wvalid_is_low_after_reset, 0, $past(rst_ni) || !s_axi_wvalid)
    `RULE(bvalid_is_low_after_reset, 1, $past(rst_ni) || !s_axi_bvalid)
    `RULE(write_address_holds, 0, !$past(rst_ni && s_axi_awvalid && !s_axi_awready)
        || s_axi_awvalid && $stable({s_axi_awid, s_axi_awaddr, awlen}))
    `RULE(write_data_hold, 0, !$past(rst_ni && s_axi_wvalid && !s_axi_wready)
        || s_axi_wvalid && $stable({s_axi_wdata, s_axi_wstrb, s_axi_wlast}))
    `RULE(write_response_holds, 1, !$past(rst_ni && s_axi_bvalid && !s_axi_bready) || s_axi_bvalid && $stable(s_axi_bid))
    axi4_burst_rules #(.Proven(0)) i_burst (
        .clk_i, .rst_ni, .valid(s_axi_awvalid), .address(s_axi_awaddr), .length(awlen), .size(3'd6), .burst(2'b01),
        .lock(1'b0), .compare(1'b0));
    // Answers come in the order of all bursts, and so of those of an id, as is shown below; so they are counted together.
    logic [5:0] writes_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) writes_q <= '0;
        else writes_q <= writes_q + 6'(takes_aw) - 6'(takes_b);
    end
    `RULE(write_response_follows_its_address, 1, !s_axi_bvalid || writes_q != 0)
    axi4_followed_write #(.Manager(0), .Limits(1), .Most(Most + 1)) i_write (
        .clk_i, .rst_ni, .awvalid(s_axi_awvalid), .awready(s_axi_awready), .of_id(1'b1),
        .address(s_axi_awaddr[11:0]), .length(awlen), .size(3'd6), .burst(2'b01), .wvalid(s_axi_wvalid),
        .wready(s_axi_wready), .wstrb(s_axi_wstrb), .wlast(s_axi_wlast),
        .under_way(writes_q), .response(s_axi_bvalid), .taken(s_axi_bready));

    // ------------------------------------------------------------------ bursts in their order
    typedef struct packed {
        logic [7:0]             id;
        logic                   is_word;
        logic [AddressBits-1:0] first;
    } burst_t;
    typedef logic [4:0] number_t;
    burst_t bursts_q[16];
    burst_t its;
    logic [3:0] slot;
    number_t begun_q, ended_q, answered_q;
    logic [5:0] beat_q;
    assign its  = bursts_q[ended_q[3:0]];
    assign slot = i_block.i_bursts.i_words.g_one.address;
    always_ff @(posedge clk_i) begin
        if (takes_aw) bursts_q[begun_q[3:0]] <= '{s_axi_awid, s_axi_awaddr[40], s_axi_awaddr[6 +: AddressBits]};
        if (!rst_ni) begin
            begun_q    <= '0;
            ended_q    <= '0;
            answered_q <= '0;
            beat_q     <= '0;
        end else begin
            begun_q    <= begun_q + 5'(takes_aw);
            ended_q    <= ended_q + 5'(takes_w && s_axi_wlast);
            answered_q <= answered_q + 5'(takes_b);
            if (takes_w) beat_q <= s_axi_wlast ? '0 : beat_q + 1'b1;
        end
    end
    `RULE(burst_is_taken_where_there_is_room, 1, s_axi_awready == (5'(begun_q - answered_q) < 5'(Most)))
    `RULE(data_wait_for_their_address_alone, 1, s_axi_wready == (begun_q != ended_q))
    `RULE(answer_comes_two_clocks_after_the_data, 1,
        s_axi_bvalid == ($past(rst_ni) && $past(ended_q) != answered_q))
    `RULE(answers_come_in_order, 1, !s_axi_bvalid || answered_q[3:0] != slot || s_axi_bid == bursts_q[slot].id)
    `RULE(burst_is_kept_as_it_came, 1, begun_q == ended_q || ended_q[3:0] != slot
        || {i_block.id, i_block.is_word, i_block.first} == bursts_q[slot])
    // What is proven of one place of the queues, which is any, holds of the others.
    `RULE(queues_follow_one_place, 0, i_block.i_answers.i_words.g_one.address == slot)
    `RULE(answers_of_others_come_in_order, 0, !s_axi_bvalid || answered_q[3:0] == slot
        || s_axi_bid == bursts_q[answered_q[3:0]].id)
    `RULE(others_are_kept_as_they_came, 0, begun_q == ended_q || ended_q[3:0] == slot
        || {i_block.id, i_block.is_word, i_block.first} == its)
    `RULE(no_more_bursts_than_places, 1, 5'(begun_q - answered_q) <= 5'(Most)
        && 5'(ended_q - answered_q) <= 5'(begun_q - answered_q))

    // What the rules say of the write that they follow: none has more beats than 4 KiB have lines.
    `RULE(bursts_have_64_beats_at_most, 0, !s_axi_wvalid || beat_q != '1 || s_axi_wlast)

    // ------------------------------------------------------------------ a bit of a line, and one of a word, which are any
    logic [AddressBits-1:0] place;
    logic [8:0]             bit_number;
    context_t               number;
    arbitrary #(.Width(AddressBits + 9)) i_place (.clk_i, .value_o({place, bit_number}));
    assign number = i_block.i_words.g_one.address;
    // What came a clock ago; what is kept; what was to be read a clock ago, and before.
    logic came_q, came_word_q, to_place_q, to_word_q, bit_q, strobe_q, word_bit_q;
    logic known_q, kept_q, word_known_q, word_kept_q, known_1_q, known_2_q, kept_1_q, kept_2_q;
    always_ff @(posedge clk_i) begin
        came_q      <= rst_ni && takes_w && !its.is_word;
        came_word_q <= rst_ni && takes_w && its.is_word;
        to_place_q  <= AddressBits'(its.first + AddressBits'(beat_q)) == place;
        to_word_q   <= its.first[7:0] == number;
        bit_q       <= s_axi_wdata[bit_number];
        word_bit_q  <= s_axi_wdata[bit_number[5:0]];
        strobe_q    <= s_axi_wstrb[bit_number[8:3]];
        if (came_q && to_place_q && strobe_q) kept_q <= bit_q;
        if (came_word_q && to_word_q) word_kept_q <= word_bit_q;
        kept_1_q <= kept_q;
        kept_2_q <= kept_1_q;
        if (!rst_ni) begin
            known_q      <= 1'b0;
            word_known_q <= 1'b0;
            known_1_q    <= 1'b0;
            known_2_q    <= 1'b0;
        end else begin
            if (came_q && to_place_q && strobe_q) known_q <= 1'b1;
            if (came_word_q && to_word_q) word_known_q <= 1'b1;
            known_1_q <= known_q && line_address_i == place;
            known_2_q <= known_1_q;
        end
    end
    `RULE(line_is_read_as_it_was_written, 1, !known_2_q || line_o[bit_number] == kept_2_q)
    `RULE(word_is_read_as_it_was_written, 1, !(word_known_q && word_number_i == number)
        || word_o[bit_number[5:0]] == word_kept_q)
    `RULE(landed_word_is_told, 1, landed_o == came_word_q && (!landed_o || (landed_number_o == number) == to_word_q
        && landed_word_o[bit_number[5:0]] == word_bit_q))

    // ------------------------------------------------------------------ what is inside, which induction needs to be told
    localparam int unsigned Depth     = (2**LogContexts + 2**LogSoftware) * 2 * 2**$clog2(LandingLines);
    localparam int unsigned PlaceBits = $clog2(Depth);
    function automatic logic is_among(number_t one, number_t from, number_t to);
        return 5'(one - from) < 5'(to - from);
    endfunction
    // The number that one of the 16 places has for the oldest burst or one after it.
    function automatic number_t number_of(logic [3:0] n, number_t oldest);
        return oldest + 5'(4'(n - oldest[3:0]));
    endfunction
    number_t told_q, first_told;
    assign told_q     = ended_q - 5'(i_block.last_q);
    `RULE(numbers_are_those_of_the_queues, 1, i_block.i_bursts.pushed_q == begun_q && i_block.i_bursts.popped_q == ended_q
        && i_block.i_answers.pushed_q == told_q && i_block.i_answers.popped_q == answered_q
        && i_block.bursts_q == 5'(begun_q - answered_q) && i_block.beat_q == beat_q)
    `RULE(last_beat_is_told, 1, i_block.last_q == (5'(ended_q - $past(ended_q)) == 1 && $past(rst_ni)))
    `RULE(end_is_of_a_burst, 1, !i_block.last_q || ended_q != answered_q
        && i_block.id_q == bursts_q[4'(ended_q[3:0] - 4'd1)].id)
    number_t    followed_q;
    always_ff @(posedge clk_i) if (i_write.its_address && s_axi_awready) followed_q <= begun_q;
    number_t followed;
    assign followed = number_of(slot, answered_q);
    `RULE(burst_is_in_its_queue, 1, !(is_among(followed, answered_q, begun_q) && !is_among(followed, answered_q, ended_q))
        || i_block.i_bursts.i_words.g_one.word_q == bursts_q[slot])
    `RULE(end_is_in_its_queue, 1, !is_among(followed, answered_q, told_q)
        || i_block.i_answers.i_words.g_one.word_q == bursts_q[slot].id)
    `RULE(bursts_are_counted, 1, writes_q == 6'(5'(begun_q - answered_q)))
    `RULE(followed_write_is_in_its_place, 1, !i_write.addressed_q
        || is_among(followed_q, answered_q, begun_q) && i_write.ours_q
        && i_write.ended_q == is_among(followed_q, answered_q, ended_q)
        && (i_write.ended_q || i_write.bursts_q == 7'(5'(followed_q - ended_q)))
        && i_write.ahead_q == 6'(5'(followed_q - answered_q)))
    `RULE(data_never_lead, 1, i_write.lead_q == 7'(5'(begun_q - ended_q)) && i_write.partial_q == (beat_q != 0)
        && (beat_q == 0 || begun_q != ended_q) && (i_write.addressed_q || !i_write.ended_q))
    `RULE(word_has_one_beat, 1, beat_q == 0 || !its.is_word)
    for (genvar n = 0; n < 4; n++) begin : g_pieces
        `RULE(bit_is_in_its_memory, 1, !known_q || 32'(bit_number[8:7]) != n
            || i_block.g_pieces[n].pieces[place[PlaceBits-1:0]][bit_number[6:0]] == kept_q)
    end
    `RULE(place_is_in_the_memory, 1, !known_q || 32'(place) < Depth)
    `RULE(word_is_in_its_memory, 1, !word_known_q || i_block.i_words.g_one.word_q[bit_number[5:0]] == word_kept_q)
    `RULE(bit_that_is_read_is_known, 1, !known_1_q || i_block.line[bit_number] == kept_1_q)
    `RULE(beat_that_came_is_known, 1, i_block.write_q == came_q && i_block.write_word_q == came_word_q
        && (!came_q || (i_block.address_q == place) == to_place_q && i_block.data_q[bit_number] == bit_q
            && i_block.pieces_q[bit_number[8:7]] == strobe_q)
        && (!came_word_q || (i_block.address_q[7:0] == number) == to_word_q
            && i_block.data_q[bit_number[5:0]] == word_bit_q))

    `REACHED(two_lines_of_a_burst_are_read, known_2_q && $past(rst_ni && takes_w && beat_q == 1, 4))
    `REACHED(line_is_written_again, came_q && to_place_q && strobe_q && known_q && kept_q != bit_q)
    `REACHED(word_is_read, word_known_q && word_number_i == number)
    `REACHED(all_places_are_taken, !s_axi_awready)
    `REACHED(answers_wait, 5'(ended_q - answered_q) == 5'd3)
endmodule
