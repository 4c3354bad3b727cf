// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank: a savings and a checking row for each account.
//!
//! Mix, access modes, amounts and the overdraft rule are those of FaSST (OSDI 2016). Money is in
//! cents. The total is the money in all rows.

use std::ops::ControlFlow;

use rand::Rng;

use super::schema::{Column, TableDefinition, TableId};
use super::store::{Access, ConsistencyError, Load, Order, Outcome, Row, RowMut};
use super::{Kind, Workload, present};
use crate::random::agent_stream;
use crate::scenario::SmallBankSettings;
use crate::smallbank as draws;

pub use crate::smallbank::Input;

/// The savings rows.
pub const SAVINGS: TableId = TableId(0);
/// The checking rows.
pub const CHECKING: TableId = TableId(1);
/// The balance of either, in cents; column 0 is the account.
pub const BALANCE: usize = 1;

/// What DepositChecking adds, in cents.
pub const DEPOSIT: i64 = 130;
/// What SendPayment moves, in cents.
pub const PAYMENT: i64 = 500;
/// What TransactSavings adds, in cents.
pub const SAVED: i64 = 2_020;
/// What WriteCheck takes, in cents.
pub const CHECK: i64 = 500;
/// What WriteCheck takes on top when the account does not cover the check, in cents.
pub const PENALTY: i64 = 100;

const ACCOUNT_COLUMNS: &[Column] = &[Column::int("account"), Column::int("balance")];

const TABLES: &[TableDefinition] = &[
    TableDefinition { name: "savings", columns: ACCOUNT_COLUMNS, key_columns: 1, indexes: &[] },
    TableDefinition { name: "checking", columns: ACCOUNT_COLUMNS, key_columns: 1, indexes: &[] },
];

const KINDS: &[Kind] = &[
    Kind::writes("amalgamate", draws::MIX[0]),
    Kind::reads("balance", draws::MIX[1]),
    Kind::writes("deposit-checking", draws::MIX[2]),
    Kind::writes("send-payment", draws::MIX[3]),
    Kind::writes("transact-savings", draws::MIX[4]),
    Kind::writes("write-check", draws::MIX[5]),
];

/// SmallBank over so many accounts.
#[derive(Clone, Copy, Debug)]
pub struct SmallBank {
    draws: draws::SmallBank,
    initial_cents: i64,
    seed: u64,
}

/// What a SmallBank transaction found and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// What it read of the first account, in cents, before any change: the row that it changes,
    /// or the sum of both rows where it looks at both.
    pub found: i64,
    /// The amount that it added to all rows, in cents.
    pub change: i64,
}

impl SmallBank {
    /// The accounts of the settings. Each row begins with 10,000.00 (the papers give no initial
    /// balance).
    ///
    /// # Panics
    /// When there are fewer than two hot accounts, or fewer accounts than hot ones.
    pub fn new(settings: &SmallBankSettings, seed: u64) -> Self {
        let SmallBankSettings { accounts, hot_accounts, .. } = *settings;
        assert!(
            (2..=accounts).contains(&hot_accounts),
            "{hot_accounts} hot accounts of {accounts}: expected 2 or more, and no more than all"
        );
        Self { draws: draws::SmallBank::new(settings), initial_cents: 1_000_000, seed }
    }

    /// The same with another initial balance of each row, in cents.
    pub fn with_initial_balance(self, cents: i64) -> Self {
        Self { initial_cents: cents, ..self }
    }

    /// One transaction of the mix, for streams other than [`Workload::inputs`].
    pub fn draw(&self, random: &mut impl Rng) -> Input {
        self.draws.draw(random)
    }

    /// The balance of each row of an account at the start, in cents; `None` for no account.
    pub fn initial_balance(&self, account: u64) -> Option<i64> {
        (account < self.draws.accounts).then_some(self.initial_cents)
    }

    fn accounts(&self) -> i64 {
        self.draws.accounts as i64
    }
}

impl Workload for SmallBank {
    type Input = Input;
    type Output = Output;

    fn tables(&self) -> &'static [TableDefinition] {
        TABLES
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn kind(&self, input: &Input) -> usize {
        match input {
            Input::Amalgamate { .. } => 0,
            Input::Balance { .. } => 1,
            Input::DepositChecking { .. } => 2,
            Input::SendPayment { .. } => 3,
            Input::TransactSavings { .. } => 4,
            Input::WriteCheck { .. } => 5,
        }
    }

    fn populate<L: Load>(&self, load: &mut L) -> Result<(), L::Error> {
        load.create(TABLES)?;
        for table in [SAVINGS, CHECKING] {
            for account in 0..self.accounts() {
                load.row(table, &[account.into(), self.initial_cents.into()])?;
            }
        }
        load.finish()
    }

    fn inputs(&self, agent: u32) -> impl Iterator<Item = Input> + Send {
        let mut random = agent_stream(self.seed, agent);
        let workload = *self;
        std::iter::repeat_with(move || workload.draw(&mut random))
    }

    fn run<A: Access>(&self, input: &Input, access: &mut A) -> Result<Outcome<Output>, A::Error> {
        let (found, change) = match *input {
            Input::Amalgamate { from, to } => {
                let saved = take_all(access, SAVINGS, from)?;
                let found = saved + take_all(access, CHECKING, from)?;
                add(access, CHECKING, to, found)?;
                (found, 0)
            }
            Input::Balance { account } => {
                let saved = balance(access, SAVINGS, account)?;
                (saved + balance(access, CHECKING, account)?, 0)
            }
            Input::DepositChecking { account } => {
                (add(access, CHECKING, account, DEPOSIT)?, DEPOSIT)
            }
            Input::TransactSavings { account } => (add(access, SAVINGS, account, SAVED)?, SAVED),
            Input::SendPayment { from, to } => {
                let found = change(access, CHECKING, from, |found| match found {
                    ..PAYMENT => found,
                    _ => found - PAYMENT,
                })?;
                if found < PAYMENT {
                    return Ok(Outcome::RolledBack(Output { found, change: 0 }));
                }
                add(access, CHECKING, to, PAYMENT)?;
                (found, 0)
            }
            Input::WriteCheck { account } => {
                let saved = balance(access, SAVINGS, account)?;
                let price =
                    |checking| if saved + checking < CHECK { CHECK + PENALTY } else { CHECK };
                let checking =
                    change(access, CHECKING, account, |checking| checking - price(checking))?;
                (saved + checking, -price(checking))
            }
        };
        Ok(Outcome::Committed(Output { found, change }))
    }

    fn change(&self, _: &Input, output: &Output) -> i64 {
        output.change
    }

    fn total<A: Access>(&self, access: &mut A) -> Result<i64, A::Error> {
        let mut sum = 0;
        for table in [SAVINGS, CHECKING] {
            access.scan(table, &[], &[], Order::Ascending, |row| {
                sum += row.int(BALANCE);
                ControlFlow::Continue(())
            })?;
        }
        Ok(sum)
    }

    /// Every account has both rows, and there are no others.
    fn check<A: Access>(&self, access: &mut A) -> Result<(), A::Error> {
        for table in [SAVINGS, CHECKING] {
            let (mut expected, mut stray) = (0, None);
            access.scan(table, &[], &[], Order::Ascending, |row| {
                if row.int(0) != expected {
                    stray = Some(row.int(0));
                    return ControlFlow::Break(());
                }
                expected += 1;
                ControlFlow::Continue(())
            })?;
            if stray.is_some() || expected != self.accounts() {
                let (name, accounts) = (TABLES[table.0].name, self.accounts());
                let next = stray.map_or("the end".into(), |stray| format!("{stray}"));
                let found = format!("`{name}` of {accounts}: {next} follows {expected} accounts");
                return Err(ConsistencyError::new("each account has both rows", found).into());
            }
        }
        Ok(())
    }
}

fn balance<A: Access>(access: &mut A, table: TableId, account: u64) -> Result<i64, A::Error> {
    let key = [account as i64];
    let balance = access.get(table, &key, |row| row.int(BALANCE))?;
    Ok(present(balance, TABLES[table.0].name, &key)?)
}

/// Replaces a balance; returns what it was.
fn change<A: Access>(
    access: &mut A,
    table: TableId,
    account: u64,
    new: impl FnOnce(i64) -> i64,
) -> Result<i64, A::Error> {
    let key = [account as i64];
    let balance = access.update(table, &key, |row| {
        let balance = row.int(BALANCE);
        row.set_int(BALANCE, new(balance));
        balance
    })?;
    Ok(present(balance, TABLES[table.0].name, &key)?)
}

fn add<A: Access>(
    access: &mut A,
    table: TableId,
    account: u64,
    cents: i64,
) -> Result<i64, A::Error> {
    change(access, table, account, |balance| balance + cents)
}

fn take_all<A: Access>(access: &mut A, table: TableId, account: u64) -> Result<i64, A::Error> {
    change(access, table, account, |_| 0)
}
