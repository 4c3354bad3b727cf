// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a message of requests is served.

use super::endpoint::Rpc;
use super::header::{Header, Kind};
use crate::engine::{Class, Effects, NodeId, Stage, TransactionId};
use crate::wire::{Reader, WireError};

/// What serves the requests of a protocol, in messages that live for `'m`.
pub(crate) trait Server<'m> {
    /// The endpoint that the requests have come to.
    fn rpc(&mut self) -> &mut Rpc;

    /// The effects of the burst.
    fn out(&mut self) -> &mut Effects;

    /// Reads a request, and says what it is for.
    fn stage_of(&self, reader: &mut Reader<'m>) -> Result<Stage, WireError>;

    /// Does what the next request asks for, which has been read before, and appends the answer.
    fn answer(&mut self, reader: &mut Reader<'m>, by: TransactionId, response: &mut Vec<u8>);
}

/// Serves a message of requests, unless it was served already, and sends the answers.
///
/// # Errors
/// When the requests cannot be read. Nothing has been done then, nothing is answered, and the whole
/// message may still come.
pub(crate) fn serve<'m>(
    server: &mut impl Server<'m>,
    from: NodeId,
    header: &Header,
    mut reader: Reader<'m>,
) -> Result<(), WireError> {
    let mut stage = Stage::Execute;
    let mut check = reader;
    for _ in 0..header.count {
        stage = server.stage_of(&mut check)?;
    }
    check.end("the requests")?;
    let rpc = server.rpc();
    if !rpc.is_new(from, header.worker, header.sequence) {
        rpc.dropped.0.duplicates += 1;
        return Ok(());
    }
    let by = TransactionId::new(from, rpc.thread(), header.worker, header.attempt);
    let peer = rpc.peer(from);
    let mut response = server.out().lend();
    let start = response.len();
    Header { kind: Kind::Responses, ..*header }.encode(&mut response);
    for _ in 0..header.count {
        server.answer(&mut reader, by, &mut response);
    }
    server.out().send_lent(peer, Class::Foreground, stage, (response, start));
    Ok(())
}
