//! A process of its own for the wave writer, which ends it when it cannot write.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::interrupt;
use crate::whole_file::WholeFile;

/// Has another process do what this one was told to, and puts the waves that it has written to their
/// place; also of one that has failed with exit code 1, if these show `why`.
///
/// # Errors
/// When the other is ended by its wave writer, or the file is not whole: nothing is left of it then. When
/// the other fails with an exit code, it has said why.
pub fn write(output: &Path, why: bool) -> Result<(), Failure> {
    // Ctrl-C reaches both; the other ends by it.
    interrupt::install()?;
    let file = WholeFile::create(output)?;
    let cannot = |cause: io::Error| Failure::Internal(format!("cannot start itself: {cause}"));
    let program = std::env::current_exe().map_err(cannot)?;
    let mut other = Command::new(program);
    other.args(std::env::args_os().skip(1)).arg("--into").arg(file.temporary());
    let ended = other.status().map_err(cannot)?;
    if let Some(signal) = ended.signal() {
        let what =
            format!("the wave writer gave up (signal {signal}): is there room for the file?");
        return Err(Failure::writing(output, what));
    }
    let written = has_waves(file.temporary());
    match (ended.code(), written) {
        (Some(0), Ok(true)) => file.finish(),
        (Some(0), Ok(false)) => {
            Err(Failure::writing(output, "the waves end early: is there room for the file?"))
        }
        (Some(0), Err(cause)) => Err(Failure::writing(output, cause)),
        (Some(1), Ok(true)) if why => file.finish().and(Err(Failure::Told(1))),
        (code, _) => Err(Failure::Told(code.unwrap_or(1) as u8)),
    }
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
