// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk with bus models at its pins.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::BusError;
use sim::bus::axi_stream::StreamSink;
use sim::bus::axi4::{
    Axi4Config, Axi4Stalls, Axi4Subordinate, Delay, IdSharing, MemoryAccess, MemoryAnswer,
    MemoryData, ResponseOrder, describe_id,
};
use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins, StreamPins};
use sim::bus::stall::StallPattern;

use crate::dut::{self, Inputs, Model, Outputs};
use suites::walk::job::Job;
use suites::walk::memory::{Memory, Unreadable};
use suites::walk::oracle::Answer;

const TIMEOUT: u64 = 20_000;

/// How what surrounds the walk behaves.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    pub seed: u64,
    pub memory_stalls: StallPattern,
    pub row_stalls: StallPattern,
    pub latency: Delay,
    /// Lines of different ids come in any order.
    pub shuffled: bool,
}

impl Surroundings {
    /// Never holds anything up; memory takes 38 clocks of 4 ns.
    pub fn smooth() -> Self {
        Self {
            seed: 0,
            memory_stalls: StallPattern::None,
            row_stalls: StallPattern::None,
            latency: Delay { minimum: 36, maximum: 36 },
            shuffled: false,
        }
    }

    fn port(&self, port: &str) -> Port {
        let subordinate = Axi4Subordinate::new(Axi4Config {
            port: port.into(),
            seed: self.seed,
            stalls: Axi4Stalls::all(self.memory_stalls),
            response_delay: Delay::default(),
            response_order: match self.shuffled {
                true => ResponseOrder::Shuffled,
                false => ResponseOrder::AsAnswered,
            },
            timeout: TIMEOUT,
            bursts: None,
            sharing: IdSharing::Several,
            responses_always_taken: false,
            split_atomic_errors: false,
            describe_id,
        });
        let random = ChaCha8Rng::seed_from_u64(self.seed);
        let (waiting, last, accesses) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Port { subordinate, latency: self.latency, random, waiting, last, accesses }
    }
}

/// A port and its memory, which has any number of reads under way.
struct Port {
    subordinate: Axi4Subordinate,
    latency: Delay,
    random: ChaCha8Rng,
    /// The clock of the answer, and the access.
    waiting: BTreeSet<(u64, usize)>,
    /// The last answer of each id, so that they stay in their order.
    last: BTreeMap<u16, u64>,
    accesses: Vec<MemoryAccess>,
}

impl Port {
    fn sample(
        &mut self,
        cycle: u64,
        pins: &Axi4ManagerPins,
        memory: &Memory,
    ) -> Result<(), sim::bus::error::BusModelError> {
        self.subordinate.sample(cycle, pins)?;
        while let Some(access) = self.subordinate.take_access() {
            let Delay { minimum, maximum } = self.latency;
            let due = cycle + u64::from(self.random.random_range(minimum..=maximum));
            let last = self.last.entry(access.id).or_default();
            *last = due.max(*last);
            self.waiting.insert((*last, self.accesses.len()));
            self.accesses.push(access);
        }
        while let Some(&(due, access)) = self.waiting.first().filter(|first| first.0 <= cycle) {
            self.waiting.remove(&(due, access));
            let MemoryAccess { id, address, .. } = self.accesses[access];
            let outcome = memory.line(address).map(MemoryData::Line);
            let outcome = outcome.map_err(|Unreadable| BusError::SubordinateError);
            self.subordinate.answer(cycle, &MemoryAnswer { id, outcome });
        }
        Ok(())
    }
}

/// The results of a run.
#[derive(Debug)]
pub struct Run {
    pub answers: BTreeMap<u32, Answer>,
    pub clocks: u64,
}

pub struct Bench {
    pub model: Model,
    cycle: u64,
}

/// The beats of a row that is not complete.
#[derive(Default)]
struct Row {
    header: Option<[u64; 8]>,
    beats: Vec<[u64; 8]>,
}

impl Bench {
    /// A walk that has just been reset, and has forgotten; `seed` is of its power-up.
    pub fn new(seed: u64) -> Self {
        let mut model = dut::model(seed);
        model.reset(4);
        let mut bench = Self { model, cycle: 0 };
        for _ in 0..4096 {
            if !bench.model.outputs().busy_o {
                return bench;
            }
            bench.edge().unwrap();
        }
        panic!("the walk is busy for 4096 clocks after a reset");
    }

    /// Runs a job. After so many clocks it is told to stop, if at all.
    pub fn run(
        &mut self,
        memory: &Memory,
        job: &Job,
        surroundings: &Surroundings,
        stop_after: Option<u64>,
    ) -> Result<Run, String> {
        let mut ports = [surroundings.port("m_axi_0"), surroundings.port("m_axi_1")];
        let stalls = surroundings.row_stalls;
        let mut rows =
            StreamSink::<([u64; 8], bool)>::new("m_axis_row", stalls, surroundings.seed, TIMEOUT);
        let (mut answers, mut row, mut taken) = (BTreeMap::new(), Row::default(), 0);
        let inputs = self.model.inputs_mut();
        inputs.job_i = job.words();
        inputs.start_i = true;
        let start = self.cycle;
        // No chain here has more than some hops, and there is always a next line or VID.
        let most_hops = 100 * (1 + u64::from(job.vids.1.saturating_sub(job.vids.0)));
        let (mut progress, mut since) = (0, start);
        loop {
            let cycle = self.cycle;
            let outputs = self.model.outputs();
            if outputs.hops_o > most_hops {
                return Err(format!("{} hops, expected at most {most_hops}", outputs.hops_o));
            }
            let now = outputs.line_reads_o + outputs.vids_o + taken;
            if now != progress {
                (progress, since) = (now, cycle);
            } else if cycle - since > TIMEOUT {
                return Err(format!("nothing has happened for {TIMEOUT} clocks"));
            }
            let inputs = self.model.inputs_mut();
            set_port_0(inputs, ports[0].subordinate.drive(cycle));
            set_port_1(inputs, ports[1].subordinate.drive(cycle));
            inputs.m_axis_row_tready = rows.drive(cycle);
            inputs.stop_i = stop_after == Some(cycle - start);
            let outputs = self.model.outputs();
            let done = outputs.done_o;
            let pins = StreamPins {
                tvalid: outputs.m_axis_row_tvalid,
                tdata: (outputs.m_axis_row_tdata, outputs.m_axis_row_tlast),
            };
            let broken = |fault: sim::bus::error::BusModelError| fault.to_string();
            if let Some((beat, last)) = rows.sample(cycle, &pins).map_err(broken)? {
                row.take(beat, last, &mut answers)?;
                taken += 1;
            }
            let managers = [port_0(outputs), port_1(outputs)];
            for (port, pins) in ports.iter_mut().zip(managers) {
                port.sample(cycle, &pins, memory).map_err(broken)?;
            }
            self.edge()?;
            self.model.inputs_mut().start_i = false;
            if done {
                if row.header.is_some() || ports.iter().any(|port| !port.subordinate.is_quiet()) {
                    return Err("done while something is under way".into());
                }
                if self.model.outputs().busy_o {
                    return Err("busy after it was done".into());
                }
                return Ok(Run { answers, clocks: self.cycle - start });
            }
        }
    }

    fn edge(&mut self) -> Result<(), String> {
        self.cycle += 1;
        self.model.try_clock().map_err(|failure| failure.to_string())
    }
}

impl Row {
    fn take(
        &mut self,
        beat: [u64; 8],
        last: bool,
        answers: &mut BTreeMap<u32, Answer>,
    ) -> Result<(), String> {
        match self.header {
            None => self.header = Some(beat),
            Some(_) => self.beats.push(beat),
        }
        let header = self.header.expect("it was put there");
        let (vid, number) = (header[0] as u32, (header[0] >> 32) as u32);
        let (bytes, code) = (header[3] as u16 as usize, (header[3] >> 16) as u8);
        if last != (self.beats.len() == bytes.div_ceil(64)) {
            let beats = self.beats.len();
            return Err(format!("VID {vid}: tlast is {last} at beat {beats} of {bytes} bytes"));
        }
        if !last {
            return Ok(());
        }
        let beats = std::mem::take(&mut self.beats);
        let mut payload: Vec<u8> =
            beats.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        payload.truncate(bytes);
        self.header = None;
        let (record, created) = (header[1], header[2]);
        // Of a fault, only code and record mean something.
        let answer = match code {
            0 => Answer { code, record, number, created, payload },
            _ => Answer { code, record, number: 0, created: 0, payload },
        };
        match answers.insert(vid, answer) {
            None => Ok(()),
            Some(_) => Err(format!("VID {vid} has a second answer")),
        }
    }
}

macro_rules! port {
    ($get:ident, $set:ident, $n:literal) => {
        sim::bus::ports::paste! {
            fn $get(outputs: &Outputs) -> Axi4ManagerPins {
                Axi4ManagerPins {
                    arvalid: outputs.[<m_axi_ $n _arvalid>],
                    arid: outputs.[<m_axi_ $n _arid>].into(),
                    araddr: outputs.[<m_axi_ $n _araddr>],
                    arlen: outputs.[<m_axi_ $n _arlen>],
                    arsize: outputs.[<m_axi_ $n _arsize>],
                    arburst: outputs.[<m_axi_ $n _arburst>],
                    arcache: outputs.[<m_axi_ $n _arcache>],
                    rready: outputs.[<m_axi_ $n _rready>],
                    ..Axi4ManagerPins::default()
                }
            }

            fn $set(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
                inputs.[<m_axi_ $n _arready>] = pins.arready;
                inputs.[<m_axi_ $n _rvalid>] = pins.rvalid;
                inputs.[<m_axi_ $n _rid>] = pins.rid as u8;
                inputs.[<m_axi_ $n _rdata>] = pins.rdata;
                inputs.[<m_axi_ $n _rresp>] = pins.rresp;
                inputs.[<m_axi_ $n _rlast>] = pins.rlast;
            }
        }
    };
}
port!(port_0, set_port_0, 0);
port!(port_1, set_port_1, 1);
