// SPDX-License-Identifier: MIT OR Apache-2.0
//! The platforms that runs are made on.

use timing::platform::{PlatformError, PlatformFile};

use crate::nic::smart_timing::SmartTiming;
use crate::platform::Hardware;

/// The cards of a platform, which a protocol is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cards {
    /// RDMA cards, whose cores nobody programs.
    Rdma,
    /// On-path SmartNICs with cores.
    Smart,
}

impl Cards {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Rdma, Self::Smart];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rdma => "RDMA cards",
            Self::Smart => "on-path SmartNICs",
        }
    }

    /// The platforms with these cards that come with the program.
    pub const fn platforms(self) -> &'static [&'static str] {
        match self {
            Self::Rdma => &Hardware::NAMES,
            Self::Smart => &SmartTiming::NAMES,
        }
    }

    /// Reads a platform with these cards.
    ///
    /// # Errors
    /// When the file describes none.
    pub fn read(self, file: PlatformFile) -> Result<Platform, PlatformError> {
        Ok(match self {
            Self::Rdma => Platform::Rdma(Box::new(Hardware::read_from(file)?)),
            Self::Smart => Platform::Smart(Box::new(SmartTiming::read_from(file)?)),
        })
    }

    /// Whether the file describes a platform with other cards instead.
    pub(super) fn is_other(self, file: &PlatformFile) -> bool {
        Self::ALL.iter().any(|other| *other != self && other.read(file.clone()).is_ok())
    }
}

/// The machines of a cluster, all alike.
#[derive(Clone, Debug)]
pub enum Platform {
    /// With RDMA cards.
    Rdma(Box<Hardware>),
    /// With on-path SmartNICs.
    Smart(Box<SmartTiming>),
}

impl From<&Hardware> for Platform {
    fn from(hardware: &Hardware) -> Self {
        Self::Rdma(Box::new(hardware.clone()))
    }
}

impl From<&SmartTiming> for Platform {
    fn from(timing: &SmartTiming) -> Self {
        Self::Smart(Box::new(timing.clone()))
    }
}

impl Platform {
    /// Its cards.
    pub fn cards(&self) -> Cards {
        match self {
            Self::Rdma(_) => Cards::Rdma,
            Self::Smart(_) => Cards::Smart,
        }
    }

    /// The platform, if it has RDMA cards.
    pub fn rdma(&self) -> Option<&Hardware> {
        match self {
            Self::Rdma(hardware) => Some(hardware),
            Self::Smart(_) => None,
        }
    }

    /// The platform, if it has SmartNICs.
    pub fn smart(&self) -> Option<&SmartTiming> {
        match self {
            Self::Rdma(_) => None,
            Self::Smart(timing) => Some(timing),
        }
    }

    /// Cores of a host.
    pub fn cores(&self) -> u32 {
        match self {
            Self::Rdma(hardware) => hardware.cores(),
            Self::Smart(timing) => timing.network.host.threads.get().0,
        }
    }

    /// The entry of its file that says so.
    pub(super) fn cores_entry(&self) -> &'static str {
        match self {
            Self::Rdma(_) => "cpu.cores",
            Self::Smart(_) => "network.host.threads",
        }
    }
}
