// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of expressions.

use std::fmt;

use sqlparser::tokenizer::Span;

/// Why a text could not be compiled: in which part of the statement, where in it, and why.
///
/// Displayed with the line of the text and a mark under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// The kind of the error.
    pub kind: CompileErrorKind,
    /// The found and the expected value.
    pub message: String,
    /// The part of the statement: `predicate`, `assignments` or `output 1`.
    pub part: String,
    /// The line and column, both from 1, if they are known.
    pub place: Option<(u32, u32)>,
    marked: Option<Box<Marked>>,
}

/// Part of a line of the text, and which of its characters the error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Marked {
    shown: String,
    before: usize,
    width: usize,
}

/// Characters of a line that are shown, at most.
const SHOWN: usize = 90;
/// Of them, those before the marked ones.
const BEFORE: usize = 50;

impl Marked {
    fn new(line: &str, span: Span) -> Self {
        let (start, end) = (span.start, span.end);
        let column = start.column.saturating_sub(1) as usize;
        let skipped = column.saturating_sub(BEFORE);
        // One character for one, so that the mark stands under its place.
        let printable = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        let mut rest = printable.skip(skipped);
        let mut shown: Vec<char> = rest.by_ref().take(SHOWN).collect();
        if rest.next().is_some() {
            shown[SHOWN - 1] = '…';
        }
        if skipped > 0 && !shown.is_empty() {
            shown[0] = '…';
        }
        let before = column - skipped;
        let most = shown.len().saturating_sub(before).max(1);
        let width = match end.line == start.line {
            true => (end.column.saturating_sub(start.column) as usize).clamp(1, most),
            false => most,
        };
        Self { shown: shown.into_iter().collect(), before, width }
    }
}

/// Kinds of [`CompileError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompileErrorKind {
    /// The text is no expression.
    Syntax,
    /// A name that is no column of the table.
    UnknownColumn,
    /// An operand or value of the wrong type.
    Type,
    /// SQL that cannot be executed near the data.
    Unsupported,
    /// A literal or a constant expression beyond its type.
    OutOfRange,
    /// More than a program has room for.
    TooLarge,
    /// An assignment to a column of a key, or of a null or text that the column does not admit.
    Refused,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.part)?;
        if let Some((line, column)) = self.place {
            write!(f, ", line {line}, column {column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(Marked { shown, before, width }) = self.marked.as_deref() {
            write!(f, "\n  {shown}\n  {:before$}{}", "", "^".repeat(*width))?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}

/// What a stage of the compiler says of an error: it knows neither the text nor its part.
#[derive(Debug)]
pub(super) struct Problem {
    kind: CompileErrorKind,
    message: String,
    span: Span,
}

impl Problem {
    pub fn new(kind: CompileErrorKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), span }
    }

    /// The error, of this text.
    pub fn of(self, part: &str, text: &str) -> CompileError {
        let Self { kind, message, span } = self;
        let start = span.start;
        let line = start.line.checked_sub(1).and_then(|line| text.lines().nth(line as usize));
        let marked = line.map(|line| Box::new(Marked::new(line, span)));
        // A text has at most 64 KiB.
        let place = (start.line > 0).then_some((start.line as u32, start.column as u32));
        CompileError { kind, message, part: part.to_owned(), place, marked }
    }
}
