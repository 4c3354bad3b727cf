// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules that make a history fit to be checked.
//!
//! They concern only the record, never the behaviour of the database: a history of a broken
//! database is valid.

use std::collections::{HashMap, HashSet};

use crate::{Header, Key, Status, Times, TransactionRecord};

/// A rule of the format that is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: field `{field}` is {value}: expected {expected}")]
pub struct Error {
    /// The line, counted from 1; the header is the first.
    pub line: usize,
    /// The path to the field.
    pub field: String,
    /// The value found there.
    pub value: String,
    /// The expected value.
    pub expected: String,
}

/// A history that keeps all rules of the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    header: Header,
    transactions: Vec<TransactionRecord>,
}

impl History {
    /// A history of these transactions, the first of which makes every key's initial version.
    ///
    /// # Errors
    /// When a rule of the format is broken; lines are counted as in the file that
    /// [`write`](Self::write) would make.
    pub fn new(header: Header, transactions: Vec<TransactionRecord>) -> Result<Self, Error> {
        check_header(&header)?;
        let mut rules = Rules::of_initial(&header, transactions.first())?;
        for (index, transaction) in transactions.iter().enumerate() {
            rules.line = index + 2;
            rules.check_transaction(transaction)?;
            if index > 0 {
                rules.check_reads(transaction)?;
            }
        }
        let indexes: HashSet<&str> = transactions
            .iter()
            .flat_map(|t| &t.writes)
            .flat_map(|write| write.indexed.keys().map(String::as_str))
            .collect();
        for (index, transaction) in transactions.iter().enumerate() {
            rules.line = index + 2;
            rules.check_scans(transaction, &indexes)?;
        }
        Ok(Self { header, transactions })
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All transactions, the initial one first.
    pub fn transactions(&self) -> &[TransactionRecord] {
        &self.transactions
    }

    /// Takes it apart, to change it.
    pub fn into_parts(self) -> (Header, Vec<TransactionRecord>) {
        (self.header, self.transactions)
    }
}

fn check_header(header: &Header) -> Result<(), Error> {
    let error = |field: &str, value: String, expected: &str| Error {
        line: 1,
        field: field.into(),
        value,
        expected: expected.into(),
    };
    if header.format != Header::FORMAT {
        return Err(error("format", header.format.to_string(), "1"));
    }
    let mut seen = HashSet::new();
    match header.extensions.iter().find(|extension| !seen.insert(**extension)) {
        Some(extension) => {
            Err(error("extensions", format!("{extension:?} twice"), "each extension once"))
        }
        None => Ok(()),
    }
}

/// The knowledge from the lines above.
struct Rules<'a> {
    line: usize,
    header: &'a Header,
    begin_of_all: Option<u64>,
    keys: HashMap<&'a Key, HashSet<u64>>,
    txns: HashSet<u64>,
    orders: HashSet<(&'a Key, u64)>,
    /// The last times of each session: wall, virtual.
    last_times: HashMap<(u64, &'static str), Times>,
}

impl<'a> Rules<'a> {
    fn of_initial(
        header: &'a Header,
        initial: Option<&'a TransactionRecord>,
    ) -> Result<Self, Error> {
        let mut rules = Rules {
            line: 2,
            header,
            begin_of_all: None,
            keys: HashMap::new(),
            txns: HashSet::new(),
            orders: HashSet::new(),
            last_times: HashMap::new(),
        };
        let Some(initial) = initial else {
            return rules.refuse(".", "missing", "a transaction that writes every initial version");
        };
        if initial.status != Status::Committed {
            return rules.refuse("status", format!("{:?}", initial.status), "\"committed\"");
        }
        if !initial.reads.is_empty() || !initial.scans.is_empty() {
            return rules.refuse("reads", "not empty", "no read in the first transaction");
        }
        for (at, write) in initial.writes.iter().enumerate() {
            if rules.keys.insert(&write.key, HashSet::new()).is_some() {
                let field = format!("writes[{at}].key");
                return rules.refuse(field, &write.key, "each key once in the first transaction");
            }
        }
        rules.begin_of_all = initial.commit;
        Ok(rules)
    }

    fn refuse<T>(
        &self,
        field: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Result<T, Error> {
        let (field, value, expected) = (field.into(), value.to_string(), expected.into());
        Err(Error { line: self.line, field, value, expected })
    }

    fn check_transaction(&mut self, transaction: &'a TransactionRecord) -> Result<(), Error> {
        if !self.txns.insert(transaction.txn) {
            return self.refuse("txn", transaction.txn, "a number that no line above has");
        }
        for (extension, field) in transaction.extensions() {
            if !self.header.extensions.contains(&extension) {
                let expected = format!("{extension:?} among the header's extensions");
                return self.refuse(field, "used", expected);
            }
        }
        self.check_points(transaction)?;
        self.check_times(transaction.session, "wall", transaction.wall)?;
        self.check_times(transaction.session, "virtual", transaction.virtual_time)?;
        self.check_writes(transaction)
    }

    fn check_points(&self, transaction: &TransactionRecord) -> Result<(), Error> {
        let (begin, commit) = (transaction.begin, transaction.commit);
        if let (Some(begin), Some(commit)) = (begin, commit)
            && begin > commit
        {
            return self.refuse("commit", commit, format!("at least begin, {begin}"));
        }
        if transaction.status == Status::Aborted
            && commit.is_some()
            && !transaction.writes.is_empty()
        {
            return self.refuse("commit", commit.unwrap_or(0), "none, as it aborted");
        }
        match (begin.or(commit), self.begin_of_all) {
            (Some(point), None) => {
                self.refuse("begin", point, "none, as the first transaction has no commit")
            }
            (Some(point), Some(first)) if point < first && self.line > 2 => {
                let expected = format!("at least {first}, the commit of the first transaction");
                self.refuse("begin", point, expected)
            }
            _ => Ok(()),
        }
    }

    fn check_times(
        &mut self,
        session: u64,
        field: &'static str,
        times: Option<Times>,
    ) -> Result<(), Error> {
        let Some(times) = times else { return Ok(()) };
        if times.begin > times.end {
            let expected = format!("at least {}, its begin", times.begin);
            return self.refuse(format!("{field}.end"), times.end, expected);
        }
        match self.last_times.insert((session, field), times) {
            Some(last) if last.end > times.begin => {
                let expected =
                    format!("at least {}, the end of session {session}'s last", last.end);
                self.refuse(format!("{field}.begin"), times.begin, expected)
            }
            _ => Ok(()),
        }
    }

    fn check_writes(&mut self, transaction: &'a TransactionRecord) -> Result<(), Error> {
        for (at, write) in transaction.writes.iter().enumerate() {
            let Some(versions) = self.keys.get_mut(&write.key) else {
                return self.refuse_key(&format!("writes[{at}]"), &write.key);
            };
            if !versions.insert(write.version) {
                let expected = format!("a version of key {} that no write above has", write.key);
                return self.refuse(format!("writes[{at}].version"), write.version, expected);
            }
            if let Some(order) = write.order
                && !self.orders.insert((&write.key, order))
            {
                let expected = format!("a place of key {} that no write above has", write.key);
                return self.refuse(format!("writes[{at}].order"), order, expected);
            }
        }
        Ok(())
    }

    fn check_reads(&self, transaction: &TransactionRecord) -> Result<(), Error> {
        let written = |key: &Key, version: u64| {
            transaction.writes.iter().any(|w| w.version == version && w.key == *key)
        };
        let mut last: HashMap<&Key, Option<u64>> = HashMap::new();
        for (at, read) in transaction.reads.iter().enumerate() {
            if !self.keys.contains_key(&read.key) {
                return self.refuse_key(&format!("reads[{at}]"), &read.key);
            }
            if read.instead_of.is_some() {
                continue;
            }
            if let Some(version) = read.version.filter(|version| written(&read.key, *version)) {
                let field = format!("reads[{at}].version");
                return self.refuse(field, version, "a version that another transaction wrote");
            }
            if last.insert(&read.key, read.version) == Some(read.version) {
                let field = format!("reads[{at}].key");
                return self.refuse(field, &read.key, "reads that agree to be folded into one");
            }
        }
        Ok(())
    }

    fn check_scans(
        &self,
        transaction: &TransactionRecord,
        indexes: &HashSet<&str>,
    ) -> Result<(), Error> {
        for (at, scan) in transaction.scans.iter().enumerate() {
            if let Some(index) = scan.index.as_deref().filter(|index| !indexes.contains(index)) {
                let field = format!("scans[{at}].index");
                return self.refuse(field, format!("{index:?}"), "an index that some write names");
            }
            if scan.low > scan.high {
                let expected = format!("at least low, {}", scan.low);
                return self.refuse(format!("scans[{at}].high"), &scan.high, expected);
            }
            if let Some(key) = scan.own.iter().find(|key| !self.keys.contains_key(key)) {
                return self.refuse_key(&format!("scans[{at}].own"), key);
            }
            let mut found = HashSet::new();
            for (place, read) in scan.keys.iter().enumerate() {
                let field = format!("scans[{at}].keys[{place}]");
                if !self.keys.contains_key(&read.key) {
                    return self.refuse_key(&field, &read.key);
                }
                if read.version.is_none() || read.instead_of.is_some() {
                    return self.refuse(field, &read.key, "a version and no instead_of");
                }
                if scan.own.contains(&read.key) || !found.insert(&read.key) {
                    return self.refuse(field, &read.key, "each key once, and none of `own`");
                }
            }
        }
        Ok(())
    }

    fn refuse_key<T>(&self, place: &str, key: &Key) -> Result<T, Error> {
        self.refuse(format!("{place}.key"), key, "a key that the first transaction writes")
    }
}
