// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiled expressions against the reference.

use std::collections::BTreeSet;

use lockdb::schema::{RowBuffer, Value};
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::draw::{self, Kind};
use super::reference::Tree;
use super::{every_type, random};
use crate::program::{
    CompileErrorKind, Evaluation, EvaluationError, Instruction, Opcode, Outputs, Program,
    compile_select, evaluate,
};

const ROWS: usize = 12;

#[test]
fn compiled_expressions_are_as_the_reference_evaluates_them() {
    let schema = every_type();
    let (mut used, mut compiled, mut passed, mut faults) = (BTreeSet::new(), 0, 0, 0);
    let (seeds, mut row) = (seeds::of!(3_000), RowBuffer::new(&schema));
    for seed in &seeds {
        let mut random = random(seed);
        let depth = random.random_range(1..5);
        let predicate =
            random.random_ratio(4, 5).then(|| draw::tree(&mut random, &schema, Kind::Bool, depth));
        let outputs: Vec<Tree> = (0..random.random_range(0..4))
            .map(|_| {
                let kinds = [Kind::Int, Kind::Float, Kind::Bool];
                let kind = *kinds.choose(&mut random).expect("there are some");
                draw::tree(&mut random, &schema, kind, depth)
            })
            .collect();
        let text = predicate.as_ref().map(|tree| tree.text(&schema));
        let texts: Vec<_> = outputs.iter().map(|tree| tree.text(&schema)).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        println!("{text:?} {texts:?}");
        let result = compile_select(7, &schema, text.as_deref(), &texts);
        let overflows = predicate.iter().chain(&outputs).any(Tree::has_constant_overflow);
        let program = match result {
            Ok(compiled) => compiled.program,
            Err(error) if overflows => {
                assert_eq!(error.kind, CompileErrorKind::OutOfRange, "{error}");
                continue;
            }
            Err(error) => {
                assert_eq!(error.kind, CompileErrorKind::TooLarge, "{error}");
                continue;
            }
        };
        assert!(!overflows, "a constant is out of range");
        compiled += 1;
        used.extend(program.instructions().iter().map(|instruction| instruction.op as u8));
        check_forms(&program, &schema);
        for _ in 0..ROWS {
            let values = draw::row(&mut random, &schema);
            row.fill(&values).expect("the row was drawn for the schema");
            match compare(&program, predicate.as_ref(), &outputs, &values, row.bytes()) {
                Ok(Evaluation::Passes) => passed += 1,
                Ok(Evaluation::Fails) => {}
                Err(_) => faults += 1,
            }
        }
    }
    if seeds.is_whole() {
        let all = seeds.count();
        let missing: Vec<_> =
            Opcode::ALL.iter().filter(|op| !used.contains(&(**op as u8))).collect();
        assert!(missing.is_empty(), "no program had {missing:?}");
        assert!(compiled > all / 2, "{compiled} of {all} compiled");
        assert!(passed > 0 && faults > 0, "{passed} rows passed, {faults} were faulty");
    }
}

/// One row through the program and the reference.
fn compare(
    program: &Program,
    predicate: Option<&Tree>,
    outputs: &[Tree],
    values: &[Value],
    payload: &[u8],
) -> Result<Evaluation, EvaluationError> {
    let mut found = Outputs::default();
    let result = evaluate(program, payload, &mut found);
    let expected = match predicate.map_or(Ok(true), |tree| tree.holds(values)) {
        Ok(false) => Ok(None),
        Ok(true) => {
            outputs.iter().map(|tree| tree.evaluate(values)).collect::<Result<_, _>>().map(Some)
        }
        Err(overflow) => Err(overflow),
    };
    let expected: Result<Option<Vec<Value>>, _> = expected;
    match expected {
        Err(_) => assert_eq!(result, Err(EvaluationError::Overflow), "{program}{values:?}"),
        Ok(None) => assert_eq!(result, Ok(Evaluation::Fails), "{program}{values:?}"),
        Ok(Some(expected)) => {
            assert_eq!(result, Ok(Evaluation::Passes), "{program}{values:?}");
            for (output, expected) in expected.iter().enumerate() {
                let place = format!("output {output} is {expected:?}: {values:?}\n{program}");
                assert_eq!(found.get(output as u8), bits(expected), "{place}");
            }
        }
    }
    result
}

pub fn bits(value: &Value) -> Option<u64> {
    match value {
        Value::Null => None,
        Value::Int(value) => Some(value.cast_unsigned()),
        Value::Float(value) => Some(value.to_bits()),
        Value::Bool(value) => Some((*value).into()),
        other => panic!("{other:?} is in no register"),
    }
}

/// As an image and as a listing it is the same program.
fn check_forms(program: &Program, schema: &lockdb::schema::Schema) {
    let image = program.encode();
    assert_eq!(Program::decode(&image[..], Some((7, schema))), Ok(program.clone()));
    let listing = program.to_string();
    assert_eq!(listing.parse::<Program>().as_ref(), Ok(program), "{listing}");
    assert!(program.instructions().iter().all(|i| Instruction::decode(i.encode()) == Some(*i)));
}

/// Two rows of a wide table are of one value in columns beyond the first word of the null bitmap.
#[test]
fn columns_beyond_the_first_64_have_their_null_bits() {
    use lockdb::schema::{Schema, Type};
    let mut builder = Schema::builder("wide").column("id", Type::Int64).primary_key(&["id"]);
    for number in 1..200 {
        builder = builder.nullable_column(format!("c{number}"), Type::Int64);
    }
    let schema = builder.build().expect("the schema is sound");
    let mut row = RowBuffer::new(&schema);
    row.set_int(150, 3);
    let compiled = compile_select(0, &schema, Some("c151 is null"), &["c150", "c149"]);
    let program = compiled.expect("both are columns").program;
    let mut outputs = Outputs::default();
    assert_eq!(evaluate(&program, row.bytes(), &mut outputs), Ok(Evaluation::Passes));
    assert_eq!((outputs.get(0), outputs.get(1)), (Some(3), None));
}

/// Texts that begin alike: with more than the column has room for, and with zeros, as its padding is.
#[test]
fn fixed_columns_are_compared_as_the_texts_that_they_hold() {
    let schema = every_type();
    let texts = ["", "a", "ab", "abcde", "b", "é"];
    let literals = ["", "\0", "a", "a\0", "a\0b", "abcde", "abcde\0", "abcdef", "é\0", "é"];
    let mut row = RowBuffer::new(&schema);
    for text in texts {
        row.set(8, text).expect("it fits");
        for literal in literals {
            let outputs = [format!("x < '{literal}'"), format!("x = '{literal}'")];
            let outputs = [outputs[0].as_str(), outputs[1].as_str()];
            let compiled = compile_select(0, &schema, None, &outputs).expect("it is sound");
            let mut found = Outputs::default();
            evaluate(&compiled.program, row.bytes(), &mut found).expect("nothing overflows");
            let expected = [text < literal, text == literal].map(|truth| Some(u64::from(truth)));
            assert_eq!([found.get(0), found.get(1)], expected, "{text:?} and {literal:?}");
        }
    }
}
