// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::lockstep;

#[test]
fn every_command_explains_itself() {
    for arguments in [
        &["--help"][..],
        &["run", "--help"],
        &["trace", "from-waldump", "--help"],
        &["wave", "run", "--help"],
        &["serve", "--help"],
        &["check", "--help"],
        &["doctor", "--help"],
        &["ndp", "--help"],
        &["ndp", "load", "--help"],
        &["ndp", "update", "--help"],
        &["ndp", "select", "--help"],
        &["nic", "--help"],
        &["cluster", "--help"],
        &["cluster", "run", "--help"],
        &["cluster", "sweep", "--help"],
        &["experiment", "--help"],
        &["history", "check", "--help"],
    ] {
        let help = lockstep(arguments).expect_success();
        assert!(help.contains("Usage: lockstep"), "{help}");
        assert!(help.contains("Examples:\n  "), "{help}");
        within_100_columns(&help);
    }
    for arguments in [
        &["demo"][..],
        &["trace"],
        &["trace", "check"],
        &["wave"],
        &["wave", "conformance"],
        &["platforms"],
        &["bench"],
        &["ndp", "explain"],
    ] {
        within_100_columns(&lockstep(arguments.iter().chain(&["--help"])).expect_success());
    }
}

fn within_100_columns(text: &str) {
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn versions_are_named() {
    let versions = lockstep(["--version"]).expect_success();
    let lines: Vec<&str> = versions.lines().collect();
    assert_eq!(lines[0], concat!("lockstep ", env!("CARGO_PKG_VERSION")));
    assert!(lines[1].starts_with("Verilator 5."), "{versions}");
}

#[test]
fn usage_errors_have_code_2() {
    for arguments in [&[][..], &["fly"], &["run"], &["run", "x.toml", "--sede", "1"]] {
        let done = lockstep(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(done.stderr.contains("Usage: lockstep"), "{}", done.stderr);
    }
}

#[test]
fn platforms_are_listed_with_their_sources() {
    let all = lockstep(["platforms"]).expect_success();
    assert!(all.contains("link.bandwidth") && all.contains("15.75 GB/s"), "{all}");
    assert!(all.contains("n1sdp-u280-ccix\n") && all.contains("pcie-gen3\n"), "{all}");
    let one = lockstep(["platforms", "pcie-gen3"]).expect_success();
    assert!(one.contains("dma.setup") && !one.contains("n1sdp"), "{one}");
    let none = lockstep(["platforms", "x86"]);
    assert_eq!(none.code, Some(2));
    assert!(
        none.stderr.contains("\"x86\", expected one of connect-ib, connectx3, "),
        "{}",
        none.stderr
    );
}
