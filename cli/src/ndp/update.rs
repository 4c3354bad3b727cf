// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep ndp update`: changes rows beside the data.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::ValueEnum;
use lockdb::layout::{PAGE_BYTES, RecordId};
use lockdb::{Isolation, Table, TransactionOptions};
use ndp_runtime::host::{
    Cancel, JobOptions, NearDataJobError, PreparedUpdate, Progress, TableGate,
};
use serde_json::json;

use super::device::DeviceArgs;
use super::host_load::HostLoadArgs;
use super::host_path::HostUpdate;
use super::report::{Report, StoreTraffic};
use super::store::{Access, Level, Opened, Target};
use crate::device_uri::URIS;
use crate::error::CommandError;
use crate::output::Output;
use crate::text::count;

const EXAMPLES: &str = "\
Examples:
  lockstep ndp update /tmp/store --table account --where 'region = 7 and balance < 100' \\
      --set 'balance = balance + 5'
  lockstep ndp update /tmp/store --table account --set \"owner = 'nobody', rate = rate * 2\" \\
      --isolation snapshot --host-load uniform --json";

/// Changes the rows that satisfy a predicate, as one transaction.
#[derive(clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{URIS}"))]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Which rows; all without it.
    #[arg(long = "where", value_name = "PREDICATE", allow_hyphen_values = true)]
    predicate: Option<String>,
    /// The new values: COLUMN = EXPRESSION, …
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    set: String,
    /// Isolation level of the transaction.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::ReadCommitted)]
    isolation: Level,
    /// The executor of the update.
    #[arg(long, value_enum, default_value_t = Strategy::NearData)]
    strategy: Strategy,
    /// The number of attempts if conflicts occur.
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    attempts: u32,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    host_load: HostLoadArgs,
    /// Prints the report as one line of JSON.
    #[arg(long)]
    json: bool,
    /// No progress bar.
    #[arg(long, short)]
    quiet: bool,
}

/// The executor of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// The device, beside the data, with a lock for each row.
    NearData,
    /// The host, which pulls the pages over the link.
    Host,
    /// The device, while short host updates of the table are blocked.
    TableLock,
}

impl Strategy {
    fn name(self) -> &'static str {
        match self {
            Self::NearData => "near-data",
            Self::Host => "host",
            Self::TableLock => "table-lock",
        }
    }
}

/// Runs the command.
///
/// # Errors
/// When the statement is at fault, the device or store fails, or Ctrl-C ended it: nothing is changed
/// then.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let out = &out.quiet(args.quiet);
    let (opened, table) = prepare(&args)?;
    let report = update(&args, opened, &table, args.device.job_options()?, out)?;
    let level = args.isolation.name();
    if args.json {
        let mut line = report.json();
        line.insert("table".into(), json!(table.name()));
        line.insert("strategy".into(), json!(args.strategy.name()));
        line.insert("isolation".into(), json!(level));
        return out.print(serde_json::Value::Object(line));
    }
    let by = match args.strategy {
        Strategy::NearData => format!("near the data, {} elements", args.device.elements),
        Strategy::TableLock => {
            format!("near the data, {} elements, the table locked", args.device.elements)
        }
        Strategy::Host => "by the host".into(),
    };
    let heading = format!("Update of table {}, {by}, {level}", table.name());
    out.print(report.text(&heading, out))
}

/// Opens the store and finds the table.
///
/// # Errors
/// When there is no such store or table.
pub fn prepare(args: &Args) -> Result<(Opened, Arc<Table>), CommandError> {
    if args.strategy == Strategy::Host && args.device.needs_shared() {
        let message = "--device: expected none with --strategy host, which uses no device";
        return Err(CommandError::Input(message.into()));
    }
    args.target.open(args.device.needs_shared(), Access::Write)
}

/// Updates a table of the store that [`prepare`] has opened, and closes the store.
///
/// # Errors
/// When the statement is at fault, the device or the store fails, others were in the way each time, or
/// the job was cancelled.
pub fn update(
    args: &Args,
    opened: Opened,
    table: &Arc<Table>,
    options: JobOptions<'_>,
    out: &Output,
) -> Result<Report, CommandError> {
    // Before anything is begun.
    let update = PreparedUpdate::new(table, args.predicate.as_deref(), &args.set)?;
    let gate = (args.strategy == Strategy::TableLock).then(Arc::<TableGate>::default);
    let cancel = options.cancel.clone();
    let load = args.host_load.start(&opened.database, table, gate.clone(), &cancel)?;
    let mut report = match args.strategy {
        Strategy::Host => by_host(args, &opened, &update, &cancel)?,
        Strategy::NearData => near_data(args, &opened, &update, options, out)?,
        Strategy::TableLock => {
            let since = Instant::now();
            let gate = gate.expect("it was made for this strategy");
            let alone = gate.be_alone(options.time_out)?;
            let waited = since.elapsed();
            let mut report = near_data(args, &opened, &update, options, out)?;
            report.time.insert(0, ("lock the table", waited));
            drop(alone);
            report
        }
    };
    report.host_load = load.map(|load| load.finish()).transpose()?;
    let meanwhile = opened.since_opening();
    opened.database.close()?;
    let closing = opened.since_opening().since(meanwhile);
    report.store = StoreTraffic { opening: opened.opening, meanwhile, closing };
    Ok(report)
}

fn near_data(
    args: &Args,
    opened: &Opened,
    update: &PreparedUpdate<'_>,
    options: JobOptions<'_>,
    out: &Output,
) -> Result<Report, CommandError> {
    let runtime = args.device.runtime(&args.target, opened, out)?;
    let pulled = pages_of(update.table());
    let bar = RefCell::new(out.progress("updating"));
    let show = |progress: &Progress| show(&bar, progress);
    let options = JobOptions { progress: Some(&show), ..options };
    let mut session = opened.database.session()?;
    let transaction = TransactionOptions::from(Isolation::from(args.isolation));
    let done = runtime
        .update(&mut session, transaction, update, &options, args.attempts)
        .map_err(|failure| gave_up(failure, args.attempts))?;
    let mut report = Report::from(&done);
    report.host_path_bytes = (pulled + done.device.pages) * PAGE_BYTES as u64;
    Ok(report)
}

/// Why there was no end of it: after so many attempts, if others were in the way of each.
pub fn gave_up(failure: NearDataJobError, attempts: u32) -> CommandError {
    match failure.is_to_be_retried() {
        true => CommandError::Internal(format!("{failure}; gave up after --attempts {attempts}")),
        false => failure.into(),
    }
}

/// Shows how far a job is, as far as its results tell.
pub fn show(bar: &RefCell<terminal::Progress>, progress: &Progress) {
    let (visited, rows) = (progress.device.visited, progress.device.qualified);
    let done = visited as f64 / f64::from(progress.vids.max(1));
    bar.borrow_mut().set(done, format_args!("{} rows", count(rows)));
}

fn by_host(
    args: &Args,
    opened: &Opened,
    update: &PreparedUpdate<'_>,
    cancel: &Cancel,
) -> Result<Report, CommandError> {
    let pages = opened.files.open("pages");
    let work = HostUpdate {
        update,
        pages: pages.map_err(|error| CommandError::input(&args.target.folder, error))?,
        options: TransactionOptions::from(Isolation::from(args.isolation)),
        attempts: args.attempts,
        cancel,
    };
    work.run(&mut opened.database.session()?)
}

/// The logical pages on which the newest versions of a table's rows stand: what a host that has none of
/// them would pull.
fn pages_of(table: &Table) -> u64 {
    let words = table.vid_map().words().iter().take(table.vids() as usize);
    let heads = words.map(|word| RecordId::from_word(word.load(Ordering::Acquire)));
    let pages = heads.filter(|head| !head.is_none()).map(|head| head.page());
    pages.collect::<BTreeSet<_>>().len() as u64
}
