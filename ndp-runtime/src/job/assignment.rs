// SPDX-License-Identifier: MIT OR Apache-2.0
//! The assignments of an update, as bytes.

use lockdb::schema::{MAX_COLUMNS, Value};

use super::error::{Check, JobError};
use crate::program::{Assignment, MAX_OUTPUTS};

layout! {
    /// One assignment; a constant's bytes follow, padded with zeros to a multiple of 8.
    pub struct AssignmentHead: 8 {
        /// The number of the column.
        pub column: u16,
        /// 0: an output. Else a constant: 1 null, 2 Int64, 3 Float64, 4 Bool (8 bytes each), 5 text,
        /// 6 bytes.
        pub source: u8,
        /// The output.
        pub output: u8,
        /// Bytes of the constant.
        pub bytes: u32,
    }
}

/// The bytes of assignments.
pub(super) fn encode(assignments: &[Assignment]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for assignment in assignments {
        let column = assignment.column();
        match assignment {
            Assignment::Output { output, .. } => {
                let head = AssignmentHead { column, output: *output, ..AssignmentHead::default() };
                bytes.extend_from_slice(&head.encode());
            }
            Assignment::Constant { value, .. } => {
                let (source, value) = constant(value);
                let length = value.len() as u32;
                let head = AssignmentHead { column, source, output: 0, bytes: length };
                bytes.extend_from_slice(&head.encode());
                bytes.extend_from_slice(&value);
                bytes.resize(bytes.len().next_multiple_of(8), 0);
            }
        }
    }
    bytes
}

fn constant(value: &Value) -> (u8, Vec<u8>) {
    match value {
        Value::Null => (1, Vec::new()),
        Value::Int(value) => (2, value.to_le_bytes().into()),
        Value::Float(value) => (3, value.to_bits().to_le_bytes().into()),
        Value::Bool(value) => (4, u64::from(*value).to_le_bytes().into()),
        Value::Text(text) => (5, text.as_bytes().into()),
        Value::Bytes(bytes) => (6, bytes.to_vec()),
    }
}

/// Reads assignments, which stand at `at` of a descriptor. Whether they fit a table is left to
/// [`check_assignments`](crate::program::check_assignments).
///
/// # Errors
/// The first field that cannot be.
pub(super) fn decode(mut bytes: &[u8], at: usize) -> Result<Vec<Assignment>, JobError> {
    let mut assignments = Vec::new();
    let end = at + bytes.len();
    while !bytes.is_empty() {
        let check = Check::of("assignments", AssignmentHead::FIELDS, (end - bytes.len()) as u64);
        let left = bytes.len() as u64;
        let Some((head, rest)) = bytes.split_first_chunk() else {
            return Err(check.fault("column", left, "8 bytes of an assignment"));
        };
        let head = AssignmentHead::decode(head);
        check.that(assignments.len() < MAX_COLUMNS, "column", left, "no more assignments")?;
        let length = (head.bytes as usize).checked_next_multiple_of(8);
        let Some((padded, rest)) = length.and_then(|length| rest.split_at_checked(length)) else {
            let expected = format!("at most the {} bytes that follow", rest.len());
            return Err(check.fault("bytes", head.bytes.into(), expected));
        };
        assignments.push(assignment(&check, head, &padded[..head.bytes as usize])?);
        bytes = rest;
    }
    Ok(assignments)
}

fn assignment(check: &Check, head: AssignmentHead, bytes: &[u8]) -> Result<Assignment, JobError> {
    let AssignmentHead { column, source, output, .. } = head;
    if source == 0 {
        check.same("bytes", bytes.len() as u64, 0)?;
        let known = usize::from(output) < MAX_OUTPUTS;
        check.that(known, "output", output.into(), "0 to 7")?;
        return Ok(Assignment::Output { column, output });
    }
    check.same("output", output.into(), 0)?;
    let length = match source {
        1 => Some(0),
        2..=4 => Some(8),
        5 | 6 => None,
        _ => return Err(check.fault("source", source.into(), "0 to 6")),
    };
    check.same("bytes", bytes.len() as u64, length.unwrap_or(bytes.len() as u64))?;
    let word = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let value = match source {
        1 => Value::Null,
        2 => Value::Int(word.cast_signed()),
        3 => Value::Float(f64::from_bits(word)),
        4 if word <= 1 => Value::Bool(word == 1),
        4 => return Err(check.fault("bytes", word, "a truth value, 0 or 1")),
        5 => match str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.into()),
            Err(error) => {
                return Err(check.fault("bytes", error.valid_up_to() as u64, "UTF-8"));
            }
        },
        _ => Value::Bytes(bytes.into()),
    };
    Ok(Assignment::Constant { column, value })
}
