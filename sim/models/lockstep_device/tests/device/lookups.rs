// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-up queue and the unit behind it in the situations that matter, on a table in host memory.

use std::collections::BTreeMap;

use driver::map::device::{LOOK_UP_QUEUE, LOOK_UP_UNIT};
use driver::map::nic_lookup as unit;
use driver::map::queue;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::Delay;
use sim::bus::stall::StallPattern;
use tables::memory::PlainMemory;
use tables::robin_hood::{RobinHood, Shape};
use tables::{RemoteTable, Table, Values, Walk};

use crate::bench::{Config, Places};
use crate::oracle::Completion;
use crate::user::User;

const LOOK_UP: usize = 3;
/// The vector of the look-up queue.
const VECTOR: usize = 5;
/// Requests that the device has under way at once.
const OPEN: usize = 16;

/// Opcodes: what the answer shows.
const VALUE: u64 = 1;
const PARTICULARS: u64 = 2;
/// Operations and statuses, as docs/nic-lookup.md numbers them.
const LOCK_AND_READ: u64 = 1;
const UNLOCK: u64 = 6;
const EVICT: u64 = 7;
const LOCKED: u8 = 0x42;
const NOT_LOCKED: u8 = 0x43;
const UNKNOWN: u8 = 0x45;
const ABSENT: u8 = 0x4D;
const OUT_OF_LINE: u8 = 0x50;
/// A key whose value lies out of line.
const LONG: u64 = 7777;

/// What an answer must be: status, version, and the value or owner where it is known.
#[derive(Clone, Copy, Debug)]
struct Expected {
    statuses: [u8; 2],
    version: u32,
    result: Option<u64>,
}

fn known(status: u8, version: u32, result: u64) -> Expected {
    Expected { statuses: [status; 2], version, result: Some(result) }
}

/// A table with some keys, who has which locked, and the requests that are open.
pub struct Keys {
    keys: u64,
    homes: Vec<u64>,
    owners: BTreeMap<u64, u16>,
    open: BTreeMap<u16, (u64, Expected)>,
    next: u16,
}

/// The value of a key.
fn value(key: u64) -> u64 {
    (key + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The words of a request.
fn request(identifier: u16, opcode: u64, operation: u64, key: u64, owner: u16) -> [u64; 8] {
    let word0 = u64::from(identifier) | opcode << 16 | 1 << 24;
    // The token is the device's.
    let fields = 0xABCD | operation << 16 | u64::from(owner) << 32;
    [word0, key, fields, 0, 0, !0, !0, !0]
}

impl Keys {
    /// A full table, of which some objects lie in overflow buckets, and the unit switched on.
    pub fn new(user: &mut User) -> Result<Self, String> {
        let keys = Self::off(user)?;
        user.write(LOOK_UP_UNIT + unit::CONTROL.offset(), 1)?;
        same("CONTROL", user.read(LOOK_UP_UNIT + unit::CONTROL.offset())?, 1)?;
        Ok(keys)
    }

    /// The same, with the unit off.
    fn off(user: &mut User) -> Result<Self, String> {
        let values = Values { inline_bytes: 16, longest: 64, heap_lines: 2 };
        let shape = Shape { slots: 20, limit: Some(3), segment: 1, overflow_slots: 64, values };
        let geometry = RobinHood::new(shape).map_err(|error| error.to_string())?;
        let memory = PlainMemory::new(geometry.ground().words());
        let table = Table::new(geometry, memory).map_err(|error| error.to_string())?;
        let keys = 24;
        for key in 0..keys {
            table.insert(key, &value(key).to_le_bytes()).map_err(|error| error.to_string())?;
        }
        table.insert(LONG, &[1; 64]).map_err(|error| error.to_string())?;
        require(table.statistics().overflowed > 0, "no object lies in a bucket")?;
        let Places { keys: place, index, .. } = user.bench.places;
        for (address, word) in (place..).step_by(8).zip(table.memory().to_vec()) {
            user.bench.keys.store(address, word).map_err(|error| error.to_string())?;
        }
        let address = |word: usize| place + 8 * word as u64;
        for (register, value) in [
            (unit::TABLE_BASE.offset(), place),
            (unit::DIRECTORY_BASE.offset(), address(geometry.directory_word(0))),
            (unit::OVERFLOW_BASE.offset(), address(geometry.overflow_word(0))),
            (unit::INDEX_BASE.offset(), index),
        ] {
            user.write64(LOOK_UP_UNIT + register, value)?;
        }
        for (register, value) in [
            (unit::SLOTS.offset(), shape.slots),
            (unit::LIMIT.offset(), 3),
            (unit::OVERFLOW_SLOTS.offset(), shape.overflow_slots),
            (unit::SEGMENTS.offset(), shape.slots),
        ] {
            user.write(LOOK_UP_UNIT + register, value)?;
        }
        // Of keys that share an entry of the index only one is locked.
        let mut homes = BTreeMap::new();
        (0..2 * keys).for_each(|key| _ = homes.entry(geometry.home(key)).or_insert(key));
        let (homes, owners, open) =
            (homes.into_values().collect(), BTreeMap::new(), BTreeMap::new());
        Ok(Keys { keys, homes, owners, open, next: 0 })
    }

    /// What a look-up by this owner must say.
    fn found(&self, key: u64, owner: u16) -> Expected {
        match self.owners.get(&key) {
            Some(&other) if other != owner => {
                let version = u32::from(key < self.keys);
                // The version is told if it is cached.
                let expected = known(LOCKED, version, other.into());
                Expected { version: u32::MAX, ..expected }
            }
            _ if key < self.keys => known(0, 1, value(key)),
            _ => known(ABSENT, 0, 0),
        }
    }

    /// The next request, of any kind, on a key that has none open; `None` when all have.
    pub fn next(&mut self, draw: &mut ChaCha8Rng) -> Option<[u64; 8]> {
        let key = self.homes[draw.random_range(0..self.homes.len())];
        if self.open.values().any(|(open, _)| *open == key) {
            return None;
        }
        let owner = draw.random_range(1..3);
        let holder = self.owners.get(&key).copied();
        let any = |statuses| Expected { statuses, version: u32::MAX, result: None };
        let (operation, expected) = match draw.random_range(0..5) {
            0..2 => (0, self.found(key, owner)),
            2 => {
                let expected = self.found(key, owner);
                self.owners.entry(key).or_insert(owner);
                (LOCK_AND_READ, expected)
            }
            3 if holder == Some(owner) => {
                self.owners.remove(&key);
                (UNLOCK, any([0, 0]))
            }
            3 if holder.is_some() => (UNLOCK, any([LOCKED, LOCKED])),
            3 => (UNLOCK, any([NOT_LOCKED, UNKNOWN])),
            _ if holder.is_some() => (EVICT, any([LOCKED, LOCKED])),
            _ => (EVICT, any([0, UNKNOWN])),
        };
        self.next = self.next.wrapping_add(0x1357);
        let shows_value = draw.random_range(0..4) > 0;
        let expected = if shows_value { expected } else { Expected { result: None, ..expected } };
        self.open.insert(self.next, (key, expected));
        let opcode = if shows_value { VALUE } else { PARTICULARS };
        Some(request(self.next, opcode, operation, key, owner))
    }

    /// An answer; says why it cannot be.
    pub fn answer(&mut self, completion: &Completion) -> Result<(), String> {
        let identifier = completion.word0 as u16;
        let open = self.open.remove(&identifier);
        let (key, expected) = open.ok_or_else(|| format!("answer to {identifier:#x}: not open"))?;
        let Expected { statuses, version, result } = expected;
        let found = ((completion.word0 >> 16) as u8, (completion.word0 >> 32) as u32);
        let right = statuses.contains(&found.0)
            && (version == u32::MAX || version == found.1)
            && result.is_none_or(|result| result == completion.word1);
        if right {
            return Ok(());
        }
        Err(format!("key {key}: {completion:x?}, expected {expected:x?}"))
    }
}

fn require(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:x?}, not {expected:x?}")) }
}

fn slow(seed: u64) -> Config {
    Config {
        seed,
        stalls: StallPattern::Random { probability: 0.3 },
        memory_latency: Delay { minimum: 0, maximum: 60 },
        ..Config::smooth()
    }
}

/// Submits look-ups of keys, whose numbers are their identifiers.
fn submit(user: &mut User, keys: impl IntoIterator<Item = u64>) -> Result<(), String> {
    for key in keys {
        let words = request(key as u16, VALUE, 0, key, 0);
        require(user.submit(LOOK_UP, words)?, "the submission ring is full")?;
    }
    user.ring(LOOK_UP)
}

fn await_answers(user: &mut User, count: usize) -> Result<Vec<Completion>, String> {
    let mut completions = Vec::new();
    for _ in 0..40_000 {
        if completions.len() == count {
            return Ok(completions);
        }
        user.clocks(1)?;
        completions.extend(user.consume(LOOK_UP)?);
    }
    Err(format!("{} of {count} completions came", completions.len()))
}

/// One request, and its completion: status, version, word 1.
fn ask(user: &mut User, words: [u64; 8]) -> Result<(u8, u32, u64), String> {
    require(user.submit(LOOK_UP, words)?, "the submission ring is full")?;
    user.ring(LOOK_UP)?;
    let Completion { word0, word1, .. } = await_answers(user, 1)?[0];
    same("identifier", word0 & 0xFFFF, words[0] & 0xFFFF)?;
    Ok(((word0 >> 16) as u8, (word0 >> 32) as u32, word1))
}

/// Keys in rows and in buckets, and keys that are not there; twice, so that some are cached.
pub fn keys_are_found(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 1])?;
    let keys = Keys::new(&mut user)?;
    user.enable(LOOK_UP)?;
    for _ in 0..2 {
        submit(&mut user, 0..30)?;
        let mut seen = Vec::new();
        for Completion { word0, word1, .. } in await_answers(&mut user, 30)? {
            let key = word0 & 0xFFFF;
            let there = known(0, 1, value(key));
            let expected = if key < keys.keys { there } else { known(ABSENT, 0, 0) };
            let found = ((word0 >> 16) as u8, (word0 >> 32) as u32, Some(word1));
            let right = (expected.statuses[0], expected.version, expected.result);
            same(&format!("key {key}"), found, right)?;
            seen.push(key);
        }
        seen.sort_unstable();
        same("keys", seen, (0..30).collect())?;
    }
    user.settle()?;
    same("interrupts", user.interrupts[VECTOR], 60)?;
    same("RETURN", user.read(LOOK_UP_QUEUE + queue::RETURN.offset())?, 0)?;
    // Versions are no bytes.
    same("BYTES_MOVED", user.read64(LOOK_UP_QUEUE + queue::BYTES_MOVED.offset())?, 0)?;
    same("FAILURES", user.read64(LOOK_UP_QUEUE + queue::FAILURES.offset())?, 12)
}

/// What a completion shows of an answer.
pub fn answers_are_told(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 1])?;
    Keys::new(&mut user)?;
    user.enable(LOOK_UP)?;
    // 8 bytes with a value; the first time from host memory.
    let (status, version, told) = ask(&mut user, request(1, PARTICULARS, 0, 3, 0))?;
    same(
        "read",
        (status, version, told & !(0xFF << 56 | 0xFFFF << 32)),
        (0, 1, 0x40_0000_0000_0008),
    )?;
    require(told >> 56 >= 1, "no round trip")?;
    let (status, version, told) = ask(&mut user, request(2, PARTICULARS, 0, 3, 0))?;
    same("cached", (status, version, told & !(0xFFFF << 32)), (0, 1, 0x50_0000_0000_0008))?;
    let (status, version, _) = ask(&mut user, request(3, VALUE, 0, LONG, 0))?;
    same("out of line", (status, version), (OUT_OF_LINE, 1))?;
    same("lock", ask(&mut user, request(4, VALUE, LOCK_AND_READ, 3, 9))?, (0, 1, value(3)))?;
    same("locked", ask(&mut user, request(5, VALUE, 0, 3, 0))?, (LOCKED, 1, 9))?;
    let (status, _, told) = ask(&mut user, request(6, PARTICULARS, LOCK_AND_READ, 3, 9))?;
    same("lock again", (status, told >> 55 & 1, told >> 16 & 0xFFFF), (0, 1, 9))?;
    for opcode in [0, 3, 255] {
        let refused = ask(&mut user, request(7, opcode, 0, 3, 0))?;
        same("unknown opcode", refused, (1, 0, 0))?;
    }
    Ok(())
}

/// Requests wait for a unit that is off, and the device sleeps over them.
pub fn look_ups_wait_for_the_unit(seed: u64) -> Result<(), String> {
    let mut user = User::new(&Config { stop_clock: true, ..slow(seed) }, [1, 1, 1])?;
    Keys::off(&mut user)?;
    user.enable(LOOK_UP)?;
    submit(&mut user, 0..20)?;
    user.clocks(2000)?;
    require(user.bench.model.outputs().idle_o, "requests keep the device busy")?;
    let waiting = user.read(LOOK_UP_QUEUE + queue::RETURN.offset())?;
    require((1..=20).contains(&waiting), &format!("RETURN is {waiting}"))?;
    user.write(LOOK_UP_UNIT + unit::CONTROL.offset(), 1)?;
    await_answers(&mut user, 20).map(drop)
}

/// Reads of tables that wait to be sent are sent though nothing else happens.
pub fn waiting_reads_are_sent(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 1])?;
    Keys::off(&mut user)?;
    for time in [unit::IDLE_TIME.offset(), unit::FLUSH_TIME.offset()] {
        user.write(LOOK_UP_UNIT + time, 400)?;
    }
    user.write(LOOK_UP_UNIT + unit::CONTROL.offset(), 1)?;
    user.enable(LOOK_UP)?;
    submit(&mut user, 0..1)?;
    user.clocks(300)?;
    require(!user.bench.model.outputs().idle_o, "idle with a read that waits")?;
    await_answers(&mut user, 1).map(drop)
}

/// A completion ring that software does not empty holds answers back and loses none.
pub fn a_full_ring_holds_look_ups_back(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 1])?;
    Keys::new(&mut user)?;
    user.enable(LOOK_UP)?;
    submit(&mut user, 0..32)?;
    user.clocks(4000)?;
    submit(&mut user, 32..64)?;
    user.clocks(4000)?;
    same("stored with a full ring", user.queues[LOOK_UP].oracle.stored.len(), 32)?;
    // Eight lines are buffered, one request and two answers are between.
    let asked = user.queues[LOOK_UP].oracle.asked;
    require(asked <= 32 + OPEN + 8 + 1, &format!("{asked} submissions read"))?;
    await_answers(&mut user, 64)?;
    user.settle()
}

/// Switched off with look-ups open, and on again: they continue to their ends, and complete nowhere.
pub fn old_look_ups_do_not_complete_anew(seed: u64) -> Result<(), String> {
    let latency = Delay { minimum: 300, maximum: 600 };
    let config = Config { memory_latency: latency, ..Config { seed, ..Config::smooth() } };
    let mut user = User::new(&config, [1, 1, 1])?;
    Keys::new(&mut user)?;
    user.enable(LOOK_UP)?;
    submit(&mut user, 0..12)?;
    user.clocks(1200)?;
    user.disable(LOOK_UP)?;
    user.enable(LOOK_UP)?;
    submit(&mut user, 100..112)?;
    let completions = await_answers(&mut user, 12)?;
    require(completions.iter().all(|one| one.word0 & 0xFFFF >= 100), "an old completion")?;
    user.settle()
}

/// All of this page, by name.
pub const ALL: [(&str, crate::queues::Test); 6] = [
    ("keys_are_found", keys_are_found),
    ("answers_are_told", answers_are_told),
    ("look_ups_wait_for_the_unit", look_ups_wait_for_the_unit),
    ("waiting_reads_are_sent", waiting_reads_are_sent),
    ("a_full_ring_holds_look_ups_back", a_full_ring_holds_look_ups_back),
    ("old_look_ups_do_not_complete_anew", old_look_ups_do_not_complete_anew),
];
