//! The engine on a board in memory, beside a real store: its jobs do what the host itself would do.

mod card;
mod damage;
mod demands;
mod document;
mod faults;
mod hostile;
mod locks;
mod reads;
mod scene;
mod top_ups;
mod updates;
