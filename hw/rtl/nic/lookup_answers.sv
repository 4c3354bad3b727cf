// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts the answers of the index: those that are answers of requests leave, misses begin to read host
// memory, and those to what the walk told the index free its context.
//
// Contract: the answers of the walk, `walk_*`, are always taken, and go before those of the index.
// The answers of each port wait in a buffer of their own. It has room, because a request is taken
// only while there is a place for its answer. `begins_o` and `free_o` come with a context for one clock.
module lookup_answers
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic [6:0]                   value_bytes_i,    // of a cached value

    input  logic                         begun_valid_i,
    input  context_t                     begun_i,
    input  request_t                     begun_request_i,

    input  logic                         index_valid_i,
    output logic                         index_ready_o,
    input  logic [64*(3+ValueWords)-1:0] index_data_i,

    input  logic                         walk_valid_i,
    input  logic                         walk_frees_i,     // nothing is told to the index
    input  context_t                     walk_number_i,
    input  logic [64*(2+ValueWords)-1:0] walk_data_i,

    output logic                         begins_o,         // a miss
    output context_t                     begins_number_o,
    output place_t                       begins_place_o,
    output logic [6:0]                   begins_slots_o,   // of its first trip
    output logic                         free_o,
    output context_t                     free_number_o,
    output index_events_t                events_o,

    output logic                         m_axis_rsp_tvalid,
    input  logic                         m_axis_rsp_tready,
    output logic [64*(2+ValueWords)-1:0] m_axis_rsp_tdata,
    output logic                         m_axis_swrsp_tvalid,
    input  logic                         m_axis_swrsp_tready,
    output logic [64*(2+ValueWords)-1:0] m_axis_swrsp_tdata
);

    typedef logic [64*ValueWords-1:0] value_t;

    // ---- The answer comes; then what was asked is beside it.

    logic                 came_q, known_q, move;
    index_pkg::answer_t   came_answer_q, answer_q;
    value_t               came_value_q, value_q;
    index_token_t         came_token, token_q;
    logic [3:0]           operation, operation_q;
    logic [15:0]          token, request_token_q;
    assign came_token    = came_answer_q.token;
    assign move          = !walk_valid_i;
    assign index_ready_o = !came_q || !known_q || move;

    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (20)
    ) i_requests (
        .clk_i,
        .write_enable_i (begun_valid_i),
        .write_address_i(begun_i),
        .write_data_i   ({begun_request_i.operation, begun_request_i.token}),
        .read_address_i (came_token.number),
        .read_data_o    ({operation, token})
    );

    always_ff @(posedge clk_i) begin
        if (index_ready_o) {came_value_q, came_answer_q} <= index_data_i;
        if (!known_q || move) begin
            answer_q        <= came_answer_q;
            value_q         <= came_value_q;
            token_q         <= came_token;
            operation_q     <= operation;
            request_token_q <= token;
        end
        if (!rst_ni) begin
            came_q  <= 1'b0;
            known_q <= 1'b0;
        end else begin
            if (index_ready_o) came_q <= index_valid_i;
            if (!known_q || move) known_q <= came_q;
        end
    end

    // ---- What becomes of it.

    logic    sorts, looks_up, misses, of_request;
    answer_t answer;
    assign sorts      = known_q && move;
    assign of_request = sorts && !token_q.tells;
    assign looks_up   = operation_q == index_pkg::LookUp || operation_q == index_pkg::LockAndRead;
    assign misses     = of_request && looks_up && answer_q.status == index_pkg::Miss;
    always_comb begin
        answer             = '0;
        answer.epoch       = answer_q.epoch;
        answer.owner       = answer_q.owner;
        answer.bytes       = answer_q.has_content ? 9'(value_bytes_i) : '0;
        answer.version     = answer_q.has_content ? answer_q.word[63:32] : '0;
        answer.has_lock    = operation_q == index_pkg::LockAndRead
            && answer_q.status == index_pkg::Done;
        answer.has_content = answer_q.has_content;
        answer.is_cached   = answer_q.has_content;
        answer.status      = answer_q.status;
        answer.token       = request_token_q;
    end

    logic                         leaves_q;
    logic [64*(2+ValueWords)-1:0] leaving_q;
    always_ff @(posedge clk_i) begin
        leaving_q       <= walk_valid_i ? walk_data_i : {value_q, answer};
        free_number_o   <= walk_valid_i ? walk_number_i : token_q.number;
        begins_number_o <= token_q.number;
        begins_place_o  <= '{
            address: answer_q.address,
            word:    answer_q.word[37:0],
            epoch:   answer_q.epoch,
            owner:   answer_q.owner,
            slots:   answer_q.slots[6:0]
        };
        begins_slots_o  <= smaller(answer_q.slots[6:0],
            room(answer_q.address[5:0], SlotBytes, LandingLines));
        events_o <= '{
            index_error: sorts && answer_q.status == index_pkg::BusError,
            hint_set:    sorts && token_q.tells && !token_q.is_fill,
            fill_full:   sorts && token_q.tells && token_q.is_fill
                && answer_q.status == index_pkg::Full,
            fill_stale:  sorts && token_q.tells && token_q.is_fill
                && answer_q.status == index_pkg::Stale,
            fill:        sorts && token_q.tells && token_q.is_fill,
            miss:        misses,
            hit:         of_request && looks_up && answer_q.status == index_pkg::Done,
            look_up:     of_request && looks_up,
            request:     of_request
        };
        if (!rst_ni) begin
            leaves_q <= 1'b0;
            free_o   <= 1'b0;
            begins_o <= 1'b0;
            events_o <= '0;
        end else begin
            leaves_q <= walk_valid_i || of_request && !misses;
            free_o   <= walk_valid_i ? walk_frees_i
                : sorts && (token_q.tells ? token_q.is_last : !misses);
            begins_o <= misses;
        end
    end

    // ---- Answers wait. `free_number_o` is also the context of the one that leaves.

    lut_fifo #(
        .LogDepth(LogContexts),
        .Width   (64 * (2 + ValueWords))
    ) i_answers (
        .clk_i,
        .rst_ni,
        .push_i (leaves_q && !free_number_o[7]),
        .data_i (leaving_q),
        .pop_i  (m_axis_rsp_tvalid && m_axis_rsp_tready),
        .valid_o(m_axis_rsp_tvalid),
        .data_o (m_axis_rsp_tdata)
    );
    lut_fifo #(
        .LogDepth(LogSoftware),
        .Width   (64 * (2 + ValueWords))
    ) i_sw_answers (
        .clk_i,
        .rst_ni,
        .push_i (leaves_q && free_number_o[7]),
        .data_i (leaving_q),
        .pop_i  (m_axis_swrsp_tvalid && m_axis_swrsp_tready),
        .valid_o(m_axis_swrsp_tvalid),
        .data_o (m_axis_swrsp_tdata)
    );

    // Requests that the tokens do not need to carry, and bits that the answers do not.
    logic unused;
    assign unused = ^{begun_request_i.reserved, begun_request_i.word, begun_request_i.epoch,
        begun_request_i.owner, begun_request_i.displacement, begun_request_i.ignored,
        begun_request_i.has_word, begun_request_i.is_exact, begun_request_i.key, token_q.zero,
        answer_q.is_locked, answer_q.is_found, answer_q.reserved, answer_q.slots[7], answer_q.token};

`ifndef SYNTHESIS
    answer_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_rsp_tvalid && !m_axis_rsp_tready)
            || m_axis_rsp_tvalid && $stable(m_axis_rsp_tdata));
    sw_answer_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_swrsp_tvalid && !m_axis_swrsp_tready)
            || m_axis_swrsp_tvalid && $stable(m_axis_swrsp_tdata));
    a_miss_names_slots: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !begins_o || begins_place_o.slots != 0 && begins_place_o.slots <= 7'd64);
`endif

endmodule
