// SPDX-License-Identifier: MIT OR Apache-2.0
//! From text to syntax trees, by crate `sqlparser`.

use sqlparser::ast::{Assignment, Expr};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

use super::error::{CompileErrorKind, Problem};

/// The longest text in bytes.
const MAX_TEXT: usize = 64 << 10;

/// The most words and signs of a text. No program has room for what they would say; and all that
/// follows goes as deep as an expression does.
const MAX_TOKENS: usize = 1_000;

/// How deep parentheses may stand in each other.
const MAX_DEPTH: usize = 60;

pub(super) fn parse_expression(text: &str) -> Result<Expr, Problem> {
    parse(text, |parser| parser.parse_expr())
}

pub(super) fn parse_assignments(text: &str) -> Result<Vec<Assignment>, Problem> {
    parse(text, |parser| parser.parse_comma_separated(Parser::parse_assignment))
}

fn parse<T>(
    text: &str,
    rule: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>,
) -> Result<T, Problem> {
    if text.len() > MAX_TEXT {
        let message = format!("found {} bytes, expected at most {MAX_TEXT}", text.len());
        return Err(Problem::new(CompileErrorKind::TooLarge, Span::empty(), message));
    }
    let dialect = PostgreSqlDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location().map_err(|error| {
        let span = Span::new(error.location, error.location);
        Problem::new(CompileErrorKind::Syntax, span, error.message)
    })?;
    check_size(&tokens)?;
    let mut parser =
        Parser::new(&dialect).with_recursion_limit(MAX_DEPTH).with_tokens_with_locations(tokens);
    let tree = rule(&mut parser).map_err(problem_of)?;
    match parser.peek_token() {
        TokenWithSpan { token: Token::EOF, .. } => Ok(tree),
        TokenWithSpan { token, span } => {
            let message = format!("found {token}, expected the end");
            Err(Problem::new(CompileErrorKind::Syntax, span, message))
        }
    }
}

fn check_size(tokens: &[TokenWithSpan]) -> Result<(), Problem> {
    let mut words = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    match words.nth(MAX_TOKENS) {
        None => Ok(()),
        Some(word) => {
            let message = format!("found more than {MAX_TOKENS} words and signs, expected fewer");
            Err(Problem::new(CompileErrorKind::TooLarge, word.span, message))
        }
    }
}

/// The parser gives the place in its message alone.
fn problem_of(error: ParserError) -> Problem {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
        ParserError::RecursionLimitExceeded => {
            let message = format!("parentheses are deeper than {MAX_DEPTH}, expected fewer");
            return Problem::new(CompileErrorKind::TooLarge, Span::empty(), message);
        }
    };
    let (message, location) = split_location(&message);
    let message =
        match message.strip_prefix("Expected: ").and_then(|rest| rest.split_once(", found: ")) {
            Some((expected, found)) => {
                let found = if found == "EOF" { "the end" } else { found };
                format!("found {found}, expected {expected}")
            }
            None => message.to_owned(),
        };
    Problem::new(CompileErrorKind::Syntax, Span::new(location, location), message)
}

/// Parts "… at Line: 1, Column: 5" of a message.
fn split_location(message: &str) -> (&str, Location) {
    let nowhere = Location::new(0, 0);
    let Some((head, place)) = message.rsplit_once(" at Line: ") else {
        return (message, nowhere);
    };
    let numbers = place.split_once(", Column: ");
    let numbers =
        numbers.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    match numbers {
        Some((line, column)) => (head, Location::new(line, column)),
        None => (message, nowhere),
    }
}
