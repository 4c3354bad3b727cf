// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workloads whose inputs a test has chosen.

use std::sync::Arc;

use super::{ChangedRow, Totals};
use crate::engine::{Access, Key};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError};

/// A workload whose workers are given the inputs of a list, and no more.
#[derive(Clone, Debug)]
pub struct Scripted<T: Transactions> {
    workload: T,
    /// The inputs of each worker.
    inputs: Arc<[Vec<T::Input>]>,
}

/// How far a worker is in its list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    worker: u32,
    next: u32,
}

impl<T: Transactions> Scripted<T> {
    /// The tables and the logic of `workload`, with these inputs for each worker of the cluster. A worker
    /// beyond the list has none.
    pub fn new(workload: T, inputs: impl IntoIterator<Item = Vec<T::Input>>) -> Self {
        Self { workload, inputs: inputs.into_iter().collect() }
    }

    /// The first `count` inputs that each of so many workers would draw.
    pub fn drawn(workload: T, workers: u32, count: usize) -> Self {
        let inputs = (0..workers).map(|worker| {
            let mut source = workload.source(worker);
            std::iter::from_fn(|| workload.draw(&mut source)).take(count).collect()
        });
        let inputs = inputs.collect::<Vec<_>>();
        Self::new(workload, inputs)
    }

    /// The workload.
    pub fn workload(&self) -> &T {
        &self.workload
    }
}

impl<T: Transactions> Transactions for Scripted<T> {
    type Input = T::Input;
    type Source = Script;

    fn tables(&self) -> &[TableShape] {
        self.workload.tables()
    }

    fn kinds(&self) -> &[&'static str] {
        self.workload.kinds()
    }

    fn kind(&self, input: &T::Input) -> u8 {
        self.workload.kind(input)
    }

    fn source(&self, worker: u32) -> Script {
        Script { worker, next: 0 }
    }

    fn draw(&self, source: &mut Script) -> Option<T::Input> {
        let input = self.inputs.get(source.worker as usize)?.get(source.next as usize)?;
        source.next += 1;
        Some(input.clone())
    }

    fn put_input(&self, input: &T::Input, out: &mut Vec<u8>) {
        self.workload.put_input(input, out);
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<T::Input, WireError> {
        self.workload.take_input(reader)
    }

    fn is_one_round(&self, input: &T::Input) -> bool {
        self.workload.is_one_round(input)
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        self.workload.initial(key, value)
    }

    fn declare(&self, input: &T::Input, rows: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        self.workload.declare(input, rows, wanted);
    }

    fn run(&self, input: &T::Input, rows: &mut Rows) -> Result<Decision, Missing> {
        self.workload.run(input, rows)
    }
}

impl<T: Totals> Totals for Scripted<T> {
    fn total_name(&self) -> &'static str {
        self.workload.total_name()
    }

    fn count(&self, key: Key, value: Option<&[u8]>) -> i64 {
        self.workload.count(key, value)
    }

    fn change(&self, kind: u8, accesses: &[Access]) -> Result<i64, String> {
        self.workload.change(kind, accesses)
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        self.workload.check_row(key, value)
    }

    fn check_together(&self, rows: &[ChangedRow<'_>]) -> Result<(), String> {
        self.workload.check_together(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::check_inputs;
    use crate::workload::{ObjectStore, ObjectStoreSettings};

    #[test]
    fn workers_are_given_their_inputs_in_order() {
        let settings = ObjectStoreSettings { objects: 100, ..ObjectStoreSettings::o(2, 1, 3, 1) };
        let store = ObjectStore::new(settings).expect("sound settings");
        let scripted = Scripted::drawn(store.clone(), 2, 5);
        for worker in 0..3 {
            let (mut source, mut script) = (store.source(worker), scripted.source(worker));
            for _ in 0..if worker < 2 { 5 } else { 0 } {
                assert_eq!(scripted.draw(&mut script), store.draw(&mut source));
            }
            assert_eq!(scripted.draw(&mut script), None);
        }
        check_inputs(&scripted, 0, 5);
    }
}
