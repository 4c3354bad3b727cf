// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs as text, and back.

use std::fmt;
use std::str::FromStr;

use super::image::{Program, ProgramError};
use super::instruction::{Form, Instruction, NEVER_NULL, Opcode};

/// The listing of a program, which [`Program::from_str`] takes back:
///
/// ```text
/// program table 0, rows of 24 bytes or more
/// c0 = 0x0000000000000064 ; 100
///  0  LOAD r0, [16]
///  1  CONST r1, c0
///  2  LTI r0, r0, r1
///  3  FILTER r0
///  4  END
/// ```
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, bytes) = (self.table(), self.fixed_bytes());
        writeln!(f, "program table {table}, rows of {bytes} bytes or more")?;
        for (index, constant) in self.constants().iter().enumerate() {
            writeln!(f, "c{index} = {constant:#018x} ; {}", Meaning(*constant))?;
        }
        for (index, instruction) in self.instructions().iter().enumerate() {
            writeln!(f, "{index:>2}  {instruction}")?;
        }
        Ok(())
    }
}

/// What a constant probably is.
struct Meaning(u64);

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.to_le_bytes();
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_text = text.len() > 1
            && text.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
            && bytes[text.len()..].iter().all(|byte| *byte == 0);
        let (integer, float) = (self.0.cast_signed(), f64::from_bits(self.0));
        // Small integers are as floats next to nothing, and usual floats huge as integers.
        match float.abs() {
            _ if is_text => write!(f, "{:?}", String::from_utf8_lossy(text)),
            1e-100..1e100 => write!(f, "{float:?}"),
            _ => write!(f, "{integer}"),
        }
    }
}

/// Why a text is no listing of a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    /// A line that is none of a listing.
    #[error("listing, line {line}: found {found:?}, expected {expected}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The value found there.
        found: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The instructions make no program.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// Reads a listing. Numbers of lines are skipped, and so is what follows `;`.
impl FromStr for Program {
    type Err = ListingError;

    fn from_str(text: &str) -> Result<Self, ListingError> {
        let mut head = None;
        let (mut constants, mut code) = (Vec::new(), Vec::new());
        for (number, whole) in text.lines().enumerate() {
            let line = whole.split(';').next().unwrap_or_default().trim();
            let wrong = |expected| ListingError::Line {
                line: number + 1,
                found: whole.to_owned(),
                expected,
            };
            if line.is_empty() {
            } else if head.is_none() {
                head = Some(
                    parse_head(line)
                        .ok_or_else(|| wrong("program table T, rows of B bytes or more"))?,
                );
            } else if let Some((name, value)) = line.split_once('=') {
                let numbered = name.trim() == format!("c{}", constants.len());
                let digits = value.trim().strip_prefix("0x").filter(|_| numbered);
                let constant = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                constants.push(constant.ok_or_else(|| wrong("the next constant, as cN = 0x…"))?);
            } else {
                let instruction = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
                code.push(parse_instruction(instruction).ok_or_else(|| wrong("an instruction"))?);
            }
        }
        let Some((table, fixed_bytes)) = head else {
            return Err(ListingError::Line {
                line: 1,
                found: String::new(),
                expected: "program table T, rows of B bytes or more",
            });
        };
        Ok(Self::new(table, fixed_bytes, code, constants)?)
    }
}

fn parse_head(line: &str) -> Option<(u32, u16)> {
    let (table, bytes) = line.strip_prefix("program table ")?.split_once(", rows of ")?;
    Some((table.parse().ok()?, bytes.strip_suffix(" bytes or more")?.parse().ok()?))
}

fn parse_instruction(text: &str) -> Option<Instruction> {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let op = *Opcode::ALL.iter().find(|op| op.name() == name)?;
    let mut operands: Vec<&str> = match rest.trim() {
        "" => Vec::new(),
        rest => rest.split(',').map(str::trim).collect(),
    };
    let mut instruction = Instruction::new(op);
    let form = op.form();
    if matches!(form, Form::Load | Form::CompareFixed | Form::CompareVariable) {
        let last = operands.last()?;
        instruction.y = match last.strip_prefix("null ") {
            None => NEVER_NULL,
            Some(bit) => {
                let bit = bit.parse().ok()?;
                operands.pop();
                bit
            }
        };
    }
    match (form, &operands[..]) {
        (Form::Bare, []) => {}
        (Form::Load, [dst, x]) => (instruction.dst, instruction.x) = (register(dst)?, byte(x)?),
        (Form::Constant, [dst, constant]) => {
            instruction.dst = register(dst)?;
            instruction.x = constant.strip_prefix('c')?.parse().ok()?;
        }
        (Form::Destination, [dst]) => instruction.dst = register(dst)?,
        (Form::Source, [a]) => instruction.a = register(a)?,
        (Form::Output, [z, a]) => {
            instruction.z = z.strip_prefix('o')?.parse().ok()?;
            instruction.a = register(a)?;
        }
        (Form::Unary, [dst, a]) => {
            (instruction.dst, instruction.a) = (register(dst)?, register(a)?);
        }
        (Form::Binary, [dst, a, b]) => {
            (instruction.dst, instruction.a) = (register(dst)?, register(a)?);
            instruction.b = register(b)?;
        }
        (Form::CompareFixed | Form::CompareVariable, [dst, x, constants, flags @ ..]) => {
            (instruction.dst, instruction.x) = (register(dst)?, byte(x)?);
            comparison(&mut instruction, constants, flags)?;
        }
        _ => return None,
    }
    Some(instruction)
}

/// `c0 x 2` and `longer`; `c0 x 13 bytes` and `first`.
fn comparison(instruction: &mut Instruction, constants: &str, flags: &[&str]) -> Option<()> {
    let (first, count) = constants.strip_prefix('c')?.split_once(" x ")?;
    let first: u16 = first.parse().ok()?;
    let (words, flag) = if instruction.op == Opcode::CompareFixed {
        (count.parse::<u16>().ok()?, ("longer", Instruction::LONGER))
    } else {
        let bytes: u16 = count.strip_suffix(" bytes")?.parse().ok()?;
        instruction.b = (bytes % 8) as u8;
        (bytes.div_ceil(8), ("first", Instruction::FIRST))
    };
    match flags {
        [] => {}
        [found] if *found == flag.0 => instruction.b |= flag.1,
        _ => return None,
    }
    if first >= 64 || words >= 64 {
        return None;
    }
    instruction.z = first | words << 6;
    Some(())
}

fn register(text: &str) -> Option<u8> {
    text.strip_prefix('r')?.parse().ok()
}

fn byte(text: &str) -> Option<u16> {
    text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}
