// SPDX-License-Identifier: MIT OR Apache-2.0
// A set of entries that can be emptied, 64 entries a clock.
//
// Contract: `known_o` tells in the clock after a look whether that entry is in the set: learned in an
// earlier clock, and not forgotten since. `forget_i` takes out all entries from those of the word
// `forget_from_i` on, those learned in its clock among them; `busy_o` is high until this is done.
// Meanwhile nothing may be learned, and any of these entries may be in the set or not. After a reset
// the set is emptied.
//
// A word is read in the clock of its learning and written in the next, as block RAM does it; what is
// on its way is seen by a look and by the next learning. Each reader has a copy of the memory.
module known_bits #(
    parameter int unsigned Entries = 66560,   // a multiple of 64, at least 128
    localparam int unsigned Words     = Entries / 64,
    localparam int unsigned LogEntries = $clog2(Entries),
    localparam int unsigned LogWords   = LogEntries - 6
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  forget_i,
    input  logic [LogWords-1:0]   forget_from_i,
    output logic                  busy_o,

    input  logic [LogEntries-1:0] look_i,
    output logic                  known_o,

    input  logic                  learn_i,
    input  logic [LogEntries-1:0] learned_i
);
    if (Entries % 64 != 0 || Entries < 128) begin : g_entries
        $error("Entries is %0d, expected a multiple of 64 from 128 on", Entries);
    end

    typedef logic [LogEntries-1:0] entry_t;
    typedef logic [LogWords-1:0]   word_t;

    // The same words in both.
    (* ram_style = "block" *) logic [63:0] to_look_q[Words];
    (* ram_style = "block" *) logic [63:0] to_learn_q[Words];

    logic  busy_q;
    word_t sweep_q;
    assign busy_o = busy_q;

    // What was learned a clock ago and is written now, and the word that was written before it.
    logic        learned_q, written_q;
    entry_t      entry_q;
    logic [63:0] old_q, now, last_q;
    word_t       last_word_q;
    assign now = (written_q && last_word_q == entry_q[LogEntries-1:6] ? last_q : old_q) | 64'd1 << entry_q[5:0];

    logic [63:0] looked_q;
    logic [5:0]  bit_q;
    logic        on_its_way_q;
    assign known_o = looked_q[bit_q] || on_its_way_q;

    logic        write;
    word_t       write_word;
    logic [63:0] write_data;
    assign write      = busy_q || learned_q;
    assign write_word = learned_q ? entry_q[LogEntries-1:6] : sweep_q;
    assign write_data = learned_q ? now : '0;

    always_ff @(posedge clk_i) begin
        looked_q     <= to_look_q[look_i[LogEntries-1:6]];
        bit_q        <= look_i[5:0];
        on_its_way_q <= learned_q && entry_q == look_i;

        old_q       <= to_learn_q[learned_i[LogEntries-1:6]];
        entry_q     <= learned_i;
        last_q      <= now;
        last_word_q <= entry_q[LogEntries-1:6];
        if (write) begin
            to_look_q[write_word]  <= write_data;
            to_learn_q[write_word] <= write_data;
        end

        if (!rst_ni) begin
            busy_q    <= 1'b1;
            sweep_q   <= '0;
            learned_q <= 1'b0;
            written_q <= 1'b0;
        end else begin
            learned_q <= learn_i;
            written_q <= learned_q;
            if (forget_i) begin
                busy_q <= 1'b1;
                // What is being forgotten already is forgotten all the same.
                if (!busy_q || forget_from_i < sweep_q) sweep_q <= forget_from_i;
            end else if (busy_q && !learned_q) begin
                busy_q  <= sweep_q != word_t'(Words - 1);
                sweep_q <= sweep_q + 1'b1;
            end
        end
    end

`ifndef SYNTHESIS
    nothing_is_learned_while_forgetting: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !learn_i || !busy_q);
`endif

endmodule
