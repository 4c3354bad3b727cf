// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP, the telecom benchmark, in FaSST's form (OSDI 2016): five tables with values of 40, 8,
//! 16, 8 and 16 bytes, accessed by primary key only.
//!
//! Mix, key distribution and population are TATP's (version 1.0). A transaction that finds no row
//! where the population may have none rolls back. The total is the number of call-forwarding
//! rows.

mod check;
mod population;

use rand::{Rng, RngExt};

use super::schema::{Column, TableDefinition, TableId, Value};
use super::store::{Access, Load, Outcome, Row, RowMut};
use super::{Kind, Workload, present};
use crate::random::{agent_stream, draw_share};

/// Subscribers, by subscriber: number, location, [attributes](attribute).
pub const SUBSCRIBER: TableId = TableId(0);
/// Subscribers' numbers, by number: the subscriber.
pub const SECONDARY_SUBSCRIBER: TableId = TableId(1);
/// Access rights, by subscriber and type 1 to 4: 16 bytes.
pub const ACCESS_INFO: TableId = TableId(2);
/// Special facilities, by subscriber and type 1 to 4: eight [bytes](facility).
pub const SPECIAL_FACILITY: TableId = TableId(3);
/// Forwardings, by subscriber, facility's type and start time (hours 0, 8 or 16): end time
/// (hours 1 to 24) in the first byte, then 15 digits of a number.
pub const CALL_FORWARDING: TableId = TableId(4);

const TABLES: &[TableDefinition] = &[
    TableDefinition {
        name: "subscriber",
        columns: &[
            Column::int("s_id"),
            Column::int("sub_nbr"),
            Column::int("vlr_location"),
            Column::fixed("attributes", attribute::BYTES),
        ],
        key_columns: 1,
        indexes: &[],
    },
    TableDefinition {
        name: "secondary_subscriber",
        columns: &[Column::int("sub_nbr"), Column::int("s_id")],
        key_columns: 1,
        indexes: &[],
    },
    TableDefinition {
        name: "access_info",
        columns: &[Column::int("s_id"), Column::int("ai_type"), Column::fixed("data", 16)],
        key_columns: 2,
        indexes: &[],
    },
    TableDefinition {
        name: "special_facility",
        columns: &[Column::int("s_id"), Column::int("sf_type"), Column::fixed("data", 8)],
        key_columns: 2,
        indexes: &[],
    },
    TableDefinition {
        name: "call_forwarding",
        columns: &[
            Column::int("s_id"),
            Column::int("sf_type"),
            Column::int("start_time"),
            Column::fixed("data", 16),
        ],
        key_columns: 3,
        indexes: &[],
    },
];

/// Columns of [`SUBSCRIBER`].
mod subscriber {
    pub const NUMBER: usize = 1;
    pub const LOCATION: usize = 2;
    pub const ATTRIBUTES: usize = 3;
}

/// Bytes of a subscriber's attributes.
pub mod attribute {
    /// All of them.
    pub const BYTES: usize = 24;
    /// Bytes 0 and 1 hold bit_1 to bit_10.
    pub const BITS: usize = 0;
    /// Five bytes hold hex_1 to hex_10.
    pub const HEX: usize = 2;
    /// Ten bytes are byte2_1 to byte2_10.
    pub const BYTE2: usize = 7;
    /// Four bytes, little-endian, are msc_location. Three more are 0.
    pub const MSC_LOCATION: usize = 17;
}

/// Bytes of a special facility.
pub mod facility {
    /// 1 when active, else 0.
    pub const IS_ACTIVE: usize = 0;
    /// error_cntrl.
    pub const ERROR_CONTROL: usize = 1;
    /// data_a, which UpdateSubscriberData sets; five letters of data_b follow.
    pub const DATA_A: usize = 2;
}

const KINDS: &[Kind] = &[
    Kind::reads("get-subscriber-data", 35),
    Kind::reads("get-access-data", 35),
    Kind::reads("get-new-destination", 10),
    Kind::writes("update-subscriber-data", 2),
    Kind::writes("update-location", 14),
    Kind::writes("insert-call-forwarding", 2),
    Kind::writes("delete-call-forwarding", 2),
];

/// TATP over so many subscribers.
#[derive(Clone, Copy, Debug)]
pub struct Tatp {
    subscribers: u64,
    seed: u64,
}

/// The input of one TATP transaction. Subscribers count from 0; numbers are those of
/// [`subscriber_number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are named as in TATP, and by the tables above")]
pub enum Input {
    GetSubscriberData { subscriber: i64 },
    GetAccessData { subscriber: i64, ai_type: i64 },
    GetNewDestination { subscriber: i64, sf_type: i64, start_time: i64, end_time: u8 },
    UpdateSubscriberData { subscriber: i64, sf_type: i64, bit_1: bool, data_a: u8 },
    UpdateLocation { number: i64, location: i64 },
    InsertCallForwarding { number: i64, sf_type: i64, start_time: i64, data: [u8; 16] },
    DeleteCallForwarding { number: i64, sf_type: i64, start_time: i64 },
}

/// What a TATP transaction found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// A digest of all that was read, in order.
    pub digest: u64,
}

impl Tatp {
    /// `subscribers` subscribers; TATP as the papers run it has one million a machine.
    ///
    /// # Panics
    /// When there are none, or more than 10^15, the subscribers' numbers.
    pub fn new(subscribers: u64, seed: u64) -> Self {
        assert!((1..=MAX_SUBSCRIBERS).contains(&subscribers), "{subscribers} subscribers");
        Self { subscribers, seed }
    }

    /// The number of subscribers.
    pub fn subscribers(&self) -> u64 {
        self.subscribers
    }

    /// The row of this key in the initial population, given to `give` as a value for each column; `None`
    /// if there is none. A function of seed and key alone, in a few tens of nanoseconds, so that a store
    /// need not hold rows that nobody has changed.
    pub fn initial<T>(
        &self,
        table: TableId,
        key: &[i64],
        give: impl FnOnce(&[Value<'_>]) -> T,
    ) -> Option<T> {
        population::initial(self, table, key, give)
    }

    /// One transaction of the mix, for streams other than [`Workload::inputs`].
    pub fn draw(&self, random: &mut impl Rng) -> Input {
        let kind = draw_share(KINDS.iter().map(|kind| kind.percent), random);
        let subscriber = draw_subscriber(self.subscribers, random);
        let number = || subscriber_number(subscriber);
        let a_type = random.random_range(1..=4);
        let mut start_time = || 8 * random.random_range(0..3);
        match kind {
            0 => Input::GetSubscriberData { subscriber },
            1 => Input::GetAccessData { subscriber, ai_type: a_type },
            2 => {
                let (start_time, end_time) = (start_time(), random.random_range(1..=24));
                Input::GetNewDestination { subscriber, sf_type: a_type, start_time, end_time }
            }
            3 => {
                let (bit_1, data_a) = (random.random(), random.random());
                Input::UpdateSubscriberData { subscriber, sf_type: a_type, bit_1, data_a }
            }
            4 => Input::UpdateLocation { number: number(), location: draw_location(random) },
            5 => {
                let start_time = start_time();
                let end_time = random.random_range(1..=24);
                let data = population::forwarding(end_time, random);
                Input::InsertCallForwarding { number: number(), sf_type: a_type, start_time, data }
            }
            6 => {
                let start_time = start_time();
                Input::DeleteCallForwarding { number: number(), sf_type: a_type, start_time }
            }
            _ => unreachable!("there are seven kinds"),
        }
    }
}

/// The most subscribers whose numbers have 15 digits.
const MAX_SUBSCRIBERS: u64 = 1_000_000_000_000_000;

/// (rand mod N | rand & A) mod N with the A that goes with N: some subscribers come more often.
fn draw_subscriber(subscribers: u64, random: &mut impl Rng) -> i64 {
    let mask = match subscribers {
        0..=1_000_000 => 65_535,
        1_000_001..=10_000_000 => 1_048_575,
        _ => 2_097_151,
    };
    let (uniform, masked) = (random.random_range(0..subscribers), random.random::<u64>() & mask);
    ((uniform | masked) % subscribers) as i64
}

/// A location of 32 bits.
fn draw_location(random: &mut impl Rng) -> i64 {
    i64::from(random.random::<u32>())
}

/// The subscriber of a number; `None` if it is no number of a subscriber.
fn subscriber_of(number: i64) -> Option<i64> {
    let subscriber = (0..15).rev().fold(0, |rest, digit| 10 * rest + (number >> (4 * digit) & 15));
    (subscriber_number(subscriber) == number).then_some(subscriber)
}

/// The number under which a subscriber is known: its 15 decimal digits, four bits each.
pub fn subscriber_number(subscriber: i64) -> i64 {
    let (mut number, mut rest) = (0, subscriber);
    for digit in 0..15 {
        // The digits above the first are zeros.
        if rest == 0 {
            break;
        }
        number |= (rest % 10) << (4 * digit);
        rest /= 10;
    }
    number
}

impl Workload for Tatp {
    type Input = Input;
    type Output = Output;

    fn tables(&self) -> &'static [TableDefinition] {
        TABLES
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn kind(&self, input: &Input) -> usize {
        match input {
            Input::GetSubscriberData { .. } => 0,
            Input::GetAccessData { .. } => 1,
            Input::GetNewDestination { .. } => 2,
            Input::UpdateSubscriberData { .. } => 3,
            Input::UpdateLocation { .. } => 4,
            Input::InsertCallForwarding { .. } => 5,
            Input::DeleteCallForwarding { .. } => 6,
        }
    }

    fn populate<L: Load>(&self, load: &mut L) -> Result<(), L::Error> {
        population::populate(self, load)
    }

    fn inputs(&self, agent: u32) -> impl Iterator<Item = Input> + Send {
        let mut random = agent_stream(self.seed, agent);
        let workload = *self;
        std::iter::repeat_with(move || workload.draw(&mut random))
    }

    fn run<A: Access>(&self, input: &Input, access: &mut A) -> Result<Outcome<Output>, A::Error> {
        let mut digest = Digest::default();
        let found = execute(input, access, &mut digest)?;
        let output = Output { digest: digest.0 };
        Ok(if found { Outcome::Committed(output) } else { Outcome::RolledBack(output) })
    }

    fn change(&self, input: &Input, _: &Output) -> i64 {
        match input {
            Input::InsertCallForwarding { .. } => 1,
            Input::DeleteCallForwarding { .. } => -1,
            _ => 0,
        }
    }

    fn total<A: Access>(&self, access: &mut A) -> Result<i64, A::Error> {
        check::count(access, CALL_FORWARDING)
    }

    /// Subscribers and their numbers are there, one for one. Access rights and facilities belong
    /// to a subscriber, one to four each; forwardings belong to a facility; types and times are
    /// in their ranges.
    fn check<A: Access>(&self, access: &mut A) -> Result<(), A::Error> {
        check::check(access, self.subscribers as i64)
    }
}

/// Executes one transaction; whether all rows that it needs were there (not there, for an insert).
fn execute<A: Access>(
    input: &Input,
    access: &mut A,
    digest: &mut Digest,
) -> Result<bool, A::Error> {
    Ok(match *input {
        Input::GetSubscriberData { subscriber } => {
            let row = access.get(SUBSCRIBER, &[subscriber], |row| {
                digest.add(row.int(subscriber::NUMBER));
                digest.add(row.int(subscriber::LOCATION));
                digest.add_bytes(row.fixed(subscriber::ATTRIBUTES));
            })?;
            present(row, "subscriber", &[subscriber])?;
            true
        }
        Input::GetAccessData { subscriber, ai_type } => {
            let data = |row: &A::Row<'_>| digest.add_bytes(row.fixed(2));
            access.get(ACCESS_INFO, &[subscriber, ai_type], data)?.is_some()
        }
        Input::GetNewDestination { subscriber, sf_type, start_time, end_time } => {
            destination(access, [subscriber, sf_type], start_time, end_time, digest)?
        }
        Input::UpdateSubscriberData { subscriber, sf_type, bit_1, data_a } => {
            let row = access.update(SUBSCRIBER, &[subscriber], |row| {
                set_byte::<{ attribute::BYTES }>(row, subscriber::ATTRIBUTES, 0, |byte| {
                    byte & !1 | u8::from(bit_1)
                });
            })?;
            present(row, "subscriber", &[subscriber])?;
            let facility = access.update(SPECIAL_FACILITY, &[subscriber, sf_type], |row| {
                set_byte::<8>(row, 2, facility::DATA_A, |_| data_a);
            })?;
            facility.is_some()
        }
        Input::UpdateLocation { number, location } => {
            let subscriber = by_number(access, number)?;
            let row = access.update(SUBSCRIBER, &[subscriber], |row| {
                digest.add(row.int(subscriber::LOCATION));
                row.set_int(subscriber::LOCATION, location);
            })?;
            present(row, "subscriber", &[subscriber])?;
            true
        }
        Input::InsertCallForwarding { number, sf_type, start_time, data } => {
            let subscriber = by_number(access, number)?;
            let facility = |row: &A::Row<'_>| digest.add_bytes(row.fixed(2));
            if access.get(SPECIAL_FACILITY, &[subscriber, sf_type], facility)?.is_none() {
                return Ok(false);
            }
            let row = [subscriber.into(), sf_type.into(), start_time.into(), (&data).into()];
            access.insert(CALL_FORWARDING, &row)?
        }
        Input::DeleteCallForwarding { number, sf_type, start_time } => {
            let subscriber = by_number(access, number)?;
            access.delete(CALL_FORWARDING, &[subscriber, sf_type, start_time])?
        }
    })
}

/// Reads the forwardings of an active facility that begin by `start_time` and end after
/// `end_time`; whether there are any.
fn destination<A: Access>(
    access: &mut A,
    [subscriber, sf_type]: [i64; 2],
    start_time: i64,
    end_time: u8,
    digest: &mut Digest,
) -> Result<bool, A::Error> {
    let is_active = |row: &A::Row<'_>| row.fixed(2)[facility::IS_ACTIVE] == 1;
    if access.get(SPECIAL_FACILITY, &[subscriber, sf_type], is_active)? != Some(true) {
        return Ok(false);
    }
    let mut found = false;
    for start in (0..=start_time).step_by(8) {
        access.get(CALL_FORWARDING, &[subscriber, sf_type, start], |row| {
            let data = row.fixed(3);
            if end_time < data[0] {
                digest.add_bytes(data);
                found = true;
            }
        })?;
    }
    Ok(found)
}

fn by_number<A: Access>(access: &mut A, number: i64) -> Result<i64, A::Error> {
    let subscriber = access.get(SECONDARY_SUBSCRIBER, &[number], |row| row.int(1))?;
    Ok(present(subscriber, "secondary_subscriber", &[number])?)
}

/// Changes one byte of a fixed column of `N` bytes.
fn set_byte<const N: usize>(
    row: &mut impl RowMut,
    column: usize,
    place: usize,
    new: impl FnOnce(u8) -> u8,
) {
    let mut bytes: [u8; N] = row.fixed(column).try_into().expect("the column has N bytes");
    bytes[place] = new(bytes[place]);
    row.set_fixed(column, &bytes);
}

/// A digest of numbers and bytes, in order.
#[derive(Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, value: i64) {
        self.0 = (self.0.rotate_left(5) ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(i64::from_le_bytes(word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chi_square_deviation;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn subscribers_are_drawn_as_tatp_says() {
        const SUBSCRIBERS: u64 = 150;
        let mut shares = vec![0.0; SUBSCRIBERS as usize];
        for uniform in 0..SUBSCRIBERS {
            for masked in 0..=65_535 {
                let subscriber = ((uniform | masked) % SUBSCRIBERS) as usize;
                shares[subscriber] += 1.0 / (SUBSCRIBERS * 65_536) as f64;
            }
        }
        let draw = |random: &mut ChaCha8Rng| draw_subscriber(SUBSCRIBERS, random) as usize;
        let deviation = chi_square_deviation(draw, &shares, 3);
        assert!(deviation.abs() < 5.0, "{deviation}");
        let uniform = |random: &mut ChaCha8Rng| random.random_range(0..SUBSCRIBERS) as usize;
        assert!(chi_square_deviation(uniform, &shares, 3) > 5.0, "not uniform");
    }

    #[test]
    fn more_subscribers_are_skewed_in_more_bits() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for (subscribers, bits) in [(1_000_000, 16), (10_000_000, 20), (10_000_001, 21)] {
            // Each of the low bits is set in three of four draws except for the modulo.
            let bit = |draw: i64| draw >> (bits - 1) & 1;
            let set: i64 =
                (0..20_000).map(|_| bit(draw_subscriber(subscribers, &mut random))).sum();
            assert!(set > 12_000, "{subscribers}: bit {bits} set in {set} of 20000");
        }
    }

    #[test]
    fn numbers_are_decimal_digits() {
        assert_eq!(subscriber_number(123_456_789_012_345), 0x0123_4567_8901_2345);
        assert_eq!(subscriber_number(7), 7);
        for subscriber in [0, 7, 10, 123_456_789_012_345, 999_999_999_999_999] {
            assert_eq!(subscriber_of(subscriber_number(subscriber)), Some(subscriber));
        }
        for number in [-1, 0xa, 1 << 60, i64::MIN] {
            assert_eq!(subscriber_of(number), None, "{number:#x}");
        }
    }
}
