// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of known_bits, which is proven to know what was learned and not forgotten since: the same, with any time for
// forgetting, and with sets of any size. What it asks of its user is proven here.
`include "../rules/rule.svh"
module known_bits #(
    parameter int unsigned Entries = 4,
    localparam int unsigned LogEntries = $clog2(Entries),
    localparam int unsigned LogWords   = LogEntries > 6 ? LogEntries - 6 : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  forget_i,
    input  logic [LogWords-1:0]   forget_from_i,
    output logic                  busy_o,
    input  logic [LogEntries-1:0] look_i,
    output logic                  known_o,
    input  logic                  learn_i,
    input  logic [LogEntries-1:0] learned_i
);
    logic               busy_q, ends, guess;
    logic [Entries-1:0] known_q;
    anything #(.Width(2)) i_any (.clk_i, .value_o({ends, guess}));
    assign busy_o = busy_q;
    always_ff @(posedge clk_i) begin
        // While some are being forgotten, any may be there or not.
        known_o <= busy_q ? guess : known_q[look_i];
        busy_q  <= !rst_ni || forget_i || busy_q && !ends;
        if (learn_i) known_q[learned_i] <= 1'b1;
        for (int unsigned n = 0; n < Entries; n++) begin
            if (!rst_ni || forget_i && n / 64 >= 32'(forget_from_i)) known_q[n] <= 1'b0;
        end
    end
    `RULE(nothing_is_learned_while_forgetting, 1, !learn_i || !busy_o)
    `RULE(entry_exists, 1, !learn_i || 32'(learned_i) < Entries)
endmodule
