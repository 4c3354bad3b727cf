// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows that a transaction of TPC-C needs. Where the logic scans, other rows tell which those are: see
//! `docs/workloads.md`.

use workloads::database::TableId;
use workloads::database::tpcc::{
    self as orders, Customer, MOST_LINES, NewOrder, OrderStatus, Payment, RECENT_ORDERS, StockLevel,
};

use super::keys::{LAST_ORDER, NAME, NEXT_DELIVERY, found_at};
use super::{Mix, Tpcc, TpccTransaction, number};
use crate::engine::Key;
use crate::transact::{Intent, Rows};

/// The keys that a transaction wants, by the rows that it has.
pub(super) struct Wanted<'w> {
    of: &'w Tpcc,
    rows: &'w Rows,
    keys: &'w mut Vec<(Key, Intent)>,
}

impl<'w> Wanted<'w> {
    pub fn new(of: &'w Tpcc, rows: &'w Rows, keys: &'w mut Vec<(Key, Intent)>) -> Self {
        Self { of, rows, keys }
    }

    pub fn declare(&mut self, input: &TpccTransaction) {
        match input {
            TpccTransaction::NewOrder(order) => self.new_order(order),
            TpccTransaction::Payment(payment) => self.payment(payment),
            TpccTransaction::OrderStatus(status) => self.order_status(status),
            TpccTransaction::Delivery { delivery, district } => {
                self.delivery([delivery.warehouse, *district]);
            }
            TpccTransaction::StockLevel(level) => self.stock_level(level),
        }
    }

    /// Wants a key, if it fits its bits. If it does not, the rows contradict each other, and the logic finds out.
    fn want<const N: usize>(&mut self, table: TableId, key: [i64; N], intent: Intent) {
        if let Some(row) = self.of.layout(table).try_pack(key) {
            self.keys.push((Key { table: number(table), row }, intent));
        }
    }

    /// An integer of a row, if it has been fetched and is there.
    fn found<const N: usize>(&self, table: TableId, key: [i64; N], column: usize) -> Option<i64> {
        let layout = self.of.layout(table);
        let key = Key { table: number(table), row: layout.try_pack(key)? };
        self.rows.as_fetched(key).map(|row| layout.int(row, column))
    }

    fn is_there<const N: usize>(&self, table: TableId, key: [i64; N]) -> bool {
        let row = self.of.layout(table).try_pack(key);
        let found = row.and_then(|row| self.rows.as_fetched(Key { table: number(table), row }));
        found.is_some()
    }

    /// The lines of an order whose row has been fetched.
    fn lines_of(&self, [warehouse, district, order]: [i64; 3]) -> Option<Vec<[i64; 4]>> {
        let column = self.of.shared.columns.order_lines;
        let lines = self.found(orders::ORDER, [warehouse, district, order], column)?;
        let lines = 1..=lines.min(MOST_LINES);
        Some(lines.map(|line| [warehouse, district, order, line]).collect())
    }

    fn new_order(&mut self, order: &NewOrder) {
        let &NewOrder { warehouse, district, customer, ref lines, .. } = order;
        self.want(orders::WAREHOUSE, [warehouse], Intent::Read);
        self.want(orders::DISTRICT, [warehouse, district], Intent::Write);
        self.want(orders::CUSTOMER, [warehouse, district, customer], Intent::Read);
        if self.of.mix == Mix::Standard {
            self.want(LAST_ORDER, [warehouse, district, customer], Intent::Write);
        }
        // An item that there is not has no stock.
        let items = self.of.workload.scale().items;
        for line in lines.iter().filter(|line| line.item <= items) {
            self.want(orders::STOCK, [line.supply_warehouse, line.item], Intent::Write);
        }
        // The district numbers the order, whose rows are new.
        let next = self.of.shared.columns.next_order;
        let Some(number) = self.found(orders::DISTRICT, [warehouse, district], next) else {
            return;
        };
        self.want(orders::ORDER, [warehouse, district, number], Intent::Write);
        self.want(orders::NEW_ORDER, [warehouse, district, number], Intent::Write);
        for line in 1..=lines.len() as i64 {
            self.want(orders::ORDER_LINE, [warehouse, district, number, line], Intent::Write);
        }
    }

    fn payment(&mut self, payment: &Payment) {
        let Payment { warehouse, district, source, date, .. } = *payment;
        self.want(orders::WAREHOUSE, [warehouse], Intent::Write);
        self.want(orders::DISTRICT, [warehouse, district], Intent::Write);
        self.want(orders::HISTORY, [source, date], Intent::Write);
        let home = [payment.customer_warehouse, payment.customer_district];
        if let Some(customer) = self.customer(home, payment.customer) {
            self.want(orders::CUSTOMER, [home[0], home[1], customer], Intent::Write);
        }
    }

    /// The number of a customer, as soon as it is known.
    fn customer(&mut self, [warehouse, district]: [i64; 2], customer: Customer) -> Option<i64> {
        match customer {
            Customer::Number(number) => Some(number),
            Customer::LastName(name) => {
                let key = [warehouse, district, name];
                self.want(NAME, key, Intent::Read);
                self.found(NAME, key, found_at(NAME))
            }
        }
    }

    fn order_status(&mut self, status: &OrderStatus) {
        let OrderStatus { warehouse, district, customer } = *status;
        let Some(customer) = self.customer([warehouse, district], customer) else { return };
        let key = [warehouse, district, customer];
        self.want(orders::CUSTOMER, key, Intent::Read);
        self.want(LAST_ORDER, key, Intent::Read);
        let Some(last) = self.found(LAST_ORDER, key, found_at(LAST_ORDER)) else { return };
        let order = [warehouse, district, last];
        self.want(orders::ORDER, order, Intent::Read);
        for line in self.lines_of(order).unwrap_or_default() {
            self.want(orders::ORDER_LINE, line, Intent::Read);
        }
    }

    fn delivery(&mut self, [warehouse, district]: [i64; 2]) {
        let key = [warehouse, district];
        self.want(NEXT_DELIVERY, key, Intent::Write);
        let Some(next) = self.found(NEXT_DELIVERY, key, found_at(NEXT_DELIVERY)) else { return };
        let order = [warehouse, district, next];
        self.want(orders::NEW_ORDER, order, Intent::Write);
        if !self.is_there(orders::NEW_ORDER, order) {
            return;
        }
        self.want(orders::ORDER, order, Intent::Write);
        for line in self.lines_of(order).unwrap_or_default() {
            self.want(orders::ORDER_LINE, line, Intent::Write);
        }
        let customer = self.found(orders::ORDER, order, self.of.shared.columns.order_customer);
        if let Some(customer) = customer {
            self.want(orders::CUSTOMER, [warehouse, district, customer], Intent::Write);
        }
    }

    fn stock_level(&mut self, level: &StockLevel) {
        let StockLevel { warehouse, district, .. } = *level;
        let key = [warehouse, district];
        self.want(orders::DISTRICT, key, Intent::Read);
        let columns = &self.of.shared.columns;
        let Some(next) = self.found(orders::DISTRICT, key, columns.next_order) else { return };
        let mut items = Vec::new();
        for order in (next - RECENT_ORDERS).max(1)..next {
            let order = [warehouse, district, order];
            self.want(orders::ORDER, order, Intent::Read);
            for line in self.lines_of(order).unwrap_or_default() {
                self.want(orders::ORDER_LINE, line, Intent::Read);
                items.extend(self.found(orders::ORDER_LINE, line, columns.line_item));
            }
        }
        items.sort_unstable();
        items.dedup();
        for item in items {
            self.want(orders::STOCK, [warehouse, item], Intent::Read);
        }
    }
}
