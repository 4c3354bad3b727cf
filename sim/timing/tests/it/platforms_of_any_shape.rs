// SPDX-License-Identifier: MIT OR Apache-2.0
//! Platforms that are no host with a device: readers of their own, with the same rules.

use serde::{Deserialize, Serialize};
use timing::Time;
use timing::platform::{
    Bandwidth, Class, Count, End, Entry, Kind, Platform, PlatformError, PlatformFile, Rate, Ratio,
    Side, entries_read,
};

const STAR: &str = include_str!("star.toml");

/// What the models of a star need: sections as types, and single entries by name.
#[derive(Debug, Serialize)]
struct Star {
    core: Core,
    card: Card,
    link: Link,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Core {
    clock: Entry<Rate>,
    count: Entry<Count>,
    message: Entry<Time>,
    slowed: Entry<Ratio>,
}

#[derive(Debug, Serialize)]
struct Card {
    side: Side,
    verbs: Verbs,
}

#[derive(Debug, Serialize)]
struct Verbs {
    read: Entry<Rate>,
}

#[derive(Debug, Serialize)]
struct Link {
    rate: Entry<Bandwidth>,
    latency: Entry<Time>,
}

fn read(mut file: PlatformFile) -> Result<Star, PlatformError> {
    let _: String = file.word("name")?;
    let star = Star {
        core: file.section("core")?,
        card: Card {
            side: file.word("card.side")?,
            verbs: Verbs { read: file.entry("card.verbs.read")? },
        },
        link: Link { rate: file.entry("link.rate")?, latency: file.entry("link.latency")? },
    };
    file.expect_all_read()?;
    Ok(star)
}

fn star() -> PlatformFile {
    PlatformFile::parse("star.toml", STAR).expect("TOML")
}

/// The message for the star with one text replaced.
fn message_with(original: &str, replacement: &str) -> String {
    assert_eq!(STAR.matches(original).count(), 1, "{original:?} must occur once");
    let file = PlatformFile::parse("star.toml", STAR.replace(original, replacement));
    file.and_then(read).expect_err(replacement).to_string()
}

#[test]
fn quantities_come_with_their_types() {
    let star = read(star()).expect("valid");
    assert_eq!(star.core.clock.get().time_for(22), Time::from_ns(10));
    assert_eq!(star.core.count.get(), Count(24));
    assert_eq!(star.core.slowed.get().of(star.core.message.get()), Time::from_ps(5_625));
    assert_eq!(star.card.side, Side::Host);
    assert_eq!(star.card.verbs.read.get().per_second(), 26_300_000);
    assert_eq!(star.link.rate.get().time_for(1250), Time::from_ns(100));
    assert_eq!(star.link.latency.get(), Time::from_ns(600));
    assert_eq!(star.core.clock.kind(), Kind::Datasheet);
}

#[test]
fn entries_that_were_read_are_known_by_their_names() {
    let star = read(star()).expect("valid");
    assert!(entries_read(&star, Kind::Paper).is_empty());
    star.card.verbs.read.get();
    let read: Vec<String> = entries_read(&star, Kind::Paper).into_iter().collect();
    assert_eq!(read, ["card.verbs.read"], "core.count was not");
}

#[test]
fn a_wrong_unit_names_line_and_expectation() {
    let text = message_with("unit = \"M/s\"", "unit = \"GB/s\"");
    let line = 1 + STAR.lines().position(|line| line.starts_with("read =")).expect("there");
    for part in [
        "star.toml: ",
        &format!("line {line}"),
        "read = {",
        "value 26.3 GB/s found, expected a rate above 0, unit 1/s, k/s, M/s, G/s, MHz or GHz",
    ] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(
        message_with("latency = {", "delay = {"),
        "star.toml: link.latency is missing, expected a latency of 0 or more in whole picoseconds, \
         unit ps, ns or us"
    );
    assert_eq!(
        message_with("[core]", "[cores]"),
        "star.toml: core is missing, expected a section of that name"
    );
    let text = message_with("message = {", "massage = {");
    assert!(text.contains("unknown field `massage`"), "{text}");
}

#[test]
fn what_nobody_reads_is_named() {
    let line = |start: &str| 1 + STAR.lines().position(|line| line.starts_with(start)).unwrap();
    assert_eq!(
        message_with("[card.verbs]", "[card.verbs]\nwrite = 1"),
        format!(
            "star.toml: line {}: unknown field `card.verbs.write`, expected one of `read`",
            line("read =")
        )
    );
    assert_eq!(
        message_with("[card]\n", "[card]\nports = 2\n"),
        format!(
            "star.toml: line {}: unknown field `card.ports`, expected one of `side`, `verbs`",
            line("side =")
        )
    );
    let switch = "[switch]\nports = 32\n\n[link]\n";
    assert_eq!(
        message_with("[link]\n", switch),
        format!(
            "star.toml: line {}: unknown field `switch`, expected one of \
             `name`, `core`, `card`, `link`",
            line("[link]")
        )
    );
}

#[test]
fn one_kind_is_multiplied_and_the_others_left() {
    let half = read(star().times(Kind::Fitted, 0.5)).expect("valid");
    assert_eq!(half.link.latency.get(), Time::from_ns(300));
    assert_eq!(half.core.message.get(), Time::from_ns(45));
    let count = read(star().times(Kind::Paper, 0.01)).expect("valid").core.count;
    assert_eq!(count.get(), Count(1), "a count stays one at least");
}

#[test]
fn an_assumption_is_taken_to_the_ends_of_its_interval() {
    assert_eq!(star().intervals(), ["core.message"]);
    let message = |file: PlatformFile| read(file).expect("valid").core.message;
    let plain = message(star());
    assert_eq!(plain.class(), Some(Class::E));
    assert_eq!(plain.interval(), Some((Time::from_ns(30), Time::from_ps(60_500))));
    let at = |end| message(star().at_end("core.message", end).expect("has an interval")).get();
    assert_eq!((at(End::Least), at(End::Greatest)), (Time::from_ns(30), Time::from_ps(60_500)));
    let half = message(star().times(Kind::Assumption, 0.5));
    assert_eq!(half.get(), Time::from_ps(22_500));
    assert_eq!(half.interval(), Some((Time::from_ns(15), Time::from_ps(30_250))));
    let error = star().at_end("core.clock", End::Least).expect_err("it has none").to_string();
    assert_eq!(error, "star.toml: core.clock is missing, expected an entry with an interval");
}

#[test]
fn an_impossible_class_or_interval_is_told() {
    let line = |start: &str| 1 + STAR.lines().position(|line| line.starts_with(start)).unwrap();
    for (original, replacement, expected) in [
        (
            "interval = [30, 60.5]",
            "interval = [50, 60]",
            "interval [50, 60] found, expected one that contains the value 45",
        ),
        (
            "interval = [30, 60.5]",
            "interval = [60.5, 30]",
            "interval [60.5, 30] found, expected one that contains the value 45",
        ),
        (
            "interval = [30, 60.5]",
            "interval = [30, nan]",
            "interval [30, NaN] found, expected one that contains the value 45",
        ),
        (
            "interval = [30, 60.5]",
            "interval = [-1, 60]",
            "the interval's least value -1 ns found, expected a latency",
        ),
        (", interval = [30, 60.5]", "", "interval is missing, expected the least and the greatest"),
        ("class = \"E\", ", "", "interval found with no class, expected one with class E only"),
        ("class = \"E\"", "class = \"B\"", "class B found with kind assumption, expected E"),
        ("class = \"E\"", "class = \"F\"", "unknown variant `F`, expected one of `A`, `B`, `C`"),
    ] {
        let text = message_with(original, replacement);
        let line = format!("star.toml: TOML parse error at line {}", line("message ="));
        for part in [expected, &line, "message = {"] {
            assert!(text.contains(part), "{part:?} is missing in: {text}");
        }
    }
}

#[test]
fn an_entry_without_a_class_is_told_where_each_must_have_one() {
    let line = 1 + STAR.lines().position(|line| line.starts_with("clock =")).unwrap();
    assert_eq!(
        star().expect_classes().expect_err("most have none").to_string(),
        format!("star.toml: line {line}: core.clock has no class, expected one of A, B, C, D, E")
    );
    PlatformFile::named("liquidio3").expect("there").expect_classes().expect("each has one");
}

#[test]
fn another_shape_is_no_host_with_a_device() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/star.toml");
    let text = Platform::load(path).expect_err("no such shape").to_string();
    assert!(text.contains("star.toml") && text.contains("unknown field `latency`"), "{text}");
}
