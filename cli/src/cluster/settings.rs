// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a run, by a scenario file and by flags.

use std::path::PathBuf;

use clap::{ValueEnum, ValueHint};
use cluster_sim::run::{Draft, Flags, RunError, Settings, SettingsError};
use workloads::scenario::SmallBankAccess;

use crate::error::CommandError;

/// What is run. A flag replaces the value of the scenario; without either there is a default.
#[derive(clap::Args, Clone, Debug)]
pub struct SettingsArgs {
    /// The scenario (TOML, docs/cluster-command.md).
    #[arg(value_hint = ValueHint::FilePath)]
    scenario: Option<PathBuf>,
    /// The protocol: fasst, xenic, drtm-h, drtm-h-nc or drtm-r.
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// Machines, NICs and network: a platform that comes with the program, or a file.
    #[arg(long, value_name = "NAME|FILE", alias = "nic", value_hint = ValueHint::FilePath)]
    platform: Option<String>,
    /// Machines of the cluster.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    nodes: Option<u64>,
    /// Threads of each machine, one a core.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    threads: Option<u64>,
    /// Transactions under way at once in each thread: the load.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    workers: Option<u64>,
    /// Copies of each row, the primary's included.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    replicas: Option<u64>,
    /// Workload: object-store, tatp, smallbank, smallbank-xenic, retwis, tpcc-new-order, tpcc.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Keys read by a transaction of the object store.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    reads: Option<u64>,
    /// Of these, keys that it changes.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    writes: Option<u64>,
    /// Keys or accounts a thread, or subscribers, accounts, keys or warehouses a machine.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    keys: Option<u64>,
    /// How often SmallBank picks among its hot accounts.
    #[arg(long, value_enum)]
    access: Option<AccessName>,
    /// Cores of each NIC that take part, of Xenic.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    nic_cores: Option<u64>,
    /// Threads of each host that apply records, beside those with workers, of Xenic.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    log_workers: Option<u64>,
    /// The most entries of a NIC's index, of Xenic.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    index_entries: Option<u64>,
    /// Optimisations of Xenic that are off: combined, aggregation, vectors, ships, multi-hop.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    without: Option<Vec<String>>,
    /// Kinds of transactions whose logic Xenic runs on the host, not on NICs.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    on_host: Option<Vec<String>>,
    /// Virtual time before what is measured.
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    warm_up_us: Option<f64>,
    /// Virtual time that is measured.
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    duration_us: Option<f64>,
    /// Of all draws.
    #[arg(long, value_name = "N", value_parser = crate::run::seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Leaves out the check of each read, and that of the state at the end.
    #[arg(long)]
    no_checks: bool,
}

/// How often SmallBank picks among its hot accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AccessName {
    /// 90 % of transactions.
    Hot90,
    /// 10 % of them.
    Hot10,
}

impl SettingsArgs {
    /// The settings, all of which are possible together, and with their platform and faults.
    ///
    /// # Errors
    /// When they are not.
    pub fn settings(&self, faults: Option<&PathBuf>) -> Result<Settings, CommandError> {
        let draft = match &self.scenario {
            Some(file) => Draft::load(file).map_err(of_settings)?,
            None => Draft::default(),
        };
        let draft = draft.with_flags(self.flags(faults)).map_err(of_settings)?;
        let settings = Settings::check(&draft).map_err(of_settings)?;
        settings.check_whole(&draft).map_err(of_run)?;
        Ok(settings)
    }

    /// The same with another value of a field that is a count.
    pub fn with(&self, field: &str, value: u64) -> Self {
        let mut other = self.clone();
        match field {
            "workers" => other.workers = Some(value),
            "threads" => other.threads = Some(value),
            "nodes" => other.nodes = Some(value),
            _ => unreachable!("a sweep has no other fields"),
        }
        other
    }

    fn flags(&self, faults: Option<&PathBuf>) -> Flags {
        let access = self.access.map(|access| match access {
            AccessName::Hot90 => SmallBankAccess::Hot90,
            AccessName::Hot10 => SmallBankAccess::Hot10,
        });
        Flags {
            protocol: self.protocol.clone(),
            platform: self.platform.clone(),
            nodes: self.nodes,
            threads: self.threads,
            workers: self.workers,
            replicas: self.replicas,
            warm_up_us: self.warm_up_us,
            duration_us: self.duration_us,
            seed: self.seed,
            checks: self.no_checks.then_some(false),
            faults: faults.cloned(),
            workload: self.workload.clone(),
            reads: self.reads,
            writes: self.writes,
            keys: self.keys,
            access,
            nic_cores: self.nic_cores,
            log_workers: self.log_workers,
            index_entries: self.index_entries,
            without: self.without.clone(),
            on_host: self.on_host.clone(),
        }
    }

    /// The scenario's path, for the command that repeats a run.
    pub fn scenario(&self) -> Option<&PathBuf> {
        self.scenario.as_ref()
    }
}

pub fn of_settings(error: SettingsError) -> CommandError {
    CommandError::Input(error.to_string())
}

/// A run that failed: by its input, or not.
pub fn of_run(error: RunError) -> CommandError {
    match error.is_of_input() {
        true => CommandError::Input(error.to_string()),
        false => CommandError::Internal(error.to_string()),
    }
}
