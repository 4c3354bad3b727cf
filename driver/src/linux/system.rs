// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine's support for a device: the functions on its PCI bus, IOMMU, VFIO, huge pages and
//! limits, and how to set up missing parts.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::Access;
use rustix::process::{Resource, geteuid, getrlimit};

use super::Roots;
use super::pci::{self, PciFunction};
use super::vfio::no_iommu_is_allowed;
use crate::pci_regs::{COMMAND, COMMAND_MASTER};
use crate::{AtomicRoute, PCI_ID_VARIABLE, PciIdentity};

/// What was found out about one matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The matter.
    pub what: String,
    /// What was found.
    pub found: String,
    /// What to do where something is missing.
    pub remedy: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.what, self.found)?;
        match &self.remedy {
            Some(remedy) => write!(formatter, "\n    to change it: {remedy}"),
            None => Ok(()),
        }
    }
}

impl Finding {
    fn good(what: impl Into<String>, found: impl Into<String>) -> Self {
        Finding { what: what.into(), found: found.into(), remedy: None }
    }

    fn lacking(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { what: what.into(), found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// What was found on this machine. Its text is for people.
#[derive(Debug, Clone)]
pub struct System {
    /// The PCI functions, by address.
    pub functions: Vec<PciFunction>,
    /// The functions as text ([`pci::listing`]).
    pub listing: String,
    /// Everything else.
    pub findings: Vec<Finding>,
}

impl fmt::Display for System {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.functions.iter().filter(|function| function.is_ours()).count() {
            _ if self.functions.is_empty() => writeln!(formatter, "PCI: no functions")?,
            0 => writeln!(formatter, "PCI functions, none of them a Lockstep device:")?,
            count => writeln!(formatter, "PCI functions, {count} of them Lockstep devices:")?,
        }
        formatter.write_str(&self.listing)?;
        for finding in &self.findings {
            writeln!(formatter, "{finding}")?;
        }
        Ok(())
    }
}

/// Looks at this machine. Reads only, and of devices only who they are.
pub fn examine(roots: &Roots) -> System {
    let mut findings = Vec::new();
    let functions = pci::scan(roots).unwrap_or_else(|error| {
        let remedy = "look at /sys/bus/pci/devices";
        findings.push(Finding::lacking("PCI bus", format!("cannot be read: {error}"), remedy));
        Vec::new()
    });
    if let Err(error) = PciIdentity::expected() {
        let remedy = "give it four such numbers, or none";
        findings.push(Finding::lacking(PCI_ID_VARIABLE, error.to_string(), remedy));
    }
    findings.push(iommu(roots));
    findings.extend(vfio(roots));
    for function in functions.iter().filter(|function| function.is_ours()) {
        findings.push(way_to(roots, function));
        findings.push(atomics(roots, function));
        findings.extend(left_at_work(roots, function));
    }
    findings.push(huge_pages(roots));
    findings.push(locked_memory());
    findings.push(physical_addresses(roots));
    System { listing: pci::listing(roots, &functions), functions, findings }
}

fn iommu(roots: &Roots) -> Finding {
    let units = names(&roots.sys.join("class/iommu"));
    let groups = names(&roots.sys.join("kernel/iommu_groups")).len();
    if units.is_empty() && groups == 0 {
        return Finding::lacking(
            "IOMMU",
            "off, so ?mode=vfio does not work; ?mode=sysfs does",
            "switch it on in the firmware (VT-d, AMD-Vi) and boot with intel_iommu=on iommu=pt, or \
             amd_iommu=on iommu=pt",
        );
    }
    Finding::good("IOMMU", format!("on ({}), {groups} groups", units.join(", ")))
}

fn vfio(roots: &Roots) -> Vec<Finding> {
    let path = roots.dev.join("vfio/vfio");
    let group = if path.exists() {
        Finding::good("VFIO by groups", format!("{} is there", path.display()))
    } else {
        let found = format!("{} is not there", path.display());
        Finding::lacking("VFIO by groups", found, "as root: modprobe vfio-pci")
    };
    let path = roots.dev.join("iommu");
    let there = if path.exists() { "is there" } else { "is not there; groups will do" };
    vec![group, Finding::good("VFIO by iommufd", format!("{} {there}", path.display()))]
}

/// How one of our functions can be reached as things are.
fn way_to(roots: &Roots, function: &PciFunction) -> Finding {
    let address = function.address;
    let what = format!("Lockstep device {address}");
    let bind = format!(
        "as root: modprobe vfio-pci; echo vfio-pci > \
         /sys/bus/pci/devices/{address}/driver_override; echo {address} > /sys/bus/pci/drivers_probe"
    );
    match (function.driver.as_deref(), &function.group) {
        (Some("vfio-pci"), Some(group)) => {
            let path = roots.dev.join("vfio").join(group.file_name());
            if may_open(&path) {
                return Finding::good(what, format!("reached by pci:{address}?mode=vfio"));
            }
            let found = format!("bound to vfio-pci, but {} may not be opened", path.display());
            Finding::lacking(&what, found, format!("as root: chown $USER {}", path.display()))
        }
        (Some(driver), _) => Finding::lacking(
            &what,
            format!("the kernel driver {driver} has it"),
            format!(
                "as root: echo {address} > /sys/bus/pci/devices/{address}/driver/unbind; {bind}"
            ),
        ),
        (None, Some(group)) if group.kind.as_deref() != Some("identity") => Finding::lacking(
            &what,
            format!(
                "in IOMMU group {}, whose addresses are translated, without a driver",
                group.number
            ),
            bind,
        ),
        (None, Some(_)) => Finding::lacking(
            &what,
            format!(
                "reached by pci:{address}?mode=sysfs, as root; for ?mode=vfio bind it to vfio-pci"
            ),
            bind,
        ),
        (None, None) if no_iommu_is_allowed(roots) => Finding::lacking(
            &what,
            format!(
                "reached by pci:{address}?mode=sysfs, as root; but only ?mode=vfio, which this kernel \
                 allows without an IOMMU, stops it when a program is killed"
            ),
            bind,
        ),
        (None, None) => Finding::lacking(
            &what,
            format!(
                "reached by pci:{address}?mode=sysfs, as root; but it goes on writing to memory when \
                 a program that uses it is killed"
            ),
            format!(
                "as root, if the kernel has VFIO's mode without an IOMMU: modprobe vfio; echo 1 > \
                 /sys/module/vfio/parameters/enable_unsafe_noiommu_mode; {}",
                bind.trim_start_matches("as root: ")
            ),
        ),
    }
}

/// Whether its requests for locks reach host memory.
fn atomics(roots: &Roots, function: &PciFunction) -> Finding {
    let what = format!("AtomicOps of {} to host memory, for its locks", function.address);
    let route = pci::atomic_route(roots, function.address);
    let found = route.to_string();
    match route {
        AtomicRoute::Direct | AtomicRoute::Complete { .. } => Finding::good(what, found),
        AtomicRoute::Unknown { .. } => {
            let remedy = "run this command as root; behind an emulated root port they may work though \
                          it does not say so: `lockstep check --only atomics` tries it";
            Finding::lacking(&what, found, remedy)
        }
        AtomicRoute::Broken { .. } => {
            let remedy = "another slot, below a root port that completes them and switches that \
                          route them; `lockstep check --only atomics` tries whether they arrive";
            Finding::lacking(&what, found, remedy)
        }
    }
}

/// A function that may access memory though no kernel driver has it: nobody ends that when the program
/// ends that let it.
fn left_at_work(roots: &Roots, function: &PciFunction) -> Option<Finding> {
    let configuration = fs::read(roots.function(function.address).join("config")).ok()?;
    if function.driver.is_some() || u16::from(*configuration.get(COMMAND)?) & COMMAND_MASTER == 0 {
        return None;
    }
    let address = function.address;
    Some(Finding::lacking(
        &format!("bus mastering of {address}"),
        "on: a program uses it by ?mode=sysfs, or was killed and left it on, over memory that others \
         may have by now",
        format!(
            "if no program uses it, as root: setpci -s {address} COMMAND=0:4; the next program that \
             opens it does so, too"
        ),
    ))
}

fn huge_pages(roots: &Roots) -> Finding {
    const REMEDY: &str =
        "as root: echo 64 > /proc/sys/vm/nr_hugepages (at boot: hugepages=64 on the kernel's line)";
    let folder = roots.sys.join("kernel/mm/hugepages/hugepages-2048kB");
    let read = |name: &str| read_number(&folder.join(name));
    match (read("nr_hugepages"), read("free_hugepages")) {
        (Ok(total), Ok(free)) => {
            let found = format!("{free} of {total} pages of 2 MiB are free");
            match free {
                0 => Finding::lacking("huge pages", found, REMEDY),
                _ => Finding::good("huge pages", found),
            }
        }
        (Err(error), _) | (_, Err(error)) => {
            let found = format!("the kernel shows none of 2 MiB: {error}");
            Finding::lacking("huge pages", found, "a kernel with CONFIG_HUGETLBFS")
        }
    }
}

fn locked_memory() -> Finding {
    const WHAT: &str = "memory that may be locked (RLIMIT_MEMLOCK)";
    // What the benches map at most, and then some.
    const ENOUGH: u64 = 256 << 20;
    match getrlimit(Resource::Memlock).current {
        None => Finding::good(WHAT, "unlimited"),
        Some(bytes) if bytes >= ENOUGH || geteuid().is_root() => {
            Finding::good(WHAT, format!("{} KiB", bytes >> 10))
        }
        Some(bytes) => Finding::lacking(
            WHAT,
            format!("{} KiB, which VFIO holds every buffer to", bytes >> 10),
            "ulimit -l unlimited, after a line `USER - memlock unlimited` in \
             /etc/security/limits.conf",
        ),
    }
}

/// Whether ?mode=sysfs gets what it needs from the kernel.
fn physical_addresses(roots: &Roots) -> Finding {
    const WHAT: &str = "physical addresses, for ?mode=sysfs";
    let lockdown = fs::read_to_string(roots.sys.join("kernel/security/lockdown"));
    if lockdown.is_ok_and(|text| !text.contains("[none]")) {
        let remedy = "use ?mode=vfio, or switch secure boot off";
        return Finding::lacking(WHAT, "the kernel is in lockdown, which forbids them", remedy);
    }
    if geteuid().is_root() {
        return Finding::good(WHAT, "may be asked for");
    }
    Finding::lacking(WHAT, "hidden from this user", "run as root, or use ?mode=vfio")
}

fn may_open(path: &Path) -> bool {
    rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK).is_ok()
}

/// The names in a folder, in order; none where there is no folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn read_number(path: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(path)?;
    text.trim().parse().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, text))
}
