// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST in runs and campaigns.

use cluster::engine::{Span, Stage, Work};
use cluster::fasst::{self, Mutant, Planted};
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::transact::{Decision, Intent, Transactions};
use cluster::workload::Totals;
use timing::Time;

use super::{Campaigns, Cluster, Runs};
use crate::campaign::{self, Case, LEASE_NS, LOSS_NS};
use crate::nic::Connections;
use crate::run::by_hand::{self, ByHand, Count, Places, Sum};
use crate::run::{Cards, Platform, RunError, Settings};
use crate::world::{Hardware, Options};

/// The protocol.
#[derive(Clone, Copy, Debug)]
pub struct Fasst;

/// Bytes that a worker takes beside what others remember of it, with its transaction's rows.
const WORKER: u64 = 4096;
/// Bytes that a thread remembers of each worker that may ask it.
const ASKED: u64 = 4;

impl<T: Totals> Cluster for fasst::Fasst<T> {
    type Workload = T;

    fn workload(&self) -> &T {
        self.workload()
    }

    fn layout(&self) -> &Partitioning {
        self.layout()
    }

    fn manager_of(machine: &fasst::Machine<T>) -> Option<&Manager> {
        machine.manager()
    }
}

impl Runs for Fasst {
    type Cluster<T: Totals> = fasst::Fasst<T>;

    const CARDS: Cards = Cards::Rdma;
    const PLATFORM: &'static str = "connect-ib";

    /// Without faults nobody keeps leases: what FaSST measured had none.
    fn cluster<T: Totals>(
        of: &Settings,
        has_faults: bool,
        transactions: T,
    ) -> Result<fasst::Fasst<T>, RunError> {
        let settings = settings_of(of, has_faults);
        fasst::Fasst::new(settings, transactions).map_err(RunError::of_settings)
    }

    fn cluster_on<T: Totals>(
        of: &Settings,
        platform: &Platform,
        has_faults: bool,
        transactions: T,
    ) -> Result<fasst::Fasst<T>, RunError> {
        let settings = settings_of(of, has_faults);
        let settings = fasst::Settings { mtu: super::mtu_of(platform, settings.mtu), ..settings };
        fasst::Fasst::new(settings, transactions).map_err(RunError::of_settings)
    }

    fn hardware(of: &Settings, platform: &Platform) -> Option<Hardware> {
        let posted = posted(of.nodes, of.threads, of.workers);
        let platform = platform.rdma()?;
        let hardware = Hardware::of_platform(platform, Connections::OWN, posted);
        Some(hardware.with_threads(platform, of.threads))
    }

    fn by_hand<T: Totals>(of: &Settings, cluster: &fasst::Fasst<T>, inputs: u32) -> ByHand {
        let places = super::places(of, cluster.layout());
        by_hand::mean(cluster.workload(), &places, inputs, transaction)
    }

    fn machine_bytes(of: &Settings) -> u64 {
        bytes_of_workers(of)
    }

    /// It begins, looks at so many rows, one of which is on another machine but for one of `nodes` times, and
    /// ends.
    fn least_time(of: &Settings, platform: &Platform, looks: u64) -> Option<Time> {
        let costs = platform.rdma()?.work_costs();
        let nodes = u64::from(of.nodes);
        let sum = |of: &[Work]| of.iter().map(|work| costs[*work as usize].as_ps()).sum::<u64>();
        let own = sum(&[Work::Begin]) + looks * sum(&[Work::Look, Work::Header, Work::Logic]);
        let asked = 2 * sum(&[Work::Send, Work::Receive]) + sum(&[Work::Handle]);
        Some(Time::from_ps(own + asked * (nodes - 1) / nodes))
    }
}

fn settings_of(of: &Settings, has_faults: bool) -> fasst::Settings {
    fasst::Settings {
        membership: has_faults.then(|| of.membership()),
        nodes: of.nodes,
        threads: of.threads,
        workers: of.workers,
        backups: (of.replicas - 1) as u8,
        budget: of.workers.min(64),
        loss_timeout: of.loss_timeout(),
        copies_initial_rows: of.copies_initial_rows,
        ..fasst::Settings::default()
    }
}

/// Bytes of the workers of all nodes, and of what all threads remember of them to know a message that came twice.
pub fn bytes_of_workers(of: &Settings) -> u64 {
    let [nodes, threads, workers] = [of.nodes, of.threads.into(), of.workers.into()].map(u64::from);
    nodes * threads * workers * (WORKER + nodes * ASKED)
}

/// Descriptors of all receive queues of a machine: each thread has one for each message that can be on
/// its way to it, in a queue whose length is a power of two (FaSST, section 4.4).
pub fn posted(nodes: u16, threads: u8, workers: u8) -> u64 {
    u64::from(threads) * (u64::from(nodes) * u64::from(workers)).next_power_of_two()
}

/// Messages of a transaction by FaSST's sections 5 and 5.1: each step a request and a response for each machine
/// but the coordinator's own.
fn transaction<T: Transactions, F: Fn(cluster::engine::Key) -> u16>(
    count: &mut Count<'_, F>,
    transactions: &T,
    input: &T::Input,
    sum: &mut Sum,
) {
    let decision = count.execute(transactions, input, sum);
    let rows = count.rows().all().to_vec();
    let places = count.places();
    let primary = &places.primary;
    let written = rows.iter().filter(|row| row.intent == Intent::Write);
    let locked: Vec<u16> = written.clone().map(|row| primary(row.key)).collect();
    let read = rows.iter().filter(|row| row.intent == Intent::Read);
    let read: Vec<u16> = read.map(|row| primary(row.key)).collect();
    // A lone key that is read needs no validation.
    if rows.len() > 1 {
        sum[Stage::Validate as usize] += 2 * count.machines(read);
    }
    if decision == Some(Decision::RollBack) || locked.is_empty() {
        sum[Stage::Abort as usize] += 2 * count.machines(locked);
        return;
    }
    let Places { nodes, backups, .. } = *places;
    let after = |node: u16| (1..=backups).map(move |step| (node + step) % nodes);
    sum[Stage::Log as usize] += 2 * count.machines(after(count.coordinator()));
    let changed = written.filter(|row| row.change().is_some());
    let changed: Vec<u16> = changed.map(|row| primary(row.key)).collect();
    sum[Stage::Backup as usize] += 2 * count.machines(changed.into_iter().flat_map(after));
    sum[Stage::Primary as usize] += 2 * count.machines(locked);
}

impl Campaigns for Mutant {
    type Cluster<T: Totals> = fasst::Fasst<T>;

    fn cluster<T: Totals>(
        case: &Case,
        planted: Planted,
        transactions: T,
    ) -> Result<fasst::Fasst<T>, String> {
        let span = Span::from_ns;
        let settings = fasst::Settings {
            nodes: case.nodes,
            threads: case.threads,
            workers: case.workers,
            backups: case.backups,
            budget: case.budget,
            loss_timeout: span(LOSS_NS),
            membership: Some(campaign::membership()),
            planted,
            ..fasst::Settings::default()
        };
        let cluster = fasst::Fasst::new(settings, transactions);
        Ok(cluster.map_err(|error| error.to_string())?.with_buckets(case.buckets))
    }

    fn hardware(_: &Case) -> Hardware {
        Hardware::plain(Time::from_ns(30))
    }

    fn options(case: &Case) -> Options {
        Options {
            host_threads: case.threads,
            workers: case.workers,
            quiet: Time::from_ns(2 * LEASE_NS),
            ..Options::default()
        }
    }
}
