// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each violation says, and which anomaly the history has.

use history::Anomaly;

use super::*;
use crate::check::{Failure, Violation};

/// Two rows of different headers, and two of one.
fn apart(scene: &Scene) -> [u64; 2] {
    let header = |row| scene.layout.header_of(key(row));
    let other = (1..OBJECTS).find(|row| header(*row) != header(0));
    [0, other.expect("there are several headers")]
}

fn together(scene: &Scene) -> [u64; 2] {
    let header = |row| scene.layout.header_of(key(row));
    let pairs = (0..OBJECTS).flat_map(|one| (one + 1..OBJECTS).map(move |other| [one, other]));
    let mut pairs = pairs.filter(|[one, other]| header(*one) == header(*other));
    pairs.next().expect("ten rows under six headers")
}

fn violation(scene: &Scene, told: &[Told]) -> Violation {
    *scene.judge().check(&record(told)).expect_err("it is not sound")
}

/// The anomalies that the checker of histories names beside the violation.
fn anomalies(scene: &Scene, told: &[Told]) -> Vec<Anomaly> {
    match scene.judge().judge(&record(told), 0, "directed") {
        Err(Failure::Order { history, .. }) => {
            let report = (*history).as_ref().expect("a history can be made");
            report.anomalies().into_iter().collect()
        }
        other => panic!("{other:?}"),
    }
}

fn sound(scene: &Scene, told: &[Told]) {
    if let Err(failure) = scene.judge().judge(&record(told), 0, "directed") {
        panic!("{failure}");
    }
}

/// A transaction that was never applied claims the value that its row had already, under a version that another row of
/// the header has made since. A read of it is none of that claim.
#[test]
fn a_value_that_was_there_before_is_no_sign_of_a_write() {
    let scene = Scene::new();
    let [one, beside] = together(&scene);
    let header = |row| scene.layout.header_of(key(row));
    let other = (0..OBJECTS).find(|row| header(*row) != header(one)).expect("several headers");
    let [one_before, beside_before, before] = [one, beside, other].map(|row| scene.initial(row));
    let open = [read(one, 1, 7), write(one, 2, 7), read(other, 0, before), write(other, 1, 5)];
    let told = [
        at(10, 1, &[read(one, 0, one_before), write(one, 1, 7)]),
        Told { fate: Fate::Open, ..at(20, 2, &open) },
        at(30, 3, &[read(beside, 1, beside_before), write(beside, 2, 8)]),
        at(40, 4, &[read(one, 2, 7), read(other, 0, before)]),
    ];
    sound(&scene, &told);
}

#[test]
fn a_lost_update_is_named() {
    let scene = Scene::new();
    let before = scene.initial(0);
    let told = [
        at(10, 1, &[read(0, 0, before), write(0, 1, 5)]),
        at(20, 2, &[read(0, 0, before), write(0, 1, 6)]),
    ];
    assert_eq!(
        violation(&scene, &told).to_string(),
        "transaction 1/2/2/20 at 20 ns read version 0 of row 0x0 of table 0, but the newest is 1, \
         made by transaction 1/2/1/10 at 10 ns"
    );
    assert!(anomalies(&scene, &told).contains(&Anomaly::LostUpdate));
    // Without the second read it is the version that does not fit.
    let mut blind = told;
    blind[1].accesses.remove(0);
    let header = scene.layout.name_of(scene.layout.header_of(key(0)));
    assert_eq!(
        violation(&scene, &blind).to_string(),
        format!(
            "transaction 1/2/2/20 at 20 ns made version 1 of row 0x0 of table 0 ({header}) instead of \
             2, after the one made by transaction 1/2/1/10 at 10 ns"
        )
    );
}

#[test]
fn write_skew_is_named() {
    let scene = Scene::new();
    let [one, other] = apart(&scene);
    let reads = [read(one, 0, scene.initial(one)), read(other, 0, scene.initial(other))];
    let told = [
        at(10, 1, &[reads[0], reads[1], write(one, 1, 5)]),
        at(12, 2, &[reads[0], reads[1], write(other, 1, 6)]),
    ];
    assert!(matches!(violation(&scene, &told), Violation::Read { found: 0, newest: 1, .. }));
    assert!(anomalies(&scene, &told).contains(&Anomaly::WriteSkew));
}

#[test]
fn values_of_undone_and_of_no_transactions_are_named() {
    let scene = Scene::new();
    let before = scene.initial(0);
    let writer =
        Told { fate: Fate::Decided(false), ..at(10, 1, &[read(0, 0, before), write(0, 1, 5)]) };
    let told = [writer, at(30, 2, &[read(0, 1, 5)])];
    assert!(matches!(violation(&scene, &told), Violation::Read { found: 1, newest: 0, .. }));
    assert!(anomalies(&scene, &told).contains(&Anomaly::G1a));
    let told = [at(30, 2, &[read(0, 0, 77)])];
    assert!(matches!(violation(&scene, &told), Violation::Value { found: 77, .. }));
    assert!(anomalies(&scene, &told).contains(&Anomaly::UnknownVersion));
}

#[test]
fn a_stale_read_is_named() {
    let scene = Scene::new();
    let before = scene.initial(0);
    let told = [
        at(10, 1, &[read(0, 0, before), write(0, 1, 5)]),
        Told { kind: Point::Within, ..at(30, 2, &[read(0, 0, before)]) },
    ];
    assert_eq!(
        violation(&scene, &told).to_string(),
        "transaction 1/2/2/30 at 30 ns, begun at 25 ns, read version 0 of row 0x0 of table 0, which \
         was overwritten by transaction 1/2/1/10 at 10 ns: at no moment was all current that it read"
    );
    assert!(!anomalies(&scene, &told).is_empty());
    // Had it begun before, it would stand before the writer.
    let mut sooner = told;
    sooner[1].begin = 9;
    sound(&scene, &sooner);
}

#[test]
fn reads_within_have_a_moment_in_common() {
    let scene = Scene::new();
    let [one, other] = apart(&scene);
    let [first, second] = [scene.initial(one), scene.initial(other)];
    let writers = [
        at(10, 1, &[read(one, 0, first), write(one, 1, 5)]),
        at(20, 2, &[read(other, 0, second), write(other, 1, 6)]),
        at(30, 1, &[read(one, 1, 5), write(one, 2, 7)]),
    ];
    let reader = |reads: [Access; 2]| {
        let reader = Told { kind: Point::Within, begin: 5, ..at(40, 3, &reads) };
        [&writers[..], &[reader]].concat()
    };
    for (reads, is_sound) in [
        ([read(one, 0, first), read(other, 0, second)], true),
        ([read(one, 1, 5), read(other, 0, second)], true),
        ([read(one, 1, 5), read(other, 1, 6)], true),
        ([read(one, 2, 7), read(other, 1, 6)], true),
        ([read(one, 0, first), read(other, 1, 6)], false),
        ([read(one, 2, 7), read(other, 0, second)], false),
    ] {
        let told = reader(reads);
        if is_sound {
            sound(&scene, &told);
        } else {
            assert!(matches!(violation(&scene, &told), Violation::Overwritten { .. }), "{reads:?}");
        }
    }
}

#[test]
fn keys_of_one_header_share_its_versions() {
    let scene = Scene::new();
    let [one, other] = together(&scene);
    let [first, second] = [scene.initial(one), scene.initial(other)];
    let both = [read(one, 0, first), read(other, 0, second), write(one, 1, 5), write(other, 1, 6)];
    let told = [
        at(10, 1, &both),
        at(20, 1, &[read(one, 1, 5), write(one, 2, 7)]),
        // The other key was not changed, but its header was.
        Told { kind: Point::Within, ..at(30, 2, &[read(other, 2, 6)]) },
        at(40, 2, &[read(other, 2, 6), read(one, 2, 7)]),
    ];
    sound(&scene, &told);
    let mut twice = told.clone();
    twice[0].accesses[3].version = 2;
    assert!(matches!(violation(&scene, &twice), Violation::Write { made: 2, expected: 1, .. }));
    let mut stale = told.clone();
    stale[3].accesses[0].version = 1;
    assert!(matches!(violation(&scene, &stale), Violation::Read { found: 1, newest: 2, .. }));
    let mut again = told;
    again[0].accesses.push(write(one, 1, 9));
    assert!(matches!(violation(&scene, &again), Violation::WrittenTwice { .. }));
}

#[test]
fn points_are_within_their_transactions_and_exact_for_writers() {
    let scene = Scene::new();
    let accesses = [read(0, 0, scene.initial(0)), write(0, 1, 5)];
    let told = at(10, 1, &accesses);
    for (begin, end) in [(11, 20), (5, 9)] {
        let outside = violation(&scene, &[Told { begin, end, ..told.clone() }]);
        assert!(matches!(outside, Violation::OutsideOfItself { .. }), "{outside}");
    }
    let inexact = violation(&scene, &[Told { kind: Point::Within, ..told }]);
    assert_eq!(inexact.to_string(), "transaction 1/2/1/10 at 10 ns wrote, but has no exact point");
    let mut recorder = Recorder::default();
    let attempt = recorder.begin(transaction(1, 7), 0, Time::ZERO);
    recorder.end(attempt, Ending::Committed, Time::from_ns(9));
    let none = scene.judge().check(&recorder).expect_err("it told nothing");
    assert_eq!(none.to_string(), "transaction 1/2/1/7 ended without a point");
}

#[test]
fn the_rows_of_the_end_are_compared() {
    let scene = Scene::new();
    let told = [at(10, 1, &[read(0, 0, scene.initial(0)), write(0, 1, 5)])];
    let recorder = record(&told);
    let mut replayed = scene.judge().check(&recorder).expect("sound");
    assert_eq!((replayed.transactions(), replayed.accesses()), (1, 2));
    let row = |row, version, digest| Row { key: key(row), version, digest };
    let written: Vec<_> = replayed.written().collect();
    assert_eq!(written, [row(0, 1, 5)]);
    let [_, other] = apart(&scene);
    let untouched = row(other, 0, scene.initial(other));
    replayed.check_end([row(0, 1, 5), untouched]).expect("as the writer left them");
    for wrong in [row(0, 1, 6), row(0, 0, 5), Row { version: 1, ..untouched }] {
        let violation = replayed.check_end([wrong]).expect_err("nobody left it so");
        assert!(matches!(*violation, Violation::End { .. }), "{violation}");
    }
}
