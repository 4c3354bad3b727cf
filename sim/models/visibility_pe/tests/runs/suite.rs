// SPDX-License-Identifier: MIT OR Apache-2.0
//! The element's registers, how runs begin and end, and what is refused.

use driver::map::visibility_pe as map;
use driver::visibility_element::{End, JobBlock, Packet, RefusalError};
use driver::{DeviceError, VisibilityElement};
use ndp_runtime::program::{Instruction, NEVER_NULL, Opcode, Program};
use sim::bus::stall::StallPattern;
use sim::visibility_element::{Element, SparseMemory, Surroundings};
use suites::registers::{self, Block};

use crate::dut::{self, Core};

/// Where things are in device memory.
const JOB: u64 = 0x4_0000_0000;
const PROGRAM: u64 = 0x4_0000_1000;

/// Clocks in which every run here is over.
const BOUND: u64 = 50_000;

fn element(surroundings: &Surroundings) -> Element<Core> {
    Element::new(dut::model(surroundings.seed), surroundings)
}

fn program() -> Program {
    let code = vec![
        Instruction::load(0, 8, NEVER_NULL),
        Instruction::out(0, 0),
        Instruction::new(Opcode::End),
    ];
    Program::new(7, 16, code, vec![]).expect("a valid program")
}

/// A job over VIDs of a table whose VID map is all zero, so that there are no rows.
fn job(vids: std::ops::Range<u32>) -> JobBlock {
    JobBlock { vid_first: vids.start, vid_end: vids.end, table: 7, ..JobBlock::default() }
}

fn memory(job: &JobBlock, program: Option<&[u8]>) -> SparseMemory {
    let mut memory = SparseMemory::default();
    memory.place(JOB, &job.encode());
    if let Some(program) = program {
        memory.place(PROGRAM, program);
    }
    memory
}

pub fn the_registers_are_those_of_the_map() {
    let mut element = element(&Surroundings::smooth());
    let mut memory = SparseMemory::default();
    let mut access = |request| element.access(&mut memory, request).unwrap();
    registers::check(&mut Block(&mut access), &map::WORDS, &["CONTROL"]);
    let mut element = VisibilityElement::new(element.registers(&mut memory));
    let identification = element.identify().unwrap();
    assert_eq!((identification.lanes, identification.ports), (8, 2));
    assert!(identification.chains >= 32 && identification.pages == 1 << 16, "{identification:?}");
}

pub fn a_run_over_tuples_without_rows_ends() {
    for stalls in [StallPattern::None, StallPattern::Random { probability: 0.5 }] {
        let surroundings = Surroundings {
            memory_stalls: stalls,
            packet_stalls: stalls,
            register_stalls: stalls,
            ..Surroundings::smooth()
        };
        let mut element = element(&surroundings);
        let image = program().encode();
        let with_program = JobBlock { program: PROGRAM, ..job(1000..3000) };
        for (job, visited) in [(job(5..5), 0), (job(0..70), 70), (with_program, 2000)] {
            let mut memory = memory(&job, Some(&image[..]));
            let run = element.run(&mut memory, JOB, BOUND).unwrap();
            assert_eq!(run.packets, []);
            assert_eq!(run.end, Ok(End { visited, ..End::default() }));
            let counters = element.counters(&mut memory).unwrap();
            assert_eq!((counters.vids, counters.visible), (visited.into(), 0));
            // The last packet leaves before the run is over, and the start takes some accesses.
            assert!(counters.clocks > 0 && counters.clocks <= run.clocks, "{counters:?}");
            assert!(element.is_idle());
        }
    }
}

/// The error in a job or its program, and how a run with it ends.
pub fn what_is_no_job_is_refused_and_the_next_run_is_as_ever() {
    let mut element = element(&Surroundings::smooth());
    let good = JobBlock { program: PROGRAM, ..job(0..9) };
    let image = program().encode();
    let with = |change: &dyn Fn(&mut [u8])| {
        let mut image = image.clone();
        change(&mut image[..]);
        memory(&good, Some(&image[..]))
    };
    let cases: [(SparseMemory, RefusalError); 11] = [
        (SparseMemory::default(), RefusalError::JobUnreadable),
        (memory(&good, None), RefusalError::ProgramUnreadable),
        // It ends within: the last of its constants cannot be read.
        (memory(&good, Some(&image[..1024])), RefusalError::ProgramUnreadable),
        (memory(&JobBlock { program: PROGRAM + 8, ..good }, None), RefusalError::Misplaced),
        (with(&|image| image[0] = b'X'), RefusalError::NoProgram),
        (with(&|image| image[4] = 2), RefusalError::OtherVersion),
        (with(&|image| image[6] = 0), RefusalError::BadCount),
        (with(&|image| image[6] = 65), RefusalError::BadCount),
        (with(&|image| image[7] = 65), RefusalError::BadCount),
        (with(&|image| image[8] = 9), RefusalError::BadCount),
        (with(&|image| image[9] = 1), RefusalError::SoftwareOnly),
    ];
    for (mut wrong, refusal) in cases {
        let run = element.run(&mut wrong, JOB, BOUND).unwrap();
        assert_eq!((run.packets, run.end), (vec![], Err(refusal)));
        let counters = element.counters(&mut wrong).unwrap();
        assert_eq!((counters.vids, counters.visible, counters.faults), (0, 0, 0));
        let run = element.run(&mut with(&|_| ()), JOB, BOUND).unwrap();
        assert_eq!(run.end, Ok(End { visited: 9, ..End::default() }), "after {refusal}");
    }
}

pub fn a_run_is_started_once_and_stopped() {
    let mut element = element(&Surroundings::smooth());
    // The largest part there is: without the stop it would take minutes.
    let mut memory = memory(&job(0..u32::MAX), None);
    element.start(&mut memory, JOB).unwrap();
    {
        let mut registers = element.registers(&mut memory);
        let again = map::CONTROL.write(&mut registers, map::Control::default().with_start(true));
        assert!(matches!(again, Err(DeviceError::Bus { .. })), "{again:?}");
    }
    let mut access = |request| element.access(&mut memory, request).unwrap();
    registers::check_holds(&mut Block(&mut access), &map::WORDS);
    // After a reset the element prepares itself for some clocks.
    let visits = (0..BOUND).any(|_| element.counters(&mut memory).unwrap().vids > 0);
    assert!(visits, "no VID was visited in {BOUND} polls");
    assert!(!element.is_idle());
    let mut handle = VisibilityElement::new(element.registers(&mut memory));
    handle.stop().unwrap();
    handle.wait(BOUND).unwrap();
    assert!(handle.take_done().unwrap());
    let Some(Packet::End(end)) = element.next_packet().unwrap() else { panic!("no last packet") };
    assert!(end.visited > 0 && end.visited < 100_000, "{end:?}");
    // Its stop does not stop the next one.
    let run = element.run(&mut self::memory(&job(0..80), None), JOB, BOUND).unwrap();
    assert_eq!(run.end, Ok(End { visited: 80, ..End::default() }));
}

pub fn the_end_of_a_run_interrupts_when_it_is_asked_to() {
    let mut element = element(&Surroundings::smooth());
    let mut memory = memory(&job(0..9), None);
    element.run(&mut memory, JOB, BOUND).unwrap();
    assert!(!element.interrupts());
    let mut handle = VisibilityElement::new(element.registers(&mut memory));
    assert!(handle.take_done().unwrap());
    handle.set_interrupt(true).unwrap();
    element.run(&mut memory, JOB, BOUND).unwrap();
    assert!(element.interrupts());
    let mut handle = VisibilityElement::new(element.registers(&mut memory));
    assert!(handle.take_done().unwrap());
    assert!(!handle.take_done().unwrap());
    assert!(!element.interrupts());
}

/// All tests, by name; each panics when something is wrong.
pub const ALL: [(&str, fn()); 5] = [
    ("the_registers_are_those_of_the_map", the_registers_are_those_of_the_map),
    ("a_run_over_tuples_without_rows_ends", a_run_over_tuples_without_rows_ends),
    (
        "what_is_no_job_is_refused_and_the_next_run_is_as_ever",
        what_is_no_job_is_refused_and_the_next_run_is_as_ever,
    ),
    ("a_run_is_started_once_and_stopped", a_run_is_started_once_and_stopped),
    (
        "the_end_of_a_run_interrupts_when_it_is_asked_to",
        the_end_of_a_run_interrupts_when_it_is_asked_to,
    ),
];
