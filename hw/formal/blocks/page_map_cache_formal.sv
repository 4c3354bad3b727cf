// SPDX-License-Identifier: MIT OR Apache-2.0
// page_map_cache: a page, which is any, is known if its line was fetched and has neither been replaced nor forgotten since, and
// then has the place that stood in it. A fetch asks for the chunk's place and for the line in it, each once, and ends with the
// place of its page or with the first fault.
`include "../rules/rule.svh"
module page_map_cache_formal
    import walk_pkg::*;
#(
    parameter int unsigned LogLines = 2,
    parameter logic [7:0]  Id       = 8'h82
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         forget_i,
    input logic [63:6]  storage_base_i,
    input logic [63:0]  storage_pages_i,
    input logic [63:3]  chunks_i,
    input logic [39:0]  look_page_i,
    input logic         fetch_i,
    input logic [39:0]  fetch_page_i,
    input logic         release_i,
    input logic         read_ready_i,
    input logic         line_valid_i,
    input logic [7:0]   line_id_i,
    input logic         line_error_i,
    input logic [511:0] line_i
);
    logic        forgetting_o, known_o, busy_o, fetched_o, read_valid_o;
    place_t      place_o, fetched_place_o;
    code_t       fetched_code_o;
    logic [63:6] read_address_o;
    logic [7:0]  read_id_o;

    power_up i_power_up (.*);
    page_map_cache #(.LogLines(LogLines), .Id(Id)) i_block (.*);
    axi4_stream_rules #(.Width(66), .Dense(0)) i_reads (
        .clk_i, .rst_ni, .tvalid(read_valid_o), .tready(read_ready_i), .payload({read_id_o, read_address_o}));

    // The settings of a job stay while a fetch is under way.
    `RULE(settings_stay, 0, !$past(rst_ni && busy_o) || $stable({storage_base_i, storage_pages_i, chunks_i}))

    // ---- The fetch, as it follows from what was asked for and came. A line that was not asked for changes nothing.
    logic             fetching_q, owed_q, chunk_is_there_q, ended_q;
    logic [1:0]       reads_q;
    logic [3:0]       clocks_q;
    logic [39:0]      page_q, physical_q;
    code_t            code_q;
    place_t           place_q, chunk_place;
    logic             asks, comes, learns;
    logic [7:0][63:0] words;
    logic [36:0]      chunk;
    logic [6:0]       line_of_chunk;
    logic [63:3]      chunk_address;
    assign words         = line_i;
    assign chunk         = i_block.chunk;
    assign line_of_chunk = i_block.line_of_chunk;
    assign chunk_address = chunks_i + 61'(chunk);
    assign chunk_place   = words[chunk_address[5:3]];
    assign asks          = read_valid_o && read_ready_i;
    assign comes         = line_valid_i && line_id_i == Id && fetching_q && owed_q;
    assign learns        = comes && reads_q == 2'd2 && !line_error_i;
    always_ff @(posedge clk_i) begin
        if (fetch_i) begin
            fetching_q       <= 1'b1;
            page_q           <= fetch_page_i;
            owed_q           <= 1'b0;
            chunk_is_there_q <= 1'b0;
            ended_q          <= 1'b0;
            reads_q          <= '0;
            clocks_q         <= 4'd1;
        end else begin
            if (clocks_q != '1) clocks_q <= clocks_q + 1'b1;
            if (asks) begin
                owed_q  <= 1'b1;
                reads_q <= reads_q + 1'b1;
            end
            if (comes) begin
                owed_q  <= 1'b0;
                ended_q <= 1'b1;
                code_q  <= line_error_i ? Bus : Found;
                if (reads_q == 2'd2) begin
                    place_q <= words[page_q[2:0]];
                end else if (!line_error_i) begin
                    place_q <= '0;      // no page of the chunk stands anywhere
                    if (chunk_place.epoch != 0 || chunk_place.physical != 0) begin
                        if ({24'd0, chunk_place.physical} >= storage_pages_i) code_q <= BeyondStorage;
                        else begin
                            ended_q          <= 1'b0;
                            chunk_is_there_q <= 1'b1;
                            physical_q       <= chunk_place.physical;
                        end
                    end
                end
            end
            if (fetched_o && release_i) fetching_q <= 1'b0;
        end
        if (!rst_ni) fetching_q <= 1'b0;
    end
    logic without_chunks, fetch_ended;
    assign without_chunks = fetching_q && reads_q == 0 && chunks_i == 0;
    assign fetch_ended    = fetching_q && ended_q;
    `RULE(busy_until_it_is_released, 1, busy_o == fetching_q)
    `RULE(fetch_ends_with_what_came, 1, !fetched_o || fetch_ended || without_chunks)
    `RULE(fetch_ends, 1, !fetch_ended || fetched_o)
    `RULE(first_fault_is_told, 1, !fetched_o || fetched_code_o == (without_chunks ? Found : code_q))
    `RULE(place_of_the_page_is_told, 1, !(fetched_o && fetched_code_o == Found)
        || fetched_place_o == (without_chunks ? '0 : place_q))
    `RULE(what_was_fetched_holds_until_it_is_released, 1, !$past(rst_ni && fetched_o && !release_i)
        || fetched_o && $stable({fetched_code_o, fetched_place_o}))

    `RULE(chunk_is_asked_for_and_then_its_line, 1, !read_valid_o || fetching_q && !owed_q && !ended_q
        && (reads_q == 0 && chunks_i != 0 || reads_q == 2'd1 && chunk_is_there_q))
    `RULE(line_is_asked_for_at_once, 1, !(fetching_q && reads_q == 2'd1 && chunk_is_there_q) || read_valid_o)
    `RULE(fetch_begins_in_time, 1, !fetching_q || reads_q != 0 || clocks_q < 4'd9 || read_valid_o || fetched_o)
    `RULE(page_is_divided_into_chunk_and_line, 1, !read_valid_o && reads_q == 0 || !fetching_q
        || {chunk, 7'd0} + 44'(line_of_chunk) == 44'(page_q[39:3]) + 44'(chunk) && line_of_chunk < 7'd127)
    `RULE(chunk_is_read_where_its_place_stands, 1, !(read_valid_o && reads_q == 0)
        || read_address_o == chunk_address[63:6])
    `RULE(line_is_read_in_its_chunk, 1, !(read_valid_o && reads_q == 2'd1)
        || read_address_o == storage_base_i + (58'(physical_q) << 7) + 58'd1 + 58'(line_of_chunk))
    `RULE(id_is_its_own, 1, read_id_o == Id)

    // ---- The cache: a page, which is any, and any bit of its place.
    logic [39:0]         page;
    logic [LogLines-1:0] at;
    logic                same_line, same_place, known_q;
    logic [5:0]          number;
    logic                bit_q;
    arbitrary #(.Width(40)) i_page (.clk_i, .value_o(page));
    arbitrary #(.Width(6)) i_number (.clk_i, .value_o(number));
    assign at         = page[LogLines+2:3];
    assign same_line  = page_q[39:3] == page[39:3];
    assign same_place = page_q[LogLines+2:3] == at;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || forget_i) known_q <= 1'b0;
        else if (learns && same_place) known_q <= same_line && !forgetting_o;
        if (learns && same_line) bit_q <= line_i[{page[2:0], number}];
    end
    // What was known when it was looked for, one and two clocks later. While the cache is being emptied, this is open.
    logic looks_q, looks_2_q, knew_q, knew_2_q, knew_bit_q, knew_bit_2_q;
    always_ff @(posedge clk_i) begin
        looks_q      <= rst_ni && look_page_i == page && !forgetting_o;
        looks_2_q    <= rst_ni && looks_q;
        knew_q       <= known_q;
        knew_2_q     <= knew_q;
        knew_bit_q   <= bit_q;
        knew_bit_2_q <= knew_bit_q;
    end
    `RULE(known_is_what_was_fetched, 1, !looks_2_q || known_o == knew_2_q)
    `RULE(known_page_has_its_place, 1, !(looks_2_q && knew_2_q) || place_o[number] == knew_bit_2_q)
    `RULE(forgetting_is_told, 1, !$past(!rst_ni || forget_i) || forgetting_o)

    // What counts of the outputs.
    logic         open_q, open_2_q;
    logic [206:0] seen;
    always_ff @(posedge clk_i) {open_2_q, open_q} <= {open_q, forgetting_o || !rst_ni};
    assign seen = {forgetting_o, !open_2_q && known_o, !open_2_q && known_o ? place_o : '0, busy_o, fetched_o,
        fetched_o ? fetched_code_o : code_t'('0), fetched_o && fetched_code_o == Found ? fetched_place_o : '0, read_valid_o,
        read_valid_o ? {read_id_o, read_address_o} : '0};

    // ---- What induction needs.
    logic bit_of_line;
    assign bit_of_line = i_block.i_known.known_q[at];
    `RULE(tag_of_a_known_line_is_there, 1, known_q == (bit_of_line && i_block.tags_q[at] == page[39:LogLines+3]))
    `RULE(bit_of_a_known_line_is_there, 1, !known_q || i_block.lines_q[at][{page[2:0], number}] == bit_q)
    `RULE(nothing_is_known_while_forgetting, 1, !forgetting_o || i_block.i_known.known_q == '0)
    `RULE(line_was_looked_up, 1, !looks_q || i_block.look_tag_q == page[39:LogLines+3]
        && i_block.look_word_q == page[2:0] && knew_q == (i_block.look_known && i_block.found_tag_q == i_block.look_tag_q)
        && (!knew_q || i_block.look_line_q[page[2:0]][number] == knew_bit_q))
    logic [2:0] state;
    assign state = i_block.state_q;
    localparam logic [2:0] Idle = 3'd0, Divide = 3'd1, AskChunk = 3'd2, AwaitChunk = 3'd3, AskLine = 3'd4, AwaitLine = 3'd5,
        Done = 3'd6;
    `RULE(state_is_one_of_them, 1, state <= Done)
    `RULE(state_is_that_of_the_fetch, 1, !fetching_q ? state == Idle
        : fetch_ended ? state == Done && !owed_q
        : reads_q == 0 ? !owed_q && (state == Divide || state == (chunks_i == 0 ? Done : AskChunk))
        : reads_q == 2'd1 ? (owed_q ? state == AwaitChunk : state == AskLine) && chunk_is_there_q == !owed_q
        : reads_q == 2'd2 && owed_q && chunk_is_there_q && state == AwaitLine)
    `RULE(chunk_comes_first, 1, !fetching_q || reads_q != 0 || !ended_q && !chunk_is_there_q)
    `RULE(page_is_kept, 1, !fetching_q || i_block.page_q == page_q)
    `RULE(chunk_is_kept, 1, !(fetching_q && chunk_is_there_q) || i_block.chunk_physical_q == physical_q)
    `RULE(no_fault_is_kept_before_the_end, 1, !fetching_q || fetch_ended || i_block.code_q == Found && i_block.place_q == '0)

    // Of the division.
    `RULE(number_is_kept, 1, !fetching_q || i_block.i_divide.number_q == page_q[39:3])
    `RULE(quotient_is_right, 1, !fetching_q || !i_block.divided || line_of_chunk < 7'd127
        && {chunk, 7'd0} + 44'(line_of_chunk) == 44'(page_q[39:3]) + 44'(chunk))
    `RULE(clocks_are_counted, 1, !fetching_q || clocks_q != 0 && (i_block.divided || clocks_q == 4'(i_block.i_divide.clocks_q) + 4'd1))
    `RULE(division_ends_in_time, 1, !fetching_q || i_block.divided || i_block.i_divide.clocks_q <= 3'd6)
    `RULE(nothing_goes_on_before_the_division, 1, !fetching_q || state == Divide || i_block.divided)
    `RULE(chunk_is_asked_for_after_the_division, 1, !fetching_q || state != Divide || clocks_q <= 4'd8)

    `REACHED(place_is_known, looks_2_q && known_o && place_o.physical != 0)
    `REACHED(other_line_takes_its_place, learns && same_place && !same_line && known_q)
    `REACHED(line_is_fetched_again, learns && same_line && known_q && line_i[{page[2:0], number}] != bit_q)
    `REACHED(known_page_is_forgotten, known_q && forget_i)
    `REACHED(line_comes_while_forgetting, learns && forgetting_o)
    `REACHED(chunk_is_nowhere, fetched_o && fetched_code_o == Found && reads_q == 2'd1)
    `REACHED(chunk_is_beyond_the_storage, fetched_o && fetched_code_o == BeyondStorage)
    `REACHED(line_is_broken, fetched_o && fetched_code_o == Bus && reads_q == 2'd2)
    `REACHED(there_are_no_chunks, fetched_o && without_chunks)
    `REACHED(last_line_of_a_chunk, asks && reads_q == 2'd1 && line_of_chunk == 7'd126 && chunk != 0)
endmodule
