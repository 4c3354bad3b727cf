// SPDX-License-Identifier: MIT OR Apache-2.0
// Carries copies out from one AXI4 port to another: a burst is read, its bytes move, a burst is written.
//
// Contract: copies are begun in the order in which they come, and end in any order, each once, when
// the target has answered for its last piece. Bursts are of at most five lines, in one page of
// 4 kB, and each has an id of its own: at most 256 are under way. A copy's response is the worst
// of its reads and writes; a piece that could not be read is not written, the others are. Only bytes
// of the copy are strobed. Read data are always taken. For 256 clocks after a reset
// memory is not asked.
module copy_path
    import vector_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         copy_valid_i,
    input  copy_t        copy_i,
    output logic         copy_ready_o,

    output logic         done_valid_o,
    output done_t        done_o,
    input  logic         done_ready_i,

    output logic [8:0]   bytes_o,           // asked for in this clock

    // Where bytes come from.
    output logic         m_axi_arvalid,
    input  logic         m_axi_arready,
    output logic [7:0]   m_axi_arid,
    output logic [63:0]  m_axi_araddr,
    output logic [7:0]   m_axi_arlen,
    input  logic         m_axi_rvalid,
    input  logic [7:0]   m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [1:0]   m_axi_rresp,
    input  logic         m_axi_rlast,

    // Where they go.
    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [7:0]   m_axi_awid,
    output logic [63:0]  m_axi_awaddr,
    output logic [7:0]   m_axi_awlen,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [63:0]  m_axi_wstrb,
    output logic         m_axi_wlast,
    input  logic         m_axi_bvalid,
    output logic         m_axi_bready,
    input  logic [7:0]   m_axi_bid,
    input  logic [1:0]   m_axi_bresp
);

    // ---- After a reset all ids become free, and what is counted by id becomes zero.

    logic       clear_q;
    logic [7:0] clear_id_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            clear_q    <= 1'b1;
            clear_id_q <= '0;
        end else if (clear_q) begin
            clear_q    <= clear_id_q != '1;
            clear_id_q <= clear_id_q + 1'b1;
        end
    end
    logic clear;
    assign clear = clear_q && rst_ni;

    // ---- Pieces are asked for: each takes an id, and the first of a copy a number for the copy.

    logic        piece_valid, piece_ready, piece_first, piece_last, ask;
    logic [63:0] source, target;
    logic [8:0]  bytes;
    logic [4:0]  number;
    logic [2:0]  queue;
    logic [15:0] token;
    piece_splitter i_splitter (
        .clk_i,
        .rst_ni,
        .copy_valid_i,
        .copy_i,
        .copy_ready_o,
        .piece_valid_o(piece_valid),
        .piece_ready_i(piece_ready),
        .source_o     (source),
        .target_o     (target),
        .bytes_o      (bytes),
        .first_o      (piece_first),
        .last_o       (piece_last),
        .number_o     (number),
        .queue_o      (queue),
        .token_o      (token)
    );

    logic       id_valid, id_free, element_valid, element_free;
    logic [7:0] id, freed_id, free_element, freed_element, element, element_q;
    lut_fifo #(
        .LogDepth(8),
        .Width   (8)
    ) i_free_ids (
        .clk_i,
        .rst_ni,
        .push_i (id_free || clear),
        .data_i (clear ? clear_id_q : freed_id),
        .pop_i  (ask),
        .valid_o(id_valid),
        .data_o (id)
    );
    lut_fifo #(
        .LogDepth(8),
        .Width   (8)
    ) i_free_elements (
        .clk_i,
        .rst_ni,
        .push_i (element_free || clear),
        .data_i (clear ? clear_id_q : freed_element),
        .pop_i  (ask && piece_first),
        .valid_o(element_valid),
        .data_o (free_element)
    );

    logic address_free;
    assign address_free = !m_axi_arvalid || m_axi_arready;
    assign piece_ready  = !clear_q && id_valid && (!piece_first || element_valid) && address_free;
    assign ask          = piece_valid && piece_ready;
    assign element      = piece_first ? free_element : element_q;
    assign bytes_o      = ask ? bytes : '0;

    always_ff @(posedge clk_i) begin
        if (ask) begin
            element_q    <= element;
            m_axi_arid   <= id;
            m_axi_araddr <= {source[63:6], 6'd0};
            m_axi_arlen  <= 8'((9'(source[5:0]) + bytes - 9'd1) >> 6);
        end
        if (!rst_ni) m_axi_arvalid <= 1'b0;
        else m_axi_arvalid <= ask || m_axi_arvalid && !m_axi_arready;
    end

    // ---- Their lines come, and go on to the target.

    logic         landed_valid, landed_ready, failed_valid;
    logic [7:0]   landed_id, failed_id, read_id, written_id, over_id, over_element;
    logic [1:0]   landed_response, failed_response;
    logic [2:0]   read_line;
    logic [511:0] line;
    piece_t       written;
    piece_landing i_landing (
        .clk_i,
        .rst_ni,
        .clear_i          (clear),
        .clear_id_i       (clear_id_q),
        .m_axi_rvalid,
        .m_axi_rid,
        .m_axi_rdata,
        .m_axi_rresp,
        .m_axi_rlast,
        .landed_valid_o   (landed_valid),
        .landed_id_o      (landed_id),
        .landed_response_o(landed_response),
        .landed_ready_i   (landed_ready),
        .read_id_i        (read_id),
        .read_line_i      (read_line),
        .line_o           (line)
    );
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   ($bits(piece_t))
    ) i_pieces (
        .clk_i,
        .write_enable_i (ask),
        .write_address_i(id),
        .write_data_i   ({bytes, source[5:0], target}),
        .read_address_i (written_id),
        .read_data_o    (written)
    );
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (8)
    ) i_elements_of_pieces (
        .clk_i,
        .write_enable_i (ask),
        .write_address_i(id),
        .write_data_i   (element),
        .read_address_i (over_id),
        .read_data_o    (over_element)
    );
    piece_writer i_writer (
        .clk_i,
        .rst_ni,
        .landed_valid_i   (landed_valid),
        .landed_id_i      (landed_id),
        .landed_response_i(landed_response),
        .landed_ready_o   (landed_ready),
        .piece_id_o       (written_id),
        .piece_i          (written),
        .read_id_o        (read_id),
        .read_line_o      (read_line),
        .line_i           (line),
        .failed_valid_o   (failed_valid),
        .failed_id_o      (failed_id),
        .failed_response_o(failed_response),
        .m_axi_awvalid,
        .m_axi_awready,
        .m_axi_awid,
        .m_axi_awaddr,
        .m_axi_awlen,
        .m_axi_wvalid,
        .m_axi_wready,
        .m_axi_wdata,
        .m_axi_wstrb,
        .m_axi_wlast
    );

    // ---- The target answers, and copies end.

    logic       ended, ended_valid, ended_taken;
    logic [7:0] ended_element;
    logic [1:0] ended_response, given_response;
    piece_tally i_tally (
        .clk_i,
        .rst_ni,
        .clear_i          (clear),
        .clear_element_i  (clear_id_q),
        .told_i           (ask),
        .told_element_i   (element),
        .told_last_i      (piece_last),
        .told_number_i    (number),
        .m_axi_bvalid,
        .m_axi_bready,
        .m_axi_bid,
        .m_axi_bresp,
        .failed_valid_i   (failed_valid),
        .failed_id_i      (failed_id),
        .failed_response_i(failed_response),
        .piece_id_o       (over_id),
        .element_i        (over_element),
        .free_o           (id_free),
        .free_id_o        (freed_id),
        .done_o           (ended),
        .done_element_o   (ended_element),
        .done_response_o  (ended_response)
    );
    // Each element that is under way has a place here.
    lut_fifo #(
        .LogDepth(8),
        .Width   (10)
    ) i_ended (
        .clk_i,
        .rst_ni,
        .push_i (ended),
        .data_i ({ended_element, ended_response}),
        .pop_i  (ended_taken),
        .valid_o(ended_valid),
        .data_o ({freed_element, given_response})
    );
    logic [18:0] caller;
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (19)
    ) i_callers (
        .clk_i,
        .write_enable_i (ask && piece_first),
        .write_address_i(free_element),
        .write_data_i   ({queue, token}),
        .read_address_i (freed_element),
        .read_data_o    (caller)
    );
    assign ended_taken  = ended_valid && (!done_valid_o || done_ready_i);
    assign element_free = ended_taken;
    always_ff @(posedge clk_i) begin
        if (ended_taken) done_o <= {given_response, caller};
        if (!rst_ni) done_valid_o <= 1'b0;
        else done_valid_o <= ended_taken || done_valid_o && !done_ready_i;
    end

`ifndef SYNTHESIS
    // Who has an id, and who has a number. An id asks once, is read once, and is over once.
    logic [255:0] ids_q, elements_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            ids_q      <= '0;
            elements_q <= '0;
        end else begin
            if (ask) ids_q[id] <= 1'b1;
            if (id_free) ids_q[freed_id] <= 1'b0;
            if (ask && piece_first) elements_q[free_element] <= 1'b1;
            if (ended_taken) elements_q[freed_element] <= 1'b0;
        end
    end
    no_id_is_given_twice: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !ask || !ids_q[id]);
    no_id_ends_twice: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !id_free || ids_q[freed_id]);
    no_element_is_given_twice: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(ask && piece_first) || !elements_q[free_element]);
    no_element_ends_twice: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !ended_taken || elements_q[freed_element]);
    each_beat_was_asked_for: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axi_rvalid || ids_q[m_axi_rid]);
    each_response_was_asked_for: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axi_bvalid || ids_q[m_axi_bid]);
    address_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_arvalid && !m_axi_arready)
            || m_axi_arvalid && $stable({m_axi_arid, m_axi_araddr, m_axi_arlen}));
    burst_stays_in_its_page: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axi_arvalid || 8'(m_axi_araddr[11:6]) + m_axi_arlen <= 8'd63);
    end_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && done_valid_o && !done_ready_i) || done_valid_o && $stable(done_o));
`endif

endmodule
