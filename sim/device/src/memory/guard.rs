// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses to files of other processes, which may fault.
//!
//! A mapped page of a file that cannot shrink may still not be there when it is touched: the client
//! has punched a hole into huge pages and the system has no other, the system allows no more memory
//! (`vm.overcommit_memory=2`), a page cannot be read back from the swap or is broken. Then the system
//! sends SIGBUS to the thread, which by itself ends the process.
//!
//! So every access to such a mapping is announced first ([`reach`]), for its thread. If the signal
//! comes during the access, for an address in the mapping, the handler replaces the whole mapping
//! with fresh memory and marks it as lost. The access completes there, and [`reach`] returns
//! [`LostError`]. A lost mapping is not accessed any more, and keeps no memory. All other faults go to
//! the previous handler of the signal.
//!
//! Fresh memory at an address that is mapped already (`MAP_FIXED`) is what `memmap2` does not give,
//! and a handler of its own for a signal is what `rustix` does not take; hence their calls here.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

use libc::{c_int, c_void, siginfo_t};
use memmap2::{MmapRaw, UncheckedAdvice};
use rustix::mm::{MapFlags, ProtFlags};

/// The memory could not be reached, or not once before: what was read is of no use, and what was
/// written is nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory of the other process could not be reached")]
pub(crate) struct LostError;

/// Where a file of another process is mapped.
#[derive(Debug)]
pub(crate) struct Window {
    /// Whole pages of the file.
    map: MmapRaw,
    /// Bytes of one of its pages.
    page_bytes: usize,
    lost: AtomicBool,
}

impl Window {
    /// A window of whole pages of `page_bytes`.
    pub fn new(map: MmapRaw, page_bytes: usize) -> Self {
        handle_bus_errors();
        Self { map, page_bytes, lost: AtomicBool::new(false) }
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("a mapping is never at address 0")
    }

    /// Whether an access has found a page missing.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Puts fresh memory at an address that faulted: in place of the whole window, or, if the system
    /// does not allow so much, of the page. False when the address is not ours, or nothing is to be
    /// had. Called by the signal's handler: no locks, no allocations.
    fn replace(&self, address: usize) -> bool {
        let (first, whole) = (self.map.as_ptr().addr(), self.map.len());
        if !(first..first + whole).contains(&address) {
            return false;
        }
        self.lost.store(true, Ordering::Relaxed);
        let page = (address - first) / self.page_bytes * self.page_bytes;
        let fresh = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        [(0, whole), (page, self.page_bytes)].into_iter().any(|(offset, bytes)| {
            let at = self.map.as_mut_ptr().wrapping_add(offset).cast();
            // SAFETY: whole pages of the window, which are unmapped only when nobody reaches into it
            // any more; and this thread does, now. Nobody has a reference to their bytes, and all
            // accesses are atomic ones that take whatever they find.
            unsafe { rustix::mm::mmap_anonymous(at, bytes, protection, fresh) }.is_ok()
        })
    }
}

thread_local! {
    /// The windows into which this thread reaches. Valid for as long as they stand here.
    static REACHED: Cell<[*const Window; 2]> = const { Cell::new(NOTHING) };
}

const NOTHING: [*const Window; 2] = [std::ptr::null(); 2];

impl Window {
    /// Gives back what an access to its end has written into the fresh memory.
    #[cold]
    fn discard(&self) {
        // SAFETY: nobody wants the bytes of a lost window, nor has a reference to them. Where the
        // file's pages are still mapped, they only have to be found again.
        let _ = unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

/// Does something with the memory of up to two windows, which is all that it may reach of them.
///
/// # Errors
/// [`LostError`]: one of them was lost before, and nothing was done; or while it was done.
#[inline]
pub(crate) fn reach<T>(
    windows: [Option<&Window>; 2],
    work: impl FnOnce() -> T,
) -> Result<T, LostError> {
    /// Takes the windows out, also when `work` panics.
    struct Within;
    impl Drop for Within {
        fn drop(&mut self) {
            compiler_fence(Ordering::SeqCst);
            REACHED.set(NOTHING);
        }
    }
    let is_lost = || windows.iter().flatten().any(|window| window.is_lost());
    if is_lost() {
        return Err(LostError);
    }
    debug_assert_eq!(REACHED.get(), NOTHING, "an access within an access");
    REACHED.set(windows.map(|window| window.map_or(std::ptr::null(), std::ptr::from_ref)));
    let within = Within;
    // The handler runs on this thread: the order of the program is enough, if the compiler keeps it.
    compiler_fence(Ordering::SeqCst);
    let result = work();
    drop(within);
    if !is_lost() {
        return Ok(result);
    }
    windows.iter().flatten().filter(|window| window.is_lost()).for_each(|window| window.discard());
    Err(LostError)
}

/// The previous handler of the signal.
struct Before(libc::sigaction);

static BEFORE: OnceLock<Before> = OnceLock::new();

/// Has the signal handled from now on, once for the process.
///
/// # Panics
/// When the system does not know the signal.
fn handle_bus_errors() {
    BEFORE.get_or_init(|| {
        // SAFETY: a structure of plain values, for which 0 is one.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
        action.sa_sigaction = handler as usize;
        // On the stack for signals, if the thread has one: what overflowed may be its own.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: as above.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: both are ours; the handler does what a handler may.
        let outcome = unsafe { libc::sigaction(libc::SIGBUS, &action, &mut before) };
        assert_eq!(outcome, 0, "SIGBUS can be handled");
        Before(before)
    });
}

extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over what it knows of the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // What a process sends has a code of at most 0, and no address.
    let ours = code > 0
        && REACHED.get().into_iter().any(|window| {
            // SAFETY: null, or a window that is borrowed by the call of `reach` under way.
            unsafe { window.as_ref() }.is_some_and(|window| window.replace(address))
        });
    if !ours {
        hand_on(signal, info, context);
    }
}

/// Does what the process did before.
fn hand_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let before = BEFORE.get();
    let handler = before.map_or(libc::SIG_DFL, |Before(action)| action.sa_sigaction);
    let flags = before.map_or(0, |Before(action)| action.sa_flags);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: the default is to end the process, which it does when the access is tried again,
        // or the signal is raised again, right after this handler.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    } else if flags & libc::SA_SIGINFO != 0 {
        // SAFETY: whoever installed it said that it is such a function.
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
            unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: as above.
        let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}
