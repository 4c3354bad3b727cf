// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured values beside those of a paper.

use terminal::text;

use crate::samples::{Fitted, Spread};

/// A value that a paper gives, and where it stands. Ours to reach is a [`Goal`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Its lower end.
    pub low: f64,
    /// Its upper end; the same as `low` when the paper gives one number.
    pub high: f64,
    /// Section, and the words.
    pub place: &'static str,
    /// How far beside it a measured value may lie and still counts as reproduced: a part of `low` below
    /// it, and of `high` above it.
    pub tolerance: f64,
}

/// The tolerance of values whose paper does not say how exact they are.
pub const A_QUARTER: f64 = 0.25;

impl Paper {
    /// A range; its ends are to be met [within a quarter](A_QUARTER).
    pub const fn range(low: f64, high: f64, place: &'static str) -> Self {
        Self { low, high, place, tolerance: A_QUARTER }
    }

    /// One number, to be met [within a quarter](A_QUARTER).
    pub const fn number(value: f64, place: &'static str) -> Self {
        Self::range(value, value, place)
    }

    /// The same, to be met within this part of it.
    pub const fn within(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The tolerance in words, where it is not the usual one.
    pub fn unusual_tolerance(&self) -> Option<String> {
        let percent = 100.0 * self.tolerance;
        (self.tolerance != A_QUARTER).then(|| format!("to be met within {percent} %"))
    }

    /// As the paper prints it: `80–100` or `400`.
    pub fn text(&self) -> String {
        match self.low == self.high {
            true => format!("{}", self.low),
            false => format!("{}–{}", self.low, self.high),
        }
    }

    /// Whether `measured` counts as the paper's value.
    pub fn agrees_with(&self, measured: f64) -> bool {
        let (low, high) = (self.low * (1.0 - self.tolerance), self.high * (1.0 + self.tolerance));
        (low..=high).contains(&measured)
    }
}

/// A goal of this project, as opposed to a claim of a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// In the unit of its row.
    pub at_least: f64,
    /// Why so much.
    pub because: &'static str,
}

/// The result under one seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Of all draws.
    pub seed: u64,
    /// In the unit of its row.
    pub value: f64,
    /// How many operations are behind it.
    pub operations: u64,
}

/// Where a row stands on a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The curve.
    pub series: String,
    /// The varied quantity, with its unit.
    pub across: &'static str,
    /// How much of that.
    pub x: f64,
}

/// One measured value, over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The measurements.
    pub label: String,
    /// Of all values of the row.
    pub unit: &'static str,
    /// Its place on a curve, if it is on one.
    pub place: Option<Place>,
    /// The paper's value, if there is one.
    pub paper: Option<Paper>,
    /// Our goal, if there is one.
    pub goal: Option<Goal>,
    /// The result here.
    pub measured: Spread,
    /// The same, seed by seed.
    pub observations: Vec<Observation>,
    /// The name of the operations: "locks".
    pub operation: &'static str,
    /// The fitted entries of platforms that it rests on: with one, its ratio to the paper's value is
    /// no finding.
    pub fitted: Fitted,
}

impl Row {
    /// A row of these observations, in `unit`; `operation` says what was observed so often.
    ///
    /// # Panics
    /// When there are no observations.
    pub fn new(
        label: impl Into<String>,
        (unit, operation): (&'static str, &'static str),
        observations: Vec<Observation>,
        fitted: Fitted,
    ) -> Self {
        let measured = Spread::over(observations.iter().map(|of| of.value).collect());
        let (label, place, paper, goal) = (label.into(), None, None, None);
        Self { label, unit, place, paper, goal, measured, observations, operation, fitted }
    }

    /// The same with a value of the paper, if there is one.
    pub fn beside(self, paper: Option<Paper>) -> Self {
        Self { paper, ..self }
    }

    /// The same with a goal.
    pub fn with_goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// The same at `x` of the curve `series`.
    pub fn at(self, series: impl Into<String>, across: &'static str, x: f64) -> Self {
        Self { place: Some(Place { series: series.into(), across, x }), ..self }
    }

    /// The text beside the ratio: `fitted`, or empty.
    pub fn mark(&self) -> &'static str {
        if self.fitted.is_empty() { "" } else { "fitted" }
    }

    /// Whether the median lies within the tolerance of the paper's value: `yes`, `no`, or nothing
    /// where the paper has none.
    pub fn within_tolerance(&self) -> &'static str {
        match self.is_reproduced() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        }
    }

    /// The median by the upper and by the lower end of the paper's value.
    pub fn ratio(&self) -> Option<[f64; 2]> {
        self.paper.map(|paper| [paper.high, paper.low].map(|end| self.measured.median / end))
    }

    /// Whether the median counts as the paper's value, if the paper has one.
    pub fn is_reproduced(&self) -> Option<bool> {
        self.paper.map(|paper| paper.agrees_with(self.measured.median))
    }

    /// The ratio as text: `0.98`, or `0.88–1.10` for a range.
    pub fn ratio_text(&self) -> String {
        self.ratio().map_or("–".into(), |ends| match ends.map(|end| format!("{end:.2}")) {
            [low, high] if low == high => low,
            [low, high] => format!("{low}–{high}"),
        })
    }

    /// The paper's value or the goal, each named as what it is; a dash without any.
    pub fn reference(&self) -> String {
        match (self.paper, self.goal) {
            (Some(paper), _) => format!("paper {}", paper.text()),
            (None, Some(goal)) => format!("goal ≥ {}", goal.at_least),
            (None, None) => "–".into(),
        }
    }

    /// The median, and the least and the most where they differ, with the same decimals.
    pub fn measured_texts(&self) -> [String; 2] {
        let decimals = if self.measured.median < 10.0 { 2 } else { 1 };
        let median = format!("{:.decimals$}", self.measured.median);
        [median, self.measured.range(decimals).unwrap_or_default()]
    }

    /// How many operations are behind it, under all seeds together.
    pub fn operations(&self) -> u64 {
        self.observations.iter().map(|of| of.operations).sum()
    }

    /// What is behind it, in words: `5 seeds, 61,200 locks`.
    pub fn sampled(&self) -> String {
        let operations = text::count(self.operations());
        let plural = if self.measured.seeds == 1 { "" } else { "s" };
        format!("{} seed{plural}, {operations} {}", self.measured.seeds, self.operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64) -> Row {
        let observation = Observation { seed: 1, value, operations: 61_200 };
        Row::new("host", ("ns", "locks"), vec![observation], Fitted::new())
    }

    #[test]
    fn a_range_of_the_paper_stays_a_range() {
        let paper = Paper::range(80.0, 100.0, "section 4");
        let row = row(180.0).beside(Some(paper));
        assert_eq!(
            (row.reference().as_str(), row.ratio_text().as_str()),
            ("paper 80–100", "1.80–2.25")
        );
        assert_eq!(row.ratio(), Some([1.8, 2.25]));
        assert!(paper.agrees_with(100.0) && !paper.agrees_with(180.0));
        assert!(paper.agrees_with(61.0) && !paper.agrees_with(59.0));
        assert_eq!(row.sampled(), "1 seed, 61,200 locks");
    }

    #[test]
    fn each_row_says_how_near_it_has_to_come() {
        let paper = Paper::range(80.0, 100.0, "section 4");
        let reproduced = |value, paper| row(value).beside(paper).is_reproduced();
        assert_eq!(reproduced(124.0, Some(paper)), Some(true));
        assert_eq!(reproduced(124.0, Some(paper.within(0.1))), Some(false));
        assert_eq!(reproduced(109.0, Some(paper.within(0.1))), Some(true));
        assert_eq!(reproduced(109.0, None), None);
        let words = |value, paper| row(value).beside(paper).within_tolerance();
        assert_eq!((words(124.0, Some(paper)), words(126.0, Some(paper))), ("yes", "no"));
        assert_eq!(words(124.0, None), "");
        assert_eq!(paper.unusual_tolerance(), None);
        let words = paper.within(0.1).unusual_tolerance();
        assert_eq!(words.as_deref(), Some("to be met within 10 %"));
    }

    #[test]
    fn a_goal_is_not_what_a_paper_says() {
        let goal = Goal { at_least: 4.2, because: "" };
        assert_eq!(row(4.0).with_goal(goal).reference(), "goal ≥ 4.2");
        assert_eq!(row(4.0).with_goal(goal).ratio(), None);
        assert_eq!((row(4.0).reference().as_str(), row(4.0).ratio_text().as_str()), ("–", "–"));
    }
}
