// SPDX-License-Identifier: MIT OR Apache-2.0
//! The nine tables of TPC-C (clause 1.3), and numbers of the columns that transactions use.
//!
//! Money is in cents; taxes and discounts are in hundredths of a percent. Dates are counts of
//! their agent's transactions. HISTORY has no primary key in the standard; here it is the agent
//! (0 for the population, then agent + 1) and the place in its stream.

use crate::database::schema::{Column, IndexDefinition, TableDefinition, TableId};

/// Warehouses, by warehouse.
pub const WAREHOUSE: TableId = TableId(0);
/// Districts, by warehouse and district.
pub const DISTRICT: TableId = TableId(1);
/// Customers, by warehouse, district and customer.
pub const CUSTOMER: TableId = TableId(2);
/// Payments, by agent + 1 (0 for the population) and number.
pub const HISTORY: TableId = TableId(3);
/// Undelivered orders, by warehouse, district and order.
pub const NEW_ORDER: TableId = TableId(4);
/// Orders, by warehouse, district and order.
pub const ORDER: TableId = TableId(5);
/// Lines, by warehouse, district, order and number.
pub const ORDER_LINE: TableId = TableId(6);
/// Items, by item.
pub const ITEM: TableId = TableId(7);
/// Stocks, by warehouse and item.
pub const STOCK: TableId = TableId(8);

/// Index 0 of [`CUSTOMER`]: warehouse, district, last name, then first name.
pub const CUSTOMER_BY_NAME: usize = 0;
/// Index 0 of [`ORDER`]: warehouse, district, customer, then order.
pub const ORDER_BY_CUSTOMER: usize = 0;

pub mod warehouse {
    pub const NAME: usize = 1;
    pub const TAX: usize = 7;
    pub const YTD: usize = 8;
}

pub mod district {
    pub const NAME: usize = 2;
    pub const TAX: usize = 8;
    pub const YTD: usize = 9;
    pub const NEXT_ORDER: usize = 10;
}

pub mod customer {
    pub const ID: usize = 2;
    pub const FIRST: usize = 3;
    pub const LAST: usize = 5;
    pub const CREDIT: usize = 13;
    pub const DISCOUNT: usize = 15;
    pub const BALANCE: usize = 16;
    pub const YTD_PAYMENT: usize = 17;
    pub const PAYMENT_COUNT: usize = 18;
    pub const DELIVERY_COUNT: usize = 19;
    pub const DATA: usize = 20;
    /// Bytes of the data at most.
    pub const DATA_BYTES: usize = 500;
}

pub mod new_order {
    pub const ORDER: usize = 2;
}

pub mod order {
    pub const ID: usize = 2;
    pub const CUSTOMER: usize = 3;
    pub const ENTRY_DATE: usize = 4;
    pub const CARRIER: usize = 5;
    pub const LINES: usize = 6;
}

pub mod order_line {
    pub const ITEM: usize = 4;
    pub const SUPPLY_WAREHOUSE: usize = 5;
    pub const DELIVERY_DATE: usize = 6;
    pub const QUANTITY: usize = 7;
    pub const AMOUNT: usize = 8;
}

pub mod item {
    pub const PRICE: usize = 3;
    pub const DATA: usize = 4;
}

pub mod stock {
    pub const QUANTITY: usize = 2;
    /// The district information of district 1; the others follow.
    pub const DISTRICT_1: usize = 3;
    pub const YTD: usize = 13;
    pub const ORDER_COUNT: usize = 14;
    pub const REMOTE_COUNT: usize = 15;
    pub const DATA: usize = 16;
}

/// All of them; a [`TableId`] is a place in this list.
pub const TABLES: &[TableDefinition] = &[
    TableDefinition {
        name: "warehouse",
        columns: &[
            Column::int("w_id"),
            Column::text("w_name", 10),
            Column::text("w_street_1", 20),
            Column::text("w_street_2", 20),
            Column::text("w_city", 20),
            Column::fixed("w_state", 2),
            Column::fixed("w_zip", 9),
            Column::int("w_tax"),
            Column::int("w_ytd"),
        ],
        key_columns: 1,
        indexes: &[],
    },
    TableDefinition {
        name: "district",
        columns: &[
            Column::int("d_w_id"),
            Column::int("d_id"),
            Column::text("d_name", 10),
            Column::text("d_street_1", 20),
            Column::text("d_street_2", 20),
            Column::text("d_city", 20),
            Column::fixed("d_state", 2),
            Column::fixed("d_zip", 9),
            Column::int("d_tax"),
            Column::int("d_ytd"),
            Column::int("d_next_o_id"),
        ],
        key_columns: 2,
        indexes: &[],
    },
    TableDefinition {
        name: "customer",
        columns: &[
            Column::int("c_w_id"),
            Column::int("c_d_id"),
            Column::int("c_id"),
            Column::text("c_first", 16),
            Column::fixed("c_middle", 2),
            Column::text("c_last", 16),
            Column::text("c_street_1", 20),
            Column::text("c_street_2", 20),
            Column::text("c_city", 20),
            Column::fixed("c_state", 2),
            Column::fixed("c_zip", 9),
            Column::fixed("c_phone", 16),
            Column::int("c_since"),
            Column::fixed("c_credit", 2),
            Column::int("c_credit_lim"),
            Column::int("c_discount"),
            Column::int("c_balance"),
            Column::int("c_ytd_payment"),
            Column::int("c_payment_cnt"),
            Column::int("c_delivery_cnt"),
            Column::text("c_data", customer::DATA_BYTES),
        ],
        key_columns: 3,
        indexes: &[IndexDefinition {
            name: "customer_by_name",
            columns: &[0, 1, customer::LAST, customer::FIRST, customer::ID],
        }],
    },
    TableDefinition {
        name: "history",
        columns: &[
            Column::int("h_agent"),
            Column::int("h_number"),
            Column::int("h_c_id"),
            Column::int("h_c_d_id"),
            Column::int("h_c_w_id"),
            Column::int("h_d_id"),
            Column::int("h_w_id"),
            Column::int("h_date"),
            Column::int("h_amount"),
            Column::text("h_data", 24),
        ],
        key_columns: 2,
        indexes: &[],
    },
    TableDefinition {
        name: "new_order",
        columns: &[Column::int("no_w_id"), Column::int("no_d_id"), Column::int("no_o_id")],
        key_columns: 3,
        indexes: &[],
    },
    TableDefinition {
        name: "orders",
        columns: &[
            Column::int("o_w_id"),
            Column::int("o_d_id"),
            Column::int("o_id"),
            Column::int("o_c_id"),
            Column::int("o_entry_d"),
            Column::int("o_carrier_id").or_null(),
            Column::int("o_ol_cnt"),
            Column::int("o_all_local"),
        ],
        key_columns: 3,
        indexes: &[IndexDefinition {
            name: "orders_by_customer",
            columns: &[0, 1, order::CUSTOMER, order::ID],
        }],
    },
    TableDefinition {
        name: "order_line",
        columns: &[
            Column::int("ol_w_id"),
            Column::int("ol_d_id"),
            Column::int("ol_o_id"),
            Column::int("ol_number"),
            Column::int("ol_i_id"),
            Column::int("ol_supply_w_id"),
            Column::int("ol_delivery_d").or_null(),
            Column::int("ol_quantity"),
            Column::int("ol_amount"),
            Column::fixed("ol_dist_info", 24),
        ],
        key_columns: 4,
        indexes: &[],
    },
    TableDefinition {
        name: "item",
        columns: &[
            Column::int("i_id"),
            Column::int("i_im_id"),
            Column::text("i_name", 24),
            Column::int("i_price"),
            Column::text("i_data", 50),
        ],
        key_columns: 1,
        indexes: &[],
    },
    TableDefinition {
        name: "stock",
        columns: &[
            Column::int("s_w_id"),
            Column::int("s_i_id"),
            Column::int("s_quantity"),
            Column::fixed("s_dist_01", 24),
            Column::fixed("s_dist_02", 24),
            Column::fixed("s_dist_03", 24),
            Column::fixed("s_dist_04", 24),
            Column::fixed("s_dist_05", 24),
            Column::fixed("s_dist_06", 24),
            Column::fixed("s_dist_07", 24),
            Column::fixed("s_dist_08", 24),
            Column::fixed("s_dist_09", 24),
            Column::fixed("s_dist_10", 24),
            Column::int("s_ytd"),
            Column::int("s_order_cnt"),
            Column::int("s_remote_cnt"),
            Column::text("s_data", 50),
        ],
        key_columns: 2,
        indexes: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of columns are those of the columns of that name.
    #[test]
    fn columns_have_their_numbers() {
        for (table, number, name) in [
            (WAREHOUSE, warehouse::NAME, "w_name"),
            (WAREHOUSE, warehouse::TAX, "w_tax"),
            (WAREHOUSE, warehouse::YTD, "w_ytd"),
            (DISTRICT, district::NAME, "d_name"),
            (DISTRICT, district::TAX, "d_tax"),
            (DISTRICT, district::YTD, "d_ytd"),
            (DISTRICT, district::NEXT_ORDER, "d_next_o_id"),
            (CUSTOMER, customer::ID, "c_id"),
            (CUSTOMER, customer::FIRST, "c_first"),
            (CUSTOMER, customer::LAST, "c_last"),
            (CUSTOMER, customer::CREDIT, "c_credit"),
            (CUSTOMER, customer::DISCOUNT, "c_discount"),
            (CUSTOMER, customer::BALANCE, "c_balance"),
            (CUSTOMER, customer::YTD_PAYMENT, "c_ytd_payment"),
            (CUSTOMER, customer::PAYMENT_COUNT, "c_payment_cnt"),
            (CUSTOMER, customer::DELIVERY_COUNT, "c_delivery_cnt"),
            (CUSTOMER, customer::DATA, "c_data"),
            (NEW_ORDER, new_order::ORDER, "no_o_id"),
            (ORDER, order::ID, "o_id"),
            (ORDER, order::CUSTOMER, "o_c_id"),
            (ORDER, order::ENTRY_DATE, "o_entry_d"),
            (ORDER, order::CARRIER, "o_carrier_id"),
            (ORDER, order::LINES, "o_ol_cnt"),
            (ORDER_LINE, order_line::ITEM, "ol_i_id"),
            (ORDER_LINE, order_line::SUPPLY_WAREHOUSE, "ol_supply_w_id"),
            (ORDER_LINE, order_line::DELIVERY_DATE, "ol_delivery_d"),
            (ORDER_LINE, order_line::QUANTITY, "ol_quantity"),
            (ORDER_LINE, order_line::AMOUNT, "ol_amount"),
            (ITEM, item::PRICE, "i_price"),
            (ITEM, item::DATA, "i_data"),
            (STOCK, stock::QUANTITY, "s_quantity"),
            (STOCK, stock::DISTRICT_1, "s_dist_01"),
            (STOCK, stock::YTD, "s_ytd"),
            (STOCK, stock::ORDER_COUNT, "s_order_cnt"),
            (STOCK, stock::REMOTE_COUNT, "s_remote_cnt"),
            (STOCK, stock::DATA, "s_data"),
        ] {
            assert_eq!(TABLES[table.0].columns[number].name, name);
        }
    }

    #[test]
    fn indexes_determine_rows() {
        for table in TABLES {
            for index in table.indexes {
                for key in 0..table.key_columns {
                    assert!(index.columns.contains(&key), "{} lacks column {key}", index.name);
                }
                assert!(index.columns.iter().all(|&column| !table.columns[column].nullable));
            }
        }
    }
}
