// SPDX-License-Identifier: MIT OR Apache-2.0
//! The elements of pictures: strokes, marks and text in pixels, and the colours of the page.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::findings::{Colour, Stroke};
use terminal::text;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Point = (i32, i32);

/// Which display a picture is made for. Each has its own size, so that none shrinks its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// A page or a desk.
    Wide,
    /// A phone.
    Narrow,
}

impl Display {
    /// Of a picture, in pixels.
    pub fn width(self) -> i32 {
        match self {
            Self::Wide => 600,
            Self::Narrow => 340,
        }
    }

    /// Of the text, in pixels.
    pub fn font(self) -> i32 {
        match self {
            Self::Wide => 14,
            Self::Narrow => 13,
        }
    }

    /// Of a line of text, with the space to the next.
    pub fn line(self) -> i32 {
        self.font() + 6
    }

    /// At least the width of `text`: a letter of most fonts takes less.
    pub fn text_width(self, text: &str) -> i32 {
        text.chars().count() as i32 * self.font() * 3 / 5
    }

    /// `text` in lines that fit the picture.
    pub fn wrapped(self, text: &str) -> Vec<String> {
        text::wrap(text, (self.width() * 5 / (self.font() * 3)) as usize)
    }
}

/// A colour that is drawn, and what is put in its place afterwards.
struct Ink {
    drawn: RGBColor,
    hex: &'static str,
    style: &'static str,
}

const TEXT: Ink = Ink { drawn: BLACK, hex: "#000000", style: "currentColor" };
const GRID: Ink =
    Ink { drawn: RGBColor(0xDD, 0xDD, 0xDD), hex: "#DDDDDD", style: "var(--grid, #ddd)" };
const HOST: Ink =
    Ink { drawn: RGBColor(0x1F, 0x6F, 0xB2), hex: "#1F6FB2", style: "var(--host, #1f6fb2)" };
const DEVICE: Ink =
    Ink { drawn: RGBColor(0xC2, 0x5A, 0x1B), hex: "#C25A1B", style: "var(--device, #c25a1b)" };
const RIVAL: Ink =
    Ink { drawn: RGBColor(0x2C, 0x7A, 0x4B), hex: "#2C7A4B", style: "var(--rival, #2c7a4b)" };
const PAPER: Ink =
    Ink { drawn: RGBColor(0x77, 0x77, 0x77), hex: "#777777", style: "var(--paper, #777)" };
const GOAL: Ink =
    Ink { drawn: RGBColor(0x7A, 0x3E, 0x9D), hex: "#7A3E9D", style: "var(--goal, #7a3e9d)" };

fn ink(colour: Colour) -> RGBColor {
    match colour {
        Colour::Text => TEXT.drawn,
        Colour::Grid => GRID.drawn,
        Colour::Host => HOST.drawn,
        Colour::Device => DEVICE.drawn,
        Colour::Rival => RIVAL.drawn,
        Colour::Paper => PAPER.drawn,
        Colour::Goal => GOAL.drawn,
    }
}

/// The backend writes a font's size divided by this.
const FONT_UNIT: f64 = 1.24;

/// A picture in the making. Drawing into memory does not fail.
pub struct Canvas<'a> {
    area: Area<'a>,
    /// Its purpose.
    pub display: Display,
}

const IN_MEMORY: &str = "drawing into memory does not fail";

/// An SVG of this height that `draw` has filled, with `title` for screen readers.
pub fn picture(
    display: Display,
    height: i32,
    title: &str,
    draw: impl FnOnce(&Canvas<'_>),
) -> String {
    let mut picture = String::new();
    {
        let size = (display.width() as u32, height as u32);
        let area = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        draw(&Canvas { area, display });
    }
    let size = format!("width=\"{}\" height=\"{height}\"", display.width());
    assert!(picture.contains(&size), "the picture's size is said in another way");
    let described = format!("role=\"img\" aria-label=\"{title}\"");
    let picture = picture.replacen(&size, &described, 1);
    [TEXT, GRID, HOST, DEVICE, RIVAL, PAPER, GOAL]
        .iter()
        .fold(picture, |picture, ink| picture.replace(ink.hex, ink.style))
}

impl Canvas<'_> {
    /// Text whose top is at `y`; `x` is its left, middle or right.
    pub fn text(&self, text: &str, (x, y): Point, side: HPos) {
        let size = f64::from(self.display.font()) * FONT_UNIT;
        let style = ("system-ui, sans-serif", size).into_font().color(&TEXT.drawn);
        let style = style.pos(Pos::new(side, VPos::Top));
        self.area.draw(&Text::new(text, (x, y), style)).expect(IN_MEMORY);
    }

    /// A line through `points`, `width` pixels wide.
    pub fn line(&self, points: Vec<Point>, (colour, stroke): (Colour, Stroke), width: u32) {
        let style = ink(colour).stroke_width(width);
        let drawn = match stroke {
            Stroke::Marks => Ok(()),
            Stroke::Solid => self.area.draw(&PathElement::new(points, style)),
            Stroke::Broken { dash, gap } => {
                self.area.draw(&DashedPathElement::new(points, dash, gap, style))
            }
        };
        drawn.expect(IN_MEMORY);
    }

    /// A rectangle, filled or only its outline.
    pub fn rectangle(&self, corners: [Point; 2], colour: Colour, filled: bool) {
        let style = if filled { ink(colour).filled() } else { ink(colour).stroke_width(2) };
        self.area.draw(&Rectangle::new(corners, style)).expect(IN_MEMORY);
    }

    /// The mark of a value; each colour has a shape of its own.
    pub fn mark(&self, (x, y): Point, colour: Colour) {
        let style = ink(colour).filled();
        let drawn = match colour {
            Colour::Device => {
                self.area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style))
            }
            Colour::Rival => self.area.draw(&TriangleMarker::new((x, y), 6, style)),
            _ => self.area.draw(&Circle::new((x, y), 5, style)),
        };
        drawn.expect(IN_MEMORY);
    }

    /// From the least to the most of all seeds, upright, with ends.
    pub fn whisker(&self, x: i32, [low, high]: [i32; 2], colour: Colour) {
        let stroke = (colour, Stroke::Solid);
        self.line(vec![(x, low), (x, high)], stroke, 2);
        for end in [low, high] {
            self.line(vec![(x - 5, end), (x + 5, end)], stroke, 2);
        }
    }
}
