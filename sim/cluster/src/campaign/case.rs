// SPDX-License-Identifier: MIT OR Apache-2.0
//! A case: the cluster, its workload and its faults, all drawn from one seed.

use cluster::mutant::Planted;
use cluster::workload::{
    AnyWorkload, ObjectStore, ObjectStoreSettings, Retwis, RetwisSettings, SmallBank,
    SmallBankSettings, Tatp, TatpSettings, Tpcc, TpccSettings,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use workloads::scenario::SmallBankAccess;

use super::{FAULTS_NS, LEASE_NS, LOSS_NS, SKEW_NS};
use crate::faults::{Dangers, FaultPlan};
use crate::protocols::Campaigns;

/// One in so many cases is about a node that goes on after its lease.
const OUTLIVES: u32 = 8;
/// One in so many of the others is about a coordinator that has the only record.
const LONE_RECORD: u32 = 8;

/// All that is drawn for a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What it was drawn from.
    pub seed: u64,
    /// The nodes of the cluster.
    pub nodes: u16,
    /// The backups of each row.
    pub backups: u8,
    /// The threads of each node.
    pub threads: u8,
    /// The workers of each thread.
    pub workers: u8,
    /// How many messages of a thread may be on their way to one node.
    pub budget: u8,
    /// The headers of each table in a partition, so that rows share them.
    pub buckets: u32,
    /// The workload and how many objects, accounts or subscribers it has.
    pub(super) work: (Kind, u64),
    /// The faults.
    pub plan: FaultPlan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Objects { reads: u8, writes: u8 },
    SmallBank,
    Tatp,
    Retwis,
    Tpcc,
}

impl Case {
    /// Draws the case of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let nodes = random.random_range(3..=5);
        let backups = random.random_range(1..=2u8);
        let threads = random.random_range(1..=2);
        let workers = random.random_range(1..=3);
        let kind = match random.random_range(0..4) {
            0 | 1 => {
                let reads = random.random_range(1..=4u8);
                Kind::Objects { reads, writes: random.random_range(0..=reads) }
            }
            2 => Kind::SmallBank,
            _ => Kind::Tatp,
        };
        let dangers = Dangers {
            nodes,
            tolerated: backups.into(),
            span_ns: FAULTS_NS * 3 / 4,
            lease_ns: LEASE_NS,
            loss_ns: LOSS_NS,
            skew_ns: SKEW_NS,
        };
        let mut case = Self {
            seed,
            nodes,
            backups,
            threads,
            workers,
            budget: random.random_range(1..=workers),
            buckets: random.random_range(1..=6),
            work: (kind, random.random_range(8..=40)),
            plan: FaultPlan::draw(random.random_range(0..u64::MAX), &dangers),
        };
        // Drawn last, so that all else stays as it was for the other seeds.
        if random.random_ratio(1, OUTLIVES) {
            // What shows it is a read of the node's own rows, for which it needs nobody, and many workers,
            // as each waits for ever once it asks another node.
            case.work = (Kind::Tatp, random.random_range(16..=40));
            (case.workers, case.buckets) = (6, random.random_range(4..=16));
            case.plan = FaultPlan::outlive_lease(random.random_range(0..u64::MAX), &dangers);
        } else if random.random_ratio(1, LONE_RECORD) {
            // With one backup there are two records. Each transaction writes, and seldom waits for a lock.
            (case.nodes, case.backups) = (random.random_range(4..=5), 1);
            case.work = (Kind::Objects { reads: 1, writes: 1 }, random.random_range(16..=40));
            case.buckets = random.random_range(4..=16);
            let dangers = Dangers { nodes: case.nodes, tolerated: 1, ..dangers };
            case.plan = FaultPlan::lone_record(random.random_range(0..u64::MAX), &dangers);
        }
        case
    }

    /// The same cluster and faults with the transactions of Xenic's paper, which FaSST cannot run all of: TPC-C for most
    /// seeds, and Retwis.
    #[must_use]
    pub fn of_xenic(mut self) -> Self {
        self.work.0 = if self.seed % 4 == 3 { Kind::Retwis } else { Kind::Tpcc };
        self
    }

    /// The cluster, with this bug.
    pub(super) fn build<M: Campaigns>(
        &self,
        planted: Planted<M>,
    ) -> Result<M::Cluster<AnyWorkload>, String> {
        M::cluster(self, planted, self.transactions()?)
    }

    fn transactions(&self) -> Result<AnyWorkload, String> {
        let (kind, rows) = self.work;
        Ok(match kind {
            Kind::Objects { reads, writes } => {
                let settings_of_store = ObjectStoreSettings {
                    objects: rows,
                    apart: false,
                    seed: self.seed,
                    ..ObjectStoreSettings::o(reads, writes, self.nodes, 1)
                };
                ObjectStore::new(settings_of_store).map_err(|it| it.to_string())?.into()
            }
            Kind::SmallBank => {
                let bank = SmallBankSettings {
                    accounts: rows,
                    hot_accounts: 3,
                    access: SmallBankAccess::Hot90,
                    initial_cents: 10_000,
                    balance_bytes: 8,
                    seed: self.seed,
                };
                SmallBank::new(bank).map_err(|it| it.to_string())?.into()
            }
            Kind::Tatp => {
                let tatp = TatpSettings { subscribers: rows / 4, seed: self.seed };
                Tatp::new(tatp).map_err(|it| it.to_string())?.into()
            }
            Kind::Retwis => {
                let retwis = RetwisSettings { keys: rows, exponent: 0.5, seed: self.seed };
                Retwis::new(retwis).map_err(|it| it.to_string())?.into()
            }
            // Few rows, so that transactions meet.
            Kind::Tpcc => {
                let tpcc = TpccSettings {
                    warehouses_per_node: 1,
                    items: 15 + rows as u32,
                    customers: 6,
                    seed: self.seed,
                    ..TpccSettings::xenic(self.nodes, self.threads, self.workers)
                };
                Tpcc::standard(tpcc).map_err(|it| it.to_string())?.into()
            }
        })
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, nodes, backups, threads, workers, budget, buckets, work, plan } = self;
        writeln!(
            f,
            "seed {seed}: {nodes} nodes of {threads} threads of {workers} workers, {backups} backups, \
             budget {budget}, {buckets} buckets, {:?} of {}",
            work.0, work.1
        )?;
        write!(f, "{}", plan.to_toml())
    }
}
