// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures and tables of the papers, reproduced.
//!
//! Each is an [`Experiment`] of the [registry](registry::all): its parameters, the paper's values with
//! their place in the text, and a function that measures. A measured value never comes from the
//! paper; a result that is not reproduced is reported as such, with the reason. In virtual time
//! each experiment runs under several seeds.
//!
//! An experiment produces [`Findings`]: rows, claims, notes and plots. They are shown as a [table],
//! as [JSON](Record), [CSV](tidy::csv), [pictures](plot::svg) and on a [page] with others.
//!
//! `docs/experiments.md` tells how to read them, and how to add one.

mod cases;
mod ccslt;
mod drtm;
mod experiment;
mod fasst;
pub mod findings;
pub mod machine;
mod near_data;
pub mod page;
pub mod plot;
mod provenance;
mod record;
pub mod registry;
mod samples;
mod seeds;
pub mod sensitivity;
mod switchtx;
pub mod table;
pub mod tidy;
mod xenic;

pub use experiment::{Assumed, Clock, Experiment, ExperimentError, Setting, UnfitPlatformError};
pub use findings::{Findings, Origin, Verdict};
pub use provenance::{Commit, date};
pub use record::{Record, SCHEMA};
pub use seeds::Seeds;

/// The files of an experiment, each with its name and its contents: the record (JSON), its values as
/// CSV, the pictures.
pub fn files(
    experiment: &Experiment,
    findings: &Findings,
    record: &Record<'_>,
) -> Vec<(String, String)> {
    let name = experiment.name;
    let mut files = vec![
        (format!("{name}.json"), format!("{}\n", record.text())),
        (format!("{name}.csv"), tidy::csv(experiment, findings)),
    ];
    for (index, plot) in findings.plots.iter().enumerate() {
        let picture = plot::svg(plot, experiment.title, plot::Display::Wide);
        files.push((picture_name(experiment, index), picture));
    }
    files
}

/// The file of the plot at this index; the first has no number.
fn picture_name(experiment: &Experiment, index: usize) -> String {
    let name = experiment.name;
    if index == 0 { format!("{name}.svg") } else { format!("{name}-{}.svg", index + 1) }
}

#[cfg(test)]
mod tests;
