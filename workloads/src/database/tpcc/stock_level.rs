// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stock-Level (clause 2.8.2.2).

use std::ops::ControlFlow;

use super::schema::{DISTRICT, ORDER_LINE, STOCK, district, order_line, stock};
use super::{Output, StockLevel, present};
use crate::database::store::{Access, Order, Outcome, Row};

/// The orders of a district that a stock-level looks at.
pub const RECENT_ORDERS: i64 = 20;

pub(super) fn run<A: Access>(
    input: &StockLevel,
    access: &mut A,
) -> Result<Outcome<Output>, A::Error> {
    let StockLevel { warehouse, district, threshold } = *input;
    let key = [warehouse, district];
    let next = access.get(DISTRICT, &key, |row| row.int(district::NEXT_ORDER))?;
    let next = present(next, "district", &key)?;

    let mut items = Vec::with_capacity(15 * RECENT_ORDERS as usize);
    let (from, to) = ([warehouse, district, next - RECENT_ORDERS], [warehouse, district, next - 1]);
    access.scan(ORDER_LINE, &from, &to, Order::Ascending, |row| {
        items.push(row.int(order_line::ITEM));
        ControlFlow::Continue(())
    })?;
    items.sort_unstable();
    items.dedup();

    let mut low = 0;
    for item in items {
        let key = [warehouse, item];
        let quantity = access.get(STOCK, &key, |row| row.int(stock::QUANTITY))?;
        low += i64::from(present(quantity, "stock", &key)? < threshold);
    }
    Ok(Outcome::Committed(Output::StockLevel(low)))
}
