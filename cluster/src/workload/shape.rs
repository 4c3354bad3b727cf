// SPDX-License-Identifier: MIT OR Apache-2.0
//! What protocols see of the tables of a [`workloads::database::Workload`].

use workloads::database::Workload;

use crate::transact::TableShape;
use crate::transact::database::Layout;

/// The layouts, tables and kinds of transactions of a workload.
#[derive(Debug)]
pub(super) struct Shape {
    /// How keys and rows of each table are laid out.
    pub layouts: Vec<Layout>,
    /// The tables.
    pub tables: Vec<TableShape>,
    /// The names of the kinds.
    pub kinds: Vec<&'static str>,
}

impl Shape {
    /// Of `workload`. For each table: the bits at which the columns of its key stand, and about how many rows
    /// it has.
    ///
    /// # Panics
    /// When a table has columns that are neither integers nor of a fixed length.
    pub fn of(workload: &impl Workload, tables: &[(&[u32], u64)]) -> Self {
        let definitions = workload.tables();
        let layout = |(table, (shifts, _)): (_, &(&[u32], u64))| {
            Layout::new(table, shifts).expect("integers and fixed bytes")
        };
        let layouts: Vec<_> = definitions.iter().zip(tables).map(layout).collect();
        let shape = |number: usize| TableShape {
            name: definitions[number].name,
            value_bytes: layouts[number].value_bytes(),
            rows: tables[number].1,
        };
        let tables = (0..layouts.len()).map(shape).collect();
        let kinds = workload.kinds().iter().map(|kind| kind.name).collect();
        Self { layouts, tables, kinds }
    }
}
