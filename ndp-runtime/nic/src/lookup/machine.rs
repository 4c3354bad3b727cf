// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request, from the index's first answer to its last, without memory.

use std::collections::VecDeque;

use crate::index::{self, DIRECTORY_BITS, Hint, Operation, Place};
use crate::scan::{self, Scan};

use super::counters::Counters;
use super::geometry::{Bucket, Geometry, Named};
use super::mutant::{Mutant, planted};
use super::request::{Answer, Content, Request, Status};
use tables::slot::LINE_BYTES;

/// What one read of a trip brings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Slots of the row: those from the home on, up to D_m.
    Row = 0,
    /// Slots of an overflow bucket.
    Bucket = 1,
    /// The word of the directory.
    Directory = 2,
}

/// A read of host memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Read {
    /// Of what.
    pub part: Part,
    /// Address of the first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// How its lines are scanned, with token 0; none for a word of the directory.
    pub scan: Option<Scan>,
}

impl Read {
    /// Addresses of the lines that it touches, in ascending order.
    pub fn lines(&self) -> impl Iterator<Item = u64> + use<> {
        let line = LINE_BYTES as u64;
        let first = self.address - self.address % line;
        let count = (self.address - first + u64::from(self.bytes)).div_ceil(line);
        (0..count).map(move |number| first + line * number)
    }
}

/// What has happened to a look-up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event<const WORDS: usize> {
    /// The index has answered the first request that it was asked and has not answered.
    Index(index::Answer<WORDS>),
    /// The slots of this part have been scanned.
    Scanned(Part, scan::Answer),
    /// The word of the directory has come.
    Word(u64),
    /// The read of this part has failed, and there is nothing to scan.
    Failed(Part),
}

/// What a look-up wants done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Action<const WORDS: usize> {
    /// Ask the index. Several requests are asked in their order.
    Index(index::Request<WORDS>),
    /// Read this all at once: one trip. At most one read of each part.
    Trip(Vec<Read>),
    /// Answer the request.
    Answer(Answer<WORDS>),
}

/// A request that is under way.
///
/// It begins with [`LookUp::new`], and ends when all that it asked for has been answered
/// ([`LookUp::is_over`]). In between it wants one trip at a time, or requests to the index.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LookUp<const WORDS: usize> {
    geometry: Geometry<WORDS>,
    request: Request<WORDS>,
    home: u32,
    stage: Stage,
    /// What the index was asked and has not answered.
    asked: VecDeque<Operation>,
    /// The answer so far: of the index, then with round trips.
    answer: Answer<WORDS>,
    place: Place,
    reading: Reading,
    /// The reading before, if it was whole: its word of the directory and its sum.
    before: Option<(u64, u32)>,
    /// The word of the directory that was read last.
    last_word: Option<u64>,
    /// Readings that have ended.
    readings: u8,
    trip: Trip,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// The index has not answered.
    Asked,
    /// First reading: the slots that the index named.
    Hinted,
    /// First reading: the bucket that the index named.
    Bucket,
    /// First reading: the rest of the row, and the word of the directory. Or another reading.
    All,
    /// The answer is given. The index may have been told of what was seen.
    Answered,
}

/// Slots in a row that a reading has to read, and those that it has asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Span {
    next: u32,
    end: u32,
}

/// What a reading has seen, and what it has still to ask for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Reading {
    row: Span,
    /// The bucket that it reads, if any.
    bucket: Option<Bucket>,
    bucket_slots: Span,
    wants_word: bool,
    word: Option<u64>,
    /// Of the stamps, modulo 2³².
    sum: u32,
    /// A slot was torn, or a word named a bucket outside the area.
    is_disturbed: bool,
}

/// What the reads of a trip have brought.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Trip {
    /// By part.
    awaited: [bool; 3],
    found: Option<(Part, scan::Answer)>,
    has_failed: bool,
}

impl<const WORDS: usize> LookUp<WORDS> {
    /// Begins a request, and says what to ask the index for.
    pub fn new(geometry: Geometry<WORDS>, request: Request<WORDS>) -> (Self, Action<WORDS>) {
        let Request { key, token, operation, owner, epoch, version, value, hint } = request;
        let home = geometry.home(key);
        let segment = geometry.segment(home);
        let asked =
            index::Request { operation, key, home, segment, owner, version, value, epoch, hint };
        let look_up = LookUp {
            geometry,
            request,
            home,
            stage: Stage::Asked,
            asked: VecDeque::from([operation]),
            answer: Answer::refused(token, index::Status::OutOfRange),
            place: Place::default(),
            reading: Reading::default(),
            before: None,
            last_word: None,
            readings: 0,
            trip: Trip::default(),
        };
        (look_up, Action::Index(asked))
    }

    /// The request.
    pub const fn request(&self) -> &Request<WORDS> {
        &self.request
    }

    /// The table.
    pub const fn geometry(&self) -> &Geometry<WORDS> {
        &self.geometry
    }

    /// Whether all is done: the request is answered, and the index has answered what it was told.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Answered && self.asked.is_empty()
    }

    /// Goes on after an event.
    ///
    /// # Panics
    /// When nothing of the kind was awaited.
    pub fn take(&mut self, event: Event<WORDS>, counters: &mut Counters) -> Vec<Action<WORDS>> {
        match event {
            Event::Index(answer) => return self.take_index(&answer, counters),
            Event::Scanned(part, answer) => self.take_scan(part, answer),
            Event::Word(word) => {
                self.arrived(Part::Directory);
                self.reading.word = Some(word);
                self.last_word = Some(word);
                self.note_outside(word);
            }
            Event::Failed(part) => {
                self.arrived(part);
                self.trip.has_failed = true;
            }
        }
        if self.trip.awaited.contains(&true) { Vec::new() } else { self.end_trip(counters) }
    }

    fn take_index(
        &mut self,
        answer: &index::Answer<WORDS>,
        counters: &mut Counters,
    ) -> Vec<Action<WORDS>> {
        let operation = self.asked.pop_front().expect("the index answers what it was asked");
        if self.stage != Stage::Asked {
            counters.told(operation == Operation::Fill, answer.status);
            return Vec::new();
        }
        let locks = operation == Operation::LockAndRead;
        let is_look_up = locks || operation == Operation::LookUp;
        counters.indexed(is_look_up, answer.status);
        let is_granted = matches!(answer.status, index::Status::Done | index::Status::Miss);
        let found = answer.found;
        self.answer = Answer {
            token: self.request.token,
            status: Status::Index(answer.status),
            content: found.and_then(|found| found.content).map(|content| self.cached(content)),
            has_lock: locks && is_granted,
            trips: 0,
            owner: found.and_then(|found| found.owner).unwrap_or_default(),
            epoch: answer.epoch,
        };
        if !is_look_up || answer.status != index::Status::Miss {
            self.stage = Stage::Answered;
            return vec![Action::Answer(self.answer)];
        }
        self.place = answer.place;
        self.stage = Stage::Hinted;
        self.reading.row.end = answer.place.slots.into();
        self.next_trip(counters)
    }

    fn cached(&self, (version, value): (u32, [u64; WORDS])) -> Content<WORDS> {
        let length = self.geometry.settings().value_bytes;
        Content { version, value, length, is_cached: true, is_out_of_line: false }
    }

    fn arrived(&mut self, part: Part) {
        let was_awaited = std::mem::take(&mut self.trip.awaited[part as usize]);
        assert!(was_awaited, "{part:?} was not awaited in {self:?}");
    }

    fn take_scan(&mut self, part: Part, answer: scan::Answer) {
        self.arrived(part);
        self.reading.sum = self.reading.sum.wrapping_add(answer.sum);
        self.reading.is_disturbed |= answer.torn && !planted(Mutant::TornIsWhole);
        match answer.status {
            scan::Status::Found if part == Part::Row || self.trip.found.is_none() => {
                self.trip.found = Some((part, answer));
            }
            scan::Status::Error => self.trip.has_failed = true,
            _ => {}
        }
    }

    fn note_outside(&mut self, word: u64) {
        let is_outside = self.geometry.named(word) == Named::Outside;
        self.reading.is_disturbed |= is_outside && !planted(Mutant::OutsideIsNone);
    }

    fn end_trip(&mut self, counters: &mut Counters) -> Vec<Action<WORDS>> {
        match self.trip.found {
            Some((part, found)) => self.found(part, &found, counters),
            None if self.trip.has_failed => self.end(Status::NotRead, None, counters),
            None => self.next_trip(counters),
        }
    }

    /// Asks for what the reading has still to read; if that is nothing, goes on behind it.
    fn next_trip(&mut self, counters: &mut Counters) -> Vec<Action<WORDS>> {
        loop {
            let reads = self.reads();
            if !reads.is_empty() {
                return vec![self.begin_trip(reads, counters)];
            }
            match self.stage {
                Stage::Hinted => {
                    counters.short_hints += 1;
                    let bucket = self.geometry.named(self.place.directory).bucket();
                    self.note_outside(self.place.directory);
                    self.read_bucket(bucket);
                    self.stage = Stage::Bucket;
                }
                Stage::Bucket => {
                    self.stage = Stage::All;
                    self.read_all_of_row();
                }
                Stage::All => {
                    if let Some(end) = self.end_reading(counters) {
                        return self.end(end, None, counters);
                    }
                }
                Stage::Asked | Stage::Answered => unreachable!("no trip is made then"),
            }
        }
    }

    fn read_bucket(&mut self, bucket: Option<Bucket>) {
        self.reading.bucket = bucket;
        self.reading.bucket_slots = Span { next: 0, end: bucket.map_or(0, Bucket::slots) };
    }

    fn read_all_of_row(&mut self) {
        self.reading.wants_word = true;
        if planted(Mutant::RestSkipped) {
            self.reading.row.end = self.place.slots.into();
            return;
        }
        self.reading.row.end = u32::from(self.geometry.table().limit()) + 1;
    }

    /// What to ask for in the next trip; the reading takes it as read.
    fn reads(&mut self) -> Vec<Read> {
        let row = self.take_slots(Part::Row);
        let bucket = self.take_slots(Part::Bucket);
        let wants_word = std::mem::take(&mut self.reading.wants_word);
        let word = wants_word.then(|| {
            let segment = self.geometry.segment(self.home);
            let address = self.geometry.directory_address(segment);
            Read { part: Part::Directory, address, bytes: 8, scan: None }
        });
        [row, bucket, word].into_iter().flatten().collect()
    }

    /// The next slots of the row or of the bucket that one read brings.
    fn take_slots(&mut self, part: Part) -> Option<Read> {
        let geometry = self.geometry;
        let (span, base) = match part {
            Part::Row => (&mut self.reading.row, self.place.address),
            _ => {
                let base = geometry.bucket_address(self.reading.bucket?);
                (&mut self.reading.bucket_slots, base)
            }
        };
        let Span { next, end } = *span;
        if next == end {
            return None;
        }
        let address = base + u64::from(next) * geometry.slot_bytes();
        let slots = geometry.fitting(address, end - next);
        span.next = if planted(Mutant::OneReadIsEnough) { end } else { next + u32::from(slots) };
        let scan = Scan {
            token: 0,
            key: self.request.key,
            first_word: (address % LINE_BYTES as u64 / 8) as u8,
            slots,
            displacement: next as u16,
            limit: geometry.table().limit().into(),
            is_overflow: part == Part::Bucket,
            sum: 0,
            torn: false,
        };
        let bytes = u32::from(slots) * u32::from(geometry.table().slot_bytes());
        Some(Read { part, address, bytes, scan: Some(scan) })
    }

    fn begin_trip(&mut self, reads: Vec<Read>, counters: &mut Counters) -> Action<WORDS> {
        self.trip = Trip::default();
        self.answer.trips = self.answer.trips.saturating_add(1);
        counters.trips += 1;
        for read in &reads {
            self.trip.awaited[read.part as usize] = true;
            counters.reads += 1;
            counters.slots_read += read.scan.map_or(0, |scan| scan.slots.into());
            counters.bytes_read += u64::from(read.bytes);
        }
        Action::Trip(reads)
    }

    /// Ends a reading that has not found the key, and begins another one, unless the look-up ends with this
    /// status.
    fn end_reading(&mut self, counters: &mut Counters) -> Option<Status> {
        let Reading { bucket, word, sum, is_disturbed, .. } = self.reading;
        let word = word.expect("each reading reads the word of the directory");
        let named = self.geometry.named(word).bucket();
        let is_same_bucket = bucket == named || planted(Mutant::AnyBucketIsWhole);
        let is_whole = !is_disturbed && is_same_bucket;
        counters.disturbed_readings += u64::from(!is_whole);
        if is_whole && self.is_confirmed(word, sum) {
            return Some(Status::Absent);
        }
        if is_whole || !planted(Mutant::OldReadingConfirms) {
            self.before = is_whole.then_some((word, sum));
        }
        self.readings += 1;
        if self.readings >= self.geometry.settings().most_readings {
            return Some(Status::GaveUp);
        }
        counters.repeated_readings += 1;
        self.reading = Reading::default();
        self.read_all_of_row();
        let old = self.geometry.named(self.place.directory).bucket();
        self.read_bucket(if planted(Mutant::OldBucketReadAgain) { old } else { named });
        None
    }

    /// Whether a whole reading shows what the one before has shown. Then nothing was written between them: the
    /// word of the directory has a stamp, and the sum of the slots' stamps only grows.
    fn is_confirmed(&self, word: u64, sum: u32) -> bool {
        if planted(Mutant::NoConfirmation) {
            return true;
        }
        self.before.is_some_and(|(before, before_sum)| {
            let low = |word| word & ((1 << DIRECTORY_BITS) - 1);
            let same =
                before == word || planted(Mutant::StampsNotCompared) && low(before) == low(word);
            same && (before_sum == sum || planted(Mutant::SumsNotCompared))
        })
    }

    fn found(
        &mut self,
        part: Part,
        found: &scan::Answer,
        counters: &mut Counters,
    ) -> Vec<Action<WORDS>> {
        let mut value = [0; WORDS];
        value.copy_from_slice(&found.value[..WORDS]);
        let content = Content {
            version: found.meta.version(),
            value,
            length: found.meta.length() as u16,
            is_cached: false,
            is_out_of_line: found.meta.is_pointer(),
        };
        self.answer.content = Some(content);
        let seen = Seen { content, part, displacement: found.displacement };
        self.end(Status::DONE, Some(seen), counters)
    }

    /// Answers, and tells the index of what was seen.
    fn end(
        &mut self,
        status: Status,
        seen: Option<Seen<WORDS>>,
        counters: &mut Counters,
    ) -> Vec<Action<WORDS>> {
        let in_bucket = seen.is_some_and(|seen| seen.part == Part::Bucket);
        counters.ended(status, in_bucket);
        self.stage = Stage::Answered;
        self.answer.status = status;
        let told = [self.word_to_tell(), seen.and_then(|seen| self.object_to_tell(&seen))];
        let told = told.into_iter().flatten().inspect(|told| self.asked.push_back(told.operation));
        let mut actions = vec![Action::Answer(self.answer)];
        actions.extend(told.map(Action::Index));
        actions
    }

    /// The word of the directory, if it names another bucket than the index knows.
    fn word_to_tell(&self) -> Option<index::Request<WORDS>> {
        let word = self.last_word?;
        let named = self.geometry.named(word);
        if named == Named::Outside || named == self.geometry.named(self.place.directory) {
            return None;
        }
        let directory = Some(word & ((1 << DIRECTORY_BITS) - 1));
        let hint = Hint { displacement: 0, is_exact: false, directory };
        Some(index::Request { hint, ..self.to_index(Operation::SetHint) })
    }

    /// The object, if it is of the kind that is cached; or else how far it lies from its home.
    fn object_to_tell(&self, seen: &Seen<WORDS>) -> Option<index::Request<WORDS>> {
        let Seen { content, part, displacement } = *seen;
        let displacement = if part == Part::Bucket { 0 } else { displacement as u8 };
        let hint = Hint { displacement, is_exact: false, directory: None };
        let is_cacheable =
            !content.is_out_of_line && content.length == self.geometry.settings().value_bytes;
        match part {
            _ if is_cacheable => Some(index::Request {
                hint,
                version: content.version,
                value: content.value,
                epoch: self.answer.epoch,
                ..self.to_index(Operation::Fill)
            }),
            Part::Bucket => None,
            _ => Some(index::Request { hint, ..self.to_index(Operation::SetHint) }),
        }
    }

    fn to_index(&self, operation: Operation) -> index::Request<WORDS> {
        let segment = self.geometry.segment(self.home);
        index::Request::new(operation, self.request.key, self.home, segment)
    }
}

/// An object as a scan has found it.
#[derive(Clone, Copy, Debug)]
struct Seen<const WORDS: usize> {
    content: Content<WORDS>,
    part: Part,
    displacement: u16,
}
