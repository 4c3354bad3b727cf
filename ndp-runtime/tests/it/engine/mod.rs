// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine on a board in memory, beside a real store: its jobs have the same effect as the
//! host's own work.

mod card;
mod damage;
mod demands;
mod document;
mod hostile;
mod locks;
mod mutants;
mod reads;
mod scene;
mod top_ups;
mod updates;
