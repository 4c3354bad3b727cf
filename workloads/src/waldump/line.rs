// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of `pg_waldump`, PostgreSQL 15 to 18.
//!
//! The layout is that of `rmgrdesc/heapdesc.c` and `rmgrdesc/xactdesc.c`. From PostgreSQL 16 on heap
//! records are described in other words: `off: 3` for `off 3`, and each flag in a list in brackets.

/// Where one version of a row lies: relation, block, line pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TupleAddress {
    /// Tablespace, database, relation file.
    pub relation: [u32; 3],
    pub block: u32,
    pub offset: u16,
}

/// One record of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Line of the dump, from 1.
    pub line: u64,
    pub transaction: u32,
    pub lsn: u64,
    pub event: Event,
}

/// What of a record matters to row locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Update {
        old: TupleAddress,
        new: TupleAddress,
    },
    Delete {
        row: TupleAddress,
    },
    /// `SELECT … FOR UPDATE` and its kin, and the lock that precedes some updates.
    Lock {
        row: TupleAddress,
        shared: bool,
    },
    /// Microseconds since 1970, and the subtransactions that end with it.
    End {
        committed: bool,
        transaction: u32,
        time_us: i64,
        children: Vec<u32>,
    },
    Other,
}

/// Which field of a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub field: &'static str,
    pub value: String,
    pub expected: &'static str,
}

type Parsed<T> = Result<T, Malformed>;

fn malformed<T>(field: &'static str, value: &str, expected: &'static str) -> Parsed<T> {
    Err(Malformed { field, value: value.trim().into(), expected })
}

/// Reads line number `number` of a dump.
pub(super) fn parse(number: u64, line: &str) -> Parsed<Record> {
    const LINE: &str = "a line of pg_waldump: rmgr: …, tx: …, lsn: …, prev …, desc: …";
    let Some(rest) = line.strip_prefix("rmgr: ") else {
        return malformed("", line, LINE);
    };
    let Some((manager, rest)) = rest.split_once(' ') else {
        return malformed("", line, LINE);
    };
    let Some((_, rest)) = rest.split_once(", tx:") else {
        return malformed("", line, LINE);
    };
    let Some((transaction, rest)) = rest.split_once(", lsn:") else {
        return malformed("", line, LINE);
    };
    let Some((lsn, rest)) = rest.split_once(", prev ") else {
        return malformed("", line, LINE);
    };
    let Some((_, description)) = rest.split_once(", desc: ") else {
        return malformed("", line, LINE);
    };
    let transaction = self::number("tx", transaction.trim())?;
    let event = match manager {
        "Heap" => heap(description)?,
        "Transaction" => end(transaction, description)?,
        _ => Event::Other,
    };
    Ok(Record { line: number, transaction, lsn: log_position(lsn.trim())?, event })
}

/// `HI/LO`, both hexadecimal.
fn log_position(text: &str) -> Parsed<u64> {
    let half = |text: &str| u32::from_str_radix(text, 16).ok();
    match text.split_once('/').map(|(high, low)| (half(high), half(low))) {
        Some((Some(high), Some(low))) => Ok(u64::from(high) << 32 | u64::from(low)),
        _ => malformed("lsn", text, "two hexadecimal numbers with a slash between"),
    }
}

fn number<T: std::str::FromStr>(field: &'static str, text: &str) -> Parsed<T> {
    text.parse().or_else(|_| malformed(field, text, "a number within the range of this field"))
}

/// A record of the resource manager `Heap`.
fn heap(description: &str) -> Parsed<Event> {
    let (name, rest) = description.split_once(' ').unwrap_or((description, ""));
    match name.strip_suffix("+INIT").unwrap_or(name) {
        "UPDATE" | "HOT_UPDATE" => {
            const LAYOUT: &str = "`off N … ; new off N` in an update (PostgreSQL 15), \
                                  or `old_off: N, … new_off: N` (16 to 18)";
            let to_15 = rest.split_once("; new off ").map(|(before, after)| (before, word(after)));
            let from_16 = labelled(rest, "new_off: ").map(|after| (rest, after));
            let Some((before, after)) = to_15.or(from_16) else {
                return malformed("desc", description, LAYOUT);
            };
            // Block 0 of the record holds the new version; block 1 the old, if it is another.
            let (relation, block) = match block(rest, "blkref #0: ")? {
                Some(block) => block,
                None => return malformed("desc", description, "a `blkref #0` in an update"),
            };
            let (_, old_block) = self::block(rest, "blkref #1: ")?.unwrap_or((relation, block));
            let old = TupleAddress { relation, block: old_block, offset: offset(before)? };
            let new = TupleAddress { relation, block, offset: number("new off", after)? };
            Ok(Event::Update { old, new })
        }
        "DELETE" => Ok(Event::Delete { row: row(description, rest)? }),
        "LOCK" => {
            // FOR KEY SHARE sets the first bit, FOR SHARE both, an exclusive lock the second.
            let shared = rest.contains("KEYSHR_LOCK") || !rest.contains("EXCL_LOCK");
            Ok(Event::Lock { row: row(description, rest)?, shared })
        }
        _ => Ok(Event::Other),
    }
}

/// The row of a record with one block.
fn row(description: &str, rest: &str) -> Parsed<TupleAddress> {
    match block(rest, "blkref #0: ")? {
        Some((relation, block)) => Ok(TupleAddress { relation, block, offset: offset(rest)? }),
        None => malformed("desc", description, "a `blkref #0`"),
    }
}

/// The line pointer: `off N …` at the front, or from PostgreSQL 16 on `off: N` or `old_off: N` behind
/// `xmax: N, `.
fn offset(text: &str) -> Parsed<u16> {
    let labelled = || labelled(text, "off: ").or_else(|| labelled(text, "old_off: "));
    match text.strip_prefix("off ").map(word).or_else(labelled) {
        Some(offset) => number("off", offset),
        None => {
            let expected = "`off N` after the name of the operation (PostgreSQL 15), \
                            or `xmax: N, off: N` (16 to 18)";
            malformed("off", text, expected)
        }
    }
}

/// What follows a label of a list: `LABEL VALUE, LABEL VALUE, …`.
fn labelled<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.split(", ").find_map(|part| part.strip_prefix(label)).map(word)
}

/// `rel SPACE/DATABASE/FILE blk N` after `lead`, if that is there.
fn block(text: &str, lead: &str) -> Parsed<Option<([u32; 3], u32)>> {
    const LAYOUT: &str = "rel SPACE/DATABASE/FILE blk N";
    let Some((_, reference)) = text.split_once(lead) else {
        return Ok(None);
    };
    let Some((relation, rest)) =
        reference.strip_prefix("rel ").and_then(|reference| reference.split_once(" blk "))
    else {
        return malformed("blkref", reference, LAYOUT);
    };
    let numbers: Vec<u32> = relation.split('/').map_while(|part| part.parse().ok()).collect();
    match <[u32; 3]>::try_from(numbers) {
        Ok(numbers) => Ok(Some((numbers, number("blk", word(rest))?))),
        Err(_) => malformed("blkref", reference, LAYOUT),
    }
}

/// The leading word, without the punctuation behind it.
fn word(text: &str) -> &str {
    text.split([' ', ',', ';', ':']).next().unwrap_or("")
}

/// A record of the resource manager `Transaction`.
fn end(transaction: u32, description: &str) -> Parsed<Event> {
    let (name, rest) = description.split_once(' ').unwrap_or((description, ""));
    let committed = match name {
        "COMMIT" | "COMMIT_PREPARED" => true,
        "ABORT" | "ABORT_PREPARED" => false,
        _ => return Ok(Event::Other),
    };
    // The end of a prepared transaction is logged by another and names it: `735: 2026-…`.
    let (transaction, rest) = match (name.ends_with("_PREPARED"), rest.split_once(": ")) {
        (true, Some((named, rest))) => (number("desc", named)?, rest),
        _ => (transaction, rest),
    };
    let time_us = timestamp(rest)?;
    let children = match rest.split_once("; subxacts:") {
        None => Vec::new(),
        Some((_, children)) => {
            let list = children.split(';').next().unwrap_or("");
            let list = list.split_whitespace();
            list.map(|child| number("subxacts", child)).collect::<Parsed<_>>()?
        }
    };
    Ok(Event::End { committed, transaction, time_us, children })
}

/// `YYYY-MM-DD HH:MM:SS.UUUUUU ZONE` in microseconds; the zone is not looked at, because only
/// differences matter.
fn timestamp(text: &str) -> Parsed<i64> {
    const LAYOUT: &str = "a time such as 2026-01-31 12:00:00.000000 UTC";
    let text = text.split(';').next().unwrap_or("");
    let mut words = text.split(' ');
    let (Some(date), Some(clock)) = (words.next(), words.next()) else {
        return malformed("desc", text, LAYOUT);
    };
    let parts: Vec<i64> = date
        .split('-')
        .chain(clock.split([':', '.']))
        .map_while(|part| part.parse::<u32>().ok().map(i64::from))
        .collect();
    let &[year, month @ 1..=12, day @ 1..=31, hour @ 0..=23, minute @ 0..=59, second @ 0..=60, us] =
        &parts[..]
    else {
        return malformed("desc", text, LAYOUT);
    };
    if us > 999_999 {
        return malformed("desc", text, LAYOUT);
    }
    let hours = days_since_1970(year, month, day) * 24 + hour;
    Ok(((hours * 60 + minute) * 60 + second) * 1_000_000 + us)
}

/// Days of the Gregorian calendar; years begin in March here, so that leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELATION: [u32; 3] = [1663, 5, 16396];

    fn event(manager: &str, description: &str) -> Parsed<Event> {
        let line = format!(
            "rmgr: {manager}        len (rec/tot):     73/  3001, tx:        735, \
             lsn: 1/0218A888, prev 0/021888A8, desc: {description}"
        );
        let record = parse(1, &line)?;
        assert_eq!((record.transaction, record.lsn), (735, 0x1_0218_A888));
        Ok(record.event)
    }

    #[test]
    fn an_update_names_both_places() {
        let text = "UPDATE off 10 xmax 735 flags 0x03 ; new off 22 xmax 0, \
                    blkref #0: rel 1663/5/16396 blk 1639 FPW, blkref #1: rel 1663/5/16396 blk 502";
        let old = TupleAddress { relation: RELATION, block: 502, offset: 10 };
        let new = TupleAddress { relation: RELATION, block: 1639, offset: 22 };
        assert_eq!(event("Heap", text), Ok(Event::Update { old, new }));
        let text = "HOT_UPDATE+INIT off 9 xmax 741 flags 0x20 ; new off 12 xmax 0, \
                    blkref #0: rel 1663/5/16396 blk 7";
        let old = TupleAddress { relation: RELATION, block: 7, offset: 9 };
        let new = TupleAddress { offset: 12, ..old };
        assert_eq!(event("Heap", text), Ok(Event::Update { old, new }));
    }

    /// The words of PostgreSQL 16, 17 and 18.
    #[test]
    fn newer_servers_describe_the_same() {
        let text = "UPDATE old_xmax: 735, old_off: 10, old_infobits: [], flags: 0x03, \
                    new_xmax: 0, new_off: 22, blkref #0: rel 1663/5/16396 blk 1639 FPW, \
                    blkref #1: rel 1663/5/16396 blk 502";
        let old = TupleAddress { relation: RELATION, block: 502, offset: 10 };
        let new = TupleAddress { relation: RELATION, block: 1639, offset: 22 };
        assert_eq!(event("Heap", text), Ok(Event::Update { old, new }));
        let text = "HOT_UPDATE old_xmax: 741, old_off: 9, \
                    old_infobits: [LOCK_ONLY, KEYS_UPDATED], flags: 0x20, new_xmax: 741, \
                    new_off: 12, blkref #0: rel 1663/5/16396 blk 7";
        let old = TupleAddress { relation: RELATION, block: 7, offset: 9 };
        let new = TupleAddress { offset: 12, ..old };
        assert_eq!(event("Heap", text), Ok(Event::Update { old, new }));
        let row = TupleAddress { relation: RELATION, block: 7, offset: 3 };
        let text = "DELETE xmax: 741, off: 3, infobits: [KEYS_UPDATED], flags: 0x00, \
                    blkref #0: rel 1663/5/16396 blk 7";
        assert_eq!(event("Heap", text), Ok(Event::Delete { row }));
        for (bits, shared) in [("EXCL_LOCK", false), ("EXCL_LOCK, KEYSHR_LOCK", true)] {
            let text = format!(
                "LOCK xmax: 741, off: 3, infobits: [LOCK_ONLY, {bits}], flags: 0x01, \
                 blkref #0: rel 1663/5/16396 blk 7"
            );
            assert_eq!(event("Heap", &text), Ok(Event::Lock { row, shared }));
        }
        let text = "INSERT off: 8, flags: 0x00, blkref #0: rel 1663/5/16396 blk 7";
        assert_eq!(event("Heap", text), Ok(Event::Other));
    }

    #[test]
    fn a_lock_is_shared_or_not() {
        let row = TupleAddress { relation: RELATION, block: 502, offset: 10 };
        for (bits, shared) in
            [("EXCL_LOCK ", false), ("KEYSHR_LOCK ", true), ("EXCL_LOCK KEYSHR_LOCK ", true)]
        {
            let text = format!(
                "LOCK off 10: xid 735: flags 0x01 LOCK_ONLY {bits}, \
                 blkref #0: rel 1663/5/16396 blk 502 FPW"
            );
            assert_eq!(event("Heap", &text), Ok(Event::Lock { row, shared }));
        }
    }

    #[test]
    fn an_end_has_its_time_and_children() {
        let text = "COMMIT 1970-01-02 00:00:01.000005 UTC; inval msgs: catcache 5; subxacts: 7 8";
        let children = vec![7, 8];
        let end =
            Event::End { committed: true, transaction: 735, time_us: 86_401_000_005, children };
        assert_eq!(event("Transaction", text), Ok(end));
        let text = "ABORT_PREPARED 700: 2026-11-20 09:39:02.655252 UTC";
        // date --utc --date='2026-11-20 09:39:02' +%s
        let time_us = 1_795_167_542_655_252;
        let end = Event::End { committed: false, transaction: 700, time_us, children: vec![] };
        assert_eq!(event("Transaction", text), Ok(end));
    }

    #[test]
    fn other_records_are_passed_over() {
        assert_eq!(event("Btree", "INSERT_LEAF off 3, blkref #0: …"), Ok(Event::Other));
        assert_eq!(event("Heap", "INSERT off 8 flags 0x00, blkref #0: …"), Ok(Event::Other));
        assert_eq!(event("Transaction", "INVALIDATION ; inval msgs: …"), Ok(Event::Other));
    }

    #[test]
    fn malformed_lines_name_the_field() {
        for (manager, description, field) in [
            ("Heap", "DELETE off x flags 0x00, blkref #0: rel 1663/5/1 blk 0", "off"),
            ("Heap", "DELETE off 1 flags 0x00, blkref #0: rel 1663/5 blk 0", "blkref"),
            ("Heap", "DELETE off 1 flags 0x00", "desc"),
            ("Heap", "DELETE line 1, blkref #0: rel 1663/5/1 blk 0", "off"),
            ("Heap", "DELETE xmax: 1, off: y, blkref #0: rel 1663/5/1 blk 0", "off"),
            ("Heap", "UPDATE old_off: 1, new_off: z, blkref #0: rel 1/2/3 blk 0", "new off"),
            ("Heap", "UPDATE off 1 xmax 2 flags 0x00, blkref #0: rel 1/2/3 blk 0", "desc"),
            ("Transaction", "COMMIT yesterday", "desc"),
            ("Transaction", "COMMIT 2026-13-01 00:00:00.000000 UTC", "desc"),
            ("Transaction", "COMMIT 2026-01-01 00:00:00.000000 UTC; subxacts: x", "subxacts"),
        ] {
            let error = event(manager, description).expect_err(description);
            assert_eq!(error.field, field, "{description}");
        }
        assert!(parse(1, "rmgr: Heap truncated").is_err());
        assert!(parse(1, "rmgr: A b, tx: 1, lsn: 0-1, prev 0/0, desc: C").is_err());
    }
}
