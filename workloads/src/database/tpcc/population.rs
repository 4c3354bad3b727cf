// SPDX-License-Identifier: MIT OR Apache-2.0
//! The initial population (clause 4.3.3.1). What a row is depends on its key alone, so that a store can
//! have a row without those before it.

use rand::{Rng, RngExt};

use super::random::{digits, fill_text, goods_data, last_name, text};
use super::schema::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER, ORDER_LINE, STOCK, TABLES, WAREHOUSE,
};
use super::{DISTRICTS, MOST_LINES, Tpcc};
use crate::database::schema::{TableId, Value};
use crate::database::store::Load;
use crate::random::RowStream;
use crate::zipf::Permutation;

/// What each customer has paid before: 10.00.
const FIRST_PAYMENT: i64 = 1_000;

/// What is drawn for several rows has streams of its own, beside those of the tables' rows.
const LINES: u64 = TABLES.len() as u64;
const BUYERS: u64 = LINES + 1;

/// Every row that [`initial`] has.
pub(super) fn populate<L: Load>(tpcc: &Tpcc, load: &mut L) -> Result<(), L::Error> {
    load.create(TABLES)?;
    let scale = tpcc.scale;
    let mut row = |table, key: &[i64]| {
        initial(tpcc, table, key, |row| load.row(table, row)).unwrap_or(Ok(()))
    };
    for item in 1..=scale.items {
        row(ITEM, &[item])?;
    }
    for number in 1..=scale.warehouses * DISTRICTS * scale.customers {
        row(HISTORY, &[0, number])?;
    }
    for warehouse in 1..=scale.warehouses {
        row(WAREHOUSE, &[warehouse])?;
        for item in 1..=scale.items {
            row(STOCK, &[warehouse, item])?;
        }
        for district in 1..=DISTRICTS {
            row(DISTRICT, &[warehouse, district])?;
            // Each customer has one order.
            for number in 1..=scale.customers {
                let key = [warehouse, district, number];
                for table in [CUSTOMER, ORDER, NEW_ORDER] {
                    row(table, &key)?;
                }
                for line in 1..=MOST_LINES {
                    row(ORDER_LINE, &[warehouse, district, number, line])?;
                }
            }
        }
    }
    load.finish()
}

/// The row of this key in the initial population; see [`Tpcc::initial`].
pub(super) fn initial<T>(
    tpcc: &Tpcc,
    table: TableId,
    key: &[i64],
    give: impl FnOnce(&[Value<'_>]) -> T,
) -> Option<T> {
    if !tpcc.has(table, key) {
        return None;
    }
    let mut random = RowStream::new(tpcc.seed, table.0 as u64, key);
    Some(match (table, key) {
        (WAREHOUSE, [warehouse]) => {
            give(&warehouse_row(tpcc, *warehouse, &Place::draw(&mut random)))
        }
        (DISTRICT, [warehouse, district]) => {
            give(&district_row(tpcc, [*warehouse, *district], &Place::draw(&mut random)))
        }
        (CUSTOMER, [warehouse, district, customer]) => {
            give_customer(tpcc, [*warehouse, *district, *customer], &mut random, give)
        }
        (HISTORY, [_, number]) => give_payment(tpcc, *number, &mut random, give),
        (NEW_ORDER, [warehouse, district, order]) => {
            give(&[(*warehouse).into(), (*district).into(), (*order).into()])
        }
        (ORDER, [warehouse, district, order]) => {
            let key = [*warehouse, *district, *order];
            give(&order_row(tpcc, key, &mut random))
        }
        (ORDER_LINE, [warehouse, district, order, line]) => {
            give_line(tpcc, [*warehouse, *district, *order, *line], &mut random, give)
        }
        (ITEM, [item]) => give_item(*item, &mut random, give),
        (STOCK, [warehouse, item]) => give_stock([*warehouse, *item], &mut random, give),
        _ => return None,
    })
}

impl Tpcc {
    /// Whether the population has a row of this key.
    fn has(&self, table: TableId, key: &[i64]) -> bool {
        let scale = self.scale;
        let district = |warehouse: i64, district: i64| {
            (1..=scale.warehouses).contains(&warehouse) && (1..=DISTRICTS).contains(&district)
        };
        match (table, key) {
            (WAREHOUSE, [warehouse]) => (1..=scale.warehouses).contains(warehouse),
            (DISTRICT, [w, d]) => district(*w, *d),
            (CUSTOMER | ORDER, [w, d, number]) => {
                district(*w, *d) && (1..=scale.customers).contains(number)
            }
            (HISTORY, [agent, number]) => {
                let customers = scale.warehouses * DISTRICTS * scale.customers;
                *agent == 0 && (1..=customers).contains(number)
            }
            (NEW_ORDER, [w, d, order]) => {
                district(*w, *d)
                    && (1..=scale.customers).contains(order)
                    && !self.is_delivered(*order)
            }
            (ORDER_LINE, [w, d, order, line]) => {
                district(*w, *d)
                    && (1..=scale.customers).contains(order)
                    && (1..=self.lines([*w, *d, *order])).contains(line)
            }
            (ITEM, [item]) => (1..=scale.items).contains(item),
            (STOCK, [warehouse, item]) => {
                (1..=scale.warehouses).contains(warehouse) && (1..=scale.items).contains(item)
            }
            _ => false,
        }
    }

    /// The last three of ten orders are not yet delivered.
    fn is_delivered(&self, order: i64) -> bool {
        order < self.first_undelivered()
    }

    /// The oldest order of each district that the population has not delivered.
    pub fn first_undelivered(&self) -> i64 {
        self.scale.customers * 7 / 10 + 1
    }

    /// The one order of a customer in the population.
    ///
    /// # Panics
    /// When there is no such customer.
    pub fn first_order(&self, [warehouse, district, customer]: [i64; 3]) -> i64 {
        assert!(self.has(CUSTOMER, &[warehouse, district, customer]), "no customer {customer}");
        self.buyers([warehouse, district]).invert(customer as u64 - 1) as i64 + 1
    }

    /// Of the customers of a district, the one who is meant by each last name, in the order of the names' numbers
    /// (clause 2.5.2.2): the middle one in the order of first names. Nobody is ever renamed.
    pub fn middle_namesakes(&self, [warehouse, district]: [i64; 2]) -> Vec<i64> {
        let mut namesakes = vec![Vec::new(); self.scale.names() as usize];
        for customer in 1..=self.scale.customers {
            let key = [warehouse, district, customer];
            let mut random = RowStream::new(self.seed, CUSTOMER.0 as u64, &key);
            let name = self.draw_name(customer, &mut random);
            namesakes[name as usize].push((first_name(&mut random), customer));
        }
        let middle = |namesakes: &mut Vec<(String, i64)>| {
            namesakes.sort_unstable();
            namesakes[(namesakes.len() - 1) / 2].1
        };
        namesakes.iter_mut().map(middle).collect()
    }

    /// The number of a customer's last name. The first have one name each, so that each name is somebody's.
    fn draw_name(&self, customer: i64, random: &mut impl Rng) -> i64 {
        let names = self.scale.names();
        match customer <= names {
            true => customer - 1,
            false => self.constants.name_load.draw(0, names - 1, random),
        }
    }

    fn lines(&self, order: [i64; 3]) -> i64 {
        RowStream::new(self.seed, LINES, &order).random_range(5..=MOST_LINES)
    }

    /// The customer of an order of the population: each has one, in random order.
    fn buyer(&self, [warehouse, district, order]: [i64; 3]) -> i64 {
        self.buyers([warehouse, district]).apply(order as u64 - 1) as i64 + 1
    }

    fn buyers(&self, district: [i64; 2]) -> Permutation {
        let mut random = RowStream::new(self.seed, BUYERS, &district);
        Permutation::new(self.scale.customers as u64, random.next_u64())
    }
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

/// What warehouses and districts have: a name, an address, and a tax of 0 to 20 %.
struct Place {
    name: String,
    address: Address,
    tax: i64,
}

impl Place {
    fn draw(random: &mut impl Rng) -> Self {
        let name = text(6, 10, random);
        Self { name, address: Address::draw(random), tax: random.random_range(0..=2_000) }
    }
}

fn warehouse_row<'p>(tpcc: &Tpcc, warehouse: i64, place: &'p Place) -> [Value<'p>; 9] {
    // 300,000.00 at the standard's scale.
    let ytd = DISTRICTS * tpcc.scale.customers * FIRST_PAYMENT;
    let [street_1, street_2, city, state, zip] = place.address.values();
    let (name, tax) = ((&place.name).into(), place.tax.into());
    [warehouse.into(), name, street_1, street_2, city, state, zip, tax, ytd.into()]
}

fn district_row<'p>(
    tpcc: &Tpcc,
    [warehouse, district]: [i64; 2],
    place: &'p Place,
) -> [Value<'p>; 11] {
    // 30,000.00 at the standard's scale.
    let ytd = tpcc.scale.customers * FIRST_PAYMENT;
    let [street_1, street_2, city, state, zip] = place.address.values();
    let next_order = tpcc.scale.customers + 1;
    [
        warehouse.into(),
        district.into(),
        (&place.name).into(),
        street_1,
        street_2,
        city,
        state,
        zip,
        place.tax.into(),
        ytd.into(),
        next_order.into(),
    ]
}

fn first_name(random: &mut impl Rng) -> String {
    text(8, 16, random)
}

fn give_customer<T>(
    tpcc: &Tpcc,
    [warehouse, district, customer]: [i64; 3],
    random: &mut impl Rng,
    give: impl FnOnce(&[Value<'_>]) -> T,
) -> T {
    let name = tpcc.draw_name(customer, random);
    let (first, last) = (first_name(random), last_name(name));
    let address = Address::draw(random);
    let phone = digits::<16>(random);
    let credit = if random.random_range(0..10) == 0 { b"BC" } else { b"GC" };
    let discount = random.random_range(0..=5_000i64);
    let data = text(300, 500, random);
    let [street_1, street_2, city, state, zip] = address.values();
    give(&[
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
    ])
}

/// The one payment in the history of each customer, who are numbered through.
fn give_payment<T>(
    tpcc: &Tpcc,
    number: i64,
    random: &mut impl Rng,
    give: impl FnOnce(&[Value<'_>]) -> T,
) -> T {
    let customers = tpcc.scale.customers;
    let customer = (number - 1) % customers + 1;
    let district = (number - 1) / customers % DISTRICTS + 1;
    let warehouse = (number - 1) / customers / DISTRICTS + 1;
    let data = text(12, 24, random);
    give(&[
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
    ])
}

fn order_row(tpcc: &Tpcc, key: [i64; 3], random: &mut impl Rng) -> [Value<'static>; 8] {
    let [warehouse, district, order] = key;
    let carrier = tpcc.is_delivered(order).then(|| random.random_range(1..=10i64));
    let (buyer, lines) = (tpcc.buyer(key), tpcc.lines(key));
    [
        warehouse.into(),
        district.into(),
        order.into(),
        buyer.into(),
        0.into(),
        carrier.into(),
        lines.into(),
        1.into(),
    ]
}

fn give_line<T>(
    tpcc: &Tpcc,
    [warehouse, district, order, line]: [i64; 4],
    random: &mut impl Rng,
    give: impl FnOnce(&[Value<'_>]) -> T,
) -> T {
    let delivered = tpcc.is_delivered(order);
    let item = random.random_range(1..=tpcc.scale.items);
    let amount = if delivered { 0 } else { random.random_range(1..=999_999i64) };
    let mut information = [0; 24];
    fill_text(&mut information, random);
    give(&[
        warehouse.into(),
        district.into(),
        order.into(),
        line.into(),
        item.into(),
        warehouse.into(),
        delivered.then_some(0).into(),
        5.into(),
        amount.into(),
        (&information).into(),
    ])
}

fn give_item<T>(item: i64, random: &mut impl Rng, give: impl FnOnce(&[Value<'_>]) -> T) -> T {
    let image = random.random_range(1..=10_000i64);
    let name = text(14, 24, random);
    let price = random.random_range(100..=10_000i64);
    let data = goods_data(random);
    give(&[item.into(), image.into(), (&name).into(), price.into(), (&data).into()])
}

fn give_stock<T>(
    [warehouse, item]: [i64; 2],
    random: &mut impl Rng,
    give: impl FnOnce(&[Value<'_>]) -> T,
) -> T {
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
    give(&row)
}
