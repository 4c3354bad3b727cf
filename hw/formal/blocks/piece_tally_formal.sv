// SPDX-License-Identifier: MIT OR Apache-2.0
// piece_tally: an element, which is any, ends with its last piece, and with the worst response of its pieces.
`include "../rules/rule.svh"
module piece_tally_formal
    import vector_pkg::*;
(
    input logic       clk_i,
    input logic       rst_ni,
    input logic       clear_i,
    input logic [7:0] clear_element_i,
    input logic       told_i,
    input logic [7:0] told_element_i,
    input logic       told_last_i,
    input logic [4:0] told_number_i,
    input logic       m_axi_bvalid,
    input logic [7:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    input logic       failed_valid_i,
    input logic [7:0] failed_id_i,
    input logic [1:0] failed_response_i,
    input logic [7:0] element_i
);
    logic       m_axi_bready, free_o, done_o;
    logic [7:0] piece_id_o, free_id_o, done_element_o;
    logic [1:0] done_response_o;

    power_up i_power_up (.*);
    piece_tally i_block (.*);

    // What counts of the outputs.
    logic [28:0] seen;
    assign seen = {m_axi_bready, free_o, free_o ? {free_id_o, piece_id_o} : '0, done_o,
        done_o ? {done_element_o, done_response_o} : '0};

    `RULE(response_is_taken_unless_a_piece_failed, 1, m_axi_bready == !failed_valid_i)
    `RULE(id_is_free_in_the_clock_after, 1, free_o == $past(rst_ni && (failed_valid_i || m_axi_bvalid)))
    `RULE(free_id_is_that_of_the_piece, 1, !free_o
        || free_id_o == $past(failed_valid_i ? failed_id_i : m_axi_bid) && piece_id_o == free_id_o)
    `RULE(failed_piece_has_an_error, 0, !failed_valid_i || failed_response_i[1])

    // One element: pieces asked for, and over, so far.
    logic [7:0] element;
    arbitrary #(.Width(8)) i_element (.clk_i, .value_o(element));
    logic       cleared_q, last_q, told, counted, ends;
    logic [4:0] asked_q, over_q;
    logic [1:0] worst_q, response_q, came_q, worst;
    assign told    = told_i && told_element_i == element;
    assign counted = i_block.counted_q && i_block.element_q == element;
    assign ends    = counted && last_q && over_q + 5'd1 == asked_q;
    // As numbers, in which 3 is the worst and 1, EXOKAY, is none.
    assign worst   = worst_q > response_q ? worst_q : response_q;
    always_ff @(posedge clk_i) begin
        came_q     <= failed_valid_i ? failed_response_i : m_axi_bresp == 2'd1 ? 2'd0 : m_axi_bresp;
        response_q <= came_q;
        if (!rst_ni) begin
            cleared_q <= 1'b0;
            last_q    <= 1'b0;
            asked_q   <= '0;
            over_q    <= '0;
            worst_q   <= '0;
        end else begin
            if (clear_i && clear_element_i == element) cleared_q <= 1'b1;
            if (told) begin
                asked_q <= told_number_i;
                last_q  <= told_last_i;
            end
            if (ends) begin
                asked_q <= '0;
                last_q  <= 1'b0;
                over_q  <= '0;
                worst_q <= '0;
            end else if (counted) begin
                over_q  <= over_q + 1'b1;
                worst_q <= worst;
            end
        end
    end
    // What its user keeps to: pieces are asked for one by one, up to the last, and are over once.
    `RULE(pieces_are_asked_for_in_order, 0, !told || cleared_q && !last_q && told_number_i == asked_q + 5'd1
        && asked_q != '1)
    `RULE(failed_response_is_no_exokay, 0, failed_response_i != 2'd1)
    `RULE(piece_was_asked_for, 0, !(i_block.over_q && element_i == element)
        || asked_q > over_q + 5'(counted))
    `RULE(clearing_is_once, 0, !clear_i || clear_element_i != element || !cleared_q)

    `RULE(element_ends_with_its_last_piece, 1, (done_o && done_element_o == element) == ends)
    `RULE(response_is_the_worst, 1, !ends || done_response_o == worst)
    // What is in the block's memories.
    `RULE(pieces_are_counted, 1, !cleared_q || i_block.i_over.words[element] == {over_q, worst_q})
    `RULE(what_was_told_is_kept, 1, asked_q == 0 || i_block.i_told.words[element] == {last_q, asked_q})
    `RULE(none_is_over_that_was_not_asked_for, 1, over_q <= asked_q && (!counted || over_q < asked_q))
    `RULE(an_element_that_is_over_begins_again, 1, !last_q || over_q != asked_q)
    `RULE(nothing_is_asked_for_before_clearing, 1, cleared_q || asked_q == 0 && over_q == 0 && worst_q == 0)
    `RULE(responses_agree, 1, !counted || i_block.counted_response_q == response_q && response_q != 2'd1)
    `RULE(responses_that_come_agree, 1, !i_block.over_q || i_block.response_q == came_q && came_q != 2'd1)
    `RULE(worst_is_no_exokay, 1, worst_q != 2'd1)
    `REACHED(element_of_three_pieces_ends, ends && asked_q == 5'd3)
endmodule
