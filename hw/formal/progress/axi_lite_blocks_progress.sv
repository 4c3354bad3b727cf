// SPDX-License-Identifier: MIT OR Apache-2.0
// axi_lite_blocks: where blocks are done within `Late` clocks, and the manager is as late at most with data or addresses
// and with taking responses, each access is let in and answered in time.
`include "../rules/rule.svh"
module axi_lite_blocks_progress #(
    parameter int unsigned Late = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic s_axil_awvalid,
    input logic s_axil_awready,
    input logic s_axil_wvalid,
    input logic s_axil_wready,
    input logic s_axil_bvalid,
    input logic s_axil_bready,
    input logic s_axil_arvalid,
    input logic s_axil_arready,
    input logic s_axil_rvalid,
    input logic s_axil_rready,
    input logic asked,           // a block has an access
    input logic finished,        // and is done
    input logic [1:0] addresses, // taken and not answered
    input logic [1:0] data,
    input logic [1:0] reads
);
    waits_at_most #(.Most(Late), .Proven(0)) i_blocks (.clk_i, .rst_ni, .waits_i(asked), .served_i(finished));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_read_data (
        .clk_i, .rst_ni, .waits_i(s_axil_rvalid), .served_i(s_axil_rready));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_response (
        .clk_i, .rst_ni, .waits_i(s_axil_bvalid), .served_i(s_axil_bready));
    waits_at_most #(.Most(Late), .Proven(0)) i_sends_data (
        .clk_i, .rst_ni, .waits_i(addresses > data), .served_i(s_axil_wvalid));
    waits_at_most #(.Most(Late), .Proven(0)) i_sends_address (
        .clk_i, .rst_ni, .waits_i(data > addresses), .served_i(s_axil_awvalid));

    waits_at_most #(.Most(3*Late + 1)) i_read_comes_in (
        .clk_i, .rst_ni, .waits_i(s_axil_arvalid), .served_i(s_axil_arready));
    waits_at_most #(.Most(3*Late + 1)) i_read_is_answered (
        .clk_i, .rst_ni, .waits_i(reads != 0), .served_i(s_axil_rvalid && s_axil_rready));
    waits_at_most #(.Most(3*Late + 3)) i_address_comes_in (
        .clk_i, .rst_ni, .waits_i(s_axil_awvalid), .served_i(s_axil_awready));
    waits_at_most #(.Most(3*Late + 3)) i_data_come_in (
        .clk_i, .rst_ni, .waits_i(s_axil_wvalid), .served_i(s_axil_wready));
    waits_at_most #(.Most(3*Late + 1)) i_write_is_answered (
        .clk_i, .rst_ni, .waits_i(addresses != 0 && data != 0), .served_i(s_axil_bvalid && s_axil_bready));
endmodule
bind axi_lite_blocks_formal axi_lite_blocks_progress i_progress (
    .asked(block_valid_o != 0), .addresses(i_rules.addresses_q), .data(i_rules.data_q), .reads(i_rules.reads_q), .*);
