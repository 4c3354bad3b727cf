// SPDX-License-Identifier: MIT OR Apache-2.0
//! The writes of a transaction, private until it commits.

use std::collections::HashMap;
use std::ops::Range;

use super::super::layout::RecordId;
use super::super::schema::IndexKey;
use super::super::table::Which;

/// The writes of one transaction, in order, and the index entries that it has made for them.
#[derive(Debug, Default)]
pub(crate) struct WriteSet {
    writes: Vec<Write>,
    payloads: Vec<u8>,
    /// The newest write of each tuple, kept when there are too many to look through.
    newest: HashMap<(u32, u32), u32>,
    entries: Vec<MadeEntry>,
}

/// One write of one tuple.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) table: u32,
    pub(crate) vid: u32,
    /// The new version's number.
    pub(crate) number: u32,
    /// The tuple's newest committed version. The transaction holds the row's lock.
    pub(crate) head: RecordId,
    pub(crate) tombstone: bool,
    payload: Range<usize>,
    /// The transaction's write of this tuple before this one.
    previous: Option<u32>,
    superseded: bool,
}

/// An index entry that was not there before.
#[derive(Debug)]
pub(crate) struct MadeEntry {
    pub(crate) table: u32,
    pub(crate) which: Which,
    pub(crate) key: IndexKey,
    pub(crate) vid: u32,
}

/// How far a write set had come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    writes: usize,
    payloads: usize,
    entries: usize,
}

/// Up to so many writes are looked through one by one.
const FEW: usize = 16;

impl WriteSet {
    pub(crate) fn clear(&mut self) {
        self.writes.clear();
        self.payloads.clear();
        self.newest.clear();
        self.entries.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Whether it has a write of a table.
    pub(crate) fn has_table(&self, table: u32) -> bool {
        self.writes.iter().any(|write| write.table == table)
    }

    /// The newest write of a tuple.
    #[inline]
    pub(crate) fn find(&self, table: u32, vid: u32) -> Option<&Write> {
        self.position(table, vid).map(|at| &self.writes[at])
    }

    #[inline]
    fn position(&self, table: u32, vid: u32) -> Option<usize> {
        if self.writes.len() <= FEW {
            return self.writes.iter().rposition(|write| write.vid == vid && write.table == table);
        }
        self.newest.get(&(table, vid)).map(|&at| at as usize)
    }

    pub(crate) fn push(
        &mut self,
        (table, vid, number): (u32, u32, u32),
        head: RecordId,
        payload: &[u8],
        tombstone: bool,
    ) {
        let previous = self.position(table, vid);
        if let Some(previous) = previous {
            self.writes[previous].superseded = true;
        }
        let start = self.payloads.len();
        self.payloads.extend_from_slice(payload);
        let payload = start..self.payloads.len();
        let previous = previous.map(|at| at as u32);
        let superseded = false;
        self.writes.push(Write {
            table,
            vid,
            number,
            head,
            tombstone,
            payload,
            previous,
            superseded,
        });
        match self.writes.len() {
            ..=FEW => {}
            len if len == FEW + 1 => {
                let all = self.writes.iter().enumerate();
                self.newest.extend(all.map(|(at, write)| ((write.table, write.vid), at as u32)));
            }
            len => {
                self.newest.insert((table, vid), len as u32 - 1);
            }
        }
    }

    pub(crate) fn payload(&self, write: &Write) -> &[u8] {
        &self.payloads[write.payload.clone()]
    }

    /// The newest write of each tuple, in the order in which they were made.
    pub(crate) fn last_writes(&self) -> impl Iterator<Item = (&Write, &[u8])> {
        let last = self.writes.iter().filter(|write| !write.superseded);
        last.map(|write| (write, self.payload(write)))
    }

    pub(crate) fn note_entry(&mut self, entry: MadeEntry) {
        self.entries.push(entry);
    }

    /// The index entries made for keys that a row had between two writes, and has no more.
    pub(crate) fn passing_entries<'a>(
        &'a self,
        key: impl Fn(&MadeEntry, &[u8]) -> IndexKey + 'a,
    ) -> impl Iterator<Item = &'a MadeEntry> {
        let rewritten = self.writes.iter().any(|write| write.superseded);
        let made = if rewritten { &self.entries[..] } else { &[] };
        made.iter().filter(move |entry| {
            let last = self.find(entry.table, entry.vid);
            last.is_some_and(|last| key(entry, self.payload(last)) != entry.key)
        })
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            writes: self.writes.len(),
            payloads: self.payloads.len(),
            entries: self.entries.len(),
        }
    }

    /// Forgets what was written since `mark`; gives the index entries made since, newest first.
    pub(crate) fn undo_to(&mut self, mark: Mark) -> Vec<MadeEntry> {
        while self.writes.len() > mark.writes {
            let many = self.writes.len() > FEW;
            let write = self.writes.pop().expect("longer than the mark");
            if many {
                self.newest.remove(&(write.table, write.vid));
            }
            if let Some(previous) = write.previous {
                self.writes[previous as usize].superseded = false;
                if many {
                    self.newest.insert((write.table, write.vid), previous);
                }
            }
        }
        if self.writes.len() <= FEW {
            self.newest.clear();
        }
        self.payloads.truncate(mark.payloads);
        let mut made = self.entries.split_off(mark.entries);
        made.reverse();
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a plain list, across the limit between few and many.
    #[test]
    fn the_newest_write_of_each_tuple_counts_until_it_is_undone() {
        let mut set = WriteSet::default();
        let (mut plain, mut marks) = (Vec::<(u32, u8)>::new(), Vec::new());
        let mut state = 1_u64;
        for step in 0..3000_u32 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let draw = (state >> 33) as u32;
            match draw % 8 {
                0 => marks.push((set.mark(), plain.len())),
                1 if !marks.is_empty() => {
                    let (mark, len) = marks.swap_remove(draw as usize / 8 % marks.len());
                    marks.retain(|&(_, other)| other <= len);
                    set.undo_to(mark);
                    plain.truncate(len);
                }
                _ => {
                    let vid = draw / 8 % 12;
                    set.push((0, vid, 1), RecordId::NONE, &[step as u8; 3], false);
                    plain.push((vid, step as u8));
                }
            }
            for vid in 0..12 {
                let expected = plain.iter().rfind(|(of, _)| *of == vid).map(|&(_, byte)| [byte; 3]);
                let found = set.find(0, vid).map(|write| set.payload(write));
                assert_eq!(found, expected.as_ref().map(|bytes| &bytes[..]), "step {step}");
            }
            let tuples: std::collections::HashSet<u32> =
                plain.iter().map(|&(vid, _)| vid).collect();
            assert_eq!(set.last_writes().count(), tuples.len());
        }
    }
}
