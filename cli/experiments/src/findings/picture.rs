// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of a picture.

use super::row::{Paper, Row};
use crate::samples::Spread;

/// Lines over a number, or bars by name.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Curves.
    Lines {
        /// The quantity on the horizontal axis.
        across: &'static str,
        /// The quantity on the vertical axis.
        up: &'static str,
        /// The curves.
        curves: Vec<Curve>,
    },
    /// Values by name in the order given; the paper's value and our goal, if any, as marks.
    Bars {
        /// What their length shows.
        along: &'static str,
        /// The bars.
        rows: Vec<Row>,
    },
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Which side it belongs to, which gives its colour and the shape of its marks.
    pub colour: Colour,
    /// How its points are joined.
    pub stroke: Stroke,
    /// Its points.
    pub points: Vec<Point>,
}

/// A point of a curve, with the ends of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// The least of all seeds, or the lower end of the paper's value.
    pub low: f64,
    /// The most, or the upper end.
    pub high: f64,
}

impl Point {
    /// Without a range.
    pub fn lone((x, y): (f64, f64)) -> Self {
        Self { x, y, low: y, high: y }
    }

    /// The median of all seeds.
    pub fn measured(x: f64, Spread { median, min, max, .. }: Spread) -> Self {
        Self { x, y: median, low: min, high: max }
    }

    /// A value of a paper.
    pub fn paper(x: f64, Paper { low, high, .. }: Paper) -> Self {
        Self { x, y: f64::midpoint(low, high), low, high }
    }
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// By a line.
    Solid,
    /// By a line with gaps, in pixels.
    Broken {
        /// Drawn.
        dash: u32,
        /// Left out.
        gap: u32,
    },
    /// Not at all: nothing is known between.
    Marks,
}

impl Stroke {
    /// The second case of the same side.
    pub const DASHED: Self = Self::Broken { dash: 8, gap: 5 };
    /// Another side's first case, where there are no marks to tell it from [`Stroke::Solid`].
    pub const LONG: Self = Self::Broken { dash: 18, gap: 4 };
    /// Another side's second case, where there are no marks.
    pub const SHORT: Self = Self::Broken { dash: 4, gap: 3 };
    /// A value of the paper.
    pub const DOTTED: Self = Self::Broken { dash: 2, gap: 4 };
    /// Another value of the paper.
    pub const SPARSE: Self = Self::Broken { dash: 3, gap: 9 };
}

/// What a line or mark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Text and axes.
    Text,
    /// The lines behind the values.
    Grid,
    /// The host's side.
    Host,
    /// The device's side.
    Device,
    /// Another database.
    Rival,
    /// The paper's values.
    Paper,
    /// Our goals.
    Goal,
}
