// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mix, the keys and the count of puts of Retwis.

use super::*;
use crate::workload::TotalError;
use crate::workload::testing::{SerialStore, check_inputs, draw};

fn retwis(keys: u64, seed: u64) -> Retwis {
    Retwis::new(RetwisSettings { keys, seed, ..RetwisSettings::xenic(1) }).expect("sound settings")
}

#[test]
fn kinds_and_keys_are_those_of_the_paper() {
    const DRAWS: usize = 40_000;
    let retwis = retwis(1_000_000, 4);
    let (mut kinds, mut timelines) = ([0_usize; 4], [0_usize; MOST_KEYS + 1]);
    for input in draw(&retwis, 2, DRAWS) {
        kinds[usize::from(input.kind)] += 1;
        let keys = input.keys();
        assert!((1..keys.len()).all(|place| !keys[..place].contains(&keys[place])));
        match retwis.kinds()[usize::from(retwis.kind(&input))] {
            "load-timeline" => timelines[keys.len()] += 1,
            // Of a million keys hardly ever two are one.
            "add-user" => assert!(keys.len() <= 3 && input.intent() == Intent::Write),
            "follow" => assert!(keys.len() <= 2 && input.intent() == Intent::Write),
            _ => assert!(keys.len() <= 5 && input.intent() == Intent::Write),
        }
    }
    let near = |seen: usize, percent: usize| (seen * 100).abs_diff(percent * DRAWS) < DRAWS;
    assert!((0..4).all(|kind| near(kinds[kind], [5, 15, 30, 50][kind])), "{kinds:?}");
    assert!(timelines[1..].iter().all(|seen| near(*seen, 5)), "{timelines:?}");
}

#[test]
fn keys_come_by_zipf() {
    // Of n keys with exponent 1/2 the first n/4 have half of all draws, as the sum of 1/sqrt(k) goes
    // with the square root.
    let retwis = retwis(1_000_000, 5);
    let keys: Vec<u64> =
        draw(&retwis, 0, 20_000).iter().flat_map(|input| input.keys().to_vec()).collect();
    let first = keys.iter().filter(|key| **key < 250_000).count();
    assert!((first * 2).abs_diff(keys.len()) * 50 < keys.len(), "{first} of {}", keys.len());
}

#[test]
fn keys_that_are_drawn_twice_are_one() {
    let few = retwis(3, 6);
    let inputs = draw(&few, 0, 400);
    assert!(inputs.iter().all(|input| input.keys().len() <= 3));
    assert!(inputs.iter().any(|input| input.kind == 1 && input.keys().len() == 1));
}

#[test]
fn puts_are_counted_in_the_rows() {
    seeds::each!(10, |seed| {
        let retwis = retwis(40, seed);
        let mut serial = SerialStore::new(&retwis);
        let mut puts = 0;
        for input in draw(&retwis, 0, 200) {
            let taken = serial.execute(&input);
            let keys = input.keys().len();
            let to_write = if input.intent() == Intent::Write { keys } else { 0 };
            assert_eq!((taken.decision, taken.rounds, taken.keys), (Decision::Commit, 1, keys));
            assert_eq!(taken.to_write, to_write);
            puts += to_write as i64;
        }
        assert_eq!(serial.check_totals(), Ok(puts));
        let place = serial.committed.iter().position(|(kind, _)| *kind == 2).expect("a tweet");
        let tweet = serial.committed.remove(place);
        let error = serial.check_totals().expect_err("a transaction is missing");
        assert!(matches!(error, TotalError::Total { .. }), "{error}");
        // A timeline that puts, and one who follows five.
        for kind in [3, 1] {
            serial.committed.push((kind, tweet.1.clone()));
            let error = serial.check_totals().expect_err("no transaction does so");
            assert!(matches!(error, TotalError::Transaction { .. }), "{error}");
            serial.committed.pop();
        }
    });
}

#[test]
fn settings_out_of_range_are_named() {
    let sound = RetwisSettings::xenic(6);
    assert_eq!(sound.keys, 6_000_000);
    let refused = |settings| Retwis::new(settings).expect_err("out of range").to_string();
    assert!(refused(RetwisSettings { keys: 0, ..sound }).starts_with("keys is 0, expected 1 to"));
    let steep = RetwisSettings { exponent: f64::NAN, ..sound };
    assert_eq!(refused(steep), "exponent is NaN, expected 0 to 10");
    let mut value = Vec::new();
    let retwis = retwis(7, 0);
    assert!(retwis.initial(key(6), &mut value) && !retwis.initial(key(7), &mut value));
    assert_eq!((value.len(), retwis.check_row(key(6), &value)), (64, Ok(())));
    assert!(retwis.check_row(key(5), &value).is_err() && retwis.check_row(key(7), &value).is_err());
}

#[test]
fn inputs_come_back_from_their_bytes() {
    let retwis = retwis(90, 3);
    check_inputs(&retwis, 2, 60);
    let refused =
        |bytes: &[u8]| retwis.take_input(&mut Reader::new(bytes)).expect_err("damaged").to_string();
    assert_eq!(refused(&[4]), "byte 0: a kind of transaction (0 to 3) expected, found 4");
    let twice = [&[1, 2, 9, 0, 0, 0, 0, 0, 0, 0][..], &[7, 0, 0, 0, 0, 0, 0, 0].repeat(2)].concat();
    assert_eq!(refused(&twice), "byte 18: another key expected, found 7");
}
