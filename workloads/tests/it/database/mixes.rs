// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shares of kinds, accesses and outcomes are those of the definitions.

use std::collections::HashMap;

use lockstep_workloads::database::tatp::{self as telecom, Tatp};
use lockstep_workloads::database::tpcc::{Customer, Input, NewOrder, Payment, Scale, Tpcc};
use lockstep_workloads::database::ycsb::{self, Mix};
use lockstep_workloads::database::{TableId, Workload, execute};
use lockstep_workloads::scenario::SmallBankAccess;

use super::{bank, populated, tatp, tpcc, ycsb};

const DRAWS: usize = 40_000;

/// Asserts that so many of `draws` are the share, within five standard deviations.
fn assert_share(what: &str, seen: usize, draws: usize, share: f64) {
    let deviation = (draws as f64 * share * (1.0 - share)).sqrt();
    let distance = (seen as f64 - draws as f64 * share).abs();
    assert!(distance <= 5.0 * deviation, "{what}: {seen} of {draws}, expected a share of {share}");
}

fn follows_its_mix(workload: &impl Workload, expected: &[(&str, u32)]) {
    let kinds: Vec<_> = workload.kinds().iter().map(|kind| (kind.name, kind.percent)).collect();
    assert_eq!(kinds, expected);
    assert_eq!(kinds.iter().map(|(_, percent)| percent).sum::<u32>(), 100);
    let mut seen = vec![0; kinds.len()];
    for input in workload.inputs(3).take(DRAWS) {
        seen[workload.kind(&input)] += 1;
    }
    for ((name, percent), seen) in kinds.into_iter().zip(seen) {
        assert_share(name, seen, DRAWS, f64::from(percent) / 100.0);
    }
}

#[test]
fn mixes_are_the_published_ones() {
    let smallbank = [
        ("amalgamate", 15),
        ("balance", 15),
        ("deposit-checking", 15),
        ("send-payment", 25),
        ("transact-savings", 15),
        ("write-check", 15),
    ];
    follows_its_mix(&bank(SmallBankAccess::Hot90, 1), &smallbank);
    follows_its_mix(&bank(SmallBankAccess::Hot10, 1), &smallbank);
    let telecom = [
        ("get-subscriber-data", 35),
        ("get-access-data", 35),
        ("get-new-destination", 10),
        ("update-subscriber-data", 2),
        ("update-location", 14),
        ("insert-call-forwarding", 2),
        ("delete-call-forwarding", 2),
    ];
    follows_its_mix(&tatp(1), &telecom);
    for (mix, read, update, modify) in
        [(Mix::A, 50, 50, 0), (Mix::B, 95, 5, 0), (Mix::F, 50, 0, 50)]
    {
        let kinds = [("read", read), ("update", update), ("read-modify-write", modify)];
        follows_its_mix(&ycsb(mix, 1), &kinds);
    }
    let orders = [
        ("new-order", 45),
        ("payment", 43),
        ("order-status", 4),
        ("delivery", 4),
        ("stock-level", 4),
    ];
    follows_its_mix(&tpcc(1), &orders);
}

#[test]
fn zipf_keys_of_ycsb_are_scattered_alike_for_all_agents() {
    let workload = ycsb(Mix::A, 1);
    let hottest = |agent| {
        let mut seen = HashMap::new();
        for input in workload.inputs(agent).take(DRAWS) {
            let (ycsb::Input::Read { key } | ycsb::Input::Update { key, .. }) = input else {
                unreachable!("mix A reads and updates")
            };
            *seen.entry(key).or_insert(0) += 1;
        }
        seen.into_iter().max_by_key(|&(key, count)| (count, key)).expect("keys were drawn")
    };
    let ((first, count), (second, _)) = (hottest(0), hottest(1));
    assert_eq!(first, second);
    // The first of 500 ranks under exponent 0.99.
    let weights: f64 = (1..=500).map(|rank| f64::from(rank).powf(-0.99)).sum();
    assert_share("hottest key", count, DRAWS, 1.0 / weights);
}

/// The shares that follow from the population: 2.5 of 4 types are there on average, half of the
/// start times are taken, and as many forwardings are inserted as deleted.
#[test]
fn tatp_finds_rows_as_often_as_its_population_says() {
    let workload = Tatp::new(3_000, 2);
    let mut store = populated(&workload);
    let mut seen = vec![(0, 0); workload.kinds().len()];
    // Destinations first, before others change them.
    for destinations in [true, false] {
        for input in workload.inputs(0).take(2 * DRAWS) {
            let kind = workload.kind(&input);
            if (kind == 2) == destinations {
                let outcome = execute(&mut store, &workload, &input).expect("a sound database");
                let (found, draws) = &mut seen[kind];
                *found += usize::from(outcome.is_committed());
                *draws += 1;
            }
        }
    }
    let share = |kind: usize| seen[kind].0 as f64 / seen[kind].1 as f64;
    assert_eq!((share(0), share(4)), (1.0, 1.0), "subscribers are always there");
    // 0.85 of the facilities are active.
    let destination = 0.625 * 0.85 * forwarded();
    for (kind, expected) in [(1, 0.625), (2, destination), (3, 0.625), (5, 0.3125), (6, 0.3125)] {
        let (name, share) = (workload.kinds()[kind].name, share(kind));
        // Five deviations of 1,600 draws are 0.06; the skewed subscribers scatter too.
        assert!((share - expected).abs() < 0.06, "{name}: {share} instead of {expected}");
    }
}

/// The share of the queried times at which a facility has a forwarding, by counting.
fn forwarded() -> f64 {
    let mut share = 0.0;
    for subset in 0..8u32 {
        // None to three of three start times, every number and every choice alike.
        let choices = [1.0, 3.0, 3.0, 1.0][subset.count_ones() as usize];
        for (last, end) in (0..3).flat_map(|last| (1..=24).map(move |end| (last, end))) {
            let misses = |start: i32| (1..=8).filter(|hours| 8 * start + hours <= end).count();
            let missed: f64 = (0..=last)
                .filter(|start| subset & 1 << start != 0)
                .map(|start| misses(start) as f64 / 8.0)
                .product();
            share += (1.0 - missed) / (4.0 * choices * 72.0);
        }
    }
    share
}

#[test]
fn tatp_fills_its_tables_in_proportion() {
    let store = populated(&Tatp::new(4_000, 1));
    let per_subscriber = |table| store.rows(table) as f64 / 4_000.0;
    assert_eq!(per_subscriber(telecom::SUBSCRIBER), 1.0);
    assert_eq!(per_subscriber(telecom::SECONDARY_SUBSCRIBER), 1.0);
    assert!((per_subscriber(telecom::ACCESS_INFO) - 2.5).abs() < 0.1);
    assert!((per_subscriber(telecom::SPECIAL_FACILITY) - 2.5).abs() < 0.1);
    assert!((per_subscriber(telecom::CALL_FORWARDING) - 3.75).abs() < 0.2);
}

fn new_orders(inputs: impl Iterator<Item = Input>) -> Vec<NewOrder> {
    let order = |input| match input {
        Input::NewOrder(order) => Some(order),
        _ => None,
    };
    inputs.filter_map(order).take(DRAWS).collect()
}

fn payments(inputs: impl Iterator<Item = Input>) -> Vec<Payment> {
    let payment = |input| match input {
        Input::Payment(payment) => Some(payment),
        _ => None,
    };
    inputs.filter_map(payment).take(DRAWS).collect()
}

#[test]
fn new_orders_are_drawn_as_the_standard_says() {
    let workload = Tpcc::new(Scale::standard(4), 1);
    let orders = new_orders(workload.inputs(6));
    assert!(orders.iter().all(|order| order.warehouse == 3), "agent 6 sits at warehouse 3 of 4");
    for district in 1..=10 {
        let there = orders.iter().filter(|order| order.district == district).count();
        assert_share("district", there, orders.len(), 0.1);
    }
    for count in 5..=15 {
        let such = orders.iter().filter(|order| order.lines.len() == count).count();
        assert_share("number of lines", such, orders.len(), 1.0 / 11.0);
    }
    let unused = |item: i64| item > 100_000;
    let rolled_back =
        orders.iter().filter(|order| order.lines.iter().any(|line| unused(line.item)));
    assert_share("roll-back", rolled_back.count(), orders.len(), 0.01);
    for order in &orders {
        let last = order.lines.len() - 1;
        assert!(order.lines[..last].iter().all(|line| (1..=100_000).contains(&line.item)));
        assert!((1..=3_000).contains(&order.customer));
    }
    let lines: Vec<_> = orders.iter().flat_map(|order| &order.lines).collect();
    let remote: Vec<_> = lines.iter().filter(|line| line.supply_warehouse != 3).collect();
    assert_share("remote lines", remote.len(), lines.len(), 0.01);
    for other in [1, 2, 4] {
        let from = remote.iter().filter(|line| line.supply_warehouse == other).count();
        assert_share("remote warehouse", from, remote.len(), 1.0 / 3.0);
    }
    for quantity in 1..=10 {
        let such = lines.iter().filter(|line| line.quantity == quantity).count();
        assert_share("quantity", such, lines.len(), 0.1);
    }
}

#[test]
fn payments_are_drawn_as_the_standard_says() {
    let workload = Tpcc::new(Scale::standard(4), 1);
    let payments = payments(workload.inputs(0));
    let remote = payments.iter().filter(|payment| payment.customer_warehouse != 1).count();
    assert_share("remote", remote, payments.len(), 0.15);
    let local = payments.iter().filter(|payment| payment.customer_warehouse == 1);
    assert!(local.clone().all(|payment| payment.customer_district == payment.district));
    let by_name = |payment: &&Payment| matches!(payment.customer, Customer::LastName(_));
    assert_share("by name", payments.iter().filter(by_name).count(), payments.len(), 0.6);
    let amounts = || payments.iter().map(|payment| payment.amount);
    assert!(amounts().all(|amount| (100..=500_000).contains(&amount)));
    assert_share("small", amounts().filter(|&amount| amount <= 250_049).count(), DRAWS, 0.5);
}

#[test]
fn a_single_warehouse_has_no_remote_lines_and_payments() {
    let workload = Tpcc::new(Scale { warehouses: 1, items: 100, customers: 30 }, 1);
    let orders = new_orders(workload.inputs(0).take(5_000));
    assert!(orders.iter().flat_map(|order| &order.lines).all(|line| line.supply_warehouse == 1));
    let payments = payments(workload.inputs(0).take(5_000));
    assert!(payments.iter().all(|payment| payment.customer_warehouse == 1));
}

/// The numbers of rows of clause 4.3.3.1, for one warehouse.
#[test]
fn tpcc_fills_its_tables_in_proportion() {
    let store = populated(&Tpcc::new(Scale::shrunk(1, 50), 1));
    let rows: HashMap<_, _> = store
        .definitions()
        .enumerate()
        .map(|(table, definition)| (definition.name, store.rows(TableId(table))))
        .collect();
    for (table, expected) in [
        ("warehouse", 1),
        ("district", 10),
        ("customer", 30_000 / 50),
        ("history", 30_000 / 50),
        ("orders", 30_000 / 50),
        ("new_order", 9_000 / 50),
        ("item", 100_000 / 50),
        ("stock", 100_000 / 50),
    ] {
        assert_eq!(rows[table], expected, "{table}");
    }
    let lines = rows["order_line"];
    assert!((5_600..6_400).contains(&lines), "about ten lines an order: {lines}");
}
