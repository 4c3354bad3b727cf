// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claims, and whether they hold here.

/// The origin of a claim.
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
    /// Its origin.
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

/// The outcome of a claim.
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
    /// Of a single measurement, in wall-clock time.
    pub fn by_the_clock(
        origin: Origin,
        says: impl Into<String>,
        comes_out: bool,
        because: String,
    ) -> Self {
        let (says, held) = (says.into(), comes_out.into());
        Self { origin, says, held, seeds: 1, hangs_on_fit: false, because }
    }

    /// Its outcome.
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

#[cfg(test)]
mod tests {
    use super::*;

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
