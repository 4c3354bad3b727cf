// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of a plan as files have them: a table whose field `kind` says which fault it is.
//!
//! Serde can read such tables by itself, but then cannot say which field is wrong. So the kind is taken out
//! first, and the rest is read as the fields of that variant.

use serde::{Deserialize, Serialize, Serializer};
use toml::{Table, Value};

use super::{Fault, FaultKind, PlanError};

const KIND: &str = "kind";

/// A file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "fault")]
    faults: Vec<Table>,
}

/// Reads all entries.
///
/// # Errors
/// When the text is no TOML or has other tables; or the first field of an entry that is not there, not
/// known, or has another type.
pub fn read(text: &str) -> Result<Vec<Fault>, PlanError> {
    let file: File = toml::from_str(text)
        .map_err(|error| PlanError::Unreadable(error.to_string().trim_end().into()))?;
    let entries = file.faults.into_iter().enumerate();
    entries.map(|(place, table)| entry(place + 1, table)).collect()
}

fn entry(entry: usize, mut table: Table) -> Result<Fault, PlanError> {
    let wrong = |field: String, problem| Err(PlanError::Field { entry, field, problem });
    let names = || FaultKind::ALL.map(FaultKind::name).join(", ");
    let kind = match table.remove(KIND) {
        Some(Value::String(kind)) if FaultKind::ALL.iter().any(|of| of.name() == kind) => kind,
        Some(other) => return wrong(KIND.into(), format!("{other}; expected one of {}", names())),
        None => return wrong(KIND.into(), format!("missing; expected one of {}", names())),
    };
    let by_kind = Value::Table(Table::from_iter([(kind.clone(), Value::Table(table))]));
    serde_path_to_error::deserialize(by_kind).or_else(|error| {
        let path = error.path().to_string();
        let field = path.strip_prefix(&kind).unwrap_or(&path).trim_start_matches('.');
        let field = if field.is_empty() { KIND } else { field };
        wrong(field.into(), format!("{} (of `{kind}`)", error.into_inner().message()))
    })
}

/// Writes all entries.
///
/// # Errors
/// When the target fails.
pub fn all<S: Serializer>(faults: &[Fault], to: S) -> Result<S::Ok, S::Error> {
    let tables: Result<Vec<Table>, _> = faults.iter().map(table).collect();
    tables.map_err(serde::ser::Error::custom)?.serialize(to)
}

fn table(fault: &Fault) -> Result<Table, toml::ser::Error> {
    let by_kind = Value::try_from(fault)?;
    let mut flat = Table::new();
    for (kind, fields) in by_kind.as_table().cloned().unwrap_or_default() {
        flat.insert(KIND.into(), Value::String(kind));
        if let Value::Table(fields) = fields {
            flat.extend(fields);
        }
    }
    Ok(flat)
}
