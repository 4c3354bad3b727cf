// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of a file in memory: blocks that copies of the file share until one is written.

use std::io;
use std::sync::Arc;

use super::{end_of, read_past_end};

const BLOCK: usize = 8192;
type Block = [u8; BLOCK];

/// A file's bytes. A clone costs a pointer a block; a hole costs nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// `None` is all zeros. Bytes past `len` are zeros too.
    blocks: Vec<Option<Arc<Block>>>,
    len: u64,
}

impl Blocks {
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if end_of(offset, buffer.len())? > self.len {
            return Err(read_past_end(offset, buffer.len(), self.len));
        }
        let mut done = 0;
        for (block, inside) in spans(offset, buffer.len()) {
            let target = &mut buffer[done..done + inside.len()];
            done += inside.len();
            match &self.blocks[block] {
                Some(bytes) => target.copy_from_slice(&bytes[inside]),
                None => target.fill(0),
            }
        }
        Ok(())
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = end_of(offset, bytes.len())?;
        if end > self.len {
            self.set_len(end);
        }
        let mut done = 0;
        for (block, inside) in spans(offset, bytes.len()) {
            let source = &bytes[done..done + inside.len()];
            done += inside.len();
            self.block(block)[inside].copy_from_slice(source);
        }
        Ok(())
    }

    pub fn set_len(&mut self, len: u64) {
        self.blocks.resize(len.div_ceil(BLOCK as u64) as usize, None);
        let inside = (len % BLOCK as u64) as usize;
        if len < self.len && inside > 0 && self.blocks.last().is_some_and(Option::is_some) {
            let last = self.blocks.len() - 1;
            self.block(last)[inside..].fill(0);
        }
        self.len = len;
    }

    fn block(&mut self, index: usize) -> &mut Block {
        Arc::make_mut(self.blocks[index].get_or_insert_with(|| Arc::new([0; BLOCK])))
    }
}

/// The blocks that `bytes` bytes at `offset` touch, and where in each.
fn spans(offset: u64, bytes: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let first = (offset / BLOCK as u64) as usize;
    let start = (offset % BLOCK as u64) as usize;
    (0..(start + bytes).div_ceil(BLOCK)).map(move |block| {
        let from = if block == 0 { start } else { 0 };
        let to = (start + bytes - block * BLOCK).min(BLOCK);
        (first + block, from..to)
    })
}
