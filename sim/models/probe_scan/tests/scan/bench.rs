// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scanner with stream models at its pins.

use nic::scan::{SCAN_WORDS, Scan};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::stall::StallPattern;

use crate::dut::{Beat, Dut, Subject, Words};

/// Clocks without progress after which a run ends.
const TIMEOUT: u64 = 40_000;
/// Clocks in which nothing may come any more.
const QUIET: u64 = 20;

/// What the scanner is given: scans, and the lines of all of them in order.
#[derive(Clone, Debug, Default)]
pub struct Work {
    pub scans: Vec<Scan>,
    pub lines: Vec<Beat>,
}

/// How each stream holds back: scans, lines, answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stalls(pub [StallPattern; 3]);

/// An answer and the clock in which it was taken; clocks count from the first in which the block can take
/// something.
pub type Taken = (u64, Words);

/// What a run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub answers: Vec<Taken>,
    /// Clocks in which a line was taken.
    pub lines: Vec<u64>,
}

pub struct Bench {
    dut: Box<dyn Dut>,
    seed: u64,
}

impl Bench {
    pub fn new(subject: Subject, seed: u64, mutant: u8) -> Self {
        let mut dut = (subject.make)(seed, mutant);
        dut.reset(2);
        Self { dut, seed }
    }

    /// Gives the scanner work until it is done, or, to leave some of it under way, for so many clocks.
    pub fn run(&mut self, work: &Work, stalls: Stalls, most: Option<u64>) -> Result<Run, String> {
        let Stalls([scan_stalls, line_stalls, answer_stalls]) = stalls;
        let seed = self.seed;
        let mut scans =
            StreamSource::<[u64; SCAN_WORDS]>::new("s_axis_key", scan_stalls, seed, TIMEOUT);
        let mut lines = StreamSource::<Beat>::new("s_axis_data", line_stalls, seed, TIMEOUT);
        let mut sink = StreamSink::<Words>::new("m_axis_hit", answer_stalls, seed, TIMEOUT);
        work.scans.iter().for_each(|scan| scans.push(scan.to_words().expect("a scan that can be")));
        work.lines.iter().for_each(|&line| lines.push(line));

        let (mut run, mut since) = (Run::default(), 0);
        for clock in 0.. {
            if most == Some(clock) || run.answers.len() >= work.scans.len() && clock - since > QUIET
            {
                break;
            }
            if clock - since > TIMEOUT {
                let answers = run.answers.len();
                return Err(format!("{answers} answers, then nothing for {TIMEOUT} clocks"));
            }
            self.dut.drive_scan(scans.drive(clock));
            self.dut.drive_line(lines.drive(clock));
            self.dut.drive_ready(sink.drive(clock));
            let (scan_ready, line_ready) = self.dut.ready();
            let broken = |fault: sim::bus::error::BusModelError| fault.to_string();
            let took_scan = scans.sample(clock, scan_ready).map_err(broken)?;
            let took_line = lines.sample(clock, line_ready).map_err(broken)?;
            if took_line {
                run.lines.push(clock);
            }
            if let Some(answer) = sink.sample(clock, &self.dut.answer()).map_err(broken)? {
                run.answers.push((clock, answer));
                since = clock;
            }
            if took_scan || took_line {
                since = clock;
            }
            self.dut.clock()?;
        }
        if most.is_none() && (scans.backlog(), lines.backlog()) != (0, 0) {
            return Err(format!(
                "{} scans and {} lines were left",
                scans.backlog(),
                lines.backlog()
            ));
        }
        Ok(run)
    }

    /// In the middle of whatever is under way; the pins stay as they are.
    pub fn reset(&mut self, clocks: u32) {
        self.dut.reset(clocks);
    }
}
