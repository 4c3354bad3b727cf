// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings for other programs, as JSON. The same seeds, version and commit give the same bytes of an
//! experiment in virtual time.

use serde::{Serialize, Serializer};

use crate::experiment::{Clock, Experiment};
use crate::findings::{A_QUARTER, Claim, Findings, Goal, Observation, Paper, Place, Row, Verdict};
use crate::machine;
use crate::provenance::Commit;
use crate::samples::Fitted;
use crate::seeds::Seeds;

/// Of the form of [`Record`]: it grows when a reader of the last one would go wrong.
pub const SCHEMA: u32 = 2;

/// Names and values as an object.
type Entries = Vec<(&'static str, String)>;

/// The outcome of an experiment, with all that it depends on.
#[derive(Serialize)]
pub struct Record<'a> {
    schema: u32,
    experiment: &'a str,
    title: &'a str,
    source: &'a str,
    /// The command that recreates it.
    command: String,
    versions: Versions,
    /// Of the sources; null where it is unknown.
    commit: Option<Commit>,
    /// "virtual", or "wall": then values are those of `machine`.
    clock: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "object")]
    machine: Entries,
    platforms: &'a [String],
    seed: u64,
    seeds: u32,
    #[serde(serialize_with = "object")]
    parameters: Entries,
    rows: Vec<RowRecord<'a>>,
    claims: Vec<ClaimRecord<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Versions {
    lockstep: &'static str,
    verilator: &'static str,
}

#[derive(Serialize)]
struct RowRecord<'a> {
    label: &'a str,
    unit: &'a str,
    /// Where it stands on a curve.
    place: Option<PlaceRecord<'a>>,
    paper: Option<PaperRecord>,
    goal: Option<GoalRecord>,
    /// The median of all seeds.
    measured: f64,
    min: f64,
    max: f64,
    seeds: usize,
    /// All values, seed by seed, with the number of operations behind each.
    values: Vec<ValueRecord>,
    /// The name of the operations.
    operation: &'a str,
    /// `measured` by the upper and the lower end of the paper's value.
    ratio: Option<Range>,
    /// The fitted entries that it rests on.
    fitted: &'a Fitted,
}

#[derive(Serialize)]
struct PlaceRecord<'a> {
    series: &'a str,
    across: &'a str,
    x: f64,
}

/// Both ends; they are the same where there is one number.
#[derive(Serialize)]
struct Range {
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct PaperRecord {
    #[serde(flatten)]
    range: Range,
    place: &'static str,
    /// How near a value has to come, as a part of it; left out where that is a quarter.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
}

#[derive(Serialize)]
struct GoalRecord {
    at_least: f64,
    because: &'static str,
}

#[derive(Serialize)]
struct ValueRecord {
    seed: u64,
    value: f64,
    operations: u64,
}

#[derive(Serialize)]
struct ClaimRecord<'a> {
    /// "paper", "goal" or "own".
    origin: &'static str,
    says: &'a str,
    verdict: String,
    /// For how many seeds it comes out.
    held: usize,
    seeds: usize,
    /// It comes out under every seed, and not only as fitted.
    finding: bool,
    because: &'a str,
}

fn object<S: Serializer>(entries: &Entries, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(name, value)| (name, value)))
}

impl<'a> Record<'a> {
    /// The outcome of `experiment` under these seeds, from these sources.
    pub fn new(
        experiment: &'a Experiment,
        seeds: Seeds,
        findings: &'a Findings,
        commit: Option<Commit>,
    ) -> Self {
        let wall = experiment.clock == Clock::Wall;
        Self {
            schema: SCHEMA,
            experiment: experiment.name,
            title: experiment.title,
            source: experiment.source,
            command: experiment.command(seeds, findings),
            versions: Versions {
                lockstep: env!("CARGO_PKG_VERSION"),
                verilator: sim::models::VERILATOR_VERSION,
            },
            commit,
            clock: if wall { "wall" } else { "virtual" },
            machine: if wall { machine::description() } else { Vec::new() },
            platforms: &findings.platforms,
            seed: seeds.first,
            seeds: if wall { 1 } else { seeds.count },
            parameters: findings.parameters.clone(),
            rows: findings.rows.iter().map(RowRecord::from).collect(),
            claims: findings.claims.iter().map(ClaimRecord::from).collect(),
            notes: findings.all_notes(),
        }
    }

    /// On one line.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("findings are plain data")
    }
}

impl<'a> From<&'a Row> for RowRecord<'a> {
    fn from(row: &'a Row) -> Self {
        let place = |Place { series, across, x }: &'a Place| PlaceRecord { series, across, x: *x };
        let paper = |Paper { low, high, place, tolerance }| PaperRecord {
            range: Range { low, high },
            place,
            tolerance: (tolerance != A_QUARTER).then_some(tolerance),
        };
        let goal = |Goal { at_least, because }| GoalRecord { at_least, because };
        let value = |&Observation { seed, value, operations }: &Observation| ValueRecord {
            seed,
            value,
            operations,
        };
        Self {
            label: &row.label,
            unit: row.unit,
            place: row.place.as_ref().map(place),
            paper: row.paper.map(paper),
            goal: row.goal.map(goal),
            measured: row.measured.median,
            min: row.measured.min,
            max: row.measured.max,
            seeds: row.measured.seeds,
            values: row.observations.iter().map(value).collect(),
            operation: row.operation,
            ratio: row.ratio().map(|[low, high]| Range { low, high }),
            fitted: &row.fitted,
        }
    }
}

impl<'a> From<&'a Claim> for ClaimRecord<'a> {
    fn from(claim: &'a Claim) -> Self {
        Self {
            origin: claim.origin.name(),
            says: &claim.says,
            verdict: claim.words(),
            held: claim.held,
            seeds: claim.seeds,
            finding: claim.verdict() == Verdict::ComesOut,
            because: &claim.because,
        }
    }
}
