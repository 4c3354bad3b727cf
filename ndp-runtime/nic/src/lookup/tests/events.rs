// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single look-ups by single events: what is read when, what is absent, and what the index is told.

use tables::slot::Meta;

use super::*;
use crate::index::{Hint, Place, Table};
use crate::scan;

const OVERFLOW: u64 = BASE + 0x4000;
const DIRECTORY: u64 = BASE + 0x2000;
const KEY: u64 = 1;
/// Of a bucket of four slots.
const BUCKET: u64 = 3 << 32 | 8;
const STAMP: u64 = 1 << 38;

/// 101 homes with slots of 32 bytes, D_m = 8, and segments of 4.
fn geometry(settings: Settings) -> Geometry<WORDS> {
    let table = Table::new(BASE, 101, 32, 8, 2, 26).unwrap();
    let (directory, overflow) = (DIRECTORY, OVERFLOW);
    let places = Places { log2_segment: 2, directory, overflow, overflow_slots: 64 };
    Geometry::new(table, places, settings).unwrap()
}

/// A look-up that is told its events one by one.
struct Bench {
    geometry: Geometry<WORDS>,
    look_up: LookUp<WORDS>,
    counters: Counters,
    reads: Vec<Read>,
    answer: Option<Answer<WORDS>>,
    told: Vec<index::Request<WORDS>>,
}

/// What a scan of a part says that has not found the key.
fn nothing(part: Part, sum: u32, torn: bool) -> Event<WORDS> {
    let status = match part {
        _ if torn => scan::Status::Torn,
        Part::Bucket => scan::Status::Absent,
        _ => scan::Status::Overflow,
    };
    Event::Scanned(part, scan::Answer { status, sum, torn, ..error() })
}

fn error() -> scan::Answer {
    let (token, displacement, sum) = (0, 0, 0);
    let (meta, value) = (Meta::default(), [0; scan::MOST_VALUE_WORDS]);
    let status = scan::Status::Error;
    scan::Answer { token, status, displacement, meta, value, sum, torn: false }
}

fn found(part: Part, displacement: u16, meta: Meta) -> Event<WORDS> {
    let status = scan::Status::Found;
    let value = [u64::from(meta.version()); scan::MOST_VALUE_WORDS];
    Event::Scanned(part, scan::Answer { status, displacement, meta, value, ..error() })
}

fn miss(slots: u8, directory: u64) -> index::Answer<WORDS> {
    let place = Place { address: BASE + 32 * 62, slots, directory };
    index::Answer { epoch: 9, place, ..index::Answer::refused(index::Status::Miss) }
}

impl Bench {
    fn with(settings: Settings, operation: Operation) -> Self {
        let geometry = geometry(settings);
        let request = Request { owner: 5, ..Request::new(operation, KEY, 77) };
        let (look_up, action) = LookUp::new(geometry, request);
        let Action::Index(asked) = action else { panic!("{action:?}") };
        assert_eq!((asked.home, asked.segment, asked.owner), (62, 15, 5));
        let (counters, reads, told) = (Counters::default(), Vec::new(), Vec::new());
        Bench { geometry, look_up, counters, reads, answer: None, told }
    }

    /// A look-up that the index has answered with a miss.
    fn missed(slots: u8, directory: u64) -> Self {
        let mut bench = Bench::with(SETTINGS, Operation::LookUp);
        bench.take(Event::Index(miss(slots, directory)));
        bench
    }

    fn take(&mut self, event: Event<WORDS>) {
        for action in self.look_up.take(event, &mut self.counters) {
            match action {
                Action::Trip(reads) => self.reads = reads,
                Action::Answer(answer) => assert_eq!(self.answer.replace(answer), None),
                Action::Index(request) => self.told.push(request),
            }
        }
    }

    /// A trip in which the parts that are read have these sums, and the word is this one.
    fn trip(&mut self, row: u32, bucket: u32, word: u64) {
        for read in std::mem::take(&mut self.reads) {
            self.take(match read.part {
                Part::Row => nothing(Part::Row, row, false),
                Part::Bucket => nothing(Part::Bucket, bucket, false),
                Part::Directory => Event::Word(word),
            });
        }
    }

    /// The parts of the trip, with their addresses and slots.
    fn asked(&self) -> Vec<(Part, u64, u8)> {
        let slots = |read: &Read| read.scan.map_or(0, |scan| scan.slots);
        self.reads.iter().map(|read| (read.part, read.address, slots(read))).collect()
    }

    fn status(&self) -> Option<Status> {
        self.answer.map(|answer| answer.status)
    }

    /// The index answers all that it was told.
    fn finish(&mut self, status: index::Status) {
        for _ in 0..self.told.len() {
            assert!(!self.look_up.is_over());
            self.take(Event::Index(index::Answer::refused(status)));
        }
        assert!(self.look_up.is_over());
    }
}

#[test]
fn a_reading_goes_by_the_hint_and_the_next_one_reads_all() {
    let mut bench = Bench::missed(3, BUCKET);
    let (row, word) = (BASE + 32 * 62, DIRECTORY + 8 * 15);
    assert_eq!(bench.asked(), [(Part::Row, row, 3)]);
    bench.trip(2, 0, 0);
    assert_eq!(bench.asked(), [(Part::Bucket, OVERFLOW + 32 * 8, 4)]);
    let scan = bench.reads[0].scan.unwrap();
    assert!(scan.is_overflow && scan.displacement == 0 && scan.key == KEY);
    bench.trip(0, 4, 0);
    assert_eq!(bench.asked(), [(Part::Row, row + 96, 6), (Part::Directory, word, 0)]);
    let scan = bench.reads[0].scan.unwrap();
    assert_eq!((scan.first_word, scan.displacement, scan.limit), (4, 3, 8));
    bench.trip(6, 0, BUCKET | STAMP);
    let bucket = (Part::Bucket, OVERFLOW + 32 * 8, 4);
    assert_eq!(bench.asked(), [(Part::Row, row, 9), bucket, (Part::Directory, word, 0)]);
    assert_eq!(bench.status(), None);
    bench.trip(8, 4, BUCKET | STAMP);
    let answer = bench.answer.unwrap();
    assert_eq!((answer.status, answer.token, answer.trips), (Status::Absent, 77, 4));
    assert_eq!((answer.has_lock, answer.content, answer.epoch), (false, None, 9));
    assert!(bench.told.is_empty() && bench.look_up.is_over());
    let expected = Counters {
        requests: 1,
        look_ups: 1,
        misses: 1,
        absent: 1,
        short_hints: 1,
        trips: 4,
        reads: 7,
        slots_read: 3 + 4 + 6 + 9 + 4,
        bytes_read: 32 * 26 + 16,
        repeated_readings: 1,
        ..Counters::default()
    };
    assert_eq!(bench.counters, expected);
}

/// The index's bucket is not that of the directory: the first reading does not count. `Err` when it does.
pub fn another_bucket() -> Result<(), String> {
    let mut bench = Bench::missed(9, 0);
    bench.trip(6, 0, 0);
    assert_eq!(bench.asked().len(), 1, "only the word is left");
    bench.trip(0, 0, BUCKET);
    bench.trip(4, 2, BUCKET);
    if bench.answer.is_some() {
        return Err(format!("{:?} after readings of two buckets", bench.answer));
    }
    assert_eq!(bench.counters.disturbed_readings, 1);
    bench.trip(4, 2, BUCKET);
    assert_eq!(bench.status(), Some(Status::Absent));
    assert_eq!(bench.told.len(), 1);
    let Hint { displacement, is_exact, directory } = bench.told[0].hint;
    assert_eq!((displacement, is_exact, directory), (0, false, Some(BUCKET)));
    bench.finish(index::Status::Done);
    assert_eq!(bench.counters.hints_set, 1);
    Ok(())
}

/// A word names a bucket that the area does not have, in whichever way: nothing is confirmed. `Err` when it is.
pub fn outside() -> Result<(), String> {
    for word in [u64::MAX, 1 << 32 | 64, 3 << 32 | 61, 8 << 32, 32 << 32, 63 << 32] {
        let mut bench = Bench::missed(3, 0);
        bench.trip(2, 0, 0);
        bench.trip(4, 0, word);
        for _ in 1..SETTINGS.most_readings {
            if bench.answer.is_some() {
                return Err(format!("{:?} with the word {word:#x}", bench.answer));
            }
            assert_eq!(bench.asked().len(), 2, "no bucket");
            bench.trip(6, 0, word);
        }
        assert_eq!(bench.status(), Some(Status::GaveUp));
        assert!(bench.told.is_empty(), "{word:#x} became a hint");
        assert_eq!(bench.counters.disturbed_readings, 4);
    }
    Ok(())
}

/// A reading that was not whole between two equal ones that were. `Err` when the key counts as absent.
pub fn disturbed_in_between() -> Result<(), String> {
    let mut bench = Bench::missed(9, 0);
    bench.trip(6, 0, 0);
    bench.trip(0, 0, 0);
    bench.take(nothing(Part::Row, 6, true));
    bench.take(Event::Word(0));
    assert_eq!(bench.counters.disturbed_readings, 1);
    bench.trip(6, 0, 0);
    if bench.answer.is_some() {
        return Err(format!("{:?} after a torn reading", bench.answer));
    }
    bench.trip(6, 0, 0);
    assert_eq!(bench.status(), Some(Status::Absent));
    Ok(())
}

#[test]
fn only_equal_whole_readings_of_the_same_bucket_confirm_an_absence() {
    another_bucket().unwrap();
    outside().unwrap();
    disturbed_in_between().unwrap();
    // Another sum, and another stamp of the same bucket.
    for second in [(7, BUCKET), (6, BUCKET | STAMP)] {
        let mut bench = Bench::missed(9, BUCKET);
        bench.trip(6, 0, 0);
        bench.trip(0, 0, 0);
        bench.trip(0, 0, BUCKET);
        bench.trip(second.0, 0, second.1);
        assert_eq!(bench.status(), None, "{second:x?}");
        bench.trip(second.0, 0, second.1);
        assert_eq!(bench.status(), Some(Status::Absent));
    }
}

#[test]
fn a_hinted_bucket_outside_is_not_read_and_the_reading_is_not_whole() {
    let mut bench = Bench::missed(3, 1 << 32 | 64);
    bench.trip(2, 0, 0);
    assert_eq!(bench.asked().len(), 2, "the rest of the row and the word");
    bench.trip(4, 0, 0);
    bench.trip(6, 0, 0);
    assert_eq!((bench.status(), bench.counters.disturbed_readings), (None, 1));
    bench.trip(6, 0, 0);
    assert_eq!(bench.status(), Some(Status::Absent));
    assert_eq!(bench.told.len(), 1, "there is no bucket, and the index did not know");
}

#[test]
fn rows_and_buckets_that_do_not_fit_take_several_trips() {
    let settings = Settings { landing_lines: 1, ..SETTINGS };
    let mut bench = Bench::with(settings, Operation::LookUp);
    // The home is in mid-line.
    let mut answer = miss(2, BUCKET);
    answer.place.address += 32;
    let row = answer.place.address;
    bench.take(Event::Index(answer));
    let mut trips = Vec::new();
    while bench.answer.is_none() {
        trips.push(bench.asked());
        bench.trip(0, 0, BUCKET);
    }
    let at = |slot: u64, slots: u8| (Part::Row, row + 32 * slot, slots);
    let bucket = |slot: u64| (Part::Bucket, OVERFLOW + 32 * (8 + slot), 2);
    let word = (Part::Directory, DIRECTORY + 8 * 15, 0);
    let first: [Vec<_>; 7] = [
        vec![at(0, 1)],
        vec![at(1, 1)],
        vec![bucket(0)],
        vec![bucket(2)],
        vec![at(2, 1), word],
        vec![at(3, 2)],
        vec![at(5, 2)],
    ];
    let second = [
        vec![at(7, 2)],
        vec![at(0, 1), bucket(0), word],
        vec![at(1, 2), bucket(2)],
        vec![at(3, 2)],
        vec![at(5, 2)],
        vec![at(7, 2)],
    ];
    assert_eq!(trips, [&first[..], &second[..]].concat());
    assert_eq!(bench.answer.unwrap().trips, 13);
}

#[test]
fn a_read_takes_at_most_64_slots_and_trips_are_counted_up_to_255() {
    let table = Table::new(BASE, 101, 16, 63, 2, 26).unwrap();
    let places = Places {
        log2_segment: 2,
        directory: DIRECTORY,
        overflow: OVERFLOW + 16,
        overflow_slots: 1 << 17,
    };
    let settings = Settings { most_readings: 255, ..SETTINGS };
    let geometry = Geometry::<WORDS>::new(table, places, settings).unwrap();
    assert_eq!(geometry.fitting(BASE, 1 << 17), 64);
    let mut bench = Bench::with(settings, Operation::LookUp);
    bench.look_up = LookUp::new(geometry, *bench.look_up.request()).0;
    // A bucket of 65,536 slots, whose displacements go around.
    let word = 17 << 32 | 3;
    bench.take(Event::Index(miss(1, word)));
    bench.trip(1, 0, word);
    for number in 0..1024_u64 {
        let [(Part::Bucket, at, 64)] = bench.asked()[..] else { panic!("{:?}", bench.reads) };
        assert_eq!(at, OVERFLOW + 16 + 16 * (3 + 64 * number));
        bench.trip(0, 1, word);
    }
    bench.trip(1, 0, word);
    assert_eq!(bench.asked().len(), 3);
    bench.trip(1, 1, word);
    assert_eq!(bench.asked().len(), 1, "the row was read");
    bench.take(found(Part::Bucket, 64, Meta::object(1, 8, false)));
    assert_eq!(bench.answer.unwrap().trips, 255);
    assert_eq!(bench.counters.trips, 1 + 1024 + 1 + 2);
}

#[test]
fn of_the_parts_of_a_trip_the_row_comes_first_and_an_object_before_a_failure() {
    let second_reading = || {
        let mut bench = Bench::missed(9, BUCKET);
        bench.trip(0, 0, BUCKET);
        bench.trip(0, 2, BUCKET);
        bench.trip(0, 0, BUCKET);
        assert_eq!(bench.asked().len(), 3);
        bench
    };
    let object = |version| Meta::object(version, 8, false);
    let failures = [Event::Failed(Part::Row), Event::Scanned(Part::Row, error())];
    let cases = [
        (found(Part::Row, 3, object(1)), found(Part::Bucket, 0, object(2)), Some(1)),
        (failures[0], found(Part::Bucket, 0, object(2)), Some(2)),
        (failures[1], found(Part::Bucket, 0, object(2)), Some(2)),
        (found(Part::Row, 3, object(1)), Event::Failed(Part::Bucket), Some(1)),
        (failures[0], nothing(Part::Bucket, 2, false), None),
        (failures[1], nothing(Part::Bucket, 2, false), None),
        (nothing(Part::Row, 2, true), Event::Failed(Part::Bucket), None),
    ];
    for (row, bucket, expected) in cases {
        for word in [Event::Word(BUCKET), Event::Failed(Part::Directory)] {
            for order in [[row, bucket, word], [bucket, word, row], [word, bucket, row]] {
                let mut bench = second_reading();
                order.into_iter().for_each(|event| bench.take(event));
                let answer = bench.answer.unwrap();
                assert_eq!(answer.content.map(|content| content.version), expected);
                let status = if expected.is_some() { Status::DONE } else { Status::NotRead };
                assert_eq!(answer.status, status);
                let is_in_bucket = expected == Some(2);
                assert_eq!(bench.counters.found_in_buckets, u64::from(is_in_bucket));
            }
        }
    }
    // A word that cannot be read is enough for that, when nothing is found.
    let mut bench = second_reading();
    bench.take(nothing(Part::Row, 0, false));
    bench.take(nothing(Part::Bucket, 2, false));
    bench.take(Event::Failed(Part::Directory));
    assert_eq!((bench.status(), bench.counters.not_read), (Some(Status::NotRead), 1));
}

#[test]
fn the_index_is_told_what_was_seen() {
    let told = |meta: Meta, part: Part, word: u64| {
        let mut bench = Bench::missed(3, 0);
        bench.trip(0, 0, 0);
        bench.trip(0, 0, word);
        for other in [Part::Row, Part::Bucket, Part::Directory] {
            bench.take(match other {
                _ if other == part => found(part, 7, meta),
                Part::Directory => Event::Word(word),
                _ => nothing(other, 0, false),
            });
        }
        let content = bench.answer.unwrap().content.unwrap();
        assert_eq!((content.version, usize::from(content.length)), (6, meta.length()));
        assert_eq!((content.is_cached, content.is_out_of_line), (false, meta.is_pointer()));
        assert_eq!(content.value, [6; WORDS]);
        let told = bench.told.clone();
        for request in &told {
            assert_eq!((request.key, request.home, request.segment), (KEY, 62, 15));
        }
        bench.finish(index::Status::Stale);
        let Counters { fills, fills_stale, hints_set, .. } = bench.counters;
        assert_eq!((fills + hints_set, fills_stale), (told.len() as u64, fills));
        told
    };
    let (cached, longer) = (Meta::object(6, 8, false), Meta::object(6, 9, false));
    let away = Meta::object(6, 0, true);
    let sets_word = |told: &index::Request<WORDS>| {
        (told.operation, told.hint.directory) == (Operation::SetHint, Some(BUCKET))
    };
    for (part, displacement) in [(Part::Row, 7), (Part::Bucket, 0)] {
        let [word, fill] = told(cached, part, BUCKET | STAMP).try_into().unwrap();
        assert!(sets_word(&word) && word.hint.displacement == 0, "{word:?}");
        assert_eq!((fill.operation, fill.epoch), (Operation::Fill, 9));
        assert_eq!((fill.version, fill.value), (6, [6; WORDS]));
        assert_eq!(fill.hint.displacement, displacement);
    }
    for meta in [longer, away] {
        let [word, hint] = told(meta, Part::Row, BUCKET).try_into().unwrap();
        assert!(sets_word(&word));
        let expected = Hint { displacement: 7, is_exact: false, directory: None };
        assert_eq!((hint.operation, hint.hint), (Operation::SetHint, expected));
        let [word] = told(meta, Part::Bucket, BUCKET).try_into().unwrap();
        assert!(sets_word(&word));
    }
}

#[test]
fn what_the_index_answers_is_the_answer() {
    let content = Some((3, [4; WORDS]));
    for (operation, status) in [
        (Operation::LookUp, index::Status::Done),
        (Operation::LookUp, index::Status::Locked),
        (Operation::LockAndRead, index::Status::Done),
        (Operation::LockAndRead, index::Status::Locked),
        (Operation::LockAndRead, index::Status::Full),
        (Operation::Validate, index::Status::Miss),
        (Operation::Evict, index::Status::Unknown),
        (Operation::Unlock, index::Status::BusError),
    ] {
        let mut bench = Bench::with(SETTINGS, operation);
        let found = Some(index::Found { content, owner: Some(5) });
        let answer = index::Answer { found, epoch: 9, ..index::Answer::refused(status) };
        bench.take(Event::Index(answer));
        let answer = bench.answer.unwrap();
        let locked = operation == Operation::LockAndRead && status == index::Status::Done;
        assert_eq!((answer.status, answer.has_lock), (Status::Index(status), locked));
        assert_eq!((answer.owner, answer.epoch, answer.trips), (5, 9, 0));
        let cached = answer.content.unwrap();
        assert_eq!((cached.version, cached.value, cached.length), (3, [4; WORDS], 8));
        assert!(cached.is_cached && !cached.is_out_of_line && bench.look_up.is_over());
        let is_look_up = matches!(operation, Operation::LookUp | Operation::LockAndRead);
        let Counters { requests, look_ups, hits, misses, index_errors, .. } = bench.counters;
        let hit = is_look_up && status == index::Status::Done;
        assert_eq!((requests, look_ups, hits), (1, u64::from(is_look_up), u64::from(hit)));
        let failed = status == index::Status::BusError;
        assert_eq!((misses, index_errors), (0, u64::from(failed)));
    }
}

#[test]
fn a_lock_of_an_absent_key_is_kept_until_it_is_given_back() {
    let memory = tables::memory::PlainMemory::new(0x1000);
    let host = At::new(BASE, 0x1000, &memory);
    let mut engine = Engine::<1, WORDS>::new(geometry(SETTINGS), 255);
    let request = |operation, owner| Request { owner, ..Request::new(operation, KEY, 3) };
    let answer = engine.run(&host, request(Operation::LockAndRead, 6));
    assert_eq!((answer.status, answer.has_lock, answer.owner), (Status::Absent, true, 0));
    let again = engine.run(&host, request(Operation::LockAndRead, 6));
    assert_eq!((again.status, again.has_lock, again.owner), (Status::Absent, true, 6));
    let other = engine.run(&host, request(Operation::LookUp, 7));
    assert_eq!((other.status, other.owner), (Status::Index(index::Status::Locked), 6));
    assert_eq!(engine.run(&host, request(Operation::Unlock, 6)).status, Status::DONE);
    assert_eq!(engine.index().entry(15), index::Entry::default());
    assert_eq!(engine.run(&host, request(Operation::LookUp, 7)).status, Status::Absent);
    assert!(engine.run(&host, request(Operation::LookUp, 7)).content.is_none());
}

#[test]
#[should_panic(expected = "Bucket was not awaited")]
fn what_was_not_asked_for_is_refused() {
    Bench::missed(3, 0).take(nothing(Part::Bucket, 0, false));
}

#[test]
fn the_geometry_of_the_bench_is_as_it_says() {
    let bench = Bench::missed(3, 0);
    assert_eq!(bench.geometry.named(BUCKET), Named::Bucket(Bucket { place: 8, order: 2 }));
    assert_eq!(bench.geometry.named(3 << 32 | 60).bucket().map(Bucket::slots), Some(4));
    assert_eq!(bench.geometry.named(STAMP), Named::None);
}
