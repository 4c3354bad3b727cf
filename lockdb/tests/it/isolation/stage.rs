// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plays scenarios: each session on a thread of its own, one step at a time. Whether a session
//! waits, and for whom, is read off the lock table's queues; nothing hangs on time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use lockdb::mutant::Mutant;
use lockdb::{Database, Isolation, Options, Table};
use locks::{Head, HeldLocks, Policy, Ring, Statistics, Timestamp, TupleKey, Waiting};

use crate::isolation::script::{Line, Scenario, Script};
use crate::isolation::step::{Actor, refusal, schema};

/// No wait is longer, on either side.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Between two searches for deadlock: long enough that the youngest, whose part it is to die, has
/// come by before another thread does it.
const SEARCH: Duration = Duration::from_millis(40);

/// Plays a scenario in each of its columns, and compares it with what the table says.
pub fn play(scenario: &Scenario) {
    let script = Script::new(scenario);
    if let Err(difference) = try_to_play(scenario, &script, None) {
        panic!("{difference}");
    }
    assert_eq!(
        script.differences() > 0,
        scenario.stricter.is_some(),
        "{}: where it differs from PostgreSQL it says why, and only there",
        scenario.name
    );
}

/// Plays a scenario on a store with a mutant.
///
/// # Errors
/// Where it goes otherwise than the table says.
pub fn try_to_play(
    scenario: &Scenario,
    script: &Script,
    mutant: Option<Mutant>,
) -> Result<(), String> {
    script.plays().try_for_each(|column| {
        let on_the_store = |level| on_the_store(scenario, script, column, level, mutant);
        let on_the_table = |policy| on_the_table(scenario, script, column, policy);
        match script.columns[column] {
            "READ COMMITTED" => on_the_store(Isolation::ReadCommitted),
            "SNAPSHOT" => on_the_store(Isolation::Snapshot),
            "SERIALIZABLE" => on_the_store(Isolation::Serializable),
            "WAITS-FOR" => on_the_table(SEARCHING),
            "WAIT-DIE" => on_the_table(Policy::WaitDie),
            other => panic!("{}: no column {other:?}", scenario.name),
        }
    })
}

const SEARCHING: Policy = Policy::WaitsFor { every: SEARCH };

/// The sessions of a store, all at one level.
fn on_the_store(
    scenario: &Scenario,
    script: &Script,
    column: usize,
    level: Isolation,
    mutant: Option<Mutant>,
) -> Result<(), String> {
    let waiting = Waiting { policy: SEARCHING, timeout: TIMEOUT, ..Waiting::default() };
    let options = Options { lock_buckets: 1 << 12, waiting, ..Options::small() };
    let database = Database::in_memory(options).expect("a small store fits");
    let table = database.create_table(schema()).expect("the store is empty");
    let fill = |transaction: &mut lockdb::Transaction<'_>| {
        let rows = scenario.rows.iter();
        rows.map(|&(key, value)| [key.into(), value.into()])
            .try_for_each(|row| transaction.insert(&table, &row))
    };
    database.transaction(fill).expect("no other user exists");
    database.plant(mutant);
    let perform = |_, steps, answers| perform_on_store(&database, &table, level, &steps, &answers);
    run(scenario, script, column, database.lock_table(), perform)
}

/// One session of the store: transactions one after the other.
fn perform_on_store(
    database: &Database,
    table: &Table,
    level: Isolation,
    steps: &Receiver<&str>,
    answers: &Sender<String>,
) {
    let mut session = database.session().expect("a scenario has few sessions");
    while let Ok(mut step) = steps.recv() {
        let mut actor = Actor::new(session.begin(level), table);
        loop {
            let answer = actor.take(step);
            if answers.send(answer).is_err() || ends(step) {
                break;
            }
            match steps.recv() {
                Ok(next) => step = next,
                Err(_) => return,
            }
        }
    }
}

/// Whether a step is the last of its transaction.
fn ends(step: &str) -> bool {
    ["commit", "rollback", "end"].iter().any(|end| step.ends_with(end))
}

/// The transactions of a bare lock table, T1 the oldest.
fn on_the_table(
    scenario: &Scenario,
    script: &Script,
    column: usize,
    policy: Policy,
) -> Result<(), String> {
    let locks = locks::LockTable::new(1 << 12).expect("a small table fits");
    let perform = |player: usize, steps: Receiver<&str>, answers: Sender<String>| {
        perform_on_table(&locks, player, policy, &steps, &answers);
    };
    run(scenario, script, column, &locks, perform)
}

fn perform_on_table(
    locks: &locks::LockTable,
    player: usize,
    policy: Policy,
    steps: &Receiver<&str>,
    answers: &Sender<String>,
) {
    let mut statistics = Statistics::default();
    let mut attempts = 0..;
    let mut name = || Timestamp::of_attempt(player as u64 + 1, attempts.next()?);
    let mut held = HeldLocks::new(name().expect("the first attempt"));
    while let Ok(step) = steps.recv() {
        let words: Vec<&str> = step.split(' ').collect();
        let key = || TupleKey::initial(words[1].parse().expect("a key"));
        let policy = if words.get(2) == Some(&"nowait") { Policy::NoWait } else { policy };
        let waiting = Waiting { policy, timeout: TIMEOUT, ..Waiting::default() };
        let result = match words[0] {
            "lock" => held.lock(locks, key(), &waiting, &mut statistics).map(drop),
            "unlock" => held.unlock(locks, key(), &mut statistics),
            "end" => {
                let ended = held.release_to(0, locks, &mut statistics);
                held.rename(name().expect("few attempts"));
                ended
            }
            _ => panic!("no step {step:?}"),
        };
        let answer = result.map_or_else(|error| refusal(&error), |()| "ok".into());
        if answers.send(answer).is_err() {
            break;
        }
    }
    held.release_to(0, locks, &mut statistics).expect("no repair runs");
}

/// Starts a thread for each player, and goes through the table's lines.
fn run(
    scenario: &Scenario,
    script: &Script,
    column: usize,
    locks: &locks::LockTable,
    perform: impl Fn(usize, Receiver<&'static str>, Sender<String>) + Sync,
) -> Result<(), String> {
    std::thread::scope(|scope| {
        let player = |number: usize| {
            let (steps, to_do) = channel();
            let (done, answers) = channel();
            let perform = &perform;
            scope.spawn(move || perform(number, to_do, done));
            Player { steps, answers, pending: false, name: None }
        };
        let players = (0..script.players.len()).map(player).collect();
        let mut stage = Stage { script, locks, players };
        let differs = |line, found: &str, expected: &str| {
            let column = script.columns[column];
            let script = marked(script, line);
            format!("{} at {column}: {found:?}, not {expected:?}\n{script}", scenario.name)
        };
        for line in &script.lines {
            let expected = line.outcomes[column].trim_end_matches('!').trim_end();
            if expected == "-" {
                continue;
            }
            let found = stage.take(line, expected);
            if found != expected {
                return Err(differs(line, &found, expected));
            }
        }
        match stage.players.iter().position(|player| player.pending) {
            Some(player) => Err(format!("{} is left waiting", script.players[player])),
            None => Ok(()),
        }
    })?;
    match locks.buckets().iter().position(|bucket| bucket.head() != Head::FREE) {
        Some(bucket) => Err(format!("{}: bucket {bucket} is still held", scenario.name)),
        None => Ok(()),
    }
}

/// The script with an arrow at one line.
fn marked(script: &Script, at: &Line) -> String {
    let lines = script.lines.iter();
    let arrow = |line: &Line| if std::ptr::eq(line, at) { "->" } else { "  " };
    lines.map(|line| format!("{} {}\n", arrow(line), line.text)).collect()
}

struct Stage<'s, 't> {
    script: &'s Script,
    locks: &'t locks::LockTable,
    players: Vec<Player>,
}

struct Player {
    steps: Sender<&'static str>,
    answers: Receiver<String>,
    /// Whether a step of it has not ended yet.
    pending: bool,
    /// What its transaction is called in the lock table, once that has been seen there.
    name: Option<Timestamp>,
}

/// The transactions that one waiter waits for: the holder, then those ahead in the queue.
struct Wait {
    waiter: Timestamp,
    ahead: Vec<Timestamp>,
}

impl Stage<'_, '_> {
    /// Takes a line's step, or waits for the end of the pending one. Gives the answer, or whom the
    /// session waits for.
    fn take(&mut self, line: &Line, expected: &str) -> String {
        let player = &mut self.players[line.player];
        if line.step == "..." {
            assert!(player.pending, "nothing to wait for: {}", line.text);
        } else {
            assert!(!player.pending, "the last step has not ended: {}", line.text);
            // A thread that has panicked does not answer either.
            let _ = player.steps.send(line.step);
            player.pending = true;
        }
        if expected == "..." {
            return expected.into();
        }
        let outcome = self.outcome(line, expected);
        self.learn_name(line.player);
        match outcome {
            Ok(answer) => {
                let player = &mut self.players[line.player];
                player.pending = false;
                if ends(line.step) {
                    player.name = None;
                }
                answer
            }
            Err(wait) => format!("waits {}", self.named(&wait.ahead).join(" ")),
        }
    }

    fn outcome(&self, line: &Line, expected: &str) -> Result<String, Wait> {
        let player = &self.players[line.player];
        let until = Instant::now() + TIMEOUT;
        loop {
            match player.answers.recv_timeout(Duration::from_micros(100)) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok("panicked".into()),
            }
            // Others are known by name once they have waited.
            let others = |waiter| self.players.iter().any(|other| other.name == Some(waiter));
            let is_ours = |wait: &Wait| match player.name {
                Some(name) => wait.waiter == name,
                None => !others(wait.waiter),
            };
            // A victim of a deadlock waits before.
            if expected != "deadlock"
                && let Some(wait) = self.waits().into_iter().find(is_ours)
            {
                return Err(wait);
            }
            assert!(Instant::now() < until, "neither done nor waiting: {}", line.text);
        }
    }

    /// Only the player that has moved can have a new name.
    fn learn_name(&mut self, player: usize) {
        let heads = self.locks.buckets().iter().map(|bucket| bucket.head().holder());
        let waiters = self.waits().into_iter().map(|wait| wait.waiter);
        let known = |name| self.players.iter().any(|player| player.name == Some(name));
        let new = heads.flatten().chain(waiters).find(|&name| !known(name));
        if new.is_some() {
            self.players[player].name = new;
        }
    }

    fn named(&self, transactions: &[Timestamp]) -> Vec<&'static str> {
        let of = |name| self.players.iter().position(|player| player.name == Some(name));
        transactions
            .iter()
            .map(|&name| of(name).map_or("?", |at| self.script.players[at]))
            .collect()
    }

    /// All that wait in the lock table.
    fn waits(&self) -> Vec<Wait> {
        let contended = self.locks.buckets().iter().filter(|bucket| bucket.head().has_waiters());
        let mut waits = Vec::new();
        for bucket in contended {
            let line = bucket.line();
            let head = Head::from_word(line[0]);
            let mut ahead: Vec<Timestamp> = head.holder().into_iter().collect();
            for slot in head.queue(Ring::FULL) {
                let Some(waiter) = Timestamp::of_word(line[slot.index()]) else { continue };
                waits.push(Wait { waiter, ahead: ahead.clone() });
                ahead.push(waiter);
            }
        }
        waits
    }
}
