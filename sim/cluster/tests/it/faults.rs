// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans of faults: what files say, what is refused, what a plan does to frames, and how it shrinks.

use cluster::engine::{Class, Endpoint, NodeId, Stage};
use cluster_sim::faults::{
    ActivePlan, Dangers, Fate, Fault, FaultKind, FaultPlan, Faults, FrameNote, Frames, Happening,
    NodeName,
};
use timing::Time;

const DANGERS: Dangers = Dangers {
    nodes: 5,
    tolerated: 2,
    span_ns: 400_000,
    lease_ns: 60_000,
    loss_ns: 200_000,
    skew_ns: 8_000,
};

fn frame(from: u16, to: u16, stage: Stage) -> FrameNote {
    let (from, to) = (Endpoint::host(NodeId(from), 0), Endpoint::host(NodeId(to), 0));
    FrameNote { from, to, class: Class::Foreground, stage, number: 0 }
}

#[test]
fn drawn_plans_are_right_and_survive_a_file() {
    seeds::each!(200, |seed| {
        for draw in [FaultPlan::draw, FaultPlan::outlive_lease, FaultPlan::lone_record] {
            let plan = draw(seed, &DANGERS);
            plan.check(DANGERS.nodes).map_err(|error| format!("{error}\n{}", plan.to_toml()))?;
            assert_eq!(FaultPlan::parse(&plan.to_toml(), DANGERS.nodes).as_ref(), Ok(&plan));
            assert_eq!(draw(seed, &DANGERS), plan);
        }
        Ok::<(), String>(())
    });
}

#[test]
fn every_kind_is_drawn() {
    let plans = (0..300).map(|seed| FaultPlan::draw(seed, &DANGERS));
    let all: Vec<FaultKind> =
        plans.flat_map(|plan| plan.faults).map(|fault| fault.kind()).collect();
    for kind in FaultKind::ALL {
        assert!(all.contains(&kind), "{} is never drawn", kind.name());
    }
}

/// What a plan of one line each is refused with.
#[test]
fn contradictions_are_refused_by_entry_field_and_value() {
    let refused = [
        (r#"kind = "crash", node = 3, at_ns = 5"#, "fault 1: node: 3; expected a node from 0 to 2"),
        (r#"kind = "crash", node = 0"#, "fault 1: at_ns: nothing; expected a time, or a frame"),
        (
            r#"kind = "cut", nodes = [1], others = [0, 1], from_ns = 1, until_ns = 2"#,
            "fault 1: others: 1; expected a node that is not among `nodes`, too",
        ),
        (
            r#"kind = "cut", nodes = [1], from_ns = 3, until_ns = 3"#,
            "fault 1: until_ns: 3; expected a time after from_ns, 3",
        ),
        (
            r#"kind = "drop", frames = { from = 1, to = 1 }"#,
            "fault 1: frames.to: 1; expected another node than frames.from",
        ),
        (
            r#"kind = "drop", frames = { per_mille = 1001 }"#,
            "fault 1: frames.per_mille: 1001; expected 1 to 1000",
        ),
        (r#"kind = "drop", frames = { stage = "lag" }"#, "\"lag\" is none; expected one of"),
        (r#"kind = "drop", frames = { from = "boss" }"#, "the number of a node, or \"manager\""),
        (r#"kind = "flood""#, "fault 1: kind: \"flood\"; expected one of drop, delay, reorder"),
        (r#"node = 1"#, "fault 1: kind: missing; expected one of drop"),
        (r#"kind = 7, node = 1"#, "fault 1: kind: 7; expected one of drop"),
        (
            r#"kind = "crash", node = 65536, at_ns = 1"#,
            "fault 1: node: invalid value: integer `65536`, expected u16",
        ),
        (
            r#"kind = "crash", node = "one", at_ns = 1"#,
            "fault 1: node: invalid type: string \"one\", expected u16",
        ),
        (r#"kind = "crash", at_ns = 1"#, "fault 1: kind: missing field `node` (of `crash`)"),
        (
            r#"kind = "drop", frames = { nth = -1 }"#,
            "fault 1: frames.nth: invalid value: integer `-1`, expected u",
        ),
        (r#"kind = "pause", node = 0, at_ns = 1, for_ns = 0"#, "fault 1: for_ns: 0; expected 1 to"),
        (
            r#"kind = "slow", node = 0, factor = 0, from_ns = 1, until_ns = 2"#,
            "fault 1: factor: 0; expected 1 to 1000000 thousandths of the usual time",
        ),
        (
            r#"kind = "clock", node = 0, at_ns = 1, drift_ppm = -600000"#,
            "fault 1: drift_ppm: -600000; expected -500000 to 500000",
        ),
        (r#"kind = "crash", node = 0, at_ns = 1, who = 2"#, "unknown field `who`"),
    ];
    for (entry, expected) in refused {
        let text = format!("fault = [{{ {entry} }}]");
        let error = FaultPlan::parse(&text, 3).expect_err(&text).to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

/// What the cluster of three nodes says of a plan with these entries.
fn check(faults: &[Fault]) -> Result<(), String> {
    let result = FaultPlan { faults: faults.to_vec() }.check(3);
    result.map_err(|error| error.to_string())
}

fn crash(at: u64) -> Fault {
    Fault::Crash { node: 1, at_ns: Some(at), at_frame: None }
}

fn restart(at_ns: u64) -> Fault {
    Fault::Restart { node: 1, at_ns }
}

fn pause(node: u16, at_ns: u64) -> Fault {
    Fault::Pause { node, at_ns, for_ns: 5 }
}

#[test]
fn crashes_and_restarts_take_turns() {
    assert_eq!(check(&[restart(20), crash(10), crash(30)]), Ok(()));
    assert_eq!(
        check(&[crash(30), crash(10)]),
        Err("fault 1: at_ns: 30; expected a restart of the node between this and fault 2, its crash \
             at 10 ns"
            .into())
    );
    assert!(check(&[crash(10), restart(10)]).is_err());
    let at_frame = Some(Frames { nth: Some(3), ..Frames::default() });
    let at_frame = Fault::Crash { node: 1, at_ns: None, at_frame };
    assert!(check(&[at_frame.clone(), at_frame.clone()]).is_err());
    assert!(check(&[at_frame.clone(), crash(10)]).is_err());
    assert_eq!(check(&[at_frame.clone(), restart(10)]), Ok(()));
    assert_eq!(check(&[at_frame, restart(10), crash(20)]), Ok(()));
}

#[test]
fn a_node_that_nothing_has_ended_is_not_restarted() {
    let expected = "expected a time after a crash of node 1, or after another fault by which its process \
                    may end";
    assert_eq!(check(&[restart(20)]), Err(format!("fault 1: at_ns: 20; {expected}")));
    assert_eq!(
        check(&[crash(10), restart(20), restart(30)]),
        Err(format!("fault 3: at_ns: 30; {expected}"))
    );
    assert_eq!(
        check(&[restart(10), crash(20)]),
        Err(format!("fault 1: at_ns: 10; {expected}; fault 2 crashes it at 20 ns"))
    );
    // It may have ended itself because of these.
    let drop = |to: u16| Fault::Drop {
        frames: Frames {
            from: Some(NodeName(NodeId(0))),
            to: Some(NodeName(NodeId(to))),
            ..Frames::default()
        },
    };
    assert_eq!(check(&[drop(1), restart(20)]), Ok(()));
    assert!(check(&[drop(2), restart(20)]).is_err());
    assert_eq!(check(&[pause(1, 10), restart(20)]), Ok(()));
    assert!(check(&[pause(1, 30), restart(20)]).is_err(), "later");
    assert!(check(&[pause(2, 10), restart(20)]).is_err(), "another node");
    let cut = |node: u16| {
        let (nodes, others) = (vec![NodeName(NodeId(node))], vec![NodeName(NodeId::MANAGER)]);
        Fault::Cut { nodes, others, from_ns: 1, until_ns: 9, one_way: true }
    };
    assert_eq!(check(&[cut(1), restart(20)]), Ok(()));
    assert!(check(&[cut(0), restart(20)]).is_err());
}

#[test]
fn nothing_else_happens_to_a_node_that_is_down() {
    let down = "expected a time when node 1 runs; it is down from 10 ns on by fault 1";
    let (until, ever) = (" until fault 2 restarts it at 40 ns", ", and nothing restarts it");
    let slow = |from_ns, until_ns| Fault::Slow { node: 1, factor: 2000, from_ns, until_ns };
    let clock = |at_ns| Fault::Clock { node: 1, at_ns, ahead_ns: 1, drift_ppm: 0 };
    let from_it = Frames { from: Some(NodeName(NodeId(1))), ..Frames::default() };
    let drop = |from| Fault::Drop { frames: Frames { from_ns: Some(from), ..from_it.clone() } };
    let cut = |node: u16| {
        let nodes = vec![NodeName(NodeId(1)), NodeName(NodeId(node))];
        Fault::Cut { nodes, others: Vec::new(), from_ns: 20, until_ns: 30, one_way: false }
    };
    let refused =
        [(pause(1, 20), "at_ns: 20"), (slow(15, 40), "from_ns: 15"), (cut(1), "nodes: 1")];
    for (fault, field) in refused {
        let error = format!("fault 3: {field}; {down}{until}");
        assert_eq!(check(&[crash(10), restart(40), fault.clone()]), Err(error));
        let error = format!("fault 2: {field}; {down}{ever}");
        assert_eq!(check(&[crash(10), fault]), Err(error));
    }
    for (fault, field) in [(clock(20), "at_ns: 20"), (drop(20), "frames.from: 1")] {
        let error = format!("fault 2: {field}; {down}{ever}");
        assert_eq!(check(&[crash(10), fault.clone()]), Err(error));
        assert_eq!(check(&[crash(10), restart(40), fault]), Ok(()), "it matters afterwards");
    }
    for fault in
        [pause(1, 5), pause(1, 40), pause(2, 20), slow(5, 20), slow(20, 41), drop(5), cut(2)]
    {
        assert_eq!(check(&[crash(10), restart(40), fault.clone()]), Ok(()), "{fault:?}");
    }
}

#[test]
fn what_comes_after_the_run_is_refused() {
    let frames = |from_ns, until_ns| Frames { from_ns, until_ns, ..Frames::default() };
    let name = || vec![NodeName(NodeId(1))];
    let cut = |until_ns| Fault::Cut {
        nodes: name(),
        others: vec![],
        from_ns: 1,
        until_ns,
        one_way: false,
    };
    let refused = [
        (crash(100), "at_ns: 100; expected a time before 100 ns, the end of the run"),
        (restart(150), "at_ns: 150; expected a time before 100 ns, the end of the run"),
        (cut(101), "until_ns: 101; expected a time up to 100 ns, the end of the run"),
        (pause(1, 96), "for_ns: 5 after 96; expected a time and an end up to 100 ns"),
        (
            Fault::Drop { frames: frames(Some(100), None) },
            "frames.from_ns: 100; expected a time before 100 ns",
        ),
        (
            Fault::Drop { frames: frames(None, Some(200)) },
            "frames.until_ns: 200; expected a time up to 100 ns",
        ),
        (
            Fault::Delay { frames: frames(None, None), by_ns: 101 },
            "by_ns: 101; expected at most 100 ns, the length of the run (warm_up_us and duration_us)",
        ),
    ];
    let within =
        |fault: &Fault| FaultPlan { faults: vec![pause(0, 1), fault.clone()] }.check_within(100);
    for (fault, expected) in refused {
        let error = within(&fault).expect_err("too late").to_string();
        assert!(error.starts_with(&format!("fault 2: {expected}")), "{error}");
    }
    let any = Fault::Drop { frames: Frames::default() };
    for fault in [crash(99), cut(100), pause(1, 95), any] {
        assert_eq!(within(&fault), Ok(()), "{fault:?}");
    }
}

#[test]
fn crashes_and_restarts_count_when_they_happen() {
    let mut active = ActivePlan::new(&FaultPlan::default(), Time::MAX);
    active.fate(Time::from_ns(1), &frame(0, 1, Stage::Log));
    active.happened(Time::from_ns(2), NodeId(0), &Happening::Crash);
    active.happened(Time::from_ns(3), NodeId(0), &Happening::Restart);
    let hits = active.view().get();
    assert_eq!(hits.of(FaultKind::Crash, Stage::Log), 1);
    assert_eq!(hits.of(FaultKind::Restart, Stage::Log), 1);
}

#[test]
fn a_plan_does_to_frames_what_it_says() {
    let plan = FaultPlan::parse(
        r#"
        [[fault]]
        kind = "drop"
        frames = { from = 0, stage = "log", nth = 1 }
        [[fault]]
        kind = "cut"
        nodes = [2]
        from_ns = 100
        until_ns = 200
        one_way = true
        [[fault]]
        kind = "delay"
        frames = { stage = "backup", until_ns = 50 }
        by_ns = 7
        [[fault]]
        kind = "duplicate"
        frames = { to = "manager" }
        after_ns = 9
        [[fault]]
        kind = "crash"
        node = 1
        at_frame = { from = 1, stage = "primary", nth = 0 }
        "#,
        3,
    )
    .unwrap();
    let mut active = ActivePlan::new(&plan, Time::from_ns(1000));
    let mut fate = |ns, from, to, stage| {
        let fate = active.fate(Time::from_ns(ns), &frame(from, to, stage));
        (fate, active.due())
    };
    assert_eq!(fate(1, 0, 1, Stage::Log), (Fate::Deliver, None));
    assert_eq!(fate(2, 0, 2, Stage::Log), (Fate::Drop, None));
    assert_eq!(fate(3, 0, 1, Stage::Backup), (Fate::Delay(Time::from_ns(7)), None));
    assert_eq!(fate(60, 0, 1, Stage::Backup), (Fate::Deliver, None));
    let manager = NodeId::MANAGER.0;
    let twice = |delay, after| {
        let [delay, after] = [delay, after].map(Time::from_ns);
        (Fate::Duplicate { delay, after }, None)
    };
    assert_eq!(fate(61, 0, manager, Stage::Membership), twice(0, 9));
    assert_eq!(fate(150, 2, 1, Stage::Execute), (Fate::Drop, None));
    assert_eq!(fate(150, 1, 2, Stage::Execute), (Fate::Deliver, None));
    assert_eq!(fate(200, 2, 1, Stage::Execute), (Fate::Deliver, None));
    let (happens, due) = fate(201, 1, 0, Stage::Primary);
    assert_eq!((happens, due.map(|due| due.0)), (Fate::Deliver, Some(NodeId(1))));
    active.happened(Time::from_ns(201), NodeId(1), &Happening::Crash);
    let mut fate = |ns, from, to, stage| active.fate(Time::from_ns(ns), &frame(from, to, stage));
    // All is well again.
    assert_eq!(fate(1000, 0, manager, Stage::Membership), Fate::Deliver);
    let hits = active.view().get();
    assert_eq!(hits.of(FaultKind::Drop, Stage::Log), 1);
    assert_eq!(hits.of(FaultKind::Cut, Stage::Execute), 1);
    assert_eq!(hits.of(FaultKind::Crash, Stage::Primary), 1);
}

#[test]
fn the_end_of_slowness_does_not_end_another() {
    let slow = |node, factor, from_ns, until_ns| Fault::Slow { node, factor, from_ns, until_ns };
    let turns = |faults: &[Fault], until| {
        let active = ActivePlan::new(&FaultPlan { faults: faults.to_vec() }, Time::from_ns(until));
        let turn = |(at, node, happening): &(Time, NodeId, Happening)| match happening {
            Happening::Slow { factor } => (at.as_ps() / 1000, node.0, *factor),
            other => panic!("{other:?}"),
        };
        active.happenings().iter().map(turn).collect::<Vec<_>>()
    };
    let inner = [slow(1, 2000, 10, 90), slow(1, 5000, 20, 40), slow(2, 3000, 30, 50)];
    let expected =
        [(10, 1, 2000), (20, 1, 5000), (30, 2, 3000), (40, 1, 2000), (50, 2, 1000), (90, 1, 1000)];
    assert_eq!(turns(&inner, 1000), expected);
    let overlap = [slow(1, 5000, 10, 40), slow(1, 2000, 20, 60), slow(1, 700, 60, 80)];
    let expected = [(10, 1, 5000), (20, 1, 5000), (40, 1, 2000), (60, 1, 700), (80, 1, 1000)];
    assert_eq!(turns(&overlap, 1000), expected);
    assert_eq!(turns(&inner, 25), [(10, 1, 2000), (20, 1, 5000), (25, 1, 1000), (25, 2, 1000)]);
}

#[test]
fn faults_of_one_frame_do_not_end_each_other() {
    let frames = || Frames { from: Some(NodeName(NodeId(0))), ..Frames::default() };
    let delay = |by_ns| Fault::Delay { frames: frames(), by_ns };
    let twice = |after_ns| Fault::Duplicate { frames: frames(), after_ns };
    let cut = |from_ns, until_ns| {
        let nodes = vec![NodeName(NodeId(0))];
        Fault::Cut { nodes, others: Vec::new(), from_ns, until_ns, one_way: false }
    };
    let faults = vec![delay(3), twice(9), delay(4), twice(5), cut(10, 40), cut(20, 30)];
    let mut active = ActivePlan::new(&FaultPlan { faults }, Time::from_ns(1000));
    let mut fate = |ns| active.fate(Time::from_ns(ns), &frame(0, 1, Stage::Log));
    let late_and_twice = Fate::Duplicate { delay: Time::from_ns(7), after: Time::from_ns(9) };
    assert_eq!(fate(1), late_and_twice);
    assert_eq!([10, 25, 35].map(&mut fate), [Fate::Drop; 3]);
    assert_eq!(fate(40), late_and_twice);
}

#[test]
fn shrinking_keeps_what_is_needed() {
    seeds::each!(30, |seed| {
        let mut plan = FaultPlan::draw(seed, &DANGERS);
        let needed = [
            Fault::Pause { node: 1, at_ns: 77, for_ns: 3 },
            Fault::Drop {
                frames: Frames {
                    to: Some(NodeName(NodeId(3))),
                    from_ns: Some(0),
                    until_ns: Some(4096),
                    ..Frames::default()
                },
            },
        ];
        plan.faults.insert(0, needed[0].clone());
        plan.faults.push(needed[1].clone());
        let drops_at_100 = |fault: &Fault| {
            matches!(fault, Fault::Drop { frames: Frames { from_ns: Some(from),
                until_ns: Some(until), to: Some(NodeName(NodeId(3))), .. } }
                if (*from..*until).contains(&100))
        };
        let small = plan.shrink(200, |plan| {
            plan.faults.contains(&needed[0]) && plan.faults.iter().any(drops_at_100)
        });
        assert_eq!(small.faults.len(), 2, "{}", small.to_toml());
        let Some(Frames { from_ns, until_ns, .. }) = small.faults[1].frames() else { panic!() };
        assert_eq!((*from_ns, *until_ns), (Some(100), Some(101)));
    });
}
