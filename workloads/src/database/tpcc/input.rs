// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inputs of the transactions (clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1 and 2.8.1).

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::{DISTRICTS, KINDS, MOST_LINES, Scale, Tpcc, random::Constants};
use crate::random::draw_share;

/// The input of one TPC-C transaction. All numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Enters an order.
    NewOrder(NewOrder),
    /// A customer pays.
    Payment(Payment),
    /// Looks at a customer's last order.
    OrderStatus(OrderStatus),
    /// Delivers the oldest undelivered order of each district.
    Delivery(Delivery),
    /// Counts recently sold items whose stock is low.
    StockLevel(StockLevel),
}

/// Enters an order of five to fifteen lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NewOrder {
    /// The terminal's warehouse.
    pub warehouse: i64,
    /// Any of its districts.
    pub district: i64,
    /// A customer of that district.
    pub customer: i64,
    /// When: the place in the agent's stream.
    pub date: i64,
    /// The lines. One order in a hundred names an item in its last line that does not exist, and
    /// so rolls back.
    pub lines: Vec<Line>,
}

/// A line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// What.
    pub item: i64,
    /// From where; one in a hundred from another warehouse than the order's.
    pub supply_warehouse: i64,
    /// How many, 1 to 10.
    pub quantity: i64,
}

/// A customer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Payment {
    /// The terminal's warehouse.
    pub warehouse: i64,
    /// Any of its districts.
    pub district: i64,
    /// The customer's warehouse: in 15 % another, where there is one.
    pub customer_warehouse: i64,
    /// The customer's district: the same as `district` unless the warehouse is another.
    pub customer_district: i64,
    /// Who.
    pub customer: Customer,
    /// How much, in cents.
    pub amount: i64,
    /// When: the place in the agent's stream.
    pub date: i64,
    /// Who enters it: agent + 1. With `date` the key of the history row.
    pub source: i64,
}

/// Looks at a customer's last order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderStatus {
    /// The terminal's warehouse.
    pub warehouse: i64,
    /// Any of its districts.
    pub district: i64,
    /// Who.
    pub customer: Customer,
}

/// Delivers the oldest undelivered order of each district.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// The terminal's warehouse.
    pub warehouse: i64,
    /// By whom, 1 to 10.
    pub carrier: i64,
    /// When: the place in the agent's stream.
    pub date: i64,
}

/// Counts recently sold items whose stock is low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StockLevel {
    /// The terminal's warehouse.
    pub warehouse: i64,
    /// The terminal's district.
    pub district: i64,
    /// Stocks below this are low, 10 to 20.
    pub threshold: i64,
}

/// How a customer is named: in 60 % by last name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Customer {
    /// By number.
    Number(i64),
    /// By the number of a [last name](super::last_name). Of those who have it, the middle one in
    /// the order of first names is meant.
    LastName(i64),
}

/// One agent's terminal: its stream of inputs.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    pub scale: Scale,
    pub constants: Constants,
    pub random: ChaCha8Rng,
    pub agent: u32,
    /// Inputs drawn so far.
    pub drawn: i64,
}

impl Iterator for Terminal {
    type Item = Input;

    /// Agents are spread over warehouses first, then over districts.
    fn next(&mut self) -> Option<Input> {
        self.drawn += 1;
        let (agent, warehouses) = (i64::from(self.agent), self.scale.warehouses);
        let seat = Seat {
            warehouse: agent % warehouses + 1,
            district: Some(agent / warehouses % DISTRICTS + 1),
            date: self.drawn,
            source: agent + 1,
        };
        let Self { scale, constants, ref mut random, .. } = *self;
        Some(Draw { scale, constants, seat, random }.input())
    }
}

/// Where, when and by whom a transaction is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The terminal's warehouse.
    pub warehouse: i64,
    /// The district whose stocks the terminal looks at. `None` draws one: the seat is then any terminal of the
    /// warehouse.
    pub district: Option<i64>,
    /// When: see [`NewOrder::date`].
    pub date: i64,
    /// By whom: see [`Payment::source`].
    pub source: i64,
}

/// Draws one input.
pub(super) struct Draw<'r, R> {
    pub scale: Scale,
    pub constants: Constants,
    pub seat: Seat,
    pub random: &'r mut R,
}

impl<R: Rng> Draw<'_, R> {
    pub fn input(&mut self) -> Input {
        let kind = draw_share(KINDS.iter().map(|kind| kind.percent), self.random);
        match kind {
            0 => Input::NewOrder(self.new_order()),
            1 => Input::Payment(self.payment()),
            2 => Input::OrderStatus(self.order_status()),
            3 => Input::Delivery(self.delivery()),
            4 => Input::StockLevel(self.stock_level()),
            _ => unreachable!("there are five kinds"),
        }
    }

    fn number(&mut self, least: i64, most: i64) -> i64 {
        self.random.random_range(least..=most)
    }

    fn percent(&mut self, percent: i64) -> bool {
        self.number(1, 100) <= percent
    }

    fn other_warehouse(&mut self) -> i64 {
        another_warehouse(self.seat.warehouse, self.scale, self.random)
    }

    fn customer_number(&mut self) -> i64 {
        self.constants.customer.draw(1, self.scale.customers, self.random)
    }

    fn customer(&mut self) -> Customer {
        if self.percent(60) {
            let most = self.scale.names() - 1;
            Customer::LastName(self.constants.name_run.draw(0, most, self.random))
        } else {
            Customer::Number(self.customer_number())
        }
    }

    fn new_order(&mut self) -> NewOrder {
        let Seat { warehouse, date, .. } = self.seat;
        let district = self.number(1, DISTRICTS);
        let customer = self.customer_number();
        let lines = self.number(5, MOST_LINES);
        let rolls_back = self.percent(1);
        let mut lines: Vec<Line> = (0..lines).map(|_| self.line()).collect();
        if let (true, Some(last)) = (rolls_back, lines.last_mut()) {
            last.item = self.scale.items + 1;
        }
        NewOrder { warehouse, district, customer, date, lines }
    }

    fn line(&mut self) -> Line {
        let item = self.constants.item.draw(1, self.scale.items, self.random);
        let remote = self.percent(1) && self.scale.warehouses > 1;
        let supply_warehouse = if remote { self.other_warehouse() } else { self.seat.warehouse };
        Line { item, supply_warehouse, quantity: self.number(1, 10) }
    }

    fn payment(&mut self) -> Payment {
        let Seat { warehouse, date, source, .. } = self.seat;
        let district = self.number(1, DISTRICTS);
        let home = self.percent(85) || self.scale.warehouses == 1;
        let (customer_warehouse, customer_district) = match home {
            true => (warehouse, district),
            false => (self.other_warehouse(), self.number(1, DISTRICTS)),
        };
        let customer = self.customer();
        let amount = self.number(100, 500_000);
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer,
            amount,
            date,
            source,
        }
    }

    fn order_status(&mut self) -> OrderStatus {
        let district = self.number(1, DISTRICTS);
        OrderStatus { warehouse: self.seat.warehouse, district, customer: self.customer() }
    }

    fn delivery(&mut self) -> Delivery {
        let Seat { warehouse, date, .. } = self.seat;
        Delivery { warehouse, carrier: self.number(1, 10), date }
    }

    fn stock_level(&mut self) -> StockLevel {
        let Seat { warehouse, district, .. } = self.seat;
        let district = district.unwrap_or_else(|| self.number(1, DISTRICTS));
        StockLevel { warehouse, district, threshold: self.number(10, 20) }
    }
}

/// Any warehouse but `own`, each alike.
fn another_warehouse(own: i64, scale: Scale, random: &mut impl Rng) -> i64 {
    let other = random.random_range(1..=scale.warehouses - 1);
    if other < own { other } else { other + 1 }
}

/// See [`Tpcc::draw_spread_order`].
pub(super) fn spread_order(
    tpcc: &Tpcc,
    warehouse: i64,
    date: i64,
    random: &mut impl Rng,
) -> NewOrder {
    let (scale, constants) = (tpcc.scale, tpcc.constants);
    let district = random.random_range(1..=DISTRICTS);
    let customer = constants.customer.draw(1, scale.customers, random);
    let number = random.random_range(5..=MOST_LINES).min(scale.items);
    let mut lines: Vec<Line> = Vec::with_capacity(number as usize);
    while lines.len() < number as usize {
        let mut item = constants.item.draw(1, scale.items, random);
        while lines.iter().any(|line| line.item == item) {
            item = item % scale.items + 1;
        }
        let supply_warehouse = match scale.warehouses {
            1 => warehouse,
            _ => another_warehouse(warehouse, scale, random),
        };
        lines.push(Line { item, supply_warehouse, quantity: random.random_range(1..=10) });
    }
    NewOrder { warehouse, district, customer, date, lines }
}
