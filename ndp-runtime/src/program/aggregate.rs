// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts, sums, minima and maxima of a program's outputs.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use lockdb::schema::Type;

use super::exact_sum::ExactSum;
use super::machine::{CANONICAL_NAN, Outputs, compare_floats};

/// The aggregate of output 0. Nulls are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// How many there are.
    Count,
    /// Their sum: of integers exact, of floats rounded once, at the end.
    Sum,
    /// The least one.
    Min,
    /// The greatest one.
    Max,
}

/// Sums up the rows of one scan, by groups. Parts of a scan may be summed up apart and
/// [merged](Aggregation::merge): the result is the same.
#[derive(Clone, Debug)]
pub struct Aggregation {
    aggregate: Aggregate,
    value: Type,
    group: Option<Type>,
    limit: usize,
    groups: BTreeMap<GroupKey, State>,
}

/// The result for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's value, as output 1 has it: `None` is that of nulls, and of what is not grouped.
    pub key: Option<u64>,
    /// The result: of a count or a sum of integers an integer, else of the value's type. `None`
    /// (null) is what a sum, the least or the greatest of no values is.
    pub value: Option<u64>,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AggregateError {
    /// More groups than are kept.
    #[error("found more than {limit} groups, expected fewer")]
    TooManyGroups {
        /// The most.
        limit: usize,
    },
    /// A sum of integers beyond 64 bits.
    #[error("a sum of integers is {sum}, expected it within 64 bits")]
    Overflow {
        /// The sum.
        sum: i128,
    },
}

/// What an aggregation cannot be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "found {aggregate:?} of {value}, expected sums of Int64 or Float64, others of what fits in a word"
)]
pub struct AggregateTypeError {
    aggregate: Aggregate,
    value: Type,
}

/// A group's value, in the order of its type; nulls come last, as SQL sorts them.
#[derive(Clone, Copy, Debug)]
struct GroupKey {
    kind: Type,
    bits: Option<u64>,
}

impl Ord for GroupKey {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.bits, other.bits) {
            (Some(a), Some(b)) => compare(self.kind, a, b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        }
    }
}

impl PartialOrd for GroupKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for GroupKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for GroupKey {}

/// The order of values of this type.
fn compare(kind: Type, a: u64, b: u64) -> Ordering {
    match kind {
        Type::Float64 => compare_floats(a, b),
        Type::Fixed(_) => a.swap_bytes().cmp(&b.swap_bytes()),
        _ => a.cast_signed().cmp(&b.cast_signed()),
    }
}

/// The state of one group.
#[derive(Clone, Debug)]
enum State {
    Count(u64),
    /// Of integers; `None`: of no values.
    Sum(Option<i128>),
    FloatSum(Option<ExactSum>),
    /// The least or greatest so far.
    Best(Option<u64>),
}

impl Aggregation {
    /// An aggregate of values of one type (output 0), by groups of another (output 1) or in one
    /// group, with at most `limit` groups.
    ///
    /// # Errors
    /// When it is a sum of what has none, or a type does not fit in a word.
    pub fn new(
        aggregate: Aggregate,
        value: Type,
        group: Option<Type>,
        limit: usize,
    ) -> Result<Self, AggregateTypeError> {
        let in_a_word =
            |kind| matches!(kind, Type::Int64 | Type::Float64 | Type::Bool | Type::Fixed(1..=8));
        let has_sum = matches!(value, Type::Int64 | Type::Float64);
        if !in_a_word(value) || aggregate == Aggregate::Sum && !has_sum {
            return Err(AggregateTypeError { aggregate, value });
        }
        if let Some(value) = group.filter(|kind| !in_a_word(*kind)) {
            return Err(AggregateTypeError { aggregate, value });
        }
        let mut empty = Self { aggregate, value, group, limit, groups: BTreeMap::new() };
        if group.is_none() {
            // One result even of no rows.
            let key = GroupKey { kind: Type::Int64, bits: None };
            empty.groups.insert(key, empty.begin());
        }
        Ok(empty)
    }

    /// The type of the results.
    pub fn result_type(&self) -> Type {
        if self.aggregate == Aggregate::Count { Type::Int64 } else { self.value }
    }

    fn begin(&self) -> State {
        match (self.aggregate, self.value) {
            (Aggregate::Count, _) => State::Count(0),
            (Aggregate::Sum, Type::Float64) => State::FloatSum(None),
            (Aggregate::Sum, _) => State::Sum(None),
            (Aggregate::Min | Aggregate::Max, _) => State::Best(None),
        }
    }

    /// Takes in a row that qualifies.
    ///
    /// # Errors
    /// When it would be of one group too many; nothing is changed then.
    pub fn add(&mut self, outputs: &Outputs) -> Result<(), AggregateError> {
        let key = match self.group {
            None => GroupKey { kind: Type::Int64, bits: None },
            Some(kind) => GroupKey { kind, bits: outputs.get(1).map(|bits| one_form(kind, bits)) },
        };
        let (aggregate, value) = (self.aggregate, self.value);
        let state = self.state(key)?;
        if let Some(bits) = outputs.get(0) {
            state.add(aggregate, value, bits);
        }
        Ok(())
    }

    fn state(&mut self, key: GroupKey) -> Result<&mut State, AggregateError> {
        let begin = self.begin();
        if self.groups.len() >= self.limit && !self.groups.contains_key(&key) {
            return Err(AggregateError::TooManyGroups { limit: self.limit });
        }
        Ok(self.groups.entry(key).or_insert(begin))
    }

    /// Takes in what another part of the scan has given.
    ///
    /// # Errors
    /// When there are too many groups together; what was taken in until then stays.
    ///
    /// # Panics
    /// When the other is not of the same kind.
    pub fn merge(&mut self, other: &Self) -> Result<(), AggregateError> {
        let same = (self.aggregate, self.value, self.group);
        assert_eq!(same, (other.aggregate, other.value, other.group), "parts of one scan");
        let (aggregate, value) = (self.aggregate, self.value);
        for (key, part) in &other.groups {
            self.state(*key)?.merge(aggregate, value, part);
        }
        Ok(())
    }

    /// The results, by rising value of their groups, that of nulls last.
    ///
    /// # Errors
    /// When a sum of integers is beyond 64 bits.
    pub fn finish(&self) -> Result<Vec<Group>, AggregateError> {
        let result =
            |(key, state): (&GroupKey, &State)| Ok(Group { key: key.bits, value: state.result()? });
        self.groups.iter().map(result).collect()
    }
}

impl State {
    fn add(&mut self, aggregate: Aggregate, kind: Type, bits: u64) {
        match self {
            Self::Count(count) => *count += 1,
            Self::Sum(sum) => *sum = Some(sum.unwrap_or(0) + i128::from(bits.cast_signed())),
            Self::FloatSum(sum) => sum.get_or_insert_with(ExactSum::new).add(f64::from_bits(bits)),
            Self::Best(best) => {
                let better = best.is_none_or(|best| match aggregate {
                    Aggregate::Min => is_less(kind, bits, best),
                    _ => is_less(kind, best, bits),
                });
                if better {
                    *best = Some(bits);
                }
            }
        }
    }

    fn merge(&mut self, aggregate: Aggregate, kind: Type, other: &Self) {
        match (self, other) {
            (Self::Count(count), Self::Count(more)) => *count += more,
            (Self::Sum(sum), Self::Sum(Some(more))) => *sum = Some(sum.unwrap_or(0) + more),
            (Self::FloatSum(sum), Self::FloatSum(Some(more))) => {
                sum.get_or_insert_with(ExactSum::new).merge(more);
            }
            (best @ Self::Best(_), Self::Best(Some(bits))) => best.add(aggregate, kind, *bits),
            // Nothing to take in: both are of one kind, as `Aggregation::merge` asserts.
            _ => {}
        }
    }

    fn result(&self) -> Result<Option<u64>, AggregateError> {
        match self {
            Self::Count(count) => Ok(Some(*count)),
            Self::Sum(None) | Self::FloatSum(None) => Ok(None),
            Self::Sum(Some(sum)) => match i64::try_from(*sum) {
                Ok(sum) => Ok(Some(sum.cast_unsigned())),
                Err(_) => Err(AggregateError::Overflow { sum: *sum }),
            },
            Self::FloatSum(Some(sum)) => Ok(Some(sum.value().to_bits())),
            Self::Best(best) => Ok(*best),
        }
    }
}

/// Equal floats as one: they are one group, whichever row comes first.
fn one_form(kind: Type, bits: u64) -> u64 {
    match kind {
        Type::Float64 if f64::from_bits(bits).is_nan() => CANONICAL_NAN,
        Type::Float64 if f64::from_bits(bits) == 0.0 => 0,
        _ => bits,
    }
}

/// By the type's order; of equal floats the one with the lesser bits, so that the result does not
/// depend on the order of the rows.
fn is_less(kind: Type, a: u64, b: u64) -> bool {
    compare(kind, a, b).then(a.cmp(&b)).is_lt()
}
