// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the model of the device is: register accesses by hand at its pins, and the bare
//! clock with lock unit and look-up unit asleep, and with either awake.
//!
//! `cargo bench -p lockstep-device-model --bench speed`

use std::time::Instant;

use lockstep_device_model::Model;

/// Register accesses, and clocks, of each measurement.
const TIMES: u32 = 1_000_000;

/// Clocks after which everything stands still.
const QUIET: u32 = 200;

fn main() {
    let mut device = Model::new();
    device.reset(4);
    device.inputs_mut().s_axil_rready = true;
    let blocks =
        [("shell", 0x0100), ("queue", 0x2100), ("lock unit", 0x1100), ("look-up unit", 0x5100)];
    for (name, address) in blocks {
        (0..QUIET).for_each(|_| device.clock());
        let (start, cycles) = (Instant::now(), device.cycles());
        (0..TIMES).for_each(|_| read(&mut device, address));
        let clocks = (device.cycles() - cycles) as f64 / f64::from(TIMES);
        let rate = per_second(start);
        println!("register of {name}: {rate:.2} M reads/s, {clocks:.0} clocks each");
    }
    (0..QUIET).for_each(|_| device.clock());
    println!("bare clock, all asleep: {:.2} M cycles/s", toggle(&mut device));
    // A request that waits, as it is off, keeps the look-up unit awake.
    device.inputs_mut().s_axis_netreq_tvalid = true;
    device.clock();
    println!("bare clock, look-up unit awake: {:.2} M cycles/s", toggle(&mut device));
    device.inputs_mut().s_axis_netreq_tvalid = false;
    device.reset(4);
    (0..2 * QUIET).for_each(|_| device.clock());
    // A beat held on the port of invalidations keeps the lock unit awake.
    device.inputs_mut().s_axis_inv_tvalid = true;
    device.clock();
    println!("bare clock, lock unit awake: {:.2} M cycles/s", toggle(&mut device));
}

/// One read, as fast as the device allows.
fn read(device: &mut Model, address: u16) {
    device.inputs_mut().s_axil_araddr = address;
    device.inputs_mut().s_axil_arvalid = true;
    device.clock(); // Nothing else is under way: it is taken.
    device.inputs_mut().s_axil_arvalid = false;
    while !device.outputs().s_axil_rvalid {
        device.clock();
    }
    device.clock();
}

fn toggle(device: &mut Model) -> f64 {
    let start = Instant::now();
    device.toggle_only(TIMES.into());
    per_second(start)
}

/// Millions of what was done [`TIMES`] times since `start`.
fn per_second(start: Instant) -> f64 {
    f64::from(TIMES) / start.elapsed().as_secs_f64() / 1e6
}
