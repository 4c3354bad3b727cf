// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random elements in all queues, under memories that behave as they like.

use nic::vector::{Config, Direction, Element, QUEUES, Reason};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::{Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::BeatOrder;

use crate::bench::{Behaviour, Bench, Run, Surroundings, run};
use crate::dut;
use crate::registers::{Counters, Software};
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
    run(dut::after_power_up(seed), &scene, &surroundings(&mut random))
}

/// Elements and memories in order.
pub fn in_order(seed: u64) -> Result<(), String> {
    random_run(seed, Kinds::all(300, false)).map(drop)
}

/// Wrong elements, and lines that fail.
pub fn with_errors(seed: u64) -> Result<(), String> {
    random_run(seed, Kinds::all(300, true)).map(drop)
}

/// Many short elements, so that ids run out.
pub fn short(seed: u64) -> Result<(), String> {
    let kinds = Kinds { largest: 64, ..Kinds::all(1500, seed % 2 == 1) };
    random_run(seed, kinds).map(drop)
}

/// Elements of two pieces, so that ids run out between them, at a memory that answers at once or very late.
pub fn two_pieces(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let kinds = Kinds { smallest: 257, largest: 320, ..Kinds::all(900, false) };
    let scene = Scene::drawn(random.random(), kinds);
    let memory = |maximum| Behaviour {
        stalls: StallPattern::None,
        latency: Delay { minimum: 0, maximum },
        responses: ResponseOrder::AsAnswered,
        beats: BeatOrder::Together,
    };
    let surroundings = Surroundings {
        host: memory(2_000),
        nic: memory(0),
        commands: StallPattern::None,
        done: StallPattern::None,
        ..surroundings(&mut random)
    };
    run(dut::after_power_up(seed), &scene, &surroundings).map(drop)
}

/// Elements that wait for nearly as long as the times of the registers can say, for the flush time or the idle time.
pub fn long_waits(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut scene = Scene::drawn(random.random(), Kinds::all(80, false));
    let direction = Direction::ALL[random.random_range(0..2)];
    let mut elements: Vec<Element> = scene.elements().map(|(_, element)| *element).collect();
    elements.retain(|element| element.direction == direction);
    elements.truncate(14);
    scene.commands = Default::default();
    let long = random.random_range(u16::MAX - 0xFF..=u16::MAX);
    let reason = [Reason::Flushed, Reason::Idle][seed as usize % 2];
    // While it waits to be flushed, others come, so that its queue is not idle.
    let (idle_time, flush_time, count, gap) = match reason {
        Reason::Flushed => (0x2000, long, elements.len(), 0x1200),
        _ => (long, u16::MAX, 1, 1),
    };
    scene.config = Config { idle_time, flush_time, ..scene.config };
    let mut bench = Bench::of_scene(dut::after_power_up(seed), &scene, &surroundings(&mut random));
    let queue = random.random_range(0..QUEUES);
    let mut any = |_: &Element, _, _: &_, _: &_| Ok(());
    for element in &elements[..count] {
        bench.push(queue, *element);
        for _ in 0..gap {
            bench.clock(&mut any)?;
        }
    }
    for _ in 0..0x1_1000 {
        bench.clock(&mut any)?;
    }
    match bench.run.vectors[reason as usize] {
        1 => Ok(()),
        _ => Err(format!("vectors {:?}, expected one that is {reason:?}", bench.run.vectors)),
    }
}

/// Elements after resets in the middle of others. What the pins show then stays for the first clocks of the reset; as
/// the whole bus is reset, nothing is asked for or answered when it ends.
pub fn after_resets(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut model = dut::after_power_up(seed);
    let kinds = Kinds { largest: [64, 4096][seed as usize % 2], ..Kinds::all(300, true) };
    for _ in 0..random.random_range(1..6) {
        let scene = Scene::drawn(random.random(), kinds);
        let mut bench = Bench::of_scene(model, &scene, &surroundings(&mut random));
        for _ in 0..random.random_range(1..1_500) {
            bench.clock(&mut |_: &Element, _, _: &_, _: &_| Ok(()))?;
        }
        model = bench.into_model();
        if random.random() {
            model.reset(random.random_range(1..4));
        }
        *model.inputs_mut() = Default::default();
        model.reset(1);
        let outputs = model.outputs();
        let [host, nic] = [dut::host_pins(outputs), dut::nic_pins(outputs)];
        let asks = [host, nic].iter().any(|pins| pins.arvalid || pins.awvalid || pins.wvalid);
        if asks || outputs.m_axis_done_tvalid || outputs.s_axil_bvalid || outputs.s_axil_rvalid {
            return Err("something is offered in a reset".into());
        }
        let counters = Software::new(seed).counters(&mut model);
        if counters != Counters::default() {
            return Err(format!("after a reset {counters:?} are counted"));
        }
    }
    let scene = Scene::drawn(random.random(), kinds);
    run(model, &scene, &surroundings(&mut random)).map(drop)
}

/// One seed gives one run.
pub fn twice(seed: u64) -> Result<(), String> {
    let kinds = Kinds::all(300, true);
    match random_run(seed, kinds)? == random_run(seed, kinds)? {
        true => Ok(()),
        false => Err("the second run is another one".into()),
    }
}
