// SPDX-License-Identifier: MIT OR Apache-2.0
use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::Time;

const CCIX: &str = include_str!("../../../platforms/n1sdp-u280-ccix.toml");

/// The message for the CCIX platform with one text replaced.
fn message_with(original: &str, replacement: &str) -> String {
    assert_eq!(CCIX.matches(original).count(), 1, "{original:?} must occur once");
    let text = CCIX.replace(original, replacement);
    PlatformFile::parse("test.toml", text)
        .and_then(Platform::read_from)
        .expect_err(replacement)
        .to_string()
}

#[test]
fn the_platforms_of_the_program_are_valid() {
    for name in Platform::NAMES {
        assert_eq!(Platform::named(name).expect(name).name, name);
    }
}

/// A platform of another shape has other sections, and is none of them.
#[test]
fn every_file_of_a_host_with_a_device_is_listed() {
    let is_platform = |name: &&str| {
        let mut file = PlatformFile::named(name).expect("listed");
        assert_eq!(file.word::<String>("name").expect(name), *name, "the file's name");
        Platform::named(name).is_ok()
    };
    let found: BTreeSet<_> = PlatformFile::NAMES.into_iter().filter(is_platform).collect();
    assert_eq!(found, BTreeSet::from(Platform::NAMES));
}

#[test]
fn units_are_converted() {
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let coherence = platform.coherence.expect("coherent");
    assert_eq!(coherence.host.cache.lookup.get(), Time::from_ps(4_200));
    assert_eq!(coherence.host.cache.size.get(), Bytes(1 << 20));
    assert_eq!(platform.link.bandwidth.value.bytes_per_second(), 15_750_000_000);
    // 84 bytes at 15.75 GB/s.
    assert_eq!(platform.link.bandwidth.value.time_for(84), Time::from_ps(5_334));
}

#[test]
fn errors_name_file_line_value_and_expectation() {
    let text = message_with("value = 4.2, unit = \"ns\"", "value = 4.2, unit = \"furlong\"");
    let line = 1 + CCIX.lines().position(|line| line.contains("value = 4.2")).expect("there");
    for part in [
        "test.toml",
        &format!("line {line}"),
        "lookup =",
        "value 4.2 furlong found, expected a latency",
    ] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    let negative = message_with("value = 4.2,", "value = -1,");
    assert!(negative.contains("value -1 ns found, expected a latency"), "{negative}");
}

#[test]
fn unknown_and_missing_keys_are_errors() {
    let unknown = message_with("home = \"host\"", "home = \"host\"\nhoem = 1");
    assert!(unknown.contains("unknown field `hoem`"), "{unknown}");
    let missing = message_with("home = \"host\"", "");
    assert!(missing.contains("missing field `home`"), "{missing}");
    let place = message_with("home = \"host\"", "home = \"moon\"");
    assert!(place.contains("`moon`") && place.contains("`device`"), "{place}");
}

#[test]
fn unknown_and_missing_sections_are_errors() {
    let line = 1 + CCIX.lines().position(|line| line == "[host_store]").expect("there");
    assert_eq!(
        message_with("\n[host_store]\n", "\n[hots_store]\n"),
        format!(
            "test.toml: line {line}: unknown field `hots_store`, expected one of \
             `name`, `link`, `coherence`, `dma`, `near_data`, `host_store`"
        )
    );
    let link = message_with("\n[link]\n", "\n[near_data.storage.link]\n");
    assert_eq!(link, "test.toml: link is missing, expected a section of that name");
}

#[test]
fn a_multiplied_file_keeps_its_lines() {
    let file = PlatformFile::named("n1sdp-u280-ccix").unwrap().times(Kind::Fitted, -1.0);
    assert_eq!(file.text().lines().count(), CCIX.lines().count());
    let text = Platform::read_from(file).expect_err("below zero").to_string();
    let line = 1 + CCIX.lines().position(|line| line.starts_with("latency_to_device")).unwrap();
    for part in [&format!("line {line}"), "value -268 ns found, expected a latency"] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn impossible_machines_are_errors() {
    let sets = message_with("size = { value = 1,", "size = { value = 3,");
    assert_eq!(
        sets,
        "test.toml: coherence.host.cache.size = 3145728 B in 8 ways, \
         expected 64 B times ways times a power of two"
    );
    let agents = message_with("agents = { value = 4,", "agents = { value = 0,");
    assert_eq!(agents, "test.toml: coherence.host.agents = 0, expected at least 1");
    let clock = message_with("unit_clock = { value = 4,", "unit_clock = { value = 0,");
    assert_eq!(clock, "test.toml: coherence.unit_clock = 0 ps, expected a period above 0");
    let chains = message_with("chains = { value = 128,", "chains = { value = 0,");
    assert_eq!(chains, "test.toml: near_data.element.chains = 0, expected at least 1");
}

#[test]
fn an_unknown_name_lists_the_known() {
    let text = Platform::named("x86").expect_err("unknown").to_string();
    let known = PlatformFile::NAMES.join(", ");
    assert_eq!(text, format!("unknown platform \"x86\", expected one of {known}"));
    assert!(known.contains("liquidio3, n1sdp-u280-ccix, off-path, pcie-gen3"), "{known}");
}

/// Each entry of a kind below `table`, with its source and value.
fn sources(table: &toml::Table, kind: Kind) -> Vec<(&str, &str, f64)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let Some(entry) = value.as_table() else { continue };
        match entry.get("kind").map(|found| found.as_str() == Some(kind.name())) {
            None => found.extend(sources(entry, kind)),
            Some(false) => {}
            Some(true) => {
                let value = &entry["value"];
                let value = value.as_float().or(value.as_integer().map(|value| value as f64));
                let source = entry["source"].as_str().expect("a source is text");
                found.push((name.as_str(), source, value.expect("a value is a number")));
            }
        }
    }
    found
}

/// Entries of our own RTL are parameters of it: each names file and parameter, and has its value.
#[test]
fn entries_of_the_own_rtl_are_what_the_rtl_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    for name in PlatformFile::NAMES {
        let file = PlatformFile::named(name).unwrap();
        let table: toml::Table = toml::from_str(file.text()).unwrap();
        for (entry, source, value) in sources(&table, Kind::OwnRtl) {
            found += 1;
            if let Some((file, rest)) = source.split_once(": ports ") {
                let text = std::fs::read_to_string(folder.join(file)).expect(file);
                let ports: Vec<&str> = rest.split(';').next().unwrap().split(" and ").collect();
                let has = |port: &str| text.contains(&format!("{port}_arvalid"));
                let last = ports.last().unwrap().trim_end_matches(char::is_numeric);
                assert!(ports.iter().all(|port| has(port)), "{entry}: {ports:?} in {file}");
                assert!(!has(&format!("{last}{}", ports.len())), "{entry}: more in {file}");
                assert_eq!(value, ports.len() as f64, "{entry}");
                continue;
            }
            let (file, rest) = source.split_once(": parameter ").expect(entry);
            let (parameter, rest) = rest.split_once(" = ").expect(entry);
            let text = std::fs::read_to_string(folder.join(file)).expect(file);
            let digits =
                |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
            let said = digits(rest);
            let set = text.lines().find_map(|line| {
                let (before, after) = line.split_once('=')?;
                let of_it = before.split_whitespace().next_back() == Some(parameter);
                (line.contains("parameter") && of_it).then(|| digits(after.trim()))
            });
            assert_eq!(set.as_ref(), Some(&said), "{entry}: {parameter} in {file}");
            let number: u32 = said.parse().expect(entry);
            let expected = if parameter.starts_with("Log") { 1 << number } else { number };
            assert_eq!(value, f64::from(expected), "{entry}");
        }
    }
    assert!(found >= 4, "{found} entries of the own RTL");
}

#[test]
fn a_platform_knows_which_entries_were_read() {
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    assert_eq!(platform.read(Kind::Fitted), BTreeSet::new(), "by its own checks neither");
    let link = platform.link.clone();
    assert_eq!(link.latency_to_host.get(), Time::from_ns(268));
    link.bandwidth.get();
    let read = |kind| platform.read(kind).into_iter().collect::<Vec<_>>();
    assert_eq!(read(Kind::Fitted), ["link.latency_to_host"]);
    assert_eq!(read(Kind::Datasheet), ["link.bandwidth"]);
    assert!(Platform::named("n1sdp-u280-ccix").unwrap().read(Kind::Fitted).is_empty());
}

#[test]
fn fitted_entries_are_multiplied_and_others_left() {
    let [plain, half] = [1.0, 0.5]
        .map(|factor| Platform::with_fitted_times("n1sdp-u280-ccix", factor).expect("valid"));
    assert_eq!(plain, Platform::named("n1sdp-u280-ccix").expect("valid"));
    assert_eq!(half.link.latency_to_device.get(), Time::from_ns(134));
    assert_eq!(half.link.bandwidth, plain.link.bandwidth);
    let prefetch = |platform: Platform| platform.coherence.unwrap().device.cache.prefetch.get();
    assert_eq!((prefetch(plain), prefetch(half)), (Count(16), Count(8)));
}
