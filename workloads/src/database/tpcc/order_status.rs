// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order-Status (clause 2.6.2.2).

use std::ops::ControlFlow;

use super::schema::{CUSTOMER, ORDER, ORDER_BY_CUSTOMER, ORDER_LINE, customer, order, order_line};
use super::{OrderStatus, Output, find_customer, present};
use crate::database::store::{Access, ConsistencyError, Order, Outcome, Row};

/// A customer's last order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The customer's number.
    pub customer: i64,
    /// The balance in cents.
    pub balance: i64,
    /// The order's number.
    pub order: i64,
    /// When it was entered.
    pub entry_date: i64,
    /// The carrier, if it has been delivered.
    pub carrier: Option<i64>,
    /// Its lines, by number.
    pub lines: Vec<StatusLine>,
}

/// A line of a [`Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// What.
    pub item: i64,
    /// From where.
    pub supply_warehouse: i64,
    /// How many.
    pub quantity: i64,
    /// For how much, in cents.
    pub amount: i64,
    /// When it was delivered, if it has been yet.
    pub delivery_date: Option<i64>,
}

pub(super) fn run<A: Access>(
    input: &OrderStatus,
    access: &mut A,
) -> Result<Outcome<Output>, A::Error> {
    let OrderStatus { warehouse, district, .. } = *input;
    let customer = find_customer(access, warehouse, district, input.customer)?;
    let key = [warehouse, district, customer];
    let balance = access.get(CUSTOMER, &key, |row| row.int(customer::BALANCE))?;
    let balance = present(balance, "customer", &key)?;

    let mut last = None;
    let prefix = key.map(Into::into);
    access.scan_index(ORDER, ORDER_BY_CUSTOMER, &prefix, Order::Descending, |row| {
        let (order, entry_date) = (row.int(order::ID), row.int(order::ENTRY_DATE));
        last = Some((order, entry_date, row.int_or_null(order::CARRIER)));
        ControlFlow::Break(())
    })?;
    let Some((order, entry_date, carrier)) = last else {
        let found = format!("customer {key:?} has none");
        return Err(ConsistencyError::new("each customer has an order", found).into());
    };

    let mut lines = Vec::with_capacity(15);
    let key = [warehouse, district, order];
    access.scan(ORDER_LINE, &key, &key, Order::Ascending, |row| {
        lines.push(StatusLine {
            item: row.int(order_line::ITEM),
            supply_warehouse: row.int(order_line::SUPPLY_WAREHOUSE),
            quantity: row.int(order_line::QUANTITY),
            amount: row.int(order_line::AMOUNT),
            delivery_date: row.int_or_null(order_line::DELIVERY_DATE),
        });
        ControlFlow::Continue(())
    })?;
    let status = Status { customer, balance, order, entry_date, carrier, lines };
    Ok(Outcome::Committed(Output::OrderStatus(status)))
}
