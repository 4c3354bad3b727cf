//! Figure 5 of the ccSLT paper: what the device pays for 64 bytes and for 8 KiB of the host's
//! memory, over CCIX and over PCIe.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::coherence::{
    CoherenceEvent, CoherentMemory, Completion, LINE_BYTES, Notification, Operation,
};
use sim::dma::{DmaEngine, Transfer};
use sim::kernel::{Kernel, Priority, Time};
use sim::platform::Platform;

use super::findings::{Claim, Findings, Paper, Plot, Row};
use super::{ExperimentError, Setting};

const LOCAL: Paper = Paper {
    low: 80.0,
    high: 100.0,
    place: "section 4, experiment 2: \"CCIX-internal pre-fetching allows the device to work on \
            local cache, achieving 80-100ns\"",
};
const MISS: Paper = Paper {
    low: 800.0,
    high: 800.0,
    place: "section 4, experiment 2: \"cache-miss latencies for non-local atomic read/write … \
            consistent with the device latency of 800ns\"",
};

/// A lock table, in the host's system level cache.
const TABLE: u64 = 4 << 20;
/// Database pages, in the host's DRAM.
const PAGES: u64 = 64 << 20;
const PAGE: u64 = 8 << 10;
/// Accesses behind each value.
const ACCESSES: u64 = 4_000;
/// Pages behind each value.
const PAGES_READ: u64 = 200;

/// Measures all transfers.
///
/// # Errors
/// When the memory refuses an access.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let ccix = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
    let pcie = Platform::named("pcie-gen3").expect("comes with the program");
    let accesses = setting.scaled_count(ACCESSES);
    let mut random = ChaCha8Rng::seed_from_u64(setting.seed);

    setting.progress.set(0.0, "lines over CCIX");
    let lines = TABLE / LINE_BYTES;
    let in_a_row = (0..accesses).map(|number| read_line(number % lines * LINE_BYTES));
    let local = Device::new(&ccix, TABLE)?.one_by_one(in_a_row)?;
    let anywhere: Vec<u64> =
        (0..accesses).map(|_| random.random_range(0..lines) * LINE_BYTES).collect();
    let read = Device::new(&ccix, TABLE)?.one_by_one(anywhere.iter().map(|&at| read_line(at)))?;
    let swap = |&address: &u64| Operation::CompareSwap { address, expected: 0, new: 0 };
    let atomic = Device::new(&ccix, TABLE)?.one_by_one(anywhere.iter().map(swap))?;

    setting.progress.set(0.5, "pages over CCIX");
    let pages: Vec<u64> = (0..setting.scaled_count(PAGES_READ))
        .map(|_| random.random_range(0..PAGES / PAGE) * PAGE)
        .collect();
    let page_in_a_row = Device::new(&ccix, PAGES)?.pages_line_by_line(&pages)?;
    let page_at_once = Device::new(&ccix, PAGES)?.pages_at_once(&pages)?;

    let dma = |bytes: u64, transfer: fn(&mut DmaEngine, Time, u64) -> Transfer| {
        let mut engine = DmaEngine::new(&pcie).expect("the platform has DMA");
        let done = transfer(&mut engine, Time::ZERO, bytes);
        (done.completed - done.issued).as_ns_f64()
    };
    let row = |label: &str, ns: f64| Row::new(label, "ns", ns);
    let rows = vec![
        row("64 B, CCIX, read in sequence", local).beside(Some(LOCAL)),
        row("64 B, CCIX, atomic anywhere", atomic).beside(Some(MISS)),
        row("64 B, CCIX, read anywhere", read),
        row("64 B, PCIe, DMA read", dma(64, DmaEngine::read)),
        row("64 B, PCIe, DMA write", dma(64, DmaEngine::write)),
        row("8 KiB, CCIX, line after line", page_in_a_row),
        row("8 KiB, CCIX, all lines at once", page_at_once),
        row("8 KiB, PCIe, DMA read", dma(PAGE, DmaEngine::read)),
        row("8 KiB, PCIe, DMA write", dma(PAGE, DmaEngine::write)),
    ];
    Ok(Findings {
        parameters: vec![
            ("platforms", format!("{}, {}", ccix.name, pcie.name)),
            ("64 B", format!("{accesses} accesses one after another, in a table of 4 MiB")),
            ("8 KiB", format!("{} pages of 64 MiB in DRAM, drawn at random", pages.len())),
        ],
        claims: claims(&rows),
        notes: vec![
            pages_note(&rows),
            "The paper's text gives no number for PCIe: its bars are in the figure alone, so \
             that column is empty."
                .into(),
            "A DMA transfer is started by the device. What software has to do to keep such a \
             copy right is not counted."
                .into(),
        ],
        plot: Plot::Bars { along: "ns", rows: rows.clone() },
        rows,
    })
}

/// The measured value of the row with this label.
fn value(rows: &[Row], label: &str) -> f64 {
    let row = rows.iter().find(|row| row.label == label);
    row.unwrap_or_else(|| panic!("no row {label}")).measured
}

fn pages_note(rows: &[Row]) -> String {
    let ns = |label| value(rows, label);
    format!(
        "For 8 KiB the text makes no claim. Here {:.0} ns with all lines under way at once stand \
         against {:.0} ns of DMA: the wire is the same, the DMA engine has to be told first, but \
         each coherent line pays for a packet of its own. Line after line it takes {:.0} ns: 128 \
         hits of the device's cache, one after another.",
        ns("8 KiB, CCIX, all lines at once"),
        ns("8 KiB, PCIe, DMA read"),
        ns("8 KiB, CCIX, line after line")
    )
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let ns = |label| value(rows, label);
    let (local, atomic) = (ns("64 B, CCIX, read in sequence"), ns("64 B, CCIX, atomic anywhere"));
    let (read, dma) = (ns("64 B, CCIX, read anywhere"), ns("64 B, PCIe, DMA read"));
    vec![
        Claim {
            says: "\"CCIX provides excellent latencies (80-100ns) for small granularity (64B) \
                   accesses\" (section 4)."
                .into(),
            comes_out: LOCAL.agrees_with(local),
            because: format!(
                "{local:.0} ns on average when lines are read in sequence, so that they have been \
                 fetched ahead; {read:.0} ns anywhere."
            ),
        },
        Claim {
            says: "Cache misses are \"consistent with the device latency of 800ns in experiment \
                   1\" (section 4)."
                .into(),
            comes_out: MISS.agrees_with(atomic),
            because: format!("{atomic:.0} ns for a compare-and-swap at the home agent."),
        },
        Claim {
            says: "\"the benefit of using the latency-optimized CCIX\" over PCIe (section 4), for \
                   64 B read by the device."
                .into(),
            comes_out: local < dma && read < dma,
            because: format!(
                "{local:.0} to {read:.0} ns against {dma:.0} ns for a DMA engine, which has to be \
                 told first. A DMA write, which nobody answers, takes {:.0} ns.",
                ns("64 B, PCIe, DMA write")
            ),
        },
    ]
}

fn read_line(address: u64) -> Operation {
    Operation::ReadLine { address, keep_copy: true }
}

/// The device's request agent in front of memory that nobody else uses.
struct Device {
    kernel: Kernel<CoherenceEvent>,
    memory: CoherentMemory,
}

impl Device {
    fn new(platform: &Platform, bytes: u64) -> Result<Self, ExperimentError> {
        let mut memory = CoherentMemory::placed_by_platform(platform, 0, bytes)?;
        memory.warm_memory_caches();
        Ok(Self { kernel: Kernel::new(), memory })
    }

    /// Makes all operations, each after the one before; their mean time in ns.
    fn one_by_one(
        &mut self,
        operations: impl Iterator<Item = Operation>,
    ) -> Result<f64, ExperimentError> {
        let (mut count, mut took) = (0_u64, Time::ZERO);
        for operation in operations {
            self.submit(operation)?;
            let done = self.next_completion();
            took += done.completed - done.issued;
            count += 1;
        }
        Ok(took.as_ns_f64() / count as f64)
    }

    /// Reads whole pages, each line after the one before; the mean time of a page in ns.
    fn pages_line_by_line(&mut self, pages: &[u64]) -> Result<f64, ExperimentError> {
        let lines = pages.iter().flat_map(|&page| lines_of(page));
        Ok(self.one_by_one(lines)? * (PAGE / LINE_BYTES) as f64)
    }

    /// Reads whole pages one after another, all lines of one under way together; the mean time of
    /// a page in ns.
    fn pages_at_once(&mut self, pages: &[u64]) -> Result<f64, ExperimentError> {
        let mut took = Time::ZERO;
        for &page in pages {
            let began = self.kernel.now();
            lines_of(page).try_for_each(|line| self.submit(line))?;
            let ends = (0..PAGE / LINE_BYTES).map(|_| self.next_completion().completed);
            took += ends.max().expect("a page has lines") - began;
        }
        Ok(took.as_ns_f64() / pages.len() as f64)
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
