// SPDX-License-Identifier: MIT OR Apache-2.0
// Streams the heads of a part of a table's VID map: the checkpoint's map, chunk by chunk, merged
// with the changes of the shared state.
//
// Contract: after `start_i`, and while `go_i`, VIDs whose chain has a head come in ascending order;
// one whose head cannot be determined comes with a fault. Two chunks of the map are on chip, so one
// is read and checked while the other is used; the data read are the data checked. `stop_i` ends
// the stream.
module vid_stream #(
    parameter logic [7:0] PlaceId      = 8'h83,
    parameter logic [7:0] EntryId      = 8'h81,
    parameter logic [7:0] FirstCheckId = 8'h84
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             start_i,
    input  logic             stop_i,
    input  logic             go_i,
    input  logic [31:0]      vid_first_i,
    input  logic [31:0]      vid_end_i,
    input  logic [31:0]      table_i,
    input  logic [63:3]      chunks_i,         // address of their places; 0: all are zero
    input  logic [63:4]      entries_i,        // of the shared state
    input  logic [31:0]      entry_count_i,
    input  logic [63:6]      storage_base_i,
    input  logic [63:0]      storage_pages_i,
    input  logic [63:0]      store_i,
    input  logic [63:0]      epoch_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [31:0]      vid_o,
    output logic [63:0]      head_o,
    output walk_pkg::code_t  code_o,
    output logic             visited_o,        // a VID, in this clock
    output logic             checked_o,        // a chunk
    output logic             quiet_o,          // ended, or not started

    output logic             place_read_valid_o,    // on port 1, as those of entries
    output logic [63:6]      place_read_address_o,
    output logic [7:0]       place_read_id_o,
    input  logic             place_read_ready_i,
    output logic             entry_read_valid_o,
    output logic [63:6]      entry_read_address_o,
    output logic [7:0]       entry_read_id_o,
    input  logic             entry_read_ready_i,
    output logic [1:0]       check_read_valid_o,
    output logic [1:0][63:6] check_read_address_o,
    output logic [1:0][7:0]  check_read_id_o,
    input  logic [1:0]       check_read_ready_i,
    input  logic [1:0]       come_valid_i,
    input  logic [1:0][7:0]  come_id_i,
    input  logic [1:0]       come_error_i,
    input  logic [1:0][511:0] come_i
);
    import walk_pkg::*;

    localparam logic [10:0] MapWords = 11'd1016;

    // ---- The chunks of the map.

    typedef enum logic [2:0] {Idle, Divide, Look, Ask, Await, Choose, Decide} state_t;
    state_t state_q;

    logic        divided;
    logic [36:0] first_chunk;
    logic [6:0]  first_line;
    logic [9:0]  first_position;
    divide_by_127 i_divide (
        .clk_i, .rst_ni,
        .start_i,
        .number_i   (37'(vid_first_i[31:3])),
        .done_o     (divided),
        .quotient_o (first_chunk),
        .remainder_o(first_line)
    );
    assign first_position = {first_line, vid_first_i[2:0]};

    // The chunk that is read next, its first VID, and the buffer for it.
    logic [22:0] chunk_q;
    logic [32:0] chunk_vid_q;
    logic        filling_q;
    logic [1:0]  taken_q, ready_q;
    code_t       codes_q[2];
    logic [1:0]  zero_q;
    logic        release_buffer, using_q;

    // The line of places with that of the chunk is kept.
    logic             places_known_q, places_broken_q;
    logic [7:0][63:0] places_q;
    logic [63:3]      place_address;
    place_t           place_q;
    logic             come, beyond, none, check;
    assign place_address        = chunks_i + 61'(chunk_q);
    assign place_read_valid_o   = state_q == Ask;
    assign place_read_address_o = place_address[63:6];
    assign place_read_id_o      = PlaceId;
    assign come   = come_valid_i[1] && come_id_i[1] == PlaceId;
    assign none   = chunks_i == 0 || {place_q.epoch, place_q.physical} == 0;
    assign beyond = 64'(place_q.physical) >= storage_pages_i;
    assign check  = state_q == Decide && !none && !beyond && !places_broken_q;

    logic   checked;
    logic   checked_slot;
    facts_t facts;
    logic   checker_quiet;
    page_checker #(.LogSlots(1), .FirstId(FirstCheckId)) i_checker (
        .clk_i, .rst_ni,
        .store_i,
        .epoch_i,
        .start_i        (check),
        .start_slot_i   (filling_q),
        .check_i        ('{
            is_image: 1'b0, is_map: 1'b1, epoch: place_q.epoch,
            page: {table_i, 9'd0, chunk_q},
            address: page_address(storage_base_i, place_q.physical)
        }),
        .checked_valid_o(checked),
        .checked_slot_o (checked_slot),
        .checked_o      (facts),
        .quiet_o        (checker_quiet),
        .read_valid_o   (check_read_valid_o),
        .read_address_o (check_read_address_o),
        .read_id_o      (check_read_id_o),
        .read_ready_i   (check_read_ready_i),
        .line_valid_i   (come_valid_i),
        .line_id_i      (come_id_i),
        .line_error_i   (come_error_i),
        .line_i         (come_i)
    );
    assign checked_o = checked;

    always_ff @(posedge clk_i) begin
        place_q <= places_q[place_address[5:3]];
        if (come) begin
            places_q <= come_i[1];
        end
        if (!rst_ni) begin
            state_q         <= Idle;
            taken_q         <= '0;
            ready_q         <= '0;
            places_known_q  <= 1'b0;
            places_broken_q <= 1'b0;
        end else begin
            if (checked) begin
                ready_q[checked_slot] <= 1'b1;
                codes_q[checked_slot] <= facts.code;
            end
            if (release_buffer) begin
                ready_q[using_q] <= 1'b0;
                taken_q[using_q] <= 1'b0;
            end
            unique case (state_q)
                Idle: if (start_i) begin
                    state_q        <= Divide;
                    places_known_q <= 1'b0;
                    filling_q      <= 1'b0;
                    taken_q        <= '0;
                    ready_q        <= '0;
                end
                Divide: if (divided) begin
                    state_q     <= Look;
                    chunk_q     <= first_chunk[22:0];
                    chunk_vid_q <= 33'(vid_first_i) - 33'(first_position);
                end
                Look: begin
                    places_broken_q <= 1'b0;
                    if (chunk_vid_q >= 33'(vid_end_i) || stop_i) state_q <= Idle;
                    else if (!taken_q[filling_q]) begin
                        state_q <= chunks_i == 0 || places_known_q ? Choose : Ask;
                    end
                end
                Ask: if (place_read_ready_i) state_q <= Await;
                Await: if (come) begin
                    state_q         <= Choose;
                    places_known_q  <= !come_error_i[1];
                    places_broken_q <= come_error_i[1];
                end
                Choose: state_q <= Decide;
                default: begin
                    state_q            <= Look;
                    chunk_q            <= chunk_q + 1'b1;
                    chunk_vid_q        <= chunk_vid_q + 33'(MapWords);
                    filling_q          <= !filling_q;
                    if (place_address[5:3] == 3'd7) places_known_q <= 1'b0;
                    taken_q[filling_q] <= 1'b1;
                    ready_q[filling_q] <= !check;
                    zero_q[filling_q]  <= none;
                    codes_q[filling_q] <= places_broken_q ? Bus : none ? Found : BeyondStorage;
                end
            endcase
        end
    end

    // Even lines of a page are on port 0, odd ones on port 1; two chunks of 64 lines on each.
    logic [9:0]        position_q;
    logic [6:0]        line_number;
    logic [1:0][511:0] lines;
    logic [7:0][63:0]  words;
    assign line_number = position_q[9:3] + 7'd1;
    assign words       = lines[line_number[0]];
    for (genvar port = 0; port < 2; port++) begin : g_ports
        logic [1:0][5:0] filled_q;
        logic            fill;
        logic            slot;
        assign fill = come_valid_i[port] && come_id_i[port][7:1] == FirstCheckId[7:1];
        assign slot = come_id_i[port][0];
        lut_ram #(.AddressWidth(7), .DataWidth(512)) i_lines (
            .clk_i,
            .write_enable_i (fill),
            .write_address_i({slot, filled_q[slot]}),
            .write_data_i   (come_i[port]),
            .read_address_i ({using_q, line_number[6:1]}),
            .read_data_o    (lines[port])
        );
        always_ff @(posedge clk_i) begin
            if (!rst_ni) filled_q <= '0;
            else if (fill) filled_q[slot] <= filled_q[slot] + 1'b1;   // wraps after a chunk
        end
    end

    // ---- The changes, as long as there are VIDs.

    logic         running_q, merged_q;   // merged_q: a VID that was merged in the last clock
    logic         entry_valid, entry_pop, entries_ended, entries_broken, entries_quiet;
    logic [127:0] entry;
    entry_stream #(.Id(EntryId)) i_entries (
        .clk_i, .rst_ni,
        .start_i,
        .stop_i        (!running_q),
        .address_i     (entries_i),
        .count_i       (entry_count_i),
        .read_valid_o  (entry_read_valid_o),
        .read_address_o(entry_read_address_o),
        .read_ready_i  (entry_read_ready_i),
        .line_valid_i  (come_valid_i[1]),
        .line_id_i     (come_id_i[1]),
        .line_error_i  (come_error_i[1]),
        .line_i        (come_i[1]),
        .valid_o       (entry_valid),
        .entry_o       (entry),
        .pop_i         (entry_pop),
        .ended_o       (entries_ended),
        .broken_o      (entries_broken),
        .quiet_o       (entries_quiet)
    );
    assign entry_read_id_o = EntryId;

    // Two changes that are next, so that taking one does not reach back to the lines of changes.
    typedef struct packed {
        logic        ours;           // of this table
        logic [31:0] vid;
        logic [63:0] head;
    } change_t;
    change_t coming, change_q, second_q;
    logic    change_valid_q, second_valid_q, change_pop, none_comes_q;
    assign coming     = '{ours: entry[63:32] == table_i, vid: entry[31:0], head: entry[127:64]};
    assign entry_pop  = entry_valid && !second_valid_q;
    always_ff @(posedge clk_i) begin
        if (!second_valid_q) second_q <= coming;
        if (change_pop || !change_valid_q) change_q <= second_valid_q ? second_q : coming;
        // A stream that has ended leaves none to the next.
        if (!rst_ni || !running_q) begin
            change_valid_q <= 1'b0;
            second_valid_q <= 1'b0;
            none_comes_q   <= 1'b0;
        end else begin
            none_comes_q <= entries_ended || entries_broken;
            if (change_pop || !change_valid_q) begin
                change_valid_q <= second_valid_q || entry_valid;
                second_valid_q <= 1'b0;
            end else if (entry_valid) begin
                second_valid_q <= 1'b1;
            end
        end
    end

    // ---- The merge: one VID a clock. Whether it has a head is looked at in the next.

    // Whether a VID is the last is found when it becomes the next.
    logic        step, goes_on, changed, passed, last_q;
    logic [31:0] vid_q;
    assign changed        = change_valid_q && change_q.vid == vid_q && change_q.ours;
    assign passed         = change_valid_q && (change_q.vid < vid_q || !change_q.ours);
    assign goes_on        = !valid_o || ready_i;
    assign step           = running_q && go_i && ready_q[using_q] && goes_on
        && (change_valid_q ? !passed : none_comes_q);
    assign change_pop     = passed || step && changed;
    assign release_buffer = step && (position_q == 10'(MapWords - 11'd1) || last_q);
    assign visited_o      = step;
    assign quiet_o        = state_q == Idle && !running_q && !merged_q && !valid_o && checker_quiet
        && entries_quiet;

    logic [63:0] head, head_q;
    code_t       code, code_q;
    logic [31:0] merged_vid_q;
    always_comb begin
        code = Found;
        head = '0;
        if (entries_broken && !change_valid_q) code = Bus;
        else if (changed) head = change_q.head;
        else if (codes_q[using_q] != Found) code = codes_q[using_q];
        else if (!zero_q[using_q]) head = words[position_q[2:0]];
    end

    always_ff @(posedge clk_i) begin
        if (goes_on) begin
            merged_vid_q <= vid_q;
            head_q       <= head;
            code_q       <= code;
            vid_o        <= merged_vid_q;
            head_o       <= head_q;
            code_o       <= code_q;
        end
        if (!rst_ni) begin
            running_q <= 1'b0;
            merged_q  <= 1'b0;
            valid_o   <= 1'b0;
        end else begin
            if (goes_on) begin
                merged_q <= step;
                valid_o  <= merged_q && (head_q != 0 || code_q != Found);
            end
            if (start_i) begin
                running_q  <= vid_first_i < vid_end_i;
                vid_q      <= vid_first_i;
                last_q     <= vid_first_i + 32'd1 == vid_end_i;
                using_q    <= 1'b0;
            end else if (stop_i) begin
                running_q <= 1'b0;
                merged_q  <= 1'b0;
                valid_o   <= 1'b0;
            end else if (step) begin
                running_q <= !last_q;
                vid_q     <= vid_q + 1'b1;
                last_q    <= vid_q + 32'd2 == vid_end_i;
            end
            if (state_q == Divide) position_q <= first_position;
            else if (release_buffer) begin
                position_q <= '0;
                using_q    <= !using_q;
            end else if (step) begin
                position_q <= position_q + 1'b1;
            end
        end
    end

    logic unused;
    assign unused = ^{place_q.in_memory, first_chunk[36:23], facts.table_number, facts.lines};

`ifndef SYNTHESIS
    last_vid_is_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !running_q || last_q == (vid_q + 32'd1 == vid_end_i));
    stream_starts_when_quiet: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !start_i || quiet_o);
    place_line_comes_when_asked_for: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !come || state_q == Await);
    vid_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && valid_o && !ready_i && !stop_i)
            || valid_o && $stable({vid_o, head_o, code_o}));
    vid_has_a_head_or_a_fault: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !valid_o || head_o != 0 || code_o != Found);
    vids_ascend: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(valid_o && running_q) || vid_o < vid_q);
    merged_vid_is_behind: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !merged_q || (!running_q || merged_vid_q < vid_q) && (!valid_o || vid_o < merged_vid_q));
    changes_are_held_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !second_valid_q || change_valid_q);
    vid_is_in_its_part: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !running_q || vid_q >= vid_first_i && vid_q < vid_end_i);
    only_what_is_whole_is_used: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !step || taken_q[using_q] && position_q < 10'(MapWords));
    chunk_is_read_into_a_free_buffer: assert property (@(posedge clk_i) disable iff (!rst_ni)
        state_q != Decide || !taken_q[filling_q]);
`endif

endmodule
