// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine notes beside its state.

use std::hash::{Hash, Hasher};

/// Something that says nothing about the state of a machine: all values are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aside<V>(pub V);

impl<V> PartialEq for Aside<V> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<V> Eq for Aside<V> {}

impl<V> Hash for Aside<V> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
