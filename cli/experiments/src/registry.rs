// SPDX-License-Identifier: MIT OR Apache-2.0
//! All experiments: the lists of the papers' modules, one after the other.

use crate::experiment::Experiment;
use crate::{ccslt, drtm, fasst, near_data, switchtx, xenic};

/// One list a paper, or a part of one.
const PAPERS: [&[Experiment]; 6] = [
    ccslt::EXPERIMENTS,
    near_data::EXPERIMENTS,
    xenic::EXPERIMENTS,
    fasst::EXPERIMENTS,
    drtm::EXPERIMENTS,
    switchtx::EXPERIMENTS,
];

/// There is no experiment of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("experiment {name:?}: expected one of {}", names().join(", "))]
pub struct UnknownExperimentError {
    /// The requested operation.
    pub name: String,
}

/// All experiments, paper by paper.
pub fn all() -> impl Iterator<Item = &'static Experiment> {
    PAPERS.into_iter().flatten()
}

/// The experiment of this name.
///
/// # Errors
/// When there is none; the error names those that there are.
pub fn named(name: &str) -> Result<&'static Experiment, UnknownExperimentError> {
    let found = all().find(|experiment| experiment.name == name);
    found.ok_or_else(|| UnknownExperimentError { name: name.into() })
}

fn names() -> Vec<&'static str> {
    all().map(|experiment| experiment.name).collect()
}
