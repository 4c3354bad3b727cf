// SPDX-License-Identifier: MIT OR Apache-2.0
//! DrTM+H and its other forms in runs. They have no recovery, so faults are refused.

use cluster::drtm_h::{self, Form, Means};
use cluster::engine::{Key, Stage, Work};
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::transact::{Change, Decision, Row, Transactions};
use cluster::workload::Totals;
use timing::Time;

use super::fasst::{bytes_of_workers, posted};
use super::{Cluster, Runs};
use crate::nic::Connections;
use crate::run::by_hand::{self, ByHand, Count, Places, Sum};
use crate::run::{Cards, Platform, RunError, Settings};
use crate::world::{Hardware, MemoryOf, Registered};

/// DrTM+H: one-sided verbs for reads, validation and logs, RPCs for locks and commits.
#[derive(Clone, Copy, Debug)]
pub struct DrtmH;

/// DrTM+H without its cache of addresses.
#[derive(Clone, Copy, Debug)]
pub struct DrtmHNc;

/// DrTM+R as Xenic emulates it: all by one-sided verbs.
#[derive(Clone, Copy, Debug)]
pub struct DrtmR;

impl<T: Transactions> Registered for drtm_h::Shared<T> {
    fn read(&mut self, at: u64, length: u32, to: &mut Vec<u8>) -> bool {
        self.read_host(at, length, to)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> bool {
        self.write_host(at, bytes)
    }
}

impl<T: Totals> Cluster for drtm_h::DrtmH<T> {
    type Workload = T;

    fn workload(&self) -> &T {
        self.workload()
    }

    fn layout(&self) -> &Partitioning {
        self.layout()
    }

    /// It has none.
    fn manager_of(_: &Self::Machine) -> Option<&Manager> {
        None
    }

    fn memory() -> Option<MemoryOf<drtm_h::Shared<T>>> {
        Some(|shared| shared)
    }
}

/// A form of the machine that is run as a protocol of its own.
trait Rival {
    /// As settings write it.
    const NAME: &'static str;
    const FORM: Form;
}

impl Rival for DrtmH {
    const NAME: &'static str = "drtm-h";
    const FORM: Form = Form::DRTM_H;
}

impl Rival for DrtmHNc {
    const NAME: &'static str = "drtm-h-nc";
    const FORM: Form = Form::NC;
}

impl Rival for DrtmR {
    const NAME: &'static str = "drtm-r";
    const FORM: Form = Form::DRTM_R;
}

impl<R: Rival> Runs for R {
    type Cluster<T: Totals> = drtm_h::DrtmH<T>;

    const CARDS: Cards = Cards::Rdma;
    const PLATFORM: &'static str = "xenic-cx5";

    fn check(of: &Settings) -> Result<(), RunError> {
        without_faults::<R>(of.faults.is_some())
    }

    fn cluster<T: Totals>(
        of: &Settings,
        has_faults: bool,
        transactions: T,
    ) -> Result<drtm_h::DrtmH<T>, RunError> {
        // A caller may have added some to those of the settings.
        without_faults::<R>(has_faults)?;
        drtm_h::DrtmH::new(settings_of::<R>(of), transactions).map_err(RunError::of_settings)
    }

    fn cluster_on<T: Totals>(
        of: &Settings,
        platform: &Platform,
        has_faults: bool,
        transactions: T,
    ) -> Result<drtm_h::DrtmH<T>, RunError> {
        without_faults::<R>(has_faults)?;
        let settings = settings_of::<R>(of);
        let settings = drtm_h::Settings { mtu: super::mtu_of(platform, settings.mtu), ..settings };
        drtm_h::DrtmH::new(settings, transactions).map_err(RunError::of_settings)
    }

    /// Each thread has a queue pair of its own to each node, and receive queues as FaSST's.
    fn hardware(of: &Settings, platform: &Platform) -> Option<Hardware> {
        let platform = platform.rdma()?;
        let posted = posted(of.nodes, of.threads, of.workers);
        let hardware = Hardware::of_platform(platform, Connections::OWN, posted);
        Some(hardware.with_threads(platform, of.threads))
    }

    fn by_hand<T: Totals>(of: &Settings, cluster: &drtm_h::DrtmH<T>, inputs: u32) -> ByHand {
        let places = super::places(of, cluster.layout());
        by_hand::mean(cluster.workload(), &places, inputs, |count, transactions, input, sum| {
            transaction(count, cluster, transactions, input, sum);
        })
    }

    fn machine_bytes(of: &Settings) -> u64 {
        bytes_of_workers(of)
    }

    /// It begins, looks at so many rows, each of which is read by a verb but for one of `nodes` times, and ends.
    fn least_time(of: &Settings, platform: &Platform, looks: u64) -> Option<Time> {
        let costs = platform.rdma()?.work_costs();
        let nodes = u64::from(of.nodes);
        let of = |work: Work| costs[work as usize].as_ps();
        let local = of(Work::Look) + of(Work::Header);
        let remote = of(Work::Post).min(of(Work::Send));
        let read = looks * local.min((remote * (nodes - 1) + local) / nodes);
        Some(Time::from_ps(of(Work::Begin) + looks * of(Work::Logic) + read))
    }
}

fn settings_of<R: Rival>(of: &Settings) -> drtm_h::Settings {
    drtm_h::Settings {
        form: R::FORM,
        nodes: of.nodes,
        threads: of.threads,
        workers: of.workers,
        backups: (of.replicas - 1) as u8,
        ..drtm_h::Settings::default()
    }
}

fn without_faults<R: Rival>(has_faults: bool) -> Result<(), RunError> {
    let why = || format!("protocol {} has no recovery here: faults are refused", R::NAME);
    if has_faults { Err(RunError::Impossible(why())) } else { Ok(()) }
}

/// Verbs and messages of a transaction by the phases of Xenic's section 2.2.1, on rows that are at other nodes.
fn transaction<T: Totals, F: Fn(Key) -> u16>(
    count: &mut Count<'_, F>,
    cluster: &drtm_h::DrtmH<T>,
    transactions: &T,
    input: &T::Input,
    sum: &mut Sum,
) {
    let form = cluster.settings().form;
    let decision = count.rounds(transactions, input, |count, wanted| {
        for (place, (key, _)) in wanted.iter().enumerate() {
            // A key that is wanted twice is read once.
            if wanted[..place].iter().any(|(other, _)| other == key) {
                continue;
            }
            let is_there = count.rows().as_fetched(*key).is_some();
            if (count.places().primary)(*key) != count.coordinator() {
                count.add_verbs(Stage::Execute, cluster.reads_of(*key, is_there).into());
            }
        }
    });
    let rows = count.rows().all().to_vec();
    let places = count.places();
    let primary = |row: &Row| (places.primary)(row.key);
    let own = count.coordinator();
    let writes = decision == Some(Decision::Commit);
    let changes = |row: &&Row| writes && row.change().is_some();
    let others = |rows: usize| rows as u64;
    let is_write = rows.iter().any(|row| changes(&row));
    let read = rows.iter().filter(|row| !changes(row) && primary(row) != own).count();
    // A lone key that is read needs no validation.
    if is_write || rows.len() > 1 {
        count.add_verbs(Stage::Validate, others(read));
    }
    let changed: Vec<&Row> = rows.iter().filter(changes).collect();
    let nodes: Vec<u16> = changed.iter().map(|row| primary(row)).collect();
    // A CAS and a READ of the version; a WRITE of the value and one of the lock.
    for (means, stage) in [(form.lock, Stage::Execute), (form.commit, Stage::Primary)] {
        let is_by_verbs =
            |row: &&&Row| means == Means::Verbs && row.change() == Some(Change::Update);
        let remote = || changed.iter().filter(|row| primary(row) != own);
        let by_verbs = remote().filter(is_by_verbs).count();
        count.add_verbs(stage, 2 * others(by_verbs));
        let asked: Vec<u16> =
            remote().filter(|row| !is_by_verbs(row)).map(|row| primary(row)).collect();
        sum[stage as usize] += 2 * count.machines(asked);
    }
    let Places { nodes: all, backups, .. } = *places;
    let after = |node: u16| (1..=backups).map(move |step| (node + step) % all);
    let holders = count.machines(nodes.into_iter().flat_map(after));
    count.add_verbs(Stage::Log, holders);
}
