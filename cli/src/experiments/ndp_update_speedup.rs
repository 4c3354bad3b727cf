//! A long update of a tenth of a table, near the data and by the host, beside short host updates.

use sim::kernel::Time;
use sim::platform::{Measure, Platform};
use system::near_data::{Beside, Keys, LongReport, Outcome, Phase, Setup, Strategy, run};

use super::findings::{Claim, Findings, Plot, Row};
use super::{ExperimentError, Setting};

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

/// All runs with one distribution of the short updates' keys.
struct Runs {
    keys: &'static str,
    alone: Outcome,
    near: Outcome,
    verified: Outcome,
    host: Outcome,
    many: Outcome,
    /// By a host that visits rows twice as fast.
    quick: Outcome,
    /// Near data, where memory gives [`PART_OF_PEAK`] of its peak.
    slow: Outcome,
    table_lock: Outcome,
    /// Of short updates that leave the long one's rows alone.
    others_alone: Outcome,
    others: Outcome,
}

/// Measures with uniform keys and with Zipf's.
///
/// # Errors
/// When a run does not come to its end, or one of its checks fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let uniform = runs(setting, "uniform", Keys::Uniform, 0.0)?;
    let zipf = runs(setting, "Zipf", Keys::Zipf { exponent: 0.99 }, 0.5)?;
    let all = [uniform, zipf];
    let rows = setting.scaled_count(ROWS);
    Ok(Findings {
        parameters: vec![
            ("platform", "n1sdp-u280-ccix".into()),
            ("table", format!("{rows} rows of 4 numbers and {FIELDS} fields of 100 B (YCSB)")),
            ("long update", format!("the rows of one region of {REGIONS}, READ COMMITTED")),
            ("short updates", format!("{WORKERS} cores, one row each, one after the other")),
            ("Zipf", "exponent 0.99, ranks scattered over the table".into()),
        ],
        rows: all.iter().flat_map(Runs::rows).collect(),
        claims: all.iter().flat_map(Runs::claims).collect(),
        notes: notes(&all),
        plot: Plot::Bars {
            along: "the long update, from its beginning to its last lock given back, us",
            rows: all.iter().flat_map(Runs::bars).collect(),
        },
    })
}

fn runs(
    setting: &mut Setting<'_>,
    name: &'static str,
    keys: Keys,
    done: f64,
) -> Result<Runs, ExperimentError> {
    let platform = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
    let rows = setting.scaled_count(ROWS);
    let alone = Beside::Nothing(setting.scaled(ALONE));
    let (warm_up, seed) = (setting.scaled_count(WARM_UP), setting.seed);
    let mut part = done;
    let mut quick_host = platform.clone();
    if let Some(store) = &mut quick_host.host_store {
        store.visit_row.value = Time::from_ps(store.visit_row.value.as_ps() / 2);
    }
    let mut slow_memory = platform.clone();
    if let Some(near_data) = &mut slow_memory.near_data {
        let bandwidth = &mut near_data.device_memory.bandwidth.value;
        let left = bandwidth.bytes_per_second() as f64 * PART_OF_PEAK / 1e6;
        *bandwidth = Measure::convert(left.round(), "MB/s").expect("a rate above 0");
    }
    let mut made = |platform: &Platform, beside, other_rows, verified| {
        setting.progress.set(part, name);
        part += 0.5 / 10.0;
        let setup = Setup {
            platform: platform.clone(),
            rows,
            fields: FIELDS,
            regions: REGIONS,
            workers: WORKERS,
            keys,
            other_rows,
            warm_up,
            beside,
            verified,
            seed,
        };
        run(&setup, &mut |_| {}).map_err(ExperimentError::from)
    };
    let near = Beside::Update(Strategy::NearData);
    let host = |threads| Beside::Update(Strategy::HostPath { threads });
    Ok(Runs {
        keys: name,
        alone: made(&platform, alone, false, false)?,
        near: made(&platform, near, false, false)?,
        verified: made(&platform, near, false, true)?,
        host: made(&platform, host(1), false, false)?,
        many: made(&platform, host(MANY_THREADS), false, false)?,
        quick: made(&quick_host, host(1), false, false)?,
        slow: made(&slow_memory, near, false, false)?,
        table_lock: made(&platform, Beside::Update(Strategy::TableLock), false, false)?,
        others_alone: made(&platform, alone, true, false)?,
        others: made(&platform, near, true, false)?,
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

fn phase(report: &LongReport, of: Phase) -> Time {
    let times = report.phases.iter().filter(|(phase, _)| *phase == of);
    times.fold(Time::ZERO, |sum, (_, time)| sum + *time)
}

impl Runs {
    fn speed_up(&self) -> f64 {
        took(&self.host) / took(&self.near)
    }

    fn fewer_bytes(&self) -> f64 {
        long(&self.host).link_bytes as f64 / long(&self.near).link_bytes as f64
    }

    /// Of the throughput of short updates alone, what is left beside an update of other rows.
    fn left_of_throughput(&self) -> f64 {
        self.others.short.per_second / self.others_alone.short.per_second
    }

    fn rows(&self) -> Vec<Row> {
        let row =
            |label: &str, unit, value| Row::new(format!("{label}, {}", self.keys), unit, value);
        let mut rows = vec![
            row("speed-up over the host path", "x", self.speed_up()),
            row("pages verified before", "x", took(&self.host) / took(&self.verified)),
            row("over the host path, 4 threads", "x", took(&self.many) / took(&self.near)),
            row(
                "if the host visited rows twice as fast",
                "x",
                took(&self.quick) / took(&self.near),
            ),
            row("if memory gave 90 % of its peak", "x", took(&self.host) / took(&self.slow)),
            row("fewer bytes over the link", "x", self.fewer_bytes()),
        ];
        for (name, outcome) in [("near data", &self.near), ("host path", &self.host)] {
            rows.push(row(&format!("{name}: all"), "us", took(outcome)));
            let phases = long(outcome).phases.iter().filter(|(_, time)| *time > Time::ZERO);
            rows.extend(phases.map(|(phase, time)| {
                row(&format!("{name}: {}", phase.name()), "us", microseconds(*time))
            }));
            let bytes = long(outcome).link_bytes as f64 / 1e6;
            rows.push(row(&format!("{name}: over the link"), "MB", bytes));
        }
        rows.push(row("host path: flush, later", "us", microseconds(long(&self.host).flush)));
        rows.push(row("host path, 4 threads: all", "us", took(&self.many)));
        rows.push(row("whole-table lock: all", "us", took(&self.table_lock)));
        let shorts = [
            ("short updates alone", &self.alone),
            ("short, near data", &self.near),
            ("short, host path", &self.host),
            ("short, host path, 4 threads", &self.many),
            ("short, whole-table lock", &self.table_lock),
            ("short on other rows, alone", &self.others_alone),
            ("short on other rows, near data", &self.others),
        ];
        rows.extend(shorts.map(|(name, of)| row(name, "k/s", of.short.per_second / 1e3)));
        // Under the lock of the whole table there may be none at all.
        rows.retain(|row| row.measured > 0.0);
        rows
    }

    fn bars(&self) -> Vec<Row> {
        let runs = [
            ("near data", &self.near),
            ("near data, pages verified before", &self.verified),
            ("host path", &self.host),
            ("host path, 4 threads", &self.many),
            ("whole-table lock", &self.table_lock),
        ];
        let bar = |(name, of)| Row::new(format!("{name}, {}", self.keys), "us", took(of));
        runs.into_iter().map(bar).collect()
    }

    fn claims(&self) -> Vec<Claim> {
        let (near, host, keys) = (long(&self.near), long(&self.host), self.keys);
        let binds = format!(
            "The host path takes {:.0} us, of which its core works {:.0} us and waits {:.0} us for \
             pages; near the data it is {:.0} us, of which the walk is {:.0} us.",
            took(&self.host),
            microseconds(host.core_time),
            microseconds(host.page_wait),
            took(&self.near),
            microseconds(phase(near, Phase::Walk)),
        );
        vec![
            Claim {
                says: format!(
                    "Goal, {keys} keys: at least {SPEED_UP} times as fast end to end as the host \
                     path, the figure that this line of work has published for a full system."
                ),
                comes_out: self.speed_up() >= SPEED_UP,
                because: format!("It is {:.2} times. {binds}", self.speed_up()),
            },
            Claim {
                says: format!(
                    "Goal, {keys} keys: at least {FEWER_BYTES} times fewer bytes on the link."
                ),
                comes_out: self.fewer_bytes() >= FEWER_BYTES,
                because: format!(
                    "{:.2} MB instead of {:.1} MB; {:.2} MB of it are the shared state.",
                    near.link_bytes as f64 / 1e6,
                    host.link_bytes as f64 / 1e6,
                    near.delta_bytes as f64 / 1e6,
                ),
            },
            Claim {
                says: format!(
                    "Goal, {keys} keys: short updates of other rows lose at most 15 % of their \
                     throughput beside the near-data update."
                ),
                comes_out: self.left_of_throughput() >= LEFT_OF_THROUGHPUT,
                because: format!(
                    "{:.1} % are left; {} of {} were turned away at a lock: that of a row which \
                     shares a bucket with one of the long update's, or of each other's.",
                    100.0 * self.left_of_throughput(),
                    self.others.short.turned_away,
                    self.others.short.turned_away + self.others.short.committed,
                ),
            },
        ]
    }
}

/// What binds each strategy.
fn notes([uniform, zipf]: &[Runs; 2]) -> Vec<String> {
    let rate = |report: &LongReport, of| {
        report.memory_bytes as f64 / phase(report, of).as_ns_f64().max(1.0)
    };
    let (near, verified) = (long(&uniform.near), long(&uniform.verified));
    let (host, many) = (long(&uniform.host), long(&uniform.many));
    let link = |report: &LongReport| report.link_bytes as f64 / report.took.as_ns_f64();
    vec![
        format!(
            "What binds near the data, uniform keys: the walk moves {:.1} GB/s of the 38.4 GB/s of \
             the two DIMMs, {:.1} GB/s with pages verified before. {} pages were checked as a \
             whole, each once; an element hands on whole rows, so that it reads every byte of the \
             table in either case.",
            rate(near, Phase::Walk),
            rate(verified, Phase::Walk),
            near.page_checks,
        ),
        format!(
            "What binds the host path: one thread is at work {:.0} % of the time; four take {:.1} \
             GB/s over a link of 15.75 GB/s and wait {:.0} us for pages, and share their cores with \
             the short updates.",
            100.0 * host.core_time.as_ns_f64() / host.took.as_ns_f64(),
            link(many),
            microseconds(many.page_wait),
        ),
        format!(
            "Rows that somebody had changed between snapshot and lock, which the host changes: {} \
             of {} with uniform keys, {} of {} with Zipf's. Locks that were not free: {} and {}; \
             they were waited for {:.1} and {:.1} us altogether.",
            near.left,
            near.changed,
            long(&zipf.near).left,
            long(&zipf.near).changed,
            near.lock_waits,
            long(&zipf.near).lock_waits,
            microseconds(near.lock_wait),
            microseconds(long(&zipf.near).lock_wait),
        ),
        "A short update that meets a lock of the long one is turned away (wait-die) and goes on \
         with another row; under the lock of the whole table all wait. They do not wait for the \
         log. The lock table has eight buckets a row."
            .into(),
        "Each run checks itself: every row has the versions, the count and the balance that the \
         committed updates make, the lock table is all zeros, and the shared VID map is the store's."
            .into(),
        "The time until the host path's new pages are back on the device is not part of its time, \
         as a flush comes later; near the data, new pages are durable at the commit."
            .into(),
    ]
}
