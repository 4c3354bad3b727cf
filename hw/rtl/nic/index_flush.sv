// SPDX-License-Identifier: MIT OR Apache-2.0
// Has every changed entry of the cache written back, in order, while no request comes in.
//
// Contract: `stops_o` is high from the clock after `flush_i` rises on; then no new request may be
// accepted. When nothing is under way any more (`idle_i`), each place is offered once, by `walk_o`
// with a number, and the tags say whether its entry is changed and is now written back under that
// number. When memory has acknowledged that without an error, the place is offered again, by
// `clean_o`, to count as unchanged. `flushed_o` is high from the end of the last of them until
// `flush_i` has fallen, with `failed_o` if a write has failed. When `flush_i` falls earlier, no place is
// offered from the next clock on, and `stops_o` falls when what has begun has ended.
module index_flush #(
    parameter int unsigned LogSets   = 12,
    parameter int unsigned LogWays   = 2,
    parameter int unsigned LogMisses = 4,
    localparam int unsigned Misses   = 2**LogMisses
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  flush_i,
    input  logic                  idle_i,
    output logic                  stops_o,
    output logic                  busy_o,      // places are offered, or written back
    output logic                  flushed_o,
    output logic                  failed_o,

    // To the tags; never both.
    output logic                  walk_o,
    output logic                  clean_o,
    output logic [LogMisses-1:0]  miss_o,
    output logic [LogSets-1:0]    set_o,
    output logic [LogWays-1:0]    way_o,
    // From there, some clocks later, and from memory.
    input  logic                  walked_i,
    input  logic                  changed_i,
    input  logic [LogMisses-1:0]  walked_miss_i,
    input  logic [Misses-1:0]     written_i,
    input  logic                  write_error_i
);

    typedef logic [LogMisses-1:0]       miss_t;
    typedef logic [LogWays+LogSets-1:0] place_t;
    typedef enum logic [2:0] {
        Idle,
        Drain,  // until nothing is under way
        Walk,
        Rest,   // until all is written
        Stop,   // the same, when the flush was called off
        Done
    } state_t;

    state_t            state_q, next;
    logic              stops_q, busy_q, flushed_q, failed_q;
    place_t            place_q, clean_place;
    miss_t             miss_q, to_clean, clean_miss_q;
    logic              cleans_q, is_last;
    // By number: a place was offered, and all that follows from it has not ended; was written.
    logic [Misses-1:0] open_q, written_q;
    assign is_last = &place_q;
    always_comb begin
        next = state_q;
        unique case (state_q)
            Idle:    if (flush_i) next = Drain;
            Drain:   if (!flush_i) next = Idle;
                else if (idle_i) next = Walk;
            Walk:    if (!flush_i) next = Stop;
                else if (walk_o && is_last) next = Rest;
            Rest:    if (!flush_i) next = Stop;
                else if (open_q == '0) next = Done;
            Stop:    if (open_q == '0) next = Idle;
            default: if (!flush_i) next = Idle;
        endcase
    end

    assign walk_o  = state_q == Walk && !cleans_q && !open_q[miss_q];
    assign clean_o = cleans_q;
    assign miss_o  = cleans_q ? clean_miss_q : miss_q;
    assign {way_o, set_o} = cleans_q ? clean_place : place_q;

    always_comb begin
        to_clean = '0;
        for (int unsigned n = 0; n < Misses; n++) if (written_q[n]) to_clean = miss_t'(n);
    end
    lut_ram #(
        .AddressWidth(LogMisses),
        .DataWidth   (LogWays + LogSets)
    ) i_places (
        .clk_i,
        .write_enable_i (walk_o),
        .write_address_i(miss_q),
        .write_data_i   (place_q),
        .read_address_i (clean_miss_q),
        .read_data_o    (clean_place)
    );

    always_ff @(posedge clk_i) begin
        clean_miss_q <= to_clean;
        if (walk_o) begin
            place_q <= place_q + 1'b1;
            miss_q  <= miss_q + 1'b1;
        end
        if (state_q == Drain) begin
            place_q  <= '0;
            miss_q   <= '0;
            failed_q <= 1'b0;
        end
        for (int unsigned n = 0; n < Misses; n++) begin
            if (walk_o && miss_q == miss_t'(n)) open_q[n] <= 1'b1;
            if (walked_i && !changed_i && walked_miss_i == miss_t'(n)) open_q[n] <= 1'b0;
            if (open_q[n] && written_i[n]) begin
                written_q[n] <= !write_error_i;
                open_q[n]    <= !write_error_i;
                if (write_error_i) failed_q <= 1'b1;
            end
            if (cleans_q && clean_miss_q == miss_t'(n)) begin
                written_q[n] <= 1'b0;
                open_q[n]    <= 1'b0;
            end
        end
        if (!rst_ni) begin
            state_q   <= Idle;
            stops_q   <= 1'b0;
            busy_q    <= 1'b0;
            flushed_q <= 1'b0;
            cleans_q  <= 1'b0;
            open_q    <= '0;
            written_q <= '0;
        end else begin
            state_q   <= next;
            stops_q   <= flush_i || next != Idle;
            busy_q    <= next == Walk || next == Rest || next == Stop;
            flushed_q <= next == Done;
            cleans_q  <= written_q != '0 && !cleans_q;
        end
    end
    assign stops_o   = stops_q;
    assign busy_o    = busy_q;
    assign flushed_o = flushed_q;
    assign failed_o  = flushed_q && failed_q;

`ifndef SYNTHESIS
    nothing_else_is_under_way: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !busy_q || idle_i);
    what_was_offered_is_told_of: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !walked_i || open_q[walked_miss_i]);
    a_place_is_cleaned_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !cleans_q || open_q[clean_miss_q] && written_q[clean_miss_q]);
`endif

endmodule
