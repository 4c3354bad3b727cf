// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of a job.

use lockdb::Isolation;
use lockdb::schema::{MAX_PAYLOAD, Type};
use locks::Timestamp;

use super::error::{Check, JobError, checksum};
use super::reservation::check_reservations;
use super::{ChunkHeader, GroupEntry, RowHead, UpdateEntry, assignment};
use crate::program::{Aggregate, Assignment, Program};

layout! {
    /// The fixed part of a [`Descriptor`]. Behind it the image of the program, 1,088 bytes, then the
    /// assignments.
    pub struct DescriptorHeader: 192 {
        /// [`DescriptorHeader::MAGIC`].
        pub magic: u32,
        /// [`DescriptorHeader::VERSION`].
        pub version: u16,
        /// A [`Kind`].
        pub kind: u8,
        /// Update: 0 READ COMMITTED, 1 SNAPSHOT, 2 SERIALIZABLE.
        pub isolation: u8,
        /// CRC-32C of all bytes before and after this field, to the descriptor's end.
        pub checksum: u32,
        /// Bytes of the descriptor.
        pub length: u32,
        /// The table.
        pub table: u32,
        /// Bit 0, Select: whole payloads are wanted.
        pub flags: u32,
        /// The snapshot.
        pub snapshot: u64,
        /// Address of the shared state.
        pub shared_state: u64,
        /// Its bytes.
        pub shared_state_bytes: u64,
        /// Address of the result buffer.
        pub result: u64,
        /// Its bytes.
        pub result_bytes: u64,
        /// Processing elements that the VID map is divided among, 1 to 64.
        pub elements: u16,
        /// Update: rows under way at a time, 1 to 64.
        pub rows: u16,
        /// Bytes of the assignments.
        pub assignment_bytes: u32,
        /// Update: the transaction's timestamp in the lock table.
        pub timestamp: u64,
        /// Update: address of the lock table.
        pub lock_table: u64,
        /// Update: it has two to the power of this many buckets.
        pub lock_log2_buckets: u32,
        /// Update: how many [`PageReservation`](lockdb::near_data::PageReservation)s there are.
        pub reservation_count: u32,
        /// Update: their address.
        pub reservations: u64,
        /// Update: address of the host's VID map of the table, one word a VID.
        pub vid_map: u64,
        /// Update: its bytes.
        pub vid_map_bytes: u64,
        /// Update: nanoseconds that a row waits for its lock, at most.
        pub lock_wait: u64,
        /// Update: nanoseconds between two polls of a lock that is waited for.
        pub poll_interval: u64,
        /// Aggregate of output 0: 1 count, 2 sum, 3 least, 4 greatest.
        pub aggregate: u8,
        /// Aggregate: type of output 0: 1 Int64, 2 Float64, 3 Bool, 4 Fixed.
        pub value_type: u8,
        /// Of Fixed its length, else zero.
        pub value_length: u16,
        /// Aggregate: type of output 1, which is what to group by; 0: one group.
        pub group_type: u8,
        /// Zero.
        pub reserved_byte: u8,
        /// Of Fixed its length, else zero.
        pub group_length: u16,
        /// Aggregate: the most groups there may be.
        pub groups: u32,
        /// Zero.
        pub reserved_half: u32,
        /// Zero.
        pub reserved: [u64; 5],
    }
}

impl DescriptorHeader {
    /// "LKJB".
    pub const MAGIC: u32 = u32::from_le_bytes(*b"LKJB");
    /// The version of this layout.
    pub const VERSION: u16 = 1;
    /// Bit of `flags`: whole payloads are wanted.
    pub const PAYLOADS: u32 = 1;
    /// The most groups that a device keeps.
    pub const MOST_GROUPS: u32 = 1 << 20;
}

/// The kind of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Changes the rows that qualify.
    Update = 1,
    /// Gives the rows that qualify.
    Select = 2,
    /// Gives counts and sums of them.
    Aggregate = 3,
}

/// A run of bytes in host memory, as the device addresses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

impl Span {
    /// It must not leave the address space.
    pub(super) fn check(
        &self,
        check: &Check,
        address: &'static str,
        bytes: &'static str,
    ) -> Result<(), JobError> {
        let most = u64::from(u32::MAX);
        check.that(self.bytes <= most, bytes, self.bytes, "less than 4 GiB")?;
        let end = self.address.checked_add(self.bytes);
        check.that(end.is_some(), address, self.address, "a run inside the address space")
    }
}

/// Where the lock table stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockTable {
    /// Its device address, a multiple of 64.
    pub address: u64,
    /// It has two to the power of this many buckets, 0 to 32.
    pub log2_buckets: u32,
}

impl LockTable {
    /// The number of a tuple version's bucket.
    pub fn bucket_of(&self, key: locks::TupleKey) -> u64 {
        key.mix() & ((1 << self.log2_buckets) - 1)
    }

    /// The address of a tuple version's bucket.
    pub fn address_of(&self, key: locks::TupleKey) -> u64 {
        self.address.wrapping_add(self.bucket_of(key) * 64)
    }
}

/// What an update needs beyond what every job needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The outcome of a row that was changed meanwhile: READ COMMITTED leaves it to the host, the
    /// others end the job.
    pub isolation: Isolation,
    /// The transaction's timestamp in the lock table.
    pub timestamp: Timestamp,
    /// The lock table.
    pub locks: LockTable,
    /// The host's VID map of the table: a RecordID a VID.
    pub vid_map: Span,
    /// Address of the [`PageReservation`](lockdb::near_data::PageReservation)s to begin with.
    pub reservations: u64,
    /// How many.
    pub reservation_count: u32,
    /// Nanoseconds that a row waits for its lock, at most.
    pub lock_wait: u64,
    /// Nanoseconds between two polls of a lock that is waited for.
    pub poll_interval: u64,
    /// Rows under way at a time, 1 to 64.
    pub rows: u16,
    /// The new values of the columns.
    pub assignments: Vec<Assignment>,
}

/// What kind of job it is, with what that kind needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Changes the rows that qualify.
    Update(Update),
    /// Gives the rows that qualify: the program's outputs, and their payloads if asked.
    Select {
        /// Whole payloads are wanted.
        payloads: bool,
    },
    /// Gives an aggregate of output 0 over the rows that qualify.
    Aggregate(Aggregating),
}

/// What an aggregation needs beyond what every job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregating {
    /// The aggregate of output 0.
    pub aggregate: Aggregate,
    /// The type of output 0.
    pub value: Type,
    /// The type of output 1, if that is what to group by.
    pub group: Option<Type>,
    /// Maximum number of groups.
    pub groups: u32,
}

impl Task {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Task::Update(_) => Kind::Update,
            Task::Select { .. } => Kind::Select,
            Task::Aggregate(_) => Kind::Aggregate,
        }
    }

    /// The smallest result buffer: the header of a chunk and the largest entry.
    pub fn least_result_bytes(&self) -> u64 {
        let entry = match self {
            Task::Update(_) => UpdateEntry::BYTES,
            Task::Select { payloads: false } => RowHead::BYTES + 8 * 8,
            Task::Select { payloads: true } => RowHead::BYTES + 8 * 8 + MAX_PAYLOAD,
            Task::Aggregate(_) => GroupEntry::BYTES,
        };
        (ChunkHeader::BYTES + entry) as u64
    }
}

/// The description of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Descriptor {
    /// The table.
    pub table: u32,
    /// The snapshot.
    pub snapshot: u64,
    /// The shared state of the invocation.
    pub shared_state: Span,
    /// Where the first chunk of results goes.
    pub result: Span,
    /// Processing elements that the VID map is divided among, 1 to 64.
    pub elements: u16,
    /// The image of the program: the predicate, and what is computed of each row.
    pub program: Box<[u8; Program::BYTES]>,
    /// The processing of the qualifying rows.
    pub task: Task,
}

/// The levels, by their numbers.
const ISOLATION: [Isolation; 3] =
    [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];

impl Descriptor {
    /// The longest descriptor: assignments are not longer than a row and what names its columns.
    pub const MOST_BYTES: u64 = 1 << 16;

    const PROGRAM_AT: usize = DescriptorHeader::BYTES;
    const ASSIGNMENTS_AT: usize = Self::PROGRAM_AT + Program::BYTES;

    /// Its bytes.
    ///
    /// # Panics
    /// When the assignments are longer than [`Descriptor::MOST_BYTES`] admits.
    pub fn encode(&self) -> Vec<u8> {
        let mut header = DescriptorHeader {
            magic: DescriptorHeader::MAGIC,
            version: DescriptorHeader::VERSION,
            kind: self.task.kind() as u8,
            table: self.table,
            snapshot: self.snapshot,
            shared_state: self.shared_state.address,
            shared_state_bytes: self.shared_state.bytes,
            result: self.result.address,
            result_bytes: self.result.bytes,
            elements: self.elements,
            ..DescriptorHeader::default()
        };
        let mut assignments = Vec::new();
        match &self.task {
            Task::Update(update) => {
                update.put(&mut header);
                assignments = assignment::encode(&update.assignments);
            }
            Task::Select { payloads } => header.flags = u32::from(*payloads),
            Task::Aggregate(aggregating) => aggregating.put(&mut header),
        }
        let length = Self::ASSIGNMENTS_AT + assignments.len();
        assert!(length as u64 <= Self::MOST_BYTES, "{length} bytes of descriptor");
        (header.length, header.assignment_bytes) = (length as u32, assignments.len() as u32);
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(&header.encode());
        bytes.extend_from_slice(&self.program[..]);
        bytes.extend_from_slice(&assignments);
        let checksum = checksum(&bytes);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads and checks a descriptor; program and assignments are checked by code that knows the
    /// schema.
    ///
    /// # Errors
    /// The first field that cannot be.
    pub fn decode(bytes: &[u8]) -> Result<Self, JobError> {
        let check = Check::of("descriptor", DescriptorHeader::FIELDS, 0);
        let Some((header, program, assignments)) = split(bytes) else {
            let expected = format!("at least {}", Self::ASSIGNMENTS_AT);
            return Err(check.fault("length", bytes.len() as u64, expected));
        };
        let header = DescriptorHeader::decode(header);
        check.same("magic", header.magic.into(), DescriptorHeader::MAGIC.into())?;
        check.same("version", header.version.into(), DescriptorHeader::VERSION.into())?;
        check.same("length", header.length.into(), bytes.len() as u64)?;
        let most = Self::MOST_BYTES;
        check.that(bytes.len() as u64 <= most, "length", bytes.len() as u64, most.to_string())?;
        check.same("checksum", header.checksum.into(), checksum(bytes).into())?;
        check.same("assignment_bytes", header.assignment_bytes.into(), assignments.len() as u64)?;
        let reserved = header.reserved.iter().find(|&&word| word != 0);
        check.same("reserved", reserved.copied().unwrap_or(0), 0)?;
        check.same("reserved_byte", header.reserved_byte.into(), 0)?;
        check.same("reserved_half", header.reserved_half.into(), 0)?;

        let shared_state = Span { address: header.shared_state, bytes: header.shared_state_bytes };
        shared_state.check(&check, "shared_state", "shared_state_bytes")?;
        let result = Span { address: header.result, bytes: header.result_bytes };
        result.check(&check, "result", "result_bytes")?;
        let elements = header.elements;
        check.that((1..=64).contains(&elements), "elements", elements.into(), "1 to 64")?;
        let task = task(&check, &header, assignments)?;
        let least = task.least_result_bytes();
        let enough = result.bytes >= least;
        check.that(enough, "result_bytes", result.bytes, format!("at least {least}"))?;
        Ok(Self {
            table: header.table,
            snapshot: header.snapshot,
            shared_state,
            result,
            elements,
            program: Box::new(*program),
            task,
        })
    }
}

/// Header, program and assignments.
fn split(bytes: &[u8]) -> Option<(&[u8; DescriptorHeader::BYTES], &[u8; Program::BYTES], &[u8])> {
    let (header, rest) = bytes.split_first_chunk()?;
    let (program, assignments) = rest.split_first_chunk()?;
    Some((header, program, assignments))
}

fn task(check: &Check, header: &DescriptorHeader, assignments: &[u8]) -> Result<Task, JobError> {
    let flags = |known: u32| {
        let expected = format!("no bit but {known:#x}");
        check.that(header.flags & !known == 0, "flags", header.flags.into(), expected)
    };
    let kind = header.kind;
    if kind != Kind::Update as u8 {
        check.same("assignment_bytes", assignments.len() as u64, 0)?;
    }
    match kind {
        kind if kind == Kind::Update as u8 => {
            flags(0)?;
            Update::get(check, header, assignments).map(Task::Update)
        }
        kind if kind == Kind::Select as u8 => {
            flags(DescriptorHeader::PAYLOADS)?;
            Ok(Task::Select { payloads: header.flags & DescriptorHeader::PAYLOADS != 0 })
        }
        kind if kind == Kind::Aggregate as u8 => {
            flags(0)?;
            Aggregating::get(check, header).map(Task::Aggregate)
        }
        kind => {
            let expected = "1 (update), 2 (select) or 3 (aggregate)";
            Err(check.fault("kind", kind.into(), expected))
        }
    }
}

/// Aggregates, by their numbers less one.
const AGGREGATES: [Aggregate; 4] =
    [Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max];

/// The number of a type that fits in a word, and its length; 0 for others.
fn type_code(kind: Type) -> (u8, u16) {
    match kind {
        Type::Int64 => (1, 0),
        Type::Float64 => (2, 0),
        Type::Bool => (3, 0),
        Type::Fixed(length) => (4, length),
        Type::Text | Type::Bytes => (0, 0),
    }
}

fn type_of(code: u8, length: u16) -> Option<Type> {
    match (code, length) {
        (1, 0) => Some(Type::Int64),
        (2, 0) => Some(Type::Float64),
        (3, 0) => Some(Type::Bool),
        (4, length) => Some(Type::Fixed(length)),
        _ => None,
    }
}

impl Aggregating {
    fn put(&self, header: &mut DescriptorHeader) {
        let aggregate = AGGREGATES.iter().position(|aggregate| *aggregate == self.aggregate);
        header.aggregate = aggregate.expect("all aggregates have a number") as u8 + 1;
        (header.value_type, header.value_length) = type_code(self.value);
        (header.group_type, header.group_length) = self.group.map_or((0, 0), type_code);
        header.groups = self.groups;
    }

    fn get(check: &Check, header: &DescriptorHeader) -> Result<Self, JobError> {
        const TYPES: &str = "1 to 4, and a length for 4 alone";
        let number = usize::from(header.aggregate).wrapping_sub(1);
        let Some(&aggregate) = AGGREGATES.get(number) else {
            return Err(check.fault("aggregate", header.aggregate.into(), "1 to 4"));
        };
        let Some(value) = type_of(header.value_type, header.value_length) else {
            return Err(check.fault("value_type", header.value_type.into(), TYPES));
        };
        let group = match (header.group_type, header.group_length) {
            (0, 0) => None,
            (code, length) => match type_of(code, length) {
                Some(group) => Some(group),
                None => return Err(check.fault("group_type", code.into(), TYPES)),
            },
        };
        let (groups, most) = (header.groups, DescriptorHeader::MOST_GROUPS);
        let expected = format!("1 to {most}");
        check.that((1..=most).contains(&groups), "groups", groups.into(), expected)?;
        Ok(Self { aggregate, value, group, groups })
    }
}

impl Update {
    fn put(&self, header: &mut DescriptorHeader) {
        let isolation = ISOLATION.iter().position(|level| *level == self.isolation);
        header.isolation = isolation.expect("all levels have a number") as u8;
        header.rows = self.rows;
        header.timestamp = self.timestamp.get();
        header.lock_table = self.locks.address;
        header.lock_log2_buckets = self.locks.log2_buckets;
        (header.reservations, header.reservation_count) =
            (self.reservations, self.reservation_count);
        (header.vid_map, header.vid_map_bytes) = (self.vid_map.address, self.vid_map.bytes);
        (header.lock_wait, header.poll_interval) = (self.lock_wait, self.poll_interval);
    }

    fn get(check: &Check, header: &DescriptorHeader, assignments: &[u8]) -> Result<Self, JobError> {
        let isolation = ISOLATION.get(usize::from(header.isolation)).copied();
        check.that(isolation.is_some(), "isolation", header.isolation.into(), "0, 1 or 2")?;
        let timestamp = Timestamp::new(header.timestamp);
        check.that(timestamp.is_some(), "timestamp", header.timestamp, "1 to 2^48 - 1")?;
        let rows = header.rows;
        check.that((1..=64).contains(&rows), "rows", rows.into(), "1 to 64")?;

        let DescriptorHeader { lock_table: address, lock_log2_buckets: log2_buckets, .. } = *header;
        check.that(address.is_multiple_of(64), "lock_table", address, "a multiple of 64")?;
        check.that(log2_buckets <= 32, "lock_log2_buckets", log2_buckets.into(), "0 to 32")?;
        let end = address.checked_add(64 << log2_buckets);
        check.that(end.is_some(), "lock_table", address, "a table inside the address space")?;

        // 2^32 VIDs of 8 bytes, at most.
        let vid_map = Span { address: header.vid_map, bytes: header.vid_map_bytes };
        let whole = vid_map.bytes.is_multiple_of(8) && vid_map.bytes <= 8 << 32;
        check.that(whole, "vid_map_bytes", vid_map.bytes, "at most 2^32 words")?;
        let place = vid_map.address.is_multiple_of(8)
            && vid_map.address.checked_add(vid_map.bytes).is_some();
        check.that(place, "vid_map", vid_map.address, "words inside the address space")?;
        check_reservations(check, header.reservations, header.reservation_count)?;
        Ok(Self {
            isolation: isolation.expect("it was checked"),
            timestamp: timestamp.expect("it was checked"),
            locks: LockTable { address, log2_buckets },
            vid_map,
            reservations: header.reservations,
            reservation_count: header.reservation_count,
            lock_wait: header.lock_wait,
            poll_interval: header.poll_interval,
            rows,
            assignments: assignment::decode(assignments, Descriptor::ASSIGNMENTS_AT)?,
        })
    }
}
