// SPDX-License-Identifier: MIT OR Apache-2.0
//! New-Order (clause 2.4.2.2).

use super::random::ORIGINAL;
use super::schema::{
    CUSTOMER, DISTRICT, ITEM, NEW_ORDER, ORDER, ORDER_LINE, STOCK, TABLES, WAREHOUSE, customer,
    district, item, stock, warehouse,
};
use super::{Line, NewOrder, Output, present};
use crate::database::schema::{TableId, Value};
use crate::database::store::{Access, ConsistencyError, Outcome, Row, RowMut};

pub(super) fn run<A: Access>(
    input: &NewOrder,
    access: &mut A,
) -> Result<Outcome<Output>, A::Error> {
    let NewOrder { warehouse, district, customer, .. } = *input;
    let tax = access.get(WAREHOUSE, &[warehouse], |row| row.int(warehouse::TAX))?;
    let warehouse_tax = present(tax, "warehouse", &[warehouse])?;
    let next = access.update(DISTRICT, &[warehouse, district], |row| {
        (row.add(district::NEXT_ORDER, 1) - 1, row.int(district::TAX))
    })?;
    let (order, district_tax) = present(next, "district", &[warehouse, district])?;
    let key = [warehouse, district, customer];
    let discount = access.get(CUSTOMER, &key, |row| row.int(customer::DISCOUNT))?;
    let discount = present(discount, "customer", &key)?;
    insert_order(input, order, access)?;

    let (mut sum, mut brand_lines) = (0, 0);
    for (number, line) in (1..).zip(&input.lines) {
        let original = |text: &str| text.contains(ORIGINAL);
        let item = access.get(ITEM, &[line.item], |row| {
            (row.int(item::PRICE), original(row.text(item::DATA)))
        })?;
        let Some((price, original_item)) = item else {
            let output = Output::NewOrder { order, total: 0, brand_lines };
            return Ok(Outcome::RolledBack(output));
        };
        let (original_stock, information) = take_from_stock(line, warehouse, district, access)?;
        let amount = line.quantity * price;
        sum += amount;
        brand_lines += i64::from(original_item && original_stock);
        let row = [
            warehouse.into(),
            district.into(),
            order.into(),
            number.into(),
            line.item.into(),
            line.supply_warehouse.into(),
            Value::Null,
            line.quantity.into(),
            amount.into(),
            (&information).into(),
        ];
        insert_new(access, ORDER_LINE, &row)?;
    }
    let total = total(sum, discount, warehouse_tax + district_tax);
    Ok(Outcome::Committed(Output::NewOrder { order, total, brand_lines }))
}

/// The rows of ORDER and NEW-ORDER.
fn insert_order<A: Access>(input: &NewOrder, order: i64, access: &mut A) -> Result<(), A::Error> {
    let NewOrder { warehouse, district, customer, date, ref lines } = *input;
    let all_local = lines.iter().all(|line| line.supply_warehouse == warehouse);
    let row = [
        warehouse.into(),
        district.into(),
        order.into(),
        customer.into(),
        date.into(),
        Value::Null,
        (lines.len() as i64).into(),
        i64::from(all_local).into(),
    ];
    insert_new(access, ORDER, &row)?;
    insert_new(access, NEW_ORDER, &row[..3])
}

/// Orders are numbered by their district, so no other has the same key.
fn insert_new<A: Access>(
    access: &mut A,
    table: TableId,
    row: &[Value<'_>],
) -> Result<(), A::Error> {
    if !access.insert(table, row)? {
        let found = format!("`{}` has {:?} already", TABLES[table.0].name, &row[..3]);
        return Err(ConsistencyError::new("a district gives each order number once", found).into());
    }
    Ok(())
}

/// Takes the quantity from stock, which is filled up when it would fall below ten. Returns
/// whether the stock is original, and the information for the order's district.
fn take_from_stock<A: Access>(
    line: &Line,
    warehouse: i64,
    district: i64,
    access: &mut A,
) -> Result<(bool, [u8; 24]), A::Error> {
    let key = [line.supply_warehouse, line.item];
    let taken = access.update(STOCK, &key, |row| {
        let left = row.int(stock::QUANTITY) - line.quantity;
        row.set_int(stock::QUANTITY, if left >= 10 { left } else { left + 91 });
        row.add(stock::YTD, line.quantity);
        row.add(stock::ORDER_COUNT, 1);
        if line.supply_warehouse != warehouse {
            row.add(stock::REMOTE_COUNT, 1);
        }
        let information = row.fixed(stock::DISTRICT_1 + district as usize - 1);
        let information = information.try_into().expect("the column has 24 bytes");
        (row.text(stock::DATA).contains(ORIGINAL), information)
    })?;
    Ok(present(taken, "stock", &key)?)
}

/// sum * (1 - discount) * (1 + tax), rounded to cents.
fn total(sum: i64, discount: i64, tax: i64) -> i64 {
    (sum * (10_000 - discount) * (10_000 + tax) + 50_000_000) / 100_000_000
}

#[cfg(test)]
mod tests {
    #[test]
    fn totals_have_discount_and_taxes() {
        // 100.00 less 50 % plus 20 % + 20 %.
        assert_eq!(super::total(10_000, 5_000, 4_000), 7_000);
        // 0.99 less 0.01 %: 0.9899.
        assert_eq!(super::total(99, 1, 0), 99);
        assert_eq!(super::total(99, 100, 0), 98);
    }
}
