// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of Xenic's Table 2, at a size that a test can fill; `cli/experiments` prints those of 8 M keys.

use tables::experiments::{Filling, Kind, LookUps, look_ups, staleness};

const FILLING: Filling = Filling { keys: 200_000, occupancy: 0.9, seed: 0, every: 7 };

fn assert_near(what: &str, measured: f64, paper: f64, share: f64) {
    println!("{what}: {measured:.3}, paper {paper}");
    assert!((measured / paper - 1.0).abs() <= share, "{what}: {measured:.3}, expected {paper}");
}

fn row(kind: Kind) -> LookUps {
    let row = look_ups(kind, FILLING).unwrap();
    println!("{kind:?}: {row:?}");
    row
}

#[test]
fn chained_rows_are_those_of_the_paper() {
    for (slots, objects, round_trips) in [(4, 4.65, 1.16), (8, 8.81, 1.10), (16, 16.96, 1.06)] {
        let row = row(Kind::Chained { slots });
        assert_near("objects", row.objects, objects, 0.02);
        assert_near("round trips", row.round_trips, round_trips, 0.02);
    }
}

#[test]
fn limited_robin_hood_rows_are_near_those_of_the_paper() {
    for (limit, objects, round_trips) in [(8, 3.43, 1.07), (16, 4.13, 1.04), (32, 4.84, 1.02)] {
        let row = row(Kind::RobinHood { limit: Some(limit), segment: 1 });
        assert_near("objects", row.objects, objects, 0.05);
        assert_near("round trips", row.round_trips, round_trips, 0.02);
    }
}

#[test]
fn other_rows_come_as_they_come() {
    let unlimited = row(Kind::RobinHood { limit: None, segment: 4 });
    assert_eq!(unlimited.round_trips, 1.0);
    assert!((6.0..8.0).contains(&unlimited.objects));
    let hopscotch = row(Kind::Hopscotch);
    assert!(hopscotch.objects >= 8.0 && (1.0..1.2).contains(&hopscotch.round_trips));
}

#[test]
fn fewer_insertions_outdate_hints_of_larger_segments() {
    let stale = |segment| staleness(Some(16), segment, FILLING, 20_000).unwrap();
    let (small, large) = (stale(2), stale(64));
    println!("{small:?} {large:?}");
    assert!(small.raised > large.raised && small.raised > small.raised_by_more);
}

#[test]
fn keys_are_different() {
    let mut keys: Vec<u64> = (0..10_000).map(|index| tables::experiments::key(3, index)).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 10_000);
}
