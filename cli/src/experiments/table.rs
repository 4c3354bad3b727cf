//! Findings as text for a terminal.

use std::fmt::Write;

use super::{Experiment, Findings};
use crate::output::Output;
use crate::text;

const WIDTH: usize = 96;

/// The table, the claims and the notes.
pub fn text(experiment: &Experiment, seed: u64, findings: &Findings, out: &Output) -> String {
    let mut text = format!("{}\n{}\n\n", out.strong(experiment.title), experiment.source);
    for (name, value) in &findings.parameters {
        line(&mut text, format_args!("  {name:<14}{value}"));
    }
    line(&mut text, format_args!("  {:<14}{seed}\n", "seed"));
    let heads = ["", "paper", "measured", "", "ratio"];
    let [label, paper, measured, unit, ratio] = heads;
    line(&mut text, format_args!("{label:<46}{paper:>9}{measured:>11} {unit:<10}{ratio:>6}"));
    for row in &findings.rows {
        let paper = row.paper.map_or("–".into(), |paper| paper.text());
        let ratio = row.ratio().map_or("–".into(), |ratio| format!("{ratio:.2}"));
        let (label, measured, unit) = (&row.label, row.measured, row.unit);
        line(&mut text, format_args!("{label:<46}{paper:>9}{measured:>11.1} {unit:<10}{ratio:>6}"));
    }
    for note in findings.all_notes() {
        text.push('\n');
        for part in text::wrap(&note, WIDTH) {
            line(&mut text, format_args!("{part}"));
        }
    }
    text.trim_end().into()
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing into a string does not fail");
}
