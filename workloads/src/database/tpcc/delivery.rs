// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery (clause 2.7.4.2): all districts in one transaction, or one of them.

use std::ops::ControlFlow;

use super::schema::{
    CUSTOMER, NEW_ORDER, ORDER, ORDER_LINE, customer, new_order, order, order_line,
};
use super::{DISTRICTS, Delivery, Output, present};
use crate::database::store::{Access, Order, Outcome, Row, RowMut};

pub(super) fn run<A: Access>(
    input: &Delivery,
    access: &mut A,
) -> Result<Outcome<Output>, A::Error> {
    let mut delivered = [None; DISTRICTS as usize];
    for (district, delivered) in (1..).zip(&mut delivered) {
        *delivered = deliver_oldest(input, district, access)?;
    }
    Ok(Outcome::Committed(Output::Delivery(delivered)))
}

/// See [`Tpcc::deliver`](super::Tpcc::deliver).
pub(super) fn deliver_oldest<A: Access>(
    input: &Delivery,
    district: i64,
    access: &mut A,
) -> Result<Option<i64>, A::Error> {
    let oldest = take_oldest(access, input.warehouse, district)?;
    if let Some(order) = oldest {
        deliver(access, input, [input.warehouse, district, order])?;
    }
    Ok(oldest)
}

/// Removes the oldest row of NEW-ORDER. `None` when the district has none, or another delivery
/// has just taken it (which a store of a low isolation level may show).
fn take_oldest<A: Access>(
    access: &mut A,
    warehouse: i64,
    district: i64,
) -> Result<Option<i64>, A::Error> {
    let mut oldest = None;
    let key = [warehouse, district];
    access.scan(NEW_ORDER, &key, &key, Order::Ascending, |row| {
        oldest = Some(row.int(new_order::ORDER));
        ControlFlow::Break(())
    })?;
    match oldest {
        Some(order) if access.delete(NEW_ORDER, &[warehouse, district, order])? => Ok(Some(order)),
        _ => Ok(None),
    }
}

fn deliver<A: Access>(
    access: &mut A,
    input: &Delivery,
    [warehouse, district, order]: [i64; 3],
) -> Result<(), A::Error> {
    let key = [warehouse, district, order];
    let found = access.update(ORDER, &key, |row| {
        row.set_int(order::CARRIER, input.carrier);
        (row.int(order::CUSTOMER), row.int(order::LINES))
    })?;
    let (customer, lines) = present(found, "orders", &key)?;
    let mut sum = 0;
    for line in 1..=lines {
        let key = [warehouse, district, order, line];
        let amount = access.update(ORDER_LINE, &key, |row| {
            row.set_int(order_line::DELIVERY_DATE, input.date);
            row.int(order_line::AMOUNT)
        })?;
        sum += present(amount, "order_line", &key)?;
    }
    let key = [warehouse, district, customer];
    let updated = access.update(CUSTOMER, &key, |row| {
        row.add(customer::BALANCE, sum);
        row.add(customer::DELIVERY_COUNT, 1);
    })?;
    Ok(present(updated, "customer", &key)?)
}
