// SPDX-License-Identifier: MIT OR Apache-2.0
// piece_landing: a line of an id, both of which are any, is read as it came; a piece is offered once, in the order in which they
// became complete, and that of the id with the worst response of its beats.
`include "../rules/rule.svh"
module piece_landing_formal
    import vector_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
    input logic         clear_i,
    input logic [7:0]   clear_id_i,
    input logic         m_axi_rvalid,
    input logic [7:0]   m_axi_rid,
    input logic [511:0] m_axi_rdata,
    input logic [1:0]   m_axi_rresp,
    input logic         m_axi_rlast,
    input logic         landed_ready_i,
    input logic [7:0]   read_id_i,
    input logic [2:0]   read_line_i
);
    localparam logic [1:0] ExOkay = 2'd1;

    logic         landed_valid_o;
    logic [7:0]   landed_id_o;
    logic [1:0]   landed_response_o;
    logic [511:0] line_o;

    power_up i_power_up (.*);
    piece_landing i_block (.*);

    // ---- What is followed: an id, a line of its pieces, and a bit of it. The memories follow it, too.
    logic [7:0] id;
    logic [2:0] line;
    logic [8:0] place;
    arbitrary #(.Width(20)) i_followed (.clk_i, .value_o({id, line, place}));
    there_are_five_lines: assume property (@(posedge clk_i) line <= 3'd4);
    memories_follow_the_id: assume property (@(posedge clk_i) i_block.i_progress.g_one.address == id
        && i_block.i_lines.address == {id, line[1:0]} && i_block.i_fifth_lines.address == id);

    // The beat that came a clock ago. EXOKAY is as good as OKAY, and 3 is the worst.
    typedef struct packed {
        logic [7:0] id;
        logic       is_last;
        logic [1:0] response;
        logic       data;           // the bit
    } beat_t;
    logic  came_q, its;
    beat_t beat_q;
    assign its = came_q && beat_q.id == id;
    always_ff @(posedge clk_i) begin
        came_q <= rst_ni && m_axi_rvalid;
        beat_q <= '{m_axi_rid, m_axi_rlast, m_axi_rresp == ExOkay ? 2'd0 : m_axi_rresp, m_axi_rdata[place]};
    end

    // The piece of the id that is coming: its beats so far, and the worst of their responses. And the line, and what is read.
    logic       cleared_q, begun_q, known_q, kept_q, asked_q, expected_q;
    logic [2:0] lines_q, lines;
    logic [1:0] worst_q, worst;
    assign lines = !its ? lines_q : beat_q.is_last ? 3'd0 : lines_q + 3'd1;
    assign worst = beat_q.response > worst_q ? beat_q.response : worst_q;
    always_ff @(posedge clk_i) begin
        expected_q <= kept_q;
        if (its && lines_q == line) kept_q <= beat_q.data;
        if (!rst_ni) begin
            {cleared_q, begun_q, known_q, asked_q} <= '0;
            lines_q <= '0;
            worst_q <= '0;
        end else begin
            lines_q <= lines;
            if (its) worst_q <= beat_q.is_last ? '0 : worst;
            if (clear_i && clear_id_i == id) cleared_q <= 1'b1;
            if (m_axi_rvalid) begun_q <= 1'b1;
            if (its && lines_q == line) known_q <= 1'b1;
            asked_q <= known_q && read_id_i == id && read_line_i == line;
        end
    end
    // What others keep to.
    `RULE(clearing_comes_before_all_beats, 0, !clear_i || !m_axi_rvalid && !begun_q)
    `RULE(id_is_cleared_before_its_first_beat, 0, !m_axi_rvalid || m_axi_rid != id || cleared_q)
    `RULE(piece_has_five_lines_at_most, 0, !m_axi_rvalid || m_axi_rid != id || m_axi_rlast || lines < 3'd4)

    `RULE(line_is_the_beat_that_came, 1, !asked_q || line_o[place] == expected_q)

    // ---- Pieces that are complete, in their order. One of the places in their queue, which is any, holds for all.
    typedef logic [8:0] number_t;
    number_t    complete_q, taken_q;
    logic [7:0] slot;
    logic       completes, in_front;
    logic [7:0] slot_id_q;
    logic [1:0] slot_worst_q;       // if it is of the id
    assign slot      = i_block.i_landed.i_words.g_one.address;
    assign completes = came_q && beat_q.is_last;
    assign in_front  = landed_valid_o && taken_q[7:0] == slot;
    always_ff @(posedge clk_i) begin
        if (completes && complete_q[7:0] == slot) begin
            slot_id_q    <= beat_q.id;
            slot_worst_q <= worst;
        end
        if (!rst_ni) begin
            complete_q <= '0;
            taken_q    <= '0;
        end else begin
            complete_q <= complete_q + 9'(completes);
            taken_q    <= taken_q + 9'(landed_valid_o && landed_ready_i);
        end
    end
    number_t waiting, slot_ahead;
    assign waiting    = complete_q - taken_q;
    assign slot_ahead = {1'b0, slot - taken_q[7:0]};
    // There are so many ids, and each has one piece at a time.
    `RULE(no_more_pieces_wait_than_ids, 0, !(m_axi_rvalid && m_axi_rlast) || waiting + 9'(completes) < 9'd256)

    `RULE(piece_is_offered_when_it_is_complete, 1, landed_valid_o == (waiting != 0))
    `RULE(pieces_are_offered_in_order, 1, !in_front || landed_id_o == slot_id_q)
    `RULE(response_is_the_worst, 1, !(in_front && slot_id_q == id) || landed_response_o == slot_worst_q)
    `RULE(offer_holds_until_taken, 1, !$past(rst_ni && in_front && !landed_ready_i)
        || in_front && $stable({landed_id_o, landed_response_o}))
    // What counts of the outputs.
    logic [522:0] seen;
    assign seen = {landed_valid_o, landed_valid_o ? {landed_id_o, landed_response_o} : '0, line_o};

    // ---- What is inside, which induction needs to be told.
    `RULE(beat_that_came_is_kept, 1, i_block.beat_valid_q == came_q && (!came_q || i_block.beat_id_q == beat_q.id
        && i_block.beat_last_q == beat_q.is_last && i_block.beat_q[place] == beat_q.data
        && (i_block.beat_response_q == ExOkay ? 2'd0 : i_block.beat_response_q) == beat_q.response
        && begun_q && beat_q.response != ExOkay))
    `RULE(piece_is_counted, 1, cleared_q ? i_block.i_progress.g_one.word_q == {lines_q, worst_q}
        : lines_q == 0 && worst_q == 0 && !its)
    `RULE(beat_is_the_next_line_of_its_piece, 1, !its || i_block.line == lines_q)
    `RULE(nothing_is_counted_before_the_first_beat, 1, begun_q || lines_q == 0 && worst_q == 0 && !came_q)
    `RULE(worst_is_no_exokay, 1, worst_q != ExOkay)
    `RULE(lines_are_at_most_five, 1, lines_q <= 3'd4 && (!its || beat_q.is_last || lines_q < 3'd4))
    `RULE(line_is_in_its_memory, 1, !known_q
        || (line[2] ? i_block.i_fifth_lines.word_q[place] : i_block.i_lines.word_q[place]) == kept_q)
    `RULE(numbers_are_those_of_the_queue, 1, i_block.i_landed.pushed_q == complete_q && i_block.i_landed.popped_q == taken_q
        && waiting + 9'(completes) <= 9'd256)
    `RULE(piece_is_in_the_queue, 1, slot_ahead >= waiting || i_block.i_landed.i_words.g_one.word_q[9:2] == slot_id_q
        && (slot_id_q != id || i_block.i_landed.i_words.g_one.word_q[1:0] == slot_worst_q))

    logic other_q;      // a beat of another id came between those of a piece
    always_ff @(posedge clk_i) begin
        if (its) other_q <= beat_q.is_last && other_q;
        else if (came_q && lines_q != 0) other_q <= 1'b1;
    end
    `REACHED(piece_of_five_lines_is_offered, in_front && $past(its && lines_q == 3'd4) && landed_id_o == id)
    `REACHED(worst_came_in_the_middle, in_front && landed_id_o == id && landed_response_o == 2'd3
        && $past(its && lines_q != 0 && beat_q.response == 2'd2))
    `REACHED(fifth_line_is_read, asked_q && line == 3'd4)
    `REACHED(line_is_read_while_another_comes_over_it, asked_q && kept_q != expected_q)
    `REACHED(pieces_come_in_turn, in_front && landed_id_o == id && other_q && lines_q == 0)
    `REACHED(three_pieces_wait, waiting == 9'd3)
    `REACHED(both_pieces_of_the_id_were_offered, in_front && landed_id_o == id && taken_q != 0 && known_q && lines_q == 3'd2)
endmodule
