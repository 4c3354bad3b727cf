// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every interrupt arrives, once, on its vector.

use driver::{DeviceError, Interrupt};
use rand::RngExt;

use crate::context::{CheckError, Context, expect};
use crate::map;
use crate::queue::{HOST_TO_HOST, Queue, Submission};

/// Interrupts of one queue raised by copies.
const COPIES: u32 = 100;
/// Interrupts raised with nobody looking in between.
const BURST: u32 = 50;

/// Each interrupt is raised by hand and waited for, on all vectors in a drawn order. Then bursts:
/// on the way to a processor interrupts may become one, so there only the last must arrive.
pub(super) fn forced(context: &mut Context<'_>) -> Result<String, CheckError> {
    let vectors = enable_all(context)?;
    let counts = counts(context)?;
    let mut raised = [0u32; map::VECTORS as usize];
    for turn in 0..context.options.interrupts {
        let vector = context.random.random_range(0..vectors.len());
        force(context, 1 << vector)?;
        raised[vector] += 1;
        let came = wait(context, &*vectors[vector], turn)?;
        expect(|| format!("interrupts on vector {vector}, turn {turn}"), came, 1)?;
    }
    for turn in 0..context.options.interrupts / 10 {
        let mask = context.random.random_range(1..1 << vectors.len());
        force(context, mask)?;
        for (vector, interrupt) in vectors.iter().enumerate().filter(|(v, _)| mask >> v & 1 == 1) {
            raised[vector] += 1;
            let came = wait(context, &**interrupt, turn)?;
            expect(|| format!("interrupts on vector {vector} of mask {mask:#x}"), came, 1)?;
        }
    }
    nothing_more(context, &vectors)?;
    for (vector, interrupt) in vectors.iter().enumerate() {
        for _ in 0..BURST {
            force(context, 1 << vector)?;
        }
        raised[vector] += BURST;
        await_count(context, vector, counts[vector].wrapping_add(raised[vector]))?;
        context.be_silent();
        let came = interrupt.take()?;
        if !(1..=u64::from(BURST)).contains(&came) {
            let wrong = format!("{came} interrupts on vector {vector} of a burst of {BURST}");
            return Err(CheckError::wrong(wrong));
        }
    }
    let total: u32 = raised.iter().sum();
    Ok(format!("{total} on {} vectors, none lost, none twice", vectors.len()))
}

/// Completions raise interrupts when GIE, IER and the submission say so, and only then.
pub(super) fn of_queues(context: &mut Context<'_>) -> Result<String, CheckError> {
    let vectors = enable_all(context)?;
    let copies = &vectors[map::VECTOR_COPY as usize];
    let mut queue = Queue::open(context, map::COPY_QUEUE, 4)?;
    let memory = context.memory(4096)?;
    let copy = Submission::copy(HOST_TO_HOST, memory.address, memory.address + 256, 256);
    let wants = Submission { interrupt: true, ..copy };

    queue.perform(context, wants)?;
    for (register, name) in [(map::GIE, "GIE"), (map::IER, "IER")] {
        queue.write(context, register, 1)?;
        queue.perform(context, wants)?;
        nothing_more(context, &vectors).map_err(|stop| only(name, stop))?;
        queue.write(context, register, 0)?;
    }
    queue.write(context, map::ISR, 3)?;
    queue.set_interrupts(context, true)?;
    queue.perform(context, copy)?;
    nothing_more(context, &vectors).map_err(|stop| only("a copy that wants none", stop))?;
    for turn in 0..COPIES {
        queue.perform(context, wants)?;
        let came = wait(context, &**copies, turn)?;
        expect(|| format!("interrupts of copy {turn}"), came, 1)?;
    }
    let status = queue.read(context, map::ISR)?;
    expect(|| "ISR after copies that want interrupts".into(), status & 1, 1)?;
    queue.write(context, map::ISR, 1)?;
    let status = queue.read(context, map::ISR)?;
    expect(|| "ISR after its bit was written".into(), status & 1, 0)?;
    nothing_more(context, &vectors)?;
    Ok(format!("{COPIES} of copies on vector {}, none while switched off", map::VECTOR_COPY))
}

fn only(name: &str, stop: CheckError) -> CheckError {
    CheckError::wrong(format!("with {name} alone: {stop}"))
}

/// All vectors, enabled, with nothing pending.
pub(crate) fn enable_all(context: &Context<'_>) -> Result<Vec<Box<dyn Interrupt>>, DeviceError> {
    let vectors: Result<Vec<_>, _> =
        (0..map::VECTORS).map(|vector| context.backend.interrupt(vector)).collect();
    let vectors = vectors?;
    for vector in &vectors {
        vector.take()?;
    }
    Ok(vectors)
}

fn force(context: &Context<'_>, mask: u32) -> Result<(), DeviceError> {
    context.write(map::SHELL + map::INTERRUPT_FORCE, mask)
}

pub(super) fn wait(
    context: &Context<'_>,
    interrupt: &dyn Interrupt,
    turn: u32,
) -> Result<u64, CheckError> {
    interrupt.wait(context.options.timeout).map_err(|error| match error {
        DeviceError::Timeout { .. } => {
            let vector = interrupt.vector();
            CheckError::wrong(format!("interrupt {turn} on vector {vector} was lost: {error}"))
        }
        error => error.into(),
    })
}

/// INTERRUPT_COUNT of each vector.
fn counts(context: &Context<'_>) -> Result<Vec<u32>, DeviceError> {
    let register = |vector| map::SHELL + map::INTERRUPT_COUNT + 4 * u64::from(vector);
    (0..map::VECTORS).map(|vector| context.read(register(vector))).collect()
}

fn await_count(context: &Context<'_>, vector: usize, expected: u32) -> Result<(), CheckError> {
    let register = map::SHELL + map::INTERRUPT_COUNT + 4 * vector as u64;
    context.wait_for(
        || format!("INTERRUPT_COUNT[{vector}] to be {expected}"),
        || Ok((context.read(register)? == expected).then_some(())),
    )
}

/// No vector has an interrupt more.
pub(super) fn nothing_more(
    context: &Context<'_>,
    vectors: &[Box<dyn Interrupt>],
) -> Result<(), CheckError> {
    context.be_silent();
    for interrupt in vectors {
        let vector = interrupt.vector();
        expect(|| format!("further interrupts on vector {vector}"), interrupt.take()?, 0)?;
    }
    Ok(())
}
