// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scanners under test, by one set of pins.

use nic::scan::{ANSWER_HEADER_WORDS, Line, MOST_VALUE_WORDS, SCAN_WORDS, Shape};
use probe_scan::{slots_16, slots_32, slots_32_long_values, slots_64, slots_128, slots_320};
use sim::bus::pins::StreamPins;
use tables::slot::SlotLayout;

/// An answer as the pins carry it, with zeros for the words that this scanner does not have.
pub type Words = [u64; ANSWER_HEADER_WORDS + MOST_VALUE_WORDS];

/// A line with `tlast` and `tuser`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beat(pub Line);

/// A scanner with stream models at its pins.
pub trait Dut {
    /// For so many clocks, whatever stands at the other pins.
    fn reset(&mut self, clocks: u32);
    fn drive_scan(&mut self, pins: &StreamPins<[u64; SCAN_WORDS]>);
    fn drive_line(&mut self, pins: &StreamPins<Beat>);
    fn drive_ready(&mut self, ready: bool);
    /// `tready` of scans, and of lines.
    fn ready(&self) -> (bool, bool);
    fn answer(&self) -> StreamPins<Words>;
    fn clock(&mut self) -> Result<(), String>;
}

/// A scanner: its parameters, and how one is made from a seed of its power-up and the number of a mutant.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    value_bytes: usize,
    value_words: usize,
    pub make: fn(u64, u8) -> Box<dyn Dut>,
}

impl Subject {
    pub fn shape(&self) -> Shape {
        Shape::new(SlotLayout::for_values_of(self.value_bytes), self.value_words).unwrap()
    }
}

macro_rules! dut {
    ($subject:ident, $bytes:literal, $words:literal, $($path:ident)::+ $(, $mutant:ident)?) => {
        pub const $subject: Subject = Subject {
            value_bytes: $bytes,
            value_words: $words,
            #[allow(unused_mut, unused_variables, reason = "only some models have mutants")]
            make: |seed, mutant| {
                let mut model = $($path)::+::Model::powered_up(seed);
                $(model.inputs_mut().$mutant = mutant;)?
                Box::new(model)
            },
        };

        impl Dut for $($path)::+::Model {
            fn reset(&mut self, clocks: u32) {
                $($path)::+::Model::reset(self, clocks);
            }

            fn drive_scan(&mut self, pins: &StreamPins<[u64; SCAN_WORDS]>) {
                let inputs = self.inputs_mut();
                (inputs.s_axis_key_tvalid, inputs.s_axis_key_tdata) = (pins.tvalid, pins.tdata);
            }

            fn drive_line(&mut self, pins: &StreamPins<Beat>) {
                let inputs = self.inputs_mut();
                let Beat(Line { words, is_last, has_error }) = pins.tdata;
                inputs.s_axis_data_tvalid = pins.tvalid;
                inputs.s_axis_data_tdata = words;
                inputs.s_axis_data_tlast = is_last;
                inputs.s_axis_data_tuser = has_error;
            }

            fn drive_ready(&mut self, ready: bool) {
                self.inputs_mut().m_axis_hit_tready = ready;
            }

            fn ready(&self) -> (bool, bool) {
                (self.outputs().s_axis_key_tready, self.outputs().s_axis_data_tready)
            }

            fn answer(&self) -> StreamPins<Words> {
                let mut tdata = Words::default();
                tdata[..ANSWER_HEADER_WORDS + $words]
                    .copy_from_slice(&self.outputs().m_axis_hit_tdata);
                StreamPins { tvalid: self.outputs().m_axis_hit_tvalid, tdata }
            }

            fn clock(&mut self) -> Result<(), String> {
                self.try_clock().map_err(|failure| failure.to_string())
            }
        }
    };
}

dut!(SLOTS_16, 0, 1, slots_16);
dut!(SLOTS_32, 16, 2, slots_32, mutant_i);
dut!(SLOTS_32_LONG_VALUES, 16, 8, slots_32_long_values);
dut!(SLOTS_64, 48, 6, slots_64);
dut!(SLOTS_128, 104, 8, slots_128, mutant_i);
dut!(SLOTS_320, 256, 8, slots_320);
