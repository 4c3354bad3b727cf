// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens that stand for registers: what software may do with one is in the token's type.

use std::marker::PhantomData;

use crate::{DeviceError, Registers};

/// How often a counter is read again when its high half moves meanwhile.
const COUNTER_READS: u32 = 8;

/// What a register holds, in one or two words of 32 bits.
pub trait Value: Copy {
    /// Reads it from byte `offset` on, the low half first.
    ///
    /// # Errors
    /// What the registers report.
    fn load<R: Registers + ?Sized>(registers: &mut R, offset: u32) -> Result<Self, DeviceError>;

    /// Writes it from byte `offset` on, the low half first.
    ///
    /// # Errors
    /// What the registers report.
    fn store<R: Registers + ?Sized>(
        self,
        registers: &mut R,
        offset: u32,
    ) -> Result<(), DeviceError>;
}

/// A value in one word. Software ignores bits that are no field, which later versions may use.
macro_rules! narrow_value {
    ($($kind:ty),*) => {$(
        impl Value for $kind {
            fn load<R: Registers + ?Sized>(
                registers: &mut R,
                offset: u32,
            ) -> Result<Self, DeviceError> {
                Ok(registers.read32(offset)? as $kind)
            }

            fn store<R: Registers + ?Sized>(
                self,
                registers: &mut R,
                offset: u32,
            ) -> Result<(), DeviceError> {
                registers.write32(offset, self.into())
            }
        }
    )*};
}

narrow_value!(u8, u16, u32);

impl Value for u64 {
    fn load<R: Registers + ?Sized>(registers: &mut R, offset: u32) -> Result<Self, DeviceError> {
        let low = registers.read32(offset)?;
        let high = registers.read32(offset + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    fn store<R: Registers + ?Sized>(
        self,
        registers: &mut R,
        offset: u32,
    ) -> Result<(), DeviceError> {
        registers.write32(offset, self as u32)?;
        registers.write32(offset + 4, (self >> 32) as u32)
    }
}

/// Implements [`Value`] for a generated struct around the 32 bits of a register.
macro_rules! value_of_fields {
    ($kind:ident) => {
        impl $crate::map::Value for $kind {
            fn load<R: $crate::Registers + ?Sized>(
                registers: &mut R,
                offset: u32,
            ) -> Result<Self, $crate::DeviceError> {
                Ok($kind(registers.read32(offset)?))
            }

            fn store<R: $crate::Registers + ?Sized>(
                self,
                registers: &mut R,
                offset: u32,
            ) -> Result<(), $crate::DeviceError> {
                registers.write32(offset, self.0)
            }
        }
    };
}
pub(super) use value_of_fields;

/// The parts that all tokens have.
macro_rules! token {
    ($(#[$doc:meta])* $token:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $token<T> {
            name: &'static str,
            offset: u32,
            value: PhantomData<fn() -> T>,
        }

        impl<T: Value> $token<T> {
            pub(super) const fn new(name: &'static str, offset: u32) -> Self {
                $token { name, offset, value: PhantomData }
            }

            /// Its name in the register map.
            pub const fn name(&self) -> &'static str {
                self.name
            }

            /// Its place in the block, in bytes.
            pub const fn offset(&self) -> u32 {
                self.offset
            }
        }
    };
}

macro_rules! readable {
    ($token:ident) => {
        impl<T: Value> $token<T> {
            /// Reads the register.
            ///
            /// # Errors
            /// What the registers report.
            pub fn read<R: Registers + ?Sized>(&self, registers: &mut R) -> Result<T, DeviceError> {
                T::load(registers, self.offset)
            }
        }
    };
}

macro_rules! writable {
    ($token:ident) => {
        impl<T: Value> $token<T> {
            /// Writes the register.
            ///
            /// # Errors
            /// What the registers report.
            pub fn write<R: Registers + ?Sized>(
                &self,
                registers: &mut R,
                value: T,
            ) -> Result<(), DeviceError> {
                value.store(registers, self.offset)
            }
        }
    };
}

token! {
    /// A register that software only reads.
    ReadOnly
}
readable!(ReadOnly);

token! {
    /// A register that software reads and writes.
    ReadWrite
}
readable!(ReadWrite);
writable!(ReadWrite);

token! {
    /// A register that software only writes.
    WriteOnly
}
writable!(WriteOnly);

token! {
    /// A register whose bits the device sets and software clears, by writing 1 to them.
    WriteOneToClear
}
readable!(WriteOneToClear);

impl<T: Value> WriteOneToClear<T> {
    /// Clears the bits that are set in `bits`, and leaves the others as they are.
    ///
    /// # Errors
    /// What the registers report.
    pub fn clear<R: Registers + ?Sized>(
        &self,
        registers: &mut R,
        bits: T,
    ) -> Result<(), DeviceError> {
        bits.store(registers, self.offset)
    }
}

/// A 64-bit counter, which is read in two halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    name: &'static str,
    offset: u32,
}

impl Counter {
    pub(super) const fn new(name: &'static str, offset: u32) -> Self {
        Counter { name, offset }
    }

    /// Its name in the register map.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The place of its low half in the block, in bytes.
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// Reads both halves, and again when a carry went from one to the other meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when the high half never holds still, or what the registers
    /// report.
    pub fn read<R: Registers + ?Sized>(&self, registers: &mut R) -> Result<u64, DeviceError> {
        let mut high = registers.read32(self.offset + 4)?;
        for _ in 0..COUNTER_READS {
            let low = registers.read32(self.offset)?;
            let high_after = registers.read32(self.offset + 4)?;
            if high == high_after {
                return Ok(u64::from(high) << 32 | u64::from(low));
            }
            high = high_after;
        }
        Err(DeviceError::Timeout {
            waited_for: format!("the high half of {} to hold still", self.name),
            bound: format!("{COUNTER_READS} reads"),
        })
    }
}
