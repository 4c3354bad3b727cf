// SPDX-License-Identifier: MIT OR Apache-2.0
//! A job that begins: its descriptor, shared state, program and reservations are read and checked.

use std::ops::Range;
use std::sync::Arc;

use lockdb::device_reader::DeviceError;
use lockdb::near_data::PageReservation;

use super::card::{Card, HostError};
use super::locks::Tags;
use super::mutant::Planted;
use super::snapshot::{ElementTask, Snapshot};
use super::updating::Updating;
use super::work::{Doing, Ending, Work};
use super::writer::VersionWriter;
use crate::job::{
    Aggregating, Descriptor, DescriptorHeader, JobError, LockTable, Span, Status, Submission, Task,
    reservation,
};
use crate::program::{Aggregation, Program, check_assignments};

/// Bytes of shared state that are read in one step.
const CHUNK: usize = 1 << 18;
/// The longest shared state.
const MOST_SHARED_STATE: u64 = 1 << 30;

/// A job that begins.
pub(super) struct Loading {
    submission: Submission,
    progress: Progress,
    mutants: Planted,
}

enum Progress {
    Descriptor,
    SharedState { descriptor: Box<Descriptor>, bytes: Vec<u8> },
}

/// Why a job does not begin, and where the reason may be written to.
pub(super) struct Refusal {
    pub(super) ending: Ending,
    pub(super) result: Option<Span>,
}

/// How far it is.
pub(super) enum Loaded {
    /// Not yet.
    Worked,
    /// It can run. With the lock table that it uses, if it does.
    Work(Box<Work>, Option<LockTable>, u64),
    /// It does not begin.
    Refused(Refusal),
}

impl From<JobError> for Ending {
    fn from(fault: JobError) -> Self {
        Ending::new(Status::BadDescriptor, fault.offset)
    }
}

impl From<HostError> for Ending {
    fn from(fault: HostError) -> Self {
        Ending::new(Status::HostMemory, fault.address)
    }
}

/// A descriptor that says something impossible of a field.
fn bad(field: &str) -> Ending {
    let offset = DescriptorHeader::FIELDS.iter().find(|(name, ..)| *name == field);
    let (_, offset, _) = offset.expect("it is a field");
    Ending::new(Status::BadDescriptor, *offset as u64)
}

impl Loading {
    pub(super) fn new(submission: Submission, mutants: Planted) -> Self {
        Self { submission, progress: Progress::Descriptor, mutants }
    }

    /// One bounded step.
    pub(super) fn step(&mut self, card: &mut dyn Card, tags: &mut Tags) -> Loaded {
        let refused = |ending, result| Loaded::Refused(Refusal { ending, result });
        match &mut self.progress {
            Progress::Descriptor => match self.read_descriptor(card) {
                Ok(descriptor) => {
                    let descriptor = Box::new(descriptor);
                    self.progress = Progress::SharedState { descriptor, bytes: Vec::new() };
                    Loaded::Worked
                }
                Err(ending) => refused(ending, None),
            },
            Progress::SharedState { descriptor, bytes } => {
                let result = descriptor.result;
                match read_chunk(descriptor.shared_state, bytes, card) {
                    Ok(false) => Loaded::Worked,
                    Ok(true) => {
                        let begun = Begun {
                            job: self.submission.job,
                            shared_state: std::mem::take(bytes),
                            mutants: self.mutants,
                        };
                        match begun.open(descriptor, card, tags) {
                            Ok((work, locks)) => {
                                let least = descriptor.task.least_result_bytes();
                                Loaded::Work(Box::new(work), locks, least)
                            }
                            Err(ending) => refused(ending, Some(result)),
                        }
                    }
                    Err(fault) => refused(fault.into(), None),
                }
            }
        }
    }

    fn read_descriptor(&self, card: &mut dyn Card) -> Result<Descriptor, Ending> {
        let Submission { address, bytes: length, .. } = self.submission;
        if length > Descriptor::MOST_BYTES {
            return Err(bad("length"));
        }
        if address.checked_add(length).is_none() {
            return Err(HostError { address }.into());
        }
        let mut bytes = vec![0; length as usize];
        card.read_host(address, &mut bytes)?;
        let descriptor = Descriptor::decode(&bytes)?;
        match descriptor.shared_state.bytes > MOST_SHARED_STATE {
            true => Err(bad("shared_state_bytes")),
            false => Ok(descriptor),
        }
    }
}

/// Reads the next chunk of the shared state; true when that was all.
fn read_chunk(span: Span, bytes: &mut Vec<u8>, card: &mut dyn Card) -> Result<bool, HostError> {
    let at = bytes.len();
    // At most `MOST_SHARED_STATE`, so the address does not overflow: the span was checked.
    let chunk = CHUNK.min(span.bytes as usize - at);
    bytes.resize(at + chunk, 0);
    card.read_host(span.address + at as u64, &mut bytes[at..])?;
    Ok(bytes.len() as u64 == span.bytes)
}

/// A job of which everything was read.
struct Begun {
    job: u32,
    shared_state: Vec<u8>,
    mutants: Planted,
}

impl Begun {
    fn open(
        self,
        descriptor: &Descriptor,
        card: &mut dyn Card,
        tags: &mut Tags,
    ) -> Result<(Work, Option<LockTable>), Ending> {
        let Self { job, shared_state, mutants } = self;
        let opened = Snapshot::open(card.storage(), shared_state);
        let snapshot = Arc::new(opened.map_err(storage)?);
        let Descriptor { table, snapshot: number, elements, .. } = *descriptor;
        // Whether there are such a table and such a snapshot.
        snapshot.reader().element(table, number).map(drop).map_err(storage)?;
        let found = &snapshot.reader().tables()[table as usize];
        let (schema, vids) = (found.schema().clone(), found.vids());
        let program = Program::decode(&descriptor.program[..], Some((table, &schema)));
        let program = program.map_err(refused)?;

        let payloads = match &descriptor.task {
            Task::Update(_) => true,
            Task::Select { payloads } => *payloads,
            Task::Aggregate(_) => false,
        };
        let outputs = program.outputs();
        let (mut locks, kind) = (None, descriptor.task.kind());
        let doing = match &descriptor.task {
            Task::Update(update) => {
                check_assignments(&update.assignments, &schema, outputs).map_err(refused)?;
                if update.vid_map.bytes / 8 < u64::from(vids) {
                    return Err(bad("vid_map_bytes"));
                }
                let mut writer = VersionWriter::new(table, mutants);
                writer.reserve(read_reservations(
                    card,
                    update.reservations,
                    update.reservation_count,
                )?)?;
                if !tags.enter(update.locks, card) {
                    return Err(bad("lock_table"));
                }
                locks = Some(update.locks);
                let update = Updating::new(table, update.clone(), schema, writer, mutants);
                Doing::Update(Box::new(update))
            }
            Task::Select { .. } => Doing::Select { outputs: outputs.into() },
            Task::Aggregate(task) => Doing::Aggregate(Box::new(aggregation(task, outputs)?)),
        };
        let task = Arc::new(ElementTask { table, snapshot: number, program, payloads });
        let elements = card.elements(&snapshot, &task, &parts(vids, elements.into()));
        let work = Work::new(job, kind, doing, snapshot, elements, descriptor.result, mutants);
        Ok((work, locks))
    }
}

fn aggregation(task: &Aggregating, outputs: u8) -> Result<Aggregation, Ending> {
    let needed = 1 + u8::from(task.group.is_some());
    if outputs < needed {
        let text = format!("the program has {outputs} outputs, the aggregation needs {needed}");
        return Err(refused(text));
    }
    let limit = task.groups as usize;
    Aggregation::new(task.aggregate, task.value, task.group, limit).map_err(refused)
}

/// Reads an array of reservations, whose place has been checked.
///
/// # Errors
/// When host memory does not answer, or one cannot be.
pub(super) fn read_reservations(
    card: &mut dyn Card,
    address: u64,
    count: u32,
) -> Result<Vec<PageReservation>, Ending> {
    if count == 0 {
        // Their address means nothing.
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; count as usize * reservation::Entry::BYTES];
    card.read_host(address, &mut bytes)?;
    Ok(reservation::decode_all(&bytes)?)
}

/// Parts of a table's VIDs, as equal as can be; none is empty, if there are VIDs at all.
fn parts(vids: u32, elements: u32) -> Vec<Range<u32>> {
    let elements = u64::from(elements.min(vids.max(1)));
    let start = |part: u64| (u64::from(vids) * part / elements) as u32;
    (0..elements).map(|part| start(part)..start(part + 1)).collect()
}

fn refused(fault: impl ToString) -> Ending {
    Ending::with_text(Status::BadProgram, fault)
}

fn storage(error: DeviceError) -> Ending {
    match error {
        DeviceError::NoSuchTable { .. } => bad("table"),
        DeviceError::NoSuchSnapshot { .. } => bad("snapshot"),
        error => Ending::with_text(Status::Storage, error),
    }
}
