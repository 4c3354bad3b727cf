// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of the path to a device: in process, where its RTL is clocked on the other side of a
//! function call, and over vfio-user, where it is on the other side of a socket.

mod copies;
mod latency;
mod locks;
mod registers;
mod served;

use std::path::Path;
use std::sync::Arc;

use device::Simulated;
use driver::{Device, OpenError};

use super::{Figures, Measurement, Size, pin};
use served::Served;

/// All of it, the socket served by the command `server`. Devices are opened first, so that only the
/// thread that measures is pinned.
pub fn measure(size: Size, server: Option<&Path>) -> Figures {
    let simulated = Simulated::new("sim:".into()).map_err(|error| error.to_string())?;
    let simulated = Arc::new(simulated);
    let here = OpenBackend::new("in process", Device::new(simulated.clone()))?;
    let served = Served::start(server)?;
    let there = device::open_backend(served.uri()).and_then(Device::new);
    let there = OpenBackend::new("vfio-user", there)?;
    let mut figures = pin::on_one_processor(|| {
        let mut figures = vec![registers::in_process(size, &here, &simulated)?];
        figures.push(registers::over_a_socket(size, &there)?);
        figures.extend(copies::measure(size, &here)?);
        figures.extend(copies::measure(size, &there)?);
        for backend in [&here, &there] {
            figures.push(latency::of_an_interrupt(size, backend)?);
            figures.push(latency::of_a_completion(size, backend)?);
        }
        Ok::<_, String>(figures)
    })?;
    figures.extend(pin::on_one_processor(|| locks::measure(size, &there))?);
    Ok(figures)
}

/// A device, and how it is reached.
struct OpenBackend {
    name: &'static str,
    device: Device,
}

impl OpenBackend {
    fn new(name: &'static str, opened: Result<Device, OpenError>) -> Result<Self, String> {
        let device = opened.map_err(|error| error.to_string())?;
        Ok(Self { name, device })
    }

    /// A figure of this backend.
    fn figure(&self, what: &str, unit: &'static str, value: f64) -> Measurement {
        Measurement::new(format!("{what}, {}", self.name), unit, value)
    }
}

/// The median of samples in nanoseconds.
fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    samples[samples.len() / 2]
}
