// SPDX-License-Identifier: MIT OR Apache-2.0
//! A function that is powered up and answers at its BARs, until this is dropped.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::pci_regs::{COMMAND, COMMAND_MASTER, COMMAND_MEMORY};

/// The function's configuration space, and its state from before.
pub struct Enabled {
    configuration: File,
    bytes: u64,
    folder: PathBuf,
    /// The command register as it was. At the end it is so again, but for bus mastering, which is off
    /// then, whoever had left it on.
    before: u16,
}

impl Enabled {
    /// Enables the function in `folder`, whose file `config` is open, and which this process alone
    /// uses. It may not access memory yet. A program that was killed has left bus mastering on, over
    /// pages that others have by now: so this ends first, before anything that may fail or take time.
    pub fn new(configuration: File, folder: PathBuf) -> io::Result<Self> {
        let before = read_command(&configuration)?;
        write_command(&configuration, before & !COMMAND_MASTER)?;
        // What it wrote before has arrived when this is answered.
        read_command(&configuration)?;
        let bytes = configuration.metadata()?.len();
        // Has the kernel power it up, and count us as a user.
        fs::write(folder.join("enable"), "1")?;
        let this = Enabled { configuration, bytes, folder, before };
        this.set_bus_master(false)?;
        Ok(this)
    }

    /// Its configuration space.
    pub fn configuration(&self) -> &File {
        &self.configuration
    }

    /// The bytes of it that this user may see.
    pub fn configuration_bytes(&self) -> u64 {
        self.bytes
    }

    /// Lets the function access memory, or not. When this has returned, what it wrote before has
    /// arrived: an answer does not overtake it.
    pub fn set_bus_master(&self, on: bool) -> io::Result<()> {
        let quiet = self.before & !COMMAND_MASTER | COMMAND_MEMORY;
        let command = if on { quiet | COMMAND_MASTER } else { quiet };
        write_command(&self.configuration, command)?;
        read_command(&self.configuration).map(drop)
    }
}

fn write_command(configuration: &File, command: u16) -> io::Result<()> {
    configuration.write_all_at(&command.to_le_bytes(), COMMAND as u64)
}

fn read_command(configuration: &File) -> io::Result<u16> {
    let mut bytes = [0; 2];
    configuration.read_exact_at(&mut bytes, COMMAND as u64)?;
    Ok(u16::from_le_bytes(bytes))
}

impl Drop for Enabled {
    fn drop(&mut self) {
        // A function that was unplugged has nothing to be put back.
        let _ = write_command(&self.configuration, self.before & !COMMAND_MASTER);
        let _ = fs::write(self.folder.join("enable"), "0");
    }
}
