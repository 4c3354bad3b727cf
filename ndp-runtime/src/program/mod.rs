//! Predicates and updates as a small typed program of fixed-width code.
//!
//! [`Program::decode`] admits it on the device; [`evaluate`] executes it for one row, and is what the
//! hardware is held to. [`apply`] makes the new row of an update.

mod assignment;
mod image;
mod instruction;
mod machine;

pub use assignment::{Assignment, AssignmentError, apply, check_assignments};
pub use image::{MAX_CONSTANTS, MAX_INSTRUCTIONS, Program, ProgramFault};
pub use instruction::{Instruction, MAX_OUTPUTS, NEVER_NULL, Opcode, REGISTERS};
pub use machine::{CANONICAL_NAN, Evaluation, EvaluationFault, Outputs, evaluate};
