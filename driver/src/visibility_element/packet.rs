// SPDX-License-Identifier: MIT OR Apache-2.0
//! The output of an element: packets of beats of 64 bytes.

/// Words of 8 bytes in a beat; word 0 is bits 63 to 0.
pub const BEAT_WORDS: usize = 8;

/// The most values that a program makes of a row.
pub const MAX_VALUES: usize = 8;

/// The longest payload of a row, in bytes.
const MAX_PAYLOAD: usize = 8088;

/// Codes of the packets that end a run.
const FINISHED: u8 = 255;
const REFUSED: u8 = 254;

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// A row that qualifies.
    Row {
        /// The tuple.
        vid: u32,
        /// The number of the version that is seen.
        number: u32,
        /// The place of that version.
        record: u64,
        /// The commit that created it.
        created: u64,
        /// What the program made of the row; nulls are 0.
        values: Vec<u64>,
        /// Bit *n*: value *n* is null.
        nulls: u8,
        /// The payload, if it was asked for.
        payload: Vec<u8>,
    },
    /// A VID of which no row could be made.
    Fault {
        /// The tuple.
        vid: u32,
        /// Why: 1 to 10 of the walk, 20 and above of the program.
        code: u8,
    },
    /// The run is over.
    End(End),
    /// The run has not begun.
    Refused(RefusalError),
}

/// What a run has done, each modulo 2^32.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct End {
    /// VIDs that were visited.
    pub visited: u32,
    /// Rows that the snapshot sees.
    pub visible: u32,
    /// Rows that were emitted.
    pub emitted: u32,
    /// VIDs that ended with a fault.
    pub faults: u32,
}

/// Why a run has not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum RefusalError {
    /// Memory answered with an error.
    #[error("the job block could not be read")]
    JobUnreadable = 1,
    /// Memory answered with an error.
    #[error("the program could not be read")]
    ProgramUnreadable = 2,
    /// Its address is odd.
    #[error("the program's address is no multiple of 64")]
    Misplaced = 3,
    /// There is another magic number.
    #[error("there is no program at its address")]
    NoProgram = 4,
    /// It is none that the element knows.
    #[error("the program has another version, expected 1")]
    OtherVersion = 5,
    /// There are more than fit, or there is no instruction.
    #[error("the program has an impossible number of instructions, constants or outputs")]
    BadCount = 6,
    /// It compares texts, or is of a kind that the element does not know.
    #[error("the program is for software alone")]
    SoftwareOnly = 7,
}

impl RefusalError {
    fn from_code(code: u32) -> Option<Self> {
        use RefusalError::{
            BadCount, JobUnreadable, Misplaced, NoProgram, OtherVersion, ProgramUnreadable,
            SoftwareOnly,
        };
        let all = [
            JobUnreadable,
            ProgramUnreadable,
            Misplaced,
            NoProgram,
            OtherVersion,
            BadCount,
            SoftwareOnly,
        ];
        all.into_iter().find(|refusal| *refusal as u32 == code)
    }
}

/// Beats that are no packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("packet: {field} is {found}, expected {expected}")]
pub struct PacketError {
    field: &'static str,
    found: String,
    expected: String,
}

impl PacketError {
    fn new(field: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        PacketError { field, found: found.into(), expected: expected.into() }
    }
}

impl Packet {
    /// The packet of these beats, the last of which was marked so.
    ///
    /// # Errors
    /// When they are none, with the first field that is wrong.
    pub fn decode(beats: &[[u64; BEAT_WORDS]]) -> Result<Packet, PacketError> {
        let Some((header, rest)) = beats.split_first() else {
            return Err(PacketError::new("number of beats", "0", "a header at least"));
        };
        let byte = |shift: u32| (header[3] >> shift) as u8;
        let (bytes, code) = ((header[3] & 0xFFFF) as usize, byte(16));
        let (values, nulls) = (usize::from(byte(24)), byte(32));
        let beyond = header[3] >> 40 | header[4..].iter().fold(0, |all, word| all | word);
        if beyond != 0 {
            return Err(PacketError::new("what is behind the header", format!("{beyond:#x}"), "0"));
        }
        if code != 0 {
            let others = [bytes, values, usize::from(nulls), rest.len()];
            if others != [0; 4] {
                let found = format!("{others:?}");
                return Err(PacketError::new("what comes with a code", found, "nothing"));
            }
            return Self::without_row(code, header);
        }
        if bytes > MAX_PAYLOAD {
            let expected = format!("at most {MAX_PAYLOAD}");
            return Err(PacketError::new("bytes of the payload", bytes.to_string(), expected));
        }
        if values > MAX_VALUES || u32::from(nulls) >> values != 0 {
            let found = format!("{values} with nulls {nulls:#010b}");
            return Err(PacketError::new("values", found, format!("at most {MAX_VALUES}")));
        }
        let (values, payload) = split(rest, values, bytes)?;
        Ok(Packet::Row {
            vid: header[0] as u32,
            number: (header[0] >> 32) as u32,
            record: header[1],
            created: header[2],
            values,
            nulls,
            payload,
        })
    }

    fn without_row(code: u8, header: &[u64; BEAT_WORDS]) -> Result<Packet, PacketError> {
        let halves = |word: u64| (word as u32, (word >> 32) as u32);
        let ((low, high), (emitted, faults)) = (halves(header[0]), halves(header[1]));
        Ok(match code {
            FINISHED => Packet::End(End { visited: low, visible: high, emitted, faults }),
            REFUSED => match RefusalError::from_code(low) {
                Some(refusal) => Packet::Refused(refusal),
                None => return Err(PacketError::new("reason", low.to_string(), "1 to 7")),
            },
            _ => Packet::Fault { vid: low, code },
        })
    }
}

/// Values and payload of the beats behind a header.
fn split(
    beats: &[[u64; BEAT_WORDS]],
    values: usize,
    bytes: usize,
) -> Result<(Vec<u64>, Vec<u8>), PacketError> {
    let value_beats = usize::from(values > 0);
    let expected = value_beats + bytes.div_ceil(8 * BEAT_WORDS);
    if beats.len() != expected {
        let found = beats.len().to_string();
        return Err(PacketError::new("beats behind the header", found, expected.to_string()));
    }
    let (value_beats, payload) = beats.split_at(value_beats);
    let mut all = value_beats.iter().flatten().copied();
    let values: Vec<u64> = all.by_ref().take(values).collect();
    if let Some(beyond) = all.find(|word| *word != 0) {
        return Err(PacketError::new("what is behind the values", format!("{beyond:#x}"), "0"));
    }
    let payload = payload.iter().flatten().flat_map(|word| word.to_le_bytes()).take(bytes);
    Ok((values, payload.collect()))
}
