// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP as FaSST runs it (OSDI 2016, section 6): one million subscribers for each node, rows anywhere.
//!
//! Draws, population and logic are those of [`workloads::database::tatp`]: five tables with values of 40,
//! 8, 16, 8 and 16 bytes. The keys of the last three hold the subscriber above their lowest eight bits,
//! then the type in three bits and the start time in five.
//!
//! The rounds in which rows are fetched are those of FaSST's public code. Three kinds of transactions know
//! a subscriber by its number alone: they fetch the secondary row first. GetNewDestination and
//! InsertCallForwarding fetch the facility before its forwardings, as often there is none, or it is not
//! active, and then they are at their end.

use std::sync::Arc;

use workloads::database::tatp::{self as telecom, Input};
use workloads::database::{TableId, Workload};

use super::shape::Shape;
use super::{Stream, Totals};
use crate::engine::{Access, Key, TableNumber};
use crate::transact::database::{Layout, Replay};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError, Writer};

/// The bits at which the columns of the keys stand, by table.
const SHIFTS: [&[u32]; 5] = [&[0], &[0], &[8, 5], &[8, 5], &[8, 5, 0]];
/// Of the mean number of rows of a subscriber in each table, four times: of one to four types 2.5, of
/// none to three start times 1.5.
const QUARTERS_OF_ROWS: [u64; 5] = [4, 4, 10, 10, 15];

/// The numbers of a TATP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TatpSettings {
    /// How many subscribers all nodes have together.
    pub subscribers: u64,
    /// The seed of the population and of all draws.
    pub seed: u64,
}

impl TatpSettings {
    /// As in the paper, for so many nodes.
    pub fn fasst(nodes: u16) -> Self {
        Self { subscribers: 1_000_000 * u64::from(nodes), seed: 0 }
    }
}

/// Why there is no such TATP.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("subscribers is {found}, expected 1 to {MOST_SUBSCRIBERS}")]
pub struct TatpError {
    /// The setting.
    pub found: u64,
}

/// So many that their numbers have 15 digits.
const MOST_SUBSCRIBERS: u64 = 1_000_000_000_000_000;

/// TATP.
#[derive(Clone, Debug)]
pub struct Tatp {
    workload: telecom::Tatp,
    seed: u64,
    shape: Arc<Shape>,
}

impl Tatp {
    /// The TATP of these settings.
    ///
    /// # Errors
    /// When there are no subscribers, or too many.
    pub fn new(settings: TatpSettings) -> Result<Self, TatpError> {
        let TatpSettings { subscribers, seed } = settings;
        if !(1..=MOST_SUBSCRIBERS).contains(&subscribers) {
            return Err(TatpError { found: subscribers });
        }
        let workload = telecom::Tatp::new(subscribers, seed);
        let table = |(definition, (shifts, quarters)): (_, (&&[u32], u64))| {
            let layout = Layout::new(definition, shifts).expect("integers and fixed bytes");
            (layout, subscribers * quarters / 4)
        };
        let tables = SHIFTS.iter().zip(QUARTERS_OF_ROWS);
        let tables = workload.tables().iter().zip(tables).map(table).collect();
        Ok(Self { workload, seed, shape: Arc::new(Shape::of(&workload, tables)) })
    }

    fn key<const N: usize>(&self, table: TableId, key: [i64; N]) -> Key {
        Key { table: TableNumber(table.0 as u8), row: self.shape.layouts[table.0].pack(key) }
    }

    /// The columns of a key, of which `N` are of its table; `None` for a key that none can pack to.
    fn columns(&self, key: Key) -> Option<([i64; 3], usize)> {
        let layout = self.shape.layouts.get(usize::from(key.table.0))?;
        let parts = SHIFTS[usize::from(key.table.0)].len();
        let mut columns = [0; 3];
        for (part, column) in columns[..parts].iter_mut().enumerate() {
            *column = layout.unpack(key.row, part);
        }
        let is_packed = columns.iter().all(|part| *part >= 0)
            && layout.pack(columns[..parts].iter().copied()) == key.row;
        is_packed.then_some((columns, parts))
    }

    /// The subscriber of a number, as far as its row has been fetched.
    fn subscriber(&self, number: i64, rows: &Rows) -> Option<i64> {
        let row = rows.get(self.key(telecom::SECONDARY_SUBSCRIBER, [number])).ok()??;
        Some(i64::from_le_bytes(row.try_into().ok()?))
    }

    /// The keys that an input needs whose subscriber is known.
    fn declare_of_subscriber(
        &self,
        input: &Input,
        subscriber: i64,
        rows: &Rows,
        wanted: &mut Vec<(Key, Intent)>,
    ) {
        use telecom::facility::IS_ACTIVE;
        use telecom::{ACCESS_INFO, CALL_FORWARDING, SPECIAL_FACILITY, SUBSCRIBER};
        let found = |key| rows.get(key).ok().flatten();
        let of_subscriber = self.key(SUBSCRIBER, [subscriber]);
        let facility = |sf_type| self.key(SPECIAL_FACILITY, [subscriber, sf_type]);
        let forwarding =
            |sf_type, start_time| self.key(CALL_FORWARDING, [subscriber, sf_type, start_time]);
        match *input {
            Input::GetSubscriberData { .. } => wanted.push((of_subscriber, Intent::Read)),
            Input::GetAccessData { ai_type, .. } => {
                wanted.push((self.key(ACCESS_INFO, [subscriber, ai_type]), Intent::Read));
            }
            Input::GetNewDestination { sf_type, start_time, .. } => {
                wanted.push((facility(sf_type), Intent::Read));
                if found(facility(sf_type)).is_some_and(|value| value[IS_ACTIVE] == 1) {
                    let starts = (0..=start_time).step_by(8);
                    wanted.extend(starts.map(|start| (forwarding(sf_type, start), Intent::Read)));
                }
            }
            Input::UpdateSubscriberData { sf_type, .. } => {
                wanted.push((of_subscriber, Intent::Write));
                wanted.push((facility(sf_type), Intent::Write));
            }
            Input::UpdateLocation { .. } => wanted.push((of_subscriber, Intent::Write)),
            Input::InsertCallForwarding { sf_type, start_time, .. } => {
                wanted.push((facility(sf_type), Intent::Read));
                if found(facility(sf_type)).is_some() {
                    wanted.push((forwarding(sf_type, start_time), Intent::Write));
                }
            }
            Input::DeleteCallForwarding { sf_type, start_time, .. } => {
                wanted.push((forwarding(sf_type, start_time), Intent::Write));
            }
        }
    }
}

/// The type of a facility or of an access right.
fn a_type(reader: &mut Reader<'_>) -> Result<i64, WireError> {
    reader.u8_in(1..=4, "a type (1 to 4)").map(i64::from)
}

fn start_time(reader: &mut Reader<'_>) -> Result<i64, WireError> {
    match reader.u8("a start time")? {
        time @ (0 | 8 | 16) => Ok(time.into()),
        other => Err(reader.unknown("a start time (0, 8 or 16)", other)),
    }
}

/// A forwarding's row but for its key: an end time, and a number.
fn forwarding(reader: &mut Reader<'_>) -> Result<[u8; 16], WireError> {
    let mut data = [0; 16];
    data[0] = reader.u8_in(1..=24, "an end time (1 to 24)")?;
    data[1..].copy_from_slice(reader.bytes(15, "the number of a forwarding")?);
    Ok(data)
}

impl Transactions for Tatp {
    type Input = Input;
    type Source = Stream;

    fn tables(&self) -> &[TableShape] {
        &self.shape.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &self.shape.kinds
    }

    fn kind(&self, input: &Input) -> u8 {
        self.workload.kind(input) as u8
    }

    fn source(&self, worker: u32) -> Stream {
        Stream::new(self.seed, worker)
    }

    fn draw(&self, source: &mut Stream) -> Option<Input> {
        source.drawn += 1;
        Some(self.workload.draw(&mut source.random))
    }

    /// The kind (1 byte), a subscriber or its number (8), types and times (1 each), a location (4), the bytes
    /// of a forwarding (16).
    fn put_input(&self, input: &Input, out: &mut Vec<u8>) {
        out.put_u8(self.kind(input));
        match *input {
            Input::GetSubscriberData { subscriber } => out.put_u64(subscriber as u64),
            Input::GetAccessData { subscriber, ai_type } => {
                out.put_u64(subscriber as u64);
                out.put_u8(ai_type as u8);
            }
            Input::GetNewDestination { subscriber, sf_type, start_time, end_time } => {
                out.put_u64(subscriber as u64);
                out.extend([sf_type as u8, start_time as u8, end_time]);
            }
            Input::UpdateSubscriberData { subscriber, sf_type, bit_1, data_a } => {
                out.put_u64(subscriber as u64);
                out.extend([sf_type as u8, bit_1.into(), data_a]);
            }
            Input::UpdateLocation { number, location } => {
                out.put_u64(number as u64);
                out.put_u32(location as u32);
            }
            Input::InsertCallForwarding { number, sf_type, start_time, data } => {
                out.put_u64(number as u64);
                out.extend([sf_type as u8, start_time as u8]);
                out.extend(data);
            }
            Input::DeleteCallForwarding { number, sf_type, start_time } => {
                out.put_u64(number as u64);
                out.extend([sf_type as u8, start_time as u8]);
            }
        }
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<Input, WireError> {
        let kind = reader.u8_in(0..=6, "a kind of transaction (0 to 6)")?;
        let last = self.workload.subscribers() as i64 - 1;
        Ok(match kind {
            0..=3 => {
                let subscriber = reader.u64_in(0..=last as u64, "a subscriber")? as i64;
                match kind {
                    0 => Input::GetSubscriberData { subscriber },
                    1 => Input::GetAccessData { subscriber, ai_type: a_type(reader)? },
                    2 => Input::GetNewDestination {
                        subscriber,
                        sf_type: a_type(reader)?,
                        start_time: start_time(reader)?,
                        end_time: reader.u8_in(1..=24, "an end time (1 to 24)")?,
                    },
                    _ => Input::UpdateSubscriberData {
                        subscriber,
                        sf_type: a_type(reader)?,
                        bit_1: reader.u8_in(0..=1, "a bit")? == 1,
                        data_a: reader.u8("a byte of data")?,
                    },
                }
            }
            _ => {
                let most = telecom::subscriber_number(last) as u64;
                let number = reader.u64_in(0..=most, "the number of a subscriber")? as i64;
                match kind {
                    4 => {
                        Input::UpdateLocation { number, location: reader.u32("a location")?.into() }
                    }
                    5 => Input::InsertCallForwarding {
                        number,
                        sf_type: a_type(reader)?,
                        start_time: start_time(reader)?,
                        data: forwarding(reader)?,
                    },
                    _ => Input::DeleteCallForwarding {
                        number,
                        sf_type: a_type(reader)?,
                        start_time: start_time(reader)?,
                    },
                }
            }
        })
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        let Some((columns, parts)) = self.columns(key) else { return false };
        let table = TableId(usize::from(key.table.0));
        let layout = &self.shape.layouts[table.0];
        let write = |row: &[workloads::database::Value<'_>]| layout.write(row, value);
        self.workload.initial(table, &columns[..parts], write).is_some()
    }

    fn declare(&self, input: &Input, rows: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        match *input {
            Input::GetSubscriberData { subscriber }
            | Input::GetAccessData { subscriber, .. }
            | Input::GetNewDestination { subscriber, .. }
            | Input::UpdateSubscriberData { subscriber, .. } => {
                self.declare_of_subscriber(input, subscriber, rows, wanted);
            }
            Input::UpdateLocation { number, .. }
            | Input::InsertCallForwarding { number, .. }
            | Input::DeleteCallForwarding { number, .. } => {
                let secondary = self.key(telecom::SECONDARY_SUBSCRIBER, [number]);
                wanted.push((secondary, Intent::Read));
                if let Some(subscriber) = self.subscriber(number, rows) {
                    self.declare_of_subscriber(input, subscriber, rows, wanted);
                }
            }
        }
    }

    fn run(&self, input: &Input, rows: &mut Rows) -> Result<Decision, Missing> {
        Replay::new(&self.shape.layouts, rows).run(|replay| self.workload.run(input, replay))
    }
}

impl Totals for Tatp {
    fn total_name(&self) -> &'static str {
        "the number of call forwardings"
    }

    fn count(&self, key: Key, value: Option<&[u8]>) -> i64 {
        let is_forwarding = usize::from(key.table.0) == telecom::CALL_FORWARDING.0;
        i64::from(is_forwarding && value.is_some())
    }

    fn change(&self, _: u8, accesses: &[Access]) -> Result<i64, String> {
        // A forwarding is never changed, so each write makes one or deletes one.
        let writes = accesses.iter().filter(|access| access.writes);
        let forwardings =
            writes.filter(|access| usize::from(access.key.table.0) == telecom::CALL_FORWARDING.0);
        Ok(forwardings.map(|access| if access.digest == 0 { -1 } else { 1 }).sum())
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        let Some(shape) = self.shape.tables.get(usize::from(key.table.0)) else {
            return Err("there is no such table".into());
        };
        let expected = usize::from(shape.value_bytes);
        if value.len() != expected {
            return Err(format!("it has {} bytes instead of {expected}", value.len()));
        }
        if usize::from(key.table.0) != telecom::CALL_FORWARDING.0 {
            // The other tables keep the rows that they have at the start.
            let there = self.initial(key, &mut Vec::new());
            return there.then_some(()).ok_or_else(|| "it was not there at the start".into());
        }
        let sound = self.columns(key).is_some_and(|([subscriber, sf_type, start_time], _)| {
            let facility = self.key(telecom::SPECIAL_FACILITY, [subscriber, sf_type]);
            [0, 8, 16].contains(&start_time) && self.initial(facility, &mut Vec::new())
        });
        if !sound || !(1..=24).contains(&value[0]) {
            return Err(format!("a forwarding until {} o'clock without a facility", value[0]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
