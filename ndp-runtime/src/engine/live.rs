// SPDX-License-Identifier: MIT OR Apache-2.0
//! A live job: from its Begin until it is over or forgotten.

use std::collections::VecDeque;

use super::card::{Card, LockResponse};
use super::loading::{Loaded, Loading, Refusal, read_reservations};
use super::locks::Tags;
use super::mutant::{Mutant, Planted};
use super::updating::Updating;
use super::work::{Doing, Ending, Verdict, Work};
use crate::job::{JobCompletion, LockTable, Opcode, Span, Status, Submission, TopUp, TopUpBlock};

/// Pages that are finalized in one step.
const PAGES_A_STEP: usize = 16;

/// A live job.
pub(super) struct Job {
    pub(super) id: u32,
    phase: Phase,
    /// The Begin, Resume or Finalize that waits for its completion.
    awaited: Option<u16>,
    /// The Cancels that do.
    cancels: Vec<u16>,
    locks: Option<LockTable>,
    least_result_bytes: u64,
    mutants: Planted,
}

enum Phase {
    Loading(Loading),
    Running(Box<Work>),
    /// It waits for a Resume.
    Paused(Box<Work>),
    /// An update that is done; its pages are to be finalized, or were.
    Done {
        updating: Box<Updating>,
        store: u64,
        snapshot: u64,
    },
    Finalizing {
        updating: Box<Updating>,
        store: u64,
        snapshot: u64,
        finalize: FinalizedBy,
        next: usize,
    },
    Over,
}

#[derive(Clone, Copy)]
struct FinalizedBy {
    commit: u64,
    epoch: u64,
}

/// Where a job tells that a submission has ended.
pub(super) struct Told<'a>(pub(super) &'a mut VecDeque<JobCompletion>);

impl Told<'_> {
    fn complete(&mut self, identifier: u16, status: Status, bytes: usize, detail: u64) {
        self.0.push_back(JobCompletion { identifier, status, bytes: bytes as u32, detail });
    }
}

impl Job {
    pub(super) fn begin(submission: Submission, mutants: Planted) -> Self {
        Self {
            id: submission.job,
            phase: Phase::Loading(Loading::new(submission, mutants)),
            awaited: Some(submission.identifier),
            cancels: Vec::new(),
            locks: None,
            least_result_bytes: 0,
            mutants,
        }
    }

    /// Whether it is over, and no submission waits for it.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// A response of the lock unit to one of its requests.
    pub(super) fn respond(&mut self, response: LockResponse, now: u64) {
        if let Phase::Running(work) | Phase::Paused(work) = &mut self.phase
            && let Doing::Update(updating) = &mut work.doing
        {
            updating.respond(response, now, &mut work.results.statistics);
        }
    }

    /// A submission to a live job.
    pub(super) fn submit(
        &mut self,
        submission: Submission,
        opcode: Opcode,
        card: &mut dyn Card,
        tags: &mut Tags,
        told: &mut Told<'_>,
    ) {
        let identifier = submission.identifier;
        match (opcode, &mut self.phase) {
            (Opcode::Resume, Phase::Paused(_)) => self.resume(submission, card, told),
            (Opcode::Finalize, Phase::Done { .. }) => self.finalize(submission, told),
            (Opcode::Cancel, _) => {
                self.cancels.push(identifier);
                self.cancel(card, tags, told);
            }
            (Opcode::Forget, Phase::Done { .. }) => {
                self.over(tags, told);
                told.complete(identifier, Status::Done, 0, 0);
            }
            _ => told.complete(identifier, Status::NoJob, 0, 0),
        }
    }

    /// One bounded step; false when it waits for something.
    pub(super) fn step(
        &mut self,
        card: &mut dyn Card,
        tags: &mut Tags,
        told: &mut Told<'_>,
    ) -> bool {
        match &mut self.phase {
            Phase::Loading(loading) => {
                match loading.step(card, tags) {
                    Loaded::Worked => {}
                    Loaded::Work(work, locks, least) => {
                        (self.locks, self.least_result_bytes) = (locks, least);
                        self.phase = Phase::Running(work);
                    }
                    Loaded::Refused(Refusal { ending, result }) => {
                        let written = write_text(card, result, ending.text.as_deref());
                        self.end(ending.status, written, ending.detail, tags, told);
                    }
                }
                true
            }
            Phase::Running(work) => match work.step(card, tags) {
                Verdict::Worked => true,
                Verdict::Waits => false,
                Verdict::More { reservations } => {
                    self.pause(reservations, card, told);
                    true
                }
                Verdict::Ended(ending) => {
                    self.finish(ending, card, tags, told);
                    true
                }
            },
            Phase::Finalizing { .. } => {
                self.finalize_pages(card, told);
                true
            }
            Phase::Paused(_) | Phase::Done { .. } | Phase::Over => false,
        }
    }

    /// Hands out a chunk, and waits for more room.
    fn pause(&mut self, reservations: bool, card: &mut dyn Card, told: &mut Told<'_>) {
        let Phase::Running(mut work) = std::mem::replace(&mut self.phase, Phase::Over) else {
            unreachable!("a job that runs pauses");
        };
        let Some(identifier) = self.awaited.take() else {
            unreachable!("a job that runs without anybody waiting is ending");
        };
        work.count();
        let bytes = work.results.finish(work.job, work.kind, u8::from(reservations) << 1);
        match card.write_host(work.results.span.address, &bytes) {
            Ok(()) => {
                told.complete(identifier, Status::More, bytes.len(), reservations.into());
                self.phase = Phase::Paused(work);
            }
            Err(fault) => {
                // No visible data is lost.
                self.awaited = Some(identifier);
                work.end(fault.into());
                self.phase = Phase::Running(work);
            }
        }
    }

    /// The job has come to its end, idle.
    fn finish(
        &mut self,
        ending: Ending,
        card: &mut dyn Card,
        tags: &mut Tags,
        told: &mut Told<'_>,
    ) {
        let Phase::Running(mut work) = std::mem::replace(&mut self.phase, Phase::Over) else {
            unreachable!("a job that runs finishes");
        };
        let Ending { mut status, mut detail, text } = ending;
        let mut written = 0;
        if self.awaited.is_some() {
            work.count();
            let span = work.results.span;
            let chunk = match &text {
                Some(_) => Ok(write_text(card, Some(span), text.as_deref())),
                None => {
                    let bytes = work.results.finish(work.job, work.kind, 1);
                    card.write_host(span.address, &bytes).map(|()| bytes.len())
                }
            };
            match chunk {
                Ok(bytes) => written = bytes,
                Err(fault) if status == Status::Done => {
                    (status, detail) = (Status::HostMemory, fault.address);
                }
                Err(_) => {}
            }
        }
        let Work { doing, snapshot, .. } = *work;
        match doing {
            Doing::Update(updating) if status == Status::Done => {
                if let Some(identifier) = self.awaited.take() {
                    told.complete(identifier, status, written, detail);
                }
                self.leave_locks(tags);
                let (store, snapshot) = snapshot.identity();
                self.phase = Phase::Done { updating, store, snapshot };
            }
            _ => self.end(status, written, detail, tags, told),
        }
    }

    /// Continues with a top-up.
    fn resume(&mut self, submission: Submission, card: &mut dyn Card, told: &mut Told<'_>) {
        let Phase::Paused(work) = &mut self.phase else {
            unreachable!("the caller has looked");
        };
        match top_up(work, submission, self.least_result_bytes, card) {
            // It stays paused: nothing was changed.
            Err(Ending { status, detail, .. }) => {
                told.complete(submission.identifier, status, 0, detail);
            }
            Ok(span) => {
                work.top_up(span);
                self.awaited = Some(submission.identifier);
                let Phase::Paused(work) = std::mem::replace(&mut self.phase, Phase::Over) else {
                    unreachable!("it was just looked at");
                };
                self.phase = Phase::Running(work);
            }
        }
    }

    fn cancel(&mut self, card: &mut dyn Card, tags: &mut Tags, told: &mut Told<'_>) {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Running(mut work) | Phase::Paused(mut work) => {
                work.end(Ending::new(Status::Cancelled, 0));
                if self.mutants.has(Mutant::CancelledBeforeIdle)
                    && let Doing::Update(updating) = &mut work.doing
                {
                    updating.drop_rows(tags);
                }
                self.phase = Phase::Running(work);
                // What is idle already ends at once.
                self.step(card, tags, told);
            }
            // Nothing of it is open anywhere.
            _ => self.end(Status::Cancelled, 0, 0, tags, told),
        }
    }

    fn finalize(&mut self, submission: Submission, told: &mut Told<'_>) {
        let Phase::Done { updating, store, snapshot } =
            std::mem::replace(&mut self.phase, Phase::Over)
        else {
            unreachable!("the caller has looked");
        };
        let [commit, epoch, of] = submission.arguments;
        // Offsets in the submission.
        let places = (0..updating.pages()).map(|page| updating.writer.reservation_of(page));
        let fault = match () {
            () if commit <= snapshot => Some(24),
            () if !places.into_iter().all(|reservation| reservation.is_of(epoch)) => Some(32),
            () if of != store => Some(40),
            () => None,
        };
        match fault {
            Some(offset) => {
                told.complete(submission.identifier, Status::BadDescriptor, 0, offset);
                self.phase = Phase::Done { updating, store, snapshot };
            }
            None => {
                self.awaited = Some(submission.identifier);
                let finalize = FinalizedBy { commit, epoch };
                self.phase = Phase::Finalizing { updating, store, snapshot, finalize, next: 0 };
            }
        }
    }

    /// Writes some pages; after the last one all of them are made durable.
    fn finalize_pages(&mut self, card: &mut dyn Card, told: &mut Told<'_>) {
        let Phase::Finalizing { updating, store, finalize, next, .. } = &mut self.phase else {
            unreachable!("the caller has looked");
        };
        let writer = &mut updating.writer;
        let end = writer.pages().min(*next + PAGES_A_STEP);
        let mut status = None;
        for page in *next..end {
            let physical = writer.reservation_of(page).physical();
            let finalized = writer.finalize(page, finalize.commit, finalize.epoch, *store);
            if card.write_page(physical, finalized).is_err() {
                status = Some((Status::Storage, physical));
                break;
            }
        }
        *next = end;
        if status.is_none() && end == writer.pages() {
            let durable = self.mutants.has(Mutant::SyncSkipped) || card.sync().is_ok();
            status = Some((if durable { Status::Done } else { Status::Storage }, 0));
        }
        let Some((status, detail)) = status else { return };
        let Phase::Finalizing { updating, store, snapshot, .. } =
            std::mem::replace(&mut self.phase, Phase::Over)
        else {
            unreachable!("it was just looked at");
        };
        self.phase = Phase::Done { updating, store, snapshot };
        let identifier = self.awaited.take().expect("a Finalize waits for its pages");
        told.complete(identifier, status, 0, detail);
    }

    fn end(
        &mut self,
        status: Status,
        written: usize,
        detail: u64,
        tags: &mut Tags,
        told: &mut Told<'_>,
    ) {
        if let Some(identifier) = self.awaited.take() {
            told.complete(identifier, status, written, detail);
        }
        self.over(tags, told);
    }

    /// Nothing is left of it.
    fn over(&mut self, tags: &mut Tags, told: &mut Told<'_>) {
        self.leave_locks(tags);
        self.phase = Phase::Over;
        for identifier in self.cancels.drain(..) {
            told.complete(identifier, Status::Done, 0, 0);
        }
    }

    fn leave_locks(&mut self, tags: &mut Tags) {
        if self.locks.take().is_some() {
            tags.leave();
        }
    }
}

/// Reads and checks a top-up, and takes its reservations; gives the new result buffer.
fn top_up(
    work: &mut Work,
    submission: Submission,
    least: u64,
    card: &mut dyn Card,
) -> Result<Span, Ending> {
    let mut bytes = [0; TopUpBlock::BYTES];
    if submission.bytes != TopUpBlock::BYTES as u64 {
        return Err(Ending::new(Status::BadDescriptor, 0));
    }
    card.read_host(submission.address, &mut bytes)?;
    let top_up = TopUp::decode(&bytes)?;
    work.check_top_up(&top_up, least)?;
    if let Doing::Update(updating) = &mut work.doing {
        let reservations = read_reservations(card, top_up.reservations, top_up.reservation_count)?;
        updating.writer.reserve(reservations)?;
    }
    Ok(top_up.result)
}

/// Puts a reason into the result buffer, as far as it fits; gives its bytes.
fn write_text(card: &mut dyn Card, span: Option<Span>, text: Option<&str>) -> usize {
    let (Some(span), Some(text)) = (span, text) else { return 0 };
    let bytes = &text.as_bytes()[..text.len().min(span.bytes as usize)];
    // Without the reason the status has to do.
    card.write_host(span.address, bytes).map_or(0, |()| bytes.len())
}
