// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's requests while the device waits for the client's memory.

use std::collections::VecDeque;

use crate::error::Error;
use crate::transport::Message;

/// How many requests may wait, and bytes and descriptors of them.
const MOST_REQUESTS: usize = 4096;
const MOST_BYTES: usize = 64 << 20;
const MOST_FILES: usize = 256;

/// Requests that wait for the serving thread, in the order in which they came. The sums are over all
/// of them.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    requests: VecDeque<Message>,
    bytes: usize,
    files: usize,
}

impl Backlog {
    /// Puts a request behind all others.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: there are as many as may be.
    pub(super) fn push(&mut self, message: Message) -> Result<(), Error> {
        let bytes = self.bytes + message.payload.len();
        let files = self.files + message.files.len();
        for (what, size, limit) in [
            ("number of requests in advance", self.requests.len() + 1, MOST_REQUESTS),
            ("size of requests in advance", bytes, MOST_BYTES),
            ("number of descriptors of requests in advance", files, MOST_FILES),
        ] {
            if size > limit {
                return Err(Error::TooLarge { what, size: size as u64, limit: limit as u64 });
            }
        }
        (self.bytes, self.files) = (bytes, files);
        self.requests.push_back(message);
        Ok(())
    }

    /// Takes the oldest request.
    pub(super) fn pop(&mut self) -> Option<Message> {
        let message = self.requests.pop_front()?;
        self.bytes -= message.payload.len();
        self.files -= message.files.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::message::{HEADER, Header, Kind};

    fn message(bytes: usize, files: usize) -> Message {
        let kind = Kind::Request { no_reply: false };
        let header = Header { id: 1, command: 2, size: (HEADER + bytes) as u32, kind };
        let file = || std::io::pipe().unwrap().0.into();
        Message { header, payload: vec![0; bytes], files: (0..files).map(|_| file()).collect() }
    }

    #[test]
    fn each_sum_is_bounded_and_room_comes_back() {
        let fillers =
            [(MOST_REQUESTS, (0, 0)), (MOST_BYTES >> 20, (1 << 20, 0)), (MOST_FILES / 16, (8, 16))];
        for (most, (bytes, files)) in fillers {
            let mut backlog = Backlog::default();
            for _ in 0..most {
                backlog.push(message(bytes, files)).unwrap();
            }
            for _ in 0..2 {
                let error = backlog.push(message(bytes, files)).unwrap_err();
                assert!(matches!(error, Error::TooLarge { .. }), "{error}");
            }
            assert!(backlog.pop().is_some());
            backlog.push(message(bytes, files)).unwrap();
            assert_eq!(std::iter::from_fn(|| backlog.pop()).count(), most);
        }
    }
}
