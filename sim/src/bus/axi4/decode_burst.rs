// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the fields of AW, W and AR on a port that takes bursts.
//!
//! Source: AMBA AXI protocol specification, "Address structure" and "Data read and write structure".

use super::super::pins::{ReadAddress, WriteAddress, WriteData};
use super::burst::{BOUNDARY_BYTES, Burst, FULL_SIZE};
use super::config::BurstLimits;
use super::decode::{Malformed, require};

const BURST_INCREMENT: u8 = 1;

/// The names of the fields of AW or AR.
struct Names {
    id: &'static str,
    address: &'static str,
    size: &'static str,
    burst: &'static str,
    cache: &'static str,
}

const READ: Names =
    Names { id: "arid", address: "araddr", size: "arsize", burst: "arburst", cache: "arcache" };

const WRITE: Names =
    Names { id: "awid", address: "awaddr", size: "awsize", burst: "awburst", cache: "awcache" };

/// The fields that AW and AR have in common.
struct Fields {
    id: u16,
    address: u64,
    len: u8,
    size: u8,
    burst: u8,
    cache: u8,
}

/// Checks AR.
pub(super) fn read(ar: &ReadAddress, limits: &BurstLimits) -> Result<Burst, Malformed> {
    let ReadAddress { arid, araddr, arlen, arsize, arburst, arcache } = *ar;
    let (id, address, len) = (arid, araddr, arlen);
    let fields = Fields { id, address, len, size: arsize, burst: arburst, cache: arcache };
    burst(&fields, &READ, limits)
}

/// Checks AW.
pub(super) fn write_address(aw: &WriteAddress, limits: &BurstLimits) -> Result<Burst, Malformed> {
    let WriteAddress { awid, awaddr, awlen, awsize, awburst, awcache, awatop } = *aw;
    require(awatop == 0, "awatop", awatop, "0 on a port without atomics")?;
    let (id, address, len) = (awid, awaddr, awlen);
    let fields = Fields { id, address, len, size: awsize, burst: awburst, cache: awcache };
    burst(&fields, &WRITE, limits)
}

fn burst(fields: &Fields, names: &Names, limits: &BurstLimits) -> Result<Burst, Malformed> {
    let Fields { id, address, len, size, burst, cache } = *fields;
    let bits = limits.id_bits;
    require(u32::from(id) < 1 << bits, names.id, id, format_args!("{bits} bits"))?;
    require(size <= FULL_SIZE, names.size, size, "at most 6 (64 bytes, the width of the bus)")?;
    let increments = burst == BURST_INCREMENT;
    require(increments, names.burst, burst, "1 (INCR), the only type that is supported")?;
    // The upper bits allocate, which only modifiable accesses (bit 1) may.
    let legal = cache & 0b1100 == 0 || cache & 0b0010 != 0;
    require(legal, names.cache, cache, "bits 3 and 2 only with bit 1 (modifiable)")?;
    let burst = Burst::new(address, u16::from(len) + 1, size);
    let room = BOUNDARY_BYTES - address % BOUNDARY_BYTES;
    let bytes = burst.bytes();
    require(
        burst.keeps_to_boundary(),
        names.address,
        address,
        format_args!("no burst over a 4 kB boundary: {bytes} bytes, {room} up to there"),
    )?;
    Ok(burst)
}

/// Checks beat `number` of the W of a burst.
pub(super) fn write_data(w: &WriteData, burst: &Burst, number: u16) -> Result<(), Malformed> {
    let lanes = burst.beat(number).lanes;
    let last = number + 1 == burst.length;
    require(
        w.wlast == last,
        "wlast",
        w.wlast,
        format_args!("{} on beat {number} of {}", u8::from(last), burst.length),
    )?;
    let inside = w.wstrb & !lanes == 0;
    require(inside, "wstrb", w.wstrb, format_args!("no bits but those of 0x{lanes:X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> BurstLimits {
        BurstLimits { id_bits: 4, reads: 8, writes: 8 }
    }

    fn address() -> ReadAddress {
        ReadAddress { arid: 3, araddr: 0x1FC1, arlen: 0, arsize: 6, arburst: 1, arcache: 3 }
    }

    #[track_caller]
    fn refused(change: fn(&mut ReadAddress), field: &str, value: &str, expected: &str) {
        let mut ar = address();
        change(&mut ar);
        let found = read(&ar, &limits()).unwrap_err();
        assert_eq!((found.field, &*found.value, &*found.expected), (field, value, expected));
    }

    #[test]
    fn malformed_addresses_are_named() {
        refused(|ar| ar.arid = 16, "arid", "0x10", "4 bits");
        refused(|ar| ar.arsize = 7, "arsize", "0x7", "at most 6 (64 bytes, the width of the bus)");
        let types = "1 (INCR), the only type that is supported";
        refused(|ar| ar.arburst = 0, "arburst", "0x0", types);
        refused(|ar| ar.arburst = 2, "arburst", "0x2", types);
        let cache = "bits 3 and 2 only with bit 1 (modifiable)";
        refused(|ar| ar.arcache = 4, "arcache", "0x4", cache);
        let crossing = "no burst over a 4 kB boundary: 127 bytes, 63 up to there";
        refused(|ar| ar.arlen = 1, "araddr", "0x1FC1", crossing);
    }

    #[test]
    fn the_last_byte_before_a_boundary_may_be_reached() {
        assert_eq!(read(&address(), &limits()), Ok(Burst::new(0x1FC1, 1, 6)));
        let narrow = ReadAddress { araddr: 0x1F00, arlen: 255, arsize: 0, ..address() };
        assert_eq!(read(&narrow, &limits()), Ok(Burst::new(0x1F00, 256, 0)));
    }

    #[test]
    fn malformed_data_are_named() {
        let burst = Burst::new(0x103C, 2, 6);
        let data = |wstrb, wlast| WriteData { wdata: [0; 8], wstrb, wlast };
        let text = |w, number| write_data(&w, &burst, number).map_err(|m| (m.field, m.expected));
        assert_eq!(text(data(0xA << 60, false), 0), Ok(()));
        let outside = ("wstrb", "no bits but those of 0xF000000000000000".into());
        assert_eq!(text(data(1 << 59, false), 0), Err(outside));
        assert_eq!(text(data(0, true), 0), Err(("wlast", "0 on beat 0 of 2".into())));
        assert_eq!(text(data(0, false), 1), Err(("wlast", "1 on beat 1 of 2".into())));
        assert_eq!(text(data(u64::MAX, true), 1), Ok(()));
    }
}
