// SPDX-License-Identifier: MIT OR Apache-2.0
// page_results: a result, which is any, is known if it was learned and neither replaced nor forgotten since, and then has the facts that
// it was learned with. What is being forgotten is open.
`include "../rules/rule.svh"
module page_results_formal
    import walk_pkg::*;
#(
    // Both kinds have several words of known bits, and not as many.
    parameter int unsigned LogPages  = 8,
    parameter int unsigned LogImages = 7
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        forget_i,
    input logic        forget_images_i,
    input logic        look_is_image_i,
    input logic [39:0] look_page_i,
    input place_t      look_place_i,
    input logic        learn_i,
    input logic        learn_is_image_i,
    input logic [39:0] learn_page_i,
    input place_t      learn_place_i,
    input facts_t      facts_i
);
    logic   busy_o, known_o;
    facts_t facts_o;

    power_up i_power_up (.*);
    page_results #(.LogPages(LogPages), .LogImages(LogImages)) i_block (.*);

    `RULE(nothing_is_learned_while_forgetting, 0, !learn_i || !busy_o)

    // The result: of an image, by its position, or of a page at a place.
    logic        is_image;
    logic [39:0] page, physical;
    logic [22:0] epoch;
    arbitrary #(.Width(104)) i_result (.clk_i, .value_o({is_image, page, physical, epoch}));
    logic learns_same_place, learns, looks;
    assign learns_same_place = learn_i && learn_is_image_i == is_image && (is_image
        ? learn_place_i.physical[LogImages-1:0] == physical[LogImages-1:0]
        : learn_place_i.physical[LogPages-1:0] == physical[LogPages-1:0]);
    assign learns = learns_same_place && (is_image
        || learn_place_i.physical == physical && learn_place_i.epoch == epoch && learn_page_i == page);
    assign looks  = look_is_image_i == is_image && (is_image ? look_place_i.physical[LogImages-1:0] == physical[LogImages-1:0]
        : look_place_i.physical == physical && look_place_i.epoch == epoch && look_page_i == page);

    logic   known_q, looks_q, looks_2_q, knew_q, knew_2_q;
    facts_t facts_q, had_q;
    always_ff @(posedge clk_i) begin
        if (learns_same_place) known_q <= learns;
        if (learns) facts_q <= facts_i;
        if (!rst_ni || forget_i || forget_images_i && is_image) known_q <= 1'b0;
        looks_q   <= rst_ni && looks && !busy_o;
        looks_2_q <= rst_ni && looks_q;
        knew_q    <= known_q;
        knew_2_q  <= knew_q;
        had_q     <= facts_q;
    end
    `RULE(known_is_what_was_learned, 1, !looks_2_q || known_o == knew_2_q)
    `RULE(facts_are_those_that_were_learned, 1, !(looks_q && knew_q) || facts_o == had_q)
    `RULE(forgetting_is_told, 1, !$past(!rst_ni || forget_i || forget_images_i) || busy_o)

    // What counts of the outputs: of facts, those of a result that is known.
    logic         open_q, open_2_q;
    logic [1+$bits(facts_t):0] seen;
    always_ff @(posedge clk_i) {open_2_q, open_q} <= {open_q, busy_o || !rst_ni};
    assign seen = {busy_o, !open_2_q && known_o, !open_2_q && known_o ? facts_o : '0};

    // ---- What induction needs.
    logic [LogPages:0] at;
    logic              bit_of_it;
    assign at        = is_image ? {1'b1, LogPages'(physical[LogImages-1:0])} : {1'b0, physical[LogPages-1:0]};
    assign bit_of_it = i_block.i_known.known_q[at];
    localparam int unsigned Key = 103 - LogPages;
    logic [Key+$bits(facts_t)-1:0] entry;
    logic [Key-1:0]                key;
    assign entry = i_block.entries_q[at];
    assign key   = is_image ? '0 : {physical[39:LogPages], epoch, page};
    `RULE(result_is_in_its_place, 1, known_q == (bit_of_it && entry[Key+$bits(facts_t)-1:$bits(facts_t)] == key))
    `RULE(facts_are_in_their_place, 1, !known_q || entry[$bits(facts_t)-1:0] == facts_q)
    `RULE(result_was_looked_up, 1, !looks_q || i_block.look_key_q == key
        && knew_q == (i_block.known_bit && i_block.found_key_q == key) && (!knew_q || i_block.found_q == had_q))

    `REACHED(page_is_known, looks_2_q && known_o && !is_image && page != 0)
    `REACHED(image_is_known, looks_2_q && known_o && is_image)
    `REACHED(result_is_replaced, learns_same_place && !learns && known_q)
    `REACHED(page_outlives_images, looks_2_q && known_o && !is_image && $past(forget_images_i && known_q, 6))
    `REACHED(everything_is_forgotten, known_q && forget_i)
endmodule
