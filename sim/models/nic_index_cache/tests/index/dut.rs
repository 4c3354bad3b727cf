// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks under test, by one set of pins, each with the machine that it has to be equal to.

use nic::index::{
    Answer, Entry, Index, Request, Status, Table, answer_words, entry_lines, entry_stride,
    request_words,
};
use nic_index_cache::{mutants, narrow, wide};
use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins, StreamPins};

/// A request as the pins carry it, with zeros for words that a block does not have.
pub type RequestWords = [u64; request_words(8)];
/// An answer, as well.
pub type AnswerWords = [u64; answer_words(8)];

/// How often, or whether a clock ago, something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Events<T = bool> {
    pub accepted: T,
    pub fetch: T,
    pub write_back: T,
    pub failed: T,
}

/// A block, with the ports that bus models drive.
pub trait Dut {
    fn configure(&mut self, table: &Table, index_base: u64);
    fn reset(&mut self);
    fn drive_request(&mut self, pins: &StreamPins<RequestWords>);
    fn drive_ready(&mut self, ready: bool);
    fn drive_memory(&mut self, pins: &Axi4SubordinatePins);
    fn ready(&self) -> bool;
    fn answer(&self) -> StreamPins<AnswerWords>;
    fn memory(&self) -> Axi4ManagerPins;
    fn is_idle(&self) -> bool;
    fn drive_flush(&mut self, flush: bool);
    /// All is written, or, if true, not all.
    fn flushed(&self) -> Option<bool>;
    fn events(&self) -> Events;
    fn clock(&mut self) -> Result<(), String>;
}

/// The machine, by the words of the pins.
pub trait Oracle {
    /// The answer to a request.
    fn apply(&mut self, request: &RequestWords) -> AnswerWords;
    /// Words of an entry, with zeros for what means nothing.
    fn normal(&self, words: &[u64]) -> Vec<u64>;
    /// The machine has the entry of these words.
    fn restore(&mut self, segment: u32, words: &[u64]);
    /// An entry as it lies in memory, but for what means nothing.
    fn entry(&self, segment: u32) -> Vec<u64>;
    fn epoch(&self, segment: u32) -> u16;
}

impl<const OBJECTS: usize, const WORDS: usize> Oracle for Index<OBJECTS, WORDS> {
    fn apply(&mut self, words: &RequestWords) -> AnswerWords {
        let token = (words[3] >> 16) as u16;
        let answer = match Request::<WORDS>::from_words(words) {
            Ok((_, request)) => Index::apply(self, &request),
            Err(_) => Answer::refused(Status::OutOfRange),
        };
        let mut beat = AnswerWords::default();
        beat[..answer_words(WORDS)].copy_from_slice(&answer.to_words(token));
        beat
    }

    fn normal(&self, words: &[u64]) -> Vec<u64> {
        Entry::<OBJECTS, WORDS>::decode(words).encode()
    }

    fn restore(&mut self, segment: u32, words: &[u64]) {
        Index::restore(self, segment, Entry::decode(words));
    }

    fn entry(&self, segment: u32) -> Vec<u64> {
        Index::entry(self, segment).encode()
    }

    fn epoch(&self, segment: u32) -> u16 {
        Index::entry(self, segment).epoch()
    }
}

/// A block: its parameters, and how it is made from a seed of its power-up and the number of a mutant.
#[derive(Clone, Copy)]
pub struct Subject {
    pub name: &'static str,
    pub sets: u32,
    pub ways: u32,
    pub objects: usize,
    pub value_words: usize,
    pub make: fn(u64, u8) -> Box<dyn Dut>,
    pub oracle: fn(Table) -> Box<dyn Oracle>,
}

impl Subject {
    pub fn lines(&self) -> usize {
        entry_lines(self.objects, self.value_words)
    }

    pub fn stride(&self) -> u64 {
        entry_stride(self.objects, self.value_words)
    }

    /// The n-th of segments that all fall into two sets.
    pub fn segment(&self, n: u32) -> u32 {
        n % 2 + n / 2 * self.sets
    }
}

macro_rules! dut {
    ($subject:ident, $sets:literal, $ways:literal, $objects:literal, $words:literal, $pins:literal,
     $($path:ident)::+ $(, $mutant:ident)?) => {
        pub const $subject: Subject = Subject {
            name: stringify!($subject),
            sets: $sets,
            ways: $ways,
            objects: $objects,
            value_words: $words,
            #[allow(unused_mut, unused_variables, reason = "only one model has mutants")]
            make: |seed, mutant| {
                let mut model = $($path)::+::Model::powered_up(seed);
                $(model.inputs_mut().$mutant = mutant;)?
                Box::new(model)
            },
            oracle: |table| Box::new(Index::<$objects, $words>::new(table, $pins)),
        };

        const _: () = {
            use $($path)::+::{Inputs, Model, Outputs};

            sim::axi4_burst_port!(memory_pins, set_memory: m_axi of Inputs, Outputs);

            impl Dut for Model {
                fn configure(&mut self, table: &Table, index_base: u64) {
                    let inputs = self.inputs_mut();
                    inputs.index_base_i = index_base;
                    inputs.segments_i = table.segments();
                    inputs.table_base_i = table.base();
                    inputs.slots_i = table.slots();
                    inputs.slot_units_i = (table.slot_bytes() / 16) as u8;
                    inputs.limit_i = table.limit();
                    inputs.more_i = table.more();
                }

                fn reset(&mut self) {
                    Model::reset(self, 2);
                }

                fn drive_request(&mut self, pins: &StreamPins<RequestWords>) {
                    let inputs = self.inputs_mut();
                    inputs.s_axis_req_tvalid = pins.tvalid;
                    let words = &pins.tdata[..request_words($words)];
                    inputs.s_axis_req_tdata.copy_from_slice(words);
                }

                fn drive_ready(&mut self, ready: bool) {
                    self.inputs_mut().m_axis_rsp_tready = ready;
                }

                fn drive_memory(&mut self, pins: &Axi4SubordinatePins) {
                    set_memory(self.inputs_mut(), pins);
                }

                fn ready(&self) -> bool {
                    self.outputs().s_axis_req_tready
                }

                fn answer(&self) -> StreamPins<AnswerWords> {
                    let mut tdata = AnswerWords::default();
                    tdata[..answer_words($words)].copy_from_slice(&self.outputs().m_axis_rsp_tdata);
                    StreamPins { tvalid: self.outputs().m_axis_rsp_tvalid, tdata }
                }

                fn memory(&self) -> Axi4ManagerPins {
                    memory_pins(self.outputs())
                }

                fn is_idle(&self) -> bool {
                    self.outputs().idle_o
                }

                fn drive_flush(&mut self, flush: bool) {
                    self.inputs_mut().flush_i = flush;
                }

                fn flushed(&self) -> Option<bool> {
                    let outputs = self.outputs();
                    outputs.flushed_o.then_some(outputs.flush_failed_o)
                }

                fn events(&self) -> Events {
                    let outputs = self.outputs();
                    Events {
                        accepted: outputs.accepted_o,
                        fetch: outputs.fetch_o,
                        write_back: outputs.write_back_o,
                        failed: outputs.failed_o,
                    }
                }

                fn clock(&mut self) -> Result<(), String> {
                    self.try_clock().map_err(|failure| failure.to_string())
                }
            }
        };
    };
}

dut!(SHIPPED, 4096, 4, 2, 1, 255, nic_index_cache);
dut!(NARROW, 2, 2, 1, 1, 3, narrow);
dut!(WIDE, 2, 4, 3, 8, 3, wide);
// Right as long as no mutant is chosen.
dut!(MUTANTS, 2, 2, 2, 2, 3, mutants, mutant_i);
