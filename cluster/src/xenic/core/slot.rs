// SPDX-License-Identifier: MIT OR Apache-2.0
//! A slot: one transaction that a core coordinates.

use super::super::Aside;
use super::super::messages::host::Head;
use super::super::messages::{Kind, Verdict};
use crate::engine::{Ending, Instant, Key, NodeId};
use crate::near;
use crate::transact::{Intent, Rows};

/// What a slot is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// It has no transaction.
    #[default]
    Free,
    /// Objects are read and locked.
    Execute,
    /// The host runs the logic.
    Host,
    /// Objects that will be written are locked, after the logic.
    LateLock,
    /// Versions are compared.
    Validate,
    /// The own keys of a transaction that will be shipped are locked and read.
    ShipOwn,
    /// Another node runs the logic, and has the changes logged.
    Ship,
    /// Records are appended.
    Log,
    /// The host was told; primaries get the changes, or give the locks back.
    Finish,
    /// Nodes are told that the last transaction is over.
    End,
    /// The view changed when changes were being logged: recovery says how the transaction ends.
    Undecided,
}

/// What a transaction that can commit will do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Goal {
    /// It changes something.
    Write,
    /// It has only read.
    #[default]
    Read,
    /// Its logic gave up.
    RollBack,
}

/// What is asked of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// To read a row.
    Read,
    /// To lock a row and read it.
    Lock,
    /// To lock a row that was read before.
    LateLock,
    /// To compare a version.
    Validate,
    /// All else: one message, of this kind.
    Message(Kind),
}

impl What {
    /// The kind of the message that asks it.
    pub fn kind(self) -> Kind {
        match self {
            Self::Read | Self::Lock => Kind::Execute,
            Self::LateLock => Kind::Lock,
            Self::Validate => Kind::Validate,
            Self::Message(kind) => kind,
        }
    }
}

/// A request to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ask {
    pub to: NodeId,
    pub what: What,
    /// The row that it is about, if it is about one.
    pub key: Key,
    /// What it is fetched for.
    pub intent: Intent,
    /// The version that it was read with.
    pub version: u32,
    /// The message that it went with; `None` if it has yet to be sent.
    pub step: Option<u8>,
    pub is_answered: bool,
}

impl Ask {
    pub fn new(to: NodeId, what: What, key: Key, intent: Intent) -> Self {
        Self { to, what, key, intent, version: 0, step: None, is_answered: false }
    }

    pub fn message(to: NodeId, kind: Kind) -> Self {
        Self::new(to, What::Message(kind), Key::default(), Intent::Read)
    }
}

/// A slot. `I` is a transaction's input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot<I> {
    pub stage: Stage,
    /// Which transaction of the slot it is.
    pub count: u32,
    /// The number of its next message.
    pub step: u8,
    /// The host's thread, and its attempt there.
    pub thread: u8,
    pub head: Head,
    /// The input, if the logic runs here.
    pub input: Option<I>,
    pub rows: Rows,
    pub asks: Vec<Ask>,
    /// How many of them have no answer yet.
    pub open: u16,
    /// Why the attempt cannot go on.
    pub failure: Option<Ending>,
    pub goal: Goal,
    /// The keys of the first round, in the order of the host.
    pub keys: Vec<(Key, Intent)>,
    /// The nodes at which it has locked something.
    pub locked: Vec<NodeId>,
    /// The nodes that may have a record of an earlier transaction of the slot, or of this one.
    pub owed: Vec<NodeId>,
    /// The holders of the record, or those that have answered although nobody has asked them from here.
    pub holders: Vec<NodeId>,
    /// How many messages have brought rows.
    pub reads: u16,
    /// The first burst in which a row came that is only read.
    pub first_read: Aside<Option<u64>>,
    /// The message whose answer by the own node is awaited before the slot is free, and not before the commit.
    pub late: Option<u8>,
    /// What became of its shipping to another node.
    pub shipped: Option<Shipped>,
    /// It was shipped to another node in vain, and is not again.
    pub stays: bool,
    /// Of one that the host has run on its own tables: the versions that it has read, and its changes.
    pub local: Option<Local>,
    /// Whether the host was told how the attempt ends.
    pub is_told: bool,
    /// When the last message was sent or an answer came.
    pub progress: Instant,
}

/// A transaction whose logic another node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shipped {
    pub to: NodeId,
    /// The message.
    pub step: u8,
    /// What the node has answered.
    pub verdict: Option<Verdict>,
    /// How many holders will answer, too.
    pub answers: u8,
}

/// What a host has done with its own tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Local {
    pub reads: Vec<(Key, u32)>,
    pub writes: Vec<u8>,
    pub number: u8,
}

impl<I> Default for Slot<I> {
    fn default() -> Self {
        Self {
            stage: Stage::Free,
            count: 0,
            step: 0,
            thread: 0,
            head: Head { worker: 0, attempt: 0 },
            input: None,
            rows: Rows::new(),
            asks: Vec::new(),
            open: 0,
            failure: None,
            goal: Goal::Read,
            keys: Vec::new(),
            locked: Vec::new(),
            owed: Vec::new(),
            holders: Vec::new(),
            reads: 0,
            first_read: Aside::default(),
            late: None,
            shipped: None,
            stays: false,
            local: None,
            is_told: false,
            progress: Instant::default(),
        }
    }
}

impl<I> Slot<I> {
    /// Asks for what the slot's next step is likely to look at.
    pub fn prefetch(&self) {
        near::fetch_start(&self.asks, 4);
        near::fetch_start(self.rows.all(), 3);
        near::fetch_start(&self.owed, 1);
        near::fetch_start(&self.holders, 1);
    }

    /// Whether nodes may have a record of its last transaction that is of no use any more.
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Whether answers are awaited.
    pub fn waits(&self) -> bool {
        self.open > 0 || self.late.is_some() || self.stage == Stage::Ship
    }

    /// Whether another node, and this one, runs the logic.
    pub fn has_shipped_to(&self, node: NodeId) -> bool {
        self.shipped.is_some_and(|shipped| shipped.to == node)
    }

    pub fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.asks.clear();
        self.open = 0;
    }

    pub fn ask(&mut self, ask: Ask) {
        self.asks.push(ask);
        self.open += 1;
    }

    /// Notes that the attempt cannot commit. The first reason counts.
    pub fn fails(&mut self, ending: Ending) {
        self.failure.get_or_insert(ending);
    }

    /// A transaction of the host begins in it.
    pub fn begin(&mut self, thread: u8, head: Head, now: Instant) {
        self.enter(Stage::Execute);
        self.count = self.count.wrapping_add(1);
        self.step = 0;
        (self.thread, self.head) = (thread, head);
        self.progress = now;
        self.goal = Goal::Read;
        self.failure = None;
        (self.stays, self.is_told) = (false, false);
    }

    /// What is done leaves nothing behind that would tell two equal states apart.
    pub fn clear(&mut self) {
        self.enter(Stage::Free);
        self.step = 0;
        (self.thread, self.head) = (0, Head { worker: 0, attempt: 0 });
        self.input = None;
        self.rows.clear();
        self.failure = None;
        self.goal = Goal::Read;
        self.keys.clear();
        self.locked.clear();
        self.holders.clear();
        self.reads = 0;
        self.first_read = Aside::default();
        (self.late, self.shipped, self.local) = (None, None, None);
        (self.stays, self.is_told) = (false, false);
    }
}
