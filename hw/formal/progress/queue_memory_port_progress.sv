// SPDX-License-Identifier: MIT OR Apache-2.0
// queue_memory_port: where the bus takes an address or data within `Late` clocks, what each queue asks for is taken in
// time, after one of each other queue at most.
`include "../rules/rule.svh"
module queue_memory_port_progress #(
    parameter int unsigned Late   = 2,
    parameter int unsigned Queues = 3
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic [Queues-1:0] read_valid_i,
    input logic [Queues-1:0] read_ready_o,
    input logic [Queues-1:0] store_valid_i,
    input logic [Queues-1:0] store_ready_o,
    input logic [Queues-1:0] queue,    // any
    input logic              m_axi_awvalid,
    input logic              m_axi_awready,
    input logic              m_axi_wvalid,
    input logic              m_axi_wready,
    input logic              m_axi_arvalid,
    input logic              m_axi_arready
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_reads (
        .clk_i, .rst_ni, .waits_i(m_axi_arvalid), .served_i(m_axi_arready));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_addresses (
        .clk_i, .rst_ni, .waits_i(m_axi_awvalid), .served_i(m_axi_awready));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_data (
        .clk_i, .rst_ni, .waits_i(m_axi_wvalid), .served_i(m_axi_wready));

    waits_at_most #(.Most(Queues*(Late + 1) - 1)) i_read (.clk_i, .rst_ni,
        .waits_i((queue & read_valid_i) != 0), .served_i((queue & read_ready_o) != 0));
    waits_at_most #(.Most(Queues*(Late + 1) - 1)) i_store (.clk_i, .rst_ni,
        .waits_i((queue & store_valid_i) != 0), .served_i((queue & store_ready_o) != 0));
endmodule
bind queue_memory_port_formal queue_memory_port_progress #(.Queues(Queues)) i_progress (.*);
