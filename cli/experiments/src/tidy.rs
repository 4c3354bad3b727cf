// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings for statistics, as CSV: one line for each measured value.

use serde::Serialize;

use crate::experiment::Experiment;
use crate::findings::{Findings, Observation, Place, Row};

/// One value, and all that is known of it.
#[derive(Serialize)]
struct Line<'a> {
    experiment: &'a str,
    row: &'a str,
    /// The curve, for a row that stands on one; and `x` along it, of `across`.
    series: &'a str,
    across: &'a str,
    x: Option<f64>,
    unit: &'a str,
    /// "value" of one seed; "min", "median" or "max" of all.
    statistic: &'a str,
    seed: Option<u64>,
    value: f64,
    /// Behind the value: how many, and what they are.
    operations: u64,
    operation: &'a str,
    fitted: bool,
    paper_low: Option<f64>,
    paper_high: Option<f64>,
    goal_at_least: Option<f64>,
}

/// The file, with a line of heads.
pub fn csv(experiment: &Experiment, findings: &Findings) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = findings.rows.iter().chain(&findings.details);
    for line in rows.flat_map(|row| lines(experiment, row)) {
        writer.serialize(line).expect("lines are plain data");
    }
    let bytes = writer.into_inner().expect("writing into memory does not fail");
    String::from_utf8(bytes).expect("labels are UTF-8")
}

/// All lines of a row: its values, and what they make together if there are several.
fn lines<'a>(experiment: &'a Experiment, row: &'a Row) -> Vec<Line<'a>> {
    let (series, across, x) = match &row.place {
        Some(Place { series, across, x }) => (series.as_str(), *across, Some(*x)),
        None => ("", "", None),
    };
    let line = |statistic, seed, value, operations| Line {
        experiment: experiment.name,
        row: &row.label,
        series,
        across,
        x,
        unit: row.unit,
        statistic,
        seed,
        value,
        operations,
        operation: row.operation,
        fitted: !row.fitted.is_empty(),
        paper_low: row.paper.map(|paper| paper.low),
        paper_high: row.paper.map(|paper| paper.high),
        goal_at_least: row.goal.map(|goal| goal.at_least),
    };
    let of_seed = |of: &Observation| line("value", Some(of.seed), of.value, of.operations);
    let mut lines: Vec<Line<'_>> = row.observations.iter().map(of_seed).collect();
    if row.measured.seeds > 1 {
        let (all, operations) = (row.measured, row.operations());
        lines.extend(
            [("min", all.min), ("median", all.median), ("max", all.max)]
                .map(|(statistic, value)| line(statistic, None, value, operations)),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Goal, Paper};
    use crate::registry::named;

    #[test]
    fn each_value_has_a_line_of_its_own() {
        let observation = |(seed, value, operations)| Observation { seed, value, operations };
        let observations = [(1, 88.0, 100), (2, 90.0, 200)].map(observation);
        let fitted = ["link.latency_to_host".to_owned()].into_iter().collect();
        let row = Row::new("64 B, read", ("ns", "reads"), observations.into(), fitted);
        let paper = Some(Paper::range(80.0, 100.0, ""));
        let bin =
            Row::new("bin", ("%", "locks"), vec![observation((1, 5.0, 7))], Default::default());
        let findings = Findings {
            rows: vec![row.beside(paper)],
            details: vec![
                bin.at("random", "ns", 45.0).with_goal(Goal { at_least: 4.2, because: "" }),
            ],
            ..Findings::default()
        };
        let text = csv(named("ccslt-fig5").expect("there"), &findings);
        assert_eq!(
            text,
            "experiment,row,series,across,x,unit,statistic,seed,value,operations,operation,fitted,\
             paper_low,paper_high,goal_at_least\n\
             ccslt-fig5,\"64 B, read\",,,,ns,value,1,88.0,100,reads,true,80.0,100.0,\n\
             ccslt-fig5,\"64 B, read\",,,,ns,value,2,90.0,200,reads,true,80.0,100.0,\n\
             ccslt-fig5,\"64 B, read\",,,,ns,min,,88.0,300,reads,true,80.0,100.0,\n\
             ccslt-fig5,\"64 B, read\",,,,ns,median,,89.0,300,reads,true,80.0,100.0,\n\
             ccslt-fig5,\"64 B, read\",,,,ns,max,,90.0,300,reads,true,80.0,100.0,\n\
             ccslt-fig5,bin,random,ns,45.0,%,value,1,5.0,7,locks,false,,,4.2\n"
        );
    }
}
