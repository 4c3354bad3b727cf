// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entries of a platform as plain numbers, and a digest of those that are frozen.

use std::fmt::Write;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use timing::platform::{Class, Kind, PlatformFile};
use toml::Table;

/// An entry as it stands in a file, without its source.
#[derive(Clone, Debug, PartialEq)]
pub struct FrozenEntry {
    /// Its dotted name.
    pub name: String,
    /// The number, in its unit.
    pub value: f64,
    /// The unit.
    pub unit: String,
    /// The kind of its source.
    pub kind: Kind,
    /// Its class; entries of a cluster all have one.
    pub class: Option<Class>,
    /// The least and the greatest value, of class E.
    pub interval: Option<[f64; 2]>,
}

/// All entries of a file, by name.
pub fn frozen_entries(file: &PlatformFile) -> Vec<FrozenEntry> {
    let table: Table = toml::from_str(file.text()).expect("it was parsed before");
    let mut found = Vec::new();
    add(&table, "", &mut found);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn add(table: &Table, prefix: &str, found: &mut Vec<FrozenEntry>) {
    #[derive(Deserialize)]
    struct Written {
        value: f64,
        unit: String,
        kind: Kind,
        class: Option<Class>,
        interval: Option<[f64; 2]>,
    }
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        let name = format!("{prefix}{key}");
        if !inner.contains_key("kind") {
            add(inner, &format!("{name}."), found);
            continue;
        }
        // What is no entry is refused when its section is read.
        let Ok(written) = Written::deserialize(inner.clone()) else { continue };
        let Written { value, unit, kind, class, interval } = written;
        found.push(FrozenEntry { name, value, unit, kind, class, interval });
    }
}

/// The SHA-256 digest of the frozen entries of a file in hexadecimal: names, values, units, classes and
/// intervals of all that are not of class C. Those are measured anew where a program is built, by a
/// procedure that is frozen instead.
pub fn digest(file: &PlatformFile) -> String {
    let mut lines = String::new();
    let frozen = frozen_entries(file).into_iter().filter(|entry| entry.class != Some(Class::C));
    for entry in frozen {
        let FrozenEntry { name, value, unit, class, interval, .. } = entry;
        let class = class.map_or("none".into(), |class| class.to_string());
        let interval =
            interval.map_or(String::new(), |[least, greatest]| format!("{least} {greatest}"));
        writeln!(lines, "{name}\t{value}\t{unit}\t{class}\t{interval}").expect("a string grows");
    }
    let digest = Sha256::digest(lines.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
