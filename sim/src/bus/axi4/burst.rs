// SPDX-License-Identifier: MIT OR Apache-2.0
//! The geometry of a burst: which bytes each beat carries, and in which lanes of the bus.
//!
//! Source: AMBA AXI protocol specification, "Burst address" and "Data read and write structure": beat
//! 0 begins at the address, every other one at the next multiple of the size.

use super::super::BusError;
use super::super::pins::DATA_WORDS;

/// Bytes on the data bus.
pub const LINE_BYTES: u64 = 8 * DATA_WORDS as u64;

/// No burst crosses a multiple of this.
pub const BOUNDARY_BYTES: u64 = 4096;

/// Most beats of a burst.
pub const MAXIMUM_BEATS: u16 = 256;

/// `AxSIZE` of a beat as wide as the bus.
pub const FULL_SIZE: u8 = 6;

/// Names a burst between its acceptance and its last response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BurstKey(pub(super) u32);

/// A burst of type INCR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Byte address of its first byte; any.
    pub address: u64,
    /// Number of beats, 1 to 256.
    pub length: u16,
    /// Bytes of a beat, by their logarithm: 0 to 6.
    pub size: u8,
    /// Names the burst in answers.
    pub key: BurstKey,
}

/// One beat of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// Counted from 0.
    pub number: u16,
    /// Byte address of its first byte.
    pub address: u64,
    /// Bit n set: lane n, byte n of the line, belongs to the beat.
    pub lanes: u64,
}

impl Beat {
    /// Byte address of the line of 64 bytes that the beat lies in.
    pub const fn line(&self) -> u64 {
        self.address & !(LINE_BYTES - 1)
    }

    /// Number of its bytes, 1 to 64.
    pub const fn bytes(&self) -> usize {
        self.lanes.count_ones() as usize
    }

    /// Its first lane, 0 to 63.
    pub const fn first_lane(&self) -> usize {
        (self.address % LINE_BYTES) as usize
    }
}

/// A beat of W, or what one of them stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteBeat {
    /// The line; word n holds bits 64n+63:64n.
    pub data: [u64; DATA_WORDS],
    /// Bit n set: byte n is stored.
    pub strobe: u64,
}

/// What the memory found for one beat of a read: the whole line that it lies in, or an error.
pub type ReadBeat = Result<[u64; DATA_WORDS], BusError>;

impl Burst {
    /// A burst of `length` beats of `1 << size` bytes from `address` on. It is not checked against
    /// the boundary, so that tests can break that rule.
    ///
    /// # Panics
    /// When `length` is not 1 to 256 or `size` is above 6.
    pub fn new(address: u64, length: u16, size: u8) -> Self {
        assert!((1..=MAXIMUM_BEATS).contains(&length), "length is {length}, expected 1 to 256");
        assert!(size <= FULL_SIZE, "size is {size}, expected 0 to 6 (64 bytes)");
        Burst { address, length, size, key: BurstKey::default() }
    }

    /// The bursts of full width that carry `bytes` bytes from `address` on, cut at the boundaries
    /// of 4 kB; none for 0 bytes.
    ///
    /// # Panics
    /// When the bytes go past the end of the address space.
    pub fn covering(address: u64, bytes: u64) -> impl Iterator<Item = Burst> {
        let end = address.checked_add(bytes).expect("bytes past the end of the address space");
        let mut from = address;
        std::iter::from_fn(move || {
            (from < end).then(|| {
                let to = end.min((from & !(BOUNDARY_BYTES - 1)).saturating_add(BOUNDARY_BYTES));
                let lines = (to - 1) / LINE_BYTES - from / LINE_BYTES + 1;
                let burst = Burst::new(from, lines as u16, FULL_SIZE);
                from = to;
                burst
            })
        })
    }

    /// Its beat `number`.
    ///
    /// # Panics
    /// When it has no such beat.
    #[inline]
    pub fn beat(&self, number: u16) -> Beat {
        assert!(number < self.length, "beat {number} of a burst of {}", self.length);
        let bytes = 1u64 << self.size;
        let aligned = (self.address & !(bytes - 1)).wrapping_add(u64::from(number) * bytes);
        let address = if number == 0 { self.address } else { aligned };
        let above_first = u64::MAX << (address % LINE_BYTES);
        let last = aligned % LINE_BYTES + bytes - 1;
        Beat { number, address, lanes: above_first & u64::MAX >> (LINE_BYTES - 1 - last) }
    }

    /// Its beats in their order.
    pub fn beats(&self) -> impl ExactSizeIterator<Item = Beat> + use<> {
        let burst = *self;
        (0..usize::from(self.length)).map(move |number| burst.beat(number as u16))
    }

    /// Bytes from the first to the last, 1 to 4,096 when it keeps to the boundary.
    pub const fn bytes(&self) -> u64 {
        let within = self.address & ((1 << self.size) - 1);
        ((self.length as u64) << self.size) - within
    }

    /// Whether it stays between two multiples of 4 kB.
    pub const fn keeps_to_boundary(&self) -> bool {
        self.address % BOUNDARY_BYTES + self.bytes() <= BOUNDARY_BYTES
    }

    /// The bytes that this burst carries, in the order of their addresses, out of the lines of its
    /// beats.
    pub fn bytes_of<'a>(
        &self,
        lines: impl IntoIterator<Item = &'a [u64; DATA_WORDS]> + 'a,
    ) -> Vec<u8> {
        let beats = self.beats().zip(lines);
        beats
            .flat_map(|(beat, line)| {
                let lanes = beat.first_lane()..beat.first_lane() + beat.bytes();
                lanes.map(|lane| (line[lane / 8] >> (8 * (lane % 8))) as u8)
            })
            .collect()
    }

    /// The beats of W that store `bytes` from the address on, all strobes set that have a byte.
    /// With fewer bytes than the burst has, the last strobes stay 0.
    pub fn write_beats(&self, bytes: &[u8]) -> Vec<WriteBeat> {
        let mut left = bytes.iter();
        let beats = self.beats().map(|beat| {
            let mut write = WriteBeat::default();
            let lanes = beat.first_lane()..beat.first_lane() + beat.bytes();
            for (lane, byte) in lanes.zip(left.by_ref().take(beat.bytes())) {
                write.data[lane / 8] |= u64::from(*byte) << (8 * (lane % 8));
                write.strobe |= 1 << lane;
            }
            write
        });
        beats.collect()
    }
}

impl std::fmt::Display for Burst {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (length, bytes) = (self.length, 1 << self.size);
        write!(formatter, "{length} beats of {bytes} bytes from 0x{:X}", self.address)
    }
}

/// The mask of the bytes of each word that lie in `lanes`.
#[inline]
pub(crate) fn byte_masks(lanes: u64) -> [u64; DATA_WORDS] {
    std::array::from_fn(|word| {
        // Spreads 8 bits to the lowest bits of 8 bytes, and each of them over its byte.
        let bits = lanes >> (8 * word) & 0xFF;
        let spread = (0..8).fold(0, |all, bit| all | (bits >> bit & 1) << (8 * bit));
        spread * 0xFF
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unaligned_burst_has_a_short_first_beat() {
        let burst = Burst::new(0x103D, 3, 6);
        let beats: Vec<Beat> = burst.beats().collect();
        assert_eq!(beats[0], Beat { number: 0, address: 0x103D, lanes: 0xE000_0000_0000_0000 });
        assert_eq!(beats[1], Beat { number: 1, address: 0x1040, lanes: u64::MAX });
        assert_eq!(beats[2], Beat { number: 2, address: 0x1080, lanes: u64::MAX });
        assert_eq!(burst.bytes(), 3 + 128);
        assert_eq!((beats[0].line(), beats[0].bytes(), beats[0].first_lane()), (0x1000, 3, 61));
    }

    #[test]
    fn narrow_beats_walk_over_the_lanes() {
        let lanes = |burst: Burst| burst.beats().map(|beat| beat.lanes).collect::<Vec<u64>>();
        assert_eq!(lanes(Burst::new(0x3A, 3, 2)), [0xC << 56, 0xF << 60, 0xF]);
        assert_eq!(lanes(Burst::new(0x3F, 2, 0)), [1 << 63, 1]);
    }

    #[test]
    fn the_boundary_counts_from_the_first_to_the_last_byte() {
        assert!(Burst::new(0x1000, 64, 6).keeps_to_boundary());
        assert!(Burst::new(0x1FFF, 1, 6).keeps_to_boundary());
        assert!(!Burst::new(0x1FFF, 2, 6).keeps_to_boundary());
        assert!(!Burst::new(0x1040, 64, 6).keeps_to_boundary());
        assert!(Burst::new(u64::MAX - 63, 1, 6).keeps_to_boundary());
    }

    #[test]
    fn bytes_are_covered_once_and_no_boundary_is_crossed() {
        let of = |address, bytes| {
            let bursts =
                Burst::covering(address, bytes).inspect(|b| assert!(b.keeps_to_boundary()));
            bursts.map(|burst| (burst.address, burst.length)).collect::<Vec<_>>()
        };
        assert_eq!(of(0x1000, 4096), [(0x1000, 64)]);
        assert_eq!(of(0x1FFF, 66), [(0x1FFF, 1), (0x2000, 2)]);
        assert_eq!(of(0x1001, 8192), [(0x1001, 64), (0x2000, 64), (0x3000, 1)]);
        assert_eq!(of(7, 0), []);
    }

    #[test]
    fn bytes_go_into_beats_and_come_out_again() {
        let bytes: Vec<u8> = (1..=200).collect();
        let burst = Burst::new(0x10_003B, 4, 6);
        let beats = burst.write_beats(&bytes);
        assert_eq!(beats[0].strobe, 0x1F << 59);
        assert_eq!(beats[3].strobe, u64::MAX, "5 + 3 × 64 bytes");
        assert_eq!(burst.bytes_of(beats.iter().map(|beat| &beat.data)), bytes[..197]);
        let short = burst.write_beats(&bytes[..7]);
        assert_eq!((short[1].strobe, short[2].strobe), (0x3, 0));
    }

    #[test]
    fn masks_have_a_byte_for_each_lane() {
        let masks = byte_masks(0x8000_0000_0000_0105);
        assert_eq!(masks, [0x00FF_00FF, 0xFF, 0, 0, 0, 0, 0, 0xFF << 56]);
    }
}
