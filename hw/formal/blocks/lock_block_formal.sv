// SPDX-License-Identifier: MIT OR Apache-2.0
// lock_block, on a clock that does not stop, and with a unit that does anything but break the rules of AXI4-Lite: each access to the registers is one of the
// unit's, and ends with its answer; what memory answers and what comes to the unit comes to it a clock later, as it was; and
// accesses to memory are counted.
`include "../rules/rule.svh"
module lock_block_formal (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         valid_i,
    input logic         write_i,
    input logic [11:0]  address_i,
    input logic [31:0]  data_i,
    input logic [3:0]   strobe_i,
    input logic         s_axis_req_tvalid,
    input logic [191:0] s_axis_req_tdata,
    input logic         m_axis_rsp_tready,
    input logic         s_axis_inv_tvalid,
    input logic [63:0]  s_axis_inv_tdata,
    input logic         m_axi_awready,
    input logic         m_axi_wready,
    input logic         m_axi_bvalid,
    input logic [10:0]  m_axi_bid,
    input logic [1:0]   m_axi_bresp,
    input logic         m_axi_arready,
    input logic         m_axi_rvalid,
    input logic [10:0]  m_axi_rid,
    input logic [511:0] m_axi_rdata,
    input logic [1:0]   m_axi_rresp
);
    logic         done_o, error_o, s_axis_req_tready, m_axis_rsp_tvalid, s_axis_inv_tready, m_axi_awvalid,
        m_axi_awlock, m_axi_wvalid, m_axi_wlast, m_axi_bready, m_axi_arvalid, m_axi_arlock, m_axi_rready,
        interrupt_o, memory_quiet_o;
    logic [31:0]  data_o;
    logic [63:0]  m_axis_rsp_tdata, m_axi_awaddr, m_axi_wstrb, m_axi_araddr;
    logic [10:0]  m_axi_awid, m_axi_arid;
    logic [7:0]   m_axi_awlen, m_axi_arlen;
    logic [2:0]   m_axi_awsize, m_axi_awprot, m_axi_arsize, m_axi_arprot;
    logic [1:0]   m_axi_awburst, m_axi_arburst;
    logic [3:0]   m_axi_awcache, m_axi_awqos, m_axi_arcache, m_axi_arqos;
    logic [5:0]   m_axi_awatop;
    logic [511:0] m_axi_wdata;

    power_up i_power_up (.*);
    lock_block i_block (.*);

    `RULE(access_holds_until_done, 0, !$past(rst_ni && valid_i && !done_o)
        || valid_i && $stable({write_i, address_i}) && (!write_i || $stable({data_i, strobe_i})))
    `RULE(no_access_comes_in_the_first_clock, 0, !valid_i || $past(rst_ni))

    // What goes to memory.
    logic [105:0] write_address;
    logic [576:0] write_data;
    logic [99:0]  read_address;
    assign write_address = {
        m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awlock, m_axi_awcache,
        m_axi_awprot, m_axi_awqos, m_axi_awatop
    };
    assign write_data    = {m_axi_wdata, m_axi_wstrb, m_axi_wlast};
    assign read_address  = {
        m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_arlock, m_axi_arcache,
        m_axi_arprot, m_axi_arqos
    };

    // What comes to the unit a clock late.
    logic         b_valid, r_valid, inv_valid;
    logic [12:0]  b;
    logic [524:0] r;
    logic [63:0]  inv;
    assign {b_valid, b}     = {i_block.i_unit.m_axi_bvalid, i_block.i_unit.m_axi_bid, i_block.i_unit.m_axi_bresp};
    assign {r_valid, r}     = {
        i_block.i_unit.m_axi_rvalid, i_block.i_unit.m_axi_rid, i_block.i_unit.m_axi_rdata, i_block.i_unit.m_axi_rresp
    };
    assign {inv_valid, inv} = {i_block.i_unit.s_axis_inv_tvalid, i_block.i_unit.s_axis_inv_tdata};
    `RULE(answers_of_writes_come_to_the_unit, 1, b_valid == $past(rst_ni && m_axi_bvalid)
        && (!b_valid || b == $past({m_axi_bid, m_axi_bresp})))
    `RULE(answers_of_reads_come_to_the_unit, 1, r_valid == $past(rst_ni && m_axi_rvalid)
        && (!r_valid || r == $past({m_axi_rid, m_axi_rdata, m_axi_rresp})))
    `RULE(beats_come_to_the_unit, 1, inv_valid == $past(rst_ni && s_axis_inv_tvalid)
        && (!inv_valid || inv == $past(s_axis_inv_tdata)))
    `RULE(all_are_taken, 1, m_axi_bready && m_axi_rready && s_axis_inv_tready && i_block.i_unit.m_axi_rlast)

    // The port of its registers.
    logic        awvalid, awready, wvalid, wready, arvalid, arready, bvalid, rvalid;
    logic [11:0] awaddr, araddr;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic [1:0]  bresp, rresp;
    assign {awvalid, awaddr}     = {i_block.i_unit.s_axil_awvalid, i_block.i_unit.s_axil_awaddr};
    assign {wvalid, wdata, wstrb} = {
        i_block.i_unit.s_axil_wvalid, i_block.i_unit.s_axil_wdata, i_block.i_unit.s_axil_wstrb
    };
    assign {arvalid, araddr}     = {i_block.i_unit.s_axil_arvalid, i_block.i_unit.s_axil_araddr};
    assign {awready, wready, arready} = {
        i_block.i_unit.s_axil_awready, i_block.i_unit.s_axil_wready, i_block.i_unit.s_axil_arready
    };
    assign {bvalid, bresp}       = {i_block.i_unit.s_axil_bvalid, i_block.i_unit.s_axil_bresp};
    assign {rvalid, rresp}       = {i_block.i_unit.s_axil_rvalid, i_block.i_unit.s_axil_rresp};
    axi4_lite_rules #(.Manager(1), .AddressWidth(12), .Most(1)) i_rules (
        .clk_i, .rst_ni, .awvalid, .awready, .awaddr, .wvalid, .wready, .wdata, .wstrb, .bvalid, .bready(1'b1), .bresp,
        .arvalid, .arready, .araddr, .rvalid, .rready(1'b1), .rdata(i_block.i_unit.s_axil_rdata), .rresp);

    // What counts: of the outputs, and of what the unit gets of answers and accesses.
    logic [1559:0] seen;
    assign seen = {
        done_o, done_o && error_o, done_o && !write_i && !error_o ? data_o : 32'd0, s_axis_req_tready,
        m_axis_rsp_tvalid, m_axis_rsp_tvalid ? m_axis_rsp_tdata : 64'd0, s_axis_inv_tready,
        m_axi_awvalid, m_axi_awvalid ? {
            m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awlock, m_axi_awcache,
            m_axi_awprot, m_axi_awqos, m_axi_awatop
        } : 106'd0,
        m_axi_wvalid, m_axi_wvalid ? {m_axi_wdata, m_axi_wstrb, m_axi_wlast} : 577'd0, m_axi_bready,
        m_axi_arvalid, m_axi_arvalid ? {
            m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_arlock, m_axi_arcache,
            m_axi_arprot, m_axi_arqos
        } : 100'd0,
        m_axi_rready, interrupt_o, memory_quiet_o, i_block.i_clock.busy_i,
        b_valid, b_valid ? b : 13'd0, r_valid, r_valid ? r : 525'd0, inv_valid, inv_valid ? inv : 64'd0,
        awvalid, awvalid ? awaddr : 12'd0, wvalid, wvalid ? {wdata, wstrb} : 36'd0, arvalid, arvalid ? araddr : 12'd0
    };

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
    `RULE(data_are_those_of_the_unit, 1, !done_o || write_i || data_o == i_block.i_unit.s_axil_rdata)
    `RULE(what_was_taken_is_of_the_access, 1, (i_rules.reads_q == 0 || its_read)
        && (i_rules.addresses_q == 0 && i_rules.data_q == 0 || its_write))
    `RULE(answers_are_always_taken, 1,
        i_block.i_unit.s_axil_bready && i_block.i_unit.s_axil_rready
        && {i_block.i_unit.s_axil_awprot, i_block.i_unit.s_axil_arprot} == 0)

    `RULE(what_was_taken_is_known, 1, i_block.address_sent_q == (i_rules.reads_q != 0 || i_rules.addresses_q != 0)
        && i_block.data_sent_q == (i_rules.data_q != 0))

    // Accesses to memory, of which an atomic has an answer on both channels; there are 511 at most.
    logic       write_begins;
    logic [8:0] reads_q, writes_q;
    assign write_begins = m_axi_awvalid && m_axi_awready;
    always_ff @(posedge clk_i) begin
        reads_q  <= rst_ni ? reads_q + 9'(m_axi_arvalid && m_axi_arready) + 9'(write_begins && m_axi_awatop[5])
            - 9'(m_axi_rvalid) : '0;
        writes_q <= rst_ni ? writes_q + 9'(write_begins) - 9'(m_axi_bvalid) : '0;
    end
    `RULE(accesses_to_memory_are_counted, 1, {i_block.reads_q, i_block.writes_q} == {reads_q, writes_q})
    `RULE(memory_is_quiet_while_none_is_under_way, 1, memory_quiet_o == (reads_q == 0 && writes_q == 0))

    // The clock runs while a valid signal is high.
    `RULE(clock_runs_while_something_happens, 1, i_block.i_clock.busy_i == (s_axis_req_tvalid || m_axis_rsp_tvalid
        || inv_valid || m_axi_awvalid || m_axi_wvalid || m_axi_arvalid || b_valid || r_valid || arvalid || awvalid
        || wvalid || bvalid || rvalid))

    // All else goes through.
    `RULE(unit_is_behind_the_ports, 1, {
        s_axis_req_tready, m_axis_rsp_tvalid, m_axis_rsp_tdata, interrupt_o, m_axi_awvalid, write_address, m_axi_wvalid,
        write_data, m_axi_arvalid, read_address
    } == {
        i_block.i_unit.s_axis_req_tready, i_block.i_unit.m_axis_rsp_tvalid, i_block.i_unit.m_axis_rsp_tdata,
        i_block.i_unit.intr_o, i_block.i_unit.m_axi_awvalid, i_block.i_unit.m_axi_awid, i_block.i_unit.m_axi_awaddr,
        i_block.i_unit.m_axi_awlen, i_block.i_unit.m_axi_awsize, i_block.i_unit.m_axi_awburst,
        i_block.i_unit.m_axi_awlock, i_block.i_unit.m_axi_awcache, i_block.i_unit.m_axi_awprot,
        i_block.i_unit.m_axi_awqos, i_block.i_unit.m_axi_awatop, i_block.i_unit.m_axi_wvalid,
        i_block.i_unit.m_axi_wdata, i_block.i_unit.m_axi_wstrb, i_block.i_unit.m_axi_wlast,
        i_block.i_unit.m_axi_arvalid, i_block.i_unit.m_axi_arid, i_block.i_unit.m_axi_araddr,
        i_block.i_unit.m_axi_arlen, i_block.i_unit.m_axi_arsize, i_block.i_unit.m_axi_arburst,
        i_block.i_unit.m_axi_arlock, i_block.i_unit.m_axi_arcache, i_block.i_unit.m_axi_arprot,
        i_block.i_unit.m_axi_arqos
    })
    `RULE(ports_are_before_the_unit, 1, {
        s_axis_req_tvalid, s_axis_req_tdata, m_axis_rsp_tready, m_axi_awready, m_axi_wready, m_axi_arready
    } == {
        i_block.i_unit.s_axis_req_tvalid, i_block.i_unit.s_axis_req_tdata, i_block.i_unit.m_axis_rsp_tready,
        i_block.i_unit.m_axi_awready, i_block.i_unit.m_axi_wready, i_block.i_unit.m_axi_arready
    })

    `REACHED(data_are_taken_before_the_address, wvalid && wready && awvalid && !awready)
    `REACHED(access_ends_with_an_error, done_o && error_o)
    `REACHED(access_follows_at_once, valid_i && $past(rst_ni && done_o) && arvalid)
    `REACHED(atomic_is_answered, writes_q == 0 && reads_q == 1 && $past(rst_ni && m_axi_bvalid))
    `REACHED(memory_is_quiet_again, memory_quiet_o && $past(rst_ni && !memory_quiet_o))
endmodule
