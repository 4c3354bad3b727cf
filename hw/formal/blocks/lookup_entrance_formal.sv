// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_entrance: each request that is taken has a context, which is with one request at a time. It is told of a clock later,
// then its home, and then it is handed on to the index, once, in order, with what it came with and with its home. Requests are
// taken where there is room, both ports in turn.
`include "../rules/rule.svh"
module lookup_entrance_formal
    import lookup_pkg::*;
#(
    parameter int unsigned LogContexts = 2,
    localparam int unsigned In          = 256,   // bits of a request, with one word of value
    localparam int unsigned Out         = 320,   // and of one to the index
    localparam int unsigned Contexts    = 2**LogContexts,
    localparam int unsigned Software    = 2**LogSoftware,
    localparam int unsigned Places      = 16
) (
    input logic          clk_i,
    input logic          rst_ni,
    input logic          enable_i,
    input logic [31:0]   slots_i,
    input logic [4:0]    segment_shift_i,
    input logic          s_axis_req_tvalid,
    input logic [In-1:0] s_axis_req_tdata,
    input logic          s_axis_sw_tvalid,
    input logic [In-1:0] s_axis_sw_tdata,
    input logic          index_ready_i,
    input logic          free_i,
    input context_t      free_number_i,
    input logic          answered_i,
    input logic          sw_answered_i
);
    logic           s_axis_req_tready, s_axis_sw_tready, begun_valid_o, homed_valid_o, index_valid_o, idle_o;
    context_t       begun_o, homed_o;
    request_t       begun_request_o;
    logic [31:0]    home_o;
    logic [Out-1:0] index_data_o;
    logic [8:0]     under_way_o;

    power_up i_power_up (.*);
    lookup_entrance #(.LogContexts(LogContexts)) i_block (.*);
    // stream_buffer keeps them for the network, lookup_port for software.
    axi4_stream_rules #(.Width(In), .Proven(0)) i_net (
        .clk_i, .rst_ni, .tvalid(s_axis_req_tvalid), .tready(s_axis_req_tready), .payload(s_axis_req_tdata));
    axi4_stream_rules #(.Width(In), .Proven(0), .Dense(0)) i_software (
        .clk_i, .rst_ni, .tvalid(s_axis_sw_tvalid), .tready(s_axis_sw_tready), .payload(s_axis_sw_tdata));
    axi4_stream_rules #(.Width(Out)) i_index (
        .clk_i, .rst_ni, .tvalid(index_valid_o), .tready(index_ready_i), .payload(index_data_o));

    // What counts of the outputs.
    logic [$bits(request_t)+Out+62:0] seen;
    assign seen = {s_axis_req_tready, s_axis_sw_tready, begun_valid_o, begun_valid_o ? {begun_o, begun_request_o} : '0,
        homed_valid_o, homed_valid_o ? {homed_o, home_o} : '0, index_valid_o, index_valid_o ? index_data_o : '0, idle_o,
        under_way_o};

    // ---- What is taken is told of a clock later.
    logic          takes_net, takes_sw, took_sw_q;
    logic [8:1]    came_q;       // one was taken so many clocks ago
    logic [In-1:0] taken_q;
    assign takes_net = s_axis_req_tvalid && s_axis_req_tready;
    assign takes_sw  = s_axis_sw_tvalid && s_axis_sw_tready;
    always_ff @(posedge clk_i) begin
        came_q    <= rst_ni ? {came_q[7:1], takes_net || takes_sw} : '0;
        took_sw_q <= takes_sw;
        taken_q   <= takes_sw ? s_axis_sw_tdata : s_axis_req_tdata;
    end
    `RULE(what_is_taken_is_told_of_in_the_next_clock, 1, begun_valid_o == came_q[1]
        && (!begun_valid_o || begun_request_o == taken_q[191:0] && begun_o[7] == took_sw_q))
    `RULE(home_is_told_of_in_the_eighth_clock, 1, homed_valid_o == came_q[8])

    // ---- Contexts. Those of requests that were told of.
    logic [Contexts-1:0] open_q, begins, frees;
    logic [Software-1:0] sw_open_q, sw_begins, sw_frees;
    assign begins    = Contexts'(begun_valid_o && !begun_o[7]) << begun_o[LogContexts-1:0];
    assign sw_begins = Software'(begun_valid_o && begun_o[7]) << begun_o[LogSoftware-1:0];
    assign frees     = Contexts'(free_i && !free_number_i[7]) << free_number_i[LogContexts-1:0];
    assign sw_frees  = Software'(free_i && free_number_i[7]) << free_number_i[LogSoftware-1:0];
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            open_q    <= '0;
            sw_open_q <= '0;
        end else begin
            open_q    <= (open_q | begins) & ~frees;
            sw_open_q <= (sw_open_q | sw_begins) & ~sw_frees;
        end
    end
    // lookup_answers frees a context when it has the last answer of the index, or of the walk, for it.
    `RULE(context_is_freed_while_it_is_open, 0, !free_i || ((frees & open_q) != 0 || (sw_frees & sw_open_q) != 0)
        && (free_number_i[7] ? 32'(free_number_i[6:0]) < Software : 32'(free_number_i) < Contexts))
    `RULE(context_is_one_of_its_port, 1, !begun_valid_o
        || (begun_o[7] ? 32'(begun_o[6:0]) < Software : 32'(begun_o) < Contexts))
    `RULE(context_is_of_one_request, 1, (begins & open_q) == 0 && (sw_begins & sw_open_q) == 0)
    // All that have a context, and all that have no answer yet.
    logic [7:0] net_open, sw_open, net_owed_q, sw_owed_q;
    assign net_open = 8'($countones(open_q | begins));
    assign sw_open  = 8'($countones(sw_open_q | sw_begins));
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            net_owed_q <= '0;
            sw_owed_q  <= '0;
        end else begin
            net_owed_q <= net_owed_q + 8'(takes_net) - 8'(answered_i);
            sw_owed_q  <= sw_owed_q + 8'(takes_sw) - 8'(sw_answered_i);
        end
    end
    // lookup_answers has one for each request, and not before it.
    `RULE(answer_is_of_a_request, 0, (!answered_i || net_owed_q != 0) && (!sw_answered_i || sw_owed_q != 0))
    `RULE(contexts_are_those_out, 1, i_block.i_numbers.out_q == (open_q | begins)
        && i_block.i_sw_numbers.out_q == (sw_open_q | sw_begins))
    `RULE(no_more_answers_are_owed_than_fit, 1, 32'(net_owed_q) <= Contexts && 32'(sw_owed_q) <= Software)
    `RULE(requests_are_counted, 1, i_block.busy_q == 9'(net_open) + 9'(sw_open)
        && 8'(i_block.unanswered_q) == net_owed_q && 8'(i_block.sw_unanswered_q) == sw_owed_q)
    `RULE(idle_is_where_nothing_is_under_way, 1, idle_o == ({net_open, sw_open, net_owed_q, sw_owed_q} == 0))
    logic       counted_q;
    logic [8:0] opened_q, owed_q;
    always_ff @(posedge clk_i) begin
        counted_q <= rst_ni;
        opened_q  <= 9'(net_open) + 9'(sw_open);
        owed_q    <= 9'(net_owed_q) + 9'(sw_owed_q);
    end
    `RULE(those_under_way_are_told, 1, !counted_q || under_way_o == (opened_q > owed_q ? opened_q : owed_q))

    // ---- Requests are handed on in order, each with what it came with. Its home is looked at below.
    typedef struct packed {
        logic [63:0]         value;
        index_pkg::request_t request;
    } handed_t;
    function automatic handed_t handed_of(input context_t number, input request_t request, input logic [63:0] value);
        logic hint;              // has all bits of its word of the directory; the others have a version
        hint = request.operation == index_pkg::SetHint;
        handed_of = '{value: value, request: '{
            owner: request.owner, epoch: request.epoch, token: {8'd0, number}, displacement: request.displacement,
            reserved: '0, has_directory: request.has_word, is_exact: request.is_exact, operation: request.operation,
            version: hint ? 32'(request.word[37:32]) : request.word[31:0],
            low_directory: hint ? request.word[31:0] : '0, home: '0, segment: '0, key: request.key}};
    endfunction
    function automatic handed_t but_for_home(input handed_t handed);
        but_for_home = handed;
        but_for_home.request.home    = '0;
        but_for_home.request.segment = '0;
    endfunction
    handed_t    begun, leaving, followed;
    logic       offered;
    logic [4:0] waiting, held;
    assign begun    = handed_of(begun_o, begun_request_o, taken_q[255:192]);
    assign leaving  = index_data_o;
    assign offered  = index_valid_o && index_ready_i;
    assign followed = i_words.word_q;
    assign held     = waiting + 5'(came_q[1]);
    ordered_words #(.Width(Out), .Most(Places)) i_words (
        .clk_i, .rst_ni, .push_i(begun_valid_o), .pushed_i(begun), .pop_i(offered), .popped_i(but_for_home(leaving)),
        .inside_o(waiting));
    logic [4:0] behind;            // those that are not in the queue yet
    assign behind = 5'($countones(came_q));
    `RULE(request_is_offered_in_the_ninth_clock, 1, index_valid_o == (held != behind))
    `RULE(no_more_are_held_than_fit, 1, 32'(held) <= Places && i_block.held_q == held && behind <= held)

    // ---- Where the one is that is followed: in one of the stages, or in the queue, which follows the same one.
    logic [8:2] at_q;
    logic       queued;
    logic [4:0] ahead;             // in the queue
    assign queued = i_block.i_requests.followed_q;
    assign ahead  = i_block.i_requests.at_q - i_block.i_requests.popped_q;
    always_ff @(posedge clk_i) at_q <= rst_ni ? {at_q[7:2], i_words.begins} : '0;
    `RULE(queue_follows_the_same_request, 0, i_block.i_requests.mark == at_q[8])
    `RULE(followed_request_is_in_one_place, 1, (at_q & (at_q - 1'b1)) == 0
        && i_words.followed_q == (queued || at_q != 0) && !(queued && at_q != 0))
    `RULE(stages_are_those_of_what_came, 1, i_block.valid_q == came_q && (at_q & ~came_q[8:2]) == 0)
    `RULE(queue_has_the_others, 1, i_block.i_requests.pushed_q - i_block.i_requests.popped_q == held - behind)
    `RULE(followed_request_is_in_its_place_of_the_queue, 1, !queued || ahead == i_words.ahead_q && ahead < held - behind)
    handed_t in_queue;
    assign in_queue = {i_block.i_requests.lasts_q[ahead[3:0]], i_block.i_requests.word_q};
    `RULE(followed_request_is_as_it_came, 1, !queued || but_for_home(in_queue) == followed)

    // ---- Its home, where it has the key that the stub follows.
    logic        has_key;
    logic [31:0] home, segment;
    assign has_key = followed.request.key == i_block.i_home.key && slots_i == i_block.i_home.slots;
    assign home    = i_block.i_home.home;
    assign segment = home >> segment_shift_i;
    // lookup_block keeps them; it asserts the same.
    `RULE(settings_hold_while_requests_are_under_way, 0, !$past(rst_ni && !idle_o) || $stable({slots_i, segment_shift_i}))
    // The index answers to what it was asked. This is of any request, since the one that is followed is any.
    context_t its;
    assign its = followed.request.token[7:0];
    `RULE(context_is_freed_after_its_request_was_handed_on, 0, !(free_i && i_words.followed_q && free_number_i == its))
    `RULE(followed_context_is_open, 1, !i_words.followed_q || (its[7] ? 32'(its[6:0]) < Software && sw_open_q[its[3:0]]
        : 32'(its) < Contexts && open_q[its[LogContexts-1:0]]))
    `RULE(first_stage_has_what_was_taken, 1, !came_q[1] || i_block.value_q[1] == taken_q[255:192]
        && i_block.i_home.is_its_q[1] == (taken_q[63:0] == i_block.i_home.key))
    for (genvar s = 2; s <= 8; s++) begin : g_stage
        `RULE(followed_request_is_in_its_stage, 1, !at_q[s] || followed
            == handed_of(i_block.number_q[s], i_block.request_q[s], i_block.value_q[s]))
        `RULE(others_are_ahead, 1, !at_q[s] || i_words.ahead_q == held - 5'($countones(came_q[s:1])))
        if (s < 8) begin : g_on_its_way
            `RULE(home_is_on_its_way, 1, !at_q[s] || !has_key || i_block.i_home.is_its_q[s])
        end
    end
    `RULE(home_is_told_as_it_is, 1, !at_q[8] || homed_o == its && (!has_key || home_o == home))
    `RULE(segment_is_beside_its_home, 1, !at_q[8] || !has_key || i_block.segment_q == segment)
    `RULE(home_is_in_the_queue, 1, !queued || !has_key
        || in_queue.request.home == home && in_queue.request.segment == segment)
    `RULE(home_leaves_as_it_is, 1, !(i_words.followed_q && offered && i_words.ahead_q == 0) || !has_key
        || leaving.request.home == home && leaving.request.segment == segment)

    // ---- Who is taken.
    logic may_take, net_waits, sw_waits, net_could, sw_could;
    assign may_take  = enable_i && 32'(held) < Places;
    assign net_waits = s_axis_req_tvalid && 32'(net_open) < Contexts && 32'(net_owed_q) < Contexts;
    assign sw_waits  = s_axis_sw_tvalid && 32'(sw_open) < Software && 32'(sw_owed_q) < Software;
    assign net_could = may_take && net_waits;
    assign sw_could  = may_take && sw_waits;
    `RULE(taken_where_there_is_room, 1, (!takes_net || net_could) && (!takes_sw || sw_could))
    `RULE(one_is_taken_where_the_network_could_go_on, 1, !net_could || takes_net || takes_sw)
    `RULE(each_waits_for_one_clock_at_most, 1, (!$past(rst_ni && net_could && !takes_net) || !net_could || takes_net)
        && (!$past(rst_ni && sw_could && !takes_sw) || !sw_could || takes_sw))
    // Whose turn it is, since the other one went while it could have gone.
    logic net_next_q, sw_next_q;
    always_ff @(posedge clk_i) begin
        net_next_q <= rst_ni && !takes_net && (net_next_q || net_waits && takes_sw);
        sw_next_q  <= rst_ni && !takes_sw && (sw_next_q || sw_waits && takes_net);
    end
    `RULE(ports_take_turns, 1, !(takes_net && sw_next_q) && !(takes_sw && net_next_q))
    `RULE(turn_is_known, 1, (!i_block.turn_q || sw_waits) && (!sw_next_q || i_block.turn_q)
        && (!net_next_q || net_waits && !i_block.turn_q))

    `REACHED(both_take_turns, $past(rst_ni && takes_net && sw_could) && takes_sw && net_could)
    `REACHED(network_has_no_context, s_axis_req_tvalid && enable_i && 32'(net_open) == Contexts)
    `REACHED(network_has_no_place_for_an_answer, s_axis_req_tvalid && enable_i && net_open == 0 && 32'(net_owed_q) == Contexts)
    `REACHED(request_leaves_with_its_home, offered && i_words.followed_q && i_words.ahead_q == 0 && has_key)
    `REACHED(two_with_the_same_key_leave, $past(rst_ni && offered && leaving.request.key == followed.request.key) && offered
        && i_words.followed_q && i_words.ahead_q == 0 && has_key && its[7])
    logic freed_q;                 // the context that was followed last
    always_ff @(posedge clk_i) freed_q <= rst_ni && (freed_q || free_i && free_number_i == its);
    `REACHED(context_is_used_again, begun_valid_o && freed_q && begun_o == its)
endmodule
