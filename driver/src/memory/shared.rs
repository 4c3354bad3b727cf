// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies in and out of memory that others change concurrently.
//!
//! A plain copy (`copy_nonoverlapping`) would promise the compiler that nothing else writes these
//! bytes. This is false for memory shared with a device, another process, or the in-process
//! device's thread. So every access to the shared side is a relaxed atomic one: of 8 bytes where
//! aligned, of one byte at the ends. A copy that races with a writer gets for each such chunk the
//! old or the new value, and nothing worse. It orders nothing: the protocol that says when the
//! bytes are complete provides the ordering (`docs/driver.md`, "Ordering").
//!
//! Rust gives no meaning to atomic accesses of different widths that race on the same bytes; here, as
//! with any device, the processor's rules hold: aligned accesses of up to 8 bytes are whole.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Bytes up to the next address that is a multiple of 8, at most `bytes`.
fn head(address: usize, bytes: usize) -> usize {
    (address.wrapping_neg() % 8).min(bytes)
}

/// Copies out of shared memory.
///
/// # Safety
/// `into.len()` bytes from `from` on must be mapped for the whole call, and not be those of `into`.
pub unsafe fn load(from: *const u8, into: &mut [u8]) {
    let (first, rest) = into.split_at_mut(head(from.addr(), into.len()));
    let mut at = from.cast_mut();
    for byte in first {
        // SAFETY: in the range that the caller vouches for; one byte is always aligned.
        *byte = unsafe { AtomicU8::from_ptr(at) }.load(Relaxed);
        at = at.wrapping_add(1);
    }
    debug_assert!(rest.len() < 8 || at.cast::<u64>().is_aligned());
    let (words, last) = rest.as_chunks_mut::<8>();
    for word in words {
        // SAFETY: in the range that the caller vouches for; aligned, as all bytes before the first
        // multiple of 8 have been copied.
        *word = unsafe { AtomicU64::from_ptr(at.cast()) }.load(Relaxed).to_ne_bytes();
        at = at.wrapping_add(8);
    }
    for byte in last {
        // SAFETY: in the range that the caller vouches for; one byte is always aligned.
        *byte = unsafe { AtomicU8::from_ptr(at) }.load(Relaxed);
        at = at.wrapping_add(1);
    }
}

/// Copies into shared memory.
///
/// # Safety
/// `from.len()` bytes from `to` on must be mapped for the whole call, and not be those of `from`.
pub unsafe fn store(to: *mut u8, from: &[u8]) {
    let (first, rest) = from.split_at(head(to.addr(), from.len()));
    let mut at = to;
    for byte in first {
        // SAFETY: in the range that the caller vouches for; one byte is always aligned.
        unsafe { AtomicU8::from_ptr(at) }.store(*byte, Relaxed);
        at = at.wrapping_add(1);
    }
    debug_assert!(rest.len() < 8 || at.cast::<u64>().is_aligned());
    let (words, last) = rest.as_chunks::<8>();
    for word in words {
        // SAFETY: in the range that the caller vouches for; aligned, as all bytes before the first
        // multiple of 8 have been copied.
        unsafe { AtomicU64::from_ptr(at.cast()) }.store(u64::from_ne_bytes(*word), Relaxed);
        at = at.wrapping_add(8);
    }
    for byte in last {
        // SAFETY: in the range that the caller vouches for; one byte is always aligned.
        unsafe { AtomicU8::from_ptr(at) }.store(*byte, Relaxed);
        at = at.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All short lengths at all alignments, with guard bytes on both sides.
    #[test]
    fn exactly_the_bytes_asked_for_are_copied() {
        for start in 0..16 {
            for bytes in 0..40 {
                let mut shared = [0xAAu64; 10];
                let base = shared.as_mut_ptr().cast::<u8>();
                let source: Vec<u8> = (1..=bytes).collect();
                let at = base.wrapping_add(start);
                // SAFETY: at most 16 + 40 of the 80 bytes, which only this test has.
                unsafe { store(at, &source) };
                let mut whole = [0; 80];
                // SAFETY: all of the 80 bytes, which only this test has.
                unsafe { load(base, &mut whole) };
                let end = start + usize::from(bytes);
                assert_eq!(whole[start..end], source[..]);
                let guard = 0xAAu64.to_ne_bytes();
                let clean = |index: usize| whole[index] == guard[index % 8];
                assert!((0..start).all(clean) && (end..80).all(clean), "{start} {bytes}");
                let mut part = vec![0; bytes.into()];
                // SAFETY: as for the store.
                unsafe { load(at, &mut part) };
                assert_eq!(part, source);
            }
        }
    }
}
