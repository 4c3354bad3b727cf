// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of Xenic's handlers, each by itself: entries of the NIC's index in memory, messages that are read and
//! answered, records that are written and found, and the host's Robin Hood tables. Beside them, for comparison, whole
//! machines.

use std::hint::black_box;

use cluster::engine::{
    Effects, Endpoint, Input, Instant, Key, Machine as _, Node, NodeId, Operation, Outcome, Part,
    Protocol, Span, Token, TransactionId,
};
use cluster::transact;
use cluster::transact::Transactions as _;
use cluster::wire::Reader;
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, Retwis, RetwisSettings, SmallBank, SmallBankSettings, Tpcc,
    TpccSettings,
};
use cluster::xenic::log::{self, Name};
use cluster::xenic::messages::{
    Change, Changes, Header, Keys, Kind, Record, Request, Verdict, Version, Versions, put_key,
};
use cluster::xenic::{Machine, Settings, Xenic};
use nic::index::{self, Entry};
use tables::memory::AtomicMemory;
use tables::robin_hood::{RobinHood, Shape};
use tables::{RemoteTable, Table, Values, Walk as _};
use workloads::scenario::SmallBankAccess;

use super::logic::transactions;
use super::timing::{Result, Three, entry, less, now, over, print_head, runs, timed};

/// Coremark of a thread that runs alone (Xenic, Table 1): of the host, and of the NIC.
pub const HOST: f64 = 29_193.0;
const NIC: f64 = 14_294.0;

/// Messages of a burst (Xenic, section 3.3).
const BURST: usize = 64;
/// Requests of a poll whose rows are in memory: of the greatest burst, of a usual one, and alone.
const REQUESTS: [usize; 3] = [64, 16, 1];
/// Bursts of a run.
const BURSTS: usize = 500;
/// Bytes of a value.
const VALUE: usize = 16;
/// Entries of an index in memory, objects of each, and slots of a segment.
const ENTRIES: usize = 1 << 20;
const OBJECTS: usize = 8;
const SEGMENT: u32 = 4;
/// Rows that stay in the caches.
const WARM: usize = 64;
/// Rows whose objects are all in the index, and in no cache.
const COLD: usize = 1 << 20;
/// Entries of an index that the caches hold.
const FEW_ENTRIES: u32 = 1 << 10;
/// Rows of a host's table.
const ROWS: u64 = 8_000_000;
const NODES: u16 = 3;
const CORE: usize = 2;
const WORKER: usize = 1;

/// Prints the entries of `network.core` and `network.host` for Xenic's work.
pub fn print_entries(coremark: f64) -> Result<()> {
    let (core, host) = ([coremark / NIC; 2], [coremark / HOST; 2]);
    print_head();
    let parts = of_parts()?;
    let table = of_table()?;
    let small = SmallBankSettings::xenic(6, SmallBankAccess::Hot90);
    let retwis = RetwisSettings { keys: 6_000_000, exponent: 0.5, seed: 1 };
    let tpcc = TpccSettings::xenic(6, 18, 8);
    let workloads = [
        transactions("SmallBank", &SmallBank::new(small)?)?,
        transactions("Retwis", &Retwis::new(retwis)?)?,
        transactions("TPC-C new-order", &Tpcc::new_orders(tpcc)?)?,
    ];
    let begin = over(workloads.map(|found| found.0));
    let logic = over(workloads.map(|found| found.1));
    println!("# whole machines, which are not billed:");
    print_machines()?;

    let none = [0.0; 3];
    println!("\n{:<16}here: core and memory; entry: value [least, greatest]", "");
    entry("core.handle", parts.handle, core, none);
    // A key that is read is looked up twice, and one that is written three times, but only the first time in memory.
    let [least, usual, most] = parts.index_memory;
    entry("core.index", parts.index, core, [least / 3.0, usual / 2.0, most]);
    entry("core.continue", parts.go_on, core, none);
    entry("core.log", parts.log, core, none);
    entry("core.logic", logic, core, none);
    entry("host.begin", begin, host, none);
    entry("host.logic", logic, host, none);
    entry("host.apply", parts.apply, host, none);
    entry("host.look", table.look, host, table.memory);
    entry("host.write", table.write, host, none);
    entry("host.insert", table.insert, host, none);
    Ok(())
}

struct Parts {
    handle: Three,
    index: Three,
    index_memory: Three,
    go_on: Three,
    log: Three,
    apply: Three,
}

/// The entries of a NIC's index, one after the other: the entry of a segment is at its number.
struct Entries {
    entries: Vec<Entry<OBJECTS, 2>>,
    table: nic::index::Table,
}

impl Entries {
    fn new() -> Result<Self> {
        let slots = ENTRIES as u32 * SEGMENT;
        let table = nic::index::Table::new(0, slots, 32, 16, 2, ENTRIES as u32)?;
        let mut all = Self { entries: vec![Entry::default(); ENTRIES], table };
        for number in 0..ENTRIES as u64 {
            let mut fill = all.request(index::Operation::Fill, number);
            fill.version = 1;
            all.apply(&fill);
        }
        Ok(all)
    }

    fn request(&self, operation: index::Operation, number: u64) -> index::Request<2> {
        let segment = number as u32;
        let mut request = index::Request::new(operation, number, segment * SEGMENT, segment);
        request.owner = 7;
        request
    }

    fn apply(&mut self, request: &index::Request<2>) -> index::Status {
        let entry = &mut self.entries[request.segment as usize];
        entry.apply(request, &self.table, u8::MAX).status
    }
}

/// What the parts of handlers take, each by itself, as with FaSST.
fn of_parts() -> Result<Parts> {
    let mut entries = Entries::new()?;
    // A key that is written is locked, changed, and unlocked.
    let index = timed("lock, update, unlock", |time| {
        let number = tables::hash::scatter(!time) % WARM as u64;
        let lock = entries.request(index::Operation::LockAndRead, number);
        black_box(entries.apply(&lock));
        let mut update = entries.request(index::Operation::UpdateAndPin, number);
        update.version = time as u32;
        black_box(entries.apply(&update));
        black_box(entries.apply(&entries.request(index::Operation::Unpin, number)));
        black_box(entries.apply(&entries.request(index::Operation::Unlock, number)));
    });
    let index = index.map(|four| four / 4.0);
    let near = timed("look, warm", |time| {
        let number = tables::hash::scatter(!time) % WARM as u64;
        black_box(entries.apply(&entries.request(index::Operation::LookUp, number)));
    });
    let far = REQUESTS.map(|requests| {
        let far = |time: u64| tables::hash::scatter(!time) % ENTRIES as u64;
        let mut last = 0;
        let times = timed(&format!("look, {requests} in a poll"), |time| {
            let requests = requests as u64;
            if time % requests == 0 {
                for time in time..time + requests {
                    cluster::near::fetch_value(&entries.entries[(far(time) + last) as usize]);
                }
            }
            let number = (far(time) + last) % ENTRIES as u64;
            let found = entries.apply(&entries.request(index::Operation::LookUp, number));
            let is_last = time % requests == requests - 1;
            last = if is_last { black_box(found as u64) & black_box(0) } else { last };
        });
        less(times, near[1])
    });
    let mut bench = Bench::new(FEW_ENTRIES)?;
    let (handle, go_on) = of_messages(&mut bench)?;
    let (written, apply) = of_records(&mut bench)?;
    // The request is read in both.
    let log = less(written, handle[1]);
    Ok(Parts { handle, index, index_memory: [far[0][0], far[1][1], far[2][2]], go_on, log, apply })
}

/// A request is read and answered; an answer is read, and what waited for it is found.
fn of_messages(bench: &mut Bench) -> Result<(Three, Three)> {
    let tables = bench.protocol.workload().tables().to_vec();
    let requests: Vec<_> = (0..BURST)
        .map(|at| {
            let key = bench.rows[at];
            bench.validate(at, &[key])
        })
        .collect();
    let mut counts = vec![(0_u32, 0_u128); BURST];
    let mut out = Vec::with_capacity(1 << 12);
    let handle = timed("request read, answered", |time| {
        let bytes = black_box(&requests[time as usize % BURST]);
        if time % BURST as u64 == 0 {
            out.clear();
        }
        let mut reader = Reader::new(bytes);
        if let Ok(header) = Header::decode(&mut reader)
            && let Ok(Request::Validate { keys }) =
                Request::decode(header.kind, &mut reader, &tables, NODES)
        {
            let served = &mut counts[usize::from(header.slot) % BURST];
            let bit = 1 << header.step;
            if served.0 != header.count || served.1 & bit == 0 {
                *served = (header.count, served.1 | bit);
            }
            black_box(keys.iter().next());
            header.answer().encode(&mut out);
            out.push(0);
        }
        black_box(&out);
    });
    let answers: Vec<Vec<u8>> = requests
        .iter()
        .map(|bytes| {
            let mut answer = Vec::new();
            if let Ok(header) = Header::decode(&mut Reader::new(bytes)) {
                header.answer().encode(&mut answer);
            }
            answer.push(0);
            answer
        })
        .collect();
    let mut waiting: Vec<Option<(u32, u32)>> = vec![None; BURST];
    let go_on = timed("answer read, waiter found", |time| {
        let place = time as usize % BURST;
        waiting[place] = Some(black_box((time as u32, 1)));
        let mut reader = Reader::new(black_box(&answers[place]));
        if let Ok(header) = Header::decode(&mut reader) {
            let waiter = waiting[usize::from(header.slot) % BURST].take();
            black_box((waiter, Verdict::decode(&mut reader).is_ok()));
        }
    });
    Ok((handle, go_on))
}

/// A record is read, and written to a log; a log worker finds and reads it.
fn of_records(bench: &mut Bench) -> Result<(Three, Three)> {
    let tables = bench.protocol.workload().tables().to_vec();
    let settings = bench.protocol.settings().clone();
    let bytes = bench.log(0, 1, 0);
    let mut out = Vec::with_capacity(256);
    let owner = u16::from(settings.cores) * settings.slots;
    let written = timed("record read, written", |time| {
        out.clear();
        let mut reader = Reader::new(black_box(&bytes));
        if let Ok(header) = Header::decode(&mut reader)
            && let Ok(Request::Log { record }) =
                Request::decode(header.kind, &mut reader, &tables, NODES)
        {
            let name = Name { owner, count: time as u32 };
            let entry = log::Entry::Record { name, is_committed: false, record };
            log::Write { view: 1, entry }.encode(std::iter::empty(), &mut out);
        }
        black_box(&out);
    });
    let mut core_log = log::CoreLog::new(0, &settings);
    let apply = runs("record found, read", |run| {
        let mut took = 0.0;
        for burst in 0..BURSTS {
            let first = (run as usize * BURSTS + burst) * BURST;
            for slot in 0..BURST {
                let mut reader = Reader::new(&bytes);
                let header = Header::decode(&mut reader).expect("it was encoded here");
                let request = Request::decode(header.kind, &mut reader, &tables, NODES);
                if let Ok(Request::Log { record }) = request {
                    let name = Name { owner: owner + slot as u16, count: first as u32 + 1 };
                    core_log.land(&log::Entry::Record { name, is_committed: true, record }, &[]);
                }
            }
            let begin = now();
            while let Some(task) = core_log.next(false) {
                let record = Record::kept(&core_log.cell(task.cell).record);
                black_box(record.map(|record| record.changes.iter(&tables).count()));
            }
            took += now() - begin - bench.clock;
        }
        took / (BURSTS * BURST) as f64
    });
    Ok((written, apply))
}

/// What whole machines take, with all that keeps them pure, checked and safe: for comparison.
fn print_machines() -> Result<()> {
    let mut bench = Bench::new(1 << 22)?;
    let cold = bench.rows.len();
    for rows in 0..cold.div_ceil(BURST) {
        let messages: Vec<_> = (0..BURST)
            .map(|at| bench.execute(at, &[bench.rows[(rows * BURST + at) % cold]]))
            .collect();
        bench.serve(&messages);
    }
    for keys in [1, 4] {
        runs(&format!("VALIDATE, {keys} keys, warm"), |run| {
            bench.mean(run, |bench, time| {
                let of = |at: usize| bench.rows[(time * keys + at) % WARM];
                let keys: Vec<_> = (0..keys).map(of).collect();
                bench.validate(time % BURST, &keys)
            })
        });
    }
    for requests in REQUESTS {
        bench.requests = requests;
        runs(&format!("VALIDATE, {requests} in a poll"), |run| {
            bench.mean(run, |bench, time| {
                let key = bench.rows[tables::hash::scatter(!(time as u64)) as usize % cold];
                bench.validate(time % BURST, &[key])
            })
        });
    }
    // In an index that is full, so that each new entry takes the memory of one that is forgotten.
    let mut bench = Bench::new(FEW_ENTRIES)?;
    let mut fresh = bench.fresh();
    runs("EXECUTE, 1 key, by DMA", |run| {
        bench.mean(run, |bench, time| {
            let key = fresh.next().expect("keys have no end");
            bench.execute(time % BURST, &[key])
        })
    });
    let mut applied = Vec::new();
    runs("LOG, 1 change", |run| {
        let (logged, took) = bench.log_run(run, 1);
        applied.push(took);
        logged
    });
    let mut applied = applied.into_iter();
    runs("applied, 1 change", |_| applied.next().unwrap_or(0.0));
    Ok(())
}

/// Core 0 of node 0, to which core 0 of node 1 sends.
struct Bench {
    node: Node<Machine<ObjectStore>>,
    out: Effects,
    now: Instant,
    /// Rows whose primary is node 0.
    rows: Vec<Key>,
    /// Transactions of each slot of the sender.
    counts: Vec<u32>,
    protocol: Xenic<ObjectStore>,
    clock: f64,
    /// Messages that one poll brings.
    requests: usize,
}

impl Bench {
    fn new(entries: u32) -> Result<Self> {
        let settings = Settings {
            nodes: NODES,
            cores: 1,
            slots: BURST as u16,
            index_entries: entries,
            ..Settings::default()
        };
        let store = ObjectStore::new(ObjectStoreSettings {
            reads: 1,
            writes: 0,
            objects: 1 << 30,
            value_bytes: VALUE as u16,
            partitions: NODES,
            apart: true,
            seed: 1,
        })?;
        let protocol = Xenic::new(settings, store)?;
        let node = protocol.start(NodeId(0));
        let mut bench = Self {
            node,
            out: Effects::new(),
            now: Instant::from_ps(1_000_000),
            rows: Vec::new(),
            counts: vec![0; BURST],
            protocol,
            clock: 0.0,
            requests: BURST,
        };
        bench.rows = bench.own_keys(0).take(COLD).collect();
        // What it takes to look at the clock twice.
        let mut looks: Vec<f64> = (0..1000).map(|_| -now() + now()).collect();
        looks.sort_by(f64::total_cmp);
        bench.clock = looks[looks.len() / 2];
        Ok(bench)
    }

    fn own_keys(&self, from: u64) -> impl Iterator<Item = Key> + use<> {
        let layout = self.protocol.layout().clone();
        let keys = (from..).map(|row| Key { table: cluster::engine::TableNumber(0), row });
        keys.filter(move |key| layout.partition_of(*key).0 == 0)
    }

    /// Rows that nobody has asked for.
    fn fresh(&self) -> impl Iterator<Item = Key> + use<> {
        self.own_keys(self.rows.last().map_or(0, |key| key.row + 1))
    }

    /// A message of the next transaction of a slot.
    fn message(&mut self, slot: usize, kind: Kind, request: &Request<'_>) -> Vec<u8> {
        self.counts[slot] += 1;
        let (slot, count) = (slot as u16, self.counts[slot]);
        let view = self.node.shared.view();
        let header = Header { view, kind, is_answer: false, step: 0, slot, count };
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        request.encode(&mut bytes);
        bytes
    }

    fn execute(&mut self, slot: usize, keys: &[Key]) -> Vec<u8> {
        let mut bytes = Vec::new();
        keys.iter().for_each(|key| put_key(*key, &mut bytes));
        let request = Request::Execute { reads: Keys::new(&bytes), locks: Keys::new(&[]) };
        self.message(slot, Kind::Execute, &request)
    }

    fn validate(&mut self, slot: usize, keys: &[Key]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for key in keys {
            let found = self.node.shared.host.store.read(*key, &mut Vec::new());
            let number = found.map_or(0, |found| found.version as u32);
            put_key(*key, &mut bytes);
            Version { number, present: true, to_write: false }.encode(&mut bytes);
        }
        self.message(slot, Kind::Validate, &Request::Validate { keys: Versions::new(&bytes) })
    }

    fn log(&mut self, slot: usize, changes: usize, time: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in 0..changes {
            let key = self.rows[(time * changes + at) % WARM];
            let found = self.node.shared.host.store.read(key, &mut Vec::new());
            let fetched = found.map_or(0, |found| found.version as u32);
            let change = transact::Change::Update;
            Change { key, change, fetched, value: &[7; VALUE] }.encode(&mut bytes);
        }
        let changes = Changes { number: changes as u8, bytes: &bytes };
        let by = TransactionId::new(NodeId(1), 0, slot as u8, self.counts[slot] + 1);
        let record = Record::new(by, 1, &[], changes);
        self.message(slot, Kind::Log, &Request::Log { record })
    }

    /// The mean time of the messages of a run, each with all that its memory operations bring.
    fn mean(&mut self, run: u64, mut message: impl FnMut(&mut Self, usize) -> Vec<u8>) -> f64 {
        let mut took = 0.0;
        for burst in 0..BURSTS {
            let first = (run as usize * BURSTS + burst) * BURST;
            let messages: Vec<_> = (first..first + BURST).map(|time| message(self, time)).collect();
            took += messages.chunks(self.requests).map(|poll| self.serve(poll)).sum::<f64>();
        }
        took / (BURSTS * BURST) as f64
    }

    /// Serves LOG requests and has their records applied: the mean time of the core and of the log worker.
    fn log_run(&mut self, run: u64, changes: usize) -> (f64, f64) {
        let (mut logged, mut applied) = (0.0, 0.0);
        for burst in 0..BURSTS {
            let first = (run as usize * BURSTS + burst) * BURST;
            let messages: Vec<_> = (0..BURST).map(|at| self.log(at, changes, first + at)).collect();
            logged += self.serve(&messages);
            let begin = now();
            self.part(WORKER, &[]);
            applied += now() - begin - self.clock;
            let told = self.out.sends().iter();
            let told: Vec<_> = told.map(|send| self.out.bytes_of(&send.bytes).to_vec()).collect();
            let from = Endpoint::host(NodeId(0), WORKER as u8);
            logged += self.timed_burst(from, &told);
        }
        let messages = (BURSTS * BURST) as f64;
        (logged / messages, applied / messages)
    }

    fn part(&mut self, place: usize, inputs: &[Input<'_>]) {
        self.now = self.now + Span::from_ns(1);
        self.out.clear();
        let Node { shared, parts } = &mut self.node;
        parts[place].burst(shared, self.now, inputs, &mut self.out);
    }

    fn timed_burst(&mut self, from: Endpoint, messages: &[Vec<u8>]) -> f64 {
        let inputs: Vec<_> = messages.iter().map(|bytes| Input::Message { from, bytes }).collect();
        let begin = now();
        self.part(CORE, &inputs);
        now() - begin - self.clock
    }

    /// What the hardware does for a memory operation.
    fn access(&mut self, operation: Operation, bytes: &[u8]) -> Vec<u8> {
        let mut read = Vec::new();
        let is_there = match operation {
            Operation::Read { at, length } => self.node.shared.read_host(at, length, &mut read),
            Operation::Write { at } => self.node.shared.write_host(at, bytes),
            _ => false,
        };
        assert!(is_there, "{operation:?} has no memory");
        read
    }

    /// The time that a burst of messages takes, and all that its memory operations bring.
    fn serve(&mut self, messages: &[Vec<u8>]) -> f64 {
        let from = Endpoint { node: NodeId(1), part: Part::NicCore(0) };
        let mut took = self.timed_burst(from, messages);
        loop {
            let operations: Vec<(Token, Operation, Vec<u8>)> = (self.out.operations().iter())
                .map(|of| (of.token, of.operation, self.out.bytes_of(&of.bytes).to_vec()))
                .collect();
            if operations.is_empty() {
                return took;
            }
            let done: Vec<_> = operations
                .iter()
                .map(|(token, of, bytes)| (*token, self.access(*of, bytes)))
                .collect();
            let inputs = done.iter().map(|(token, bytes)| Input::Completed {
                token: *token,
                outcome: Outcome::Done,
                bytes,
            });
            let inputs: Vec<_> = inputs.collect();
            let begin = now();
            self.part(CORE, &inputs);
            took += now() - begin - self.clock;
        }
    }
}

struct OfTable {
    look: Three,
    memory: Three,
    write: Three,
    insert: Three,
}

/// The host's table, nine tenths full, in memory.
fn of_table() -> Result<OfTable> {
    let shape = Shape {
        slots: (ROWS * 10 / 9) as u32,
        limit: Some(16),
        segment: 4,
        overflow_slots: (ROWS / 10) as u32,
        values: Values::inline(VALUE),
    };
    let geometry = RobinHood::new(shape)?;
    let table = Table::new(geometry, AtomicMemory::allocated(geometry.ground().words()))?;
    let key = |row: u64| tables::hash::scatter(row + 1) >> 1;
    for row in 0..ROWS {
        table.insert(key(row), &[7; VALUE])?;
    }
    let far = |time: u64| tables::hash::scatter(!time) % ROWS;
    let mut bytes = Vec::with_capacity(64);
    let warm = timed("host look, warm", |time| {
        bytes.clear();
        black_box(table.get(key(far(time) % WARM as u64), &mut bytes));
    });
    let memory = timed("host look, memory", |time| {
        bytes.clear();
        black_box(table.get(key(far(time)), &mut bytes));
    });
    let mut last = 0;
    let chained = timed("host look, in turn", |time| {
        bytes.clear();
        black_box(table.get(key((far(time) + last) % ROWS), &mut bytes));
        last = u64::from(black_box(bytes[0])) & black_box(0);
    });
    let update = timed("host update, warm", |time| {
        black_box(table.update(key(far(time) % WARM as u64), &[8; VALUE]).is_ok());
    });
    let insert = timed("host insert and delete", |time| {
        let key = key(ROWS + time);
        black_box(table.insert(key, &[9; VALUE]).is_ok());
        black_box(table.delete(key).is_ok());
    });
    let (near, far) = (less(memory, warm[1]), less(chained, warm[1]));
    Ok(OfTable {
        look: warm,
        memory: [near[0], near[1], far[2]],
        write: less(update, warm[1]),
        insert: less(insert, 2.0 * warm[1]).map(|both| both / 2.0),
    })
}
