// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timeline of a run, as the Chrome trace events that Perfetto (<https://ui.perfetto.dev>) reads.
//!
//! Each node is a process and each of its cores a thread with its bursts. Transactions are asynchronous
//! slices below their node, messages arrows from the burst that sent them to the one that took them,
//! and resources counters. Events are written as they happen; beyond a bound nothing more is written,
//! and the last event says so.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cluster::engine::{Ending, Endpoint, NodeId, Part, Point, TransactionId};
use timing::Time;

use crate::faults::Happening;
use crate::world::{MessageNote, Trace};

/// How large a timeline becomes, in bytes: about what a browser still shows.
pub const MOST_BYTES: u64 = 256 << 20;

/// A timeline that is being written.
pub struct Timeline<W> {
    out: W,
    written: u64,
    most: u64,
    /// The time of the first event that was left out.
    cut: Option<Time>,
    /// The first error of the writer; nothing is written after it.
    failed: Option<io::Error>,
    kinds: Vec<&'static str>,
    /// Attempts that have not ended, and their kinds.
    open: BTreeMap<u64, u8>,
}

impl<W: Write> Timeline<W> {
    /// Begins a timeline of at most about `most` bytes, with transactions of these kinds.
    pub fn new(out: W, most: u64, kinds: Vec<&'static str>) -> Self {
        let (cut, failed, open) = (None, None, BTreeMap::new());
        let mut trace = Self { out, written: 0, most, cut, failed, kinds, open };
        trace.write(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        // So that every other event has a comma before it.
        trace.write(b"{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":\"Lockstep\"}}");
        trace
    }

    /// Names the nodes and their threads.
    pub fn name_nodes(&mut self, nodes: u16, (threads, cores): (u8, u8)) {
        for node in (0..nodes).map(NodeId).chain([NodeId::MANAGER]) {
            self.name_node(node, (threads, cores));
        }
    }

    fn name_node(&mut self, node: NodeId, (threads, cores): (u8, u8)) {
        let pid = process(node);
        let name = match node {
            NodeId::MANAGER => "configuration manager".to_owned(),
            NodeId(node) => format!("node {node}"),
        };
        self.event(Time::ZERO, || {
            format!(
                r#""ph":"M","pid":{pid},"tid":0,"name":"process_name","args":{{"name":"{name}"}}"#
            )
        });
        let threads = (0..threads).map(|thread| (Part::HostThread(thread), "core", thread));
        let cores = (0..cores).map(|core| (Part::NicCore(core), "NIC core", core));
        for (part, kind, number) in threads.chain(cores) {
            let tid = thread_of(part);
            self.event(Time::ZERO, || {
                format!(
                    r#""ph":"M","pid":{pid},"tid":{tid},"name":"thread_name","args":{{"name":"{kind} {number}"}}"#
                )
            });
        }
    }

    /// An event of an attempt at a transaction: `b` for its beginning, `e` for its end.
    fn attempt(&mut self, phase: char, of: TransactionId, kind: u8, now: Time, more: &str) {
        let at = Endpoint::host(of.node(), of.thread());
        let kind = self.kinds.get(usize::from(kind)).copied().unwrap_or("transaction");
        self.event(now, || {
            format!(
                r#""ph":"{phase}","name":"{kind}","cat":"transaction","id":"{:x}",{}{more}"#,
                of.0,
                place(at, now)
            )
        });
    }

    /// Something of a node that is counted has another value from now on.
    pub fn resource(&mut self, node: NodeId, name: &str, value: f64, now: Time) {
        let (pid, at) = (process(node), micros(now));
        self.event(now, || {
            format!(r#""ph":"C","name":"{name}","pid":{pid},"ts":{at},"args":{{"value":{value}}}"#)
        });
    }

    /// Completes the timeline: a sentence if it was cut.
    ///
    /// # Errors
    /// The first one of the writer.
    pub fn finish(mut self) -> io::Result<Option<String>> {
        let note = self.cut.map(|time| {
            format!(
                "the timeline was cut at {} ns of virtual time, after {} MiB; a shorter run is shown whole",
                time.as_ns_f64(),
                self.most >> 20
            )
        });
        if let (Some(time), Some(note)) = (self.cut, &note) {
            let last = format!(
                ",\n{{\"ph\":\"i\",\"s\":\"g\",\"name\":\"{note}\",\"pid\":0,\"tid\":0,\"ts\":{}}}",
                micros(time)
            );
            self.write(last.as_bytes());
        }
        self.write(b"\n]}\n");
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| note),
        }
    }

    /// Attempts of a node that have not ended.
    fn open_of(&self, node: NodeId) -> f64 {
        let first = TransactionId::new(node, 0, 0, 0).0;
        let last = TransactionId::new(node, u8::MAX, u8::MAX, u32::MAX).0;
        self.open.range(first..=last).count() as f64
    }

    /// Writes an event of these members, unless the timeline is full.
    fn event(&mut self, at: Time, members: impl FnOnce() -> String) {
        if self.cut.is_some() {
            return;
        }
        if self.written >= self.most {
            self.cut = Some(at);
            return;
        }
        let members = members();
        self.write(b",\n{");
        self.write(members.as_bytes());
        self.write(b"}");
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
            self.written += bytes.len() as u64;
        }
    }
}

impl<W: Write + Send> Trace for Timeline<W> {
    fn begun(&mut self, now: Time, transaction: TransactionId, kind: u8, again: bool) {
        self.open.insert(transaction.0, kind);
        let more = format!(r#","args":{{"again":{again}}}"#);
        self.attempt('b', transaction, kind, now, &more);
        let open = self.open_of(transaction.node());
        self.resource(transaction.node(), "transactions under way", open, now);
    }

    fn committing(&mut self, now: Time, transaction: TransactionId, _: Point) {
        let kind = self.open.get(&transaction.0).copied().unwrap_or(u8::MAX);
        self.attempt('n', transaction, kind, now, r#","args":{"point":"serialization"}"#);
    }

    fn ended(&mut self, now: Time, transaction: TransactionId, ending: Ending) {
        let kind = self.open.remove(&transaction.0).unwrap_or(u8::MAX);
        let more = format!(r#","args":{{"ending":"{}"}}"#, ending.name());
        self.attempt('e', transaction, kind, now, &more);
        let open = self.open_of(transaction.node());
        self.resource(transaction.node(), "transactions under way", open, now);
    }

    fn sent(&mut self, now: Time, message: &MessageNote) {
        let MessageNote { from, stage, bytes, number, .. } = *message;
        // An arrow begins within a slice: the burst ends where the message leaves.
        let sent = now.saturating_sub(Time::from_ps(1000));
        let name = stage.name();
        self.event(sent, || {
            format!(
                r#""ph":"s","name":"{name}","cat":"message","id":{number},{},"args":{{"bytes":{bytes}}}"#,
                place(from, sent)
            )
        });
    }

    fn received(&mut self, seen: Time, message: &MessageNote) {
        let MessageNote { to, stage, number, .. } = *message;
        let name = stage.name();
        // Bound to the next burst that begins, which takes it.
        self.event(seen, || {
            format!(r#""ph":"f","name":"{name}","cat":"message","id":{number},{}"#, place(to, seen))
        });
    }

    fn burst(&mut self, node: NodeId, part: Part, begin: Time, end: Time, inputs: u32) {
        let length = micros(end.saturating_sub(begin));
        let at = place(Endpoint { node, part }, begin);
        self.event(begin, || {
            format!(
                r#""ph":"X","name":"burst","cat":"core",{at},"dur":{length},"args":{{"inputs":{inputs}}}"#
            )
        });
    }

    fn happened(&mut self, now: Time, node: NodeId, happening: &Happening) {
        let (pid, at) = (process(node), micros(now));
        self.event(now, || {
            format!(r#""ph":"i","s":"p","name":"{happening:?}","cat":"fault","pid":{pid},"tid":0,"ts":{at}"#)
        });
    }
}

/// A timeline, or nobody.
pub struct Watcher<W>(Option<Timeline<W>>);

impl<W: Write> Watcher<W> {
    /// The timeline, or nobody.
    pub fn new(timeline: Option<Timeline<W>>) -> Self {
        Self(timeline)
    }

    /// Takes the timeline out, so that it can be completed.
    pub fn take(&mut self) -> Option<Timeline<W>> {
        self.0.take()
    }
}

/// Hands each call on to the timeline, if there is one.
macro_rules! hand_on {
    ($($name:ident($($argument:ident: $of:ty),*);)*) => {
        impl<W: Write + Send> Trace for Watcher<W> {
            $(fn $name(&mut self, $($argument: $of),*) {
                if let Some(timeline) = &mut self.0 {
                    timeline.$name($($argument),*);
                }
            })*
        }
    };
}

hand_on! {
    begun(now: Time, transaction: TransactionId, kind: u8, again: bool);
    committing(now: Time, transaction: TransactionId, point: Point);
    ended(now: Time, transaction: TransactionId, ending: Ending);
    sent(now: Time, message: &MessageNote);
    received(seen: Time, message: &MessageNote);
    burst(node: NodeId, part: Part, begin: Time, end: Time, inputs: u32);
    happened(now: Time, node: NodeId, happening: &Happening);
}

/// Microseconds, to the picosecond.
fn micros(time: Time) -> String {
    format!("{}.{:06}", time.as_ps() / 1_000_000, time.as_ps() % 1_000_000)
}

/// Process 0 is nobody's.
fn process(node: NodeId) -> u32 {
    u32::from(node.0) + 1
}

fn thread_of(part: Part) -> u32 {
    match part {
        Part::HostThread(thread) => 1 + u32::from(thread),
        Part::NicCore(core) => 1001 + u32::from(core),
        Part::Memory => 2001,
        Part::Switch => 2002,
    }
}

fn place(at: Endpoint, now: Time) -> String {
    format!(r#""pid":{},"tid":{},"ts":{}"#, process(at.node), thread_of(at.part), micros(now))
}

#[cfg(test)]
mod tests {
    use cluster::engine::{Class, Stage};
    use serde_json::Value;

    use super::*;

    fn at(node: u16, thread: u8) -> Endpoint {
        Endpoint::host(NodeId(node), thread)
    }

    fn written(
        most: u64,
        write: impl FnOnce(&mut Timeline<&mut Vec<u8>>),
    ) -> (Vec<Value>, Option<String>) {
        let mut bytes = Vec::new();
        let mut trace = Timeline::new(&mut bytes, most, vec!["balance", "send-payment"]);
        write(&mut trace);
        let note = trace.finish().expect("a vector takes all");
        let mut whole: Value = serde_json::from_slice(&bytes).expect("well formed");
        let Value::Array(events) = whole["traceEvents"].take() else { panic!("a list") };
        (events, note)
    }

    #[test]
    fn events_stand_at_their_core_and_time() {
        let ns = Time::from_ns;
        let (events, note) = written(MOST_BYTES, |trace| {
            trace.name_nodes(1, (2, 0));
            trace.burst(NodeId(0), Part::HostThread(1), ns(1500), ns(2000), 3);
            let transaction = TransactionId::new(NodeId(0), 1, 4, 7);
            trace.begun(ns(2000), transaction, 1, false);
            let (class, stage) = (Class::Foreground, Stage::Execute);
            let [from, to] = [at(0, 1), at(2, 1)];
            let note = MessageNote { from, to, class, stage, bytes: 48, number: 9 };
            trace.sent(ns(2000), &note);
            trace.received(ns(3100), &note);
            trace.ended(ns(4000), transaction, Ending::AbortedByLock);
        });
        assert_eq!(note, None);
        let of = |phase: &str| events.iter().find(|event| event["ph"] == phase).expect("there");
        let burst = of("X");
        assert_eq!((&burst["pid"], &burst["tid"]), (&1.into(), &2.into()));
        assert_eq!((burst["ts"].as_f64(), burst["dur"].as_f64()), (Some(1.5), Some(0.5)));
        assert_eq!(of("b")["id"], of("e")["id"]);
        assert_eq!(
            (&of("b")["name"], &of("e")["name"]),
            (&"send-payment".into(), &"send-payment".into())
        );
        assert_eq!(of("e")["args"]["ending"], "lock");
        let under_way: Vec<_> = events
            .iter()
            .filter(|it| it["ph"] == "C")
            .map(|it| it["args"]["value"].as_f64())
            .collect();
        assert_eq!(under_way, [Some(1.0), Some(0.0)]);
        let (sent, taken) = (of("s"), of("f"));
        assert_eq!(sent["id"], taken["id"]);
        let time = |event: &Value| event["ts"].as_f64().expect("a number");
        assert!(time(sent) > 1.5 && time(sent) < 2.0, "within the burst");
        assert_eq!((time(taken), &taken["pid"]), (3.1, &3.into()));
    }

    #[test]
    fn a_long_timeline_is_cut_and_says_so() {
        let (events, note) = written(2000, |trace| {
            for number in 0..1000 {
                let [start, end] = [10, 15].map(|ns| Time::from_ns(10 * number + ns));
                trace.burst(NodeId(0), Part::HostThread(0), start, end, 1);
            }
        });
        assert!(events.len() < 30, "{}", events.len());
        let note = note.expect("it was cut");
        assert!(note.starts_with("the timeline was cut at "), "{note}");
        assert_eq!(events.last().expect("there")["name"], note);
    }

    #[test]
    fn an_error_of_the_writer_is_kept() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let trace = Timeline::new(Full, 10, Vec::new());
        assert_eq!(trace.finish().expect_err("full").kind(), io::ErrorKind::StorageFull);
    }
}
