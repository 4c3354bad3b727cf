// SPDX-License-Identifier: MIT OR Apache-2.0
//! The legal behaviour of the device with a queue from one enablement to the next: rings,
//! phases, statuses and counts (docs/device.md), without memory, registers or clock. It
//! observes the device's ports, in order, and reports violations.

use std::collections::{BTreeSet, VecDeque};

use sim::bus::axi4::{AccessKind, MemoryAccess};

/// The requests of a queue's submissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Copy,
    Lock,
    Job,
    LookUp,
}

/// Where the rings are.
#[derive(Clone, Copy, Debug)]
pub struct Rings {
    pub submissions: u64,
    pub completions: u64,
    pub log2_entries: u32,
}

impl Rings {
    pub fn entries(&self) -> usize {
        1 << self.log2_entries
    }

    pub fn submission(&self, count: usize) -> u64 {
        self.submissions + 64 * (count % self.entries()) as u64
    }

    pub fn completion(&self, count: usize) -> u64 {
        self.completions + 16 * (count % self.entries()) as u64
    }
}

/// A completion that the device has stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    pub word0: u64,
    pub word1: u64,
    /// Its submission wanted an interrupt.
    pub wants_interrupt: bool,
}

/// The end of a move or a job that the device has taken: the words of its completion, without the
/// phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct End {
    word0: u64,
    word1: u64,
    wants_interrupt: bool,
}

/// The status with which a submission ends at once, if it does.
pub fn refusal(kind: Kind, words: &[u64; 8]) -> Option<u8> {
    let (opcode, length) = (words[0] >> 16 & 0xFF, words[0] >> 32);
    match kind {
        Kind::Copy if !(1..=3).contains(&opcode) => Some(1),
        Kind::Copy if length == 0 || length > 1 << 30 => Some(2),
        Kind::Lock if opcode != 1 => Some(1),
        Kind::Job if !(1..=5).contains(&opcode) => Some(1),
        Kind::LookUp if !(1..=2).contains(&opcode) => Some(1),
        Kind::Copy | Kind::Lock | Kind::Job | Kind::LookUp => None,
    }
}

/// One enablement.
#[derive(Clone, Debug)]
pub struct Oracle {
    pub kind: Kind,
    pub rings: Rings,
    /// All that was written into the submission ring.
    written: Vec<[u64; 8]>,
    /// How many of them the doorbell has told.
    rung: usize,
    /// How many the device has asked for.
    pub asked: usize,
    /// Completions consumed, as the device was told.
    told: usize,
    /// Of a completion whose word 0 is to come: word 1.
    half: Option<u64>,
    /// The stores of the device.
    pub stored: Vec<Completion>,
    /// The next submission that may be refused, or become a move or a job.
    next_refused: usize,
    next_begun: usize,
    /// Ends that were not completed.
    ended: VecDeque<End>,
    /// Look-ups that were completed.
    looked_up: BTreeSet<usize>,
}

impl Oracle {
    pub fn new(kind: Kind, rings: Rings) -> Self {
        Oracle {
            kind,
            rings,
            written: Vec::new(),
            rung: 0,
            asked: 0,
            told: 0,
            half: None,
            stored: Vec::new(),
            next_refused: 0,
            next_begun: 0,
            ended: VecDeque::new(),
            looked_up: BTreeSet::new(),
        }
    }

    /// Software has written a submission.
    pub fn write(&mut self, words: [u64; 8]) {
        self.written.push(words);
    }

    /// Software is about to ring the doorbell for all that it has written.
    pub fn ring(&mut self) {
        self.rung = self.written.len();
    }

    /// Software is about to tell that it has consumed so many completions.
    pub fn consumed(&mut self, completions: usize) {
        self.told = completions;
    }

    pub fn written(&self) -> usize {
        self.written.len()
    }

    /// Submissions that the device has asked for and that end at once, beyond those completed.
    pub fn refusals_open(&self) -> usize {
        let asked = &self.written[..self.asked];
        asked[self.next_refused.min(self.asked)..]
            .iter()
            .filter(|words| refusal(self.kind, words).is_some())
            .count()
    }

    /// The device makes an access to the rings.
    pub fn access(&mut self, access: &MemoryAccess) -> Result<(), String> {
        let found = format!("access {:#x} {:?}", access.address, access.kind);
        match access.kind {
            AccessKind::ReadLine { keep_copy: false } => {
                let expected = self.rings.submission(self.asked);
                if self.asked == self.rung || access.address != expected {
                    let (asked, rung) = (self.asked, self.rung);
                    return Err(format!("{found}, expected {expected:#x}: {asked} of {rung} read"));
                }
                self.asked += 1;
                Ok(())
            }
            AccessKind::Store { value, strobe: 0xFF } => self.store(access.address, value, &found),
            _ => Err(format!("{found}, expected reads of lines and stores of words")),
        }
    }

    fn store(&mut self, address: u64, value: u64, found: &str) -> Result<(), String> {
        let count = self.stored.len();
        if count - self.told >= self.rings.entries() {
            return Err(format!("{found}: completion {count}, but {} are consumed", self.told));
        }
        let place = self.rings.completion(count);
        let Some(word1) = self.half else {
            if address != place + 8 {
                return Err(format!("{found}, expected word 1 of completion {count} first"));
            }
            self.half = Some(value);
            return Ok(());
        };
        if address != place {
            return Err(format!("{found}, expected word 0 of completion {count}"));
        }
        let phase = (count >> self.rings.log2_entries & 1 == 0) as u64;
        if value >> 24 & 0xFF != phase {
            return Err(format!("{found}: completion {count} has not phase {phase}"));
        }
        let wants_interrupt = self.complete(value, word1).ok_or_else(|| {
            format!("{found}: nobody expects {word1:#x} with it; ended: {:?}", self.ended.front())
        })?;
        self.half = None;
        self.stored.push(Completion { word0: value, word1, wants_interrupt });
        Ok(())
    }

    /// Finds what the completion is for; whether it wants an interrupt.
    fn complete(&mut self, word0: u64, word1: u64) -> Option<bool> {
        let fields = word0 & !(0xFF << 24);
        if let Some(refused) = self.first_refused()
            && let words = self.written[refused]
            && let Some(status) = refusal(self.kind, &words)
            && fields == words[0] & 0xFFFF | u64::from(status) << 16
            && word1 == 0
        {
            self.next_refused = refused + 1;
            return Some(self.kind == Kind::Lock || words[0] >> 24 & 1 == 1);
        }
        if self.kind == Kind::Lock {
            // Which responses come, the lock unit's own tests know.
            return (fields == word1 & 0x7F).then_some(true);
        }
        if self.kind == Kind::LookUp {
            return self.look_up_done(fields);
        }
        let end = *self.ended.front()?;
        if (end.word0, end.word1) != (fields, word1) {
            return None;
        }
        self.ended.pop_front();
        Some(end.wants_interrupt)
    }

    /// Finds the open look-up with the identifier of a completion, whose status must be one of the unit's.
    /// Which one, and which value, those know that asked.
    fn look_up_done(&mut self, fields: u64) -> Option<bool> {
        let open = |index: &usize| {
            let words = &self.written[*index];
            refusal(self.kind, words).is_none() && !self.looked_up.contains(index)
        };
        let named = |index: &usize| self.written[*index][0] & 0xFFFF == fields & 0xFFFF;
        let index = (0..self.asked).filter(open).find(named)?;
        if !matches!(fields >> 16 & 0xFF, 0 | 0x41..=0x50) {
            return None;
        }
        self.looked_up.insert(index);
        Some(self.written[index][0] >> 24 & 1 == 1)
    }

    fn first_refused(&self) -> Option<usize> {
        let refused = |index: &usize| refusal(self.kind, &self.written[*index]).is_some();
        (self.next_refused..self.asked).find(refused)
    }

    /// The next submission that is not refused.
    fn next_good(&self) -> Option<usize> {
        let good = |index: &usize| refusal(self.kind, &self.written[*index]).is_none();
        (self.next_begun..self.asked).find(good)
    }

    /// The device commands a move; gives the number of its submission, or says why none fits.
    pub fn command(&mut self, beat: &[u64; 3]) -> Result<usize, String> {
        let next = self.next_good();
        let index =
            next.ok_or_else(|| format!("move {beat:x?}, but no submission asks for one"))?;
        let words = self.written[index];
        let expected = words[0] >> 16 & 0xFF | words[0] >> 32 << 16;
        let found = beat[0] >> 16 & 0xFFFF | beat[0] >> 32 << 16;
        if (found, beat[1], beat[2]) != (expected, words[1], words[2]) {
            return Err(format!("move {beat:x?}, expected that of submission {words:x?}"));
        }
        self.next_begun = index + 1;
        Ok(index)
    }

    /// The device has taken the end of a move.
    pub fn end(&mut self, index: usize, status: u8, bytes: u32) {
        let words = self.written[index];
        let word0 = words[0] & 0xFFFF | u64::from(status) << 16 | u64::from(bytes) << 32;
        let wants_interrupt = words[0] >> 24 & 1 == 1;
        self.ended.push_back(End { word0, word1: 0, wants_interrupt });
    }

    /// The device hands a job over; gives the number of its submission, or says why none fits.
    pub fn begin_job(&mut self, beat: &[u64; 8]) -> Result<usize, String> {
        let next = self.next_good();
        let index = next.ok_or_else(|| format!("job {beat:x?}, but no submission is one"))?;
        let mut expected = self.written[index];
        // Those bits mean nothing.
        expected[0] &= !0xFE00_0000;
        if *beat != expected {
            return Err(format!("job {beat:x?}, expected {expected:x?}"));
        }
        self.next_begun = index + 1;
        Ok(index)
    }

    /// The device has taken the answer to a job.
    pub fn end_job(&mut self, [word0, word1]: [u64; 2]) {
        let wants_interrupt = word0 >> 24 & 1 == 1;
        self.ended.push_back(End { word0: word0 & !(0xFF << 24), word1, wants_interrupt });
    }

    /// Interrupts that the first `completions` want.
    pub fn interrupts(&self, completions: usize) -> u64 {
        self.stored[..completions].iter().filter(|one| one.wants_interrupt).count() as u64
    }
}
