// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bounded run of what `lockdb/fuzz` runs without end: the committed corpus, and damage to it.

#[path = "../../../fuzz/src/readers.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::random::Random;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 9] = [
    ("log", targets::log),
    ("log_of_store", targets::log_of_store),
    ("pages_of_store", targets::pages_of_store),
    ("page", targets::page),
    ("superblock", targets::superblock),
    ("directory", targets::directory),
    ("schema", targets::schema),
    ("csv", targets::csv),
    ("shared_state", targets::shared_state),
];

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

/// Inputs that a target begins with.
fn samples(target: &str) -> Vec<Vec<u8>> {
    let folder = corpus(target);
    let read = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> =
        read.map(|entry| entry.expect("an entry of the corpus").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file of the corpus")).collect()
}

/// Damages a few places, mostly with values at the edge of something.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        // The beginnings of files and pages say what the rest is.
        let within =
            if random.one_in(2) { 256.min(bytes.len() as u64) } else { bytes.len() as u64 };
        let page = random.below(bytes.len() as u64 / 8192 + 1) * 8192;
        let at = ((page + random.below(within)) as usize).min(bytes.len() - 1);
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.below(256) as u8),
            _ => {
                let edges = [0, 1, 2, 255, 8191, 8192, u64::MAX >> 1, u64::MAX, 1 << 32, 1 << 63];
                let value = edges[random.below(10) as usize].to_le_bytes();
                let width = [2, 4, 8][random.below(3) as usize];
                let at = at / width * width;
                let end = (at + width).min(bytes.len());
                bytes[at..end].copy_from_slice(&value[..end - at]);
            }
        }
    }
}

/// A case is one damaged input; each reader gets as many.
#[test]
fn every_reader_answers_any_bytes() {
    let cases = seeds::of!(300);
    for (name, target) in TARGETS {
        let samples = samples(name);
        assert!(!samples.is_empty(), "{name} has no corpus");
        for sample in &samples {
            target(sample);
        }
        for seed in &cases {
            let mut random = Random::new(seed);
            let mut bytes = samples[random.below(samples.len() as u64) as usize].clone();
            damage(&mut random, &mut bytes);
            let answer = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
            assert!(answer.is_ok(), "{name}, seed {seed}");
        }
    }
}

/// Writes the corpus again: `cargo test -p lockdb --test it write_corpus -- --ignored`.
#[test]
#[ignore = "writes the committed corpus"]
fn write_corpus() {
    let (pages, log) = targets::make_sample();
    let schema = super::model::schema("account").encode();
    let directory = directory_of(&pages);
    let files: [(&str, &[u8]); 9] = [
        ("log", &log),
        ("log_of_store", &log),
        ("pages_of_store", &pages),
        ("page", &pages[3 * 8192..4 * 8192]),
        ("superblock", &pages[..72]),
        ("directory", &directory),
        ("schema", &schema),
        ("csv", b"id,balance,owner\n1,100,Ann\n2,-5,\n3,0,\"B, C\"\n"),
        ("shared_state", &[0; 64]),
    ];
    for (name, bytes) in files {
        let folder = corpus(name);
        fs::create_dir_all(&folder).expect("a folder of the corpus");
        fs::write(folder.join("sample"), bytes).expect("a file of the corpus");
    }
}

/// The bytes of the newest directory among pages.
fn directory_of(pages: &[u8]) -> Vec<u8> {
    use lockdb::layout::{Place, Superblock};
    let slots = [&pages[..72], &pages[8192..8192 + 72]];
    let slots = slots.map(|bytes| Superblock::decode(bytes.try_into().expect("72 bytes")));
    let newest = slots.into_iter().flatten().max_by_key(|superblock| superblock.epoch);
    let newest = newest.expect("a store has a superblock");
    let start = Place::from_word(newest.directory).physical() as usize * 8192 + 72;
    pages[start..start + newest.directory_bytes as usize].to_vec()
}
