// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pure machine beside the RTL. It is told what was accepted and begun in each clock, and says what
//! has to be sent, begun, asked of memory and completed.

use std::collections::{BTreeMap, VecDeque};

use nic::vector::{
    Begun, Completion, Config, Direction, Element, PAGE, Pieces, QUEUES, Reason, Response, Ticket,
    Vectorizer,
};
use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins};

use crate::bench::taken;
use crate::dut::{self, Outputs};
use crate::registers::Counters;

const LINE: u64 = 64;

pub struct Shadow {
    machine: Vectorizer,
    config: Config,
    /// What each queue accepted in the last clock.
    pub accepted: [Option<Element>; QUEUES],
    /// Bursts that have to be asked for, by direction: line and number of lines.
    expected: [VecDeque<(u64, u8)>; 2],
    /// Elements that were begun and have not ended, and those that were refused.
    begun: BTreeMap<u16, (Ticket, Element)>,
    refused: BTreeMap<u16, (Completion, Element)>,
    tokens: BTreeMap<u16, Element>,
    /// Bursts of reads so far, by port.
    pub asked: [usize; 2],
    /// Writes under way by port and id, and how many at each line were answered.
    writes: [BTreeMap<u16, u64>; 2],
    answered: BTreeMap<(usize, u64), u32>,
    /// Bytes, errors and refused elements; others are counted elsewhere.
    pub counters: Counters,
}

impl Shadow {
    pub fn new(config: Config) -> Self {
        Self {
            machine: Vectorizer::new(config),
            config,
            accepted: [None; QUEUES],
            expected: Default::default(),
            begun: BTreeMap::new(),
            refused: BTreeMap::new(),
            tokens: BTreeMap::new(),
            asked: [0; 2],
            writes: Default::default(),
            answered: BTreeMap::new(),
            counters: Counters::default(),
        }
    }

    /// Does what happened in the clock before `cycle`; gives why vectors were sent.
    pub fn follow(&mut self, cycle: u64, outputs: &Outputs) -> Result<Vec<Reason>, String> {
        let mut reasons = Vec::new();
        if let Some(now) = cycle.checked_sub(1) {
            self.follow_begun(outputs)?;
            self.follow_accepted(now, outputs)?;
            let sent = self.machine.send(now);
            let mut expected = 0;
            for one in &sent {
                let place = 2 * (QUEUES * one.direction as usize + one.queue);
                let code = match one.reason {
                    Reason::Full => 1,
                    Reason::Flushed => 2,
                    Reason::Idle => 3,
                };
                expected |= code << place;
            }
            if outputs.sent_o != expected {
                let found = outputs.sent_o;
                return Err(format!("sent {found:08x}, expected {expected:08x} ({sent:?})"));
            }
            reasons = sent.iter().map(|sent| sent.reason).collect();
        }
        let expected = std::array::from_fn(|queue| self.machine.has_room(queue));
        match dut::command_readies(outputs) == expected {
            true => Ok(reasons),
            false => {
                Err(format!("cycle {cycle}: commands are ready in other queues: {expected:?}"))
            }
        }
    }

    fn follow_begun(&mut self, outputs: &Outputs) -> Result<(), String> {
        for direction in Direction::ALL {
            let way = direction as usize;
            let begun = (outputs.begun_o >> (QUEUES * way)) as u8;
            if begun == 0 {
                continue;
            }
            let turn = self.machine.turn(direction).map_or(0, |queue| 1 << queue);
            if begun != turn {
                return Err(format!("{direction:?}: begun in {begun:08b}, expected {turn:08b}"));
            }
            match self.machine.begin(direction).expect("it is a queue's turn") {
                Begun::Refused(completion) => {
                    let element = self.tokens[&completion.token];
                    self.counters.refused += 1;
                    self.refused.insert(completion.token, (completion, element));
                }
                Begun::Copy { ticket, element, .. } => {
                    self.counters.bytes[way] += u64::from(element.bytes);
                    self.begun.insert(element.token, (ticket, element));
                    self.expected[way].extend(Pieces::of(&element).map(|piece| {
                        let first = [piece.host, piece.nic][way];
                        let lines = (first + piece.bytes - 1) / LINE - first / LINE + 1;
                        (first / LINE * LINE, lines as u8)
                    }));
                }
            }
        }
        Ok(())
    }

    fn follow_accepted(&mut self, now: u64, outputs: &Outputs) -> Result<(), String> {
        for (queue, accepted) in self.accepted.iter_mut().enumerate() {
            if accepted.is_some() != (outputs.accepted_o >> queue & 1 == 1) {
                return Err(format!("queue {queue} accepted {accepted:?} otherwise"));
            }
            let Some(element) = accepted.take() else { continue };
            self.machine.accept(now, queue, element).map_err(|error| error.to_string())?;
            self.tokens.insert(element.token, element);
        }
        Ok(())
    }

    /// Looks at a port: 0 is the host's, which reads of elements are asked at.
    pub fn watch(
        &mut self,
        port: usize,
        pins: &Axi4ManagerPins,
        bridge: &Axi4SubordinatePins,
    ) -> Result<(), String> {
        let window = [self.config.host, self.config.nic][port];
        let [asks, writes, answered] = taken(pins, bridge);
        if asks {
            self.asked[port] += 1;
            let burst = (pins.araddr, pins.arlen + 1);
            let expected = self.expected[port].pop_front();
            if Some(burst) != expected {
                return Err(format!("port {port} reads {burst:x?}, expected {expected:x?}"));
            }
        }
        if pins.wvalid && !only_strobed(pins) {
            return Err(format!("port {port} shows bytes that it does not strobe"));
        }
        if writes {
            let page = pins.awaddr / PAGE;
            if page < window.first || page > window.last {
                return Err(format!("port {port} writes {:x}, outside its window", pins.awaddr));
            }
            self.writes[port].insert(pins.awid, pins.awaddr);
        }
        if answered {
            let line = self.writes[port].remove(&bridge.bid).ok_or("a response without a write")?;
            *self.answered.entry((port, line)).or_default() += 1;
        }
        Ok(())
    }

    /// Ends an element; gives it with its response.
    pub fn end(&mut self, found: Completion) -> Result<(Element, Response), String> {
        let token = found.token;
        self.counters.errors += u64::from(found.response != Response::Okay);
        if let Some((expected, element)) = self.refused.remove(&token) {
            return match found == expected {
                true => Ok((element, found.response)),
                false => Err(format!("{found:?}, expected {expected:?}")),
            };
        }
        let begun = self.begun.remove(&token);
        let (ticket, element) = begun.ok_or(format!("token {token} ends, and is not under way"))?;
        let expected = self.machine.finish(ticket, found.response).map_err(|e| e.to_string())?;
        if found != expected {
            return Err(format!("{found:?}, expected {expected:?}"));
        }
        if found.response == Response::Okay {
            self.all_answered(&element)?;
        }
        Ok((element, found.response))
    }

    /// The target has to have answered for all pieces before.
    fn all_answered(&mut self, element: &Element) -> Result<(), String> {
        for piece in Pieces::of(element) {
            let (port, target) = match element.direction {
                Direction::Read => (1, piece.nic),
                Direction::Write => (0, piece.host),
            };
            let answered = self.answered.entry((port, target / LINE * LINE)).or_default();
            let rest = answered.checked_sub(1);
            *answered = rest.ok_or(format!("{element:x?} ends before its writes"))?;
        }
        Ok(())
    }

    pub fn assert_empty(&self) -> Result<(), String> {
        let rest = self.expected.iter().map(VecDeque::len).sum::<usize>() + self.refused.len();
        match self.machine.is_empty() && rest == 0 {
            true => Ok(()),
            false => Err("elements are under way at the end".into()),
        }
    }
}

/// Whether bytes without a strobe are 0.
fn only_strobed(pins: &Axi4ManagerPins) -> bool {
    let mut bytes = pins.wdata.iter().flat_map(|word| word.to_le_bytes()).enumerate();
    bytes.all(|(lane, byte)| byte == 0 || pins.wstrb >> lane & 1 == 1)
}
