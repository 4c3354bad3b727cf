// SPDX-License-Identifier: MIT OR Apache-2.0
// The visibility element of docs/visibility-element.md: rows of a table that a snapshot sees, and a
// program for each.
//
// Contract: a run is started at the registers, reads its job block and program from device memory,
// and gives packets on `m_axis_row`, of which the last says how it ended. Then it interrupts.
// Addresses on both memory ports are of device memory. `idle_o` is high while no run and no
// register access is in progress; the clock may then be stopped until an access is offered at
// `s_axil`.
module visibility_pe #(
    parameter int unsigned LogChains = 7,
    parameter int unsigned LogPages = 16,
    parameter int unsigned Lanes = 8
) (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         s_axil_awvalid,
    output logic         s_axil_awready,
    input  logic [11:0]  s_axil_awaddr,
    input  logic [2:0]   s_axil_awprot,
    input  logic         s_axil_wvalid,
    output logic         s_axil_wready,
    input  logic [31:0]  s_axil_wdata,
    input  logic [3:0]   s_axil_wstrb,
    output logic         s_axil_bvalid,
    input  logic         s_axil_bready,
    output logic [1:0]   s_axil_bresp,
    input  logic         s_axil_arvalid,
    output logic         s_axil_arready,
    input  logic [11:0]  s_axil_araddr,
    input  logic [2:0]   s_axil_arprot,
    output logic         s_axil_rvalid,
    input  logic         s_axil_rready,
    output logic [31:0]  s_axil_rdata,
    output logic [1:0]   s_axil_rresp,

    output logic         m_axi_0_arvalid,
    input  logic         m_axi_0_arready,
    output logic [7:0]   m_axi_0_arid,
    output logic [63:0]  m_axi_0_araddr,
    output logic [7:0]   m_axi_0_arlen,
    output logic [2:0]   m_axi_0_arsize,
    output logic [1:0]   m_axi_0_arburst,
    output logic [3:0]   m_axi_0_arcache,
    output logic [2:0]   m_axi_0_arprot,
    input  logic         m_axi_0_rvalid,
    output logic         m_axi_0_rready,
    input  logic [7:0]   m_axi_0_rid,
    input  logic [511:0] m_axi_0_rdata,
    input  logic [1:0]   m_axi_0_rresp,
    input  logic         m_axi_0_rlast,

    output logic         m_axi_1_arvalid,
    input  logic         m_axi_1_arready,
    output logic [7:0]   m_axi_1_arid,
    output logic [63:0]  m_axi_1_araddr,
    output logic [7:0]   m_axi_1_arlen,
    output logic [2:0]   m_axi_1_arsize,
    output logic [1:0]   m_axi_1_arburst,
    output logic [3:0]   m_axi_1_arcache,
    output logic [2:0]   m_axi_1_arprot,
    input  logic         m_axi_1_rvalid,
    output logic         m_axi_1_rready,
    input  logic [7:0]   m_axi_1_rid,
    input  logic [511:0] m_axi_1_rdata,
    input  logic [1:0]   m_axi_1_rresp,
    input  logic         m_axi_1_rlast,

    output logic         m_axis_row_tvalid,
    input  logic         m_axis_row_tready,
    output logic [511:0] m_axis_row_tdata,
    output logic         m_axis_row_tlast,

    output logic         intr_o,
    output logic         idle_o
);

    import program_pkg::*;

    // ---- The run.

    typedef enum logic [2:0] {
        Idle,
        Waiting,      // for a walk that still prepares itself after a reset
        Loading,
        Starting,
        Walking,
        Draining,     // rows are in the lanes
        Closing       // the last packet is offered
    } state_t;

    state_t state_q;
    logic   asked, stop, over;
    logic   walk_busy, walk_done, load_done, lanes_idle;
    logic [7:0] refusal;
    assign over = state_q == Closing && m_axis_row_tready;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            case (state_q)
                Idle:  if (asked) state_q <= Waiting;
                Waiting:  if (!walk_busy) state_q <= Loading;
                Loading:  if (load_done) state_q <= refusal == 0 ? Starting : Closing;
                Starting: state_q <= Walking;
                Walking:  if (walk_done) state_q <= Draining;
                Draining: if (lanes_idle) state_q <= Closing;
                Closing:  if (over) state_q <= Idle;
                default:  state_q <= Idle;
            endcase
        end
    end

    // ---- Job and program.

    logic [63:6]    job_address;
    logic [1023:0]  job_bits;
    walk_pkg::job_t job;
    logic           has_program, code_write, constant_write;
    logic [3:0]     outputs;
    logic [5:0]     store_address;
    logic [63:0]    store_data;
    logic           load_valid, load_ready, loaded_valid, loaded_error;
    logic [63:6]    load_address;
    logic [511:0]   loaded_data;
    assign job = job_bits;

    job_loader i_job_loader (
        .clk_i,
        .rst_ni,
        .start_i         (state_q == Waiting && !walk_busy),
        .job_address_i   (job_address),
        .done_o          (load_done),
        .refusal_o       (refusal),
        .job_o           (job_bits),
        .has_program_o   (has_program),
        .outputs_o       (outputs),
        .load_valid_o    (load_valid),
        .load_ready_i    (load_ready),
        .load_address_o  (load_address),
        .loaded_valid_i  (loaded_valid),
        .loaded_error_i  (loaded_error),
        .loaded_data_i   (loaded_data),
        .code_write_o    (code_write),
        .constant_write_o(constant_write),
        .store_address_o (store_address),
        .store_data_o    (store_data)
    );

    // ---- Rows, and what becomes of them.

    logic         row_valid, row_ready, row_last;
    logic [511:0] row_data;
    logic [63:0]  vids, hops, visible, walk_faults, line_reads, page_checks, page_map_misses;

    visibility_walk #(
        .LogChains(LogChains),
        .LogPages (LogPages)
    ) i_walk (
        .clk_i,
        .rst_ni,
        .start_i          (state_q == Starting),
        .stop_i           (stop),
        .job_i            (job_bits),
        .busy_o           (walk_busy),
        .done_o           (walk_done),
        .load_valid_i     (load_valid),
        .load_ready_o     (load_ready),
        .load_address_i   (load_address),
        .loaded_valid_o   (loaded_valid),
        .loaded_error_o   (loaded_error),
        .loaded_data_o    (loaded_data),
        .m_axis_row_tvalid(row_valid),
        .m_axis_row_tready(row_ready),
        .m_axis_row_tdata (row_data),
        .m_axis_row_tlast (row_last),
        .m_axi_0_arvalid,
        .m_axi_0_arready,
        .m_axi_0_arid,
        .m_axi_0_araddr,
        .m_axi_0_arlen,
        .m_axi_0_arsize,
        .m_axi_0_arburst,
        .m_axi_0_arcache,
        .m_axi_0_arprot,
        .m_axi_0_rvalid,
        .m_axi_0_rready,
        .m_axi_0_rid,
        .m_axi_0_rdata,
        .m_axi_0_rresp,
        .m_axi_0_rlast,
        .m_axi_1_arvalid,
        .m_axi_1_arready,
        .m_axi_1_arid,
        .m_axi_1_araddr,
        .m_axi_1_arlen,
        .m_axi_1_arsize,
        .m_axi_1_arburst,
        .m_axi_1_arcache,
        .m_axi_1_arprot,
        .m_axi_1_rvalid,
        .m_axi_1_rready,
        .m_axi_1_rid,
        .m_axi_1_rdata,
        .m_axi_1_rresp,
        .m_axi_1_rlast,
        .vids_o           (vids),
        .hops_o           (hops),
        .visible_o        (visible),
        .faults_o         (walk_faults),
        .line_reads_o     (line_reads),
        .page_checks_o    (page_checks),
        .page_map_misses_o(page_map_misses)
    );

    logic         packet_valid, packet_last, emitted, faulted;
    logic [511:0] packet_data;

    program_lanes #(
        .Lanes(Lanes)
    ) i_lanes (
        .clk_i,
        .rst_ni,
        .has_program_i    (has_program),
        .outputs_i        (outputs),
        .wants_payloads_i (job.wants_payloads),
        .code_write_i     (code_write),
        .constant_write_i (constant_write),
        .store_address_i  (store_address),
        .store_data_i     (store_data),
        .s_axis_row_tvalid(row_valid),
        .s_axis_row_tready(row_ready),
        .s_axis_row_tdata (row_data),
        .s_axis_row_tlast (row_last),
        .m_axis_row_tvalid(packet_valid),
        .m_axis_row_tready(m_axis_row_tready),
        .m_axis_row_tdata (packet_data),
        .m_axis_row_tlast (packet_last),
        .emitted_o        (emitted),
        .fault_o          (faulted),
        .idle_o           (lanes_idle)
    );

    // ---- Counts. Those of the walk are of its last run, which a refused run is none of.

    logic [63:0] clocks_q, emitted_q, faults_q, stalls_q;
    logic        walked_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || state_q == Idle && asked) begin
            clocks_q  <= '0;
            emitted_q <= '0;
            faults_q  <= '0;
            stalls_q  <= '0;
            walked_q  <= 1'b0;
        end else begin
            clocks_q  <= clocks_q + 64'(state_q != Idle);
            emitted_q <= emitted_q + 64'(emitted);
            faults_q  <= faults_q + 64'(faulted);
            stalls_q  <= stalls_q + 64'(m_axis_row_tvalid && !m_axis_row_tready);
            if (state_q == Starting) walked_q <= 1'b1;
        end
    end

    // Faults of walks are counted again where their packets leave.
    logic unused;
    assign unused = ^{walk_faults, job, s_axil_awprot, s_axil_arprot};

    // ---- The last packet.

    header_t last;
    always_comb begin
        last      = '0;
        last.code = walked_q ? Finished : Refused;
        if (walked_q) begin
            {last.record, last.number, last.vid} = {
                faults_q[31:0], emitted_q[31:0], visible[31:0], vids[31:0]
            };
        end else begin
            last.vid = 32'(refusal);
        end
    end
    assign m_axis_row_tvalid = packet_valid || state_q == Closing;
    assign m_axis_row_tdata  = packet_valid ? packet_data : last;
    assign m_axis_row_tlast  = packet_valid ? packet_last : 1'b1;

    // ---- Registers.

    visibility_pe_registers_pkg::visibility_pe__in_t  to_registers;
    visibility_pe_registers_pkg::visibility_pe__out_t from_registers;
    logic        access_valid, access_write, refused, access_done, access_error;
    logic [11:0] access_address;
    logic [31:0] access_data, accessed_data;
    logic [3:0]  access_strobe;
    logic        cpuif_req, cpuif_req_is_wr, cpuif_rd_ack, cpuif_rd_err, cpuif_wr_ack, cpuif_wr_err;
    logic [11:0] cpuif_addr;
    logic [31:0] cpuif_wr_data, cpuif_wr_biten, cpuif_rd_data;

    axi_lite_blocks #(
        .Blocks(1)
    ) i_axi_lite (
        .clk_i,
        .rst_ni,
        .s_axil_awvalid,
        .s_axil_awready,
        .s_axil_awaddr  ({4'd0, s_axil_awaddr}),
        .s_axil_wvalid,
        .s_axil_wready,
        .s_axil_wdata,
        .s_axil_wstrb,
        .s_axil_bvalid,
        .s_axil_bready,
        .s_axil_bresp,
        .s_axil_arvalid,
        .s_axil_arready,
        .s_axil_araddr  ({4'd0, s_axil_araddr}),
        .s_axil_rvalid,
        .s_axil_rready,
        .s_axil_rdata,
        .s_axil_rresp,
        .block_valid_o  (access_valid),
        .block_write_o  (access_write),
        .block_address_o(access_address),
        .block_data_o   (access_data),
        .block_strobe_o (access_strobe),
        .block_done_i   (access_done),
        .block_error_i  (access_error),
        .block_data_i   (accessed_data)
    );

    register_access i_access (
        .clk_i,
        .rst_ni,
        .valid_i          (access_valid),
        .write_i          (access_write),
        .address_i        (access_address),
        .data_i           (access_data),
        .strobe_i         (access_strobe),
        .refused_i        (refused),
        .done_o           (access_done),
        .error_o          (access_error),
        .data_o           (accessed_data),
        .m_cpuif_req      (cpuif_req),
        .m_cpuif_req_is_wr(cpuif_req_is_wr),
        .m_cpuif_addr     (cpuif_addr),
        .m_cpuif_wr_data  (cpuif_wr_data),
        .m_cpuif_wr_biten (cpuif_wr_biten),
        .m_cpuif_rd_ack   (cpuif_rd_ack),
        .m_cpuif_rd_err   (cpuif_rd_err),
        .m_cpuif_rd_data  (cpuif_rd_data),
        .m_cpuif_wr_ack   (cpuif_wr_ack),
        .m_cpuif_wr_err   (cpuif_wr_err)
    );

    // A run is under way from its start to its last packet.
    assign asked       = from_registers.CONTROL.start.value;
    assign stop        = from_registers.CONTROL.stop.value;
    assign job_address = {
        from_registers.JOB.high.value, from_registers.JOB.low.value
    };
    assign refused = access_write && (
        visibility_pe_map_pkg::write_refused(access_address, access_data, access_strobe, asked)
        || asked && access_address == visibility_pe_map_pkg::CONTROL && access_data[0]);

    always_comb begin
        to_registers.CONTROL.start.hwclr            = over;
        to_registers.CONTROL.stop.hwclr             = over || !asked;
        to_registers.ISR.done.hwset                 = over;
        to_registers.RETURN.value.next              = walked_q ? visible[31:0] : '0;
        to_registers.CAPABILITIES.log2_chains.next  = 8'(LogChains);
        to_registers.CAPABILITIES.lanes.next        = 8'(Lanes);
        to_registers.CAPABILITIES.ports.next        = 8'd2;
        to_registers.CAPABILITIES.log2_pages.next   = 8'(LogPages);
        to_registers.CLOCKS.value.next              = clocks_q;
        to_registers.VIDS.value.next                = walked_q ? vids : '0;
        to_registers.HOPS.value.next                = walked_q ? hops : '0;
        to_registers.VISIBLE.value.next             = walked_q ? visible : '0;
        to_registers.EMITTED.value.next             = emitted_q;
        to_registers.FAULTS.value.next              = faults_q;
        to_registers.LINE_READS.value.next          = walked_q ? line_reads : '0;
        to_registers.PAGE_CHECKS.value.next         = walked_q ? page_checks : '0;
        to_registers.PAGE_MAP_MISSES.value.next     = walked_q ? page_map_misses : '0;
        to_registers.OUTPUT_STALLS.value.next       = stalls_q;
    end

    visibility_pe_registers i_registers (
        .clk                 (clk_i),
        .rst_n               (rst_ni),
        .s_cpuif_req         (cpuif_req),
        .s_cpuif_req_is_wr   (cpuif_req_is_wr),
        .s_cpuif_addr        (cpuif_addr),
        .s_cpuif_wr_data     (cpuif_wr_data),
        .s_cpuif_wr_biten    (cpuif_wr_biten),
        .s_cpuif_req_stall_wr(),
        .s_cpuif_req_stall_rd(),
        .s_cpuif_rd_ack      (cpuif_rd_ack),
        .s_cpuif_rd_err      (cpuif_rd_err),
        .s_cpuif_rd_data     (cpuif_rd_data),
        .s_cpuif_wr_ack      (cpuif_wr_ack),
        .s_cpuif_wr_err      (cpuif_wr_err),
        .hwif_in             (to_registers),
        .hwif_out            (from_registers)
    );

    assign intr_o = from_registers.GIE.enable.value && from_registers.IER.done.value
        && from_registers.ISR.done.value;
    assign idle_o = state_q == Idle && !asked && !walk_busy && !access_valid
        && !s_axil_rvalid && !s_axil_bvalid;

`ifndef SYNTHESIS
    no_packet_follows_the_last: assert property (@(posedge clk_i) disable iff (!rst_ni)
        state_q != Closing || !packet_valid);
`endif

endmodule
