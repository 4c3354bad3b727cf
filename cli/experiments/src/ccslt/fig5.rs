// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figure 5 of the ccSLT paper: what the device pays for 64 bytes and for 8 KiB of the host's
//! memory, over CCIX and over PCIe.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::coherence::{
    CoherenceEvent, CoherentMemory, Completion, LINE_BYTES, Notification, Operation,
};
use timing::dma::{DmaEngine, Transfer};
use timing::platform::Platform;
use timing::{Kernel, Priority, Time};

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper, Plot};
use crate::samples::{Measured, Run, Samples, scaled_count};

pub const LOCAL: Paper = Paper::range(
    80.0,
    100.0,
    "section 4, experiment 2: \"CCIX-internal pre-fetching allows the device to work on \
            local cache, achieving 80-100ns\"",
);
pub const MISS: Paper = Paper::number(
    800.0,
    "section 4, experiment 2: \"cache-miss latencies for non-local atomic read/write … \
            consistent with the device latency of 800ns\"",
);

/// A lock table, in the host's system level cache.
const TABLE: u64 = 4 << 20;
/// Database pages, in the host's DRAM.
const PAGES: u64 = 64 << 20;
const PAGE: u64 = 8 << 10;
/// Accesses behind each value.
const ACCESSES: u64 = 4_000;
/// Pages behind each value.
const PAGES_READ: u64 = 200;

pub const CCIX: &str = "n1sdp-u280-ccix";
pub const PCIE: &str = "pcie-gen3";

/// A mean time.
#[derive(Clone, Copy, Debug)]
struct Mean {
    ns: f64,
    /// How many transfers it is of.
    of: u64,
}

struct Sample {
    local: Measured<Mean>,
    atomic: Measured<Mean>,
    read: Measured<Mean>,
    page_in_a_row: Measured<Mean>,
    page_at_once: Measured<Mean>,
    dma_read: Measured<Mean>,
    dma_write: Measured<Mean>,
    page_dma_read: Measured<Mean>,
    page_dma_write: Measured<Mean>,
}

/// Measures all transfers.
///
/// # Errors
/// When the memory refuses an access.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let (accesses, pages) =
        (scaled_count(ACCESSES, setting.scale), scaled_count(PAGES_READ, setting.scale));
    let samples = Samples::take(setting, sample)?;
    let row = |label, of: fn(&Sample) -> &Measured<Mean>| {
        samples
            .row(label, ("ns", "transfers"), |sample| of(sample).value(|mean| (mean.ns, mean.of)))
    };
    let rows = vec![
        row("64 B, CCIX, read in sequence", |ns| &ns.local).beside(Some(LOCAL)),
        row("64 B, CCIX, atomic anywhere", |ns| &ns.atomic).beside(Some(MISS)),
        row("64 B, CCIX, read anywhere", |ns| &ns.read),
        row("64 B, PCIe, DMA read", |ns| &ns.dma_read),
        row("64 B, PCIe, DMA write", |ns| &ns.dma_write),
        row("8 KiB, CCIX, line after line", |ns| &ns.page_in_a_row),
        row("8 KiB, CCIX, all lines at once", |ns| &ns.page_at_once),
        row("8 KiB, PCIe, DMA read", |ns| &ns.page_dma_read),
        row("8 KiB, PCIe, DMA write", |ns| &ns.page_dma_write),
    ];
    Ok(Findings {
        parameters: vec![
            ("64 B", format!("{accesses} accesses one after another, in a table of 4 MiB")),
            ("8 KiB", format!("{pages} pages of 64 MiB in DRAM, drawn at random")),
        ],
        claims: claims(&samples),
        notes: vec![
            pages_note(&samples),
            "The paper's text gives no number for PCIe: its bars are in the figure alone, so \
             that column is empty."
                .into(),
            "A DMA transfer is started by the device. What software has to do to keep such a \
             copy right is not counted."
                .into(),
        ],
        plots: vec![Plot::Bars { along: "mean time of one transfer, ns", rows: rows.clone() }],
        rows,
        ..Findings::default()
    })
}

fn sample(run: &Run<'_>) -> Result<Sample, ExperimentError> {
    let accesses = run.scaled_count(ACCESSES);
    let mut random = ChaCha8Rng::seed_from_u64(run.seed);

    run.progress(0.0, "lines over CCIX");
    let lines = TABLE / LINE_BYTES;
    let mut in_a_row = (0..accesses).map(|number| read_line(number % lines * LINE_BYTES));
    let anywhere: Vec<u64> =
        (0..accesses).map(|_| random.random_range(0..lines) * LINE_BYTES).collect();
    let mut reads = anywhere.iter().map(|&address| read_line(address));
    let swap = |&address: &u64| Operation::CompareSwap { address, expected: 0, new: 0 };
    let lines = |operations: &mut dyn Iterator<Item = Operation>| {
        run.measured(CCIX, |ccix| DeviceRun::new(ccix, TABLE)?.one_by_one(operations))
    };
    let local = lines(&mut in_a_row)?;
    let read = lines(&mut reads)?;
    let atomic = lines(&mut anywhere.iter().map(swap))?;

    run.progress(0.5, "pages over CCIX");
    let pages: Vec<u64> = (0..run.scaled_count(PAGES_READ))
        .map(|_| random.random_range(0..PAGES / PAGE) * PAGE)
        .collect();
    let dma = |bytes: u64, transfer: fn(&mut DmaEngine, Time, u64) -> Transfer| {
        run.measured(PCIE, |pcie| {
            let mut engine = DmaEngine::new(pcie).expect("the platform has DMA");
            let done = transfer(&mut engine, Time::ZERO, bytes);
            // It has no draws, so that one tells all.
            Ok(Mean { ns: (done.completed - done.issued).as_ns_f64(), of: 1 })
        })
    };
    Ok(Sample {
        local,
        atomic,
        read,
        page_in_a_row: run
            .measured(CCIX, |ccix| DeviceRun::new(ccix, PAGES)?.pages_line_by_line(&pages))?,
        page_at_once: run
            .measured(CCIX, |ccix| DeviceRun::new(ccix, PAGES)?.pages_at_once(&pages))?,
        dma_read: dma(64, DmaEngine::read)?,
        dma_write: dma(64, DmaEngine::write)?,
        page_dma_read: dma(PAGE, DmaEngine::read)?,
        page_dma_write: dma(PAGE, DmaEngine::write)?,
    })
}

fn pages_note(samples: &Samples<Sample>) -> String {
    format!(
        "For 8 KiB the text makes no claim. Here {} ns with all lines under way at once stand \
         against {} ns of DMA: the wire is the same, the DMA engine has to be told first, but \
         each coherent line pays for a packet of its own. Line after line it takes {} ns: 128 \
         hits of the device's cache, one after another.",
        samples.spread(|ns| ns.page_at_once.ns),
        samples.spread(|ns| ns.page_dma_read.ns),
        samples.spread(|ns| ns.page_in_a_row.ns)
    )
}

fn claims(samples: &Samples<Sample>) -> Vec<Claim> {
    let ns = |of: fn(&Sample) -> f64| samples.spread(of);
    let [local, read] = [ns(|ns| ns.local.ns), ns(|ns| ns.read.ns)];
    vec![
        samples.claim(
            Origin::Paper,
            "\"CCIX provides excellent latencies (80-100ns) for small granularity (64B) accesses\" \
             (section 4).",
            |ns| LOCAL.agrees_with(ns.local.ns),
            format!(
                "{local} ns on average when lines are read in sequence, so that they have been \
                 fetched ahead; {read} ns anywhere."
            ),
        ),
        samples.claim(
            Origin::Paper,
            "Cache misses are \"consistent with the device latency of 800ns in experiment 1\" \
             (section 4).",
            |ns| MISS.agrees_with(ns.atomic.ns),
            format!("{} ns for a compare-and-swap at the home agent.", ns(|ns| ns.atomic.ns)),
        ),
        samples.claim(
            Origin::Paper,
            "\"the benefit of using the latency-optimized CCIX\" over PCIe (section 4), for 64 B \
             read by the device.",
            |ns| ns.local.ns < ns.dma_read.ns && ns.read.ns < ns.dma_read.ns,
            format!(
                "{local} to {read} ns against {} ns for a DMA engine, which has to be told first. \
                 A DMA write, which nobody answers, takes {} ns.",
                ns(|ns| ns.dma_read.ns),
                ns(|ns| ns.dma_write.ns)
            ),
        ),
    ]
}

fn read_line(address: u64) -> Operation {
    Operation::ReadLine { address, keep_copy: true }
}

/// The device's request agent in front of private memory.
struct DeviceRun {
    kernel: Kernel<CoherenceEvent>,
    memory: CoherentMemory,
}

impl DeviceRun {
    fn new(platform: &Platform, bytes: u64) -> Result<Self, ExperimentError> {
        let mut memory = CoherentMemory::placed_by_platform(platform, 0, bytes)?;
        memory.warm_memory_caches();
        Ok(Self { kernel: Kernel::new(), memory })
    }

    /// Makes all operations, each after the one before; their mean time.
    fn one_by_one(
        &mut self,
        operations: impl Iterator<Item = Operation>,
    ) -> Result<Mean, ExperimentError> {
        let (mut count, mut took) = (0_u64, Time::ZERO);
        for operation in operations {
            self.submit(operation)?;
            let done = self.next_completion();
            took += done.completed - done.issued;
            count += 1;
        }
        Ok(Mean { ns: took.as_ns_f64() / count as f64, of: count })
    }

    /// Reads whole pages, each line after the one before; the mean time of a page.
    fn pages_line_by_line(&mut self, pages: &[u64]) -> Result<Mean, ExperimentError> {
        let lines = pages.iter().flat_map(|&page| lines_of(page));
        let line = self.one_by_one(lines)?;
        Ok(Mean { ns: line.ns * (PAGE / LINE_BYTES) as f64, of: pages.len() as u64 })
    }

    /// Reads whole pages one after another, all lines of one under way together; the mean time of
    /// a page.
    fn pages_at_once(&mut self, pages: &[u64]) -> Result<Mean, ExperimentError> {
        let mut took = Time::ZERO;
        for &page in pages {
            let began = self.kernel.now();
            lines_of(page).try_for_each(|line| self.submit(line))?;
            let ends = (0..PAGE / LINE_BYTES).map(|_| self.next_completion().completed);
            took += ends.max().expect("a page has lines") - began;
        }
        Ok(Mean { ns: took.as_ns_f64() / pages.len() as f64, of: pages.len() as u64 })
    }

    fn submit(&mut self, operation: Operation) -> Result<(), ExperimentError> {
        let Self { kernel, memory } = self;
        let (now, agent) = (kernel.now(), memory.device_agent(0));
        memory.submit(now, agent, 0, operation, &mut |time, event| {
            kernel.schedule_at(time, Priority::Deliver, event);
        })?;
        Ok(())
    }

    fn next_completion(&mut self) -> Completion {
        let Self { kernel, memory } = self;
        loop {
            let (now, event) = kernel.pop().expect("an operation is under way");
            let mut done = None;
            let mut schedule = |time, event| kernel.schedule_at(time, Priority::Deliver, event);
            memory.handle(now, event, &mut schedule, &mut |notification| {
                if let Notification::Completed(completion) = notification {
                    done = Some(completion);
                }
            });
            if let Some(completion) = done {
                return completion;
            }
        }
    }
}

fn lines_of(page: u64) -> impl Iterator<Item = Operation> {
    (0..PAGE / LINE_BYTES).map(move |line| read_line(page + line * LINE_BYTES))
}
