// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device that jobs go to.

use driver::DeviceUri;
use lockdb::Options;
use ndp_runtime::host::{Cancel, JobOptions, QueuePort, Runtime, RuntimeOptions};
use software_device::SoftwareDevice;

use super::store::{Opened, Target};
use crate::device_uri;
use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;

/// Steps of a device in this process between two looks of the host.
const STEPS: u32 = 256;

/// Submissions that the job queue has room for.
const ENTRIES: u16 = 64;

/// Which device.
#[derive(clap::Args)]
pub struct DeviceArgs {
    /// The device, by its URI; without one the device's software in this process.
    #[arg(long, value_name = "URI", value_parser = device_uri::parse)]
    device: Option<DeviceUri>,
    /// Processing elements that the table is divided among.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    pub elements: u16,
}

impl DeviceArgs {
    /// Whether the store's lock table and VID maps are to stand where the device reaches them.
    pub fn needs_shared(&self) -> bool {
        self.device.is_some()
    }

    /// The device beside a store, which was opened as [`DeviceArgs::needs_shared`] says.
    ///
    /// # Errors
    /// When it cannot be opened or used.
    pub fn runtime(
        &self,
        target: &Target,
        opened: &Opened,
        out: &Output,
    ) -> Result<Runtime, CommandError> {
        let waiting = Options::default().waiting;
        let options = RuntimeOptions { waiting, ..RuntimeOptions::default() };
        let (Some(uri), Some(memory)) = (&self.device, &opened.memory) else {
            let pages = opened.files.open("pages");
            let pages = pages.map_err(|error| CommandError::input(&target.folder, error))?;
            let device = SoftwareDevice::new(&opened.database, pages, STEPS);
            return Ok(Runtime::open(&opened.database, device, options));
        };
        let mut uri = uri.clone();
        // A simulated one has the store's own pages, unless it is said otherwise.
        if let DeviceUri::Simulated { storage: storage @ None, .. } = &mut uri {
            *storage = Some(target.folder.clone());
        }
        let device = device_uri::open_for_locks(&uri, out)?;
        let port = QueuePort::open(device, memory.clone(), ENTRIES)
            .map_err(|error| CommandError::Input(format!("{uri}: {error}")))?;
        Ok(Runtime::open(&opened.database, port, options))
    }

    /// How jobs are run; Ctrl-C cancels them.
    ///
    /// # Errors
    /// When the system does not let the program handle signals.
    pub fn job_options(&self) -> Result<JobOptions<'static>, CommandError> {
        let cancel = Cancel::default();
        interrupt::install_with({
            let cancel = cancel.clone();
            move || cancel.cancel()
        })?;
        Ok(JobOptions { elements: self.elements, cancel, ..JobOptions::default() })
    }
}
