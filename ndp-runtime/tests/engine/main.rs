//! The engine on a board in memory, beside a real store: its jobs do what the host itself would do.

mod card;
mod document;
mod faults;
mod hostile;
mod reads;
mod scene;
mod updates;
