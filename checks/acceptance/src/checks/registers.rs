// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register map: the value of each register after a reset, and the effect of accesses.

use driver::map::device::PLACES;
use driver::map::{Access, Place, Word};
use driver::{Space, Width};

use crate::context::{CheckError, Context, expect};
use crate::map;

/// Registers that set a block to work when they are written; the other checks are about them.
const SET_TO_WORK: [&str; 3] = ["CONTROL", "SUBMISSION_TAIL", "COMPLETION_HEAD"];

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    at_reset(context)?;
    let (mut words, mut writes) = (0, 0);
    for place in PLACES {
        for word in place.words {
            writes += match word.access {
                Access::ReadOnly => stays(context, &place, word)?,
                Access::ReadWrite if SET_TO_WORK.contains(&word.name) => 0,
                Access::ReadWrite => takes(context, &place, word)?,
                Access::WriteOneToClear => stays(context, &place, word)?,
                // It reads as nothing, and a write of it acts: see the interrupts.
                Access::WriteOnly => 0,
            };
            words += 1;
        }
        nothing_elsewhere(context, &place)?;
    }
    context.backend.reset()?;
    at_reset(context)?;
    Ok(format!("{words} words of {} blocks, {writes} writes, resets", PLACES.len()))
}

/// All registers are as after a reset, as far as the map says.
pub(super) fn at_reset(context: &Context<'_>) -> Result<(), CheckError> {
    for place in PLACES {
        for word in place.words {
            if let (Some(reset), true) = (word.reset, word.is_readable()) {
                let found = context.read(offset(&place, word))?;
                expect(|| format!("{} after a reset", name(&place, word)), found, reset)?;
            }
        }
    }
    Ok(())
}

fn offset(place: &Place, word: &Word) -> u64 {
    u64::from(place.base + word.offset)
}

fn name(place: &Place, word: &Word) -> String {
    format!("{} of the {}", word.name, place.name)
}

/// Writes change nothing.
fn stays(context: &Context<'_>, place: &Place, word: &Word) -> Result<u32, CheckError> {
    let offset = offset(place, word);
    let before = context.read(offset)?;
    for value in [!before, 0, !0] {
        context.write(offset, value)?;
        let what = || format!("{} after a write of {value:#x}", name(place, word));
        expect(what, context.read(offset)?, before)?;
    }
    Ok(3)
}

/// What may be written is read back, what may not changes nothing.
fn takes(context: &Context<'_>, place: &Place, word: &Word) -> Result<u32, CheckError> {
    let offset = offset(place, word);
    let mut held = context.read(offset)?;
    let step = word.multiple_of;
    let legal = |value: u32| {
        (word.smallest..=word.largest).contains(&value)
            && value.is_multiple_of(step)
            && value & !word.mask == 0
    };
    let mut writes = 0;
    let patterns = [0x5A5A_5A5A, 0xA5A5_A5A5, !0].map(|value| value & word.mask);
    let limits = [word.largest, word.smallest].map(|value| value & word.mask);
    for value in patterns.into_iter().chain(limits) {
        if legal(value) {
            context.write(offset, value)?;
            held = value;
        } else if value & !word.mask == 0 {
            context.write(offset, value)?;
        }
        let what = || format!("{} after a write of {value:#x}", name(place, word));
        expect(what, context.read(offset)?, held)?;
        writes += 1;
    }
    let above = (word.largest != u32::MAX).then(|| word.largest + 1);
    let between = (step > 1).then_some(word.smallest + step / 2);
    for value in above.into_iter().chain(between) {
        context.write(offset, value)?;
        let what = || format!("{} after a refused write of {value:#x}", name(place, word));
        expect(what, context.read(offset)?, held)?;
        writes += 1;
    }
    if !word.takes_bytes {
        let other = !held as u8;
        context.backend.write(Space::Bar(0), offset, Width::One, other.into())?;
        let what = || format!("{} after a write of one byte", name(place, word));
        expect(what, context.read(offset)?, held)?;
        writes += 1;
    }
    Ok(writes)
}

/// Where the map has no register, reads answer all-ones and writes are dropped.
fn nothing_elsewhere(context: &Context<'_>, place: &Place) -> Result<(), CheckError> {
    let known = |offset| place.words.iter().any(|word| word.offset == offset);
    let candidates = (0..map::BLOCK_BYTES as u32).step_by(4).filter(|&offset| !known(offset));
    for register in candidates.step_by(37) {
        let offset = u64::from(place.base + register);
        context.write(offset, 0x1234_5678)?;
        let what = || format!("offset {register:#x} of the {}, where nothing is", place.name);
        expect(what, context.read(offset)?, !0)?;
    }
    Ok(())
}
