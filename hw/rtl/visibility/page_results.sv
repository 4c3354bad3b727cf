// SPDX-License-Identifier: MIT OR Apache-2.0
// Stores the results of page checks: those of storage by the physical page, those of images of the
// shared state by their position in its page entries.
//
// Contract: the facts of a look-up come a clock later, and whether they count comes two clocks later. They
// count only for the exact page, place and checkpoint that were checked; another result replaces them.
// `forget_i` starts to clear all results, `forget_images_i` those of images; `busy_o` is high until this
// is done.
module page_results #(
    parameter int unsigned LogPages  = 16,    // LogImages or more
    parameter int unsigned LogImages = 10     // 6 or more
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                forget_i,
    input  logic                forget_images_i,
    output logic                busy_o,

    input  logic                look_is_image_i,
    input  logic [39:0]         look_page_i,
    input  walk_pkg::place_t    look_place_i,     // of an image: its position
    output logic                known_o,
    output walk_pkg::facts_t    facts_o,

    input  logic                learn_i,
    input  logic                learn_is_image_i,
    input  logic [39:0]         learn_page_i,
    input  walk_pkg::place_t    learn_place_i,
    input  walk_pkg::facts_t    facts_i
);
    import walk_pkg::*;

    if (LogImages < 6 || LogPages < LogImages || LogPages > 39) begin : g_pages
        $error("LogPages is %0d, LogImages %0d, expected 6 <= LogImages <= LogPages <= 39", LogPages, LogImages);
    end

    // Images stand behind the pages.
    localparam int unsigned Images    = 2**LogImages;
    localparam int unsigned Entries   = 2**LogPages + Images;
    localparam int unsigned FirstImageWord = 2**LogPages / 64;

    typedef struct packed {
        logic [39:LogPages] physical;
        logic [22:0]        epoch;
        logic [39:0]        page;
    } key_t;
    typedef logic [LogPages:0] index_t;

    function automatic index_t index(input logic is_image, input logic [LogPages-1:0] physical);
        return is_image ? {1'b1, (LogPages)'(physical[LogImages-1:0])} : {1'b0, physical};
    endfunction

    // The only memory here that is worth UltraRAM; in block RAMs it would take most of a small card's.
    (* ram_style = "ultra" *)
    logic [$bits(key_t)+$bits(facts_t)-1:0] entries_q[Entries];

    index_t look, learn;
    key_t   look_key, learn_key, look_key_q, found_key_q;
    facts_t found_q;
    logic   known_bit;
    assign look    = index(look_is_image_i, look_place_i.physical[LogPages-1:0]);
    assign learn   = index(learn_is_image_i, learn_place_i.physical[LogPages-1:0]);
    assign look_key = look_is_image_i ? '0 : '{
        physical: look_place_i.physical[39:LogPages], epoch: look_place_i.epoch, page: look_page_i
    };
    assign learn_key = learn_is_image_i ? '0 : '{
        physical: learn_place_i.physical[39:LogPages], epoch: learn_place_i.epoch,
        page: learn_page_i
    };

    logic unused;
    assign unused = ^{look_place_i.in_memory, learn_place_i.in_memory};

    known_bits #(.Entries(Entries)) i_known (
        .clk_i, .rst_ni,
        .forget_i     (forget_i || forget_images_i),
        .forget_from_i(forget_i ? '0 : (LogPages - 5)'(FirstImageWord)),
        .busy_o,
        .look_i       (look),
        .known_o      (known_bit),
        .learn_i,
        .learned_i    (learn)
    );

    assign facts_o = found_q;

    always_ff @(posedge clk_i) begin
        look_key_q             <= look_key;
        {found_key_q, found_q} <= entries_q[look];
        known_o                <= known_bit && found_key_q == look_key_q;
        if (learn_i) entries_q[learn] <= {learn_key, facts_i};
    end

endmodule
