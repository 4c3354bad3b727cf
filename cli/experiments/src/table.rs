// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as text for a terminal.

use std::fmt::{Display, Write};

use terminal::text;

use crate::{Clock, Commit, Experiment, Findings, Seeds};

const WIDTH: usize = 98;

/// The table, the claims and the notes, below `title`, which is the experiment's as the terminal shows it.
pub fn text(
    title: &str,
    experiment: &Experiment,
    seeds: Seeds,
    findings: &Findings,
    commit: Option<&Commit>,
) -> String {
    let mut text = format!("{title}\n{}\n\n", experiment.source);
    for (name, value) in &findings.parameters {
        line(&mut text, format_args!("  {name:<14}{value}"));
    }
    if let Some((name, value)) = findings.platform_entry() {
        line(&mut text, format_args!("  {name:<14}{value}"));
    }
    line(&mut text, format_args!("  {:<14}{}", "seeds", seeds.text(experiment.clock)));
    line(&mut text, format_args!("  {:<14}{}\n", "commit", Commit::text(commit)));
    let middle = if experiment.clock == Clock::Virtual { "median" } else { "measured" };
    let heads =
        ["", "paper, goal", middle, "min–max", "", "by paper's", "within", "", "operations"];
    line(&mut text, cells(heads));
    for row in &findings.rows {
        let (reference, ratio) = (row.reference(), row.ratio_text());
        let [median, range] = row.measured_texts();
        let operations = format!("{} {}", text::count(row.operations()), row.operation);
        let (within, mark) = (row.within_tolerance(), row.mark());
        let values: [&str; 9] =
            [&row.label, &reference, &median, &range, row.unit, &ratio, within, mark, &operations];
        line(&mut text, cells(values));
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
fn cells([label, reference, median, range, unit, ratio, within, mark, of]: [&str; 9]) -> String {
    let line = format!(
        "{label:<47}{reference:>13}{median:>9}  {range:<17}{unit:<10}{ratio:>10}  {within:<8}{mark:<7}{of}"
    );
    line.trim_end().into()
}

fn line(text: &mut String, line: impl Display) {
    writeln!(text, "{line}").expect("writing into a string does not fail");
}
