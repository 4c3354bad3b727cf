// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit's RTL in clock cycles: how many requests it accepts at once and keeps open, and
//! how many locks it serves with the table on either side of the link.

use driver::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;
use sim::system::{Event, System, SystemConfig, SystemError};
use timing::Time;
use timing::platform::{Platform, Side};

use super::{Goal, Measurement, Size};

/// 4 MiB of table: no two requests that are open together meet.
const BUCKETS: u64 = 1 << 16;
const LOCKS: u64 = 100_000;

/// All figures in clock cycles come from the RTL; none depends on this machine.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let idle = burst()?;
    let platform = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
    let clock = platform.coherence.as_ref().expect("coherent").unit_clock.get();
    let of = |home| steady(&platform, home, size.of(LOCKS)).map_err(|error| error.to_string());
    let (on_host, on_device) = (of(Side::Host)?, of(Side::Device)?);
    Ok(vec![
        Measurement::new("lock unit, requests into the idle unit", "1/clock", idle.taken_per_clock)
            .goal(Goal::AtLeast(1.0)),
        Measurement::new("lock unit, accesses in flight", "1", idle.in_flight as f64)
            .goal(Goal::AtLeast(64.0)),
        Measurement::new("lock unit, table on the host", "locks/s", on_host.per_second())
            .goal(Goal::AtLeast(40e6)),
        Measurement::new(
            "lock unit, table on the device",
            "locks/clock",
            on_device.per_clock(clock),
        )
        .goal(Goal::AtLeast(0.5)),
    ])
}

struct Burst {
    taken_per_clock: f64,
    in_flight: usize,
}

/// As many requests at once as there are tags, into an idle unit whose memory takes every access
/// and answers none of them until all are there.
fn burst() -> Result<Burst, String> {
    let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
    let mut registers = driver::LockUnit::new(&mut unit);
    let set = registers.configure(0, BUCKETS.trailing_zeros()).and_then(|()| registers.enable());
    set.map_err(|error| error.to_string())?;
    (0..TAGS).for_each(|number| unit.request(acquire(number, number as u64)));
    let (mut first, mut last, mut taken) = (None, 0, 0_usize);
    let timeout = 10 * TAGS as u64;
    let begin = unit.cycle();
    while (taken < TAGS || unit.accesses_outstanding() < TAGS) && unit.cycle() < begin + timeout {
        let cycle = unit.cycle();
        if unit.clock().map_err(|error| error.to_string())? {
            taken += 1;
            first.get_or_insert(cycle);
            last = cycle;
        }
    }
    let first = first.ok_or(format!("no request was taken in {timeout} cycles"))?;
    Ok(Burst {
        taken_per_clock: taken as f64 / (last - first + 1) as f64,
        in_flight: unit.accesses_outstanding(),
    })
}

fn acquire(tag: usize, vid: u64) -> UnitRequest {
    UnitRequest {
        tag: Tag::new(tag as u8).expect("a tag"),
        transaction: Timestamp::new(1 + vid).expect("not 0"),
        operation: UnitOperation::Acquire(TupleKey::new(vid, 0), Rule::Queue),
    }
}

/// Locks taken and given back in a length of virtual time.
struct Steady {
    locks: u64,
    took: Time,
}

impl Steady {
    fn per_second(&self) -> f64 {
        self.locks as f64 / (self.took.as_ns_f64() * 1e-9)
    }

    fn per_clock(&self, clock: Time) -> f64 {
        self.locks as f64 / (self.took.as_ps() / clock.as_ps()) as f64
    }
}

/// 128 processing elements take and release locks, each as soon as it can: all but the
/// first and the last of them.
fn steady(platform: &Platform, home: Side, locks: u64) -> Result<Steady, SystemError> {
    let config = SystemConfig {
        platform: platform.clone(),
        buckets: BUCKETS,
        home: Some(home),
        unit: UnitConfig::smooth(),
    };
    let mut system = System::new(TupleLockUnit::new(), &config)?;
    let mut held: Vec<UnitRequest> = (0..TAGS).map(|tag| acquire(tag, tag as u64)).collect();
    held.iter().for_each(|&request| system.request(request));
    let mut asked = TAGS as u64;
    // The unit fills at the beginning and runs empty at the end.
    let locks = locks.max(10);
    let (from, to) = (locks / 10, locks - locks / 10);
    let (mut released, mut start) = (0, Time::ZERO);
    while released < to {
        let event = system.advance()?.expect("requests are open");
        let Event::Response(response) = event else { continue };
        let tag = response.tag.index();
        match response.code {
            Code::Granted => {
                let UnitOperation::Acquire(key, _) = held[tag].operation else {
                    unreachable!("only acquires are kept")
                };
                system.request(UnitRequest { operation: UnitOperation::Release(key), ..held[tag] });
            }
            Code::Released => {
                released += 1;
                if released == from {
                    start = system.now();
                }
                held[tag] = acquire(tag, asked);
                asked += 1;
                system.request(held[tag]);
            }
            other => panic!("an uncontended request was answered {other:?}"),
        }
    }
    Ok(Steady { locks: to - from, took: system.now() - start })
}
