// SPDX-License-Identifier: MIT OR Apache-2.0
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
        durable: true,
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

/// The shared VID map is the store's in the end, which each run checks itself. Under these seeds a short
/// update is quick to change a row that the long one is just publishing: if it need not wait for that, its
/// own word is overwritten.
#[test]
fn a_row_that_is_being_published_is_not_changed_yet() {
    let many = |rows, warm_up, seed, strategy| Setup {
        rows,
        fields: 10,
        warm_up,
        keys: Keys::Uniform,
        seed,
        ..setup(Beside::Update(strategy))
    };
    made(&many(500, 0, 1, Strategy::NearData));
    let threads = Strategy::HostPath { threads: 4 };
    made(&Setup { durable: false, ..many(1000, 300, 5, threads) });
}

/// One rule for both sides: what a commit waits for is a price of its own storage.
#[test]
fn each_side_pays_for_storage_when_commits_are_durable() {
    for strategy in [Strategy::NearData, Strategy::HostPath { threads: 1 }] {
        let durable = setup(Beside::Update(strategy));
        let volatile = Setup { durable: false, ..durable.clone() };
        let [durable, volatile] = [made(&durable), made(&volatile)].map(|made| made.long.unwrap());
        let of = |report: &LongReport, phase: Phase| {
            let times = report.phases.iter().filter(|(found, _)| *found == phase);
            times.fold(Time::ZERO, |sum, (_, time)| sum + *time)
        };
        let platform = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
        let (near, store) = (platform.near_data.unwrap(), platform.host_store.unwrap());
        assert_eq!(of(&volatile, Phase::Log), Time::ZERO, "{strategy:?}");
        assert!(of(&durable, Phase::Log) >= store.log_latency.get(), "{strategy:?}");
        if strategy == Strategy::NearData {
            let finalizes = [&durable, &volatile].map(|report| of(report, Phase::Finalize));
            assert!(finalizes[0] >= finalizes[1] + near.storage.latency.get(), "{finalizes:?}");
        }
    }
}

/// Each entry of the result set costs its note and a look at lock and head; the commit looks again.
#[test]
fn adoption_and_the_second_look_cost_their_loads() {
    let setup = setup(Beside::Update(Strategy::NearData));
    let long = made(&setup).long.expect("there was one");
    let of = |phase: Phase| long.phases.iter().find(|(found, _)| *found == phase).unwrap().1;
    let store = setup.platform.host_store.unwrap();
    let host = setup.platform.coherence.unwrap().host.cache;
    let load = host.lookup.get() + host.respond.get();
    let least = |time: Time, count: u64| time * count;
    assert!(of(Phase::Adopt) >= least(store.adopt_row.get() + load, long.changed));
    let together = u64::from(store.loads_in_flight.get().0);
    let adopted = long.changed - long.left;
    assert!(of(Phase::Recheck) >= least(load, adopted / together));
}
