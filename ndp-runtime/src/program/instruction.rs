// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction set: one 64-bit word for each instruction.
//!
//! Fields, from bit 0: `op` 8, `dst` 4, `a` 4, `b` 4, `z` 12, `x` 16, `y` 16. A field that an
//! instruction does not use is 0. What each does: `docs/near-data-programs.md`.

use std::fmt;

/// The registers of the machine.
pub const REGISTERS: usize = 16;

/// The most outputs that a program has.
pub const MAX_OUTPUTS: usize = 8;

/// Field `y` of a load or comparison whose column admits no nulls.
pub const NEVER_NULL: u16 = 0xffff;

/// Fields of an instruction word that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields(u8);

impl Fields {
    pub const NONE: Self = Self(0);
    pub const DST: Self = Self(1);
    pub const A: Self = Self(2);
    pub const B: Self = Self(4);
    pub const Z: Self = Self(8);
    pub const X: Self = Self(16);
    pub const Y: Self = Self(32);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn has(self, field: Self) -> bool {
        self.0 & field.0 != 0
    }
}

/// The form of an operation: which fields it uses and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `END`
    Bare,
    /// `LOAD r1, [24], null 3`
    Load,
    /// `CONST r1, c0`
    Constant,
    /// `NULL r1`
    Destination,
    /// `FILTER r1`
    Source,
    /// `OUT o0, r1`
    Output,
    /// `NOT r1, r2`
    Unary,
    /// `ADDI r1, r2, r3`
    Binary,
    /// `CMPFIXED r1, [24], c0..c2, longer, null 3`
    CompareFixed,
    /// `CMPVAR r1, [24], c0..c2, last 5, first, null 3`
    CompareVariable,
}

impl Form {
    pub const fn fields(self) -> Fields {
        let compare = Fields::DST.and(Fields::B).and(Fields::Z).and(Fields::X).and(Fields::Y);
        match self {
            Self::Bare => Fields::NONE,
            Self::Load => Fields::DST.and(Fields::X).and(Fields::Y),
            Self::Constant => Fields::DST.and(Fields::X),
            Self::Destination => Fields::DST,
            Self::Source => Fields::A,
            Self::Output => Fields::A.and(Fields::Z),
            Self::Unary => Fields::DST.and(Fields::A),
            Self::Binary => Fields::DST.and(Fields::A).and(Fields::B),
            Self::CompareFixed | Self::CompareVariable => compare,
        }
    }
}

macro_rules! opcodes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $form:ident;)*) => {
        /// The effect of an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $($(#[$doc])* $variant = $code,)*
        }

        impl Opcode {
            /// Every operation, by rising code.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The operation of this code.
            pub fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name in a listing.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            pub(super) const fn form(self) -> Form {
                match self {
                    $(Self::$variant => Form::$form,)*
                }
            }
        }
    };
}

opcodes! {
    /// The row qualifies; nothing follows.
    End = 0x00, "END", Bare;
    /// `dst` := the payload's word at byte `x`; null if bit `y` of the bitmap is set.
    Load = 0x01, "LOAD", Load;
    /// `dst` := constant `x`.
    Constant = 0x02, "CONST", Constant;
    /// `dst` := null.
    Null = 0x03, "NULL", Destination;
    /// Unless `a` is true, the row does not qualify, and nothing follows.
    Filter = 0x05, "FILTER", Source;
    /// Output `z` := `a`.
    Out = 0x06, "OUT", Output;
    /// `a` + `b` of integers.
    AddInt = 0x10, "ADDI", Binary;
    /// `a` - `b` of integers.
    SubtractInt = 0x11, "SUBI", Binary;
    /// `a` × `b` of integers.
    MultiplyInt = 0x12, "MULI", Binary;
    /// The lesser of two integers.
    MinInt = 0x13, "MINI", Binary;
    /// The greater of two integers.
    MaxInt = 0x14, "MAXI", Binary;
    /// `a` + `b` of floats.
    AddFloat = 0x20, "ADDF", Binary;
    /// `a` - `b` of floats.
    SubtractFloat = 0x21, "SUBF", Binary;
    /// `a` × `b` of floats.
    MultiplyFloat = 0x22, "MULF", Binary;
    /// The lesser of two floats; of equal ones `a`.
    MinFloat = 0x23, "MINF", Binary;
    /// The greater of two floats; of equal ones `a`.
    MaxFloat = 0x24, "MAXF", Binary;
    /// Whether `a` = `b` as integers.
    EqualInt = 0x30, "EQI", Binary;
    /// Whether `a` <> `b` as integers.
    NotEqualInt = 0x31, "NEI", Binary;
    /// Whether `a` < `b` as integers.
    LessInt = 0x32, "LTI", Binary;
    /// Whether `a` <= `b` as integers.
    LessEqualInt = 0x33, "LEI", Binary;
    /// Whether `a` = `b` as floats.
    EqualFloat = 0x38, "EQF", Binary;
    /// Whether `a` <> `b` as floats.
    NotEqualFloat = 0x39, "NEF", Binary;
    /// Whether `a` < `b` as floats.
    LessFloat = 0x3a, "LTF", Binary;
    /// Whether `a` <= `b` as floats.
    LessEqualFloat = 0x3b, "LEF", Binary;
    /// Kleene's and.
    And = 0x40, "AND", Binary;
    /// Kleene's or.
    Or = 0x41, "OR", Binary;
    /// Kleene's not.
    Not = 0x42, "NOT", Unary;
    /// Whether `a` is null.
    IsNull = 0x43, "ISNULL", Unary;
    /// -1, 0 or 1 as the `Fixed` column at `x` is less than, equal to or greater than constants.
    CompareFixed = 0x50, "CMPFIXED", CompareFixed;
    /// As [`Opcode::CompareFixed`], of the variable column whose end is kept at `x`. The
    /// hardware's element does not have it.
    CompareVariable = 0x51, "CMPVAR", CompareVariable;
}

/// One instruction: its fields, each within the bits that it has in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Its action.
    pub op: Opcode,
    /// The register that it writes, 0 to 15.
    pub dst: u8,
    /// The register that it reads first, 0 to 15.
    pub a: u8,
    /// The register that it reads second, 0 to 15; of a comparison with constants its flags.
    pub b: u8,
    /// The output; of a comparison with constants, first constant + 64 × number of words.
    pub z: u16,
    /// The payload's byte, or the constant.
    pub x: u16,
    /// The column's bit in the null bitmap, or [`NEVER_NULL`].
    pub y: u16,
}

impl Instruction {
    /// Flag in `b` of [`Opcode::CompareFixed`]: the text is longer than the constants hold, so a
    /// column that equals them is less.
    pub const LONGER: u8 = 1;

    /// Flag in `b` of [`Opcode::CompareVariable`]: the first variable column, which begins where the
    /// variable bytes do. The other bits of `b`: how many bytes of the last word count, 0 being 8.
    pub const FIRST: u8 = 8;

    /// An instruction with all fields 0.
    pub const fn new(op: Opcode) -> Self {
        Self { op, dst: 0, a: 0, b: 0, z: 0, x: 0, y: 0 }
    }

    /// [`Opcode::Load`] of the word at byte `offset`.
    pub const fn load(dst: u8, offset: u16, null_bit: u16) -> Self {
        Self { dst, x: offset, y: null_bit, ..Self::new(Opcode::Load) }
    }

    /// [`Opcode::Constant`].
    pub const fn constant(dst: u8, constant: u8) -> Self {
        Self { dst, x: constant as u16, ..Self::new(Opcode::Constant) }
    }

    /// [`Opcode::Null`].
    pub const fn null(dst: u8) -> Self {
        Self { dst, ..Self::new(Opcode::Null) }
    }

    /// [`Opcode::Filter`].
    pub const fn filter(a: u8) -> Self {
        Self { a, ..Self::new(Opcode::Filter) }
    }

    /// [`Opcode::Out`].
    pub const fn out(output: u8, a: u8) -> Self {
        Self { z: output as u16, a, ..Self::new(Opcode::Out) }
    }

    /// An operation on one register.
    pub const fn unary(op: Opcode, dst: u8, a: u8) -> Self {
        Self { dst, a, ..Self::new(op) }
    }

    /// An operation on two registers.
    pub const fn binary(op: Opcode, dst: u8, a: u8, b: u8) -> Self {
        Self { dst, a, b, ..Self::new(op) }
    }

    /// [`Opcode::CompareFixed`] of the column at byte `offset` with `words` constants from `first`.
    pub const fn compare_fixed(
        dst: u8,
        offset: u16,
        null_bit: u16,
        first: u8,
        words: u8,
        longer: bool,
    ) -> Self {
        let b = if longer { Self::LONGER } else { 0 };
        let z = first as u16 | (words as u16) << 6;
        Self { dst, b, z, x: offset, y: null_bit, ..Self::new(Opcode::CompareFixed) }
    }

    /// The first constant of a comparison with constants.
    pub const fn first_constant(self) -> usize {
        self.z as usize & 63
    }

    /// How many words of constants a comparison has.
    pub const fn words(self) -> usize {
        self.z as usize >> 6
    }

    /// How many bytes of constants a [`Opcode::CompareVariable`] has, if its fields can be.
    pub(super) const fn variable_bytes(self) -> usize {
        let last = self.b as usize & 7;
        8 * self.words() - if last == 0 { 0 } else { 8 - last }
    }

    /// The word.
    ///
    /// # Panics
    /// When a field has more bits than there is room for.
    pub fn encode(self) -> u64 {
        assert!(
            self.dst < 16 && self.a < 16 && self.b < 16 && self.z < 1 << 12,
            "{self:?} has fields that do not fit"
        );
        u64::from(self.op as u8)
            | u64::from(self.dst) << 8
            | u64::from(self.a) << 12
            | u64::from(self.b) << 16
            | u64::from(self.z) << 20
            | u64::from(self.x) << 32
            | u64::from(self.y) << 48
    }

    /// The instruction of a word, `None` if there is no such operation. Fields that the operation
    /// does not use are as they are in the word.
    pub fn decode(word: u64) -> Option<Self> {
        let nibble = |shift: u32| (word >> shift & 15) as u8;
        let op = Opcode::from_code(word as u8)?;
        let (dst, a, b) = (nibble(8), nibble(12), nibble(16));
        let (z, x, y) = ((word >> 20 & 0xfff) as u16, (word >> 32) as u16, (word >> 48) as u16);
        Some(Self { op, dst, a, b, z, x, y })
    }

    /// The first field that is not 0 although the operation does not use it.
    pub(super) fn stray_field(self) -> Option<(&'static str, u16)> {
        let fields = self.op.form().fields();
        let all = [
            ("dst", Fields::DST, self.dst.into()),
            ("a", Fields::A, self.a.into()),
            ("b", Fields::B, self.b.into()),
            ("z", Fields::Z, self.z),
            ("x", Fields::X, self.x),
            ("y", Fields::Y, self.y),
        ];
        let stray = all.iter().find(|(_, field, value)| !fields.has(*field) && *value != 0);
        stray.map(|(name, _, value)| (*name, *value))
    }

    /// The registers that it reads.
    pub(super) fn sources(self) -> impl Iterator<Item = u8> {
        let fields = self.op.form().fields();
        // Of a comparison with constants `b` is no register: it has no `a` either.
        let a = fields.has(Fields::A).then_some(self.a);
        let b = (fields.has(Fields::A) && fields.has(Fields::B)).then_some(self.b);
        a.into_iter().chain(b)
    }

    /// The register that it writes.
    pub(super) fn destination(self) -> Option<u8> {
        self.op.form().fields().has(Fields::DST).then_some(self.dst)
    }
}

/// As in a listing: `ADDI r2, r0, r1`.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, dst, a, b, z, x, y } = self;
        let name = op.name();
        match op.form() {
            Form::Bare => f.write_str(name),
            Form::Load => write!(f, "{name} r{dst}, [{x}]{}", null_bit(*y)),
            Form::Constant => write!(f, "{name} r{dst}, c{x}"),
            Form::Destination => write!(f, "{name} r{dst}"),
            Form::Source => write!(f, "{name} r{a}"),
            Form::Output => write!(f, "{name} o{z}, r{a}"),
            Form::Unary => write!(f, "{name} r{dst}, r{a}"),
            Form::Binary => write!(f, "{name} r{dst}, r{a}, r{b}"),
            Form::CompareFixed => {
                let longer = if b & Self::LONGER != 0 { ", longer" } else { "" };
                let (first, words) = (self.first_constant(), self.words());
                write!(f, "{name} r{dst}, [{x}], c{first} x {words}{longer}{}", null_bit(*y))
            }
            Form::CompareVariable => {
                let start = if b & Self::FIRST != 0 { ", first" } else { "" };
                let (first, bytes) = (self.first_constant(), self.variable_bytes());
                write!(f, "{name} r{dst}, [{x}], c{first} x {bytes} bytes{start}{}", null_bit(*y))
            }
        }
    }
}

fn null_bit(bit: u16) -> String {
    if bit == NEVER_NULL { String::new() } else { format!(", null {bit}") }
}
