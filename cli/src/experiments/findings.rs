//! What an experiment found out: rows beside the paper's values, claims, notes and a plot.

use serde::Serialize;

use super::samples::Spread;
use super::{Clock, Experiment, Seeds};

/// A value of the paper, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Its lower end.
    pub low: f64,
    /// Its upper end; the same as `low` when the paper gives one number.
    pub high: f64,
    /// Section, and the words.
    pub place: &'static str,
}

impl Paper {
    /// The number that measured values are divided by: the middle.
    pub fn middle(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// As the paper prints it: `80–100` or `400`.
    pub fn text(&self) -> String {
        match self.low == self.high {
            true => format!("{}", self.low),
            false => format!("{}–{}", self.low, self.high),
        }
    }

    /// Whether `measured` is the paper's value: within a quarter of its range.
    pub fn agrees_with(&self, measured: f64) -> bool {
        (self.low * 0.75..=self.high * 1.25).contains(&measured)
    }
}

/// One measured value, over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub label: String,
    /// Of `paper` and `measured`.
    pub unit: &'static str,
    /// What the paper says, if it says anything.
    pub paper: Option<Paper>,
    /// What came out here.
    pub measured: Spread,
}

impl Row {
    /// A row that the paper has no value for.
    pub fn new(label: impl Into<String>, unit: &'static str, measured: Spread) -> Self {
        Self { label: label.into(), unit, paper: None, measured }
    }

    /// The same with a value of the paper, if there is one.
    pub fn beside(self, paper: Option<Paper>) -> Self {
        Self { paper, ..self }
    }

    /// The median by the middle of the paper's value.
    pub fn ratio(&self) -> Option<f64> {
        self.paper.map(|paper| self.measured.median / paper.middle())
    }
}

/// A sentence of the paper, and whether it is true here.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The sentence and its place.
    pub says: String,
    /// For how many seeds it comes out.
    pub held: usize,
    /// Of how many.
    pub seeds: usize,
    /// The measured values that decide it, and why they are as they are.
    pub because: String,
}

impl Claim {
    /// Of a single measurement.
    pub fn once(says: impl Into<String>, comes_out: bool, because: String) -> Self {
        Self { says: says.into(), held: comes_out.into(), seeds: 1, because }
    }

    /// Whether it comes out under every seed.
    pub fn comes_out(&self) -> bool {
        self.held == self.seeds
    }

    /// What came of it, in words.
    pub fn verdict(&self) -> String {
        match self.held {
            held if held == self.seeds => "Comes out".into(),
            0 => "Does not come out".into(),
            held => format!("Comes out for {held} of {} seeds", self.seeds),
        }
    }
}

/// Lines over a number, or bars by name.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Curves.
    Lines {
        /// What the horizontal axis shows.
        across: &'static str,
        /// What the vertical axis shows.
        up: &'static str,
        /// The curves.
        curves: Vec<Curve>,
    },
    /// Horizontal bars in the order given; the paper's value, if any, as a mark.
    Bars {
        /// What their length shows.
        along: &'static str,
        /// The bars.
        rows: Vec<Row>,
    },
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Which side it belongs to, which gives its colour.
    pub colour: Colour,
    /// Drawn dashed: a value of the paper, or of the second case.
    pub dashed: bool,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// What a curve is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// The host's side.
    Host,
    /// The device's side.
    Device,
    /// Another database.
    Rival,
    /// The paper's values.
    Paper,
}

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// What was set, as name and value.
    pub parameters: Vec<(&'static str, String)>,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What the paper says of it in words.
    pub claims: Vec<Claim>,
    /// What has to be known to read the rows.
    pub notes: Vec<String>,
    /// The picture.
    pub plot: Plot,
}

impl Findings {
    /// The claims and notes as sentences.
    pub fn all_notes(&self) -> Vec<String> {
        let claims = self
            .claims
            .iter()
            .map(|claim| format!("{}: {} {}", claim.verdict(), claim.says, claim.because));
        claims.chain(self.notes.iter().cloned()).collect()
    }
}

/// The form of the findings for other programs.
#[derive(Serialize)]
pub struct Json<'a> {
    experiment: &'a str,
    seed: u64,
    seeds: u32,
    rows: Vec<JsonRow<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    label: &'a str,
    unit: &'a str,
    paper: Option<f64>,
    /// The median of all seeds.
    measured: f64,
    min: f64,
    max: f64,
    seeds: usize,
    ratio: Option<f64>,
}

impl<'a> Json<'a> {
    /// What came of `experiment` under these seeds.
    pub fn new(experiment: &'a Experiment, seeds: Seeds, findings: &'a Findings) -> Self {
        let Seeds { seed, seeds } = seeds;
        let rows = findings
            .rows
            .iter()
            .map(|row| JsonRow {
                label: &row.label,
                unit: row.unit,
                paper: row.paper.map(|paper| paper.middle()),
                measured: row.measured.median,
                min: row.measured.min,
                max: row.measured.max,
                seeds: row.measured.seeds,
                ratio: row.ratio(),
            })
            .collect();
        let seeds = if experiment.clock == Clock::Virtual { seeds } else { 1 };
        Self { experiment: experiment.name, seed, seeds, rows, notes: findings.all_notes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_against_the_middle_of_the_papers_range() {
        let paper = Paper { low: 80.0, high: 100.0, place: "section 4" };
        let row = Row::new("host", "ns", Spread::once(180.0)).beside(Some(paper));
        assert_eq!(row.ratio(), Some(2.0));
        assert_eq!((paper.text().as_str(), paper.agrees_with(100.0)), ("80–100", true));
        assert!(!paper.agrees_with(180.0) && paper.agrees_with(61.0) && !paper.agrees_with(59.0));
        assert_eq!(Row::new("host", "ns", Spread::once(180.0)).ratio(), None);
    }

    #[test]
    fn a_claim_says_for_how_many_seeds_it_comes_out() {
        let claim = |held, seeds| Claim { says: "x".into(), held, seeds, because: "y".into() };
        let verdicts = [(5, 5), (0, 5), (3, 5)].map(|(held, seeds)| claim(held, seeds).verdict());
        assert_eq!(verdicts, ["Comes out", "Does not come out", "Comes out for 3 of 5 seeds"]);
        assert!(claim(5, 5).comes_out() && !claim(4, 5).comes_out());
    }
}
