// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses of a block's memory port as operations of the coherent memory, and back.

use super::{Completion, Operation};
use crate::bus::BusError;
use crate::bus::axi4::{AccessKind, MemoryAccess, MemoryData};

impl TryFrom<&MemoryAccess> for Operation {
    type Error = BusError;

    /// # Errors
    /// When it stores part of a word: coherent words are stored whole. When it is a burst.
    fn try_from(access: &MemoryAccess) -> Result<Self, BusError> {
        let address = access.address;
        match access.kind {
            AccessKind::ReadLine { keep_copy } => Ok(Operation::ReadLine { address, keep_copy }),
            AccessKind::CompareSwap { expected, new } => {
                Ok(Operation::CompareSwap { address, expected, new })
            }
            AccessKind::Store { value, strobe: 0xFF } => Ok(Operation::Store { address, value }),
            AccessKind::Store { .. } | AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                Err(BusError::SubordinateError)
            }
        }
    }
}

impl From<&Completion> for MemoryData {
    fn from(completion: &Completion) -> Self {
        match completion.operation {
            Operation::ReadLine { .. } => MemoryData::Line(completion.line),
            Operation::CompareSwap { .. } | Operation::Load { .. } => {
                MemoryData::OldWord(completion.value)
            }
            Operation::Store { .. } => MemoryData::Stored,
        }
    }
}
