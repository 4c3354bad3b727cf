//! What an experiment found out: rows beside the paper's values, claims, notes and a plot.

use serde::Serialize;

use super::samples::{Fitted, Spread};
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
    /// The fitted entries of platforms that it rests on: with one, its ratio to the paper's value is
    /// no finding.
    pub fitted: Fitted,
}

impl Row {
    /// A row of what was measured once, by the clock on the wall.
    pub fn by_the_clock(label: impl Into<String>, unit: &'static str, value: f64) -> Self {
        let measured = Spread::once(value);
        Self { label: label.into(), unit, paper: None, measured, fitted: Fitted::new() }
    }

    /// The same with a value of the paper, if there is one.
    pub fn beside(self, paper: Option<Paper>) -> Self {
        Self { paper, ..self }
    }

    /// What stands beside the ratio: `fitted`, or nothing.
    pub fn mark(&self) -> &'static str {
        if self.fitted.is_empty() { "" } else { "fitted" }
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
    /// It does not come out with the fitted entries at other values.
    pub hangs_on_fit: bool,
    /// The measured values that decide it, and why they are as they are.
    pub because: String,
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Under every seed, whatever the fitted entries are: a finding.
    ComesOut,
    /// Under every seed, with the entries as they were fitted: no finding.
    Fitted,
    /// Under some seeds.
    InPart,
    /// Under none.
    DoesNot,
}

impl Claim {
    /// Of a single measurement, by the clock on the wall.
    pub fn by_the_clock(says: impl Into<String>, comes_out: bool, because: String) -> Self {
        let held = comes_out.into();
        Self { says: says.into(), held, seeds: 1, hangs_on_fit: false, because }
    }

    /// What came of it.
    pub fn verdict(&self) -> Verdict {
        match self.held {
            held if held == self.seeds && self.hangs_on_fit => Verdict::Fitted,
            held if held == self.seeds => Verdict::ComesOut,
            0 => Verdict::DoesNot,
            _ => Verdict::InPart,
        }
    }

    /// The same in words.
    pub fn words(&self) -> String {
        match self.verdict() {
            Verdict::ComesOut => "Comes out".into(),
            Verdict::Fitted => "As fitted".into(),
            Verdict::DoesNot => "Does not come out".into(),
            Verdict::InPart => format!("Comes out for {} of {} seeds", self.held, self.seeds),
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
            .map(|claim| format!("{}: {} {}", claim.words(), claim.says, claim.because));
        claims.chain([self.count()]).chain(self.fit()).chain(self.notes.iter().cloned()).collect()
    }

    /// How many claims are findings, and how many are not.
    pub fn count(&self) -> String {
        let count = |of| self.claims.iter().filter(|claim| claim.verdict() == of).count();
        let mut text =
            format!("Claims that come out: {} of {}", count(Verdict::ComesOut), self.claims.len());
        for (verdict, words) in [
            (Verdict::Fitted, "as fitted only, which is no finding"),
            (Verdict::InPart, "under some seeds"),
            (Verdict::DoesNot, "not at all"),
        ] {
            if count(verdict) > 0 {
                text += &format!("; {words}: {}", count(verdict));
            }
        }
        text + "."
    }

    /// The fitted entries that rows rest on, and what that means; nothing without any.
    pub fn fit(&self) -> Option<String> {
        let names: Fitted = self.rows.iter().flat_map(|row| row.fitted.clone()).collect();
        let names: Vec<String> = names.into_iter().collect();
        (!names.is_empty()).then(|| {
            format!(
                "Rows marked \"fitted\" rest on entries that were chosen so that published \
                 latencies come out: {} (lockstep platforms). A claim that comes out \"as fitted\" \
                 does not with these at half, or at one and a half times, their values.",
                names.join(", ")
            )
        })
    }
}

/// The form of the findings for other programs.
#[derive(Serialize)]
pub struct Json<'a> {
    experiment: &'a str,
    seed: u64,
    seeds: u32,
    rows: Vec<JsonRow<'a>>,
    claims: Vec<JsonClaim<'a>>,
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
    /// The fitted entries that it rests on.
    fitted: &'a Fitted,
}

#[derive(Serialize)]
struct JsonClaim<'a> {
    says: &'a str,
    verdict: String,
    /// For how many seeds it comes out.
    held: usize,
    seeds: usize,
    /// It comes out under every seed, and not only as fitted.
    finding: bool,
    because: &'a str,
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
                fitted: &row.fitted,
            })
            .collect();
        let seeds = if experiment.clock == Clock::Virtual { seeds } else { 1 };
        let claims = findings
            .claims
            .iter()
            .map(|claim| JsonClaim {
                says: &claim.says,
                verdict: claim.words(),
                held: claim.held,
                seeds: claim.seeds,
                finding: claim.verdict() == Verdict::ComesOut,
                because: &claim.because,
            })
            .collect();
        Self { experiment: experiment.name, seed, seeds, rows, claims, notes: findings.all_notes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_against_the_middle_of_the_papers_range() {
        let paper = Paper { low: 80.0, high: 100.0, place: "section 4" };
        let row = Row::by_the_clock("host", "ns", 180.0).beside(Some(paper));
        assert_eq!(row.ratio(), Some(2.0));
        assert_eq!((paper.text().as_str(), paper.agrees_with(100.0)), ("80–100", true));
        assert!(!paper.agrees_with(180.0) && paper.agrees_with(61.0) && !paper.agrees_with(59.0));
        assert_eq!(Row::by_the_clock("host", "ns", 180.0).ratio(), None);
    }

    #[test]
    fn a_claim_says_for_how_many_seeds_it_comes_out() {
        let claim = |held, hangs_on_fit| {
            let (says, because) = ("x".into(), "y".into());
            Claim { says, held, seeds: 5, hangs_on_fit, because }
        };
        let words = [(5, false), (5, true), (3, true), (0, false)]
            .map(|(held, hangs_on_fit)| claim(held, hangs_on_fit).words());
        let expected =
            ["Comes out", "As fitted", "Comes out for 3 of 5 seeds", "Does not come out"];
        assert_eq!(words, expected);
    }
}
