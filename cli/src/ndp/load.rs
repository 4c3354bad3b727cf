// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep ndp load`: rows for a store.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueHint;
use lockdb::schema::{CsvError, RowBuffer, Schema, Type};
use lockdb::{Database, Error, LoadError, Table};
use system::Interrupt;
use terminal::Progress;
use workloads::database::tpcc::{Scale, Tpcc};
use workloads::database::ycsb::{Mix, Ycsb};
use workloads::database::{
    Load, Loaded, StoreError, StoreLoader, TableDefinition, TableId, Value, Workload,
};
use workloads::scenario::{Distribution, YcsbSettings};

use super::store::Access;
use super::{schema_text, store};
use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;
use crate::text::count;

/// Populations are the same every time.
const SEED: u64 = 1;

const EXAMPLES: &str = "\
Examples:
  lockstep ndp load /tmp/store --accounts 100000
  lockstep ndp load /tmp/store --ycsb 1000000
  lockstep ndp load /tmp/store --tpcc 1 --shrink 10
  lockstep ndp load /tmp/store --table t --csv rows.csv \\
      --schema 'id int64, region int64, balance int64 null, note text'

Types are int64, float64, bool, fixed(BYTES), text and bytes. The header line of a CSV file names
the columns; a field \\N is null. The store is made if there is none. Tables that are generated:
account (id, region, balance, rate, owner); usertable (YCSB); warehouse, district, customer,
orders, order_line, … (TPC-C).
A load that was broken off goes on when the same command is given again.";

/// Loads rows into a store, and makes them durable on its pages.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "lockstep ndp load [OPTIONS] <DIR> \\\n         \
    --table <NAME> --csv <FILE> | --accounts <ROWS> | --ycsb <ROWS> | --tpcc <WAREHOUSES>")]
#[command(group = clap::ArgGroup::new("rows").required(true))]
pub struct Args {
    /// Folder of the store.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// The table of the CSV file.
    #[arg(long, value_name = "NAME", requires = "csv")]
    table: Option<String>,
    /// Rows from this file.
    #[arg(long, value_name = "FILE", group = "rows", requires = "table")]
    #[arg(value_hint = ValueHint::FilePath)]
    csv: Option<PathBuf>,
    /// Creates the table: NAME TYPE, … with `null` after nullable columns.
    #[arg(long, value_name = "COLUMNS", requires = "csv")]
    schema: Option<String>,
    /// Columns of the primary key; without it, the first column.
    #[arg(long, value_name = "COLUMNS", requires = "schema")]
    key: Option<String>,
    /// A secondary index, as NAME(COLUMN, …).
    #[arg(long, value_name = "INDEX", requires = "schema")]
    index: Vec<String>,
    /// Loads this many accounts in ten regions.
    #[arg(long, value_name = "ROWS", group = "rows")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    accounts: Option<u32>,
    /// YCSB's table of so many rows.
    #[arg(long, value_name = "ROWS", group = "rows")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    ycsb: Option<u32>,
    /// Loads TPC-C's tables with this many warehouses.
    #[arg(long, value_name = "WAREHOUSES", group = "rows")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20))]
    tpcc: Option<u32>,
    /// Divides the numbers of items and customers of TPC-C by this.
    #[arg(long, value_name = "DIVISOR", requires = "tpcc", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    shrink: u32,
}

/// Runs the command.
///
/// # Errors
/// When the rows are not as they should be: of a CSV file nothing is kept then. Of generated rows what
/// was committed before stays, and the same command continues from there.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let loaded = load(&args, interrupt::install()?, out)?;
    out.print(format!("loaded {loaded} into {}", args.folder.display()))
}

/// Loads what `args` name, and says how many rows of what. The store is closed then.
///
/// # Errors
/// As [`run`].
pub fn load(args: &Args, interrupt: &Interrupt, out: &Output) -> Result<String, CommandError> {
    let csv = args.csv.as_deref().map(|path| Ok::<_, CommandError>((path, open_csv(path)?)));
    let csv = csv.transpose()?;
    let schema = match (&args.table, &args.schema) {
        (Some(table), Some(columns)) => {
            let schema = schema_text::parse(table, columns, args.key.as_deref(), &args.index);
            Some(schema.map_err(CommandError::Input)?)
        }
        _ => None,
    };
    let opened = store::open(&args.folder, false, Access::Write)?;
    let database = &opened.database;
    let mut progress = out.progress("loading");
    let what = if let (Some((path, file)), Some(table)) = (csv, &args.table) {
        let rows = load_csv(database, table, schema, path, file, interrupt, &mut progress)?;
        format!("{} rows of table {table}", count(rows))
    } else {
        let mut loader = Watched {
            loader: StoreLoader::going_on(database),
            rows: 0,
            expected: 0.0,
            interrupt,
            progress: &mut progress,
        };
        let ended = generate(args, &mut loader);
        let loaded = loader.loader.loaded();
        let table = if args.accounts.is_some() { " of table account" } else { "" };
        ended.map_err(|failure| broken_off(failure, loaded, out))?;
        match (loaded.inserted, loaded.kept) {
            (inserted, 0) => format!("{} rows{table}", count(inserted)),
            (inserted, kept) => {
                format!(
                    "{} rows{table}, beside {} of an earlier load,",
                    count(inserted),
                    count(kept)
                )
            }
        }
    };
    progress.set(1.0, "writing pages");
    let written = database.checkpoint().and_then(|_| database.close());
    written.map_err(|error| match error.into() {
        CommandError::Internal(why) => {
            CommandError::Internal(format!("{why}; all rows are committed, and stay"))
        }
        other => other,
    })?;
    drop(progress);
    Ok(what)
}

/// Gives the loader the rows that are asked for.
fn generate(args: &Args, loader: &mut Watched<'_>) -> Result<(), CommandError> {
    if let Some(rows) = args.accounts {
        loader.expected = rows.into();
        accounts(loader, rows.into())
    } else if let Some(rows) = args.ycsb {
        loader.expected = rows.into();
        let settings = YcsbSettings { rows: rows.into(), distribution: Distribution::Uniform };
        Ycsb::new(Mix::A, &settings, SEED).populate(loader)
    } else if let Some(warehouses) = args.tpcc {
        let scale = Scale::shrunk(warehouses.into(), args.shrink.into());
        // Each customer has an order of some ten lines and a line of history.
        let rows = scale.items + scale.warehouses * (scale.items + 130 * scale.customers);
        loader.expected = rows as f64;
        Tpcc::new(scale, SEED).populate(loader)
    } else {
        unreachable!("the arguments name one kind of rows")
    }
}

/// A load that ends early says what stays of it.
fn broken_off(failure: CommandError, loaded: Loaded, out: &Output) -> CommandError {
    let stays = format!(
        "{} rows stay; the same command goes on from there",
        count(loaded.inserted + loaded.kept)
    );
    match failure {
        CommandError::Interrupted => {
            out.note(stays);
            CommandError::Interrupted
        }
        CommandError::Internal(what) => CommandError::Internal(format!("{what}; {stays}")),
        other => other,
    }
}

fn open_csv(path: &Path) -> Result<File, CommandError> {
    File::open(path).map_err(|error| CommandError::input(path, format!("cannot open: {error}")))
}

fn load_csv(
    database: &Database,
    table: &str,
    schema: Option<Schema>,
    path: &Path,
    file: File,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<u64, CommandError> {
    let (table, made) = match schema {
        Some(schema) => (empty_table(database, schema)?, true),
        None => (database.table(table).map_err(|error| no_table(error, table))?, false),
    };
    let bytes = file.metadata().map_or(1, |file| file.len().max(1)) as f64;
    let text = Interruptible { file, interrupt };
    let loaded = database.load_csv(&table, text, |done| {
        progress.set(done.bytes as f64 / bytes, format_args!("{} rows", count(done.rows)));
    });
    loaded.map_err(|error| match error {
        LoadError::Csv(CsvError::Read { .. }) if interrupt.is_raised() => CommandError::Interrupted,
        LoadError::Store(error) => error.into(),
        error if made => CommandError::input(
            path,
            format!(
                "{error}; table {:?} is there now, empty, and the same command goes on with it",
                table.name()
            ),
        ),
        error => CommandError::input(path, error),
    })
}

/// A new table, or one just like it without rows: what a load leaves that comes to nothing.
fn empty_table(database: &Database, schema: Schema) -> Result<Arc<Table>, CommandError> {
    let Ok(table) = database.table(schema.name()) else {
        return Ok(database.create_table(schema)?);
    };
    let refuse = |what: &str| {
        let name = schema.name();
        Err(CommandError::Input(format!("--schema: table {name:?} is there already, {what}")))
    };
    if *table.schema() != schema {
        return refuse("with other columns or keys, expected none, or the same");
    }
    let mut empty = true;
    database.transaction(|transaction| {
        transaction.scan(&table, |_| {
            empty = false;
            ControlFlow::Break(())
        })
    })?;
    if empty { Ok(table) } else { refuse("with rows: leave --schema out to add some") }
}

fn no_table(error: Error, table: &str) -> CommandError {
    match error {
        Error::NoSuchTable { .. } => CommandError::Input(format!(
            "there is no table {table:?}, expected one, or --schema to make it"
        )),
        error => error.into(),
    }
}

/// A file that ends with an error when Ctrl-C was pressed.
struct Interruptible<'i> {
    file: File,
    interrupt: &'i Interrupt,
}

impl std::io::Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.interrupt.is_raised() {
            // Not `ErrorKind::Interrupted`, which readers try again.
            return Err(std::io::Error::other("interrupted"));
        }
        self.file.read(buffer)
    }
}

/// Accounts 0 to `rows` in regions 0 to 9, with balances of 0 to 9,999.
fn accounts(loader: &mut Watched<'_>, rows: i64) -> Result<(), CommandError> {
    let schema = Schema::builder("account")
        .column("id", Type::Int64)
        .column("region", Type::Int64)
        .column("balance", Type::Int64)
        .column("rate", Type::Float64)
        .nullable_column("owner", Type::Text)
        .primary_key(&["id"])
        .build()
        .expect("the schema is sound");
    let table = loader.loader.add_table(schema.clone())?;
    for id in 0..rows {
        // A step of a linear congruential generator: as good as drawn.
        let mixed = (id as u64).wrapping_mul(6364136223846793005).wrapping_add(SEED) >> 33;
        let owner = (!mixed.is_multiple_of(5)).then(|| format!("owner {}", mixed % 1000));
        let rate = f64::from((mixed % 64) as u32) / 1024.0;
        let region = i64::from((mixed % 10) as u32);
        let balance = (mixed / 10 % 10_000) as i64;
        let row = [id.into(), region.into(), balance.into(), rate.into(), owner.into()];
        let row = RowBuffer::from_values(&schema, &row).expect("the row fits its schema");
        loader.note_row()?;
        loader.loader.add_row(table, row)?;
    }
    Ok(loader.loader.finish()?)
}

/// A loader that shows how far it is, and ends when Ctrl-C was pressed.
struct Watched<'w> {
    loader: StoreLoader<'w>,
    rows: u64,
    expected: f64,
    interrupt: &'w Interrupt,
    progress: &'w mut Progress,
}

impl Watched<'_> {
    /// Another row is to come.
    fn note_row(&mut self) -> Result<(), CommandError> {
        self.rows += 1;
        if self.rows.is_multiple_of(1024) {
            if self.interrupt.is_raised() {
                return Err(CommandError::Interrupted);
            }
            let done = self.rows as f64 / self.expected;
            self.progress.set(done, format_args!("{} rows", count(self.rows)));
        }
        Ok(())
    }
}

impl Load for Watched<'_> {
    type Error = CommandError;

    fn create(&mut self, tables: &'static [TableDefinition]) -> Result<(), CommandError> {
        Ok(self.loader.create(tables)?)
    }

    fn row(&mut self, table: TableId, row: &[Value<'_>]) -> Result<(), CommandError> {
        self.note_row()?;
        Ok(self.loader.row(table, row)?)
    }

    fn finish(&mut self) -> Result<(), CommandError> {
        Ok(self.loader.finish()?)
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Store(error) => error.into(),
            StoreError::Violation(violation) => Self::Internal(violation.to_string()),
            other @ (StoreError::OtherTable { .. } | StoreError::OtherRow { .. }) => {
                Self::Input(other.to_string())
            }
        }
    }
}
