//! What is broken, and where. The build includes this file as well.

/// A place in `hw/rtl` where the lanes are broken on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What is wrong.
    pub name: &'static str,
    /// The file in `hw/rtl`.
    pub file: &'static str,
    /// Text that stands in it once, with `{}` for the expression.
    pub place: &'static str,
    /// The expression that stands there.
    pub right: &'static str,
    /// What is computed instead.
    pub wrong: &'static str,
}

const fn fault(
    name: &'static str,
    file: &'static str,
    place: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Fault {
    Fault { name, file, place, right, wrong }
}

/// `fault_i` is 1 for the first.
pub const FAULTS: [Fault; 31] = [
    fault(
        "the larger operand is found by its exponent",
        "float_add.sv",
        "assign swap = {};",
        "a_i[62:0] < b_i[62:0]",
        "a_i[62:52] < b_i[62:52]",
    ),
    fault(
        "a sum is normalised below the smallest exponent",
        "float_add.sv",
        "assign distance = {};",
        "11'(zeros_q) <= exponent4_q ? zeros_q : exponent4_q[6:0]",
        "zeros_q",
    ),
    fault(
        "what cancels keeps its sign",
        "float_add.sv",
        "rounded({}, exponent5_q",
        "sign_q[5] && !cancelled5_q",
        "sign_q[5]",
    ),
    fault(
        "a sum of infinities of two signs is one",
        "float_add.sv",
        "return {} ? Infinity : Nan;",
        "a.sign == b.sign",
        "1'b1",
    ),
    fault(
        "bits below a product's guard are lost",
        "float_multiply.sv",
        "return {shifted[105:52], {}};",
        "shifted[51:0] != 0",
        "1'b0",
    ),
    fault(
        "a product's exponent is one less",
        "float_multiply.sv",
        "13'(biased_exponent(b)) - {};",
        "13'sd1022",
        "13'sd1023",
    ),
    fault(
        "zero times infinity is infinity",
        "float_multiply.sv",
        "return {} ? Nan : Infinity;",
        "is_zero(a) || is_zero(b)",
        "1'b0",
    ),
    fault(
        "the smallest integer is no product",
        "integer_multiply.sv",
        "|| {};",
        "magnitude_q[63] && !(negative3_q && magnitude_q[62:0] == 0)",
        "magnitude_q[63]",
    ),
    fault(
        "a half of a product is not looked at",
        "integer_multiply.sv",
        "high_q != 0 || {} ||",
        "cross_ab_q[63:32] != 0",
        "1'b0",
    ),
    fault(
        "a difference is a sum",
        "arithmetic_unit.sv",
        "b_i[63] ^ ({})",
        "operation_i == Difference",
        "1'b0",
    ),
    fault(
        "a column that ends with the row is too short",
        "lane_execute.sv",
        "assign too_short   = {}",
        "column_end > 17'(bytes_i)",
        "column_end >= 17'(bytes_i)",
    ),
    fault(
        "a null bit behind the row is read",
        "lane_execute.sv",
        "|| nullable && {};",
        "16'(instruction_i.y[15:3]) >= bytes_i",
        "1'b0",
    ),
    fault(
        "the bitmap is not looked at",
        "lane_execute.sv",
        "assign column_null = {};",
        "nullable && bitmap_bit",
        "1'b0",
    ),
    fault(
        "words compare as little-endian numbers",
        "lane_execute.sv",
        "else if ({}) order = Less;",
        "reversed(row_word_i) < reversed(constant_i)",
        "row_word_i < constant_i",
    ),
    fault(
        "the last word of a comparison decides",
        "lane_execute.sv",
        "if ({}) order = order_q;",
        "!first_step && order_q != Same",
        "1'b0",
    ),
    fault(
        "a longer constant equals its beginning",
        "lane_execute.sv",
        "else if ({}) order = Less;\n        else order",
        "last_word && instruction_i.b[0]",
        "1'b0",
    ),
    fault(
        "minus zero is less than zero",
        "lane_execute.sv",
        "if ({}) return '0;",
        "float_pkg::is_zero(x)",
        "1'b0",
    ),
    fault(
        "what is no number keeps its bits",
        "lane_execute.sv",
        "value: {}};\n    endfunction\n\n    // Arithmetic",
        "float_pkg::is_nan(x) ? float_pkg::NotANumber : x",
        "x",
    ),
    fault(
        "a sum overflows in silence",
        "lane_execute.sv",
        "assign sum_overflow        = {};",
        "a.value[63] == b.value[63] && sum[63] != a.value[63]",
        "1'b0",
    ),
    fault(
        "a null on the right counts as its value",
        "lane_execute.sv",
        "assign any_null = {};",
        "a.is_null || b.is_null",
        "a.is_null",
    ),
    fault(
        "false and null is null",
        "lane_execute.sv",
        "if ({}) result = truth(1'b0);",
        "a_false || b_false",
        "a_false",
    ),
    fault(
        "a null is admitted by a filter",
        "lane_execute.sv",
        "op == Filter && {};",
        "!a_true",
        "a_false",
    ),
    fault(
        "nulls of columns from 512 on are missed",
        "program_lane.sv",
        "receives_payload && {}) bitmap_q[8+n]",
        "beat_q == 1",
        "1'b0",
    ),
    fault(
        "a comparison stays in its first beat",
        "program_lane.sv",
        "16'({{}, 3'b000})) >> 6",
        "word + 6'd1",
        "6'd0",
    ),
    fault(
        "null bits of another program are shown",
        "program_lane.sv",
        "header.nulls  = {};",
        "nulls & ~(8'hff << outputs_i)",
        "nulls",
    ),
    fault(
        "a fault of the program is not told",
        "program_lane.sv",
        "if ({}) header_q.code <= code;",
        "ends && code != 0",
        "1'b0",
    ),
    fault(
        "a payload has a beat too few",
        "program_lane.sv",
        "packet_last_o = {};\n        if",
        "beat_q == beats - 1'b1",
        "beat_q == beats - 7'd2",
    ),
    fault(
        "a fault of the walk is taken for a row",
        "program_lane.sv",
        "receives_header && {}) when_whole",
        "row_header.code != 0",
        "1'b0",
    ),
    fault(
        "beats of packets mix",
        "program_lanes.sv",
        "if (packet_moves) sending_q <= {};",
        "!packet_last[sender]",
        "1'b0",
    ),
    fault(
        "a beat is written over one that was not taken",
        "program_lanes.sv",
        "assign output_free  = {};",
        "!m_axis_row_tvalid || m_axis_row_tready",
        "1'b1",
    ),
    fault(
        "faults count as rows",
        "program_lanes.sv",
        "emitted_o <= rst_ni && {};",
        "first_taken && !packet_faulty",
        "first_taken",
    ),
];
