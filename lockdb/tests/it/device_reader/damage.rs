// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged areas and pages: refused with a typed error, or harmless; never a panic.

use std::panic::AssertUnwindSafe;

use lockdb::device_reader::DeviceReader;
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer};
use lockdb::shared_state::AreaHeader;
use rand::RngExt;

use crate::device_reader::scene::{Rows, Scene, device_rows, options, random};

/// Pages and an area that need each other: old versions, moved ones, deleted tuples.
fn scene(seed: u64) -> (Vec<u8>, Vec<u8>, u64) {
    let mut scene = Scene::new(seed, options(1 << 20));
    scene.keys = 60;
    scene.commit_many(60);
    scene.store.checkpoint().unwrap();
    let mut session = scene.store.session().unwrap();
    let transaction = session.begin(crate::device_reader::scene::QUICK);
    scene.commit_many(10);
    scene.store.vacuum().unwrap();
    scene.commit_many(2);
    let state = scene.store.shared_state().unwrap();
    assert!(state.header().pages > 0 && state.header().vids > 0);
    (scene.storage_bytes(), state.bytes().to_vec(), transaction.snapshot())
}

fn read(pages: &[u8], area: &[u8], snapshot: u64) -> Result<Rows, String> {
    let device = DeviceReader::open(pages, area).map_err(|error| error.to_string())?;
    let newest = device_rows(&device, 0, device.snapshots().1, 3)?;
    let older = device_rows(&device, 0, snapshot, 1)?;
    Ok([newest, older].concat())
}

#[test]
fn every_flipped_byte_of_an_area_is_noticed() {
    let (pages, area, snapshot) = scene(1);
    let rows = read(&pages, &area, snapshot).unwrap();
    assert!(rows.len() > 40);
    for byte in 0..area.len() {
        let mut damaged = area.clone();
        damaged[byte] ^= 1 << (byte % 8);
        assert!(DeviceReader::open(&pages[..], &damaged).is_err(), "byte {byte}");
    }
    for length in (0..area.len()).step_by(61) {
        assert!(DeviceReader::open(&pages[..], &area[..length]).is_err(), "{length} bytes");
    }
    let longer = [&area[..], &[7; 100]].concat();
    assert_eq!(read(&pages, &longer, snapshot), Ok(rows));
}

#[test]
fn damaged_pages_are_refused_or_not_needed() {
    let (pages, area, snapshot) = scene(2);
    let rows = read(&pages, &area, snapshot).unwrap();
    let (seeds, mut refused) = (seeds::of!(400), 0);
    for seed in &seeds {
        let mut random = random(seed);
        let mut damaged = pages.clone();
        let byte = random.random_range(0..damaged.len());
        damaged[byte] ^= 1 << random.random_range(0..8);
        match read(&damaged, &area, snapshot) {
            Ok(found) => assert_eq!(found, rows, "byte {byte}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 20 || !seeds.is_whole(), "{refused} were refused");
    for length in (0..pages.len()).step_by(4096) {
        if let Ok(found) = read(&pages[..length], &area, snapshot) {
            assert_eq!(found, rows, "{length} bytes");
        }
    }
}

/// A write that went to the place of an older state of the same page.
#[test]
fn pages_of_other_checkpoints_are_refused() {
    let mut scene = Scene::new(5, options(1 << 20));
    let mut session = scene.store.session().unwrap();
    (0..100).for_each(|_| scene.commit(&mut session));
    scene.store.checkpoint().unwrap();
    let state = scene.store.shared_state().unwrap();
    let pages = scene.storage_bytes();
    (0..20).for_each(|_| scene.commit(&mut session));
    scene.store.checkpoint().unwrap();
    let later = scene.storage_bytes();
    let rows = read(&pages, state.bytes(), state.snapshot()).unwrap();
    let (headers, mut refused) = (|pages: &[u8], at: usize| Page::new(page(pages, at)).header(), 0);
    for to in 2..pages.len() / PAGE_BYTES {
        for from in 2..later.len() / PAGE_BYTES {
            let (old, new) = (headers(&pages, to), headers(&later, from));
            if (old.kind, old.page) != (new.kind, new.page) || old.epoch == new.epoch {
                continue;
            }
            let mut mixed = pages.clone();
            mixed[to * PAGE_BYTES..][..PAGE_BYTES].copy_from_slice(page(&later, from));
            match read(&mixed, state.bytes(), state.snapshot()) {
                // The page was not needed.
                Ok(found) => assert_eq!(found, rows),
                Err(error) => {
                    assert!(error.contains("epoch"), "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 2, "refused {refused} times");
}

fn page(pages: &[u8], physical: usize) -> &[u8; PAGE_BYTES] {
    pages[physical * PAGE_BYTES..].first_chunk().unwrap()
}

#[test]
fn what_is_no_area_is_refused() {
    let (pages, area, _) = scene(3);
    for seed in seeds::of!(2000) {
        let mut random = random(seed);
        let mut bytes = vec![0; random.random_range(0..400)];
        random.fill(&mut bytes[..]);
        assert!(DeviceReader::open(&pages[..], &bytes).is_err());
        assert!(DeviceReader::open(&bytes[..], &area).is_err());
        // Past the first checks.
        let known = bytes.len().min(16);
        bytes[..known].copy_from_slice(&area[..known]);
        assert!(DeviceReader::open(&pages[..], &bytes).is_err());
    }
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Corrects the checksums of an area, as an attacker would.
fn renew_checksum(area: &mut [u8]) {
    let half =
        |area: &[u8], at: usize| u32::from_le_bytes(area[at..at + 4].try_into().unwrap()) as usize;
    let (tables_at, pages_at) = (half(area, 88), half(area, 96));
    for number in 0..half(area, 80) {
        let (from, entry) = (AreaHeader::BYTES + number * PAGE_BYTES, pages_at + number * 16);
        if entry + 16 > area.len() || from + PAGE_BYTES > area.len() {
            break;
        }
        finalize_page(&mut area[from..from + PAGE_BYTES]);
        let checksum = half(area, from + 4) as u32;
        put(area, entry + 12, checksum);
    }
    let length = u64::from_le_bytes(area[64..72].try_into().unwrap()) as usize;
    if let Some(sections) = area.get(tables_at..length) {
        let checksum = crc32c::crc32c(sections);
        put(area, 108, checksum);
    }
    let checksum = crc32c::crc32c(&area[16..AreaHeader::BYTES]);
    put(area, 12, checksum);
}

fn finalize_page(bytes: &mut [u8]) {
    let mut page = PageBuffer(bytes.try_into().unwrap());
    page.finalize(Page::new(&page.0).header());
    bytes.copy_from_slice(&page.0);
}

/// With right checksums around wrong bytes there is nothing to rely on: an answer may be wrong,
/// but there is one.
#[test]
fn finalized_nonsense_never_panics() {
    let (pages, area, snapshot) = scene(4);
    let (mut good, mut refused) = (0, 0);
    let seeds = seeds::of!(3000);
    for seed in &seeds {
        let mut random = random(seed);
        let (mut pages, mut area) = (pages.clone(), area.clone());
        for _ in 0..random.random_range(1..4) {
            let near = random.random_range(0..4);
            if near == 0 {
                // Superblocks keep their checksum; what they lead to does not.
                let physical = random.random_range(2..pages.len() / PAGE_BYTES);
                let page = &mut pages[physical * PAGE_BYTES..][..PAGE_BYTES];
                let end = if random.random() { 128 } else { PAGE_BYTES };
                let at = random.random_range(0..end);
                page[at] = random.random();
                finalize_page(page);
            } else {
                let sections = area.len() - (area.len() - AreaHeader::BYTES) % PAGE_BYTES;
                let at = match near {
                    1 => random.random_range(0..AreaHeader::BYTES),
                    2 => random.random_range(sections..area.len()),
                    _ => random.random_range(0..area.len()),
                };
                area[at] = random.random();
            }
        }
        renew_checksum(&mut area);
        let read = AssertUnwindSafe(|| read(&pages, &area, snapshot));
        match std::panic::catch_unwind(read) {
            Ok(Ok(_)) => good += 1,
            Ok(Err(_)) => refused += 1,
            Err(_) => panic!("seed {seed}"),
        }
    }
    println!("{good} read, {refused} refused");
    assert!(good > 100 && refused > 100 || !seeds.is_whole());
}
