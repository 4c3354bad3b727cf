//! Random cases on the unit itself.

use conformance::{cases, check_seed};
use sim::models::TupleLockUnit;

#[test]
fn the_unit_and_its_oracle_agree() {
    let chosen = std::env::var("LOCKSTEP_SEED").ok().map(|text| {
        text.parse::<u64>()
            .unwrap_or_else(|_| panic!("LOCKSTEP_SEED is {text:?}, expected a number"))
    });
    let seeds = chosen.map_or(0..cases(400), |seed| seed..seed + 1);
    let (mut cycles, mut requests, mut accesses) = (0, 0, 0);
    for seed in seeds.clone() {
        let command =
            format!("LOCKSTEP_SEED={seed} cargo test -p lockstep-conformance --test random");
        match check_seed(seed, &command, TupleLockUnit::new) {
            Ok(summary) => {
                cycles += summary.cycles;
                requests += summary.requests;
                accesses += summary.accesses;
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    println!("{} cases, {cycles} cycles, {requests} requests, {accesses} accesses", seeds.count());
}
