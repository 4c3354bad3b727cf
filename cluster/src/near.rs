// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fetching memory into the caches before it is needed.
//!
//! Machines and their driver go through more memory than the nearer caches hold, in an order that no
//! processor foresees, but a program often does. To read ahead for that would wait for the first line that is
//! not there; these functions ask for lines and go on.

/// The bytes of a line of the cache.
const LINE: usize = 64;

/// Asks for the line that this address lies in. Any address will do.
#[inline(always)]
pub fn fetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint: it reads and writes nothing that a program could see, and never faults,
    // whatever the address is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Asks for the first lines of a list, `lines` at most.
#[inline(always)]
pub fn fetch_start<T>(list: &[T], lines: usize) {
    let start = list.as_ptr().cast::<u8>();
    let lines = size_of_val(list).div_ceil(LINE).min(lines);
    (0..lines).for_each(|line| fetch(start.wrapping_add(line * LINE)));
}

/// Asks for a value, which begins with a line.
#[inline(always)]
pub fn fetch_value<T>(value: &T) {
    fetch_start(std::slice::from_ref(value), usize::MAX);
}
