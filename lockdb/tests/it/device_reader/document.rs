// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/shared-state.md` says what the code does.

use std::mem::offset_of;

use lockdb::shared_state::{AreaHeader, PageEntry, TableEntry, VidEntry};

const DOCUMENT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/shared-state.md"));

/// The table under a heading says these names and offsets, and its fields fill `bytes` bytes.
fn must_say(heading: &str, bytes: usize, expected: &[(&str, usize)]) {
    let section = DOCUMENT.split("\n### ").find(|section| section.lines().next() == Some(heading));
    let section = section.unwrap_or_else(|| panic!("no heading {heading:?}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains("| `"));
    let mut next = 0;
    let found = rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let size = match cells[1] {
            "u32" => 4,
            "u64" => 8,
            other => other.trim_end_matches(" bytes").parse().unwrap(),
        };
        assert_eq!(cells[0], next.to_string(), "{heading}: {row}");
        next += size;
        (cells[2].trim_matches('`'), next - size)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{heading}");
    assert_eq!(next, bytes, "{heading}: its end");
}

#[test]
fn the_tables_have_the_offsets_of_the_code() {
    macro_rules! must_say {
        ($heading:expr, $of:ty, $($field:ident),+) => {
            let expected = [$((stringify!($field), offset_of!($of, $field))),+];
            must_say($heading, size_of::<$of>(), &expected)
        };
    }
    must_say!(
        "Area header",
        AreaHeader,
        magic,
        version,
        checksum,
        store,
        epoch,
        snapshot,
        oldest,
        directory,
        directory_bytes,
        length,
        tables,
        vids,
        pages,
        schema_bytes,
        tables_at,
        vids_at,
        pages_at,
        schemas_at,
        images_at,
        sections_checksum,
        reserved
    );
    must_say!("Table entry", TableEntry, vids, first, changed, schema_at, schema_bytes, reserved);
    must_say!("VID entry", VidEntry, vid, table, record);
    must_say!("Page entry", PageEntry, page, image, checksum);
}
