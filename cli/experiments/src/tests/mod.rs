// SPDX-License-Identifier: MIT OR Apache-2.0
//! All experiments at a fraction of their length, and the files that they write.

use std::collections::BTreeSet;

use terminal::Progress;

use super::registry::{all, named};
use super::*;

/// An experiment at a small part of its full length: enough to see that all of it works.
#[derive(Clone, Copy)]
struct Small {
    experiment: &'static Experiment,
    scale: f64,
}

impl Small {
    fn of(name: &str, scale: f64) -> Self {
        Self { experiment: named(name).expect("there"), scale }
    }

    fn findings(self, seeds: Seeds) -> Findings {
        self.with(seeds, |_| {})
    }

    /// With something else set.
    fn with(self, seeds: Seeds, set: impl FnOnce(&mut Setting<'_>)) -> Findings {
        let progress = &mut Progress::hidden();
        let full = Setting::full(seeds, None, progress);
        let mut setting = Setting { scale: self.scale, shifts: &[], ..full };
        set(&mut setting);
        self.experiment.measure(&mut setting).expect("measured")
    }
}

fn seeds(first: u64, count: u32) -> Seeds {
    Seeds { first, count }
}

/// A test of each experiment in virtual time, at a part of its length, and which they are.
macro_rules! works_under_seeds {
    ($($test:ident: $name:literal at $scale:literal,)*) => {
        $(
            #[test]
            fn $test() {
                super::works::under_seeds(super::Small::of($name, $scale));
            }
        )*

        /// All experiments that are tested above.
        pub const TESTED: &[&str] = &[$($name),*];
    };
}

mod ccslt;
mod drtm;
mod fasst;
mod near_data;
mod switchtx;
mod works;
mod xenic;

#[test]
fn every_experiment_in_virtual_time_has_its_test() {
    let experiments = all().filter(|experiment| experiment.clock == Clock::Virtual);
    let names: Vec<&str> = experiments.map(|experiment| experiment.name).collect();
    let tested = [
        ccslt::TESTED,
        near_data::TESTED,
        xenic::TESTED,
        fasst::TESTED,
        drtm::TESTED,
        switchtx::TESTED,
    ];
    assert_eq!(tested.concat(), names);
}

/// The second of two cannot be selected.
#[test]
fn names_are_given_once() {
    let names: Vec<&str> = all().map(|experiment| experiment.name).collect();
    let different: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), different.len(), "{names:?}");
}

/// The JSON of an experiment and all its files, under three seeds.
fn written(name: &str) -> (serde_json::Value, Findings, Vec<(String, String)>) {
    let small = Small::of(name, 0.02);
    let (experiment, findings) = (small.experiment, small.findings(seeds(1, 3)));
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

#[test]
fn what_the_paper_does_not_say_is_no_value_of_the_paper() {
    let findings = Small::of("ndp-update-speedup", 0.02).findings(seeds(1, 1));
    assert!(findings.claims.iter().all(|claim| claim.origin == Origin::Goal));
    assert!(findings.rows.iter().all(|row| row.paper.is_none()));
    let goals = findings.rows.iter().filter(|row| row.goal.is_some()).count();
    assert_eq!(goals, findings.claims.len(), "each goal has a row");
    assert!(findings.count().starts_with("Goals that are reached: "), "{}", findings.count());
    let placement = Small::of("ccslt-placement", 0.01).findings(seeds(1, 1));
    let origins: Vec<Origin> = placement.claims.iter().map(|claim| claim.origin).collect();
    assert_eq!(origins, [Origin::Paper, Origin::Paper, Origin::Own, Origin::Own]);
}

#[test]
fn an_unknown_name_is_answered_with_all_names() {
    let message = named("fig4").err().expect("refused").to_string();
    let names: Vec<&str> = all().map(|experiment| experiment.name).collect();
    let expected = format!("experiment \"fig4\": expected one of {}", names.join(", "));
    assert_eq!(message, expected);
}
