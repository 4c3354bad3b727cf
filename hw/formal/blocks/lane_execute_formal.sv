// SPDX-License-Identifier: MIT OR Apache-2.0
// lane_execute: instructions are executed one after the other, each with its own operands, which are what was written last; one
// register is followed, which is any. What each writes is what the table of docs/near-data-programs.md says, with the arithmetic unit any;
// and so is whether it ends with a fault or decides on the row.
`include "../rules/rule.svh"
// A rule that is looked at a clock later, when all else is known of the clock that it is about. Induction takes less time so.
`define LATE(NAME, HOLDS) \
    logic NAME``_q; \
    always_ff @(posedge clk_i) NAME``_q <= !rst_ni || (HOLDS); \
    `RULE(NAME, 1, NAME``_q)
module lane_execute_formal
    import program_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
    input logic         valid_i,
    input instruction_t instruction_i,
    input logic [15:0]  bytes_i,
    input logic [63:0]  row_word_i,
    input logic [15:0][63:0] bitmap,
    input logic [63:0]  constant_i
);
    logic        complete_o, reads_on_o, passes_o, fails_o, faulty_o;
    logic [7:0]  fault_o, nulls_o;
    logic [5:0]  constant_address_o;
    logic [63:0] values_o[8], bitmap_i[16];

    for (genvar n = 0; n < 16; n++) begin : g_bitmap
        assign bitmap_i[n] = bitmap[n];
    end
    power_up i_power_up (.*);
    lane_execute i_block (.*);

    // What counts of the outputs.
    logic [538:0] seen;
    assign seen = {complete_o, complete_o ? {passes_o, fails_o, faulty_o, faulty_o ? fault_o : 8'd0} : '0, reads_on_o,
        constant_address_o, values_o[0], values_o[1], values_o[2], values_o[3], values_o[4], values_o[5], values_o[6],
        values_o[7], nulls_o};

    // ---- The instruction that is executed, which program_lane is proven to give; and for how many clocks. It is valid until it is
    // complete.
    instruction_t is_q;
    logic         begun_q;      // taken at least once since the reset
    logic [2:0]   clocks_q;     // before this one, as far as seven
    logic [5:0]   word_q;       // of a comparison, words before
    logic         waits;
    assign waits = valid_i && !complete_o;
    always_ff @(posedge clk_i) begin
        begun_q <= rst_ni;
        if (!waits) begin
            is_q     <= instruction_i;
            clocks_q <= '0;
            word_q   <= '0;
        end else begin
            clocks_q <= clocks_q + 3'(clocks_q != 3'd7);
            word_q   <= word_q + 6'(reads_on_o);
        end
        if (!rst_ni) clocks_q <= '0;
    end
    `RULE(instruction_stays_until_it_is_complete, 0, begun_q ? !$past(rst_ni && waits) || valid_i : !valid_i)

    // ---- Columns: what is wrong with one, and whether it is null.
    logic        loads, compares_fixed, of_column, nullable, bad_bit, short_row, is_null_column, goes_on;
    logic [16:0] end_of;
    logic        column_null_q, bad_bit_q, short_q;     // found as the instruction is taken
    instruction_t next;
    assign next           = instruction_i;
    assign nullable       = next.y != 16'hffff;
    assign of_column      = next.op == Load || next.op == CompareFixed;
    assign end_of         = 17'(next.x) + (next.op == Load ? 17'd8 : 17'd8 * 17'(next.z[11:6]));
    assign bad_bit        = of_column && nullable && next.y > 16'd1023;
    assign short_row      = of_column && (end_of > 17'(bytes_i) || nullable && 32'(next.y) / 8 >= 32'(bytes_i));
    assign is_null_column = nullable && bitmap[next.y[9:6]][next.y[5:0]];
    always_ff @(posedge clk_i) begin
        if (!waits) {column_null_q, bad_bit_q, short_q} <= {is_null_column, bad_bit, short_row};
    end
    assign loads          = is_q.op == Load;
    assign compares_fixed = is_q.op == CompareFixed;

    // ---- The registers. Any one of them, as it was written last.
    word_t      a, b;
    logic [3:0] number;
    word_t      followed_q;
    logic       written_q;
    arbitrary #(.Width(4)) i_number (.clk_i, .value_o(number));
    assign a = i_block.a;
    assign b = i_block.b;
    word_t result;
    logic  writes;
    assign writes = complete_o && !(is_q.op inside {End, Filter, Output});
    always_ff @(posedge clk_i) begin
        if (writes && is_q.dst == number) {written_q, followed_q} <= {1'b1, i_block.result};
        if (!rst_ni) written_q <= 1'b0;
    end
    `RULE(register_has_what_was_written_last, 1, !written_q || i_block.registers_q[number] == followed_q)
    `RULE(operands_are_those_of_the_instruction, 1, !valid_i || a == i_block.registers_q[is_q.a] && b == i_block.registers_q[is_q.b])
    // A null has the value 0, and what is known to be a truth is one. A valid program reads only what it has written.
    `RULE(registers_are_as_they_were_written, 1, !written_q || (!followed_q.is_null || followed_q.value == 0)
        && (!followed_q.is_truth || followed_q.value <= 64'd1))
    function automatic logic is_whole(input word_t one);
        is_whole = (!one.is_null || one.value == 0) && (!one.is_truth || one.value <= 64'd1);
    endfunction

    // ---- What an instruction makes of its operands.
    logic any_null, true_a, true_b, nan_a, nan_b, of_integers, of_floats;
    assign any_null = a.is_null || b.is_null;
    assign true_a   = a.value != 0;
    assign true_b   = b.value != 0;
    assign nan_a    = a.value[62:0] > {11'h7ff, 52'd0};
    assign nan_b    = b.value[62:0] > {11'h7ff, 52'd0};
    // The order of numbers: below, equal, or neither. What is no number is above all, and equal to itself.
    logic less_int, less_float, equal_float;
    function automatic logic [63:0] key_of(input logic [63:0] float);
        // Floats are in the order of these, as numbers without a sign; both zeros have the same.
        if (float[62:0] == 0) key_of = 64'h8000_0000_0000_0000;
        else key_of = float[63] ? ~float : {1'b1, float[62:0]};
    endfunction
    assign less_int    = $signed(a.value) < $signed(b.value);
    assign less_float  = nan_a ? 1'b0 : nan_b || key_of(a.value) < key_of(b.value);
    assign equal_float = nan_a ? nan_b : !nan_b && key_of(a.value) == key_of(b.value);
    logic [64:0] added;
    assign added = is_q.op == AddInt ? {a.value[63], a.value} + {b.value[63], b.value}
        : {a.value[63], a.value} - {b.value[63], b.value};
    // Of a comparison with constants: the first word that differs decides, byte 0 first.
    function automatic logic [63:0] turned(input logic [63:0] bytes);
        for (int unsigned n = 0; n < 8; n++) turned[8*n +: 8] = bytes[8*(7-n) +: 8];
    endfunction
    logic less_q, greater_q, less, greater;
    assign less    = less_q || !greater_q && turned(row_word_i) < turned(constant_i);
    assign greater = greater_q || !less_q && turned(row_word_i) > turned(constant_i);
    always_ff @(posedge clk_i) {less_q, greater_q} <= waits && reads_on_o ? {less, greater} : 2'b00;

    word_t told;
    logic  takes_two, is_arithmetic;
    assign is_arithmetic = is_q.op inside {MultiplyInt, AddFloat, SubtractFloat, MultiplyFloat};
    assign takes_two = is_arithmetic || is_q.op inside {AddInt, SubtractInt, MinInt, MaxInt, MinFloat, MaxFloat, EqualInt,
        NotEqualInt, LessInt, LessEqualInt, EqualFloat, NotEqualFloat, LessFloat, LessEqFloat};
    // Only of what an instruction reads: fields that it does not use are 0, and name a register that nobody may have written.
    logic reads_a, reads_b;
    assign reads_b = takes_two || is_q.op inside {And, Or};
    assign reads_a = reads_b || is_q.op inside {Not, IsNull, Filter, Output};
    `RULE(operands_were_written, 0, !valid_i || (!reads_a || is_whole(a)) && (!reads_b || is_whole(b)))
    always_comb begin
        told         = '0;
        told.is_null = takes_two && any_null;
        case (opcode_t'(is_q.op))
            Load:          told = column_null_q ? {2'b01, 64'd0} : {2'b00, row_word_i};
            CompareFixed: begin
                told.is_null = column_null_q;
                // Where all words are equal, the column is less if the constant is longer, which `b` says.
                if (!column_null_q) told.value = less || !greater && is_q.b[0] ? '1 : 64'(greater);   // -1, 0 or 1
            end
            Constant:      told.value = constant_i;
            Null:          told.is_null = 1'b1;
            AddInt, SubtractInt: told.value = added[63:0];
            MinInt:        told.value = less_int || a.value == b.value ? a.value : b.value;
            MaxInt:        told.value = less_int ? b.value : a.value;
            MinFloat:      told.value = nan_a && nan_b ? 64'h7ff8_0000_0000_0000 : less_float || equal_float ? a.value : b.value;
            MaxFloat:      told.value = nan_a || nan_b ? 64'h7ff8_0000_0000_0000 : less_float ? b.value : a.value;
            EqualInt:      told.value = 64'(a.value == b.value);
            NotEqualInt:   told.value = 64'(a.value != b.value);
            LessInt:       told.value = 64'(less_int);
            LessEqualInt:  told.value = 64'(less_int || a.value == b.value);
            EqualFloat:    told.value = 64'(equal_float);
            NotEqualFloat: told.value = 64'(!equal_float);
            LessFloat:     told.value = 64'(less_float);
            LessEqFloat:   told.value = 64'(less_float || equal_float);
            // Of three values, where a null is neither.
            And: begin
                told.is_null = any_null && !(!a.is_null && !true_a) && !(!b.is_null && !true_b);
                told.value   = 64'(true_a && true_b);
            end
            Or: begin
                told.is_null = any_null && !true_a && !true_b;
                told.value   = 64'(true_a || true_b);
            end
            Not: begin
                told.is_null = a.is_null;
                told.value   = 64'(!true_a);
            end
            IsNull:        told.value = 64'(a.is_null);
            default:       told.value = i_block.arithmetic_result;
        endcase
        if (told.is_null) told.value = '0;
    end
    logic bad_op;
    assign bad_op = !(takes_two || is_q.op inside {End, Load, Constant, Null, Filter, Output, And, Or, Not, IsNull, CompareFixed});
    // By kinds, which a solver decides on more easily.
    logic is_right, of_sums, of_orders, of_float_orders, chooses, tells_truth;
    assign is_right        = {i_block.result.is_null, i_block.result.value} == {told.is_null, told.value};
    assign of_sums         = is_q.op inside {AddInt, SubtractInt};
    assign chooses         = is_q.op inside {MinInt, MaxInt, MinFloat, MaxFloat};
    assign tells_truth     = is_q.op inside {EqualInt, NotEqualInt, LessInt, LessEqualInt, EqualFloat, NotEqualFloat, LessFloat,
        LessEqFloat, And, Or, Not, IsNull};
    assign of_orders       = is_q.op inside {MinInt, MaxInt, EqualInt, NotEqualInt, LessInt, LessEqualInt};
    assign of_float_orders = is_q.op inside {MinFloat, MaxFloat, EqualFloat, NotEqualFloat, LessFloat, LessEqFloat};
    // What is known to be a truth, so that a later instruction needs no clock to find it: each truth, and what is loaded and 0 or 1.
    logic is_known;
    assign is_known = told.is_null ? !of_sums && !is_arithmetic && !chooses && !compares_fixed
        : tells_truth || (loads || is_q.op == Constant) && told.value <= 64'd1;
    `LATE(truth_is_known, !(writes && !bad_op && !faulty_o) || i_block.result.is_truth == is_known)
    `LATE(sum_is_right, !(writes && of_sums && !faulty_o) || is_right)
    `LATE(order_of_integers_is_right, !(writes && of_orders) || is_right)
    `LATE(order_of_floats_is_right, !(writes && of_float_orders) || is_right)
    `LATE(comparison_with_constants_is_right, !(writes && compares_fixed && !faulty_o) || is_right)
    `LATE(result_is_what_the_instruction_says, !(writes && !bad_op && !faulty_o) || of_sums || of_orders || of_float_orders
        || compares_fixed || is_right)

    // ---- What it says of the row.
    logic overflows;
    assign overflows = !any_null && (is_q.op inside {AddInt, SubtractInt} && added[64] != added[63]
        || is_q.op == MultiplyInt && i_block.product_overflow);
    `LATE(row_passes_at_the_end, !complete_o || passes_o == (is_q.op == End))
    `LATE(filter_lets_true_ones_pass, !complete_o || fails_o == (is_q.op == Filter && !true_a))
    `LATE(fault_is_told, !complete_o || faulty_o == (bad_op || bad_bit_q || short_q || overflows))
    `LATE(kind_of_fault_is_told, !(complete_o && faulty_o) || fault_o == (bad_op || bad_bit_q ? 8'd31 : short_q ? 8'd21 : 8'd20))
    `LATE(one_thing_is_said, !complete_o || 2'(passes_o) + 2'(fails_o) + 2'(faulty_o) <= 2'd1)
    `RULE(only_one_that_is_executed_is_complete, 1, valid_i || !complete_o && !reads_on_o)
    `RULE(reading_on_is_not_complete, 1, !reads_on_o || !complete_o)

    // ---- Which clock it is complete in.
    logic [5:0] words;
    logic [2:0] needs;      // clocks, but for those of words
    assign words = is_q.z[11:6];
    logic truths_wait;
    assign truths_wait = is_q.op inside {And, Or} && !(a.is_truth && b.is_truth) || is_q.op inside {Not, Filter} && !a.is_truth;
    assign of_floats   = is_q.op inside {MinFloat, MaxFloat, EqualFloat, NotEqualFloat, LessFloat, LessEqFloat};
    always_comb begin
        needs = 3'd0;
        if (is_arithmetic && !any_null) begin
            case (opcode_t'(is_q.op))
                MultiplyInt:   needs = 3'd4;
                MultiplyFloat: needs = 3'd7;
                default:       needs = 3'd6;
            endcase
        end else if (of_floats && !any_null || truths_wait) begin
            needs = 3'd1;
        end
    end
    assign goes_on = compares_fixed && !column_null_q && !bad_bit_q && !short_q;
    `LATE(instruction_ends_in_its_clock, !valid_i || goes_on || complete_o == (clocks_q == needs))
    `LATE(comparison_ends_with_its_last_word, !valid_i || !goes_on
        || complete_o == (word_q == words - 6'd1) && reads_on_o == !complete_o)
    `LATE(only_comparisons_read_on, !reads_on_o || goes_on)
    `RULE(clocks_are_those_that_it_needs, 1, !valid_i || goes_on || clocks_q <= needs)
    `RULE(constant_is_the_one_that_is_named, 1, !valid_i || (compares_fixed
        ? !goes_on || constant_address_o == is_q.z[5:0] + word_q
        : is_q.op != Constant || constant_address_o == is_q.x[5:0]))

    // ---- Values of the packet.
    logic [2:0]  place;
    logic        put_q, put_null_q;
    logic [63:0] put_value_q;
    arbitrary #(.Width(3)) i_place (.clk_i, .value_o(place));
    always_ff @(posedge clk_i) begin
        if (complete_o && is_q.op == Output && is_q.z[2:0] == place) {put_q, put_null_q, put_value_q} <= {1'b1, a.is_null, a.value};
        if (!rst_ni) put_q <= 1'b0;
    end
    `RULE(value_is_the_one_put_out_last, 1, !put_q || values_o[place] == put_value_q && nulls_o[place] == put_null_q)
    `RULE(values_stay_while_nothing_is_executed, 1, $past(!rst_ni || valid_i)
        || $stable(values_o[place]) && $stable(nulls_o[place]) || !$stable(place))

    // ---- What is known inside, which induction needs to be told.
    `RULE(instruction_is_known, 1, !valid_i || i_block.first_step_q == (clocks_q == 0) && i_block.a_place_q == is_q.a
        && i_block.b_place_q == is_q.b && i_block.result_place_q == is_q.dst && i_block.output_place_q == is_q.z[2:0]
        && i_block.longer_q == is_q.b[0] && i_block.writes_q == !(is_q.op inside {End, Filter, Output}))
    `RULE(column_is_known, 1, !valid_i || i_block.has_column_q == (loads || compares_fixed)
        && i_block.column_bad_q == bad_bit_q && i_block.column_short_q == short_q
        && (!(loads || compares_fixed) || i_block.column_null == column_null_q))
    `RULE(others_have_no_column, 1, !valid_i || loads || compares_fixed || !bad_bit_q && !short_q)
    // As the block decodes it.
    `RULE(kind_is_known, 1, !valid_i || i_block.does_q.is_load == loads && i_block.does_q.is_compare == compares_fixed
        && i_block.does_q.is_constant == (is_q.op == Constant) && i_block.does_q.is_null == (is_q.op == Null)
        && i_block.does_q.is_sum == (is_q.op inside {AddInt, SubtractInt}) && i_block.does_q.subtracts == (is_q.op == SubtractInt)
        && i_block.does_q.is_arithmetic == is_arithmetic && i_block.does_q.chooses == (is_q.op inside {MinInt, MaxInt, MinFloat,
            MaxFloat}) && i_block.does_q.of_floats == of_floats && i_block.does_q.tests_null == (is_q.op == IsNull)
        && i_block.does_q.is_and == (is_q.op == And) && i_block.does_q.is_or == (is_q.op == Or)
        && i_block.does_q.is_not == (is_q.op == Not) && i_block.does_q.is_filter == (is_q.op == Filter)
        && i_block.does_q.is_output == (is_q.op == Output) && i_block.does_q.is_end == (is_q.op == End)
        && i_block.does_q.is_bad == bad_op && i_block.does_q.compares == (is_q.op inside {EqualInt, NotEqualInt, LessInt,
            LessEqualInt, EqualFloat, NotEqualFloat, LessFloat, LessEqFloat}))
    `RULE(orders_are_known, 1, !valid_i || i_block.does_q.accepts == {is_q.op inside {MinInt, NotEqualInt, LessInt, LessEqualInt},
            is_q.op inside {MinInt, MaxInt, EqualInt, LessEqualInt}, is_q.op inside {MaxInt, NotEqualInt}}
        && i_block.does_q.accepts_floats == {is_q.op inside {MinFloat, NotEqualFloat, LessFloat, LessEqFloat},
            is_q.op inside {MinFloat, MaxFloat, EqualFloat, LessEqFloat}, is_q.op inside {MaxFloat, NotEqualFloat}})
    logic [1:0] operation;
    assign operation = is_q.op == MultiplyInt ? 2'd0 : is_q.op == AddFloat ? 2'd1 : is_q.op == SubtractFloat ? 2'd2 : 2'd3;
    logic computes;
    assign computes = valid_i && is_arithmetic && !any_null;
    `RULE(operation_is_known, 1, !(valid_i && is_arithmetic) || i_block.does_q.operation == operation)
    `RULE(operation_goes_with_its_operands, 1, i_block.i_arithmetic_unit.valid_i == (computes && clocks_q == 0) && (!computes
        || i_block.i_arithmetic_unit.a_i == a.value && i_block.i_arithmetic_unit.b_i == b.value
            && i_block.i_arithmetic_unit.operation_i == operation))
    `RULE(operation_is_under_way, 1, i_block.i_arithmetic_unit.busy_q == (computes && clocks_q != 0)
        && (!i_block.i_arithmetic_unit.busy_q || i_block.i_arithmetic_unit.clocks_q == clocks_q
            && i_block.i_arithmetic_unit.operation_q == operation))
    // What arithmetic_unit takes for granted.
    `RULE(one_operation_at_a_time, 1, !i_block.i_arithmetic_unit.valid_i || !i_block.i_arithmetic_unit.busy_q
        || i_block.i_arithmetic_unit.done_o)
    // What was found of the operands in the clock before, which are the same while an instruction waits.
    word_t a_q, b_q;
    logic  waited_q, known_q = 1'b0;
    always_ff @(posedge clk_i) known_q <= 1'b1;
    always_ff @(posedge clk_i) {waited_q, a_q, b_q} <= {rst_ni && waits, a, b};
    `RULE(operands_stay, 1, !waited_q || a == a_q && b == b_q)
    `RULE(instruction_waits, 1, !valid_i || (clocks_q != 0) == waited_q)
    `RULE(operands_are_compared, 1, i_block.less_q == ($signed(a_q.value) < $signed(b_q.value))
        && i_block.greater_q == ($signed(a_q.value) > $signed(b_q.value)) || !known_q)
    `RULE(operands_are_looked_at, 1, !known_q || i_block.a_nan_q == (a_q.value[62:0] > {11'h7ff, 52'd0})
        && i_block.b_nan_q == (b_q.value[62:0] > {11'h7ff, 52'd0}) && i_block.both_negative_q == (a_q.value[63] && b_q.value[63])
        && i_block.both_zero_q == (a_q.value[62:0] == 0 && b_q.value[62:0] == 0)
        && i_block.a_true_q == (a_q.value != 0) && i_block.b_true_q == (b_q.value != 0))
    `RULE(words_are_compared, 1, !valid_i || !goes_on || i_block.column_less_q == less_q && i_block.column_greater_q == greater_q
        && !(less_q && greater_q) && i_block.left_q == words - 6'd1 - word_q && i_block.last_word_q == (i_block.left_q == 0))

    `REACHED(product_overflows, complete_o && is_q.op == MultiplyInt && overflows)
    `REACHED(comparison_has_three_words, complete_o && goes_on && word_q == 6'd2 && less_q)
    `REACHED(null_and_true_are_null, complete_o && is_q.op == And && a.is_null && !b.is_null && true_b && clocks_q == 3'd1)
    `REACHED(value_is_put_out, put_q && put_null_q)
endmodule
