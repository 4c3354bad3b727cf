// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conditions 1 to 4 of TPC-C's consistency (clause 3.3.2).

use std::ops::ControlFlow;

use super::DISTRICTS;
use super::schema::{
    DISTRICT, NEW_ORDER, ORDER, ORDER_LINE, WAREHOUSE, district, new_order, order, warehouse,
};
use crate::database::present;
use crate::database::schema::TableId;
use crate::database::store::{Access, ConsistencyError, Order, Row};

const CONDITION_1: &str = "condition 1: W_YTD = sum(D_YTD)";
const CONDITION_2: &str = "condition 2: D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)";
const CONDITION_3: &str = "condition 3: max(NO_O_ID) - min(NO_O_ID) + 1 = rows in NEW-ORDER";
const CONDITION_4: &str = "condition 4: sum(O_OL_CNT) = rows in ORDER-LINE";

pub(super) fn check<A: Access>(access: &mut A, warehouses: i64) -> Result<(), A::Error> {
    for warehouse in 1..=warehouses {
        let ytd = access.get(WAREHOUSE, &[warehouse], |row| row.int(warehouse::YTD))?;
        let ytd = present(ytd, "warehouse", &[warehouse])?;
        let mut sum = 0;
        for district in 1..=DISTRICTS {
            let key = [warehouse, district];
            let read = |row: &A::Row<'_>| (row.int(district::YTD), row.int(district::NEXT_ORDER));
            let (ytd, next) = present(access.get(DISTRICT, &key, read)?, "district", &key)?;
            sum += ytd;
            check_district(access, key, next)?;
        }
        if ytd != sum {
            let found = format!("warehouse {warehouse}: {ytd}, and {sum}");
            return Err(ConsistencyError::new(CONDITION_1, found).into());
        }
    }
    Ok(())
}

/// Numbers of the rows of one district in one table.
#[derive(Default)]
struct Numbers {
    least: Option<i64>,
    most: Option<i64>,
    rows: i64,
    /// The sum over a second column.
    sum: i64,
}

fn check_district<A: Access>(
    access: &mut A,
    key @ [warehouse, district]: [i64; 2],
    next: i64,
) -> Result<(), A::Error> {
    let broken = |condition, found: String| {
        ConsistencyError::new(
            condition,
            format!("warehouse {warehouse}, district {district}: {found}"),
        )
    };
    let orders = numbers(access, ORDER, key, order::ID, order::LINES)?;
    let undelivered = numbers(access, NEW_ORDER, key, new_order::ORDER, new_order::ORDER)?;
    // A district without undelivered orders has no max(NO_O_ID), and nothing is asked of it.
    if orders.most != Some(next - 1) || undelivered.most.is_some_and(|most| most != next - 1) {
        let (orders, undelivered) = (orders.most, undelivered.most);
        let found = format!("{}, {orders:?} and {undelivered:?}", next - 1);
        return Err(broken(CONDITION_2, found).into());
    }
    if let (Some(least), Some(most)) = (undelivered.least, undelivered.most) {
        let rows = undelivered.rows;
        if most - least + 1 != rows {
            return Err(broken(CONDITION_3, format!("{least} to {most}, {rows} rows")).into());
        }
    }
    let lines = numbers(access, ORDER_LINE, key, order::ID, order::ID)?.rows;
    if orders.sum != lines {
        return Err(broken(CONDITION_4, format!("{}, {lines} rows", orders.sum)).into());
    }
    Ok(())
}

fn numbers<A: Access>(
    access: &mut A,
    table: TableId,
    key: [i64; 2],
    number: usize,
    summed: usize,
) -> Result<Numbers, A::Error> {
    let mut numbers = Numbers::default();
    access.scan(table, &key, &key, Order::Ascending, |row| {
        let number = row.int(number);
        numbers.least.get_or_insert(number);
        numbers.most = Some(number);
        numbers.rows += 1;
        numbers.sum += row.int(summed);
        ControlFlow::Continue(())
    })?;
    Ok(numbers)
}
