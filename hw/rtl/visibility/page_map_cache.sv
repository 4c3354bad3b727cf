// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds places of logical pages in the L2P map, and keeps lines of it on chip.
//
// Contract: the result of a look-up comes two clocks later. If the place is not known, the user
// may start a fetch while `busy_o` is low; when `fetched_o` is high, the place or the fault of that
// fetch is in `fetched_place_o` and `fetched_code_o` until `release_i`. `forget_i` empties the
// cache. Source of the layout: docs/store-layouts.md, "Map page".
module page_map_cache #(
    parameter int unsigned LogLines = 12,
    parameter logic [7:0]  Id       = 8'h82
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             forget_i,
    output logic             forgetting_o,
    input  logic [63:6]      storage_base_i,
    input  logic [63:0]      storage_pages_i,
    input  logic [63:3]      chunks_i,           // address of their places; 0: there are none

    input  logic [39:0]      look_page_i,
    output logic             known_o,
    output walk_pkg::place_t place_o,

    input  logic             fetch_i,
    input  logic [39:0]      fetch_page_i,
    output logic             busy_o,
    output logic             fetched_o,
    output walk_pkg::code_t  fetched_code_o,
    output walk_pkg::place_t fetched_place_o,
    input  logic             release_i,

    output logic             read_valid_o,
    output logic [63:6]      read_address_o,
    output logic [7:0]       read_id_o,
    input  logic             read_ready_i,
    input  logic             line_valid_i,
    input  logic [7:0]       line_id_i,
    input  logic             line_error_i,
    input  logic [511:0]     line_i
);
    import walk_pkg::*;

    typedef enum logic [2:0] {Idle, Divide, AskChunk, AwaitChunk, AskLine, AwaitLine, Done} state_t;
    state_t state_q;

    // A line of the map, as of memory, has the places of eight pages.
    localparam int unsigned Lines = 2**LogLines;
    typedef logic [LogLines-1:0] line_t;

    logic [39:LogLines+3] tags_q[Lines];
    logic [511:0]         lines_q[Lines];

    logic                 look_known;
    logic [39:LogLines+3] look_tag_q, found_tag_q;
    logic [2:0]           look_word_q;
    logic [7:0][63:0]     look_line_q;
    line_t                look;
    assign look    = look_page_i[LogLines+2:3];
    always_ff @(posedge clk_i) begin
        known_o <= look_known && found_tag_q == look_tag_q;
        place_o <= look_line_q[look_word_q];
    end

    logic [39:0] page_q;
    code_t       code_q;
    place_t      place_q;
    logic        divided;
    logic [36:0] chunk;
    logic [6:0]  line_of_chunk;
    divide_by_127 i_divide (
        .clk_i,
        .rst_ni,
        .start_i    (fetch_i),
        .number_i   (fetch_page_i[39:3]),
        .done_o     (divided),
        .quotient_o (chunk),
        .remainder_o(line_of_chunk)
    );

    logic [63:3]      chunk_address;
    logic [39:0]      chunk_physical_q;
    logic [7:0][63:0] line;
    place_t           chunk_place;
    logic             come, learn;
    line_t            learn_line;
    assign chunk_address   = chunks_i + 61'(chunk);
    assign line            = line_i;
    assign chunk_place     = line[chunk_address[5:3]];
    assign come            = line_valid_i && line_id_i == Id;
    assign read_id_o       = Id;
    assign read_valid_o    = state_q == AskChunk || state_q == AskLine;
    assign read_address_o  = state_q == AskChunk ? chunk_address[63:6]
        : page_address(storage_base_i, chunk_physical_q) + 58'd1 + 58'(line_of_chunk);
    assign learn           = state_q == AwaitLine && come && !line_error_i;
    assign learn_line      = page_q[LogLines+2:3];
    assign busy_o          = state_q != Idle;
    assign fetched_o       = state_q == Done;
    assign fetched_code_o  = code_q;
    assign fetched_place_o = place_q;

    logic unused;
    assign unused = chunk_place.in_memory;

    known_bits #(.Entries(Lines)) i_known (
        .clk_i, .rst_ni,
        .forget_i,
        .forget_from_i('0),
        .busy_o       (forgetting_o),
        .look_i       (look),
        .known_o      (look_known),
        .learn_i      (learn && !forgetting_o),
        .learned_i    (learn_line)
    );

    always_ff @(posedge clk_i) begin
        look_tag_q  <= look_page_i[39:LogLines+3];
        found_tag_q <= tags_q[look];
        look_line_q <= lines_q[look];
        look_word_q <= look_page_i[2:0];
        if (learn) begin
            tags_q[learn_line]  <= page_q[39:LogLines+3];
            lines_q[learn_line] <= line_i;
        end
    end

    // A fetch: which chunk, where that stands, the line of it.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            unique case (state_q)
                Idle: if (fetch_i) begin
                    state_q <= Divide;
                    page_q  <= fetch_page_i;
                    code_q  <= Found;
                    place_q <= '0;
                end
                Divide: if (divided) state_q <= chunks_i == 0 ? Done : AskChunk;
                AskChunk: if (read_ready_i) state_q <= AwaitChunk;
                AwaitChunk: if (come) begin
                    chunk_physical_q <= chunk_place.physical;
                    state_q          <= AskLine;
                    if (line_error_i) begin
                        code_q  <= Bus;
                        state_q <= Done;
                    end else if ({chunk_place.epoch, chunk_place.physical} == 0) begin
                        state_q <= Done;
                    end else if (64'(chunk_place.physical) >= storage_pages_i) begin
                        code_q  <= BeyondStorage;
                        state_q <= Done;
                    end
                end
                AskLine: if (read_ready_i) state_q <= AwaitLine;
                AwaitLine: if (come) begin
                    if (line_error_i) code_q <= Bus;
                    place_q <= line[page_q[2:0]];
                    state_q <= Done;
                end
                default: if (release_i) state_q <= Idle;
            endcase
        end
    end

`ifndef SYNTHESIS
    one_fetch_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !fetch_i || state_q == Idle);
`endif

endmodule
