// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lock traces as CSV: which transaction locked which row, and when.
//!
//! `docs/traces.md` describes the format. [`TraceReader`] checks each line against all
//! earlier ones, so that a [`TraceRecord`] from it obeys the rules: a transaction is
//! introduced by its first `lock` and ended by one `commit` or `abort`, its
//! number is never used again, an agent runs one transaction at a time, time never goes back,
//! and only a lock that is held is unlocked.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufRead, Write};
use std::path::Path;

use crate::error::{Error, Found, InputError, Result};
use crate::random::agent_stream;
use crate::text_file;
use locks::TupleKey;
use rand::RngExt;

/// The header line: the names of the fields in their order.
pub const FIELDS: [&str; 6] = ["time_ns", "agent", "txn", "vid", "version", "op"];

/// What a transaction does at one time of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceOp {
    /// Requests the lock of a row.
    Lock(TupleKey),
    /// Releases it before the end.
    Unlock(TupleKey),
    /// Ends well; every lock still held is released.
    Commit,
    /// Ends in vain; every lock still held is released.
    Abort,
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Nanoseconds since the trace began.
    pub time_ns: u64,
    /// The agent that executes the transaction.
    pub agent: u32,
    /// Which transaction.
    pub txn: u64,
    /// Its action.
    pub op: TraceOp,
}

/// A transaction of a trace, as its agent replays it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceTransaction {
    /// Its number in the trace.
    pub txn: u64,
    /// Its agent in the trace.
    pub agent: u32,
    /// Its steps, in order of time; only the last one is commit or abort.
    pub steps: Vec<TraceStep>,
}

/// One step of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Nanoseconds since the trace began.
    pub time_ns: u64,
    /// The action taken then.
    pub op: TraceOp,
}

/// Reads a trace line by line and checks it on the way.
///
/// Memory grows with the open transactions, and by one number for each ended one. After an
/// error it gives nothing more.
#[derive(Debug)]
pub struct TraceReader<R> {
    file: String,
    reader: R,
    /// The line read last, and its number from 1.
    text: String,
    line: u64,
    headed: bool,
    ended: bool,
    checker: Checker,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads from `reader`; `file` is what errors call it.
    pub fn new(file: impl Into<String>, reader: R) -> Self {
        Self {
            file: file.into(),
            reader,
            text: String::new(),
            line: 0,
            headed: false,
            ended: false,
            checker: Checker::default(),
        }
    }

    fn next_record(&mut self) -> Result<Option<TraceRecord>> {
        if !self.headed {
            self.read_header()?;
            self.headed = true;
        }
        if !self.read_line()? {
            return match self.checker.unended() {
                None => Ok(None),
                Some((txn, line)) => {
                    let expected = "a commit or abort of this transaction before the trace ends";
                    Err(self.reject(line, "txn", txn, expected))
                }
            };
        }
        let record = self.parse()?;
        match self.checker.check(&record, self.line) {
            Ok(()) => Ok(Some(record)),
            Err(Broken { field, value, expected }) => {
                Err(self.reject(self.line, field, value, expected))
            }
        }
    }

    /// Reads the next line that is neither empty nor a comment, if there is one.
    fn read_line(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            let read = self.reader.read_line(&mut self.text);
            if read.map_err(|source| Error::Read { file: self.file.clone(), source })? == 0 {
                return Ok(false);
            }
            self.line += 1;
            let text = self.text.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(true);
            }
        }
    }

    fn read_header(&mut self) -> Result<()> {
        if self.read_line()? && self.text.trim().split(',').map(str::trim).eq(FIELDS) {
            return Ok(());
        }
        let expected = format!("the header {}", FIELDS.join(","));
        Err(self.reject(self.line.max(1), "", self.text.trim(), expected))
    }

    fn parse(&self) -> Result<TraceRecord> {
        let fields: Vec<&str> = self.text.trim().split(',').map(str::trim).collect();
        let Ok(fields) = <[&str; FIELDS.len()]>::try_from(fields) else {
            let expected = format!("{} fields", FIELDS.len());
            return Err(self.reject(self.line, "", self.text.trim(), expected));
        };
        let key = || -> Result<TupleKey> {
            Ok(TupleKey { vid: self.number(&fields, 3)?, version: self.number(&fields, 4)? })
        };
        let op = match fields[5] {
            "lock" => TraceOp::Lock(key()?),
            "unlock" => TraceOp::Unlock(key()?),
            "commit" => self.without_row(&fields, TraceOp::Commit)?,
            "abort" => self.without_row(&fields, TraceOp::Abort)?,
            other => {
                let expected = "lock, unlock, commit or abort";
                return Err(self.reject(self.line, "op", other, expected));
            }
        };
        Ok(TraceRecord {
            time_ns: self.number(&fields, 0)?,
            agent: self.number(&fields, 1)?,
            txn: self.number(&fields, 2)?,
            op,
        })
    }

    fn without_row(&self, fields: &[&str; FIELDS.len()], op: TraceOp) -> Result<TraceOp> {
        match (3..=4).find(|place| !fields[*place].is_empty()) {
            None => Ok(op),
            Some(place) => {
                let expected = "nothing: commit and abort end all rows of the transaction";
                Err(self.reject(self.line, FIELDS[place], fields[place], expected))
            }
        }
    }

    fn number<T: TryFrom<u64>>(&self, fields: &[&str; FIELDS.len()], place: usize) -> Result<T> {
        let text = fields[place];
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse::<u64>().ok() } else { None };
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let expected = format!("an integer of 0 to 2^{} - 1", 8 * size_of::<T>());
            self.reject(self.line, FIELDS[place], text, expected)
        })
    }

    fn reject(
        &self,
        line: u64,
        field: &str,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        let (file, field, expected) = (self.file.clone(), field.into(), expected.into());
        InputError { file, line, field, found: Found::Value(value.into()), expected }.into()
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<TraceRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let record = self.next_record().transpose();
        self.ended = !matches!(record, Some(Ok(_)));
        record
    }
}

/// The state of the previous lines, for the rules between lines.
#[derive(Debug, Default)]
struct Checker {
    time_ns: u64,
    open: BTreeMap<u64, Open>,
    /// The open transaction of each agent that has one.
    running: BTreeMap<u32, u64>,
    ended: HashSet<u64>,
}

#[derive(Debug)]
struct Open {
    agent: u32,
    line: u64,
    held: BTreeSet<TupleKey>,
}

/// Which field breaks a rule, and what would not.
#[derive(Debug)]
struct Broken {
    field: &'static str,
    value: String,
    expected: String,
}

fn broken<T>(
    field: &'static str,
    value: impl ToString,
    expected: impl Into<String>,
) -> std::result::Result<T, Broken> {
    Err(Broken { field, value: value.to_string(), expected: expected.into() })
}

impl Checker {
    fn check(&mut self, record: &TraceRecord, line: u64) -> std::result::Result<(), Broken> {
        if record.time_ns < self.time_ns {
            let expected = format!("at least {}, the time of the line before", self.time_ns);
            return broken("time_ns", record.time_ns, expected);
        }
        self.time_ns = record.time_ns;
        if self.ended.contains(&record.txn) {
            return broken("txn", record.txn, "a transaction that has not ended yet");
        }
        if !self.open.contains_key(&record.txn) {
            self.begin(record, line)?;
        }
        let open = self.open.get_mut(&record.txn).expect("open now");
        if open.agent != record.agent {
            let expected = format!("{}, the agent of transaction {}", open.agent, record.txn);
            return broken("agent", record.agent, expected);
        }
        match record.op {
            TraceOp::Lock(key) => {
                open.held.insert(key);
            }
            TraceOp::Unlock(key) => {
                if !open.held.remove(&key) {
                    let expected = format!("a row that transaction {} has locked", record.txn);
                    let value = format!("{} (version {})", key.vid, key.version);
                    return broken("vid", value, expected);
                }
            }
            TraceOp::Commit | TraceOp::Abort => {
                self.open.remove(&record.txn);
                self.running.remove(&record.agent);
                self.ended.insert(record.txn);
            }
        }
        Ok(())
    }

    fn begin(&mut self, record: &TraceRecord, line: u64) -> std::result::Result<(), Broken> {
        if !matches!(record.op, TraceOp::Lock(_)) {
            return broken("txn", record.txn, "a transaction that has locked a row before");
        }
        if let Some(other) = self.running.get(&record.agent) {
            let expected = format!("{other}, which agent {} has not ended yet", record.agent);
            return broken("txn", record.txn, expected);
        }
        self.running.insert(record.agent, record.txn);
        let open = Open { agent: record.agent, line, held: BTreeSet::new() };
        self.open.insert(record.txn, open);
        Ok(())
    }

    /// A transaction that has no end, with the line of its first lock.
    fn unended(&self) -> Option<(String, u64)> {
        let (txn, open) = self.open.iter().min_by_key(|(_, open)| open.line)?;
        Some((txn.to_string(), open.line))
    }
}

/// Writes a trace.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    writer: W,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header. Give it a buffered writer.
    ///
    /// # Errors
    /// When the system refuses to write.
    pub fn new(mut writer: W) -> Result<Self> {
        writeln!(writer, "{}", FIELDS.join(",")).map_err(cannot_write)?;
        Ok(Self { writer })
    }

    /// Writes one line.
    ///
    /// # Errors
    /// When the system refuses to write.
    pub fn write(&mut self, record: &TraceRecord) -> Result<()> {
        let TraceRecord { time_ns, agent, txn, op } = record;
        let (key, name) = match op {
            TraceOp::Lock(key) => (Some(key), "lock"),
            TraceOp::Unlock(key) => (Some(key), "unlock"),
            TraceOp::Commit => (None, "commit"),
            TraceOp::Abort => (None, "abort"),
        };
        let result = match key {
            Some(TupleKey { vid, version }) => {
                writeln!(self.writer, "{time_ns},{agent},{txn},{vid},{version},{name}")
            }
            None => writeln!(self.writer, "{time_ns},{agent},{txn},,,{name}"),
        };
        result.map_err(cannot_write)
    }

    /// Flushes, and gives the writer back.
    ///
    /// # Errors
    /// When the system refuses to write.
    pub fn finish(mut self) -> Result<W> {
        self.writer.flush().map_err(cannot_write)?;
        Ok(self.writer)
    }
}

fn cannot_write(source: std::io::Error) -> Error {
    Error::Write { what: "the trace".into(), source }
}

/// The transactions of each agent, in the order in which it runs them.
///
/// # Errors
/// At the first line that breaks a rule of the format.
pub fn read_transactions<R: BufRead>(
    reader: TraceReader<R>,
) -> Result<BTreeMap<u32, Vec<TraceTransaction>>> {
    let mut agents: BTreeMap<u32, Vec<TraceTransaction>> = BTreeMap::new();
    for record in reader {
        let TraceRecord { time_ns, agent, txn, op } = record?;
        let transactions = agents.entry(agent).or_default();
        // An agent runs one transaction at a time, so an open one is its last.
        if transactions.last().is_none_or(|last| last.txn != txn) {
            transactions.push(TraceTransaction { txn, agent, steps: Vec::new() });
        }
        let last = transactions.last_mut().expect("there is one now");
        last.steps.push(TraceStep { time_ns, op });
    }
    Ok(agents)
}

/// [`read_transactions`] of a file.
///
/// # Errors
/// When it cannot be read, and as [`read_transactions`].
pub fn load_transactions(path: impl AsRef<Path>) -> Result<BTreeMap<u32, Vec<TraceTransaction>>> {
    let file = path.as_ref().display().to_string();
    let reader = text_file::open(&path);
    let reader = reader.map_err(|source| Error::Read { file: file.clone(), source })?;
    read_transactions(TraceReader::new(file, reader))
}

/// By how many picoseconds an agent of a replay is later than the trace says: drawn from the seed, less
/// than `step_ps`. The clock that stamped the trace tells no times apart within its step, so any of them
/// is as true as the one that the trace has.
pub fn draw_start(seed: u64, agent: u32, step_ps: u64) -> u64 {
    if step_ps == 0 { 0 } else { agent_stream(seed, agent).random_range(0..step_ps) }
}

/// Keeps the first `count` transactions by the time of their first lock (ties: by number) and
/// drops agents that have none left.
pub fn keep_first(agents: &mut BTreeMap<u32, Vec<TraceTransaction>>, count: u64) {
    let mut starts: Vec<(u64, u64)> =
        agents.values().flatten().map(|txn| (txn.steps[0].time_ns, txn.txn)).collect();
    starts.sort_unstable();
    let Some(first_dropped) = usize::try_from(count).ok().and_then(|count| starts.get(count))
    else {
        return;
    };
    agents.retain(|_, transactions| {
        transactions.retain(|txn| (txn.steps[0].time_ns, txn.txn) < *first_dropped);
        !transactions.is_empty()
    });
}
