// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiler's errors for statements that it refuses.

use super::every_type;
use crate::program::{CompileErrorKind, compile_select, compile_update};
use CompileErrorKind::{OutOfRange, Refused, Syntax, TooLarge, Type, UnknownColumn, Unsupported};

fn predicate_error(text: &str) -> (CompileErrorKind, String) {
    let error = compile_select(0, &every_type(), Some(text), &[]).expect_err(text);
    (error.kind, error.to_string())
}

fn assignment_error(text: &str) -> (CompileErrorKind, String) {
    let error = compile_update(0, &every_type(), None, text).expect_err(text);
    (error.kind, error.to_string())
}

#[test]
fn an_error_shows_its_place() {
    let (kind, message) = predicate_error("i < 5 and\n  i_nul = 3 and b");
    assert_eq!(kind, UnknownColumn);
    let expected = "\
predicate, line 2, column 3: no column of table \"every\" is named \"i_nul\": did you mean \"i_null\"?
    i_nul = 3 and b
    ^^^^^";
    assert_eq!(message, expected);
    let (_, message) = predicate_error("é = 'é' or f < i + 1");
    assert!(message.starts_with("predicate, line 1, column 1: no column"), "{message}");
    let (_, message) = predicate_error("t = 'é' or f < i + 1");
    assert!(message.ends_with("\n  t = 'é' or f < i + 1\n             ^^^^^^^^^"), "{message}");
}

#[test]
fn of_a_long_line_the_part_around_the_place_is_shown() {
    let many = "i = 1 or ".repeat(30);
    let (_, message) = predicate_error(&format!("{many}f < i + 1 or {many}true"));
    let shown = message.lines().nth(1).expect("a line of the text");
    assert!(message.starts_with("predicate, line 1, column 271: found Float64 and"), "{message}");
    assert!(shown.starts_with("  … or i = 1") && shown.ends_with('…'), "{message}");
    assert_eq!(shown.chars().count(), 92, "{message}");
    let mark = message.lines().nth(2).expect("a mark");
    let place = mark.find('^').expect("a mark under the place");
    let marked: String = shown.chars().skip(place).take(mark.len() - place).collect();
    assert_eq!(marked, "f < i + 1", "{message}");
    // What is wrong may be longer than what is shown.
    let (_, message) = predicate_error(&format!("i = '{}'", "x".repeat(400)));
    assert!(message.lines().all(|line| line.chars().count() <= 92), "{message}");
}

#[test]
fn predicates_are_refused_for_a_reason() {
    let long = format!("i in ({})", vec!["1"; 2_000].join(", "));
    let deep = format!("{}i{} = 1", "(".repeat(200), ")".repeat(200));
    let many: Vec<_> = (0..30).map(|number| format!("i = {number}")).collect();
    let chain = format!("{} = 1", vec!["i"; 450].join(" + "));
    let wide = format!("t = '{}'", "x".repeat(505));
    let cases: &[(&str, CompileErrorKind, &str)] = &[
        ("", Syntax, "expected"),
        ("i <", Syntax, "found the end, expected"),
        ("i = 1 i", Syntax, "found i, expected the end"),
        ("i = 'open", Syntax, "Unterminated"),
        ("colour = 1", UnknownColumn, "expected one of id, i, i_null, j,"),
        ("other.i = 1", UnknownColumn, "no table \"other\": expected one of every"),
        ("\"I\" = 1", UnknownColumn, "did you mean \"i\"?"),
        ("i", Type, "found Int64, expected a truth value"),
        ("t", Type, "found Text, expected a truth value"),
        ("i = f", Type, "found Int64 and Float64, expected two of one type"),
        ("i = 1.5", Type, "found Int64 and Float64, expected two of one type"),
        ("i = b", Type, "found Int64 and Bool"),
        ("i = 'a'", Type, "found Int64 and a text"),
        ("t = x", Type, "found Text and Fixed(5), expected a literal '…' beside text"),
        ("t = 3", Type, "found Text and Int64"),
        ("y_null = 'a'", Type, "found Bytes and a text, expected a literal X'…' beside bytes"),
        ("t + 1 = 2", Type, "found Text, expected Int64, Float64 or Bool"),
        ("b + b = 2", Type, "found Bool, expected Int64 or Float64"),
        ("-b", Type, "found Bool, expected Int64 or Float64"),
        ("not i", Type, "found Int64, expected a truth value"),
        ("i is true", Type, "found Int64, expected a truth value"),
        ("y_null = X'abc'", Type, "found abc, expected hexadecimal digits in pairs"),
        ("least() = 1", Type, "no arguments"),
        ("i = $1", Type, "found $1, expected a number"),
        ("i / 2 = 1", Unsupported, "found the operator /, expected + - *"),
        ("i % 2 = 1", Unsupported, "found the operator %, expected + - *"),
        ("t like 'a%'", Unsupported, "found t LIKE 'a%', expected comparisons"),
        ("i in (select 1)", Unsupported, "expected comparisons"),
        ("abs(i) = 1", Unsupported, "found the function abs, expected least or greatest"),
        ("cast(i as float) = 1.0", Unsupported, "expected comparisons"),
        ("case when b then b end", Unsupported, "expected comparisons"),
        ("i < 9223372036854775808", OutOfRange, "expected an integer within 64 bits"),
        ("i < 9223372036854775807 + 1", OutOfRange, "the constant: an integer is out of range"),
        ("f < 1e999", OutOfRange, "found 1e999, expected a number that 64 bits"),
        (&long, TooLarge, "found more than 1000 words and signs"),
        (&deep, TooLarge, "parentheses are deeper than 60"),
        (&many.join(" or "), TooLarge, "instructions, expected at most 64 of a program"),
        (&chain, TooLarge, "instructions, expected at most 64 of a program"),
        (&wide, TooLarge, "found 505 bytes to be compared, expected at most 504"),
    ];
    for (text, kind, expected) in cases {
        let (found, message) = predicate_error(text);
        assert_eq!(found, *kind, "{message}");
        assert!(message.contains(expected), "{message}, expected {expected}");
        assert!(message.starts_with("predicate") || *kind == TooLarge, "{message}");
    }
}

#[test]
fn the_least_integer_is_a_literal() {
    compile_select(0, &every_type(), Some("i > -9223372036854775808"), &[]).expect("it fits");
}

#[test]
fn assignments_are_refused_for_a_reason() {
    let cases: &[(&str, CompileErrorKind, &str)] = &[
        ("", Syntax, "expected"),
        ("i", Syntax, "found the end, expected"),
        ("i = 1,", Syntax, "expected"),
        ("i = 1 where b", Syntax, "found where, expected the end"),
        ("i = 1, i = 2", Refused, "line 1, column 8: found i again, expected each column once"),
        ("id = 3", Refused, "column \"id\" belongs to the primary key"),
        ("keyed = 3", Refused, "column \"keyed\" belongs to index \"by_keyed\""),
        ("colour = 3", UnknownColumn, "line 1, column 1: no column"),
        ("i = null", Refused, "column \"i\": found a null, expected Int64"),
        ("i = f", Type, "found Float64, expected Int64"),
        ("i = 1.5", Type, "found Float64, expected Int64"),
        ("f = i", Type, "found Int64, expected Float64"),
        ("i = 'a'", Type, "found a text, expected Int64"),
        ("t = t_null", Type, "found Text, expected Text, as a literal or null"),
        ("t = i", Type, "found Int64, expected Text, as a literal or null"),
        ("t = X'00'", Type, "expected Text"),
        ("x = 'abcdef'", Refused, "text \"abcdef\" has 6 bytes, expected at most 5"),
        ("(i, j) = (1, 2)", Type, "expected the name of one column"),
    ];
    for (text, kind, expected) in cases {
        let (found, message) = assignment_error(text);
        assert_eq!(found, *kind, "{message}");
        assert!(message.contains(expected), "{message}, expected {expected}");
    }
}

#[test]
fn outputs_are_refused_for_a_reason() {
    let schema = every_type();
    let error = |outputs: &[&str]| {
        compile_select(0, &schema, None, outputs).expect_err("it is refused").to_string()
    };
    assert!(error(&["i", "t"]).starts_with("output 2, line 1, column 1: found Text"));
    assert!(error(&["x_null"]).contains("found Fixed(11), expected"));
    assert!(error(&["'a'"]).contains("found a text, expected"));
    assert!(error(&["i"; 9]).contains("found 9 outputs, expected at most 8"));
}

/// Both sides hold more values than there are registers, however they are ordered.
#[test]
fn an_expression_that_needs_too_many_registers_is_refused() {
    fn tree(depth: u32, leaf: &mut u32) -> String {
        if depth == 0 {
            *leaf += 1;
            return format!("(i * {leaf})");
        }
        format!("({} + {})", tree(depth - 1, leaf), tree(depth - 1, leaf))
    }
    // A shared sum of all, and a conjunction of comparisons among its parts, all of them alive.
    let sums: Vec<_> = (0..18).map(|number| format!("(i + {number})")).collect();
    let all = sums.join(" + ");
    let backwards: Vec<_> = sums.iter().rev().map(String::as_str).collect();
    let text = format!("{all} = {}", backwards.join(" * "));
    let error = compile_select(0, &every_type(), Some(&text), &[]).expect_err("18 are shared");
    assert!(error.message.contains("more than 16 values are needed at a time"), "{error}");
    // A balanced tree takes a register for each level alone.
    let text = format!("{} > 0", tree(4, &mut 0));
    compile_select(0, &every_type(), Some(&text), &[]).expect("5 registers are enough");
}
