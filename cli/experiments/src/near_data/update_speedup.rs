// SPDX-License-Identifier: MIT OR Apache-2.0
//! A long update of a tenth of a table, near the data and by the host, beside short host updates.

use std::fmt::{self, Display};
use std::ops::Index;

use system::near_data::{self, Beside, Keys, LongReport, Outcome, Phase, Setup, Strategy};
use timing::Time;
use timing::platform::{Bandwidth, Measure, Platform};

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Goal, Origin, Plot, Row};
use crate::samples::{Measured, Points, Run, Samples, Value, scaled_count};

pub const PLATFORM: &str = "n1sdp-u280-ccix";
const ROWS: u64 = 100_000;
const FIELDS: u16 = 10;
const REGIONS: u64 = 10;
const WORKERS: u32 = 3;
/// Of the host path, beside one.
const MANY_THREADS: u32 = 4;
/// Short updates before the long one: what the shared state consists of.
const WARM_UP: u64 = 1_000;
/// Short updates alone, for so long.
const ALONE: Time = Time::from_us(10_000);

/// Our goals; the paper has no figure for any of them.
const SPEED_UP: Goal = Goal {
    at_least: 4.2,
    because: "the figure that this line of work has published for a full system",
};
const FEWER_BYTES: Goal =
    Goal { at_least: 10.0, because: "moving less data is what an update near the data is for" };
/// In per cent.
const LEFT_OF_THROUGHPUT: Goal =
    Goal { at_least: 85.0, because: "short updates of other rows have to go on beside a long one" };

/// What refreshes and row misses may leave of the peak of memory, which the platform has.
const PART_OF_PEAK: f64 = 0.9;

/// Distributions of the short updates' keys, and how the rows call them.
const KEYS: [(Keys, &str); 2] =
    [(Keys::Uniform, "uniform"), (Keys::Zipf { exponent: 0.99 }, "Zipf")];
/// In the order of [`KEYS`].
type Sample = [Runs; 2];

/// All runs with one distribution of the short updates' keys, by their [`Way`].
struct Runs {
    /// In the order of [`Way::ALL`].
    outcomes: [Measured<Outcome>; Way::ALL.len()],
    peaks: Peaks,
}

impl Index<Way> for Runs {
    type Output = Measured<Outcome>;

    fn index(&self, way: Way) -> &Measured<Outcome> {
        &self.outcomes[way as usize]
    }
}

/// The maximum of the platform, in GB/s.
#[derive(Clone, Copy)]
struct Peaks {
    /// All channels of the device's memory.
    memory: f64,
    /// One direction of the link.
    link: f64,
}

impl Peaks {
    fn of(platform: &Platform) -> Self {
        let gigabytes = |rate: Bandwidth| rate.bytes_per_second() as f64 / 1e9;
        let memory = platform.near_data.as_ref().map_or(0.0, |near_data| {
            let memory = &near_data.device_memory;
            f64::from(memory.channels.get().0) * gigabytes(memory.bandwidth.get())
        });
        Self { memory, link: gigabytes(platform.link.bandwidth.get()) }
    }
}

/// Measures with uniform keys and with Zipf's.
///
/// # Errors
/// When a run does not come to its end, or one of its checks fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let rows = scaled_count(ROWS, setting.scale);
    let keys = || 0..KEYS.len();
    let points = keys().flat_map(|keys| Way::ALL.map(|way| Point { keys, way }));
    let samples = Samples::take_points(setting, &points.collect::<Vec<_>>(), measured)?;
    let samples = samples.map(|points| [0, 1].map(|keys| Runs::of(&points, keys)));
    Ok(Findings {
        parameters: vec![
            ("table", format!("{rows} rows of 4 numbers and {FIELDS} fields of 100 B (YCSB)")),
            ("long update", format!("the rows of one region of {REGIONS}, READ COMMITTED")),
            ("short updates", format!("{WORKERS} cores, one row each, one after the other")),
            ("Zipf", "exponent 0.99, ranks scattered over the table".into()),
        ],
        rows: keys().flat_map(|keys| rows_of(&samples, keys)).collect(),
        claims: keys().flat_map(|keys| claims(&samples, keys)).collect(),
        notes: notes(&samples),
        plots: vec![
            Plot::Bars {
                along: "time of the long update, from its beginning to its last lock given back, µs",
                rows: keys().flat_map(|keys| bars(&samples, keys)).collect(),
            },
            Plot::Bars {
                along: "how many times as fast as the host path",
                rows: keys().flat_map(|keys| speed_ups(&samples, keys)).collect(),
            },
        ],
        ..Findings::default()
    })
}

/// One of [`Runs`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Short updates alone.
    Alone,
    Near,
    /// Near data, with pages that were verified before.
    Verified,
    Host,
    /// By several threads of the host.
    Many,
    /// By a host that visits rows twice as fast.
    Quick,
    /// Near data, where memory gives [`PART_OF_PEAK`] of its peak.
    Slow,
    TableLock,
    /// Near data, where a commit counts in memory.
    VolatileNear,
    /// By the host, where a commit counts in memory.
    VolatileHost,
    /// Short updates alone that leave the long one's rows alone.
    OthersAlone,
    /// Near data, beside short updates that leave its rows alone.
    Others,
}

/// Measurements without a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Of [`KEYS`].
    keys: usize,
    way: Way,
}

impl Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KEYS[self.keys].1)
    }
}

impl Way {
    const ALL: [Self; 12] = [
        Self::Alone,
        Self::Near,
        Self::Verified,
        Self::Host,
        Self::Many,
        Self::Quick,
        Self::Slow,
        Self::TableLock,
        Self::VolatileNear,
        Self::VolatileHost,
        Self::OthersAlone,
        Self::Others,
    ];

    /// The run, on the platform as it is.
    fn setup(self, run: &Run<'_>, platform: Platform, keys: Keys) -> Setup {
        let alone = Setup {
            platform,
            rows: run.scaled_count(ROWS),
            fields: FIELDS,
            regions: REGIONS,
            workers: WORKERS,
            keys,
            other_rows: false,
            warm_up: run.scaled_count(WARM_UP),
            beside: Beside::Nothing(run.scaled(ALONE)),
            verified: false,
            durable: true,
            seed: run.seed,
        };
        let beside = |strategy| Setup { beside: Beside::Update(strategy), ..alone.clone() };
        let near = || beside(Strategy::NearData);
        let host = |threads| beside(Strategy::HostPath { threads });
        match self {
            Self::Alone => alone,
            Self::Near | Self::Slow => near(),
            Self::Verified => Setup { verified: true, ..near() },
            Self::Host | Self::Quick => host(1),
            Self::Many => host(MANY_THREADS),
            Self::TableLock => beside(Strategy::TableLock),
            Self::VolatileNear => Setup { durable: false, ..near() },
            Self::VolatileHost => Setup { durable: false, ..host(1) },
            Self::OthersAlone => Setup { other_rows: true, ..alone },
            Self::Others => Setup { other_rows: true, ..near() },
        }
    }

    /// What is otherwise on the platform. Where it lacks the entry, the run says so.
    fn change(self, platform: &mut Platform) {
        match self {
            Self::Quick => {
                let Some(store) = platform.host_store.as_mut() else { return };
                store.visit_row.set(Time::from_ps(store.visit_row.get().as_ps() / 2));
            }
            Self::Slow => {
                let Some(near_data) = platform.near_data.as_mut() else { return };
                let bandwidth = &mut near_data.device_memory.bandwidth;
                let left = bandwidth.get().bytes_per_second() as f64 * PART_OF_PEAK / 1e6;
                bandwidth.set(Measure::convert(left.round(), "MB/s").expect("a rate above 0"));
            }
            _ => {}
        }
    }
}

/// The measurement at a point, and the maximum of the platform.
type Seen = (Measured<Outcome>, Peaks);

fn measured(run: &Run<'_>, &Point { keys, way }: &Point) -> Result<Seen, ExperimentError> {
    // By itself: the outcome rests on what the run reads, and not on the peaks.
    let peaks = *run.measured(PLATFORM, |platform| Ok(Peaks::of(platform)))?;
    let outcome = run.measured(PLATFORM, |platform| {
        let mut platform = platform.clone();
        way.change(&mut platform);
        Ok(near_data::run(&way.setup(run, platform, KEYS[keys].0), &mut |_| {})?)
    })?;
    Ok((outcome, peaks))
}

impl Runs {
    fn of(points: &Points<Point, Seen>, keys: usize) -> Self {
        let seen = |way| points.at(&Point { keys, way });
        Self { outcomes: Way::ALL.map(|way| seen(way).0.clone()), peaks: seen(Way::Alone).1 }
    }
}

fn long(outcome: &Outcome) -> &LongReport {
    outcome.long.as_ref().expect("the run had a long update")
}

fn microseconds(time: Time) -> f64 {
    time.as_ns_f64() / 1_000.0
}

fn took(outcome: &Outcome) -> f64 {
    microseconds(long(outcome).took)
}

/// Microseconds of the long update.
fn length(outcome: &Measured<Outcome>) -> Value {
    of_the_long(outcome, took)
}

/// A number of the one long update of a run.
fn of_the_long(outcome: &Measured<Outcome>, number: impl Fn(&Outcome) -> f64) -> Value {
    outcome.value(|outcome| (number(outcome), 1))
}

/// Thousand short updates a second, and how many were committed.
fn thousands(outcome: &Outcome) -> (f64, u64) {
    (outcome.short.per_second / 1e3, outcome.short.committed)
}

fn phase(report: &LongReport, of: Phase) -> Time {
    let times = report.phases.iter().filter(|(phase, _)| *phase == of);
    times.fold(Time::ZERO, |sum, (_, time)| sum + *time)
}

impl Runs {
    fn speed_up(&self) -> Value {
        length(&self[Way::Host]) / length(&self[Way::Near])
    }

    fn fewer_bytes(&self) -> Value {
        let bytes = |outcome: &Outcome| long(outcome).link_bytes as f64;
        of_the_long(&self[Way::Host], bytes) / of_the_long(&self[Way::Near], bytes)
    }

    /// Of the throughput of short updates alone, how many per cent are left beside an update of
    /// other rows.
    fn left_of_throughput(&self) -> Value {
        let percent = |outcome: &Outcome| (100.0 * thousands(outcome).0, thousands(outcome).1);
        self[Way::Others].value(percent) / self[Way::OthersAlone].value(thousands)
    }
}

/// The meaning of the numbers of a long update.
const LONG: &str = "long updates";

/// A row with one distribution of keys, in `units` (of the value, and of the operations behind it).
fn row(
    samples: &Samples<Sample>,
    keys: usize,
    label: &str,
    units: (&'static str, &'static str),
    of: &dyn Fn(&Runs) -> Value,
) -> Row {
    samples.row(format!("{label}, {}", KEYS[keys].1), units, |sample| of(&sample[keys]))
}

/// The speed-up, and what it would be if something were otherwise.
fn speed_ups(samples: &Samples<Sample>, keys: usize) -> Vec<Row> {
    let row = |label: &str, of: &dyn Fn(&Runs) -> Value| row(samples, keys, label, ("x", LONG), of);
    vec![
        row("speed-up over the host path", &Runs::speed_up).with_goal(SPEED_UP),
        row("pages verified before", &|runs| {
            length(&runs[Way::Host]) / length(&runs[Way::Verified])
        }),
        row("over the host path, 4 threads", &|runs| {
            length(&runs[Way::Many]) / length(&runs[Way::Near])
        }),
        row("if the host visited rows twice as fast", &|runs| {
            length(&runs[Way::Quick]) / length(&runs[Way::Near])
        }),
        row("if memory gave 90 % of its peak", &|runs| {
            length(&runs[Way::Host]) / length(&runs[Way::Slow])
        }),
        row("if both sides were volatile", &|runs| {
            length(&runs[Way::VolatileHost]) / length(&runs[Way::VolatileNear])
        }),
    ]
}

fn rows_of(samples: &Samples<Sample>, keys: usize) -> Vec<Row> {
    let row = |label: &str, unit, of: &dyn Fn(&Runs) -> Value| {
        row(samples, keys, label, (unit, LONG), of)
    };
    let mut rows = speed_ups(samples, keys);
    rows.push(row("fewer bytes over the link", "x", &Runs::fewer_bytes).with_goal(FEWER_BYTES));
    let ways: [(&str, Way); 2] = [("near data", Way::Near), ("host path", Way::Host)];
    for (name, way) in ways {
        rows.push(row(&format!("{name}: all"), "µs", &|runs| length(&runs[way])));
        rows.extend(Phase::ALL.map(|phase_of| {
            row(&format!("{name}: {}", phase_of.name()), "µs", &|runs| {
                of_the_long(&runs[way], |outcome| microseconds(phase(long(outcome), phase_of)))
            })
        }));
        let label = format!("{name}: over the link");
        rows.push(row(&label, "MB", &|runs| {
            of_the_long(&runs[way], |outcome| long(outcome).link_bytes as f64 / 1e6)
        }));
    }
    rows.push(row("host path: flush, later", "µs", &|runs| {
        of_the_long(&runs[Way::Host], |outcome| microseconds(long(outcome).flush))
    }));
    rows.push(row("host path, 4 threads: all", "µs", &|runs| length(&runs[Way::Many])));
    rows.push(row("whole-table lock: all", "µs", &|runs| length(&runs[Way::TableLock])));
    rows.push(row("both volatile, near data: all", "µs", &|runs| {
        length(&runs[Way::VolatileNear])
    }));
    rows.push(row("both volatile, host path: all", "µs", &|runs| {
        length(&runs[Way::VolatileHost])
    }));
    let shorts: [(&str, Way); 7] = [
        ("short updates alone", Way::Alone),
        ("short, near data", Way::Near),
        ("short, host path", Way::Host),
        ("short, host path, 4 threads", Way::Many),
        ("short, whole-table lock", Way::TableLock),
        ("short on other rows, alone", Way::OthersAlone),
        ("short on other rows, near data", Way::Others),
    ];
    let short = |name: &str, unit, of: &dyn Fn(&Runs) -> Value| {
        self::row(samples, keys, name, (unit, "short updates"), of)
    };
    rows.extend(shorts.map(|(name, way)| short(name, "k/s", &|runs| runs[way].value(thousands))));
    let left = short("short on other rows, left of alone", "%", &Runs::left_of_throughput);
    rows.push(left.with_goal(LEFT_OF_THROUGHPUT));
    // Phases that a strategy does not have; and under the lock of the whole table there may be no
    // short updates at all.
    rows.retain(|row| row.measured.max > 0.0);
    rows
}

fn bars(samples: &Samples<Sample>, keys: usize) -> Vec<Row> {
    let runs: [(&str, Way); 5] = [
        ("near data", Way::Near),
        ("near data, pages verified before", Way::Verified),
        ("host path", Way::Host),
        ("host path, 4 threads", Way::Many),
        ("whole-table lock", Way::TableLock),
    ];
    let bar = |(name, way): (&str, Way)| {
        row(samples, keys, name, ("µs", LONG), &|runs| length(&runs[way]))
    };
    runs.into_iter().map(bar).collect()
}

fn claims(samples: &Samples<Sample>, number: usize) -> Vec<Claim> {
    let keys = KEYS[number].1;
    let of = |value: &dyn Fn(&Runs) -> f64| samples.spread(|sample| value(&sample[number]));
    let claim = |says: String, holds: &dyn Fn(&Runs) -> bool, because| {
        samples.claim(Origin::Goal, says, |sample| holds(&sample[number]), because)
    };
    let binds = format!(
        "The host path takes {} µs, of which its core works {} µs and waits {} µs for pages; near \
         the data it is {} µs, of which the walk is {} µs.",
        of(&|runs| took(&runs[Way::Host])),
        of(&|runs| microseconds(long(&runs[Way::Host]).core_time)),
        of(&|runs| microseconds(long(&runs[Way::Host]).page_wait)),
        of(&|runs| took(&runs[Way::Near])),
        of(&|runs| microseconds(phase(long(&runs[Way::Near]), Phase::Walk))),
    );
    vec![
        claim(
            format!(
                "With {keys} keys: at least {} times as fast end to end as the host path: {}.",
                SPEED_UP.at_least, SPEED_UP.because
            ),
            &|runs| runs.speed_up().number() >= SPEED_UP.at_least,
            format!("It is {:.2} times. {binds}", of(&|runs| runs.speed_up().number())),
        ),
        claim(
            format!(
                "With {keys} keys: at least {} times fewer bytes on the link.",
                FEWER_BYTES.at_least
            ),
            &|runs| runs.fewer_bytes().number() >= FEWER_BYTES.at_least,
            format!(
                "{:.2} MB instead of {:.1} MB; {:.2} MB of it are the shared state.",
                of(&|runs| long(&runs[Way::Near]).link_bytes as f64 / 1e6),
                of(&|runs| long(&runs[Way::Host]).link_bytes as f64 / 1e6),
                of(&|runs| long(&runs[Way::Near]).delta_bytes as f64 / 1e6),
            ),
        ),
        claim(
            format!(
                "With {keys} keys: short updates of other rows keep at least {} % of their throughput \
                 beside the near-data update.",
                LEFT_OF_THROUGHPUT.at_least
            ),
            &|runs| runs.left_of_throughput().number() >= LEFT_OF_THROUGHPUT.at_least,
            format!(
                "{:.1} % are left; {} of {} were turned away at a lock: that of a row which shares \
                 a bucket with one of the long update's, or of each other's.",
                of(&|runs| runs.left_of_throughput().number()),
                of(&|runs| runs[Way::Others].short.turned_away as f64),
                of(
                    &|runs| (runs[Way::Others].short.turned_away
                        + runs[Way::Others].short.committed) as f64
                ),
            ),
        ),
    ]
}

/// What binds each strategy.
fn notes(samples: &Samples<Sample>) -> Vec<String> {
    let rate = |report: &LongReport, of| {
        report.memory_bytes as f64 / phase(report, of).as_ns_f64().max(1.0)
    };
    let uniform = |value: &dyn Fn(&Runs) -> f64| samples.spread(|[runs, _]| value(runs));
    let zipf = |value: &dyn Fn(&Runs) -> f64| samples.spread(|[_, runs]| value(runs));
    let link = |report: &LongReport| report.link_bytes as f64 / report.took.as_ns_f64();
    let busy = |report: &LongReport| report.core_time.as_ns_f64() / report.took.as_ns_f64();
    let left = |runs: &Runs| long(&runs[Way::Near]).left as f64;
    let changed = |runs: &Runs| long(&runs[Way::Near]).changed as f64;
    let lock_waits = |runs: &Runs| long(&runs[Way::Near]).lock_waits as f64;
    let lock_wait = |runs: &Runs| microseconds(long(&runs[Way::Near]).lock_wait);
    vec![
        format!(
            "What binds near the data, uniform keys: the walk moves {:.1} GB/s of the {:.1} GB/s of \
             the device's memory, {:.1} GB/s with pages verified before. {} pages were checked as a \
             whole, each once; an element hands on whole rows, so that it reads every byte of the \
             table in either case.",
            uniform(&|runs| rate(long(&runs[Way::Near]), Phase::Walk)),
            uniform(&|runs| runs.peaks.memory),
            uniform(&|runs| rate(long(&runs[Way::Verified]), Phase::Walk)),
            uniform(&|runs| long(&runs[Way::Near]).page_checks as f64),
        ),
        format!(
            "What binds the host path: one thread is at work {} % of the time; four take {:.1} \
             GB/s over a link of {:.2} GB/s and wait {} µs for pages, and share their cores with \
             the short updates.",
            uniform(&|runs| 100.0 * busy(long(&runs[Way::Host]))),
            uniform(&|runs| link(long(&runs[Way::Many]))),
            uniform(&|runs| runs.peaks.link),
            uniform(&|runs| microseconds(long(&runs[Way::Many]).page_wait)),
        ),
        format!(
            "Rows that somebody had changed between snapshot and lock, which the host changes: {} \
             of {} with uniform keys, {} of {} with Zipf's. Locks that were not free: {} and {}; \
             they were waited for {:.1} and {:.1} µs altogether.",
            uniform(&left),
            uniform(&changed),
            zipf(&left),
            zipf(&changed),
            uniform(&lock_waits),
            zipf(&lock_waits),
            uniform(&lock_wait),
            zipf(&lock_wait),
        ),
        "A short update that meets a lock of the long one is turned away (wait-die) and goes on \
         with another row; under the lock of the whole table all wait. Their log records go to \
         the same device, and they do not wait for it. The lock table has eight buckets a row."
            .into(),
        "Each run checks itself: every row has the versions, the count and the balance that the \
         committed updates make, the lock table is all zeros, and the shared VID map is the store's."
            .into(),
        "One rule for both sides: a commit counts when it can be redone after a loss of power. The \
         host's log goes to its device while the rows are changed, and its end waits for the last \
         of it; the device writes its new pages to its storage, of the same kind, when they are \
         finalized, since they carry the commit's timestamp. Where both are volatile neither is \
         written. The time until the host path's pages are back on the device is not part of its \
         time, as a flush comes later."
            .into(),
    ]
}
