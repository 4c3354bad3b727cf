// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a number may be used for: its class in the calibration of a machine.
//!
//! A model that is to predict the figures of a paper may not be tuned by them. Each number that it
//! reads belongs to a class of sources that were known before.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Kind;

/// The classes of numbers that a model may be calibrated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Class {
    /// A datasheet or a standard: headers, PCIe, clocks, geometry of caches.
    A,
    /// A micro-benchmark of the same paper.
    B,
    /// The measured time of our own code, times a published ratio of processors.
    C,
    /// Another publication about the same part.
    D,
    /// An assumption, with the interval that it may lie in.
    E,
}

impl Class {
    /// All there are.
    pub const ALL: [Class; 5] = [Class::A, Class::B, Class::C, Class::D, Class::E];

    /// The classes that numbers of this kind may be of.
    pub fn of_kind(kind: Kind) -> &'static [Class] {
        match kind {
            // What a paper says of its machine, and what it measured on it.
            Kind::Paper => &[Class::A, Class::B],
            Kind::Datasheet | Kind::OwnRtl => &[Class::A],
            Kind::Measured => &[Class::C],
            // To nothing but a micro-benchmark.
            Kind::Fitted => &[Class::B],
            Kind::Publication => &[Class::D],
            Kind::Assumption => &[Class::E],
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// An end of the interval of an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

/// What is wrong with the class and the interval of an entry, if anything is.
pub(super) fn first_fault(
    kind: Kind,
    class: Option<Class>,
    value: f64,
    interval: Option<[f64; 2]>,
) -> Option<String> {
    if let Some(found) = class
        && !Class::of_kind(kind).contains(&found)
    {
        let expected: Vec<String> = Class::of_kind(kind).iter().map(Class::to_string).collect();
        let expected = expected.join(" or ");
        return Some(format!("class {found} found with kind {kind}, expected {expected}"));
    }
    match (class, interval) {
        (Some(Class::E), None) => Some(
            "interval is missing, expected the least and the greatest value that an entry of class E \
             may have"
                .into(),
        ),
        (Some(Class::E), Some([least, greatest])) => {
            // Not by its opposite, which a NaN would pass.
            let contains = least <= value && value <= greatest;
            (!contains).then(|| {
                format!("interval [{least}, {greatest}] found, expected one that contains the value {value}")
            })
        }
        (class, Some(_)) => {
            let class = class.map_or("no class".into(), |class| format!("class {class}"));
            Some(format!("interval found with {class}, expected one with class E only"))
        }
        (_, None) => None,
    }
}
