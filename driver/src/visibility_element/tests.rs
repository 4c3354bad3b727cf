// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver against a fake register file, and the bytes of jobs and packets.

use std::collections::BTreeMap;

use super::{End, JobBlock, Packet, RefusalError, VisibilityElement};
use crate::map::visibility_pe::{CONTROL, ISR, JOB};
use crate::{DeviceError, Registers};

/// An element whose runs last some polls.
struct FakeElement {
    values: BTreeMap<u32, u32>,
    writes: Vec<(u32, u32)>,
    polls: u32,
}

impl FakeElement {
    fn new() -> Self {
        let identity = [(0x100, 0x4C53_5645), (0x104, 0x0001_0000), (0x108, 0x1002_0807)];
        FakeElement { values: identity.into_iter().collect(), writes: Vec::new(), polls: 3 }
    }
}

impl Registers for FakeElement {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let value = self.values.get(&offset).copied().unwrap_or(0);
        if offset == CONTROL.offset() && value & 1 == 1 {
            self.polls = self.polls.saturating_sub(1);
            if self.polls == 0 {
                self.values.insert(offset, 0);
                self.values.insert(ISR.offset(), 1);
            }
        }
        Ok(value)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.writes.push((offset, value));
        let kept = if offset == ISR.offset() { 0 } else { value };
        self.values.insert(offset, kept);
        Ok(())
    }
}

#[test]
fn an_element_is_identified() {
    let identification = VisibilityElement::new(FakeElement::new()).identify().unwrap();
    assert_eq!((identification.chains, identification.lanes), (128, 8));
    assert_eq!((identification.ports, identification.pages), (2, 65_536));
    let mut other = FakeElement::new();
    other.values.insert(0x108, 0x1002_0007);
    let error = VisibilityElement::new(other).identify().unwrap_err();
    assert!(matches!(error, DeviceError::Mismatch { .. }), "{error}");
}

#[test]
fn a_run_is_started_waited_for_and_acknowledged() {
    let mut element = VisibilityElement::new(FakeElement::new());
    assert!(!element.take_done().unwrap());
    element.start(0x1_2345_6780).unwrap_or_else(|error| panic!("{error}"));
    let started = element.start(0x40).unwrap_err();
    assert!(matches!(started, DeviceError::Mismatch { .. }), "{started}");
    element.wait(5).unwrap();
    assert!(element.take_done().unwrap());
    assert!(!element.take_done().unwrap());
    let writes = element.into_registers().writes;
    let job = JOB.offset();
    assert_eq!(writes[..3], [(job, 0x2345_6780), (job + 4, 1), (CONTROL.offset(), 1)]);
}

#[test]
fn an_address_between_lines_is_refused_and_a_run_without_end_is_reported() {
    let mut element = VisibilityElement::new(FakeElement::new());
    let error = element.start(0x20).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfRange { field: "job", value: 0x20, .. }), "{error}");
    element.start(0x40).unwrap();
    let error = element.wait(1).unwrap_err();
    assert!(matches!(error, DeviceError::Timeout { .. }), "{error}");
}

#[test]
fn the_fields_of_a_job_are_where_the_hardware_reads_them() {
    let block = JobBlock {
        vid_first: 1,
        vid_end: 2,
        snapshot: 3,
        delta_vid_count: 4,
        delta_page_count: 5,
        table: 6,
        forget_pages: true,
        want_payloads: true,
        program: 7,
        ..JobBlock::default()
    };
    let bytes = block.encode();
    let word = |offset: usize| u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap());
    let fields = [0, 4, 8, 64, 68, 104, 108, 112].map(word);
    assert_eq!(fields, [1, 2, 3, 4, 5, 6, 3, 7]);
}

#[test]
fn packets_are_read() {
    let row = [[7 | 3 << 32, 11, 12, 9 | 2 << 24 | 2 << 32, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0]];
    let payload = [u64::from_le_bytes(*b"abcdefgh"), 0x1269, 0, 0, 0, 0, 0, 0];
    let packet = Packet::decode(&[row[0], row[1], payload]).unwrap();
    let expected = Packet::Row {
        vid: 7,
        number: 3,
        record: 11,
        created: 12,
        values: vec![5, 0],
        nulls: 2,
        payload: b"abcdefghi".into(),
    };
    assert_eq!(packet, expected);
    let fault = Packet::decode(&[[7, 0, 0, 3 << 16, 0, 0, 0, 0]]);
    assert_eq!(fault, Ok(Packet::Fault { vid: 7, code: 3 }));
    let end = Packet::decode(&[[5 | 4 << 32, 3 | 2 << 32, 0, 255 << 16, 0, 0, 0, 0]]);
    let counts = End { visited: 5, visible: 4, emitted: 3, faults: 2 };
    assert_eq!(end, Ok(Packet::End(counts)));
    let refused = Packet::decode(&[[7, 0, 0, 254 << 16, 0, 0, 0, 0]]);
    assert_eq!(refused, Ok(Packet::Refused(RefusalError::SoftwareOnly)));
}

#[test]
fn what_is_no_packet_is_refused() {
    let header = |word: u64| [7, 0, 0, word, 0, 0, 0, 0];
    let zero = [0; 8];
    let wrong: [(&[[u64; 8]], &str); 9] = [
        (&[], "number of beats"),
        (&[header(1 << 40)], "behind the header"),
        (&[[0, 0, 0, 0, 0, 0, 0, 1]], "behind the header"),
        (&[header(3 << 16), zero], "comes with a code"),
        (&[header(8089)], "bytes of the payload"),
        (&[header(9 << 24), zero], "values"),
        (&[header(1 << 24 | 2 << 32), zero], "values"),
        (&[header(65), zero], "beats behind the header"),
        (&[header(1 << 24), [0, 1, 0, 0, 0, 0, 0, 0]], "behind the values"),
    ];
    for (beats, what) in wrong {
        let error = Packet::decode(beats).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    let error = Packet::decode(&[[8, 0, 0, 254 << 16, 0, 0, 0, 0]]).unwrap_err().to_string();
    assert_eq!(error, "packet: reason is 8, expected 1 to 7");
}
