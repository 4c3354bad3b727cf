// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fewest threads of host and NIC with which each system keeps its throughput.

use super::systems::{
    Load, NEW_ORDER, Own, Point, RETWIS, SMALL_BANK, Sample, System, binding, parameters, rate,
    report,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{
    Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point as Place, Row, Stroke,
};
use crate::samples::Samples;

/// Of the maximum, at least (section 5.6).
const KEPT: f64 = 0.95;
/// A thread of the NIC, in threads of the host (section 5.6, by Coremark).
const NIC_THREAD: f64 = 0.31;

const TABLE: &str = "Section 5.6, table 3.";
const fn of_table(value: f64) -> Paper {
    Paper::number(value, TABLE)
}

/// A line of the table.
struct Line {
    load: Load,
    /// Transactions under way a server, of Xenic and of its rivals: those of the peaks of figure 8.
    under_way: [u16; 2],
    /// Host threads that begin transactions, and those that apply records, that are tried.
    applications: &'static [u8],
    log_workers: &'static [u8],
    /// The paper's: normalised, host, NIC, DrTM+H, FaSST.
    paper: [f64; 5],
}

const LINES: [Line; 3] = [
    Line {
        load: NEW_ORDER,
        under_way: [32, 128],
        applications: &[16, 8, 6, 4, 3, 2, 1],
        log_workers: &[16, 14, 12, 11, 10, 9, 8, 6],
        paper: [21.7, 18.0, 12.0, 24.0, 32.0],
    },
    Line {
        load: RETWIS,
        under_way: [512, 256],
        applications: &[8, 6, 5, 4, 3, 2],
        log_workers: &[8, 6, 5, 4, 3, 2, 1],
        paper: [9.9, 5.0, 16.0, 18.0, 24.0],
    },
    Line {
        load: SMALL_BANK,
        under_way: [512, 256],
        applications: &[8, 6, 5, 4, 3, 2],
        log_workers: &[8, 6, 5, 4, 3, 2, 1],
        paper: [9.9, 5.0, 16.0, 20.0, 28.0],
    },
];
const CORES: [u8; 9] = [24, 20, 16, 12, 10, 9, 8, 7, 6];
const THREADS: [u8; 11] = [32, 28, 24, 20, 18, 17, 16, 15, 14, 12, 8];

/// All that the table has.
pub const PAPER: [Paper; 15] = {
    let mut all = [of_table(0.0); 15];
    let mut at = 0;
    while at < 15 {
        all[at] = of_table(LINES[at / 5].paper[at % 5]);
        at += 1;
    }
    all
};

/// A kind of thread of which there are fewer and fewer, all others as many as at most.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Applications,
    LogWorkers,
    Nic,
    Rival(System),
}

impl Of {
    const ALL: [Self; 5] = [
        Self::Applications,
        Self::LogWorkers,
        Self::Nic,
        Self::Rival(System::DrtmH),
        Self::Rival(System::Fasst),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Applications => "Xenic, application threads",
            Self::LogWorkers => "Xenic, log workers",
            Self::Nic => "Xenic, NIC threads",
            Self::Rival(system) => system.name(),
        }
    }

    fn tried(self, line: &Line) -> &'static [u8] {
        match self {
            Self::Applications => line.applications,
            Self::LogWorkers => line.log_workers,
            Self::Nic => &CORES,
            Self::Rival(_) => &THREADS,
        }
    }

    /// With so many of it. There are as many transactions under way, whatever has them, up to what a thread can have.
    fn point(self, line: &Line, count: u8) -> Point {
        let at = |threads: u8, under_way: u16, most: u16| {
            let each = (under_way + u16::from(threads) / 2) / u16::from(threads);
            (threads, each.clamp(1, most) as u8)
        };
        let [xenic, rivals] = line.under_way;
        let usual = Point::new(System::Xenic, line.load, at(8, xenic, 255));
        match self {
            Self::Applications => Point { at: at(count, xenic, 255), ..usual },
            Self::LogWorkers => Point { own: Own { log_workers: count, ..usual.own }, ..usual },
            Self::Nic => Point { own: Own { nic_cores: count, ..usual.own }, ..usual },
            Self::Rival(system) => Point::new(system, line.load, at(count, rivals, 64)),
        }
    }
}

/// A series of runs: counts of threads, and what each has.
struct Series {
    of: Of,
    points: Vec<(u8, Point)>,
}

/// The fewest threads with at least [`KEPT`] of the greatest rate.
fn fewest(rates: &[(u8, f64)]) -> u8 {
    let most = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let keep = rates.iter().filter(|(_, rate)| *rate >= KEPT * most).map(|(count, _)| *count);
    keep.min().unwrap_or(0)
}

impl Series {
    fn fewest(&self, run: &Sample) -> u8 {
        let rates: Vec<(u8, f64)> =
            self.points.iter().map(|(count, point)| (*count, rate(run.at(point)))).collect();
        fewest(&rates)
    }
}

type Taken = Samples<Sample>;

/// Takes threads away, of one kind after the other, and then of all kinds together.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    // Enough to see that all works, or how far the table hangs on an assumption.
    let is_few = |place: usize, all: usize| match (setting.scale < 0.1, setting.only_headlines) {
        (true, _) => place == 0,
        (_, true) => place.is_multiple_of(2) || place + 1 == all,
        _ => true,
    };
    let series = |line: &'static Line| {
        let of_kind = |of: Of| {
            let tried = of.tried(line);
            let chosen = tried.iter().enumerate().filter(|(place, _)| is_few(*place, tried.len()));
            let points = chosen.map(|(_, count)| (*count, of.point(line, *count))).collect();
            Series { of, points }
        };
        (line, Of::ALL.map(of_kind))
    };
    let lines = if setting.only_headlines { &LINES[2..] } else { &LINES[..] };
    let all: Vec<(&Line, [Series; 5])> = lines.iter().map(series).collect();
    let points: Vec<Point> =
        all.iter().flat_map(|(_, of)| of).flat_map(|of| of.points.iter().map(|at| at.1)).collect();
    let samples = Samples::take_points(setting, &points, report)?;
    let together: Vec<Point> = all.iter().map(|(line, of)| together(&samples, line, of)).collect();
    let after = Samples::take_points(setting, &together, report)?;
    let mut rows = Vec::new();
    for (line, of) in &all {
        rows.extend(headlines(&samples, line, of));
    }
    let curves =
        all.iter().flat_map(|(line, of)| of.iter().flat_map(|of| curve(&samples, line, of)));
    rows.extend(curves);
    let mut of = parameters(LINES[0].load);
    of.retain(|(name, _)| *name != "workload");
    let under_way: Vec<String> = LINES
        .iter()
        .map(|line| {
            let [xenic, rivals] = line.under_way;
            format!("{}: {xenic} on Xenic, {rivals} on the others", line.load.name)
        })
        .collect();
    of.push(("under way a server", under_way.join("; ")));
    Ok(Findings {
        parameters: of,
        rows,
        claims: claims(&samples, &all),
        notes: vec![
            binding_note(&samples, &all),
            kept_note(&samples, &after, &all, &together),
            NOTE.into(),
        ],
        plots: all.iter().map(|(line, of)| plot(&samples, line, of)).collect(),
        ..Findings::default()
    })
}

const NOTE: &str = "One kind of thread is taken away at a time, the others stay as many as at most, as in the paper. \
     Both processors are modelled by two numbers of the paper's \
     table 1: up to 7.6 busy threads of a NIC, and 16.2 of a host, do not slow each other down, and more share that. \
     So where a processor binds, its fewest threads lie near these numbers, whatever the system.";

fn together(samples: &Taken, line: &Line, of: &[Series; 5]) -> Point {
    let fewest = |kind: Of| {
        let found = of.iter().find(|of| of.of == kind).expect("all kinds are there");
        samples.first(|run| found.fewest(run))
    };
    let applications = Of::Applications.point(line, fewest(Of::Applications));
    let own =
        Own { log_workers: fewest(Of::LogWorkers), nic_cores: fewest(Of::Nic), ..applications.own };
    Point { own, ..applications }
}

/// Threads of Xenic's host and NIC, and both in threads of the host.
fn xenic_threads(run: &Sample, of: &[Series; 5]) -> [f64; 3] {
    let [applications, workers, nic] =
        [0, 1, 2].map(|place: usize| f64::from(of[place].fewest(run)));
    [NIC_THREAD.mul_add(nic, applications + workers), applications + workers, nic]
}

fn committed(run: &Sample, of: &Series) -> u64 {
    of.points.iter().map(|(_, point)| run.at(point).committed).sum()
}

fn headlines(samples: &Taken, line: &Line, of: &[Series; 5]) -> Vec<Row> {
    let row = |what: String, series: &Series, count: &dyn Fn(&Sample) -> f64| {
        let label = format!("{}: {what}", line.load.name);
        samples.row(label, ("threads", "transactions"), |run| {
            let any = run.at(&series.points[0].1);
            any.value(|_| (count(run), committed(run, series)))
        })
    };
    let xenic = ["Xenic, normalised", "Xenic, host threads", "Xenic, NIC threads, fewest"];
    let mut rows: Vec<Row> = xenic
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let row = row((*name).into(), &of[place], &|run| xenic_threads(run, of)[place]);
            row.beside(Some(of_table(line.paper[place])))
        })
        .collect();
    for series in &of[..2] {
        let name = format!("{}, fewest", series.of.name());
        rows.push(row(name, series, &|run| series.fewest(run).into()));
    }
    for (place, series) in of.iter().enumerate().skip(3) {
        let row = row(series.of.name().into(), series, &|run| series.fewest(run).into());
        rows.push(row.beside(Some(of_table(line.paper[place]))));
    }
    rows
}

/// What is left with all kinds at their fewest. A sentence, since the counts are those of the first seed.
fn kept_note(samples: &Taken, after: &Taken, all: &[(&Line, [Series; 5])], at: &[Point]) -> String {
    let kept = |((line, of), at): (&(&Line, [Series; 5]), &Point)| {
        let points = || of[..3].iter().flat_map(|of| &of.points);
        let most =
            samples.first(|run| points().map(|(_, at)| rate(run.at(at))).fold(0.0, f64::max));
        let left = after.first(|run| rate(run.at(at)));
        format!("{} {:.0} %", line.load.name, 100.0 * left / most)
    };
    let kept: Vec<String> = all.iter().zip(at).map(kept).collect();
    format!(
        "With all kinds of threads at their fewest, under the first seed, is left of the greatest: {}.",
        kept.join(", ")
    )
}

fn curve(samples: &Taken, line: &Line, of: &Series) -> Vec<Row> {
    let name = format!("{}: {}", line.load.name, of.of.name());
    let row = |(count, point): &(u8, Point)| {
        let row = samples.row(format!("{name}, {count}"), ("M/s", "transactions"), |run| {
            run.at(point).value(|report| (rate(report), report.committed))
        });
        row.at(name.clone(), "threads", (*count).into())
    };
    of.points.iter().map(row).collect()
}

fn plot(samples: &Taken, line: &Line, of: &[Series; 5]) -> Plot {
    let curve = |of: &Series| {
        let (colour, stroke) = match of.of {
            Of::Nic => (Colour::Device, Stroke::Solid),
            Of::Applications => (Colour::Device, Stroke::DASHED),
            Of::LogWorkers => (Colour::Device, Stroke::DOTTED),
            Of::Rival(System::DrtmH) => (Colour::Rival, Stroke::Solid),
            Of::Rival(_) => (Colour::Host, Stroke::Solid),
        };
        let place = |(count, point): &(u8, Point)| {
            Place::measured((*count).into(), samples.spread(|run| rate(run.at(point))))
        };
        let name = format!("{}: {}", line.load.name, of.of.name());
        Curve { name, colour, stroke, points: of.points.iter().map(place).collect() }
    };
    Plot::Lines {
        across: "threads",
        up: "transactions a second of a server, M",
        curves: of.iter().map(curve).collect(),
    }
}

fn binding_note(samples: &Taken, all: &[(&Line, [Series; 5])]) -> String {
    let each = |(line, of): &(&Line, [Series; 5])| {
        let ends = |of: &Series| {
            samples.first(|run| {
                let fewest = of.fewest(run);
                let at = |count: u8| {
                    let found = of.points.iter().find(|(of, _)| *of == count);
                    found.map_or("nothing".into(), |(_, point)| binding(run.at(point)))
                };
                let most = of.points.iter().map(|(count, _)| *count).max().unwrap_or(0);
                format!("{}: {} with {most}, {} with {fewest}", of.of.name(), at(most), at(fewest))
            })
        };
        let of: Vec<String> = of.iter().map(ends).collect();
        format!("{}: {}", line.load.name, of.join("; "))
    };
    let all: Vec<String> = all.iter().map(each).collect();
    format!("What binds with most and with fewest threads: {}.", all.join(". "))
}

fn claims(samples: &Taken, all: &[(&Line, [Series; 5])]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (line, of) in all {
        let saved = |run: &Sample, rival: usize| {
            f64::from(of[rival].fewest(run)) - xenic_threads(run, of)[0]
        };
        let [drtm_h, fasst] = [3, 4].map(|rival| samples.spread(|run| saved(run, rival)));
        let paper = line.paper[3] - line.paper[0];
        claims.push(samples.claim(
            Origin::Paper,
            format!(
                "{}: \"Xenic achieves [...] core savings relative to FaSST and DrTM+H\" (section 5.6).",
                line.load.name
            ),
            |run| saved(run, 3) > 0.0 && saved(run, 4) > 0.0,
            format!(
                "{drtm_h:.1} threads of the host fewer than DrTM+H, and {fasst:.1} fewer than FaSST; the paper has \
                 {paper:.1} fewer than DrTM+H."
            ),
        ));
    }
    let of = |name: &str| all.iter().find(|(line, _)| line.load.name == name);
    let named = [NEW_ORDER, RETWIS, SMALL_BANK].map(|load| of(load.name));
    if let [Some((_, order)), Some((_, retwis)), Some((_, bank))] = named {
        let numbers = |place: usize| {
            [order, retwis, bank].map(|of| samples.spread(|run| xenic_threads(run, of)[place]))
        };
        let [host, nic] = [1, 2].map(|place| {
            let [order, retwis, bank] = numbers(place);
            format!("{order:.0} for new-orders, {retwis:.0} for Retwis, {bank:.0} for SmallBank")
        });
        claims.push(samples.claim(
            Origin::Paper,
            "\"TPC-C instead shows higher host utilization\" (section 5.6): more host threads than Retwis and SmallBank.",
            |run| {
                let [order, retwis, bank] = [order, retwis, bank].map(|of| xenic_threads(run, of)[1]);
                order > retwis && order > bank
            },
            format!("{host}."),
        ));
        claims.push(samples.claim(
            Origin::Paper,
            "\"Smallbank and Retwis offload all execution to the NIC, resulting in higher NIC utilization\" (section 5.6): \
             more NIC threads than new-orders.",
            |run| {
                let [order, retwis, bank] = [order, retwis, bank].map(|of| xenic_threads(run, of)[2]);
                order < retwis && order < bank
            },
            format!("{nic}."),
        ));
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::super::systems::NIC_CORES;
    use super::*;

    #[test]
    fn the_fewest_threads_keep_95_of_100() {
        assert_eq!(fewest(&[(24, 1.0), (16, 0.96), (8, 0.949), (4, 0.5)]), 16);
        // Fewer can be faster, and the greatest counts.
        assert_eq!(fewest(&[(24, 0.9), (16, 1.0), (8, 0.96), (4, 0.94)]), 8);
        assert_eq!(fewest(&[(24, 1.0), (16, 0.95)]), 16, "95 of 100 are enough");
    }

    #[test]
    fn fewer_threads_have_as_many_transactions_under_way() {
        for line in &LINES {
            for of in Of::ALL {
                for count in of.tried(line) {
                    let point = of.point(line, *count);
                    let under_way = u16::from(point.at.0) * u16::from(point.at.1);
                    let wanted = line.under_way[usize::from(point.system != System::Xenic)];
                    let apart = wanted.abs_diff(under_way);
                    assert!(apart <= wanted / 8, "{point}: {under_way} of {wanted}");
                    assert!(point.own.nic_cores <= NIC_CORES);
                }
            }
            assert!(Of::ALL.iter().all(|of| of.tried(line).is_sorted_by(|one, other| one > other)));
        }
    }
}
