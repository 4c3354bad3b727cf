// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of page_results, which is proven to know the facts of a result, any, until another takes its place or it is
// forgotten: the same of one result, any, and anything of the others. What it asks of its user is proven here.
`include "../rules/rule.svh"
module page_results
    import walk_pkg::*;
#(
    parameter int unsigned LogPages  = 16,
    parameter int unsigned LogImages = 10
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        forget_i,
    input  logic        forget_images_i,
    output logic        busy_o,
    input  logic        look_is_image_i,
    input  logic [39:0] look_page_i,
    input  place_t      look_place_i,
    output logic        known_o,
    output facts_t      facts_o,
    input  logic        learn_i,
    input  logic        learn_is_image_i,
    input  logic [39:0] learn_page_i,
    input  place_t      learn_place_i,
    input  facts_t      facts_i
);
    // The result: of an image, by its position, or of a page at a place.
    logic        is_image;
    logic [39:0] page, physical;
    logic [22:0] epoch;
    arbitrary #(.Width(104)) i_result (.clk_i, .value_o({is_image, page, physical, epoch}));
    logic same_place, same, looks;
    assign same_place = learn_is_image_i == is_image && (is_image ? learn_place_i.physical[LogImages-1:0] == physical[LogImages-1:0]
        : learn_place_i.physical[LogPages-1:0] == physical[LogPages-1:0]);
    assign same       = same_place && (is_image
        || learn_place_i.physical == physical && learn_place_i.epoch == epoch && learn_page_i == page);
    assign looks      = look_is_image_i == is_image && (is_image ? look_place_i.physical[LogImages-1:0] == physical[LogImages-1:0]
        : look_place_i.physical == physical && look_place_i.epoch == epoch && look_page_i == page);

    logic   busy_q, ends, guess, known_q, looked_known_q;
    facts_t kept_q, other;
    anything #(.Width($bits(facts_t) + 2)) i_any (.clk_i, .value_o({ends, guess, other}));
    assign busy_o = busy_q;
    always_ff @(posedge clk_i) begin
        busy_q <= !rst_ni || forget_i || forget_images_i || busy_q && !ends;
        if (learn_i && same_place) known_q <= same;
        if (learn_i && same) kept_q <= facts_i;
        if (!rst_ni || forget_i || forget_images_i && is_image) known_q <= 1'b0;
        // While some are being forgotten, any may be there or not.
        looked_known_q <= looks && !busy_q ? known_q : guess;
        facts_o        <= looks && !busy_q && known_q ? kept_q : other;
        known_o        <= looked_known_q;
    end
    `RULE(nothing_is_learned_while_forgetting, 1, !learn_i || !busy_o)
endmodule
