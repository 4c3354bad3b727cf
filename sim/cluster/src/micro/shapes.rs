// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the texts say about orders and shapes of micro-figures, where only a picture has the numbers.

use super::figures::{Case, FIG4_STEPS};

/// A sentence of a paper, and whether it is so here.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The sentence and its place.
    pub says: &'static str,
    /// Whether it is so.
    pub holds: bool,
    /// The values that decide it.
    pub because: String,
}

/// The values of a figure, point by point.
struct Values<'v>(&'v [(Case, f64)]);

const CIB: &str = "connect-ib";
const CX3: &str = "connectx3";
const RPCS: [&str; 2] = ["RPC, batches of 1", "RPC, batches of 11"];

impl Values<'_> {
    fn at(&self, platform: &str, series: &str, across: f64) -> Option<f64> {
        let is_it = |case: &Case| {
            case.platform == platform && case.series == series && case.across == across
        };
        self.0.iter().find(|(case, _)| is_it(case)).map(|(_, value)| *value)
    }
}

/// What is said about the figure of these points. Which sentences there are hangs on the points alone, so
/// that runs can be compared; without the points that a sentence needs, it is left out.
pub fn shapes(measured: &[(Case, f64)]) -> Vec<Shape> {
    let values = Values(measured);
    let all = [
        fig1(&values),
        fig2(&values).unwrap_or_default(),
        fig3(&values).unwrap_or_default(),
        fig4(&values),
        dct(&values).unwrap_or_default(),
        atomics(&values).unwrap_or_default(),
    ];
    all.concat()
}

fn fig1(values: &Values<'_>) -> Vec<Shape> {
    let mut ratios = Vec::new();
    for (case, read) in values.0.iter().filter(|(case, _)| case.series == "READ") {
        let of = |series| values.at(case.platform, series, case.across);
        ratios.extend(RPCS.into_iter().filter_map(of).map(|rpc| (case.across, rpc / read)));
    }
    let large: Vec<f64> = ratios.iter().filter(|of| of.0 > 56.0).map(|of| of.1).collect();
    if large.is_empty() {
        return Vec::new();
    }
    let least = ratios.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
    let most = ratios.iter().map(|of| of.1).fold(0.0, f64::max);
    let ahead = large.iter().filter(|ratio| **ratio < 1.0).count();
    let because = format!(
        "RPCs reach {:.0} to {:.0} % of READs; beyond 56 bytes READs are ahead at {ahead} of {} points.",
        100.0 * least,
        100.0 * most,
        large.len()
    );
    vec![
        Shape {
            says: "\"In all cases (i.e., regardless of cluster used, response size, and request batch size), RPCs \
                   provide higher throughput than using 2 READs\" (FaSST, section 3.3.1).",
            holds: least > 0.5,
            because: because.clone(),
        },
        Shape {
            says: "\"For larger responses, READs usually outperform our RPCs, but the difference is smaller than 4x\" \
                   (FaSST, section 3.3.1).",
            holds: 2 * ahead > large.len() && large.iter().all(|ratio| *ratio > 0.25),
            because,
        },
    ]
}

fn fig2(values: &Values<'_>) -> Option<Vec<Shape>> {
    let of = |platform: &str| {
        let read = |nodes| values.at(platform, "READ", nodes);
        let fewest = values.at(platform, "READ, fewest nodes", 6.0)?;
        let rpc = values.at(platform, "RPC, batches of 11", 11.0)?;
        Some(([fewest, read(11.0)?, read(22.0)?, read(33.0)?, read(110.0)?], rpc))
    };
    let (cib, cx3) = (of(CIB)?, of(CX3)?);
    let text = |name: &str, ([six, eleven, more, most, last], rpc): ([f64; 5], f64)| {
        format!(
            "{name}: {six:.1}, {eleven:.1}, {more:.1}, {most:.1}, {last:.1} M/s with 6, 11, 22, 33, 110 nodes, RPCs \
             {rpc:.1}."
        )
    };
    let because = format!("{} {}", text("CIB", cib), text("CX3", cx3));
    let kept = |of: ([f64; 5], f64)| of.0[2] / of.0[0];
    let shape = |says, holds| Shape { says, holds, because: because.clone() };
    Some(vec![
        shape(
            "\"NIC cache misses occur with as few as 11 nodes\" (FaSST, section 3.3.2).",
            [cib, cx3].iter().all(|of| of.0[1] < of.0[0]),
        ),
        shape(
            "\"On CIB, READs lose their throughput advantage over RPCs on clusters with 33 or more nodes\" (FaSST, \
             section 3.3.2).",
            cib.0[2] > cib.1 && cib.0[3] < cib.1,
        ),
        shape(
            "\"The decline with Connect-IB NICs is more gradual than with ConnectX-3 NICs\" (FaSST, section 3.3.2).",
            kept(cib) > kept(cx3),
        ),
        shape(
            "\"On medium-sized clusters, if READs do not share QPs, RPCs provide 1.38x and 10.1x higher throughput on \
             CIB and CX3\" (FaSST, section 3.3): of a size that only the picture has, here one up to 110 nodes.",
            cib.1 / cib.0[4] >= 1.38 && cx3.1 / cx3.0[4] >= 10.1,
        ),
    ])
}

fn fig3(values: &Values<'_>) -> Option<Vec<Shape>> {
    let of = |threads| values.at(CIB, "READ", threads);
    let (alone, two, three) = (of(1.0)?, of(2.0)?, of(3.0)?);
    Some(vec![Shape {
        says: "Two threads that share queue pairs also have several times less each than one alone (FaSST, figure 3); \
               here at least two times less, and more than three threads have.",
        holds: alone > 2.0 * two && two > three,
        because: format!("{alone:.1}, {two:.1}, {three:.1} M/s with 1, 2, 3 threads."),
    }])
}

fn fig4(values: &Values<'_>) -> Vec<Shape> {
    let chain = |(platform, batch): (&'static str, f64)| -> Option<Vec<f64>> {
        let place = |step: usize| if step == 0 { 1.0 } else { batch };
        let of = |step: usize| values.at(platform, FIG4_STEPS[step], place(step));
        (0..FIG4_STEPS.len()).map(of).collect()
    };
    let all = [CIB, CX3].into_iter().flat_map(|platform| [(platform, 3.0), (platform, 11.0)]);
    let chains: Vec<Vec<f64>> = all.filter_map(chain).collect();
    let Some(first) = chains.first() else { return Vec::new() };
    let steps: Vec<String> = first.iter().map(|value| format!("{value:.2}")).collect();
    vec![Shape {
        says: "Each optimization adds to the throughput of a core (FaSST, section 4.5, figure 4).",
        holds: chains.iter().all(|chain| chain.is_sorted_by(|one, next| one < next)),
        because: format!("On CIB with batches of 3: {} M/s.", steps.join(", ")),
    }]
}

fn dct(values: &Values<'_>) -> Option<Vec<Shape>> {
    let plain = values.at(CIB, "connected", 32.0)?;
    let dynamic = values.at(CIB, "dynamically connected", 32.0)?;
    Some(vec![Shape {
        says: "It \"increases the number of packets associated with each RDMA request by around 1.5x\" (FaSST, section \
               7.1), which alone does not explain what is lost.",
        holds: dynamic < plain / 1.5,
        because: format!(
            "{dynamic:.1} M/s instead of {plain:.1}; a third less would be {:.1}.",
            plain / 1.5
        ),
    }])
}

fn atomics(values: &Values<'_>) -> Option<Vec<Shape>> {
    let (swap, read) = (values.at("drtm-cx3", "CAS", 8.0)?, values.at("drtm-cx3", "READ", 8.0)?);
    Some(vec![Shape {
        says: "\"the current performance of RDMA CAS is two orders of magnitude slower than the local counterpart (14.5 \
               us vs. 0.08 us)\" (DrTM, section 6.3).",
        holds: swap > 100.0 * 0.08,
        because: format!("{swap:.1} us; a READ takes {read:.1} us."),
    }])
}
