// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of a job, chunk by chunk.

use super::error::{Check, JobError, checksum};
use crate::program::Group;

layout! {
    /// What a job did, up to now.
    pub struct Statistics: 112 {
        /// VIDs that were looked at.
        pub visited: u64,
        /// Rows that the snapshot sees.
        pub visible: u64,
        /// Of them, those that qualify.
        pub qualified: u64,
        /// VIDs at which something is wrong.
        pub faults: u64,
        /// Locks asked for.
        pub lock_requests: u64,
        /// Of them, those that were not granted at once.
        pub lock_waits: u64,
        /// Nanoseconds that rows waited for their locks, added up.
        pub lock_wait: u64,
        /// Polls of locks that were waited for.
        pub lock_polls: u64,
        /// Versions written.
        pub written: u64,
        /// Rows left to the host.
        pub left: u64,
        /// Pages filled, the last one in part.
        pub pages: u64,
        /// Bytes read from storage.
        pub storage_bytes: u64,
        /// Clock cycles of the element in hardware that took the most; of software zero.
        pub element_clocks: u64,
        /// Elements that ran.
        pub elements: u16,
        /// Their kind: an [`Embodiment`].
        pub embodiment: u8,
        /// Zero.
        pub reserved: [u8; 5],
    }
}

/// What the elements of a job were, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Embodiment {
    /// Software, as the device is set up.
    #[default]
    Software = 0,
    /// Hardware.
    Hardware = 1,
    /// Software, though the device has hardware: the program compares text or bytes of any length.
    SoftwareForText = 2,
    /// Software, though the device has hardware: the shared state has more pages than that has room
    /// for.
    SoftwareForSharedState = 3,
}

impl Embodiment {
    const ALL: [Embodiment; 4] =
        [Self::Software, Self::Hardware, Self::SoftwareForText, Self::SoftwareForSharedState];

    /// Whether the elements were hardware.
    pub fn is_hardware(self) -> bool {
        self == Self::Hardware
    }

    /// Why hardware did not do it that the device has; `None` when it did, or there is none.
    pub fn why_not_hardware(self) -> Option<&'static str> {
        match self {
            Self::Software | Self::Hardware => None,
            Self::SoftwareForText => Some("the program compares text or bytes of any length"),
            Self::SoftwareForSharedState => {
                Some("the shared state has more pages than elements in hardware have room for")
            }
        }
    }
}

impl Statistics {
    /// What the elements were; `None` when the byte says nothing that is known.
    pub fn embodiment(&self) -> Option<Embodiment> {
        Embodiment::ALL.into_iter().find(|which| *which as u8 == self.embodiment)
    }
}

layout! {
    /// What stands in front of a chunk's entries.
    pub struct ChunkHeader: 144 {
        /// [`ChunkHeader::MAGIC`].
        pub magic: u32,
        /// [`ChunkHeader::VERSION`].
        pub version: u16,
        /// The job's [`Kind`](super::Kind).
        pub kind: u8,
        /// Bit 0: the last chunk. Bit 1: page reservations are wanted.
        pub flags: u8,
        /// CRC-32C of all bytes before and after this field, to the chunk's end.
        pub checksum: u32,
        /// The job.
        pub job: u32,
        /// Number of the chunk, from 0.
        pub chunk: u32,
        /// Bytes of the chunk, this header included.
        pub bytes: u32,
        /// How many entries follow.
        pub entries: u32,
        /// Zero.
        pub reserved: u32,
        /// Of the whole job, up to now.
        pub statistics: Statistics,
    }
}

impl ChunkHeader {
    /// "LKRS".
    pub const MAGIC: u32 = u32::from_le_bytes(*b"LKRS");
    /// The version of this layout.
    pub const VERSION: u16 = 2;
}

layout! {
    /// A row of an update: written, left to the host, or locked and no more than that.
    pub struct UpdateEntry: 32 {
        /// An [`UpdateKind`].
        pub kind: u8,
        /// Bit 0: its lock's bucket is newly held; else the transaction held it before.
        pub flags: u8,
        /// Zero.
        pub reserved: u16,
        /// The tuple.
        pub vid: u32,
        /// Written: number of the new version. Else: of the version whose lock is held.
        pub number: u32,
        /// Written: bytes that the superseded version has in its page. Else zero.
        pub superseded: u32,
        /// Written: RecordID of the new version. Else zero.
        pub record: u64,
        /// RecordID of the version whose lock is held: the one that the snapshot sees.
        pub predecessor: u64,
    }
}

/// The outcome of a row of an update. Of each of them the transaction holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UpdateKind {
    /// It has a new version.
    Written = 1,
    /// READ COMMITTED: it was changed meanwhile, and the host is to see to it.
    Left = 2,
    /// It was locked, and the job ended.
    Locked = 3,
}

impl UpdateKind {
    const ALL: [UpdateKind; 3] = [UpdateKind::Written, UpdateKind::Left, UpdateKind::Locked];
}

impl UpdateEntry {
    /// Bit of `flags`: the lock's bucket is newly held.
    pub const NEWLY_HELD: u8 = 1;

    /// The outcome of the row; `None` when the kind is none of an update.
    pub fn update_kind(&self) -> Option<UpdateKind> {
        UpdateKind::ALL.into_iter().find(|kind| *kind as u8 == self.kind)
    }

    /// Whether the lock's bucket is newly held.
    pub fn newly_held(&self) -> bool {
        self.flags & Self::NEWLY_HELD != 0
    }
}

layout! {
    /// A VID at which something is wrong.
    pub struct FaultEntry: 8 {
        /// [`FaultEntry::KIND`].
        pub kind: u8,
        /// What is wrong: 1 to 10 of the walk, 20 and above of the program.
        pub code: u8,
        /// Zero.
        pub reserved: u16,
        /// The tuple.
        pub vid: u32,
    }
}

impl FaultEntry {
    /// The kind of such an entry.
    pub const KIND: u8 = 4;
}

layout! {
    /// What stands in front of a row's values and payload.
    pub struct RowHead: 24 {
        /// [`RowHead::KIND`].
        pub kind: u8,
        /// Bit *i*: output *i* is null.
        pub nulls: u8,
        /// How many outputs follow, of 8 bytes each.
        pub values: u8,
        /// Zero.
        pub reserved: u8,
        /// The tuple.
        pub vid: u32,
        /// Number of the version.
        pub number: u32,
        /// Bytes of the payload, which follows the outputs, padded with zeros to a multiple of 8.
        pub payload_bytes: u32,
        /// RecordID of the version.
        pub record: u64,
    }
}

impl RowHead {
    /// The kind of such an entry.
    pub const KIND: u8 = 5;
}

layout! {
    /// One group of an aggregation; of an aggregation without groups the only one.
    pub struct GroupEntry: 24 {
        /// [`GroupEntry::KIND`].
        pub kind: u8,
        /// Bit 0: the group's value is null, or there are no groups. Bit 1: the result is null.
        pub flags: u8,
        /// Zero.
        pub reserved: [u8; 6],
        /// The group's value: output 1.
        pub key: u64,
        /// The result.
        pub value: u64,
    }
}

impl GroupEntry {
    /// The kind of such an entry.
    pub const KIND: u8 = 6;

    /// The entry of a group.
    pub fn of(group: Group) -> Self {
        Self {
            kind: Self::KIND,
            flags: u8::from(group.key.is_none()) | u8::from(group.value.is_none()) << 1,
            reserved: [0; 6],
            key: group.key.unwrap_or(0),
            value: group.value.unwrap_or(0),
        }
    }

    /// The group.
    pub fn group(&self) -> Group {
        let present = |bit: u8, word: u64| (self.flags >> bit & 1 == 0).then_some(word);
        Group { key: present(0, self.key), value: present(1, self.value) }
    }
}

/// A row that a job gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowEntry<'a> {
    /// Its head.
    pub head: RowHead,
    values: &'a [u8],
    /// Its payload; empty when it was not asked for.
    pub payload: &'a [u8],
}

impl<'a> RowEntry<'a> {
    /// The program's outputs; the value of a null is 0.
    pub fn values(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.values.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// An output; `None` when it is null.
    ///
    /// # Panics
    /// When there are not so many outputs.
    pub fn value(&self, output: usize) -> Option<u64> {
        let value = self.values().nth(output).expect("the row has that many outputs");
        (self.head.nulls >> output & 1 == 0).then_some(value)
    }
}

/// One entry of a result set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A row of an update.
    Update(UpdateEntry),
    /// A VID at which something is wrong.
    Fault(FaultEntry),
    /// A row.
    Row(RowEntry<'a>),
    /// A group.
    Group(GroupEntry),
}

/// Fills a chunk, up to the size of its result buffer.
#[derive(Clone, Debug)]
pub struct ChunkWriter {
    bytes: Vec<u8>,
    entries: u32,
    capacity: usize,
}

impl ChunkWriter {
    /// An empty chunk for a buffer of so many bytes.
    pub fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; ChunkHeader::BYTES], entries: 0, capacity }
    }

    /// Whether an entry of so many bytes still fits.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.bytes.len() + bytes <= self.capacity
    }

    /// How many entries there are.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// The size of a row's entry.
    pub fn row_bytes(values: usize, payload: usize) -> usize {
        RowHead::BYTES + 8 * values + payload.next_multiple_of(8)
    }

    /// Adds an entry of fixed size: the bytes of an [`UpdateEntry`], [`FaultEntry`] or
    /// [`GroupEntry`].
    ///
    /// # Panics
    /// When it does not fit.
    pub fn push(&mut self, entry: &[u8]) {
        assert!(self.has_room(entry.len()), "whoever adds an entry has asked for room");
        self.bytes.extend_from_slice(entry);
        self.entries += 1;
    }

    /// Adds a row; kind, number of values and bytes of the payload are put into its head.
    ///
    /// # Panics
    /// When it does not fit.
    pub fn push_row(&mut self, head: RowHead, values: &[u64], payload: &[u8]) {
        let bytes = Self::row_bytes(values.len(), payload.len());
        assert!(self.has_room(bytes), "whoever adds an entry has asked for room");
        let (kind, payload_bytes) = (RowHead::KIND, payload.len() as u32);
        let head = RowHead { kind, values: values.len() as u8, payload_bytes, ..head };
        let end = self.bytes.len() + bytes;
        self.bytes.extend_from_slice(&head.encode());
        self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.bytes.extend_from_slice(payload);
        self.bytes.resize(end, 0);
        self.entries += 1;
    }

    /// The chunk's bytes. What the writer counts is put into the header.
    pub fn finish(self, header: ChunkHeader, statistics: &Statistics) -> Vec<u8> {
        let Self { mut bytes, entries, .. } = self;
        let mut header = ChunkHeader {
            magic: ChunkHeader::MAGIC,
            version: ChunkHeader::VERSION,
            checksum: 0,
            bytes: bytes.len() as u32,
            entries,
            reserved: 0,
            statistics: *statistics,
            ..header
        };
        bytes[..ChunkHeader::BYTES].copy_from_slice(&header.encode());
        header.checksum = checksum(&bytes);
        bytes[..ChunkHeader::BYTES].copy_from_slice(&header.encode());
        bytes
    }
}

/// A chunk of a result set, read from untrusted bytes: all of it is checked at once.
#[derive(Clone, Copy, Debug)]
pub struct ResultChunk<'a> {
    header: ChunkHeader,
    /// Those of the entries.
    bytes: &'a [u8],
}

impl<'a> ResultChunk<'a> {
    /// Checks a chunk, header and entries. What follows it is not looked at.
    ///
    /// # Errors
    /// The first field that cannot be.
    pub fn verified(bytes: &'a [u8]) -> Result<Self, JobError> {
        let check = Check::of("result set", ChunkHeader::FIELDS, 0);
        let Some(header) = bytes.first_chunk() else {
            let expected = format!("at least {}", ChunkHeader::BYTES);
            return Err(check.fault("bytes", bytes.len() as u64, expected));
        };
        let header = ChunkHeader::decode(header);
        check.same("magic", header.magic.into(), ChunkHeader::MAGIC.into())?;
        check.same("version", header.version.into(), ChunkHeader::VERSION.into())?;
        let length = header.bytes as usize;
        let range = ChunkHeader::BYTES..=bytes.len();
        let expected = || format!("{} to {}", range.start(), range.end());
        check.that(range.contains(&length), "bytes", header.bytes.into(), expected())?;
        let expected = checksum(&bytes[..length]);
        check.same("checksum", header.checksum.into(), expected.into())?;
        check.that((1..=3).contains(&header.kind), "kind", header.kind.into(), "1, 2 or 3")?;
        check.that(header.flags <= 3, "flags", header.flags.into(), "bits 0 and 1 alone")?;
        check.same("reserved", header.reserved.into(), 0)?;
        let counted = Check::of("result set", Statistics::FIELDS, STATISTICS_AT);
        let statistics = &header.statistics;
        let known = statistics.embodiment().is_some();
        counted.that(known, "embodiment", statistics.embodiment.into(), "0 to 3")?;
        let nothing = statistics.reserved == [0; 5];
        counted.that(nothing, "reserved", statistics.reserved[0].into(), "zeros")?;
        let chunk = Self { header, bytes: &bytes[ChunkHeader::BYTES..length] };
        let mut rest = chunk.bytes;
        for _ in 0..header.entries {
            rest = entry(rest, (length - rest.len()) as u64)?.1;
        }
        check.same("bytes", length as u64, (length - rest.len()) as u64)?;
        Ok(chunk)
    }

    /// Its header.
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// Whether it is the job's last.
    pub fn is_last(&self) -> bool {
        self.header.flags & 1 != 0
    }

    /// Whether the job wants page reservations to continue.
    pub fn wants_reservations(&self) -> bool {
        self.header.flags & 2 != 0
    }

    /// The statistics of the job up to this chunk.
    pub fn statistics(&self) -> Statistics {
        self.header.statistics
    }

    /// Its entries, in their order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let mut rest = self.bytes;
        (0..self.header.entries).map(move |_| {
            let (first, others) = entry(rest, 0).expect("all entries were checked");
            rest = others;
            first
        })
    }
}

/// The first entry of some bytes, which stand at `at`, and what follows it.
fn entry(bytes: &[u8], at: u64) -> Result<(Entry<'_>, &[u8]), JobError> {
    let kind = bytes.first().copied().unwrap_or(0);
    match kind {
        FaultEntry::KIND => {
            let (bytes, rest) = fixed(bytes, at)?;
            let entry = FaultEntry::decode(bytes);
            let check = Check::of("result set", FaultEntry::FIELDS, at);
            check.same("reserved", entry.reserved.into(), 0)?;
            Ok((Entry::Fault(entry), rest))
        }
        RowHead::KIND => row(bytes, at),
        GroupEntry::KIND => {
            let (bytes, rest) = fixed(bytes, at)?;
            let entry = GroupEntry::decode(bytes);
            let check = Check::of("result set", GroupEntry::FIELDS, at);
            check.that(entry.flags <= 3, "flags", entry.flags.into(), "bits 0 and 1 alone")?;
            Ok((Entry::Group(entry), rest))
        }
        _ => {
            let (bytes, rest) = fixed(bytes, at)?;
            let entry = UpdateEntry::decode(bytes);
            let check = Check::of("result set", UpdateEntry::FIELDS, at);
            let known = entry.update_kind().is_some();
            check.that(known, "kind", entry.kind.into(), "1 to 6")?;
            check.that(entry.flags <= 1, "flags", entry.flags.into(), "bit 0 alone")?;
            check.same("reserved", entry.reserved.into(), 0)?;
            Ok((Entry::Update(entry), rest))
        }
    }
}

fn row(bytes: &[u8], at: u64) -> Result<(Entry<'_>, &[u8]), JobError> {
    let (head, rest) = fixed(bytes, at)?;
    let head = RowHead::decode(head);
    let check = Check::of("result set", RowHead::FIELDS, at);
    check.same("reserved", head.reserved.into(), 0)?;
    check.that(head.values <= 8, "values", head.values.into(), "0 to 8")?;
    let (values, payload) = (8 * usize::from(head.values), head.payload_bytes as usize);
    let payload_end = values.checked_add(payload.next_multiple_of(8));
    let parts = payload_end.and_then(|end| rest.split_at_checked(end));
    let Some((body, rest)) = parts.filter(|_| payload <= MOST_PAYLOAD) else {
        let expected = format!("at most the {} bytes that follow", rest.len());
        return Err(check.fault("payload_bytes", payload as u64, expected));
    };
    let (values, padded) = body.split_at(values);
    Ok((Entry::Row(RowEntry { head, values, payload: &padded[..payload] }), rest))
}

/// Where the statistics stand in a chunk.
const STATISTICS_AT: u64 = std::mem::offset_of!(ChunkHeader, statistics) as u64;

/// The longest payload.
const MOST_PAYLOAD: usize = lockdb::schema::MAX_PAYLOAD;

fn fixed<const N: usize>(bytes: &[u8], at: u64) -> Result<(&[u8; N], &[u8]), JobError> {
    bytes.split_first_chunk().ok_or_else(|| JobError {
        what: "result set",
        offset: at,
        field: "entry",
        found: bytes.len() as u64,
        expected: format!("an entry of {N} bytes"),
    })
}
