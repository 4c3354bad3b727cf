//! The page: one HTML file with its style and its pictures in it.

use std::fmt::{self, Display, Write};

use crate::bench::{HEADS, Measurement};
use crate::experiments::{Clock, Experiment, Findings, Seeds, Verdict, svg};

const STYLE: &str = include_str!("style.css");

/// Everything that is on the page.
pub struct Page<'a> {
    /// The experiments with what came of them, or why they were not measured, in order.
    pub experiments: Vec<(&'a Experiment, Result<Findings, String>)>,
    /// What the benches measured, if they ran.
    pub benches: Vec<Measurement>,
    /// Why other benches could not run.
    pub benches_not_measured: Vec<String>,
    /// Of all draws.
    pub seeds: Seeds,
    /// Names and values: the machine and the versions.
    pub made_with: Vec<(&'static str, String)>,
}

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
             is said not to.</p>\n<nav><ul>\n"
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
            section(&mut html, experiment, findings);
        }
        self.benches(&mut html);
        put!(html, "</main>\n<footer>\n<h3>Made with</h3>\n");
        let seeds = ("seeds", self.seeds.text(Clock::Virtual));
        definitions(&mut html, self.made_with.iter().chain([&seeds]));
        put!(
            html,
            "<p>Experiments run in virtual time: the same seeds and versions give the same values \
             on every machine, unless an experiment says that it is measured by the clock on the \
             wall.{}</p>\n</footer>\n</body>\n</html>\n",
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

fn section(html: &mut String, experiment: &Experiment, findings: &Result<Findings, String>) {
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
    put!(html, "<figure>{}</figure>\n", svg(&findings.plot, experiment.title));
    put!(html, "<h3>What the paper says, and what comes out</h3>\n<ul class=\"claims\">\n");
    for claim in &findings.claims {
        let comes_out = claim.verdict() == Verdict::ComesOut;
        let class = if comes_out { " class=\"out\"" } else { "" };
        let verdict = claim.words();
        let (says, because) = (Escaped(&claim.says), Escaped(&claim.because));
        put!(html, "<li{class}><strong>{verdict}</strong>{says} {because}</li>\n");
    }
    put!(html, "</ul>\n");
    put!(html, "<p>{}</p>\n", findings.count());
    findings
        .fit()
        .iter()
        .chain(&findings.notes)
        .for_each(|note| put!(html, "<p>{}</p>\n", Escaped(note)));
    put!(html, "<details><summary>Parameters</summary>\n");
    definitions(html, findings.parameters.iter());
    put!(html, "</details>\n<details open><summary>All values</summary>\n");
    table(html, findings);
    put!(html, "</details>\n</section>\n");
}

fn table(html: &mut String, findings: &Findings) {
    put!(
        html,
        "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>paper</th><th>median</th>\
         <th>min–max</th><th></th><th>ratio</th><th></th></tr></thead>\n<tbody>\n"
    );
    for row in &findings.rows {
        let paper = row.paper.map_or("–".into(), |paper| {
            format!("<abbr title=\"{}\">{}</abbr>", Escaped(paper.place), paper.text())
        });
        let ratio = row.ratio().map_or("–".into(), |ratio| format!("{ratio:.2}"));
        put!(
            html,
            "<tr><td>{}</td><td>{paper}</td><td>{:.1}</td><td>{}</td><td class=\"word\">{}</td>\
             <td>{ratio}</td><td class=\"word\">{}</td></tr>\n",
            Escaped(&row.label),
            row.measured.median,
            row.measured.range(1).unwrap_or_default(),
            row.unit,
            row.mark()
        );
    }
    put!(html, "</tbody></table></div>\n");
}

fn definitions<'a>(html: &mut String, entries: impl Iterator<Item = &'a (&'static str, String)>) {
    put!(html, "<dl>\n");
    entries.for_each(|(name, value)| put!(html, "<dt>{name}</dt><dd>{}</dd>\n", Escaped(value)));
    put!(html, "</dl>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::ALL;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(Escaped("\"<a & b>\"").to_string(), "&quot;&lt;a &amp; b&gt;&quot;");
    }

    fn empty(made_with: Vec<(&'static str, String)>) -> Page<'static> {
        Page {
            experiments: Vec::new(),
            benches: Vec::new(),
            benches_not_measured: Vec::new(),
            seeds: Seeds { seed: 7, seeds: 5 },
            made_with,
        }
    }

    #[test]
    fn what_could_not_be_measured_is_shown_with_why() {
        let experiment = ALL.iter().find(|experiment| experiment.name == "ccslt-fig6");
        let experiment = experiment.expect("there");
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
