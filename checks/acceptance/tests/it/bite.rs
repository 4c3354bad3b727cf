// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite passes on a device in software, and finds each mutant that is planted in it.

use std::sync::Arc;
use std::time::Duration;

use crate::device_model::{DeviceModel, Mutant, mutant};
use acceptance::{Options, Report, Verdict, run};
use conformance::over_device::{Bounds, Unit};
use driver::{Backend, Device, OpenError};

fn options() -> Options {
    Options {
        cases: 60,
        interrupts: 300,
        silence: Duration::from_millis(5),
        samples: 20,
        ..Options::default()
    }
}

/// Runs the suite on a device of its own for each opener, or on one for all.
fn run_on(mutant: Mutant, options: &Options) -> Report {
    let mut shared: Option<Arc<dyn Backend>> = None;
    let mut open = || -> Result<Device, OpenError> {
        let backend: Arc<dyn Backend> = match &shared {
            Some(backend) if mutant == Mutant::SharesDevice => Arc::clone(backend),
            _ => Arc::new(DeviceModel::new(mutant)),
        };
        shared = Some(Arc::clone(&backend));
        Device::new(backend)
    };
    run(&mut open, options, &mut |_| {})
}

#[test]
fn a_device_without_flaws_passes() {
    let report = run_on(Mutant::None, &options());
    println!("{report}");
    let passed = |check: &&acceptance::CheckReport| check.verdict == Verdict::Pass;
    assert_eq!(report.checks.iter().filter(passed).count(), acceptance::names().len(), "{report}");
    assert!(report.passed() && report.measurements.register_read.is_some());
}

/// What runs in a guest without an IOMMU and without huge pages.
#[test]
fn a_device_without_translation_passes_but_for_what_needs_it() {
    let mut open = || Device::new(Arc::new(DeviceModel::untranslated()));
    let report = run(&mut open, &options(), &mut |_| {});
    println!("{report}");
    assert!(report.passed(), "{report}");
    let verdict = |name| report.check(name).expect("it was run").verdict;
    assert_eq!((verdict("unmap"), verdict("copies")), (Verdict::Skipped, Verdict::Pass));
}

#[test]
fn a_report_is_read_by_programs() {
    let report = run_on(Mutant::WrongClass, &options());
    let json = serde_json::to_value(&report).expect("a report is plain data");
    assert_eq!(json["checks"][0]["name"], "identity");
    assert_eq!(json["checks"][0]["verdict"], "FAIL");
    assert_eq!(json["checks"][1]["verdict"], "PASS");
    let median = json["measurements"]["register_read"]["median_ns"].as_u64();
    assert!(median.is_some(), "{json}");
}

/// The device in software stands for the RTL: the same cases, the same rules.
#[test]
fn the_cases_of_the_lock_table_find_flaws_too() {
    for &mutant in [Mutant::None].iter().chain(mutant::OF_LOCKS) {
        let device = Device::new(Arc::new(DeviceModel::new(mutant))).expect("a device");
        let bounds = match mutant {
            Mutant::None => Bounds::default(),
            // The test waits until its bound for a waiter that is never notified.
            _ => Bounds { case: Duration::from_millis(500), ..Bounds::default() },
        };
        let mut unit = Unit::new(&device, bounds).expect("a lock unit");
        let failed = (0..100).find_map(|seed| unit.check_seed(seed).err());
        let found = failed.map(|failed| format!("seed {}: {}", failed.seed, failed.trouble));
        println!("{mutant:?}: {found:?}");
        assert_eq!(found.is_none(), mutant == Mutant::None, "{mutant:?}: {found:?}");
    }
}

#[test]
fn each_flaw_is_found_by_its_check() {
    let mut missed = Vec::new();
    for &(mutant, check) in mutant::ALL {
        // Two must meet between its load and its store.
        let cases = if mutant == Mutant::TearsCompareSwap { 600 } else { 60 };
        // On a busy machine the device may have no turn while the check waits for it to be silent.
        let found = [5, 50, 500].iter().any(|&silence| {
            let silence = Duration::from_millis(silence);
            let timeout = Duration::from_millis(300);
            let options = Options { timeout, silence, cases, ..options() };
            let options = options.only(&[check]).expect("the check exists");
            let report = run_on(mutant, &options);
            println!("{mutant:?}: {}", report.checks[0]);
            report.checks[0].verdict == Verdict::Fail
        });
        if !found {
            missed.push(mutant);
        }
    }
    assert!(missed.is_empty(), "the suite has not found {missed:?}");
}
