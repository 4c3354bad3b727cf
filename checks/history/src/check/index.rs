// SPDX-License-Identifier: MIT OR Apache-2.0
//! A history in small numbers: transactions by their place, keys and versions by an index. It also
//! decides which transactions count, and orders the versions of each key.

use std::collections::HashMap;

use super::Options;
use crate::{Key, Level, Scan, Status, TransactionRecord, Write};

/// A version that some transaction wrote.
pub(super) struct Version<'a> {
    pub key: u32,
    pub writer: u32,
    /// The writer's last of this key.
    pub last: bool,
    pub write: &'a Write,
}

/// The version of a key that a transaction saw.
#[derive(Clone, Copy)]
pub(super) struct Observation<'a> {
    pub key: u32,
    pub seen: Seen,
    /// Whether a scan saw it.
    pub scan: Option<&'a Scan>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Version(u32),
    /// A version that no transaction wrote.
    Unknown(u64),
    /// A version that does not satisfy the scan; without a scan, a dead one.
    Nothing,
    /// Not what the transaction had written itself: its version.
    NotOwn(u64),
}

/// See the module.
pub(super) struct Index<'a> {
    pub transactions: &'a [TransactionRecord],
    pub levels: Vec<Level>,
    /// Committed, or of unknown end and seen by one that counts.
    pub counts: Vec<bool>,
    /// In order.
    pub keys: Vec<&'a Key>,
    pub versions: Vec<Version<'a>>,
    /// Of each key, the versions whose order is known, oldest first, beginning with the initial
    /// one. Only last versions of transactions that count.
    pub chains: Vec<Vec<u32>>,
    /// Pairs of versions of a key of which at least one is in no chain: older and newer.
    pub branches: Vec<(u32, u32)>,
    pub observations: Vec<Vec<Observation<'a>>>,
    /// Of each version its place in its key's chain.
    places: Vec<Option<u32>>,
    /// Of each key, whether all versions that count are in its chain.
    whole: Vec<bool>,
    /// Of each version its writer's last version of the key.
    finals: Vec<u32>,
    /// Of each transaction its first version; the others follow.
    starts: Vec<u32>,
    /// Of each key all its versions.
    by_key: Vec<Vec<u32>>,
}

impl<'a> Index<'a> {
    pub fn new(transactions: &'a [TransactionRecord], options: &Options) -> Self {
        let mut keys: Vec<&Key> =
            transactions.first().iter().flat_map(|t| &t.writes).map(|write| &write.key).collect();
        keys.sort();
        let names: HashMap<&Key, u32> = keys.iter().zip(0..).map(|(key, at)| (*key, at)).collect();
        let mut index = Index {
            transactions,
            levels: transactions.iter().map(|t| options.level.unwrap_or(t.level)).collect(),
            counts: transactions.iter().map(|t| t.status == Status::Committed).collect(),
            chains: vec![Vec::new(); keys.len()],
            whole: vec![true; keys.len()],
            keys,
            versions: Vec::new(),
            branches: Vec::new(),
            observations: Vec::new(),
            places: Vec::new(),
            finals: Vec::new(),
            starts: Vec::new(),
            by_key: Vec::new(),
        };
        let written = index.name_versions(&names);
        index.observe(&names, &written);
        index.count_the_seen();
        index.order_versions();
        index.find_branches();
        index
    }

    /// Fills `versions`, `finals`, `starts` and `by_key`; gives each version by its name.
    fn name_versions(&mut self, names: &HashMap<&'a Key, u32>) -> HashMap<(u32, u64), u32> {
        let mut written = HashMap::new();
        self.by_key = vec![Vec::new(); self.keys.len()];
        for (writer, transaction) in self.transactions.iter().enumerate() {
            let mut latest: HashMap<u32, u32> = HashMap::new();
            let start = self.versions.len();
            self.starts.push(start as u32);
            for write in &transaction.writes {
                let (key, version) = (names[&write.key], self.versions.len() as u32);
                written.insert((key, write.version), version);
                self.by_key[key as usize].push(version);
                if let Some(overwritten) = latest.insert(key, version) {
                    self.versions[overwritten as usize].last = false;
                }
                self.versions.push(Version { key, writer: writer as u32, last: true, write });
            }
            self.finals.extend(self.versions[start..].iter().map(|version| latest[&version.key]));
        }
        written
    }

    fn observe(&mut self, names: &HashMap<&'a Key, u32>, written: &HashMap<(u32, u64), u32>) {
        let indexed = self.keys_by_index();
        for transaction in self.transactions {
            let see = |key: u32, version: Option<u64>| match version {
                None => Seen::Nothing,
                Some(version) => written
                    .get(&(key, version))
                    .map_or(Seen::Unknown(version), |v| Seen::Version(*v)),
            };
            let mut observations: Vec<Observation<'a>> = transaction
                .reads
                .iter()
                .map(|read| {
                    let key = names[&read.key];
                    let seen = read.instead_of.map_or_else(|| see(key, read.version), Seen::NotOwn);
                    Observation { key, seen, scan: None }
                })
                .collect();
            for scan in &transaction.scans {
                let found: HashMap<u32, Option<u64>> =
                    scan.keys.iter().map(|read| (names[&read.key], read.version)).collect();
                let own: Vec<u32> = scan.own.iter().map(|key| names[key]).collect();
                let mut outside: Vec<u32> = found.keys().copied().collect();
                let range = self.keys_of_scan(scan, &indexed);
                outside.retain(|key| range.binary_search(key).is_err());
                outside.sort_unstable();
                observations.extend(
                    range.iter().chain(&outside).filter(|key| !own.contains(key)).map(|key| {
                        let seen = found.get(key).map_or(Seen::Nothing, |v| see(*key, *v));
                        Observation { key: *key, seen, scan: Some(scan) }
                    }),
                );
            }
            self.observations.push(observations);
        }
    }

    /// The keys that ever stand in each secondary index.
    fn keys_by_index(&self) -> HashMap<&'a str, Vec<u32>> {
        let mut indexed: HashMap<&str, Vec<u32>> = HashMap::new();
        for version in &self.versions {
            for index in version.write.indexed.keys() {
                indexed.entry(index).or_default().push(version.key);
            }
        }
        for keys in indexed.values_mut() {
            keys.sort_unstable();
            keys.dedup();
        }
        indexed
    }

    /// The keys that a scan can find, in order.
    fn keys_of_scan(&self, scan: &Scan, indexed: &HashMap<&str, Vec<u32>>) -> Vec<u32> {
        match &scan.index {
            Some(index) => indexed.get(index.as_str()).cloned().unwrap_or_default(),
            None => {
                let low = self.keys.partition_point(|key| **key < scan.low) as u32;
                let high = self.keys.partition_point(|key| **key <= scan.high) as u32;
                (low..high).collect()
            }
        }
    }

    /// Transactions of unknown end count when one that counts saw a version of theirs.
    fn count_the_seen(&mut self) {
        let mut readers: Vec<usize> =
            (0..self.transactions.len()).filter(|reader| self.counts[*reader]).collect();
        while let Some(reader) = readers.pop() {
            for observation in &self.observations[reader] {
                let Seen::Version(version) = observation.seen else { continue };
                let writer = self.versions[version as usize].writer as usize;
                if self.transactions[writer].status == Status::Unknown && !self.counts[writer] {
                    self.counts[writer] = true;
                    readers.push(writer);
                }
            }
        }
    }

    /// The order that the database tells, else that of the commit points; versions without
    /// either are left out.
    fn order_versions(&mut self) {
        self.places = vec![None; self.versions.len()];
        for key in 0..self.keys.len() {
            let mut chain = self.by_key[key].clone();
            chain.retain(|version| self.installed(*version) == Some(*version));
            let all = chain.len();
            let order = |version: &u32| self.versions[*version as usize].write.order;
            if chain.iter().all(|version| order(version).is_some()) {
                chain.sort_by_key(order);
            } else {
                // The initial version is the first, whatever its point.
                let initial = |version: u32| self.versions[version as usize].writer == 0;
                chain.retain(|version| initial(*version) || self.committed_at(*version).is_some());
                chain.sort_by_key(|version| (!initial(*version), self.committed_at(*version)));
            }
            self.whole[key] = chain.len() == all;
            for (place, version) in chain.iter().enumerate() {
                self.places[*version as usize] = Some(place as u32);
            }
            self.chains[key] = chain;
        }
    }

    /// What is known of versions outside the chains: each is newer than the initial one, and than
    /// what its writer read.
    fn find_branches(&mut self) {
        for (at, version) in (0..).zip(&self.versions) {
            let writer = version.writer as usize;
            if !version.last || !self.counts[writer] {
                continue;
            }
            let outside = self.places[at as usize].is_none();
            if outside && let Some(initial) = self.chains[version.key as usize].first() {
                self.branches.push((*initial, at));
            }
            if self.whole[version.key as usize] {
                continue;
            }
            for observation in &self.observations[writer] {
                if let (true, Seen::Version(read)) =
                    (observation.key == version.key, observation.seen)
                    && let Some(base) = self.installed(read)
                    && base != at
                    && (outside || self.places[base as usize].is_none())
                {
                    self.branches.push((base, at));
                }
            }
        }
        self.branches.sort_unstable();
        self.branches.dedup();
    }

    pub fn txn(&self, transaction: u32) -> u64 {
        self.transactions[transaction as usize].txn
    }

    pub fn level(&self, transaction: u32) -> Level {
        self.levels[transaction as usize]
    }

    /// The transactions that count, without the initial one.
    pub fn counting(&self) -> impl Iterator<Item = u32> + '_ {
        (1..self.transactions.len() as u32).filter(|t| self.counts[*t as usize])
    }

    pub fn counted(&self) -> usize {
        self.counting().count()
    }

    /// Whether the order of all versions is known.
    pub fn ordered(&self) -> bool {
        self.whole.iter().all(|whole| *whole)
    }

    pub fn writer(&self, version: u32) -> u32 {
        self.versions[version as usize].writer
    }

    pub fn number(&self, version: u32) -> u64 {
        self.versions[version as usize].write.version
    }

    pub fn committed_at(&self, version: u32) -> Option<u64> {
        self.transactions[self.writer(version) as usize].commit
    }

    /// The version that came to be with the commit of the writer of `version`, if it committed.
    pub fn installed(&self, version: u32) -> Option<u32> {
        self.counts[self.writer(version) as usize].then(|| self.finals[version as usize])
    }

    /// The version of `key` that `writer` left.
    pub fn left_by(&self, writer: u32, key: u32) -> Option<u32> {
        let start = self.starts[writer as usize];
        let end =
            self.starts.get(writer as usize + 1).map_or(self.versions.len() as u32, |end| *end);
        (start..end).find(|version| {
            let version = &self.versions[*version as usize];
            version.last && version.key == key
        })
    }

    /// The place of `version` in its key's chain.
    pub fn place(&self, version: u32) -> Option<usize> {
        self.places[version as usize].map(|place| place as usize)
    }

    /// The versions that are known to come right after, in the chain or beside it.
    pub fn successors(&self, version: u32) -> impl Iterator<Item = u32> + '_ {
        let chain = &self.chains[self.versions[version as usize].key as usize];
        let next = self.place(version).and_then(|place| chain.get(place + 1));
        let start = self.branches.partition_point(|(older, _)| *older < version);
        let beside = self.branches[start..].iter().take_while(move |(older, _)| *older == version);
        next.copied().into_iter().chain(beside.map(|(_, newer)| *newer))
    }

    /// When `version` was overwritten by another than `reader`, by the commit points.
    pub fn overwritten_at(&self, version: u32, reader: u32) -> Option<u64> {
        let chain = &self.chains[self.versions[version as usize].key as usize];
        let later = chain.get(self.place(version)? + 1..)?;
        let mut others = later.iter().filter(|later| self.writer(**later) != reader);
        others.find_map(|later| self.committed_at(*later))
    }

    /// Whether nothing is found while `version` is current.
    pub fn hides(&self, observation: &Observation<'_>, version: u32) -> bool {
        let write = self.versions[version as usize].write;
        observation.scan.map_or(write.dead, |scan| !scan.admits(write))
    }

    /// Of a transaction that found nothing between the points `low` and `high`: the places of the
    /// first and the last version of the chain that can be why, as far apart as they can be.
    pub fn hidden_by(
        &self,
        reader: u32,
        observation: &Observation<'_>,
        low: Option<u64>,
        high: Option<u64>,
    ) -> Hidden {
        let key = observation.key as usize;
        let chain = &self.chains[key];
        let hides = |place: usize| self.hides(observation, chain[place]);
        if !self.whole[key] {
            // The initial version is known to be the first; of the others not even that.
            let others = &self.by_key[key][1..];
            let only = hides(0) && others.iter().all(|other| !self.hides(observation, *other));
            return if only { Hidden::Between(0, 0) } else { Hidden::Unknown };
        }
        let timed = chain.iter().skip(1).all(|version| self.committed_at(*version).is_some());
        let after = |point: Option<u64>| match point {
            Some(point) if timed => {
                chain.partition_point(|version| self.committed_at(*version) <= Some(point))
            }
            _ => chain.len(),
        };
        let own = |place: usize| self.writer(chain[place]) == reader;
        let mut start = if low.is_some() && timed { after(low).saturating_sub(1) } else { 0 };
        if own(start) {
            start = start.saturating_sub(1); // it did not see its own
        }
        let candidates = start..after(high).max(start + 1).min(chain.len());
        let mut hiding = candidates.filter(|place| hides(*place) && !own(*place));
        let Some(mut first) = hiding.next() else { return Hidden::Never };
        let mut last = hiding.next_back().unwrap_or(first);
        while first > 0 && hides(first - 1) {
            first -= 1;
        }
        while last + 1 < chain.len() && hides(last + 1) {
            last += 1;
        }
        Hidden::Between(first, last)
    }

    /// A line for each transaction.
    pub fn describe(&self, transactions: &[u32]) -> String {
        let mut lines = String::new();
        for at in transactions {
            let transaction = &self.transactions[*at as usize];
            let point = |point: Option<u64>| point.map_or("unknown".into(), |p| p.to_string());
            lines += &format!(
                "\n  txn {} (line {}): session {}, {}, begin {}, commit {}",
                transaction.txn,
                at + 2,
                transaction.session,
                self.level(*at),
                point(transaction.begin),
                point(transaction.commit),
            );
            if transaction.status != Status::Committed {
                lines += &format!(", {:?}", transaction.status).to_lowercase();
            }
        }
        lines
    }
}

/// See [`Index::hidden_by`].
pub(super) enum Hidden {
    /// The order of the versions is not known well enough.
    Unknown,
    /// By none: the key was there all the time.
    Never,
    /// By some version between these places of the chain.
    Between(usize, usize),
}
