// SPDX-License-Identifier: MIT OR Apache-2.0
use bench::postgres::PostgresError;
use terminal::Progress;

use super::{Small, named, seeds};
use crate::findings::{Colour, Curve, Plot, Stroke};
use crate::plot::{Display, svg};
use crate::{Clock, ExperimentError, Setting};

works_under_seeds! {
    fig4_works_under_seeds: "ccslt-fig4" at 0.002,
    fig5_works_under_seeds: "ccslt-fig5" at 0.01,
    placement_works_under_seeds: "ccslt-placement" at 0.01,
}

/// Where PostgreSQL is installed; a hundredth of the full length.
#[test]
fn the_experiment_by_the_clock_on_the_wall_gives_whole_rows() {
    let experiment = named("ccslt-fig6").expect("there");
    assert_eq!(experiment.clock, Clock::Wall);
    let progress = &mut Progress::hidden();
    let mut setting = Setting { scale: 0.01, ..Setting::full(seeds(5, 3), None, progress) };
    let findings = match experiment.measure(&mut setting) {
        Err(ExperimentError::Postgres(missing @ PostgresError::Missing { .. })) => {
            return eprintln!("skipped: {missing}");
        }
        findings => findings.expect("measured"),
    };
    for row in &findings.rows {
        assert!(row.measured.max.is_finite() && row.measured.min > 0.0, "{row:?}");
        assert_eq!(row.measured.seeds, 1, "a clock on the wall is read once: {row:?}");
    }
    assert_eq!(findings.rows.iter().filter(|row| row.paper.is_some()).count(), 4);
    assert_eq!((findings.rows.len(), findings.claims.len()), (32, 3));
    // Two histograms in each of two orders, with bins of 10 ns below 600 ns.
    assert_eq!(findings.details.len(), 2 * 2 * 60);
    assert!(findings.rows.iter().all(|row| row.operations() >= 100), "{:?}", findings.rows);
    let picture = svg(&findings.plots[0], experiment.title, Display::Wide);
    assert!(picture.contains("PostgreSQL, random") && picture.contains("paper: ccSLT"));
}

/// 88 ns beside 12,788 ns are to be seen.
#[test]
fn values_far_apart_are_drawn_on_a_logarithmic_axis() {
    let small = Small::of("ccslt-fig5", 0.02);
    let (experiment, findings) = (small.experiment, small.findings(seeds(1, 1)));
    let picture = svg(&findings.plots[0], experiment.title, Display::Wide);
    assert!(picture.contains("(logarithmic axis)"), "{picture}");
}

/// The paper's text has the ends of the host's curve and nothing between.
#[test]
fn curves_differ_without_colour_and_join_only_what_is_known() {
    let findings = Small::of("ccslt-fig4", 0.004).findings(seeds(1, 1));
    let Plot::Lines { curves, .. } = &findings.plots[0] else { panic!("curves") };
    let papers = curves.iter().filter(|curve| curve.colour == Colour::Paper);
    let strokes: Vec<Stroke> = papers.map(|curve| curve.stroke).collect();
    assert_eq!(strokes, [Stroke::Marks, Stroke::DOTTED]);
    for (number, curve) in curves.iter().enumerate() {
        let same = |other: &&Curve| {
            // The marks of host and device have different shapes.
            (other.stroke, other.colour) == (curve.stroke, curve.colour)
        };
        assert!(curves[number + 1..].iter().find(same).is_none(), "{}", curve.name);
    }
}
