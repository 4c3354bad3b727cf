// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures how many transactions of TATP with FaSST are simulated in a second of one core: 11 nodes of
//! 14 threads with 19 workers each, as in figure 10 of its paper.
//!
//! `cargo bench -p lockstep-cluster-sim --bench transactions --
//! [microseconds] [workers] [nodes] [threads]`

use std::time::{Duration, Instant as WallClock};

use cluster::engine::{Effects, Ending, Input, Instant, Machine, Node, NodeId, Protocol, Stage};
use cluster::fasst::{Fasst, Settings};
use cluster::workload::{Tatp, TatpSettings};
use cluster_sim::check::Judge;
use cluster_sim::nic::Connections;
use cluster_sim::platform;
use cluster_sim::world::{Hardware, Options, World};
use timing::Time;

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

fn main() {
    let mut arguments = arguments().map(|text| text.parse::<u64>().expect("a number"));
    let length = Time::from_us(arguments.next().unwrap_or(2_000));
    let workers = arguments.next().map_or(19, |workers| workers as u8);
    let nodes = arguments.next().map_or(11, |nodes| nodes as u16);
    let threads = arguments.next().map_or(14, |threads| threads as u8);
    let platform = platform::Hardware::named("connect-ib").expect("valid");
    for (record, digest) in [(false, false), (true, false), (true, true)] {
        let settings = Settings { nodes, threads, workers, budget: workers, ..Default::default() };
        let workload = Tatp::new(TatpSettings::fasst(nodes)).expect("subscribers");
        let protocol = Fasst::new(settings, workload).expect("settings");
        let posted = u64::from(nodes) * u64::from(workers) * u64::from(threads);
        let hardware = Hardware::of_platform(&platform, Connections::OWN, posted);
        let options =
            Options { host_threads: threads, workers, record, digest, ..Default::default() };
        let (workload, layout) = (protocol.workload().clone(), protocol.layout().clone());
        let protocol = Timed { inner: protocol, taken: Duration::ZERO };
        let mut world = World::new(protocol, hardware, None, options).expect("they fit");
        world.run_for(Time::ZERO, Time::from_us(200));
        let machines = |world: &World<_>| -> f64 {
            let up = world.up();
            let parts = up.iter().flat_map(|(_, node): &(_, &Node<Timed<_>>)| &node.parts);
            parts.map(|part| part.taken.as_secs_f64()).sum()
        };
        let before = machines(&world);
        let start = processor_seconds();
        world.run_for(Time::ZERO, length);
        let machines = machines(&world) - before;
        let seconds = processor_seconds() - start;
        let ledger = world.ledger();
        let each = |count: u64| count as f64 / ledger.transactions() as f64;
        println!("recorded: {record}, digest: {digest}");
        println!(
            "  transactions a second of this core: {:.0}",
            ledger.transactions() as f64 / seconds
        );
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
            "  a transaction: {:.2} events, {:.2} bursts, {:.2} messages, {:.3} aborts",
            each(ledger.events),
            each(ledger.bursts),
            each(messages),
            each(ledger.ended(Ending::AbortedByLock) + ledger.ended(Ending::AbortedByValidation)),
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
}
