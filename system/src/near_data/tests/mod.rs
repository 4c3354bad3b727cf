mod mix;
mod walk;

use super::*;

fn setup(beside: Beside) -> Setup {
    Setup {
        platform: Platform::named("n1sdp-u280-ccix").expect("comes with the program"),
        rows: 3_000,
        fields: 1,
        regions: 10,
        workers: 3,
        keys: Keys::Zipf { exponent: 0.99 },
        other_rows: false,
        warm_up: 200,
        beside,
        verified: false,
        seed: 7,
    }
}

const STRATEGIES: [Strategy; 4] = [
    Strategy::NearData,
    Strategy::HostPath { threads: 1 },
    Strategy::HostPath { threads: 3 },
    Strategy::TableLock,
];

fn made(setup: &Setup) -> Outcome {
    run(setup, &mut |_| {}).expect("a run that comes to its end")
}

/// Each run checks its rows itself.
#[test]
fn every_strategy_changes_the_same_rows_and_repeats_under_its_seed() {
    for strategy in STRATEGIES {
        let setup = setup(Beside::Update(strategy));
        let outcome = made(&setup);
        let long = outcome.long.clone().expect("there was one");
        assert_eq!(long.visible, setup.rows, "{strategy:?}");
        let tenth = setup.rows / setup.regions;
        assert!(long.changed.abs_diff(tenth) < tenth / 3, "{strategy:?}: {}", long.changed);
        assert!(outcome.short.committed > 0 || strategy == Strategy::TableLock);
        assert_eq!(outcome, made(&setup), "{strategy:?}");
    }
}
