// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process of its own for the wave writer, which ends it when it cannot write.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};

use crate::error::CommandError;
use crate::interrupt;
use crate::whole_file::WholeFile;

/// Has another process do what this one was told to, and puts the waves that it has written to their
/// place; also of one that has failed with exit code 1, if these show `why`.
///
/// # Errors
/// When the other is ended by its wave writer, or the file is not whole: nothing is left of it then. When
/// the other fails with an exit code, it has said why.
pub fn write(output: &Path, why: bool) -> Result<(), CommandError> {
    let other_id = Arc::new(AtomicI32::new(0));
    let interrupt = interrupt::install_with({
        let other_id = other_id.clone();
        move || interrupt_process(&other_id)
    })?;
    let file = WholeFile::create(output)?;
    let cannot = |cause: io::Error| CommandError::Internal(format!("cannot start itself: {cause}"));
    let program = std::env::current_exe().map_err(cannot)?;
    let mut other = Command::new(program);
    other.args(std::env::args_os().skip(1)).arg("--into").arg(file.temporary());
    // Out of reach of a terminal, so that it is interrupted once, whatever interrupts this process.
    other.process_group(0);
    let parent = rustix::process::getpid();
    // SAFETY: between fork and exec it makes two system calls, which take and give numbers only.
    unsafe { other.pre_exec(move || end_with_parent(parent)) };
    let mut other = other.spawn().map_err(cannot)?;
    other_id.store(other.id() as i32, Ordering::SeqCst);
    if interrupt.is_raised() {
        interrupt_process(&other_id);
    }
    let ended = other.wait();
    other_id.store(0, Ordering::SeqCst);
    let ended = ended.map_err(cannot)?;
    if ended.signal() == Some(Signal::INT.as_raw()) {
        // So early that it did not handle it yet.
        return Err(CommandError::Interrupted);
    }
    if let Some(signal) = ended.signal() {
        let what =
            format!("the wave writer gave up (signal {signal}): is there room for the file?");
        return Err(CommandError::writing(output, what));
    }
    let written = has_waves(file.temporary());
    match (ended.code(), written) {
        (Some(0), Ok(true)) => file.finish(),
        (Some(0), Ok(false)) => {
            Err(CommandError::writing(output, "the waves end early: is there room for the file?"))
        }
        (Some(0), Err(cause)) => Err(CommandError::writing(output, cause)),
        (Some(1), Ok(true)) if why => file.finish().and(Err(CommandError::Told(1))),
        (code, _) => Err(CommandError::Told(code.unwrap_or(1) as u8)),
    }
}

/// Passes Ctrl-C on to a process that was started, unless it has ended.
fn interrupt_process(id: &AtomicI32) {
    if let Some(id) = Pid::from_raw(id.load(Ordering::SeqCst)) {
        // It may just have ended by itself.
        let _ = kill_process(id, Signal::INT);
    }
}

/// The output of the process is not read after its parent is killed.
fn end_with_parent(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        // It was killed before.
        return Err(io::ErrorKind::Interrupted.into());
    }
    Ok(())
}

/// Whether a file is a sequence of whole blocks, as an FST file is: each has a byte for its kind and 8
/// for its length, these included, from the highest on.
fn has_waves(path: &Path) -> io::Result<bool> {
    let mut file = BufReader::new(File::open(path)?);
    let length = file.get_ref().metadata()?.len();
    let mut at = 0;
    while at < length {
        let mut head = [0; 9];
        if length - at < head.len() as u64 {
            return Ok(false);
        }
        file.read_exact(&mut head)?;
        let bytes = u64::from_be_bytes(*head.last_chunk().expect("it has 9 bytes"));
        at = match at.checked_add(1).and_then(|at| at.checked_add(bytes)) {
            Some(end) if bytes >= 8 => end,
            _ => return Ok(false),
        };
        file.seek(SeekFrom::Start(at))?;
    }
    Ok(length > 0 && at == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_whole_blocks() {
        let block = |kind: u8, bytes: u8| {
            let mut block = vec![kind, 0, 0, 0, 0, 0, 0, 0, 8 + bytes];
            block.extend(vec![7; bytes.into()]);
            block
        };
        let whole = [block(0, 40), block(5, 0), block(3, 100)].concat();
        for (length, expected) in (0..=whole.len()).map(|end| (end, [49, 58, 167].contains(&end))) {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), &whole[..length]).expect("written");
            assert_eq!(has_waves(file.path()).expect("read"), expected, "{length} bytes");
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [0xFF; 20]).expect("written");
        assert!(!has_waves(file.path()).expect("read"), "a length that leads nowhere");
    }
}
