// SPDX-License-Identifier: MIT OR Apache-2.0
//! The protocols, as runs and campaigns use them. A further one is a file here and a line of the list below;
//! nothing else names any.

mod drtm_h;
mod fasst;
mod xenic;

use cluster::engine::{Key, Machine, Protocol};
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::recovery::Keeps;
use cluster::workload::Totals;
use serde::Serialize;
use timing::Time;

use crate::run::{ByHand, Cards, Places, Platform, RunError, Settings};
use crate::world::{Hardware, IndexOf, MemoryOf, Options};

pub use drtm_h::{DrtmH, DrtmHNc, DrtmR};
pub use fasst::Fasst;
pub use fasst::posted;
pub use xenic::Xenic;

/// A cluster of some protocol that runs a workload.
pub trait Cluster:
    Protocol<Machine: Machine<Shared: Keeps<Workload = <Self as Cluster>::Workload>>> + Clone
{
    /// The workload.
    type Workload: Totals;

    /// The workload.
    fn workload(&self) -> &Self::Workload;

    /// Where rows belong.
    fn layout(&self) -> &Partitioning;

    /// The manager of views, if this machine is it.
    fn manager_of(machine: &Self::Machine) -> Option<&Manager>;

    /// Finds the memory of a host that the cores of its NIC access in what the parts of a node share. A protocol
    /// whose memory nobody accesses so has none.
    fn memory() -> Option<MemoryOf<<Self::Machine as Machine>::Shared>> {
        None
    }

    /// Finds the index of a NIC in what the parts of a node share, if NICs have one that hardware can stand for.
    fn index() -> Option<IndexOf<<Self::Machine as Machine>::Shared>> {
        None
    }

    /// Rows that the index of a node's NIC was asked for, and how many of them it had cached. A protocol without an
    /// index was asked for none.
    fn looks(_: &<Self::Machine as Machine>::Shared) -> [u64; 2] {
        [0; 2]
    }
}

/// How clusters of a protocol are made for runs.
pub trait Runs {
    /// A cluster that runs the workload `T`.
    type Cluster<T: Totals>: Cluster<Workload = T>;

    /// The cards that it is made for.
    const CARDS: Cards;
    /// The platform that it runs on if no other is said.
    const PLATFORM: &'static str;
    /// The most workers of a thread: names on the wire have so much room.
    const MOST_WORKERS: u64 = 64;
    /// How long nothing happens in it at most before it is at rest.
    const QUIET: Time = Time::ZERO;

    /// Whether the protocol can do what these settings want, as far as they alone tell.
    ///
    /// # Errors
    /// When it cannot.
    fn check(_: &Settings) -> Result<(), RunError> {
        Ok(())
    }

    /// The cluster of these settings.
    ///
    /// # Errors
    /// When the protocol refuses them.
    fn cluster<T: Totals>(
        of: &Settings,
        has_faults: bool,
        transactions: T,
    ) -> Result<Self::Cluster<T>, RunError>;

    /// The same for this platform, where it bounds what the protocol sends.
    ///
    /// # Errors
    /// As [`Runs::cluster`].
    fn cluster_on<T: Totals>(
        of: &Settings,
        _: &Platform,
        has_faults: bool,
        transactions: T,
    ) -> Result<Self::Cluster<T>, RunError> {
        Self::cluster(of, has_faults, transactions)
    }

    /// The machines of the run; `None` on a platform with other cards.
    fn hardware(of: &Settings, platform: &Platform) -> Option<Hardware>;

    /// Threads of a host. Each has as many workers as the settings say.
    fn host_threads(of: &Settings) -> u8 {
        of.threads
    }

    /// Threads of a host with workers, if not all have some.
    fn threads_with_workers(_: &Settings) -> Option<u8> {
        None
    }

    /// Cores of a NIC that have a machine.
    fn nic_cores(_: &Settings) -> u8 {
        0
    }

    /// Most messages and completions that a poll takes, if the platform says so.
    fn burst(_: &Platform) -> Option<u16> {
        None
    }

    /// Messages of a transaction, counted by hand over so many inputs.
    fn by_hand<T: Totals>(of: &Settings, cluster: &Self::Cluster<T>, inputs: u32) -> ByHand;

    /// The bytes that the machines take, before anything has happened.
    fn machine_bytes(of: &Settings) -> u64;

    /// The bytes of what machines keep of rows that they have touched beside the rows themselves, for so many rows with
    /// values of so many bytes.
    fn touched_bytes(_: &Settings, _rows: u64, _value_bytes: u64) -> u64 {
        0
    }

    /// The least time that a transaction that looks at so many rows takes of a thread of its host, on average;
    /// `None` on a platform with other cards.
    fn least_time(of: &Settings, platform: &Platform, looks: u64) -> Option<Time>;
}

/// How clusters of a protocol are made for campaigns: a protocol is known there by the type that names its
/// planted bugs.
pub trait Campaigns: Copy + PartialEq + std::fmt::Debug {
    /// A cluster that runs the workload `T`.
    type Cluster<T: Totals>: Cluster<Workload = T>;

    /// The cluster of a case.
    ///
    /// # Errors
    /// A sentence if the protocol refuses it.
    fn cluster<T: Totals>(
        case: &crate::campaign::Case,
        planted: cluster::mutant::Planted<Self>,
        transactions: T,
    ) -> Result<Self::Cluster<T>, String>;

    /// The machines of a case.
    fn hardware(case: &crate::campaign::Case) -> Hardware;

    /// How its world is run.
    fn options(case: &crate::campaign::Case) -> Options;
}

macro_rules! protocols {
    ($($(#[$doc:meta])* $protocol:ident = $name:literal,)*) => {
        /// A protocol that can be run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ProtocolName {
            $($(#[$doc])* $protocol,)*
        }

        impl ProtocolName {
            /// All there are; the first is meant if none is said.
            pub const ALL: &'static [Self] = &[$(Self::$protocol),*];

            /// As settings write it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$protocol => $name,)*
                }
            }

            /// Lets `visitor` do its work with the protocol.
            pub fn with<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$protocol => visitor.visit::<$protocol>(),)*
                }
            }
        }
    };
}

protocols! {
    /// FaSST (OSDI 2016).
    Fasst = "fasst",
    /// Xenic (SOSP 2021).
    Xenic = "xenic",
    /// DrTM+H (OSDI 2018).
    DrtmH = "drtm-h",
    /// DrTM+H without its cache of addresses.
    DrtmHNc = "drtm-h-nc",
    /// DrTM+R as Xenic emulates it: all by one-sided verbs.
    DrtmR = "drtm-r",
}

/// The longest message of protocols on cards that cannot divide one: a packet's.
fn mtu_of(platform: &Platform, most: u16) -> u16 {
    platform.rdma().map_or(most, |rdma| rdma.framing().mtu.min(most.into()) as u16)
}

/// Where keys are at the start, for counts by hand: a partition's primary is the node of its number.
fn places<'l>(of: &Settings, layout: &'l Partitioning) -> Places<impl Fn(Key) -> u16 + use<'l>> {
    Places {
        nodes: of.nodes,
        backups: of.replicas - 1,
        workers: u32::from(of.threads) * u32::from(of.workers),
        primary: |key| layout.partition_of(key).0,
    }
}

/// Work that is the same for all protocols.
pub trait Visitor {
    /// What comes out.
    type Output;

    /// Does it with this one.
    fn visit<P: Runs>(self) -> Self::Output;
}
