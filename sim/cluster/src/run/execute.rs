// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making a run: the world of its settings, in slices of time so that it can be watched and ended.

use std::io::Write;

use cluster::engine::{Ending, Stage};
use cluster::transact::Transactions;
use cluster::workload::{
    AnyWorkload, ObjectStore, ObjectStoreSettings, Retwis, RetwisSettings, SmallBank,
    SmallBankSettings, Tatp, TatpSettings, Tpcc, TpccSettings,
};
use timing::Time;

use super::data_path::{InLoop, with_data_path};
use super::platform::Platform;
use super::report::{ChecksReport, CountReport, Report};
use super::tally::Tally;
use super::{RunError, Settings, SettingsError, Workload};
use crate::campaign::judge::check_end;
use crate::check::Judge;
use crate::faults::{ActivePlan, Fault, FaultKind, FaultPlan, Faults, HitsView};
use crate::protocols::{Cluster, Runs, Visitor};
use crate::trace::{MOST_BYTES, Timeline, Watcher};
use crate::world::{Options, World};

/// Who watches a run.
pub struct Watch<'a> {
    /// Whether it is to end early; asked between slices of it.
    pub is_interrupted: &'a dyn Fn() -> bool,
    /// Told how far it is.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1.
    pub done: f64,
    /// Of virtual time.
    pub simulated: Time,
    /// Transactions so far, the warm-up's left out.
    pub committed: u64,
}

/// What a run writes beside its report.
#[derive(Default)]
pub struct Extras<'a> {
    /// Gets what each transaction read and wrote.
    pub history: Option<&'a mut dyn Write>,
    /// Gets a timeline.
    pub trace: Option<&'a mut (dyn Write + Send)>,
    /// Hardware for the data path of a node's NIC.
    pub in_loop: Option<InLoop<'a>>,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The findings.
    pub report: Report,
    /// Transactions that were simulated, those of the warm-up and of the end included.
    pub simulated_transactions: u64,
    /// A sentence if the timeline was cut.
    pub trace_note: Option<String>,
}

/// What was committed in a slice of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its beginning.
    pub from: Time,
    /// Its end.
    pub until: Time,
    /// Transactions that committed in it.
    pub committed: u64,
    /// Bytes of messages that were sent in it to fill new replicas.
    pub copied: u64,
}

/// Slices of a run that somebody watches, and the longest of them, so that one that is interrupted ends soon.
const SLICES: u64 = 10;
const LONGEST_SLICE: Time = Time::from_us(1000);
/// Inputs that are drawn for the count by hand, but for short runs, which have few transactions themselves.
const COUNTED: u32 = 4000;
const SHORT: Time = Time::from_us(50);
/// How long a cluster may need to come to rest, without faults.
const REST: Time = Time::from_us(100_000);

/// Makes a run.
///
/// # Errors
/// When the settings do not go with the platform, a check fails, or an extra cannot be written.
pub fn run(
    settings: &Settings,
    extras: Extras<'_>,
    watch: &mut Watch<'_>,
) -> Result<Outcome, RunError> {
    let platform = settings.hardware()?;
    if extras.history.is_some() {
        // A history needs the record as much as the check does.
        Settings { checks: true, ..settings.clone() }.hardware()?;
    }
    if let Some(in_loop) = &extras.in_loop {
        settings.check_in_loop(in_loop)?;
    }
    let faults = settings.fault_plan()?;
    let slice = (settings.duration().as_ps() / SLICES).clamp(1, LONGEST_SLICE.as_ps());
    let slice = Time::from_ps(slice);
    let job = Job { settings, platform: &platform, faults, slice, extras, watch };
    Ok(settings.protocol.with(job)?.0)
}

/// Makes a run on this platform, unwatched.
///
/// # Errors
/// As [`run`].
pub fn measure_on(settings: &Settings, platform: impl Into<Platform>) -> Result<Report, RunError> {
    unwatched(settings, &platform.into(), None)
}

/// The same with hardware for the data path of a node's NIC.
///
/// # Errors
/// As [`run`].
pub fn measure_in_loop(
    settings: &Settings,
    platform: impl Into<Platform>,
    in_loop: InLoop<'_>,
) -> Result<Report, RunError> {
    settings.check_in_loop(&in_loop)?;
    unwatched(settings, &platform.into(), Some(in_loop))
}

fn unwatched(
    settings: &Settings,
    platform: &Platform,
    in_loop: Option<InLoop<'_>>,
) -> Result<Report, RunError> {
    settings.check_on(platform)?;
    let watch = &mut Watch { is_interrupted: &|| false, progress: &mut |_| () };
    let (faults, slice) = (settings.fault_plan()?, settings.duration());
    let extras = Extras { in_loop, ..Extras::default() };
    let job = Job { settings, platform, faults, slice, extras, watch };
    Ok(settings.protocol.with(job)?.0.report)
}

/// Makes a run on this platform in slices of this length, in which a node is killed.
///
/// # Errors
/// As [`run`].
pub fn slices_on(
    settings: &Settings,
    platform: impl Into<Platform>,
    kill: Option<(u16, Time)>,
    slice: Time,
) -> Result<Vec<Slice>, RunError> {
    let platform = &platform.into();
    settings.check_on(platform)?;
    if slice == Time::ZERO {
        return Err(SettingsError::flag("slice", slice, "a length of time above 0").into());
    }
    let watch = &mut Watch { is_interrupted: &|| false, progress: &mut |_| () };
    let mut faults = settings.fault_plan()?.unwrap_or_default();
    faults.faults.extend(kill.map(|(node, at)| Fault::Crash {
        node,
        at_ns: Some(at.as_ps() / 1000),
        at_frame: None,
    }));
    faults.check(settings.nodes).map_err(RunError::of_settings)?;
    faults.check_within(settings.end_ns()).map_err(RunError::of_settings)?;
    let (faults, extras) = (Some(faults), Extras::default());
    Ok(settings.protocol.with(Job { settings, platform, faults, slice, extras, watch })?.1)
}

/// All that a run is made of.
struct Job<'a, 'w, 'e> {
    settings: &'a Settings,
    platform: &'a Platform,
    faults: Option<FaultPlan>,
    /// After how long the run is looked at.
    slice: Time,
    extras: Extras<'e>,
    watch: &'a mut Watch<'w>,
}

type Made = (Outcome, Vec<Slice>);

impl Visitor for Job<'_, '_, '_> {
    type Output = Result<Made, RunError>;

    fn visit<P: Runs>(self) -> Result<Made, RunError> {
        let transactions = transactions(self.settings)?;
        self.run::<P>(transactions)
    }
}

/// The workload of these settings.
fn transactions(of: &Settings) -> Result<AnyWorkload, RunError> {
    let parts = u64::from(of.nodes) * u64::from(of.threads);
    let small_bank = |form: SmallBankSettings, accounts: u64, hot_percent: f64| {
        let hot_accounts = (accounts as f64 * hot_percent / 100.0) as u64;
        SmallBank::new(SmallBankSettings { accounts, hot_accounts, seed: of.seed, ..form })
    };
    Ok(match of.workload {
        Workload::ObjectStore { reads, writes, keys_per_thread, value_bytes } => {
            let settings = ObjectStoreSettings {
                reads,
                writes,
                objects: keys_per_thread * parts,
                value_bytes,
                partitions: of.nodes,
                apart: true,
                seed: of.seed,
            };
            ObjectStore::new(settings).map_err(RunError::of_settings)?.into()
        }
        Workload::Tatp { subscribers_per_node } => {
            let subscribers = subscribers_per_node * u64::from(of.nodes);
            let tatp = Tatp::new(TatpSettings { subscribers, seed: of.seed });
            tatp.map_err(RunError::of_settings)?.into()
        }
        Workload::SmallBank { accounts_per_thread, hot_percent, access } => {
            let form = SmallBankSettings::fasst(of.nodes, of.threads.into(), access);
            let bank = small_bank(form, accounts_per_thread * parts, hot_percent);
            bank.map_err(RunError::of_settings)?.into()
        }
        Workload::SmallBankXenic { accounts_per_node, hot_percent, access } => {
            let form = SmallBankSettings::xenic(of.nodes, access);
            let bank = small_bank(form, accounts_per_node * u64::from(of.nodes), hot_percent);
            bank.map_err(RunError::of_settings)?.into()
        }
        Workload::Retwis { keys_per_node, exponent } => {
            let keys = keys_per_node * u64::from(of.nodes);
            let retwis = Retwis::new(RetwisSettings { keys, exponent, seed: of.seed });
            retwis.map_err(RunError::of_settings)?.into()
        }
        Workload::TpccNewOrder { warehouses_per_node } => {
            let settings = tpcc(of, warehouses_per_node);
            Tpcc::new_orders(settings).map_err(RunError::of_settings)?.into()
        }
        Workload::Tpcc { warehouses_per_node } => {
            let settings = tpcc(of, warehouses_per_node);
            Tpcc::standard(settings).map_err(RunError::of_settings)?.into()
        }
    })
}

impl Job<'_, '_, '_> {
    fn run<P: Runs>(mut self, transactions: AnyWorkload) -> Result<Made, RunError> {
        let settings = self.settings;
        let kinds = transactions.kinds().to_vec();
        let has_faults = self.faults.is_some();
        let cluster = P::cluster_on(settings, self.platform, has_faults, transactions)?;
        let is_short = settings.duration() < SHORT;
        let by_hand = P::by_hand(settings, &cluster, if is_short { COUNTED / 8 } else { COUNTED });
        let longest_delay = self.faults.as_ref().map_or(0, FaultPlan::longest_delay_ns);
        // The cluster comes to rest without them.
        let well = settings.warm_up() + settings.duration();
        let plan = self.faults.take().map(|plan| ActivePlan::new(&plan, well));
        let hits = plan.as_ref().map(ActivePlan::view);
        let faults = plan.map(|plan| Box::new(plan) as Box<dyn Faults>);
        let watcher = Watcher::new(self.extras.trace.take().map(|out| {
            let mut timeline = Timeline::new(out, MOST_BYTES, kinds.clone());
            timeline
                .name_nodes(settings.nodes, (P::host_threads(settings), P::nic_cores(settings)));
            timeline
        }));
        let machines = P::hardware(settings, self.platform);
        let machines = machines.expect("the platform was checked for the protocol");
        let mut options = options(settings, has_faults, self.extras.history.is_some());
        options.host_threads = P::host_threads(settings);
        options.threads_with_workers = P::threads_with_workers(settings);
        options.quiet = options.quiet.max(P::QUIET);
        options.burst = P::burst(self.platform).unwrap_or(options.burst);
        let mut world = World::watched(cluster, machines, faults, options, watcher)
            .map_err(RunError::of_settings)?;
        if let Some(memory_of) = P::Cluster::<AnyWorkload>::memory() {
            world = world.with_memory(memory_of);
        }
        if let Some(mut in_loop) = self.extras.in_loop.take() {
            world = with_data_path(world, settings, &mut in_loop)?;
        }
        let (tally, slices) = self.slices(&mut world);
        is_sound(&world)?;
        let is_cut_off = (self.watch.is_interrupted)();
        // What was cut off is not at rest, and cannot be judged as a whole.
        let longest_delay = Time::from_ns(longest_delay);
        let checks = match (is_cut_off, settings.checks) {
            (true, _) => Ok(None),
            (false, true) => {
                checked(&mut world, settings, longest_delay, self.watch.is_interrupted)
            }
            (false, false) => Ok(Some(ChecksReport::default())),
        };
        is_sound(&world)?;
        // Also of a run that does not pass: then it is needed most.
        if let Some(target) = self.extras.history.take() {
            write_history(&world, settings, target)?;
        }
        let checks = checks?;
        let is_interrupted = checks.is_none();
        let checks = checks.unwrap_or_default();
        let digest = world.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut report = tally.report(settings, &kinds, &by_hand, (checks, digest));
        report.is_interrupted = is_interrupted;
        report.faults = hits.map_or_else(Vec::new, |hits| faults_of(&hits));
        if !is_interrupted && let Some(path) = world.data_path_mut() {
            report.data_path = Some(path.report().map_err(RunError::DataPath)?);
        }
        let simulated_transactions = finished(&world);
        let timeline = world.trace_mut().take();
        let trace_note = match timeline.map(Timeline::finish) {
            Some(finished) => finished.map_err(RunError::Trace)?,
            None => None,
        };
        Ok((Outcome { report, simulated_transactions, trace_note }, slices))
    }

    /// Warms up, and measures slice by slice.
    fn slices<C: Cluster>(&mut self, world: &mut Worldly<'_, C>) -> (Tally, Vec<Slice>) {
        let (warm_up, duration) = (self.settings.warm_up(), self.settings.duration());
        let mut tally = Tally::default();
        let mut slices = Vec::new();
        let mut before = warm_up;
        let mut left = duration;
        let all = (warm_up + duration).as_ns_f64();
        while before > self.slice && !(self.watch.is_interrupted)() {
            world.run_for(self.slice, Time::ZERO);
            before = before.saturating_sub(self.slice);
            let simulated = warm_up.saturating_sub(before);
            let done = simulated.as_ns_f64() / all;
            (self.watch.progress)(Progress { done, simulated, committed: 0 });
        }
        if before > Time::ZERO && !(self.watch.is_interrupted)() {
            world.run_for(before, Time::ZERO);
        }
        let mut looked = looks(world);
        while left > Time::ZERO && !(self.watch.is_interrupted)() {
            let length = left.min(self.slice);
            world.run_for(Time::ZERO, length);
            let ledger = world.ledger();
            slices.push(Slice {
                from: ledger.since,
                until: ledger.since + length,
                committed: ledger.ended(Ending::Committed),
                copied: ledger.messages[Stage::Copy as usize].sent_bytes,
            });
            tally.add(ledger);
            let [rows, cached] = looks(world);
            // A node that was started anew counts from 0 again.
            let since = |now: u64, then: u64| now.saturating_sub(then);
            tally.add_looks(since(rows, looked[0]), since(cached, looked[1]));
            looked = [rows, cached];
            left = left.saturating_sub(length);
            let simulated = warm_up + duration.saturating_sub(left);
            let done = simulated.as_ns_f64() / all;
            let committed = tally.committed();
            (self.watch.progress)(Progress { done, simulated, committed });
        }
        (tally, slices)
    }
}

/// Rows that the NICs of all nodes were asked for, and those of them that were cached.
fn looks<C: Cluster>(world: &Worldly<'_, C>) -> [u64; 2] {
    let all = world.up().into_iter().map(|(_, node)| C::looks(&node.shared));
    all.fold([0; 2], |sum, of| [sum[0] + of[0], sum[1] + of[1]])
}

fn tpcc(of: &Settings, warehouses_per_node: u32) -> TpccSettings {
    let form = TpccSettings::xenic(of.nodes, of.threads, of.workers);
    TpccSettings { warehouses_per_node, seed: of.seed, ..form }
}

/// The world of a run.
type Worldly<'w, C> = World<C, Watcher<&'w mut (dyn Write + Send)>>;

/// Whether the hardware in the loop, if there is some, has done as the machines.
fn is_sound<C: Cluster>(world: &Worldly<'_, C>) -> Result<(), RunError> {
    match world.failure() {
        None => Ok(()),
        Some(failure) => Err(RunError::DataPath(failure.into())),
    }
}

fn options(of: &Settings, has_faults: bool, writes_history: bool) -> Options {
    // Without faults nobody has to find out that a node has failed.
    let quiet = if has_faults { 3.0 * of.lease_us } else { 0.0 };
    Options {
        workers: of.workers,
        record: of.checks || writes_history,
        quiet: super::settings::microseconds(quiet),
        ..Options::default()
    }
}

/// Lets the cluster come to rest, and checks all that is to be. `None` when it was interrupted before.
fn checked<C: Cluster>(
    world: &mut Worldly<'_, C>,
    of: &Settings,
    longest_delay: Time,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Option<ChecksReport>, RunError> {
    let waits = super::settings::microseconds(20.0 * of.lease_us + 2.0 * of.loss_timeout_us);
    if !world.run_until_rest_unless(REST + waits + longest_delay, is_interrupted)? {
        return Ok(None);
    }
    world.check_at_rest().map_err(RunError::AtRest)?;
    let cluster = world.protocol().clone();
    let judge = Judge::new(cluster.workload(), cluster.layout());
    let replayed = judge.check(world.recorder());
    let mut replayed = replayed.map_err(|violation| RunError::Check(violation.to_string()))?;
    check_end(&cluster, world, &mut replayed).map_err(RunError::AtRest)?;
    let (transactions, accesses) = (replayed.transactions(), replayed.accesses());
    Ok(Some(ChecksReport { are_on: true, transactions, accesses, at_rest: true }))
}

/// Writes what each transaction read and wrote, whether that passes the check or not.
fn write_history<C: Cluster>(
    world: &Worldly<'_, C>,
    of: &Settings,
    target: &mut dyn Write,
) -> Result<(), RunError> {
    let cluster = world.protocol();
    let judge = Judge::new(cluster.workload(), cluster.layout());
    let history = judge.history(world.recorder(), of.seed, &of.name);
    let history = history.map_err(|error| RunError::History(std::io::Error::other(error)))?;
    history.write(target).map_err(RunError::History)
}

/// Transactions of the whole run that ended, as far as they were recorded.
fn finished<C: Cluster>(world: &Worldly<'_, C>) -> u64 {
    let ended = |ending: Option<Ending>| ending.is_some_and(|ending| !ending.is_abort());
    let recorded = world.recorder().attempts().iter().filter(|of| ended(of.ending())).count();
    (recorded as u64).max(world.ledger().transactions())
}

fn faults_of(hits: &HitsView) -> Vec<CountReport> {
    let hits = hits.get();
    let kinds = FaultKind::ALL.into_iter().flat_map(|kind| {
        Stage::ALL.map(|stage| {
            let name = format!("{}, {}", kind.name(), stage.name());
            CountReport { name, count: hits.of(kind, stage) }
        })
    });
    kinds.filter(|of| of.count > 0).collect()
}
