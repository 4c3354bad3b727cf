// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers of all blocks: what they read, what they take, what they refuse.

use sim::bus::BusError::{DecodeError, SubordinateError};
use sim::bus::axi_lite::{LiteOutcome, LiteRequest};
use sim::bus::stall::StallPattern;

use crate::bench::{Bench, Config};

/// The blocks of the queues.
const QUEUES: [u16; 4] = [0x2000, 0x3000, 0x4000, 0x6000];

/// Offset, what it reads after reset, and the bits that may be written.
type Register = (u16, u32, u32);

const SHELL: [Register; 14] = [
    (0x020, 0, 0xFF),
    (0x024, 0, 0xFFFF),
    (0x028, 0, u32::MAX),
    (0x030, 0, u32::MAX),
    (0x034, 0, u32::MAX),
    (0x100, 0x4C53_4456, 0),
    (0x104, 0x0001_0002, 0),
    (0x108, 26 << 16 | 6 << 8 | 4, 0),
    (0x200, 0, 0),
    (0x204, 0, 0),
    (0x208, 0, 0),
    (0x20C, 0, 0),
    (0x210, 0, 0),
    (0x214, 0, 0),
];

const QUEUE: [Register; 18] = [
    (0x000, 0, 1),
    (0x004, 0, 1),
    (0x008, 0, 3),
    (0x010, 0, 0),
    (0x020, 0, !63),
    (0x024, 0, u32::MAX),
    (0x030, 0, !63),
    (0x034, 0, u32::MAX),
    (0x050, 0, 0xFFFF),
    (0x060, 0, 0xFFFF),
    (0x070, 0, 0),
    (0x080, 0, 0),
    (0x090, 0, 0),
    (0x100, 0x4C53_5155, 0),
    (0x104, 0x0001_0002, 0),
    (0x200, 0, 0),
    (0x224, 0, 0),
    (0x218, 0, 0),
];

fn read(bench: &mut Bench, address: u16) -> Result<LiteOutcome, String> {
    bench.access(LiteRequest::Read { address })
}

fn write(bench: &mut Bench, address: u16, value: u32, strobe: u8) -> Result<LiteOutcome, String> {
    bench.access(LiteRequest::Write { address, value, strobe })
}

fn expect(what: &str, found: LiteOutcome, expected: LiteOutcome) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:x?}, not {expected:x?}")) }
}

/// Every register of every block, and places where none is.
pub fn registers_of_all_blocks(seed: u64) -> Result<(), String> {
    let stalls = StallPattern::Random { probability: 0.3 };
    let bench = &mut Bench::new(&Config { seed, stalls, ..Config::smooth() });
    let queues = QUEUES.map(|base| (base, &QUEUE[..]));
    for (base, registers) in [(0x0000, &SHELL[..])].into_iter().chain(queues) {
        for &(offset, reset, writable) in registers {
            check(bench, base + offset, reset, writable)?;
        }
        for nothing in [0x014, 0x0FC, 0x10C, 0x400, 0xFFC] {
            expect("read of nothing", read(bench, base + nothing)?, Err(DecodeError))?;
            let written = write(bench, base + nothing, 1, 0xF)?;
            expect("write to nothing", written, Err(SubordinateError))?;
        }
    }
    expect("copy queue", read(bench, 0x2108)?, Ok(12 << 8 | 1))?;
    expect("lock queue", read(bench, 0x3108)?, Ok(12 << 8 | 2))?;
    expect("job queue", read(bench, 0x4108)?, Ok(12 << 8 | 3))?;
    expect("look-up queue", read(bench, 0x6108)?, Ok(12 << 8 | 4))?;
    expect("look-up unit", read(bench, 0x5100)?, Ok(0x4C53_4E4C))?;
    expect("nothing of the look-up unit", read(bench, 0x5400)?, Err(DecodeError))?;
    expect("look-up unit", write(bench, 0x5100, 0, 0xF)?, Err(SubordinateError))?;
    expect("lock unit", read(bench, 0x1100)?, Ok(0x4C53_4C55))?;
    expect("nothing of the lock unit", read(bench, 0x1400)?, Err(DecodeError))?;
    expect("lock unit", write(bench, 0x1100, 0, 0xF)?, Err(SubordinateError))?;
    expect("INTERRUPT_FORCE is not read", read(bench, 0x0040)?, Err(DecodeError))?;
    for block in 7..=0xF {
        expect("no block", read(bench, block << 12 | 0x100)?, Err(DecodeError))?;
        expect("no block", write(bench, block << 12, 0, 0xF)?, Err(SubordinateError))?;
    }
    refused_values(bench)?;
    bytes(bench)
}

/// One register: its reset value, that its bits can be written, and no others.
fn check(bench: &mut Bench, address: u16, reset: u32, writable: u32) -> Result<(), String> {
    let what = format!("register {address:#06x}");
    expect(&what, read(bench, address)?, Ok(reset))?;
    if writable == 0 {
        expect(&what, write(bench, address, !reset, 0xF)?, Err(SubordinateError))?;
        return expect(&what, read(bench, address)?, Ok(reset));
    }
    // CONTROL would set a queue to work.
    let values = if address & 0xFFF == 0 { &[0][..] } else { &[0x5A5A_5A5A, 0xA5A5_A5A5, 0] };
    for value in values {
        expect(&what, write(bench, address, value & writable, 0xF)?, Ok(0))?;
        expect(&what, read(bench, address)?, Ok(value & writable))?;
    }
    Ok(())
}

/// Values that cannot be, and places that hold still while a queue is on.
fn refused_values(bench: &mut Bench) -> Result<(), String> {
    let refused = Err(SubordinateError);
    for queue in QUEUES {
        expect("base", write(bench, queue | 0x020, 0x40, 0xF)?, Ok(0))?;
        expect("odd base", write(bench, queue | 0x020, 0x60, 0xF)?, refused)?;
        expect("odd base", write(bench, queue | 0x030, 1, 0xF)?, refused)?;
        expect("no entries", write(bench, queue | 0x040, 0, 0xF)?, refused)?;
        expect("13", write(bench, queue | 0x040, 13, 0xF)?, refused)?;
        expect("12", write(bench, queue | 0x040, 12, 0xF)?, Ok(0))?;
        expect("half a doorbell", write(bench, queue | 0x050, 1, 0x1)?, refused)?;
        expect("base", read(bench, queue | 0x020)?, Ok(0x40))?;
        expect("enable", write(bench, queue, 1, 0xF)?, Ok(0))?;
        for offset in [0x020, 0x024, 0x030, 0x034, 0x040] {
            expect("while enabled", write(bench, queue | offset, 0x80, 0xF)?, refused)?;
        }
        expect("base", read(bench, queue | 0x020)?, Ok(0x40))?;
        expect("disable", write(bench, queue, 0, 0xF)?, Ok(0))?;
        expect("base", write(bench, queue | 0x020, 0x80, 0xF)?, Ok(0))?;
    }
    Ok(())
}

/// Scratch registers take bytes.
fn bytes(bench: &mut Bench) -> Result<(), String> {
    for address in [0x028, 0x030, 0x034] {
        expect("whole", write(bench, address, 0x1122_3344, 0xF)?, Ok(0))?;
        expect("one byte", write(bench, address, 0xAAAA_AAAA, 0x4)?, Ok(0))?;
        expect("one byte", read(bench, address)?, Ok(0x11AA_3344))?;
        expect("two bytes", write(bench, address, 0xBBBB_BBBB, 0x3)?, Ok(0))?;
        expect("no byte", write(bench, address, 0xCCCC_CCCC, 0x0)?, Ok(0))?;
        expect("two bytes", read(bench, address)?, Ok(0x11AA_BBBB))?;
    }
    Ok(())
}
