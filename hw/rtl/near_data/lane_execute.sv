// SPDX-License-Identifier: MIT OR Apache-2.0
// Executes the instructions of a lane, one after the other.
//
// Contract: `valid_i` and `instruction_i` hold until `complete_o`, which comes in the same cycle
// for most instructions. Products, sums of floats and their order take several clocks, and
// a comparison with constants one for each word. `row_word_i` is the payload's word at the
// instruction's place plus `word_o` words. With `complete_o` comes the decision of the
// instruction: the row passes, fails, or ends with a fault. Registers keep their contents
// between rows, since a valid program writes each before it reads it.
module lane_execute (
    input  logic                      clk_i,
    input  logic                      rst_ni,

    input  logic                      valid_i,
    input  program_pkg::instruction_t instruction_i,
    output logic                      complete_o,
    output logic [5:0]                word_o,      // of a comparison: the word that is compared
    output logic                      passes_o,
    output logic                      fails_o,
    output logic [7:0]                fault_o,     // 0: none

    input  logic [15:0]               bytes_i,     // of the payload
    input  logic [63:0]               row_word_i,
    input  logic [63:0]               bitmap_i[16],
    output logic [5:0]                constant_address_o,
    input  logic [63:0]               constant_i,

    output logic [63:0]               values_o[8],
    output logic [7:0]                nulls_o
);

    import program_pkg::*;

    opcode_t op;
    assign op = opcode_t'(instruction_i.op);

    // The registers.
    word_t registers_q[16];
    word_t a, b, result;
    logic  any_null, writes;
    assign a        = registers_q[instruction_i.a];
    assign b        = registers_q[instruction_i.b];
    assign any_null = a.is_null || b.is_null;

    // Columns: whether the payload has all of it, and its null bit.
    logic        is_compare, nullable, bitmap_bit, too_short, bad_bit, column_null;
    logic [16:0] column_end;
    assign is_compare  = op == CompareFixed;
    assign nullable    = instruction_i.y != NeverNull;
    assign bitmap_bit  = bitmap_i[instruction_i.y[9:6]][instruction_i.y[5:0]];
    assign column_null = nullable && bitmap_bit;
    assign bad_bit     = nullable && instruction_i.y[15:10] != 0;
    assign column_end  = 17'(instruction_i.x)
        + (is_compare ? 17'({instruction_i.z[11:6], 3'b000}) : 17'd8);
    assign too_short   = column_end > 17'(bytes_i)
        || nullable && 16'(instruction_i.y[15:3]) >= bytes_i;

    // How the row ends, which is decided below.
    logic [7:0] fault;

    // Steps of an instruction that takes several clocks.
    logic [5:0] step_q;
    logic       first_step;
    assign first_step = step_q == 0;
    assign word_o     = step_q;
    always_ff @(posedge clk_i) begin
        step_q <= rst_ni && valid_i && !complete_o ? step_q + 1'b1 : '0;
    end

    // A comparison with constants, byte 0 of a word the most significant. The first word that
    // differs decides.
    function automatic logic [63:0] reversed(input logic [63:0] bytes);
        return {<<8{bytes}};
    endfunction

    typedef enum logic [1:0] {
        Same,
        Less,
        Greater
    } order_t;

    order_t order_q, order;
    logic   last_word;
    assign last_word          = step_q == instruction_i.z[11:6] - 1'b1;
    assign constant_address_o = is_compare
        ? instruction_i.z[5:0] + step_q : instruction_i.x[5:0];
    always_comb begin
        if (!first_step && order_q != Same) order = order_q;
        else if (reversed(row_word_i) < reversed(constant_i)) order = Less;
        else if (row_word_i != constant_i) order = Greater;
        else if (last_word && instruction_i.b[0]) order = Less;
        else order = Same;
    end
    always_ff @(posedge clk_i) begin
        if (valid_i && is_compare) order_q <= order;
    end

    function automatic word_t order_word(input order_t found);
        case (found)
            Less:    return '{is_null: 1'b0, value: '1};
            Greater: return '{is_null: 1'b0, value: 64'd1};
            default: return '{is_null: 1'b0, value: '0};
        endcase
    endfunction

    // The order of floats: as keys that compare as signed integers, in a clock of their own. What
    // is no number is the greatest, and the two zeros are one.
    function automatic logic signed [63:0] float_key(input logic [63:0] x);
        if (float_pkg::is_nan(x)) return 64'sh7fff_ffff_ffff_ffff;
        if (float_pkg::is_zero(x)) return '0;
        return x[63] ? ~{1'b0, x[62:0]} : x;
    endfunction

    logic signed [63:0] key_a_q, key_b_q;
    logic is_float_order, float_less, float_equal;
    assign float_less  = key_a_q < key_b_q;
    assign float_equal = key_a_q == key_b_q;
    always_ff @(posedge clk_i) begin
        if (valid_i && is_float_order && first_step) begin
            key_a_q <= float_key(a.value);
            key_b_q <= float_key(b.value);
        end
    end

    // What MINF and MAXF choose may be another bit pattern of what is no number.
    function automatic word_t float_word(input logic [63:0] x);
        return '{is_null: 1'b0, value: float_pkg::is_nan(x) ? float_pkg::NotANumber : x};
    endfunction

    // Arithmetic of several clocks.
    logic [1:0]  operation;
    logic [63:0] arithmetic_result;
    logic        is_arithmetic, arithmetic_done, product_overflow;
    always_comb begin
        case (op)
            AddFloat:      operation = 2'd1;
            SubtractFloat: operation = 2'd2;
            MultiplyFloat: operation = 2'd3;
            default:       operation = 2'd0;
        endcase
    end

    arithmetic_unit i_arithmetic_unit (
        .clk_i,
        .rst_ni,
        .valid_i    (valid_i && is_arithmetic && !any_null && first_step),
        .operation_i(operation),
        .a_i        (a.value),
        .b_i        (b.value),
        .done_o     (arithmetic_done),
        .result_o   (arithmetic_result),
        .overflow_o (product_overflow)
    );

    assign is_arithmetic  = op inside {MultiplyInt, AddFloat, SubtractFloat, MultiplyFloat};
    assign is_float_order = op inside {
        MinFloat, MaxFloat, EqualFloat, NotEqualFloat, LessFloat, LessEqFloat
    };

    always_comb begin
        complete_o = valid_i;
        if (is_arithmetic && !any_null) complete_o = valid_i && arithmetic_done;
        if (is_float_order && !any_null) complete_o = valid_i && !first_step;
        if (is_compare && fault == 0 && !column_null) complete_o = valid_i && last_word;
    end

    // Sums of integers.
    logic [63:0] sum, difference;
    logic        sum_overflow, difference_overflow, integer_less;
    assign sum                 = a.value + b.value;
    assign difference          = a.value - b.value;
    assign sum_overflow        = a.value[63] == b.value[63] && sum[63] != a.value[63];
    assign difference_overflow = a.value[63] != b.value[63] && difference[63] != a.value[63];
    assign integer_less        = $signed(a.value) < $signed(b.value);

    // A null counts as neither true nor false; any value but 0 is true.
    logic a_true, b_true, a_false, b_false;
    assign a_true  = a.value != 0;
    assign b_true  = b.value != 0;
    assign a_false = !a.is_null && !a_true;
    assign b_false = !b.is_null && !b_true;

    always_comb begin
        result = NullWord;
        writes = 1'b1;
        case (op)
            Load:          if (!column_null) result = '{is_null: 1'b0, value: row_word_i};
            CompareFixed:  if (!column_null) result = order_word(order);
            Constant:      result = '{is_null: 1'b0, value: constant_i};
            Null:          result = NullWord;
            And: begin
                if (a_false || b_false) result = truth(1'b0);
                else if (!any_null) result = truth(1'b1);
            end
            Or: begin
                if (a_true || b_true) result = truth(1'b1);
                else if (!any_null) result = truth(1'b0);
            end
            Not:           if (!a.is_null) result = truth(!a_true);
            IsNull:        result = truth(a.is_null);
            default: begin
                if (any_null) result = NullWord;
                else result = operate();
                writes = !(op inside {End, Filter, Output});
            end
        endcase
    end

    // The operations whose result is null when an operand is.
    function automatic word_t operate();
        logic [63:0] value;
        value = '0;
        case (op)
            AddInt:        value = sum;
            SubtractInt:   value = difference;
            MinInt:        value = integer_less ? a.value : b.value;
            MaxInt:        value = integer_less ? b.value : a.value;
            EqualInt:      value = 64'(a.value == b.value);
            NotEqualInt:   value = 64'(a.value != b.value);
            LessInt:       value = 64'(integer_less);
            LessEqualInt:  value = 64'(integer_less || a.value == b.value);
            EqualFloat:    value = 64'(float_equal);
            NotEqualFloat: value = 64'(!float_equal);
            LessFloat:     value = 64'(float_less);
            LessEqFloat:   value = 64'(float_less || float_equal);
            MinFloat:      return float_word(float_less || float_equal ? a.value : b.value);
            MaxFloat:      return float_word(float_less ? b.value : a.value);
            MultiplyInt, AddFloat, SubtractFloat, MultiplyFloat:
                           value = arithmetic_result;
            default:       value = '0;
        endcase
        return '{is_null: 1'b0, value: value};
    endfunction

    always_comb begin
        fault = '0;
        case (op)
            Load, CompareFixed: begin
                if (bad_bit) fault = BadInstruction;
                else if (too_short) fault = RowTooShort;
            end
            AddInt:      if (!any_null && sum_overflow) fault = Overflow;
            SubtractInt: if (!any_null && difference_overflow) fault = Overflow;
            MultiplyInt: if (!any_null && product_overflow) fault = Overflow;
            End, Constant, Null, Filter, Output, MinInt, MaxInt,
            AddFloat, SubtractFloat, MultiplyFloat, MinFloat, MaxFloat,
            EqualInt, NotEqualInt, LessInt, LessEqualInt,
            EqualFloat, NotEqualFloat, LessFloat, LessEqFloat,
            And, Or, Not, IsNull: fault = '0;
            default:     fault = BadInstruction;
        endcase
    end
    assign fault_o  = fault;
    assign passes_o = op == End;
    assign fails_o  = op == Filter && !a_true;

    always_ff @(posedge clk_i) begin
        if (complete_o && writes) registers_q[instruction_i.dst] <= result;
        if (complete_o && op == Output) begin
            values_o[instruction_i.z[2:0]] <= a.value;
            nulls_o[instruction_i.z[2:0]]  <= a.is_null;
        end
    end

`ifndef SYNTHESIS
    a_null_has_the_value_0: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(complete_o && writes && result.is_null) || result.value == 0);
`endif

endmodule
