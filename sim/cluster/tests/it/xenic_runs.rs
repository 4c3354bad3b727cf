// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of Xenic by settings.

use cluster::xenic::index::ENTRY_BYTES;
use cluster_sim::run::{
    Draft, Extras, Memory, ProtocolName, Report, RunError, Settings, Switch, Watch, Workload,
    XenicSettings, run,
};
use workloads::scenario::SmallBankAccess;

fn settings(workload: Workload, without: &[Switch]) -> Settings {
    Settings {
        protocol: ProtocolName::Xenic,
        platform: "liquidio3".into(),
        nodes: 4,
        threads: 2,
        workers: 2,
        warm_up_us: 20.0,
        duration_us: 120.0,
        workload,
        xenic: Some(XenicSettings {
            nic_cores: 4,
            log_workers: 2,
            without: without.to_vec(),
            // One for each segment, however many rows there are.
            index_entries: 1 << 30,
            ..XenicSettings::for_workload(workload)
        }),
        ..Settings::default()
    }
}

fn report(settings: &Settings) -> Result<Report, RunError> {
    let watch = &mut Watch { is_interrupted: &|| false, progress: &mut |_| () };
    Ok(run(settings, Extras::default(), watch)?.report)
}

const SMALL_BANK: Workload = Workload::SmallBankXenic {
    accounts_per_node: 1_000_000,
    hot_percent: 90.0,
    access: SmallBankAccess::Hot90,
};
const RETWIS: Workload = Workload::Retwis { keys_per_node: 1_000_000, exponent: 0.1 };

/// With so many rows that next to no attempt is aborted, messages and bytes of each phase are those that are counted from
/// the description.
#[test]
fn messages_and_bytes_are_those_counted_by_hand() {
    let all_on: &[Switch] = &[];
    let hosted: &[Switch] = &[Switch::Ships, Switch::MultiHop];
    let alone: &[Switch] = &[Switch::Combined, Switch::Ships, Switch::MultiHop];
    let orders = Workload::TpccNewOrder { warehouses_per_node: 5000 };
    let tpcc = Workload::Tpcc { warehouses_per_node: 5000 };
    for workload in [SMALL_BANK, RETWIS, orders, tpcc] {
        for without in [all_on, hosted, alone] {
            // A new-order is longer.
            let longer = match workload {
                Workload::TpccNewOrder { .. } => 4.0,
                // Kinds that are rare and far larger than others.
                Workload::Tpcc { .. } => 15.0,
                _ => 1.0,
            };
            let settings = settings(workload, without);
            let settings = Settings {
                warm_up_us: longer * settings.warm_up_us,
                duration_us: longer * settings.duration_us,
                ..settings
            };
            let report = report(&settings).expect("it passes");
            for of in &report.traffic {
                let (Some(messages), Some(bytes)) = (of.by_hand, of.bytes_by_hand) else {
                    continue;
                };
                let at = format!("{} without {without:?}, {}", workload.name(), of.stage);
                // Of few transactions, drawn otherwise than those of the count. Slots that idle say so by messages of
                // the log's stage, which the count leaves out.
                let idles = of.stage == "log";
                let near = |one: f64, other: f64, least: f64| {
                    let apart = (0.2 * other).max(least);
                    one >= other - apart && (idles || one <= other + apart)
                };
                assert!(near(of.messages, messages, 0.15), "{at}: {} and {messages}", of.messages);
                assert!(near(of.bytes, bytes, 12.0), "{at}: {} B and {bytes} B", of.bytes);
            }
        }
    }
}

#[test]
fn one_seed_gives_the_same_bytes_also_with_a_cold_index() {
    for warm_index in [true, false] {
        let mut settings = settings(RETWIS, &[]);
        settings.xenic = settings.xenic.map(|own| XenicSettings { warm_index, ..own });
        let bytes = || serde_json::to_vec(&report(&settings).expect("it passes")).expect("JSON");
        let (one, again) = (bytes(), bytes());
        assert!(one == again, "warm: {warm_index}");
    }
}

/// Reads of host memory take time.
#[test]
fn a_cold_index_makes_transactions_longer() {
    let median = |warm_index| {
        let mut settings = settings(RETWIS, &[]);
        settings.xenic = settings.xenic.map(|own| XenicSettings { warm_index, ..own });
        report(&settings).expect("it passes").latency.p50_ns
    };
    assert!(median(true) + 1000.0 < median(false));
}

/// An index without memory for all rows has those at the start that are asked for often, and one with memory for the rows of
/// one transaction alone still commits.
#[test]
fn a_smaller_index_reads_more_of_host_memory() {
    let of = |index_entries| {
        // Some 5,600 segments.
        let settings = settings(Workload::Retwis { keys_per_node: 20_000, exponent: 0.5 }, &[]);
        let own = settings.xenic.clone().map(|own| XenicSettings { index_entries, ..own });
        let report = report(&Settings { xenic: own, ..settings }).expect("it passes");
        (report.index.expect("rows were looked up"), report.committed)
    };
    let [(least, few), (some, more), (all, most)] = [10, 2000, 1 << 20].map(of);
    assert!(all.cached > 0.99 && all.reads < 0.1, "{all:?}");
    // Without what the drawn transactions have left, next to none would be cached.
    assert!((0.3..0.9).contains(&some.cached) && some.reads > 0.5, "{some:?}");
    assert!(least.cached < some.cached / 2.0 && least.reads > some.reads, "{least:?}");
    assert!(0 < few && few < more && more < most, "{few}, {more}, {most}");
}

/// Threads that apply records are a resource of their own: with one for all new-orders, it binds.
#[test]
fn log_workers_that_bind_are_named() {
    let settings = settings(Workload::TpccNewOrder { warehouses_per_node: 50 }, &[]);
    let own = settings.xenic.clone().map(|own| XenicSettings { log_workers: 1, ..own });
    let report = report(&Settings { workers: 6, xenic: own, ..settings }).expect("it passes");
    let binding = report.binding().expect("there are resources");
    let host = report.resources.iter().find(|of| of.name == "host cores").expect("it has some");
    assert!(binding.name == "log workers", "{:?}", report.resources);
    assert!(binding.busiest > 3.0 * host.busiest, "{:?}", report.resources);
}

#[test]
fn what_only_xenic_has_is_checked() {
    let told = |text: &str| {
        let draft = Draft::parse("run.toml", text).expect("a scenario");
        let settings = Settings::check(&draft);
        settings.map(drop).expect_err(text).to_string()
    };
    let of = |line: &str| told(&format!("protocol = \"xenic\"\n[xenic]\n{line}\n"));
    assert_eq!(
        of("nic_cores = 0"),
        "run.toml:3: field `xenic.nic_cores` = 0: expected a whole number from 1 to 64"
    );
    assert_eq!(
        of("index_entries = 3"),
        "run.toml:3: field `xenic.index_entries` = 3: expected a whole number from 4 to 1073741824, as a transaction of tatp \
         has up to 4 rows, each locked or pinned in an entry of its own"
    );
    let retwis = told("protocol = \"xenic\"\n[xenic]\nindex_entries = 9\n[workload.retwis]\n");
    assert!(retwis.contains("from 10 to") && retwis.contains("of retwis has up to 10"), "{retwis}");

    assert!(of("without = [\"combined\"]").contains("multi-hop in the list, too"));
    assert!(of("without = [\"speed\"]").contains("names of combined, aggregation"));
    let foreign = told("protocol = \"fasst\"\n[xenic]\nnic_cores = 2\n");
    assert!(
        foreign.contains("xenic.nic_cores") && foreign.contains("with protocol xenic only"),
        "{foreign}"
    );
    let crowd = told("protocol = \"xenic\"\nnodes = 1024\nworkers = 64\n");
    assert!(crowd.starts_with("run.toml:3: field `workers` = 64: expected 1 to "), "{crowd}");
    let on_platform = |text: &str| {
        let draft = Draft::parse("run.toml", text).expect("a scenario");
        let settings = Settings::check(&draft).expect(text);
        settings.check_whole(&draft).expect_err(text).to_string()
    };
    let threads = on_platform("protocol = \"xenic\"\nthreads = 30\n[xenic]\nlog_workers = 3\n");
    assert!(threads.contains("`xenic.log_workers` = 3: expected at most 2"), "{threads}");
    let cores = on_platform("protocol = \"xenic\"\n[xenic]\nnic_cores = 25\n");
    assert!(cores.contains("`xenic.nic_cores` = 25: expected 1 to 24"), "{cores}");
    // A kind that the workload has not is found when the cluster is made.
    let mut unknown = settings(RETWIS, &[]);
    unknown.xenic = unknown.xenic.map(|own| XenicSettings { on_host: vec!["buy".into()], ..own });
    let error = report(&unknown).expect_err("no such kind");
    assert!(error.is_of_input() && error.to_string().contains("\"buy\""), "{error}");
}

/// Entries of indexes take most of the memory of runs that touch many rows.
#[test]
fn the_estimate_of_memory_has_what_nics_keep() {
    let of = |index_entries| {
        let settings = Settings { duration_us: 20_000.0, ..settings(RETWIS, &[]) };
        let xenic = settings.xenic.map(|own| XenicSettings { index_entries, ..own });
        let settings = Settings { xenic, ..settings };
        Memory::of(&settings, &settings.hardware().expect("a platform of ours"))
    };
    let (few, many) = (of(1 << 12), of(1 << 18));
    assert_eq!((few.machines, few.record), (many.machines, many.record));
    // Of four NICs.
    let entries = 4 * ((1 << 18) - (1 << 12));
    assert!(many.overlay - few.overlay > entries * ENTRY_BYTES as u64, "{few:?} and {many:?}");
}
