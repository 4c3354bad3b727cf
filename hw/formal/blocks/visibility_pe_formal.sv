// SPDX-License-Identifier: MIT OR Apache-2.0
// visibility_pe: a run that is started at the registers loads its job, walks unless that is refused, and ends with one last
// packet, which says how; then it interrupts. The rules of AXI4-Lite and of the packets; of any word of the map, what is
// written and read; counts of the run; and idle means that nothing happens until an access comes. The walk and the lanes do
// anything that their contracts allow.
`include "../rules/rule.svh"
module visibility_pe_formal
    import visibility_pe_map_pkg::*;
#(
    // Each is another number than those of the blocks by themselves.
    parameter int unsigned LogChains = 5,
    parameter int unsigned LogPages  = 14,
    parameter int unsigned Lanes     = 6
) (
    input logic          clk_i,
    input logic          rst_ni,
    input logic          s_axil_awvalid,
    input logic [11:0]   s_axil_awaddr,
    input logic [2:0]    s_axil_awprot,
    input logic          s_axil_wvalid,
    input logic [31:0]   s_axil_wdata,
    input logic [3:0]    s_axil_wstrb,
    input logic          s_axil_bready,
    input logic          s_axil_arvalid,
    input logic [11:0]   s_axil_araddr,
    input logic [2:0]    s_axil_arprot,
    input logic          s_axil_rready,
    input logic          m_axi_0_arready,
    input logic          m_axi_0_rvalid,
    input logic [7:0]    m_axi_0_rid,
    input logic [511:0]  m_axi_0_rdata,
    input logic [1:0]    m_axi_0_rresp,
    input logic          m_axi_0_rlast,
    input logic          m_axi_1_arready,
    input logic          m_axi_1_rvalid,
    input logic [7:0]    m_axi_1_rid,
    input logic [511:0]  m_axi_1_rdata,
    input logic [1:0]    m_axi_1_rresp,
    input logic          m_axi_1_rlast,
    input logic          m_axis_row_tready
);
    logic          s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid, m_axi_0_arvalid,
                   m_axi_0_rready, m_axi_1_arvalid, m_axi_1_rready, m_axis_row_tvalid, m_axis_row_tlast, intr_o,
                   idle_o;
    logic [1:0]    s_axil_bresp, s_axil_rresp, m_axi_0_arburst, m_axi_1_arburst;
    logic [31:0]   s_axil_rdata;
    logic [7:0]    m_axi_0_arid, m_axi_0_arlen, m_axi_1_arid, m_axi_1_arlen;
    logic [63:0]   m_axi_0_araddr, m_axi_1_araddr;
    logic [2:0]    m_axi_0_arsize, m_axi_0_arprot, m_axi_1_arsize, m_axi_1_arprot;
    logic [3:0]    m_axi_0_arcache, m_axi_1_arcache;
    logic [511:0]  m_axis_row_tdata;

    power_up i_power_up (.*);
    visibility_pe #(.LogChains(LogChains), .LogPages(LogPages), .Lanes(Lanes)) i_block (.*);
    `RULE(walk_and_lanes_are_as_large_as_the_element, 1, {
        i_block.i_walk.LogChains, i_block.i_walk.LogPages, i_block.i_lanes.Lanes
    } == {LogChains, LogPages, Lanes})

    // What counts of the outputs.
    logic [744:0] seen;
    assign seen = {
        s_axil_awready, s_axil_wready, s_axil_arready, m_axi_0_rready, m_axi_1_rready, intr_o, idle_o,
        s_axil_bvalid, s_axil_rvalid, m_axi_0_arvalid, m_axi_1_arvalid, m_axis_row_tvalid,
        s_axil_bvalid ? s_axil_bresp : '0,
        s_axil_rvalid ? {s_axil_rdata, s_axil_rresp} : '0,
        m_axi_0_arvalid ? {m_axi_0_arid, m_axi_0_araddr, m_axi_0_arlen, m_axi_0_arsize, m_axi_0_arburst,
            m_axi_0_arcache, m_axi_0_arprot} : '0,
        m_axi_1_arvalid ? {m_axi_1_arid, m_axi_1_araddr, m_axi_1_arlen, m_axi_1_arsize, m_axi_1_arburst,
            m_axi_1_arcache, m_axi_1_arprot} : '0,
        m_axis_row_tvalid ? {m_axis_row_tdata, m_axis_row_tlast} : '0
    };

    `define BUS i_block.i_axi_lite
    axi4_lite_rules #(.AddressWidth(12)) i_registers (
        .clk_i, .rst_ni,
        .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr),
        .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb),
        .bvalid(s_axil_bvalid), .bready(s_axil_bready), .bresp(s_axil_bresp),
        .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp));
    localparam int unsigned Blocks = 1;
`include "axi_lite_port.svh"
    axi4_stream_rules #(.Width(513)) i_packets (.clk_i, .rst_ni,
        .tvalid(m_axis_row_tvalid), .tready(m_axis_row_tready), .payload({m_axis_row_tdata, m_axis_row_tlast}));

    // ---- The run: what it does, in its order.

    logic       start_q, stop_q, isr_q;                                 // as the registers say
    logic       asked_q, loads_q, starts_q, walks_q, drains_q, closes_q;    // of the run under way
    logic       loader_starts, loaded, over, under_way, walked_q;
    logic [7:0] refusal;
    assign refusal       = i_block.i_job_loader.refusal_o;
    assign loader_starts = asked_q && !i_block.i_walk.busy_o;
    assign loaded        = loads_q && i_block.i_job_loader.done_o;
    assign over          = closes_q && m_axis_row_tready;
    assign under_way     = asked_q || loads_q || starts_q || walks_q || drains_q || closes_q;
    always_ff @(posedge clk_i) begin
        asked_q  <= start_q && !under_way || asked_q && !loader_starts;
        loads_q  <= loader_starts || loads_q && !loaded;
        starts_q <= loaded && refusal == 0;
        walks_q  <= starts_q || walks_q && !i_block.i_walk.done_o;
        drains_q <= walks_q && i_block.i_walk.done_o || drains_q && !i_block.i_lanes.idle_o;
        closes_q <= loaded && refusal != 0 || drains_q && i_block.i_lanes.idle_o || closes_q && !over;
        walked_q <= starts_q || walked_q && !(start_q && !under_way);
        if (!rst_ni) {asked_q, loads_q, starts_q, walks_q, drains_q, closes_q, walked_q} <= '0;
    end
    `RULE(run_does_one_thing_at_a_time, 1, $onehot0({asked_q, loads_q, starts_q, walks_q, drains_q, closes_q}))
    `RULE(run_is_under_way_from_its_start_to_its_end, 1, !under_way || start_q)
    `RULE(job_is_loaded_once_the_walk_is_not_busy, 1, i_block.i_job_loader.start_i == loader_starts)
    `RULE(walk_starts_once_unless_the_job_is_refused, 1, i_block.i_walk.start_i == starts_q)
    `RULE(walk_stops_as_it_is_told, 1, i_block.i_walk.stop_i == stop_q)
    `RULE(job_is_that_of_the_register, 1, i_block.i_job_loader.job_address_i
        == {i_block.from_registers.JOB.high.value, i_block.from_registers.JOB.low.value})
    `RULE(state_is_known, 1, i_block.walked_q == walked_q && 3'(i_block.state_q) == (asked_q ? 3'd1 : loads_q ? 3'd2
        : starts_q ? 3'd3 : walks_q ? 3'd4 : drains_q ? 3'd5 : closes_q ? 3'd6 : 3'd0))
    `RULE(walk_runs_as_it_was_started, 1, i_block.i_walk.runs_q == walks_q
        && (!(loads_q || starts_q || walks_q || drains_q || closes_q) || !i_block.i_walk.forgets_q))
    `RULE(loader_loads_in_its_turn, 1, (i_block.i_job_loader.state_q != 3'd0 || i_block.i_job_loader.done_o)
        == loads_q && !(i_block.i_job_loader.state_q != 3'd0 && i_block.i_job_loader.done_o)
        && i_block.i_job_loader.state_q <= 3'd4)
    `RULE(line_is_waited_for, 1, i_block.i_walk.owed_q == (i_block.i_job_loader.state_q == 3'd2))
    `RULE(run_has_walked_or_not, 1, walked_q ? !asked_q && !loads_q && !starts_q : !walks_q && !drains_q)
    `RULE(lanes_are_idle_between_runs, 1, walks_q || drains_q || i_block.i_lanes.idle_o)

    // ---- Packets: those of the lanes, and at the end one that says how the run ended.

    logic [63:0] clocks_q, emitted_q, faults_q, stalls_q;
    always_ff @(posedge clk_i) begin
        clocks_q  <= clocks_q + 64'(under_way);
        emitted_q <= emitted_q + 64'(i_block.i_lanes.emitted_o);
        faults_q  <= faults_q + 64'(i_block.i_lanes.fault_o);
        stalls_q  <= stalls_q + 64'(m_axis_row_tvalid && !m_axis_row_tready);
        if (!rst_ni || start_q && !under_way) {clocks_q, emitted_q, faults_q, stalls_q} <= '0;
    end
    `RULE(run_is_counted, 1, {i_block.clocks_q, i_block.emitted_q, i_block.faults_q, i_block.stalls_q}
        == {clocks_q, emitted_q, faults_q, stalls_q})
    program_pkg::header_t header;
    assign header = m_axis_row_tdata;
    `RULE(packets_are_those_of_the_lanes_and_the_last, 1,
        m_axis_row_tvalid == (i_block.i_lanes.m_axis_row_tvalid || closes_q)
        && i_block.i_lanes.m_axis_row_tready == m_axis_row_tready)
    `RULE(packet_goes_out_as_it_is, 1, !i_block.i_lanes.m_axis_row_tvalid || {m_axis_row_tdata, m_axis_row_tlast}
        == {i_block.i_lanes.m_axis_row_tdata, i_block.i_lanes.m_axis_row_tlast})
    `RULE(no_packet_follows_the_last, 1, !closes_q || !i_block.i_lanes.m_axis_row_tvalid)
    `RULE(last_packet_says_what_was_done, 1, !closes_q || !walked_q || m_axis_row_tlast && header.code == 8'd255
        && {header.record, header.number, header.vid} == {
            faults_q[31:0], emitted_q[31:0], i_block.i_walk.visible_o[31:0], i_block.i_walk.vids_o[31:0]
        })
    `RULE(last_packet_says_why_nothing_was_done, 1, !closes_q || walked_q || m_axis_row_tlast && header.code == 8'd254
        && header.vid == 32'(refusal) && refusal != 0 && header.record == 0 && header.number == 0)
    `RULE(rest_of_the_last_packet_is_0, 1, !closes_q || header.zero == 0 && header.nulls == 0 && header.values == 0
        && header.bytes == 0 && header.created == 0)

    // ---- Registers.

    logic        valid_i, write_i, done_o, error_o, refused, carries, gie, ier;
    logic [11:0] address_i, address;
    logic [31:0] data_i, data_o, told, given, word;
    logic [3:0]  strobe_i;
    localparam bit ReadsLate = 1;
    localparam bit HasTheBus = 1, Inside = 0;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));
    assign {valid_i, write_i, address_i, data_i, strobe_i}
        = {`BUS.block_valid_o, `BUS.block_write_o, `BUS.block_address_o, `BUS.block_data_o, `BUS.block_strobe_o};
    assign {done_o, error_o, data_o} = {`BUS.block_done_i, `BUS.block_error_i, `BUS.block_data_i};
    assign given   = data_i;
    assign refused = write_refused(address_i, data_i, strobe_i, start_q) || start_q && address_i == CONTROL && data_i[0];
    assign gie     = i_block.from_registers.GIE.enable.value;
    assign ier     = i_block.from_registers.IER.done.value;

    // Counts of the walk are of its last run; a run that was refused has none. In the order of the map.
    logic [9:0][63:0] counts;
    assign counts = {
        stalls_q, walked_q ? {
            i_block.i_walk.page_map_misses_o, i_block.i_walk.page_checks_o, i_block.i_walk.line_reads_o
        } : 192'd0, faults_q, emitted_q, walked_q ? {
            i_block.i_walk.visible_o, i_block.i_walk.hops_o, i_block.i_walk.vids_o
        } : 192'd0, clocks_q
    };
    always_comb begin
        case (address)
            CONTROL: told = 32'({stop_q, start_q});
            ISR:     told = 32'(isr_q);
            RETURN:  told = walked_q ? i_block.i_walk.visible_o[31:0] : 32'd0;
            CAPABILITIES: told = {8'(LogPages), 8'd2, 8'(Lanes), 8'(LogChains)};
            default: told = counts[address[6:3]][32*address[2] +: 32];
        endcase
    end
    always_comb begin
        case (address)
            GIE:         word = 32'(gie);
            IER:         word = 32'(ier);
            JOB:         word = {i_block.from_registers.JOB.low.value, 6'd0};
            JOB + 12'd4: word = i_block.from_registers.JOB.high.value;
            default:     word = place_of(address).first;
        endcase
    end
`include "registers.svh"
`include "visibility_pe_map.svh"

    // Ones start a run and stop it, where there is one; its end takes both back, and sets the event.
    assign carries = carried_q && write_i && !refused_q;
    always_ff @(posedge clk_i) begin
        start_q <= !over && (start_q || carries && address_i == CONTROL && data_i[0]);
        stop_q  <= !over && start_q && (stop_q || carries && address_i == CONTROL && data_i[1]);
        isr_q   <= over || isr_q && !(carries && address_i == ISR && data_i[0]);
        if (!rst_ni) {start_q, stop_q, isr_q} <= '0;
    end
    `RULE(run_is_on_as_it_was_told, 1, {i_block.from_registers.CONTROL.stop.value,
        i_block.from_registers.CONTROL.start.value, i_block.from_registers.ISR.done.value} == {stop_q, start_q, isr_q})
    `RULE(interrupts_while_the_event_and_both_enables_are_set, 1, intr_o == (gie && ier && isr_q))
    `RULE(job_address_stays_during_a_run, 1, !$past(rst_ni && start_q)
        || $stable({i_block.from_registers.JOB.high.value, i_block.from_registers.JOB.low.value}))

    // ---- Idle: nothing is under way, and nothing changes until an access is offered.

    `RULE(idle_without_a_run_or_an_access, 1, idle_o == (!start_q && !under_way && !i_block.i_walk.busy_o && !valid_i
        && !s_axil_rvalid && !s_axil_bvalid))
    `RULE(idle_until_an_access_is_offered, 1, !$past(rst_ni && idle_o && !s_axil_awvalid && !s_axil_wvalid && !s_axil_arvalid)
        || idle_o && !m_axis_row_tvalid && !i_block.i_walk.start_i && !i_block.i_job_loader.load_valid_o
        && $stable({start_q, stop_q, isr_q, gie, ier, walked_q, clocks_q, emitted_q, faults_q, stalls_q, word}))

    // ---- What is connected.

    `RULE(loader_has_the_load_port, 1, {
        i_block.i_job_loader.load_valid_o, i_block.i_job_loader.load_ready_i, i_block.i_job_loader.load_address_o,
        i_block.i_job_loader.loaded_valid_i, i_block.i_job_loader.loaded_error_i, i_block.i_job_loader.loaded_data_i
    } == {
        i_block.i_walk.load_valid_i, i_block.i_walk.load_ready_o, i_block.i_walk.load_address_i,
        i_block.i_walk.loaded_valid_o, i_block.i_walk.loaded_error_o, i_block.i_walk.loaded_data_o
    })
    `RULE(lanes_have_the_program, 1, {
        i_block.i_job_loader.has_program_o, i_block.i_job_loader.outputs_o, i_block.i_job_loader.code_write_o,
        i_block.i_job_loader.constant_write_o, i_block.i_job_loader.store_address_o,
        i_block.i_job_loader.store_data_o
    } == {
        i_block.i_lanes.has_program_i, i_block.i_lanes.outputs_i, i_block.i_lanes.code_write_i,
        i_block.i_lanes.constant_write_i, i_block.i_lanes.store_address_i, i_block.i_lanes.store_data_i
    })
    `RULE(rows_go_to_the_lanes, 1, {
        i_block.i_walk.m_axis_row_tvalid, i_block.i_walk.m_axis_row_tready, i_block.i_walk.m_axis_row_tdata,
        i_block.i_walk.m_axis_row_tlast
    } == {
        i_block.i_lanes.s_axis_row_tvalid, i_block.i_lanes.s_axis_row_tready, i_block.i_lanes.s_axis_row_tdata,
        i_block.i_lanes.s_axis_row_tlast
    })
    walk_pkg::job_t job;
    assign job = i_block.i_job_loader.job_o;
    `RULE(walk_has_the_job, 1, i_block.i_walk.job_i == i_block.i_job_loader.job_o
        && i_block.i_lanes.wants_payloads_i == job.wants_payloads)
    `RULE(port_0_is_that_of_the_walk, 1, {
        m_axi_0_arvalid, m_axi_0_arready, m_axi_0_arid, m_axi_0_araddr, m_axi_0_arlen, m_axi_0_arsize,
        m_axi_0_arburst, m_axi_0_arcache, m_axi_0_arprot, m_axi_0_rvalid, m_axi_0_rready, m_axi_0_rid,
        m_axi_0_rdata, m_axi_0_rresp, m_axi_0_rlast
    } == {
        i_block.i_walk.m_axi_0_arvalid, i_block.i_walk.m_axi_0_arready, i_block.i_walk.m_axi_0_arid,
        i_block.i_walk.m_axi_0_araddr, i_block.i_walk.m_axi_0_arlen, i_block.i_walk.m_axi_0_arsize,
        i_block.i_walk.m_axi_0_arburst, i_block.i_walk.m_axi_0_arcache, i_block.i_walk.m_axi_0_arprot,
        i_block.i_walk.m_axi_0_rvalid, i_block.i_walk.m_axi_0_rready, i_block.i_walk.m_axi_0_rid,
        i_block.i_walk.m_axi_0_rdata, i_block.i_walk.m_axi_0_rresp, i_block.i_walk.m_axi_0_rlast
    })
    `RULE(port_1_is_that_of_the_walk, 1, {
        m_axi_1_arvalid, m_axi_1_arready, m_axi_1_arid, m_axi_1_araddr, m_axi_1_arlen, m_axi_1_arsize,
        m_axi_1_arburst, m_axi_1_arcache, m_axi_1_arprot, m_axi_1_rvalid, m_axi_1_rready, m_axi_1_rid,
        m_axi_1_rdata, m_axi_1_rresp, m_axi_1_rlast
    } == {
        i_block.i_walk.m_axi_1_arvalid, i_block.i_walk.m_axi_1_arready, i_block.i_walk.m_axi_1_arid,
        i_block.i_walk.m_axi_1_araddr, i_block.i_walk.m_axi_1_arlen, i_block.i_walk.m_axi_1_arsize,
        i_block.i_walk.m_axi_1_arburst, i_block.i_walk.m_axi_1_arcache, i_block.i_walk.m_axi_1_arprot,
        i_block.i_walk.m_axi_1_rvalid, i_block.i_walk.m_axi_1_rready, i_block.i_walk.m_axi_1_rid,
        i_block.i_walk.m_axi_1_rdata, i_block.i_walk.m_axi_1_rresp, i_block.i_walk.m_axi_1_rlast
    })

    `REACHED(run_is_refused, over && !walked_q)
    `REACHED(run_ends_after_it_was_stopped, over && walked_q && stop_q && emitted_q == 1 && faults_q == 1)
    `REACHED(start_is_refused_during_a_run, ends_q && refused_q && strobe_i == '1 && address_i == CONTROL)
    `REACHED(event_comes_with_its_clearing, $past(rst_ni && carries && address_i == ISR && data_i[0]) && isr_q)
    `REACHED(second_run_begins, starts_q && isr_q)
endmodule
