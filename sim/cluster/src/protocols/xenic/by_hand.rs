// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages and bytes of a transaction by hand, from the tables of `docs/xenic.md`: without aborts, and without the
//! END of slots that idle. What a burst finds cached on the own node is not reckoned with.

use cluster::engine::{Key, Stage};
use cluster::transact::{Change, Decision, Intent, Transactions};

use crate::run::by_hand::{Count, Sum};

/// Which optimisations are on, and where logic runs.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub combined: bool,
    pub ships: bool,
    pub multi_hop: bool,
    /// The kinds whose logic stays on the host, a bit for each.
    pub on_host: u64,
    /// The largest message.
    pub mtu: usize,
}

/// The bytes of a header between NICs, and of what begins a message over the slot.
const HEADER: usize = 10;
const HEAD: usize = 6;
/// Of a key, of a version, of a change beside its value, and of the news that a record was applied.
const KEY: usize = 9;
const VERSION: usize = 4;
const CHANGE: usize = 14;
const APPLIED: usize = 9;

/// A key of a transaction.
#[derive(Clone, Copy)]
struct Wanted {
    primary: u16,
    intent: Intent,
    /// The bytes of its value; none if there is no row.
    value: usize,
    round: usize,
}

/// A change of a transaction.
#[derive(Clone, Copy)]
struct Changed {
    shard: u16,
    value: usize,
}

/// What is to be known of a transaction, and what was counted of it.
struct Course {
    form: Form,
    coordinator: u16,
    nodes: u16,
    backups: u16,
    input: usize,
    is_one_round: bool,
    wanted: Vec<Wanted>,
    changed: Vec<Changed>,
    messages: Sum,
    bytes: Sum,
}

/// Counts a transaction.
pub fn transaction<T: Transactions, F: Fn(Key) -> u16>(
    form: Form,
    count: &mut Count<'_, F>,
    transactions: &T,
    input: &T::Input,
    sum: &mut Sum,
) {
    let mut rounds: Vec<(Key, Intent, usize)> = Vec::new();
    let mut number = 0;
    let decision = count.rounds(transactions, input, |_, round| {
        for (key, intent) in round {
            match rounds.iter_mut().find(|(other, _, of)| other == key && *of == number) {
                Some((_, other, _)) => *other = (*other).max(*intent),
                None => rounds.push((*key, *intent, number)),
            }
        }
        number += 1;
    });
    let places = count.places();
    let value_bytes =
        |key: Key| usize::from(transactions.tables()[usize::from(key.table.0)].value_bytes);
    let wanted = rounds.iter().map(|&(key, intent, round)| {
        let is_there = count.rows().all().iter().any(|row| row.key == key && row.was_present());
        let value = if is_there { value_bytes(key) } else { 0 };
        Wanted { primary: (places.primary)(key), intent, value, round }
    });
    let wanted: Vec<Wanted> = wanted.collect();
    let changed = count.rows().changes().map(|(row, change)| Changed {
        shard: (places.primary)(row.key),
        value: if change == Change::Delete { 0 } else { value_bytes(row.key) },
    });
    let changed: Vec<Changed> = changed.filter(|_| decision == Some(Decision::Commit)).collect();
    let mut bytes = Vec::new();
    transactions.put_input(input, &mut bytes);
    let mut course = Course {
        form,
        coordinator: count.coordinator(),
        nodes: places.nodes,
        backups: places.backups,
        input: bytes.len(),
        is_one_round: transactions.is_one_round(input),
        wanted,
        changed,
        messages: Sum::default(),
        bytes: Sum::default(),
    };
    course.run(form.on_host >> transactions.kind(input).min(63) & 1 == 1);
    for stage in Stage::ALL {
        sum[stage as usize] += course.messages[stage as usize];
        count.add_bytes(stage, course.bytes[stage as usize] as usize);
    }
}

impl Course {
    fn message(&mut self, stage: Stage, bytes: usize) {
        self.messages[stage as usize] += 1;
        self.bytes[stage as usize] += bytes as u64;
    }

    /// A request to another node, and its answer.
    fn ask(&mut self, stage: Stage, to: u16, request: usize, answer: usize) {
        if to != self.coordinator {
            self.message(stage, HEADER + request);
            self.message(stage, HEADER + answer);
        }
    }

    fn run(&mut self, is_annotated: bool) {
        // A record that is too large is rolled back.
        let record: usize = self.changed.iter().map(|of| 2 + CHANGE + of.value).sum();
        if HEADER + 8 + 2 + record > self.form.mtu {
            self.changed.clear();
        }
        let on_host = !self.form.ships || is_annotated;
        let is_local = self.wanted.iter().all(|of| of.primary == self.coordinator);
        self.message(Stage::Host, HEAD);
        if on_host && is_local {
            let rows = self.wanted.len() * (KEY + VERSION);
            let writes = if self.changed.is_empty() { 0 } else { 1 + self.write_set() };
            self.message(Stage::Host, HEAD + 2 + rows + writes);
            return self.log_and_commit(None);
        }
        self.begin(on_host);
        if !on_host && self.form.multi_hop && self.is_one_round && self.ship() {
            return;
        }
        self.fetch();
        self.validate();
        self.log_and_commit(None);
    }

    fn write_set(&self) -> usize {
        self.changed.iter().map(|of| 10 + of.value).sum()
    }

    fn of_round(&self, round: usize) -> impl Iterator<Item = &Wanted> {
        self.wanted.iter().filter(move |of| of.round == round)
    }

    fn rounds(&self) -> usize {
        self.wanted.iter().map(|of| of.round + 1).max().unwrap_or(0)
    }

    /// What crosses the slot but for the outcome.
    fn begin(&mut self, on_host: bool) {
        let keys = 2 + KEY * self.of_round(0).count();
        if !on_host {
            return self.message(Stage::Host, HEAD + 1 + self.input + keys);
        }
        self.message(Stage::Host, HEAD + keys);
        for round in 0..self.rounds() {
            let rows: usize = self.of_round(round).map(|of| VERSION + of.value).sum();
            let keys = KEY * self.of_round(round).count();
            if round > 0 {
                self.message(Stage::Host, HEAD + 2 + keys);
            }
            self.message(Stage::Host, HEAD + rows);
        }
        self.message(Stage::Host, HEAD + 1 + self.write_set());
    }

    /// EXECUTE, and LOCK without combined requests.
    fn fetch(&mut self) {
        for round in 0..self.rounds() {
            let wanted: Vec<Wanted> = self.of_round(round).copied().collect();
            for group in self.grouped(wanted) {
                let rows: usize = group.iter().map(|of| VERSION + of.value).sum();
                self.ask(Stage::Execute, group[0].primary, 2 + KEY * group.len(), 1 + rows);
            }
        }
        if !self.form.combined && !self.changed.is_empty() {
            let locked = self.wanted.clone().into_iter().filter(|of| of.intent == Intent::Write);
            locked.for_each(|of| self.ask(Stage::Execute, of.primary, 1 + KEY, 1 + VERSION));
        }
    }

    /// By node, or each by itself.
    fn grouped(&self, wanted: Vec<Wanted>) -> Vec<Vec<Wanted>> {
        let mut groups: Vec<Vec<Wanted>> = Vec::new();
        for of in wanted {
            let same = |group: &&mut Vec<Wanted>| group[0].primary == of.primary;
            match groups.iter_mut().find(same).filter(|_| self.form.combined) {
                Some(group) => group.push(of),
                None => groups.push(vec![of]),
            }
        }
        groups
    }

    fn locks(&self) -> bool {
        let wants = self.wanted.iter().any(|of| of.intent == Intent::Write);
        wants && (self.form.combined || !self.changed.is_empty())
    }

    fn validate(&mut self) {
        let requests: usize = (0..self.rounds())
            .map(|round| self.grouped(self.of_round(round).copied().collect()).len())
            .sum();
        if requests <= 1 && !self.locks() {
            return;
        }
        let read = self.wanted.iter().copied();
        let read = read.filter(|of| of.intent == Intent::Read || !self.form.combined).collect();
        for group in self.grouped(read) {
            let keys = group.len() * (KEY + VERSION);
            self.ask(Stage::Validate, group[0].primary, 1 + keys, 1);
        }
    }

    /// Runs the logic on the one other node that has keys. Says whether there is such a one, and the message fits.
    fn ship(&mut self) -> bool {
        let own = self.coordinator;
        let others = || self.of_round(0).map(|of| of.primary).filter(|of| *of != own);
        let Some(to) = others().next() else { return false };
        let is_one = others().all(|other| other == to);
        let is_worth_it =
            self.of_round(0).any(|of| of.primary == own || of.intent == Intent::Write);
        if !is_one || !is_worth_it {
            return false;
        }
        let there = self.of_round(0).filter(|of| of.primary == to).count();
        let rows = self.of_round(0).filter(|of| of.primary == own);
        let rows: usize = rows.map(|of| KEY + VERSION + of.value).sum();
        let request = 8 + 1 + self.input + 2 + KEY * there + 1 + rows;
        if HEADER + request > self.form.mtu {
            return false;
        }
        let ends = self.rounds() == 1;
        let answer = match ends && !self.changed.is_empty() {
            true => 1 + 1 + (self.record_for(own) - 8),
            false => 1,
        };
        self.ask(Stage::Execute, to, request, answer);
        if ends && !self.changed.is_empty() {
            self.log_and_commit(Some(to));
        }
        ends
    }

    /// The bytes of the record of a node.
    fn record_for(&self, node: u16) -> usize {
        let shards = self.shards();
        let list = if shards.len() > 1 { 2 * shards.len() } else { 0 };
        let changes = self.changed.iter().filter(|of| self.replicates(node, of.shard));
        8 + 1 + list + 1 + changes.map(|of| CHANGE + of.value).sum::<usize>()
    }

    fn shards(&self) -> Vec<u16> {
        let mut shards: Vec<u16> = self.changed.iter().map(|of| of.shard).collect();
        shards.sort_unstable();
        shards.dedup();
        shards
    }

    /// At the start a shard's primary is the node of its number, and its backups are the next ones.
    fn replicates(&self, node: u16, shard: u16) -> bool {
        (node + self.nodes - shard) % self.nodes <= self.backups
    }

    fn log_and_commit(&mut self, shipped_to: Option<u16>) {
        let own = self.coordinator;
        let shards = self.shards();
        let mut holders: Vec<u16> = Vec::new();
        for shard in &shards {
            for backup in (1..=self.backups).map(|step| (shard + step) % self.nodes) {
                let holder = if backup == own { *shard } else { backup };
                if !holders.contains(&holder) {
                    holders.push(holder);
                }
            }
        }
        for holder in &holders {
            match shipped_to == Some(*holder) {
                // It answers for its own record.
                true => self.message(Stage::Log, HEADER),
                false => self.ask(Stage::Log, *holder, self.record_for(*holder), 0),
            }
        }
        for primary in &shards {
            let has_record = holders.contains(primary) || shipped_to == Some(*primary);
            let record = if has_record { 0 } else { self.record_for(*primary) };
            self.ask(Stage::Primary, *primary, record, 0);
        }
        self.release(&shards, shipped_to);
        let keeps_own = shards.iter().any(|shard| *shard != own && self.replicates(own, *shard));
        let mut with_record = [holders.clone(), shards.clone()].concat();
        with_record.extend(keeps_own.then_some(own));
        with_record.sort_unstable();
        with_record.dedup();
        // A record of one shard is applied before its commit, and each is told.
        let twice = shards.len() == 1 && holders.contains(&shards[0]);
        for _ in 0..with_record.len() + usize::from(twice) {
            self.message(Stage::Host, APPLIED);
        }
    }

    /// Locks of nodes on which nothing changes.
    fn release(&mut self, shards: &[u16], shipped_to: Option<u16>) {
        let mut locked: Vec<u16> = match (shipped_to, self.locks()) {
            (Some(to), _) => vec![to],
            (None, true) => {
                let locks = self.wanted.iter().filter(|of| of.intent == Intent::Write);
                locks.map(|of| of.primary).collect()
            }
            (None, false) => Vec::new(),
        };
        locked.sort_unstable();
        locked.dedup();
        for node in locked.into_iter().filter(|node| !shards.contains(node)) {
            let stage = if shipped_to.is_some() { Stage::Primary } else { Stage::Abort };
            self.ask(stage, node, 0, 0);
        }
    }
}
