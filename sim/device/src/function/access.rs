// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses of the host to the function's spaces.

use driver::layout::BAR0_BYTES;

use super::*;

/// Where BAR0 leads.
enum Target {
    Registers,
    Table(usize),
    Pending(usize),
}

impl Target {
    fn of(offset: u32) -> Self {
        const PAGE: u32 = 0x1000;
        match offset & !(PAGE - 1) {
            configuration::MSIX_TABLE => Target::Table((offset % PAGE) as usize),
            configuration::MSIX_PENDING => Target::Pending((offset % PAGE) as usize),
            _ => Target::Registers,
        }
    }
}

/// One access to a register: the bytes `from..from + bytes` of the word at `word`.
struct Chunk {
    word: u32,
    from: usize,
    bytes: usize,
}

/// Cuts a range of BAR0 into accesses to single registers, lowest first: each as long as its
/// alignment, the rest of the range and the 4 bytes of the bus allow.
fn chunks(offset: u32, bytes: usize) -> impl Iterator<Item = (usize, Chunk)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let left = bytes - done;
        if left == 0 {
            return None;
        }
        let at = offset + done as u32;
        let aligned = 1 << at.trailing_zeros().min(2);
        let longest = 1 << left.ilog2().min(2);
        let chunk = Chunk { word: at & !3, from: (at & 3) as usize, bytes: aligned.min(longest) };
        let start = done;
        done += chunk.bytes;
        Some((start, chunk))
    })
}

impl State {
    pub(super) fn read(&mut self, space: Space, offset: u64, into: &mut [u8]) {
        into.fill(0xFF);
        match self.range(space, offset, into.len()) {
            Some((Space::Configuration, at)) => self.configuration.read(at, into),
            Some((Space::Bar(0), at)) => {
                for (start, chunk) in chunks(at as u32, into.len()) {
                    let word = self.read_word(chunk.word).unwrap_or(u32::MAX).to_le_bytes();
                    let found = &word[chunk.from..chunk.from + chunk.bytes];
                    into[start..start + chunk.bytes].copy_from_slice(found);
                }
            }
            Some((_, at)) => read_card(self.board.card(), at, into),
            None => {}
        }
    }

    pub(super) fn write(&mut self, space: Space, offset: u64, from: &[u8]) {
        match self.range(space, offset, from.len()) {
            Some((Space::Configuration, at)) => {
                if self.configuration.write(at, from).reset {
                    self.function_level_reset();
                }
                self.update_msix();
            }
            Some((Space::Bar(0), at)) => {
                for (start, chunk) in chunks(at as u32, from.len()) {
                    let mut word = [0; 4];
                    word[chunk.from..chunk.from + chunk.bytes]
                        .copy_from_slice(&from[start..start + chunk.bytes]);
                    let strobe = (1u8 << chunk.bytes).wrapping_sub(1) << chunk.from;
                    self.write_word(chunk.word, u32::from_le_bytes(word), strobe);
                }
            }
            Some((_, at)) => write_card(self.board.card(), at, from),
            None => {}
        }
    }

    /// Where in a space a range begins, if something answers there: the range is inside, and the
    /// function's memory enabled.
    fn range(&self, space: Space, offset: u64, bytes: usize) -> Option<(Space, usize)> {
        let size = match space {
            Space::Configuration => configuration::BYTES as u64,
            Space::Bar(0) => BAR0_BYTES,
            Space::Bar(2) => CARD_BYTES,
            Space::Bar(_) => return None,
        };
        let inside = size.checked_sub(offset).is_some_and(|left| left >= bytes as u64);
        let enabled = space == Space::Configuration || self.configuration.is_memory_enabled();
        (inside && enabled).then_some((space, offset as usize))
    }

    /// Reads one word of BAR0; `None` where nothing answers.
    fn read_word(&mut self, word: u32) -> Option<u32> {
        match Target::of(word) {
            Target::Table(offset) => Some(self.msix.read_table(offset)),
            Target::Pending(offset) => Some(self.msix.read_pending(offset)),
            Target::Registers => self.access(LiteRequest::Read { address: word as u16 }),
        }
    }

    /// Writes the bytes of one word of BAR0 whose bits in `strobe` are set.
    fn write_word(&mut self, word: u32, value: u32, strobe: u8) {
        match Target::of(word) {
            Target::Table(offset) => {
                let mask = std::array::from_fn(|byte| 0xFF * (strobe >> byte & 1));
                self.msix.write_table(offset, value, u32::from_le_bytes(mask));
            }
            Target::Pending(_) => {}
            Target::Registers => {
                self.access(LiteRequest::Write { address: word as u16, value, strobe });
            }
        }
    }

    /// One access to the RTL; `None` when it refused, or is as if gone.
    fn access(&mut self, request: LiteRequest) -> Option<u32> {
        if self.failure.is_some() {
            return None;
        }
        let host = reach(&self.configuration, &self.space);
        let mut world = World { host, msix: &mut self.msix, jobs: &self.jobs };
        match self.board.access(request, &mut world) {
            Ok(Ok(value)) => Some(value),
            Ok(Err(_)) => {
                self.refused += 1;
                None
            }
            Err(fault) => {
                self.failure = Some(fault.to_string());
                None
            }
        }
    }
}

/// Reads card memory: a word that is aligned at once, as a processor's access is.
fn read_card(card: &HostMemory, offset: usize, into: &mut [u8]) {
    match <&mut [u8; 8]>::try_from(&mut *into) {
        Ok(word) if offset.is_multiple_of(8) => {
            *word = card.word(offset).load(Ordering::Acquire).to_le_bytes();
        }
        _ => card.read(offset, into),
    }
}

fn write_card(card: &HostMemory, offset: usize, from: &[u8]) {
    match <[u8; 8]>::try_from(from) {
        Ok(word) if offset.is_multiple_of(8) => {
            card.word(offset).store(u64::from_le_bytes(word), Ordering::Release);
        }
        _ => card.write(offset, from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_into_aligned_accesses_of_at_most_a_word() {
        let cut = |offset, bytes| {
            let chunks = chunks(offset, bytes);
            chunks.map(|(at, chunk)| (at, chunk.word, chunk.from, chunk.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(cut(0x20, 1), [(0, 0x20, 0, 1)]);
        assert_eq!(cut(0x23, 1), [(0, 0x20, 3, 1)]);
        assert_eq!(cut(0x22, 2), [(0, 0x20, 2, 2)]);
        assert_eq!(cut(0x24, 4), [(0, 0x24, 0, 4)]);
        assert_eq!(cut(0x30, 8), [(0, 0x30, 0, 4), (4, 0x34, 0, 4)]);
        assert_eq!(
            cut(0x21, 6),
            [(0, 0x20, 1, 1), (1, 0x20, 2, 2), (3, 0x24, 0, 2), (5, 0x24, 2, 1)]
        );
        assert_eq!(cut(0x20, 0), []);
    }
}
