// SPDX-License-Identifier: MIT OR Apache-2.0
//! A view: the members of the cluster and the replicas of each partition, from one change to the next.

use crate::engine::NodeId;
use crate::placement::{PartitionId, Partitioning};
use crate::wire::{Reader, WireError, Writer};

/// The replicas of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Replicas {
    /// The nodes, the primary first.
    nodes: Vec<NodeId>,
    /// How many of them, from the first, have all rows. The others are being filled.
    complete: u16,
}

/// The members of the cluster and the replicas of each partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    epoch: u32,
    /// In the order of nodes, each with the number of its process.
    members: Vec<(NodeId, u32)>,
    partitions: Vec<Replicas>,
}

impl Replicas {
    /// The nodes, the primary first, then those that have all rows, then those that are being filled.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The nodes that have all rows.
    pub fn complete(&self) -> &[NodeId] {
        &self.nodes[..usize::from(self.complete)]
    }

    /// The nodes that are being filled.
    pub fn filling(&self) -> &[NodeId] {
        &self.nodes[usize::from(self.complete)..]
    }
}

impl View {
    /// The view at the start: epoch 1, all nodes, in their first process.
    pub fn initial(layout: &Partitioning) -> Self {
        let members = (0..layout.partitions()).map(|node| (NodeId(node), 0)).collect();
        let replicas = |partition| {
            let nodes = layout.initial_replicas(partition);
            Replicas { complete: nodes.len() as u16, nodes }
        };
        Self { epoch: 1, members, partitions: layout.all().map(replicas).collect() }
    }

    /// Its number. Views are numbered in their order.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The members, in the order of nodes.
    pub fn members(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.members.iter().map(|(node, _)| *node)
    }

    /// Whether `node` is a member.
    pub fn contains(&self, node: NodeId) -> bool {
        self.place_of(node).is_ok()
    }

    /// The number of the process of `node` that is a member.
    pub fn incarnation_of(&self, node: NodeId) -> Option<u32> {
        self.place_of(node).ok().map(|at| self.members[at].1)
    }

    fn place_of(&self, node: NodeId) -> Result<usize, usize> {
        self.members.binary_search_by_key(&node, |(node, _)| *node)
    }

    /// The replicas of a partition; no nodes for a partition that does not exist or is lost.
    pub fn replicas(&self, partition: PartitionId) -> &Replicas {
        const NONE: &Replicas = &Replicas { nodes: Vec::new(), complete: 0 };
        self.partitions.get(partition.index()).unwrap_or(NONE)
    }

    /// The primary of a partition, unless the partition is lost.
    pub fn primary(&self, partition: PartitionId) -> Option<NodeId> {
        self.replicas(partition).nodes.first().copied()
    }

    /// The backups of a partition, also those that are being filled.
    pub fn backups(&self, partition: PartitionId) -> &[NodeId] {
        self.replicas(partition).nodes.get(1..).unwrap_or_default()
    }

    /// The nodes that keep the records of `coordinator` beside itself: the `backups` members after it, or
    /// all others if there are fewer.
    pub fn log_replicas(
        &self,
        coordinator: NodeId,
        backups: u16,
    ) -> impl Iterator<Item = NodeId> + '_ {
        let members = self.members.len();
        let first = match self.place_of(coordinator) {
            Ok(at) => at + 1,
            Err(at) => at,
        };
        let others = members - usize::from(self.contains(coordinator));
        let log_replicas = others.min(usize::from(backups));
        (first..first + log_replicas).map(move |at| self.members[at % members].0)
    }

    /// Node number `place`, from 0, of [`View::log_replicas`].
    #[inline]
    pub fn log_replica(&self, coordinator: NodeId, backups: u16, place: usize) -> Option<NodeId> {
        self.log_replicas(coordinator, backups).nth(place)
    }

    /// The partitions, all of them.
    pub fn partitions(&self) -> impl Iterator<Item = (PartitionId, &Replicas)> {
        (0..).map(PartitionId).zip(&self.partitions)
    }

    /// The partitions that no node has all rows of.
    pub fn lost(&self) -> impl Iterator<Item = PartitionId> + '_ {
        self.partitions().filter(|(_, replicas)| replicas.complete == 0).map(|(id, _)| id)
    }

    /// The view after this one, numbered `epoch`: its members are the processes `alive`, in the order of
    /// nodes. Replicas on other processes are gone. Of the others, those that had all rows or are among
    /// `filled` come first, in the order of this view; the first of them is the primary. Where fewer than
    /// `backups` are left beside it, members with the fewest replicas become new ones, to be filled.
    ///
    /// A partition that no process has all rows of has no replicas.
    #[must_use]
    pub fn next(
        &self,
        epoch: u32,
        alive: &[(NodeId, u32)],
        filled: &[(PartitionId, NodeId)],
        backups: u16,
    ) -> Self {
        let stays = |node: NodeId| {
            self.incarnation_of(node).is_some_and(|process| alive.contains(&(node, process)))
        };
        let mut partitions = Vec::with_capacity(self.partitions.len());
        for (id, old) in self.partitions() {
            let is_filled = |node: &&NodeId| filled.contains(&(id, **node));
            let complete = old.complete().iter().chain(old.filling().iter().filter(is_filled));
            let mut nodes: Vec<_> = complete.copied().filter(|node| stays(*node)).collect();
            let complete = nodes.len() as u16;
            if complete > 0 {
                let rest = old.filling().iter().filter(|node| !is_filled(node));
                nodes.extend(rest.copied().filter(|node| stays(*node)));
            }
            partitions.push(Replicas { nodes, complete });
        }
        let mut view = Self { epoch, members: alive.to_vec(), partitions };
        view.add_backups(backups);
        view
    }

    /// Gives partitions with too few backups new ones: members that have the fewest replicas.
    fn add_backups(&mut self, backups: u16) {
        let mut load: Vec<usize> = vec![0; self.members.len()];
        for node in self.partitions.iter().flat_map(|replicas| &replicas.nodes) {
            if let Ok(at) = self.place_of(*node) {
                load[at] += 1;
            }
        }
        for replicas in &mut self.partitions {
            while replicas.complete > 0 && replicas.nodes.len() <= usize::from(backups) {
                let is_free = |at: &usize| !replicas.nodes.contains(&self.members[*at].0);
                let free = (0..self.members.len()).filter(is_free);
                let Some(at) = free.min_by_key(|at| load[*at]) else { break };
                load[at] += 1;
                replicas.nodes.push(self.members[at].0);
            }
        }
    }

    /// Appends the view.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.epoch);
        out.put_u16(self.members.len() as u16);
        for (node, incarnation) in &self.members {
            out.put_u16(node.0);
            out.put_u32(*incarnation);
        }
        out.put_u16(self.partitions.len() as u16);
        for replicas in &self.partitions {
            out.put_u16(replicas.nodes.len() as u16);
            out.put_u16(replicas.complete);
            replicas.nodes.iter().for_each(|node| out.put_u16(node.0));
        }
    }

    /// Reads a view.
    ///
    /// # Errors
    /// When the bytes are none: also when members are out of order, or replicas no members.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let wrong = |reader: &Reader<'_>, expected, found: u16| WireError::Unknown {
            expected,
            found: u64::from(found),
            at: reader.position() - 2,
        };
        let epoch = reader.u32("the number of a view")?;
        let mut members: Vec<(NodeId, u32)> = Vec::new();
        for _ in 0..reader.u16("a count of members")? {
            let node = NodeId(reader.u16("a member")?);
            if members.last().is_some_and(|(last, _)| *last >= node) {
                return Err(wrong(reader, "members in their order", node.0));
            }
            members.push((node, reader.u32("the number of a process")?));
        }
        let mut view = Self { epoch, members, partitions: Vec::new() };
        for _ in 0..reader.u16("a count of partitions")? {
            let count = reader.u16("a count of replicas")?;
            let complete = reader.u16("a count of complete replicas")?;
            if complete > count {
                return Err(wrong(reader, "at most as many complete replicas as all", complete));
            }
            let mut nodes = Vec::new();
            for _ in 0..count {
                let node = NodeId(reader.u16("a replica")?);
                if !view.contains(node) || nodes.contains(&node) {
                    return Err(wrong(reader, "a member, once", node.0));
                }
                nodes.push(node);
            }
            view.partitions.push(Replicas { nodes, complete });
        }
        Ok(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transact::TableShape;

    fn initial(nodes: u16, backups: u16) -> View {
        let table = TableShape::hashed("objects", 8, 64);
        View::initial(&Partitioning::new(nodes, backups, &[table]).unwrap())
    }

    fn nodes(numbers: &[u16]) -> Vec<NodeId> {
        numbers.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_lost_primary_is_followed_by_its_first_backup() {
        let view = initial(4, 2).next(2, &[0, 2, 3].map(|node| (NodeId(node), 0)), &[], 2);
        let replicas = view.replicas(PartitionId(1));
        assert_eq!(replicas.complete(), nodes(&[2, 3]));
        assert_eq!(replicas.filling(), nodes(&[0]));
        assert_eq!(view.primary(PartitionId(0)), Some(NodeId(0)));
        assert_eq!(view.backups(PartitionId(0)), nodes(&[2, 3]));
        assert_eq!(view.log_replicas(NodeId(3), 2).collect::<Vec<_>>(), nodes(&[0, 2]));
        assert_eq!(view.log_replicas(NodeId(0), 5).collect::<Vec<_>>(), nodes(&[2, 3]));
        assert_eq!(view.lost().count(), 0);
    }

    #[test]
    fn a_restarted_node_has_lost_its_replicas_and_one_in_filling_is_no_primary() {
        let all = |third| [(NodeId(0), 0), (NodeId(1), 0), (NodeId(2), third)];
        let again = initial(3, 1).next(2, &all(1), &[], 1);
        // Partition 2 was on nodes 2 and 0, partition 1 on nodes 1 and 2.
        assert_eq!(again.replicas(PartitionId(2)).complete(), nodes(&[0]));
        assert_eq!(again.replicas(PartitionId(1)).filling(), nodes(&[2]));
        let alone = [(NodeId(2), 1)];
        let lost: Vec<_> = again.next(3, &alone, &[], 1).lost().collect();
        assert_eq!(lost, [0, 1, 2].map(PartitionId));
        let filled = [(PartitionId(1), NodeId(2))];
        let view = again.next(3, &alone, &filled, 1);
        assert_eq!(view.primary(PartitionId(1)), Some(NodeId(2)));
    }

    #[test]
    fn a_view_comes_back_from_its_bytes_and_damaged_bytes_do_not_panic() {
        let view = initial(5, 2).next(7, &[1, 3, 4].map(|node| (NodeId(node), 9)), &[], 2);
        let mut bytes = Vec::new();
        view.encode(&mut bytes);
        assert_eq!(View::decode(&mut Reader::new(&bytes)), Ok(view.clone()));
        for at in 0..bytes.len() {
            assert!(View::decode(&mut Reader::new(&bytes[..at])).is_err());
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_ne!(View::decode(&mut Reader::new(&damaged)), Ok(view.clone()));
            }
        }
    }
}
