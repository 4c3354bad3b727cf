// SPDX-License-Identifier: MIT OR Apache-2.0
//! The effects of single transactions on rows.

use lockstep_workloads::database::smallbank::{self, BALANCE, CHECKING, Input as Banking, SAVINGS};
use lockstep_workloads::database::tatp::{self as telecom, Input as Calling, subscriber_number};
use lockstep_workloads::database::tpcc::{
    self as tpc, Customer, Input, Line, NewOrder, OrderStatus, Output, Payment, Scale, StockLevel,
    Tpcc, last_name,
};
use lockstep_workloads::database::{Outcome, Reference, Workload, execute};
use lockstep_workloads::scenario::SmallBankAccess;

use super::{bank, poor_bank, populated, read_all, tatp, tpcc};

fn done<W: Workload>(store: &mut Reference, workload: &W, input: W::Input) -> Outcome<W::Output> {
    execute(store, workload, &input).expect("a sound database")
}

#[test]
fn smallbank_moves_the_published_amounts() {
    let rich = bank(SmallBankAccess::Hot90, 1);
    let poor = poor_bank(1);
    const RICH: i64 = 1_000_000;
    // Input; savings and checking of accounts 0 and 1 afterwards, from equal balances.
    for (bank, start, input, savings, checking) in [
        (rich, RICH, Banking::Balance { account: 0 }, [RICH, RICH], [RICH, RICH]),
        (rich, RICH, Banking::DepositChecking { account: 0 }, [RICH, RICH], [RICH + 130, RICH]),
        (rich, RICH, Banking::TransactSavings { account: 1 }, [RICH, RICH + 2_020], [RICH, RICH]),
        (rich, RICH, Banking::SendPayment { from: 0, to: 1 }, [RICH, RICH], [999_500, 1_000_500]),
        (rich, RICH, Banking::Amalgamate { from: 0, to: 1 }, [0, RICH], [0, 3 * RICH]),
        (rich, RICH, Banking::WriteCheck { account: 0 }, [RICH, RICH], [999_500, RICH]),
        // 2.50 and 2.50 just cover a check of 5.00, but not a payment from checking.
        (poor, 250, Banking::WriteCheck { account: 0 }, [250, 250], [-250, 250]),
        (poor, 250, Banking::SendPayment { from: 0, to: 1 }, [250, 250], [250, 250]),
        (
            poor.with_initial_balance(249),
            249,
            Banking::WriteCheck { account: 0 },
            [249; 2],
            [-351, 249],
        ),
    ] {
        let mut store = populated(&bank);
        let outcome = done(&mut store, &bank, input);
        let both = |rows: Vec<i64>| -> [i64; 2] {
            assert!(rows[2..].iter().all(|&balance| balance == start), "{input:?}");
            [rows[0], rows[1]]
        };
        let mut balances = |table| both(read_all(&mut store, table, |row| row.int(BALANCE)));
        let found = (balances(SAVINGS), balances(CHECKING));
        assert_eq!(found, (savings, checking), "{input:?}");
        let change: i64 = savings.iter().chain(&checking).sum::<i64>() - 4 * start;
        assert_eq!(outcome.value().change, change, "{input:?}");
        let pays = !matches!(input, Banking::SendPayment { .. }) || start >= smallbank::PAYMENT;
        assert_eq!(outcome.is_committed(), pays, "{input:?}");
    }
}

#[test]
fn tatp_updates_the_named_bytes() {
    let workload = tatp(1);
    let mut store = populated(&workload);
    let facilities = |store: &mut Reference| {
        read_all(store, telecom::SPECIAL_FACILITY, |row| {
            (row.int(0), row.int(1), row.fixed(2).to_vec())
        })
    };
    let attributes = |store: &mut Reference| {
        read_all(store, telecom::SUBSCRIBER, |row| (row.int(2), row.fixed(3).to_vec()))
    };
    let mut expected = facilities(&mut store);
    let mut subscribers = attributes(&mut store);
    let (subscriber, sf_type, _) = expected[10].clone();
    let data_a = expected[10].2[telecom::facility::DATA_A] ^ 0x55;
    let bit_1 = subscribers[subscriber as usize].1[0] & 1 == 0;
    let input = Calling::UpdateSubscriberData { subscriber, sf_type, bit_1, data_a };
    assert!(done(&mut store, &workload, input).is_committed());
    expected[10].2[telecom::facility::DATA_A] = data_a;
    subscribers[subscriber as usize].1[telecom::attribute::BITS] ^= 1;
    assert_eq!(facilities(&mut store), expected);
    assert_eq!(attributes(&mut store), subscribers);

    let none = (1..=4).find(|&other| !expected.iter().any(|of| (of.0, of.1) == (3, other)));
    if let Some(sf_type) = none {
        let input = Calling::UpdateSubscriberData { subscriber: 3, sf_type, bit_1, data_a };
        assert!(!done(&mut store, &workload, input).is_committed(), "it has no such facility");
    }
    let (number, location) = (subscriber_number(123), 77);
    assert!(
        done(&mut store, &workload, Calling::UpdateLocation { number, location }).is_committed()
    );
    subscribers[123].0 = location;
    assert_eq!(attributes(&mut store), subscribers);
}

#[test]
fn a_name_means_its_middle_customer_by_first_names() {
    // 30 names for 90 customers: one to several each.
    let workload = Tpcc::new(Scale { warehouses: 1, items: 20, customers: 90 }, 3);
    let mut store = populated(&workload);
    let customers = read_all(&mut store, tpc::CUSTOMER, |row| {
        (row.int(1), row.text(5).to_owned(), row.text(3).to_owned(), row.int(2))
    });
    let mut sizes = [0; 4];
    for number in 0..30 {
        let mut namesakes: Vec<_> = customers
            .iter()
            .filter(|(district, last, ..)| *district == 4 && *last == last_name(number))
            .map(|(_, _, first, customer)| (first, *customer))
            .collect();
        namesakes.sort();
        let middle = namesakes[namesakes.len().div_ceil(2) - 1].1;
        sizes[namesakes.len().min(3)] += 1;
        let customer = Customer::LastName(number);
        let input = Input::OrderStatus(OrderStatus { warehouse: 1, district: 4, customer });
        let outcome = done(&mut store, &workload, input);
        let Output::OrderStatus(status) = outcome.value() else { panic!("{outcome:?}") };
        assert_eq!(status.customer, middle, "of {namesakes:?}");
    }
    assert!(sizes[2] > 0 && sizes[3] > 0, "several have two, and three or more: {sizes:?}");
}

#[test]
fn an_order_goes_through_entry_status_and_delivery() {
    let workload = tpcc(1);
    let mut store = populated(&workload);
    let line = |item, supply_warehouse| Line { item, supply_warehouse, quantity: 7 };
    let stock = |store: &mut Reference| {
        read_all(store, tpc::STOCK, |row| [2, 13, 14, 15].map(|column| row.int(column)))
    };
    let before = stock(&mut store);
    let lines = vec![line(5, 1), line(6, 2)];
    let order = NewOrder { warehouse: 1, district: 2, customer: 9, date: 4, lines };
    let outcome = done(&mut store, &workload, Input::NewOrder(order.clone()));
    let Output::NewOrder { order: number, total, .. } = *outcome.value() else { panic!() };
    assert_eq!(number, 31, "after the 30 of the population");

    // Items 5 of warehouse 1, and 6 of warehouse 2 for a remote order.
    let after = stock(&mut store);
    for (place, remote) in [(4, 0), (105, 1)] {
        let quantity = before[place][0];
        let left = if quantity >= 17 { quantity - 7 } else { quantity - 7 + 91 };
        assert_eq!(after[place], [left, 7, 1, remote]);
    }
    let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    assert_eq!(changed, 2);

    let customer = Customer::Number(9);
    let look = Input::OrderStatus(OrderStatus { warehouse: 1, district: 2, customer });
    let status = |store: &mut Reference| match done(store, &workload, look.clone()) {
        Outcome::Committed(Output::OrderStatus(status)) => status,
        other => panic!("{other:?}"),
    };
    let entered = status(&mut store);
    assert_eq!((entered.order, entered.entry_date, entered.carrier), (31, 4, None));
    let sum: i64 = entered.lines.iter().map(|line| line.amount).sum();
    // At most 50 % discount, at most 40 % tax.
    assert!((sum / 2..=sum * 7 / 5 + 1).contains(&total), "{total} for {sum}");

    // Nine are undelivered of the population; the tenth delivery is of this order.
    let delivery = tpc::Delivery { warehouse: 1, carrier: 8, date: 5 };
    for expected in (22..=31).map(Some).chain([None]) {
        let outcome = done(&mut store, &workload, Input::Delivery(delivery));
        let Output::Delivery(delivered) = outcome.value() else { panic!("{outcome:?}") };
        assert_eq!(delivered[1], expected);
        assert_eq!(delivered[0], expected.filter(|&order| order < 31), "one less there");
    }
    let delivered = status(&mut store);
    assert_eq!((delivered.order, delivered.carrier), (31, Some(8)));
    assert!(delivered.lines.iter().all(|line| line.delivery_date == Some(5)));
    // An older order may have been delivered too: its amount is in the balance.
    assert!(delivered.balance >= entered.balance + sum);

    let mut unused = order;
    unused.lines.push(line(101, 1));
    let outcome = done(&mut store, &workload, Input::NewOrder(unused));
    let expected = Output::NewOrder { order: 32, total: 0, brand_lines: 0 };
    let Outcome::RolledBack(Output::NewOrder { order, total, .. }) = outcome else {
        panic!("{outcome:?} instead of {expected:?}")
    };
    assert_eq!((order, total), (32, 0));
    assert_eq!(stock(&mut store), after, "nothing is taken from stock");
}

#[test]
fn a_payment_reaches_customer_district_warehouse_and_history() {
    let workload = tpcc(1);
    let mut store = populated(&workload);
    let state = |store: &mut Reference| {
        let customers = read_all(store, tpc::CUSTOMER, |row| {
            let credit = row.fixed(13).to_vec();
            (credit, [16, 17, 18].map(|column| row.int(column)), row.text(20).to_owned())
        });
        let districts = read_all(store, tpc::DISTRICT, |row| row.int(9));
        let warehouses = read_all(store, tpc::WAREHOUSE, |row| row.int(8));
        (customers, districts, warehouses)
    };
    // A customer of district 3 of warehouse 2, and pays at district 1 of warehouse 1.
    let customers = state(&mut store).0;
    let of_district = 12 * 30..13 * 30;
    let good = of_district.clone().find(|&place| customers[place].0 == b"GC").expect("most are");
    let bad = of_district.clone().find(|&place| customers[place].0 == b"BC").expect("a tenth");
    for (date, place) in [(1, good), (2, bad)] {
        let mut expected = state(&mut store);
        let customer = (place - of_district.start) as i64 + 1;
        let payment = Payment {
            warehouse: 1,
            district: 1,
            customer_warehouse: 2,
            customer_district: 3,
            customer: Customer::Number(customer),
            amount: 12_345,
            date,
            source: 1,
        };
        let outcome = done(&mut store, &workload, Input::Payment(payment));
        let row = &mut expected.0[place];
        let [balance, ytd, count] = row.1;
        row.1 = [balance - 12_345, ytd + 12_345, count + 1];
        if place == bad {
            row.2 = format!("{customer} 3 2 1 1 12345 {}", row.2);
            row.2.truncate(500);
        }
        expected.1[0] += 12_345;
        expected.2[0] += 12_345;
        assert_eq!(state(&mut store), expected);
        let output = Output::Payment { customer, balance: balance - 12_345 };
        assert_eq!(outcome, Outcome::Committed(output));
    }
    let names = |store: &mut Reference, table, column| {
        read_all(store, table, |row| row.text(column).to_owned()).swap_remove(0)
    };
    let warehouse = names(&mut store, tpc::WAREHOUSE, 1);
    // The first row of districts is district 1 of warehouse 1.
    let district = read_all(&mut store, tpc::DISTRICT, |row| row.text(2).to_owned())[0].clone();
    let history = read_all(&mut store, tpc::HISTORY, |row| row.text(9).to_owned());
    assert_eq!(history.last(), Some(&format!("{warehouse}    {district}")));
    assert_eq!(history.len(), 2 * 10 * 30 + 2);
}

#[test]
fn stock_level_counts_items_of_the_last_twenty_orders() {
    // So many items that hardly one is in two orders.
    let workload = Tpcc::new(Scale { warehouses: 2, items: 5_000, customers: 30 }, 2);
    let mut store = populated(&workload);
    let lines = read_all(&mut store, tpc::ORDER_LINE, |row| [0, 1, 2, 4].map(|n| row.int(n)));
    let stock = read_all(&mut store, tpc::STOCK, |row| [0, 1, 2].map(|n| row.int(n)));
    let recent =
        |item| lines.iter().any(|line| line[..2] == [2, 5] && line[2] > 10 && line[3] == item);
    for threshold in [10, 15, 20, 60] {
        let low = |row: &&[i64; 3]| row[0] == 2 && row[2] < threshold && recent(row[1]);
        let expected = stock.iter().filter(low).count() as i64;
        let input = Input::StockLevel(StockLevel { warehouse: 2, district: 5, threshold });
        let outcome = done(&mut store, &workload, input);
        assert_eq!(outcome, Outcome::Committed(Output::StockLevel(expected)), "below {threshold}");
    }
}
