// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses of every width reach their bytes, all of them, and no others.

use driver::{Space, Width};
use rand::RngExt;

use crate::context::{CheckError, Context, expect};
use crate::map;

/// The scratch registers as one row of bytes: offset in the shell and how many bytes are kept.
const REGISTERS: [(&str, u64, Width); 4] = [
    ("SCRATCH_8", map::SCRATCH_8, Width::One),
    ("SCRATCH_16", map::SCRATCH_16, Width::Two),
    ("SCRATCH_32", map::SCRATCH_32, Width::Four),
    ("SCRATCH_64", map::SCRATCH_64, Width::Eight),
];

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let mut writes = 0;
    for (name, offset, width) in REGISTERS {
        for value in patterns(width) {
            write(context, offset, width, value)?;
            let found = read(context, offset, width)?;
            expect(|| format!("{name} after a write of its width"), found, value)?;
            writes += 1;
        }
    }
    let mut model = Model { bytes: [0; 0x38] };
    for (_, offset, width) in REGISTERS {
        write(context, offset, width, 0)?;
    }
    for _ in 0..context.options.cases {
        let (name, offset, whole) = REGISTERS[context.random.random_range(0..REGISTERS.len())];
        let widths = Width::ALL.into_iter().filter(|width| *width <= whole);
        let widths: Vec<_> = widths.collect();
        let width = widths[context.random.random_range(0..widths.len())];
        let bytes = width.bytes() as u64;
        let offset = offset + bytes * context.random.random_range(0..whole.bytes() as u64 / bytes);
        let value = context.random.random::<u64>() & width.all_ones();
        write(context, offset, width, value)?;
        model.write(offset, width, value);
        let what = format!("a write of {bytes} bytes at {offset:#x} ({name})");
        model.compare(context, &what)?;
        writes += 1;
    }
    Ok(format!("{writes} writes of 8 to 64 bits, at every byte, neighbours unchanged"))
}

/// Every bit by itself, set and cleared, and both chequered patterns.
fn patterns(width: Width) -> impl Iterator<Item = u64> {
    let ones = width.all_ones();
    let walking = (0..8 * width.bytes()).map(|bit| 1u64 << bit);
    let inverse = walking.clone().map(move |value| !value & ones);
    let constant = [0, ones, 0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA];
    walking.chain(inverse).chain(constant.map(|value| value & ones))
}

fn read(context: &Context<'_>, offset: u64, width: Width) -> Result<u64, CheckError> {
    Ok(context.backend.read(Space::Bar(0), map::SHELL + offset, width)?)
}

fn write(context: &Context<'_>, offset: u64, width: Width, value: u64) -> Result<(), CheckError> {
    Ok(context.backend.write(Space::Bar(0), map::SHELL + offset, width, value)?)
}

/// The bytes that the scratch registers must hold.
struct Model {
    bytes: [u8; 0x38],
}

impl Model {
    fn write(&mut self, offset: u64, width: Width, value: u64) {
        let begin = offset as usize;
        let bytes = &value.to_le_bytes()[..width.bytes()];
        self.bytes[begin..begin + width.bytes()].copy_from_slice(bytes);
    }

    /// All scratch registers hold what they must, also when they are read byte by byte.
    fn compare(&self, context: &mut Context<'_>, after: &str) -> Result<(), CheckError> {
        for (name, offset, width) in REGISTERS {
            let begin = offset as usize;
            let mut expected = [0; 8];
            expected[..width.bytes()].copy_from_slice(&self.bytes[begin..begin + width.bytes()]);
            let found = read(context, offset, width)?;
            let expected = u64::from_le_bytes(expected);
            expect(|| format!("{name} after {after}"), found, expected)?;
            let at = context.random.random_range(0..width.bytes() as u64);
            let found = read(context, offset + at, Width::One)?;
            let what = || format!("byte {at} of {name} after {after}");
            expect(what, found, expected >> (8 * at) & 0xFF)?;
        }
        Ok(())
    }
}
