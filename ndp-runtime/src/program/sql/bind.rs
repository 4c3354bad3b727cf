// SPDX-License-Identifier: MIT OR Apache-2.0
//! From syntax trees to typed values: names, types and null rules.

use lockdb::schema::{Schema, Type};
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, Spanned, UnaryOperator, Value,
};
use sqlparser::tokenizer::Span;

use super::compare::Comparison;
use super::error::{CompileErrorKind, Problem};
use super::graph::{Graph, Node, NodeId};
use super::names::nearest;
use crate::program::instruction::{NEVER_NULL, Opcode};

/// What the values of an expression are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Float,
    Bool,
    /// A null literal: of whatever type is wanted.
    Null,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "Int64",
            Self::Float => "Float64",
            Self::Bool => "Bool",
            Self::Null => "a null",
        }
    }

    /// How columns of this type are held in registers, if they are.
    pub fn of(kind: Type) -> Option<Self> {
        match kind {
            Type::Int64 => Some(Self::Int),
            Type::Float64 => Some(Self::Float),
            Type::Bool => Some(Self::Bool),
            Type::Fixed(_) | Type::Text | Type::Bytes => None,
        }
    }
}

/// A value that a register holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub id: NodeId,
    pub kind: Kind,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Number(Number),
    /// A column of text or bytes, by its number.
    Column(usize),
    Text(String),
    Bytes(Vec<u8>),
}

impl Bound {
    /// As errors call it.
    pub fn describe(&self, schema: &Schema) -> String {
        match self {
            Self::Number(number) => number.kind.name().into(),
            Self::Column(column) => schema.columns()[*column].kind.to_string(),
            Self::Text(_) => "a text".into(),
            Self::Bytes(_) => "bytes".into(),
        }
    }
}

/// Binds expressions over the columns of one table.
pub(super) struct Binder<'a> {
    pub schema: &'a Schema,
    pub graph: Graph,
}

type Result<T> = std::result::Result<T, Problem>;

pub(super) fn type_error<T>(span: Span, found: &str, expected: &str) -> Result<T> {
    let message = format!("found {found}, expected {expected}");
    Err(Problem::new(CompileErrorKind::Type, span, message))
}

impl<'a> Binder<'a> {
    pub fn new(schema: &'a Schema) -> Self {
        Self { schema, graph: Graph::default() }
    }

    pub fn bind(&mut self, tree: &Expr) -> Result<Bound> {
        let span = tree.span();
        Ok(Bound::Number(match tree {
            Expr::Nested(inner) => return self.bind(inner),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => return self.bind_name(tree),
            Expr::Value(value) => return self.bind_literal(&value.value, span),
            Expr::UnaryOp { op, expr } => self.bind_unary(op, expr)?,
            Expr::BinaryOp { left, op, right } => self.bind_binary(left, op, right, span)?,
            Expr::Between { expr, negated, low, high } => {
                let low = self.bind_comparison(Comparison::GreaterEqual, expr, low)?;
                let high = self.bind_comparison(Comparison::LessEqual, expr, high)?;
                let both = self.truth(Opcode::And, low, high);
                self.negated(both, *negated)
            }
            Expr::InList { expr, list, negated } => {
                let mut any = None;
                for item in list {
                    let equal = self.bind_comparison(Comparison::Equal, expr, item)?;
                    any = Some(match any {
                        Some(any) => self.truth(Opcode::Or, any, equal),
                        None => equal,
                    });
                }
                let Some(any) = any else {
                    return type_error(span, "an empty list", "values to be found in");
                };
                self.negated(any, *negated)
            }
            Expr::IsNull(expr) => self.bind_is_null(expr)?,
            Expr::IsNotNull(expr) => {
                let null = self.bind_is_null(expr)?;
                self.negated(null, true)
            }
            Expr::IsUnknown(expr) | Expr::IsNotUnknown(expr) => {
                let value = self.bind_bool(expr)?;
                let unknown = self.is_null(value);
                self.negated(unknown, matches!(tree, Expr::IsNotUnknown(_)))
            }
            Expr::IsTrue(expr) | Expr::IsNotTrue(expr) => {
                let value = self.bind_bool(expr)?;
                let is = self.known_and(value, value);
                self.negated(is, matches!(tree, Expr::IsNotTrue(_)))
            }
            Expr::IsFalse(expr) | Expr::IsNotFalse(expr) => {
                let value = self.bind_bool(expr)?;
                let not = self.negated(value, true);
                let is = self.known_and(value, not);
                self.negated(is, matches!(tree, Expr::IsNotFalse(_)))
            }
            Expr::Function(function) => self.bind_function(function, span)?,
            other => {
                let message = format!(
                    "found {}, expected comparisons, and, or, not, between, in, is null, + - *, \
                     least, greatest, columns and literals",
                    shortened(&other.to_string())
                );
                return Err(Problem::new(CompileErrorKind::Unsupported, span, message));
            }
        }))
    }

    /// As [`Binder::bind`], of what a register holds.
    pub fn bind_number(&mut self, tree: &Expr) -> Result<Number> {
        match self.bind(tree)? {
            Bound::Number(number) => Ok(number),
            other => type_error(
                tree.span(),
                &other.describe(self.schema),
                "Int64, Float64 or Bool: text and bytes can only be compared with literals",
            ),
        }
    }

    pub fn bind_bool(&mut self, tree: &Expr) -> Result<Number> {
        let found = self.bind(tree)?;
        match found {
            Bound::Number(Number { id, kind: Kind::Bool | Kind::Null }) => {
                Ok(Number { id, kind: Kind::Bool })
            }
            other => type_error(
                tree.span(),
                &other.describe(self.schema),
                "a truth value, as a comparison gives",
            ),
        }
    }

    fn bind_name(&mut self, tree: &Expr) -> Result<Bound> {
        let column = match tree {
            Expr::Identifier(name) => self.column(std::slice::from_ref(name))?,
            Expr::CompoundIdentifier(names) => self.column(names)?,
            _ => unreachable!("the caller has a name"),
        };
        let found = &self.schema.columns()[column];
        let Some(kind) = Kind::of(found.kind) else { return Ok(Bound::Column(column)) };
        Ok(Bound::Number(Number { id: self.load(column), kind }))
    }

    /// The word of a column; of a variable one some word, which is good for its null bit alone.
    pub fn load(&mut self, column: usize) -> NodeId {
        let variable = matches!(self.schema.columns()[column].kind, Type::Text | Type::Bytes);
        let offset = if variable { 0 } else { self.offset(column) };
        let null_bit = self.null_bit(column);
        self.graph.add(Node::Load { offset, null_bit })
    }

    pub fn offset(&self, column: usize) -> u16 {
        self.schema.offset_of(column).try_into().expect("a row is shorter than 64 KiB")
    }

    pub fn null_bit(&self, column: usize) -> u16 {
        let nullable = self.schema.columns()[column].nullable;
        if nullable { column.try_into().expect("there are at most 1,024") } else { NEVER_NULL }
    }

    /// The number of a column by its name, which may have the table's before it. In quotes, or if
    /// two differ in nothing else, capital letters count.
    fn column(&self, names: &[Ident]) -> Result<usize> {
        let name = names.last().expect("the parser gives no empty names");
        let unknown = |what: &str, found: &str, candidates: Vec<&str>| {
            let near = match nearest(found, &candidates) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("expected one of {}", candidates.join(", ")),
            };
            let message = format!("no {what} {found:?}: {near}");
            Err(Problem::new(CompileErrorKind::UnknownColumn, name.span, message))
        };
        let table = self.schema.name();
        match names {
            [_] => {}
            [of, _] if of.value.eq_ignore_ascii_case(table) => {}
            [.., of, _] => return unknown("table", &of.value, vec![table]),
            [] => unreachable!("the parser gives no empty names"),
        }
        if let Some(column) = self.schema.column(&name.value) {
            return Ok(column);
        }
        let columns = self.schema.columns();
        let mut like = columns.iter().enumerate().filter(|(_, column)| {
            name.quote_style.is_none() && column.name.eq_ignore_ascii_case(&name.value)
        });
        if let (Some((column, _)), None) = (like.next(), like.next()) {
            return Ok(column);
        }
        let candidates = columns.iter().map(|column| column.name.as_str()).collect();
        unknown(&format!("column of table {table:?} is named"), &name.value, candidates)
    }

    /// The column that an assignment names.
    pub fn assigned_column(&self, name: &ObjectName) -> Result<usize> {
        let part = |part: &ObjectNamePart| match part {
            ObjectNamePart::Identifier(name) => Some(name.clone()),
            ObjectNamePart::Function(_) => None,
        };
        match name.0.iter().map(part).collect::<Option<Vec<_>>>() {
            Some(names) if !names.is_empty() => self.column(&names),
            _ => type_error(name.span(), &name.to_string(), "the name of a column"),
        }
    }

    fn bind_literal(&mut self, literal: &Value, span: Span) -> Result<Bound> {
        let (bits, kind) = match literal {
            Value::Number(digits, _) => return self.bind_digits(digits, false, span),
            Value::Boolean(value) => (Some(u64::from(*value)), Kind::Bool),
            Value::Null => (None, Kind::Null),
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => {
                return Ok(Bound::Text(text.clone()));
            }
            Value::HexStringLiteral(digits) => {
                return match hexadecimal(digits) {
                    Some(bytes) => Ok(Bound::Bytes(bytes)),
                    None => type_error(span, digits, "hexadecimal digits in pairs"),
                };
            }
            other => {
                return type_error(
                    span,
                    &other.to_string(),
                    "a number, 'text', X'bytes', true, false or null",
                );
            }
        };
        Ok(Bound::Number(Number { id: self.graph.constant(bits), kind }))
    }

    /// A number without its sign. One with a point or an exponent is a float.
    fn bind_digits(&mut self, digits: &str, negative: bool, span: Span) -> Result<Bound> {
        let out_of_range = |what: &str| {
            let message = format!("found {digits}, expected {what}");
            Err(Problem::new(CompileErrorKind::OutOfRange, span, message))
        };
        let (bits, kind) = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
            match signed.parse::<i64>() {
                Ok(value) => (value.cast_unsigned(), Kind::Int),
                Err(_) => return out_of_range("an integer within 64 bits"),
            }
        } else {
            match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    ((if negative { -value } else { value }).to_bits(), Kind::Float)
                }
                _ => return out_of_range("a number that 64 bits of floating point can hold"),
            }
        };
        Ok(Bound::Number(Number { id: self.graph.constant(bits), kind }))
    }

    fn bind_unary(&mut self, op: &UnaryOperator, operand: &Expr) -> Result<Number> {
        match op {
            UnaryOperator::Not => {
                let value = self.bind_bool(operand)?;
                Ok(self.negated(value, true))
            }
            UnaryOperator::Plus => self.bind_arithmetic(operand),
            UnaryOperator::Minus => {
                // The least integer has no positive counterpart, so the sign goes with the digits.
                if let Expr::Value(value) = operand
                    && let Value::Number(digits, _) = &value.value
                    && let Bound::Number(number) = self.bind_digits(digits, true, operand.span())?
                {
                    return Ok(number);
                }
                let value = self.bind_arithmetic(operand)?;
                // Not 0 - x of floats, which has the wrong sign for 0.
                let (op, id) = match value.kind {
                    Kind::Float => (Opcode::MultiplyFloat, self.graph.constant((-1_f64).to_bits())),
                    _ => (Opcode::SubtractInt, self.graph.constant(0)),
                };
                let id = self.operation(op, id, value.id, operand.span())?;
                Ok(Number { id, kind: value.kind })
            }
            other => {
                let message = format!("found the operator {other}, expected not, + or -");
                Err(Problem::new(CompileErrorKind::Unsupported, operand.span(), message))
            }
        }
    }

    fn bind_binary(
        &mut self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        span: Span,
    ) -> Result<Number> {
        if let Some(comparison) = Comparison::of(op) {
            return self.bind_comparison(comparison, left, right);
        }
        match op {
            BinaryOperator::And | BinaryOperator::Or => {
                let (left, right) = (self.bind_bool(left)?, self.bind_bool(right)?);
                let op = if *op == BinaryOperator::And { Opcode::And } else { Opcode::Or };
                Ok(self.truth(op, left, right))
            }
            BinaryOperator::Plus => self.arithmetic(left, ARITHMETIC[0], right, span),
            BinaryOperator::Minus => self.arithmetic(left, ARITHMETIC[1], right, span),
            BinaryOperator::Multiply => self.arithmetic(left, ARITHMETIC[2], right, span),
            other => {
                let message =
                    format!("found the operator {other}, expected + - *, = <> < <= > >=, and, or");
                Err(Problem::new(CompileErrorKind::Unsupported, span, message))
            }
        }
    }

    fn bind_arithmetic(&mut self, tree: &Expr) -> Result<Number> {
        let number = self.bind_number(tree)?;
        match number.kind {
            Kind::Bool => type_error(tree.span(), "Bool", "Int64 or Float64"),
            _ => Ok(number),
        }
    }

    /// Of the two operations the one for integers or the one for floats.
    fn arithmetic(
        &mut self,
        left: &Expr,
        [integers, floats]: [Opcode; 2],
        right: &Expr,
        span: Span,
    ) -> Result<Number> {
        let (a, b) = (self.bind_arithmetic(left)?, self.bind_arithmetic(right)?);
        let (kind, a, b) = self.unify(a, b, span)?;
        let op = if kind == Kind::Float { floats } else { integers };
        Ok(Number { id: self.operation(op, a, b, span)?, kind })
    }

    pub fn operation(&mut self, op: Opcode, a: NodeId, b: NodeId, span: Span) -> Result<NodeId> {
        self.graph.binary(op, a, b).map_err(|fault| {
            Problem::new(CompileErrorKind::OutOfRange, span, format!("the constant: {fault}"))
        })
    }

    /// `least` and `greatest`.
    fn bind_function(&mut self, function: &Function, span: Span) -> Result<Number> {
        let name = function.name.to_string().to_ascii_lowercase();
        let ops = match name.as_str() {
            "least" => [Opcode::MinInt, Opcode::MinFloat],
            "greatest" => [Opcode::MaxInt, Opcode::MaxFloat],
            _ => {
                let message = format!("found the function {name}, expected least or greatest");
                return Err(Problem::new(CompileErrorKind::Unsupported, span, message));
            }
        };
        let arguments = plain_arguments(function).unwrap_or_default();
        let [first, rest @ ..] = &arguments[..] else {
            return type_error(span, "no arguments that are expressions", "at least one");
        };
        let mut result = self.bind_arithmetic(first)?;
        for argument in rest {
            let other = self.bind_arithmetic(argument)?;
            let (kind, a, b) = self.unify(result, other, argument.span())?;
            let op = ops[usize::from(kind == Kind::Float)];
            result = Number { id: self.operation(op, a, b, span)?, kind };
        }
        Ok(result)
    }

    /// Makes two values one type: a null becomes the other's, a constant integer a float.
    pub fn unify(&mut self, a: Number, b: Number, span: Span) -> Result<(Kind, NodeId, NodeId)> {
        match (a.kind, b.kind) {
            (Kind::Null, Kind::Null) => Ok((Kind::Int, a.id, b.id)),
            (Kind::Null, kind) | (kind, Kind::Null) => Ok((kind, a.id, b.id)),
            (kind, other) if kind == other => Ok((kind, a.id, b.id)),
            (Kind::Float, Kind::Int) if self.graph.constant_of(b.id).is_some() => {
                Ok((Kind::Float, a.id, self.widen(b.id)))
            }
            (Kind::Int, Kind::Float) if self.graph.constant_of(a.id).is_some() => {
                Ok((Kind::Float, self.widen(a.id), b.id))
            }
            (kind, other) => type_error(
                span,
                &format!("{} and {}", kind.name(), other.name()),
                "two of one type: values of columns are not converted",
            ),
        }
    }

    /// A constant integer as the nearest float.
    pub fn widen(&mut self, id: NodeId) -> NodeId {
        let value = self.graph.constant_of(id).expect("the caller has a constant");
        self.graph.constant(value.map(|bits| (bits.cast_signed() as f64).to_bits()))
    }

    /// A value as one that a column of this kind can be set to.
    pub fn convert(&mut self, value: Number, wanted: Kind, span: Span) -> Result<NodeId> {
        match (value.kind, wanted) {
            (found, wanted) if found == wanted || found == Kind::Null => Ok(value.id),
            (Kind::Int, Kind::Float) if self.graph.constant_of(value.id).is_some() => {
                Ok(self.widen(value.id))
            }
            (found, wanted) => type_error(span, found.name(), wanted.name()),
        }
    }

    fn bind_is_null(&mut self, tree: &Expr) -> Result<Number> {
        let id = match self.bind(tree)? {
            Bound::Number(number) => number.id,
            Bound::Column(column) => self.load(column),
            Bound::Text(_) | Bound::Bytes(_) => self.graph.constant(0),
        };
        Ok(self.is_null(Number { id, kind: Kind::Bool }))
    }

    fn is_null(&mut self, value: Number) -> Number {
        Number { id: self.graph.unary(Opcode::IsNull, value.id), kind: Kind::Bool }
    }

    /// Whether `value` is known, and `and` true.
    fn known_and(&mut self, value: Number, and: Number) -> Number {
        let null = self.is_null(value);
        let known = self.negated(null, true);
        self.truth(Opcode::And, known, and)
    }

    pub fn truth(&mut self, op: Opcode, a: Number, b: Number) -> Number {
        let id =
            self.graph.binary(op, a.id, b.id).expect("AND and OR have a result for each value");
        Number { id, kind: Kind::Bool }
    }

    pub fn negated(&mut self, value: Number, negated: bool) -> Number {
        if !negated {
            return value;
        }
        Number { id: self.graph.unary(Opcode::Not, value.id), kind: Kind::Bool }
    }
}

/// Plus, minus and times: of integers and of floats.
const ARITHMETIC: [[Opcode; 2]; 3] = [
    [Opcode::AddInt, Opcode::AddFloat],
    [Opcode::SubtractInt, Opcode::SubtractFloat],
    [Opcode::MultiplyInt, Opcode::MultiplyFloat],
];

/// The arguments of a function that is called with expressions alone.
fn plain_arguments(function: &Function) -> Option<Vec<&Expr>> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let plain = function.over.is_none()
        && function.filter.is_none()
        && list.clauses.is_empty()
        && list.duplicate_treatment.is_none();
    if !plain {
        return None;
    }
    list.args
        .iter()
        .map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(tree)) => Some(tree),
            _ => None,
        })
        .collect()
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}

/// The beginning of a text, for an error.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
