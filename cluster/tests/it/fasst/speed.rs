// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the machines alone take, without a world: `cargo test --release -p lockstep-cluster --test
//! it -- --ignored --nocapture fasst::speed`.

use cluster::engine::{
    Effects, Ending, Endpoint, Input, Instant, Machine as _, Moment, NodeId, Part, Protocol, Span,
};
use cluster::fasst::{Fasst, Settings};
use cluster::transact::Transactions;
use cluster::workload::{ObjectStore, ObjectStoreSettings, Tatp, TatpSettings};

/// Messages for a part, in one buffer.
#[derive(Default)]
struct Inbox {
    messages: Vec<(Endpoint, u32, u32)>,
    bytes: Vec<u8>,
}

/// The processor time of this thread so far, in seconds: others may use the machine.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    nanoseconds.unwrap_or(0) as f64 / 1e9
}

/// Polls all parts in turn until so many transactions have ended. Prints transactions and messages a second.
/// `SPEED_OF` chooses measurements by a part of their names.
fn measure<T: Transactions>(name: &str, settings: Settings, workload: T, transactions: usize) {
    if std::env::var("SPEED_OF").is_ok_and(|part| !name.contains(&part)) {
        return;
    }
    let Settings { nodes, threads, workers, .. } = settings;
    let protocol = Fasst::new(settings, workload).unwrap();
    let mut cluster: Vec<_> = (0..nodes).map(|node| protocol.start(NodeId(node))).collect();
    let place = |at: Endpoint| match at.part {
        Part::HostThread(thread) => at.node.index() * usize::from(threads) + usize::from(thread),
        _ => unreachable!("threads alone"),
    };
    let parts = usize::from(nodes) * usize::from(threads);
    let mut inboxes: Vec<Inbox> = (0..parts).map(|_| Inbox::default()).collect();
    let mut reading = Inbox::default();
    let mut out = Effects::new();
    let (mut ended, mut aborted, mut messages, mut bursts) = (0, 0, 0_usize, 0_usize);
    let mut now = Instant::from_ps(1_000);
    let begin: Vec<_> = (0..workers).map(|worker| Input::Begin { worker }).collect();
    let started = processor_seconds();
    for round in 0.. {
        if ended >= transactions {
            break;
        }
        for part in 0..parts {
            now = now + Span::from_ns(10);
            std::mem::swap(&mut reading, &mut inboxes[part]);
            let (node, thread) = (part / usize::from(threads), part % usize::from(threads));
            let mut inputs = Vec::with_capacity(reading.messages.len() + 1);
            inputs.extend(reading.messages.iter().map(|(from, start, end)| Input::Message {
                from: *from,
                bytes: &reading.bytes[*start as usize..*end as usize],
            }));
            if round == 0 {
                inputs.extend_from_slice(&begin);
            }
            out.clear();
            bursts += 1;
            let state = &mut cluster[node];
            state.parts[thread].burst(&mut state.shared, now, &inputs, &mut out);
            drop(inputs);
            reading.messages.clear();
            reading.bytes.clear();
            let from = Endpoint::host(NodeId(node as u16), thread as u8);
            for send in out.sends() {
                if send.to.node == NodeId::MANAGER {
                    continue;
                }
                let inbox = &mut inboxes[place(send.to)];
                let start = inbox.bytes.len() as u32;
                inbox.bytes.extend_from_slice(out.bytes_of(&send.bytes));
                inbox.messages.push((from, start, inbox.bytes.len() as u32));
                messages += 1;
            }
            for moment in out.moments() {
                match moment {
                    Moment::Ended { ending: Ending::Committed | Ending::RolledBack, .. } => {
                        ended += 1;
                    }
                    Moment::Ended { .. } => aborted += 1,
                    _ => {}
                }
            }
        }
    }
    let seconds = processor_seconds() - started;
    println!(
        "{name}: {:.0} transactions/s, {:.1} M messages/s, {:.0} ns a message, {:.2} messages a \
         transaction, {:.1} messages a burst, {aborted} aborted of {ended}",
        ended as f64 / seconds,
        messages as f64 / seconds / 1e6,
        seconds / messages as f64 * 1e9,
        messages as f64 / ended as f64,
        messages as f64 / bursts as f64,
    );
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let settings = Settings { nodes: 11, threads: 14, workers: 19, ..Settings::default() };
    let tatp = Tatp::new(TatpSettings::fasst(11)).unwrap();
    measure("TATP", settings.clone(), tatp, 1_000_000);
    let small = Settings { nodes: 3, threads: 2, ..Settings::default() };
    let tatp = TatpSettings { subscribers: 3_000, ..TatpSettings::fasst(3) };
    measure("TATP in the cache", small, Tatp::new(tatp).unwrap(), 1_000_000);
    for (reads, writes) in [(1, 0), (4, 0), (4, 2)] {
        let objects = ObjectStoreSettings::o(reads, writes, 11, 14);
        let objects = ObjectStore::new(objects).unwrap();
        measure(&format!("O({reads},{writes})"), settings.clone(), objects, 1_000_000);
    }
}
