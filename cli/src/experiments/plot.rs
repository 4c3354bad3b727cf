//! A [`Plot`] as SVG.
//!
//! The picture uses the colours of its surroundings: text and axes are drawn in `currentColor`
//! and curves in variables of the page's style sheet, with values of their own where there is
//! none, so that one picture serves light and dark.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::findings::{Colour, Curve, Plot, Row};
use super::samples::Spread;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

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

fn ink(colour: Colour) -> RGBColor {
    match colour {
        Colour::Host => HOST.drawn,
        Colour::Device => DEVICE.drawn,
        Colour::Rival => RIVAL.drawn,
        Colour::Paper => PAPER.drawn,
    }
}

/// Pixels; wide enough for a phone to shrink it and still be read.
const WIDTH: u32 = 560;
const FONT: &str = "system-ui, sans-serif";
/// Of one line of the legend.
const LEGEND_HEIGHT: u32 = 22;
/// About the width of a letter of the legend.
const LETTER: u32 = 7;

/// Of a curve with more points, none is marked.
const MOST_DOTS: usize = 24;

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws `plot` with `title` as its description for those who do not see it.
///
/// # Panics
/// When there is nothing to draw.
pub fn svg(plot: &Plot, title: &str) -> String {
    let height = match plot {
        Plot::Lines { curves, .. } => 340 + LEGEND_HEIGHT * curves.len().div_ceil(2) as u32,
        Plot::Bars { rows, .. } => 60 + BAR_HEIGHT * rows.len() as u32,
    };
    let mut picture = String::new();
    {
        let area = SVGBackend::with_string(&mut picture, (WIDTH, height)).into_drawing_area();
        let drawn = match plot {
            Plot::Lines { across, up, curves } => lines(&area, across, up, curves),
            Plot::Bars { along, rows } => bars(&area, along, rows),
        };
        drawn.expect("drawing into memory does not fail");
    }
    let size = format!("width=\"{WIDTH}\" height=\"{height}\"");
    let described = format!("role=\"img\" aria-label=\"{title}\"");
    assert!(picture.contains(&size), "the picture's size is said in another way");
    let mut picture = picture.replacen(&size, &described, 1);
    for ink in [TEXT, GRID, HOST, DEVICE, RIVAL, PAPER] {
        picture = picture.replace(ink.hex, ink.style);
    }
    picture
}

fn text(size: u32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&TEXT.drawn)
}

fn lines(area: &Area<'_>, across: &str, up: &str, curves: &[Curve]) -> Drawn {
    let (legend, area) = area.split_vertically(LEGEND_HEIGHT * curves.len().div_ceil(2) as u32);
    draw_legend(&legend, curves)?;
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let right = points().map(|point| point.0).fold(0.0, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max) * 1.08;
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .margin_right(18)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(TEXT.drawn)
        .bold_line_style(GRID.drawn)
        .light_line_style(TRANSPARENT)
        .x_desc(across)
        .y_desc(up)
        .label_style(text(14))
        .axis_desc_style(text(15))
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .draw()?;
    for curve in curves {
        let colour = ink(curve.colour);
        let line = curve.points.iter().copied();
        if curve.dashed {
            chart.draw_series(DashedLineSeries::new(line, 7, 5, colour.stroke_width(2)))?;
        } else {
            chart.draw_series(LineSeries::new(line, colour.stroke_width(3)))?;
            if curve.points.len() <= MOST_DOTS {
                let dot = |&point: &(f64, f64)| Circle::new(point, 4, colour.filled());
                chart.draw_series(curve.points.iter().map(dot))?;
            }
        }
    }
    Ok(())
}

/// The curves' names, two in a line.
fn draw_legend(area: &Area<'_>, curves: &[Curve]) -> Drawn {
    for (number, curve) in curves.iter().enumerate() {
        let x = 58 + (number % 2) as i32 * (WIDTH as i32 - 58) / 2;
        let y = (LEGEND_HEIGHT as usize * (number / 2)) as i32 + 12;
        let (dash, gap) = if curve.dashed { (7, 5) } else { (24, 0) };
        let style = ink(curve.colour).stroke_width(3);
        area.draw(&DashedPathElement::new([(x, y), (x + 24, y)], dash, gap, style))?;
        area.draw(&Text::new(curve.name.clone(), (x + 32, y - 8), text(14)))?;
    }
    Ok(())
}

/// Of a bar with the space around it.
const BAR_HEIGHT: u32 = 30;

fn bars(area: &Area<'_>, along: &str, rows: &[Row]) -> Drawn {
    let longest = rows.iter().map(|row| row.label.chars().count()).max().expect("some rows");
    let values = rows.iter().flat_map(|row| [row.measured.max, row.paper.map_or(0.0, |p| p.high)]);
    let right = values.fold(0.0, f64::max) * 1.15;
    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(42)
        .y_label_area_size((longest as u32 * LETTER + 14).min(WIDTH / 2))
        .build_cartesian_2d(0.0..right, 0.0..count)?;
    // A name stands in the middle of its bar, at a whole number and a half from the top.
    let name = |at: &f64| {
        let place = count - at;
        let whole = place.floor();
        match (place - whole - 0.5).abs() < 1e-6 {
            true => rows
                .get(whole as usize)
                .map_or(String::new(), |row| format!("{}\u{A0}\u{A0}", row.label)),
            false => String::new(),
        }
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .axis_style(TEXT.drawn)
        .bold_line_style(GRID.drawn)
        .light_line_style(TRANSPARENT)
        .x_desc(along)
        .x_labels(6)
        .y_labels(4 * rows.len())
        .set_tick_mark_size(LabelAreaPosition::Left, 0)
        .label_style(text(13))
        .axis_desc_style(text(15))
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&name)
        .draw()?;
    for (number, row) in rows.iter().enumerate() {
        let middle = count - number as f64 - 0.5;
        let colour = ink(if row.label.starts_with("host") { Colour::Host } else { Colour::Device });
        let Spread { median, min, max, .. } = row.measured;
        let corners = [(0.0, middle - 0.3), (median, middle + 0.3)];
        chart.draw_series([Rectangle::new(corners, colour.filled())])?;
        // From the least to the most of all seeds.
        let ends = PathElement::new([(min, middle), (max, middle)], TEXT.drawn.stroke_width(2));
        chart.draw_series([ends])?;
        let value = format!("{median:.0}");
        let beside = EmptyElement::at((max, middle)) + Text::new(value, (5, -7), text(13));
        chart.draw_series([beside])?;
        if let Some(paper) = row.paper {
            let mark = [(paper.low, middle - 0.4), (paper.high, middle + 0.4)];
            chart.draw_series([Rectangle::new(mark, ink(Colour::Paper).stroke_width(2))])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::findings::Paper;

    #[test]
    fn curves_take_the_colours_of_the_page() {
        let points = vec![(0.0, 80.0), (50.0, 200.0), (100.0, 350.0)];
        let name = "host, measured".into();
        let curve = Curve { name, colour: Colour::Host, dashed: false, points };
        let dashed = Curve { name: "paper".into(), dashed: true, ..curve.clone() };
        let plot = Plot::Lines { across: "load, %", up: "ns", curves: vec![curve, dashed] };
        let picture = svg(&plot, "latency");
        assert!(picture.contains("currentColor") && picture.contains("var(--host, #1f6fb2)"));
        assert!(picture.contains("viewBox=\"0 0 560 362\"") && !picture.contains("#000000"));
        assert!(picture.contains("host, measured") && picture.contains("load, %"));
    }

    #[test]
    fn every_bar_has_its_name_once() {
        let paper = Some(Paper { low: 80.0, high: 100.0, place: "" });
        let row = |number: f64| {
            Row::by_the_clock(format!("bar {number}"), "ns", 100.0 * number).beside(paper)
        };
        for count in 1..=9 {
            let rows: Vec<Row> = (1..=count).map(|number| row(f64::from(number))).collect();
            let picture = svg(&Plot::Bars { along: "ns", rows: rows.clone() }, "bars");
            for row in &rows {
                let found = picture.lines().filter(|line| line.trim() == row.label).count();
                assert_eq!(found, 1, "{} of {count}", row.label);
            }
        }
    }
}
