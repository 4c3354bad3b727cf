// SPDX-License-Identifier: MIT OR Apache-2.0
// piece_splitter: the pieces of a copy cover it from its lowest address on, without a gap, and are as large as they may
// be; copies, of which any is followed, stay in their order and whole.
`include "../rules/rule.svh"
module piece_splitter_formal
    import vector_pkg::*;
(
    input logic  clk_i,
    input logic  rst_ni,
    input logic  copy_valid_i,
    input copy_t copy_i,
    input logic  piece_ready_i
);
    logic        copy_ready_o, piece_valid_o, first_o, last_o;
    logic [63:0] source_o, target_o;
    logic [8:0]  bytes_o;
    logic [4:0]  number_o;
    logic [2:0]  queue_o;
    logic [15:0] token_o;

    power_up i_power_up (.*);
    piece_splitter i_block (.*);
    axi4_stream_rules #(.Width(64 + 64 + 9 + 1 + 1 + 5 + 3 + 16)) i_pieces (
        .clk_i, .rst_ni, .tvalid(piece_valid_o), .tready(piece_ready_i),
        .payload({source_o, target_o, bytes_o, first_o, last_o, number_o, queue_o, token_o}));
    // Whoever gives copies: element_check.
    `RULE(copy_has_a_length, 0, !copy_valid_i || copy_i.bytes != 0 && copy_i.bytes <= 13'd4096)

    // What counts of the outputs.
    logic [164:0] seen;
    assign seen = {copy_ready_o, piece_valid_o, piece_valid_o
        ? {source_o, target_o, bytes_o, first_o, last_o, number_o, queue_o, token_o} : '0};

    // A copy that the prover chooses when it comes, and how many are ahead of it: two fit.
    logic       mark, takes, ends, followed_q, begins;
    logic [1:0] inside_q, ahead_q;
    copy_t      copy_q;
    logic [12:0] done_q;
    logic [4:0]  pieces_q;
    anything i_mark (.clk_i, .value_o(mark));
    assign takes  = copy_valid_i && copy_ready_o;
    assign ends   = piece_valid_o && piece_ready_i && last_o;
    assign begins = takes && mark && !followed_q;
    logic its;
    assign its = followed_q && ahead_q == 0 && piece_valid_o;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q   <= '0;
            ahead_q    <= '0;
            followed_q <= 1'b0;
            done_q     <= '0;
            pieces_q   <= '0;
            copy_q     <= '0;
        end else begin
            inside_q <= inside_q + 2'(takes) - 2'(ends);
            if (begins) begin
                followed_q <= 1'b1;
                ahead_q    <= inside_q - 2'(ends);
                copy_q     <= copy_i;
                done_q     <= '0;
                pieces_q   <= '0;
            end else if (followed_q && ahead_q != 0) begin
                ahead_q <= ahead_q - 2'(ends);
            end else if (its && piece_ready_i) begin
                done_q     <= done_q + 13'(bytes_o);
                pieces_q   <= pieces_q + 1'b1;
                followed_q <= !last_o;
            end
        end
    end
    `RULE(piece_begins_where_the_last_ended, 1, !its
        || source_o == copy_q.source + 64'(done_q) && target_o == copy_q.target + 64'(done_q))
    `RULE(last_piece_ends_with_its_copy, 1, !its || last_o == (done_q + 13'(bytes_o) == copy_q.bytes))
    `RULE(no_piece_goes_beyond_its_copy, 1, !its || 14'(done_q) + 14'(bytes_o) <= 14'(copy_q.bytes))
    `RULE(piece_is_of_its_copy, 1, !its || queue_o == copy_q.from_queue && token_o == copy_q.token)
    `RULE(pieces_are_counted, 1, !its || number_o == pieces_q + 5'd1 && first_o == (pieces_q == 0))
    // As large as it may be: all of it, 256 bytes, or up to the end of a page.
    `RULE(piece_is_as_large_as_it_may_be, 1, !piece_valid_o || last_o || bytes_o == PieceBytes
        || 13'(source_o[11:0]) + 13'(bytes_o) == 13'd4096 || 13'(target_o[11:0]) + 13'(bytes_o) == 13'd4096)

    // Where copies are.
    logic waits, rest_its;
    assign waits = i_block.rest_valid_q;
    `RULE(copies_are_in_two_places, 1, inside_q == 2'(waits) + 2'(piece_valid_o))
    `RULE(followed_copy_is_inside, 1, !followed_q || ahead_q < inside_q)
    `RULE(two_copies_wait_only_behind_a_last_piece, 1, !(waits && piece_valid_o) || last_o)
    assign rest_its = followed_q && waits && ahead_q == 2'(piece_valid_o);
    `RULE(rest_is_what_is_left, 1, !rest_its
        || i_block.rest_q.source == copy_q.source + 64'(done_q) && i_block.rest_q.target == copy_q.target + 64'(done_q)
        && i_block.rest_q.bytes == copy_q.bytes - done_q && i_block.rest_q.from_queue == copy_q.from_queue
        && i_block.rest_q.token == copy_q.token && i_block.rest_number_q == pieces_q + 5'd1
        && i_block.rest_first_q == (pieces_q == 0))
    `RULE(piece_is_cut_from_what_is_left, 1, !its
        || i_block.cut_q.bytes == copy_q.bytes - done_q && (last_o ? 13'(bytes_o) == i_block.cut_q.bytes
            : 13'(bytes_o) < i_block.cut_q.bytes))
    `RULE(copy_that_goes_on_is_kept, 1, !(piece_valid_o && !last_o)
        || i_block.rest_q.from_queue == queue_o && i_block.rest_q.token == token_o)
    `RULE(something_is_left, 1, !followed_q || done_q < copy_q.bytes && copy_q.bytes <= 13'd4096)
    `RULE(rest_has_a_length, 1, !waits || i_block.rest_q.bytes != 0 && i_block.rest_q.bytes <= 13'd4096
        && i_block.rest_shorter_q == by_pages(i_block.rest_q.source[11:0], i_block.rest_q.target[11:0]))
    `RULE(piece_is_cut_from_a_copy, 1, !piece_valid_o || i_block.cut_q.bytes <= 13'd4096
        && (last_o ? 13'(bytes_o) == i_block.cut_q.bytes : 13'(bytes_o) < i_block.cut_q.bytes))
    // What the ends of two pages take off a piece of 256 bytes.
    function automatic logic [7:0] by_pages(input logic [11:0] one, input logic [11:0] other);
        logic [11:0] place;
        place = one > other ? one : other;
        by_pages = place > 12'd3840 ? 8'(place - 12'd3840) : '0;
    endfunction
    // A copy of one piece takes one clock, a piece of a longer one two.
    logic moves, is_last;
    assign moves   = !piece_valid_o || piece_ready_i;
    assign is_last = i_block.rest_q.bytes + 13'(by_pages(i_block.rest_q.source[11:0], i_block.rest_q.target[11:0]))
        <= 13'(PieceBytes);
    `RULE(copy_waits_for_those_before_it_alone, 1, copy_ready_o == (!(piece_valid_o && !last_o)
        && (!waits || moves && is_last)))
    `RULE(copy_is_kept_in_the_clock_after, 1, !$past(rst_ni && takes) || waits)
    `RULE(copy_comes_back_with_its_piece, 1, !$past(rst_ni && piece_valid_o && piece_ready_i && !last_o) || waits)
    `RULE(piece_is_offered_in_the_clock_after, 1, !$past(rst_ni && waits && moves) || piece_valid_o)
    // At most 18: pieces of 256 bytes, and one that ends with a page on each side.
    logic [1:0] ends_of_pages;
    assign ends_of_pages = 2'(14'(copy_q.source[11:0]) + 14'(done_q) >= 14'd4096)
        + 2'(14'(copy_q.target[11:0]) + 14'(done_q) >= 14'd4096);
    `RULE(pieces_are_few, 1, !followed_q || {pieces_q, 8'd0} <= 13'(done_q) + {3'd0, ends_of_pages, 8'd0})
    `RULE(pieces_are_at_most_18, 1, !its || number_o <= 5'd18)
    `REACHED(copy_has_three_pieces, its && last_o && pieces_q == 5'd2)
endmodule
