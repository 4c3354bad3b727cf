// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random damage to bytes.

use lockdb::layout::{
    LinePointer, MAP_WORDS, PAGE_BYTES, Page, PageBuffer, PageHeader, Place, RecordId,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::memory::LINE;
use super::scene::{NEWEST, Scene};

fn pick<T: Copy>(random: &mut ChaCha8Rng, from: &[T]) -> Option<T> {
    (!from.is_empty()).then(|| from[random.random_range(0..from.len())])
}

/// How many lines a page may say that it has: any number, or one near where the end of their line pointers passes the end of
/// the page, or a power of two.
fn any_lines(random: &mut ChaCha8Rng) -> u16 {
    let near = [
        2024,
        2032,
        2048,
        1 << 14,
        (1 << 14) - 16,
        1 << 15,
        (1 << 15) - 16,
        u16::MAX - 15,
        u16::MAX,
    ];
    match random.random_range(0..4) {
        0 => random.random(),
        _ => pick(random, &near)
            .unwrap_or(0)
            .wrapping_add(random.random_range(0..40))
            .wrapping_sub(20),
    }
}

/// Each data page says that it has many more lines than it has.
pub fn crowd_pages(random: &mut ChaCha8Rng, scene: &mut Scene) {
    let data: Vec<u64> = scene.data.iter().map(|page| page.1).collect();
    for page in data {
        renew_checksum(scene, page, |page| {
            let header = Page::new(&page.0).header();
            page.finalize(PageHeader { lines: any_lines(random), ..header });
        });
    }
}

/// A random change of a page's header that is finalized again.
fn other_header(random: &mut ChaCha8Rng, header: &mut PageHeader, epoch: u64) {
    match random.random_range(0..9) {
        0 => header.page ^= 1 << random.random_range(0..64),
        1 => header.table ^= 1 << random.random_range(0..32),
        2 => header.lines = header.lines.saturating_sub(random.random_range(1..20)),
        3 => header.lines = any_lines(random),
        4 => header.epoch = epoch + random.random_range(1..4),
        5 => header.epoch ^= 1 << random.random_range(0..23),
        // A place says the low bits only.
        6 => header.epoch ^= 1 << random.random_range(23..64),
        7 => header.kind ^= 1 << random.random_range(0..32),
        _ => header.store ^= 1 << random.random_range(0..64),
    }
}

/// A random change of a line, or of its version.
fn other_line(random: &mut ChaCha8Rng, page: &mut PageBuffer, time: u64) {
    let lines = Page::new(&page.0).lines();
    if lines == 0 || lines > 255 {
        return;
    }
    let line = random.random_range(0..lines);
    let pointer = Page::new(&page.0).line(line);
    let at = pointer.offset().min(PAGE_BYTES - 32);
    let own = Page::new(&page.0).header().page & 0xFFFF_FFFF;
    let mut put = |at: usize, bytes: &[u8]| page.0[at..at + bytes.len()].copy_from_slice(bytes);
    let flipped = |random: &mut ChaCha8Rng, from: u32, to: u32| {
        (pointer.0 ^ 1 << random.random_range(from..to)).to_le_bytes()
    };
    match random.random_range(0..7) {
        0 => put(LinePointer::at(line), &random.random::<[u8; 4]>()),
        1 => put(LinePointer::at(line), &flipped(random, 0, 14)),
        2 => put(LinePointer::at(line), &flipped(random, 14, 28)),
        3 => put(at, &time.to_le_bytes()),
        4 => put(at, &u64::MAX.to_le_bytes()),
        // Of another tuple, by one bit: of neighbours and of those far away.
        5 => page.0[at + 24 + random.random_range(0..4)] ^= 1 << random.random_range(0..8),
        // To itself, or to another version somewhere.
        _ => {
            let line = [line, random.random_range(0..256)][random.random_range(0..2)];
            put(at + 16, &RecordId::new(own, line as u8).word().to_le_bytes());
        }
    }
}

fn renew_checksum(scene: &mut Scene, address: u64, change: impl FnOnce(&mut PageBuffer)) {
    let mut page = PageBuffer::ZERO;
    page.0.copy_from_slice(scene.memory.bytes_mut(address, PAGE_BYTES));
    change(&mut page);
    let header = Page::new(&page.0).header();
    page.finalize(header);
    scene.memory.bytes_mut(address, PAGE_BYTES).copy_from_slice(&page.0);
}

/// Whether it can be read or not.
fn word(scene: &mut Scene, address: u64) -> u64 {
    let bytes = scene.memory.bytes_mut(address, 8);
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn put_word(scene: &mut Scene, address: u64, word: u64) {
    scene.memory.bytes_mut(address, 8).copy_from_slice(&word.to_le_bytes());
}

fn other_place(random: &mut ChaCha8Rng, scene: &Scene, word: u64) -> u64 {
    let (place, epoch, pages) = (Place::from_word(word), scene.job.epoch, scene.job.storage_pages);
    // Where pages stand, and some behind them.
    let near = pages.saturating_sub(scene.data.len() as u64 + 100)..pages + 3;
    match random.random_range(0..7) {
        0 => 0,
        1 => 1 << 63,
        2 => Place::new(random.random_range(near), epoch).word(),
        3 => Place::new(random.random_range(0..1 << 40), epoch).word(),
        4 => word ^ 1 << random.random_range(40..63),
        // The last page, and the first behind it.
        5 => Place::new(pages - random.random_range(0..2), epoch).word(),
        _ => Place::new(place.physical(), epoch).word() | 1 << 63,
    }
}

/// Of the VID map, the first page that is there.
fn first_chunk(scene: &Scene) -> u64 {
    u64::from(scene.first_vid) / MAP_WORDS as u64
}

/// Where the place of a chunk of the VID map stands; the first chunk that is there is 0.
fn place_of_chunk(scene: &Scene, chunk: u64) -> u64 {
    scene.job.vid_chunks + 8 * (first_chunk(scene) + chunk)
}

/// Where a chunk of the VID map stands, if it has a place.
fn chunk_at(scene: &mut Scene, chunk: u64) -> Option<u64> {
    let place = Place::from_word(word(scene, place_of_chunk(scene, chunk)));
    let at = scene.job.storage_base + PAGE_BYTES as u64 * place.physical();
    scene.vid_chunks.contains(&at).then_some(at)
}

/// A line of a chunk of the VID map cannot be read, and the next chunk has a wrong checksum.
///
/// # Panics
/// When one of them has no place.
pub fn break_chunks(random: &mut ChaCha8Rng, scene: &mut Scene, first: u64) {
    let broken = chunk_at(scene, first).expect("it has heads");
    scene.memory.broken.insert(broken + LINE * random.random_range(0..128));
    let wrong = chunk_at(scene, first + 1).expect("it has heads");
    let byte = random.random_range(64..PAGE_BYTES as u64);
    scene.memory.bytes_mut(wrong + byte, 1)[0] ^= 1 << random.random_range(0..8);
}

/// One thing goes wrong.
pub fn damage(random: &mut ChaCha8Rng, scene: &mut Scene) {
    let pages: Vec<u64> =
        scene.data.iter().map(|page| page.1).chain(scene.vid_chunks.clone()).collect();
    let data: Vec<u64> = scene.data.iter().map(|page| page.1).collect();
    match random.random_range(0..9) {
        0 => {
            let Some(page) = pick(random, &pages) else { return };
            let most = [4, 64, PAGE_BYTES as u64][random.random_range(0..3)];
            let byte = random.random_range(0..most);
            scene.memory.bytes_mut(page + byte, 1)[0] ^= 1 << random.random_range(0..8);
        }
        1 => {
            let Some(page) = pick(random, &pages) else { return };
            let (mut header, epoch) = (PageHeader::default(), scene.job.epoch);
            renew_checksum(scene, page, |page| {
                header = Page::new(&page.0).header();
                other_header(random, &mut header, epoch);
                page.finalize(header);
            });
        }
        2..=4 => {
            let Some(page) = pick(random, &data) else { return };
            let times: Vec<u64> = (0..random.random_range(1..5))
                .map(|_| scene.time(random.random_range(0..NEWEST + 2)))
                .collect();
            renew_checksum(scene, page, |page| {
                times.iter().for_each(|&time| other_line(random, page, time));
            });
        }
        5 => {
            let Some(at) = pick(random, &scene.map_words.clone()) else { return };
            let old = word(scene, at);
            let place = other_place(random, scene, old);
            put_word(scene, at, place);
        }
        6 => {
            let chunk = random.random_range(0..scene.heads.len().div_ceil(MAP_WORDS)) as u64;
            let at = place_of_chunk(scene, chunk);
            let old = word(scene, at);
            let place = other_place(random, scene, old);
            put_word(scene, at, place);
        }
        7 => {
            let Some(chunk) = pick(random, &scene.vid_chunks.clone()) else { return };
            let word = random.random_range(0..40);
            let head = match random.random_range(0..3) {
                0 => random.random(),
                1 => {
                    let page = scene.before_pages + random.random_range(1..50_000);
                    RecordId::new(page, random.random()).word()
                }
                _ => pick(random, &scene.heads).unwrap_or(0),
            };
            renew_checksum(scene, chunk, |page| {
                page.0[64 + 8 * word..][..8].copy_from_slice(&head.to_le_bytes());
            });
        }
        _ => break_line(random, scene),
    }
}

/// A line of memory that matters cannot be read from now on.
pub fn break_line(random: &mut ChaCha8Rng, scene: &mut Scene) {
    let job = &scene.job;
    let pages: Vec<u64> =
        scene.data.iter().map(|page| page.1).chain(scene.vid_chunks.clone()).collect();
    // Line pointers lie in the first lines behind the header.
    let in_page = |random: &mut ChaCha8Rng, page: u64| {
        let lines = [1..4, 0..128][random.random_range(0..2)].clone();
        page + LINE * random.random_range(lines)
    };
    let address = match random.random_range(0..12) {
        0 => job.delta_vids + random.random_range(0..16 * u64::from(job.delta_vid_count) + 1),
        1 if random.random_ratio(1, 4) => job.delta_pages,
        2 => job.vid_chunks + 8 * first_chunk(scene),
        3 => job.page_map_chunks + 8 * (scene.before_pages / MAP_WORDS as u64),
        4 => pick(random, &scene.map_words).unwrap_or(0),
        _ => pick(random, &pages).map_or(0, |page| in_page(random, page)),
    };
    scene.memory.broken.insert(address / LINE * LINE);
}
