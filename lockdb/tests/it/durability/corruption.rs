// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damage to a store's files: opening or reading says where, or gives exactly what was there.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use lockdb::files::{File, Files, Memory, Simulated};
use lockdb::layout::{PAGE_BYTES, Page};
use lockdb::{Database, Error};

use super::model::{History, Row, Rows, check, rows, schema, values};
use super::random::Random;
use super::workload::{Plan, Recorded, open, options};

/// Files by name.
type Folder = BTreeMap<String, Vec<u8>>;

fn read(files: &dyn Files) -> Folder {
    let names = files.list().expect("a folder");
    let read = |name: String| {
        let file = files.open(&name).expect("a file of the folder");
        let mut bytes = vec![0; file.len().expect("a file's length") as usize];
        file.read_at(0, &mut bytes).expect("all of it");
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

fn write(folder: &Folder) -> Arc<dyn Files> {
    let files = Memory::new();
    for (name, bytes) in folder {
        let file: Arc<dyn File> = files.create(name).expect("a write to memory succeeds");
        file.write_at(0, bytes).expect("a write to memory succeeds");
    }
    Arc::new(files)
}

/// The contents of a store: names of tables, and rows.
type Contents = (Vec<String>, Rows);

fn contents(store: &Database) -> Result<Contents, String> {
    let names = store.tables().iter().map(|table| table.name().to_string()).collect();
    Ok((names, rows(store)?))
}

/// A store that was closed, and what it holds.
struct Closed {
    folder: Folder,
    contents: Contents,
}

fn closed(seed: u64) -> Closed {
    let Recorded { files, .. } = Plan { openings: 4, ..Plan::new(seed) }.record();
    let store = open(&files).expect("the store opens as it was left");
    store.close().expect("nothing is in the way");
    let contents = contents(&store).expect("a store as it should be");
    drop(store);
    assert!(contents.1.len() > 20, "too few rows to lose");
    Closed { folder: read(&files), contents }
}

/// A closed store of some rows whose balances begin at this one.
fn filled(balance: i64) -> Closed {
    let files = Simulated::new();
    let store = open(&files).expect("a new store");
    let table = store.create_table(schema("table 0")).expect("a new table");
    for id in 0..40 {
        let row = Row { balance: balance + id, owner: Some(format!("owner {}", balance + id)) };
        let inserted =
            store.transaction(|transaction| transaction.insert(&table, &values(id, &row)));
        inserted.expect("a new row");
    }
    store.close().expect("nothing is in the way");
    let contents = contents(&store).expect("a store as it should be");
    drop((table, store));
    Closed { folder: read(&files), contents }
}

/// Runs `work` with an end in sight.
fn bounded<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) => panic!("{what}: it panicked"),
        Err(_) => panic!("{what}: no answer within a minute"),
    }
}

/// Opens damaged files; says whether the damage was noticed.
fn noticed(what: &str, folder: &Folder, expected: &Contents) -> bool {
    let (files, expected) = (write(folder), expected.clone());
    let outcome = bounded(what, move || {
        let store = Database::open_in(files, options()).map_err(|error| error.to_string())?;
        Ok::<_, String>(contents(&store)? == expected)
    });
    match outcome {
        Ok(same) => {
            assert!(same, "{what}: served other rows than were written");
            false
        }
        Err(error) => {
            let place = error.contains("pages") || error.contains("log");
            assert!(place, "{what}: the error does not name the file: {error}");
            true
        }
    }
}

impl Closed {
    /// Damages a copy.
    fn damaged(&self, what: &str, damage: impl FnOnce(&mut Folder)) -> bool {
        let mut folder = self.folder.clone();
        damage(&mut folder);
        noticed(what, &folder, &self.contents)
    }

    fn pages(&self) -> usize {
        self.folder["pages"].len() / PAGE_BYTES
    }
}

fn page(folder: &mut Folder, number: usize) -> &mut [u8] {
    let pages = folder.get_mut("pages").expect("the file of pages");
    &mut pages[number * PAGE_BYTES..(number + 1) * PAGE_BYTES]
}

#[test]
fn a_flipped_bit_is_noticed_or_harmless() {
    let store = closed(1);
    let mut random = Random::new(1);
    for (name, bytes) in &store.folder {
        let bits = bytes.len() as u64 * 8;
        // All of the superblocks and of the newest segment, and a sample of the rest.
        let superblocks = (0..2).flat_map(|slot| slot * 65_536..slot * 65_536 + 72 * 8);
        let exhaustive: Vec<u64> = match name.as_str() {
            "pages" => superblocks.collect(),
            _ => (0..bits.min(2048)).collect(),
        };
        let sample = (0..1500).map(|_| random.below(bits));
        let mut found = 0;
        for bit in exhaustive.into_iter().chain(sample) {
            let what = format!("{name}, bit {bit} of {bits} flipped");
            found += u64::from(store.damaged(&what, |folder| {
                folder.get_mut(name).expect("that file")[bit as usize / 8] ^= 1 << (bit % 8);
            }));
        }
        assert!(found > 100, "{name}: only {found} flipped bits were noticed");
    }
}

#[test]
fn a_page_that_is_not_the_one_written_is_noticed() {
    let store = closed(2);
    let older = {
        let Recorded { files, .. } = Plan { openings: 4, ..Plan::new(2) }.record();
        let store = open(&files).expect("the store opens as it was left");
        store.close().expect("nothing is in the way");
        // The same store, two checkpoints later: the pages of before are old ones of this.
        let before = read(&files);
        let table = store.table("table 0").expect("it has one");
        for round in 0..2 {
            let rows: Vec<i64> = (0..72).collect();
            for id in rows {
                let changed = store.transaction(|transaction| {
                    transaction.update(&table, &id, |row| {
                        row.set_int(1, round);
                        Ok(())
                    })
                });
                changed.expect("an update");
            }
            store.close().expect("nothing is in the way");
        }
        let contents = contents(&store).expect("a store as it should be");
        drop(store);
        (before, Closed { folder: read(&files), contents })
    };
    let mut noticed = [0; 4];
    for number in 0..store.pages() {
        let what = |damage: &str| format!("physical page {number} {damage}");
        noticed[0] += u32::from(store.damaged(&what("zeroed"), |folder| {
            page(folder, number).fill(0);
        }));
        let other = (number + 1) % store.pages();
        noticed[1] += u32::from(store.damaged(&what("swapped with the next"), |folder| {
            let ours = page(folder, number).to_vec();
            let theirs = page(folder, other).to_vec();
            page(folder, number).copy_from_slice(&theirs);
            page(folder, other).copy_from_slice(&ours);
        }));
    }
    // Two stores that differ in nothing but their rows.
    let (plain, stranger) = (filled(0), filled(1000));
    for number in 0..plain.pages() {
        let what = format!("physical page {number} of another store");
        noticed[2] += u32::from(plain.damaged(&what, |folder| {
            let theirs = page(&mut stranger.folder.clone(), number).to_vec();
            page(folder, number).copy_from_slice(&theirs);
        }));
    }
    // As when the disk loses a write: an older page of the same name is whole in every other way.
    let (before, after) = older;
    let older: Vec<&[u8]> = before["pages"].chunks(PAGE_BYTES).skip(2).collect();
    for number in 2..after.pages() {
        let name = |page: &[u8]| {
            let header = Page::new(page.try_into().expect("a page")).header();
            (header.magic != 0).then_some((header.kind, header.page))
        };
        let now = page(&mut after.folder.clone(), number).to_vec();
        for old in older.iter().filter(|old| name(old) == name(&now) && **old != now) {
            let what = format!("physical page {number} as it was two checkpoints before");
            noticed[3] += u32::from(after.damaged(&what, |folder| {
                page(folder, number).copy_from_slice(old);
            }));
        }
    }
    assert!(noticed.iter().all(|&times| times > 2), "{noticed:?}");
}

#[test]
fn files_cut_off_or_missing_are_noticed_or_harmless() {
    let store = closed(4);
    let mut random = Random::new(4);
    for (name, bytes) in &store.folder {
        let edges = (0..bytes.len() / PAGE_BYTES).map(|page| page * PAGE_BYTES);
        let lengths = edges.chain((0..200).map(|_| random.below(bytes.len() as u64) as usize));
        for length in lengths {
            store.damaged(&format!("{name} cut to {length} bytes"), |folder| {
                folder.get_mut(name).expect("that file").truncate(length);
            });
        }
        store.damaged(&format!("{name} removed"), |folder| drop(folder.remove(name)));
        store.damaged(&format!("{name} lengthened"), |folder| {
            folder.get_mut(name).expect("that file").extend([7; 10_000]);
        });
        store.damaged(&format!("{name} is text"), |folder| {
            *folder.get_mut(name).expect("that file") = b"Dear diary,\n".to_vec();
        });
    }
    assert!(store.damaged("pages removed", |folder| drop(folder.remove("pages"))));
}

/// Without the end of a session in order, the end of the log is not vouched for: it can be lost
/// unnoticed, as a loss of power would lose it. What is served is a state that there was.
#[test]
fn damage_to_the_log_of_a_store_that_was_not_closed_serves_no_state_that_never_was() {
    let Recorded { files, history } = Plan { openings: 1, ..Plan::new(6) }.record();
    let folder = read(&files);
    let mut random = Random::new(6);
    let mut noticed = 0;
    for (name, bytes) in folder.iter().filter(|(name, _)| name.starts_with("log-")) {
        for _ in 0..1000 {
            let mut damaged = folder.clone();
            let file = damaged.get_mut(name).expect("that file");
            let at = random.below(bytes.len() as u64) as usize;
            let what = match random.below(3) {
                0 => {
                    file.truncate(at);
                    format!("{name} cut to {at} bytes")
                }
                _ => {
                    file[at] ^= 1 << random.below(8);
                    format!("{name}, byte {at} damaged")
                }
            };
            noticed += u32::from(is_no_prefix(&what, &damaged, &history));
        }
    }
    assert!(noticed > 100, "only {noticed} were noticed");
}

fn is_no_prefix(what: &str, folder: &Folder, history: &History) -> bool {
    let (files, history) = (write(folder), history.clone());
    let outcome = bounded(what, move || {
        let store = Database::open_in(files, options()).map_err(|error| error.to_string());
        store.map(|store| check(&store, &history, 0))
    });
    match outcome {
        Ok(prefix) => {
            prefix.unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            false
        }
        Err(_) => true,
    }
}

/// A damaged page is found on its first access, though the store opened.
#[test]
fn damage_is_found_on_first_touch_when_opening_does_not_wait() {
    let store = closed(7);
    let lazily = lockdb::Options { maintenance: true, ..options() };
    let (mut late, mut early) = (0, 0);
    for number in 2..store.pages() {
        let mut folder = store.folder.clone();
        page(&mut folder, number)[4000] ^= 1;
        match Database::open_in(write(&folder), lazily.clone()) {
            Err(Error::CorruptPage { physical, .. }) if physical == number as u64 => early += 1,
            Err(other) => panic!("page {number}: {other}"),
            Ok(opened) => match contents(&opened) {
                Ok(found) => assert!(found == store.contents, "page {number}: other rows"),
                Err(error) => {
                    assert!(error.contains(&format!("physical page {number}")), "{error}");
                    late += 1;
                }
            },
        }
    }
    assert!(early > 0 && late > 0, "{early} when opening, {late} afterwards");
}
