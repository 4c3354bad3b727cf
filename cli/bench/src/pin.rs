//! Pins threads to one processor, so that a measurement does not migrate.

use std::thread;

/// Runs `work` on a thread that stays on the first processor.
///
/// # Panics
/// When `work` does.
pub fn on_one_processor<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pinned = || {
        to_processor(0);
        work()
    };
    thread::scope(|scope| scope.spawn(pinned).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Keeps the calling thread on the `number`th of the processors that it may run on, modulo
/// their count. Where the system refuses, the thread stays free: a measurement may then vary
/// more.
pub fn to_processor(number: usize) {
    // SAFETY: `cpu_set_t` is a plain array of bits, for which zero is valid. The calls read or
    // write no more than the size that they are given, and CPU_ISSET and CPU_SET get indices
    // below CPU_SETSIZE only.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return;
        }
        let allowed = (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set));
        let allowed: Vec<usize> = allowed.collect();
        let Some(&chosen) = allowed.get(number % allowed.len().max(1)) else { return };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(chosen, &mut one);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &one);
    }
}
