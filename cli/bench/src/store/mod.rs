// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store by itself, and beside other engines.

mod bank;
mod rivals;

use super::rival::Rival;
use super::{Goal, Measurement, Size};
use bank::{Bank, ROWS};
use terminal::Progress;

/// Transactions of a round on each thread.
const TRANSFERS: u64 = 200_000;
const READS: u64 = 1_000_000;

/// Rounds; each is long enough to be no lucky moment.
const ROUNDS: u32 = 10;

/// Two-row transfers, point reads, what a second thread adds, and what a version costs.
///
/// # Errors
/// When a folder for the store cannot be created, or the store fails or loses money.
pub fn measure(size: Size, progress: &mut Progress) -> Result<Vec<Measurement>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a folder for the store: {error}"))?;
    let rows = size.of(ROWS as u64).max(1_000) as i64;
    let mut figures = Vec::new();
    let bank = Bank::in_memory(rows)?;
    let (each, payload) = bank.bytes_of_a_version()?;
    figures.push(
        Measurement::new("version, beyond its payload", "B", each - payload)
            .over(payload)
            .goal(Goal::AtMost(48.0)),
    );
    progress.set(0.1, "transfers in memory");
    let alone = best(size, || bank.transfers(1, size.of(TRANSFERS)))?;
    figures.push(Measurement::new("transfer, in memory, 1 thread", "txn/s", alone));
    bank.check()?;
    drop(bank);

    let bank = Bank::in_folder(rows, folder.path())?;
    progress.set(0.2, "transfers with a log");
    let (alone, both) = turns(size, |threads| bank.transfers(threads, size.of(TRANSFERS)))?;
    figures.push(
        Measurement::new("transfer, no sync, 1 thread", "txn/s", alone).goal(Goal::AtLeast(1e6)),
    );
    figures.push(
        Measurement::new("transfer, no sync, 2 threads", "txn/s", both)
            .over(alone)
            .goal(Goal::RatioAtLeast(1.7)),
    );
    bank.check()?;
    progress.set(0.6, "point reads");
    let (alone, both) = turns(size, |threads| bank.reads(threads, size.of(READS)))?;
    figures.push(Measurement::new("point read, 1 thread", "/s", alone).goal(Goal::AtLeast(3e6)));
    figures.push(
        Measurement::new("point read, 2 threads", "/s", both)
            .over(alone)
            .goal(Goal::RatioAtLeast(1.7)),
    );
    Ok(figures)
}

/// The best of all rounds, each of some work by the second.
fn best(size: Size, mut round: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    let mut best = 0.0_f64;
    for _ in 0..size.rounds.min(ROUNDS) {
        best = best.max(round()?);
    }
    Ok(best)
}

/// The best with one thread and with two, measured in turns.
fn turns(
    size: Size,
    mut round: impl FnMut(usize) -> Result<f64, String>,
) -> Result<(f64, f64), String> {
    let mut best = (0.0_f64, 0.0_f64);
    for _ in 0..size.rounds.min(ROUNDS) {
        best.0 = best.0.max(round(1)?);
        best.1 = best.1.max(round(2)?);
    }
    Ok(best)
}

/// What [`measure`] gives, and rivals beside it.
///
/// # Errors
/// As [`measure`], and when a rival fails.
pub fn measure_with(
    size: Size,
    rivals: Option<&[Rival]>,
    progress: &mut Progress,
) -> Result<Vec<Measurement>, String> {
    let mut figures = measure(size, progress)?;
    if let Some(engines) = rivals {
        figures.extend(rivals::measure(size, engines, progress)?);
    }
    Ok(figures)
}
