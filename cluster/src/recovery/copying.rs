// SPDX-License-Identifier: MIT OR Apache-2.0
//! The filling of new replicas in the background: a primary sends the rows that were written to each,
//! one message after the other, while transactions update it as any other backup.
//!
//! A row is copied with the version at which it was written, and the new replica keeps the newer of what
//! was copied and what was updated. So neither side waits for the other, and a message that comes twice or
//! late does no harm. A row that was never written needs no copy: its value is a function of its key.

use std::sync::Arc;

use super::messages::{self, COPY_HEADER, ROW_HEADER};
use super::{Keeps, Mutant, Parts};
use crate::engine::{Class, Effects, Endpoint, Instant, Key, NodeId, Stage, Work};
use crate::placement::PartitionId;
use crate::store::Store;
use crate::transact::Transactions;
use crate::wire::{Reader, WireError};

/// A replica of another node that this one fills.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copying {
    partition: PartitionId,
    to: NodeId,
    /// The rows that had been written when the view began.
    keys: Arc<[Key]>,
    /// The first that was not sent.
    next: usize,
    /// How many bytes are sent after them, in place of initial rows.
    padding: u64,
    /// The number of the message under way.
    number: u32,
    /// The message under way; empty before the first.
    message: Vec<u8>,
    /// When it is sent again.
    pub(super) again: Instant,
}

/// A replica of this node that is being filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Filling {
    partition: PartitionId,
    /// The number of the next message.
    next: u32,
}

impl Filling {
    pub(super) fn new(partition: PartitionId) -> Self {
        Self { partition, next: 0 }
    }
}

impl Copying {
    /// Fills the replicas of a partition on each of `nodes`.
    pub(super) fn of<'a, T: Transactions>(
        partition: PartitionId,
        nodes: &'a [NodeId],
        store: &Store<T>,
        initial: bool,
    ) -> impl Iterator<Item = Self> + use<'a, T> {
        let keys: Arc<[Key]> = match nodes {
            [] => Arc::default(),
            _ => store.written(partition).into(),
        };
        let padding = if initial { store.layout().initial_bytes(ROW_HEADER) } else { 0 };
        nodes.iter().map(move |to| Self {
            partition,
            to: *to,
            keys: Arc::clone(&keys),
            next: 0,
            padding,
            number: 0,
            message: Vec::new(),
            again: Instant::default(),
        })
    }

    /// Makes the next message, with the rows as they are now. It stays as it is when it has to be sent
    /// again, so that an answer says for certain which rows have come.
    fn pack<T: Transactions>(&mut self, epoch: u32, limit: usize, store: &Store<T>) {
        self.message.clear();
        messages::begin_copy(epoch, self.partition, self.number, &mut self.message);
        while let Some(key) = self.keys.get(self.next) {
            if let Some(row) = store.copied(*key) {
                let bytes = ROW_HEADER + row.value.map_or(0, <[u8]>::len);
                if self.message.len() > COPY_HEADER && self.message.len() + bytes > limit {
                    return;
                }
                messages::put_row(&row, &mut self.message);
            }
            self.next += 1;
        }
        if self.padding > 0 && self.message.len() == COPY_HEADER {
            let room = limit.saturating_sub(COPY_HEADER).max(1) as u64;
            let bytes = self.padding.min(room);
            self.padding -= bytes;
            messages::pad_copy(&mut self.message, bytes as usize);
        }
        if self.is_at_end() {
            messages::set_last_copy(&mut self.message);
        }
    }

    /// Whether nothing follows the message under way.
    fn is_at_end(&self) -> bool {
        self.next == self.keys.len() && self.padding == 0
    }
}

/// Sends what has to be sent, again or for the first time.
pub(super) fn tick<S: Keeps>(shared: &mut S, now: Instant, out: &mut Effects) {
    let Parts { recovery, store, .. } = shared.parts();
    if recovery.copying.is_empty() {
        return;
    }
    let (retry, epoch, mtu) =
        (recovery.retry(), recovery.member.epoch(), usize::from(recovery.settings.mtu));
    for copying in recovery.copying.iter_mut().filter(|copying| copying.again <= now) {
        if copying.message.is_empty() {
            copying.pack(epoch, mtu, store);
            out.work(Work::CopyLine, copying.message.len().div_ceil(64) as u32);
        }
        copying.again = now + retry;
        recovery.counts.copied += copying.message.len() as u64;
        let to = Endpoint::host(copying.to, 0);
        out.send(to, Class::Background, Stage::Copy, |bytes| bytes.extend(&copying.message));
    }
    out.ring_doorbell();
}

/// Takes rows from the primary.
pub(super) fn take_copy<S: Keeps>(
    shared: &mut S,
    from: NodeId,
    reader: &mut Reader<'_>,
    out: &mut Effects,
) -> Result<(), WireError> {
    let copy = messages::copy(reader)?;
    let Parts { recovery, store, .. } = shared.parts();
    let epoch = recovery.member.epoch();
    let filling = recovery.filling.iter_mut().find(|filling| filling.partition == copy.partition);
    let is_primary = recovery.member.view().primary(copy.partition) == Some(from);
    let (Some(filling), true) = (filling, is_primary) else {
        recovery.counts.malformed += 1;
        return Ok(());
    };
    let layout = Arc::clone(store.layout());
    if copy.is_padding {
        reader.rest();
    }
    let mut check = *reader;
    while !check.is_at_end() {
        let row = messages::row(&mut check, &layout)?;
        if layout.partition_of(row.key) != copy.partition {
            recovery.counts.malformed += 1;
            return Ok(());
        }
    }
    if copy.number == filling.next {
        while !reader.is_at_end() {
            let row = messages::row(reader, &layout)?;
            #[cfg(feature = "mutants")]
            if recovery.settings.planted.is(Mutant::CopyOverwrites) {
                store.forget(row.key);
            }
            if store.merge(&row).is_ok() {
                out.work(Work::Insert, 1);
            }
        }
        filling.next += 1;
        if copy.is_last || recovery.settings.planted.is(Mutant::FilledTooEarly) {
            store.end_filling(copy.partition);
            recovery.member.is_filled(copy.partition);
            recovery.counts.filled += 1;
        }
    }
    if copy.number < filling.next {
        let to = Endpoint::host(from, 0);
        out.send(to, Class::Background, Stage::Copy, |bytes| {
            messages::answer_copy(epoch, &copy, bytes);
        });
        out.ring_doorbell();
    }
    Ok(())
}

/// Takes the answer to a copy, and sends the next.
pub(super) fn take_answer<S: Keeps>(
    shared: &mut S,
    now: Instant,
    from: NodeId,
    reader: &mut Reader<'_>,
    out: &mut Effects,
) -> Result<(), WireError> {
    let (partition, number) = messages::copy_answer(reader)?;
    let copying = &mut shared.parts().recovery.copying;
    let is_of = |copying: &Copying| {
        copying.partition == partition && copying.to == from && copying.number == number
    };
    let Some(at) = copying.iter().position(is_of) else { return Ok(()) };
    if copying[at].is_at_end() {
        copying.remove(at);
        return Ok(());
    }
    let next = &mut copying[at];
    next.number += 1;
    next.message.clear();
    next.again = now;
    tick(shared, now, out);
    Ok(())
}
