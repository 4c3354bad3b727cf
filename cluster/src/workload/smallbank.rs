// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank as FaSST runs it (OSDI 2016, section 6): 100,000 accounts for each thread of the cluster, of
//! which 4 % are hot, and accounts anywhere. Also as Xenic runs it (SOSP 2021, section 5.5): 2.4 million
//! accounts for each node, and balances of four bytes, so that an object has 12 bytes with its key.
//!
//! A balance of four bytes is a signed number of cents, up to about 21.5 million in money. A transaction
//! that would exceed it rolls back, as a payment without funds does. The papers do not say what happens.
//!
//! Draws and logic are those of [`workloads::database::smallbank`]. The hot accounts are the first ones;
//! which node has an account is chosen by a hash, so they are spread over all.

use std::ops::RangeInclusive;
use std::sync::Arc;

use workloads::database::Workload;
use workloads::database::smallbank::{self as bank, Input};
use workloads::scenario::{self, SmallBankAccess};

use super::shape::Shape;
use super::{Stream, Totals};
use crate::engine::{Access, Key, TableNumber};
use crate::transact::database::{Layout, Replay};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions, word_of};
use crate::wire::{Reader, WireError, Writer};

/// The numbers of a SmallBank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallBankSettings {
    /// How many accounts all nodes have together.
    pub accounts: u64,
    /// How many of them are hot, at least two.
    pub hot_accounts: u64,
    /// How often the hot ones are picked.
    pub access: SmallBankAccess,
    /// The balance of each row at the start, in cents.
    pub initial_cents: i64,
    /// The bytes of a balance: 8, or 4.
    pub balance_bytes: u16,
    /// The seed of all draws.
    pub seed: u64,
}

impl SmallBankSettings {
    /// As in the paper, for so many nodes and threads of each.
    pub fn fasst(nodes: u16, threads: u16, access: SmallBankAccess) -> Self {
        let accounts = 100_000 * u64::from(nodes) * u64::from(threads);
        let hot_accounts = accounts / 25;
        let (initial_cents, balance_bytes) = (1_000_000, 8);
        Self { accounts, hot_accounts, access, initial_cents, balance_bytes, seed: 0 }
    }

    /// As in Xenic's paper, for so many nodes.
    pub fn xenic(nodes: u16, access: SmallBankAccess) -> Self {
        let accounts = 2_400_000 * u64::from(nodes);
        let hot_accounts = accounts / 25;
        Self { accounts, hot_accounts, balance_bytes: 4, ..Self::fasst(nodes, 1, access) }
    }
}

/// Why there is no such SmallBank.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {found}, expected {expected}")]
pub struct SmallBankError {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub found: i64,
    /// What it has to be.
    pub expected: String,
}

/// SmallBank.
#[derive(Clone, Debug)]
pub struct SmallBank {
    workload: bank::SmallBank,
    accounts: u64,
    seed: u64,
    shape: Arc<Shape>,
}

const SAVINGS: TableNumber = TableNumber(bank::SAVINGS.0 as u8);
const CHECKING: TableNumber = TableNumber(bank::CHECKING.0 as u8);

impl SmallBank {
    /// The SmallBank of these settings.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn new(settings: SmallBankSettings) -> Result<Self, SmallBankError> {
        let SmallBankSettings { accounts, hot_accounts, access, initial_cents, seed, .. } =
            settings;
        let check = |field, found, range: RangeInclusive<i64>| {
            if range.contains(&found) {
                return Ok(());
            }
            let expected = format!("{} to {}", range.start(), range.end());
            Err(SmallBankError { field, found, expected })
        };
        // More are too many, however many there are.
        let [all, hot] = [accounts, hot_accounts].map(|of| i64::try_from(of).unwrap_or(i64::MAX));
        check("accounts", all, 2..=1 << 40)?;
        check("hot_accounts", hot, 2..=all)?;
        let least = match settings.balance_bytes {
            8 => i64::MIN,
            4 => i32::MIN.into(),
            found => {
                let (found, expected) = (found.into(), "4 or 8".into());
                return Err(SmallBankError { field: "balance_bytes", found, expected });
            }
        };
        check("initial_cents", initial_cents, least..=!least)?;
        let workload = bank::SmallBank::new(
            &scenario::SmallBankSettings { accounts, hot_accounts, access },
            seed,
        )
        .with_initial_balance(initial_cents);
        let bytes = usize::from(settings.balance_bytes);
        let table = |definition| {
            let layout = Layout::with_integers(definition, &[0], |_| bytes);
            (layout.expect("a table of integers"), accounts)
        };
        let tables = workload.tables().iter().map(table).collect();
        Ok(Self { workload, accounts, seed, shape: Arc::new(Shape::of(&workload, tables)) })
    }

    fn balance_bytes(&self) -> usize {
        self.shape.tables[0].value_bytes.into()
    }

    /// The balance that has this digest.
    fn balance_of(&self, digest: u64) -> i64 {
        let word = word_of(digest);
        if self.balance_bytes() == 4 { (word as i32).into() } else { word as i64 }
    }
}

/// The balance that is a value.
fn balance(value: &[u8]) -> Option<i64> {
    match value.len() {
        4 => Some(i32::from_le_bytes(value.try_into().ok()?).into()),
        _ => Some(i64::from_le_bytes(value.try_into().ok()?)),
    }
}

impl Transactions for SmallBank {
    type Input = Input;
    type Source = Stream;

    fn tables(&self) -> &[TableShape] {
        &self.shape.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &self.shape.kinds
    }

    fn kind(&self, input: &Input) -> u8 {
        self.workload.kind(input) as u8
    }

    fn source(&self, worker: u32) -> Stream {
        Stream::new(self.seed, worker)
    }

    fn draw(&self, source: &mut Stream) -> Option<Input> {
        source.drawn += 1;
        Some(self.workload.draw(&mut source.random))
    }

    /// The kind (1 byte) and one account or two (8 each).
    fn put_input(&self, input: &Input, out: &mut Vec<u8>) {
        out.put_u8(self.kind(input));
        match *input {
            Input::Amalgamate { from, to } | Input::SendPayment { from, to } => {
                out.put_u64(from);
                out.put_u64(to);
            }
            Input::Balance { account }
            | Input::DepositChecking { account }
            | Input::TransactSavings { account }
            | Input::WriteCheck { account } => out.put_u64(account),
        }
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<Input, WireError> {
        let kind = reader.u8_in(0..=5, "a kind of transaction (0 to 5)")?;
        let last = self.accounts - 1;
        let mut account = || reader.u64_in(0..=last, "an account");
        Ok(match kind {
            0 | 3 => {
                let (from, to) = (account()?, account()?);
                if from == to {
                    let (expected, at) = ("another account", reader.position() - 8);
                    return Err(WireError::Unknown { expected, found: to, at });
                }
                match kind {
                    0 => Input::Amalgamate { from, to },
                    _ => Input::SendPayment { from, to },
                }
            }
            1 => Input::Balance { account: account()? },
            2 => Input::DepositChecking { account: account()? },
            4 => Input::TransactSavings { account: account()? },
            _ => Input::WriteCheck { account: account()? },
        })
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        if usize::from(key.table.0) >= self.shape.tables.len() {
            return false;
        }
        let Some(cents) = self.workload.initial_balance(key.row) else { return false };
        value.extend_from_slice(&cents.to_le_bytes()[..self.balance_bytes()]);
        true
    }

    fn declare(&self, input: &Input, _: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        let mut want = |table, row, intent| wanted.push((Key { table, row }, intent));
        match *input {
            Input::Amalgamate { from, to } => {
                want(SAVINGS, from, Intent::Write);
                want(CHECKING, from, Intent::Write);
                want(CHECKING, to, Intent::Write);
            }
            Input::Balance { account } => {
                want(SAVINGS, account, Intent::Read);
                want(CHECKING, account, Intent::Read);
            }
            Input::DepositChecking { account } => want(CHECKING, account, Intent::Write),
            Input::SendPayment { from, to } => {
                want(CHECKING, from, Intent::Write);
                want(CHECKING, to, Intent::Write);
            }
            Input::TransactSavings { account } => want(SAVINGS, account, Intent::Write),
            Input::WriteCheck { account } => {
                want(SAVINGS, account, Intent::Read);
                want(CHECKING, account, Intent::Write);
            }
        }
    }

    fn run(&self, input: &Input, rows: &mut Rows) -> Result<Decision, Missing> {
        Replay::new(&self.shape.layouts, rows).run(|replay| self.workload.run(input, replay))
    }
}

impl Totals for SmallBank {
    fn total_name(&self) -> &'static str {
        "the money in cents"
    }

    fn count(&self, _: Key, value: Option<&[u8]>) -> i64 {
        value.and_then(balance).unwrap_or(0)
    }

    fn change(&self, kind: u8, accesses: &[Access]) -> Result<i64, String> {
        let mut change = 0;
        for write in accesses.iter().filter(|access| access.writes) {
            let read = accesses.iter().find(|access| !access.writes && access.key == write.key);
            let read = read.filter(|read| read.digest != 0 && write.digest != 0);
            let read = read.ok_or_else(|| format!("account {} made or deleted", write.key.row))?;
            let [now, was] = [write, read].map(|access| self.balance_of(access.digest));
            change += now.wrapping_sub(was);
        }
        let expected: &[i64] = match self.shape.kinds.get(usize::from(kind)) {
            Some(&"deposit-checking") => &[bank::DEPOSIT],
            Some(&"transact-savings") => &[bank::SAVED],
            // Without funds a check costs a penalty.
            Some(&"write-check") => &[-bank::CHECK, -bank::CHECK - bank::PENALTY],
            _ => &[0],
        };
        let changes = || format!("it changed the money by {change}, expected one of {expected:?}");
        expected.contains(&change).then_some(change).ok_or_else(changes)
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        if self.workload.initial_balance(key.row).is_none() {
            return Err("there is no such account".into());
        }
        let expected = self.balance_bytes();
        if value.len() != expected {
            return Err(format!("it has {} bytes instead of {expected}", value.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
