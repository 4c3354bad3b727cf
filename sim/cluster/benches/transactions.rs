// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures how many transactions are simulated in a second of one core, with and without the record for the check:
//! TATP with FaSST on 11 nodes of 14 threads with 19 workers each, as in figure 10 of its paper, or SmallBank with
//! Xenic on six servers at its greatest throughput, as in its figure 8d.
//!
//! `cargo bench -p lockstep-cluster-sim --bench transactions --
//! [fasst|xenic] [microseconds] [workers] [nodes] [threads]`

use std::time::{Duration, Instant as WallClock};

use cluster::engine::{
    Effects, Ending, Input, Instant, Machine, Node, NodeId, Part, Protocol, Stage,
};
use cluster::workload::{SmallBank, SmallBankSettings, Tatp, TatpSettings, Totals};
use cluster_sim::check::Judge;
use cluster_sim::protocols::{Cluster, Fasst, Runs, Xenic};
use cluster_sim::run::{ProtocolName, Settings, XenicSettings};
use cluster_sim::world::{Options, Trace, World};
use timing::Time;
use workloads::scenario::SmallBankAccess;

/// What was given behind `--`; cargo adds an argument of its own.
fn arguments() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|argument| argument != "--bench")
}

/// The processor time of this thread so far, in seconds: others may use the machine.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    nanoseconds.unwrap_or(0) as f64 / 1e9
}

/// A machine, or a protocol of such machines, whose bursts are timed.
#[derive(Clone)]
struct Timed<M> {
    inner: M,
    taken: Duration,
}

impl<M: Machine> Machine for Timed<M> {
    type Shared = M::Shared;

    fn burst(
        &mut self,
        shared: &mut M::Shared,
        now: Instant,
        inputs: &[Input<'_>],
        out: &mut Effects,
    ) {
        let start = WallClock::now();
        self.inner.burst(shared, now, inputs, out);
        self.taken += start.elapsed();
    }

    fn deadline(&self) -> Option<Instant> {
        self.inner.deadline()
    }
}

fn timed<M: Machine>(node: Node<M>) -> Node<Timed<M>> {
    let timed = |inner| Timed { inner, taken: Duration::ZERO };
    Node { shared: node.shared, parts: node.parts.into_iter().map(timed).collect() }
}

impl<P: Protocol> Protocol for Timed<P> {
    type Machine = Timed<P::Machine>;

    fn nodes(&self) -> u16 {
        self.inner.nodes()
    }

    fn start(&self, node: NodeId) -> Node<Self::Machine> {
        timed(self.inner.start(node))
    }

    fn restart(&self, node: NodeId, kept: <P::Machine as Machine>::Shared) -> Node<Self::Machine> {
        timed(self.inner.restart(node, kept))
    }

    fn manager(&self) -> Option<Node<Self::Machine>> {
        self.inner.manager().map(timed)
    }

    /// Not asked here.
    fn check_at_rest(&self, _: &[(NodeId, &Node<Self::Machine>)]) -> Result<(), String> {
        Ok(())
    }
}

/// Counts bursts, and those that had nothing to do.
#[derive(Default)]
struct Polls {
    /// Of threads of hosts, and of cores of NICs.
    bursts: [u64; 2],
    idle: [u64; 2],
}

impl Trace for Polls {
    fn burst(&mut self, _: NodeId, part: Part, begin: Time, end: Time, inputs: u32) {
        let kind = usize::from(matches!(part, Part::NicCore(_)));
        self.bursts[kind] += 1;
        // A burst without work takes no longer than the least.
        self.idle[kind] += u64::from(inputs <= 1 && end - begin <= Time::from_ns(1));
    }
}

fn main() {
    let mut arguments = arguments().peekable();
    let name = arguments.next_if(|first| first.parse::<u64>().is_err());
    let mut numbers = arguments.map(|text| text.parse::<u64>().expect("a number"));
    let length = numbers.next().map(Time::from_us);
    let [workers, nodes, threads] = [(); 3].map(|()| numbers.next());
    match name.as_deref() {
        None | Some("fasst") => {
            let settings = Settings {
                protocol: ProtocolName::Fasst,
                platform: "connect-ib".into(),
                nodes: nodes.unwrap_or(11) as u16,
                threads: threads.unwrap_or(14) as u8,
                workers: workers.unwrap_or(19) as u8,
                ..Settings::default()
            };
            let tatp = Tatp::new(TatpSettings::fasst(settings.nodes)).expect("subscribers");
            measure_all::<Fasst, _>(&settings, &tatp, length.unwrap_or(Time::from_us(2_000)));
        }
        Some("xenic") => {
            let settings = Settings {
                protocol: ProtocolName::Xenic,
                platform: "liquidio3".into(),
                nodes: nodes.unwrap_or(6) as u16,
                threads: threads.unwrap_or(8) as u8,
                workers: workers.unwrap_or(32) as u8,
                xenic: Some(XenicSettings::default()),
                ..Settings::default()
            };
            let bank = SmallBankSettings::xenic(settings.nodes, SmallBankAccess::Hot90);
            let bank = SmallBank::new(bank).expect("accounts");
            measure_all::<Xenic, _>(&settings, &bank, length.unwrap_or(Time::from_us(1_000)));
        }
        Some(other) => panic!("{other}: expected fasst or xenic"),
    }
}

/// Measures without the record, with it, and with the digest too.
fn measure_all<P: Runs, T: Totals>(settings: &Settings, workload: &T, length: Time) {
    for (record, digest) in [(false, false), (true, false), (true, true)] {
        println!("recorded: {record}, digest: {digest}");
        let options = Options { record, digest, ..Options::default() };
        measure::<P, T>(settings, workload.clone(), length, options);
    }
}

fn measure<P: Runs, T: Totals>(
    settings: &Settings,
    workload: T,
    length: Time,
    mut options: Options,
) {
    let platform = settings.hardware().expect("a platform");
    let hardware = P::hardware(settings, &platform).expect("a platform of the protocol");
    let cluster = P::cluster_on(settings, &platform, false, workload).expect("settings");
    options.host_threads = P::host_threads(settings);
    options.threads_with_workers = P::threads_with_workers(settings);
    options.workers = settings.workers;
    options.quiet = options.quiet.max(P::QUIET);
    options.burst = P::burst(&platform).unwrap_or(options.burst);
    let (record, digest) = (options.record, options.digest);
    let (workload, layout) = (cluster.workload().clone(), cluster.layout().clone());
    let protocol = Timed { inner: cluster, taken: Duration::ZERO };
    let world = World::watched(protocol, hardware, None, options, Polls::default());
    let mut world = world.expect("they fit");
    if let Some(memory_of) = P::Cluster::<T>::memory() {
        world = world.with_memory(memory_of);
    }
    world.run_for(Time::ZERO, Time::from_us(200));
    let machines = |world: &World<_, _>| -> f64 {
        let up = world.up();
        let parts = up.iter().flat_map(|(_, node): &(_, &Node<Timed<_>>)| &node.parts);
        parts.map(|part| part.taken.as_secs_f64()).sum()
    };
    let before = machines(&world);
    *world.trace_mut() = Polls::default();
    let start = processor_seconds();
    world.run_for(Time::ZERO, length);
    let machines = machines(&world) - before;
    let seconds = processor_seconds() - start;
    let ledger = world.ledger();
    let each = |count: u64| count as f64 / ledger.transactions() as f64;
    println!("  transactions a second of this core: {:.0}", ledger.transactions() as f64 / seconds);
    let nanoseconds = 1e9 / ledger.transactions() as f64;
    println!(
        "  nanoseconds each: {:.0}, of which by the wall clock {:.0} in machines",
        seconds * nanoseconds,
        machines * nanoseconds
    );
    println!("  of the cluster: {:.1} M/s", ledger.throughput() / 1e6);
    let latency = ledger.latency();
    let at = |quantile| latency.value_at_quantile(quantile) as f64 / 1e3;
    println!("  latency: median {:.1} us, 99 % {:.1} us", at(0.5), at(0.99));
    let messages = ledger.messages.iter().map(|stage| stage.sent).sum();
    println!(
        "  a transaction: {:.2} events, {:.2} bursts, {:.2} messages, {:.2} memory operations, {:.3} aborts",
        each(ledger.events),
        each(ledger.bursts),
        each(messages),
        each(ledger.operations[0]),
        each(ledger.ended(Ending::AbortedByLock) + ledger.ended(Ending::AbortedByValidation)),
    );
    let Polls { bursts, idle } = *world.trace();
    println!(
        "  bursts of host threads: {:.2}, of which {:.2} with nothing to do; of cores of NICs: {:.2} and {:.2}",
        each(bursts[0]),
        each(idle[0]),
        each(bursts[1]),
        each(idle[1])
    );
    for stage in Stage::ALL {
        let counts = ledger.messages[stage as usize];
        if counts.sent > 0 {
            println!(
                "    {}: {:.3} messages, {:.1} B",
                stage.name(),
                each(counts.sent),
                each(counts.sent_bytes)
            );
        }
    }
    println!("  busiest: {:?}", ledger.busiest());
    if digest {
        let digest: String = world.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        println!("  digest: {digest}");
    }
    if record {
        // What is under way when a run stops has no ending, although others may have read its rows.
        world.run_until_rest(Time::from_us(1_000)).expect("nothing fails");
        let start = processor_seconds();
        let checked = Judge::new(&workload, &layout).check(world.recorder());
        let seconds = processor_seconds() - start;
        match checked {
            Ok(replayed) => println!(
                "  the check of {} transactions: {:.0} ns each",
                replayed.transactions(),
                seconds * 1e9 / replayed.transactions() as f64
            ),
            Err(violation) => println!("  {violation}"),
        }
    }
}
