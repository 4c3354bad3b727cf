// SPDX-License-Identifier: MIT OR Apache-2.0
use proptest::prelude::*;

use super::*;

type Small = Index<2, 1>;

fn index() -> Small {
    Index::new(Table::new(0x1000, 100, 32, 8, 1, 50).unwrap(), 2)
}

fn ask(index: &mut Small, operation: Operation, key: u64, owner: u16) -> Answer<1> {
    let mut request = Request::new(operation, key, 4, 2);
    request.owner = owner;
    index.apply(&request)
}

fn status(index: &mut Small, operation: Operation, key: u64, owner: u16) -> Status {
    ask(index, operation, key, owner).status
}

fn fill(index: &mut Small, key: u64, version: u32, epoch: u16) -> Status {
    let mut request = Request::new(Operation::Fill, key, 4, 2);
    (request.version, request.value, request.epoch) = (version, [u64::from(version)], epoch);
    index.apply(&request).status
}

fn update(index: &mut Small, key: u64, owner: u16, version: u32) -> Status {
    let mut request = Request::new(Operation::UpdateAndPin, key, 4, 2);
    (request.version, request.value, request.owner) = (version, [u64::from(version)], owner);
    index.apply(&request).status
}

fn hint(displacement: u8, is_exact: bool, directory: Option<u64>) -> Request<1> {
    let hint = Hint { displacement, is_exact, directory };
    Request { hint, ..Request::new(Operation::SetHint, 0, 4, 2) }
}

use Operation::{Evict, LockAndRead, LookUp, Unlock, Unpin, Validate};

#[test]
fn a_miss_says_where_to_read() {
    let mut index = index();
    let place = |slots, directory| Place { address: 0x1000 + 4 * 32, slots, directory };
    assert_eq!(ask(&mut index, LookUp, 7, 0).place, place(1, 0));
    assert_eq!(index.apply(&hint(3, false, Some(9))).status, Status::Done);
    let answer = ask(&mut index, LookUp, 7, 0);
    assert_eq!((answer.status, answer.place), (Status::Miss, place(4, 9)));
    index.apply(&hint(2, false, None));
    assert_eq!(ask(&mut index, LookUp, 7, 0).place, place(4, 9), "a hint lowered d");
    index.apply(&hint(2, true, None));
    assert_eq!(ask(&mut index, LookUp, 7, 0).place, place(3, 9));
    index.apply(&hint(8, false, None));
    assert_eq!(ask(&mut index, LookUp, 7, 0).place, place(9, 9), "D_m + 1 slots at most");
}

#[test]
fn the_word_of_the_directory_has_place_and_order_and_stands_where_nothing_is_cached() {
    let mut index = index();
    let word = u64::MAX >> (64 - DIRECTORY_BITS) ^ 5;
    assert_eq!(
        index.apply(&hint(0, false, Some(word | !0 << DIRECTORY_BITS))).status,
        Status::Done
    );
    assert_eq!(ask(&mut index, LookUp, 7, 0).place.directory, word, "without the stamp");
    fill(&mut index, 7, 5, 0);
    let answer = ask(&mut index, LookUp, 7, 0);
    assert_eq!((answer.status, answer.place.directory), (Status::Done, 0));
    assert_eq!(ask(&mut index, LookUp, 8, 0).place.directory, word, "another key");
    ask(&mut index, LockAndRead, 9, 1);
    assert_eq!(ask(&mut index, LookUp, 9, 0).place.directory, word, "locked, and never read");
}

#[test]
fn a_fill_is_found_and_tells_where_it_was() {
    let mut index = index();
    let mut request = Request::new(Operation::Fill, 7, 4, 2);
    (request.version, request.value, request.hint.displacement) = (5, [50], 6);
    assert_eq!(index.apply(&request).status, Status::Done);
    let answer = ask(&mut index, LookUp, 7, 0);
    assert_eq!(answer.status, Status::Done);
    assert_eq!(answer.found, Some(Found { content: Some((5, [50])), owner: None }));
    assert_eq!(index.entry(2).displacement(), 6);
    (request.version, request.value) = (4, [40]);
    assert_eq!(
        index.apply(&request).found.unwrap().content,
        Some((5, [50])),
        "what is there stays"
    );
}

#[test]
fn locks_exclude_others_and_not_their_owner() {
    let mut index = index();
    assert_eq!(status(&mut index, LockAndRead, 7, 1), Status::Miss);
    assert_eq!(status(&mut index, LockAndRead, 7, 1), Status::Miss, "once more");
    for operation in [LookUp, LockAndRead, Validate, Unlock] {
        let answer = ask(&mut index, operation, 7, 2);
        assert_eq!(answer.status, Status::Locked, "{operation:?}");
        assert_eq!(answer.found.unwrap().owner, Some(1));
    }
    assert_eq!(update(&mut index, 7, 2, 1), Status::Locked);
    assert_eq!(status(&mut index, Evict, 7, 1), Status::Locked);
    assert_eq!(fill(&mut index, 7, 3, 0), Status::Done);
    assert_eq!(status(&mut index, LockAndRead, 7, 1), Status::Done);
    assert_eq!(status(&mut index, Unlock, 7, 1), Status::Done);
    assert_eq!(status(&mut index, Unlock, 7, 1), Status::NotLocked);
    assert_eq!(update(&mut index, 7, 1, 4), Status::NotLocked);
    assert_eq!(status(&mut index, LookUp, 7, 2), Status::Done);
}

#[test]
fn a_lock_of_what_was_never_read_leaves_nothing() {
    let mut index = index();
    ask(&mut index, LockAndRead, 7, 1);
    assert_eq!(status(&mut index, Unlock, 7, 1), Status::Done);
    assert_eq!(index.entry(2), Entry::default());
}

#[test]
fn validation_compares_versions() {
    let mut index = index();
    fill(&mut index, 7, 5, 0);
    let mut request = Request::new(Validate, 7, 4, 2);
    request.version = 5;
    assert_eq!(index.apply(&request).status, Status::Done);
    request.version = 4;
    assert_eq!(index.apply(&request).status, Status::Changed);
    request.key = 8;
    assert_eq!(index.apply(&request).status, Status::Miss);
}

#[test]
fn pins_are_counted() {
    let mut index = index();
    for operation in [Unpin, Unlock, Evict] {
        assert_eq!(status(&mut index, operation, 7, 1), Status::Unknown, "{operation:?}");
    }
    assert_eq!(update(&mut index, 7, 1, 1), Status::Unknown);
    ask(&mut index, LockAndRead, 7, 1);
    assert_eq!(status(&mut index, Unpin, 7, 1), Status::NotPinned);
    assert_eq!(update(&mut index, 7, 1, 1), Status::Done);
    assert_eq!(update(&mut index, 7, 1, 2), Status::Done);
    assert_eq!(update(&mut index, 7, 1, 3), Status::TooManyPins);
    ask(&mut index, Unlock, 7, 1);
    assert_eq!(status(&mut index, Evict, 7, 1), Status::Pinned);
    assert_eq!(ask(&mut index, LookUp, 7, 1).found.unwrap().content, Some((2, [2])));
    assert_eq!(status(&mut index, Unpin, 7, 1), Status::Done);
    assert_eq!(status(&mut index, Unpin, 7, 1), Status::Done);
    assert_eq!(status(&mut index, Evict, 7, 1), Status::Done);
}

#[test]
fn places_are_taken_in_turn_and_never_from_what_is_locked_or_pinned() {
    let mut index = index();
    let has = |index: &Small, keys: [u64; 2]| {
        let entry = index.entry(2);
        let found = entry.objects().map(|object| object.unwrap().key);
        assert_eq!(found, keys);
    };
    for key in [1, 2, 3] {
        assert_eq!(fill(&mut index, key, 0, 0), Status::Done);
    }
    has(&index, [3, 2]);
    fill(&mut index, 4, 0, 0);
    has(&index, [3, 4]);
    assert_eq!(status(&mut index, LockAndRead, 3, 1), Status::Done);
    fill(&mut index, 5, 0, 0);
    has(&index, [3, 5]);
    ask(&mut index, LockAndRead, 5, 1);
    assert_eq!(fill(&mut index, 6, 0, 0), Status::Full);
    assert_eq!(status(&mut index, LockAndRead, 6, 1), Status::Full);
    update(&mut index, 5, 1, 1);
    ask(&mut index, Unlock, 5, 1);
    assert_eq!(fill(&mut index, 6, 0, 0), Status::Full, "a pinned object was replaced");
    has(&index, [3, 5]);
}

#[test]
fn a_read_that_raced_an_update_is_stale() {
    let mut index = index();
    let epoch = ask(&mut index, LookUp, 7, 0).epoch;
    ask(&mut index, LockAndRead, 7, 1);
    update(&mut index, 7, 1, 6);
    assert_eq!(fill(&mut index, 7, 5, epoch), Status::Done);
    assert_eq!(ask(&mut index, LookUp, 7, 1).found.unwrap().content, Some((6, [6])));
    ask(&mut index, Unlock, 7, 1);
    ask(&mut index, Unpin, 7, 0);
    for key in [8, 9] {
        fill(&mut index, key, 0, epoch);
    }
    assert_eq!(index.entry(2).object(7), None, "it was to be replaced");
    assert_eq!(fill(&mut index, 7, 5, epoch), Status::Stale);
    let epoch = ask(&mut index, LookUp, 7, 0).epoch;
    assert_eq!(fill(&mut index, 7, 6, epoch), Status::Done);
    assert_eq!(status(&mut index, Evict, 7, 0), Status::Done);
    assert_eq!(fill(&mut index, 7, 6, epoch), Status::Stale, "whoever evicts knows more");
}

#[test]
fn requests_outside_the_table_are_refused() {
    let mut index = index();
    let outside = [
        Request::new(LookUp, 7, 100, 2),
        Request::new(LockAndRead, 7, 4, 50),
        hint(9, true, None),
        Request { operation: Operation::Fill, ..hint(9, false, None) },
    ];
    for request in outside {
        assert_eq!(index.apply(&request), Answer::refused(Status::OutOfRange), "{request:?}");
    }
    assert_eq!(index, self::index());
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let table = |base, bytes, limit, more| Table::new(base, 100, bytes, limit, more, 50);
    assert_eq!(table(0, 32, 64, 1), Err(TableError::Limit(64)));
    for bytes in [0, 8, 48, 96, 384] {
        assert_eq!(table(0, bytes, 8, 1), Err(TableError::SlotBytes(bytes)));
    }
    assert_eq!(table(0, 32, 8, 0), Err(TableError::More(0)));
    let error = table(u64::MAX - 100, 32, 8, 1).unwrap_err();
    assert!(error.to_string().contains("100 slots of 32 bytes"), "{error}");
    assert_eq!(Operation::from_number(9), Err(UnknownOperation(9)));
}

#[test]
fn entries_have_room_and_a_stride() {
    assert_eq!((entry_words(2, 1), entry_lines(2, 1), entry_stride(2, 1)), (7, 1, 64));
    assert_eq!((entry_words(2, 8), entry_lines(2, 8), entry_stride(2, 8)), (21, 3, 256));
    assert_eq!(Entry::<2, 8>::default().encode(), vec![0; 24]);
}

fn requests() -> impl Strategy<Value = Vec<Request<1>>> {
    let word = prop_oneof![0..4_u64, 0..1_u64 << DIRECTORY_BITS];
    let hint = (0..10_u8, any::<bool>(), proptest::option::of(word))
        .prop_map(|(displacement, is_exact, directory)| Hint { displacement, is_exact, directory });
    let request = (0..9_u8, 0..5_u64, 0..3_u16, 0..4_u32, 0..3_u16, hint);
    let request = request.prop_map(|(number, key, owner, version, epoch, mut hint)| {
        let operation = Operation::from_number(number).unwrap();
        let (home, value) = (key as u32, [u64::from(version)]);
        // A beat has either a version or a word of the directory.
        let sets_hint = operation == Operation::SetHint;
        hint.directory = hint.directory.filter(|_| sets_hint);
        let version = if sets_hint { 0 } else { version };
        Request { operation, key, home, segment: 2, owner, version, value, epoch, hint }
    });
    proptest::collection::vec(request, 1..200)
}

seeds::proptest! {
    #![cases(300)]

    #[test]
    fn locked_and_pinned_objects_stay_and_entries_survive_memory(requests in requests()) {
        let mut index = index();
        for request in requests {
            let before = index.entry(2);
            index.apply(&request);
            let after = index.entry(2);
            prop_assert_eq!(&Entry::decode(&after.encode()), &after);
            for object in before.objects().iter().flatten().filter(|object| !object.is_replaceable()) {
                let same = after.object(object.key);
                let unlocked = request.operation == Unlock && request.key == object.key;
                let unpinned = request.operation == Unpin && request.key == object.key;
                match same {
                    Some(same) => {
                        prop_assert!(unlocked || same.owner == object.owner || object.owner.is_none());
                        prop_assert!(unpinned || same.pins >= object.pins);
                    }
                    None => prop_assert!(unlocked && object.content.is_none()),
                }
            }
            let mut keys: Vec<_> = after.objects().iter().flatten().map(|object| object.key).collect();
            keys.sort_unstable();
            keys.dedup();
            prop_assert_eq!(keys.len(), after.objects().iter().flatten().count());
        }
    }

    #[test]
    fn beats_are_read_as_they_were_written(requests in requests(), token: u16) {
        let mut index = index();
        for request in requests {
            let (again, read) = Request::from_words(&request.to_words(token)).unwrap();
            prop_assert_eq!((again, read), (token, request));
            let answer = index.apply(&request);
            prop_assert_eq!(Answer::from_words(&answer.to_words(token)), Some((token, answer)));
        }
    }
}
