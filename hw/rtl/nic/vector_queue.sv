// SPDX-License-Identifier: MIT OR Apache-2.0
// A queue of the DMA vectorizer: a stream of elements, a vector of reads and one of writes. With one way there are reads alone.
//
// Contract: while it is enabled, an element is taken in every clock in which neither open vector is
// full. It is idle when the last one came `idle_time_i` clocks ago, of which that counts that was given
// a clock before. `read` and `write` in the names of ports are of the two vectors (see `vector_fill`).
module vector_queue
    import vector_pkg::*;
#(
    parameter int unsigned Ways = 2
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                enable_i,       // elements are taken
    input  logic [15:0]         idle_time_i,    // clocks; 0 is as 1
    input  logic [15:0]         flush_time_i,

    input  logic                s_axis_tvalid,
    output logic                s_axis_tready,
    input  logic [160:0]        s_axis_tdata,   // an element_t; bit 160: a write

    output logic                accepted_o,     // an element, in this clock
    output sent_t    [Ways-1:0] sent_o,         // in this clock: a vector of reads, of writes
    output logic     [Ways-1:0] waits_o,
    output logic     [Ways-1:0] last_o,
    output element_t [Ways-1:0] head_o,
    input  logic     [Ways-1:0] pop_i
);

    logic [Ways-1:0] room;
    logic            idle;
    // Clocks since the last element came, in this clock and, if none does, the next; and whether they are enough.
    logic [15:0]     quiet_q, quiet;
    logic            long_q;
    assign s_axis_tready = enable_i && &room;
    assign accepted_o    = s_axis_tvalid && s_axis_tready;
    assign idle          = long_q && !accepted_o;
    assign quiet         = quiet_q + 16'(quiet_q != '1);

    always_ff @(posedge clk_i) begin
        if (accepted_o || !rst_ni) begin
            quiet_q <= 16'd1;
            long_q  <= idle_time_i <= 16'd1;
        end else begin
            quiet_q <= quiet;
            long_q  <= quiet >= idle_time_i;
        end
    end

    for (genvar way = 0; way < Ways; way++) begin : g_ways
        vector_fill i_fill (
            .clk_i,
            .rst_ni,
            .flush_time_i,
            .idle_i   (idle),
            .push_i   (accepted_o && s_axis_tdata[160] == 1'(way)),
            .element_i(s_axis_tdata[159:0]),
            .room_o   (room[way]),
            .sent_o   (sent_o[way]),
            .waits_o  (waits_o[way]),
            .last_o   (last_o[way]),
            .head_o   (head_o[way]),
            .pop_i    (pop_i[way])
        );
    end

`ifndef SYNTHESIS
    each_element_has_a_vector: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !accepted_o || 32'(s_axis_tdata[160]) < Ways);
`endif

endmodule
