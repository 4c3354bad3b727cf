// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processing elements, which find the qualifying rows of a part of a table.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use lockdb::device_reader::{BrokenWalkError, DeviceRow, ProcessingElement};
use lockdb::layout::{MAP_WORDS, RecordId};
use self_cell::self_cell;

use super::snapshot::{CountedStorage, ElementTask, Snapshot};
use crate::job::Embodiment;
use crate::program::{Evaluation, Outputs, evaluate};

/// Finds the rows of a part of a table that qualify; in hardware, or [`SoftwareElement`]. One that is
/// dropped before its end stops.
pub trait Element: Send {
    /// Looks at about `budget` VIDs more, or at what has come of them meanwhile, and hands out what
    /// was found, in any order.
    fn run(&mut self, budget: u32, emit: &mut dyn FnMut(Packet<'_>)) -> Progress;

    /// Its work so far.
    fn totals(&self) -> Totals;
}

/// How far an element is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It did something, and there is more to do.
    Worked,
    /// It waits for hardware.
    Waiting,
    /// It has looked at all VIDs of its part, and handed out everything.
    Done,
    /// It cannot continue: why.
    Failed(String),
}

/// The work of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// VIDs looked at.
    pub visited: u64,
    /// Rows that the snapshot sees.
    pub visible: u64,
    /// Clock cycles, if it is hardware.
    pub clocks: u64,
}

impl Totals {
    /// Adds those of an element that ran beside: its clock ran at the same time.
    pub(super) fn add(&mut self, other: Self) {
        self.visited += other.visited;
        self.visible += other.visible;
        self.clocks = self.clocks.max(other.clocks);
    }
}

/// The elements of a job, and what all of them are.
pub struct ElementSet {
    /// What they are.
    pub embodiment: Embodiment,
    /// One for each part.
    pub elements: Vec<Box<dyn Element>>,
}

impl ElementSet {
    /// Elements in software for these parts of a table's VID map.
    pub fn in_software(
        snapshot: &Arc<Snapshot>,
        task: &Arc<ElementTask>,
        parts: &[Range<u32>],
        embodiment: Embodiment,
    ) -> Self {
        let element = |part: &Range<u32>| -> Box<dyn Element> {
            Box::new(SoftwareElement::new(snapshot.clone(), task.clone(), part.clone()))
        };
        Self { embodiment, elements: parts.iter().map(element).collect() }
    }
}

/// A row that qualifies, or a VID at which something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The tuple.
    pub vid: u32,
    /// Number of the version.
    pub number: u32,
    /// The version.
    pub record: RecordId,
    /// The commit that created it.
    pub created: u64,
    /// 0: a row. Else what is wrong, and nothing but the VID means anything.
    pub code: u8,
    /// Bytes of the row's payload, whether it is here or not.
    pub payload_bytes: u16,
    /// The result of the program.
    pub outputs: Outputs,
    /// The row's payload; empty when the task does not ask for it.
    pub payload: &'a [u8],
}

impl Packet<'_> {
    /// A VID at which something is wrong.
    pub fn fault(vid: u32, code: u8) -> Self {
        let (record, outputs) = (RecordId::NONE, Outputs::default());
        Packet { vid, number: 0, record, created: 0, code, payload_bytes: 0, outputs, payload: &[] }
    }
}

type Walker<'a> = ProcessingElement<'a, 'a, CountedStorage>;

self_cell!(
    struct Started {
        owner: Arc<Snapshot>,
        #[covariant]
        dependent: Walker,
    }
);

/// An element in software: the store's own device reader, and the machine that executes programs.
pub struct SoftwareElement {
    started: Started,
    task: Arc<ElementTask>,
    left: Range<u32>,
    totals: Totals,
}

impl SoftwareElement {
    /// An element for a part of the table.
    ///
    /// # Panics
    /// When the snapshot has no such table, or cannot be asked for the task's snapshot.
    pub fn new(snapshot: Arc<Snapshot>, task: Arc<ElementTask>, part: Range<u32>) -> Self {
        let started = Started::new(snapshot, |snapshot| {
            let element = snapshot.reader().element(task.table, task.snapshot);
            element.expect("the creator of the task has checked table and snapshot")
        });
        Self { started, task, left: part, totals: Totals::default() }
    }
}

impl Element for SoftwareElement {
    fn run(&mut self, budget: u32, emit: &mut dyn FnMut(Packet<'_>)) -> Progress {
        let Self { started, task, left, totals } = self;
        // To the end of a chunk of the VID map, if that is not far: each chunk is read once then.
        let chunk = MAP_WORDS as u32;
        let (next, far) = (left.start / chunk + 1, left.start.saturating_add(budget));
        let end = next.checked_mul(chunk).filter(|end| *end <= far).unwrap_or(far);
        let part = left.start..left.end.min(end);
        totals.visited += u64::from(part.end - part.start);
        left.start = part.end;
        started.with_dependent_mut(|_, walker| {
            walker.move_to(part);
            walker.visit_each(|row| {
                totals.visible += u64::from(row.is_ok());
                if let Some(packet) = packet(task, &row) {
                    emit(packet);
                }
                ControlFlow::Continue(())
            });
        });
        if left.start >= left.end { Progress::Done } else { Progress::Worked }
    }

    fn totals(&self) -> Totals {
        self.totals
    }
}

/// What an element hands out for a VID, if anything.
fn packet<'a>(
    task: &ElementTask,
    row: &'a Result<DeviceRow<'_>, BrokenWalkError>,
) -> Option<Packet<'a>> {
    let row = match row {
        Ok(row) => row,
        Err(broken) => return Some(Packet::fault(broken.vid, broken.fault.code())),
    };
    let mut outputs = Outputs::default();
    match evaluate(&task.program, row.payload, &mut outputs) {
        Ok(Evaluation::Fails) => None,
        Err(fault) => Some(Packet::fault(row.vid, fault.code())),
        Ok(Evaluation::Passes) => Some(Packet {
            vid: row.vid,
            number: row.number,
            record: row.record,
            created: row.created,
            code: 0,
            payload_bytes: row.payload.len() as u16,
            outputs,
            payload: if task.payloads { row.payload } else { &[] },
        }),
    }
}
