// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions as text, in the style of lspci.

use std::fmt::Write;
use std::fs;

use super::PciFunction;
use crate::linux::Roots;
use crate::linux::bar::MappedBar;
use crate::map::device::{IDENTITY, PLACES, VERSION, Version};
use crate::pci_capabilities;
use crate::pci_regs::{COMMAND, COMMAND_MEMORY};
use crate::{PciIdentity, Width, layout};

/// A paragraph for each function: identity, driver, IOMMU group; of Lockstep devices also BARs,
/// capabilities and register blocks, as far as this user may see them.
pub fn listing(roots: &Roots, functions: &[PciFunction]) -> String {
    let mut text = String::new();
    for function in functions {
        let mut lines = vec![binding(function)];
        if function.is_ours() {
            lines.extend(details(roots, function));
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", headline(function));
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn headline(function: &PciFunction) -> String {
    let PciFunction { address, identity, revision, .. } = function;
    let PciIdentity { vendor, device, subsystem_vendor, subsystem } = identity;
    let name = if function.is_ours() { "Lockstep device" } else { class_name(function.class) };
    format!(
        "{address} {name} {vendor:04x}:{device:04x} (subsystem {subsystem_vendor:04x}:\
         {subsystem:04x}, revision {revision:02x}, class {:06x})",
        function.class
    )
}

fn binding(function: &PciFunction) -> String {
    let driver = function.driver.as_deref().unwrap_or("none");
    let group = match &function.group {
        None => "no IOMMU group".into(),
        Some(group) => {
            let kind = group.kind.as_deref().unwrap_or("unknown");
            format!("IOMMU group {} (type {kind})", group.number)
        }
    };
    format!("kernel driver: {driver}; {group}")
}

fn details(roots: &Roots, function: &PciFunction) -> Vec<String> {
    let mut lines = Vec::new();
    for (bar, bytes) in function.bar_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        let placed = if function.bar_placed[bar] { "" } else { ", without an address" };
        lines.push(format!("BAR{bar}: {} KiB{placed}", bytes >> 10));
    }
    let folder = roots.function(function.address);
    match fs::read(folder.join("config")) {
        Err(error) => lines.push(format!("capabilities: cannot be read: {error}")),
        Ok(configuration) if configuration.len() <= 64 => {
            lines.push("capabilities: only root may read them".into());
        }
        Ok(configuration) => {
            lines.extend(pci_capabilities(&configuration).iter().map(ToString::to_string));
            if u16::from(configuration[COMMAND]) & COMMAND_MEMORY != 0 {
                lines.extend(blocks(roots, function));
            } else {
                lines.push("register blocks: not visible, memory access is off".into());
            }
        }
    }
    lines
}

/// The register blocks in BAR0. Reading who they are has no effects.
fn blocks(roots: &Roots, function: &PciFunction) -> Vec<String> {
    if function.bar_bytes[0] < layout::BAR0_BYTES {
        return vec!["register blocks: BAR0 is too small".into()];
    }
    let path = roots.function(function.address).join("resource0");
    let bar = fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .and_then(|file| MappedBar::map(&file, 0, layout::BAR0_BYTES as usize));
    let bar = match bar {
        Ok(bar) => bar,
        Err(error) => return vec![format!("register blocks: {}: {error}", path.display())],
    };
    let describe = |place: &crate::map::Place| {
        let read = |offset: u32| bar.read((place.base + offset) as usize, Width::Four) as u32;
        let identity = read(IDENTITY.offset());
        let version = Version::from_bits(read(VERSION.offset()));
        if identity == u32::MAX {
            return format!("0x{:04X} {}: no answer (all-ones)", place.base, place.name);
        }
        let letters: String = identity
            .to_be_bytes()
            .iter()
            .map(|byte| match byte {
                0x20..=0x7E => char::from(*byte),
                _ => '?',
            })
            .collect();
        let (major, minor) = (version.major(), version.minor());
        format!("0x{:04X} {}: \"{letters}\" version {major}.{minor}", place.base, place.name)
    };
    PLACES.iter().map(describe).collect()
}

/// The name of a base class. Source: PCI Code and ID Assignment Specification, section 1.
fn class_name(class: u32) -> &'static str {
    match class >> 16 {
        0x01 => "mass storage controller",
        0x02 => "network controller",
        0x03 => "display controller",
        0x04 => "multimedia device",
        0x05 => "memory controller",
        0x06 => "bridge",
        0x07 => "communication controller",
        0x08 => "system peripheral",
        0x09 => "input device",
        0x0C => "serial bus controller",
        0x0D => "wireless controller",
        0x10 => "encryption controller",
        0x11 => "signal processing controller",
        0x12 => "processing accelerator",
        _ => "device",
    }
}
