// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep ndp explain`: the program of a statement.

use ndp_runtime::program::{Assignment, compile_select, compile_update};

use super::print::value_text;
use super::select::split_list;
use super::store::{Access, Target};
use crate::error::CommandError;
use crate::output::Output;

/// Prints the program that a statement is compiled to; nothing is read or changed.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Which rows.
    #[arg(long = "where", value_name = "PREDICATE", allow_hyphen_values = true)]
    predicate: Option<String>,
    /// An update: its assignments.
    #[arg(long, value_name = "ASSIGNMENTS", conflicts_with = "columns")]
    #[arg(allow_hyphen_values = true)]
    set: Option<String>,
    /// A select: its expressions.
    #[arg(long, value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    columns: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When the statement cannot be compiled.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let (_opened, table) = args.target.open(false, Access::Read)?;
    let (schema, predicate) = (table.schema(), args.predicate.as_deref());
    let program = if let Some(set) = &args.set {
        let update = compile_update(table.id(), schema, predicate, set)?;
        for assignment in &update.assignments {
            let name = &schema.columns()[usize::from(assignment.column())].name;
            out.print(match assignment {
                Assignment::Output { output, .. } => format!("{name} := o{output}"),
                Assignment::Constant { value, .. } => {
                    format!("{name} := {}", value_text(value.as_ref()))
                }
            })?;
        }
        update.program
    } else {
        let columns = args.columns.as_deref().map_or(Vec::new(), split_list);
        compile_select(table.id(), schema, predicate, &columns)?.program
    };
    out.print(program.to_string().trim_end())?;
    let by = match program.uses_only_the_elements_part() {
        true => "software and hardware elements",
        false => "software elements alone: it compares text or bytes of any length",
    };
    out.print(format!("; for {by}"))
}
