// SPDX-License-Identifier: MIT OR Apache-2.0
// job_loader: asks for the lines of the job and of its program, one after the other, each once and where it is. Each word
// of the program goes to its place in the lanes once. The end is told once, after the last line or the first that is wrong, with
// the reason.
`include "../rules/rule.svh"
module job_loader_formal (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         start_i,
    input logic [63:6]  job_address_i,
    input logic         load_ready_i,
    input logic         loaded_valid_i,
    input logic         loaded_error_i,
    input logic [511:0] loaded_data_i
);
    logic          done_o, has_program_o, load_valid_o, code_write_o, constant_write_o;
    logic [7:0]    refusal_o;
    logic [1023:0] job_o;
    logic [3:0]    outputs_o;
    logic [63:6]   load_address_o;
    logic [5:0]    store_address_o;
    logic [63:0]   store_data_o;

    power_up i_power_up (.*);
    job_loader i_block (.*);
    axi4_stream_rules #(.Width(58), .Dense(0)) i_load (
        .clk_i, .rst_ni, .tvalid(load_valid_o), .tready(load_ready_i), .payload(load_address_o));

    // What counts of the outputs: what was loaded counts once the end is told.
    logic          stores, over_q;
    logic [1168:0] seen;
    assign stores = code_write_o || constant_write_o;
    always_ff @(posedge clk_i) over_q <= rst_ni && !start_i && (over_q || done_o);
    assign seen   = {done_o, over_q || done_o ? {refusal_o, job_o, has_program_o, outputs_o} : '0, load_valid_o,
        load_valid_o ? load_address_o : '0, code_write_o, constant_write_o, stores ? {store_address_o, store_data_o} : '0};

    // ---- What has been asked for: the two lines of the job, then the 17 of the program, of which the first is its header.
    logic        runs_q, asks, waits_q, ends_q;
    logic [63:6] job_q, program_q;
    logic [4:0]  line_q, asked;     // lines that have come, and been asked for
    logic        takes, good;
    logic [7:0]  refusal, refusal_q;
    assign asks  = load_valid_o && load_ready_i;
    assign takes = loaded_valid_i;
    assign asked = line_q + 5'(waits_q);
    // A line is read after it was asked for; and a job begins after the one before has ended.
    `RULE(line_comes_after_it_was_asked_for, 0, !loaded_valid_i || waits_q)
    `RULE(one_job_at_a_time, 0, !start_i || !runs_q || done_o)
    always_comb begin
        refusal = 8'd0;
        if (loaded_error_i) begin
            refusal = line_q < 5'd2 ? 8'd1 : 8'd2;
        end else if (line_q == 5'd1) begin
            if (loaded_data_i[384+:6] != 0) refusal = 8'd3;
        end else if (line_q == 5'd2) begin
            // "LKPR", version 1, at most 64 of each, some instruction, 8 outputs, and no flag.
            if (loaded_data_i[31:0] != {"R", "P", "K", "L"}) refusal = 8'd4;
            else if (loaded_data_i[47:32] != 16'd1) refusal = 8'd5;
            else if (loaded_data_i[55:48] - 8'd1 > 8'd63 || loaded_data_i[63:56] > 8'd64 || loaded_data_i[71:64] > 8'd8)
                refusal = 8'd6;
            else if (loaded_data_i[79:72] != 0) refusal = 8'd7;
        end
    end
    // The last line of the job, if it has no program.
    logic last;
    assign last = line_q == 5'd18 || line_q == 5'd1 && loaded_data_i[384+:64] == 0;

    // The words of the program that are still to be stored, of the line that came last.
    logic [3:0]       left_q;
    logic [7:0][63:0] words_q;
    logic [4:0]       from_q;       // which line that is
    logic             loaded_q;     // all lines have come
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            runs_q   <= 1'b0;
            waits_q  <= 1'b0;
            left_q   <= '0;
            loaded_q <= 1'b0;
        end else begin
            if (done_o) begin
                runs_q   <= 1'b0;
                loaded_q <= 1'b0;
            end
            if (start_i) begin
                runs_q    <= 1'b1;
                job_q     <= job_address_i;
                line_q    <= '0;
                refusal_q <= '0;
                loaded_q  <= 1'b0;
            end
            if (asks) waits_q <= 1'b1;
            if (takes) begin
                waits_q <= 1'b0;
                line_q  <= line_q + 5'd1;
                from_q  <= line_q;
                words_q <= loaded_data_i;
                if (line_q == 5'd1) program_q <= loaded_data_i[447:390];
                if (line_q > 5'd2 && !loaded_error_i) left_q <= 4'd8;
                refusal_q <= refusal;
                loaded_q  <= refusal != 0 || last;
            end
            if (stores) left_q <= left_q - 4'd1;
        end
    end
    `RULE(line_is_asked_for_where_it_is, 1, !load_valid_o
        || load_address_o == (line_q < 5'd2 ? job_q + 58'(line_q) : program_q + 58'(line_q) - 58'd2))
    `RULE(one_line_is_asked_for_at_a_time, 1, !load_valid_o || runs_q && !waits_q && !loaded_q && left_q == 0 && line_q < 5'd19)
    // Between, there is a clock in which a line is looked at, if it is not stored.
    logic looks_q;
    always_ff @(posedge clk_i) looks_q <= rst_ni && takes && (line_q <= 5'd2 || loaded_error_i);
    `RULE(next_line_is_asked_for, 1, load_valid_o || !runs_q || waits_q || loaded_q || left_q != 0 || looks_q)

    // ---- The program goes to its places: eight lines of instructions, then eight of constants.
    logic [2:0] word;
    logic [5:0] place;
    assign word  = 3'(4'd8 - left_q);
    assign place = {3'(from_q - 5'd3), word};
    `RULE(word_of_the_program_goes_to_its_place, 1, !stores
        || left_q != 0 && store_address_o == place && store_data_o == words_q[word])
    `RULE(words_go_to_code_and_constants, 1, code_write_o == (left_q != 0 && from_q < 5'd11)
        && constant_write_o == (left_q != 0 && from_q >= 5'd11))

    // ---- The end, and what is known then.
    `RULE(end_is_told_in_time, 1, done_o == (loaded_q && left_q == 0 && !looks_q))
    `RULE(end_is_told_once, 1, !done_o || runs_q && !$past(done_o))
    `RULE(reason_is_told, 1, !done_o || refusal_o == refusal_q)
    // From the clock on in which the end is told.
    `RULE(reason_stays, 1, !$past(rst_ni && (!runs_q || done_o)) || $stable(refusal_o))
    `RULE(what_was_loaded_stays, 1, !$past(rst_ni && (!runs_q || done_o)) || $stable({job_o, outputs_o, has_program_o}))

    // One bit of the job, which is any, and the number of outputs.
    logic [9:0]  bit_of_job;
    logic        bit_q;
    logic [3:0]  outputs_q;
    arbitrary #(.Width(10)) i_bit (.clk_i, .value_o(bit_of_job));
    always_ff @(posedge clk_i) begin
        if (takes && line_q == 5'(bit_of_job[9])) bit_q <= loaded_data_i[bit_of_job[8:0]];
        if (takes && line_q == 5'd2) outputs_q <= loaded_data_i[67:64];
    end
    logic job_is_there, program_is_there;
    assign job_is_there     = runs_q && line_q > 5'(bit_of_job[9]) && !(looks_q && line_q == 5'(bit_of_job[9]) + 5'd1);
    assign program_is_there = runs_q && line_q > 5'd2 && !(looks_q && line_q == 5'd3);
    `RULE(job_is_as_it_came, 1, !job_is_there || job_o[bit_of_job] == bit_q)
    `RULE(outputs_are_as_they_came, 1, !program_is_there || outputs_o == outputs_q)
    `RULE(program_is_told_of, 1, has_program_o == (job_o[959:896] != 0))
    `RULE(program_is_within_its_bounds, 1, !(done_o && refusal_o == 0 && has_program_o) || outputs_o <= 4'd8)

    // ---- What is known inside, which induction needs to be told.
    localparam logic [2:0] Idle = 3'd0, Ask = 3'd1, Wait = 3'd2, Judge = 3'd3, Store = 3'd4;
    logic [2:0] state;
    assign state = 3'(i_block.state_q);
    `RULE(states_are_these, 1, state == (!runs_q || done_o ? Idle : waits_q ? Wait : looks_q ? Judge : left_q != 0 ? Store : Ask))
    `RULE(loads_only_while_it_runs, 1, runs_q || !waits_q && !looks_q && left_q == 0 && !loaded_q)
    `RULE(one_thing_at_a_time, 1, 2'(waits_q) + 2'(looks_q) + 2'(left_q != 0) <= 2'd1 && left_q <= 4'd8)
    `RULE(line_that_comes_is_one_of_them, 1, loaded_q || !runs_q || (waits_q ? line_q < 5'd19
        : line_q < 5'd19 || looks_q && refusal_q != 0))
    `RULE(nothing_is_asked_for_at_the_end, 1, !loaded_q || !waits_q)
    `RULE(line_is_known, 1, !runs_q || done_o || i_block.line_q == line_q - 5'(looks_q || left_q != 0))
    `RULE(lines_are_few, 1, !runs_q || line_q <= 5'd19 && (line_q != 0 && from_q == line_q - 5'd1 || line_q == 0 && !looks_q
        && left_q == 0 && !loaded_q))
    `RULE(word_is_known, 1, left_q == 0 ? i_block.word_q == 0 || state == Idle : i_block.word_q == word && from_q > 5'd2)
    `RULE(line_is_kept, 1, !looks_q || i_block.data_q == words_q)
    `RULE(words_are_shifted, 1, left_q == 0 || i_block.data_q == 512'(words_q) >> {word, 6'd0})
    `RULE(reason_is_known, 1, !looks_q || i_block.refusal == refusal_q && i_block.ends == loaded_q)
    `RULE(reason_is_found, 1, !runs_q || line_q == 0 || looks_q || refusal_o == refusal_q)
    `RULE(job_ends_for_a_reason, 1, !runs_q || loaded_q == (refusal_q != 0 || line_q == 5'd19
        || line_q == 5'd2 && (looks_q ? words_q[6] == 0 : !has_program_o)))
    `RULE(good_lines_are_stored, 1, left_q == 0 || refusal_q == 0)
    `RULE(good_lines_of_the_program_are_not_looked_at, 1, !looks_q || line_q <= 5'd3 || refusal_q != 0)
    `RULE(followed_bit_is_in_its_line, 1, !looks_q || line_q != 5'(bit_of_job[9]) + 5'd1
        || words_q[bit_of_job[8:6]][bit_of_job[5:0]] == bit_q)
    `RULE(outputs_are_in_the_header, 1, !looks_q || line_q != 5'd3
        || words_q[1][3:0] == outputs_q && (refusal_q != 0 || words_q[1][7:0] <= 8'd8))
    `RULE(good_program_goes_on, 1, !runs_q || refusal_q != 0 || !program_is_there || outputs_o <= 4'd8)
    `RULE(address_is_known, 1, !runs_q || done_o || (i_block.line_q < 5'd2 ? i_block.address_q == job_q + 58'(i_block.line_q)
        : i_block.address_q == program_q + 58'(i_block.line_q) - 58'd2))
    `RULE(program_is_where_it_was_said, 1, !(looks_q && line_q == 5'd2) || program_q == words_q[6][63:6])

    `REACHED(job_without_a_program_is_loaded, done_o && refusal_o == 0 && !has_program_o)
    `REACHED(program_has_a_flag, done_o && refusal_o == 8'd7)
    `REACHED(second_word_is_stored, code_write_o && store_address_o == 6'd1)
    `REACHED(second_job_begins, start_i && $past(done_o) && refusal_o == 8'd3)
endmodule
