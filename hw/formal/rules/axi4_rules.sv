// SPDX-License-Identifier: MIT OR Apache-2.0
// The rules of AXI4 with the atomics of AXI5 for one interface. With Manager, those of the manager are proven and those
// of the subordinate assumed; else the other way round. Sections are those of the specification's issue H, as other
// public checkers cite it; it was not at hand. Other issues number the chapter on atomics differently.
//
// Rules of ids and bursts follow one id and one write, which the prover chooses: what holds of any holds of
// all. Most is no rule of the bus: it bounds what is counted here, and is proven where the block itself limits its
// accesses (Limits), or else assumed of those who use it.
// Ports that a block lacks are given their defaults by whoever instantiates this.
`include "rule.svh"
module axi4_rules #(
    parameter bit          Manager      = 1,
    parameter int unsigned IdWidth      = 8,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned DataWidth    = 512,
    parameter int unsigned Most         = 4,    // accesses of a kind under way
    parameter bit          Limits       = 0,
    parameter bit          Atomics      = 0,    // a manager may make some
    parameter bit          Writes       = 1,    // the port has the channels of writes
    parameter bit          Bursts       = 1     // bursts of more than one beat can be, and are to be reached
) (
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    awvalid,
    input logic                    awready,
    input logic [IdWidth-1:0]      awid,
    input logic [AddressWidth-1:0] awaddr,
    input logic [7:0]              awlen,
    input logic [2:0]              awsize,
    input logic [1:0]              awburst,
    input logic                    awlock,
    input logic [5:0]              awatop,
    input logic                    wvalid,
    input logic                    wready,
    input logic [DataWidth-1:0]    wdata,
    input logic [DataWidth/8-1:0]  wstrb,
    input logic                    wlast,
    input logic                    bvalid,
    input logic                    bready,
    input logic [IdWidth-1:0]      bid,
    input logic [1:0]              bresp,
    input logic                    arvalid,
    input logic                    arready,
    input logic [IdWidth-1:0]      arid,
    input logic [AddressWidth-1:0] araddr,
    input logic [7:0]              arlen,
    input logic [2:0]              arsize,
    input logic [1:0]              arburst,
    input logic                    arlock,
    input logic                    rvalid,
    input logic                    rready,
    input logic [IdWidth-1:0]      rid,
    input logic [DataWidth-1:0]    rdata,
    input logic [1:0]              rresp,
    input logic                    rlast
);
    localparam logic [1:0] Increment = 2'b01, Wrap = 2'b10, ExOkay = 2'b01;
    localparam logic [5:0] NoAtomic = 6'b000000, Compare = 6'b110001;
    localparam int unsigned LogBytes = $clog2(DataWidth/8);
    typedef logic [$clog2(2*Most+1)-1:0] count_t;

    logic takes_aw, takes_w, takes_b, takes_ar, takes_r;
    assign takes_aw = awvalid && awready;
    assign takes_w  = wvalid && wready;
    assign takes_b  = bvalid && bready;
    assign takes_ar = arvalid && arready;
    assign takes_r  = rvalid && rready;

    // A3.1.2: no valid signal is high in the first clock after a reset.
    `RULE(awvalid_is_low_after_reset, Manager, $past(rst_ni) || !awvalid)
    `RULE(wvalid_is_low_after_reset, Manager, $past(rst_ni) || !wvalid)
    `RULE(arvalid_is_low_after_reset, Manager, $past(rst_ni) || !arvalid)
    `RULE(bvalid_is_low_after_reset, !Manager, $past(rst_ni) || !bvalid)
    `RULE(rvalid_is_low_after_reset, !Manager, $past(rst_ni) || !rvalid)

    // A3.2.1: a valid signal stays high until the handshake, and what goes with it stays the same.
    `RULE(write_address_holds, Manager, !$past(rst_ni && awvalid && !awready)
        || awvalid && $stable({awid, awaddr, awlen, awsize, awburst, awlock, awatop}))
    `RULE(write_data_hold, Manager, !$past(rst_ni && wvalid && !wready)
        || wvalid && $stable({wdata, wstrb, wlast}))
    `RULE(read_address_holds, Manager, !$past(rst_ni && arvalid && !arready)
        || arvalid && $stable({arid, araddr, arlen, arsize, arburst, arlock}))
    `RULE(write_response_holds, !Manager, !$past(rst_ni && bvalid && !bready) || bvalid && $stable({bid, bresp}))
    `RULE(read_data_hold, !Manager, !$past(rst_ni && rvalid && !rready)
        || rvalid && $stable({rid, rdata, rresp, rlast}))

    // A3.4.1, "Address structure": what a burst may be.
    axi4_burst_rules #(.Proven(Manager), .AddressWidth(AddressWidth), .LogBytes(LogBytes)) i_write_burst (
        .clk_i, .rst_ni, .valid(awvalid), .address(awaddr), .length(awlen), .size(awsize), .burst(awburst),
        .lock(awlock), .compare(awatop == Compare));
    axi4_burst_rules #(.Proven(Manager), .AddressWidth(AddressWidth), .LogBytes(LogBytes)) i_read_burst (
        .clk_i, .rst_ni, .valid(arvalid), .address(araddr), .length(arlen), .size(arsize), .burst(arburst),
        .lock(arlock), .compare(1'b0));

    // E1.1: the codes of atomics. Stores and loads say 4 operations with one bit of endianness each.
    logic atomic, loads;
    assign atomic = awatop != NoAtomic;
    assign loads  = awatop[5];
    `RULE(atomics_only_where_they_may_be, Manager, !awvalid || Atomics || !atomic)
    `RULE(atomic_has_a_known_code, Manager, !awvalid || !atomic || awatop[5:4] == 2'b01 || awatop[5:4] == 2'b10
        || awatop[5:1] == 5'b11000)
    // E1.1.3: how large an atomic is, that its address fits its size, and that its burst is as that demands. A compare
    // wraps exactly if its address is in the upper half of what it sends, however few beats that has.
    logic [15:0] bytes;
    assign bytes = (16'(awlen) + 16'd1) << awsize;
    `RULE(atomic_has_a_size, Manager, !awvalid || !atomic || awatop == Compare
        || bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
    `RULE(compare_has_a_size, Manager, !awvalid || awatop != Compare
        || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16 || bytes == 32)
    `RULE(atomic_is_aligned, Manager, !awvalid || !atomic || awatop == Compare
        || (16'(awaddr[11:0]) & (bytes - 16'd1)) == 0)
    `RULE(compare_is_aligned, Manager, !awvalid || awatop != Compare
        || (16'(awaddr[11:0]) & ((bytes >> 1) - 16'd1)) == 0)
    `RULE(atomic_increments, Manager, !awvalid || !atomic || awburst == Increment
        || awatop == Compare && awburst == Wrap)
    `RULE(atomic_of_several_beats_is_as_wide_as_the_bus, Manager, !awvalid || !atomic || awlen == 0
        || 32'(awsize) == LogBytes)
    `RULE(compare_wraps_from_its_upper_half, Manager, !awvalid || awatop != Compare
        || (awburst == Wrap) == ((16'(awaddr[11:0]) & (bytes >> 1)) != 0))
    `RULE(atomic_is_not_exclusive, Manager, !awvalid || !atomic || !awlock)

    // Accesses of one id: what was taken and not answered. An atomic that loads is answered by R as well.
    logic [IdWidth-1:0] id;
    arbitrary #(.Width(IdWidth)) i_id (.clk_i, .value_o(id));
    count_t reads_q, writes_q, atomics_q;
    logic   last_r, begins_read;
    assign last_r      = takes_r && rlast && rid == id;
    assign begins_read = takes_ar && arid == id || takes_aw && loads && awid == id;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            reads_q   <= '0;
            writes_q  <= '0;
            atomics_q <= '0;
        end else begin
            reads_q  <= reads_q + count_t'(begins_read) - count_t'(last_r);
            writes_q <= writes_q + count_t'(takes_aw && awid == id) - count_t'(takes_b && bid == id);
            // Atomics of the id since none of its accesses was under way.
            if (reads_q == 0 && writes_q == 0) atomics_q <= count_t'(takes_aw && atomic && awid == id);
            else if (takes_aw && atomic && awid == id && atomics_q != '1) atomics_q <= atomics_q + 1'b1;
        end
    end
    // A3.3.1: R follows the handshake of AR, B those of AW and of the last of W; so there are no more responses
    // than requests. A5.3: of one id they come in order.
    `RULE(read_data_follow_their_address, !Manager, !rvalid || rid != id || reads_q != 0)
    `RULE(write_response_follows_its_address, !Manager, !bvalid || bid != id || writes_q != 0)
    // E1.1: an atomic shares its id only with other atomics.
    `RULE(atomic_has_an_id_of_its_own, Manager, !awvalid || !atomic || awid != id
        || !(arvalid && arid == id) && (reads_q == 0 && writes_q == 0 || atomics_q != 0))
    `RULE(read_has_no_id_of_an_atomic, Manager, !arvalid || arid != id || atomics_q == 0
        || reads_q == 0 && writes_q == 0)
    `RULE(write_has_no_id_of_an_atomic, Manager, !awvalid || atomic || awid != id || atomics_q == 0
        || reads_q == 0 && writes_q == 0)
    `RULE(no_atomic_is_counted_where_none_may_be, 1, Atomics || atomics_q == 0)
    `RULE(reads_of_an_id_are_few, Limits, !(arvalid && arid == id || awvalid && loads && awid == id)
        || reads_q < count_t'(Most))
    // All writes, whatever their ids.
    count_t written_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) written_q <= '0;
        else written_q <= written_q + count_t'(takes_aw) - count_t'(takes_b);
    end
    `RULE(writes_are_few, Limits, !awvalid || written_q < count_t'(Most))
    `RULE(response_of_another_id_follows_its_address, !Manager, !bvalid || bid == id || written_q > writes_q)
    `RULE(writes_of_an_id_are_some_of_all, 1, writes_q <= written_q)

    // A3.4.1, A7.2.5: EXOKAY answers exclusive accesses only. No block here makes any.
    `RULE(no_exclusive_is_made, Manager, (!awvalid || !awlock) && (!arvalid || !arlock))
    `RULE(write_response_is_not_exokay, !Manager, !bvalid || bresp != ExOkay)
    `RULE(read_response_is_not_exokay, !Manager, !rvalid || rresp != ExOkay)

    axi4_followed_read #(.Manager(Manager), .Most(Most)) i_read (
        .clk_i, .rst_ni, .begins(begins_read),
        // A compare gets half as much as it sends.
        .length(takes_ar && arid == id ? arlen : awatop == Compare ? awlen >> 1 : awlen),
        .under_way(reads_q), .beat(rvalid && rid == id), .taken(rready), .last(rlast));
    if (Writes) begin : g_followed
        axi4_followed_write #(.Manager(Manager), .Limits(Limits), .LogBytes(LogBytes), .Most(Most)) i_write (
            .clk_i, .rst_ni, .awvalid, .awready, .of_id(awid == id), .address(awaddr[11:0]), .length(awlen),
            .size(awsize), .burst(awburst), .wvalid, .wready, .wstrb, .wlast,
            .under_way(writes_q), .response(bvalid && bid == id), .taken(bready));
    end

    `REACHED(a_read_is_answered, takes_r && rlast && rid == id)
    if (Writes) begin : g_writes
        `REACHED(a_write_is_answered, takes_b && bid == id)
    end
    if (Atomics) begin : g_atomics
        `REACHED(an_atomic_is_answered, takes_r && rid == id && atomics_q != 0)
    end
    if (Bursts) begin : g_bursts
        `REACHED(a_burst_ends, takes_r && rlast && $past(rst_ni && takes_r && !rlast))
    end
endmodule

// What one burst may be (A3.4.1).
module axi4_burst_rules #(
    parameter bit          Proven       = 1,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned LogBytes     = 6
) (
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    valid,
    input logic [AddressWidth-1:0] address,
    input logic [7:0]              length,
    input logic [2:0]              size,
    input logic [1:0]              burst,
    input logic                    lock,
    input logic                    compare     // which may wrap within one beat, from its upper half (E1.1.3)
);
    localparam logic [1:0] Fixed = 2'b00, Increment = 2'b01, Wrap = 2'b10, Reserved = 2'b11;

    logic [15:0] total, begins;
    assign total  = (16'(length) + 16'd1) << size;
    assign begins = 16'(address[11:0]) & ~((16'd1 << size) - 16'd1);

    `RULE(burst_has_a_type, Proven, !valid || burst != Reserved)
    `RULE(beat_is_no_wider_than_the_bus, Proven, !valid || 32'(size) <= LogBytes)
    `RULE(burst_stays_in_4_kibibytes, Proven, !valid || burst != Increment || begins + total <= 16'd4096)
    `RULE(wrapping_burst_has_a_length, Proven, !valid || burst != Wrap || compare
        || length == 1 || length == 3 || length == 7 || length == 15)
    `RULE(wrapping_burst_is_aligned, Proven, !valid || burst != Wrap || compare || begins == 16'(address[11:0]))
    `RULE(fixed_burst_has_16_beats_at_most, Proven, !valid || burst != Fixed || length < 8'd16)
    // A7.2.4: sizes of exclusive accesses.
    `RULE(exclusive_is_small_and_aligned, Proven, !valid || !lock
        || length < 8'd16 && total <= 16'd128 && $onehot(total) && (16'(address[11:0]) & (total - 16'd1)) == 0)
endmodule

// One read of the id, chosen by the prover: it has as many beats as it asked for, behind those of the reads of the
// same id before it (A3.4.1, A5.3).
module axi4_followed_read #(
    parameter bit          Manager = 1,
    parameter int unsigned Most    = 4,
    localparam int unsigned Width  = $clog2(2*Most+1)
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             begins,
    input logic [7:0]       length,
    input logic [Width-1:0] under_way,
    input logic             beat,
    input logic             taken,
    input logic             last
);
    logic             mark, followed_q;
    anything i_mark (.clk_i, .value_o(mark));
    logic [Width-1:0] ahead_q;
    logic [7:0]       left_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            followed_q <= 1'b0;
            ahead_q    <= '0;
            left_q     <= '0;
        end else if (!followed_q) begin
            followed_q <= begins && mark;
            ahead_q    <= under_way - Width'(beat && taken && last);
            left_q     <= length;
        end else if (beat && taken) begin
            if (ahead_q != 0) ahead_q <= ahead_q - Width'(last);
            else if (left_q == 0) followed_q <= 1'b0;
            else left_q <= left_q - 1'b1;
        end
    end
    `RULE(last_beat_of_a_read_is_marked, !Manager,
        !(followed_q && beat && ahead_q == 0) || last == (left_q == 0))
    `REACHED(followed_read_ends, followed_q && beat && taken && ahead_q == 0 && left_q == 0)
endmodule

// One write, chosen by the prover before anything of it comes: W has as many beats as AW says and in the order of AW (A3.4.1,
// A5.2.2), strobes are within their beat (A3.4.3), and B comes after all of W (A3.3.1). Data may lead their address.
module axi4_followed_write #(
    parameter bit          Manager  = 1,
    parameter bit          Limits   = 0,
    parameter int unsigned LogBytes = 6,
    parameter int unsigned Most     = 4,
    localparam int unsigned Width   = $clog2(2*Most+1),
    localparam int unsigned Bytes   = 2**LogBytes
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             awvalid,
    input logic             awready,
    input logic             of_id,        // the write has the id for which responses are followed
    input logic [11:0]      address,
    input logic [7:0]       length,
    input logic [2:0]       size,
    input logic [1:0]       burst,
    input logic             wvalid,
    input logic             wready,
    input logic [Bytes-1:0] wstrb,
    input logic             wlast,
    input logic [Width-1:0] under_way,    // writes of that id
    input logic             response,
    input logic             taken
);
    localparam logic [1:0] Fixed = 2'b00, Wrap = 2'b10;
    typedef logic signed [Width:0] count_t;

    // Addresses that were taken, minus bursts of W that ended; and whether one of those is under way.
    count_t lead_q, lead;
    logic   partial_q, partial;
    assign lead   = lead_q + count_t'(awvalid && awready) - count_t'(wvalid && wready && wlast);
    assign partial = wvalid && wready ? !wlast : partial_q;

    // Addresses and bursts of W that come before its own. The prover chooses when to follow one, and by `skip`
    // which, where data lead.
    logic             mark, begins_now, follows_q;
    logic [Width-1:0] skip;
    anything #(.Width(Width + 1)) i_choice (.clk_i, .value_o({mark, skip}));
    count_t           addresses_q, bursts_q, bursts;
    assign bursts     = count_t'(skip) + lead;
    assign begins_now = mark && 32'(skip) <= Most && !follows_q && (bursts > 0 || bursts == 0 && !partial);

    logic        addressed_q, ours_q, ended_q;
    logic [11:0] address_q;
    logic [7:0]  length_q;
    logic [2:0]  size_q;
    logic [1:0]  burst_q;
    logic [8:0]  beats_q;
    logic [Width-1:0] ahead_q;

    logic its_address, its_beat, its_response, over;
    assign its_address  = follows_q && awvalid && addresses_q == 0 && !addressed_q;
    assign its_beat     = follows_q && wvalid && bursts_q == 0 && !ended_q;
    assign its_response = addressed_q && ours_q && response && ahead_q == 0;
    assign over         = addressed_q && ended_q && (!ours_q || its_response && taken);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            lead_q      <= '0;
            partial_q    <= 1'b0;
            follows_q   <= 1'b0;
            addresses_q <= '0;
            bursts_q    <= '0;
            addressed_q <= 1'b0;
            ours_q      <= 1'b0;
            ended_q     <= 1'b0;
            address_q   <= '0;
            length_q    <= '0;
            size_q      <= '0;
            burst_q     <= '0;
            beats_q     <= '0;
            ahead_q     <= '0;
        end else begin
            lead_q   <= lead;
            partial_q <= partial;
            if (begins_now) begin
                follows_q   <= 1'b1;
                addresses_q <= count_t'(skip);
                bursts_q    <= bursts;
            end else if (follows_q) begin
                if (awvalid && awready && addresses_q > 0) addresses_q <= addresses_q - 1'b1;
                if (wvalid && wready && wlast && bursts_q > 0) bursts_q <= bursts_q - 1'b1;
            end
            if (its_address && awready) begin
                addressed_q <= 1'b1;
                ours_q      <= of_id;
                address_q   <= address;
                length_q    <= length;
                size_q      <= size;
                burst_q     <= burst;
                ahead_q     <= under_way - Width'(response && taken);
            end else if (response && taken && ahead_q != 0) begin
                ahead_q <= ahead_q - 1'b1;
            end
            if (its_beat && wready) begin
                beats_q <= beats_q + 1'b1;
                ended_q <= wlast;
            end
            if (over) begin
                follows_q   <= 1'b0;
                addressed_q <= 1'b0;
                ended_q     <= 1'b0;
                beats_q     <= '0;
            end
        end
    end

    // What is known of it in this clock.
    logic        known;
    logic [11:0] begins;
    logic [7:0]  last;
    logic [2:0]  width;
    logic [1:0]  kind;
    assign known  = addressed_q || its_address;
    assign begins = addressed_q ? address_q : address;
    assign last   = addressed_q ? length_q : length;
    assign width  = addressed_q ? size_q : size;
    assign kind   = addressed_q ? burst_q : burst;
    `RULE(last_beat_of_a_write_is_marked, Manager,
        !(known && its_beat) || wlast == (beats_q == 9'(last)))
    `RULE(address_fits_the_data_before_it, Manager,
        !its_address || (ended_q ? beats_q == 9'(last) + 9'd1 : beats_q <= 9'(last)))

    // The bytes of the bus that a beat may write.
    logic [11:0] step, aligned, total, place;
    logic [LogBytes-1:0] first, end_of_beat;
    assign step    = 12'd1 << width;
    assign aligned = begins & ~(step - 12'd1);
    assign total   = (12'(last) + 12'd1) << width;
    always_comb begin
        place = aligned + (12'(beats_q) << width);
        if (kind == Fixed || beats_q == 0) place = begins;
        else if (kind == Wrap) place = aligned & ~(total - 12'd1) | place & (total - 12'd1);
    end
    assign first       = place[LogBytes-1:0];
    assign end_of_beat = first | LogBytes'(step - 12'd1);
    logic outside;
    always_comb begin
        outside = 1'b0;
        for (int unsigned n = 0; n < Bytes; n++) begin
            if (wstrb[n] && (n < 32'(first) || n > 32'(end_of_beat))) outside = 1'b1;
        end
    end
    `RULE(strobes_are_within_their_beat, Manager, !(known && its_beat) || !outside)
    `RULE(write_response_follows_its_data, !Manager, !its_response || ended_q)
    // Data are ahead of addresses, or behind them, by little.
    `RULE(data_lead_by_little, Limits, (lead_q < count_t'(Most) || !awvalid) && (lead_q > -count_t'(Most) || !wvalid))

    // What is counted agrees, which induction needs to be told.
    `RULE(one_that_begins_is_in_its_place, 1, !follows_q || addressed_q || ended_q || bursts_q == addresses_q + lead_q)
    `RULE(what_is_before_it_is_counted, 1, addresses_q >= 0 && bursts_q >= 0)
    `RULE(burst_awaits_its_turn, 1, !addressed_q || ended_q || addresses_q == 0 && bursts_q < lead_q)
    `RULE(address_awaits_its_turn, 1, !ended_q || addressed_q || bursts_q == 0 && addresses_q < -lead_q)
    `RULE(one_is_followed, 1, follows_q || !addressed_q && !ended_q && beats_q == 0)
    `RULE(beats_are_counted_in_their_turn, 1, ended_q || bursts_q == 0 || beats_q == 0)
    `RULE(burst_under_way_is_known, 1, !follows_q || ended_q || bursts_q != 0 || partial_q == (beats_q != 0))
    `RULE(beats_are_as_many_as_asked_for, 1, !addressed_q
        || (ended_q ? beats_q == 9'(length_q) + 9'd1 : beats_q <= 9'(length_q)))
    `REACHED(followed_write_ends, over && ours_q)
endmodule
