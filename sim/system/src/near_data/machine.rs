// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine that a run happens on, and what its agents share.

use std::collections::BTreeMap;

use lockdb::Error;
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use ndp_runtime::program::{Assignment, CompiledUpdate, Evaluation, Outputs, evaluate_counting};
use sim::models::TupleLockUnit;
use sim::system::System;
use timing::Time;
use timing::platform::HostStoreTiming;

use super::NearDataError;
use super::cores::Cores;
use super::device::SimulatedDevice;
use super::log::Log;
use super::table::{BALANCE, NewRow, WRITES, YcsbTable};
use super::timer::Timer;
use crate::virtual_time::host::HostThreads;
use crate::workflow::Command;

/// Tickets of agents' accesses to shared words; those of the device's loads are below.
const AGENT_WORD: u64 = 1 << 32;

/// The shared data of agents.
pub(crate) struct Machine {
    pub system: System<TupleLockUnit>,
    pub cores: Cores,
    pub threads: HostThreads,
    /// Of each agent.
    pub core_of: Vec<u32>,
    pub table: YcsbTable,
    pub device: SimulatedDevice,
    pub store: HostStoreTiming,
    pub log: Log,
    pub update: CompiledUpdate,
    /// Bytes of a row, which all have.
    pub payload: u64,
    pub buckets: u64,
    /// By row: what the committed updates add to the balance, and how many they are.
    pub ledger: Vec<(i64, i64)>,
    /// Rows that are committed, but not yet published in the shared VID map: the numbers of the versions
    /// that the map leads to.
    pub unpublished: BTreeMap<u32, u32>,
    pub gate: Gate,
    pub committed: u64,
    pub turned_away: u64,
    /// No short update begins any more.
    pub closing: bool,
}

/// The lock of the whole table.
#[derive(Default)]
pub(crate) struct Gate {
    pub closed: bool,
    /// Short updates under way.
    pub inside: u32,
    /// Agents that wait for it.
    pub waiting: Vec<usize>,
}

impl Machine {
    pub fn now(&self) -> Time {
        self.system.now()
    }

    /// Lets an agent's core work; a timer of the agent tells the end.
    pub fn work(&mut self, agent: usize, length: Time) {
        let end = self.cores.work(self.core_of[agent], self.system.now(), length);
        self.system.at(end, Timer::Agent(agent as u32).encode());
    }

    pub fn bucket(&self, key: TupleKey) -> u64 {
        key.mix() & (self.buckets - 1)
    }

    pub fn acquire(&mut self, agent: usize, transaction: Timestamp, key: TupleKey, rule: Rule) {
        let bucket = self.bucket(key);
        let command = Command::Acquire { transaction, key, bucket, rule };
        self.threads.carry_out(&mut self.system, agent, command);
    }

    pub fn release(&mut self, agent: usize, transaction: Timestamp, key: TupleKey) {
        let bucket = self.bucket(key);
        let command = Command::Release { transaction, key, bucket };
        self.threads.carry_out(&mut self.system, agent, command);
    }

    /// Publishes a row's newest version in the shared VID map.
    pub fn publish(&mut self, agent: usize, vid: u32) {
        let word = self.table.head(vid).word();
        let ticket = Self::agent_word(agent);
        self.system.host_store(self.core_of[agent], ticket, vid.into(), word);
    }

    /// The shared VID map leads to a row's newest version: others may lock that one now.
    pub fn published(&mut self, vid: u32) {
        let published = self.unpublished.remove(&vid);
        assert!(published.is_some(), "row {vid} was committed before it was published");
    }

    /// The number of the version of a row that the shared VID map leads to, by which it is locked: of a
    /// row that is just being published the one before, whose lock its writer has until then.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn visible_number(&mut self, vid: u32) -> Result<u32, Error> {
        match self.unpublished.get(&vid) {
            Some(number) => Ok(*number),
            None => Ok(self.table.newest(vid)?.number),
        }
    }

    /// The ticket of an agent's access to a shared word.
    pub fn agent_word(agent: usize) -> u64 {
        AGENT_WORD | agent as u64
    }

    /// Whose access to a shared word it was: an agent's, or of a slot of the device.
    pub fn whose_word(ticket: u64) -> Result<usize, usize> {
        match ticket & AGENT_WORD {
            0 => Err(ticket as usize),
            _ => Ok((ticket & !AGENT_WORD) as usize),
        }
    }

    /// Copying bytes on a core.
    pub fn copy_time(&self, bytes: u64) -> Time {
        self.store.copy.get().time_for(bytes)
    }

    /// Finding a row, and executing so many instructions for it.
    pub fn visit_time(&self, instructions: u64) -> Time {
        self.store.visit_row.get() + self.store.instruction.get() * instructions
    }

    /// Changing a row: the version into its page, and into the log.
    pub fn change_time(&self) -> Time {
        self.store.change_row.get() + self.copy_time(2 * self.payload)
    }

    /// The log's device begins to write a row that was changed.
    pub fn log_change(&mut self) {
        self.log.change(self.system.now(), self.payload);
    }

    /// An agent loads the newest version's place from the shared VID map.
    pub fn load_head(&mut self, agent: usize, vid: u32) {
        let ticket = Self::agent_word(agent);
        self.system.host_load(self.core_of[agent], ticket, vid.into());
    }

    /// An agent reads the holder of a lock.
    pub fn load_holder(&mut self, agent: usize, key: TupleKey) {
        let (ticket, bucket) = (Self::agent_word(agent), self.bucket(key));
        self.system.host_load_head(self.core_of[agent], ticket, bucket);
    }

    /// Evaluates the update for the version `number` of a row, which is locked, and enters what it makes
    /// of it in the log; how long that takes. `None` when the row does not qualify.
    ///
    /// # Errors
    /// When the row cannot be read or evaluated.
    pub fn change(
        &mut self,
        vid: u32,
        number: u32,
    ) -> Result<(Option<NewRow>, Time), NearDataError> {
        let payload = self.table.payload(vid)?;
        let mut outputs = Outputs::default();
        let (passes, instructions) =
            evaluate_counting(&self.update.program, &payload, &mut outputs)?;
        let length = self.visit_time(instructions);
        if passes != Evaluation::Passes {
            return Ok((None, length));
        }
        self.log_change();
        Ok((Some(self.new_row(vid, number, &outputs)), length + self.change_time()))
    }

    /// What the update makes of the version `number` of a row.
    pub fn new_row(&self, vid: u32, number: u32, outputs: &Outputs) -> NewRow {
        let value = |column: usize| {
            let assigned = self.update.assignments.iter().find_map(|assignment| match assignment {
                Assignment::Output { column: of, output } if usize::from(*of) == column => {
                    outputs.get(*output)
                }
                _ => None,
            });
            assigned.expect("the update assigns both columns").cast_signed()
        };
        NewRow { vid, number, balance: value(BALANCE), writes: value(WRITES) }
    }

    /// Enters what is committed, and commits it to the store.
    ///
    /// # Errors
    /// When the locks have not protected a row.
    pub fn commit(&mut self, rows: &[NewRow], added: i64) -> Result<(), Error> {
        self.table.commit(rows)?;
        for row in rows {
            let entry = &mut self.ledger[row.vid as usize];
            *entry = (entry.0 + added, entry.1 + 1);
            let before = self.unpublished.insert(row.vid, row.number);
            assert_eq!(before, None, "two writers publish row {} at once", row.vid);
        }
        Ok(())
    }
}
