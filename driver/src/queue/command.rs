// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue whose commands are answered once each, in any order.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use super::open::OpenCommands;
use super::{Completion, Kind, Queue, QueueError, Ticket};
use crate::device::Device;

/// What is kept of a command until the device has answered it.
pub(super) trait Command {
    /// What the caller is told at its end.
    type Done;
    /// Its queue.
    const KIND: Kind;
    /// What its queue calls it.
    const NOUN: &'static str;

    /// Whether the device was asked for an interrupt at its end.
    fn interrupts(&self) -> bool;

    /// What the completion says of it, or what is wrong with the completion.
    fn judge(self, ticket: Ticket, completion: Completion) -> Result<Self::Done, String>;
}

/// A device queue, the commands that are open in it, and those that ended early.
///
/// The lock queue is none of these: its user chooses the identifiers, and a request may be answered
/// twice.
pub(super) struct CommandQueue<T: Command> {
    queue: Queue,
    open: OpenCommands<T>,
    /// Open commands that asked for an interrupt.
    interrupts: usize,
    /// Ended while another one was waited for.
    early: VecDeque<(Ticket, T::Done)>,
}

impl<T: Command> CommandQueue<T> {
    /// Takes the queue of the device into use.
    pub fn open(device: &Device, entries: u16) -> Result<Self, QueueError> {
        Ok(CommandQueue {
            queue: Queue::open(device, T::KIND, entries)?,
            open: OpenCommands::new(entries),
            interrupts: 0,
            early: VecDeque::new(),
        })
    }

    /// Writes a command into the ring, whose words `submission` makes for an identifier.
    pub fn enqueue(
        &mut self,
        command: T,
        submission: impl FnOnce(u16) -> [u64; 8],
    ) -> Result<Ticket, QueueError> {
        self.queue.check_stopped()?;
        let Some(identifier) = self.open.next() else {
            return Err(QueueError::Full { queue: T::KIND.name, entries: self.queue.entries });
        };
        self.queue.push(submission(identifier))?;
        self.interrupts += usize::from(command.interrupts());
        Ok(self.open.open(command))
    }

    /// Tells the device of all commands enqueued so far.
    pub fn ring(&mut self) -> Result<(), QueueError> {
        self.queue.ring_doorbell()
    }

    /// A command that has ended, if there is one.
    pub fn poll(&mut self) -> Result<Option<T::Done>, QueueError> {
        if let Some((_, done)) = self.early.pop_front() {
            return Ok(Some(done));
        }
        match self.queue.pop()? {
            Some(completion) => self.close(completion).map(|(_, done)| Some(done)),
            None => Ok(None),
        }
    }

    /// Waits until a command has ended.
    pub fn wait(&mut self, bound: Duration) -> Result<T::Done, QueueError> {
        if let Some((_, done)) = self.early.pop_front() {
            return Ok(done);
        }
        self.next(bound).map(|(_, done)| done)
    }

    /// Waits until this command has ended, for `bound` from `started` on; what else ends meanwhile
    /// is kept.
    pub fn wait_for(
        &mut self,
        ticket: Ticket,
        started: Instant,
        bound: Duration,
    ) -> Result<T::Done, QueueError> {
        if let Some(at) = self.early.iter().position(|(early, _)| *early == ticket) {
            let (_, done) = self.early.remove(at).expect("found there");
            return Ok(done);
        }
        loop {
            let (ended, done) = self.next(bound.saturating_sub(started.elapsed()))?;
            if ended == ticket {
                return Ok(done);
            }
            self.early.push_back((ended, done));
        }
    }

    /// Asks the device whether it still runs the queue.
    pub fn check(&mut self) -> Result<(), QueueError> {
        self.queue.check_stopped()?;
        self.queue.check()
    }

    /// Takes the queue into use again; open commands are forgotten.
    pub fn restart(&mut self) -> Result<(), QueueError> {
        self.queue.start()?;
        self.open.forget();
        self.interrupts = 0;
        self.early.clear();
        Ok(())
    }

    /// The number of commands that the device has not answered.
    pub fn open_commands(&self) -> usize {
        self.open.len()
    }

    /// The number of entries.
    pub fn entries(&self) -> u16 {
        self.queue.entries
    }

    /// The next that the device has answered.
    fn next(&mut self, bound: Duration) -> Result<(Ticket, T::Done), QueueError> {
        let completion = self.queue.wait(self.interrupts > 0, bound)?;
        self.close(completion)
    }

    /// Finds the command that a completion names, and judges the completion by it.
    fn close(&mut self, completion: Completion) -> Result<(Ticket, T::Done), QueueError> {
        let identifier = completion.identifier;
        let Some((ticket, command)) = self.open.close(identifier) else {
            let expected = format!("that of an open {}", T::NOUN);
            let detail = format!("identifier is {identifier}, expected {expected}");
            return Err(self.queue.violation(detail));
        };
        self.interrupts -= usize::from(command.interrupts());
        match command.judge(ticket, completion) {
            Ok(done) => Ok((ticket, done)),
            Err(detail) => Err(self.queue.violation(detail)),
        }
    }
}

impl<T: Command> fmt::Display for CommandQueue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} open of {}", self.open.len(), self.open.most())
    }
}
