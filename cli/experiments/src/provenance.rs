// SPDX-License-Identifier: MIT OR Apache-2.0
//! The provenance of results: the sources and the date.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// The state of the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// Files differ from it.
    pub changed: bool,
}

impl Commit {
    /// Of the folder that this program was built from; nothing where that is no longer there, or is
    /// no clone, or where there is no git.
    ///
    /// The current folder could be of another project.
    pub fn of_sources() -> Option<Self> {
        let id = git(&["rev-parse", "HEAD"])?.trim().to_owned();
        let changed = !git(&["status", "--porcelain"])?.trim().is_empty();
        Some(Self { id, changed })
    }

    /// As a line of text; `unknown` without one.
    pub fn text(commit: Option<&Self>) -> String {
        match commit {
            None => "unknown".into(),
            Some(Self { id, changed: false }) => id.clone(),
            Some(Self { id, changed: true }) => format!("{id}, with changes"),
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok())?
}

/// The time, as `2026-11-22 18:05 UTC`; that of `SOURCE_DATE_EPOCH`, if it is set.
pub fn date() -> String {
    let wanted = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date_of(wanted.unwrap_or_else(now))
}

/// Of so many seconds since 1970.
fn date_of(seconds: u64) -> String {
    let (mut days, minutes) = (seconds / 86_400, seconds / 60 % 1_440);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (minutes / 60, minutes % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [0, 951_782_399, 951_782_400, 1_735_689_599, 1_767_139_260].map(date_of);
        assert_eq!(
            dates,
            [
                "1970-01-01 00:00 UTC",
                "2000-02-28 23:59 UTC",
                "2000-02-29 00:00 UTC",
                "2024-12-31 23:59 UTC",
                "2025-12-31 00:01 UTC"
            ]
        );
    }

    #[test]
    fn a_commit_says_whether_files_differ_from_it() {
        let commit = |changed| Some(Commit { id: "abc".into(), changed });
        let text = [commit(false), commit(true), None].map(|commit| Commit::text(commit.as_ref()));
        assert_eq!(text, ["abc", "abc, with changes", "unknown"]);
    }

    #[test]
    fn a_clone_has_a_commit() {
        if !std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.git")).exists() {
            return eprintln!("skipped: the sources are no clone");
        }
        let id = Commit::of_sources().expect("git and a commit").id;
        assert!(id.len() >= 40 && id.chars().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    }
}
