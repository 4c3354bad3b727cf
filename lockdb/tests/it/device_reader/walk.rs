// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk machine on bytes made by hand, for each of its faults, and the element that continues
//! behind them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lockdb::device_reader::{
    BrokenWalkError, DeviceReader, Lineage, Next, PageAt, PageFacts, Visible, Walk, WalkError,
    WalkMemory,
};
use lockdb::layout::{
    LinePointer, PAGE_BYTES, Page, PageBuffer, PageHeader, PageKind, Place, RecordId,
    VERSION_BYTES, VersionHeader, placed_bytes,
};
use rand::RngExt;

use crate::device_reader::scene::{QUICK, Scene, options, random};

const LINEAGE: Lineage = Lineage { store: 0x5707E, epoch: 7 };
const TABLE: u32 = 2;

/// Native storage and the images of a shared state, as raw bytes; this is what hardware sees.
#[derive(Clone, Default)]
struct Bytes {
    storage: Vec<PageBuffer>,
    page_map: BTreeMap<u64, Place>,
    images: Vec<(u64, PageBuffer)>,
}

impl Bytes {
    fn page(&self, at: PageAt) -> Result<&[u8; PAGE_BYTES], WalkError> {
        match at {
            PageAt::Image(image) => Ok(&self.images[image as usize].1.0),
            PageAt::Stored(place) => {
                let page = self.storage.get(place.physical() as usize);
                page.map(|page| &page.0).ok_or(WalkError::BeyondStorage)
            }
        }
    }

    /// Puts a page into storage, at the place of logical page `page`.
    fn store(&mut self, page: u64, bytes: PageBuffer) {
        let physical = self.storage.len() as u64;
        self.storage.push(bytes);
        self.store_at(page, Place::new(physical, LINEAGE.epoch));
    }

    fn store_at(&mut self, page: u64, place: Place) {
        self.page_map.insert(page, place);
    }

    fn walk(&mut self, vid: u32, snapshot: u64, head: RecordId) -> Result<Option<u64>, WalkError> {
        let mut walk = Walk::new(TABLE, snapshot, vid, head);
        Ok(walk.run(self)?.map(|version| version.created))
    }
}

impl WalkMemory for Bytes {
    fn place(&mut self, page: u64) -> Result<PageAt, WalkError> {
        let image = self.images.iter().position(|image| image.0 == page);
        let stored = self.page_map.get(&page).copied().unwrap_or(Place::NONE);
        Ok(image.map_or(PageAt::Stored(stored), |image| PageAt::Image(image as u32)))
    }

    fn check(&mut self, page: u64, at: PageAt) -> Result<PageFacts, WalkError> {
        let bytes = self.page(at)?;
        Ok(match at {
            PageAt::Image(_) => PageFacts::of_image(bytes, page)?,
            PageAt::Stored(place) => {
                PageFacts::of(&LINEAGE.check(bytes, PageKind::Data, page, place)?)
            }
        })
    }

    fn line(&mut self, _: u64, at: PageAt, line: u8) -> Result<LinePointer, WalkError> {
        Ok(Page::new(self.page(at)?).line(line.into()))
    }

    fn version(&mut self, _: u64, at: PageAt, offset: usize) -> Result<VersionHeader, WalkError> {
        Ok(Page::new(self.page(at)?).version_at(offset))
    }
}

/// A version: VID, created, predecessor, tombstone.
type Made = (u32, u64, RecordId, bool);

const PAYLOAD: usize = 24;

fn made(page: u64, versions: &[Made]) -> PageBuffer {
    let mut buffer = PageBuffer::ZERO;
    let mut upper = PAGE_BYTES;
    for (line, &(vid, created, predecessor, tombstone)) in versions.iter().enumerate() {
        upper -= placed_bytes(PAYLOAD);
        let pointer = LinePointer::new(upper, PAYLOAD, tombstone);
        buffer.0[LinePointer::at(line)..][..4].copy_from_slice(&pointer.0.to_le_bytes());
        buffer.0[upper..][..8].copy_from_slice(&created.to_le_bytes());
        buffer.0[upper + 16..][..8].copy_from_slice(&predecessor.word().to_le_bytes());
        buffer.0[upper + 24..][..4].copy_from_slice(&vid.to_le_bytes());
        buffer.0[upper + 28..][..4].copy_from_slice(&(line as u32 + 1).to_le_bytes());
    }
    buffer.finalize(PageHeader {
        lines: versions.len() as u16,
        upper: upper as u16,
        epoch: LINEAGE.epoch,
        store: LINEAGE.store,
        ..PageHeader::new(PageKind::Data, page, TABLE)
    });
    buffer
}

fn with_new_checksum(mut page: PageBuffer, change: impl FnOnce(&mut PageHeader)) -> PageBuffer {
    let mut header = Page::new(&page.0).header();
    change(&mut header);
    page.finalize(header);
    page
}

/// VID 4, with versions of 10 (page 1), 20 (page 2) and 30 (page 2), and VID 5 that was deleted at 20.
fn whole() -> (Bytes, RecordId, RecordId) {
    let mut bytes = Bytes::default();
    let at = RecordId::new;
    bytes.store(1, made(1, &[(4, 10, RecordId::NONE, false), (5, 10, RecordId::NONE, false)]));
    bytes.store(2, made(2, &[(4, 20, at(1, 0), false), (4, 30, at(2, 0), false)]));
    bytes.images.push((3, made(3, &[(5, 20, at(1, 1), true)])));
    (bytes, at(2, 1), at(3, 0))
}

#[test]
fn each_snapshot_sees_its_version() {
    let (mut bytes, head, deleted) = whole();
    let seen = [9, 10, 19, 20, 29, 30, u64::MAX].map(|at| bytes.walk(4, at, head));
    let expected = [None, Some(10), Some(10), Some(20), Some(20), Some(30), Some(30)];
    assert_eq!(seen, expected.map(Ok));
    let seen = [9, 10, 19, 20, 21].map(|at| bytes.walk(5, at, deleted));
    assert_eq!(seen, [None, Some(10), Some(10), None, None].map(Ok));
    assert_eq!(bytes.walk(6, 30, RecordId::NONE), Ok(None));
}

#[test]
fn each_fault_has_its_code() {
    let (good, head, deleted) = whole();
    let walk = |change: &dyn Fn(&mut Bytes), head| {
        let mut bytes = good.clone();
        change(&mut bytes);
        bytes.walk(4, 15, head)
    };
    let of_page_2 = |change: &dyn Fn(&mut PageBuffer)| {
        walk(&|bytes| change(&mut bytes.storage[1]), head).unwrap_err()
    };
    let of_header = |change: &dyn Fn(&mut PageHeader)| {
        of_page_2(&|page| *page = with_new_checksum(*page, change))
    };
    let of_line = |pointer: LinePointer| {
        of_page_2(&|page| {
            page.0[LinePointer::at(1)..][..4].copy_from_slice(&pointer.0.to_le_bytes());
            *page = with_new_checksum(*page, |_| {});
        })
    };
    let of_place = |change: &dyn Fn(u64) -> Place| {
        let change = |bytes: &mut Bytes| bytes.store_at(2, change(1));
        walk(&change, head).unwrap_err()
    };

    assert_eq!(walk(&|_| {}, head), Ok(Some(10)));
    assert_eq!(of_place(&|_| Place::NONE), WalkError::NoPlace);
    assert_eq!(walk(&|_| {}, RecordId::new(9, 0)), Err(WalkError::NoPlace));
    assert_eq!(of_place(&|_| Place::new(2, 7)), WalkError::BeyondStorage);
    assert_eq!(of_page_2(&|page| page.0[0] ^= 1), WalkError::Checksum);
    assert_eq!(of_page_2(&|page| page.0[4] ^= 1), WalkError::Checksum);
    assert_eq!(of_page_2(&|page| page.0[PAGE_BYTES - 1] ^= 1), WalkError::Checksum);
    assert_eq!(of_header(&|header| header.kind = 2), WalkError::Stranger);
    assert_eq!(of_header(&|header| header.page = 3), WalkError::Stranger);
    assert_eq!(of_header(&|header| header.store ^= 1), WalkError::Stranger);
    assert_eq!(of_header(&|header| header.epoch = 8), WalkError::Stranger);
    assert_eq!(of_place(&|physical| Place::new(physical, 6)), WalkError::Stranger);
    assert_eq!(of_header(&|header| header.table = 1), WalkError::OtherTable);
    assert_eq!(of_header(&|header| header.lines = 1), WalkError::NoLine);
    assert_eq!(walk(&|_| {}, RecordId::new(2, 255)), Err(WalkError::NoLine));
    let upper = PAGE_BYTES - 2 * placed_bytes(PAYLOAD);
    assert_eq!(of_line(LinePointer::new(upper + 4, PAYLOAD, false)), WalkError::BadLine);
    assert_eq!(of_line(LinePointer::new(64, PAYLOAD, false)), WalkError::BadLine);
    assert_eq!(of_line(LinePointer::new(PAGE_BYTES - 32, 8, false)), WalkError::BadLine);
    assert_eq!(of_line(LinePointer(u32::MAX)), WalkError::BadLine);
    assert_eq!(of_header(&|header| header.lines = u16::MAX), WalkError::BadLine);
    assert_eq!(walk(&|_| {}, deleted), Err(WalkError::OtherTuple));
    let older =
        made(2, &[(4, 30, RecordId::new(1, 0), false), (4, 30, RecordId::new(2, 0), false)]);
    assert_eq!(of_page_2(&|page| *page = older), WalkError::NotOlder);

    for (code, fault) in (1..).zip(WalkError::ALL) {
        assert_eq!((fault.code(), WalkError::from_code(code)), (code, Some(fault)));
    }
    assert_eq!((WalkError::from_code(0), WalkError::from_code(11)), (None, None));
}

/// Of two faults the one with the lower code is told, whatever the order in which they were made.
#[test]
fn the_first_of_several_faults_is_told() {
    let (good, head, _) = whole();
    type Harm = fn(&mut PageBuffer);
    let harms: [(WalkError, Harm); 6] = [
        (WalkError::Checksum, |page| page.0[5] ^= 1),
        (WalkError::Stranger, |page| *page = with_new_checksum(*page, |header| header.page = 5)),
        (WalkError::OtherTable, |page| *page = with_new_checksum(*page, |header| header.table = 5)),
        (WalkError::NoLine, |page| *page = with_new_checksum(*page, |header| header.lines = 1)),
        (WalkError::BadLine, |page| {
            page.0[LinePointer::at(1)] |= 1;
            *page = with_new_checksum(*page, |_| {});
        }),
        (WalkError::OtherTuple, |page| {
            page.0[PAGE_BYTES - 2 * placed_bytes(PAYLOAD) + 24] ^= 1;
            *page = with_new_checksum(*page, |_| {});
        }),
    ];
    for (first, (fault, harm)) in harms.iter().enumerate() {
        for (_, later) in &harms[first + 1..] {
            let mut bytes = good.clone();
            later(&mut bytes.storage[1]);
            harm(&mut bytes.storage[1]);
            assert_eq!(bytes.walk(4, 15, head), Err(*fault));
        }
    }
}

/// Predecessors that lead round in circles, of any length, with any timestamps.
#[test]
fn cyclic_chains_end() {
    for seed in seeds::of!(500) {
        let mut random = random(seed);
        let length = random.random_range(1..20_u8);
        let versions: Vec<Made> = (0..length)
            .map(|line| {
                let next = RecordId::new(1, (line + 1) % length);
                (4, random.random_range(10..1000), next, false)
            })
            .collect();
        let mut bytes = Bytes::default();
        bytes.store(1, made(1, &versions));
        let mut walk = Walk::new(TABLE, 9, 4, RecordId::new(1, 0));
        assert_eq!(walk.run(&mut bytes), Err(WalkError::NotOlder), "seed {seed}");
        assert_eq!(walk.next(), Next::Fault(WalkError::NotOlder));
    }
}

/// What the machine asks for, in its order; an actor that answers later does no other walk.
#[test]
fn a_hop_takes_four_fetches() {
    let (mut bytes, head, _) = whole();
    let mut walk = Walk::new(TABLE, 29, 4, head);
    let mut asked = Vec::new();
    let end = loop {
        let next = walk.next();
        match next {
            Next::Place { page } => walk.placed(bytes.place(page).unwrap()),
            Next::Check { page, at } => walk.checked(bytes.check(page, at).unwrap()),
            Next::Line { page, at, line } => walk.line(bytes.line(page, at, line).unwrap()),
            Next::Version { page, at, offset } => {
                walk.version(bytes.version(page, at, offset).unwrap());
            }
            end => break end,
        }
        asked.push(next);
    };
    let (page, at) = (2, PageAt::Stored(Place::new(1, 7)));
    let [first, second] = [1, 2].map(|versions| PAGE_BYTES - versions * placed_bytes(PAYLOAD));
    let hop = |line, offset| {
        [
            Next::Place { page },
            Next::Check { page, at },
            Next::Line { page, at, line },
            Next::Version { page, at, offset },
        ]
    };
    assert_eq!(asked, [hop(1, second), hop(0, first)].concat());
    let (record, offset) = (RecordId::new(2, 0), first + VERSION_BYTES);
    let (payload, created, number) = (PAYLOAD, 20, 1);
    assert_eq!(end, Next::Visible(Visible { record, at, offset, payload, created, number }));
    walk.failed(WalkError::Bus);
    assert_eq!(walk.run(&mut bytes), Err(WalkError::Bus));
}

/// Any bytes under right checksums: there is an end, and every read lies in its page.
#[test]
fn finalized_nonsense_always_ends() {
    let (seeds, mut ends) = (seeds::of!(20_000), BTreeMap::new());
    for seed in &seeds {
        let mut random = random(seed);
        let (mut bytes, head, _) = whole();
        for page in &mut bytes.storage {
            for _ in 0..random.random_range(0..3) {
                let near = match random.random_range(0..3) {
                    0 => 8..64,
                    1 => 64..76,
                    _ => PAGE_BYTES - 112..PAGE_BYTES,
                };
                let at = random.random_range(near);
                page.0[at] = random.random_range(0..=255) >> random.random_range(0..8);
            }
            *page = with_new_checksum(*page, |_| {});
        }
        let end = bytes.walk(4, random.random_range(0..40), head);
        *ends.entry(end.err()).or_insert(0_u64) += 1;
    }
    println!("{ends:?}");
    assert!(ends.len() >= 6 || !seeds.is_whole(), "{ends:?}");
}

/// A store whose rows are on storage and in a shared state; then some of its pages are damaged.
#[test]
fn a_fault_does_not_end_a_part() {
    seeds::each!(1, damage_each_page);
}

fn damage_each_page(seed: u64) {
    let mut scene = Scene::new(seed, options(1 << 20));
    scene.keys = 300;
    scene.commit_many(400);
    scene.store.checkpoint().unwrap();
    scene.commit_many(5);
    let mut session = scene.store.session().unwrap();
    let state = session.begin(QUICK).shared_state().unwrap();
    let pages = scene.storage_bytes();
    let visit = |pages: &[u8]| -> BTreeMap<u32, Result<Vec<u8>, BrokenWalkError>> {
        let device = DeviceReader::open(pages, state.bytes()).unwrap();
        let mut rows = BTreeMap::new();
        for mut element in device.elements(0, state.snapshot(), 3).unwrap() {
            element.visit_each(|row| {
                let (vid, row) = match row {
                    Ok(row) => (row.vid, Ok(row.payload.to_vec())),
                    Err(broken) => (broken.vid, Err(broken)),
                };
                assert!(rows.insert(vid, row).is_none(), "each VID once");
                ControlFlow::Continue(())
            });
        }
        rows
    };
    let good = visit(&pages);
    assert!(good.len() > 150 && good.values().all(Result::is_ok));
    let (mut data, mut maps) = (0, 0);
    for physical in 2..pages.len() / PAGE_BYTES {
        let mut damaged = pages.clone();
        let page = &mut damaged[physical * PAGE_BYTES..][..PAGE_BYTES];
        page[PAGE_BYTES - 1] ^= 1;
        let kind = Page::new(page.first_chunk().unwrap()).header().kind;
        if kind == PageKind::PageMap as u32 || kind == PageKind::Directory as u32 {
            continue;
        }
        let found = visit(&damaged);
        let mut broken = 0;
        for (vid, row) in &found {
            match row {
                Ok(row) => assert_eq!(good[vid].as_ref(), Ok(row)),
                Err(failed) => {
                    let told = failed.to_string();
                    assert!(told.contains(&format!("physical page {physical} ")), "{told}");
                    assert_eq!((failed.vid, failed.fault), (*vid, WalkError::Checksum));
                    assert_eq!(failed.record.is_none(), kind == PageKind::VidMap as u32);
                    broken += 1;
                }
            }
        }
        assert!(good.keys().all(|vid| found.contains_key(vid)), "a row is seen, or its fault");
        if broken > 0 && kind == PageKind::VidMap as u32 {
            assert!(found.values().any(Result::is_ok), "those of the shared state are told");
            maps += 1;
        } else if broken > 0 {
            data += 1;
        }
    }
    println!("{data} data pages, {maps} chunks of the VID map");
    assert!(data > 5 && maps == 1);
}
