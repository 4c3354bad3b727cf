// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the pieces of elements that are over, and ends an element with its last piece.
//
// Contract: a response of the bus or a failed piece comes in each clock at most; a failed piece is
// always taken, a response when none comes. An element is told how many pieces it has when its last
// one is asked for, which is before the end of that piece. Its response is the worst of its pieces.
// In the clocks of `clear_i`, which go through all numbers once after a reset, nothing comes.
module piece_tally
    import vector_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,

    input  logic       clear_i,
    input  logic [7:0] clear_element_i,

    input  logic       told_i,              // of a piece that is asked for
    input  logic [7:0] told_element_i,
    input  logic       told_last_i,
    input  logic [4:0] told_number_i,       // pieces of the element so far

    input  logic       m_axi_bvalid,
    output logic       m_axi_bready,
    input  logic [7:0] m_axi_bid,
    input  logic [1:0] m_axi_bresp,
    input  logic       failed_valid_i,
    input  logic [7:0] failed_id_i,
    input  logic [1:0] failed_response_i,

    output logic [7:0] piece_id_o,
    input  logic [7:0] element_i,           // of this piece, in the same clock

    output logic       free_o,              // the id of a piece
    output logic [7:0] free_id_o,
    output logic       done_o,              // an element
    output logic [7:0] done_element_o,
    output logic [1:0] done_response_o
);

    logic       over_q, counted_q;
    logic [7:0] id_q, element_q;
    logic [1:0] response_q, counted_response_q;
    assign m_axi_bready = !failed_valid_i;
    assign piece_id_o   = id_q;
    assign free_o       = over_q;
    assign free_id_o    = id_q;

    always_ff @(posedge clk_i) begin
        id_q       <= failed_valid_i ? failed_id_i : m_axi_bid;
        response_q <= failed_valid_i ? failed_response_i
                                     : {m_axi_bresp[1], &m_axi_bresp};
        element_q          <= element_i;
        counted_response_q <= response_q;
        if (!rst_ni) begin
            over_q    <= 1'b0;
            counted_q <= 1'b0;
        end else begin
            over_q    <= failed_valid_i || m_axi_bvalid;
            counted_q <= over_q;
        end
    end

    // Of each element: pieces that are over with their worst response, zero between elements; and
    // pieces in all, as soon as that is known.
    logic [4:0] over, number, over_next;
    logic [1:0] response, response_next;
    logic       known;
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (7)
    ) i_over (
        .clk_i,
        .write_enable_i (counted_q || clear_i),
        .write_address_i(clear_i ? clear_element_i : element_q),
        .write_data_i   (done_o || clear_i ? '0 : {over_next, response_next}),
        .read_address_i (element_q),
        .read_data_o    ({over, response})
    );
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (6)
    ) i_told (
        .clk_i,
        .write_enable_i (told_i),
        .write_address_i(told_element_i),
        .write_data_i   ({told_last_i, told_number_i}),
        .read_address_i (element_q),
        .read_data_o    ({known, number})
    );
    assign over_next       = over + 1'b1;
    assign response_next   = worse(response, counted_response_q);
    assign done_o          = counted_q && known && over_next == number;
    assign done_element_o  = element_q;
    assign done_response_o = response_next;

`ifndef SYNTHESIS
    no_piece_is_over_before_it_was_asked_for: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !counted_q || over < number);
    nothing_is_over_while_clearing: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !clear_i || !counted_q && !over_q);
`endif

endmodule
