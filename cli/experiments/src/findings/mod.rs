// SPDX-License-Identifier: MIT OR Apache-2.0
//! The findings of an experiment: rows beside the paper's values, claims, notes and plots.

mod claim;
mod picture;
mod row;

use std::path::Path;

use crate::samples::Fitted;

pub use claim::{Claim, Origin, Verdict};
pub use picture::{Colour, Curve, Plot, Point, Stroke};
pub use row::{A_QUARTER, Goal, Observation, Paper, Place, Row};

/// The outcome of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The platforms it was measured on: a name, or a file of the user's.
    pub platforms: Vec<String>,
    /// The settings, as name and value.
    pub parameters: Vec<(&'static str, String)>,
    /// The measurements.
    pub rows: Vec<Row>,
    /// The paper's claims about it, our goals, and our questions.
    pub claims: Vec<Claim>,
    /// The information needed to read the rows.
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
    pub fn on_platform_of(mut self, file: &Path, replaced: &str) -> Self {
        let note = format!(
            "Measured on the platform of {}: causes that the texts name were found on {replaced}.",
            file.display()
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
