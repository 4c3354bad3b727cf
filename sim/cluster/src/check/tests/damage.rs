// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sound histories, damaged in one place: the check finds it.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::sound::history;
use super::*;
use crate::check::Violation;

/// The places of transactions that a condition holds of.
fn places(told: &[Told], condition: impl Fn(&Told) -> bool) -> Vec<usize> {
    (0..told.len()).filter(|place| condition(&told[*place])).collect()
}

fn is_exact(told: &Told) -> bool {
    told.kind == Point::Now && (told.is_committed() || told.fate == Fate::Ends(Ending::RolledBack))
}

fn is_writer(told: &Told) -> bool {
    told.is_committed() && told.writes().next().is_some()
}

/// Whether one of two writes under a header that the other reads or writes under.
fn conflict(scene: &Scene, one: &Told, other: &Told) -> bool {
    let touches = |one: &Told, other: &Told| {
        one.is_committed()
            && one.writes().any(|write| {
                let header = scene.layout.header_of(write.key);
                other.accesses.iter().any(|access| scene.layout.header_of(access.key) == header)
            })
    };
    touches(one, other) || touches(other, one)
}

/// Moves a point to another that it conflicts with, and past it, and its begin and end with it.
fn move_point(scene: &Scene, told: &mut [Told], random: &mut ChaCha8Rng) -> bool {
    let exact = places(told, is_exact);
    let Some(moved) = exact.choose(random).copied() else { return false };
    let others: Vec<_> =
        exact.into_iter().filter(|other| conflict(scene, &told[moved], &told[*other])).collect();
    let others: Vec<_> = others.into_iter().filter(|other| *other != moved).collect();
    let Some(other) = others.choose(random).copied() else { return false };
    // Doubled times have room for a point between any two.
    for one in &mut *told {
        one.point.1 = one.point.1 * 2 + 2;
    }
    let (at, order) = told[other].point;
    let is_later = told[moved].point > told[other].point;
    let one = &mut told[moved];
    one.point = (at, if is_later { order - 1 } else { order + 1 });
    (one.begin, one.end) = (one.begin.min(at), one.end.max(at));
    true
}

fn change_read(told: &mut [Told], random: &mut ChaCha8Rng) -> bool {
    let exact = places(told, is_exact);
    let one = &mut told[*exact.choose(random).expect("there are some")];
    let reads = one.accesses.iter_mut().filter(|access| !access.writes);
    let mut reads: Vec<_> = reads.collect();
    let place = random.random_range(0..reads.len());
    match random.random_range(0..3) {
        0 => reads[place].version += 1,
        1 if reads[place].version > 0 => reads[place].version -= 1,
        _ => reads[place].digest ^= 1 << random.random_range(5..64),
    }
    true
}

/// A read under one header: another value, or a version that was never there or long overwritten.
fn change_inexact_read(told: &mut [Told], random: &mut ChaCha8Rng) -> bool {
    let inexact = places(told, |told| {
        let fits = told.is_committed() || told.fate == Fate::Ends(Ending::RolledBack);
        told.kind == Point::Within && fits
    });
    let Some(place) = inexact.choose(random).copied() else { return false };
    let one = &mut told[place];
    let read = one.accesses.choose_mut_by(random);
    match random.random_range(0..2) {
        0 => read.version += 100,
        _ => read.digest ^= 1 << random.random_range(5..64),
    }
    true
}

trait ChooseMut {
    fn choose_mut_by(&mut self, random: &mut ChaCha8Rng) -> &mut Access;
}

impl ChooseMut for Vec<Access> {
    fn choose_mut_by(&mut self, random: &mut ChaCha8Rng) -> &mut Access {
        let place = random.random_range(0..self.len());
        &mut self[place]
    }
}

/// A writer makes the version once more that was there before it.
fn repeat_version(told: &mut [Told], random: &mut ChaCha8Rng) -> bool {
    let writers = places(told, is_writer);
    let Some(place) = writers.choose(random).copied() else { return false };
    for access in told[place].accesses.iter_mut().filter(|access| access.writes) {
        access.version -= 1;
    }
    true
}

/// A writer goes missing, which later ones or the rows show.
fn lose_commit(told: &mut Vec<Told>, random: &mut ChaCha8Rng) -> bool {
    let writers = places(told, is_writer);
    let Some(place) = writers.choose(random).copied() else { return false };
    told.remove(place);
    true
}

fn leave_itself(told: &mut [Told], random: &mut ChaCha8Rng) -> bool {
    let ended = places(told, |told| matches!(told.fate, COMMITTED));
    let Some(place) = ended.choose(random).copied() else { return false };
    let one = &mut told[place];
    let before = random.random() && one.begin < one.point.0;
    if before {
        one.begin = one.point.0 + 1;
        one.end = one.end.max(one.begin);
    } else {
        one.begin = one.begin.min(one.point.0 - 1);
        one.end = one.point.0 - 1;
    }
    true
}

/// Whether the check finds what `damage` does to each of many histories.
fn is_found(
    cases: u64,
    damage: impl Fn(&Scene, &mut Vec<Told>, &mut ChaCha8Rng) -> bool,
    target: seeds::Target,
) {
    let scene = Scene::new();
    let seeds = seeds::Seeds::new(cases, target);
    let mut damaged = 0;
    for seed in &seeds {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut told = history(&scene, 40, random);
        let rows = rows(&scene, &told);
        if !damage(&scene, &mut told, random) {
            continue;
        }
        damaged += 1;
        let recorder = record(&told);
        let found = match scene.judge().check(&recorder) {
            Ok(mut replayed) => replayed.check_end(rows),
            Err(violation) => Err(violation),
        };
        let violation = found.expect_err("it is damaged");
        assert!(violation.to_string().len() > 20, "{violation}");
        // A history can be made of every record, whatever it says.
        let failure = scene.judge().judge(&recorder, seed, "damaged");
        let is_end = matches!(*violation, Violation::End { .. });
        assert!(is_end || failure.is_err(), "{violation}");
    }
    assert!(damaged * 2 > cases || !seeds.is_whole(), "{damaged} of {cases} were damaged");
}

#[test]
fn a_point_moved_past_a_conflict_is_found() {
    is_found(200, |scene, told, random| move_point(scene, told, random), seeds::target!());
}

#[test]
fn a_changed_read_is_found() {
    is_found(200, |_, told, random| change_read(told, random), seeds::target!());
}

#[test]
fn a_changed_read_under_one_header_is_found() {
    is_found(200, |_, told, random| change_inexact_read(told, random), seeds::target!());
}

#[test]
fn a_version_made_twice_is_found() {
    is_found(200, |_, told, random| repeat_version(told, random), seeds::target!());
}

#[test]
fn a_lost_commit_is_found() {
    is_found(200, |_, told, random| lose_commit(told, random), seeds::target!());
}

#[test]
fn a_point_outside_of_its_transaction_is_found() {
    is_found(200, |_, told, random| leave_itself(told, random), seeds::target!());
}
