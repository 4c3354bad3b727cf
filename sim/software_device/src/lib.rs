// SPDX-License-Identifier: MIT OR Apache-2.0
//! A near-data device in this process, without hardware: the engine, stepped by whoever waits for it.
//!
//! It takes no thread and no clock of its own, so that a test which runs all actors on one thread gets
//! the same bytes from the same seed; and it can be made to die, to hang, or to lose its link after so
//! many steps.

mod card;
mod control;
mod lock_unit;

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use driver::HostMemory;
use lockdb::files::File;
use lockdb::{Database, Table};
use ndp_runtime::engine::{Engine, Stepped};
use ndp_runtime::host::{Fenced, JobPort, Mapping, PortError};
use ndp_runtime::job::{JobCompletion, Submission};

use card::{Maps, SoftwareCard};
pub use control::{Control, DeviceFault};
use lock_unit::LockUnit;

/// Nanoseconds that pass with a step of the engine.
const STEP: u64 = 100;

/// A device in this process.
pub struct SoftwareDevice {
    engine: Engine,
    card: SoftwareCard,
    control: Control,
    /// Steps of the engine for each time that the host looks.
    steps_a_poll: u32,
    state: Condition,
    /// Whether the last step did something.
    works: bool,
    /// Tags by identifiers.
    open: BTreeMap<u16, u64>,
    next_identifier: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Well,
    Dead,
    /// It was reset, and the host has not seen that yet.
    Reset,
    Hanging,
    LinkBroken,
}

impl SoftwareDevice {
    /// A device beside a store, whose native storage is the file `pages`.
    pub fn new(database: &Database, pages: Arc<dyn File>, steps_a_poll: u32) -> Self {
        Self {
            engine: Engine::new(),
            card: SoftwareCard::new(database, pages),
            control: Control::default(),
            steps_a_poll,
            state: Condition::Well,
            works: false,
            open: BTreeMap::new(),
            next_identifier: 0,
        }
    }

    /// What lets it fail, and counts its steps.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Breaks the engine on purpose, for jobs that begin from now on.
    #[cfg(feature = "mutants")]
    pub fn plant(&mut self, mutant: Option<ndp_runtime::engine::Mutant>) {
        self.engine.plant(mutant);
    }

    fn step(&mut self) {
        if let Some(fault) = self.control.due() {
            self.suffer(fault);
        }
        if self.state == Condition::Well {
            self.step_engine();
        }
    }

    fn step_engine(&mut self) {
        self.card.now += STEP;
        self.control.count_step();
        self.works = self.engine.step(&mut self.card) == Stepped::Worked;
    }

    fn suffer(&mut self, fault: DeviceFault) {
        self.state = match fault {
            DeviceFault::Dies => Condition::Dead,
            DeviceFault::Hangs => Condition::Hanging,
            DeviceFault::Resets => {
                self.restart();
                Condition::Reset
            }
            DeviceFault::LinkBreaks { steps } => {
                (0..steps).for_each(|_| self.step_engine());
                Condition::LinkBroken
            }
        };
    }

    /// As after a reset: jobs and requests are gone.
    fn restart(&mut self) {
        self.engine = Engine::new();
        self.card.locks = LockUnit::default();
        self.open.clear();
    }
}

impl JobPort for SoftwareDevice {
    fn map(&mut self, memory: &Arc<HostMemory>) -> Result<Box<dyn Mapping>, PortError> {
        let start = memory.start().as_ptr().addr() as u64;
        let maps = &self.card.memory;
        maps.lock().insert(start, memory.clone());
        Ok(Box::new(Mapped { start, maps: Arc::downgrade(maps) }))
    }

    fn reach_locks(&mut self, database: &Database) -> Result<u64, PortError> {
        Ok(database.lock_table().buckets().as_ptr().addr() as u64)
    }

    fn reach_vid_map(&mut self, table: &Table) -> Result<u64, PortError> {
        Ok(table.vid_map().words().as_ptr().addr() as u64)
    }

    fn submit(&mut self, tag: u64, submission: Submission) -> Result<(), PortError> {
        self.check()?;
        let identifier = self.next_identifier;
        self.next_identifier = identifier.wrapping_add(1);
        self.open.insert(identifier, tag);
        self.engine.submit(Submission { identifier, ..submission });
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<(u64, JobCompletion)>, PortError> {
        (0..self.steps_a_poll).for_each(|_| self.step());
        self.check()?;
        if self.state == Condition::Hanging {
            return Ok(None);
        }
        let Some(done) = self.engine.completion() else { return Ok(None) };
        let tag = self.open.remove(&done.identifier).ok_or(PortError::Completion {
            found: done.identifier.into(),
            expected: "the identifier of an open submission",
        })?;
        Ok(Some((tag, done)))
    }

    /// It gets on while it is polled; when it waits for others, so does the caller.
    fn idle(&mut self, bound: Duration) -> Duration {
        match self.works && self.state == Condition::Well {
            true => Duration::ZERO,
            false => bound.min(Duration::from_micros(50)),
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        match self.state {
            Condition::Well | Condition::Hanging => Ok(()),
            Condition::Reset => Err(PortError::Reset),
            Condition::Dead => Err(PortError::Gone("it is dead".into())),
            Condition::LinkBroken => Err(PortError::Gone("its link is broken".into())),
        }
    }

    fn fence(&mut self) -> Result<Fenced, PortError> {
        if self.control.resists_resets() {
            return Err(PortError::Gone("it cannot be reset".into()));
        }
        self.restart();
        match self.state {
            Condition::Dead => Ok(Fenced::Dead),
            _ => {
                self.state = Condition::Well;
                Ok(Fenced::Restarted)
            }
        }
    }
}

struct Mapped {
    start: u64,
    maps: Weak<Maps>,
}

impl Mapping for Mapped {
    fn bus_address(&self) -> u64 {
        self.start
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(maps) = self.maps.upgrade() {
            maps.lock().remove(&self.start);
        }
    }
}
