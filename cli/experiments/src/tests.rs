//! All experiments at a small part of their length, and the files that they write.

use bench::postgres::PostgresError;
use terminal::Progress;

use super::findings::{Colour, Curve, Plot, Stroke};
use super::plot::{Display, svg};
use super::registry::{all, named};
use super::*;

/// At a small part of the full length: enough to see that all of it works.
fn small(experiment: &Experiment, seeds: Seeds, fitted: f64) -> Findings {
    let progress = &mut Progress::hidden();
    let full = Setting::full(seeds, None, progress);
    let mut setting = Setting { scale: 0.02, fitted, shifts: &[], ..full };
    experiment.measure(&mut setting).expect("measured")
}

fn seeds(first: u64, count: u32) -> Seeds {
    Seeds { first, count }
}

fn every_row_is_whole(findings: &Findings, seeds: usize) {
    for row in &findings.rows {
        // A host that is home to the table needs no link.
        let least = row.measured.min;
        let possible = least > 0.0 || row.unit == "B/lock" && least == 0.0;
        assert!(row.measured.max.is_finite() && possible, "{row:?}");
        assert_eq!(row.measured.seeds, seeds, "{row:?}");
    }
    assert!(findings.rows.len() >= 8 && !findings.claims.is_empty());
}

/// What a seed gives alone it gives beside another, too.
fn one_seed_is_part_of(findings: &Findings, alone: &Findings) {
    assert_eq!(findings.rows.len(), alone.rows.len());
    for (row, alone) in findings.rows.iter().zip(&alone.rows) {
        let (ends, value) = (row.measured, alone.measured.median);
        assert_eq!(row.label, alone.label);
        assert!([ends.min, ends.max].contains(&value), "{row:?}: {value}");
    }
}

/// However an experiment makes its rows: what does not say that it rests on a fitted entry is the
/// same with all of them moved.
fn no_row_forgets_that_it_is_fitted(findings: &Findings, moved: &Findings) {
    let mut differ = 0;
    for (row, moved) in findings.rows.iter().zip(&moved.rows) {
        assert_eq!(row.label, moved.label);
        let same = row.measured == moved.measured;
        assert!(same || !row.fitted.is_empty(), "{row:?}, and moved {moved:?}");
        differ += usize::from(!same);
    }
    assert!(differ > 0, "no row rests on fitted entries");
}

fn works_under_seeds(name: &str) {
    let experiment = named(name).expect("there");
    assert_eq!(experiment.clock, Clock::Virtual);
    let findings = small(experiment, seeds(5, 2), 1.0);
    every_row_is_whole(&findings, 2);
    // Transfers of one device alone hardly depend on where they go.
    let differs = findings.rows.iter().any(|row| row.measured.min < row.measured.max);
    assert!(differs || name == "ccslt-fig5");
    let alone = small(experiment, seeds(6, 1), 1.0);
    one_seed_is_part_of(&findings, &alone);
    no_row_forgets_that_it_is_fitted(&alone, &small(experiment, seeds(6, 1), 1.3));
}

#[test]
fn ccslt_fig4_works_under_seeds() {
    works_under_seeds("ccslt-fig4");
}

#[test]
fn ccslt_fig5_works_under_seeds() {
    works_under_seeds("ccslt-fig5");
}

#[test]
fn ccslt_placement_works_under_seeds() {
    works_under_seeds("ccslt-placement");
}

#[test]
fn ndp_update_speedup_works_under_seeds() {
    works_under_seeds("ndp-update-speedup");
}

#[test]
fn every_experiment_in_virtual_time_has_its_test() {
    let tests = include_str!("tests.rs");
    for experiment in all().filter(|experiment| experiment.clock == Clock::Virtual) {
        let call = format!("works_under_seeds({:?});", experiment.name);
        assert!(tests.contains(&call), "{}", experiment.name);
    }
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

/// The JSON of an experiment and all its files, under three seeds.
fn written(name: &str) -> (serde_json::Value, Findings, Vec<(String, String)>) {
    let experiment = named(name).expect("there");
    let findings = small(experiment, seeds(1, 3), 1.0);
    let commit = Some(Commit { id: "abc".into(), changed: true });
    let record = Record::new(experiment, seeds(1, 3), &findings, commit);
    let files = files(experiment, &findings, &record);
    assert_eq!(files[0].0, format!("{name}.json"));
    (serde_json::from_str(&files[0].1).expect("well formed"), findings, files)
}

#[test]
fn the_record_says_what_was_measured_and_from_what() {
    let (value, findings, _) = written("ccslt-fig5");
    assert_eq!((&value["experiment"], &value["seed"]), (&"ccslt-fig5".into(), &1.into()));
    assert_eq!((&value["schema"], &value["seeds"]), (&SCHEMA.into(), &3.into()));
    assert_eq!(value["command"], "lockstep experiment ccslt-fig5 --seed 1 --seeds 3");
    assert_eq!(value["platforms"], serde_json::json!(["n1sdp-u280-ccix", "pcie-gen3"]));
    assert_eq!(value["commit"], serde_json::json!({"id": "abc", "changed": true}));
    assert_eq!(value["versions"]["lockstep"], env!("CARGO_PKG_VERSION"));
    for (name, text) in &findings.parameters {
        assert_eq!(&value["parameters"][name], text);
    }
    assert!(value["machine"].is_null(), "virtual time is the same on every machine");
    assert!(value["notes"].as_array().is_some_and(|notes| notes.len() > 3));
    let claim = &value["claims"][0];
    assert!(claim["finding"].is_boolean() && claim["seeds"] == 3, "{claim}");
    assert_eq!(claim["origin"], "paper");
}

#[test]
fn a_row_of_the_record_has_the_papers_range_and_all_its_values() {
    let (value, _, _) = written("ccslt-fig5");
    let row = &value["rows"][0];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let [min, measured, max] = ["min", "measured", "max"].map(|key| number(&row[key]));
    assert!(min <= measured && measured <= max && row["seeds"] == 3, "{row}");
    let paper = &row["paper"];
    assert_eq!((number(&paper["low"]), number(&paper["high"])), (80.0, 100.0));
    for (ratio, end) in [("low", "high"), ("high", "low")] {
        assert!((number(&row["ratio"][ratio]) - measured / number(&paper[end])).abs() < 1e-9);
    }
    let values = row["values"].as_array().expect("values");
    let seeds: Vec<u64> = values.iter().filter_map(|value| value["seed"].as_u64()).collect();
    assert_eq!((seeds.as_slice(), &row["operation"]), ([1, 2, 3].as_slice(), &"transfers".into()));
    assert!(values.iter().all(|value| value["operations"] == 80), "0.02 of 4,000: {row}");
    assert!(row["fitted"].as_array().is_some_and(|names| !names.is_empty()), "{row}");
    assert!(value["rows"][3]["paper"].is_null() && value["rows"][3]["ratio"].is_null());
}

#[test]
fn values_and_pictures_are_written_beside_the_record() {
    let (_, findings, files) = written("ccslt-fig5");
    let read = |name: &str| &files.iter().find(|(of, _)| of == name).expect(name).1;
    let picture = read("ccslt-fig5.svg");
    assert!(picture.starts_with("<svg") && picture.contains("8 KiB, PCIe, DMA read"));
    let table = read("ccslt-fig5.csv");
    // The heads; three seeds, and what they make together.
    assert_eq!(table.lines().count(), 1 + findings.rows.len() * 6);
    assert!(table.lines().nth(1).is_some_and(|line| line.ends_with(",80.0,100.0,")), "{table}");
}

/// 88 ns beside 12,788 ns are to be seen.
#[test]
fn values_far_apart_are_drawn_on_a_logarithmic_axis() {
    let experiment = named("ccslt-fig5").expect("there");
    let findings = small(experiment, seeds(1, 1), 1.0);
    let picture = svg(&findings.plots[0], experiment.title, Display::Wide);
    assert!(picture.contains("(logarithmic axis)"), "{picture}");
}

#[test]
fn what_the_paper_does_not_say_is_no_value_of_the_paper() {
    let named = |name| named(name).expect("there");
    let findings = small(named("ndp-update-speedup"), seeds(1, 1), 1.0);
    assert!(findings.claims.iter().all(|claim| claim.origin == Origin::Goal));
    assert!(findings.rows.iter().all(|row| row.paper.is_none()));
    let goals = findings.rows.iter().filter(|row| row.goal.is_some()).count();
    assert_eq!(goals, findings.claims.len(), "each goal has a row");
    assert!(findings.count().starts_with("Goals that are reached: "), "{}", findings.count());
    let placement = small(named("ccslt-placement"), seeds(1, 1), 1.0);
    let origins: Vec<Origin> = placement.claims.iter().map(|claim| claim.origin).collect();
    assert_eq!(origins, [Origin::Paper, Origin::Paper, Origin::Own, Origin::Own]);
}

/// The paper's text has the ends of the host's curve and nothing between.
#[test]
fn curves_differ_without_colour_and_join_only_what_is_known() {
    let findings = small(named("ccslt-fig4").expect("there"), seeds(1, 1), 1.0);
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

#[test]
fn an_unknown_name_is_answered_with_all_names() {
    let message = named("fig4").err().expect("refused").to_string();
    assert_eq!(
        message,
        "experiment \"fig4\": expected one of ccslt-fig4, ccslt-fig5, ccslt-fig6, \
         ccslt-placement, ndp-update-speedup"
    );
}
