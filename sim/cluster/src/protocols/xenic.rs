// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic in runs and campaigns, on the modelled SmartNICs: with frames, packets of the slot and DMA. Handlers take
//! no time in campaigns.

mod by_hand;

use cluster::engine::{Span, Work};
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::transact::Transactions;
use cluster::workload::Totals;
use cluster::xenic::index::{ENTRY_BYTES, OBJECTS};
use cluster::xenic::{self, Mutant, Planted};
use timing::Time;

use super::{Campaigns, Cluster, Runs};
use crate::campaign::{self, Case, LEASE_NS, LOSS_NS};
use crate::nic::smart::Batching;
use crate::nic::smart_card::NO_WORK;
use crate::nic::smart_timing::SmartTiming;
use crate::run::by_hand::{ByHand, mean};
use crate::run::{Cards, Platform, RunError, Settings, Switch, TPCC_ON_HOST, XenicSettings};
use crate::world::{Hardware, IndexOf, MemoryOf, Options, Registered};
use by_hand::Form;

/// The protocol.
#[derive(Clone, Copy, Debug)]
pub struct Xenic;

/// The largest message: a record of a new-order with 15 lines has some 6,000 bytes, and goes in fragments.
const MTU: u16 = 16_384;
/// Bytes that a slot takes at its coordinator, and at each peer: two cells with records, and what is known of them.
const SLOT: u64 = 2048;
const FLOW: u64 = 1024;

/// Bytes of an entry of an index without its values, and of its number in a map.
const ENTRY: u64 = ENTRY_BYTES as u64;
const NUMBER: u64 = 8 + 4 + 4 + 1;

/// How long a slot idles in runs before it says so, in microseconds.
const FLUSH_US: u64 = 50;
/// Log workers of a host.
const LOG_WORKERS: u8 = 1;
/// Cores of a NIC.
const CORES: u8 = 2;
/// How long a slot idles before it says so.
const FLUSH_NS: u64 = 20_000;

impl<T: Transactions> Registered for xenic::Shared<T> {
    fn read(&mut self, at: u64, length: u32, to: &mut Vec<u8>) -> bool {
        self.read_host(at, length, to)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> bool {
        self.write_host(at, bytes)
    }
}

impl<T: Totals> Cluster for xenic::Xenic<T> {
    type Workload = T;

    fn workload(&self) -> &T {
        self.workload()
    }

    fn layout(&self) -> &Partitioning {
        self.layout()
    }

    fn manager_of(machine: &xenic::Machine<T>) -> Option<&Manager> {
        machine.manager()
    }

    fn memory() -> Option<MemoryOf<xenic::Shared<T>>> {
        Some(|shared| shared)
    }

    fn index() -> Option<IndexOf<xenic::Shared<T>>> {
        Some(|shared| &mut shared.nic.index)
    }

    fn looks(shared: &xenic::Shared<T>) -> [u64; 2] {
        let looks = shared.nic.looks.0;
        [looks.rows, looks.cached]
    }
}

impl Runs for Xenic {
    type Cluster<T: Totals> = xenic::Xenic<T>;

    const CARDS: Cards = Cards::Smart;
    const PLATFORM: &'static str = SmartTiming::NAME;
    const MOST_WORKERS: u64 = u8::MAX as u64;
    /// Slots that idle say so after a while, and marks wait for as long for a write to go with.
    const QUIET: Time = Time::from_us(4 * FLUSH_US);

    /// Without faults nobody keeps leases, as with FaSST.
    fn cluster<T: Totals>(
        of: &Settings,
        has_faults: bool,
        transactions: T,
    ) -> Result<xenic::Xenic<T>, RunError> {
        let own = settings_of(of);
        let on_host = own.on_host_of(transactions.kinds()).map_err(RunError::Impossible)?;
        let settings = xenic::Settings {
            membership: has_faults.then(|| of.membership()),
            nodes: of.nodes,
            threads: of.threads,
            workers: of.workers,
            log_workers: own.log_workers,
            cores: own.nic_cores,
            slots: own.slots(of.threads, of.workers),
            backups: (of.replicas - 1) as u8,
            mtu: MTU,
            combined: own.has(Switch::Combined),
            ships: own.has(Switch::Ships),
            multi_hop: own.has(Switch::MultiHop),
            on_host,
            index_entries: own.index_entries,
            warm_index: own.warm_index,
            flush: Span::from_us(FLUSH_US),
            loss_timeout: of.loss_timeout(),
            copies_initial_rows: of.copies_initial_rows,
            ..xenic::Settings::default()
        };
        xenic::Xenic::new(settings, transactions).map_err(RunError::of_settings)
    }

    fn hardware(of: &Settings, platform: &Platform) -> Option<Hardware> {
        let timing = platform.smart()?;
        let own = settings_of(of);
        let vectors = own.has(Switch::Vectors);
        let batching =
            Batching { messages: own.has(Switch::Aggregation), rounds: vectors, vectors };
        let (host, core) = timing.network.work();
        Some(timing.hardware(batching, host, core))
    }

    fn host_threads(of: &Settings) -> u8 {
        of.threads + settings_of(of).log_workers
    }

    fn threads_with_workers(of: &Settings) -> Option<u8> {
        Some(of.threads)
    }

    fn nic_cores(of: &Settings) -> u8 {
        settings_of(of).nic_cores
    }

    fn burst(platform: &Platform) -> Option<u16> {
        Some(platform.smart()?.network.queues.burst.get().0 as u16)
    }

    fn by_hand<T: Totals>(of: &Settings, cluster: &xenic::Xenic<T>, inputs: u32) -> ByHand {
        let places = super::places(of, cluster.layout());
        let own = cluster.settings();
        let form = Form {
            combined: own.combined,
            ships: own.ships,
            multi_hop: own.multi_hop,
            on_host: own.on_host,
            mtu: own.mtu.into(),
        };
        mean(cluster.workload(), &places, inputs, |count, transactions, input, sum| {
            by_hand::transaction(form, count, transactions, input, sum);
        })
    }

    fn machine_bytes(of: &Settings) -> u64 {
        let own = settings_of(of);
        let nodes = u64::from(of.nodes);
        let slots = u64::from(own.nic_cores) * u64::from(own.slots(of.threads, of.workers));
        nodes * slots * (SLOT + nodes * FLOW)
    }

    /// Entries of the indexes, in lists that double, and their numbers in maps that are half full. What is touched may
    /// have an entry each.
    fn touched_bytes(of: &Settings, rows: u64, value_bytes: u64) -> u64 {
        let most = u64::from(of.nodes) * u64::from(settings_of(of).index_entries);
        rows.min(most) * (2 * ENTRY + OBJECTS as u64 * value_bytes + 2 * NUMBER)
    }

    /// It begins, and looks at so many rows, on one core of the host.
    fn least_time(_: &Settings, platform: &Platform, looks: u64) -> Option<Time> {
        let (host, core) = platform.smart()?.network.work();
        let of = |work: Work| host[work as usize].as_ps();
        let each = core[Work::Index as usize].as_ps() * looks;
        Some(Time::from_ps((of(Work::Begin) + each).max(1)))
    }
}

/// What only Xenic has; the defaults where a caller has left it out.
fn settings_of(of: &Settings) -> XenicSettings {
    of.xenic.clone().unwrap_or_default()
}

impl Campaigns for Mutant {
    type Cluster<T: Totals> = xenic::Xenic<T>;

    /// Which of the switches are on hangs on the case's seed; most often all are.
    fn cluster<T: Totals>(
        case: &Case,
        planted: Planted,
        transactions: T,
    ) -> Result<xenic::Xenic<T>, String> {
        let span = Span::from_ns;
        let switches = case.seed % 8;
        // The kinds with even numbers stay on the host in a quarter of the cases.
        let drawn = if switches % 4 == 1 { 0x5555_5555_5555_5555 } else { 0 };
        let kinds = transactions.kinds().iter().enumerate();
        let stays = kinds.filter(|(_, kind)| TPCC_ON_HOST.contains(kind));
        let settings = xenic::Settings {
            nodes: case.nodes,
            threads: case.threads,
            workers: case.workers,
            log_workers: LOG_WORKERS,
            cores: CORES,
            slots: 2 * u16::from(case.threads) * u16::from(case.workers),
            backups: case.backups,
            combined: switches != 7,
            ships: switches < 6,
            multi_hop: switches < 5,
            on_host: stays.fold(drawn, |bits, (kind, _)| bits | 1 << kind),
            flush: span(FLUSH_NS),
            loss_timeout: span(LOSS_NS),
            membership: Some(campaign::membership()),
            planted,
            ..xenic::Settings::default()
        };
        xenic::Xenic::new(settings, transactions).map_err(|error| error.to_string())
    }

    fn hardware(_: &Case) -> Hardware {
        let timing = SmartTiming::usual().expect("the platform comes with the program");
        timing.hardware(Batching::ALL, NO_WORK, NO_WORK)
    }

    fn options(case: &Case) -> Options {
        Options {
            host_threads: case.threads + LOG_WORKERS,
            threads_with_workers: Some(case.threads),
            workers: case.workers,
            quiet: Time::from_ns(2 * LEASE_NS),
            ..Options::default()
        }
    }
}
