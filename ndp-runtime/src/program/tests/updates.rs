// SPDX-License-Identifier: MIT OR Apache-2.0
//! New rows against the reference.

use lockdb::schema::{RowBuffer, RowRef, Type, Value};
use rand::RngExt;
use rand::seq::SliceRandom;

use super::draw::{self, Kind};
use super::reference::Tree;
use super::{every_type, random};
use crate::program::{
    Assignment, CompileErrorKind, EvaluationError, Outputs, apply, check_assignments,
    compile_update, evaluate,
};

#[test]
fn new_rows_are_as_the_reference_makes_them() {
    let schema = every_type();
    let assignable: Vec<usize> = (1..schema.columns().len() - 1).collect();
    let (seeds, mut changed) = (seeds::of!(1_500), 0);
    for seed in &seeds {
        let mut random = random(seed);
        let mut columns = assignable.clone();
        columns.shuffle(&mut random);
        columns.truncate(random.random_range(1..5));
        let assigned: Vec<(usize, Tree)> = columns
            .into_iter()
            .map(|column| {
                let kind = match schema.columns()[column].kind {
                    Type::Int64 => Kind::Int,
                    Type::Float64 => Kind::Float,
                    Type::Bool => Kind::Bool,
                    _ => {
                        let value = draw::value(&mut random, &schema.columns()[column]);
                        return (column, Tree::Literal(value));
                    }
                };
                (column, draw::tree(&mut random, &schema, kind, 2))
            })
            .collect();
        let name = |column: usize| &schema.columns()[column].name;
        let text: Vec<_> = assigned
            .iter()
            .map(|(column, tree)| format!("{} = {}", name(*column), tree.text(&schema)))
            .collect();
        let text = text.join(", ");
        println!("{text}");
        let update = match compile_update(0, &schema, None, &text) {
            Ok(update) => update,
            Err(error) => {
                let rows: Vec<_> = (0..8).map(|_| draw::row(&mut random, &schema)).collect();
                let refused = assigned.iter().any(|(column, tree)| {
                    let null = |row: &Vec<Value>| tree.evaluate(row) == Ok(Value::Null);
                    !schema.columns()[*column].nullable && rows.iter().all(null)
                });
                match error.kind {
                    CompileErrorKind::TooLarge => {}
                    CompileErrorKind::OutOfRange => {
                        assert!(assigned.iter().any(|(_, tree)| tree.has_constant_overflow()));
                    }
                    _ => assert!(refused, "{error}"),
                }
                continue;
            }
        };
        check_assignments(&update.assignments, &schema, update.program.outputs())
            .expect("what was compiled fits the table");
        for _ in 0..8 {
            let values = draw::row(&mut random, &schema);
            changed += usize::from(compare(&update, &assigned, &values));
        }
    }
    assert!(changed > 0 || !seeds.is_whole(), "no row was changed");
}

/// One row; whether there is a new one.
fn compare(
    update: &crate::program::CompiledUpdate,
    assigned: &[(usize, Tree)],
    values: &[Value],
) -> bool {
    let schema = every_type();
    let old = RowBuffer::from_values(&schema, values).expect("the row was drawn for the schema");
    let mut outputs = Outputs::default();
    let evaluated = evaluate(&update.program, old.bytes(), &mut outputs);
    let mut expected = values.to_vec();
    for (column, tree) in assigned {
        match tree.evaluate(values) {
            // An integer for a column of floats is a constant, and widened.
            Ok(Value::Int(value)) if schema.columns()[*column].kind == Type::Float64 => {
                expected[*column] = Value::Float(value as f64);
            }
            Ok(value) => expected[*column] = value,
            Err(_) => {
                assert_eq!(evaluated, Err(EvaluationError::Overflow));
                return false;
            }
        }
    }
    evaluated.expect("nothing overflows");
    let mut new = RowBuffer::new(&schema);
    let applied = apply(&update.assignments, &schema, old.bytes(), &outputs, &mut new);
    match RowBuffer::from_values(&schema, &expected) {
        Ok(expected) => {
            assert_eq!(applied, Ok(()));
            assert_eq!(new.bytes(), expected.bytes(), "{:?}", new.as_row());
            true
        }
        Err(error) => {
            assert_eq!(applied, Err(EvaluationError::NullNotAllowed), "{error}");
            false
        }
    }
}

#[test]
fn what_cannot_be_a_new_row_is_a_fault() {
    let schema = every_type();
    let row = RowBuffer::new(&schema);
    let mut new = RowBuffer::new(&schema);
    let outputs = Outputs::default();
    let long = Assignment::Constant { column: 11, value: Value::Text("x".repeat(8_000)) };
    let mut wide = RowBuffer::new(&schema);
    wide.set(10, "y".repeat(100)).expect("it fits");
    let apply = |assignment: &Assignment, payload: &[u8], new: &mut RowBuffer| {
        apply(std::slice::from_ref(assignment), &schema, payload, &outputs, new)
    };
    assert_eq!(apply(&long, wide.bytes(), &mut new), Err(EvaluationError::RowTooLong));
    let short = &row.bytes()[..row.bytes().len() - 8];
    assert_eq!(apply(&long, short, &mut new), Err(EvaluationError::RowDamaged));
    assert_eq!(apply(&long, &[0xff; 200], &mut new), Err(EvaluationError::RowDamaged));
    // A truth value of a hostile program's is one all the same.
    let truth = Assignment::Output { column: 6, output: 0 };
    let outputs = Outputs { values: [77; 8], nulls: 0 };
    super::super::apply(&[truth], &schema, row.bytes(), &outputs, &mut new).expect("77 is true");
    assert!(RowRef::new(&schema, new.bytes()).bool(6));
    schema.check(new.bytes()).expect("it is a row");
}

#[test]
fn assignments_that_do_not_fit_a_table_are_refused() {
    let schema = every_type();
    let constant = |column, value| Assignment::Constant { column, value };
    let output = |column, output| Assignment::Output { column, output };
    let cases: [(&[Assignment], &str); 8] = [
        (&[constant(99, Value::Null)], "assignment 0: found column 99, expected a column"),
        (&[constant(0, Value::Int(1))], "found column \"id\", expected a column of no key"),
        (&[constant(13, Value::Int(1))], "found column \"keyed\", expected a column of no key"),
        (&[output(1, 0), output(1, 1)], "assignment 1: found column \"i\" again"),
        (&[output(1, 2)], "found output 2, expected an output of the program"),
        (&[output(8, 0)], "found an output for a column of type Fixed(5)"),
        (&[constant(1, Value::Null)], "found a null, expected Int64"),
        (&[constant(8, Value::Text("abcdef".into()))], "has 6 bytes, expected at most 5"),
    ];
    for (assignments, expected) in cases {
        let error = check_assignments(assignments, &schema, 2).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}, expected {expected}");
    }
}
