// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queues against a fake device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::InterruptKind::{Event, Polled};
use crate::fake::{CARD_BYTES, Fake};
use crate::layout::COPY_VECTOR;
use crate::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse, field};

/// Long enough for any machine; nothing here waits for it unless the code is wrong.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(30);

fn to_card(source: u64, destination: u64, bytes: u32) -> CopyCommand {
    CopyCommand { direction: Direction::HostToCard, source, destination, bytes, interrupt: true }
}

/// A device, a queue of four entries, and a buffer.
fn copies(fake: &Arc<Fake>) -> (CopyQueue, DmaBuffer) {
    let device = fake.device();
    (device.copy_queue(4).unwrap(), device.allocate(4096).unwrap())
}

#[test]
fn bytes_go_to_the_card_and_back() {
    for kind in [Event, Polled] {
        let fake = Fake::new(kind);
        let (mut queue, buffer) = copies(&fake);
        buffer.write(3, b"odd offsets");
        let at = buffer.bus_address();
        assert_eq!(queue.copy(to_card(at + 3, 77, 11), LONG).unwrap().succeeded(), Ok(11));
        assert_eq!(&fake.state().card[76..89], b"\0odd offsets\0");
        let back = CopyCommand {
            direction: Direction::CardToHost,
            source: 77,
            destination: at + 1001,
            bytes: 11,
            interrupt: false,
        };
        assert_eq!(queue.copy(back, LONG).unwrap().succeeded(), Ok(11));
        let mut found = [9; 13];
        buffer.read(1000, &mut found);
        assert_eq!(&found, b"\0odd offsets\0");
    }
}

#[test]
fn a_failed_command_says_why_and_the_queue_goes_on() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    let at = buffer.bus_address();
    for (command, expected) in [
        (to_card(0x42, 0, 8), Status::Source),
        (to_card(at, CARD_BYTES as u64 - 7, 8), Status::OutsideCard),
        (
            CopyCommand { direction: Direction::HostToHost, ..to_card(at, 0x42, 8) },
            Status::Destination,
        ),
        (to_card(at, 0, 8), Status::Done),
    ] {
        let done = queue.copy(command, LONG).unwrap();
        assert_eq!((done.status, done.bytes), (expected, u32::from(expected == Status::Done) * 8));
    }
    let error = queue.copy(to_card(0x42, 0, 8), LONG).unwrap().succeeded().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the copy queue ended a command with status 3: source not mapped or not readable"
    );
}

/// Commands in batches, completed in either order: each ticket comes back once, and the card holds
/// what a naive execution leaves.
#[test]
fn every_command_ends_once() {
    for seed in &seeds::of!(20) {
        let mut random = StdRng::seed_from_u64(seed);
        let fake = Fake::new(if random.random() { Event } else { Polled });
        let device = fake.device();
        let entries = 1 << random.random_range(1..6);
        let mut queue = device.copy_queue(entries).unwrap();
        let buffer = device.allocate(4096).unwrap();
        let mut open = BTreeMap::new();
        for _ in 0..200 {
            if random.random_bool(0.1) {
                let mut state = fake.state();
                state.hold = random.random();
                state.reverse = random.random();
                state.silent = random.random();
                drop(state);
                fake.run();
            }
            let bytes = random.random_range(1..=64);
            let to = random.random_range(0..4096 - 64);
            let command = CopyCommand {
                interrupt: random.random(),
                ..to_card(buffer.bus_address(), to, bytes)
            };
            match queue.enqueue(command) {
                Ok(ticket) => assert_eq!(open.insert(ticket, bytes), None),
                Err(QueueError::Full { .. }) => assert_eq!(open.len(), usize::from(entries)),
                Err(error) => panic!("{error}"),
            }
            if random.random_bool(0.4) {
                queue.ring().unwrap();
            }
            if random.random_bool(0.4) {
                while let Some(done) = queue.poll().unwrap() {
                    assert_eq!(open.remove(&done.ticket), Some(done.bytes));
                }
            }
        }
        fake.state().hold = false;
        queue.ring().unwrap();
        while !open.is_empty() {
            let done = queue.wait(LONG).unwrap();
            assert_eq!(open.remove(&done.ticket), Some(done.bytes));
        }
        assert_eq!((queue.open_commands(), queue.poll()), (0, Ok(None)));
    }
}

#[test]
fn a_full_queue_refuses_and_takes_again() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    fake.state().hold = true;
    let command = to_card(buffer.bus_address(), 0, 8);
    let tickets: Vec<_> = (0..4).map(|_| queue.submit(command).unwrap()).collect();
    assert_eq!(
        queue.submit(command).unwrap_err().to_string(),
        "the copy queue is full: 4 submissions are open; take completions first"
    );
    fake.state().hold = false;
    fake.run();
    assert_eq!(queue.wait(LONG).unwrap().ticket, tickets[0]);
    queue.submit(command).unwrap();
}

#[test]
fn what_ends_early_is_kept() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    let command = to_card(buffer.bus_address(), 0, 8);
    let first = queue.submit(command).unwrap();
    let second = queue.copy(command, LONG).unwrap();
    assert_ne!(second.ticket, first);
    assert_eq!(queue.poll().unwrap().map(|done| done.ticket), Some(first));
}

#[test]
fn a_wait_ends_at_its_bound_and_loses_nothing() {
    for kind in [Event, Polled] {
        let fake = Fake::new(kind);
        let (mut queue, buffer) = copies(&fake);
        fake.state().hold = true;
        let ticket = queue.submit(to_card(buffer.bus_address(), 0, 8)).unwrap();
        assert_eq!(
            queue.wait(SHORT).unwrap_err().to_string(),
            "waited for a completion of the copy queue: nothing within 30ms"
        );
        fake.state().hold = false;
        fake.run();
        assert_eq!(queue.wait(LONG).unwrap().ticket, ticket);
    }
}

/// The completion comes while the wait sleeps, without an interrupt: it is found all the same.
#[test]
fn a_lost_interrupt_loses_no_completion() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    {
        let mut state = fake.state();
        (state.silent, state.hold) = (true, true);
    }
    let ticket = queue.submit(to_card(buffer.bus_address(), 0, 8)).unwrap();
    let device = fake.clone();
    let later = thread::spawn(move || {
        thread::sleep(SHORT);
        device.state().hold = false;
        device.run();
    });
    assert_eq!(queue.wait(LONG).unwrap().ticket, ticket);
    later.join().unwrap();
    // What it can cost: never is more than a slice slept without a look at the ring.
    assert!(fake.waits(COPY_VECTOR).iter().all(|bound| *bound <= SLICE));
}

#[test]
fn interrupts_without_completions_are_ignored() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    fake.state().hold = true;
    let ticket = queue.submit(to_card(buffer.bus_address(), 0, 8)).unwrap();
    (0..100).for_each(|_| fake.raise(COPY_VECTOR));
    assert!(matches!(queue.wait(SHORT), Err(QueueError::Timeout { .. })));
    fake.state().hold = false;
    fake.run();
    (0..100).for_each(|_| fake.raise(COPY_VECTOR));
    assert_eq!(queue.wait(LONG).unwrap().ticket, ticket);
}

#[test]
fn a_halted_queue_says_why_until_it_is_restarted() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    let command = to_card(buffer.bus_address(), 0, 8);
    let rings = *fake.state().memories.first_key_value().unwrap().0;
    let memory = fake.state().memories.remove(&rings).unwrap();
    queue.submit(command).unwrap();
    let expected = "the copy queue halted with error 1: it could not read a submission: is the \
                    ring still mapped?; restart it";
    assert_eq!(queue.wait(LONG).unwrap_err().to_string(), expected);
    assert_eq!(queue.poll().unwrap_err().to_string(), expected);
    assert_eq!(queue.submit(command).unwrap_err().to_string(), expected);
    fake.state().memories.insert(rings, memory);
    queue.restart().unwrap();
    assert_eq!(queue.copy(command, LONG).unwrap().succeeded(), Ok(8));
}

#[test]
fn a_reset_meanwhile_is_noticed() {
    let fake = Fake::new(Event);
    let device = fake.device();
    let (mut queue, buffer) = (device.copy_queue(4).unwrap(), device.allocate(64).unwrap());
    fake.state().hold = true;
    let command = to_card(buffer.bus_address(), 0, 8);
    queue.submit(command).unwrap();
    device.reset().unwrap();
    assert_eq!(queue.wait(LONG).unwrap_err(), QueueError::Stopped { queue: "copy" });
    assert_eq!(queue.submit(command).unwrap_err(), QueueError::Stopped { queue: "copy" });
    fake.state().hold = false;
    queue.restart().unwrap();
    assert_eq!(queue.open_commands(), 0);
    assert_eq!(queue.copy(command, LONG).unwrap().succeeded(), Ok(8));
}

#[test]
fn a_device_that_is_gone_is_noticed_before_the_bound() {
    for kind in [Event, Polled] {
        let fake = Fake::new(kind);
        let (mut queue, buffer) = copies(&fake);
        fake.state().gone = true;
        queue.submit(to_card(buffer.bus_address(), 0, 8)).unwrap();
        let error = queue.wait(LONG).unwrap_err();
        assert!(matches!(error, QueueError::Device(DeviceError::Gone { .. })), "{error}");
        // After the first slice, not at the bound.
        assert_eq!(fake.waits(COPY_VECTOR).len(), usize::from(kind == Event));
    }
}

#[test]
fn an_impossible_completion_stops_the_queue() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    let command = to_card(buffer.bus_address(), 0, 8);
    for identifier in [4, 0xFFFF, 3] {
        fake.state().identifier = Some(identifier);
        queue.submit(command).unwrap();
        assert_eq!(
            queue.wait(LONG).unwrap_err().to_string(),
            format!(
                "the copy queue broke its rules: identifier is {identifier}, expected that of an \
                 open command; reset the device, then restart the queue"
            )
        );
        assert!(matches!(queue.poll(), Err(QueueError::Violation { .. })));
        queue.restart().unwrap();
    }
}

#[test]
fn an_impossible_length_is_refused_before_it_is_written() {
    let fake = Fake::new(Event);
    let (mut queue, buffer) = copies(&fake);
    for bytes in [0, (1 << 30) + 1] {
        let error = queue.submit(to_card(buffer.bus_address(), 0, bytes)).unwrap_err();
        assert!(error.to_string().contains("expected 1 to 1073741824"), "{error}");
    }
    assert_eq!(queue.open_commands(), 0);
}

#[test]
fn a_queue_has_one_user_and_sizes_that_it_knows() {
    let fake = Fake::new(Event);
    let device = fake.device();
    for entries in [0, 1, 3, 8192] {
        let error = device.copy_queue(entries).unwrap_err();
        assert!(error.to_string().contains("a power of two from 2 to 4096"), "{error}");
    }
    let queue = device.copy_queue(4096).unwrap();
    let error = device.copy_queue(4).unwrap_err();
    assert!(error.to_string().contains("somebody uses it"), "{error}");
    drop(queue);
    assert_eq!(fake.state().memories.len(), 0);
    device.copy_queue(4).unwrap();
}

/// Request `number` of many, which the fake grants.
fn lock_request(number: u64) -> UnitRequest {
    UnitRequest {
        tag: Tag::new((number % 128) as u8).unwrap(),
        transaction: Timestamp::new(number + 1).unwrap(),
        operation: UnitOperation::Acquire(TupleKey::initial(0), Rule::Queue),
    }
}

/// Far enough for the counts of 16 bits to wrap.
#[test]
fn lock_responses_come_for_every_request() {
    for (kind, entries) in [(Event, 16), (Polled, 2)] {
        let fake = Fake::new(kind);
        let mut queue = fake.device().lock_queue(entries).unwrap();
        let mut answered = 0u64;
        for number in 0..70_000u64 {
            match queue.request(lock_request(number)) {
                Ok(()) => {}
                Err(error) => panic!("request {number}: {error}"),
            }
            while let Some(response) = queue.poll().unwrap() {
                let UnitRequest { tag, transaction, .. } = lock_request(answered);
                let granted = UnitResponse::plain(tag, Code::Granted, Some(transaction));
                assert_eq!(response, granted);
                answered += 1;
            }
        }
        assert_eq!(answered, 70_000);
        assert!(matches!(queue.wait(SHORT), Err(QueueError::Timeout { .. })));
    }
}

#[test]
fn a_lock_queue_is_full_while_the_device_fetches_nothing() {
    let fake = Fake::new(Event);
    let mut queue = fake.device().lock_queue(2).unwrap();
    queue.enqueue(lock_request(0)).unwrap();
    queue.enqueue(lock_request(1)).unwrap();
    assert_eq!(
        queue.enqueue(lock_request(2)).unwrap_err(),
        QueueError::Full { queue: "lock", entries: 2 }
    );
    queue.ring().unwrap();
    queue.request(lock_request(2)).unwrap();
    let tags: Vec<_> = (0..3).map(|_| queue.wait(LONG).unwrap().tag.index()).collect();
    assert_eq!(tags, [0, 1, 2]);
}

#[test]
fn a_lock_response_with_another_tag_is_a_violation() {
    let fake = Fake::new(Event);
    let mut queue = fake.device().lock_queue(2).unwrap();
    fake.state().identifier = Some(9);
    queue.request(lock_request(1)).unwrap();
    let error = queue.wait(LONG).unwrap_err();
    assert!(error.to_string().contains("identifier is 9, expected the tag 1"), "{error}");
}

#[test]
fn a_lock_response_with_a_code_of_none_is_a_violation() {
    let fake = Fake::new(Event);
    let mut queue = fake.device().lock_queue(2).unwrap();
    let [low, middle, high] = lock_request(1).encode();
    queue.enqueue_beat([field::set(low, field::OPERATION, 13), middle, high]).unwrap();
    queue.ring().unwrap();
    let error = queue.wait(LONG).unwrap_err();
    assert!(error.to_string().contains("code 13, expected one of 0 to 12"), "{error}");
}

fn job(opcode: u8, words: [u64; 7]) -> JobSubmission {
    JobSubmission { opcode, words, interrupt: true }
}

#[test]
fn a_job_has_all_its_words_and_its_raw_status() {
    for kind in [Event, Polled] {
        let fake = Fake::new(kind);
        let mut queue = fake.device().job_queue(4).unwrap();
        let ticket = queue.submit(job(3, [1, 96, 23, 1 << 20, 1 << 30, 1 << 40, 1 << 50])).unwrap();
        let detail = 1 + 96 + 23 + (1 << 20) + (1 << 30) + (1 << 40) + (1 << 50);
        assert_eq!(queue.wait(LONG), Ok(JobDone { ticket, status: 23, bytes: 96, detail }));
        let unknown = queue.submit(job(6, [9; 7])).unwrap();
        let refused = JobDone { ticket: unknown, status: 1, bytes: 0, detail: 0 };
        assert_eq!(queue.wait(LONG), Ok(refused));
        assert_eq!(queue.poll(), Ok(None));
        assert_eq!(queue.open_submissions(), 0);
    }
}

/// More submissions than identifiers, which end in reverse order; each ends once.
#[test]
fn jobs_that_end_in_another_order_are_told_apart() {
    let fake = Fake::new(Event);
    let mut queue = fake.device().job_queue(8).unwrap();
    for round in 0..40 {
        fake.state().hold = true;
        let words = |n: u64| [8 * round + n, 0, 0, 0, 0, 0, 0];
        let tickets: Vec<_> = (0..8).map(|n| queue.submit(job(1, words(n))).unwrap()).collect();
        assert_eq!(
            queue.submit(job(1, words(8))).unwrap_err(),
            QueueError::Full { queue: "job", entries: 8 }
        );
        (fake.state().hold, fake.state().reverse) = (false, true);
        fake.run();
        // The one in the middle first; the others are kept.
        let middle = queue.wait_for(tickets[3], LONG).unwrap();
        assert_eq!((middle.ticket, middle.detail), (tickets[3], 8 * round + 3));
        let first = queue.wait_for(tickets[7], LONG).unwrap();
        assert_eq!(first.ticket, tickets[7]);
        let rest: Vec<_> = (0..6).map(|_| queue.wait(LONG).unwrap().detail - 8 * round).collect();
        assert_eq!(rest, [6, 5, 4, 2, 1, 0]);
    }
}

#[test]
fn a_reset_with_jobs_open_is_noticed_and_forgotten() {
    let fake = Fake::new(Event);
    let device = fake.device();
    let mut queue = device.job_queue(4).unwrap();
    fake.state().hold = true;
    let lost = queue.submit(job(1, [0; 7])).unwrap();
    assert!(matches!(queue.wait(SHORT), Err(QueueError::Timeout { .. })));
    device.reset().unwrap();
    assert_eq!(queue.wait_for(lost, LONG).unwrap_err(), QueueError::Stopped { queue: "job" });
    assert_eq!(queue.submit(job(1, [0; 7])).unwrap_err(), QueueError::Stopped { queue: "job" });
    fake.state().hold = false;
    queue.restart().unwrap();
    assert_eq!(queue.open_submissions(), 0);
    let next = queue.submit(job(1, [0; 7])).unwrap();
    assert_ne!(next, lost);
    assert_eq!(queue.wait(LONG).unwrap().ticket, next);
}

#[test]
fn a_job_completion_of_nobody_is_a_violation() {
    let fake = Fake::new(Event);
    let mut queue = fake.device().job_queue(4).unwrap();
    fake.state().identifier = Some(3);
    queue.submit(job(1, [0; 7])).unwrap();
    let error = queue.wait(LONG).unwrap_err();
    assert!(error.to_string().contains("identifier is 3, expected that of an open"), "{error}");
}

#[test]
fn a_device_without_a_job_queue_says_so() {
    let fake = Fake::new(Event);
    let capabilities = crate::map::shell::CAPABILITIES.offset();
    fake.state().registers.insert(capabilities, 20 << 16 | 4 << 8 | 2);
    let error = fake.device().job_queue(4).unwrap_err();
    assert!(error.to_string().contains("has 2 queues, expected 3"), "{error}");
}

#[test]
fn a_look_up_has_its_fields_and_its_answer() {
    for kind in [Event, Polled] {
        let fake = Fake::new(kind);
        let mut queue = fake.device().look_up_queue(4).unwrap();
        let update = LookUpOperation::UpdateAndPin { owner: 1, version: 9, value: 1 << 40 };
        let done = queue.ask(LookUpRequest::new(0x4200, update), LONG).unwrap();
        let value = 0x4200 + (4 << 16 | 1 << 32) + 9 + (1 << 40);
        assert_eq!((done.status, done.version), (LookUpStatus::Done, 9));
        assert_eq!(done.answer, Answer::Value(value));
        let request = LookUpRequest {
            shown: Shown::Particulars,
            interrupt: false,
            ..LookUpRequest::new(0x104D, LookUpOperation::LookUp)
        };
        let done = queue.ask(request, LONG).unwrap();
        let particulars = Particulars { length: 0x4D, ..Particulars::default() };
        assert_eq!(done.status, LookUpStatus::Absent);
        assert_eq!(done.answer, Answer::Particulars(particulars));
        assert_eq!(queue.open_requests(), 0);
    }
}

#[test]
fn an_impossible_status_of_a_look_up_is_a_violation() {
    for (status, part) in [(0x40, "0x40"), (0x51, "0x51"), (1, "does not know an opcode")] {
        let fake = Fake::new(Event);
        let mut queue = fake.device().look_up_queue(4).unwrap();
        let request = LookUpRequest::new(status, LookUpOperation::Evict);
        let error = queue.ask(request, LONG).unwrap_err().to_string();
        assert!(error.contains("look-up queue broke its rules") && error.contains(part), "{error}");
    }
}

#[test]
fn a_device_without_a_look_up_queue_says_so() {
    let fake = Fake::new(Event);
    let capabilities = crate::map::shell::CAPABILITIES.offset();
    fake.state().registers.insert(capabilities, 20 << 16 | 5 << 8 | 3);
    let error = fake.device().look_up_queue(4).unwrap_err();
    assert!(error.to_string().contains("has 3 queues, expected 4"), "{error}");
}
