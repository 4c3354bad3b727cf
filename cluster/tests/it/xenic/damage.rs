// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are damaged or come from the wrong place change nothing.

use cluster::engine::{Endpoint, Input, NodeId, Part};
use cluster::workload::{Scripted, SmallBank, SmallBankSettings};
use cluster::xenic::Settings;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::driver::{Cluster, Flight, Network};

fn cluster(settings: Settings, seed: u64) -> Cluster<Scripted<SmallBank>> {
    let access = workloads::scenario::SmallBankAccess::Hot10;
    let bank = SmallBankSettings {
        accounts: 40,
        hot_accounts: 2,
        access,
        initial_cents: 500,
        balance_bytes: 4,
        seed,
    };
    let bank = SmallBank::new(bank).expect("sound settings");
    let network = Network { shuffles: true, ..Network::default() };
    let mut cluster = Cluster::new(settings, Scripted::drawn(bank, 24, 6), network, seed);
    cluster.begin_all();
    cluster
}

#[test]
fn what_cannot_be_read_or_is_foreign_changes_nothing() {
    seeds::each!(12, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let level = seed % 4;
        let settings = Settings {
            nodes: 3,
            workers: 2,
            combined: level >= 1,
            ships: level >= 2,
            multi_hop: level >= 3,
            ..Settings::default()
        };
        let mut cluster = cluster(settings, seed);
        for _ in 0..random.random_range(50..300) {
            cluster.step();
        }
        let messages: Vec<_> = cluster.flying.iter().cloned().collect();
        for message in messages {
            let Flight::Message { from, to, bytes } = message else { continue };
            let before = cluster.nodes[to.node.index()].clone();
            let mut unchanged = |from: Endpoint, bytes: &[u8]| {
                cluster.burst(to, &[Input::Message { from, bytes }]);
                assert!(
                    cluster.nodes[to.node.index()] == before,
                    "{from:?} to {to:?}: {bytes:?} has changed something"
                );
            };
            for end in 0..bytes.len() {
                unchanged(from, &bytes[..end]);
            }
            unchanged(from, &[&bytes[..], &[0]].concat());
            // From another core or thread, another node's host, or no node at all.
            let part = match from.part {
                Part::NicCore(core) => Part::NicCore(core ^ 1),
                _ => Part::HostThread(9),
            };
            unchanged(Endpoint { part, ..from }, &bytes);
            unchanged(Endpoint { node: NodeId(7), ..from }, &bytes);
            unchanged(Endpoint { node: NodeId::MANAGER, ..from }, &bytes);
            // Of another view.
            if matches!((from.part, to.part), (Part::NicCore(_), Part::NicCore(_))) {
                let mut other = bytes.clone();
                other[1] ^= 1;
                unchanged(from, &other);
            }
        }
        cluster.run().unwrap();
        cluster.check().unwrap();
    });
}

#[test]
fn any_bytes_may_come() {
    seeds::each!(20, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut cluster = cluster(Settings { nodes: 3, ..Settings::default() }, seed);
        cluster.is_deaf = true;
        for _ in 0..400 {
            cluster.step();
            let Some(Flight::Message { from, to, bytes }) = cluster.flying.front().cloned() else {
                continue;
            };
            let mut bytes = bytes;
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
            cluster.burst(to, &[Input::Message { from, bytes: &bytes }]);
        }
    });
}
