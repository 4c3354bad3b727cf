// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store's isolation levels and its row locks, proven by scenarios and by random histories:
//! `docs/store-isolation.md` says what is shown here.

mod anomalies;
mod mutants;
mod postgres;
mod random;
mod script;
mod stage;
mod step;
mod summary;
mod validation;
