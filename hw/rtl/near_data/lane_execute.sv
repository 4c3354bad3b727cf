// SPDX-License-Identifier: MIT OR Apache-2.0
// Executes the instructions of a lane, one after the other.
//
// Contract: `instruction_i` is taken in each clock without `valid_i` or with `complete_o`, and is
// executed from the next one on, while `valid_i` is high, until `complete_o`. Most instructions take
// one clock. Products, sums of floats and their order take several, a comparison with constants one
// for each word, and AND, OR, NOT and a filter two where an operand was computed as a number, or
// is loaded and neither 0 nor 1. `row_word_i` is the payload's word at the instruction's place, and
// behind a clock with `reads_on_o` the next one. `bytes_i` and `bitmap_i` are stable from the clock
// on in which the first instruction is taken. With `complete_o` comes the decision of the
// instruction: the row passes, fails, or ends with a fault. Registers keep their contents
// between rows, since a valid program writes each before it reads it.
module lane_execute (
    input  logic                      clk_i,
    input  logic                      rst_ni,

    input  logic                      valid_i,
    input  program_pkg::instruction_t instruction_i,
    output logic                      complete_o,
    output logic                      reads_on_o,  // its next word, in the next clock
    output logic                      passes_o,
    output logic                      fails_o,
    output logic                      faulty_o,
    output logic [7:0]                fault_o,     // if it is faulty

    input  logic [15:0]               bytes_i,     // of the payload
    input  logic [63:0]               row_word_i,
    input  logic [63:0]               bitmap_i[16],
    output logic [5:0]                constant_address_o,
    input  logic [63:0]               constant_i,

    output logic [63:0]               values_o[8],
    output logic [7:0]                nulls_o
);

    import program_pkg::*;

    // What an instruction does, found before it is executed, so that the clock of its execution has
    // none of that to do.
    // In which order of its operands an instruction chooses the first, or is true.
    typedef struct packed {
        logic less;
        logic equal;
        logic greater;
    } order_t;
    typedef struct packed {
        logic       is_load;
        logic       is_compare;
        logic       is_constant;
        logic       is_null;
        logic       is_sum;
        logic       subtracts;
        logic       is_arithmetic;
        logic [1:0] operation;        // of the arithmetic unit
        logic       chooses;          // one of its operands
        logic       compares;         // them
        logic       of_floats;
        order_t     accepts;          // of integers, which come late; all 0 for floats
        order_t     accepts_floats;
        logic       is_and;
        logic       is_or;
        logic       is_not;
        logic       tests_null;
        logic       is_filter;
        logic       is_output;
        logic       is_end;
        logic       is_bad;
    } decoded_t;

    opcode_t  op;
    decoded_t decoded, does_q;
    assign op = opcode_t'(instruction_i.op);
    always_comb begin
        decoded               = '0;
        decoded.is_load       = op == Load;
        decoded.is_compare    = op == CompareFixed;
        decoded.is_constant   = op == Constant;
        decoded.is_null       = op == Null;
        decoded.is_sum        = op inside {AddInt, SubtractInt};
        decoded.subtracts     = op == SubtractInt;
        decoded.is_arithmetic = op inside {MultiplyInt, AddFloat, SubtractFloat, MultiplyFloat};
        case (op)
            AddFloat:      decoded.operation = 2'd1;
            SubtractFloat: decoded.operation = 2'd2;
            MultiplyFloat: decoded.operation = 2'd3;
            default:       decoded.operation = 2'd0;
        endcase
        decoded.chooses         = op inside {MinInt, MaxInt, MinFloat, MaxFloat};
        decoded.compares        = op inside {
            EqualInt, NotEqualInt, LessInt, LessEqualInt,
            EqualFloat, NotEqualFloat, LessFloat, LessEqFloat
        };
        decoded.of_floats       = op inside {
            MinFloat, MaxFloat, EqualFloat, NotEqualFloat, LessFloat, LessEqFloat
        };
        decoded.accepts         = '{
            less:    op inside {MinInt, NotEqualInt, LessInt, LessEqualInt},
            equal:   op inside {MinInt, MaxInt, EqualInt, LessEqualInt},
            greater: op inside {MaxInt, NotEqualInt}
        };
        decoded.accepts_floats  = '{
            less:    op inside {MinFloat, NotEqualFloat, LessFloat, LessEqFloat},
            equal:   op inside {MinFloat, MaxFloat, EqualFloat, LessEqFloat},
            greater: op inside {MaxFloat, NotEqualFloat}
        };
        decoded.is_and     = op == And;
        decoded.is_or      = op == Or;
        decoded.is_not     = op == Not;
        decoded.tests_null = op == IsNull;
        decoded.is_filter  = op == Filter;
        decoded.is_output  = op == Output;
        decoded.is_end     = op == End;
        decoded.is_bad     = !(op inside {
            End, Load, Constant, Null, Filter, Output, AddInt, SubtractInt, MultiplyInt, MinInt, MaxInt,
            AddFloat, SubtractFloat, MultiplyFloat, MinFloat, MaxFloat,
            EqualInt, NotEqualInt, LessInt, LessEqualInt,
            EqualFloat, NotEqualFloat, LessFloat, LessEqFloat,
            And, Or, Not, IsNull, CompareFixed
        });
    end

    // Columns: whether the payload has all of it, and its null bit. Of 1,024 null bits, eight are left
    // before the instruction is executed.
    logic        has_column, nullable, too_short, bad_bit;
    logic [7:0]  bitmap_byte;
    logic [16:0] column_end;
    assign has_column  = decoded.is_load || decoded.is_compare;
    assign nullable    = instruction_i.y != NeverNull;
    assign bitmap_byte = bitmap_i[instruction_i.y[9:6]][8*instruction_i.y[5:3]+:8];
    assign bad_bit     = nullable && instruction_i.y[15:10] != 0;
    assign column_end  = 17'(instruction_i.x)
        + (decoded.is_compare ? 17'({instruction_i.z[11:6], 3'b000}) : 17'd8);
    assign too_short   = column_end > 17'(bytes_i)
        || nullable && 16'(instruction_i.y[15:3]) >= bytes_i;

    // The instruction that is executed.
    logic       first_step_q, longer_q, nullable_q, column_bad_q, column_short_q;
    logic       has_column_q, writes_q;
    logic [3:0] a_place_q, b_place_q, result_place_q;
    logic [2:0] output_place_q, null_place_q;
    logic [7:0] bitmap_byte_q;
    always_ff @(posedge clk_i) begin
        first_step_q <= 1'b0;
        if (!valid_i || complete_o) begin
            first_step_q   <= 1'b1;
            does_q         <= decoded;
            writes_q       <= !(op inside {End, Filter, Output});
            a_place_q      <= instruction_i.a;
            b_place_q      <= instruction_i.b;
            result_place_q <= instruction_i.dst;
            output_place_q <= instruction_i.z[2:0];
            longer_q       <= instruction_i.b[0];
            has_column_q   <= has_column;
            column_bad_q   <= has_column && bad_bit;
            column_short_q <= has_column && too_short;
            nullable_q     <= nullable;
            bitmap_byte_q  <= bitmap_byte;
            null_place_q   <= instruction_i.y[2:0];
        end
    end

    logic column_null;
    assign column_null = nullable_q && bitmap_byte_q[null_place_q];

    // The words of a comparison. An instruction that waits for something else has no use for them.
    logic       last_word_q, has_words;
    logic [5:0] left_q;
    assign has_words  = does_q.is_compare && !column_null && !column_bad_q && !column_short_q;
    assign reads_on_o = valid_i && has_words && !last_word_q;
    always_ff @(posedge clk_i) begin
        if (reads_on_o) begin
            left_q             <= left_q - 1'b1;
            last_word_q        <= left_q == 6'd1;
            constant_address_o <= constant_address_o + 1'b1;
        end else begin
            left_q             <= instruction_i.z[11:6] - 1'b1;
            last_word_q        <= instruction_i.z[11:6] == 6'd1;
            constant_address_o <= decoded.is_compare ? instruction_i.z[5:0] : instruction_i.x[5:0];
        end
    end

    // The registers.
    word_t registers_q[16];
    word_t a, b, result;
    logic  any_null;
    assign a        = registers_q[a_place_q];
    assign b        = registers_q[b_place_q];
    assign any_null = a.is_null || b.is_null;

    // A comparison with constants, byte 0 of a word the most significant. The first word that
    // differs decides.
    function automatic logic [63:0] reversed(input logic [63:0] bytes);
        return {<<8{bytes}};
    endfunction

    logic word_less, word_greater, column_less, column_greater, column_less_q, column_greater_q;
    assign word_less      = reversed(row_word_i) < reversed(constant_i);
    assign word_greater   = reversed(row_word_i) > reversed(constant_i);
    assign column_less    = column_less_q || !column_greater_q
        && (word_less || !word_greater && last_word_q && longer_q);
    assign column_greater = column_greater_q || !column_less_q && word_greater;
    always_ff @(posedge clk_i) begin
        column_less_q    <= reads_on_o && column_less;
        column_greater_q <= reads_on_o && column_greater;
    end

    // The order of operands. Those of floats have a clock of their own, after which it is known
    // what they are: no number is the greatest, and the two zeros are one.
    logic integer_less, integer_greater, integer_holds;
    assign integer_less    = $signed(a.value) < $signed(b.value);
    assign integer_greater = $signed(a.value) > $signed(b.value);
    assign integer_holds   = integer_less ? does_q.accepts.less
        : integer_greater ? does_q.accepts.greater : does_q.accepts.equal;

    logic less_q, greater_q, both_negative_q, a_nan_q, b_nan_q, both_zero_q;
    always_ff @(posedge clk_i) begin
        less_q          <= integer_less;
        greater_q       <= integer_greater;
        both_negative_q <= a.value[63] && b.value[63];
        a_nan_q         <= float_pkg::is_nan(a.value);
        b_nan_q         <= float_pkg::is_nan(b.value);
        both_zero_q     <= float_pkg::is_zero(a.value) && float_pkg::is_zero(b.value);
    end

    logic float_less, float_greater, float_holds, holds, chosen_is_nan;
    always_comb begin
        float_less    = both_negative_q ? greater_q : less_q;
        float_greater = both_negative_q ? less_q : greater_q;
        if (both_zero_q) {float_less, float_greater} = 2'b00;
        if (a_nan_q || b_nan_q) {float_less, float_greater} = {!a_nan_q, !b_nan_q};
    end
    assign float_holds = float_less ? does_q.accepts_floats.less
        : float_greater ? does_q.accepts_floats.greater : does_q.accepts_floats.equal;
    // An instruction accepts orders of one kind only.
    assign holds       = integer_holds || float_holds;

    // What MINF and MAXF choose may be another bit pattern of what is no number.
    assign chosen_is_nan = does_q.of_floats
        && (does_q.accepts_floats.less ? a_nan_q && b_nan_q : a_nan_q || b_nan_q);

    // Arithmetic of several clocks.
    logic [63:0] arithmetic_result;
    logic        arithmetic_done, product_overflow;
    arithmetic_unit i_arithmetic_unit (
        .clk_i,
        .rst_ni,
        .valid_i    (valid_i && does_q.is_arithmetic && !any_null && first_step_q),
        .operation_i(does_q.operation),
        .a_i        (a.value),
        .b_i        (b.value),
        .done_o     (arithmetic_done),
        .result_o   (arithmetic_result),
        .overflow_o (product_overflow)
    );

    // Sums of integers, with a bit more. A difference is one with what is inverted, and a carry from
    // a place below.
    logic [65:0] sum;
    logic        sum_overflow;
    assign sum          = {a.value[63], a.value, 1'b1}
        + ({b.value[63], b.value, 1'b0} ^ {66{does_q.subtracts}});
    assign sum_overflow = sum[65] != sum[64];

    logic unused;
    assign unused = sum[0];

    // A null counts as neither true nor false; any value but 0 is true, which takes a clock to find
    // where the value is not known to be 0 or 1.
    logic a_true_q, b_true_q, a_true, b_true, a_false, b_false, truths_known;
    always_ff @(posedge clk_i) begin
        a_true_q <= a.value != 0;
        b_true_q <= b.value != 0;
    end
    assign a_true       = a.is_truth ? a.value[0] : a_true_q;
    assign b_true       = b.is_truth ? b.value[0] : b_true_q;
    assign a_false      = !a.is_null && !a_true;
    assign b_false      = !b.is_null && !b_true;
    assign truths_known = !first_step_q
        || a.is_truth && (b.is_truth || does_q.is_not || does_q.is_filter);

    logic reads_truths, waits;
    assign reads_truths = does_q.is_and || does_q.is_or || does_q.is_not || does_q.is_filter;
    always_comb begin
        waits = does_q.is_arithmetic && !any_null && !arithmetic_done;
        if (does_q.of_floats && !any_null && first_step_q) waits = 1'b1;
        if (reads_truths && !truths_known) waits = 1'b1;
        if (has_words && !last_word_q) waits = 1'b1;
    end
    assign complete_o = valid_i && !waits;

    // The result: no instruction makes more than one of these other than 0.
    logic is_true;
    always_comb begin
        is_true = does_q.is_and && !any_null && a_true && b_true
            || does_q.is_or && (a_true || b_true)
            || does_q.is_not && !a.is_null && !a_true
            || does_q.tests_null && a.is_null
            || does_q.compares && !any_null && holds;
        result.value = 64'(is_true);
        if (does_q.is_load && !column_null) result.value |= row_word_i;
        if (does_q.is_compare && !column_null) begin
            result.value |= {{63{column_less}}, column_less || column_greater};
        end
        if (does_q.is_constant) result.value |= constant_i;
        if (does_q.is_sum && !any_null) result.value |= sum[64:1];
        if (does_q.is_arithmetic && !any_null) result.value |= arithmetic_result;
        if (does_q.chooses && !any_null) begin
            result.value |= chosen_is_nan ? float_pkg::NotANumber : holds ? a.value : b.value;
        end
        result.is_null = does_q.is_null
            || has_column_q && column_null
            || does_q.is_and && any_null && !a_false && !b_false
            || does_q.is_or && any_null && !a_true && !b_true
            || does_q.is_not && a.is_null
            || any_null && (does_q.is_sum || does_q.is_arithmetic || does_q.chooses || does_q.compares);
        result.is_truth = does_q.compares || does_q.is_and || does_q.is_or || does_q.is_not
            || does_q.tests_null || does_q.is_null
            || does_q.is_load && (column_null || row_word_i[63:1] == 0)
            || does_q.is_constant && constant_i[63:1] == 0;
    end

    logic overflows;
    assign overflows = does_q.is_sum && !any_null && sum_overflow || product_overflow;
    assign passes_o  = does_q.is_end;
    assign fails_o   = does_q.is_filter && !a_true;
    assign faulty_o  = overflows || does_q.is_bad || column_bad_q || column_short_q;
    always_comb begin
        fault_o = Overflow;
        if (column_short_q) fault_o = RowTooShort;
        if (column_bad_q || does_q.is_bad) fault_o = BadInstruction;
    end

    always_ff @(posedge clk_i) begin
        if (complete_o && writes_q) registers_q[result_place_q] <= result;
        if (valid_i && does_q.is_output) begin
            values_o[output_place_q] <= a.value;
            nulls_o[output_place_q]  <= a.is_null;
        end
    end

`ifndef SYNTHESIS
    a_null_has_the_value_0: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(complete_o && writes_q && result.is_null) || result.value == 0);
    a_truth_is_0_or_1: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(complete_o && writes_q && result.is_truth) || result.value <= 1);
`endif

endmodule
