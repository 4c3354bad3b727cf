//! A long update of a tenth of a table, near the data and by the host, beside short host updates.

use sim::kernel::Time;
use sim::platform::{Measure, Platform};
use system::near_data::{Beside, Keys, LongReport, Outcome, Phase, Setup, Strategy, run};

use super::findings::{Claim, Findings, Plot, Row};
use super::samples::{Measured, Run, Samples, Value, scaled_count};
use super::{ExperimentError, Setting};

const PLATFORM: &str = "n1sdp-u280-ccix";
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

/// The goals.
const SPEED_UP: f64 = 4.2;
const FEWER_BYTES: f64 = 10.0;
const LEFT_OF_THROUGHPUT: f64 = 0.85;

/// What refreshes and row misses may leave of the peak of memory, which the platform has.
const PART_OF_PEAK: f64 = 0.9;

/// Distributions of the short updates' keys, and how the rows call them.
const KEYS: [(Keys, &str); 2] =
    [(Keys::Uniform, "uniform"), (Keys::Zipf { exponent: 0.99 }, "Zipf")];
/// In the order of [`KEYS`].
type Sample = [Runs; 2];

/// All runs with one distribution of the short updates' keys.
struct Runs {
    alone: Measured<Outcome>,
    near: Measured<Outcome>,
    verified: Measured<Outcome>,
    host: Measured<Outcome>,
    many: Measured<Outcome>,
    /// By a host that visits rows twice as fast.
    quick: Measured<Outcome>,
    /// Near data, where memory gives [`PART_OF_PEAK`] of its peak.
    slow: Measured<Outcome>,
    table_lock: Measured<Outcome>,
    /// Where a commit counts in memory: near the data, and by the host.
    volatile: [Measured<Outcome>; 2],
    /// Of short updates that leave the long one's rows alone.
    others_alone: Measured<Outcome>,
    others: Measured<Outcome>,
}

/// Measures with uniform keys and with Zipf's.
///
/// # Errors
/// When a run does not come to its end, or one of its checks fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let rows = scaled_count(ROWS, setting.scale);
    let samples = Samples::take(setting, |run| -> Result<Sample, _> {
        let uniform = runs(run, KEYS[0], 0.0)?;
        Ok([uniform, runs(run, KEYS[1], 0.5)?])
    })?;
    let keys = || 0..KEYS.len();
    Ok(Findings {
        parameters: vec![
            ("platform", PLATFORM.into()),
            ("table", format!("{rows} rows of 4 numbers and {FIELDS} fields of 100 B (YCSB)")),
            ("long update", format!("the rows of one region of {REGIONS}, READ COMMITTED")),
            ("short updates", format!("{WORKERS} cores, one row each, one after the other")),
            ("Zipf", "exponent 0.99, ranks scattered over the table".into()),
        ],
        rows: keys().flat_map(|keys| rows_of(&samples, keys)).collect(),
        claims: keys().flat_map(|keys| claims(&samples, keys)).collect(),
        notes: notes(&samples),
        plot: Plot::Bars {
            along: "the long update, from its beginning to its last lock given back, us",
            rows: keys().flat_map(|keys| bars(&samples, keys)).collect(),
        },
    })
}

fn runs(
    setting: &Run<'_>,
    (keys, name): (Keys, &'static str),
    done: f64,
) -> Result<Runs, ExperimentError> {
    let quick_host = |platform: &mut Platform| {
        let store = platform.host_store.as_mut().expect("the platform has one");
        store.visit_row.set(Time::from_ps(store.visit_row.get().as_ps() / 2));
    };
    let slow_memory = |platform: &mut Platform| {
        let near_data = platform.near_data.as_mut().expect("the platform has one");
        let bandwidth = &mut near_data.device_memory.bandwidth;
        let left = bandwidth.get().bytes_per_second() as f64 * PART_OF_PEAK / 1e6;
        bandwidth.set(Measure::convert(left.round(), "MB/s").expect("a rate above 0"));
    };
    let platform = Platform::named(PLATFORM).expect("comes with the program");
    let alone = Setup {
        platform,
        rows: setting.scaled_count(ROWS),
        fields: FIELDS,
        regions: REGIONS,
        workers: WORKERS,
        keys,
        other_rows: false,
        warm_up: setting.scaled_count(WARM_UP),
        beside: Beside::Nothing(setting.scaled(ALONE)),
        verified: false,
        durable: true,
        seed: setting.seed,
    };
    let beside = |strategy| Setup { beside: Beside::Update(strategy), ..alone.clone() };
    let near = || beside(Strategy::NearData);
    let host = |threads| beside(Strategy::HostPath { threads });
    let volatile = |setup| Setup { durable: false, ..setup };
    let other_rows = |setup| Setup { other_rows: true, ..setup };
    let mut part = done;
    let mut made_with = |setup: Setup, change: &dyn Fn(&mut Platform)| {
        setting.progress(part, name);
        part += 0.5 / 12.0;
        setting.measured(PLATFORM, |platform| {
            let mut platform = platform.clone();
            change(&mut platform);
            Ok(run(&Setup { platform, ..setup }, &mut |_| {})?)
        })
    };
    let quick = made_with(host(1), &quick_host)?;
    let slow = made_with(near(), &slow_memory)?;
    let mut made = |setup| made_with(setup, &|_| {});
    Ok(Runs {
        alone: made(alone.clone())?,
        near: made(near())?,
        host: made(host(1))?,
        many: made(host(MANY_THREADS))?,
        quick,
        slow,
        verified: made(Setup { verified: true, ..near() })?,
        volatile: [made(volatile(near()))?, made(volatile(host(1)))?],
        table_lock: made(beside(Strategy::TableLock))?,
        others_alone: made(other_rows(alone.clone()))?,
        others: made(other_rows(near()))?,
    })
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
    outcome.value(took)
}

fn phase(report: &LongReport, of: Phase) -> Time {
    let times = report.phases.iter().filter(|(phase, _)| *phase == of);
    times.fold(Time::ZERO, |sum, (_, time)| sum + *time)
}

/// One measurement of several.
type Pick = fn(&Runs) -> &Measured<Outcome>;

impl Runs {
    fn speed_up(&self) -> Value {
        length(&self.host) / length(&self.near)
    }

    fn fewer_bytes(&self) -> Value {
        let bytes = |outcome: &Outcome| long(outcome).link_bytes as f64;
        self.host.value(bytes) / self.near.value(bytes)
    }

    /// Of the throughput of short updates alone, what is left beside an update of other rows.
    fn left_of_throughput(&self) -> f64 {
        self.others.short.per_second / self.others_alone.short.per_second
    }
}

fn rows_of(samples: &Samples<Sample>, keys: usize) -> Vec<Row> {
    let row = |label: &str, unit, of: &dyn Fn(&Runs) -> Value| {
        samples.row(format!("{label}, {}", KEYS[keys].1), unit, |sample| of(&sample[keys]))
    };
    let mut rows = vec![
        row("speed-up over the host path", "x", &Runs::speed_up),
        row("pages verified before", "x", &|runs| length(&runs.host) / length(&runs.verified)),
        row("over the host path, 4 threads", "x", &|runs| length(&runs.many) / length(&runs.near)),
        row("if the host visited rows twice as fast", "x", &|runs| {
            length(&runs.quick) / length(&runs.near)
        }),
        row("if memory gave 90 % of its peak", "x", &|runs| {
            length(&runs.host) / length(&runs.slow)
        }),
        row("if both sides were volatile", "x", &|runs| {
            length(&runs.volatile[1]) / length(&runs.volatile[0])
        }),
        row("fewer bytes over the link", "x", &Runs::fewer_bytes),
    ];
    let ways: [(&str, Pick); 2] =
        [("near data", |runs| &runs.near), ("host path", |runs| &runs.host)];
    for (name, of) in ways {
        rows.push(row(&format!("{name}: all"), "us", &|runs| length(of(runs))));
        rows.extend(Phase::ALL.map(|phase_of| {
            row(&format!("{name}: {}", phase_of.name()), "us", &|runs| {
                of(runs).value(|outcome| microseconds(phase(long(outcome), phase_of)))
            })
        }));
        let label = format!("{name}: over the link");
        rows.push(row(&label, "MB", &|runs| {
            of(runs).value(|outcome| long(outcome).link_bytes as f64 / 1e6)
        }));
    }
    rows.push(row("host path: flush, later", "us", &|runs| {
        runs.host.value(|outcome| microseconds(long(outcome).flush))
    }));
    rows.push(row("host path, 4 threads: all", "us", &|runs| length(&runs.many)));
    rows.push(row("whole-table lock: all", "us", &|runs| length(&runs.table_lock)));
    rows.push(row("both volatile, near data: all", "us", &|runs| length(&runs.volatile[0])));
    rows.push(row("both volatile, host path: all", "us", &|runs| length(&runs.volatile[1])));
    let shorts: [(&str, Pick); 7] = [
        ("short updates alone", |runs| &runs.alone),
        ("short, near data", |runs| &runs.near),
        ("short, host path", |runs| &runs.host),
        ("short, host path, 4 threads", |runs| &runs.many),
        ("short, whole-table lock", |runs| &runs.table_lock),
        ("short on other rows, alone", |runs| &runs.others_alone),
        ("short on other rows, near data", |runs| &runs.others),
    ];
    rows.extend(shorts.map(|(name, of)| {
        row(name, "k/s", &|runs| of(runs).value(|outcome| outcome.short.per_second / 1e3))
    }));
    // Phases that a strategy does not have; and under the lock of the whole table there may be no
    // short updates at all.
    rows.retain(|row| row.measured.max > 0.0);
    rows
}

fn bars(samples: &Samples<Sample>, keys: usize) -> Vec<Row> {
    let runs: [(&str, Pick); 5] = [
        ("near data", |runs| &runs.near),
        ("near data, pages verified before", |runs| &runs.verified),
        ("host path", |runs| &runs.host),
        ("host path, 4 threads", |runs| &runs.many),
        ("whole-table lock", |runs| &runs.table_lock),
    ];
    let bar = |(name, of): (&str, Pick)| {
        let label = format!("{name}, {}", KEYS[keys].1);
        samples.row(label, "us", |sample| length(of(&sample[keys])))
    };
    runs.into_iter().map(bar).collect()
}

fn claims(samples: &Samples<Sample>, number: usize) -> Vec<Claim> {
    let keys = KEYS[number].1;
    let of = |value: &dyn Fn(&Runs) -> f64| samples.spread(|sample| value(&sample[number]));
    let claim = |says: String, holds: &dyn Fn(&Runs) -> bool, because| {
        samples.claim(says, |sample| holds(&sample[number]), because)
    };
    let binds = format!(
        "The host path takes {} us, of which its core works {} us and waits {} us for pages; near \
         the data it is {} us, of which the walk is {} us.",
        of(&|runs| took(&runs.host)),
        of(&|runs| microseconds(long(&runs.host).core_time)),
        of(&|runs| microseconds(long(&runs.host).page_wait)),
        of(&|runs| took(&runs.near)),
        of(&|runs| microseconds(phase(long(&runs.near), Phase::Walk))),
    );
    vec![
        claim(
            format!(
                "Goal, {keys} keys: at least {SPEED_UP} times as fast end to end as the host path, \
                 the figure that this line of work has published for a full system."
            ),
            &|runs| runs.speed_up().number() >= SPEED_UP,
            format!("It is {:.2} times. {binds}", of(&|runs| runs.speed_up().number())),
        ),
        claim(
            format!("Goal, {keys} keys: at least {FEWER_BYTES} times fewer bytes on the link."),
            &|runs| runs.fewer_bytes().number() >= FEWER_BYTES,
            format!(
                "{:.2} MB instead of {:.1} MB; {:.2} MB of it are the shared state.",
                of(&|runs| long(&runs.near).link_bytes as f64 / 1e6),
                of(&|runs| long(&runs.host).link_bytes as f64 / 1e6),
                of(&|runs| long(&runs.near).delta_bytes as f64 / 1e6),
            ),
        ),
        claim(
            format!(
                "Goal, {keys} keys: short updates of other rows lose at most 15 % of their \
                 throughput beside the near-data update."
            ),
            &|runs| runs.left_of_throughput() >= LEFT_OF_THROUGHPUT,
            format!(
                "{:.1} % are left; {} of {} were turned away at a lock: that of a row which shares \
                 a bucket with one of the long update's, or of each other's.",
                of(&|runs| 100.0 * runs.left_of_throughput()),
                of(&|runs| runs.others.short.turned_away as f64),
                of(&|runs| (runs.others.short.turned_away + runs.others.short.committed) as f64),
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
    let left = |runs: &Runs| long(&runs.near).left as f64;
    let changed = |runs: &Runs| long(&runs.near).changed as f64;
    let lock_waits = |runs: &Runs| long(&runs.near).lock_waits as f64;
    let lock_wait = |runs: &Runs| microseconds(long(&runs.near).lock_wait);
    vec![
        format!(
            "What binds near the data, uniform keys: the walk moves {:.1} GB/s of the 38.4 GB/s of \
             the two DIMMs, {:.1} GB/s with pages verified before. {} pages were checked as a \
             whole, each once; an element hands on whole rows, so that it reads every byte of the \
             table in either case.",
            uniform(&|runs| rate(long(&runs.near), Phase::Walk)),
            uniform(&|runs| rate(long(&runs.verified), Phase::Walk)),
            uniform(&|runs| long(&runs.near).page_checks as f64),
        ),
        format!(
            "What binds the host path: one thread is at work {} % of the time; four take {:.1} \
             GB/s over a link of 15.75 GB/s and wait {} us for pages, and share their cores with \
             the short updates.",
            uniform(&|runs| 100.0 * busy(long(&runs.host))),
            uniform(&|runs| link(long(&runs.many))),
            uniform(&|runs| microseconds(long(&runs.many).page_wait)),
        ),
        format!(
            "Rows that somebody had changed between snapshot and lock, which the host changes: {} \
             of {} with uniform keys, {} of {} with Zipf's. Locks that were not free: {} and {}; \
             they were waited for {:.1} and {:.1} us altogether.",
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
         sealed, since they carry the commit's timestamp. Where both are volatile neither is \
         written. The time until the host path's pages are back on the device is not part of its \
         time, as a flush comes later."
            .into(),
    ]
}
