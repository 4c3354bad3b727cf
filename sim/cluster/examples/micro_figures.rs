// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints the micro-figures of the papers, each point with the paper's number where the text has one,
//! and the entry that was taken from it.
//!
//! `cargo run --release -p lockstep-cluster-sim --example micro_figures [FIGURE]`

use cluster_sim::micro::shapes::shapes;
use cluster_sim::micro::{Spans, figures};
use cluster_sim::platform::Hardware;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted = std::env::args().nth(1);
    let chosen = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    for (name, cases) in figures::all().into_iter().filter(|(name, _)| chosen(name)) {
        println!("{name}");
        let mut measured = Vec::new();
        for case in cases {
            let hardware = Hardware::named(case.platform)?;
            let outcome = case.run(&hardware, Spans::USUAL, 1)?;
            let place = format!("{}, {} at {}", case.platform, case.series, case.across);
            let (binds, share) = outcome.measured.busiest;
            print!("  {place:<52}{:>8.2} {:<4}", outcome.value, case.value.unit());
            print!("{binds} {:>3.0} %", share * 100.0);
            if let Some(paper) = case.paper {
                print!("  paper {} ratio {:.3}", paper.number, outcome.value / paper.number);
                print!(
                    ", {}",
                    paper.fixes.map_or("predicted".into(), |fixes| format!("fixes {fixes}"))
                );
            }
            println!();
            measured.push((case, outcome.value));
        }
        for shape in shapes(&measured) {
            let holds = if shape.holds { "yes" } else { "NO" };
            println!("  {holds}: {} {}", shape.says, shape.because);
        }
    }
    Ok(())
}
