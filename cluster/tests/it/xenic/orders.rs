// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clusters in which what is under way is taken in any order: each history has a serial order, and nothing is left
//! over at rest.

use cluster::engine::Ending;
use cluster::transact::Transactions;
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, Scripted, SmallBank, SmallBankSettings, Tatp, TatpSettings,
    Tpcc, TpccSettings,
};
use cluster::xenic::Settings;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::driver::{Cluster, Network};
use crate::wild::Wild;

/// Settings by chance: each switch, few slots, a small index.
pub fn settings(random: &mut ChaCha8Rng) -> Settings {
    let nodes = random.random_range(2..6);
    let level = random.random_range(0..4);
    Settings {
        nodes,
        threads: random.random_range(1..3),
        workers: random.random_range(1..5),
        cores: random.random_range(1..3),
        slots: random.random_range(1..5),
        backups: random.random_range(0..nodes.min(4)) as u8,
        combined: level >= 1,
        ships: level >= 2,
        multi_hop: level >= 3,
        on_host: if random.random() { 0 } else { random.random() },
        index_entries: if random.random() { 8 } else { 1 << 10 },
        ..Settings::default()
    }
}

pub fn network(random: &mut ChaCha8Rng) -> Network {
    Network {
        shuffles: random.random_ratio(3, 4),
        duplicates: random.random::<bool>().then_some(5),
        losses: None,
        lazy: random.random_range(1..30),
    }
}

/// Runs so many transactions of each worker.
fn run<T: Transactions>(settings: Settings, network: Network, workload: T, seed: u64) -> usize {
    let workers =
        u32::from(settings.nodes) * u32::from(settings.threads) * u32::from(settings.workers);
    let workload = Scripted::drawn(workload, workers, 12);
    let name = format!("{settings:?} {network:?}");
    let mut cluster = Cluster::new(settings, workload, network, seed);
    cluster.begin_all();
    let check = cluster.run().and_then(|()| cluster.check());
    check.unwrap_or_else(|error| panic!("{error}\n{name}"));
    let ended = cluster.ended(Ending::Committed) + cluster.ended(Ending::RolledBack);
    assert_eq!(ended, 12 * workers as usize, "{name}");
    cluster.ended(Ending::Committed)
}

#[test]
fn objects_in_any_order() {
    seeds::each!(20, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let settings = settings(random);
        let reads = random.random_range(1..=settings.nodes.min(4)) as u8;
        let objects = ObjectStoreSettings {
            objects: random.random_range(20..200),
            value_bytes: 16,
            apart: random.random(),
            seed,
            ..ObjectStoreSettings::o(reads, random.random_range(0..=reads), settings.nodes, 1)
        };
        let objects = ObjectStore::new(objects).expect("sound settings");
        run(settings, network(random), objects, seed);
    });
}

#[test]
fn accounts_in_any_order() {
    seeds::each!(20, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let accounts = random.random_range(4..60);
        let access = workloads::scenario::SmallBankAccess::Hot10;
        let bank = SmallBankSettings {
            accounts,
            hot_accounts: 2,
            access,
            initial_cents: 500,
            balance_bytes: 4,
            seed,
        };
        let bank = SmallBank::new(bank).expect("sound settings");
        run(settings(random), network(random), bank, seed);
    });
}

#[test]
fn subscribers_in_any_order() {
    seeds::each!(12, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let settings = settings(random);
        let subscribers = random.random_range(4..40);
        let tatp = TatpSettings { subscribers, seed };
        let tatp = Tatp::new(tatp).expect("sound settings");
        run(settings, network(random), tatp, seed);
    });
}

/// Values of no bytes, of many, out of line; rows that are made and deleted; rounds; records that are too large.
#[test]
fn wild_transactions_in_any_order() {
    seeds::each!(20, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let mtu = if random.random() { 1470 } else { 4096 };
        let settings = Settings { mtu, ..settings(random) };
        let wild = Wild { rows: random.random_range(4..20), seed };
        run(settings, network(random), wild, seed);
    });
}

/// All kinds of TPC-C at few warehouses: rounds that hang on what was read, rows that are made and deleted, and hundreds of
/// rows read on the host.
#[test]
fn tpcc_in_any_order() {
    seeds::each!(6, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        // A new-order locks up to 35 rows at once, and a stock-level has to stay on the host.
        let drawn = settings(random);
        let settings = Settings {
            mtu: 16_384,
            index_entries: 1 << 10,
            on_host: drawn.on_host | 1 << 4,
            ..drawn
        };
        let Settings { nodes, threads, workers, .. } = settings;
        let tpcc = TpccSettings {
            warehouses_per_node: 1,
            items: 30,
            customers: 12,
            seed,
            ..TpccSettings::xenic(nodes, threads, workers)
        };
        run(settings, network(random), Tpcc::standard(tpcc).expect("sound settings"), seed);
    });
}
