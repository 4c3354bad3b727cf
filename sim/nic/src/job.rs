// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is run: contents, look-ups, settings and platform.

use nic::index::{self, DIRECTORY_BITS, Hint, Index, Operation};
use nic::lookup::{Geometry, Request, Settings as LookUpSettings};
use sim::host_link::Traffic;
use std::collections::BTreeMap;
use system::Interrupt;
use tables::memory::{HostMemory, LoggedMemory, RemoteMemory};
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::{RemoteTable, Table, Values, Walk};
use timing::platform::Platform;

use crate::card::Card;
use crate::contents::Contents;
use crate::error::RunError;
use crate::limit::Needs;
use crate::profile::{LookUps, Profile};
use crate::settings::Settings;

/// Address of the table in host memory.
pub const TABLE_BASE: u64 = 1 << 32;
/// Slots of a first read beyond the known displacement, counted from it: the paper's k = 1 and one
/// (`nic::index::Table::new`).
pub const MORE: u8 = 2;
/// Bytes of a value.
pub const VALUE_BYTES: u16 = 8;
/// Readings of all places after which a look-up gives up: the register's own.
pub const MOST_READINGS: u8 = 8;
/// Words of a value, objects of an entry, pins, and lines of a read, as the RTL is shipped.
pub const WORDS: usize = 1;
pub const OBJECTS: usize = 2;
pub const MOST_PINS: u8 = 255;
pub const LANDING_LINES: u16 = 32;
/// Requests of the network that the RTL has under way at most, as it is shipped.
pub const MOST_IN_FLIGHT: u16 = 128;
/// Segments that the index can have, as the RTL is shipped.
const MOST_SEGMENTS: u32 = 1 << 24;

/// The RTL, as it is shipped.
pub type ShippedCard = Card<nic_lookup::Model, OBJECTS>;

/// Memory that shows its stores one by one.
pub const LOGGED: fn(usize) -> LoggedMemory = LoggedMemory::new;

/// What is run.
pub struct Job {
    /// What is in the table.
    pub contents: Contents,
    /// Which keys are looked up.
    pub look_ups: LookUps,
    /// The rest.
    pub settings: Settings,
    /// Between host and card.
    pub platform: Platform,
}

/// Who watches a run.
pub struct Watch<'a> {
    /// Asks it to end early.
    pub interrupt: &'a Interrupt,
    /// Is told now and then which part of the look-ups is answered, 0 to 1, and in which clock.
    pub progress: &'a mut dyn FnMut(f64, u64),
}

impl Job {
    /// A job whose look-ups are drawn from a profile: `warm_up` and then so many, `absent` (0 to 1) of which are
    /// of keys that are not in the table.
    ///
    /// # Errors
    /// When a setting is impossible, or the table has too few keys for the profile.
    pub fn of_profile(
        contents: Contents,
        profile: &Profile,
        counts: (usize, usize),
        absent: f64,
        settings: Settings,
        platform: Platform,
    ) -> Result<Self, RunError> {
        let geometry = Self::geometry(&contents, &settings)?;
        let look_ups = profile.draw(&contents, &geometry, counts, absent, settings.seed)?;
        Self::new(contents, look_ups, settings, platform)
    }

    /// A job with these look-ups.
    ///
    /// # Errors
    /// When a setting is impossible.
    pub fn new(
        contents: Contents,
        look_ups: LookUps,
        settings: Settings,
        platform: Platform,
    ) -> Result<Self, RunError> {
        let job = Job { contents, look_ups, settings, platform };
        job.check()?;
        Ok(job)
    }

    fn check(&self) -> Result<(), RunError> {
        let Settings { card, host, .. } = self.settings;
        let geometry = Self::geometry(&self.contents, &self.settings)?;
        self.lookup_geometry(&geometry)?;
        let check = |fits: bool, field, value: String, expected| match fits {
            true => Ok(()),
            false => Err(RunError::Setting { field, value, expected }),
        };
        let count = self.look_ups.measured.len();
        check(count > 0, "the number of look-ups", count.to_string(), "at least 1")?;
        let fits = (1..=MOST_IN_FLIGHT).contains(&card.in_flight);
        check(fits, "the number of look-ups in flight", card.in_flight.to_string(), "1 to 128")?;
        let fits = (100..=1_000_000).contains(&card.clock_ps);
        let expected = "100 to 1,000,000 picoseconds";
        check(fits, "the period of the card's clock", card.clock_ps.to_string(), expected)?;
        let (fits, clocks) =
            ((3..=10_000).contains(&card.nic_memory_clocks), card.nic_memory_clocks);
        check(fits, "the latency of the card's memory", clocks.to_string(), "3 to 10,000 clocks")?;
        let fits = (0.0..=1.0).contains(&host.share);
        check(fits, "the part of the keys that change", host.share.to_string(), "0 to 1")?;
        let fits = host.threads <= 64;
        check(fits, "the number of host threads", host.threads.to_string(), "0 to 64")?;
        let fits = geometry.segments() <= MOST_SEGMENTS;
        let expected = "at most 2^24, the entries of the RTL's index";
        check(fits, "the number of segments", geometry.segments().to_string(), expected)?;
        let platform = self.platform.name.clone();
        self.platform.dma.as_ref().map(drop).ok_or(RunError::NoDma { platform })
    }

    /// The geometry of the table.
    ///
    /// # Errors
    /// When a setting is impossible.
    pub fn geometry(contents: &Contents, settings: &Settings) -> Result<RobinHood, RunError> {
        let table = settings.table;
        if !(table.occupancy > 0.0 && table.occupancy <= 0.95) {
            let (field, value) = ("occupancy", table.occupancy.to_string());
            return Err(RunError::Setting { field, value, expected: "above 0 to 0.95" });
        }
        let slots = (contents.objects.len() as f64 / table.occupancy).ceil();
        if slots > f64::from(1_u32 << 31) {
            let (field, value) = ("the number of homes", slots.to_string());
            return Err(RunError::Setting { field, value, expected: "at most 2^31" });
        }
        let slots = slots as u32;
        Ok(RobinHood::new(Shape {
            slots,
            limit: Some(table.limit),
            segment: table.segment,
            // More than any filling needs: buckets are of powers of two.
            overflow_slots: slots / 2 + 64,
            values: Values::inline(usize::from(VALUE_BYTES)),
        })?)
    }

    /// The same as the look-ups know it.
    pub(crate) fn lookup_geometry(
        &self,
        geometry: &RobinHood,
    ) -> Result<Geometry<WORDS>, RunError> {
        let settings = LookUpSettings {
            value_bytes: VALUE_BYTES,
            most_readings: MOST_READINGS,
            landing_lines: LANDING_LINES,
        };
        Ok(Geometry::of_table(geometry, TABLE_BASE, MORE, settings)?)
    }

    /// The RTL, as it is shipped, over this table; its index knows these hints, segment by segment, if any.
    ///
    /// # Errors
    /// When it does not do as it should.
    pub(crate) fn card(
        &self,
        geometry: Geometry<WORDS>,
        hints: &[tables::Hint],
    ) -> Result<ShippedCard, RunError> {
        let Settings { seed, card, .. } = self.settings;
        Card::new(card, &self.platform, seed, geometry, index_of(*geometry.table(), hints))
    }

    /// What each key that is looked up needs of the link, unless the index answers.
    pub(crate) fn needed<M: HostMemory + RemoteMemory>(
        &self,
        needs: &Needs<'_, M>,
    ) -> BTreeMap<u64, Traffic> {
        let keys = self.look_ups.measured.iter();
        keys.map(|&key| (key, needs.of(key, &self.platform))).collect()
    }

    /// The table with its contents, in a memory of so many words.
    ///
    /// # Errors
    /// When a setting is impossible, or there is no room.
    pub fn table<M: HostMemory>(
        contents: &Contents,
        settings: &Settings,
        memory: impl FnOnce(usize) -> M,
    ) -> Result<RobinHoodTable<M>, RunError> {
        let geometry = Self::geometry(contents, settings)?;
        let table = Table::new(geometry, memory(geometry.ground().words()))?;
        for (key, value) in &contents.objects {
            table.insert(*key, &value.to_le_bytes())?;
        }
        Ok(table)
    }
}

/// The request that tells the index what is known of a segment.
pub fn hint_request(key: u64, hint: tables::Hint) -> Request<WORDS> {
    let mut request = Request::new(Operation::SetHint, key, 0);
    request.hint = index_hint(hint);
    request
}

fn index_hint(hint: tables::Hint) -> Hint {
    Hint {
        displacement: hint.displacement.unwrap_or_default() as u8,
        is_exact: true,
        directory: hint.overflow.map(|link| link.0 & ((1 << DIRECTORY_BITS) - 1)),
    }
}

/// The index of a table that knows these hints, segment by segment, and has cached nothing.
pub fn index_of<const OBJECTS: usize>(
    table: index::Table,
    hints: &[tables::Hint],
) -> Index<OBJECTS, WORDS> {
    let mut index = Index::new(table, MOST_PINS);
    for (segment, hint) in (0..).zip(hints) {
        let mut request = index::Request::new(Operation::SetHint, 0, 0, segment);
        request.hint = index_hint(*hint);
        index.apply(&request);
    }
    index
}
