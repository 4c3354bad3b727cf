// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scans against a reference that sees the whole array of slots at once.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Values whose slots have all the sizes that there are.
const VALUES: [usize; 7] = [0, 16, 48, 104, 160, 216, 256];
const KEY: u64 = 0x1234_5678_9ABC_DEF0;

fn shape(values: usize, words: usize) -> Shape {
    Shape::new(SlotLayout::for_values_of(values), words).unwrap()
}

const SCAN: Scan = Scan {
    token: 9,
    key: KEY,
    first_word: 0,
    slots: 1,
    displacement: 2,
    limit: 8,
    is_overflow: false,
    sum: 100,
    torn: false,
};

/// What the doc comments of [`Answer`] and [`Status`] say, of all slots at once.
fn reference(shape: Shape, scan: Scan, lines: &[Line]) -> Answer {
    let zero = Answer {
        token: scan.token,
        status: Status::Error,
        displacement: 0,
        meta: Meta(0),
        value: [0; MOST_VALUE_WORDS],
        sum: 0,
        torn: false,
    };
    let words: Vec<u64> = lines.iter().flat_map(|line| line.words).collect();
    let (first, size) = (usize::from(scan.first_word), shape.slot().words());
    let end = first + size * usize::from(scan.slots);
    let right_number = end <= words.len() && words.len() < end + LINE_WORDS;
    if !right_number || first % size != 0 || lines.iter().any(|line| line.has_error) {
        return zero;
    }
    let slots: Vec<&[u64]> = words[first..end].chunks(size).collect();
    let metas = |slot: &[u64]| slot.iter().step_by(LINE_WORDS).copied().collect::<Vec<u64>>();
    let is_whole = |slot: &[u64]| {
        slot[0].is_multiple_of(2)
            && (!Meta(slot[0]).is_used() || metas(slot).iter().all(|&m| m == slot[0]))
    };
    let torn_here = slots.iter().any(|slot| !is_whole(slot));
    let stamps = slots.iter().map(|slot| Meta(slot[0]).stamp());
    let mut answer = Answer {
        displacement: (scan.displacement as usize + slots.len()) as u16,
        sum: stamps.fold(scan.sum, u32::wrapping_add),
        torn: torn_here || scan.torn,
        ..zero
    };
    let has_key = |slot: &&[u64]| Meta(slot[0]).is_used() && slot[1] == scan.key && is_whole(slot);
    if let Some(place) = slots.iter().position(has_key) {
        let value = slots[place].iter().enumerate().filter(|(n, _)| n % LINE_WORDS > 0 && *n != 1);
        let value = value.map(|(_, word)| *word).take(shape.value_words());
        answer.value.iter_mut().zip(value).for_each(|(to, word)| *to = word);
        answer.status = Status::Found;
        answer.meta = Meta(slots[place][0]);
        answer.displacement = scan.displacement.wrapping_add(place as u16);
        return answer;
    }
    let last = u32::from(scan.displacement) + u32::from(scan.slots) - 1;
    answer.status = if torn_here {
        Status::Torn
    } else if scan.is_overflow {
        Status::Absent
    } else if last < u32::from(scan.limit) {
        Status::More
    } else {
        Status::Overflow
    };
    answer
}

/// Gives a scan its lines; the last is the first that says so.
fn run(shape: Shape, scan: Scan, lines: &[Line]) -> Answer {
    let mut machine = ProbeScan::new(shape, scan).unwrap();
    let (last, others) = lines.split_last().expect("a line");
    for line in others {
        assert_eq!(machine.take(line), None, "an answer before the last line");
    }
    machine.take(last).expect("an answer with the last line")
}

/// Lines of these words, the last of which is the last.
fn lines(words: &[u64]) -> Vec<Line> {
    let count = words.len().div_ceil(LINE_WORDS);
    let line = |(n, chunk): (usize, &[u64])| {
        let mut line = Line { is_last: n + 1 == count, ..Line::default() };
        line.words[..chunk.len()].copy_from_slice(chunk);
        line
    };
    words.chunks(LINE_WORDS).enumerate().map(line).collect()
}

/// Words of slots: few versions and stamps, so that parts are often equal; the key, and keys near it.
fn words(random: &mut ChaCha8Rng, count: usize) -> Vec<u64> {
    let usual = Meta::object(1, 8, false).with_stamp(2);
    let meta = |random: &mut ChaCha8Rng| match random.random_range(0..16_u8) {
        0 => usual.with_stamp(3),
        1 => usual.with_stamp(random.random()),
        2 => Meta::object(2, 8, false).with_stamp(2),
        3..5 => Meta::default().with_stamp(2),
        _ => usual,
    };
    let keys = [1, 2, 30][random.random_range(0..3)];
    let word = |n: usize| match (n % 2, random.random_range(0..keys + 1)) {
        (0, _) => meta(random).0,
        (_, 0) => KEY,
        (_, 1) => KEY ^ 1 << random.random_range(0..64_u32),
        _ => random.random(),
    };
    (0..count).map(word).collect()
}

fn drawn_scan(random: &mut ChaCha8Rng, shape: Shape) -> Scan {
    let most = if random.random() { 5 } else { MOST_SLOTS };
    let first_word: u8 = random.random_range(0..8);
    let step = shape.slot().words().min(LINE_WORDS) as u8;
    let is_aligned = random.random_ratio(15, 16);
    Scan {
        token: random.random(),
        key: KEY,
        first_word: if is_aligned { first_word / step * step } else { first_word },
        slots: random.random_range(1..=most),
        displacement: if random.random_ratio(1, 8) { random.random() } else { 2 },
        limit: if random.random_ratio(1, 8) { random.random() } else { random.random_range(0..24) },
        is_overflow: random.random_ratio(1, 4),
        sum: random.random(),
        torn: random.random(),
    }
}

#[test]
fn lines_one_by_one_say_what_the_array_says() {
    let (seeds, mut met) = (seeds::of!(4000), [0; 6]);
    for seed in &seeds {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let values = VALUES[random.random_range(0..VALUES.len())];
        let shape = shape(values, random.random_range(1..=MOST_VALUE_WORDS));
        let scan = drawn_scan(random, shape);
        // A wrong number of lines now and then.
        let count = shape.lines(scan.first_word.into(), scan.slots.into());
        let count = match random.random_range(0..24_u8) {
            0 => count - 1,
            1 => count + random.random_range(1..6),
            _ => count,
        };
        let mut lines = lines(&words(random, LINE_WORDS * count.max(1)));
        if random.random_ratio(1, 16) {
            let place = random.random_range(0..lines.len());
            lines[place].has_error = true;
        }
        let answer = run(shape, scan, &lines);
        assert_eq!(answer, reference(shape, scan, &lines), "{shape:?} {scan:?}");
        met[answer.status as usize] += 1;
    }
    assert!(!seeds.is_whole() || met.iter().all(|&times| times > 50), "statuses met: {met:?}");
}

seeds::proptest! {
    #![cases(500)]

    #[test]
    fn streams_carry_scans_and_answers(seed in any::<u64>()) {
        let (random, shape) = (&mut ChaCha8Rng::seed_from_u64(seed), shape(48, 6));
        let scan = drawn_scan(random, shape);
        let sent = scan.to_words().unwrap();
        prop_assert_eq!(Scan::from_words(sent), scan);
        prop_assert!(sent[2] < 1 << 19, "reserved bits of {sent:x?}");
        let lines = lines(&words(random, LINE_WORDS * usize::from(scan.slots)));
        let answer = run(shape, scan, &lines);
        let words = answer.to_words();
        prop_assert_eq!(Answer::from_words(&words[..ANSWER_HEADER_WORDS + 6]), Ok(answer));
    }
}

/// The first words of a slot.
fn object(key: u64, stamp: u32) -> [u64; 2] {
    [Meta::object(5, 8, false).with_stamp(stamp).0, key]
}

#[test]
fn the_nearest_whole_slot_with_the_key_counts() {
    let shape = shape(0, 1);
    let scan = Scan { first_word: 2, slots: 5, ..SCAN };
    let [other, torn, key] = [object(1, 2), object(KEY, 3), object(KEY, 4)];
    let words = [key, other, torn, key, key, [0, KEY]].concat();
    let answer = run(shape, scan, &lines(&words));
    assert_eq!((answer.status, answer.displacement), (Status::Found, 4));
    assert_eq!((answer.meta, answer.sum, answer.torn), (Meta(key[0]), 113, true));
}

#[test]
fn what_was_not_found_says_where_to_go_on() {
    let shape = shape(0, 1);
    let words = [object(1, 2), object(2, 2), object(3, 2)].concat();
    let status = |scan: Scan| {
        let answer = run(shape, Scan { slots: 3, ..scan }, &lines(&words));
        (answer.status, answer.displacement)
    };
    // The last slot has displacement 4.
    assert_eq!(status(Scan { limit: 5, ..SCAN }), (Status::More, 5));
    assert_eq!(status(Scan { limit: 4, ..SCAN }), (Status::Overflow, 5));
    assert_eq!(status(Scan { limit: 3, ..SCAN }), (Status::Overflow, 5));
    assert_eq!(status(Scan { limit: 5, is_overflow: true, ..SCAN }), (Status::Absent, 5));
    // What was torn before is no matter of this scan.
    assert_eq!(status(Scan { limit: 5, torn: true, ..SCAN }), (Status::More, 5));
    assert_eq!(status(Scan { displacement: u16::MAX, ..SCAN }), (Status::Overflow, 2));
}

#[test]
fn a_slot_with_parts_of_two_versions_is_torn() {
    let shape = shape(104, 8);
    let meta = Meta::object(1, 104, false).with_stamp(6);
    let mut words = [0; 16];
    (words[0], words[1], words[8]) = (meta.0, KEY, meta.0);
    for (n, place) in [2, 3, 4, 5, 6, 7, 9, 10].into_iter().enumerate() {
        words[place] = n as u64;
    }
    let answer = run(shape, SCAN, &lines(&words));
    assert_eq!((answer.status, answer.value), (Status::Found, [0, 1, 2, 3, 4, 5, 6, 7]));
    words[8] = meta.with_stamp(7).0;
    let answer = run(shape, SCAN, &lines(&words));
    assert_eq!((answer.status, answer.sum, answer.torn), (Status::Torn, 106, true));
    assert_eq!((answer.meta, answer.value), (Meta(0), [0; 8]));
}

#[test]
fn what_cannot_be_scanned_is_refused_by_name() {
    let refused = |scan: Scan| {
        let text = scan.to_words().unwrap_err().to_string();
        assert_eq!(ProbeScan::new(shape(0, 1), scan).unwrap_err().to_string(), text);
        text
    };
    assert_eq!(refused(Scan { slots: 0, ..SCAN }), "a scan of 0 slots, expected 1 to 64");
    assert_eq!(refused(Scan { slots: 65, ..SCAN }), "a scan of 65 slots, expected 1 to 64");
    let text = "the first slot begins at word 8 of a line, expected 0 to 7";
    assert_eq!(refused(Scan { first_word: 8, ..SCAN }), text);
    let error = Shape::new(SlotLayout::for_values_of(8), 9).unwrap_err().to_string();
    assert_eq!(error, "answers with 9 words of a value, expected 1 to 8");
    assert_eq!(Status::try_from(6), Err(UnknownStatus(6)));
}

#[test]
fn a_slot_that_was_emptied_is_not_torn() {
    let shape = shape(104, 8);
    let meta = Meta::object(1, 104, false).with_stamp(6);
    let mut words = [0; 16];
    (words[0], words[1], words[8]) = (Meta::default().with_stamp(8).0, KEY, meta.0);
    let answer = run(shape, SCAN, &lines(&words));
    assert_eq!((answer.status, answer.sum, answer.torn), (Status::More, 108, false));
}
