// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of a run as a history, whose checker trusts no claim about versions.
//!
//! A version of the history is the transaction that wrote it, because a broken protocol may make one
//! version of a header twice. Which write a read saw is found by the header's version and the row's digest
//! together; a value that nobody is known to have written gets a number that no write has.

use std::collections::{BTreeMap, BTreeSet};

use cluster::engine::{Access, Key, TransactionId};
use cluster::transact::Transactions;
use history::{Extension, Header, History, Level, Read, Status, TransactionRecord, Write};
use timing::Time;

use super::Judge;
use crate::world::recorder::{Attempt, Recorder};

/// A record that breaks a rule of the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no history can be made of the record: {0}")]
pub struct ExportError(#[from] history::Error);

/// What nobody has written is numbered from here on.
const UNKNOWN: u64 = 1 << 63;

/// A version of a key.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// The version of its header.
    header: u64,
    /// The order of its writer's point.
    order: u64,
    digest: u64,
    /// The number of its writer; 0 for the initial one.
    writer: u64,
    /// Whether its writer has committed: it is known to, or someone read a value that only it wrote.
    stands: bool,
}

impl Version {
    /// What orders the versions of a key.
    fn place(&self) -> (u64, u64, u64) {
        (self.header, self.order, self.writer)
    }
}

pub(super) fn history<T: Transactions>(
    judge: Judge<'_, T>,
    recorder: &Recorder,
    seed: u64,
    scenario: &str,
) -> Result<History, ExportError> {
    let versions = versions(judge, recorder);
    let ranks = Ranks::new(recorder);
    let mut exporter = Exporter { judge, versions, unknown: UNKNOWN };
    let mut transactions = vec![exporter.initial()];
    let mut last_commits: BTreeMap<u64, u64> = BTreeMap::new();
    for (number, attempt) in numbered(recorder) {
        let session = session_of(attempt.transaction);
        let commit = status_of(attempt).1.then(|| ranks.commit(attempt)).flatten();
        let last = last_commits.get(&session).copied().unwrap_or(0);
        // In a burst that ends one transaction and begins the next, the two have one time.
        let begin = ranks.begin(attempt).max(last).min(commit.unwrap_or(u64::MAX));
        if let Some(commit) = commit {
            last_commits.insert(session, commit);
        }
        let (reads, writes) = exporter.accesses(number, recorder, attempt);
        transactions.push(TransactionRecord {
            txn: number,
            session,
            begin: Some(begin),
            commit,
            status: status_of(attempt).0,
            level: Level::Serializable,
            reads,
            writes,
            scans: Vec::new(),
            wall: None,
            virtual_time: None,
        });
    }
    let mut header = Header::new(seed, scenario);
    header.extensions = vec![Extension::Dead, Extension::Order];
    Ok(History::new(header, transactions)?)
}

/// The attempts that may have had an effect or a result, with their numbers.
fn numbered(recorder: &Recorder) -> impl Iterator<Item = (u64, &Attempt)> {
    let attempts = recorder.attempts().iter().zip(1..).map(|(attempt, number)| (number, attempt));
    attempts.filter(|(_, attempt)| {
        attempt.is_committed() || attempt.is_rolled_back() || attempt.point().is_some()
    })
}

/// The worker, from 1.
fn session_of(transaction: TransactionId) -> u64 {
    1 + (transaction.0 >> 32)
}

/// The status, and whether its point counts. One that rolled back has committed its reads.
fn status_of(attempt: &Attempt) -> (Status, bool) {
    let stands = attempt.is_committed() || attempt.is_rolled_back();
    let status = match stands {
        true => Status::Committed,
        false if attempt.is_undone() => Status::Aborted,
        false => Status::Unknown,
    };
    (status, stands)
}

fn versions<T: Transactions>(
    judge: Judge<'_, T>,
    recorder: &Recorder,
) -> BTreeMap<Key, Vec<Version>> {
    let mut versions: BTreeMap<Key, Vec<Version>> = BTreeMap::new();
    let mut value = Vec::new();
    for (writer, attempt) in numbered(recorder) {
        let order = attempt.point().map_or(u64::MAX, |(_, _, order)| order);
        for access in recorder.accesses(attempt).iter().map(|access| Access::from(*access)) {
            let of_key = versions.entry(access.key).or_insert_with(|| {
                let digest = judge.initial_digest(access.key, &mut value);
                vec![Version { header: 0, order: 0, digest, writer: 0, stands: true }]
            });
            if access.writes && !attempt.is_rolled_back() {
                let digest = access.digest;
                // Of several writes of a key by one transaction the last counts.
                of_key.pop_if(|version| version.writer == writer);
                let stands = attempt.is_committed();
                of_key.push(Version { header: access.version, order, digest, writer, stands });
            }
        }
    }
    for of_key in versions.values_mut() {
        // The initial one stays the first, whatever the others claim.
        of_key[1..].sort_by_key(Version::place);
    }
    let shown = shown_by_reads(recorder, &versions);
    for version in versions.values_mut().flatten() {
        version.stands |= shown.contains(&version.writer);
    }
    versions
}

/// The transactions whose end nobody knows, of which somebody has read a value that nobody else wrote.
fn shown_by_reads(recorder: &Recorder, versions: &BTreeMap<Key, Vec<Version>>) -> BTreeSet<u64> {
    let mut shown = BTreeSet::new();
    if versions.values().flatten().all(|version| version.stands) {
        return shown;
    }
    for (reader, attempt) in numbered(recorder).filter(|(_, attempt)| status_of(attempt).1) {
        let accesses = recorder.accesses(attempt).iter().map(|access| Access::from(*access));
        for read in accesses.filter(|access| !access.writes) {
            let mut fitting = versions[&read.key].iter().filter(|it| it.digest == read.digest);
            if let (Some(version), None) = (fitting.next(), fitting.next()) {
                shown.extend((version.writer != reader).then_some(version.writer));
            }
        }
    }
    shown
}

/// The points as integers: twice their places from 1, and between them the begins.
struct Ranks {
    points: Vec<(Time, u64)>,
}

impl Ranks {
    fn new(recorder: &Recorder) -> Self {
        let points = recorder.attempts().iter().filter_map(|attempt| attempt.point());
        let mut points: Vec<_> = points.map(|(_, at, order)| (at, order)).collect();
        points.sort_unstable();
        Self { points }
    }

    fn commit(&self, attempt: &Attempt) -> Option<u64> {
        let (_, at, order) = attempt.point()?;
        let place = self.points.partition_point(|point| *point < (at, order));
        Some(2 * (place as u64 + 1))
    }

    /// After the points of earlier times. Those of the same time may have come before or after.
    fn begin(&self, attempt: &Attempt) -> u64 {
        let earlier = self.points.partition_point(|(at, _)| *at < attempt.begin);
        2 * earlier as u64
    }
}

struct Exporter<'a, T> {
    judge: Judge<'a, T>,
    versions: BTreeMap<Key, Vec<Version>>,
    /// The number of the next value that nobody wrote.
    unknown: u64,
}

impl<T: Transactions> Exporter<'_, T> {
    fn name(&self, key: Key) -> history::Key {
        let table = self.judge.workload.tables().get(usize::from(key.table.0));
        format!("{} {:#x}", table.map_or("?", |table| table.name), key.row).into()
    }

    /// The first transaction, which makes the initial version of every key.
    fn initial(&self) -> TransactionRecord {
        let writes =
            self.versions.iter().map(|(key, versions)| self.write(*key, versions[0].digest, 0, 0));
        TransactionRecord::initial(writes.collect())
    }

    fn write(&self, key: Key, digest: u64, writer: u64, place: usize) -> Write {
        let name = self.name(key);
        let write = if digest == 0 { Write::dead(name, writer) } else { Write::new(name, writer) };
        write.at(place as u64)
    }

    fn accesses(
        &mut self,
        number: u64,
        recorder: &Recorder,
        attempt: &Attempt,
    ) -> (Vec<Read>, Vec<Write>) {
        let (mut reads, mut writes): (Vec<Read>, Vec<Write>) = (Vec::new(), Vec::new());
        for access in recorder.accesses(attempt).iter().map(|access| Access::from(*access)) {
            let name = self.name(access.key);
            if !access.writes {
                let read = match self.seen(number, &access) {
                    Some(version) => Read::new(name, version),
                    None => Read::absent(name),
                };
                // Reads that agree are one.
                let last = reads.iter().rev().find(|last| last.key == read.key);
                if last.is_none_or(|last| last.version != read.version) {
                    reads.push(read);
                }
            } else if !attempt.is_rolled_back() {
                let versions = &self.versions[&access.key];
                let order = attempt.point().map_or(u64::MAX, |(_, _, order)| order);
                let place = (access.version, order, number);
                let Ok(place) = versions[1..].binary_search_by_key(&place, Version::place) else {
                    // It wrote the key once more, and that counts.
                    continue;
                };
                let place = 1 + place;
                writes.retain(|write| write.key != name);
                writes.push(self.write(access.key, versions[place].digest, number, place));
            }
        }
        (reads, writes)
    }

    /// The version that transaction `number` read; `None` for nothing, if nobody is known to have left
    /// nothing.
    fn seen(&mut self, number: u64, read: &Access) -> Option<u64> {
        let versions = &self.versions[&read.key];
        let until = 1 + versions[1..].partition_point(|version| version.header <= read.version);
        let (until, after) = versions.split_at(until);
        let is_other = |version: &&Version| version.writer != number;
        let fits = |version: &&Version| is_other(version) && version.digest == read.digest;
        let newest = until.iter().rfind(is_other).map(|version| version.header);
        // A transaction whose end nobody knows may have claimed to write the value that was there before. A read of
        // that value is none of its write.
        let standing = until.iter().rfind(|version| is_other(version) && version.stands);
        if let Some(version) = standing.filter(fits) {
            return Some(version.writer);
        }
        let found = (until.iter().rev())
            .take_while(|version| !is_other(version) || Some(version.header) == newest)
            .find(fits)
            .or_else(|| until.iter().rfind(fits))
            .or_else(|| after.iter().find(fits));
        match found {
            Some(version) => Some(version.writer),
            None if read.digest == 0 => None,
            None => {
                self.unknown += 1;
                Some(self.unknown)
            }
        }
    }
}
