// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of recovery between nodes. Like all, they begin with the number of a view (4 bytes) and a
//! kind (1 byte).
//!
//! | message | bytes after these |
//! |---|---|
//! | records | 2: its number, the highest bit for the last; then records: name 8, length 2, items |
//! | table | 2: its number, as of records; then entries as the protocol writes them |
//! | answer to records or table | 2: its number |
//! | copy | 6: partition 2, number 4, its highest bits for the last and for one without rows; then rows |
//! | a row of a copy | 25 and the value: table 1, key 8, version of its header 8, its own 8 |
//! | answer to a copy | 6: partition 2, number 4 |
//!
//! The highest bit of a row's own version says that there is a row: versions have 63 bits. So a copy of
//! the largest value has as many bytes as a log record of it.

use crate::engine::{Key, TableNumber, TransactionId};
use crate::placement::{PartitionId, Partitioning};
use crate::store::CopiedRow;
use crate::store::item::version;
use crate::wire::{Reader, WireError, Writer};

/// Records of a node's log.
pub const RECORDS: u8 = 32;
/// Records have come.
pub const RECORDS_ANSWER: u8 = 33;
/// Rows for a replica that is being filled.
pub const COPY: u8 = 34;
/// Rows have come.
pub const COPY_ANSWER: u8 = 35;
/// A part of a protocol's table, in the same numbering as records.
pub const TABLE: u8 = 36;

/// The bytes of a message of records or of a table without them.
pub const RECORDS_HEADER: usize = 7;
/// The bytes of a record without its items.
pub const RECORD_HEADER: usize = 10;
/// The bytes of a copy without rows.
pub const COPY_HEADER: usize = 11;
/// The bytes of a row without its value.
pub const ROW_HEADER: usize = 25;

/// The bit of a number that says that no message of records follows.
const LAST: u16 = 1 << 15;
/// The same of a copy.
const LAST_COPY: u32 = 1 << 31;
/// The bit of a copy's number that says that what follows are no rows.
const PADDING: u32 = 1 << 30;
/// The bit of a row's version that says that there is a row.
const PRESENT: u64 = 1 << 63;

fn head(epoch: u32, kind: u8, out: &mut Vec<u8>) {
    out.put_u32(epoch);
    out.put_u8(kind);
}

/// Begins message number `part` of a kind: records, or a table.
pub fn begin_part(epoch: u32, kind: u8, part: u16, out: &mut Vec<u8>) {
    head(epoch, kind, out);
    out.put_u16(part);
}

/// Says in such a message that it is the last.
pub fn set_last(message: &mut [u8]) {
    message[6] |= (LAST >> 8) as u8;
}

/// Appends a record.
pub fn put_record(transaction: TransactionId, items: &[u8], out: &mut Vec<u8>) {
    out.put_u64(transaction.0);
    out.put_u16(items.len() as u16);
    out.extend_from_slice(items);
}

/// Reads the number of such a message, and whether it is the last.
///
/// # Errors
/// When there is none.
pub fn part(reader: &mut Reader<'_>) -> Result<(u16, bool), WireError> {
    let number = reader.u16("the number of a message")?;
    Ok((number & !LAST, number & LAST != 0))
}

/// Reads a record, whose coordinator is one of `nodes`.
///
/// # Errors
/// When there is none.
pub fn record<'a>(
    reader: &mut Reader<'a>,
    nodes: u16,
) -> Result<(TransactionId, &'a [u8]), WireError> {
    let at = reader.position();
    let transaction = TransactionId(reader.u64("the name of a transaction")?);
    if transaction.node().0 >= nodes {
        let (expected, found) = ("a transaction of a node of the cluster", transaction.0);
        return Err(WireError::Unknown { expected, found, at });
    }
    let length = reader.u16("the length of a record")?;
    Ok((transaction, reader.bytes(usize::from(length), "a record")?))
}

/// Appends the answer to records, or to a table.
pub fn answer_records(epoch: u32, part: u16, out: &mut Vec<u8>) {
    head(epoch, RECORDS_ANSWER, out);
    out.put_u16(part);
}

/// Begins a copy.
pub fn begin_copy(epoch: u32, partition: PartitionId, number: u32, out: &mut Vec<u8>) {
    head(epoch, COPY, out);
    out.put_u16(partition.0);
    out.put_u32(number & !(LAST_COPY | PADDING));
}

/// Says in a copy that it is the last.
pub fn set_last_copy(message: &mut [u8]) {
    message[COPY_HEADER - 1] |= (LAST_COPY >> 24) as u8;
}

/// Appends so many bytes that stand for rows to a copy without any.
pub fn pad_copy(message: &mut Vec<u8>, bytes: usize) {
    message[COPY_HEADER - 1] |= (PADDING >> 24) as u8;
    message.resize(message.len() + bytes, 0);
}

/// Appends a row.
pub fn put_row(row: &CopiedRow<'_>, out: &mut Vec<u8>) {
    out.put_u8(row.key.table.0);
    out.put_u64(row.key.row);
    out.put_u64(row.header_version);
    out.put_u64(row.version & !PRESENT | if row.value.is_some() { PRESENT } else { 0 });
    out.extend_from_slice(row.value.unwrap_or_default());
}

/// The head of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The partition.
    pub partition: PartitionId,
    /// Its number among the copies of the partition for one node.
    pub number: u32,
    /// Whether none follows.
    pub is_last: bool,
    /// Whether it has no rows, but only bytes in their place.
    pub is_padding: bool,
}

/// Reads the head of a copy.
///
/// # Errors
/// When there is none.
pub fn copy(reader: &mut Reader<'_>) -> Result<Copy, WireError> {
    let partition = PartitionId(reader.u16("a partition")?);
    let number = reader.u32("the number of a copy")?;
    Ok(Copy {
        partition,
        number: number & !(LAST_COPY | PADDING),
        is_last: number & LAST_COPY != 0,
        is_padding: number & PADDING != 0,
    })
}

/// Reads a row.
///
/// # Errors
/// When there is none of these tables.
pub fn row<'a>(reader: &mut Reader<'a>, layout: &Partitioning) -> Result<CopiedRow<'a>, WireError> {
    let table = reader.u8("a table")?;
    let Some(value_bytes) = layout.value_bytes(TableNumber(table)) else {
        return Err(reader.unknown("a table of the workload", table));
    };
    let key = Key { table: TableNumber(table), row: reader.u64("a key")? };
    let header_version = version(reader)?;
    let version = reader.u64("a version")?;
    let value = match version & PRESENT {
        0 => None,
        _ => Some(reader.bytes(usize::from(value_bytes), "a value")?),
    };
    Ok(CopiedRow { key, header_version, version: version & !PRESENT, value })
}

/// Appends the answer to a copy.
pub fn answer_copy(epoch: u32, copy: &Copy, out: &mut Vec<u8>) {
    head(epoch, COPY_ANSWER, out);
    out.put_u16(copy.partition.0);
    out.put_u32(copy.number);
}

/// Reads the answer to a copy.
///
/// # Errors
/// When there is none.
pub fn copy_answer(reader: &mut Reader<'_>) -> Result<(PartitionId, u32), WireError> {
    Ok((PartitionId(reader.u16("a partition")?), reader.u32("the number of a copy")?))
}
