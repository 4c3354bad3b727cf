// SPDX-License-Identifier: MIT OR Apache-2.0
// The registers of a block behind register_access: each access ends once and in time, with an error where the map refuses
// it; and of one word, at an address that is any, what is written and read.
//
// The wrapper has declared `refused`, whether the map refuses the write that comes in this clock; `given`, the data of a write as
// the registers get it; `word`, what the block keeps at `address`, or `told`, what it has to tell there in this clock;
// `ReadsLate`, 1 where a read takes one more clock; `HasTheBus`, 1 where the accesses are those of a bus that the block
// has itself; and `place_of`, the words of the map.

`include "places.svh"

    // As on the bus that it is from.
    `RULE(no_access_comes_in_the_first_clock, HasTheBus, !valid_i || $past(rst_ni))

    // Where an access is: it comes, is carried out, and ends; a read may be on its way for a clock before its end.
    logic comes, carried_q, reads_q, ends_q, refused_q, stands;
    assign comes = valid_i && !carried_q && !reads_q && !ends_q;
    always_ff @(posedge clk_i) begin
        carried_q <= rst_ni && comes;
        reads_q   <= rst_ni && ReadsLate && carried_q && !write_i && !refused_q;
        ends_q    <= rst_ni && (carried_q && !(ReadsLate && !write_i && !refused_q) || reads_q);
        if (comes) refused_q <= write_i && refused;
    end
    assign stands = write_i ? place_of(address_i).writes : place_of(address_i).reads;
    `RULE(access_ends_once_and_in_time, 1, done_o == ends_q)
    `RULE(error_where_the_map_refuses, 1, !done_o || error_o == (refused_q || !stands))

    // The word: as it was written last, and a read gives what was there when it was carried out.
    place_t      place;
    logic        ours, writes;
    logic [31:0] bytes, written;
    assign place   = place_of(address);
    assign ours    = address_i == address;
    assign bytes   = {{8{strobe_i[3]}}, {8{strobe_i[2]}}, {8{strobe_i[1]}}, {8{strobe_i[0]}}};
    assign written = (word & ~bytes | given & bytes) & place.kept;
    assign writes  = carried_q && write_i && !refused_q && ours && place.writes;
    `RULE(word_is_as_it_was_written, 1, place.kept == '0
        || word == ($past(rst_ni) ? $past(writes ? written : word) : place.first))
    `RULE(read_gives_the_word, 1, !done_o || write_i || error_o || !ours
        || data_o == $past(place.kept == '0 ? told : word, 1 + 32'(ReadsLate)))

    // What is known inside, for the induction.
    `RULE(access_is_taken, 1, i_block.i_access.taken_q == (carried_q || reads_q || ends_q))
    `RULE(access_is_carried_out_unless_refused, 1, i_block.cpuif_req == (carried_q && !refused_q))
    `RULE(refusal_is_known, 1, i_block.i_access.refused_q == (carried_q && refused_q))
    `RULE(access_waits_for_its_end, 1, valid_i || !(carried_q || reads_q || ends_q))
    `RULE(access_is_as_it_came, 1, !(carried_q || reads_q || ends_q)
        || {i_block.cpuif_req_is_wr, i_block.cpuif_addr} == {write_i, address_i})
    `RULE(data_are_as_they_came, 1, !carried_q || !write_i
        || {i_block.cpuif_wr_data, i_block.i_access.strobe_q} == {data_i, strobe_i})
    `RULE(access_is_in_one_place, 1, $onehot0({carried_q, reads_q, ends_q}))
    `RULE(access_on_its_way_is_a_read, 1, !reads_q || !write_i && !refused_q)

    `REACHED(word_is_written_and_read, ends_q && !write_i && ours && place.writes && place.kept != '0 && data_o != place.first)
    `REACHED(what_is_told_is_read, ends_q && !write_i && ours && stands && place.kept == '0 && data_o != '0)
    `REACHED(constant_is_read, ends_q && !write_i && ours && stands && !place.writes && place.kept == '1)
    `REACHED(write_is_refused, ends_q && refused_q)
    `REACHED(write_to_a_constant_fails, ends_q && error_o && write_i && !refused_q && place_of(address_i).reads)
    `REACHED(read_of_nothing_fails, ends_q && error_o && !write_i)
    `REACHED(access_follows_at_once, comes && $past(rst_ni && ends_q))
