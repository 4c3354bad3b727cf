// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep platforms`: every number of every platform, with its source.

use std::fmt::Write;
use std::path::Path;

use clap::ValueHint;
use cluster_sim::platform::Hardware;
use timing::platform::{Class, Kind, Platform, PlatformFile};
use toml::de::{DeTable, DeValue};

use crate::error::CommandError;
use crate::output::Output;
use crate::text;

const WIDTH: usize = 100;

/// Lists the platforms: every latency and rate, and where it comes from.
#[derive(clap::Args)]
pub struct Args {
    /// Shows only this platform, or your own platform file, by its path.
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    name: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When there is no platform of that name, or the file is none.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    if let Some(file) = args.name.as_deref().filter(|name| is_path(name)) {
        check(file)?;
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| CommandError::input(Path::new(file), error))?;
        return print(file, &text, out);
    }
    let names = args.name.as_deref().map_or(PlatformFile::NAMES.to_vec(), |name| vec![name]);
    for (number, name) in names.into_iter().enumerate() {
        let file =
            PlatformFile::named(name).map_err(|error| CommandError::Input(error.to_string()))?;
        if number > 0 {
            out.print("")?;
        }
        print(name, file.text(), out)?;
    }
    Ok(())
}

/// The file is a platform: of a cluster if it has a section `cpu`, else of a host and a device.
fn check(file: &str) -> Result<(), CommandError> {
    let read = PlatformFile::load(file).and_then(|read| match is_cluster(&read) {
        true => Hardware::read_from(read).map(|_| ()),
        false => Platform::read_from(read).map(|_| ()),
    });
    read.map_err(|error| CommandError::Input(error.to_string()))
}

fn is_cluster(file: &PlatformFile) -> bool {
    let document = DeTable::parse(file.text());
    document.is_ok_and(|document| document.get_ref().contains_key("cpu"))
}

/// Names of platforms have neither.
fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

fn print(name: &str, text: &str, out: &Output) -> Result<(), CommandError> {
    out.print(out.strong(name))?;
    out.print(comment(text))?;
    let document =
        DeTable::parse(text).map_err(|error| CommandError::Internal(format!("{name}: {error}")))?;
    let mut listing = String::new();
    list(document.get_ref(), "", &mut listing);
    out.print(listing.trim_end())?;
    out.print(counts(document.get_ref()))
}

/// How many entries there are of each kind, those that others stand behind first; where there are
/// classes, how many of each.
fn counts(document: &DeTable<'_>) -> String {
    let kinds = Kind::ALL.map(Kind::name);
    let of_kinds = count(document, "kind", &kinds);
    let all: usize = of_kinds.iter().sum();
    let classes = Class::ALL.map(|class| class.to_string());
    let classes = classes.each_ref().map(String::as_str);
    let of_classes = count(document, "class", &classes);
    let line = format!("  {all} entries: {}", listed(&kinds, &of_kinds));
    match of_classes.iter().sum() {
        0_usize => line,
        _ => format!("{line}; classes: {}", listed(&classes, &of_classes)),
    }
}

fn listed(names: &[&str], counts: &[usize]) -> String {
    let there = names.iter().zip(counts).filter(|(_, count)| **count > 0);
    there.map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

/// How many entries have each of `names` as this part of theirs.
fn count(table: &DeTable<'_>, part: &str, names: &[&str]) -> Vec<usize> {
    let mut counts = vec![0; names.len()];
    for value in table.values() {
        let DeValue::Table(inner) = value.get_ref() else { continue };
        if !inner.contains_key("kind") {
            let below = count(inner, part, names);
            counts.iter_mut().zip(below).for_each(|(count, more)| *count += more);
        } else if let Some(found) = inner.get(part) {
            let found = plain(found.get_ref());
            let place = names.iter().position(|name| *name == found);
            counts[place.expect("the reader of platforms admits no other")] += 1;
        }
    }
    counts
}

/// The comment at the top of a platform file.
fn comment(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Lists the entries of `table`, in the order of the file, below the dotted name `prefix`.
fn list(table: &DeTable<'_>, prefix: &str, listing: &mut String) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let dot = if prefix.is_empty() { "" } else { "." };
        let name = format!("{prefix}{dot}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) if inner.contains_key("source") => {
                let part =
                    |key: &str| inner.get(key).map_or(String::new(), |part| plain(part.get_ref()));
                let unit = part("unit");
                let unit = if unit == "1" { "" } else { &unit };
                let number = part("value");
                let class = match (part("class"), part("interval")) {
                    (class, _) if class.is_empty() => class,
                    (class, interval) if interval.is_empty() => format!(", class {class}"),
                    (class, interval) => format!(", class {class} {interval}"),
                };
                let kind = part("kind");
                push(listing, &format!("  {name:<42}{number:>8} {unit:<5} {kind}{class}"));
                for line in text::wrap(&part("source"), WIDTH - 6) {
                    push(listing, &format!("      {line}"));
                }
            }
            DeValue::Table(inner) => list(inner, &name, listing),
            _ if name == "name" => {}
            other => push(listing, &format!("  {name:<42}{:>8}", plain(other))),
        }
    }
}

fn push(listing: &mut String, line: &str) {
    writeln!(listing, "{}", line.trim_end()).expect("a write to a string succeeds");
}

fn plain(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Array(parts) => {
            let parts = parts.iter().map(|part| plain(part.get_ref()));
            parts.collect::<Vec<_>>().join(" to ")
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_is_listed_whole() {
        for name in PlatformFile::NAMES {
            let file = PlatformFile::named(name).expect("there");
            let text = file.text();
            let mut listing = String::new();
            list(DeTable::parse(text).expect("TOML").get_ref(), "", &mut listing);
            let sources = text.matches("source = ").count();
            let listed =
                listing.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
            let of_kind = |line: &str| Kind::ALL.iter().any(|kind| line.ends_with(kind.name()));
            let with_kind = |line: &&str| of_kind(line.split(", class ").next().expect("a part"));
            assert_eq!(listed.filter(with_kind).count(), sources, "{name}: {listing}");
            assert!(listing.lines().all(|line| line.chars().count() <= WIDTH), "{name}: {listing}");
            let counts = counts(DeTable::parse(text).expect("TOML").get_ref());
            let (kinds, classes) = counts.split_once("; classes: ").unwrap_or((&counts, ""));
            let numbers = || kinds.split_whitespace().filter_map(|word| word.parse().ok());
            assert_eq!(numbers().next(), Some(sources), "{counts}");
            assert_eq!(numbers().skip(1).sum::<usize>(), sources, "{counts}");
            let of_class = |line: &&str| {
                line.starts_with("  ") && !line.starts_with("   ") && line.contains(", class ")
            };
            let of_classes: usize =
                classes.split_whitespace().filter_map(|word| word.parse::<usize>().ok()).sum();
            assert_eq!(listing.lines().filter(of_class).count(), of_classes, "{listing}");
        }
    }

    #[test]
    fn kinds_are_counted() {
        let text = "a = { kind = \"fitted\" }\n[b]\nc = { kind = \"own RTL\" }\n\
                    d = { kind = \"fitted\" }\nhome = \"host\"";
        let counts = counts(DeTable::parse(text).expect("TOML").get_ref());
        assert_eq!(counts, "  3 entries: 1 own RTL, 2 fitted");
    }

    #[test]
    fn an_assumption_shows_its_class_and_interval() {
        let text = "wait = { value = 110, unit = \"ns\", kind = \"assumption\", class = \"E\", \
                    interval = [80, 150], source = \"A guess.\" }\n\
                    rate = { value = 7.88, unit = \"GB/s\", kind = \"datasheet\", class = \"A\", \
                    source = \"A page.\" }";
        let mut listing = String::new();
        let document = DeTable::parse(text).expect("TOML");
        list(document.get_ref(), "", &mut listing);
        assert!(listing.contains("110 ns    assumption, class E 80 to 150\n"), "{listing}");
        assert!(listing.contains("7.88 GB/s  datasheet, class A\n"), "{listing}");
        let counts = counts(document.get_ref());
        assert_eq!(counts, "  2 entries: 1 datasheet, 1 assumption; classes: 1 A, 1 E");
    }

    #[test]
    fn an_entry_shows_value_kind_and_source() {
        let text =
            "[link]\nwait = { value = 268, unit = \"ns\", kind = \"paper\", source = \"A page.\" }";
        let mut listing = String::new();
        list(DeTable::parse(text).expect("TOML").get_ref(), "", &mut listing);
        let words: Vec<&str> = listing.split_whitespace().collect();
        assert_eq!(words, ["link.wait", "268", "ns", "paper", "A", "page."]);
    }
}
