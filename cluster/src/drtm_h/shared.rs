// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the threads of a node share.

use std::sync::Arc;

use super::address::{Address, PRESENT, version_word};
use super::context::Fixed;
use super::ring::{self, Ring};
use crate::engine::{Key, NodeId, TransactionId};
use crate::membership::{Member, View};
use crate::recovery::{self, Keeps, Parts, Recovery, Whole};
use crate::store::log::Log;
use crate::store::{Item, Store};
use crate::transact::{Change, Transactions};

/// What the threads of a node share: its rows, and the logs that others write.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    /// The rows.
    pub store: Store<T>,
    /// A log for each thread, which its peers write.
    pub(super) rings: Vec<Ring>,
    /// The view, which never changes.
    pub(super) recovery: Recovery,
    /// Recovery's log, which stays empty as nothing is recovered.
    pub(super) log: Log,
}

impl<T: Transactions> Shared<T> {
    pub(super) fn new(fixed: &Fixed<T>, own: NodeId) -> Self {
        let Fixed { settings, workload, layout, .. } = fixed;
        let held = layout.all().filter(|at| layout.initial_replicas(*at).contains(&own));
        let store = Store::new(workload.clone(), Arc::clone(layout), held);
        let member = Member::new(own, None, Arc::new(View::initial(layout)));
        let of_recovery = recovery::Settings {
            mtu: settings.mtu,
            copies_initial_rows: false,
            planted: recovery::Planted::default(),
        };
        let rings = vec![Ring::default(); settings.threads.into()];
        Self { store, rings, recovery: Recovery::new(member, of_recovery), log: Log::new() }
    }

    /// Appends what a READ brings, and says whether there is such memory: of a row its lock, version and value,
    /// and zeros.
    pub fn read_host(&self, at: u64, length: u32, to: &mut Vec<u8>) -> bool {
        let (key, skips) = match Address::of(at) {
            Address::Lock(key) => (key, 0),
            Address::Version(key) => (key, 8),
            Address::Log { .. } => return false,
        };
        let start = to.len();
        to.extend_from_slice(&[0; 16][skips..]);
        let Ok(found) = self.store.read(key, to) else {
            to.truncate(start);
            return false;
        };
        let lock = found.locked.map_or(0, |by| by.0);
        let version = version_word(found.version, found.present);
        let header = (u128::from(version) << 64 | u128::from(lock)).to_le_bytes();
        to[start..start + 16 - skips].copy_from_slice(&header[skips..]);
        to.resize(start + length as usize, 0);
        true
    }

    /// What a WRITE brings lands. Says whether there is such memory.
    pub fn write_host(&mut self, at: u64, bytes: &[u8]) -> bool {
        match Address::of(at) {
            Address::Lock(key) => match <[u8; 8]>::try_from(bytes) {
                Ok(word) => self.write_lock(key, u64::from_le_bytes(word)),
                Err(_) => false,
            },
            Address::Version(key) => self.write_row(key, bytes),
            Address::Log { thread } => {
                let is_record = ring::check(bytes, self.store.workload().tables()).is_ok();
                match self.rings.get_mut(usize::from(thread)).filter(|_| is_record) {
                    Some(ring) => {
                        ring.push(bytes);
                        true
                    }
                    None => false,
                }
            }
        }
    }

    fn write_lock(&mut self, key: Key, word: u64) -> bool {
        let Some(header) = self.store.header(self.store.header_of(key)) else { return false };
        if let Some(holder) = header.holder() {
            self.store.unlock(key, holder);
        }
        word == 0 || self.store.lock(key, TransactionId(word)).is_ok()
    }

    fn write_row(&mut self, key: Key, bytes: &[u8]) -> bool {
        let Some((word, value)) = bytes.split_first_chunk::<8>() else { return false };
        let word = u64::from_le_bytes(*word);
        let Some(fetched) = (word & !PRESENT).checked_sub(1).filter(|_| word & PRESENT != 0) else {
            return false;
        };
        self.store.apply(&Item { key, change: Change::Update, fetched, value }).is_ok()
    }

    /// Whether all records have been applied.
    ///
    /// # Errors
    /// A sentence for the first log that has some.
    pub(super) fn check_rings(&self) -> Result<(), String> {
        let waiting = self.rings.iter().enumerate().find_map(|(thread, ring)| {
            let first = ring::name_of(ring.first()?)?;
            Some(format!(
                "the log of thread {thread} has {} records at rest, the first of attempt {:#018x}",
                ring.len(),
                first.0
            ))
        });
        waiting.map_or(Ok(()), Err)
    }
}

/// No view ever ends, so nothing of this is asked but what is there.
impl<T: Transactions> Keeps for Shared<T> {
    type Workload = T;
    type Records = Whole;

    fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    fn store(&self) -> &Store<T> {
        &self.store
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn parts(&mut self) -> Parts<'_, T> {
        Parts { recovery: &mut self.recovery, store: &mut self.store, log: &mut self.log }
    }

    /// Each record is of a transaction that commits.
    fn decides(&self, records: &[(TransactionId, &[u8])], _: &[(NodeId, &[u8])]) -> Vec<bool> {
        vec![true; records.len()]
    }
}
