// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report, on folders that look like `/sys` and `/dev`.

use super::*;
use crate::atomics::tests::port;
use crate::linux::pci::tests::{OURS, Tree, configuration};

fn found(tree: &Tree, what: &str) -> Finding {
    let system = examine(&tree.roots());
    system.findings.into_iter().find(|finding| finding.what.starts_with(what)).unwrap()
}

#[test]
fn a_bare_machine_lacks_everything_and_is_told_how_to_get_it() {
    let tree = Tree::new();
    let text = examine(&tree.roots()).to_string();
    for part in [
        "PCI: no functions",
        "IOMMU: off, so ?mode=vfio does not work",
        "boot with intel_iommu=on iommu=pt",
        "VFIO by groups: ",
        "as root: modprobe vfio-pci",
        "huge pages: the kernel shows none",
        "RLIMIT_MEMLOCK",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_device_is_shown_with_the_way_to_it() {
    let tree = Tree::new();
    tree.ours();
    let system = examine(&tree.roots());
    let text = system.to_string();
    assert!(text.starts_with("PCI functions, 1 of them Lockstep devices:\n0000:3b:00.0"), "{text}");
    let finding = found(&tree, "Lockstep device");
    assert!(finding.found.starts_with(&format!("reached by pci:{OURS}?mode=sysfs, as root")));
    assert!(finding.remedy.unwrap().contains("enable_unsafe_noiommu_mode; modprobe vfio-pci"));
    tree.allow_no_iommu();
    let finding = found(&tree, "Lockstep device");
    assert!(finding.found.contains("?mode=vfio, which this kernel allows"), "{}", finding.found);
    tree.group(12, "DMA");
    let finding = found(&tree, "Lockstep device");
    assert!(finding.remedy.unwrap().contains("driver_override"), "{}", finding.found);
    tree.bind("vfio-pci");
    let finding = found(&tree, "Lockstep device");
    assert!(finding.remedy.unwrap().contains("chown $USER"), "{}", finding.found);
    tree.write("dev/vfio/12", "");
    let finding = found(&tree, "Lockstep device");
    assert_eq!(
        finding.to_string(),
        format!("Lockstep device {OURS}: reached by pci:{OURS}?mode=vfio")
    );
}

#[test]
fn vfio_without_an_iommu_is_a_way_to_a_device() {
    let tree = Tree::new();
    tree.ours();
    tree.bind("vfio-pci");
    tree.group_without_iommu(0);
    tree.write("dev/vfio/noiommu-0", "");
    let finding = found(&tree, "Lockstep device");
    assert_eq!(finding.found, format!("reached by pci:{OURS}?mode=vfio"));
}

#[test]
fn the_way_of_atomic_operations_is_told() {
    let tree = Tree::new();
    tree.behind(&[("0000:00:01.0", port(4, 1 << 8, 0))]);
    tree.ours();
    let finding = found(&tree, "AtomicOps of 0000:3b:00.0");
    assert_eq!(finding.found, "routed to root port 0000:00:01.0, which completes them");
    tree.write("sys/bus/pci/devices/0000:00:01.0/config", port(4, 0, 0));
    let finding = found(&tree, "AtomicOps of 0000:3b:00.0");
    assert!(finding.found.starts_with("root port 0000:00:01.0 does not complete"), "{finding}");
    assert!(finding.remedy.unwrap().contains("another slot"));
    tree.write("sys/bus/pci/devices/0000:00:01.0/config", &port(4, 0, 0)[..64]);
    let finding = found(&tree, "AtomicOps of 0000:3b:00.0");
    assert!(finding.found.starts_with("not known: only root may read"), "{finding}");
}

#[test]
fn a_device_that_a_killed_program_left_at_work_is_named() {
    let tree = Tree::new();
    tree.ours();
    let path = format!("sys/bus/pci/devices/{OURS}/config");
    let is_named = || {
        let findings = examine(&tree.roots()).findings;
        findings.iter().any(|finding| finding.what == format!("bus mastering of {OURS}"))
    };
    assert!(!is_named());
    let mut space = configuration();
    tree.write(&path, &space);
    assert!(!is_named());
    space[4] = 4;
    tree.write(&path, &space);
    assert!(is_named());
    tree.bind("vfio-pci");
    assert!(!is_named(), "the kernel ends it");
}

#[test]
fn another_driver_is_named_with_how_to_unbind_it() {
    let tree = Tree::new();
    tree.ours();
    tree.bind("xdma");
    let finding = found(&tree, "Lockstep device");
    assert_eq!(finding.found, "the kernel driver xdma has it");
    assert!(finding.remedy.unwrap().contains("driver/unbind"));
}

#[test]
fn huge_pages_are_counted() {
    let tree = Tree::new();
    let folder = "sys/kernel/mm/hugepages/hugepages-2048kB";
    tree.write(&format!("{folder}/nr_hugepages"), "32\n");
    tree.write(&format!("{folder}/free_hugepages"), "30\n");
    let finding = found(&tree, "huge pages");
    assert_eq!(finding, Finding::good("huge pages", "30 of 32 pages of 2 MiB are free"));
    tree.write(&format!("{folder}/free_hugepages"), "0\n");
    assert!(found(&tree, "huge pages").remedy.unwrap().contains("nr_hugepages"));
}

#[test]
fn iommu_and_lockdown_are_seen() {
    let tree = Tree::new();
    tree.write("sys/class/iommu/dmar0/x", "");
    tree.group(3, "DMA");
    assert_eq!(found(&tree, "IOMMU").found, "on (dmar0), 1 groups");
    tree.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    assert!(found(&tree, "physical").found.contains("lockdown"));
}

/// This machine, whatever it is, has a report.
#[test]
fn this_machine_is_examined() {
    let text = examine(&Roots::default()).to_string();
    assert!(text.contains("RLIMIT_MEMLOCK"), "{text}");
}
