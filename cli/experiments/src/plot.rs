// SPDX-License-Identifier: MIT OR Apache-2.0
//! A [`Plot`] as SVG.
//!
//! The picture uses the colours of its surroundings: text and axes are drawn in `currentColor`
//! and curves in variables of the page's style sheet, with values of their own where there is
//! none, so that one picture serves light and dark. Colour alone tells nothing: strokes and marks
//! differ, too.

mod axis;
mod bars;
mod canvas;
mod curves;
mod legend;

pub use canvas::Display;

use crate::findings::{Colour, Plot, Stroke};

/// How a goal is drawn, as no value of a paper is.
const GOAL: (Colour, Stroke) = (Colour::Goal, Stroke::Broken { dash: 6, gap: 2 });

/// Draws `plot` with `title` as its description for screen readers.
///
/// # Panics
/// When there is nothing to draw.
pub fn svg(plot: &Plot, title: &str, display: Display) -> String {
    match plot {
        Plot::Lines { across, up, curves } => curves::svg(display, (up, across), curves, title),
        Plot::Bars { along, rows } => bars::svg(display, along, rows, title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Curve, Goal, Observation, Paper, Point, Row};

    const BOTH: [Display; 2] = [Display::Wide, Display::Narrow];

    fn row(label: impl Into<String>, value: f64) -> Row {
        let observation = |(seed, value)| Observation { seed, value, operations: 1 };
        let observations = [(1, value), (2, 1.2 * value)].map(observation);
        Row::new(label, ("ns", "reads"), observations.into(), Default::default())
    }

    fn bars(rows: Vec<Row>) -> Plot {
        let along = "the long update, from its beginning to its last lock given back, µs";
        Plot::Bars { along, rows }
    }

    fn curves() -> Plot {
        let points = [(0.0, 80.0), (50.0, 200.0), (100.0, 1_350.0)].map(Point::lone).to_vec();
        let (colour, stroke) = (Colour::Host, Stroke::Solid);
        let curve = Curve { name: "host, measured".into(), colour, stroke, points };
        let paper = Curve {
            name: "paper".into(),
            colour: Colour::Paper,
            stroke: Stroke::DOTTED,
            ..curve.clone()
        };
        let up = "mean time from asking for a lock to having it, ns";
        Plot::Lines { across: "load of the other side, %", up, curves: vec![curve, paper] }
    }

    fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
        let (_, rest) = element.split_once(&format!(" {name}=\"")).expect(name);
        rest.split_once('"').expect("quoted").0
    }

    /// The texts of a picture: where each begins and ends, at least, the size of its font, itself.
    fn texts(picture: &str) -> Vec<(f64, f64, f64, String)> {
        let elements = picture.split("<text").skip(1);
        elements
            .map(|element| {
                let (tag, rest) = element.split_once('>').expect("a tag");
                let text = rest.split("</text>").next().expect("a text").trim().to_owned();
                let [x, size] = ["x", "font-size"].map(|name| attribute(tag, name).parse::<f64>());
                let (x, size) = (x.expect("a number"), size.expect("a number"));
                // DejaVu Sans, which is wide, has letters of 0.6 of its size on average.
                let width = text.chars().count() as f64 * size * 0.59;
                let begin = match attribute(tag, "text-anchor") {
                    "start" => x,
                    "middle" => x - width / 2.0,
                    _ => x - width,
                };
                (begin, begin + width, size, text)
            })
            .collect()
    }

    #[test]
    fn no_text_is_cut_off() {
        let long = row("near data, pages verified before, uniform", 49_144.0);
        for display in BOTH {
            for plot in [curves(), bars(vec![long.clone(), row("short", 7.0)])] {
                let picture = svg(&plot, "title", display);
                for (begin, end, _, text) in texts(&picture) {
                    let width = f64::from(display.width());
                    assert!(begin >= -1.0 && end <= width + 1.0, "{text}: {begin} to {end}");
                }
            }
        }
    }

    #[test]
    fn captions_keep_their_units() {
        for display in BOTH {
            for (plot, unit) in [(bars(vec![row("a", 1.0)]), "µs"), (curves(), "ns")] {
                let texts = texts(&svg(&plot, "title", display));
                assert!(texts.iter().any(|text| text.3.ends_with(unit)), "{unit}: {texts:?}");
            }
        }
    }

    /// A page of 390 pixels leaves 354 to a picture, one of 35 rem (the least for the wide one) 525.
    #[test]
    fn text_stays_readable_on_a_phone() {
        for (display, room) in [(Display::Narrow, 354.0), (Display::Wide, 525.0)] {
            for (_, _, size, text) in texts(&svg(&curves(), "title", display)) {
                let shown = size * room / f64::from(display.width());
                assert!(shown >= 11.0, "{text}: {shown} pixels");
            }
        }
    }

    #[test]
    fn curves_take_the_colours_of_the_page() {
        let picture = svg(&curves(), "latency", Display::Wide);
        assert!(picture.contains("currentColor") && picture.contains("var(--host, #1f6fb2)"));
        assert!(picture.contains("viewBox=\"0 0 600 ") && !picture.contains("#000000"));
        assert!(
            picture.contains("host, measured") && picture.contains("load of the other side, %")
        );
    }

    #[test]
    fn every_bar_has_its_name_once() {
        let paper = Some(Paper::range(80.0, 100.0, ""));
        for count in 1..=9 {
            let rows = (1..=count).map(|number| {
                row(format!("bar {number}"), 100.0 * f64::from(number)).beside(paper)
            });
            let picture = svg(&bars(rows.collect()), "bars", Display::Wide);
            for number in 1..=count {
                let name = format!("bar {number}");
                let found = texts(&picture).iter().filter(|text| text.3 == name).count();
                assert_eq!(found, 1, "{name} of {count}");
            }
        }
    }

    #[test]
    fn a_goal_is_drawn_as_no_value_of_a_paper_is() {
        let goal = Goal { at_least: 4.2, because: "" };
        let picture = svg(&bars(vec![row("a", 4.0).with_goal(goal)]), "bars", Display::Wide);
        assert!(picture.contains("our goal") && picture.contains("var(--goal, #7a3e9d)"));
        assert!(!picture.contains("paper"), "{picture}");
        let paper = Some(Paper::number(4.2, ""));
        let picture = svg(&bars(vec![row("a", 4.0).beside(paper)]), "bars", Display::Wide);
        assert!(picture.contains("var(--paper, #777)") && !picture.contains("goal"));
    }

    /// A number behind the mark of a goal would be taken for the goal.
    #[test]
    fn a_value_stands_beside_its_bar_and_not_behind_a_goal() {
        let goal = Goal { at_least: 42.0, because: "" };
        let picture = svg(&bars(vec![row("a", 20.0).with_goal(goal)]), "bars", Display::Wide);
        let begin = texts(&picture).into_iter().find(|text| text.3 == "22.0").expect("a median").0;
        // 22.0 is the median of 20 and 24; the axis goes to 44.1.
        assert!(begin < 600.0 * 0.7, "{begin}");
    }

    /// A bar's length would mean nothing there.
    #[test]
    fn a_logarithmic_axis_has_marks_and_no_bars() {
        let circles = |values: [f64; 2]| {
            let rows = values.map(|value| row("host", value)).to_vec();
            svg(&bars(rows), "bars", Display::Wide).matches("<circle").count()
        };
        // One more is in the legend.
        assert_eq!((circles([88.0, 12_788.0]), circles([88.0, 804.0])), (3, 0));
    }
}
