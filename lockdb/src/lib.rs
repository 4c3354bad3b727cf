// SPDX-License-Identifier: MIT OR Apache-2.0
//! A multi-version store whose row locks are the shared lock table (ccSLT paper, sections 2.3
//! and 3).
//!
//! ```
//! use lockdb::schema::{Schema, Type};
//! use lockdb::{Database, Error, Options};
//!
//! let store = Database::in_memory(Options::default())?;
//! let accounts = store.create_table(
//!     Schema::builder("account")
//!         .column("id", Type::Int64)
//!         .column("balance", Type::Int64)
//!         .primary_key(&["id"])
//!         .build()?,
//! )?;
//! store.transaction(|transaction| {
//!     transaction.insert(&accounts, &[1.into(), 100.into()])?;
//!     transaction.insert(&accounts, &[2.into(), 100.into()])
//! })?;
//! store.transaction(|transaction| {
//!     transaction.update(&accounts, &1, |row| Ok(row.set_int(1, row.as_row().int(1) - 30)))?;
//!     transaction.update(&accounts, &2, |row| Ok(row.set_int(1, row.as_row().int(1) + 30)))
//! })?;
//! let balance = store.transaction(|transaction| {
//!     Ok::<_, Error>(transaction.get(&accounts, &2)?.map(|row| row.int(1)))
//! })?;
//! assert_eq!(balance, Some(130));
//! # Ok::<(), Error>(())
//! ```

pub mod device_reader;
pub mod files;
pub mod layout;
pub mod log;
pub mod memory;
pub mod mutant;
pub mod near_data;
pub mod schema;
pub mod shared_state;
pub mod visibility;

mod admission;
mod change;
mod checkpoint;
mod database;
mod error;
mod load;
mod lock_table;
mod maintenance;
mod native;
mod options;
mod pages;
mod pins;
mod rebuild;
mod recovery;
mod retired;
mod session;
mod table;
mod transaction;
mod vacuum;
mod watches;

pub use checkpoint::Checkpoint;
pub use database::Database;
pub use error::{ConflictError, Ending, Error, Result};
pub use load::{LoadError, LoadProgress};
pub use log::Durability;
pub use native::StorageBytes;
pub use options::{IndexBuild, Isolation, Options, TransactionOptions};
pub use pins::OldSnapshot;
pub use recovery::Recovery;
pub use session::Session;
pub use table::Table;
pub use transaction::{LockWait, Order, Savepoint, Transaction};
pub use vacuum::Vacuumed;
