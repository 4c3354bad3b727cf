// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_answers: the streams of answers keep the rules; answers of the index are sorted in order, each with what its
// request, which is any, asked for; each becomes an answer on the port of its context, a miss or the end of a context, once.
`include "../rules/rule.svh"
module lookup_answers_formal
    import lookup_pkg::*;
#(
    parameter int unsigned LogContexts = 1,
    localparam int unsigned In         = 256,   // bits of an answer of the index, with one word of value
    localparam int unsigned Out        = 192
) (
    input logic           clk_i,
    input logic           rst_ni,
    input logic [6:0]     value_bytes_i,
    input logic           begun_valid_i,
    input context_t       begun_i,
    input request_t       begun_request_i,
    input logic           index_valid_i,
    input logic [In-1:0]  index_data_i,
    input logic           walk_valid_i,
    input logic           walk_frees_i,
    input context_t       walk_number_i,
    input logic [Out-1:0] walk_data_i,
    input logic           m_axis_rsp_tready,
    input logic           m_axis_swrsp_tready
);
    logic           index_ready_o, begins_o, free_o, m_axis_rsp_tvalid, m_axis_swrsp_tvalid;
    context_t       begins_number_o, free_number_o;
    place_t         begins_place_o;
    logic [6:0]     begins_slots_o;
    index_events_t  events_o;
    logic [Out-1:0] m_axis_rsp_tdata, m_axis_swrsp_tdata;

    power_up i_power_up (.*);
    lookup_answers #(.LogContexts(LogContexts)) i_block (.*);
    axi4_stream_rules #(.Width(Out)) i_net (
        .clk_i, .rst_ni, .tvalid(m_axis_rsp_tvalid), .tready(m_axis_rsp_tready), .payload(m_axis_rsp_tdata));
    axi4_stream_rules #(.Width(Out)) i_software (
        .clk_i, .rst_ni, .tvalid(m_axis_swrsp_tvalid), .tready(m_axis_swrsp_tready), .payload(m_axis_swrsp_tdata));

    // What counts of the outputs.
    logic [2*Out+$bits(place_t)+$bits(index_events_t)+27:0] seen;
    assign seen = {index_ready_o, begins_o, begins_o ? {begins_number_o, begins_place_o, begins_slots_o} : '0, free_o,
        free_o ? free_number_o : 8'd0, events_o, m_axis_rsp_tvalid, m_axis_rsp_tvalid ? m_axis_rsp_tdata : '0,
        m_axis_swrsp_tvalid, m_axis_swrsp_tvalid ? m_axis_swrsp_tdata : '0};

    // ---- Answers of the index are sorted in their order. One bit, which is any, stands for all.
    logic [7:0] place;
    logic [1:0] held;
    logic [In-1:0] sorted;
    arbitrary #(.Width(8)) i_place (.clk_i, .value_o(place));
    assign sorted = {i_block.value_q, i_block.answer_q};
    ordered_words #(.Width(1), .Most(2)) i_words (
        .clk_i, .rst_ni,
        .push_i(index_valid_i && index_ready_o), .pushed_i(index_data_i[place]),
        .pop_i(i_block.sorts), .popped_i(sorted[place]),
        .inside_o(held));
    logic [In-1:0] came;
    assign came = {i_block.came_value_q, i_block.came_answer_q};
    `RULE(registers_hold_what_is_inside, 1, held == 2'(i_block.came_q) + 2'(i_block.known_q))
    `RULE(followed_word_is_in_its_register, 1, !i_words.followed_q
        || (i_words.ahead_q == 0 && i_block.known_q ? sorted[place] : came[place]) == i_words.word_q)
    `RULE(index_waits_for_the_walk_alone, 1, index_ready_o || walk_valid_i && held == 2'd2)
    `RULE(token_is_of_its_answer, 1, !i_block.known_q || i_block.token_q == i_block.answer_q.token)

    // ---- What the request of a context asked for. No context begins anew while an answer of it is inside.
    context_t    number;
    logic        begun_known_q;
    logic [19:0] asked_q;
    arbitrary #(.Width(8)) i_number (.clk_i, .value_o(number));
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begun_known_q <= 1'b0;
        else if (begun_valid_i && begun_i == number) begun_known_q <= 1'b1;
        if (begun_valid_i && begun_i == number) asked_q <= {begun_request_i.operation, begun_request_i.token};
    end
    index_token_t came_token;
    assign came_token = i_block.came_answer_q.token;
    `RULE(context_begins_when_it_is_free, 0, !(begun_valid_i && begun_i == number)
        || !(i_block.came_q && came_token.number == number) && !(i_block.known_q && i_block.token_q.number == number))
    `RULE(request_is_in_its_place, 1, !begun_known_q || i_block.i_requests.words[number] == asked_q)
    logic asked_known_q;
    always_ff @(posedge clk_i) begin
        if (!i_block.known_q || i_block.move) asked_known_q <= begun_known_q && came_token.number == number;
    end
    `RULE(request_is_beside_its_answer, 1, !i_block.known_q || !asked_known_q || i_block.token_q.number == number
        && {i_block.operation_q, i_block.request_token_q} == asked_q)

    // ---- What becomes of an answer, a clock later.
    logic           looks_up, misses, tells;
    answer_t        expected;
    logic [Out-1:0] leaving_q;
    logic           leaves_q, frees_q, begins_q, sorts_q, walks_q;
    context_t       number_q;
    assign tells    = i_block.token_q.tells;
    assign looks_up = i_block.operation_q == index_pkg::LookUp || i_block.operation_q == index_pkg::LockAndRead;
    assign misses   = looks_up && !tells && i_block.answer_q.status == index_pkg::Miss;
    always_comb begin
        expected = '0;
        expected.epoch       = i_block.answer_q.epoch;
        expected.owner       = i_block.answer_q.owner;
        expected.has_content = i_block.answer_q.has_content;
        expected.is_cached   = i_block.answer_q.has_content;
        expected.status      = i_block.answer_q.status;
        expected.token       = i_block.request_token_q;
        expected.has_lock    = i_block.operation_q == index_pkg::LockAndRead && i_block.answer_q.status == index_pkg::Done;
        if (i_block.answer_q.has_content) begin
            expected.bytes   = 9'(value_bytes_i);
            expected.version = i_block.answer_q.word[63:32];
        end
    end
    always_ff @(posedge clk_i) begin
        walks_q   <= rst_ni && walk_valid_i;
        sorts_q   <= rst_ni && i_block.sorts;
        leaves_q  <= rst_ni && (walk_valid_i || i_block.sorts && !tells && !misses);
        frees_q   <= rst_ni && (walk_valid_i ? walk_frees_i : i_block.sorts && (tells ? i_block.token_q.is_last : !misses));
        begins_q  <= rst_ni && i_block.sorts && misses;
        number_q  <= walk_valid_i ? walk_number_i : i_block.token_q.number;
        leaving_q <= walk_valid_i ? walk_data_i : {i_block.value_q, expected};
    end
    `RULE(one_is_sorted_unless_the_walk_answers, 1, i_block.sorts == (i_block.known_q && !walk_valid_i))
    `RULE(context_is_free_in_time, 1, free_o == frees_q && (!free_o || free_number_o == number_q))
    `RULE(miss_begins_to_read, 1, begins_o == begins_q && (!begins_o || begins_number_o == number_q))
    `RULE(miss_reads_where_the_index_says, 1, !begins_o || begins_place_o == place_t'{
        address: $past(i_block.answer_q.address), word: $past(i_block.answer_q.word[37:0]),
        epoch: $past(i_block.answer_q.epoch), owner: $past(i_block.answer_q.owner),
        slots: $past(i_block.answer_q.slots[6:0])})
    `RULE(first_trip_fits, 1, !begins_o || begins_slots_o <= begins_place_o.slots
        && begins_slots_o == smaller(begins_place_o.slots, room(begins_place_o.address[5:0], 32, 32)))
    `RULE(answer_leaves_once, 1, i_block.leaves_q == leaves_q && (!leaves_q || i_block.leaving_q == leaving_q
        && free_number_o == number_q))
    `RULE(events_are_of_one_answer, 1, sorts_q || events_o == '0)
    `RULE(events_are_those_of_the_answer, 1, !sorts_q || events_o == index_events_t'{
        index_error: $past(i_block.answer_q.status == index_pkg::BusError),
        hint_set: $past(tells && !i_block.token_q.is_fill),
        fill_full: $past(tells && i_block.token_q.is_fill && i_block.answer_q.status == index_pkg::Full),
        fill_stale: $past(tells && i_block.token_q.is_fill && i_block.answer_q.status == index_pkg::Stale),
        fill: $past(tells && i_block.token_q.is_fill), miss: begins_q,
        hit: $past(!tells && looks_up && i_block.answer_q.status == index_pkg::Done),
        look_up: $past(!tells && looks_up), request: $past(!tells)})

    // ---- Answers wait on their port, in order.
    logic [7:0] bit_place;
    logic [LogContexts:0] waiting;
    logic [LogSoftware:0] sw_waiting;
    arbitrary #(.Width(8)) i_bit (.clk_i, .value_o(bit_place));
    bit_is_of_an_answer: assume property (@(posedge clk_i) 32'(bit_place) < Out);
    ordered_words #(.Width(1), .Most(2**LogContexts)) i_waiting (
        .clk_i, .rst_ni, .push_i(leaves_q && !number_q[7]), .pushed_i(leaving_q[bit_place]),
        .pop_i(m_axis_rsp_tvalid && m_axis_rsp_tready), .popped_i(m_axis_rsp_tdata[bit_place]), .inside_o(waiting));
    ordered_words #(.Width(1), .Most(2**LogSoftware)) i_sw_waiting (
        .clk_i, .rst_ni, .push_i(leaves_q && number_q[7]), .pushed_i(leaving_q[bit_place]),
        .pop_i(m_axis_swrsp_tvalid && m_axis_swrsp_tready), .popped_i(m_axis_swrsp_tdata[bit_place]), .inside_o(sw_waiting));
    `RULE(answers_that_wait_are_offered, 1, m_axis_rsp_tvalid == (waiting != 0)
        && m_axis_swrsp_tvalid == (sw_waiting != 0))
    `RULE(fifo_holds_what_waits, 1,
        waiting == (LogContexts + 1)'(i_block.i_answers.pushed_q - i_block.i_answers.popped_q)
        && sw_waiting == (LogSoftware + 1)'(i_block.i_sw_answers.pushed_q - i_block.i_sw_answers.popped_q)
        && 32'(waiting) <= 2**LogContexts && 32'(sw_waiting) <= 2**LogSoftware)
    logic [LogContexts-1:0] its_place;
    logic [LogSoftware-1:0] its_sw_place;
    assign its_place    = i_block.i_answers.popped_q[LogContexts-1:0] + i_waiting.ahead_q[LogContexts-1:0];
    assign its_sw_place = i_block.i_sw_answers.popped_q[LogSoftware-1:0] + i_sw_waiting.ahead_q[LogSoftware-1:0];
    `RULE(answer_is_in_its_place, 1, !i_waiting.followed_q
        || i_block.i_answers.i_words.words[its_place][bit_place] == i_waiting.word_q)
    `RULE(software_answer_is_in_its_place, 1, !i_sw_waiting.followed_q
        || i_block.i_sw_answers.i_words.words[its_sw_place][bit_place] == i_sw_waiting.word_q)

    `REACHED(miss_begins, begins_o)
    `REACHED(answer_leaves_for_software, m_axis_swrsp_tvalid && m_axis_swrsp_tready)
    `REACHED(answer_waits_for_the_walk, held == 2'd2 && walk_valid_i && index_valid_i)
endmodule
