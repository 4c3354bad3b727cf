//! A device beside a store: it reconstructs snapshots from pages on native storage and a shared
//! state alone.

mod concurrent;
mod damage;
mod hand_over;
mod random;
mod scene;
