// SPDX-License-Identifier: MIT OR Apache-2.0
//! TPC-C, standard specification revision 5.11: all five transactions.
//!
//! The mix is 45 % New-Order, 43 % Payment and 4 % each of the others, drawn one by one (clause
//! 5.2.3 gives the least shares; there are no terminals, keying or think times). Delivery does
//! its ten districts in one transaction (2.7.4 allows it). The total is the number of orders.

mod check;
mod delivery;
mod input;
mod new_order;
mod order_status;
mod payment;
mod population;
mod random;
mod schema;
mod stock_level;

pub use input::{
    Customer, Delivery, Input, Line, NewOrder, OrderStatus, Payment, Seat, StockLevel,
};
pub use order_status::{Status, StatusLine};
pub use random::last_name;
pub use schema::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER, ORDER_LINE, STOCK, TABLES, WAREHOUSE,
};
pub use stock_level::RECENT_ORDERS;

use std::ops::ControlFlow;

use rand::Rng;

use super::schema::{TableDefinition, TableId, Value};
use super::store::{Access, ConsistencyError, Load, Order, Outcome, Row};
use super::{Kind, Workload, present};
use crate::random::agent_stream;
use input::{Draw, Terminal};
use random::{Constants, NAMES};
use schema::{CUSTOMER_BY_NAME, customer, district};

/// Districts of a warehouse.
pub const DISTRICTS: i64 = 10;

/// The most lines of an order.
pub const MOST_LINES: i64 = 15;

const KINDS: &[Kind] = &[
    Kind::writes("new-order", 45),
    Kind::writes("payment", 43),
    Kind::reads("order-status", 4),
    Kind::writes("delivery", 4),
    Kind::reads("stock-level", 4),
];

/// How large the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Warehouses.
    pub warehouses: i64,
    /// Items, and stock rows of each warehouse.
    pub items: i64,
    /// Customers of each district, and its orders at first.
    pub customers: i64,
}

impl Scale {
    /// As the standard says: 100,000 items, 3,000 customers a district.
    pub const fn standard(warehouses: i64) -> Self {
        Self { warehouses, items: 100_000, customers: 3_000 }
    }

    /// For tests: `divisor` times fewer items and customers. It is not TPC-C: the distributions
    /// keep their constants, and fold over fewer rows.
    pub const fn shrunk(warehouses: i64, divisor: i64) -> Self {
        Self { warehouses, items: 100_000 / divisor, customers: 3_000 / divisor }
    }

    /// The last names of the customers of a district: one for three of them, as the standard has
    /// 1,000 for 3,000.
    pub fn names(self) -> i64 {
        (self.customers / 3).clamp(1, NAMES)
    }
}

/// TPC-C over so many warehouses.
#[derive(Clone, Copy, Debug)]
pub struct Tpcc {
    scale: Scale,
    constants: Constants,
    seed: u64,
}

/// What a TPC-C transaction showed at its terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Of a New-Order.
    NewOrder {
        /// The order's number.
        order: i64,
        /// The sum with discount and taxes, in cents, rounded; 0 when it rolled back.
        total: i64,
        /// How many of its lines are brand goods.
        brand_lines: i64,
    },
    /// Of a Payment.
    Payment {
        /// The customer's number.
        customer: i64,
        /// The balance after it, in cents.
        balance: i64,
    },
    /// Of an Order-Status.
    OrderStatus(Status),
    /// Of a Delivery: for each district the order delivered, if there was one.
    Delivery([Option<i64>; DISTRICTS as usize]),
    /// Of a Stock-Level: how many items are low.
    StockLevel(i64),
}

impl Tpcc {
    /// A database of this scale.
    ///
    /// # Panics
    /// When a number of the scale is not positive.
    pub fn new(scale: Scale, seed: u64) -> Self {
        let Scale { warehouses, items, customers } = scale;
        assert!(warehouses > 0 && items > 0 && customers > 0, "{scale:?}: expected positive ones");
        Self { scale, constants: Constants::new(seed), seed }
    }

    /// How large it is.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The row of this key in the initial population, given to `give` as a value for each column; `None`
    /// for a key that has none. A function of seed, table and key, so that a store can have a row without
    /// the others.
    pub fn initial<T>(
        &self,
        table: TableId,
        key: &[i64],
        give: impl FnOnce(&[Value<'_>]) -> T,
    ) -> Option<T> {
        population::initial(self, table, key, give)
    }

    /// A transaction of the standard's mix, entered at this seat.
    pub fn draw(&self, seat: Seat, random: &mut impl Rng) -> Input {
        Draw { scale: self.scale, constants: self.constants, seat, random }.input()
    }

    /// Delivers the oldest undelivered order of one district, whose number comes out, if it has one: a tenth of a
    /// delivery, for stores that make each a transaction of its own (clause 2.7.4 allows it).
    ///
    /// # Errors
    /// As [`Workload::run`].
    pub fn deliver<A: Access>(
        &self,
        input: &Delivery,
        district: i64,
        access: &mut A,
    ) -> Result<Option<i64>, A::Error> {
        delivery::deliver_oldest(input, district, access)
    }

    /// A new-order at `warehouse` in the form in which DrTM+H (OSDI 2018) and Xenic (SOSP 2021) compare
    /// systems: five to fifteen lines of different items, each supplied by any warehouse but this one,
    /// all alike, and none that rolls back. Where there is one warehouse alone, it is the supplier.
    pub fn draw_spread_order(&self, warehouse: i64, date: i64, random: &mut impl Rng) -> NewOrder {
        input::spread_order(self, warehouse, date, random)
    }
}

impl Workload for Tpcc {
    type Input = Input;
    type Output = Output;

    fn tables(&self) -> &'static [TableDefinition] {
        TABLES
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn kind(&self, input: &Input) -> usize {
        match input {
            Input::NewOrder(_) => 0,
            Input::Payment(_) => 1,
            Input::OrderStatus(_) => 2,
            Input::Delivery(_) => 3,
            Input::StockLevel(_) => 4,
        }
    }

    fn populate<L: Load>(&self, load: &mut L) -> Result<(), L::Error> {
        population::populate(self, load)
    }

    fn inputs(&self, agent: u32) -> impl Iterator<Item = Input> + Send {
        let random = agent_stream(self.seed, agent);
        Terminal { scale: self.scale, constants: self.constants, random, agent, drawn: 0 }
    }

    fn run<A: Access>(&self, input: &Input, access: &mut A) -> Result<Outcome<Output>, A::Error> {
        match input {
            Input::NewOrder(input) => new_order::run(input, access),
            Input::Payment(input) => payment::run(input, access),
            Input::OrderStatus(input) => order_status::run(input, access),
            Input::Delivery(input) => delivery::run(input, access),
            Input::StockLevel(input) => stock_level::run(input, access),
        }
    }

    fn change(&self, input: &Input, _: &Output) -> i64 {
        i64::from(matches!(input, Input::NewOrder(_)))
    }

    /// The orders that the districts have numbered.
    fn total<A: Access>(&self, access: &mut A) -> Result<i64, A::Error> {
        let mut orders = 0;
        access.scan(DISTRICT, &[], &[], Order::Ascending, |row| {
            orders += row.int(district::NEXT_ORDER) - 1;
            ControlFlow::Continue(())
        })?;
        Ok(orders)
    }

    /// Conditions 1 to 4 of clause 3.3.2.
    fn check<A: Access>(&self, access: &mut A) -> Result<(), A::Error> {
        check::check(access, self.scale.warehouses)
    }
}

/// The number of the customer who is meant (clause 2.5.2.2).
fn find_customer<A: Access>(
    access: &mut A,
    warehouse: i64,
    district: i64,
    customer: Customer,
) -> Result<i64, A::Error> {
    let name = match customer {
        Customer::Number(number) => return Ok(number),
        Customer::LastName(number) => last_name(number),
    };
    let mut namesakes = Vec::new();
    let prefix = [warehouse.into(), district.into(), (&name).into()];
    access.scan_index(CUSTOMER, CUSTOMER_BY_NAME, &prefix, Order::Ascending, |row| {
        namesakes.push(row.int(customer::ID));
        ControlFlow::Continue(())
    })?;
    // Of n it is the n/2-th, rounded up and counted from 1.
    let Some(middle) = namesakes.len().checked_sub(1) else {
        let found = format!("nobody is called {name} in district {district} of {warehouse}");
        return Err(ConsistencyError::new("each name drawn is a customer's", found).into());
    };
    Ok(namesakes[middle / 2])
}
