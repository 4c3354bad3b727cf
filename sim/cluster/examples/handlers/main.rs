// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures how long the parts of handlers take on this machine, by the procedure of `docs/calibration.md`, and
//! prints the entries that follow by the ratio of processors.
//!
//! - `cargo run --release -p lockstep-cluster-sim --example handlers -- fasst [ROWS]`
//! - `cargo run --release -p lockstep-cluster-sim --example handlers -- xenic COREMARK`, with Coremark of one core of
//!   this machine; also what DrTM+H takes on the hosts of Xenic's paper

mod bucket_table;
mod fasst;
mod logic;
mod timing;
mod xenic;

use timing::Result;

/// How much longer work of a core takes on FaSST's hosts than here: judged, as nobody has published Coremark of them.
const OF_FASST: [f64; 2] = [1.5, 3.0];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["fasst"] => fasst::print_entries(None, OF_FASST),
        ["fasst", rows] => fasst::print_entries(Some(rows.parse()?), OF_FASST),
        ["xenic", coremark] => {
            let coremark: f64 = coremark.parse()?;
            xenic::print_entries(coremark)?;
            println!("\nOn hosts with RDMA cards:");
            fasst::print_entries(None, [coremark / xenic::HOST; 2])
        }
        _ => Err("expected: fasst [ROWS], or xenic COREMARK".into()),
    }
}
