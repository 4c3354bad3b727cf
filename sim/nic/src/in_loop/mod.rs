// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RTL of the look-ups as the data path of one node's NIC, in a run of a modelled cluster
//! (`docs/xenic.md`, *Hardware in the loop*).

mod image;
mod judge;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use cluster::xenic::asked::{Asked, Operation};
use cluster_sim::run::{CountReport, DataPathReport, Ground, RunError as ClusterError, Waits};
use cluster_sim::world::{DataPath, Registered, Ticket};
use nic::lookup::Request;
use sim::bus::BusError;
use timing::Time;
use timing::platform::Platform;
use verilated::WaveWindow;

use crate::card::{Card, Exchange};
use crate::error::RunError;
use crate::job::WORDS;
use crate::settings::CardSettings;
use image::{Image, OBJECTS, key_of};
use judge::{Question, judge};

/// Clocks after its reset in which the index of the RTL clears itself, and some more.
const CLEARS: u64 = (1 << 12) + 512;
/// Clocks after the RTL has fallen idle in which its traces and counters still move.
const SETTLES: u32 = 4;

/// Waves of a part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waves {
    /// Where they are written (FST).
    pub file: PathBuf,
    /// The first instant.
    pub from: Time,
    /// The end.
    pub until: Time,
}

/// The RTL at a node.
pub struct RtlNode {
    name: String,
    card: Card<nic_lookup::eight::Model, OBJECTS>,
    image: Image,
    period: Time,
    /// Asked for, and not at the pins.
    waiting: VecDeque<(Ticket, Question)>,
    /// At the pins or accepted, by token.
    open: BTreeMap<u16, (Ticket, Question)>,
    last_edge: Option<Time>,
    /// Clocks in a row in which nothing was under way.
    quiet: u32,
    waves: Option<Waves>,
    has_waves: bool,
    /// The kind of operation that the RTL is not told of.
    #[cfg(test)]
    forgets: Option<Operation>,
    counts: Counts,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    clocks: u64,
    stalls: u64,
    asked: u64,
    compared: u64,
    hits: Sum,
    misses: Sum,
    others: Sum,
}

/// Times of operations.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    all: Time,
    longest: Time,
}

impl Sum {
    fn add(&mut self, time: Time) {
        self.count += 1;
        self.all += time;
        self.longest = self.longest.max(time);
    }

    fn waits(&self) -> Waits {
        let mean_ns = self.all.as_ns_f64() / self.count.max(1) as f64;
        Waits { count: self.count, mean_ns, max_ns: self.longest.as_ns_f64() }
    }
}

impl RtlNode {
    /// The RTL of node `node`, over the table of its host.
    ///
    /// # Errors
    /// When the platform has no DMA, or the table is impossible.
    pub fn new(node: u16, ground: Ground<'_>, waves: Option<Waves>) -> Result<Self, ClusterError> {
        let impossible = |error: RunError| ClusterError::Impossible(error.to_string());
        let settings = CardSettings::default();
        let platform = Platform::read_from(ground.platform.clone())?;
        let mut image = Image::new(&ground).map_err(impossible)?;
        let geometry = image.geometry().map_err(impossible)?;
        let cached = if ground.is_warm { &ground.keys[..] } else { &[] };
        let index = image.index(&geometry, cached, ground.host);
        let card = Card::new(settings, &platform, ground.seed, geometry, index);
        let mut card = card.map_err(impossible)?;
        // It was reset long before the run.
        for _ in 0..CLEARS {
            card.clock(|_| Err(BusError::DecodeError)).map_err(impossible)?;
        }
        Ok(Self {
            name: format!("node{node}"),
            card,
            image,
            period: settings.clock(),
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            last_edge: None,
            quiet: SETTLES,
            waves,
            has_waves: false,
            #[cfg(test)]
            forgets: None,
            counts: Counts::default(),
        })
    }

    /// Puts the next operation to the pins, if there is room.
    fn offer(&mut self) {
        if !self.card.has_room() {
            return;
        }
        let Some((ticket, question)) = self.waiting.pop_front() else { return };
        let Asked { operation, key, owner, row, .. } = question.asked;
        let mut request = Request::<WORDS>::new(operation, key_of(key), 0);
        request.owner = owner;
        if let Some(row) = row {
            (request.version, request.value) = (row.version, [row.word.unwrap_or_default()]);
        }
        let token = self.card.ask(request);
        self.open.insert(token, (ticket, question));
    }

    /// Opens and closes the file of waves.
    fn show(&mut self, now: Time) -> Result<(), String> {
        let Some(waves) = &self.waves else { return Ok(()) };
        let is_inside = (waves.from..waves.until).contains(&now);
        match (is_inside, self.has_waves) {
            (true, false) => {
                let opened = self.card.model_mut().open_waves(&waves.file, WaveWindow::ALWAYS);
                opened.map_err(|error| error.to_string())?;
            }
            (false, true) => {
                self.card.model_mut().close_waves();
                self.waves = None;
            }
            _ => return Ok(()),
        }
        self.has_waves = is_inside;
        Ok(())
    }

    /// An answer has come: what is right of it is counted.
    fn take(
        &mut self,
        now: Time,
        served: &Exchange,
        host: &mut dyn Registered,
    ) -> Result<Ticket, String> {
        let token = served.request.token;
        let (ticket, question) = self.open.remove(&token).expect("the card answers what is open");
        let row = self.image.row(question.asked.key, host);
        judge(&question, &served.answer, row, now)?;
        let counts = &mut self.counts;
        counts.compared += 1;
        let took = now.saturating_sub(question.at);
        let looks = matches!(question.asked.operation, Operation::LookUp | Operation::LockAndRead);
        match (looks, served.answer.trips) {
            (false, _) => counts.others.add(took),
            (true, 0) => counts.hits.add(took),
            (true, _) => counts.misses.add(took),
        }
        Ok(ticket)
    }
}

impl DataPath for RtlNode {
    fn ask(&mut self, now: Time, ticket: Ticket, asked: &Asked, host: &mut dyn Registered) {
        let looks = matches!(asked.operation, Operation::LookUp | Operation::LockAndRead);
        let row = if looks { self.image.row(asked.key, host) } else { None };
        let number = self.counts.asked;
        self.counts.asked += 1;
        self.quiet = 0;
        self.waiting.push_back((ticket, Question { number, asked: *asked, at: now, row }));
    }

    fn next_edge(&self, now: Time) -> Option<Time> {
        let earliest = self.last_edge.map_or(now, |last| now.max(last + Time::from_ps(1)));
        (self.quiet < SETTLES).then(|| earliest.next_multiple_of(self.period))
    }

    fn edge(
        &mut self,
        now: Time,
        host: &mut dyn Registered,
        ended: &mut Vec<Ticket>,
    ) -> Result<(), String> {
        self.show(now)?;
        self.last_edge = Some(now);
        #[cfg(test)]
        self.forget(ended);
        self.offer();
        let image = &mut self.image;
        let passed = self.card.clock(|address| image.line(address, host));
        let passed = passed.map_err(|error| format!("at {now}, {error}"))?;
        self.counts.clocks += 1;
        self.counts.stalls += u64::from(self.card.has_offer());
        if let Some(served) = &passed.network {
            ended.push(self.take(now, served, host)?);
        }
        let is_quiet = self.waiting.is_empty() && self.card.is_idle();
        self.quiet = if is_quiet { self.quiet + 1 } else { 0 };
        Ok(())
    }

    fn report(&mut self) -> Result<DataPathReport, String> {
        if let Some(Waves { from, until, .. }) = self.waves.as_ref().filter(|_| !self.has_waves) {
            return Err(format!("the RTL slept from {from} to {until}, so there are no waves"));
        }
        let reading = self.card.reading().map_err(|error| error.to_string())?;
        for ((name, rtl), (_, machine)) in
            reading.rtl.by_name().into_iter().zip(reading.machine.by_name())
        {
            if rtl != machine {
                return Err(RunError::Counters { name, rtl, machine }.to_string());
            }
        }
        let Counts { clocks, stalls, compared, hits, misses, others, .. } = self.counts;
        let there = reading.rtl.by_name().into_iter().filter(|(_, count)| *count > 0);
        Ok(DataPathReport {
            node: self.name.clone(),
            clock_ps: self.period.as_ps(),
            clocks,
            stalls,
            compared,
            hits: hits.waits(),
            misses: misses.waits(),
            others: others.waits(),
            counters: there.map(|(name, count)| CountReport { name: name.into(), count }).collect(),
        })
    }
}
