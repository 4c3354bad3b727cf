// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues in the situations that matter, one by one.

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use driver::map::device::{COPY_QUEUE, LOCK_UNIT};
use driver::map::{lock_unit, queue};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use sim::bus::BusError;
use sim::bus::axi4::Delay;
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::ErrorInjection;

use crate::bench::{Config, TABLE_LOG2_BUCKETS};
use crate::mover::{MOVES, Moves};
use crate::oracle::Completion;
use crate::user::User;

const COPY: usize = 0;
const LOCK: usize = 1;

/// A copy from host to card that wants an interrupt.
fn copy(identifier: u16) -> [u64; 8] {
    let word0 = u64::from(identifier) | 1 << 16 | 1 << 24 | 64 << 32;
    [word0, 0x1000 * u64::from(identifier), 0x80 * u64::from(identifier), 0, 0, 0, 0, 0]
}

/// Writes copies with identifiers counted from `first`, and rings once for all.
fn submit_copies(user: &mut User, first: u16, count: u16) -> Result<(), String> {
    for identifier in first..first + count {
        require(user.submit(COPY, copy(identifier))?, "the submission ring is full")?;
    }
    user.ring(COPY)
}

/// Consumes so many completions of copies.
fn await_copies(user: &mut User, count: usize) -> Result<Vec<Completion>, String> {
    let mut completions = Vec::new();
    for _ in 0..20_000 {
        if completions.len() == count {
            return Ok(completions);
        }
        user.clocks(1)?;
        completions.extend(user.consume(COPY)?);
    }
    Err(format!("{} of {count} completions came", completions.len()))
}

fn require(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:x?}, not {expected:x?}")) }
}

fn slow(seed: u64) -> Config {
    Config {
        seed,
        stalls: StallPattern::Random { probability: 0.3 },
        memory_latency: Delay { minimum: 0, maximum: 40 },
        moves: Moves { latency: Delay { minimum: 0, maximum: 90 }, ..Moves::smooth() },
        ..Config::smooth()
    }
}

/// A completion ring that software does not empty holds completions back and loses none.
pub fn a_full_completion_ring_loses_nothing(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [2, 2, 1])?;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 4)?;
    user.clocks(1000)?;
    submit_copies(&mut user, 4, 4)?;
    user.clocks(1000)?;
    same("stored with a full ring", user.queues[COPY].oracle.stored.len(), 4)?;
    require(user.bench.model.outputs().idle_o, "a full ring keeps the device busy")?;
    same("RETURN", user.read(COPY_QUEUE + queue::RETURN.offset())?, 4)?;
    await_copies(&mut user, 8)?;
    user.settle()?;
    same("RETURN", user.read(COPY_QUEUE + queue::RETURN.offset())?, 0)?;
    same("COMPLETION_TAIL", user.read(COPY_QUEUE + queue::COMPLETION_TAIL.offset())?, 8)
}

/// No more than 16 moves are open; they may end in any order.
pub fn sixteen_moves_are_open(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [5, 1, 1])?;
    user.bench.mover.moves.held = true;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 30)?;
    user.clocks(2000)?;
    same("moves open", user.bench.mover.open(), MOVES)?;
    // Eight more are buffered, and no more asked for.
    same("submissions read", user.queues[COPY].oracle.asked, MOVES + 8)?;
    require(!user.bench.model.outputs().idle_o, "idle with moves open")?;
    user.bench.mover.moves.held = false;
    let mut identifiers: Vec<u64> =
        await_copies(&mut user, 30)?.iter().map(|one| one.word0 & 0xFFFF).collect();
    identifiers.sort_unstable();
    same("identifiers", identifiers, (0..30).collect())
}

/// Both stores of a completion are answered before its interrupt is raised.
pub fn interrupts_follow_their_completions(seed: u64) -> Result<(), String> {
    let latency = Delay { minimum: 20, maximum: 60 };
    let mut user = User::new(&Config { memory_latency: latency, ..slow(seed) }, [4, 1, 1])?;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 16)?;
    for _ in 0..5000 {
        user.clocks(1)?;
        let (came, answered) = (user.interrupts[1], user.bench.answered[COPY]);
        require(came <= answered / 2, &format!("{came} interrupts, {answered} stores"))?;
    }
    same("interrupts", user.interrupts[1], 16)?;
    same("ISR", user.read(COPY_QUEUE + queue::ISR.offset())?, 1)?;
    user.write(COPY_QUEUE + queue::ISR.offset(), 1)?;
    same("ISR after clearing", user.read(COPY_QUEUE + queue::ISR.offset())?, 0)
}

/// Without GIE or IER nothing is raised.
pub fn interrupts_that_are_off_do_not_come(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [3, 1, 1])?;
    user.enable(COPY)?;
    for (register, value) in [(queue::GIE.offset(), 0), (queue::IER.offset(), 2)] {
        user.write(COPY_QUEUE + queue::GIE.offset(), 1)?;
        user.write(COPY_QUEUE + register, value)?;
        submit_copies(&mut user, 0, 3)?;
        await_copies(&mut user, 3)?;
        // Software may see a completion before the device knows that it is stored.
        user.clocks(200)?;
    }
    same("interrupts", user.interrupts, [0; 6])?;
    same("INTERRUPTS", user.read64(COPY_QUEUE + queue::INTERRUPTS.offset())?, 0)
}

/// What a halted queue shows, and that it works again once it is enabled.
fn halted(user: &mut User, error: u32, next: u16) -> Result<(), String> {
    user.clocks(300)?;
    same("ERROR", user.read(COPY_QUEUE + queue::ERROR.offset())?, error)?;
    same("CONTROL", user.read(COPY_QUEUE + queue::CONTROL.offset())?, 0)?;
    same("ISR.1", user.read(COPY_QUEUE + queue::ISR.offset())? >> 1, 1)?;
    let raised = user.interrupts[1];
    require(raised > 0, "no interrupt of the error")?;
    user.disable(COPY)?;
    user.await_idle(COPY)?;
    user.enable(COPY)?;
    same("ERROR after enabling", user.read(COPY_QUEUE + queue::ERROR.offset())?, 0)?;
    for count in [queue::SUBMISSION_HEAD.offset(), queue::COMPLETION_TAIL.offset()] {
        same("count after enabling", user.read(COPY_QUEUE + count)?, 0)?;
    }
    submit_copies(user, next, 5)?;
    await_copies(user, 5).map(drop)
}

/// A doorbell that cannot be halts the queue.
pub fn bad_doorbells_halt(seed: u64) -> Result<(), String> {
    let tail = COPY_QUEUE + queue::SUBMISSION_TAIL.offset();
    let head = COPY_QUEUE + queue::COMPLETION_HEAD.offset();
    // Three are submitted and completed, in rings of 8; two completions are consumed.
    for (register, value) in [(tail, 12), (tail, 2), (tail, 0x8000), (head, 4), (head, 0xFFFF)] {
        let mut user = User::new(&slow(seed), [3, 1, 1])?;
        user.enable(COPY)?;
        submit_copies(&mut user, 0, 3)?;
        await_copies(&mut user, 3)?;
        user.write(head, 2)?;
        user.clocks(100)?;
        user.bench.write(register, value)?;
        halted(&mut user, 3, 40).map_err(|wrong| format!("{value} at {register:#x}: {wrong}"))?;
    }
    // Back behind what was rung, but not behind what was fetched.
    let mut user = User::new(&slow(seed), [5, 1, 1])?;
    user.bench.mover.moves.held = true;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 30)?;
    user.clocks(1000)?;
    user.bench.write(tail, 27)?;
    user.bench.mover.moves.held = false;
    halted(&mut user, 3, 40).map_err(|wrong| format!("27 after 30: {wrong}"))?;
    // The ends of what may be: all entries, and all completions.
    let mut user = User::new(&slow(seed), [3, 1, 1])?;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 8)?;
    await_copies(&mut user, 8)?;
    user.write(head, 8)?;
    submit_copies(&mut user, 8, 8)?;
    await_copies(&mut user, 8).map(drop)
}

/// An access to the rings that fails halts the queue, and says which kind it was.
pub fn failed_accesses_halt(seed: u64) -> Result<(), String> {
    for (access, error) in [(0, 1), (3, 2), (4, 2), (7, 2)] {
        let kind = [BusError::SubordinateError, BusError::DecodeError][access % 2];
        let listed = ErrorInjection::Listed([(access as u64, kind)].into());
        // One read, then its two stores: the third access is word 1.
        let config = Config { errors: listed, seed, ..Config::smooth() };
        let mut user = User::new(&config, [3, 1, 1])?;
        user.enable(COPY)?;
        for identifier in 0..4 {
            if user.read(COPY_QUEUE + queue::CONTROL.offset())? == 1 {
                submit_copies(&mut user, identifier, 1)?;
                user.clocks(200)?;
            }
        }
        // Accesses come as read, store, store: 0 is a read, 4, 5, 7 and 8 are stores.
        let error = if access % 3 == 0 { 1 } else { error };
        halted(&mut user, error, 40).map_err(|wrong| format!("access {access}: {wrong}"))?;
    }
    Ok(())
}

/// Switched off in the middle of work: RETURN falls to 0 when all is quiet, and only then.
pub fn idle_means_idle(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [4, 1, 1])?;
    user.bench.mover.moves.held = true;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 12)?;
    user.clocks(300)?;
    user.disable(COPY)?;
    user.clocks(300)?;
    let open = user.bench.mover.open() as u32;
    require(open > 0, "no move is open")?;
    same("RETURN", user.read(COPY_QUEUE + queue::RETURN.offset())?, open)?;
    user.bench.mover.moves.held = false;
    user.await_idle(COPY)?;
    same("moves open", user.bench.mover.open(), 0)?;
    user.clocks(500)?; // The oracle allows no access now.
    same("completions", user.read64(COPY_QUEUE + queue::COMPLETIONS.offset())?, 0)
}

/// Enabled again while moves of the last time are open: they end, and complete nowhere.
pub fn old_moves_do_not_complete_anew(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [4, 1, 1])?;
    user.bench.mover.moves.held = true;
    user.enable(COPY)?;
    submit_copies(&mut user, 0, 12)?;
    user.clocks(300)?;
    user.disable(COPY)?;
    user.enable(COPY)?;
    submit_copies(&mut user, 100, 12)?;
    user.clocks(300)?;
    same("submissions read anew", user.queues[COPY].oracle.asked, 0)?;
    user.bench.mover.moves.held = false;
    let completions = await_copies(&mut user, 12)?;
    require(completions.iter().all(|one| one.word0 & 0xFFFF >= 100), "an old completion")?;
    user.settle()
}

/// Counts of 16 bits wrap, in rings of the largest size.
#[allow(dead_code, reason = "takes too long for those who look at all")]
pub fn counts_wrap(seed: u64) -> Result<(), String> {
    let mut user = User::new(&Config { seed, ..Config::smooth() }, [12, 1, 1])?;
    user.enable(COPY)?;
    let mut consumed = 0;
    for burst in 0..70u64 {
        for n in 0..1000 {
            // A bad opcode, so that no mover is needed.
            let words = [(1000 * burst + n) & 0xFFFF, 0, 0, 0, 0, 0, 0, 0];
            while !user.submit(COPY, words)? {
                user.clocks(20)?;
            }
        }
        user.ring(COPY)?;
        while user.consume(COPY)?.is_some() {
            consumed += 1;
        }
    }
    consumed += await_copies(&mut user, 70_000 - consumed)?.len();
    same("consumed", consumed, 70_000)?;
    let head = user.read(COPY_QUEUE + queue::SUBMISSION_HEAD.offset())?;
    same("SUBMISSION_HEAD", head, 70_000 - 65_536)?;
    same("FAILURES", user.read64(COPY_QUEUE + queue::FAILURES.offset())?, 70_000)
}

fn lock_request(tag: u8, transaction: u64, operation: UnitOperation) -> [u64; 8] {
    let transaction = Timestamp::new(transaction).expect("not 0");
    let tag = Tag::new(tag).expect("below 128");
    let [a, b, c] = UnitRequest { tag, transaction, operation }.encode();
    [1 << 16, 0, 0, 0, a, b, c, 0]
}

/// Submits a request, and gives its first response.
fn ask(user: &mut User, words: [u64; 8]) -> Result<UnitResponse, String> {
    require(user.submit(LOCK, words)?, "the submission ring is full")?;
    user.ring(LOCK)?;
    let answer = await_response(user)?;
    answer.ok_or_else(|| format!("no response to {words:x?}"))
}

fn await_response(user: &mut User) -> Result<Option<UnitResponse>, String> {
    for _ in 0..2000 {
        user.clocks(1)?;
        if let Some(completion) = user.consume(LOCK)? {
            let response = UnitResponse::decode(completion.word1);
            return response.map(Some).map_err(|bad| bad.to_string());
        }
    }
    Ok(None)
}

/// A waiter is told later, also when the clock of the lock unit stood still in between; one of
/// an earlier enablement is not.
pub fn notices_come_to_whom_they_belong(seed: u64) -> Result<(), String> {
    let key = TupleKey::new(5, 1);
    let acquire = UnitOperation::Acquire(key, Rule::Queue);
    for restarts in [false, true] {
        let mut user = User::new(&slow(seed), [1, 2, 1])?;
        user.enable(LOCK)?;
        same("first", ask(&mut user, lock_request(3, 10, acquire))?.code, Code::Granted)?;
        same("second", ask(&mut user, lock_request(4, 11, acquire))?.code, Code::Queued)?;
        user.clocks(500)?;
        if restarts {
            user.disable(LOCK)?;
            user.await_idle(LOCK)?;
            user.enable(LOCK)?;
        }
        let release = lock_request(5, 10, UnitOperation::Release(key));
        require(user.submit(LOCK, release)?, "the submission ring is full")?;
        user.ring(LOCK)?;
        let mut codes = Vec::new();
        while let Some(response) = await_response(&mut user)? {
            codes.push((response.tag.index(), response.code));
        }
        codes.sort_unstable();
        let notice = (4, Code::Granted);
        let released = (5, Code::Released);
        let expected = if restarts { vec![released] } else { vec![notice, released] };
        same("responses", codes, expected)?;
    }
    Ok(())
}

/// What comes for the lock unit while its clock stands still wakes it: a beat that voids a
/// copy, and answers of a memory that takes longer than it stays awake.
pub fn what_comes_wakes_the_lock_unit(seed: u64) -> Result<(), String> {
    let latency = Delay { minimum: 150, maximum: 250 };
    let mut user = User::new(&Config { memory_latency: latency, ..slow(seed) }, [1, 2, 1])?;
    user.enable(LOCK)?;
    let acquire = UnitOperation::Acquire(TupleKey::new(5, 1), Rule::Queue);
    same("first", ask(&mut user, lock_request(3, 10, acquire))?.code, Code::Granted)?;
    same("second", ask(&mut user, lock_request(4, 11, acquire))?.code, Code::Queued)?;
    let counts = |user: &mut User| {
        user.clocks(2000)?;
        let voided = user.read64(LOCK_UNIT + lock_unit::COPIES_VOIDED.offset())?;
        Ok::<_, String>((voided, user.read64(LOCK_UNIT + lock_unit::LINE_READS.offset())?))
    };
    let (voided, reads) = counts(&mut user)?;
    for round in 1..=3 {
        user.clocks(200)?;
        // The waiter keeps a copy of one of these lines.
        let table = user.bench.places.table;
        (0..1 << TABLE_LOG2_BUCKETS).for_each(|n| user.bench.invalidate(table + 64 * n));
        same("voided, read", counts(&mut user)?, (voided + round, reads + round))?;
    }
    Ok(())
}

/// Requests wait while the lock unit does not accept any, and none is lost.
pub fn requests_wait_for_the_unit(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 3, 1])?;
    user.write(LOCK_UNIT + lock_unit::CONTROL.offset(), 0)?;
    user.enable(LOCK)?;
    for tag in 0..6 {
        let acquire = UnitOperation::Acquire(TupleKey::new(tag.into(), 1), Rule::NoWait);
        require(user.submit(LOCK, lock_request(tag, 9, acquire))?, "the ring is full")?;
    }
    user.ring(LOCK)?;
    user.clocks(1000)?;
    same("completions", user.queues[LOCK].oracle.stored.len(), 0)?;
    require(user.bench.model.outputs().idle_o, "a waiting request keeps the device busy")?;
    user.write(LOCK_UNIT + lock_unit::CONTROL.offset(), 1)?;
    for _ in 0..6 {
        let response = await_response(&mut user)?;
        same("code", response.map(|one| one.code), Some(Code::Granted))?;
    }
    Ok(())
}

/// A bus error of the lock unit raises vector 3 once, until it was cleared.
pub fn bus_errors_of_the_unit_interrupt(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 3, 1])?;
    user.write(LOCK_UNIT + lock_unit::CONTROL.offset(), 0)?;
    // A table where no memory is.
    let elsewhere = !user.bench.places.table & !63;
    user.write64(LOCK_UNIT + lock_unit::TABLE_BASE.offset(), elsewhere)?;
    user.write(LOCK_UNIT + lock_unit::GIE.offset(), 1)?;
    user.write(LOCK_UNIT + lock_unit::IER.offset(), 1)?;
    user.write(LOCK_UNIT + lock_unit::CONTROL.offset(), 1)?;
    user.enable(LOCK)?;
    for round in 1..=3 {
        for tag in 0..2 {
            let acquire = UnitOperation::Acquire(TupleKey::new(tag.into(), 1), Rule::NoWait);
            let response = ask(&mut user, lock_request(tag, 9, acquire))?;
            same("code", response.code, Code::BusError)?;
        }
        user.clocks(200)?;
        same("interrupts of vector 3", user.interrupts[3], round)?;
        user.write(LOCK_UNIT + lock_unit::ISR.offset(), 1)?;
    }
    user.check_interrupt_counts()
}

/// Interrupts by hand wait for the stream, and none is lost.
pub fn forced_interrupts_are_not_lost(seed: u64) -> Result<(), String> {
    let stalled = StallPattern::Burst { probability: 0.5, longest: 400 };
    let mut user =
        User::new(&Config { seed, interrupt_stalls: stalled, ..Config::smooth() }, [1, 1, 1])?;
    for round in 0..250u32 {
        user.force(round & 0x1F | 1)?;
    }
    for _ in 0..1000 {
        if user.interrupts == user.forced {
            break;
        }
        user.clocks(400)?;
    }
    user.clocks(2000)?;
    same("interrupts", user.interrupts, user.forced)?;
    user.check_interrupt_counts()
}

/// More interrupts of each vector than a byte can count, and than nine bits can.
pub fn many_interrupts_are_counted(seed: u64) -> Result<(), String> {
    let mut user = User::new(&Config { seed, ..Config::smooth() }, [1, 1, 1])?;
    for _ in 0..600 {
        user.force(0x3F)?;
    }
    user.clocks(2000)?;
    same("interrupts", user.interrupts, user.forced)?;
    user.check_interrupt_counts()
}

/// A test by its seed; says what is wrong.
pub type Test = fn(u64) -> Result<(), String>;

/// All that takes little time, by name.
pub const ALL: [(&str, Test); 15] = [
    ("a_full_completion_ring_loses_nothing", a_full_completion_ring_loses_nothing),
    ("sixteen_moves_are_open", sixteen_moves_are_open),
    ("interrupts_follow_their_completions", interrupts_follow_their_completions),
    ("interrupts_that_are_off_do_not_come", interrupts_that_are_off_do_not_come),
    ("bad_doorbells_halt", bad_doorbells_halt),
    ("failed_accesses_halt", failed_accesses_halt),
    ("idle_means_idle", idle_means_idle),
    ("old_moves_do_not_complete_anew", old_moves_do_not_complete_anew),
    ("notices_come_to_whom_they_belong", notices_come_to_whom_they_belong),
    ("what_comes_wakes_the_lock_unit", what_comes_wakes_the_lock_unit),
    ("requests_wait_for_the_unit", requests_wait_for_the_unit),
    ("bus_errors_of_the_unit_interrupt", bus_errors_of_the_unit_interrupt),
    ("forced_interrupts_are_not_lost", forced_interrupts_are_not_lost),
    ("many_interrupts_are_counted", many_interrupts_are_counted),
    ("registers_of_all_blocks", crate::registers::registers_of_all_blocks),
];
