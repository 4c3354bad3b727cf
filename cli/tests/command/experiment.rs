// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep experiment --platform FILE`: what files it takes, and how it refuses others.

use std::fs;

use super::{Done, lockstep, lockstep_in};

const PLATFORM: &str = include_str!("../../../sim/platforms/n1sdp-u280-ccix.toml");

fn refused(name: &str, text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("my-board.toml"), text).expect("written");
    let arguments = ["experiment", name, "--platform", "my-board.toml"];
    let Done { code, stderr, .. } = lockstep_in(folder.path(), arguments);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("my-board.toml"), "{stderr}");
    stderr
}

#[test]
fn platforms_that_cannot_do_are_refused_by_name_and_field() {
    let pcie = include_str!("../../../sim/platforms/pcie-gen3.toml");
    assert!(refused("ccslt-fig4", pcie).contains("expected a table [coherence]"));
    let cores = "agents = { value = 4,";
    assert_eq!(PLATFORM.matches(cores).count(), 1);
    let stderr = refused("ccslt-placement", &PLATFORM.replace(cores, "agents = { value = 2,"));
    assert!(stderr.contains("coherence.host.agents = 2, expected at least 4"), "{stderr}");
    assert!(refused("ccslt-fig4", "name = 7").contains("name"));
    let stderr = refused("ccslt-fig6", PLATFORM);
    assert!(stderr.contains("expected an experiment that models a platform"), "{stderr}");
    let stderr = lockstep(["experiment", "ccslt-fig5", "--platform", "no-board.toml"]).stderr;
    assert!(stderr.contains("no-board.toml: No such file"), "{stderr}");
}

#[test]
fn a_platform_of_ones_own_changes_the_values_and_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let far =
        PLATFORM.replace("latency_to_host = { value = 268", "latency_to_host = { value = 568");
    assert_ne!(far, PLATFORM);
    fs::write(folder.path().join("my-board.toml"), far).expect("written");
    let measured = |further: &[&str]| {
        let arguments = ["experiment", "ccslt-fig5", "--seeds", "1", "--json"];
        let done = lockstep_in(folder.path(), arguments.iter().chain(further));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        serde_json::from_str::<serde_json::Value>(&done.stdout).expect("JSON")
    };
    let (ours, theirs) = (measured(&["--platform", "my-board.toml"]), measured(&[]));
    for file in ["ccslt-fig5.json", "ccslt-fig5.csv", "ccslt-fig5.svg"] {
        assert!(folder.path().join("out").join(file).is_file(), "{file}");
    }
    let atomic = |value: &serde_json::Value| value["rows"][1]["measured"].as_f64().expect("ns");
    assert!(atomic(&ours) > atomic(&theirs) + 299.0, "{} {}", atomic(&ours), atomic(&theirs));
    assert_eq!(ours["platforms"], serde_json::json!(["my-board.toml", "pcie-gen3"]));
    let command = "lockstep experiment ccslt-fig5 --seed 1 --seeds 1 --platform my-board.toml";
    assert_eq!(ours["command"], command);
    assert_eq!(theirs["platforms"][0], "n1sdp-u280-ccix");
}
