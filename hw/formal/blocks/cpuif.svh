// SPDX-License-Identifier: MIT OR Apache-2.0
// Registers as PeakRDL-regblock makes them: each request is answered once and in time, with an error where the map has no such
// word; and of one word, at an address that is any, what is written and read.
//
// The wrapper has declared `word`, what the block keeps at `address`, or `told`, what it is given to tell there; `sets` and
// `clears`, whether ones that are written there set or clear their bits; `next`, and `settled`, what the hardware makes of it
// in this clock; `ReadsLate`, 1 where a read takes one more clock; and `place_of`, the words of the map.

    logic        s_cpuif_req_stall_wr, s_cpuif_req_stall_rd, s_cpuif_rd_ack, s_cpuif_rd_err, s_cpuif_wr_ack, s_cpuif_wr_err;
    logic [31:0] s_cpuif_rd_data;

    // A write waits in the clock after a read that takes one more, since both would end at once.
    logic reads, writes, read_q;
    assign reads  = s_cpuif_req && !s_cpuif_req_is_wr;
    assign writes = s_cpuif_req && s_cpuif_req_is_wr && !s_cpuif_req_stall_wr;
    always_ff @(posedge clk_i) read_q <= rst_ni && reads;
    `RULE(only_a_write_after_a_late_read_waits, 1, !s_cpuif_req_stall_rd
        && s_cpuif_req_stall_wr == (ReadsLate && read_q))
    `RULE(write_ends_at_once, 1, s_cpuif_wr_ack == writes)
    `RULE(read_ends_once_and_in_time, 1, s_cpuif_rd_ack == (ReadsLate ? read_q : reads))
    `RULE(one_ends_in_a_clock, 1, !(s_cpuif_rd_ack && s_cpuif_wr_ack))

    // The word at one address.
    place_t      place;
    logic        its, ours;
    logic [31:0] ones, written;
    assign place = place_of(address);
    assign its   = s_cpuif_addr == address;
    assign ours  = writes && its && place.writes;
    assign ones  = s_cpuif_wr_data & s_cpuif_wr_biten;
    always_comb begin
        written = word & ~s_cpuif_wr_biten | ones;
        if (sets) written = word | ones;
        if (clears) written = word & ~ones;
        next = ours ? written & place.kept : word;
    end
    `RULE(word_is_as_it_was_written, 1, place.kept == '0 || word == ($past(rst_ni) ? $past(settled) : place.first))

    // What a read gives, in its clock or the one after.
    logic        its_q, answers;
    logic [31:0] gives, gives_q;
    assign gives = place.kept == '0 ? told : word;
    always_ff @(posedge clk_i) {its_q, gives_q} <= {its, gives};
    assign answers = s_cpuif_rd_ack && (ReadsLate ? its_q : its);
    `RULE(read_gives_the_word, 1, !answers || s_cpuif_rd_err || s_cpuif_rd_data == (ReadsLate ? gives_q : gives))
    `RULE(read_fails_where_the_map_has_nothing, 1, !answers || s_cpuif_rd_err == !place.reads)
    `RULE(write_fails_where_the_map_takes_none, 1, !s_cpuif_wr_ack || !its || s_cpuif_wr_err == !place.writes)

    `REACHED(word_is_read_as_it_was_written, answers && !s_cpuif_rd_err && place.writes && place.kept != '0
        && s_cpuif_rd_data != place.first)
    `REACHED(what_is_told_is_read, answers && !s_cpuif_rd_err && place.kept == '0 && s_cpuif_rd_data != '0)
    `REACHED(constant_is_read, answers && !s_cpuif_rd_err && !place.writes && place.kept == '1)
    `REACHED(byte_alone_is_written, ours && s_cpuif_wr_biten == 32'h0000_ff00 && next != word)
    `REACHED(write_fails, s_cpuif_wr_ack && its && s_cpuif_wr_err && place.reads)
    `REACHED(read_fails, answers && s_cpuif_rd_err)
