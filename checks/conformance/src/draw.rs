// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases from seeds: `proptest` strategies, one for each kind of trouble.

use std::fmt;

use locks::TupleKey;
use locks::machine::Rule;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rand::RngExt;
use sim::bus::stall::channel_generator;

use crate::case::{Agent, Buses, Case, Key, LockTableShape, Side, Step, Stray};

/// What a case is to bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Two to four agents, two lines, buses with some stalls.
    Few,
    /// Ten agents and more on one line: full queues, gaps, cancels.
    Crowd,
    /// Bus errors.
    Errors,
    /// Beats come late; polls and cancels meet hand-overs.
    LateBeats,
    /// Tables of up to 2^32 buckets.
    BigTables,
    /// Hosts and devices in equal parts, hosts fast.
    Hosts,
    /// No stalls, short latencies.
    Smooth,
    /// Everything at once.
    Wild,
    /// All 128 tags, most of which wait at the same time, on up to sixteen lines. No seed's, as its cases take long.
    AllTags,
}

impl Profile {
    /// Those of seeds, in the order in which seeds go through them.
    pub const ALL: [Profile; 8] = [
        Profile::Few,
        Profile::Crowd,
        Profile::Errors,
        Profile::LateBeats,
        Profile::BigTables,
        Profile::Hosts,
        Profile::Smooth,
        Profile::Wild,
    ];

    /// The profile of a seed.
    pub fn of_seed(seed: u64) -> Self {
        Self::ALL[(seed % Self::ALL.len() as u64) as usize]
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The case of a seed, with all that is needed to shrink it.
pub fn tree(seed: u64) -> impl ValueTree<Value = Case> {
    tree_of(Profile::of_seed(seed), seed)
}

fn tree_of(profile: Profile, seed: u64) -> impl ValueTree<Value = Case> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    cases(profile).new_tree(&mut runner).expect("no case is rejected")
}

/// The case of a seed.
pub fn case(seed: u64) -> Case {
    tree(seed).current()
}

/// The case of a seed that has this profile.
pub fn case_of(profile: Profile, seed: u64) -> Case {
    tree_of(profile, seed).current()
}

/// Cases of a profile.
pub fn cases(profile: Profile) -> impl Strategy<Value = Case> {
    let (least, most) = match profile {
        Profile::Few | Profile::Smooth => (2, 4),
        Profile::Crowd => (9, 13),
        Profile::Wild => (2, 12),
        Profile::AllTags => (40, 60),
        _ => (2, 7),
    };
    let agents = proptest::collection::vec(agent(profile), least..=most);
    let tags = match profile {
        Profile::Crowd => 16..=40u8,
        Profile::AllTags => 128..=128,
        _ => 5..=20,
    };
    // The agents first: `proptest` shrinks from left to right.
    (agents, table(profile), buses(profile), tags, any::<u64>().no_shrink()).prop_map(
        |(agents, (table, per_line), buses, tags, seed)| {
            assemble(seed, table, per_line, buses, tags, agents)
        },
    )
}

/// Numbers the agents and finds keys for the lines.
fn assemble(
    seed: u64,
    table: LockTableShape,
    keys_per_line: usize,
    buses: Buses,
    tags: u8,
    mut agents: Vec<Agent>,
) -> Case {
    let mut random = channel_generator(seed, "names");
    let mut taken = Vec::new();
    for agent in &mut agents {
        // Small steps and high bits: timestamps that differ in few and in many bits.
        let mut timestamp = agent.timestamp;
        while taken.contains(&timestamp) {
            timestamp += 1;
        }
        taken.push(timestamp);
        agent.timestamp = timestamp;
    }
    let keys = (0..table.lines * keys_per_line).map(|index| {
        let bucket = table.first_bucket + (index % table.lines) as u64;
        let version = random.random();
        let high = random.random::<u64>().checked_shl(table.log2_buckets.into()).unwrap_or(0);
        Key { vid: vid_of(high | bucket, version), version }
    });
    Case { seed, table, keys: keys.collect(), buses, tags, agents }
}

/// The VID whose hash under `version` is `hash`: the hash is invertible.
fn vid_of(hash: u64, version: u32) -> u64 {
    let shifted = TupleKey::new(0, version).mix();
    let mut vid = 0;
    // Each round settles at least 17 more bits, from the highest on.
    for _ in 0..4 {
        vid = hash ^ shifted ^ (vid >> 17) ^ (vid >> 31);
    }
    debug_assert_eq!(TupleKey::new(vid, version).mix(), hash);
    vid
}

fn table(profile: Profile) -> impl Strategy<Value = (LockTableShape, usize)> {
    let log2 = match profile {
        Profile::BigTables => (3..=32u8).boxed(),
        Profile::Crowd => (0..=1u8).boxed(),
        Profile::AllTags => (4..=6u8).boxed(),
        _ => (0..=2u8).boxed(),
    };
    let most_lines: usize = match profile {
        Profile::Crowd => 1,
        Profile::AllTags => 16,
        _ => 3,
    };
    (log2, any::<u64>().no_shrink(), any::<u64>().no_shrink(), 1..=most_lines, 1..=2usize).prop_map(
        |(log2_buckets, base, first, lines, per_line)| {
            let buckets = 1u64 << log2_buckets;
            let lines = lines.min(buckets as usize);
            let first_bucket = first % (buckets - lines as u64 + 1);
            let base = (base >> 2) & !63;
            (LockTableShape { base, log2_buckets, first_bucket, lines }, per_line)
        },
    )
}

fn buses(profile: Profile) -> impl Strategy<Value = Buses> {
    let stalls = || prop_oneof![Just(0u8), 10..=70u8];
    let latency = prop_oneof![0..=4u32, 5..=60u32, Just(200u32)];
    let errors = match profile {
        Profile::Errors => (10..=150u16).boxed(),
        Profile::Wild => prop_oneof![Just(0u16), 1..=20u16].boxed(),
        _ => Just(0u16).boxed(),
    };
    let beat_delay = match profile {
        Profile::LateBeats => (20..=400u32).boxed(),
        Profile::Smooth => (0..=2u32).boxed(),
        _ => prop_oneof![Just(0u32), 1..=60u32].boxed(),
    };
    let host_pace = if profile == Profile::Hosts { 0..=6u32 } else { 0..=40 };
    let part_one = (stalls(), stalls(), prop_oneof![Just(0u8), 2..=20u8], latency);
    let part_two = (prop_oneof![Just(0u32), 1..=40u32], any::<bool>(), errors, any::<bool>());
    let part_three = (beat_delay, any::<bool>(), host_pace);
    (part_one, part_two, part_three).prop_map(move |(one, two, three)| {
        let buses = Buses {
            stream_stalls: one.0,
            memory_stalls: one.1,
            stall_run: one.2,
            latency: one.3,
            response_delay: two.0,
            shuffled: two.1,
            errors_per_mille: two.2,
            split_errors: two.3,
            failing_access: 0,
            beat_delay: three.0,
            one_beat_for_all: three.1,
            host_pace: three.2,
        };
        match profile {
            Profile::Smooth => {
                let latency = buses.latency.min(2);
                Buses { stream_stalls: 0, memory_stalls: 0, latency, response_delay: 0, ..buses }
            }
            // Reads that are held up leave time for a poll between a beat and the next read.
            Profile::LateBeats => Buses { stream_stalls: 0, stall_run: 20, ..buses },
            _ => buses,
        }
    })
}

fn agent(profile: Profile) -> impl Strategy<Value = Agent> {
    let hosts: u32 = if profile == Profile::Hosts { 4 } else { 1 };
    let side = prop_oneof![4 => Just(Side::Device), hosts => Just(Side::Host)];
    let timestamp = prop_oneof![1..40u64, 1..(1u64 << 48) - 1000];
    let length = match profile {
        Profile::Crowd => 1..=8,
        Profile::AllTags => 20..=60,
        _ => 1..=14usize,
    };
    let parallel = if profile == Profile::AllTags { 1.0 } else { 0.25 };
    let script = proptest::collection::vec(step(profile), length);
    let timeout = prop_oneof![20..=200u32, 300..=1000u32, 2500..=5000u32];
    let parallel = proptest::bool::weighted(parallel);
    (side, timestamp, timeout, script, parallel).prop_map(
        |(side, timestamp, timeout, script, parallel)| Agent {
            side,
            timestamp,
            timeout,
            parallel,
            script,
        },
    )
}

fn step(profile: Profile) -> impl Strategy<Value = Step> {
    let key = if profile == Profile::AllTags { 0..32 } else { 0..6u8 };
    let rule =
        prop_oneof![6 => Just(Rule::Queue), 1 => Just(Rule::NoWait), 2 => Just(Rule::WaitDie)];
    let acquire = (key.clone(), rule).prop_map(|(key, rule)| Step::Acquire { key, rule });
    let release = key.prop_map(|key| Step::Release { key });
    let hold = prop_oneof![4 => 0..=40u16, 1 => 100..=400u16];
    let stray = select(vec![
        Stray::UnknownOperation,
        Stray::UnknownRule,
        Stray::NoTimestamp,
        Stray::OpenTag,
        Stray::OpenTagUnknownOperation,
        Stray::ForeignCancel,
    ]);
    // Of releases, polls, cancels, pauses and strays.
    let (releases, polls, cancels, holds, strays) = match profile {
        Profile::LateBeats => (4, 6, 6, 3, 1),
        Profile::Crowd => (4, 3, 3, 3, 1),
        // Copies stay for a while, and are polled.
        Profile::AllTags => (1, 12, 1, 6, 1),
        _ => (4, 2, 2, 3, 1),
    };
    prop_oneof![
        6 => acquire,
        releases => release,
        polls => (0..4u8).prop_map(|nth| Step::Poll { nth }),
        cancels => (0..4u8).prop_map(|nth| Step::Cancel { nth }),
        holds => hold.prop_map(|cycles| Step::Hold { cycles }),
        strays => stray.prop_map(Step::Stray),
    ]
}
