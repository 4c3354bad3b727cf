// SPDX-License-Identifier: MIT OR Apache-2.0
//! What machines have told of transactions, and whether it has a serial order.

use std::collections::BTreeMap;

use cluster::engine::{Access, Effects, Ending, Key, Moment, Point, TransactionId};
use cluster::placement::{HeaderId, Partitioning};

/// A transaction that was told of.
#[derive(Clone, Debug, Default)]
pub struct Course {
    pub accesses: Vec<Access>,
    pub point: Option<Point>,
    pub ending: Option<Ending>,
    /// How many attempts had told of their points when it began.
    begun: usize,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The attempts in the order of their points.
    pub claimed: Vec<TransactionId>,
    pub courses: BTreeMap<TransactionId, Course>,
}

impl Told {
    pub fn take(&mut self, out: &Effects) {
        for moment in out.moments() {
            match moment {
                Moment::Begun { transaction, .. } => {
                    let course = Course { begun: self.claimed.len(), ..Course::default() };
                    let before = self.courses.insert(*transaction, course);
                    assert!(before.is_none(), "{transaction:?} twice");
                }
                Moment::Committing(committing) => {
                    let course = self.courses.get_mut(&committing.transaction).expect("begun");
                    course.accesses = out.accesses_of(committing).to_vec();
                    course.point = Some(committing.point);
                    self.claimed.push(committing.transaction);
                }
                Moment::Ended { transaction, ending } => {
                    let course = self.courses.get_mut(transaction).expect("begun");
                    assert_eq!(course.ending.replace(*ending), None);
                }
                Moment::Decided { .. } | Moment::Rests { .. } => {}
            }
        }
    }

    pub fn ended(&self, ending: Ending) -> usize {
        self.courses.values().filter(|course| course.ending == Some(ending)).count()
    }

    /// That each attempt has ended.
    pub fn check_ended(&self) -> Result<(), String> {
        match self.courses.iter().find(|(_, course)| course.ending.is_none()) {
            Some((transaction, _)) => Err(format!("{transaction:?} has not ended")),
            None => Ok(()),
        }
    }

    /// What was told of a key, in the order of points.
    fn of_key(&self, key: Key) -> String {
        let lines = self.claimed.iter().filter_map(|transaction| {
            let course = &self.courses[transaction];
            let accesses = course.accesses.iter().filter(|access| access.key == key);
            let accesses: Vec<_> = accesses.map(|access| (access.version, access.writes)).collect();
            let Course { point, ending, .. } = course;
            (!accesses.is_empty())
                .then(|| format!("\n  {:x} {point:?} {ending:?}: {accesses:?}", transaction.0))
        });
        lines.collect()
    }

    /// Replays what has ended in the order of its points: each read saw the newest version, and the row
    /// that was last written at this version or before. What has its point somewhere has read all of its rows
    /// at one instant since it began.
    pub fn check_serial(&self, layout: &Partitioning) -> Result<(), String> {
        let mut versions = BTreeMap::<HeaderId, u64>::new();
        let mut written = BTreeMap::<(Key, u64), u64>::new();
        let writers = self.writers(layout);
        for (place, transaction) in self.claimed.iter().enumerate() {
            let course = &self.courses[transaction];
            if !course.stands() {
                continue;
            }
            let (mut first, mut last) = (course.begun, place);
            for access in &course.accesses {
                let header = layout.header_of(access.key);
                let newest = versions.entry(header).or_default();
                if access.writes {
                    *newest = access.version;
                    written.insert((access.key, access.version), access.digest);
                    continue;
                }
                let written_at = writers.get(&(header, access.version)).map_or(0, |at| at + 1);
                let replaced_at = writers.get(&(header, access.version + 1));
                first = first.max(written_at);
                last = last.min(replaced_at.copied().unwrap_or(place));
                let is_timely = match course.point {
                    Some(Point::Within) => access.version <= *newest && first <= last,
                    _ => access.version == *newest,
                };
                let until = (access.key, 0)..=(access.key, access.version);
                let row = written.range(until).next_back();
                if !is_timely || row.is_some_and(|(_, digest)| *digest != access.digest) {
                    let newest = *newest;
                    let of_key = self.of_key(access.key);
                    return Err(format!(
                        "{transaction:?}: {access:?}; {header:?} is at {newest}{of_key}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The places in the order of points of those that have written each version.
    fn writers(&self, layout: &Partitioning) -> BTreeMap<(HeaderId, u64), usize> {
        let all = self.claimed.iter().enumerate();
        let stands = all.filter(|(_, transaction)| self.courses[*transaction].stands());
        let writes = stands.flat_map(|(place, transaction)| {
            let accesses = self.courses[transaction].accesses.iter();
            let writes = accesses.filter(|access| access.writes);
            writes.map(move |access| ((layout.header_of(access.key), access.version), place))
        });
        writes.collect()
    }
}

impl Course {
    /// Whether its client was told that it has ended otherwise than by an abort.
    fn stands(&self) -> bool {
        matches!(self.ending, Some(Ending::Committed | Ending::RolledBack))
    }
}
