// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each performance goal beside its floor, both measured in the same run.
//!
//! A benchmark is one entry of [`ALL`]. Nothing here passes or fails: performance depends on the
//! machine and on its other work.

mod backends;
mod cosimulation;
mod database_workloads;
mod element;
mod event_kernel;
mod hand_over;
mod host_lock;
mod lock_unit;
mod pin;
pub mod postgres;
mod recovery;
mod rival;
mod stopwatch;
mod store;
mod table_memory;
mod tuple_lock;

use std::path::{Path, PathBuf};

use serde::Serialize;
use terminal::Progress;

use postgres::PostgresError;
pub use rival::Rival;

/// The parts that are measured together.
pub struct Bench {
    /// What it is asked for by.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    measure: Measure,
}

/// The measurement, or the reason why there is none.
type Figures = Result<Vec<Measurement>, String>;

/// How a bench is measured.
enum Measure {
    /// In this process alone.
    Here(fn(Size) -> Figures),
    /// Beside a PostgreSQL server, if there is one.
    BesidePostgres(fn(Size, &mut Progress) -> Result<Measured, PostgresError>),
    /// Of devices in this process and behind a socket, which the program may serve.
    OfDevices(fn(Size, Option<&Path>) -> Figures),
    /// In this process alone, and long enough to show its progress.
    Long(fn(Size, &mut Progress) -> Figures),
    /// Beside other engines, whose programs are in a folder, if one is named.
    BesideRivals(fn(Size, Option<&[Rival]>, &mut Progress) -> Figures),
}

/// The outcome of a bench.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its figures.
    pub figures: Vec<Measurement>,
    /// Something to see, in letters.
    pub picture: Option<String>,
}

/// All benches there are.
pub const ALL: [Bench; 12] = [
    Bench {
        name: "host-lock",
        about: "uncontended acquire + release on the host beside a bare pair of compare-and-swaps",
        measure: Measure::Here(host_lock::measure),
    },
    Bench {
        name: "hand-over",
        about: "a lock from thread to thread beside a cache line's ping-pong",
        measure: Measure::Here(hand_over::measure),
    },
    Bench {
        name: "lock-unit",
        about: "the lock unit's RTL in clock cycles",
        measure: Measure::Here(lock_unit::measure),
    },
    Bench {
        name: "element",
        about: "the visibility element's RTL in clock cycles, one and several at a memory",
        measure: Measure::Here(element::measure),
    },
    Bench {
        name: "cosimulation",
        about: "the lock unit with its bus models and memory beside its bare model",
        measure: Measure::Here(cosimulation::measure),
    },
    Bench {
        name: "event-kernel",
        about: "events of the kernel of virtual time",
        measure: Measure::Here(event_kernel::measure),
    },
    Bench {
        name: "table-memory",
        about: "what buckets and waiting transactions cost",
        measure: Measure::Here(table_memory::measure),
    },
    Bench {
        name: "driver",
        about: "registers, copies, interrupts and locks of a device, in process and over vfio-user",
        measure: Measure::OfDevices(backends::measure),
    },
    Bench {
        name: "store",
        about: "transfers and reads of the store; ./kit bench rivals sets other engines beside it",
        measure: Measure::BesideRivals(store::measure_with),
    },
    Bench {
        name: "recovery",
        about: "opening a store: with a log to be redone, and of 1 GiB closed in order",
        measure: Measure::Long(recovery::measure),
    },
    Bench {
        name: "workloads",
        about: "SmallBank, TATP, YCSB and TPC-C on the store in memory",
        measure: Measure::Long(database_workloads::measure),
    },
    Bench {
        name: "postgres",
        about: "the host's lock beside PostgreSQL's own tuple lock, with histograms of both",
        measure: Measure::BesidePostgres(tuple_lock::measure),
    },
];

/// How much work a bench does.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Rounds, of which the best counts.
    pub rounds: u32,
    /// Divides the work of a round.
    pub divisor: u64,
}

impl Size {
    /// Rounds of a few milliseconds, so that on a busy machine some are left undisturbed.
    pub const FULL: Size = Size { rounds: 80, divisor: 1 };

    /// `count` pieces of work, or as many as this size has of them.
    fn of(self, count: u64) -> u64 {
        (count / self.divisor).max(1)
    }
}

/// The figure that the measured one is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The value by the floor is at most this.
    RatioAtMost(f64),
    /// The value by the floor is at least this.
    RatioAtLeast(f64),
    /// The value is at least this.
    AtLeast(f64),
    /// The value is at most this.
    AtMost(f64),
}

impl Goal {
    /// The figure alone.
    fn figure(self) -> f64 {
        match self {
            Goal::RatioAtMost(figure)
            | Goal::RatioAtLeast(figure)
            | Goal::AtLeast(figure)
            | Goal::AtMost(figure) => figure,
        }
    }

    fn text(self) -> String {
        match self {
            Goal::RatioAtMost(figure) => format!("ratio ≤ {figure}"),
            Goal::RatioAtLeast(figure) => format!("ratio ≥ {figure}"),
            Goal::AtLeast(figure) => format!("≥ {}", short(figure)),
            Goal::AtMost(figure) => format!("≤ {}", short(figure)),
        }
    }
}

/// One measured figure.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The measurements.
    pub bench: String,
    /// Of value and floor.
    pub unit: &'static str,
    /// The figure.
    pub value: f64,
    /// The bare minimum, measured in the same run.
    pub floor: Option<f64>,
    /// What is to be reached, if the issue that asked for it says.
    pub goal: Option<Goal>,
}

/// One line of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    bench: &'a str,
    unit: &'a str,
    value: f64,
    floor: Option<f64>,
    ratio: Option<f64>,
    goal: Option<f64>,
    met: Option<bool>,
}

impl Measurement {
    fn new(bench: impl Into<String>, unit: &'static str, value: f64) -> Self {
        Self { bench: bench.into(), unit, value, floor: None, goal: None }
    }

    fn over(self, floor: f64) -> Self {
        Self { floor: Some(floor), ..self }
    }

    fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// Value by floor.
    pub fn ratio(&self) -> Option<f64> {
        self.floor.map(|floor| self.value / floor)
    }

    /// Whether the goal is reached, if there is one.
    ///
    /// # Panics
    /// When the goal is a ratio and there is no floor.
    pub fn met(&self) -> Option<bool> {
        let ratio = || self.ratio().expect("a goal for the ratio needs a floor");
        self.goal.map(|goal| match goal {
            Goal::RatioAtMost(figure) => ratio() <= figure,
            Goal::RatioAtLeast(figure) => ratio() >= figure,
            Goal::AtLeast(figure) => self.value >= figure,
            Goal::AtMost(figure) => self.value <= figure,
        })
    }

    /// The cells of its line in a table: bench, value, unit, floor, ratio, goal, met.
    pub fn cells(&self) -> [String; 7] {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        [
            self.bench.clone(),
            short(self.value),
            self.unit.into(),
            or_none(self.floor.map(short)),
            or_none(self.ratio().map(|ratio| format!("{ratio:.2}"))),
            or_none(self.goal.map(Goal::text)),
            or_none(self.met().map(|met| if met { "yes".into() } else { "no".into() })),
        ]
    }

    /// As JSON, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(&Json {
            bench: &self.bench,
            unit: self.unit,
            value: self.value,
            floor: self.floor,
            ratio: self.ratio(),
            goal: self.goal.map(Goal::figure),
            met: self.met(),
        })
        .expect("a measurement is plain data")
    }
}

/// The heads over [`Measurement::cells`].
pub const HEADS: [&str; 7] = ["bench", "value", "unit", "floor", "ratio", "goal", "met"];

/// Three digits, with a factor of a thousand or a million as a letter.
fn short(number: f64) -> String {
    match number.abs() {
        below if below < 10.0 => format!("{:.2}", number),
        below if below < 100.0 => format!("{:.1}", number),
        below if below < 1e4 => format!("{:.0}", number),
        below if below < 1e6 => format!("{:.0} k", number / 1e3),
        _ => format!("{:.1} M", number / 1e6),
    }
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There is no bench of this name.
    #[error("bench {name:?}: expected one of {}", ALL.map(|bench| bench.name).join(", "))]
    Unknown {
        /// The requested operation.
        name: String,
    },
    /// The program of another engine is not in the folder that was named.
    #[error("{}: no such program; expected after: ./kit bench rivals", program.display())]
    NoRival {
        /// Where it was looked for.
        program: PathBuf,
    },
    /// What it is measured beside is not on this machine, or does not work.
    #[error("bench {bench}: not measured: {cause}")]
    NotMeasured {
        /// Which bench.
        bench: &'static str,
        /// The missing part.
        cause: PostgresError,
    },
    /// The system under measurement does not work.
    #[error("bench {bench}: {cause}")]
    Failed {
        /// Which bench.
        bench: &'static str,
        /// Why not.
        cause: String,
    },
}

/// With what a bench is measured.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// How much work it does.
    pub size: Size,
    /// The engines to measure the store beside, if they are wanted.
    pub rivals: Option<&'a [Rival]>,
    /// The command `lockstep`, which serves a device in a process of its own; without it a thread of
    /// this process does.
    pub server: Option<&'a Path>,
}

impl Bench {
    /// Measures all its figures.
    ///
    /// # Errors
    /// When what is to be measured does not work, or is not on this machine.
    pub fn measure(
        &self,
        setting: &Setting<'_>,
        progress: &mut Progress,
    ) -> Result<Measured, BenchError> {
        let Setting { size, rivals, server } = *setting;
        let bench = self.name;
        let figures = match self.measure {
            Measure::Here(measure) => measure(size),
            Measure::Long(measure) => measure(size, progress),
            Measure::OfDevices(measure) => measure(size, server),
            Measure::BesideRivals(measure) => measure(size, rivals, progress),
            Measure::BesidePostgres(measure) => {
                return measure(size, progress)
                    .map_err(|cause| BenchError::NotMeasured { bench, cause });
            }
        };
        let figures = figures.map_err(|cause| BenchError::Failed { bench, cause })?;
        Ok(Measured { figures, picture: None })
    }
}

/// The benches of these names, in the order of [`ALL`]; all of them, if none is named.
///
/// # Errors
/// When there is no bench of one of the names.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Bench>, BenchError> {
    let unknown = |name: &&String| ALL.iter().all(|bench| bench.name != **name);
    if let Some(name) = names.iter().find(unknown) {
        return Err(BenchError::Unknown { name: name.clone() });
    }
    let wanted = |bench: &&Bench| names.is_empty() || names.iter().any(|name| name == bench.name);
    Ok(ALL.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that benches do not rot. How fast anything is, is not asked.
    #[test]
    fn every_bench_runs() {
        let size = Size { rounds: 1, divisor: 1000 };
        let setting = Setting { size, rivals: None, server: None };
        for bench in &ALL {
            let measured = match bench.measure(&setting, &mut Progress::hidden()) {
                Ok(measured) => measured.figures,
                Err(why @ BenchError::NotMeasured { .. }) => {
                    eprintln!("skipped: {why}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            assert!(!measured.is_empty(), "{}", bench.name);
            for measurement in measured {
                let Measurement { value, floor, .. } = measurement;
                assert!(value.is_finite() && floor.is_none_or(|f| f > 0.0), "{measurement:?}");
                assert_eq!(measurement.met().is_some(), measurement.goal.is_some());
            }
        }
    }

    #[test]
    fn a_goal_is_met_from_its_figure_on() {
        let measured = |value: f64, goal| Measurement::new("x", "ns", value).over(10.0).goal(goal);
        assert_eq!(measured(15.0, Goal::RatioAtMost(1.5)).met(), Some(true));
        assert_eq!(measured(15.1, Goal::RatioAtMost(1.5)).met(), Some(false));
        assert_eq!(measured(6.0, Goal::RatioAtLeast(0.6)).met(), Some(true));
        assert_eq!(measured(5.9, Goal::RatioAtLeast(0.6)).met(), Some(false));
        assert_eq!(measured(64.0, Goal::AtMost(64.0)).met(), Some(true));
        assert_eq!(measured(63.0, Goal::AtLeast(64.0)).met(), Some(false));
        assert_eq!(
            measured(15.0, Goal::RatioAtMost(1.5)).json(),
            r#"{"bench":"x","unit":"ns","value":15.0,"floor":10.0,"ratio":1.5,"goal":1.5,"met":true}"#
        );
    }

    #[test]
    fn an_unknown_bench_is_answered_with_all_names() {
        let message = chosen(&["host".into()]).err().expect("refused").to_string();
        assert!(message.starts_with("bench \"host\": expected one of host-lock, "), "{message}");
        assert_eq!(chosen(&[]).expect("all").len(), ALL.len());
    }
}
