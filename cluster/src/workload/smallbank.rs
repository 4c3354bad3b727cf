// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank as FaSST runs it (OSDI 2016, section 6): 100,000 accounts for each thread of the cluster, of
//! which 4 % are hot, and accounts anywhere.
//!
//! Draws and logic are those of [`workloads::database::smallbank`]. The hot accounts are the first ones;
//! which node has an account is chosen by a hash, so they are spread over all.

use std::ops::RangeInclusive;
use std::sync::Arc;

use workloads::database::Workload;
use workloads::database::smallbank::{self as bank, Input};
use workloads::scenario::{self, SmallBankAccess};

use super::{Stream, Totals, decision};
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
    /// The seed of all draws.
    pub seed: u64,
}

impl SmallBankSettings {
    /// As in the paper, for so many nodes and threads of each.
    pub fn fasst(nodes: u16, threads: u16, access: SmallBankAccess) -> Self {
        let accounts = 100_000 * u64::from(nodes) * u64::from(threads);
        let hot_accounts = accounts / 25;
        Self { accounts, hot_accounts, access, initial_cents: 1_000_000, seed: 0 }
    }
}

/// Why there is no such SmallBank.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {found}, expected {expected}")]
pub struct SmallBankError {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub found: u64,
    /// What it has to be.
    pub expected: String,
}

/// SmallBank.
#[derive(Clone, Debug)]
pub struct SmallBank {
    workload: bank::SmallBank,
    accounts: u64,
    seed: u64,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    layouts: Vec<Layout>,
    tables: Vec<TableShape>,
    kinds: Vec<&'static str>,
}

const SAVINGS: TableNumber = TableNumber(bank::SAVINGS.0 as u8);
const CHECKING: TableNumber = TableNumber(bank::CHECKING.0 as u8);

impl SmallBank {
    /// The SmallBank of these settings.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn new(settings: SmallBankSettings) -> Result<Self, SmallBankError> {
        let SmallBankSettings { accounts, hot_accounts, access, initial_cents, seed } = settings;
        let check = |field, found, range: RangeInclusive<u64>| {
            if range.contains(&found) {
                return Ok(());
            }
            let expected = format!("{} to {}", range.start(), range.end());
            Err(SmallBankError { field, found, expected })
        };
        check("accounts", accounts, 2..=1 << 40)?;
        check("hot_accounts", hot_accounts, 2..=accounts)?;
        let workload = bank::SmallBank::new(
            &scenario::SmallBankSettings { accounts, hot_accounts, access },
            seed,
        )
        .with_initial_balance(initial_cents);
        let layout = |table| Layout::new(table, &[0]).expect("a table of integers");
        let layouts: Vec<_> = workload.tables().iter().map(layout).collect();
        let shape = |(table, layout): (&workloads::database::TableDefinition, &Layout)| {
            TableShape { name: table.name, value_bytes: layout.value_bytes(), rows: accounts }
        };
        let tables = workload.tables().iter().zip(&layouts).map(shape).collect();
        let kinds = workload.kinds().iter().map(|kind| kind.name).collect();
        Ok(Self { workload, accounts, seed, shared: Arc::new(Shared { layouts, tables, kinds }) })
    }
}

fn balance(value: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(value.try_into().ok()?))
}

impl Transactions for SmallBank {
    type Input = Input;
    type Source = Stream;

    fn tables(&self) -> &[TableShape] {
        &self.shared.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &self.shared.kinds
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
        if usize::from(key.table.0) >= self.shared.tables.len() {
            return false;
        }
        let Some(cents) = self.workload.initial_balance(key.row) else { return false };
        value.extend_from_slice(&cents.to_le_bytes());
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
        decision(self.workload.run(input, &mut Replay::new(&self.shared.layouts, rows)))
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
            change += (word_of(write.digest) as i64).wrapping_sub(word_of(read.digest) as i64);
        }
        let expected: &[i64] = match self.shared.kinds.get(usize::from(kind)) {
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
        balance(value).map(drop).ok_or_else(|| format!("it has {} bytes instead of 8", value.len()))
    }
}

#[cfg(test)]
mod tests;
