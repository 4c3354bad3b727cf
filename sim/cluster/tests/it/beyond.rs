// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is judged of a campaign's case in which more processes end than rows have backups.

use cluster::engine::{NodeId, Stage};
use cluster::mutant::Planted;
use cluster::{fasst, xenic};
use cluster_sim::campaign::{Case, Outcome};
use cluster_sim::faults::{Fault, FaultPlan, Frames, NodeName};
use cluster_sim::protocols::Campaigns;

/// When nodes crash, if nothing else is said.
const CRASH_NS: u64 = 200_000;

fn crash(node: u16, at: u64) -> Fault {
    Fault::Crash { node, at_ns: Some(at), at_frame: None }
}

/// The cluster of a seed with five nodes and one backup, under these faults alone.
fn case(seed: u64, faults: Vec<Fault>) -> Case {
    let mut case = Case::draw(seed).with_plan(&FaultPlan { faults });
    (case.nodes, case.backups) = (5, 1);
    case
}

fn sound<M: Campaigns>(case: &Case) -> Outcome {
    let outcome = case.run(Planted::<M>::default());
    assert_eq!(outcome.failure, None, "{case}");
    outcome
}

/// Two neighbours hold all replicas of a partition, so that nobody can go on.
fn nobody_has_to_go_on<M: Campaigns>() {
    for seed in 0..3 {
        let all = |most: u16| (0..most).map(|node| crash(node, CRASH_NS)).collect();
        assert!(sound::<M>(&case(seed, all(2))).is_beyond);
        assert!(sound::<M>(&case(seed, all(5))).is_beyond, "no process is left");
        assert!(!sound::<M>(&case(seed, all(1))).is_beyond);
    }
}

#[test]
fn nobody_has_to_go_on_after_too_many_have_ended() {
    nobody_has_to_go_on::<fasst::Mutant>();
    nobody_has_to_go_on::<xenic::Mutant>();
}

/// When the second one crashes, the first one's rows have new replicas.
#[test]
fn processes_that_were_made_good_do_not_count() {
    let faults = |second| vec![crash(0, 50_000), crash(1, second)];
    for seed in 0..3 {
        let outcome = sound::<fasst::Mutant>(&case(seed, faults(390_000)));
        assert_eq!((outcome.is_beyond, outcome.down), (false, 2), "seed {seed}");
        assert!(sound::<fasst::Mutant>(&case(seed, faults(51_000))).is_beyond, "seed {seed}");
    }
}

/// The faults that seed 388 draws end all four processes of a cluster with two backups, as frames that are lost end
/// their senders, and coordinators whose transactions these execute.
#[test]
fn drawn_faults_may_end_more_than_there_are_backups() {
    let case = Case::draw(388);
    assert_eq!((case.nodes, case.backups), (4, 2));
    let outcome = sound::<xenic::Mutant>(&case);
    assert!(outcome.is_beyond && outcome.down > 2);
}

/// The first seed, not before `first`, whose case fails with a planted bug, and why. The first ones below are those
/// that are known to.
fn found<M: Campaigns>(mutant: M, first: u64, faults: &[Fault]) -> Option<(u64, String)> {
    (first..first + 60).find_map(|seed| {
        let outcome = case(seed, faults.to_vec()).run(Planted::new(mutant));
        assert!(outcome.is_beyond, "seed {seed}");
        outcome.failure.map(|failure| (seed, failure))
    })
}

#[test]
fn what_happened_before_is_judged() {
    let faults = [crash(0, 390_000), crash(1, 390_000)];
    let seen = [
        found(fasst::Mutant::ReadOfLockedRow, 1, &faults),
        found(xenic::Mutant::UnlockedBeforePinned, 0, &faults),
    ];
    for what in seen {
        let (seed, what) = what.expect("it is found");
        assert!(what.contains("before more ended than there are backups"), "seed {seed}: {what}");
    }
}

/// Records are under way for longer than the change of views takes. Clients that were told before they had come are
/// told of what nobody knows then. The two that crash are no neighbours: no partition is lost.
#[test]
fn acknowledged_changes_stand_if_a_record_could_survive() {
    let frames = Frames { stage: Some(Stage::Log), until_ns: Some(60_000), ..Frames::default() };
    let late = Fault::Delay { frames, by_ns: 200_000 };
    let faults = [late, crash(0, 50_000), crash(2, 50_000)];
    for seed in 0..4 {
        assert!(sound::<fasst::Mutant>(&case(seed, faults.to_vec())).is_beyond);
        assert!(sound::<xenic::Mutant>(&case(seed, faults.to_vec())).is_beyond);
    }
    let seen = [
        found(fasst::Mutant::EndedBeforeLog, 53, &faults),
        found(xenic::Mutant::EndedBeforeLog, 29, &faults),
    ];
    for what in seen {
        let (seed, what) = what.expect("it is found");
        assert!(what.contains("an acknowledged change is lost"), "seed {seed}: {what}");
    }
}

/// A node stands still until the others have replaced it, does not hear of it from the manager, and reads its own rows
/// when it wakes up, with a clock that is behind.
#[test]
fn a_node_of_xenic_that_goes_on_after_its_lease_is_noticed() {
    let (node, manager) = (NodeName(NodeId(1)), NodeName(NodeId::MANAGER));
    let faults = vec![
        Fault::Clock { node: 1, at_ns: 0, ahead_ns: 0, drift_ppm: -5_000 },
        Fault::Pause { node: 1, at_ns: 100_000, for_ns: 130_000 },
        Fault::Cut {
            nodes: vec![node],
            others: vec![manager],
            from_ns: 100_000,
            until_ns: 300_000,
            one_way: false,
        },
    ];
    // Cases about leases have six workers, and read rows of their own node.
    let mut cases = (8..).map(Case::draw).filter(|case| case.workers == 6);
    let case = cases.next().expect("one in eight").with_plan(&FaultPlan { faults });
    let outcome = sound::<xenic::Mutant>(&case);
    assert!(outcome.epoch > 1 && !outcome.is_beyond, "the node is replaced");
    let failure = case.run(Planted::new(xenic::Mutant::LeaseNotChecked)).failure;
    let failure = failure.expect("it read what others had replaced");
    assert!(failure.contains("read version"), "{failure}");
}
