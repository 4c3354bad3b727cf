// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timeline of a run, as the Chrome trace events that Perfetto (<https://ui.perfetto.dev>) reads.
//!
//! Each node is a process and each of its cores a thread with its bursts. Transactions are asynchronous
//! slices below their node, messages arrows from the burst that sent them to the one that took them,
//! and resources counters. Events are written as they happen; beyond a bound nothing more is written,
//! and the last event says so.

use std::io::{self, Write};

use cluster::engine::{Ending, Endpoint, NodeId, Part, Stage, TransactionId};
use timing::Time;

/// How large a timeline becomes, in bytes: about what a browser still shows.
pub const MOST_BYTES: u64 = 256 << 20;

/// A timeline that is being written.
pub struct Trace<W> {
    out: W,
    written: u64,
    most: u64,
    /// The time of the first event that was left out.
    cut: Option<Time>,
    /// The first error of the writer; nothing is written after it.
    failed: Option<io::Error>,
    flows: u64,
}

impl<W: Write> Trace<W> {
    /// Begins a timeline of at most about `most` bytes.
    pub fn new(out: W, most: u64) -> Self {
        let mut trace = Self { out, written: 0, most, cut: None, failed: None, flows: 0 };
        trace.write(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        // So that every other event has a comma before it.
        trace.write(b"{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":\"Lockstep\"}}");
        trace
    }

    /// Names a node and its threads.
    pub fn name_node(&mut self, node: NodeId, threads: u8) {
        let pid = process(node);
        let name = if node == NodeId::MANAGER {
            "configuration manager".to_owned()
        } else {
            format!("node {}", node.0)
        };
        self.event(Time::ZERO, || {
            format!(
                r#""ph":"M","pid":{pid},"tid":0,"name":"process_name","args":{{"name":"{name}"}}"#
            )
        });
        for thread in 0..threads {
            self.event(Time::ZERO, || {
                format!(
                    r#""ph":"M","pid":{pid},"tid":{},"name":"thread_name","args":{{"name":"core {thread}"}}"#,
                    thread_of(Part::HostThread(thread))
                )
            });
        }
    }

    /// A burst of a core, with the number of its inputs.
    pub fn burst(&mut self, at: Endpoint, start: Time, end: Time, inputs: usize) {
        let length = micros(Time::from_ps(end.as_ps() - start.as_ps()));
        self.event(start, || {
            format!(
                r#""ph":"X","name":"burst","cat":"core",{},"dur":{length},"args":{{"inputs":{inputs}}}"#,
                place(at, start)
            )
        });
    }

    /// An attempt at a transaction, of a kind of this name, begins.
    pub fn begin(&mut self, transaction: TransactionId, kind: &str, now: Time) {
        let at = Endpoint::host(transaction.node(), transaction.thread());
        self.event(now, || {
            format!(
                r#""ph":"b","name":"{kind}","cat":"transaction","id":"{:x}",{}"#,
                transaction.0,
                place(at, now)
            )
        });
    }

    /// An attempt ends.
    pub fn end(&mut self, transaction: TransactionId, kind: &str, ending: Ending, now: Time) {
        let at = Endpoint::host(transaction.node(), transaction.thread());
        self.event(now, || {
            format!(
                r#""ph":"e","name":"{kind}","cat":"transaction","id":"{:x}",{},"args":{{"ending":"{}"}}"#,
                transaction.0,
                place(at, now),
                ending.name()
            )
        });
    }

    /// A message that left in the burst which ended at `sent` and arrived at `arrived`.
    pub fn message(
        &mut self,
        from: Endpoint,
        to: Endpoint,
        sent: Time,
        arrived: Time,
        of: (Stage, usize),
    ) {
        self.flows += 1;
        let (id, (stage, bytes)) = (self.flows, of);
        // An arrow begins within a slice: the burst ends where the message leaves.
        let sent = Time::from_ps(sent.as_ps().saturating_sub(1000));
        let name = stage.name();
        self.event(sent, || {
            format!(
                r#""ph":"s","name":"{name}","cat":"message","id":{id},{},"args":{{"bytes":{bytes}}}"#,
                place(from, sent)
            )
        });
        // Bound to the next burst that begins, which takes it.
        self.event(arrived, || {
            format!(r#""ph":"f","name":"{name}","cat":"message","id":{id},{}"#, place(to, arrived))
        });
    }

    /// How much of a resource of a node is in use, or under way.
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
    use serde_json::Value;

    use super::*;

    fn at(node: u16, thread: u8) -> Endpoint {
        Endpoint::host(NodeId(node), thread)
    }

    fn written(
        most: u64,
        write: impl FnOnce(&mut Trace<&mut Vec<u8>>),
    ) -> (Vec<Value>, Option<String>) {
        let mut bytes = Vec::new();
        let mut trace = Trace::new(&mut bytes, most);
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
            trace.name_node(NodeId(0), 2);
            trace.burst(at(0, 1), ns(1500), ns(2000), 3);
            let transaction = TransactionId::new(NodeId(0), 1, 4, 7);
            trace.begin(transaction, "send-payment", ns(2000));
            trace.message(at(0, 1), at(2, 1), ns(2000), ns(3100), (Stage::Execute, 48));
            trace.end(transaction, "send-payment", Ending::AbortedByLock, ns(4000));
            trace.resource(NodeId(0), "queue", 0.5, ns(4000));
        });
        assert_eq!(note, None);
        let of = |phase: &str| events.iter().find(|event| event["ph"] == phase).expect("there");
        let burst = of("X");
        assert_eq!((&burst["pid"], &burst["tid"]), (&1.into(), &2.into()));
        assert_eq!((burst["ts"].as_f64(), burst["dur"].as_f64()), (Some(1.5), Some(0.5)));
        assert_eq!(of("b")["id"], of("e")["id"]);
        assert_eq!(of("e")["args"]["ending"], "lock");
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
                trace.burst(at(0, 0), start, end, 1);
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
        let trace = Trace::new(Full, 10);
        assert_eq!(trace.finish().expect_err("full").kind(), io::ErrorKind::StorageFull);
    }
}
