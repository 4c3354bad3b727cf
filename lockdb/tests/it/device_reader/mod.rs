// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device beside a store: it reconstructs snapshots from pages on native storage and a shared
//! state alone.

mod concurrent;
mod damage;
mod document;
mod hand_over;
mod random;
mod scene;
mod walk;
