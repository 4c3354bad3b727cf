// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lengths of time of leases and retries.

use thiserror::Error;

use crate::engine::Span;

/// How the membership is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// How long a lease lasts.
    pub lease: Span,
    /// How often a node renews it.
    pub renew: Span,
    /// The most by which two clocks can differ at the end of a lease, plus the longest burst: a node is
    /// evicted that long after its lease has run out by the manager's clock.
    pub skew: Span,
    /// After how long messages of a change of views, which networks may lose, are sent again.
    pub retry: Span,
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} = {value} ps: {expected} expected")]
pub struct SettingsError {
    /// The setting.
    pub field: &'static str,
    /// Its value, in picoseconds.
    pub value: u64,
    /// What it should be.
    pub expected: &'static str,
}

impl Default for Settings {
    /// FaRM's: leases of 10 ms (its shortest without false alarms on a large cluster), renewed each
    /// fifth of that.
    fn default() -> Self {
        Self {
            lease: Span::from_us(10_000),
            renew: Span::from_us(2_000),
            skew: Span::from_us(500),
            retry: Span::from_us(500),
        }
    }
}

impl Settings {
    /// Whether a cluster can be run by them.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn check(&self) -> Result<(), SettingsError> {
        let most = u64::MAX / 16;
        let (lease, renew) = (self.lease.as_ps(), self.renew.as_ps());
        let bounds = [
            ("lease", lease, lease > 0 && lease < most, "more than 0, less than 2^60"),
            ("renew", renew, renew > 0 && renew < lease, "more than 0, less than the lease"),
            ("skew", self.skew.as_ps(), self.skew.as_ps() < most, "less than 2^60"),
            ("retry", self.retry.as_ps(), (1..most).contains(&self.retry.as_ps()), "1 to 2^60"),
        ];
        match bounds.into_iter().find(|(_, _, is_right, _)| !is_right) {
            Some((field, value, _, expected)) => Err(SettingsError { field, value, expected }),
            None => Ok(()),
        }
    }

    /// Whether they fit a cluster of so many nodes and backups, whose messages have up to `mtu` bytes, and whose nodes
    /// end themselves after `loss_timeout` without an answer.
    ///
    /// # Errors
    /// The field of the cluster that does not fit, its value, and what it should be.
    pub fn check_cluster(
        &self,
        (nodes, backups): (u16, u8),
        mtu: u16,
        loss_timeout: Span,
    ) -> Result<(), (&'static str, u64, String)> {
        // A message of another node's failure must not look like a loss of this node's.
        let least = self.lease.as_ps() + self.skew.as_ps() + 2 * self.retry.as_ps();
        if loss_timeout.as_ps() < least {
            let expected = format!("at least {least} (lease + skew + 2 retries)");
            return Err(("loss_timeout (ps)", loss_timeout.as_ps(), expected));
        }
        // A proposed view is one message.
        let of_node = 6 + 4 + 2 * (usize::from(backups) + 1);
        let most = usize::from(mtu).saturating_sub(13) / of_node;
        if usize::from(nodes) > most {
            let expected = format!("at most {most}, as a view has to fit into the mtu");
            return Err(("nodes", nodes.into(), expected));
        }
        Ok(())
    }
}
