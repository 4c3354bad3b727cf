// SPDX-License-Identifier: MIT OR Apache-2.0
//! One response channel, R or B: what waits on it, and what is on the pins.

use super::super::stall::StallPattern;
use super::super::stall::{Stall, channel_generator};
use super::config::{Axi4Config, Delay, ResponseOrder};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Responses that wait for their turn. An entry is a slot of the outstanding table.
#[derive(Debug, Clone)]
pub(super) struct ResponseChannel {
    stall: Stall,
    delay: Delay,
    order: ResponseOrder,
    generator: ChaCha8Rng,
    /// Not before a cycle; the number keeps equal cycles in order.
    delayed: BinaryHeap<Reverse<(u64, u64, u16)>>,
    scheduled: u64,
    due: VecDeque<u16>,
    /// A burst whose next beat has to follow, and whether it can.
    begun: Option<(u16, bool)>,
    /// On the pins until it is taken.
    presented: Option<u16>,
}

impl ResponseChannel {
    /// `name` is the channel's letter.
    pub fn new(config: &Axi4Config, name: &str, stalls: StallPattern, capacity: usize) -> Self {
        let Delay { minimum, maximum } = config.response_delay;
        assert!(minimum <= maximum, "response delay is {minimum} to {maximum}, expected a range");
        let port = &config.port;
        ResponseChannel {
            stall: Stall::new(stalls, config.seed, &format!("{port} {name}")),
            delay: config.response_delay,
            order: config.response_order,
            generator: channel_generator(config.seed, &format!("{port} {name} order")),
            delayed: BinaryHeap::with_capacity(capacity),
            scheduled: 0,
            due: VecDeque::with_capacity(capacity),
            begun: None,
            presented: None,
        }
    }

    /// Takes a response that was answered in `cycle`.
    pub fn schedule(&mut self, cycle: u64, slot: u16) {
        let Delay { minimum, maximum } = self.delay;
        if maximum == 0 {
            self.due.push_back(slot);
            return;
        }
        let delay = self.generator.random_range(minimum..=maximum);
        self.delayed.push(Reverse((cycle + 1 + u64::from(delay), self.scheduled, slot)));
        self.scheduled += 1;
    }

    /// The response that is put on the pins newly in this cycle.
    #[inline]
    pub fn present(&mut self, cycle: u64) -> Option<u16> {
        while let Some(Reverse((due, _, slot))) = self.delayed.peek().copied() {
            if due > cycle {
                break;
            }
            self.delayed.pop();
            self.due.push_back(slot);
        }
        let idle = match self.begun {
            None => self.due.is_empty(),
            Some((_, can_go)) => !can_go,
        };
        if self.presented.is_some() || idle || self.stall.stalled() {
            return None;
        }
        self.presented = match self.order {
            _ if self.begun.is_some() => self.begun.take().map(|(slot, _)| slot),
            ResponseOrder::AsAnswered => self.due.pop_front(),
            ResponseOrder::Shuffled | ResponseOrder::Interleaved => {
                let chosen = self.generator.random_range(0..self.due.len());
                self.due.swap_remove_back(chosen)
            }
        };
        self.presented
    }

    /// Another beat of the burst that was just taken is to come; `can_go` when it has its answer,
    /// else [`feed`](Self::feed) tells of that.
    pub fn go_on(&mut self, slot: u16, can_go: bool) {
        match self.order {
            ResponseOrder::Interleaved if can_go => self.due.push_back(slot),
            ResponseOrder::Interleaved => {}
            ResponseOrder::AsAnswered | ResponseOrder::Shuffled => {
                self.begun = Some((slot, can_go));
            }
        }
    }

    /// The beat that a burst has waited for has its answer.
    pub fn feed(&mut self, slot: u16) {
        self.go_on(slot, true);
    }

    /// The presented response was taken.
    pub fn take(&mut self) -> u16 {
        self.presented.take().expect("a response was taken that is not on the pins")
    }
}
