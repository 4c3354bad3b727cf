// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device is opened a second time while it is in use: the second opener is refused, or gets a
//! device of its own.

use driver::{OpenError, Width};

use crate::context::{CheckError, Context, expect};

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let shell = context.device.shell();
    shell.write_scratch(Width::Eight, 0x1111_2222_3333_4444)?;
    let second = (context.open)();
    let outcome = match second {
        Err(OpenError::Busy { .. }) => "it was turned away as busy",
        Err(other) => {
            let wrong = format!("a second opener was told {other}, expected that it is in use");
            return Err(CheckError::Wrong(wrong));
        }
        Ok(second) => {
            let theirs = second.shell().read_scratch(Width::Eight)?;
            expect(|| "SCRATCH_64 of the second device".into(), theirs, 0)?;
            second.shell().write_scratch(Width::Eight, u64::MAX)?;
            second.reset()?;
            "it has a device of its own"
        }
    };
    let found = shell.read_scratch(Width::Eight)?;
    let what = || "SCRATCH_64 after somebody else came".into();
    expect(what, found, 0x1111_2222_3333_4444)?;
    Ok(outcome.into())
}
