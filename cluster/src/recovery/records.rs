// SPDX-License-Identifier: MIT OR Apache-2.0
//! The forms of log records: what recovery has to know of them.
//!
//! | record | bytes |
//! |---|---|
//! | [`Whole`] | the [items](crate::store::item) of all changes |
//! | [`Partial`] | 2: open (0), committed (1) or not committed (2), count of partitions 1; for each partition 4: its number 2, the bytes of its items 2; then the items |

use std::borrow::Cow;

use crate::engine::NodeId;
use crate::membership::View;
use crate::placement::{PartitionId, Partitioning};
use crate::store::{Item, Items};
use crate::transact::TableShape;
use crate::wire::{Reader, WireError, Writer};

/// How a protocol's records are read, merged and sent on.
pub trait Records {
    /// Whether these bytes are a record with at least one change, to their last byte.
    ///
    /// # Errors
    /// What is wrong with them first.
    fn check(record: &[u8], tables: &[TableShape], layout: &Partitioning) -> Result<(), WireError>;

    /// The changes that are here.
    fn items<'a>(record: &'a [u8], tables: &'a [TableShape]) -> Items<'a>;

    /// Whether a member of the next view needs the record.
    fn concerns(
        record: &[u8],
        tables: &[TableShape],
        layout: &Partitioning,
        view: &View,
        node: NodeId,
    ) -> bool;

    /// Whether two records of one transaction do not contradict each other.
    fn agree(one: &[u8], other: &[u8]) -> bool;

    /// Adds what another record of the same transaction has, and says whether that was more.
    fn merge(record: &mut Vec<u8>, other: &[u8]) -> bool;

    /// Whether its transaction has committed, as far as the record says it.
    fn decision(record: &[u8]) -> Option<bool>;

    /// Makes a record that does not say it say this.
    fn decide(record: &mut [u8], committed: bool);

    /// The record without the decision that it says, and that; `None` if it says none, or can say but one.
    fn without_decision(record: &[u8]) -> Option<(Vec<u8>, bool)>;

    /// The record in pieces of up to `most` bytes, as far as it can be taken apart. Merged, they are it again.
    fn pieces(record: &[u8], most: usize) -> Vec<Cow<'_, [u8]>>;
}

/// Records that have all changes of a transaction, and are written only when nothing can prevent its commit
/// any more: a record decides.
#[derive(Clone, Copy, Debug)]
pub struct Whole;

impl Records for Whole {
    fn check(record: &[u8], tables: &[TableShape], _: &Partitioning) -> Result<(), WireError> {
        let mut reader = Reader::new(record);
        loop {
            Item::decode(&mut reader, tables)?;
            if reader.is_at_end() {
                return Ok(());
            }
        }
    }

    fn items<'a>(record: &'a [u8], tables: &'a [TableShape]) -> Items<'a> {
        Items::new(record, tables)
    }

    /// Those that replicate one of its rows.
    fn concerns(
        record: &[u8],
        tables: &[TableShape],
        layout: &Partitioning,
        view: &View,
        node: NodeId,
    ) -> bool {
        let is_at =
            |item: Item<'_>| view.replicas(layout.partition_of(item.key)).nodes().contains(&node);
        Items::new(record, tables).into_iter().any(is_at)
    }

    fn agree(_: &[u8], _: &[u8]) -> bool {
        true
    }

    fn merge(_: &mut Vec<u8>, _: &[u8]) -> bool {
        false
    }

    fn decision(_: &[u8]) -> Option<bool> {
        Some(true)
    }

    fn decide(_: &mut [u8], _: bool) {}

    fn without_decision(_: &[u8]) -> Option<(Vec<u8>, bool)> {
        None
    }

    fn pieces(record: &[u8], _: usize) -> Vec<Cow<'_, [u8]>> {
        vec![Cow::Borrowed(record)]
    }
}

/// Records that name all partitions that their transaction writes, and have the changes of some of them. A
/// partition's changes are here as a whole or not at all.
#[derive(Clone, Copy, Debug)]
pub struct Partial;

/// What the first byte says.
const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const DROPPED: u8 = 2;
/// The bytes before the partitions.
const HEAD: usize = 2;
/// The bytes of a partition.
const SHARD: usize = 4;

/// A partition of a record: its number, and the bytes of its items.
type Shard<'a> = (PartitionId, &'a [u8]);

impl Partial {
    /// Appends a record. `shards` are all partitions that the transaction writes, in order, and `items` the
    /// changes of some of them.
    ///
    /// # Panics
    /// When the partitions are none, more than 255, or not in order, or a partition's items have 64 KiB or
    /// more.
    pub fn encode(
        committed: bool,
        shards: &[PartitionId],
        items: &[Item<'_>],
        (tables, layout): (&[TableShape], &Partitioning),
        out: &mut Vec<u8>,
    ) {
        assert!(!shards.is_empty() && shards.is_sorted_by(|one, next| one < next), "{shards:?}");
        out.put_u8(if committed { COMMITTED } else { OPEN });
        out.put_count(shards.len());
        let head = out.len();
        out.resize(head + SHARD * shards.len(), 0);
        for (place, shard) in shards.iter().enumerate() {
            let start = out.len();
            for item in items.iter().filter(|item| layout.partition_of(item.key) == *shard) {
                let shape = tables.get(usize::from(item.key.table.0));
                item.encode(shape.map_or(0, |shape| shape.value_bytes.into()), out);
            }
            let bytes = u16::try_from(out.len() - start).expect("less than 64 KiB");
            let place = &mut out[head + SHARD * place..][..SHARD];
            place[..2].copy_from_slice(&shard.0.to_le_bytes());
            place[2..].copy_from_slice(&bytes.to_le_bytes());
        }
    }

    /// Whether the changes of all partitions are here.
    pub fn is_whole(record: &[u8]) -> bool {
        Self::shards(record).all(|(_, items)| !items.is_empty())
    }

    /// The partitions that the transaction writes, each with the bytes of its items, which are none if they
    /// are not here.
    pub fn shards(record: &[u8]) -> impl Iterator<Item = Shard<'_>> + Clone {
        let count = record.get(1).map_or(0, |count| usize::from(*count));
        let (shards, mut items) = record.split_at_checked(HEAD + SHARD * count).unwrap_or_default();
        shards.get(HEAD..).unwrap_or_default().chunks_exact(SHARD).map(move |shard| {
            let length = usize::from(u16::from_le_bytes([shard[2], shard[3]]));
            let of_shard;
            (of_shard, items) = items.split_at_checked(length).unwrap_or_default();
            (PartitionId(u16::from_le_bytes([shard[0], shard[1]])), of_shard)
        })
    }

    fn write<'a>(state: u8, shards: impl Iterator<Item = Shard<'a>> + Clone, out: &mut Vec<u8>) {
        out.put_u8(state);
        out.put_u8(shards.clone().count() as u8);
        for (shard, items) in shards.clone() {
            out.put_u16(shard.0);
            out.put_u16(items.len() as u16);
        }
        shards.for_each(|(_, items)| out.extend_from_slice(items));
    }
}

impl Records for Partial {
    fn check(record: &[u8], tables: &[TableShape], layout: &Partitioning) -> Result<(), WireError> {
        let mut reader = Reader::new(record);
        reader.u8_in(OPEN..=DROPPED, "open (0), committed (1) or not committed (2)")?;
        let count = reader.u8_in(1..=u8::MAX, "a count of partitions from 1 on")?;
        let (mut least, mut shards) = (0, Vec::with_capacity(count.into()));
        for _ in 0..count {
            let last = layout.partitions() - 1;
            let shard = reader.u16_in(least..=last, "a partition, in order")?;
            least = shard + 1;
            shards.push((PartitionId(shard), reader.u16("the bytes of a partition's items")?));
        }
        let first = reader.position();
        for (shard, length) in shards {
            let end = reader.position() + usize::from(length);
            while reader.position() < end {
                let at = reader.position();
                let item = Item::decode(&mut reader, tables)?;
                let found = layout.partition_of(item.key);
                if found != shard || reader.position() > end {
                    let expected = "an item of its partition, as long as that says";
                    return Err(WireError::Unknown { expected, found: found.0.into(), at });
                }
            }
        }
        if reader.position() == first {
            return Err(WireError::Short { expected: "an item", at: first });
        }
        reader.end("the items of all partitions")
    }

    fn items<'a>(record: &'a [u8], tables: &'a [TableShape]) -> Items<'a> {
        let count = record.get(1).map_or(0, |count| usize::from(*count));
        Items::new(record.get(HEAD + SHARD * count..).unwrap_or_default(), tables)
    }

    /// All of them: each member decides by itself whether the transaction has committed, and for that it has
    /// to have seen all of its records.
    fn concerns(_: &[u8], _: &[TableShape], _: &Partitioning, _: &View, _: NodeId) -> bool {
        true
    }

    /// They name the same partitions.
    fn agree(one: &[u8], other: &[u8]) -> bool {
        let [one, other] = [one, other].map(|record| Self::shards(record).map(|(shard, _)| shard));
        one.eq(other)
    }

    fn merge(record: &mut Vec<u8>, other: &[u8]) -> bool {
        let pairs = Self::shards(record).zip(Self::shards(other));
        let adds = pairs.clone().any(|((_, own), (_, new))| own.is_empty() && !new.is_empty());
        let decides = Self::decision(other).is_some() && Self::decision(record).is_none();
        if !Self::agree(record, other) || !(adds || decides) {
            return false;
        }
        let state = if decides { other[0] } else { record[0] };
        let mut merged = Vec::with_capacity(record.len() + other.len());
        let shards = pairs.map(|(own, new)| if own.1.is_empty() { new } else { own });
        Self::write(state, shards, &mut merged);
        *record = merged;
        true
    }

    fn decision(record: &[u8]) -> Option<bool> {
        match record.first() {
            Some(&COMMITTED) => Some(true),
            Some(&DROPPED) => Some(false),
            _ => None,
        }
    }

    fn decide(record: &mut [u8], committed: bool) {
        if Self::decision(record).is_none()
            && let Some(state) = record.first_mut()
        {
            *state = if committed { COMMITTED } else { DROPPED };
        }
    }

    fn without_decision(record: &[u8]) -> Option<(Vec<u8>, bool)> {
        let committed = Self::decision(record)?;
        let mut open = record.to_vec();
        open[0] = OPEN;
        Some((open, committed))
    }

    fn pieces(record: &[u8], most: usize) -> Vec<Cow<'_, [u8]>> {
        if record.len() <= most {
            return vec![Cow::Borrowed(record)];
        }
        let shards: Vec<_> = Self::shards(record).collect();
        let (mut pieces, mut first) = (Vec::new(), 0);
        while first < shards.len() {
            // One of them, and as many as fit.
            let mut end = first + 1;
            let mut bytes = HEAD + SHARD * shards.len() + shards[first].1.len();
            while let Some((_, items)) = shards.get(end).filter(|next| bytes + next.1.len() <= most)
            {
                bytes += items.len();
                end += 1;
            }
            let none: &[u8] = &[];
            let of_piece = shards.iter().enumerate().map(|(place, (shard, items))| {
                (*shard, if (first..end).contains(&place) { *items } else { none })
            });
            let mut piece = Vec::new();
            Self::write(record[0], of_piece, &mut piece);
            // What only names partitions would be no record.
            if Self::shards(&piece).any(|(_, items)| !items.is_empty()) {
                pieces.push(Cow::Owned(piece));
            }
            first = end;
        }
        pieces
    }
}
