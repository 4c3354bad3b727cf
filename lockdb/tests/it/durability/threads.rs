// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several threads commit, in groups, and the power goes while they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lockdb::files::{Files, Simulated};
use lockdb::{Database, Durability, Error, Isolation, Options, Table, TransactionOptions};

use super::model::{Commit, History, Row, schema, values};
use super::points::survive;
use super::random::Random;

const THREADS: u64 = 4;
/// Rows of each thread.
const ROWS: u64 = 10;

/// What a thread knows of its commits.
#[derive(Default)]
struct Known {
    commits: Vec<Commit>,
    /// The newest that was acknowledged.
    acknowledged: u64,
}

/// Commits until the power goes. The last commit, whose end it did not see, may stand or not; its
/// number is between those that others know of, and is given at the end.
fn commit_until_dark(
    store: &Database,
    table: &Table,
    thread: u64,
    seed: u64,
) -> (Known, Option<Commit>) {
    let mut random = Random::new(seed << 8 | thread);
    let mut session = store.session().expect("a session for each thread");
    let mut known = Known::default();
    for balance in 0.. {
        let durability = if random.one_in(3) { Durability::None } else { Durability::Group };
        let options = TransactionOptions { isolation: Isolation::Snapshot, durability };
        let mut changes = std::collections::BTreeMap::new();
        let mut transaction = session.begin(options);
        // Two rows always change together.
        for half in 0..2 {
            let id = ((thread * 2 + half) * ROWS + random.below(ROWS)) as i64;
            let row = Row { balance, owner: Some(format!("owner {}", random.below(5))) };
            let fields = values(id, &row);
            let written = transaction.update(table, &id, |buffer| Ok(buffer.fill(&fields)?));
            written.expect("rows of its own").expect("they are there");
            changes.insert((table.name().to_string(), id), Some(row));
        }
        match transaction.commit() {
            Ok(number) => {
                known.commits.push(Commit { number, changes });
                if durability != Durability::None {
                    known.acknowledged = number;
                }
            }
            Err(Error::Log(_)) => return (known, Some(Commit { number: 0, changes })),
            Err(error) => panic!("thread {thread}: {error}"),
        }
    }
    unreachable!("the power goes at some time");
}

fn begin(files: &Simulated) -> (Database, Arc<Table>, History) {
    let store = Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, Options::small());
    let store = store.expect("a new store");
    let table = store.create_table(schema("table 0")).expect("a new table");
    let row = Row { balance: -1, owner: None };
    let ids = 0..(THREADS * 2 * ROWS) as i64;
    let mut history = History::default();
    let mut session = store.session().expect("a session");
    let mut transaction = session.begin(TransactionOptions::default());
    let mut changes = std::collections::BTreeMap::new();
    for id in ids {
        transaction.insert(&table, &values(id, &row)).expect("a new row");
        changes.insert((table.name().to_string(), id), Some(row.clone()));
    }
    let number = transaction.commit().expect("nothing is in the way");
    history.commits.push(Commit { number, changes });
    drop(transaction);
    drop(session);
    (store, table, history)
}

/// Threads commit until the power goes; then all that any of them was told must be there. How they
/// meet is the machine's, so that a seed need not fail again.
fn run(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let files = Simulated::new();
    let (store, table, mut history) = begin(&files);
    files.lose_power_at(files.steps() + random.below(120));
    let running = AtomicUsize::new(THREADS as usize);
    let known: Vec<(Known, Option<Commit>)> = thread::scope(|scope| {
        let (store, table, running) = (&store, &table, &running);
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let known = commit_until_dark(store, table, thread, seed);
                    running.fetch_sub(1, Ordering::SeqCst);
                    known
                })
            })
            .collect();
        while running.load(Ordering::SeqCst) > 0 {
            // Fails when the power is gone, as it should.
            let _ = store.checkpoint();
            thread::yield_now();
        }
        threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
    });
    let least = known.iter().map(|(known, _)| known.acknowledged).max().unwrap_or(0);
    let mut unknown = Vec::new();
    for (known, last) in known {
        history.commits.extend(known.commits);
        unknown.extend(last);
    }
    // The numbers that nobody knows of belong to the commits that nobody saw through, in an order
    // that only what stands can tell.
    let taken: std::collections::BTreeSet<u64> =
        history.commits.iter().map(|commit| commit.number).collect();
    let first = history.commits[0].number;
    let free: Vec<u64> =
        (first..=store.published()).filter(|number| !taken.contains(number)).collect();
    drop(store);
    let tear = random.below(u64::MAX);
    let mut wrong = None;
    for commits in assignments(&free, &unknown) {
        let mut history = history.clone();
        history.commits.extend(commits);
        match survive(files.crash(tear), &history, least, tear, None) {
            Ok(()) => return Ok(()),
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    Err(wrong.unwrap_or("more numbers were given than commits were begun".into()))
}

/// All ways to assign the free numbers to commits; a commit without a number never began.
fn assignments(free: &[u64], unknown: &[Commit]) -> Vec<Vec<Commit>> {
    let Some((first, rest)) = free.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for at in 0..unknown.len() {
        let mut others = unknown.to_vec();
        let mut commit = others.remove(at);
        commit.number = *first;
        for mut tail in assignments(rest, &others) {
            tail.push(commit.clone());
            all.push(tail);
        }
    }
    all
}

#[test]
fn acknowledged_commits_of_many_threads_survive_a_loss_of_power() {
    seeds::each!(20, run);
}
