// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages a transaction, and their bytes where a protocol's count has them, as they are counted by hand from the protocol's description, to stand beside
//! those that a run has sent.
//!
//! The count takes no state of the protocol's machines: only the keys that transactions want, the
//! place of each key, and the rules of the protocol's paper, without aborts, losses and retries. Mixes are counted over drawn inputs, since a closed form would have to repeat the workload.

use cluster::engine::{Key, Stage};
use cluster::transact::{Decision, Intent, Rows, Transactions};

/// Where keys are, and how often.
pub struct Places<F> {
    /// Machines of the cluster.
    pub nodes: u16,
    /// Backups of each key.
    pub backups: u16,
    /// Workers of each machine, which coordinate the transactions that they draw.
    pub workers: u32,
    /// The node of a key's primary.
    pub primary: F,
}

/// Messages, requests and responses together, and one-sided verbs, for each stage of a transaction that ends
/// without an abort.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByHand {
    messages: [f64; Stage::COUNT],
    bytes: Option<[f64; Stage::COUNT]>,
    verbs: [f64; Stage::COUNT],
}

impl ByHand {
    /// Messages of a stage, for each transaction.
    pub fn of(&self, stage: Stage) -> f64 {
        self.messages[stage as usize]
    }

    /// Their bytes for each transaction, without the medium's headers, if those are counted.
    pub fn bytes_of(&self, stage: Stage) -> Option<f64> {
        self.bytes.map(|bytes| bytes[stage as usize])
    }

    /// One-sided verbs of a stage, for each transaction.
    pub fn verbs_of(&self, stage: Stage) -> f64 {
        self.verbs[stage as usize]
    }

    /// Messages in all, for each transaction.
    pub fn total(&self) -> f64 {
        self.messages.iter().sum()
    }
}

/// Rounds of a transaction's execution that no workload needs: its declaration does not come to an end.
const MOST_ROUNDS: usize = 64;

/// Messages by stage.
pub type Sum = [u64; Stage::COUNT];

/// The mean over so many inputs of the messages that `transaction` counts for one.
pub fn mean<T: Transactions, F: Fn(Key) -> u16>(
    transactions: &T,
    places: &Places<F>,
    inputs: u32,
    transaction: impl Fn(&mut Count<'_, F>, &T, &T::Input, &mut Sum),
) -> ByHand {
    let mut count = Count::new(places);
    let mut sum = Sum::default();
    let mut drawn = 0;
    // Of different workers, as in a run, from each machine in turn.
    let nodes = u32::from(places.nodes);
    let workers = inputs.div_ceil(16).clamp(1, nodes * places.workers);
    for place in 0..workers {
        let (node, number) = (place % nodes, place / nodes);
        let mut source = transactions.source(node * places.workers + number);
        count.coordinator = node as u16;
        for _ in 0..inputs.div_ceil(workers).min(inputs - drawn) {
            let Some(input) = transactions.draw(&mut source) else { break };
            drawn += 1;
            count.rows.clear();
            transaction(&mut count, transactions, &input, &mut sum);
        }
    }
    let mean = |of: u64| of as f64 / f64::from(drawn.max(1));
    let bytes = (count.bytes != Sum::default()).then(|| count.bytes.map(mean));
    ByHand { messages: sum.map(mean), bytes, verbs: count.verbs.map(mean) }
}

/// Counts one transaction after the other.
pub struct Count<'a, F> {
    places: &'a Places<F>,
    coordinator: u16,
    rows: Rows,
    wanted: Vec<(Key, Intent)>,
    value: Vec<u8>,
    /// Machines that one step goes to, each once.
    machines: Vec<u16>,
    /// Bytes of all messages by stage, as far as they are counted.
    bytes: Sum,
    /// One-sided verbs, of all transactions so far.
    verbs: Sum,
}

impl<'a, F: Fn(Key) -> u16> Count<'a, F> {
    fn new(places: &'a Places<F>) -> Self {
        let (rows, wanted, value, machines, bytes, verbs) = Default::default();
        Self { places, coordinator: 0, rows, wanted, value, machines, bytes, verbs }
    }

    /// Counts bytes of messages of a stage.
    pub fn add_bytes(&mut self, stage: Stage, bytes: usize) {
        self.bytes[stage as usize] += bytes as u64;
    }

    /// Where keys are.
    pub fn places(&self) -> &'a Places<F> {
        self.places
    }

    /// The node of the transaction.
    pub fn coordinator(&self) -> u16 {
        self.coordinator
    }

    /// The rows of the transaction, with its changes.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many different machines these are, but for the coordinator's own.
    pub fn machines(&mut self, machines: impl IntoIterator<Item = u16>) -> u64 {
        self.machines.clear();
        for machine in machines {
            if machine != self.coordinator && !self.machines.contains(&machine) {
                self.machines.push(machine);
            }
        }
        self.machines.len() as u64
    }

    /// Counts one-sided verbs.
    pub fn add_verbs(&mut self, stage: Stage, times: u64) {
        self.verbs[stage as usize] += times;
    }

    /// Fetches what is wanted round by round, by a request and a response for each other machine, then runs the
    /// logic; `None` if it never has what it needs.
    pub fn execute<T: Transactions>(
        &mut self,
        transactions: &T,
        input: &T::Input,
        sum: &mut Sum,
    ) -> Option<Decision> {
        self.rounds(transactions, input, |count, wanted| {
            let primary = &count.places.primary;
            let machines: Vec<u16> = wanted.iter().map(|(key, _)| primary(*key)).collect();
            sum[Stage::Execute as usize] += 2 * count.machines(machines);
        })
    }

    /// Fetches what is wanted round by round, of each of which `round` is told when its rows are there, then runs the
    /// logic; `None` if it never has what it needs.
    pub fn rounds<T: Transactions>(
        &mut self,
        transactions: &T,
        input: &T::Input,
        mut round: impl FnMut(&mut Self, &[(Key, Intent)]),
    ) -> Option<Decision> {
        for _ in 0..MOST_ROUNDS {
            self.wanted.clear();
            transactions.declare(input, &self.rows, &mut self.wanted);
            let rows = &self.rows;
            self.wanted.retain(|(key, intent)| !rows.has(*key, *intent));
            if self.wanted.is_empty() {
                match transactions.run(input, &mut self.rows) {
                    Ok(decision) => return Some(decision),
                    Err(missing) => self.wanted.push((missing.key, missing.intent)),
                }
            }
            let wanted = std::mem::take(&mut self.wanted);
            for (key, intent) in &wanted {
                self.value.clear();
                let found = transactions.initial(*key, &mut self.value);
                self.rows.fetched(*key, *intent, 0, found.then_some(&self.value));
            }
            round(self, &wanted);
            self.wanted = wanted;
        }
        None
    }
}

/// The expected number of machines, but the coordinator's own, that hold one of `keys` primaries on
/// different machines, or `backups` of each: the closed form of an object store's steps.
#[cfg(test)]
fn distinct(nodes: u16, copies: u16, keys: u16) -> f64 {
    // A machine is left out if no primary is among the `copies` before it.
    let left_out: f64 = (0..keys)
        .map(|drawn| {
            let free = f64::from(nodes) - f64::from(copies) - f64::from(drawn);
            free.max(0.0) / (f64::from(nodes) - f64::from(drawn))
        })
        .product();
    (f64::from(nodes) - 1.0) * (1.0 - left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_once_to_each_other_machine() {
        let places =
            Places { nodes: 4, backups: 2, workers: 1, primary: |key: Key| key.row as u16 };
        let mut count = Count::new(&places);
        count.coordinator = 1;
        assert_eq!(count.machines([0, 1, 2, 2, 0]), 2);
        assert_eq!(count.machines([1]), 0);
    }

    #[test]
    fn machines_of_different_primaries_are_counted_exactly() {
        // One key: its primary is another machine in ten of eleven cases.
        assert!((distinct(11, 1, 1) - 10.0 / 11.0).abs() < 1e-12);
        // All primaries of all machines leave nobody out.
        assert!((distinct(5, 1, 5) - 4.0).abs() < 1e-12);
        assert!((distinct(5, 2, 4) - 4.0).abs() < 1e-12);
    }
}
