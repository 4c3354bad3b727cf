// SPDX-License-Identifier: MIT OR Apache-2.0
//! What workloads themselves take: to draw transactions, and to run their logic.

use std::hint::black_box;

use cluster::transact::{Rows, Transactions};

use super::timing::{Result, Three, timed};

/// Transactions of each workload whose logic is run.
const INPUTS: usize = 1024;

/// The time to draw and declare a transaction, and that of its logic for each row, over the mix.
pub fn transactions<T: Transactions>(name: &str, workload: &T) -> Result<(Three, Three)> {
    let mut source = workload.source(0);
    let (mut wanted, none) = (Vec::new(), Rows::new());
    let begin = timed(&format!("{name}: begin"), |_| {
        wanted.clear();
        if let Some(input) = workload.draw(&mut source) {
            workload.declare(&input, &none, &mut wanted);
        }
        black_box(&wanted);
    });
    let mut prepared = Vec::new();
    while prepared.len() < INPUTS {
        let input = workload.draw(&mut source).ok_or("a workload has no end")?;
        let mut rows = Rows::new();
        fetch(workload, &input, &mut rows);
        prepared.push((input, rows));
    }
    let rows: usize = prepared.iter().map(|(_, rows)| rows.all().len()).sum();
    let of_each = rows as f64 / INPUTS as f64;
    let logic = timed(&format!("{name}: logic"), |time| {
        let (input, rows) = &mut prepared[time as usize % INPUTS];
        rows.reset();
        black_box(workload.run(input, rows).is_ok());
    });
    println!("# {of_each:.2} rows");
    Ok((begin, logic.map(|time| time / of_each)))
}

/// Gives a transaction its rows as they are at the start, as a worker does.
fn fetch<T: Transactions>(workload: &T, input: &T::Input, rows: &mut Rows) {
    let mut wanted = Vec::new();
    loop {
        wanted.clear();
        workload.declare(input, rows, &mut wanted);
        wanted.retain(|(key, intent)| !rows.has(*key, *intent));
        if wanted.is_empty() {
            match workload.run(input, rows) {
                Err(missing) if !rows.has(missing.key, missing.intent) => {
                    wanted.push((missing.key, missing.intent));
                }
                _ => return,
            }
        }
        for (key, intent) in wanted.drain(..) {
            let mut value = Vec::new();
            let there = workload.initial(key, &mut value);
            rows.fetched(key, intent, 1, there.then_some(&value[..]));
        }
    }
}
