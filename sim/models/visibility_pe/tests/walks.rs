// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole element against the machines: random stores, in order and damaged, with random programs,
//! packet by packet.

use std::collections::BTreeMap;

use driver::visibility_element::{End, JobBlock, Packet};
use ndp_runtime::program::{Evaluation, Outputs, Program, evaluate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::{Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::visibility_element::{Element, Surroundings};
use suites::programs;
use suites::walk::memory::Memory;
use suites::walk::oracle::{Answer, Oracle};
use suites::walk::scene::{NEWEST, Scene, Size};
use suites::walk::{damage, job};
use visibility_pe::Model;

/// Clocks in which every run here is over.
const BOUND: u64 = 4_000_000;

fn stalls(random: &mut ChaCha8Rng) -> StallPattern {
    match random.random_range(0..3) {
        0 => StallPattern::None,
        1 => StallPattern::Random { probability: random.random_range(0.0..0.7) },
        _ => StallPattern::Burst { probability: 0.05, longest: random.random_range(1..60) },
    }
}

fn surroundings(random: &mut ChaCha8Rng) -> Surroundings {
    let minimum = [0, 36][random.random_range(0..2)];
    Surroundings {
        seed: random.random(),
        memory_stalls: stalls(random),
        packet_stalls: stalls(random),
        latency: Delay { minimum, maximum: minimum + random.random_range(0..100) },
        order: [ResponseOrder::AsAnswered, ResponseOrder::Shuffled][random.random_range(0..2)],
        ..Surroundings::smooth()
    }
}

/// The outcome of a version that is seen; `None` when it does not qualify.
fn packet(vid: u32, answer: Answer, program: Option<&Program>, payloads: bool) -> Option<Packet> {
    let Answer { code, record, number, created, payload } = answer;
    if code != 0 {
        return Some(Packet::Fault { vid, code });
    }
    let (mut values, mut nulls) = (Vec::new(), 0);
    if let Some(program) = program {
        let mut outputs = Outputs::default();
        match evaluate(program, &payload, &mut outputs) {
            Ok(Evaluation::Fails) => return None,
            Ok(Evaluation::Passes) => {
                values = outputs.values[..program.outputs().into()].to_vec();
                nulls = outputs.nulls;
            }
            Err(fault) => return Some(Packet::Fault { vid, code: fault.code() }),
        }
    }
    let payload = if payloads { payload } else { Vec::new() };
    Some(Packet::Row { vid, number, record, created, values, nulls, payload })
}

fn expected(
    memory: &Memory,
    job: &job::Job,
    program: Option<&Program>,
) -> (BTreeMap<u32, Packet>, End) {
    let answers = Oracle::default().run(memory, job);
    let (first, end) = job.vids;
    let visible = answers.values().filter(|answer| answer.code == 0).count() as u32;
    let packets: BTreeMap<u32, Packet> = answers
        .into_iter()
        .filter_map(|(vid, answer)| Some((vid, packet(vid, answer, program, job.wants_payloads)?)))
        .collect();
    let faults = packets.values().filter(|packet| matches!(packet, Packet::Fault { .. })).count();
    let (faults, emitted) = (faults as u32, (packets.len() - faults) as u32);
    (packets, End { visited: end - first, visible, emitted, faults })
}

/// The job block in memory, by the driver's encoder.
fn block(job: &job::Job) -> Vec<u8> {
    let block = JobBlock {
        vid_first: job.vids.0,
        vid_end: job.vids.1,
        snapshot: job.snapshot,
        storage_base: job.storage_base,
        storage_pages: job.storage_pages,
        vid_chunks: job.vid_chunks,
        page_map_chunks: job.page_map_chunks,
        logical_pages: job.logical_pages,
        delta_vids: job.delta_vids,
        delta_vid_count: job.delta_vid_count,
        delta_page_count: job.delta_page_count,
        delta_pages: job.delta_pages,
        delta_images: job.delta_images,
        store: job.store,
        epoch: job.epoch,
        table: job.table,
        forget_pages: job.forgets_pages,
        want_payloads: job.wants_payloads,
        program: job.program,
    };
    assert_eq!(job.words().map(u64::to_le_bytes).concat(), block.encode());
    block.encode().to_vec()
}

fn check(seed: u64) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let program = random.random_ratio(7, 8).then(|| programs::program(random));
    let size = Size { vids: random.random_range(1..400), ..Size::drawn(random) };
    let mut scene = match program.clone() {
        Some(program) => {
            let payloads = move |random: &mut ChaCha8Rng| programs::payload(random, &program);
            Scene::with_payloads(random.random(), size, Box::new(payloads))
        }
        None => Scene::drawn(random.random(), size),
    };
    if random.random_ratio(2, 3) {
        (0..random.random_range(1..30)).for_each(|_| damage::damage(random, &mut scene));
    }
    scene.job.snapshot = scene.time(random.random_range(0..NEWEST + 1));
    scene.job.wants_payloads = random.random();
    // Lines anywhere.
    let [program_place, job_place] = random.random::<[u64; 2]>().map(|place| place & !63);
    if let Some(program) = &program {
        scene.job.program = program_place;
        scene.memory.add(program_place, program.encode().to_vec());
    }
    scene.memory.add(job_place, block(&scene.job));
    let (packets, end) = expected(&scene.memory, &scene.job, program.as_ref());
    let surroundings = surroundings(random);
    let mut element = Element::new(Model::powered_up(surroundings.seed), &surroundings);
    // Twice, as an element is not reset between runs.
    for _ in 0..2 {
        let run =
            element.run(&mut scene.memory, job_place, BOUND).map_err(|error| error.to_string())?;
        let mut found = BTreeMap::new();
        for packet in run.packets {
            let (Packet::Row { vid, .. } | Packet::Fault { vid, .. }) = packet else {
                return Err(format!("{packet:x?} before the end"));
            };
            if found.insert(vid, packet).is_some() {
                return Err(format!("VID {vid} has a second packet"));
            }
        }
        for vid in 0..size.vids {
            let (found, expected) = (found.get(&vid), packets.get(&vid));
            if found != expected {
                return Err(format!("VID {vid}: found {found:x?}, expected {expected:x?}"));
            }
        }
        if run.end != Ok(end) {
            return Err(format!("the end is {:?}, expected {end:?}", run.end));
        }
    }
    Ok(())
}

#[test]
fn rows_and_faults_are_those_of_the_machines() {
    seeds::each!(30, check);
}
