// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages a transaction as they are counted by hand from the protocol's description, to stand beside
//! those that a run has sent.
//!
//! The count takes no state of the protocol's machines: only the keys that transactions want, the
//! place of each key, and the rules of FaSST's sections 5 and 5.1, without aborts, losses and retries.
//! Mixes are counted over drawn inputs, since a closed form would have to repeat the workload.

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

/// Messages, requests and responses together, for each stage of a transaction that ends without an
/// abort.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByHand {
    messages: [f64; Stage::COUNT],
}

impl ByHand {
    /// Messages of a stage, for each transaction.
    pub fn of(&self, stage: Stage) -> f64 {
        self.messages[stage as usize]
    }

    /// Messages in all, for each transaction.
    pub fn total(&self) -> f64 {
        self.messages.iter().sum()
    }
}

/// Rounds of a transaction's execution that no workload needs: its declaration does not come to an end.
const MOST_ROUNDS: usize = 64;

/// The mean over so many inputs of FaSST.
pub fn fasst<T: Transactions, F: Fn(Key) -> u16>(
    transactions: &T,
    places: &Places<F>,
    inputs: u32,
) -> ByHand {
    let mut count = Count::new(places);
    let mut sum = [0_u64; Stage::COUNT];
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
            count.transaction(transactions, &input, &mut sum);
        }
    }
    let mean = |of: u64| of as f64 / f64::from(drawn.max(1));
    ByHand { messages: sum.map(mean) }
}

/// Counts one transaction after the other.
struct Count<'a, F> {
    places: &'a Places<F>,
    coordinator: u16,
    rows: Rows,
    wanted: Vec<(Key, Intent)>,
    value: Vec<u8>,
    /// Machines that one step goes to, each once.
    machines: Vec<u16>,
}

impl<'a, F: Fn(Key) -> u16> Count<'a, F> {
    fn new(places: &'a Places<F>) -> Self {
        let (rows, wanted, value, machines) = Default::default();
        Self { places, coordinator: 0, rows, wanted, value, machines }
    }

    /// A request and a response for each machine but the coordinator's own.
    fn step(&mut self, machines: impl IntoIterator<Item = u16>) -> u64 {
        self.machines.clear();
        for machine in machines {
            if machine != self.coordinator && !self.machines.contains(&machine) {
                self.machines.push(machine);
            }
        }
        2 * self.machines.len() as u64
    }

    fn transaction<T: Transactions>(
        &mut self,
        transactions: &T,
        input: &T::Input,
        sum: &mut [u64; Stage::COUNT],
    ) {
        self.rows.clear();
        let decision = self.execute(transactions, input, sum);
        let rows = self.rows.all().to_vec();
        let primary = &self.places.primary;
        let written = rows.iter().filter(|row| row.intent == Intent::Write);
        let locked: Vec<u16> = written.clone().map(|row| primary(row.key)).collect();
        let read = rows.iter().filter(|row| row.intent == Intent::Read);
        let read: Vec<u16> = read.map(|row| primary(row.key)).collect();
        // A lone key that is read needs no validation.
        if rows.len() > 1 {
            sum[Stage::Validate as usize] += self.step(read);
        }
        if decision == Some(Decision::RollBack) || locked.is_empty() {
            sum[Stage::Abort as usize] += self.step(locked);
            return;
        }
        let Places { nodes, backups, .. } = *self.places;
        let after = |node: u16| (1..=backups).map(move |step| (node + step) % nodes);
        sum[Stage::Log as usize] += self.step(after(self.coordinator));
        let changed = written.filter(|row| row.change().is_some());
        let changed: Vec<u16> = changed.map(|row| primary(row.key)).collect();
        sum[Stage::Backup as usize] += self.step(changed.into_iter().flat_map(after));
        sum[Stage::Primary as usize] += self.step(locked);
    }

    /// Fetches what is wanted round by round, then runs the logic; `None` if it never has what it needs.
    fn execute<T: Transactions>(
        &mut self,
        transactions: &T,
        input: &T::Input,
        sum: &mut [u64; Stage::COUNT],
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
            let primary = &self.places.primary;
            let machines: Vec<u16> = wanted.iter().map(|(key, _)| primary(*key)).collect();
            sum[Stage::Execute as usize] += self.step(machines);
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
        assert_eq!(count.step([0, 1, 2, 2, 0]), 4);
        assert_eq!(count.step([1]), 0);
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
