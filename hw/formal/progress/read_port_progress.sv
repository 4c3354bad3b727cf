// SPDX-License-Identifier: MIT OR Apache-2.0
// read_port: where the bus takes a request within `Late` clocks, one of those that ask is taken in time; and each is, after
// those of the readers before it, which ask no more often than they have places for lines.
`include "../rules/rule.svh"
module read_port_progress #(
    parameter int unsigned Late    = 2,
    parameter int unsigned Before  = 2,    // requests of readers before it while one waits
    parameter int unsigned Readers = 3
) (
    input logic               clk_i,
    input logic               rst_ni,
    input logic [Readers-1:0] read_valid_i,
    input logic [Readers-1:0] read_ready_o,
    input logic [Readers-1:0] reader,    // any
    input logic               m_axi_arvalid,
    input logic               m_axi_arready
);
    waits_at_most #(.Most(Late), .Proven(0)) i_bus (
        .clk_i, .rst_ni, .waits_i(m_axi_arvalid), .served_i(m_axi_arready));
    logic       waits, taken;
    logic [1:0] before_q;
    assign waits = (reader & read_valid_i) != 0;
    assign taken = (reader & read_ready_o) != 0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !waits || taken) before_q <= '0;
        else if ((read_valid_i & read_ready_o) != 0) before_q <= before_q + 1'b1;
    end
    `RULE(readers_before_it_have_few_places, 0, !waits || (read_valid_i & read_ready_o) == 0 || taken
        || 32'(before_q) < Before)

    waits_at_most #(.Most(Late)) i_some_reader (.clk_i, .rst_ni,
        .waits_i(read_valid_i != 0), .served_i((read_valid_i & read_ready_o) != 0));
    waits_at_most #(.Most(Before*(Late + 1) + Late)) i_any_reader (
        .clk_i, .rst_ni, .waits_i(waits), .served_i(taken));
endmodule
bind read_port_formal read_port_progress #(.Readers(Readers)) i_progress (.*);
