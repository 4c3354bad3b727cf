// SPDX-License-Identifier: MIT OR Apache-2.0
// done_merge: ends of one place, which is any, come out in their order, whole and once; places take turns.
`include "../rules/rule.svh"
module done_merge_formal
    import vector_pkg::*;
#(
    parameter int unsigned Places = 3
) (
    input logic               clk_i,
    input logic               rst_ni,
    input logic  [Places-1:0] valid_i,
    input done_t [Places-1:0] done_i,
    input logic               m_axis_tready
);
    logic [Places-1:0] ready_o;
    logic              m_axis_tvalid;
    done_t             m_axis_tdata;

    power_up i_power_up (.*);
    done_merge #(.Places(Places)) i_block (.*);
    axi4_stream_rules #(.Width($bits(done_t))) i_out (
        .clk_i, .rst_ni, .tvalid(m_axis_tvalid), .tready(m_axis_tready), .payload(m_axis_tdata));

    // Which place the end on the stream is from.
    logic [Places-1:0] from_q;
    always_ff @(posedge clk_i) if (i_block.free) from_q <= i_block.chosen;

    logic [$clog2(Places)-1:0] number;
    logic [Places-1:0]         place;
    arbitrary #(.Width($clog2(Places))) i_place (.clk_i, .value_o(number));
    assign place = Places'(1) << number;

    done_t given;
    always_comb begin
        given = '0;
        for (int unsigned n = 0; n < Places; n++) if (place[n]) given = done_i[n];
    end
    logic [1:0] held;
    ordered_words #(.Width($bits(done_t)), .Most(3)) i_words (
        .clk_i, .rst_ni,
        .push_i((place & valid_i & ready_o) != 0), .pushed_i(given),
        .pop_i(m_axis_tvalid && m_axis_tready && (from_q & place) != 0), .popped_i(m_axis_tdata),
        .inside_o(held));
    // Ends of the place behind the stream.
    logic [1:0] behind;
    assign behind = held - 2'(m_axis_tvalid && (from_q & place) != 0);
    `RULE(there_is_room_unless_two_wait, 1, place == 0 || ((ready_o & place) != 0) == (behind < 2'd2))
    `RULE(end_that_waits_goes_to_a_free_stream, 1, !$past(rst_ni && behind != 0 && (!m_axis_tvalid || m_axis_tready))
        || m_axis_tvalid)
    `RULE(each_end_is_from_one_place, 1, !m_axis_tvalid || $onehot(from_q))

    // Ends that others gave since one of this place waits behind the stream.
    logic [2:0] others_q;
    logic       waits;
    assign waits = (i_block.waits & place) != 0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !waits) others_q <= '0;
        else if (i_block.free) others_q <= (i_block.chosen & place) != 0 ? '0 : others_q + 1'b1;
    end
    `RULE(places_take_turns, 1, 32'(others_q) < Places)
    `REACHED(all_other_places_went_before, 32'(others_q) == Places - 1)
endmodule
