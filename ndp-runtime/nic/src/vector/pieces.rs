// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an element is cut into accesses.

use super::{Element, PAGE};

/// The most bytes of a piece: what one packet of the host's link carries.
pub const PIECE: u64 = 256;

/// Bytes that one burst reads and one burst writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Address of its first byte in host memory.
    pub host: u64,
    /// Address of its first byte in NIC memory.
    pub nic: u64,
    /// Its length, 1 to [`PIECE`].
    pub bytes: u64,
}

/// The pieces of an element from its lowest address on: as long as they may be, but none crosses the end
/// of a [page](PAGE) on either side. The element is one that [is not
/// refused](super::Vectorizer::refusal): no address of it is beyond 64 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pieces {
    host: u64,
    nic: u64,
    left: u64,
}

impl Pieces {
    /// Those of this element.
    #[must_use]
    pub fn of(element: &Element) -> Self {
        Self { host: element.host, nic: element.nic, left: element.bytes.into() }
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let &mut Self { host, nic, left } = self;
        let in_page = |address: u64| PAGE - address % PAGE;
        let bytes = left.min(PIECE).min(in_page(host)).min(in_page(nic));
        // The last one may end with the address space.
        self.host = host.wrapping_add(bytes);
        self.nic = nic.wrapping_add(bytes);
        self.left -= bytes;
        (bytes > 0).then_some(Piece { host, nic, bytes })
    }
}
