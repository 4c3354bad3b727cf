// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lockstep's own lock table, measured as PostgreSQL's is.

use std::time::Instant;

use locks::machine::{Outcome, Rule};
use locks::{Bucket, LockTable, LockTableError, Timestamp, TupleKey};

use super::latencies::Latencies;
use crate::{pin, stopwatch};

const HOLDER: Timestamp = Timestamp::new(12_345).expect("not 0");
/// Of every tuple.
const VERSION: u32 = 1;

/// A table whose only user locks and unlocks one tuple after the other.
#[derive(Debug)]
pub struct Locks(LockTable);

impl Locks {
    /// A table of so many MiB, all of it touched.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(mebibytes: usize) -> Result<Self, LockTableError> {
        let table = LockTable::new((mebibytes << 20) / size_of::<Bucket>())?;
        let locks = Self(table);
        (0..locks.0.buckets().len() as u32).for_each(|vid| {
            locks.pair(vid);
        });
        Ok(locks)
    }

    /// Mean ns of acquire and release of the tuples with these VIDs, which are known beforehand,
    /// so that the processor may begin one before the last has ended.
    pub fn overlapping(&self, vids: &[u32]) -> f64 {
        pin::on_one_processor(|| {
            stopwatch::each(vids.len() as u64, || {
                for &vid in vids {
                    self.pair(vid);
                }
            })
        })
    }

    /// As [`Locks::overlapping`], but where to find a VID depends on what the last pair left in
    /// its bucket, so that none can begin before the last has ended.
    pub fn dependent(&self, vids: &[u32]) -> f64 {
        pin::on_one_processor(|| {
            stopwatch::each(vids.len() as u64, || {
                // A free bucket's word, which is 0; the compiler does not know.
                let mut left = 0;
                for at in 0..vids.len() {
                    left = self.pair(vids[at + left]).head().word() as usize;
                }
            })
        })
    }

    /// How long each acquire takes, with one reading of the clock in it. The release before the
    /// next is not counted.
    pub fn latencies(&self, vids: &[u32]) -> Latencies {
        let mut nanoseconds = vec![0_u32; vids.len()];
        pin::on_one_processor(|| {
            for (&vid, nanoseconds) in vids.iter().zip(&mut nanoseconds) {
                let start = Instant::now();
                self.acquire(vid);
                let took = start.elapsed().as_nanos();
                *nanoseconds = took.try_into().unwrap_or(u32::MAX);
                self.release(vid);
            }
        });
        nanoseconds.into_iter().map(|nanoseconds| (nanoseconds, 1)).collect()
    }

    #[inline]
    fn pair(&self, vid: u32) -> &Bucket {
        self.acquire(vid);
        self.release(vid);
        &self.0.buckets()[self.0.bucket_of(key(vid))]
    }

    #[inline]
    fn acquire(&self, vid: u32) {
        let granted = self.0.acquire(HOLDER, key(vid), Rule::Queue);
        let is_new = matches!(granted, Outcome::Granted { again: false });
        assert!(is_new, "the only transaction there is was refused, or held the lock already");
    }

    #[inline]
    fn release(&self, vid: u32) {
        let released = self.0.release(HOLDER, key(vid));
        let is_free = matches!(released, Outcome::Released { next: None });
        assert!(is_free, "the only transaction there is did not hold its lock");
    }
}

#[inline]
fn key(vid: u32) -> TupleKey {
    TupleKey::new(vid.into(), VERSION)
}

/// Mean ns of one reading of the clock.
pub fn clock(count: u64) -> f64 {
    pin::on_one_processor(|| {
        stopwatch::each(count, || {
            for _ in 0..count {
                std::hint::black_box(Instant::now());
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_counted_and_the_table_is_free_afterwards() {
        let locks = Locks::new(1).expect("memory");
        // More tuples than buckets, so that some share one.
        let vids: Vec<u32> = (0..40_000).rev().collect();
        assert_eq!(locks.latencies(&vids).count(), 40_000);
        assert!(locks.overlapping(&vids) > 0.0 && locks.dependent(&vids) > 0.0);
        assert!(locks.0.buckets().iter().all(|bucket| bucket.line() == [0; 8]));
        assert!(clock(1000) > 0.0);
    }
}
