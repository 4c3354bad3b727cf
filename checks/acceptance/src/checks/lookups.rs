// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys that the device looks up in a table of the host: every kind of request and of answer, settings and
//! requests that are refused, and that the unit goes on after each.

use std::fs::File;

use driver::Interrupt;
use driver::map::nic_lookup::{
    self as unit, CONTROL, DIRECTORY_BASE, INDEX_BASE, LIMIT, LOOK_UPS, LookupSetting, MORE,
    MOST_READINGS, OVERFLOW_BASE, OVERFLOW_SLOTS, RETURN, SEGMENT_SHIFT, SEGMENTS, SETTINGS_ERROR,
    SLOTS, TABLE_BASE, VALUE_BYTES,
};
use tables::memory::AtomicMemory;
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::{RemoteTable, Table, Values, Walk};

use super::bad_commands::unmapped;
use super::interrupts::{enable_all, nothing_more, wait};
use crate::context::{CheckError, Context, Mapped, expect, expect_eq};
use crate::map;
use crate::queue::{Completion, HOST_TO_CARD, Queue, Status, Submission};

/// Opcodes: what the answer shows.
const VALUE: u8 = 1;
const PARTICULARS: u8 = 2;

/// Operations, as docs/nic-lookup.md numbers them.
const LOOK_UP: u64 = 0;
const LOCK_AND_READ: u64 = 1;
const VALIDATE: u64 = 2;
const UPDATE_AND_PIN: u64 = 4;
const UNPIN: u64 = 5;
const UNLOCK: u64 = 6;
const EVICT: u64 = 7;

/// Statuses of completions, as docs/device.md has them.
const MISS: Status = Status::Unknown(0x41);
const LOCKED: Status = Status::Unknown(0x42);
const NOT_LOCKED: Status = Status::Unknown(0x43);
const CHANGED: Status = Status::Unknown(0x44);
const UNKNOWN: Status = Status::Unknown(0x45);
const PINNED: Status = Status::Unknown(0x47);
const NOT_PINNED: Status = Status::Unknown(0x49);
const OUT_OF_RANGE: Status = Status::Unknown(0x4B);
const ABSENT: Status = Status::Unknown(0x4D);
const NOT_READ: Status = Status::Unknown(0x4F);
const OUT_OF_LINE: Status = Status::Unknown(0x50);

/// The table is within a page, for devices that reach no more in one piece. Its rows are full, so that objects
/// lie in overflow buckets.
const KEYS: u64 = 24;
const SHAPE: Shape = Shape {
    slots: 20,
    limit: Some(3),
    segment: 4,
    overflow_slots: 32,
    values: Values { inline_bytes: 16, longest: 100, heap_lines: 8 },
};
/// Keys with a value out of line, and without an object.
const LONG: u64 = 1000;
const NOWHERE: u64 = 2000;
/// Where the index lies in the card's memory, and how much of that is cleared.
const INDEX: u64 = 0x8000;
const INDEX_BYTES: usize = 4096;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let vectors = enable_all(context)?;
    let mut scene = Scene::new(context)?;
    let refused = scene.refused_settings(context)?;
    scene.configure(context, scene.memory.address)?;
    scene.look_ups(context)?;
    scene.locks(context)?;
    scene.pins(context)?;
    scene.changes(context)?;
    let together = scene.at_once(context)?;
    scene.unknown(context)?;
    scene.unmapped(context)?;
    scene.interrupts(context, &vectors)?;
    let counted = scene.read(context, LOOK_UPS.offset())?;
    expect(|| "look-ups counted by the unit".into(), counted, scene.look_ups)?;
    Ok(format!(
        "{} requests, {together} at once: rows, buckets, absence, locks, pins, evictions; {refused} \
         settings refused; unmapped tables",
        scene.sent
    ))
}

struct Scene {
    memory: Mapped,
    table: RobinHoodTable<AtomicMemory>,
    queue: Queue,
    sent: u32,
    /// Look-ups and lock-and-reads among them.
    look_ups: u32,
}

/// A request about a key, by an owner.
fn request(operation: u64, key: u64, owner: u64) -> Submission {
    let destination = operation << 16 | owner << 32;
    Submission { opcode: VALUE, source: key, destination, ..Submission::default() }
}

fn value(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Scene {
    /// A full table, an index of zeros, and the queue; the unit is off.
    fn new(context: &Context<'_>) -> Result<Self, CheckError> {
        let wrong = |error: String| CheckError::wrong(format!("the table: {error}"));
        let geometry = RobinHood::new(SHAPE).map_err(|error| wrong(error.to_string()))?;
        let memory = context.memory(8 * geometry.ground().words())?;
        // The same pages once more, as the table wants them.
        let file = memory.memory.file().try_clone_to_owned().map(File::from);
        let words = file.and_then(|file| AtomicMemory::of_file(&file));
        let words = words.map_err(|error| wrong(error.to_string()))?;
        let table = Table::new(geometry, words).map_err(|error| wrong(error.to_string()))?;
        for key in 0..KEYS {
            let inserted = table.insert(key, &value(key).to_le_bytes());
            inserted.map_err(|error| wrong(error.to_string()))?;
        }
        table.insert(LONG, &[0x5A; 100]).map_err(|error| wrong(error.to_string()))?;
        if table.statistics().overflowed == 0 {
            return Err(wrong("no object lies in an overflow bucket".into()));
        }
        let zeros = context.memory(INDEX_BYTES)?;
        let mut copies = Queue::open(context, map::COPY_QUEUE, 1)?;
        let copy = Submission::copy(HOST_TO_CARD, zeros.address, INDEX, INDEX_BYTES as u32);
        let cleared = copies.perform(context, copy)?;
        expect_eq(|| "status of the copy of zeros".into(), cleared.status, Status::Done)?;
        let queue = Queue::open(context, map::LOOK_UP_QUEUE, 4)?;
        Ok(Scene { memory, table, queue, sent: 0, look_ups: 0 })
    }

    fn read(&self, context: &Context<'_>, register: u32) -> Result<u32, CheckError> {
        Ok(context.read(map::LOOK_UP_UNIT + u64::from(register))?)
    }

    fn write(&self, context: &Context<'_>, register: u32, value: u64) -> Result<(), CheckError> {
        context.write(map::LOOK_UP_UNIT + u64::from(register), value as u32)?;
        let pairs = [TABLE_BASE, DIRECTORY_BASE, OVERFLOW_BASE, INDEX_BASE];
        if pairs.iter().any(|pair| pair.offset() == register) {
            context.write(map::LOOK_UP_UNIT + u64::from(register) + 4, (value >> 32) as u32)?;
        }
        Ok(())
    }

    /// All settings for the table, as if it lay at `base`.
    fn settings(&self, base: u64) -> [(u32, u64); 12] {
        let geometry = self.table.geometry();
        let address = |word: usize| base + 8 * word as u64;
        [
            (TABLE_BASE.offset(), base),
            (SLOTS.offset(), geometry.homes().into()),
            (LIMIT.offset(), geometry.limit().unwrap_or_default().into()),
            (MORE.offset(), 2),
            (SEGMENT_SHIFT.offset(), geometry.homes_in_segment().trailing_zeros().into()),
            (DIRECTORY_BASE.offset(), address(geometry.directory_word(0))),
            (OVERFLOW_BASE.offset(), address(geometry.overflow_word(0))),
            (OVERFLOW_SLOTS.offset(), geometry.overflow_slots().into()),
            (VALUE_BYTES.offset(), 8),
            (MOST_READINGS.offset(), 8),
            (INDEX_BASE.offset(), INDEX),
            (SEGMENTS.offset(), geometry.segments().into()),
        ]
    }

    /// Switches the unit off, tells it where the table is, and switches it on.
    fn configure(&self, context: &Context<'_>, base: u64) -> Result<(), CheckError> {
        self.write(context, CONTROL.offset(), 0)?;
        context.wait_for(
            || "RETURN of the look-up unit to be 0".into(),
            || Ok((self.read(context, RETURN.offset())? == 0).then_some(())),
        )?;
        for (register, value) in self.settings(base) {
            self.write(context, register, value)?;
        }
        self.write(context, CONTROL.offset(), 1)?;
        let control = self.read(context, CONTROL.offset())?;
        expect(|| "CONTROL of the look-up unit, enabled".into(), control, 1)
    }

    /// Each setting that does not fit keeps the unit off, and is named.
    fn refused_settings(&self, context: &Context<'_>) -> Result<usize, CheckError> {
        let base = self.memory.address;
        let segments = u64::from(self.table.geometry().segments());
        let refused = [
            (TABLE_BASE.offset(), base + 32, LookupSetting::TableBase),
            (SLOTS.offset(), 0, LookupSetting::Slots),
            (LIMIT.offset(), 64, LookupSetting::Limit),
            (MORE.offset(), 0, LookupSetting::More),
            (MORE.offset(), 65, LookupSetting::More),
            (SEGMENT_SHIFT.offset(), 32, LookupSetting::SegmentShift),
            (DIRECTORY_BASE.offset(), base + 8, LookupSetting::DirectoryBase),
            (OVERFLOW_BASE.offset(), base + 32, LookupSetting::OverflowBase),
            (VALUE_BYTES.offset(), 9, LookupSetting::ValueBytes),
            (MOST_READINGS.offset(), 1, LookupSetting::MostReadings),
            (MOST_READINGS.offset(), 256, LookupSetting::MostReadings),
            (INDEX_BASE.offset(), INDEX + 32, LookupSetting::IndexBase),
            (SEGMENTS.offset(), segments - 1, LookupSetting::Segments),
            (SEGMENTS.offset(), u32::MAX.into(), LookupSetting::Segments),
        ];
        for (register, value, setting) in refused {
            for (register, value) in self.settings(base) {
                self.write(context, register, value)?;
            }
            self.write(context, register, value)?;
            self.write(context, CONTROL.offset(), 1)?;
            let what = || format!("CONTROL of the look-up unit with {value:#x} at {register:#x}");
            expect(what, self.read(context, CONTROL.offset())?, 0)?;
            let what = || format!("SETTINGS_ERROR with {value:#x} at {register:#x}");
            expect(what, self.read(context, SETTINGS_ERROR.offset())?, setting as u32)?;
        }
        self.configure(context, base)?;
        // Nor do they change under a unit that is on.
        let slots = self.read(context, SLOTS.offset())?;
        self.write(context, SLOTS.offset(), u64::from(slots) + 1)?;
        expect(|| "SLOTS of an enabled unit".into(), self.read(context, SLOTS.offset())?, slots)?;
        Ok(refused.len())
    }

    /// Notes a request that the index answers.
    fn note(&mut self, submission: &Submission) {
        self.sent += 1;
        let operation = submission.destination >> 16 & 0xF;
        self.look_ups += u32::from(operation == LOOK_UP || operation == LOCK_AND_READ);
    }

    /// Makes a request, which must end so.
    fn ask(
        &mut self,
        context: &Context<'_>,
        submission: Submission,
        status: Status,
    ) -> Result<Completion, CheckError> {
        let submission = Submission { identifier: 0x100 + self.sent as u16, ..submission };
        self.note(&submission);
        let completion = self.queue.perform(context, submission)?;
        expect_eq(|| named(&submission), completion.status, status)?;
        Ok(completion)
    }

    /// A look-up that must find this version and value.
    fn finds(
        &mut self,
        context: &Context<'_>,
        key: u64,
        version: u32,
        value: u64,
    ) -> Result<(), CheckError> {
        let found = self.ask(context, request(LOOK_UP, key, 0), Status::Done)?;
        expect(|| format!("version of key {key}"), found.bytes, version)?;
        expect(|| format!("value of key {key}"), found.response, value)
    }

    fn look_ups(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        for key in (0..KEYS).chain(0..KEYS) {
            self.finds(context, key, 1, value(key))?;
        }
        self.ask(context, request(LOOK_UP, NOWHERE, 0), ABSENT)?;
        let long = self.ask(context, request(LOOK_UP, LONG, 0), OUT_OF_LINE)?;
        expect(|| "version of the long value".into(), long.bytes, 1)?;
        // Read from the host's memory, and then from the index.
        self.finds(context, 3, 1, value(3))?;
        self.ask(context, request(EVICT, 3, 0), Status::Done)?;
        for is_cached in [0, 1] {
            let particulars = Submission { opcode: PARTICULARS, ..request(LOOK_UP, 3, 0) };
            let told = self.ask(context, particulars, Status::Done)?.response;
            let what = |name: &str| format!("{name} of key 3, cached {is_cached}");
            expect(|| what("bytes of the value"), told & 0x1FF, 8)?;
            expect(|| what("flags"), told >> 52 & 0xF, 0b0100 | is_cached)?;
            expect_eq(|| what("absence of round trips"), told >> 56 == 0, is_cached == 1)?;
        }
        Ok(())
    }

    fn locks(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        let (key, absent) = (5, NOWHERE + 1);
        self.ask(context, request(LOCK_AND_READ, key, 1), Status::Done)?;
        for operation in [LOCK_AND_READ, LOOK_UP, UPDATE_AND_PIN, UNLOCK] {
            let refused = self.ask(context, request(operation, key, 2), LOCKED)?;
            let what = || format!("owner in the answer to operation {operation}");
            expect(what, refused.response, 1)?;
        }
        self.ask(context, request(LOCK_AND_READ, key, 1), Status::Done)?;
        self.ask(context, request(EVICT, key, 0), LOCKED)?;
        self.ask(context, request(UNLOCK, key, 1), Status::Done)?;
        self.ask(context, request(UNLOCK, key, 1), NOT_LOCKED)?;
        self.ask(context, request(LOCK_AND_READ, key, 2), Status::Done)?;
        self.ask(context, request(UNLOCK, key, 2), Status::Done)?;
        // There need be no object.
        self.ask(context, request(LOCK_AND_READ, absent, 1), ABSENT)?;
        self.ask(context, request(LOCK_AND_READ, absent, 2), LOCKED)?;
        self.ask(context, request(UNLOCK, absent, 1), Status::Done)?;
        self.ask(context, request(UNLOCK, absent, 1), UNKNOWN).map(drop)
    }

    fn pins(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        let key = 7;
        let update = Submission { third: 2, beat: [0x77, 0, 0], ..request(UPDATE_AND_PIN, key, 1) };
        self.finds(context, key, 1, value(key))?;
        self.ask(context, update, NOT_LOCKED)?;
        self.ask(context, request(LOCK_AND_READ, key, 1), Status::Done)?;
        self.ask(context, update, Status::Done)?;
        let validate = |version| Submission { third: version, ..request(VALIDATE, key, 1) };
        self.ask(context, validate(2), Status::Done)?;
        self.ask(context, validate(1), CHANGED)?;
        self.ask(context, request(UNLOCK, key, 1), Status::Done)?;
        self.finds(context, key, 2, 0x77)?;
        self.ask(context, request(EVICT, key, 0), PINNED)?;
        self.ask(context, request(UNPIN, key, 0), Status::Done)?;
        self.ask(context, request(UNPIN, key, 0), NOT_PINNED)?;
        self.ask(context, request(EVICT, key, 0), Status::Done)?;
        self.ask(context, request(EVICT, key, 0), UNKNOWN)?;
        self.ask(context, validate(1), MISS)?;
        // The host never had the new value.
        self.finds(context, key, 1, value(key))
    }

    /// What the host changes is seen once it is evicted.
    fn changes(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        let key = 9;
        let wrong = |error: tables::TableError| CheckError::wrong(format!("the table: {error}"));
        self.finds(context, key, 1, value(key))?;
        self.table.delete(key).map_err(wrong)?;
        self.ask(context, request(EVICT, key, 0), Status::Done)?;
        self.ask(context, request(LOOK_UP, key, 0), ABSENT)?;
        self.table.insert(key, &[1, 0, 0, 0, 0, 0, 0, 0]).map_err(wrong)?;
        self.table.update(key, &[2, 0, 0, 0, 0, 0, 0, 0]).map_err(wrong)?;
        self.ask(context, request(EVICT, key, 0), UNKNOWN)?;
        self.finds(context, key, 2, 2)
    }

    /// A ring full of look-ups: each ends once, in any order.
    fn at_once(&mut self, context: &Context<'_>) -> Result<u64, CheckError> {
        let keys = u64::from(self.queue.entries());
        for key in 10..10 + keys {
            let submission = Submission { identifier: key as u16, ..request(LOOK_UP, key, 0) };
            self.note(&submission);
            self.queue.push(submission);
        }
        self.queue.ring(context)?;
        let mut ended = Vec::new();
        for _ in 0..keys {
            let completion = self.queue.wait(context)?;
            let key = u64::from(completion.identifier);
            let (status, word) = if key < KEYS { (Status::Done, value(key)) } else { (ABSENT, 0) };
            expect_eq(|| format!("status of key {key}"), completion.status, status)?;
            expect(|| format!("value of key {key}"), completion.response, word)?;
            ended.push(key);
        }
        ended.sort_unstable();
        let expected: Vec<u64> = (10..10 + keys).collect();
        expect_eq(|| "keys of look-ups that ended".into(), ended, expected)?;
        Ok(keys)
    }

    /// Operations and opcodes that there are not.
    fn unknown(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        for operation in [9, 15] {
            self.ask(context, request(operation, 3, 0), OUT_OF_RANGE)?;
        }
        for opcode in [0, 3, 255] {
            let submission = Submission { opcode, ..request(LOOK_UP, 3, 0) };
            let completion = self.queue.perform(context, submission)?;
            let what = || format!("status of opcode {opcode} on the look-up queue");
            expect_eq(what, completion.status, Status::BadOpcode)?;
        }
        self.finds(context, 3, 1, value(3))
    }

    /// Where no table is, none is read; what is cached is found all the same.
    fn unmapped(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        let key = 11;
        self.finds(context, key, 1, value(key))?;
        let nowhere = unmapped(context)?;
        self.configure(context, nowhere)?;
        self.finds(context, key, 1, value(key))?;
        self.ask(context, request(EVICT, key, 0), Status::Done)?;
        self.ask(context, request(LOOK_UP, key, 0), NOT_READ)?;
        self.ask(context, request(LOCK_AND_READ, key, 4), NOT_READ)?;
        self.ask(context, request(UNLOCK, key, 4), Status::Done)?;
        self.configure(context, self.memory.address)?;
        self.finds(context, key, 1, value(key))
    }

    /// On the vector of the queue, if they are wanted, and only then.
    fn interrupts(
        &mut self,
        context: &Context<'_>,
        vectors: &[Box<dyn Interrupt>],
    ) -> Result<(), CheckError> {
        let wants = Submission { interrupt: true, ..request(LOOK_UP, 3, 0) };
        self.ask(context, wants, Status::Done)?;
        nothing_more(context, vectors)?;
        self.queue.set_interrupts(context, true)?;
        for turn in 0..10 {
            self.ask(context, wants, Status::Done)?;
            let came = wait(context, &*vectors[map::VECTOR_LOOK_UP as usize], turn)?;
            expect(|| format!("interrupts of look-up {turn}"), came, 1)?;
            self.ask(context, request(LOOK_UP, 3, 0), Status::Done)?;
        }
        nothing_more(context, vectors)
    }
}

fn named(submission: &Submission) -> String {
    let Submission { source: key, destination: fields, .. } = submission;
    let (operation, owner) = (fields >> 16 & 0xF, fields >> 32 & 0xFFFF);
    format!("status of operation {operation} of owner {owner} on key {key}")
}

/// The identity of the unit is where the map says.
const _: () = assert!(unit::IDENTITY.offset() as u64 == map::IDENTITY);
