// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who belongs to the cluster, after FaRM (SOSP 2015, section 5): leases, a configuration manager, and
//! views, numbered by epochs, that all members agree on before the next one begins.
//!
//! - [`View`]: the members, and the replicas of each partition.
//! - [`Manager`]: evicts nodes whose lease has run out, and takes the others to the next view.
//! - [`Member`]: a node's view and lease.
//!
//! Membership is precise: a view is proposed only when the leases of those that it leaves out have run
//! out by their own clocks, and it begins only when all of its members have stopped the last one. So no
//! message of an old view is served by anyone once a new one has begun.

mod manager;
mod member;
mod messages;
mod settings;
mod view;

pub use manager::{Manager, ManagerCounts};
pub use member::{Member, Phase, Status};
pub use messages::{Message, kind};
pub use settings::{Settings, SettingsError};
pub use view::{Replicas, View};
