// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that work on one store, and the checks of their work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lockdb::files::{Files, Memory};
use lockdb::mutant::Mutant;
use lockdb::{Database, Durability, Isolation, Options, TransactionOptions};
use lockstep_workloads::database::{
    Access, Body, Mode, Outcome, Reference, SerialPlace, Session, StoreLoader, StoreSession,
    Workload, check, execute, replay, same_tables, total,
};

use super::hesitant::Hesitant;
use super::populated;

const AGENTS: u32 = 4;

/// One way to run a workload.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub isolation: Isolation,
    /// Whether the store is on files: with group commit, and closed and opened in between.
    pub on_files: bool,
    /// Transactions of each agent, in each of two legs.
    pub transactions: usize,
    pub seed: u64,
    /// The mutant planted in the store.
    pub mutant: Option<Mutant>,
}

impl Setting {
    fn options(self) -> TransactionOptions {
        let durability = if self.on_files { Durability::Group } else { Durability::None };
        TransactionOptions { isolation: self.isolation, durability }
    }
}

/// A committed transaction.
struct Done<W: Workload> {
    place: SerialPlace,
    input: W::Input,
    output: W::Output,
}

/// The work of one thread.
struct Ran<W: Workload> {
    done: Vec<Done<W>>,
    /// Totals that were read beside the others' work, with the last commit that each saw.
    totals: Vec<(u64, i64)>,
}

impl<W: Workload> Default for Ran<W> {
    fn default() -> Self {
        Self { done: Vec::new(), totals: Vec::new() }
    }
}

/// What agents have done up to some moment, and the store that serially does the same.
struct Judge<'w, W: Workload> {
    workload: &'w W,
    reference: Reference,
    /// The total after the population.
    initial: i64,
    /// The transactions' changes of it, in the order of their places.
    changes: Vec<(SerialPlace, i64)>,
}

/// Runs two legs of a workload and holds them to what the level promises.
///
/// # Errors
/// What is wrong.
pub fn run<W: Workload>(workload: &W, setting: Setting) -> Result<usize, String> {
    let files: Arc<dyn Files> = Arc::new(Memory::new());
    let open = || match setting.on_files {
        true => Database::open_in(files.clone(), Options::small()).map_err(text("open")),
        false => Database::in_memory(Options::small()).map_err(text("open")),
    };
    let mut database = open()?;
    workload.populate(&mut StoreLoader::new(&database)).map_err(text("populate"))?;
    let mut judge = Judge::new(workload);
    database.plant(setting.mutant);
    leg(&database, setting, 0, &mut judge)?;
    if setting.on_files {
        database.close().map_err(text("close"))?;
        drop(database);
        database = open()?;
        judge.look(&database, setting).map_err(|error| format!("closed and opened: {error}"))?;
        database.plant(setting.mutant);
    }
    leg(&database, setting, 1, &mut judge)?;
    if setting.on_files {
        // Without a farewell: the second leg is in the log.
        drop(database);
        database = open()?;
        judge.look(&database, setting).map_err(|error| format!("opened again: {error}"))?;
    }
    Ok(judge.changes.len())
}

/// Agents continue with their streams; then what they did is judged.
fn leg<W: Workload>(
    database: &Database,
    setting: Setting,
    number: usize,
    judge: &mut Judge<'_, W>,
) -> Result<(), String> {
    let workload = judge.workload;
    let over = AtomicBool::new(false);
    let ran = thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS)
            .map(|agent| scope.spawn(move || work(database, workload, setting, agent, number)))
            .collect();
        let over = &over;
        let audit = scope.spawn(move || audit(database, workload, setting, over));
        let maintenance = scope.spawn(move || maintain(database, over));
        let mut ran: Vec<_> = agents.into_iter().map(|agent| agent.join()).collect();
        over.store(true, Ordering::Relaxed);
        ran.push(audit.join());
        ran.push(maintenance.join().map(|done| done.map(|()| Ran::default())));
        let ran = ran.into_iter().map(|ran| ran.unwrap_or_else(|_| Err("a panic".into())));
        ran.collect::<Result<Vec<_>, String>>()
    })?;
    judge.hear(ran, setting)?;
    judge.look(database, setting)
}

/// One agent's leg.
fn work<W: Workload>(
    database: &Database,
    workload: &W,
    setting: Setting,
    agent: u32,
    leg: usize,
) -> Result<Ran<W>, String> {
    let session = StoreSession::new(database, workload.tables(), setting.options());
    let session = session.map_err(text("session"))?;
    let mut session = Hesitant::new(session, setting.seed << 8 | u64::from(agent));
    let mut ran = Ran::default();
    let inputs = workload.inputs(agent).skip(leg * setting.transactions);
    for input in inputs.take(setting.transactions) {
        let outcome = execute(&mut session, workload, &input);
        let outcome = outcome.map_err(|error| format!("{input:?}: {error}"))?;
        if let Outcome::Committed(output) = outcome {
            ran.done.push(Done { place: session.session.last_place(), input, output });
        }
    }
    Ok(ran)
}

/// The conditions hold at every snapshot.
fn audit<W: Workload>(
    database: &Database,
    workload: &W,
    setting: Setting,
    over: &AtomicBool,
) -> Result<Ran<W>, String> {
    let session = StoreSession::new(database, workload.tables(), setting.options());
    let mut session = session.map_err(text("session"))?;
    let mut ran = Ran::default();
    while !over.load(Ordering::Relaxed) {
        let audited = session.transact(&mut Audit(workload)).map_err(text("meanwhile"))?;
        ran.totals.push((session.last_place().commit, *audited.value()));
        thread::yield_now();
    }
    Ok(ran)
}

struct Audit<'w, W>(&'w W);

impl<W: Workload> Body for Audit<'_, W> {
    type Output = i64;

    fn mode(&self) -> Mode {
        Mode::ReadOnly
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<i64>, A::Error> {
        self.0.check(access)?;
        self.0.total(access).map(Outcome::Committed)
    }
}

fn maintain(database: &Database, over: &AtomicBool) -> Result<(), String> {
    while !over.load(Ordering::Relaxed) {
        database.checkpoint().map_err(text("checkpoint"))?;
        database.vacuum().map_err(text("vacuum"))?;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

impl<'w, W: Workload> Judge<'w, W> {
    fn new(workload: &'w W) -> Self {
        let mut reference = populated(workload);
        let initial = total(&mut reference, workload).expect("the reference takes any scan");
        Self { workload, reference, initial, changes: Vec::new() }
    }

    /// Takes in what was done; at SERIALIZABLE the reference must do the same in commit order.
    fn hear(&mut self, ran: Vec<Ran<W>>, setting: Setting) -> Result<(), String> {
        let mut totals = Vec::new();
        let mut done = Vec::new();
        for ran in ran {
            totals.extend(ran.totals);
            done.extend(ran.done);
        }
        done.sort_by_key(|done| done.place);
        let change = |done: &Done<W>| (done.place, self.workload.change(&done.input, &done.output));
        self.changes.extend(done.iter().map(change));
        if setting.isolation == Isolation::Serializable {
            let history = done.into_iter().map(|done| (done.input, done.output));
            replay(&mut self.reference, self.workload, history).map_err(text("replay"))?;
        }
        for (commit, total) in totals {
            let until = self.changes.partition_point(|(place, _)| place.commit <= commit);
            let changes = self.changes[..until].iter().map(|(_, change)| change);
            let expected = self.initial + changes.sum::<i64>();
            if total != expected {
                return Err(format!("the total was {total} at commit {commit}, not {expected}"));
            }
        }
        Ok(())
    }

    /// Whether the store holds what the transactions heard of have made of it.
    fn look(&mut self, database: &Database, setting: Setting) -> Result<(), String> {
        let session = StoreSession::new(database, self.workload.tables(), setting.options());
        let mut session = session.map_err(text("session"))?;
        if setting.isolation == Isolation::Serializable {
            same_tables(&mut session, &mut self.reference).map_err(text("compare"))?;
        }
        let changes = self.changes.iter().map(|(_, change)| change);
        let expected = self.initial + changes.sum::<i64>();
        check(&mut session, self.workload, expected).map_err(text("check"))
    }
}

fn text<E: std::fmt::Display>(doing: &'static str) -> impl Fn(E) -> String {
    move |error| format!("{doing}: {error}")
}
