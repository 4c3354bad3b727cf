// SPDX-License-Identifier: MIT OR Apache-2.0
//! The identity of the device, in its configuration space and in each block.

use driver::{PciCapability, PciIdentity, Space, Width, discover_capabilities};

use crate::context::{CheckError, Context, expect};
use crate::map;

/// Processing accelerator, revision 1.
const CLASS_AND_REVISION: u64 = 0x1200_0001;

/// Blocks with their characters.
const BLOCKS: &[(&str, u64, u32)] = &[
    ("shell", map::SHELL, 0x4C53_4456),
    ("lock unit", map::LOCK_UNIT, 0x4C53_4C55),
    ("copy queue", map::COPY_QUEUE, 0x4C53_5155),
    ("lock queue", map::LOCK_QUEUE, 0x4C53_5155),
    ("job queue", map::JOB_QUEUE, 0x4C53_5155),
    ("look-up unit", map::LOOK_UP_UNIT, 0x4C53_4E4C),
    ("look-up queue", map::LOOK_UP_QUEUE, 0x4C53_5155),
];
const MAJOR: u32 = 1;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let information = context.backend.information().clone();
    let PciIdentity { vendor, device, subsystem_vendor, subsystem } =
        PciIdentity::expected().map_err(|error| CheckError::wrong(error.to_string()))?;
    let pair = |vendor: u16, device: u16| u64::from(device) << 16 | u64::from(vendor);
    for (name, offset, expected) in [
        ("vendor and device", 0x00, pair(vendor, device)),
        ("class and revision", 0x08, CLASS_AND_REVISION),
        ("subsystem", 0x2C, pair(subsystem_vendor, subsystem)),
    ] {
        let found = context.backend.read(Space::Configuration, offset, Width::Four)?;
        expect(|| format!("{name} in the configuration space"), found, expected)?;
    }
    check_capabilities(&discover_capabilities(&*context.backend)?)?;
    for &(name, base, identity) in BLOCKS {
        expect(
            || format!("IDENTITY of the {name}"),
            context.read(base + map::IDENTITY)?,
            identity,
        )?;
        let version = context.read(base + map::VERSION)?;
        expect(|| format!("major VERSION of the {name}"), version >> 16, MAJOR)?;
    }
    let shell = context.read(map::SHELL + map::CAPABILITIES)?;
    expect(|| "queues in CAPABILITIES of the shell".into(), shell & 0xFF, 4)?;
    expect(|| "vectors in CAPABILITIES of the shell".into(), shell >> 8 & 0xFF, map::VECTORS)?;
    expect(|| "vectors of the function".into(), information.vectors, map::VECTORS)?;
    let unit = context.read(map::LOCK_UNIT + map::CAPABILITIES)?;
    expect(|| "CAPABILITIES of the lock unit".into(), unit & 0xFFFF, 8 << 8 | 7)?;
    for (name, base, kind) in [
        ("copy", map::COPY_QUEUE, 1),
        ("lock", map::LOCK_QUEUE, 2),
        ("job", map::JOB_QUEUE, 3),
        ("look-up", map::LOOK_UP_QUEUE, 4),
    ] {
        let found = context.read(base + map::CAPABILITIES)? & 0xFFFF;
        expect(|| format!("CAPABILITIES of the {name} queue"), found, 12 << 8 | kind)?;
    }
    let unit = context.read(map::LOOK_UP_UNIT + map::CAPABILITIES)?;
    expect(|| "bytes of a slot in CAPABILITIES of the look-up unit".into(), unit & 0xFFFF, 32)?;
    let bars = information.bar_bytes;
    expect(|| "bytes of BAR0".into(), bars[0], 0x1_0000)?;
    expect(|| "bytes of BAR2".into(), bars[2], context.card_bytes()?)?;
    Ok(format!("{} blocks of version {MAJOR}, {} MiB of card memory", BLOCKS.len(), bars[2] >> 20))
}

/// What a kernel has to find before it lets software have interrupts and resets of the function.
fn check_capabilities(found: &[PciCapability]) -> Result<(), CheckError> {
    let resettable = |one: &PciCapability| match one {
        PciCapability::Express { resettable, .. } => *resettable,
        _ => false,
    };
    if !found.iter().any(resettable) {
        return Err(CheckError::wrong(format!("no function-level reset among {found:?}")));
    }
    let (at_table, at_pending) = ((0, 0x8000), (0, 0x9000));
    let messages = |one: &PciCapability| match *one {
        PciCapability::MsiX { vectors, table, pending, .. } => {
            (u32::from(vectors), table, pending) == (map::VECTORS, at_table, at_pending)
        }
        _ => false,
    };
    if !found.iter().any(messages) {
        return Err(CheckError::wrong(format!(
            "no MSI-X with {} vectors, table at BAR0 + 0x8000 and pending bits at BAR0 + 0x9000 \
             among {found:?}",
            map::VECTORS
        )));
    }
    Ok(())
}
