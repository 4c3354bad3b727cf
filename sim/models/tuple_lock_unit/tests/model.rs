// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model itself: reset, pins, registers by hand, waves. What the unit means is
//! tested elsewhere, against the oracle.

use std::fs;
use std::path::PathBuf;

use tuple_lock_unit::Model;
use verilated::WaveWindow;

/// More cycles than any register access takes.
const ACCESS_LIMIT: u64 = 100;
const RESP_OKAY: u8 = 0;
const RESP_DECERR: u8 = 3;

fn after_reset() -> Model {
    let mut unit = Model::new();
    unit.reset(2);
    unit
}

/// One AXI4-Lite read by hand: the data and the response.
fn read_register(unit: &mut Model, address: u16) -> (u32, u8) {
    unit.inputs_mut().s_axil_araddr = address;
    unit.inputs_mut().s_axil_arvalid = true;
    unit.inputs_mut().s_axil_rready = true;
    let limit = unit.cycles() + ACCESS_LIMIT;
    loop {
        let (accepted, answer) = (unit.outputs().s_axil_arready, unit.outputs().s_axil_rvalid);
        let result = (unit.outputs().s_axil_rdata, unit.outputs().s_axil_rresp);
        unit.clock();
        if accepted {
            unit.inputs_mut().s_axil_arvalid = false;
        }
        if answer {
            unit.inputs_mut().s_axil_rready = false;
            return result;
        }
        assert!(unit.cycles() < limit, "s_axil_r: no answer for {address:#x} in {ACCESS_LIMIT}");
    }
}

/// A file of this test alone, and the folder that is removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("lockstep {test} {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The first and last time in an FST file, from its header block: a type byte 0, the
/// length, then both times as big-endian words.
fn first_and_last_time(fst: &[u8]) -> (u64, u64) {
    assert_eq!(fst[0], 0, "an FST file starts with its header block");
    let word = |at: usize| u64::from_be_bytes(fst[at..at + 8].try_into().unwrap());
    (word(9), word(17))
}

#[test]
fn nothing_is_offered_after_reset() {
    let mut unit = after_reset();
    for _ in 0..100 {
        unit.clock();
        let out = unit.outputs();
        let offered = [
            ("m_axi_aw", out.m_axi_awvalid),
            ("m_axi_w", out.m_axi_wvalid),
            ("m_axi_ar", out.m_axi_arvalid),
            ("m_axis_rsp", out.m_axis_rsp_tvalid),
            ("s_axil_r", out.s_axil_rvalid),
            ("s_axil_b", out.s_axil_bvalid),
        ];
        for (channel, valid) in offered {
            assert!(!valid, "{channel} offers something in cycle {}", unit.cycles());
        }
    }
    assert_eq!(unit.cycles(), 102);
}

#[test]
fn identity_and_version() {
    let mut unit = after_reset();
    assert_eq!(read_register(&mut unit, 0x100), (0x4C53_4C55, RESP_OKAY));
    assert_eq!(read_register(&mut unit, 0x104), (0x0001_0000, RESP_OKAY));
    assert_eq!(read_register(&mut unit, 0x0F0).1, RESP_DECERR);
}

#[test]
fn a_window_of_waves_holds_its_cycles_and_no_others() {
    const PERIOD_PS: u64 = 4000;
    let scratch = Scratch::new("window");
    let dump = |name: &str, window: WaveWindow| {
        let path = scratch.file(name);
        let mut unit = Model::new();
        unit.open_waves(&path, window).unwrap();
        unit.reset(2);
        for word in 0..5000 {
            unit.inputs_mut().m_axi_rdata = [word; 8];
            unit.clock();
        }
        unit.close_waves();
        fs::read(path).unwrap()
    };
    let all = dump("all.fst", WaveWindow::ALWAYS);
    let some = dump("some.fst", WaveWindow { from: 1000, to: 1100 });
    assert_eq!(first_and_last_time(&all), (0, 5001 * PERIOD_PS + PERIOD_PS / 2));
    let last = 1099 * PERIOD_PS + PERIOD_PS / 2;
    assert_eq!(first_and_last_time(&some), (1000 * PERIOD_PS, last));
    assert!(some.len() * 2 < all.len(), "{} of {} bytes", some.len(), all.len());
}

#[test]
fn waves_do_not_change_what_happens_and_may_start_late_and_again() {
    let scratch = Scratch::new("late");
    let mut quiet = after_reset();
    let mut dumped = after_reset();
    for cycle in 0..600 {
        match cycle {
            100 => dumped.open_waves(scratch.file("first.fst"), WaveWindow::ALWAYS).unwrap(),
            200 => dumped.set_wave_window(WaveWindow::NEVER),
            300 => dumped.set_wave_window(WaveWindow { from: 350, to: 400 }),
            500 => dumped.open_waves(scratch.file("again.fst"), WaveWindow::ALWAYS).unwrap(),
            _ => {}
        }
        for unit in [&mut quiet, &mut dumped] {
            unit.inputs_mut().s_axil_arvalid = cycle % 3 == 0;
            unit.inputs_mut().s_axil_araddr = 0x100;
            unit.inputs_mut().s_axil_rready = cycle % 5 != 0;
            unit.clock();
        }
        assert_eq!(quiet.outputs(), dumped.outputs(), "in cycle {cycle}");
    }
    drop(dumped);
    let times = |name: &str| first_and_last_time(&fs::read(scratch.file(name)).unwrap());
    // Two cycles of reset came first.
    assert_eq!(times("first.fst"), (102 * 4000, 399 * 4000 + 2000));
    assert_eq!(times("again.fst"), (502 * 4000, 601 * 4000 + 2000));
}

#[test]
fn a_wave_file_that_cannot_be_written_is_named() {
    let scratch = Scratch::new("unwritable");
    let path = scratch.file("no such folder/waves.fst");
    let error = Model::new().open_waves(&path, WaveWindow::ALWAYS).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("no such folder/waves.fst"), "{error}");
}

#[test]
fn toggling_the_clock_is_clocking_with_still_inputs() {
    let mut toggled = after_reset();
    let mut clocked = after_reset();
    toggled.toggle_only(1000);
    (0..1000).for_each(|_| clocked.clock());
    assert_eq!(toggled.cycles(), clocked.cycles());
    for unit in [&mut toggled, &mut clocked] {
        unit.clock();
    }
    assert_eq!(toggled.outputs(), clocked.outputs());
}

#[test]
fn models_share_nothing_and_may_move_between_threads() {
    let mut left = after_reset();
    let right = after_reset();
    left.inputs_mut().s_axil_arvalid = true;
    let reader = std::thread::spawn(move || {
        let mut right = right;
        (0..50).for_each(|_| right.clock());
        read_register(&mut right, 0x100)
    });
    assert_eq!(read_register(&mut left, 0x104), (0x0001_0000, RESP_OKAY));
    assert_eq!(reader.join().unwrap(), (0x4C53_4C55, RESP_OKAY));
}

#[test]
#[should_panic(expected = "at least one cycle")]
fn a_reset_of_no_cycles_is_refused() {
    Model::new().reset(0);
}
