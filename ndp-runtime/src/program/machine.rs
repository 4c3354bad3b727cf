// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine that executes programs. The hardware must compute the same results.

use std::cmp::Ordering;

use super::Program;
use super::instruction::{Instruction, MAX_OUTPUTS, NEVER_NULL, Opcode, REGISTERS};

/// Whether a row qualifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// It does; the outputs are written.
    Passes,
    /// It does not; what the outputs hold means nothing.
    Fails,
}

/// What a program makes of a row that qualifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The values, integers and floats as their bits, truth values as 0 or 1; of a null, 0.
    pub values: [u64; MAX_OUTPUTS],
    /// Bit *o*: output *o* is null.
    pub nulls: u8,
}

impl Outputs {
    /// An output's bits, `None` if it is null.
    ///
    /// # Panics
    /// When there is no such output.
    #[inline]
    pub fn get(&self, output: u8) -> Option<u64> {
        let value = self.values[usize::from(output)];
        (self.nulls >> output & 1 == 0).then_some(value)
    }
}

/// Why a row could not be evaluated, or no new row be made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(u8)]
pub enum EvaluationError {
    /// A sum, difference or product of integers is beyond 64 bits.
    #[error("an integer is out of range, expected it within 64 bits")]
    Overflow = 20,
    /// The payload ends before a column.
    #[error("the row ends before a column, expected the columns of its table")]
    RowTooShort = 21,
    /// A column that admits no nulls was to be null.
    #[error("found a null for a column that admits none, expected a value")]
    NullNotAllowed = 22,
    /// The new row would not fit in a page.
    #[error("the new row is too long, expected it to fit in a page")]
    RowTooLong = 23,
    /// The payload is no row of the table.
    #[error("found bytes that are no row of the table, expected one")]
    RowDamaged = 24,
    /// The row can have no further version: [`lockdb::layout::next_version`].
    #[error("the row has had all versions that can be numbered")]
    VersionsUsedUp = 25,
}

impl EvaluationError {
    /// Its code in result sets and packets.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The fault of a code.
    pub fn from_code(code: u8) -> Option<Self> {
        use EvaluationError::{
            NullNotAllowed, Overflow, RowDamaged, RowTooLong, RowTooShort, VersionsUsedUp,
        };
        let all = [Overflow, RowTooShort, NullNotAllowed, RowTooLong, RowDamaged, VersionsUsedUp];
        all.into_iter().find(|fault| fault.code() == code)
    }
}

/// Every float result that is not a number has these bits.
pub const CANONICAL_NAN: u64 = 0x7ff8_0000_0000_0000;

/// A register's content: `None` is null.
type Word = Option<u64>;

/// Executes a program for the row of this payload, which may be any bytes.
///
/// # Errors
/// When the payload ends before what the program loads, or an integer overflows: at the first
/// instruction to meet this, if no filter has ended the program before.
pub fn evaluate(
    program: &Program,
    payload: &[u8],
    outputs: &mut Outputs,
) -> Result<Evaluation, EvaluationError> {
    execute(program, payload, outputs).map(|(evaluation, _)| evaluation)
}

/// As [`evaluate`], with how many instructions were executed: a filter that fails ends the program.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_counting(
    program: &Program,
    payload: &[u8],
    outputs: &mut Outputs,
) -> Result<(Evaluation, u64), EvaluationError> {
    execute(program, payload, outputs).map(|(evaluation, last)| (evaluation, last as u64 + 1))
}

/// Gives the number of the last instruction executed, too.
#[inline(always)]
fn execute(
    program: &Program,
    payload: &[u8],
    outputs: &mut Outputs,
) -> Result<(Evaluation, usize), EvaluationError> {
    let mut registers: [Word; REGISTERS] = [None; REGISTERS];
    for (number, instruction) in program.instructions().iter().enumerate() {
        let Instruction { op, dst, a, b, z, x, y } = *instruction;
        let a = registers[usize::from(a)];
        let result = match op {
            Opcode::End => return Ok((Evaluation::Passes, number)),
            Opcode::Filter => {
                if a.is_none_or(|value| value == 0) {
                    return Ok((Evaluation::Fails, number));
                }
                continue;
            }
            Opcode::Out => {
                outputs.values[usize::from(z)] = a.unwrap_or(0);
                let null = u8::from(a.is_none());
                outputs.nulls = outputs.nulls & !(1 << z) | null << z;
                continue;
            }
            Opcode::Load => load(payload, x, y)?,
            Opcode::Constant => Some(program.constants()[usize::from(x)]),
            Opcode::CompareFixed => compare_fixed(program, *instruction, payload)?,
            Opcode::CompareVariable => compare_variable(program, *instruction, payload)?,
            _ => operate(op, a, registers[usize::from(b)])?,
        };
        registers[usize::from(dst)] = result;
    }
    unreachable!("a program ends with END")
}

/// The result of an operation on registers.
///
/// # Panics
/// When the operation is none on registers alone.
pub(super) fn operate(op: Opcode, a: Word, b: Word) -> Result<Word, EvaluationError> {
    match op {
        Opcode::Null => return Ok(None),
        Opcode::IsNull => return Ok(Some(a.is_none().into())),
        Opcode::Not => return Ok(a.map(|a| u64::from(a == 0))),
        Opcode::And => return Ok(and(a, b)),
        Opcode::Or => return Ok(or(a, b)),
        _ => {}
    }
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let (int_a, int_b) = (a.cast_signed(), b.cast_signed());
    let integer = |result: Option<i64>| match result {
        Some(result) => Ok(result.cast_unsigned()),
        None => Err(EvaluationError::Overflow),
    };
    let order = || compare_floats(a, b);
    Ok(Some(match op {
        Opcode::AddInt => integer(int_a.checked_add(int_b))?,
        Opcode::SubtractInt => integer(int_a.checked_sub(int_b))?,
        Opcode::MultiplyInt => integer(int_a.checked_mul(int_b))?,
        Opcode::MinInt => int_a.min(int_b).cast_unsigned(),
        Opcode::MaxInt => int_a.max(int_b).cast_unsigned(),
        Opcode::AddFloat => canonical(f64::from_bits(a) + f64::from_bits(b)),
        Opcode::SubtractFloat => canonical(f64::from_bits(a) - f64::from_bits(b)),
        Opcode::MultiplyFloat => canonical(f64::from_bits(a) * f64::from_bits(b)),
        Opcode::MinFloat => canonical(f64::from_bits(if order().is_gt() { b } else { a })),
        Opcode::MaxFloat => canonical(f64::from_bits(if order().is_lt() { b } else { a })),
        Opcode::EqualInt => u64::from(a == b),
        Opcode::NotEqualInt => u64::from(a != b),
        Opcode::LessInt => u64::from(int_a < int_b),
        Opcode::LessEqualInt => u64::from(int_a <= int_b),
        Opcode::EqualFloat => u64::from(order().is_eq()),
        Opcode::NotEqualFloat => u64::from(order().is_ne()),
        Opcode::LessFloat => u64::from(order().is_lt()),
        Opcode::LessEqualFloat => u64::from(order().is_le()),
        _ => unreachable!("{op:?} is no operation on registers alone"),
    }))
}

/// False if one is false, else null if one is null. Any value but 0 counts as true.
fn and(a: Word, b: Word) -> Word {
    match (a, b) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (Some(_), Some(_)) => Some(1),
        _ => None,
    }
}

/// True if one is true, else null if one is null.
fn or(a: Word, b: Word) -> Word {
    let is_true = |word: Word| word.is_some_and(|value| value != 0);
    match (a, b) {
        _ if is_true(a) || is_true(b) => Some(1),
        (Some(_), Some(_)) => Some(0),
        _ => None,
    }
}

/// The order of SQL: whatever is not a number equals its like and is greater than all others;
/// -0 equals +0.
pub(super) fn compare_floats(a: u64, b: u64) -> Ordering {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn canonical(result: f64) -> u64 {
    if result.is_nan() { CANONICAL_NAN } else { result.to_bits() }
}

/// Whether a column is null, by its bit in the bitmap.
fn is_null(payload: &[u8], bit: u16) -> Result<bool, EvaluationError> {
    if bit == NEVER_NULL {
        return Ok(false);
    }
    let byte = payload.get(usize::from(bit / 8)).ok_or(EvaluationError::RowTooShort)?;
    Ok(byte >> (bit % 8) & 1 != 0)
}

fn word_at(payload: &[u8], offset: usize) -> Result<u64, EvaluationError> {
    match payload.get(offset..offset + 8) {
        Some(bytes) => Ok(u64::from_le_bytes(bytes.try_into().expect("the range has 8 bytes"))),
        None => Err(EvaluationError::RowTooShort),
    }
}

fn load(payload: &[u8], offset: u16, null_bit: u16) -> Result<Word, EvaluationError> {
    let value = word_at(payload, offset.into())?;
    Ok((!is_null(payload, null_bit)?).then_some(value))
}

/// Words in memory order, so the order of the bytes is that of the words turned around.
fn compare_fixed(
    program: &Program,
    instruction: Instruction,
    payload: &[u8],
) -> Result<Word, EvaluationError> {
    let (first, words) = (instruction.first_constant(), instruction.words());
    let (offset, end) = (usize::from(instruction.x), usize::from(instruction.x) + 8 * words);
    if payload.len() < end {
        return Err(EvaluationError::RowTooShort);
    }
    if is_null(payload, instruction.y)? {
        return Ok(None);
    }
    let constants = &program.constants()[first..first + words];
    let mut order = Ordering::Equal;
    for (index, constant) in constants.iter().enumerate() {
        let word = word_at(payload, offset + 8 * index)?;
        order = order.then(word.swap_bytes().cmp(&constant.swap_bytes()));
    }
    if instruction.b & Instruction::LONGER != 0 {
        order = order.then(Ordering::Less);
    }
    Ok(Some((order as i64).cast_unsigned()))
}

fn compare_variable(
    program: &Program,
    instruction: Instruction,
    payload: &[u8],
) -> Result<Word, EvaluationError> {
    let half = |offset: usize| match payload.get(offset..offset + 2) {
        Some(bytes) => Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))),
        None => Err(EvaluationError::RowTooShort),
    };
    let offset = usize::from(instruction.x);
    let is_first = instruction.b & Instruction::FIRST != 0;
    let (start, end) = (if is_first { 0 } else { half(offset - 2)? }, half(offset)?);
    if is_null(payload, instruction.y)? {
        return Ok(None);
    }
    if start > end {
        return Err(EvaluationError::RowDamaged);
    }
    let base = usize::from(program.fixed_bytes());
    let column = payload.get(base + start..base + end).ok_or(EvaluationError::RowTooShort)?;
    let first = instruction.first_constant();
    let constants = &program.constants()[first..first + instruction.words()];
    let constant = constants.iter().flat_map(|word| word.to_le_bytes());
    let order = column.iter().copied().cmp(constant.take(instruction.variable_bytes()));
    Ok(Some((order as i64).cast_unsigned()))
}
