// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each row and each transaction of TPC-C may be by itself.

use workloads::database::TableId;
use workloads::database::tpcc as orders;

use super::keys::{LAST_ORDER, NEXT_DELIVERY, TABLES, found_at};
use super::{Mix, Tpcc};
use crate::engine::{Access, Key};

/// What order lines have taken from a stock, or what the stock says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sales {
    orders: i64,
    quantity: i64,
    remote: i64,
}

/// How many rows a transaction has written, by table.
struct Writes([i64; 12]);

impl Writes {
    fn of(accesses: &[Access]) -> Result<Self, String> {
        let mut writes = [0; 12];
        for access in accesses.iter().filter(|access| access.writes) {
            let table = usize::from(access.key.table.0);
            *writes.get_mut(table).ok_or_else(|| format!("there is no table {table}"))? += 1;
        }
        Ok(Self(writes))
    }

    fn to(&self, table: TableId) -> i64 {
        self.0[table.0]
    }

    /// Whether there is one row of each of these tables, and none of tables that are in neither list.
    fn check(&self, one: &[TableId], more: &[TableId]) -> Result<(), String> {
        if let Some(table) = one.iter().find(|table| self.to(**table) != 1) {
            let name = TABLES[table.0].name;
            return Err(format!("it wrote {} rows of `{name}` instead of 1", self.to(*table)));
        }
        let known: i64 = one.iter().chain(more).map(|table| self.to(*table)).sum();
        match self.0.iter().sum::<i64>() - known {
            0 => Ok(()),
            others => Err(format!("it wrote {others} rows of other tables")),
        }
    }

    /// The lines of an order.
    fn lines(&self) -> Result<i64, String> {
        let lines = self.to(orders::ORDER_LINE);
        match (5..=orders::MOST_LINES).contains(&lines) {
            true => Ok(lines),
            false => Err(format!("it wrote {lines} lines instead of 5 to 15")),
        }
    }
}

impl Tpcc {
    /// What a row counts.
    pub(super) fn count_of(&self, key: Key, value: Option<&[u8]>) -> i64 {
        let Some(value) = value else { return 0 };
        let (table, of) = (TableId(key.table.0.into()), &self.shared.columns);
        let int = |column| self.layout(table).int(value, column);
        match (table, self.mix) {
            (orders::DISTRICT, _) => int(of.next_order),
            (orders::ORDER_LINE, _) | (orders::HISTORY, Mix::Standard) => 1,
            (orders::STOCK, Mix::NewOrders) => int(of.stock_orders),
            (orders::CUSTOMER, Mix::Standard) => int(of.payments) + int(of.deliveries),
            _ => 0,
        }
    }

    /// By how much a transaction that wrote so has changed what all rows count.
    pub(super) fn change_by(&self, kind: u8, accesses: &[Access]) -> Result<i64, String> {
        use orders::{CUSTOMER, DISTRICT, HISTORY, NEW_ORDER, ORDER, ORDER_LINE, STOCK, WAREHOUSE};
        let writes = Writes::of(accesses)?;
        match (kind, self.mix) {
            (0, Mix::NewOrders) => {
                writes.check(&[DISTRICT, ORDER, NEW_ORDER], &[ORDER_LINE, STOCK])?;
                let (lines, sales) = (writes.lines()?, writes.to(STOCK));
                match lines == sales {
                    true => Ok(1 + lines + sales),
                    false => Err(format!("it wrote {lines} lines and {sales} stocks")),
                }
            }
            (0, Mix::Standard) => {
                let one = [DISTRICT, ORDER, NEW_ORDER, LAST_ORDER];
                writes.check(&one, &[ORDER_LINE, STOCK])?;
                // An item may be in several lines.
                let (lines, sales) = (writes.lines()?, writes.to(STOCK));
                match (1..=lines).contains(&sales) {
                    true => Ok(1 + lines),
                    false => Err(format!("it wrote {lines} lines and {sales} stocks")),
                }
            }
            (1, _) => writes.check(&[WAREHOUSE, DISTRICT, CUSTOMER, HISTORY], &[]).map(|()| 2),
            // A district may have nothing to deliver.
            (3, _) if writes.0 != [0; 12] => {
                writes.check(&[NEXT_DELIVERY, NEW_ORDER, ORDER, CUSTOMER], &[ORDER_LINE])?;
                writes.lines().map(|_| 1)
            }
            _ => writes.check(&[], &[]).map(|()| 0),
        }
    }

    /// A row by itself: its length, and that nothing has changed which transactions leave as it is. (Of new-orders
    /// alone, W_YTD and D_YTD are among that.)
    pub(super) fn check_one(&self, key: Key, value: &[u8]) -> Result<(), String> {
        let Some((table, columns, parts)) = self.columns(key) else {
            return Err("there is no such key".into());
        };
        let layout = self.layout(table);
        let expected = usize::from(layout.value_bytes());
        if value.len() != expected {
            return Err(format!("it has {} bytes instead of {expected}", value.len()));
        }
        let mut was = Vec::new();
        if !self.initial_row(table, &columns[..parts], &mut was) {
            let is_made = match table {
                orders::ORDER | orders::NEW_ORDER | orders::ORDER_LINE => true,
                orders::HISTORY => self.mix == Mix::Standard,
                _ => false,
            };
            // Those that are new are compared with others.
            return is_made.then_some(()).ok_or_else(|| "it was not there at the start".into());
        }
        let changeable = self.changeable(table);
        let is_same = |column: usize| {
            changeable.contains(&column)
                || layout.bytes(value, column) == layout.bytes(&was, column)
        };
        match (parts..TABLES[table.0].columns.len()).all(is_same) {
            true => Ok(()),
            false => Err("no transaction changes it so".into()),
        }
    }

    /// The columns that transactions change in rows of the start.
    fn changeable(&self, table: TableId) -> Vec<usize> {
        let of = &self.shared.columns;
        match (table, self.mix) {
            (orders::STOCK, _) => {
                vec![of.stock_quantity, of.stock_sold, of.stock_orders, of.stock_remote]
            }
            (orders::DISTRICT, Mix::NewOrders) => vec![of.next_order],
            (_, Mix::NewOrders) => vec![],
            (orders::WAREHOUSE, _) => vec![of.warehouse_paid],
            (orders::DISTRICT, _) => vec![of.next_order, of.district_paid],
            (orders::CUSTOMER, _) => {
                vec![of.balance, of.paid, of.payments, of.deliveries, of.customer_data]
            }
            (orders::ORDER, _) => vec![of.carrier],
            (orders::ORDER_LINE, _) => vec![of.line_delivery],
            (LAST_ORDER | NEXT_DELIVERY, _) => vec![found_at(table)],
            _ => vec![],
        }
    }

    /// What lines have taken from the stock, by the stock's own row, which began with no sales. From the
    /// quantity of the start these follow: it is filled up by 91 whenever it would fall below ten.
    pub(super) fn sales_of_stock(&self, key: &[i64], value: &[u8]) -> Result<Sales, String> {
        let (layout, of) = (self.layout(orders::STOCK), &self.shared.columns);
        let mut was = Vec::new();
        self.initial_row(orders::STOCK, key, &mut was);
        let [orders, quantity, remote] = [of.stock_orders, of.stock_sold, of.stock_remote]
            .map(|column| layout.int(value, column));
        let left = layout.int(&was, of.stock_quantity) - quantity;
        let (found, expected) =
            (layout.int(value, of.stock_quantity), (left - 10).rem_euclid(91) + 10);
        if found != expected {
            return Err(format!("stock {key:?} has {found} after {quantity} sold, not {expected}"));
        }
        Ok(Sales { orders, quantity, remote })
    }

    /// Checks a new line by its item and its stock, and gives the stock with what the line has taken from it.
    pub(super) fn sale_of_line(
        &self,
        key: [i64; 4],
        value: &[u8],
    ) -> Result<([i64; 2], Sales), String> {
        let (layout, of) = (self.layout(orders::ORDER_LINE), &self.shared.columns);
        let [item, supplier, quantity, amount] =
            [of.line_item, of.line_supplier, of.line_quantity, of.line_amount]
                .map(|column| layout.int(value, column));
        let (mut item_row, mut stock_row) = (Vec::new(), Vec::new());
        if !self.initial_row(orders::ITEM, &[item], &mut item_row)
            || !self.initial_row(orders::STOCK, &[supplier, item], &mut stock_row)
        {
            return Err(format!("line {key:?} is of item {item} from warehouse {supplier}"));
        }
        let price = self.layout(orders::ITEM).int(&item_row, of.price);
        if !(1..=10).contains(&quantity) || amount != quantity * price {
            return Err(format!("line {key:?}: {quantity} for {price} each makes {amount}"));
        }
        let information = of.stock_information + key[1] as usize - 1;
        let expected = self.layout(orders::STOCK).bytes(&stock_row, information);
        if layout.bytes(value, of.line_information) != expected {
            return Err(format!("line {key:?} has not the information of its stock"));
        }
        let remote = i64::from(supplier != key[0]);
        Ok(([supplier, item], Sales { orders: 1, quantity, remote }))
    }
}

impl std::ops::AddAssign for Sales {
    fn add_assign(&mut self, other: Self) {
        self.orders += other.orders;
        self.quantity += other.quantity;
        self.remote += other.remote;
    }
}
