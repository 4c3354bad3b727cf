// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the versions that a snapshot sees of a part of a table's VID map.
//
// Contract: `start_i` is given while `busy_o` is low; `job_i` then stays until `done_o`, which is
// high in the last clock of `busy_o`. Each VID of the part gives one row, one fault, or nothing when
// the snapshot sees no row, in any order. A row is a header beat and its payload, aligned, in beats
// of 64 bytes, with `tlast` on the last; a fault is a header beat alone. `stop_i` ends the run
// after the walks in progress. Lines can be loaded by the load port while `busy_o` is low; they
// come in the order of their requests. Counts are of the last run, and of the loads since its start.
module visibility_walk #(
    parameter int unsigned LogChains = 7,    // walks at once, 5 to 7
    parameter int unsigned LogPages  = 16    // pages whose check is remembered
) (
    input  logic            clk_i,
    input  logic            rst_ni,

    input  logic            start_i,
    input  logic            stop_i,
    input  logic [1023:0]   job_i,               // walk_pkg::job_t
    output logic            busy_o,              // also while it forgets after a reset
    output logic            done_o,

    input  logic            load_valid_i,
    output logic            load_ready_o,
    input  logic [63:6]     load_address_i,
    output logic            loaded_valid_o,
    output logic            loaded_error_o,
    output logic [511:0]    loaded_data_o,

    output logic            m_axis_row_tvalid,
    input  logic            m_axis_row_tready,
    output logic [511:0]    m_axis_row_tdata,
    output logic            m_axis_row_tlast,

    output logic            m_axi_0_arvalid,
    input  logic            m_axi_0_arready,
    output logic [7:0]      m_axi_0_arid,
    output logic [63:0]     m_axi_0_araddr,
    output logic [7:0]      m_axi_0_arlen,
    output logic [2:0]      m_axi_0_arsize,
    output logic [1:0]      m_axi_0_arburst,
    output logic [3:0]      m_axi_0_arcache,
    output logic [2:0]      m_axi_0_arprot,
    input  logic            m_axi_0_rvalid,
    output logic            m_axi_0_rready,
    input  logic [7:0]      m_axi_0_rid,
    input  logic [511:0]    m_axi_0_rdata,
    input  logic [1:0]      m_axi_0_rresp,
    input  logic            m_axi_0_rlast,

    output logic            m_axi_1_arvalid,
    input  logic            m_axi_1_arready,
    output logic [7:0]      m_axi_1_arid,
    output logic [63:0]     m_axi_1_araddr,
    output logic [7:0]      m_axi_1_arlen,
    output logic [2:0]      m_axi_1_arsize,
    output logic [1:0]      m_axi_1_arburst,
    output logic [3:0]      m_axi_1_arcache,
    output logic [2:0]      m_axi_1_arprot,
    input  logic            m_axi_1_rvalid,
    output logic            m_axi_1_rready,
    input  logic [7:0]      m_axi_1_rid,
    input  logic [511:0]    m_axi_1_rdata,
    input  logic [1:0]      m_axi_1_rresp,
    input  logic            m_axi_1_rlast,

    output logic [63:0]     vids_o,              // visited
    output logic [63:0]     hops_o,              // versions looked at
    output logic [63:0]     visible_o,
    output logic [63:0]     faults_o,
    output logic [63:0]     line_reads_o,
    output logic [63:0]     page_checks_o,
    output logic [63:0]     page_map_misses_o
);
    import walk_pkg::*;

    if (LogChains < 5 || LogChains > 7) begin : g_chains
        $error("LogChains is %0d, expected 5 to 7", LogChains);
    end

    localparam int unsigned Chains  = 2**LogChains;
    localparam int unsigned Readers = 8;
    typedef logic [LogChains-1:0] chain_t;

    // Ids of lines: below 128 the walk, else who asked.
    localparam logic [7:0] PayloadId    = 8'h80;
    localparam logic [7:0] VidEntryId   = 8'h81;
    localparam logic [7:0] MapId        = 8'h82;
    localparam logic [7:0] PlaceId      = 8'h83;
    localparam logic [7:0] ChunkCheckId = 8'h84;  // and one more
    localparam logic [7:0] PageCheckId  = 8'h88;  // and seven more
    localparam logic [7:0] LoadId       = 8'h90;
    localparam logic [7:0] PageEntryId  = 8'h91;

    job_t job;
    assign job = job_i;

    // ---- The run: what has to be forgotten and loaded first, then all VIDs, then the last row.

    typedef enum logic [1:0] {Idle, Preparing, Running} state_t;
    state_t state_q;
    logic   stopping_q, start, quiet, forgetting, too_many;
    logic   vids_quiet, checks_quiet, rows_quiet, entries_ended, entries_broken, entries_quiet;
    logic [1:0] ports_quiet;
    logic [LogChains:0] walks_q;                   // chains in use
    logic [8:0] events_q;                          // to be counted
    assign start  = start_i && !busy_o;
    assign quiet  = vids_quiet && checks_quiet && rows_quiet && entries_quiet && ports_quiet == 2'b11
        && walks_q == 0 && events_q == 0;
    assign busy_o = state_q != Idle || forgetting;
    assign done_o = state_q == Running && quiet;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q    <= Idle;
            stopping_q <= 1'b0;
        end else begin
            stopping_q <= !start && (stopping_q || stop_i);
            unique case (state_q)
                Idle: if (start) state_q <= Preparing;
                Preparing: if (!forgetting && (entries_ended || entries_broken)) state_q <= Running;
                default: if (quiet) state_q <= Idle;
            endcase
        end
    end

    // ---- The two ports.

    logic [1:0][Readers-1:0]       read_valid, read_ready;
    logic [1:0][Readers-1:0][63:6] read_address;
    logic [1:0][Readers-1:0][7:0]  read_id;
    logic [1:0]                    come_valid, come_error, asked;
    logic [1:0][7:0]               come_id;
    logic [1:0][511:0]             come;

    read_port #(.Readers(Readers)) i_port_0 (
        .clk_i, .rst_ni,
        .read_valid_i(read_valid[0]), .read_address_i(read_address[0]), .read_id_i(read_id[0]),
        .read_ready_o(read_ready[0]),
        .line_valid_o(come_valid[0]), .line_id_o(come_id[0]), .line_error_o(come_error[0]),
        .line_o(come[0]), .asked_o(asked[0]), .quiet_o(ports_quiet[0]),
        .m_axi_arvalid(m_axi_0_arvalid), .m_axi_arready(m_axi_0_arready),
        .m_axi_arid(m_axi_0_arid), .m_axi_araddr(m_axi_0_araddr),
        .m_axi_rvalid(m_axi_0_rvalid), .m_axi_rid(m_axi_0_rid), .m_axi_rdata(m_axi_0_rdata),
        .m_axi_rresp(m_axi_0_rresp)
    );
    read_port #(.Readers(Readers)) i_port_1 (
        .clk_i, .rst_ni,
        .read_valid_i(read_valid[1]), .read_address_i(read_address[1]), .read_id_i(read_id[1]),
        .read_ready_o(read_ready[1]),
        .line_valid_o(come_valid[1]), .line_id_o(come_id[1]), .line_error_o(come_error[1]),
        .line_o(come[1]), .asked_o(asked[1]), .quiet_o(ports_quiet[1]),
        .m_axi_arvalid(m_axi_1_arvalid), .m_axi_arready(m_axi_1_arready),
        .m_axi_arid(m_axi_1_arid), .m_axi_araddr(m_axi_1_araddr),
        .m_axi_rvalid(m_axi_1_rvalid), .m_axi_rid(m_axi_1_rid), .m_axi_rdata(m_axi_1_rdata),
        .m_axi_rresp(m_axi_1_rresp)
    );
    // Single lines of 64 bytes.
    assign {m_axi_0_arlen, m_axi_0_arsize, m_axi_0_arburst} = {8'd0, 3'd6, 2'd1};
    assign {m_axi_1_arlen, m_axi_1_arsize, m_axi_1_arburst} = {8'd0, 3'd6, 2'd1};
    assign {m_axi_0_arcache, m_axi_0_arprot, m_axi_0_rready} = {4'b0011, 3'd0, 1'b1};
    assign {m_axi_1_arcache, m_axi_1_arprot, m_axi_1_rready} = {4'b0011, 3'd0, 1'b1};

    // Who goes first is further on: payloads, versions, then what keeps new walks coming.
    logic [1:0]       payload_valid, header_valid, chunk_valid, pointer_valid, check_valid;
    logic [1:0][63:6] payload_address, header_address, chunk_address, pointer_address,
        check_address;
    logic [1:0][7:0]  payload_id, header_id, chunk_id, pointer_id, check_id;
    logic             map_valid, place_valid, vid_entry_valid, page_entry_valid;
    logic [63:6]      map_address, place_address, vid_entry_address, page_entry_address;
    logic [7:0]       map_id, place_id, vid_entry_id;
    logic [1:0]       payload_ready, header_ready, chunk_ready, pointer_ready, check_ready;
    for (genvar port = 0; port < 2; port++) begin : g_ports
        assign read_valid[port] = {
            port == 0 ? load_valid_i : page_entry_valid, check_valid[port], pointer_valid[port],
            port == 0 ? 1'b0 : place_valid, port == 0 ? map_valid : vid_entry_valid,
            chunk_valid[port], header_valid[port], payload_valid[port]
        };
        assign read_address[port] = {
            port == 0 ? load_address_i : page_entry_address, check_address[port],
            pointer_address[port], place_address, port == 0 ? map_address : vid_entry_address,
            chunk_address[port], header_address[port], payload_address[port]
        };
        assign read_id[port] = {
            port == 0 ? LoadId : PageEntryId, check_id[port], pointer_id[port], place_id,
            port == 0 ? map_id : vid_entry_id, chunk_id[port], header_id[port], payload_id[port]
        };
        assign payload_ready[port] = read_ready[port][0];
        assign header_ready[port]  = read_ready[port][1];
        assign chunk_ready[port]   = read_ready[port][2];
        assign pointer_ready[port] = read_ready[port][5];
        assign check_ready[port]   = read_ready[port][6];
    end
    assign load_ready_o   = read_ready[0][7];
    assign loaded_valid_o = come_valid[0] && come_id[0] == LoadId;
    assign loaded_error_o = come_error[0];
    assign loaded_data_o  = come[0];

    // ---- The page entries of the shared state, loaded before the run.

    localparam logic [31:0] LargestDelta = 32'd1024;
    logic         page_entry_come;
    logic [127:0] page_entry;
    logic [10:0]  page_entries_q;
    assign too_many = job.delta_page_count > LargestDelta;
    entry_stream #(.Id(PageEntryId)) i_page_entries (
        .clk_i, .rst_ni,
        .start_i       (start),
        .stop_i        (1'b0),
        .address_i     (job.delta_pages[63:4]),
        .count_i       (too_many ? '0 : job.delta_page_count),
        .read_valid_o  (page_entry_valid),
        .read_address_o(page_entry_address),
        .read_ready_i  (read_ready[1][7]),
        .line_valid_i  (come_valid[1]),
        .line_id_i     (come_id[1]),
        .line_error_i  (come_error[1]),
        .line_i        (come[1]),
        .valid_o       (page_entry_come),
        .entry_o       (page_entry),
        .pop_i         (page_entry_come),
        .ended_o       (entries_ended),
        .broken_o      (entries_broken),
        .quiet_o       (entries_quiet)
    );
    always_ff @(posedge clk_i) begin
        if (!rst_ni || start) page_entries_q <= '0;
        else if (page_entry_come) page_entries_q <= page_entries_q + 1'b1;
    end

    logic unused;
    assign unused = ^{job, page_entry, m_axi_0_rlast, m_axi_1_rlast};

    // ---- Walks: a VID gets a chain's number, and gives it back in the end.

    logic        vid_valid, vid_ready, begins, ends, visited, chunk_checked;
    logic [31:0] vid;
    logic [63:0] head;
    code_t       vid_code;
    chain_t      new_chain, ended_chain, free_chain;
    logic        chain_free, reuse;
    logic [LogChains:0] used_q;                    // chains that were ever in use
    assign chain_free = !used_q[LogChains] || reuse;
    assign new_chain  = used_q[LogChains] ? free_chain : used_q[LogChains-1:0];
    assign begins     = vid_valid && vid_ready;
    lut_fifo #(.LogDepth(LogChains), .Width(LogChains)) i_free_chains (
        .clk_i, .rst_ni,
        .push_i(ends), .data_i(ended_chain),
        .pop_i(begins && used_q[LogChains]), .valid_o(reuse), .data_o(free_chain)
    );
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            used_q  <= '0;
            walks_q <= '0;
        end else begin
            if (begins && !used_q[LogChains]) used_q <= used_q + 1'b1;
            walks_q <= walks_q + (LogChains + 1)'(begins) - (LogChains + 1)'(ends);
        end
    end

    logic looks_at_vid;
    vid_stream #(
        .PlaceId(PlaceId), .EntryId(VidEntryId), .FirstCheckId(ChunkCheckId)
    ) i_vids (
        .clk_i, .rst_ni,
        .start_i             (start),
        .stop_i              (stopping_q),
        .go_i                (state_q == Running),
        .vid_first_i         (job.vid_first),
        .vid_end_i           (job.vid_end),
        .table_i             (job.table_number),
        .chunks_i            (job.vid_chunks[63:3]),
        .entries_i           (job.delta_vids[63:4]),
        .entry_count_i       (job.delta_vid_count),
        .storage_base_i      (job.storage_base[63:6]),
        .storage_pages_i     (job.storage_pages),
        .store_i             (job.store),
        .epoch_i             (job.epoch),
        .valid_o             (vid_valid),
        .ready_i             (vid_ready),
        .vid_o               (vid),
        .head_o              (head),
        .code_o              (vid_code),
        .visited_o           (visited),
        .checked_o           (chunk_checked),
        .quiet_o             (vids_quiet),
        .place_read_valid_o  (place_valid),
        .place_read_address_o(place_address),
        .place_read_id_o     (place_id),
        .place_read_ready_i  (read_ready[1][4]),
        .entry_read_valid_o  (vid_entry_valid),
        .entry_read_address_o(vid_entry_address),
        .entry_read_id_o     (vid_entry_id),
        .entry_read_ready_i  (read_ready[1][3]),
        .check_read_valid_o  (chunk_valid),
        .check_read_address_o(chunk_address),
        .check_read_id_o     (chunk_id),
        .check_read_ready_i  (chunk_ready),
        .come_valid_i        (come_valid),
        .come_id_i           (come_id),
        .come_error_i        (come_error),
        .come_i              (come)
    );
    assign vid_ready = looks_at_vid;

    logic        hop_valid, enter_valid, line_valid, fault_valid, checked, missed;
    chain_t      hop_chain, enter_chain, line_chain, fault_chain;
    logic [63:0] hop_record, enter_record;
    logic [63:6] line_address, line_page;
    logic [15:0] line_lines;
    code_t       fault_code;
    page_lookup #(
        .LogChains(LogChains), .LogPages(LogPages), .FirstCheckId(PageCheckId), .MapId(MapId)
    ) i_pages (
        .clk_i, .rst_ni,
        .start_i             (start),
        .forget_pages_i      (job.forgets_pages),
        .forgetting_o        (forgetting),
        .storage_base_i      (job.storage_base[63:6]),
        .storage_pages_i     (job.storage_pages),
        .map_chunks_i        (job.page_map_chunks[63:3]),
        .logical_pages_i     (job.logical_pages),
        .images_i            (job.delta_images[63:6]),
        .store_i             (job.store),
        .epoch_i             (job.epoch),
        .table_i             (job.table_number),
        .entry_valid_i       (page_entry_come),
        .entry_position_i    (page_entries_q[9:0]),
        .entry_page_i        (page_entry[63:0]),
        .entry_image_i       (page_entry[95:64]),
        .entry_count_i       (page_entries_q),
        .entries_broken_i    (entries_broken || too_many),
        .vid_valid_i         (vid_valid && chain_free),
        .vid_ready_o         (looks_at_vid),
        .vid_chain_i         (new_chain),
        .vid_record_i        (head),
        .vid_code_i          (vid_code),
        .hop_valid_i         (hop_valid),
        .hop_chain_i         (hop_chain),
        .hop_record_i        (hop_record),
        .enter_valid_o       (enter_valid),
        .enter_chain_o       (enter_chain),
        .enter_record_o      (enter_record),
        .line_valid_o        (line_valid),
        .line_chain_o        (line_chain),
        .line_address_o      (line_address),
        .line_page_o         (line_page),
        .line_lines_o        (line_lines),
        .fault_valid_o       (fault_valid),
        .fault_chain_o       (fault_chain),
        .fault_code_o        (fault_code),
        .checked_o           (checked),
        .missed_o            (missed),
        .quiet_o             (checks_quiet),
        .check_read_valid_o  (check_valid),
        .check_read_address_o(check_address),
        .check_read_id_o     (check_id),
        .check_read_ready_i  (check_ready),
        .map_read_valid_o    (map_valid),
        .map_read_address_o  (map_address),
        .map_read_id_o       (map_id),
        .map_read_ready_i    (read_ready[0][3]),
        .come_valid_i        (come_valid),
        .come_id_i           (come_id),
        .come_error_i        (come_error),
        .come_i              (come)
    );

    logic         row_valid, row_ready, row_has_line, looked, visible, fault;
    row_t         row;
    logic [2:0]   row_word;
    logic [63:6]  row_address;
    logic [511:0] row_line;
    version_walk #(.LogChains(LogChains)) i_versions (
        .clk_i, .rst_ni,
        .snapshot_i            (job.snapshot),
        .payloads_i            (job.wants_payloads || job.program_address != 0),
        .begin_valid_i         (begins),
        .begin_chain_i         (new_chain),
        .begin_vid_i           (vid),
        .enter_valid_i         (enter_valid),
        .enter_chain_i         (enter_chain),
        .enter_record_i        (enter_record),
        .line_valid_i          (line_valid),
        .line_chain_i          (line_chain),
        .line_address_i        (line_address),
        .line_page_i           (line_page),
        .line_lines_i          (line_lines),
        .fault_valid_i         (fault_valid),
        .fault_chain_i         (fault_chain),
        .fault_code_i          (fault_code),
        .hop_valid_o           (hop_valid),
        .hop_chain_o           (hop_chain),
        .hop_record_o          (hop_record),
        .end_valid_o           (ends),
        .end_chain_o           (ended_chain),
        .row_valid_o           (row_valid),
        .row_ready_i           (row_ready),
        .row_o                 (row),
        .row_word_o            (row_word),
        .row_address_o         (row_address),
        .row_has_line_o        (row_has_line),
        .row_line_o            (row_line),
        .looked_o              (looked),
        .pointer_read_valid_o  (pointer_valid),
        .pointer_read_address_o(pointer_address),
        .pointer_read_id_o     (pointer_id),
        .pointer_read_ready_i  (pointer_ready),
        .header_read_valid_o   (header_valid),
        .header_read_address_o (header_address),
        .header_read_id_o      (header_id),
        .header_read_ready_i   (header_ready),
        .come_valid_i          (come_valid),
        .come_id_i             (come_id),
        .come_error_i          (come_error),
        .come_i                (come)
    );

    row_output #(.Id(PayloadId)) i_rows (
        .clk_i, .rst_ni,
        .quiet_o       (rows_quiet),
        .row_valid_i   (row_valid),
        .row_ready_o   (row_ready),
        .row_i         (row),
        .row_word_i    (row_word),
        .row_address_i (row_address),
        .row_has_line_i(row_has_line),
        .row_line_i    (row_line),
        .read_valid_o  (payload_valid),
        .read_address_o(payload_address),
        .read_id_o     (payload_id),
        .read_ready_i  (payload_ready),
        .line_valid_i  (come_valid),
        .line_id_i     (come_id),
        .line_error_i  (come_error),
        .line_i        (come),
        .m_axis_row_tvalid,
        .m_axis_row_tready,
        .m_axis_row_tdata,
        .m_axis_row_tlast,
        .visible_o     (visible),
        .fault_o       (fault)
    );

    // ---- Counts, of what happened a clock before. A run is not over until all is counted.

    logic [1:0] lines_asked_for, pages_checked;
    logic       vid_visited, version_looked_at, row_visible, row_fault, map_missed;
    assign {lines_asked_for, pages_checked, vid_visited, version_looked_at, row_visible, row_fault, map_missed}
        = events_q;
    always_ff @(posedge clk_i) begin
        events_q <= {asked, checked, chunk_checked, visited, looked, visible, fault, missed};
        if (!rst_ni || start) begin
            events_q          <= '0;
            vids_o            <= '0;
            hops_o            <= '0;
            visible_o         <= '0;
            faults_o          <= '0;
            line_reads_o      <= '0;
            page_checks_o     <= '0;
            page_map_misses_o <= '0;
        end else begin
            vids_o            <= vids_o + 64'(vid_visited);
            hops_o            <= hops_o + 64'(version_looked_at);
            visible_o         <= visible_o + 64'(row_visible);
            faults_o          <= faults_o + 64'(row_fault);
            line_reads_o      <= line_reads_o + 64'(lines_asked_for[0]) + 64'(lines_asked_for[1]);
            page_checks_o     <= page_checks_o + 64'(pages_checked[0]) + 64'(pages_checked[1]);
            page_map_misses_o <= page_map_misses_o + 64'(map_missed);
        end
    end

`ifndef SYNTHESIS
    walks_fit_the_chains: assert property (@(posedge clk_i) disable iff (!rst_ni)
        walks_q <= (LogChains + 1)'(Chains));
`endif

endmodule
