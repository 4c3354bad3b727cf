// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decodes the fields of AW, W and AR to accesses.
//!
//! Sources: `docs/lock-unit.md`, "Memory"; AMBA 5 AXI, "Atomic transactions".

use super::super::pins::{ReadAddress, WriteAddress, WriteData};
use super::{ATOMIC_COMPARE, AccessKind, CACHE_KEEP_COPY, CACHE_PLAIN, ID_BITS, ID_COUNT};
use std::fmt::Display;

const BURST_FIXED: u8 = 0;
const BURST_INCREMENT: u8 = 1;
const BURST_WRAP: u8 = 2;

/// A field that is not as it must be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub field: &'static str,
    pub value: String,
    pub expected: String,
}

/// `expected` is only written out on failure: this runs for every access.
#[inline]
pub(super) fn require(
    holds: bool,
    field: &'static str,
    value: impl Into<u64>,
    expected: impl Display,
) -> Result<(), Malformed> {
    if holds {
        return Ok(());
    }
    Err(Malformed { field, value: format!("0x{:X}", value.into()), expected: expected.to_string() })
}

fn require_id(field: &'static str, id: u16) -> Result<(), Malformed> {
    require(usize::from(id) < ID_COUNT, field, id, format_args!("{ID_BITS} bits"))
}

/// Index of the word at `address` among the lanes of the bus.
#[inline]
pub(super) fn lane(address: u64) -> usize {
    (address >> 3 & 7) as usize
}

/// Checks AR and says whether the reader keeps the copy.
pub(super) fn read(ar: &ReadAddress) -> Result<AccessKind, Malformed> {
    require_id("arid", ar.arid)?;
    require(ar.arlen == 0, "arlen", ar.arlen, "0 (one beat)")?;
    require(ar.arsize == 6, "arsize", ar.arsize, "6 (64 bytes)")?;
    require(ar.araddr.is_multiple_of(64), "araddr", ar.araddr, "a multiple of 64")?;
    require_plain_burst("arburst", ar.arburst)?;
    match ar.arcache {
        CACHE_KEEP_COPY => Ok(AccessKind::ReadLine { keep_copy: true }),
        CACHE_PLAIN => Ok(AccessKind::ReadLine { keep_copy: false }),
        other => Err(Malformed {
            field: "arcache",
            value: format!("{other:#06b}"),
            expected: "0b1111 (copy is kept) or 0b0011".into(),
        }),
    }
}

/// Checks AW before its data are there.
pub(super) fn write_address(aw: &WriteAddress) -> Result<(), Malformed> {
    require_id("awid", aw.awid)?;
    require(aw.awlen == 0, "awlen", aw.awlen, "0 (one beat)")?;
    require(aw.awaddr.is_multiple_of(8), "awaddr", aw.awaddr, "a multiple of 8")?;
    require(aw.awcache == CACHE_PLAIN, "awcache", aw.awcache, "0x3")?;
    match aw.awatop {
        0 => {
            require(aw.awsize == 3, "awsize", aw.awsize, "3 (8 bytes) for a store")?;
            require_plain_burst("awburst", aw.awburst)
        }
        ATOMIC_COMPARE => {
            let size = "4 (16 bytes) for AtomicCompare";
            require(aw.awsize == 4, "awsize", aw.awsize, size)?;
            let (burst, expected) = if aw.awaddr.is_multiple_of(16) {
                (BURST_INCREMENT, "1 (INCR) as awaddr is a multiple of 16")
            } else {
                (BURST_WRAP, "2 (WRAP) as awaddr is no multiple of 16")
            };
            require(aw.awburst == burst, "awburst", aw.awburst, expected)
        }
        other => Err(Malformed {
            field: "awatop",
            value: format!("{other:#08b}"),
            expected: "0b000000 (store) or 0b110001 (AtomicCompare)".into(),
        }),
    }
}

/// Checks W on its own.
pub(super) fn write_data(w: &WriteData) -> Result<(), Malformed> {
    require(w.wlast, "wlast", w.wlast, "0x1 on the only beat")
}

/// Joins a checked AW with its W.
pub(super) fn write(aw: &WriteAddress, w: &WriteData) -> Result<AccessKind, Malformed> {
    let lane = lane(aw.awaddr);
    if aw.awatop == ATOMIC_COMPARE {
        let both = 0xFFFF << (8 * (lane & !1));
        require(w.wstrb == both, "wstrb", w.wstrb, format_args!("0x{both:X} (16 bytes)"))?;
        // The swap value lies in the other half: above the word for INCR, below for WRAP.
        return Ok(AccessKind::CompareSwap { expected: w.wdata[lane], new: w.wdata[lane ^ 1] });
    }
    let word = 0xFFu64 << (8 * lane);
    let inside = w.wstrb & !word == 0;
    require(inside, "wstrb", w.wstrb, format_args!("no bits but those of 0x{word:X}"))?;
    Ok(AccessKind::Store { value: w.wdata[lane], strobe: (w.wstrb >> (8 * lane)) as u8 })
}

/// A single beat may be FIXED or INCR; WRAP is for 2 beats and more, 3 is reserved.
fn require_plain_burst(field: &'static str, burst: u8) -> Result<(), Malformed> {
    let plain = matches!(burst, BURST_FIXED | BURST_INCREMENT);
    require(plain, field, burst, "0 (FIXED) or 1 (INCR) for one beat")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> WriteAddress {
        WriteAddress {
            awid: 0x083,
            awaddr: 0x1018,
            awlen: 0,
            awsize: 3,
            awburst: 1,
            awcache: 3,
            awatop: 0,
        }
    }

    fn swap(address: u64, burst: u8) -> WriteAddress {
        WriteAddress { awaddr: address, awsize: 4, awburst: burst, awatop: 0x31, ..store() }
    }

    fn data(strobe: u64) -> WriteData {
        WriteData { wdata: [10, 11, 12, 13, 14, 15, 16, 17], wstrb: strobe, wlast: true }
    }

    fn line() -> ReadAddress {
        ReadAddress { arid: 1, araddr: 0x40, arlen: 0, arsize: 6, arburst: 1, arcache: 3 }
    }

    #[track_caller]
    fn assert_field<T: std::fmt::Debug>(
        result: Result<T, Malformed>,
        field: &str,
        value: &str,
        expected: &str,
    ) {
        let found = result.unwrap_err();
        assert_eq!((found.field, &*found.value, &*found.expected), (field, value, expected));
    }

    #[test]
    fn both_halves_of_a_compare_and_swap_are_found() {
        let kind = |expected, new| Ok(AccessKind::CompareSwap { expected, new });
        // Word 2 at a multiple of 16: swap value in word 3.
        assert_eq!(write_address(&swap(0x1010, 1)), Ok(()));
        assert_eq!(write(&swap(0x1010, 1), &data(0xFFFF_0000)), kind(12, 13));
        // Word 3 is not: swap value in word 2, below.
        assert_eq!(write_address(&swap(0x1018, 2)), Ok(()));
        assert_eq!(write(&swap(0x1018, 2), &data(0xFFFF_0000)), kind(13, 12));
        assert_eq!(write(&swap(0x1038, 2), &data(0xFFFF << 48)), kind(17, 16));
    }

    #[test]
    fn a_store_has_its_word_and_strobes() {
        let kind = |strobe| Ok(AccessKind::Store { value: 13, strobe });
        assert_eq!(write_address(&store()), Ok(()));
        assert_eq!(write(&store(), &data(0xFF00_0000)), kind(0xFF));
        assert_eq!(write(&store(), &data(0x0F00_0000)), kind(0x0F));
        assert_eq!(write(&store(), &data(0)), kind(0));
    }

    #[test]
    fn a_read_says_whether_its_copy_is_kept() {
        assert_eq!(read(&line()), Ok(AccessKind::ReadLine { keep_copy: false }));
        let keeps = ReadAddress { arcache: 0xF, ..line() };
        assert_eq!(read(&keeps), Ok(AccessKind::ReadLine { keep_copy: true }));
    }

    #[test]
    fn malformed_reads_are_named() {
        let with = |change: fn(&mut ReadAddress)| {
            let mut ar = line();
            change(&mut ar);
            read(&ar)
        };
        assert_field(with(|ar| ar.arid = 0x800), "arid", "0x800", "11 bits");
        assert_field(with(|ar| ar.arlen = 1), "arlen", "0x1", "0 (one beat)");
        assert_field(with(|ar| ar.arsize = 5), "arsize", "0x5", "6 (64 bytes)");
        assert_field(with(|ar| ar.araddr = 0x48), "araddr", "0x48", "a multiple of 64");
        let burst = "0 (FIXED) or 1 (INCR) for one beat";
        assert_field(with(|ar| ar.arburst = 2), "arburst", "0x2", burst);
        let cache = "0b1111 (copy is kept) or 0b0011";
        assert_field(with(|ar| ar.arcache = 2), "arcache", "0b0010", cache);
    }

    #[test]
    fn malformed_writes_are_named() {
        let with = |mut aw: WriteAddress, change: fn(&mut WriteAddress)| {
            change(&mut aw);
            write_address(&aw)
        };
        assert_field(with(store(), |aw| aw.awid = 0x801), "awid", "0x801", "11 bits");
        assert_field(with(store(), |aw| aw.awlen = 3), "awlen", "0x3", "0 (one beat)");
        assert_field(with(store(), |aw| aw.awaddr = 0x1C), "awaddr", "0x1C", "a multiple of 8");
        assert_field(with(store(), |aw| aw.awcache = 0xF), "awcache", "0xF", "0x3");
        let size = "3 (8 bytes) for a store";
        assert_field(with(store(), |aw| aw.awsize = 4), "awsize", "0x4", size);
        let burst = "0 (FIXED) or 1 (INCR) for one beat";
        assert_field(with(store(), |aw| aw.awburst = 3), "awburst", "0x3", burst);
        let operation = "0b000000 (store) or 0b110001 (AtomicCompare)";
        assert_field(with(store(), |aw| aw.awatop = 0x30), "awatop", "0b110000", operation);
        let size = "4 (16 bytes) for AtomicCompare";
        assert_field(with(swap(0x10, 1), |aw| aw.awsize = 3), "awsize", "0x3", size);
        let burst = "1 (INCR) as awaddr is a multiple of 16";
        assert_field(with(swap(0x10, 1), |aw| aw.awburst = 2), "awburst", "0x2", burst);
        let burst = "2 (WRAP) as awaddr is no multiple of 16";
        assert_field(with(swap(0x18, 2), |aw| aw.awburst = 1), "awburst", "0x1", burst);
    }

    #[test]
    fn malformed_data_are_named() {
        let open = WriteData { wlast: false, ..data(0) };
        assert_field(write_data(&open), "wlast", "0x0", "0x1 on the only beat");
        let atomic = write(&swap(0x18, 2), &data(0xFF00_0000));
        assert_field(atomic, "wstrb", "0xFF000000", "0xFFFF0000 (16 bytes)");
        let outside = write(&store(), &data(0x01_FF00_0000));
        assert_field(outside, "wstrb", "0x1FF000000", "no bits but those of 0xFF000000");
    }
}
