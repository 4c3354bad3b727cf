// SPDX-License-Identifier: MIT OR Apache-2.0
// Lets elements through that may be carried out, and ends the others with an error.
//
// Contract: `ready_o` depends on registers only, and an element may come in the clock after it. A
// length of 0 or over 4,096 ends an element with response 2; else a byte outside the window of
// its side ends it with response 3. Both kinds leave in the order in which they came. A window
// holds the pages of 4 kB from its first to its last; it is empty when the first is after the
// last. Windows are stable while elements are under way.
module element_check
    import vector_pkg::*;
#(
    parameter bit Writes = 1'b0               // from NIC to host
) (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic [63:12] host_first_i,
    input  logic [63:12] host_last_i,
    input  logic [63:12] nic_first_i,
    input  logic [63:12] nic_last_i,

    output logic         ready_o,
    input  logic         take_i,               // one is on its way; comes in the next clock
    input  logic         valid_i,
    input  logic [2:0]   queue_i,
    input  element_t     element_i,

    output logic         copy_valid_o,
    output copy_t        copy_o,
    input  logic         copy_ready_i,

    output logic         refused_valid_o,
    output done_t        refused_o,
    input  logic         refused_ready_i
);

    localparam int unsigned LogPlaces = 4;

    // Elements between `take_i` and their leaving: each has a place in both buffers.
    logic [LogPlaces:0] places_q;
    logic               copied, refused;
    assign ready_o = !places_q[LogPlaces];
    assign copied  = copy_valid_o && copy_ready_i;
    assign refused = refused_valid_o && refused_ready_i;

    // Compared in one clock, and judged in the next. A window that only has the first page of
    // an element ends at that page.
    typedef struct packed {
        logic outside;
        logic at_last;
        logic crosses;                         // into the next page
    } side_t;
    function automatic side_t compared(input logic [63:0] address, input logic [12:0] bytes,
                                       input logic [63:12] first, input logic [63:12] last);
        logic [13:0] ending;
        ending           = 14'(address[11:0]) + 14'(bytes);
        compared.outside = address[63:12] < first || address[63:12] > last;
        compared.at_last = address[63:12] == last;
        compared.crosses = ending > 14'd4096;
    endfunction

    logic     valid_q, length_q, window;
    side_t    host_q, nic_q;
    element_t element_q;
    logic [2:0] queue_q;
    assign window = host_q.outside || host_q.at_last && host_q.crosses
        || nic_q.outside || nic_q.at_last && nic_q.crosses;

    always_ff @(posedge clk_i) begin
        element_q <= element_i;
        queue_q   <= queue_i;
        length_q  <= element_i.bytes == 0 || element_i.bytes > 16'd4096;
        host_q    <= compared(element_i.host_address, element_i.bytes[12:0], host_first_i,
                              host_last_i);
        nic_q     <= compared(element_i.nic_address, element_i.bytes[12:0], nic_first_i,
                              nic_last_i);
        if (!rst_ni) begin
            valid_q  <= 1'b0;
            places_q <= '0;
        end else begin
            valid_q  <= valid_i;
            places_q <= places_q + (LogPlaces + 1)'(take_i) - (LogPlaces + 1)'(copied)
                - (LogPlaces + 1)'(refused);
        end
    end

    copy_t copy;
    done_t end_of_it;
    assign copy = '{
        target: Writes ? element_q.host_address : element_q.nic_address,
        source: Writes ? element_q.nic_address : element_q.host_address,
        bytes:  element_q.bytes[12:0],
        from_queue: queue_q,
        token:  element_q.token
    };
    assign end_of_it = '{
        response: length_q ? 2'd2 : 2'd3,
        from_queue: queue_q,
        token:    element_q.token
    };

    lut_fifo #(
        .LogDepth(LogPlaces),
        .Width   ($bits(copy_t))
    ) i_copies (
        .clk_i,
        .rst_ni,
        .push_i (valid_q && !length_q && !window),
        .data_i (copy),
        .pop_i  (copied),
        .valid_o(copy_valid_o),
        .data_o (copy_o)
    );
    lut_fifo #(
        .LogDepth(LogPlaces),
        .Width   ($bits(done_t))
    ) i_refused (
        .clk_i,
        .rst_ni,
        .push_i (valid_q && (length_q || window)),
        .data_i (end_of_it),
        .pop_i  (refused),
        .valid_o(refused_valid_o),
        .data_o (refused_o)
    );

`ifndef SYNTHESIS
    element_is_taken_when_there_is_a_place: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !take_i || ready_o);
    element_comes_after_it_was_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && take_i) || valid_i);
    copies_have_a_length: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !copy_valid_o || copy_o.bytes != 0 && copy_o.bytes <= 13'd4096);
`endif

endmodule
