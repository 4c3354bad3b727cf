// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object store: O(1, 0), O(4, 0) and O(4, 2) on both clusters.

use cluster_sim::run::{Report, Workload};
use timing::Time;

use super::clusters::{CIB, CX3, Cluster};
use super::macros::{
    Point, Sample, binding_note, messages, of_machine, parameters, report, row, use_of_binding,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper, Plot, Row};
use crate::samples::Samples;

const NODES: u16 = 11;
const WORKERS: u8 = 19;
const NEAR: f64 = 0.15;

const fn paper(value: f64, place: &'static str) -> Paper {
    Paper::number(value, place).within(NEAR)
}

const CX3_1_0: Paper = paper(
    11.0,
    "Section 6.1: \"With O(1, 0) FaSST achieves 11.0 million transactions per second (Mtps) per machine on CX3.\"",
);
const CIB_1_0: Paper =
    paper(32.3, "Section 6.1: \"On CIB, FaSST achieves 32.3 Mtps/machine and is CPU-limited.\"");
const CIB_4_0_RPC: Paper = paper(
    37.9,
    "Section 6.1: \"FaSST's RPC request rate increases from 32.3 Mrps with O(1, 0) to 37.9 Mrps with O(4, 0)\".",
);
const CX3_4_2: Paper = paper(
    0.78,
    "Section 6.1: \"in O(4, 2), FaSST achieves 0.78 and 2.3 Mtps/machine on CX3 and CIB, respectively.\"",
);
const CIB_4_2: Paper = paper(
    2.3,
    "Section 6.1: \"in O(4, 2), FaSST achieves 0.78 and 2.3 Mtps/machine on CX3 and CIB, respectively.\"",
);

const CX3_1_0_RPC: Paper = paper(
    11.0,
    "Section 6.1: \"this throughput corresponds to 11.0 million RPC requests per second (Mrps)\".",
);
const CIB_1_0_RPC: Paper = paper(
    32.3,
    "Section 6.1: \"FaSST's RPC request rate increases from 32.3 Mrps with O(1, 0) to 37.9 Mrps with O(4, 0)\".",
);

/// All that the text gives.
pub const PAPER: [Paper; 7] =
    [CX3_1_0, CIB_1_0, CX3_1_0_RPC, CIB_1_0_RPC, CIB_4_0_RPC, CX3_4_2, CIB_4_2];

const STORES: [(&str, u8, u8); 3] = [("O(1,0)", 1, 0), ("O(4,0)", 4, 0), ("O(4,2)", 4, 2)];

fn point(cluster: Cluster, (name, reads, writes): (&'static str, u8, u8)) -> Point {
    let store =
        Workload::ObjectStore { reads, writes, keys_per_thread: 1_000_000, value_bytes: 40 };
    // Several times the latency of a transaction, which is 200 us for O(4, 2) on CX3.
    let duration = match (reads, writes) {
        (1, _) => Time::from_us(120),
        (_, 0) => Time::from_us(300),
        _ => Time::from_us(600),
    };
    Point { cluster, nodes: NODES, workers: WORKERS, workload: (name, store), duration }
}

fn points() -> Vec<Point> {
    [CX3, CIB].into_iter().flat_map(|cluster| STORES.map(|store| point(cluster, store))).collect()
}

/// Runs each store on each cluster.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let all = points();
    let samples = Samples::take_points(setting, &all, report)?;
    let rates: Vec<Row> = all.iter().map(|point| rate_row(&samples, *point)).collect();
    let others = all.iter().flat_map(|point| {
        let [sent, by_hand] = messages(&samples, *point);
        let busy = row(&samples, *point, ("use of what binds", "%"), use_of_binding);
        [sent, by_hand, busy]
    });
    let mut of = parameters(&[CX3, CIB]);
    of.push(("machines", format!("{NODES}, with {WORKERS} workers a thread")));
    of.push((
        "objects",
        "1 M keys a thread, values of 40 B, primaries of a transaction apart".into(),
    ));
    Ok(Findings {
        parameters: of,
        rows: rates.iter().cloned().chain(rpc_rows(&samples)).chain(others).collect(),
        claims: claims(&samples),
        notes: vec![
            binding_note(&samples, &all),
            "RPCs are requests to other machines. Here a transaction asks its own machine, for one key in \
             eleven, without a message, so that there are eleven transactions of O(1, 0) for ten RPCs; the \
             paper has one RPC for each. The rates of RPCs are to be compared. The number of machines of the paper's figure is not in its \
             text; eleven are those of its micro-benchmarks."
                .into(),
            "FaRM's and DrTM+R's values are in the paper's picture alone, and neither is built here: \
             not measured."
                .into(),
        ],
        plots: vec![Plot::Bars { along: "transactions a second of a machine, M", rows: rates }],
        ..Findings::default()
    })
}

fn rate_row(samples: &Samples<Sample>, at: Point) -> Row {
    let paper = match (at.cluster.name, at.workload.0) {
        ("CX3", "O(1,0)") => Some(CX3_1_0),
        ("CIB", "O(1,0)") => Some(CIB_1_0),
        ("CX3", "O(4,2)") => Some(CX3_4_2),
        ("CIB", "O(4,2)") => Some(CIB_4_2),
        _ => None,
    };
    row(samples, at, ("", "M/s"), of_machine).beside(paper)
}

/// Requests a second of a machine, in millions: half of all messages.
fn requests(report: &Report) -> f64 {
    of_machine(report) * report.messages() / 2.0
}

fn rpc_rows(samples: &Samples<Sample>) -> [Row; 3] {
    let of = |at: Point, paper| {
        row(samples, at, ("RPCs of a machine", "M/s"), requests).beside(Some(paper))
    };
    [
        of(point(CX3, STORES[0]), CX3_1_0_RPC),
        of(point(CIB, STORES[0]), CIB_1_0_RPC),
        of(point(CIB, STORES[1]), CIB_4_0_RPC),
    ]
}

fn binds(report: &Report, what: &str) -> bool {
    report.binding().is_some_and(|of| of.name.contains(what))
}

fn claims(samples: &Samples<Sample>) -> Vec<Claim> {
    let said = |at: Point| {
        let name = samples
            .first(|run| run.at(&at).binding().map_or("nothing".to_owned(), |of| of.name.clone()));
        let busy = samples.spread(|run| use_of_binding(run.at(&at)));
        format!("The busiest resource is {name}, {busy:.0} % of the time.")
    };
    let bound = |says: &str, at: Point, what: &'static str| {
        samples.claim(Origin::Paper, says, |run| binds(run.at(&at), what), said(at))
    };
    let [cx3, cib] = [CX3, CIB].map(|cluster| STORES.map(|store| point(cluster, store)));
    let rpcs = |at: Point| samples.spread(|run| requests(run.at(&at)));
    vec![
        bound("\"FaSST is bottlenecked by the ConnectX-3 NIC\" with O(1, 0) (section 6.1).", cx3[0], "NIC"),
        bound("O(1, 0) on CIB \"is CPU-limited\" (section 6.1).", cib[0], "host cores"),
        bound("\"FaSST is NIC-limited on CX3\" with O(4, 2) (section 6.1).", cx3[2], "NIC"),
        bound("\"On CIB, the bottleneck shifts to CPU again\" with O(4, 2) (section 6.1).", cib[2], "host cores"),
        samples.claim(
            Origin::Paper,
            "Request batching raises the rate of RPCs on CIB from O(1, 0) to O(4, 0) (section 6.1).",
            |run| requests(run.at(&cib[1])) > requests(run.at(&cib[0])),
            format!("{:.1} against {:.1} M RPC/s.", rpcs(cib[1]), rpcs(cib[0])),
        ),
    ]
}
