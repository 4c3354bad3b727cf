// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rival's program takes on its command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

/// Runs one workload on an engine and prints one JSON object on a line.
#[derive(Clone, Debug, clap::Parser)]
pub struct Arguments {
    /// What the threads do in a loop.
    #[arg(long)]
    pub workload: Workload,
    /// How many threads; 8 for smallbank and 1 for the others, if not said.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// For how long, from when all rows are loaded.
    #[arg(long, default_value = "5", value_parser = parse_seconds)]
    pub seconds: Duration,
    /// Decides what each thread draws.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many rows; for smallbank, how many accounts of two rows each.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(2..=1 << 32))]
    pub rows: u64,
    /// What a commit waits for; group for smallbank and none for the others, if not said.
    #[arg(long)]
    sync: Option<Durability>,
    /// A folder in which a temporary one is made for the data, and removed at the end; the
    /// system's own folder for such, if not said.
    #[arg(long)]
    pub dir: Option<PathBuf>,
}

/// What the threads do in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Moves an amount between two different rows, both drawn uniformly.
    Transfer,
    /// The six transactions of SmallBank, nine of ten among the 4 % hot accounts.
    #[value(name = "smallbank")]
    #[serde(rename = "smallbank")]
    SmallBank,
    /// Reads one row, drawn uniformly.
    PointRead,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// Nothing: log records may still be in the memory of the process.
    Lazy,
    /// The engine's default without sync: log records were handed to the operating system.
    None,
    /// Log records were synced to the device, together with those of others if the engine can.
    Group,
}

impl Arguments {
    /// How many threads run the workload.
    pub fn threads(&self) -> u64 {
        self.threads.unwrap_or(match self.workload {
            Workload::SmallBank => 8,
            Workload::Transfer | Workload::PointRead => 1,
        })
    }

    /// What a commit waits for.
    pub fn durability(&self) -> Durability {
        self.sync.unwrap_or(match self.workload {
            Workload::SmallBank => Durability::Group,
            Workload::Transfer | Workload::PointRead => Durability::None,
        })
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let expected = "expected seconds above 0 and up to 3600";
    let seconds: f64 = text.parse().map_err(|_| expected.to_string())?;
    if !(seconds > 0.0 && seconds <= 3600.0) {
        return Err(expected.into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn parse(line: &str) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(line.split(' '))
    }

    #[test]
    fn each_workload_has_its_own_defaults() {
        let bank = parse("rival --workload smallbank").expect("fine");
        assert_eq!((bank.threads(), bank.durability()), (8, Durability::Group));
        let transfer = parse("rival --workload transfer --seconds 0.5").expect("fine");
        assert_eq!((transfer.threads(), transfer.durability()), (1, Durability::None));
        assert_eq!((transfer.rows, transfer.seconds), (100_000, Duration::from_millis(500)));
        let lazy = parse("rival --workload point-read --sync lazy --threads 2").expect("fine");
        assert_eq!((lazy.threads(), lazy.durability()), (2, Durability::Lazy));
    }

    #[test]
    fn foolish_numbers_are_refused() {
        for wrong in ["--seconds 0", "--seconds NaN", "--seconds 1e9", "--threads 0", "--rows 1"] {
            assert!(parse(&format!("rival --workload transfer {wrong}")).is_err(), "{wrong}");
        }
    }
}
