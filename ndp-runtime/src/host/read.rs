// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data reads: rows, and aggregates of them.

use std::ops::ControlFlow;
use std::time::Instant;

use lockdb::Table;
use lockdb::schema::{Type, Value};

use super::error::NearDataJobError;
use super::options::{JobOptions, Progress};
use super::report::ReadReport;
use super::transaction::NearTransaction;
use super::watch::Watch;
use super::work::{Parts, Work, lap};
use crate::job::{
    Aggregating, Descriptor, DescriptorHeader, Entry, GroupEntry, RowEntry, Status, Task,
};
use crate::program::{Aggregate, Aggregation, Compiled, compile_select};

/// Faults that a report names, at most.
const NAMED_FAULTS: usize = 1000;

/// A row that a select gives.
#[derive(Clone, Copy, Debug)]
pub struct SelectedRow<'a> {
    entry: RowEntry<'a>,
    types: &'a [Type],
}

impl<'a> SelectedRow<'a> {
    /// The tuple.
    pub fn vid(&self) -> u32 {
        self.entry.head.vid
    }

    /// Number of the version.
    pub fn number(&self) -> u32 {
        self.entry.head.number
    }

    /// The row's bytes by its table's schema; empty when outputs were asked for.
    pub fn payload(&self) -> &'a [u8] {
        self.entry.payload
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.types.len()
    }

    /// An output.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn value(&self, output: usize) -> Value {
        value(self.types[output], self.entry.value(output))
    }
}

/// A group of an aggregation, and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregatedGroup {
    /// What is common to the group; null if rows were not grouped, and for those where it is null.
    pub group: Value,
    /// The result.
    pub value: Value,
}

/// The aggregated value.
#[derive(Clone, Copy, Debug)]
pub struct AggregateOf<'a> {
    /// The aggregate of the values.
    pub aggregate: Aggregate,
    /// The values: an expression.
    pub value: &'a str,
    /// What to group by: an expression.
    pub group: Option<&'a str>,
    /// Maximum number of groups.
    pub groups: u32,
}

impl<'r> NearTransaction<'r, '_, '_> {
    /// Has the device give the rows of a table that satisfy a predicate (`None`: all), as they are
    /// at the transaction's snapshot: the outputs, which are expressions, or with none the whole
    /// rows. They come in no particular order. `visit` may stop early.
    ///
    /// Rows that the device cannot read are in the report, and not visited.
    ///
    /// # Errors
    /// See [`NearDataJobError`]; the transaction continues.
    pub fn select(
        &mut self,
        table: &Table,
        predicate: Option<&str>,
        outputs: &[&str],
        options: &JobOptions<'_>,
        mut visit: impl FnMut(SelectedRow<'_>) -> ControlFlow<()>,
    ) -> Result<SelectReport, NearDataJobError> {
        let since = Instant::now();
        let compiled = compile_select(table.id(), table.schema(), predicate, outputs)?;
        let task = Task::Select { payloads: outputs.is_empty() };
        let (types, mut rows) = (compiled.types.clone(), 0);
        let mut faults = Vec::new();
        let read = self.read(table, &compiled, task, options, since, &mut |entry| match entry {
            Entry::Row(entry) => {
                rows += 1;
                visit(SelectedRow { entry, types: &types })
            }
            Entry::Fault(fault) => {
                if faults.len() < NAMED_FAULTS {
                    faults.push((fault.vid, fault.code));
                }
                ControlFlow::Continue(())
            }
            Entry::Update(_) | Entry::Group(_) => ControlFlow::Continue(()),
        })?;
        Ok(SelectReport { read: ReadReport { rows, ..read }, faults })
    }

    /// Has the device count, add up, or find the least or greatest of the values of an expression,
    /// over the rows that satisfy a predicate, by groups if asked. Groups come in their order.
    ///
    /// # Errors
    /// See [`NearDataJobError`]; [`NearDataJobError::RowFaults`] when a row cannot be read. The
    /// transaction continues.
    pub fn aggregate(
        &mut self,
        table: &Table,
        predicate: Option<&str>,
        of: AggregateOf<'_>,
        options: &JobOptions<'_>,
    ) -> Result<(Vec<AggregatedGroup>, ReadReport), NearDataJobError> {
        let since = Instant::now();
        let outputs: Vec<&str> = [of.value].into_iter().chain(of.group).collect();
        let compiled = compile_select(table.id(), table.schema(), predicate, &outputs)?;
        let (value_type, group_type) = (compiled.types[0], compiled.types.get(1).copied());
        let groups = of.groups.min(DescriptorHeader::MOST_GROUPS);
        let refused = |error: crate::program::AggregateTypeError| NearDataJobError::Refused {
            status: Status::BadProgram,
            detail: 0,
            reason: error.to_string(),
        };
        let empty = Aggregation::new(of.aggregate, value_type, group_type, groups as usize);
        let result_type = empty.map_err(refused)?.result_type();
        let task = Task::Aggregate(Aggregating {
            aggregate: of.aggregate,
            value: value_type,
            group: group_type,
            groups,
        });
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        let read = self.read(table, &compiled, task, options, since, &mut |entry| {
            match entry {
                Entry::Group(entry) => found.push(group(&entry, group_type, result_type)),
                Entry::Fault(fault) => faults.push((fault.vid, fault.code)),
                Entry::Row(_) | Entry::Update(_) => {}
            }
            ControlFlow::Continue(())
        })?;
        if !faults.is_empty() {
            let (table, total) = (table.name().into(), read.device.faults);
            return Err(NearDataJobError::RowFaults { table, total, first: faults });
        }
        let rows = found.len() as u64;
        Ok((found, ReadReport { rows, ..read }))
    }

    fn read(
        &mut self,
        table: &Table,
        compiled: &Compiled,
        task: Task,
        options: &JobOptions<'_>,
        mut since: Instant,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<ReadReport, NearDataJobError> {
        let mut report = ReadReport::default();
        let invocation = self.transaction.near_data(table)?;
        let state = invocation.shared_state.bytes();
        let parts = Parts::new(options.result_bytes, 0, state.len());
        let mut work = Work::begin(self.runtime, parts, state, &[], |at| Descriptor {
            table: invocation.table,
            snapshot: invocation.snapshot,
            shared_state: at.shared_state,
            result: at.result,
            elements: options.elements,
            program: compiled.program.encode(),
            task,
        })?;
        report.phases.prepare = lap(&mut since);
        let (runtime, cancel) = (self.runtime, &options.cancel);
        let (waiting, bound) = (runtime.options().waiting, options.time_out);
        let mut watch = Watch::new(runtime.database(), None, waiting, cancel, bound);
        loop {
            let (chunks, vids) = (report.chunks, invocation.vids);
            let progress = Progress { chunks, device: report.device, vids };
            let done = work.wait(&mut watch, &mut || {
                options.progress.inspect(|call| call(&progress));
            })?;
            match done.status {
                Status::Done | Status::More | Status::RowFaults => {}
                Status::Cancelled => return Err(NearDataJobError::Cancelled),
                status => return Err(work.refusal(status, &done)),
            }
            let chunk = work.chunk(&done)?;
            report.device = chunk.statistics();
            report.chunks += 1;
            let broken = chunk.entries().any(|entry| visit(entry).is_break());
            if broken || done.status != Status::More {
                break;
            }
            work.resume(&[])?;
        }
        report.phases.device = lap(&mut since);
        work.stop()?;
        work.forget()?;
        report.link = work.link;
        Ok(report)
    }
}

/// The result of a select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectReport {
    /// Rows, time, bytes.
    pub read: ReadReport,
    /// Rows that the device cannot read, and why: the first 1,000 of them.
    pub faults: Vec<(u32, u8)>,
}

fn value(kind: Type, bits: Option<u64>) -> Value {
    match (bits, kind) {
        (None, _) => Value::Null,
        (Some(bits), Type::Float64) => Value::Float(f64::from_bits(bits)),
        (Some(bits), Type::Bool) => Value::Bool(bits != 0),
        (Some(bits), Type::Fixed(length)) => {
            let length = usize::from(length).min(8);
            Value::Bytes(bits.to_le_bytes()[..length].to_vec())
        }
        (Some(bits), _) => Value::Int(bits.cast_signed()),
    }
}

fn group(entry: &GroupEntry, group_type: Option<Type>, result_type: Type) -> AggregatedGroup {
    let has = |flag: u8, bits: u64| (entry.flags & flag == 0).then_some(bits);
    AggregatedGroup {
        group: value(group_type.unwrap_or(Type::Int64), has(1, entry.key)),
        value: value(result_type, has(2, entry.value)),
    }
}
