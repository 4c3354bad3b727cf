// SPDX-License-Identifier: MIT OR Apache-2.0
//! A digest of all that happened in a run.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use sha2::{Digest, Sha256};

/// How many words are collected before they are hashed.
const WORDS: usize = 64;

/// Frames and endings in their order. Each becomes a word by a fast hash; the words are hashed by
/// SHA-256.
pub(super) struct Happened {
    words: Vec<u8>,
    hash: Sha256,
}

impl Default for Happened {
    fn default() -> Self {
        Self { words: Vec::with_capacity(WORDS * 8), hash: Sha256::new() }
    }
}

impl Happened {
    /// Adds something: what it is, and its bytes.
    pub fn add(&mut self, about: [u64; 3], bytes: &[u8]) {
        let mut hasher = FixedState::default().build_hasher();
        about.iter().for_each(|word| hasher.write_u64(*word));
        hasher.write(bytes);
        self.words.extend_from_slice(&hasher.finish().to_le_bytes());
        if self.words.len() == WORDS * 8 {
            self.hash.update(&self.words);
            self.words.clear();
        }
    }

    /// The digest of all so far.
    pub fn so_far(&self) -> [u8; 32] {
        self.hash.clone().chain_update(&self.words).finalize().into()
    }
}
