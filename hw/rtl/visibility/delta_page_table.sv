// SPDX-License-Identifier: MIT OR Apache-2.0
// The page entries of the shared state on chip, and a search among them in every clock.
//
// Contract: entries are written at their positions, in ascending order of pages; `count_i` of them
// are valid. The result of a search for `page_i` comes `Latency` clocks later. The steps of the
// binary search are pipeline stages: step n has its own memory, with the 2**n entries that it can
// reach, so ten steps read ten memories at once.
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

    // What is looked for, and the last position known not to be beyond it, before each step.
    logic [LogEntries-1:0][55:0]         pages;
    logic [LogEntries:0][LogEntries-1:0] positions;
    logic [55:0]                         pages_q[1:LogEntries-1];
    logic [LogEntries-1:0]               positions_q[1:LogEntries];
    // Whether the page at that position is the one, which each step that moves there sees.
    logic [LogEntries:0]                 equals;
    logic [LogEntries:1]                 equals_q;
    // Of position 0, to which no step moves.
    logic [63:0]                         first_page_q;
    assign pages[0]     = page_i;
    assign positions[0] = '0;
    assign equals[0]    = count_i != 0 && first_page_q == {8'd0, page_i};
    always_ff @(posedge clk_i) if (write_i && write_position_i == 0) first_page_q <= write_page_i;

    for (genvar n = 0; n < LogEntries; n++) begin : g_steps
        // Of this step are the positions whose lowest bit set is this one.
        localparam int unsigned Bit = LogEntries - 1 - n;
        localparam int unsigned Width = n == 0 ? 1 : n;
        logic [LogEntries-1:0] probe;
        logic [Width-1:0]      write_place, read_place;
        logic                  ours, beyond;
        logic [63:0]           key;
        assign probe = positions[n] | LogEntries'(1 << Bit);
        assign ours  = write_position_i[Bit:0] == (Bit + 1)'(1 << Bit);
        if (n == 0) begin : g_first
            assign write_place = '0;
            assign read_place  = '0;
        end else begin : g_later
            assign write_place = write_position_i[LogEntries-1:Bit+1];
            assign read_place  = positions[n][LogEntries-1:Bit+1];
        end
        lut_ram #(
            .AddressWidth(Width),
            .DataWidth   (64)
        ) i_keys (
            .clk_i,
            .write_enable_i (write_i && ours),
            .write_address_i(write_place),
            .write_data_i   (write_page_i),
            .read_address_i (read_place),
            .read_data_o    (key)
        );
        assign beyond = {1'b0, probe} >= count_i || key > {8'd0, pages[n]};
        always_ff @(posedge clk_i) begin
            positions_q[n+1] <= beyond ? positions[n] : probe;
            equals_q[n+1]    <= beyond ? equals[n] : key == {8'd0, pages[n]};
        end
        if (n + 1 < LogEntries) begin : g_page
            always_ff @(posedge clk_i) pages_q[n+1] <= pages[n];
            assign pages[n+1] = pages_q[n+1];
        end
        assign positions[n+1] = positions_q[n+1];
        assign equals[n+1]    = equals_q[n+1];
    end

    logic [31:0] image;
    lut_ram #(
        .AddressWidth(LogEntries),
        .DataWidth   (32)
    ) i_images (
        .clk_i,
        .write_enable_i (write_i),
        .write_address_i(write_position_i),
        .write_data_i   (write_image_i),
        .read_address_i (positions[LogEntries]),
        .read_data_o    (image)
    );
    always_ff @(posedge clk_i) begin
        found_o    <= equals[LogEntries];
        position_o <= positions[LogEntries];
        image_o    <= image;
    end

endmodule
