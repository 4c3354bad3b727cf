// SPDX-License-Identifier: MIT OR Apache-2.0
//! The front end: SQL expressions to programs.

mod bind;
mod compare;
mod error;
mod generate;
mod graph;
mod names;
mod parse;

pub use error::{CompileError, CompileErrorKind};

use lockdb::schema::{RowBuffer, RowError, Schema, Type, Value};
use sqlparser::ast::{AssignmentTarget, Expr, Spanned};
use sqlparser::tokenizer::Span;

use self::bind::{Binder, Bound, Kind, Number, type_error};
use self::error::Problem;
use self::generate::generate;
use self::graph::NodeId;
use self::parse::{parse_assignments, parse_expression};
use super::{Assignment, MAX_OUTPUTS, Program};

/// A program that selects rows and makes values of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// What each output is: `Int64`, `Float64`, `Bool`, or of a bare column that fits in a word,
    /// `Fixed(n)`: its bytes, the first in the lowest byte.
    pub types: Vec<Type>,
}

/// A program that selects rows, and what is to be put into them.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledUpdate {
    /// The program, with an output for each assigned value that is not the same for all rows.
    pub program: Program,
    /// The assigned values.
    pub assignments: Vec<Assignment>,
}

/// Compiles a predicate (none: all rows) and the output expressions for the rows that satisfy
/// it, for the table of this number and schema.
///
/// # Errors
/// When a text is no such expression over the table's columns, or the program would be too long.
pub fn compile_select(
    table: u32,
    schema: &Schema,
    predicate: Option<&str>,
    outputs: &[&str],
) -> Result<Compiled, CompileError> {
    let mut compiler = Compiler::new(table, schema, predicate)?;
    let (mut ids, mut types) = (Vec::new(), Vec::new());
    for (number, text) in outputs.iter().enumerate() {
        let part = format!("output {}", number + 1);
        let (id, kind) = compiler.output(text).map_err(|problem| problem.of(&part, text))?;
        ids.push(id);
        types.push(kind);
    }
    Ok(Compiled { program: compiler.finish(&ids)?, types })
}

/// Compiles a predicate (none: all rows) and a list of assignments, `a = a + 1, b = 'x'`, for the
/// table of this number and schema. Text and bytes are assigned as literals or null.
///
/// # Errors
/// As [`compile_select`]; and when a column is assigned twice, belongs to the primary key or an
/// index, or does not admit the value.
pub fn compile_update(
    table: u32,
    schema: &Schema,
    predicate: Option<&str>,
    assignments: &str,
) -> Result<CompiledUpdate, CompileError> {
    let mut compiler = Compiler::new(table, schema, predicate)?;
    let (ids, assignments) = compiler
        .assignments(assignments)
        .map_err(|problem| problem.of("assignments", assignments))?;
    Ok(CompiledUpdate { program: compiler.finish(&ids)?, assignments })
}

struct Compiler<'a> {
    table: u32,
    binder: Binder<'a>,
    filters: Vec<NodeId>,
}

impl<'a> Compiler<'a> {
    fn new(table: u32, schema: &'a Schema, predicate: Option<&str>) -> Result<Self, CompileError> {
        let mut compiler = Self { table, binder: Binder::new(schema), filters: Vec::new() };
        if let Some(text) = predicate {
            compiler.predicate(text).map_err(|problem| problem.of("predicate", text))?;
        }
        Ok(compiler)
    }

    fn predicate(&mut self, text: &str) -> Result<(), Problem> {
        let tree = parse_expression(text)?;
        let predicate = self.binder.bind_bool(&tree)?;
        self.binder.graph.split_conjunction(predicate.id, &mut self.filters);
        Ok(())
    }

    fn output(&mut self, text: &str) -> Result<(NodeId, Type), Problem> {
        let tree = parse_expression(text)?;
        match self.binder.bind(&tree)? {
            Bound::Number(Number { id, kind }) => Ok((id, type_of(kind))),
            Bound::Column(column) => match self.binder.schema.columns()[column].kind {
                kind @ Type::Fixed(1..=8) => Ok((self.binder.load(column), kind)),
                kind => {
                    let expected = "Int64, Float64, Bool or Fixed of at most 8 bytes";
                    type_error(tree.span(), &kind.to_string(), expected)
                }
            },
            other => {
                let found = other.describe(self.binder.schema);
                type_error(tree.span(), &found, "Int64, Float64 or Bool")
            }
        }
    }

    /// The program's outputs, and the assignments, which name them.
    fn assignments(&mut self, text: &str) -> Result<(Vec<NodeId>, Vec<Assignment>), Problem> {
        let (mut outputs, mut assignments) = (Vec::new(), Vec::<Assignment>::new());
        for tree in parse_assignments(text)? {
            let AssignmentTarget::ColumnName(name) = &tree.target else {
                let span = tree.value.span();
                return type_error(span, &tree.target.to_string(), "the name of one column");
            };
            let column = self.binder.assigned_column(name)?;
            self.check_target(column, name.span())?;
            if assignments.iter().any(|other| usize::from(other.column()) == column) {
                let message = format!("found {name} again, expected each column once");
                return Err(Problem::new(CompileErrorKind::Refused, name.span(), message));
            }
            assignments.push(self.assignment(column, &tree.value, &mut outputs)?);
        }
        Ok((outputs, assignments))
    }

    /// Indexes are in the host's memory, and by primary key the host finds rows.
    fn check_target(&self, column: usize, span: Span) -> Result<(), Problem> {
        let schema = self.binder.schema;
        let name = &schema.columns()[column].name;
        let indexed = schema.indexes().iter().find(|index| index.columns.contains(&column));
        let of = match indexed {
            _ if schema.primary_key().contains(&column) => "the primary key".into(),
            Some(index) => format!("index {:?}", index.name),
            None => return Ok(()),
        };
        let message = format!("column {name:?} belongs to {of}, expected a column of no key");
        Err(Problem::new(CompileErrorKind::Refused, span, message))
    }

    fn assignment(
        &mut self,
        column: usize,
        tree: &Expr,
        outputs: &mut Vec<NodeId>,
    ) -> Result<Assignment, Problem> {
        let (kind, number) = (self.binder.schema.columns()[column].kind, column as u16);
        let value = match (self.binder.bind(tree)?, Kind::of(kind)) {
            (Bound::Number(Number { kind: Kind::Null, .. }), _) => Value::Null,
            (Bound::Number(found), Some(wanted)) => {
                let id = self.binder.convert(found, wanted, tree.span())?;
                match self.binder.graph.constant_of(id) {
                    Some(bits) => constant(wanted, bits),
                    None => {
                        let output = outputs.len() as u8;
                        outputs.push(id);
                        return Ok(Assignment::Output { column: number, output });
                    }
                }
            }
            (Bound::Text(text), None) => Value::Text(text),
            (Bound::Bytes(bytes), None) => Value::Bytes(bytes),
            (found, wanted) => {
                let found = found.describe(self.binder.schema);
                let literal = if wanted.is_none() { ", as a literal or null" } else { "" };
                return type_error(tree.span(), &found, &format!("{kind}{literal}"));
            }
        };
        self.check_constant(column, &value, tree.span())?;
        Ok(Assignment::Constant { column: number, value })
    }

    /// Whether the column admits the value, by the rules of rows.
    fn check_constant(&self, column: usize, value: &Value, span: Span) -> Result<(), Problem> {
        let mut row = RowBuffer::new(self.binder.schema);
        row.set_ref(column, value.as_ref()).map_err(|error| {
            let kind = match error {
                RowError::WrongType { .. } => CompileErrorKind::Type,
                _ => CompileErrorKind::Refused,
            };
            Problem::new(kind, span, error.to_string())
        })
    }

    fn finish(self, outputs: &[NodeId]) -> Result<Program, CompileError> {
        let too_large = |message| {
            let problem = Problem::new(CompileErrorKind::TooLarge, Span::empty(), message);
            Err(problem.of("statement", ""))
        };
        if outputs.len() > MAX_OUTPUTS {
            let found = outputs.len();
            return too_large(format!("found {found} outputs, expected at most {MAX_OUTPUTS}"));
        }
        let code = match generate(&self.binder.graph, &self.filters, outputs) {
            Ok(code) => code,
            Err(message) => return too_large(message),
        };
        let shortest = self.binder.schema.shortest_payload();
        let fixed_bytes = shortest.try_into().expect("a row is shorter than 64 KiB");
        let program = Program::new(self.table, fixed_bytes, code.instructions, code.constants);
        Ok(program.expect("what was generated keeps the rules of programs"))
    }
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Int | Kind::Null => Type::Int64,
        Kind::Float => Type::Float64,
        Kind::Bool => Type::Bool,
    }
}

fn constant(kind: Kind, bits: Option<u64>) -> Value {
    match (bits, kind) {
        (None, _) => Value::Null,
        (Some(bits), Kind::Float) => Value::Float(f64::from_bits(bits)),
        (Some(bits), Kind::Bool) => Value::Bool(bits != 0),
        (Some(bits), Kind::Int | Kind::Null) => Value::Int(bits.cast_signed()),
    }
}
