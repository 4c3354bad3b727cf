// SPDX-License-Identifier: MIT OR Apache-2.0
//! A world allocates nothing on the path of ordinary messages.

#[path = "../../../../timing/tests/counting/mod.rs"]
mod counting;

use cluster_sim::world::recorder::Recorder;
use timing::Time;

use super::ping::{Ping, world};

#[test]
fn nothing_is_allocated_on_the_path() {
    let ping = Ping { nodes: 4, threads: 2, ..Ping::default() };
    let mut world = world(ping, 8).with_recorder(Recorder::with_capacity(200_000, 0));
    world.begin();
    world.run_until(Time::from_us(400));
    let (before, transactions) = (counting::allocations(), world.ledger().transactions());
    world.run_until(Time::from_us(1_400));
    let allocations = counting::allocations() - before;
    let transactions = world.ledger().transactions() - transactions;
    assert!(transactions > 10_000, "{transactions}");
    assert!(allocations <= 8, "{allocations} allocations in {transactions} transactions");
}
