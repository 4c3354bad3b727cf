// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of random cases: on threads, and interleaved on one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use history::{History, Options as Checks, Recorder, SessionRecorder};
use lockdb::mutant::Mutant;
use rand::RngExt;

use super::perform::{Actor, World, audit};
use super::plan::{Case, Operation, Plan, level, random};

/// How a case is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Threads,
    Interleaved,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub committed: usize,
}

/// Runs a case, and checks all that is known of it.
///
/// # Errors
/// What is wrong, and where the history was written to.
pub fn run(kind: Kind, seed: u64, mutant: Option<Mutant>) -> Result<Outcome, String> {
    let attempt = || match kind {
        Kind::Threads => on_threads(&Case::of_threads(seed), mutant),
        Kind::Interleaved => interleaved(&Case::interleaved(seed), mutant),
    };
    let result = catch_unwind(AssertUnwindSafe(attempt));
    result.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", said.unwrap_or("of another kind")))
    })
}

/// Each session on a thread of its own.
fn on_threads(case: &Case, mutant: Option<Mutant>) -> Result<Outcome, String> {
    let world = World::new(case);
    world.database.plant(mutant);
    let recorder = Recorder::new(case.seed, format!("{case:?}"), World::initial(case));
    let recorder = recorder.with_wall_clock();
    let sessions: Vec<(SessionRecorder, u64)> = std::thread::scope(|scope| {
        let session = |number: usize| {
            let (world, recorder) = (&world, recorder.session(number as u64 + 1));
            scope.spawn(move || run_session(case, world, number, recorder))
        };
        let sessions: Vec<_> = (0..case.sessions).map(session).collect();
        while case.vacuums && sessions.iter().any(|session| !session.is_finished()) {
            vacuum(&world);
        }
        // The first panic is told as it is.
        let joined = sessions.into_iter().map(|session| session.join());
        joined
            .map(|session| session.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let (recorders, counted): (Vec<_>, Vec<u64>) = sessions.into_iter().unzip();
    judge(case, &world, recorder, recorders, counted.iter().sum())
}

fn vacuum(world: &World) {
    world.database.vacuum().expect("no page is on storage");
    std::thread::yield_now();
}

fn run_session(
    case: &Case,
    world: &World,
    number: usize,
    mut recorder: SessionRecorder,
) -> (SessionRecorder, u64) {
    let mut session = world.database.session().expect("a case has few sessions");
    // Threads left alone seldom meet.
    let mut yields = random(case.seed, 1000 + number as u64);
    let mut counted = 0;
    for plan in case.plans(number) {
        let record = recorder.begin(level(plan.isolation));
        let mut actor = Actor::new(world, &mut session, record, &plan);
        let mut failure = None;
        for &operation in &plan.operations {
            if yields.random_ratio(1, 3) {
                std::thread::yield_now();
            }
            failure = actor.perform(operation).err();
            if failure.is_some() {
                break;
            }
        }
        match failure {
            Some(error) => actor.give_up(&error),
            None => counted += actor.end(&plan),
        }
    }
    (recorder, counted)
}

/// One transaction on its way, and what it has yet to do.
struct OpenTransaction<'a> {
    actor: Actor<'a>,
    plan: Plan,
    rest: std::vec::IntoIter<Operation>,
    began: u64,
}

/// All sessions on this thread, one operation at a time; what would wait fails. Each transaction
/// has a session of its own.
fn interleaved(case: &Case, mutant: Option<Mutant>) -> Result<Outcome, String> {
    let world = World::new(case);
    world.database.plant(mutant);
    let recorder = Recorder::new(case.seed, format!("{case:?}"), World::initial(case));
    let transactions = case.sessions * case.transactions;
    let session = |_| world.database.session().expect("there is room for all");
    let mut sessions: Vec<_> = (0..transactions).map(session).collect();
    let mut recorders: Vec<_> =
        (1..=transactions as u64).map(|number| recorder.session(number)).collect();
    let mut places = sessions.iter_mut().zip(&mut recorders);
    let mut plans: Vec<_> = (0..case.sessions).map(|number| case.plans(number)).collect();
    let mut open: Vec<Option<OpenTransaction<'_>>> = (0..case.sessions).map(|_| None).collect();
    let mut turns = random(case.seed, 1000);
    let (mut counted, mut done) = (0, 0);
    for now in 0_u64.. {
        if done == case.sessions {
            break;
        }
        if case.vacuums && turns.random_ratio(1, 16) {
            vacuum(&world);
        }
        let turn = turns.random_range(0..case.sessions);
        match open[turn].take() {
            Some(mut transaction) => {
                match transaction.rest.next().map(|next| transaction.actor.perform(next)) {
                    Some(Ok(())) => open[turn] = Some(transaction),
                    ended => {
                        transaction.actor.recorder().virtual_time(transaction.began, now);
                        match ended {
                            Some(Err(error)) => transaction.actor.give_up(&error),
                            _ => counted += transaction.actor.end(&transaction.plan),
                        }
                    }
                }
            }
            None => {
                let Some(plan) = plans[turn].next() else {
                    done = open.iter().filter(|transaction| transaction.is_none()).count();
                    continue;
                };
                let (session, recorder) = places.next().expect("one for each transaction");
                let recorder = recorder.begin(level(plan.isolation));
                let actor = Actor::new(&world, session, recorder, &plan);
                let rest = plan.operations.clone().into_iter();
                open[turn] = Some(OpenTransaction { actor, plan, rest, began: now });
            }
        }
    }
    drop(open);
    judge(case, &world, recorder, recorders, counted)
}

fn judge(
    case: &Case,
    world: &World,
    recorder: Recorder,
    mut recorders: Vec<SessionRecorder>,
    counted: u64,
) -> Result<Outcome, String> {
    world.database.plant(None);
    let mut auditor = recorder.session(recorders.len() as u64 + 1);
    let found = audit(world, case, &mut auditor);
    recorders.push(auditor);
    let history = recorder.finish(recorders).map_err(|error| format!("no history: {error}"))?;
    let report = history.check(&Checks::default());
    if !report.is_clean() {
        return Err(format!("{report}\n{}", kept(case, &history)));
    }
    if found != counted {
        let lost = format!("counted {counted} times, found {found}");
        return Err(format!("{lost}\n{}", kept(case, &history)));
    }
    let free = world.database.lock_table().buckets().iter();
    let held = free.filter(|bucket| bucket.head() != locks::Head::FREE).count();
    if held > 0 {
        return Err(format!("{held} locks were not given back"));
    }
    Ok(Outcome { committed: report.committed() })
}

/// Writes a history to a file, and says where it is.
fn kept(case: &Case, history: &History) -> String {
    let folder: &Path = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path: PathBuf = folder.join(format!("history-{}-{}.jsonl", case.seed, std::process::id()));
    let written =
        std::fs::File::create(&path).and_then(|file| history.write(std::io::BufWriter::new(file)));
    match written {
        Ok(()) => format!("the history is in {}", path.display()),
        Err(error) => format!("the history could not be written to {}: {error}", path.display()),
    }
}
