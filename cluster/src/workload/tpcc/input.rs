// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inputs of TPC-C on a cluster: their bytes, and how a worker draws them.

use std::hash::{Hash, Hasher};

use rand::RngExt;
use workloads::database::tpcc::{
    self as orders, Customer, DISTRICTS, Delivery, Input, Line, NewOrder, OrderStatus, Payment,
    Seat, StockLevel,
};

use super::{Mix, Tpcc, TpccSettings, keys};
use crate::wire::{Reader, WireError, Writer};
use crate::workload::Stream;

/// One transaction of TPC-C.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TpccTransaction {
    /// Enters an order.
    NewOrder(NewOrder),
    /// A customer pays.
    Payment(Payment),
    /// Looks at a customer's last order.
    OrderStatus(OrderStatus),
    /// A tenth of a delivery: delivers the oldest undelivered order of one district.
    Delivery {
        /// The delivery.
        delivery: Delivery,
        /// The district.
        district: i64,
    },
    /// Counts recently sold items whose stock is low.
    StockLevel(StockLevel),
}

impl TpccTransaction {
    /// Its place in the standard's list of kinds.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::NewOrder(_) => 0,
            Self::Payment(_) => 1,
            Self::OrderStatus(_) => 2,
            Self::Delivery { .. } => 3,
            Self::StockLevel(_) => 4,
        }
    }
}

/// What draws the transactions of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TpccSource {
    stream: Stream,
    /// A delivery that has begun, and the district that is next.
    delivery: Option<(Delivery, i64)>,
}

impl Hash for TpccSource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.stream.hash(state);
        self.delivery.hash(state);
    }
}

impl Tpcc {
    pub(super) fn source_of(&self, worker: u32) -> TpccSource {
        TpccSource { stream: Stream::new(self.settings.seed, worker), delivery: None }
    }

    pub(super) fn draw_next(&self, source: &mut TpccSource) -> TpccTransaction {
        if let Some((delivery, district)) = source.delivery.take() {
            return step(delivery, district, source);
        }
        let TpccSource { stream, .. } = source;
        stream.drawn += 1;
        let date = stream.drawn as i64 & i64::from(i32::MAX);
        let warehouse = self.draw_warehouse(stream.worker, &mut stream.random);
        if self.mix == Mix::NewOrders {
            let order = self.workload.draw_spread_order(warehouse, date, &mut stream.random);
            return TpccTransaction::NewOrder(order);
        }
        let node = self.node_of(stream.worker);
        let of_node = u32::from(self.settings.threads) * u32::from(self.settings.workers);
        let payer = keys::source(node, stream.worker % of_node, self.settings.nodes);
        let seat = Seat { warehouse, district: None, date, source: payer };
        match self.workload.draw(seat, &mut stream.random) {
            Input::NewOrder(order) => TpccTransaction::NewOrder(order),
            Input::Payment(payment) => TpccTransaction::Payment(payment),
            Input::OrderStatus(status) => TpccTransaction::OrderStatus(status),
            Input::Delivery(delivery) => step(delivery, 1, source),
            Input::StockLevel(level) => TpccTransaction::StockLevel(level),
        }
    }

    /// The home warehouse of the next transaction of a worker.
    fn draw_warehouse(&self, worker: u32, random: &mut impl rand::Rng) -> i64 {
        let TpccSettings { nodes, threads, workers, warehouses_per_node, .. } = self.settings;
        let (threads, workers) = (u32::from(threads), u32::from(workers));
        let thread = worker / workers % threads;
        let place = match warehouses_per_node.checked_sub(thread) {
            Some(after) if after > 0 => {
                thread + threads * random.random_range(0..after.div_ceil(threads))
            }
            _ => thread % warehouses_per_node,
        };
        keys::warehouse(self.node_of(worker), place, nodes)
    }

    /// The node of a worker of the cluster.
    fn node_of(&self, worker: u32) -> u16 {
        let TpccSettings { nodes, threads, workers, .. } = self.settings;
        let of_node = u32::from(threads) * u32::from(workers);
        (worker / of_node % u32::from(nodes)) as u16
    }

    /// Of the standard's mix first the kind (1 byte). Warehouses, customers, items, dates, sources and amounts have 4
    /// bytes each, last names 2; districts, numbers of lines, quantities, carriers, thresholds and how a customer is named
    /// have 1.
    pub(super) fn put(&self, input: &TpccTransaction, out: &mut Vec<u8>) {
        if self.mix == Mix::Standard {
            out.put_u8(input.kind());
        }
        match input {
            TpccTransaction::NewOrder(order) => put_order(order, out),
            TpccTransaction::Payment(payment) => {
                out.put_u32(payment.warehouse as u32);
                out.put_u8(payment.district as u8);
                out.put_u32(payment.customer_warehouse as u32);
                out.put_u8(payment.customer_district as u8);
                put_customer(payment.customer, out);
                out.put_u32(payment.amount as u32);
                out.put_u32(payment.date as u32);
                out.put_u32(payment.source as u32);
            }
            TpccTransaction::OrderStatus(status) => {
                out.put_u32(status.warehouse as u32);
                out.put_u8(status.district as u8);
                put_customer(status.customer, out);
            }
            TpccTransaction::Delivery { delivery, district } => {
                out.put_u32(delivery.warehouse as u32);
                out.put_u8(*district as u8);
                out.put_u8(delivery.carrier as u8);
                out.put_u32(delivery.date as u32);
            }
            TpccTransaction::StockLevel(level) => {
                out.put_u32(level.warehouse as u32);
                out.put_u8(level.district as u8);
                out.put_u8(level.threshold as u8);
            }
        }
    }

    pub(super) fn take(&self, reader: &mut Reader<'_>) -> Result<TpccTransaction, WireError> {
        let kind = match self.mix {
            Mix::NewOrders => 0,
            Mix::Standard => reader.u8_in(0..=4, "a kind of transaction (0 to 4)")?,
        };
        Ok(match kind {
            0 => TpccTransaction::NewOrder(self.take_order(reader)?),
            1 => TpccTransaction::Payment(Payment {
                warehouse: self.take_warehouse(reader, "a warehouse")?,
                district: district(reader)?,
                customer_warehouse: self.take_warehouse(reader, "a customer's warehouse")?,
                customer_district: district(reader)?,
                customer: self.take_customer(reader)?,
                amount: reader.u32_in(100..=500_000, "an amount")?.into(),
                date: date(reader)?,
                source: reader.u32_in(1..=keys::MOST_SOURCES, "a source of payments")?.into(),
            }),
            2 => TpccTransaction::OrderStatus(OrderStatus {
                warehouse: self.take_warehouse(reader, "a warehouse")?,
                district: district(reader)?,
                customer: self.take_customer(reader)?,
            }),
            3 => {
                let warehouse = self.take_warehouse(reader, "a warehouse")?;
                let district = district(reader)?;
                let carrier = reader.u8_in(1..=10, "a carrier (1 to 10)")?.into();
                let delivery = Delivery { warehouse, carrier, date: date(reader)? };
                TpccTransaction::Delivery { delivery, district }
            }
            _ => TpccTransaction::StockLevel(StockLevel {
                warehouse: self.take_warehouse(reader, "a warehouse")?,
                district: district(reader)?,
                threshold: reader.u8_in(10..=20, "a threshold (10 to 20)")?.into(),
            }),
        })
    }

    fn take_order(&self, reader: &mut Reader<'_>) -> Result<NewOrder, WireError> {
        let items = match self.mix {
            Mix::NewOrders => self.settings.items,
            // The one more is the unused item of an order that rolls back.
            Mix::Standard => self.settings.items + 1,
        };
        let warehouse = self.take_warehouse(reader, "a warehouse")?;
        let customer = reader.u32_in(1..=self.settings.customers, "a customer")?;
        let date = date(reader)?;
        let district = district(reader)?;
        let count = reader.u8_in(5..=orders::MOST_LINES as u8, "a number of lines (5 to 15)")?;
        let mut line = |_| {
            Ok(Line {
                item: reader.u32_in(1..=items, "an item")?.into(),
                supply_warehouse: self.take_warehouse(reader, "a supplier")?,
                quantity: reader.u8_in(1..=10, "a quantity (1 to 10)")?.into(),
            })
        };
        let lines = (0..count).map(&mut line).collect::<Result<_, WireError>>()?;
        Ok(NewOrder { warehouse, district, customer: customer.into(), date, lines })
    }

    fn take_warehouse(
        &self,
        reader: &mut Reader<'_>,
        expected: &'static str,
    ) -> Result<i64, WireError> {
        let TpccSettings { nodes, warehouses_per_node, .. } = self.settings;
        let warehouse = reader.u32_in(1..=u32::from(nodes) * warehouses_per_node, expected)?;
        Ok(warehouse.into())
    }

    fn take_customer(&self, reader: &mut Reader<'_>) -> Result<Customer, WireError> {
        match reader.u8_in(0..=1, "how a customer is named (0 or 1)")? {
            0 => {
                let number = reader.u32_in(1..=self.settings.customers, "a customer")?;
                Ok(Customer::Number(number.into()))
            }
            _ => {
                let last = self.workload.scale().names() as u16 - 1;
                let name = reader.u16_in(0..=last, "a last name")?;
                Ok(Customer::LastName(name.into()))
            }
        }
    }
}

/// One district of a delivery; the next one is left to be drawn.
fn step(delivery: Delivery, district: i64, source: &mut TpccSource) -> TpccTransaction {
    if district < DISTRICTS {
        source.delivery = Some((delivery, district + 1));
    }
    TpccTransaction::Delivery { delivery, district }
}

fn put_order(order: &NewOrder, out: &mut Vec<u8>) {
    out.put_u32(order.warehouse as u32);
    out.put_u32(order.customer as u32);
    out.put_u32(order.date as u32);
    out.put_u8(order.district as u8);
    out.put_count(order.lines.len());
    for line in &order.lines {
        out.put_u32(line.item as u32);
        out.put_u32(line.supply_warehouse as u32);
        out.put_u8(line.quantity as u8);
    }
}

fn put_customer(customer: Customer, out: &mut Vec<u8>) {
    match customer {
        Customer::Number(number) => {
            out.put_u8(0);
            out.put_u32(number as u32);
        }
        Customer::LastName(name) => {
            out.put_u8(1);
            out.put_u16(name as u16);
        }
    }
}

fn district(reader: &mut Reader<'_>) -> Result<i64, WireError> {
    reader.u8_in(1..=DISTRICTS as u8, "a district").map(i64::from)
}

fn date(reader: &mut Reader<'_>) -> Result<i64, WireError> {
    reader.u32_in(0..=i32::MAX as u32, "a date").map(i64::from)
}
