// SPDX-License-Identifier: MIT OR Apache-2.0
//! The logs in host memory: two cells for each slot of each peer core, which the NIC writes by DMA and the host's
//! log workers read.
//!
//! | write | bytes |
//! |---|---|
//! | record | 9: what 1, view 2, slot of the cluster 2, count 4; the record; marks |
//! | mark of a commit | the same 9; marks |
//! | marks alone | 3: what 1, view 2; marks |
//! | marks | 1, and 6 for each: slot of the cluster 2, count 4 |
//!
//! A mark says that all transactions of a slot below a count are over.

use super::index::Owner;
use super::messages::Record;
use super::settings::Settings;
use crate::engine::Key;
use crate::near;
use crate::transact::TableShape;
use crate::wire::{Reader, WireError, Writer};

/// The bit of addresses in logs.
const LOG: u64 = 1 << 63;
/// Where a core's marks are written that go with no record.
const MARKS_ALONE: u64 = u32::MAX as u64;

/// An address in host memory, as a NIC knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The row of a key. What is read there is its version and its value, with zeros behind.
    Row(Key),
    /// A cell of a core's log.
    Cell {
        /// The core.
        core: u8,
        /// The number of the cell.
        cell: u32,
    },
    /// Where a core writes marks alone.
    Marks {
        /// The core.
        core: u8,
    },
}

impl Address {
    /// Its number.
    pub fn number(self) -> u64 {
        match self {
            Self::Row(key) => u64::from(key.table.0) << 56 | key.row,
            Self::Cell { core, cell } => LOG | u64::from(core) << 32 | u64::from(cell),
            Self::Marks { core } => LOG | u64::from(core) << 32 | MARKS_ALONE,
        }
    }

    /// The address of a number.
    pub fn of(number: u64) -> Self {
        let core = (number >> 32) as u8;
        match number & LOG {
            0 => Self::Row(Key {
                table: crate::engine::TableNumber((number >> 56) as u8),
                row: number & ((1 << 56) - 1),
            }),
            _ if number & MARKS_ALONE == MARKS_ALONE => Self::Marks { core },
            _ => Self::Cell { core, cell: number as u32 },
        }
    }
}

/// Which slot of the cluster, and which of its transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The slot.
    pub owner: Owner,
    /// The transaction of the slot.
    pub count: u32,
}

impl Name {
    fn encode(self, out: &mut Vec<u8>) {
        out.put_u16(self.owner);
        out.put_u32(self.count);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self { owner: reader.u16("a slot")?, count: reader.u32("a count")? })
    }
}

/// What a write to a log brings, beside marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A record.
    Record {
        /// Of which transaction.
        name: Name,
        /// Whether it has committed.
        is_committed: bool,
        /// The record.
        record: Record<'a>,
    },
    /// The transaction of the record in the cell has committed.
    Committed {
        /// Of which transaction.
        name: Name,
    },
    /// Nothing.
    Marks,
}

/// A write to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The view, as far as two bytes tell.
    pub view: u16,
    /// What it brings.
    pub entry: Entry<'a>,
}

impl<'a> Write<'a> {
    /// Appends it, with these marks.
    pub fn encode(&self, marks: impl ExactSizeIterator<Item = Name>, out: &mut Vec<u8>) {
        let head = |what: u8, out: &mut Vec<u8>| {
            out.put_u8(what);
            out.put_u16(self.view);
        };
        match self.entry {
            Entry::Record { name, is_committed, record } => {
                head(u8::from(is_committed), out);
                name.encode(out);
                record.encode(out);
            }
            Entry::Committed { name } => {
                head(2, out);
                name.encode(out);
            }
            Entry::Marks => head(3, out),
        }
        out.put_count(marks.len());
        marks.for_each(|mark| mark.encode(out));
    }

    /// Reads it, and gives its marks to `mark`.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn decode(
        bytes: &'a [u8],
        tables: &[TableShape],
        partitions: u16,
        mut mark: impl FnMut(Name),
    ) -> Result<Self, WireError> {
        let reader = &mut Reader::new(bytes);
        let what = reader.u8("a kind of write")?;
        let view = reader.u16("a view's number")?;
        let entry = match what {
            0 | 1 => Entry::Record {
                name: Name::decode(reader)?,
                is_committed: what == 1,
                record: Record::decode(reader, tables, partitions)?,
            },
            2 => Entry::Committed { name: Name::decode(reader)? },
            3 => Entry::Marks,
            other => return Err(reader.unknown("a kind of write (0 to 3)", other)),
        };
        for _ in 0..reader.u8("a number of marks")? {
            mark(Name::decode(reader)?);
        }
        reader.end("a write to a log")?;
        Ok(Self { view, entry })
    }
}

/// A cell of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The transaction of the slot whose record is here; 0 if there is none.
    pub count: u32,
    /// Whether it is known to have committed.
    pub is_committed: bool,
    /// Whether the record has been applied.
    pub is_applied: bool,
    /// Whether the NIC was told of the record, and of the commit.
    is_told: [bool; 2],
    /// The record, encoded.
    pub record: Vec<u8>,
}

/// What a log worker is to do with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Of which transaction.
    pub name: Name,
    /// Its cell.
    pub cell: u32,
    /// Whether the record is to be applied; if not, the NIC is only to be told.
    pub applies: bool,
    /// Whether it is known to have committed.
    pub is_committed: bool,
}

/// The log of one core.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CoreLog {
    core: u8,
    cores: u16,
    slots: u16,
    cells: Vec<Cell>,
    /// For each slot of the peers: its transactions below this are over.
    over: Vec<u32>,
    /// Cells that may have changed since the log worker has polled.
    arrivals: Vec<u32>,
}

impl CoreLog {
    /// The empty log of core `core`.
    pub fn new(core: u8, settings: &Settings) -> Self {
        let flows = settings.flows();
        Self {
            core,
            cores: settings.cores.into(),
            slots: settings.slots,
            cells: vec![Cell::default(); 2 * flows],
            over: vec![0; flows],
            arrivals: Vec::new(),
        }
    }

    /// The slot's number among those of the peer cores; `None` if it is no slot of theirs.
    fn flow_of(&self, owner: Owner) -> Option<usize> {
        let of_node = self.cores * self.slots;
        let (node, rest) = (owner / of_node, owner % of_node);
        let flow = usize::from(node) * usize::from(self.slots) + usize::from(rest % self.slots);
        (rest / self.slots == u16::from(self.core) && flow < self.over.len()).then_some(flow)
    }

    /// The slot of the cluster with this number among those of the peer cores.
    fn owner_of(&self, flow: usize) -> Owner {
        let (node, slot) = (flow as u16 / self.slots, flow as u16 % self.slots);
        (node * self.cores + u16::from(self.core)) * self.slots + slot
    }

    /// The cell of a transaction.
    pub fn cell_of(&self, name: Name) -> Option<u32> {
        Some(self.flow_of(name.owner)? as u32 * 2 + (name.count & 1))
    }

    /// A write lands.
    pub fn land(&mut self, entry: &Entry<'_>, marks: &[Name]) {
        for mark in marks {
            let Some(flow) = self.flow_of(mark.owner) else { continue };
            self.over[flow] = self.over[flow].max(mark.count);
            self.arrivals.extend([flow as u32 * 2, flow as u32 * 2 + 1]);
        }
        let name = match *entry {
            Entry::Record { name, .. } | Entry::Committed { name } => name,
            Entry::Marks => return,
        };
        let Some(cell) = self.cell_of(name) else { return };
        let at = &mut self.cells[cell as usize];
        match entry {
            Entry::Record { is_committed, record, .. } => {
                let mut bytes = std::mem::take(&mut at.record);
                bytes.clear();
                record.encode(&mut bytes);
                *at = Cell {
                    count: name.count,
                    is_committed: *is_committed,
                    is_applied: false,
                    is_told: [false; 2],
                    record: bytes,
                };
                // A slot begins a transaction when the one before is over.
                let over = &mut self.over[cell as usize / 2];
                *over = (*over).max(name.count);
                self.arrivals.push(cell ^ 1);
            }
            _ if at.count == name.count => at.is_committed = true,
            _ => {}
        }
        self.arrivals.push(cell);
    }

    /// Whether something has come since the last poll.
    pub fn has_arrivals(&self) -> bool {
        !self.arrivals.is_empty()
    }

    /// Asks for the cells that have changed, before the first is looked at.
    pub fn prefetch(&self) {
        let cells = || self.arrivals.iter().map(|cell| &self.cells[*cell as usize]);
        cells().for_each(near::fetch_value);
        cells().for_each(|cell| near::fetch_start(&cell.record, 2));
    }

    /// The next thing to be done, if there is one. A record of several shards is `undecided` until its commit is
    /// known, or its slot has gone on; `early` takes it all the same: a planted bug.
    pub fn next(&mut self, early: bool) -> Option<Task> {
        while let Some(cell) = self.arrivals.pop() {
            let flow = cell as usize / 2;
            let over = self.over[flow];
            let owner = self.owner_of(flow);
            let at = &mut self.cells[cell as usize];
            let Some(record) = Record::kept(&at.record).filter(|_| at.count > 0) else {
                continue;
            };
            let is_decided = at.is_committed || over > at.count || !record.is_of_several() || early;
            let applies = !at.is_applied && is_decided;
            let is_untold = if at.is_committed { !at.is_told[1] } else { !at.is_told[0] };
            let is_news = applies || at.is_applied && is_untold;
            if !is_news {
                continue;
            }
            at.is_applied = true;
            at.is_told[usize::from(at.is_committed)] = true;
            let name = Name { owner, count: at.count };
            return Some(Task { name, cell, applies, is_committed: at.is_committed });
        }
        None
    }

    /// A cell.
    pub fn cell(&self, cell: u32) -> &Cell {
        &self.cells[cell as usize]
    }

    /// All cells that have a record, with the transaction of the slot that it is of.
    pub fn records(&self) -> impl Iterator<Item = (Name, &Cell)> {
        let all = self.cells.iter().enumerate().filter(|(_, cell)| cell.count > 0);
        all.map(|(at, cell)| (Name { owner: self.owner_of(at / 2), count: cell.count }, cell))
    }

    /// Empties it: of a view that is over.
    pub fn clear(&mut self) {
        self.cells.fill(Cell::default());
        self.over.fill(0);
        self.arrivals.clear();
    }
}
