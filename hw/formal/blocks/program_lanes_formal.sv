// SPDX-License-Identifier: MIT OR Apache-2.0
// program_lanes, around lanes that are any: a row goes whole to one lane, which was free; packets of any lane come out in
// order, whole and with their beats together; and a lane's packet waits for one of each of the others at most.
`include "../rules/rule.svh"
module program_lanes_formal #(
    parameter int unsigned Lanes = 4
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         has_program_i,
    input logic [3:0]   outputs_i,
    input logic         wants_payloads_i,
    input logic         code_write_i,
    input logic         constant_write_i,
    input logic [5:0]   store_address_i,
    input logic [63:0]  store_data_i,
    input logic         s_axis_row_tvalid,
    input logic [511:0] s_axis_row_tdata,
    input logic         s_axis_row_tlast,
    input logic         m_axis_row_tready
);
    logic         s_axis_row_tready, m_axis_row_tvalid, m_axis_row_tlast, emitted_o, fault_o, idle_o;
    logic [511:0] m_axis_row_tdata;

    power_up i_power_up (.*);
    program_lanes #(.Lanes(Lanes)) i_block (.*);
    axi4_stream_rules #(.Width(513), .Proven(0)) i_in (
        .clk_i, .rst_ni, .tvalid(s_axis_row_tvalid), .tready(s_axis_row_tready),
        .payload({s_axis_row_tdata, s_axis_row_tlast}));
    axi4_stream_rules #(.Width(513)) i_out (
        .clk_i, .rst_ni, .tvalid(m_axis_row_tvalid), .tready(m_axis_row_tready),
        .payload({m_axis_row_tdata, m_axis_row_tlast}));

    // What each lane keeps to: it is taken from the first beat of a row on, offers until it is heard, and offers the
    // beats of a packet from the first to the last, without a pause.
    logic [Lanes-1:0] inside_q, takes;
    assign takes = i_block.row_valid;
    for (genvar n = 0; n < Lanes; n++) begin : g_lanes
        logic offers, first, taken;
        assign offers = i_block.packet_valid[n];
        assign first  = i_block.packet_first[n];
        assign taken  = i_block.packet_taken[n];
        always_ff @(posedge clk_i) begin
            if (!rst_ni) inside_q[n] <= 1'b0;
            else if (taken) inside_q[n] <= !i_block.packet_last[n];
        end
        `RULE(lane_offers_until_it_is_heard, 0, !$past(rst_ni && offers && !taken)
            || offers && $stable({first, i_block.packet_last[n], i_block.packet_data[n]}))
        `RULE(lane_that_is_free_offers_nothing, 0, !i_block.free[n] || !offers && !inside_q[n])
        `RULE(lane_is_taken_with_a_row, 0, !$past(rst_ni && takes[n]) || !i_block.free[n])
        `RULE(lane_that_takes_a_row_offers_nothing, 0, !(i_block.inside_q && i_block.receiver_q[n])
            || !i_block.free[n] && !offers)
        `RULE(packet_begins_with_its_first_beat, 0, !offers || first == !inside_q[n])
        `RULE(packet_has_no_pause, 0, !inside_q[n] || offers)
    end

    // Rows.
    `RULE(row_goes_to_one_lane, 1, s_axis_row_tvalid && s_axis_row_tready ? $onehot(takes) : takes == 0)
    `RULE(row_begins_in_a_free_lane, 1, i_block.inside_q || (takes & ~i_block.free) == 0)
    `RULE(row_begins_in_the_first_free_lane, 1, i_block.inside_q || takes == 0 || takes == (i_block.free & -i_block.free))
    `RULE(row_goes_on_in_its_lane, 1, !$past(rst_ni && takes != 0 && !s_axis_row_tlast) || takes == 0
        || takes == $past(takes))
    `RULE(one_lane_receives, 1, !i_block.inside_q || $onehot(i_block.receiver_q))
    `RULE(row_is_taken_if_a_lane_is_free, 1, i_block.free == 0 || s_axis_row_tready)

    // Packets of one lane.
    logic [$clog2(Lanes)-1:0] number;
    logic [Lanes-1:0] lane;
    logic             from_q, heard, begins;
    arbitrary #(.Width($clog2(Lanes))) i_number (.clk_i, .value_o(number));
    assign lane   = Lanes'(1) << number;
    assign heard  = (i_block.packet_taken & lane) != 0;
    always_ff @(posedge clk_i) if (i_block.output_free) from_q <= heard;
    logic [1:0] held;
    ordered_words #(.Width(513), .Most(1)) i_words (
        .clk_i, .rst_ni, .push_i(heard), .pushed_i({i_block.packet_data[number], i_block.packet_last[number]}),
        .pop_i(m_axis_row_tvalid && m_axis_row_tready && from_q), .popped_i({m_axis_row_tdata, m_axis_row_tlast}),
        .inside_o(held[0]));
    assign held[1] = 1'b0;
    `RULE(beat_is_in_the_register, 1, held[0] == (m_axis_row_tvalid && from_q))
    `RULE(followed_beat_is_in_the_register, 1, !i_words.followed_q
        || i_words.word_q == {m_axis_row_tdata, m_axis_row_tlast})
    `RULE(one_lane_is_heard, 1, $onehot0(i_block.packet_taken) && (i_block.packet_taken & ~i_block.packet_valid) == 0)
    `RULE(beats_of_a_packet_come_together, 1, !inside_q[number] || (i_block.packet_taken & ~lane) == 0)
    `RULE(packet_under_way_is_known, 1, (inside_q & ~i_block.sender_q) == 0 && (inside_q == 0 || i_block.sending_q))
    `RULE(those_that_wait_offer, 1, (i_block.waits_q & ~i_block.packet_valid & i_block.others) == 0)
    `RULE(chosen_lane_offers, 1, $onehot0(i_block.sender_q)
        && (!i_block.sending_q || (i_block.packet_valid & i_block.sender_q) != 0))
    // Lanes whose packets began since its own is known to wait, which is a clock after it is offered.
    logic [Lanes-1:0] went_q;
    assign begins = (i_block.packet_taken & i_block.packet_first) != 0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !i_block.waits_q[number] || heard) went_q <= '0;
        else if (begins) went_q <= went_q | i_block.packet_taken;
    end
    `RULE(nobody_goes_twice_before, 1, !begins || !i_block.waits_q[number]
        || (went_q & i_block.packet_taken) == 0)
    // Why: those that went are between the lane and the last that was chosen, which did not yet. All others may have
    // gone only when it has been chosen itself.
    `RULE(those_behind_it_have_the_turn, 1, i_block.i_turns.behind_q == Lanes'(-(i_block.sender_q << 1)))
    logic [1:0] behind;
    always_comb begin
        behind = '0;
        for (int n = 0; n < Lanes; n++) if (i_block.sender_q[n]) behind = 2'(n) - number;
    end
    for (genvar n = 0; n < Lanes; n++) begin : g_went
        logic [1:0] its;
        assign its = 2'(n) - number;
        `RULE(those_that_went_are_behind_it, 1, !went_q[n]
            || its != 0 && (its <= behind || behind == 0 && i_block.sending_q && inside_q == 0)
            && (its != behind || inside_q[n] || !i_block.sending_q))
    end
    `RULE(packets_are_told, 1, emitted_o == $past(rst_ni && begins && !i_block.packet_faulty)
        && fault_o == $past(rst_ni && begins && i_block.packet_faulty))
    // Its code is in its header, which is its first beat.
    `RULE(packets_are_told_by_their_codes, 1, !(emitted_o || fault_o)
        || m_axis_row_tvalid && fault_o == (m_axis_row_tdata[208+:8] != 0))
    `RULE(idle_without_rows, 1, !idle_o || &i_block.free && !m_axis_row_tvalid)
    `REACHED(all_others_went_before, went_q == ~lane && heard)
    `REACHED(packet_of_two_beats_comes, heard && inside_q[number])
endmodule
