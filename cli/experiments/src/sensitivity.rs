// SPDX-License-Identifier: MIT OR Apache-2.0
//! What headlines hang on: each entry of class E of an experiment's platforms is moved over its
//! interval, one at a time, and the headlines are measured again.

use std::fmt::Write;

use timing::platform::{End, PlatformFile};

use crate::experiment::{Assumed, Experiment, ExperimentError, Setting};
use crate::findings::{Findings, Row};
use crate::seeds::Seeds;
use terminal::Progress;

/// The ranges of an experiment's headlines.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// How many entries were moved.
    pub entries: usize,
    /// The headlines, in their order.
    pub headlines: Vec<Headline>,
}

/// A headline, and what it can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The row's name.
    pub label: String,
    /// Its unit.
    pub unit: &'static str,
    /// The paper's value as text, if it has one.
    pub paper: String,
    /// With all entries as they are.
    pub value: f64,
    /// The least, and the entry that makes it so.
    pub least: (f64, String),
    /// The greatest, and the entry that makes it so.
    pub greatest: (f64, String),
}

impl Headline {
    fn new(row: &Row) -> Self {
        let value = row.measured.median;
        let paper = row.paper.map_or(String::new(), |paper| paper.text());
        let (label, unit) = (row.label.clone(), row.unit);
        let none = (value, String::new());
        Self { label, unit, paper, value, least: none.clone(), greatest: none }
    }

    fn take(&mut self, value: f64, entry: &str) {
        if value < self.least.0 {
            self.least = (value, entry.to_owned());
        }
        if value > self.greatest.0 {
            self.greatest = (value, entry.to_owned());
        }
    }
}

/// The rows that are headlines: those with a value of the paper; if there is none, all on no curve.
fn headlines(findings: &Findings) -> Vec<&Row> {
    let with_paper: Vec<&Row> = findings.rows.iter().filter(|row| row.paper.is_some()).collect();
    if with_paper.is_empty() {
        return findings.rows.iter().filter(|row| row.place.is_none()).collect();
    }
    with_paper
}

/// An entry of class E: its platform's name and its own.
pub type Assumption = (&'static str, String);

/// The entries of class E of an experiment's platforms, in order.
pub fn assumptions(experiment: &Experiment) -> Vec<Assumption> {
    let of = |name: &&'static str| {
        let file = PlatformFile::named(name).expect("it comes with the program");
        file.intervals().into_iter().map(|entry| (*name, entry)).collect::<Vec<_>>()
    };
    experiment.platforms.iter().flat_map(of).collect()
}

/// Of these, those with these names, on whichever platform.
///
/// # Errors
/// A sentence for the first name that none of them has.
pub fn named(all: Vec<Assumption>, names: &[String]) -> Result<Vec<Assumption>, String> {
    if let Some(name) = names.iter().find(|name| all.iter().all(|(_, entry)| entry != *name)) {
        let mut known: Vec<&str> = all.iter().map(|(_, entry)| entry.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        return Err(format!("{name}: expected entries of class E: {}", known.join(", ")));
    }
    Ok(all.into_iter().filter(|(_, entry)| names.contains(entry)).collect())
}

/// Measures the headlines of `experiment` under one seed with each of these assumptions at both ends of its
/// interval, at the part `scale` of its length. `told` is told of each measurement, with how many there
/// are.
///
/// # Errors
/// Those of the experiment.
pub fn measure(
    experiment: &Experiment,
    entries: &[Assumption],
    seed: u64,
    scale: f64,
    told: &mut dyn FnMut(usize, usize, &str),
) -> Result<Sensitivity, ExperimentError> {
    let all = 1 + 2 * entries.len();
    let once = |assumed: Option<&Assumed>| {
        let mut progress = Progress::hidden();
        let seeds = Seeds { first: seed, count: 1 };
        let full = Setting::full(seeds, None, &mut progress);
        let mut setting = Setting { scale, shifts: &[], only_headlines: true, assumed, ..full };
        experiment.measure(&mut setting)
    };
    told(0, all, "as it is");
    let found = once(None)?;
    let mut lines: Vec<Headline> = headlines(&found).into_iter().map(Headline::new).collect();
    let ends = [(End::Least, "least"), (End::Greatest, "greatest")];
    let moved = entries.iter().flat_map(|entry| ends.map(|end| (entry, end)));
    for (number, ((platform, entry), (end, word))) in moved.enumerate() {
        let name = format!("{platform}: {entry}, {word}");
        told(1 + number, all, &name);
        let found = once(Some(&Assumed { platform, entry: entry.clone(), end }))?;
        for line in &mut lines {
            let row = found.rows.iter().find(|row| row.label == line.label);
            line.take(row.map_or(line.value, |row| row.measured.median), &name);
        }
    }
    Ok(Sensitivity { entries: entries.len(), headlines: lines })
}

impl Sensitivity {
    /// As a table.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} entries of class E, each at both ends of its interval, the others as they are\n\n\
             {:<47}{:>9}{:>10}{:>10}{:>10}  {}",
            self.entries, "", "paper", "value", "least", "greatest", "moved most by"
        );
        for line in &self.headlines {
            let [value, least, greatest] =
                [line.value, line.least.0, line.greatest.0].map(|value| {
                    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
                });
            let (down, up) = (line.value - line.least.0, line.greatest.0 - line.value);
            let by = if down >= up { &line.least.1 } else { &line.greatest.1 };
            let label = format!(
                "{}{}{}",
                line.label,
                if line.unit.is_empty() { "" } else { ", " },
                line.unit
            );
            write!(
                text,
                "\n{label:<47}{:>9}{value:>10}{least:>10}{greatest:>10}  {by}",
                line.paper
            )
            .expect("a write to a string succeeds");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_chosen_by_name_on_all_platforms() {
        let all: Vec<Assumption> =
            [("a", "x.y"), ("a", "z"), ("b", "z")].map(|(of, name)| (of, name.to_owned())).into();
        assert_eq!(named(all.clone(), &["z".to_owned()]), Ok(all[1..].to_vec()));
        let refused = named(all, &["z".to_owned(), "y".to_owned()]);
        assert_eq!(refused, Err("y: expected entries of class E: x.y, z".to_owned()));
    }
}
