// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes to a history, as a faulty store would make them.

use history::{History, Read, Status, TransactionRecord};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One read of a committed transaction gets another committed version of its key.
pub fn read(history: History, seed: u64) -> Option<History> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (header, mut transactions) = history.into_parts();
    for _ in 0..1000 {
        let at = random.random_range(1..transactions.len());
        let Some(place) = some_read(&transactions[at], &mut random) else { continue };
        let read = &transactions[at].reads[place];
        let writers = transactions.iter().filter(|t| t.status == Status::Committed);
        let others: Vec<u64> = writers
            .filter(|writer| writer.txn != transactions[at].txn)
            .filter_map(|writer| writer.writes.iter().rev().find(|w| w.key == read.key))
            .map(|write| write.version)
            .filter(|version| Some(*version) != read.version)
            .collect();
        if transactions[at].status != Status::Committed || others.is_empty() {
            continue;
        }
        let version = others[random.random_range(0..others.len())];
        transactions[at].reads[place].version = Some(version);
        return Some(History::new(header, transactions).expect("still of the format"));
    }
    None
}

fn some_read(transaction: &TransactionRecord, random: &mut ChaCha8Rng) -> Option<usize> {
    let reads = transaction.reads.len();
    (reads > 0).then(|| random.random_range(0..reads))
}

/// Some change, which may or may not matter; none if it would break the format.
pub fn any(history: History, seed: u64) -> History {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xC4A2_6E00);
    let (header, original) = history.into_parts();
    let mut transactions = original.clone();
    let at = random.random_range(1..transactions.len());
    let versions: Vec<Read> = transactions
        .iter()
        .flat_map(|t| &t.writes)
        .map(|write| Read::new(write.key.clone(), write.version))
        .collect();
    let transaction = &mut transactions[at];
    match random.random_range(0..7) {
        0..3 => {
            if let Some(place) = some_read(transaction, &mut random) {
                let key = transaction.reads[place].key.clone();
                let same: Vec<&Read> = versions.iter().filter(|v| v.key == key).collect();
                transaction.reads[place] = same[random.random_range(0..same.len())].clone();
            }
        }
        3 => {
            if !transaction.writes.is_empty() {
                let place = random.random_range(0..transaction.writes.len());
                transaction.writes.remove(place);
            }
        }
        4 => {
            transaction.status = Status::Aborted;
            transaction.commit = None;
        }
        5 => {
            let most = transaction.commit.unwrap_or(3);
            transaction.begin = Some(random.random_range(0..=most));
        }
        _ => {
            if let Some(scan) = transaction.scans.first_mut()
                && !scan.keys.is_empty()
            {
                let place = random.random_range(0..scan.keys.len());
                scan.keys.remove(place);
            }
        }
    }
    History::new(header.clone(), transactions)
        .unwrap_or_else(|_| History::new(header, original).expect("as it was"))
}
