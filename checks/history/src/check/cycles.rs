// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles of dependencies, each transaction held to its own level.
//!
//! A transaction is two nodes: where its snapshot is taken, and where it commits. A dependency
//! goes from the node at which its cause takes effect to the node that must come after:
//!
//! | from A to B | leaves A at | reaches B at |
//! |---|---|---|
//! | ww, wr | commit | snapshot if B is at SNAPSHOT, else commit |
//! | rw | snapshot if A is at SNAPSHOT, commit if SERIALIZABLE; none at READ COMMITTED | commit |
//! | session, real time | commit | snapshot |
//!
//! and each snapshot comes before its commit. So a cycle is one that some level forbids: at
//! SERIALIZABLE any, at SNAPSHOT those in which no two rw follow each other (A. Cerone,
//! A. Gotsman: Analysing Snapshot Isolation, PODC 2016), at READ COMMITTED those without rw; and
//! in a mix, Adya's mixing-correct graph (thesis, section 5.5).

use std::collections::{HashMap, HashSet};

use super::graph::{Edge, Graph};
use super::index::{Hidden, Index, Observation, Seen};
use super::{Anomaly, Dependency, DependencyKind, Options, Violation};
use crate::{Level, TransactionRecord};

const WW: u16 = 1;
const WR: u16 = 1 << 1;
const RW: u16 = 1 << 2;
const PREDICATE_WR: u16 = 1 << 3;
const PREDICATE_RW: u16 = 1 << 4;
const SESSION: u16 = 1 << 5;
/// From a commit to the line of time.
const ENDED: u16 = 1 << 6;
/// Along the line of time, and from it to a snapshot.
const TIME: u16 = 1 << 7;
/// From a transaction's snapshot to its commit.
const WITHIN: u16 = 1 << 8;

/// What each search takes into account: a cycle gets the name of the first that finds it.
const SEARCHES: [u16; 5] = {
    let reads = WITHIN | WW | WR | PREDICATE_WR;
    let all = reads | RW | PREDICATE_RW;
    [WITHIN | WW, reads, all, all | SESSION, all | SESSION | ENDED | TIME]
};

/// Edges that all searches together look at, about; some seconds. Then what was found must do.
const MOST_WORK: u64 = 100_000_000;

/// Cycles, without those of time alone that involve `culprits`, of which worse is known already. Says
/// whether the search was broken off.
pub(super) fn check(
    index: &Index<'_>,
    options: &Options,
    culprits: &HashSet<u64>,
) -> (Vec<Violation>, bool) {
    let mut builder = Builder { index, edges: Vec::new() };
    builder.add_all(options);
    let moments = if options.real_time { builder.add_time() } else { Vec::new() };
    let ranks = ranks(index, &moments);
    let mut graph = Graph::new(builder.edges, WITHIN | TIME, ranks);
    let mut found: Vec<Violation> = Vec::new();
    for kinds in SEARCHES {
        let timed = kinds & SESSION != 0;
        let mut limit = options.limit;
        while limit > 0 {
            let components = graph.components(kinds);
            if components.is_empty() {
                break;
            }
            for component in components.iter().take(limit) {
                // Not before there is something to tell of a history that is wrong.
                let told = !(found.is_empty() && culprits.is_empty());
                if told && graph.work() > MOST_WORK {
                    return (found, true);
                }
                let path = graph.short_cycle(component, kinds);
                let edges: Vec<Edge> = path.iter().map(|edge| graph.edge(*edge)).collect();
                graph.remove(path[weakest(&edges)]);
                let violation = violation(index, &edges);
                limit -= 1;
                if !timed || !violation.transactions.iter().any(|txn| culprits.contains(txn)) {
                    found.push(violation);
                }
            }
        }
    }
    (found, false)
}

/// Where each node stands in the order of time, as far as it is known, else in that of the lines. In a
/// history that is right, few dependencies go against it.
fn ranks(index: &Index<'_>, moments: &[Moment]) -> Vec<u32> {
    let (clock, transactions) = (Clock::of(index.transactions), index.transactions.len() as u32);
    let mut places: Vec<(Moment, u32, u32)> = Vec::new();
    let mut last = (0, false);
    for (transaction, at) in index.transactions.iter().zip(0..) {
        let (begin, end) = clock.span(transaction);
        let begin = begin.unwrap_or(last);
        last = end.unwrap_or(begin).max(begin);
        places.extend([(begin, at, snapshot(at)), (last, at, commit(at))]);
    }
    let line = moments.iter().zip(2 * transactions..);
    places.extend(line.map(|(moment, node)| (*moment, u32::MAX, node)));
    places.sort_unstable();
    let mut ranks = vec![0; places.len()];
    for ((_, _, node), rank) in places.into_iter().zip(0..) {
        ranks[node as usize] = rank;
    }
    ranks
}

/// The edge of a cycle to take out, to look for another one.
fn weakest(edges: &[Edge]) -> usize {
    let rank = |edge: &Edge| match edge.kind {
        RW | PREDICATE_RW => 0,
        WR | PREDICATE_WR => 1,
        WW => 2,
        SESSION | ENDED => 3,
        _ => 4,
    };
    (0..edges.len()).min_by_key(|at| rank(&edges[*at])).expect("a cycle has edges")
}

fn snapshot(transaction: u32) -> u32 {
    2 * transaction
}

fn commit(transaction: u32) -> u32 {
    2 * transaction + 1
}

struct Builder<'a> {
    index: &'a Index<'a>,
    edges: Vec<Edge>,
}

impl Builder<'_> {
    fn add_all(&mut self, options: &Options) {
        let index = self.index;
        for chain in &index.chains {
            for pair in chain.windows(2) {
                self.add_flow(WW, index.writer(pair[0]), index.writer(pair[1]), pair[0], pair[1]);
            }
        }
        for (old, new) in &index.branches {
            self.add_flow(WW, index.writer(*old), index.writer(*new), *old, *new);
        }
        let mut last: HashMap<u64, u32> = HashMap::new();
        for at in index.counting() {
            self.add(WITHIN, snapshot(at), commit(at), 0, 0);
            for observation in &index.observations[at as usize] {
                match observation.seen {
                    Seen::Version(version) => self.add_read(at, version),
                    Seen::Nothing => self.add_nothing(at, observation, options),
                    Seen::Unknown(_) | Seen::NotOwn(_) => {}
                }
            }
            let session = index.transactions[at as usize].session;
            if let Some(before) = last.insert(session, at).filter(|_| options.sessions) {
                self.add(SESSION, commit(before), snapshot(at), 0, 0);
            }
        }
    }

    fn add(&mut self, kind: u16, from: u32, to: u32, first: u32, second: u32) {
        self.edges.push(Edge { from, to, kind, first, second });
    }

    /// ww and wr. Nothing comes before the initial transaction, so it is on no cycle.
    fn add_flow(&mut self, kind: u16, from: u32, to: u32, first: u32, second: u32) {
        if from == to || from == 0 {
            return;
        }
        let at_snapshot = self.index.level(to) == Level::Snapshot;
        let target = if at_snapshot { snapshot(to) } else { commit(to) };
        self.add(kind, commit(from), target, first, second);
    }

    fn add_anti(&mut self, kind: u16, from: u32, to: u32, first: u32, second: u32) {
        let source = match self.index.level(from) {
            Level::ReadCommitted => return,
            Level::Snapshot => snapshot(from),
            Level::Serializable => commit(from),
        };
        if from != to {
            self.add(kind, source, commit(to), first, second);
        }
    }

    fn add_read(&mut self, reader: u32, version: u32) {
        let index = self.index;
        let Some(version) = index.installed(version) else { return };
        self.add_flow(WR, index.writer(version), reader, version, 0);
        for newer in index.successors(version) {
            self.add_anti(RW, reader, index.writer(newer), version, newer);
        }
    }

    /// A key that was not found: what hid it came before, what brought it in comes after.
    fn add_nothing(&mut self, reader: u32, observation: &Observation<'_>, options: &Options) {
        let index = self.index;
        let transaction = &index.transactions[reader as usize];
        let (low, high) = match index.level(reader) {
            Level::ReadCommitted => return,
            Level::Snapshot => (transaction.begin, transaction.begin),
            Level::Serializable => {
                (transaction.begin.filter(|_| options.real_time), transaction.commit)
            }
        };
        let Hidden::Between(first, last) = index.hidden_by(reader, observation, low, high) else {
            return;
        };
        let by_scan = observation.scan.is_some();
        let (wr, rw) = if by_scan { (PREDICATE_WR, PREDICATE_RW) } else { (WR, RW) };
        let chain = &index.chains[observation.key as usize];
        self.add_flow(wr, index.writer(chain[first]), reader, chain[first], 0);
        for newer in index.successors(chain[last]) {
            if !index.hides(observation, newer) {
                self.add_anti(rw, reader, index.writer(newer), chain[last], newer);
            }
        }
    }

    /// The line of time, behind the transactions' nodes: one for each moment at which something ended
    /// or began. Gives these moments.
    fn add_time(&mut self) -> Vec<Moment> {
        let index = self.index;
        let start = 2 * index.transactions.len() as u32;
        let counting: Vec<u32> = index.counting().collect();
        let clock = Clock::of(index.transactions);
        let span = |at: &u32| clock.span(&index.transactions[*at as usize]);
        let mut moments: Vec<Moment> = counting
            .iter()
            .map(span)
            .flat_map(|(begin, end)| begin.into_iter().chain(end))
            .collect();
        moments.sort_unstable();
        moments.dedup();
        let node = |moment: usize| start + moment as u32;
        for moment in 1..moments.len() {
            self.add(TIME, node(moment - 1), node(moment), 0, 0);
        }
        for at in &counting {
            let (begin, end) = span(at);
            if let Some(end) = end {
                let moment = moments.partition_point(|moment| *moment < end);
                self.add(ENDED, commit(*at), node(moment), 0, 0);
            }
            if let Some(begin) = begin {
                // Only what ended strictly before.
                let moment = moments.partition_point(|moment| *moment < begin);
                if moment > 0 {
                    self.add(TIME, node(moment - 1), snapshot(*at), 0, 0);
                }
            }
        }
        moments
    }
}

/// A point in time. A snapshot sees what was committed at its point, so within one, the commits
/// of writers come first (`false`).
type Moment = (u64, bool);

/// What tells the time: the database's points if there are any, else a clock.
enum Clock {
    Points,
    Wall,
    Virtual,
}

impl Clock {
    fn of(transactions: &[TransactionRecord]) -> Self {
        if transactions.iter().skip(1).any(|t| t.begin.is_some() || t.commit.is_some()) {
            Clock::Points
        } else if transactions.iter().any(|t| t.wall.is_some()) {
            Clock::Wall
        } else {
            Clock::Virtual
        }
    }

    /// Begin and end of a transaction.
    fn span(&self, transaction: &TransactionRecord) -> (Option<Moment>, Option<Moment>) {
        let times = match self {
            Clock::Points => {
                let reads_only = transaction.writes.is_empty();
                let end = transaction.commit.map(|point| (point, reads_only));
                // Nothing ends before it begins, even if it takes no time.
                let begin = |point| end.map_or((point, true), |end| end.min((point, true)));
                return (transaction.begin.map(begin), end);
            }
            Clock::Wall => transaction.wall,
            Clock::Virtual => transaction.virtual_time,
        };
        let known = transaction.status == crate::Status::Committed;
        let end = times.filter(|_| known).map(|times| (times.end, true));
        (times.map(|times| (times.begin, true)), end)
    }
}

/// Tells a cycle of edges by its transactions.
fn violation(index: &Index<'_>, edges: &[Edge]) -> Violation {
    let transactions = index.transactions.len() as u32;
    let owner = |node: u32| (node < 2 * transactions).then_some(node / 2);
    // Begin where a dependency leaves a transaction.
    let leaves = |edge: &Edge| owner(edge.from).is_some() && edge.kind != WITHIN;
    let start = edges.iter().position(leaves).expect("time alone runs in no cycle");
    let (mut path, mut dependencies) = (Vec::new(), Vec::new());
    let mut left = 0;
    for edge in edges[start..].iter().chain(&edges[..start]) {
        if edge.kind == WITHIN {
            continue;
        }
        if let Some(from) = owner(edge.from) {
            left = from;
            path.push(from);
        }
        if let Some(to) = owner(edge.to) {
            dependencies.push(dependency(index, edge, left, to));
        }
    }
    Violation::cycle(index, classify(&dependencies), &path, dependencies)
}

fn dependency(index: &Index<'_>, edge: &Edge, from: u32, to: u32) -> Dependency {
    let key = || index.keys[index.versions[edge.first as usize].key as usize].clone();
    let one = || Some((key(), vec![index.number(edge.first)]));
    let two = || Some((key(), vec![index.number(edge.first), index.number(edge.second)]));
    let (kind, versions) = match edge.kind {
        WW => (DependencyKind::WriteWrite, two()),
        WR => (DependencyKind::WriteRead, one()),
        RW => (DependencyKind::ReadWrite, two()),
        PREDICATE_WR => (DependencyKind::PredicateWriteRead, one()),
        PREDICATE_RW => (DependencyKind::PredicateReadWrite, two()),
        SESSION => (DependencyKind::Session, None),
        _ => (DependencyKind::RealTime, None),
    };
    Dependency { from: index.txn(from), to: index.txn(to), kind, versions }
}

/// The name of a cycle.
fn classify(cycle: &[Dependency]) -> Anomaly {
    use DependencyKind::{PredicateReadWrite, ReadWrite, RealTime, Session, WriteWrite};
    let has = |kind| cycle.iter().any(|dependency| dependency.kind == kind);
    let anti = |d: &Dependency| matches!(d.kind, ReadWrite | PredicateReadWrite);
    let key = |at: usize| cycle[at].versions.as_ref().map(|(key, _)| key);
    let antis = cycle.iter().filter(|d| anti(d)).count();
    let pair = cycle.len() == 2;
    let adjacent =
        (0..cycle.len()).any(|at| anti(&cycle[at]) && anti(&cycle[(at + 1) % cycle.len()]));
    if has(RealTime) {
        Anomaly::RealTime
    } else if has(Session) {
        Anomaly::SessionOrder
    } else if has(PredicateReadWrite) {
        Anomaly::Phantom
    } else if antis == 0 {
        if cycle.iter().all(|d| d.kind == WriteWrite) { Anomaly::G0 } else { Anomaly::G1c }
    } else if pair && key(0) == key(1) && (antis == 2 || has(WriteWrite)) {
        Anomaly::LostUpdate
    } else if antis == 1 {
        Anomaly::ReadSkew
    } else if !adjacent {
        Anomaly::LongFork
    } else if pair {
        Anomaly::WriteSkew
    } else {
        Anomaly::G2Item
    }
}
