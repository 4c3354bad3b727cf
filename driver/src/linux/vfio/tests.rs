// SPDX-License-Identifier: MIT OR Apache-2.0
//! The obstacles to VFIO, on folders that imitate sysfs and `/dev`. The ioctls are tried
//! in a guest (`docs/qemu.md`).

use super::*;
use crate::linux::pci::tests::{OURS, Tree};

fn refusal(tree: &Tree) -> (OpenError, String) {
    let error = Vfio::open(&tree.roots(), OURS.parse().unwrap()).err().unwrap();
    let text = error.to_string();
    (error, text)
}

#[test]
fn what_is_in_the_way_is_named_with_what_to_do() {
    let tree = Tree::new();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::NoDevice { .. }), "{text}");

    tree.ours();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::NoIommuGroup { .. }), "{text}");
    assert!(text.contains("intel_iommu=on"), "{text}");

    tree.group(12, "DMA");
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::KernelDriver { found: None, .. }), "{text}");
    assert!(text.contains("echo 0000:3b:00.0 > /sys/bus/pci/drivers_probe"), "{text}");
    assert!(!text.contains("unbind"), "{text}");

    tree.bind("xdma");
    let (_, text) = refusal(&tree);
    assert!(text.contains("the kernel driver xdma, expected vfio-pci"), "{text}");
    assert!(text.contains("driver/unbind"), "{text}");
}

#[test]
fn vfio_must_be_there_and_be_vfio() {
    let tree = Tree::new();
    tree.ours();
    tree.group(12, "DMA");
    tree.bind("vfio-pci");
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::Unsuitable { .. }), "{text}");
    assert!(text.contains("dev/vfio/vfio is not there; as root: modprobe vfio-pci"), "{text}");
    tree.write("dev/vfio/vfio", "");
    let (_, text) = refusal(&tree);
    assert!(text.contains("dev/vfio/12 is not there"), "{text}");
    tree.write("dev/vfio/12", "");
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::System { .. }), "{text}");
    assert!(text.contains("cannot ask VFIO for its version"), "{text}");
}

/// Where the device has a file of its own and `/dev/iommu` is there, iommufd is tried.
#[test]
fn iommufd_is_preferred() {
    let tree = Tree::new();
    tree.ours();
    tree.group(12, "DMA");
    tree.bind("vfio-pci");
    tree.write(&format!("sys/bus/pci/devices/{OURS}/vfio-dev/vfio3/dev"), "");
    tree.write("dev/vfio/devices/vfio3", "");
    let (_, text) = refusal(&tree);
    assert!(text.contains("dev/vfio/vfio is not there"), "{text}");
    tree.write("dev/iommu", "");
    let (_, text) = refusal(&tree);
    assert!(text.contains("cannot bind it to an iommufd"), "{text}");
}

/// Where there is no IOMMU, VFIO makes a group once it has the function and is allowed to.
#[test]
fn without_an_iommu_the_group_that_vfio_makes_is_taken() {
    let tree = Tree::new();
    tree.ours();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::NoIommuGroup { .. }), "{text}");
    assert!(text.contains("enable_unsafe_noiommu_mode"), "{text}");
    tree.allow_no_iommu();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::KernelDriver { found: None, .. }), "{text}");
    tree.bind("vfio-pci");
    tree.group_without_iommu(0);
    // There may be a kernel that has iommufd, which does not do without an IOMMU.
    tree.write("dev/iommu", "");
    tree.write("dev/vfio/vfio", "");
    let (_, text) = refusal(&tree);
    assert!(text.contains("dev/vfio/noiommu-0 is not there"), "{text}");
    tree.write("dev/vfio/noiommu-0", "");
    let (_, text) = refusal(&tree);
    assert!(text.contains("cannot ask VFIO for its version"), "{text}");
}
