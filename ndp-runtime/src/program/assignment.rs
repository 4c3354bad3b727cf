// SPDX-License-Identifier: MIT OR Apache-2.0
//! New rows from old ones: what an update's outputs are assigned to.

use lockdb::schema::{RowBuffer, RowError, RowRef, Schema, Type, Value, ValueRef};

use super::{EvaluationError, Outputs};

/// The value that an update assigns to one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Assignment {
    /// An output of the program.
    Output {
        /// The number of the column, which is `Int64`, `Float64` or `Bool`.
        column: u16,
        /// The output.
        output: u8,
    },
    /// The same value for every row, of any type.
    Constant {
        /// The number of the column.
        column: u16,
        /// The value; null only if the column admits it.
        value: Value,
    },
}

impl Assignment {
    /// The number of the column that is assigned to.
    pub fn column(&self) -> u16 {
        match self {
            Self::Output { column, .. } | Self::Constant { column, .. } => *column,
        }
    }
}

/// Makes the new row of the old one's payload, which may be any bytes: `row` becomes it.
///
/// # Errors
/// When the payload is no row of the schema, a column that admits no nulls would be null, or the row
/// would be too long; `row` then holds a row that means nothing.
///
/// # Panics
/// When an assignment does not fit the schema, see [`check_assignments`].
pub fn apply(
    assignments: &[Assignment],
    schema: &Schema,
    payload: &[u8],
    outputs: &Outputs,
    row: &mut RowBuffer,
) -> Result<(), EvaluationError> {
    schema.check(payload).map_err(|_| EvaluationError::RowDamaged)?;
    row.copy_from(RowRef::new(schema, payload));
    for assignment in assignments {
        let column = usize::from(assignment.column());
        let value = match assignment {
            Assignment::Constant { value, .. } => value.as_ref(),
            Assignment::Output { output, .. } => match outputs.get(*output) {
                None => ValueRef::Null,
                Some(bits) => value_of(schema.columns()[column].kind, bits),
            },
        };
        row.set_ref(column, value).map_err(|error| match error {
            RowError::Null { .. } => EvaluationError::NullNotAllowed,
            RowError::TooLong { .. } => EvaluationError::RowTooLong,
            error => panic!("the assignment does not fit its column: {error}"),
        })?;
    }
    Ok(())
}

/// The value that an output's bits are in a column of this type.
fn value_of(kind: Type, bits: u64) -> ValueRef<'static> {
    match kind {
        Type::Int64 => ValueRef::Int(bits.cast_signed()),
        Type::Float64 => ValueRef::Float(f64::from_bits(bits)),
        Type::Bool => ValueRef::Bool(bits != 0),
        other => panic!("an output is assigned to a column of type {other}"),
    }
}

/// Whether assignments of unknown origin fit a schema and a program of so many outputs.
///
/// # Errors
/// When one does not: what it is, and what was expected.
pub fn check_assignments(
    assignments: &[Assignment],
    schema: &Schema,
    outputs: u8,
) -> Result<(), AssignmentError> {
    let mut row = RowBuffer::new(schema);
    for (index, assignment) in assignments.iter().enumerate() {
        let wrong = |found: String, expected: &str| {
            Err(AssignmentError { index, found, expected: expected.into() })
        };
        let number = assignment.column();
        let Some(column) = schema.columns().get(usize::from(number)) else {
            return wrong(format!("column {number}"), "a column of the table");
        };
        let keys = schema.indexes().iter().flat_map(|index| &index.columns);
        if schema.primary_key().iter().chain(keys).any(|key| *key == usize::from(number)) {
            return wrong(format!("column {:?}", column.name), "a column of no key");
        }
        if assignments[..index].iter().any(|other| other.column() == number) {
            return wrong(format!("column {:?} again", column.name), "each column once");
        }
        match assignment {
            Assignment::Output { output, .. } => {
                if *output >= outputs {
                    return wrong(format!("output {output}"), "an output of the program");
                }
                if !matches!(column.kind, Type::Int64 | Type::Float64 | Type::Bool) {
                    let found = format!("an output for a column of type {}", column.kind);
                    return wrong(found, "Int64, Float64 or Bool");
                }
            }
            Assignment::Constant { value, .. } => {
                if let Err(error) = row.set_ref(usize::from(number), value.as_ref()) {
                    return wrong(error.to_string(), "a value of the column");
                }
            }
        }
    }
    Ok(())
}

/// Why assignments do not fit a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("assignment {index}: found {found}, expected {expected}")]
pub struct AssignmentError {
    index: usize,
    found: String,
    expected: String,
}
