// SPDX-License-Identifier: MIT OR Apache-2.0
// The home of a key, from multiplications of 16 by 16 bits.
//
// Contract: `home_o` is that of the `key_i` of seven clocks before: bits 63:32 of
// (key ^ key >> 32) * 0x9E3779B97F4A7C15, as a fraction of 2**32, times `slots_i`, if that has stayed
// as it is since. lockdb/tables/src/hash.rs says the same.
module lookup_home (
    input  logic        clk_i,
    input  logic [63:0] key_i,
    input  logic [31:0] slots_i,
    output logic [31:0] home_o
);

    localparam logic [15:0] M0 = 16'h7C15;
    localparam logic [15:0] M1 = 16'h7F4A;
    localparam logic [15:0] M2 = 16'h79B9;
    localparam logic [15:0] M3 = 16'h9E37;

    function automatic logic [31:0] times(input logic [15:0] one, input logic [15:0] other);
        return 32'(one) * 32'(other);
    endfunction

    // Of the names of products, the first digit is the part of the folded key, or of the hash, and the
    // second that of what it is multiplied with.
    logic [63:0] folded_q;
    logic [31:0] p00_q, p01_q, p10_q, p11_q, p02_q, p20_q;
    logic [15:0] p03_q, p12_q, p21_q, p30_q;
    logic [33:0] middle_q;
    logic [31:0] high_q, hash_q;
    logic [15:0] cross_q;
    logic [31:0] h00_q, h01_q, h10_q, h11_q, top_q;
    logic [33:0] share_q;

    always_ff @(posedge clk_i) begin
        folded_q <= {key_i[63:32], key_i[31:0] ^ key_i[63:32]};

        p00_q    <= times(folded_q[15:0], M0);
        p01_q    <= times(folded_q[15:0], M1);
        p10_q    <= times(folded_q[31:16], M0);
        p11_q    <= times(folded_q[31:16], M1);
        p02_q    <= times(folded_q[15:0], M2);
        p20_q    <= times(folded_q[47:32], M0);
        p03_q    <= 16'(times(folded_q[15:0], M3));
        p12_q    <= 16'(times(folded_q[31:16], M2));
        p21_q    <= 16'(times(folded_q[47:32], M1));
        p30_q    <= 16'(times(folded_q[63:48], M0));

        middle_q <= 34'(p00_q[31:16]) + 34'(p01_q) + 34'(p10_q);
        high_q   <= p11_q + p02_q + p20_q;
        cross_q  <= p03_q + p12_q + p21_q + p30_q;

        hash_q   <= high_q + 32'(middle_q[33:16]) + {cross_q, 16'd0};

        h00_q    <= times(hash_q[15:0], slots_i[15:0]);
        h01_q    <= times(hash_q[15:0], slots_i[31:16]);
        h10_q    <= times(hash_q[31:16], slots_i[15:0]);
        h11_q    <= times(hash_q[31:16], slots_i[31:16]);

        share_q  <= 34'(h00_q[31:16]) + 34'(h01_q) + 34'(h10_q);
        top_q    <= h11_q;

        home_o   <= top_q + 32'(share_q[33:16]);
    end

    logic unused;
    assign unused = ^{middle_q[15:0], share_q[15:0], h00_q[15:0], p00_q[15:0]};

endmodule
