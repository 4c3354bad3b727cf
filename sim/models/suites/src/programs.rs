// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random valid programs, and payloads for them.

use ndp_runtime::program::{Instruction, NEVER_NULL, Opcode, Program};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

/// What a word of a payload or a register most likely holds, so that programs do not all end
/// with the overflow of their first sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Any,
}

/// Of the payload's word at this place.
fn kind_of_word(word: usize) -> Kind {
    [Kind::Integer, Kind::Float, Kind::Integer, Kind::Any][word % 4]
}

const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    1e300,
    -1e300,
    5e-324,
    2.2e-308,
    1e-160,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    3.5,
];

fn value(generator: &mut ChaCha8Rng, kind: Kind) -> u64 {
    match (kind, generator.random_range(0..16u8)) {
        (Kind::Integer, 0) => {
            [i64::MIN, i64::MAX, -1 << 32, 1 << 31][generator.random_range(0..4)].cast_unsigned()
        }
        (Kind::Integer, _) => generator.random_range(-9..=9i64).cast_unsigned(),
        (Kind::Float, 0) => 0x7FF0_0000_0000_0001 | generator.next_u64() & 1 << 63,
        (Kind::Float, 1..6) => generator.random_range(-2.0..2.0f64).to_bits(),
        (Kind::Float, 6..8) => generator.next_u64() & !(1 << 62),
        (Kind::Float, _) => FLOATS[generator.random_range(0..FLOATS.len())].to_bits(),
        (Kind::Any, 0..4) => generator.next_u64(),
        (Kind::Any, 4..8) => value(generator, Kind::Float),
        (Kind::Any, _) => value(generator, Kind::Integer),
    }
}

const INTEGER: [Opcode; 9] = [
    Opcode::AddInt,
    Opcode::SubtractInt,
    Opcode::MultiplyInt,
    Opcode::MinInt,
    Opcode::MaxInt,
    Opcode::EqualInt,
    Opcode::NotEqualInt,
    Opcode::LessInt,
    Opcode::LessEqualInt,
];
const FLOAT: [Opcode; 9] = [
    Opcode::AddFloat,
    Opcode::SubtractFloat,
    Opcode::MultiplyFloat,
    Opcode::MinFloat,
    Opcode::MaxFloat,
    Opcode::EqualFloat,
    Opcode::NotEqualFloat,
    Opcode::LessFloat,
    Opcode::LessEqualFloat,
];
const LOGIC: [Opcode; 4] = [Opcode::And, Opcode::Or, Opcode::Not, Opcode::IsNull];

/// A program that is being written.
struct Writer<'a> {
    generator: &'a mut ChaCha8Rng,
    fixed_words: usize,
    constants: Vec<u64>,
    code: Vec<Instruction>,
    /// What each register that was written holds.
    registers: [Option<Kind>; 16],
    outputs: u8,
}

impl Writer<'_> {
    fn draw(&mut self, below: usize) -> usize {
        self.generator.random_range(0..below)
    }

    /// A register that was written, of this kind if there is one.
    fn source(&mut self, kind: Kind) -> u8 {
        let start = self.draw(16);
        let places = || (0..16).map(|n| (start + n) % 16);
        let suits = |place: &usize| self.registers[*place] == Some(kind);
        let any = |place: &usize| self.registers[*place].is_some();
        let found = places().find(suits).or_else(|| places().find(any));
        found.expect("the first instruction writes a register") as u8
    }

    fn destination(&mut self, kind: Kind) -> u8 {
        let place = self.draw(16);
        self.registers[place] = Some(kind);
        place as u8
    }

    fn null_bit(&mut self) -> u16 {
        let bits = (64 * self.fixed_words).min(1024);
        match self.draw(3) {
            0 => NEVER_NULL,
            1 => self.draw(bits) as u16,
            _ => self.draw(bits.min(32)) as u16,
        }
    }

    fn load(&mut self) {
        let word = self.draw(self.fixed_words);
        let (null_bit, dst) = (self.null_bit(), self.destination(kind_of_word(word)));
        self.code.push(Instruction::load(dst, 8 * word as u16, null_bit));
    }

    fn compare_fixed(&mut self) {
        let most = self.constants.len().min(self.fixed_words).min(63);
        let most = if self.draw(4) == 0 { most } else { most.min(3) };
        let words = 1 + self.draw(most);
        let first = self.draw(self.constants.len() - words + 1) as u8;
        let word = self.draw(self.fixed_words - words + 1);
        let (null_bit, longer) = (self.null_bit(), self.draw(2) == 0);
        let dst = self.destination(Kind::Integer);
        let offset = 8 * word as u16;
        let words = words as u8;
        self.code.push(Instruction::compare_fixed(dst, offset, null_bit, first, words, longer));
    }

    fn operation(&mut self) {
        let (op, operands, result) = match self.draw(8) {
            0..3 => (INTEGER[self.draw(9)], Kind::Integer, Kind::Integer),
            3..6 => {
                let op = FLOAT[self.draw(9)];
                let arithmetic = (op as u8) < Opcode::EqualInt as u8;
                (op, Kind::Float, if arithmetic { Kind::Float } else { Kind::Integer })
            }
            _ => (LOGIC[self.draw(4)], Kind::Integer, Kind::Integer),
        };
        let operands = if self.draw(20) == 0 { Kind::Any } else { operands };
        let (a, b) = (self.source(operands), self.source(operands));
        let dst = self.destination(result);
        self.code.push(match op {
            Opcode::Not | Opcode::IsNull => Instruction::unary(op, dst, a),
            _ => Instruction::binary(op, dst, a, b),
        });
    }

    fn output(&mut self) {
        let kind = [Kind::Integer, Kind::Float, Kind::Any][self.draw(3)];
        let a = self.source(kind);
        // Now and then one that was written already.
        let place = self.draw((usize::from(self.outputs) + 1).min(8)) as u8;
        let place = if self.outputs < 8 && self.draw(4) > 0 { self.outputs } else { place };
        self.outputs = self.outputs.max(place + 1);
        self.code.push(Instruction::out(place, a));
    }

    fn instruction(&mut self) {
        match self.draw(32) {
            0..8 => self.load(),
            8..10 if !self.constants.is_empty() => {
                let constant = self.draw(self.constants.len());
                let dst = self.destination(kind_of_word(constant));
                self.code.push(Instruction::constant(dst, constant as u8));
            }
            10 => {
                let dst = self.destination(Kind::Any);
                self.code.push(Instruction::null(dst));
            }
            11 => {
                let a = self.source(Kind::Any);
                self.code.push(Instruction::filter(a));
            }
            12..14 if !self.constants.is_empty() => self.compare_fixed(),
            14..19 => self.output(),
            _ => self.operation(),
        }
    }
}

/// A program of table 7 that the hardware executes.
///
/// # Panics
/// When what was drawn is no valid program, which cannot be.
pub fn program(generator: &mut ChaCha8Rng) -> Program {
    let fixed_words = match generator.random_range(0..8u8) {
        0 => generator.random_range(1..=1011),
        1 => generator.random_range(1..=2),
        _ => generator.random_range(3..=24),
    };
    let count = generator.random_range(0..=64usize);
    let constants = (0..count).map(|n| value(generator, kind_of_word(n))).collect();
    let longest = if generator.random_range(0..4u8) == 0 { 64 } else { 16 };
    let length = generator.random_range(1..=longest);
    let (code, registers, outputs) = (Vec::new(), [None; 16], 0);
    let mut writer = Writer { generator, fixed_words, constants, code, registers, outputs };
    if length > 1 {
        writer.load();
    }
    while writer.code.len() + 1 < length {
        writer.instruction();
    }
    let Writer { mut code, constants, .. } = writer;
    code.push(Instruction::new(Opcode::End));
    Program::new(7, 8 * fixed_words as u16, code, constants).expect("a valid program")
}

/// A payload, of which most are long enough for the program.
pub fn payload(generator: &mut ChaCha8Rng, program: &Program) -> Vec<u8> {
    let fixed = usize::from(program.fixed_bytes());
    let bytes = match generator.random_range(0..16u8) {
        0 => generator.random_range(0..=fixed),
        1 => (fixed + generator.random_range(0..600)).min(8088),
        _ => (fixed + generator.random_range(0..20)).min(8088),
    };
    let bitmap = 1 + generator.random_range(0..16usize).min(fixed / 64);
    let mut words = Vec::new();
    for word in 0..bytes.div_ceil(8) {
        let constants = program.constants();
        words.push(if word < bitmap {
            generator.next_u64() & generator.next_u64() & generator.next_u64()
        } else if !constants.is_empty() && generator.random_range(0..3u8) == 0 {
            // So that comparisons with constants meet what is equal.
            constants[word % constants.len()]
        } else {
            value(generator, kind_of_word(word))
        });
    }
    words.iter().flat_map(|word| word.to_le_bytes()).take(bytes).collect()
}
