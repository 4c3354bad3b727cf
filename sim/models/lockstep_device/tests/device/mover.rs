// SPDX-License-Identifier: MIT OR Apache-2.0
//! A data mover that moves nothing: it takes commands, and ends them in an order and with
//! outcomes drawn from a seed.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::Delay;
use sim::bus::stall::channel_generator;

/// Moves that the device may have open.
pub const MOVES: usize = 16;

/// How moves go.
#[derive(Clone, Copy, Debug)]
pub struct Moves {
    /// Cycles from command to end.
    pub latency: Delay,
    /// Of 256 moves, those that end in an error.
    pub failures: u8,
    /// Moves do not end.
    pub held: bool,
}

impl Moves {
    /// Moves that end at once, and well.
    pub fn smooth() -> Self {
        Moves { latency: Delay { minimum: 0, maximum: 0 }, failures: 0, held: false }
    }
}

pub struct Mover {
    pub moves: Moves,
    generator: ChaCha8Rng,
    /// Tag, length, and the cycle before which the move does not end.
    open: Vec<(u16, u32, u64)>,
}

impl Mover {
    pub fn new(moves: Moves, seed: u64) -> Self {
        Mover { moves, generator: channel_generator(seed, "mover"), open: Vec::new() }
    }

    /// Takes the beat of a command.
    pub fn command(&mut self, cycle: u64, beat: [u64; 3]) -> Result<(), String> {
        let tag = beat[0] as u16;
        if self.open.iter().any(|(open, ..)| *open == tag) || usize::from(tag) >= MOVES {
            return Err(format!("cycle {cycle}: tag {tag} of a move is open, or above 15"));
        }
        let Delay { minimum, maximum } = self.moves.latency;
        let due = cycle + u64::from(self.generator.random_range(minimum..=maximum));
        self.open.push((tag, (beat[0] >> 32) as u32, due));
        Ok(())
    }

    /// Moves under way.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// The beat of the end of one move that is due.
    pub fn next_end(&mut self, cycle: u64) -> Option<u64> {
        if self.moves.held {
            return None;
        }
        let due = self.open.iter().position(|(.., due)| *due <= cycle)?;
        let (tag, length, _) = self.open.swap_remove(due);
        let fails = self.generator.random_range(0..=255) < self.moves.failures;
        let (status, bytes) = if fails {
            (self.generator.random_range(1..=255), self.generator.random_range(0..length))
        } else {
            (0u64, length)
        };
        // Bits 31:24 mean nothing.
        let unused = u64::from(self.generator.random_range(0..=255u8)) << 24;
        Some(u64::from(bytes) << 32 | unused | status << 16 | u64::from(tag))
    }
}
