// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physical addresses of this process's memory, for devices behind no address translation.

use std::fs;
use std::os::unix::fs::FileExt;

use super::Roots;
use crate::{DeviceError, HUGE_PAGE_BYTES, HostMemory, PAGE_BYTES};

/// The physical address of a memory's first byte.
///
/// The memory must be locked. It must be contiguous, and in huge pages, or in one page that the
/// kernel does not move.
///
/// # Errors
/// [`DeviceError::Refused`] when it is not so, or when this user may not know.
pub fn address(roots: &Roots, memory: &HostMemory) -> Result<u64, DeviceError> {
    let refused = |reason: String| DeviceError::Refused {
        attempted: format!("map {} bytes for the device", memory.bytes()),
        reason,
    };
    if memory.page_bytes() < HUGE_PAGE_BYTES && pages_move(roots) {
        return Err(refused(
            "the kernel may move pages of 4 KiB, even locked ones, while the device uses their \
             physical address; set huge pages aside in /proc/sys/vm/nr_hugepages (or write 0 to \
             /proc/sys/vm/compact_unevictable_allowed)"
                .into(),
        ));
    }
    let frames = frames(roots, memory)?;
    if frames.contains(&Some(0)) {
        return Err(refused(
            "the kernel hides physical addresses from this user; run as root (it takes the \
             capability CAP_SYS_ADMIN)"
                .into(),
        ));
    }
    contiguous(&frames, memory.page_bytes()).map_err(refused)
}

/// Whether compaction moves locked pages. It does unless it is told not to.
fn pages_move(roots: &Roots) -> bool {
    let path = roots.proc.join("sys/vm/compact_unevictable_allowed");
    fs::read_to_string(path).map_or(true, |text| text.trim() != "0")
}

/// The first page frame of each page; None where there is no page in memory.
fn frames(roots: &Roots, memory: &HostMemory) -> Result<Vec<Option<u64>>, DeviceError> {
    // Of an entry: Documentation/admin-guide/mm/pagemap.rst in the kernel's sources.
    const PRESENT: u64 = 1 << 63;
    const FRAME: u64 = (1 << 55) - 1;
    let path = roots.proc.join("self/pagemap");
    let failed = |error| DeviceError::system(format!("read {}", path.display()), error);
    let file = fs::File::open(&path).map_err(failed)?;
    let first = memory.start().as_ptr() as usize / PAGE_BYTES;
    (0..memory.bytes())
        .step_by(memory.page_bytes())
        .map(|offset| {
            let mut entry = [0; 8];
            let index = first + offset / PAGE_BYTES;
            file.read_exact_at(&mut entry, 8 * index as u64).map_err(failed)?;
            let entry = u64::from_ne_bytes(entry);
            Ok((entry & PRESENT != 0).then_some(entry & FRAME))
        })
        .collect()
}

/// The physical address of the first of several pages that follow one another.
fn contiguous(frames: &[Option<u64>], page_bytes: usize) -> Result<u64, String> {
    let frames_of_page = (page_bytes / PAGE_BYTES) as u64;
    let mut expected = None;
    for (page, frame) in frames.iter().enumerate() {
        let Some(frame) = frame else {
            return Err(format!("page {page} is not in memory; it must be locked first"));
        };
        if expected.is_some_and(|expected| expected != *frame) {
            return Err(format!(
                "it is not contiguous in physical memory at page {page}; ask for at most {} KiB at \
                 a time",
                HUGE_PAGE_BYTES >> 10
            ));
        }
        expected = Some(frame + frames_of_page);
    }
    let first = frames.first().copied().flatten().ok_or("it is empty")?;
    Ok(first * PAGE_BYTES as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_must_be_there_and_follow_one_another() {
        assert_eq!(contiguous(&[Some(5)], PAGE_BYTES), Ok(0x5000));
        assert_eq!(contiguous(&[Some(0x200), Some(0x400)], HUGE_PAGE_BYTES), Ok(0x20_0000));
        let error = contiguous(&[Some(0x200), Some(0x401)], HUGE_PAGE_BYTES).unwrap_err();
        assert!(error.contains("not contiguous in physical memory at page 1"), "{error}");
        let error = contiguous(&[Some(1), None], PAGE_BYTES).unwrap_err();
        assert!(error.contains("page 1 is not in memory"), "{error}");
    }

    #[test]
    fn small_pages_are_refused_while_the_kernel_may_move_them() {
        let proc = tempfile::tempdir().unwrap();
        let roots = Roots { proc: proc.path().into(), ..Roots::default() };
        let memory = HostMemory::allocate(1, PAGE_BYTES).unwrap();
        let error = address(&roots, &memory).unwrap_err().to_string();
        assert!(error.contains("the kernel may move pages of 4 KiB"), "{error}");
        fs::create_dir_all(proc.path().join("sys/vm")).unwrap();
        fs::write(proc.path().join("sys/vm/compact_unevictable_allowed"), "0\n").unwrap();
        let error = address(&roots, &memory).unwrap_err();
        assert!(matches!(error, DeviceError::System { .. }), "{error}");
    }

    /// Whoever runs this gets an address, or is told why not.
    #[test]
    fn the_kernel_gives_frames_to_those_who_may_know() {
        let memory = HostMemory::allocate(1, PAGE_BYTES).unwrap();
        memory.lock().unwrap();
        let frames = frames(&Roots::default(), &memory).unwrap();
        assert!(matches!(frames[..], [Some(_)]), "{frames:?}");
    }
}
