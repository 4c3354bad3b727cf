// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of Xenic's section 3 (SOSP 2021) on the models of its hardware: rows, and what the text
//! claims.
//!
//! Nothing here is known of figures of transactions. The pictures of section 3 are not at hand: where only
//! they have a number, a row has no value of the paper.

use timing::Time;

use super::Spans;
use super::read::{Operate, VerbBench};
use super::rpc::RpcBench;
use super::smart_bench::{
    MicroError, Outcome, Source, copies, copy_time, echoes, remote, round_trip,
};
use super::smart_machine::Request;
use crate::nic::smart_timing::SmartTiming;
use crate::platform::Hardware;

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which measurement.
    pub label: String,
    /// Of the values.
    pub unit: &'static str,
    /// What the paper's text has: least and greatest.
    pub paper: Option<[f64; 2]>,
    /// What came out.
    pub measured: f64,
    /// The resource that was busiest, of a throughput.
    pub bound: Option<&'static str>,
    /// Whether the paper's value is an entry of the platform, so that it had to come out.
    pub input: bool,
    /// The curve it is on, and where: a number of bytes.
    pub place: Option<(String, f64)>,
    /// How many requests or operations are behind it.
    pub operations: u64,
}

/// A sentence of the paper, and whether it is true here.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The sentence, and its section.
    pub says: &'static str,
    /// Whether it came out.
    pub holds: bool,
    /// The values that decide it, and why they are so.
    pub because: String,
}

/// A figure: rows and claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The measurements.
    pub rows: Vec<Row>,
    /// What the paper says about them.
    pub claims: Vec<Claim>,
}

impl Row {
    fn rate(label: impl Into<String>, outcome: Outcome) -> Self {
        let (bound, measured) = (Some(outcome.bound.0), outcome.millions());
        let (label, paper, input, place) = (label.into(), None, false, None);
        let operations = outcome.operations;
        Self { label, unit: "M/s", paper, measured, bound, input, place, operations }
    }

    fn number(label: impl Into<String>, unit: &'static str, measured: f64) -> Self {
        let (label, paper, bound, input, place) = (label.into(), None, None, false, None);
        Self { label, unit, paper, measured, bound, input, place, operations: 1 }
    }

    fn time(label: impl Into<String>, time: Time) -> Self {
        Self::number(label, "ns", time.as_ns_f64())
    }

    fn beside(self, least: f64, greatest: f64) -> Self {
        Self { paper: Some([least, greatest]), ..self }
    }

    fn that_was_entered(self) -> Self {
        Self { input: true, ..self }
    }

    fn at(self, curve: impl Into<String>, bytes: u16) -> Self {
        Self { place: Some((curve.into(), f64::from(bytes))), ..self }
    }
}

/// Values that are no farther apart, as a part of one of them, count as the same.
const SAME: f64 = 0.05;

fn is_same(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() <= SAME
}

/// Section 3.3: echoes a second of one server.
///
/// # Errors
/// When the platform cannot do that.
pub fn rpc(timing: &SmartTiming) -> Result<Figure, MicroError> {
    let of = |request, threads| echoes(timing, request, threads);
    let [host, more_host] = [of(Request::HostEcho, 16)?, of(Request::HostEcho, 32)?];
    let [nic, more_nic] = [of(Request::NicEcho, 16)?, of(Request::NicEcho, 24)?];
    let claims = vec![
        Claim {
            says: "\"In both cases, further increasing the thread count did not increase throughput\" \
                   (section 3.3).",
            holds: [(host, more_host), (nic, more_nic)]
                .iter()
                .all(|(few, many)| many.rate <= few.rate * (1.0 + SAME)),
            because: format!(
                "Host: {:.1} M/s with 16 threads, {:.1} with 32, held by the {}. NIC: {:.1} M/s with 16 cores, \
                 {:.1} with 24: all cores together do what {:.1} do alone (table 1).",
                host.millions(),
                more_host.millions(),
                more_host.bound.0,
                nic.millions(),
                more_nic.millions(),
                worth(timing),
            ),
        },
        Claim {
            says: "\"NIC cores, though wimpier in computational performance, demonstrate higher packet-handling \
                   efficiency than the host-side alternative\" (section 3.3).",
            holds: nic.rate > host.rate,
            because: format!("{:.1} and {:.1} M/s.", nic.millions(), host.millions()),
        },
    ];
    let rows = vec![
        Row::rate("host RPC, 16 threads", host).beside(23.0, 23.0).that_was_entered(),
        Row::rate("NIC RPC, 16 threads", nic).beside(71.8, 71.8).that_was_entered(),
        Row::rate("host RPC, 32 threads", more_host),
        Row::rate("NIC RPC, 24 threads", more_nic),
    ];
    Ok(Figure { rows, claims })
}

/// How many threads alone do what all of the NIC's do together.
fn worth(timing: &SmartTiming) -> f64 {
    let core = &timing.network.core;
    f64::from(core.threads.get().0) * core.together.get().millionths() as f64 / 1e6
}

/// What the RDMA card of the same testbed takes, for the comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RdmaTimes {
    /// A READ.
    pub read: Time,
    /// A WRITE.
    pub write: Time,
    /// A request and its answer by SEND and RECV.
    pub rpc: Time,
}

/// The operations of figure 2a, in its words.
const OPERATIONS: [(Request, &str); 4] = [
    (Request::NicEcho, "NIC RPC"),
    (Request::HostRead, "read"),
    (Request::HostWrite, "write"),
    (Request::HostEcho, "host RPC"),
];

/// Section 3.2, figure 2: round trips with 256 bytes. The text has orders, and no number.
///
/// # Errors
/// When the platform cannot do that.
pub fn fig2(timing: &SmartTiming, rdma: Option<RdmaTimes>) -> Result<Figure, MicroError> {
    let all = |source, bytes| -> Result<Vec<Time>, MicroError> {
        OPERATIONS.iter().map(|(request, _)| round_trip(timing, source, *request, bytes)).collect()
    };
    let (host, nic) = (all(Source::Host, 256)?, all(Source::Nic, 256)?);
    let (small_host, small_nic) = (all(Source::Host, 16)?, all(Source::Nic, 16)?);
    let row = |from: &str, place: usize, time: Time| {
        Row::time(format!("{}, from the {from}", OPERATIONS[place].1), time)
    };
    let mut rows: Vec<Row> =
        host.iter().enumerate().map(|(place, time)| row("host", place, *time)).collect();
    rows.extend(nic.iter().enumerate().map(|(place, time)| row("NIC", place, *time)));
    let list = |times: &[Time]| -> String {
        let text = |(time, (_, name)): (&Time, &(Request, &str))| format!("{name} {time}");
        times.iter().zip(&OPERATIONS).map(text).collect::<Vec<_>>().join(", ")
    };
    let mut claims = vec![
        Claim {
            says: "\"Both devices show a significant cost for PCIe operations, with two-sided host RPCs incurring \
                   the highest latency\" (section 3.2).",
            holds: [&host, &nic].iter().all(|times| times[..3].iter().all(|time| *time < times[3]))
                && rdma.is_none_or(|rdma| rdma.rpc > rdma.read && rdma.rpc > rdma.write),
            because: format!("From the host: {}. From the NIC: {}.", list(&host), list(&nic)),
        },
        Claim {
            says: "\"operations local to the NIC cores (e.g., NIC RPC with NIC source) outperform all operations \
                   involving PCIe accesses\" (section 3.2, of the LiquidIO).",
            holds: host.iter().chain(&nic[1..]).all(|time| nic[0] < *time),
            because: format!("It takes {}.", nic[0]),
        },
        Claim {
            says: "\"All cases use a 256B data payload; latency is similar for smaller sizes\" (section 3.2).",
            holds: host
                .iter()
                .chain(&nic)
                .zip(small_host.iter().chain(&small_nic))
                .all(|(large, small)| is_same(small.as_ns_f64(), large.as_ns_f64())),
            because: format!("With 16 bytes from the NIC: {}.", list(&small_nic)),
        },
    ];
    if let Some(rdma) = rdma {
        rows.push(Row::time("READ, ConnectX-5", rdma.read));
        rows.push(Row::time("WRITE, ConnectX-5", rdma.write));
        rows.push(Row::time("RPC, ConnectX-5", rdma.rpc));
        let times = format!("READ {}, WRITE {}, RPC {}", rdma.read, rdma.write, rdma.rpc);
        claims.push(Claim {
            says: "\"RDMA operations [...] demonstrate lower latency than the equivalent operations implemented in \
                   target-side LiquidIO and initiated from the host CPU\" (section 3.2).",
            holds: rdma.read < host[1] && rdma.write < host[2],
            because: format!("ConnectX-5: {times}. From the host: {}.", list(&host)),
        });
        claims.push(Claim {
            says: "\"Operations initiated from the NIC, avoiding the latency cost of a host-side DPDK roundtrip, \
                   outperform two-sided RDMA RPCs\" (section 3.2).",
            holds: nic[..3].iter().all(|time| *time < rdma.rpc),
            because: format!(
                "Those without a remote host's software: {}; RPC {}.",
                list(&nic[..3]),
                rdma.rpc
            ),
        });
    }
    Ok(Figure { rows, claims })
}

/// The sizes of figures 3 and 4.
pub const SIZES: [u16; 5] = [16, 32, 64, 128, 256];

/// WRITEs a second of one host by the RDMA card at each of [`SIZES`], in millions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RdmaWrites {
    /// By one thread.
    pub thread: [f64; 5],
    /// By 16 threads.
    pub host: [f64; 5],
}

impl RdmaTimes {
    /// On the model of a cluster with RDMA cards, with 256 bytes.
    ///
    /// # Errors
    /// When there cannot be such a cluster.
    pub fn of(hardware: &Hardware, spans: Spans) -> Result<Self, MicroError> {
        let verb = |operate| -> Result<Time, MicroError> {
            let bench = VerbBench { window: 1, ..one_asks(1, operate) };
            Ok(microseconds(bench.run(hardware, spans)?.median))
        };
        let rpc = RpcBench { request: 256, answer: 256, ..RpcBench::new(2, 1, 1) };
        Ok(Self {
            read: verb(Operate::Read(256))?,
            write: verb(Operate::Write(256))?,
            rpc: microseconds(rpc.run(hardware, spans)?.median),
        })
    }
}

impl RdmaWrites {
    /// On the model of a cluster with RDMA cards, measured for so long.
    ///
    /// # Errors
    /// When there cannot be such a cluster.
    pub fn of(hardware: &Hardware, spans: Spans) -> Result<Self, MicroError> {
        let rates = |threads| -> Result<[f64; 5], MicroError> {
            let mut rates = [0.0; 5];
            for (rate, bytes) in rates.iter_mut().zip(SIZES) {
                let bench = one_asks(threads, Operate::Write(bytes.into()));
                *rate = bench.run(hardware, spans)?.rate;
            }
            Ok(rates)
        };
        Ok(Self { thread: rates(1)?, host: rates(16)? })
    }
}

/// Node 0 asks node 1, with up to 64 operations of a thread outstanding (section 3.4).
fn one_asks(threads: u8, operate: Operate) -> VerbBench {
    let (initiators, targets) = (0..1, 1..2);
    VerbBench { initiators, targets, window: 64, operate, ..VerbBench::symmetric(2, threads, 0) }
}

fn microseconds(number: f64) -> Time {
    Time::from_ps((number * 1e6) as u64)
}

/// Section 3.4, figure 3: remote writes and reads a second, of one host.
///
/// # Errors
/// When the platform cannot do that.
pub fn fig3(timing: &SmartTiming, rdma: Option<RdmaWrites>) -> Result<Figure, MicroError> {
    let all = |request, batched| -> Result<Vec<Outcome>, MicroError> {
        SIZES.iter().map(|bytes| remote(timing, request, *bytes, batched)).collect()
    };
    let mut rows = Vec::new();
    let mut curve = |what: &str, outcomes: &[Outcome], paper: Option<[f64; 2]>| {
        for (bytes, outcome) in SIZES.iter().zip(outcomes) {
            let row = Row::rate(format!("{what}, {bytes} B"), *outcome).at(what, *bytes);
            let beside = |[least, greatest]: [f64; 2]| {
                row.clone().beside(least, greatest).that_was_entered()
            };
            rows.push(paper.map_or_else(|| row.clone(), beside));
        }
    };
    let unbatched = Some([9.0, 10.4]);
    let single = [all(Request::NicWrite, false)?, all(Request::HostWrite, false)?];
    let writes = [all(Request::NicWrite, true)?, all(Request::HostWrite, true)?];
    let reads = [all(Request::NicRead, true)?, all(Request::HostRead, true)?];
    curve("writes to NIC memory, unbatched", &single[0], unbatched);
    curve("writes to NIC memory, batched", &writes[0], None);
    curve("writes to host memory, unbatched", &single[1], unbatched);
    curve("writes to host memory, batched", &writes[1], None);
    curve("reads of NIC memory, batched", &reads[0], None);
    curve("reads of host memory, batched", &reads[1], None);
    let gain = |target: usize| {
        let pairs = writes[target].iter().zip(&single[target]);
        pairs.map(|(batched, single)| batched.rate / single.rate).fold(0.0, f64::max)
    };
    rows.push(
        Row::number("most gain by batching, NIC memory", "times", gain(0)).beside(22.2, 22.2),
    );
    rows.push(Row::number("most gain by batching, host memory", "times", gain(1)).beside(7.0, 7.0));
    let mut claims = fig3_claims(&writes, &reads);
    if let Some(rdma) = rdma {
        for (threads, rates) in [("one thread", rdma.thread), ("16 threads", rdma.host)] {
            let curve = format!("WRITEs, ConnectX-5, {threads}");
            for (bytes, rate) in SIZES.iter().zip(rates) {
                let row = Row::number(format!("{curve}, {bytes} B"), "M/s", rate);
                rows.push(row.beside(13.5, 15.0).at(curve.clone(), *bytes));
            }
        }
        let slower = writes.iter().flatten().zip(rdma.host.iter().cycle());
        claims.push(Claim {
            says: "\"For CX5 RDMA, we observe 13.5-15.0Mops/s across the range of buffer sizes, lower than the \
                   respective batched LiquidIO operations\" (section 3.4).",
            holds: slower.into_iter().all(|(smart, rdma)| *rdma < smart.millions()),
            because: format!(
                "ConnectX-5 with 16 threads: {:.1} M/s at 16 bytes, {:.1} at 256; with one thread {:.1} and {:.1}. \
                 The paper does not say how many it had. (At 13.5 to 15.0 M/s for a whole card, the paper's rivals \
                 could not post the verbs of their transactions.)",
                rdma.host[0], rdma.host[4], rdma.thread[0], rdma.thread[4],
            ),
        });
    }
    Ok(Figure { rows, claims })
}

/// Of batched writes and reads, of the NIC's memory and the host's.
fn fig3_claims(writes: &[Vec<Outcome>; 2], reads: &[Vec<Outcome>; 2]) -> Vec<Claim> {
    let bounds = |outcomes: &[Outcome]| -> String {
        let text = |(bytes, outcome): (&u16, &Outcome)| {
            format!("{bytes} B: {:.1} M/s, {}", outcome.millions(), outcome.bound.0)
        };
        SIZES.iter().zip(outcomes).map(text).collect::<Vec<_>>().join("; ")
    };
    let by_dma = |outcome: &Outcome| outcome.bound.0 == "DMA queues";
    let pairs = writes.iter().flatten().zip(reads.iter().flatten());
    let farthest = pairs
        .map(|(write, read)| read.rate / write.rate)
        .fold(1.0_f64, |far, ratio| if ratio.ln().abs() > far.ln().abs() { ratio } else { far });
    vec![
        Claim {
            says: "\"For operations on remote NIC memory, throughput scales to the usable network bandwidth for all \
                   write sizes\" (section 3.4).",
            holds: writes[0].iter().all(|outcome| outcome.bound.0.starts_with("link")),
            because: format!(
                "{}. The slot of the asking host has 8 lanes of generation 3, 57.9 Gb/s, and the ports have 100: \
                 one host cannot fill them.",
                bounds(&writes[0])
            ),
        },
        Claim {
            says: "\"For operations on host memory, throughput is limited by the DMA engine for requests smaller \
                   than 64B\" (section 3.4).",
            holds: writes[1][..2].iter().all(by_dma),
            because: format!("{}.", bounds(&writes[1])),
        },
        Claim {
            says: "\"larger requests saturate the usable network bandwidth\" (section 3.4): from 128 bytes on, \
                   something other than the DMA engine and the cores is the limit.",
            holds: writes[1][3..]
                .iter()
                .all(|it| it.bound.0.starts_with("PCIe") || it.bound.0.starts_with("link")),
            because: "As above; here it is the slot of either host.".into(),
        },
        Claim {
            says: "\"Reads demonstrate similar performance\" (section 3.4): within a quarter.",
            holds: (0.75..=1.25).contains(&farthest),
            because: format!(
                "The farthest is {farthest:.2} times the writes; small reads carry no data to the NIC, whose slot \
                 is the limit."
            ),
        },
    ]
}

/// Section 3.5, figure 4: the DMA engine. Throughputs are of one of eight queues.
///
/// # Errors
/// When the platform cannot do that.
pub fn fig4(timing: &SmartTiming) -> Result<Figure, MicroError> {
    let (mut rows, mut improves, mut longer) = (Vec::new(), Vec::new(), Vec::new());
    let queues = f64::from(timing.network.dma.queues.get().0);
    for (reads, what) in [(true, "reads"), (false, "writes")] {
        for bytes in SIZES {
            let of = |vectors| -> Result<Outcome, MicroError> {
                let outcome = copies(timing, reads, bytes.into(), vectors)?;
                Ok(Outcome { rate: outcome.rate / queues, ..outcome })
            };
            let [single, full] = [of(false)?, of(true)?];
            improves.push((what, bytes, full.rate / single.rate));
            let curve = |how: &str| format!("{what}, {how}");
            let named = |how: &str| format!("{what}, {how}, {bytes} B");
            rows.push(Row::rate(named("single"), single).at(curve("single"), bytes));
            rows.push(Row::rate(named("vectors of 15"), full).at(curve("vectors of 15"), bytes));
            let [one, all] = [1, 15].map(|count| copy_time(timing, reads, bytes.into(), count));
            longer.push((what, bytes, one?, all?));
        }
    }
    let most = rows.iter().map(|row| row.measured).fold(0.0, f64::max);
    rows.push(Row::number("most of a queue", "M/s", most).beside(8.7, 8.7).that_was_entered());
    let submission = timing.dma.setup.get();
    rows.push(Row::time("submission", submission).beside(190.0, 190.0).that_was_entered());
    for (what, paper) in [("reads", 1295.0), ("writes", 570.0)] {
        let of = longer.iter().filter(|(name, ..)| *name == what);
        let most = of.map(|(_, _, one, _)| *one).max().unwrap_or(Time::ZERO);
        let row = Row::time(format!("completion, {what}"), most.saturating_sub(submission));
        rows.push(row.beside(paper, paper).that_was_entered());
    }
    let least = improves.iter().copied().min_by(|one, other| one.2.total_cmp(&other.2));
    let (what, bytes, by) = least.unwrap_or(("nothing", 0, 1.0));
    let claims = vec![
        Claim {
            says: "\"using vectored submission to batch DMAs improves throughput for the range of request sizes, up \
                   to the hardware maximum of 8.7Mops/s\" (section 3.5).",
            holds: improves.iter().all(|(_, _, by)| *by > 1.0 + SAME),
            because: format!(
                "The least gain is {by:.2} times, of {what} of {bytes} bytes: eight queues at 8.7 M/s of so many \
                 bytes are more than the slot has, and single ones fill it too. (If 8.7 M/s were of all queues \
                 together, section 3.4 could not have 7.0 times 9.0 M/s.)"
            ),
        },
        Claim {
            says: "\"Full vectors do not increase submission or completion latency relative to single-buffer \
                   requests\" (section 3.5).",
            holds: longer.iter().all(|(.., one, all)| is_same(all.as_ns_f64(), one.as_ns_f64())),
            because: format!(
                "At 256 bytes: {}.",
                longer
                    .iter()
                    .filter(|(_, bytes, ..)| *bytes == 256)
                    .map(|(what, _, one, all)| format!("{what} {one} and {all}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        },
    ];
    Ok(Figure { rows, claims })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> SmartTiming {
        SmartTiming::usual().expect("valid")
    }

    fn connectx5() -> Hardware {
        Hardware::named("connectx5").expect("valid")
    }

    /// Of the paper's middle.
    fn ratio(row: &Row) -> Option<f64> {
        row.paper.map(|[least, greatest]| row.measured / f64::midpoint(least, greatest))
    }

    fn row<'a>(figure: &'a Figure, label: &str) -> &'a Row {
        let found = figure.rows.iter().find(|row| row.label == label);
        found.unwrap_or_else(|| panic!("{label} is missing"))
    }

    /// What was entered comes out of the whole path too, however many threads there are.
    #[test]
    fn rpcs_have_the_rates_of_the_paper() {
        let figure = rpc(&usual()).expect("it runs");
        for label in ["host RPC, 16 threads", "NIC RPC, 16 threads"] {
            let ratio = ratio(row(&figure, label)).expect("of the paper");
            assert!((0.98..1.02).contains(&ratio), "{label}: {ratio}");
        }
        assert!(figure.claims.iter().all(|claim| claim.holds), "{:?}", figure.claims);
    }

    #[test]
    fn round_trips_have_the_order_of_the_paper() {
        let rdma = RdmaTimes::of(&connectx5(), Spans::USUAL).expect("it runs");
        let figure = fig2(&usual(), Some(rdma)).expect("it runs");
        // Of what a core of the NIC begins, only an RPC to the other NIC beats the RDMA card's RPC.
        let holds: Vec<bool> = figure.claims.iter().map(|claim| claim.holds).collect();
        assert_eq!(holds, [true, true, true, true, false], "{:?}", figure.claims);
        assert!(row(&figure, "NIC RPC, from the NIC").measured < rdma.rpc.as_ns_f64());
    }

    #[test]
    fn batching_gains_what_the_paper_says_of_host_memory() {
        let rdma = RdmaWrites::of(&connectx5(), Spans::USUAL).expect("it runs");
        let figure = fig3(&usual(), Some(rdma)).expect("it runs");
        for row in figure.rows.iter().filter(|row| row.input) {
            let [least, greatest] = row.paper.expect("an input is of the paper");
            assert!((least..greatest).contains(&row.measured), "{row:?}");
        }
        let host = ratio(row(&figure, "most gain by batching, host memory")).expect("of the paper");
        assert!((0.95..1.05).contains(&host), "{host}");
        // The slot holds it down, by which it misses the paper's by more.
        let nic = ratio(row(&figure, "most gain by batching, NIC memory")).expect("of the paper");
        assert!((0.85..0.95).contains(&nic), "{nic}");
        let holds: Vec<bool> = figure.claims.iter().map(|claim| claim.holds).collect();
        // Nobody knows how many threads wrote by the card: one does less than the paper's, 16 do more.
        assert!(rdma.thread[0] < 13.5 && rdma.host[0] > 15.0, "{rdma:?}");
        assert_eq!(holds, [false, true, true, false, false], "{:?}", figure.claims);
    }

    #[test]
    fn the_dma_engine_does_what_the_paper_measured() {
        let figure = fig4(&usual()).expect("it runs");
        for row in figure.rows.iter().filter(|row| row.input) {
            let ratio = ratio(row).expect("an input is of the paper");
            assert!((0.99..1.01).contains(&ratio), "{row:?}");
        }
        let holds: Vec<bool> = figure.claims.iter().map(|claim| claim.holds).collect();
        assert_eq!(holds, [false, true], "{:?}", figure.claims);
    }
}
