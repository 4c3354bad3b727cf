// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes requests of both ports, gives each a context, and makes requests to the index of them.
//
// Contract: one request is taken a clock, while its port has a free context and a place for its
// answer; of software alone, one in two clocks. When both ports could go on, they take turns. A request
// to the index is offered nine clocks after its own, in the same order, unless others are ahead of it;
// `begun_*` says a clock after the acceptance what was taken, and `homed_*` when its home is known. Both
// come before the request is offered.
module lookup_entrance
    import lookup_pkg::*;
#(
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned LogContexts = 7
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         enable_i,        // requests are taken
    input  logic [31:0]                  slots_i,
    input  logic [4:0]                   segment_shift_i,

    input  logic                         s_axis_req_tvalid,
    output logic                         s_axis_req_tready,
    input  logic [64*(3+ValueWords)-1:0] s_axis_req_tdata,
    input  logic                         s_axis_sw_tvalid,
    output logic                         s_axis_sw_tready,
    input  logic [64*(3+ValueWords)-1:0] s_axis_sw_tdata,

    output logic                         begun_valid_o,
    output context_t                     begun_o,
    output request_t                     begun_request_o,
    output logic                         homed_valid_o,
    output context_t                     homed_o,
    output logic [31:0]                  home_o,

    output logic                         index_valid_o,
    input  logic                         index_ready_i,
    output logic [64*(4+ValueWords)-1:0] index_data_o,

    input  logic                         free_i,          // a context is free again
    input  context_t                     free_number_i,
    input  logic                         answered_i,      // an answer has left, of the network
    input  logic                         sw_answered_i,

    output logic                         idle_o,
    output logic [8:0]                   under_way_o      // requests
);

    localparam int unsigned LogPlaces = 4;                // of requests behind the acceptance
    localparam int unsigned Stages    = 8;
    typedef logic [64*ValueWords-1:0] value_t;

    // ---- Who is taken. Contexts and places for answers become free at different times.

    logic                   turn_q;                       // of software
    logic                   takes, takes_net, takes_sw, has_number, has_sw_number;
    logic [LogContexts-1:0] number;
    logic [LogSoftware-1:0] sw_number;
    logic [LogContexts:0]   unanswered_q;
    logic [LogSoftware:0]   sw_unanswered_q;
    logic [8:0]             busy_q;
    logic [LogPlaces:0]     held_q;
    logic                   may_take, net_has_room, sw_has_room, offered;
    assign may_take          = enable_i && !held_q[LogPlaces];
    assign net_has_room      = has_number && !unanswered_q[LogContexts];
    assign sw_has_room       = has_sw_number && !sw_unanswered_q[LogSoftware];
    assign s_axis_req_tready = may_take && !turn_q && net_has_room;
    assign s_axis_sw_tready  = may_take && turn_q && sw_has_room;
    assign takes_net         = s_axis_req_tvalid && s_axis_req_tready;
    assign takes_sw          = s_axis_sw_tvalid && s_axis_sw_tready;
    assign takes             = takes_net || takes_sw;
    assign offered           = index_valid_o && index_ready_i;

    lookup_numbers #(.LogCount(LogContexts)) i_numbers (
        .clk_i, .rst_ni,
        .valid_o(has_number), .number_o(number), .take_i(takes_net),
        .give_i(free_i && !free_number_i[7]), .give_number_i(free_number_i[LogContexts-1:0])
    );
    lookup_numbers #(.LogCount(LogSoftware)) i_sw_numbers (
        .clk_i, .rst_ni,
        .valid_o(has_sw_number), .number_o(sw_number), .take_i(takes_sw),
        .give_i(free_i && free_number_i[7]), .give_number_i(free_number_i[LogSoftware-1:0])
    );

    // Who is taken is known late: counters go up or down by it, but are added to before.
    logic [8:0] unanswered;
    assign unanswered = 9'(unanswered_q) + 9'(sw_unanswered_q);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            turn_q          <= 1'b0;
            unanswered_q    <= '0;
            sw_unanswered_q <= '0;
            busy_q          <= '0;
            held_q          <= '0;
        end else begin
            // A turn ends with a request, unless there is none that could be taken.
            if (turn_q) turn_q <= s_axis_sw_tvalid && !takes_sw;
            else turn_q <= s_axis_sw_tvalid && sw_has_room
                && (takes_net || !s_axis_req_tvalid || !net_has_room);
            if (takes_net != answered_i) begin
                unanswered_q <= takes_net ? unanswered_q + 1'b1 : unanswered_q - 1'b1;
            end
            if (takes_sw != sw_answered_i) begin
                sw_unanswered_q <= takes_sw ? sw_unanswered_q + 1'b1 : sw_unanswered_q - 1'b1;
            end
            if (takes != free_i) busy_q <= takes ? busy_q + 1'b1 : busy_q - 1'b1;
            if (takes != offered) held_q <= takes ? held_q + 1'b1 : held_q - 1'b1;
        end
    end
    assign idle_o = busy_q == 0 && unanswered_q == 0 && sw_unanswered_q == 0;
    always_ff @(posedge clk_i) under_way_o <= busy_q > unanswered ? busy_q : unanswered;

    // ---- On its way: the home takes seven clocks, its segment the eighth.

    logic     [Stages:1] valid_q;
    context_t [Stages:1] number_q;
    request_t [Stages:1] request_q;
    value_t   [Stages:1] value_q;
    logic [31:0]         home, home_q, segment_q;
    always_ff @(posedge clk_i) begin
        number_q  <= {number_q[Stages-1:1], takes_sw ? {1'b1, 7'(sw_number)} : {1'b0, 7'(number)}};
        request_q <= {request_q[Stages-1:1],
            takes_sw ? s_axis_sw_tdata[191:0] : s_axis_req_tdata[191:0]};
        value_q   <= {value_q[Stages-1:1], takes_sw ? s_axis_sw_tdata[192 +: 64*ValueWords]
            : s_axis_req_tdata[192 +: 64*ValueWords]};
        home_q    <= home;
        segment_q <= home >> segment_shift_i;
        if (!rst_ni) valid_q <= '0;
        else valid_q <= {valid_q[Stages-1:1], takes};
    end
    lookup_home i_home (
        .clk_i,
        .key_i  (takes_sw ? s_axis_sw_tdata[63:0] : s_axis_req_tdata[63:0]),
        .slots_i,
        .home_o (home)
    );

    assign begun_valid_o   = valid_q[1];
    assign begun_o         = number_q[1];
    assign begun_request_o = request_q[1];
    assign homed_valid_o   = valid_q[Stages];
    assign homed_o         = number_q[Stages];
    assign home_o          = home_q;

    // ---- Requests to the index.

    request_t            last;
    index_pkg::request_t request;
    always_comb begin
        last                  = request_q[Stages];
        request               = '0;
        request.owner         = last.owner;
        request.epoch         = last.epoch;
        request.token         = index_token_t'{number: number_q[Stages], default: '0};
        request.displacement  = last.displacement;
        request.has_directory = last.has_word;
        request.is_exact      = last.is_exact;
        request.operation     = last.operation;
        {request.version, request.low_directory} = last.operation == index_pkg::SetHint
            ? 64'(last.word) : {last.word[31:0], 32'd0};
        request.home          = home_q;
        request.segment       = segment_q;
        request.key           = last.key;
    end
    lut_fifo #(
        .LogDepth(LogPlaces),
        .Width   (64 * (4 + ValueWords))
    ) i_requests (
        .clk_i,
        .rst_ni,
        .push_i (valid_q[Stages]),
        .data_i ({value_q[Stages], request}),
        .pop_i  (offered),
        .valid_o(index_valid_o),
        .data_o (index_data_o)
    );

    logic unused;
    assign unused = ^{free_number_i, last.reserved, last.ignored, last.token};

`ifndef SYNTHESIS
    each_context_is_of_a_request: assert property (@(posedge clk_i) disable iff (!rst_ni)
        busy_q <= 9'(2**LogContexts + 2**LogSoftware));
    one_port_is_taken_in_a_clock: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(s_axis_req_tready && s_axis_sw_tready));
`endif

endmodule
