// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random bursts for tests, and what they have to bring, held against an array of bytes.

use super::super::pins::{Axi4ManagerPins, Axi4SubordinatePins};
use super::super::stall::channel_generator;
use super::super::test_memory::{PerformedBeat, TestMemory};
use super::*;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::ops::Range;

pub const BASE: u64 = 0x7_0000_0000;
pub const PAGES: u64 = 4;
/// Nothing answers in the second half of the last page.
pub const MEMORY_BYTES: usize = (PAGES as usize - 1) * 4096 + 2048;
/// Where accesses fail.
pub const BROKEN: Range<u64> = BASE + 0x10C8..BASE + 0x10D1;

/// An access as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub id: u16,
    pub burst: Burst,
    /// The beats of a write.
    pub written: Option<Vec<WriteBeat>>,
}

/// What a run has to contain to mean anything.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub mixed: u32,
    pub overtaken: u32,
    pub errors_amid: u32,
    pub unaligned: u32,
    pub narrow: u32,
    pub to_boundary: u32,
    pub sparse: u32,
    pub data_first: u32,
}

impl Seen {
    pub fn counts(&self) -> [u32; 8] {
        let Seen { mixed, overtaken, errors_amid, unaligned, .. } = *self;
        let Seen { narrow, to_boundary, sparse, data_first, .. } = *self;
        [mixed, overtaken, errors_amid, unaligned, narrow, to_boundary, sparse, data_first]
    }
}

/// Draws bursts, and keeps what was asked for.
pub struct Traffic {
    generator: ChaCha8Rng,
    pub asked: BTreeMap<Ticket, Asked>,
    pub seen: Seen,
    /// The id of the last beat of R, and whether it ended its burst.
    last_beat: Option<(u16, bool)>,
    balance: i64,
}

impl Traffic {
    pub fn new(seed: u64) -> Self {
        let generator = channel_generator(seed, "burst traffic");
        let (asked, seen) = (BTreeMap::new(), Seen::default());
        Traffic { generator, asked, seen, last_beat: None, balance: 0 }
    }

    /// Asks for one more access of an id below `ids`.
    pub fn ask(&mut self, manager: &mut Axi4Manager, ids: u16) {
        let id = self.generator.random_range(0..ids);
        let burst = self.draw_burst();
        self.seen.unaligned += u32::from(!burst.address.is_multiple_of(1 << burst.size));
        self.seen.narrow += u32::from(burst.size < FULL_SIZE);
        self.seen.to_boundary +=
            u32::from((burst.address + burst.bytes()).is_multiple_of(BOUNDARY_BYTES));
        let (ticket, written) = if self.generator.random_range(0..2) == 0 {
            (manager.read(id, burst), None)
        } else {
            let beats = self.draw_beats(&burst);
            (manager.write(id, burst, beats.clone()), Some(beats))
        };
        self.asked.insert(ticket, Asked { id, burst, written });
    }

    fn draw_burst(&mut self) -> Burst {
        let size = if self.generator.random_range(0..3) == 0 {
            self.generator.random_range(0..FULL_SIZE)
        } else {
            FULL_SIZE
        };
        let page = BASE + BOUNDARY_BYTES * self.generator.random_range(0..PAGES);
        let address = match self.generator.random_range(0..4) {
            0 => page + LINE_BYTES * self.generator.random_range(0..64u64),
            // Near the boundary.
            1 => page + BOUNDARY_BYTES - self.generator.random_range(1..200u64),
            _ => page + self.generator.random_range(0..BOUNDARY_BYTES),
        };
        let aligned = address & !((1 << size) - 1);
        let room = ((page + BOUNDARY_BYTES - aligned) >> size).min(u64::from(MAXIMUM_BEATS));
        let longest = if self.generator.random_range(0..8) == 0 { room } else { room.min(6) };
        Burst::new(address, self.generator.random_range(1..=longest) as u16, size)
    }

    fn draw_beats(&mut self, burst: &Burst) -> Vec<WriteBeat> {
        let sparse = self.generator.random_range(0..2) == 0;
        self.seen.sparse += u32::from(sparse);
        let mut beat = |beat: Beat| {
            let mut data = [0; DATA_WORDS];
            self.generator.fill(&mut data);
            let holes = if sparse { self.generator.next_u64() } else { u64::MAX };
            WriteBeat { data, strobe: beat.lanes & holes }
        };
        burst.beats().map(&mut beat).collect()
    }

    /// Looks at the pins of a cycle, for the counts.
    pub fn watch(&mut self, manager: &Axi4ManagerPins, bridge: &Axi4SubordinatePins) {
        if bridge.rvalid && manager.rready {
            let mixed = self.last_beat.is_some_and(|(id, last)| !last && id != bridge.rid);
            self.seen.mixed += u32::from(mixed);
            self.last_beat = Some((bridge.rid, bridge.rlast));
            self.seen.errors_amid += u32::from(bridge.rresp != 0 && !bridge.rlast);
        }
        self.balance += i64::from(manager.awvalid && bridge.awready);
        self.balance -= i64::from(manager.wvalid && bridge.wready && manager.wlast);
        self.seen.data_first += u32::from(self.balance < 0);
    }
}

/// What memory should hold: bytes that know nothing of lines and beats.
pub struct Reference(pub Vec<u8>);

impl Reference {
    pub fn new() -> Self {
        Reference(vec![0; MEMORY_BYTES])
    }

    /// What beat `number` of an access has to meet.
    pub fn error(burst: &Burst, number: u16) -> Option<BusError> {
        let range = bytes_of_beat(burst, number);
        if range.start < BROKEN.end && BROKEN.start < range.end {
            return Some(BusError::SubordinateError);
        }
        (range.start >= BASE + MEMORY_BYTES as u64).then_some(BusError::DecodeError)
    }

    /// Stores what a beat of a write stores.
    pub fn store(&mut self, burst: &Burst, number: u16, write: &WriteBeat) {
        for address in bytes_of_beat(burst, number) {
            let lane = address % LINE_BYTES;
            if write.strobe >> lane & 1 == 1 {
                let byte = write.data[lane as usize / 8] >> (8 * (lane % 8));
                self.0[(address - BASE) as usize] = byte as u8;
            }
        }
    }

    /// The bytes of a beat.
    pub fn bytes(&self, burst: &Burst, number: u16) -> Vec<u8> {
        bytes_of_beat(burst, number).map(|at| self.0[(at - BASE) as usize]).collect()
    }
}

/// Addresses of a beat, from the words of the specification and not from [`Burst::beat`].
fn bytes_of_beat(burst: &Burst, number: u16) -> Range<u64> {
    let size = 1u64 << burst.size;
    let aligned = burst.address / size * size;
    let start = if number == 0 { burst.address } else { aligned + u64::from(number) * size };
    start..start / size * size + size
}

/// The bytes that came back in beat `number`, from the lanes that belong to it.
pub fn came_back(burst: &Burst, number: u16, line: &[u64; DATA_WORDS]) -> Vec<u8> {
    let lanes = bytes_of_beat(burst, number).map(|address| (address % LINE_BYTES) as usize);
    lanes.map(|lane| (line[lane / 8] >> (8 * (lane % 8))) as u8).collect()
}

/// Follows the memory's order beat by beat: each beat of R is what the bytes were when it was
/// read, each write stores what was asked, and the errors are those that are due; unless
/// `any_errors`.
pub fn assert_follows(
    traffic: &Traffic,
    log: &[PerformedBeat],
    completions: &BTreeMap<Ticket, Completion>,
    memory: &TestMemory,
    any_errors: bool,
) {
    let mut reference = Reference::new();
    let mut tickets: BTreeMap<BurstKey, Ticket> = BTreeMap::new();
    let mut left: BTreeMap<(u16, bool), std::vec::IntoIter<Ticket>> = BTreeMap::new();
    for (ticket, asked) in &traffic.asked {
        let key = (asked.id, asked.written.is_some());
        let list = left.remove(&key).unwrap_or_default().chain([*ticket]).collect::<Vec<_>>();
        left.insert(key, list.into_iter());
    }
    for performed in log {
        let PerformedBeat { access, beat: Beat { number, .. }, outcome, .. } = performed;
        let (AccessKind::ReadBurst(burst) | AccessKind::WriteBurst(burst)) = access.kind else {
            panic!("{access:?} is no burst");
        };
        let key = (access.id, matches!(access.kind, AccessKind::WriteBurst(_)));
        // Bursts of one id and direction begin in the order in which they were asked for.
        let next = || left.get_mut(&key).and_then(Iterator::next).expect("it was asked for");
        let ticket = *tickets.entry(burst.key).or_insert_with(next);
        let asked = &traffic.asked[&ticket];
        assert_eq!(Burst { key: BurstKey::default(), ..burst }, asked.burst, "{ticket:?}");
        if !any_errors {
            assert_eq!(outcome.err(), Reference::error(&burst, *number), "{performed:?}");
        }
        match (&asked.written, &completions[&ticket].outcome) {
            (Some(beats), Outcome::Write(_)) => {
                if outcome.is_ok() {
                    reference.store(&burst, *number, &beats[usize::from(*number)]);
                }
            }
            (None, Outcome::Read(beats)) => {
                let beat = beats[usize::from(*number)];
                assert_eq!(beat.err(), outcome.err(), "beat {number} of {asked:?}");
                if let Ok(line) = beat {
                    let found = came_back(&burst, *number, &line);
                    let expected = reference.bytes(&burst, *number);
                    assert_eq!(found, expected, "beat {number} of {asked:?}");
                }
            }
            other => panic!("{other:?} to {asked:?}"),
        }
    }
    let beats: usize = traffic.asked.values().map(|asked| usize::from(asked.burst.length)).sum();
    assert_eq!(log.len(), beats, "beats performed");
    assert_eq!(memory.read_bytes(BASE, MEMORY_BYTES), Some(reference.0));
}
