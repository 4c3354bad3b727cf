// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep nic`: look-ups through the RTL of a NIC, in a table that the host's threads change.

mod table;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{ValueEnum, ValueHint};
use nic_runs::{
    CardSettings, Contents, HostSettings, Job, LookUps, Profile, Report, RunError, Settings,
    TableSettings, Watch, read_trace,
};
use serde::Serialize;
use timing::platform::Platform;

use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;
use crate::text;
use crate::whole_file::WholeFile;

const EXAMPLES: &str = "\
Examples:
  lockstep nic                                         Zipf 0.99, two threads that change keys
  lockstep nic --profile hits:0 --host-threads 0       no look-up is answered by the index
  lockstep nic --in-flight 1 --profile uniform         the latency of look-ups alone
  lockstep nic --table objects.csv --trace keys.csv --json
  lockstep nic --engine machine                        the pure machine, without time
  lockstep nic --wall-clock                            real threads, real shared memory

A table is a CSV file with the header key,value, a trace one with the header key; numbers are
decimal or behind 0x hexadecimal, values have 8 bytes. Both may be compressed by gzip.
A run in virtual time gives the same report, byte for byte, whenever it is made with the same
arguments; how long it took is this machine's, and --json writes it to standard error.
Every answer is judged, and the counts of the RTL are compared with the machine's on the same
look-ups: a wrong answer, or another count, ends the command with exit code 1.
docs/nic-command.md says what is printed. Ctrl-C ends a run early, with exit code 130.";

/// Looks keys up through the RTL of a NIC, while threads of the host insert and delete.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Loads the table from this CSV file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "keys")]
    table: Option<PathBuf>,
    /// Generates a table of so many keys.
    #[arg(long, value_name = "COUNT", default_value_t = 100_000,
        value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    keys: u32,
    /// Keys by homes of the table, in per cent: above 0 to 95.
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0)]
    occupancy: f64,
    /// The largest displacement of an object from its home (D_m), 1 to 63 slots.
    #[arg(long, value_name = "SLOTS", default_value_t = 15)]
    limit: u32,
    /// Homes of a segment, which shares an entry of the index; a power of two.
    #[arg(long, value_name = "HOMES", default_value_t = 2)]
    segment: u32,

    /// Looks up the keys of this CSV file, in their order.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["profile", "look_ups", "absent"])]
    trace: Option<PathBuf>,
    /// Draws the keys: uniform, zipf:EXPONENT, or hits:PERCENT, of which so many are cached.
    #[arg(long, value_name = "PROFILE", default_value = "zipf:0.99")]
    profile: Profile,
    /// How many are measured.
    #[arg(long, value_name = "COUNT", default_value_t = 20_000,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    look_ups: u32,
    /// How many come before; of a trace, its first ones. The profile hits adds each cached key.
    #[arg(long, value_name = "COUNT", default_value_t = 5000,
        value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    warm_up: u32,
    /// The part of the look-ups whose keys are not in the table, in per cent; not of hits.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    absent: f64,
    /// Look-ups of the network under way at once, 1 to 128.
    #[arg(long, value_name = "COUNT", default_value_t = 128)]
    in_flight: u16,

    /// Threads of the host that delete and insert keys.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    host_threads: u32,
    /// The part of the keys that they change, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    changed: f64,
    /// Between two stores of the host, in virtual time: an assumption.
    #[arg(long, value_name = "NS", default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    store_ns: u64,
    /// Between two operations of a thread of the host.
    #[arg(long, value_name = "NS", default_value_t = 1000,
        value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pause_ns: u64,

    /// Whose link it is: liquidio3, pcie-gen3, or a platform file that has a section dma.
    #[arg(long, value_name = "NAME|FILE", default_value = "liquidio3")]
    platform: String,
    /// Period of the card's clock: an assumption.
    #[arg(long, value_name = "PS", default_value_t = 4000)]
    clock_ps: u64,
    /// Clocks of a read of the card's memory, where the index lies: an assumption.
    #[arg(long, value_name = "CLOCKS", default_value_t = 38)]
    nic_memory_clocks: u32,
    /// Clocks without a new read after which a vector is sent.
    #[arg(long, value_name = "CLOCKS", default_value_t = 16)]
    idle_clocks: u16,
    /// Clocks after which the oldest read of a vector is sent.
    #[arg(long, value_name = "CLOCKS", default_value_t = 64)]
    flush_clocks: u16,
    /// Begins with an empty index, which has to learn displacements and overflow buckets.
    #[arg(long)]
    cold_hints: bool,

    /// What carries the look-ups out.
    #[arg(long, value_enum, default_value_t = Engine::Rtl)]
    engine: Engine,
    /// Lets real threads change real shared memory, beside the RTL in a thread of its own.
    #[arg(long, conflicts_with = "engine")]
    wall_clock: bool,
    /// Of all draws.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::run::seed,
        allow_negative_numbers = true)]
    seed: u64,
    /// Prints the report as a line of JSON, and how long it took as another.
    #[arg(long)]
    json: bool,
    /// Writes the report as a line of JSON to this file, once it is whole.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Shows no progress bar, and no table.
    #[arg(short, long)]
    quiet: bool,
}

/// What carries look-ups out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// The RTL under Verilator, in virtual time.
    Rtl,
    /// The pure machine, one look-up after the other.
    Machine,
}

/// Where the table and the look-ups come from.
#[derive(Clone, Debug, Serialize)]
pub struct Sources {
    /// A file, or the generator.
    table: String,
    /// A file, or a profile.
    look_ups: String,
}

#[derive(Serialize)]
struct Line<'r> {
    sources: &'r Sources,
    #[serde(flatten)]
    report: &'r Report,
}

#[derive(Serialize)]
struct WallLine {
    wall_seconds: f64,
}

impl Args {
    fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            table: TableSettings {
                occupancy: self.occupancy / 100.0,
                limit: self.limit,
                segment: self.segment,
            },
            card: CardSettings {
                clock_ps: self.clock_ps,
                nic_memory_clocks: self.nic_memory_clocks,
                idle_clocks: self.idle_clocks,
                flush_clocks: self.flush_clocks,
                in_flight: self.in_flight,
                knows_hints: !self.cold_hints,
            },
            host: HostSettings {
                threads: self.host_threads,
                share: self.changed / 100.0,
                store_ns: self.store_ns,
                pause_ns: self.pause_ns,
            },
        }
    }

    fn platform(&self) -> Result<Platform, CommandError> {
        let platform = match Platform::NAMES.contains(&self.platform.as_str()) {
            true => Platform::named(&self.platform),
            false => Platform::load(&self.platform),
        };
        platform.map_err(|error| CommandError::Input(error.to_string()))
    }

    fn job(&self) -> Result<(Sources, Job), CommandError> {
        let platform = self.platform()?;
        let (table, contents) = match &self.table {
            Some(file) => (file.display().to_string(), Contents::read(file)?),
            None => {
                let name = format!("generated, {} keys", text::count(self.keys.into()));
                (name, Contents::generated(self.keys, self.seed))
            }
        };
        if !(0.0..=100.0).contains(&self.absent) {
            let what = format!("--absent is {}, expected 0 to 100", self.absent);
            return Err(CommandError::Input(what));
        }
        let (warm_up, settings) = (self.warm_up as usize, self.settings());
        let (look_ups, job) = match &self.trace {
            Some(file) => {
                let look_ups = of_trace(file, warm_up)?;
                (file.display().to_string(), Job::new(contents, look_ups, settings, platform))
            }
            None => {
                let (counts, absent) = ((warm_up, self.look_ups as usize), self.absent / 100.0);
                let profile = &self.profile;
                let job = Job::of_profile(contents, profile, counts, absent, settings, platform);
                (profile.to_string(), job)
            }
        };
        Ok((Sources { table, look_ups }, job.map_err(failure)?))
    }
}

/// The keys of a trace, the first of which are not measured; of a short one the first half.
fn of_trace(file: &Path, warm_up: usize) -> Result<LookUps, CommandError> {
    let mut warm = read_trace(file)?;
    let measured = warm.split_off(warm_up.min(warm.len() / 2));
    Ok(LookUps { warm_up: warm, measured })
}

fn failure(error: RunError) -> CommandError {
    match error.is_of_input() {
        true => CommandError::Input(error.to_string()),
        false => CommandError::Internal(error.to_string()),
    }
}

/// Runs the command.
///
/// # Errors
/// When the input is at fault, an answer is wrong, RTL and machine differ, or Ctrl-C ended it.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let out = out.quiet(args.quiet);
    let (sources, job) = args.job()?;
    // Before the run, so that a long one is not in vain.
    let file = args.out.as_deref().map(WholeFile::create).transpose()?;
    let (report, took) = execute(&args, &job, &out)?;
    let line = || as_json(&Line { sources: &sources, report: &report });
    if args.json {
        out.print(line()?)?;
        if !report.is_interrupted {
            out.note(as_json(&WallLine { wall_seconds: took.as_secs_f64() })?);
        }
    } else if !args.quiet {
        out.print(table::full(&sources, &report, took, &out))?;
    }
    if report.is_interrupted {
        return Err(CommandError::Interrupted);
    }
    if let (Some(mut file), Some(path)) = (file, &args.out) {
        writeln!(file, "{}", line()?).map_err(|cause| CommandError::writing(path, cause))?;
        file.finish()?;
    }
    Ok(())
}

fn execute(args: &Args, job: &Job, out: &Output) -> Result<(Report, Duration), CommandError> {
    let interrupt = interrupt::install()?;
    let mut bar = out.progress("nic");
    let clock = job.settings.card.clock();
    let mut progress = |done: f64, clocks: u64| {
        let simulated = text::duration((clock * clocks).as_ns_f64());
        bar.set(done, format_args!("{simulated} of the run"));
    };
    let mut watch = Watch { interrupt, progress: &mut progress };
    let start = Instant::now();
    let report = match args.engine {
        _ if args.wall_clock => job.wall_clock(&mut watch),
        Engine::Rtl => job.virtual_time(&mut watch),
        Engine::Machine => job.machine(&mut watch),
    };
    let report = report.map_err(|error| match failure(error) {
        CommandError::Internal(what) => {
            let seed = args.seed;
            CommandError::Internal(format!(
                "{what}\nTo repeat it: the same arguments, --seed {seed}"
            ))
        }
        other => other,
    })?;
    Ok((report, start.elapsed()))
}

fn as_json(line: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(line).map_err(|error| {
        CommandError::Internal(format!("the report does not go into JSON: {error}"))
    })
}
