// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of landing_memory: it may do anything.
module landing_memory
    import lookup_pkg::*;
#(
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned LogLines    = $clog2(LandingLines),
    localparam int unsigned AddressBits = 9 + LogLines
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   s_axi_awvalid,
    output logic                   s_axi_awready,
    input  logic [7:0]             s_axi_awid,
    input  logic [63:0]            s_axi_awaddr,
    input  logic                   s_axi_wvalid,
    output logic                   s_axi_wready,
    input  logic [511:0]           s_axi_wdata,
    input  logic [63:0]            s_axi_wstrb,
    input  logic                   s_axi_wlast,
    output logic                   s_axi_bvalid,
    input  logic                   s_axi_bready,
    output logic [7:0]             s_axi_bid,
    input  logic [AddressBits-1:0] line_address_i,
    output logic [511:0]           line_o,
    input  context_t               word_number_i,
    output logic [63:0]            word_o,
    output logic                   landed_o,
    output context_t               landed_number_o,
    output logic [63:0]            landed_word_o
);
    anything #(.Width($bits(s_axi_awready))) i_s_axi_awready (.clk_i, .value_o(s_axi_awready));
    anything #(.Width($bits(s_axi_wready))) i_s_axi_wready (.clk_i, .value_o(s_axi_wready));
    anything #(.Width($bits(s_axi_bvalid))) i_s_axi_bvalid (.clk_i, .value_o(s_axi_bvalid));
    anything #(.Width($bits(s_axi_bid))) i_s_axi_bid (.clk_i, .value_o(s_axi_bid));
    anything #(.Width($bits(line_o))) i_line (.clk_i, .value_o(line_o));
    anything #(.Width($bits(word_o))) i_word (.clk_i, .value_o(word_o));
    anything #(.Width($bits(landed_o))) i_landed (.clk_i, .value_o(landed_o));
    anything #(.Width($bits(landed_number_o))) i_landed_number (.clk_i, .value_o(landed_number_o));
    anything #(.Width($bits(landed_word_o))) i_landed_word (.clk_i, .value_o(landed_word_o));
endmodule
