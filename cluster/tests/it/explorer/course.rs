// SPDX-License-Identifier: MIT OR Apache-2.0
//! What clients have seen of the transactions, and the judgement of it.

use std::collections::BTreeMap;

use cluster::engine::{Access, Effects, Ending, Key, Moment, Point, TransactionId};

/// All attempts that were not aborted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Course {
    /// By name.
    attempts: BTreeMap<TransactionId, Attempt>,
    /// Those that have a serialization point, in the order in which they told of it.
    points: Vec<TransactionId>,
    /// The workers that have nothing more to do, by the names of their attempts without the count.
    resting: Vec<TransactionId>,
    /// How often each worker has begun again.
    repeats: BTreeMap<TransactionId, u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Attempt {
    /// Those that had ended before it began.
    after: Vec<TransactionId>,
    /// Whether the point may lie anywhere since its begin.
    is_within: bool,
    accesses: Vec<(Key, u64, u64, bool)>,
    ended: Option<Ending>,
    decided: Option<bool>,
}

/// The name of a worker: that of its attempts, without the count.
pub fn worker_of(transaction: TransactionId) -> TransactionId {
    TransactionId::new(transaction.node(), transaction.thread(), transaction.worker(), 0)
}

impl Course {
    /// Takes what a burst of thread `part` told.
    ///
    /// # Errors
    /// When that contradicts what was told before.
    pub fn take(&mut self, part: TransactionId, effects: &Effects) -> Result<(), String> {
        for moment in effects.moments() {
            self.take_moment(part, moment, effects)?;
        }
        Ok(())
    }

    fn take_moment(
        &mut self,
        part: TransactionId,
        moment: &Moment,
        effects: &Effects,
    ) -> Result<(), String> {
        match moment {
            Moment::Begun { transaction, again, .. } => self.begin(*transaction, *again),
            Moment::Committing(committing) => {
                let id = committing.transaction;
                let attempt = self.attempts.get_mut(&id).ok_or(format!("{id:?} never began"))?;
                if self.points.contains(&id) {
                    return Err(format!("{id:?} has two serialization points"));
                }
                let list =
                    |access: &Access| (access.key, access.version, access.digest, access.writes);
                attempt.accesses = effects.accesses_of(committing).iter().map(list).collect();
                attempt.is_within = committing.point == Point::Within;
                self.points.push(id);
                Ok(())
            }
            Moment::Ended { transaction, ending } => self.end(*transaction, *ending),
            Moment::Decided { transaction, committed } => self.decide(*transaction, *committed),
            Moment::Rests { worker } => {
                self.rest(part, *worker);
                Ok(())
            }
        }
    }

    fn begin(&mut self, id: TransactionId, again: bool) -> Result<(), String> {
        let repeats = self.repeats.entry(worker_of(id)).or_default();
        *repeats = if again { repeats.saturating_add(1) } else { 0 };
        let has_ended = |(id, attempt): (&TransactionId, &Attempt)| attempt.ended.map(|_| *id);
        let after = self.attempts.iter().filter_map(has_ended).collect();
        let attempt =
            Attempt { after, is_within: false, accesses: Vec::new(), ended: None, decided: None };
        match self.attempts.insert(id, attempt) {
            None => Ok(()),
            Some(_) => Err(format!("two attempts have the name {id:?}")),
        }
    }

    fn end(&mut self, id: TransactionId, ending: Ending) -> Result<(), String> {
        let attempt = self.attempts.get_mut(&id).ok_or(format!("{id:?} never began"))?;
        if attempt.ended.is_some() {
            return Err(format!("{id:?} ends twice"));
        }
        match (ending.is_abort(), attempt.decided) {
            (true, Some(true)) => return Err(format!("{id:?} ends {ending:?}, but is decided")),
            (false, Some(false)) if ending == Ending::Committed => {
                return Err(format!("{id:?} ends committed, but was decided to be aborted"));
            }
            _ => {}
        }
        if !ending.is_abort() {
            if !self.points.contains(&id) {
                return Err(format!("{id:?} ends {ending:?} without a serialization point"));
            }
            attempt.ended = Some(ending);
            return Ok(());
        }
        self.attempts.remove(&id);
        self.points.retain(|other| *other != id);
        Ok(())
    }

    fn decide(&mut self, id: TransactionId, committed: bool) -> Result<(), String> {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            let told =
                if committed { "committed, but had ended as aborted" } else { return Ok(()) };
            return Err(format!("{id:?} is decided to be {told}"));
        };
        if attempt.decided.is_some_and(|before| before != committed) {
            return Err(format!("{id:?} is decided to be both committed and aborted"));
        }
        if !committed && attempt.ended == Some(Ending::Committed) {
            return Err(format!("{id:?} was acknowledged, but is decided to be aborted"));
        }
        if committed && attempt.ended == Some(Ending::RolledBack) {
            return Err(format!("{id:?} was rolled back, but is decided to be committed"));
        }
        if committed && !self.points.contains(&id) {
            return Err(format!("{id:?} is decided to be committed, but has no point"));
        }
        attempt.decided = Some(committed);
        Ok(())
    }

    /// How often the most unlucky worker has begun anew.
    pub fn most_repeats(&self) -> u8 {
        self.repeats.values().copied().max().unwrap_or(0)
    }

    /// A worker of thread `part` has nothing more to do.
    pub fn rest(&mut self, part: TransactionId, worker: u8) {
        let worker = TransactionId::new(part.node(), part.thread(), worker, 0);
        if !self.resting.contains(&worker) {
            self.resting.push(worker);
            self.resting.sort();
        }
    }

    /// Whether this worker has nothing more to do.
    pub fn rests(&self, worker: TransactionId) -> bool {
        self.resting.contains(&worker)
    }

    /// Forgets that the workers of a node rest, as its process is gone or begins anew.
    pub fn forget_node(&mut self, node: cluster::engine::NodeId) {
        self.resting.retain(|worker| worker.node() != node);
        self.repeats.retain(|worker, _| worker.node() != node);
    }

    /// How many transactions were acknowledged as committed, and how many by recovery alone.
    pub fn commits(&self) -> (usize, usize) {
        let stands = self.attempts.values().filter(|attempt| attempt.stands());
        let acknowledged = |attempt: &&Attempt| attempt.ended == Some(Ending::Committed);
        let (all, told) = stands.fold((0, 0), |(all, told), attempt| {
            (all + 1, told + usize::from(acknowledged(&attempt)))
        });
        (told, all - told)
    }

    /// Finds a serial order of all that stands, and gives the rows that it leaves, by their digests.
    ///
    /// # Errors
    /// When there is none that keeps to the points that were told; says whether there is any other.
    pub fn serial_order(&self, initial: &BTreeMap<Key, u64>) -> Result<BTreeMap<Key, u64>, String> {
        let stands = self.points.iter().map(|id| (*id, &self.attempts[id]));
        let all: Vec<_> = stands
            .filter(|(_, attempt)| attempt.stands() || attempt.ended == Some(Ending::RolledBack))
            .collect();
        let mut rows = initial.clone();
        if place(&all, &mut vec![false; all.len()], &mut rows, true) {
            return Ok(rows);
        }
        let mut rows = initial.clone();
        let other = place(&all, &mut vec![false; all.len()], &mut rows, false);
        let what = if other { "the points claimed are wrong" } else { "not serializable" };
        let lines: Vec<String> =
            all.iter().map(|(id, attempt)| format!("\n    {id:?} {attempt:?}")).collect();
        Err(format!("{what}:{}", lines.concat()))
    }
}

impl Attempt {
    /// Whether its changes stand.
    fn stands(&self) -> bool {
        self.ended == Some(Ending::Committed) || self.decided == Some(true)
    }
}

/// Places the rest of the transactions, one of them next.
fn place(
    all: &[(TransactionId, &Attempt)],
    placed: &mut [bool],
    rows: &mut BTreeMap<Key, u64>,
    by_points: bool,
) -> bool {
    if placed.iter().all(|placed| *placed) {
        return true;
    }
    for next in 0..all.len() {
        let (_, attempt) = &all[next];
        let is_placed = |id: &TransactionId| {
            all.iter().zip(placed.iter()).any(|((other, _), placed)| other == id && *placed)
                || all.iter().all(|(other, _)| other != id)
        };
        let is_exact = |index: usize| !all[index].1.is_within;
        let keeps_points = !by_points
            || attempt.is_within
            || (0..next).all(|earlier| placed[earlier] || !is_exact(earlier));
        if placed[next] || !keeps_points || !attempt.after.iter().all(is_placed) {
            continue;
        }
        let reads = attempt.accesses.iter().filter(|access| !access.3);
        if !reads.clone().all(|(key, _, digest, _)| rows.get(key) == Some(digest)) {
            continue;
        }
        let before = rows.clone();
        let writes = attempt.accesses.iter().filter(|access| access.3);
        rows.extend(writes.map(|(key, _, digest, _)| (*key, *digest)));
        placed[next] = true;
        if place(all, placed, rows, by_points) {
            return true;
        }
        placed[next] = false;
        *rows = before;
    }
    false
}
