// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is explored: a small cluster, a script, and what may go wrong.

use cluster::engine::{NodeId, Stage};
use cluster::fasst::{Fasst, Planted, Settings};

use super::fasst::{managed, scripted, small};
use super::script::{Deed, Script, Transaction};
use super::subject::Limits;

use Deed::{Delete, Insert, Read, Update};

/// A small cluster with a script, and what may go wrong.
#[derive(Clone)]
pub struct Scene {
    pub name: &'static str,
    pub limits: Limits,
    settings: Settings,
    buckets: Option<u32>,
    script: fn(&[Vec<u64>]) -> Vec<Vec<Transaction>>,
}

impl Scene {
    fn new(
        name: &'static str,
        settings: Settings,
        script: fn(&[Vec<u64>]) -> Vec<Vec<Transaction>>,
    ) -> Self {
        Self { name, limits: Limits::default(), settings, buckets: None, script }
    }

    fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    fn with_buckets(self, buckets: u32) -> Self {
        Self { buckets: Some(buckets), ..self }
    }

    /// The cluster, with this bug.
    pub fn cluster(&self, planted: Planted) -> Fasst<Script> {
        let settings = Settings { planted, ..self.settings.clone() };
        scripted(&settings, self.buckets, self.script)
    }
}

/// One transaction of each worker: the rows are `(partition, number there)`. Numbers from 100 on are of
/// rows that are not there at the start.
fn each(rows: &[Vec<u64>], workers: &[&[(usize, usize, Deed)]]) -> Vec<Vec<Transaction>> {
    let row = |partition: usize, number: usize| match number.checked_sub(100) {
        None => rows[partition][number],
        Some(number) => {
            let mut absent = rows[partition].iter().filter(|row| **row >= super::fasst::ROWS);
            *absent.nth(number).expect("enough rows that are not there")
        }
    };
    let list = |(tag, deeds): (u8, &&[(usize, usize, Deed)])| match deeds.is_empty() {
        true => Vec::new(),
        false => {
            let deeds = deeds.iter().map(|(at, number, deed)| (row(*at, *number), *deed));
            vec![Transaction::new(tag, &deeds.collect::<Vec<_>>())]
        }
    };
    (1..).zip(workers).map(list).collect()
}

fn two_workers(settings: Settings) -> Settings {
    Settings { workers: 2, ..settings }
}

/// Scenes in which nothing goes wrong.
pub fn calm() -> Vec<Scene> {
    vec![
        Scene::new("two writers of two rows", small(2, 1), |rows| {
            each(rows, &[&[(0, 0, Update), (1, 0, Update)], &[(1, 0, Update), (0, 0, Update)]])
        }),
        Scene::new("write skew", small(2, 1), |rows| {
            each(rows, &[&[(1, 0, Read), (0, 0, Update)], &[(0, 0, Read), (1, 0, Update)]])
        }),
        Scene::new("write skew from afar", small(2, 1), |rows| {
            each(rows, &[&[(0, 0, Read), (1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]])
        }),
        Scene::new("a reader and a writer of two rows", small(3, 1), |rows| {
            each(rows, &[&[(1, 0, Update), (0, 0, Update)], &[], &[(0, 0, Read), (1, 0, Read)]])
        }),
        Scene::new("two backups", small(3, 2), |rows| {
            each(rows, &[&[(1, 0, Update), (2, 0, Read)], &[(2, 0, Update), (1, 0, Read)]])
        }),
        Scene::new("two workers of a thread", two_workers(small(2, 1)), |rows| {
            let remote: &[_] = &[(1, 0, Update), (1, 1, Read)];
            each(rows, &[remote, &[(1, 1, Update), (1, 0, Read)], &[(1, 0, Read), (0, 0, Update)]])
        }),
        Scene::new("rows that come and go", small(2, 1), |rows| {
            each(rows, &[&[(1, 100, Insert), (0, 0, Delete)], &[(0, 0, Read), (1, 100, Read)]])
        }),
        Scene::new("one header", small(2, 1), |rows| {
            let changes: &[_] = &[(0, 0, Update), (0, 1, Update), (0, 100, Insert)];
            each(rows, &[changes, &[(0, 0, Read), (0, 1, Delete)]])
        })
        .with_buckets(1),
        Scene::new("one header, in two rounds", small(2, 1), |rows| {
            let mut lists = each(
                rows,
                &[&[(0, 0, Update), (0, 1, Update)], &[(0, 0, Read), (0, 1, Read), (1, 0, Update)]],
            );
            lists[1][0].declared = 1;
            lists
        })
        .with_buckets(1),
        Scene::new("one header is read in two rounds", small(2, 1), |rows| {
            let writes: &[_] = &[(0, 0, Update), (0, 1, Update)];
            let mut lists = each(rows, &[writes, &[(0, 0, Read), (0, 1, Read)]]);
            lists[1][0].declared = 1;
            lists
        })
        .with_buckets(1),
        Scene::new("one reads twice while another writes", small(2, 1), |rows| {
            let mut lists =
                each(rows, &[&[(1, 0, Update), (0, 0, Update)], &[(0, 0, Read)], &[(1, 0, Read)]]);
            let second = lists.pop().expect("three lists");
            lists[1].extend(second);
            lists
        }),
        Scene::new("a row that is found on the way", small(2, 1), |rows| {
            let mut lists =
                each(rows, &[&[(1, 0, Update), (0, 0, Update)], &[(1, 0, Read), (0, 0, Update)]]);
            lists[1][0].declared = 1;
            lists
        }),
        Scene::new("one that gives up", small(2, 1), |rows| {
            let mut lists =
                each(rows, &[&[(1, 0, Update), (0, 0, Update)], &[(1, 0, Update), (0, 0, Read)]]);
            lists[1][0].rolls_back = true;
            lists
        }),
    ]
}

/// Scenes in which a message comes twice.
pub fn doubled() -> Vec<Scene> {
    let limits =
        |stages: &[Stage]| Limits { duplicates: 1, stages: stages.to_vec(), ..Limits::default() };
    vec![
        Scene::new("a message comes twice", small(2, 1), |rows| {
            each(rows, &[&[(1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]])
        })
        .with_limits(limits(&[])),
        Scene::new("a lock comes twice", small(2, 1), |rows| {
            each(rows, &[&[(0, 0, Update), (1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]])
        })
        .with_limits(limits(&[Stage::Execute, Stage::Abort])),
    ]
}

/// Scenes in which a process ends.
pub fn deadly() -> Vec<Scene> {
    let crash = |nodes: &[u16]| Limits {
        may_crash: nodes.iter().copied().map(NodeId).collect(),
        ..Limits::default()
    };
    vec![
        Scene::new("a coordinator crashes", managed(small(3, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)]])
        })
        .with_limits(crash(&[0])),
        Scene::new("a coordinator or a primary crashes", managed(small(3, 1)), |rows| {
            each(rows, &[&[(1, 0, Update), (2, 0, Update)]])
        })
        .with_limits(crash(&[0, 1, 2])),
        Scene::new("one of two writers crashes", managed(small(2, 1)), |rows| {
            each(rows, &[&[(0, 0, Update), (1, 0, Update)], &[(1, 0, Update), (0, 0, Read)]])
        })
        .with_limits(crash(&[0, 1])),
        Scene::new("one of three nodes crashes", managed(small(3, 2)), |rows| {
            each(rows, &[&[(1, 0, Update)], &[(1, 0, Read), (0, 0, Update)]])
        })
        .with_limits(crash(&[0, 1])),
        Scene::new("two of three nodes crash", managed(small(3, 2)), |rows| {
            each(rows, &[&[(1, 0, Update)]])
        })
        .with_limits(Limits { crashes: 2, ..crash(&[0, 1]) }),
        Scene::new("any two of three nodes crash", managed(small(3, 2)), |rows| {
            each(rows, &[&[(1, 0, Update), (0, 0, Read)], &[], &[(1, 0, Read)]])
        })
        .with_limits(Limits { crashes: 2, ..crash(&[0, 1, 2]) }),
        Scene::new("a message is lost", managed(small(3, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)], &[], &[(1, 0, Read)]])
        })
        .with_limits(Limits { losses: 1, ..Limits::default() }),
    ]
}

/// Scenes in which a process ends and the next one of its node begins.
pub fn returning() -> Vec<Scene> {
    let back = |nodes: &[u16]| Limits {
        may_crash: nodes.iter().copied().map(NodeId).collect(),
        restarts: 1,
        ..Limits::default()
    };
    vec![
        // The reader needs nobody else, and its two rows have an exact point.
        Scene::new("a writer comes back to a reader", managed(small(2, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)], &[(1, 0, Read), (1, 1, Read)]])
        })
        .with_limits(back(&[0])),
        Scene::new("a coordinator comes back", managed(small(2, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)]])
        })
        .with_limits(back(&[0])),
        Scene::new("a primary comes back", managed(small(2, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)]])
        })
        .with_limits(back(&[1])),
        Scene::new("a coordinator comes back and goes on", managed(small(2, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)]])
        })
        .with_limits(Limits { begins_again: true, ..back(&[0]) }),
        Scene::new("one of three nodes comes back", managed(small(3, 1)), |rows| {
            each(rows, &[&[(1, 0, Update)]])
        })
        .with_limits(back(&[0, 1, 2])),
    ]
}
