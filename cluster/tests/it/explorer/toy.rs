// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small protocol of two phases without replicas, by which the explorer itself is tested: rows are
//! locked and read at their nodes, then written and unlocked. It can be broken in two ways.

use std::collections::BTreeMap;

use cluster::engine::{
    Access, Class, Effects, Ending, Endpoint, Input, Instant, Key, Machine, Moment, Node, NodeId,
    Point, Protocol, Stage, TransactionId,
};
use cluster::transact::{Intent, Rows, Transactions, digest};

use super::script::{Script, Source, Transaction, key};
use super::subject::Subject;

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    None,
    /// A lock is granted to everybody.
    LocksBindNobody,
    /// A transaction that meets a lock forgets those that it has.
    LocksAreForgotten,
}

#[derive(Clone, Debug)]
pub struct Toy {
    pub script: Script,
    pub nodes: u16,
    pub flaw: Flaw,
}

/// The rows of a node that have been touched: value, version, and who locked it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store(BTreeMap<u64, (u64, u64, TransactionId)>);

const FREE: TransactionId = TransactionId(u64::MAX);

/// The one thread of a node, with one worker.
#[derive(Clone, Debug)]
pub struct Thread {
    toy: Toy,
    node: NodeId,
    source: Source,
    count: u32,
    input: Option<Transaction>,
    rows: Rows,
    awaited: Vec<u64>,
    refused: bool,
    writes: bool,
}

impl PartialEq for Thread {
    fn eq(&self, other: &Self) -> bool {
        self.state() == other.state()
    }
}

impl Eq for Thread {}

impl std::hash::Hash for Thread {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.state().hash(state);
    }
}

const LOCK: u8 = 0;
const WRITE: u8 = 1;
const UNLOCK: u8 = 2;
const DONE: u8 = 3;
const REFUSED: u8 = 4;

fn word(bytes: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(bytes[1 + 8 * place..9 + 8 * place].try_into().expect("eight bytes"))
}

impl Thread {
    #[allow(clippy::type_complexity)]
    fn state(&self) -> (NodeId, &Source, u32, &Option<Transaction>, &Rows, &[u64], (bool, bool)) {
        let flags = (self.refused, self.writes);
        (self.node, &self.source, self.count, &self.input, &self.rows, &self.awaited, flags)
    }

    fn name(&self) -> TransactionId {
        TransactionId::new(self.node, 0, 0, self.count)
    }

    fn request(&mut self, kind: u8, row: u64, value: u64, out: &mut Effects) {
        let to = Endpoint::host(NodeId((row % u64::from(self.toy.nodes)) as u16), 0);
        let stage = [Stage::Execute, Stage::Primary, Stage::Abort][usize::from(kind)];
        let id = self.name().0;
        out.send(to, Class::Foreground, stage, |bytes| {
            bytes.push(kind);
            [row, id, value].iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        });
        self.awaited.push(row);
    }

    fn begin(&mut self, again: bool, out: &mut Effects) {
        if !again {
            self.input = self.toy.script.draw(&mut self.source);
        }
        let Some(input) = self.input.clone() else {
            return out.tell(Moment::Rests { worker: 0 });
        };
        self.rows.clear();
        (self.refused, self.writes) = (false, false);
        out.tell(Moment::Begun { transaction: self.name(), kind: 0, again });
        for (row, _) in &input.deeds {
            self.request(LOCK, *row, 0, out);
        }
    }

    fn serve(&self, store: &mut Store, from: Endpoint, bytes: &[u8], out: &mut Effects) {
        let (row, id, value) = (word(bytes, 0), TransactionId(word(bytes, 1)), word(bytes, 2));
        let slot = store.0.entry(row).or_insert((row, 0, FREE));
        let binds = self.toy.flaw != Flaw::LocksBindNobody;
        let mut kind = DONE;
        match bytes[0] {
            LOCK if slot.2 != FREE && binds => kind = REFUSED,
            LOCK => slot.2 = id,
            WRITE => *slot = (value, slot.1 + 1, FREE),
            _ => slot.2 = FREE,
        }
        let words = [row, slot.0, slot.1, id.0];
        let stage = [Stage::Execute, Stage::Primary, Stage::Abort][usize::from(bytes[0])];
        out.send(from, Class::Foreground, stage, |answer| {
            answer.push(kind);
            words.iter().for_each(|word| answer.extend_from_slice(&word.to_le_bytes()));
        });
    }

    fn answer(&mut self, bytes: &[u8], out: &mut Effects) {
        let row = word(bytes, 0);
        if word(bytes, 3) != self.name().0 || !self.awaited.contains(&row) {
            return;
        }
        self.awaited.retain(|other| *other != row);
        let is_reading = !self.refused || self.rows.all().len() < 9;
        if bytes[0] == REFUSED {
            self.refused = true;
        } else if !self.writes && is_reading {
            let value = word(bytes, 1).to_le_bytes();
            self.rows.fetched(key(row), Intent::Write, word(bytes, 2), Some(&value));
        }
        if self.awaited.is_empty() {
            self.proceed(out);
        }
    }

    /// All answers are there.
    fn proceed(&mut self, out: &mut Effects) {
        let transaction = self.name();
        let locked: Vec<u64> = self.rows.all().iter().map(|row| row.key.row).collect();
        match (self.refused, self.writes) {
            (true, false) if !locked.is_empty() && self.toy.flaw != Flaw::LocksAreForgotten => {
                self.writes = true;
                locked.iter().for_each(|row| self.request(UNLOCK, *row, 0, out));
            }
            (true, _) => {
                out.tell(Moment::Ended { transaction, ending: Ending::AbortedByLock });
                self.count += 1;
                self.begin(true, out);
            }
            (false, false) => self.write(out),
            (false, true) => {
                out.tell(Moment::Ended { transaction, ending: Ending::Committed });
                self.count += 1;
                self.begin(false, out);
            }
        }
    }

    fn write(&mut self, out: &mut Effects) {
        let input = self.input.clone().expect("a transaction is under way");
        self.toy.script.run(&input, &mut self.rows).expect("all rows are there");
        let rows = self.rows.clone();
        let access = |row: &cluster::transact::Row, writes| Access {
            key: row.key,
            version: row.version + u64::from(writes),
            digest: if writes { digest(rows.value_of(row)) } else { row.digest },
            writes,
        };
        let reads = rows.all().iter().map(|row| access(row, false));
        let writes = rows.all().iter().filter(|row| row.change().is_some());
        let accesses = reads.chain(writes.map(|row| access(row, true)));
        out.tell_committing(self.name(), Point::Now, accesses);
        self.writes = true;
        for row in rows.all() {
            let value = rows.value_of(row).expect("rows are there");
            let value = u64::from_le_bytes(value.try_into().expect("eight bytes"));
            self.request(WRITE, row.key.row, value, out);
        }
    }
}

impl Machine for Thread {
    type Shared = Store;

    fn burst(&mut self, store: &mut Store, _: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        for input in inputs {
            match input {
                Input::Begin { .. } => self.begin(false, out),
                Input::Message { from, bytes } if bytes[0] <= UNLOCK => {
                    self.serve(store, *from, bytes, out);
                }
                Input::Message { bytes, .. } => self.answer(bytes, out),
                _ => {}
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

impl Protocol for Toy {
    type Machine = Thread;

    fn nodes(&self) -> u16 {
        self.nodes
    }

    fn start(&self, node: NodeId) -> Node<Thread> {
        let thread = Thread {
            toy: self.clone(),
            node,
            source: self.script.source(u32::from(node.0)),
            count: 0,
            input: None,
            rows: Rows::new(),
            awaited: Vec::new(),
            refused: false,
            writes: false,
        };
        Node { shared: Store::default(), parts: vec![thread] }
    }

    fn restart(&self, node: NodeId, kept: Store) -> Node<Thread> {
        Node { shared: kept, ..self.start(node) }
    }

    fn manager(&self) -> Option<Node<Thread>> {
        None
    }

    fn check_at_rest(&self, up: &[(NodeId, &Node<Thread>)]) -> Result<(), String> {
        let locked = |(id, node): &(NodeId, &Node<Thread>)| {
            let locked = node.shared.0.iter().find(|(_, slot)| slot.2 != FREE);
            locked.map(|(row, slot)| format!("row {row} at {id:?} is locked by {:?}", slot.2))
        };
        up.iter().find_map(locked).map_or(Ok(()), Err)
    }
}

impl Subject for Toy {
    fn workers(&self) -> Vec<(Endpoint, u8)> {
        (0..self.nodes).map(|node| (Endpoint::host(NodeId(node), 0), 0)).collect()
    }

    fn rows(&self) -> BTreeMap<Key, u64> {
        self.script.initial_digests()
    }

    fn replicas(&self, up: &[(NodeId, &Node<Thread>)], key: Key) -> Vec<(NodeId, u64)> {
        let owner = NodeId((key.row % u64::from(self.nodes)) as u16);
        let node = up.iter().find(|(id, _)| *id == owner).map(|(_, node)| node);
        let value = node.map(|node| node.shared.0.get(&key.row).map_or(key.row, |slot| slot.0));
        value.map(|value| (owner, digest(Some(&value.to_le_bytes())))).into_iter().collect()
    }

    fn renews(&self, _: Stage, _: &[u8]) -> bool {
        false
    }

    fn is_settled(&self, _: &[(NodeId, &Node<Thread>)], _: &[NodeId]) -> bool {
        true
    }
}
