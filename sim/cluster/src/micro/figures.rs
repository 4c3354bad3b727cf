// SPDX-License-Identifier: MIT OR Apache-2.0
//! The micro-figures of the papers: which benchmark gives each number, what the text of the paper
//! says, and whether an entry of a platform was taken from it.
//!
//! Pictures are not part of the given texts, so most points have no number of the paper.

use crate::micro::read::{Operate, VerbBench};
use crate::micro::rpc::RpcBench;
use crate::micro::{Measured, Spans};
use crate::nic::Connections;
use crate::platform::Hardware;
use crate::world::WorldError;

/// One point of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The platform.
    pub platform: &'static str,
    /// The curve or group that it belongs to.
    pub series: String,
    /// Where it stands on that.
    pub across: f64,
    /// The benchmark.
    pub bench: Bench,
    /// What is taken of what it gives.
    pub value: Value,
    /// The number of the paper's text.
    pub paper: Option<Stated>,
}

/// A number of a paper's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// The number, in the unit of the value.
    pub number: f64,
    /// Section and words.
    pub place: &'static str,
    /// The entry of the platform that was taken from it: it cannot confirm anything. Without one it is
    /// a prediction.
    pub fixes: Option<&'static str>,
}

/// A benchmark of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Bench {
    /// RPCs.
    Rpc(RpcBench),
    /// One-sided verbs.
    Verbs(VerbBench),
    /// The same over a dynamically connected transport.
    Dynamic(VerbBench),
}

/// What a point of a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Millions a second of an active node.
    Node,
    /// Millions a second of a thread.
    Thread,
    /// Millions a second of all nodes that ask together.
    All,
    /// The median latency in microseconds.
    Latency,
}

impl Value {
    /// Its unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Value::Node | Value::Thread | Value::All => "M/s",
            Value::Latency => "us",
        }
    }
}

/// What a point gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its value.
    pub value: f64,
    /// All that was measured.
    pub measured: Measured,
    /// How many operations are behind it, nearly.
    pub operations: u64,
}

impl Case {
    /// Measures it.
    ///
    /// # Errors
    /// When the hardware cannot have so many threads.
    pub fn run(&self, hardware: &Hardware, spans: Spans, seed: u64) -> Result<Outcome, WorldError> {
        let (measured, threads, active) = match &self.bench {
            Bench::Rpc(bench) => {
                let bench = RpcBench { seed, ..*bench };
                (bench.run(hardware, spans)?, bench.threads, bench.nodes)
            }
            Bench::Verbs(bench) => {
                let bench = VerbBench { seed, ..bench.clone() };
                let (threads, active) = (bench.threads, bench.initiators.len() as u16);
                (bench.run(hardware, spans)?, threads, active)
            }
            Bench::Dynamic(bench) => {
                let bench = VerbBench { seed, ..bench.clone() };
                let (threads, active) = (bench.threads, bench.initiators.len() as u16);
                let costs = hardware.nic_costs().dynamically_connected();
                (bench.run_with(hardware, costs, spans)?, threads, active)
            }
        };
        let value = match self.value {
            Value::Node => measured.rate,
            Value::Thread => measured.rate / f64::from(threads),
            Value::All => measured.rate * f64::from(active),
            Value::Latency => measured.median,
        };
        let operations = measured.rate * f64::from(active) * spans.measure.as_ns_f64() / 1e3;
        Ok(Outcome { value, measured, operations: operations as u64 })
    }
}

/// FaSST's two clusters, and the threads of a node.
pub const FASST: [(&str, u8); 2] = [("connect-ib", 14), ("connectx3", 8)];

/// Workers of a thread (FaSST, section 4).
const WORKERS: u8 = 20;

fn stated(number: f64, place: &'static str, fixes: Option<&'static str>) -> Option<Stated> {
    Some(Stated { number, place, fixes })
}

/// One more than the paper's nodes: of those, each also asks itself through its card, while a request
/// to the own node passes no card here. So each asks as many others.
const fn nodes_of(paper: u16) -> u16 {
    paper + 1
}

fn rpc(batch: u16, request: u32, answer: u32, threads: u8) -> RpcBench {
    RpcBench { batch, request, answer, ..RpcBench::new(nodes_of(11), threads, WORKERS) }
}

/// FaSST, figure 1: RPCs beside READs, for sizes of the answer.
pub fn fasst_fig1() -> Vec<Case> {
    let sizes = [8, 16, 32, 48, 56, 64, 96, 128, 192, 256, 384, 512];
    let mut cases = Vec::new();
    for (platform, threads) in FASST {
        for batch in [1, 11] {
            cases.extend(sizes.map(|size| Case {
                platform,
                series: format!("RPC, batches of {batch}"),
                across: f64::from(size),
                bench: Bench::Rpc(rpc(batch, 32, size, threads)),
                value: Value::Node,
                paper: fig1_rpc(platform, batch, size),
            }));
        }
        cases.extend(sizes.map(|size| Case {
            platform,
            series: "READ".into(),
            across: f64::from(size),
            bench: Bench::Verbs(VerbBench::symmetric(nodes_of(6), threads, size)),
            value: Value::Node,
            paper: fig1_read(platform, size),
        }));
        for batch in [1, 11] {
            let paper = match (platform, batch) {
                ("connectx3", 1) => stated(11.4, "section 3.3.1: 11.4-11.8 Mrps/machine", None),
                ("connectx3", _) => stated(11.8, "section 3.3.1: 11.4-11.8 Mrps/machine", None),
                (_, 1) => stated(34.9, "section 3.3.1: FaSST RPCs achieve 34.9-40.9 Mrps", None),
                _ => stated(40.9, "section 3.3.1: FaSST RPCs achieve 34.9-40.9 Mrps", None),
            };
            cases.push(Case {
                platform,
                series: format!("RPC of 8 bytes, batches of {batch}"),
                across: 40.0,
                bench: Bench::Rpc(rpc(batch, 8, 40, threads)),
                value: Value::Node,
                paper,
            });
        }
    }
    cases
}

fn fig1_rpc(platform: &str, batch: u16, size: u32) -> Option<Stated> {
    if size != 32 {
        return None;
    }
    match (platform, batch) {
        ("connectx3", 1) => {
            stated(11.6, "section 3.3.1: up to 11.6-12.3 Mrps on CX3", Some("nic.doorbell"))
        }
        ("connectx3", _) => {
            stated(12.3, "section 3.3.1: up to 11.6-12.3 Mrps on CX3", Some("nic.datagram"))
        }
        (_, 1) => stated(34.9, "section 3.3.1: 34.9-40.9 Mrps on CIB", Some("nic.doorbell")),
        _ => stated(40.9, "section 3.3.1: 34.9-40.9 Mrps on CIB", Some("nic.datagram")),
    }
}

fn fig1_read(platform: &str, size: u32) -> Option<Stated> {
    match (platform, size) {
        ("connectx3", 32) => {
            stated(11.2, "section 3.3.1: READs deliver up to 11.2 Mrps on CX3", Some("nic.read"))
        }
        ("connectx3", 384) => {
            stated(6.5, "section 3.3.1: up to 6.5 Mrps/machine on CX3", Some("nic.line"))
        }
        ("connect-ib", 32) => {
            stated(51.2, "section 3.3.1: READs deliver up to 51.2 Mrps on CIB", Some("nic.read"))
        }
        ("connect-ib", 384) => {
            stated(23.1, "section 3.3.1: 384-byte READs achieve 23.1 Mrps", Some("nic.line"))
        }
        _ => None,
    }
}

/// FaSST, figure 2: READs of 32 bytes as the cluster grows, emulated by more queue pairs on 11 nodes,
/// beside RPCs, which do not hang on it.
pub fn fasst_fig2() -> Vec<Case> {
    let mut cases = Vec::new();
    for (platform, threads) in FASST {
        cases.extend([11, 22, 33, 44, 55, 66, 88, 110].map(|nodes: u16| Case {
            platform,
            series: "READ".into(),
            across: f64::from(nodes),
            bench: Bench::Verbs(VerbBench {
                connections: Connections { each: u32::from(nodes / 11), threads_a_set: 1 },
                ..VerbBench::symmetric(nodes_of(11), threads, 32)
            }),
            value: Value::Node,
            paper: match (platform, nodes) {
                // 24 % of 11.2 M.
                ("connectx3", 22) => stated(
                    2.69,
                    "section 3.3.2: drops to 24% of its peak with as few as 22 emulated nodes",
                    Some("nic.queue_pairs.miss"),
                ),
                _ => None,
            },
        }));
        cases.push(Case {
            platform,
            series: "READ, fewest nodes".into(),
            across: 6.0,
            bench: Bench::Verbs(VerbBench::symmetric(nodes_of(6), threads, 32)),
            value: Value::Node,
            paper: None,
        });
        cases.push(Case {
            platform,
            series: "RPC, batches of 11".into(),
            across: 11.0,
            bench: Bench::Rpc(rpc(11, 32, 32, threads)),
            value: Value::Node,
            paper: None,
        });
    }
    cases
}

/// FaSST, figure 3: READs of one node, whose threads share a set of queue pairs to five others.
pub fn fasst_fig3() -> Vec<Case> {
    let case = |threads: u8| Case {
        platform: "connect-ib",
        series: "READ".into(),
        across: f64::from(threads),
        bench: Bench::Verbs(VerbBench {
            nodes: 6,
            initiators: 0..1,
            targets: 1..6,
            threads,
            window: 32,
            operate: Operate::Read(32),
            // 100 in all.
            connections: Connections { each: 20, threads_a_set: threads },
            seed: 1,
        }),
        value: Value::Thread,
        paper: match threads {
            1 => stated(10.9, "section 3.3.2: up to 10.9 Mrps", Some("cpu.post")),
            3 => stated(2.0, "section 3.3.2: 5.4x lower (2 Mrps)", Some("cpu.take_over")),
            _ => None,
        },
    };
    (1..=7).map(case).collect()
}

/// The optimizations of figure 4, in the order in which they are enabled.
pub const FIG4_STEPS: [&str; 4] =
    ["baseline", "+ request batching", "+ cheap RECV posting", "+ response batching"];

/// FaSST, figure 4: RPCs of one thread a node. All steps with batches of 1, 3 and 11.
pub fn fasst_fig4() -> Vec<Case> {
    let mut cases = Vec::new();
    for (platform, _) in FASST {
        for batch in [1, 3, 11] {
            for (step, name) in FIG4_STEPS.into_iter().enumerate() {
                let bench = RpcBench {
                    // The baseline has batches of one.
                    batch: if step == 0 { 1 } else { batch },
                    batched_requests: step >= 1,
                    cheap_receives: step >= 2,
                    batched_answers: step >= 3,
                    ..RpcBench::new(nodes_of(11), 1, WORKERS)
                };
                if step == 0 && batch != 1 {
                    continue;
                }
                cases.push(Case {
                    platform,
                    series: name.into(),
                    across: f64::from(batch),
                    bench: Bench::Rpc(bench),
                    value: Value::Node,
                    paper: fig4(platform, batch, step),
                });
            }
        }
    }
    cases
}

fn fig4(platform: &str, batch: u16, step: usize) -> Option<Stated> {
    match (platform, batch, step) {
        ("connect-ib", 1, 0) => {
            stated(2.6, "section 4.5: our baseline achieves 2.6 Mrps", Some("cpu.post_receive"))
        }
        ("connect-ib", 1, 3) => {
            stated(3.4, "section 4.5: with one request per batch is 3.4 Mrps", Some("cpu.doorbell"))
        }
        ("connect-ib", 3, 3) => stated(4.0, "section 4.5: with a batch size of 3, 4 Mrps", None),
        ("connect-ib", 11, 3) => {
            stated(4.3, "section 4.5: with 11 requests per batch, 4.3 Mrps", Some("cpu.rpc"))
        }
        _ => None,
    }
}

/// FaSST, section 7.1: READs over a dynamically connected transport, beside connected ones.
pub fn fasst_dct() -> Vec<Case> {
    let bench = VerbBench::symmetric(nodes_of(6), 14, 32);
    let case = |series: &str, bench, paper| Case {
        platform: "connect-ib",
        series: series.into(),
        across: 32.0,
        bench,
        value: Value::Node,
        paper,
    };
    let place = "section 7.1: READs over DCT achieve at most 22.9 Mrps";
    vec![
        case("connected", Bench::Verbs(bench.clone()), fig1_read("connect-ib", 32)),
        case(
            "dynamically connected",
            Bench::Dynamic(bench),
            stated(22.9, place, Some("nic.connect")),
        ),
    ]
}

/// DrTM, figure 10(a): READs of five clients with eight threads each from one server.
pub fn drtm_fig10a() -> Vec<Case> {
    let case = |size: u32| Case {
        platform: "drtm-cx3",
        series: "READ".into(),
        across: f64::from(size),
        bench: Bench::Verbs(VerbBench {
            nodes: 6,
            initiators: 1..6,
            targets: 0..1,
            threads: 8,
            window: 16,
            operate: Operate::Read(size),
            connections: Connections::OWN,
            seed: 1,
        }),
        value: Value::All,
        paper: match size {
            64 => {
                stated(26.3, "section 5.4, figure 10(a): 26.3 Mops", Some("nic.read_target_share"))
            }
            _ => None,
        },
    };
    [16, 32, 64, 128, 256, 512, 1024, 2048].map(case).into()
}

/// DrTM, section 6.3: the latency of an RDMA compare-and-swap, beside a READ's.
pub fn drtm_atomics() -> Vec<Case> {
    let case = |series: &str, operate, paper| Case {
        platform: "drtm-cx3",
        series: series.into(),
        across: 8.0,
        bench: Bench::Verbs(VerbBench {
            nodes: 2,
            initiators: 0..1,
            targets: 1..2,
            threads: 1,
            window: 1,
            operate,
            connections: Connections::OWN,
            seed: 1,
        }),
        value: Value::Latency,
        paper,
    };
    let place = "section 6.3: 14.5 us vs. 0.08 us";
    vec![
        case("CAS", Operate::CompareSwap, stated(14.5, place, Some("nic.atomic_latency"))),
        case("READ", Operate::Read(8), None),
    ]
}

/// SwitchTx, section 5.2: a round trip in the network, from thread to thread.
pub fn switchtx_round_trip() -> Vec<Case> {
    vec![Case {
        platform: "connectx5",
        series: "RPC".into(),
        across: 32.0,
        bench: Bench::Rpc(RpcBench::new(8, 1, 1)),
        value: Value::Latency,
        paper: stated(
            4.0,
            "section 5.2: the latency of a network round trip (4us)",
            Some("nic.stages"),
        ),
    }]
}

/// All figures, by the names of their experiments.
pub fn all() -> [(&'static str, Vec<Case>); 8] {
    [
        ("fasst-fig1", fasst_fig1()),
        ("fasst-fig2", fasst_fig2()),
        ("fasst-fig3", fasst_fig3()),
        ("fasst-fig4", fasst_fig4()),
        ("fasst-dct", fasst_dct()),
        ("drtm-fig10a", drtm_fig10a()),
        ("drtm-atomics", drtm_atomics()),
        ("switchtx-roundtrip", switchtx_round_trip()),
    ]
}
