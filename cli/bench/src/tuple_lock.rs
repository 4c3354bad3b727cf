// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lockstep's lock beside PostgreSQL's own tuple lock.

use terminal::Progress;

use crate::postgres::{self, Comparison, InOrder, LARGE_TABLE_MIB, Plan, PostgresError, TABLE_MIB};
use crate::{Goal, Measured, Measurement, Size};

const TUPLES: u64 = 1_000_000;
const SEED: u64 = 1;
/// Of the histograms: widths and end in ns.
const BIN: u32 = 20;
const END: u32 = 500;

/// Sequential and random order; and both histograms in letters.
pub fn measure(size: Size, progress: &mut Progress) -> Result<Measured, PostgresError> {
    let plan = Plan { tuples: size.of(TUPLES), rounds: size.rounds, seed: SEED };
    let compared = postgres::side_by_side(plan, progress)?;
    let mut figures: Vec<Measurement> = compared.orders.iter().flat_map(in_order).collect();
    let (postgres_clock, clock) = compared.clock;
    figures.push(Measurement::new("one reading of the clock", "ns", clock).over(postgres_clock));
    Ok(Measured { figures, picture: Some(histograms(&compared)) })
}

fn in_order(order: &InOrder) -> Vec<Measurement> {
    let InOrder { name, postgres_lock, postgres_row, lockstep_lock, pair } = order;
    let median = postgres_lock.median();
    let ns = |what: String, value| Measurement::new(what, "ns", value);
    let beside = |what, mebibytes, value| {
        ns(format!("tuple lock, {name}, {what}, {mebibytes} MiB"), value).over(pair.postgres)
    };
    let lock = |what, value| ns(format!("tuple lock, {name}, {what}"), value).over(median);
    let theirs = |what, value| ns(format!("PostgreSQL, {name}, {what}"), value);
    vec![
        beside("overlapping", TABLE_MIB, pair.lockstep.overlapping).goal(Goal::RatioAtMost(0.1)),
        beside("dependent", TABLE_MIB, pair.lockstep.dependent).goal(Goal::RatioAtMost(0.2)),
        beside("overlapping", LARGE_TABLE_MIB, pair.large.overlapping),
        beside("dependent", LARGE_TABLE_MIB, pair.large.dependent),
        lock("median", lockstep_lock.median()),
        lock("p99 against median", lockstep_lock.quantile(0.99)).goal(Goal::RatioAtMost(1.0)),
        theirs("p99", postgres_lock.quantile(0.99)),
        theirs("row lock, median", postgres_row.median()),
    ]
}

fn histograms(compared: &Comparison) -> String {
    let picture = |order: &InOrder| {
        let InOrder { name, postgres_lock, lockstep_lock, .. } = order;
        let both =
            [("PostgreSQL, % of calls", postgres_lock), ("Lockstep, % of calls", lockstep_lock)];
        let calls = terminal::text::count(lockstep_lock.count());
        format!(
            "\nLatency of one lock, with one reading of the clock in it: {calls} tuples, {name}\n{}",
            postgres::histograms(&both, BIN, END)
        )
    };
    compared.orders.iter().map(picture).collect::<Vec<_>>().join("\n")
}
