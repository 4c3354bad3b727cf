// SPDX-License-Identifier: MIT OR Apache-2.0
//! The initial population (clause 4.3.3.1).

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::random::{digits, fill_text, goods_data, last_name, text};
use super::schema::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER, ORDER_LINE, STOCK, TABLES, WAREHOUSE,
};
use super::{DISTRICTS, Tpcc};
use crate::database::schema::Value;
use crate::database::store::Load;
use crate::random::common_stream;

/// What each customer has paid before: 10.00.
const FIRST_PAYMENT: i64 = 1_000;

pub(super) fn populate<L: Load>(tpcc: &Tpcc, load: &mut L) -> Result<(), L::Error> {
    load.create(TABLES)?;
    // Streams of their own for items and each warehouse: more warehouses leave the rest alike.
    load_items(tpcc, load, &mut common_stream(tpcc.seed, 1))?;
    for warehouse in 1..=tpcc.scale.warehouses {
        let mut random = common_stream(tpcc.seed, warehouse as u32 + 1);
        load_warehouse(tpcc, warehouse, load, &mut random)?;
        load_stock(tpcc, warehouse, load, &mut random)?;
        for district in 1..=DISTRICTS {
            let place = [warehouse, district];
            load_district(tpcc, place, load, &mut random)?;
            load_customers(tpcc, place, load, &mut random)?;
            load_orders(tpcc, place, load, &mut random)?;
        }
    }
    load.finish()
}

fn load_items<L: Load>(tpcc: &Tpcc, load: &mut L, random: &mut impl Rng) -> Result<(), L::Error> {
    for item in 1..=tpcc.scale.items {
        let image = random.random_range(1..=10_000i64);
        let name = text(14, 24, random);
        let price = random.random_range(100..=10_000i64);
        let data = goods_data(random);
        let row = [item.into(), image.into(), (&name).into(), price.into(), (&data).into()];
        load.row(ITEM, &row)?;
    }
    Ok(())
}

/// Two streets, city, state and zip code.
struct Address {
    texts: [String; 3],
    state: [u8; 2],
    zip: [u8; 9],
}

impl Address {
    fn draw(random: &mut impl Rng) -> Self {
        let texts = std::array::from_fn(|_| text(10, 20, random));
        let state = std::array::from_fn(|_| random.random_range(b'A'..=b'Z'));
        let mut zip = *b"000011111";
        zip[..4].copy_from_slice(&digits::<4>(random));
        Self { texts, state, zip }
    }

    fn values(&self) -> [Value<'_>; 5] {
        let [street_1, street_2, city] = &self.texts;
        [street_1.into(), street_2.into(), city.into(), (&self.state).into(), (&self.zip).into()]
    }
}

/// A tax of 0 to 20 %.
fn tax(random: &mut impl Rng) -> i64 {
    random.random_range(0..=2_000)
}

fn load_warehouse<L: Load>(
    tpcc: &Tpcc,
    warehouse: i64,
    load: &mut L,
    random: &mut impl Rng,
) -> Result<(), L::Error> {
    let name = text(6, 10, random);
    let address = Address::draw(random);
    let tax = tax(random);
    // 300,000.00 at the standard's scale.
    let ytd = DISTRICTS * tpcc.scale.customers * FIRST_PAYMENT;
    let [street_1, street_2, city, state, zip] = address.values();
    let row = [
        warehouse.into(),
        (&name).into(),
        street_1,
        street_2,
        city,
        state,
        zip,
        tax.into(),
        ytd.into(),
    ];
    load.row(WAREHOUSE, &row)
}

fn load_stock<L: Load>(
    tpcc: &Tpcc,
    warehouse: i64,
    load: &mut L,
    random: &mut impl Rng,
) -> Result<(), L::Error> {
    for item in 1..=tpcc.scale.items {
        let quantity = random.random_range(10..=100i64);
        let mut information = [[0; 24]; DISTRICTS as usize];
        fill_text(information.as_flattened_mut(), random);
        let data = goods_data(random);
        let mut row = [Value::Int(0); 17];
        (row[0], row[1], row[2]) = (warehouse.into(), item.into(), quantity.into());
        for (value, information) in row[3..13].iter_mut().zip(&information) {
            *value = information.into();
        }
        // Sales of the year, orders and remote orders are 0.
        row[16] = (&data).into();
        load.row(STOCK, &row)?;
    }
    Ok(())
}

fn load_district<L: Load>(
    tpcc: &Tpcc,
    [warehouse, district]: [i64; 2],
    load: &mut L,
    random: &mut impl Rng,
) -> Result<(), L::Error> {
    let name = text(6, 10, random);
    let address = Address::draw(random);
    let tax = tax(random);
    // 30,000.00 at the standard's scale.
    let ytd = tpcc.scale.customers * FIRST_PAYMENT;
    let [street_1, street_2, city, state, zip] = address.values();
    let row = [
        warehouse.into(),
        district.into(),
        (&name).into(),
        street_1,
        street_2,
        city,
        state,
        zip,
        tax.into(),
        ytd.into(),
        (tpcc.scale.customers + 1).into(),
    ];
    load.row(DISTRICT, &row)
}

/// Customers and the one payment in the history of each.
fn load_customers<L: Load>(
    tpcc: &Tpcc,
    [warehouse, district]: [i64; 2],
    load: &mut L,
    random: &mut impl Rng,
) -> Result<(), L::Error> {
    let customers = tpcc.scale.customers;
    for customer in 1..=customers {
        // The first have one name each, so that each name is somebody's.
        let names = tpcc.scale.names();
        let name = match customer <= names {
            true => customer - 1,
            false => tpcc.constants.name_load.draw(0, names - 1, random),
        };
        let (first, last) = (text(8, 16, random), last_name(name));
        let address = Address::draw(random);
        let phone = digits::<16>(random);
        let credit = if random.random_range(0..10) == 0 { b"BC" } else { b"GC" };
        let discount = random.random_range(0..=5_000i64);
        let data = text(300, 500, random);
        let [street_1, street_2, city, state, zip] = address.values();
        let row = [
            warehouse.into(),
            district.into(),
            customer.into(),
            (&first).into(),
            b"OE".into(),
            (&last).into(),
            street_1,
            street_2,
            city,
            state,
            zip,
            (&phone).into(),
            0.into(),
            credit.into(),
            5_000_000.into(),
            discount.into(),
            (-FIRST_PAYMENT).into(),
            FIRST_PAYMENT.into(),
            1.into(),
            0.into(),
            (&data).into(),
        ];
        load.row(CUSTOMER, &row)?;

        let number = ((warehouse - 1) * DISTRICTS + district - 1) * customers + customer;
        let data = text(12, 24, random);
        let row = [
            0.into(),
            number.into(),
            customer.into(),
            district.into(),
            warehouse.into(),
            district.into(),
            warehouse.into(),
            0.into(),
            FIRST_PAYMENT.into(),
            (&data).into(),
        ];
        load.row(HISTORY, &row)?;
    }
    Ok(())
}

/// One order for each customer, in random order. The last three of ten are not yet delivered.
fn load_orders<L: Load>(
    tpcc: &Tpcc,
    [warehouse, district]: [i64; 2],
    load: &mut L,
    random: &mut impl Rng,
) -> Result<(), L::Error> {
    let mut customers: Vec<i64> = (1..=tpcc.scale.customers).collect();
    customers.shuffle(random);
    let delivered_orders = tpcc.scale.customers * 7 / 10;
    for (order, customer) in (1..).zip(customers) {
        let delivered = order <= delivered_orders;
        let carrier = delivered.then(|| random.random_range(1..=10i64));
        let lines = random.random_range(5..=15i64);
        let key: [Value<'_>; 3] = [warehouse.into(), district.into(), order.into()];
        let [w, d, o] = key;
        let row = [w, d, o, customer.into(), 0.into(), carrier.into(), lines.into(), 1.into()];
        load.row(ORDER, &row)?;
        if !delivered {
            load.row(NEW_ORDER, &key)?;
        }
        for line in 1..=lines {
            let item = random.random_range(1..=tpcc.scale.items);
            let amount = if delivered { 0 } else { random.random_range(1..=999_999i64) };
            let mut information = [0; 24];
            fill_text(&mut information, random);
            let row = [
                w,
                d,
                o,
                line.into(),
                item.into(),
                warehouse.into(),
                delivered.then_some(0).into(),
                5.into(),
                amount.into(),
                (&information).into(),
            ];
            load.row(ORDER_LINE, &row)?;
        }
    }
    Ok(())
}
