// SPDX-License-Identifier: MIT OR Apache-2.0
//! What only runs of Xenic have: cores of the NIC, log workers, the switches of figure 9, and the annotation of
//! where logic runs.

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::settings::SettingsError;
use super::workload::Workload;
use crate::protocols::ProtocolName;

/// An optimisation of Xenic, which can be off (section 5.7 of its paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// Objects are read and locked by one request for each node (figure 9a: remote operations).
    Combined,
    /// Messages of a burst share frames (figure 9a: Ethernet aggregation).
    Aggregation,
    /// DMA operations and packets of the slot are submitted together (figure 9a: async DMA).
    Vectors,
    /// Logic runs on the own NIC (figure 9b: NIC execution).
    Ships,
    /// Logic runs on other NICs (figure 9b: multi-hop).
    MultiHop,
}

impl Switch {
    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Combined, Self::Aggregation, Self::Vectors, Self::Ships, Self::MultiHop];

    /// As settings write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Aggregation => "aggregation",
            Self::Vectors => "vectors",
            Self::Ships => "ships",
            Self::MultiHop => "multi-hop",
        }
    }
}

/// How Xenic is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct XenicSettings {
    /// Cores of each NIC that take part.
    pub nic_cores: u8,
    /// Threads of each host that apply records, beside those with workers.
    pub log_workers: u8,
    /// The most entries that a NIC's index has memory for.
    pub index_entries: u32,
    /// Whether it has cached all rows at the start, as after a long run, if it has memory for them.
    pub warm_index: bool,
    /// The optimisations that are off.
    pub without: Vec<Switch>,
    /// The names of the kinds of transactions whose logic stays on the host: the annotation of section 4.3.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_host: Vec<String>,
}

/// The paper names neither size nor policy of the index (section 4.1.3). So many entries have room for all objects of a
/// server in all of its workloads, as the NIC's 16 GB have: 72 warehouses of TPC-C lie in 10 million segments.
const INDEX_ENTRIES: u64 = 1 << 24;
const MOST_ENTRIES: u64 = 1 << 30;
/// Cores of the paper's NIC.
const NIC_CORES: u64 = 24;
/// So many apply what 24 cores log. (Xenic, section 5.6, has three, which are the limit here.)
const LOG_WORKERS: u64 = 8;

/// What TPC-C does on the host.
pub(crate) const TPCC_ON_HOST: [&str; 3] = ["order-status", "delivery", LARGEST];
/// One row of a district, 20 orders, and 300 lines with as many stocks.
const LARGEST: &str = "stock-level";

/// Slots of a cluster have numbers of 16 bits, and a core so many at most.
const MOST_OWNERS: u64 = 65_535;
const MOST_SLOTS: u64 = 4096;

impl Default for XenicSettings {
    fn default() -> Self {
        Self {
            nic_cores: NIC_CORES as u8,
            log_workers: LOG_WORKERS as u8,
            index_entries: INDEX_ENTRIES as u32,
            warm_index: true,
            without: Vec::new(),
            on_host: Vec::new(),
        }
    }
}

impl XenicSettings {
    /// The defaults with a workload, which brings its annotation: of TPC-C all kinds but new-order and payment stay on the
    /// host (section 5.3).
    pub fn for_workload(workload: Workload) -> Self {
        let is_tpcc = matches!(workload, Workload::Tpcc { .. });
        let on_host = if is_tpcc { TPCC_ON_HOST.map(String::from).to_vec() } else { Vec::new() };
        Self { on_host, ..Self::default() }
    }

    /// Whether an optimisation is on.
    pub fn has(&self, switch: Switch) -> bool {
        !self.without.contains(&switch)
    }

    /// The kinds whose logic stays on the host, a bit for each of a workload's kinds.
    ///
    /// # Errors
    /// A sentence for a name that is none of these.
    pub fn on_host_of(&self, kinds: &[&str]) -> Result<u64, String> {
        self.on_host.iter().try_fold(0, |bits, name| {
            let place = kinds.iter().position(|kind| kind == name);
            place.map(|place| bits | 1 << place).ok_or_else(|| {
                format!(
                    "xenic.on_host = {name:?}: expected kinds of the workload: {}",
                    kinds.join(", ")
                )
            })
        })
    }

    /// Slots of each core: two for each worker, as one is still busy when its client was told.
    pub fn slots(&self, threads: u8, workers: u8) -> u16 {
        let workers = u32::from(threads) * u32::from(workers);
        (2 * workers.div_ceil(self.nic_cores.into())) as u16
    }
}

/// What a file and flags say of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct XenicDraft {
    pub nic_cores: Option<u64>,
    pub log_workers: Option<u64>,
    pub index_entries: Option<u64>,
    pub warm_index: Option<bool>,
    pub without: Option<Vec<String>>,
    pub on_host: Option<Vec<String>>,
}

impl XenicDraft {
    pub fn of(settings: &XenicSettings) -> Self {
        let XenicSettings { nic_cores, log_workers, index_entries, warm_index, .. } = *settings;
        let without = settings.without.iter().map(|switch| switch.name().into());
        Self {
            nic_cores: Some(nic_cores.into()),
            log_workers: Some(log_workers.into()),
            index_entries: Some(index_entries.into()),
            warm_index: Some(warm_index),
            without: Some(without.collect()),
            on_host: Some(settings.on_host.clone()),
        }
    }

    /// The fields that are given.
    pub fn names(&self) -> Vec<&'static str> {
        let given = [
            ("xenic.nic_cores", self.nic_cores.is_some()),
            ("xenic.log_workers", self.log_workers.is_some()),
            ("xenic.index_entries", self.index_entries.is_some()),
            ("xenic.warm_index", self.warm_index.is_some()),
            ("xenic.without", self.without.is_some()),
            ("xenic.on_host", self.on_host.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    /// Takes what `other` gives.
    pub fn replace_by(&mut self, other: Self) {
        self.nic_cores = other.nic_cores.or(self.nic_cores);
        self.log_workers = other.log_workers.or(self.log_workers);
        self.index_entries = other.index_entries.or(self.index_entries);
        self.warm_index = other.warm_index.or(self.warm_index);
        self.without = other.without.or(self.without.take());
        self.on_host = other.on_host.or(self.on_host.take());
    }
}

/// The settings of a draft; `None` with another protocol.
///
/// # Errors
/// For the first value that is not possible, or is given with another protocol.
pub(super) fn check(
    draft: &Draft,
    protocol: ProtocolName,
    workload: Workload,
    (nodes, threads, workers): (u64, u64, u64),
) -> Result<Option<XenicSettings>, SettingsError> {
    let given = draft.values.xenic.clone().unwrap_or_default();
    if protocol != ProtocolName::Xenic {
        return match given.names().first() {
            None => Ok(None),
            Some(field) => {
                let expected = format!("it with protocol xenic only, not with {}", protocol.name());
                Err(draft.reject(field, "(of Xenic)", expected))
            }
        };
    }
    let whole = |field: &str, value: Option<u64>, default: u64, least: u64, most: u64| {
        let value = value.unwrap_or(default);
        match (least..=most).contains(&value) {
            true => Ok(value),
            false => {
                let expected = format!("a whole number from {least} to {most}");
                Err(draft.reject(field, value, expected))
            }
        }
    };
    let nic_cores = whole("xenic.nic_cores", given.nic_cores, NIC_CORES, 1, 64)?;
    let log_workers = whole("xenic.log_workers", given.log_workers, LOG_WORKERS, 1, 64)?;
    let slots_of = |workers: u64| 2 * (threads * workers).div_ceil(nic_cores);
    let fits = |workers: &u64| {
        let slots = slots_of(*workers);
        slots <= MOST_SLOTS && nodes * nic_cores * slots <= MOST_OWNERS
    };
    if !fits(&workers) {
        let most = (1..workers).rev().find(fits);
        let expected = match most {
            Some(most) => format!("1 to {most}, as "),
            None => "fewer nodes, threads or NIC cores, as ".to_owned(),
        };
        let expected = format!(
            "{expected}each worker has two of the {MOST_OWNERS} slots of a cluster, and a core has at most {MOST_SLOTS}"
        );
        return Err(draft.reject("workers", workers, expected));
    }
    let index_entries = given
        .index_entries
        .map_or(Ok(INDEX_ENTRIES), |entries| index_entries(draft, entries, workload))?;
    let without = switches(draft, given.without.unwrap_or_default())?;
    let on_host = annotation(draft, given.on_host, workload)?;
    Ok(Some(XenicSettings {
        nic_cores: nic_cores as u8,
        log_workers: log_workers as u8,
        index_entries: index_entries as u32,
        warm_index: given.warm_index.unwrap_or(true),
        without,
        on_host,
    }))
}

/// The entries of an index. All rows of a transaction may lie in segments of their own, and none of them may be forgotten
/// before the host has applied what was written: with fewer entries it could never commit.
fn index_entries(draft: &Draft, entries: u64, workload: Workload) -> Result<u64, SettingsError> {
    let least = workload.most_rows();
    match (least..=MOST_ENTRIES).contains(&entries) {
        true => Ok(entries),
        false => {
            let expected = format!(
                "a whole number from {least} to {MOST_ENTRIES}, as a transaction of {} has up to {least} rows, each locked or \
                 pinned in an entry of its own",
                workload.name()
            );
            Err(draft.reject("xenic.index_entries", entries, expected))
        }
    }
}

/// The kinds whose logic stays on the host. A stock-level of TPC-C always is one.
fn annotation(
    draft: &Draft,
    given: Option<Vec<String>>,
    workload: Workload,
) -> Result<Vec<String>, SettingsError> {
    let on_host = given.unwrap_or_else(|| XenicSettings::for_workload(workload).on_host);
    let is_tpcc = matches!(workload, Workload::Tpcc { .. });
    if is_tpcc && !on_host.iter().any(|kind| kind == LARGEST) {
        let expected = format!(
            "{LARGEST} in the list: it reads up to 621 rows, and a message for another place than the host has room for 255 \
             keys"
        );
        return Err(draft.reject("xenic.on_host", on_host.join(","), expected));
    }
    Ok(on_host)
}

fn switches(draft: &Draft, names: Vec<String>) -> Result<Vec<Switch>, SettingsError> {
    let find = |name: &String| Switch::ALL.into_iter().find(|switch| switch.name() == name);
    let mut without = Vec::new();
    for name in &names {
        let Some(switch) = find(name) else {
            let all = Switch::ALL.map(Switch::name).join(", ");
            return Err(draft.reject("xenic.without", name, format!("names of {all}")));
        };
        if !without.contains(&switch) {
            without.push(switch);
        }
    }
    // What runs on another NIC is shipped, and its rows are locked by one request.
    let needs = [Switch::Combined, Switch::Ships].into_iter().find(|of| without.contains(of));
    match needs {
        Some(needed) if !without.contains(&Switch::MultiHop) => {
            let expected = format!(
                "multi-hop in the list, too: logic runs on other NICs only with {}",
                needed.name()
            );
            Err(draft.reject("xenic.without", names.join(","), expected))
        }
        _ => Ok(without),
    }
}
