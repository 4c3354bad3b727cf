// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs cases, shrinks those that fail and says how to repeat them.

use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use proptest::strategy::ValueTree;
use sim::lock_unit::RESET_CYCLES;
use sim::models::{LockUnit, TupleLockUnit, WaveWindow};

use crate::bench::{Bench, Summary};
use crate::case::Case;
use crate::draw;
use crate::mismatch::MismatchError;

/// Cycles of waves before and after a mismatch.
const WINDOW: (u64, u64) = (200, 50);
/// Runs that each of the two ways of shrinking may take.
const MOST_SHRINKS: usize = 1_500;

/// Runs a case on a unit that has not been clocked yet.
///
/// # Errors
/// The first thing in which the unit and its oracle differ.
///
/// # Panics
/// When [`Case::check`] finds fault with the case.
pub fn run(case: &Case, unit: impl LockUnit) -> Result<Summary, MismatchError> {
    if let Err(wrong) = case.check() {
        panic!("impossible case: {wrong}");
    }
    Bench::new(case, unit).run()
}

/// Why a case could not be replayed to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The unit and its oracle differ.
    #[error(transparent)]
    Mismatch(#[from] MismatchError),
    /// The case or the waves could not be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
}

/// Runs a case on the unit and writes the waves of a window of clock cycles, counted from before
/// the reset (4 cycles) as [`LockUnit::cycles`] does.
///
/// # Errors
/// [`ReplayError::Mismatch`] when it fails (the waves are written all the same), or of the file.
pub fn replay(case: &Case, waves: Option<(PathBuf, WaveWindow)>) -> Result<Summary, ReplayError> {
    let mut unit = TupleLockUnit::powered_up(case.seed);
    if let Some((path, window)) = waves {
        unit.open_waves(&path, window)?;
    }
    Ok(run(case, unit)?)
}

/// Reads a case that a failure has left behind.
///
/// # Errors
/// Of the file system, or with the file and what is wrong in it.
pub fn load(path: &Path) -> Result<Case, io::Error> {
    let name = |error: String| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
    };
    let text = fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let case: Case = serde_json::from_str(&text).map_err(|error| name(error.to_string()))?;
    case.check().map_err(name)?;
    Ok(case)
}

/// A case that failed, shrunk, with all that is needed to repeat it.
pub struct Failure {
    /// The seed that it was drawn from.
    pub seed: u64,
    /// The smallest case that was found to fail.
    pub case: Case,
    /// How it fails.
    pub mismatch: MismatchError,
    /// The case as a file, and the waves around the mismatch.
    pub files: io::Result<(PathBuf, PathBuf)>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, case, mismatch, files } = self;
        writeln!(f, "seed {seed} ({}), shrunk:", draw::Profile::of_seed(*seed))?;
        let mut text = String::new();
        write!(text, "{case}")?;
        text.lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        writeln!(f, "{mismatch}")?;
        match files {
            Ok((case, waves)) => {
                writeln!(f, "case:  {}", case.display())?;
                write!(f, "waves: {}", waves.display())
            }
            Err(error) => write!(f, "no case and waves written: {error}"),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Runs the case of a seed on a unit that `new_unit` makes, of the seed of its power-up.
///
/// # Errors
/// The failure, after shrinking; its case and waves are under the folder `conformance` of Cargo's
/// target directory.
pub fn check_seed<M: LockUnit>(
    seed: u64,
    new_unit: impl Fn(u64) -> M,
) -> Result<Summary, Box<Failure>> {
    let case = draw::case(seed);
    let mismatch = match run(&case, new_unit(case.seed)) {
        Ok(summary) => return Ok(summary),
        Err(mismatch) => mismatch,
    };
    let (case, mismatch) = shrink(seed, mismatch, &new_unit);
    let files = keep(seed, &case, &mismatch, new_unit(case.seed));
    Err(Box::new(Failure { seed, case, mismatch, files }))
}

/// The smallest case that still fails: of those that `proptest` makes out of the seed's, and then
/// with each agent and step left out that is not needed.
pub fn shrink<M: LockUnit>(
    seed: u64,
    mut mismatch: MismatchError,
    new_unit: impl Fn(u64) -> M,
) -> (Case, MismatchError) {
    let mut tree = draw::tree(seed);
    let mut smallest = tree.current();
    let mut more = tree.simplify();
    for _ in 0..MOST_SHRINKS {
        if !more {
            break;
        }
        let case = tree.current();
        match run(&case, new_unit(case.seed)) {
            Err(found) => {
                (smallest, mismatch) = (case, found);
                more = tree.simplify();
            }
            Ok(_) => more = tree.complicate(),
        }
    }
    let mut runs_left = MOST_SHRINKS;
    let mut smaller = without(&smallest).into_iter();
    while let Some(case) = smaller.next().filter(|_| runs_left > 0) {
        runs_left -= 1;
        if let Err(found) = run(&case, new_unit(case.seed)) {
            smaller = without(&case).into_iter();
            (smallest, mismatch) = (case, found);
        }
    }
    (smallest, mismatch)
}

/// The case without one of its agents, and without one of the steps.
fn without(case: &Case) -> Vec<Case> {
    let mut smaller = Vec::new();
    let mut add = |change: &dyn Fn(&mut Case)| {
        let mut case = case.clone();
        change(&mut case);
        smaller.push(case);
    };
    for (index, agent) in case.agents.iter().enumerate() {
        add(&|case| {
            case.agents.remove(index);
        });
        for step in 0..agent.script.len() {
            add(&|case| {
                case.agents[index].script.remove(step);
            });
        }
    }
    smaller
}

/// Writes the case, and its waves by running it again.
fn keep(
    seed: u64,
    case: &Case,
    mismatch: &MismatchError,
    mut unit: impl LockUnit,
) -> io::Result<(PathBuf, PathBuf)> {
    let folder = target().join("conformance");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("seed-{seed}.json"));
    fs::write(&file, serde_json::to_string_pretty(case)?)?;
    let waves = folder.join(format!("seed-{seed}.fst"));
    unit.open_waves(&waves, window(mismatch))?;
    let again = run(case, unit);
    if again.as_ref().err() != Some(mismatch) {
        let message = format!("the same case ran differently the second time: {again:?}");
        return Err(io::Error::other(message));
    }
    Ok((file, waves))
}

/// The cycles around a mismatch, as waves count them.
pub fn window(mismatch: &MismatchError) -> WaveWindow {
    let (before, after) = WINDOW;
    WaveWindow::around(mismatch.cycle + u64::from(RESET_CYCLES), before, after)
}

/// Cargo's target directory.
fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
    }
}
