// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that a command reads: of a file, in gzip or not, or of standard input.

use std::io::{BufRead, stdin};
use std::path::Path;

use workloads::text_file;

use crate::error::CommandError;

/// Opens a file, or standard input if the path is `-`, and says what errors call it.
///
/// # Errors
/// When it cannot be read.
pub fn open(path: &Path) -> Result<(String, Box<dyn BufRead>), CommandError> {
    let (name, reader) = match path == Path::new("-") {
        true => ("standard input".into(), text_file::plain(stdin().lock())),
        false => (path.display().to_string(), text_file::open(path)),
    };
    let reader =
        reader.map_err(|cause| CommandError::input(path, format_args!("cannot read: {cause}")));
    Ok((name, reader?))
}
