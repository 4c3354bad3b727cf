// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST without a world: commits, counts of messages, coalescing, budgets, losses and duplicates.

mod driver;
mod speed;

use crate::wild::Wild;
use cluster::engine::{Ending, Endpoint, Input, NodeId, Stage, Work};
use cluster::fasst::{Fasst, Mutant, Planted, Settings};
use cluster::placement::partition_of;
use cluster::transact::Intent::{Read, Write};
use cluster::transact::{Intent, Transactions};
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, ObjectTransaction, Retwis, RetwisSettings, Scripted,
    SmallBank, SmallBankSettings, Tatp, TatpSettings, Tpcc, TpccSettings, TpccTransaction,
};
use driver::{Cluster, Network};

const NODES: u16 = 6;

fn settings(workers: u8) -> Settings {
    Settings { nodes: NODES, threads: 1, workers, budget: workers, ..Settings::default() }
}

fn objects(value_bytes: u16) -> ObjectStore {
    let settings =
        ObjectStoreSettings { objects: 600, value_bytes, ..ObjectStoreSettings::o(4, 2, NODES, 1) };
    ObjectStore::new(settings).expect("sound settings")
}

/// Object number `number` of those with their primary on `node`.
fn object(node: u16, number: usize) -> u64 {
    let mut all = (0..600).filter(|row| partition_of(*row, NODES).0 == node);
    all.nth(number).expect("there are so many")
}

fn transaction(objects: &[(u64, Intent)]) -> ObjectTransaction {
    ObjectTransaction::new(1, objects)
}

/// One worker of node 0 runs one transaction.
fn one(objects: ObjectStore, inputs: &[ObjectTransaction]) -> Cluster<Scripted<ObjectStore>> {
    one_of(settings(1), objects, inputs)
}

fn one_of(
    settings: Settings,
    objects: ObjectStore,
    inputs: &[ObjectTransaction],
) -> Cluster<Scripted<ObjectStore>> {
    let workload = Scripted::new(objects, [inputs.to_vec()]);
    let mut cluster = Cluster::new(settings, workload, Network::default(), 0);
    cluster.begin_all();
    cluster.run();
    cluster
}

fn rpcs<T: Transactions>(cluster: &Cluster<T>) -> [usize; 6] {
    use Stage::{Abort, Backup, Execute, Log, Primary, Validate};
    [Execute, Validate, Log, Backup, Primary, Abort]
        .map(|stage| cluster.requests.get(&stage).copied().unwrap_or(0))
}

#[test]
fn messages_are_as_many_as_by_hand() {
    // The coordinator's own node 0 has none of the rows, and is no backup of those that are written: the
    // backups of nodes 1 and 2 are nodes 2, 3 and 3, 4.
    let row = |node| object(node, 0);
    let o10 = one(objects(40), &[transaction(&[(row(3), Read)])]);
    assert_eq!(rpcs(&o10), [1, 0, 0, 0, 0, 0]);
    let o40 = one(objects(40), &[transaction(&[1, 2, 3, 4].map(|node| (row(node), Read)))]);
    assert_eq!(rpcs(&o40), [4, 4, 0, 0, 0, 0]);
    let o42 = [(row(1), Write), (row(3), Write), (row(4), Read), (row(5), Read)];
    let o42 = one(objects(40), &[transaction(&o42)]);
    // Backups 2, 3 of row 1 and 4, 5 of row 3; two more log messages let the log replicas forget.
    assert_eq!(rpcs(&o42), [4, 2, 2 + 2, 4, 2, 0]);
    for cluster in [o10, o40, o42] {
        assert_eq!(cluster.told.ended(Ending::Committed), 1);
        cluster.check_at_rest().unwrap();
    }
}

#[test]
fn own_rows_need_no_messages() {
    let row = |number| object(0, number);
    let reads = [transaction(&[(row(0), Read), (row(1), Read)])];
    assert_eq!(rpcs(&one(objects(40), &reads)), [0; 6]);
    let writes = one(objects(40), &[transaction(&[(row(0), Write), (row(1), Read)])]);
    assert_eq!(rpcs(&writes), [0, 0, 4, 2, 0, 0]);
    assert!(writes.work.of(Work::Header) > 0 && writes.work.of(Work::Log) == 3);
    writes.check_at_rest().unwrap();
}

#[test]
fn requests_to_one_machine_share_a_message() {
    let rows: Vec<_> = (0..4).map(|number| (object(1, number), Write)).collect();
    let cluster = one(objects(40), &[transaction(&rows)]);
    assert_eq!(rpcs(&cluster), [1, 0, 4, 2, 1, 0]);
    assert_eq!(cluster.told.ended(Ending::Committed), 1);
    cluster.check_at_rest().unwrap();
}

#[test]
fn what_exceeds_the_mtu_is_sent_in_parts() {
    let rows: Vec<_> = (0..5).map(|number| (object(1, number), Read)).collect();
    // The answers are what is too large: 12 + 3 * 1309 bytes fit, 4 do not.
    let cluster = one(objects(1300), &[transaction(&rows)]);
    assert_eq!(rpcs(&cluster), [2, 1, 0, 0, 0, 0]);
    assert!(cluster.largest <= 4096);
    assert_eq!(cluster.told.ended(Ending::Committed), 1);
    // Their record would be too large, too, and cannot be sent in parts.
    let rows: Vec<_> = (0..4).map(|number| (object(1, number), Write)).collect();
    let cluster = one(objects(1300), &[transaction(&rows)]);
    assert_eq!(cluster.told.ended(Ending::RolledBack), 1);
    let thread = cluster.nodes[0].parts[0].thread().expect("a thread");
    assert_eq!(thread.dropped().too_large, 1);
    cluster.check_at_rest().unwrap();
    // The largest value has room with the header of its record.
    let cluster = one(objects(4060), &[transaction(&[(object(1, 0), Write)])]);
    assert_eq!((cluster.largest, cluster.told.ended(Ending::Committed)), (4096, 1));
    cluster.check_at_rest().unwrap();
}

#[test]
fn keys_below_one_header_are_locked_and_raised_once() {
    let rows: Vec<_> = (0..3).map(|number| (object(1, number), Write)).collect();
    let inputs = [transaction(&rows), transaction(&rows[1..]), transaction(&[rows[0]])];
    let workload = Scripted::new(objects(40), [inputs.to_vec()]);
    let protocol = Fasst::new(settings(1), workload).unwrap().with_buckets(1);
    let mut cluster = Cluster::of(protocol, Network::default(), 0);
    cluster.begin_all();
    cluster.run();
    assert_eq!(cluster.told.ended(Ending::Committed), 3);
    let key = cluster::engine::Key { row: rows[0].0, ..Default::default() };
    let header = cluster.protocol.layout().header_of(key);
    for replica in [1, 2, 3] {
        let header = cluster.nodes[replica].shared.store.header(header).unwrap();
        assert_eq!((header.version, header.holder()), (3, None), "node {replica}");
    }
    cluster.check_serial().unwrap();
    cluster.check_at_rest().unwrap();
}

/// All workers of all nodes run what the workload draws.
fn all<T: Transactions>(
    settings: Settings,
    workload: T,
    count: usize,
    network: Network,
    seed: u64,
) -> usize {
    let Settings { nodes, threads, workers, .. } = settings;
    let of_cluster = u32::from(nodes) * u32::from(threads) * u32::from(workers);
    let workload = Scripted::drawn(workload, of_cluster, count);
    let mut cluster = Cluster::new(settings, workload, network, seed);
    cluster.begin_all();
    cluster.run();
    assert!(!cluster.killed.contains(&true), "nothing was lost");
    let done = cluster.told.ended(Ending::Committed) + cluster.told.ended(Ending::RolledBack);
    assert_eq!(done, of_cluster as usize * count);
    cluster.check_serial().unwrap();
    cluster.check_at_rest().unwrap();
    cluster.ended(Ending::Committed)
}

fn shaken(duplicates: Option<u32>) -> Network {
    Network { shuffles: true, duplicates }
}

#[test]
fn contending_transactions_commit_one_after_the_other() {
    seeds::each!(8, |seed| {
        let object_settings = ObjectStoreSettings {
            objects: 12,
            seed,
            apart: false,
            ..ObjectStoreSettings::o(4, 2, 4, 2)
        };
        let workload = ObjectStore::new(object_settings).unwrap();
        let settings = Settings { nodes: 4, threads: 2, workers: 3, ..Settings::default() };
        let duplicates = (seed % 2 == 1).then_some(5);
        all(settings, workload, 12, shaken(duplicates), seed);
    });
}

#[test]
fn the_papers_workloads_run() {
    seeds::each!(2, |seed| {
        let settings = Settings { nodes: 4, threads: 2, workers: 4, ..Settings::default() };
        let tatp = TatpSettings { subscribers: 300, seed };
        all(settings.clone(), Tatp::new(tatp).unwrap(), 40, shaken(None), seed);
        let bank = SmallBankSettings {
            accounts: 400,
            hot_accounts: 20,
            seed,
            ..SmallBankSettings::fasst(4, 2, workloads::scenario::SmallBankAccess::Hot90)
        };
        all(settings.clone(), SmallBank::new(bank).unwrap(), 40, shaken(Some(7)), seed);
        let narrow = SmallBankSettings { balance_bytes: 4, ..bank };
        all(settings.clone(), SmallBank::new(narrow).unwrap(), 40, shaken(None), seed);
        // So few keys that transactions meet.
        let retwis = RetwisSettings { keys: 200, seed, ..RetwisSettings::xenic(4) };
        all(settings, Retwis::new(retwis).unwrap(), 40, shaken(Some(5)), seed);
    });
}

#[test]
fn new_orders_commit_if_their_record_fits_a_message() {
    seeds::each!(2, |seed| {
        let settings = Settings { nodes: 4, threads: 2, workers: 3, ..Settings::default() };
        let of = TpccSettings {
            warehouses_per_node: 2,
            items: 60,
            customers: 9,
            seed,
            ..TpccSettings::xenic(4, 2, 3)
        };
        let orders = Tpcc::new_orders(of).unwrap();
        // Header and count, district, order and its entry in NEW-ORDER; stock and line of each item.
        let record = |lines: usize| 18 + (18 + 97) + (18 + 20) + 18 + lines * (18 + 306 + 18 + 44);
        let fits = (0..4 * 2 * 3).flat_map(|worker| {
            let mut source = orders.source(worker);
            let inputs: Vec<_> = (0..8).map(|_| orders.draw(&mut source).unwrap()).collect();
            inputs
        });
        let fits = fits.filter(|input| match input {
            TpccTransaction::NewOrder(order) => record(order.lines.len()) <= 4096,
            other => panic!("{other:?}"),
        });
        let fits = fits.count();
        assert!((60..140).contains(&fits), "five to ten lines of five to fifteen: {fits}");
        assert_eq!(all(settings, orders, 8, shaken(Some(9)), seed), fits);
    });
}

/// Clusters of any size, of which each transaction does anything to a few rows of few headers.
#[test]
fn whatever_transactions_do_they_are_serial() {
    seeds::each!(24, |seed| {
        let nodes = [1, 2, 3, 5][(seed % 4) as usize];
        let backups = (seed / 4 % u64::from(nodes)).min(2) as u8;
        let (threads, workers) = [(1, 1), (1, 5), (3, 1), (2, 3)][(seed / 2 % 4) as usize];
        let of_cluster = u32::from(nodes) * u32::from(threads) * u32::from(workers);
        let budget = 1 + (seed % 2) as u8 * 7;
        let settings = Settings { nodes, threads, workers, backups, budget, ..Settings::default() };
        let workload = Scripted::drawn(Wild { rows: 6, seed }, of_cluster, 15);
        let protocol = Fasst::new(settings, workload).unwrap().with_buckets(1 + (seed % 3) as u32);
        let mut cluster = Cluster::of(protocol, shaken(Some(6)), seed);
        cluster.begin_all();
        cluster.run();
        let done = cluster.told.ended(Ending::Committed) + cluster.told.ended(Ending::RolledBack);
        assert_eq!(done, of_cluster as usize * 15);
        assert!(cluster.largest <= 4096 && !cluster.killed.contains(&true));
        cluster.check_serial().unwrap();
        cluster.check_at_rest().unwrap();
    });
}

#[test]
fn a_lost_message_ends_the_process() {
    let inputs = vec![transaction(&[(object(3, 0), Read)])];
    let workload = Scripted::new(objects(40), [inputs]);
    let mut cluster = Cluster::new(settings(1), workload, Network::default(), 0);
    cluster.begin_all();
    assert_eq!(cluster.flying.pop_front().map(|lost| lost.to.node), Some(NodeId(3)));
    cluster.run();
    assert_eq!(cluster.killed, [true, false, false, false, false, false]);
    assert_eq!(cluster.told.ended(Ending::Committed), 0);
}

#[test]
fn the_budget_is_honoured() {
    let workers = 8;
    let inputs = |worker: usize| vec![transaction(&[(object(3, worker), Read)]); 3];
    let workload = Scripted::new(objects(40), (0..8).map(inputs));
    let settings = Settings { budget: 2, ..settings(workers) };
    let mut cluster = Cluster::new(settings, workload, Network::default(), 0);
    cluster.begin_all();
    let mut most = 0;
    loop {
        let thread = cluster.nodes[0].parts[0].thread().unwrap();
        most = most.max(thread.under_way(NodeId(3)));
        if !cluster.step() {
            break;
        }
    }
    assert_eq!((most, cluster.told.ended(Ending::Committed)), (2, 24));
}

#[test]
fn batching_saves_doorbells() {
    let rows: Vec<_> = [1, 2, 3, 4].map(|node| (object(node, 0), Read)).to_vec();
    let with = one(objects(40), &[transaction(&rows)]);
    let without = Settings { request_batching: false, cheap_receives: false, ..settings(1) };
    let without = one_of(without, objects(40), &[transaction(&rows)]);
    // Eight responses, each from a node of its own, and two batches of four requests.
    assert_eq!(with.work.of(Work::Doorbell), 8 + 2);
    assert_eq!(without.work.of(Work::Doorbell), 8 + 8);
    assert_eq!((with.work.of(Work::PostReceive), without.work.of(Work::PostReceive)), (0, 16));
}

#[test]
fn bytes_that_are_no_message_change_nothing() {
    use rand::{Rng, RngExt, SeedableRng};
    let inputs = vec![transaction(&[(object(3, 0), Read)])];
    let workload = Scripted::new(objects(40), [inputs]);
    let before = Cluster::new(settings(1), workload, Network::default(), 0);
    seeds::each!(300, |seed| {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut node = before.nodes[3].clone();
        let mut bytes = vec![0; random.random_range(0..80)];
        random.fill_bytes(&mut bytes);
        // As much of a header as gets past the first look.
        let header = [0, 0, 0, 0, 0, 0, 3, 0, 1];
        let kept = random.random_range(0..=header.len().min(bytes.len()));
        bytes[..kept].copy_from_slice(&header[..kept]);
        let mut out = cluster::engine::Effects::new();
        let from = Endpoint::host(NodeId(1), 0);
        let input = Input::Message { from, bytes: &bytes };
        use cluster::engine::Machine;
        node.parts[0].burst(&mut node.shared, Default::default(), &[input], &mut out);
    });
}

/// Runs for so many steps at most, and says whether anything was noticed.
fn is_noticed<T: Transactions>(mut cluster: Cluster<T>) -> bool {
    cluster.begin_all();
    let mut steps = 0;
    while steps < 20_000 && cluster.step() {
        steps += 1;
    }
    steps == 20_000
        || cluster.killed.contains(&true)
        || cluster.check_serial().is_err()
        || cluster.check_at_rest().is_err()
}

/// A few objects, many transactions on them.
fn crowded(planted: Planted, seed: u64) -> Cluster<Scripted<ObjectStore>> {
    let settings = ObjectStoreSettings {
        objects: 6,
        seed,
        apart: false,
        ..ObjectStoreSettings::o(3, 1, 3, 1)
    };
    let workload = Scripted::drawn(ObjectStore::new(settings).unwrap(), 12, 8);
    let settings = Settings { threads: 1, workers: 4, planted, ..Settings::default() };
    Cluster::new(settings, workload, shaken(Some(4)), seed)
}

/// Transactions of node 0 that write four objects below one header, in two messages, and reads of one of
/// them by node 2.
fn in_parts(planted: Planted, seed: u64) -> Cluster<Scripted<ObjectStore>> {
    let rows: Vec<_> = (0..4).map(|number| object(1, number)).collect();
    let written: Vec<_> = rows.iter().map(|row| (*row, Write)).collect();
    let writes = (1..10).map(|writer| ObjectTransaction::new(writer, &written)).collect();
    let reads = (0..40).map(|_| transaction(&[(rows[3], Read)])).collect();
    let workload = Scripted::new(objects(40), [writes, vec![], reads]);
    // The record has 250 bytes, and the four updates have 252.
    let settings = Settings { mtu: 250, planted, ..settings(1) };
    let protocol = Fasst::new(settings, workload).unwrap().with_buckets(1);
    Cluster::of(protocol, shaken(None), seed)
}

#[test]
fn an_update_in_parts_is_seen_whole() {
    seeds::each!(10, |seed| {
        let mut cluster = in_parts(Planted::default(), seed);
        cluster.begin_all();
        cluster.run();
        assert_eq!(cluster.told.ended(Ending::Committed), 9 + 40);
        assert!(cluster.requests[&Stage::Primary] >= 2 * 9);
        cluster.check_serial().unwrap();
        cluster.check_at_rest().unwrap();
    });
}

#[test]
fn broken_protocols_are_noticed() {
    // Those that need neither a crash nor a loss.
    let found = [
        Mutant::NoValidation,
        Mutant::ValidateBeforeLocks,
        Mutant::ValidationIgnoresLocks,
        Mutant::ForgottenUnlock,
        Mutant::NoDuplicateSuppression,
        Mutant::VersionNotRaised,
        Mutant::ReadOnlySkipsValidation,
    ];
    for mutant in found {
        let cluster = |seed| crowded(Planted::new(mutant), seed);
        assert!((0..40).any(|seed| is_noticed(cluster(seed))), "{mutant:?}");
    }
    for mutant in [Mutant::ReadOfLockedRow, Mutant::OwnLockConflicts] {
        let cluster = |seed| in_parts(Planted::new(mutant), seed);
        assert!((0..40).any(|seed| is_noticed(cluster(seed))), "{mutant:?}");
    }
    assert!((0..40).all(|seed| !is_noticed(crowded(Planted::default(), seed))));
}
