// SPDX-License-Identifier: MIT OR Apache-2.0
//! The meaning of the environment variables.

use std::ffi::OsString;
use std::fmt;

const SEED: &str = "LOCKSTEP_SEED";
const CASES: &str = "LOCKSTEP_CASES";

/// The cases to run. Their last seed is a `u64`, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub first: u64,
    pub count: u64,
}

impl Chosen {
    /// As the variables `LOCKSTEP_SEED` and `LOCKSTEP_CASES` say.
    pub fn from_environment(default: u64) -> Result<Self, VariableError> {
        let read = |name| std::env::var_os(name).map(to_text);
        Self::parse(read(SEED).as_deref(), read(CASES).as_deref(), default)
    }

    /// As the texts of both variables say, if there are any.
    fn parse(seed: Option<&str>, cases: Option<&str>, default: u64) -> Result<Self, VariableError> {
        let bad = |variable, value: &str, expected| VariableError {
            variable,
            value: value.into(),
            expected,
        };
        let first: Option<u64> = seed
            .map(|text| text.parse().map_err(|_| bad(SEED, text, "a number from 0 to 2^64 - 1")))
            .transpose()?;
        let count = cases
            .map(|text| match text.parse() {
                Ok(0) | Err(_) => Err(bad(CASES, text, "a number from 1 to 2^64 - 1")),
                Ok(count) => Ok(count),
            })
            .transpose()?;
        let (first, count) = match (first, count) {
            (None, count) => (0, count.unwrap_or(default)),
            (Some(first), count) => (first, count.unwrap_or(1)),
        };
        match first.checked_add(count - 1) {
            Some(_) => Ok(Self { first, count }),
            None => {
                let expected = "no more cases than there are seeds from LOCKSTEP_SEED to 2^64 - 1";
                Err(bad(CASES, cases.unwrap_or_default(), expected))
            }
        }
    }
}

fn to_text(value: OsString) -> String {
    value.to_string_lossy().into_owned()
}

/// A variable of the environment that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableError {
    variable: &'static str,
    value: String,
    expected: &'static str,
}

impl fmt::Display for VariableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, value, expected } = self;
        write!(f, "{variable} is {value:?}, expected {expected}")
    }
}

impl std::error::Error for VariableError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(seed: Option<&str>, cases: Option<&str>) -> Result<(u64, u64), String> {
        let chosen = Chosen::parse(seed, cases, 300).map_err(|bad| bad.to_string())?;
        Ok((chosen.first, chosen.count))
    }

    #[test]
    fn both_variables_choose_first_and_count() {
        assert_eq!(parsed(None, None), Ok((0, 300)));
        assert_eq!(parsed(None, Some("5000")), Ok((0, 5000)));
        assert_eq!(parsed(Some("17"), None), Ok((17, 1)));
        assert_eq!(parsed(Some("17"), Some("5")), Ok((17, 5)));
        assert_eq!(parsed(Some("18446744073709551615"), None), Ok((u64::MAX, 1)));
        assert_eq!(parsed(Some("1"), Some("18446744073709551615")), Ok((1, u64::MAX)));
    }

    #[test]
    fn a_bad_value_is_refused_by_name() {
        let seed = |value| parsed(Some(value), Some("5")).unwrap_err();
        let cases = |value| parsed(None, Some(value)).unwrap_err();
        for value in ["", "-1", "all", " 1", "1e3", "18446744073709551616"] {
            let expected = "expected a number from 0 to 2^64 - 1";
            assert_eq!(seed(value), format!("LOCKSTEP_SEED is {value:?}, {expected}"));
            let expected = "expected a number from 1 to 2^64 - 1";
            assert_eq!(cases(value), format!("LOCKSTEP_CASES is {value:?}, {expected}"));
        }
        assert_eq!(cases("0"), "LOCKSTEP_CASES is \"0\", expected a number from 1 to 2^64 - 1");
        let beyond = parsed(Some("18446744073709551615"), Some("2")).unwrap_err();
        assert!(beyond.starts_with("LOCKSTEP_CASES is \"2\", expected no more cases"), "{beyond}");
    }
}
