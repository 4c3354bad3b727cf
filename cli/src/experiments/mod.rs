//! `lockstep experiment`: figures and tables of the papers, measured again.
//!
//! Each is one entry of [`ALL`]. What is measured never comes from the paper; what does not come
//! out is said not to, and why. In virtual time each is measured under several seeds.

mod ccslt_fig4;
mod ccslt_fig5;
mod ccslt_fig6;
mod ccslt_placement;
mod findings;
mod lock_load;
mod ndp_update_speedup;
mod plot;
mod samples;
mod table;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sim::coherence::CoherenceError;
use sim::system::SystemError;
use system::near_data::NearDataError;

use crate::failure::Failure;
use crate::output::Output;
use crate::postgres::PostgresError;
use crate::progress::Progress;
use crate::whole_file::WholeFile;

pub use findings::{Findings, Json, Verdict};
pub use plot::svg;

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
    /// Where to say how far it is.
    pub progress: &'a mut Progress,
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
    /// Measures at full length.
    ///
    /// # Errors
    /// When the simulation fails, which is never the input's fault, or when something that is to
    /// be measured is not on this machine.
    pub fn measure(&self, seeds: Seeds, out: &Output) -> Result<Findings, Failure> {
        let Seeds { seed, seeds } = seeds;
        let mut progress = out.progress(self.name);
        let mut setting = Setting {
            seed,
            seeds,
            scale: 1.0,
            fitted: 1.0,
            shifts: &SHIFTS,
            progress: &mut progress,
        };
        (self.measure)(&mut setting).map_err(|error| match error {
            ExperimentError::Postgres(why) => {
                Failure::NotMeasured(format!("{}: not measured: {why}", self.name))
            }
            error => Failure::Internal(format!("{}: {error}", self.name)),
        })
    }
}

const ABOUT: &str = "\
Examples:
  lockstep experiment                       lists them
  lockstep experiment ccslt-fig4            prints the table, writes out/ccslt-fig4.json and .svg
  lockstep experiment ccslt-fig5 --json --seed 7 --seeds 12
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
    /// Folder for the JSON and SVG files.
    #[arg(long, default_value = "out")]
    out: PathBuf,
}

/// Of an experiment that was not given one.
const DEFAULT_SEED: u64 = 1;

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
    let findings = experiment.measure(args.seeds, out)?;
    let json = json(experiment, args.seeds, &findings);
    let written = write(&args.out, experiment, &findings, &json)?;
    if args.json {
        return out.print(json);
    }
    out.print(table::text(experiment, args.seeds, &findings, out))?;
    out.note(format_args!("Written: {} and .svg", written.display()));
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

/// The findings on one line.
pub fn json(experiment: &Experiment, seeds: Seeds, findings: &Findings) -> String {
    serde_json::to_string(&Json::new(experiment, seeds, findings)).expect("findings are plain data")
}

/// Writes both files into `folder`, which is made if it is not there; the first one's path.
///
/// # Errors
/// When they cannot be written.
pub fn write(
    folder: &Path,
    experiment: &Experiment,
    findings: &Findings,
    json: &str,
) -> Result<PathBuf, Failure> {
    make_folder(folder)?;
    let picture = svg(&findings.plot, experiment.title);
    let path = folder.join(experiment.name).with_extension("json");
    for (path, text) in [(path.clone(), json), (path.with_extension("svg"), &picture)] {
        let mut file = WholeFile::create(&path)?;
        writeln!(file, "{text}").map_err(|cause| Failure::writing(&path, cause))?;
        file.finish()?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a small part of the full length: enough to see that all of it works.
    fn small(experiment: &Experiment, Seeds { seed, seeds }: Seeds, fitted: f64) -> Findings {
        let mut progress = Output::new().quiet(true).progress("test");
        let mut setting =
            Setting { seed, seeds, scale: 0.02, fitted, shifts: &[], progress: &mut progress };
        (experiment.measure)(&mut setting).expect("measured")
    }

    fn seeds(seed: u64, seeds: u32) -> Seeds {
        Seeds { seed, seeds }
    }

    fn every_row_is_whole(findings: &Findings, seeds: usize) {
        for row in &findings.rows {
            // A host that is home to the table needs no link.
            let least = row.measured.min;
            let possible = least > 0.0 || row.unit == "B/lock" && least == 0.0;
            assert!(row.measured.max.is_finite() && possible, "{row:?}");
            assert_eq!(row.measured.seeds, seeds, "{row:?}");
        }
        assert!(findings.rows.len() >= 8 && !findings.claims.is_empty());
    }

    /// What a seed gives alone it gives beside another, too.
    fn one_seed_is_part_of(findings: &Findings, alone: &Findings) {
        assert_eq!(findings.rows.len(), alone.rows.len());
        for (row, alone) in findings.rows.iter().zip(&alone.rows) {
            let (ends, value) = (row.measured, alone.measured.median);
            assert_eq!(row.label, alone.label);
            assert!([ends.min, ends.max].contains(&value), "{row:?}: {value}");
        }
    }

    /// However an experiment makes its rows: what does not say that it rests on a fitted entry is the
    /// same with all of them moved.
    fn no_row_forgets_that_it_is_fitted(findings: &Findings, moved: &Findings) {
        let mut differ = 0;
        for (row, moved) in findings.rows.iter().zip(&moved.rows) {
            assert_eq!(row.label, moved.label);
            let same = row.measured == moved.measured;
            assert!(same || !row.fitted.is_empty(), "{row:?}, and moved {moved:?}");
            differ += usize::from(!same);
        }
        assert!(differ > 0, "no row rests on fitted entries");
    }

    fn works_under_seeds(name: &str) {
        let experiment = named(name).expect("there");
        assert_eq!(experiment.clock, Clock::Virtual);
        let findings = small(experiment, seeds(5, 2), 1.0);
        every_row_is_whole(&findings, 2);
        // Transfers of one device alone hardly depend on where they go.
        let differs = findings.rows.iter().any(|row| row.measured.min < row.measured.max);
        assert!(differs || name == "ccslt-fig5");
        let alone = small(experiment, seeds(6, 1), 1.0);
        one_seed_is_part_of(&findings, &alone);
        no_row_forgets_that_it_is_fitted(&alone, &small(experiment, seeds(6, 1), 1.3));
    }

    #[test]
    fn ccslt_fig4_works_under_seeds() {
        works_under_seeds("ccslt-fig4");
    }

    #[test]
    fn ccslt_fig5_works_under_seeds() {
        works_under_seeds("ccslt-fig5");
    }

    #[test]
    fn ccslt_placement_works_under_seeds() {
        works_under_seeds("ccslt-placement");
    }

    #[test]
    fn ndp_update_speedup_works_under_seeds() {
        works_under_seeds("ndp-update-speedup");
    }

    #[test]
    fn every_experiment_in_virtual_time_has_its_test() {
        let tests = include_str!("mod.rs");
        for experiment in ALL.iter().filter(|experiment| experiment.clock == Clock::Virtual) {
            let call = format!("works_under_seeds({:?});", experiment.name);
            assert!(tests.contains(&call), "{}", experiment.name);
        }
    }

    /// Where PostgreSQL is installed; a hundredth of the full length.
    #[test]
    fn the_experiment_by_the_clock_on_the_wall_gives_whole_rows() {
        let experiment = named("ccslt-fig6").expect("there");
        assert_eq!(experiment.clock, Clock::Wall);
        let mut progress = Output::new().quiet(true).progress("test");
        let mut setting = Setting {
            seed: 5,
            seeds: 3,
            scale: 0.01,
            fitted: 1.0,
            shifts: &[],
            progress: &mut progress,
        };
        let findings = match (experiment.measure)(&mut setting) {
            Err(ExperimentError::Postgres(missing @ PostgresError::Missing { .. })) => {
                return eprintln!("skipped: {missing}");
            }
            findings => findings.expect("measured"),
        };
        for row in &findings.rows {
            assert!(row.measured.max.is_finite() && row.measured.min > 0.0, "{row:?}");
            assert_eq!(row.measured.seeds, 1, "a clock on the wall is read once: {row:?}");
        }
        assert_eq!(findings.rows.iter().filter(|row| row.paper.is_some()).count(), 4);
        assert_eq!((findings.rows.len(), findings.claims.len()), (32, 3));
        let picture = svg(&findings.plot, experiment.title);
        assert!(picture.contains("PostgreSQL, random") && picture.contains("paper: ccSLT"));
    }

    #[test]
    fn the_files_are_written_and_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let experiment = named("ccslt-fig5").expect("there");
        let findings = small(experiment, seeds(1, 3), 1.0);
        let path = write(
            &folder.path().join("new"),
            experiment,
            &findings,
            &json(experiment, seeds(1, 3), &findings),
        )
        .expect("written");
        let text = fs::read_to_string(&path).expect("JSON");
        let value: serde_json::Value = serde_json::from_str(&text).expect("well formed");
        assert_eq!((&value["experiment"], &value["seed"]), (&"ccslt-fig5".into(), &1.into()));
        assert_eq!(value["seeds"], 3);
        let row = &value["rows"][0];
        let [min, measured, max] = ["min", "measured", "max"].map(|key| row[key].as_f64().unwrap());
        assert!(min <= measured && measured <= max && row["seeds"] == 3, "{row}");
        let ratio = row["measured"].as_f64().unwrap() / row["paper"].as_f64().unwrap();
        assert!((row["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9);
        assert!(row["fitted"].as_array().is_some_and(|names| !names.is_empty()), "{row}");
        let claim = &value["claims"][0];
        assert!(claim["finding"].is_boolean() && claim["seeds"] == 3, "{claim}");
        assert!(value["rows"][3]["paper"].is_null() && value["rows"][3]["ratio"].is_null());
        assert!(value["notes"].as_array().is_some_and(|notes| notes.len() > 3));
        let picture = fs::read_to_string(path.with_extension("svg")).expect("SVG");
        assert!(picture.starts_with("<svg") && picture.contains("8 KiB, PCIe, DMA read"));
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        let message = named("fig4").err().expect("refused").to_string();
        assert_eq!(
            message,
            "experiment \"fig4\": expected one of ccslt-fig4, ccslt-fig5, ccslt-fig6, \
             ccslt-placement, ndp-update-speedup"
        );
    }
}
