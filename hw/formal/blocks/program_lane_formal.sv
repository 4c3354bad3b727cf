// SPDX-License-Identifier: MIT OR Apache-2.0
// program_lane: each row is followed until it leaves as a packet, or not at all, as what executes the program decides; there it gets its
// instructions in their order, and the words of the payload that they name. What program_lanes takes for granted of a lane is
// proven, in its words. What an instruction does is proven of lane_execute.
`include "../rules/rule.svh"
module program_lane_formal
    import program_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
    input logic         has_program_i,
    input logic [3:0]   outputs_i,
    input logic         wants_payloads_i,
    input logic         code_write_i,
    input logic         constant_write_i,
    input logic [5:0]   store_address_i,
    input logic [63:0]  store_data_i,
    input logic         row_valid_i,
    input logic [511:0] row_data_i,
    input logic         row_last_i,
    input logic         packet_taken_i
);
    logic         free_o, packet_valid_o, packet_first_o, packet_last_o;
    logic [511:0] packet_data_o;

    power_up i_power_up (.*);
    program_lane i_block (.*);

    // What counts of the outputs.
    logic [515:0] seen;
    assign seen = {free_o, packet_valid_o, packet_valid_o ? {packet_first_o, packet_last_o, packet_data_o} : '0};

    // The row that is in the lane, and what of it has come; one beat of its payload is followed, which is any.
    header_t          first, header_q;
    logic             begins, whole, came_q;
    logic [7:0]       beats_q;          // of the payload, that came
    logic [6:0]       beat;
    logic [7:0][63:0] data_q;
    // Its program, while that runs.
    logic             runs_q, executes_q, takes, ends, past_end;
    logic [6:0]       steps_q;
    // Its packet.
    logic             is_row_q, sends_values, sends_payload, known;
    logic [1:0]       phase_q;          // none, header, values, payload
    logic [6:0]       sent_q, last_beat;    // of its payload
    logic [7:0]       code_q;

    // ---- What program_lanes is proven to keep: a row begins in a lane that is free, and a beat is taken that is offered.
    logic row_q;        // a row has begun to come, and not all of it has
    always_ff @(posedge clk_i) begin
        if (!rst_ni) row_q <= 1'b0;
        else if (row_valid_i) row_q <= !row_last_i;
    end
    `RULE(row_begins_in_a_free_lane, 0, !row_valid_i || free_o || row_q)
    `RULE(beat_is_taken_that_is_offered, 0, !packet_taken_i || packet_valid_o)
    // What its user keeps: the properties of the program stay while a row is in the lane, and a row fits its memory. A row with a
    // code is its header alone; the lane would execute the program for one that has more.
    `RULE(row_with_a_code_is_its_header, 0, !begins || first.code == 0 || row_last_i)
    assign begins = row_valid_i && !row_q;
    assign whole  = row_valid_i && row_last_i;
    assign first  = row_data_i;
    `RULE(program_stays_while_a_row_is_there, 0, !$past(rst_ni && (!free_o || row_valid_i))
        || $stable({has_program_i, outputs_i, wants_payloads_i}))
    `RULE(row_fits, 0, begins ? first.bytes <= 16'd8192 : !row_valid_i || beats_q < 8'd128)

    // ---- What program_lanes takes for granted.
    logic inside_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) inside_q <= 1'b0;
        else if (packet_taken_i) inside_q <= !packet_last_o;
    end
    // What is offered; of the payload, only the beat that is followed.
    assign known = phase_q != 2'd3 || sent_q == beat && came_q;
    `RULE(lane_offers_until_it_is_heard, 1, !$past(rst_ni && packet_valid_o && !packet_taken_i)
        || packet_valid_o && $stable({packet_first_o, packet_last_o}) && (!$past(known) || $stable(packet_data_o)))
    `RULE(lane_that_is_free_offers_nothing, 1, !free_o || !packet_valid_o && !inside_q)
    `RULE(lane_is_taken_with_a_row, 1, !$past(rst_ni && row_valid_i) || !free_o)
    `RULE(lane_that_takes_a_row_offers_nothing, 1, !row_q || !free_o && !packet_valid_o)
    `RULE(packet_begins_with_its_first_beat, 1, !packet_valid_o || packet_first_o == !inside_q)
    `RULE(packet_has_no_pause, 1, !inside_q || packet_valid_o)

    // ---- The row: its header, and one beat of its payload, which is any. The memory follows the same one.
    assign beat       = i_block.i_row.address;
    always_ff @(posedge clk_i) begin
        if (begins) begin
            header_q        <= first;
            header_q.zero   <= '0;
            header_q.values <= '0;
            header_q.nulls  <= '0;
            beats_q         <= '0;
            came_q          <= 1'b0;
        end else if (row_valid_i) begin
            beats_q <= beats_q + 8'd1;
            if (beats_q[6:0] == beat) {came_q, data_q} <= {1'b1, row_data_i};
        end
        if (!rst_ni) came_q <= 1'b0;
    end
    `RULE(beat_is_chosen, 1, i_block.i_row.i_address.chosen_q && i_block.i_code.g_one.i_address.chosen_q
        && i_block.i_constants.g_one.i_address.chosen_q)
    `RULE(beat_is_in_the_memory, 1, !came_q || i_block.i_row.word_q == data_q)
    // The first two beats are the bitmap of its nulls, of which one word is followed.
    logic [3:0]  word;
    logic        null_came_q;
    logic [63:0] null_q;
    arbitrary #(.Width(4)) i_word (.clk_i, .value_o(word));
    always_ff @(posedge clk_i) begin
        if (row_valid_i && row_q && beats_q == 8'(word[3])) {null_came_q, null_q} <= {1'b1, row_data_i[64*word[2:0] +: 64]};
        if (!rst_ni || begins) null_came_q <= 1'b0;
    end
    `RULE(nulls_are_known, 1, !null_came_q || !runs_q || i_block.bitmap_q[word] == null_q)
    `RULE(bitmap_is_kept, 1, !null_came_q || i_block.bitmap_q[word] == null_q)

    // ---- The program, while it runs: which instructions have been begun.
    logic       complete, passes, fails, faulty, reads_on;
    assign complete = i_block.complete;
    assign passes   = i_block.passes;
    assign fails    = i_block.fails;
    assign faulty   = i_block.faulty;
    assign reads_on = i_block.reads_on;
    // A program has 64 instructions at most.
    assign past_end = steps_q == 7'd64 && !passes;
    assign ends     = runs_q && executes_q && complete && (passes || fails || faulty || past_end);
    assign takes    = runs_q && (!executes_q || complete) && !ends;
    `RULE(program_runs, 1, i_block.executing_q == (runs_q && executes_q))
    `RULE(instructions_are_counted, 1, i_block.program_counter_q == (runs_q ? steps_q : 7'd0) && (!runs_q || (executes_q
        ? steps_q != 0 && steps_q <= 7'd64 : steps_q == 0)))
    // What lane_execute takes for granted.
    `RULE(instruction_stays_until_it_is_complete, 1, $past(rst_ni) ? !$past(i_block.executing_q && !complete) || i_block.executing_q
        : !i_block.executing_q)
    // What is at one address, which is any.
    logic [63:0] code, constant;
    assign code     = i_block.i_code.g_one.word_q;
    assign constant = i_block.i_constants.g_one.word_q;
    `RULE(program_is_stored, 1, !$past(rst_ni && code_write_i && store_address_i == i_block.i_code.g_one.address)
        || code == $past(store_data_i))
    `RULE(constant_is_stored, 1, !$past(rst_ni && constant_write_i && store_address_i == i_block.i_constants.g_one.address)
        || constant == $past(store_data_i))
    `RULE(program_stays, 1, !$past(rst_ni && (!code_write_i || store_address_i != i_block.i_code.g_one.address)) || $stable(code))
    `RULE(constants_stay, 1, !$past(rst_ni && (!constant_write_i || store_address_i != i_block.i_constants.g_one.address))
        || $stable(constant))
    `RULE(instructions_come_in_their_order, 1, !takes || steps_q[5:0] != i_block.i_code.g_one.address
        || i_block.i_execute.instruction_i == code)
    `RULE(constant_is_that_of_its_address, 1, i_block.i_execute.constant_address_o != i_block.i_constants.g_one.address
        || i_block.i_execute.constant_i == constant)
    `RULE(length_is_that_of_the_row, 1, !runs_q || i_block.i_execute.bytes_i == header_q.bytes)
    // The word of the payload in this clock: that of the instruction which was taken in the clock before, or the next one.
    logic       reads_q;
    logic [9:0] place_q;
    always_ff @(posedge clk_i) begin
        reads_q <= rst_ni && (takes || runs_q && reads_on && reads_q);
        place_q <= takes ? i_block.fetched.x[12:3] : place_q + 10'd1;
    end
    `RULE(word_of_the_payload_is_read, 1, !(reads_q && runs_q && came_q && place_q[9:3] == beat)
        || i_block.i_execute.row_word_i == data_q[place_q[2:0]])
    `RULE(place_is_known, 1, !(reads_q && runs_q) || i_block.place_q == place_q
        && i_block.i_row.its_q == (place_q[9:3] == beat))

    // ---- What becomes of the row.
    logic [7:0]  code_of_row;
    assign code_of_row   = begins ? first.code : header_q.code;
    assign sends_values  = is_row_q && has_program_i && outputs_i != 0;
    assign sends_payload = is_row_q && wants_payloads_i && header_q.bytes != 0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            runs_q     <= 1'b0;
            executes_q <= 1'b0;
            phase_q    <= 2'd0;
        end else begin
            if (whole) begin
                is_row_q <= code_of_row == 0;
                code_q   <= code_of_row;
                if (has_program_i && code_of_row == 0) runs_q <= 1'b1;
                else phase_q <= 2'd1;
                executes_q <= 1'b0;
                steps_q    <= '0;
            end
            if (takes) begin
                executes_q <= 1'b1;
                steps_q    <= steps_q + 7'd1;
            end
            if (ends) begin
                runs_q <= 1'b0;
                // A row that fails leaves nothing. One that comes to no end has a bad program.
                if (faulty || past_end) begin
                    is_row_q <= 1'b0;
                    code_q   <= faulty ? i_block.fault : 8'd31;
                    phase_q  <= 2'd1;
                end else if (passes) begin
                    phase_q  <= 2'd1;
                end
            end
            if (packet_taken_i) begin
                case (phase_q)
                    2'd1:    phase_q <= sends_values ? 2'd2 : sends_payload ? 2'd3 : 2'd0;
                    2'd2:    phase_q <= sends_payload ? 2'd3 : 2'd0;
                    default: if (sent_q == last_beat) phase_q <= 2'd0;
                endcase
                sent_q <= phase_q == 2'd3 ? sent_q + 7'd1 : '0;
            end
        end
    end
    assign last_beat = 7'((header_q.bytes + 16'd63) / 16'd64 - 16'd1);
    `RULE(packet_is_offered, 1, packet_valid_o == (phase_q != 0))
    `RULE(lane_is_free_between_rows, 1, free_o == (!row_q && !runs_q && phase_q == 0))
    `RULE(row_is_in_one_place, 1, 2'(row_q) + 2'(runs_q) + 2'(phase_q != 0) <= 2'd1)
    `RULE(packet_ends_with_its_last_beat, 1, phase_q == 0 || packet_last_o == (phase_q == 2'd1 ? !sends_values && !sends_payload
        : phase_q == 2'd2 ? !sends_payload : sent_q == last_beat))
    header_t header, offered;
    assign offered = packet_data_o;
    always_comb begin
        header       = header_q;
        header.code  = code_q;
        header.bytes = sends_payload ? header_q.bytes : '0;
        if (sends_values) begin
            header.values = 8'(outputs_i);
            for (int unsigned n = 0; n < 8; n++) header.nulls[n] = n < 32'(outputs_i) && i_block.nulls[n];
        end
    end
    `RULE(header_is_that_of_the_row, 1, phase_q != 2'd1 || offered == header)
    logic [2:0] value;
    arbitrary #(.Width(3)) i_value (.clk_i, .value_o(value));
    `RULE(values_are_those_of_the_program, 1, phase_q != 2'd2
        || packet_data_o[64*value +: 64] == (4'(value) < outputs_i ? i_block.values[value] : '0))
    `RULE(payload_is_that_of_the_row, 1, !(phase_q == 2'd3 && sent_q == beat && came_q) || packet_data_o == data_q)
    // A row that came without a code has the code of its packet only from a fault.
    `RULE(row_has_no_code, 1, phase_q == 0 || is_row_q == (code_q == 0) || !is_row_q)

    // ---- What is known inside, which induction needs to be told.
    localparam logic [2:0] Free = 3'd0, Receive = 3'd1, Run = 3'd2, Header = 3'd3, Values = 3'd4, Payload = 3'd5;
    `RULE(states_are_these, 1, 3'(i_block.state_q) == (row_q ? Receive : runs_q ? Run : phase_q == 2'd1 ? Header
        : phase_q == 2'd2 ? Values : phase_q == 2'd3 ? Payload : Free))
    header_t inner;
    always_comb begin
        inner      = header_q;
        inner.code = phase_q != 0 ? code_q : header_q.code;
    end
    `RULE(header_is_kept, 1, free_o || i_block.header_q == inner && header_q.values == 0 && header_q.nulls == 0
        && header_q.bytes <= 16'd8192 && i_block.has_bytes_q == (header_q.bytes != 0))
    `RULE(row_that_goes_on_has_no_code, 1, !row_q || header_q.code == 0)
    `RULE(row_is_known, 1, free_o || i_block.is_row_q == (row_q ? header_q.code == 0 : is_row_q))
    `RULE(row_that_runs_has_no_code, 1, !runs_q || is_row_q && code_q == 0 && header_q.code == 0 && has_program_i)
    `RULE(packet_of_a_row_without_a_code_has_one, 1, phase_q == 0 || !is_row_q || code_q == 0 && header_q.code == 0)
    `RULE(values_are_wanted, 1, free_o || i_block.has_values_q == (has_program_i && outputs_i != 0))
    `RULE(values_are_sent_first, 1, phase_q != 2'd2 || sends_values)
    `RULE(payload_is_sent_last, 1, phase_q != 2'd3 || sends_payload && sent_q <= last_beat && i_block.beat_q == sent_q
        && i_block.left_q == last_beat - sent_q && i_block.last_beat_q == (sent_q == last_beat)
        && i_block.i_row.its_q == (sent_q == beat))
    `RULE(beats_are_counted, 1, !row_q || i_block.beat_q == beats_q[6:0] && beats_q <= 8'd128)
    `RULE(beat_that_was_read_is_known, 1, !(phase_q == 2'd3 || reads_q && runs_q) || !i_block.i_row.its_q || !came_q
        || i_block.i_row.read_q == data_q)
    `RULE(packet_under_way_is_known, 1, inside_q == (phase_q > 2'd1))

    `REACHED(row_fails, ends && fails && steps_q == 7'd2)
    `REACHED(packet_has_values_and_payload, packet_taken_i && packet_last_o && phase_q == 2'd3 && sends_values && sent_q == 7'd1)
    `REACHED(row_has_a_fault, phase_q == 2'd1 && !is_row_q && header_q.code == 0)
    `REACHED(second_word_is_read, reads_q && runs_q && $past(reads_on) && came_q && place_q == {beat, 3'd3})
endmodule
