// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the rows at the end are those that new-orders have made: conditions 1 to 4 of clause 3.3.2,
//! and that stocks have what their order lines have left.

use std::collections::BTreeMap;

use workloads::database::TableId;
use workloads::database::tpcc as orders;

use super::{ChangedRow, DISTRICTS, TpccNewOrder};
use crate::engine::Key;

/// What the rows of one district say.
#[derive(Default)]
struct District {
    /// The number of its next order.
    next: Option<i64>,
    /// The lines of each new order, by its number.
    orders: BTreeMap<i64, i64>,
    undelivered: Vec<i64>,
    /// The order and the number of each new line.
    lines: Vec<(i64, i64)>,
}

/// What order lines have taken from a stock, or what the stock says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sales {
    orders: i64,
    quantity: i64,
    remote: i64,
}

impl TpccNewOrder {
    /// A row by itself: its length, and that nothing has changed which new-orders leave as it is. Among
    /// that are W_YTD and D_YTD, so that condition 1 holds as at the start.
    pub(super) fn check_one(&self, key: Key, value: &[u8]) -> Result<(), String> {
        let Some((table, columns, parts)) = self.columns(key) else {
            return Err("there is no such key".into());
        };
        let expected = usize::from(self.layout(table).value_bytes());
        if value.len() != expected {
            return Err(format!("it has {} bytes instead of {expected}", value.len()));
        }
        let mut was = Vec::new();
        let is_old = self.initial_row(table, &columns[..parts], &mut was);
        let of = &self.shared.columns;
        let changeable: &[usize] = match table {
            orders::DISTRICT => &[of.next_order],
            orders::STOCK => &[of.stock_quantity, of.stock_sold, of.stock_orders, of.stock_remote],
            // Those that are new are compared with others.
            orders::ORDER | orders::NEW_ORDER | orders::ORDER_LINE if !is_old => return Ok(()),
            _ => &[],
        };
        if !is_old {
            return Err("it was not there at the start".into());
        }
        let mut now = value.to_vec();
        for column in changeable {
            let initial = self.layout(table).int(&was, *column);
            self.layout(table).put_int(&mut now, *column, initial);
        }
        (now == was).then_some(()).ok_or_else(|| "no new-order changes it so".into())
    }

    /// What lines have taken from the stock, by the stock's own row, which began with no sales. From the
    /// quantity of the start these follow: it is filled up by 91 whenever it would fall below ten.
    fn sales_of_stock(&self, key: &[i64], value: &[u8]) -> Result<Sales, String> {
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

    /// Checks a new line by its item and its stock, and adds it to the sales of that.
    fn sell(
        &self,
        key: [i64; 4],
        value: &[u8],
        sales: &mut BTreeMap<[i64; 2], Sales>,
    ) -> Result<(), String> {
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
        let sold = sales.entry([supplier, item]).or_default();
        sold.orders += 1;
        sold.quantity += quantity;
        sold.remote += i64::from(supplier != key[0]);
        Ok(())
    }
}

/// Compares the rows with each other.
pub(super) fn together(of: &TpccNewOrder, rows: &[ChangedRow<'_>]) -> Result<(), String> {
    let at_start = of.workload.scale().customers;
    let mut districts = BTreeMap::<[i64; 2], District>::new();
    let (mut by_stock, mut by_line) = (BTreeMap::new(), BTreeMap::new());
    for &ChangedRow { key, now } in rows {
        let Some((table, key, parts)) = of.columns(key) else { continue };
        let Some(value) = now else {
            return Err(format!("row {:?} of table {} is deleted", &key[..parts], table.0));
        };
        let [warehouse, number, order, line] = key;
        let place = [warehouse, number];
        let int = |table: TableId, column| of.layout(table).int(value, column);
        let columns = &of.shared.columns;
        match table {
            orders::DISTRICT => {
                districts.entry(place).or_default().next = Some(int(table, columns.next_order))
            }
            orders::STOCK => {
                by_stock.insert(place, of.sales_of_stock(&place, value)?);
            }
            orders::ORDER | orders::NEW_ORDER | orders::ORDER_LINE if order <= at_start => {}
            orders::ORDER => {
                districts
                    .entry(place)
                    .or_default()
                    .orders
                    .insert(order, int(table, columns.order_lines));
            }
            orders::NEW_ORDER => districts.entry(place).or_default().undelivered.push(order),
            orders::ORDER_LINE => {
                districts.entry(place).or_default().lines.push((order, line));
                if (1..=DISTRICTS).contains(&number) {
                    of.sell(key, value, &mut by_line)?;
                }
            }
            _ => {}
        }
    }
    for (key, district) in &mut districts {
        let wrong = check_district(district, at_start);
        wrong.map_err(|wrong| format!("warehouse {}, district {}: {wrong}", key[0], key[1]))?;
    }
    // A stock that is as at the start need not be among the rows, and has sold nothing.
    by_stock.retain(|_, sales| *sales != Sales::default());
    if by_stock != by_line {
        let stocks = by_stock.keys().chain(by_line.keys());
        let differs = |stock: &&[i64; 2]| by_stock.get(*stock) != by_line.get(*stock);
        let stock = stocks.min_by_key(|stock| (!differs(stock), **stock)).expect("one differs");
        let (says, lines) = (by_stock.get(stock), by_line.get(stock));
        return Err(format!("stock {stock:?} says {says:?}, its order lines {lines:?}"));
    }
    Ok(())
}

/// Conditions 2 to 4, where all orders above `at_start` are new, and none was delivered.
fn check_district(district: &mut District, at_start: i64) -> Result<(), String> {
    let next = district.next.unwrap_or(at_start + 1);
    let expected = || at_start + 1..next;
    if !district.orders.keys().copied().eq(expected()) {
        let last = district.orders.keys().next_back();
        let orders = district.orders.len();
        return Err(format!("condition 2: {next} is next, after {orders} new orders to {last:?}"));
    }
    district.undelivered.sort_unstable();
    if !district.undelivered.iter().copied().eq(expected()) {
        let (rows, last) = (district.undelivered.len(), district.undelivered.last());
        return Err(format!("condition 3: {next} is next, after {rows} in NEW-ORDER to {last:?}"));
    }
    district.lines.sort_unstable();
    let lines = |(order, lines): (&i64, &i64)| {
        let order = *order;
        (1..=*lines).map(move |line| (order, line))
    };
    if !district.lines.iter().copied().eq(district.orders.iter().flat_map(lines)) {
        let (found, expected) = (district.lines.len(), district.orders.values().sum::<i64>());
        return Err(format!("condition 4: {found} rows in ORDER-LINE, and orders of {expected}"));
    }
    Ok(())
}
