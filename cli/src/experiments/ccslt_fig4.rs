//! Figure 4 of the ccSLT paper: what a lock request costs host and device as the load of the
//! other side goes from nothing to as much as it can.

use sim::kernel::Time;
use sim::platform::{Platform, Side};

use super::findings::{Claim, Colour, Curve, Findings, Paper, Plot, Row};
use super::lock_load::{Demand, LoadSeen, LockLoad, Seen, run};
use super::{ExperimentError, Setting};

const HOST_ALONE: Paper = Paper {
    low: 80.0,
    high: 100.0,
    place: "section 4, experiment 1: \"tuple versions can be locked on the host with low \
            latencies of 80-100ns\"",
};
const HOST_CONTENDED: Paper = Paper {
    low: 400.0,
    high: 400.0,
    place: "section 4, experiment 1: \"the host still provides robust performance with latencies \
            around 400ns\"",
};
const DEVICE: Paper = Paper {
    low: 800.0,
    high: 800.0,
    place: "section 4, experiment 1: \"the device is able to maintain constant locklatencies of \
            800ns\"",
};

const LOADS: [u32; 6] = [0, 20, 40, 60, 80, 100];
const CORES: u32 = 4;
const PROCESSING_ELEMENTS: u32 = 16;
/// Of a table of 4 MiB.
const BUCKETS: u64 = 1 << 16;
/// Few enough for both sides to meet. The paper says nothing of how many tuples took part; among
/// the numbers of [`SWEEP`] this one's curve ends nearest to the paper's 400 ns.
const FEW: u64 = 64;
/// How much hangs on that choice: both sides at full load on so many tuples.
const SWEEP: [u64; 5] = [16, 64, 256, 1024, 4096];

/// One pair of curves: each side, measured while the other's load grows.
struct Case {
    /// In the labels of the rows.
    name: &'static str,
    host: Vec<Seen>,
    device: Vec<Seen>,
}

/// Measures both cases.
///
/// # Errors
/// When the simulation fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let platform = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
    // All of a large table has to be visited often, for caches to be as they stay.
    let few = case(setting, &platform, "few tuples", FEW, Time::from_us(2_000), 0.0)?;
    let all = case(setting, &platform, "whole table", BUCKETS, Time::from_us(8_000), 0.4)?;
    let sweep = sweep(setting, &platform, 0.8)?;
    Ok(Findings {
        parameters: vec![
            ("platform", platform.name.clone()),
            ("home agent", "host".into()),
            ("lock table", "4 MiB, 65,536 buckets".into()),
            ("host", format!("{CORES} cores, one request at a time each")),
            ("device", format!("{PROCESSING_ELEMENTS} processing elements before one lock unit")),
            ("few tuples", format!("both sides draw from the same {FEW}; chosen, see the sweep")),
            ("whole table", format!("both sides draw from the same {BUCKETS}")),
            ("load", "part of the time in which the other side's requesters are at work".into()),
        ],
        rows: [&few, &all].into_iter().flat_map(rows).chain(sweep).collect(),
        claims: claims(&few, &all),
        notes: notes(&few, &all),
        plot: plot(&few, &all),
    })
}

fn case(
    setting: &mut Setting<'_>,
    platform: &Platform,
    name: &'static str,
    tuples: u64,
    length: Time,
    done: f64,
) -> Result<Case, ExperimentError> {
    let mut measured = Case { name, host: Vec::new(), device: Vec::new() };
    for (number, percent) in LOADS.into_iter().enumerate() {
        let part = number as f64 / LOADS.len() as f64;
        setting.progress.set(done + part * 0.4, format_args!("{name}, load {percent} %"));
        let other = f64::from(percent) / 100.0;
        let mut under = |host, device| load(setting, platform, tuples, length, (host, device));
        measured.host.push(under(1.0, other)?.host);
        measured.device.push(under(other, 1.0)?.device);
    }
    Ok(measured)
}

/// Both sides on `tuples` tuples, each for its part of the time (`duties`: host, device).
fn load(
    setting: &mut Setting<'_>,
    platform: &Platform,
    tuples: u64,
    length: Time,
    duties: (f64, f64),
) -> Result<LoadSeen, ExperimentError> {
    Ok(run(&LockLoad {
        platform: platform.clone(),
        home: Side::Host,
        buckets: BUCKETS,
        tuples,
        host: Demand { requesters: CORES, duty: duties.0 },
        device: Demand { requesters: PROCESSING_ELEMENTS, duty: duties.1 },
        length: setting.scaled(length),
        seed: setting.seed,
    })?)
}

/// Both sides at full load, for each number of tuples.
fn sweep(
    setting: &mut Setting<'_>,
    platform: &Platform,
    done: f64,
) -> Result<Vec<Row>, ExperimentError> {
    let mut rows = Vec::new();
    for (number, tuples) in SWEEP.into_iter().enumerate() {
        let part = number as f64 / SWEEP.len() as f64;
        setting.progress.set(done + part * 0.2, format_args!("both sides on {tuples} tuples"));
        let seen = load(setting, platform, tuples, Time::from_us(2_000), (1.0, 1.0))?;
        for (side, seen) in [("host", &seen.host), ("device", &seen.device)] {
            let label = format!("{side}, both at 100 % on {tuples} tuples");
            rows.push(Row::new(label, "ns", seen.acquire.mean_ns));
        }
    }
    Ok(rows)
}

fn rows(case: &Case) -> Vec<Row> {
    let row = |side: &str, number: usize, seen: &Seen, paper| {
        let label = format!("{side}, {}, other side at {} %", case.name, LOADS[number]);
        Row::new(label, "ns", seen.acquire.mean_ns).beside(paper)
    };
    let host_paper = |number| match LOADS[number] {
        0 => Some(HOST_ALONE),
        100 => Some(HOST_CONTENDED),
        _ => None,
    };
    let host = case.host.iter().enumerate().map(|(n, seen)| row("host", n, seen, host_paper(n)));
    let device =
        case.device.iter().enumerate().map(|(n, seen)| row("device", n, seen, Some(DEVICE)));
    host.chain(device).collect()
}

/// The first and the last point of a curve: the other side idle, and at full load.
fn ends(curve: &[Seen]) -> (f64, f64) {
    let (first, last) = (&curve[0], &curve[curve.len() - 1]);
    (first.acquire.mean_ns, last.acquire.mean_ns)
}

fn claims(few: &Case, all: &Case) -> Vec<Claim> {
    let (few_idle, few_full) = ends(&few.host);
    let (all_idle, all_full) = ends(&all.host);
    let (device_idle, device_full) = ends(&few.device);
    let (device_all_idle, device_all_full) = ends(&all.device);
    let last = LOADS.len() - 1;
    let (waited, at_once) = (few.host[last].waited, few.host[last].at_once.mean_ns);
    let steady = |idle: f64, full: f64| (full / idle - 1.0).abs() <= 0.1;
    vec![
        Claim {
            says: "\"Under low contention, tuple versions can be locked on the host with low \
                   latencies of 80-100ns\" (section 4)."
                .into(),
            comes_out: [few_idle, all_idle].iter().all(|&ns| HOST_ALONE.agrees_with(ns)),
            because: format!(
                "{few_idle:.0} ns for few tuples, whose lines move between the four cores, and \
                 {all_idle:.0} ns for the whole table, of which each core's cache has a part."
            ),
        },
        Claim {
            says: "\"Under high contention … the host still provides robust performance with \
                   latencies around 400ns\" (section 4), for few tuples."
                .into(),
            comes_out: HOST_CONTENDED.agrees_with(few_full),
            because: format!(
                "{few_full:.0} ns on average for {FEW} tuples; for more or fewer it does not, see \
                 the sweep. It is a mixture: {:.0} % of the requests wait for a lock that the \
                 device holds, for microseconds, since the device gives a lock back no faster \
                 than it takes it; the others take {at_once:.0} ns.",
                100.0 * waited
            ),
        },
        Claim {
            says: "The same for the whole table.".into(),
            comes_out: HOST_CONTENDED.agrees_with(all_full),
            because: format!(
                "{all_full:.0} ns: among {BUCKETS} tuples the two sides hardly ever meet, and far \
                 atomics leave no copy on the device that the host would have to call back."
            ),
        },
        Claim {
            says:
                "The device's latency is \"unaffected by the increased contention\" (section 4), \
                   for the whole table."
                    .into(),
            comes_out: steady(device_all_idle, device_all_full)
                && DEVICE.agrees_with(device_all_full),
            because: format!(
                "{device_all_idle:.0} ns alone, {device_all_full:.0} ns with the host at full \
                 load: two crossings of the link and a few cycles of the lock unit, whatever \
                 the host does."
            ),
        },
        Claim {
            says: "The same for few tuples.".into(),
            comes_out: steady(device_idle, device_full) && DEVICE.agrees_with(device_full),
            because: format!(
                "{device_idle:.0} ns alone, {device_full:.0} ns with the host at full load, on \
                 average; half of the requests take no more than {:.0} ns in both cases. The \
                 average is above it because processing elements meet each other, and a request \
                 that has to queue crosses the link at least four times.",
                few.device[last].acquire.p50_ns
            ),
        },
    ]
}

fn notes(few: &Case, all: &Case) -> Vec<String> {
    let last = LOADS.len() - 1;
    let tail = |case: &Case| {
        format!(
            "{}: {:.0} and {:.0} ns on the host, {:.0} and {:.0} ns on the device",
            case.name,
            case.host[last].acquire.p50_ns,
            case.host[last].acquire.p99_ns,
            case.device[last].acquire.p50_ns,
            case.device[last].acquire.p99_ns,
        )
    };
    vec![
        "Measured is the mean time from asking for a lock to having it, waiting included. The \
         lock is given back at once."
            .into(),
        format!(
            "The paper's text gives the ends of the curves; it does not say how many tuples, cores \
             and processing elements took part, nor what a per cent of load is. {FEW} tuples were \
             chosen because that curve ends nearest to the paper's. So it shows that waiting for \
             each other's locks can make the host's rise, not that it did."
        ),
        "The paper's lock is one that shifts a queue; ours hands over in one compare-and-swap. \
         So the middle of the curves need not be the paper's."
            .into(),
        format!(
            "Median and 99th percentile with both sides at full load, for {}; for {}.",
            tail(few),
            tail(all)
        ),
        format!(
            "Giving the lock back takes {:.0} ns on the host and {:.0} ns on the device, for few \
             tuples with both sides at full load.",
            few.host[last].release.mean_ns, few.device[last].release.mean_ns
        ),
    ]
}

fn plot(few: &Case, all: &Case) -> Plot {
    let curve = |case: &Case, side: &str, colour, seen: &[Seen]| Curve {
        name: format!("{side}, {}", case.name),
        colour,
        dashed: false,
        points: LOADS
            .iter()
            .zip(seen)
            .map(|(&load, seen)| (f64::from(load), seen.acquire.mean_ns))
            .collect(),
    };
    let faint = |curve: Curve| Curve { dashed: true, ..curve };
    let paper = |name: &str, points: Vec<(f64, f64)>| Curve {
        name: name.into(),
        colour: Colour::Paper,
        dashed: true,
        points,
    };
    Plot::Lines {
        across: "load of the other side, %",
        up: "mean time to the lock, ns",
        curves: vec![
            curve(few, "host", Colour::Host, &few.host),
            curve(few, "device", Colour::Device, &few.device),
            faint(curve(all, "host", Colour::Host, &all.host)),
            faint(curve(all, "device", Colour::Device, &all.device)),
            paper(
                "paper: host, ends joined",
                vec![(0.0, HOST_ALONE.middle()), (100.0, HOST_CONTENDED.middle())],
            ),
            paper("paper: device", vec![(0.0, DEVICE.low), (100.0, DEVICE.low)]),
        ],
    }
}
