// SPDX-License-Identifier: MIT OR Apache-2.0
//! The legend above a picture: the meaning of its strokes and marks.

use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Display};
use crate::findings::{Colour, Stroke};

/// How an entry is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A curve, with its marks if it has any.
    Curve { colour: Colour, stroke: Stroke, marked: bool },
    /// A bar.
    Bar(Colour),
    /// The mark of a value.
    Mark(Colour),
    /// From the least to the most.
    Range,
    /// A paper's range.
    Paper,
    /// A goal.
    Goal,
}

/// The entries, each with its place.
pub struct Legend {
    entries: Vec<(Sign, String, (i32, i32))>,
    /// Of all lines, in pixels.
    pub height: i32,
}

/// Of a sign, with the space before its name.
const SIGN: i32 = 40;
/// Between entries.
const BETWEEN: i32 = 16;

impl Legend {
    /// Side by side, as many in a line as fit.
    pub fn new(display: Display, signs: impl IntoIterator<Item = (Sign, String)>) -> Self {
        let (mut x, mut y) = (0, 0);
        let mut entries = Vec::new();
        for (sign, name) in signs {
            let width = SIGN + display.text_width(&name);
            if x > 0 && x + width > display.width() {
                (x, y) = (0, y + display.line());
            }
            entries.push((sign, name, (x, y)));
            x += width + BETWEEN;
        }
        Self { entries, height: y + display.line() + 6 }
    }

    /// Draws it at the top.
    pub fn draw(&self, canvas: &Canvas<'_>) {
        for (sign, name, (x, y)) in &self.entries {
            let middle = y + canvas.display.font() / 2 + 2;
            sign.draw(canvas, *x, middle);
            canvas.text(name, (x + SIGN, y + 2), HPos::Left);
        }
    }
}

impl Sign {
    fn draw(self, canvas: &Canvas<'_>, x: i32, y: i32) {
        let across = vec![(x + 2, y), (x + 34, y)];
        match self {
            Self::Curve { colour, stroke: Stroke::Marks, .. } => {
                canvas.rectangle([(x + 10, y - 6), (x + 28, y + 6)], colour, false);
            }
            Self::Curve { colour, stroke, marked } => {
                canvas.line(across, (colour, stroke), 3);
                if marked {
                    canvas.mark((x + 18, y), colour);
                }
            }
            Self::Bar(colour) => canvas.rectangle([(x + 6, y - 5), (x + 32, y + 5)], colour, true),
            Self::Mark(colour) => canvas.mark((x + 18, y), colour),
            Self::Range => canvas.line(across, (Colour::Text, Stroke::Solid), 2),
            Self::Paper => {
                canvas.rectangle([(x + 10, y - 6), (x + 28, y + 6)], Colour::Paper, false);
            }
            Self::Goal => canvas.line(vec![(x + 18, y - 7), (x + 18, y + 7)], super::GOAL, 3),
        }
    }
}
