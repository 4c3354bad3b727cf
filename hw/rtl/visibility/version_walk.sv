// SPDX-License-Identifier: MIT OR Apache-2.0
// The second half of a hop: line pointer, version, and the decision.
//
// Contract: a walk that has its page is given with the address of its line pointer's line. Lines with
// an even address are read by port 0, others by port 1, so that the two lines over which a header may
// stretch come on different ports; each port keeps the last line of each walk. A walk ends as a
// row, as a fault, or silently, and its number is then free; or it continues with an older record.
// A row is passed on with the part of the payload that came with the header. Source of the rule:
// lockdb/src/device_reader/walk.rs.
module version_walk #(
    parameter int unsigned LogChains = 7
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [63:0]          snapshot_i,
    input  logic                 payloads_i,         // are wanted

    input  logic                 begin_valid_i,      // a walk begins
    input  logic [LogChains-1:0] begin_chain_i,
    input  logic [31:0]          begin_vid_i,
    input  logic                 enter_valid_i,      // it is on its way to a version
    input  logic [LogChains-1:0] enter_chain_i,
    input  logic [63:0]          enter_record_i,
    input  logic                 line_valid_i,       // it has the page of that
    input  logic [LogChains-1:0] line_chain_i,
    input  logic [63:6]          line_address_i,
    input  logic [63:6]          line_page_i,
    input  logic [15:0]          line_lines_i,
    input  logic                 fault_valid_i,      // it has come to a fault
    input  logic [LogChains-1:0] fault_chain_i,
    input  walk_pkg::code_t      fault_code_i,

    output logic                 hop_valid_o,
    output logic [LogChains-1:0] hop_chain_o,
    output logic [63:0]          hop_record_o,
    output logic                 end_valid_o,
    output logic [LogChains-1:0] end_chain_o,
    output logic                 row_valid_o,
    input  logic                 row_ready_i,
    output walk_pkg::row_t       row_o,
    output logic [2:0]           row_word_o,         // where in its line the payload begins
    output logic [63:6]          row_address_o,      // the first line of it that has not come
    output logic                 row_has_line_o,     // one has come: row_line_o
    output logic [511:0]         row_line_o,
    output logic                 looked_o,           // at a version, in this clock

    output logic [1:0]           pointer_read_valid_o,
    output logic [1:0][63:6]     pointer_read_address_o,
    output logic [1:0][7:0]      pointer_read_id_o,
    input  logic [1:0]           pointer_read_ready_i,
    output logic [1:0]           header_read_valid_o,
    output logic [1:0][63:6]     header_read_address_o,
    output logic [1:0][7:0]      header_read_id_o,
    input  logic [1:0]           header_read_ready_i,
    input  logic [1:0]           come_valid_i,
    input  logic [1:0][7:0]      come_id_i,
    input  logic [1:0]           come_error_i,
    input  logic [1:0][511:0]    come_i
);
    import walk_pkg::*;

    localparam int unsigned Chains = 2**LogChains;
    localparam logic [11:0] PageWords   = 12'd1024;
    localparam logic [11:0] HeaderWords = 12'd4;
    typedef logic [LogChains-1:0] chain_t;

    // ---- Reads, and what comes, for each port.

    // A walk waits for its line pointer or for its version; of that, on which ports.
    logic [Chains-1:0]      at_version_q;
    logic [1:0][Chains-1:0] awaits_q;

    logic [1:0]         come, came_q, ask_header;
    chain_t             comer[2], comer_q[2];
    logic [1:0][63:6]   header_address;
    logic [1:0]         pointer_came, version_came;   // all of it
    logic               came_together;                // both lines of a version
    assign came_together = came_q == 2'b11 && comer_q[0] == comer_q[1];
    logic [1:0]         pointer_waits, version_waits, pop_pointer, pop_version;
    chain_t             pointer_chain[2], version_chain[2];
    logic [1:0][512:0]  pointer_line, version_line;
    chain_t             pointing_q, judging;          // those whose lines are looked at
    chain_t             pointed_chain_q;

    for (genvar port = 0; port < 2; port++) begin : g_ports
        lut_fifo #(.LogDepth(LogChains), .Width(LogChains + 58)) i_pointer_reads (
            .clk_i, .rst_ni,
            .push_i (line_valid_i && line_address_i[6] == 1'(port)),
            .data_i ({line_chain_i, line_address_i}),
            .pop_i  (pointer_read_valid_o[port] && pointer_read_ready_i[port]),
            .valid_o(pointer_read_valid_o[port]),
            .data_o ({pointer_read_id_o[port][LogChains-1:0], pointer_read_address_o[port]})
        );
        lut_fifo #(.LogDepth(LogChains), .Width(LogChains + 58)) i_header_reads (
            .clk_i, .rst_ni,
            .push_i (ask_header[port]),
            .data_i ({pointed_chain_q, header_address[port]}),
            .pop_i  (header_read_valid_o[port] && header_read_ready_i[port]),
            .valid_o(header_read_valid_o[port]),
            .data_o ({header_read_id_o[port][LogChains-1:0], header_read_address_o[port]})
        );
        assign pointer_read_id_o[port][7:LogChains] = '0;
        assign header_read_id_o[port][7:LogChains]  = '0;

        assign come[port]         = come_valid_i[port] && come_id_i[port][7:LogChains] == 0;
        assign comer[port]        = come_id_i[port][LogChains-1:0];

        // What has come is looked up a clock later: a line is in its memory before its walk is in the queue of those
        // that wait, and of two lines that come together the first port's is the last.
        assign pointer_came[port] = came_q[port] && !at_version_q[comer_q[port]];
        assign version_came[port] = came_q[port] && at_version_q[comer_q[port]]
            && !awaits_q[1 - port][comer_q[port]] && !(port == 1 && came_together);
        always_ff @(posedge clk_i) begin
            comer_q[port] <= comer[port];
            came_q[port]  <= come[port] && rst_ni;
        end
        lut_fifo #(.LogDepth(LogChains), .Width(LogChains)) i_pointers (
            .clk_i, .rst_ni,
            .push_i (pointer_came[port]),
            .data_i (comer_q[port]),
            .pop_i  (pop_pointer[port]),
            .valid_o(pointer_waits[port]),
            .data_o (pointer_chain[port])
        );
        lut_fifo #(.LogDepth(LogChains), .Width(LogChains)) i_versions (
            .clk_i, .rst_ni,
            .push_i (version_came[port]),
            .data_i (comer_q[port]),
            .pop_i  (pop_version[port]),
            .valid_o(version_waits[port]),
            .data_o (version_chain[port])
        );
        // Two readers, so two memories.
        lut_ram #(.AddressWidth(LogChains), .DataWidth(513)) i_pointer_lines (
            .clk_i,
            .write_enable_i(come[port]), .write_address_i(comer[port]),
            .write_data_i({come_error_i[port], come_i[port]}),
            .read_address_i(pointing_q), .read_data_o(pointer_line[port])
        );
        lut_ram #(.AddressWidth(LogChains), .DataWidth(513)) i_version_lines (
            .clk_i,
            .write_enable_i(come[port]), .write_address_i(comer[port]),
            .write_data_i({come_error_i[port], come_i[port]}),
            .read_address_i(judging), .read_data_o(version_line[port])
        );

        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                awaits_q[port] <= '0;
            end else begin
                if (come[port]) awaits_q[port][comer[port]] <= 1'b0;
                if (ask_header[port]) awaits_q[port][pointed_chain_q] <= 1'b1;
            end
        end
    end

    // ---- What is known of each walk.

    logic [63:6] pointed_page, judged_address, version_address;
    logic [15:0] pointed_lines;
    logic [63:0] pointed_record, judged_record, judged_newer;
    logic [31:0] judged_vid;
    logic [28:0] judged_pointer;
    logic [Chains-1:0] first_q;                       // it is at its newest version
    logic        keep_pointer, keep_newer, judged_first;
    logic [28:0] pointer;
    logic [63:0] created_q;
    chain_t      newer_chain;

    lut_ram #(.AddressWidth(LogChains), .DataWidth(74)) i_pages_of_pointers (
        .clk_i, .write_enable_i(line_valid_i), .write_address_i(line_chain_i),
        .write_data_i({line_lines_i, line_page_i}),
        .read_address_i(pointing_q), .read_data_o({pointed_lines, pointed_page})
    );
    lut_ram #(.AddressWidth(LogChains), .DataWidth(64)) i_records_of_pointers (
        .clk_i, .write_enable_i(enter_valid_i), .write_address_i(enter_chain_i),
        .write_data_i(enter_record_i),
        .read_address_i(pointing_q), .read_data_o(pointed_record)
    );
    lut_ram #(.AddressWidth(LogChains), .DataWidth(64)) i_records_of_versions (
        .clk_i, .write_enable_i(enter_valid_i), .write_address_i(enter_chain_i),
        .write_data_i(enter_record_i),
        .read_address_i(judging), .read_data_o(judged_record)
    );
    lut_ram #(.AddressWidth(LogChains), .DataWidth(32)) i_vids (
        .clk_i, .write_enable_i(begin_valid_i), .write_address_i(begin_chain_i),
        .write_data_i(begin_vid_i),
        .read_address_i(judging), .read_data_o(judged_vid)
    );
    lut_ram #(.AddressWidth(LogChains), .DataWidth(88)) i_pointers_kept (
        .clk_i, .write_enable_i(keep_pointer), .write_address_i(pointed_chain_q),
        .write_data_i({first_q[pointed_chain_q], version_address, pointer}),
        .read_address_i(judging), .read_data_o({judged_first, judged_address, judged_pointer})
    );
    lut_ram #(.AddressWidth(LogChains), .DataWidth(64)) i_newer (
        .clk_i, .write_enable_i(keep_newer), .write_address_i(newer_chain),
        .write_data_i(created_q),
        .read_address_i(judging), .read_data_o(judged_newer)
    );

    // A fault comes late in its clock, so it is looked at in the next.
    logic   fault_came_q;
    chain_t fault_chain_q;
    code_t  fault_code_q;
    always_ff @(posedge clk_i) begin
        fault_came_q  <= fault_valid_i && rst_ni;
        fault_chain_q <= fault_chain_i;
        fault_code_q  <= fault_code_i;
    end

    // ---- Line pointers: is the version inside its page, and where?

    logic        pointer_port, pointer_turn_q, pointing_valid_q, pointing_port_q, pointed_q, pointed_error_q;
    logic [31:0] pointed_word_q;
    logic [63:6] pointed_page_q;
    logic        too_many_lines_q;
    logic [13:0] lines_end_q;                         // of the line pointers, in their page
    logic        pointer_go;
    assign pointer_port = pointer_waits[1] && (pointer_turn_q || !pointer_waits[0]);
    assign pop_pointer  = pointer_go ? {pointer_port && pointer_waits[1],
        !pointer_port && pointer_waits[0]} : '0;

    logic [13:0] offset;
    logic [11:0] words_beside;                        // the header: before it, and of the payload; of 8 bytes each
    logic        fits, pointer_fault, two_lines;
    assign pointer         = pointed_word_q[28:0];
    assign offset          = pointer[13:0];
    // The payload is padded to a multiple of 8; the header is one.
    assign words_beside    = 12'(offset[13:3]) + 12'(pointer[27:17]) + 12'(pointer[16:14] != 0);
    assign fits            = offset[2:0] == 0 && !too_many_lines_q && offset >= lines_end_q
        && words_beside <= PageWords - HeaderWords;
    assign pointer_fault   = pointed_error_q || !fits;
    assign version_address = pointed_page_q + 58'(offset[13:6]);
    assign two_lines       = offset[5:3] > 3'd4;
    assign pointer_go      = !pointed_q || !pointer_fault || !fault_came_q;
    assign keep_pointer    = pointed_q && !pointer_fault;
    always_comb begin
        for (int unsigned port = 0; port < 2; port++) begin
            ask_header[port]     = keep_pointer && (two_lines || version_address[6] == 1'(port));
            header_address[port] = version_address[6] == 1'(port) ? version_address
                : version_address + 58'd1;
        end
    end

    always_ff @(posedge clk_i) begin
        if (pointer_go) begin
            pointing_q       <= pointer_chain[pointer_port];
            pointing_port_q  <= pointer_port;
            pointed_chain_q  <= pointing_q;
            pointed_word_q   <= pointer_line[pointing_port_q][32*pointed_record[3:0]+:32];
            pointed_error_q  <= pointer_line[pointing_port_q][512];
            pointed_page_q   <= pointed_page;
            too_many_lines_q <= pointed_lines[15:11] != 0;  // no version fits behind so many
            lines_end_q      <= 14'd64 + {1'b0, pointed_lines[10:0], 2'd0};
            pointer_turn_q   <= !pointer_port;
        end
        if (keep_pointer) at_version_q[pointed_chain_q] <= 1'b1;
        if (line_valid_i) at_version_q[line_chain_i] <= 1'b0;
        if (!rst_ni) begin
            pointing_valid_q <= 1'b0;
            pointed_q        <= 1'b0;
            pointer_turn_q   <= 1'b0;
            at_version_q     <= '0;
        end else if (pointer_go) begin
            pointing_valid_q <= |pointer_waits;
            pointed_q        <= pointing_valid_q;
        end
    end

    // ---- Faults wait for their turn.

    logic   fault_waits, pop_fault, push_fault;
    chain_t fault_chain;
    code_t  fault_code;
    assign push_fault = fault_came_q || pointed_q && pointer_fault;
    lut_fifo #(.LogDepth(LogChains), .Width(LogChains + 4)) i_faults (
        .clk_i, .rst_ni,
        .push_i (push_fault),
        .data_i (fault_came_q ? {fault_chain_q, fault_code_q}
            : {pointed_chain_q, pointed_error_q ? Bus : BadLine}),
        .pop_i  (pop_fault),
        .valid_o(fault_waits),
        .data_o ({fault_chain, fault_code})
    );

    // ---- Versions: cut out of their lines, then judged.

    logic version_port, version_turn_q, go, judge_waits;
    assign version_port = version_waits[1] && (version_turn_q || !version_waits[0]);
    assign judging      = fault_waits ? fault_chain : version_chain[version_port];
    assign judge_waits  = fault_waits || |version_waits;
    assign pop_fault    = go && fault_waits;
    assign pop_version  = go && !fault_waits ? {version_port && version_waits[1],
        !version_port && version_waits[0]} : '0;

    typedef struct packed {
        logic        valid;
        chain_t      chain;
        code_t       code;
        logic [31:0] vid;
        logic [63:0] record;
        logic [63:0] newer;
        logic [28:0] pointer;
        logic [63:6] address;    // of the header's first line
    } version_t;
    version_t cut_q, judged_q;
    logic [1:0][512:0] cut_lines_q;

    // The header's first line, and the second behind it.
    logic [15:0][63:0] words;
    logic [512:0]      first_line, second_line;
    logic [3:0]        word;
    assign first_line  = cut_lines_q[cut_q.address[6]];
    assign second_line = cut_lines_q[!cut_q.address[6]];
    assign words       = {second_line[511:0], first_line[511:0]};
    assign word        = {1'b0, cut_q.pointer[5:3]};

    logic [63:0] created, predecessor, vid_and_number;
    assign created        = words[word];
    assign predecessor    = words[word+4'd2];
    assign vid_and_number = words[word+4'd3];

    // What its words say of the version.
    logic [63:0] predecessor_q, vid_and_number_q;
    logic [1:0]  other_tuple_q;  // in the halves of its VID
    logic        not_older_q, too_new_q, has_predecessor_q;

    always_ff @(posedge clk_i) begin
        if (go) begin
            cut_q <= '{
                valid:   judge_waits,
                chain:   judging,
                code:    fault_waits ? fault_code : Found,
                vid:     judged_vid,
                record:  judged_record,
                newer:   judged_first ? '1 : judged_newer,
                pointer: judged_pointer,
                address: judged_address
            };
            cut_lines_q    <= version_line;
            version_turn_q <= !version_port;
            judged_q       <= cut_q;
            if (cut_q.code == Found && (first_line[512] || word > 4'd4 && second_line[512])) begin
                judged_q.code <= Bus;
            end
            created_q         <= created;
            predecessor_q     <= predecessor;
            vid_and_number_q  <= vid_and_number;
            other_tuple_q     <= {vid_and_number[31:16] != cut_q.vid[31:16], vid_and_number[15:0] != cut_q.vid[15:0]};
            not_older_q       <= created >= cut_q.newer;
            too_new_q         <= created > snapshot_i;
            has_predecessor_q <= predecessor != 0;
            row_line_o        <= word > 4'd4 ? second_line[511:0] : first_line[511:0];
        end
        if (begin_valid_i) first_q[begin_chain_i] <= 1'b1;
        if (hop_valid_o) first_q[hop_chain_o] <= 1'b0;
        if (!rst_ni) begin
            cut_q.valid    <= 1'b0;
            judged_q.valid <= 1'b0;
            version_turn_q <= 1'b0;
            first_q        <= '0;
        end
    end

    code_t code;
    logic  wants_row, goes_on;
    always_comb begin
        code = judged_q.code;
        if (code == Found) begin
            if (other_tuple_q != 0) code = OtherTuple;
            else if (not_older_q) code = NotOlder;
        end
    end
    assign goes_on      = code == Found && too_new_q && has_predecessor_q;
    assign wants_row    = code != Found || !too_new_q && !judged_q.pointer[28];
    assign row_valid_o  = judged_q.valid && wants_row;
    assign go           = !row_valid_o || row_ready_i;
    assign hop_valid_o  = judged_q.valid && goes_on;
    assign hop_chain_o  = judged_q.chain;
    assign hop_record_o = predecessor_q;
    assign keep_newer   = hop_valid_o;
    assign newer_chain  = judged_q.chain;
    assign end_valid_o  = judged_q.valid && !goes_on && go;
    assign end_chain_o  = judged_q.chain;
    assign looked_o     = judged_q.valid && go && judged_q.code == Found;

    // The payload begins four words behind the header's first.
    assign row_word_o     = 3'(judged_q.pointer[5:3] + 3'd4);
    assign row_has_line_o = judged_q.pointer[5:3] != 3'd4;
    assign row_address_o  = judged_q.address + (judged_q.pointer[5:3] > 3'd4 ? 58'd2 : 58'd1);
    assign row_o = '{
        code:    code,
        bytes:   payloads_i && code == Found ? judged_q.pointer[27:14] : '0,
        created: code == Found ? created_q : '0,
        record:  judged_q.record,
        number:  code == Found ? vid_and_number_q[63:32] : '0,
        vid:     judged_q.vid
    };

    logic unused;
    assign unused = ^{pointed_word_q[31:29], pointed_record[63:4], words, vid_and_number_q, judged_q};

`ifndef SYNTHESIS
    // Numbers that walks have.
    logic [Chains-1:0] walks_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            walks_q <= '0;
        end else begin
            if (end_valid_o) walks_q[end_chain_o] <= 1'b0;
            if (begin_valid_i) walks_q[begin_chain_i] <= 1'b1;
        end
    end
    a_walk_begins_with_a_free_number: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !begin_valid_i || !walks_q[begin_chain_i]);
    a_walk_that_has_a_page_is_under_way: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !line_valid_i || walks_q[line_chain_i]);
    a_fault_is_of_a_walk: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !fault_valid_i || walks_q[fault_chain_i] && fault_code_i != Found);
    version_lines_were_asked_for: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(come[0] && at_version_q[comer[0]] && !awaits_q[0][comer[0]])
            && !(come[1] && at_version_q[comer[1]] && !awaits_q[1][comer[1]]));
    a_line_comes_to_a_walk_that_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (!keep_pointer || !(come[0] && comer[0] == pointed_chain_q) && !(come[1] && comer[1] == pointed_chain_q))
            && (!line_valid_i || !(come[0] && comer[0] == line_chain_i) && !(come[1] && comer[1] == line_chain_i)));
    only_a_walk_ends_or_goes_on: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !judged_q.valid || walks_q[judged_q.chain]);
    what_is_said_of_a_version_is_so: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !judged_q.valid || (other_tuple_q != 0) == (vid_and_number_q[31:0] != judged_q.vid)
            && not_older_q == (created_q >= judged_q.newer)
            && too_new_q == (created_q > snapshot_i) && has_predecessor_q == (predecessor_q != 0));
    a_walk_ends_or_goes_on: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(judged_q.valid && go) || end_valid_o != hop_valid_o);
    a_row_or_fault_ends_its_walk: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(row_valid_o && row_ready_i) || end_valid_o);
    what_goes_on_has_an_older_record: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !hop_valid_o || hop_record_o != 0);
    lines_are_read_by_their_ports: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (!pointer_read_valid_o[0] || !pointer_read_address_o[0][6])
            && (!pointer_read_valid_o[1] || pointer_read_address_o[1][6])
            && (!header_read_valid_o[0] || !header_read_address_o[0][6])
            && (!header_read_valid_o[1] || header_read_address_o[1][6]));
    row_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && row_valid_o && !row_ready_i)
            || row_valid_o && $stable({row_o, row_word_o, row_address_o, row_has_line_o, row_line_o}));
`endif

endmodule
