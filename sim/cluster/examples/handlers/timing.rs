// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times of parts of handlers: ten runs of each, in time of the thread (`CLOCK_THREAD_CPUTIME_ID`), so that what
//! other programs take of the processor is not counted; what they take of its caches is.

use rustix::time::{ClockId, clock_gettime};

pub const RUNS: usize = 10;
/// Operations of a run.
pub const TIMES: u64 = 100_000;

/// How much longer a line takes on the targets that comes from memory: judged.
pub const MEMORY: [f64; 2] = [0.75, 4.0 / 3.0];

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
/// The least, the median and the most.
pub type Three = [f64; 3];

pub fn print_head() {
    println!("{:<25}{:>9}{:>9}{:>9}  ns, of {RUNS} runs of {TIMES}", "", "least", "median", "most");
}

/// The least, the median and the most nanoseconds of one operation.
pub fn timed(name: &str, mut operation: impl FnMut(u64)) -> Three {
    runs(name, |run| {
        let first = run * TIMES;
        let begin = now();
        (first..first + TIMES).for_each(&mut operation);
        (now() - begin) / TIMES as f64
    })
}

/// The same of runs that say themselves how long one operation has taken.
pub fn runs(name: &str, run: impl FnMut(u64) -> f64) -> Three {
    let mut runs: Vec<f64> = (0..RUNS as u64).map(run).collect();
    runs.sort_by(f64::total_cmp);
    let found = [runs[0], f64::midpoint(runs[RUNS / 2 - 1], runs[RUNS / 2]), runs[RUNS - 1]];
    let [least, median, most] = found;
    println!("{name:<25}{least:>9.1}{median:>9.1}{most:>9.1}");
    found
}

/// What this thread has had of a processor, in nanoseconds.
pub fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

pub fn less(time: Three, part: f64) -> Three {
    time.map(|time| (time - part).max(0.0))
}

/// The median of the workloads' medians, and the least and the most of all.
pub fn over(mut workloads: [Three; 3]) -> Three {
    workloads.sort_by(|one, other| one[1].total_cmp(&other[1]));
    let least = workloads.iter().map(|found| found[0]).fold(f64::INFINITY, f64::min);
    let most = workloads.iter().map(|found| found[2]).fold(0.0, f64::max);
    [least, workloads[1][1], most]
}

/// The rule: the median times the geometric mean of the ratios, the least times the least, the most times
/// the greatest.
pub fn entry(name: &str, core: Three, ratio: [f64; 2], memory: Three) {
    let ratios = |[least, greatest]: [f64; 2]| [least, (least * greatest).sqrt(), greatest];
    let (of_core, of_memory) = (ratios(ratio), ratios(MEMORY));
    let at = |place: usize| core[place] * of_core[place] + memory[place] * of_memory[place];
    let [a, b, c] = core;
    let [d, e, f] = memory;
    println!(
        "{name:<16}{a:.1} {b:.1} {c:.1} and {d:.1} {e:.1} {f:.1}; {:.1} [{:.1}, {:.1}]",
        at(1),
        at(0),
        at(2)
    );
}
