// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directed tests: particular situations, each by itself.

use std::collections::VecDeque;

use conformance::case::{Agent, Buses, Case, Key, LockTableShape, Side, Step};
use conformance::{ALL_PHASES, Coverage, Summary, draw, run};
use driver::lock_unit::LockUnit as Driver;
use driver::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use sim::bus::axi4::{AccessKind, Delay};
use sim::bus::test_memory::{ErrorInjection, PerformedAccess, TestMemory, TestMemoryConfig};
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;

const BASE: u64 = 0x4000;
/// Cycles of 4 ns in the 800 ns from the device to host memory.
const FAR: u32 = 200;

/// The unit and a memory, without agents.
struct Plain {
    unit: UnitUnderTest<TupleLockUnit>,
    memory: TestMemory,
    /// Cycles in which the unit took a request.
    taken: Vec<u64>,
    most_in_flight: usize,
}

impl Plain {
    fn new(log2_buckets: u32, latency: u32) -> Self {
        let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
        let mut driver = Driver::new(&mut unit);
        driver.configure(BASE, log2_buckets).unwrap();
        driver.enable().unwrap();
        let memory = TestMemory::new(TestMemoryConfig {
            base: BASE,
            lines: 1 << log2_buckets,
            seed: 0,
            latency: Delay { minimum: latency, maximum: latency },
            errors: ErrorInjection::None,
        });
        Self { unit, memory, taken: Vec::new(), most_in_flight: 0 }
    }

    fn ask(&mut self, tag: usize, transaction: u64, operation: UnitOperation) {
        let tag = Tag::new(tag as u8).unwrap();
        let transaction = Timestamp::new(transaction).unwrap();
        self.unit.request(UnitRequest { tag, transaction, operation });
    }

    fn clock(&mut self) {
        let cycle = self.unit.cycle();
        if self.unit.clock().unwrap() {
            self.taken.push(cycle);
        }
        self.most_in_flight = self.most_in_flight.max(self.unit.accesses_outstanding());
        self.memory.step(cycle, self.unit.memory_port());
        while let Some(address) = self.memory.take_invalidation() {
            self.unit.invalidate(address);
        }
    }

    /// Clocks the unit until so many responses have come.
    fn responses(&mut self, count: usize) -> VecDeque<UnitResponse> {
        let mut responses = VecDeque::new();
        for _ in 0..10_000 {
            self.clock();
            responses.extend(std::iter::from_fn(|| self.unit.take_response()));
            if responses.len() >= count {
                return responses;
            }
        }
        panic!("{} of {count} responses came in 10000 cycles", responses.len());
    }
}

fn acquire(vid: u64) -> UnitOperation {
    UnitOperation::Acquire(TupleKey::new(vid, 0), Rule::Queue)
}

#[test]
fn an_idle_unit_takes_one_request_per_clock_and_has_128_in_flight() {
    let mut plain = Plain::new(7, FAR);
    for tag in 0..TAGS {
        plain.ask(tag, tag as u64 + 1, acquire(tag as u64));
    }
    let responses = plain.responses(TAGS);
    assert!(responses.iter().all(|response| response.code == Code::Granted && !response.again));
    let first = plain.taken[0];
    let expected: Vec<_> = (first..first + TAGS as u64).collect();
    assert_eq!(plain.taken, expected, "the cycles in which requests were taken");
    assert_eq!(plain.most_in_flight, TAGS, "accesses in flight at a latency of {FAR} cycles");
}

/// What docs/lock-unit.md says of the stages: an uncontended lock, from the clock in which its
/// request is taken to that in which its response is offered.
#[test]
fn an_uncontended_lock_takes_thirteen_clocks_besides_those_of_memory() {
    for latency in [1, 10, FAR] {
        let mut plain = Plain::new(3, latency);
        plain.ask(1, 11, acquire(0));
        assert_eq!(plain.responses(1)[0].code, Code::Granted);
        let clocks = plain.unit.cycle() - plain.taken[0];
        assert_eq!(clocks, 13 + u64::from(latency), "clocks at a latency of {latency}");
    }
}

/// A cancel waits for a read of its target; what other waiters wait for is read meanwhile, whichever
/// tags they have.
#[test]
fn a_cancel_that_waits_for_its_target_holds_up_no_other_waiter() {
    let vid = |bucket| (0..).find(|&vid| TupleKey::new(vid, 0).mix() & 3 == bucket).unwrap();
    for (target, before, other) in [(0, 100, 5), (5, 100, 0), (6, 5, 7), (127, 126, 3)] {
        let mut plain = Plain::new(2, FAR);
        let waiters = [(target, 0), (before, 1), (other, 2)];
        for (tag, bucket) in [(120, 0), (121, 1), (122, 2)].into_iter().chain(waiters) {
            plain.ask(tag, tag as u64 + 1, acquire(vid(bucket)));
            plain.responses(1);
        }
        // All three have their copies; then all become void, that of the target first.
        (0..4 * FAR).for_each(|_| plain.clock());
        assert_eq!(plain.unit.accesses_outstanding(), 0);
        for line in [0, 1] {
            plain.unit.invalidate(BASE + 64 * line);
            (0..10).for_each(|_| plain.clock());
        }
        let cancel = UnitOperation::Cancel(Tag::new(target as u8).unwrap());
        plain.ask(123, target as u64 + 1, cancel);
        (0..10).for_each(|_| plain.clock());
        assert_eq!(plain.unit.accesses_outstanding(), 2, "lines of {target}, {before}");
        plain.unit.invalidate(BASE + 64 * 2);
        (0..10).for_each(|_| plain.clock());
        assert_eq!(plain.unit.accesses_outstanding(), 3, "that of {other} is read, too");
        assert_eq!(plain.responses(1)[0].code, Code::Cancelled);
    }
}

#[test]
fn one_request_per_clock_is_sustained_when_memory_can_follow() {
    const REQUESTS: usize = 2_000;
    let mut plain = Plain::new(11, 20);
    let mut asked = 0;
    let mut free: VecDeque<usize> = (0..TAGS).collect();
    let mut done = 0;
    while done < REQUESTS {
        while let Some(tag) = free.pop_front().filter(|_| asked < REQUESTS) {
            plain.ask(tag, asked as u64 + 1, acquire(asked as u64));
            asked += 1;
        }
        for response in plain.responses(1) {
            assert_eq!(response.code, Code::Granted);
            free.push_back(response.tag.index());
            done += 1;
        }
    }
    let cycles = plain.taken[REQUESTS - 1] - plain.taken[0] + 1;
    assert_eq!(cycles, REQUESTS as u64, "cycles for {REQUESTS} requests");
}

#[test]
fn a_poll_is_served_from_the_copy_until_the_line_changes() {
    let mut plain = Plain::new(0, 10);
    plain.ask(1, 11, acquire(0));
    assert_eq!(plain.responses(1)[0].code, Code::Granted);
    plain.ask(2, 12, acquire(0));
    assert_eq!(plain.responses(1)[0].code, Code::Queued);
    // Until the copy is there; nothing else changes the line now.
    let mut reads = Vec::new();
    let waiter = UnitOperation::Poll(Tag::new(2).unwrap());
    for poll in 0..6 {
        plain.ask(3, 12, waiter);
        let answer = plain.responses(1)[0];
        assert_eq!((answer.code, answer.position), (Code::Queued, 1), "poll {poll}");
        let log = plain.memory.take_log();
        reads.push(
            log.iter().filter(|p| matches!(p.access.kind, AccessKind::ReadLine { .. })).count(),
        );
    }
    assert_eq!(reads[2..], [0; 4], "reads of the line per poll: {reads:?}");
    plain.ask(1, 11, UnitOperation::Release(TupleKey::new(0, 0)));
    let codes: Vec<_> = plain.responses(2).iter().map(|r| (r.code, r.notice)).collect();
    assert_eq!(codes, [(Code::Released, false), (Code::Granted, true)]);
    let counters = Driver::new(&mut plain.unit).counters().unwrap();
    assert_eq!(counters.polls_from_copy + counters.polls_that_read, 6);
    assert!(counters.polls_from_copy >= 4, "{counters:?}");
}

/// Of beats that come one behind the other, only the first voids a copy. No beat does whose address differs from the
/// line's in bits 11:6.
#[test]
fn only_beats_that_void_a_copy_are_counted() {
    let mut plain = Plain::new(2, 10);
    for (tag, code) in [(1, Code::Granted), (2, Code::Queued)] {
        plain.ask(tag, tag as u64 + 10, acquire(0));
        assert_eq!(plain.responses(1)[0].code, code, "tag {tag}");
    }
    let watched = TupleKey::new(0, 0).mix() & 3;
    let other = watched ^ 1;
    let mut voided = Vec::new();
    for (line, beats) in [(watched, 0), (other, 3), (watched, 1), (watched, 3), (watched + 64, 1)] {
        for _ in 0..beats {
            plain.unit.invalidate(BASE + 64 * line);
        }
        // Until the line was read again.
        (0..100).for_each(|_| plain.clock());
        assert_eq!(plain.unit.accesses_outstanding(), 0, "accesses after beats of line {line}");
        voided.push(Driver::new(&mut plain.unit).counters().unwrap().copies_voided);
    }
    let new: Vec<_> = voided.iter().map(|count| count - voided[0]).collect();
    assert_eq!(new, [0, 0, 1, 2, 3], "counted after each group of beats");
}

const LINES: u64 = 64;

/// A unit of which all tags but one wait, in 64 lines that differ in bits 11:6 of their addresses: tag t in line t % 64.
/// All have their copies.
fn all_wait() -> Plain {
    let mut plain = Plain::new(LINES.ilog2(), 10);
    let key_of = |line| (0..).find(|&n| TupleKey::new(n, 0).mix() % LINES == line).unwrap();
    for line in 0..LINES {
        plain.ask(0, 1, acquire(key_of(line)));
        assert_eq!(plain.responses(1)[0].code, Code::Granted, "line {line}");
    }
    for tag in 1..TAGS {
        plain.ask(tag, tag as u64 + 1, acquire(key_of(tag as u64 % LINES)));
        assert_eq!(plain.responses(1)[0].code, Code::Queued, "tag {tag}");
    }
    (0..2_000).for_each(|_| plain.clock());
    plain.memory.take_log();
    plain
}

/// After a beat the waiters of its line read that line again, and no others do, whichever lines had beats before.
#[test]
fn a_beat_voids_the_copies_of_its_line_alone() {
    let mut plain = all_wait();
    // Twice, and in an order in which lines follow each other that differ in any of the bits.
    for beat in 0..2 * LINES {
        let line = beat * 37 % LINES;
        plain.unit.invalidate(BASE + 64 * line);
        (0..100).for_each(|_| plain.clock());
        let mut readers: Vec<_> = plain.memory.take_log().iter().map(reader).collect();
        readers.sort_unstable();
        let waiters: Vec<_> = (1..TAGS).filter(|&tag| tag as u64 % LINES == line).collect();
        assert_eq!(readers, waiters, "tags that read after beat {beat}, of line {line}");
    }
    let counters = Driver::new(&mut plain.unit).counters().unwrap();
    assert!(counters.copies_voided >= 2 * LINES, "{counters:?}");
}

/// Where all copies become void again and again, each waiter reads its line in its turn: between two of its reads each
/// of the others reads once.
#[test]
fn waiters_read_in_turn() {
    let mut plain = all_wait();
    for clock in 0..10_000 {
        plain.unit.invalidate(BASE + 64 * (clock % LINES));
        plain.clock();
    }
    let readers: Vec<_> = plain.memory.take_log().iter().map(reader).collect();
    // The first round begins while some still have their copies.
    let rounds = readers[2 * TAGS..].windows(TAGS - 1);
    assert!(rounds.len() > 10 * TAGS, "{} reads", readers.len());
    for round in rounds {
        let mut tags = round.to_vec();
        tags.sort_unstable();
        assert_eq!(tags, Vec::from_iter(1..TAGS), "{round:?}");
    }
}

/// The tag that reads a line: the low bits of the id.
fn reader(performed: &PerformedAccess) -> usize {
    assert!(matches!(performed.access.kind, AccessKind::ReadLine { .. }), "{performed:?}");
    usize::from(performed.access.id) % TAGS
}

// ------------------------------------------------------------------ on the bench

/// Agents on one line, on buses without stalls.
fn on_one_line(agents: Vec<Agent>) -> Case {
    let buses = Buses {
        stream_stalls: 0,
        memory_stalls: 0,
        stall_run: 0,
        latency: 0,
        response_delay: 0,
        shuffled: false,
        errors_per_mille: 0,
        split_errors: false,
        failing_access: 0,
        beat_delay: 0,
        one_beat_for_all: false,
        host_pace: 0,
    };
    let table = LockTableShape { base: BASE, log2_buckets: 0, first_bucket: 0, lines: 1 };
    let keys = vec![Key { vid: 0x1234_5678_9ABC, version: 7 }];
    Case { seed: 1, table, keys, buses, tags: 32, agents }
}

fn device(timestamp: u64, script: &[Step]) -> Agent {
    Agent {
        side: Side::Device,
        timestamp,
        timeout: 20_000,
        parallel: false,
        script: script.to_vec(),
    }
}

const ACQUIRE: Step = Step::Acquire { key: 0, rule: Rule::Queue };
const RELEASE: Step = Step::Release { key: 0 };
const CANCEL: Step = Step::Cancel { nth: 0 };

fn hold(cycles: u16) -> Step {
    Step::Hold { cycles }
}

fn check(case: &Case) -> Summary {
    run(case, TupleLockUnit::new()).unwrap_or_else(|mismatch| panic!("{case}{mismatch}"))
}

#[test]
fn every_slot_is_used_and_the_eighth_waiter_is_refused() {
    let agents = (1..=9).map(|n| device(n, &[hold(30 * n as u16), ACQUIRE, hold(600)])).collect();
    let coverage = check(&on_one_line(agents)).coverage;
    assert_eq!(coverage.count(Code::Queued), 7);
    assert_eq!(coverage.count(Code::RefusedFull), 1);
    // INCR on the even words and WRAP on the odd ones: the bus model insists on it.
    assert_eq!(coverage.words, 0xFF);
}

#[test]
fn nobody_enters_after_63_cancels_until_the_lock_passes() {
    let leaves: Vec<_> = (0..63).flat_map(|_| [ACQUIRE, hold(60), CANCEL, hold(60)]).collect();
    // One more is refused; after the release another is granted.
    let script = [leaves.as_slice(), &[ACQUIRE, hold(60), CANCEL, hold(2_500), ACQUIRE]].concat();
    let holder = device(1, &[ACQUIRE, hold(9_000), RELEASE]);
    let coverage = check(&on_one_line(vec![holder, device(2, &script)])).coverage;
    assert_eq!(coverage.count(Code::Queued), 63);
    assert_eq!(coverage.count(Code::Cancelled), 63);
    assert_eq!(coverage.count(Code::RefusedFull), 1);
    assert_eq!(coverage.count(Code::Granted), 2);
}

#[test]
fn a_cancel_meets_the_hand_over_in_each_cycle() {
    let mut coverage = Coverage::default();
    let (mut cancelled, mut granted) = (0, 0);
    for offset in 0..120 {
        for beat_delay in [0, 60] {
            let holder = device(1, &[ACQUIRE, hold(200), RELEASE]);
            let leaver = device(2, &[hold(40), ACQUIRE, hold(100 + offset), CANCEL]);
            let mut case = on_one_line(vec![holder, leaver]);
            case.buses.beat_delay = beat_delay;
            let summary = check(&case);
            coverage.merge(&summary.coverage);
            cancelled += summary.coverage.count(Code::Cancelled);
            granted += summary.coverage.count(Code::Granted) - 1;
        }
    }
    assert_eq!(cancelled + granted, 240);
    assert!(cancelled > 20 && granted > 20, "{cancelled} cancelled, {granted} granted");
    // Some cancels came when the notice was on its way.
    assert!(coverage.count(Code::NotWaiting) > 0, "{coverage}");
}

#[test]
fn whichever_access_fails_the_unit_goes_on() {
    let mut coverage = Coverage::default();
    // Cases of few and of many agents, hosts too.
    for seed in [0, 1, 3, 5, 8, 9, 13, 14, 17] {
        let mut case = draw::case(seed);
        case.buses.errors_per_mille = 0;
        let accesses = check(&case).accesses;
        for access in 1..=accesses.min(120) {
            case.buses.failing_access = access;
            coverage.merge(&check(&case).coverage);
        }
    }
    assert_eq!(coverage.failed_phases, ALL_PHASES, "{coverage}");
}
