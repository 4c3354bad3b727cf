// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of all of TPC-C: the consistency conditions of the standard hold at the end, on Xenic and its rivals; FaSST refuses
//! it, and so does Xenic without its annotation.

use cluster_sim::run::{
    Draft, Extras, Flags, ProtocolName, Report, RunError, Settings, Switch, Watch, Workload,
    XenicSettings, run,
};

fn settings(protocol: ProtocolName, warehouses_per_node: u32) -> Settings {
    let workload = Workload::Tpcc { warehouses_per_node };
    let xenic =
        XenicSettings { nic_cores: 4, log_workers: 2, ..XenicSettings::for_workload(workload) };
    let is_xenic = protocol == ProtocolName::Xenic;
    Settings {
        protocol,
        platform: if is_xenic { "liquidio3" } else { "xenic-cx5" }.into(),
        nodes: 4,
        threads: 2,
        workers: 3,
        warm_up_us: 0.0,
        duration_us: 300.0,
        workload,
        xenic: is_xenic.then_some(xenic),
        ..Settings::default()
    }
}

fn report(settings: &Settings) -> Result<Report, RunError> {
    let watch = &mut Watch { is_interrupted: &|| false, progress: &mut |_| () };
    Ok(run(settings, Extras::default(), watch)?.report)
}

fn committed(report: &Report, kind: &str) -> u64 {
    let of = report.kinds.iter().find(|of| of.name == kind);
    of.unwrap_or_else(|| panic!("no {kind}")).committed
}

/// Each read is checked against a linear time, and at rest replicas, locks, logs and the conditions of clause 3.3.2.
#[test]
fn the_conditions_hold_on_every_system() {
    let protocols =
        [ProtocolName::Xenic, ProtocolName::DrtmH, ProtocolName::DrtmHNc, ProtocolName::DrtmR];
    for protocol in protocols {
        let report = report(&settings(protocol, 2)).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.checks.at_rest, "{protocol:?}");
        let kinds = ["new-order", "payment", "order-status", "delivery", "stock-level"];
        for kind in kinds {
            assert!(committed(&report, kind) > 0, "{protocol:?}: {:?}", report.kinds);
        }
        let [orders, payments] = ["new-order", "payment"].map(|kind| committed(&report, kind));
        assert!(orders > 40 && payments > 40, "{protocol:?}: {:?}", report.kinds);
    }
}

/// Wherever the logic runs, also with each object asked for by itself.
#[test]
fn the_conditions_hold_without_optimisations() {
    let hosted: &[Switch] = &[Switch::Ships, Switch::MultiHop];
    let alone: &[Switch] = &[Switch::Combined, Switch::Ships, Switch::MultiHop];
    for without in [&[Switch::MultiHop], hosted, alone] {
        let mut settings = settings(ProtocolName::Xenic, 2);
        settings.xenic = settings.xenic.map(|own| XenicSettings { without: without.into(), ..own });
        let report = report(&settings).unwrap_or_else(|error| panic!("{without:?}: {error}"));
        assert!(report.checks.at_rest && committed(&report, "new-order") > 20, "{without:?}");
    }
}

#[test]
fn what_cannot_run_it_refuses_it() {
    let refused = |flags: Flags| {
        let draft = Draft::default().with_flags(flags).expect("flags that there are");
        Settings::check(&draft).expect_err("it cannot run it").to_string()
    };
    let of = |protocol: &str, on_host: Option<Vec<String>>| Flags {
        protocol: Some(protocol.into()),
        workload: Some("tpcc".into()),
        on_host,
        ..Flags::default()
    };
    assert_eq!(
        refused(of("fasst", None)),
        "--workload tpcc: expected another workload with protocol fasst: the record of a new-order of 15 lines has 6001 \
         bytes, and goes in one message, which has 4096 at most (tpcc-new-order rolls such orders back)"
    );
    let error = refused(of("xenic", Some(vec!["delivery".into()])));
    assert!(error.starts_with("--on-host delivery: expected stock-level in the list"), "{error}");
    let settings = Draft::default().with_flags(of("xenic", None));
    let settings = settings.and_then(|draft| Settings::check(&draft)).expect("possible");
    let on_host = settings.xenic.expect("its own").on_host;
    assert_eq!(on_host, ["order-status", "delivery", "stock-level"]);
    let keys = |keys| Flags { keys: Some(keys), ..of("xenic", None) };
    assert!(refused(keys(0)).starts_with("--keys 0: expected 1 to "));
}
