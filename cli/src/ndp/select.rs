// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep ndp select`: rows, or sums of them, as the device finds them.

use std::cell::RefCell;
use std::ops::ControlFlow;

use lockdb::schema::{RowRef, Schema, Value, csv_header, csv_line};
use lockdb::{Isolation, Table};
use ndp_runtime::host::{
    AggregateOf, JobOptions, NearTransaction, Progress, ReadReport, SelectReport, SelectedRow,
    fault_text,
};
use ndp_runtime::program::{Aggregate, compile_select};
use serde_json::json;

use super::device::DeviceArgs;
use super::print::{json as json_value, output};
use super::report::{Elements, StoreTraffic, link};
use super::store::{Access, Level, Target};
use super::update::show;
use crate::device_uri::URIS;
use crate::error::CommandError;
use crate::output::Output;
use crate::text::{bytes, count, duration};

/// Maximum number of groups of an aggregate.
const GROUPS: u32 = 65_536;

const EXAMPLES: &str = "\
Examples:
  lockstep ndp select /tmp/store --table account --where 'balance > 9000' --columns 'id, balance'
  lockstep ndp select /tmp/store --table account --aggregate 'sum(balance) by region'
  lockstep ndp select /tmp/store --table account --where 'owner is null' --aggregate 'count(*)'

Rows are printed as CSV that `lockstep ndp load` takes, in no particular order; the report goes to
standard error.";

/// Prints the rows that satisfy a predicate, from one snapshot.
#[derive(clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{URIS}"))]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Which rows; all without it.
    #[arg(long = "where", value_name = "PREDICATE", allow_hyphen_values = true)]
    predicate: Option<String>,
    /// Expressions to print, at most 8, or columns; without it, complete rows.
    #[arg(long, value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    columns: Option<String>,
    /// Prints count, sum, min or max instead of rows: `sum(EXPRESSION)`, `count(*) by EXPRESSION`.
    #[arg(long, value_name = "AGGREGATE", conflicts_with = "columns")]
    #[arg(allow_hyphen_values = true)]
    aggregate: Option<String>,
    /// Isolation level of the transaction.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::Snapshot)]
    isolation: Level,
    /// Prints at most this many rows.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Prints rows and report as one line of JSON each.
    #[arg(long)]
    json: bool,
    /// No progress bar, and no report.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// When the statement is at fault, or the device or store fails, or Ctrl-C ended it.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let out = &out.quiet(args.quiet);
    let (opened, table) = args.target.open(args.device.needs_shared(), Access::Read)?;
    let runtime = args.device.runtime(&args.target, &opened, out)?;
    let bar = RefCell::new(out.progress("reading"));
    let show = |progress: &Progress| show(&bar, progress);
    let options = JobOptions { progress: Some(&show), ..args.device.job_options()? };
    let mut session = opened.database.session()?;
    let mut transaction = session.begin(Isolation::from(args.isolation));
    let mut near = runtime.begin(&mut transaction);
    let (read, faults) = match &args.aggregate {
        Some(aggregate) => {
            (sum_up(&args, aggregate, &mut near, &table, &options, out)?, Vec::new())
        }
        None => {
            let SelectReport { read, faults } = rows(&args, &mut near, &table, &options, out)?;
            (read, faults)
        }
    };
    near.rollback()?;
    drop(options);
    drop(bar);
    let (opening, meanwhile) = (opened.opening, opened.since_opening());
    let store = StoreTraffic { opening, meanwhile, ..StoreTraffic::default() };
    report(&args, &read, &store, out)?;
    if let Some((vid, code)) = faults.first() {
        return Err(CommandError::Internal(format!(
            "{} rows could not be read; the first is row {vid}: {}",
            count(read.device.faults),
            fault_text(*code)
        )));
    }
    Ok(())
}

fn report(
    args: &Args,
    read: &ReadReport,
    store: &StoreTraffic,
    out: &Output,
) -> Result<(), CommandError> {
    let parts: Vec<_> = link(&read.link).into_iter().chain(store.parts()).collect();
    let (time, moved) = (read.phases.total(), parts.iter().map(|(_, bytes)| bytes).sum::<u64>());
    if args.json {
        let parts: serde_json::Map<_, _> =
            parts.into_iter().map(|(name, bytes)| (name.replace(' ', "_"), bytes.into())).collect();
        return out.print(json!({
            "rows": read.rows,
            "visible": read.device.visible,
            "total_ns": time.as_nanos() as u64,
            "link_bytes": parts,
            "link_bytes_total": moved,
            "storage_bytes": read.device.storage_bytes,
            "elements": Elements::of(&read.device).json(),
        }));
    }
    // At its limit a select is broken off: the device has found more than was printed.
    let rows = args.limit.map_or(read.device.qualified, |_| read.rows);
    out.note(format_args!(
        "{} of {} rows in {}; {} over the link, {} of it to open the store; {} read by the device; \
         elements: {}",
        count(rows),
        count(read.device.visible),
        duration(time.as_nanos() as f64),
        bytes(moved as f64),
        bytes(store.opening.read as f64),
        bytes(read.device.storage_bytes as f64),
        Elements::of(&read.device)
    ));
    Ok(())
}

/// The printed parts of each row.
enum Columns<'a> {
    /// These columns of whole rows.
    Whole(Vec<usize>),
    /// Outputs of a program.
    Outputs(Vec<&'a str>),
}

impl<'a> Columns<'a> {
    /// Bare columns of any type, or expressions.
    fn new(schema: &Schema, text: Option<&'a str>) -> Self {
        let Some(text) = text else { return Self::Whole((0..schema.columns().len()).collect()) };
        let list = split_list(text);
        let bare: Option<Vec<usize>> = list.iter().map(|name| schema.column(name)).collect();
        match bare {
            // What fits in a register needs no whole rows.
            Some(columns) if compile_select(0, schema, None, &list).is_err() => {
                Self::Whole(columns)
            }
            _ => Self::Outputs(list),
        }
    }

    fn names(&self, schema: &Schema) -> Vec<String> {
        match self {
            Self::Whole(columns) => {
                columns.iter().map(|column| schema.columns()[*column].name.clone()).collect()
            }
            Self::Outputs(list) => list.iter().map(|text| (*text).to_owned()).collect(),
        }
    }
}

fn rows(
    args: &Args,
    near: &mut NearTransaction<'_, '_, '_>,
    table: &Table,
    options: &JobOptions<'_>,
    out: &Output,
) -> Result<SelectReport, CommandError> {
    let schema = table.schema();
    let columns = Columns::new(schema, args.columns.as_deref());
    let (names, predicate) = (columns.names(schema), args.predicate.as_deref());
    let outputs: &[&str] = if let Columns::Outputs(list) = &columns { list } else { &[] };
    let types = compile_select(table.id(), schema, predicate, outputs)?.types;
    if !args.json {
        out.print(csv_header(names.iter().map(String::as_str)))?;
    }
    let (mut printed, mut unread) = (0, None);
    let values = |row: &SelectedRow<'_>| -> Vec<Value> {
        match &columns {
            Columns::Whole(columns) => {
                let row = RowRef::new(schema, row.payload());
                columns.iter().map(|column| row.get(*column).to_value()).collect()
            }
            Columns::Outputs(_) => {
                types.iter().enumerate().map(|(at, kind)| output(row.value(at), *kind)).collect()
            }
        }
    };
    let visit = |row: SelectedRow<'_>| {
        if let Err(failure) = print_row(args.json, &names, &values(&row), out) {
            unread = Some(failure);
            return ControlFlow::Break(());
        }
        printed += 1;
        match args.limit {
            Some(limit) if printed >= limit => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let report = near.select(table, predicate, outputs, options, visit)?;
    unread.map_or(Ok(report), Err)
}

fn print_row(
    as_json: bool,
    names: &[String],
    values: &[Value],
    out: &Output,
) -> Result<(), CommandError> {
    if as_json {
        let fields = names.iter().zip(values);
        let fields = fields.map(|(name, value)| (name.clone(), json_value(value.as_ref())));
        return out.print(serde_json::Value::Object(fields.collect()));
    }
    out.print(csv_line(values.iter().map(Value::as_ref)))
}

fn sum_up(
    args: &Args,
    text: &str,
    near: &mut NearTransaction<'_, '_, '_>,
    table: &Table,
    options: &JobOptions<'_>,
    out: &Output,
) -> Result<ReadReport, CommandError> {
    let parts = parse_aggregate(text).ok_or_else(|| {
        CommandError::Input(format!(
            "--aggregate: found {text:?}, expected count, sum, min or max of (EXPRESSION) or \
             count(*), and maybe `by EXPRESSION`"
        ))
    })?;
    let Sum { aggregate, value, group, name } = parts;
    let of = AggregateOf { aggregate, value, group, groups: GROUPS };
    let outputs: Vec<&str> = [value].into_iter().chain(group).collect();
    let predicate = args.predicate.as_deref();
    let types = compile_select(table.id(), table.schema(), predicate, &outputs)?.types;
    let (groups, read) = near.aggregate(table, predicate, of, options)?;
    let names: Vec<String> = group.into_iter().chain([name]).map(str::to_owned).collect();
    if !args.json {
        out.print(csv_header(names.iter().map(String::as_str)))?;
    }
    for found in groups {
        let mut values = Vec::new();
        if group.is_some() {
            values.push(output(found.group, types[1]));
        }
        values.push(output(found.value, types[0]));
        print_row(args.json, &names, &values, out)?;
    }
    Ok(read)
}

/// An aggregate as it was asked for.
#[derive(Debug, PartialEq)]
struct Sum<'a> {
    aggregate: Aggregate,
    value: &'a str,
    group: Option<&'a str>,
    /// All of it but the group.
    name: &'a str,
}

/// `sum(balance) by region`.
fn parse_aggregate(text: &str) -> Option<Sum<'_>> {
    let (function, rest) = text.split_once('(')?;
    let aggregate = match function.trim().to_ascii_lowercase().as_str() {
        "count" => Aggregate::Count,
        "sum" => Aggregate::Sum,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        _ => return None,
    };
    let mut depth = 1;
    let end = rest.char_indices().find_map(|(at, character)| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth == 0).then_some(at)
    })?;
    let (value, behind) = (rest[..end].trim(), rest[end + 1..].trim());
    let group = match behind {
        "" => None,
        _ => Some(behind.strip_prefix("by ").or_else(|| behind.strip_prefix("BY "))?.trim()),
    };
    // Every row counts.
    let value = if value == "*" && aggregate == Aggregate::Count { "1" } else { value };
    Some(Sum { aggregate, value, group, name: text[..function.len() + end + 2].trim() })
}

/// The parts of a list that commas separate which stand neither in parentheses nor in quotes.
pub fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_their_own_commas() {
        assert_eq!(split_list("a, least(b, c) , x = 'p, q'"), ["a", "least(b, c)", "x = 'p, q'"]);
    }

    #[test]
    fn aggregates_are_read() {
        let sum = parse_aggregate("sum(least(a, b)) by region");
        let (aggregate, group) = (Aggregate::Sum, Some("region"));
        let name = "sum(least(a, b))";
        assert_eq!(sum, Some(Sum { aggregate, value: "least(a, b)", group, name }));
        let (aggregate, name) = (Aggregate::Count, "COUNT(*)");
        let all = Sum { aggregate, value: "1", group: None, name };
        assert_eq!(parse_aggregate("COUNT(*)"), Some(all));
        for wrong in ["avg(a)", "sum", "sum(a", "sum(a) over b", "sum(*"] {
            assert_eq!(parse_aggregate(wrong), None, "{wrong}");
        }
    }
}
