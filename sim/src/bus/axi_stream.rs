// SPDX-License-Identifier: MIT OR Apache-2.0
//! AXI4-Stream source and sink with seeded stalls.
//!
//! Generic over the payload: the block's `tdata` as an integer, an array of words, or a
//! struct that the owner packs.

use super::error::BusModelError;
use super::handshake::{HandshakeChecker, StreamData};
use super::pins::StreamPins;
use super::stall::{Stall, StallPattern};
use std::collections::VecDeque;
use std::fmt::Debug;

/// A stream has no ids to describe.
fn no_id(_: u16) -> String {
    unreachable!("streams carry no id")
}

/// Feeds a block's `s_axis_*` port from a queue.
#[derive(Debug, Clone)]
pub struct StreamSource<T> {
    stall: Stall,
    queue: VecDeque<T>,
    pins: StreamPins<T>,
    checker: HandshakeChecker<StreamData<T>>,
}

impl<T: Copy + Default + PartialEq + Debug> StreamSource<T> {
    /// A source on `channel` (e.g. "s_axis_req") that gives up after `timeout` cycles
    /// of valid without ready.
    pub fn new(channel: &str, stalls: StallPattern, seed: u64, timeout: u64) -> Self {
        StreamSource {
            stall: Stall::new(stalls, seed, channel),
            queue: VecDeque::new(),
            pins: StreamPins::default(),
            checker: HandshakeChecker::new(
                channel.into(),
                "tvalid",
                "the block's sink",
                timeout,
                no_id,
            ),
        }
    }

    /// Adds a beat at the end of the queue.
    pub fn push(&mut self, beat: T) {
        self.queue.push_back(beat);
    }

    /// Beats that were pushed and not yet taken by the block.
    pub fn backlog(&self) -> usize {
        self.queue.len() + usize::from(self.pins.tvalid)
    }

    /// The pins of this cycle. Once raised, `tvalid` stays until the beat is taken.
    #[inline]
    pub fn drive(&mut self, _cycle: u64) -> &StreamPins<T> {
        if !self.pins.tvalid
            && !self.stall.stalled()
            && let Some(tdata) = self.queue.pop_front()
        {
            self.pins = StreamPins { tvalid: true, tdata };
        }
        &self.pins
    }

    /// Takes the block's `tready`; true when it took the beat of this cycle.
    ///
    /// # Errors
    /// [`BusModelError::Timeout`] when the beat has waited for `timeout` cycles.
    #[inline]
    pub fn sample(&mut self, cycle: u64, tready: bool) -> Result<bool, BusModelError> {
        let StreamPins { tvalid, tdata } = self.pins;
        self.checker.observe(cycle, tvalid, tready, || StreamData(tdata))?;
        let taken = tvalid && tready;
        if taken {
            self.pins.tvalid = false;
        }
        Ok(taken)
    }
}

/// Takes the beats of a block's `m_axis_*` port and checks its handshake.
#[derive(Debug, Clone)]
pub struct StreamSink<T> {
    stall: Stall,
    tready: bool,
    checker: HandshakeChecker<StreamData<T>>,
}

impl<T: Copy + PartialEq + Debug> StreamSink<T> {
    /// A sink on `channel` (e.g. "m_axis_rsp"). `timeout` bounds its own stalls, in
    /// cycles.
    pub fn new(channel: &str, stalls: StallPattern, seed: u64, timeout: u64) -> Self {
        StreamSink {
            stall: Stall::new(stalls, seed, channel),
            tready: false,
            checker: HandshakeChecker::new(
                channel.into(),
                "tvalid",
                "the sink's stalls",
                timeout,
                no_id,
            ),
        }
    }

    /// `tready` of this cycle.
    #[inline]
    pub fn drive(&mut self, _cycle: u64) -> bool {
        self.tready = !self.stall.stalled();
        self.tready
    }

    /// Takes the block's pins; the beat when one was handed over in this cycle.
    ///
    /// # Errors
    /// [`BusModelError::Protocol`] when the block withdrew `tvalid` or changed `tdata` before
    /// `tready`; [`BusModelError::Timeout`] when the sink stalled for `timeout` cycles.
    #[inline]
    pub fn sample(&mut self, cycle: u64, pins: &StreamPins<T>) -> Result<Option<T>, BusModelError> {
        self.checker.observe(cycle, pins.tvalid, self.tready, || StreamData(pins.tdata))?;
        Ok((pins.tvalid && self.tready).then_some(pins.tdata))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: u64 = 50;

    #[test]
    fn source_and_sink_carry_all_beats_in_order() {
        seeds::each!(100, |seed| {
            let stalls = StallPattern::Random { probability: (seed % 10) as f64 / 12.0 };
            let burst = StallPattern::Burst { probability: 0.2, longest: 7 };
            let mut source = StreamSource::<u64>::new("source", stalls, seed, 500);
            let mut sink = StreamSink::new("sink", burst, seed, 500);
            let mut received = Vec::new();
            (0..200).for_each(|beat| source.push(beat));
            for cycle in 0..5000 {
                let pins = *source.drive(cycle);
                let tready = sink.drive(cycle);
                let taken = source.sample(cycle, tready).unwrap();
                let beat = sink.sample(cycle, &pins).unwrap();
                assert_eq!(taken, beat.is_some());
                received.extend(beat);
            }
            assert_eq!(source.backlog(), 0);
            assert_eq!(received, (0..200).collect::<Vec<u64>>());
        });
    }

    #[test]
    fn a_block_that_takes_nothing_is_named_after_the_bound() {
        let mut source = StreamSource::new("s_axis_req", StallPattern::None, 0, TIMEOUT);
        source.push([1u64, 2, 3]);
        let fault = (12..).find_map(|cycle| {
            source.drive(cycle);
            source.sample(cycle, false).err().map(|fault| (cycle, fault.to_string()))
        });
        let text = "s_axis_req: valid without ready for 50 cycles since cycle 12; \
                    held by the block's sink";
        assert_eq!(fault, Some((62, text.into())));
    }

    #[test]
    fn a_sink_that_always_stalls_is_named_after_the_bound() {
        let always = StallPattern::Random { probability: 1.0 };
        let mut sink = StreamSink::new("m_axis_rsp", always, 0, TIMEOUT);
        let pins = StreamPins { tvalid: true, tdata: 1u64 };
        let fault = (0..=TIMEOUT).find_map(|cycle| {
            sink.drive(cycle);
            sink.sample(cycle, &pins).err()
        });
        let text = fault.expect("no timeout").to_string();
        assert!(text.contains("held by the sink's stalls"), "{text}");
    }

    #[test]
    fn the_sink_sees_a_payload_that_changes_and_a_valid_that_falls() {
        let always = StallPattern::Random { probability: 1.0 };
        let offer = |second: StreamPins<u64>| {
            let mut sink = StreamSink::new("m_axis_rsp", always, 0, TIMEOUT);
            sink.drive(4);
            sink.sample(4, &StreamPins { tvalid: true, tdata: 0xA0 }).unwrap();
            sink.drive(5);
            sink.sample(5, &second).map_err(|fault| fault.to_string())
        };
        assert_eq!(offer(StreamPins { tvalid: true, tdata: 0xA0 }), Ok(None));
        assert_eq!(
            offer(StreamPins { tvalid: true, tdata: 0xA1 }).unwrap_err(),
            "m_axis_rsp: tdata is A1 in cycle 5, expected A0 as since cycle 4 until ready"
        );
        assert_eq!(
            offer(StreamPins { tvalid: false, tdata: 0xA0 }).unwrap_err(),
            "m_axis_rsp: tvalid is 0 in cycle 5, expected 1 until ready"
        );
    }
}
