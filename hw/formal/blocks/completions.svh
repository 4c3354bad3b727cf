// SPDX-License-Identifier: MIT OR Apache-2.0
// Completions of completion_store: each that is taken while `run` is high is stored whole at its place, word 1 before word 0
// with its phase, and interrupts once if it wants to. The wrapper has declared `run`, `completion_base`, `log2_entries`,
// `takes`, `stores`, `taken_q` and `written_q`, how many were taken and written, `written` and `interrupts`, that one is written
// now and interrupts, and `STORE`, the block.

// The completion that was taken last, and how many were before it.
logic                   waits_q, second_q;
queue_pkg::completion_t last_q;
logic [15:0]            number_q;
always_ff @(posedge clk_i) begin
    if (run && takes) begin
        last_q   <= completion_i;
        number_q <= taken_q;
    end
    if (!rst_ni || !run) begin
        waits_q  <= 1'b0;
        second_q <= 1'b0;
    end else begin
        waits_q  <= takes || waits_q && !(stores && second_q);
        second_q <= second_q != stores;
    end
end
logic        phase;
logic [11:0] entry;
logic [63:0] word_0;
logic [59:0] stored_at;
assign phase     = !(1'(number_q >> log2_entries));
assign entry     = 12'(number_q & ((16'd1 << log2_entries) - 16'd1));
assign word_0    = {last_q.bytes, 7'd0, phase, last_q.status, last_q.identifier};
assign stored_at = {completion_base, 2'b00} + 60'(entry);
`RULE(completion_is_stored_next, 1, store_valid_o == (run && waits_q))
`RULE(word_1_is_stored_first, 1, !store_valid_o || second_q || store_data_o == last_q.result)
`RULE(word_0_is_stored_with_its_phase, 1, !store_valid_o || !second_q || store_data_o == word_0)
`RULE(stores_go_round_the_ring, 1, !store_valid_o || store_address_o == {stored_at, !second_q})
`RULE(completion_is_kept, 1, !run || !waits_q || `STORE.word1_q == last_q.result && `STORE.word0_q == word_0
    && `STORE.place_q == stored_at)
`RULE(second_store_is_of_a_completion, 1, waits_q || !second_q)
`RULE(store_under_way_is_known, 1, `STORE.valid_q == waits_q && `STORE.second_q == second_q)

// The interrupt of one completion, which is any.
logic [15:0] number;
logic        wants_q;
arbitrary #(.Width(16)) i_number (.clk_i, .value_o(number));
always_ff @(posedge clk_i) if (run && takes && taken_q == number) wants_q <= completion_i.wants_interrupt;
`RULE(wish_is_kept, 1, !run || 16'(taken_q - number) == 0 || 16'(number - written_q) >= 16'(taken_q - written_q)
    || `STORE.wants_q[number[LogDepth-1:0]] == wants_q)
`RULE(interrupts_where_one_is_wanted, 1, !(run && written && written_q == number && 16'(number - taken_q) >= 16'h8000)
    || interrupts == wants_q)
`RULE(no_interrupt_without_a_completion, 1, !interrupts || written)
