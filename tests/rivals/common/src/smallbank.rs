// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank: six small banking transactions over accounts of two rows each.
//!
//! Mix, amounts and the access mode `hot90` (nine of ten transactions pick among the 4 % hot
//! accounts) are those of the public code of FaSST (Kalia et al., OSDI 2016).

use anyhow::Result;
use rand::{Rng, RngExt};

use crate::{Reads, Writes};

/// The six transactions. Their shares of the mix are in [`MIX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Amalgamate,
    Balance,
    DepositChecking,
    SendPayment,
    TransactSavings,
    WriteCheck,
}

/// Shares of the mix in percent.
const MIX: [(Kind, u32); 6] = [
    (Kind::Amalgamate, 15),
    (Kind::Balance, 15),
    (Kind::DepositChecking, 15),
    (Kind::SendPayment, 25),
    (Kind::TransactSavings, 15),
    (Kind::WriteCheck, 15),
];

/// Shares of hot accounts, and of transactions that pick among them, in percent.
const HOT_ACCOUNTS: u64 = 4;
const HOT_TRANSACTIONS: u32 = 90;

/// Amounts in cents.
const DEPOSIT: i64 = 130;
const PAYMENT: i64 = 500;
const SAVING: i64 = 2020;
const CHECK: i64 = 500;
const PENALTY: i64 = 100;

/// One transaction of the mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallBank {
    kind: Kind,
    first: u64,
    second: u64,
}

impl SmallBank {
    /// One over `accounts` accounts, of which there are at least two.
    pub fn draw(accounts: u64, random: &mut impl Rng) -> Self {
        let kind = draw_kind(random);
        let hot = random.random_range(0..100) < HOT_TRANSACTIONS;
        let among = if hot { (accounts * HOT_ACCOUNTS / 100).max(2) } else { accounts };
        let first = random.random_range(0..among);
        let second = (first + random.random_range(1..among)) % among;
        Self { kind, first, second }
    }

    /// Whether it changes nothing, so that a snapshot is enough: see [`SmallBank::look`].
    pub fn only_reads(self) -> bool {
        self.kind == Kind::Balance
    }

    /// Does what a transaction that only reads does.
    ///
    /// # Errors
    /// Those of the rows.
    pub fn look(self, rows: &dyn Reads) -> Result<i64> {
        Ok(rows.get(savings(self.first))? + rows.get(checking(self.first))?)
    }

    /// Does it inside a transaction, and returns by how much all balances together grow, or
    /// nothing when the transaction is to be rolled back for want of funds.
    ///
    /// # Errors
    /// Those of the rows.
    pub fn apply(self, rows: &mut dyn Writes) -> Result<Option<i64>> {
        let (first, second) = (self.first, self.second);
        let growth = match self.kind {
            Kind::Balance => {
                rows.get(savings(first))?;
                rows.get(checking(first))?;
                0
            }
            Kind::DepositChecking => add(rows, checking(first), DEPOSIT)?,
            Kind::TransactSavings => add(rows, savings(first), SAVING)?,
            Kind::WriteCheck => {
                let funds = rows.get(savings(first))? + rows.get(checking(first))?;
                let penalty = if funds < CHECK { PENALTY } else { 0 };
                add(rows, checking(first), -CHECK - penalty)?
            }
            Kind::SendPayment => {
                let funds = rows.get(checking(first))?;
                if funds < PAYMENT {
                    return Ok(None);
                }
                rows.put(checking(first), funds - PAYMENT)?;
                add(rows, checking(second), PAYMENT)? - PAYMENT
            }
            Kind::Amalgamate => {
                let funds = rows.get(savings(first))? + rows.get(checking(first))?;
                rows.put(savings(first), 0)?;
                rows.put(checking(first), 0)?;
                add(rows, checking(second), funds)? - funds
            }
        };
        Ok(Some(growth))
    }
}

/// The savings row of an account.
fn savings(account: u64) -> u64 {
    2 * account
}

/// The checking row of an account.
fn checking(account: u64) -> u64 {
    2 * account + 1
}

fn add(rows: &mut dyn Writes, row: u64, amount: i64) -> Result<i64> {
    let balance = rows.get(row)?;
    rows.put(row, balance + amount)?;
    Ok(amount)
}

fn draw_kind(random: &mut impl Rng) -> Kind {
    let mut percent = random.random_range(0..100);
    for (kind, share) in MIX {
        if percent < share {
            return kind;
        }
        percent -= share;
    }
    unreachable!("the mix sums to 100 percent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const DRAWS: usize = 100_000;

    fn draws() -> Vec<SmallBank> {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        (0..DRAWS).map(|_| SmallBank::draw(100_000, &mut random)).collect()
    }

    fn share(draws: &[SmallBank], wanted: impl Fn(&SmallBank) -> bool) -> f64 {
        draws.iter().filter(|draw| wanted(draw)).count() as f64 / DRAWS as f64
    }

    #[test]
    fn the_mix_and_the_hot_accounts_are_the_published_ones() {
        let draws = draws();
        // Five deviations of the widest share are 0.008.
        for (kind, percent) in MIX {
            let (seen, expected) = (share(&draws, |draw| draw.kind == kind), percent as f64 / 1e2);
            assert!((seen - expected).abs() < 0.008, "{kind:?}: {seen} instead of {expected}");
        }
        let hot = share(&draws, |draw| draw.first < 4_000);
        assert!((hot - 0.904).abs() < 0.008, "{hot}");
        assert!(draws.iter().all(|draw| draw.first != draw.second));
    }

    /// Savings and checking of account 0, then of account 1.
    struct Rows([i64; 4]);

    impl Writes for Rows {
        fn get(&mut self, row: u64) -> Result<i64> {
            Ok(self.0[row as usize])
        }

        fn put(&mut self, row: u64, balance: i64) -> Result<()> {
            self.0[row as usize] = balance;
            Ok(())
        }
    }

    #[track_caller]
    fn check(kind: Kind, before: [i64; 4], after: [i64; 4]) {
        let mut rows = Rows(before);
        let growth = SmallBank { kind, first: 0, second: 1 }.apply(&mut rows).expect("in memory");
        assert_eq!(rows.0, after);
        let refused = kind == Kind::SendPayment && before == after;
        let difference = after.iter().sum::<i64>() - before.iter().sum::<i64>();
        assert_eq!(growth, (!refused).then_some(difference));
    }

    #[test]
    fn each_transaction_does_what_it_is_named_for() {
        check(Kind::Balance, [1, 2, 3, 4], [1, 2, 3, 4]);
        check(Kind::DepositChecking, [1, 2, 3, 4], [1, 132, 3, 4]);
        check(Kind::TransactSavings, [1, 2, 3, 4], [2021, 2, 3, 4]);
        check(Kind::WriteCheck, [300, 200, 3, 4], [300, -300, 3, 4]);
        check(Kind::WriteCheck, [300, 199, 3, 4], [300, -401, 3, 4]);
        check(Kind::SendPayment, [0, 500, 3, 4], [0, 0, 3, 504]);
        check(Kind::SendPayment, [900, 499, 3, 4], [900, 499, 3, 4]);
        check(Kind::Amalgamate, [10, 20, 3, 4], [0, 0, 3, 34]);
    }
}
