// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bug that is planted in a cluster, if one is.

use std::marker::PhantomData;

/// The planted bug among those that `M` names, if there is one. Without the feature `mutants` there is never
/// one, and asking costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Planted<M> {
    #[cfg(feature = "mutants")]
    mutant: Option<M>,
    kind: PhantomData<M>,
}

impl<M> Default for Planted<M> {
    /// None.
    fn default() -> Self {
        Self {
            #[cfg(feature = "mutants")]
            mutant: None,
            kind: PhantomData,
        }
    }
}

impl<M: Copy + PartialEq> Planted<M> {
    /// This bug.
    #[cfg(feature = "mutants")]
    pub const fn new(mutant: M) -> Self {
        Self { mutant: Some(mutant), kind: PhantomData }
    }

    /// Whether the bug is this one.
    #[cfg(feature = "mutants")]
    #[inline]
    pub fn is(self, mutant: M) -> bool {
        self.mutant == Some(mutant)
    }

    /// Whether the bug is this one.
    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub fn is(self, _: M) -> bool {
        false
    }

    /// The bug of a part of the protocol, if it is one of those.
    #[cfg(feature = "mutants")]
    pub fn of_part<N>(self, part: impl FnOnce(M) -> Option<N>) -> Planted<N> {
        Planted { mutant: self.mutant.and_then(part), kind: PhantomData }
    }

    /// The bug of a part of the protocol, if it is one of those.
    #[cfg(not(feature = "mutants"))]
    pub fn of_part<N>(self, _: impl FnOnce(M) -> Option<N>) -> Planted<N> {
        Planted::default()
    }
}
