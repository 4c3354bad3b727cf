// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same jobs done by the host, for comparison: the pages come over the link to the program,
//! instead of the program to the pages.
//!
//! Rows are found by the same walk ([`ProcessingElement`](lockdb::device_reader::ProcessingElement))
//! and evaluated by the same program machine, so that results are equal. Every page of native
//! storage that the walk touches is pulled over the link once. This models a host that has no page
//! of the table in memory at first, and keeps 32 MiB of it. New versions are written to the device
//! with the next flush; they count as the number of pages that they fill.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lockdb::device_reader::{DeviceError, DeviceReader, DeviceRow, PhysicalPages};
use lockdb::layout::{LinePointer, PAGE_BYTES, PageBuffer, PageHeader, RecordId, placed_bytes};
use lockdb::schema::{RowBuffer, Value};
use lockdb::{Error, Isolation, Table, Transaction};

use super::error::NearDataJobError;
use super::prepared::PreparedUpdate;
use super::report::{LinkBytes, Phases};
use super::update::change_row;
use super::work::lap;
use crate::program::{
    AggregateError, Aggregation, Evaluation, EvaluationError, Group, Outputs, Program, evaluate,
};

/// What a job did that the host has done itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPathReport {
    /// Rows that were changed, or given.
    pub rows: u64,
    /// Pages that were pulled over the link.
    pub pages_pulled: u64,
    /// `device` is the time to find the rows, `left` that to change them.
    pub phases: Phases,
    /// The bytes over the link.
    pub link: LinkBytes,
}

/// The host's own way to native storage.
pub struct HostPath<'p> {
    pages: &'p (dyn PhysicalPages + 'p),
}

/// Native storage on the other side of the link.
struct Pulled<'p> {
    pages: &'p (dyn PhysicalPages + 'p),
    count: AtomicU64,
}

impl PhysicalPages for Pulled<'_> {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.pages.read(physical, into)
    }
}

impl<'p> HostPath<'p> {
    /// Over these pages of native storage, such as the store's file `pages`, mapped.
    pub fn new(pages: &'p (dyn PhysicalPages + 'p)) -> Self {
        Self { pages }
    }

    /// As [`NearTransaction::update`](super::NearTransaction::update); the commit is the caller's, and
    /// ordinary.
    ///
    /// # Errors
    /// [`NearDataJobError::Store`], [`NearDataJobError::RowFaults`], [`NearDataJobError::Evaluation`]. A
    /// conflict has ended the transaction; after others it can go
    /// on, with what was changed up to then: roll it back.
    pub fn update(
        &self,
        transaction: &mut Transaction<'_>,
        update: &PreparedUpdate<'_>,
    ) -> Result<HostPathReport, NearDataJobError> {
        let mut since = Instant::now();
        let mut report = HostPathReport::default();
        let PreparedUpdate { table, compiled } = update;
        let mut keys: Vec<Vec<Value>> = Vec::new();
        let (primary, mut damaged) = (table.schema().primary_key(), Vec::new());
        self.find(transaction, table, &compiled.program, &mut report, &mut |row, _| {
            match row.columns(table.schema()) {
                Ok(row) => {
                    keys.push(primary.iter().map(|&column| row.get(column).to_value()).collect());
                }
                Err(_) => damaged.push((row.vid, EvaluationError::RowDamaged.code())),
            }
            ControlFlow::Continue(())
        })?;
        if !damaged.is_empty() {
            let (table, total) = (table.name().into(), damaged.len() as u64);
            return Err(NearDataJobError::RowFaults { table, total, first: damaged });
        }
        report.phases.device = lap(&mut since);
        let (mut new, mut bytes) = (RowBuffer::new(table.schema()), 0);
        for key in &keys {
            let (mut fault, mut passed_over) = (None, false);
            let changed = transaction.update(table, &key[..], |row| {
                match change_row(table, compiled, row, &mut new) {
                    Ok(Some(())) => Ok(row.bytes().len()),
                    Ok(None) => {
                        passed_over = true;
                        Err(Error::RolledBack("the row does not qualify any more".into()))
                    }
                    Err(found) => {
                        fault = Some(found);
                        Err(Error::RolledBack(found.to_string()))
                    }
                }
            });
            if let Some(fault) = fault {
                // It was found by its key; its number is not used here.
                let (table, vid) = (table.name().into(), 0);
                return Err(NearDataJobError::Evaluation { table, vid, fault });
            }
            if !passed_over && let Some(payload) = changed? {
                report.rows += 1;
                bytes += (placed_bytes(payload) + LinePointer::BYTES) as u64;
            }
        }
        report.phases.left = lap(&mut since);
        let room = (PAGE_BYTES - PageHeader::BYTES) as u64;
        report.link.pages_written = bytes.div_ceil(room) * PAGE_BYTES as u64;
        Ok(report)
    }

    /// As [`NearTransaction::select`](super::NearTransaction::select), with a program that was compiled
    /// before: `visit` gets each row that qualifies, and its outputs.
    ///
    /// # Errors
    /// [`NearDataJobError::Store`], [`NearDataJobError::RowFaults`].
    pub fn select(
        &self,
        transaction: &mut Transaction<'_>,
        table: &Table,
        program: &Program,
        mut visit: impl FnMut(DeviceRow<'_>, &Outputs) -> ControlFlow<()>,
    ) -> Result<HostPathReport, NearDataJobError> {
        let mut since = Instant::now();
        let (mut report, mut rows) = (HostPathReport::default(), 0);
        self.find(transaction, table, program, &mut report, &mut |row, outputs| {
            rows += 1;
            visit(row, outputs)
        })?;
        report.rows = rows;
        report.phases.device = lap(&mut since);
        Ok(report)
    }

    /// As [`NearTransaction::aggregate`](super::NearTransaction::aggregate), with a program that was
    /// compiled before, and an aggregation that has taken in nothing.
    ///
    /// # Errors
    /// Those of [`HostPath::select`]; then those of the aggregation.
    pub fn aggregate(
        &self,
        transaction: &mut Transaction<'_>,
        table: &Table,
        program: &Program,
        mut aggregation: Aggregation,
    ) -> Result<(Result<Vec<Group>, AggregateError>, HostPathReport), NearDataJobError> {
        let mut failed = None;
        let report = self.select(transaction, table, program, |_, outputs| {
            match aggregation.add(outputs) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        let groups = failed.map_or_else(|| aggregation.finish(), Err);
        Ok((groups, report))
    }

    /// Pulls the table's pages and gives the rows that qualify.
    fn find(
        &self,
        transaction: &mut Transaction<'_>,
        table: &Table,
        program: &Program,
        report: &mut HostPathReport,
        visit: &mut dyn FnMut(DeviceRow<'_>, &Outputs) -> ControlFlow<()>,
    ) -> Result<(), NearDataJobError> {
        let state = transaction.shared_state()?;
        let snapshot = match transaction.isolation() {
            Isolation::ReadCommitted => state.snapshot(),
            Isolation::Snapshot | Isolation::Serializable => transaction.snapshot(),
        };
        let pulled = Pulled { pages: self.pages, count: AtomicU64::new(0) };
        let (mut total, mut faults) = (0, Vec::new());
        let mut outputs = Outputs::default();
        let mut walk = || -> Result<(), DeviceError> {
            let reader = DeviceReader::open(&pulled, state.bytes())?;
            reader.element(table.id(), snapshot)?.visit_each(|row| {
                let judged = match row {
                    Ok(row) => evaluate(program, row.payload, &mut outputs)
                        .map(|judged| (row, judged))
                        .map_err(|fault| (row.vid, fault.code())),
                    Err(broken) => Err((broken.vid, broken.fault.code())),
                };
                match judged {
                    Ok((row, Evaluation::Passes)) => visit(row, &outputs),
                    Ok((_, Evaluation::Fails)) => ControlFlow::Continue(()),
                    Err(fault) => {
                        total += 1;
                        faults.push(fault);
                        ControlFlow::Continue(())
                    }
                }
            });
            Ok(())
        };
        walk().map_err(unreadable)?;
        report.pages_pulled = pulled.count.into_inner();
        report.link.pages_pulled = report.pages_pulled * PAGE_BYTES as u64;
        match faults.is_empty() {
            true => Ok(()),
            false => {
                let table = table.name().into();
                Err(NearDataJobError::RowFaults { table, total, first: faults })
            }
        }
    }
}

/// Native storage, or the shared state, as the host's own error.
fn unreadable(error: DeviceError) -> NearDataJobError {
    let (file, what) = ("pages".into(), error.to_string());
    let offset = match error {
        DeviceError::Page { physical, .. } => physical * PAGE_BYTES as u64,
        _ => RecordId::NONE.word(),
    };
    NearDataJobError::Store(Error::Corrupt { file, offset, what })
}
