//! Home agent on the host against home agent on the device: what the ccSLT paper argues in
//! section 4 but does not measure.

use sim::kernel::Time;
use sim::platform::{Platform, Side};

use super::findings::{Claim, Findings, Plot, Row};
use super::lock_load::{Demand, LoadSeen, LockLoad, run};
use super::{ExperimentError, Setting};

const BUCKETS: u64 = 1 << 16;
const FEW: u64 = 64;
const CORES: u32 = 4;
const PROCESSING_ELEMENTS: u32 = 16;
const MANY_PROCESSING_ELEMENTS: u32 = 128;

/// All runs with the home agent on one side.
struct Placement {
    home: &'static str,
    /// The host alone, on the whole table.
    host: LoadSeen,
    /// The device alone, on the whole table.
    device: LoadSeen,
    /// Both at full load, on few tuples.
    both: LoadSeen,
    /// The device alone, with as many requests as the lock unit can have open.
    many: LoadSeen,
}

/// Measures both placements.
///
/// # Errors
/// When the simulation fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let platform = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
    let on_host = placement(setting, &platform, Side::Host, 0.0)?;
    let on_device = placement(setting, &platform, Side::Device, 0.5)?;
    let latencies: Vec<Row> = rows(&on_host, &on_device, &LATENCIES);
    Ok(Findings {
        parameters: vec![
            ("platform", platform.name.clone()),
            ("lock table", "4 MiB, 65,536 buckets".into()),
            ("host", format!("{CORES} cores, one request at a time each")),
            ("device", format!("{PROCESSING_ELEMENTS} processing elements before one lock unit")),
            ("alone", "requests for any tuple of the table".into()),
            ("both", format!("both sides at full load on the same {FEW} tuples")),
        ],
        plot: Plot::Bars { along: "mean time to the lock, ns", rows: latencies.clone() },
        rows: latencies.into_iter().chain(rows(&on_host, &on_device, &RATES)).collect(),
        claims: claims(&on_host, &on_device),
        notes: vec![
            "The paper has no measured values for this: the column is empty.".into(),
            "With the home agent on the device the table stands in the device's memory behind a \
             cache of 4 MiB on the chip (coherence.home_on_device of the platform file, whose \
             numbers are assumptions)."
                .into(),
            "The device performs its atomics at the home agent in both cases; the host's cores \
             perform theirs in their own caches."
                .into(),
        ],
    })
}

fn placement(
    setting: &mut Setting<'_>,
    platform: &Platform,
    home: Side,
    done: f64,
) -> Result<Placement, ExperimentError> {
    let name = if home == Side::Host { "home on host" } else { "home on device" };
    let mut part = 0.0;
    let mut under = |cores: u32, elements: u32, tuples: u64, length: Time| {
        setting.progress.set(done + part, name);
        part += 0.125;
        let demand = |requesters: u32| Demand { requesters, duty: f64::from(requesters.min(1)) };
        run(&LockLoad {
            platform: platform.clone(),
            home,
            buckets: BUCKETS,
            tuples,
            host: demand(cores),
            device: demand(elements),
            length: setting.scaled(length),
            seed: setting.seed,
        })
    };
    Ok(Placement {
        home: name,
        host: under(CORES, 0, BUCKETS, Time::from_us(8_000))?,
        device: under(0, PROCESSING_ELEMENTS, BUCKETS, Time::from_us(1_000))?,
        both: under(CORES, PROCESSING_ELEMENTS, FEW, Time::from_us(2_000))?,
        many: under(0, MANY_PROCESSING_ELEMENTS, BUCKETS, Time::from_us(1_000))?,
    })
}

/// What, its unit, and how it comes out of a placement.
type Quantity = (&'static str, &'static str, fn(&Placement) -> f64);

const LATENCIES: [Quantity; 4] = [
    ("host alone", "ns", |runs| runs.host.host.acquire.mean_ns),
    ("device alone", "ns", |runs| runs.device.device.acquire.mean_ns),
    ("host, both", "ns", |runs| runs.both.host.acquire.mean_ns),
    ("device, both", "ns", |runs| runs.both.device.acquire.mean_ns),
];

const RATES: [Quantity; 5] = [
    ("host alone, 4 cores", "M locks/s", |runs| runs.host.host.locks_per_second / 1e6),
    ("device alone, 16 elements", "M locks/s", |runs| runs.device.device.locks_per_second / 1e6),
    ("device alone, 128 elements", "M locks/s", |runs| runs.many.device.locks_per_second / 1e6),
    ("host alone, on the link", "B/lock", |runs| link_bytes(&runs.host)),
    ("device alone, on the link", "B/lock", |runs| link_bytes(&runs.device)),
];

/// Bytes on the link, in both directions, for each lock taken and given back.
fn link_bytes(seen: &LoadSeen) -> f64 {
    let bytes = seen.traffic.link_bytes_to_host + seen.traffic.link_bytes_to_device;
    bytes as f64 / seen.locks as f64
}

fn rows(on_host: &Placement, on_device: &Placement, quantities: &[Quantity]) -> Vec<Row> {
    let row = |runs: &Placement, &(name, unit, of): &Quantity| {
        Row::new(format!("{name}, {}", runs.home), unit, of(runs))
    };
    quantities.iter().flat_map(|of| [row(on_host, of), row(on_device, of)]).collect()
}

fn claims(on_host: &Placement, on_device: &Placement) -> Vec<Claim> {
    let host = |runs: &Placement| runs.host.host.acquire.mean_ns;
    let device = |runs: &Placement| runs.device.device.acquire.mean_ns;
    let rate = |runs: &Placement| runs.many.device.locks_per_second / 1e6;
    let (host_near, host_far) = (host(on_host), host(on_device));
    let (device_far, device_near) = (device(on_host), device(on_device));
    vec![
        Claim {
            says: "\"If the host executes a latency sensitive OLTP-style workload, it should be \
                   the one acting as CCIX-HA\" (section 4)."
                .into(),
            comes_out: host_near < host_far,
            because: format!(
                "A host lock takes {host_near:.0} ns with the home agent on the host and \
                 {host_far:.0} ns with it on the device, where each miss of a core's cache \
                 crosses the link twice."
            ),
        },
        Claim {
            says: "\"if the workload is NDP-update intensive …, the CCIX-HA should be placed on \
                   the smart storage device\" (section 4)."
                .into(),
            comes_out: device_near < device_far && rate(on_device) > rate(on_host),
            because: format!(
                "A device lock takes {device_far:.0} ns with the home agent on the host and \
                 {device_near:.0} ns with it on the device; the lock unit reaches {:.0} and {:.0} \
                 million locks/s.",
                rate(on_host),
                rate(on_device)
            ),
        },
    ]
}
