// SPDX-License-Identifier: MIT OR Apache-2.0
//! A directed graph: its strongly connected components, and a shortest cycle in one.

use std::cell::Cell;
use std::collections::VecDeque;

/// An edge. What `kind`, `first` and `second` mean is the user's affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    /// One bit.
    pub kind: u16,
    pub first: u32,
    pub second: u32,
}

/// A graph from which edges can be taken out.
pub(super) struct Graph {
    nodes: usize,
    edges: Vec<Edge>,
    /// Where each node's edges begin.
    offsets: Vec<u32>,
    /// Kinds that do not add to the length of a path.
    weightless: u16,
    /// Where each node stands in some order of all of them. A cycle goes against it somewhere; the
    /// fewer edges do, the sooner a shortest one is found.
    ranks: Vec<u32>,
    /// Edges that were looked at.
    work: Cell<u64>,
}

const NONE: u32 = u32::MAX;
/// The work that looking for the shortest cycle of a component may take, in edges; beyond it, one
/// is taken that may be longer.
const EFFORT: usize = 2_000_000;
/// So often one is looked for, however large the component.
const LEAST: usize = 4;

impl Graph {
    pub fn new(mut edges: Vec<Edge>, weightless: u16, ranks: Vec<u32>) -> Self {
        let nodes = ranks.len();
        edges.sort_by_key(|edge| edge.from);
        let mut offsets = vec![0_u32; nodes + 1];
        for edge in &edges {
            offsets[edge.from as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        Self { nodes, edges, offsets, weightless, ranks, work: Cell::new(0) }
    }

    pub fn edge(&self, edge: u32) -> Edge {
        self.edges[edge as usize]
    }

    /// How many edges were looked at in all searches.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    fn count(&self, edges: usize) {
        self.work.set(self.work.get() + edges as u64);
    }

    /// Takes an edge out of the graph.
    pub fn remove(&mut self, edge: u32) {
        self.edges[edge as usize].kind = 0;
    }

    fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    /// The components of more than one node, over the edges of `kinds` (Tarjan's algorithm,
    /// without recursion). There must be no edge from a node to itself.
    pub fn components(&self, kinds: u16) -> Vec<Vec<u32>> {
        self.count(self.nodes + self.edges.len());
        let mut search = Search {
            number: vec![NONE; self.nodes],
            low: vec![0; self.nodes],
            open: vec![false; self.nodes],
            stack: Vec::new(),
            next: 0,
        };
        let mut components = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new(); // a node, and its next edge
        for root in 0..self.nodes as u32 {
            if search.number[root as usize] != NONE {
                continue;
            }
            search.enter(root);
            path.push((root, self.edges_of(root).start));
            while let Some((node, edge)) = path.last_mut() {
                let node = *node;
                if *edge == self.edges_of(node).end {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        search.lower(*parent, search.low[node as usize]);
                    }
                    components.extend(search.leave(node));
                    continue;
                }
                let Edge { to, kind, .. } = self.edge(*edge);
                *edge += 1;
                if kind & kinds == 0 {
                    continue;
                }
                if search.number[to as usize] == NONE {
                    search.enter(to);
                    path.push((to, self.edges_of(to).start));
                } else if search.open[to as usize] {
                    search.lower(node, search.number[to as usize]);
                }
            }
        }
        components
    }

    /// The edges of a shortest cycle in a component over the edges of `kinds`, or of a short one, when
    /// the component is large and many of its edges go against the order: then it is looked for from
    /// those alone that go furthest.
    pub fn short_cycle(&self, component: &[u32], kinds: u16) -> Vec<u32> {
        let mut inside = vec![false; self.nodes];
        let mut work = 1;
        for node in component {
            inside[*node as usize] = true;
            work += self.edges_of(*node).len();
        }
        let starts = self.backward(component, &inside, kinds, (EFFORT / work).max(LEAST));
        let mut walk = Walk {
            graph: self,
            kinds,
            inside,
            length: vec![NONE; self.nodes],
            by: vec![NONE; self.nodes],
            touched: Vec::new(),
        };
        let mut best = (NONE, Vec::new());
        for start in starts {
            walk.improve(start, &mut best);
        }
        assert!(!best.1.is_empty(), "every node of a component lies on a cycle");
        best.1
    }
}

impl Graph {
    /// The nodes of a component from which edges go against the order, at most `most`: those first
    /// whose edges go furthest.
    fn backward(&self, component: &[u32], inside: &[bool], kinds: u16, most: usize) -> Vec<u32> {
        let rank = |node: u32| self.ranks[node as usize];
        let furthest = |&node: &u32| {
            let edges = self.edges_of(node).map(|edge| self.edge(edge));
            let inner = edges.filter(|edge| edge.kind & kinds != 0 && inside[edge.to as usize]);
            let back = inner.filter(|edge| rank(edge.to) < rank(node));
            Some((back.map(|edge| rank(node) - rank(edge.to)).max()?, node))
        };
        let mut starts: Vec<(u32, u32)> = component.iter().filter_map(furthest).collect();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        starts.into_iter().take(most).map(|(_, node)| node).collect()
    }
}

/// Tarjan's state.
struct Search {
    number: Vec<u32>,
    low: Vec<u32>,
    open: Vec<bool>,
    stack: Vec<u32>,
    next: u32,
}

impl Search {
    fn enter(&mut self, node: u32) {
        self.number[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.open[node as usize] = true;
        self.stack.push(node);
        self.next += 1;
    }

    fn lower(&mut self, node: u32, to: u32) {
        self.low[node as usize] = self.low[node as usize].min(to);
    }

    /// The component that `node` is the first of, if it is, and it has more than one.
    fn leave(&mut self, node: u32) -> Option<Vec<u32>> {
        if self.low[node as usize] != self.number[node as usize] {
            return None;
        }
        let start = self.stack.iter().rposition(|n| *n == node).expect("it was entered");
        let mut component = self.stack.split_off(start);
        for member in &component {
            self.open[*member as usize] = false;
        }
        component.sort_unstable();
        (component.len() > 1).then_some(component)
    }
}

/// Breadth-first search within a component.
struct Walk<'a> {
    graph: &'a Graph,
    kinds: u16,
    inside: Vec<bool>,
    length: Vec<u32>,
    /// The edge by which a node was reached.
    by: Vec<u32>,
    touched: Vec<u32>,
}

impl Walk<'_> {
    fn improve(&mut self, start: u32, best: &mut (u32, Vec<u32>)) {
        if let Some(found) = self.cycle_through(start, best.0) {
            *best = found;
        }
    }

    /// A shortest cycle through `start` that is shorter than `bound`.
    fn cycle_through(&mut self, start: u32, bound: u32) -> Option<(u32, Vec<u32>)> {
        for node in self.touched.drain(..) {
            self.length[node as usize] = NONE;
        }
        let mut queue = VecDeque::from([(start, 0_u32)]);
        self.length[start as usize] = 0;
        self.touched.push(start);
        let mut best = (bound, NONE);
        while let Some((node, length)) = queue.pop_front() {
            if length >= best.0 || length > self.length[node as usize] {
                continue;
            }
            self.graph.count(self.graph.edges_of(node).len());
            for at in self.graph.edges_of(node) {
                let edge = self.graph.edge(at);
                if edge.kind & self.kinds == 0 || !self.inside[edge.to as usize] {
                    continue;
                }
                let weightless = edge.kind & self.graph.weightless != 0;
                let reached = length + u32::from(!weightless);
                if edge.to == start && reached < best.0 {
                    best = (reached, at);
                } else if reached < self.length[edge.to as usize] {
                    if self.length[edge.to as usize] == NONE {
                        self.touched.push(edge.to);
                    }
                    self.length[edge.to as usize] = reached;
                    self.by[edge.to as usize] = at;
                    let entry = (edge.to, reached);
                    if weightless { queue.push_front(entry) } else { queue.push_back(entry) }
                }
            }
        }
        (best.1 != NONE).then(|| (best.0, self.path_back(start, best.1)))
    }

    fn path_back(&self, start: u32, last: u32) -> Vec<u32> {
        let mut path = vec![last];
        let mut node = self.graph.edge(last).from;
        while node != start {
            let edge = self.by[node as usize];
            path.push(edge);
            node = self.graph.edge(edge).from;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One edge goes back over a long way: it is found with work that grows as the graph does.
    #[test]
    fn a_long_cycle_is_found_in_linear_work() {
        let nodes = 20_000;
        let edge = |from| Edge { from, to: (from + 1) % nodes, kind: 1, first: 0, second: 0 };
        let graph = Graph::new((0..nodes).map(edge).collect(), 0, (0..nodes).collect());
        let components = graph.components(1);
        assert_eq!(components.len(), 1);
        assert_eq!(graph.short_cycle(&components[0], 1).len(), nodes as usize);
        assert!(graph.work() < 10 * u64::from(nodes), "{} edges", graph.work());
    }
}
