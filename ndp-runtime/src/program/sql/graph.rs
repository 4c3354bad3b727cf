// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions as a graph of operations: common subexpressions are computed once, and constants are
//! computed here, by the machine's own rules.

use std::collections::HashMap;

use crate::program::EvaluationError;
use crate::program::instruction::{NEVER_NULL, Opcode};
use crate::program::machine::operate;

/// The number of a node in its [`Graph`]; a node's operands have smaller ones.
pub(super) type NodeId = usize;

/// How one value comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The same for each row; `None` is null.
    Constant(Option<u64>),
    /// A word of the payload.
    Load { offset: u16, null_bit: u16 },
    /// A `Fixed`, `Text` or `Bytes` column against constant words.
    Compare { op: Opcode, offset: u16, null_bit: u16, flags: u8, words: Vec<u64> },
    /// Of other values; that of one operand has it twice.
    Operation { op: Opcode, operands: [NodeId; 2] },
}

/// All values of a program.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    numbers: HashMap<Node, NodeId>,
}

impl Graph {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What a node always is, if it is always the same.
    pub fn constant_of(&self, id: NodeId) -> Option<Option<u64>> {
        match self.nodes[id] {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub fn add(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.numbers.get(&node) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    pub fn constant(&mut self, value: impl Into<Option<u64>>) -> NodeId {
        self.add(Node::Constant(value.into()))
    }

    /// # Errors
    /// When both are constant, and what they make is out of range.
    pub fn binary(&mut self, op: Opcode, a: NodeId, b: NodeId) -> Result<NodeId, EvaluationError> {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(a), Some(b)) => Ok(self.constant(operate(op, a, b)?)),
            _ => Ok(self.add(Node::Operation { op, operands: [a, b] })),
        }
    }

    pub fn unary(&mut self, op: Opcode, a: NodeId) -> NodeId {
        let never_null = matches!(self.nodes[a], Node::Load { null_bit: NEVER_NULL, .. });
        match self.constant_of(a) {
            Some(a) => {
                let result =
                    operate(op, a, a).expect("NOT and ISNULL have a result for each value");
                self.constant(result)
            }
            None if op == Opcode::IsNull && never_null => self.constant(0),
            None => self.add(Node::Operation { op, operands: [a, a] }),
        }
    }

    /// Adds to `filters` what must be true for a conjunction to be true, from left to right: a row
    /// that fails the first is checked no further.
    pub fn split_conjunction(&self, id: NodeId, filters: &mut Vec<NodeId>) {
        match self.nodes[id] {
            Node::Operation { op: Opcode::And, operands: [a, b] } => {
                self.split_conjunction(a, filters);
                self.split_conjunction(b, filters);
            }
            // Always true.
            Node::Constant(Some(1..)) => {}
            _ => filters.push(id),
        }
    }
}
