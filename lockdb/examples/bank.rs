//! A bank in forty lines: money moves between accounts, and none is lost, whatever happens.
//!
//! `cargo run -p lockdb --example bank [FOLDER]`; run it again, and the accounts are still there.

use std::ops::ControlFlow;

use lockdb::store::schema::{Schema, Type};
use lockdb::store::{Database, Error, Options};

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "bank".into());
    let bank = Database::open(folder, Options::default())?;
    let account = Schema::builder("account").column("id", Type::Int64).column("cents", Type::Int64);
    let accounts = match bank.table("account") {
        Ok(accounts) => accounts,
        Err(_) => bank.create_table(account.primary_key(&["id"]).build()?)?,
    };
    bank.transaction(|transaction| {
        for id in 0..10_i64 {
            if transaction.get(&accounts, &id)?.is_none() {
                transaction.insert(&accounts, &[id.into(), 10_000.into()])?;
            }
        }
        Ok::<_, Error>(())
    })?;
    // Everybody pays the next one, all at once; who gets in another's way is run again.
    std::thread::scope(|threads| {
        for from in 0..10_i64 {
            let (bank, accounts) = (&bank, &accounts);
            threads.spawn(move || {
                bank.transaction(|transaction| {
                    let (to, amount) = ((from + 1) % 10, 750);
                    transaction.update(accounts, &from, |row| add(row, -amount))?;
                    transaction.update(accounts, &to, |row| add(row, amount))
                })
            });
        }
    });
    let mut total = 0;
    bank.transaction(|transaction| {
        total = 0;
        transaction.scan(&accounts, |row| {
            total += row.int(1);
            ControlFlow::Continue(())
        })
    })?;
    println!("10 accounts hold {total} cents");
    bank.close()
}

fn add(row: &mut lockdb::store::schema::RowBuffer, cents: i64) -> Result<(), Error> {
    row.set_int(1, row.as_row().int(1) + cents);
    Ok(())
}
