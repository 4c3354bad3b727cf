// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that the device moves, beside as many that this processor moves.

use std::time::Duration;

use driver::{CopyCommand, CopyQueue, Direction, QueueError};

use super::OpenBackend;
use crate::{Goal, Measurement, Size, stopwatch};

const BLOCK: usize = 2 << 20;
/// Blocks that are moved, each another one, all open at once: more than the caches next to a core
/// hold.
const BLOCKS: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(10);

/// To the card and from it.
pub fn measure(size: Size, backend: &OpenBackend) -> Result<Vec<Measurement>, String> {
    let measured =
        [("DMA to the card", Direction::HostToCard), ("DMA from the card", Direction::CardToHost)]
            .map(|(what, direction)| one_way(size, backend, what, direction));
    let measured: Result<Vec<_>, QueueError> = measured.into_iter().collect();
    measured.map_err(|error| error.to_string())
}

fn one_way(
    size: Size,
    backend: &OpenBackend,
    what: &str,
    direction: Direction,
) -> Result<Measurement, QueueError> {
    let blocks = size.of(BLOCKS as u64) as usize;
    let memory = backend.device.allocate(blocks * BLOCK)?;
    // Pages are there once they were written.
    let ones = vec![1; blocks * BLOCK];
    memory.write(0, &ones);
    let mut twos = vec![2; blocks * BLOCK];
    let mut queue = backend.device.copy_queue(2 * BLOCKS.next_power_of_two() as u16)?;
    let commands: Vec<CopyCommand> = (0..blocks)
        .map(|block| {
            let (host, card) = (memory.bus_address() + (block * BLOCK) as u64, block * BLOCK);
            let (source, destination) = match direction {
                Direction::CardToHost => (card as u64, host),
                Direction::HostToCard | Direction::HostToHost => (host, card as u64),
            };
            CopyCommand { direction, source, destination, bytes: BLOCK as u32, interrupt: false }
        })
        .collect();
    move_all(&mut queue, &commands)?;
    let bytes = (blocks * BLOCK) as u64;
    let mut failed = None;
    let (value, floor) = stopwatch::best_of_both(
        size,
        || {
            stopwatch::each(bytes, || {
                if let Err(error) = move_all(&mut queue, &commands) {
                    failed.get_or_insert(error);
                }
            })
        },
        || {
            stopwatch::each(bytes, || {
                for (from, to) in ones.chunks(BLOCK).zip(twos.chunks_mut(BLOCK)) {
                    std::hint::black_box(to).copy_from_slice(std::hint::black_box(from));
                }
            })
        },
    );
    match failed {
        Some(error) => Err(error),
        // A byte a nanosecond is a gigabyte a second.
        None => {
            Ok(backend.figure(what, "GB/s", 1.0 / value).over(1.0 / floor).goal(Goal::AtLeast(5.0)))
        }
    }
}

fn move_all(queue: &mut CopyQueue, commands: &[CopyCommand]) -> Result<(), QueueError> {
    for &command in commands {
        queue.enqueue(command)?;
    }
    queue.ring()?;
    commands.iter().try_for_each(|_| queue.wait(TIMEOUT)?.succeeded().map(drop))
}
