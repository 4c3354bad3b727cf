// SPDX-License-Identifier: MIT OR Apache-2.0
//! The job queue of the simulated device, through the driver.

use std::sync::Arc;
use std::time::Duration;

use device::Simulated;
use driver::layout::JOB_VECTOR;
use driver::{Device, DmaBuffer, JobDone, JobQueue, JobSubmission, QueueError};
use ndp_runtime::job::{DescriptorHeader, Opcode, Status, Submission};

const LONG: Duration = Duration::from_secs(20);

fn device() -> Device {
    Device::new(Arc::new(Simulated::new("sim:".into()).unwrap())).unwrap()
}

fn submit(queue: &mut JobQueue, submission: Submission) -> driver::Ticket {
    let [_, words @ ..] = submission.encode();
    let opcode = submission.opcode;
    queue.submit(JobSubmission { opcode, words, interrupt: true }).unwrap()
}

/// Status, bytes and detail of a submission's end.
fn run(queue: &mut JobQueue, submission: Submission) -> (Option<Status>, u32, u64) {
    let ticket = submit(queue, submission);
    let JobDone { status, bytes, detail, .. } = queue.wait_for(ticket, LONG).unwrap();
    (Status::from_code(status), bytes, detail)
}

/// A descriptor that is right except for its magic.
fn bad_descriptor(device: &Device) -> (DmaBuffer, Submission) {
    let buffer = device.allocate(4096).unwrap();
    let bytes = DescriptorHeader::BYTES + 1088;
    let header = DescriptorHeader { magic: 7, length: bytes as u32, ..Default::default() };
    buffer.write(64, &header.encode());
    let begin = Submission::begin(9, buffer.bus_address() + 64, bytes as u64);
    (buffer, begin)
}

#[test]
fn submissions_that_cannot_be_done_say_why() {
    let device = device();
    let mut queue = device.job_queue(16).unwrap();
    let unknown = Submission { opcode: 9, ..Submission::default() };
    assert_eq!(run(&mut queue, unknown), (Some(Status::BadOpcode), 0, 0));
    for submission in
        [Submission::resume(3, 0, 64), Submission::finalize(3, 1, 1, 1), Submission::cancel(3)]
    {
        assert_eq!(run(&mut queue, submission).0, Some(Status::NoJob), "{submission:?}");
    }
    let (_buffer, begin) = bad_descriptor(&device);
    assert_eq!(run(&mut queue, begin), (Some(Status::BadDescriptor), 0, 0));
    // No memory is there.
    let nowhere = Submission { address: 0x1234_5000, ..begin };
    assert_eq!(run(&mut queue, nowhere), (Some(Status::HostMemory), 0, 0x1234_5000));
    let wraps = Submission { address: u64::MAX - 63, ..begin };
    assert_eq!(run(&mut queue, wraps).0, Some(Status::HostMemory));
}

#[test]
fn many_jobs_at_once_each_end_once_and_interrupt() {
    let device = device();
    let mut queue = device.job_queue(64).unwrap();
    let (_buffer, begin) = bad_descriptor(&device);
    let mut raised = 0;
    for _ in 0..20 {
        let tickets: Vec<_> =
            (0..64).map(|job| submit(&mut queue, Submission { job, ..begin })).collect();
        for ticket in tickets {
            let done = queue.wait_for(ticket, LONG).unwrap();
            let status = Status::from_code(done.status);
            assert!(
                matches!(status, Some(Status::BadDescriptor | Status::TooManyJobs)),
                "{done:?}"
            );
            raised += 1;
        }
    }
    assert_eq!(queue.poll(), Ok(None));
    // The last interrupts may still be on their way.
    let counted = || device.shell().interrupt_count(JOB_VECTOR).unwrap();
    for _ in 0..1000 {
        if counted() == raised {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(counted(), raised);
}

/// Memory that is taken away is not reached any more, and a reset leaves nothing of the jobs before.
#[test]
fn a_reset_drops_jobs_and_the_next_ones_are_done() {
    let device = device();
    let mut queue = device.job_queue(16).unwrap();
    for _ in 0..20 {
        let (buffer, begin) = bad_descriptor(&device);
        for job in 0..8 {
            submit(&mut queue, Submission { job, ..begin });
        }
        device.reset().unwrap();
        drop(buffer);
        let stopped = queue.wait(LONG);
        // Those that were done before the reset are in the ring.
        if let Err(error) = stopped {
            assert_eq!(error, QueueError::Stopped { queue: "job" });
        }
        queue.restart().unwrap();
        let (_buffer, begin) = bad_descriptor(&device);
        assert_eq!(run(&mut queue, begin).0, Some(Status::BadDescriptor));
        assert_eq!(queue.poll(), Ok(None));
    }
}

#[test]
fn a_device_that_goes_away_ends_its_engine() {
    for _ in 0..10 {
        let device = device();
        let mut queue = device.job_queue(4).unwrap();
        let (_buffer, begin) = bad_descriptor(&device);
        submit(&mut queue, begin);
        assert_eq!(begin.opcode, Opcode::Begin as u8);
        drop((queue, _buffer, device));
    }
}
