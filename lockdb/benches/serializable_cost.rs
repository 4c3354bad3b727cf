// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a SERIALIZABLE commit with many reads for other transactions: how long their commits
//! take beside it.
//!
//! `cargo bench -p lockdb --bench serializable_cost`

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lockdb::schema::{Schema, Type};
use lockdb::{
    Database, Durability, Isolation, Options, Order, Result, Session, Table, Transaction,
    TransactionOptions,
};

const ROWS: i64 = 400_000;
const ROUNDS: usize = 10;

/// How the rows are read.
#[derive(Clone, Copy, Debug)]
enum Way {
    Nothing,
    Scan,
    Range,
    Keys,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Database::in_memory(Options::default())?;
    let table = |name| {
        let schema = Schema::builder(name).column("id", Type::Int64).column("n", Type::Int64);
        store.create_table(schema.primary_key(&["id"]).build().expect("the schema is sound"))
    };
    let (read, beside) = (table("read")?, table("beside")?);
    let mut session = store.session()?;
    for first in (0..ROWS).step_by(1000) {
        session.transaction(of(Isolation::Snapshot), |t| {
            (first..first + 1000).try_for_each(|id| {
                t.insert(&read, &[id.into(), 0.into()])?;
                t.insert(&beside, &[id.into(), 0.into()])
            })
        })?;
    }
    println!("{ROWS} rows read, one changed, {ROUNDS} times; beside it single updates");
    for way in [Way::Nothing, Way::Scan, Way::Range, Way::Keys] {
        measure(&store, &mut session, &read, &beside, way)?;
    }
    Ok(())
}

fn of(isolation: Isolation) -> TransactionOptions {
    TransactionOptions { isolation, durability: Durability::None }
}

fn add(transaction: &mut Transaction<'_>, table: &Table, id: i64) -> Result<()> {
    let add = |row: &mut lockdb::schema::RowBuffer| {
        row.set_int(1, row.as_row().int(1) + 1);
        Ok(())
    };
    transaction.update(table, &id, add).map(drop)
}

fn measure(
    store: &Database,
    session: &mut Session,
    read: &Arc<Table>,
    beside: &Arc<Table>,
    way: Way,
) -> Result<()> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let others = threads.spawn(|| updates(store, beside, &stop));
        let mut commits = Vec::new();
        for round in 0..ROUNDS as i64 {
            let mut transaction = session.begin(of(Isolation::Serializable));
            look(&mut transaction, read, way)?;
            add(&mut transaction, read, round)?;
            let since = Instant::now();
            transaction.commit()?;
            commits.push(since.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
        let times = others.join().expect("it did not panic")?;
        commits.sort_unstable();
        let part = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
        println!(
            "{way:?}: its commits {:?} (median); {} others: median {:?}, 99.9 % {:?}, longest {:?}",
            commits[commits.len() / 2],
            times.len(),
            part(0.5),
            part(0.999),
            part(1.0),
        );
        Ok(())
    })
}

fn look(transaction: &mut Transaction<'_>, table: &Table, way: Way) -> Result<()> {
    match way {
        Way::Nothing => Ok(()),
        Way::Scan => transaction.scan(table, |_| ControlFlow::Continue(())),
        Way::Range => {
            transaction.range(table, 0..ROWS, Order::Ascending, |_| ControlFlow::Continue(()))
        }
        Way::Keys => (0..ROWS).try_for_each(|id| transaction.get(table, &id).map(drop)),
    }
}

/// Updates single rows until it is told to stop; how long each took, sorted.
fn updates(store: &Database, table: &Table, stop: &AtomicBool) -> Result<Vec<Duration>> {
    let mut session = store.session()?;
    let mut times = Vec::new();
    for id in (0..ROWS).cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let since = Instant::now();
        session.transaction(of(Isolation::Snapshot), |t| add(t, table, id))?;
        times.push(since.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}
