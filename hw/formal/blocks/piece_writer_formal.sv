// SPDX-License-Identifier: MIT OR Apache-2.0
// piece_writer: the rules of AXI4 as a manager that only writes; a piece, which is any, goes out once, in order, with its id,
// address and length, and any byte of its lines stands where it should, under the right strobe; a piece with an error is
// told instead, once.
`include "../rules/rule.svh"
module piece_writer_formal
    import vector_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
    input logic         landed_valid_i,
    input logic [7:0]   landed_id_i,
    input logic [1:0]   landed_response_i,
    input piece_t       piece_i,
    input logic [511:0] line_i,
    input logic         m_axi_awready,
    input logic         m_axi_wready,
    input logic         m_axi_bvalid,      // which piece_tally takes
    input logic         m_axi_bready,
    input logic [7:0]   m_axi_bid,
    input logic [1:0]   m_axi_bresp
);
    logic         landed_ready_o, failed_valid_o, m_axi_awvalid, m_axi_wvalid, m_axi_wlast;
    logic [7:0]   piece_id_o, read_id_o, failed_id_o, m_axi_awid, m_axi_awlen;
    logic [2:0]   read_line_o;
    logic [1:0]   failed_response_o;
    logic [63:0]  m_axi_awaddr, m_axi_wstrb;
    logic [511:0] m_axi_wdata;

    power_up i_power_up (.*);
    piece_writer i_block (.*);
    // Its users have 256 ids, each for one write at a time.
    axi4_rules #(.Most(256), .Bursts(0)) i_rules (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(3'd6), .awburst(2'b01), .awlock('0), .awatop('0),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb),
        .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid('0), .arready('0), .arid('0), .araddr('0), .arlen('0), .arsize('0), .arburst('0), .arlock('0),
        .rvalid('0), .rready('0), .rid('0), .rdata('0), .rresp('0), .rlast('0));

    // What counts of the outputs.
    logic [689:0] seen;
    assign seen = {landed_ready_o, failed_valid_o, failed_valid_o ? {failed_id_o, failed_response_o} : '0,
        i_block.landed_valid_q ? piece_id_o : '0, i_block.step ? {read_id_o, read_line_o} : '0,
        m_axi_awvalid, m_axi_awvalid ? {m_axi_awid, m_axi_awaddr, m_axi_awlen} : '0,
        m_axi_wvalid, m_axi_wvalid ? {m_axi_wdata, m_axi_wstrb, m_axi_wlast} : '0};

    // A piece is as piece_splitter makes it, of which that is proven.
    function automatic logic is_a_piece(input piece_t one);
        return one.bytes != 0 && one.bytes <= PieceBytes && 13'(one.target[11:0]) + 13'(one.bytes) <= 13'd4096;
    endfunction
    `RULE(piece_has_a_length_and_stays_in_its_page, 0, !i_block.landed_valid_q || is_a_piece(piece_i))

    // Pieces with an error.
    logic [1:0] failed_inside;
    logic       takes;
    assign takes = landed_valid_i && landed_ready_o;
    ordered_words #(.Width(10), .Most(2)) i_failed (
        .clk_i, .rst_ni,
        .push_i(takes && landed_response_i != 0), .pushed_i({landed_id_i, landed_response_i}),
        .pop_i(failed_valid_o), .popped_i({failed_id_o, failed_response_o}),
        .inside_o(failed_inside));

    // The others are numbered: those that have landed, of which the address is taken, and of which all lines are; with
    // the lines that are taken of the next.
    typedef logic [4:0] number_t;
    logic       landed, address_taken, line_taken;
    number_t    landed_q, addressed_q, written_q;
    logic [2:0] line_q;
    assign landed        = takes && landed_response_i == 0;
    assign address_taken = m_axi_awvalid && m_axi_awready;
    assign line_taken    = m_axi_wvalid && m_axi_wready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            landed_q    <= '0;
            addressed_q <= '0;
            written_q   <= '0;
            line_q      <= '0;
        end else begin
            landed_q    <= landed_q + number_t'(landed);
            addressed_q <= addressed_q + number_t'(address_taken);
            written_q   <= written_q + number_t'(line_taken && m_axi_wlast);
            if (line_taken) line_q <= m_axi_wlast ? '0 : line_q + 1'b1;
        end
    end
    `RULE(address_is_of_a_piece, 1, !m_axi_awvalid || addressed_q != landed_q)
    `RULE(line_is_of_a_piece, 1, !m_axi_wvalid || written_q != landed_q)

    // One of them, which the prover marks when it lands; what the memories have of it is chosen, too. Of its lines one
    // byte is looked at, at the place that the aligner follows, in a line that the queue follows.
    piece_t     piece;
    logic       mark, begins, followed_q, addressed_its_q, written_its_q;
    logic [2:0] line;
    logic [5:0] place;
    number_t    number_q;
    logic [7:0] id_q, value;
    assign place = i_block.i_aligner.place;
    anything i_mark (.clk_i, .value_o(mark));
    arbitrary #(.Width($bits(piece_t))) i_piece (.clk_i, .value_o(piece));
    arbitrary #(.Width(11)) i_byte (.clk_i, .value_o({value, line}));
    assign begins = landed && mark && !followed_q;
    logic its_address, its_line;
    assign its_address = followed_q && m_axi_awvalid && addressed_q == number_q && !addressed_its_q;
    assign its_line    = followed_q && m_axi_wvalid && written_q == number_q && !written_its_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            followed_q      <= 1'b0;
            addressed_its_q <= 1'b0;
            written_its_q   <= 1'b0;
        end else if (begins) begin
            followed_q      <= 1'b1;
            number_q        <= landed_q;
            id_q            <= landed_id_i;
        end else if (addressed_its_q && written_its_q) begin
            followed_q      <= 1'b0;
            addressed_its_q <= 1'b0;
            written_its_q   <= 1'b0;
        end else begin
            if (its_address && m_axi_awready) addressed_its_q <= 1'b1;
            if (its_line && m_axi_wready && m_axi_wlast) written_its_q <= 1'b1;
        end
    end
    piece_is_one: assume property (@(posedge clk_i) disable iff (!rst_ni) is_a_piece(piece));
    `RULE(memory_has_the_piece, 0, !(followed_q && piece_id_o == id_q) || piece_i == piece)

    // Where its bytes go, and where the bit comes from.
    logic [8:0]  first, last, at, from;
    logic        wanted, reads_q;
    assign first  = 9'(piece.target[5:0]);
    assign last   = first + piece.bytes - 9'd1;
    assign at     = {line, place};
    assign from   = at - first + 9'(piece.source_offset);
    assign wanted = at >= first && at <= last;
    always_ff @(posedge clk_i) reads_q <= followed_q && read_id_o == id_q && read_line_o == from[8:6];
    `RULE(memory_has_the_byte, 0, !(reads_q && wanted) || line_i[8*32'(from[5:0]) +: 8] == value)

    `RULE(address_is_that_of_the_piece, 1, !its_address
        || m_axi_awid == id_q && m_axi_awaddr == {piece.target[63:6], 6'd0} && m_axi_awlen == 8'(last[8:6]))
    `RULE(byte_has_its_strobe, 1, !(its_line && line_q == line && i_block.i_lines.in_front)
        || m_axi_wstrb[place] == wanted)
    `RULE(byte_stands_where_it_should, 1, !(its_line && line_q == line && i_block.i_lines.in_front)
        || m_axi_wdata[8*32'(place) +: 8] == (wanted ? value : 8'd0))
    `RULE(last_line_is_that_of_the_piece, 1, !its_line || m_axi_wlast == (line_q == last[8:6]))

    // ---- Where pieces and lines are in the block. Pieces whose first step was are begun.

    number_t begun_q, job_number;
    logic    landed_good, job_waits, begins_one;
    assign landed_good = i_block.landed_valid_q && i_block.landed_q.response == 0;
    assign job_waits   = i_block.job_valid_q && i_block.step_q == 0;
    assign job_number  = i_block.step_q == 0 ? begun_q : begun_q - 1'b1;
    assign begins_one  = i_block.step && i_block.step_q == 0;
    `RULE(pieces_are_in_two_places, 1, landed_q == begun_q + number_t'(job_waits) + number_t'(landed_good))
    `RULE(failed_pieces_are_in_two_places, 1,
        failed_inside == 2'(i_block.landed_valid_q && !landed_good) + 2'(failed_valid_o))
    `RULE(followed_failed_piece_is_in_its_place, 1, !i_failed.followed_q
        || i_failed.word_q == (i_failed.ahead_q == 0 && failed_valid_o ? {failed_id_o, failed_response_o} : i_block.landed_q))
    `RULE(failed_pieces_have_an_error, 1, !i_failed.followed_q || i_failed.word_q[1:0] != 0)
    `RULE(failed_piece_is_told, 1, !failed_valid_o || failed_response_o != 0)
    `RULE(address_is_that_of_the_last_begun, 1, begun_q == addressed_q + number_t'(m_axi_awvalid))

    // A line has the number of its piece and its own in that one. Those in the queue have theirs beside them, that in front
    // the lowest; the last of a piece is marked there.
    typedef struct packed {
        number_t    number;
        logic [2:0] line;
    } line_t;
    function automatic line_t next(input line_t one, input logic last);
        return last ? '{one.number + 1'b1, 3'd0} : '{one.number, one.line + 1'b1};
    endfunction
    // What is at one of the two steps of the aligner.
    typedef struct packed {
        logic       valid;
        logic       emits;
        logic [2:0] step;
        line_t      line;
        logic       last;               // of its piece
    } step_t;
    step_t        coming_q, come_q, before_q;
    logic         now_q, coming, come, step_later;
    line_t [15:0] lines_q, kept;
    line_t        asked, after_come, after_queue;
    logic [15:0]  lasts;
    logic [4:0]   count, left;
    assign coming      = coming_q.valid && coming_q.emits;
    assign come        = now_q && come_q.emits;
    assign step_later  = i_block.step_q != 0;
    assign asked       = step_later ? '{begun_q - 1'b1, i_block.line} : '{begun_q, 3'd0};
    assign after_come  = coming ? coming_q.line : asked;
    assign after_queue = come ? come_q.line : after_come;
    assign lasts       = i_block.i_lines.lasts_q;
    assign count       = i_block.i_lines.pushed_q - i_block.i_lines.popped_q;
    assign kept        = line_taken ? lines_q >> $bits(line_t) : lines_q;
    assign left        = count - 5'(line_taken);
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < 16; n++) lines_q[n] <= come && left == 5'(n) ? come_q.line : kept[n];
        if (!rst_ni) begin
            begun_q  <= '0;
            coming_q <= '0;
            come_q   <= '0;
            before_q <= '0;
            now_q    <= 1'b0;
        end else begin
            begun_q  <= begun_q + number_t'(begins_one);
            coming_q <= {i_block.step, i_block.emits, i_block.step_q, job_number, i_block.line,
                i_block.line == i_block.job_q.last_line};
            now_q    <= coming_q.valid;
            if (coming_q.valid) begin
                come_q   <= coming_q;
                before_q <= come_q;
            end
        end
    end
    `RULE(lines_have_places, 1, i_block.places_q == count + 5'(come) + 5'(coming) && i_block.places_q <= 5'd16)
    `RULE(queue_is_no_longer_than_it_may_be, 1, count <= 5'd16)
    // From the line that the bus takes next to that which is asked for next, each follows the one before. There are no more
    // pieces from a line on than lines, so that numbers do not come round.
    logic [17:0]       held;
    logic [17:0][7:0]  all_lines;
    logic [17:0]       all_lasts;
    line_t             on_bus;
    assign all_lines   = {coming_q.line, come_q.line, lines_q};
    assign all_lasts   = {coming_q.last, come_q.last, lasts};
    assign held[17:16] = {coming, come};
    assign on_bus      = '{written_q, line_q};
    `RULE(line_on_the_bus_is_the_first, 1, on_bus == (count != 0 ? lines_q[0] : after_queue))
    `RULE(lines_on_the_bus_are_of_few_pieces, 1,
        number_t'(begun_q - written_q) <= count + 5'(come) + 5'(coming) + 5'(step_later))
    for (genvar n = 0; n < 16; n++) begin : g_places
        line_t   follower;
        number_t later;
        assign held[n]  = count > 5'(n);
        assign follower = n < 15 && count != 5'(n + 1) ? lines_q[n < 15 ? n + 1 : 15] : after_queue;
        assign later    = begun_q - lines_q[n].number;
        `RULE(lines_follow_each_other, 1, !held[n] || follower == next(lines_q[n], lasts[n]))
        `RULE(lines_are_of_few_pieces, 1, !held[n]
            || later != 0 && later <= count - 5'(n) + 5'(come) + 5'(coming) + 5'(step_later))
    end
    number_t come_later;
    assign come_later = begun_q - come_q.line.number;
    `RULE(line_at_the_second_step_is_followed, 1, !come || after_come == next(come_q.line, come_q.last)
        && come_later != 0 && come_later <= 5'd1 + 5'(coming) + 5'(step_later))
    `RULE(line_at_the_first_step_is_followed, 1, !coming || asked == next(coming_q.line, coming_q.last))
    `RULE(steps_of_a_piece_are_in_its_job, 1, !step_later || i_block.job_valid_q && i_block.line <= i_block.job_q.last_line)

    // Bursts: the last that was begun, the one that the rules follow once its address is taken, and the followed piece's.
    logic       ruled_address, ruled, begun;
    number_t    last_number, ruled_number_q;
    logic [2:0] last_line_q, ruled_line_q;
    assign ruled_address = i_rules.g_followed.i_write.its_address && m_axi_awready;
    assign ruled         = i_rules.g_followed.i_write.addressed_q && !i_rules.g_followed.i_write.ended_q;
    assign begun         = followed_q && !written_its_q && number_t'(number_q - written_q) < number_t'(begun_q - written_q);
    assign last_number   = begun_q - 1'b1;
    always_ff @(posedge clk_i) begin
        if (begins_one) last_line_q <= i_block.job_q.last_line;
        if (ruled_address) begin
            ruled_number_q <= last_number;
            ruled_line_q   <= last_line_q;
        end
    end
    piece_writer_burst i_last (
        .clk_i, .rst_ni, .valid(begun_q != written_q), .number(last_number), .last(last_line_q), .begun_q, .written_q,
        .held, .lines(all_lines), .lasts(all_lasts), .steps(step_later), .job_last(i_block.job_q.last_line));
    piece_writer_burst i_ruled (
        .clk_i, .rst_ni, .valid(ruled), .number(ruled_number_q), .last(ruled_line_q), .begun_q, .written_q,
        .held, .lines(all_lines), .lasts(all_lasts), .steps(step_later), .job_last(i_block.job_q.last_line));
    piece_writer_burst i_piece_lines (
        .clk_i, .rst_ni, .valid(begun), .number(number_q), .last(last[8:6]), .begun_q, .written_q,
        .held, .lines(all_lines), .lasts(all_lasts), .steps(step_later), .job_last(i_block.job_q.last_line));
    `RULE(address_has_the_length_of_its_burst, 1, !m_axi_awvalid || m_axi_awlen == 8'(last_line_q))
    `RULE(ruled_burst_has_its_length, 1, !i_rules.g_followed.i_write.addressed_q
        || i_rules.g_followed.i_write.length_q == 8'(ruled_line_q))
    `RULE(ruled_burst_is_counted, 1, !ruled
        || i_rules.g_followed.i_write.bursts_q == 11'(number_t'(ruled_number_q - written_q)))

    // The steps of the aligner.
    `RULE(first_step_may_give_no_line, 1, !coming_q.valid || coming_q.emits || coming_q.step == 0)
    `RULE(steps_are_those_of_the_aligner, 1, i_block.i_aligner.asked_q == coming_q.valid
        && i_block.i_aligner.asked2_q == now_q
        && (!coming_q.valid || i_block.i_aligner.step_q.emits == coming_q.emits
            && i_block.i_aligner.step_q.first == (coming_q.line.line == 0)
            && i_block.i_aligner.step_q.last == coming_q.last)
        && (!now_q || come_q.valid && i_block.i_aligner.step2_q.emits == come_q.emits
            && i_block.i_aligner.step2_q.first == (come_q.line.line == 0)
            && i_block.i_aligner.step2_q.last == come_q.last)
        && i_block.i_aligner.lines_q == 2'(come_q.valid) + 2'(before_q.valid))
    `RULE(steps_are_of_the_last_begun, 1, (!coming_q.valid || coming_q.line.number == begun_q - 1'b1)
        && (!come_q.valid || come_q.line.number == begun_q - 1'b1
            || coming_q.valid && coming_q.step == 0 && come_q.line.number == begun_q - 5'd2)
        && (!before_q.valid || come_q.valid && (before_q.line.number == come_q.line.number
            || come_q.step == 0 && before_q.line.number == come_q.line.number - 1'b1)))
    // Nothing waits without a reason.
    `RULE(step_is_taken_where_there_is_room, 1, i_block.step == (i_block.job_valid_q && !i_block.places_q[4]
        && (i_block.step_q != 0 || !m_axi_awvalid || m_axi_awready)))

    // What a job, which is any, may be.
    `RULE(job_stays_in_its_page, 1, !i_block.job_valid_q || i_block.job_q.last_line <= 3'd4
        && 8'(i_block.job_q.target[11:6]) + 8'(i_block.job_q.last_line) <= 8'd63
        && (i_block.job_q.last_line != 0 || i_block.job_q.first_byte <= i_block.job_q.last_byte))

    // Where the followed piece is.
    logic [5:0] rotation;
    logic       is_ahead;
    assign rotation = piece.target[5:0] - piece.source_offset;
    assign is_ahead = piece.target[5:0] < piece.source_offset;
    `RULE(piece_waits_for_its_lines, 1, !followed_q || written_its_q
        || number_t'(number_q - written_q) < number_t'(landed_q - written_q))
    `RULE(piece_waits_for_its_address, 1, !followed_q || addressed_its_q
        || number_t'(number_q - addressed_q) < number_t'(landed_q - addressed_q))
    `RULE(address_of_the_piece_leads, 1, !(followed_q && addressed_its_q && !written_its_q)
        || number_t'(number_q - written_q) < number_t'(addressed_q - written_q) && addressed_q != written_q - 1'b1)
    `RULE(lines_of_the_piece_lead, 1, !(followed_q && written_its_q && !addressed_its_q)
        || number_q == addressed_q && number_q == written_q - 1'b1)
    `RULE(nothing_is_known_of_no_piece, 1, followed_q || !addressed_its_q && !written_its_q)
    `RULE(piece_has_landed, 1, !(followed_q && landed_good && number_q == landed_q - 1'b1)
        || i_block.landed_q.id == id_q)
    `RULE(job_is_that_of_the_piece, 1, !(followed_q && i_block.job_valid_q && number_q == job_number)
        || i_block.job_q == {id_q, piece.target[63:6], piece.target[5:0], last[5:0], rotation, is_ahead, last[8:6]})
    `RULE(address_that_waits_is_that_of_the_piece, 1, !(followed_q && m_axi_awvalid && number_q == addressed_q)
        || m_axi_awid == id_q && m_axi_awaddr == {piece.target[63:6], 6'd0} && m_axi_awlen == 8'(last[8:6]) && !addressed_its_q)
    logic its_coming, its_come, its_before;
    assign its_coming = followed_q && coming_q.valid && coming_q.line.number == number_q;
    assign its_come   = followed_q && come_q.valid && come_q.line.number == number_q;
    assign its_before = followed_q && before_q.valid && before_q.line.number == number_q;
    `RULE(step_is_that_of_the_piece, 1, !its_coming
        || {i_block.i_aligner.step_q.rotation, i_block.i_aligner.step_q.from, i_block.i_aligner.step_q.to}
            == {rotation, first[5:0], last[5:0]}
        && coming_q.line.line == coming_q.step - 3'(is_ahead) && coming_q.emits == (!is_ahead || coming_q.step != 0)
        && reads_q == (coming_q.step == from[8:6]))
    `RULE(line_is_that_of_the_piece, 1, !its_come
        || come_q.line.line == come_q.step - 3'(is_ahead) && come_q.emits == (!is_ahead || come_q.step != 0)
        && (!now_q || {i_block.i_aligner.step2_q.rotation, i_block.i_aligner.step2_q.from, i_block.i_aligner.step2_q.to}
            == {rotation, first[5:0], last[5:0]})
        && (!(wanted && come_q.step == from[8:6]) || i_block.i_aligner.byte_q == value))
    `RULE(line_before_is_that_of_the_piece, 1, !(its_before && wanted && before_q.step == from[8:6])
        || i_block.i_aligner.before_q == value)
    `RULE(steps_follow_each_other, 1,
        (!coming_q.valid || coming_q.step == 0 || come_q.valid && come_q.step == coming_q.step - 1'b1
            && come_q.line.number == coming_q.line.number)
        && (!come_q.valid || come_q.step == 0 || before_q.valid && before_q.step == come_q.step - 1'b1
            && before_q.line.number == come_q.line.number)
        && (i_block.step_q == 0 || (coming_q.valid ? coming_q.step : come_q.step) == i_block.step_q - 1'b1
            && (coming_q.valid || come_q.valid)))

    // The line that the queue follows, which is any.
    line_t marked_q;
    always_ff @(posedge clk_i) begin
        if (come && i_block.i_lines.mark && !i_block.i_lines.followed_q) marked_q <= come_q.line;
    end
    logic [4:0] marked_place;
    assign marked_place = i_block.i_lines.at_q - i_block.i_lines.popped_q;
    `RULE(followed_line_is_in_the_queue, 1, !i_block.i_lines.followed_q
        || marked_place < count && lines_q[marked_place[3:0]] == marked_q)
    `RULE(byte_is_in_the_queue, 1, !(begun && i_block.i_lines.followed_q && marked_q == {number_q, line})
        || i_block.i_lines.word_q[10'd512 + 10'(place)] == wanted
            && i_block.i_lines.word_q[8*32'(place) +: 8] == (wanted ? value : 8'd0))

    // The write that the rules follow.
    number_t lead;
    assign lead = addressed_q - written_q;
    `RULE(addresses_lead_as_counted, 1, i_rules.g_followed.i_write.lead_q == (lead == '1 ? -11'sd1 : 11'(lead))
        && (i_rules.g_followed.i_write.partial_q || line_q == 0))
    `RULE(beats_are_lines, 1, !(i_rules.g_followed.i_write.follows_q && !i_rules.g_followed.i_write.ended_q
        && i_rules.g_followed.i_write.bursts_q == 0) || i_rules.g_followed.i_write.beats_q == 9'(line_q))
    `RULE(burst_is_of_lines, 1, !i_rules.g_followed.i_write.addressed_q
        || i_rules.g_followed.i_write.size_q == 3'd6 && i_rules.g_followed.i_write.burst_q == 2'b01
            && i_rules.g_followed.i_write.address_q[5:0] == 0)
    `RULE(burst_before_its_address_has_its_length, 1, !i_rules.g_followed.i_write.ended_q
        || i_rules.g_followed.i_write.addressed_q
        || m_axi_awvalid && i_rules.g_followed.i_write.beats_q == 9'(m_axi_awlen) + 9'd1)
    `RULE(address_begins_a_line, 1, m_axi_awaddr[5:0] == 0 || !m_axi_awvalid)

    `REACHED(piece_of_three_lines_ends, followed_q && its_line && m_axi_wready && m_axi_wlast && line_q == 3'd2 && wanted)
    `REACHED(data_lead_their_address, written_its_q && !addressed_its_q)
    `REACHED(a_line_before_is_used, its_line && line_q == line && i_block.i_lines.in_front && wanted && place < rotation)
endmodule

// One burst, from its first step to its last line on the bus: its lines have its number, and the last of them is marked.
module piece_writer_burst (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid,
    input logic [4:0]       number,
    input logic [2:0]       last,           // line of it
    input logic [4:0]       begun_q,
    input logic [4:0]       written_q,
    input logic [17:0]      held,           // lines that are on their way
    input logic [17:0][7:0] lines,          // their numbers
    input logic [17:0]      lasts,
    input logic             steps,          // the last burst that was begun has steps to come
    input logic [2:0]       job_last
);
    `RULE(burst_is_on_its_way, 1, !valid || 5'(number - written_q) < 5'(begun_q - written_q))
    `RULE(burst_has_few_lines, 1, !valid || last <= 3'd4)
    for (genvar n = 0; n < 18; n++) begin : g_lines
        `RULE(last_line_is_marked, 1, !(valid && held[n] && lines[n][7:3] == number)
            || lines[n][2:0] <= last && lasts[n] == (lines[n][2:0] == last))
    end
    `RULE(steps_are_those_of_the_burst, 1, !(valid && steps && number == begun_q - 5'd1) || job_last == last)
endmodule
