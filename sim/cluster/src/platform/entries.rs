// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entries of a platform file that a cluster reads, section by section.

use serde::{Deserialize, Serialize};
use timing::Time;
use timing::platform::{Bandwidth, Bytes, Count, Entry, Ratio};

/// What the work of a host thread takes: one entry for each kind of `cluster::engine::Work`, but for
/// those of a message, of which only the sum can be measured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CpuEntries {
    /// Its cores, or its hyperthreads.
    pub cores: Entry<Count>,
    /// What each does with all at work, over what one does alone; no less if there is no such entry. The times below are
    /// those of one alone.
    pub together: Option<Entry<Ratio>>,
    /// An RPC at both its ends together: two messages sent, two received, one request handled. Doorbells
    /// and switches of coroutines are apart.
    pub rpc: Entry<Time>,
    /// The share of it that the two sent messages take.
    pub send_share: Entry<Ratio>,
    /// The share of it that the handling of the request takes.
    pub handle_share: Entry<Ratio>,
    /// A doorbell.
    pub doorbell: Entry<Time>,
    /// A new descriptor for a buffer.
    pub post_receive: Entry<Time>,
    /// To a coroutine and back.
    pub switch: Entry<Time>,
    /// To draw and begin a transaction.
    pub begin: Entry<Time>,
    /// The logic of a transaction, for each row.
    pub logic: Entry<Time>,
    /// To look a row up.
    pub look: Entry<Time>,
    /// To lock, unlock or compare a header.
    pub header: Entry<Time>,
    /// To write a value in its place.
    pub write: Entry<Time>,
    /// To make or delete a row.
    pub insert: Entry<Time>,
    /// To append a record to a log.
    pub log: Entry<Time>,
    /// To copy 64 bytes.
    pub copy_line: Entry<Time>,
    /// To post a one-sided verb and take its completion.
    pub post: Entry<Time>,
    /// To take a queue pair over from another thread.
    pub take_over: Entry<Time>,
    /// A poll that finds something, beside what it finds.
    pub poll: Entry<Time>,
    /// From one thread of a node to another through memory.
    pub local: Entry<Time>,
    /// A compare-and-swap of the core itself, where a paper gives it.
    pub compare_swap: Option<Entry<Time>>,
}

/// The card.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NicEntries {
    /// Its engine: a datagram at both cards together, sent by one and received by the other.
    pub datagram: Entry<Time>,
    /// The share of it at the receiver.
    pub receive_share: Entry<Ratio>,
    /// Its engine: a doorbell for datagrams.
    pub doorbell: Entry<Time>,
    /// Its engine: a READ at both cards together.
    pub read: Entry<Time>,
    /// The share of it at the target.
    pub read_target_share: Entry<Ratio>,
    /// Its engine: a WRITE at both cards together.
    pub write: Entry<Time>,
    /// The share of it at the target.
    pub write_target_share: Entry<Ratio>,
    /// Its engine: an atomic at both cards together, with the shares of a READ.
    pub atomic: Entry<Time>,
    /// Its unit for atomics: each.
    pub atomic_unit: Entry<Time>,
    /// What an atomic takes beside, without occupying anything.
    pub atomic_latency: Entry<Time>,
    /// Its engine: a connection made and given back, at each side, if it has such a transport.
    pub connect: Option<Entry<Time>>,
    /// Its engine: 64 bytes of payload beyond the first 64, each time that they pass.
    pub line: Entry<Time>,
    /// From the engine to the port, and from the port to the engine.
    pub stages: Entry<Time>,
    /// Its cache of queue pairs.
    pub queue_pairs: QueuePairEntries,
    /// Its cache of descriptors.
    pub receive_queues: ReceiveQueueEntries,
}

/// A card's cache of queue pairs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QueuePairEntries {
    /// How many it holds.
    pub entries: Entry<Count>,
    /// In sets of how many.
    pub ways: Entry<Count>,
    /// The engine: to fetch another one.
    pub miss: Entry<Time>,
}

/// A card's cache of the descriptors of receive queues.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiveQueueEntries {
    /// How many it holds.
    pub descriptors: Entry<Count>,
    /// The engine: to fetch another one.
    pub miss: Entry<Time>,
}

/// The slot of the card.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PcieEntries {
    /// From a store on one side until the other side sees it.
    pub latency: Entry<Time>,
}

/// The cables between cards and switches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEntries {
    /// Of one port, without the line code.
    pub rate: Entry<Bandwidth>,
    /// Ports of a card that are used.
    pub ports: Entry<Count>,
    /// Of one cable.
    pub latency: Entry<Time>,
    /// The most payload of a packet.
    pub mtu: Entry<Bytes>,
}

/// Bytes of headers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FrameEntries {
    /// Of all layers around the transport's.
    pub link: Entry<Bytes>,
    /// Base transport header.
    pub base: Entry<Bytes>,
    /// Extended header of a datagram.
    pub datagram: Entry<Bytes>,
    /// Extended header of READ and WRITE.
    pub remote: Entry<Bytes>,
    /// Extended header of an atomic.
    pub atomic: Entry<Bytes>,
    /// Extended header of an answer.
    pub answer: Entry<Bytes>,
    /// The old value of an atomic.
    pub held: Entry<Bytes>,
}

/// The switches between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchEntries {
    /// From port to port of one switch.
    pub latency: Entry<Time>,
    /// Nodes at a leaf switch. Nodes of different leaves have three switches between them.
    pub nodes_a_leaf: Entry<Count>,
    /// Links of a leaf to its nodes over those to the switches above.
    pub oversubscription: Entry<Ratio>,
}
