// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection between board and engine, without either.

use std::thread;
use std::time::Instant;

use ::locks::{Timestamp, TupleKey};
use driver::{Elements, HostMemory, PAGE_BYTES, Space};
use lockdb::layout::PageBuffer;
use ndp_runtime::engine::{Card, LockAnswer, LockOperation, LockRequest, LockResponse};
use ndp_runtime::job::{LockTable, Status};

use super::*;
use crate::configuration;
use crate::function::Function;

/// Where memory is lent, as many bytes as a page has.
const LENT: u64 = 0x10_0000;

fn completion(identifier: u16, detail: u64) -> JobCompletion {
    JobCompletion { identifier, status: Status::Done, bytes: 5, detail }
}

#[test]
fn a_completion_has_the_wish_of_its_submission() {
    let mut open = OpenSubmissions::default();
    for word0 in [7 | INTERRUPT, 8, 7] {
        open.add([word0, 0, 0, 0, 0, 0, 0, 0]);
    }
    let word0 = |identifier: u64| identifier | 5 << 32;
    assert_eq!(open.answer(&completion(8, 1)), [word0(8), 1]);
    assert_eq!(open.answer(&completion(7, 2)), [word0(7) | INTERRUPT, 2]);
    assert_eq!(open.answer(&completion(7, 3)), [word0(7), 3]);
    assert!(open.is_empty());
    assert_eq!(open.answer(&completion(9, 4)), [word0(9), 4], "of nobody");
}

#[test]
fn another_generation_drops_what_was_submitted_and_waits_for_the_engine() {
    let inbox = Arc::new(Inbox::default());
    inbox.submit([1; 8]);
    let (told, tell) = std::sync::mpsc::channel();
    let engine = thread::spawn({
        let inbox = inbox.clone();
        move || {
            let _gone = Gone(&inbox);
            let mut generations = Vec::new();
            while let Some(generation) = inbox.next_generation() {
                let mut taken = 0;
                while let Found::Submissions(beats) = inbox.look(generation, true, None) {
                    taken += beats.len();
                    told.send((generation, taken)).unwrap();
                }
                generations.push(generation);
            }
            generations
        }
    });
    let bound = Duration::from_secs(20);
    assert_eq!(tell.recv_timeout(bound), Ok((0, 1)));
    inbox.begin_generation(1);
    assert!(inbox.await_idle());
    inbox.submit([2; 8]);
    inbox.submit([3; 8]);
    while tell.recv_timeout(bound).expect("the engine has taken both") != (1, 2) {}
    // Submitted, and dropped before anybody has looked or after: nothing is left of it.
    inbox.submit([4; 8]);
    inbox.begin_generation(2);
    assert!(inbox.await_idle());
    inbox.end();
    assert_eq!(engine.join().unwrap(), [0, 1]);
    assert!(inbox.await_idle(), "nobody is left to be waited for");
}

fn lent() -> (Function, Arc<HostMemory>) {
    let function = Function::new(&BoardOptions::default()).unwrap();
    function.enable();
    let memory = Arc::new(HostMemory::allocate(PAGE_BYTES, PAGE_BYTES).unwrap());
    function.map_memory(LENT, memory.clone()).unwrap();
    (function, memory)
}

fn acquire(tag: u8, transaction: u64) -> LockRequest {
    let timestamp = Timestamp::new(transaction).expect("not 0");
    LockRequest { tag, timestamp, operation: LockOperation::Acquire(TupleKey::new(7, 1)) }
}

/// The next response of the card's lock unit, which is clocked by asking.
fn response(card: &mut BoardCard<'_>) -> LockResponse {
    let begun = Instant::now();
    loop {
        if let Some(response) = card.lock_response() {
            return response;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "waited for a response: none in 20 s");
    }
}

#[test]
fn a_card_reaches_memory_and_locks_until_its_generation_is_over() {
    let (function, memory) = lent();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pages"), vec![1; 8192]).unwrap();
    let mut storage = NativeStorage::at(Some(folder.path()));
    let mut card = BoardCard::new(function.shared(), &mut storage, Elements::Software, 0);

    card.write_host(LENT + 3, b"odd").unwrap();
    let mut found = [0; 5];
    card.read_host(LENT + 2, &mut found).unwrap();
    assert_eq!(&found, b"\0odd\0");
    assert_eq!(card.load_host(LENT).unwrap(), u64::from_le_bytes(*b"\0\0\0odd\0\0"));
    // What is not there, or in part, is told by where it is.
    let end = LENT + PAGE_BYTES as u64;
    assert_eq!(card.load_host(end).unwrap_err().address, end);
    assert_eq!(card.load_host(LENT + 4).unwrap_err().address, LENT + 4);
    assert_eq!(card.write_host(end - 2, &[1; 4]).unwrap_err().address, end - 2);
    assert!(card.read_host(u64::MAX, &mut found).is_err());
    let mut page = PageBuffer::ZERO;
    assert!(card.storage().read(0, &mut page) && page.0[8191] == 1);
    card.write_page(0, &PageBuffer::ZERO).unwrap();
    card.sync().unwrap();

    // The table is the second line of the memory, one bucket. Without AtomicOps nothing can be locked.
    card.place_lock_table(LockTable { address: LENT + 64, log2_buckets: 0 });
    assert!(card.request_lock(acquire(1, 10)));
    assert_eq!(response(&mut card).answer, LockAnswer::BusError);
    let control_2 = configuration::offset::DEVICE_CONTROL_2 as u64;
    function.write(Space::Configuration, control_2, &[1 << 6]);
    assert!(card.request_lock(acquire(1, 10)) && card.request_lock(acquire(2, 11)));
    let (first, second) = (response(&mut card), response(&mut card));
    assert_eq!((first.tag, first.answer), (1, LockAnswer::Granted { again: false }));
    assert_eq!((second.tag, second.answer), (2, LockAnswer::Queued));
    let table = |memory: &HostMemory| -> [u64; 8] {
        std::array::from_fn(|word| memory.word(64 + 8 * word).load(Ordering::Acquire))
    };
    let before = table(&memory);
    assert_ne!(before, [0; 8]);

    function.reset();
    assert!(card.read_host(LENT, &mut found).is_err());
    assert!(card.write_host(LENT, b"late").is_err());
    assert!(card.load_host(LENT).is_err());
    assert!(card.write_page(0, &PageBuffer::ZERO).is_err());
    assert!(card.sync().is_err());
    // The unit finds no memory any more, whatever it is asked for.
    assert!(card.request_lock(acquire(3, 12)));
    assert_eq!(response(&mut card).answer, LockAnswer::BusError);
    for _ in 0..100 {
        card.lock_response();
    }
    assert_eq!(table(&memory), before);
    assert_eq!(memory.word(0).load(Ordering::Acquire), u64::from_le_bytes(*b"\0\0\0odd\0\0"));
    // The next generation reaches it.
    let mut next = BoardCard::new(function.shared(), &mut storage, Elements::Software, 1);
    next.write_host(LENT, b"next").unwrap();
}

#[test]
fn a_function_that_is_no_bus_master_gives_its_jobs_no_memory() {
    let (function, _memory) = lent();
    let mut storage = NativeStorage::default();
    let mut card = BoardCard::new(function.shared(), &mut storage, Elements::Software, 0);
    card.load_host(LENT).unwrap();
    // Memory yes, bus master no.
    function.write(driver::Space::Configuration, 0x04, &[2, 0]);
    assert!(card.load_host(LENT).is_err());
}
