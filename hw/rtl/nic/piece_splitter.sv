// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts copies into pieces of at most 256 bytes that stay in one page of 4 kB on both sides.
//
// Contract: the pieces of a copy follow each other, from its lowest address on, and copies stay in
// their order. A copy of one piece takes one clock; a piece of a longer one takes two. What is
// offered holds until it is taken.
module piece_splitter
    import vector_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,

    input  logic        copy_valid_i,
    input  copy_t       copy_i,
    output logic        copy_ready_o,

    output logic        piece_valid_o,
    input  logic        piece_ready_i,
    output logic [63:0] source_o,
    output logic [63:0] target_o,
    output logic [8:0]  bytes_o,
    output logic        first_o,       // of its copy
    output logic        last_o,
    output logic [4:0]  number_o,      // of pieces of the copy so far, with this one
    output logic [2:0]  queue_o,
    output logic [15:0] token_o
);

    // By how much the end of one of two pages makes a piece shorter: only in the last 256 bytes of a
    // page, by those before the place there.
    function automatic logic [7:0] shorter(input logic [11:0] one, input logic [11:0] other);
        logic [7:0] by_one, by_other;
        by_one   = one[11:8] == '1 ? one[7:0] : '0;
        by_other = other[11:8] == '1 ? other[7:0] : '0;
        // The places are compared while it is found out which of them count.
        shorter  = one[11:8] == '1 && (other[11:8] != '1 || one[7:0] > other[7:0]) ? by_one : by_other;
    endfunction
    // The address after a piece, which ends with its page at the latest.
    function automatic logic [63:0] after(input logic [63:0] address, input logic [8:0] count);
        logic [12:0] low;
        low   = 13'(address[11:0]) + 13'(count);
        after = {low[12] ? address[63:12] + 1'b1 : address[63:12], low[11:0]};
    endfunction

    // What is left of a copy, before and after its next piece is cut.
    copy_t      rest_q, cut_q;
    logic       rest_valid_q, rest_first_q, cut_move, over;
    logic [4:0] rest_number_q;
    logic [7:0] rest_shorter_q;
    logic [8:0] bytes;
    logic [9:0] reach;                // of a rest below 512 bytes; whether it is 256 is seen in its bits
    assign reach    = 10'(rest_q.bytes[8:0]) + 10'(rest_shorter_q);
    assign over     = rest_q.bytes[12:9] == 0 && !reach[9] && (!reach[8] || reach[7:0] == 0);
    assign bytes    = over ? rest_q.bytes[8:0] : PieceBytes - 9'(rest_shorter_q);
    assign cut_move = !piece_valid_o || piece_ready_i;

    // A copy that goes on comes back when its piece is taken; nothing passes it.
    logic goes_on, comes_back;
    assign goes_on      = piece_valid_o && !last_o;
    assign comes_back   = goes_on && piece_ready_i;
    assign copy_ready_o = !goes_on && (!rest_valid_q || cut_move && over);

    logic [63:0] source_after, target_after;
    assign source_after = after(cut_q.source, bytes_o);
    assign target_after = after(cut_q.target, bytes_o);

    assign source_o = cut_q.source;
    assign target_o = cut_q.target;
    assign queue_o  = cut_q.from_queue;
    assign token_o  = cut_q.token;

    always_ff @(posedge clk_i) begin
        if (copy_ready_o) begin
            rest_q         <= copy_i;
            rest_first_q   <= 1'b1;
            rest_number_q  <= 5'd1;
            rest_shorter_q <= shorter(copy_i.source[11:0], copy_i.target[11:0]);
        end else if (comes_back) begin
            rest_q.source  <= source_after;
            rest_q.target  <= target_after;
            rest_q.bytes   <= cut_q.bytes - 13'(bytes_o);
            rest_first_q   <= 1'b0;
            rest_number_q  <= number_o + 1'b1;
            rest_shorter_q <= shorter(source_after[11:0], target_after[11:0]);
        end
        if (cut_move) begin
            cut_q    <= rest_q;
            bytes_o  <= bytes;
            last_o   <= over;
            first_o  <= rest_first_q;
            number_o <= rest_number_q;
        end
        if (!rst_ni) begin
            rest_valid_q  <= 1'b0;
            piece_valid_o <= 1'b0;
        end else begin
            if (copy_ready_o) rest_valid_q <= copy_valid_i;
            else if (comes_back) rest_valid_q <= 1'b1;
            else if (cut_move) rest_valid_q <= 1'b0;
            if (cut_move) piece_valid_o <= rest_valid_q;
        end
    end

`ifndef SYNTHESIS
    nothing_passes_a_copy_that_goes_on: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !goes_on || !rest_valid_q);
    piece_has_bytes: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !piece_valid_o || bytes_o != 0 && bytes_o <= PieceBytes && 13'(bytes_o) <= cut_q.bytes);
    piece_stays_in_its_pages: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !piece_valid_o || 13'(source_o[11:0]) + 13'(bytes_o) <= 13'd4096
            && 13'(target_o[11:0]) + 13'(bytes_o) <= 13'd4096);
    piece_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && piece_valid_o && !piece_ready_i)
            || piece_valid_o && $stable({source_o, target_o, bytes_o, last_o, number_o}));
`endif

endmodule
