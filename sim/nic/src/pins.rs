// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of the look-ups by one set of pins: as shipped, and with the entries of a cluster's index.

use nic::lookup::{answer_words, request_words};
use sim::bus::pins::{
    Axi4ManagerPins, Axi4SubordinatePins, AxiLiteManagerPins, AxiLiteSubordinatePins, StreamPins,
};

use crate::job::WORDS;

/// A request at the pins.
pub type RequestBeat = [u64; request_words(WORDS)];
/// An answer at the pins.
pub type AnswerBeat = [u64; answer_words(WORDS)];

/// What happened a clock ago, by the traces.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    /// The index was asked.
    pub request: Option<&'a [u64]>,
    /// The index has answered.
    pub answer: Option<&'a [u64]>,
    /// A read was put into a vector.
    pub has_read: bool,
    /// Why vectors were sent, two bits a queue.
    pub sent: u16,
    /// A scan has ended: of what, and its answer.
    pub scan: Option<&'a [u64]>,
    /// A word of the directory has come: of what, and the word.
    pub word: Option<[u64; 2]>,
    /// A read has ended.
    pub done: Option<u16>,
}

/// A model of the look-ups.
pub trait Block: Send {
    /// One with registers as this seed draws them.
    fn powered_up(seed: u64) -> Self;
    /// A reset of so many clocks.
    fn reset(&mut self, clocks: u32);
    /// Offers a request, of software or the network, or none.
    fn set_request(&mut self, is_software: bool, pins: &StreamPins<RequestBeat>);
    /// Takes an answer, or does not.
    fn set_ready(&mut self, is_software: bool, ready: bool);
    fn set_host(&mut self, pins: &Axi4SubordinatePins);
    fn set_nic(&mut self, pins: &Axi4SubordinatePins);
    fn set_registers(&mut self, pins: &AxiLiteManagerPins);
    /// Whether a request would be accepted.
    fn ready(&self, is_software: bool) -> bool;
    fn answer(&self, is_software: bool) -> StreamPins<AnswerBeat>;
    fn host(&self) -> Axi4ManagerPins;
    fn nic(&self) -> Axi4ManagerPins;
    fn registers(&self) -> AxiLiteSubordinatePins;
    fn trace(&self) -> Trace<'_>;
    fn is_idle(&self) -> bool;
    /// One clock.
    ///
    /// # Errors
    /// The assertion that fails.
    fn clock(&mut self) -> Result<(), String>;
}

macro_rules! block {
    ($($path:ident)::+) => {
        const _: () = {
            use $($path)::+::{Inputs, Model, Outputs};

            sim::axi4_read_port!(host_pins, set_host_pins: m_axi_host of Inputs, Outputs);
            sim::axi4_burst_port!(nic_pins, set_nic_pins: m_axi_nic of Inputs, Outputs,
                with awcache arcache);
            sim::axi_lite_port!(register_pins, set_register_pins of Inputs, Outputs);

            impl Block for Model {
                fn powered_up(seed: u64) -> Self {
                    Model::powered_up(seed)
                }

                fn reset(&mut self, clocks: u32) {
                    Model::reset(self, clocks);
                }

                fn set_request(&mut self, is_software: bool, pins: &StreamPins<RequestBeat>) {
                    let inputs = self.inputs_mut();
                    match is_software {
                        false => {
                            inputs.s_axis_req_tvalid = pins.tvalid;
                            inputs.s_axis_req_tdata = pins.tdata;
                        }
                        true => {
                            inputs.s_axis_sw_tvalid = pins.tvalid;
                            inputs.s_axis_sw_tdata = pins.tdata;
                        }
                    }
                }

                fn set_ready(&mut self, is_software: bool, ready: bool) {
                    let inputs = self.inputs_mut();
                    match is_software {
                        false => inputs.m_axis_rsp_tready = ready,
                        true => inputs.m_axis_swrsp_tready = ready,
                    }
                }

                fn set_host(&mut self, pins: &Axi4SubordinatePins) {
                    set_host_pins(self.inputs_mut(), pins);
                }

                fn set_nic(&mut self, pins: &Axi4SubordinatePins) {
                    set_nic_pins(self.inputs_mut(), pins);
                }

                fn set_registers(&mut self, pins: &AxiLiteManagerPins) {
                    set_register_pins(self.inputs_mut(), pins);
                }

                fn ready(&self, is_software: bool) -> bool {
                    let outputs = self.outputs();
                    match is_software {
                        false => outputs.s_axis_req_tready,
                        true => outputs.s_axis_sw_tready,
                    }
                }

                fn answer(&self, is_software: bool) -> StreamPins<AnswerBeat> {
                    let outputs = self.outputs();
                    let (tvalid, tdata) = match is_software {
                        false => (outputs.m_axis_rsp_tvalid, outputs.m_axis_rsp_tdata),
                        true => (outputs.m_axis_swrsp_tvalid, outputs.m_axis_swrsp_tdata),
                    };
                    StreamPins { tvalid, tdata }
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

                fn trace(&self) -> Trace<'_> {
                    let o = self.outputs();
                    let words = |is_valid: bool, words| if is_valid { Some(words) } else { None };
                    Trace {
                        request: words(o.trace_request_valid_o, &o.trace_request_data_o[..]),
                        answer: words(o.trace_answer_valid_o, &o.trace_answer_data_o[..]),
                        has_read: o.trace_read_valid_o,
                        sent: o.trace_sent_o,
                        scan: words(o.trace_scan_valid_o, &o.trace_scan_data_o[..]),
                        word: o.trace_word_valid_o.then_some(o.trace_word_data_o),
                        done: o.trace_done_valid_o.then_some(o.trace_done_data_o),
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

block!(nic_lookup);
block!(nic_lookup::eight);
