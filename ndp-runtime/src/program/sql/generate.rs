// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the graph to instructions: order and registers.

use super::graph::{Graph, Node, NodeId};
use crate::program::image::{MAX_CONSTANTS, MAX_INSTRUCTIONS};
use crate::program::instruction::{Instruction, Opcode, REGISTERS};

/// Instructions and constants of a program that fits.
pub(super) struct Code {
    pub instructions: Vec<Instruction>,
    pub constants: Vec<u64>,
}

/// The name of the exhausted resource, for an error.
pub(super) type TooMuch = String;

/// Filters first, in this order, then the outputs.
pub(super) fn generate(
    graph: &Graph,
    filters: &[NodeId],
    outputs: &[NodeId],
) -> Result<Code, TooMuch> {
    let mut generator = Generator::new(graph, filters.iter().chain(outputs));
    for filter in filters {
        let register = generator.value(*filter, &[])?;
        generator.instructions.push(Instruction::filter(register));
        generator.used(*filter);
    }
    for (number, output) in outputs.iter().enumerate() {
        let register = generator.value(*output, &[])?;
        generator.instructions.push(Instruction::out(number as u8, register));
        generator.used(*output);
    }
    generator.instructions.push(Instruction::new(Opcode::End));
    let Generator { instructions, constants, .. } = generator;
    let limit = |what: &str, found: usize, most: usize| match found > most {
        true => Err(format!("found {found} {what}, expected at most {most} of a program")),
        false => Ok(()),
    };
    limit("instructions", instructions.len(), MAX_INSTRUCTIONS)?;
    limit("words of constants", constants.len(), MAX_CONSTANTS)?;
    Ok(Code { instructions, constants })
}

struct Generator<'a> {
    graph: &'a Graph,
    /// How many registers a node's value takes to compute, itself included.
    needs: Vec<usize>,
    /// How many more times a node's value will be asked for.
    uses: Vec<usize>,
    register_of: Vec<Option<u8>>,
    holds: [Option<NodeId>; REGISTERS],
    instructions: Vec<Instruction>,
    constants: Vec<u64>,
}

impl<'a> Generator<'a> {
    fn new(graph: &'a Graph, roots: impl Iterator<Item = &'a NodeId>) -> Self {
        let mut uses = vec![0; graph.len()];
        roots.for_each(|root| uses[*root] += 1);
        let mut needs = vec![1; graph.len()];
        // Operands have smaller numbers than what uses them.
        for id in (0..graph.len()).rev().filter(|id| is_operation(graph, *id)) {
            if uses[id] > 0 {
                operands(graph, id).for_each(|operand| uses[operand] += 1);
            }
        }
        for id in (0..graph.len()).filter(|id| is_operation(graph, *id)) {
            let mut of_operands: Vec<usize> = operands(graph, id).map(|o| needs[o]).collect();
            of_operands.sort_unstable_by_key(|need| std::cmp::Reverse(*need));
            // The first one's value waits while the second one is computed.
            let waiting = of_operands.iter().enumerate().map(|(before, need)| before + need);
            needs[id] = waiting.max().unwrap_or(1);
        }
        Self {
            graph,
            needs,
            uses,
            register_of: vec![None; graph.len()],
            holds: [None; REGISTERS],
            instructions: Vec::new(),
            constants: Vec::new(),
        }
    }

    /// The register that has a node's value, computing it if none has. Of `keep`, none loses its.
    fn value(&mut self, id: NodeId, keep: &[NodeId]) -> Result<u8, TooMuch> {
        if let Some(register) = self.register_of[id] {
            return Ok(register);
        }
        let instruction = match self.graph.node(id) {
            Node::Constant(None) => Instruction::null(0),
            Node::Constant(Some(value)) => {
                let constant = self.constants_at(&[*value]);
                Instruction { x: constant, ..Instruction::new(Opcode::Constant) }
            }
            Node::Load { offset, null_bit } => Instruction::load(0, *offset, *null_bit),
            Node::Compare { op, offset, null_bit, flags, words } => {
                let first = self.constants_at(words);
                let z = (first & 63) | (words.len() as u16) << 6;
                Instruction { b: *flags, z, x: *offset, y: *null_bit, ..Instruction::new(*op) }
            }
            Node::Operation { op, operands } => self.operation(*op, *operands)?,
        };
        let dst = self.free_register(keep)?;
        self.instructions.push(Instruction { dst, ..instruction });
        self.holds[usize::from(dst)] = Some(id);
        self.register_of[id] = Some(dst);
        Ok(dst)
    }

    /// Computes the operands and gives their registers free if nobody else needs them.
    fn operation(&mut self, op: Opcode, [a, b]: [NodeId; 2]) -> Result<Instruction, TooMuch> {
        if matches!(op, Opcode::Not | Opcode::IsNull) {
            let register = self.value(a, &[])?;
            self.used(a);
            return Ok(Instruction::unary(op, 0, register));
        }
        let (first, second) = if self.needs[a] >= self.needs[b] { (a, b) } else { (b, a) };
        self.value(first, &[])?;
        self.value(second, &[])?;
        // For the second's sake the first may have been given up.
        self.value(first, &[second])?;
        let (register_a, register_b) = (self.held(a), self.held(b));
        self.used(a);
        self.used(b);
        Ok(Instruction::binary(op, 0, register_a, register_b))
    }

    fn held(&self, id: NodeId) -> u8 {
        self.register_of[id].expect("the value was computed just now, and kept")
    }

    /// Once less will the value be asked for.
    fn used(&mut self, id: NodeId) {
        self.uses[id] -= 1;
        if self.uses[id] == 0 {
            self.release(id);
        }
    }

    fn release(&mut self, id: NodeId) {
        if let Some(register) = self.register_of[id].take() {
            self.holds[usize::from(register)] = None;
        }
    }

    /// A register without a value; if there is none, one whose value one instruction can restore.
    fn free_register(&mut self, keep: &[NodeId]) -> Result<u8, TooMuch> {
        if let Some(free) = self.holds.iter().position(Option::is_none) {
            return Ok(free as u8);
        }
        let loaded = self.holds.iter().flatten().copied();
        let spare = loaded.filter(|id| !keep.contains(id) && !is_operation(self.graph, *id)).min();
        let Some(spare) = spare else {
            return Err(format!(
                "more than {REGISTERS} values are needed at a time, expected a shallower expression"
            ));
        };
        let register = self.held(spare);
        self.release(spare);
        Ok(register)
    }

    /// Where these words stand among the constants, one behind the other.
    fn constants_at(&mut self, words: &[u64]) -> u16 {
        let all = &self.constants;
        let found = (0..all.len()).find(|start| all[*start..].starts_with(words));
        let first = found.unwrap_or(if words.is_empty() { 0 } else { all.len() });
        if found.is_none() {
            self.constants.extend_from_slice(words);
        }
        first as u16
    }
}

fn is_operation(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.node(id), Node::Operation { .. })
}

fn operands(graph: &Graph, id: NodeId) -> impl Iterator<Item = NodeId> {
    let (operands, count) = match graph.node(id) {
        Node::Operation { op: Opcode::Not | Opcode::IsNull, operands } => (*operands, 1),
        Node::Operation { operands, .. } => (*operands, 2),
        _ => ([0; 2], 0),
    };
    operands.into_iter().take(count)
}
