//! What an experiment found out: rows beside the paper's values, claims, notes and a plot.

use std::path::Path;

use sim::platform::Platform;

use crate::samples::{Fitted, Spread};
use terminal::text;

/// A value that a paper gives, and where it stands. Ours to reach is a [`Goal`].
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

/// What this project wants to reach; no paper says that it is so here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// In the unit of its row.
    pub at_least: f64,
    /// Why so much.
    pub because: &'static str,
}

/// What came out under one seed.
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
    /// What is varied along it, with its unit.
    pub across: &'static str,
    /// How much of that.
    pub x: f64,
}

/// One measured value, over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub label: String,
    /// Of all values of the row.
    pub unit: &'static str,
    /// Its place on a curve, if it is on one.
    pub place: Option<Place>,
    /// What the paper says, if it says anything.
    pub paper: Option<Paper>,
    /// What we want to reach, if anything.
    pub goal: Option<Goal>,
    /// What came out here.
    pub measured: Spread,
    /// The same, seed by seed.
    pub observations: Vec<Observation>,
    /// What the operations are: "locks".
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

    /// What stands beside the ratio: `fitted`, or nothing.
    pub fn mark(&self) -> &'static str {
        if self.fitted.is_empty() { "" } else { "fitted" }
    }

    /// The median by the upper and by the lower end of the paper's value.
    pub fn ratio(&self) -> Option<[f64; 2]> {
        self.paper.map(|paper| [paper.high, paper.low].map(|end| self.measured.median / end))
    }

    /// The same as text: `0.98`, or `0.88–1.10` for a range.
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

/// Who a sentence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The paper says so.
    Paper,
    /// We want it to be so.
    Goal,
    /// Asked here, of a case that the paper says nothing of.
    Own,
}

impl Origin {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Goal, Self::Own];

    /// For other programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Goal => "goal",
            Self::Own => "own",
        }
    }

    /// In brackets behind a verdict.
    pub fn short(self) -> &'static str {
        match self {
            Self::Paper => "the paper",
            Self::Goal => "our goal",
            Self::Own => "asked here",
        }
    }

    /// Above its sentences.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Paper => "What the paper says, and what comes out",
            Self::Goal => "Goals of this project, and whether they are reached",
            Self::Own => "Asked here beyond the paper, and what comes out",
        }
    }
}

/// A sentence, and whether it is true here.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Who it comes from.
    pub origin: Origin,
    /// The sentence, and its place in the paper if it has one.
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
    pub fn by_the_clock(
        origin: Origin,
        says: impl Into<String>,
        comes_out: bool,
        because: String,
    ) -> Self {
        let (says, held) = (says.into(), comes_out.into());
        Self { origin, says, held, seeds: 1, hangs_on_fit: false, because }
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
        let is_goal = self.origin == Origin::Goal;
        let comes_out = if is_goal { "Reached" } else { "Comes out" };
        match self.verdict() {
            Verdict::ComesOut => comes_out.into(),
            Verdict::Fitted => "As fitted".into(),
            Verdict::DoesNot if is_goal => "Not reached".into(),
            Verdict::DoesNot => "Does not come out".into(),
            Verdict::InPart => format!("{comes_out} for {} of {} seeds", self.held, self.seeds),
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
    /// Values by name in the order given; the paper's value and our goal, if any, as marks.
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
    /// Which side it belongs to, which gives its colour and the shape of its marks.
    pub colour: Colour,
    /// How its points are joined.
    pub stroke: Stroke,
    /// Its points.
    pub points: Vec<Point>,
}

/// A point of a curve, with the ends of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// The least of all seeds, or the lower end of the paper's value.
    pub low: f64,
    /// The most, or the upper end.
    pub high: f64,
}

impl Point {
    /// Without a range.
    pub fn lone((x, y): (f64, f64)) -> Self {
        Self { x, y, low: y, high: y }
    }

    /// The median of all seeds.
    pub fn measured(x: f64, Spread { median, min, max, .. }: Spread) -> Self {
        Self { x, y: median, low: min, high: max }
    }

    /// A value of a paper.
    pub fn paper(x: f64, Paper { low, high, .. }: Paper) -> Self {
        Self { x, y: f64::midpoint(low, high), low, high }
    }
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// By a line.
    Solid,
    /// By a line with gaps, in pixels.
    Broken {
        /// Drawn.
        dash: u32,
        /// Left out.
        gap: u32,
    },
    /// Not at all: nothing is known between.
    Marks,
}

impl Stroke {
    /// The second case of the same side.
    pub const DASHED: Self = Self::Broken { dash: 8, gap: 5 };
    /// Another side's first case, where there are no marks to tell it from [`Stroke::Solid`].
    pub const LONG: Self = Self::Broken { dash: 18, gap: 4 };
    /// Another side's second case, where there are no marks.
    pub const SHORT: Self = Self::Broken { dash: 4, gap: 3 };
    /// A value of the paper.
    pub const DOTTED: Self = Self::Broken { dash: 2, gap: 4 };
    /// Another value of the paper.
    pub const SPARSE: Self = Self::Broken { dash: 3, gap: 9 };
}

/// What a line or mark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Text and axes.
    Text,
    /// The lines behind the values.
    Grid,
    /// The host's side.
    Host,
    /// The device's side.
    Device,
    /// Another database.
    Rival,
    /// The paper's values.
    Paper,
    /// Our goals.
    Goal,
}

/// What came of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The platforms it was measured on: a name, or a file of the user's.
    pub platforms: Vec<String>,
    /// What was set, as name and value.
    pub parameters: Vec<(&'static str, String)>,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What the paper says of it in words, what we want, and what we asked.
    pub claims: Vec<Claim>,
    /// What has to be known to read the rows.
    pub notes: Vec<String>,
    /// The pictures, the most important first.
    pub plots: Vec<Plot>,
    /// Values that are too many for the table: of a histogram.
    pub details: Vec<Row>,
}

impl Findings {
    /// The platforms as a parameter, if there are any.
    pub fn platform_entry(&self) -> Option<(&'static str, String)> {
        let name = if self.platforms.len() > 1 { "platforms" } else { "platform" };
        (!self.platforms.is_empty()).then(|| (name, self.platforms.join(", ")))
    }

    /// The same with a word of caution, since it was measured on the platform of this file.
    pub fn on_platform_of(mut self, file: &Path) -> Self {
        let note = format!(
            "Measured on the platform of {}: causes that the texts name were found on {}.",
            file.display(),
            Platform::NAMES[0]
        );
        self.notes.insert(0, note);
        self
    }

    /// The claims and notes as sentences.
    pub fn all_notes(&self) -> Vec<String> {
        let claims = self.claims.iter().map(|claim| {
            let from = claim.origin.short();
            format!("{} ({from}): {} {}", claim.words(), claim.says, claim.because)
        });
        claims.chain([self.count()]).chain(self.fit()).chain(self.notes.iter().cloned()).collect()
    }

    /// How many claims of each origin are findings, and how many are not.
    pub fn count(&self) -> String {
        let of_each = Origin::ALL.map(|origin| self.count_of(origin));
        of_each.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The same of one origin, if it has claims.
    fn count_of(&self, origin: Origin) -> Option<String> {
        let claims: Vec<&Claim> =
            self.claims.iter().filter(|claim| claim.origin == origin).collect();
        let count = |of| claims.iter().filter(|claim| claim.verdict() == of).count();
        let what = match origin {
            Origin::Paper => "Statements of the paper that come out",
            Origin::Goal => "Goals that are reached",
            Origin::Own => "Expectations of our own that come out",
        };
        let mut text = format!("{what}: {} of {}", count(Verdict::ComesOut), claims.len());
        for (verdict, words) in [
            (Verdict::Fitted, "as fitted only, which is no finding"),
            (Verdict::InPart, "under some seeds"),
            (Verdict::DoesNot, "not at all"),
        ] {
            if count(verdict) > 0 {
                text += &format!("; {words}: {}", count(verdict));
            }
        }
        (!claims.is_empty()).then_some(text + ".")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64) -> Row {
        let observation = Observation { seed: 1, value, operations: 61_200 };
        Row::new("host", ("ns", "locks"), vec![observation], Fitted::new())
    }

    #[test]
    fn a_range_of_the_paper_stays_a_range() {
        let paper = Paper { low: 80.0, high: 100.0, place: "section 4" };
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
    fn a_goal_is_not_what_a_paper_says() {
        let goal = Goal { at_least: 4.2, because: "" };
        assert_eq!(row(4.0).with_goal(goal).reference(), "goal ≥ 4.2");
        assert_eq!(row(4.0).with_goal(goal).ratio(), None);
        assert_eq!((row(4.0).reference().as_str(), row(4.0).ratio_text().as_str()), ("–", "–"));
    }

    #[test]
    fn a_claim_says_for_how_many_seeds_it_comes_out() {
        let claim = |origin, held, hangs_on_fit| {
            let (says, because) = ("x".into(), "y".into());
            Claim { origin, says, held, seeds: 5, hangs_on_fit, because }
        };
        let words = |origin| {
            [(5, false), (5, true), (3, true), (0, false)]
                .map(|(held, hangs_on_fit)| claim(origin, held, hangs_on_fit).words())
        };
        let expected =
            ["Comes out", "As fitted", "Comes out for 3 of 5 seeds", "Does not come out"];
        assert_eq!(words(Origin::Paper), expected);
        let expected = ["Reached", "As fitted", "Reached for 3 of 5 seeds", "Not reached"];
        assert_eq!(words(Origin::Goal), expected);
    }
}
