// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios as tables: who does what, one step at a time, and what each should see.
//!
//! ```text
//! | T1       | T2       || READ COMMITTED | SNAPSHOT       |
//! | add 1 1  |          || ok                              |
//! |          | add 1 1  || waits T1                        |
//! | commit   |          || ok                              |
//! |          | ...      || ok             | write conflict |
//! |          | commit   || ok             | -              |
//! ```
//!
//! Each line has one step, in the column of the session that takes it; `...` is the end of the step
//! for which that session has been waiting. Right of the `||` is its outcome: for each
//! column, or once for all: `waits` names those it waits for, the holder first. `...` there checks
//! the outcome later, since a deadlock is broken asynchronously. A `-` omits the step. A `!` marks
//! a result that is the anomaly itself. A column `PostgreSQL` gives PostgreSQL's result at the
//! level to its left.

/// A scenario.
#[derive(Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub title: &'static str,
    /// Keys and values that are there at the beginning.
    pub rows: &'static [(i64, i64)],
    pub table: &'static str,
    /// Why it ends otherwise than in PostgreSQL, if it does.
    pub stricter: Option<&'static str>,
}

/// A scenario's table, taken apart.
#[derive(Debug)]
pub struct Script {
    pub players: Vec<&'static str>,
    pub columns: Vec<&'static str>,
    pub lines: Vec<Line>,
}

#[derive(Debug)]
pub struct Line {
    pub text: &'static str,
    /// Its place among the players.
    pub player: usize,
    pub step: &'static str,
    /// One for each column.
    pub outcomes: Vec<&'static str>,
}

/// What the name of PostgreSQL's columns begins with.
const POSTGRES: &str = "PostgreSQL";

impl Script {
    pub fn new(scenario: &Scenario) -> Self {
        let mut lines = scenario.table.lines().map(str::trim).filter(|line| !line.is_empty());
        let (players, columns) = halves(lines.next().expect("a table has a header"));
        let lines: Vec<Line> = lines
            .map(|text| {
                let (steps, outcomes) = halves(text);
                let mut taken = steps.iter().enumerate().filter(|(_, step)| !step.is_empty());
                let (Some((player, step)), None) = (taken.next(), taken.next()) else {
                    panic!("{}: one step a line: {text}", scenario.name);
                };
                let outcomes = match outcomes.len() {
                    1 => vec![outcomes[0]; columns.len()],
                    _ => outcomes,
                };
                assert_eq!(outcomes.len(), columns.len(), "{}: {text}", scenario.name);
                Line { text, player, step, outcomes }
            })
            .collect();
        Self { players, columns, lines }
    }

    /// The columns to be played: all but PostgreSQL's.
    pub fn plays(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.columns.len()).filter(|&column| !self.columns[column].starts_with(POSTGRES))
    }

    /// Whether the anomaly is there to be seen in a column.
    pub fn admits(&self, column: usize) -> bool {
        self.lines.iter().any(|line| line.outcomes[column].ends_with('!'))
    }

    /// Each column beside PostgreSQL's of the same level, where there is one.
    pub fn compared(&self) -> Vec<(usize, usize)> {
        let pairs = (1..self.columns.len()).map(|right| (right - 1, right));
        pairs.filter(|&(_, right)| self.columns[right].starts_with(POSTGRES)).collect()
    }

    /// Lines at which a column and PostgreSQL's differ.
    pub fn differences(&self) -> usize {
        let compared = self.compared();
        let differs = |line: &&Line| {
            compared.iter().any(|&(ours, theirs)| line.outcomes[ours] != line.outcomes[theirs])
        };
        self.lines.iter().filter(differs).count()
    }
}

/// The cells left and right of the `||`.
fn halves(line: &'static str) -> (Vec<&'static str>, Vec<&'static str>) {
    let (left, right) = line.split_once("||").unwrap_or_else(|| panic!("no || in {line}"));
    let cells = |half: &'static str| half.trim().trim_matches('|').split('|').map(str::trim);
    (
        left.trim().trim_start_matches('|').split('|').map(str::trim).collect(),
        cells(right).collect(),
    )
}

/// Makes a test of each scenario, and `ALL`, the list of them.
macro_rules! scenarios {
    ($(
        $(#[doc = $about:literal])+
        $name:ident($title:literal $(, rows $rows:expr)?) $table:literal
        $(stricter $why:literal)?
    )+) => {
        /// All of them.
        pub const ALL: &[$crate::isolation::script::Scenario] = &[$(
            $crate::isolation::script::Scenario {
                name: stringify!($name),
                title: $title,
                rows: $crate::isolation::script::rows!($($rows)?),
                table: $table,
                stricter: $crate::isolation::script::why!($($why)?),
            },
        )+];

        $(
            $(#[doc = $about])+
            #[test]
            fn $name() {
                let of = |scenario: &&$crate::isolation::script::Scenario| scenario.name == stringify!($name);
                $crate::isolation::stage::play(ALL.iter().find(of).expect("it is one of them"));
            }
        )+
    };
}

macro_rules! rows {
    () => {
        &[(1, 10), (2, 20)]
    };
    ($rows:expr) => {
        &$rows
    };
}

macro_rules! why {
    () => {
        None
    };
    ($why:literal) => {
        Some($why)
    };
}

pub(crate) use {rows, scenarios, why};
