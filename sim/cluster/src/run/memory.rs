// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that a run may need, estimated before it begins.
//!
//! Initial rows are a function of their key and take none. What grows is the overlay of rows that were
//! written, at each copy, and the record of transactions that the check reads. What machines need is their
//! protocol's to say.

use timing::Time;

use super::{Platform, Settings, Workload};
use crate::protocols::{Runs, Visitor};

/// The most that a run may need.
pub const MOST_MEMORY: u64 = 8_000_000_000;

/// Bytes of an attempt and of an access in the record, of which a vector that grows holds up to three
/// times as many for a moment; and of their places in the replay.
const ATTEMPT: u64 = 3 * 56 + 24;
const ACCESS: u64 = 3 * 24;
/// Bytes of a written row beside its value, and of a header, in maps that are half full
/// (`cluster::store`).
const ROW: u64 = 2 * (25 + 33);
/// Bytes of a written row and its header in the replay.
const REPLAYED_ROW: u64 = 120;
/// Rows of all tables of TATP for a subscriber, at most.
const TATP_ROWS: u64 = 1 + 4 + 4 + 12;

/// The bytes that a run may need: as many as the fastest run that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Of machines, before anything has happened.
    pub machines: u64,
    /// Of rows that are written, all copies together, and of what NICs have of rows that are touched.
    pub overlay: u64,
    /// Of the record of transactions, and of the replay that checks them.
    pub record: u64,
    /// The transactions that this is for: no more can be made in the time.
    pub transactions: u64,
}

impl Memory {
    /// In all.
    pub fn total(self) -> u64 {
        self.machines.saturating_add(self.overlay).saturating_add(self.record)
    }

    /// What a run of these settings may need on this hardware.
    pub fn of(settings: &Settings, platform: &Platform) -> Self {
        let of = Rows::of(settings);
        let time = settings.warm_up() + settings.duration();
        let counted = OfProtocol { settings, platform, of: &of, time };
        let (machines, transactions, touched) = settings.protocol.with(counted);
        let written = (transactions.saturating_mul(of.writes) / 1000).min(of.rows);
        let copies = u64::from(settings.replicas);
        let overlay = written.saturating_mul(copies * (ROW + 2 * of.value_bytes));
        let overlay = overlay.saturating_add(touched);
        let record = match settings.checks {
            true => transactions
                .saturating_mul(ATTEMPT + (of.reads + of.writes) * ACCESS / 1000)
                .saturating_add(written.saturating_mul(REPLAYED_ROW)),
            false => 0,
        };
        Self { machines, overlay, record, transactions }
    }
}

/// The bytes of a protocol's machines, the most transactions in the time, and the bytes of what machines keep of rows
/// that these touch.
struct OfProtocol<'a> {
    settings: &'a Settings,
    platform: &'a Platform,
    of: &'a Rows,
    time: Time,
}

impl Visitor for OfProtocol<'_> {
    type Output = (u64, u64, u64);

    fn visit<P: Runs>(self) -> (u64, u64, u64) {
        let Self { settings, platform, of, time } = self;
        let parts = u64::from(settings.nodes) * u64::from(settings.threads);
        // On a platform with other cards nothing is run.
        let each = P::least_time(settings, platform, of.looks).unwrap_or(Time::MAX);
        let transactions = parts.saturating_mul(time.as_ps() / each.as_ps().max(1) + 1);
        // What is written was read.
        let touched = (transactions.saturating_mul(of.reads) / 1000).min(of.rows);
        let touched = P::touched_bytes(settings, touched, of.value_bytes);
        (P::machine_bytes(settings), transactions, touched)
    }
}

/// What a transaction reads and writes, on average over the workload's mix, in thousandths.
struct Rows {
    reads: u64,
    writes: u64,
    /// Bytes of a value that is written, of the table with the longest.
    value_bytes: u64,
    /// Rows of all tables that can be written.
    rows: u64,
    /// The fewest rows that a transaction looks at.
    looks: u64,
}

impl Rows {
    fn of(settings: &Settings) -> Self {
        let nodes = u64::from(settings.nodes);
        let threads = nodes * u64::from(settings.threads);
        match settings.workload {
            Workload::ObjectStore { reads, writes, keys_per_thread, value_bytes } => Self {
                reads: 1000 * u64::from(reads),
                writes: 1000 * u64::from(writes),
                value_bytes: value_bytes.into(),
                rows: keys_per_thread * threads,
                looks: 1,
            },
            // A subscriber has up to four rows of each of three tables, and three calls for one of these.
            Workload::Tatp { subscribers_per_node } => Self {
                reads: 1500,
                writes: 220,
                value_bytes: 40,
                rows: TATP_ROWS * subscribers_per_node * nodes,
                looks: 1,
            },
            // Two accounts of a customer.
            Workload::SmallBank { accounts_per_thread, .. } => {
                Self::of_small_bank(2 * accounts_per_thread * threads, 8)
            }
            Workload::SmallBankXenic { accounts_per_node, .. } => {
                Self::of_small_bank(2 * accounts_per_node * nodes, 4)
            }
            Workload::Retwis { keys_per_node, .. } => Self {
                reads: 4700,
                writes: 1950,
                value_bytes: 64,
                rows: keys_per_node * nodes,
                looks: 1,
            },
            // Ten lines on average, at least five, and each order makes new rows.
            Workload::TpccNewOrder { .. } => {
                Self { reads: 25_000, writes: 23_000, value_bytes: 306, rows: u64::MAX, looks: 15 }
            }
            // Of 136 transactions 45 are new-orders, 43 payments (four rows), 40 parts of deliveries (14 rows), 4 look
            // at an order, and 4 at some 400 rows of stock-levels.
            Workload::Tpcc { .. } => {
                Self { reads: 26_000, writes: 13_000, value_bytes: 659, rows: u64::MAX, looks: 3 }
            }
        }
    }

    fn of_small_bank(rows: u64, value_bytes: u64) -> Self {
        Self { reads: 1850, writes: 1400, value_bytes, rows, looks: 1 }
    }
}
