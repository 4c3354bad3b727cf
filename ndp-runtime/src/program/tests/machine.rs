// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each operation on chosen operands.

use std::collections::BTreeSet;

use crate::program::{
    CANONICAL_NAN, Evaluation, EvaluationError, Instruction, Opcode, Outputs, Program, evaluate,
    evaluate_counting,
};

/// `op` of two operands that come from the row: words 1 and 2, with null bits 0 and 1.
fn run(op: Opcode, a: Option<u64>, b: Option<u64>) -> Result<Option<u64>, EvaluationError> {
    let operation = match op {
        Opcode::Not | Opcode::IsNull => Instruction::unary(op, 15, 0),
        _ => Instruction::binary(op, 15, 0, 7),
    };
    let code = vec![
        Instruction::load(0, 8, 0),
        Instruction::load(7, 16, 1),
        operation,
        Instruction::out(0, 15),
        Instruction::new(Opcode::End),
    ];
    let program = Program::new(0, 24, code, vec![]).expect("the program is sound");
    let nulls = u64::from(a.is_none()) | u64::from(b.is_none()) << 1;
    // What stands in a null column is not looked at.
    let words = [nulls, a.unwrap_or(99), b.unwrap_or(99)];
    let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut outputs = Outputs { values: [55; 8], nulls: 0xfe };
    let result = evaluate(&program, &payload, &mut outputs)?;
    assert_eq!(result, Evaluation::Passes);
    if outputs.get(0).is_none() {
        assert_eq!(outputs.values[0], 0, "a null's value is 0");
    }
    Ok(outputs.get(0))
}

#[test]
fn integers_do_not_wrap_around() {
    const MIN: i64 = i64::MIN;
    const MAX: i64 = i64::MAX;
    let cases = [
        (Opcode::AddInt, MAX, 1, None),
        (Opcode::AddInt, MAX, -1, Some(MAX - 1)),
        (Opcode::SubtractInt, MIN, 1, None),
        (Opcode::SubtractInt, 0, MIN, None),
        (Opcode::SubtractInt, -1, MIN, Some(MAX)),
        (Opcode::MultiplyInt, MIN, -1, None),
        (Opcode::MultiplyInt, 1 << 32, 1 << 31, None),
        (Opcode::MultiplyInt, 1 << 32, -(1 << 31), Some(MIN)),
        (Opcode::MinInt, MIN, MAX, Some(MIN)),
        (Opcode::MaxInt, MIN, -1, Some(-1)),
        (Opcode::EqualInt, 3, 3, Some(1)),
        (Opcode::NotEqualInt, 3, 3, Some(0)),
        (Opcode::LessInt, MIN, MAX, Some(1)),
        (Opcode::LessInt, 3, 3, Some(0)),
        (Opcode::LessEqualInt, 3, 3, Some(1)),
        (Opcode::LessEqualInt, MAX, MIN, Some(0)),
    ];
    for (op, a, b, expected) in cases {
        let found = run(op, Some(a.cast_unsigned()), Some(b.cast_unsigned()));
        let expected = expected.ok_or(EvaluationError::Overflow).map(i64::cast_unsigned);
        assert_eq!(found, expected.map(Some), "{op:?} {a} {b}");
    }
}

#[test]
fn floats_are_rounded_to_even_and_ordered_as_sql_does() {
    const NAN: f64 = f64::NAN;
    const INFINITE: f64 = f64::INFINITY;
    let cases = [
        (Opcode::AddFloat, 0.1, 0.2, 0.30000000000000004),
        (Opcode::AddFloat, 9_007_199_254_740_992.0, 1.0, 9_007_199_254_740_992.0),
        (Opcode::AddFloat, -0.0, -0.0, -0.0),
        (Opcode::AddFloat, 5e-324, 5e-324, 1e-323),
        (Opcode::AddFloat, f64::MAX, f64::MAX, INFINITE),
        (Opcode::AddFloat, INFINITE, -INFINITE, NAN),
        (Opcode::SubtractFloat, 1.0, 1.0, 0.0),
        (Opcode::MultiplyFloat, 0.0, -1.0, -0.0),
        (Opcode::MultiplyFloat, 0.0, INFINITE, NAN),
        (Opcode::MultiplyFloat, 2.2250738585072014e-308, 0.5, 1.1125369292536007e-308),
        (Opcode::MinFloat, NAN, 1.0, 1.0),
        (Opcode::MaxFloat, INFINITE, NAN, NAN),
        // Of equal ones the first.
        (Opcode::MinFloat, 0.0, -0.0, 0.0),
        (Opcode::MaxFloat, -0.0, 0.0, -0.0),
    ];
    for (op, a, b, expected) in cases {
        let expected = if expected.is_nan() { CANONICAL_NAN } else { expected.to_bits() };
        let found = run(op, Some(a.to_bits()), Some(b.to_bits()));
        assert_eq!(found, Ok(Some(expected)), "{op:?} {a} {b}");
    }
    // Quiet, signalling and negative: one value.
    for odd in [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000, 0x7fff_ffff_ffff_ffff] {
        for op in [Opcode::AddFloat, Opcode::MaxFloat] {
            assert_eq!(run(op, Some(odd), Some(0)), Ok(Some(CANONICAL_NAN)), "{op:?}");
        }
        let equal = run(Opcode::EqualFloat, Some(odd), Some(CANONICAL_NAN));
        assert_eq!(equal, Ok(Some(1)));
    }
    let order = [-INFINITE, -1.0, -5e-324, 0.0, 5e-324, 1.0, INFINITE, NAN];
    for (i, a) in order.iter().enumerate() {
        for (j, b) in order.iter().enumerate() {
            let of = |op| run(op, Some(a.to_bits()), Some(b.to_bits()));
            assert_eq!(of(Opcode::LessFloat), Ok(Some((i < j).into())), "{a} < {b}");
            assert_eq!(of(Opcode::LessEqualFloat), Ok(Some((i <= j).into())), "{a} <= {b}");
            assert_eq!(of(Opcode::EqualFloat), Ok(Some((i == j).into())), "{a} = {b}");
            assert_eq!(of(Opcode::NotEqualFloat), Ok(Some((i != j).into())), "{a} <> {b}");
        }
    }
    let zeros = run(Opcode::EqualFloat, Some(0), Some((-0.0_f64).to_bits()));
    assert_eq!(zeros, Ok(Some(1)));
}

#[test]
fn truth_has_three_values() {
    let (yes, no, null) = (Some(1), Some(0), None);
    let cases = [
        (yes, yes, yes, yes),
        (yes, no, no, yes),
        (yes, null, null, yes),
        (no, no, no, no),
        (no, null, no, null),
        (null, null, null, null),
    ];
    for (a, b, and, or) in cases {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(run(Opcode::And, a, b), Ok(and), "{a:?} and {b:?}");
            assert_eq!(run(Opcode::Or, a, b), Ok(or), "{a:?} or {b:?}");
        }
    }
    for (a, not, is_null) in [(yes, no, no), (no, yes, no), (null, null, yes)] {
        assert_eq!(run(Opcode::Not, a, yes), Ok(not), "not {a:?}");
        assert_eq!(run(Opcode::IsNull, a, yes), Ok(is_null), "{a:?} is null");
    }
    // Any value but 0 counts as true.
    assert_eq!(run(Opcode::And, Some(2), Some(4)), Ok(yes));
    assert_eq!(run(Opcode::Or, Some(2), null), Ok(yes));
    assert_eq!(run(Opcode::Not, Some(u64::MAX), yes), Ok(no));
}

#[test]
fn a_null_operand_makes_null_and_no_fault() {
    let strict = Opcode::ALL.iter().filter(|op| (0x10..0x40).contains(&(**op as u8)));
    let strict: BTreeSet<u8> = strict.map(|op| *op as u8).collect();
    assert_eq!(strict.len(), 18);
    let most = Some(i64::MAX.cast_unsigned());
    for op in strict.into_iter().filter_map(Opcode::from_code) {
        for (a, b) in [(None, most), (most, None), (None, None)] {
            assert_eq!(run(op, a, b), Ok(None), "{op:?}");
        }
    }
}

fn listing(text: &str) -> Program {
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_filter_ends_the_program_before_what_follows_can_fail() {
    let program = listing(
        "program table 0, rows of 24 bytes or more
         c0 = 0x7fffffffffffffff
         LOAD r0, [8], null 0
         FILTER r0
         CONST r1, c0
         ADDI r1, r1, r1
         OUT o0, r1
         END",
    );
    let row = |null: u8, value: u8| {
        let mut row = [0; 24];
        (row[0], row[8]) = (null, value);
        evaluate(&program, &row, &mut Outputs::default())
    };
    assert_eq!(row(0, 0), Ok(Evaluation::Fails));
    assert_eq!(row(1, 1), Ok(Evaluation::Fails), "a null is not true");
    assert_eq!(row(0, 1), Err(EvaluationError::Overflow));
}

#[test]
fn a_payload_that_is_too_short_is_a_fault() {
    let loads = "program table 0, rows of 24 bytes or more\nLOAD r0, [16], null 3\nEND";
    let fixed = "program table 0, rows of 24 bytes or more\nc0 = 0x1\nc1 = 0x1\n\
                 CMPFIXED r0, [8], c0 x 2\nEND";
    let variable = "program table 0, rows of 16 bytes or more\nc0 = 0x61\n\
                    CMPVAR r0, [10], c0 x 1 bytes\nEND";
    for text in [loads, fixed, variable] {
        let program = listing(text);
        for bytes in [0, 1, 8, 9, 15] {
            let payload = vec![0; bytes];
            let result = evaluate(&program, &payload, &mut Outputs::default());
            let short = bytes < 12 || !text.contains("CMPVAR");
            let expected = if short { Err(EvaluationError::RowTooShort) } else { continue };
            assert_eq!(result, expected, "{bytes} bytes for {text}");
        }
    }
    // The column ends before it begins; then it ends behind the payload.
    let program = listing(variable);
    let mut payload = [0; 20];
    (payload[8], payload[10]) = (3, 2);
    let result = evaluate(&program, &payload, &mut Outputs::default());
    assert_eq!(result, Err(EvaluationError::RowDamaged));
    payload[10] = 5;
    let result = evaluate(&program, &payload, &mut Outputs::default());
    assert_eq!(result, Err(EvaluationError::RowTooShort));
    payload[10] = 4;
    assert_eq!(evaluate(&program, &payload, &mut Outputs::default()), Ok(Evaluation::Passes));
}

#[test]
fn every_fault_has_a_code_of_its_own() {
    let codes: Vec<_> = (0..=u8::MAX).filter_map(EvaluationError::from_code).collect();
    assert_eq!(
        codes.iter().map(|fault| fault.code()).collect::<Vec<_>>(),
        [20, 21, 22, 23, 24, 25]
    );
}

#[test]
fn what_stands_behind_a_filter_that_fails_is_not_executed() {
    let code = vec![
        Instruction::load(0, 8, 0),
        Instruction::filter(0),
        Instruction::out(0, 0),
        Instruction::new(Opcode::End),
    ];
    let program = Program::new(0, 16, code, vec![]).expect("the program is sound");
    let counted = |value: u64| {
        let payload: Vec<u8> = [0, value].iter().flat_map(|word| word.to_le_bytes()).collect();
        evaluate_counting(&program, &payload, &mut Outputs::default())
    };
    assert_eq!(counted(1), Ok((Evaluation::Passes, 4)));
    assert_eq!(counted(0), Ok((Evaluation::Fails, 2)));
}
