// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

use rustix::fs::MemfdFlags;

const BYTES: usize = 16 * PAGE_BYTES;

/// A file that may shrink stands in for one whose pages cannot be obtained: the system says the
/// same of both.
fn file() -> OwnedFd {
    let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, BYTES as u64).unwrap();
    file
}

fn mapped(file: &OwnedFd) -> Mapping {
    Mapping::of_any_file(file, BYTES as u64, true).unwrap()
}

/// A mapping whose pages were there when it was made.
fn missing() -> Mapping {
    let file = file();
    let mapping = mapped(&file);
    rustix::fs::ftruncate(&file, 0).unwrap();
    mapping
}

#[test]
fn each_kind_of_access_says_that_a_page_is_missing() {
    let other = mapped(&file());
    type Reach = fn(&Mapping, &Mapping) -> Result<(), LostError>;
    let accesses: [(&str, Reach); 8] = [
        ("load", |lost, _| lost.load(8).map(drop)),
        ("line", |lost, _| lost.line(64).map(drop)),
        ("store", |lost, _| lost.store(8, 1)),
        ("compare and swap", |lost, _| lost.compare_swap(8, 0, 1).map(drop)),
        ("read", |lost, _| lost.read(3, &mut [0; 3 * PAGE_BYTES])),
        ("write", |lost, _| lost.write(3, &[7; 3 * PAGE_BYTES])),
        ("copy from", |lost, other| other.copy_from(0, lost, 5, 3 * PAGE_BYTES)),
        ("copy to", |lost, other| lost.copy_from(5, other, 0, 3 * PAGE_BYTES)),
    ];
    for (name, access) in accesses {
        let mapping = missing();
        assert!(!mapping.is_lost(), "{name}: nobody has looked");
        assert_eq!((access(&mapping, &other), mapping.is_lost()), (Err(LostError), true), "{name}");
        assert_eq!(mapping.load(0), Err(LostError), "{name}: from then on");
    }
    assert_eq!((other.store(0, 5), other.load(0), other.is_lost()), (Ok(()), Ok(5), false));
}

#[test]
fn what_is_still_there_is_reached_until_a_page_is_missing() {
    let file = file();
    let (first, second) = (mapped(&file), mapped(&file));
    rustix::fs::ftruncate(&file, PAGE_BYTES as u64).unwrap();
    assert_eq!((first.store(0, 5), first.load(0)), (Ok(()), Ok(5)));
    assert_eq!(first.load(PAGE_BYTES), Err(LostError));
    // It is not the file's any more, and another mapping of it is a mapping of its own.
    assert_eq!((first.store(0, 6), second.load(0)), (Err(LostError), Ok(5)));
}

/// Threads that fault at once, in the same mapping and in others.
#[test]
fn many_threads_may_find_pages_missing() {
    let shared = missing();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(
                        (missing().store(0, 1), shared.load(0)),
                        (Err(LostError), Err(LostError))
                    );
                }
            });
        }
    });
}

/// A process of its own that faults elsewhere. The child is this test, told to be the victim.
#[test]
fn a_fault_that_is_not_ours_ends_the_process_as_ever() {
    use std::os::unix::process::ExitStatusExt;
    const VICTIM: &str = "LOCKSTEP_TEST_FAULTS";
    if std::env::var_os(VICTIM).is_some() {
        let mapping = missing();
        assert_eq!(missing().load(0), Err(LostError), "ours is handled");
        mapping.word(0).load(Ordering::Relaxed);
        unreachable!("a page that is not there was loaded from");
    }
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::tests::a_fault_that_is_not_ours_ends_the_process_as_ever"])
        .env(VICTIM, "1")
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(rustix::process::Signal::BUS.as_raw()), "{status}");
}
