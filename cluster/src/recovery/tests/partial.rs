// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery from partial records, with a table that decides about some: a protocol that has nothing else. Nodes
//! are put into states as they are in the middle of transactions, some fail before the change of views and some in
//! the middle of it, and messages are lost and come in any order.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::*;
use super::VALUE;
use crate::engine::{Key, TableNumber};
use crate::placement::{Headers, PartitionId, Partitioning};
use crate::store::log::Log;
use crate::store::{Item, Store};
use crate::transact::Change;
use crate::wire::Writer;
use crate::workload::{ObjectStore, ObjectStoreSettings};

/// A node.
#[derive(Clone)]
struct Toy {
    store: Store<ObjectStore>,
    log: Log,
    recovery: Recovery,
    /// The highest count of each worker of which it has heard: what its table says.
    served: BTreeMap<u32, u32>,
    /// Records that stand in no log yet, of transactions that nothing can prevent any more.
    volatile: Vec<(TransactionId, Vec<u8>)>,
    decided: BTreeMap<TransactionId, bool>,
}

impl Keeps for Toy {
    type Workload = ObjectStore;
    type Records = Partial;

    fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    fn store(&self) -> &Store<ObjectStore> {
        &self.store
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn parts(&mut self) -> Parts<'_, ObjectStore> {
        Parts { recovery: &mut self.recovery, store: &mut self.store, log: &mut self.log }
    }

    fn stop(&mut self, _: &mut Effects) {
        for (transaction, record) in self.volatile.drain(..) {
            self.log.merge(transaction, &record, Partial::merge);
        }
    }

    fn put_table(&self, out: &mut Vec<u8>) {
        for (worker, count) in &self.served {
            out.put_u32(*worker);
            out.put_u32(*count);
        }
    }

    fn check_entry(&self, reader: &mut Reader<'_>) -> Result<(), WireError> {
        reader.u32("a worker")?;
        reader.u32("a count").map(drop)
    }

    fn decides(&self, records: &[(TransactionId, &[u8])], tables: &[(NodeId, &[u8])]) -> Vec<bool> {
        let entries = tables.iter().flat_map(|(_, table)| table.chunks_exact(8));
        let is_over = |transaction: TransactionId| {
            entries.clone().any(|entry| {
                let mut entry = Reader::new(entry);
                entry.u32("a worker") == Ok((transaction.0 >> 32) as u32)
                    && entry.u32("a count").is_ok_and(|count| count > transaction.count())
            })
        };
        let decides = |(transaction, record): &(TransactionId, &[u8])| {
            Partial::is_whole(record) || is_over(*transaction)
        };
        records.iter().map(decides).collect()
    }

    fn decided(&mut self, transaction: TransactionId, committed: bool) {
        self.decided.insert(transaction, committed);
    }
}

/// How far a transaction has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Not all records are written.
    Logs,
    /// All are, and its client knows it.
    Told,
    /// All primaries have acknowledged it, and its worker goes on.
    Over,
}

/// A transaction, and the rows that it writes.
struct Told {
    name: TransactionId,
    progress: Progress,
    rows: Vec<u64>,
}

struct World {
    random: ChaCha8Rng,
    layout: Arc<Partitioning>,
    /// The last view that has begun.
    view: View,
    nodes: Vec<Toy>,
    alive: BTreeSet<u16>,
    transactions: Vec<Told>,
    mtu: usize,
    /// Messages under way: from, to and bytes.
    queue: Vec<(NodeId, NodeId, Vec<u8>)>,
    /// Who has told that it is ready for the proposed view.
    ready: BTreeSet<u16>,
    proposed: u32,
    now: Instant,
}

fn key(row: u64) -> Key {
    Key { table: TableNumber(0), row }
}

impl World {
    fn new(seed: u64, planted: Planted) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let nodes = random.random_range(4..=6);
        let backups = random.random_range(1..=2);
        let settings = ObjectStoreSettings {
            objects: 10_000,
            value_bytes: VALUE as u16,
            ..ObjectStoreSettings::o(2, 1, nodes, 1)
        };
        let workload = ObjectStore::new(settings).expect("sound settings");
        let layout = Partitioning::new(nodes, backups, workload.tables()).expect("sound settings");
        let layout = Arc::new(layout.with_headers(Headers::Rows));
        let view = Arc::new(View::initial(&layout));
        let mtu = random.random_range(60..300);
        let node = |node| {
            let held = layout.all().filter(|at| view.replicas(*at).nodes().contains(&node));
            let membership = Some(membership::Settings::default());
            let member = Member::new(node, membership, Arc::clone(&view));
            let settings = Settings { mtu, copies_initial_rows: false, planted };
            Toy {
                store: Store::new(workload.clone(), Arc::clone(&layout), held),
                log: Log::new(),
                recovery: Recovery::new(member, settings),
                served: BTreeMap::new(),
                volatile: Vec::new(),
                decided: BTreeMap::new(),
            }
        };
        let all: Vec<_> = (0..nodes).map(|id| node(NodeId(id))).collect();
        let mut world = Self {
            random,
            view: View::clone(&view),
            nodes: all,
            alive: (0..nodes).collect(),
            transactions: Vec::new(),
            mtu: mtu.into(),
            queue: Vec::new(),
            ready: BTreeSet::new(),
            proposed: 1,
            now: Instant::default(),
            layout,
        };
        for number in 0..world.random.random_range(4..30) {
            world.execute(number);
        }
        world
    }

    fn is(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    /// Brings transaction number `number` as far as it has come.
    fn execute(&mut self, number: u16) {
        let coordinator = NodeId(self.random.random_range(0..self.layout.partitions()));
        let name = TransactionId::new(coordinator, 0, number as u8, 7);
        let count = self.random.random_range(1..=4);
        let rows: Vec<u64> = (0..count).map(|row| u64::from(number) * 10 + row).collect();
        let progress = [Progress::Logs, Progress::Told, Progress::Over];
        let progress = progress[self.random.random_range(0..3)];
        let shards: BTreeSet<_> =
            rows.iter().map(|row| self.layout.partition_of(key(*row))).collect();
        let shards: Vec<_> = shards.into_iter().collect();
        for node in (0..self.layout.partitions()).map(NodeId) {
            let is_holder = |shard: &PartitionId| {
                let nodes = self.view.replicas(*shard).nodes();
                node != coordinator
                    && nodes.contains(&node)
                    && (nodes[0] != node || nodes.contains(&coordinator))
            };
            let held: Vec<_> = shards.iter().copied().filter(is_holder).collect();
            let is_primary = |shard: &PartitionId| self.view.primary(*shard) == Some(node);
            let primary: Vec<_> = shards.iter().copied().filter(is_primary).collect();
            if !held.is_empty() && (progress != Progress::Logs || self.is(60)) {
                self.append(node, name, false, &shards, &held, &rows);
            }
            // A coordinator that is a backup has a record of its own, for which its client need not wait.
            let is_own = |shard: &PartitionId| self.view.backups(*shard).contains(&coordinator);
            let own: Vec<_> = shards.iter().copied().filter(is_own).collect();
            if node == coordinator && !own.is_empty() && (progress == Progress::Over || self.is(60))
            {
                self.append(node, name, false, &shards, &own, &rows);
            }
            let commits = match progress {
                Progress::Logs => false,
                Progress::Told => self.is(40),
                Progress::Over => true,
            };
            if commits && !primary.is_empty() {
                self.append(node, name, true, &shards, &primary, &rows);
            }
            if progress == Progress::Over && self.is(50) {
                self.nodes[node.index()].served.insert((name.0 >> 32) as u32, 8);
            }
            self.apply(node, name, progress);
        }
        // Its coordinator has the changes until all primaries have acknowledged them. One that has shipped the
        // transaction gets them later.
        if progress == Progress::Told || progress == Progress::Logs && self.is(50) {
            let record = self.record(true, &shards, &shards, &rows);
            self.nodes[coordinator.index()].volatile.push((name, record));
        }
        self.transactions.push(Told { name, progress, rows });
    }

    /// A record of the changes of the partitions `here`.
    fn record(
        &self,
        committed: bool,
        shards: &[PartitionId],
        here: &[PartitionId],
        rows: &[u64],
    ) -> Vec<u8> {
        let rows = rows.iter().filter(|row| here.contains(&self.layout.partition_of(key(**row))));
        let item = |row: &u64| Item {
            key: key(*row),
            change: Change::Update,
            fetched: 0,
            value: &[0xaa; VALUE],
        };
        let items: Vec<_> = rows.map(item).collect();
        let of = (self.nodes[0].store.workload().tables(), &*self.layout);
        let mut record = Vec::new();
        Partial::encode(committed, shards, &items, of, &mut record);
        record
    }

    fn append(
        &mut self,
        node: NodeId,
        name: TransactionId,
        committed: bool,
        shards: &[PartitionId],
        here: &[PartitionId],
        rows: &[u64],
    ) {
        let record = self.record(committed, shards, here, rows);
        self.nodes[node.index()].log.merge(name, &record, Partial::merge);
    }

    /// A node may apply what it knows to have committed, and drop it when the transaction is over.
    fn apply(&mut self, node: NodeId, name: TransactionId, progress: Progress) {
        let (applies, drops) = (self.is(60), self.is(60));
        let Toy { store, log, served, .. } = &mut self.nodes[node.index()];
        let Some(record) = log.record(name) else { return };
        let is_over = progress == Progress::Over && served.contains_key(&((name.0 >> 32) as u32));
        if !applies || !(Partial::decision(record) == Some(true) || is_over) {
            return;
        }
        let workload = store.workload().clone();
        for item in Partial::items(record, workload.tables()) {
            store.apply(&item).expect("a row of this node");
        }
        if is_over && drops {
            log.truncate(name);
        }
    }

    fn propose(&mut self) {
        self.proposed += 1;
        self.ready.clear();
        let alive: Vec<_> = self.alive.iter().map(|node| (NodeId(*node), 0)).collect();
        let view = self.view.next(self.proposed, &alive, &[], self.layout.backups());
        let mut bytes = Vec::new();
        Message::Prepare { view }.encode(&mut bytes);
        for (node, _) in alive {
            self.queue.push((NodeId::MANAGER, node, bytes.clone()));
        }
    }

    fn deliver(&mut self, from: NodeId, to: NodeId, bytes: &[u8]) {
        let mut out = Effects::new();
        receive(&mut self.nodes[to.index()], self.now, from, bytes, &mut out);
        self.take(to, &out);
    }

    fn take(&mut self, from: NodeId, out: &Effects) {
        for send in out.sends() {
            let bytes = out.bytes_of(&send.bytes);
            let (to, kind) = (send.to.node, bytes[4]);
            let proposed = self.proposed;
            if to == NodeId::MANAGER {
                if let Ok(Message::Recovered { epoch, .. }) = Message::decode(bytes)
                    && epoch == proposed
                {
                    self.ready.insert(from.0);
                }
            } else if matches!(kind, messages::RECORDS | messages::RECORDS_ANSWER | messages::TABLE)
            {
                // The changes of one partition are not taken apart.
                let most = self.mtu.max(17 + 2 + 4 * 4 + 4 * (18 + VALUE));
                assert!(bytes.len() <= most, "{} bytes of {}", bytes.len(), self.mtu);
                self.queue.push((from, to, bytes.to_vec()));
            }
        }
    }

    /// Delivers messages until all members are ready, or so many have come.
    fn exchange(&mut self, most: usize) {
        for _ in 0..most {
            if self.ready == self.alive {
                return;
            }
            if self.queue.is_empty() {
                self.now = self.now + Span::from_us(1_000);
                for node in self.alive.clone() {
                    let mut out = Effects::new();
                    tick(&mut self.nodes[usize::from(node)], self.now, &mut out);
                    self.take(NodeId(node), &out);
                }
                continue;
            }
            let at = self.random.random_range(0..self.queue.len());
            let (from, to, bytes) = self.queue.swap_remove(at);
            if from != NodeId::MANAGER && self.is(10) {
                continue;
            }
            if self.is(10) {
                self.queue.push((from, to, bytes.clone()));
            }
            if self.alive.contains(&to.0) {
                self.deliver(from, to, &bytes);
            }
        }
    }

    fn fails(&mut self) {
        let alive: Vec<u16> = self.alive.iter().copied().collect();
        let node = alive[self.random.random_range(0..alive.len())];
        self.alive.remove(&node);
    }

    fn change_views(&mut self) {
        let failures = self.random.random_range(1..=self.layout.backups());
        let before = self.random.random_range(1..=failures);
        (0..before).for_each(|_| self.fails());
        self.propose();
        for _ in before..failures {
            let most = self.random.random_range(0..60);
            self.exchange(most);
            self.fails();
            self.propose();
        }
        self.exchange(100_000);
        let mut bytes = Vec::new();
        Message::Commit { epoch: self.proposed }.encode(&mut bytes);
        for node in self.alive.clone() {
            self.deliver(NodeId::MANAGER, NodeId(node), &bytes);
        }
    }

    /// Whether all members agree, and nothing is lost or half done.
    fn check(&self) -> Result<(), String> {
        if self.ready != self.alive {
            return Err(format!("{:?} of {:?} are ready", self.ready, self.alive));
        }
        let alive = || self.alive.iter().map(|node| &self.nodes[usize::from(*node)]);
        if alive().any(|node| !node.log.is_empty() || node.recovery.member.epoch() != self.proposed)
        {
            return Err("a node has not begun the view".into());
        }
        for Told { name, progress, rows } in &self.transactions {
            let decided: BTreeSet<_> = alive().filter_map(|node| node.decided.get(name)).collect();
            let has_row = |node: &Toy, row: u64| {
                let (mut value, partition) = (Vec::new(), self.layout.partition_of(key(row)));
                if !node.store.has(partition) || node.store.is_filling(partition) {
                    return None;
                }
                node.store.read(key(row), &mut value).expect("a row of this node");
                Some(value == [0xaa; VALUE])
            };
            let here =
                |row: &u64| alive().filter_map(|node| has_row(node, *row)).collect::<Vec<_>>();
            let here: BTreeSet<bool> = rows.iter().flat_map(here).collect();
            let told = format!("{name:?}, {progress:?}: decided {decided:?}, rows {here:?}");
            if decided.len() > 1 || here.len() != 1 {
                return Err(format!("half: {told}"));
            }
            if decided.first().is_some_and(|decided| !here.contains(decided)) {
                return Err(format!("decided and done otherwise: {told}"));
            }
            if *progress != Progress::Logs && !here.contains(&true) {
                return Err(format!("lost: {told}"));
            }
        }
        Ok(())
    }
}

fn recovers(seed: u64, planted: Planted) -> Result<World, String> {
    let mut world = World::new(seed, planted);
    world.change_views();
    world.check().map(|()| world)
}

#[test]
fn partial_records_decide_as_wholes() {
    let mut counts = Counts::default();
    seeds::each!(200, |seed| {
        let world = recovers(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
        for node in &world.nodes {
            let of_node = node.recovery.counts();
            assert_eq!(of_node.malformed, 0);
            counts.decided += of_node.decided;
            counts.dropped += of_node.dropped;
        }
    });
    println!("{} records committed, {} dropped", counts.decided, counts.dropped);
    assert!(counts.decided > 0 && counts.dropped > 0);
}

#[test]
fn broken_recoveries_of_partial_records_are_noticed() {
    for mutant in [
        Mutant::RecordsNotMerged,
        Mutant::DecisionsCountAtOnce,
        Mutant::RecoveredTooEarly,
        Mutant::NothingCommitted,
        Mutant::DeadCoordinatorsForgotten,
    ] {
        let found = (0..1_000).find(|seed| recovers(*seed, Planted::new(mutant)).is_err());
        println!("{mutant:?}: seed {found:?}");
        assert!(found.is_some(), "{mutant:?} is not noticed");
    }
}

/// What has been decided stays so when a failure takes the table away, or there is another.
#[test]
fn a_decision_outlives_the_tables_that_it_came_from() {
    let name = |worker| TransactionId::new(NodeId(0), 0, worker, 7);
    let (rows, over, open) = ([3, 4], name(0), name(1));
    let mut world = World::new(0, Planted::default());
    let Toy { log, volatile, .. } = &mut world.nodes[1];
    log.clear();
    volatile.clear();
    let shards: BTreeSet<_> = rows.iter().map(|row| world.layout.partition_of(key(*row))).collect();
    let shards: Vec<_> = shards.into_iter().collect();
    assert_eq!(shards.len(), 2, "rows of two partitions");
    let record = world.record(false, &shards, &shards[..1], &rows);
    let Toy { log, recovery, .. } = &mut world.nodes[1];
    log.append(over, &record);
    log.append(open, &record);
    let view = |epoch, nodes: &[u16]| {
        let alive: Vec<_> = nodes.iter().map(|node| (NodeId(*node), 0)).collect();
        world.view.next(epoch, &alive, &[], 1)
    };
    let (first, second) = (view(2, &[0, 1, 2]), view(3, &[1, 2]));
    assert!(recovery.member.accepts(&first));
    let (node, out) = (&mut world.nodes[1], &mut Effects::new());
    // The table of a member, and no records; in two messages.
    let tell = |node: &mut Toy, epoch, from, worker: TransactionId| {
        let mut message = Vec::new();
        messages::begin_part(epoch, messages::TABLE, 0, &mut message);
        message.put_u32((worker.0 >> 32) as u32);
        message.put_u32(8);
        receive(node, Instant::default(), NodeId(from), &message, &mut Effects::new());
        message.clear();
        messages::begin_part(epoch, messages::RECORDS, 1, &mut message);
        messages::set_last(&mut message);
        receive(node, Instant::default(), NodeId(from), &message, &mut Effects::new());
    };
    let decision = |node: &Toy, name| Partial::decision(node.log.record(name).expect("a record"));
    prepare(node, first, Instant::default(), out);
    tell(node, 2, 0, over);
    assert_eq!((decision(node, over), decision(node, open)), (None, None));
    tell(node, 2, 2, TransactionId::new(NodeId(0), 0, 77, 0));
    assert_eq!((decision(node, over), decision(node, open)), (Some(true), Some(false)));
    // Node 0 fails, and what it knew is gone. Node 2 has begun the view, and counts anew.
    prepare(node, second, Instant::default(), out);
    tell(node, 3, 2, open);
    saw(node, 3, Instant::default(), out);
    assert_eq!((node.decided.get(&over), node.decided.get(&open)), (Some(&true), Some(&false)));
    let counts = node.recovery.counts();
    assert_eq!((counts.views, counts.decided, counts.dropped), (1, 1, 1));
}

/// Merging is the same in any order, and undoes taking apart.
#[test]
fn partial_records_are_merged_in_any_order() {
    seeds::each!(300, |seed| {
        let mut world = World::new(seed, Planted::default());
        let rows: Vec<u64> = (0..world.random.random_range(1..6)).map(|row| 77 + row).collect();
        let shards: BTreeSet<_> =
            rows.iter().map(|row| world.layout.partition_of(key(*row))).collect();
        let shards: Vec<_> = shards.into_iter().collect();
        let whole = world.record(false, &shards, &shards, &rows);
        let tables = world.nodes[0].store.workload().tables();
        Partial::check(&whole, tables, &world.layout).expect("a record");
        assert!(Partial::is_whole(&whole));
        let most = world.random.random_range(20..300);
        let mut pieces: Vec<_> =
            Partial::pieces(&whole, most).into_iter().map(|piece| piece.into_owned()).collect();
        let first = world.random.random_range(0..pieces.len());
        pieces.rotate_left(first);
        if world.random.random_range(0..2) == 0 {
            pieces.reverse();
        }
        let mut merged = pieces[0].clone();
        for piece in &pieces {
            Partial::check(piece, tables, &world.layout).expect("a record");
            assert!(Partial::agree(piece, &whole));
            assert_eq!(Partial::is_whole(piece), pieces.len() == 1);
            assert_eq!(Partial::merge(&mut merged, piece), *piece != pieces[0]);
            assert!(!Partial::merge(&mut merged, piece), "merged once");
        }
        assert_eq!(merged, whole);
        Partial::decide(&mut pieces[0], seed % 2 == 0);
        assert!(Partial::merge(&mut merged, &pieces[0]));
        assert_eq!(Partial::decision(&merged), Some(seed % 2 == 0));
        assert!(Partial::merge(&mut pieces[0], &whole) || pieces.len() == 1);
        assert_eq!(pieces[0], merged);
        // Each part of it, and each change of a bit, is none, or another.
        for end in 0..whole.len() {
            assert!(Partial::check(&whole[..end], tables, &world.layout).is_err(), "{end} bytes");
        }
        for at in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            if Partial::check(&damaged, tables, &world.layout).is_ok() {
                Partial::merge(&mut damaged, &whole);
                Partial::check(&damaged, tables, &world.layout).expect("merged from two records");
            }
        }
    });
}
