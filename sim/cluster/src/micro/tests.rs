// SPDX-License-Identifier: MIT OR Apache-2.0
use timing::platform::{Class, PlatformFile};

use super::figures::{self, Case, Value};
use super::*;
use crate::platform::{Hardware, frozen_entries};

const SHORT: Spans = Spans { warm_up: Time::from_us(150), measure: Time::from_us(150) };

fn value(case: &Case) -> f64 {
    let hardware = Hardware::named(case.platform).expect("valid");
    // A cache of queue pairs fills slowly where most READs wait for it.
    let spans = if case.across == 22.0 { Spans::USUAL } else { SHORT };
    case.run(&hardware, spans, 1).expect("it has the threads").value
}

/// The platforms are frozen as these numbers want them; a change of the model that moves them needs new
/// ones.
#[test]
fn the_numbers_of_the_texts_come_within_five_percent() {
    for (figure, cases) in figures::all() {
        for case in cases {
            let Some(paper) = case.paper else { continue };
            let ratio = value(&case) / paper.number;
            let at = format!("{figure}, {}, {} at {}", case.platform, case.series, case.across);
            assert!((0.95..1.05).contains(&ratio), "{at}: {ratio}");
        }
    }
}

/// What a number of the same paper fixes is of class B, and is there.
#[test]
fn what_a_figure_fixes_is_of_class_b() {
    let entries_of =
        |platform: &str| frozen_entries(&PlatformFile::named(platform).expect("there"));
    let platforms = Hardware::NAMES.map(|platform| (platform, entries_of(platform)));
    for (figure, cases) in figures::all() {
        for case in cases {
            let Some(name) = case.paper.and_then(|paper| paper.fixes) else { continue };
            let (_, entries) = platforms.iter().find(|of| of.0 == case.platform).expect("there");
            let entry = entries.iter().find(|entry| entry.name == name).expect(name);
            assert_eq!(entry.class, Some(Class::B), "{figure}: {name} of {}", case.platform);
        }
    }
}

#[test]
fn runs_repeat_themselves() {
    let cases = figures::fasst_fig4();
    let case = cases.iter().find(|case| case.across == 3.0).expect("there");
    assert_eq!(value(case), value(case));
    let hardware = Hardware::named(case.platform).expect("valid");
    let other = case.run(&hardware, SHORT, 2).expect("made");
    assert_eq!(case.value, Value::Node);
    assert_ne!(other.measured.packets, 0.0);
}

/// A card that holds fewer descriptors than stand in the receive queues is slower (FaSST, section 4.4).
#[test]
fn too_many_receive_buffers_thrash() {
    let hardware = Hardware::named("connect-ib").expect("valid");
    let rate = |workers: u8| {
        let bench = rpc::RpcBench::new(10, 14, workers);
        bench.run(&hardware, SHORT).expect("made").rate
    };
    // Ten nodes and 14 threads: 28,000 descriptors and 35,000.
    let (fits, thrashes) = (rate(200), rate(250));
    assert!(thrashes < 0.6 * fits, "{thrashes} against {fits}");
}

/// Every sentence about the figures of the shorter runs is so.
#[test]
fn the_shapes_of_the_texts_come_out() {
    let mut sentences = 0;
    for (figure, cases) in figures::all() {
        // The rest of these needs longer runs than a test has time for.
        if ["fasst-fig1", "fasst-fig2"].contains(&figure) {
            continue;
        }
        let needed = |case: &Case| case.across != 1.0 || case.series != "+ cheap RECV posting";
        let of = cases.into_iter().filter(needed).map(|case| (value(&case), case));
        let measured: Vec<(Case, f64)> = of.map(|(value, case)| (case, value)).collect();
        for shape in shapes::shapes(&measured) {
            sentences += 1;
            assert!(shape.holds, "{figure}: {} {}", shape.says, shape.because);
        }
    }
    assert_eq!(sentences, 4);
}
