// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings as they are written, in a file or as flags, before their values are checked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use workloads::scenario::{SmallBankAccess, Source};

use super::settings::{Settings, SettingsError};
use super::workload::Workload;
use super::xenic::XenicDraft;

/// What a scenario file says, and what flags say instead. Everything may be left out.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub(super) values: Values,
    /// The fields whose value is that of a flag.
    flags: BTreeSet<&'static str>,
    /// The scenario file, if there is one.
    source: Option<Source>,
}

/// Declares what a file and flags can both say, once: the keys of [`Values`], the fields of [`Flags`], and how
/// these replace those.
macro_rules! both_say {
    ($($(#[doc = $flag:literal])* $field:ident: $type:ty,)*) => {
        /// The keys of a scenario file.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Values {
            pub name: Option<String>,
            pub description: Option<String>,
            $(pub $field: Option<$type>,)*
            pub loss_timeout_us: Option<f64>,
            pub lease_us: Option<f64>,
            pub copies_initial_rows: Option<bool>,
            pub workload: Option<WorkloadDraft>,
            pub xenic: Option<XenicDraft>,
        }

        /// What flags say. Each that is there replaces the value of the file.
        #[derive(Clone, Debug, Default)]
        pub struct Flags {
            $($(#[doc = $flag])* pub $field: Option<$type>,)*
            /// `--workload`: a name, which begins with the workload's own default parameters.
            pub workload: Option<String>,
            /// `--reads`, of the object store.
            pub reads: Option<u64>,
            /// `--writes`, of the object store.
            pub writes: Option<u64>,
            /// `--keys`: rows a thread of the object store, accounts a thread; subscribers, accounts, keys or
            /// warehouses a node.
            pub keys: Option<u64>,
            /// `--access`, of SmallBank.
            pub access: Option<SmallBankAccess>,
            /// `--nic-cores`, of Xenic.
            pub nic_cores: Option<u64>,
            /// `--log-workers`, of Xenic.
            pub log_workers: Option<u64>,
            /// `--index-entries`, of Xenic.
            pub index_entries: Option<u64>,
            /// `--without`, of Xenic: the names of switches that are off.
            pub without: Option<Vec<String>>,
            /// `--on-host`, of Xenic: the names of kinds whose logic stays on the host.
            pub on_host: Option<Vec<String>>,
        }

        impl Draft {
            /// Takes those that stand for themselves; the workload's belong together.
            fn take_values(&mut self, flags: &Flags) {
                $(if let Some(value) = flags.$field.clone() {
                    self.values.$field = Some(value);
                    self.flags.insert(stringify!($field));
                })*
            }
        }
    };
}

both_say! {
    /// `--protocol`.
    protocol: String,
    /// `--platform`: a name or a file.
    platform: String,
    /// `--nodes`.
    nodes: u64,
    /// `--threads`.
    threads: u64,
    /// `--workers`.
    workers: u64,
    /// `--replicas`.
    replicas: u64,
    /// `--warm-up-us`.
    warm_up_us: f64,
    /// `--duration-us`.
    duration_us: f64,
    /// `--seed`.
    seed: u64,
    /// `--checks`.
    checks: bool,
    /// `--faults`.
    faults: PathBuf,
}

/// A workload with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WorkloadDraft {
    ObjectStore(ObjectStoreDraft),
    Tatp(TatpDraft),
    #[serde(rename = "smallbank")]
    SmallBank(SmallBankDraft),
    #[serde(rename = "smallbank-xenic")]
    SmallBankXenic(SmallBankXenicDraft),
    Retwis(RetwisDraft),
    TpccNewOrder(TpccDraft),
    Tpcc(TpccDraft),
}

/// The names of workloads.
pub(super) const WORKLOADS: [&str; 7] =
    ["object-store", "tatp", "smallbank", "smallbank-xenic", "retwis", "tpcc-new-order", "tpcc"];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectStoreDraft {
    pub reads: Option<u64>,
    pub writes: Option<u64>,
    pub keys_per_thread: Option<u64>,
    pub value_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TatpDraft {
    pub subscribers_per_node: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SmallBankDraft {
    pub accounts_per_thread: Option<u64>,
    pub hot_percent: Option<f64>,
    pub access: Option<SmallBankAccess>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SmallBankXenicDraft {
    pub accounts_per_node: Option<u64>,
    pub hot_percent: Option<f64>,
    pub access: Option<SmallBankAccess>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetwisDraft {
    pub keys_per_node: Option<u64>,
    pub exponent: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TpccDraft {
    pub warehouses_per_node: Option<u64>,
}

impl Draft {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// When it cannot be read, or is not of the form of a scenario.
    pub fn load(file: &Path) -> Result<Self, SettingsError> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|cause| workloads::Error::Read { file: name.clone(), source: cause })?;
        let mut draft = Self::parse(&name, &text)?;
        if let (Some(faults), Some(folder)) = (&mut draft.values.faults, file.parent()) {
            *faults = folder.join(&*faults);
        }
        Ok(draft)
    }

    /// What settings say, to be checked once more.
    pub(super) fn of(settings: &Settings) -> Self {
        let workload = match settings.workload {
            Workload::ObjectStore { reads, writes, keys_per_thread, value_bytes } => {
                WorkloadDraft::ObjectStore(ObjectStoreDraft {
                    reads: Some(reads.into()),
                    writes: Some(writes.into()),
                    keys_per_thread: Some(keys_per_thread),
                    value_bytes: Some(value_bytes.into()),
                })
            }
            Workload::Tatp { subscribers_per_node } => {
                WorkloadDraft::Tatp(TatpDraft { subscribers_per_node: Some(subscribers_per_node) })
            }
            Workload::SmallBank { accounts_per_thread, hot_percent, access } => {
                WorkloadDraft::SmallBank(SmallBankDraft {
                    accounts_per_thread: Some(accounts_per_thread),
                    hot_percent: Some(hot_percent),
                    access: Some(access),
                })
            }
            Workload::SmallBankXenic { accounts_per_node, hot_percent, access } => {
                WorkloadDraft::SmallBankXenic(SmallBankXenicDraft {
                    accounts_per_node: Some(accounts_per_node),
                    hot_percent: Some(hot_percent),
                    access: Some(access),
                })
            }
            Workload::Retwis { keys_per_node, exponent } => WorkloadDraft::Retwis(RetwisDraft {
                keys_per_node: Some(keys_per_node),
                exponent: Some(exponent),
            }),
            Workload::TpccNewOrder { warehouses_per_node } => {
                WorkloadDraft::TpccNewOrder(TpccDraft {
                    warehouses_per_node: Some(warehouses_per_node.into()),
                })
            }
            Workload::Tpcc { warehouses_per_node } => WorkloadDraft::Tpcc(TpccDraft {
                warehouses_per_node: Some(warehouses_per_node.into()),
            }),
        };
        let values = Values {
            protocol: Some(settings.protocol.name().into()),
            nodes: Some(settings.nodes.into()),
            threads: Some(settings.threads.into()),
            workers: Some(settings.workers.into()),
            replicas: Some(settings.replicas.into()),
            warm_up_us: Some(settings.warm_up_us),
            duration_us: Some(settings.duration_us),
            loss_timeout_us: Some(settings.loss_timeout_us),
            lease_us: Some(settings.lease_us),
            workload: Some(workload),
            xenic: settings.xenic.as_ref().map(XenicDraft::of),
            ..Values::default()
        };
        Self { values, ..Self::default() }
    }

    /// `text` as what stands in `file`, which is named in errors only.
    ///
    /// # Errors
    /// When it is not of the form of a scenario.
    pub fn parse(file: &str, text: &str) -> Result<Self, SettingsError> {
        let source = Source::new(file, text);
        let values = toml::from_str(source.text()).map_err(|error| source.explain(&error))?;
        Ok(Self { values, flags: BTreeSet::new(), source: Some(source) })
    }

    /// The same with the values of flags.
    ///
    /// # Errors
    /// When a flag belongs to another workload, or names one that there is not.
    pub fn with_flags(mut self, flags: Flags) -> Result<Self, SettingsError> {
        self.take_values(&flags);
        self.take_workload(&flags)?;
        self.take_xenic(flags);
        Ok(self)
    }

    fn take_xenic(&mut self, flags: Flags) {
        let Flags { nic_cores, log_workers, index_entries, without, on_host, .. } = flags;
        let warm_index = None;
        let given =
            XenicDraft { nic_cores, log_workers, index_entries, warm_index, without, on_host };
        let names = given.names();
        if !names.is_empty() {
            self.values.xenic.get_or_insert_default().replace_by(given);
            self.flags.extend(names);
        }
    }

    fn take_workload(&mut self, flags: &Flags) -> Result<(), SettingsError> {
        if let Some(name) = &flags.workload {
            self.flags.insert("workload");
            let same = self.values.workload.as_ref().is_some_and(|of| of.name() == name);
            if !same {
                let expected = || format!("one of {}", WORKLOADS.join(", "));
                let new = WorkloadDraft::named(name);
                self.values.workload =
                    Some(new.ok_or_else(|| SettingsError::flag("--workload", name, expected()))?);
            }
        }
        let workload = self.values.workload.get_or_insert_with(WorkloadDraft::default);
        let name = workload.name();
        let foreign = |flag: &'static str, value: String| {
            SettingsError::flag(flag, value, format!("no such flag with the workload {name}"))
        };
        if let Some(keys) = flags.keys {
            *workload.keys() = Some(keys);
            self.flags.insert(workload.keys_field());
        }
        match (&mut *workload, flags.reads, flags.writes) {
            (WorkloadDraft::ObjectStore(of), reads, writes) => {
                if reads.is_some() {
                    of.reads = reads;
                    self.flags.insert("workload.object-store.reads");
                }
                if writes.is_some() {
                    of.writes = writes;
                    self.flags.insert("workload.object-store.writes");
                }
            }
            (_, Some(reads), _) => return Err(foreign("--reads", reads.to_string())),
            (_, _, Some(writes)) => return Err(foreign("--writes", writes.to_string())),
            _ => {}
        }
        match (&mut *workload, flags.access) {
            (WorkloadDraft::SmallBank(of), Some(access)) => of.access = Some(access),
            (WorkloadDraft::SmallBankXenic(of), Some(access)) => of.access = Some(access),
            (_, Some(SmallBankAccess::Hot90)) => return Err(foreign("--access", "hot90".into())),
            (_, Some(SmallBankAccess::Hot10)) => return Err(foreign("--access", "hot10".into())),
            _ => {}
        }
        Ok(())
    }

    /// The error for the value of `field`, wherever that was given; `value` is the one that counts,
    /// which may be the field's default.
    pub(super) fn reject(
        &self,
        field: &str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> SettingsError {
        let is_given = self.source.as_ref().is_some_and(|source| {
            let table: Option<toml::Table> = toml::from_str(source.text()).ok();
            let mut place = table.as_ref();
            let (tables, last) = field.rsplit_once('.').unwrap_or(("", field));
            for step in tables.split('.').filter(|step| !step.is_empty()) {
                place = place.and_then(|table| table.get(step)?.as_table());
            }
            place.is_some_and(|table| table.contains_key(last))
        });
        match &self.source {
            Some(source) if is_given && !self.flags.contains(field) => {
                source.reject(field, expected).into()
            }
            _ => SettingsError::flag(flag_of(field), value, expected),
        }
    }
}

/// The flag that gives a field.
fn flag_of(field: &str) -> String {
    let last = field.rsplit('.').next().unwrap_or(field);
    let name = match last {
        "keys_per_thread" | "accounts_per_thread" | "subscribers_per_node" => "keys",
        "accounts_per_node" | "keys_per_node" | "warehouses_per_node" => "keys",
        other => other,
    };
    format!("--{}", name.replace('_', "-"))
}

impl Default for WorkloadDraft {
    fn default() -> Self {
        Self::Tatp(TatpDraft::default())
    }
}

impl WorkloadDraft {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "object-store" => Self::ObjectStore(ObjectStoreDraft::default()),
            "tatp" => Self::Tatp(TatpDraft::default()),
            "smallbank" => Self::SmallBank(SmallBankDraft::default()),
            "smallbank-xenic" => Self::SmallBankXenic(SmallBankXenicDraft::default()),
            "retwis" => Self::Retwis(RetwisDraft::default()),
            "tpcc-new-order" => Self::TpccNewOrder(TpccDraft::default()),
            "tpcc" => Self::Tpcc(TpccDraft::default()),
            _ => return None,
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::ObjectStore(_) => WORKLOADS[0],
            Self::Tatp(_) => WORKLOADS[1],
            Self::SmallBank(_) => WORKLOADS[2],
            Self::SmallBankXenic(_) => WORKLOADS[3],
            Self::Retwis(_) => WORKLOADS[4],
            Self::TpccNewOrder(_) => WORKLOADS[5],
            Self::Tpcc(_) => WORKLOADS[6],
        }
    }

    fn keys(&mut self) -> &mut Option<u64> {
        match self {
            Self::ObjectStore(of) => &mut of.keys_per_thread,
            Self::Tatp(of) => &mut of.subscribers_per_node,
            Self::SmallBank(of) => &mut of.accounts_per_thread,
            Self::SmallBankXenic(of) => &mut of.accounts_per_node,
            Self::Retwis(of) => &mut of.keys_per_node,
            Self::TpccNewOrder(of) | Self::Tpcc(of) => &mut of.warehouses_per_node,
        }
    }

    fn keys_field(&self) -> &'static str {
        match self {
            Self::ObjectStore(_) => "workload.object-store.keys_per_thread",
            Self::Tatp(_) => "workload.tatp.subscribers_per_node",
            Self::SmallBank(_) => "workload.smallbank.accounts_per_thread",
            Self::SmallBankXenic(_) => "workload.smallbank-xenic.accounts_per_node",
            Self::Retwis(_) => "workload.retwis.keys_per_node",
            Self::TpccNewOrder(_) => "workload.tpcc-new-order.warehouses_per_node",
            Self::Tpcc(_) => "workload.tpcc.warehouses_per_node",
        }
    }
}
