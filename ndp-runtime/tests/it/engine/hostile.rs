// SPDX-License-Identifier: MIT OR Apache-2.0
//! Malicious bytes: none of them makes the engine panic or loop forever.

use lockdb::Isolation;
use ndp_runtime::job::{
    AssignmentHead, ChunkHeader, Descriptor, DescriptorHeader, ResultChunk, Status, Submission,
    Task, TopUp, TopUpBlock, reservation,
};
use ndp_runtime::program::{Program, compile_select};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use crate::engine::scene::{DEVICE, PLENTY, Room, Scene, random};

/// Words that are the edge of something.
const EDGES: [u64; 12] =
    [0, 1, 7, 63, 64, 0xFF, 0xFFFF, 0xFFFF_FFFF, 1 << 32, u64::MAX, u64::MAX - 63, 1 << 63];

/// Changes some bytes at random, each time in another way.
fn spoil(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..6) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes.truncate(at),
            3 => bytes.extend(std::iter::repeat_n(0xA5, random.random_range(0..200))),
            _ => {
                let word = EDGES[random.random_range(0..EDGES.len())].to_le_bytes();
                let at = at / 8 * 8;
                let end = bytes.len().min(at + 8);
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
        }
    }
}

/// Puts the right checksum into bytes whose checksum of all others stands at 8.
fn mend(bytes: &mut [u8]) {
    if bytes.len() > 12 {
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..8]), &bytes[12..]);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn scene_and_descriptor(seed: u64) -> (Scene, Descriptor, Program) {
    let mut scene = Scene::new(seed, 60);
    let compiled = scene.compile("region < 3", "balance = balance + 1, note = 'x'");
    let room = Room { result: 800, reservations: 1 };
    let update = scene.update(&compiled, Isolation::Snapshot, room);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), room);
    (scene, descriptor, compiled.program)
}

/// Runs a job of any bytes to some end, and the engine to rest.
fn survive(scene: &mut Scene, bytes: &[u8], random: &mut ChaCha8Rng) {
    let span = scene.card.put(bytes);
    scene.submit(Submission::begin(1, span.address, span.bytes));
    let begun = scene.identifier;
    for _ in 0..2000 {
        scene.step();
    }
    let mut status = match scene.engine.completion() {
        Some(completion) => completion.status,
        None => {
            // It waits for a lock that stays with a job of another name, as long as it was told to.
            let cancel = scene.submit(Submission::cancel(1));
            assert_eq!(scene.completion().identifier, begun);
            assert_eq!(scene.completion().identifier, cancel);
            Status::Cancelled
        }
    };
    for chunk in 1..4 {
        if status != Status::More {
            break;
        }
        let result = scene.card.allocate(2048);
        let reservations = scene.reserve(2);
        let top_up =
            TopUp { chunk, result, reservations: reservations.address, reservation_count: 2 };
        let mut bytes = top_up.encode().to_vec();
        if random.random() {
            spoil(&mut bytes, random);
            mend(&mut bytes);
        }
        let span = scene.card.put(&bytes);
        status = scene.run(Submission::resume(1, span.address, span.bytes)).status;
    }
    let finalize = [random.next_u64(), random.next_u64() % 4, random.next_u64()];
    scene.run(Submission::finalize(1, finalize[0], finalize[1], finalize[2]));
    scene.run(Submission::cancel(1));
    assert_eq!(scene.engine.live_jobs(), 0);
    assert!(scene.card.is_idle());
    scene.store.lock_table().repair(&[DEVICE]);
}

#[test]
fn no_descriptor_makes_the_engine_panic() {
    let (mut scene, descriptor, _) = scene_and_descriptor(1);
    let whole = descriptor.encode();
    for seed in seeds::of!(400) {
        let mut random = random(seed);
        let mut bytes = whole.clone();
        let header = DescriptorHeader::BYTES;
        match seed % 4 {
            // The header alone, so that the checks behind it are come to.
            0 | 1 => {
                let mut front = bytes[12..header].to_vec();
                spoil(&mut front, &mut random);
                front.resize(header - 12, 0);
                bytes[12..header].copy_from_slice(&front);
            }
            2 => {
                let assignments = header + Program::BYTES;
                let mut back = bytes.split_off(assignments);
                spoil(&mut back, &mut random);
                bytes.extend_from_slice(&back);
            }
            _ => spoil(&mut bytes, &mut random),
        }
        if random.random_range(0..8) != 0 {
            if bytes.len() >= 24 {
                let length = bytes.len() as u32;
                bytes[12..16].copy_from_slice(&length.to_le_bytes());
            }
            mend(&mut bytes);
        }
        survive(&mut scene, &bytes, &mut random);
    }
}

#[test]
fn no_shared_state_program_or_reservation_makes_the_engine_panic() {
    let (mut scene, descriptor, _) = scene_and_descriptor(1);
    let state = scene.card.bytes(descriptor.shared_state).to_vec();
    for seed in seeds::of!(200) {
        let mut random = random(seed);
        let mut descriptor = descriptor.clone();
        let Task::Update(update) = &mut descriptor.task else { panic!("it is an update") };
        match seed % 3 {
            0 => {
                let mut bytes = state.clone();
                spoil(&mut bytes, &mut random);
                descriptor.shared_state = scene.card.put(&bytes);
            }
            1 => {
                let mut bytes = descriptor.program.to_vec();
                spoil(&mut bytes, &mut random);
                bytes.resize(Program::BYTES, 0);
                let checksum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..60]), &bytes[64..]);
                bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
                descriptor.program = bytes.try_into().unwrap();
            }
            _ => {
                let mut bytes = vec![0; 5 * reservation::Entry::BYTES];
                random.fill(&mut bytes[..]);
                for word in bytes.chunks_exact_mut(8) {
                    word[5..].fill(0);
                }
                spoil(&mut bytes, &mut random);
                let span = scene.card.put(&bytes);
                (update.reservations, update.reservation_count) = (span.address, 5);
            }
        }
        survive(&mut scene, &descriptor.encode(), &mut random);
    }
}

#[test]
fn every_bit_of_a_descriptor_a_top_up_and_a_chunk_counts() {
    let (mut scene, descriptor, _) = scene_and_descriptor(1);
    let bytes = descriptor.encode();
    assert_eq!(Descriptor::decode(&bytes).unwrap(), descriptor);
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Descriptor::decode(&flipped).is_err(), "bit {bit}");
    }
    let top_up =
        TopUp { chunk: 1, result: descriptor.result, reservations: 64, reservation_count: 3 };
    assert_eq!(TopUp::decode(&top_up.encode()).unwrap(), top_up);
    for bit in 0..8 * TopUpBlock::BYTES {
        let mut flipped = top_up.encode();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(TopUp::decode(&flipped).is_err(), "bit {bit}");
    }
    let (table, schema) = (scene.table.id(), scene.table.schema().clone());
    let compiled = compile_select(table, &schema, None, &["id"]).unwrap();
    let task = Task::Select { payloads: true };
    let descriptor = scene.descriptor(&compiled.program, task, PLENTY);
    scene.begin(1, &descriptor);
    let bytes = scene.completion().bytes as usize;
    let chunk = scene.card.bytes(descriptor.result)[..bytes].to_vec();
    assert!(ResultChunk::verified(&chunk).unwrap().entries().count() > 20);
    for bit in 0..8 * chunk.len() {
        let mut flipped = chunk.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(ResultChunk::verified(&flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn no_chunk_makes_the_host_panic() {
    let (mut scene, _, _) = scene_and_descriptor(1);
    let (table, schema) = (scene.table.id(), scene.table.schema().clone());
    let compiled = compile_select(table, &schema, None, &["id"]).unwrap();
    let task = Task::Select { payloads: true };
    let descriptor = scene.descriptor(&compiled.program, task, PLENTY);
    scene.begin(1, &descriptor);
    let bytes = scene.completion().bytes as usize;
    let whole = scene.card.bytes(descriptor.result)[..bytes].to_vec();
    let (seeds, mut read) = (seeds::of!(4000), 0);
    for seed in &seeds {
        let mut random = random(seed);
        let mut bytes = whole.clone();
        let at = random.random_range(0..ChunkHeader::BYTES + 64);
        bytes[at] = random.random();
        if random.random_range(0..4) == 0 {
            spoil(&mut bytes, &mut random);
        }
        mend(&mut bytes);
        if let Ok(chunk) = ResultChunk::verified(&bytes) {
            read += chunk.entries().count();
        }
    }
    assert!(read > 0 || !seeds.is_whole(), "none was read");
}

#[test]
fn an_error_names_the_byte() {
    let (_, descriptor, _) = scene_and_descriptor(1);
    let mut bytes = descriptor.encode();
    bytes[66..68].copy_from_slice(&65_u16.to_le_bytes());
    mend(&mut bytes);
    let error = Descriptor::decode(&bytes).unwrap_err();
    assert_eq!(error.to_string(), "descriptor, byte 66: rows is 0x41, expected 1 to 64");
    let mut bytes = descriptor.encode();
    let at = DescriptorHeader::BYTES + Program::BYTES + 2;
    assert_eq!(AssignmentHead::FIELDS[1], ("source", 2, 1));
    bytes[at] = 9;
    mend(&mut bytes);
    let error = Descriptor::decode(&bytes).unwrap_err();
    assert_eq!(error.to_string(), "assignments, byte 1282: source is 0x9, expected 0 to 6");
}
