// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models under test, by one set of pins, each with the machine that it has to be equal to.

use nic::index;
use nic::lookup::{answer_words, request_words};
use nic_lookup::{mutants, narrow, wide};
use sim::bus::pins::{
    Axi4ManagerPins, Axi4SubordinatePins, AxiLiteManagerPins, AxiLiteSubordinatePins, StreamPins,
};

use crate::registers::Configuration;
use crate::shadow::{Oracle, Shadow};

/// A request as the pins carry it, with zeros for words that a model does not have.
pub type RequestWords = [u64; request_words(8)];
/// An answer, as well.
pub type AnswerWords = [u64; answer_words(8)];
/// The beats of the index, as well.
pub type IndexRequestWords = [u64; index::request_words(8)];
pub type IndexAnswerWords = [u64; index::answer_words(8)];
/// A scan: what it is of, and the answer of the scanner.
pub type ScanWords = [u64; 11];

/// The ports for requests and answers: of the network, of software.
pub const PORTS: usize = 2;

/// What happened a clock ago.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    pub request: Option<IndexRequestWords>,
    pub answer: Option<IndexAnswerWords>,
    pub read: Option<[u64; 2]>,
    pub done: Option<u16>,
    pub scan: Option<ScanWords>,
    pub word: Option<[u64; 2]>,
}

/// A model, with the ports that bus models drive.
pub trait Dut {
    fn reset(&mut self);
    fn drive_request(&mut self, port: usize, pins: &StreamPins<RequestWords>);
    fn drive_ready(&mut self, port: usize, ready: bool);
    fn drive_host(&mut self, pins: &Axi4SubordinatePins);
    fn drive_nic(&mut self, pins: &Axi4SubordinatePins);
    fn drive_registers(&mut self, pins: &AxiLiteManagerPins);
    fn ready(&self, port: usize) -> bool;
    fn answer(&self, port: usize) -> StreamPins<AnswerWords>;
    fn host(&self) -> Axi4ManagerPins;
    fn nic(&self) -> Axi4ManagerPins;
    fn registers(&self) -> AxiLiteSubordinatePins;
    fn trace(&self) -> Trace;
    fn is_idle(&self) -> bool;
    fn clock(&mut self) -> Result<(), String>;
}

/// A model: its parameters, and how it is made from a seed of its power-up and the number of a mutant.
#[derive(Clone, Copy)]
pub struct Subject {
    pub name: &'static str,
    pub slot_bytes: usize,
    pub value_words: usize,
    pub objects: usize,
    pub landing_lines: u16,
    pub make: fn(u64, u8) -> Box<dyn Dut>,
    pub oracle: fn(&Configuration) -> Box<dyn Oracle>,
}

impl Subject {
    pub fn stride(&self) -> u64 {
        index::entry_stride(self.objects, self.value_words)
    }

    /// The size of an index of so many segments.
    pub fn index_bytes(&self, segments: u32) -> usize {
        (u64::from(segments) * self.stride()) as usize
    }
}

fn padded<const TO: usize>(words: &[u64]) -> [u64; TO] {
    let mut all = [0; TO];
    all[..words.len()].copy_from_slice(words);
    all
}

macro_rules! dut {
    ($subject:ident, slots $bytes:literal, words $words:literal, objects $objects:literal, pins $pins:literal,
     lines $lines:literal, $($path:ident)::+ $(, $mutant:ident)?) => {
        pub const $subject: Subject = Subject {
            name: stringify!($subject),
            slot_bytes: $bytes,
            value_words: $words,
            objects: $objects,
            landing_lines: $lines,
            #[allow(unused_mut, unused_variables, reason = "only one model has mutants")]
            make: |seed, mutant| {
                let mut model = $($path)::+::Model::powered_up(seed);
                $(model.inputs_mut().$mutant = mutant;)?
                Box::new(model)
            },
            oracle: |configuration| {
                let geometry = configuration.geometry::<$words>($bytes);
                Box::new(Shadow::<$objects, $words>::new(geometry, $pins))
            },
        };

        const _: () = {
            use $($path)::+::{Inputs, Model, Outputs};

            sim::axi4_read_port!(host_pins, set_host: m_axi_host of Inputs, Outputs);
            sim::axi4_burst_port!(nic_pins, set_nic: m_axi_nic of Inputs, Outputs,
                with awcache arcache);
            sim::axi_lite_port!(register_pins, set_registers of Inputs, Outputs);

            impl Dut for Model {
                fn reset(&mut self) {
                    Model::reset(self, 2);
                }

                fn drive_request(&mut self, port: usize, pins: &StreamPins<RequestWords>) {
                    let (inputs, words) =
                        (self.inputs_mut(), &pins.tdata[..request_words($words)]);
                    if port == 0 {
                        inputs.s_axis_req_tvalid = pins.tvalid;
                        inputs.s_axis_req_tdata.copy_from_slice(words);
                    } else {
                        inputs.s_axis_sw_tvalid = pins.tvalid;
                        inputs.s_axis_sw_tdata.copy_from_slice(words);
                    }
                }

                fn drive_ready(&mut self, port: usize, ready: bool) {
                    let inputs = self.inputs_mut();
                    match port {
                        0 => inputs.m_axis_rsp_tready = ready,
                        _ => inputs.m_axis_swrsp_tready = ready,
                    }
                }

                fn drive_host(&mut self, pins: &Axi4SubordinatePins) {
                    set_host(self.inputs_mut(), pins);
                }

                fn drive_nic(&mut self, pins: &Axi4SubordinatePins) {
                    set_nic(self.inputs_mut(), pins);
                }

                fn drive_registers(&mut self, pins: &AxiLiteManagerPins) {
                    set_registers(self.inputs_mut(), pins);
                }

                fn ready(&self, port: usize) -> bool {
                    let outputs = self.outputs();
                    [outputs.s_axis_req_tready, outputs.s_axis_sw_tready][port]
                }

                fn answer(&self, port: usize) -> StreamPins<AnswerWords> {
                    let outputs = self.outputs();
                    let (tvalid, words) = match port {
                        0 => (outputs.m_axis_rsp_tvalid, &outputs.m_axis_rsp_tdata),
                        _ => (outputs.m_axis_swrsp_tvalid, &outputs.m_axis_swrsp_tdata),
                    };
                    StreamPins { tvalid, tdata: padded(words) }
                }

                fn host(&self) -> Axi4ManagerPins {
                    host_pins(self.outputs())
                }

                fn nic(&self) -> Axi4ManagerPins {
                    nic_pins(self.outputs())
                }

                fn registers(&self) -> AxiLiteSubordinatePins {
                    register_pins(self.outputs())
                }

                fn trace(&self) -> Trace {
                    let o = self.outputs();
                    let request = padded(&o.trace_request_data_o);
                    let answer = padded(&o.trace_answer_data_o);
                    Trace {
                        request: o.trace_request_valid_o.then_some(request),
                        answer: o.trace_answer_valid_o.then_some(answer),
                        read: o.trace_read_valid_o.then_some(o.trace_read_data_o),
                        done: o.trace_done_valid_o.then_some(o.trace_done_data_o),
                        scan: o.trace_scan_valid_o.then_some(padded(&o.trace_scan_data_o)),
                        word: o.trace_word_valid_o.then_some(o.trace_word_data_o),
                    }
                }

                fn is_idle(&self) -> bool {
                    self.outputs().idle_o
                }

                fn clock(&mut self) -> Result<(), String> {
                    self.try_clock().map_err(|failure| failure.to_string())
                }
            }
        };
    };
}

dut!(SHIPPED, slots 32, words 1, objects 2, pins 255, lines 32, nic_lookup);
dut!(NARROW, slots 16, words 1, objects 1, pins 3, lines 1, narrow);
dut!(WIDE, slots 128, words 8, objects 2, pins 3, lines 4, wide);
dut!(MUTANTS, slots 32, words 2, objects 2, pins 3, lines 2, mutants, mutant_i);
