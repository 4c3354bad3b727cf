// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares numbers and structures with the kernel's headers, by the C compiler.
//!
//! A test states what its program believes, in the very constants that the program uses. They become
//! static assertions of a C file that includes the header, which the compiler `cc` then checks.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a program believes of one header.
#[derive(Debug)]
pub struct Header {
    name: &'static str,
    assertions: String,
}

impl Header {
    /// The header of a name, such as `linux/vfio.h`, of which nothing is believed yet.
    pub fn new(name: &'static str) -> Self {
        Self { name, assertions: String::new() }
    }

    /// `expression`, a macro or an enumerator, has this value.
    #[must_use]
    pub fn value(self, expression: &str, value: impl TryInto<u64>) -> Self {
        let value = value.try_into().ok().expect("a value of 0 to 2^64 - 1");
        self.assert(&format!("(unsigned long long)({expression})"), value)
    }

    /// Structure `name` has this many bytes.
    #[must_use]
    pub fn size(self, name: &str, bytes: usize) -> Self {
        self.assert(&format!("sizeof(struct {name})"), bytes as u64)
    }

    /// A field of structure `name` begins at this byte.
    #[must_use]
    pub fn offset(self, name: &str, field: &str, byte: usize) -> Self {
        self.assert(&format!("__builtin_offsetof(struct {name}, {field})"), byte as u64)
    }

    /// What `beliefs` adds holds of headers that know `name`, a macro; older ones are not asked.
    #[must_use]
    pub fn since(mut self, name: &str, beliefs: impl FnOnce(Self) -> Self) -> Self {
        self.line(format_args!("#ifdef {name}"));
        self = beliefs(self);
        self.line(format_args!("#endif"));
        self
    }

    fn assert(mut self, expression: &str, value: u64) -> Self {
        self.line(format_args!("_Static_assert({expression} == {value}ull,"));
        self.line(format_args!("    \"{expression} is not {value}\");"));
        self
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.assertions, "{line}").expect("a string takes all text");
    }

    /// Asks the compiler. Where there is no compiler, or no such header, this prints so, and nothing is
    /// compared.
    ///
    /// # Panics
    /// When the header says otherwise, or does not know a name; with the compiler's words.
    pub fn check(&self) {
        if let Err(reason) = self.compare() {
            println!("skipped: {} is not compared: {reason}", self.name);
        }
    }

    fn compare(&self) -> Result<(), String> {
        let include = format!("#include <{}>\n", self.name);
        compile(&include)?.map_err(|words| format!("it cannot be included: {words}"))?;
        if let Err(words) = compile(&(include + &self.assertions))? {
            panic!("{} says otherwise:\n{words}", self.name);
        }
        Ok(())
    }
}

/// Whether a C file compiles; if not, what the compiler says of it.
///
/// # Errors
/// There is no compiler.
fn compile(text: &str) -> Result<Result<(), String>, String> {
    let mut compiler = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the C compiler `cc` cannot be run: {error}"))?;
    // A compiler that does not read to the end says why.
    let _ = compiler.stdin.take().expect("a pipe").write_all(text.as_bytes());
    let output = compiler.wait_with_output().map_err(|error| format!("`cc`: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(if output.status.success() { Ok(()) } else { Err(words) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that has never changed.
    fn beliefs() -> Header {
        Header::new("linux/limits.h").value("PATH_MAX", 4096)
    }

    #[test]
    fn what_is_so_passes() {
        beliefs().since("NAME_MAX", |header| header.value("NAME_MAX", 255)).check();
        beliefs().since("NO_SUCH_NAME", |header| header.value("NO_SUCH_NAME", 1)).check();
    }

    #[test]
    fn what_is_not_so_is_found() {
        let Ok(()) = beliefs().compare() else { return beliefs().check() };
        let wrong: [Header; 4] = [
            beliefs().value("NAME_MAX", 254),
            beliefs().value("NO_SUCH_NAME", 1),
            Header::new("linux/time_types.h").size("__kernel_timespec", 15),
            Header::new("linux/time_types.h").offset("__kernel_timespec", "tv_nsec", 4),
        ];
        for header in wrong {
            let found = std::panic::catch_unwind(|| header.compare());
            assert!(found.is_err(), "{header:?}");
        }
    }

    #[test]
    fn a_header_that_is_not_there_is_told() {
        let reason = Header::new("linux/no_such_header.h").compare().unwrap_err();
        assert!(reason.contains("cannot be included") || reason.contains("`cc`"), "{reason}");
    }
}
