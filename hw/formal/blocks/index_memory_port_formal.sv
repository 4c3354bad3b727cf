// SPDX-License-Identifier: MIT OR Apache-2.0
// index_memory_port: the rules of AXI4 as a manager; of a miss, which is any: what is wanted goes out once with the address
// of its segment, whole, and with the words of its snapshot; what comes for it is kept in its place; its ends are told.
`include "../rules/rule.svh"
module index_memory_port_formal #(
    parameter int unsigned SegmentBits = 4,
    parameter int unsigned LogMisses   = 1,
    parameter int unsigned Lines       = 2,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input logic                               clk_i,
    input logic                               rst_ni,
    input logic [63:0]                        base_i,
    input logic [Misses-1:0]                  to_fetch_i,
    input logic [Misses-1:0]                  to_write_i,
    input logic [Misses-1:0][SegmentBits-1:0] segments_i,
    input logic [Misses-1:0][SegmentBits-1:0] victims_i,
    input logic [LogMisses-1:0]               line_miss_i,
    input logic                               snapshot_i,
    input logic [LogMisses-1:0]               snapshot_miss_i,
    input logic [512*Lines-1:0]               snapshot_line_i,
    input logic                               m_axi_awready,
    input logic                               m_axi_wready,
    input logic                               m_axi_bvalid,
    input logic [7:0]                         m_axi_bid,
    input logic [1:0]                         m_axi_bresp,
    input logic                               m_axi_arready,
    input logic                               m_axi_rvalid,
    input logic [7:0]                         m_axi_rid,
    input logic [511:0]                       m_axi_rdata,
    input logic [1:0]                         m_axi_rresp,
    input logic                               m_axi_rlast
);
    localparam int unsigned LogStride = 6 + $clog2(Lines);
    localparam int unsigned PlaceBits = 9 + $clog2(Lines);
    localparam int unsigned BeatBits  = Lines == 1 ? 1 : $clog2(Lines);
    typedef logic [8:0] beat_t;     // how many of an access, as the rules of the bus count
    localparam beat_t Last = 9'(Lines - 1);

    logic [Misses-1:0]    fetch_taken_o, write_taken_o, fetched_o, written_o;
    logic                 fetch_error_o, write_error_o;
    logic [512*Lines-1:0] line_o;
    logic                 m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_arvalid, m_axi_bready, m_axi_rready;
    logic [7:0]           m_axi_awid, m_axi_awlen, m_axi_arid, m_axi_arlen;
    logic [63:0]          m_axi_awaddr, m_axi_araddr, m_axi_wstrb;
    logic [2:0]           m_axi_awsize, m_axi_arsize;
    logic [1:0]           m_axi_awburst, m_axi_arburst;
    logic [511:0]         m_axi_wdata;

    power_up i_power_up (.*);
    index_memory_port #(.SegmentBits(SegmentBits), .LogMisses(LogMisses), .Lines(Lines)) i_block (.*);
    axi4_rules #(.Manager(1), .IdWidth(8), .Most(4), .Bursts(Lines > 1)) i_rules (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(m_axi_awsize), .awburst(m_axi_awburst), .awlock('0), .awatop('0),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(m_axi_arsize), .arburst(m_axi_arburst), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));

    // What counts of the outputs.
    logic [4*Misses+512*Lines+1349:0] seen;
    assign seen = {fetch_taken_o, write_taken_o, fetched_o, fetched_o != 0 && fetch_error_o, written_o,
        written_o != 0 && write_error_o, line_o, m_axi_bready, m_axi_rready,
        m_axi_awvalid, m_axi_awvalid ? {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst} : '0,
        m_axi_wvalid, m_axi_wvalid ? {m_axi_wdata, m_axi_wstrb, m_axi_wlast} : '0,
        m_axi_arvalid, m_axi_arvalid ? {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst} : '0};

    // The base is a multiple of an entry. A miss is wanted once at a time, and its segments stay while its entry is wanted or on
    // the way; so does the base while any is.
    logic [Misses-1:0] to_fetch_q, to_write_q, fetched_q, written_q;   // wanted a clock ago; begun and not ended
    always_ff @(posedge clk_i) begin
        {to_fetch_q, to_write_q} <= rst_ni ? {to_fetch_i, to_write_i} : '0;
        fetched_q <= rst_ni ? fetched_q & ~fetched_o | fetch_taken_o : '0;
        written_q <= rst_ni ? written_q & ~written_o | write_taken_o : '0;
    end
    // Accesses that memory has, and owes an answer to. It answers nothing else.
    logic [Misses-1:0] reads_q, writes_q;
    logic              write_ends;
    assign write_ends = i_block.busy_q && (!m_axi_awvalid || m_axi_awready) && (!m_axi_wvalid || m_axi_wready && m_axi_wlast);
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < Misses; n++) begin
            if (m_axi_arvalid && m_axi_arready && m_axi_arid == 8'(n)) reads_q[n] <= 1'b1;
            else if (m_axi_rvalid && m_axi_rlast && m_axi_rid == 8'(n)) reads_q[n] <= 1'b0;
            if (write_ends && i_block.write_q == LogMisses'(n)) writes_q[n] <= 1'b1;
            else if (m_axi_bvalid && m_axi_bid == 8'(n)) writes_q[n] <= 1'b0;
        end
        if (!rst_ni) {reads_q, writes_q} <= '0;
    end
    `RULE(base_is_a_multiple, 0, base_i[LogStride-1:0] == 0)
    `RULE(base_stays, 0, {to_fetch_q, to_write_q, fetched_q, written_q} == '0 || $stable(base_i))
    for (genvar n = 0; n < Misses; n++) begin : g_segments
        `RULE(fetch_is_wanted_once, 0, !(to_fetch_i[n] && fetched_q[n]))
        `RULE(write_is_wanted_once, 0, !(to_write_i[n] && written_q[n]))
        `RULE(segment_stays, 0, !to_fetch_q[n] && !fetched_q[n] || $stable(segments_i[n]))
        `RULE(victim_stays, 0, !to_write_q[n] && !written_q[n] || $stable(victims_i[n]))
        `RULE(read_was_asked_for, 0, !(m_axi_rvalid && m_axi_rid == 8'(n)) || reads_q[n])
        `RULE(write_was_asked_for, 0, !(m_axi_bvalid && m_axi_bid == 8'(n)) || writes_q[n])
        `RULE(fetch_of_a_miss_is_in_one_place, 1, 3'(fetched_q[n]) == 3'(i_block.i_fetches.chosen_valid_q
            && i_block.i_fetches.chosen_q == LogMisses'(n)) + 3'(i_block.i_fetches.added_valid_q
            && i_block.i_fetches.added_q == LogMisses'(n)) + 3'(m_axi_arvalid && m_axi_arid == 8'(n)) + 3'(reads_q[n])
            + 3'(fetched_o[n]))
        `RULE(write_of_a_miss_is_in_one_place, 1, 3'(written_q[n]) == 3'(i_block.i_writes.chosen_valid_q
            && i_block.i_writes.chosen_q == LogMisses'(n)) + 3'(i_block.i_writes.added_valid_q
            && i_block.i_writes.added_q == LogMisses'(n)) + 3'(i_block.write_valid && i_block.write == LogMisses'(n))
            + 3'(i_block.busy_q && i_block.write_q == LogMisses'(n)) + 3'(writes_q[n]) + 3'(written_o[n]))
    end

    // One miss, which is any, and one bit of its entry.
    logic [LogMisses-1:0] miss;
    logic [PlaceBits-1:0] place;
    logic [Misses-1:0]    its;
    beat_t                beat_of_place;
    arbitrary #(.Width(LogMisses)) i_miss (.clk_i, .value_o(miss));
    arbitrary #(.Width(PlaceBits)) i_place (.clk_i, .value_o(place));
    assign its = Misses'(1) << miss;
    assign beat_of_place = 9'(32'(place) >> 9);
    `RULE(place_is_one_of_the_entry, 0, beat_of_place <= Last)

    `RULE(only_wanted_fetches_are_taken, 1, (fetch_taken_o & ~to_fetch_i) == 0 && $onehot0(fetch_taken_o))
    `RULE(only_wanted_writes_are_taken, 1, (write_taken_o & ~to_write_i) == 0 && $onehot0(write_taken_o))

    // ---- Addresses. Half of one is made a clock before the other.
    logic [63:0] fetch_offset, write_offset;
    assign fetch_offset = 64'(segments_i[i_block.i_fetches.added_q]) << LogStride;
    assign write_offset = 64'(victims_i[i_block.i_writes.added_q]) << LogStride;
    fair_turns #(.Count(Misses)) i_fetch_turns (
        .clk_i, .rst_ni, .asks_i(to_fetch_i), .taken_i(fetch_taken_o), .behind_i(i_block.i_fetches.i_turns.behind_q));
    fair_turns #(.Count(Misses)) i_write_turns (
        .clk_i, .rst_ni, .asks_i(to_write_i), .taken_i(write_taken_o), .behind_i(i_block.i_writes.i_turns.behind_q));
    `RULE(low_half_is_that_of_the_segment, 1, !i_block.i_fetches.added_valid_q || i_block.i_fetches.high_q == fetch_offset[63:32]
        && i_block.i_fetches.low_q == {1'b0, base_i[31:0]} + {1'b0, fetch_offset[31:0]})
    `RULE(low_half_is_that_of_the_victim, 1, !i_block.i_writes.added_valid_q || i_block.i_writes.high_q == write_offset[63:32]
        && i_block.i_writes.low_q == {1'b0, base_i[31:0]} + {1'b0, write_offset[31:0]})
    `RULE(fetch_is_of_its_segment, 1, !m_axi_arvalid || 32'(m_axi_arid) < Misses
        && m_axi_araddr == base_i + (64'(segments_i[m_axi_arid[LogMisses-1:0]]) << LogStride))
    `RULE(write_to_come_is_of_its_victim, 1, !i_block.write_valid
        || i_block.write_address == base_i + (64'(victims_i[i_block.write]) << LogStride))
    `RULE(write_is_of_its_victim, 1, !m_axi_awvalid && !m_axi_wvalid || 32'(m_axi_awid) < Misses
        && m_axi_awid == 8'(i_block.write_q)
        && m_axi_awaddr == base_i + (64'(victims_i[m_axi_awid[LogMisses-1:0]]) << LogStride))
    `RULE(entries_are_whole, 1, m_axi_arlen == 8'(Last) && m_axi_awlen == 8'(Last) && m_axi_wstrb == '1)

    `RULE(what_comes_is_always_taken, 1, m_axi_rready && m_axi_bready)

    // ---- Beats of a fetch.
    logic  comes, broken_q, known_q, kept_q;
    beat_t                beats_q, at_q;         // that have come; which one it was
    beat_t [Misses-1:0]   all_beats_q, late_q;   // that have come of each miss, and a clock later
    logic [LogMisses-1:0] comer;
    assign comer   = m_axi_rid[LogMisses-1:0];
    assign beats_q = all_beats_q[miss];
    assign at_q    = late_q[miss];
    assign comes = m_axi_rvalid && m_axi_rid == 8'(miss);
    `RULE(ids_that_come_are_those_of_misses, 0, !m_axi_rvalid || 32'(m_axi_rid) < Misses)
    `RULE(ids_that_end_are_those_of_misses, 0, !m_axi_bvalid || 32'(m_axi_bid) < Misses)
    `RULE(entry_comes_whole, 0, !m_axi_rvalid || m_axi_rlast == (all_beats_q[comer] == Last))
    logic comes_q, last_q, its_bit_q, error_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            all_beats_q <= '0;
            broken_q    <= 1'b0;
        end else begin
            if (m_axi_rvalid) all_beats_q[comer] <= m_axi_rlast ? '0 : all_beats_q[comer] + 1'b1;
            if (comes) broken_q <= !m_axi_rlast && (broken_q || m_axi_rresp[1]);
        end
        late_q <= rst_ni ? all_beats_q : '0;
        // In the clock after, it goes to its place.
        comes_q   <= rst_ni && comes;
        last_q    <= m_axi_rlast;
        error_q   <= broken_q || m_axi_rresp[1];
        its_bit_q <= m_axi_rdata[place[8:0]];
        if (!rst_ni) known_q <= 1'b0;
        else if (comes_q && at_q == beat_of_place) known_q <= 1'b1;
        if (comes_q && at_q == beat_of_place) kept_q <= its_bit_q;
    end
    for (genvar n = 0; n < Lines; n++) begin : g_beat
        `RULE(bit_is_in_its_place, 1, !known_q || beat_of_place != n
            || i_block.g_beat[n].i_fetched.words[miss][place[8:0]] == kept_q)
    end
    `RULE(line_is_as_it_came, 1, !known_q || line_miss_i != miss || line_o[place] == kept_q)
    `RULE(end_of_a_fetch_is_told, 1, ((fetched_o & its) != 0) == (comes_q && last_q))
    `RULE(failure_of_a_fetch_is_told, 1, (fetched_o & its) == 0 || fetch_error_o == error_q)
    `RULE(beat_that_comes_is_kept, 1, comes_q == (i_block.come_valid_q && i_block.come_q == miss)
        && (!comes_q || i_block.come_last_q == last_q && i_block.come_data_q[place[8:0]] == its_bit_q
            && at_q == 9'(i_block.beats_q[miss]) && error_q == (i_block.come_error_q || i_block.broken_q[miss])))
    `RULE(beats_are_counted, 1, comes_q ? beats_q == (last_q ? 9'd0 : at_q + 1'b1) && broken_q == (!last_q && error_q)
        : 9'(i_block.beats_q[miss]) == beats_q && i_block.broken_q[miss] == broken_q)
    for (genvar n = 0; n < Misses; n++) begin : g_beats
        `RULE(beats_of_each_are_counted, 1, 9'(i_block.beats_q[n]) == late_q[n] && all_beats_q[n] <= Last)
    end
    `RULE(end_is_that_of_an_entry, 1, beats_q <= Last && (!comes_q || at_q <= Last && last_q == (at_q == Last)))

    // ---- Write-backs: the words that were stored last under the number when it begins.
    logic  stored_known_q, stored_q, snapshot_bit;
    beat_t written_beats_q;     // taken of the write that is under way
    always_ff @(posedge clk_i) begin
        if (!rst_ni) stored_known_q <= 1'b0;
        else if (snapshot_i && snapshot_miss_i == miss) stored_known_q <= 1'b1;
        if (snapshot_i && snapshot_miss_i == miss) stored_q <= snapshot_line_i[place];
        if (i_block.begins) written_beats_q <= '0;
        else if (m_axi_wvalid && m_axi_wready) written_beats_q <= written_beats_q + 1'b1;
    end
    // What is written stays until memory has it.
    `RULE(snapshot_stays_while_it_is_written, 0, !written_q[miss] || writes_q[miss] || written_o[miss]
        || !(snapshot_i && snapshot_miss_i == miss))
    assign snapshot_bit = i_block.i_snapshots.words[miss][place];
    `RULE(snapshot_is_in_its_place, 1, !stored_known_q || snapshot_bit == stored_q)
    `RULE(beat_is_of_the_snapshot, 1, !stored_known_q || !m_axi_wvalid || i_block.write_q != miss || written_beats_q != beat_of_place
        || m_axi_wdata[place[8:0]] == stored_q)
    `RULE(write_is_under_way, 1, (m_axi_awvalid || m_axi_wvalid) == i_block.busy_q)
    `RULE(beats_are_written_in_order, 1, !m_axi_wvalid || written_beats_q <= Last && m_axi_wlast == (written_beats_q == Last)
        && i_block.beat_q == BeatBits'(written_beats_q + 1'b1))
    `RULE(write_begins_where_none_is_under_way, 1, i_block.begins == (i_block.write_valid && !i_block.busy_q))
    `RULE(end_of_a_write_is_told, 1, ((written_o & its) != 0) == $past(rst_ni && m_axi_bvalid && m_axi_bid == 8'(miss)))
    `RULE(failure_of_a_write_is_told, 1, (written_o & its) == 0 || write_error_o == $past(m_axi_bresp[1]))

    // ---- What induction needs of the write that the rules follow: address and data begin together.
    `RULE(address_and_data_are_of_one_write, 1,
        i_rules.g_followed.i_write.partial_q == (m_axi_wvalid && written_beats_q != 0)
        && i_rules.g_followed.i_write.lead_q == 5'(m_axi_wvalid && !m_axi_awvalid) - 5'(m_axi_awvalid && !m_axi_wvalid))
    `RULE(followed_write_is_of_an_entry, 1, !i_rules.g_followed.i_write.addressed_q
        || i_rules.g_followed.i_write.length_q == 8'(Last) && i_rules.g_followed.i_write.size_q == 3'd6
            && i_rules.g_followed.i_write.burst_q == 2'b01 && i_rules.g_followed.i_write.address_q[LogStride-1:0] == 0)
    `RULE(followed_write_is_the_last, 1, !i_rules.g_followed.i_write.addressed_q || i_rules.g_followed.i_write.ended_q
        || m_axi_wvalid && !m_axi_awvalid)
    `RULE(beats_of_the_followed_write_are_counted, 1, !i_rules.g_followed.i_write.follows_q
        || i_rules.g_followed.i_write.beats_q == (i_rules.g_followed.i_write.ended_q ? Last + 1'b1
            : i_rules.g_followed.i_write.bursts_q == 0 && m_axi_wvalid ? written_beats_q : '0))
    `RULE(ended_write_waits_for_its_address, 1, !i_rules.g_followed.i_write.ended_q || i_rules.g_followed.i_write.addressed_q
        || m_axi_awvalid && !m_axi_wvalid)

    `REACHED(entry_comes_with_a_failure, fetched_o == its && fetch_error_o && known_q)
    `REACHED(entry_is_written_that_was_stored, written_o == its && stored_known_q)
    if (Lines > 1) begin : g_mixed
        `REACHED(beats_of_two_fetches_are_mixed, comes && m_axi_rlast
            && $past(rst_ni && m_axi_rvalid && !m_axi_rlast && m_axi_rid != 8'(miss)))
    end
endmodule
