// SPDX-License-Identifier: MIT OR Apache-2.0
//! DrTM+H and its other forms without a world: counts of messages and verbs, any order, planted bugs.

mod driver;

use std::collections::BTreeMap;

use cluster::drtm_h::{Form, Means, Mutant, Planted, Settings};
use cluster::engine::{Ending, Stage, Work};
use cluster::placement::partition_of;
use cluster::transact::Intent::{Read, Write};
use cluster::transact::{Intent, Transactions};
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, ObjectTransaction, Retwis, RetwisSettings, Scripted,
    SmallBank, SmallBankSettings, Tatp, TatpSettings, Tpcc, TpccSettings,
};
use driver::{Cluster, Network};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::wild::Wild;

const NODES: u16 = 6;
const STEPS: u32 = 4_000_000;

/// The three of the paper, and the two that mix means otherwise.
const FORMS: [Form; 5] = [
    Form::DRTM_H,
    Form::NC,
    Form::DRTM_R,
    Form { lock: Means::Verbs, ..Form::DRTM_H },
    Form { commit: Means::Verbs, ..Form::NC },
];

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

/// One worker of node 0 runs one transaction on rows of 40 bytes.
fn one(form: Form, rows: &[(u64, Intent)]) -> Cluster<Scripted<ObjectStore>> {
    let settings = Settings { form, nodes: NODES, threads: 1, workers: 1, ..Settings::default() };
    let input = ObjectTransaction::new(1, rows);
    let workload = Scripted::new(objects(40), [vec![input]]);
    let mut cluster = Cluster::new(settings, workload, Network::default(), 0);
    cluster.begin_all();
    cluster.run(STEPS).unwrap();
    assert_eq!(cluster.ended(Ending::Committed), 1);
    cluster.check().unwrap();
    cluster
}

const STAGES: [Stage; 5] =
    [Stage::Execute, Stage::Validate, Stage::Log, Stage::Primary, Stage::Abort];

fn rpcs<T: Transactions>(cluster: &Cluster<T>) -> [usize; 5] {
    STAGES.map(|stage| cluster.asked.get(&stage).copied().unwrap_or(0))
}

fn verbs<T: Transactions>(cluster: &Cluster<T>) -> [(usize, usize); 5] {
    STAGES.map(|stage| cluster.verbs.get(&stage).copied().unwrap_or((0, 0)))
}

/// O(4, 2): four rows of other nodes, two of them written, with two backups each.
#[test]
fn messages_and_verbs_are_as_many_as_by_hand() {
    let row = |node| object(node, 0);
    let o42 = [(row(1), Write), (row(3), Write), (row(4), Read), (row(5), Read)];
    let none = (0, 0);
    // Reads of header and 40 bytes; headers of 16; records of 9 and an item of 58: backups 2, 3 of row 1 and 4, 5 of
    // row 3; the four nodes with records are told to apply them before the worker rests.
    let logs = (4, 4 * (9 + 18 + 40));
    let hybrid = one(Form::DRTM_H, &o42);
    assert_eq!(rpcs(&hybrid), [2, 0, 4, 2, 0]);
    assert_eq!(verbs(&hybrid), [(4, 4 * 56), (2, 2 * 16), logs, none, none]);
    let one_sided = one(Form::DRTM_R, &o42);
    assert_eq!(rpcs(&one_sided), [0, 0, 4, 0, 0]);
    // Beside the reads, each row has a CAS and a READ of its version, and a WRITE of version and value and one of its
    // lock.
    let execute = (4 + 4, 4 * 56 + 2 * (8 + 8));
    let primary = (4, 2 * (8 + 40 + 8));
    assert_eq!(verbs(&one_sided), [execute, (2, 32), logs, primary, none]);
    // What goes to a node with another verb of the step has its doorbell: CAS and READ, both WRITEs.
    assert_eq!(one_sided.work.of(Work::Post), 4 + 2 + 2 + 4 + 2);
    assert_eq!(hybrid.work.of(Work::Post), 4 + 2 + 4);
    // A lone row that is read needs no validation, and three do.
    let lone = one(Form::DRTM_H, &[(row(3), Read)]);
    assert_eq!((rpcs(&lone), verbs(&lone)[1]), ([0; 5], none));
    let three = one(Form::DRTM_H, &[1, 2, 3].map(|node| (row(node), Read)));
    assert_eq!((rpcs(&three), verbs(&three)[1]), ([0; 5], (3, 48)));
}

/// Without the cache each row costs as many READs of buckets as its chain is long.
#[test]
fn without_a_cache_chains_are_followed() {
    let mut reads = BTreeMap::<usize, usize>::new();
    for number in 0..80 {
        let row = object(1 + (number % 5) as u16, number / 5);
        let cluster = one(Form::NC, &[(row, Read)]);
        let key = cluster::engine::Key { row, ..Default::default() };
        let expected = usize::from(cluster.protocol.reads_of(key, true));
        // Buckets of a link and four slots, each of a key and the row of 16 + 40 bytes.
        assert_eq!(verbs(&cluster)[0], (expected, expected * (8 + 4 * (8 + 56))));
        *reads.entry(expected).or_default() += 1;
    }
    assert!(reads[&1] > 50 && reads.len() > 1, "{reads:?}");
}

#[test]
fn own_rows_need_no_messages_and_no_verbs() {
    for form in FORMS {
        let row = |number| object(0, number);
        let reads = one(form, &[(row(0), Read), (row(1), Read)]);
        assert_eq!((rpcs(&reads), verbs(&reads)), ([0; 5], [(0, 0); 5]));
        let writes = one(form, &[(row(0), Write), (row(1), Read)]);
        assert_eq!(rpcs(&writes), [0, 0, 2, 0, 0]);
        assert_eq!(verbs(&writes)[2].0, 2);
        assert_eq!(writes.work.of(Work::Apply), 2);
    }
}

/// All workers of all nodes run what the workload draws.
fn all<T: Transactions>(settings: Settings, workload: T, count: usize, seed: u64) {
    let Settings { nodes, threads, workers, .. } = settings;
    let of_cluster = u32::from(nodes) * u32::from(threads) * u32::from(workers);
    let name = format!("{settings:?}, seed {seed}");
    let workload = Scripted::drawn(workload, of_cluster, count);
    let network = Network { shuffles: true, duplicates: (seed % 2 == 1).then_some(5) };
    let mut cluster = Cluster::new(settings, workload, network, seed);
    cluster.begin_all();
    let check = cluster.run(STEPS).and_then(|()| cluster.check());
    check.unwrap_or_else(|error| panic!("{error}\n{name}"));
    let done = cluster.ended(Ending::Committed) + cluster.ended(Ending::RolledBack);
    assert_eq!(done, of_cluster as usize * count, "{name}");
    assert!(cluster.largest <= 4096, "{name}");
}

fn settings(random: &mut ChaCha8Rng) -> Settings {
    let nodes = random.random_range(2..6);
    Settings {
        form: FORMS[random.random_range(0..FORMS.len())],
        nodes,
        threads: random.random_range(1..3),
        workers: random.random_range(1..5),
        backups: random.random_range(0..nodes.min(4)) as u8,
        slots: [4, 8, 16][random.random_range(0..3)],
        ..Settings::default()
    }
}

#[test]
fn contending_transactions_commit_one_after_the_other() {
    seeds::each!(20, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let settings = settings(random);
        let reads = random.random_range(1..=settings.nodes.min(4)) as u8;
        let objects = ObjectStoreSettings {
            objects: 12,
            value_bytes: 16,
            apart: false,
            seed,
            ..ObjectStoreSettings::o(reads, random.random_range(0..=reads), settings.nodes, 1)
        };
        all(settings, ObjectStore::new(objects).unwrap(), 12, seed);
    });
}

#[test]
fn the_papers_workloads_run() {
    seeds::each!(6, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let form = FORMS[seed as usize % 3];
        let settings =
            || Settings { form, nodes: 4, threads: 2, workers: 3, ..Settings::default() };
        let tatp = TatpSettings { subscribers: random.random_range(8..200), seed };
        all(settings(), Tatp::new(tatp).unwrap(), 20, seed);
        let bank = SmallBankSettings {
            accounts: 300,
            hot_accounts: 20,
            seed,
            ..SmallBankSettings::xenic(4, workloads::scenario::SmallBankAccess::Hot90)
        };
        all(settings(), SmallBank::new(bank).unwrap(), 20, seed);
        let retwis = RetwisSettings { keys: 200, seed, ..RetwisSettings::xenic(4) };
        all(settings(), Retwis::new(retwis).unwrap(), 20, seed);
        let orders = TpccSettings {
            warehouses_per_node: 2,
            items: 60,
            customers: 9,
            seed,
            ..TpccSettings::xenic(4, 2, 3)
        };
        all(settings(), Tpcc::new_orders(orders).unwrap(), 6, seed);
    });
}

/// Values of no bytes, of many, out of line; rows that are made and deleted; rounds; rows that are not changed.
#[test]
fn wild_transactions_in_any_order() {
    seeds::each!(20, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        all(settings(random), Wild { rows: random.random_range(4..20), seed }, 12, seed);
    });
}

/// Rows that lie beside their buckets are made while others are on the way to them along a chain.
#[test]
fn rows_that_are_made_meanwhile_are_read() {
    seeds::each!(40, |seed| {
        let settings =
            Settings { form: Form::NC, threads: 1, workers: 3, backups: 0, ..Settings::default() };
        all(settings, Wild { rows: 4, seed }, 12, seed);
    });
}

/// Runs a case with a bug, and says what was noticed.
fn noticed(form: Form, planted: Planted, seed: u64) -> Option<String> {
    let objects = ObjectStoreSettings {
        objects: 6,
        value_bytes: 16,
        apart: false,
        seed,
        ..ObjectStoreSettings::o(3, 1, 3, 1)
    };
    let workload = Scripted::drawn(ObjectStore::new(objects).unwrap(), 9, 10);
    let settings = Settings { form, threads: 1, workers: 3, planted, ..Settings::default() };
    let network = Network { shuffles: true, duplicates: None };
    let mut cluster = Cluster::new(settings, workload, network, seed);
    cluster.begin_all();
    cluster.run(40_000).and_then(|()| cluster.check()).err()
}

#[test]
fn planted_bugs_are_noticed() {
    for mutant in Mutant::ALL {
        for form in [Form::DRTM_H, Form::DRTM_R] {
            // An RPC commits and unlocks at once.
            if mutant == Mutant::UnlockBeforeValue && form.commit == Means::Rpc {
                continue;
            }
            let found =
                (0..60).find_map(|seed| Some((seed, noticed(form, Planted::new(mutant), seed)?)));
            let (seed, what) = found.unwrap_or_else(|| panic!("{mutant:?}, {form:?}: missed"));
            println!("{mutant:?}, seed {seed}: {:.150}", what.lines().next().unwrap_or_default());
        }
    }
    for form in FORMS {
        assert_eq!((0..15).find_map(|seed| noticed(form, Planted::default(), seed)), None);
    }
}

/// Whatever comes as a message or lands in memory, nothing panics.
#[test]
fn bytes_that_are_no_message_change_nothing() {
    use cluster::engine::{Effects, Endpoint, Input, Machine, NodeId};
    use rand::Rng;
    let workload = Scripted::new(objects(40), [vec![]]);
    let settings = Settings { nodes: NODES, threads: 1, workers: 1, ..Settings::default() };
    let before = Cluster::new(settings, workload, Network::default(), 0);
    seeds::each!(300, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut node = before.nodes[3].clone();
        let mut bytes = vec![0; random.random_range(0..80)];
        random.fill_bytes(&mut bytes);
        // As much of a header as gets past the first look.
        let header = [0, 0, 0, 0, 0, 0, 3, 0, 1];
        let kept = random.random_range(0..=header.len().min(bytes.len()));
        bytes[..kept].copy_from_slice(&header[..kept]);
        let mut out = Effects::new();
        let input = Input::Message { from: Endpoint::host(NodeId(1), 0), bytes: &bytes };
        node.parts[0].burst(&mut node.shared, Default::default(), &[input], &mut out);
        node.shared.write_host(random.random(), &bytes);
        node.shared.write_host(1 << 63 | u64::from(random.random::<u8>() % 3), &bytes);
        node.shared.read_host(random.random(), random.random_range(0..100), &mut bytes);
        node.parts[0].burst(&mut node.shared, Default::default(), &[], &mut out);
    });
}
