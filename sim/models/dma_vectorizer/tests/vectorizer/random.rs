// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random elements in all queues, under memories that behave as they like.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::{Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::BeatOrder;

use crate::bench::{Behaviour, Run, Surroundings, run};
use crate::scene::{Kinds, Scene};

fn stalls(random: &mut ChaCha8Rng) -> StallPattern {
    match random.random_range(0..4) {
        0 | 1 => StallPattern::None,
        2 => StallPattern::Random { probability: random.random_range(0.0..0.9) },
        _ => StallPattern::Burst { probability: 0.05, longest: random.random_range(1..80) },
    }
}

fn behaviour(random: &mut ChaCha8Rng) -> Behaviour {
    let minimum = [0, 5, 300][random.random_range(0..3)];
    let maximum = minimum + [0, 5, 200][random.random_range(0..3)];
    let responses =
        [ResponseOrder::AsAnswered, ResponseOrder::Shuffled, ResponseOrder::Interleaved];
    let beats = [BeatOrder::Together, BeatOrder::InOrder, BeatOrder::AnyOrder];
    Behaviour {
        stalls: stalls(random),
        latency: Delay { minimum, maximum },
        responses: responses[random.random_range(0..3)],
        beats: beats[random.random_range(0..3)],
    }
}

pub fn surroundings(random: &mut ChaCha8Rng) -> Surroundings {
    Surroundings {
        seed: random.random_range(0..u64::MAX),
        commands: stalls(random),
        done: stalls(random),
        host: behaviour(random),
        nic: behaviour(random),
    }
}

fn random_run(seed: u64, kinds: Kinds) -> Result<Run, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let scene = Scene::drawn(random.random(), kinds);
    run(seed, &scene, &surroundings(&mut random))
}

/// Elements and memories in order.
pub fn in_order(seed: u64) -> Result<(), String> {
    random_run(seed, Kinds { elements: 300, errors: false, largest: 4096 }).map(drop)
}

/// Wrong elements, and lines that fail.
pub fn with_errors(seed: u64) -> Result<(), String> {
    random_run(seed, Kinds { elements: 300, errors: true, largest: 4096 }).map(drop)
}

/// Many short elements, so that ids run out.
pub fn short(seed: u64) -> Result<(), String> {
    random_run(seed, Kinds { elements: 1500, errors: seed % 2 == 1, largest: 64 }).map(drop)
}

/// One seed gives one run.
pub fn twice(seed: u64) -> Result<(), String> {
    let kinds = Kinds { elements: 300, errors: true, largest: 4096 };
    match random_run(seed, kinds)? == random_run(seed, kinds)? {
        true => Ok(()),
        false => Err("the second run is another one".into()),
    }
}
