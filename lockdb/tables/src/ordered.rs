// SPDX-License-Identifier: MIT OR Apache-2.0
//! An ordered table for the host's own threads: no remote reader sees it. Xenic's TPC-C has its local tables in
//! B+ trees (section 5.2).
//!
//! The tree is `scc`'s, whose readers take no locks; an object has a lock of its own.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use scc::{Guard, TreeIndex};

use crate::error::TableError;

/// An object: its version and its value.
type Object = Arc<Mutex<(u32, Vec<u8>)>>;

/// Objects in the order of their keys.
#[derive(Debug)]
pub struct Ordered {
    /// By key + 1, so that two fences, which have no object, fit around. `scc` (3.8) may find nothing of a range
    /// while a leaf at one of the tree's ends is empty and not yet unlinked.
    tree: TreeIndex<u128, Option<Object>>,
    longest: usize,
}

impl Ordered {
    /// An empty table for values of at most `longest` bytes.
    pub fn new(longest: usize) -> Self {
        let tree = TreeIndex::new();
        for fence in [0, u64::MAX as u128 + 2] {
            assert!(tree.insert_sync(fence, None).is_ok(), "the tree is empty");
        }
        Ordered { tree, longest }
    }

    /// Adds an object, whose version is 1.
    ///
    /// # Errors
    /// When the key is there, or the value is over the limit.
    pub fn insert(&self, key: u64, value: &[u8]) -> Result<(), TableError> {
        self.check(value)?;
        let object = Arc::new(Mutex::new((1, value.to_vec())));
        let inserted = self.tree.insert_sync(key as u128 + 1, Some(object));
        inserted.map_err(|_| TableError::KeyPresent { key })
    }

    /// Replaces a value, and says the object's new version, one more, modulo 2³².
    ///
    /// # Errors
    /// When the key is not there, or the value is over the limit.
    pub fn update(&self, key: u64, value: &[u8]) -> Result<u64, TableError> {
        self.check(value)?;
        let object = self.object(key).ok_or(TableError::UnknownKey { key })?;
        let mut object = object.lock().unwrap_or_else(PoisonError::into_inner);
        object.0 = object.0.wrapping_add(1);
        object.1.clear();
        object.1.extend_from_slice(value);
        Ok(object.0 as u64)
    }

    /// Takes an object out.
    ///
    /// # Errors
    /// When the key is not there.
    pub fn delete(&self, key: u64) -> Result<(), TableError> {
        let removed = self.tree.remove_sync(&(key as u128 + 1));
        if removed { Ok(()) } else { Err(TableError::UnknownKey { key }) }
    }

    /// Copies the value of a key and says its version. When the key is not there, `value` is not changed.
    pub fn get(&self, key: u64, value: &mut Vec<u8>) -> Option<u64> {
        Some(copy(&*self.object(key)?, value))
    }

    /// Visits key, version and value of the objects in a range, in ascending order, until `visit` says `false`.
    /// Each object is as it was at an instant during the visit, but not all at the same one. `visit` may use the
    /// table.
    pub fn visit(&self, keys: RangeInclusive<u64>, mut visit: impl FnMut(u64, u64, &[u8]) -> bool) {
        let (guard, mut value) = (Guard::new(), Vec::new());
        let range = *keys.start() as u128 + 1..=*keys.end() as u128 + 1;
        for (key, object) in self.tree.range(range, &guard) {
            let Some(object) = object else { continue };
            let version = copy(object, &mut value);
            if !visit((key - 1) as u64, version, &value) {
                return;
            }
        }
    }

    fn object(&self, key: u64) -> Option<Object> {
        self.tree.peek_with(&(key as u128 + 1), |_, object| object.clone()).flatten()
    }

    fn check(&self, value: &[u8]) -> Result<(), TableError> {
        let (length, limit) = (value.len(), self.longest);
        if length > limit { Err(TableError::ValueTooLong { length, limit }) } else { Ok(()) }
    }
}

/// Copies the value of an object, and says its version. The lock is not held any longer.
fn copy(object: &Mutex<(u32, Vec<u8>)>, value: &mut Vec<u8>) -> u64 {
    let object = object.lock().unwrap_or_else(PoisonError::into_inner);
    value.clear();
    value.extend_from_slice(&object.1);
    object.0 as u64
}
