// SPDX-License-Identifier: MIT OR Apache-2.0
//! What protocols see of the tables of a [`workloads::database::Workload`].

use workloads::database::{TableDefinition, Workload};

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
    /// Of `workload`, whose tables have these layouts, and about so many rows. They are placed by a hash.
    pub fn of(workload: &impl Workload, tables: Vec<(Layout, u64)>) -> Self {
        let shape = |(definition, (layout, rows)): (&TableDefinition, &(Layout, u64))| {
            TableShape::hashed(definition.name, layout.value_bytes(), *rows)
        };
        let shapes = workload.tables().iter().zip(&tables).map(shape).collect();
        let layouts = tables.into_iter().map(|(layout, _)| layout).collect();
        let kinds = workload.kinds().iter().map(|kind| kind.name).collect();
        Self { layouts, tables: shapes, kinds }
    }
}
