// SPDX-License-Identifier: MIT OR Apache-2.0
//! The job queue: an impossible job ends with a status that says why, each submission ends once,
//! and a reset drops open jobs. Other tests check what jobs do to a store; there is no store here.

use driver::Interrupt;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::bad_commands::unmapped;
use super::interrupts::{enable_all, nothing_more, wait};
use super::registers::at_reset;
use crate::context::{CheckError, Context, Mapped, expect, expect_eq};
use crate::map;
use crate::queue::{
    BEGIN, CANCEL, Completion, FINALIZE, FORGET, Queue, RESUME, Status, Submission,
};

/// The fixed part of a descriptor and the image of a program.
const DESCRIPTOR_BYTES: u64 = 192 + 1088;
/// Statuses, as docs/near-data-jobs.md numbers them.
const BAD_DESCRIPTOR: Status = Status::Unknown(20);
const HOST_MEMORY: Status = Status::Unknown(24);
const NO_JOB: Status = Status::Unknown(25);
const TOO_MANY_JOBS: Status = Status::Unknown(26);

/// As small as the ring is, it is gone round several times.
const LOG2_ENTRIES: u32 = 3;
const ROUNDS: u32 = 5;

/// A submission and what must come of it: status and detail.
type Case = (Submission, Status, u64);

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let vectors = enable_all(context)?;
    let mut queue = Queue::open(context, map::JOB_QUEUE, LOG2_ENTRIES)?;
    // Zeroes: no descriptor begins so.
    let memory = context.memory(4096)?;
    let cases = cases(context, &memory)?;
    let total = one_by_one(context, &mut queue, &cases)?;
    interrupts(context, &mut queue, &cases[0], &vectors)?;
    let together = at_once(context, &mut queue, &cases)?;
    let open = resets(context, &mut queue, &memory, &vectors)?;
    Ok(format!(
        "{total} submissions that cannot be done, {together} at once, {ROUNDS} resets with up to \
         {open} open"
    ))
}

fn cases(context: &Context<'_>, memory: &Mapped) -> Result<Vec<Case>, CheckError> {
    let submission = |opcode| Submission { opcode, ..Submission::default() };
    let mut cases = vec![(begin(memory.address + 64, 7), BAD_DESCRIPTOR, 0)];
    for opcode in [0, FORGET + 1, 255] {
        cases.push((submission(opcode), Status::BadOpcode, 0));
    }
    // Which job is in the last word, and the answer names it.
    for (opcode, job) in [(RESUME, 1), (FINALIZE, 0x1234_5678), (CANCEL, 3), (FORGET, 0xFFFF_FFFF)]
    {
        cases.push((Submission { job, ..submission(opcode) }, NO_JOB, job));
    }
    let gone = unmapped(context)?;
    cases.push((begin(gone, 8), HOST_MEMORY, gone));
    Ok(cases)
}

fn begin(address: u64, job: u64) -> Submission {
    Submission {
        opcode: BEGIN,
        source: address,
        destination: DESCRIPTOR_BYTES,
        job,
        ..Submission::default()
    }
}

fn ended(completion: Completion, &(submission, status, detail): &Case) -> Result<(), CheckError> {
    let Completion { status: found, bytes, response, .. } = completion;
    expect_eq(|| format!("status of {submission:x?}"), found, status)?;
    expect(|| format!("bytes of {submission:x?}"), bytes, 0)?;
    expect(|| format!("detail of {submission:x?}"), response, detail)
}

/// Each case on its own, and what is counted.
fn one_by_one(context: &Context<'_>, queue: &mut Queue, cases: &[Case]) -> Result<u64, CheckError> {
    for (identifier, case) in (0x200..).zip(cases) {
        let submission = Submission { identifier, ..case.0 };
        ended(queue.perform(context, submission)?, case)?;
    }
    let total = cases.len() as u64;
    for (name, register) in [
        ("SUBMISSIONS", map::SUBMISSIONS),
        ("COMPLETIONS", map::COMPLETIONS),
        ("FAILURES", map::FAILURES),
    ] {
        context.wait_for(
            || format!("{name} of the job queue to be {total}"),
            || Ok((queue.counter(context, register)? == total).then_some(())),
        )?;
    }
    expect(|| "bytes of results".into(), queue.counter(context, map::BYTES_MOVED)?, 0)?;
    Ok(total)
}

/// On the vector of the queue, if they are wanted, and only then.
fn interrupts(
    context: &Context<'_>,
    queue: &mut Queue,
    case: &Case,
    vectors: &[Box<dyn Interrupt>],
) -> Result<(), CheckError> {
    let wants = Submission { interrupt: true, ..case.0 };
    queue.perform(context, wants)?;
    nothing_more(context, vectors)?;
    queue.set_interrupts(context, true)?;
    for turn in 0..10 {
        queue.perform(context, wants)?;
        let came = wait(context, &*vectors[map::VECTOR_JOB as usize], turn)?;
        expect(|| format!("interrupts of job {turn}"), came, 1)?;
        queue.perform(context, case.0)?;
    }
    nothing_more(context, vectors)?;
    queue.set_interrupts(context, false).map_err(CheckError::from)
}

/// A ring full of cases in a drawn order, repeatedly: each ends once, in any order.
fn at_once(
    context: &mut Context<'_>,
    queue: &mut Queue,
    cases: &[Case],
) -> Result<u32, CheckError> {
    let mut total = 0;
    for _ in 0..context.options.cases.div_ceil(8).min(20) {
        let mut open: Vec<(u16, Case)> = (0..queue.entries())
            .map(|index| (index, cases[context.random.random_range(0..cases.len())]))
            .collect();
        open.shuffle(&mut context.random);
        for &(identifier, (submission, ..)) in &open {
            queue.push(Submission { identifier, ..submission });
        }
        queue.ring(context)?;
        while !open.is_empty() {
            let completion = queue.wait(context)?;
            let at = open.iter().position(|(identifier, _)| *identifier == completion.identifier);
            let Some(at) = at else {
                return Err(CheckError::wrong(format!("{completion:x?} of no open submission")));
            };
            let (_, case) = open.swap_remove(at);
            // Two that begin at once have the same job or one too many.
            let busy = matches!(completion.status, TOO_MANY_JOBS | Status::Unknown(27));
            if case.0.opcode != BEGIN || !busy {
                ended(completion, &case)?;
            }
            total += 1;
        }
    }
    context.be_silent();
    match queue.take() {
        None => Ok(total),
        Some(more) => Err(CheckError::wrong(format!("{more:x?}, but all submissions have ended"))),
    }
}

/// Resets with jobs open: nothing comes after, and the queue can be used again.
fn resets(
    context: &Context<'_>,
    queue: &mut Queue,
    memory: &Mapped,
    vectors: &[Box<dyn Interrupt>],
) -> Result<u32, CheckError> {
    let mut most = 0;
    for round in 0..ROUNDS {
        queue.set_interrupts(context, true)?;
        let given = queue.entries();
        for identifier in 0..given {
            let begin = begin(memory.address, identifier.into());
            queue.push(Submission { identifier, interrupt: true, ..begin });
        }
        queue.ring(context)?;
        // Later in each round.
        for _ in 0..round {
            queue.wait(context)?;
        }
        context.backend.reset()?;
        at_reset(context)?;
        for vector in vectors {
            // What was raised before the reset may still be there.
            vector.take()?;
        }
        let done = round + std::iter::from_fn(|| queue.take()).count() as u32;
        most = most.max(u32::from(given).saturating_sub(done));
        let ring = queue.completion_bytes();
        nothing_more(context, vectors)?;
        if queue.completion_bytes() != ring {
            return Err(CheckError::wrong("a completion was written after the reset"));
        }
        queue.enable_again(context)?;
        let case = (begin(memory.address, 1), BAD_DESCRIPTOR, 0);
        let submission = Submission { identifier: 0x300, ..case.0 };
        ended(queue.perform(context, submission)?, &case)?;
    }
    Ok(most)
}
