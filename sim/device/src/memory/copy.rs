// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies of bytes that others may change meanwhile.
//!
//! A plain copy would promise the compiler that nobody else touches the bytes, which is false of
//! memory that a host has too. So every access is a relaxed atomic one, of 8 bytes wherever both
//! sides allow. A copy that races with a writer gets for each of them the old or the new value, and
//! nothing worse. It orders nothing: the store of a completion, which comes after it, releases it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Below this many bytes it is not worth while to think in words.
const SHORT: usize = 32;

/// Copies bytes from the lowest address to the highest. Of ranges that overlap, what is written is
/// read again where the destination is the higher one.
///
/// # Safety
/// `bytes` bytes from `from` on and from `to` on must be mapped for the whole call, those from `to`
/// on for writing.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let (head, words) = if bytes < SHORT {
        (bytes, 0)
    } else {
        // To where the destination is aligned; and 8 further, so that the aligned word at or below
        // the source begins in the range.
        let head = to.addr().wrapping_neg() % 8 + 8;
        // One less than fit, so that the aligned word above the source ends in the range.
        (head, (bytes - head) / 8 - 1)
    };
    // SAFETY: the head, the words and the rest lie in the ranges that the caller vouches for, and
    // the conditions of `copy_words` are those that `head` and `words` were made for.
    unsafe {
        copy_bytes(from, to, head);
        copy_words(from.wrapping_add(head), to.wrapping_add(head), words);
        let done = head + 8 * words;
        copy_bytes(from.wrapping_add(done), to.wrapping_add(done), bytes - done);
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn copy_bytes(from: *const u8, to: *mut u8, bytes: usize) {
    for at in 0..bytes {
        let (from, to) = (from.wrapping_add(at).cast_mut(), to.wrapping_add(at));
        // SAFETY: in the ranges that the caller vouches for; one byte is always aligned.
        unsafe { AtomicU8::from_ptr(to).store(AtomicU8::from_ptr(from).load(Relaxed), Relaxed) };
    }
}

/// # Safety
/// As for [`copy`] with `8 * words` bytes; `to` must be a multiple of 8, and the aligned words in
/// which the first source byte lies and which follows the last must be mapped as well.
unsafe fn copy_words(from: *const u8, to: *mut u8, words: usize) {
    let shift = from.addr() % 8;
    let from = from.wrapping_sub(shift).cast_mut().cast::<u64>();
    let to = to.cast::<u64>();
    if shift == 0 {
        for at in 0..words {
            // SAFETY: aligned, and in the ranges that the caller vouches for.
            unsafe {
                let word = AtomicU64::from_ptr(from.wrapping_add(at)).load(Relaxed);
                AtomicU64::from_ptr(to.wrapping_add(at)).store(word, Relaxed);
            }
        }
        return;
    }
    // SAFETY: aligned, and the caller vouches for the word around the first byte.
    let load =
        |at| u64::from_le(unsafe { AtomicU64::from_ptr(from.wrapping_add(at)) }.load(Relaxed));
    let mut low = load(0);
    for at in 0..words {
        let high = load(at + 1);
        let word = low >> (8 * shift) | high << (64 - 8 * shift);
        // SAFETY: aligned, and in the range that the caller vouches for.
        unsafe { AtomicU64::from_ptr(to.wrapping_add(at)) }.store(word.to_le(), Relaxed);
        low = high;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All short lengths at all alignments of both sides, with guard bytes around.
    #[test]
    fn exactly_the_bytes_asked_for_are_copied() {
        let source: Vec<u8> = (0..128).map(|byte| byte + 1).collect();
        for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
            for bytes in 0..100 {
                let mut found = [0; 128];
                // SAFETY: both ranges end below 16 + 100 bytes.
                unsafe {
                    let into = found.as_mut_ptr().wrapping_add(to);
                    copy(source.as_ptr().wrapping_add(from), into, bytes);
                }
                let mut expected = [0; 128];
                expected[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
                assert_eq!(found, expected, "{bytes} bytes from {from} to {to}");
            }
        }
    }
}
