// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of a worker's step: how they are packed into messages, and which of them are answered.
//!
//! All requests of a step to one machine go in one message. What would make the message, or its answer,
//! larger than the MTU is sent when the answer has come, so that there is never more than one message
//! of a worker under way to a machine, and the order of requests is kept.

use super::endpoint::Rpc;
use super::header::{Header, Kind, RESPONSE_HEADER};
use crate::engine::{Class, Effects, Instant, NodeId, Stage, Work};

/// Where a request goes, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// The message that it went with; 0 if it has yet to be sent.
    pub sequence: u32,
    pub to: NodeId,
    pub is_answered: bool,
}

impl Call {
    /// To this node, and not sent yet.
    pub fn new(to: NodeId) -> Self {
        Self { sequence: 0, to, is_answered: false }
    }
}

/// A request of a protocol.
pub(crate) trait Asked: Copy {
    fn call(&self) -> &Call;

    fn call_mut(&mut self) -> &mut Call;
}

/// The requests of a worker's step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Calls<A> {
    pub asks: Vec<A>,
    /// When the last message was sent or an answer came.
    pub progress: Instant,
    /// The last message sent.
    pub sequence: u32,
    /// The number of the worker's attempt.
    pub attempt: u32,
    /// How many of the requests have no answer yet.
    pub open: u16,
    /// The worker's number in its thread.
    pub number: u8,
}

/// How requests are sent.
pub(crate) struct Post<'a> {
    pub rpc: &'a mut Rpc,
    pub out: &'a mut Effects,
    pub now: Instant,
    pub stage: Stage,
    /// The largest message.
    pub mtu: usize,
    /// Whether the messages share a doorbell.
    pub batching: bool,
}

/// The bytes of requests.
pub(crate) trait Form<A> {
    /// Appends a request.
    fn encode(&self, ask: &A, out: &mut Vec<u8>);

    /// The most bytes that its answer has.
    fn answer_bytes(&self, ask: &A) -> usize;

    /// Whether it carries values, which have to be copied.
    fn carries_values(&self, ask: &A) -> bool;
}

impl<A: Asked> Calls<A> {
    /// None, of worker `number`, whose attempts are counted from after `attempt`.
    pub fn new(number: u8, attempt: u32) -> Self {
        let (asks, progress) = (Vec::new(), Instant::default());
        Self { asks, progress, sequence: 0, attempt, open: 0, number }
    }

    pub fn clear(&mut self) {
        self.asks.clear();
        self.open = 0;
    }

    pub fn ask(&mut self, ask: A) {
        self.asks.push(ask);
        self.open += 1;
    }

    /// Whether there are requests that have yet to be sent.
    pub fn has_unsent(&self) -> bool {
        self.asks.iter().any(|ask| ask.call().sequence == 0)
    }

    /// Whether messages are under way: those that the budget holds back are not.
    pub fn waits(&self) -> bool {
        self.asks.iter().any(|ask| ask.call().sequence != 0 && !ask.call().is_answered)
    }

    /// Sends what has yet to be sent, as far as it may be. Says whether something was.
    pub fn send(&mut self, post: &mut Post<'_>, form: &impl Form<A>) -> bool {
        if self.open == 0 {
            return false;
        }
        let (mut is_held_back, mut has_sent) = (false, false);
        for at in 0..self.asks.len() {
            let Call { to, sequence, .. } = *self.asks[at].call();
            if sequence != 0 {
                continue;
            }
            // An earlier one to the same node is under way, or waits as well.
            let waits = |ask: &A| ask.call().to == to && !ask.call().is_answered;
            if self.asks[..at].iter().any(waits) {
                continue;
            }
            if !post.rpc.take_place(to) {
                is_held_back = true;
                continue;
            }
            self.send_to(post, form, to, at);
            has_sent = true;
            if !post.batching {
                post.out.ring_doorbell();
            }
        }
        if is_held_back {
            post.rpc.hold_back(self.number);
        }
        post.out.ring_doorbell();
        has_sent
    }

    /// Sends one message with all requests from `first` on that are for `to` and fit in.
    fn send_to(&mut self, post: &mut Post<'_>, form: &impl Form<A>, to: NodeId, first: usize) {
        self.sequence += 1;
        self.progress = post.now;
        let mut header = Header {
            epoch: post.rpc.epoch(),
            kind: Kind::Requests,
            worker: self.number,
            count: 0,
            sequence: self.sequence,
            attempt: self.attempt,
        };
        let (peer, mtu) = (post.rpc.peer(to), post.mtu);
        let mut lines = 0;
        post.out.send(peer, Class::Foreground, post.stage, |out| {
            let start = out.len();
            header.encode(out);
            let mut response = RESPONSE_HEADER;
            for at in first..self.asks.len() {
                let ask = self.asks[at];
                if ask.call().to != to || ask.call().sequence != 0 {
                    continue;
                }
                let end = out.len();
                form.encode(&ask, out);
                response += form.answer_bytes(&ask);
                let fits = out.len() - start <= mtu && response <= mtu && header.count < u8::MAX;
                if !fits && header.count > 0 {
                    out.truncate(end);
                    break;
                }
                header.count += 1;
                self.asks[at].call_mut().sequence = self.sequence;
                if form.carries_values(&ask) {
                    lines += (out.len() - end).div_ceil(64);
                }
            }
            Header::set_count(out, start, header.count);
        });
        post.out.work(Work::CopyLine, lines as u32);
    }

    /// Whether a request went with the message that this answers, and has no answer yet.
    pub fn is_of(ask: &A, from: NodeId, header: &Header) -> bool {
        let Call { to, sequence, is_answered } = *ask.call();
        to == from && sequence == header.sequence && !is_answered
    }

    /// Whether the answers of a message are awaited, as many as there are.
    pub fn awaits(&self, from: NodeId, header: &Header) -> bool {
        let awaited = self.asks.iter().filter(|ask| Self::is_of(ask, from, header)).count();
        header.sequence != 0 && awaited != 0 && awaited == usize::from(header.count)
    }

    /// Notes that all answers of a message that is [awaited](Calls::awaits) were taken.
    pub fn answered(&mut self, rpc: &mut Rpc, now: Instant, from: NodeId, header: &Header) {
        for ask in &mut self.asks {
            if Self::is_of(ask, from, header) {
                ask.call_mut().is_answered = true;
            }
        }
        self.open -= u16::from(header.count);
        self.progress = now;
        rpc.give_place(from);
    }
}
