// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_unit, on a clock that does not stop, and with a unit that does anything but break the rules of AXI4-Lite: each access to the
// registers is one of the unit's, and ends with its answer; what memory answers comes to the unit a clock later, as it was; requests
// come in order; and the clock runs while something happens.
`include "../rules/rule.svh"
module lookup_unit_formal #(
    parameter int unsigned LogSets     = 12,
    parameter int unsigned LogContexts = 7
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         valid_i,
    input logic         write_i,
    input logic [11:0]  address_i,
    input logic [31:0]  data_i,
    input logic [3:0]   strobe_i,
    input logic         s_axis_sw_tvalid,
    input logic [255:0] s_axis_sw_tdata,
    input logic         m_axis_swrsp_tready,
    input logic         s_axis_req_tvalid,
    input logic [255:0] s_axis_req_tdata,
    input logic         m_axis_rsp_tready,
    input logic         m_axi_host_arready,
    input logic         m_axi_host_rvalid,
    input logic [7:0]   m_axi_host_rid,
    input logic [511:0] m_axi_host_rdata,
    input logic [1:0]   m_axi_host_rresp,
    input logic         m_axi_host_rlast,
    input logic         m_axi_nic_awready,
    input logic         m_axi_nic_wready,
    input logic         m_axi_nic_bvalid,
    input logic [7:0]   m_axi_nic_bid,
    input logic [1:0]   m_axi_nic_bresp,
    input logic         m_axi_nic_arready,
    input logic         m_axi_nic_rvalid,
    input logic [7:0]   m_axi_nic_rid,
    input logic [511:0] m_axi_nic_rdata,
    input logic [1:0]   m_axi_nic_rresp,
    input logic         m_axi_nic_rlast
);
    logic done_o, error_o, s_axis_sw_tready, m_axis_swrsp_tvalid, s_axis_req_tready, m_axis_rsp_tvalid,
        m_axi_host_arvalid, m_axi_host_rready, m_axi_nic_awvalid, m_axi_nic_wvalid, m_axi_nic_wlast,
        m_axi_nic_bready, m_axi_nic_arvalid, m_axi_nic_rready, idle_o;
    logic [31:0] data_o;
    logic [191:0] m_axis_swrsp_tdata, m_axis_rsp_tdata;
    logic [7:0] m_axi_host_arid, m_axi_host_arlen, m_axi_nic_awid, m_axi_nic_awlen, m_axi_nic_arid, m_axi_nic_arlen;
    logic [63:0] m_axi_host_araddr, m_axi_nic_awaddr, m_axi_nic_wstrb, m_axi_nic_araddr;
    logic [2:0] m_axi_host_arsize, m_axi_host_arprot, m_axi_nic_awsize, m_axi_nic_awprot, m_axi_nic_arsize,
        m_axi_nic_arprot;
    logic [1:0] m_axi_host_arburst, m_axi_nic_awburst, m_axi_nic_arburst;
    logic [3:0] m_axi_host_arcache, m_axi_nic_awcache, m_axi_nic_arcache;
    logic [511:0] m_axi_nic_wdata;

    power_up i_power_up (.*);
    lookup_unit #(.LogSets(LogSets), .LogContexts(LogContexts)) i_block (.*);

    `define UNIT i_block.i_unit
    `define WIRED(NAME, ONE, OTHER) `RULE(NAME, 1, (ONE) == (OTHER))

    `RULE(access_holds_until_done, 0, !$past(rst_ni && valid_i && !done_o)
        || valid_i && $stable({write_i, address_i}) && (!write_i || $stable({data_i, strobe_i})))
    `RULE(no_access_comes_in_the_first_clock, 0, !valid_i || $past(rst_ni))

    all_are_reset_together: assert property (@(posedge clk_i)
        {`UNIT.rst_ni, i_block.i_req.rst_ni, i_block.i_clock.rst_ni} == {3{rst_ni}});
    `RULE(parameters_are_passed_on, 1, `UNIT.LogSets == LogSets && `UNIT.LogContexts == LogContexts)

    // ---- What memory answers comes to the unit a clock later, as it was, and once.

    `WIRED(read_data_of_the_host_come_to_the_unit, `UNIT.m_axi_host_rvalid, $past(rst_ni && m_axi_host_rvalid))
    `RULE(read_data_of_the_host_are_whole, 1, !`UNIT.m_axi_host_rvalid
        || {`UNIT.m_axi_host_rid, `UNIT.m_axi_host_rdata, `UNIT.m_axi_host_rresp, `UNIT.m_axi_host_rlast}
        == $past({m_axi_host_rid, m_axi_host_rdata, m_axi_host_rresp, m_axi_host_rlast}))
    `WIRED(read_data_of_the_nic_come_to_the_unit, `UNIT.m_axi_nic_rvalid, $past(rst_ni && m_axi_nic_rvalid))
    `RULE(read_data_of_the_nic_are_whole, 1, !`UNIT.m_axi_nic_rvalid
        || {`UNIT.m_axi_nic_rid, `UNIT.m_axi_nic_rdata, `UNIT.m_axi_nic_rresp, `UNIT.m_axi_nic_rlast}
        == $past({m_axi_nic_rid, m_axi_nic_rdata, m_axi_nic_rresp, m_axi_nic_rlast}))
    `WIRED(responses_of_writes_come_to_the_unit, `UNIT.m_axi_nic_bvalid, $past(rst_ni && m_axi_nic_bvalid))
    `RULE(responses_of_writes_are_whole, 1, !`UNIT.m_axi_nic_bvalid
        || {`UNIT.m_axi_nic_bid, `UNIT.m_axi_nic_bresp} == $past({m_axi_nic_bid, m_axi_nic_bresp}))
    `RULE(all_are_taken, 1, m_axi_host_rready && m_axi_nic_rready && m_axi_nic_bready)

    // ---- Requests of the network come to the unit in order, each once.

    logic       comes, goes;
    logic [1:0] held;
    assign comes = s_axis_req_tvalid && s_axis_req_tready;
    assign goes  = `UNIT.s_axis_req_tvalid && `UNIT.s_axis_req_tready;
    ordered_words #(.Width(256), .Most(2)) i_requests (
        .clk_i, .rst_ni, .push_i(comes), .pushed_i(s_axis_req_tdata), .pop_i(goes), .popped_i(`UNIT.s_axis_req_tdata),
        .inside_o(held));
    axi4_stream_rules #(.Width(256)) i_given (.clk_i, .rst_ni, .tvalid(`UNIT.s_axis_req_tvalid),
        .tready(`UNIT.s_axis_req_tready), .payload(`UNIT.s_axis_req_tdata));
    `WIRED(request_is_offered_in_the_clock_after, `UNIT.s_axis_req_tvalid, held != 0)
    `WIRED(there_is_room_unless_two_wait, s_axis_req_tready, held < 2'd2)
    // Which induction needs: how many are held, and where a request that is followed is.
    `WIRED(two_are_held_at_most, held, 2'(i_block.i_req.valid_o) + 2'(!i_block.i_req.ready_o))
    `RULE(followed_request_is_in_its_place, 1, !i_requests.followed_q
        || i_requests.word_q == (i_requests.ahead_q == 0 ? `UNIT.s_axis_req_tdata : i_block.i_req.second_q))

    // ---- The port of its registers.

    logic        awvalid, awready, wvalid, wready, arvalid, arready, bvalid, rvalid;
    logic [11:0] awaddr, araddr;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic [1:0]  bresp, rresp;
    assign {awvalid, awready, awaddr}       = {`UNIT.s_axil_awvalid, `UNIT.s_axil_awready, `UNIT.s_axil_awaddr};
    assign {wvalid, wready, wdata, wstrb}   = {
        `UNIT.s_axil_wvalid, `UNIT.s_axil_wready, `UNIT.s_axil_wdata, `UNIT.s_axil_wstrb
    };
    assign {arvalid, arready, araddr}       = {`UNIT.s_axil_arvalid, `UNIT.s_axil_arready, `UNIT.s_axil_araddr};
    assign {bvalid, bresp}                  = {`UNIT.s_axil_bvalid, `UNIT.s_axil_bresp};
    assign {rvalid, rresp}                  = {`UNIT.s_axil_rvalid, `UNIT.s_axil_rresp};
    axi4_lite_rules #(.Manager(1), .AddressWidth(12)) i_rules (
        .clk_i, .rst_ni, .awvalid, .awready, .awaddr, .wvalid, .wready, .wdata, .wstrb, .bvalid, .bready(1'b1), .bresp,
        .arvalid, .arready, .araddr, .rvalid, .rready(1'b1), .rdata(`UNIT.s_axil_rdata), .rresp);

    // An access sends each of its parts once, as it came, and ends with the answer.
    logic its_read, its_write;
    assign its_read  = valid_i && !write_i;
    assign its_write = valid_i && write_i;
    `RULE(read_is_sent_until_taken, 1, arvalid == (its_read && i_rules.reads_q == 0) && (!arvalid || araddr == address_i))
    `RULE(address_is_sent_until_taken, 1,
        awvalid == (its_write && i_rules.addresses_q == 0) && (!awvalid || awaddr == address_i))
    `RULE(data_are_sent_until_taken, 1,
        wvalid == (its_write && i_rules.data_q == 0) && (!wvalid || {wdata, wstrb} == {data_i, strobe_i}))
    `RULE(access_ends_with_its_answer, 1, done_o == (bvalid || rvalid) && (!done_o || valid_i))
    `RULE(error_is_that_of_the_unit, 1, !done_o || error_o == ((write_i ? bresp : rresp) != 0))
    `RULE(data_are_those_of_the_unit, 1, !done_o || write_i || data_o == `UNIT.s_axil_rdata)
    `RULE(one_access_is_under_way_at_most, 1, i_rules.reads_q <= 2'(its_read) && i_rules.addresses_q <= 2'(its_write)
        && i_rules.data_q <= 2'(its_write))
    `RULE(answers_are_always_taken, 1, `UNIT.s_axil_bready && `UNIT.s_axil_rready
        && `UNIT.s_axil_awprot == 0 && `UNIT.s_axil_arprot == 0)
    // Which induction needs: what was taken is known inside.
    `RULE(what_was_taken_is_known, 1, i_block.address_sent_q == (i_rules.reads_q != 0 || i_rules.addresses_q != 0)
        && i_block.data_sent_q == (i_rules.data_q != 0))

    // ---- The clock runs after a reset until each place of the lists and of the cache was filled or emptied, one a clock, and
    // while the unit is not idle or a valid signal is high. So it does when it is not idle for the world outside.

    localparam int unsigned Places = 2**(LogSets > 8 ? LogSets : 8);
    logic [31:0] clocks_q;
    logic        settled;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) clocks_q <= '0;
        else if (clocks_q < Places) clocks_q <= clocks_q + 32'd1;
    end
    assign settled = clocks_q >= Places;
    `RULE(clocks_are_counted, 1, 32'(i_block.places_q) == clocks_q)
    `WIRED(clock_runs_while_something_happens, i_block.i_clock.busy_i, !`UNIT.idle_o || !settled
        || `UNIT.s_axis_req_tvalid || `UNIT.m_axis_rsp_tvalid || `UNIT.s_axis_sw_tvalid || `UNIT.m_axis_swrsp_tvalid
        || `UNIT.m_axi_host_arvalid || `UNIT.m_axi_host_rvalid
        || `UNIT.m_axi_nic_awvalid || `UNIT.m_axi_nic_wvalid || `UNIT.m_axi_nic_bvalid || `UNIT.m_axi_nic_arvalid
        || `UNIT.m_axi_nic_rvalid || awvalid || wvalid || bvalid || arvalid || rvalid)
    `RULE(clock_runs_unless_idle, 1, idle_o || i_block.i_clock.busy_i)
    // Of software it tells only what the unit does, which may be off.
    `WIRED(idle_while_nothing_is_under_way, idle_o, `UNIT.idle_o && settled && held == 0 && !m_axis_rsp_tvalid
        && !m_axis_swrsp_tvalid)

    // ---- All else goes through.

    `WIRED(streams_of_the_unit_go_out, {
        s_axis_sw_tready, m_axis_swrsp_tvalid, m_axis_swrsp_tdata, m_axis_rsp_tvalid, m_axis_rsp_tdata
    }, {
        `UNIT.s_axis_sw_tready, `UNIT.m_axis_swrsp_tvalid, `UNIT.m_axis_swrsp_tdata, `UNIT.m_axis_rsp_tvalid,
        `UNIT.m_axis_rsp_tdata
    })
    `WIRED(streams_come_to_the_unit, {
        `UNIT.s_axis_sw_tvalid, `UNIT.s_axis_sw_tdata, `UNIT.m_axis_swrsp_tready, `UNIT.m_axis_rsp_tready
    }, {s_axis_sw_tvalid, s_axis_sw_tdata, m_axis_swrsp_tready, m_axis_rsp_tready})
    `WIRED(reads_of_the_host_go_out, {
        m_axi_host_arvalid, m_axi_host_arid, m_axi_host_araddr, m_axi_host_arlen, m_axi_host_arsize, m_axi_host_arburst,
        m_axi_host_arcache, m_axi_host_arprot
    }, {
        `UNIT.m_axi_host_arvalid, `UNIT.m_axi_host_arid, `UNIT.m_axi_host_araddr, `UNIT.m_axi_host_arlen,
        `UNIT.m_axi_host_arsize, `UNIT.m_axi_host_arburst, `UNIT.m_axi_host_arcache, `UNIT.m_axi_host_arprot
    })
    `WIRED(writes_of_the_unit_go_out, {
        m_axi_nic_awvalid, m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_awsize, m_axi_nic_awburst,
        m_axi_nic_awcache, m_axi_nic_awprot, m_axi_nic_wvalid, m_axi_nic_wdata, m_axi_nic_wstrb, m_axi_nic_wlast
    }, {
        `UNIT.m_axi_nic_awvalid, `UNIT.m_axi_nic_awid, `UNIT.m_axi_nic_awaddr, `UNIT.m_axi_nic_awlen,
        `UNIT.m_axi_nic_awsize, `UNIT.m_axi_nic_awburst, `UNIT.m_axi_nic_awcache, `UNIT.m_axi_nic_awprot,
        `UNIT.m_axi_nic_wvalid, `UNIT.m_axi_nic_wdata, `UNIT.m_axi_nic_wstrb, `UNIT.m_axi_nic_wlast
    })
    `WIRED(reads_of_the_nic_go_out, {
        m_axi_nic_arvalid, m_axi_nic_arid, m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_arsize, m_axi_nic_arburst,
        m_axi_nic_arcache, m_axi_nic_arprot
    }, {
        `UNIT.m_axi_nic_arvalid, `UNIT.m_axi_nic_arid, `UNIT.m_axi_nic_araddr, `UNIT.m_axi_nic_arlen,
        `UNIT.m_axi_nic_arsize, `UNIT.m_axi_nic_arburst, `UNIT.m_axi_nic_arcache, `UNIT.m_axi_nic_arprot
    })
    `WIRED(memories_take_what_the_unit_sends, {
        `UNIT.m_axi_host_arready, `UNIT.m_axi_nic_awready, `UNIT.m_axi_nic_wready, `UNIT.m_axi_nic_arready
    }, {m_axi_host_arready, m_axi_nic_awready, m_axi_nic_wready, m_axi_nic_arready})

    `REACHED(data_are_taken_before_the_address, wvalid && wready && awvalid && !awready)
    `REACHED(access_ends_with_an_error, done_o && error_o)
    `REACHED(access_follows_at_once, valid_i && $past(rst_ni && done_o) && arvalid)
    `REACHED(all_answers_come_at_once, `UNIT.m_axi_host_rvalid && `UNIT.m_axi_nic_rvalid && `UNIT.m_axi_nic_bvalid)
    `REACHED(unit_is_idle_before_all_is_settled, `UNIT.idle_o && !settled && held == 0 && i_block.i_clock.busy_i)
    `REACHED(request_is_taken_while_two_wait, goes && held == 2'd2)
endmodule
