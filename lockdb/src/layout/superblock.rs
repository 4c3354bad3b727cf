// SPDX-License-Identifier: MIT OR Apache-2.0
//! Superblocks: which checkpoint is the newest.
//!
//! Physical pages 0 and 1 hold one each; checkpoint *n* writes page *n* mod 2, so that a torn write
//! leaves the other whole. All fields lie in the first 512 bytes.

/// What a checkpoint leaves behind, and where the log continues from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Superblock {
    /// Identity of the store.
    pub store: u64,
    /// Number of the checkpoint, from 0.
    pub epoch: u64,
    /// LSN from which the log is to be redone.
    pub redo_lsn: u64,
    /// The last commit before that.
    pub redo_commit: u64,
    /// Epoch of the log at that place.
    pub redo_epoch: u64,
    /// [`Place`](super::Place) of the first page of the directory.
    pub directory: u64,
    /// Bytes of the directory.
    pub directory_bytes: u64,
}

/// The error in a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuperblockError {
    /// It was never written.
    #[error("nothing was written here")]
    Empty,
    /// It is something else.
    #[error("magic \"{}\", expected \"{}\"", found.escape_ascii(),
        Superblock::MAGIC.escape_ascii())]
    Magic {
        /// The value found there.
        found: [u8; 8],
    },
    /// Another version of the store wrote it.
    #[error("format version {found}, this program reads version {expected}")]
    Version {
        /// The value found there.
        found: u32,
        /// The readable data.
        expected: u32,
    },
    /// Its bytes have changed.
    #[error("checksum {found:#010x}, the bytes give {expected:#010x}")]
    Checksum {
        /// The value found there.
        found: u32,
        /// Of the bytes.
        expected: u32,
    },
}

impl Superblock {
    /// Size on storage.
    pub const BYTES: usize = 16 + size_of::<Self>();
    /// The first bytes.
    pub const MAGIC: [u8; 8] = *b"LKSTORE1";
    /// The layout that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// Its bytes: magic, version, CRC-32C of the fields, the fields in order.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let fields = [
            self.store,
            self.epoch,
            self.redo_lsn,
            self.redo_commit,
            self.redo_epoch,
            self.directory,
            self.directory_bytes,
        ];
        for (field, at) in fields.iter().zip((16..).step_by(8)) {
            bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
        }
        bytes[0..8].copy_from_slice(&Self::MAGIC);
        bytes[8..12].copy_from_slice(&Self::VERSION.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[16..]);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Result<Self, SuperblockError> {
        if bytes.iter().all(|&byte| byte == 0) {
            return Err(SuperblockError::Empty);
        }
        let half =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let word =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let magic: [u8; 8] = bytes[0..8].try_into().expect("eight bytes");
        if magic != Self::MAGIC {
            return Err(SuperblockError::Magic { found: magic });
        }
        if half(8) != Self::VERSION {
            return Err(SuperblockError::Version { found: half(8), expected: Self::VERSION });
        }
        let expected = crc32c::crc32c(&bytes[16..]);
        if half(12) != expected {
            return Err(SuperblockError::Checksum { found: half(12), expected });
        }
        Ok(Self {
            store: word(16),
            epoch: word(24),
            redo_lsn: word(32),
            redo_commit: word(40),
            redo_epoch: word(48),
            directory: word(56),
            directory_bytes: word(64),
        })
    }
}

const _: () = assert!(Superblock::BYTES == 72);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let superblock = Superblock {
            store: 1,
            epoch: 2,
            redo_lsn: 3,
            redo_commit: 4,
            redo_epoch: 5,
            directory: 6,
            directory_bytes: 7,
        };
        let bytes = superblock.encode();
        assert_eq!(Superblock::decode(&bytes), Ok(superblock));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Superblock::decode(&damaged).is_err(), "bit {bit}");
        }
        assert_eq!(Superblock::decode(&[0; Superblock::BYTES]), Err(SuperblockError::Empty));
    }
}
