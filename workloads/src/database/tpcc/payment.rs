// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payment (clause 2.5.2.2).

use super::schema::{CUSTOMER, DISTRICT, HISTORY, WAREHOUSE, customer, district, warehouse};
use super::{Output, Payment, find_customer, present};
use crate::database::store::{Access, ConsistencyError, Outcome, Row, RowMut};

pub(super) fn run<A: Access>(input: &Payment, access: &mut A) -> Result<Outcome<Output>, A::Error> {
    let Payment { warehouse, district, amount, .. } = *input;
    let name = access.update(WAREHOUSE, &[warehouse], |row| {
        row.add(warehouse::YTD, amount);
        row.text(warehouse::NAME).to_owned()
    })?;
    let mut data = present(name, "warehouse", &[warehouse])?;
    data.push_str("    ");
    let key = [warehouse, district];
    let name = access.update(DISTRICT, &key, |row| {
        row.add(district::YTD, amount);
        data.push_str(row.text(district::NAME));
    })?;
    present(name, "district", &key)?;

    let (customer_warehouse, customer_district) =
        (input.customer_warehouse, input.customer_district);
    let customer = find_customer(access, customer_warehouse, customer_district, input.customer)?;
    let key = [customer_warehouse, customer_district, customer];
    let balance = access.update(CUSTOMER, &key, |row| pay(input, customer, row))?;
    let balance = present(balance, "customer", &key)?;

    let row = [
        input.source.into(),
        input.date.into(),
        customer.into(),
        customer_district.into(),
        customer_warehouse.into(),
        district.into(),
        warehouse.into(),
        input.date.into(),
        amount.into(),
        (&data).into(),
    ];
    if !access.insert(HISTORY, &row)? {
        let found = format!("payment {} of source {} is there already", input.date, input.source);
        return Err(ConsistencyError::new("each payment is entered once", found).into());
    }
    Ok(Outcome::Committed(Output::Payment { customer, balance }))
}

/// Changes the customer's row; returns the new balance.
fn pay(input: &Payment, customer: i64, row: &mut impl RowMut) -> i64 {
    row.add(customer::YTD_PAYMENT, input.amount);
    row.add(customer::PAYMENT_COUNT, 1);
    if row.fixed(customer::CREDIT) == b"BC" {
        let Payment { warehouse, district, amount, .. } = *input;
        let (home, home_district) = (input.customer_warehouse, input.customer_district);
        let old = row.text(customer::DATA);
        let mut data =
            format!("{customer} {home_district} {home} {district} {warehouse} {amount} {old}");
        // Texts are ASCII.
        data.truncate(customer::DATA_BYTES);
        row.set_text(customer::DATA, &data);
    }
    row.add(customer::BALANCE, -input.amount)
}
