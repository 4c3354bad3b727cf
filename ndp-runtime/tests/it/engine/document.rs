// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/near-data-jobs.md` says what the code does.

use ndp_runtime::job::{
    AssignmentHead, ChunkHeader, DescriptorHeader, FaultEntry, GroupEntry, Opcode, RowHead,
    Statistics, Status, TopUpBlock, UpdateEntry, reservation,
};

const DOCUMENT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/near-data-jobs.md"));

/// The cells of the rows of the table that has such a first column.
fn table(section: &str, first: &str) -> Vec<Vec<String>> {
    let mut lines = section.lines().skip_while(|line| !line.starts_with(&format!("| {first} |")));
    let header = lines.next();
    assert!(header.is_some(), "no table of {first:?} in {:?}", section.lines().next());
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

fn section(heading: &str) -> &'static str {
    let sections = DOCUMENT.split("\n## ").flat_map(|part| part.split("\n### "));
    let mut found = sections.filter(|section| section.lines().next() == Some(heading));
    found.next().unwrap_or_else(|| panic!("no heading {heading:?}"))
}

#[test]
fn the_tables_have_the_fields_of_the_code() {
    for (heading, fields, bytes) in [
        ("Descriptor header", DescriptorHeader::FIELDS, DescriptorHeader::BYTES),
        ("Assignment head", AssignmentHead::FIELDS, AssignmentHead::BYTES),
        ("Page reservation", reservation::Entry::FIELDS, reservation::Entry::BYTES),
        ("Top-up", TopUpBlock::FIELDS, TopUpBlock::BYTES),
        ("Chunk header", ChunkHeader::FIELDS, ChunkHeader::BYTES),
        ("Statistics", Statistics::FIELDS, Statistics::BYTES),
        ("Update entry", UpdateEntry::FIELDS, UpdateEntry::BYTES),
        ("Fault entry", FaultEntry::FIELDS, FaultEntry::BYTES),
        ("Row head", RowHead::FIELDS, RowHead::BYTES),
        ("Group entry", GroupEntry::FIELDS, GroupEntry::BYTES),
    ] {
        let size = |kind: &str| match kind {
            "u8" => 1,
            "u16" => 2,
            "u32" => 4,
            "u64" => 8,
            other => other.trim_end_matches(" bytes").parse().unwrap(),
        };
        let rows = table(section(heading), "offset");
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row[2].trim_matches('`'), row[0].parse().unwrap(), size(&row[1])))
            .collect();
        assert_eq!(found, fields, "{heading}");
        let end = fields.last().map(|(_, offset, size)| offset + size);
        assert_eq!(end, Some(bytes), "{heading}");
    }
}

#[test]
fn the_tables_have_the_opcodes_and_statuses_of_the_code() {
    let opcodes = Opcode::ALL.map(|opcode| (opcode as u8, format!("{opcode:?}")));
    let statuses = Status::ALL.map(|status| (status as u8, format!("{status:?}")));
    for (first, expected) in [("opcode", &opcodes[..]), ("status", &statuses[..])] {
        let rows = table(section("Submissions"), first);
        let found: Vec<_> =
            rows.iter().map(|row| (row[0].parse().unwrap(), row[1].clone())).collect();
        assert_eq!(found, expected, "{first}");
    }
}

#[test]
fn the_document_names_every_mutant() {
    let mutants = section("Mutants");
    for mutant in ndp_runtime::engine::Mutant::ALL {
        assert!(mutants.contains(&format!("`{mutant:?}`")), "{mutant:?}");
    }
}
