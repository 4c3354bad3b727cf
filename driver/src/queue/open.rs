// SPDX-License-Identifier: MIT OR Apache-2.0
//! The open commands, which the device has not answered.

/// Names a command until it is done; no two of one queue are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Open commands by identifier: what is known of each, and its ticket.
pub(super) struct OpenCommands<T> {
    commands: Vec<Option<(Ticket, T)>>,
    free: Vec<u16>,
    tickets: u64,
}

impl<T> OpenCommands<T> {
    /// None, and at most so many.
    pub fn new(most: u16) -> Self {
        let commands = (0..most).map(|_| None).collect();
        OpenCommands { commands, free: (0..most).rev().collect(), tickets: 0 }
    }

    /// The identifier that the next command gets; `None` while as many are open as may be.
    pub fn next(&self) -> Option<u16> {
        self.free.last().copied()
    }

    /// Takes a command in, under the identifier that [`OpenCommands::next`] gave.
    ///
    /// # Panics
    /// When as many are open as may be.
    pub fn open(&mut self, command: T) -> Ticket {
        let identifier = self.free.pop().expect("asked before: an identifier is free");
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        self.commands[usize::from(identifier)] = Some((ticket, command));
        ticket
    }

    /// Takes the command with this identifier out, if it is open.
    pub fn close(&mut self, identifier: u16) -> Option<(Ticket, T)> {
        let closed = self.commands.get_mut(usize::from(identifier))?.take()?;
        self.free.push(identifier);
        Some(closed)
    }

    /// Forgets all commands; tickets go on.
    pub fn forget(&mut self) {
        *self = OpenCommands { tickets: self.tickets, ..Self::new(self.commands.len() as u16) };
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.commands.len() - self.free.len()
    }

    /// How many may be open.
    pub fn most(&self) -> usize {
        self.commands.len()
    }
}
