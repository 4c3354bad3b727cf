// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of the lock table, as the system counts it.

use std::fs;

use locks::machine::{Outcome, Place, Request, Rule};
use locks::{Bucket, LockTable, Timestamp};

use super::{Goal, Measurement, Size};

const BUCKETS: u64 = 1 << 20;
/// As many as fit into a queue.
const WAITERS: u64 = 7;

/// Bytes of a bucket, and bytes that appear when transactions wait in every bucket.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let buckets = size.of(BUCKETS).next_power_of_two();
    let before = resident()?;
    let table = LockTable::new(buckets as usize).map_err(|error| error.to_string())?;
    // A page is there when it has been written: every lock is taken once.
    (0..buckets).for_each(|bucket| enter(&table, bucket, 1));
    let with_table = resident()?;
    for waiter in 0..WAITERS {
        (0..buckets).for_each(|bucket| enter(&table, bucket, 2 + waiter));
    }
    let with_waiters = resident()?;
    let grown = |from: u64, to: u64| to.saturating_sub(from) as f64;
    let each_waiter = grown(with_table, with_waiters) / (WAITERS * buckets) as f64;
    Ok(vec![
        // What the system counts comes in pages, and this process allocates beside it.
        Measurement::new(
            "table, resident bytes of a bucket",
            "B",
            grown(before, with_table) / buckets as f64,
        )
        .over(size_of::<Bucket>() as f64)
        .goal(Goal::RatioAtMost(1.05)),
        Measurement::new("table, resident bytes of a waiter", "B", each_waiter)
            .goal(Goal::AtMost(0.1)),
        Measurement::new("handle of a waiting transaction", "B", size_of::<Place>() as f64),
    ])
}

/// The `number`th transaction asks for the lock of a bucket.
fn enter(table: &LockTable, bucket: u64, number: u64) {
    let transaction = Timestamp::new(number).expect("not 0");
    let outcome = table.run(transaction, bucket as usize, Request::Acquire(Rule::Queue));
    let expected = match number {
        1 => matches!(outcome, Outcome::Granted { again: false }),
        _ => {
            matches!(outcome, Outcome::Queued { position, .. } if u64::from(position) == number - 1)
        }
    };
    assert!(expected, "transaction {number} in bucket {bucket}: {outcome:?}");
}

/// Bytes of this process that are in memory.
fn resident() -> Result<u64, String> {
    let path = "/proc/self/smaps_rollup";
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.map(|count| count << 10).ok_or_else(|| format!("{path}: expected a line Rss: N kB"))
}
