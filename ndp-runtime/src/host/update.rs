// SPDX-License-Identifier: MIT OR Apache-2.0
//! A near-data update, from its program to the versions that the transaction has taken over.

use std::time::Instant;

use lockdb::near_data::{Adopted, Invocation, PageReservation};
use lockdb::schema::RowBuffer;
use lockdb::{Error, Table};
use locks::Policy;

use super::error::NearDataJobError;
use super::options::{JobOptions, Progress};
use super::prepared::PreparedUpdate;
use super::report::UpdateReport;
use super::transaction::NearTransaction;
use super::watch::Watch;
use super::work::{Parts, Work, lap};
use crate::job::{
    Descriptor, Entry, JobCompletion, Span, Status, Task, Update, UpdateEntry, UpdateKind,
};
use crate::program::{CompiledUpdate, Evaluation, Outputs, apply, evaluate};

/// Faults of rows that an error names, at most.
const NAMED_FAULTS: usize = 100;

impl<'r> NearTransaction<'r, '_, '_> {
    /// Has the device change rows of a table. It must be the transaction's first write of the table,
    /// and the last: until the commit the new rows are on the device alone.
    ///
    /// # Errors
    /// [`NearDataJobError::Store`] with [`Error::ForeignTable`], or the others of
    /// `Transaction::near_data`, before the device is given anything. All others end the transaction;
    /// of those [`NearDataJobError::is_conflict`] tells whether to run it again.
    pub fn update(
        &mut self,
        update: &PreparedUpdate<'_>,
        options: &JobOptions<'_>,
    ) -> Result<UpdateReport, NearDataJobError> {
        let mut since = Instant::now();
        let mut report = UpdateReport::default();
        let PreparedUpdate { table, compiled } = update;
        let invocation = self.transaction.near_data(table)?;
        let reservations =
            self.transaction.reserve_pages(table, options.reservations.clamp(1, 4096))?;
        // From here on the device may come to hold locks of the transaction.
        let mut work = match self.begin_update(table, compiled, &invocation, &reservations, options)
        {
            Ok(work) => work,
            Err(failure) => return Err(self.fail(failure)),
        };
        report.phases.prepare = lap(&mut since);
        let drained = self.drain_update(&mut work, table, &invocation, options, &mut report);
        report.phases.device = lap(&mut since);
        let done = drained.and_then(|left| {
            if report.device.written == 0 {
                work.forget()?;
            }
            let changed = self.change_left(table, compiled, &left, &mut report);
            report.phases.left = lap(&mut since);
            changed
        });
        if let Err(failure) = done {
            let rest = work.stop().and_then(|()| work.forget());
            return Err(match rest {
                Err(not_fenced @ NearDataJobError::NotFenced { .. }) => self.fail(not_fenced),
                _ => self.fail(failure),
            });
        }
        report.rows = report.device.written + report.by_host;
        report.link = work.link;
        report.link.count_accesses(&report.device);
        // A job without versions has nothing to finalize, and was forgotten.
        if report.device.written > 0 {
            self.updates.push(work);
        }
        Ok(report)
    }

    fn begin_update(
        &self,
        table: &Table,
        compiled: &CompiledUpdate,
        invocation: &Invocation,
        reservations: &[PageReservation],
        options: &JobOptions<'_>,
    ) -> Result<Work<'r>, NearDataJobError> {
        let runtime = self.runtime;
        let reached = runtime.lock_table().and_then(|locks| Ok((locks, runtime.vid_map(table)?)));
        let (locks, vid_map) = reached.map_err(NearDataJobError::lost)?;
        let state = invocation.shared_state.bytes();
        let parts =
            Parts::new(options.result_bytes, options.reservations.clamp(1, 4096), state.len());
        Work::begin(runtime, parts, state, reservations, |at| Descriptor {
            table: invocation.table,
            snapshot: invocation.snapshot,
            shared_state: at.shared_state,
            result: at.result,
            elements: options.elements,
            program: compiled.program.encode(),
            task: Task::Update(Update {
                isolation: invocation.isolation,
                timestamp: invocation.timestamp,
                locks,
                vid_map: Span { address: vid_map, bytes: u64::from(invocation.vids) * 8 },
                reservations: at.reservations,
                reservation_count: reservations.len() as u32,
                lock_wait: self.lock_wait().as_nanos() as u64,
                poll_interval: runtime.options().poll_interval.as_nanos() as u64,
                rows: options.rows,
                assignments: compiled.assignments.clone(),
            }),
        })
    }

    fn lock_wait(&self) -> std::time::Duration {
        let waiting = &self.runtime.options().waiting;
        match waiting.policy {
            Policy::NoWait => std::time::Duration::ZERO,
            _ => waiting.timeout,
        }
    }

    /// Takes the result set over, chunk by chunk. Gives the rows that are left to the host.
    fn drain_update(
        &mut self,
        work: &mut Work<'r>,
        table: &Table,
        invocation: &Invocation,
        options: &JobOptions<'_>,
        report: &mut UpdateReport,
    ) -> Result<Vec<u32>, NearDataJobError> {
        let (runtime, bound) = (self.runtime, options.time_out);
        let (waiting, cancel) = (runtime.options().waiting, &options.cancel);
        let transaction = Some(invocation.timestamp);
        let mut watch = Watch::new(runtime.database(), transaction, waiting, cancel, bound);
        let mut left = Vec::new();
        loop {
            let progress =
                Progress { chunks: report.chunks, device: report.device, vids: invocation.vids };
            let done = work.wait(&mut watch, &mut || {
                options.progress.inspect(|call| call(&progress));
            })?;
            if !matches!(done.status, Status::Done | Status::More) {
                return Err(self.ended_by(work, table, invocation.snapshot, &done));
            }
            let mut since = Instant::now();
            let chunk = work.chunk(&done)?;
            report.device = chunk.statistics();
            report.chunks += 1;
            let wants_reservations = chunk.wants_reservations();
            let entries: Vec<UpdateEntry> = chunk.entries().filter_map(of_update).collect();
            self.take_over(table, &entries, &mut left)?;
            report.phases.adopt += lap(&mut since);
            if done.status == Status::Done {
                return Ok(left);
            }
            let reservations = match wants_reservations {
                true => {
                    self.transaction.reserve_pages(table, options.reservations.clamp(1, 4096))?
                }
                false => Vec::new(),
            };
            work.resume(&reservations)?;
        }
    }

    /// Takes over what a chunk says: new versions, and locks of rows that have none.
    fn take_over(
        &mut self,
        table: &Table,
        entries: &[UpdateEntry],
        left: &mut Vec<u32>,
    ) -> Result<(), NearDataJobError> {
        let mut written = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.update_kind() {
                Some(UpdateKind::Written) => written.push(adopted(entry)),
                Some(UpdateKind::Left) => {
                    self.transaction.adopt_lock(table, entry.vid, entry.number)?;
                    left.push(entry.vid);
                }
                Some(UpdateKind::Locked) => {
                    self.transaction.adopt_lock(table, entry.vid, entry.number)?;
                }
                None => unreachable!("the kinds of a verified chunk are known"),
            }
        }
        Ok(self.transaction.adopt(table, &written)?)
    }

    /// Changes the rows whose newest versions are in the host's memory, by the same program.
    fn change_left(
        &mut self,
        table: &Table,
        compiled: &CompiledUpdate,
        left: &[u32],
        report: &mut UpdateReport,
    ) -> Result<(), NearDataJobError> {
        let mut new = RowBuffer::new(table.schema());
        for &vid in left {
            let mut fault = None;
            let changed = self.transaction.update_left(table, vid, |row| {
                change_row(table, compiled, row, &mut new).map_err(|found| {
                    fault = Some(found);
                    Error::RolledBack(found.to_string())
                })
            });
            if let Some(fault) = fault {
                let table = table.name().into();
                return Err(NearDataJobError::Evaluation { table, vid, fault });
            }
            match changed? {
                Some(()) => report.by_host += 1,
                None => report.passed_over += 1,
            }
        }
        Ok(())
    }

    /// The error of an update that the device has ended.
    fn ended_by(
        &self,
        work: &mut Work<'r>,
        table: &Table,
        snapshot: u64,
        done: &JobCompletion,
    ) -> NearDataJobError {
        let (vid, table) = (done.detail as u32, table.name().to_owned());
        match done.status {
            Status::Conflict => NearDataJobError::Changed { table, vid, snapshot },
            Status::LockTimeout => {
                NearDataJobError::LockTimeout { table, vid, waited: self.lock_wait() }
            }
            Status::Cancelled => NearDataJobError::Cancelled,
            Status::RowFaults => match work.chunk(done) {
                Ok(chunk) => {
                    let faults = chunk.entries().filter_map(|entry| match entry {
                        Entry::Fault(fault) => Some((fault.vid, fault.code)),
                        _ => None,
                    });
                    let first = faults.take(NAMED_FAULTS).collect();
                    let total = chunk.statistics().faults;
                    NearDataJobError::RowFaults { table, total, first }
                }
                Err(fault) => fault.into(),
            },
            status => work.refusal(status, done),
        }
    }
}

/// Changes a row as the device would. `None` when it does not qualify.
pub(super) fn change_row(
    table: &Table,
    compiled: &CompiledUpdate,
    row: &mut RowBuffer,
    new: &mut RowBuffer,
) -> Result<Option<()>, crate::program::EvaluationError> {
    let mut outputs = Outputs::default();
    match evaluate(&compiled.program, row.bytes(), &mut outputs)? {
        Evaluation::Fails => Ok(None),
        Evaluation::Passes => {
            apply(&compiled.assignments, table.schema(), row.bytes(), &outputs, new)?;
            row.copy_from(new.as_row());
            Ok(Some(()))
        }
    }
}

fn of_update(entry: Entry<'_>) -> Option<UpdateEntry> {
    match entry {
        Entry::Update(entry) => Some(entry),
        _ => None,
    }
}

fn adopted(entry: &UpdateEntry) -> Adopted {
    Adopted {
        vid: entry.vid,
        number: entry.number,
        record: lockdb::layout::RecordId::from_word(entry.record),
        predecessor: lockdb::layout::RecordId::from_word(entry.predecessor),
        superseded_bytes: entry.superseded,
        locked: entry.newly_held(),
    }
}
