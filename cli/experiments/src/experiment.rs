// SPDX-License-Identifier: MIT OR Apache-2.0
//! The definition of an experiment, and its settings.

use std::path::{Path, PathBuf};
use std::thread;

use bench::postgres::PostgresError;
use cluster_sim::micro::smart_bench::MicroError;
use cluster_sim::platform::Hardware;
use cluster_sim::run::RunError;
use sim::coherence::CoherenceError;
use sim::system::SystemError;
use system::near_data::NearDataError;
use terminal::Progress;
use timing::platform::{End, Platform, PlatformError, PlatformFile};

use crate::findings::{Findings, Paper};
use crate::seeds::Seeds;

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
    /// Whose latencies and rates it models, by name; none in wall-clock time.
    pub platforms: &'static [&'static str],
    /// The paper's values, each of which stands beside a row.
    pub paper: &'static [Paper],
    /// Measures it; the platforms are filled in by [`Experiment::measure`].
    pub(crate) run: fn(&mut Setting<'_>) -> Result<Findings, ExperimentError>,
}

/// The clock of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Of the model: the same seeds and version give the same values on every machine.
    Virtual,
    /// On the wall: values are those of this machine, measured once.
    Wall,
}

/// Of the host, in all experiments that simulate one.
const HOST_CORES: u32 = 4;

/// Of [`Setting::shifts`], but in tests.
const SHIFTS: [f64; 2] = [0.5, 1.5];

/// With what an experiment is measured.
pub struct Setting<'a> {
    /// Of all draws.
    pub seeds: Seeds,
    /// How many threads make the runs, at least 1. The findings are the same with any number.
    pub threads: usize,
    /// Part of the full length, above 0 to 1: tests take less.
    pub scale: f64,
    /// What the fitted entries of platforms are multiplied by: 1, but in tests.
    pub fitted: f64,
    /// In further runs under the first seed, what they are multiplied by: a claim that does not come
    /// out there, too, is no finding.
    pub shifts: &'a [f64],
    /// A platform file of the user's, in place of [`Setting::replaced`].
    pub platform: Option<&'a Path>,
    /// The platform that the user's file replaces; filled in by [`Experiment::measure`].
    pub replaced: &'static str,
    /// An entry of class E at an end of its interval, to see what hangs on it.
    pub assumed: Option<&'a Assumed>,
    /// Whether only the points of headlines are measured: those with a value of the paper.
    pub only_headlines: bool,
    /// Where to say how far it is.
    pub progress: &'a mut Progress,
}

impl<'a> Setting<'a> {
    /// At full length, on all cores.
    pub fn full(seeds: Seeds, platform: Option<&'a Path>, progress: &'a mut Progress) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self {
            seeds,
            threads,
            scale: 1.0,
            fitted: 1.0,
            shifts: &SHIFTS,
            platform,
            replaced: Platform::NAMES[0],
            assumed: None,
            only_headlines: false,
            progress,
        }
    }

    /// The platforms `names`, with the user's file in place of the one that it replaces.
    fn platforms(&self, names: &[&str]) -> Vec<String> {
        let name = |name: &&str| match self.platform {
            Some(file) if *name == self.replaced => file.display().to_string(),
            _ => (*name).into(),
        };
        names.iter().map(name).collect()
    }
}

/// An entry of class E at an end of its interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The platform.
    pub platform: &'static str,
    /// The dotted name of the entry.
    pub entry: String,
    /// The end.
    pub end: End,
}

/// Why an experiment could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The user's platform does not do for it.
    #[error(transparent)]
    Unfit(#[from] UnfitPlatformError),
    /// In the simulated system.
    #[error(transparent)]
    System(#[from] SystemError),
    /// In the coherent memory alone.
    #[error(transparent)]
    Coherence(#[from] CoherenceError),
    /// In a near-data run.
    #[error(transparent)]
    NearData(Box<NearDataError>),
    /// In a run of look-ups.
    #[error(transparent)]
    LookUps(Box<nic_runs::RunError>),
    /// In a run of a cluster.
    #[error(transparent)]
    Cluster(Box<RunError>),
    /// In a benchmark of hardware alone.
    #[error(transparent)]
    Micro(#[from] MicroError),
    /// In a micro-benchmark of a cluster.
    #[error("{0}")]
    Case(String),
    /// Of the user's platform file.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// Of the server that is measured too.
    #[error(transparent)]
    Postgres(#[from] PostgresError),
}

/// Why a platform file does not do for an experiment.
#[derive(Debug, thiserror::Error)]
pub enum UnfitPlatformError {
    /// It is no platform file.
    #[error(transparent)]
    Unreadable(PlatformError),
    /// The experiment models no platform.
    #[error(
        "{}: --platform: expected an experiment that models a platform; {experiment} models none",
        file.display()
    )]
    NotModelled {
        /// The file.
        file: PathBuf,
        /// The experiment's name.
        experiment: &'static str,
    },
    /// The experiment models another platform.
    #[error(
        "{}: --platform: expected an experiment on {}; {experiment} models {models}",
        file.display(), Platform::NAMES[0]
    )]
    OfAnother {
        /// The file.
        file: PathBuf,
        /// The experiment's name.
        experiment: &'static str,
        /// What it models.
        models: String,
    },
    /// It has no coherent memory.
    #[error("{}: expected a table [coherence], found none", file.display())]
    NotCoherent {
        /// The file.
        file: PathBuf,
    },
    /// Its host is too small.
    #[error(
        "{}: coherence.host.agents = {cores}, expected at least {HOST_CORES}",
        file.display()
    )]
    FewCores {
        /// The file.
        file: PathBuf,
        /// How many it has.
        cores: u32,
    },
}

impl From<nic_runs::RunError> for ExperimentError {
    fn from(error: nic_runs::RunError) -> Self {
        Self::LookUps(Box::new(error))
    }
}

impl From<RunError> for ExperimentError {
    fn from(error: RunError) -> Self {
        Self::Cluster(Box::new(error))
    }
}

impl From<NearDataError> for ExperimentError {
    fn from(error: NearDataError) -> Self {
        Self::NearData(Box::new(error))
    }
}

impl ExperimentError {
    /// The user's platform is to blame, if there is one.
    pub fn is_of_platform(&self) -> bool {
        match self {
            Self::Unfit(_)
            | Self::Platform(_)
            | Self::Coherence(_)
            | Self::Micro(_)
            | Self::Case(_) => true,
            Self::System(error) => matches!(error, SystemError::Coherence(_)),
            Self::NearData(error) => matches!(**error, NearDataError::Incomplete { .. }),
            Self::Cluster(error) => error.is_of_input(),
            Self::LookUps(_) | Self::Postgres(_) => false,
        }
    }
}

impl Experiment {
    /// Measures.
    ///
    /// # Errors
    /// When the platform does not do, when something that is to be measured is not on this machine,
    /// or when the simulation fails.
    pub fn measure(&self, setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
        setting.replaced = self.replaced();
        if let Some(file) = setting.platform {
            self.check_platform(file)?;
        }
        let platforms = setting.platforms(self.platforms);
        let findings = Findings { platforms, ..(self.run)(setting)? };
        Ok(match setting.platform {
            Some(file) => findings.on_platform_of(file, setting.replaced),
            None => findings,
        })
    }

    /// The platform that a file of the user's stands for: that of a host and a device if it models it,
    /// else the first cluster.
    fn replaced(&self) -> &'static str {
        match self.platforms.first() {
            Some(first) if Hardware::NAMES.contains(first) => first,
            _ => Platform::NAMES[0],
        }
    }

    /// Refuses before the run what it cannot be made with.
    fn check_platform(&self, file: &Path) -> Result<(), UnfitPlatformError> {
        let path = || file.to_owned();
        if self.platforms.is_empty() {
            return Err(UnfitPlatformError::NotModelled { file: path(), experiment: self.name });
        }
        if Hardware::NAMES.contains(&self.replaced()) {
            return match Hardware::load(file) {
                Ok(_) => Ok(()),
                Err(error) => Err(UnfitPlatformError::Unreadable(error)),
            };
        }
        if !self.platforms.contains(&Platform::NAMES[0]) {
            let (experiment, models) = (self.name, self.platforms.join(", "));
            return Err(UnfitPlatformError::OfAnother { file: path(), experiment, models });
        }
        let platform = Platform::load(file).map_err(UnfitPlatformError::Unreadable)?;
        let coherence = platform.coherence.as_ref();
        let coherence =
            coherence.ok_or_else(|| UnfitPlatformError::NotCoherent { file: path() })?;
        match coherence.host.agents.get().0 {
            cores if cores < HOST_CORES => {
                Err(UnfitPlatformError::FewCores { file: path(), cores })
            }
            _ => Ok(()),
        }
    }

    /// The command that makes the findings again.
    pub fn command(&self, seeds: Seeds, findings: &Findings) -> String {
        let mut command =
            format!("lockstep experiment {}{}", self.name, seeds.arguments(self.clock));
        let is_file = |name: &&String| !PlatformFile::NAMES.contains(&name.as_str());
        if let Some(file) = findings.platforms.iter().find(is_file) {
            command += &format!(" --platform {file}");
        }
        command
    }
}
