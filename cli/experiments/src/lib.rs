//! `lockstep experiment`: figures and tables of the papers, measured again.
//!
//! Each is one entry of [`ALL`]. What is measured never comes from the paper; what does not come
//! out is said not to, and why. In virtual time each is measured under several seeds.

mod ccslt_fig4;
mod ccslt_fig5;
mod ccslt_fig6;
mod ccslt_placement;
pub mod findings;
mod lock_load;
mod ndp_update_speedup;
mod plot;
mod provenance;
mod record;
mod samples;
mod table;
mod tidy;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use sim::coherence::CoherenceError;
use sim::platform::{Platform, PlatformError};
use sim::system::SystemError;
use system::near_data::NearDataError;

use crate::failure::Failure;
use crate::output::Output;
use crate::whole_file::WholeFile;
use bench::postgres::PostgresError;
use terminal::Progress;

pub use findings::{Findings, Origin, Verdict};
pub use plot::{Display, svg};
pub use provenance::{Commit, date};
pub use record::{Record, SCHEMA};

/// A figure or table of a paper.
pub struct Experiment {
    /// What it is asked for by.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The paper and the place in it.
    pub source: &'static str,
    /// By which it is measured.
    pub clock: Clock,
    measure: fn(&mut Setting<'_>) -> Result<Findings, ExperimentError>,
}

/// What times are measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Of the model: the same seeds and version give the same values on every machine.
    Virtual,
    /// On the wall: values are those of this machine, measured once.
    Wall,
}

/// All experiments there are.
pub const ALL: [Experiment; 5] = [
    Experiment {
        name: "ccslt-fig4",
        title: "Lock latency of host and device under load of the other side",
        source: "ccSLT paper (EDBT 2022), section 4, experiment 1, figure 4",
        clock: Clock::Virtual,
        measure: ccslt_fig4::measure,
    },
    Experiment {
        name: "ccslt-fig5",
        title: "64 B and 8 KiB from the device, over CCIX and over PCIe",
        source: "ccSLT paper (EDBT 2022), section 4, experiment 2, figure 5",
        clock: Clock::Virtual,
        measure: ccslt_fig5::measure,
    },
    Experiment {
        name: "ccslt-fig6",
        title: "Placing a tuple lock: the shared lock table beside PostgreSQL",
        source: "ccSLT paper (EDBT 2022), section 4, experiment 3, figure 6",
        clock: Clock::Wall,
        measure: ccslt_fig6::measure,
    },
    Experiment {
        name: "ccslt-placement",
        title: "Home agent on the host against home agent on the device",
        source: "ccSLT paper (EDBT 2022), section 4, argued after experiment 1",
        clock: Clock::Virtual,
        measure: ccslt_placement::measure,
    },
    Experiment {
        name: "ndp-update-speedup",
        title: "A long update near the data and by the host, beside short host updates",
        source: "ccSLT paper (EDBT 2022), sections 1 to 3, argued but not measured there",
        clock: Clock::Virtual,
        measure: ndp_update_speedup::measure,
    },
];

/// What an experiment is measured with.
pub struct Setting<'a> {
    /// Of all draws of the first run; the next has the next seed.
    pub seed: u64,
    /// How many runs, at least 1.
    pub seeds: u32,
    /// Part of the full length, above 0 to 1: tests take less.
    pub scale: f64,
    /// What the fitted entries of platforms are multiplied by: 1, but in tests.
    pub fitted: f64,
    /// In further runs under the first seed, what they are multiplied by: a claim that does not come
    /// out there, too, is no finding.
    pub shifts: &'a [f64],
    /// A platform file of the user's, in place of the first platform of the program.
    pub platform: Option<&'a Path>,
    /// Where to say how far it is.
    pub progress: &'a mut Progress,
}

impl Setting<'_> {
    /// The platforms `names`, with the user's file in place of the first of the program.
    pub fn platforms(&self, names: &[&str]) -> Vec<String> {
        let name = |name: &&str| match self.platform {
            Some(file) if *name == Platform::NAMES[0] => file.display().to_string(),
            _ => (*name).into(),
        };
        names.iter().map(name).collect()
    }
}

/// Why an experiment could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// In the simulated system.
    #[error(transparent)]
    System(#[from] SystemError),
    /// In the coherent memory alone.
    #[error(transparent)]
    Coherence(#[from] CoherenceError),
    /// In a near-data run.
    #[error(transparent)]
    NearData(Box<NearDataError>),
    /// Of the user's platform file.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// Of the server that is measured too.
    #[error(transparent)]
    Postgres(#[from] PostgresError),
}

impl From<NearDataError> for ExperimentError {
    fn from(error: NearDataError) -> Self {
        Self::NearData(Box::new(error))
    }
}

impl Experiment {
    /// Measures at full length; on the user's `platform`, if there is one.
    ///
    /// # Errors
    /// When the platform does not do, when something that is to be measured is not on this machine,
    /// or when the simulation fails.
    pub fn measure(
        &self,
        seeds: Seeds,
        platform: Option<&Path>,
        out: &Output,
    ) -> Result<Findings, Failure> {
        if let Some(file) = platform {
            self.check_platform(file)?;
        }
        let Seeds { seed, seeds } = seeds;
        let mut progress = out.progress(self.name);
        let mut setting = Setting {
            seed,
            seeds,
            scale: 1.0,
            fitted: 1.0,
            shifts: &SHIFTS,
            platform,
            progress: &mut progress,
        };
        let measured = (self.measure)(&mut setting);
        let measured = measured.map(|findings| match platform {
            Some(file) => findings.on_platform_of(file),
            None => findings,
        });
        measured.map_err(|error| match (error, platform) {
            (ExperimentError::Postgres(why), _) => {
                Failure::NotMeasured(format!("{}: not measured: {why}", self.name))
            }
            (error, Some(file)) if error.is_of_platform() => Failure::input(file, error),
            (error, _) => Failure::Internal(format!("{}: {error}", self.name)),
        })
    }

    /// Refuses before the run what it cannot be made with.
    fn check_platform(&self, file: &Path) -> Result<(), Failure> {
        if self.clock == Clock::Wall {
            let what = format_args!(
                "--platform: expected an experiment in virtual time; {} is measured by the clock on \
                 the wall, and no platform is modelled",
                self.name
            );
            return Err(Failure::input(file, what));
        }
        let platform = Platform::load(file).map_err(|error| Failure::Input(error.to_string()))?;
        let Some(coherence) = &platform.coherence else {
            return Err(Failure::input(file, "expected a table [coherence], found none"));
        };
        match coherence.host.agents.get().0 {
            cores if cores < HOST_CORES => {
                let expected = format_args!("expected at least {HOST_CORES}");
                let what = format_args!("coherence.host.agents = {cores}, {expected}");
                Err(Failure::input(file, what))
            }
            _ => Ok(()),
        }
    }

    /// The command that makes the findings again.
    pub fn command(&self, seeds: Seeds, findings: &Findings) -> String {
        let mut command =
            format!("lockstep experiment {}{}", self.name, seeds.arguments(self.clock));
        let is_file = |name: &&String| !Platform::NAMES.contains(&name.as_str());
        if let Some(file) = findings.platforms.iter().find(is_file) {
            command += &format!(" --platform {file}");
        }
        command
    }
}

impl ExperimentError {
    /// The platform is to blame.
    fn is_of_platform(&self) -> bool {
        match self {
            Self::Platform(_) | Self::Coherence(_) => true,
            Self::System(error) => matches!(error, SystemError::Coherence(_)),
            Self::NearData(error) => matches!(**error, NearDataError::Incomplete { .. }),
            Self::Postgres(_) => false,
        }
    }
}

const ABOUT: &str = "\
Examples:
  lockstep experiment                       lists them
  lockstep experiment ccslt-fig4            prints the table, writes out/ccslt-fig4.json, .csv, .svg
  lockstep experiment ccslt-fig5 --json --seed 7 --seeds 12
  lockstep experiment ccslt-placement --platform my-board.toml
";

/// Under which seeds to measure.
#[derive(clap::Args, Clone, Copy)]
pub struct Seeds {
    /// Of all draws of the first run; the next has the next seed. The same seeds give the same
    /// values, but for those of this machine's clock.
    #[arg(long, default_value_t = DEFAULT_SEED, value_parser = crate::run::seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// How many seeds each experiment in virtual time is run under; one by this machine's clock is
    /// run once.
    #[arg(long, default_value_t = DEFAULT_SEEDS, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
}

impl Seeds {
    /// As arguments of a command, a blank before each.
    pub fn arguments(&self, clock: Clock) -> String {
        match clock {
            Clock::Virtual => format!(" --seed {} --seeds {}", self.seed, self.seeds),
            Clock::Wall => format!(" --seed {}", self.seed),
        }
    }

    /// Those of an experiment that is measured by `clock`, in words.
    pub fn text(&self, clock: Clock) -> String {
        let last = self.seed.wrapping_add(u64::from(self.seeds) - 1);
        match clock {
            Clock::Virtual if self.seeds > 1 => format!("{} to {last}", self.seed),
            _ => self.seed.to_string(),
        }
    }
}

/// Measures a figure or table of a paper again, or lists those that there are.
#[derive(clap::Args)]
#[command(after_help = ABOUT)]
pub struct Args {
    /// Which one; without it, they are listed.
    name: Option<String>,
    /// Prints JSON instead of the table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    seeds: Seeds,
    /// Takes latencies and rates from this platform file, instead of those of n1sdp-u280-ccix; in
    /// virtual time.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    platform: Option<PathBuf>,
    /// Folder for the JSON, CSV and SVG files.
    #[arg(long, default_value = "out")]
    out: PathBuf,
}

/// Of an experiment that was not given one.
const DEFAULT_SEED: u64 = 1;

/// Of the host, in all experiments that simulate one.
const HOST_CORES: u32 = 4;

/// Of [`Setting::shifts`], but in tests.
const SHIFTS: [f64; 2] = [0.5, 1.5];

/// How many seeds: enough to tell a value from its luck, few enough to wait for.
const DEFAULT_SEEDS: u32 = 5;

/// Runs the command.
///
/// # Errors
/// When there is no such experiment, or its files cannot be written.
pub fn run(args: Args, out: &Output) -> Result<(), Failure> {
    let Some(name) = args.name else {
        return ALL.iter().try_for_each(|experiment| {
            let Experiment { name, title, source, .. } = experiment;
            out.print(format_args!(
                "{}  {title}\n{:16}  {source}",
                out.strong(format_args!("{name:16}")),
                ""
            ))
        });
    };
    let experiment = named(&name)?;
    // Before the run, so that a long one is not in vain.
    make_folder(&args.out)?;
    let findings = experiment.measure(args.seeds, args.platform.as_deref(), out)?;
    let commit = Commit::of_sources();
    let record = Record::new(experiment, args.seeds, &findings, commit.clone()).text();
    let written = write(&args.out, experiment, &findings, &record)?;
    if args.json {
        return out.print(record);
    }
    out.print(table::text(experiment, args.seeds, &findings, commit.as_ref(), out))?;
    out.note(format_args!("Written: {}, .csv and .svg", written.display()));
    Ok(())
}

/// Makes the folder for results, if it is not there.
///
/// # Errors
/// When it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|cause| {
        let what = format_args!("expected a folder for the results, which cannot be made: {cause}");
        Failure::input(folder, what)
    })
}

fn named(name: &str) -> Result<&'static Experiment, Failure> {
    ALL.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
        let names = ALL.map(|experiment| experiment.name).join(", ");
        Failure::Input(format!("experiment {name:?}: expected one of {names}"))
    })
}

/// Writes the record (JSON), its values as CSV and the pictures into `folder`, which is made if it is
/// not there; the first one's path.
///
/// # Errors
/// When they cannot be written.
pub fn write(
    folder: &Path,
    experiment: &Experiment,
    findings: &Findings,
    record: &str,
) -> Result<PathBuf, Failure> {
    make_folder(folder)?;
    let name = experiment.name;
    let mut files = vec![
        (format!("{name}.json"), format!("{record}\n")),
        (format!("{name}.csv"), tidy::csv(experiment, findings)),
    ];
    for (number, plot) in findings.plots.iter().enumerate() {
        // The first has no number.
        let number = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        files.push((format!("{name}{number}.svg"), svg(plot, experiment.title, Display::Wide)));
    }
    for (name, text) in &files {
        let path = folder.join(name);
        let mut file = WholeFile::create(&path)?;
        file.write_all(text.as_bytes()).map_err(|cause| Failure::writing(&path, cause))?;
        file.finish()?;
    }
    Ok(folder.join(&files[0].0))
}

#[cfg(test)]
mod tests;
