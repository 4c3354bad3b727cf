// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bank in forty lines: money moves between accounts, and none is lost, whatever happens.
//!
//! `cargo run -p bank [FOLDER]`; run it again, and the accounts are still there.

use lockdb::schema::{RowBuffer, Schema, Type};
use lockdb::{Database, Error, Options};
use std::ops::ControlFlow;

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "bank".into());
    let bank = Database::open(folder, Options::default())?;
    if bank.table("account").is_err() {
        let columns = Schema::builder("account").column("id", Type::Int64);
        let columns = columns.column("cents", Type::Int64).primary_key(&["id"]);
        let accounts = bank.create_table(columns.build()?)?;
        bank.transaction(|open| {
            (0..10).try_for_each(|id: i64| open.insert(&accounts, &[id.into(), 10_000.into()]))
        })?;
    }
    let accounts = bank.table("account")?;
    // Every account pays the next one, concurrently; conflicting transactions are retried.
    std::thread::scope(|threads| {
        for from in 0..10_i64 {
            let (bank, accounts, to) = (&bank, &accounts, (from + 1) % 10);
            threads.spawn(move || {
                bank.transaction(|transfer| {
                    transfer.update(accounts, &from, |row| add(row, -750))?;
                    transfer.update(accounts, &to, |row| add(row, 750))
                })
            });
        }
    });
    let mut total = 0; // once: who only reads is in nobody's way
    bank.transaction(|audit| {
        audit.scan(&accounts, |row| {
            total += row.int(1);
            ControlFlow::Continue(())
        })
    })?;
    println!("10 accounts hold {total} cents");
    bank.close()
}

fn add(row: &mut RowBuffer, cents: i64) -> Result<(), Error> {
    row.set_int(1, row.as_row().int(1) + cents);
    Ok(())
}
