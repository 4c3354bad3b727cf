//! What an experiment found out: rows beside the paper's values, claims, notes and a plot.

use serde::Serialize;

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

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub label: String,
    /// Of `paper` and `measured`.
    pub unit: &'static str,
    /// What the paper says, if it says anything.
    pub paper: Option<Paper>,
    /// What came out here.
    pub measured: f64,
}

impl Row {
    /// A row that the paper has no value for.
    pub fn new(label: impl Into<String>, unit: &'static str, measured: f64) -> Self {
        Self { label: label.into(), unit, paper: None, measured }
    }

    /// The same with a value of the paper, if there is one.
    pub fn beside(self, paper: Option<Paper>) -> Self {
        Self { paper, ..self }
    }

    /// Measured by the middle of the paper's value.
    pub fn ratio(&self) -> Option<f64> {
        self.paper.map(|paper| self.measured / paper.middle())
    }
}

/// A sentence of the paper, and whether it is true here.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The sentence and its place.
    pub says: String,
    /// Whether it comes out.
    pub comes_out: bool,
    /// The measured values that decide it, and why they are as they are.
    pub because: String,
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
        let claims = self.claims.iter().map(|claim| {
            let verdict = if claim.comes_out { "Comes out" } else { "Does not come out" };
            format!("{verdict}: {} {}", claim.says, claim.because)
        });
        claims.chain(self.notes.iter().cloned()).collect()
    }
}

/// The form of the findings for other programs.
#[derive(Serialize)]
pub struct Json<'a> {
    experiment: &'a str,
    seed: u64,
    rows: Vec<JsonRow<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    label: &'a str,
    unit: &'a str,
    paper: Option<f64>,
    measured: f64,
    ratio: Option<f64>,
}

impl<'a> Json<'a> {
    /// The findings of the experiment `name` under `seed`.
    pub fn new(name: &'a str, seed: u64, findings: &'a Findings) -> Self {
        let rows = findings
            .rows
            .iter()
            .map(|row| JsonRow {
                label: &row.label,
                unit: row.unit,
                paper: row.paper.map(|paper| paper.middle()),
                measured: row.measured,
                ratio: row.ratio(),
            })
            .collect();
        Self { experiment: name, seed, rows, notes: findings.all_notes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_against_the_middle_of_the_papers_range() {
        let paper = Paper { low: 80.0, high: 100.0, place: "section 4" };
        let row = Row::new("host", "ns", 180.0).beside(Some(paper));
        assert_eq!(row.ratio(), Some(2.0));
        assert_eq!((paper.text().as_str(), paper.agrees_with(100.0)), ("80–100", true));
        assert!(!paper.agrees_with(180.0) && paper.agrees_with(61.0) && !paper.agrees_with(59.0));
        assert_eq!(Row::new("host", "ns", 180.0).ratio(), None);
    }
}
