// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histories made by hand, each with one anomaly, and clean ones beside them.

use history::{
    Anomaly, DependencyKind, Extension, Header, History, Level, Options, Read, Report, Scan,
    Status, Times, TransactionRecord, Write,
};

const RC: Level = Level::ReadCommitted;
const SI: Level = Level::Snapshot;
const SER: Level = Level::Serializable;
const X: u64 = 1;
const Y: u64 = 2;

/// A transaction of a session of its own, committed, without points.
fn txn(
    number: u64,
    level: Level,
    reads: &[(u64, u64)],
    writes: &[(u64, u64)],
) -> TransactionRecord {
    TransactionRecord {
        txn: number,
        session: number,
        begin: None,
        commit: None,
        status: Status::Committed,
        level,
        reads: reads.iter().map(|(key, version)| Read::new(*key, *version)).collect(),
        writes: writes.iter().map(|(key, version)| Write::new(*key, *version)).collect(),
        scans: Vec::new(),
        wall: None,
        virtual_time: None,
    }
}

fn at(begin: u64, commit: u64, transaction: TransactionRecord) -> TransactionRecord {
    TransactionRecord { begin: Some(begin), commit: Some(commit), ..transaction }
}

fn in_session(session: u64, transaction: TransactionRecord) -> TransactionRecord {
    TransactionRecord { session, ..transaction }
}

/// Keys 1 to 4 with version 0, then `transactions`.
fn history(transactions: Vec<TransactionRecord>) -> History {
    with_initial((1..=4).map(|key| Write::new(key, 0)).collect(), transactions)
}

fn with_initial(writes: Vec<Write>, transactions: Vec<TransactionRecord>) -> History {
    let timed = transactions.iter().any(|t| t.begin.is_some() || t.commit.is_some());
    let mut initial = TransactionRecord { writes, session: 1000, ..txn(0, SER, &[], &[]) };
    if timed {
        initial = at(0, 0, initial);
    }
    let mut header = Header::new(0, "by hand");
    header.extensions =
        vec![Extension::Dead, Extension::Scans, Extension::Order, Extension::LostWrites];
    History::new(header, [vec![initial], transactions].concat()).expect("the format is kept")
}

fn check(transactions: Vec<TransactionRecord>) -> Report {
    history(transactions).check(&Options::default())
}

#[track_caller]
fn expect(transactions: Vec<TransactionRecord>, anomaly: Anomaly) -> Report {
    let report = check(transactions);
    assert_eq!(report.anomalies().into_iter().collect::<Vec<_>>(), [anomaly], "{report}");
    report
}

#[track_caller]
fn expect_clean(transactions: Vec<TransactionRecord>) {
    check(transactions).expect_clean();
}

#[test]
fn lost_update() {
    for level in [SI, SER] {
        let updates =
            || vec![txn(1, level, &[(X, 0)], &[(X, 1)]), txn(2, level, &[(X, 0)], &[(X, 2)])];
        expect(updates(), Anomaly::LostUpdate);
        let mut timed = updates();
        timed[0] = at(0, 1, timed[0].clone());
        timed[1] = at(0, 2, timed[1].clone());
        let report = expect(timed, Anomaly::LostUpdate);
        assert_eq!(report.violations().len(), 1, "{report}");
        let cycle = &report.violations()[0];
        assert_eq!(cycle.transactions.len(), 2);
        assert_eq!(cycle.keys, [X.into()]);
        let kinds: Vec<_> = cycle.dependencies.iter().map(|d| d.kind).collect();
        assert!(kinds.contains(&DependencyKind::ReadWrite), "{report}");
        assert!(kinds.contains(&DependencyKind::WriteWrite), "{report}");
        let told = report.to_string();
        assert!(told.contains("key 1, version 0 was read, then overwritten with 1"), "{told}");
    }
    expect_clean(vec![
        at(0, 1, txn(1, RC, &[(X, 0)], &[(X, 1)])),
        at(0, 2, txn(2, RC, &[(X, 0)], &[(X, 2)])),
    ]);
}

#[test]
fn lost_update_of_one_who_is_held_to_more() {
    // Each is held to its own level: the second may not lose the first's update, the first may
    // lose any update.
    let of = |first, second| {
        vec![
            at(0, 1, txn(1, first, &[(X, 0)], &[(X, 1)])),
            at(0, 2, txn(2, second, &[(X, 0)], &[(X, 2)])),
        ]
    };
    expect(of(RC, SI), Anomaly::LostUpdate);
    expect(of(RC, SER), Anomaly::LostUpdate);
    expect_clean(of(SI, RC));
    expect_clean(of(SER, RC));
}

#[test]
fn overlapping_writers() {
    let of = |begin| {
        vec![at(0, 1, txn(1, SI, &[], &[(X, 1)])), at(begin, 2, txn(2, SI, &[], &[(X, 2)]))]
    };
    expect(of(0), Anomaly::WriteOverlap);
    expect_clean(of(1));
}

#[test]
fn write_skew() {
    let of = |level| {
        vec![
            txn(1, level, &[(X, 0), (Y, 0)], &[(X, 1)]),
            txn(2, level, &[(X, 0), (Y, 0)], &[(Y, 2)]),
        ]
    };
    let report = expect(of(SER), Anomaly::WriteSkew);
    assert_eq!(report.violations()[0].keys, [X.into(), Y.into()]);
    expect_clean(of(SI));
    let timed = vec![at(0, 1, of(SER)[0].clone()), at(0, 2, of(SER)[1].clone())];
    expect(timed, Anomaly::WriteSkew);
    // Each to its own: one of the two at SNAPSHOT may be skipped.
    expect_clean(vec![of(SI)[0].clone(), of(SER)[1].clone()]);
    // The same history can be asked whether it was serializable.
    let skew = history(of(SI)).check(&Options::at(SER));
    assert!(skew.anomalies().contains(&Anomaly::WriteSkew));
}

#[test]
fn cycle_of_three_overwritten_reads() {
    expect(
        vec![
            txn(1, SER, &[(1, 0)], &[(2, 1)]),
            txn(2, SER, &[(2, 0)], &[(3, 1)]),
            txn(3, SER, &[(3, 0)], &[(1, 1)]),
        ],
        Anomaly::G2Item,
    );
}

#[test]
fn long_fork() {
    let of = |level| {
        vec![
            txn(1, level, &[], &[(X, 1)]),
            txn(2, level, &[], &[(Y, 2)]),
            txn(3, level, &[(X, 1), (Y, 0)], &[]),
            txn(4, level, &[(X, 0), (Y, 2)], &[]),
        ]
    };
    for level in [SI, SER] {
        let report = expect(of(level), Anomaly::LongFork);
        assert_eq!(report.violations()[0].transactions.len(), 4);
    }
    expect_clean(of(RC));
}

#[test]
fn aborted_read() {
    for level in [RC, SI, SER] {
        let aborted =
            TransactionRecord { status: Status::Aborted, ..txn(1, level, &[], &[(X, 1)]) };
        expect(vec![aborted, txn(2, level, &[(X, 1)], &[])], Anomaly::G1a);
    }
}

#[test]
fn a_transaction_of_unknown_end_has_committed_if_seen() {
    let unknown = |level| TransactionRecord {
        status: Status::Unknown,
        ..txn(1, level, &[(X, 0)], &[(X, 1), (Y, 1)])
    };
    expect_clean(vec![unknown(SI), txn(2, SI, &[(X, 0), (Y, 0)], &[])]);
    expect_clean(vec![unknown(SI), txn(2, SI, &[(X, 1), (Y, 1)], &[])]);
    expect(vec![unknown(SI), txn(2, SI, &[(X, 1), (Y, 0)], &[])], Anomaly::ReadSkew);
}

#[test]
fn intermediate_read() {
    for level in [RC, SI, SER] {
        let writer = txn(1, level, &[], &[(X, 1), (X, 2)]);
        expect(vec![writer.clone(), txn(2, level, &[(X, 1)], &[])], Anomaly::G1b);
        expect_clean(vec![writer, txn(2, level, &[(X, 2)], &[])]);
    }
}

#[test]
fn version_that_nobody_wrote() {
    expect(vec![txn(1, RC, &[(X, 9)], &[])], Anomaly::UnknownVersion);
}

#[test]
fn own_write_not_seen() {
    let mut lost = txn(1, RC, &[(X, 0)], &[(X, 1)]);
    lost.reads[0].instead_of = Some(1);
    expect(vec![lost], Anomaly::LostOwnWrite);
}

#[test]
fn write_cycle() {
    let write = |number, x: u64, y: u64| TransactionRecord {
        writes: vec![Write::new(X, number).at(x), Write::new(Y, number).at(y)],
        ..txn(number, RC, &[], &[])
    };
    let initial = || vec![Write::new(X, 0).at(0), Write::new(Y, 0).at(0)];
    let crossed = with_initial(initial(), vec![write(1, 1, 2), write(2, 2, 1)]);
    let report = crossed.check(&Options::default());
    assert_eq!(report.anomalies().into_iter().collect::<Vec<_>>(), [Anomaly::G0], "{report}");
    let straight = with_initial(initial(), vec![write(1, 1, 1), write(2, 2, 2)]);
    straight.check(&Options::default()).expect_clean();
}

#[test]
fn order_of_versions_against_commit_points() {
    let write = |number, order| {
        let writes = vec![Write::new(X, number).at(order)];
        at(0, number, TransactionRecord { writes, ..txn(number, RC, &[], &[]) })
    };
    let crossed = with_initial(vec![Write::new(X, 0).at(0)], vec![write(1, 2), write(2, 1)]);
    let report = crossed.check(&Options::default());
    let anomalies: Vec<_> = report.anomalies().into_iter().collect();
    assert_eq!(anomalies, [Anomaly::CommitOrder], "{report}");
    expect(
        vec![at(0, 1, txn(1, RC, &[], &[(X, 1)])), at(0, 1, txn(2, RC, &[], &[(X, 2)]))],
        Anomaly::CommitOrder,
    );
}

#[test]
fn circular_information_flow() {
    for level in [RC, SI, SER] {
        expect(
            vec![txn(1, level, &[(Y, 2)], &[(X, 1)]), txn(2, level, &[(X, 1)], &[(Y, 2)])],
            Anomaly::G1c,
        );
    }
}

#[test]
fn read_skew() {
    let of =
        |level| vec![txn(1, level, &[], &[(X, 1), (Y, 1)]), txn(2, level, &[(X, 0), (Y, 1)], &[])];
    for level in [SI, SER] {
        expect(of(level), Anomaly::ReadSkew);
    }
    expect_clean(of(RC));
}

#[test]
fn snapshot_taken_late_or_early() {
    let of = |begin, version| {
        vec![
            at(0, 1, txn(1, SI, &[], &[(X, 1)])),
            at(1, 2, txn(2, SI, &[], &[(X, 2)])),
            at(begin, begin, txn(3, SI, &[(X, version)], &[])),
        ]
    };
    expect(of(1, 0), Anomaly::StaleRead);
    expect(of(1, 2), Anomaly::ReadAfterSnapshot);
    expect_clean(of(1, 1));
    let report = expect(of(2, 0), Anomaly::StaleRead);
    assert!(report.to_string().contains("txn 2 had committed version 2 at 2"), "{report}");
}

#[test]
fn reader_at_its_serialization_point() {
    let of = |point, version| {
        vec![
            at(0, 1, txn(1, SER, &[], &[(X, 1)])),
            at(point, point, txn(2, SER, &[(X, version)], &[])),
        ]
    };
    expect_clean(of(0, 0));
    expect_clean(of(1, 1));
    let report = check(of(1, 0));
    assert!(report.anomalies().contains(&Anomaly::StaleRead), "{report}");
}

#[test]
fn read_before_the_commit() {
    for level in [RC, SER] {
        let report = check(vec![
            at(0, 5, txn(1, level, &[], &[(X, 1)])),
            at(1, 3, txn(2, level, &[(X, 1)], &[(Y, 2)])),
        ]);
        assert!(report.anomalies().contains(&Anomaly::FutureRead), "{report}");
    }
}

#[test]
fn session_that_goes_back() {
    for level in [RC, SI, SER] {
        let of = |begin| {
            vec![
                at(0, 1, txn(1, level, &[], &[(X, 1)])),
                in_session(1, at(begin, 2, txn(2, level, &[], &[(Y, 2)]))),
            ]
        };
        expect(of(0), Anomaly::SessionOrder);
        expect_clean(of(1));
    }
}

#[test]
fn session_that_goes_back_without_points() {
    for level in [SI, SER] {
        let of = || {
            vec![txn(1, level, &[(X, 0)], &[(X, 1)]), in_session(1, txn(2, level, &[(X, 0)], &[]))]
        };
        expect(of(), Anomaly::SessionOrder);
        history(of()).check(&Options::default().untimed()).expect_clean();
    }
}

#[test]
fn real_time() {
    // Without points, in wall-clock time.
    let on_the_wall = |begin, end, transaction| TransactionRecord {
        wall: Some(Times { begin, end }),
        ..transaction
    };
    for level in [SI, SER] {
        let of = |begin| {
            vec![
                on_the_wall(0, 10, txn(1, level, &[], &[(X, 1)])),
                on_the_wall(begin, 30, txn(2, level, &[(X, 0)], &[])),
            ]
        };
        expect(of(20), Anomaly::RealTime);
        expect_clean(of(10));
        history(of(20)).check(&Options::default().untimed()).expect_clean();
    }
    // With points that the clock contradicts.
    expect(
        vec![
            on_the_wall(0, 10, at(0, 1, txn(1, SI, &[], &[(X, 1)]))),
            on_the_wall(20, 30, at(0, 0, txn(2, SI, &[(X, 0)], &[]))),
        ],
        Anomaly::RealTime,
    );
}

#[test]
fn serializable_but_not_strictly() {
    // In the serial order the reader would have to come first, but it began later.
    let of = |begin| {
        vec![at(0, 1, txn(1, SER, &[], &[(X, 1)])), at(begin, 3, txn(2, SER, &[(X, 0)], &[(Y, 2)]))]
    };
    expect(of(2), Anomaly::RealTime);
    expect(of(1), Anomaly::RealTime);
    expect_clean(of(0));
}

#[test]
fn stale_read_at_read_committed() {
    let of = |begin, version| {
        vec![
            at(0, 1, txn(1, RC, &[], &[(X, 1)])),
            at(1, 2, txn(2, RC, &[], &[(X, 2)])),
            at(begin, 2, txn(3, RC, &[(X, version)], &[])),
        ]
    };
    expect(of(1, 0), Anomaly::StaleRead);
    expect_clean(of(1, 1));
    expect_clean(of(1, 2));
}

#[test]
fn reads_that_go_back_at_read_committed() {
    let writers = |second: &[(u64, u64)]| {
        vec![at(0, 1, txn(1, RC, &[], &[(X, 1)])), at(1, 2, txn(2, RC, &[], second))]
    };
    let reader = |reads: &[(u64, u64)]| at(0, 2, txn(3, RC, reads, &[]));
    let with = |second: &[(u64, u64)], reads: &[(u64, u64)]| {
        [writers(second), vec![reader(reads)]].concat()
    };
    expect(with(&[(Y, 2)], &[(Y, 2), (X, 0)]), Anomaly::NonMonotonicRead);
    expect_clean(with(&[(Y, 2)], &[(X, 0), (X, 1), (Y, 2)]));
    expect(with(&[(X, 2), (Y, 2)], &[(Y, 2), (X, 1)]), Anomaly::ObservedTransactionVanishes);
    expect_clean(with(&[(X, 2), (Y, 2)], &[(X, 1), (Y, 2)]));
}

#[test]
fn repeated_reads() {
    let of =
        |level| vec![txn(1, level, &[(X, 0)], &[(X, 1)]), txn(2, level, &[(X, 0), (X, 1)], &[])];
    for level in [SI, SER] {
        let report = check(of(level));
        assert!(report.anomalies().contains(&Anomaly::NonRepeatableRead), "{report}");
    }
    expect_clean(of(RC));
}

fn scan(number: u64, level: Level, scan: Scan, writes: &[(u64, u64)]) -> TransactionRecord {
    TransactionRecord { scans: vec![scan], ..txn(number, level, &[], writes) }
}

/// Keys 1 to 3 are there, 4 and 5 are not yet.
fn with_room(transactions: Vec<TransactionRecord>) -> History {
    let there = (1..=3).map(|key| Write::new(key, 0));
    let room = (4..=5).map(|key| Write::dead(key, 0));
    with_initial(there.chain(room).collect(), transactions)
}

#[track_caller]
fn expect_with_room(transactions: Vec<TransactionRecord>, anomalies: &[Anomaly]) {
    let report = with_room(transactions).check(&Options::default());
    assert_eq!(report.anomalies().into_iter().collect::<Vec<_>>(), anomalies, "{report}");
}

#[test]
fn phantom() {
    let all = || Scan::of_keys(1, 5).found(1, 0).found(2, 0).found(3, 0);
    // Two transactions count the rows and each add one: the predicate form of write skew.
    let skew = |level| vec![scan(1, level, all(), &[(4, 1)]), scan(2, level, all(), &[(5, 2)])];
    expect_with_room(skew(SER), &[Anomaly::Phantom]);
    expect_with_room(skew(SI), &[]);
    // With points, at the snapshot.
    let late = |begin, level| {
        vec![at(0, 1, txn(1, level, &[], &[(4, 1)])), at(begin, begin, scan(2, level, all(), &[]))]
    };
    expect_with_room(late(1, SI), &[Anomaly::Phantom]);
    expect_with_room(late(1, RC), &[Anomaly::Phantom]);
    for level in [RC, SI, SER] {
        expect_with_room(late(0, level), &[]);
    }
    // Half of what one transaction inserted.
    let half =
        |level| vec![txn(1, level, &[], &[(4, 1), (5, 1)]), scan(2, level, all().found(4, 1), &[])];
    expect_with_room(half(SI), &[Anomaly::Phantom]);
    expect_with_room(half(RC), &[]);
}

#[test]
fn deletion() {
    let delete = at(
        0,
        1,
        TransactionRecord { writes: vec![Write::dead(2, 1)], ..txn(1, SI, &[(2, 0)], &[]) },
    );
    let scans = |begin, scanned| vec![delete.clone(), at(begin, begin, scan(2, SI, scanned, &[]))];
    let before = || Scan::of_keys(1, 3).found(1, 0).found(2, 0).found(3, 0);
    let after = || Scan::of_keys(1, 3).found(1, 0).found(3, 0);
    expect_with_room(scans(0, before()), &[]);
    expect_with_room(scans(1, after()), &[]);
    expect_with_room(scans(1, before()), &[Anomaly::StaleRead]);
    expect_with_room(scans(0, after()), &[Anomaly::Phantom]);
    let absent = |begin| {
        let reader = TransactionRecord { reads: vec![Read::absent(2)], ..txn(2, SI, &[], &[]) };
        vec![delete.clone(), at(begin, begin, reader)]
    };
    expect_with_room(absent(1), &[]);
    expect_with_room(absent(0), &[Anomaly::StaleRead]);
    let own = Scan { own: vec![2.into()], ..after() };
    let writer = TransactionRecord { writes: vec![Write::dead(2, 2)], ..scan(2, SI, own, &[]) };
    expect_with_room(vec![at(0, 1, writer)], &[]);
}

#[test]
fn scan_of_a_secondary_index() {
    let age = |key, version, age: u64| Write::new(key, version).indexed("age", age);
    let initial = || vec![age(X, 0, 30), age(Y, 0, 40)];
    let birthday = || {
        at(0, 1, TransactionRecord { writes: vec![age(X, 1, 31)], ..txn(1, SI, &[(X, 0)], &[]) })
    };
    let expect = |begin, scanned: Scan, anomalies: &[Anomaly]| {
        let reader = at(begin, begin, scan(2, SI, scanned, &[]));
        let report = with_initial(initial(), vec![birthday(), reader]).check(&Options::default());
        assert_eq!(report.anomalies().into_iter().collect::<Vec<_>>(), anomalies, "{report}");
    };
    let thirty = || Scan::of_index("age", 30, 30);
    let older = || Scan::of_index("age", 31, 50).found(Y, 0);
    expect(0, thirty().found(X, 0), &[]);
    expect(1, thirty(), &[]);
    expect(0, thirty(), &[Anomaly::Phantom]);
    expect(1, thirty().found(X, 0), &[Anomaly::StaleRead]);
    expect(0, older(), &[]);
    expect(1, older().found(X, 1), &[]);
    expect(1, older(), &[Anomaly::Phantom]);
    expect(1, thirty().found(X, 1), &[Anomaly::ScanMismatch]);
}

#[test]
fn clean_histories() {
    expect_clean(vec![]);
    for level in [RC, SI, SER] {
        expect_clean(vec![
            at(0, 1, txn(1, level, &[(X, 0), (Y, 0)], &[(X, 1), (Y, 1)])),
            at(1, 2, txn(2, level, &[(X, 1)], &[(X, 2)])),
            at(1, 3, txn(3, level, &[(Y, 1)], &[(Y, 3)])),
            at(3, 3, txn(4, level, &[(X, 2), (Y, 3)], &[])),
            in_session(4, at(3, 3, txn(5, level, &[(X, 2)], &[]))),
        ]);
    }
}

#[test]
fn the_shortest_cycle_comes_first() {
    let mut transactions =
        vec![txn(1, SER, &[(3, 0), (4, 0)], &[(3, 1)]), txn(2, SER, &[(3, 0), (4, 0)], &[(4, 1)])];
    transactions.extend([
        txn(5, SER, &[], &[(X, 5)]),
        txn(6, SER, &[], &[(Y, 6)]),
        txn(7, SER, &[(X, 5), (Y, 0)], &[]),
        txn(8, SER, &[(X, 0), (Y, 6)], &[]),
    ]);
    let report = check(transactions);
    let lengths: Vec<_> = report.violations().iter().map(|v| v.transactions.len()).collect();
    assert_eq!(lengths, [2, 4], "{report}");
}

/// The version after the one that hid the key hides it too: the scan must come before the one that
/// brings the key in all the same.
#[test]
fn phantom_beyond_a_change_that_does_not_matter() {
    let of = |last: u64| {
        let age = |key, version, age: u64| Write::new(key, version).indexed("age", age);
        let write = |t, write| TransactionRecord { writes: vec![write], ..t };
        let thirty = Scan::of_index("age", 30, 30);
        let transactions = vec![
            at(0, 3, scan(1, SER, thirty, &[(Y, 1)])),
            at(2, 4, write(txn(2, RC, &[], &[]), age(X, 2, 11))),
            at(2, 5, write(txn(3, SER, &[(Y, 0)], &[]), age(X, 3, last))),
        ];
        let initial = vec![age(X, 0, 10), Write::new(Y, 0)];
        with_initial(initial, transactions).check(&Options::default())
    };
    let report = of(30);
    assert_eq!(report.anomalies().into_iter().collect::<Vec<_>>(), [Anomaly::Phantom], "{report}");
    of(12).expect_clean();
}
