// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/store-layouts.md` says what the code does.

use std::mem::{offset_of, size_of};

use lockdb::layout::{PageHeader, Superblock, VersionHeader};

const DOCUMENT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/store-layouts.md"));

/// A field of a table: offset, bytes (none for what fills the rest), name.
type Field = (usize, Option<usize>, String);

/// The table of fields under a heading.
fn fields(heading: &str) -> Vec<Field> {
    let section = DOCUMENT.split("\n## ").find(|section| section.lines().next() == Some(heading));
    let section = section.unwrap_or_else(|| panic!("no heading {heading:?}"));
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let bytes = match cells[1] {
            "u8" => Some(1),
            "u16" => Some(2),
            "u32" => Some(4),
            "u64" => Some(8),
            "bytes" => None,
            other => {
                let number = other.strip_suffix(" bytes").and_then(|number| number.parse().ok());
                Some(number.unwrap_or_else(|| panic!("{heading}: type {other:?}")))
            }
        };
        let offset = cells[0].parse().unwrap_or_else(|_| panic!("{heading}: offset {row}"));
        (offset, bytes, cells[2].trim_matches('`').to_string())
    })
    .collect()
}

/// Fields follow each other without a gap, and fill the whole.
fn must_fill(heading: &str, whole: usize) {
    let mut next = 0;
    for (offset, bytes, name) in fields(heading) {
        assert_eq!(offset, next, "{heading}: {name}");
        next += bytes.unwrap_or(0);
    }
    assert_eq!(next, whole, "{heading}: its end");
}

#[test]
fn the_tables_have_no_gaps() {
    must_fill("Superblock", Superblock::BYTES);
    must_fill("Page header", size_of::<PageHeader>());
    must_fill("Version header", size_of::<VersionHeader>());
    must_fill("Log segment header", 64);
    must_fill("Log record header", 40);
    must_fill("Change", 14);
    must_fill("Finalized page", 24);
}

fn must_be_at(heading: &str, expected: &[(&str, usize)]) {
    let fields = fields(heading);
    for (name, offset) in expected {
        let found = fields.iter().find(|(_, _, of)| of == name).map(|(offset, ..)| *offset);
        assert_eq!(found, Some(*offset), "{heading}: {name}");
    }
}

#[test]
fn the_tables_have_the_offsets_of_the_code() {
    macro_rules! offsets {
        ($base:expr, $of:ty, $($field:ident),+) => {
            &[$((stringify!($field), $base + offset_of!($of, $field))),+]
        };
    }
    must_be_at(
        "Page header",
        offsets!(
            0, PageHeader, magic, checksum, page, table, lines, upper, newest, epoch, kind,
            reserved, store
        ),
    );
    must_be_at(
        "Version header",
        offsets!(0, VersionHeader, created, invalidated, predecessor, vid, version),
    );
    must_be_at(
        "Superblock",
        offsets!(
            16,
            Superblock,
            store,
            epoch,
            redo_lsn,
            redo_commit,
            redo_epoch,
            directory,
            directory_bytes
        ),
    );
}

/// Fields of the log, in a log that was written.
#[test]
fn the_tables_read_a_log() {
    let log: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/log/sample"));
    let read = |heading: &str, name: &str, base: usize| {
        let fields = fields(heading);
        let (offset, bytes, _) = fields.iter().find(|(.., of)| of == name).expect("a field");
        let mut word = [0; 8];
        let bytes = bytes.expect("of a fixed size");
        word[..bytes].copy_from_slice(&log[base + offset..][..bytes]);
        u64::from_le_bytes(word)
    };
    assert_eq!(read("Log segment header", "magic", 0), u64::from_le_bytes(*b"LKSTPLOG"));
    assert_eq!(read("Log segment header", "version", 0), 1);
    assert_eq!(read("Log segment header", "start", 0), 0);
    let (mut at, mut commits, mut changes) = (64, 0, 0);
    while at < log.len() {
        let header = |name| read("Log record header", name, at);
        commits += 1;
        assert_eq!((header("lsn"), header("commit")), (at as u64 - 64, commits));
        assert_eq!(header("checksum"), u64::from(crc32c::crc32c(&log[at..at + 36])));
        if header("kind") == 1 {
            let body = at + 40;
            let end = at + (header("length") - header("padding")) as usize;
            let mut change = body;
            while change < end {
                assert_eq!(read("Change", "table", change), 0);
                changes += 1;
                change += 14 + (read("Change", "length", change) & 0x7fff) as usize;
            }
            assert_eq!(change, end, "changes fill the body");
        }
        at += header("length") as usize;
    }
    assert!(commits > 10 && changes > 10, "{commits} commits, {changes} changes");
}
