// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank: six small banking transactions over accounts of two rows each.
//!
//! The mix and the two access modes are those of the public codes of FaSST (OSDI 2016) and
//! DrTM+H (OSDI 2018). Here the inputs are drawn, and the rows named that a transaction writes;
//! what it does to them is in [`database::smallbank`](crate::database::smallbank).

use rand::{Rng, RngExt};

use crate::random::draw_share;
use crate::scenario::{SmallBankAccess, SmallBankSettings};
use locks::TupleKey;

/// Shares in percent, in the order of [`Input`].
pub(crate) const MIX: [u32; 6] = [15, 15, 15, 25, 15, 15];

/// The input of one SmallBank transaction: the accounts, from 0. The amounts are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Moves all money of one account to the checking row of another.
    Amalgamate {
        /// Whose money.
        from: u64,
        /// The receiving account; a different one.
        to: u64,
    },
    /// Reads both rows.
    Balance {
        /// Whose.
        account: u64,
    },
    /// Adds to the checking row.
    DepositChecking {
        /// Whose.
        account: u64,
    },
    /// Moves money from one checking row to another.
    SendPayment {
        /// The paying account.
        from: u64,
        /// The receiving account; a different one.
        to: u64,
    },
    /// Adds to the savings row.
    TransactSavings {
        /// Whose.
        account: u64,
    },
    /// Takes from the checking row, with a penalty when both rows together do not cover it.
    WriteCheck {
        /// Whose.
        account: u64,
    },
}

/// Draws SmallBank transactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallBank {
    pub(crate) accounts: u64,
    hot_accounts: u64,
    hot_percent: u32,
}

impl SmallBank {
    pub(crate) fn new(settings: &SmallBankSettings) -> Self {
        let hot_percent = match settings.access {
            SmallBankAccess::Hot90 => 90,
            SmallBankAccess::Hot10 => 10,
        };
        Self { accounts: settings.accounts, hot_accounts: settings.hot_accounts, hot_percent }
    }

    /// One transaction of the mix.
    pub(crate) fn draw(&self, random: &mut impl Rng) -> Input {
        let kind = draw_share(MIX.into_iter(), random);
        // Hot or not is drawn once a transaction; the others pick among all accounts.
        let hot = random.random_range(0..100) < self.hot_percent;
        let among = if hot { self.hot_accounts } else { self.accounts };
        let account = random.random_range(0..among);
        match kind {
            0 => Input::Amalgamate { from: account, to: another(account, among, random) },
            1 => Input::Balance { account },
            2 => Input::DepositChecking { account },
            3 => Input::SendPayment { from: account, to: another(account, among, random) },
            4 => Input::TransactSavings { account },
            5 => Input::WriteCheck { account },
            _ => unreachable!("the mix has six kinds"),
        }
    }

    /// The rows that one transaction of the mix writes, in the order in which it does. Rows that
    /// it only reads are read from its snapshot, without a lock.
    pub(crate) fn locks(&self, random: &mut impl Rng) -> Vec<TupleKey> {
        match self.draw(random) {
            Input::Balance { .. } => vec![],
            Input::DepositChecking { account } | Input::WriteCheck { account } => {
                vec![checking(account)]
            }
            Input::TransactSavings { account } => vec![savings(account)],
            Input::SendPayment { from, to } => vec![checking(from), checking(to)],
            Input::Amalgamate { from, to } => vec![savings(from), checking(from), checking(to)],
        }
    }
}
/// An account other than `first`, every one alike.
fn another(first: u64, among: u64, random: &mut impl Rng) -> u64 {
    (first + random.random_range(1..among)) % among
}

/// The checking row of an account: odd VIDs.
fn checking(account: u64) -> TupleKey {
    TupleKey::initial(2 * account + 1)
}

/// The savings row of an account: even VIDs.
fn savings(account: u64) -> TupleKey {
    TupleKey::initial(2 * account + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const DRAWS: usize = 100_000;

    fn draws(access: SmallBankAccess) -> Vec<Vec<TupleKey>> {
        let settings = SmallBankSettings { accounts: 100_000, hot_accounts: 4_000, access };
        let bank = SmallBank::new(&settings);
        let mut random = ChaCha8Rng::seed_from_u64(5);
        (0..DRAWS).map(|_| bank.locks(&mut random)).collect()
    }

    /// Share of transactions with this many locks.
    fn share_of_length(draws: &[Vec<TupleKey>], length: usize) -> f64 {
        draws.iter().filter(|locks| locks.len() == length).count() as f64 / DRAWS as f64
    }

    /// Share of locks that fall on hot accounts.
    fn hot_share(draws: &[Vec<TupleKey>]) -> f64 {
        let locks: Vec<_> = draws.iter().flatten().collect();
        let hot = locks.iter().filter(|key| key.vid <= 2 * 4_000).count();
        hot as f64 / locks.len() as f64
    }

    #[test]
    fn the_mix_is_the_published_one() {
        assert_eq!(MIX.iter().sum::<u32>(), 100);
        let draws = draws(SmallBankAccess::Hot90);
        // Balance; deposit, savings and check; payment; amalgamate. Five deviations of the
        // widest share are 0.008.
        for (length, share) in [(0, 0.15), (1, 0.45), (2, 0.25), (3, 0.15)] {
            let seen = share_of_length(&draws, length);
            assert!((seen - share).abs() < 0.008, "{length} locks: {seen} instead of {share}");
        }
    }

    #[test]
    fn the_access_modes_hit_hot_accounts_as_published() {
        // 90 % + 10 % of 4 %, and 10 % + 90 % of 4 %.
        for (access, share) in [(SmallBankAccess::Hot90, 0.904), (SmallBankAccess::Hot10, 0.136)] {
            let seen = hot_share(&draws(access));
            assert!((seen - share).abs() < 0.008, "{access:?}: {seen} instead of {share}");
        }
    }

    #[test]
    fn rows_of_a_transaction_differ() {
        for locks in draws(SmallBankAccess::Hot90) {
            for (place, key) in locks.iter().enumerate() {
                assert!(!locks[..place].contains(key), "{locks:?}");
            }
        }
    }

    #[test]
    fn amalgamate_writes_both_rows_of_the_first_account() {
        let draws = draws(SmallBankAccess::Hot10);
        let amalgamate = draws.iter().find(|locks| locks.len() == 3).expect("15 % of the mix");
        assert_eq!(amalgamate[0].vid, amalgamate[1].vid + 1, "savings, then checking");
        assert_eq!(amalgamate[2].vid % 2, 1, "checking of the second account");
    }
}
