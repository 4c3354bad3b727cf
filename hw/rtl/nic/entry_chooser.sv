// SPDX-License-Identifier: MIT OR Apache-2.0
// Offers the numbers and addresses of entries that wait for access to memory, one after the other.
//
// Contract: each that is wanted is taken once, in turn, so that none waits for ever; what is offered
// stays until it is accepted. `base_i` is a multiple of an entry's stride; it stays while an entry is
// wanted or not accepted, and so does the segment of that entry.
module entry_chooser #(
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned LogMisses   = 4,
    parameter int unsigned LogStride   = 6,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic [63:0]                        base_i,
    input  logic [Misses-1:0]                  wanted_i,
    input  logic [Misses-1:0][SegmentBits-1:0] segments_i,
    output logic [Misses-1:0]                  taken_o,

    output logic                               valid_o,
    input  logic                               ready_i,
    output logic [LogMisses-1:0]               miss_o,
    output logic [63:0]                        address_o
);

    typedef logic [LogMisses-1:0] miss_t;

    // Chosen; then the low half of the address with its carry; then the whole.
    miss_t       chosen, chosen_q, added_q;
    logic        chosen_valid_q, added_valid_q, chosen_free, added_free, free;
    logic [32:0] low_q;
    logic [31:0] high_q;
    logic [63:0] offset;
    logic [Misses-1:0] turn;
    take_turns #(
        .Count(2**LogMisses)
    ) i_turns (
        .clk_i,
        .rst_ni,
        .asks_i  (wanted_i),
        .taken_i (chosen_free && |wanted_i),
        .chosen_o(turn),
        .number_o(chosen)
    );
    assign offset      = 64'(segments_i[chosen_q]) << LogStride;
    assign free        = !valid_o || ready_i;
    assign added_free  = !added_valid_q || free;
    assign chosen_free = !chosen_valid_q || added_free;
    assign taken_o     = chosen_free ? turn : '0;

    always_ff @(posedge clk_i) begin
        if (chosen_free) chosen_q <= chosen;
        if (added_free) begin
            added_q <= chosen_q;
            low_q   <= {1'b0, base_i[31:0]} + {1'b0, offset[31:0]};
            high_q  <= offset[63:32];
        end
        if (free) begin
            miss_o    <= added_q;
            address_o <= {base_i[63:32] + high_q + 32'(low_q[32]), low_q[31:0]};
        end
        if (!rst_ni) begin
            chosen_valid_q <= 1'b0;
            added_valid_q  <= 1'b0;
            valid_o        <= 1'b0;
        end else begin
            if (chosen_free) chosen_valid_q <= |wanted_i;
            if (added_free) added_valid_q <= chosen_valid_q;
            if (free) valid_o <= added_valid_q;
        end
    end

`ifndef SYNTHESIS
    offer_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && valid_o && !ready_i) || valid_o && $stable({miss_o, address_o}));
`endif

endmodule
