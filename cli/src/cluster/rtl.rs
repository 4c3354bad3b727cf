// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RTL that stands for the data path of a node's NIC, and its waves.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use cluster_sim::run::Settings;
use nic_runs::Waves;
use timing::Time;

use super::settings::of_settings;
use crate::error::CommandError;

/// How much is written of the waves if no end is said, in microseconds.
const WINDOW_US: f64 = 10.0;

/// Hardware in the loop.
#[derive(clap::Args, Clone, Debug)]
pub struct RtlArgs {
    /// The node, as node0, whose NIC's data path is the RTL of the look-ups (Xenic, SmallBank).
    #[arg(long, value_name = "NODE")]
    rtl: Option<String>,
    /// Writes waves of the RTL to this file (FST).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub waves: Option<PathBuf>,
    /// Virtual time at which the waves begin [default: the warm-up's end].
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    waves_from_us: Option<f64>,
    /// Virtual time at which they end [default: 10 µs later].
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    waves_to_us: Option<f64>,
}

impl RtlArgs {
    /// The node, if there is to be one, and the window of the waves.
    ///
    /// # Errors
    /// When these settings have no such node or no data path, or there is no such window.
    pub fn check(&self, settings: &Settings) -> Result<Option<(u16, Window)>, CommandError> {
        let refuse = |flag, value: String, expected: &str| {
            Err(CommandError::Input(format!("{flag} {value}: expected {expected}")))
        };
        let times = [("--waves-from-us", self.waves_from_us), ("--waves-to-us", self.waves_to_us)];
        if self.waves.is_none() {
            for (flag, time) in times {
                if let Some(time) = time {
                    return refuse(flag, time.to_string(), "--waves FILE beside it");
                }
            }
        }
        let Some(name) = &self.rtl else {
            return match &self.waves {
                None => Ok(None),
                Some(file) => {
                    let expected = "--rtl NODE beside it, whose waves they are";
                    refuse("--waves", file.display().to_string(), expected)
                }
            };
        };
        let node = settings.node_in_loop("--rtl", name).map_err(of_settings)?;
        let end = settings.warm_up_us + settings.duration_us;
        let from = self.waves_from_us.unwrap_or(settings.warm_up_us);
        if !(0.0..end).contains(&from) {
            return refuse(
                times[0].0,
                from.to_string(),
                &format!("0 to below {end}, the run's end"),
            );
        }
        let to = self.waves_to_us.unwrap_or(from + WINDOW_US);
        if !(to > from && to.is_finite()) {
            return refuse(times[1].0, to.to_string(), &format!("a time after {from}"));
        }
        let [from, until] = [from, to].map(|us| Time::from_ps((us * 1e6) as u64));
        Ok(Some((node, Window { from, until })))
    }
}

/// When waves are written.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    from: Time,
    until: Time,
}

impl Window {
    /// The waves of this window, in a file.
    pub fn waves(self, file: &Path) -> Waves {
        Waves { file: file.to_owned(), from: self.from, until: self.until }
    }
}
