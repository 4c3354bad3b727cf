// SPDX-License-Identifier: MIT OR Apache-2.0
//! The processing of an update's qualifying rows.

use lockdb::layout::{LinePointer, next_version, placed_bytes};
use lockdb::schema::{RowBuffer, Schema};

use super::card::{Card, LockResponse};
use super::locks::Tags;
use super::mutant::{Mutant, Planted};
use super::row_update::{Action, Input, RowEnd};
use super::rows::{FoundRow, Row, Rows};
use super::work::{Ending, NoRoom, Results, fault_entry};
use super::writer::{NewVersion, VersionWriter};
use crate::job::{Statistics, Status, Update, UpdateEntry, UpdateKind};
use crate::program::{Assignment, EvaluationError, apply};

/// The rows of an update that are under way, and the versions that it has written.
pub(super) struct Updating {
    rows: Rows,
    most_rows: usize,
    assignments: Vec<Assignment>,
    schema: Schema,
    row: RowBuffer,
    pub(super) writer: VersionWriter,
    mutants: Planted,
}

/// The outcome of a step.
pub(super) struct Stepped {
    pub(super) worked: bool,
    /// The job has to end, for this reason.
    pub(super) ending: Option<Ending>,
}

impl Updating {
    pub(super) fn new(
        table: u32,
        update: Update,
        schema: Schema,
        writer: VersionWriter,
        mutants: Planted,
    ) -> Self {
        Self {
            rows: Rows::new(table, &update, mutants),
            most_rows: update.rows.into(),
            row: RowBuffer::new(&schema),
            assignments: update.assignments,
            schema,
            writer,
            mutants,
        }
    }

    /// A tag for one more row, if one may begin.
    pub(super) fn free_tag(&self, job: u32, tags: &mut Tags) -> Option<u8> {
        if self.rows.len() < self.most_rows { tags.take(job) } else { None }
    }

    pub(super) fn begin(&mut self, tag: u8, row: FoundRow) {
        self.rows.begin(tag, row);
    }

    pub(super) fn respond(
        &mut self,
        response: LockResponse,
        now: u64,
        statistics: &mut Statistics,
    ) {
        self.rows.respond(response, now, statistics);
    }

    /// Whether no row is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many pages have versions.
    pub(super) fn pages(&self) -> usize {
        self.writer.pages()
    }

    /// Continues with all rows; with `stop`, to their ends.
    pub(super) fn step(
        &mut self,
        card: &mut dyn Card,
        tags: &mut Tags,
        results: &mut Results,
        mut stop: bool,
    ) -> Result<Stepped, NoRoom> {
        let mut stepped = Stepped { worked: false, ending: None };
        let mut no_room = None;
        for tag in self.rows.tags() {
            if stop {
                self.rows.row_mut(tag).machine.resume(Input::Cancel);
            }
            stepped.worked |= self.rows.drive(tag, card, &mut results.statistics);
            let settled = match self.rows.row_mut(tag).machine.action() {
                Action::Write => self.write(tag, results),
                _ => Ok(None),
            };
            let settled =
                settled.and_then(|fault| Ok(fault.or(self.settle(tag, tags, results, stop)?)));
            match settled {
                Ok(None) => {}
                Ok(Some(ending)) => {
                    stepped.ending.get_or_insert(ending);
                    stop = true;
                }
                // Others may still have something to do that needs no room.
                Err(room) => no_room = Some(room),
            }
        }
        match no_room {
            // Rows that have no room are cancelled in the next step.
            Some(room) if !stop => Err(room),
            _ => Ok(stepped),
        }
    }

    /// Writes a row's new version, and its entry.
    fn write(&mut self, tag: u8, results: &mut Results) -> Result<Option<Ending>, NoRoom> {
        let row = self.rows.row_mut(tag);
        let found = &row.found;
        if !results.has_room(UpdateEntry::BYTES) {
            return Err(NoRoom::Entry);
        }
        let made =
            apply(&self.assignments, &self.schema, &found.payload, &found.outputs, &mut self.row);
        let number = next_version(found.number).ok_or(EvaluationError::VersionsUsedUp);
        let mut number = match made.and(number) {
            Ok(number) => number,
            Err(fault) => {
                results.statistics.faults += 1;
                let vid = found.vid;
                row.machine.resume(Input::Cancel);
                results.push(&fault_entry(vid, fault.code()))?;
                return Ok(Some(Ending::new(Status::RowFaults, 1)));
            }
        };
        if self.mutants.has(Mutant::NumberKept) {
            number = found.number;
        }
        let predecessor = match self.mutants.has(Mutant::PredecessorLost) {
            true => lockdb::layout::RecordId::NONE,
            false => found.record,
        };
        let payload = self.row.bytes();
        let version = NewVersion { vid: found.vid, number, predecessor, payload };
        let record = self.writer.append(&version).ok_or(NoRoom::Page)?;
        let entry = UpdateEntry {
            kind: UpdateKind::Written as u8,
            flags: u8::from(row.newly_held),
            reserved: 0,
            vid: found.vid,
            number,
            superseded: (LinePointer::BYTES + placed_bytes(found.payload.len())) as u32,
            record: record.word(),
            predecessor: found.record.word(),
        };
        results.push(&entry.encode())?;
        results.statistics.written += 1;
        row.machine.resume(Input::Written);
        Ok(None)
    }

    /// Frees a row that has ended; says whether the job has to end with it.
    fn settle(
        &mut self,
        tag: u8,
        tags: &mut Tags,
        results: &mut Results,
        stop: bool,
    ) -> Result<Option<Ending>, NoRoom> {
        let row = self.rows.row_mut(tag);
        let Some(end) = row.machine.end() else { return Ok(None) };
        if !row.is_idle() && !self.mutants.has(Mutant::TagFreedWithPollOpen) {
            return Ok(None);
        }
        let vid = u64::from(row.found.vid);
        match end {
            RowEnd::Written => {}
            RowEnd::Left if !stop => {
                results.push(&entry_of(row, UpdateKind::Left))?;
                results.statistics.left += 1;
            }
            // The job ends, and the host repairs the lock table: an entry more or less does not
            // matter.
            end if end.is_locked() => {
                let _ = results.push(&entry_of(row, UpdateKind::Locked));
            }
            _ => {}
        }
        let row = self.rows.remove(tag);
        tags.give_back(tag);
        Ok(match end {
            RowEnd::Written | RowEnd::Left | RowEnd::Cancelled { .. } => None,
            RowEnd::Conflict => Some(Ending::new(Status::Conflict, vid)),
            RowEnd::TimedOut => Some(Ending::new(Status::LockTimeout, vid)),
            RowEnd::Failed { .. } => {
                let (status, detail) = row.failure.unwrap_or((Status::LockUnit, 0));
                Some(Ending::new(status, detail))
            }
        })
    }

    /// Takes all rows away with whatever they have open: a planted fault.
    pub(super) fn drop_rows(&mut self, tags: &mut Tags) {
        for tag in self.rows.tags() {
            self.rows.forget(tag);
            tags.give_back(tag);
        }
    }
}

/// The entry of a row that was locked and not written.
fn entry_of(row: &Row, kind: UpdateKind) -> [u8; UpdateEntry::BYTES] {
    UpdateEntry {
        kind: kind as u8,
        flags: u8::from(row.newly_held),
        vid: row.found.vid,
        number: row.found.number,
        predecessor: row.found.record.word(),
        ..UpdateEntry::default()
    }
    .encode()
}
