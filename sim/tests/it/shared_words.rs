// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words that host and device share beside the lock table, and what goes over the link beside
//! coherence.

use lockstep_sim::lock_unit::UnitConfig;
use lockstep_sim::models::TupleLockUnit;
use lockstep_sim::system::{Event, System, SystemConfig};
use timing::Time;
use timing::platform::{Platform, Side};

fn system(words: &[u64]) -> System<TupleLockUnit> {
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let config = SystemConfig { platform, buckets: 64, home: None, unit: UnitConfig::smooth() };
    System::with_words(TupleLockUnit::new(), &config, words).expect("a machine")
}

/// The word that an access has found, and when it ended.
fn word(system: &mut System<TupleLockUnit>, of: u64) -> (u64, Time) {
    match system.advance().expect("the unit keeps its rules").expect("it ends") {
        Event::Word { ticket, value } if ticket == of => (value, system.now()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_device_loads_what_the_host_has_stored() {
    let words: Vec<u64> = (0..11).map(|word| 100 + word).collect();
    let mut system = system(&words);
    system.device_load(7, 10);
    let (value, first) = word(&mut system, 7);
    assert_eq!(value, 110);
    // Two crossings of the link, and a little more.
    assert!((700..900).contains(&(first.as_ps() / 1000)), "{first}");
    system.host_store(2, 8, 10, 5);
    let (before, stored) = word(&mut system, 8);
    assert_eq!((before, system.word(10), system.word(9)), (110, 5, 109));
    // The new value stands in the core's cache, which is asked for it.
    system.device_load(9, 10);
    let (value, second) = word(&mut system, 9);
    assert_eq!(value, 5);
    assert!((700..900).contains(&((second - stored).as_ps() / 1000)), "{second} after {stored}");
    assert_eq!(system.line(3), [0; 8]);
}

#[test]
fn transfers_share_the_link_with_coherence() {
    let mut alone = system(&[1]);
    alone.device_load(1, 0);
    let (_, alone) = word(&mut alone, 1);
    let mut busy = system(&[1]);
    let page = busy.send(Side::Device, 8192);
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let wire = platform.link.bandwidth.get().time_for(8192 + 32 * 20);
    assert_eq!(page, wire + platform.link.latency_to_device.get());
    busy.send(Side::Device, 1 << 16);
    busy.device_load(1, 0);
    // Its answer stands behind the pages.
    assert!(word(&mut busy, 1).1 > alone);
    let traffic = busy.traffic();
    assert!(traffic.link_bytes_to_device > 8192 + (1 << 16));
}

#[test]
#[should_panic(expected = "word 11 of 11")]
fn a_word_that_is_not_there_is_refused() {
    system(&[0; 11]).device_load(0, 11);
}
