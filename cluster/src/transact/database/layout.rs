// SPDX-License-Identifier: MIT OR Apache-2.0
//! How rows are stored: the bytes of their columns, and the bits of their keys.

use workloads::database::{Column, ColumnKind, TableDefinition, Value};

/// The layout of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    name: &'static str,
    /// For each column of the key: by how many bits it is shifted in the packed key.
    shifts: Box<[u32]>,
    /// Each other column.
    places: Box<[Place]>,
    value_bytes: u16,
}

/// Where a column is in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    start: u16,
    length: u16,
    kind: ColumnKind,
    nullable: bool,
}

/// A table that cannot be stored so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}` of table `{table}` is {found}: expected {expected}")]
pub struct LayoutError {
    /// The table.
    pub table: &'static str,
    /// Its column.
    pub column: &'static str,
    /// What it is.
    pub found: String,
    /// What it would have to be.
    pub expected: &'static str,
}

/// The smallest integer of so many bytes, 1 to 8.
fn least(bytes: u16) -> i64 {
    i64::MIN >> (64 - 8 * u32::from(bytes))
}

impl Place {
    /// Whether an integer column has room for `value`. Of one that may be null the smallest is null.
    fn has_room(&self, value: i64) -> bool {
        let least = least(self.length);
        let lowest = if self.nullable { least + 1 } else { least };
        (lowest..=!least).contains(&value)
    }

    fn takes(&self, value: &Value<'_>) -> bool {
        let length = usize::from(self.length);
        match (self.kind, value) {
            (ColumnKind::Int, Value::Int(value)) => self.has_room(*value),
            (ColumnKind::Int, Value::Null) => self.nullable,
            (ColumnKind::Fixed(_), Value::Fixed(value)) => value.len() == length,
            // The end of a text is its first zero byte.
            (ColumnKind::Text(_), Value::Text(value)) => {
                value.len() <= length && !value.contains('\0')
            }
            _ => false,
        }
    }

    fn of<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[usize::from(self.start)..][..usize::from(self.length)]
    }

    fn write(&self, value: &Value<'_>, bytes: &mut [u8]) {
        let length = usize::from(self.length);
        let bytes = &mut bytes[usize::from(self.start)..][..length];
        match value {
            Value::Int(value) => bytes.copy_from_slice(&value.to_le_bytes()[..length]),
            Value::Null => bytes.copy_from_slice(&least(self.length).to_le_bytes()[..length]),
            Value::Fixed(value) => bytes.copy_from_slice(value),
            Value::Text(value) => {
                bytes[..value.len()].copy_from_slice(value.as_bytes());
                bytes[value.len()..].fill(0);
            }
        }
    }
}

impl Layout {
    /// The layout of `table`, with integers of eight bytes, whose key's columns stand at these bits of
    /// the packed key, the first column highest.
    ///
    /// # Errors
    /// When a column that is no integer may be null, or the row is longer than 65,535 bytes.
    ///
    /// # Panics
    /// When there are not as many shifts as columns in the key, or they do not fall.
    pub fn new(table: &TableDefinition, shifts: &[u32]) -> Result<Self, LayoutError> {
        Self::with_integers(table, shifts, |_| 8)
    }

    /// The same, with as many bytes for each integer column as `bytes_of` says. A value for which its
    /// column has no room is not stored: see [`Replay::run`](super::Replay::run).
    ///
    /// # Errors
    /// As [`Layout::new`], and when an integer would have no bytes, or more than eight.
    ///
    /// # Panics
    /// As [`Layout::new`].
    pub fn with_integers(
        table: &TableDefinition,
        shifts: &[u32],
        bytes_of: impl Fn(&Column) -> usize,
    ) -> Result<Self, LayoutError> {
        let falls = shifts.is_sorted_by(|one, next| one > next) && shifts.iter().all(|s| *s < 64);
        assert!(shifts.len() == table.key_columns && falls, "`{}`: {shifts:?}", table.name);
        let mut bytes = 0;
        let mut places = Vec::new();
        for column in &table.columns[table.key_columns..] {
            let &Column { kind, nullable, .. } = column;
            let refuse = |found: String, expected| {
                Err(LayoutError { table: table.name, column: column.name, found, expected })
            };
            let length = match kind {
                ColumnKind::Int => bytes_of(column),
                _ if nullable => return refuse("nullable".into(), "an integer, or never null"),
                ColumnKind::Fixed(length) | ColumnKind::Text(length) => length,
            };
            if kind == ColumnKind::Int && !(1..=8).contains(&length) {
                return refuse(format!("an integer of {length} bytes"), "1 to 8 bytes");
            }
            if bytes + length > usize::from(u16::MAX) {
                return refuse(format!("{length} bytes"), "a row of at most 65,535 bytes");
            }
            places.push(Place { start: bytes as u16, length: length as u16, kind, nullable });
            bytes += length;
        }
        Ok(Self {
            name: table.name,
            shifts: shifts.into(),
            places: places.into(),
            value_bytes: bytes as u16,
        })
    }

    /// The table's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The bytes of a row without its key.
    pub fn value_bytes(&self) -> u16 {
        self.value_bytes
    }

    /// The key packed into eight bytes. Every part must fit the bits that its table gives it.
    pub fn pack(&self, key: impl IntoIterator<Item = i64>) -> u64 {
        let parts = key.into_iter().zip(&self.shifts);
        parts.fold(0, |packed, (part, shift)| {
            debug_assert!(
                part >= 0 && (packed >> shift) & (part as u64) == 0,
                "key part {part} of `{}` does not fit above bit {shift}",
                self.name
            );
            packed | (part as u64) << shift
        })
    }

    /// The key packed into eight bytes, or `None` if a part does not fit the bits that its table gives
    /// it: so is what comes from rows that contradict each other.
    pub fn try_pack(&self, key: impl IntoIterator<Item = i64>) -> Option<u64> {
        let (mut packed, mut above) = (0, 64);
        for (part, shift) in key.into_iter().zip(&self.shifts) {
            let part = u64::try_from(part).ok().filter(|part| {
                let bits = above - shift;
                bits == 64 || part >> bits == 0
            })?;
            packed |= part << shift;
            above = *shift;
        }
        Some(packed)
    }

    /// The part of a packed key that is its column number `column`.
    pub fn unpack(&self, packed: u64, column: usize) -> i64 {
        let above = match column.checked_sub(1).map(|above| self.shifts[above]) {
            Some(above) => packed & ((1 << above) - 1),
            None => packed,
        };
        (above >> self.shifts[column]) as i64
    }

    /// All parts of a packed key.
    pub fn unpack_all(&self, packed: u64) -> impl Iterator<Item = i64> + '_ {
        (0..self.shifts.len()).map(move |column| self.unpack(packed, column))
    }

    /// Whether a row, key columns left out, can be stored.
    pub fn takes(&self, row: &[Value<'_>]) -> bool {
        let columns = row.get(self.shifts.len()..).unwrap_or_default();
        columns.len() == self.places.len()
            && columns.iter().zip(&self.places).all(|(value, place)| place.takes(value))
    }

    /// Appends the bytes of a row, key columns left out.
    ///
    /// # Panics
    /// When the row does not fit the table.
    pub fn write(&self, row: &[Value<'_>], bytes: &mut Vec<u8>) {
        assert!(self.takes(row), "`{}` cannot have the row {row:?}", self.name);
        let start = bytes.len();
        bytes.resize(start + usize::from(self.value_bytes), 0);
        for (value, place) in row[self.shifts.len()..].iter().zip(&self.places) {
            place.write(value, &mut bytes[start..]);
        }
    }

    /// The columns of the key.
    pub(super) fn key_parts(&self) -> usize {
        self.shifts.len()
    }

    fn place(&self, column: usize) -> &Place {
        &self.places[column - self.shifts.len()]
    }

    /// The bytes of a column that is not of the key.
    pub fn bytes<'b>(&self, row: &'b [u8], column: usize) -> &'b [u8] {
        self.place(column).of(row)
    }

    /// Whether a column that is not of the key is null.
    pub fn is_null(&self, row: &[u8], column: usize) -> bool {
        let place = self.place(column);
        place.nullable && self.int(row, column) == least(place.length)
    }

    /// The integer of a column that is not of the key; of null the smallest.
    pub fn int(&self, row: &[u8], column: usize) -> i64 {
        let bytes = self.place(column).of(row);
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let unused = 64 - 8 * bytes.len() as u32;
        i64::from_le_bytes(word) << unused >> unused
    }

    /// The text of a column that is not of the key. It ends where its bytes are no text.
    pub(super) fn text<'b>(&self, row: &'b [u8], column: usize) -> &'b str {
        let bytes = self.bytes(row, column);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let text = bytes[..end].utf8_chunks().next();
        text.map_or("", |chunk| chunk.valid())
    }

    /// Writes the integer of a column that is not of the key; `false`, and nothing done, if it has no room.
    pub fn put_int(&self, row: &mut [u8], column: usize, value: i64) -> bool {
        self.set(row, column, &Value::Int(value))
    }

    /// Writes a column that is not of the key; `false`, and nothing done, if it has no room.
    pub(super) fn set(&self, row: &mut [u8], column: usize, value: &Value<'_>) -> bool {
        let place = self.place(column);
        let takes = place.takes(value);
        if takes {
            place.write(value, row);
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: TableDefinition = TableDefinition {
        name: "wide",
        columns: &[
            Column::int("first"),
            Column::int("second"),
            Column::fixed("bytes", 3),
            Column::int("number"),
            Column::text("name", 6),
            Column::int("age").or_null(),
        ],
        key_columns: 2,
        indexes: &[],
    };

    #[test]
    fn keys_are_packed_and_unpacked() {
        let layout = Layout::new(&TABLE, &[8, 0]).expect("sound");
        for key in [[0, 0], [1, 255], [(1 << 55) + 3, 7]] {
            let packed = layout.pack(key);
            assert_eq!([0, 1].map(|column| layout.unpack(packed, column)), key);
            assert_eq!(layout.try_pack(key), Some(packed));
        }
        assert_eq!(layout.pack([3, 4]), 0x304);
        for key in [[0, 256], [0, -1], [-1, 0], [1 << 56, 0], [i64::MAX, 0]] {
            assert_eq!(layout.try_pack(key), None, "{key:?}");
        }
    }

    #[test]
    fn integers_take_the_bytes_that_they_are_given() {
        for bytes in 1..=8_u16 {
            let layout = Layout::with_integers(&TABLE, &[8, 0], |_| bytes.into()).expect("sound");
            assert_eq!(layout.value_bytes(), 3 + 6 + 2 * bytes);
            let most = !least(bytes);
            let row = |number: i64, age: Value<'static>| {
                [1.into(), 2.into(), (b"abc").into(), number.into(), ("Ann").into(), age]
            };
            for number in [0, 1, -1, most, least(bytes)] {
                let mut value = Vec::new();
                layout.write(&row(number, Value::Null), &mut value);
                assert_eq!(
                    (value.len(), layout.int(&value, 3)),
                    (9 + 2 * usize::from(bytes), number)
                );
                assert_eq!((layout.text(&value, 4), layout.is_null(&value, 5)), ("Ann", true));
                assert!(layout.set(&mut value, 5, &(-most).into()));
                assert_eq!((layout.int(&value, 5), layout.is_null(&value, 5)), (-most, false));
            }
            // The smallest is null where null may be.
            assert!(!layout.takes(&row(0, least(bytes).into())));
            if bytes < 8 {
                let mut value = Vec::new();
                layout.write(&row(7, 8.into()), &mut value);
                for number in [most + 1, least(bytes) - 1, i64::MAX, i64::MIN] {
                    assert!(!layout.takes(&row(number, Value::Null)));
                    assert!(!layout.set(&mut value, 3, &number.into()));
                }
                assert_eq!((layout.int(&value, 3), layout.int(&value, 5)), (7, 8));
            }
        }
    }

    #[test]
    fn texts_end_where_they_are_none() {
        let layout = Layout::new(&TABLE, &[8, 0]).expect("sound");
        let mut row = vec![0; usize::from(layout.value_bytes())];
        for (text, fits) in [("", true), ("Zürch", true), ("Zürich", false), ("a\0b", false)] {
            assert_eq!(layout.set(&mut row, 4, &text.into()), fits, "{text:?}");
            assert_eq!(layout.text(&row, 4) == text, fits);
        }
        let start = 3 + 8;
        row[start..start + 6].copy_from_slice(b"ab\xffcde");
        assert_eq!(layout.text(&row, 4), "ab");
        row[start..start + 6].fill(0xff);
        assert_eq!(layout.text(&row, 4), "");
    }

    #[test]
    fn tables_that_cannot_be_laid_out_are_named() {
        const NULL: &[Column] = &[Column::int("key"), Column::text("name", 9).or_null()];
        const LONG: &[Column] =
            &[Column::int("key"), Column::fixed("huge", 65_530), Column::int("more")];
        let refused = |columns, bytes| {
            let table = TableDefinition { columns, key_columns: 1, ..TABLE };
            let layout = Layout::with_integers(&table, &[0], |_| bytes);
            layout.expect_err("it has no fixed layout").to_string()
        };
        let expected =
            "column `name` of table `wide` is nullable: expected an integer, or never null";
        assert_eq!(refused(NULL, 8), expected);
        let expected =
            "column `more` of table `wide` is 8 bytes: expected a row of at most 65,535 bytes";
        assert_eq!(refused(LONG, 8), expected);
        let expected =
            "column `more` of table `wide` is an integer of 9 bytes: expected 1 to 8 bytes";
        assert_eq!(refused(LONG, 9), expected);
    }
}
