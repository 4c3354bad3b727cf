// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves over a number.

use plotters::style::text_anchor::HPos;

use super::axis::{Axis, tick};
use super::canvas::{Canvas, Display, picture};
use super::legend::{Legend, Sign};
use crate::findings::{Colour, Curve, Stroke};

/// Of a curve with more points, none is marked.
const MOST_MARKS: usize = 24;
/// Where the curves are, in pixels.
const HEIGHT: i32 = 280;
/// Between the lowest value and the names of the horizontal axis.
const BELOW: i32 = 8;

impl Curve {
    fn is_marked(&self) -> bool {
        self.colour != Colour::Paper && self.points.len() <= MOST_MARKS
    }

    fn sign(&self) -> Sign {
        Sign::Curve { colour: self.colour, stroke: self.stroke, marked: self.is_marked() }
    }
}

/// Draws `curves`; `up` and `across` say what the axes show.
pub fn svg(display: Display, (up, across): (&str, &str), curves: &[Curve], title: &str) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let axes = [
        Axis::linear(points().map(|point| point.x).fold(0.0, f64::max)),
        Axis::over(points().flat_map(|point| [point.low, point.high])),
    ];
    let legend =
        Legend::new(display, curves.iter().map(|curve| (curve.sign(), curve.name.clone())));
    let up = display.wrapped(&axes[1].caption(up));
    let across = display.wrapped(across);
    let top = legend.height + up.len() as i32 * display.line() + 8;
    let bottom = top + HEIGHT + BELOW;
    let lines = 1 + across.len() as i32;
    picture(display, bottom + lines * display.line() + 4, title, |canvas| {
        legend.draw(canvas);
        for (number, line) in up.iter().enumerate() {
            let y = legend.height + number as i32 * display.line();
            canvas.text(line, (0, y), HPos::Left);
        }
        let plane = Plane::new(display, top, axes);
        plane.draw_axes(canvas);
        for (number, line) in across.iter().enumerate() {
            let y = bottom + (1 + number as i32) * display.line();
            canvas.text(line, (display.width() / 2, y), HPos::Center);
        }
        curves.iter().for_each(|curve| plane.draw_curve(canvas, curve));
    })
}

/// Where values stand in the picture.
struct Plane {
    left: i32,
    right: i32,
    top: i32,
    across: Axis,
    up: Axis,
}

impl Plane {
    fn new(display: Display, top: i32, [across, up]: [Axis; 2]) -> Self {
        let widest = up.ticks(6).into_iter().map(|value| display.text_width(&tick(value))).max();
        let left = widest.expect("an axis has ticks") + 8;
        Self { left, right: display.width() - 18, top, across, up }
    }

    fn x(&self, value: f64) -> i32 {
        self.left + (f64::from(self.right - self.left) * self.across.place(value)).round() as i32
    }

    fn y(&self, value: f64) -> i32 {
        self.top + (f64::from(HEIGHT) * (1.0 - self.up.place(value))).round() as i32
    }

    fn draw_axes(&self, canvas: &Canvas<'_>) {
        let half = canvas.display.font() / 2;
        for value in self.up.ticks(6) {
            let y = self.y(value);
            canvas.line(vec![(self.left, y), (self.right, y)], (Colour::Grid, Stroke::Solid), 1);
            canvas.text(&tick(value), (self.left - 6, y - half), HPos::Right);
        }
        let bottom = self.top + HEIGHT;
        let stroke = (Colour::Text, Stroke::Solid);
        canvas.line(vec![(self.left, bottom), (self.right, bottom)], stroke, 1);
        for value in self.across.ticks(7) {
            let x = self.x(value);
            canvas.line(vec![(x, bottom), (x, bottom + 4)], stroke, 1);
            canvas.text(&tick(value), (x, bottom + BELOW), HPos::Center);
        }
    }

    fn draw_curve(&self, canvas: &Canvas<'_>, curve: &Curve) {
        let path = curve.points.iter().map(|point| (self.x(point.x), self.y(point.y)));
        let width = if curve.colour == Colour::Paper { 2 } else { 3 };
        canvas.line(path.collect(), (curve.colour, curve.stroke), width);
        for point in &curve.points {
            let (x, ends) = (self.x(point.x), [point.low, point.high].map(|end| self.y(end)));
            if curve.stroke == Stroke::Marks {
                let [low, high] = ends;
                canvas.rectangle([(x - 9, high - 3), (x + 9, low + 3)], curve.colour, false);
            } else if ends[0] != ends[1] {
                canvas.whisker(x, ends, curve.colour);
            }
            if curve.is_marked() {
                canvas.mark((x, self.y(point.y)), curve.colour);
            }
        }
    }
}
