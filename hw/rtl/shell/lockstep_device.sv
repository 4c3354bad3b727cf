// SPDX-License-Identifier: MIT OR Apache-2.0
// The device behind the PCIe hard block: registers, queues, copies, locks, jobs, look-ups
// (docs/device.md).
//
// Contract: every output is a function of registers. Reset is synchronous and low for two
// clocks at least. The data mover at `m_axis_move` moves the bytes of copies, and the engine at
// `m_axis_job` executes jobs; interrupts become messages at `m_axis_irq`. While `idle_o` is high,
// no work is in progress that could continue, and nothing happens until a valid rises at an input.
// The clock may then be stopped, but must run in the cycle in which a valid rises.
module lockstep_device #(
    parameter int unsigned CardLog2Bytes     = 26,  // of the card's memory, for software to read
    parameter int unsigned LookupLogSets     = 12,  // of the look-up unit's cache (docs/nic-lookup.md)
    parameter int unsigned LookupLogContexts = 7    // its requests of the network under way
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    output logic         idle_o,

    // Registers: bits 15:12 of the address choose the block.
    input  logic         s_axil_awvalid,
    output logic         s_axil_awready,
    input  logic [15:0]  s_axil_awaddr,
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
    input  logic [15:0]  s_axil_araddr,
    input  logic [2:0]   s_axil_arprot,
    output logic         s_axil_rvalid,
    input  logic         s_axil_rready,
    output logic [31:0]  s_axil_rdata,
    output logic [1:0]   s_axil_rresp,

    // Rings in host memory. The id is the number of the queue.
    output logic         m_axi_queue_awvalid,
    input  logic         m_axi_queue_awready,
    output logic [10:0]  m_axi_queue_awid,
    output logic [63:0]  m_axi_queue_awaddr,
    output logic [7:0]   m_axi_queue_awlen,
    output logic [2:0]   m_axi_queue_awsize,
    output logic [1:0]   m_axi_queue_awburst,
    output logic         m_axi_queue_awlock,
    output logic [3:0]   m_axi_queue_awcache,
    output logic [2:0]   m_axi_queue_awprot,
    output logic [3:0]   m_axi_queue_awqos,
    output logic [5:0]   m_axi_queue_awatop,
    output logic         m_axi_queue_wvalid,
    input  logic         m_axi_queue_wready,
    output logic [511:0] m_axi_queue_wdata,
    output logic [63:0]  m_axi_queue_wstrb,
    output logic         m_axi_queue_wlast,
    input  logic         m_axi_queue_bvalid,
    output logic         m_axi_queue_bready,
    input  logic [10:0]  m_axi_queue_bid,
    input  logic [1:0]   m_axi_queue_bresp,
    output logic         m_axi_queue_arvalid,
    input  logic         m_axi_queue_arready,
    output logic [10:0]  m_axi_queue_arid,
    output logic [63:0]  m_axi_queue_araddr,
    output logic [7:0]   m_axi_queue_arlen,
    output logic [2:0]   m_axi_queue_arsize,
    output logic [1:0]   m_axi_queue_arburst,
    output logic         m_axi_queue_arlock,
    output logic [3:0]   m_axi_queue_arcache,
    output logic [2:0]   m_axi_queue_arprot,
    output logic [3:0]   m_axi_queue_arqos,
    input  logic         m_axi_queue_rvalid,
    output logic         m_axi_queue_rready,
    input  logic [10:0]  m_axi_queue_rid,
    input  logic [511:0] m_axi_queue_rdata,
    input  logic [1:0]   m_axi_queue_rresp,
    input  logic         m_axi_queue_rlast,

    // The lock table, as docs/lock-unit.md has it.
    output logic         m_axi_lock_awvalid,
    input  logic         m_axi_lock_awready,
    output logic [10:0]  m_axi_lock_awid,
    output logic [63:0]  m_axi_lock_awaddr,
    output logic [7:0]   m_axi_lock_awlen,
    output logic [2:0]   m_axi_lock_awsize,
    output logic [1:0]   m_axi_lock_awburst,
    output logic         m_axi_lock_awlock,
    output logic [3:0]   m_axi_lock_awcache,
    output logic [2:0]   m_axi_lock_awprot,
    output logic [3:0]   m_axi_lock_awqos,
    output logic [5:0]   m_axi_lock_awatop,
    output logic         m_axi_lock_wvalid,
    input  logic         m_axi_lock_wready,
    output logic [511:0] m_axi_lock_wdata,
    output logic [63:0]  m_axi_lock_wstrb,
    output logic         m_axi_lock_wlast,
    input  logic         m_axi_lock_bvalid,
    output logic         m_axi_lock_bready,
    input  logic [10:0]  m_axi_lock_bid,
    input  logic [1:0]   m_axi_lock_bresp,
    output logic         m_axi_lock_arvalid,
    input  logic         m_axi_lock_arready,
    output logic [10:0]  m_axi_lock_arid,
    output logic [63:0]  m_axi_lock_araddr,
    output logic [7:0]   m_axi_lock_arlen,
    output logic [2:0]   m_axi_lock_arsize,
    output logic [1:0]   m_axi_lock_arburst,
    output logic         m_axi_lock_arlock,
    output logic [3:0]   m_axi_lock_arcache,
    output logic [2:0]   m_axi_lock_arprot,
    output logic [3:0]   m_axi_lock_arqos,
    input  logic         m_axi_lock_rvalid,
    output logic         m_axi_lock_rready,
    input  logic [10:0]  m_axi_lock_rid,
    input  logic [511:0] m_axi_lock_rdata,
    input  logic [1:0]   m_axi_lock_rresp,
    input  logic         m_axi_lock_rlast,

    // Lines of which the lock unit's copy is void.
    input  logic         s_axis_inv_tvalid,
    output logic         s_axis_inv_tready,
    input  logic [63:0]  s_axis_inv_tdata,

    // Commands for the data mover, and their ends.
    output logic         m_axis_move_tvalid,
    input  logic         m_axis_move_tready,
    output logic [191:0] m_axis_move_tdata,
    input  logic         s_axis_moved_tvalid,
    output logic         s_axis_moved_tready,
    input  logic [63:0]  s_axis_moved_tdata,

    // Submissions of the job queue, and words 0 and 1 of their completions.
    output logic         m_axis_job_tvalid,
    input  logic         m_axis_job_tready,
    output logic [511:0] m_axis_job_tdata,
    input  logic         s_axis_jobdone_tvalid,
    output logic         s_axis_jobdone_tready,
    input  logic [127:0] s_axis_jobdone_tdata,

    // Tables in host memory that keys are looked up in: reads in bursts.
    output logic         m_axi_nichost_arvalid,
    input  logic         m_axi_nichost_arready,
    output logic [7:0]   m_axi_nichost_arid,
    output logic [63:0]  m_axi_nichost_araddr,
    output logic [7:0]   m_axi_nichost_arlen,
    output logic [2:0]   m_axi_nichost_arsize,
    output logic [1:0]   m_axi_nichost_arburst,
    output logic [3:0]   m_axi_nichost_arcache,
    output logic [2:0]   m_axi_nichost_arprot,
    input  logic         m_axi_nichost_rvalid,
    output logic         m_axi_nichost_rready,
    input  logic [7:0]   m_axi_nichost_rid,
    input  logic [511:0] m_axi_nichost_rdata,
    input  logic [1:0]   m_axi_nichost_rresp,
    input  logic         m_axi_nichost_rlast,

    // The index of such a table, in the card's memory: bursts.
    output logic         m_axi_nic_awvalid,
    input  logic         m_axi_nic_awready,
    output logic [7:0]   m_axi_nic_awid,
    output logic [63:0]  m_axi_nic_awaddr,
    output logic [7:0]   m_axi_nic_awlen,
    output logic [2:0]   m_axi_nic_awsize,
    output logic [1:0]   m_axi_nic_awburst,
    output logic [3:0]   m_axi_nic_awcache,
    output logic [2:0]   m_axi_nic_awprot,
    output logic         m_axi_nic_wvalid,
    input  logic         m_axi_nic_wready,
    output logic [511:0] m_axi_nic_wdata,
    output logic [63:0]  m_axi_nic_wstrb,
    output logic         m_axi_nic_wlast,
    input  logic         m_axi_nic_bvalid,
    output logic         m_axi_nic_bready,
    input  logic [7:0]   m_axi_nic_bid,
    input  logic [1:0]   m_axi_nic_bresp,
    output logic         m_axi_nic_arvalid,
    input  logic         m_axi_nic_arready,
    output logic [7:0]   m_axi_nic_arid,
    output logic [63:0]  m_axi_nic_araddr,
    output logic [7:0]   m_axi_nic_arlen,
    output logic [2:0]   m_axi_nic_arsize,
    output logic [1:0]   m_axi_nic_arburst,
    output logic [3:0]   m_axi_nic_arcache,
    output logic [2:0]   m_axi_nic_arprot,
    input  logic         m_axi_nic_rvalid,
    output logic         m_axi_nic_rready,
    input  logic [7:0]   m_axi_nic_rid,
    input  logic [511:0] m_axi_nic_rdata,
    input  logic [1:0]   m_axi_nic_rresp,
    input  logic         m_axi_nic_rlast,

    // Look-ups that come from a network, and their answers.
    input  logic         s_axis_netreq_tvalid,
    output logic         s_axis_netreq_tready,
    input  logic [255:0] s_axis_netreq_tdata,
    output logic         m_axis_netrsp_tvalid,
    input  logic         m_axis_netrsp_tready,
    output logic [191:0] m_axis_netrsp_tdata,

    // Numbers of interrupt vectors.
    output logic         m_axis_irq_tvalid,
    input  logic         m_axis_irq_tready,
    output logic [7:0]   m_axis_irq_tdata
);

    // Blocks of registers, by bits 15:12 of the address.
    localparam int unsigned Blocks     = 7;
    localparam int unsigned Shell      = 0;
    localparam int unsigned LockUnit   = 1;
    localparam int unsigned LookupUnit = 5;

    localparam int unsigned Queues             = 4;
    localparam int unsigned CopyQueue          = 0;
    localparam int unsigned LockQueue          = 1;
    localparam int unsigned JobQueue           = 2;
    localparam int unsigned LookupQueue        = 3;
    localparam int unsigned QueueBlock[Queues] = '{2, 3, 4, 6};

    // Interrupt vectors; 0 is raised by hand only.
    localparam int unsigned Vectors             = 6;
    localparam int unsigned QueueVector[Queues] = '{1, 2, 4, 5};
    localparam int unsigned BusErrorVector      = 3;

    // Registers

    logic [Blocks-1:0]       block_valid, block_done, block_error;
    logic [Blocks-1:0][31:0] block_data;
    logic                    write;
    logic [11:0]             address;
    logic [31:0]             data;
    logic [3:0]              strobe;

    axi_lite_blocks #(
        .Blocks(Blocks)
    ) i_blocks (
        .clk_i,
        .rst_ni,
        .s_axil_awvalid,
        .s_axil_awready,
        .s_axil_awaddr,
        .s_axil_wvalid,
        .s_axil_wready,
        .s_axil_wdata,
        .s_axil_wstrb,
        .s_axil_bvalid,
        .s_axil_bready,
        .s_axil_bresp,
        .s_axil_arvalid,
        .s_axil_arready,
        .s_axil_araddr,
        .s_axil_rvalid,
        .s_axil_rready,
        .s_axil_rdata,
        .s_axil_rresp,
        .block_valid_o  (block_valid),
        .block_write_o  (write),
        .block_address_o(address),
        .block_data_o   (data),
        .block_strobe_o (strobe),
        .block_done_i   (block_done),
        .block_error_i  (block_error),
        .block_data_i   (block_data)
    );

    logic [31:0]        interrupt_count[Vectors];
    logic [Vectors-1:0] interrupt_force;

    shell_block #(
        .CardLog2Bytes(CardLog2Bytes)
    ) i_shell (
        .clk_i,
        .rst_ni,
        .valid_i          (block_valid[Shell]),
        .write_i          (write),
        .address_i        (address),
        .data_i           (data),
        .strobe_i         (strobe),
        .done_o           (block_done[Shell]),
        .error_o          (block_error[Shell]),
        .data_o           (block_data[Shell]),
        .interrupt_count_i(interrupt_count),
        .force_o          (interrupt_force)
    );

    // Queues

    logic [Queues-1:0][1:0]  queue_interrupts;
    logic [Queues-1:0]       queue_running, queue_memory_quiet;
    logic [Queues-1:0]       read_valid, read_ready, line_valid;
    logic [Queues-1:0][63:6] read_address;
    logic                    line_error, stored_error;
    logic [511:0]            line;
    logic [Queues-1:0]       store_valid, store_ready, stored_valid;
    logic [Queues-1:0][63:3] store_address;
    logic [Queues-1:0][63:0] store_data;

    logic                   [Queues-1:0] submission_valid, submission_ready;
    logic                   [Queues-1:0] completion_valid, completion_ready;
    queue_pkg::submission_t [Queues-1:0] submission;
    queue_pkg::completion_t [Queues-1:0] completion;

    for (genvar n = 0; n < Queues; n++) begin : gen_queue
        queue_block #(
            .Kind                 (8'(n + 1)),
            .EveryRequestCompletes(n != LockQueue),
            .CountsBytes          (n != LookupQueue)
        ) i_queue (
            .clk_i,
            .rst_ni,
            .valid_i           (block_valid[QueueBlock[n]]),
            .write_i           (write),
            .address_i         (address),
            .data_i            (data),
            .strobe_i          (strobe),
            .done_o            (block_done[QueueBlock[n]]),
            .error_o           (block_error[QueueBlock[n]]),
            .data_o            (block_data[QueueBlock[n]]),
            .interrupts_o      (queue_interrupts[n]),
            .running_o         (queue_running[n]),
            .memory_quiet_o    (queue_memory_quiet[n]),
            .read_valid_o      (read_valid[n]),
            .read_address_o    (read_address[n]),
            .read_ready_i      (read_ready[n]),
            .line_valid_i      (line_valid[n]),
            .line_error_i      (line_error),
            .line_i            (line),
            .store_valid_o     (store_valid[n]),
            .store_address_o   (store_address[n]),
            .store_data_o      (store_data[n]),
            .store_ready_i     (store_ready[n]),
            .stored_valid_i    (stored_valid[n]),
            .stored_error_i    (stored_error),
            .submission_valid_o(submission_valid[n]),
            .submission_o      (submission[n]),
            .submission_ready_i(submission_ready[n]),
            .completion_valid_i(completion_valid[n]),
            .completion_i      (completion[n]),
            .completion_ready_o(completion_ready[n])
        );
    end

    queue_memory_port #(
        .Queues(Queues)
    ) i_queue_memory_port (
        .clk_i,
        .rst_ni,
        .read_valid_i   (read_valid),
        .read_address_i (read_address),
        .read_ready_o   (read_ready),
        .line_valid_o   (line_valid),
        .line_error_o   (line_error),
        .line_o         (line),
        .store_valid_i  (store_valid),
        .store_address_i(store_address),
        .store_data_i   (store_data),
        .store_ready_o  (store_ready),
        .stored_valid_o (stored_valid),
        .stored_error_o (stored_error),
        .m_axi_awvalid  (m_axi_queue_awvalid),
        .m_axi_awready  (m_axi_queue_awready),
        .m_axi_awid     (m_axi_queue_awid),
        .m_axi_awaddr   (m_axi_queue_awaddr),
        .m_axi_wvalid   (m_axi_queue_wvalid),
        .m_axi_wready   (m_axi_queue_wready),
        .m_axi_wdata    (m_axi_queue_wdata),
        .m_axi_wstrb    (m_axi_queue_wstrb),
        .m_axi_bvalid   (m_axi_queue_bvalid),
        .m_axi_bid      (m_axi_queue_bid),
        .m_axi_bresp    (m_axi_queue_bresp),
        .m_axi_arvalid  (m_axi_queue_arvalid),
        .m_axi_arready  (m_axi_queue_arready),
        .m_axi_arid     (m_axi_queue_arid),
        .m_axi_araddr   (m_axi_queue_araddr),
        .m_axi_rvalid   (m_axi_queue_rvalid),
        .m_axi_rid      (m_axi_queue_rid),
        .m_axi_rdata    (m_axi_queue_rdata),
        .m_axi_rresp    (m_axi_queue_rresp)
    );

    // Stores of 8 bytes, reads of one line; neither is cached.
    assign m_axi_queue_awlen   = 8'd0;
    assign m_axi_queue_awsize  = 3'd3;
    assign m_axi_queue_awburst = 2'b01;
    assign m_axi_queue_awlock  = 1'b0;
    assign m_axi_queue_awcache = 4'b0011;
    assign m_axi_queue_awprot  = 3'b000;
    assign m_axi_queue_awqos   = 4'd0;
    assign m_axi_queue_awatop  = 6'd0;
    assign m_axi_queue_wlast   = 1'b1;
    assign m_axi_queue_bready  = 1'b1;
    assign m_axi_queue_arlen   = 8'd0;
    assign m_axi_queue_arsize  = 3'd6;
    assign m_axi_queue_arburst = 2'b01;
    assign m_axi_queue_arlock  = 1'b0;
    assign m_axi_queue_arcache = 4'b0011;
    assign m_axi_queue_arprot  = 3'b000;
    assign m_axi_queue_arqos   = 4'd0;
    assign m_axi_queue_rready  = 1'b1;

    // Copies

    logic moves_quiet;

    copy_engine i_copy_engine (
        .clk_i,
        .rst_ni,
        .submission_valid_i(submission_valid[CopyQueue]),
        .submission_i      (submission[CopyQueue]),
        .submission_ready_o(submission_ready[CopyQueue]),
        .completion_valid_o(completion_valid[CopyQueue]),
        .completion_o      (completion[CopyQueue]),
        .completion_ready_i(completion_ready[CopyQueue]),
        .m_axis_move_tvalid,
        .m_axis_move_tready,
        .m_axis_move_tdata,
        .s_axis_moved_tvalid,
        .s_axis_moved_tready,
        .s_axis_moved_tdata,
        .quiet_o           (moves_quiet)
    );

    // Locks

    logic         request_valid, request_ready, response_valid, response_ready;
    logic [191:0] request;
    logic [63:0]  response;
    logic         bus_error, lock_memory_quiet;

    lock_port i_lock_port (
        .clk_i,
        .rst_ni,
        .running_i         (queue_running[LockQueue]),
        .submission_valid_i(submission_valid[LockQueue]),
        .submission_i      (submission[LockQueue]),
        .submission_ready_o(submission_ready[LockQueue]),
        .completion_valid_o(completion_valid[LockQueue]),
        .completion_o      (completion[LockQueue]),
        .completion_ready_i(completion_ready[LockQueue]),
        .m_axis_req_tvalid (request_valid),
        .m_axis_req_tready (request_ready),
        .m_axis_req_tdata  (request),
        .s_axis_rsp_tvalid (response_valid),
        .s_axis_rsp_tready (response_ready),
        .s_axis_rsp_tdata  (response)
    );

    lock_block i_lock_block (
        .clk_i,
        .rst_ni,
        .valid_i          (block_valid[LockUnit]),
        .write_i          (write),
        .address_i        (address),
        .data_i           (data),
        .strobe_i         (strobe),
        .done_o           (block_done[LockUnit]),
        .error_o          (block_error[LockUnit]),
        .data_o           (block_data[LockUnit]),
        .s_axis_req_tvalid(request_valid),
        .s_axis_req_tready(request_ready),
        .s_axis_req_tdata (request),
        .m_axis_rsp_tvalid(response_valid),
        .m_axis_rsp_tready(response_ready),
        .m_axis_rsp_tdata (response),
        .s_axis_inv_tvalid,
        .s_axis_inv_tready,
        .s_axis_inv_tdata,
        .m_axi_awvalid    (m_axi_lock_awvalid),
        .m_axi_awready    (m_axi_lock_awready),
        .m_axi_awid       (m_axi_lock_awid),
        .m_axi_awaddr     (m_axi_lock_awaddr),
        .m_axi_awlen      (m_axi_lock_awlen),
        .m_axi_awsize     (m_axi_lock_awsize),
        .m_axi_awburst    (m_axi_lock_awburst),
        .m_axi_awlock     (m_axi_lock_awlock),
        .m_axi_awcache    (m_axi_lock_awcache),
        .m_axi_awprot     (m_axi_lock_awprot),
        .m_axi_awqos      (m_axi_lock_awqos),
        .m_axi_awatop     (m_axi_lock_awatop),
        .m_axi_wvalid     (m_axi_lock_wvalid),
        .m_axi_wready     (m_axi_lock_wready),
        .m_axi_wdata      (m_axi_lock_wdata),
        .m_axi_wstrb      (m_axi_lock_wstrb),
        .m_axi_wlast      (m_axi_lock_wlast),
        .m_axi_bvalid     (m_axi_lock_bvalid),
        .m_axi_bready     (m_axi_lock_bready),
        .m_axi_bid        (m_axi_lock_bid),
        .m_axi_bresp      (m_axi_lock_bresp),
        .m_axi_arvalid    (m_axi_lock_arvalid),
        .m_axi_arready    (m_axi_lock_arready),
        .m_axi_arid       (m_axi_lock_arid),
        .m_axi_araddr     (m_axi_lock_araddr),
        .m_axi_arlen      (m_axi_lock_arlen),
        .m_axi_arsize     (m_axi_lock_arsize),
        .m_axi_arburst    (m_axi_lock_arburst),
        .m_axi_arlock     (m_axi_lock_arlock),
        .m_axi_arcache    (m_axi_lock_arcache),
        .m_axi_arprot     (m_axi_lock_arprot),
        .m_axi_arqos      (m_axi_lock_arqos),
        .m_axi_rvalid     (m_axi_lock_rvalid),
        .m_axi_rready     (m_axi_lock_rready),
        .m_axi_rid        (m_axi_lock_rid),
        .m_axi_rdata      (m_axi_lock_rdata),
        .m_axi_rresp      (m_axi_lock_rresp),
        .interrupt_o      (bus_error),
        .memory_quiet_o   (lock_memory_quiet)
    );

    // Jobs

    job_port i_job_port (
        .clk_i,
        .rst_ni,
        .submission_valid_i(submission_valid[JobQueue]),
        .submission_i      (submission[JobQueue]),
        .submission_ready_o(submission_ready[JobQueue]),
        .completion_valid_o(completion_valid[JobQueue]),
        .completion_o      (completion[JobQueue]),
        .completion_ready_i(completion_ready[JobQueue]),
        .m_axis_job_tvalid,
        .m_axis_job_tready,
        .m_axis_job_tdata,
        .s_axis_jobdone_tvalid,
        .s_axis_jobdone_tready,
        .s_axis_jobdone_tdata
    );

    // Look-ups

    logic         lookup_valid, lookup_ready, found_valid, found_ready, lookups_quiet;
    logic [255:0] lookup;
    logic [191:0] found;

    lookup_port i_lookup_port (
        .clk_i,
        .rst_ni,
        .submission_valid_i (submission_valid[LookupQueue]),
        .submission_i       (submission[LookupQueue]),
        .submission_ready_o (submission_ready[LookupQueue]),
        .completion_valid_o (completion_valid[LookupQueue]),
        .completion_o       (completion[LookupQueue]),
        .completion_ready_i (completion_ready[LookupQueue]),
        .m_axis_sw_tvalid   (lookup_valid),
        .m_axis_sw_tready   (lookup_ready),
        .m_axis_sw_tdata    (lookup),
        .s_axis_swrsp_tvalid(found_valid),
        .s_axis_swrsp_tready(found_ready),
        .s_axis_swrsp_tdata (found)
    );

    lookup_unit #(
        .LogSets    (LookupLogSets),
        .LogContexts(LookupLogContexts)
    ) i_lookup_unit (
        .clk_i,
        .rst_ni,
        .valid_i            (block_valid[LookupUnit]),
        .write_i            (write),
        .address_i          (address),
        .data_i             (data),
        .strobe_i           (strobe),
        .done_o             (block_done[LookupUnit]),
        .error_o            (block_error[LookupUnit]),
        .data_o             (block_data[LookupUnit]),
        .s_axis_sw_tvalid   (lookup_valid),
        .s_axis_sw_tready   (lookup_ready),
        .s_axis_sw_tdata    (lookup),
        .m_axis_swrsp_tvalid(found_valid),
        .m_axis_swrsp_tready(found_ready),
        .m_axis_swrsp_tdata (found),
        .s_axis_req_tvalid  (s_axis_netreq_tvalid),
        .s_axis_req_tready  (s_axis_netreq_tready),
        .s_axis_req_tdata   (s_axis_netreq_tdata),
        .m_axis_rsp_tvalid  (m_axis_netrsp_tvalid),
        .m_axis_rsp_tready  (m_axis_netrsp_tready),
        .m_axis_rsp_tdata   (m_axis_netrsp_tdata),
        .m_axi_host_arvalid (m_axi_nichost_arvalid),
        .m_axi_host_arready (m_axi_nichost_arready),
        .m_axi_host_arid    (m_axi_nichost_arid),
        .m_axi_host_araddr  (m_axi_nichost_araddr),
        .m_axi_host_arlen   (m_axi_nichost_arlen),
        .m_axi_host_arsize  (m_axi_nichost_arsize),
        .m_axi_host_arburst (m_axi_nichost_arburst),
        .m_axi_host_arcache (m_axi_nichost_arcache),
        .m_axi_host_arprot  (m_axi_nichost_arprot),
        .m_axi_host_rvalid  (m_axi_nichost_rvalid),
        .m_axi_host_rready  (m_axi_nichost_rready),
        .m_axi_host_rid     (m_axi_nichost_rid),
        .m_axi_host_rdata   (m_axi_nichost_rdata),
        .m_axi_host_rresp   (m_axi_nichost_rresp),
        .m_axi_host_rlast   (m_axi_nichost_rlast),
        .m_axi_nic_awvalid,
        .m_axi_nic_awready,
        .m_axi_nic_awid,
        .m_axi_nic_awaddr,
        .m_axi_nic_awlen,
        .m_axi_nic_awsize,
        .m_axi_nic_awburst,
        .m_axi_nic_awcache,
        .m_axi_nic_awprot,
        .m_axi_nic_wvalid,
        .m_axi_nic_wready,
        .m_axi_nic_wdata,
        .m_axi_nic_wstrb,
        .m_axi_nic_wlast,
        .m_axi_nic_bvalid,
        .m_axi_nic_bready,
        .m_axi_nic_bid,
        .m_axi_nic_bresp,
        .m_axi_nic_arvalid,
        .m_axi_nic_arready,
        .m_axi_nic_arid,
        .m_axi_nic_araddr,
        .m_axi_nic_arlen,
        .m_axi_nic_arsize,
        .m_axi_nic_arburst,
        .m_axi_nic_arcache,
        .m_axi_nic_arprot,
        .m_axi_nic_rvalid,
        .m_axi_nic_rready,
        .m_axi_nic_rid,
        .m_axi_nic_rdata,
        .m_axi_nic_rresp,
        .m_axi_nic_rlast,
        .idle_o             (lookups_quiet)
    );

    // Interrupts: by hand, of the queues, and the rising edge of the lock unit's bus error.

    logic       bus_error_q;
    logic [1:0] raised[Vectors];
    always_comb begin
        for (int unsigned n = 0; n < Vectors; n++) raised[n] = 2'(interrupt_force[n]);
        for (int unsigned n = 0; n < Queues; n++) raised[QueueVector[n]] += queue_interrupts[n];
        raised[BusErrorVector] += 2'(bus_error && !bus_error_q);
    end

    interrupt_collector #(
        .Vectors(Vectors)
    ) i_interrupts (
        .clk_i,
        .rst_ni,
        .raised_i(raised),
        .count_o (interrupt_count),
        .m_axis_irq_tvalid,
        .m_axis_irq_tready,
        .m_axis_irq_tdata
    );

    // Idle: no valid for a while, and no answer missing, but for those of jobs, which may take
    // long. The ends of moves and jobs may wait for room in the completion ring, which software
    // makes by a register.

    logic busy, quiet;
    assign busy = s_axil_awvalid || s_axil_wvalid || s_axil_bvalid
        || s_axil_arvalid || s_axil_rvalid
        || m_axi_queue_awvalid || m_axi_queue_wvalid || m_axi_queue_bvalid
        || m_axi_queue_arvalid || m_axi_queue_rvalid
        || m_axi_lock_awvalid || m_axi_lock_wvalid || m_axi_lock_bvalid
        || m_axi_lock_arvalid || m_axi_lock_rvalid
        || s_axis_inv_tvalid || m_axis_irq_tvalid || m_axis_move_tvalid
        || s_axis_moved_tvalid && s_axis_moved_tready
        || m_axis_job_tvalid || s_axis_jobdone_tvalid && s_axis_jobdone_tready
        || m_axi_nichost_arvalid || m_axi_nichost_rvalid
        || m_axi_nic_awvalid || m_axi_nic_wvalid || m_axi_nic_bvalid
        || m_axi_nic_arvalid || m_axi_nic_rvalid
        || s_axis_netreq_tvalid || m_axis_netrsp_tvalid || !lookups_quiet
        || !moves_quiet || !lock_memory_quiet || !(&queue_memory_quiet);

    quiet_watch i_quiet_watch (
        .clk_i,
        .rst_ni,
        .busy_i (busy),
        .quiet_o(quiet)
    );

    always_ff @(posedge clk_i) begin
        bus_error_q <= rst_ni && bus_error;
        idle_o      <= rst_ni && quiet;
    end

    // Single beats: rlast of queues and locks says nothing. Nobody is told apart by awprot and arprot.
    logic unused;
    assign unused = ^{m_axi_queue_rlast, m_axi_lock_rlast, s_axil_awprot, s_axil_arprot};

endmodule
