// SPDX-License-Identifier: MIT OR Apache-2.0
//! Updates that are compiled once, however often they are run.

use lockdb::Table;

use crate::program::{CompileError, CompiledUpdate, compile_update};

/// A compiled update of one table: for [`NearTransaction::update`](super::NearTransaction::update),
/// [`Runtime::update`](super::Runtime::update) and [`HostPath::update`](super::HostPath::update).
#[derive(Clone, Debug)]
pub struct PreparedUpdate<'t> {
    pub(super) table: &'t Table,
    pub(super) compiled: CompiledUpdate,
}

impl<'t> PreparedUpdate<'t> {
    /// Compiles the change of the rows of a table that satisfy a predicate (`None`: all), as the
    /// assignments say, such as `balance = balance + 5`.
    ///
    /// # Errors
    /// As [`compile_update`].
    pub fn new(
        table: &'t Table,
        predicate: Option<&str>,
        assignments: &str,
    ) -> Result<Self, CompileError> {
        let compiled = compile_update(table.id(), table.schema(), predicate, assignments)?;
        Ok(Self { table, compiled })
    }

    /// The table.
    pub fn table(&self) -> &'t Table {
        self.table
    }
}
