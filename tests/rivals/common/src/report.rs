// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the command line to the line of JSON.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use serde::Serialize;

use crate::loops::{self, Counted};
use crate::{Arguments, Durability, Engine, Workload};

/// The line that a rival prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which engine.
    pub engine: &'static str,
    /// Which release of it.
    pub version: String,
    /// What the threads did.
    pub workload: Workload,
    /// How many there were.
    pub threads: u64,
    /// How long they ran.
    pub seconds: f64,
    /// What each commit waited for.
    pub sync: Durability,
    /// How many were committed; for reads, how many rows were read.
    pub transactions: u64,
    /// The same by the second.
    pub per_second: f64,
    /// How many were rolled back for want of funds.
    pub refused: u64,
    /// Tries that ended in a conflict and were repeated.
    pub aborts: u64,
    /// Whether the balances add up at the end.
    pub sum_ok: bool,
}

/// The program of an engine. Exit code 1 says that the engine failed or that the balances do
/// not add up, 2 that the command line is wrong.
pub fn main<E: Engine>() -> ExitCode {
    let report = match measure::<E>(&Arguments::parse()) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("{}: {error:#}", E::NAME);
            return ExitCode::FAILURE;
        }
    };
    println!("{}", serde_json::to_string(&report).expect("a report is plain data"));
    if report.sum_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the workload on a new store in a folder of its own, which is removed afterwards.
///
/// # Errors
/// Those of the engine and of the folder.
pub(crate) fn measure<E: Engine>(arguments: &Arguments) -> Result<Report> {
    let parent = arguments.dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new()
        .prefix(&format!("rival-{}-", E::NAME))
        .tempdir_in(&parent)
        .with_context(|| format!("making a folder in {}", parent.display()))?;
    let engine = E::open(folder.path(), arguments.durability()).context("opening the store")?;
    let Counted { elapsed, transactions, refused, aborts, sum_ok } =
        loops::run(&engine, arguments)?;
    drop(engine);
    folder.close().context("removing the folder")?;
    Ok(Report {
        engine: E::NAME,
        version: E::version(),
        workload: arguments.workload,
        threads: arguments.threads(),
        seconds: elapsed.as_secs_f64(),
        sync: arguments.durability(),
        transactions,
        per_second: transactions as f64 / elapsed.as_secs_f64(),
        refused,
        aborts,
        sum_ok,
    })
}

/// The version of a package that the programs are built with.
///
/// # Panics
/// When `Cargo.lock` has no such package.
pub fn locked_version(package: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let head = format!("name = \"{package}\"\nversion = \"");
    let version = lock.split_once(&head).and_then(|(_, rest)| rest.split_once('"'));
    version.map(|(version, _)| version).expect("the package is locked")
}
