// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine: submissions in, completions out, jobs in turn.

use std::collections::VecDeque;

use super::card::Card;
use super::live::{Job, Told};
use super::locks::Tags;
use super::mutant::Planted;
use crate::job::{JobCompletion, Opcode, Status, Submission};

/// Responses of the lock unit that are taken in one step.
const RESPONSES_A_STEP: usize = 128;

/// Executes the jobs of a device, some at a time, in turn and in bounded steps. The
/// device calls [`Engine::step`] repeatedly; a reset drops the engine.
#[derive(Default)]
pub struct Engine {
    submissions: VecDeque<Submission>,
    completions: VecDeque<JobCompletion>,
    jobs: VecDeque<Job>,
    tags: Tags,
    mutants: Planted,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// Nothing was to be done: all waits for submissions, the lock unit, elements or the clock.
    Idle,
    /// Something was done.
    Worked,
}

impl Engine {
    /// Maximum number of live jobs.
    pub const JOBS: usize = 8;

    /// An engine without jobs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Plants a fault in the engine, or removes it, for jobs that begin from now on.
    #[cfg(feature = "mutants")]
    pub fn plant(&mut self, fault: Option<super::Mutant>) {
        self.mutants = Planted::of(fault);
    }

    /// Takes a submission of the job queue.
    pub fn submit(&mut self, submission: Submission) {
        self.submissions.push_back(submission);
    }

    /// The next completion, if there is one.
    pub fn completion(&mut self) -> Option<JobCompletion> {
        self.completions.pop_front()
    }

    /// How many jobs are live: begun, and neither over nor forgotten.
    pub fn live_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// One bounded step: responses of the lock unit, a submission, and one job that has something to
    /// do.
    pub fn step(&mut self, card: &mut dyn Card) -> Stepped {
        let mut worked = self.take_responses(card);
        if let Some(submission) = self.submissions.pop_front() {
            self.accept(submission, card);
            worked = true;
        }
        worked |= self.run_a_job(card);
        if worked { Stepped::Worked } else { Stepped::Idle }
    }

    fn take_responses(&mut self, card: &mut dyn Card) -> bool {
        let mut worked = false;
        for _ in 0..RESPONSES_A_STEP {
            let Some(response) = card.lock_response() else { break };
            worked = true;
            let owner = self.tags.owner(response.tag);
            if let Some(job) = self.jobs.iter_mut().find(|job| Some(job.id) == owner) {
                job.respond(response, card.now());
            }
        }
        worked
    }

    fn accept(&mut self, submission: Submission, card: &mut dyn Card) {
        let Submission { identifier, opcode, job, .. } = submission;
        let refused = |status, detail| JobCompletion { identifier, status, bytes: 0, detail };
        let live = self.jobs.iter().position(|live| live.id == job);
        let refusal = match (Opcode::from_code(opcode), live) {
            (None, _) => refused(Status::BadOpcode, opcode.into()),
            (Some(Opcode::Begin), Some(_)) => refused(Status::JobExists, job.into()),
            (Some(Opcode::Begin), None) if self.jobs.len() == Self::JOBS => {
                refused(Status::TooManyJobs, Self::JOBS as u64)
            }
            (Some(Opcode::Begin), None) => {
                self.jobs.push_back(Job::begin(submission, self.mutants));
                return;
            }
            (Some(_), None) => refused(Status::NoJob, job.into()),
            (Some(opcode), Some(live)) => {
                let told = &mut Told(&mut self.completions);
                self.jobs[live].submit(submission, opcode, card, &mut self.tags, told);
                self.jobs.retain(|job| !job.is_over());
                return;
            }
        };
        self.completions.push_back(refusal);
    }

    /// Gives the next job a turn, and those behind it until one has something to do.
    fn run_a_job(&mut self, card: &mut dyn Card) -> bool {
        for _ in 0..self.jobs.len() {
            let Some(mut job) = self.jobs.pop_front() else { break };
            let worked = job.step(card, &mut self.tags, &mut Told(&mut self.completions));
            if !job.is_over() {
                self.jobs.push_back(job);
            }
            if worked {
                return true;
            }
        }
        false
    }
}
