// SPDX-License-Identifier: MIT OR Apache-2.0
//! A worker that does short updates, one after the other: it takes the lock of a row, reads it,
//! writes a new version, commits and releases.
//!
//! If an older transaction holds the lock, the worker is refused (wait-die) and continues with
//! another row. The long update is the oldest transaction.

use lockdb::Error;
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use workloads::zipf::RowSampler;

use super::machine::Machine;
use super::table::NewRow;
use crate::workflow::Input;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    AtTheGate,
    Beginning,
    Locking(TupleKey),
    Writing(NewRow),
    Publishing,
    Releasing { committed: bool },
}

/// See the module.
pub(crate) struct Short {
    agent: usize,
    random: ChaCha8Rng,
    state: State,
    row: u64,
    amount: i64,
    transaction: Timestamp,
    held: Vec<TupleKey>,
}

/// The data that all of them share.
pub(crate) struct Draws {
    pub sampler: RowSampler,
    /// The region whose rows are left alone.
    pub without: Option<u64>,
    /// Counts transactions.
    pub transactions: u64,
}

impl Draws {
    fn row(&self, machine: &Machine, random: &mut ChaCha8Rng) -> u64 {
        loop {
            let row = self.sampler.sample(random);
            if Some(machine.table.region(row)) != self.without {
                return row;
            }
        }
    }
}

impl Short {
    pub fn new(agent: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(agent as u64);
        Self {
            agent,
            random,
            state: State::Idle,
            row: 0,
            amount: 0,
            transaction: Timestamp::MAX,
            held: Vec::new(),
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle | State::AtTheGate)
    }

    /// Begins the next update, if there is to be one.
    pub fn begin(&mut self, machine: &mut Machine, draws: &mut Draws) {
        self.state = State::Idle;
        if machine.closing {
            return;
        }
        if machine.gate.closed {
            machine.gate.waiting.push(self.agent);
            self.state = State::AtTheGate;
            return;
        }
        machine.gate.inside += 1;
        draws.transactions += 1;
        self.transaction = Timestamp::new(draws.transactions).expect("fewer than 2^48 updates");
        self.row = draws.row(machine, &mut self.random);
        self.amount = self.random.random_range(1..=100);
        self.state = State::Beginning;
        machine.work(self.agent, machine.store.short_begin.get());
    }

    /// The core has done what it was given.
    ///
    /// # Errors
    /// When the locks have not protected the row.
    pub fn worked(&mut self, machine: &mut Machine) -> Result<(), Error> {
        match self.state {
            State::Beginning => self.lock_newest(machine)?,
            State::Writing(row) => {
                machine.log_change();
                machine.commit(&[row], self.amount)?;
                self.state = State::Publishing;
                machine.publish(self.agent, row.vid);
            }
            state => unreachable!("a worker that is {state:?} has given its core nothing"),
        }
        Ok(())
    }

    /// The lock machine has come to something.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn locked(
        &mut self,
        machine: &mut Machine,
        draws: &mut Draws,
        input: &Input,
    ) -> Result<(), Error> {
        match (self.state, input) {
            (State::Locking(key), Input::Granted { again }) => {
                if !again {
                    self.held.push(key);
                }
                let vid = machine.table.vid(self.row);
                let number = machine.visible_number(vid)?;
                if machine.table.lock_key(vid, number) != key {
                    return self.lock_newest(machine);
                }
                let newest = machine.table.newest(vid)?;
                let (balance, writes) = (newest.balance + self.amount, newest.writes + 1);
                let row = NewRow { vid, number: newest.number, balance, writes };
                self.state = State::Writing(row);
                let length = machine.store.short_end.get() + machine.copy_time(2 * machine.payload);
                machine.work(self.agent, length);
            }
            (State::Locking(_), Input::Queued { .. }) => {}
            (State::Locking(_), Input::Refused(_)) => {
                machine.turned_away += 1;
                self.release(machine, draws, false);
            }
            (State::Releasing { committed }, Input::Released) => {
                self.release(machine, draws, committed);
            }
            (state, input) => unreachable!("{input:?} does not answer {state:?}"),
        }
        Ok(())
    }

    /// The new version is published.
    pub fn published(&mut self, machine: &mut Machine, draws: &mut Draws) {
        assert_eq!(self.state, State::Publishing, "a worker publishes what it has written");
        machine.published(machine.table.vid(self.row));
        self.release(machine, draws, true);
    }

    fn lock_newest(&mut self, machine: &mut Machine) -> Result<(), Error> {
        let vid = machine.table.vid(self.row);
        let number = machine.visible_number(vid)?;
        let key = machine.table.lock_key(vid, number);
        self.state = State::Locking(key);
        machine.acquire(self.agent, self.transaction, key, Rule::WaitDie);
        Ok(())
    }

    fn release(&mut self, machine: &mut Machine, draws: &mut Draws, committed: bool) {
        if let Some(key) = self.held.pop() {
            self.state = State::Releasing { committed };
            return machine.release(self.agent, self.transaction, key);
        }
        machine.committed += u64::from(committed);
        machine.gate.inside -= 1;
        self.begin(machine, draws);
    }
}
