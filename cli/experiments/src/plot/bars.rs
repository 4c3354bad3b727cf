// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values by name, one below the other: as bars from zero, or as marks on a logarithmic axis, which
//! has no zero for a bar to begin at.

use plotters::style::text_anchor::HPos;

use super::axis::{Axis, Scale, number, tick};
use super::canvas::{Canvas, Display, picture};
use super::legend::{Legend, Sign};
use crate::findings::{Colour, Row, Stroke};

/// Of a bar, in pixels.
const BAR: i32 = 18;
/// Between a bar and what comes next.
const SPACE: i32 = 12;

/// Draws `rows`; `along` says what their lengths show.
pub fn svg(display: Display, along: &str, rows: &[Row], title: &str) -> String {
    let papers = rows.iter().filter_map(|row| row.paper).flat_map(|paper| [paper.low, paper.high]);
    let goals = rows.iter().filter_map(|row| row.goal).map(|goal| goal.at_least);
    let ends = rows.iter().flat_map(|row| [row.measured.min, row.measured.max]);
    let axis = Axis::over(ends.chain(papers).chain(goals));
    let legend = Legend::new(display, signs(rows, axis.scale));
    let caption = display.wrapped(&axis.caption(along));
    let list = List::new(display, legend.height, rows, axis);
    let bottom = list.bottom();
    let lines = 1 + caption.len() as i32;
    picture(display, bottom + 6 + lines * display.line() + 4, title, |canvas| {
        legend.draw(canvas);
        list.draw_axis(canvas);
        (0..rows.len()).for_each(|place| list.draw_row(canvas, place));
        for (number, line) in caption.iter().enumerate() {
            let y = bottom + 6 + (1 + number as i32) * display.line();
            canvas.text(line, (display.width() / 2, y), HPos::Center);
        }
    })
}

fn colour(row: &Row) -> Colour {
    match row.label.starts_with("host") {
        true => Colour::Host,
        false => Colour::Device,
    }
}

fn signs(rows: &[Row], scale: Scale) -> Vec<(Sign, String)> {
    let seeds = rows.iter().map(|row| row.measured.seeds).max().unwrap_or(0);
    let mut signs = Vec::new();
    for (of, name) in [(Colour::Host, "host"), (Colour::Device, "device")] {
        let both = rows.iter().any(|row| colour(row) == Colour::Host);
        let name = if both { format!("{name}, median") } else { "median".into() };
        if rows.iter().any(|row| colour(row) == of) {
            let sign = if scale == Scale::Linear { Sign::Bar(of) } else { Sign::Mark(of) };
            signs.push((sign, name));
        }
    }
    if rows.iter().any(|row| row.measured.min < row.measured.max) {
        signs.push((Sign::Range, format!("least to most of {seeds} seeds")));
    }
    if rows.iter().any(|row| row.paper.is_some()) {
        signs.push((Sign::Paper, "paper".into()));
    }
    if rows.iter().any(|row| row.goal.is_some()) {
        signs.push((Sign::Goal, "our goal, at least".into()));
    }
    signs
}

/// Where the rows stand in the picture.
struct List<'a> {
    rows: &'a [Row],
    axis: Axis,
    top: i32,
    left: i32,
    right: i32,
    /// Above its bar, the name of a row; 0 where names stand beside the bars.
    above: i32,
}

impl<'a> List<'a> {
    fn new(display: Display, top: i32, rows: &'a [Row], axis: Axis) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = i32>| texts.max().expect("some rows");
        let names = widest(&mut rows.iter().map(|row| display.text_width(&row.label)));
        let values = rows.iter().map(|row| display.text_width(&number(row.measured.median)));
        let right = display.width() - widest(&mut values.into_iter()) - 10;
        // Names that leave little room stand above.
        match names > display.width() * 9 / 20 {
            true => Self { rows, axis, top, left: 8, right, above: display.line() },
            false => Self { rows, axis, top, left: names + 12, right, above: 0 },
        }
    }

    fn x(&self, value: f64) -> i32 {
        self.left + (f64::from(self.right - self.left) * self.axis.place(value)).round() as i32
    }

    /// The top of a row.
    fn y(&self, place: usize) -> i32 {
        self.top + place as i32 * (self.above + BAR + SPACE)
    }

    fn bottom(&self) -> i32 {
        self.y(self.rows.len())
    }

    fn draw_axis(&self, canvas: &Canvas<'_>) {
        let widest = canvas.display.text_width("100,000") + 12;
        let count = ((self.right - self.left) / widest).max(2) as usize;
        for value in self.axis.ticks(count) {
            let x = self.x(value);
            // Names stay clear of the lines.
            for place in 0..self.rows.len() {
                let bar = self.y(place) + self.above;
                let upright = vec![(x, bar - SPACE / 2), (x, bar + BAR + SPACE / 2)];
                canvas.line(upright, (Colour::Grid, Stroke::Solid), 1);
            }
            canvas.text(&tick(value), (x, self.bottom() + 6), HPos::Center);
        }
        let along = vec![(self.left, self.bottom()), (self.right, self.bottom())];
        canvas.line(along, (Colour::Text, Stroke::Solid), 1);
    }

    fn draw_row(&self, canvas: &Canvas<'_>, place: usize) {
        let row = &self.rows[place];
        let top = self.y(place) + self.above;
        let middle = top + BAR / 2;
        let text_top = middle - canvas.display.font() / 2;
        match self.above {
            0 => canvas.text(&row.label, (self.left - 10, text_top), HPos::Right),
            above => canvas.text(&row.label, (0, top - above + 2), HPos::Left),
        }
        let [median, min, max] =
            [row.measured.median, row.measured.min, row.measured.max].map(|value| self.x(value));
        if self.axis.scale == Scale::Linear {
            canvas.rectangle([(self.left, top), (median, top + BAR)], colour(row), true);
        }
        canvas.line(vec![(min, middle), (max, middle)], (Colour::Text, Stroke::Solid), 2);
        if self.axis.scale == Scale::Logarithmic {
            canvas.mark((median, middle), colour(row));
        }
        let value = number(row.measured.median);
        let mut marks = Vec::new();
        if let Some(paper) = row.paper {
            let [low, high] = [paper.low, paper.high].map(|value| self.x(value));
            canvas.rectangle([(low - 2, top - 3), (high + 2, top + BAR + 3)], Colour::Paper, false);
            marks.push((low, high));
        }
        if let Some(goal) = row.goal {
            let x = self.x(goal.at_least);
            canvas.line(vec![(x, top - 5), (x, top + BAR + 5)], super::GOAL, 3);
            marks.push((x, x));
        }
        // Beside the value, and behind what would be in its way.
        let width = canvas.display.text_width(&value);
        let end = marks.into_iter().fold(max + 5, |end, (low, high)| {
            if low - 5 < end + 2 + width && high + 5 > end { high + 5 } else { end }
        });
        canvas.text(&value, (end + 2, text_top), HPos::Left);
    }
}
