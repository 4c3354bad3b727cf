// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offsets and bits of a function's configuration space, by the names of the kernel's
//! `linux/pci_regs.h` without their prefix `PCI_`. Offsets are in bytes, those of capabilities from the
//! capability's first byte on. A test compares them with that header.

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $value:literal;)*) => {
        $($(#[$doc])* pub const $name: $kind = $value;)*

        #[cfg(test)]
        const ALL: &[(&str, u64)] = &[$((concat!("PCI_", stringify!($name)), $name as u64)),*];
    };
}

registers! {
    /// Offset of the command register, 16 bits.
    COMMAND: usize = 0x04;
    /// Of the command register: the function answers at its BARs.
    COMMAND_MEMORY: u16 = 0x2;
    /// Of the command register: the function may access memory.
    COMMAND_MASTER: u16 = 0x4;
    /// Offset of the status register, 16 bits.
    STATUS: usize = 0x06;
    /// Of the status register: there is a list of capabilities.
    STATUS_CAP_LIST: u16 = 0x10;
    /// Offset of the address of BAR0.
    BASE_ADDRESS_0: usize = 0x10;
    /// Offset of the address of BAR2.
    BASE_ADDRESS_2: usize = 0x18;
    /// Offset of the offset of the first capability.
    CAPABILITY_LIST: usize = 0x34;
    /// Offset in a capability of the offset of the next one.
    CAP_LIST_NEXT: usize = 1;
    /// Identifier of the capability for power management.
    CAP_ID_PM: u8 = 0x01;
    /// Identifier of the capability for message-signalled interrupts of the older kind.
    CAP_ID_MSI: u8 = 0x05;
    /// Identifier of the capability for PCI Express.
    CAP_ID_EXP: u8 = 0x10;
    /// Identifier of the capability for message-signalled interrupts by a table.
    CAP_ID_MSIX: u8 = 0x11;
    /// Power management: offset of control and status, 16 bits.
    PM_CTRL: usize = 4;
    /// Of control and status: the power state, 0 for D0, 3 for D3hot.
    PM_CTRL_STATE_MASK: u16 = 0x3;
    /// PCI Express: offset of the capability's own register, 16 bits.
    EXP_FLAGS: usize = 0x02;
    /// Of that: the capability's version.
    EXP_FLAGS_VERS: u16 = 0x000F;
    /// Of that: the kind of port, in bits 4 to 7.
    EXP_FLAGS_TYPE: u16 = 0x00F0;
    /// A root port, as a kind of port.
    EXP_TYPE_ROOT_PORT: u16 = 0x4;
    /// The upstream port of a switch.
    EXP_TYPE_UPSTREAM: u16 = 0x5;
    /// A downstream port of a switch.
    EXP_TYPE_DOWNSTREAM: u16 = 0x6;
    /// PCI Express: offset of Device Capabilities, 32 bits.
    EXP_DEVCAP: usize = 0x04;
    /// Of Device Capabilities: the function can be reset on its own.
    EXP_DEVCAP_FLR: u32 = 0x1000_0000;
    /// PCI Express: offset of Device Control, 16 bits.
    EXP_DEVCTL: usize = 0x08;
    /// Of Device Control: initiates the reset of the function.
    EXP_DEVCTL_BCR_FLR: u16 = 0x8000;
    /// PCI Express: offset of Link Status, 16 bits.
    EXP_LNKSTA: usize = 0x12;
    /// Of Link Status: the generation of the link as it runs.
    EXP_LNKSTA_CLS: u16 = 0x000F;
    /// Of Link Status: its lanes, in bits 4 to 9.
    EXP_LNKSTA_NLW: u16 = 0x03F0;
    /// PCI Express: offset of Device Capabilities 2, 32 bits.
    EXP_DEVCAP2: usize = 0x24;
    /// Of Device Capabilities 2: the port routes AtomicOps.
    EXP_DEVCAP2_ATOMIC_ROUTE: u32 = 0x0040;
    /// Of Device Capabilities 2: it completes AtomicOps of 32 bits.
    EXP_DEVCAP2_ATOMIC_COMP32: u32 = 0x0080;
    /// Of Device Capabilities 2: it completes AtomicOps of 64 bits, which are those of the lock
    /// unit.
    EXP_DEVCAP2_ATOMIC_COMP64: u32 = 0x0100;
    /// Of Device Capabilities 2: it completes AtomicOps of 128 bits.
    EXP_DEVCAP2_ATOMIC_COMP128: u32 = 0x0200;
    /// PCI Express: offset of Device Control 2, 16 bits.
    EXP_DEVCTL2: usize = 0x28;
    /// Of Device Control 2: the function may request AtomicOps.
    EXP_DEVCTL2_ATOMIC_REQ: u16 = 0x0040;
    /// Of Device Control 2: the port lets no AtomicOp out.
    EXP_DEVCTL2_ATOMIC_EGRESS_BLOCK: u16 = 0x0080;
    /// MSI-X: offset of message control, 16 bits.
    MSIX_FLAGS: usize = 2;
    /// Of message control: the number of vectors, less 1.
    MSIX_FLAGS_QSIZE: u16 = 0x07FF;
    /// Of message control: all vectors are masked.
    MSIX_FLAGS_MASKALL: u16 = 0x4000;
    /// Of message control: MSI-X is in use.
    MSIX_FLAGS_ENABLE: u16 = 0x8000;
    /// MSI-X: offset of the place of the table, 32 bits.
    MSIX_TABLE: usize = 4;
    /// MSI-X: offset of the place of the pending bits, 32 bits.
    MSIX_PBA: usize = 8;
    /// Of either place: the number of the BAR. The other bits are the offset in it.
    MSIX_TABLE_BIR: u32 = 0x7;
    /// Bytes of an entry of the MSI-X table: address low and high, data, control.
    MSIX_ENTRY_SIZE: usize = 16;
    /// Offset in an entry of its control, 32 bits.
    MSIX_ENTRY_VECTOR_CTRL: usize = 0xC;
    /// Of an entry's control: the vector is masked.
    MSIX_ENTRY_CTRL_MASKBIT: u32 = 0x1;
}

#[cfg(test)]
mod tests {
    use kernel_headers::Header;

    use super::ALL;

    #[test]
    fn numbers_are_those_of_the_kernel() {
        let header = Header::new("linux/pci_regs.h");
        let header = ALL.iter().fold(header, |header, (name, value)| header.value(name, *value));
        header.check();
    }
}
