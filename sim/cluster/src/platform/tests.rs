// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

/// The frozen entries of each platform, as [`digest`] sums them up. They were frozen before any figure
/// of a whole system was run.
///
/// Who changes one names the micro-figure that forced it in `docs/calibration.md`, runs all
/// experiments that read the platform again, and then writes the new digest here.
const FROZEN: [(&str, &str); 9] = [
    ("liquidio3", "9f0f6af89b4244fe2f8edffca19d807aa54bab9cc1c48d8b17c736e84d09b444"),
    ("connect-ib", "179a1bb681ae6a7bdd0ba707bebcc5da9efdffed7e56778558e279b8385a56ff"),
    ("connectx3", "4d4718d1ec32b72ebbb5db51c8bd3c06e7ea13ac6c4112edca53fd7a83266657"),
    ("connectx4", "516bcb37f3a7b6138a96a9a9329cd01353662b52312a871033ebc59b570e585e"),
    ("connectx5", "13dc2a022327f6fa01f9ad491c0e1f4cfac62cd1beafaf94a1d7073ca0c61820"),
    ("drtm-cx3", "a3c89fdc877364cd2eb487ed5d15db39f7e9743bb0e5aaa6ba0a9eadb5edf394"),
    ("off-path", "6e5597773f49a5fa2d5741e196378c34068070e2cc090d8cd940a0df2bf409f6"),
    ("tofino", "1f0ee3f4f580e912428551746e92a2a716911041f52d8d056580a0af8b0d41e3"),
    ("xenic-cx5", "332aa428f135e20618c28cc8f0c4cbc29cf11a1677e2d8352250f24082ee652f"),
];

#[test]
fn frozen_entries_are_as_they_were() {
    let mut changed = Vec::new();
    for (name, frozen) in FROZEN {
        let found = digest(&PlatformFile::named(name).expect(name));
        if found != frozen {
            changed.push(format!("{name}: {found}"));
        }
    }
    assert!(
        changed.is_empty(),
        "frozen entries have changed: docs/calibration.md must name the micro-figure that forced it, \
         and all experiments that read the platform are to be run again; new digests: {changed:#?}"
    );
}

/// A value, a unit, a class or an interval changes the digest; a source and class C do not.
#[test]
fn the_digest_is_of_what_counts() {
    let text = PlatformFile::named("connect-ib").expect("there").text().to_owned();
    let digest_with = |from: &str, to: &str| {
        assert_eq!(text.matches(from).count(), 1, "{from:?} must occur once");
        digest(&PlatformFile::parse("test.toml", text.replace(from, to)).expect("TOML"))
    };
    let plain = digest_with("name = \"connect-ib\"", "name = \"connect-ib\"");
    assert_eq!(digest_with("14-core Intel Haswell CPU", "as ever"), plain);
    assert_ne!(digest_with("cores = { value = 14", "cores = { value = 15"), plain);
    assert_ne!(
        digest_with("mtu = { value = 4096, unit = \"B\"", "mtu = { value = 4, unit = \"KiB\""),
        plain
    );
}

#[test]
fn the_platforms_of_clusters_are_valid() {
    for name in Hardware::NAMES {
        let hardware = Hardware::named(name).expect(name);
        assert_eq!(hardware.name, name, "the file's name");
        assert!(!hardware.assumptions().is_empty(), "{name}");
    }
    let tofino = ProgrammableSwitch::named("tofino").expect("valid");
    assert_eq!(tofino.pipeline.priorities.get().0, 3);
}

fn message_with(original: &str, replacement: &str) -> String {
    let text = PlatformFile::named("connect-ib").expect("there").text().to_owned();
    assert_eq!(text.matches(original).count(), 1, "{original:?} must occur once");
    PlatformFile::parse("test.toml", text.replace(original, replacement))
        .and_then(Hardware::read_from)
        .expect_err(replacement)
        .to_string()
}

#[test]
fn bad_entries_are_named_with_what_was_expected() {
    let unit =
        message_with("cores = { value = 14, unit = \"1\"", "cores = { value = 14, unit = \"ns\"");
    for part in ["test.toml", "cores", "value 14 ns found, expected a whole number"] {
        assert!(unit.contains(part), "{part:?} is missing in: {unit}");
    }
    let missing = message_with("\ncores = ", "\nkernels = ");
    assert!(missing.contains("unknown field `kernels`"), "{missing}");
    let missing = message_with("\n[pcie]\n", "\n[nic.pcie]\n");
    assert!(missing.contains("test.toml"), "{missing}");
    assert_eq!(
        message_with("ways = { value = 8,", "ways = { value = 7,"),
        "test.toml: nic.queue_pairs.entries = 320 in 7 ways, expected a multiple of the ways above 0"
    );
    assert_eq!(
        message_with("ports = { value = 2,", "ports = { value = 0,"),
        "test.toml: link.ports = 0, expected at least 1"
    );
    let share = message_with(
        "\nreceive_share = { value = 50, unit = \"%\", kind = \"assumption\", class = \"E\", interval = [30, 70]",
        "\nreceive_share = { value = 150, unit = \"%\", kind = \"assumption\", class = \"E\", interval = [30, 170]",
    );
    assert!(share.contains("nic.receive_share = 150 %, expected at most 100 %"), "{share}");
}

#[test]
fn entries_without_a_class_are_refused() {
    let text = message_with(
        "kind = \"fitted\", class = \"B\", source = \"So that figure 3",
        "kind = \"fitted\", source = \"So that figure 3",
    );
    assert!(text.contains("cpu.take_over has no class"), "{text}");
}

/// An assumption at an end of its interval changes what hangs on it and nothing else.
#[test]
fn assumptions_can_be_put_to_their_ends() {
    let hardware = Hardware::named("connect-ib").expect("valid");
    let of = |name: &str| hardware.assumptions().into_iter().find(|it| it.name == name);
    let share = of("nic.receive_share").expect("an assumption");
    assert_eq!((share.least, share.value, share.greatest), (30.0, 50.0, 70.0));
    assert_eq!(share.unit, "%");
    assert_eq!(of("nic.datagram"), None, "of class B");
    let least = hardware.with("nic.receive_share", End::Least).expect("it has an interval");
    let [plain, least] = [&hardware, &least].map(Hardware::nic_costs);
    assert!(least.receive < plain.receive && least.send > plain.send);
    assert_eq!(least.receive + least.send, plain.receive + plain.send, "of class B");
    assert_eq!(least.read, plain.read);
    hardware.with("nic.datagram", End::Least).expect_err("it has no interval");
    for name in ["nic.queue_pairs.entries", "nic.queue_pairs.ways", "cpu.send_share", "link.mtu"] {
        for end in [End::Least, End::Greatest] {
            if of(name).is_some() {
                hardware.with(name, end).expect(name);
            }
        }
    }
}

/// 32 hyperthreads are worth 16.19 threads alone.
#[test]
fn threads_slow_each_other_down_beyond_what_they_are_worth() {
    let hardware = Hardware::named("xenic-cx5").expect("valid");
    assert_eq!([1, 16, 17, 32].map(|threads| hardware.slowed(threads)), [1000, 1000, 1049, 1976]);
    let plain = Hardware::named("connectx5").expect("valid");
    assert_eq!(plain.slowed(24), 1000);
}

#[test]
fn the_sum_of_an_rpc_is_kept() {
    let hardware = Hardware::named("connect-ib").expect("valid");
    let costs = hardware.work_costs();
    let of = |work: Work| costs[work as usize];
    let sum = of(Work::Send) * 2 + of(Work::Receive) * 2 + of(Work::Handle);
    let lost = hardware.cpu.rpc.get().saturating_sub(sum);
    assert!(lost <= Time::from_ps(2), "{lost} by rounding");
    assert_eq!(hardware.wire_latency(true), Time::from_ns(190));
    assert_eq!(hardware.wire_latency(false), Time::from_ns(550));
}
