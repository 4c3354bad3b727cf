// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transactions that machines have told of, as drivers note them.

use std::collections::BTreeMap;

use cluster::engine::{Access, Effects, Ending, Moment, Point, TransactionId};

/// A transaction that was told of.
#[derive(Clone, Debug, Default)]
pub struct Course {
    pub accesses: Vec<Access>,
    pub point: Option<Point>,
    pub ending: Option<Ending>,
    pub decided: Option<bool>,
}

impl Course {
    /// Whether its changes are to be seen.
    pub fn stands(&self) -> bool {
        match self.ending {
            Some(ending) => ending == Ending::Committed,
            None => self.decided == Some(true),
        }
    }

    /// Whether what it has read has to be right: it stands, or its logic gave up.
    pub fn is_judged(&self) -> bool {
        self.stands() || self.ending == Some(Ending::RolledBack)
    }
}

/// All of a run.
#[derive(Clone, Debug, Default)]
pub struct Courses {
    all: BTreeMap<TransactionId, Course>,
    /// The attempts in the order of their points.
    claimed: Vec<TransactionId>,
}

impl Courses {
    /// Notes what a burst told.
    pub fn note(&mut self, out: &Effects) {
        for moment in out.moments() {
            match moment {
                Moment::Begun { transaction, .. } => {
                    let before = self.all.insert(*transaction, Course::default());
                    assert!(before.is_none(), "{transaction:?} twice");
                }
                Moment::Committing(committing) => {
                    let course = self.all.get_mut(&committing.transaction).expect("begun");
                    course.accesses = out.accesses_of(committing).to_vec();
                    course.point = Some(committing.point);
                    self.claimed.push(committing.transaction);
                }
                Moment::Ended { transaction, ending } => {
                    let course = self.all.get_mut(transaction).expect("begun");
                    assert_eq!(course.ending.replace(*ending), None, "{transaction:?}");
                }
                Moment::Decided { transaction, committed } => {
                    let course = self.all.get_mut(transaction).expect("begun");
                    let before = course.decided.replace(*committed);
                    assert_eq!(before.unwrap_or(*committed), *committed, "{transaction:?}");
                }
                Moment::Rests { .. } => {}
            }
        }
    }

    /// By their names.
    pub fn all(&self) -> impl ExactSizeIterator<Item = &Course> {
        self.all.values()
    }

    /// In the order of their points.
    pub fn claimed(&self) -> impl Iterator<Item = (TransactionId, &Course)> {
        self.claimed.iter().map(|transaction| (*transaction, &self.all[transaction]))
    }

    /// How many transactions ended like this.
    pub fn ended(&self, ending: Ending) -> usize {
        self.all().filter(|course| course.ending == Some(ending)).count()
    }
}
