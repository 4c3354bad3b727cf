// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device compares and swaps in host memory while software lets it, and not otherwise.

use driver::lock_unit::stream::{Code, UnitRequest};
use driver::{Space, Width, pci_regs};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

use crate::context::{CheckError, Context, expect, expect_eq};
use crate::host_table::HostTable;
use crate::map;
use crate::queue::{Queue, Submission};
use crate::requests;

const LOG2_BUCKETS: u32 = 2;
const KEY: TupleKey = TupleKey::new(5, 1);

/// Offsets in the capability for PCI Express.
const DEVICE_CAPABILITIES_2: u64 = pci_regs::EXP_DEVCAP2 as u64;
const DEVICE_CONTROL_2: u64 = pci_regs::EXP_DEVCTL2 as u64;
/// Bit of Device Control 2: AtomicOp Requester Enable.
const REQUESTER_ENABLE: u64 = pci_regs::EXP_DEVCTL2_ATOMIC_REQ as u64;
/// Bits of Device Capabilities 2: routes AtomicOps, completes those of 32, 64 and 128 bits.
const ROUTES_OR_COMPLETES: u64 = (pci_regs::EXP_DEVCAP2_ATOMIC_ROUTE
    | pci_regs::EXP_DEVCAP2_ATOMIC_COMP32
    | pci_regs::EXP_DEVCAP2_ATOMIC_COMP64
    | pci_regs::EXP_DEVCAP2_ATOMIC_COMP128) as u64;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let express = express(context)?;
    let read = |context: &Context<'_>, offset, width| {
        context.backend.read(Space::Configuration, express + offset, width)
    };
    let capabilities = read(context, DEVICE_CAPABILITIES_2, Width::Four)?;
    let what = || "routing and completion of AtomicOps in Device Capabilities 2".into();
    expect(what, capabilities & ROUTES_OR_COMPLETES, 0)?;
    let control = read(context, DEVICE_CONTROL_2, Width::Two)?;
    let what = || "AtomicOp Requester Enable of an opened device, after a reset".into();
    expect(what, control & REQUESTER_ENABLE, REQUESTER_ENABLE)?;
    let set = |context: &Context<'_>, value: u64| -> Result<(), CheckError> {
        let place = express + DEVICE_CONTROL_2;
        context.backend.write(Space::Configuration, place, Width::Two, value)?;
        let found = read(context, DEVICE_CONTROL_2, Width::Two)?;
        expect(|| "Device Control 2 as it was written".into(), found, value)
    };
    set(context, control & !REQUESTER_ENABLE)?;
    let outcome = forbidden(context);
    // Restored after success and failure, since later checks expect the original value.
    set(context, control)?;
    let (mut queue, table) = outcome?;
    expect_eq(|| "an acquire by AtomicOps".into(), acquire(context, &mut queue)?, Code::Granted)?;
    let release = requests::release(2, transaction(), KEY);
    let released = ask(context, &mut queue, release)?;
    expect_eq(|| "the release of what was acquired".into(), released, Code::Released)?;
    table.expect_empty()?;
    Ok("bus errors while AtomicOps are off, locks while they are on".into())
}

/// Without AtomicOps a request for a lock ends as a bus error, and nothing has changed.
fn forbidden(context: &Context<'_>) -> Result<(Queue, HostTable), CheckError> {
    let table = HostTable::start(context, LOG2_BUCKETS)?;
    let mut queue = Queue::open(context, map::LOCK_QUEUE, 4)?;
    let what = || "an acquire while the function may not request AtomicOps".into();
    expect_eq(what, acquire(context, &mut queue)?, Code::BusError)?;
    let status = context.read(map::LOCK_UNIT + map::ISR)?;
    expect(|| "ISR of the lock unit after it".into(), status, 1)?;
    context.write(map::LOCK_UNIT + map::ISR, 1)?;
    table.expect_empty()?;
    Ok((queue, table))
}

fn transaction() -> Timestamp {
    Timestamp::new(7).expect("not 0")
}

fn acquire(context: &Context<'_>, queue: &mut Queue) -> Result<Code, CheckError> {
    ask(context, queue, requests::acquire(1, transaction(), KEY, Rule::NoWait))
}

fn ask(context: &Context<'_>, queue: &mut Queue, request: UnitRequest) -> Result<Code, CheckError> {
    queue.push(Submission::request(request));
    queue.ring(context)?;
    Ok(requests::response(&queue.wait(context)?)?.code)
}

/// Where the capability for PCI Express begins.
fn express(context: &Context<'_>) -> Result<u64, CheckError> {
    // As many as find room.
    const COUNT_MAX: u32 = 48;
    let byte = |offset| context.backend.read(Space::Configuration, offset, Width::One);
    let mut at = byte(pci_regs::CAPABILITY_LIST as u64)? & !3;
    for _ in 0..COUNT_MAX {
        match at {
            0 => break,
            _ if byte(at)? == u64::from(pci_regs::CAP_ID_EXP) => return Ok(at),
            _ => at = byte(at + pci_regs::CAP_LIST_NEXT as u64)? & !3,
        }
    }
    Err(CheckError::wrong("the list of capabilities has none for PCI Express"))
}
