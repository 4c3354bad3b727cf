// SPDX-License-Identifier: MIT OR Apache-2.0
//! Predicates and updates as a small typed program of fixed-width code.
//!
//! [`compile_select`] and [`compile_update`] make a [`Program`] of SQL expressions on the host;
//! [`Program::decode`] admits it on the device; [`evaluate`] executes it for one row, and is the
//! reference for the hardware. [`apply`] makes the new row of an update, and [`Aggregation`]
//! aggregates a program's outputs. `docs/near-data-programs.md` describes instructions, SQL and
//! null rules.
//!
//! ```
//! use lockdb::schema::{RowBuffer, Schema, Type};
//! use ndp_runtime::program::{Evaluation, Outputs, apply, compile_update, evaluate};
//!
//! let schema = Schema::builder("account")
//!     .column("id", Type::Int64)
//!     .column("balance", Type::Int64)
//!     .primary_key(&["id"])
//!     .build()?;
//! let update = compile_update(0, &schema, Some("balance < 100"), "balance = balance + 5")?;
//! let old = RowBuffer::from_values(&schema, &[7.into(), 30.into()])?;
//! let mut outputs = Outputs::default();
//! assert_eq!(evaluate(&update.program, old.bytes(), &mut outputs), Ok(Evaluation::Passes));
//! let mut new = RowBuffer::new(&schema);
//! apply(&update.assignments, &schema, old.bytes(), &outputs, &mut new)?;
//! assert_eq!(new.as_row().int(1), 35);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod assignment;
mod exact_sum;
mod image;
mod instruction;
mod listing;
mod machine;
mod sql;
#[cfg(test)]
mod tests;

pub use aggregate::{Aggregate, AggregateError, AggregateTypeError, Aggregation, Group};
pub use assignment::{Assignment, AssignmentError, apply, check_assignments};
pub use image::{MAX_CONSTANTS, MAX_INSTRUCTIONS, Program, ProgramError};
pub use instruction::{Instruction, MAX_OUTPUTS, NEVER_NULL, Opcode, REGISTERS};
pub use listing::ListingError;
pub use machine::{
    CANONICAL_NAN, Evaluation, EvaluationError, Outputs, evaluate, evaluate_counting,
};
pub use sql::{
    CompileError, CompileErrorKind, Compiled, CompiledUpdate, compile_select, compile_update,
};
