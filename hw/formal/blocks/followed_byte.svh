// SPDX-License-Identifier: MIT OR Apache-2.0
// What byte_aligner says of one byte of a target line, which is any: its job proves it, and the stand-in for the block gives it.

// What was asked for a clock ago, two clocks ago, and at the step before that one.
typedef struct packed {
    logic       emits;
    logic       first;
    logic       last;
    logic [5:0] rotation;
    logic [5:0] from;
    logic [5:0] to;
} step_t;
logic [5:0] place;
logic       asked_q, asked2_q;
logic [1:0] lines_q;       // that came, up to two
step_t      step_q, step2_q;
logic [7:0] byte_q, before_q;
logic [5:0] source;
arbitrary #(.Width(6)) i_place (.clk_i, .value_o(place));
// The byte of a line that comes to the place when it is rotated.
assign source = place - step_q.rotation;
always_ff @(posedge clk_i) begin
    step_q  <= '{emit_i, first_i, last_i, rotation_i, first_byte_i, last_byte_i};
    step2_q <= step_q;
    if (asked_q) begin
        byte_q   <= line_i[8*32'(source) +: 8];
        before_q <= byte_q;
    end
    if (!rst_ni) begin
        asked_q  <= 1'b0;
        asked2_q <= 1'b0;
        lines_q  <= '0;
    end else begin
        asked_q  <= step_i;
        asked2_q <= asked_q;
        if (asked_q && !lines_q[1]) lines_q <= lines_q + 1'b1;
    end
end
logic wanted;
assign wanted = (!step2_q.first || place >= step2_q.from) && (!step2_q.last || place <= step2_q.to);
