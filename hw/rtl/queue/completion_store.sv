// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes completions into their ring in memory.
//
// Contract: a completion is two stores of 8 bytes: word 1 first, then word 0 with the
// phase. They are answered in their order. A completion is taken only when the ring has room
// for it, that is, when software has consumed the previous one in its place. It counts in
// `tail_o`, and may interrupt, when both stores are answered. While `run_i` is low,
// completions are taken and dropped, and word 0 of a half-written one is not written; stores
// in progress are still answered. `run_i` rises only while `quiet_o` is high, and after
// `clear_i`.
module completion_store #(
    parameter int unsigned LogDepth = 3    // completions under way, at most
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   run_i,
    input  logic                   clear_i,           // sets the counts to 0
    input  logic [63:6]            base_i,
    input  logic [3:0]             log2_entries_i,
    input  logic [15:0]            head_i,            // completions that software has consumed

    input  logic                   completion_valid_i,
    input  queue_pkg::completion_t completion_i,
    output logic                   completion_ready_o,

    output logic                   store_valid_o,
    output logic [63:3]            store_address_o,
    output logic [63:0]            store_data_o,
    input  logic                   store_ready_i,
    input  logic                   stored_valid_i,    // in the order of the stores
    input  logic                   stored_error_i,

    output logic [15:0]            taken_o,           // completions that software may see
    output logic [15:0]            tail_o,            // completions written
    output logic [LogDepth:0]      under_way_o,       // taken and not written
    output logic                   quiet_o,           // no store is under way
    output logic                   written_o,
    output logic                   interrupt_o,       // with written_o
    output logic                   failed_o
);

    // Counts since enabling: taken from the block, written.
    logic [15:0] taken_q, tail_q;

    // The completion whose stores are being made.
    logic        valid_q, second_q;
    logic [59:0] place_q;
    logic [63:0] word0_q, word1_q;

    // Whether each completion under way wants an interrupt.
    logic [2**LogDepth-1:0] wants_q;

    logic [LogDepth+1:0] outstanding_q;  // stores
    logic                half_q;         // word 1 of the oldest is answered

    // At most 2**LogDepth, so that low bits of the counts tell it.
    logic [LogDepth:0] under_way;
    assign under_way = taken_q[LogDepth:0] - tail_q[LogDepth:0];

    logic room, take, store, last;
    assign room = queue_pkg::is_within(taken_q - head_i, log2_entries_i);
    assign completion_ready_o = !run_i
        || !valid_q && room && !under_way[LogDepth];
    assign take  = run_i && completion_valid_i && completion_ready_o;
    assign store = store_valid_o && store_ready_i;
    assign last  = run_i && stored_valid_i && half_q;

    assign store_valid_o   = run_i && valid_q;
    assign store_address_o = {place_q, !second_q};
    assign store_data_o    = second_q ? word0_q : word1_q;

    assign taken_o     = taken_q;
    assign tail_o      = tail_q;
    assign under_way_o = run_i ? under_way : '0;
    assign quiet_o     = outstanding_q == 0;
    assign failed_o    = run_i && stored_valid_i && stored_error_i;
    assign written_o   = last && !stored_error_i;
    assign interrupt_o = written_o && wants_q[tail_q[LogDepth-1:0]];

    // 1 on the first pass round the ring, 0 on the second.
    logic phase;
    assign phase = !(1'(taken_q >> log2_entries_i));

    always_ff @(posedge clk_i) begin
        if (take) begin
            place_q <= {base_i, 2'b00} + 60'(queue_pkg::place(taken_q[11:0], log2_entries_i));
            word0_q <= {
                completion_i.bytes, 7'd0, phase, completion_i.status, completion_i.identifier
            };
            word1_q <= completion_i.result;
            wants_q[taken_q[LogDepth-1:0]] <= completion_i.wants_interrupt;
        end
        if (!rst_ni) begin
            outstanding_q <= '0;
        end else if (store != stored_valid_i) begin
            outstanding_q <= store ? outstanding_q + 1'b1 : outstanding_q - 1'b1;
        end
        if (!rst_ni || !run_i) begin
            valid_q  <= 1'b0;
            second_q <= 1'b0;
            half_q   <= 1'b0;
        end else begin
            if (take) valid_q <= 1'b1;
            else if (store && second_q) valid_q <= 1'b0;
            second_q <= second_q != store;
            half_q   <= half_q != stored_valid_i;
        end
        if (!rst_ni || clear_i) begin
            taken_q <= '0;
            tail_q  <= '0;
        end else begin
            if (take) taken_q <= taken_q + 1'b1;
            if (written_o) tail_q <= tail_q + 1'b1;
        end
    end

`ifndef SYNTHESIS
    completion_has_a_free_place: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !take || taken_q - head_i < 16'd1 << log2_entries_i);
    few_are_under_way: assert property (@(posedge clk_i) disable iff (!rst_ni)
        taken_q - tail_q <= 16'd1 << LogDepth);
    each_answer_has_a_store: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !stored_valid_i || outstanding_q != 0);
    store_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && store_valid_o && !store_ready_i)
            || !run_i || store_valid_o && $stable({store_address_o, store_data_o}));
    starts_only_when_quiet: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$rose(run_i) || quiet_o && !valid_q && taken_q == 0);
`endif

endmodule
