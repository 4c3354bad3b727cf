// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules that a transaction can violate by itself: reads of invalid versions and, if the points are
//! known, the rules of its level about them.

use std::collections::HashMap;

use super::index::{Hidden, Index, Observation, Seen};
use super::{Anomaly, Options, Violation};
use crate::{Level, Status, Times, TransactionRecord};

pub(super) fn check(index: &Index<'_>, options: &Options) -> Vec<Violation> {
    let mut rules = Rules { index, options, found: Vec::new() };
    for reader in index.counting() {
        rules.check_sources(reader);
        rules.check_repeatable(reader);
        rules.check_points(reader);
    }
    rules.check_writers();
    rules.check_updates_of_one_version();
    if options.sessions {
        rules.check_sessions();
    }
    if options.real_time {
        rules.check_clock(|transaction| transaction.wall);
        rules.check_clock(|transaction| transaction.virtual_time);
    }
    rules.found
}

struct Rules<'a> {
    index: &'a Index<'a>,
    options: &'a Options,
    found: Vec<Violation>,
}

impl Rules<'_> {
    fn report(&mut self, anomaly: Anomaly, of: &[u32], key: Option<u32>, sentence: String) {
        self.found.push(Violation::told(self.index, anomaly, of, key, sentence));
    }

    fn transaction(&self, at: u32) -> &TransactionRecord {
        &self.index.transactions[at as usize]
    }

    /// Each version read is one that its writer committed, and left.
    fn check_sources(&mut self, reader: u32) {
        let (index, txn) = (self.index, self.index.txn(reader));
        for observation in &index.observations[reader as usize] {
            let key = index.keys[observation.key as usize];
            match observation.seen {
                Seen::Nothing => {}
                Seen::NotOwn(own) => self.report(
                    Anomaly::LostOwnWrite,
                    &[reader],
                    Some(observation.key),
                    format!("txn {txn} did not see its own version {own} of key {key}"),
                ),
                Seen::Unknown(version) => self.report(
                    Anomaly::UnknownVersion,
                    &[reader],
                    Some(observation.key),
                    format!("txn {txn} read version {version} of key {key}, which nobody wrote"),
                ),
                Seen::Version(version) => self.check_source(reader, observation, version),
            }
        }
    }

    fn check_source(&mut self, reader: u32, observation: &Observation<'_>, version: u32) {
        let index = self.index;
        let (txn, number) = (index.txn(reader), index.number(version));
        let key = index.keys[observation.key as usize];
        let writer = index.writer(version);
        let by = index.txn(writer);
        let of = [reader, writer];
        let read = format!("txn {txn} read version {number} of key {key}");
        if self.transaction(writer).status == Status::Aborted {
            let sentence = format!("{read}, but txn {by}, which wrote it, aborted");
            self.report(Anomaly::G1a, &of, Some(observation.key), sentence);
        } else if !index.versions[version as usize].last {
            let sentence = format!("{read}, which txn {by} overwrote itself before it committed");
            self.report(Anomaly::G1b, &of, Some(observation.key), sentence);
        }
        if observation.scan.is_some_and(|_| index.hides(observation, version)) {
            let sentence = format!("{read} by a scan that it does not satisfy");
            self.report(Anomaly::ScanMismatch, &of, Some(observation.key), sentence);
        }
    }

    /// Above READ COMMITTED a key does not change under a transaction.
    fn check_repeatable(&mut self, reader: u32) {
        let index = self.index;
        if index.level(reader) == Level::ReadCommitted {
            return;
        }
        let mut first: HashMap<u32, Seen> = HashMap::new();
        for observation in &index.observations[reader as usize] {
            // What a scan does not find may be there outside its bounds.
            let comparable = match observation.seen {
                Seen::Version(_) => true,
                Seen::Nothing => observation.scan.is_none_or(|scan| scan.index.is_none()),
                Seen::Unknown(_) | Seen::NotOwn(_) => false,
            };
            if !comparable {
                continue;
            }
            let before = *first.entry(observation.key).or_insert(observation.seen);
            let dead = |seen| match seen {
                Seen::Version(version) => index.versions[version as usize].write.dead,
                _ => true,
            };
            if before != observation.seen && !(dead(before) && dead(observation.seen)) {
                let key = index.keys[observation.key as usize];
                let name = |seen| match seen {
                    Seen::Version(version) => format!("version {}", index.number(version)),
                    _ => "nothing".to_owned(),
                };
                let sentence = format!(
                    "txn {} found {} and then {} under key {key}",
                    index.txn(reader),
                    name(before),
                    name(observation.seen)
                );
                self.report(Anomaly::NonRepeatableRead, &[reader], Some(observation.key), sentence);
            }
        }
    }

    /// What was read was current when the level says that it must have been.
    fn check_points(&mut self, reader: u32) {
        let transaction = self.transaction(reader);
        let (begin, commit) = (transaction.begin, transaction.commit);
        let reads_only = transaction.writes.is_empty();
        let timed = self.options.real_time;
        match (self.index.level(reader), begin) {
            (Level::Snapshot, Some(at)) => self.check_snapshot(reader, at),
            (Level::Serializable, Some(at)) if timed && reads_only && begin == commit => {
                self.check_snapshot(reader, at);
            }
            (Level::ReadCommitted, _) => self.check_read_committed(reader, begin, commit),
            _ => self.check_not_too_new(reader, begin, commit),
        }
    }

    /// Everything was read as of one point.
    fn check_snapshot(&mut self, reader: u32, at: u64) {
        let index = self.index;
        for observation in &index.observations[reader as usize] {
            match observation.seen {
                Seen::Version(version) => {
                    let Some(version) = index.installed(version) else { continue };
                    if index.committed_at(version).is_some_and(|point| point > at) {
                        let what = format!("after its snapshot at {at}");
                        self.report_too_new(reader, version, Anomaly::ReadAfterSnapshot, &what);
                    } else if index.overwritten_at(version, reader).is_some_and(|point| point <= at)
                    {
                        let what = format!("before its snapshot at {at}");
                        self.report_stale(reader, version, at, Anomaly::StaleRead, &what);
                    }
                }
                Seen::Nothing => self.check_nothing(reader, observation, Some(at), Some(at)),
                Seen::Unknown(_) | Seen::NotOwn(_) => {}
            }
        }
    }

    /// At SERIALIZABLE cycles say the rest.
    fn check_not_too_new(&mut self, reader: u32, begin: Option<u64>, commit: Option<u64>) {
        let index = self.index;
        let timed = self.options.real_time;
        for observation in &index.observations[reader as usize] {
            match observation.seen {
                Seen::Version(version) => {
                    if let (Some(version), Some(end)) = (index.installed(version), commit)
                        && index.committed_at(version).is_some_and(|point| point > end)
                    {
                        let what = format!("after it had committed itself at {end}");
                        self.report_too_new(reader, version, Anomaly::FutureRead, &what);
                    }
                }
                Seen::Nothing => {
                    let begin = begin.filter(|_| timed);
                    self.check_nothing(reader, observation, begin, commit);
                }
                Seen::Unknown(_) | Seen::NotOwn(_) => {}
            }
        }
    }

    /// Each version was current at some moment between begin and end, and, one read after the
    /// other, those moments do not go back.
    fn check_read_committed(&mut self, reader: u32, begin: Option<u64>, end: Option<u64>) {
        let index = self.index;
        let mut moment = begin.unwrap_or(0);
        let mut before: Vec<u32> = Vec::new();
        for observation in &index.observations[reader as usize] {
            let version = match observation.seen {
                Seen::Version(version) => version,
                Seen::Nothing => {
                    self.check_nothing(reader, observation, begin, end);
                    continue;
                }
                Seen::Unknown(_) | Seen::NotOwn(_) => continue,
            };
            let Some(version) = index.installed(version) else { continue };
            let from = index.committed_at(version).unwrap_or(0);
            let until = index.overwritten_at(version, reader).unwrap_or(u64::MAX);
            // The place of a scan among the reads is not known.
            let ordered = self.options.monotonic_reads && observation.scan.is_none();
            let vanished = before.iter().copied().find(|seen| self.vanishes(*seen, version));
            if let Some(end) = end.filter(|end| from > *end) {
                let what = format!("after it had ended itself at {end}");
                self.report_too_new(reader, version, Anomaly::FutureRead, &what);
            } else if begin.is_some_and(|begin| until <= begin) {
                let what = format!("before it began at {}", begin.unwrap_or(0));
                self.report_stale(reader, version, begin.unwrap_or(0), Anomaly::StaleRead, &what);
            } else if let Some(seen) = vanished.filter(|_| ordered) {
                self.report_vanished(reader, seen, version);
            } else if ordered && until <= moment {
                let what = format!("before point {moment}, of which it had read already");
                self.report_stale(reader, version, moment, Anomaly::NonMonotonicRead, &what);
            } else if ordered {
                moment = moment.max(from);
                before.push(version);
            }
        }
    }

    /// Whether the writer of `seen` also wrote the key of `version`, and later.
    fn vanishes(&self, seen: u32, version: u32) -> bool {
        let index = self.index;
        let writer = index.writer(seen);
        if writer == 0 || writer == index.writer(version) {
            return false;
        }
        let own = index.left_by(writer, index.versions[version as usize].key);
        own.is_some_and(|own| match (index.place(version), index.place(own)) {
            (Some(read), Some(own)) => read < own,
            _ => index.successors(version).any(|newer| newer == own),
        })
    }

    fn check_nothing(
        &mut self,
        reader: u32,
        observation: &Observation<'_>,
        low: Option<u64>,
        high: Option<u64>,
    ) {
        let index = self.index;
        if !matches!(index.hidden_by(reader, observation, low, high), Hidden::Never) {
            return;
        }
        let key = index.keys[observation.key as usize];
        let span = match (low, high) {
            (Some(low), Some(high)) if low == high => format!("at point {low}"),
            (Some(low), Some(high)) => format!("from point {low} to {high}"),
            _ => "all the time".to_owned(),
        };
        let txn = index.txn(reader);
        let (anomaly, sentence) = match observation.scan {
            Some(scan) => {
                let of = scan.index.as_ref().map_or(String::new(), |i| format!(" of index {i:?}"));
                let bounds = format!("from {} to {}{of}", scan.low, scan.high);
                let missed = format!("txn {txn} scanned {bounds} and missed key {key}");
                (Anomaly::Phantom, format!("{missed}, which was there {span}"))
            }
            None => {
                let sentence = format!("txn {txn} found no key {key}, which was there {span}");
                (Anomaly::StaleRead, sentence)
            }
        };
        self.report(anomaly, &[reader], Some(observation.key), sentence);
    }

    fn report_too_new(&mut self, reader: u32, version: u32, anomaly: Anomaly, what: &str) {
        let index = self.index;
        let (key, writer) = (index.versions[version as usize].key, index.writer(version));
        let sentence = format!(
            "txn {} read version {} of key {}, which txn {} committed at {}, {what}",
            index.txn(reader),
            index.number(version),
            index.keys[key as usize],
            index.txn(writer),
            index.committed_at(version).unwrap_or(0),
        );
        self.report(anomaly, &[reader, writer], Some(key), sentence);
    }

    /// `point` is when `version` was current no more.
    fn report_stale(
        &mut self,
        reader: u32,
        version: u32,
        point: u64,
        anomaly: Anomaly,
        what: &str,
    ) {
        let index = self.index;
        let key = index.versions[version as usize].key;
        let chain = &index.chains[key as usize];
        let later = &chain[index.place(version).map_or(0, |place| place + 1)..];
        let current = later
            .iter()
            .copied()
            .take_while(|later| index.committed_at(*later).is_some_and(|at| at <= point))
            .last();
        let newer = current.or(later.first().copied()).unwrap_or(version);
        let sentence = format!(
            "txn {} read version {} of key {}, but txn {} had committed version {} at {}, {what}",
            index.txn(reader),
            index.number(version),
            index.keys[key as usize],
            index.txn(index.writer(newer)),
            index.number(newer),
            index.committed_at(newer).unwrap_or(0),
        );
        self.report(anomaly, &[reader, index.writer(newer)], Some(key), sentence);
    }

    fn report_vanished(&mut self, reader: u32, seen: u32, version: u32) {
        let index = self.index;
        let key = |version: u32| index.keys[index.versions[version as usize].key as usize];
        let writer = index.writer(seen);
        let sentence = format!(
            "txn {} read version {} of key {}, which txn {} wrote, and then version {} of key {}, \
             which that had overwritten",
            index.txn(reader),
            index.number(seen),
            key(seen),
            index.txn(writer),
            index.number(version),
            key(version),
        );
        let of = [reader, writer];
        let key = index.versions[version as usize].key;
        self.report(Anomaly::ObservedTransactionVanishes, &of, Some(key), sentence);
    }

    /// Commit points and the database's own order agree; writers at SNAPSHOT do not overlap.
    fn check_writers(&mut self) {
        let index = self.index;
        for (key, chain) in (0..).zip(&index.chains) {
            for pair in chain.windows(2) {
                let (old, new) = (pair[0], pair[1]);
                let (first, second) = (index.writer(old), index.writer(new));
                let points = (index.committed_at(old), index.committed_at(new));
                let (Some(earlier), Some(later)) = points else { continue };
                let names = (index.txn(first), index.txn(second));
                let name = index.keys[key as usize];
                if earlier >= later {
                    let sentence = format!(
                        "txn {} overwrote txn {}'s version of key {name}, but their commit points \
                         are {later} and {earlier}",
                        names.1, names.0
                    );
                    self.report(Anomaly::CommitOrder, &[second, first], Some(key), sentence);
                    continue;
                }
                let begin = self.transaction(second).begin;
                if let (Level::Snapshot, Some(begin)) = (index.level(second), begin)
                    && earlier > begin
                {
                    let anomaly = if self.read_before(second, old) {
                        Anomaly::LostUpdate
                    } else {
                        Anomaly::WriteOverlap
                    };
                    let sentence = format!(
                        "txn {}, with its snapshot at {begin}, wrote key {name}, which txn {} had \
                         written and committed at {earlier}",
                        names.1, names.0
                    );
                    self.report(anomaly, &[second, first], Some(key), sentence);
                }
            }
        }
    }

    /// Whether `reader` read an older version than `version` of its key.
    fn read_before(&self, reader: u32, version: u32) -> bool {
        let index = self.index;
        let key = index.versions[version as usize].key;
        index.observations[reader as usize].iter().any(|observation| {
            let Seen::Version(read) = observation.seen else { return false };
            let read = index.installed(read).and_then(|read| index.place(read));
            observation.key == key && read < index.place(version) && read.is_some()
        })
    }

    /// Where no order is known, two updates of one version are still one too many.
    fn check_updates_of_one_version(&mut self) {
        let index = self.index;
        let mut bases: Vec<u32> = index.branches.iter().map(|(base, _)| *base).collect();
        bases.dedup();
        for base in bases {
            let updates = |writer: &u32| {
                index.level(*writer) != Level::ReadCommitted
                    && index.observations[*writer as usize].iter().any(
                        |o| matches!(o.seen, Seen::Version(v) if index.installed(v) == Some(base)),
                    )
            };
            let writers: Vec<u32> =
                index.successors(base).map(|new| index.writer(new)).filter(updates).collect();
            for pair in writers.windows(2) {
                let key = index.versions[base as usize].key;
                let sentence = format!(
                    "txns {} and {} both read version {} of key {} and overwrote it",
                    index.txn(pair[0]),
                    index.txn(pair[1]),
                    index.number(base),
                    index.keys[key as usize]
                );
                self.report(Anomaly::LostUpdate, &[pair[1], pair[0]], Some(key), sentence);
            }
        }
    }

    /// A session's snapshots are no older than what it has committed.
    fn check_sessions(&mut self) {
        let mut last: HashMap<u64, u32> = HashMap::new();
        for at in self.index.counting() {
            let (session, begin) = (self.transaction(at).session, self.transaction(at).begin);
            if let Some(before) = last.insert(session, at)
                && let (Some(end), Some(begin)) = (self.transaction(before).commit, begin)
                && begin < end
            {
                let sentence = format!(
                    "txn {} began at {begin}, but session {session} had committed txn {} at {end}",
                    self.index.txn(at),
                    self.index.txn(before)
                );
                self.report(Anomaly::SessionOrder, &[at, before], None, sentence);
            }
        }
    }

    /// A snapshot is no older than what had ended before by a clock.
    fn check_clock(&mut self, times: impl Fn(&TransactionRecord) -> Option<Times>) {
        let transactions = self.index.counting().map(|at| (at, self.transaction(at)));
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        for (at, transaction) in transactions {
            let Some(times) = times(transaction) else { continue };
            begins.extend(transaction.begin.map(|point| (times.begin, point, at)));
            ends.extend(transaction.commit.map(|point| (times.end, point, at)));
        }
        begins.sort_unstable();
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        let mut newest: Option<(u64, u64, u32)> = None; // point, when it ended, transaction
        for (began, begin, at) in begins {
            while let Some((ended, point, before)) = ends.next_if(|(ended, ..)| *ended < began) {
                newest = newest.max(Some((point, ended, before)));
            }
            if let Some((point, ended, before)) = newest.filter(|(point, ..)| *point > begin) {
                let sentence = format!(
                    "txn {} began at point {begin}, time {began}, but txn {} had committed at \
                     point {point}, time {ended}",
                    self.index.txn(at),
                    self.index.txn(before)
                );
                self.report(Anomaly::RealTime, &[at, before], None, sentence);
            }
        }
    }
}
