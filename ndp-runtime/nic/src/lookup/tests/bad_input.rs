// SPDX-License-Identifier: MIT OR Apache-2.0
//! Geometries that cannot be, and the beats of requests and answers.

use proptest::prelude::*;

use super::*;
use crate::index::{DIRECTORY_BITS, Hint, Table, UnknownOperation};

const PLACES: Places =
    Places { log2_segment: 2, directory: BASE + 8, overflow: BASE + 32, overflow_slots: 64 };

fn refused(table: Table, places: Places, settings: Settings) -> String {
    Geometry::<2>::new(table, places, settings).unwrap_err().to_string()
}

#[test]
fn geometries_that_do_not_fit_are_refused_by_name() {
    let table = |base, bytes| Table::new(base, 101, bytes, 8, 2, 26).unwrap();
    let small = table(BASE + 32, 32);
    assert!(Geometry::<2>::new(small, PLACES, SETTINGS).is_ok());
    let places = |places| refused(small, places, SETTINGS);
    let settings = |settings| refused(small, PLACES, settings);
    assert_eq!(
        places(Places { log2_segment: 3, ..PLACES }),
        "101 homes in segments of 2^3, expected 26 segments"
    );
    assert_eq!(
        places(Places { log2_segment: 32, ..PLACES }),
        "101 homes in segments of 2^32, expected 26 segments"
    );
    assert_eq!(
        places(Places { directory: 12, ..PLACES }),
        "the directory at 0xc, expected a multiple of 8 bytes"
    );
    assert_eq!(
        places(Places { overflow: 16, ..PLACES }),
        "the overflow area at 0x10, expected a multiple of 32 bytes"
    );
    assert_eq!(
        places(Places { overflow: 0u64.wrapping_sub(64), ..PLACES }),
        "the overflow area of 2048 bytes from 0xffffffffffffffc0 on reaches beyond 64-bit addresses"
    );
    assert_eq!(
        places(Places { directory: 0u64.wrapping_sub(8), ..PLACES }),
        "the directory of 208 bytes from 0xfffffffffffffff8 on reaches beyond 64-bit addresses"
    );
    assert_eq!(
        settings(Settings { value_bytes: 17, ..SETTINGS }),
        "cached values of 17 bytes, expected at most 16"
    );
    assert_eq!(
        settings(Settings { most_readings: 1, ..SETTINGS }),
        "at most 1 readings, expected 2 to 255"
    );
    assert_eq!(
        settings(Settings { landing_lines: 0, ..SETTINGS }),
        "reads of 0 lines, expected at least 1, for one slot"
    );
    let large =
        |places| refused(table(BASE, 320), places, Settings { landing_lines: 4, ..SETTINGS });
    assert_eq!(
        large(PLACES),
        format!("the overflow area at {:#x}, expected a multiple of 64 bytes", PLACES.overflow)
    );
    let lines = Places { overflow: BASE, ..PLACES };
    assert_eq!(large(lines), "reads of 4 lines, expected at least 5, for one slot");
    assert_eq!(
        refused(table(BASE + 16, 32), PLACES, SETTINGS),
        format!("the row of slots at {:#x}, expected a multiple of 32 bytes", BASE + 16)
    );
    let error = Geometry::<9>::new(small, PLACES, SETTINGS).unwrap_err();
    assert_eq!(error.to_string(), "answers with 9 words of a value, expected 1 to 8");
}

#[test]
fn tables_that_cannot_be_searched_are_refused_by_name() {
    let shape = |limit| {
        let values = Values::inline(8);
        RobinHood::new(Shape { slots: 101, limit, segment: 4, overflow_slots: 9, values }).unwrap()
    };
    let refused = |limit, base, more| {
        let geometry = Geometry::<1>::of_table(&shape(limit), base, more, SETTINGS);
        geometry.map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        refused(None, BASE, 2),
        "a table without a limit of displacements, expected one of 1 to 63"
    );
    let expected = "the table at 0x20, expected a multiple of 64 bytes";
    assert_eq!(refused(Some(8), 32, 2), expected);
    let text = refused(Some(8), 0u64.wrapping_sub(64), 2);
    assert!(text.ends_with("from 0xffffffffffffffc0 on reaches beyond 64-bit addresses"), "{text}");
    assert_eq!(
        refused(Some(8), BASE, 0),
        "k is 0, expected 1 to 64: with 0, the known displacement is not read"
    );
    let geometry = Geometry::<1>::of_table(&shape(Some(8)), BASE, 2, SETTINGS).unwrap();
    let Places { log2_segment, directory, overflow, overflow_slots } = geometry.places();
    assert_eq!((log2_segment, overflow_slots), (2, 9));
    // 109 slots of 32 bytes, in whole lines; then 26 words, in whole lines.
    assert_eq!((directory - BASE, overflow - directory), (3520, 256));
}

#[test]
fn operations_without_meaning_are_refused() {
    let mut words = Request::<2>::new(Operation::SetHint, 1, 2).to_words();
    words[1] += 1 << 16;
    assert_eq!(Request::<2>::from_words(&words), Err(UnknownOperation(9)));
    let all = (0..16).map(|number| Status::from_number(number).map(Status::number));
    assert_eq!(all.flatten().collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    assert_eq!(Status::from_number(16), None);
}

fn contents() -> impl Strategy<Value = Option<Content<2>>> {
    let content = (any::<u32>(), any::<[u64; 2]>(), 0..512_u16, any::<bool>(), any::<bool>());
    let content = content.prop_map(|(version, value, length, is_cached, is_out_of_line)| Content {
        version,
        value,
        length,
        is_cached,
        is_out_of_line,
    });
    proptest::option::of(content)
}

seeds::proptest! {
    #![cases(300)]

    #[test]
    fn beats_are_read_as_they_were_written(
        (key, token, number) in (any::<u64>(), any::<u16>(), 0..9_u8),
        (owner, epoch, version) in (any::<u16>(), any::<u16>(), any::<u32>()),
        (value, displacement, is_exact) in (any::<[u64; 2]>(), any::<u8>(), any::<bool>()),
        word in proptest::option::of(0..1_u64 << DIRECTORY_BITS),
        reserved in any::<u64>(),
    ) {
        let operation = Operation::from_number(number).unwrap();
        // A beat has either a version or a word of the directory.
        let sets_hint = operation == Operation::SetHint;
        let hint = Hint { displacement, is_exact, directory: word.filter(|_| sets_hint) };
        let version = if sets_hint { 0 } else { version };
        let request = Request { key, token, operation, owner, epoch, version, value, hint };
        let mut words = request.to_words();
        prop_assert_eq!(words.len(), request_words(2));
        prop_assert_eq!((words[1] >> 16) as u8 & 0xF, number);
        words[1] |= reserved & 3 << 22;
        words[2] |= reserved & !((1 << DIRECTORY_BITS) - 1);
        prop_assert_eq!(Request::from_words(&words), Ok(request));
    }

    #[test]
    fn answers_are_read_as_they_were_written(
        (token, number, has_lock) in (any::<u16>(), 0..16_u8, any::<bool>()),
        (trips, owner, epoch) in (any::<u8>(), any::<u16>(), any::<u16>()),
        content in contents(),
    ) {
        let status = Status::from_number(number).unwrap();
        let answer = Answer { token, status, content, has_lock, trips, owner, epoch };
        let words = answer.to_words();
        prop_assert_eq!(words.len(), answer_words(2));
        prop_assert_eq!((words[0] as u16, (words[0] >> 16) as u8 & 0xF), (token, number));
        prop_assert_eq!(words[1] & !0xFFFF_FFFF_01FF, 0, "reserved bits");
        prop_assert_eq!(Answer::from_words(&words), answer);
    }
}
