// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies a text to the card and back, behind any backend:
//!
//! ```text
//! cargo run -p lockstep-driver --example copy -- vfio-user:/run/lockstep.socket
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use lockstep_driver::{CopyCommand, Device, DeviceUri, Direction, open_backend};

const BOUND: Duration = Duration::from_secs(5);
const TEXT: &[u8] = b"there and back again";

fn main() -> ExitCode {
    match copy() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("copy: {error}");
            ExitCode::FAILURE
        }
    }
}

fn copy() -> Result<(), Box<dyn Error>> {
    let address =
        std::env::args().nth(1).ok_or("usage: copy vfio-user:/path | pci:0000:3b:00.0")?;
    let device = Device::new(open_backend(&address.parse::<DeviceUri>()?)?)?;
    let mut queue = device.copy_queue(16)?;
    let buffer = device.allocate(4096)?;
    buffer.write(0, TEXT);
    let (here, there, bytes) = (buffer.bus_address(), 0, TEXT.len() as u32);
    let to_card = CopyCommand {
        direction: Direction::HostToCard,
        source: here,
        destination: there,
        bytes,
        interrupt: true,
    };
    let back = CopyCommand {
        direction: Direction::CardToHost,
        source: there,
        destination: here + 2048,
        ..to_card
    };
    queue.copy(to_card, BOUND)?.succeeded()?;
    queue.copy(back, BOUND)?.succeeded()?;
    let mut found = [0; TEXT.len()];
    buffer.read(2048, &mut found);
    println!("{device:?}\n{}", String::from_utf8_lossy(&found));
    Ok(())
}
