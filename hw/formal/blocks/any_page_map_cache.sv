// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of page_map_cache: what that is proven to know of a page, which is any, and of others anything. A fetch takes any time,
// and ends with a fault or with the place that memory has; that of the page that is followed is given by the wrapper. What it asks of
// its user is proven here.
`include "../rules/rule.svh"
module page_map_cache
    import walk_pkg::*;
#(
    parameter int unsigned LogLines = 12,
    parameter logic [7:0]  Id       = 8'h82
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         forget_i,
    output logic         forgetting_o,
    input  logic [63:6]  storage_base_i,
    input  logic [63:0]  storage_pages_i,
    input  logic [63:3]  chunks_i,
    input  logic [39:0]  look_page_i,
    output logic         known_o,
    output place_t       place_o,
    input  logic         fetch_i,
    input  logic [39:0]  fetch_page_i,
    output logic         busy_o,
    output logic         fetched_o,
    output code_t        fetched_code_o,
    output place_t       fetched_place_o,
    input  logic         release_i,
    output logic         read_valid_o,
    output logic [63:6]  read_address_o,
    output logic [7:0]   read_id_o,
    input  logic         read_ready_i,
    input  logic         line_valid_i,
    input  logic [7:0]   line_id_i,
    input  logic         line_error_i,
    input  logic [511:0] line_i
);
    logic [39:0] page;
    arbitrary #(.Width(40)) i_page (.clk_i, .value_o(page));

    logic        forgetting_q, busy_q, fetched_q, asking_q;
    logic        forgotten, ends, learns, guess, asks;
    logic [1:0]  fault;
    logic [39:0] page_q;
    code_t       code_q;
    place_t      place_q, memory, other;
    logic [57:0] address;
    anything #(.Width(7)) i_any (.clk_i, .value_o({forgotten, ends, learns, guess, fault, asks}));
    anything #(.Width(64)) i_memory (.clk_i, .value_o(memory));
    anything #(.Width(64)) i_other (.clk_i, .value_o(other));
    anything #(.Width(58)) i_address (.clk_i, .value_o(address));

    // The fetch. One that ends with a fault lets no line in.
    logic end_now, learn_now;
    assign end_now         = busy_q && !fetched_q && !asking_q && ends;
    assign learn_now       = end_now && fault == 0 && learns;
    assign forgetting_o    = forgetting_q;
    assign busy_o          = busy_q;
    assign fetched_o       = fetched_q;
    assign fetched_code_o  = code_q;
    assign fetched_place_o = place_q;
    assign read_valid_o    = asking_q;
    assign read_id_o       = Id;
    always_ff @(posedge clk_i) begin
        if (fetch_i) page_q <= fetch_page_i;
        if (end_now) begin
            code_q  <= fault == 0 ? Found : fault[0] ? Bus : BeyondStorage;
            place_q <= page_q == page ? memory : other;
        end
        if (!asking_q) read_address_o <= address;
        if (!rst_ni) begin
            busy_q    <= 1'b0;
            fetched_q <= 1'b0;
            asking_q  <= 1'b0;
        end else begin
            if (fetch_i) busy_q <= 1'b1;
            else if (fetched_q && release_i) busy_q <= 1'b0;
            fetched_q <= end_now || fetched_q && !release_i;
            asking_q  <= asking_q ? !read_ready_i : busy_q && !fetched_q && !end_now && asks;
        end
        forgetting_q <= !rst_ni || forget_i || forgetting_q && !forgotten;
    end

    // The page that is followed: whether it is known, and with which place. The answer comes two clocks after the look.
    logic   known_q, looked_known_q;
    place_t kept_q, looked_place_q;
    always_ff @(posedge clk_i) begin
        if (learn_now && page_q[LogLines+2:3] == page[LogLines+2:3]) known_q <= page_q[39:3] == page[39:3] && !forgetting_q;
        if (learn_now && page_q[39:3] == page[39:3]) kept_q <= memory;
        if (!rst_ni || forget_i) known_q <= 1'b0;
        looked_known_q <= look_page_i == page && !forgetting_q ? known_q : guess;
        looked_place_q <= look_page_i == page && !forgetting_q ? kept_q : other;
        known_o        <= looked_known_q;
        place_o        <= looked_place_q;
    end

    `RULE(one_fetch_at_a_time, 1, !fetch_i || !busy_q)
    `RULE(settings_stay, 1, !$past(rst_ni && busy_q) || $stable({storage_base_i, storage_pages_i, chunks_i}))
endmodule
