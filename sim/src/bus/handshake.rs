// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handshake rules that all AXI channels share, and the bound on a handshake.
//!
//! Source: AMBA AXI protocol specification, "Handshake process": a source that has
//! raised valid keeps it, and its payload, until the cycle in which ready is high.

use super::error::{BusModelError, ProtocolError, TimeoutError};
use std::fmt::Debug;

/// What one channel carries beside valid and ready.
pub trait Payload: Copy {
    /// The first field in which `later` differs: its name, value before, value after.
    fn first_change(&self, later: &Self) -> Option<(&'static str, String, String)>;

    /// The AXI id, on channels that have one.
    fn id(&self) -> Option<u16> {
        None
    }
}

/// Payload of a stream: `tdata`.
#[derive(Debug, Clone, Copy)]
pub struct StreamData<T>(pub T);

impl<T: Copy + PartialEq + Debug> Payload for StreamData<T> {
    fn first_change(&self, later: &Self) -> Option<(&'static str, String, String)> {
        (self.0 != later.0).then(|| ("tdata", format!("{:X?}", self.0), format!("{:X?}", later.0)))
    }
}

/// Watches one channel: valid held, payload stable, ready within the bound.
#[derive(Debug, Clone)]
pub struct HandshakeChecker<P> {
    channel: String,
    valid_name: &'static str,
    holder: &'static str,
    timeout: u64,
    describe: fn(u16) -> String,
    held: Option<Held<P>>,
}

/// A payload that was offered and not taken yet.
#[derive(Debug, Clone, Copy)]
struct Held<P> {
    payload: P,
    since: u64,
}

impl<P: Payload> HandshakeChecker<P> {
    /// A checker for `channel` (e.g. "m_axi AW", pin `valid_name`), on which `holder`
    /// gives ready, within `timeout` cycles.
    pub fn new(
        channel: String,
        valid_name: &'static str,
        holder: &'static str,
        timeout: u64,
        describe: fn(u16) -> String,
    ) -> Self {
        HandshakeChecker { channel, valid_name, holder, timeout, describe, held: None }
    }

    /// Takes the pins of `cycle`; `payload` is called only when it is needed.
    ///
    /// # Errors
    /// When valid fell or the payload changed before ready, or ready is overdue.
    #[inline]
    pub fn observe(
        &mut self,
        cycle: u64,
        valid: bool,
        ready: bool,
        payload: impl FnOnce() -> P,
    ) -> Result<(), BusModelError> {
        if self.held.is_none() && (!valid || ready) {
            return Ok(());
        }
        self.observe_held(cycle, valid, ready, payload())
    }

    fn observe_held(
        &mut self,
        cycle: u64,
        valid: bool,
        ready: bool,
        payload: P,
    ) -> Result<(), BusModelError> {
        let held = *self.held.get_or_insert(Held { payload, since: cycle });
        if !valid {
            return Err(self.broken(cycle, &held, self.valid_name, "0".into(), "1 until ready"));
        }
        if let Some((field, before, after)) = held.payload.first_change(&payload) {
            let expected = format!("{before} as since cycle {} until ready", held.since);
            return Err(self.broken(cycle, &held, field, after, &expected));
        }
        if ready {
            self.held = None;
            return Ok(());
        }
        if cycle - held.since >= self.timeout {
            return Err(self.overdue(&held));
        }
        Ok(())
    }

    fn identifier(&self, held: &Held<P>) -> Option<String> {
        held.payload.id().map(self.describe)
    }

    fn broken(
        &self,
        cycle: u64,
        held: &Held<P>,
        field: &'static str,
        value: String,
        expected: &str,
    ) -> BusModelError {
        let identifier = self.identifier(held);
        let (channel, expected) = (self.channel.clone(), expected.into());
        ProtocolError { channel, field, value, identifier, cycle, expected }.into()
    }

    fn overdue(&self, held: &Held<P>) -> BusModelError {
        let waiting = match self.identifier(held) {
            Some(identifier) => format!("{identifier} valid without ready"),
            None => "valid without ready".into(),
        };
        TimeoutError {
            channel: self.channel.clone(),
            waiting,
            cycles: self.timeout,
            since: held.since,
            holder: self.holder,
            outstanding: Vec::new(),
        }
        .into()
    }
}
