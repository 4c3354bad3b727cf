// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executed serially, every workload keeps its conditions; retries and rollbacks leave no trace;
//! the oracle agrees with itself and with nothing else.

use lockstep_workloads::database::smallbank;
use lockstep_workloads::database::ycsb::Mix;
use lockstep_workloads::database::{
    Outcome, Reference, Workload, check, execute, replay, same_tables, total,
};
use lockstep_workloads::scenario::SmallBankAccess;

use super::{bank, poor_bank, populated, tatp, tpcc, ycsb};

const AGENTS: u32 = 3;

/// The committed transactions with their outputs, and the total that they should leave.
struct Run<W: Workload> {
    history: Vec<(W::Input, W::Output)>,
    outcomes: Vec<Outcome<W::Output>>,
    total: i64,
}

/// Agents take turns, from their first input on.
fn run<W: Workload>(store: &mut Reference, workload: &W, rounds: usize) -> Run<W> {
    let mut agents: Vec<_> = (0..AGENTS).map(|agent| workload.inputs(agent)).collect();
    let total = total(store, workload).expect("the reference takes any scan");
    let mut run = Run { history: Vec::new(), outcomes: Vec::new(), total };
    for _ in 0..rounds {
        for agent in &mut agents {
            let input = agent.next().expect("streams are endless");
            let outcome = execute(store, workload, &input).unwrap_or_else(|error| {
                panic!("{input:?}: {error}");
            });
            if let Outcome::Committed(output) = &outcome {
                run.total += workload.change(&input, output);
                run.history.push((input, output.clone()));
            }
            run.outcomes.push(outcome);
        }
    }
    run
}

fn stays_sound<W: Workload>(name: &str, rounds: usize, workload: impl Fn(u64) -> W) {
    for seed in seeds::of!(3) {
        let workload = workload(seed);
        let mut store = populated(&workload);
        let once = run(&mut store, &workload, rounds);
        check(&mut store, &workload, once.total).expect(name);

        // What is undone and done again is as if done once.
        let mut retrying = Reference::retrying_every(2);
        workload.populate(&mut retrying).expect("the population fits its tables");
        let again = run(&mut retrying, &workload, rounds);
        assert_eq!(again.outcomes, once.outcomes, "{name}");
        same_tables(&mut retrying, &mut store).expect(name);

        // What rolled back has left nothing: without it all goes the same way.
        let mut serial = populated(&workload);
        replay(&mut serial, &workload, once.history.clone()).expect(name);
        same_tables(&mut serial, &mut store).expect(name);
        check(&mut serial, &workload, once.total).expect(name);

        // One transaction less is seen: by a later output, or in the tables.
        let mut lossy = once.history;
        let changes = |(input, output): &(_, _)| workload.change(input, output) != 0;
        let Some(place) = lossy.iter().rposition(changes) else { continue };
        lossy.remove(place);
        let mut other = populated(&workload);
        let difference = replay(&mut other, &workload, lossy);
        let difference = difference.and_then(|()| same_tables(&mut other, &mut store));
        difference.expect_err(name);
    }
}

#[test]
fn smallbank_stays_sound() {
    stays_sound("SmallBank hot90", 1_000, |seed| bank(SmallBankAccess::Hot90, seed));
    stays_sound("SmallBank hot10", 1_000, |seed| bank(SmallBankAccess::Hot10, seed));
    stays_sound("SmallBank of little money", 1_000, poor_bank);
}

#[test]
fn tatp_stays_sound() {
    stays_sound("TATP", 1_500, tatp);
}

#[test]
fn ycsb_stays_sound() {
    for mix in [Mix::A, Mix::B, Mix::F] {
        stays_sound("YCSB", 700, |seed| ycsb(mix, seed));
    }
}

#[test]
fn tpcc_stays_sound() {
    stays_sound("TPC-C", 250, tpcc);
}

#[test]
fn payments_roll_back_and_checks_bounce_where_there_is_little_money() {
    let bank = poor_bank(1);
    let mut store = populated(&bank);
    let Run { history, outcomes, .. } = run(&mut store, &bank, 1_000);
    let rolled_back = outcomes.iter().filter(|outcome| !outcome.is_committed()).count();
    assert!(rolled_back > 50, "{rolled_back} of {}", outcomes.len());
    let price = smallbank::CHECK + smallbank::PENALTY;
    let bounced = history.iter().filter(|(_, output)| output.change == -price).count();
    assert!(bounced > 20, "{bounced} of {}", history.len());
}

#[test]
fn inputs_depend_on_seed_agent_and_place_only() {
    let (one, other) = (tpcc(1), tpcc(2));
    let mut interleaved = one.inputs(0);
    let mut neighbour = one.inputs(1);
    let first: Vec<_> = (0..200)
        .map(|_| {
            neighbour.next();
            interleaved.next().expect("streams are endless")
        })
        .collect();
    assert_eq!(one.inputs(0).take(200).collect::<Vec<_>>(), first);
    assert_eq!(one.inputs(0).nth(150).as_ref(), Some(&first[150]));
    assert_ne!(one.inputs(1).take(200).collect::<Vec<_>>(), first);
    assert_ne!(other.inputs(0).take(200).collect::<Vec<_>>(), first);
}

#[test]
fn populations_are_the_same_every_time() {
    let workload = tpcc(5);
    same_tables(&mut populated(&workload), &mut populated(&workload)).expect("the same rows");
    let error = same_tables(&mut populated(&workload), &mut populated(&tpcc(6)));
    let error = error.expect_err("other rows").to_string();
    assert!(error.contains("table `warehouse` by primary key: row [1]: `w_name` is"), "{error}");
}
