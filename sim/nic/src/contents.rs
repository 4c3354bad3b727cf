// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is in the table: keys and values of 8 bytes, from a generator or from a file.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use tables::experiments::key;
use workloads::text_file;
use workloads::{Error, Found, InputError, Result};

/// The header of a file of a table.
pub const FIELDS: [&str; 2] = ["key", "value"];

/// Keys, all different, with their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// In the order of the generator, or of the file.
    pub objects: Vec<(u64, u64)>,
}

impl Contents {
    /// So many objects; the same for the same seed.
    pub fn generated(count: u32, seed: u64) -> Self {
        let object = |index| (key(seed, index), value_of(key(seed, index), 0));
        Self { objects: (0..u64::from(count)).map(object).collect() }
    }

    /// The objects of a CSV file with the header `key,value`, which may be compressed. Numbers are decimal, or
    /// hexadecimal behind `0x`; empty lines and those that begin with `#` say nothing.
    ///
    /// # Errors
    /// When the file cannot be read or is empty, a field is no number, or a key comes twice; with file, line
    /// and field.
    pub fn read(path: &Path) -> Result<Self> {
        let mut lines = Lines::open(path)?;
        let (mut objects, mut seen) = (Vec::new(), HashMap::new());
        lines.expect_header(&FIELDS)?;
        while lines.next_line()? {
            let [key, value] = lines.numbers(FIELDS)?;
            if let Some(first) = seen.insert(key, lines.number) {
                let expected = format!("another key than that of line {first}");
                return Err(lines.reject("key", key, expected));
            }
            objects.push((key, value));
        }
        if objects.is_empty() {
            return Err(lines.reject("", "", "at least one line with key and value"));
        }
        Ok(Self { objects })
    }

    /// A key of the number `index` that is not in the table.
    pub fn absent_key(&self, seed: u64, index: u64, is_there: impl Fn(u64) -> bool) -> u64 {
        // Those of the generator come first, and keys of a file may be among any.
        let mut next = index + self.objects.len() as u64;
        while is_there(key(seed, next)) {
            next = next.wrapping_add(1 << 32);
        }
        key(seed, next)
    }
}

/// The value that a key of the generator has after so many insertions.
pub fn value_of(key: u64, insertion: u64) -> u64 {
    tables::experiments::key(key, insertion)
}

/// The keys of a trace: a CSV file with the header `key`, as [`Contents::read`] takes it.
///
/// # Errors
/// When the file cannot be read or is empty, or a line is no number; with file and line.
pub fn read_trace(path: &Path) -> Result<Vec<u64>> {
    let mut lines = Lines::open(path)?;
    lines.expect_header(&["key"])?;
    let mut keys = Vec::new();
    while lines.next_line()? {
        let [key] = lines.numbers(["key"])?;
        keys.push(key);
    }
    if keys.is_empty() {
        return Err(lines.reject("", "", "at least one line with a key"));
    }
    Ok(keys)
}

/// The lines of a file that say something.
struct Lines {
    file: String,
    reader: Box<dyn BufRead>,
    text: String,
    number: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        match text_file::open(path) {
            Ok(reader) => Ok(Lines { file, reader, text: String::new(), number: 0 }),
            Err(source) => Err(Error::Read { file, source }),
        }
    }

    fn next_line(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            let read = self.reader.read_line(&mut self.text);
            if read.map_err(|source| Error::Read { file: self.file.clone(), source })? == 0 {
                return Ok(false);
            }
            self.number += 1;
            let text = self.text.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(true);
            }
        }
    }

    fn expect_header(&mut self, fields: &[&str]) -> Result<()> {
        let is_there = self.next_line()?;
        if is_there && self.text.trim().split(',').map(str::trim).eq(fields.iter().copied()) {
            return Ok(());
        }
        let found = self.text.trim().to_owned();
        Err(self.reject("", found, format!("the header {}", fields.join(","))))
    }

    fn numbers<const N: usize>(&self, names: [&str; N]) -> Result<[u64; N]> {
        let fields: Vec<&str> = self.text.trim().split(',').map(str::trim).collect();
        if fields.len() != N {
            let text = self.text.trim();
            return Err(self.reject("", text, format!("{N} fields: {}", names.join(","))));
        }
        let mut numbers = [0; N];
        for ((number, text), name) in numbers.iter_mut().zip(fields).zip(names) {
            *number = parse_number(text).ok_or_else(|| {
                let expected = "a whole number from 0 to 2^64 - 1, decimal or 0x…";
                self.reject(name, text, expected)
            })?;
        }
        Ok(numbers)
    }

    fn reject(&self, field: &str, found: impl ToString, expected: impl Into<String>) -> Error {
        let found = match found.to_string() {
            text if text.is_empty() && field.is_empty() => Found::Missing,
            text => Found::Value(text),
        };
        let (file, line) = (self.file.clone(), self.number.max(1));
        InputError { file, line, field: field.into(), found, expected: expected.into() }.into()
    }
}

fn parse_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // `from_str_radix` would take a sign.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_plain { u64::from_str_radix(digits, radix).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("written");
        file
    }

    #[test]
    fn a_file_gives_its_objects_in_order() {
        let file = file("# a table\n key , value\n\n7,70\r\n0xFF, 0x10\n18446744073709551615,0\n");
        let contents = Contents::read(file.path()).expect("a table");
        assert_eq!(contents.objects, [(7, 70), (255, 16), (u64::MAX, 0)]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let number = "a whole number from 0 to 2^64 - 1, decimal or 0x…";
        for (text, expected) in [
            ("", ":1: nothing: expected the header key,value"),
            ("7,70\n", ":1: `7,70`: expected the header key,value"),
            ("key,value\n", ":1: nothing: expected at least one line with key and value"),
            ("key,value\n7\n", ":2: `7`: expected 2 fields: key,value"),
            ("key,value\n7,+1\n", &format!(":2: field `value` = +1: expected {number}")),
            ("key,value\n\n0x,1\n", &format!(":3: field `key` = 0x: expected {number}")),
            (
                "key,value\n7,1\n8,1\n7,2\n",
                ":4: field `key` = 7: expected another key than that of line 2",
            ),
        ] {
            let file = file(text);
            let error = Contents::read(file.path()).expect_err(text).to_string();
            assert!(error.ends_with(expected), "{text:?}: {error}");
            assert!(error.starts_with(&*file.path().to_string_lossy()), "{error}");
        }
    }

    #[test]
    fn a_trace_has_keys_alone() {
        assert_eq!(read_trace(file("key\n5\n5\n0x6\n").path()).expect("a trace"), [5, 5, 6]);
        let error = read_trace(file("key\n5\nfive\n").path()).expect_err("no number").to_string();
        assert!(error.contains(":3: field `key` = five: expected"), "{error}");
        assert!(read_trace(Path::new("/no/such/file")).is_err());
    }

    #[test]
    fn generated_keys_are_different_and_repeat() {
        let contents = Contents::generated(1000, 5);
        assert_eq!(contents, Contents::generated(1000, 5));
        assert_ne!(contents, Contents::generated(1000, 6));
        let mut keys: Vec<u64> = contents.objects.iter().map(|object| object.0).collect();
        let absent = contents.absent_key(5, 3, |key| keys.contains(&key));
        assert!(!keys.contains(&absent));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 1000);
    }
}
