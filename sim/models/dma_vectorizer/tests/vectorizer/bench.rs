// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vectorizer with bus models at its pins, and the pure machine beside it, clock by clock.

use std::collections::BTreeMap;

use nic::vector::{Completion, Config, Element, QUEUES, Response};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, Axi4Stalls, Axi4Subordinate, Delay, ResponseOrder};
use sim::bus::error::BusModelError;
use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins, StreamPins};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{BeatOrder, ErrorInjection, TestMemory, TestMemoryConfig};

use crate::dut::{self, Command, Model};
use crate::registers::{Counters, RETURN, Software};
use crate::scene::{Scene, Side};
use crate::shadow::Shadow;

const TIMEOUT: u64 = 20_000;

/// How what surrounds the vectorizer behaves.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    pub seed: u64,
    pub commands: StallPattern,
    pub done: StallPattern,
    pub host: Behaviour,
    pub nic: Behaviour,
}

/// How a memory behaves.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    pub stalls: StallPattern,
    pub latency: Delay,
    pub responses: ResponseOrder,
    pub beats: BeatOrder,
}

/// What answers at a port.
pub trait Memory {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate);
    fn read(&self, address: u64, bytes: usize) -> Vec<u8>;
}

impl Memory for TestMemory {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate) {
        TestMemory::step(self, cycle, port);
    }

    fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        self.read_bytes(address, bytes).expect("inside the memory")
    }
}

/// A port with its memory.
pub struct Port<M> {
    port: Axi4Subordinate,
    pub memory: M,
}

impl<M: Memory> Port<M> {
    pub fn new(name: &str, seed: u64, behaviour: Behaviour, memory: M) -> Self {
        let port = Axi4Subordinate::new(Axi4Config {
            stalls: Axi4Stalls::all(behaviour.stalls),
            response_order: behaviour.responses,
            timeout: TIMEOUT,
            ..Axi4Config::bursts(name, seed)
        });
        Self { port, memory }
    }

    fn sample(&mut self, cycle: u64, pins: &Axi4ManagerPins) -> Result<(), BusModelError> {
        self.port.sample(cycle, pins)?;
        self.memory.step(cycle, &mut self.port);
        Ok(())
    }
}

/// The memory of one side of a scene.
pub fn memory(side: &Side, seed: u64, behaviour: Behaviour) -> TestMemory {
    let config = TestMemoryConfig {
        base: side.base,
        lines: side.bytes.len() / 64,
        seed,
        latency: behaviour.latency,
        errors: ErrorInjection::None,
    };
    let mut memory = TestMemory::new(config)
        .with_failures(side.failures.iter().cloned())
        .with_beat_order(behaviour.beats);
    for (address, word) in (side.base..).step_by(8).zip(side.bytes.chunks_exact(8)) {
        let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
        memory.store(address, word).expect("inside the memory");
    }
    memory
}

/// What happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The clock of each completion, and the beat.
    pub done: Vec<(u64, u32)>,
    /// Clock and queue of each element that was accepted.
    pub accepted: Vec<(u64, usize)>,
    /// The clocks in which an address was on AR, by port.
    pub asked: [Vec<u64>; 2],
    /// Vectors that were sent: full, flushed, idle.
    pub vectors: [u64; 3],
    pub clocks: u64,
}

pub struct Bench<H, N> {
    model: Model,
    software: Software,
    cycle: u64,
    pub host: Port<H>,
    pub nic: Port<N>,
    commands: [StreamSource<Command>; QUEUES],
    /// The elements that `commands` has, in the same order.
    waiting: [std::collections::VecDeque<Element>; QUEUES],
    done: StreamSink<u32>,
    shadow: Shadow,
    pub run: Run,
}

impl Bench<TestMemory, TestMemory> {
    /// A vectorizer and its surroundings after a reset, with the commands of a scene.
    pub fn of_scene(model: Model, scene: &Scene, surroundings: &Surroundings) -> Self {
        let draws = surroundings.seed;
        let (host, nic) = (surroundings.host, surroundings.nic);
        let host = Port::new("m_axi_host", draws, host, memory(&scene.host, draws, host));
        let nic = Port::new("m_axi_nic", draws, nic, memory(&scene.nic, draws + 1, nic));
        let mut bench = Self::new(model, scene.config, surroundings, host, nic);
        scene.elements().for_each(|(queue, element)| bench.push(queue, *element));
        bench
    }
}

impl<H: Memory, N: Memory> Bench<H, N> {
    pub fn new(
        mut model: Model,
        config: Config,
        surroundings: &Surroundings,
        host: Port<H>,
        nic: Port<N>,
    ) -> Self {
        let mut software = Software::new(surroundings.seed);
        software.configure(&mut model, &config);
        let (stalls, draws) = (surroundings.commands, surroundings.seed);
        let source =
            |queue| StreamSource::new(&format!("s_axis_cmd{queue}"), stalls, draws, TIMEOUT);
        Self {
            model,
            software,
            cycle: 0,
            host,
            nic,
            commands: std::array::from_fn(source),
            waiting: Default::default(),
            done: StreamSink::new("m_axis_done", surroundings.done, draws, TIMEOUT),
            shadow: Shadow::new(config),
            run: Run::default(),
        }
    }

    /// The vectorizer, with all that is under way in it, and its pins as they are.
    pub fn into_model(self) -> Model {
        self.model
    }

    pub fn push(&mut self, queue: usize, element: Element) {
        self.commands[queue].push(dut::command(&element));
        self.waiting[queue].push_back(element);
    }

    /// Runs until so many elements have ended, and some clocks more. `check` sees each that ends.
    pub fn run(
        &mut self,
        elements: usize,
        check: &mut impl FnMut(&Element, Response, &H, &N) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut since = self.cycle;
        while self.run.done.len() < elements {
            let before = self.run.done.len();
            self.clock(check)?;
            if self.run.done.len() > before {
                since = self.cycle;
            } else if self.cycle - since > TIMEOUT {
                return Err(format!("{before} elements have ended, expected {elements}"));
            }
        }
        self.run.clocks = self.cycle;
        for _ in 0..200 {
            self.clock(check)?;
        }
        match self.run.done.len() == elements {
            true => {
                self.shadow.assert_empty()?;
                self.compare_counters()
            }
            false => Err("more elements have ended than there were".into()),
        }
    }

    /// Compares what the registers say with what happened.
    fn compare_counters(&mut self) -> Result<(), String> {
        let expected = Counters {
            elements: self.run.accepted.len() as u64,
            vectors: self.run.vectors,
            ..self.shadow.counters
        };
        let found = self.software.counters(&mut self.model);
        if found != expected {
            return Err(format!("counted {found:?}, expected {expected:?}"));
        }
        match self.software.read(&mut self.model, RETURN) {
            Ok(0) => Ok(()),
            other => Err(format!("elements under way at the end: {other:?}")),
        }
    }

    /// One clock.
    pub fn clock(
        &mut self,
        check: &mut impl FnMut(&Element, Response, &H, &N) -> Result<(), String>,
    ) -> Result<(), String> {
        let broken = |fault: BusModelError| fault.to_string();
        let cycle = self.cycle;
        let outputs = self.model.outputs();
        for reason in self.shadow.follow(cycle, outputs)? {
            self.run.vectors[reason as usize] += 1;
        }
        let readies = dut::command_readies(outputs);
        let (host, nic) = (dut::host_pins(outputs), dut::nic_pins(outputs));
        let done =
            StreamPins { tvalid: outputs.m_axis_done_tvalid, tdata: outputs.m_axis_done_tdata };
        let inputs = self.model.inputs_mut();
        for (queue, source) in self.commands.iter_mut().enumerate() {
            let pins = source.drive(cycle);
            dut::set_command(inputs, queue, pins.tvalid, pins.tdata);
            if source.sample(cycle, readies[queue]).map_err(broken)? {
                let element = self.waiting[queue].pop_front().expect("it was pushed");
                self.shadow.accepted[queue] = Some(element);
                self.run.accepted.push((cycle, queue));
            }
        }
        inputs.m_axis_done_tready = self.done.drive(cycle);
        let pins = [*self.host.port.drive(cycle), *self.nic.port.drive(cycle)];
        dut::set_host_pins(inputs, &pins[0]);
        dut::set_nic_pins(inputs, &pins[1]);
        for (port, (manager, bridge)) in [host, nic].iter().zip(&pins).enumerate() {
            self.shadow.watch(port, manager, bridge)?;
            if manager.arvalid && self.run.asked[port].len() < self.shadow.asked[port] {
                self.run.asked[port].push(cycle);
            }
        }
        self.host.sample(cycle, &host).map_err(broken)?;
        self.nic.sample(cycle, &nic).map_err(broken)?;
        if let Some(beat) = self.done.sample(cycle, &done).map_err(broken)? {
            self.run.done.push((cycle, beat));
            let (element, response) = self.shadow.end(completion(beat)?)?;
            check(&element, response, &self.host.memory, &self.nic.memory)?;
        }
        self.cycle += 1;
        self.model.try_clock().map_err(|failure| failure.to_string())
    }
}

fn completion(beat: u32) -> Result<Completion, String> {
    let responses: BTreeMap<u32, Response> =
        [Response::Okay, Response::SubordinateError, Response::DecodeError]
            .map(|response| (response as u32, response))
            .into();
    let response = responses.get(&(beat >> 20)).ok_or(format!("response of 0x{beat:X}"))?;
    let queue = (beat >> 16 & 0xF) as usize;
    Ok(Completion { token: beat as u16, queue, response: *response })
}

/// What becomes of the elements of a scene, with everything compared. The vectorizer has just been reset.
pub fn run(model: Model, scene: &Scene, surroundings: &Surroundings) -> Result<Run, String> {
    let mut bench = Bench::of_scene(model, scene, surroundings);
    let mut check = |element: &Element, response, host: &TestMemory, nic: &TestMemory| {
        let expected = scene.response(element);
        if response != expected {
            return Err(format!("{element:x?}: {response:?}, expected {expected:?}"));
        }
        let (memory, target) = match element.direction {
            nic::vector::Direction::Read => (nic, element.nic),
            nic::vector::Direction::Write => (host, element.host),
        };
        let right = response != Response::Okay
            || memory.read(target, element.bytes.into()) == scene.source(element);
        if right { Ok(()) } else { Err(format!("{element:x?}: bytes are missing at its end")) }
    };
    bench.run(scene.elements().count(), &mut check)?;
    let side = |memory: &TestMemory, side: &Side| memory.read(side.base, side.bytes.len());
    let host = side(&bench.host.memory, &scene.host);
    scene.compare(&host, &side(&bench.nic.memory, &scene.nic))?;
    Ok(bench.run)
}

/// A transfer on a channel.
pub fn taken(pins: &Axi4ManagerPins, bridge: &Axi4SubordinatePins) -> [bool; 3] {
    [pins.arvalid && bridge.arready, pins.awvalid && bridge.awready, pins.bready && bridge.bvalid]
}
