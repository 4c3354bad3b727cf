//! What stands between board and engine, without either.

use std::thread;

use ndp_runtime::job::Status;

use super::*;

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
fn another_life_drops_what_was_submitted_and_waits_for_the_engine() {
    let inbox = Arc::new(Inbox::default());
    inbox.submit([1; 8]);
    let (told, tell) = std::sync::mpsc::channel();
    let engine = thread::spawn({
        let inbox = inbox.clone();
        move || {
            let _gone = Gone(&inbox);
            let mut lives = Vec::new();
            while let Some(life) = inbox.next_life() {
                let mut taken = 0;
                while let Found::Submissions(beats) = inbox.look(life, true, None) {
                    taken += beats.len();
                    told.send((life, taken)).unwrap();
                }
                lives.push(life);
            }
            lives
        }
    });
    assert_eq!(tell.recv(), Ok((0, 1)));
    inbox.begin_life(1);
    assert!(inbox.await_rest());
    inbox.submit([2; 8]);
    inbox.submit([3; 8]);
    while tell.recv() != Ok((1, 2)) {}
    // Submitted, and dropped before anybody has looked or after: nothing is left of it.
    inbox.submit([4; 8]);
    inbox.begin_life(2);
    assert!(inbox.await_rest());
    inbox.end();
    assert_eq!(engine.join().unwrap(), [0, 1]);
    assert!(inbox.await_rest(), "nobody is left to be waited for");
}
