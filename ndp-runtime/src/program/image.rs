// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program and its bytes, and the validation of a device.

use std::fmt::Display;

use lockdb::schema::{MAX_PAYLOAD, Schema};

use super::instruction::{Instruction, MAX_OUTPUTS, NEVER_NULL, Opcode, REGISTERS};

/// The most instructions that a program has, [`Opcode::End`] included.
pub const MAX_INSTRUCTIONS: usize = 64;

/// The most constants that a program has.
pub const MAX_CONSTANTS: usize = 64;

/// "LKPR".
const MAGIC: u32 = u32::from_le_bytes(*b"LKPR");
const VERSION: u16 = 1;
/// Flag: the program has instructions that only software executes.
const SOFTWARE_ONLY: u8 = 1;

const HEADER_BYTES: usize = 64;
const CHECKSUM: usize = 60;
const CONSTANTS: usize = HEADER_BYTES + 8 * MAX_INSTRUCTIONS;

/// A predicate and the values to be made of a row that satisfies it. Always valid: every register
/// is written before it is read, every constant, output and payload byte that it names is there,
/// and [`Opcode::End`] stands last and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    table: u32,
    fixed_bytes: u16,
    outputs: u8,
    software_only: bool,
    code: Vec<Instruction>,
    constants: Vec<u64>,
}

/// Why bytes or parts are no program: where, what is there, what should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program, {place}: found {found}, expected {expected}")]
pub struct ProgramError {
    offset: usize,
    place: String,
    found: String,
    expected: String,
}

impl ProgramError {
    /// The byte of the image at which the fault was seen.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl Program {
    /// Bytes of an image.
    pub const BYTES: usize = CONSTANTS + 8 * MAX_CONSTANTS;

    /// The program of these instructions, for rows of at least `fixed_bytes` bytes.
    ///
    /// # Errors
    /// When they are none: as [`Program::decode`] says of the image that it would be.
    pub fn new(
        table: u32,
        fixed_bytes: u16,
        code: Vec<Instruction>,
        constants: Vec<u64>,
    ) -> Result<Self, ProgramError> {
        count("instructions", 6, code.len(), 1, MAX_INSTRUCTIONS)?;
        count("constants", 7, constants.len(), 0, MAX_CONSTANTS)?;
        if !(8..=MAX_PAYLOAD).contains(&fixed_bytes.into()) || !fixed_bytes.is_multiple_of(8) {
            let expected = format!("a multiple of 8 from 8 to {MAX_PAYLOAD}");
            return Err(header("bytes of the shortest row", 20, fixed_bytes, expected));
        }
        let outputs = Judge::new(fixed_bytes.into(), constants.len()).judge(&code)?;
        let software_only = code.iter().any(|i| i.op == Opcode::CompareVariable);
        Ok(Self { table, fixed_bytes, outputs, software_only, code, constants })
    }

    /// Its image (`docs/near-data-programs.md`).
    pub fn encode(&self) -> Box<[u8; Self::BYTES]> {
        let mut bytes = Box::new([0; Self::BYTES]);
        let mut put = |offset: usize, field: &[u8]| {
            bytes[offset..offset + field.len()].copy_from_slice(field);
        };
        put(0, &MAGIC.to_le_bytes());
        put(4, &VERSION.to_le_bytes());
        let (code, constants) = (self.code.len() as u8, self.constants.len() as u8);
        put(6, &[code, constants, self.outputs, self.flags()]);
        put(16, &self.table.to_le_bytes());
        put(20, &self.fixed_bytes.to_le_bytes());
        for (index, instruction) in self.code.iter().enumerate() {
            put(HEADER_BYTES + 8 * index, &instruction.encode().to_le_bytes());
        }
        for (index, constant) in self.constants.iter().enumerate() {
            put(CONSTANTS + 8 * index, &constant.to_le_bytes());
        }
        let checksum = checksum(&bytes);
        bytes[CHECKSUM..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The validator: the program of an image of unknown origin. With `table`, it must be for that
    /// table and its rows.
    ///
    /// # Errors
    /// When it is none, at the first place that is wrong. It never panics.
    pub fn decode(bytes: &[u8], table: Option<(u32, &Schema)>) -> Result<Self, ProgramError> {
        let Ok(bytes) = <&[u8; Self::BYTES]>::try_from(bytes) else {
            let found = format!("{} bytes", bytes.len());
            return Err(fault(bytes.len(), "image", found, format!("{} bytes", Self::BYTES)));
        };
        expect("magic", 0, u32_at(bytes, 0), MAGIC)?;
        expect("version", 4, u16_at(bytes, 4), VERSION)?;
        expect("checksum", CHECKSUM, u32_at(bytes, CHECKSUM), checksum(bytes))?;
        for offset in (10..16).chain(22..CHECKSUM) {
            expect("reserved", offset, bytes[offset], 0)?;
        }
        let (code_count, constant_count) = (bytes[6].into(), bytes[7].into());
        count("instructions", 6, code_count, 1, MAX_INSTRUCTIONS)?;
        count("constants", 7, constant_count, 0, MAX_CONSTANTS)?;
        let code = decode_code(bytes, code_count)?;
        let constants = decode_constants(bytes, constant_count)?;
        let program = Self::new(u32_at(bytes, 16), u16_at(bytes, 20), code, constants)?;
        expect("outputs", 8, bytes[8], program.outputs)?;
        expect("flags", 9, bytes[9], program.flags())?;
        if let Some((table, schema)) = table {
            expect("table", 16, program.table, table)?;
            program.check_schema(schema)?;
        }
        Ok(program)
    }

    /// Whether it is for rows of this schema.
    fn check_schema(&self, schema: &Schema) -> Result<(), ProgramError> {
        let shortest = schema.shortest_payload();
        expect("bytes of the shortest row", 20, usize::from(self.fixed_bytes), shortest)?;
        let columns = schema.columns().len();
        for (index, instruction) in self.code.iter().enumerate() {
            let Instruction { op, y, .. } = *instruction;
            let nullable =
                matches!(op, Opcode::Load | Opcode::CompareFixed | Opcode::CompareVariable);
            if nullable && y != NEVER_NULL && usize::from(y) >= columns {
                let expected = format!("a bit of {columns} columns");
                return Err(at(index, op, format!("null bit {y}"), expected));
            }
        }
        Ok(())
    }

    /// Its instructions; the last one is [`Opcode::End`].
    pub fn instructions(&self) -> &[Instruction] {
        &self.code
    }

    /// Its constants.
    pub fn constants(&self) -> &[u64] {
        &self.constants
    }

    /// How many outputs it has: 0 to one less are written for each row that qualifies.
    pub fn outputs(&self) -> u8 {
        self.outputs
    }

    /// The table that it is for.
    pub fn table(&self) -> u32 {
        self.table
    }

    /// The bytes that the payload of every row of the table has at least.
    pub fn fixed_bytes(&self) -> u16 {
        self.fixed_bytes
    }

    /// Whether it has only what the hardware's elements execute.
    pub fn uses_only_the_elements_part(&self) -> bool {
        !self.software_only
    }

    fn flags(&self) -> u8 {
        if self.software_only { SOFTWARE_ONLY } else { 0 }
    }
}

fn decode_code(
    bytes: &[u8; Program::BYTES],
    count: usize,
) -> Result<Vec<Instruction>, ProgramError> {
    let mut code = Vec::with_capacity(count);
    for index in 0..MAX_INSTRUCTIONS {
        let offset = HEADER_BYTES + 8 * index;
        let word = u64_at(bytes, offset);
        if index >= count {
            expect("instruction behind the last", offset, word, 0)?;
            continue;
        }
        let Some(instruction) = Instruction::decode(word) else {
            let place = format!("instruction {index} (byte {offset})");
            return Err(fault(
                offset,
                place,
                format!("operation {:#04x}", word as u8),
                "an operation",
            ));
        };
        code.push(instruction);
    }
    Ok(code)
}

fn decode_constants(bytes: &[u8; Program::BYTES], count: usize) -> Result<Vec<u64>, ProgramError> {
    let constant = |index| u64_at(bytes, CONSTANTS + 8 * index);
    for index in count..MAX_CONSTANTS {
        expect("constant behind the last", CONSTANTS + 8 * index, constant(index), 0)?;
    }
    Ok((0..count).map(constant).collect())
}

/// Goes through the instructions once, in the order in which they are executed.
struct Judge {
    fixed_bytes: usize,
    constants: usize,
    /// Bit *r*: register *r* has been written.
    registers: u16,
    /// Bit *o*: output *o* has been written.
    outputs: u8,
}

const _: () = assert!(REGISTERS == 16 && MAX_OUTPUTS == 8, "the masks have a bit for each");

impl Judge {
    fn new(fixed_bytes: usize, constants: usize) -> Self {
        Self { fixed_bytes, constants, registers: 0, outputs: 0 }
    }

    /// The number of outputs.
    fn judge(mut self, code: &[Instruction]) -> Result<u8, ProgramError> {
        for (index, instruction) in code.iter().enumerate() {
            let wrong =
                |found: String, expected: String| at(index, instruction.op, found, expected);
            let last = index + 1 == code.len();
            if last != (instruction.op == Opcode::End) {
                let expected = if last { "END, as it is the last" } else { "END at the end alone" };
                return Err(wrong(instruction.op.name().into(), expected.into()));
            }
            self.instruction(*instruction).map_err(|(found, expected)| wrong(found, expected))?;
        }
        let count = self.outputs.trailing_ones() as u8;
        if u16::from(self.outputs) >> count != 0 {
            let found = format!("outputs {:#010b}", self.outputs);
            return Err(fault(HEADER_BYTES, "code", found, "outputs from 0 on without a gap"));
        }
        Ok(count)
    }

    fn instruction(&mut self, instruction: Instruction) -> Result<(), (String, String)> {
        if [instruction.dst, instruction.a, instruction.b].iter().any(|field| *field >= 16)
            || instruction.z >= 1 << 12
        {
            return Err((format!("{instruction:?}"), "fields that fit in a word".into()));
        }
        if let Some((field, value)) = instruction.stray_field() {
            return Err((format!("field {field} = {value}"), "0 in a field without use".into()));
        }
        for register in instruction.sources() {
            if self.registers & 1 << register == 0 {
                let expected = "a register that was written before".into();
                return Err((format!("register r{register}"), expected));
            }
        }
        self.operands(instruction)?;
        if let Some(register) = instruction.destination() {
            self.registers |= 1 << register;
        }
        Ok(())
    }

    /// Constants, outputs and payload bytes.
    fn operands(&mut self, instruction: Instruction) -> Result<(), (String, String)> {
        let Instruction { op, b, z, x, y, .. } = instruction;
        let (first, words) = (instruction.first_constant(), instruction.words());
        match op {
            Opcode::Load => {
                self.payload(x, 8, 8)?;
                self.null_bit(y)
            }
            Opcode::Constant => self.constant(x.into(), 1),
            Opcode::Out if usize::from(z) >= MAX_OUTPUTS => {
                Err((format!("output {z}"), format!("an output below {MAX_OUTPUTS}")))
            }
            Opcode::Out => {
                self.outputs |= 1 << z;
                Ok(())
            }
            Opcode::CompareFixed => {
                if words == 0 || b > Instruction::LONGER {
                    let found = format!("{words} words and flags {b:#x}");
                    return Err((found, "1 to 63 words and flags 0 or 1".into()));
                }
                self.constant(first, words)?;
                self.payload(x, 8 * words, 8)?;
                self.null_bit(y)
            }
            Opcode::CompareVariable => {
                if words == 0 && b & 7 != 0 {
                    let found = format!("{} bytes in the last of 0 words", b & 7);
                    return Err((found, "0".into()));
                }
                if b & Instruction::FIRST == 0 && x < 2 {
                    let expected = "byte 2 or later, as another column's end stands before";
                    return Err((format!("byte {x}"), expected.into()));
                }
                self.constant(first, words)?;
                self.payload(x, 2, 2)?;
                self.null_bit(y)
            }
            _ => Ok(()),
        }
    }

    fn constant(&self, first: usize, count: usize) -> Result<(), (String, String)> {
        if first + count <= self.constants {
            return Ok(());
        }
        let found = format!("constants {first} to {}", first + count);
        Err((found, format!("at most {}, as there are", self.constants)))
    }

    fn payload(&self, offset: u16, bytes: usize, aligned: u16) -> Result<(), (String, String)> {
        let end = usize::from(offset) + bytes;
        if offset.is_multiple_of(aligned) && end <= self.fixed_bytes {
            return Ok(());
        }
        let expected =
            format!("a multiple of {aligned}, within {} bytes of every row", self.fixed_bytes);
        Err((format!("payload bytes {offset} to {end}"), expected))
    }

    fn null_bit(&self, bit: u16) -> Result<(), (String, String)> {
        if bit == NEVER_NULL || usize::from(bit) < 8 * self.fixed_bytes {
            return Ok(());
        }
        let expected = format!("a bit within {} bytes, or {NEVER_NULL:#x}", self.fixed_bytes);
        Err((format!("null bit {bit}"), expected))
    }
}

fn fault(
    offset: usize,
    place: impl Display,
    found: impl Display,
    expected: impl Display,
) -> ProgramError {
    let (place, found, expected) = (place.to_string(), found.to_string(), expected.to_string());
    ProgramError { offset, place, found, expected }
}

fn header(field: &str, offset: usize, found: impl Display, expected: impl Display) -> ProgramError {
    fault(offset, format_args!("{field} (byte {offset})"), found, expected)
}

/// At an instruction.
fn at(index: usize, op: Opcode, found: impl Display, expected: impl Display) -> ProgramError {
    let offset = HEADER_BYTES + 8 * index;
    let place = format!("instruction {index} ({}, byte {offset})", op.name());
    fault(offset, place, found, expected)
}

fn expect<T: PartialEq + std::fmt::LowerHex>(
    field: &str,
    offset: usize,
    found: T,
    expected: T,
) -> Result<(), ProgramError> {
    if found == expected {
        return Ok(());
    }
    Err(header(field, offset, format_args!("{found:#x}"), format_args!("{expected:#x}")))
}

fn count(
    what: &str,
    offset: usize,
    found: usize,
    least: usize,
    most: usize,
) -> Result<(), ProgramError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(header(&format!("number of {what}"), offset, found, format_args!("{least} to {most}")))
}

fn checksum(bytes: &[u8; Program::BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..CHECKSUM]), &bytes[HEADER_BYTES..])
}

fn array_at<const BYTES: usize>(bytes: &[u8; Program::BYTES], offset: usize) -> [u8; BYTES] {
    bytes[offset..offset + BYTES].try_into().expect("the range has so many bytes")
}

fn u16_at(bytes: &[u8; Program::BYTES], offset: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, offset))
}

fn u32_at(bytes: &[u8; Program::BYTES], offset: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, offset))
}

fn u64_at(bytes: &[u8; Program::BYTES], offset: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, offset))
}
