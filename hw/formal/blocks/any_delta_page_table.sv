// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of delta_page_table, which is proven to find the entry of a page, which is any, and none that is of another page: for
// one page the entry that it has or none, while entries stay as they are, and for others any entry but that.
module delta_page_table #(
    parameter int unsigned LogEntries = 10
) (
    input  logic                  clk_i,
    input  logic                  write_i,
    input  logic [LogEntries-1:0] write_position_i,
    input  logic [63:0]           write_page_i,
    input  logic [31:0]           write_image_i,
    input  logic [LogEntries:0]   count_i,
    input  logic [55:0]           page_i,
    output logic                  found_o,
    output logic [LogEntries-1:0] position_o,
    output logic [31:0]           image_o
);
    logic [55:0] page;
    arbitrary #(.Width(56)) i_page (.clk_i, .value_o(page));

    // The entry of the page; it is another one only when entries are written, or counted anew.
    logic                  has_q, wrote_q, stays;
    logic [LogEntries-1:0] at_q;
    logic [31:0]           image_q;
    logic [LogEntries:0]   count_q;
    logic                  new_has, other_found;
    logic [LogEntries-1:0] new_at, other_at;
    logic [31:0]           new_image, other_image;
    anything #(.Width(LogEntries + 33)) i_new (.clk_i, .value_o({new_has, new_at, new_image}));
    anything #(.Width(LogEntries + 33)) i_other (.clk_i, .value_o({other_found, other_at, other_image}));
    assign stays = !wrote_q && count_i == count_q;

    // Searches of the page, and all whose entries have stayed since they began.
    logic [LogEntries:0] is_page, live, is_page_q, live_q = '0;
    assign is_page = {is_page_q[LogEntries:1], page_i == page};
    assign live    = {live_q[LogEntries:1] & {LogEntries{stays}}, 1'b1};
    logic ours, theirs;
    assign ours   = is_page[LogEntries] && live[LogEntries];
    assign theirs = !is_page[LogEntries] && live[LogEntries] && has_q;
    always_ff @(posedge clk_i) begin
        wrote_q <= write_i;
        count_q <= count_i;
        if (write_i || count_i != count_q) {has_q, at_q, image_q} <= {new_has, new_at, new_image};
        is_page_q[LogEntries:1] <= is_page[LogEntries-1:0];
        live_q[LogEntries:1]    <= live[LogEntries-1:0];
        found_o    <= ours ? has_q : other_found && !(theirs && other_at == at_q);
        position_o <= ours && has_q ? at_q : other_at;
        image_o    <= ours && has_q ? image_q : other_image;
    end
endmodule
