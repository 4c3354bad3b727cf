// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions over tables: SmallBank, TATP, YCSB and TPC-C for any transactional store.
//!
//! Inputs and logic are apart. A [`Workload`] draws inputs, which are plain values and depend on
//! seed, agent and place in the agent's stream only. Its logic is written once, over the
//! [`Access`] trait. So the same inputs can be given to any store, local or distributed; and to
//! the [`Reference`], a serial store on ordered maps that serves as the oracle: what a
//! serializable store has committed, [`replay`]ed there in commit order, gives the same results
//! and the same tables ([`same_tables`]).
//!
//! Each workload has consistency conditions ([`check`]) and one total that its transactions
//! change by known amounts ([`Workload::change`]), so that lost or repeated work is detected.
//!
//! ```
//! use lockstep_workloads::database::{Reference, Workload, check, execute, total};
//! use lockstep_workloads::database::smallbank::SmallBank;
//! use lockstep_workloads::scenario::{SmallBankAccess, SmallBankSettings};
//!
//! let access = SmallBankAccess::Hot90;
//! let bank = SmallBank::new(&SmallBankSettings { accounts: 1_000, hot_accounts: 40, access }, 1);
//! let mut store = Reference::default();
//! bank.populate(&mut store)?;
//! let mut expected = total(&mut store, &bank)?;
//! for input in bank.inputs(0).take(100) {
//!     let outcome = execute(&mut store, &bank, &input)?;
//!     if outcome.is_committed() {
//!         expected += bank.change(&input, outcome.value());
//!     }
//! }
//! check(&mut store, &bank, expected)?;
//! # Ok::<(), lockstep_workloads::database::ReferenceError>(())
//! ```

mod lockdb_store;
mod oracle;
mod reference;
pub mod schema;
pub mod smallbank;
mod store;
pub mod tatp;
pub mod tpcc;
pub mod ycsb;

use std::fmt::Debug;

pub use lockdb_store::{Loaded, SerialPlace, StoreError, StoreLoader, StoreSession};
pub use oracle::{replay, same_tables};
pub use reference::{Reference, ReferenceError, ReferenceRow};
pub use schema::{Column, ColumnKind, IndexDefinition, TableDefinition, TableId, Value};
pub use store::{Access, Body, ConsistencyError, Load, Mode, Order, Outcome, Row, RowMut, Session};

/// One kind of transaction of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name, in lower case with hyphens.
    pub name: &'static str,
    /// Whether it writes.
    pub mode: Mode,
    /// Its share of the mix in percent.
    pub percent: u32,
}

impl Kind {
    const fn reads(name: &'static str, percent: u32) -> Self {
        Self { name, mode: Mode::ReadOnly, percent }
    }

    const fn writes(name: &'static str, percent: u32) -> Self {
        Self { name, mode: Mode::ReadWrite, percent }
    }
}

/// A database, the transactions on it, and what holds of it.
pub trait Workload: Sync {
    /// The complete input of a transaction.
    type Input: Clone + Debug + PartialEq + Send + Sync;

    /// What a transaction found: equal on two stores when they executed the same inputs in the
    /// same serial order.
    type Output: Clone + Debug + PartialEq + Send;

    /// The tables; a [`TableId`] is a place in this list.
    fn tables(&self) -> &'static [TableDefinition];

    /// The kinds of transactions; their shares sum to 100.
    fn kinds(&self) -> &'static [Kind];

    /// The kind of this input, as a place in [`Workload::kinds`].
    fn kind(&self, input: &Self::Input) -> usize;

    /// Makes the tables and fills them. The same rows every time.
    ///
    /// # Errors
    /// The loader's.
    fn populate<L: Load>(&self, load: &mut L) -> Result<(), L::Error>;

    /// The endless stream of an agent's inputs. The n-th depends on the workload's settings and
    /// seed, the agent and n only. On one population a stream is gone on with, not begun again:
    /// its inputs carry keys of new rows.
    fn inputs(&self, agent: u32) -> impl Iterator<Item = Self::Input> + Send;

    /// Executes one transaction; see [`Body::run`].
    ///
    /// # Errors
    /// See [`Body::run`].
    fn run<A: Access>(
        &self,
        input: &Self::Input,
        access: &mut A,
    ) -> Result<Outcome<Self::Output>, A::Error>;

    /// By how much this transaction, having committed, has changed [`Workload::total`].
    fn change(&self, input: &Self::Input, output: &Self::Output) -> i64;

    /// The total that transactions change by [`Workload::change`] and nothing else changes.
    ///
    /// # Errors
    /// The store's.
    fn total<A: Access>(&self, access: &mut A) -> Result<i64, A::Error>;

    /// Checks the consistency conditions.
    ///
    /// # Errors
    /// A [`ConsistencyError`] for the first that does not hold; the store's.
    fn check<A: Access>(&self, access: &mut A) -> Result<(), A::Error>;
}

/// Executes one transaction of a workload.
///
/// # Errors
/// See [`Session::transact`].
pub fn execute<S: Session, W: Workload>(
    session: &mut S,
    workload: &W,
    input: &W::Input,
) -> Result<Outcome<W::Output>, S::Error> {
    session.transact(&mut Execution { workload, input })
}

/// Checks all consistency conditions and the total, in one read-only transaction. `expected` is
/// the [`total`] after the population plus the [`Workload::change`] of every transaction that has
/// committed since.
///
/// # Errors
/// A [`ConsistencyError`] for the first condition that does not hold; the session's.
pub fn check<S: Session, W: Workload>(
    session: &mut S,
    workload: &W,
    expected: i64,
) -> Result<(), S::Error> {
    session.transact(&mut Audit { workload, expected }).map(drop)
}

/// The total that the workload's transactions change by [`Workload::change`].
///
/// # Errors
/// The session's.
pub fn total<S: Session, W: Workload>(session: &mut S, workload: &W) -> Result<i64, S::Error> {
    session.transact(&mut Total { workload }).map(|outcome| *outcome.value())
}

struct Execution<'w, W: Workload> {
    workload: &'w W,
    input: &'w W::Input,
}

impl<W: Workload> Body for Execution<'_, W> {
    type Output = W::Output;

    fn mode(&self) -> Mode {
        self.workload.kinds()[self.workload.kind(self.input)].mode
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<W::Output>, A::Error> {
        self.workload.run(self.input, access)
    }
}

struct Audit<'w, W> {
    workload: &'w W,
    expected: i64,
}

impl<W: Workload> Body for Audit<'_, W> {
    type Output = ();

    fn mode(&self) -> Mode {
        Mode::ReadOnly
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<()>, A::Error> {
        self.workload.check(access)?;
        let (total, expected) = (self.workload.total(access)?, self.expected);
        if total != expected {
            let found = format!("{total} instead of {expected}");
            return Err(
                ConsistencyError::new("the total is what the transactions made it", found).into()
            );
        }
        Ok(Outcome::Committed(()))
    }
}

struct Total<'w, W> {
    workload: &'w W,
}

impl<W: Workload> Body for Total<'_, W> {
    type Output = i64;

    fn mode(&self) -> Mode {
        Mode::ReadOnly
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<i64>, A::Error> {
        self.workload.total(access).map(Outcome::Committed)
    }
}

/// A row that the workload's logic cannot do without.
fn present<T>(row: Option<T>, table: &'static str, key: &[i64]) -> Result<T, ConsistencyError> {
    row.ok_or_else(|| {
        ConsistencyError::new(
            "a row stays until its workload deletes it",
            format!("no {table} {key:?}"),
        )
    })
}
