//! The suite passes on a device in software, and finds each thing that can be wrong with it.

mod rig;

use std::sync::Arc;
use std::time::Duration;

use acceptance::{Options, Report, Verdict, run};
use driver::{Backend, Device, OpenError};
use rig::{Flaw, Rig, flaw};

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
fn run_on(flaw: Flaw, options: &Options) -> Report {
    let mut shared: Option<Arc<dyn Backend>> = None;
    let mut open = || -> Result<Device, OpenError> {
        let backend: Arc<dyn Backend> = match &shared {
            Some(backend) if flaw == Flaw::SharesDevice => Arc::clone(backend),
            _ => Arc::new(Rig::new(flaw)),
        };
        shared = Some(Arc::clone(&backend));
        Device::new(backend)
    };
    run(&mut open, options, &mut |_| {})
}

#[test]
fn a_device_without_flaws_passes() {
    let report = run_on(Flaw::None, &options());
    println!("{report}");
    let passed = |check: &&acceptance::CheckReport| check.verdict == Verdict::Pass;
    assert_eq!(report.checks.iter().filter(passed).count(), acceptance::names().len(), "{report}");
    assert!(report.passed() && report.measurements.register_read.is_some());
}

#[test]
fn each_flaw_is_found_by_its_check() {
    let mut missed = Vec::new();
    for &(flaw, check) in flaw::ALL {
        let options = Options { patience: Duration::from_millis(300), ..options() };
        let options = options.only(&[check]).expect("the check exists");
        let report = run_on(flaw, &options);
        let check = &report.checks[0];
        println!("{flaw:?}: {check}");
        if check.verdict != Verdict::Fail {
            missed.push(flaw);
        }
    }
    assert!(missed.is_empty(), "the suite has not found {missed:?}");
}
