// SPDX-License-Identifier: MIT OR Apache-2.0
//! The accesses of one direction that a manager has not seen the end of.

use super::super::{Burst, ReadBeat};
use super::Ticket;
use std::collections::VecDeque;

/// An access that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub ticket: Ticket,
    pub burst: Burst,
    /// The beats of R so far.
    pub beats: Vec<ReadBeat>,
    /// Its place among those of its direction.
    number: u64,
}

/// All accesses of one direction.
#[derive(Debug, Clone)]
pub(super) struct Accesses {
    /// Of each id, oldest first.
    of_id: Vec<VecDeque<Open>>,
    open: usize,
    asked: u64,
    /// The ids of those whose address was taken and that are open, and since when, by number.
    begun: VecDeque<(u64, u64, u16)>,
    /// Addresses, and for writes last beats, that were taken.
    addresses: u64,
    data: u64,
    /// Ids in the order of their addresses that were not taken.
    waiting: VecDeque<u16>,
}

impl Accesses {
    pub fn new(id_bits: u32) -> Self {
        Accesses {
            of_id: vec![VecDeque::new(); 1 << id_bits],
            open: 0,
            asked: 0,
            begun: VecDeque::new(),
            addresses: 0,
            data: 0,
            waiting: VecDeque::new(),
        }
    }

    pub fn open(&self) -> usize {
        self.open
    }

    pub fn add(&mut self, id: u16, ticket: Ticket, burst: Burst) {
        let ids = self.of_id.len();
        let list = self.of_id.get_mut(usize::from(id));
        let list = list.unwrap_or_else(|| panic!("id 0x{id:X}, expected one below 0x{ids:X}"));
        list.push_back(Open { ticket, burst, beats: Vec::new(), number: self.asked });
        self.waiting.push_back(id);
        self.asked += 1;
        self.open += 1;
    }

    /// The next address in their order was taken.
    pub fn address_taken(&mut self, cycle: u64) {
        let id = self.waiting.pop_front().expect("an address");
        self.begun.push_back((self.addresses, cycle, id));
        self.addresses += 1;
    }

    /// The last beat of W of the next write was taken.
    pub fn data_taken(&mut self) {
        self.data += 1;
    }

    /// Whether the address was taken.
    pub fn begun(&self, open: &Open) -> bool {
        open.number < self.addresses
    }

    /// Whether address and data were taken.
    pub fn complete(&self, open: &Open) -> bool {
        open.number < self.addresses.min(self.data)
    }

    /// The oldest access of an id, which is the one that is answered.
    pub fn oldest(&self, id: u16) -> Option<&Open> {
        self.of_id.get(usize::from(id))?.front()
    }

    /// Adds a beat of R to it.
    pub fn push_beat(&mut self, id: u16, beat: ReadBeat) {
        let open = self.of_id[usize::from(id)].front_mut().expect("an open read");
        open.beats.push(beat);
    }

    /// It has ended.
    pub fn end(&mut self, id: u16) -> Open {
        let open = self.of_id[usize::from(id)].pop_front().expect("an open access");
        self.begun.retain(|(number, ..)| *number != open.number);
        self.open -= 1;
        open
    }

    /// Of those whose address was taken, the one that has waited longest: since when, id, burst.
    pub fn longest_open(&self) -> Option<(u64, u16, Burst)> {
        let (number, since, id) = *self.begun.front()?;
        let open = self.of_id[usize::from(id)].iter().find(|open| open.number == number)?;
        Some((since, id, open.burst))
    }
}
