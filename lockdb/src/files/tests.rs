// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every kind of folder keeps the same contract; a crash image keeps the model's.

use std::io::ErrorKind;
use std::sync::Arc;

use super::blocks::Blocks;
use super::random::Random;
use super::*;

fn contents(file: &dyn File) -> Vec<u8> {
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn kind<T: Debug>(result: io::Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn keeps_the_contract(files: &dyn Files) {
    assert_eq!(files.list().unwrap(), [""; 0]);
    for name in ["", ".", "..", "a/b", "../a", "a\\b"] {
        assert_eq!(kind(files.create(name)), ErrorKind::InvalidInput, "{name}");
        assert_eq!(kind(files.open(name)), ErrorKind::InvalidInput, "{name}");
        assert_eq!(kind(files.remove(name)), ErrorKind::InvalidInput, "{name}");
    }
    assert_eq!(kind(files.open("b")), ErrorKind::NotFound);
    assert_eq!(kind(files.remove("b")), ErrorKind::NotFound);
    let (b, a) = (files.create("b").unwrap(), files.create("a").unwrap());
    assert_eq!(files.list().unwrap(), ["a", "b"]);
    b.write_at(10_000, b"end").unwrap();
    b.write_at(8190, b"over a border").unwrap();
    assert_eq!(contents(&*files.open("b").unwrap()), contents(&*b));
    let mut expected = vec![0; 10_003];
    expected[8190..8203].copy_from_slice(b"over a border");
    expected[10_000..].copy_from_slice(b"end");
    assert_eq!(contents(&*b), expected);
    assert_eq!(kind(b.read_at(10_000, &mut [0; 4])), ErrorKind::UnexpectedEof);
    b.set_len(8200).unwrap();
    b.set_len(8300).unwrap();
    expected.truncate(8200);
    expected.resize(8300, 0);
    assert_eq!(contents(&*b), expected);
    b.sync().unwrap();
    files.sync_directory().unwrap();
    files.remove("a").unwrap();
    a.write_at(0, b"still open").unwrap();
    assert_eq!(contents(&*a), b"still open");
    assert_eq!(files.list().unwrap(), ["b"]);
    assert_eq!(contents(&*files.create("b").unwrap()), b"");
    assert_eq!(b.len().unwrap(), 0);
}

#[test]
fn all_kinds_keep_the_contract() {
    keeps_the_contract(&Memory::new());
    keeps_the_contract(&Simulated::new());
    let folder = tempfile::tempdir().unwrap();
    keeps_the_contract(&Disk::open(folder.path().join("made/on/the/way")).unwrap());
}

#[test]
fn a_folder_is_held_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let first = Disk::open(folder.path()).unwrap();
    let error = Disk::open(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(error.to_string().contains(folder.path().to_str().unwrap()), "{error}");
    assert_eq!(kind(first.create("lock")), ErrorKind::InvalidInput);
    drop(first);
    assert_eq!(Disk::open(folder.path()).unwrap().list().unwrap(), [""; 0]);
}

/// Blocks against a plain vector; a clone taken on the way must not change.
#[test]
fn blocks_are_a_vector() {
    seeds::each!(50, |seed| {
        let mut random = Random::new(seed);
        let (mut blocks, mut model) = (Blocks::default(), Vec::new());
        let mut copies = Vec::new();
        for step in 0..60 {
            let offset = random.below(30_000) as usize;
            if random.below(4) == 0 {
                blocks.set_len(offset as u64);
                model.resize(offset, 0);
            } else {
                let bytes = vec![step + 1; random.below(20_000) as usize + 1];
                blocks.write(offset as u64, &bytes).unwrap();
                model.resize(model.len().max(offset + bytes.len()), 0);
                model[offset..offset + bytes.len()].copy_from_slice(&bytes);
            }
            copies.push((blocks.clone(), model.clone()));
        }
        for (blocks, model) in copies {
            let mut bytes = vec![9; blocks.len() as usize];
            blocks.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, model);
        }
    });
}

/// One sector synced with 1s, then overwritten by 2s and then by 3s, over three sectors in all.
fn three_generations() -> Simulated {
    let files = Simulated::new();
    let file = files.create("f").unwrap();
    file.write_at(0, &[1; 1024]).unwrap();
    file.sync().unwrap();
    files.sync_directory().unwrap();
    file.write_at(0, &[2; 1536]).unwrap();
    file.write_at(512, &[3; 1024]).unwrap();
    files
}

#[test]
fn unsynced_sectors_are_old_or_new_each_by_itself() {
    let mut seen = std::collections::BTreeSet::new();
    let files = three_generations();
    for seed in 0..20_000 {
        let image = files.crash(seed);
        let bytes = contents(&*image.open("f").unwrap());
        assert!(bytes.len() == 1024 || bytes.len() == 1536, "{} bytes", bytes.len());
        let sectors: Vec<u8> = bytes.chunks(512).map(|sector| sector[0]).collect();
        for (sector, &value) in bytes.chunks(512).zip(&sectors) {
            assert!(sector.iter().all(|&byte| byte == value), "a sector is torn");
        }
        seen.insert(sectors);
    }
    // First sector 1 or 2, second 1 to 3, third missing, zeros, 2 or 3.
    let possible = |sectors: &Vec<u8>| {
        (1..=2).contains(&sectors[0])
            && (1..=3).contains(&sectors[1])
            && sectors.get(2).is_none_or(|third| [0, 2, 3].contains(third))
    };
    assert!(seen.iter().all(possible), "{seen:?}");
    assert_eq!(seen.len(), 2 * 3 * 4, "some outcome never came: {seen:?}");
}

#[test]
fn a_seed_repeats_its_image() {
    for seed in 0..50 {
        let [one, two] = [(); 2].map(|()| three_generations().crash(seed).open("f").unwrap());
        assert_eq!(contents(&*one), contents(&*two));
    }
}

#[test]
fn names_are_durable_with_the_directory() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let files = Simulated::new();
        files.create("old").unwrap();
        files.create("kept").unwrap();
        files.sync_directory().unwrap();
        let new = files.create("new").unwrap();
        new.write_at(0, b"synced").unwrap();
        new.sync().unwrap();
        files.remove("old").unwrap();
        let image = files.crash(seed);
        let names = image.list().unwrap();
        if names.iter().any(|name| name == "new") {
            assert_eq!(contents(&*image.open("new").unwrap()), b"synced");
        }
        assert!(names.iter().any(|name| name == "kept"));
        seen.insert(names);
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

/// Random changes to random files; then at every step what was synced by then stands.
#[test]
fn what_was_synced_stands_after_any_step() {
    seeds::each!(20, |seed| {
        let mut random = Random::new(seed);
        let files = Simulated::new();
        let open: Vec<_> = (0..3).map(|name| files.create(&name.to_string()).unwrap()).collect();
        files.sync_directory().unwrap();
        // After so many steps, this file surely was so, until it is next written.
        let mut promises: Vec<(usize, std::ops::Range<u64>, Vec<u8>)> = Vec::new();
        let mut clean_since = [None; 3];
        for value in 0..100 {
            let chosen = random.below(3) as usize;
            let file = &open[chosen];
            if random.below(3) == 0 {
                file.sync().unwrap();
                clean_since[chosen].get_or_insert(files.steps());
            } else {
                if let Some(since) = clean_since[chosen].take() {
                    promises.push((chosen, since..files.steps() + 1, contents(&**file)));
                }
                let bytes = vec![value; 1 + random.below(3000) as usize];
                file.write_at(random.below(20_000), &bytes).unwrap();
            }
        }
        for (file, steps, bytes) in promises {
            for step in steps {
                let image = files.crash_at(step, random.next());
                assert_eq!(contents(&*image.open(&file.to_string()).unwrap()), bytes);
            }
        }
    });
}

#[test]
fn power_goes_at_the_step_asked_for() {
    let files = Simulated::new();
    let file = files.create("f").unwrap();
    files.sync_directory().unwrap();
    files.lose_power_at(3);
    file.write_at(0, b"one").unwrap();
    let lost = file.sync().unwrap_err();
    assert_eq!((lost.kind(), lost.to_string()), (ErrorKind::BrokenPipe, "power lost".into()));
    assert_eq!(kind(file.write_at(0, b"two")), ErrorKind::BrokenPipe);
    assert_eq!(kind(file.len()), ErrorKind::BrokenPipe);
    assert_eq!(kind(files.list()), ErrorKind::BrokenPipe);
    let lengths: std::collections::BTreeSet<u64> =
        (0..50).map(|seed| files.crash(seed).open("f").unwrap().len().unwrap()).collect();
    assert_eq!(lengths, [0, 3].into(), "a sync cut off ensures nothing");
}

#[test]
fn one_failure_and_a_full_disk_change_nothing() {
    let files = Simulated::new();
    files.set_capacity(Some(100));
    let file = files.create("f").unwrap();
    file.write_at(0, &[1; 100]).unwrap();
    assert_eq!(kind(file.write_at(99, &[2; 2])), ErrorKind::StorageFull);
    assert_eq!(kind(file.set_len(101)), ErrorKind::StorageFull);
    assert_eq!(contents(&*file), [1; 100]);
    files.set_capacity(None);
    files.fail_once_at(files.steps(), Loss::All);
    assert_eq!(kind(file.write_at(0, &[2; 200])), ErrorKind::Other);
    assert_eq!(contents(&*file), [1; 100]);
    file.write_at(0, &[2; 200]).unwrap();
    assert_eq!(contents(&*file), [2; 200]);
}

/// Bytes and names that a failed sync has dropped can be read, but no later sync makes them durable
/// until they are written again.
#[test]
fn what_a_failed_sync_has_dropped_is_clean() {
    for (loss, survives) in [(Loss::Nothing, true), (Loss::All, false)] {
        let files = Simulated::new();
        let old = files.create("old").unwrap();
        old.write_at(0, &[1; 1024]).unwrap();
        old.sync().unwrap();
        files.sync_directory().unwrap();
        old.write_at(512, &[2; 1024]).unwrap();
        let new = files.create("new").unwrap();
        for of in [Some(&*old), None] {
            let sync = || of.map_or_else(|| files.sync_directory(), File::sync);
            files.fail_once_at(files.steps(), loss);
            assert_eq!(kind(sync()), ErrorKind::Other);
            sync().unwrap();
        }
        new.sync().unwrap();
        assert_eq!((contents(&*old)[512], files.list().unwrap().len()), (2, 2));
        let disk = files.crash(1);
        let standing = contents(&*disk.open("old").unwrap());
        let expected = if survives { [&[1; 512][..], &[2; 1024]].concat() } else { vec![1; 1024] };
        assert_eq!((standing, disk.open("new").is_ok()), (expected, survives), "{loss:?}");
        // Written again, they are as good as new.
        old.write_at(1024, &[2; 512]).unwrap();
        old.sync().unwrap();
        files.remove("new").unwrap();
        files.create("new").unwrap();
        files.sync_directory().unwrap();
        let disk = files.crash(1);
        let standing = contents(&*disk.open("old").unwrap());
        let second = if survives { 2 } else { 1 };
        assert_eq!([standing[0], standing[512], standing[1024]], [1, second, 2]);
        assert!(disk.open("new").is_ok());
    }
}

/// Whatever a failed sync has lost: what is written after it and synced stands.
#[test]
fn a_sync_after_a_failed_one_holds_for_what_is_written_after_it() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..2000 {
        let files = three_generations();
        let file = files.open("f").unwrap();
        files.fail_once_at(files.steps(), Loss::Drawn(seed));
        file.sync().unwrap_err();
        assert_eq!(file.len().unwrap(), 1536, "the system knows the length");
        file.write_at(512, &[4; 512]).unwrap();
        file.sync().unwrap();
        let standing = contents(&*files.crash(seed).open("f").unwrap());
        let sectors: Vec<u8> = standing.chunks(512).map(|sector| sector[0]).collect();
        assert_eq!(sectors[1], 4);
        seen.insert(sectors);
    }
    // First sector 1 or 2; third missing, zeros, 2 or 3.
    assert_eq!(seen.len(), 2 * 4, "{seen:?}");
}

/// Images of images, ten thousand of them, stay cheap: contents are shared.
#[test]
fn ten_thousand_crashes_of_a_small_store() {
    let files = Simulated::new();
    let pages = files.create("pages").unwrap();
    files.sync_directory().unwrap();
    for step in 0..1000u64 {
        pages.write_at(step % 64 * 8192, &[step as u8; 8192]).unwrap();
        if step % 10 == 9 {
            pages.sync().unwrap();
        }
    }
    for crash in 0..10_000 {
        let image = files.crash_at(crash % files.steps(), crash).crash(crash);
        let names = image.list().unwrap();
        assert!(names.len() <= 1);
    }
    let image: Arc<dyn Files> = Arc::new(files.crash(1));
    assert_eq!(image.open("pages").unwrap().len().unwrap(), 64 * 8192);
}
