// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic in campaigns: on the modelled SmartNICs, with frames, packets of the slot and DMA, and handlers that
//! take no time.

use cluster::engine::Span;
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::transact::Transactions;
use cluster::workload::Totals;
use cluster::xenic::{self, Mutant, Planted};
use timing::Time;

use super::{Campaigns, Cluster};
use crate::campaign::{self, Case, LEASE_NS, LOSS_NS};
use crate::nic::smart::Batching;
use crate::nic::smart_card::NO_WORK;
use crate::nic::smart_timing::SmartTiming;
use crate::world::{Hardware, MemoryOf, Options, Registered};

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
            // The kinds with even numbers stay on the host in a quarter of the cases.
            on_host: if switches % 4 == 1 { 0x5555_5555_5555_5555 } else { 0 },
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
