// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figure 6 of the ccSLT paper: how long placing a tuple lock takes in PostgreSQL and in the
//! shared lock table. This is the only experiment in wall-clock time, since both are software.

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{
    Claim, Colour, Curve, Findings, Observation, Origin, Paper, Plot, Point, Row, Stroke,
};
use crate::samples::{Fitted, scaled_count};
use bench::postgres::{
    self, CLOCK_READINGS, Comparison, InOrder, LARGE_TABLE_MIB, Latencies, PASSES, Plan, TABLE_MIB,
};
use terminal::text;

pub const CCSLT: Paper = Paper::range(
    80.0,
    100.0,
    "section 4, experiment 3: \"With 80-100ns for sequential and random locking, the \
            ccSLT yields much lower latencies\"",
);
pub const POSTGRES: Paper =
    Paper::number(520.0, "section 4, experiment 3: \"PostgreSQL, which peaks at ca. 520ns\"");

/// Source: ccSLT paper, section 4, experiment 3, "We execute 1M lock requests".
const TUPLES: u64 = 1_000_000;
/// For the means of lock and unlock.
const ROUNDS: u32 = 80;
/// Width of a bin of the histograms, in ns.
const BIN: u32 = 10;
/// End of the picture, in ns: the paper's values lie below it.
const END: u32 = 600;
const ACROSS: &str = "time of one lock, ns";

/// Measures PostgreSQL and the lock table in turns.
///
/// # Errors
/// When there is no PostgreSQL to measure, or it does not work.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let tuples = scaled_count(TUPLES, setting.scale);
    let plan = Plan { tuples, rounds: ROUNDS, seed: setting.seeds.first };
    let compared = postgres::side_by_side(plan, setting.progress)?;
    let mut rows: Vec<Row> = compared.orders.iter().flat_map(|order| rows(plan, order)).collect();
    for (who, ns) in [("PostgreSQL", compared.clock.0), ("Lockstep", compared.clock.1)] {
        let label = format!("one reading of the clock, {who}");
        rows.push(once(plan, label, ("ns", "readings"), (ns, CLOCK_READINGS)));
    }
    Ok(Findings {
        parameters: vec![
            ("PostgreSQL", compared.version.clone()),
            ("tuples", text::count(tuples)),
            ("histograms", format!("of each fiftieth of the tuples, the best of {PASSES} passes")),
            ("lock tables", format!("of {TABLE_MIB} MiB, but where {LARGE_TABLE_MIB} MiB stand")),
            ("lock + unlock", format!("best of {ROUNDS} rounds over parts of the tuples")),
        ],
        rows,
        claims: claims(&compared),
        notes: notes(),
        plots: vec![plot(&compared)],
        details: compared.orders.iter().flat_map(|order| histograms(plan, order)).collect(),
        ..Findings::default()
    })
}

/// A row of what is measured once, in `units` (of the value, and of the operations behind it).
fn once(
    plan: Plan,
    label: impl Into<String>,
    units: (&'static str, &'static str),
    (value, operations): (f64, u64),
) -> Row {
    let observation = Observation { seed: plan.seed, value, operations };
    Row::new(label, units, vec![observation], Fitted::new())
}

fn rows(plan: Plan, order: &InOrder) -> Vec<Row> {
    let InOrder { name, postgres_lock, postgres_row, lockstep_lock, pair } = order;
    let row = |who: &str, what: &str, value, locks: &Latencies| {
        let label = format!("{who}, {name}: {what}");
        once(plan, label, ("ns", "locks"), (value, locks.count()))
    };
    let lock = |who: &str, latencies: &Latencies, paper| {
        [
            row(who, "lock, peak", latencies.peak(BIN), latencies).beside(Some(paper)),
            row(who, "lock, median", latencies.median(), latencies),
            row(who, "lock, p99", latencies.quantile(0.99), latencies),
            row(who, "lock, p99.9", latencies.quantile(0.999), latencies),
        ]
    };
    let pairs = |who: &str, what: &str, value| {
        let label = format!("{who}, {name}: {what}");
        once(plan, label, ("ns", "pairs of the best round"), (value, plan.pairs_of_round()))
    };
    let large = |what: &str| format!("{what}, {LARGE_TABLE_MIB} MiB");
    let mut rows = Vec::from(lock("PostgreSQL", postgres_lock, POSTGRES));
    rows.extend(lock("Lockstep", lockstep_lock, CCSLT));
    rows.extend([
        pairs("PostgreSQL", "lock + unlock", pair.postgres),
        pairs("Lockstep", "overlapping", pair.lockstep.overlapping),
        pairs("Lockstep", "dependent", pair.lockstep.dependent),
        pairs("Lockstep", &large("overlapping"), pair.large.overlapping),
        pairs("Lockstep", &large("dependent"), pair.large.dependent),
        row("PostgreSQL", "row lock, median", postgres_row.median(), postgres_row),
        row("PostgreSQL", "row lock, p99", postgres_row.quantile(0.99), postgres_row),
    ]);
    rows
}

/// The bins of the picture.
fn histograms(plan: Plan, order: &InOrder) -> Vec<Row> {
    let both = [("PostgreSQL", &order.postgres_lock), ("Lockstep", &order.lockstep_lock)];
    let bins = |(who, latencies): (&str, &Latencies)| {
        let series = format!("{who}, {}", order.name);
        let bin = |(middle, percent): (f64, f64)| {
            let label = format!("{series}: locks of {middle} ns, half a bin more or less");
            let row = once(plan, label, ("%", "locks"), (percent, latencies.count()));
            row.at(series.clone(), ACROSS, middle)
        };
        latencies.bins(BIN, END).into_iter().map(bin).collect::<Vec<_>>()
    };
    both.into_iter().flat_map(bins).collect()
}

fn claims(compared: &Comparison) -> Vec<Claim> {
    let [sequential, random] = &compared.orders;
    let median = |latencies: &Latencies| latencies.median();
    let p99 = |latencies: &Latencies| latencies.quantile(0.99);
    // "Much": half or less, and no longer tail that takes it away again.
    let is_much_lower = |order: &InOrder| {
        2.0 * median(&order.lockstep_lock) <= median(&order.postgres_lock)
            && p99(&order.lockstep_lock) < p99(&order.postgres_lock)
    };
    let both = |order: &InOrder| {
        let InOrder { name, postgres_lock, lockstep_lock, .. } = order;
        format!(
            "{name}: median {:.0} ns against {:.0} ns, p99 {:.0} ns against {:.0} ns;",
            median(lockstep_lock),
            median(postgres_lock),
            p99(lockstep_lock),
            p99(postgres_lock)
        )
    };
    let tail = |order: &InOrder| order.lockstep_lock.quantile(0.999);
    vec![
        Claim::by_the_clock(
            Origin::Paper,
            "\"the ccSLT yields much lower latencies than PostgreSQL\" (section 4), of a single \
             lock.",
            is_much_lower(sequential) && is_much_lower(random),
            format!(
                "{} {} one reading of the clock, {:.0} ns, is part of each.",
                both(sequential),
                both(random),
                compared.clock.1
            ),
        ),
        Claim::by_the_clock(
            Origin::Own,
            "The same, of lock and unlock without a clock between.",
            compared.orders.iter().all(|InOrder { pair, .. }| {
                pair.lockstep.overlapping < pair.postgres && pair.lockstep.dependent < pair.postgres
            }),
            compared.orders.iter().map(times_cheaper).collect::<Vec<_>>().join(" "),
        ),
        Claim::by_the_clock(
            Origin::Paper,
            "Sequential accesses profit from prefetching, \"shown by the shorter tail of the \
             distribution\" (section 4).",
            // Less than a bin is less than the clock can tell.
            tail(sequential) + f64::from(BIN) < tail(random),
            format!(
                "999 of 1000 locks take at most {:.0} ns in sequence and {:.0} ns at random. \
                 Tuples in sequence have buckets in sequence, whose lines this machine's own \
                 caches fetch ahead; no link is between.",
                tail(sequential),
                tail(random)
            ),
        ),
    ]
}

fn times_cheaper(order: &InOrder) -> String {
    let InOrder { name, pair, .. } = order;
    let by = |ns: f64| pair.postgres / ns;
    format!(
        "{name}: {:.1} ns against {:.0} ns where operations may overlap ({:.1} times), {:.1} ns \
         where each depends on the last ({:.1} times).",
        pair.lockstep.overlapping,
        pair.postgres,
        by(pair.lockstep.overlapping),
        pair.lockstep.dependent,
        by(pair.lockstep.dependent)
    )
}

fn notes() -> Vec<String> {
    vec![
        "\"Lock\" is one call of LockTuple, which enters a tuple lock into the server's shared \
         lock table, or of the lock table's acquire. Each is unlocked before the next is placed; \
         the histograms leave the unlock out, and the means of lock and unlock leave the clock \
         out."
            .into(),
        "\"Row lock\" is one call of heap_lock_tuple, which SELECT FOR UPDATE makes: it marks the \
         tuple on its page and logs that, and enters LockTuple's table only to wait. The paper \
         does not say which of the two it timed. The server runs without fsync and full-page \
         writes, which favours it."
            .into(),
        "The counter behind the clock moves in steps on some processors, of 10 ns or so; the \
         histograms cannot be finer than that."
            .into(),
        "The paper's host was another machine (N1SDP, figure 2), and its lock table lay behind \
         CCIX. So the ratios to its values compare machines as much as locks; PostgreSQL and \
         Lockstep were measured in turns on one processor of this machine."
            .into(),
        format!(
            "PostgreSQL's table never holds more than one tuple lock here and stays in the \
             nearest cache. Lockstep's has a fixed place for each tuple. With {LARGE_TABLE_MIB} \
             MiB it has more buckets than there are tuples, and random locks wait for memory."
        ),
    ]
}

fn plot(compared: &Comparison) -> Plot {
    let mut curves = Vec::new();
    let [sequential, random] = &compared.orders;
    // The bins are too close for marks: the strokes alone tell the curves apart.
    for (order, ours, theirs) in
        [(sequential, Stroke::Solid, Stroke::LONG), (random, Stroke::DASHED, Stroke::SHORT)]
    {
        for (who, colour, stroke, latencies) in [
            ("PostgreSQL", Colour::Rival, theirs, &order.postgres_lock),
            ("Lockstep", Colour::Host, ours, &order.lockstep_lock),
        ] {
            let points = latencies.bins(BIN, END).into_iter().map(Point::lone).collect();
            curves.push(Curve { name: format!("{who}, {}", order.name), colour, stroke, points });
        }
    }
    let points = curves.iter().flat_map(|curve| &curve.points);
    let top = points.map(|point| point.y).fold(0.0, f64::max);
    let paper = |name: &str, stroke, Paper { low, high, .. }: Paper| {
        let points = [(low, 0.0), (low, top), (high, top), (high, 0.0)];
        let points = points.map(Point::lone).into();
        Curve { name: name.into(), colour: Colour::Paper, stroke, points }
    };
    curves.push(paper("paper: PostgreSQL's peak", Stroke::DOTTED, POSTGRES));
    curves.push(paper("paper: ccSLT", Stroke::SPARSE, CCSLT));
    Plot::Lines { across: ACROSS, up: "part of all locks, % in a bin of 10 ns", curves }
}
