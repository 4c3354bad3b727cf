// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of instructions in `docs/near-data-programs.md`, and the code.

use crate::program::Opcode;

#[test]
fn the_document_lists_every_operation() {
    let document = include_str!("../../../../docs/near-data-programs.md");
    let listed: Vec<(u8, &str)> = document
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| 0x")?.split('|').map(str::trim);
            let code = u8::from_str_radix(cells.next()?, 16).ok()?;
            let name = cells.next()?.trim_matches('`').split(' ').next()?;
            Some((code, name))
        })
        .collect();
    let all: Vec<_> = Opcode::ALL.iter().map(|op| (*op as u8, op.name())).collect();
    assert_eq!(listed, all);
}
