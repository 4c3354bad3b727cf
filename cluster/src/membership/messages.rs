// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages between nodes and the manager. They begin as all messages do, with the number of a view
//! (4 bytes) and a kind (1 byte).

use super::View;
use crate::engine::Instant;
use crate::placement::PartitionId;
use crate::wire::{Reader, WireError, Writer};

/// The numbers of the kinds of messages. RPCs have smaller ones, recovery's own larger ones.
pub mod kind {
    /// A node renews its lease.
    pub const RENEW: u8 = 16;
    /// A new process asks to become a member.
    pub const JOIN: u8 = 17;
    /// A node is ready for a view.
    pub const RECOVERED: u8 = 18;
    /// A lease is granted.
    pub const GRANT: u8 = 19;
    /// A view is proposed.
    pub const PREPARE: u8 = 20;
    /// A view has begun.
    pub const COMMIT: u8 = 21;
    /// A process is no member any more.
    pub const EVICTED: u8 = 22;
}

/// A message between a node and the manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// From a node: it asks for its lease from now on.
    Renew {
        /// Its view.
        epoch: u32,
        /// The number of its process.
        incarnation: u32,
        /// When, by its clock.
        sent: Instant,
        /// Which of its replicas have been filled in this view.
        filled: Vec<PartitionId>,
    },
    /// From a process that is no member: it wants to be one.
    Join {
        /// The number of the process.
        incarnation: u32,
    },
    /// From a node: it has stopped the view before `epoch`, and has all that was committed.
    Recovered {
        /// The proposed view.
        epoch: u32,
        /// The number of its process.
        incarnation: u32,
    },
    /// From the manager: the lease lasts from `sent` on.
    Grant {
        /// The manager's view.
        epoch: u32,
        /// The process whose lease it is.
        incarnation: u32,
        /// As in the request.
        sent: Instant,
    },
    /// From the manager: a view to be prepared.
    Prepare {
        /// The view.
        view: View,
    },
    /// From the manager: all members are ready, the view begins.
    Commit {
        /// The view.
        epoch: u32,
    },
    /// From the manager: the process is no member any more.
    Evicted {
        /// The manager's view.
        epoch: u32,
        /// The process.
        incarnation: u32,
    },
}

impl Message {
    /// Appends the message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = |epoch, kind| {
            out.put_u32(epoch);
            out.put_u8(kind);
        };
        match self {
            Self::Renew { epoch, incarnation, sent, filled } => {
                head(*epoch, kind::RENEW);
                out.put_u32(*incarnation);
                out.put_u64(sent.as_ps());
                out.put_u16(filled.len() as u16);
                filled.iter().for_each(|partition| out.put_u16(partition.0));
            }
            Self::Join { incarnation } => {
                head(0, kind::JOIN);
                out.put_u32(*incarnation);
            }
            Self::Recovered { epoch, incarnation } => {
                head(*epoch, kind::RECOVERED);
                out.put_u32(*incarnation);
            }
            Self::Grant { epoch, incarnation, sent } => {
                head(*epoch, kind::GRANT);
                out.put_u32(*incarnation);
                out.put_u64(sent.as_ps());
            }
            Self::Prepare { view } => {
                head(view.epoch(), kind::PREPARE);
                view.encode(out);
            }
            Self::Commit { epoch } => head(*epoch, kind::COMMIT),
            Self::Evicted { epoch, incarnation } => {
                head(*epoch, kind::EVICTED);
                out.put_u32(*incarnation);
            }
        }
    }

    /// Reads a message.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let reader = &mut Reader::new(bytes);
        let epoch = reader.u32("the number of a view")?;
        let kind = reader.u8("a kind of message")?;
        let process = "the number of a process";
        let message = match kind {
            kind::RENEW => {
                let (incarnation, sent) = (reader.u32(process)?, instant(reader)?);
                let count = reader.u16("a count of partitions")?;
                let filled = (0..count).map(|_| reader.u16("a partition").map(PartitionId));
                Self::Renew { epoch, incarnation, sent, filled: filled.collect::<Result<_, _>>()? }
            }
            kind::JOIN => Self::Join { incarnation: reader.u32(process)? },
            kind::RECOVERED => Self::Recovered { epoch, incarnation: reader.u32(process)? },
            kind::GRANT => {
                Self::Grant { epoch, incarnation: reader.u32(process)?, sent: instant(reader)? }
            }
            kind::PREPARE => {
                let view = View::decode(reader)?;
                if view.epoch() != epoch {
                    let (expected, found) = ("the same view twice", u64::from(view.epoch()));
                    return Err(WireError::Unknown { expected, found, at: 5 });
                }
                Self::Prepare { view }
            }
            kind::COMMIT => Self::Commit { epoch },
            kind::EVICTED => Self::Evicted { epoch, incarnation: reader.u32(process)? },
            other => return Err(reader.unknown("a kind of message (16 to 22)", other)),
        };
        reader.end("the message")?;
        Ok(message)
    }
}

fn instant(reader: &mut Reader<'_>) -> Result<Instant, WireError> {
    let at = reader.position();
    let ps = reader.u64("a time")?;
    // So that no sum of times overflows.
    match ps <= u64::MAX / 2 {
        true => Ok(Instant::from_ps(ps)),
        false => Err(WireError::Unknown { expected: "a time below 2^63 ps", found: ps, at }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_short_or_long_ones_are_refused() {
        let table = crate::transact::TableShape::hashed("objects", 8, 64);
        let layout = crate::placement::Partitioning::new(3, 1, &[table]).unwrap();
        let sent = Instant::from_ps(77);
        let all = [
            Message::Renew { epoch: 3, incarnation: 1, sent, filled: vec![PartitionId(2)] },
            Message::Join { incarnation: 9 },
            Message::Recovered { epoch: 4, incarnation: 2 },
            Message::Grant { epoch: 4, incarnation: 2, sent },
            Message::Prepare { view: View::initial(&layout) },
            Message::Commit { epoch: 5 },
            Message::Evicted { epoch: 5, incarnation: 7 },
        ];
        for message in all {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(Message::decode(&bytes), Ok(message));
            assert!((0..bytes.len()).all(|end| Message::decode(&bytes[..end]).is_err()));
            bytes.push(0);
            assert!(Message::decode(&bytes).is_err());
        }
    }
}
