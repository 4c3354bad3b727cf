// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consistency conditions of a TATP database.

use std::ops::ControlFlow;

use super::{
    ACCESS_INFO, CALL_FORWARDING, SECONDARY_SUBSCRIBER, SPECIAL_FACILITY, SUBSCRIBER, TABLES,
    subscriber, subscriber_number,
};
use crate::database::schema::TableId;
use crate::database::store::{Access, ConsistencyError, Order, Row};

const NUMBERS: &str = "each subscriber has its row, and its number leads to it";
const TYPES: &str = "each subscriber has one to four rows of types 1 to 4";
const FORWARDINGS: &str = "each call forwarding has a special facility and times of the day";

/// Number of rows of a table.
pub(super) fn count<A: Access>(access: &mut A, table: TableId) -> Result<i64, A::Error> {
    let mut rows = 0;
    access.scan(table, &[], &[], Order::Ascending, |_| {
        rows += 1;
        ControlFlow::Continue(())
    })?;
    Ok(rows)
}

pub(super) fn check<A: Access>(access: &mut A, subscribers: i64) -> Result<(), A::Error> {
    for table in [SUBSCRIBER, SECONDARY_SUBSCRIBER] {
        let rows = count(access, table)?;
        if rows != subscribers {
            let found = format!("{rows} rows of `{}`, not {subscribers}", TABLES[table.0].name);
            return Err(ConsistencyError::new(NUMBERS, found).into());
        }
    }
    let facilities = types(access, SPECIAL_FACILITY, subscribers)?;
    types(access, ACCESS_INFO, subscribers)?;
    for id in 0..subscribers {
        let number = subscriber_number(id);
        let of_row = access.get(SUBSCRIBER, &[id], |row| row.int(subscriber::NUMBER))?;
        let of_number = access.get(SECONDARY_SUBSCRIBER, &[number], |row| row.int(1))?;
        if (of_row, of_number) != (Some(number), Some(id)) {
            let found = format!("subscriber {id} has {of_row:?}, {number} leads to {of_number:?}");
            return Err(ConsistencyError::new(NUMBERS, found).into());
        }
    }
    let mut stray = None;
    access.scan(CALL_FORWARDING, &[], &[], Order::Ascending, |row| {
        let key @ [id, sf_type, start_time] = [row.int(0), row.int(1), row.int(2)];
        let end_time = row.fixed(3)[0];
        let facility = facilities.get(id as usize).is_some_and(|types| types & 1 << sf_type != 0);
        if facility && [0, 8, 16].contains(&start_time) && (1..=24).contains(&end_time) {
            return ControlFlow::Continue(());
        }
        stray = Some(format!("forwarding {key:?} to {end_time} o'clock, facility: {facility}"));
        ControlFlow::Break(())
    })?;
    stray.map_or(Ok(()), |found| Err(ConsistencyError::new(FORWARDINGS, found).into()))
}

/// The types that each subscriber has rows of, as a set of bits 1 to 4.
fn types<A: Access>(access: &mut A, table: TableId, subscribers: i64) -> Result<Vec<u8>, A::Error> {
    let mut types = vec![0u8; subscribers as usize];
    let mut stray = None;
    access.scan(table, &[], &[], Order::Ascending, |row| {
        let key @ [id, a_type] = [row.int(0), row.int(1)];
        match (types.get_mut(id as usize), a_type) {
            (Some(types), 1..=4) => *types |= 1 << a_type,
            _ => stray = Some(format!("row {key:?}")),
        }
        if stray.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let none = types.iter().position(|types| *types == 0);
    let found = stray.or_else(|| none.map(|id| format!("subscriber {id} has none")));
    match found {
        None => Ok(types),
        Some(found) => {
            let found = format!("`{}`: {found}", TABLES[table.0].name);
            Err(ConsistencyError::new(TYPES, found).into())
        }
    }
}
