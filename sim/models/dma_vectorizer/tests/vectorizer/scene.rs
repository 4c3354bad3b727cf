// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements, the two memories that they copy between, and what has to become of them.

use std::collections::BTreeMap;
use std::ops::Range;

use nic::vector::{
    Config, Direction, Element, LARGEST, PAGE, Pieces, QUEUES, Response, Vectorizer, Window,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::BusError;

/// Pages of each memory: elements read the first half and write the second.
const PAGES: u64 = 64;
const HALF: u64 = PAGES / 2 * PAGE;
const LINE: u64 = 64;

/// One of the two memories.
#[derive(Clone, Debug)]
pub struct Side {
    pub base: u64,
    pub bytes: Vec<u8>,
    /// Whole lines at which accesses fail. All that are written fail alike, so that it does not
    /// matter which one of a burst is the first.
    pub failures: Vec<(Range<u64>, BusError)>,
}

impl Side {
    fn drawn(random: &mut ChaCha8Rng, fails: bool) -> Self {
        let anywhere = random.random_range(PAGE..=u64::MAX - PAGES * PAGE);
        let nearer = anywhere >> random.random_range(0..44);
        let base = match random.random_range(0..8) {
            0 => 0x10_0000,
            1 => 0xFFFF_0000,
            2 => 0x7FFF_FFF0_0000,
            3 => nearer.next_multiple_of(PAGE),
            _ => anywhere.next_multiple_of(PAGE),
        };
        let mut bytes = vec![0; (PAGES * PAGE) as usize];
        random.fill_bytes(&mut bytes);
        let written_fail = error(random);
        let failures = (0..if fails { random.random_range(0..60) } else { 0 }).map(|_| {
            let line = base + random.random_range(0..PAGES * PAGE / LINE) * LINE;
            let error = if line < base + HALF { error(random) } else { written_fail };
            (line, error)
        });
        let by_line: BTreeMap<u64, BusError> = failures.collect();
        let failures = by_line.into_iter().map(|(line, error)| (line..line + LINE, error));
        let failures = failures.collect();
        Self { base, bytes, failures }
    }

    /// The worst response to accesses to the lines of these bytes.
    fn response(&self, address: u64, bytes: u64) -> Response {
        let lines = address / LINE * LINE..(address + bytes).next_multiple_of(LINE);
        let met = self
            .failures
            .iter()
            .filter(|(range, _)| range.start < lines.end && lines.start < range.end);
        let responses = met.map(|(_, error)| match error {
            BusError::SubordinateError => Response::SubordinateError,
            BusError::DecodeError => Response::DecodeError,
        });
        responses.max().unwrap_or_default()
    }

    fn range(&self, address: u64, bytes: u16) -> Range<usize> {
        let start = (address - self.base) as usize;
        start..start + usize::from(bytes)
    }
}

fn error(random: &mut ChaCha8Rng) -> BusError {
    if random.random() { BusError::SubordinateError } else { BusError::DecodeError }
}

/// What a test hands over, and to which memories.
#[derive(Clone, Debug)]
pub struct Scene {
    pub config: Config,
    pub host: Side,
    pub nic: Side,
    /// Elements by queue; each token is there once.
    pub commands: [Vec<Element>; QUEUES],
}

/// What kinds of elements a scene has.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    pub elements: u16,
    /// Some have wrong lengths or places, and some lines of memory fail.
    pub errors: bool,
    pub smallest: u16,
    pub largest: u16,
}

impl Kinds {
    /// Elements of all lengths.
    pub const fn all(elements: u16, errors: bool) -> Self {
        Self { elements, errors, smallest: 1, largest: LARGEST }
    }
}

impl Scene {
    pub fn drawn(seed: u64, kinds: Kinds) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let host = Side::drawn(&mut random, kinds.errors);
        let nic = Side::drawn(&mut random, kinds.errors);
        let window = |side: &Side| Window {
            first: side.base / PAGE + 1,
            last: side.base / PAGE + PAGES - 2,
        };
        let config = Config {
            idle_time: random.random_range(0..60),
            flush_time: random.random_range(0..150),
            host: window(&host),
            nic: window(&nic),
        };
        let mut scene = Self { config, host, nic, commands: Default::default() };
        let queues = [1, 3, 8][random.random_range(0..3)];
        // Where the next target may begin, by direction.
        let mut free = [HALF, HALF];
        // All are different, and each bit of them changes.
        let [first, step]: [u16; 2] = random.random();
        let token = |n: u16| first.wrapping_add(n.wrapping_mul(step | 1));
        for n in 0..kinds.elements {
            let element = scene.element(&mut random, token(n), kinds, &mut free);
            let Some(element) = element else { break };
            scene.commands[random.random_range(0..queues)].push(element);
        }
        for direction in Direction::ALL {
            let end = ((PAGES - 1) * PAGE).saturating_sub(free[direction as usize]);
            let bytes = length(&mut random).min(kinds.largest.min(end.min(PAGE) as u16));
            if bytes > 0 {
                let token = token(kinds.elements + direction as u16);
                let element = scene.at_the_ends(direction, token, bytes);
                scene.commands[random.random_range(0..queues)].push(element);
            }
        }
        scene
    }

    /// An element from the first byte of one window to the last one of the other.
    fn at_the_ends(&self, direction: Direction, token: u16, bytes: u16) -> Element {
        let first = |window: Window| window.first * PAGE;
        let last = |window: Window| (window.last + 1) * PAGE - u64::from(bytes);
        let Config { host, nic, .. } = self.config;
        let (host, nic) = match direction {
            Direction::Read => (first(host), last(nic)),
            Direction::Write => (last(host), first(nic)),
        };
        Element { token, direction, host, nic, bytes }
    }

    /// An element whose target no other one has; none when memory is used up.
    fn element(
        &self,
        random: &mut ChaCha8Rng,
        token: u16,
        kinds: Kinds,
        free: &mut [u64; 2],
    ) -> Option<Element> {
        let direction = Direction::ALL[random.random_range(0..2)];
        let bytes = length(random).clamp(kinds.smallest, kinds.largest);
        let free = &mut free[direction as usize];
        // Targets touch each other or share a line; some are moved to the end of a page.
        let gap = [0, 0, 1, random.random_range(0..130)][random.random_range(0..4)];
        let mut target = *free + gap;
        let to_end = PAGE - target % PAGE;
        if to_end < 1024 && random.random_ratio(1, 3) {
            target += to_end - random.random_range(1..=to_end.min(100));
        }
        *free = target + u64::from(bytes);
        if *free > (PAGES - 1) * PAGE {
            return None;
        }
        let bytes_64 = u64::from(bytes);
        let source = match random.random_range(0..4) {
            0 => random.random_range(1..PAGES / 2) * PAGE - random.random_range(0..300),
            1 => random.random_range(64..HALF / LINE - 64) * LINE + target % LINE,
            _ => random.random_range(PAGE..HALF - bytes_64),
        };
        let source = source.clamp(PAGE, HALF - bytes_64);
        let (host, nic) = match direction {
            Direction::Read => (source, target),
            Direction::Write => (target, source),
        };
        let (host, nic) = (self.host.base + host, self.nic.base + nic);
        let element = Element { token, direction, host, nic, bytes };
        let wrong = kinds.errors && random.random_ratio(1, 10);
        Some(if wrong { self.spoiled(random, element) } else { element })
    }

    /// The element with a wrong length or place.
    fn spoiled(&self, random: &mut ChaCha8Rng, element: Element) -> Element {
        let past_end = |window: Window| (window.last + 1) * PAGE - u64::from(element.bytes) + 1;
        // A bit that takes an address far from its window.
        let bit = 1 << random.random_range((PAGES * PAGE).trailing_zeros()..64);
        match random.random_range(0..8) {
            0 => Element { bytes: 0, ..element },
            1 => Element { bytes: LARGEST + 1, ..element },
            2 => Element { bytes: random.random_range(LARGEST + 1..=u16::MAX), ..element },
            3 => Element { host: random.random(), ..element },
            4 if random.random() => Element { host: past_end(self.config.host), ..element },
            4 => Element { nic: past_end(self.config.nic), ..element },
            5 => Element { host: element.host ^ bit, ..element },
            6 => Element { nic: element.nic ^ bit, ..element },
            _ => Element { nic: self.nic.base + random.random_range(0..PAGE), ..element },
        }
    }

    pub fn elements(&self) -> impl Iterator<Item = (usize, &Element)> {
        self.commands
            .iter()
            .enumerate()
            .flat_map(|(queue, all)| all.iter().map(move |e| (queue, e)))
    }

    /// The response that an element has to end with.
    pub fn response(&self, element: &Element) -> Response {
        if let Some(refusal) = Vectorizer::new(self.config).refusal(element) {
            return refusal;
        }
        let pieces = Pieces::of(element).map(|piece| {
            let host = self.host.response(piece.host, piece.bytes);
            let nic = self.nic.response(piece.nic, piece.bytes);
            let (read, written) = match element.direction {
                Direction::Read => (host, nic),
                Direction::Write => (nic, host),
            };
            if read == Response::Okay { written } else { read }
        });
        pieces.max().unwrap_or_default()
    }

    /// The bytes that an element copies.
    pub fn source(&self, element: &Element) -> &[u8] {
        match element.direction {
            Direction::Read => &self.host.bytes[self.host.range(element.host, element.bytes)],
            Direction::Write => &self.nic.bytes[self.nic.range(element.nic, element.bytes)],
        }
    }

    /// Compares both memories with what they have to hold at the end. Where an element failed, each
    /// byte is the old one or the new one.
    pub fn compare(&self, host: &[u8], nic: &[u8]) -> Result<(), String> {
        let mut expected = [self.host.bytes.clone(), self.nic.bytes.clone()];
        let mut either = [vec![false; host.len()], vec![false; nic.len()]];
        for (_, element) in self.elements() {
            if Vectorizer::new(self.config).refusal(element).is_some() {
                continue;
            }
            let (side, range) = match element.direction {
                Direction::Read => (1, self.nic.range(element.nic, element.bytes)),
                Direction::Write => (0, self.host.range(element.host, element.bytes)),
            };
            expected[side][range.clone()].copy_from_slice(self.source(element));
            if self.response(element) != Response::Okay {
                either[side][range].fill(true);
            }
        }
        let sides = [("host", host, &self.host), ("NIC", nic, &self.nic)];
        for (n, (name, found, before)) in sides.into_iter().enumerate() {
            let right = |at: usize| {
                found[at] == expected[n][at] || either[n][at] && found[at] == before.bytes[at]
            };
            if let Some(at) = (0..found.len()).find(|at| !right(*at)) {
                let (found, expected) = (found[at], expected[n][at]);
                let address = before.base + at as u64;
                return Err(format!(
                    "byte 0x{address:X} of {name} memory: {found:#x}, expected {expected:#x}"
                ));
            }
        }
        Ok(())
    }
}

fn length(random: &mut ChaCha8Rng) -> u16 {
    match random.random_range(0..8) {
        0..3 => random.random_range(1..=64),
        3 | 4 => [64, 128, 256][random.random_range(0..3)],
        5 | 6 => random.random_range(1..=320),
        _ => [4096, random.random_range(1..=4096)][random.random_range(0..2)],
    }
}
