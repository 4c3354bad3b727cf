// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every interleaving of a few agents on one bucket, explored by a model checker.
//!
//! Hosts read a line word by word, devices in one snapshot; devices die at any step, and the host
//! repairs the table while all other agents continue. Twins are two requests of one transaction at
//! once. The queue is shortened to two slots, so that four agents fill it.
#![cfg(not(loom))]

mod model;
mod mutant;

use locks::machine::Rule;
use model::{LockModel, Role};
use mutant::Mutant;
use stateright::{Checker, HasDiscoveries, Model};

const HOST: Role = Role { device: false, twin: false, acquisitions: 1 };
const DEVICE: Role = Role { device: true, ..HOST };
const HOST_TWIN: Role = Role { twin: true, ..HOST };
const DEVICE_TWIN: Role = Role { twin: true, ..DEVICE };

fn model(roles: &[Role]) -> LockModel {
    let roles = roles.to_vec();
    LockModel { roles, rule: Rule::Queue, slots: 2, mutant: None }
}

fn explore(model: LockModel, until: HasDiscoveries) -> impl Checker<LockModel> {
    let name = model.to_string();
    let checker = model.checker().threads(2).finish_when(until).spawn_bfs().join();
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker
}

fn assert_right(model: LockModel) {
    explore(model, HasDiscoveries::All).assert_properties();
}

fn assert_rejected(model: LockModel) {
    let mutant = model.mutant.expect("a broken variant");
    let found = explore(model, HasDiscoveries::Any).discoveries();
    for (property, path) in &found {
        let steps = path.clone().into_actions().len();
        println!("  {mutant:?} breaks `{property}` in {steps} steps");
    }
    assert!(!found.is_empty(), "{mutant:?} went unnoticed");
}

/// Whether to explore all mixes, which takes minutes; the recorded numbers are in
/// `docs/lock-protocol.md`.
///
/// `LOCKSTEP_FULL=1 cargo test -p lockstep-locks --test explorer -- --nocapture --test-threads 1`
fn full() -> bool {
    std::env::var_os("LOCKSTEP_FULL").is_some_and(|value| value == "1")
}

/// Two rivals in every mix; without `LOCKSTEP_FULL` at most one of them is a device.
fn two_rivals() -> &'static [[Role; 2]] {
    let all = &[[HOST, HOST], [HOST, DEVICE], [DEVICE, DEVICE]];
    if full() { all } else { &all[..2] }
}

fn comes_back(role: Role) -> Role {
    Role { acquisitions: 2, ..role }
}

#[test]
fn three_and_four_agents_in_every_mix_of_host_and_device() {
    for devices in 0..=3 {
        assert_right(model(&[vec![HOST; 3 - devices], vec![DEVICE; devices]].concat()));
    }
    // Each device more takes several times as long, the last two minutes.
    let most_devices = if full() { 4 } else { 1 };
    for devices in 0..=most_devices {
        assert_right(model(&[vec![HOST; 4 - devices], vec![DEVICE; devices]].concat()));
    }
}

#[test]
fn agents_that_come_back_with_the_same_timestamp() {
    for roles in [[HOST, HOST], [HOST, DEVICE], [DEVICE, DEVICE]] {
        assert_right(model(&roles.map(comes_back)));
    }
}

#[test]
fn only_the_older_wait_under_wait_die() {
    for rivals in two_rivals() {
        let roles = [&[HOST], rivals.as_slice()].concat();
        assert_right(LockModel { rule: Rule::WaitDie, ..model(&roles) });
    }
}

const TWINS: [[Role; 2]; 3] =
    [[HOST_TWIN, HOST_TWIN], [HOST_TWIN, DEVICE_TWIN], [DEVICE_TWIN, DEVICE_TWIN]];

#[test]
fn two_requests_of_one_transaction_and_two_rivals() {
    for twins in TWINS {
        for rivals in two_rivals() {
            let roles = [twins.as_slice(), rivals].concat();
            assert_right(model(&roles));
            if full() || twins == [HOST_TWIN, DEVICE_TWIN] {
                assert_right(LockModel { rule: Rule::WaitDie, ..model(&roles) });
            }
        }
    }
}

/// A head that looks as it did may stand before another queue.
#[test]
fn two_requests_of_one_transaction_and_rivals_that_come_back() {
    for twins in TWINS {
        for rival in [HOST, DEVICE] {
            let roles = [twins[0], twins[1], rival];
            assert_right(model(&roles.map(comes_back)));
            let roles = [twins[0], twins[1], rival, comes_back(HOST)];
            if full() || twins == [DEVICE_TWIN; 2] && rival == HOST {
                assert_right(model(&roles));
            }
        }
    }
}

#[test]
fn every_broken_variant_is_rejected() {
    for mutant in Mutant::ALL {
        let roles = match mutant {
            Mutant::UnreviewedRegister => [DEVICE_TWIN, DEVICE_TWIN, HOST, HOST],
            _ => [HOST, HOST, HOST, DEVICE],
        };
        assert_rejected(LockModel { mutant: Some(mutant), ..model(&roles) });
    }
}
