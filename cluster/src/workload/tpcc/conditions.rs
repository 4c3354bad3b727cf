// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consistency conditions of clause 3.3.2, by the rows of the end that differ from the start.
//!
//! All conditions hold of the population. So a sum over many rows is compared by how much it has changed, and conditions of
//! single orders are looked at for those of which a row has changed. The eleventh is of the population alone: 2,100
//! orders of each district have no row in NEW-ORDER. Here it is that these have grown by what was delivered.
//!
//! Beyond the standard: stocks have sold what new order lines say; the workload's own tables tell what scans would find;
//! customers have paid as often as HISTORY says.

use std::collections::{BTreeMap, BTreeSet};

use workloads::database::TableId;
use workloads::database::tpcc::{self as orders, DISTRICTS, MOST_LINES};

use super::check::Sales;
use super::keys::{LAST_ORDER, NEXT_DELIVERY, found_at};
use super::{ChangedRow, Mix, Tpcc, number};
use crate::engine::Key;

/// By how much the sums of a warehouse have changed.
#[derive(Default)]
struct Warehouse {
    paid: i64,
    paid_in_districts: i64,
    history: i64,
}

/// The same of a district.
#[derive(Default)]
struct District {
    paid: i64,
    history: i64,
    orders: i64,
    undelivered: i64,
    lines_of_orders: i64,
    lines: i64,
    deliveries: i64,
    /// The new rows of ORDER, and the highest of NEW-ORDER that differs from the start.
    new_orders: Vec<i64>,
    last_undelivered: Option<i64>,
}

/// The same of a customer.
#[derive(Default)]
struct Customer {
    balance: i64,
    paid: i64,
    payments: i64,
    history: i64,
    rows_of_history: i64,
    /// Amounts of delivered lines.
    delivered: i64,
    last_order: Option<i64>,
}

/// An order at one time.
#[derive(Default, PartialEq)]
struct Order {
    /// Customer, lines, and whether it has a carrier.
    head: Option<(i64, i64, bool)>,
    is_undelivered: bool,
    lines: i64,
    delivered_lines: i64,
    delivered_amount: i64,
}

/// All that differs from the start, and its sums.
struct Rows<'r> {
    of: &'r Tpcc,
    now: BTreeMap<Key, Option<&'r [u8]>>,
    warehouses: BTreeMap<i64, Warehouse>,
    districts: BTreeMap<[i64; 2], District>,
    customers: BTreeMap<[i64; 3], Customer>,
    orders: BTreeMap<[i64; 3], Order>,
    stocks: BTreeMap<[i64; 2], Sales>,
    sales: BTreeMap<[i64; 2], Sales>,
}

/// Compares the rows with each other.
pub(super) fn together(of: &Tpcc, rows: &[ChangedRow<'_>]) -> Result<(), String> {
    let now = rows.iter().map(|row| (row.key, row.now)).collect();
    let mut all = Rows {
        of,
        now,
        warehouses: BTreeMap::new(),
        districts: BTreeMap::new(),
        customers: BTreeMap::new(),
        orders: BTreeMap::new(),
        stocks: BTreeMap::new(),
        sales: BTreeMap::new(),
    };
    let mut changed_orders = BTreeSet::new();
    for row in rows {
        all.add(row, &mut changed_orders)?;
    }
    for order in changed_orders {
        all.add_order(order);
    }
    all.check_warehouses()?;
    all.check_districts()?;
    all.check_lines()?;
    all.check_orders()?;
    all.check_payments()?;
    all.check_customers()?;
    all.check_stocks()?;
    if of.mix == Mix::Standard { all.check_own_tables() } else { Ok(()) }
}

fn at_district([warehouse, district]: [i64; 2], wrong: String) -> String {
    format!("warehouse {warehouse}, district {district}: {wrong}")
}

impl<'r> Rows<'r> {
    fn now<const N: usize>(&self, table: TableId, key: [i64; N]) -> Option<Vec<u8>> {
        let packed = Key { table: number(table), row: self.of.layout(table).try_pack(key)? };
        match self.now.get(&packed) {
            Some(now) => now.map(<[u8]>::to_vec),
            None => self.was(table, &key),
        }
    }

    fn was(&self, table: TableId, key: &[i64]) -> Option<Vec<u8>> {
        let mut was = Vec::new();
        self.of.initial_row(table, key, &mut was).then_some(was)
    }

    /// Adds a row to the sums, but for those of orders, whose keys are kept.
    fn add(
        &mut self,
        &ChangedRow { key, now }: &ChangedRow<'r>,
        changed_orders: &mut BTreeSet<[i64; 3]>,
    ) -> Result<(), String> {
        let Some((table, key, parts)) = self.of.columns(key) else { return Ok(()) };
        let was = self.was(table, &key[..parts]);
        let of_order = matches!(table, orders::ORDER | orders::NEW_ORDER | orders::ORDER_LINE);
        if of_order {
            changed_orders.insert([key[0], key[1], key[2]]);
        }
        let Some(now) = now else {
            let may_go = table == orders::NEW_ORDER && self.of.mix == Mix::Standard;
            return match was.is_none() || may_go {
                true => Ok(()),
                false => Err(format!("row {:?} of table {} is deleted", &key[..parts], table.0)),
            };
        };
        let (layout, of) = (self.of.layout(table), &self.of.shared.columns);
        let more = |column: usize| {
            layout.int(now, column) - was.as_ref().map_or(0, |was| layout.int(was, column))
        };
        match table {
            orders::WAREHOUSE => {
                self.warehouses.entry(key[0]).or_default().paid += more(of.warehouse_paid);
            }
            orders::DISTRICT => {
                let paid = more(of.district_paid);
                self.warehouses.entry(key[0]).or_default().paid_in_districts += paid;
                self.districts.entry([key[0], key[1]]).or_default().paid += paid;
            }
            orders::CUSTOMER => {
                let deliveries = more(of.deliveries);
                self.districts.entry([key[0], key[1]]).or_default().deliveries += deliveries;
                let customer = self.customers.entry([key[0], key[1], key[2]]).or_default();
                customer.balance += more(of.balance);
                customer.paid += more(of.paid);
                customer.payments += more(of.payments);
            }
            orders::HISTORY if was.is_none() => self.add_payment(now),
            orders::STOCK => {
                let stock = [key[0], key[1]];
                let sales = self.of.sales_of_stock(&stock, now)?;
                self.stocks.insert(stock, sales);
            }
            orders::ORDER_LINE if was.is_none() && (1..=DISTRICTS).contains(&key[1]) => {
                let (stock, sale) = self.of.sale_of_line(key, now)?;
                *self.sales.entry(stock).or_default() += sale;
            }
            LAST_ORDER => {
                self.customers.entry([key[0], key[1], key[2]]).or_default();
            }
            NEXT_DELIVERY => {
                self.districts.entry([key[0], key[1]]).or_default();
            }
            _ => {}
        }
        Ok(())
    }

    fn add_payment(&mut self, now: &[u8]) {
        let (layout, of) = (self.of.layout(orders::HISTORY), &self.of.shared.columns);
        let amount = layout.int(now, of.payment_amount);
        let [customer, home_district, home, district, warehouse] =
            [0, 1, 2, 3, 4].map(|place| layout.int(now, of.payment_of + place));
        self.warehouses.entry(warehouse).or_default().history += amount;
        self.districts.entry([warehouse, district]).or_default().history += amount;
        let customer = self.customers.entry([home, home_district, customer]).or_default();
        customer.history += amount;
        customer.rows_of_history += 1;
    }

    /// An order, as the rows of one time say.
    fn order(
        &self,
        key: [i64; 3],
        row: impl Fn(&Self, TableId, &[i64]) -> Option<Vec<u8>>,
    ) -> Order {
        let of = &self.of.shared.columns;
        let mut order = Order::default();
        if let Some(head) = row(self, orders::ORDER, &key) {
            let layout = self.of.layout(orders::ORDER);
            let [customer, lines] =
                [of.order_customer, of.order_lines].map(|column| layout.int(&head, column));
            order.head = Some((customer, lines, !layout.is_null(&head, of.carrier)));
        }
        order.is_undelivered = row(self, orders::NEW_ORDER, &key).is_some();
        let layout = self.of.layout(orders::ORDER_LINE);
        for line in 0..=MOST_LINES {
            let Some(line) = row(self, orders::ORDER_LINE, &[key[0], key[1], key[2], line]) else {
                continue;
            };
            order.lines += 1;
            if !layout.is_null(&line, of.line_delivery) {
                order.delivered_lines += 1;
                order.delivered_amount += layout.int(&line, of.line_amount);
            }
        }
        order
    }

    /// Adds an order, of which a row has changed, to the sums.
    fn add_order(&mut self, key: [i64; 3]) {
        let was = self.order(key, |rows, table, key| rows.was(table, key));
        let now = self.order(key, |rows, table, key| match *key {
            [warehouse, district, order] => rows.now(table, [warehouse, district, order]),
            [warehouse, district, order, line] => {
                rows.now(table, [warehouse, district, order, line])
            }
            _ => None,
        });
        let place = [key[0], key[1]];
        let lines_of = |order: &Order| order.head.map_or(0, |(_, lines, _)| lines);
        let district = self.districts.entry(place).or_default();
        district.orders += i64::from(now.head.is_some()) - i64::from(was.head.is_some());
        district.undelivered += i64::from(now.is_undelivered) - i64::from(was.is_undelivered);
        district.lines_of_orders += lines_of(&now) - lines_of(&was);
        district.lines += now.lines - was.lines;
        if now.head.is_some() && was.head.is_none() {
            district.new_orders.push(key[2]);
        }
        if now.is_undelivered {
            district.last_undelivered = district.last_undelivered.max(Some(key[2]));
        }
        if let Some((customer, ..)) = now.head.or(was.head) {
            let customer = self.customers.entry([key[0], key[1], customer]).or_default();
            customer.delivered += now.delivered_amount - was.delivered_amount;
            if was.head.is_none() {
                customer.last_order = customer.last_order.max(Some(key[2]));
            }
        }
        self.orders.insert(key, now);
    }

    /// Condition 1: W_YTD = sum(D_YTD).
    fn check_warehouses(&self) -> Result<(), String> {
        for (warehouse, sums) in &self.warehouses {
            let Warehouse { paid, paid_in_districts, .. } = sums;
            if paid != paid_in_districts {
                return Err(format!(
                    "condition 1: W_YTD of warehouse {warehouse} has grown by {paid}, D_YTD of its districts by \
                     {paid_in_districts}"
                ));
            }
        }
        Ok(())
    }

    /// The number of a district's next order.
    fn next_order(&self, place: [i64; 2]) -> i64 {
        let row = self.now(orders::DISTRICT, place);
        let column = self.of.shared.columns.next_order;
        row.map_or(0, |row| self.of.layout(orders::DISTRICT).int(&row, column))
    }

    /// How many rows of NEW-ORDER a district has, and the first of them.
    fn undelivered(&self, [warehouse, district]: [i64; 2]) -> (i64, Option<i64>) {
        let (first, at_start) =
            (self.of.workload.first_undelivered(), self.of.workload.scale().customers);
        let change = self.districts.get(&[warehouse, district]).map_or(0, |it| it.undelivered);
        let rows = at_start + 1 - first + change;
        let next = self.next_order([warehouse, district]);
        let is_there = |order: &i64| self.now(orders::NEW_ORDER, [warehouse, district, *order]);
        let least = (first..next).find(|order| is_there(order).is_some());
        (rows, least)
    }

    /// Conditions 2 and 3: D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID), and the numbers in NEW-ORDER have no holes. Here
    /// new orders have none either.
    fn check_districts(&self) -> Result<(), String> {
        let at_start = self.of.workload.scale().customers;
        for (place, district) in &self.districts {
            let next = self.next_order(*place);
            let (rows, least) = self.undelivered(*place);
            if !district.new_orders.iter().copied().eq(at_start + 1..next) {
                let (new, last) = (district.new_orders.len(), district.new_orders.last());
                let wrong =
                    format!("condition 2: {next} is next, after {new} new orders to {last:?}");
                return Err(at_district(*place, wrong));
            }
            let last = self.now(orders::NEW_ORDER, [place[0], place[1], next - 1]);
            let is_beyond = district.last_undelivered.is_some_and(|last| last >= next);
            if is_beyond || rows > 0 && last.is_none() {
                let most = district.last_undelivered;
                let wrong = format!(
                    "condition 2: {next} is next, and {rows} rows in NEW-ORDER end otherwise ({most:?})"
                );
                return Err(at_district(*place, wrong));
            }
            let span = least.map_or(0, |least| next - least);
            if span != rows {
                let wrong = format!(
                    "condition 3: {rows} rows in NEW-ORDER, from {least:?} to {}",
                    next - 1
                );
                return Err(at_district(*place, wrong));
            }
        }
        Ok(())
    }

    /// Condition 4: sum(O_OL_CNT) = rows in ORDER-LINE.
    fn check_lines(&self) -> Result<(), String> {
        for (place, district) in &self.districts {
            let District { lines, lines_of_orders, .. } = district;
            if lines != lines_of_orders {
                let wrong = format!(
                    "condition 4: {lines} more rows in ORDER-LINE, and orders of {lines_of_orders} more"
                );
                return Err(at_district(*place, wrong));
            }
        }
        Ok(())
    }

    /// Conditions 5 to 7, each for all orders: O_CARRIER_ID is null if and only if there is a row in NEW-ORDER; there are
    /// O_OL_CNT lines; and OL_DELIVERY_D of each is null if and only if O_CARRIER_ID is.
    fn check_orders(&self) -> Result<(), String> {
        for condition in 5..=7 {
            for (key, order) in &self.orders {
                let Some((_, lines, has_carrier)) = order.head else { continue };
                let (found, delivered) = (order.lines, order.delivered_lines);
                let wrong = match condition {
                    5 if has_carrier == order.is_undelivered => format!(
                        "has a carrier: {has_carrier}, and a row in NEW-ORDER: {}",
                        order.is_undelivered
                    ),
                    6 if lines != found => format!("has {found} lines instead of {lines}"),
                    7 if delivered != if has_carrier { found } else { 0 } => format!(
                        "has a carrier: {has_carrier}, and {delivered} delivered lines of {found}"
                    ),
                    _ => continue,
                };
                return Err(format!("condition {condition}: order {key:?} {wrong}"));
            }
        }
        Ok(())
    }

    /// Conditions 8 and 9: W_YTD and D_YTD are sums of H_AMOUNT.
    fn check_payments(&self) -> Result<(), String> {
        for (warehouse, Warehouse { paid, history, .. }) in &self.warehouses {
            if paid != history {
                return Err(format!(
                    "condition 8: W_YTD of warehouse {warehouse} has grown by {paid}, its HISTORY by {history}"
                ));
            }
        }
        for (place, District { paid, history, .. }) in &self.districts {
            if paid != history {
                let wrong =
                    format!("condition 9: D_YTD has grown by {paid}, its HISTORY by {history}");
                return Err(at_district(*place, wrong));
            }
        }
        Ok(())
    }

    /// Conditions 10 to 12: C_BALANCE is what was delivered less what HISTORY says; all orders but those in NEW-ORDER
    /// are delivered; C_BALANCE and C_YTD_PAYMENT together are what was delivered.
    fn check_customers(&self) -> Result<(), String> {
        for (key, customer) in &self.customers {
            let Customer { balance, delivered, history, .. } = customer;
            if *balance != delivered - history {
                return Err(format!(
                    "condition 10: C_BALANCE of customer {key:?} has grown by {balance}, after {delivered} delivered and \
                     {history} in HISTORY"
                ));
            }
        }
        for (place, district) in &self.districts {
            let District { orders, undelivered, deliveries, .. } = district;
            if orders - undelivered != *deliveries {
                let wrong = format!(
                    "condition 11: {orders} more rows in ORDER, {undelivered} more in NEW-ORDER, after {deliveries} \
                     deliveries"
                );
                return Err(at_district(*place, wrong));
            }
        }
        for (key, customer) in &self.customers {
            let Customer { balance, paid, delivered, .. } = customer;
            if balance + paid != *delivered {
                return Err(format!(
                    "condition 12: C_BALANCE and C_YTD_PAYMENT of customer {key:?} have grown by {balance} and {paid}, after \
                     {delivered} delivered"
                ));
            }
        }
        Ok(())
    }

    fn check_stocks(&self) -> Result<(), String> {
        // A stock that is as at the start need not be among the rows, and has sold nothing.
        let sold = |all: &BTreeMap<[i64; 2], Sales>, stock: &[i64; 2]| {
            all.get(stock).copied().unwrap_or_default()
        };
        for stock in self.stocks.keys().chain(self.sales.keys()) {
            let (says, lines) = (sold(&self.stocks, stock), sold(&self.sales, stock));
            if says != lines {
                return Err(format!("stock {stock:?} says {says:?}, its order lines {lines:?}"));
            }
        }
        Ok(())
    }

    /// What stands for scans: the next order to deliver and the last order of a customer. And how often customers paid.
    fn check_own_tables(&self) -> Result<(), String> {
        let told = |table: TableId, row: Option<Vec<u8>>| {
            row.map(|row| self.of.layout(table).int(&row, found_at(table)))
        };
        for place in self.districts.keys() {
            let (_, least) = self.undelivered(*place);
            let expected = least.unwrap_or_else(|| self.next_order(*place));
            let found = told(NEXT_DELIVERY, self.now(NEXT_DELIVERY, *place));
            if found != Some(expected) {
                let wrong = format!("the next delivery is of order {found:?}, not {expected}");
                return Err(at_district(*place, wrong));
            }
        }
        for (key, customer) in &self.customers {
            let found = told(LAST_ORDER, self.now(LAST_ORDER, *key));
            let expected =
                customer.last_order.or_else(|| told(LAST_ORDER, self.was(LAST_ORDER, key)));
            if found != expected {
                return Err(format!(
                    "the last order of customer {key:?} is {expected:?}, not {found:?}"
                ));
            }
            let Customer { payments, rows_of_history, .. } = customer;
            if payments != rows_of_history {
                return Err(format!(
                    "customer {key:?} has {payments} more payments, and {rows_of_history} more rows in HISTORY"
                ));
            }
        }
        Ok(())
    }
}
