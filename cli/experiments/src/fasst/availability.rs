// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine is killed: throughput over time, and how long it takes until it is back.

use cluster_sim::run::{Settings, Slice, Workload, slices_on};
use timing::Time;

use super::clusters::CIB;
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Plot, Point, Row, Stroke};
use crate::samples::{Measured, Run, Samples};

/// Machines, threads of each, and workers of a thread.
const SIZE: (u16, u8, u8) = (6, 2, 4);
const SUBSCRIBERS: u64 = 10_000;
/// FaRM's leases, whose recovery the paper assumes.
const LEASE_US: f64 = 10_000.0;
/// When the machine is killed, and when all ends.
const KILL: Time = Time::from_us(10_000);
const END: Time = Time::from_us(60_000);
const SLICE: Time = Time::from_us(500);
/// In a test all times are so many times shorter.
const SHORTER: u64 = 40;

/// The times of a run.
#[derive(Clone, Copy, Debug)]
struct Times {
    lease_us: f64,
    kill: Time,
    end: Time,
    slice: Time,
}

/// What was committed in each slice of time.
struct Course {
    times: Times,
    slices: Vec<Slice>,
}

impl Course {
    /// Transactions a second in a slice, in millions.
    fn rate(&self, slice: &Slice) -> f64 {
        slice.committed as f64 / (self.times.slice.as_ns_f64() / 1e3)
    }

    fn mean(&self, of: impl Fn(&Slice) -> bool) -> f64 {
        let those: Vec<f64> =
            self.slices.iter().filter(|slice| of(slice)).map(|slice| self.rate(slice)).collect();
        those.iter().sum::<f64>() / those.len().max(1) as f64
    }

    /// Before the kill, without the first slices.
    fn before(&self) -> f64 {
        let warm = Time::from_ps(self.times.slice.as_ps() * 2);
        self.mean(|slice| slice.from >= warm && slice.until <= self.times.kill)
    }

    /// In the last quarter.
    fn after(&self) -> f64 {
        let last = Time::from_ps(self.times.end.as_ps() / 4 * 3);
        self.mean(|slice| slice.from >= last)
    }

    /// The least of all slices after the kill, in per cent of before.
    fn lowest(&self) -> f64 {
        let after = self.slices.iter().filter(|slice| slice.from >= self.times.kill);
        100.0 * after.map(|slice| self.rate(slice)).fold(f64::MAX, f64::min) / self.before()
    }

    /// Milliseconds from the kill to the end of the first slice after the trough with this part of the
    /// earlier throughput; to the end of all, if there is none.
    fn back_at(&self, part: f64) -> f64 {
        let enough = part * self.before();
        let mut after = self.slices.iter().filter(|slice| slice.until > self.times.kill);
        let low = after.by_ref().find(|slice| self.rate(slice) < enough);
        let back = match low {
            None => return 1e-6 * self.times.slice.as_ns_f64(),
            Some(_) => after.find(|slice| self.rate(slice) >= enough),
        };
        let until = back.map_or(self.times.end, |slice| slice.until);
        (until.as_ns_f64() - self.times.kill.as_ns_f64()) / 1e6
    }

    /// Milliseconds of throughput, as before, that were not made after the kill.
    fn lost(&self) -> f64 {
        let after = self.slices.iter().filter(|slice| slice.from >= self.times.kill);
        let made: f64 = after.clone().map(|slice| self.rate(slice)).sum();
        let possible = after.count() as f64 * self.before();
        (possible - made).max(0.0) / self.before() * self.times.slice.as_ns_f64() / 1e6
    }

    /// Milliseconds from the kill to the end of the last slice in which rows were copied to new replicas.
    fn filled_at(&self) -> f64 {
        let last = self.slices.iter().rfind(|slice| slice.copied > 0);
        let until = last.map_or(self.times.kill, |slice| slice.until);
        (until.as_ns_f64() - self.times.kill.as_ns_f64()) / 1e6
    }

    /// Megabytes that were copied to new replicas.
    fn copied(&self) -> f64 {
        self.slices.iter().map(|slice| slice.copied).sum::<u64>() as f64 / 1e6
    }

    fn committed(&self) -> u64 {
        self.slices.iter().map(|slice| slice.committed).sum()
    }
}

fn times(run: &Run<'_>) -> Times {
    let by = if run.is_small() { SHORTER } else { 1 };
    let shorter = |time: Time| Time::from_ps(time.as_ps() / by);
    Times {
        lease_us: LEASE_US / by as f64,
        kill: shorter(KILL),
        end: shorter(END),
        slice: shorter(SLICE),
    }
}

fn course(run: &Run<'_>) -> Result<Measured<Course>, ExperimentError> {
    let times = times(run);
    let (nodes, threads, workers) = SIZE;
    let settings = Settings {
        name: "availability".into(),
        platform: CIB.platform.into(),
        nodes,
        threads: if run.is_small() { 1 } else { threads },
        workers: if run.is_small() { 1 } else { workers },
        replicas: 3,
        warm_up_us: 0.0,
        duration_us: times.end.as_ns_f64() / 1e3,
        lease_us: times.lease_us,
        // As a real cluster: its initial rows are not functions of their keys.
        copies_initial_rows: true,
        seed: run.seed,
        workload: Workload::Tatp { subscribers_per_node: SUBSCRIBERS },
        ..Settings::default()
    };
    run.on_cluster(CIB.platform, |hardware| {
        let slices = slices_on(&settings, hardware, Some((nodes - 1, times.kill)), times.slice)?;
        Ok(Course { times, slices })
    })
}

type Taken = Samples<Measured<Course>>;

/// Kills the last machine, and counts what is committed before and after.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let samples = Samples::take(setting, course)?;
    let (nodes, threads, workers) = SIZE;
    Ok(Findings {
        parameters: vec![
            ("machines", format!("{nodes} of CIB, {threads} threads with {workers} workers each")),
            ("transactions", format!("TATP, {SUBSCRIBERS} subscribers a machine, 3 replicas")),
            ("lease", format!("{} ms", LEASE_US / 1e3)),
            ("kill", format!("of the last machine, {} ms after the start", KILL.as_ns_f64() / 1e6)),
        ],
        rows: rows(&samples),
        claims: claims(&samples),
        notes: vec![
            "FaSST has no recovery of its own and assumes FaRM's; docs/fasst.md says what was decided \
             here. Most of the time is the lease's: the killed machine might still serve until it has run \
             out. What is acknowledged is checked at the end: nothing of it is lost, and nothing else half \
             applied."
                .into(),
        ],
        plots: vec![plot(&samples)],
        ..Findings::default()
    })
}

fn rows(samples: &Taken) -> Vec<Row> {
    let row = |what: &str, unit, of: fn(&Course) -> f64| {
        samples.row(what, (unit, "transactions"), |run| {
            run.value(|course| (of(course), course.committed()))
        })
    };
    vec![
        row("before the kill", "M/s", Course::before),
        row("in the last quarter", "M/s", Course::after),
        row("in the last quarter, of before", "%", |course| {
            100.0 * course.after() / course.before()
        }),
        row("lowest half millisecond after the kill, of before", "%", Course::lowest),
        row("until half of the throughput is back", "ms", |course| course.back_at(0.5)),
        row("until 70 % of the throughput is back", "ms", |course| course.back_at(0.7)),
        row("until new replicas of all rows are filled", "ms", |course| {
            course.filled_at().max(1e-9)
        }),
        row("copied to new replicas", "MB", |course| course.copied().max(1e-9)),
        row("throughput as before that was not made", "ms", |course| course.lost().max(1e-9)),
        row("committed in all", "k", |course| course.committed() as f64 / 1e3),
    ]
}

fn claims(samples: &Taken) -> Vec<Claim> {
    let back = samples.spread(|run| run.back_at(0.5));
    let after = samples.spread(|run| 100.0 * run.after() / run.before());
    let (nodes, ..) = SIZE;
    vec![
        samples.claim(
            Origin::Paper,
            "\"Assuming that each failure causes 50 ms of downtime as in FaRM\" (section 5.1): half of the \
             throughput is back within 50 ms.",
            |run| run.back_at(0.5) <= 50.0 && run.after() >= 0.5 * run.before(),
            format!("{back:.1} ms, with leases of 10 ms."),
        ),
        samples.claim(
            Origin::Own,
            "The machines that are left work as before: the throughput in the last quarter is at least \
             0.9 times their share.",
            move |run| {
                let share = f64::from(nodes - 1) / f64::from(nodes);
                run.after() >= 0.9 * share * run.before()
            },
            format!("{after:.0} % of before; five of six machines are 83 %."),
        ),
    ]
}

fn plot(samples: &Taken) -> Plot {
    let count = samples.first(|run| run.slices.len());
    let points = (0..count).map(|place| {
        let at = samples.first(|run| run.slices[place].from.as_ns_f64() / 1e6);
        let spread =
            samples.spread(|run| run.slices.get(place).map_or(0.0, |slice| run.rate(slice)));
        Point::measured(at, spread)
    });
    let curve = Curve {
        name: "all machines".into(),
        colour: Colour::Device,
        stroke: Stroke::Solid,
        points: points.collect(),
    };
    Plot::Lines {
        across: "time since the start, ms",
        up: "transactions a second, M",
        curves: vec![curve],
    }
}
