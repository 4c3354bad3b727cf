// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic as the explorer takes it: small clusters whose hosts have one application thread and one log worker, and
//! whose NICs have one core. Memory operations may reach memory, and be seen, at any time.

use std::collections::BTreeMap;

use cluster::engine::{Endpoint, Key, Node, NodeId, Operation, Part, Span, Stage};
use cluster::membership::{self, Phase, kind};
use cluster::transact::digest;
use cluster::xenic::{Machine, Mutant, Planted, Settings, Shared, Xenic};

use super::fasst::ROWS;
use super::script::{Deed, Script, Transaction, key};
use super::search::explore;
use super::subject::{Limits, Subject};
use super::{assert_right, most};

use Deed::{Delete, Insert, Read, Update};

impl Subject for Xenic<Script> {
    const HOST_THREADS: u8 = 2;

    fn workers(&self) -> Vec<(Endpoint, u8)> {
        let workers = u32::from(self.settings().workers);
        let place = |worker: u32| {
            let node = NodeId((worker / workers) as u16);
            (Endpoint::host(node, 0), (worker % workers) as u8)
        };
        self.workload().busy_workers().map(place).collect()
    }

    fn rows(&self) -> BTreeMap<Key, u64> {
        self.workload().initial_digests()
    }

    fn replicas(&self, up: &[(NodeId, &Node<Machine<Script>>)], key: Key) -> Vec<(NodeId, u64)> {
        let partition = self.layout().partition_of(key);
        let digest_at = |(id, node): &(NodeId, &Node<Machine<Script>>)| {
            let store = &node.shared.host.store;
            if *id == NodeId::MANAGER || !store.has(partition) || store.is_filling(partition) {
                return None;
            }
            let mut value = Vec::new();
            let found = store.read(key, &mut value).ok()?;
            Some((*id, digest(found.present.then_some(&value[..]))))
        };
        up.iter().filter_map(digest_at).collect()
    }

    fn renews(&self, stage: Stage, bytes: &[u8]) -> bool {
        let kind = bytes.get(4).copied().unwrap_or_default();
        stage == Stage::Membership && [kind::RENEW, kind::GRANT].contains(&kind)
    }

    fn finds_something(node: &Node<Machine<Script>>, part: Part) -> Option<bool> {
        let polls = part == Part::HostThread(1);
        polls.then(|| node.shared.host.logs.iter().any(|log| log.has_arrivals()))
    }

    fn operate(shared: &mut Shared<Script>, operation: Operation, bytes: &mut Vec<u8>) -> bool {
        match operation {
            Operation::Read { at, length } => shared.read_host(at, length, bytes),
            Operation::Write { at } => {
                let written = std::mem::take(bytes);
                shared.write_host(at, &written)
            }
            _ => false,
        }
    }

    fn is_settled(&self, up: &[(NodeId, &Node<Machine<Script>>)], down: &[NodeId]) -> bool {
        let is_settled = |(id, node): &(NodeId, &Node<Machine<Script>>)| {
            let recovery = &node.shared.host.recovery;
            let (member, store) = (&recovery.member, &node.shared.host.store);
            // A NIC whose workers rest has still to tell others that the last transactions are over.
            let works = node.parts.iter().any(|part| match part {
                Machine::Application(thread) => !thread.rests(),
                _ => false,
            });
            *id == NodeId::MANAGER
                || (works || Self::rests(node).is_ok())
                    && !recovery.is_busy()
                    && *member.phase() == Phase::Installed
                    && !down.iter().any(|node| member.view().contains(*node))
                    && !self.layout().all().any(|partition| store.is_filling(partition))
        };
        up.iter().all(is_settled)
    }
}

/// Small; as long as a walk follows a worker, it tries again at once.
fn small(nodes: u16, backups: u8) -> Settings {
    Settings {
        nodes,
        workers: 1,
        cores: 1,
        slots: 2,
        backups,
        loss_timeout: Span::from_us(1_000),
        flush: Span::from_us(10),
        patience: 1,
        ..Settings::default()
    }
}

/// The logic runs on the host.
fn hosted(settings: Settings) -> Settings {
    Settings { ships: false, multi_hop: false, ..settings }
}

fn asked(settings: Settings) -> Settings {
    Settings { multi_hop: false, ..settings }
}

/// With a manager, which replaces nodes that have crashed.
fn managed(settings: Settings) -> Settings {
    let span = Span::from_us;
    let membership =
        membership::Settings { lease: span(100), renew: span(60), skew: span(10), retry: span(40) };
    Settings { membership: Some(membership), ..settings }
}

/// A row of a partition, by its number there; those from 100 on are not there at the start.
type Rows<'a> = &'a [(usize, usize, Deed)];

struct Scene {
    name: &'static str,
    settings: Settings,
    /// One transaction of the worker of each node.
    transactions: &'static [Rows<'static>],
    limits: Limits,
}

impl Scene {
    fn new(name: &'static str, settings: Settings, transactions: &'static [Rows<'static>]) -> Self {
        Self { name, settings, transactions, limits: Limits::default() }
    }

    fn cluster(&self, planted: Planted) -> Xenic<Script> {
        let settings = Settings { planted, ..self.settings.clone() };
        let build = |workers| {
            let script = Script::new(ROWS, workers);
            Xenic::new(settings.clone(), script).expect("sound settings")
        };
        let layout = build(Vec::new());
        let layout = layout.layout();
        let row = |partition: usize, number: usize| {
            let is_of = |row: &u64| layout.partition_of(key(*row)).index() == partition;
            let (mut there, mut absent) = ((0..ROWS).filter(is_of), (ROWS..9 * ROWS).filter(is_of));
            match number.checked_sub(100) {
                None => there.nth(number).expect("so many rows"),
                Some(number) => absent.nth(number).expect("so many rows that are not there"),
            }
        };
        let list = |(tag, deeds): (u8, &Rows<'_>)| match deeds.is_empty() {
            true => Vec::new(),
            false => {
                let deeds = deeds.iter().map(|(at, number, deed)| (row(*at, *number), *deed));
                vec![Transaction::new(tag, &deeds.collect::<Vec<_>>())]
            }
        };
        build((1..).zip(self.transactions).map(list).collect())
    }
}

fn calm() -> Vec<Scene> {
    vec![
        Scene::new(
            "two writers of two rows",
            small(2, 1),
            &[&[(0, 0, Update), (1, 0, Update)], &[(1, 0, Update), (0, 0, Update)]],
        ),
        Scene::new(
            "two that read what the other writes",
            small(2, 0),
            &[&[(0, 0, Read), (1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]],
        ),
        Scene::new(
            "the same by requests",
            asked(small(2, 0)),
            &[&[(0, 0, Read), (1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]],
        ),
        Scene::new(
            "the same on hosts",
            hosted(small(2, 0)),
            &[&[(0, 0, Read), (1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]],
        ),
        Scene::new(
            "a host reads its tables while another writes them",
            hosted(small(2, 0)),
            &[&[(0, 0, Read), (0, 1, Read)], &[(0, 0, Update), (0, 1, Update)]],
        ),
        Scene::new(
            "a host writes its tables while another does",
            hosted(small(2, 0)),
            &[&[(0, 0, Read), (0, 1, Update)], &[(0, 0, Update), (0, 1, Read)]],
        ),
        Scene::new(
            "a reader of two nodes",
            asked(small(2, 0)),
            &[&[(0, 0, Update), (1, 0, Update)], &[(0, 0, Read), (1, 0, Read)]],
        ),
        Scene::new(
            "a reader of one other node",
            small(2, 1),
            &[&[(0, 0, Update), (0, 1, Update)], &[(0, 0, Read), (0, 1, Read)]],
        ),
        Scene::new(
            "rows come and go",
            small(2, 1),
            &[&[(0, 100, Insert), (1, 0, Delete)], &[(1, 0, Read), (0, 100, Read)]],
        ),
        Scene::new(
            "without combined requests",
            Settings { combined: false, ..hosted(small(2, 0)) },
            &[&[(0, 0, Read), (1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]],
        ),
    ]
}

fn troubled() -> Vec<Scene> {
    let crash = |nodes: &[u16]| Limits {
        may_crash: nodes.iter().copied().map(NodeId).collect(),
        // Longer than it takes until a node is replaced and what it has left is found to be lost.
        horizon: Span::from_us(3_000),
        ..Limits::default()
    };
    let twice = Limits { duplicates: 1, ..Limits::default() };
    vec![
        Scene {
            limits: twice,
            ..Scene::new(
                "a message comes twice",
                small(2, 1),
                &[&[(0, 0, Read), (1, 0, Update)], &[(1, 0, Update)]],
            )
        },
        Scene {
            limits: crash(&[0]),
            ..Scene::new(
                "a coordinator crashes",
                managed(small(3, 1)),
                &[&[(1, 0, Update), (2, 0, Update)]],
            )
        },
        Scene {
            limits: crash(&[0, 1]),
            ..Scene::new(
                "one of two writers crashes",
                managed(small(2, 1)),
                &[&[(0, 0, Update), (1, 0, Update)], &[(1, 0, Update), (0, 0, Read)]],
            )
        },
    ]
}

#[test]
fn every_order_of_xenic() {
    for scene in calm() {
        assert_right(scene.name, &scene.cluster(Planted::default()), scene.limits.clone());
    }
}

#[test]
fn xenic_in_trouble() {
    for scene in troubled() {
        assert_right(scene.name, &scene.cluster(Planted::default()), scene.limits.clone());
    }
}

/// What is found with a planted bug in this scene.
fn found(mutant: Mutant, name: &str) -> Option<String> {
    let scene = calm().into_iter().find(|scene| scene.name == name).expect("a scene of this name");
    let cluster = scene.cluster(Planted::new(mutant));
    let wrong = explore(&cluster, scene.limits.clone(), most().max(400_000)).err()?;
    let what = wrong.what.lines().next().unwrap_or_default();
    Some(format!("{} steps: {what:.120}", wrong.way.len()))
}

const FOUND: [(Mutant, &str); 7] = [
    (Mutant::NoValidation, "the same by requests"),
    (Mutant::LocalReadsOnHost, "a host reads its tables while another writes them"),
    (Mutant::ShippedReadsUnlocked, "two that read what the other writes"),
    (Mutant::RemoteAbortKeepsLocks, "two that read what the other writes"),
    (Mutant::UnlockedBeforePinned, "a reader of two nodes"),
    (Mutant::ReadOnlySkipsValidation, "a reader of two nodes"),
    (Mutant::OwnLockConflicts, "without combined requests"),
];

#[test]
fn planted_bugs_of_xenic_are_found() {
    for (mutant, scene) in FOUND {
        let what = found(mutant, scene).unwrap_or_else(|| panic!("{mutant:?} is not found"));
        println!("{mutant:?}: {what}");
    }
}
