// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions in a folder that looks like sysfs.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;
use crate::pci_capabilities;

/// A `/sys`, `/dev` and `/proc` of our own.
pub struct Tree {
    folder: tempfile::TempDir,
}

/// A function of ours as the tests usually want it.
pub const OURS: &str = "0000:3b:00.0";

impl Tree {
    pub fn new() -> Self {
        Tree { folder: tempfile::tempdir().unwrap() }
    }

    pub fn roots(&self) -> Roots {
        let folder = self.folder.path();
        Roots { sys: folder.join("sys"), dev: folder.join("dev"), proc: folder.join("proc") }
    }

    /// Writes a file below the tree, with the folders that it needs.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn link(&self, path: &str, target: &str) {
        let path = self.folder.path().join(path);
        let target: PathBuf = self.folder.path().join(target);
        fs::create_dir_all(&target).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A function with two BARs, no driver and no group.
    pub fn function(&self, address: &str, identity: [u16; 4]) {
        let folder = format!("sys/bus/pci/devices/{address}");
        let names = ["vendor", "device", "subsystem_vendor", "subsystem_device"];
        for (name, value) in names.into_iter().zip(identity) {
            self.write(&format!("{folder}/{name}"), format!("0x{value:04x}\n"));
        }
        self.write(&format!("{folder}/class"), "0x120000\n");
        self.write(&format!("{folder}/revision"), "0x01\n");
        let resource = "0x00000000fe800000 0x00000000fe80ffff 0x0000000000140204\n\
                        0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                        0x0000008000000000 0x0000008003ffffff 0x000000000014220c\n\
                        0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                        0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                        0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                        0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
        self.write(&format!("{folder}/resource"), resource);
    }

    pub fn ours(&self) -> PciAddress {
        self.function(OURS, [0x10EE, 0x4C53, 0x10EE, 0x4C53]);
        OURS.parse().unwrap()
    }

    pub fn bind(&self, driver: &str) {
        let link = format!("sys/bus/pci/devices/{OURS}/driver");
        self.link(&link, &format!("sys/bus/pci/drivers/{driver}"));
    }

    pub fn group(&self, number: u32, kind: &str) {
        self.write(&format!("sys/kernel/iommu_groups/{number}/type"), format!("{kind}\n"));
        let link = format!("sys/bus/pci/devices/{OURS}/iommu_group");
        self.link(&link, &format!("sys/kernel/iommu_groups/{number}"));
    }
}

impl Tree {
    /// Puts our function, which is made afterwards, below ports with these configuration spaces, the
    /// root port first.
    pub fn behind(&self, ports: &[(&str, Vec<u8>)]) {
        let mut folder = "sys/devices/pci0000:00".to_string();
        for (address, configuration) in ports {
            folder += &format!("/{address}");
            self.link(&format!("sys/bus/pci/devices/{address}"), &folder);
            self.write(&format!("{folder}/config"), configuration);
        }
        self.link(&format!("sys/bus/pci/devices/{OURS}"), &format!("{folder}/{OURS}"));
    }

    /// A group that VFIO has made without an IOMMU.
    pub fn group_without_iommu(&self, number: u32) {
        self.group(number, "unknown");
        self.write(&format!("sys/kernel/iommu_groups/{number}/name"), "vfio-noiommu\n");
    }

    pub fn allow_no_iommu(&self) {
        self.write("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n");
    }
}

#[test]
fn functions_are_read_as_the_kernel_shows_them() {
    let tree = Tree::new();
    tree.ours();
    tree.bind("vfio-pci");
    tree.group(12, "DMA-FQ");
    tree.function("0000:00:1f.2", [0x8086, 0x2922, 0x1AF4, 0x1100]);
    tree.write("sys/bus/pci/devices/not-an-address/vendor", "0x1\n");
    let functions = scan(&tree.roots()).unwrap();
    let [other, ours] = &functions[..] else { panic!("{functions:?}") };
    assert!(!other.is_ours() && other.driver.is_none() && other.group.is_none());
    assert!(ours.is_ours());
    assert_eq!(ours.bar_bytes, [0x1_0000, 0, 64 << 20, 0, 0, 0]);
    assert_eq!(ours.bar_placed, [true, false, true, false, false, false]);
    assert_eq!(ours.driver.as_deref(), Some("vfio-pci"));
    let group = IommuGroup { number: 12, kind: Some("DMA-FQ".into()), without_iommu: false };
    assert_eq!(ours.group.as_ref(), Some(&group));
}

#[test]
fn a_machine_without_a_bus_has_no_functions() {
    assert_eq!(scan(&Tree::new().roots()).unwrap(), []);
}

#[test]
fn what_sysfs_should_not_hold_is_named() {
    let tree = Tree::new();
    let address = tree.ours();
    tree.write(&format!("sys/bus/pci/devices/{OURS}/vendor"), "4334\n");
    let error = PciFunction::read(&tree.roots(), address).unwrap_err().to_string();
    assert!(error.contains("vendor holds \"4334\", expected 0x and digits"), "{error}");
    tree.ours();
    tree.write(&format!("sys/bus/pci/devices/{OURS}/resource"), "0x0 0xfff\n");
    let error = PciFunction::read(&tree.roots(), address).unwrap_err().to_string();
    assert!(error.contains("holds \"0x0 0xfff\", expected three numbers"), "{error}");
}

#[test]
fn a_bar_without_an_address_is_told_from_one_with() {
    let tree = Tree::new();
    let address = tree.ours();
    let resource = "0x0000000000000000 0x000000000000ffff 0x0000000020140204\n";
    tree.write(&format!("sys/bus/pci/devices/{OURS}/resource"), resource);
    let function = PciFunction::read(&tree.roots(), address).unwrap();
    assert_eq!((function.bar_bytes[0], function.bar_placed[0]), (0x1_0000, false));
}

/// A configuration space with PCI Express at 0x40 and MSI-X at 0x80.
pub fn configuration() -> Vec<u8> {
    let mut space = vec![0; 4096];
    let mut put = |at: usize, bytes: &[u8]| space[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x06, &[0x10, 0]);
    put(0x34, &[0x40]);
    put(0x40, &[0x10, 0x80, 2, 0]);
    put(0x44, &(1u32 << 28).to_le_bytes());
    put(0x52, &(3u16 | 16 << 4).to_le_bytes());
    put(0x80, &[0x11, 0x00, 3, 0x80]);
    put(0x84, &0x8000u32.to_le_bytes());
    put(0x88, &0x9000u32.to_le_bytes());
    space
}

#[test]
fn capabilities_are_decoded() {
    let found: Vec<_> =
        pci_capabilities(&configuration()).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "PCI Express, with function-level reset, link of generation 3, 16 lanes",
            "MSI-X on: 4 vectors, table at BAR0 + 0x8000, pending bits at BAR0 + 0x9000",
        ]
    );
    // What an ordinary user sees of it: nothing, for the list is beyond.
    assert_eq!(pci_capabilities(&configuration()[..64]), []);
    let mut circle = configuration();
    circle[0x81] = 0x40;
    assert_eq!(pci_capabilities(&circle).len(), 48);
}

#[test]
fn the_listing_shows_what_is_ours_in_full() {
    let tree = Tree::new();
    tree.ours();
    tree.function("0000:00:02.0", [0x1AF4, 0x1041, 0x1AF4, 0x1100]);
    tree.group(3, "identity");
    let mut space = configuration();
    let folder = format!("sys/bus/pci/devices/{OURS}");
    tree.write(&format!("{folder}/config"), &space);
    let roots = tree.roots();
    let functions = scan(&roots).unwrap();
    let text = listing(&roots, &functions);
    assert!(text.contains(
        "0000:3b:00.0 Lockstep device 10ee:4c53 (subsystem 10ee:4c53, revision 01, class 120000)\n    \
         kernel driver: none; IOMMU group 3 (type identity)\n    BAR0: 64 KiB\n    BAR2: 65536 KiB\n"
    ), "{text}");
    assert!(text.contains("not visible, memory access is off"), "{text}");
    assert!(text.contains("0000:00:02.0 processing accelerator 1af4:1041"), "{text}");

    // With memory access on, and registers behind resource0.
    space[4] = 2;
    tree.write(&format!("{folder}/config"), &space);
    let mut registers = vec![0; 0x1_0000];
    registers[0x100..0x104].copy_from_slice(&0x4C53_4456u32.to_le_bytes());
    registers[0x104..0x108].copy_from_slice(&0x0001_0002u32.to_le_bytes());
    registers[0x2100..0x2104].copy_from_slice(&[0xFF; 4]);
    tree.write(&format!("{folder}/resource0"), &registers);
    let text = listing(&roots, &functions);
    assert!(text.contains("    0x0000 shell: \"LSDV\" version 1.2\n"), "{text}");
    assert!(text.contains("    0x2000 copy_queue: no answer (all-ones)\n"), "{text}");
}
