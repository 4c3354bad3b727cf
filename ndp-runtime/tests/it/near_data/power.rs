// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loss of power at every step that reaches storage, the device's own writes among them: after
//! reopening the store, each near-data update is present completely or not at all, and no
//! acknowledged one is missing.

use std::sync::Arc;

use lockdb::files::{Files, Simulated};
use lockdb::mutant::Mutant as StoreFault;
use lockdb::{Database, Durability, Isolation, TransactionOptions};
use locks::Policy;
use ndp_runtime::engine::Mutant as EngineMutant;
use ndp_runtime::host::Runtime;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::near_data::scene::{
    accounts, assert_no_locks, device, options, rows, runtime_options, set, small_jobs, try_rows,
    update_near,
};

const ROWS: i64 = 120;

fn durable(isolation: Isolation) -> TransactionOptions {
    TransactionOptions { isolation, durability: Durability::Group }
}

/// The rows after each commit, and the step of storage by which it was acknowledged.
type States = Vec<(u64, Vec<[i64; 3]>)>;

/// The step that is left out on purpose.
#[derive(Clone, Copy, Debug)]
enum Broken {
    Engine(EngineMutant),
    Store(StoreFault),
}

/// Host updates, near-data updates and checkpoints, drawn from a seed.
fn work(files: &Simulated, seed: u64, broken: Option<Broken>) -> States {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let shared: Arc<dyn Files> = Arc::new(files.clone());
    let options = options(Policy::NoWait);
    let store = Database::open_in(shared.clone(), options.clone()).unwrap();
    let table = store.create_table(accounts()).unwrap();
    crate::near_data::scene::fill(&store, &table, ROWS);
    store.checkpoint().unwrap();
    let mut device = device(&shared, &store);
    match broken {
        Some(Broken::Engine(mutant)) => device.plant(Some(mutant)),
        Some(Broken::Store(mutant)) => store.plant(Some(mutant)),
        None => {}
    }
    let runtime = Runtime::open(&store, device, runtime_options(options.waiting));
    let mut session = store.session().unwrap();
    let mut states = vec![(files.steps(), rows(&store, &table))];
    for _ in 0..12 {
        match random.random_range(0..6) {
            0 => drop(store.checkpoint().unwrap()),
            1 => drop(store.vacuum().unwrap()),
            2 => {
                let mut transaction = session.begin(durable(Isolation::Snapshot));
                let id = random.random_range(0..ROWS);
                transaction.update(&table, &id, |row| set(row, 2, -1)).unwrap();
                transaction.commit().unwrap();
            }
            _ => {
                let isolation = crate::near_data::scene::ISOLATIONS[random.random_range(0..3)];
                let mut transaction = session.begin(durable(isolation));
                let mut near = runtime.begin(&mut transaction);
                let predicate = format!("region < {}", random.random_range(1..10));
                let set = "balance = balance + 7";
                update_near(&mut near, &table, Some(&predicate), set, &small_jobs()).unwrap();
                match random.random_range(0..5) {
                    0 => near.rollback().unwrap(),
                    _ => drop(near.commit().unwrap()),
                }
            }
        }
        states.push((files.steps(), rows(&store, &table)));
    }
    states
}

/// Opens what is left after a loss of power at each step. Gives how many there were.
fn lose_power(seed: u64, broken: Option<Broken>) -> Result<u64, String> {
    let files = Simulated::new();
    let states = work(&files, seed, broken);
    let (first, end) = (states[0].0, files.steps());
    for point in first..=end {
        let acknowledged = states.iter().rposition(|(step, _)| *step <= point).unwrap();
        let told = |what: &str| {
            format!(
                "power lost at step {point} of {first} to {end}, after change \
                 {acknowledged}: {what}"
            )
        };
        let crashed: Arc<dyn Files> = Arc::new(files.crash_at(point, seed ^ point));
        let store = Database::open_in(crashed, options(Policy::NoWait));
        let store = store.map_err(|error| told(&error.to_string()))?;
        let table = store.table("account").map_err(|error| told(&error.to_string()))?;
        let found = try_rows(&store, &table).map_err(|error| told(&error.to_string()))?;
        // The commit that was under way may be there or not.
        let possible = &states[acknowledged..states.len().min(acknowledged + 2)];
        if !possible.iter().any(|(_, rows)| *rows == found) {
            return Err(told("neither the rows before nor those after"));
        }
        assert_no_locks(&store);
    }
    Ok(end - first)
}

#[test]
fn power_loss_leaves_whole_transactions() {
    let (seeds, mut points) = (seeds::of!(4), 0);
    seeds.each(|seed| lose_power(seed, None).map(|more| points += more));
    println!("{points} points of power loss");
    assert!(points > 100 || !seeds.is_whole());
}

#[test]
fn power_loss_is_found_where_the_order_of_a_commit_is_broken() {
    for broken in [
        Broken::Engine(EngineMutant::SyncSkipped),
        Broken::Engine(EngineMutant::CreatedNotStamped),
        Broken::Store(StoreFault::NearDataLogBeforeFinalize),
    ] {
        let find = |seed| std::panic::catch_unwind(|| lose_power(seed, Some(broken)));
        let found = (1..13).find_map(|seed| match find(seed) {
            Ok(found) => found.err(),
            Err(_) => Some(format!("seed {seed}: a panic")),
        });
        println!("{broken:?}: {}", found.expect("a loss of power that is noticed"));
    }
}
