// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparisons, of numbers and of text and bytes with literals.

use std::cmp::Ordering;

use lockdb::schema::Type;
use sqlparser::ast::{BinaryOperator, Expr, Spanned};
use sqlparser::tokenizer::Span;

use super::bind::{Binder, Bound, Kind, Number, type_error};
use super::error::{CompileErrorKind, Problem};
use super::graph::{Node, NodeId};
use crate::program::instruction::{Instruction, Opcode};

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    pub fn of(op: &BinaryOperator) -> Option<Self> {
        match op {
            BinaryOperator::Eq => Some(Self::Equal),
            BinaryOperator::NotEq => Some(Self::NotEqual),
            BinaryOperator::Lt => Some(Self::Less),
            BinaryOperator::LtEq => Some(Self::LessEqual),
            BinaryOperator::Gt => Some(Self::Greater),
            BinaryOperator::GtEq => Some(Self::GreaterEqual),
            _ => None,
        }
    }

    /// The same with its operands exchanged.
    fn reversed(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            same => same,
        }
    }

    /// The operation for it, and whether the operands are to be exchanged.
    fn operation(self, kind: Kind) -> (Opcode, bool) {
        let [equal, not_equal, less, less_equal] = match kind {
            Kind::Float => [
                Opcode::EqualFloat,
                Opcode::NotEqualFloat,
                Opcode::LessFloat,
                Opcode::LessEqualFloat,
            ],
            _ => [Opcode::EqualInt, Opcode::NotEqualInt, Opcode::LessInt, Opcode::LessEqualInt],
        };
        match self {
            Self::Equal => (equal, false),
            Self::NotEqual => (not_equal, false),
            Self::Less => (less, false),
            Self::LessEqual => (less_equal, false),
            Self::Greater => (less, true),
            Self::GreaterEqual => (less_equal, true),
        }
    }
}

type Result<T> = std::result::Result<T, Problem>;

impl Binder<'_> {
    pub fn bind_comparison(
        &mut self,
        comparison: Comparison,
        left: &Expr,
        right: &Expr,
    ) -> Result<Number> {
        let span = left.span().union(&right.span());
        match (self.bind(left)?, self.bind(right)?) {
            (Bound::Number(a), Bound::Number(b)) => {
                let (kind, a, b) = self.unify(a, b, span)?;
                self.compare(comparison, kind, a, b, span)
            }
            // Whatever is compared with a null.
            (Bound::Number(Number { kind: Kind::Null, id }), _)
            | (_, Bound::Number(Number { kind: Kind::Null, id })) => {
                Ok(Number { id, kind: Kind::Bool })
            }
            (Bound::Column(column), literal) => {
                self.compare_column(comparison, column, &literal, span)
            }
            (literal, Bound::Column(column)) => {
                self.compare_column(comparison.reversed(), column, &literal, span)
            }
            (Bound::Text(a), Bound::Text(b)) => {
                self.compare_constants(comparison, a.as_bytes().cmp(b.as_bytes()), span)
            }
            (Bound::Bytes(a), Bound::Bytes(b)) => {
                self.compare_constants(comparison, a.cmp(&b), span)
            }
            (a, b) => {
                let found = format!("{} and {}", a.describe(self.schema), b.describe(self.schema));
                type_error(span, &found, "two of one type")
            }
        }
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        kind: Kind,
        a: NodeId,
        b: NodeId,
        span: Span,
    ) -> Result<Number> {
        let (op, exchange) = comparison.operation(kind);
        let (a, b) = if exchange { (b, a) } else { (a, b) };
        Ok(Number { id: self.operation(op, a, b, span)?, kind: Kind::Bool })
    }

    fn compare_constants(
        &mut self,
        comparison: Comparison,
        order: Ordering,
        span: Span,
    ) -> Result<Number> {
        let order = self.graph.constant((order as i64).cast_unsigned());
        self.compare_order(comparison, order, span)
    }

    /// Compares -1, 0 or 1 with 0.
    fn compare_order(
        &mut self,
        comparison: Comparison,
        order: NodeId,
        span: Span,
    ) -> Result<Number> {
        let zero = self.graph.constant(0);
        self.compare(comparison, Kind::Int, order, zero, span)
    }

    fn compare_column(
        &mut self,
        comparison: Comparison,
        column: usize,
        literal: &Bound,
        span: Span,
    ) -> Result<Number> {
        let kind = self.schema.columns()[column].kind;
        let node = match (kind, literal) {
            (Type::Fixed(limit), Bound::Text(text)) => {
                self.compare_fixed(column, limit.into(), text, span)?
            }
            (Type::Text, Bound::Text(text)) => {
                self.compare_variable(column, text.as_bytes(), span)?
            }
            (Type::Bytes, Bound::Bytes(bytes)) => self.compare_variable(column, bytes, span)?,
            (kind, other) => {
                let found = format!("{kind} and {}", other.describe(self.schema));
                let expected = match kind {
                    Type::Bytes => "a literal X'…' beside bytes",
                    _ => "a literal '…' beside text",
                };
                return type_error(span, &found, expected);
            }
        };
        let order = self.graph.add(node);
        self.compare_order(comparison, order, span)
    }

    fn compare_fixed(&self, column: usize, limit: usize, text: &str, span: Span) -> Result<Node> {
        let kept = &text.as_bytes()[..text.len().min(limit)];
        let mut padded = kept.to_vec();
        padded.resize(limit.next_multiple_of(8), 0);
        // A column's text does not end in zeros, which are its padding.
        let longer = text.len() > limit || text.ends_with('\0');
        Ok(Node::Compare {
            op: Opcode::CompareFixed,
            offset: self.offset(column),
            null_bit: self.null_bit(column),
            flags: if longer { Instruction::LONGER } else { 0 },
            words: words(&padded, span)?,
        })
    }

    fn compare_variable(&self, column: usize, bytes: &[u8], span: Span) -> Result<Node> {
        let is_variable = |kind| matches!(kind, Type::Text | Type::Bytes);
        let columns = self.schema.columns();
        let first = columns.iter().position(|column| is_variable(column.kind)) == Some(column);
        let last_bytes = (bytes.len() % 8) as u8;
        Ok(Node::Compare {
            op: Opcode::CompareVariable,
            offset: self.offset(column),
            null_bit: self.null_bit(column),
            flags: last_bytes | if first { Instruction::FIRST } else { 0 },
            words: words(bytes, span)?,
        })
    }
}

/// Bytes as the payload has them in its words.
fn words(bytes: &[u8], span: Span) -> Result<Vec<u64>> {
    const MOST: usize = 63;
    let words: Vec<_> = bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect();
    if words.len() > MOST {
        let message =
            format!("found {} bytes to be compared, expected at most {}", bytes.len(), 8 * MOST);
        return Err(Problem::new(CompileErrorKind::TooLarge, span, message));
    }
    Ok(words)
}
