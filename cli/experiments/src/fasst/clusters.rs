// SPDX-License-Identifier: MIT OR Apache-2.0
//! The paper's two clusters.

use std::fmt;

/// A cluster of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// What the paper calls it.
    pub name: &'static str,
    /// Its platform file.
    pub platform: &'static str,
    /// Threads of a machine.
    pub threads: u8,
}

/// The cluster with ConnectX-3. Section 6 has "14 threads per machine" for all; its machines have eight
/// cores, and "all CPU cores" are used for TATP, so it is eight here.
pub const CX3: Cluster = Cluster { name: "CX3", platform: "connectx3", threads: 8 };
/// The cluster with Connect-IB.
pub const CIB: Cluster = Cluster { name: "CIB", platform: "connect-ib", threads: 14 };

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
