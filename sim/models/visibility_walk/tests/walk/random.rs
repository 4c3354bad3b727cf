// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random stores, in order and damaged, under a memory that behaves as it likes.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::Delay;
use sim::bus::stall::StallPattern;

use crate::bench::{Bench, Run, Surroundings};
use suites::walk::damage::{break_chunks, break_line, crowd_pages, damage};
use suites::walk::job::MOST_PAGE_ENTRIES;
use suites::walk::oracle::{Answer, Oracle, Work};
use suites::walk::scene::{CHUNK_VIDS, NEWEST, Payloads, Scene, Size};

fn stalls(random: &mut ChaCha8Rng) -> StallPattern {
    match random.random_range(0..4) {
        0 | 1 => StallPattern::None,
        2 => StallPattern::Random { probability: random.random_range(0.0..0.8) },
        _ => StallPattern::Burst { probability: 0.05, longest: random.random_range(1..80) },
    }
}

fn surroundings(random: &mut ChaCha8Rng) -> Surroundings {
    let minimum = [0, 0, 36][random.random_range(0..3)];
    let maximum = minimum + [0, 5, 200][random.random_range(0..3)];
    Surroundings {
        seed: random.random(),
        memory_stalls: stalls(random),
        row_stalls: stalls(random),
        latency: Delay { minimum, maximum },
        shuffled: random.random(),
    }
}

/// Names the first VID of which the answers differ.
pub fn compare(
    found: &BTreeMap<u32, Answer>,
    expected: &BTreeMap<u32, Answer>,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let vids: std::collections::BTreeSet<_> = found.keys().chain(expected.keys()).collect();
    let vid =
        vids.into_iter().find(|vid| found.get(vid) != expected.get(vid)).expect("a difference");
    Err(format!("VID {vid}: found {:x?}, expected {:x?}", found.get(vid), expected.get(vid)))
}

/// One run of the walk beside the oracle; what the counters say has to fit.
fn run(
    bench: &mut Bench,
    oracle: &mut Oracle,
    scene: &Scene,
    surroundings: &Surroundings,
) -> Result<Run, String> {
    let run = run_with_any_checks(bench, oracle, scene, surroundings)?;
    check_pages(bench.model.outputs().page_checks_o, oracle.work())?;
    Ok(run)
}

/// The same, where the oracle cannot tell which pages were checked before.
fn run_with_any_checks(
    bench: &mut Bench,
    oracle: &mut Oracle,
    scene: &Scene,
    surroundings: &Surroundings,
) -> Result<Run, String> {
    let expected = oracle.run(&scene.memory, &scene.job);
    let run = bench.run(&scene.memory, &scene.job, surroundings, None)?;
    compare(&run.answers, &expected)?;
    let faults = expected.values().filter(|answer| answer.code != 0).count() as u64;
    let outputs = bench.model.outputs();
    let counted = [outputs.vids_o, outputs.visible_o, outputs.faults_o, outputs.hops_o];
    let (first, end) = scene.job.vids;
    let visible = expected.len() as u64 - faults;
    let expected = [u64::from(end - first), visible, faults, oracle.work().hops];
    if counted != expected {
        return Err(format!(
            "VIDs, visible, faults, hops: counted {counted:?}, expected {expected:?}"
        ));
    }
    Ok(run)
}

/// Each page is checked once, or more often where its result gave way to another.
fn check_pages(counted: u64, work: Work) -> Result<(), String> {
    let Work { page_checks, is_certain, .. } = work;
    match counted == page_checks || counted > page_checks && !is_certain {
        true => Ok(()),
        false => Err(format!(
            "page_checks_o: counted {counted}, expected {page_checks}, is_certain: {is_certain}"
        )),
    }
}

/// Of a store in order, the lines of pages that were checked, two of the L2P map for each miss, and what the
/// walks need.
fn check_lines(bench: &Bench, oracle: &Oracle) -> Result<(), String> {
    let outputs = bench.model.outputs();
    let Work { page_checks, lines, .. } = oracle.work();
    let expected = 128 * page_checks + 2 * outputs.page_map_misses_o + lines;
    match outputs.line_reads_o {
        counted if counted == expected => Ok(()),
        counted => Err(format!("line_reads_o: counted {counted}, expected {expected}")),
    }
}

fn drawn(seed: u64) -> (ChaCha8Rng, Scene) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let size = Size::drawn(&mut random);
    let mut scene = Scene::drawn(random.random(), size);
    scene.job.snapshot = scene.time(random.random_range(0..NEWEST + 1));
    scene.job.wants_payloads = random.random_ratio(3, 4);
    if random.random_ratio(1, 3) {
        let (begin, end) = scene.job.vids;
        let first = random.random_range(begin..end);
        scene.narrow(first, random.random_range(first..=end));
    }
    (random, scene)
}

/// A store in order, and another snapshot of it with its pages verified before.
pub fn in_order(seed: u64) -> Result<(), String> {
    let (mut random, mut scene) = drawn(seed);
    let (mut bench, mut oracle) = (Bench::new(seed), Oracle::default());
    for _ in 0..2 {
        run(&mut bench, &mut oracle, &scene, &surroundings(&mut random))?;
        scene.job.forgets_pages = false;
        scene.job.snapshot = scene.time(random.random_range(0..NEWEST + 1));
    }
    Ok(())
}

/// Payloads that end up to 8 bytes before the end of a line's length or behind it.
fn about_whole_lines() -> Payloads {
    Box::new(|random| {
        let mut payload = vec![0; 64 * random.random_range(1..5) + random.random_range(0..17) - 8];
        random.fill(&mut payload[..]);
        payload
    })
}

/// Rows that end about where their lines end, with pages that are to be checked, and with such that were.
pub fn ends_of_lines(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let size = Size { vids: random.random_range(1..300), ..Size::drawn(&mut random) };
    let mut scene = Scene::with_payloads(random.random(), size, about_whole_lines());
    // A run does not read all changes that are not of its part.
    let (first, end) = scene.job.vids;
    scene.narrow(first, end);
    let (mut bench, mut oracle) = (Bench::new(seed), Oracle::default());
    for forgets_pages in [true, false] {
        scene.job.forgets_pages = forgets_pages;
        scene.job.snapshot = scene.time(random.random_range(0..NEWEST + 1));
        run(&mut bench, &mut oracle, &scene, &surroundings(&mut random))?;
        check_lines(&bench, &oracle)?;
    }
    Ok(())
}

/// As many page entries as an element takes, one less, or one more.
pub fn page_entries(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let page_entries = MOST_PAGE_ENTRIES - 1 + seed as usize % 3;
    let size = Size { vids: 300, images: 50, page_entries, ..Size::drawn(&mut random) };
    let mut scene = Scene::drawn(random.random(), size);
    scene.job.snapshot = scene.time(NEWEST);
    let run =
        run(&mut Bench::new(seed), &mut Oracle::default(), &scene, &surroundings(&mut random))?;
    let fails = run.answers.values().all(|answer| answer.code != 0);
    match fails == (page_entries > MOST_PAGE_ENTRIES) {
        true => Ok(()),
        false => Err(format!("{page_entries} page entries: that all walks fail is {fails}")),
    }
}

/// Pages that say that they have more lines than there is room for.
pub fn crowded_pages(seed: u64) -> Result<(), String> {
    let (mut random, mut scene) = drawn(seed);
    crowd_pages(&mut random, &mut scene);
    run(&mut Bench::new(seed), &mut Oracle::default(), &scene, &surroundings(&mut random))?;
    Ok(())
}

/// A damaged store, which is damaged further for a second run.
pub fn damaged(seed: u64) -> Result<(), String> {
    let (mut random, mut scene) = drawn(seed);
    let (mut bench, mut oracle) = (Bench::new(seed), Oracle::default());
    for _ in 0..2 {
        for _ in 0..random.random_range(1..40) {
            damage(&mut random, &mut scene);
        }
        scene.job.table ^= u32::from(random.random_ratio(1, 16));
        scene.job.snapshot = scene.time(random.random_range(0..NEWEST + 1));
        run(&mut bench, &mut oracle, &scene, &surroundings(&mut random))?;
    }
    Ok(())
}

/// Heads of good chunks of the VID map behind one that cannot be read and one with a wrong checksum.
pub fn broken_chunks(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let vids = 2 * CHUNK_VIDS + random.random_range(100..2000);
    let size = Size { vids, largest_payload: 80, ..Size::drawn(&mut random) };
    let mut scene = Scene::drawn(random.random(), size);
    break_chunks(&mut random, &mut scene, 0);
    run(&mut Bench::new(seed), &mut Oracle::default(), &scene, &surroundings(&mut random)).map(drop)
}

/// Lines that could be read when their page was checked, and cannot be any more.
pub fn failing_later(seed: u64) -> Result<(), String> {
    let (mut random, mut scene) = drawn(seed);
    scene.job.wants_payloads = true;
    // Of the L2P map, what is on chip stays there.
    scene.job.logical_pages = scene.job.logical_pages.min(scene.before_pages + 30_000);
    let (mut bench, mut oracle) = (Bench::new(seed), Oracle::default());
    run(&mut bench, &mut oracle, &scene, &surroundings(&mut random))?;
    scene.job.forgets_pages = false;
    for _ in 0..random.random_range(1..100) {
        break_line(&mut random, &mut scene);
    }
    run(&mut bench, &mut oracle, &scene, &surroundings(&mut random)).map(drop)
}

/// A run that is stopped gives answers that are right, and the next one all of them.
pub fn stopped(seed: u64) -> Result<(), String> {
    let (mut random, mut scene) = drawn(seed);
    let (mut bench, mut oracle) = (Bench::new(seed), Oracle::default());
    let all = oracle.run(&scene.memory, &scene.job);
    let after = random.random_range(0..3000);
    let surroundings = surroundings(&mut random);
    let stopped = bench.run(&scene.memory, &scene.job, &surroundings, Some(after))?;
    for (vid, answer) in &stopped.answers {
        if all.get(vid) != Some(answer) {
            return Err(format!("VID {vid}: {answer:x?}, expected {:x?}", all.get(vid)));
        }
    }
    scene.job.forgets_pages = random.random();
    run_with_any_checks(&mut bench, &mut oracle, &scene, &surroundings).map(drop)
}
