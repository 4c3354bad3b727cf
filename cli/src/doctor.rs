// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep doctor`: reports what this machine offers a device, and what is missing.

use driver::linux::Roots;
use driver::linux::pci::PciFunction;
use driver::linux::system::{Finding, System, examine};
use serde::Serialize;

use crate::error::CommandError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  lockstep doctor
  lockstep doctor --json

It only looks. `./kit doctor` also lists the tools that a build needs.";

/// Lists PCI functions, IOMMU, VFIO, huge pages and limits, with advice on missing parts.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Prints what was found as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// The line of `--json`.
#[derive(Serialize)]
struct Line<'s> {
    functions: Vec<Function<'s>>,
    findings: Vec<Found<'s>>,
}

/// A PCI function.
#[derive(Serialize)]
struct Function<'s> {
    address: String,
    lockstep: bool,
    vendor: u16,
    device: u16,
    subsystem_vendor: u16,
    subsystem: u16,
    class: u32,
    revision: u8,
    bar_bytes: [u64; 6],
    driver: Option<&'s str>,
    iommu_group: Option<u32>,
}

/// The findings about one topic.
#[derive(Serialize)]
struct Found<'s> {
    what: &'s str,
    found: &'s str,
    remedy: Option<&'s str>,
}

/// Runs the command.
///
/// # Errors
/// When the reader of the output is gone.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let system = examine(&Roots::default());
    match args.json {
        true => out.print(json(&system)?),
        false => out.print(system.to_string().trim_end()),
    }
}

fn json(system: &System) -> Result<String, CommandError> {
    let line = Line {
        functions: system.functions.iter().map(function).collect(),
        findings: system.findings.iter().map(found).collect(),
    };
    serde_json::to_string(&line).map_err(|error| {
        CommandError::Internal(format!("the findings do not go into JSON: {error}"))
    })
}

fn function(function: &PciFunction) -> Function<'_> {
    Function {
        address: function.address.to_string(),
        lockstep: function.is_ours(),
        vendor: function.identity.vendor,
        device: function.identity.device,
        subsystem_vendor: function.identity.subsystem_vendor,
        subsystem: function.identity.subsystem,
        class: function.class,
        revision: function.revision,
        bar_bytes: function.bar_bytes,
        driver: function.driver.as_deref(),
        iommu_group: function.group.as_ref().map(|group| group.number),
    }
}

fn found(finding: &Finding) -> Found<'_> {
    Found { what: &finding.what, found: &finding.found, remedy: finding.remedy.as_deref() }
}
