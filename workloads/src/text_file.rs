// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that may be compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// Opens a file of text, by its first bytes as such or in gzip.
///
/// # Errors
/// When the system refuses.
pub fn open(path: impl AsRef<Path>) -> io::Result<Box<dyn BufRead>> {
    plain(BufReader::new(File::open(path)?))
}

/// What a reader gives, without gzip around it.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn plain(mut reader: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    match reader.fill_buf()?.starts_with(&GZIP) {
        true => Ok(Box::new(BufReader::new(MultiGzDecoder::new(reader)))),
        false => Ok(Box::new(reader)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn text_is_the_same_with_gzip_around_it() {
        let text = "a line\nand another\n".repeat(5000);
        let compressed = |text: &str| {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(text.as_bytes()).unwrap();
            gzip.finish().unwrap()
        };
        let read = |bytes: Vec<u8>| -> io::Result<String> {
            let mut read = String::new();
            plain(io::Cursor::new(bytes))?.read_to_string(&mut read)?;
            Ok(read)
        };
        assert_eq!(read(text.clone().into()).unwrap(), text);
        assert_eq!(read(compressed(&text)).unwrap(), text);
        // As `cat a.gz b.gz` makes it.
        assert_eq!(read([compressed("a\n"), compressed("b\n")].concat()).unwrap(), "a\nb\n");
        assert_eq!(read(Vec::new()).unwrap(), "");
        let mut cut = compressed(&text);
        cut.truncate(cut.len() / 2);
        assert_eq!(read(cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
