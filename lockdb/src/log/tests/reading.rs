// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a reader handles intact, truncated, damaged and foreign logs.

use super::*;
use crate::files::random::Random;
use crate::files::{File, Files};

fn contents(file: &dyn File) -> Vec<u8> {
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn put(files: &Memory, name: &str, bytes: &[u8]) {
    files.create(name).unwrap().write_at(0, bytes).unwrap();
}

/// All records, as (kind, commit, body), and how it ended.
type Read = (Vec<(Kind, u64, Vec<u8>)>, Result<LogPosition, LogError>);

fn read_all(files: &Memory) -> Read {
    let mut records = Vec::new();
    let mut read = || {
        let mut reader = Reader::open(Arc::new(files.clone()), start())?;
        while let Some(record) = reader.read()? {
            records.push((record.kind, record.commit, record.body.to_vec()));
        }
        Ok(reader.position())
    };
    let end = read();
    (records, end)
}

/// A log in one segment: synced records, then some unsynced if asked for.
fn one_segment(lengths: &[usize], synced: bool) -> (Memory, Log) {
    let files = Memory::new();
    let options = LogOptions { segment_bytes: 1 << 20, ..small() };
    let log = Log::start(Arc::new(files.clone()), &options, start()).unwrap();
    for &bytes in lengths {
        let end = commit(&log, bytes);
        if synced {
            log.make_durable(end, Durability::Immediate).unwrap();
        }
    }
    log.storage.as_ref().unwrap().write_out(&log.sequencer).unwrap();
    (files, log)
}

const SEGMENT: &str = "log-0000000000000000";

#[test]
fn a_log_cut_anywhere_in_its_last_record_ends_before_it() {
    let (files, log) = one_segment(&[30, 200, 61], true);
    let whole = contents(&*files.open(SEGMENT).unwrap());
    let (all, end) = read_all(&files);
    assert_eq!((all.len(), end.unwrap()), (3, log.position()));
    let last = whole.len() - record::total_bytes(61) as usize;
    for cut in last..whole.len() {
        for zeros in [0, 40, whole.len() - cut] {
            let mut bytes = whole[..cut].to_vec();
            bytes.resize(cut + zeros, 0);
            if bytes.starts_with(&whole) {
                continue; // only padding was cut
            }
            put(&files, SEGMENT, &bytes);
            let (records, end) = read_all(&files);
            assert_eq!(records, all[..2], "cut at {cut}");
            let end = end.unwrap();
            assert_eq!((end.commit, end.lsn), (2, last as u64 - 64));
            // And the log continues from there.
            let log = Log::start(Arc::new(files.clone()), &small(), end).unwrap();
            log.make_durable(commit(&log, 5), Durability::Immediate).unwrap();
            let (records, end) = read_all(&files);
            assert_eq!((records.len(), end.unwrap()), (3, log.position()));
            files.remove(&segment::Segment::at(last as u64 - 64).name).unwrap();
        }
    }
}

#[test]
fn every_flipped_bit_in_synced_records_is_found() {
    let (files, log) = one_segment(&[0, 30, 200, 7], true);
    log.mark().unwrap();
    let whole = contents(&*files.open(SEGMENT).unwrap());
    let mark = whole.len() - record::total_bytes(0) as usize;
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        put(&files, SEGMENT, &bytes);
        let (_, end) = read_all(&files);
        if bit / 8 < mark {
            let error = end.expect_err("damage went unseen");
            let expected = if bit < 64 * 8 { "Header" } else { "Corrupt" };
            assert!(format!("{error:?}").starts_with(expected), "bit {bit}: {error}");
        } else {
            assert_eq!(end.unwrap().lsn, mark as u64 - 64, "nothing vouches for the mark itself");
        }
    }
}

#[test]
fn a_flipped_bit_in_unsynced_records_ends_the_log() {
    let (files, log) = one_segment(&[30, 60, 7], false);
    let (all, _) = read_all(&files);
    assert_eq!(all.len() as u64, log.published());
    let whole = contents(&*files.open(SEGMENT).unwrap());
    for bit in 64 * 8..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        put(&files, SEGMENT, &bytes);
        let (records, end) = read_all(&files);
        assert!(end.is_ok() && records.len() < 3 && records[..] == all[..records.len()]);
    }
}

/// Many segments; all but the last are known to be synced, whatever their records say.
fn many_segments() -> (Memory, Vec<String>) {
    let files = Memory::new();
    let log = Log::start(Arc::new(files.clone()), &small(), start()).unwrap();
    for _ in 0..40 {
        let end = commit(&log, 300);
        log.make_durable(end, Durability::Immediate).unwrap();
    }
    let names = files.list().unwrap();
    assert!(names.len() > 4);
    (files, names)
}

fn error_of(files: &Memory) -> String {
    read_all(files).1.expect_err("damage went unseen").to_string()
}

#[test]
fn damage_in_older_segments_is_found_and_named() {
    let (files, names) = many_segments();
    let whole = contents(&*files.open(&names[1]).unwrap());
    let check = |bytes: &[u8], expected: &str| {
        put(&files, &names[1], bytes);
        let error = error_of(&files);
        assert!(error.contains(expected) && error.contains(&names[1]), "{error}");
    };
    let with = |offset: usize, new: &[u8]| {
        let mut bytes = whole.clone();
        bytes[offset..offset + new.len()].copy_from_slice(new);
        bytes
    };
    check(&whole[..whole.len() - 8], "336 bytes are left in the file, expected 344");
    check(&[&whole[..], &[0; 8]].concat(), "begins at");
    check(&with(0, b"NOTALOG!"), "offset 0: magic");
    check(&with(8, &[2]), "offset 8: version 2, expected 1");
    check(&with(12, &[0; 4]), "offset 12: header checksum");
    check(&[], "offset 0: the file has 0 bytes, expected a header of 64");
    check(&whole[..30], "offset 0: the file has 30 bytes");
    check(&with(64, &[0; 40]), "offset 64: zeros, expected a record, though");
    check(&with(64, &whole[64 + 344..64 + 688]), "offset 64: stale record of LSN");
    check(&with(110, &[0xff]), "offset 64: body checksum");
    put(&files, &names[1], &whole);
    assert_eq!(read_all(&files).0.len(), 40);
}

/// Whole headers and records, but of something else.
#[test]
fn foreign_and_impossible_bytes_are_named() {
    let (files, log) = one_segment(&[300], true);
    let whole = contents(&*files.open(SEGMENT).unwrap());
    let header = |store, epoch, at| {
        let header = segment::Header { store, epoch }.encode(at);
        [&header, &whole[64..]].concat()
    };
    let check = |bytes: &[u8], expected: &str| {
        put(&files, SEGMENT, bytes);
        assert_eq!(error_of(&files), format!("log segment {SEGMENT}, offset {expected}"));
    };
    check(&header(9, 1, 0), "16: store 0x9, expected 0x5704e");
    check(&header(0x5704e, 1, 8), "24: start LSN 8, expected 0 as in the name");
    let record = record::Header {
        kind: Kind::Commit,
        body_bytes: 0,
        lsn: 0,
        commit: 2,
        durable: 0,
        body_checksum: 0,
    };
    check(&[&whole[..64], &record.encode()].concat(), "64: commit 2, expected 1");
    put(&files, SEGMENT, &header(0x5704e, 5, 0));
    let next = segment::Header { store: 0x5704e, epoch: 4 }.encode(log.tail().lsn);
    let name = segment::Segment::at(log.tail().lsn).name;
    put(&files, &name, &next);
    let text = format!("log segment {name}, offset 32: epoch 4, expected at least 5, that of");
    assert!(error_of(&files).starts_with(&text), "{}", error_of(&files));
}

#[test]
fn missing_segments_are_named() {
    let (files, names) = many_segments();
    files.remove(&names[2]).unwrap();
    let error = error_of(&files);
    assert!(error.contains(&names[1]) && error.contains(&names[3]), "{error}");
    files.remove(&names[0]).unwrap();
    let error = error_of(&files);
    assert!(error.contains("no log segment holds LSN 0") && error.contains(&names[1]), "{error}");
    for name in &names[1..] {
        let _ = files.remove(name);
    }
    assert!(error_of(&files).ends_with("there is none"));
    let (files, names) = many_segments();
    files.create("log-10").unwrap(); // not a name of ours
    let last = segment::Segment::list(&files).unwrap().pop().unwrap();
    let from = LogPosition { lsn: last.start + 8000, ..start() };
    let error = Reader::open(Arc::new(files), from).unwrap_err();
    assert!(matches!(error, LogError::EndsEarly { .. }), "{error}");
    assert!(error.to_string().contains(names.last().unwrap()), "{error}");
}

/// The power went while the last segment was being created: the log ends before it.
#[test]
fn a_segment_without_a_header_is_empty() {
    for bytes in [0, 10, 64, 1000] {
        let (files, log) = one_segment(&[30, 40], true);
        let name = segment::Segment::at(log.tail().lsn).name;
        put(&files, &name, &vec![0; bytes]);
        assert_eq!(read_all(&files).1.unwrap(), log.position());
        let mut reader = Reader::open(Arc::new(files.clone()), log.position()).unwrap();
        assert!(reader.read().unwrap().is_none());
        assert_eq!(reader.torn().unwrap().file, name);
        let log = Log::start(Arc::new(files.clone()), &small(), log.position()).unwrap();
        log.make_durable(commit(&log, 5), Durability::Immediate).unwrap();
        assert_eq!(read_all(&files).0.len(), 3);
    }
}

/// A header that was synced, for records follow it, and is gone.
#[test]
fn a_lost_header_is_no_empty_segment() {
    let (files, _) = one_segment(&[30], false);
    files.open(SEGMENT).unwrap().write_at(0, &[0; 64]).unwrap();
    assert!(error_of(&files).contains("offset 0: magic 0x0000000000000000"));
}

#[test]
fn a_log_begins_only_at_its_end() {
    let (files, log) = one_segment(&[30, 40], true);
    let before = contents(&*files.open(SEGMENT).unwrap());
    let open = |at| Log::start(Arc::new(files.clone()), &small(), at).unwrap_err();
    for lsn in [0, record::total_bytes(30)] {
        let error = open(LogPosition { lsn, ..start() });
        assert!(matches!(error, LogError::Occupied { records, .. } if records == lsn), "{error}");
    }
    let error = open(LogPosition { lsn: log.tail().lsn + 8, ..start() });
    assert!(matches!(error, LogError::EndsEarly { .. }), "{error}");
    let text = open(LogPosition { epoch: 0, ..log.tail() }).to_string();
    assert!(text.ends_with("offset 32: epoch 0, expected at least 1, that of the segment before"));
    let text = open(LogPosition { store: 9, ..log.tail() }).to_string();
    assert!(text.ends_with("offset 16: store 0x5704e, expected 0x9"), "{text}");
    assert_eq!(contents(&*files.open(SEGMENT).unwrap()), before);
    assert_eq!(files.list().unwrap(), [SEGMENT]);
    let (files, _) = many_segments();
    let error = Log::start(Arc::new(files), &small(), start()).unwrap_err();
    assert!(matches!(error, LogError::Occupied { .. }), "{error}");
}

#[test]
fn segments_are_removed_once_nothing_in_them_is_needed() {
    let files = Memory::new();
    let log = Log::start(Arc::new(files.clone()), &small(), start()).unwrap();
    let mut positions = Vec::new();
    for _ in 0..40 {
        log.make_durable(commit(&log, 300), Durability::Immediate).unwrap();
        positions.push(log.position());
    }
    let redo = positions[20];
    log.remove_before(redo.lsn).unwrap();
    let left = segment::Segment::list(&files).unwrap();
    assert!(left[0].start <= redo.lsn && left[1].start > redo.lsn, "{left:?}");
    let mut reader = Reader::open(Arc::new(files.clone()), redo).unwrap();
    assert_eq!(reader.read().unwrap().unwrap().commit, redo.commit + 1);
    log.remove_before(u64::MAX).unwrap();
    assert_eq!(files.list().unwrap().len(), 1, "the newest stays");
}

/// Random bytes, and whole logs with random damage, give an error or a prefix.
#[test]
fn no_bytes_make_the_reader_panic_or_lie() {
    seeds::each!(2000, |seed| {
        let mut random = Random::new(seed);
        let (files, _) = one_segment(&[30, 60, 200, 7, 90], seed % 2 == 0);
        let (all, _) = read_all(&files);
        let mut bytes = contents(&*files.open(SEGMENT).unwrap());
        if seed % 5 == 0 {
            bytes.iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        for _ in 0..random.below(4) {
            let (from, to) = (random.below(700) as usize, random.below(700) as usize);
            let (count, value) = (random.below(90) as usize, random.next() as u8);
            match random.below(4) {
                0 => bytes.truncate(from),
                1 => bytes.resize(from.max(bytes.len()), value),
                _ if from.max(to) + count > bytes.len() => {}
                2 => bytes.copy_within(from..from + count, to),
                _ => bytes[from..from + count].fill(value),
            }
        }
        put(&files, SEGMENT, &bytes);
        let (records, _) = read_all(&files);
        assert!(records.len() <= all.len());
        assert_eq!(records, all[..records.len()]);
    });
}
