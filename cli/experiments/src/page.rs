// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page: one HTML file with its style and its pictures in it.

use std::fmt::{self, Display, Write};

use crate::experiment::{Clock, Experiment};
use crate::findings::{Findings, Origin, Paper, Verdict};
use crate::picture_name;
use crate::plot::{Display as Screen, svg};
use crate::seeds::Seeds;
use bench::{HEADS, Measurement};

const STYLE: &str = include_str!("style.css");

/// Everything that is on the page.
pub struct Page<'a> {
    /// The experiments with their outcomes, or why they were not measured, in order.
    pub experiments: Vec<(&'a Experiment, Result<Findings, String>)>,
    /// The measurements of the benchmarks, if they ran.
    pub benches: Vec<Measurement>,
    /// Why other benches could not run.
    pub benches_not_measured: Vec<String>,
    /// Of all draws.
    pub seeds: Seeds,
    /// The command that recreates the page.
    pub command: String,
    /// The state of the sources.
    pub commit: String,
    /// When it was made.
    pub date: String,
    /// Names and values: versions and machine.
    pub made_with: Vec<(&'static str, String)>,
}

/// The basis of the verdicts.
const AGREES: &str = "A measured value agrees with the paper's when it is within a quarter of that value \
                      or range; the paper does not say how exact it is. A value of the paper and a goal \
                      of this project are two kinds, named and drawn differently.";

/// Text between tags or in a quoted attribute.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            _ => f.write_char(letter),
        })
    }
}

/// As [`write!`] into the page, which does not fail.
macro_rules! put {
    ($html:expr, $($text:tt)*) => {
        write!($html, $($text)*).expect("writing into a string does not fail")
    };
}

impl Page<'_> {
    /// The whole file.
    pub fn html(&self) -> String {
        let mut html = String::new();
        put!(
            html,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Lockstep: figures</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>Figures, measured again</h1>\n\
             <p class=\"lead\">Figures of the papers beside what comes out of Lockstep: the real \
             lock unit as RTL, the host's lock as software, and a timed model of the coherent \
             memory between them; PostgreSQL's own locks beside them. No measured value comes from a paper; what does not come out \
             is said not to.</p>\n"
        );
        put!(
            html,
            "<p class=\"source\">Made on {} from commit <code>{}</code> by <code>{}</code>.</p>\n\
             <nav><ul>\n",
            Escaped(&self.date),
            Escaped(&self.commit),
            Escaped(&self.command)
        );
        for (experiment, _) in &self.experiments {
            let (name, title) = (experiment.name, Escaped(experiment.title));
            put!(html, "<li><a href=\"#{name}\">{title}</a></li>\n");
        }
        if !self.benches.is_empty() {
            put!(html, "<li><a href=\"#benches\">Benches</a></li>\n");
        }
        put!(html, "</ul></nav>\n</header>\n<main>\n");
        for (experiment, findings) in &self.experiments {
            section(&mut html, experiment, findings, self.seeds);
        }
        self.benches(&mut html);
        put!(html, "</main>\n<footer>\n<h3>Made with</h3>\n");
        let seeds = ("seeds", self.seeds.text(Clock::Virtual));
        definitions(&mut html, self.made_with.iter().chain([&seeds]));
        put!(
            html,
            "<p>{}</p>\n<p>Experiments run in virtual time: the same seeds and versions give the same values \
             on every machine, unless an experiment says that it is measured by the clock on the \
             wall.{}</p>\n</footer>\n</body>\n</html>\n",
            AGREES,
            if self.benches.is_empty() { "" } else { " Benches depend on the machine." }
        );
        html
    }

    fn benches(&self, html: &mut String) {
        if self.benches.is_empty() {
            return;
        }
        put!(
            html,
            "<section id=\"benches\">\n<h2>Benches</h2>\n\
             <p class=\"source\">Each figure beside its floor, the bare minimum that the same run \
             measured.</p>\n<div class=\"scroll\"><table>\n<thead><tr>"
        );
        for head in HEADS {
            let class = if matches!(head, "unit" | "goal") { " class=\"word\"" } else { "" };
            put!(html, "<th{class}>{head}</th>");
        }
        put!(html, "</tr></thead>\n<tbody>\n");
        for measurement in &self.benches {
            put!(html, "<tr>");
            for (head, cell) in HEADS.iter().zip(measurement.cells()) {
                let class = match (*head, cell.as_str()) {
                    ("met", "yes") => " class=\"yes\"",
                    ("met", "no") => " class=\"no\"",
                    ("unit" | "goal", _) => " class=\"word\"",
                    _ => "",
                };
                put!(html, "<td{class}>{}</td>", Escaped(&cell));
            }
            put!(html, "</tr>\n");
        }
        put!(html, "</tbody></table></div>\n");
        let not_measured = self.benches_not_measured.iter();
        not_measured.for_each(|why| put!(html, "<p>{}</p>\n", Escaped(why)));
        put!(html, "</section>\n");
    }
}

fn section(
    html: &mut String,
    experiment: &Experiment,
    findings: &Result<Findings, String>,
    seeds: Seeds,
) {
    let (title, source) = (Escaped(experiment.title), Escaped(experiment.source));
    let clock = match experiment.clock {
        Clock::Virtual => "",
        Clock::Wall => " · measured by the clock on the wall of this machine",
    };
    put!(html, "<section id=\"{}\">\n<h2>{title}</h2>\n", experiment.name);
    put!(html, "<p class=\"source\"><code>{}</code> · {source}{clock}</p>\n", experiment.name);
    let findings = match findings {
        Ok(findings) => findings,
        Err(why) => {
            put!(html, "<p><strong>Not measured.</strong> {}</p>\n</section>\n", Escaped(why));
            return;
        }
    };
    figures(html, experiment, findings);
    claims(html, findings);
    put!(html, "<p>{}</p>\n", findings.count());
    findings
        .fit()
        .iter()
        .chain(&findings.notes)
        .for_each(|note| put!(html, "<p>{}</p>\n", Escaped(note)));
    put!(html, "<details><summary>Parameters</summary>\n");
    let made = [
        ("seeds", seeds.text(experiment.clock)),
        ("command", experiment.command(seeds, findings)),
        ("files", files(experiment, findings)),
    ];
    let platform = findings.platform_entry();
    definitions(html, findings.parameters.iter().chain(&platform).chain(&made));
    put!(html, "</details>\n<details open><summary>All values</summary>\n");
    table(html, findings);
    put!(html, "</details>\n</section>\n");
}

/// The files beside the page that hold the same values.
fn files(experiment: &Experiment, findings: &Findings) -> String {
    let name = experiment.name;
    let values = [format!("{name}.json"), format!("{name}.csv")];
    let pictures = (0..findings.plots.len()).map(|index| picture_name(experiment, index));
    values.into_iter().chain(pictures).collect::<Vec<_>>().join(", ")
}

/// Each picture twice: of its two sizes the page shows the one that fits.
fn figures(html: &mut String, experiment: &Experiment, findings: &Findings) {
    for plot in &findings.plots {
        put!(html, "<figure>\n");
        for (class, screen) in [("wide", Screen::Wide), ("narrow", Screen::Narrow)] {
            let picture = svg(plot, experiment.title, screen);
            put!(html, "<div class=\"{class}\">{picture}</div>\n");
        }
        put!(html, "</figure>\n");
    }
    if let Some(row) = findings.rows.first().filter(|row| row.measured.seeds > 1) {
        let seeds = row.measured.seeds;
        put!(
            html,
            "<p class=\"source\">Median of {seeds} seeds; lines with ends, where they can be seen, go \
             from the least to the most.</p>\n"
        );
    }
}

/// The paper's sentences, our goals and our own questions, each under a heading of its own.
fn claims(html: &mut String, findings: &Findings) {
    for origin in Origin::ALL {
        let mut claims = findings.claims.iter().filter(|claim| claim.origin == origin).peekable();
        if claims.peek().is_none() {
            continue;
        }
        let (heading, name) = (origin.heading(), origin.name());
        put!(html, "<h3>{heading}</h3>\n<ul class=\"claims {name}\">\n");
        for claim in claims {
            let comes_out = claim.verdict() == Verdict::ComesOut;
            let class = if comes_out { " class=\"out\"" } else { "" };
            let verdict = claim.words();
            let (says, because) = (Escaped(&claim.says), Escaped(&claim.because));
            put!(html, "<li{class}><strong>{verdict}</strong>{says} {because}</li>\n");
        }
        put!(html, "</ul>\n");
    }
}

fn table(html: &mut String, findings: &Findings) {
    put!(
        html,
        "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>paper, goal</th><th>median</th>\
         <th>min–max</th><th></th><th>ratio</th><th class=\"word\">within tolerance</th><th></th>\
         <th class=\"word\">behind it</th></tr></thead>\n\
         <tbody>\n"
    );
    for row in &findings.rows {
        let [median, range] = row.measured_texts();
        let place = match (row.paper, row.goal) {
            (Some(paper), _) => Some(("paper", paper_place(paper))),
            (None, goal) => goal.map(|goal| ("goal", goal.because.into())),
        };
        let reference = place.map_or("–".into(), |(class, place)| {
            let place = Escaped(&place);
            format!("<abbr class=\"{class}\" title=\"{place}\">{}</abbr>", row.reference())
        });
        put!(
            html,
            "<tr><td>{}</td><td>{reference}</td><td>{median}</td><td>{range}</td><td class=\"word\">{}</td>\
             <td>{}</td><td class=\"word\">{}</td><td class=\"word\">{}</td>\
             <td class=\"word\">{}</td></tr>\n",
            Escaped(&row.label),
            row.unit,
            row.ratio_text(),
            row.within_tolerance(),
            row.mark(),
            row.sampled()
        );
    }
    put!(html, "</tbody></table></div>\n");
}

/// Where the value stands, and how near one has to come to it if that is not the usual.
fn paper_place(paper: Paper) -> String {
    let tolerance = paper.unusual_tolerance();
    [paper.place.into()].into_iter().chain(tolerance).collect::<Vec<_>>().join("; ")
}

fn definitions<'a>(html: &mut String, entries: impl Iterator<Item = &'a (&'static str, String)>) {
    put!(html, "<dl>\n");
    entries.for_each(|(name, value)| put!(html, "<dt>{name}</dt><dd>{}</dd>\n", Escaped(value)));
    put!(html, "</dl>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Claim, Goal, Observation, Plot, Row};

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(Escaped("\"<a & b>\"").to_string(), "&quot;&lt;a &amp; b&gt;&quot;");
    }

    fn empty(made_with: Vec<(&'static str, String)>) -> Page<'static> {
        Page {
            experiments: Vec::new(),
            benches: Vec::new(),
            benches_not_measured: Vec::new(),
            seeds: Seeds { first: 7, count: 5 },
            command: "lockstep figures --seed 7 --seeds 5".into(),
            commit: "0123abc, with changes".into(),
            date: "2026-11-22 18:05 UTC".into(),
            made_with,
        }
    }

    fn named(name: &str) -> &'static Experiment {
        crate::registry::named(name).expect("there")
    }

    /// A page with an experiment of one row and one claim.
    fn with_one(row: Row, claim: Claim) -> String {
        let plots = vec![Plot::Bars { along: "time, ns", rows: vec![row.clone()] }];
        let (rows, claims) = (vec![row], vec![claim]);
        let platforms = vec!["my-board.toml".into()];
        let findings = Findings { platforms, rows, claims, plots, ..Findings::default() };
        let mut page = empty(Vec::new());
        page.experiments.push((named("ccslt-fig5"), Ok(findings)));
        page.html()
    }

    fn row() -> Row {
        let observation = |seed| Observation { seed, value: 88.0, operations: 4_000 };
        Row::new("read", ("ns", "reads"), [7, 8].map(observation).into(), Default::default())
    }

    fn claim(origin: Origin) -> Claim {
        Claim::by_the_clock(origin, "Quick.", true, "It is.".into())
    }

    #[test]
    fn the_page_says_what_made_it_from_what_and_when() {
        let html = empty(Vec::new()).html();
        assert!(html.contains(
            "Made on 2026-11-22 18:05 UTC from commit <code>0123abc, with changes</code> by \
             <code>lockstep figures --seed 7 --seeds 5</code>."
        ));
    }

    #[test]
    fn an_experiment_says_its_command_platform_files_and_samples() {
        let html = with_one(row(), claim(Origin::Paper));
        let command = "lockstep experiment ccslt-fig5 --seed 7 --seeds 5 --platform my-board.toml";
        assert!(html.contains(&format!("<dt>command</dt><dd>{command}</dd>")), "{html}");
        assert!(html.contains("<dt>platform</dt><dd>my-board.toml</dd>"));
        assert!(html.contains("<dd>ccslt-fig5.json, ccslt-fig5.csv, ccslt-fig5.svg</dd>"));
        assert!(html.contains("2 seeds, 8,000 reads"), "{html}");
    }

    #[test]
    fn goals_stand_under_a_heading_of_their_own() {
        let goal = Goal { at_least: 4.2, because: "wanted" };
        let html = with_one(row().with_goal(goal), claim(Origin::Goal));
        assert!(
            html.contains("<h3>Goals of this project") && !html.contains("What the paper says")
        );
        assert!(html.contains("<strong>Reached</strong>Quick."));
        assert!(html.contains("<abbr class=\"goal\" title=\"wanted\">goal ≥ 4.2</abbr>"), "{html}");
        let paper = Paper::range(80.0, 100.0, "section 4");
        let html = with_one(row().beside(Some(paper)), claim(Origin::Paper));
        assert!(html.contains("<h3>What the paper says") && !html.contains("<h3>Goals"));
        assert!(html.contains("<abbr class=\"paper\" title=\"section 4\">paper 80–100</abbr>"));
        assert!(html.contains("<td>0.88–1.10</td><td class=\"word\">yes</td>"), "{html}");
        let html = with_one(row().beside(Some(paper.within(0.1))), claim(Origin::Paper));
        assert!(html.contains("title=\"section 4; to be met within 10 %\">"), "{html}");
    }

    #[test]
    fn a_phone_gets_a_picture_of_its_own() {
        let html = with_one(row(), claim(Origin::Paper));
        assert!(html.contains("<div class=\"wide\"><svg") && html.contains("viewBox=\"0 0 600 "));
        assert!(html.contains("<div class=\"narrow\"><svg") && html.contains("viewBox=\"0 0 340 "));
        assert!(STYLE.contains(".wide { display: none; } .narrow { display: block; }"));
    }

    #[test]
    fn what_could_not_be_measured_is_shown_with_why() {
        let experiment = named("ccslt-fig6");
        let why = "ccslt-fig6: not measured: missing: the <server>";
        let mut page = empty(Vec::new());
        page.experiments.push((experiment, Err(why.into())));
        let html = page.html();
        assert!(html.contains("<li><a href=\"#ccslt-fig6\">"), "{html}");
        assert!(html.contains("<strong>Not measured.</strong> ccslt-fig6: not measured: missing"));
        assert!(html.contains("the &lt;server&gt;</p>\n</section>") && !html.contains("<svg"));
    }

    #[test]
    fn a_page_without_results_is_whole_and_needs_no_other_file() {
        let made_with = vec![("system", "a <test>".into())];
        let page = empty(made_with);
        let html = page.html();
        assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains("a &lt;test&gt;") && html.contains("<dt>seeds</dt><dd>7 to 11</dd>"));
        assert!(!html.contains("src=") && !html.contains("http"));
    }
}
