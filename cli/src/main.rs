// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `lockstep` command.
//!
//! Each subcommand is a module with its arguments, `Args`, and a function
//! `run(Args, &Output) -> Result<(), CommandError>`. Results go to standard output, errors to
//! standard error. Exit code 2 means that the input is wrong, 1 that something else
//! failed, and 130 that Ctrl-C ended the command.

mod bench;
mod check;
mod cluster;
mod demo;
mod device_uri;
mod doctor;
mod error;
mod experiment;
mod figures;
mod history;
mod input_file;
mod interrupt;
mod ndp;
mod nic;
mod output;
mod platforms;
mod run;
mod serve;
mod trace;
mod versions;
mod wave;
mod whole_file;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use terminal::text;

use error::CommandError;
use output::Output;

const EXAMPLES: &str = "\
Examples:
  lockstep demo                                     start here
  lockstep run scenarios/ycsb-zipf.toml             host and device on one lock table
  lockstep run scenarios/smallbank.toml --seed 7 --json
  lockstep trace from-waldump dump.txt -o trace.csv
  lockstep run scenarios/pgbench-replay.toml --trace trace.csv
  lockstep wave run scenarios/hot-row-storm.toml --from 1000 --to 2000 -o storm.fst
  lockstep experiment ccslt-fig4                    a figure of a paper, measured again
  lockstep serve --socket /tmp/lockstep.socket      the RTL as a PCI device, for others
  lockstep check vfio-user:/tmp/lockstep.socket     whether a device does as it should
  lockstep doctor                                   PCI devices, IOMMU, huge pages, limits
  lockstep ndp load /tmp/store --accounts 100000    then lockstep ndp update: beside the data
  lockstep nic                                      look-ups of a NIC in its host's table
  lockstep cluster run                              a distributed protocol on a modelled cluster
  lockstep history check history.jsonl              what a run read and wrote, against its levels
";

/// Host software and a hardware lock unit contend on one cache-coherent lock table.
#[derive(Parser)]
#[command(name = "lockstep", version = versions::all(), after_help = EXAMPLES)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Run(run::Args),
    Trace(trace::Args),
    History(history::Args),
    Wave(wave::Args),
    Experiment(experiment::Args),
    Figures(figures::Args),
    Bench(bench::Args),
    Platforms(platforms::Args),
    Serve(serve::Args),
    Check(check::Args),
    Doctor(doctor::Args),
    Ndp(ndp::Args),
    Nic(nic::Args),
    Cluster(Box<cluster::Args>),
}

fn main() -> ExitCode {
    interrupt::outlive_large_files();
    let out = Output::new();
    let result = match Cli::parse().command {
        Command::Demo(args) => demo::run(args, &out),
        Command::Run(args) => run::run(args, &out),
        Command::Trace(args) => trace::run(args, &out),
        Command::History(args) => history::run(args, &out),
        Command::Wave(args) => wave::run(args, &out),
        Command::Experiment(args) => experiment::run(args, &out),
        Command::Figures(args) => figures::run(args, &out),
        Command::Bench(args) => bench::run(args, &out),
        Command::Platforms(args) => platforms::run(args, &out),
        Command::Serve(args) => serve::run(args, &out),
        Command::Check(args) => check::run(args, &out),
        Command::Doctor(args) => doctor::run(args, &out),
        Command::Ndp(args) => ndp::run(args, &out),
        Command::Nic(args) => nic::run(args, &out),
        Command::Cluster(args) => cluster::run(*args, &out),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, CommandError::Unread | CommandError::Told(_)) {
                eprintln!("lockstep: {failure}");
            }
            failure.exit_code()
        }
    }
}
