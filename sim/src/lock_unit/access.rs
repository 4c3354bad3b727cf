// SPDX-License-Identifier: MIT OR Apache-2.0
//! An access of the lock machine to its bucket, as an access on the lock unit's memory port and in
//! the coherent memory.
//!
//! Three layers name an access, each what it knows of: the machine a word of its bucket, the port an
//! address and an id, the coherent memory an address and an agent. They are converted here, and in
//! `coherence/port.rs`.

use locks::Slot;
use locks::machine::{Access, Answer};

use crate::bus::BusError;
use crate::bus::axi4::{AccessKind, MemoryAccess, MemoryData};
use crate::coherence::{Completion, Operation};

/// An access of the unit, within the bucket whose line it is to.
impl TryFrom<&MemoryAccess> for Access {
    type Error = BusError;

    /// # Errors
    /// When it is none of the protocol's: its only stores write 0 to a slot.
    fn try_from(access: &MemoryAccess) -> Result<Self, BusError> {
        let word = (access.address / 8 % 8) as u8;
        match access.kind {
            AccessKind::ReadLine { .. } => Ok(Access::ReadLine),
            AccessKind::CompareSwap { expected, new } => {
                Ok(Access::CompareSwap { word, expected, new })
            }
            AccessKind::Store { value: 0, strobe: 0xFF } => {
                Slot::new(word).map(Access::Clear).ok_or(BusError::SubordinateError)
            }
            AccessKind::Store { .. } | AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                Err(BusError::SubordinateError)
            }
        }
    }
}

/// What a bucket has answered, for the port.
impl TryFrom<Answer> for MemoryData {
    type Error = BusError;

    /// # Errors
    /// When the bucket has answered with one.
    fn try_from(answer: Answer) -> Result<Self, BusError> {
        match answer {
            Answer::Line(line) => Ok(MemoryData::Line(line)),
            Answer::Word(old) => Ok(MemoryData::OldWord(old)),
            Answer::Cleared => Ok(MemoryData::Stored),
            Answer::BusError => Err(BusError::SubordinateError),
        }
    }
}

/// What memory has found, for the machine.
impl From<MemoryData> for Answer {
    fn from(data: MemoryData) -> Self {
        match data {
            MemoryData::Line(line) => Answer::Line(line),
            MemoryData::OldWord(word) => Answer::Word(word),
            MemoryData::Stored => Answer::Cleared,
        }
    }
}

/// What the coherent memory has found, for the machine.
impl From<&Completion> for Answer {
    fn from(completion: &Completion) -> Self {
        MemoryData::from(completion).into()
    }
}

/// The machine's access to the bucket whose line is at `line`, for the coherent memory. A read of the
/// head alone whose copy is to be kept reads the line.
pub fn operation(line: u64, access: Access, keep_copy: bool) -> Operation {
    let word = |index: u8| line + 8 * u64::from(index);
    match access {
        Access::LoadHead if !keep_copy => Operation::Load { address: line },
        Access::LoadHead | Access::ReadLine => Operation::ReadLine { address: line, keep_copy },
        Access::CompareSwap { word: index, expected, new } => {
            Operation::CompareSwap { address: word(index), expected, new }
        }
        Access::Clear(slot) => Operation::Store { address: word(slot.get()), value: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, kind: AccessKind) -> MemoryAccess {
        MemoryAccess { id: 0, address, kind, accepted_at_cycle: 0 }
    }

    #[test]
    fn the_ports_accesses_are_the_machines_and_the_memorys() {
        let slot = Slot::new(3).unwrap();
        for (kind, word, machine) in [
            (AccessKind::ReadLine { keep_copy: true }, 0, Access::ReadLine),
            (
                AccessKind::CompareSwap { expected: 1, new: 2 },
                5,
                Access::CompareSwap { word: 5, expected: 1, new: 2 },
            ),
            (AccessKind::Store { value: 0, strobe: 0xFF }, 3, Access::Clear(slot)),
        ] {
            let access = access(0x1000 + 8 * word, kind);
            assert_eq!(Access::try_from(&access), Ok(machine));
            assert_eq!(Operation::try_from(&access), Ok(operation(0x1000, machine, true)));
        }
    }

    #[test]
    fn stores_that_the_protocol_does_not_have_are_refused() {
        let store = |address, value, strobe| access(address, AccessKind::Store { value, strobe });
        for foreign in [store(0x1008, 1, 0xFF), store(0x1008, 0, 0x0F), store(0x1000, 0, 0xFF)] {
            assert_eq!(Access::try_from(&foreign), Err(BusError::SubordinateError), "{foreign:?}");
        }
        let half = Operation::try_from(&store(0x1008, 0, 0x0F));
        assert_eq!(half, Err(BusError::SubordinateError));
    }
}
