// SPDX-License-Identifier: MIT OR Apache-2.0
//! The coherent memory as its agents see it.

use super::common::Bench;
use lockstep_sim::coherence::{
    AgentId, CoherenceError, CoherentMemory, Completion, Message, Notification, Operation, Region,
};
use proptest::prelude::*;
use timing::Time;
use timing::platform::{Bytes, Count, Platform, Side};

fn swap(line: u64, word: u64, expected: u64, new: u64) -> Operation {
    Operation::CompareSwap { address: Bench::address(line, word), expected, new }
}

fn read_line(line: u64, keep_copy: bool) -> Operation {
    Operation::ReadLine { address: Bench::address(line, 0), keep_copy }
}

fn duration(completion: &Completion) -> Time {
    completion.completed - completion.issued
}

#[test]
fn an_uncontended_swap_costs_what_the_paper_says() {
    let mut bench = Bench::new(Side::Host, 4096);
    let (core, device) = (bench.memory.host_agent(0), bench.memory.device_agent(0));
    // The first touch brings the line from memory into the memory-side cache.
    bench.one(device, swap(0, 0, 0, 1));
    let miss = bench.one(core, swap(0, 0, 1, 2));
    assert_eq!((miss.value, miss.cost.hit), (1, false));
    assert!((80_000..110_000).contains(&duration(&miss).as_ps()), "{}", duration(&miss));
    let hit = bench.one(core, swap(0, 0, 2, 3));
    assert_eq!((hit.value, hit.cost.hit), (2, true));
    assert!(duration(&hit) < Time::from_ns(20), "{}", duration(&hit));
    // Far, through a snoop of the core that has the line modified.
    let far = bench.one(device, swap(0, 0, 3, 4));
    assert_eq!((far.value, far.cost.snoops), (3, 1));
    assert!((760_000..840_000).contains(&duration(&far).as_ps()), "{}", duration(&far));
    assert_eq!(bench.memory.peek_line(Bench::address(0, 0)).expect("there")[0], 4);
}

/// The last column of the table in docs/coherent-memory.md.
#[test]
fn the_documented_latencies_hold() {
    let mut bench = Bench::new(Side::Host, 4096);
    let (core, device) = (bench.memory.host_agent(0), bench.memory.device_agent(0));
    bench.memory.warm_memory_caches();
    let mut whole_ns =
        |agent, operation| (duration(&bench.one(agent, operation)).as_ns_f64()).round() as u64;
    assert_eq!(whole_ns(core, swap(0, 0, 0, 1)), 103, "core, miss");
    assert_eq!(whole_ns(core, swap(0, 0, 1, 2)), 16, "core, hit");
    assert_eq!(whole_ns(device, swap(0, 0, 2, 3)), 797, "device, far, a core has the line");
    assert_eq!(whole_ns(device, swap(0, 0, 3, 4)), 804, "device, far");
    assert_eq!(whole_ns(device, read_line(0, true)), 802, "device, read");
    assert_eq!(whole_ns(device, read_line(0, true)), 88, "device, hit");
    assert_eq!(whole_ns(core, swap(0, 0, 4, 5)), 677, "core, the device has a copy");
}

#[test]
fn placement_changes_who_is_fast() {
    let times = [Side::Host, Side::Device].map(|home| {
        let mut bench = Bench::new(home, 4096);
        let (core, device) = (bench.memory.host_agent(0), bench.memory.device_agent(0));
        bench.one(device, swap(0, 0, 0, 1));
        let far = duration(&bench.one(device, swap(0, 0, 1, 2)));
        let near = duration(&bench.one(core, swap(0, 0, 2, 3)));
        (near, far)
    });
    let [(near_host, far_host), (near_device, far_device)] = times;
    assert!(near_host < Time::from_ns(110) && near_device > Time::from_ns(500), "{times:?}");
    assert!(far_host > Time::from_ns(750) && far_device < Time::from_ns(200), "{times:?}");
}

#[test]
fn a_kept_copy_serves_reads_until_the_host_changes_the_line() {
    let mut bench = Bench::new(Side::Host, 4096);
    let (core, device) = (bench.memory.host_agent(0), bench.memory.device_agent(0));
    let first = bench.one(device, read_line(3, true));
    let second = bench.one(device, read_line(3, true));
    assert!(!first.cost.hit && second.cost.hit);
    assert!((80_000..100_001).contains(&duration(&second).as_ps()), "{}", duration(&second));
    assert_eq!(second.cost.link_bytes, 0);
    bench.notices.clear();
    let write = bench.one(core, swap(3, 2, 0, 9));
    assert!(write.cost.snoops == 1 && duration(&write) > Time::from_ns(500));
    let invalidated = |(_, notice): &&(Time, Notification)| {
        *notice == Notification::Invalidated { agent: device, address: Bench::address(3, 0) }
    };
    // Once, although two reads asked to keep the one copy; before the writer is told.
    assert_eq!(bench.notices.iter().filter(invalidated).count(), 1);
    let (when, _) = bench.notices.iter().find(invalidated).expect("one");
    assert!(*when < write.completed);
    let third = bench.one(device, read_line(3, true));
    assert!(!third.cost.hit);
    assert_eq!(third.line[2], 9);
}

#[test]
fn the_end_of_a_copy_comes_whatever_ends_it_and_not_before_the_read() {
    let mut bench = Bench::new(Side::Host, 4096);
    let device = bench.memory.device_agent(0);
    // Its own far swap, submitted while the copy is being fetched.
    bench.program(device, Time::ZERO, 2, [read_line(0, true), swap(0, 0, 0, 5)]);
    bench.run();
    let kinds: Vec<_> = bench
        .notices
        .iter()
        .map(|(_, notice)| match notice {
            Notification::Completed(completion) => completion.request,
            Notification::Invalidated { .. } => 0,
        })
        .collect();
    assert_eq!(kinds, [1, 0, 2]);
    assert_eq!(bench.memory.peek_line(Bench::address(0, 0)).expect("there")[0], 5);

    // A full set: the platform's device cache has 4 ways in 512 sets.
    let mut bench = Bench::new(Side::Host, 64 * 512 * 8);
    let device = bench.memory.device_agent(0);
    bench.program(device, Time::ZERO, 1, (0..5).map(|n| read_line(512 * n, true)));
    bench.run();
    let ends = bench.notices.iter().filter(|(_, n)| matches!(n, Notification::Invalidated { .. }));
    assert_eq!(ends.count(), 1);
    assert_eq!(bench.memory.traffic().count(Message::Evict), 1);
}

#[test]
fn a_sequential_reader_is_served_from_lines_fetched_ahead() {
    let mut bench = Bench::new(Side::Host, 1 << 16);
    let device = bench.memory.device_agent(0);
    bench.program(device, Time::ZERO, 1, (0..256).map(|line| read_line(line, false)));
    let completions = bench.run();
    let tail = &completions[64..];
    let mean = tail.iter().map(|c| duration(c).as_ps()).sum::<u64>() / tail.len() as u64;
    assert!((80_000..100_000).contains(&mean), "{mean} ps");
    // At random distances nothing is fetched.
    let mut bench = Bench::new(Side::Host, 1 << 16);
    bench.program(device, Time::ZERO, 1, (0..256).map(|n| read_line(n * 7 % 1024, false)));
    assert!(bench.run().iter().all(|completion| !completion.cost.hit));
    assert_eq!(bench.memory.traffic().prefetches, 0);
}

/// Each agent adds 1 to a word until it has done so `times` times.
fn increment_together(home: Side, times: u64) {
    let mut bench = Bench::new(home, 4096);
    let agents: Vec<_> = (0..bench.memory.agents() as u8).map(AgentId).collect();
    let mut done = vec![0; agents.len()];
    let mut seen = vec![0; agents.len()];
    for agent in &agents {
        bench.program(*agent, Time::ZERO, 1, [swap(0, 0, 0, 1)]);
    }
    // Rounds: everyone tries once, with the value it saw last.
    while done.iter().any(|count| *count < times) {
        for completion in bench.run() {
            let Operation::CompareSwap { expected, new, .. } = completion.operation else {
                panic!("only swaps were submitted");
            };
            let agent = completion.agent.0 as usize;
            let took = completion.value == expected;
            done[agent] += u64::from(took);
            seen[agent] = if took { new } else { completion.value };
        }
        for agent in &agents {
            let (count, value) = (done[agent.0 as usize], seen[agent.0 as usize]);
            if count < times {
                bench.program(*agent, Time::ZERO, 1, [swap(0, 0, value, value + 1)]);
            }
        }
    }
    let sum = bench.memory.peek_line(Bench::address(0, 0)).expect("there")[0];
    assert_eq!(sum, times * agents.len() as u64);
}

#[test]
fn increments_of_all_agents_add_up() {
    increment_together(Side::Host, 50);
    increment_together(Side::Device, 50);
}

/// A platform with caches of two lines a set and few sets, so that lines come and go.
fn small_caches() -> Platform {
    let mut platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let coherence = platform.coherence.as_mut().expect("coherent");
    for cache in [&mut coherence.host.cache, &mut coherence.device.cache] {
        cache.size.set(Bytes(256));
        cache.ways.set(Count(2));
    }
    coherence.device.cache.prefetch.set(Count(2));
    platform
}

fn operations() -> impl Strategy<Value = Operation> {
    let line = 0_u64..7;
    // Two words and three values, so that swaps meet.
    let word = 0_u64..2;
    (line, word, 0_u64..3, 0_u64..3, 0_u8..10).prop_map(|(line, word, expected, new, kind)| {
        let address = Bench::address(line, word);
        match kind {
            0..2 => read_line(line, true),
            2 => read_line(line, false),
            3..5 => Operation::Load { address },
            5..7 => Operation::Store { address, value: new },
            _ => Operation::CompareSwap { address, expected, new },
        }
    })
}

/// Replays `completions` on flat memory in the order that the model claims.
fn check_order(completions: &[Completion], memory: &CoherentMemory) {
    let mut sorted = completions.to_vec();
    sorted.sort_by_key(|completion| completion.order);
    let mut flat = vec![[0_u64; 8]; 8];
    // When the operations before were performed at the earliest.
    let mut latest_issue = Time::ZERO;
    for completion in &sorted {
        let line = &mut flat[((completion.operation.address() - 0x1000) / 64) as usize];
        let word = (completion.operation.address() / 8 % 8) as usize;
        assert_eq!(completion.value, line[word], "{completion:?}");
        match completion.operation {
            Operation::ReadLine { .. } => assert_eq!(completion.line, *line, "{completion:?}"),
            Operation::Load { .. } => {}
            Operation::Store { value, .. } => line[word] = value,
            Operation::CompareSwap { expected, new, .. } => {
                if line[word] == expected {
                    line[word] = new;
                }
            }
        }
        latest_issue = latest_issue.max(completion.issued);
        assert!(latest_issue < completion.completed, "not in real time: {completion:?}");
    }
    for (number, line) in flat.iter().enumerate() {
        assert_eq!(memory.peek_line(Bench::address(number as u64, 0)).expect("there"), *line);
    }
    // An agent's operations on one line are performed in its order.
    for agent in 0..memory.agents() {
        for line in 0..8 {
            let of_line = completions.iter().filter(|completion| {
                completion.agent.0 as usize == agent
                    && (completion.operation.address() - 0x1000) / 64 == line
            });
            let mut orders: Vec<_> = of_line.map(|c| (c.request, c.order)).collect();
            orders.sort_unstable();
            assert!(orders.is_sorted_by_key(|(_, order)| *order), "{orders:?}");
        }
    }
}

fn soup(home: Side, programs: &[(u64, usize, Vec<Operation>)]) -> Bench {
    let mut bench = Bench::with(&small_caches(), home, 512);
    for (agent, (start, overlap, operations)) in programs.iter().enumerate() {
        let start = Time::from_ns(*start);
        bench.program(AgentId(agent as u8), start, *overlap, operations.iter().copied());
    }
    bench
}

fn programs() -> impl Strategy<Value = Vec<(u64, usize, Vec<Operation>)>> {
    let program = (0_u64..1000, 1_usize..9, prop::collection::vec(operations(), 0..60));
    prop::collection::vec(program, 5)
}

seeds::proptest! {
    #![cases(400)]

    /// Any soup of operations is explained by one order on flat memory; invariants are
    /// checked at each step by the model itself.
    #[test]
    fn every_result_is_explained_by_one_order(on_device: bool, programs in programs()) {
        let home = if on_device { Side::Device } else { Side::Host };
        let expected: usize = programs.iter().map(|(.., operations)| operations.len()).sum();
        let mut bench = soup(home, &programs);
        let completions = bench.run();
        prop_assert_eq!(completions.len(), expected);
        check_order(&completions, &bench.memory);
    }
}

seeds::proptest! {
    #![cases(100)]

    #[test]
    fn the_same_run_twice_gives_the_same_trace(programs in programs()) {
        let trace = || {
            let mut bench = soup(Side::Host, &programs);
            bench.run();
            format!("{:?} {:?}", bench.notices, bench.memory.traffic())
        };
        prop_assert_eq!(trace(), trace());
    }
}

#[test]
fn a_home_agent_takes_one_request_at_a_time() {
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    // On the device itself, so that the link does not space the requests.
    let home = &platform.coherence.as_ref().expect("coherent").home_on_device;
    let mut bench = Bench::new(Side::Device, 64 * 64);
    let device = bench.memory.device_agent(0);
    bench.memory.warm_memory_caches();
    bench.program(device, Time::ZERO, 64, (0..64).map(|line| swap(line, 0, 0, 1)));
    let completions = bench.run();
    for pair in completions.windows(2) {
        assert_eq!(pair[1].completed - pair[0].completed, home.occupancy.get());
    }
}

#[test]
fn one_line_is_worked_on_by_one_transaction_at_a_time() {
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let home = &platform.coherence.as_ref().expect("coherent").home_on_host;
    let mut bench = Bench::new(Side::Host, 4096);
    let device = bench.memory.device_agent(0);
    bench.memory.warm_memory_caches();
    bench.program(device, Time::ZERO, 16, (0..16).map(|n| swap(0, 0, n, n + 1)));
    let each = home.lookup.get() + home.cached_access.get() + home.atomic.get();
    let completions = bench.run();
    for pair in completions.windows(2) {
        assert_eq!(pair[1].completed - pair[0].completed, each);
    }
    assert_eq!(bench.memory.peek_line(Bench::address(0, 0)).expect("there")[0], 16);
    assert_eq!(bench.memory.traffic().conflicts, 15);
}

#[test]
fn traffic_is_counted() {
    let mut bench = Bench::new(Side::Host, 4096);
    let (core, device) = (bench.memory.host_agent(0), bench.memory.device_agent(0));
    bench.one(core, swap(0, 0, 0, 1));
    let far = bench.one(device, swap(0, 0, 1, 2));
    let traffic = bench.memory.traffic();
    for (message, count) in [
        (Message::ReadUnique, 1),
        (Message::LineData, 1),
        (Message::FarCompareSwap, 1),
        (Message::SnoopInvalidate, 1),
        (Message::SnoopData, 1),
        (Message::WordData, 1),
    ] {
        assert_eq!(traffic.count(message), count, "{message:?}");
    }
    assert_eq!(traffic.total_messages(), 6);
    // Operands of 16 bytes one way, the old word the other, 20 bytes about each.
    assert_eq!((traffic.link_bytes_to_host, traffic.link_bytes_to_device), (36, 28));
    assert_eq!(u64::from(far.cost.link_bytes), 36 + 28);
    assert_eq!((traffic.link_messages, traffic.invalidations, traffic.line_moves), (2, 1, 1));
}

#[test]
fn bad_requests_are_errors_and_start_nothing() {
    let mut bench = Bench::new(Side::Host, 4096);
    let core = bench.memory.host_agent(0);
    let mut attempt = |agent, operation| {
        let result = bench.memory.submit(Time::ZERO, agent, 0, operation, &mut |_, _| {
            panic!("an event of a refused operation")
        });
        result.expect_err("refused").to_string()
    };
    assert_eq!(
        attempt(core, Operation::Load { address: 0x2000 }),
        "address 0x2000 is outside of the coherent memory"
    );
    assert_eq!(
        attempt(core, Operation::ReadLine { address: 0x1008, keep_copy: false }),
        "address 0x1008, expected a multiple of 64"
    );
    assert_eq!(
        attempt(AgentId(5), Operation::Load { address: 0x1000 }),
        "agent 5, expected one below 5"
    );
    assert_eq!(bench.memory.in_flight(), 0);

    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let overlap = [0, 64].map(|base| Region { base, bytes: 128, home: Side::Host });
    let error = CoherentMemory::new(&platform, &overlap).err();
    assert_eq!(error, Some(CoherenceError::BadRegion { base: 64, bytes: 128 }));
    let pcie = Platform::named("pcie-gen3").expect("valid");
    let error = CoherentMemory::new(&pcie, &overlap[..1]).err();
    assert_eq!(error, Some(CoherenceError::NotCoherent("pcie-gen3".into())));
}
