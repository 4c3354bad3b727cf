// SPDX-License-Identifier: MIT OR Apache-2.0
// Hands out the numbers below 2**LogCount, each to one at a time.
//
// Contract: after a reset none is out. A number is given back only while it is out. At most one is
// taken and one given back in a clock.
module lookup_numbers #(
    parameter int unsigned LogCount = 7
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    output logic                valid_o,     // there is one
    output logic [LogCount-1:0] number_o,
    input  logic                take_i,
    input  logic                give_i,
    input  logic [LogCount-1:0] give_number_i
);

    // The first time they are counted, later they come from where they were given back.
    logic [LogCount:0]   counted_q;
    logic                counts, given_valid;
    logic [LogCount-1:0] given;
    assign counts   = !counted_q[LogCount];
    assign valid_o  = counts || given_valid;
    assign number_o = counts ? counted_q[LogCount-1:0] : given;

    lut_fifo #(
        .LogDepth(LogCount),
        .Width   (LogCount)
    ) i_given (
        .clk_i,
        .rst_ni,
        .push_i (give_i),
        .data_i (give_number_i),
        .pop_i  (take_i && !counts),
        .valid_o(given_valid),
        .data_o (given)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) counted_q <= '0;
        else if (take_i && counts) counted_q <= counted_q + 1'b1;
    end

`ifndef SYNTHESIS
    logic [2**LogCount-1:0] out_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) out_q <= '0;
        else begin
            if (give_i) out_q[give_number_i] <= 1'b0;
            if (take_i) out_q[number_o] <= 1'b1;
        end
    end
    one_is_taken_where_one_is: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !take_i || valid_o && !out_q[number_o]);
    each_is_given_back_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !give_i || out_q[give_number_i]);
`endif

endmodule
