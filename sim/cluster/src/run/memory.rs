// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that a run may need, estimated before it begins.
//!
//! Initial rows are a function of their key and take none. What grows is the overlay of rows that were
//! written, at each copy, and the record of transactions that the check reads. The machines of FaSST
//! remember, for each thread, the last request of each worker that may ask it.

use cluster::engine::Work;
use timing::Time;

use super::{Settings, Workload};
use crate::platform::Hardware;

/// The most that a run may need.
pub const MOST_MEMORY: u64 = 8_000_000_000;

/// Bytes of an attempt and of an access in the record, of which a vector that grows holds up to three
/// times as many for a moment; and of their places in the replay.
const ATTEMPT: u64 = 3 * 56 + 24;
const ACCESS: u64 = 3 * 24;
/// Bytes of a written row beside its value, and of a header, in maps that are half full
/// (`cluster::store`).
const ROW: u64 = 2 * (25 + 25);
/// Bytes of a written row and its header in the replay.
const REPLAYED_ROW: u64 = 120;
/// Bytes that a worker takes beside what others remember of it, with its transaction's rows.
const WORKER: u64 = 4096;
/// Bytes that a thread remembers of each worker that may ask it.
const ASKED: u64 = 4;
/// Rows of all tables of TATP for a subscriber, at most.
const TATP_ROWS: u64 = 1 + 4 + 4 + 12;

/// The bytes that a run may need: as many as the fastest run that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Of machines, before anything has happened.
    pub machines: u64,
    /// Of rows that are written, all copies together.
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
    pub fn of(settings: &Settings, hardware: &Hardware) -> Self {
        let [nodes, threads, workers] =
            [settings.nodes, settings.threads.into(), settings.workers.into()].map(u64::from);
        let all_workers = nodes * threads * workers;
        let machines = all_workers * (WORKER + nodes * ASKED);
        let time = (settings.warm_up() + settings.duration()).as_ps();
        let of = Rows::of(settings);
        let each = least_time(hardware, nodes, of.looks).as_ps().max(1);
        let transactions = (nodes * threads).saturating_mul(time / each + 1);
        let written = (transactions.saturating_mul(of.writes) / 1000).min(of.rows);
        let copies = u64::from(settings.replicas);
        let overlay = written.saturating_mul(copies * (ROW + 2 * of.value_bytes));
        let record = match settings.checks {
            true => transactions
                .saturating_mul(ATTEMPT + (of.reads + of.writes) * ACCESS / 1000)
                .saturating_add(written.saturating_mul(REPLAYED_ROW)),
            false => 0,
        };
        Self { machines, overlay, record, transactions }
    }
}

/// The least time that a transaction takes of the cores, on average: it begins, looks at so many rows, one
/// of which is on another machine but for one of `nodes` times, and ends.
fn least_time(hardware: &Hardware, nodes: u64, looks: u64) -> Time {
    let costs = hardware.work_costs();
    let sum = |of: &[Work]| of.iter().map(|work| costs[*work as usize].as_ps()).sum::<u64>();
    let own = sum(&[Work::Begin]) + looks * sum(&[Work::Look, Work::Header, Work::Logic]);
    let asked = 2 * sum(&[Work::Send, Work::Receive]) + sum(&[Work::Handle]);
    Time::from_ps(own + asked * (nodes - 1) / nodes)
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
        }
    }

    fn of_small_bank(rows: u64, value_bytes: u64) -> Self {
        Self { reads: 1850, writes: 1400, value_bytes, rows, looks: 1 }
    }
}
