// SPDX-License-Identifier: MIT OR Apache-2.0
// Says whether a key is in the lines that one read of a table in host memory brought.
//
// Contract: each scan of `s_axis_key` gets the lines of `s_axis_data` up to one with `tlast`, in
// the order of the scans, and gives one answer on `m_axis_hit`, in this order. Any number of lines
// may come; a wrong one makes the answer an error. One line a clock, and scans follow each other
// without a pause; an answer is offered in the sixth clock after its last line. Lines are not taken
// before their scan. Offered answers hold until they are taken; of its inputs the block asks the
// same. Answers that are not taken stop the lines.
//
// docs/nic-lookup.md has the layouts of the streams and the meaning of the answers,
// ndp-runtime/nic/src/scan.rs the same as a program.
module probe_scan #(
    parameter int unsigned SlotBytes  = 32,    // 16, 32 or 64, or a multiple of 64 up to 320
    parameter int unsigned ValueWords = 2      // that an answer carries, 1 to 8
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,

    input  logic                       s_axis_key_tvalid,
    output logic                       s_axis_key_tready,
    input  logic [151:0]               s_axis_key_tdata,       // probe_scan_pkg::scan_t

    input  logic                       s_axis_data_tvalid,
    output logic                       s_axis_data_tready,
    input  logic [511:0]               s_axis_data_tdata,
    input  logic                       s_axis_data_tlast,
    input  logic                       s_axis_data_tuser,      // the bus answered with an error

    output logic                       m_axis_hit_tvalid,
    input  logic                       m_axis_hit_tready,
    output logic [64*ValueWords+127:0] m_axis_hit_tdata        // value, probe_scan_pkg::answer_t
);
    import probe_scan_pkg::*;

    localparam int unsigned Lanes = SlotBytes <= 64 ? 64 / SlotBytes : 1;

    localparam int unsigned Lines = SlotBytes / 64;
    if (SlotBytes != 16 && SlotBytes != 32 && (SlotBytes % 64 != 0 || Lines - 1 > 4)) begin : g_slot
        $error("SlotBytes is %0d, expected 16, 32 or a multiple of 64 up to 320", SlotBytes);
    end
    if (ValueWords - 1 > 7) begin : g_value
        $error("ValueWords is %0d, expected 1 to 8", ValueWords);
    end

    logic  scan_valid, scan_ready, move;
    scan_t scan;
    stream_buffer #(.Width($bits(scan_t))) i_scans (
        .clk_i, .rst_ni,
        .valid_i(s_axis_key_tvalid), .ready_o(s_axis_key_tready), .data_i(s_axis_key_tdata),
        .valid_o(scan_valid), .ready_i(scan_ready), .data_o(scan)
    );

    logic             line_valid;
    logic [511:0]     line;
    logic [Lanes-1:0] lanes;
    control_t         line_control;
    probe_lines #(.SlotBytes(SlotBytes), .Lanes(Lanes)) i_lines (
        .clk_i, .rst_ni, .move_i(move),
        .scan_valid_i(scan_valid), .scan_ready_o(scan_ready), .scan_i(scan),
        .line_valid_i(s_axis_data_tvalid), .line_ready_o(s_axis_data_tready),
        .line_i(s_axis_data_tdata), .line_last_i(s_axis_data_tlast),
        .line_error_i(s_axis_data_tuser),
        .valid_o(line_valid), .line_o(line), .lanes_o(lanes), .control_o(line_control)
    );

    logic                        slots_valid, hit, torn;
    logic [1:0]                  lane;
    logic [21:0]                 sum;
    logic [63:0]                 meta;
    logic [ValueWords-1:0][63:0] value;
    control_t                    slots_control;
    probe_slots #(.SlotBytes(SlotBytes), .Lanes(Lanes), .ValueWords(ValueWords)) i_slots (
        .clk_i, .rst_ni, .move_i(move),
        .valid_i(line_valid), .line_i(line), .lanes_i(lanes), .control_i(line_control),
        .valid_o(slots_valid), .hit_o(hit), .torn_o(torn), .lane_o(lane), .sum_o(sum),
        .meta_o(meta), .value_o(value), .control_o(slots_control)
    );

    logic                        answer_valid;
    answer_t                     answer;
    logic [ValueWords-1:0][63:0] answer_value;
    probe_result #(.SlotBytes(SlotBytes), .Lanes(Lanes), .ValueWords(ValueWords)) i_result (
        .clk_i, .rst_ni, .move_i(move),
        .valid_i(slots_valid), .hit_i(hit), .torn_i(torn), .lane_i(lane), .sum_i(sum),
        .meta_i(meta), .value_i(value), .control_i(slots_control),
        .valid_o(answer_valid), .answer_o(answer), .value_o(answer_value)
    );

    // All moves as long as there is room for an answer.
    stream_buffer #(.Width(64 * ValueWords + $bits(answer_t))) i_answers (
        .clk_i, .rst_ni,
        .valid_i(answer_valid), .ready_o(move), .data_i({answer_value, answer}),
        .valid_o(m_axis_hit_tvalid), .ready_i(m_axis_hit_tready), .data_o(m_axis_hit_tdata)
    );

`ifndef SYNTHESIS
    // Tokens of the scans whose lines have come, oldest first. Seven fit into the block.
    logic [15:0][7:0] tokens_q;
    logic [3:0]       ended_q, answered_q;
    logic [7:0]       token;
    logic [2:0]       status;
    assign token  = m_axis_hit_tdata[AnswerTokenAt+:8];
    assign status = m_axis_hit_tdata[AnswerStatusAt+:3];
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            ended_q    <= '0;
            answered_q <= '0;
        end else begin
            if (scan_ready) begin
                tokens_q[ended_q] <= scan.token;
                ended_q           <= ended_q + 1'b1;
            end
            if (m_axis_hit_tvalid && m_axis_hit_tready) answered_q <= answered_q + 1'b1;
        end
    end

    answer_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_hit_tvalid && !m_axis_hit_tready)
            || m_axis_hit_tvalid && $stable(m_axis_hit_tdata));
    each_answer_has_a_scan_that_ended: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axis_hit_tvalid || ended_q != answered_q);
    answers_come_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axis_hit_tvalid || token == tokens_q[answered_q]);
    no_answer_is_lost: assert property (@(posedge clk_i) disable iff (!rst_ni)
        4'(ended_q - answered_q) <= 4'd7);
    status_is_one: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axis_hit_tvalid || status <= Error);
    only_a_slot_found_has_words: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axis_hit_tvalid || status == Found
            || m_axis_hit_tdata[$bits(m_axis_hit_tdata)-1:64] == '0);

    // What the block asks of its inputs.
    scan_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && s_axis_key_tvalid && !s_axis_key_tready)
            || s_axis_key_tvalid && $stable(s_axis_key_tdata));
    line_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && s_axis_data_tvalid && !s_axis_data_tready)
            || s_axis_data_tvalid
                && $stable({s_axis_data_tdata, s_axis_data_tlast, s_axis_data_tuser}));
`endif

endmodule
