// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device as small as can be: it reads a snapshot, locks rows in the store's lock table, builds new
//! versions in its own memory, and writes its pages when it is told to finalize them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lockdb::device_reader::DeviceReader;
use lockdb::files::{File, Files};
use lockdb::layout::{
    LinePointer, PAGE_BYTES, Page, PageBuffer, PageHeader, PageKind, Place, RecordId,
    VERSION_BYTES, placed_bytes,
};
use lockdb::near_data::{Adopted, Finalize, FinalizeError, Invocation, PageReservation};
use lockdb::schema::{RowBuffer, RowRef};
use lockdb::{Database, Isolation, Table};
use locks::machine::{Outcome, Rule};

/// The outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    Done,
    /// Another transaction has the row's lock.
    Busy {
        vid: u32,
    },
    /// Another transaction was faster.
    Conflict {
        vid: u32,
    },
}

/// Where in a job something else is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The snapshot is read, and nothing is locked.
    SnapshotTaken,
    /// The row is locked; its head is not looked at yet.
    Locked { vid: u32 },
}

pub struct TestDevice<'s> {
    store: &'s Database,
    pages_file: Arc<dyn File>,
    /// Reserved, and not begun.
    reservations: Vec<PageReservation>,
    built: BTreeMap<u64, Building>,
    /// The page that it appends to.
    open: Option<u64>,
    /// What it has to tell the host.
    pub rows: Vec<Adopted>,
    /// Rows that it leaves to the host, and the versions that it has locked of them.
    pub left: Vec<(u32, u32)>,
}

struct Building {
    bytes: Box<PageBuffer>,
    table: u32,
    lines: u16,
    upper: u16,
}

impl<'s> TestDevice<'s> {
    pub fn new(store: &'s Database, files: &dyn Files) -> Self {
        Self {
            store,
            pages_file: files.open("pages").unwrap(),
            reservations: Vec::new(),
            built: BTreeMap::new(),
            open: None,
            rows: Vec::new(),
            left: Vec::new(),
        }
    }

    /// More pages. It begins with the last.
    pub fn take_over(&mut self, reservations: Vec<PageReservation>) {
        self.reservations.extend(reservations);
    }

    /// Changes all rows of the snapshot that `change` gives `true` for.
    pub fn update(
        &mut self,
        invocation: &Invocation,
        table: &Table,
        change: impl Fn(&mut RowBuffer) -> bool,
    ) -> Job {
        self.update_slowly(invocation, table, change, |_| ())
    }

    /// As [`TestDevice::update`]; tells where it is.
    pub fn update_slowly(
        &mut self,
        invocation: &Invocation,
        table: &Table,
        change: impl Fn(&mut RowBuffer) -> bool,
        mut at: impl FnMut(Moment),
    ) -> Job {
        let rows = self.read(invocation, table);
        at(Moment::SnapshotTaken);
        let mut buffer = RowBuffer::new(table.schema());
        for (vid, number, record, payload) in rows {
            buffer.copy_from(RowRef::new(table.schema(), &payload));
            if !change(&mut buffer) {
                continue;
            }
            let key = table.lock_key(vid, number);
            let outcome = self.store.lock_table().acquire(invocation.timestamp, key, Rule::NoWait);
            let Outcome::Granted { again } = outcome else { return Job::Busy { vid } };
            at(Moment::Locked { vid });
            let head = table.vid_map().word(vid as usize).load(Ordering::Acquire);
            if head != record.word() {
                if invocation.isolation != Isolation::ReadCommitted {
                    return Job::Conflict { vid };
                }
                self.left.push((vid, number));
                continue;
            }
            let new = self.append(table.id(), (vid, number + 1), record, buffer.as_row().payload());
            let superseded_bytes = (LinePointer::BYTES + placed_bytes(payload.len())) as u32;
            self.rows.push(Adopted {
                vid,
                number: number + 1,
                record: new,
                predecessor: record,
                superseded_bytes,
                locked: !again,
            });
        }
        Job::Done
    }

    /// All rows of the snapshot: VID, number, place, bytes.
    fn read(&self, invocation: &Invocation, table: &Table) -> Vec<(u32, u32, RecordId, Vec<u8>)> {
        let mut storage = vec![0; self.pages_file.len().unwrap() as usize];
        self.pages_file.read_at(0, &mut storage).unwrap();
        let area = invocation.shared_state.bytes();
        let reader = DeviceReader::open(&storage[..], area).expect("what belongs together");
        let mut rows = Vec::new();
        for mut element in reader.elements(table.id(), invocation.snapshot, 2).unwrap() {
            let visited = element.visit(|row| {
                rows.push((row.vid, row.number, row.record, row.payload.to_vec()));
                ControlFlow::Continue(())
            });
            visited.expect("a device reads what the host has left for it");
        }
        rows
    }

    /// Puts a version into the open page, or the next one.
    fn append(
        &mut self,
        table: u32,
        (vid, number): (u32, u32),
        predecessor: RecordId,
        payload: &[u8],
    ) -> RecordId {
        let fits = |page: &Building| {
            let offset = usize::from(page.upper).checked_sub(placed_bytes(payload.len()))?;
            (offset >= LinePointer::at(usize::from(page.lines) + 1)).then_some(offset)
        };
        let open = self.open.filter(|page| {
            let page = &self.built[page];
            page.table == table && fits(page).is_some()
        });
        let page = open.unwrap_or_else(|| self.begin(table));
        let building = self.built.get_mut(&page).expect("the open page");
        let offset = fits(building).expect("a row fits into an empty page");
        let line = building.lines;
        let bytes = &mut building.bytes.0;
        // `created` stays 0 until the page is finalized.
        bytes[offset + 16..][..8].copy_from_slice(&predecessor.word().to_le_bytes());
        bytes[offset + 24..][..4].copy_from_slice(&vid.to_le_bytes());
        bytes[offset + 28..][..4].copy_from_slice(&number.to_le_bytes());
        bytes[offset + VERSION_BYTES..][..payload.len()].copy_from_slice(payload);
        let pointer = LinePointer::new(offset, payload.len(), false);
        bytes[LinePointer::at(line.into())..][..4].copy_from_slice(&pointer.0.to_le_bytes());
        building.lines += 1;
        building.upper = offset as u16;
        RecordId::new(page, line as u8)
    }

    fn begin(&mut self, table: u32) -> u64 {
        let page = self.reservations.pop().expect("enough pages were reserved").page;
        let bytes = Box::new(PageBuffer::ZERO);
        self.built.insert(page, Building { bytes, table, lines: 0, upper: PAGE_BYTES as u16 });
        self.open = Some(page);
        page
    }

    /// Stamps its pages, writes and syncs them.
    pub fn finalize(&mut self, finalize: &Finalize<'_>) -> Result<(), FinalizeError> {
        for &PageReservation { page, place } in finalize.pages {
            self.write(finalize, page, place)?;
        }
        self.pages_file.sync().map_err(FinalizeError::new)
    }

    fn write(
        &mut self,
        finalize: &Finalize<'_>,
        page: u64,
        place: u64,
    ) -> Result<(), FinalizeError> {
        let &mut Building { ref mut bytes, table, lines, upper } =
            self.built.get_mut(&page).ok_or_else(|| FinalizeError::new("no such page"))?;
        let offsets: Vec<usize> =
            (0..usize::from(lines)).map(|line| Page::new(&bytes.0).line(line).offset()).collect();
        for offset in offsets {
            bytes.0[offset..][..8].copy_from_slice(&finalize.commit.to_le_bytes());
        }
        let header = PageHeader::new(PageKind::Data, page, table);
        let (newest, epoch, store) = (finalize.commit, finalize.epoch, finalize.store);
        bytes.finalize(PageHeader { lines, upper, newest, epoch, store, ..header });
        assert!(Place::from_word(place).is_of(epoch), "the place is of the finalization's epoch");
        let offset = Place::from_word(place).physical() * PAGE_BYTES as u64;
        self.pages_file.write_at(offset, &bytes.0).map_err(FinalizeError::new)
    }
}
