// SPDX-License-Identifier: MIT OR Apache-2.0
// The rules of AXI4-Lite (IHI 0022 H.c) for one interface. With Manager, those of the manager are proven and those
// of the subordinate assumed; else the other way round.
//
// Most is no rule of the bus: it bounds what is counted here, and is proven of the subordinate, which
// takes no more, or assumed of it.
`include "rule.svh"
module axi4_lite_rules #(
    parameter bit          Manager      = 0,
    parameter int unsigned AddressWidth = 16,
    parameter int unsigned DataWidth    = 32,
    parameter int unsigned Most         = 2    // accesses of a kind under way
) (
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    awvalid,
    input logic                    awready,
    input logic [AddressWidth-1:0] awaddr,
    input logic                    wvalid,
    input logic                    wready,
    input logic [DataWidth-1:0]    wdata,
    input logic [DataWidth/8-1:0]  wstrb,
    input logic                    bvalid,
    input logic                    bready,
    input logic [1:0]              bresp,
    input logic                    arvalid,
    input logic                    arready,
    input logic [AddressWidth-1:0] araddr,
    input logic                    rvalid,
    input logic                    rready,
    input logic [DataWidth-1:0]    rdata,
    input logic [1:0]              rresp
);
    localparam logic [1:0] ExOkay = 2'b01;
    typedef logic [$clog2(Most+1)-1:0] count_t;

    // Addresses and data that were taken and not answered.
    count_t addresses_q, data_q, reads_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            addresses_q <= '0;
            data_q      <= '0;
            reads_q     <= '0;
        end else begin
            addresses_q <= addresses_q + count_t'(awvalid && awready) - count_t'(bvalid && bready);
            data_q      <= data_q + count_t'(wvalid && wready) - count_t'(bvalid && bready);
            reads_q     <= reads_q + count_t'(arvalid && arready) - count_t'(rvalid && rready);
        end
    end

    // A3.1.2: no valid signal is high in the first clock after a reset.
    `RULE(awvalid_is_low_after_reset, Manager, $past(rst_ni) || !awvalid)
    `RULE(wvalid_is_low_after_reset, Manager, $past(rst_ni) || !wvalid)
    `RULE(arvalid_is_low_after_reset, Manager, $past(rst_ni) || !arvalid)
    `RULE(bvalid_is_low_after_reset, !Manager, $past(rst_ni) || !bvalid)
    `RULE(rvalid_is_low_after_reset, !Manager, $past(rst_ni) || !rvalid)

    // A3.2.1: a valid signal stays high until the handshake, and what goes with it stays the same.
    `RULE(write_address_holds, Manager, !$past(rst_ni && awvalid && !awready) || awvalid && $stable(awaddr))
    `RULE(write_data_hold, Manager, !$past(rst_ni && wvalid && !wready) || wvalid && $stable({wdata, wstrb}))
    `RULE(read_address_holds, Manager, !$past(rst_ni && arvalid && !arready) || arvalid && $stable(araddr))
    `RULE(write_response_holds, !Manager, !$past(rst_ni && bvalid && !bready) || bvalid && $stable(bresp))
    `RULE(read_data_hold, !Manager, !$past(rst_ni && rvalid && !rready) || rvalid && $stable({rdata, rresp}))

    // A3.3.1: a response follows the handshakes of its address and of its data; so there are no more
    // responses than requests.
    `RULE(write_response_follows_address, !Manager, !bvalid || addresses_q != 0)
    `RULE(write_response_follows_data, !Manager, !bvalid || data_q != 0)
    `RULE(read_data_follow_address, !Manager, !rvalid || reads_q != 0)

    // B1.1.1: AXI4-Lite has no exclusive accesses, and so no EXOKAY.
    `RULE(write_response_is_not_exokay, !Manager, !bvalid || bresp != ExOkay)
    `RULE(read_response_is_not_exokay, !Manager, !rvalid || rresp != ExOkay)

    `RULE(write_addresses_are_few, !Manager, !(awvalid && awready) || addresses_q < count_t'(Most))
    `RULE(write_data_are_few, !Manager, !(wvalid && wready) || data_q < count_t'(Most))
    `RULE(reads_are_few, !Manager, !(arvalid && arready) || reads_q < count_t'(Most))

    `REACHED(write_is_answered, bvalid && bready)
    `REACHED(read_is_answered, rvalid && rready)
    `REACHED(write_response_waits, $past(rst_ni && bvalid && !bready) && bvalid)
    `REACHED(read_data_wait, $past(rst_ni && rvalid && !rready) && rvalid)
    `REACHED(read_and_write_at_once, addresses_q != 0 && data_q != 0 && reads_q != 0)
endmodule
