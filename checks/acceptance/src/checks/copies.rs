// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies in all directions, of all kinds of sizes and alignments, move their bytes and no others.

use std::sync::Arc;

use driver::HostMemory;
use rand::{Rng, RngExt};

use crate::context::{CheckError, Context, Mapped, expect, expect_eq};
use crate::map;
use crate::options::Extent;
use crate::queue::{CARD_TO_HOST, HOST_TO_CARD, HOST_TO_HOST, Queue, Status, Submission};

/// Sizes at which something may change: words, lines, bursts, pages.
const EDGES: &[usize] = &[1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097];
/// Offsets likewise; 4095 crosses a page with the second byte.
const OFFSETS: &[usize] = &[0, 1, 63, 64, 4095];
const LARGEST: usize = 2 << 20;
/// Bytes before and after the destination that must stay.
const GUARD: usize = 64;
const GUARD_BYTE: u8 = 0xA5;
/// Room for offsets and guards beside the largest copy.
const MARGIN: usize = 8192;

/// One copy, between offsets in the check's regions.
#[derive(Clone, Copy, Debug)]
struct Case {
    opcode: u8,
    bytes: usize,
    from: usize,
    to: usize,
}

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let mut bench = Bench::new(context)?;
    let largest = bench.largest;
    let (mut copies, mut moved) = (0, 0);
    let edges = edges(largest);
    for case in edges {
        bench.copy(context, case)?;
        (copies, moved) = (copies + 1, moved + case.bytes);
    }
    for index in 0..context.options.cases {
        let full = context.options.extent == Extent::Full;
        // Sizes of all magnitudes; large ones take long to look at.
        let bits = context.random.random_range(0..if full { 22 } else { 18 });
        let bytes = (context.random.random_range(0..2usize << bits) + 1).min(largest);
        let opcode = [HOST_TO_CARD, CARD_TO_HOST, HOST_TO_HOST][index as usize % 3];
        let from = context.random.random_range(0..4096);
        let to = context.random.random_range(0..4096);
        bench.copy(context, Case { opcode, bytes, from, to })?;
        (copies, moved) = (copies + 1, moved + bytes);
    }
    let note = if largest < LARGEST { ", the largest that contiguous memory allows" } else { "" };
    Ok(format!(
        "{copies} copies in three directions, {moved} bytes, up to {largest} bytes each{note}"
    ))
}

/// Each edge at each offset, so that both ends meet all of them, and the largest at odd ones.
fn edges(largest: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for opcode in [HOST_TO_CARD, CARD_TO_HOST, HOST_TO_HOST] {
        for (index, &bytes) in EDGES.iter().enumerate().filter(|&(_, &bytes)| bytes <= largest) {
            for (turn, &from) in OFFSETS.iter().enumerate() {
                let to = OFFSETS[(index + turn) % OFFSETS.len()];
                cases.push(Case { opcode, bytes, from, to });
            }
        }
        cases.push(Case { opcode, bytes: largest, from: 1, to: 0 });
        cases.push(Case { opcode, bytes: largest, from: 0, to: 4093 });
    }
    cases
}

/// Where copies come from and go to.
struct Bench {
    queue: Queue,
    source: Mapped,
    /// What copies to the host write to, and where card memory is brought to be looked at.
    destination: Mapped,
    /// Card memory as this process sees it, where it may: a second opinion on copies to the card.
    window: Option<Arc<HostMemory>>,
    /// Where in card memory the place of the destination's byte 0 is.
    card: u64,
    largest: usize,
    data: Vec<u8>,
    identifier: u16,
}

impl Bench {
    fn new(context: &mut Context<'_>) -> Result<Self, CheckError> {
        let wanted = LARGEST + MARGIN;
        let (source, destination) = (context.memory(wanted)?, context.memory(wanted)?);
        let room = source.bytes().min(destination.bytes());
        // Where memory must be contiguous there may be one page; half of it is for offsets.
        let largest = if room < wanted { (room - 2 * GUARD) / 2 } else { LARGEST };
        let mut data = vec![0; room];
        context.random.fill_bytes(&mut data);
        source.memory.write(0, &data);
        let queue = Queue::open(context, map::COPY_QUEUE, 4)?;
        let window = context.backend.window(2)?;
        // Not from card address 0 on, so that an address without its upper bits would be found.
        let card = context.card_bytes()? / 2;
        Ok(Self { queue, source, destination, window, card, largest, data, identifier: 0 })
    }

    /// Performs a copy and looks at its destination and what is around it.
    fn copy(&mut self, context: &Context<'_>, case: Case) -> Result<(), CheckError> {
        let Case { opcode, bytes, from, to } = case;
        let most = self.data.len() - bytes - 2 * GUARD;
        let (from, to) = (from.min(most), GUARD + to.min(most));
        let (begin, around) = (to - GUARD, bytes + 2 * GUARD);
        let source = self.source.address + from as u64;
        let destination = self.destination.address + to as u64;
        let card = self.card + to as u64;
        let (around_destination, around_card) = (destination - GUARD as u64, card - GUARD as u64);

        self.destination.memory.write(begin, &vec![GUARD_BYTE; around]);
        match opcode {
            HOST_TO_CARD => {
                self.perform(context, HOST_TO_CARD, around_destination, around_card, around)?;
                self.perform(context, opcode, source, card, bytes)
            }
            CARD_TO_HOST => {
                self.perform(context, HOST_TO_CARD, source, card, bytes)?;
                self.perform(context, opcode, card, destination, bytes)
            }
            _ => self.perform(context, opcode, source, destination, bytes),
        }
        .map_err(|stop| named(stop, case))?;
        if opcode == HOST_TO_CARD {
            if let Some(window) = &self.window {
                let mut found = vec![0; around];
                window.read(around_card as usize, &mut found);
                self.compare(case, "card memory", &found, from)?;
            }
            self.destination.memory.write(begin, &vec![0; around]);
            self.perform(context, CARD_TO_HOST, around_card, around_destination, around)?;
        }
        self.compare(case, "the destination", &self.destination.copy_out(begin, around), from)
    }

    fn perform(
        &mut self,
        context: &Context<'_>,
        opcode: u8,
        source: u64,
        destination: u64,
        bytes: usize,
    ) -> Result<(), CheckError> {
        self.identifier = self.identifier.wrapping_add(0x101);
        let copy = Submission::copy(opcode, source, destination, bytes as u32);
        let copy = Submission { identifier: self.identifier, ..copy };
        let completion = self.queue.perform(context, copy)?;
        expect_eq(|| "status".into(), completion.status, Status::Done)?;
        expect(|| "bytes moved".into(), completion.bytes as usize, bytes)
    }

    /// The data is there, between its guards.
    fn compare(
        &self,
        case: Case,
        place: &str,
        found: &[u8],
        from: usize,
    ) -> Result<(), CheckError> {
        let (before, rest) = found.split_at(GUARD);
        let (middle, after) = rest.split_at(case.bytes);
        let parts = [
            ("before", before, &[GUARD_BYTE; GUARD][..]),
            ("within", middle, &self.data[from..from + case.bytes]),
            ("after", after, &[GUARD_BYTE; GUARD]),
        ];
        for (part, found, expected) in parts {
            if found == expected {
                continue;
            }
            let differs = |(found, expected): (&u8, &u8)| found != expected;
            let at = found.iter().zip(expected).position(differs).expect("they differ");
            let what = || format!("{case:?}: byte {at} {part} the data in {place}");
            expect(what, found[at], expected[at])?;
        }
        Ok(())
    }
}

/// Which copy it was that something went wrong with.
fn named(stop: CheckError, case: Case) -> CheckError {
    match stop {
        CheckError::Wrong(what) => CheckError::Wrong(format!("{case:?}: {what}")),
        other => other,
    }
}
