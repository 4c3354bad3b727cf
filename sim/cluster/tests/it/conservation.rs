// SPDX-License-Identifier: MIT OR Apache-2.0
//! Without faults each message that is sent arrives once. A protocol that survives duplicates and losses
//! would hide it if the world made some of its own.

use cluster::engine::Stage;
use cluster::fasst::{Fasst, Settings};
use cluster::workload::{Scripted, Tatp, TatpSettings};
use cluster_sim::nic::Connections;
use cluster_sim::platform;
use cluster_sim::world::{Hardware, Options, World};
use timing::Time;

#[test]
fn without_faults_each_message_arrives_once() {
    let settings = Settings { workers: 4, ..Settings::default() };
    let tatp = Tatp::new(TatpSettings { subscribers: 200, seed: 3 }).expect("sound settings");
    let workload = Scripted::drawn(tatp, 3 * 2 * 4, 30);
    let protocol = Fasst::new(settings, workload).expect("sound settings");
    let platform = platform::Hardware::named("connect-ib").expect("a platform of ours");
    let hardware = Hardware::of_platform(&platform, Connections::OWN, 1024);
    let options = Options { host_threads: 2, workers: 4, ..Options::default() };
    let mut world = World::new(protocol, hardware, None, options).expect("sound options");
    world.begin();
    world.run_until(Time::from_us(200));
    world.run_until_rest(Time::from_us(100_000)).expect("rest");
    for stage in Stage::ALL {
        let counts = &world.ledger().messages[stage as usize];
        assert_eq!(
            (counts.sent, counts.sent_bytes),
            (counts.received, counts.received_bytes),
            "{}",
            stage.name()
        );
    }
    assert!(world.ledger().messages[Stage::Execute as usize].sent > 500);
    for (node, state) in world.up() {
        for part in &state.parts {
            let dropped = part.thread().expect("a thread").dropped();
            assert_eq!((dropped.duplicates, dropped.unexpected), (0, 0), "node {}", node.0);
            assert_eq!((dropped.malformed, dropped.other_view), (0, 0), "node {}", node.0);
        }
    }
}
