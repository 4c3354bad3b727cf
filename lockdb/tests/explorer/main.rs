//! Every interleaving of a few agents on one bucket, explored by a model checker.
//!
//! Hosts read a line word by word, devices in one snapshot; devices die at any step and are
//! repaired by the host while everybody else goes on. The queue is shortened to two slots, so that
//! four agents fill it.
#![cfg(not(loom))]

mod model;
mod sabotage;

use model::{Agents, LockModel};
use sabotage::Sabotage;
use stateright::{Checker, HasDiscoveries, Model};

fn explore(model: LockModel, until: HasDiscoveries) -> impl Checker<LockModel> {
    let name = format!("{model:?}");
    let checker = model.checker().threads(2).finish_when(until).spawn_bfs().join();
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker
}

#[test]
fn four_agents_in_every_mix_of_host_and_device() {
    for devices in 0..=4 {
        let agents = Agents { hosts: 4 - devices, devices, acquisitions: 1 };
        let model = LockModel { agents, slots: 2, sabotage: None };
        explore(model, HasDiscoveries::All).assert_properties();
    }
}

#[test]
fn agents_that_come_back_with_the_same_timestamp() {
    for devices in 0..=2 {
        let agents = Agents { hosts: 2 - devices, devices, acquisitions: 2 };
        let model = LockModel { agents, slots: 2, sabotage: None };
        explore(model, HasDiscoveries::All).assert_properties();
    }
}

#[test]
fn every_broken_variant_is_rejected() {
    for sabotage in Sabotage::ALL {
        let agents = Agents { hosts: 3, devices: 1, acquisitions: 1 };
        let model = LockModel { agents, slots: 2, sabotage: Some(sabotage) };
        let checker = explore(model, HasDiscoveries::Any);
        let found = checker.discoveries();
        for (property, path) in found.clone() {
            println!("  {sabotage:?} breaks `{property}` in {} steps", path.into_actions().len());
        }
        assert!(!found.is_empty(), "{sabotage:?} went unnoticed");
    }
}
