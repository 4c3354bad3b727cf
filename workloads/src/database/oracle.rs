// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reference as a judge of other stores.

use std::ops::ControlFlow;

use super::reference::{Reference, ReferenceError};
use super::schema::{TableDefinition, TableId};
use super::store::{Access, Body, ConsistencyError, Mode, Order, Outcome, Row, Session};
use super::{Workload, execute};

/// Executes what a store has committed, in its commit order, on the reference; each transaction
/// must commit there too, with the same output.
///
/// This is the full test of a serializable store whose serial order is known. A transaction that
/// only read may be left out, or stand where it serializes.
///
/// # Errors
/// A [`ConsistencyError`] that names the first transaction that went another way, counted from 0.
pub fn replay<W: Workload>(
    reference: &mut Reference,
    workload: &W,
    history: impl IntoIterator<Item = (W::Input, W::Output)>,
) -> Result<(), ReferenceError> {
    for (place, (input, output)) in history.into_iter().enumerate() {
        let outcome = execute(reference, workload, &input)?;
        if outcome != Outcome::Committed(output.clone()) {
            let found = format!("transaction {place}, {input:?}: {output:?}, serially {outcome:?}");
            let condition = "transactions return what they do in commit order";
            return Err(ConsistencyError::new(condition, found).into());
        }
    }
    Ok(())
}

/// Compares all tables and secondary indexes of a store with those of the reference, in one
/// read-only transaction.
///
/// # Errors
/// A [`ConsistencyError`] that names the first difference; the session's.
pub fn same_tables<S: Session>(session: &mut S, reference: &mut Reference) -> Result<(), S::Error> {
    session.transact(&mut Comparison { reference }).map(drop)
}

struct Comparison<'r> {
    reference: &'r mut Reference,
}

/// The order in which a table is walked.
#[derive(Clone, Copy)]
enum Walk {
    Primary,
    Index(usize),
}

impl Body for Comparison<'_> {
    type Output = ();

    fn mode(&self) -> Mode {
        Mode::ReadOnly
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<()>, A::Error> {
        let definitions: Vec<_> = self.reference.definitions().collect();
        for (number, definition) in definitions.into_iter().enumerate() {
            let table = TableId(number);
            let indexes = (0..definition.indexes.len()).map(Walk::Index);
            for walk in std::iter::once(Walk::Primary).chain(indexes) {
                compare(access, self.reference, table, definition, walk)?;
            }
        }
        Ok(Outcome::Committed(()))
    }
}

fn compare<A: Access>(
    access: &mut A,
    reference: &mut Reference,
    table: TableId,
    definition: &TableDefinition,
    walk: Walk,
) -> Result<(), A::Error> {
    // Owned, because two stores cannot be walked at once through visitors.
    let mut expected = Vec::new();
    let walked = visit(&mut reference.begin(Mode::ReadOnly), table, walk, |row| {
        expected.push(row.clone());
        ControlFlow::Continue(())
    });
    walked.expect("the reference takes any scan of its own tables");
    let mut expected = expected.into_iter();
    let mut difference = None;
    visit(access, table, walk, |row| {
        let other = expected.next();
        let differs = |column: &usize| {
            let kind = definition.columns[*column].kind;
            let other = other.as_ref().map(|other| other.value(*column, kind));
            other != Some(row.value(*column, kind))
        };
        let Some(column) = (0..definition.columns.len()).find(differs) else {
            return ControlFlow::Continue(());
        };
        let kind = definition.columns[column].kind;
        let key: Vec<i64> = (0..definition.key_columns).map(|part| row.int(part)).collect();
        let found = row.value(column, kind);
        let name = definition.columns[column].name;
        let serially = match &other {
            Some(other) => format!("{:?}", other.value(column, kind)),
            None => "no row".into(),
        };
        difference = Some(format!("row {key:?}: `{name}` is {found:?}, serially {serially}"));
        ControlFlow::Break(())
    })?;
    let missing = expected.len();
    if difference.is_none() && missing > 0 {
        difference = Some(format!("{missing} rows at the end are missing"));
    }
    let Some(difference) = difference else { return Ok(()) };
    let by = match walk {
        Walk::Primary => "primary key",
        Walk::Index(index) => definition.indexes[index].name,
    };
    let found = format!("table `{}` by {by}: {difference}", definition.name);
    Err(ConsistencyError::new("tables are what the transactions in commit order make them", found)
        .into())
}

fn visit<A: Access>(
    access: &mut A,
    table: TableId,
    walk: Walk,
    visit: impl FnMut(&A::Row<'_>) -> ControlFlow<()>,
) -> Result<(), A::Error> {
    match walk {
        Walk::Primary => access.scan(table, &[], &[], Order::Ascending, visit),
        Walk::Index(index) => access.scan_index(table, index, &[], Order::Ascending, visit),
    }
}
