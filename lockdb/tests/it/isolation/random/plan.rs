// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a random history is made of, drawn from its seed.

use std::time::Duration;

use history::Level;
use lockdb::schema::{Schema, Type};
use lockdb::{Isolation, LockWait, Options};
use locks::{Policy, Waiting};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One random history: the store, its sessions, and the amount of work.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub levels: &'static [Isolation],
    /// Sessions at once.
    pub sessions: usize,
    /// Transactions of each.
    pub transactions: usize,
    /// The most operations of one.
    operations: usize,
    /// Rows of the table, of which about half are there at the beginning.
    pub keys: i64,
    /// Values of its second column, which has an index.
    pub groups: i64,
    /// Rows of the table of counters.
    pub counters: i64,
    /// Bytes that a row carries so that pages fill up.
    pub padding: usize,
    /// Whether vacuum runs all the time.
    pub vacuums: bool,
    pub options: Options,
}

const ALL_LEVELS: &[Isolation] =
    &[Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];

impl Case {
    /// Sessions on threads, which wait for each other.
    pub fn of_threads(seed: u64) -> Self {
        let random = &mut random(seed, 0);
        let policies = [
            Policy::WaitsFor { every: Duration::from_millis(1) },
            Policy::WaitDie,
            Policy::NoWait,
            Policy::Queue,
        ];
        let policy = *policies.choose(random).expect("there are some");
        let timeout = match policy {
            Policy::Queue => Duration::from_millis(2),
            _ => Duration::from_secs(20),
        };
        let mut case = Self::drawn(seed, random, Waiting { policy, timeout, ..Waiting::default() });
        if case.vacuums && random.random() {
            // So few that the case cannot do without vacuum.
            case.options.pages = 48;
        }
        case
    }

    /// Sessions that take turns on one thread, and never wait.
    pub fn interleaved(seed: u64) -> Self {
        let waiting = Waiting { policy: Policy::NoWait, ..Waiting::default() };
        Self::drawn(seed, &mut random(seed, 0), waiting)
    }

    fn drawn(seed: u64, random: &mut ChaCha8Rng, waiting: Waiting) -> Self {
        let mixed = random.random_ratio(1, 4);
        let pure = random.random_range(0..ALL_LEVELS.len());
        let sessions = random.random_range(2..=5);
        let options = Options {
            // Few buckets make rows share their locks.
            lock_buckets: 1 << random.random_range(2..=8),
            sessions: 512,
            waiting,
            validated_in_place: *[0, 4, 64].choose(random).expect("there are some"),
            ..Options::small()
        };
        Self {
            seed,
            levels: if mixed { ALL_LEVELS } else { &ALL_LEVELS[pure..=pure] },
            sessions,
            transactions: random.random_range(10..=40),
            operations: random.random_range(1..=8),
            keys: random.random_range(2..=16),
            groups: random.random_range(1..=4),
            counters: random.random_range(1..=3),
            padding: *[0, 300, 3900].choose(random).expect("there are some"),
            vacuums: random.random(),
            options,
        }
    }

    /// The plans of one session's transactions.
    pub fn plans(&self, session: usize) -> impl Iterator<Item = Plan> + '_ {
        let mut random = random(self.seed, session as u64 + 1);
        (0..self.transactions).map(move |_| self.plan(&mut random))
    }

    fn plan(&self, random: &mut ChaCha8Rng) -> Plan {
        let isolation = *self.levels.choose(random).expect("there is a level");
        let operations = random.random_range(1..=self.operations);
        let operations = (0..operations).map(|_| self.operation(random)).collect();
        Plan { isolation, operations, commits: random.random_ratio(9, 10) }
    }

    fn operation(&self, random: &mut ChaCha8Rng) -> Operation {
        let key = random.random_range(0..self.keys);
        let group = random.random_range(0..self.groups);
        let waits = [LockWait::Wait, LockWait::Fail, LockWait::Skip];
        match random.random_range(0..24) {
            0..5 => Operation::Get { key },
            5 => Operation::Lock { key, wait: *waits.choose(random).expect("three") },
            6..11 => Operation::Update { key, group },
            11..14 => Operation::Insert { key, group },
            14..16 => Operation::Delete { key },
            16..18 => Operation::Keys {
                low: key,
                high: random.random_range(key..self.keys),
                descending: random.random(),
            },
            18..20 => {
                Operation::Groups { low: group, high: random.random_range(group..self.groups) }
            }
            20 => Operation::Scan,
            21 => Operation::Savepoint,
            22 => Operation::Back { back: random.random_range(1..=2) },
            _ => Operation::Count { counter: random.random_range(0..self.counters) },
        }
    }
}

/// A random source of its own for each part of a case.
pub fn random(seed: u64, part: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(part);
    random.next_u64();
    random
}

/// The steps of one transaction.
#[derive(Clone, Debug)]
pub struct Plan {
    pub isolation: Isolation,
    pub operations: Vec<Operation>,
    pub commits: bool,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Get {
        key: i64,
    },
    Lock {
        key: i64,
        wait: LockWait,
    },
    Update {
        key: i64,
        group: i64,
    },
    Insert {
        key: i64,
        group: i64,
    },
    Delete {
        key: i64,
    },
    Keys {
        low: i64,
        high: i64,
        descending: bool,
    },
    Groups {
        low: i64,
        high: i64,
    },
    Scan,
    Savepoint,
    /// Back to the savepoint so many before the last, if there is one.
    Back {
        back: usize,
    },
    /// Adds one to a counter.
    Count {
        counter: i64,
    },
}

/// Rows that carry the version by which the history names them.
pub fn items() -> Schema {
    Schema::builder("item")
        .column("id", Type::Int64)
        .column("group", Type::Int64)
        .column("version", Type::Int64)
        .column("padding", Type::Bytes)
        .primary_key(&["id"])
        .index("by_group", &["group"])
        .build()
        .expect("the schema is sound")
}

/// Counters, of which no increment may be lost at any level.
pub fn counters() -> Schema {
    Schema::builder("counter")
        .column("id", Type::Int64)
        .column("count", Type::Int64)
        .primary_key(&["id"])
        .build()
        .expect("the schema is sound")
}

pub fn level(isolation: Isolation) -> Level {
    match isolation {
        Isolation::ReadCommitted => Level::ReadCommitted,
        Isolation::Snapshot => Level::Snapshot,
        Isolation::Serializable => Level::Serializable,
    }
}
