// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes with a stream of rows in front and a sink of packets behind them.

use ndp_runtime::program::Program;
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::pins::StreamPins;
use sim::bus::stall::StallPattern;

use crate::dut::{self, Model};

/// A beat: 512 bits, and whether it is the last one.
pub type Beat = ([u64; 8], bool);

/// Clocks of the longest stall, and of the longest time without a beat at either end.
const TIMEOUT: u64 = 20_000;

/// The inputs and outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub vid: u32,
    pub number: u32,
    pub record: u64,
    pub created: u64,
    /// 0 of a row.
    pub code: u8,
    pub payload: Vec<u8>,
}

/// A packet as the lanes give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub row: Row,
    pub values: Vec<u64>,
    pub nulls: u8,
}

fn beats_of(payload: &[u8], filler: u8) -> impl Iterator<Item = [u64; 8]> {
    payload.chunks(64).map(move |chunk| {
        let mut bytes = [filler; 64];
        bytes[..chunk.len()].copy_from_slice(chunk);
        std::array::from_fn(|n| {
            u64::from_le_bytes(bytes[8 * n..][..8].try_into().expect("8 bytes"))
        })
    })
}

impl Row {
    fn beats(&self) -> Vec<Beat> {
        let header = [
            u64::from(self.number) << 32 | u64::from(self.vid),
            self.record,
            self.created,
            self.payload.len() as u64 | u64::from(self.code) << 16,
            // What a header does not use is arbitrary, as what is behind the payload's end.
            u64::MAX,
            0,
            0x55,
            0,
        ];
        let mut beats: Vec<Beat> = vec![(header, false)];
        beats.extend(beats_of(&self.payload, 0xEE).map(|beat| (beat, false)));
        beats.last_mut().expect("a header").1 = true;
        beats
    }
}

/// The packet of these beats.
fn packet(beats: &[[u64; 8]]) -> Result<Packet, String> {
    let header = beats[0];
    if header[4..] != [0; 4] || header[3] >> 40 != 0 {
        return Err(format!("header {header:x?} has bits beyond its fields"));
    }
    let byte = |shift: u32| (header[3] >> shift) as u8;
    let (bytes, code, values, nulls) =
        ((header[3] & 0xFFFF) as usize, byte(16), byte(24), byte(32));
    let values_beats = usize::from(values > 0);
    let expected = 1 + values_beats + bytes.div_ceil(64);
    if beats.len() != expected || values > 8 {
        return Err(format!(
            "{} beats of a packet with {values} values and {bytes} bytes, expected \
             {expected}",
            beats.len()
        ));
    }
    let value_beat = if values > 0 { beats[1] } else { [0; 8] };
    let (values, beyond) = value_beat.split_at(values.into());
    if beyond.iter().any(|value| *value != 0) {
        return Err(format!("values {value_beat:x?}, of which {} count", values.len()));
    }
    let payload = beats[1 + values_beats..].iter().flatten().flat_map(|word| word.to_le_bytes());
    let row = Row {
        vid: header[0] as u32,
        number: (header[0] >> 32) as u32,
        record: header[1],
        created: header[2],
        code,
        payload: payload.take(bytes).collect(),
    };
    Ok(Packet { row, values: values.to_vec(), nulls })
}

pub struct Bench {
    model: Model,
    rows: StreamSource<Beat>,
    packets: StreamSink<Beat>,
    /// Pulses: packets of rows, packets with a code.
    pub counts: [u64; 2],
    pub cycle: u64,
}

impl Bench {
    /// Lanes that were just reset, with these stalls at both ends.
    pub fn new(stalls: StallPattern, seed: u64) -> Self {
        let mut model = dut::lanes(seed);
        model.reset(2);
        Bench {
            model,
            rows: StreamSource::new("s_axis_row", stalls, seed, TIMEOUT),
            packets: StreamSink::new("m_axis_row", stalls, seed, TIMEOUT),
            counts: [0; 2],
            cycle: 0,
        }
    }

    /// Stores a program, or none.
    pub fn store(&mut self, program: Option<&Program>, wants_payloads: bool) {
        assert!(self.model.outputs().idle_o, "the lanes are at work");
        let inputs = self.model.inputs_mut();
        inputs.has_program_i = program.is_some();
        inputs.outputs_i = program.map_or(0, Program::outputs);
        inputs.wants_payloads_i = wants_payloads;
        let Some(program) = program else { return };
        let image = program.encode();
        let word = |n: usize| image[64 + 8 * n..][..8].try_into().expect("8 bytes");
        let words: Vec<u64> = (0..128).map(|n| u64::from_le_bytes(word(n))).collect();
        self.store_words(&words);
    }

    /// Stores up to 64 instructions, then constants, of a program, valid or not.
    pub fn store_words(&mut self, words: &[u64]) {
        self.model.inputs_mut().has_program_i = true;
        for (place, word) in words.iter().enumerate() {
            let inputs = self.model.inputs_mut();
            inputs.code_write_i = place < 64;
            inputs.constant_write_i = place >= 64;
            inputs.store_address_i = (place % 64) as u8;
            inputs.store_data_i = *word;
            self.model.clock();
        }
        let inputs = self.model.inputs_mut();
        (inputs.code_write_i, inputs.constant_write_i) = (false, false);
    }

    /// Sends rows through the lanes, and gives what comes out, in its order.
    pub fn run(&mut self, rows: &[Row]) -> Result<Vec<Packet>, String> {
        rows.iter().flat_map(Row::beats).for_each(|beat| self.rows.push(beat));
        let (mut packets, mut beats) = (Vec::new(), Vec::new());
        let mut quiet_since = self.cycle;
        while self.rows.backlog() > 0 || !self.model.outputs().idle_o {
            let (went, came) = self.clock()?;
            if went || came.is_some() {
                quiet_since = self.cycle;
            }
            if self.cycle - quiet_since > TIMEOUT {
                return Err(format!("no beat went in or came out for {TIMEOUT} clocks"));
            }
            if let Some((beat, last)) = came {
                beats.push(beat);
                if last {
                    packets.push(packet(&beats)?);
                    beats.clear();
                }
            }
        }
        if beats.is_empty() { Ok(packets) } else { Err("a packet has no end".into()) }
    }

    /// One clock: whether a beat went in, and the one that came out.
    fn clock(&mut self) -> Result<(bool, Option<Beat>), String> {
        let row = *self.rows.drive(self.cycle);
        let inputs = self.model.inputs_mut();
        inputs.s_axis_row_tvalid = row.tvalid;
        (inputs.s_axis_row_tdata, inputs.s_axis_row_tlast) = row.tdata;
        inputs.m_axis_row_tready = self.packets.drive(self.cycle);
        let outputs = self.model.outputs();
        let (ready, tvalid) = (outputs.s_axis_row_tready, outputs.m_axis_row_tvalid);
        let tdata = (outputs.m_axis_row_tdata, outputs.m_axis_row_tlast);
        let went = self.rows.sample(self.cycle, ready).map_err(|fault| fault.to_string())?;
        let pins = StreamPins { tvalid, tdata };
        let came = self.packets.sample(self.cycle, &pins).map_err(|fault| fault.to_string())?;
        self.model.try_clock().map_err(|failure| failure.to_string())?;
        let outputs = self.model.outputs();
        let pulses = [outputs.emitted_o, outputs.fault_o];
        for (count, pulse) in self.counts.iter_mut().zip(pulses) {
            *count += u64::from(pulse);
        }
        self.cycle += 1;
        Ok((went, came))
    }
}
