// SPDX-License-Identifier: MIT OR Apache-2.0
//! A NIC without caches and doorbell costs, for tests of the world.

use timing::Time;

use super::{Card, Engine, Incoming, Outgoing, Passage, Resource, Verb};

/// One engine that takes as long for everything, and one delay to and from the host.
#[derive(Clone, Debug)]
pub struct PlainCard {
    each: Time,
    slot: Time,
    engine: Engine,
}

impl PlainCard {
    /// An idle one that takes `each` for a message or verb, behind a slot with the delay `slot`.
    pub fn new(each: Time, slot: Time) -> Self {
        Self { each, slot, engine: Engine::default() }
    }

    fn pass(&mut self, now: Time, latency: Time) -> Passage {
        Passage { done: self.engine.take(now, self.each), latency }
    }
}

impl Card for PlainCard {
    fn send(&mut self, now: Time, _: &Outgoing) -> Passage {
        self.pass(now, self.slot)
    }

    fn receive(&mut self, now: Time, _: &Incoming) -> Passage {
        self.pass(now, self.slot)
    }

    fn issue(&mut self, now: Time, _: &Verb) -> Passage {
        self.pass(now, self.slot)
    }

    fn serve(&mut self, now: Time, _: &Verb) -> Passage {
        self.pass(now, self.slot)
    }

    fn complete(&mut self, now: Time, _: &Verb) -> Passage {
        self.pass(now, self.slot)
    }

    fn delay(&self) -> Time {
        self.slot
    }

    fn resources(&self, now: Time, to: &mut Vec<Resource>) {
        to.push(Resource { name: "engine", busy: self.engine.busy_until(now), count: 1 });
    }
}
