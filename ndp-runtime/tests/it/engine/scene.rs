// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store, a board beside it, and jobs that run there.

use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::files::{Files, Memory};
use lockdb::near_data::PageReservation;
use lockdb::schema::{RowRef, Schema, Type, Value};
use lockdb::shared_state::SharedState;
use lockdb::{Database, Durability, Isolation, Options, Table, TransactionOptions};
use locks::Timestamp;
use ndp_runtime::engine::{Engine, Mutant, Stepped};
use ndp_runtime::job::{
    Descriptor, Entry, FaultEntry, JobCompletion, ResultChunk, Span, Statistics, Status,
    Submission, Task, TopUp, Update, UpdateEntry, reservation,
};
use ndp_runtime::program::{
    CompiledUpdate, Evaluation, Group, Outputs, Program, apply, compile_update, evaluate,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::card::TestCard;

/// The transaction that a device works for.
pub const DEVICE: Timestamp = Timestamp::new(1 << 47).unwrap();

/// The first logical page that is reserved, and the first physical one.
pub const RESERVED: (u64, u64) = (1 << 40, 1 << 20);

pub fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn accounts() -> Schema {
    Schema::builder("account")
        .column("id", Type::Int64)
        .column("region", Type::Int64)
        .nullable_column("balance", Type::Int64)
        .column("rate", Type::Float64)
        .nullable_column("note", Type::Text)
        .primary_key(&["id"])
        .build()
        .unwrap()
}

pub const OPTIONS: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

/// An entry of a result set, kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Update(UpdateEntry),
    Fault(FaultEntry),
    Row { vid: u32, values: Vec<Option<u64>>, payload: Vec<u8> },
    Group(Group),
}

/// How a job went.
#[derive(Debug)]
pub struct Outcome {
    pub status: Status,
    pub detail: u64,
    pub entries: Vec<Found>,
    pub statistics: Statistics,
    pub chunks: u32,
    pub text: String,
}

impl Outcome {
    pub fn updates(&self) -> impl Iterator<Item = UpdateEntry> + '_ {
        self.entries.iter().filter_map(|entry| match entry {
            Found::Update(entry) => Some(*entry),
            _ => None,
        })
    }
}

/// The buffer space of a job.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes of each result buffer; 0: as few as can be.
    pub result: u64,
    /// Pages reserved at a time.
    pub reservations: u32,
}

pub const PLENTY: Room = Room { result: 1 << 16, reservations: 64 };

pub struct Scene {
    pub files: Memory,
    pub store: Database,
    pub table: Arc<Table>,
    pub card: TestCard,
    pub engine: Engine,
    pub reserved: u64,
    pub identifier: u16,
    /// Areas that jobs work with: as long as one lives, its pages stay in place.
    states: Vec<SharedState>,
}

impl Scene {
    /// A store of so many accounts, some on storage, some in the shared state alone.
    pub fn new(seed: u64, rows: i64) -> Self {
        Self::with_options(seed, rows, Options::small())
    }

    pub fn with_options(seed: u64, rows: i64, options: Options) -> Self {
        let files = Memory::new();
        let store = Database::open_in(Arc::new(files.clone()), options).unwrap();
        let table = store.create_table(accounts()).unwrap();
        let mut random = random(seed);
        let mut session = store.session().unwrap();
        for half in 0..2 {
            let mut transaction = session.begin(OPTIONS);
            for id in (0..rows).filter(|id| id % 2 == half) {
                let row = account(id, &mut random);
                transaction.insert(&table, &row).unwrap();
            }
            transaction.commit().unwrap();
            if half == 0 {
                store.checkpoint().unwrap();
            }
        }
        // Chains of several versions, and deleted rows.
        for _ in 0..2 {
            let mut transaction = session.begin(OPTIONS);
            for id in 0..rows {
                match random.random_range(0..8) {
                    0..3 => {
                        let balance = random.random_range(-50..150_i64);
                        let change = |row: &mut lockdb::schema::RowBuffer| {
                            row.set(2, balance).map_err(lockdb::Error::from)
                        };
                        transaction.update(&table, &id, change).unwrap();
                    }
                    3 => drop(transaction.delete(&table, &id).unwrap()),
                    _ => {}
                }
            }
            transaction.commit().unwrap();
        }
        drop(session);
        let pages = files.open("pages").unwrap();
        let card = TestCard::new(store.clone(), pages, random);
        let engine = Engine::new();
        Self { files, store, table, card, engine, reserved: 0, identifier: 0, states: Vec::new() }
    }

    pub fn plant(&mut self, mutant: Option<Mutant>) {
        self.engine.plant(mutant);
    }

    /// All rows that a snapshot of now sees.
    pub fn rows(&self) -> Vec<Vec<u8>> {
        let mut session = self.store.session().unwrap();
        let mut transaction = session.begin(OPTIONS);
        let mut rows = Vec::new();
        let visit = |row: RowRef<'_>| {
            rows.push(row.payload().to_vec());
            ControlFlow::Continue(())
        };
        transaction.scan(&self.table, visit).unwrap();
        transaction.rollback().unwrap();
        rows
    }

    /// The rows of now that qualify, with what the program makes of them.
    pub fn qualifying(&self, program: &Program) -> Vec<(Vec<u8>, Outputs)> {
        let mut rows = Vec::new();
        for payload in self.rows() {
            let mut outputs = Outputs::default();
            if evaluate(program, &payload, &mut outputs) == Ok(Evaluation::Passes) {
                rows.push((payload, outputs));
            }
        }
        rows
    }

    /// A descriptor for a snapshot of now.
    pub fn descriptor(&mut self, program: &Program, task: Task, room: Room) -> Descriptor {
        let state = self.store.shared_state().unwrap();
        let shared_state = self.card.put(state.bytes());
        let bytes = room.result.max(task.least_result_bytes());
        let descriptor = Descriptor {
            table: self.table.id(),
            snapshot: state.snapshot(),
            shared_state,
            result: self.card.allocate(bytes),
            elements: 3,
            program: program.encode(),
            task,
        };
        self.states.push(state);
        descriptor
    }

    /// The update of a predicate and assignments, as a task.
    pub fn update(&mut self, update: &CompiledUpdate, isolation: Isolation, room: Room) -> Update {
        let reservations = self.reserve(room.reservations);
        Update {
            isolation,
            timestamp: DEVICE,
            locks: self.card.lock_table(),
            vid_map: self.card.vid_map(),
            reservations: reservations.address,
            reservation_count: room.reservations,
            lock_wait: 1_000_000,
            poll_interval: 500,
            rows: 64,
            assignments: update.assignments.clone(),
        }
    }

    /// More pages, in host memory.
    pub fn reserve(&mut self, count: u32) -> Span {
        let epoch = self.store.shared_state().unwrap().epoch();
        let mut bytes = Vec::new();
        for _ in 0..count {
            bytes.extend(reservation::encode_all(&[reservation(self.reserved, epoch)]));
            self.reserved += 1;
        }
        self.card.put(&bytes)
    }

    /// Hands a submission to the engine; gives its identifier.
    pub fn submit(&mut self, submission: Submission) -> u16 {
        self.identifier = self.identifier.wrapping_add(1);
        self.engine.submit(Submission { identifier: self.identifier, ..submission });
        self.identifier
    }

    /// One step, some time later.
    pub fn step(&mut self) -> Stepped {
        self.card.time += 100;
        self.engine.step(&mut self.card)
    }

    /// Goes on until the next completion.
    pub fn completion(&mut self) -> JobCompletion {
        for _ in 0..200_000 {
            if let Some(completion) = self.engine.completion() {
                return completion;
            }
            self.step();
        }
        panic!("no completion within 200000 steps");
    }

    /// Runs one submission to its completion.
    pub fn run(&mut self, submission: Submission) -> JobCompletion {
        let identifier = self.submit(submission);
        let completion = self.completion();
        assert_eq!(completion.identifier, identifier);
        completion
    }

    /// Begins a job; gives the Begin's identifier.
    pub fn begin(&mut self, job: u32, descriptor: &Descriptor) -> u16 {
        let bytes = descriptor.encode();
        let span = self.card.put(&bytes);
        self.submit(Submission::begin(job, span.address, span.bytes))
    }

    /// Runs a job to its end, with more room whenever it asks for it.
    pub fn finish(&mut self, job: u32, descriptor: &Descriptor, room: Room) -> Outcome {
        self.begin(job, descriptor);
        self.drain(job, descriptor, room)
    }

    /// The same for a job that was begun.
    pub fn drain(&mut self, job: u32, descriptor: &Descriptor, room: Room) -> Outcome {
        let mut result = descriptor.result;
        let mut outcome = Outcome {
            status: Status::Done,
            detail: 0,
            entries: Vec::new(),
            statistics: Statistics::default(),
            chunks: 0,
            text: String::new(),
        };
        loop {
            let completion = self.completion();
            let span = Span { bytes: completion.bytes.into(), ..result };
            let bytes = self.card.bytes(span).to_vec();
            (outcome.status, outcome.detail) = (completion.status, completion.detail);
            match completion.status {
                Status::BadProgram | Status::Storage | Status::Aggregation => {
                    outcome.text = String::from_utf8(bytes).unwrap();
                    return outcome;
                }
                Status::BadDescriptor | Status::HostMemory => return outcome,
                _ => {}
            }
            let chunk = ResultChunk::verified(&bytes).unwrap();
            assert_eq!((chunk.header().job, chunk.header().chunk), (job, outcome.chunks));
            outcome.chunks += 1;
            outcome.statistics = chunk.statistics();
            outcome.entries.extend(chunk.entries().map(keep));
            assert_eq!(chunk.is_last(), completion.status != Status::More);
            if completion.status != Status::More {
                return outcome;
            }
            result = self.card.allocate(result.bytes);
            let count = if chunk.wants_reservations() { room.reservations.max(1) } else { 0 };
            let reservations = self.reserve(count);
            let chunk = outcome.chunks;
            let top_up = TopUp {
                chunk,
                result,
                reservations: reservations.address,
                reservation_count: count,
            };
            let span = self.card.put(&top_up.encode());
            self.submit(Submission::resume(job, span.address, span.bytes));
        }
    }

    /// What an update makes of the rows that qualify now: old payloads and new ones, sorted.
    pub fn expected(&self, update: &CompiledUpdate) -> Vec<(Vec<u8>, Vec<u8>)> {
        let schema = self.table.schema();
        let mut row = lockdb::schema::RowBuffer::new(schema);
        let qualifying = self.qualifying(&update.program).into_iter();
        let pairs = qualifying.map(|(old, outputs)| {
            apply(&update.assignments, schema, &old, &outputs, &mut row).unwrap();
            (old, row.bytes().to_vec())
        });
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort();
        pairs
    }

    pub fn compile(&self, predicate: &str, assignments: &str) -> CompiledUpdate {
        let schema = self.table.schema();
        compile_update(self.table.id(), schema, Some(predicate), assignments).unwrap()
    }
}

/// The reservation of this number.
pub fn reservation(number: u64, epoch: u64) -> PageReservation {
    let place = lockdb::layout::Place::new(RESERVED.1 + number, epoch);
    PageReservation { page: RESERVED.0 + number, place: place.word() }
}

fn account(id: i64, random: &mut ChaCha8Rng) -> [Value; 5] {
    let balance = match random.random_range(0..6) {
        0 => Value::Null,
        _ => random.random_range(-50..150_i64).into(),
    };
    let note = match random.random_range(0..3) {
        0 => Value::Null,
        _ => "seen ".repeat(random.random_range(0..40)).into(),
    };
    let rate = f64::from(random.random_range(0..100_u32)) / 8.0;
    [id.into(), random.random_range(0..5_i64).into(), balance, rate.into(), note]
}

fn keep(entry: Entry<'_>) -> Found {
    match entry {
        Entry::Update(entry) => Found::Update(entry),
        Entry::Fault(entry) => Found::Fault(entry),
        Entry::Group(entry) => Found::Group(entry.group()),
        Entry::Row(row) => Found::Row {
            vid: row.head.vid,
            values: (0..usize::from(row.head.values)).map(|output| row.value(output)).collect(),
            payload: row.payload.to_vec(),
        },
    }
}
