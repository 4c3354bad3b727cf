// SPDX-License-Identifier: MIT OR Apache-2.0
//! A platform file of any shape, and its readers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::entry::WrittenEntry;
use super::{Class, End, Entry, Kind, Measure};

// `FILES`: name and text of each file of sim/platforms, by name.
include!(concat!(env!("OUT_DIR"), "/platforms.rs"));

/// A platform file, whatever sections it has.
///
/// The builder of a machine reads the parts that its models know, each by its dotted name, and then
/// asks [`PlatformFile::expect_all_read`] whether there is more in the file.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use timing::platform::{Bandwidth, Entry, PlatformError, PlatformFile, Rate};
///
/// /// What the model of a network card needs.
/// #[derive(Deserialize, Serialize)]
/// #[serde(deny_unknown_fields)]
/// struct Card {
///     messages: Entry<Rate>,
/// }
///
/// fn read(mut file: PlatformFile) -> Result<(Card, Entry<Bandwidth>), PlatformError> {
///     let parts = (file.section("card")?, file.entry("wire.rate")?);
///     file.expect_all_read()?;
///     Ok(parts)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct PlatformFile {
    /// Named in errors only.
    file: PathBuf,
    text: String,
    /// Dotted names of the parts that were asked for.
    asked: Vec<String>,
    /// Dotted names of the parts that are for other readers.
    left: Vec<String>,
}

/// The errors of a platform.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// No platform of that name comes with the program.
    #[error("unknown platform {name:?}, expected one of {}", PlatformFile::NAMES.join(", "))]
    UnknownName {
        /// The requested operation.
        name: String,
    },
    /// The file could not be read.
    #[error("{}: {cause}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The file is not TOML of the expected shape; the cause names line and field.
    #[error("{}: {cause}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Line, column, what was found and what was expected.
        cause: Box<toml::de::Error>,
    },
    /// A reader needs what the file does not have.
    #[error("{}: {place} is missing, expected {expected}", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// The dotted name of the section or entry.
        place: String,
        /// The value read there.
        expected: &'static str,
    },
    /// The file has what nobody reads.
    #[error(
        "{}: line {line}: unknown field `{place}`, expected one of {}",
        file.display(),
        quoted(expected)
    )]
    Unknown {
        /// The file.
        file: PathBuf,
        /// Its line in the file.
        line: usize,
        /// Its dotted name.
        place: String,
        /// The value read there.
        expected: Vec<String>,
    },
    /// An entry without a class, where each must have one.
    #[error(
        "{}: line {line}: {place} has no class, expected one of {}",
        file.display(),
        Class::ALL.map(|class| class.to_string()).join(", ")
    )]
    NoClass {
        /// The file.
        file: PathBuf,
        /// Its line in the file.
        line: usize,
        /// Its dotted name.
        place: String,
    },
    /// A field is well formed but no machine can be like that.
    #[error("{}: {field} = {value}, expected {expected}", file.display())]
    Impossible {
        /// The file.
        file: PathBuf,
        /// Its path within the file.
        field: String,
        /// Its contents.
        value: String,
        /// What it may hold.
        expected: &'static str,
    },
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl PlatformFile {
    /// The platforms that come with the program: all files of `sim/platforms`, by name.
    pub const NAMES: [&'static str; FILES.len()] = {
        let mut names = [""; FILES.len()];
        let mut index = 0;
        while index < FILES.len() {
            names[index] = FILES[index].0;
            index += 1;
        }
        names
    };

    /// The file of the platform `name` of [`PlatformFile::NAMES`].
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, PlatformError> {
        match FILES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::parse(format!("{name}.toml"), *text),
            None => Err(PlatformError::UnknownName { name: name.to_owned() }),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no TOML.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PlatformError> {
        let file = path.as_ref();
        let text = std::fs::read_to_string(file)
            .map_err(|cause| PlatformError::Unreadable { file: file.to_owned(), cause })?;
        Self::parse(file, text)
    }

    /// `text` as the content of `file`, which is named in errors only.
    ///
    /// # Errors
    /// When it is no TOML.
    pub fn parse(file: impl Into<PathBuf>, text: impl Into<String>) -> Result<Self, PlatformError> {
        let read = PlatformFile {
            file: file.into(),
            text: text.into(),
            asked: Vec::new(),
            left: Vec::new(),
        };
        read.document()?;
        Ok(read)
    }

    /// The file as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same file with the value of every entry of `kind` times `factor`, to a thousandth of its
    /// unit; counts to a whole number of at least 1. Intervals likewise.
    pub fn times(mut self, kind: Kind, factor: f64) -> Self {
        let document = self.document().expect("it was parsed before");
        let entries = WrittenEntry::all(&document, "");
        let those = entries.iter().filter(|entry| entry.is_of(kind));
        let mut values: Vec<_> = those.flat_map(|entry| entry.multiplied(factor)).collect();
        drop(document);
        // From the last on, so that the places of those before stay right.
        values.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, value) in values {
            self.text.replace_range(place, &value);
        }
        self
    }

    /// The dotted names of all entries that have an interval, in the order of the file.
    pub fn intervals(&self) -> Vec<String> {
        let document = self.document().expect("it was parsed before");
        let entries = WrittenEntry::all(&document, "").into_iter();
        entries.filter(|entry| !entry.interval().is_empty()).map(|entry| entry.name).collect()
    }

    /// The same file with an end of its interval as the value of this entry.
    ///
    /// # Errors
    /// When there is no such entry, or it has no interval.
    pub fn at_end(mut self, place: &str, end: End) -> Result<Self, PlatformError> {
        let document = self.document()?;
        let entries = WrittenEntry::all(&document, "");
        let entry = entries.iter().find(|entry| entry.name == place);
        let places = entry.and_then(|entry| {
            let [least, greatest] = entry.interval() else { return None };
            let from = if end == End::Least { least } else { greatest };
            Some((entry.parts.get("value")?.span(), from.span()))
        });
        let Some((to, from)) = places else {
            let expected = "an entry with an interval";
            return Err(self.missing(place, expected));
        };
        drop(document);
        let value = self.text[from].to_owned();
        self.text.replace_range(to, &value);
        Ok(self)
    }

    /// Every entry of the file has a class, as those of a machine that predicts a paper's figures must.
    ///
    /// # Errors
    /// When one has none: the first one.
    pub fn expect_classes(&self) -> Result<(), PlatformError> {
        let document = self.document()?;
        let entries = WrittenEntry::all(&document, "");
        match entries.iter().find(|entry| !entry.parts.contains_key("class")) {
            None => Ok(()),
            Some(entry) => Err(PlatformError::NoClass {
                file: self.file.clone(),
                line: self.line(entry.start),
                place: entry.name.clone(),
            }),
        }
    }

    /// The section of this dotted name, as the type that its reader has for it. The type denies unknown
    /// fields, so that every key of the file has a reader.
    ///
    /// # Errors
    /// When there is no such section, or it is of another form.
    pub fn section<T: DeserializeOwned>(&mut self, place: &str) -> Result<T, PlatformError> {
        self.required(place, "a section of that name")
    }

    /// The word at this dotted name: a choice or a name, which is no quantity and has no source.
    ///
    /// # Errors
    /// When there is none, or it is none that `T` knows.
    pub fn word<T: DeserializeOwned>(&mut self, place: &str) -> Result<T, PlatformError> {
        self.required(place, "a word")
    }

    /// As [`PlatformFile::section`]; `None` when there is no such section.
    ///
    /// # Errors
    /// When it is of another form.
    pub fn optional_section<T: DeserializeOwned>(
        &mut self,
        place: &str,
    ) -> Result<Option<T>, PlatformError> {
        self.asked.push(place.to_owned());
        let mut document = self.document()?;
        let mut steps: Vec<&str> = place.split('.').collect();
        let last = steps.pop().expect("a name has a part");
        let mut table = &mut document;
        for step in steps {
            match table.get_mut(step).map(|value| value.get_mut()) {
                Some(DeValue::Table(inner)) => table = inner,
                _ => return Ok(None),
            }
        }
        let Some((key, value)) = table.remove_entry(last) else { return Ok(None) };
        // With its key around it, so that an error knows its line.
        let whole = key.span().start..value.span().end;
        let alone = Spanned::new(whole, DeTable::from_iter([(key, value)]));
        let mut read: BTreeMap<String, T> = BTreeMap::deserialize(Deserializer::from(alone))
            .map_err(|mut cause| {
                cause.set_input(Some(&self.text));
                self.malformed(cause)
            })?;
        Ok(read.pop_first().map(|(_, part)| part))
    }

    /// The entry of this dotted name.
    ///
    /// # Errors
    /// When there is none, or it is no such quantity.
    pub fn entry<T: Measure>(&mut self, place: &str) -> Result<Entry<T>, PlatformError> {
        self.required(place, T::EXPECTED)
    }

    fn required<T: DeserializeOwned>(
        &mut self,
        place: &str,
        expected: &'static str,
    ) -> Result<T, PlatformError> {
        self.optional_section(place)?.ok_or_else(|| self.missing(place, expected))
    }

    fn missing(&self, place: &str, expected: &'static str) -> PlatformError {
        PlatformError::Missing { file: self.file.clone(), place: place.to_owned(), expected }
    }

    /// The line of a place in the text, from 1 on.
    fn line(&self, start: usize) -> usize {
        1 + self.text[..start].matches('\n').count()
    }

    /// Leaves the section of this dotted name, if there is one, to the model of another machine. A file
    /// describes a machine whole, also where a model needs a part of it only.
    pub fn leave(&mut self, place: &str) {
        self.left.push(place.to_owned());
    }

    /// Nobody reads more of the file.
    ///
    /// # Errors
    /// When there is a section, an entry or a word in it that was never asked for: the first one.
    pub fn expect_all_read(&self) -> Result<(), PlatformError> {
        let document = self.document()?;
        let mut unknown = Vec::new();
        self.unread(&document, "", &mut unknown);
        let Some((start, place)) = unknown.into_iter().min() else { return Ok(()) };
        let line = self.line(start);
        let prefix = place.rfind('.').map_or("", |dot| &place[..=dot]);
        let here = self.asked.iter().filter_map(|asked| asked.strip_prefix(prefix));
        let mut known = BTreeSet::new();
        let first_step = |rest: &str| rest.split('.').next().unwrap_or(rest).to_owned();
        let expected = here.map(first_step).filter(|step| known.insert(step.clone())).collect();
        Err(PlatformError::Unknown { file: self.file.clone(), line, place, expected })
    }

    /// Adds where each key begins that is neither asked for nor has asked-for keys below it.
    fn unread(&self, table: &DeTable<'_>, prefix: &str, found: &mut Vec<(usize, String)>) {
        for (key, value) in table {
            let place = format!("{prefix}{}", key.get_ref());
            if self.asked.contains(&place) || self.left.contains(&place) {
                continue;
            }
            let below = format!("{place}.");
            match value.get_ref() {
                DeValue::Table(inner) if self.asked.iter().any(|it| it.starts_with(&below)) => {
                    self.unread(inner, &below, found);
                }
                _ => found.push((key.span().start, place)),
            }
        }
    }

    /// The error of a reader for which a part is well formed, but no machine can be like that.
    pub fn impossible(
        &self,
        field: impl Into<String>,
        value: impl Into<String>,
        expected: &'static str,
    ) -> PlatformError {
        let (file, field, value) = (self.file.clone(), field.into(), value.into());
        PlatformError::Impossible { file, field, value, expected }
    }

    fn document(&self) -> Result<DeTable<'_>, PlatformError> {
        DeTable::parse(&self.text)
            .map(|table| table.into_inner())
            .map_err(|cause| self.malformed(cause))
    }

    fn malformed(&self, cause: toml::de::Error) -> PlatformError {
        PlatformError::Malformed { file: self.file.clone(), cause: Box::new(cause) }
    }
}
