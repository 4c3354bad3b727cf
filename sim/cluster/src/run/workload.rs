// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transactions of a run, and the checks of their parameters.

use serde::Serialize;
use workloads::scenario::SmallBankAccess;
use workloads::zipf::MAX_EXPONENT;

use super::draft::{Draft, ObjectStoreDraft, RetwisDraft, TatpDraft, TpccDraft, WorkloadDraft};
use super::settings::SettingsError;
use crate::protocols::ProtocolName;

/// Objects of a transaction of the object store.
const MOST_READS: u64 = 16;
/// Rows of a workload in all.
const MOST_ROWS: u64 = 1 << 40;
/// Rows of a table at a machine: its 2^32 buckets, filled by half. TATP has up to twelve for a
/// subscriber.
const MOST_ROWS_OF_NODE: u64 = (1 << 31) * 15;
const TATP_ROWS: u64 = 12;
/// Warehouses of TPC-C in all: so many that their order lines, 300,000 each, are no more than that.
const MOST_WAREHOUSES: u64 = MOST_ROWS_OF_NODE / 300_000;

/// A new-order of so many lines has such a record with FaSST: the header and the number of changes, 18 beside each value,
/// and the district, the order, its row in NEW-ORDER and the customer's last order; then a stock and a line each.
const MOST_LINES: u64 = 15;
const FASST_RECORD: u64 =
    18 + (18 + 97) + (18 + 20) + 18 + (18 + 4) + MOST_LINES * (18 + 306 + 18 + 44);

/// The transactions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// FaSST's object store O(r, w).
    ObjectStore {
        /// Keys read by each transaction, r.
        reads: u8,
        /// Of these, keys changed on average, w.
        writes: u8,
        /// Keys, for each thread of the cluster.
        keys_per_thread: u64,
        /// Bytes of a value.
        value_bytes: u16,
    },
    /// TATP.
    Tatp {
        /// Subscribers, for each machine.
        subscribers_per_node: u64,
    },
    /// SmallBank.
    #[serde(rename = "smallbank")]
    SmallBank {
        /// Accounts, for each thread of the cluster.
        accounts_per_thread: u64,
        /// The share of accounts that are hot, in per cent.
        hot_percent: f64,
        /// How often these are drawn.
        access: SmallBankAccess,
    },
    /// SmallBank with the numbers of Xenic, and balances of four bytes.
    #[serde(rename = "smallbank-xenic")]
    SmallBankXenic {
        /// Accounts, for each machine.
        accounts_per_node: u64,
        /// The share of accounts that are hot, in per cent.
        hot_percent: f64,
        /// How often these are drawn.
        access: SmallBankAccess,
    },
    /// Retwis.
    Retwis {
        /// Keys, for each machine.
        keys_per_node: u64,
        /// The exponent of their Zipf distribution.
        exponent: f64,
    },
    /// The new-orders of TPC-C, with stocks all over the cluster.
    TpccNewOrder {
        /// Warehouses, for each machine.
        warehouses_per_node: u32,
    },
    /// All of TPC-C.
    Tpcc {
        /// Warehouses, for each machine.
        warehouses_per_node: u32,
    },
}

impl Workload {
    /// As settings write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ObjectStore { .. } => "object-store",
            Self::Tatp { .. } => "tatp",
            Self::SmallBank { .. } => "smallbank",
            Self::SmallBankXenic { .. } => "smallbank-xenic",
            Self::Retwis { .. } => "retwis",
            Self::TpccNewOrder { .. } => "tpcc-new-order",
            Self::Tpcc { .. } => "tpcc",
        }
    }

    /// The most rows that a transaction can have.
    pub(super) const fn most_rows(self) -> u64 {
        match self {
            Self::ObjectStore { reads, .. } => reads as u64,
            Self::Tatp { .. } => 4,
            // Both accounts of two customers.
            Self::SmallBank { .. } | Self::SmallBankXenic { .. } => 4,
            Self::Retwis { .. } => 10,
            // Warehouse, district, customer, order and its place among the new ones; of each of 15 lines item, stock
            // and line. All other kinds have fewer, but for stock-levels, whose rows no NIC is asked for.
            Self::TpccNewOrder { .. } | Self::Tpcc { .. } => 5 + 3 * 15,
        }
    }

    /// With its parameters, for headings.
    pub fn title(self) -> String {
        match self {
            Self::ObjectStore { reads, writes, keys_per_thread, value_bytes } => format!(
                "object store O({reads}, {writes}), {keys_per_thread} keys a thread, {value_bytes} B values"
            ),
            Self::Tatp { subscribers_per_node } => {
                format!("TATP, {subscribers_per_node} subscribers a node")
            }
            Self::SmallBank { accounts_per_thread, hot_percent, access } => format!(
                "SmallBank, {accounts_per_thread} accounts a thread, {}",
                hot(hot_percent, access)
            ),
            Self::SmallBankXenic { accounts_per_node, hot_percent, access } => format!(
                "SmallBank, {accounts_per_node} accounts a node, balances of 4 B, {}",
                hot(hot_percent, access)
            ),
            Self::Retwis { keys_per_node, exponent } => {
                format!("Retwis, {keys_per_node} keys a node, Zipf {exponent}")
            }
            Self::TpccNewOrder { warehouses_per_node } => {
                format!("TPC-C new-orders, {warehouses_per_node} warehouses a node")
            }
            Self::Tpcc { warehouses_per_node } => {
                format!("TPC-C, {warehouses_per_node} warehouses a node")
            }
        }
    }
}

/// Which accounts are hot, and how often they are drawn, in words.
fn hot(percent: f64, access: SmallBankAccess) -> String {
    let share = if access == SmallBankAccess::Hot90 { 90 } else { 10 };
    format!("{share} % of transactions among {percent} % of them")
}

/// The workload of a draft.
///
/// # Errors
/// For the first parameter that is not possible.
pub(super) fn check(draft: &Draft, nodes: u64, threads: u64) -> Result<Workload, SettingsError> {
    let workload = draft.values.workload.clone().unwrap_or_default();
    match workload {
        WorkloadDraft::ObjectStore(of) => object_store(draft, &of, nodes, threads),
        WorkloadDraft::Tatp(TatpDraft { subscribers_per_node }) => {
            let field = "workload.tatp.subscribers_per_node";
            let number = subscribers_per_node.unwrap_or(1_000_000);
            Ok(Workload::Tatp {
                subscribers_per_node: rows(draft, field, number, (nodes, TATP_ROWS))?,
            })
        }
        WorkloadDraft::SmallBank(of) => {
            let accounts =
                Field("smallbank", "accounts_per_thread", of.accounts_per_thread, 100_000);
            let (accounts_per_thread, hot_percent) =
                hot_accounts(draft, &accounts, of.hot_percent, (nodes * threads, threads))?;
            let access = of.access.unwrap_or(SmallBankAccess::Hot90);
            Ok(Workload::SmallBank { accounts_per_thread, hot_percent, access })
        }
        WorkloadDraft::SmallBankXenic(of) => {
            let accounts =
                Field("smallbank-xenic", "accounts_per_node", of.accounts_per_node, 2_400_000);
            let (accounts_per_node, hot_percent) =
                hot_accounts(draft, &accounts, of.hot_percent, (nodes, 1))?;
            let access = of.access.unwrap_or(SmallBankAccess::Hot90);
            Ok(Workload::SmallBankXenic { accounts_per_node, hot_percent, access })
        }
        WorkloadDraft::Retwis(of) => retwis(draft, &of, nodes),
        WorkloadDraft::TpccNewOrder(of) => {
            let field = "workload.tpcc-new-order.warehouses_per_node";
            let warehouses_per_node = warehouses(draft, field, &of, nodes)?;
            Ok(Workload::TpccNewOrder { warehouses_per_node })
        }
        WorkloadDraft::Tpcc(of) => {
            let warehouses_per_node =
                warehouses(draft, "workload.tpcc.warehouses_per_node", &of, nodes)?;
            Ok(Workload::Tpcc { warehouses_per_node })
        }
    }
}

fn warehouses(
    draft: &Draft,
    field: &str,
    of: &TpccDraft,
    nodes: u64,
) -> Result<u32, SettingsError> {
    let number = of.warehouses_per_node.unwrap_or(72);
    let most = MOST_WAREHOUSES / nodes;
    match (1..=most).contains(&number) {
        true => Ok(number as u32),
        false => Err(draft.reject(field, number, format!("1 to {most}"))),
    }
}

/// Refuses a workload that the protocol cannot run.
///
/// # Errors
/// With the reason.
pub(super) fn check_protocol(
    draft: &Draft,
    workload: Workload,
    protocol: ProtocolName,
) -> Result<(), SettingsError> {
    if protocol == ProtocolName::Fasst && matches!(workload, Workload::Tpcc { .. }) {
        let expected = format!(
            "another workload with protocol fasst: the record of a new-order of {MOST_LINES} lines has {FASST_RECORD} \
             bytes, and goes in one message, which has 4096 at most (tpcc-new-order rolls such orders back)"
        );
        return Err(draft.reject("workload", workload.name(), expected));
    }
    Ok(())
}

fn retwis(draft: &Draft, of: &RetwisDraft, nodes: u64) -> Result<Workload, SettingsError> {
    let exponent = of.exponent.unwrap_or(0.5);
    if !(0.0..=MAX_EXPONENT).contains(&exponent) {
        let expected = format!("an exponent from 0 to {MAX_EXPONENT}");
        return Err(draft.reject("workload.retwis.exponent", exponent, expected));
    }
    let keys = of.keys_per_node.unwrap_or(1_000_000);
    let keys_per_node = rows(draft, "workload.retwis.keys_per_node", keys, (nodes, 1))?;
    Ok(Workload::Retwis { keys_per_node, exponent })
}

/// A number of keys for each of so many parts of the cluster; with so many rows of a table for each key
/// and part of a machine.
fn rows(
    draft: &Draft,
    field: &str,
    number: u64,
    (parts, each): (u64, u64),
) -> Result<u64, SettingsError> {
    let most = (MOST_ROWS / parts).min(MOST_ROWS_OF_NODE / each);
    match (1..=most).contains(&number) {
        true => Ok(number),
        false => Err(draft.reject(
            field,
            number,
            format!("1 to {most}, on so many machines of 2^32 buckets a table"),
        )),
    }
}

fn object_store(
    draft: &Draft,
    of: &ObjectStoreDraft,
    nodes: u64,
    threads: u64,
) -> Result<Workload, SettingsError> {
    let field = |name: &str| format!("workload.object-store.{name}");
    let reads = of.reads.unwrap_or(1);
    if !(1..=nodes.min(MOST_READS)).contains(&reads) {
        let expected = format!(
            "1 to {}: the primaries of a transaction's keys are on different nodes",
            nodes.min(MOST_READS)
        );
        return Err(draft.reject(&field("reads"), reads, expected));
    }
    let writes = of.writes.unwrap_or(0);
    if writes > reads {
        let expected = format!("at most the {reads} keys that a transaction reads");
        return Err(draft.reject(&field("writes"), writes, expected));
    }
    let value_bytes = of.value_bytes.unwrap_or(40);
    if !(16..=4060).contains(&value_bytes) {
        let expected =
            "16 to 4060 bytes, which a message of 4096 has room for beside its own headers";
        return Err(draft.reject(&field("value_bytes"), value_bytes, expected));
    }
    let keys = of.keys_per_thread.unwrap_or(1_000_000);
    Ok(Workload::ObjectStore {
        reads: reads as u8,
        writes: writes as u8,
        keys_per_thread: rows(draft, &field("keys_per_thread"), keys, (nodes * threads, threads))?,
        value_bytes: value_bytes as u16,
    })
}

/// A number of a workload's table: the table, its name there, what is said, and its default.
struct Field(&'static str, &'static str, Option<u64>, u64);

/// Accounts for each of so many parts of the cluster, and the share of them that is hot.
fn hot_accounts(
    draft: &Draft,
    &Field(table, name, accounts, default): &Field,
    hot_percent: Option<f64>,
    parts: (u64, u64),
) -> Result<(u64, f64), SettingsError> {
    let field = |name: &str| format!("workload.{table}.{name}");
    let accounts = rows(draft, &field(name), accounts.unwrap_or(default), parts)?;
    let hot_percent = hot_percent.unwrap_or(4.0);
    if !(hot_percent > 0.0 && hot_percent <= 100.0) {
        let expected = "above 0 to 100 per cent of the accounts";
        return Err(draft.reject(&field("hot_percent"), hot_percent, expected));
    }
    let hot = (accounts * parts.0) as f64 * hot_percent / 100.0;
    if hot < 2.0 {
        let expected = "so many that two of them are hot: SendPayment needs two";
        return Err(draft.reject(&field(name), accounts, expected));
    }
    Ok((accounts, hot_percent))
}
