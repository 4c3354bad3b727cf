//! Findings as text for a terminal.

use std::fmt::{Display, Write};

use super::{Clock, Experiment, Findings, Seeds};
use crate::output::Output;
use crate::text;

const WIDTH: usize = 98;

/// The table, the claims and the notes.
pub fn text(experiment: &Experiment, seeds: Seeds, findings: &Findings, out: &Output) -> String {
    let mut text = format!("{}\n{}\n\n", out.strong(experiment.title), experiment.source);
    for (name, value) in &findings.parameters {
        line(&mut text, format_args!("  {name:<14}{value}"));
    }
    line(&mut text, format_args!("  {:<14}{}\n", "seeds", seeds.text(experiment.clock)));
    let middle = if experiment.clock == Clock::Virtual { "median" } else { "measured" };
    let heads = ["", "paper", middle, "min–max", "", "ratio", ""];
    line(&mut text, cells(heads));
    for row in &findings.rows {
        let paper = row.paper.map_or("–".into(), |paper| paper.text());
        let ratio = row.ratio().map_or("–".into(), |ratio| format!("{ratio:.2}"));
        let median = format!("{:.1}", row.measured.median);
        let range = row.measured.range(1).unwrap_or_default();
        line(&mut text, cells([&row.label, &paper, &median, &range, row.unit, &ratio, row.mark()]));
    }
    for note in findings.all_notes() {
        text.push('\n');
        for part in text::wrap(&note, WIDTH) {
            line(&mut text, format_args!("{part}"));
        }
    }
    text.trim_end().into()
}

/// A line of the table.
fn cells([label, paper, median, range, unit, ratio, mark]: [&str; 7]) -> String {
    let line = format!("{label:<47}{paper:>8}{median:>9}  {range:<17}{unit:<10}{ratio:>5} {mark}");
    line.trim_end().into()
}

fn line(text: &mut String, line: impl Display) {
    writeln!(text, "{line}").expect("writing into a string does not fail");
}
