// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the pieces that have landed to their target, one line a clock.
//
// Contract: a piece is a burst with its id. A piece with an error is not written; it is given at
// `failed_*` for one clock, in which it has to be taken. Bytes of others are never strobed.
module piece_writer
    import vector_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         landed_valid_i,
    input  logic [7:0]   landed_id_i,
    input  logic [1:0]   landed_response_i,
    output logic         landed_ready_o,

    output logic [7:0]   piece_id_o,
    input  piece_t       piece_i,           // of this id, in the same clock

    output logic [7:0]   read_id_o,
    output logic [2:0]   read_line_o,
    input  logic [511:0] line_i,            // a clock later

    output logic         failed_valid_o,
    output logic [7:0]   failed_id_o,
    output logic [1:0]   failed_response_o,

    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [7:0]   m_axi_awid,
    output logic [63:0]  m_axi_awaddr,
    output logic [7:0]   m_axi_awlen,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [63:0]  m_axi_wstrb,
    output logic         m_axi_wlast
);

    // Lines between their step and the bus have a place each.
    localparam int unsigned LogPlaces = 4;

    // A piece, then what is to be done for it, then that as numbers.
    typedef struct packed {
        logic [7:0]  id;
        logic [1:0]  response;
    } landed_t;
    typedef struct packed {
        logic [7:0]  id;
        logic [63:6] target;
        logic [5:0]  first_byte;
        logic [5:0]  last_byte;
        logic [5:0]  rotation;
        logic        ahead;                 // the first source line completes no target line
        logic [2:0]  last_line;             // of the target
    } job_t;
    logic    landed_valid_q, job_valid_q, job_over, next_job;
    landed_t landed_q;
    job_t    job, job_q;

    assign landed_ready_o = !landed_valid_q || next_job;
    assign next_job       = !job_valid_q || job_over;
    assign piece_id_o     = landed_q.id;

    logic [8:0] target_end;
    always_comb begin
        target_end     = 9'(piece_i.target[5:0]) + piece_i.bytes - 9'd1;
        job.id         = landed_q.id;
        job.target     = piece_i.target[63:6];
        job.first_byte = piece_i.target[5:0];
        job.last_byte  = target_end[5:0];
        job.last_line  = target_end[8:6];
        job.rotation   = piece_i.target[5:0] - piece_i.source_offset;
        job.ahead      = piece_i.target[5:0] < piece_i.source_offset;
    end

    always_ff @(posedge clk_i) begin
        if (landed_ready_o) landed_q <= '{landed_id_i, landed_response_i};
        if (next_job) job_q <= job;
        failed_id_o       <= landed_q.id;
        failed_response_o <= landed_q.response;
        if (!rst_ni) begin
            landed_valid_q <= 1'b0;
            job_valid_q    <= 1'b0;
            failed_valid_o <= 1'b0;
        end else begin
            if (landed_ready_o) landed_valid_q <= landed_valid_i;
            if (next_job) job_valid_q <= landed_valid_q && landed_q.response == 0;
            failed_valid_o <= next_job && landed_valid_q && landed_q.response != 0;
        end
    end

    // ---- The steps of a job: the lines of the target, and one before when it is ahead.

    logic [LogPlaces:0] places_q;           // in use
    logic [2:0] step_q, line;
    logic       step, emits, address_free, taken;
    assign line         = step_q - 3'(job_q.ahead);     // of the target
    assign emits        = !job_q.ahead || step_q != 0;
    assign address_free = !m_axi_awvalid || m_axi_awready;
    assign step         = job_valid_q && !places_q[LogPlaces] && (step_q != 0 || address_free);
    assign job_over     = step && emits && line == job_q.last_line;
    assign taken        = m_axi_wvalid && m_axi_wready;

    always_ff @(posedge clk_i) begin
        if (step && step_q == 0) begin
            m_axi_awid   <= job_q.id;
            m_axi_awaddr <= {job_q.target, 6'd0};
            m_axi_awlen  <= 8'(job_q.last_line);
        end
        if (!rst_ni) begin
            step_q        <= '0;
            places_q      <= '0;
            m_axi_awvalid <= 1'b0;
        end else begin
            if (step) step_q <= job_over ? '0 : step_q + 1'b1;
            places_q <= places_q + (LogPlaces + 1)'(step && emits) - (LogPlaces + 1)'(taken);
            m_axi_awvalid <= step && step_q == 0 || m_axi_awvalid && !m_axi_awready;
        end
    end

    logic         aligned_valid, aligned_last;
    logic [511:0] aligned;
    logic [63:0]  strobe;
    assign read_id_o   = job_q.id;
    assign read_line_o = step_q;
    byte_aligner i_aligner (
        .clk_i,
        .rst_ni,
        .step_i      (step),
        .emit_i      (emits),
        .first_i     (line == 0),
        .last_i      (line == job_q.last_line),
        .rotation_i  (job_q.rotation),
        .first_byte_i(job_q.first_byte),
        .last_byte_i (job_q.last_byte),
        .line_i,
        .valid_o     (aligned_valid),
        .last_o      (aligned_last),
        .data_o      (aligned),
        .strobe_o    (strobe)
    );
    lut_fifo #(
        .LogDepth(LogPlaces),
        .Width   (577)
    ) i_lines (
        .clk_i,
        .rst_ni,
        .push_i (aligned_valid),
        .data_i ({aligned_last, strobe, aligned}),
        .pop_i  (taken),
        .valid_o(m_axi_wvalid),
        .data_o ({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
    );

`ifndef SYNTHESIS
    address_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_awvalid && !m_axi_awready)
            || m_axi_awvalid && $stable({m_axi_awid, m_axi_awaddr, m_axi_awlen}));
    data_hold_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_wvalid && !m_axi_wready)
            || m_axi_wvalid && $stable({m_axi_wdata, m_axi_wstrb, m_axi_wlast}));
    burst_stays_in_its_page: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axi_awvalid || 8'(m_axi_awaddr[11:6]) + m_axi_awlen <= 8'd63);
`endif

endmodule
