// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the log of a PostgreSQL server to a lock trace.
//!
//! [`convert`] reads the text of `pg_waldump` (PostgreSQL 15 to 18) and writes the row locks in it as
//! a [`trace`](crate::trace). The following rules supply what a log does not contain (more in
//! `docs/traces.md`):
//!
//! - **VID**: rows are numbered from 1 as they appear; a row keeps its number when an update
//!   puts its next version elsewhere.
//! - **version**: the updates of the row that have committed since the log began.
//! - **time**: interpolated by log position between the ends of transactions.
//! - **agent**: a transaction runs on the agent that has been idle longest.
//! - **waiting**: the server logs a lock when it is granted. The request is dated back to the
//!   last record of the same transaction before it, and asks for the version that was the
//!   latest then; if another had committed before the grant, the transaction locks that too,
//!   as a transaction of READ COMMITTED does that finds a newer version after its wait.

mod clock;
mod line;
mod rows;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{BufRead, Write};
use std::num::NonZeroU32;

use crate::error::{Error, Found, InputError, Result};
use crate::trace::{TraceOp, TraceRecord, TraceWriter};
use clock::Clock;
use line::{Event, Record, TupleAddress};
use locks::TupleKey;
use rows::Rows;

/// How to convert.
#[derive(Clone, Debug)]
pub struct Options {
    /// What errors call the dump.
    pub file: String,
    /// The most agents; `None` takes as many as transactions were open at once.
    pub agents: Option<NonZeroU32>,
}

/// The result of the conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines of the dump.
    pub lines: u64,
    /// Lines of other records than row locks and ends of transactions.
    pub skipped: u64,
    /// Shared row locks (`FOR SHARE`, `FOR KEY SHARE`), which the lock table does not have.
    pub skipped_shared: u64,
    /// Transactions with locks that committed.
    pub committed: u64,
    /// Transactions with locks that aborted.
    pub aborted: u64,
    /// Transactions with locks without an end in the dump; written as aborted at its end.
    pub unended: u64,
    /// Rows that were locked.
    pub rows: u64,
    /// Locks requested.
    pub locks: u64,
    /// Of these, locks of a newer version after a wait.
    pub locks_after_wait: u64,
    /// Agents of the trace.
    pub agents: u32,
    /// Length of the trace in nanoseconds.
    pub duration_ns: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transactions = self.committed + self.aborted + self.unended;
        writeln!(
            out,
            "{transactions} transactions of {} agents within {:.3} ms: {} committed, {} aborted, \
             {} without an end (closed as aborted)",
            self.agents,
            self.duration_ns as f64 / 1e6,
            self.committed,
            self.aborted,
            self.unended,
        )?;
        writeln!(
            out,
            "{} locks of {} rows, {} of them of a newer version after a wait",
            self.locks, self.rows, self.locks_after_wait
        )?;
        write!(
            out,
            "{} lines; skipped: {} other records, {} shared locks",
            self.lines, self.skipped, self.skipped_shared
        )
    }
}

/// Converts the text of `pg_waldump` into a lock trace.
///
/// Works in one pass; keeps the rows seen, the open transactions, and of the trace what came
/// after the last record of the longest idle open transaction.
///
/// # Errors
/// At a line that is no record, that goes back in the log, or that opens more transactions
/// than [`Options::agents`] allows; at the end when there was no row lock; when reading or writing
/// fails. What has been written by
/// then is no whole trace.
pub fn convert(reader: impl BufRead, options: &Options, writer: impl Write) -> Result<Report> {
    let mut converter = Converter::new(options, TraceWriter::new(writer)?);
    let mut clock = Clock::default();
    let mut last_lsn = 0;
    for (line, text) in (1..).zip(reader.lines()) {
        let text = text.map_err(|source| Error::Read { file: options.file.clone(), source })?;
        let record = line::parse(line, &text)
            .map_err(|bad| converter.reject(line, bad.field, bad.value, bad.expected))?;
        if record.lsn < last_lsn {
            let expected = "a position not before that of the line before";
            let value = format!("{:X}/{:08X}", record.lsn >> 32, record.lsn & 0xFFFF_FFFF);
            return Err(converter.reject(line, "lsn", value, expected));
        }
        last_lsn = record.lsn;
        converter.report.lines = line;
        match record.event {
            Event::Other => converter.report.skipped += 1,
            Event::Lock { shared: true, .. } => converter.report.skipped_shared += 1,
            Event::End { committed, transaction, time_us, children } => {
                let (before, now) = clock.set(record.lsn, time_us);
                converter.lock_all(&before)?;
                for ended in std::iter::once(transaction).chain(children) {
                    converter.end(now, record.lsn, ended, committed);
                }
                converter.write_settled()?;
            }
            _ => clock.hold(record),
        }
    }
    converter.lock_all(&clock.rest())?;
    if converter.report.locks == 0 {
        let lines = converter.report.lines;
        let (found, expected) =
            (format!("no row lock in {lines} lines"), "some, or there is no trace");
        return Err(converter.reject(lines.max(1), "", found, expected));
    }
    converter.finish(clock.now())
}

struct Converter<'o, W: Write> {
    options: &'o Options,
    writer: TraceWriter<W>,
    report: Report,
    rows: Rows,
    open: BTreeMap<u32, Open>,
    /// Agents without a transaction, the longest idle first.
    idle: VecDeque<u32>,
    /// Lines of the trace before which others may still come, by time and order of making.
    unsettled: BTreeMap<(u64, u64), TraceRecord>,
    made: u64,
}

/// A transaction that has locked rows.
struct Open {
    agent: u32,
    /// Time and log position of its last record.
    last_ns: u64,
    last_lsn: u64,
    /// Its rows, with the versions that it made of each.
    rows: BTreeMap<u64, Vec<Move>>,
}

/// An update that put a row's next version elsewhere, or a deletion.
struct Move {
    from: TupleAddress,
    to: Option<TupleAddress>,
}

impl<'o, W: Write> Converter<'o, W> {
    fn new(options: &'o Options, writer: TraceWriter<W>) -> Self {
        Self {
            options,
            writer,
            report: Report::default(),
            rows: Rows::default(),
            open: BTreeMap::new(),
            idle: VecDeque::new(),
            unsettled: BTreeMap::new(),
            made: 0,
        }
    }

    fn lock_all(&mut self, records: &[(u64, Record)]) -> Result<()> {
        records.iter().try_for_each(|(time_ns, record)| self.lock(*time_ns, record))
    }

    /// A record that locks a row, and perhaps makes its next version.
    fn lock(&mut self, time_ns: u64, record: &Record) -> Result<()> {
        let (row, next) = match record.event {
            Event::Lock { row, .. } => (row, None),
            Event::Update { old, new } => (old, Some(Move { from: old, to: Some(new) })),
            Event::Delete { row } => (row, Some(Move { from: row, to: None })),
            Event::End { .. } | Event::Other => unreachable!("not held by the clock"),
        };
        let vid = self.rows.vid(row);
        let id = record.transaction;
        if !self.open.contains_key(&id) {
            self.begin(time_ns, record)?;
        }
        let open = self.open.get_mut(&id).expect("open now");
        let (agent, asked_ns, asked_lsn) = (open.agent, open.last_ns, open.last_lsn);
        (open.last_ns, open.last_lsn) = (time_ns, record.lsn);
        let first = !open.rows.contains_key(&vid);
        let moves = open.rows.entry(vid).or_default();
        if let Some(next) = next {
            if let Some(address) = next.to {
                self.rows.placed(vid, address);
            }
            moves.push(next);
        }
        if first {
            let asked = self.rows.version_at(vid, asked_lsn);
            let granted = self.rows.version(vid);
            self.emit(asked_ns, agent, id, TraceOp::Lock(TupleKey { vid, version: asked }));
            self.report.locks += 1;
            if granted != asked {
                self.emit(time_ns, agent, id, TraceOp::Lock(TupleKey { vid, version: granted }));
                self.report.locks += 1;
                self.report.locks_after_wait += 1;
            }
        }
        Ok(())
    }

    /// Gives a transaction its agent.
    fn begin(&mut self, time_ns: u64, record: &Record) -> Result<()> {
        let agent = match self.idle.pop_front() {
            Some(agent) => agent,
            None => {
                let agent = self.report.agents;
                if let Some(most) = self.options.agents.filter(|most| agent >= most.get()) {
                    let expected = format!("at most {most} transactions open at once");
                    let id = record.transaction.to_string();
                    return Err(self.reject(record.line, "tx", id, expected));
                }
                self.report.agents += 1;
                agent
            }
        };
        let open = Open { agent, last_ns: time_ns, last_lsn: record.lsn, rows: BTreeMap::new() };
        self.open.insert(record.transaction, open);
        Ok(())
    }

    /// The end of a transaction; those without locks do not appear in the trace.
    fn end(&mut self, time_ns: u64, lsn: u64, id: u32, committed: bool) {
        let Some(open) = self.open.remove(&id) else {
            return;
        };
        let oldest = self.open.values().map(|open| open.last_lsn).min().unwrap_or(lsn);
        for (vid, moves) in &open.rows {
            for step in moves {
                match (committed, step.to) {
                    (true, _) => self.rows.vacated(*vid, step.from),
                    (false, Some(address)) => self.rows.vacated(*vid, address),
                    (false, None) => {}
                }
            }
            if committed && !moves.is_empty() {
                let updates = u32::try_from(moves.len()).expect("fewer than 2^32 commands");
                self.rows.committed(*vid, updates, lsn, oldest);
            }
        }
        self.idle.push_back(open.agent);
        let (op, count) = match committed {
            true => (TraceOp::Commit, &mut self.report.committed),
            false => (TraceOp::Abort, &mut self.report.aborted),
        };
        *count += 1;
        self.emit(time_ns, open.agent, id, op);
    }

    fn emit(&mut self, time_ns: u64, agent: u32, transaction: u32, op: TraceOp) {
        let record = TraceRecord { time_ns, agent, txn: transaction.into(), op };
        self.unsettled.insert((time_ns, self.made), record);
        self.made += 1;
    }

    /// Writes the lines before which none can come any more: an open transaction may still
    /// date a request back to its last record.
    fn write_settled(&mut self) -> Result<()> {
        let settled = self.open.values().map(|open| open.last_ns).min().unwrap_or(u64::MAX);
        while let Some(line) = self.unsettled.first_entry()
            && line.key().0 <= settled
        {
            self.writer.write(&line.remove())?;
        }
        Ok(())
    }

    fn finish(mut self, now: u64) -> Result<Report> {
        let unended: Vec<_> = self.open.keys().copied().collect();
        let aborted = self.report.aborted;
        for id in unended {
            self.end(now, u64::MAX, id, false);
        }
        self.report.unended = self.report.aborted - aborted;
        self.report.aborted = aborted;
        self.write_settled()?;
        assert!(self.unsettled.is_empty(), "no open transaction holds lines back");
        self.report.rows = self.rows.count();
        self.report.duration_ns = now;
        self.writer.finish()?;
        Ok(self.report)
    }

    fn reject(
        &self,
        line: u64,
        field: &str,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        let (file, field, expected) = (self.options.file.clone(), field.into(), expected.into());
        InputError { file, line, field, found: Found::Value(value.into()), expected }.into()
    }
}
