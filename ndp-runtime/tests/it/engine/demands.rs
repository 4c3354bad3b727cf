// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests demand of a job, and of the pages that it has finalized.

use std::collections::{BTreeMap, BTreeSet};

use lockdb::device_reader::{DeviceReader, Lineage};
use lockdb::files::{Files, StoredPages};
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer, PageKind, Place, RecordId, placed_bytes};
use ndp_runtime::job::{Descriptor, UpdateEntry, UpdateKind};

use crate::engine::scene::{DEVICE, Outcome, RESERVED, Scene};

/// What the tests demand of a job; the first thing that is not so.
pub type Verdict = Result<(), String>;

pub fn demand(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

/// Old payloads and new ones.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A row as the snapshot of a descriptor has it: number, RecordID, payload.
pub type Before = BTreeMap<u32, (u32, RecordId, Vec<u8>)>;

pub fn before(scene: &Scene, descriptor: &Descriptor) -> Before {
    let pages = StoredPages(scene.files.open("pages").unwrap());
    let area = scene.card.bytes(descriptor.shared_state);
    let device = DeviceReader::open(&pages, area).unwrap();
    let mut rows = Before::new();
    let mut element = device.element(descriptor.table, descriptor.snapshot).unwrap();
    let visited = element.visit(|row| {
        rows.insert(row.vid, (row.number, row.record, row.payload.to_vec()));
        std::ops::ControlFlow::Continue(())
    });
    visited.unwrap();
    rows
}

/// Entries name rows of the snapshot once each, and their locks are held.
pub fn check_entries(scene: &Scene, before: &Before, entries: &[UpdateEntry]) -> Verdict {
    let mut seen = BTreeSet::new();
    let mut newly_held = BTreeSet::new();
    let locks = scene.store.lock_table();
    for entry in entries {
        let vid = entry.vid;
        demand(seen.insert(vid), || format!("VID {vid} twice"))?;
        let Some((number, record, payload)) = before.get(&vid) else {
            return Err(format!("VID {vid} was not there"));
        };
        let predecessor = entry.predecessor;
        demand(predecessor == record.word(), || format!("VID {vid}: predecessor {predecessor}"))?;
        let bucket = locks.bucket_of(scene.table.lock_key(vid, *number));
        let head = locks.buckets()[bucket].line()[0];
        let held = locks::Timestamp::of_word(head) == Some(DEVICE);
        demand(held, || format!("VID {vid}: its lock is not held"))?;
        if entry.newly_held() {
            demand(newly_held.insert(bucket), || format!("bucket {bucket} newly held twice"))?;
        }
        if entry.update_kind() == Some(UpdateKind::Written) {
            let expected = (number + 1, 4 + placed_bytes(payload.len()) as u32);
            let found = (entry.number, entry.superseded);
            demand(found == expected, || format!("VID {vid}: {found:?} for {expected:?}"))?;
            // Under the lock, and looked at: nobody else has made a version meanwhile.
            let word = scene.table.vid_map().word(vid as usize);
            let head = word.load(std::sync::atomic::Ordering::Acquire);
            demand(head == record.word(), || format!("VID {vid}: a second branch of versions"))?;
        } else {
            demand(entry.number == *number, || format!("VID {vid}: number {}", entry.number))?;
        }
    }
    let held: BTreeSet<_> = entries
        .iter()
        .map(|entry| locks.bucket_of(scene.table.lock_key(entry.vid, before[&entry.vid].0)))
        .collect();
    demand(newly_held == held, || "newly held buckets are not those of the locks".into())
}

/// The pages that were finalized are those that the store's reader accepts, with the versions that
/// the entries tell of; gives old and new payloads.
pub fn check_pages(
    scene: &Scene,
    before: &Before,
    outcome: &Outcome,
    finalize: (u64, u64, u64),
) -> Result<Pairs, String> {
    let (commit, epoch, store) = finalize;
    let file = scene.files.open("pages").unwrap();
    let mut pages: BTreeMap<u64, Box<PageBuffer>> = BTreeMap::new();
    for &physical in &scene.card.written {
        let mut bytes = Box::new(PageBuffer::ZERO);
        file.read_at(physical * PAGE_BYTES as u64, &mut bytes.0).unwrap();
        let place = Place::new(physical, epoch);
        let page = Page::new(&bytes.0).header().page;
        let reserved = page.checked_sub(RESERVED.0).is_some_and(|number| number < scene.reserved);
        demand(reserved, || format!("page {page} was not reserved"))?;
        let lineage = Lineage { store, epoch };
        let header = lineage.check(&bytes.0, PageKind::Data, page, place);
        let header = header.map_err(|fault| fault.to_string())?;
        Page::verified(&bytes.0, PageKind::Data, page).map_err(|fault| fault.to_string())?;
        demand(header.newest == commit, || format!("newest {}", header.newest))?;
        demand(header.table == scene.table.id(), || format!("table {}", header.table))?;
        pages.insert(page, bytes);
    }
    let (mut pairs, mut lines) = (Vec::new(), 0);
    for bytes in pages.values() {
        lines += Page::new(&bytes.0).lines();
    }
    for entry in outcome.updates().filter(|entry| entry.record != 0) {
        let record = RecordId::from_word(entry.record);
        let Some(bytes) = pages.get(&record.page()) else {
            return Err(format!("VID {}: {record} was not written", entry.vid));
        };
        let version = Page::new(&bytes.0).version(record.line().into());
        let (header, payload, tombstone) = version.ok_or(format!("{record} is no line"))?;
        let found = (header.created, header.predecessor, header.vid, header.version, tombstone);
        let expected = (commit, entry.predecessor, entry.vid, entry.number, false);
        demand(found == expected, || format!("{found:?} for {expected:?}"))?;
        demand(header.invalidated == 0, || "it is invalidated".into())?;
        pairs.push((before[&entry.vid].2.clone(), payload.to_vec()));
    }
    demand(pairs.len() == lines, || format!("{lines} lines, {} entries", pairs.len()))?;
    pairs.sort();
    Ok(pairs)
}

/// What the board has to be like when nothing runs.
pub fn check_idle(scene: &Scene) -> Verdict {
    demand(scene.card.is_idle(), || "lock requests are open".into())?;
    demand(scene.card.violations.is_empty(), || scene.card.violations.join("; "))
}
