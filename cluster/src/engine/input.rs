// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a driver gives to a machine.

use super::{Endpoint, NodeId};

/// Which memory operation of a machine has ended: the machine's own number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

/// One thing that has happened to a part of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// A message has come. Its bytes may be anything; a machine counts and drops what it cannot read.
    Message {
        /// The sender.
        from: Endpoint,
        /// The whole message.
        bytes: &'a [u8],
    },
    /// A memory operation has ended.
    Completed {
        /// The machine's number for it.
        token: Token,
        /// How it ended.
        outcome: Outcome,
        /// What was read.
        bytes: &'a [u8],
    },
    /// Worker `worker` may begin transactions from now on, one after the other.
    Begin {
        /// The worker of the thread, from 0.
        worker: u8,
    },
    /// Worker `worker` begins no further transaction after the one that it is in.
    Finish {
        /// The worker of the thread, from 0.
        worker: u8,
    },
    /// The machine's deadline has come.
    Deadline,
}

/// How a memory operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A read or a write was done.
    Done,
    /// An atomic was done; the word held this before.
    Held(u64),
    /// The other side did not answer, or refused.
    Failed,
}

/// Whose memory an operation is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The host's of the same node, from the NIC by DMA.
    Host,
    /// Another node's, by a one-sided verb.
    Node(NodeId),
}

/// An operation on memory that the machine does not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads `length` bytes.
    Read {
        /// The first byte's address.
        at: u64,
        /// In bytes.
        length: u32,
    },
    /// Writes bytes, which the request carries.
    Write {
        /// The first byte's address.
        at: u64,
    },
    /// Replaces a word of eight bytes if it is as expected.
    CompareSwap {
        /// Its address, a multiple of 8.
        at: u64,
        /// What it should hold.
        expected: u64,
        /// What replaces that.
        new: u64,
    },
    /// Adds to a word of eight bytes.
    FetchAdd {
        /// Its address, a multiple of 8.
        at: u64,
        /// How much is added, wrapping.
        by: u64,
    },
}
