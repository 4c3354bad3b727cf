// SPDX-License-Identifier: MIT OR Apache-2.0
//! A failure says how to repeat it, and leaves what is needed to look at it.

use std::fs;

use conformance::{Case, ReplayError, check_seed, draw, load, replay, run, window};
use sim::models::WaveWindow;
use tuple_lock_unit::mutants::Model as TupleLockUnitMutants;

/// Mutant 8 of the unit: positions are one too small.
fn mutant(seed: u64) -> TupleLockUnitMutants {
    let mut unit = TupleLockUnitMutants::powered_up(seed);
    unit.core_mut().set_mutant(8);
    unit
}

#[test]
fn a_failure_is_shrunk_and_can_be_repeated() {
    let fails = |case: Case| run(&case, mutant(case.seed)).is_err();
    let seed = (0..100).find(|&seed| fails(draw::case(seed)));
    let seed = seed.expect("mutant 8 is found");
    let failure = check_seed(seed, mutant).expect_err("it was found before");
    let text = failure.to_string();
    assert!(text.starts_with(&format!("seed {seed} (")), "{text}");
    let steps = |case: &Case| case.agents.iter().map(|agent| agent.script.len()).sum::<usize>();
    let (before, after) = (steps(&draw::case(seed)), steps(&failure.case));
    assert!(after * 4 < before && after <= 8, "{after} of {before} steps are left:\n{text}");
    let (case, waves) = failure.files.as_ref().expect("both files were written");
    assert!(fs::metadata(waves).unwrap().len() > 1_000, "{} is empty", waves.display());
    let case = load(case).unwrap();
    assert_eq!(case, failure.case);
    assert_eq!(run(&case, mutant(case.seed)), Err(failure.mismatch.clone()));
    // The unit itself passes it, with waves of the same window.
    let folder = tempfile::tempdir().unwrap();
    let waves = folder.path().join("waves.fst");
    replay(&case, Some((waves.clone(), window(&failure.mismatch)))).unwrap();
    assert!(fs::metadata(waves).unwrap().len() > 1_000);
}

#[test]
fn a_case_runs_the_same_twice_and_with_waves() {
    let case = draw::case(7);
    let folder = tempfile::tempdir().unwrap();
    let waves = folder.path().join("waves.fst");
    let window = WaveWindow { from: 0, to: 100 };
    let first = replay(&case, None).unwrap();
    assert_eq!(replay(&case, None).unwrap(), first);
    assert_eq!(replay(&case, Some((waves, window))).unwrap(), first);
}

#[test]
fn a_file_that_is_no_case_is_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.json");
    let error = |text: &str| {
        fs::write(&path, text).unwrap();
        load(&path).expect_err("it is no case").to_string()
    };
    assert!(error("{").contains("case.json"), "no name");
    let mut case = draw::case(0);
    case.tags = 2;
    let text = error(&serde_json::to_string(&case).unwrap());
    assert!(text.ends_with("case.json: tags is 2, expected 4 to 128"), "{text}");
    case.tags = 4;
    case.agents[0].timestamp = 0;
    let text = error(&serde_json::to_string(&case).unwrap());
    assert!(text.contains("agents.timestamp is 0, expected 1 to 2^48 - 2"), "{text}");
    let missing = load(&folder.path().join("none.json")).expect_err("no file").to_string();
    assert!(missing.contains("none.json"), "{missing}");
    let unwritable =
        replay(&draw::case(0), Some((folder.path().join("no/such"), WaveWindow::ALWAYS)));
    assert!(matches!(unwritable, Err(ReplayError::File(_))));
}
