// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep serve`: the simulated device as a PCI device for other processes.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use device::{BoardOptions, Progress, ServeOptions};
use driver::{Elements, PCI_ID_VARIABLE, PciIdentity};
use vfio_user::{Error, Stop};

use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;
use crate::wave::window;
use crate::whole_file::WholeFile;

const EXAMPLES: &str = "\
Examples:
  lockstep serve --socket /tmp/lockstep.socket
  lockstep serve --socket /tmp/lockstep.socket --once --waves device.fst --from 0 --to 5000
  lockstep serve --socket /tmp/lockstep.socket --storage /var/lib/store --elements rtl

In another terminal, software of this machine:
  lockstep check vfio-user:/tmp/lockstep.socket
  lockstep run scenarios/wall-clock.toml --device vfio-user:/tmp/lockstep.socket

Or QEMU, from 10.1 on: its guest sees a PCI device, 10ee:4c53. Its memory must be shared:
  qemu-system-x86_64 -machine q35,memory-backend=ram -accel tcg -m 1G \\
    -object memory-backend-memfd,id=ram,size=1G,share=on \\
    -device '{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",
              \"path\":\"/tmp/lockstep.socket\"}}' …

Other identifiers are vendor:device or vendor:device:subvendor:subsystem, four hexadecimal digits
each. Software takes it for a Lockstep device if LOCKSTEP_PCI_ID names the same.

One client at a time; what it lent and left is forgotten when it goes. Ctrl-C ends the server and
removes the socket. docs/vfio-user.md says what of the protocol is spoken.";

/// Serves the simulated device, its RTL clocked by Verilator, at a vfio-user socket.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Path of the socket, which is created for this user only.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    socket: PathBuf,
    /// Ends after the first client.
    #[arg(long)]
    once: bool,
    /// Native storage for jobs near the data: a store's folder, or its pages.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    storage: Option<PathBuf>,
    /// Its elements.
    #[arg(long, value_name = "WHICH", default_value = "software", value_parser = elements())]
    elements: Elements,
    /// Its PCI identifiers, instead of those in LOCKSTEP_PCI_ID or 10ee:4c53.
    #[arg(long, value_name = "IDS")]
    pci_id: Option<PciIdentity>,
    /// Writes waves of the RTL to this file (FST), once the server has ended.
    #[arg(long, value_name = "FILE", requires_all = ["from", "to"], value_hint = ValueHint::FilePath)]
    waves: Option<PathBuf>,
    /// First clock cycle of the waves, from power-up; idle ones do not count.
    #[arg(long, value_name = "CYCLE", requires = "waves")]
    from: Option<u64>,
    /// First clock cycle after the waves.
    #[arg(long, value_name = "CYCLE", requires = "waves")]
    to: Option<u64>,
}

fn elements() -> impl TypedValueParser<Value = Elements> {
    let known = PossibleValuesParser::new(["software", "rtl"]);
    known.map(|which| if which == "rtl" { Elements::Rtl } else { Elements::Software })
}

/// Runs the command.
///
/// # Errors
/// When the socket cannot be made, or the reader of the output is gone.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let waves = match (&args.waves, args.from, args.to) {
        (Some(path), Some(from), Some(to)) => {
            let window = window(from, to)?;
            Some((WholeFile::create(path)?, window))
        }
        _ => None,
    };
    if let Some(path) = &args.storage
        && !path.is_file()
        && !path.join("pages").is_file()
    {
        let path = path.display();
        out.note(format_args!("{path}: no store is here yet; until it is, jobs are refused"));
    }
    let identity = match args.pci_id {
        Some(identity) => identity,
        None => PciIdentity::expected()
            .map_err(|error| CommandError::Input(format!("{PCI_ID_VARIABLE}: {error}")))?,
    };
    let options = ServeOptions {
        board: BoardOptions { storage: args.storage, elements: args.elements, identity },
        waves: waves.as_ref().map(|(file, window)| (file.temporary().to_owned(), *window)),
        ..ServeOptions::default()
    };
    let stop = Stop::new().map_err(|error| failure(&error))?;
    interrupt::install_with({
        let stop = stop.clone();
        move || stop.stop()
    })?;
    let mut unread = None;
    let served = device::serve(&args.socket, options, &stop, |progress| {
        if let Err(failure) = out.print(line(progress)) {
            unread.get_or_insert(failure);
            stop.stop();
        }
        if args.once && matches!(progress, Progress::Left { .. }) {
            stop.stop();
        }
    });
    unread.map_or(Ok(()), Err)?;
    served.map_err(|error| failure(&error))?;
    waves.map_or(Ok(()), |(file, _)| file.finish())?;
    out.print("ended; the socket is removed")
}

fn line(progress: &Progress) -> String {
    match progress {
        Progress::Listening { path } => {
            format!("ready at vfio-user:{}; Ctrl-C ends it", path.display())
        }
        other => other.to_string(),
    }
}

/// Says what to do next.
fn failure(error: &Error) -> CommandError {
    match error {
        Error::NotASocket { .. } | Error::InUse { .. } => CommandError::Input(error.to_string()),
        Error::Socket { action, path, source } => {
            let remedy = match source.kind() {
                ErrorKind::PermissionDenied => "; choose a folder in which you may write",
                ErrorKind::NotFound => "; make the folder first",
                ErrorKind::InvalidFilename | ErrorKind::InvalidInput => {
                    "; choose a path of at most 107 bytes"
                }
                _ => "",
            };
            CommandError::Input(format!("cannot {action} {}: {source}{remedy}", path.display()))
        }
        error => CommandError::Internal(error.to_string()),
    }
}
