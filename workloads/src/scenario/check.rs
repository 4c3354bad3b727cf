// SPDX-License-Identifier: MIT OR Apache-2.0
//! The valid values of a scenario.

use std::time::Duration;

use locks::Policy;

use super::file::{self, AgentsFile, DistributionName, File, PolicyName, WorkloadFile};
use super::source::Source;
use super::{
    AgentSettings, DeviceSettings, Distribution, HostSettings, HotRowSettings, LockOrder,
    LockTableSettings, Scenario, SmallBankSettings, Span, Stop, TraceSettings, Workload,
    YcsbSettings,
};
use crate::error::Result;
use crate::zipf::{MAX_EXPONENT, MAX_ROWS};

/// An hour: longer times are slips of the pen.
const MAX_TIME_NS: u64 = 3_600_000_000_000;
const MAX_WORKERS: u32 = 256;
/// Half the lock unit's 128 tags: an agent may have an acquire and its cancel open at once.
const MAX_DEVICE_AGENTS: u32 = 64;
const MAX_ROWS_PER_TRANSACTION: u64 = 64;
const MAX_ATTEMPTS: u32 = 1_000_000;
const DEFAULT_ATTEMPTS: u32 = 100;
/// PostgreSQL stamps its log in microseconds.
pub(super) const DEFAULT_CLOCK_STEP_NS: u64 = 1000;
const DEFAULT_BACKOFF_NS: Span = Span { least: 500, most: 1500 };

/// Checks everything that the types of the file leave open.
pub(super) fn scenario(file: File, source: Source) -> Result<Scenario> {
    let workload = workload(&file.workload, &source)?;
    let host = host(&file, &workload, &source)?;
    let device = device(&file, &workload, &source)?;
    if host.workers == 0 && device.processing_elements == 0 {
        let field = if file.host.is_some() { "host.workers" } else { "host" };
        return Err(source.reject(field, "at least one host worker or processing element"));
    }
    let scenario = Scenario {
        name: name("name", &file.name, &source)?,
        description: file.description,
        platform: name("platform", &file.platform, &source)?,
        mode: file.mode,
        seed: file.seed,
        lock_order: file.lock_order,
        table: table(&file.table, &source)?,
        stop: stop(&file.stop, &workload, &source)?,
        host,
        device,
        workload,
        source,
    };
    waits(&scenario, &scenario.source)?;
    Ok(scenario)
}

/// Names go into file names.
fn name(field: &str, value: &str, source: &Source) -> Result<String> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if value.is_empty() || value.len() > 64 || !value.bytes().all(allowed) {
        return Err(source.reject(field, "1 to 64 of a-z, 0-9 and -"));
    }
    Ok(value.into())
}

fn table(file: &file::TableFile, source: &Source) -> Result<LockTableSettings> {
    if !file.buckets.is_power_of_two() || file.buckets > 1 << 32 {
        return Err(source.reject("table.buckets", "a power of two from 1 to 4294967296"));
    }
    Ok(LockTableSettings { buckets: file.buckets, home: file.home })
}

fn stop(file: &file::StopFile, workload: &Workload, source: &Source) -> Result<Stop> {
    if let Some(duration_ns) = file.duration_ns {
        within("stop.duration_ns", duration_ns, 1, MAX_TIME_NS, source)?;
    }
    if let Some(transactions) = file.transactions_per_agent {
        within("stop.transactions_per_agent", transactions, 1, u64::MAX, source)?;
    }
    let stop =
        Stop { duration_ns: file.duration_ns, transactions_per_agent: file.transactions_per_agent };
    if stop == Stop::default() && !matches!(workload, Workload::Trace(_)) {
        let expected = "duration_ns or transactions_per_agent in [stop], or the run has no end";
        return Err(source.reject("stop.duration_ns", expected));
    }
    Ok(stop)
}

fn host(file: &File, workload: &Workload, source: &Source) -> Result<HostSettings> {
    let Some(host) = &file.host else {
        return Ok(HostSettings { workers: 0, agents: absent() });
    };
    within("host.workers", host.workers.into(), 0, MAX_WORKERS.into(), source)?;
    Ok(HostSettings {
        workers: host.workers,
        agents: agents("host", &host.agents(), workload, source)?,
    })
}

fn device(file: &File, workload: &Workload, source: &Source) -> Result<DeviceSettings> {
    let Some(device) = &file.device else {
        return Ok(DeviceSettings {
            processing_elements: 0,
            transactions_in_flight: 1,
            agents: absent(),
        });
    };
    let (elements, contexts) = (device.processing_elements, device.transactions_in_flight);
    let most = u64::from(MAX_DEVICE_AGENTS);
    within("device.processing_elements", elements.into(), 0, most, source)?;
    within("device.transactions_in_flight", contexts.into(), 1, most, source)?;
    if elements * contexts > MAX_DEVICE_AGENTS {
        let expected = format!(
            "at most {} with {elements} processing elements: the lock unit serves \
             {MAX_DEVICE_AGENTS} transactions at once",
            MAX_DEVICE_AGENTS / elements
        );
        return Err(source.reject("device.transactions_in_flight", expected));
    }
    Ok(DeviceSettings {
        processing_elements: elements,
        transactions_in_flight: contexts,
        agents: agents("device", &device.agents(), workload, source)?,
    })
}

/// Settings of the agents of a side that has none.
fn absent() -> AgentSettings {
    AgentSettings {
        think_ns: Span::exactly(0),
        hold_ns: Span::exactly(0),
        rows_per_transaction: Span::exactly(1),
        abort_probability: 0.0,
        wait: Policy::WaitDie,
        timeout_ns: None,
        backoff_ns: DEFAULT_BACKOFF_NS,
        attempts: DEFAULT_ATTEMPTS,
    }
}

fn agents(
    side: &str,
    file: &AgentsFile,
    workload: &Workload,
    source: &Source,
) -> Result<AgentSettings> {
    let field = |key: &str| format!("{side}.{key}");
    if let Workload::Trace(_) = workload {
        let said = [
            ("think_ns", file.think_ns.is_some()),
            ("hold_ns", file.hold_ns.is_some()),
            ("abort_probability", file.abort_probability.is_some()),
        ];
        if let Some((key, _)) = said.iter().find(|(_, given)| *given) {
            return Err(source.reject(&field(key), "no such key: the trace says it"));
        }
    }
    let time = |key: &str, span: Option<Span>, default: Span| {
        let span = span.unwrap_or(default);
        check_span(&field(key), span, 0, MAX_TIME_NS, source)
    };
    let abort_probability = file.abort_probability.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&abort_probability) {
        return Err(source.reject(&field("abort_probability"), "a number from 0 to 1"));
    }
    let attempts = file.attempts.unwrap_or(DEFAULT_ATTEMPTS);
    within(&field("attempts"), attempts.into(), 1, MAX_ATTEMPTS.into(), source)?;
    let think_ns = time("think_ns", file.think_ns, Span::exactly(0))?;
    let hold_ns = time("hold_ns", file.hold_ns, Span::exactly(0))?;
    let rows_per_transaction = rows(&field("rows_per_transaction"), file, workload, source)?;
    let (wait, timeout_ns) = wait(side, file, source)?;
    Ok(AgentSettings {
        think_ns,
        hold_ns,
        rows_per_transaction,
        abort_probability,
        wait,
        timeout_ns,
        backoff_ns: time("backoff_ns", file.backoff_ns, DEFAULT_BACKOFF_NS)?,
        attempts,
    })
}

/// Rows a transaction; only where the workload leaves it open, and no more than it has.
fn rows(field: &str, file: &AgentsFile, workload: &Workload, source: &Source) -> Result<Span> {
    let available = match workload {
        Workload::Ycsb(ycsb) => ycsb.rows,
        Workload::HotRow(hot) => hot.rows,
        Workload::SmallBank(_) | Workload::Trace(_) => {
            return match file.rows_per_transaction {
                Some(_) => Err(source.reject(field, "no such key: the workload says it")),
                None => Ok(Span::exactly(1)),
            };
        }
    };
    let span = file.rows_per_transaction.unwrap_or(Span::exactly(1));
    check_span(field, span, 1, available.min(MAX_ROWS_PER_TRANSACTION), source)
}

/// The wait policy, and its time limit in nanoseconds.
fn wait(side: &str, file: &AgentsFile, source: &Source) -> Result<(Policy, Option<u64>)> {
    let field = format!("{side}.wait_timeout_ns");
    let timeout = match (file.wait, file.wait_timeout_ns) {
        (PolicyName::Timeout | PolicyName::WaitsFor, Some(timeout)) => {
            within(&field, timeout, 1, MAX_TIME_NS, source)?;
            timeout
        }
        (PolicyName::Timeout | PolicyName::WaitsFor, None) => {
            return Err(source.reject(&field, "nanoseconds, because of the wait policy"));
        }
        (PolicyName::Queue | PolicyName::WaitDie, Some(_)) => {
            let expected = "no such key: only \"timeout\" and \"waits-for\" have a time-out";
            return Err(source.reject(&field, expected));
        }
        (PolicyName::Queue | PolicyName::WaitDie, None) => 0,
    };
    Ok(match file.wait {
        PolicyName::Queue => (Policy::Queue, None),
        PolicyName::WaitDie => (Policy::WaitDie, None),
        PolicyName::Timeout => (Policy::Queue, Some(timeout)),
        PolicyName::WaitsFor => (Policy::WaitsFor { every: Duration::from_nanos(timeout) }, None),
    })
}

/// A transaction that waits without a bound must not be part of a cycle, so either every
/// transaction locks one row, or all lock in the order of the buckets.
pub(super) fn waits(scenario: &Scenario, source: &Source) -> Result<()> {
    let replay = matches!(scenario.workload, Workload::Trace(_));
    let several_rows = match scenario.workload {
        Workload::SmallBank(_) | Workload::Trace(_) => true,
        Workload::Ycsb(_) | Workload::HotRow(_) => [&scenario.host.agents, &scenario.device.agents]
            .iter()
            .any(|agents| agents.rows_per_transaction.most > 1),
    };
    if replay && scenario.lock_order == LockOrder::Bucket {
        return Err(source.reject("lock_order", "\"workload\": a trace gives the order itself"));
    }
    let sides = [
        ("host.wait", scenario.host.workers, &scenario.host.agents),
        ("device.wait", scenario.device.processing_elements, &scenario.device.agents),
    ];
    for (field, count, agents) in sides {
        let queues = count > 0 && agents.wait == Policy::Queue && agents.timeout_ns.is_none();
        if queues && several_rows && scenario.lock_order == LockOrder::Workload {
            let expected = match replay {
                true => "\"wait-die\", \"timeout\" or \"waits-for\": a replay may deadlock",
                false => {
                    "\"wait-die\", \"timeout\" or \"waits-for\" where transactions lock several \
                     rows, or lock_order = \"bucket\": otherwise they may deadlock"
                }
            };
            return Err(source.reject(field, expected));
        }
    }
    Ok(())
}

fn workload(file: &WorkloadFile, source: &Source) -> Result<Workload> {
    Ok(match file {
        WorkloadFile::Ycsb(ycsb) => {
            within("workload.ycsb.rows", ycsb.rows, 1, MAX_ROWS, source)?;
            Workload::Ycsb(YcsbSettings {
                rows: ycsb.rows,
                distribution: distribution(ycsb, source)?,
            })
        }
        WorkloadFile::SmallBank(bank) => {
            let field = "workload.smallbank.accounts";
            within(field, bank.accounts, 2, MAX_ROWS, source)?;
            // Two, because some transactions pick two different accounts.
            let field = "workload.smallbank.hot_accounts";
            within(field, bank.hot_accounts, 2, bank.accounts, source)?;
            Workload::SmallBank(SmallBankSettings {
                accounts: bank.accounts,
                hot_accounts: bank.hot_accounts,
                access: bank.access,
            })
        }
        WorkloadFile::HotRow(hot) => {
            within("workload.hot-row.rows", hot.rows, 1, MAX_ROWS, source)?;
            Workload::HotRow(HotRowSettings { rows: hot.rows })
        }
        WorkloadFile::Trace(trace) => Workload::Trace(replay(trace, source)?),
    })
}

fn distribution(file: &file::YcsbFile, source: &Source) -> Result<Distribution> {
    if file.distribution == DistributionName::Uniform {
        let given =
            [("exponent", file.exponent.is_some()), ("scrambled", file.scrambled.is_some())];
        if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
            let expected = "no such key: only \"zipf\" has it";
            return Err(source.reject(&format!("workload.ycsb.{key}"), expected));
        }
        return Ok(Distribution::Uniform);
    }
    let exponent = file.exponent.unwrap_or(0.99);
    if !(0.0..=MAX_EXPONENT).contains(&exponent) {
        let expected = format!("a number from 0 to {MAX_EXPONENT}");
        return Err(source.reject("workload.ycsb.exponent", expected));
    }
    Ok(Distribution::Zipf { exponent, scrambled: file.scrambled.unwrap_or(true) })
}

fn replay(file: &file::TraceFile, source: &Source) -> Result<TraceSettings> {
    if file.file.is_empty() {
        return Err(source.reject("workload.trace.file", "the path of a lock trace"));
    }
    let time_scale = file.time_scale.unwrap_or(1.0);
    if !(0.0..=1e6).contains(&time_scale) {
        return Err(source.reject("workload.trace.time_scale", "a number from 0 to 1000000"));
    }
    if let Some(transactions) = file.transactions {
        within("workload.trace.transactions", transactions, 1, u64::MAX, source)?;
    }
    let clock_step_ns = file.clock_step_ns.unwrap_or(DEFAULT_CLOCK_STEP_NS);
    within("workload.trace.clock_step_ns", clock_step_ns, 0, MAX_TIME_NS, source)?;
    Ok(TraceSettings {
        file: file.file.clone().into(),
        time_scale,
        transactions: file.transactions,
        versions: file.versions.unwrap_or_default(),
        clock_step_ns,
    })
}

fn check_span(field: &str, span: Span, least: u64, most: u64, source: &Source) -> Result<Span> {
    if span.least > span.most {
        return Err(source.reject(field, "[least, most] with least not above most"));
    }
    within(field, span.least, least, most, source)?;
    within(field, span.most, least, most, source)?;
    Ok(span)
}

fn within(field: &str, value: u64, least: u64, most: u64, source: &Source) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let expected = match most {
        u64::MAX => format!("an integer of at least {least}"),
        _ if least == most => format!("{least}"),
        _ => format!("an integer from {least} to {most}"),
    };
    Err(source.reject(field, expected))
}
